// One pass over the list: the UTF-8 of each str is asked for once, and all of it is copied into one buffer, so that
// nothing of the list is needed once the GIL is released.
#include "python/src/texts.h"

#include <fmt/format.h>
#include <nanobind/stl/string.h>

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "base/utf8.h"
#include "deberta/error.h"

namespace deberta::python {
namespace nb = nanobind;
namespace {

[[noreturn]] void refuse(const std::string& argument, const std::string& message) {
  throw Error(ErrorCode::kInput, {{.message = message, .argument = argument}});
}

std::string name_of(nb::handle type) {
  return nb::cast<std::string>(nb::str(type.attr("__name__")));
}

std::string class_name(nb::handle object) {
  if (!object.is_valid()) return "nothing";
  return object.is_none() ? "None" : name_of(object.type());
}

constexpr const char* kNull = "expected a text, got null";

template <class Struct>
Struct* capsule_of(nb::handle object, const char* name, const std::string& argument) {
  void* held = PyCapsule_GetPointer(object.ptr(), name);
  if (held == nullptr) {
    PyErr_Clear();
    refuse(argument, fmt::format("expected a capsule {} of Arrow, got {}", name, class_name(object)));
  }
  auto* owned = static_cast<Struct*>(held);
  if (owned->release == nullptr)
    refuse(argument, fmt::format("expected a new capsule {} of Arrow, got one that was read already", name));
  return owned;
}

bool is_valid(const ArrowArray& array, int64_t row) {
  const auto* bits = static_cast<const uint8_t*>(array.buffers[0]);
  return bits == nullptr || (bits[row / 8] >> (row % 8) & 1) != 0;
}

// Format u, and U with 64 bits.
template <class Offset>
std::string_view offset_text(const ArrowArray& array, int64_t row) {
  const auto* offsets = static_cast<const Offset*>(array.buffers[1]);
  const auto* bytes = static_cast<const char*>(array.buffers[2]);
  return {bytes + offsets[row], static_cast<size_t>(offsets[row + 1] - offsets[row])};
}

// Format vu: 16 bytes each: the length, then the text itself or its first 4 bytes, the buffer and the place in it.
std::string_view viewed_text(const ArrowArray& array, int64_t row) {
  const auto* view = static_cast<const char*>(array.buffers[1]) + row * 16;
  int32_t length = 0, buffer = 0, offset = 0;
  std::memcpy(&length, view, sizeof length);
  constexpr int32_t kInline = 12;
  if (length <= kInline) return {view + 4, static_cast<size_t>(length)};
  std::memcpy(&buffer, view + 8, sizeof buffer);
  std::memcpy(&offset, view + 12, sizeof offset);
  return {static_cast<const char*>(array.buffers[2 + buffer]) + offset, static_cast<size_t>(length)};
}

// The capsule of an object that makes one. A column of pandas makes it by pyarrow; where that is not installed, or has
// no type for what is in the column, there is tolist().
nb::object stream_of(nb::handle object) {
  if (!nb::hasattr(object, "__arrow_c_stream__")) return {};
  try {
    return object.attr("__arrow_c_stream__")();
  } catch (nb::python_error& error) {
    if (!error.matches(PyExc_Exception) || !nb::hasattr(object, "tolist")) throw;
    return {};
  }
}

using ReadText = std::string_view (*)(const ArrowArray&, int64_t);
ReadText reader_of(std::string_view format) {
  if (format == "u") return offset_text<int32_t>;
  if (format == "U") return offset_text<int64_t>;
  if (format == "vu") return viewed_text;
  return nullptr;
}

}  // namespace

Texts::Texts(nb::handle object, std::string argument, const char* expected) : argument_(std::move(argument)) {
  if (PyList_Check(object.ptr()) || PyTuple_Check(object.ptr())) {
    read_list(object);
  } else if (PyType_Check(object.ptr())) {  // whose methods are no column's
    refuse(argument_, fmt::format("expected {}, got the class {}", expected, name_of(object)));
  } else if (const nb::object capsule = stream_of(object); capsule.is_valid()) {
    read_stream(*capsule_of<ArrowArrayStream>(capsule, "arrow_array_stream", argument_));
  } else if (nb::hasattr(object, "__arrow_c_array__")) {
    const nb::object pair = object.attr("__arrow_c_array__")();
    if (!PyTuple_Check(pair.ptr()) || PyTuple_Size(pair.ptr()) != 2)
      refuse(argument_, fmt::format("expected two capsules of Arrow, got {}", class_name(pair)));
    const nb::object schema = pair[0], array = pair[1];
    read_array(*capsule_of<ArrowSchema>(schema, "arrow_schema", argument_),
               capsule_of<ArrowArray>(array, "arrow_array", argument_));
  } else if (PyUnicode_Check(object.ptr())) {
    refuse(argument_, "expected a list of texts, got one text");  // beside a list: one text alone comes as a list
  } else {
    const nb::object list = nb::hasattr(object, "tolist") ? object.attr("tolist")() : nb::none();
    if (!PyList_Check(list.ptr())) refuse(argument_, fmt::format("expected {}, got {}", expected, class_name(object)));
    read_list(list);
  }
}

std::string_view Texts::fault(size_t i) const {
  const auto found = std::ranges::lower_bound(faults_, i, {}, &std::pair<size_t, std::string>::first);
  return found != faults_.end() && found->first == i ? std::string_view(found->second) : std::string_view();
}

void Texts::add_fault(std::string fault) {
  faults_.emplace_back(views_.size(), std::move(fault));
  views_.emplace_back();
}

void Texts::read_list(nb::handle list) {
  const bool is_list = PyList_Check(list.ptr()) != 0;
  const Py_ssize_t count = is_list ? PyList_Size(list.ptr()) : PyTuple_Size(list.ptr());
  std::vector<size_t> starts;  // in the buffer, which may move while it grows
  starts.reserve(static_cast<size_t>(count) + 1);
  for (Py_ssize_t i = 0; i < count; ++i) {
    PyObject* item = is_list ? PyList_GetItem(list.ptr(), i) : PyTuple_GetItem(list.ptr(), i);
    starts.push_back(buffer_.size());
    Py_ssize_t bytes = 0;
    const char* text = item != nullptr && PyUnicode_Check(item) ? PyUnicode_AsUTF8AndSize(item, &bytes) : nullptr;
    if (text != nullptr) {
      buffer_.append(text, static_cast<size_t>(bytes));
    } else {
      PyErr_Clear();
      faults_.emplace_back(static_cast<size_t>(i), item != nullptr && PyUnicode_Check(item)
                                                       ? "expected text, got a lone surrogate, which no encoding has"
                                                       : fmt::format("expected a text, got {}", class_name(item)));
    }
  }
  starts.push_back(buffer_.size());
  views_.reserve(static_cast<size_t>(count));
  for (size_t i = 0; i + 1 < starts.size(); ++i)
    add(std::string_view(buffer_).substr(starts[i], starts[i + 1] - starts[i]));
}

void Texts::read_stream(ArrowArrayStream& borrowed) {
  ArrowOwner<ArrowArrayStream> stream(&borrowed);
  ArrowOwner<ArrowSchema> schema;
  const auto check = [&](int code) {
    if (code == 0) return;
    const char* reason = stream->get_last_error(stream.get());
    refuse(argument_,
           fmt::format("expected a stream of Arrow, got error {}: {}", code, reason == nullptr ? "" : reason));
  };
  check(stream->get_schema(stream.get(), schema.get()));
  while (true) {
    ArrowArray array{};
    check(stream->get_next(stream.get(), &array));
    if (array.release == nullptr) return;
    read_array(*schema.get(), &array);
  }
}

void Texts::read_array(const ArrowSchema& schema, ArrowArray* moved) {
  ArrowArray& array = *arrays_.emplace_back(moved).get();
  const bool is_table = std::string_view(schema.format) == "+s";  // whose rows are those of its columns
  if (is_table && schema.n_children != 1)
    refuse(argument_, fmt::format("expected a column of strings, got a table of {} columns", schema.n_children));
  const ArrowSchema& type = is_table ? *schema.children[0] : schema;
  const ArrowArray& column = is_table ? *array.children[0] : array;
  if (std::string_view(type.format) == "n") {  // nothing but nulls, and no buffers
    for (int64_t row = 0; row < array.length; ++row) add_fault(kNull);
    return;
  }
  const ReadText read = reader_of(type.format);
  if (read == nullptr || type.dictionary != nullptr)
    refuse(argument_, fmt::format("expected a column of strings, got Arrow's format {}{}", type.format,
                                  type.dictionary != nullptr ? " with a dictionary; cast it to strings" : ""));
  for (int64_t row = array.offset; row < array.offset + array.length; ++row) {
    const int64_t at = is_table ? column.offset + row : row;
    if (!is_valid(array, row) || !is_valid(column, at))
      add_fault(kNull);
    else if (const std::string_view text = read(column, at); is_valid_utf8(text))
      add(text);
    else
      add_fault("expected UTF-8, as Arrow's strings have it, got other bytes");
  }
}

}  // namespace deberta::python
