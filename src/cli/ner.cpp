// The verb `ner`: entities of texts, or the label of each piece.
#include <algorithm>

#include "cli/entity_answer.h"
#include "cli/verbs.h"
#include "config/aggregation.h"
#include "deberta/pipeline.h"
#include "decode/word_tags.h"
#include "program/text_verb.h"

namespace deberta::cli {
namespace {

TokenOptions token_options(const NerVerb& options) {
  TokenOptions token;
  token.rules = program::encoding_rules(options.encoding);
  token.entities = {.aggregation = aggregation_named(options.aggregate), .ignored = options.ignore_labels};
  return token;
}

// The words of a row: its own, else the parts of its text between white space.
std::vector<Offset> words_of(const Row& row) {
  std::vector<Offset> words;
  if (!row.items.empty()) return places_of(row.items);
  constexpr const char* kSpace = " \t\r\n\f\v";
  for (size_t at = row.text.find_first_not_of(kSpace); at != std::string::npos;) {
    const size_t end = std::min(row.text.find_first_of(kSpace, at), row.text.size());
    words.push_back({static_cast<uint32_t>(at), static_cast<uint32_t>(end)});
    at = row.text.find_first_not_of(kSpace, end);
  }
  return words;
}

// `word (gold) label`: a word has the label of its first piece, O when it has none.
std::vector<program::Cells> conll_lines(const Row& row, const TokenAnswer& pieces) {
  const auto gold =
      std::find_if(row.kept.begin(), row.kept.end(), [](const JsonMember& m) { return m.first == "labels"; });
  const bool has_gold = gold != row.kept.end() && !row.items.empty();
  std::vector<program::Cells> lines;
  const std::vector<Offset> words = words_of(row);
  std::vector<std::string> tags = word_tags(words, pieces.entities);
  for (size_t i = 0; i < words.size(); ++i) {
    program::Cells cells{row.text.substr(words[i].begin, words[i].end - words[i].begin)};
    if (has_gold) cells.push_back(gold->second.as_array().at(i).as_string());
    cells.push_back(std::move(tags[i]));
    lines.push_back(std::move(cells));
  }
  return lines;
}

program::RowAnswer to_conll(const Row& row, const TokenAnswer& result) {
  program::RowAnswer answer{{}, result.tokens, result.cut_tokens};
  answer.answer.words = conll_lines(row, result);
  return answer;
}

}  // namespace

int run(const NerVerb& options) {
  TokenOptions token = token_options(options);
  const bool is_conll = program::format_of(options.output) == Format::kConll;
  if (is_conll) token.entities = {.aggregation = Aggregation::kNone, .ignored = {}};
  program::RowReading reading = program::reading_of(options);
  reading.has_conll = true;
  const Pipeline pipeline = program::open_model(options.model);
  const bool is_grouped = aggregation_of(pipeline.config, token.entities) != Aggregation::kNone;
  return program::run_text_verb(
      options, reading, pipeline, entity_columns(),
      [&](std::span<const TextInput> inputs) { return ner(pipeline, inputs, token); },
      [&](const Row& row, const TokenAnswer& result) {
        return is_conll ? to_conll(row, result) : entity_answer(row, result, options.offsets, is_grouped);
      });
}

}  // namespace deberta::cli
