// The verb `rerank`: the documents for a query, best first.
#include "cli/verbs.h"
#include "deberta/pipeline.h"
#include "pipeline/answer_json.h"
#include "program/text_verb.h"

namespace deberta::cli {
namespace {

RankOptions rank_options(const RerankVerb& options) {
  RankOptions settings;
  settings.rules = encoding_rules(options.encoding);
  settings.top_n = options.top_n;
  settings.function = chosen_function(options.activation);
  return settings;
}

RowAnswer to_answer(const Row& row, const RankAnswer& result, bool returns_text) {
  RowAnswer answer{{to_json(result, row.text, row.items, returns_text), {}}, result.tokens, result.cut_tokens};
  for (size_t rank = 0; rank < result.documents.size(); ++rank) {
    const RankedDocument& document = result.documents[rank];
    answer.answer.lines.push_back(
        {cell(uint64_t{rank + 1}), cell(uint64_t{document.index}), cell(document.score), row.items[document.index]});
    answer.answer.marks.push_back({document.cut_tokens, is_blank(row.text) || is_blank(row.items[document.index])});
    answer.answer.is_of_empty_text = answer.answer.is_of_empty_text || answer.answer.marks.back().is_empty;
  }
  return answer;
}

}  // namespace

int run(const RerankVerb& options) {
  const RankOptions settings = rank_options(options);
  RowReading reading = reading_of(options);
  reading.query = options.query;
  reading.shape =
      options.query.empty() ? RowShape{{"query", "documents"}, true, true} : RowShape{{"text"}, false, true};
  const Pipeline pipeline = open_model(options.model);
  return run_text_verb(
      options, reading, pipeline, {std::vector<std::string>{"rank", "index", "score", "text"}, true},
      [&](std::span<const TextInput> inputs) { return rerank(pipeline, inputs, settings); },
      [&](const Row& row, const RankAnswer& result) { return to_answer(row, result, options.return_text); },
      row_encoder(pipeline.tokenizer, settings));
}

}  // namespace deberta::cli
