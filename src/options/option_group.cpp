// From the text of a value to the type of a member.
#include "options/option_group.h"

#include <fmt/format.h>

#include "deberta/error.h"

namespace deberta {

OptionGroup::Value OptionGroup::option(std::string_view name) const {
  const OptionRow* row = find_option(given_->verb(), name);
  if (row == nullptr)
    throw Error(ErrorCode::kInternal, "options", fmt::format("verb {} has no option --{}", given_->verb(), name));
  return {*given_, *row};
}

OptionGroup::MaybeValue OptionGroup::option_if_any(std::string_view name) const {
  return {*given_, find_option(given_->verb(), name)};
}

double OptionGroup::Value::read_plain(std::type_identity<double>) const {
  expect(row_->type == OptionType::kNumber);
  return given_->number(*row_);
}

std::string OptionGroup::Value::read_plain(std::type_identity<std::string>) const {
  expect(row_->type == OptionType::kText || row_->type == OptionType::kChoice);
  return given_->text(*row_);
}

std::vector<std::string> OptionGroup::Value::read_plain(std::type_identity<std::vector<std::string>>) const {
  expect(row_->type == OptionType::kList || row_->type == OptionType::kFiles);
  return row_->type == OptionType::kList ? given_->list(*row_) : given_->files(*row_);
}

bool OptionGroup::Value::flag() const {
  expect(row_->type == OptionType::kFlag);
  return given_->flag(*row_);
}

int64_t OptionGroup::Value::integer() const {
  expect(row_->type == OptionType::kInteger || row_->type == OptionType::kSize);
  return given_->integer(*row_);
}

const std::string& OptionGroup::Value::choice() const {
  expect(row_->type == OptionType::kChoice);
  return given_->text(*row_);
}

void OptionGroup::Value::expect(bool fits) const {
  if (!fits) refuse();
}

void OptionGroup::Value::refuse() const {
  throw Error(ErrorCode::kInternal, "options",
              fmt::format("--{}: \"{}\" is no value of its member in the options of {}", row_->name,
                          given_->text(*row_), given_->verb()));
}

}  // namespace deberta
