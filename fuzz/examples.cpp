// Rows of tasks: the first byte chooses the form of examples and that of rows. What is accepted is text; offsets lie
// within it, on code point boundaries; labels of choices name one of them.
#include "data/examples.h"

#include "base/checked.h"
#include "base/utf8.h"
#include "fuzz.h"

namespace deberta::fuzz {
namespace {

constexpr uint8_t kForms = 11;

void check_spans(std::string_view text, const std::vector<TextSpan>& spans) {
  for (const TextSpan& span : spans) {
    FUZZ_REQUIRE(span.begin_byte <= span.end_byte && span.end_byte <= text.size());
    FUZZ_REQUIRE(count_code_points(text.substr(0, span.begin_byte)) == span.begin_char);
    FUZZ_REQUIRE(count_code_points(text.substr(0, span.end_byte)) == span.end_char);
    FUZZ_REQUIRE(is_valid_utf8(text.substr(span.begin_byte, span.end_byte - span.begin_byte)));
  }
}

void check_example(const Example& example, ExampleForm form) {
  FUZZ_REQUIRE(example.where.starts_with("in:"));
  if (example.error) return;
  FUZZ_REQUIRE(is_valid_utf8(example.text) && is_valid_utf8(example.pair.value_or("")));
  check_spans(example.text, example.text_spans);
  check_spans(example.pair.value_or(""), example.pair_spans);
  FUZZ_REQUIRE(form != ExampleForm::kWic || (example.text_spans.size() == 1 && example.pair_spans.size() == 1));
  FUZZ_REQUIRE(form != ExampleForm::kWsc || example.text_spans.size() == 2);
  const auto is_of_each = [&](const auto& values) { return values.empty() || values.size() == example.choices.size(); };
  FUZZ_REQUIRE(is_of_each(example.relevance) && is_of_each(example.teacher_scores));
  if (example.choices.empty() || form == ExampleForm::kRanking) return;
  FUZZ_REQUIRE(example.choices.size() >= 2 && example.pair);
  if (example.label) FUZZ_REQUIRE(parse_number<size_t>(*example.label).value_or(SIZE_MAX) < example.choices.size());
}

}  // namespace

void run(Bytes input) {
  Cutter cut(input);
  const uint8_t choice = cut.byte();
  ExampleRules rules{static_cast<ExampleForm>(choice % kForms), {}, {}};
  rules.fields = {{{"text", "premise"}}, {}, {{"label", "labels"}}, {"genre"}, {"idx"}};
  if (choice % 2 == 0) rules.fields.pair = {{"pair", "hypothesis"}};
  rules.without_header = {"source", "label", "mark", "text"};
  if (choice % 3 == 1) rules.has_shares = true;
  if (choice % 5 == 1) rules.value_fields = {"a", "b"};
  if (choice % 7 == 1) rules.weight_field = {{"weight"}};
  constexpr RowForm kRowForms[] = {RowForm::kTsv, RowForm::kCsv, RowForm::kJsonl, RowForm::kText};
  const std::string_view text = cut.rest();
  ExampleReader reader(ByteSource(to_bytes(text), "in"), rules, kRowForms[choice / kForms % 4]);
  for (Example example; reader.next(example);) check_example(example, rules.form);
}

}  // namespace deberta::fuzz
