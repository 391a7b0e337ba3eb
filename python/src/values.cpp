// Recursion over both kinds of tree.
#include "python/src/values.h"

#include <fmt/format.h>
#include <nanobind/stl/string.h>

#include <limits>
#include <utility>

#include "base/refuse_argument.h"
#include "deberta/error.h"

namespace deberta::python {
namespace nb = nanobind;

nb::dict to_python(const JsonObject& object) {
  nb::dict dict;
  for (const auto& [key, value] : object) dict[nb::str(key.data(), key.size())] = to_python(value);
  return dict;
}

nb::object to_python(const Json& value) {
  if (value.is_null()) return nb::none();
  if (value.is_bool()) return nb::bool_(value.as_bool());
  if (value.is_integer()) return nb::int_(value.as_integer());
  if (value.is_number()) return nb::float_(value.as_read_back());
  if (value.is_string()) return nb::str(value.as_string().data(), value.as_string().size());
  if (value.is_object()) return to_python(value.as_object());
  nb::list list;
  for (const Json& item : value.as_array()) list.append(to_python(item));
  return list;
}

namespace {

[[noreturn]] void refuse(const std::string& argument, const std::string& message) {
  throw Error(ErrorCode::kInput, {{.message = message, .argument = argument}});
}

std::string text_of(nb::handle value, const std::string& argument) {
  Py_ssize_t bytes = 0;
  const char* text = PyUnicode_AsUTF8AndSize(value.ptr(), &bytes);
  if (text != nullptr) return {text, static_cast<size_t>(bytes)};
  PyErr_Clear();
  refuse(argument, "expected text, got a lone surrogate, which no encoding has");
}

Json integer_of(nb::handle value, const std::string& argument) {
  int overflow = 0;
  const long long integer = PyLong_AsLongLongAndOverflow(value.ptr(), &overflow);
  if (overflow != 0) refuse(argument, "expected an integer of 64 bits, got a larger one");
  return int64_t{integer};
}

}  // namespace

Json to_json_value(nb::handle value, const std::string& argument, int levels) {
  if (levels == 0) refuse(argument, "expected at most 64 levels of lists and dicts, got more");
  if (value.is_none()) return nullptr;
  if (PyBool_Check(value.ptr())) return value.ptr() == Py_True;
  if (PyLong_Check(value.ptr())) return integer_of(value, argument);
  if (PyFloat_Check(value.ptr())) return PyFloat_AsDouble(value.ptr());
  if (PyUnicode_Check(value.ptr())) return text_of(value, argument);
  if (is_list(value)) {
    JsonArray array;
    for (const nb::handle item : value) array.push_back(to_json_value(item, argument, levels - 1));
    return array;
  }
  if (PyDict_Check(value.ptr())) {
    JsonObject object;
    for (const auto& [key, item] : nb::borrow<nb::dict>(value)) {
      if (!PyUnicode_Check(key.ptr())) refuse(argument, "expected texts as the keys of a dict");
      object.emplace_back(text_of(key, argument), to_json_value(item, argument, levels - 1));
    }
    return object;
  }
  if (nb::hasattr(value, "tolist")) {
    const nb::object plain = value.attr("tolist")();
    if (!nb::hasattr(plain, "tolist")) return to_json_value(plain, argument, levels - 1);
  }
  refuse(argument, fmt::format("expected None, a bool, a number, a text, a list or a dict, got {}",
                               nb::cast<std::string>(nb::str(value.type().attr("__name__")))));
}

bool is_list(nb::handle object) {
  return PyList_Check(object.ptr()) || PyTuple_Check(object.ptr());
}

int32_t to_int32(nb::handle value, const std::string& argument, Truths truths) {
  using Limits = std::numeric_limits<int32_t>;
  const bool is_refused = truths == Truths::kRefused && PyBool_Check(value.ptr());
  const nb::object integer = is_refused ? nb::object() : nb::steal(PyNumber_Index(value.ptr()));
  if (!integer.is_valid()) PyErr_Clear();
  int overflow = 0;
  const long long wide = integer.is_valid() ? PyLong_AsLongLongAndOverflow(integer.ptr(), &overflow) : 0;
  if (!integer.is_valid() || overflow != 0 || wide < Limits::min() || wide > Limits::max())
    refuse(argument, fmt::format("expected integers of 32 bits, got {}", nb::cast<std::string>(nb::repr(value))));
  return static_cast<int32_t>(wide);
}

std::vector<int32_t> to_int32s(nb::handle values, const std::string& argument, Truths truths) {
  const bool is_text = PyUnicode_Check(values.ptr()) || PyBytes_Check(values.ptr()) || PyByteArray_Check(values.ptr());
  const nb::object items = is_text ? nb::object() : nb::steal(PyObject_GetIter(values.ptr()));
  if (!items.is_valid()) PyErr_Clear();  // an array of no dimension among them
  if (!items.is_valid() || !PySequence_Check(values.ptr())) {
    refuse(argument, fmt::format("expected a list of integers, got {}",
                                 nb::cast<std::string>(nb::str(values.type().attr("__name__")))));
  }
  std::vector<int32_t> integers;
  for (const nb::handle value : nb::borrow<nb::iterator>(items)) integers.push_back(to_int32(value, argument, truths));
  return integers;
}

bool to_bool(nb::handle value, const std::string& argument) {
  const Json json = to_json_value(value, argument);
  if (!json.is_bool()) refuse_argument(argument, "expected True or False, got " + json.describe());
  return json.as_bool();
}

}  // namespace deberta::python
