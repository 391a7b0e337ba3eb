// A row is bad when one of its texts is.
#include "python/src/inputs.h"

#include <fmt/format.h>

#include <utility>

#include "python/src/values.h"

namespace deberta::python {
namespace nb = nanobind;
namespace {

void check_length(const std::string& name, size_t length, const std::string& first_name, size_t expected) {
  if (length == expected) return;
  throw Error(
      ErrorCode::kInput,
      {{.message = fmt::format("expected {}, as many as {}, got {}", expected, first_name, length), .argument = name}});
}

// Arrays and columns of lists as lists; a table is none.
nb::object list_of_rows(nb::handle items, const std::string& name) {
  nb::object list = nb::borrow(items);
  const bool may_convert = !PyType_Check(list.ptr()) && !nb::hasattr(list, "columns");
  for (const char* convert : {"tolist", "to_pylist"}) {
    if (may_convert && !is_list(list) && nb::hasattr(list, convert)) list = list.attr(convert)();
  }
  if (!is_list(list))
    throw Error(ErrorCode::kInput,
                {{.message = "expected a list with a list of texts for each row", .argument = name}});
  return list;
}

}  // namespace

Inputs::Items Inputs::read_items(nb::handle row, const std::string& place) {
  Items items;
  try {
    const Texts list(row, place, "a list of texts");
    for (size_t i = 0; i < list.size(); ++i) {
      if (items.fault.empty() && !list.fault(i).empty()) {
        items.place = fmt::format("{}[{}]", place, i);
        items.fault = list.fault(i);
      }
      items.texts.emplace_back(list[i]);
    }
  } catch (const Error& error) {  // no list: the row is bad, not the call
    items = {.place = place, .fault = error.message()};
  }
  return items;
}

Inputs::Inputs(nb::handle texts, nb::handle pairs, nb::handle items, std::vector<std::string> names)
    : names_(std::move(names)), texts_(texts, names_.at(0)) {
  if (!pairs.is_none()) {
    pairs_.emplace(pairs, names_.at(1));
    check_length(names_[1], pairs_->size(), names_[0], texts_.size());
  }
  if (items.is_none()) return;
  const nb::object rows = list_of_rows(items, names_.at(2));
  items_.emplace();
  for (const nb::handle row : rows)
    items_->push_back(read_items(row, fmt::format("{}[{}]", names_[2], items_->size())));
  check_length(names_[2], items_->size(), names_[0], texts_.size());
}

size_t Inputs::bytes(size_t row) const {
  size_t bytes = texts_[row].size() + (pairs_ ? (*pairs_)[row].size() : 0);
  if (!items_) return bytes;
  for (const std::string& item : (*items_)[row].texts) bytes += item.size();
  return bytes;
}

TextInput Inputs::view(size_t row) const {
  TextInput input{.text = texts_[row]};
  if (pairs_) input.pair = (*pairs_)[row];
  if (items_) input.items = (*items_)[row].texts;
  return input;
}

std::string Inputs::place(size_t row) const {
  return fmt::format("{}[{}]", names_[0], row);
}

std::optional<Error> Inputs::fault(size_t row) const {
  const auto error = [&](const std::string& name, std::string place, std::string_view message) {
    return Error(ErrorCode::kInput, {{.where = std::move(place), .message = std::string(message), .argument = name}});
  };
  if (!texts_.fault(row).empty()) return error(names_[0], place(row), texts_.fault(row));
  if (pairs_ && !pairs_->fault(row).empty())
    return error(names_[1], fmt::format("{}[{}]", names_[1], row), pairs_->fault(row));
  if (!items_) return std::nullopt;
  const Items& items = (*items_)[row];
  if (items.fault.empty()) return std::nullopt;
  return error(fmt::format("{}[{}]", names_[2], row), items.place, items.fault);
}

}  // namespace deberta::python
