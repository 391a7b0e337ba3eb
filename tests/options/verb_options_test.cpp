// Each verb's struct agrees with the option table.
#include "options/verb_options.h"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <type_traits>

#include "support/expect_error.h"

namespace deberta::verb_options_test {
namespace {

// Calls check(name of the verb, maker of its struct) for each verb.
template <class Check, class... Verb>
void for_each_verb(const Check& check, const std::tuple<Verb...>*) {
  (check(Verb::kName, [](const Options& options) { return Verb(options); }), ...);
}
template <class Check>
void for_each_verb(const Check& check) {
  for_each_verb(check, static_cast<const Verbs*>(nullptr));
}

TEST(VerbOptions, EveryVerbOfTheTableHasAStructInItsOrder) {
  std::vector<std::string_view> names;
  for_each_verb([&](std::string_view name, const auto&) { names.push_back(name); });
  ASSERT_EQ(names.size(), verb_table().size());
  for (size_t i = 0; i < names.size(); ++i) EXPECT_EQ(names[i], verb_table()[i].name);
}

TEST(VerbOptions, AStructReadsEveryOptionOfItsVerb) {
  for_each_verb([](std::string_view verb, const auto& make) {
    const Options options(verb);
    EXPECT_NO_THROW(make(options)) << verb;
    for (const OptionRow* row : options.unread()) ADD_FAILURE() << verb << " has no member for --" << row->name;
  });
}

TEST(VerbOptions, EveryWordOfAChoiceHasAMeaning) {
  for_each_verb([](std::string_view verb, const auto& make) {
    for (const OptionRow* row : options_of(verb)) {
      if (row->type != OptionType::kChoice) continue;
      std::string_view words = row->range;
      while (!words.empty()) {
        const std::string_view word = words.substr(0, words.find('|'));
        words.remove_prefix(std::min(word.size() + 1, words.size()));
        Options options(verb);
        options.set(row->name, word, "flag");
        EXPECT_NO_THROW(make(options)) << verb << " --" << row->name << " " << word;
      }
    }
  });
}

TEST(VerbOptions, ANumberMayBeAuto) {
  Options values("eval");
  EXPECT_EQ(EvalVerb(values).encoding.max_tokens.value, std::nullopt);
  EXPECT_TRUE(EvalVerb(values).encoding.max_tokens.is_free());
  values.set("max-tokens", "64", "flag");
  EXPECT_EQ(EvalVerb(values).encoding.max_tokens.value, 64);
  EXPECT_FALSE(EvalVerb(values).encoding.max_tokens.is_free());
  values.set("max-tokens", "auto", "flag");
  EXPECT_TRUE(EvalVerb(values).encoding.max_tokens.is_given());
  EXPECT_TRUE(EvalVerb(values).encoding.max_tokens.is_free());
}

TEST(VerbOptions, ValuesComeTypedAndWithTheirOrigin) {
  Options values("qa");
  values.set("max-tokens", "1024", "flag");
  values.set("batch-tokens", "2k", "environment DEBERTA_BATCH_TOKENS");
  values.set("no-answer-threshold", "-1.5", "flag");
  values.set("offsets", "utf16", "flag");
  values.set("input", std::vector<std::string>{"a", "b,c"}, "flag");
  values.arguments = {"Who?", "Ada."};
  const QaVerb options(values);
  EXPECT_EQ(options.encoding.max_tokens.value, 1024);
  EXPECT_EQ(options.encoding.max_tokens.origin, "flag");
  EXPECT_EQ(options.encoding.batch_tokens, 2000);
  EXPECT_EQ(options.encoding.stride->value, 128);
  EXPECT_FALSE(options.encoding.stride->is_given());
  EXPECT_FALSE(options.encoding.truncate.has_value());  // contexts are never cut
  EXPECT_DOUBLE_EQ(options.no_answer_threshold.value, -1.5);
  EXPECT_TRUE(options.no_answer_threshold.is_given());
  EXPECT_EQ(options.offsets, OffsetUnit::kUtf16);
  EXPECT_EQ(options.input, (std::vector<std::string>{"a", "b,c"}));
  EXPECT_EQ(options.arguments, values.arguments);
  EXPECT_FALSE(options.quiet);
}

// Members that do not match the table.
struct WrongName : OptionGroup {
  using OptionGroup::OptionGroup;
  bool pear = option("pear");
};
struct WrongType : OptionGroup {
  using OptionGroup::OptionGroup;
  bool top_k = option("top-k");
};
struct WrongChoice : OptionGroup {
  using OptionGroup::OptionGroup;
  Color dtype = option("dtype");
};

TEST(VerbOptions, AMemberThatDoesNotFitTheTableIsAnError) {
  Options options("classify");
  EXPECT_ERROR(WrongName{options}, kInternal, "verb classify has no option --pear");
  EXPECT_ERROR(WrongType{options}, kInternal, "--top-k: \"0\" is no value");
  options.set("dtype", "bf16", "flag");
  EXPECT_ERROR(WrongChoice{options}, kInternal, "--dtype: \"bf16\" is no value");
}

}  // namespace
}  // namespace deberta::verb_options_test
