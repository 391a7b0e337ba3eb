// The first problem of what a function throws, for tests of more than its text.
#pragma once
#include <gtest/gtest.h>

#include <functional>

#include "deberta/error.h"

namespace deberta::test {

inline Problem problem_of(const std::function<void()>& run) {
  try {
    run();
  } catch (const Error& error) {
    return error.problems().front();
  }
  ADD_FAILURE() << "expected an error, got none";
  return {};
}

}  // namespace deberta::test
