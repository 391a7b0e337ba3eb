// A search in a process of its own: what it allocates is gone afterwards, whatever the allocator keeps, and a system
// that is out of memory ends that process and not the run.
#pragma once
#include <cstddef>
#include <functional>
#include <optional>

namespace deberta::train {

// What find() returns, which is called in a copy of this process; nothing once stopped, by a signal or by find(). No
// other thread may run. If find() throws there, it is called here, for its error. Throws kOutOfMemory where the copy
// was killed.
using Find = std::function<std::optional<size_t>()>;
std::optional<size_t> find_in_child(const Find& find);

}  // namespace deberta::train
