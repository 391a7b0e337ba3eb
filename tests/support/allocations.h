// A program that asks has its operator new counted.
#pragma once
#include <cstddef>

namespace deberta::test {

// So far, by all threads.
size_t allocations();

}  // namespace deberta::test
