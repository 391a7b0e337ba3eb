// The verb `rerank`: the documents for a query, best first.
#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>
#include <string_view>

#include "cli/verbs.h"
#include "deberta/error.h"
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

// What was kept of the documents, in the objects of their results.
void add_kept(const Row& row, const RankAnswer& result, JsonObject& object) {
  JsonArray& results = std::ranges::find(object, "results", &JsonMember::first)->second.as_array();
  for (size_t rank = 0; rank < results.size(); ++rank) {
    JsonObject& one = results[rank].as_object();
    const JsonObject& kept = row.items_kept[result.documents[rank].index];
    for (const auto& [key, value] : kept) {
      const auto has = [&](const JsonObject& members, const std::string& name) {
        return std::ranges::find(members, name, &JsonMember::first) != members.end();
      };
      one.emplace_back(
          free_key(key, [&](const std::string& name) { return has(one, name) || (name != key && has(kept, name)); }),
          value);
    }
  }
}

// The first of the usual names of ids; else `number`.
Cell id_of(const JsonObject& kept, std::initializer_list<std::string_view> names, uint64_t number) {
  for (const std::string_view name : names) {
    const auto found = std::ranges::find(kept, name, &JsonMember::first);
    if (found == kept.end()) continue;
    Cell id = kept_cell(found->second);
    if (id.text.empty() || id.text.find_first_of(" \t\r\n\f\v") != std::string::npos)
      throw Error(ErrorCode::kInput, std::string(name),
                  fmt::format("expected an id without white space for a TREC run, got {}", quote_json(id.text)));
    return id;
  }
  return cell(number);
}

Cells run_line(const Row& row, size_t rank, const RankedDocument& document) {
  const JsonObject none, &kept = row.items_kept.empty() ? none : row.items_kept[document.index];
  return {id_of(row.kept, {"query_id", "qid", "id", "_id"}, row.number),
          "Q0",
          id_of(kept, {"doc_id", "docid", "docno", "id", "_id"}, document.index),
          cell(uint64_t{rank + 1}),
          cell(document.score),
          "deberta"};
}

RowAnswer to_answer(const Row& row, const RankAnswer& result, bool returns_text, bool is_run) {
  RowAnswer answer{{to_json(result, row.text, row.items, returns_text), {}}, result.tokens, result.cut_tokens};
  if (!row.items_kept.empty()) add_kept(row, result, answer.answer.object);
  for (size_t rank = 0; rank < result.documents.size(); ++rank) {
    const RankedDocument& document = result.documents[rank];
    if (is_run) answer.answer.words.push_back(run_line(row, rank, document));
    if (!row.items_kept.empty()) answer.answer.kept.push_back(row.items_kept[document.index]);
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
  const bool is_run = format_of(options.output) == Format::kTrec;
  const Pipeline pipeline = open_model(options.model);
  return run_text_verb(
      options, reading, pipeline, {std::vector<std::string>{"rank", "index", "score", "text"}, true},
      [&](std::span<const TextInput> inputs) { return rerank(pipeline, inputs, settings); },
      [&](const Row& row, const RankAnswer& result) { return to_answer(row, result, options.return_text, is_run); },
      row_encoder(pipeline.tokenizer, settings));
}

}  // namespace deberta::cli
