// Errors: their text, their codes, suggestions for mistyped words; where warnings go.
#include "deberta/error.h"

#include <gtest/gtest.h>

#include <array>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/log.h"
#include "base/nearest.h"
#include "deberta/library.h"

namespace deberta::error_test {
namespace {

TEST(Error, IsOneLineForEachProblem) {
  EXPECT_STREQ(Error(ErrorCode::kJson, "a.json", "not valid").what(), "a.json: not valid");
  const Error error(ErrorCode::kConfig, {{"a", "x"}, {"", "y"}, {"b", "z"}});
  EXPECT_STREQ(error.what(), "a: x\ny\nb: z");
  EXPECT_EQ(error.problems().size(), 3u);
  EXPECT_EQ(error.code(), ErrorCode::kConfig);
  EXPECT_EQ(error.exit_code(), 1);
  EXPECT_EQ(Error(ErrorCode::kUsage, "", "").exit_code(), 2);
}

TEST(Error, NamesArgumentsAsTheLibraryDoes) {
  const Error error(ErrorCode::kTextTooLong, {{.where = "text",
                                               .message = "expected at most 512 tokens, got 600",
                                               .argument = "max_tokens",
                                               .limit = 512,
                                               .remedies = {{"raise {}", "max_tokens"}}}});
  EXPECT_STREQ(error.what(), "text: expected at most 512 tokens, got 600; raise max_tokens");
  EXPECT_EQ(error.message(), "expected at most 512 tokens, got 600");
  const Error limit_error(ErrorCode::kUsage,
                          {{.message = "expected less than 4, got 4", .argument = "stride", .limit = 4}});
  EXPECT_STREQ(limit_error.what(), "stride: expected less than 4, got 4");
}

TEST(Error, SaysWhichInputIsAtFaultByItsSourceIfThereIsOne) {
  Problem problem{.where = "text", .message = "got none", .input = 2};
  EXPECT_STREQ(Error(ErrorCode::kInput, std::vector{problem}).what(), "inputs[2]: text: got none");
  problem.source = "in.tsv:3";
  EXPECT_STREQ(Error(ErrorCode::kInput, std::vector{problem}).what(), "in.tsv:3: text: got none");
}

TEST(Error, JoinsRemediesOfWhichAnyHelps) {
  const auto text = [](std::vector<Remedy> remedies) {
    return std::string(Error(ErrorCode::kInput, {{.message = "x", .remedies = std::move(remedies)}}).what());
  };
  EXPECT_EQ(text({}), "x");
  EXPECT_EQ(text({{"cut it with {}", "truncate", "right"}}), "x; cut it with truncate=right");
  EXPECT_EQ(text({{"split it"}, {"raise {}", "max_tokens"}}), "x; split it or raise max_tokens");
  EXPECT_EQ(text({{"make one", "calibrate"}, {"use bf16", "precision", "bf16"}, {"stop"}}),
            "x; make one, use bf16, or stop");
  EXPECT_EQ(text({{"split it"}, {"raise {}", "max_tokens"}, {"{} shows why", "encode()"}}),
            "x; split it or raise max_tokens; encode() shows why");
  EXPECT_EQ(text({{"{} shows why", "encode()"}}), "x; encode() shows why");
}

// In a remedy with an argument, only the last {} is a placeholder.
TEST(Error, LeavesOtherBracesAlone) {
  const Error error(ErrorCode::kInput, {{.where = "{}",
                                         .message = "got {}",
                                         .argument = "x",
                                         .remedies = {{"give a/{}"}, {"name {} with {}", "label_map"}}}});
  EXPECT_STREQ(error.what(), "{}: got {}; give a/{} or name {} with label_map");
}

TEST(ErrorTable, HasAnEntryForEachCode) {
  std::set<std::string_view> names;
  size_t index = 0;
  for (const ErrorCodeInfo& info : error_code_table()) {
    EXPECT_EQ(static_cast<size_t>(info.code), index++);
    EXPECT_EQ(&error_code_info(info.code), &info);
    EXPECT_TRUE(names.insert(info.name).second) << info.name;
    EXPECT_FALSE(info.meaning.empty());
    EXPECT_FALSE(info.remedy.empty());
    EXPECT_TRUE(info.exit_code == 1 || info.exit_code == 2);
  }
}

TEST(NearestMatch, SuggestsAWordThatIsNearAndNoOther) {
  constexpr std::array<std::string_view, 4> kWords = {"batch-size", "batch-tokens", "threads", "a"};
  EXPECT_EQ(nearest_match("batch-sise", kWords), "batch-size");
  EXPECT_EQ(nearest_match("bach-size", kWords), "batch-size");
  EXPECT_EQ(nearest_match("batch-tokenss", kWords), "batch-tokens");
  EXPECT_EQ(nearest_match("thread", kWords), "threads");
  EXPECT_EQ(nearest_match("threads", kWords), "threads");
  EXPECT_EQ(nearest_match("output", kWords), "");
  EXPECT_EQ(nearest_match("", std::array<std::string_view, 1>{"long-name"}), "");
  EXPECT_EQ(nearest_match(std::string(65, 'x'), std::array<std::string_view, 1>{"x"}), "");
  EXPECT_EQ(nearest_match("x", {}), "");
}

TEST(LongerMatch, IsTheOnlyNameWithThatPart) {
  constexpr std::array<std::string_view, 5> kWords = {"num-train-epochs", "batch-size", "step-size", "label_field",
                                                      "a-b"};
  EXPECT_EQ(longer_match("epochs", kWords), "num-train-epochs");
  EXPECT_EQ(longer_match("train-epochs", kWords), "num-train-epochs");
  EXPECT_EQ(longer_match("label", kWords), "label_field");
  EXPECT_EQ(longer_match("size", kWords), "");
  EXPECT_EQ(longer_match("epoch", kWords), "");
  EXPECT_EQ(longer_match("a", kWords), "");
  EXPECT_EQ(longer_match("", kWords), "");
  EXPECT_EQ(longer_match("size", std::array<std::string_view, 2>{"batch-size", "batch-size"}), "batch-size");
}

TEST(Warnings, GoToTheSinkAndNowhereWithoutOne) {
  std::vector<std::string> lines;
  set_warning_sink(
      [](void* to, std::string_view line) { static_cast<std::vector<std::string>*>(to)->emplace_back(line); }, &lines);
  warn("one");
  warn("two");
  set_warning_sink(nullptr);
  warn("three");
  EXPECT_EQ(lines, (std::vector<std::string>{"one", "two"}));
}

TEST(Warnings, ComeOneAtATimeFromManyThreads) {
  size_t count = 0;  // plain: the sink is never entered twice at once
  set_warning_sink([](void* to, std::string_view) { ++*static_cast<size_t*>(to); }, &count);
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([] {
      for (int k = 0; k < 500; ++k) warn("x");
    });
  }
  for (std::thread& thread : threads) thread.join();
  set_warning_sink(nullptr);
  EXPECT_EQ(count, 2000u);
}

}  // namespace
}  // namespace deberta::error_test
