#include "program/program.h"

#include <gtest/gtest.h>

#include <csignal>
#include <functional>
#include <new>
#include <stdexcept>

namespace deberta::program::program_test {
namespace {

void may_not_throw(const std::function<void()>& call) noexcept {
  call();
}

template <class Exception>
int run_throwing() {
  char name[] = "deberta", verb[] = "info", quiet[] = "-q";  // no note of a variable that the tests are run with
  char* words[] = {name, verb, quiet};
  return run_program(3, words, [](const Options&) -> int {
    may_not_throw([] { throw Exception(); });
    return 0;
  });
}

struct Strange : std::runtime_error {
  Strange() : std::runtime_error("strange") {}
};

TEST(ProgramDeath, AnAllocationThatFailsWhereNothingMayBeThrownIsOneSentence) {
  EXPECT_EXIT(run_throwing<std::bad_alloc>(), testing::ExitedWithCode(1), "^out of memory\n$");
}

TEST(ProgramDeath, AnythingElseThereIsADefectThatIsShownAsOne) {
  EXPECT_EXIT(run_throwing<Strange>(), testing::KilledBySignal(SIGABRT), "strange");
}

}  // namespace
}  // namespace deberta::program::program_test
