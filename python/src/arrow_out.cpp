// A column is made whole, then handed over: the struct's private data owns it, and its release deletes it.
#include "python/src/arrow_out.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "deberta/error.h"
#include "python/src/arrow_data.h"

namespace deberta::python {
namespace nb = nanobind;
namespace {

using Values = std::vector<const Json*>;  // nullptr: null

// One column with its children.
struct Column {
  std::string name;
  std::string format = {};
  int64_t length = 0;
  int64_t nulls = 0;
  std::vector<uint8_t> validity = {};
  std::vector<int64_t> offsets = {};  // of texts and lists
  std::string data = {};              // numbers, bits or text
  std::vector<Column> children = {};

  template <class T>
  void add(T value) {
    data.append(reinterpret_cast<const char*>(&value), sizeof value);
  }
};

std::string format_of(const Json& value) {
  if (value.is_bool()) return "b";
  if (value.is_integer()) return "l";
  if (value.is_number()) return "g";
  if (value.is_string()) return "U";
  return value.is_array() ? "+L" : "+s";
}

// One format for all values; integers among floats are floats.
std::string common_format(const std::string& name, const Values& values) {
  std::string common = "n";
  for (const Json* value : values) {
    if (value == nullptr) continue;
    const std::string format = format_of(*value);
    const bool is_number = (format == "g" || format == "l") && (common == "g" || common == "l");
    if (common == "n")
      common = format;
    else if (is_number)
      common = common == format ? common : "g";
    else if (common != format)
      throw Error(ErrorCode::kInput, name,
                  fmt::format("expected values of one type in a column of Arrow, got both {} and {}", common, format));
  }
  return common;
}

Column column_of(std::string name, const Values& values);

void add_fields(Column& column, const Values& values) {
  std::vector<std::string> names;
  for (const Json* value : values) {
    if (value == nullptr) continue;
    for (const JsonMember& member : value->as_object()) {
      if (std::find(names.begin(), names.end(), member.first) == names.end()) names.push_back(member.first);
    }
  }
  for (const std::string& name : names) {
    Values fields;
    for (const Json* value : values) fields.push_back(value == nullptr ? nullptr : value->find(name));
    column.children.push_back(column_of(name, fields));
  }
}

void add_items(Column& column, const Values& values) {
  Values items;
  for (const Json* value : values) {
    if (value != nullptr) {
      for (const Json& item : value->as_array()) items.push_back(&item);
    }
    column.offsets.push_back(static_cast<int64_t>(items.size()));
  }
  column.children.push_back(column_of("item", items));
}

void add_scalars(Column& column, const Values& values) {
  if (column.format == "b") column.data.resize((values.size() + 7) / 8);
  for (size_t i = 0; i < values.size(); ++i) {
    const Json* value = values[i];
    if (column.format == "l") column.add(value == nullptr ? int64_t{0} : value->as_integer());
    if (column.format == "g") column.add(value == nullptr ? 0.0 : value->as_read_back());
    if (column.format == "b" && value != nullptr && value->as_bool())
      column.data[i / 8] = static_cast<char>(column.data[i / 8] | 1 << (i % 8));
    if (column.format != "U") continue;
    if (value != nullptr) column.data += value->as_string();
    column.offsets.push_back(static_cast<int64_t>(column.data.size()));
  }
}

Column column_of(std::string name, const Values& raw) {
  Values values = raw;
  for (const Json*& value : values) {
    if (value != nullptr && value->is_null()) value = nullptr;
  }
  Column column{.name = std::move(name), .length = static_cast<int64_t>(values.size())};
  column.format = common_format(column.name, values);
  column.validity.resize((values.size() + 7) / 8);
  for (size_t i = 0; i < values.size(); ++i) {
    column.nulls += values[i] == nullptr;
    if (values[i] != nullptr) column.validity[i / 8] = static_cast<uint8_t>(column.validity[i / 8] | 1U << (i % 8));
  }
  if (column.format == "U" || column.format == "+L") column.offsets.push_back(0);
  if (column.format == "+s")
    add_fields(column, values);
  else if (column.format == "+L")
    add_items(column, values);
  else
    add_scalars(column, values);
  return column;
}

// ---- handing over

// What the two structs of one column point to. The children are owned here, and released with it.
template <class Struct>
struct Held {
  std::shared_ptr<const Column> column;
  std::vector<Struct> children = {};
  std::vector<Struct*> pointers = {};
  std::vector<const void*> buffers = {};
};

template <class Struct>
void release(Struct* moved) {
  auto* held = static_cast<Held<Struct>*>(moved->private_data);
  for (Struct& child : held->children) {
    if (child.release != nullptr) child.release(&child);
  }
  moved->release = nullptr;
  delete held;
}

// The child shares the ownership of the whole.
std::shared_ptr<const Column> child_of(const std::shared_ptr<const Column>& column, size_t i) {
  return {column, &column->children[i]};
}

template <class Struct, class Export>
Held<Struct>* hold(const std::shared_ptr<const Column>& column, const Export& exported) {
  auto* held = new Held<Struct>{.column = column};
  for (size_t i = 0; i < column->children.size(); ++i) held->children.push_back(exported(child_of(column, i)));
  for (Struct& child : held->children) held->pointers.push_back(&child);
  return held;
}

ArrowSchema schema_of(const std::shared_ptr<const Column>& column) {
  constexpr int64_t kNullable = 2;
  Held<ArrowSchema>* held = hold<ArrowSchema>(column, schema_of);
  return {.format = column->format.c_str(),
          .name = column->name.c_str(),
          .metadata = nullptr,
          .flags = kNullable,
          .n_children = static_cast<int64_t>(held->pointers.size()),
          .children = held->pointers.data(),
          .dictionary = nullptr,
          .release = release<ArrowSchema>,
          .private_data = held};
}

ArrowArray array_of(const std::shared_ptr<const Column>& column) {
  Held<ArrowArray>* held = hold<ArrowArray>(column, array_of);
  if (column->format != "n") held->buffers.push_back(column->nulls > 0 ? column->validity.data() : nullptr);
  if (!column->offsets.empty()) held->buffers.push_back(column->offsets.data());
  if (column->format != "n" && column->children.empty() && column->format != "+s")
    held->buffers.push_back(column->data.data());
  return {.length = column->length,
          .null_count = column->nulls,
          .offset = 0,
          .n_buffers = static_cast<int64_t>(held->buffers.size()),
          .n_children = static_cast<int64_t>(held->pointers.size()),
          .buffers = held->buffers.data(),
          .children = held->pointers.data(),
          .dictionary = nullptr,
          .release = release<ArrowArray>,
          .private_data = held};
}

std::shared_ptr<const Column> rows_column(const JsonArray& rows) {
  Values values;
  for (const Json& row : rows) values.push_back(&row);
  Column column = column_of("", values);
  if (column.format == "n") column.format = "+s";  // no answer at all is a struct without fields
  return std::make_shared<const Column>(std::move(column));
}

// The struct's place is the capsule's; who takes it over leaves no release behind.
template <class Struct>
nb::capsule capsule_of(Struct made, const char* name) {
  return {new Struct(made), name, [](void* held) noexcept {
            auto* owned = static_cast<Struct*>(held);
            if (owned->release != nullptr) owned->release(owned);
            delete owned;
          }};
}

struct OneArray {
  std::shared_ptr<const Column> column;
  bool is_taken = false;
};

}  // namespace

nb::tuple arrow_array(const JsonArray& rows) {
  const std::shared_ptr<const Column> column = rows_column(rows);
  return nb::make_tuple(capsule_of(schema_of(column), "arrow_schema"), capsule_of(array_of(column), "arrow_array"));
}

nb::capsule arrow_stream(const JsonArray& rows) {
  ArrowArrayStream stream{};
  stream.private_data = new OneArray{.column = rows_column(rows)};
  stream.get_schema = [](ArrowArrayStream* self, ArrowSchema* out) {
    *out = schema_of(static_cast<OneArray*>(self->private_data)->column);
    return 0;
  };
  stream.get_next = [](ArrowArrayStream* self, ArrowArray* out) {
    auto* held = static_cast<OneArray*>(self->private_data);
    *out = std::exchange(held->is_taken, true) ? ArrowArray{} : array_of(held->column);
    return 0;
  };
  stream.get_last_error = [](ArrowArrayStream*) -> const char* { return nullptr; };
  stream.release = [](ArrowArrayStream* self) {
    delete static_cast<OneArray*>(self->private_data);
    self->release = nullptr;
  };
  return capsule_of(stream, "arrow_array_stream");
}

}  // namespace deberta::python
