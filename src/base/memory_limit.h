// How much memory this process may use.
#pragma once
#include <cstdint>

namespace deberta {

// The minimum of the machine's memory, the cgroup's limit (memory.max) and the limit on address space (ulimit -v).
uint64_t memory_limit_bytes();

}  // namespace deberta
