// Counts the calls of operator new in programs that call allocations().
#pragma once
#include <cstddef>

namespace deberta::test {

// The number of allocations so far, by all threads.
size_t allocations();

}  // namespace deberta::test
