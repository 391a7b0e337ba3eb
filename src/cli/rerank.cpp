// The verb `rerank`: the documents of a query, best first.
#include "cli/verbs.h"
#include "deberta/pipeline.h"
#include "options/options.h"
#include "program/text_verb.h"

namespace deberta::cli {
namespace {

RankOptions rank_options(const Options& options) {
  RankOptions settings;
  settings.rules = encoding_rules(options);
  settings.top_n = static_cast<size_t>(options.integer("top-n"));
  settings.function = chosen_function(options);
  return settings;
}

RowAnswer to_answer(const Row& row, const RankAnswer& result, bool returns_text) {
  RowAnswer answer{{}, result.tokens, result.cut_tokens};
  JsonArray documents;
  for (size_t rank = 0; rank < result.documents.size(); ++rank) {
    const RankedDocument& document = result.documents[rank];
    const std::string& text = row.items[document.index];
    answer.answer.lines.push_back(
        {cell(uint64_t{rank + 1}), cell(uint64_t{document.index}), cell(document.score), text});
    JsonObject object{{"index", uint64_t{document.index}}, {"score", document.score}};
    if (returns_text) object.emplace_back("text", text);
    documents.push_back(std::move(object));
  }
  answer.answer.object = {{"query", row.text}, {"results", std::move(documents)}};
  return answer;
}

}  // namespace

int run_rerank(const Options& options) {
  const RankOptions settings = rank_options(options);
  const Pipeline pipeline = open_model(options);
  rerank(pipeline, {}, settings);  // refuses a model without the head before any row is read
  return run_text_verb(
      options, pipeline, {std::vector<std::string>{"rank", "index", "score", "text"}, true},
      [&](std::span<const TextInput> inputs) { return rerank(pipeline, inputs, settings); },
      [&](const Row& row, const RankAnswer& result) { return to_answer(row, result, options.flag("return-text")); },
      row_encoder(pipeline.tokenizer, settings));
}

}  // namespace deberta::cli
