// What steps add up to between two lines of the log, by name.
#pragma once
#include <map>
#include <string>

namespace deberta::train {

using Sums = std::map<std::string, double>;

// 0 where nothing was added.
double sum_of(const Sums& sums, const std::string& name);
double ratio_of(const Sums& sums, const std::string& part, const std::string& whole);  // 0 of nothing

}  // namespace deberta::train
