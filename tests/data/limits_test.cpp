// Sizes at the limits of data files: the largest is read, one more is refused (for lines, rows and sentences see the
// tests of each form).
#include <gtest/gtest.h>

#include "data/conll.h"
#include "data/json_rows.h"
#include "data/squad.h"
#include "support/expect_error.h"

namespace deberta::limits_test {
namespace {

SquadFile squad_of(std::string_view text) {
  ByteSource source(to_bytes(text), "in");
  return read_squad(source);
}

TEST(Limits, ASquadFileHas128Mebibytes) {
  const std::string text = R"({"data": []})";
  EXPECT_TRUE(squad_of(text + std::string(kMaxSquadBytes - text.size(), ' ')).questions.empty());
  EXPECT_ERROR(squad_of(text + std::string(kMaxSquadBytes + 1 - text.size(), ' ')), kTooLarge,
               "at most 134217728 bytes");
}

TEST(Limits, ASquadFileHas16LevelsAndFourMillionValues) {
  const auto nested = [](size_t levels) {
    return R"({"data": [], "x": )" + std::string(levels - 1, '[') + std::string(levels - 1, ']') + "}";
  };
  EXPECT_NO_THROW(squad_of(nested(16)));
  EXPECT_ERROR(squad_of(nested(17)), kJson, "at most 16 nested levels");
  std::string items = "0";
  for (size_t i = 1; i < kMaxSquadValues - 3; ++i) items += ",0";  // the other three are the object and its two lists
  EXPECT_NO_THROW(squad_of(R"({"data": [], "x": [)" + items + "]}"));
  EXPECT_ERROR(squad_of(R"({"data": [], "x": [0,)" + items + "]}"), kJson, "at most 4000000 values");
}

std::string message_of_conll(std::string_view text) {
  ConllReader reader(LineReader(ByteSource(to_bytes(text), "in")));
  ConllSentence sentence;
  EXPECT_TRUE(reader.next(sentence));
  return sentence.error ? sentence.error->what() : "";
}

TEST(Limits, ALineOfConllHas2To16Columns) {
  const auto columns = [](size_t count) {
    std::string line = "a";
    for (size_t i = 1; i < count; ++i) line += " O";
    return line + "\n";
  };
  EXPECT_EQ(message_of_conll(columns(2)), "");
  EXPECT_EQ(message_of_conll(columns(16)), "");
  EXPECT_EQ(message_of_conll(columns(1)),
            "in:1: expected a word and its tag, in 2 to 16 columns separated by blanks, got 1");
  EXPECT_EQ(message_of_conll(columns(17)),
            "in:1: expected a word and its tag, in 2 to 16 columns separated by blanks, got 17");
}

TEST(Limits, ALineOfJsonHasAMillionValues) {
  std::string items = "0";
  for (size_t i = 1; i < 1000000 - 1; ++i) items += ",0";  // the other one is the list
  JsonLineReader reader(LineReader(ByteSource(to_bytes(items.insert(0, "[") += "]"), "in")));
  JsonRow row;
  ASSERT_TRUE(reader.next(row));
  EXPECT_FALSE(row.error) << row.error->what();
}

}  // namespace
}  // namespace deberta::limits_test
