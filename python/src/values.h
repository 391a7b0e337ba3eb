// Values between Python and JSON. A float of an answer becomes the double nearest to its digits, so that an object here
// equals what json.loads() makes of the program's line.
#pragma once
#include <nanobind/nanobind.h>

#include <cstdint>
#include <string>
#include <vector>

#include "base/json.h"

namespace deberta::python {

nanobind::object to_python(const Json& value);
nanobind::dict to_python(const JsonObject& object);

// None, bool, int, float, str, lists, tuples and dicts of these; what has tolist() (arrays and their scalars) becomes
// that. Throws kInput, naming `argument`, for anything else, and for what is deeper than 64 levels or has no end.
Json to_json_value(nanobind::handle value, const std::string& argument, int levels = 64);

bool is_list(nanobind::handle object);  // or a tuple
// What has __index__(), as integers do, or a list, range or array of such; True and False only where that is said.
// Throw kInput, naming `argument`, for anything else and for what 32 bits do not hold.
enum class Truths { kRefused, kAsNumbers };
int32_t to_int32(nanobind::handle value, const std::string& argument, Truths truths = Truths::kRefused);
std::vector<int32_t> to_int32s(nanobind::handle values, const std::string& argument, Truths truths = Truths::kRefused);
// True, False, or NumPy's. Throws kUsage, naming `argument`, for anything else.
bool to_bool(nanobind::handle value, const std::string& argument);

}  // namespace deberta::python
