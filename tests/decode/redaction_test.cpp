// Placeholders and the way back: whatever the texts hold, they come back as they were.
#include "decode/redaction.h"

#include <gtest/gtest.h>

#include "support/random.h"

namespace deberta::redaction_test {
namespace {

Entity entity(const std::string& label, uint32_t begin, uint32_t end) {
  Entity made;
  made.label = label;
  made.bytes = {begin, end};
  return made;
}

std::string restored(const Redactor& redactor, const std::string& redacted) {
  PlaceholderMap entities;
  for (const auto& [placeholder, text] : redactor.entries()) EXPECT_TRUE(entities.emplace(placeholder, text).second);
  return restore_text(redacted, entities);
}

TEST(Redaction, NumbersEntitiesByLabelInAllTexts) {
  Redactor redactor;
  EXPECT_EQ(redactor.redact("Ada met Bob.", std::vector{entity("person", 0, 3), entity("person", 8, 11)}).text,
            "[PERSON_1] met [PERSON_2].");
  EXPECT_EQ(redactor.redact("Bob at Ada", std::vector{entity("person", 0, 3), entity("company", 7, 10)}).text,
            "[PERSON_2] at [COMPANY_1]");
  ASSERT_EQ(redactor.entries().size(), 3u);
  EXPECT_EQ(redactor.entries()[1], (std::pair<std::string, std::string>("[PERSON_2]", "Bob")));
}

TEST(Redaction, SaysWhichPlaceholdersATextHas) {
  Redactor redactor;
  const std::string text = "Ada, Bob, Ada [X_1]";
  EXPECT_EQ(redactor.redact(text, std::vector{entity("a", 5, 8)}).entries, (std::vector<size_t>{0, 1}))
      << "[TEXT_1] too";
  EXPECT_EQ(redactor.redact(text, std::vector{entity("a", 10, 13), entity("a", 0, 3), entity("a", 5, 8)}).entries,
            (std::vector<size_t>{0, 1, 2}))
      << "each once, also those of an earlier text";
  EXPECT_TRUE(redactor.redact("Ada", {}).entries.empty());
}

TEST(Redaction, WritesNamesOfLabelsInCapitals) {
  EXPECT_EQ(placeholder_name("phone number"), "PHONE_NUMBER");
  EXPECT_EQ(placeholder_name("e-mail]["), "E_MAIL__");
  EXPECT_EQ(placeholder_name("Gr\u00f6\u00dfe 2"), "GR\u00f6\u00dfE_2");
  EXPECT_EQ(placeholder_name(""), "ENTITY");
}

TEST(Redaction, CoversEntitiesThatOverlap) {
  Redactor redactor;
  const std::string text = "the University of Paris here";
  EXPECT_EQ(redactor.redact(text, std::vector{entity("city", 18, 23), entity("org", 4, 23), entity("org", 4, 14)}).text,
            "the [ORG_1] here");
  EXPECT_EQ(redactor.redact(text, std::vector{entity("a", 4, 17), entity("b", 15, 23)}).text, "the [A_1][B_1] here")
      << "what the second one has behind the first is covered too";
}

TEST(Redaction, LeavesNothingThatLooksLikeAPlaceholder) {
  Redactor redactor;
  const std::string text = "[PERSON_1] is Ada, [X_], [_1], [a_1], [X_1";
  const std::string redacted = redactor.redact(text, std::vector{entity("person", 14, 17)}).text;
  EXPECT_EQ(redacted, "[TEXT_1] is [PERSON_1], [X_], [_1], [a_1], [X_1");
  EXPECT_EQ(restored(redactor, redacted), text);
}

TEST(Redaction, ComesBackFromAnyText) {
  const std::string alphabet[] = {"[", "]", "_", "1", "A", "PERSON", "a", " ", "[A_1]", "[TEXT_1]", "\u00e9"};
  Redactor redactor;
  for (uint64_t seed = 0; seed < 300; ++seed) {
    std::string text;
    std::vector<Entity> entities;
    for (size_t i = 0; i < 12; ++i) {
      const auto begin = static_cast<uint32_t>(text.size());
      text += alphabet[static_cast<size_t>(test::uniform_at(seed, 2 * i) * 11)];
      if (test::uniform_at(seed, 2 * i + 1) < 0.3)
        entities.push_back(entity("a", begin, static_cast<uint32_t>(text.size())));
    }
    EXPECT_EQ(restored(redactor, redactor.redact(text, entities).text), text) << seed;
  }
}

TEST(Restoring, SaysHowLongATextBecomes) {
  const PlaceholderMap entities = {{"[A_1]", std::string(1000, 'x')}, {"[B_1]", ""}};
  for (const char* text : {"", "[A_1][A_1] [B_1]", "[B_1][C_1]", "[[A_1"})
    EXPECT_EQ(restored_bytes(text, entities), restore_text(text, entities).size()) << text;
}

TEST(Restoring, LeavesUnknownPlaceholders) {
  EXPECT_EQ(restore_text("[A_1] [A_2] [", {{"[A_1]", "[A_2]"}}), "[A_2] [A_2] [") << "once, and not what it brought";
}

}  // namespace
}  // namespace deberta::redaction_test
