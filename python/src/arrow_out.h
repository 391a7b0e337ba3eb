// Answers as a column of Arrow: a struct whose fields follow from the answers.
#pragma once
#include <nanobind/nanobind.h>

#include "base/json.h"

namespace deberta::python {

// (schema, array): capsules as __arrow_c_array__() returns them. Each row is an object; what it lacks is null.
// Numbers are int64 or float64, texts large_utf8, lists large_list. Throws kInput where the rows' types differ.
nanobind::tuple arrow_array(const JsonArray& rows);
// The same as a stream of one array, for __arrow_c_stream__().
nanobind::capsule arrow_stream(const JsonArray& rows);

}  // namespace deberta::python
