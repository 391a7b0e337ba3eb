// From the text of a value to the type of a member.
#include "options/option_group.h"

#include <fmt/format.h>

#include "deberta/error.h"

namespace deberta {

OptionGroup::Value OptionGroup::option(std::string_view name) const {
  const OptionRow* row = find_option(options_->verb(), name);
  if (row == nullptr)
    throw Error(ErrorCode::kInternal, "options", fmt::format("verb {} has no option --{}", options_->verb(), name));
  return {*options_, *row};
}

OptionGroup::MaybeValue OptionGroup::option_if_any(std::string_view name) const {
  return {*options_, find_option(options_->verb(), name)};
}

double OptionGroup::Value::read_plain(std::type_identity<double>) const {
  expect(row_->type == OptionType::kNumber);
  return options_->number(*row_);
}

std::string OptionGroup::Value::read_plain(std::type_identity<std::string>) const {
  expect(row_->type == OptionType::kText || row_->type == OptionType::kChoice);
  return options_->text(*row_);
}

std::vector<std::string> OptionGroup::Value::read_plain(std::type_identity<std::vector<std::string>>) const {
  expect(row_->type == OptionType::kList || row_->type == OptionType::kFiles);
  return row_->type == OptionType::kList ? options_->list(*row_) : options_->files(*row_);
}

bool OptionGroup::Value::flag() const {
  expect(row_->type == OptionType::kFlag);
  return options_->flag(*row_);
}

int64_t OptionGroup::Value::integer() const {
  expect(row_->type == OptionType::kInteger || row_->type == OptionType::kSize);
  return options_->integer(*row_);
}

const std::string& OptionGroup::Value::choice() const {
  expect(row_->type == OptionType::kChoice);
  return options_->text(*row_);
}

void OptionGroup::Value::expect(bool fits) const {
  if (!fits) refuse();
}

void OptionGroup::Value::refuse() const {
  throw Error(ErrorCode::kInternal, "options",
              fmt::format("--{}: \"{}\" is no value of its member in the options of {}", row_->name,
                          options_->text(*row_), options_->verb()));
}

}  // namespace deberta
