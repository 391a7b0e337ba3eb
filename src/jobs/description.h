// What decides the answers of a job, as a JSON object: processes with another one may not write into the same folder.
#pragma once
#include <string>

#include "base/json.h"

namespace deberta::jobs {

// Leaves the description in `path`, or compares it with what is there. Throws kUsage, naming `folder` and what differs,
// kFileWrite, and kJson for what is no description.
void check_description(const std::string& path, const Json& description, const std::string& folder);

}  // namespace deberta::jobs
