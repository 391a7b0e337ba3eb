// What processes that were killed left in the folder of a job.
#pragma once
#include <functional>
#include <set>
#include <string>

namespace deberta::jobs {

// The folder of claims and records, in the folder of answers.
inline constexpr const char* kRecordsFolder = ".deberta";

// Removes the temporary files beside outputs and records, but for those of names that `is_claimed`: their owner lives.
// `folders`: those of the outputs, in `folder`; "" is the folder itself.
void remove_dead_temporaries(const std::string& folder, const std::set<std::string>& folders,
                             const std::function<bool(const std::string& name)>& is_claimed);

// Those of one file, whose owner is dead.
void remove_temporaries_of(const std::string& target);

}  // namespace deberta::jobs
