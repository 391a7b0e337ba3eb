// The verb `ner`: entities of texts, or the label of each piece.
#include "cli/offsets.h"
#include "cli/text_verb.h"
#include "cli/verbs.h"
#include "deberta/pipeline.h"

namespace deberta::cli {
namespace {

TokenOptions token_options(const Options& options) {
  TokenOptions token;
  token.rules = encoding_rules(options);
  const std::string& aggregate = options.text("aggregate");
  token.entities.aggregation = aggregate == "none"      ? Aggregation::kNone
                               : aggregate == "first"   ? Aggregation::kFirst
                               : aggregate == "average" ? Aggregation::kAverage
                               : aggregate == "max"     ? Aggregation::kMax
                                                        : Aggregation::kSimple;
  token.entities.ignored = options.list("ignore-labels");
  return token;
}

RowAnswer to_answer(const Row& row, const TokenAnswer& result, const std::string& unit, bool is_raw) {
  RowAnswer answer{{}, result.tokens, result.cut_tokens};
  const OffsetUnits units(unit, row.text);
  JsonArray entities;
  for (const Entity& entity : result.entities) {
    const Offset span = units.convert(entity.chars, entity.bytes);
    const std::string word = row.text.substr(entity.bytes.begin, entity.bytes.end - entity.bytes.begin);
    answer.answer.lines.push_back(
        {entity.label, cell(entity.score), cell(uint64_t{span.begin}), cell(uint64_t{span.end}), word});
    JsonObject object{{is_raw ? "entity" : "entity_group", entity.label},
                      {"score", entity.score},
                      {"word", word},
                      {"start", int64_t{span.begin}},
                      {"end", int64_t{span.end}}};
    if (is_raw) object.emplace_back("index", static_cast<uint64_t>(entity.first_token));
    entities.push_back(std::move(object));
  }
  answer.answer.object = {{"entities", std::move(entities)}};
  return answer;
}

}  // namespace

int run_ner(const Options& options) {
  const TokenOptions token = token_options(options);
  const ModelDirectory directory = open_model(options);
  ner(directory, {}, token);  // refuses a model without the head before any row is read
  const bool is_raw = token.entities.aggregation == Aggregation::kNone;
  return run_text_verb(
      options, directory, {"label", "score", "start", "end", "word"},
      [&](std::span<const TextInput> inputs) { return ner(directory, inputs, token); },
      [&](const Row& row, const TokenAnswer& result) {
        return to_answer(row, result, options.text("offsets"), is_raw);
      });
}

}  // namespace deberta::cli
