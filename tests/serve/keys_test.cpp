#include "serve/keys.h"

#include <gtest/gtest.h>

#include "serve/api_error.h"
#include "serve/rate_limits.h"
#include "support/expect_error.h"
#include "support/paths.h"

namespace deberta::serve::keys_test {
namespace {

// printf %s secret | sha256sum
const std::string kSecret = "2bb80d537b1da3e38bd30361aa855686bde0eacd7162fef6a25fe97bf527a25b";

class KeyFiles : public testing::Test {
 protected:
  Keys load(const std::string& text) {
    test::write_text(folder.path("keys"), text);
    Keys keys;
    keys.add_file(folder.path("keys"));
    return keys;
  }
  test::TemporaryFolder folder;
};

TEST_F(KeyFiles, OpenTheirScopesAndNoOthers) {
  const Keys keys = load("# ours\n\nteam-1:infer,priority:" + kSecret + "\r\n");
  const Key* key = keys.find("Bearer secret");
  ASSERT_NE(key, nullptr);
  EXPECT_EQ(key->name, "team-1");
  EXPECT_TRUE(key->opens(Scope::kInfer) && key->opens(Scope::kPriority));
  EXPECT_FALSE(key->opens(Scope::kMetrics) || key->opens(Scope::kExplain) || key->opens(Scope::kAdmin));
  for (const char* other :
       {"Bearer secre", "Bearer secrets", "secret", "Bearersecret", "Bearer ", "Bearer", "", "Basic secret"})
    EXPECT_EQ(keys.find(other), nullptr) << other;
  for (const char* same : {"bearer secret", "BEARER secret", "Bearer  secret"}) EXPECT_EQ(keys.find(same), key) << same;
}

TEST_F(KeyFiles, SayWhatIsWrongWithALine) {
  const std::string line = ":1", two = ":2";
  for (const auto& [text, where, message] :
       {std::tuple{"a:infer\n", line, "expected name:scopes:sha256, got 2 parts"},
        std::tuple{"a b:infer:0\n", line, "expected a name of letters"},
        std::tuple{"a:infer,all:0\n", line,
                   "expected scopes among infer, priority, metrics, explain, admin, got \"all\""},
        std::tuple{"a::0\n", line, "expected scopes among"},
        std::tuple{"a:infer:secret\n", line, "64 hexadecimal digits"},
        std::tuple{"\n", std::string(), "expected at least one line"}}) {
    EXPECT_ERROR(load(text), kUsage, message);
    EXPECT_ERROR(load(text), kUsage, where);
  }
  EXPECT_ERROR(load("a:infer:" + kSecret + "\nb:infer:" + kSecret + "\n"), kUsage, "expected a new name and key");
  EXPECT_ERROR(load("a:infer:" + kSecret + "\nb:infer:" + kSecret + "\n"), kUsage, two);
  const std::string other(64, 'a');
  EXPECT_ERROR(load("a:infer:" + kSecret + "\na:infer:" + other + "\n"), kUsage, "expected a new name and key");
  Keys keys;
  EXPECT_ERROR(keys.add_file(folder.path("none")), kFileNotFound, "none");
}

TEST(RateLimits, HoldTenSecondsAndFillAgain) {
  RateLimits limits(10);
  const int64_t second = 1000000;
  limits.take("a", 90, 0);
  limits.take("a", 40, 0);  // the last that finds something may be as long as any
  try {
    limits.take("a", 1, 0);
    ADD_FAILURE() << "30 below nothing";
  } catch (const ApiError& error) {
    EXPECT_EQ(error.retry_after_s, 4);  // three seconds for what is owed, and more than nothing
  }
  limits.take("b", 1, 0);  // has a bucket of its own
  EXPECT_THROW(limits.take("a", 1, 3 * second), ApiError);
  limits.take("a", 1, 4 * second);
  RateLimits none(0);
  for (int i = 0; i < 100; ++i) none.take("a", 1000000, 0);
}

}  // namespace
}  // namespace deberta::serve::keys_test
