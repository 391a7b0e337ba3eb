// The verb `rerank`: the documents for a query, best first.
#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/ascii.h"
#include "base/utf8.h"
#include "cli/verbs.h"
#include "deberta/error.h"
#include "deberta/pipeline.h"
#include "pipeline/answer_json.h"
#include "program/note.h"
#include "program/text_verb.h"
#include "text/unicode/unicode.h"

namespace deberta::cli {
namespace {

RankOptions rank_options(const RerankVerb& options) {
  RankOptions settings;
  settings.rules = program::encoding_rules(options.encoding);
  settings.top_n = options.top_k;
  settings.function = options.activation.value;
  return settings;
}

// What was kept of the documents, in the objects of their results.
void add_kept(const Row& row, const RankAnswer& result, JsonObject& object) {
  if (row.items_kept.empty()) return;
  JsonArray& results = std::ranges::find(object, "results", &JsonMember::first)->second.as_array();
  for (size_t rank = 0; rank < results.size(); ++rank) {
    JsonObject& document = results[rank].as_object();
    const JsonObject& kept = row.items_kept[result.documents[rank].index];
    for (const JsonMember& member : kept) {
      const auto is_taken = [&](const std::string& name) {
        return program::find_member(document, name) != nullptr ||
               (name != member.first && program::find_member(kept, name) != nullptr);
      };
      document.emplace_back(program::free_key(member.first, is_taken), member.second);
    }
  }
}

// No white space or control character of Unicode: readers of a run split its lines there.
bool is_word(std::string_view text) {
  for (size_t at = 0; at < text.size();) {
    const CodePoint point = decode_utf8(text, at);
    if (point.value < 0x20 || point.value == 0x7F || is_unicode_white_space(point.value)) return false;
    at += point.size_bytes;
  }
  return !text.empty();
}

// The first of the usual names of ids; empty where there is none, or null.
std::string id_of(const JsonObject& kept, std::initializer_list<std::string_view> names) {
  for (const std::string_view name : names) {
    const Json* value = program::find_member(kept, name);
    if (value == nullptr || value->is_null()) continue;
    std::string id = program::kept_cell(*value).text;
    if (!is_word(id))
      throw Error(ErrorCode::kInput, std::string(name),
                  fmt::format("expected an id without white space for a TREC run, got {}", quote_json(id)));
    return id;
  }
  return "";
}

// `ids`: the number of each id; a row may come again when another of its group fails.
using Ids = std::map<std::string, size_t>;
void check_new(const std::string& id, size_t number, const char* what, Ids& ids) {
  if (ids.emplace(id, number).first->second != number)
    throw Error(ErrorCode::kInput, what, fmt::format("expected ids that differ in a TREC run, got {} twice", id));
}

// Ids of all documents, or their numbers where none has one.
std::vector<std::string> document_ids(const Row& row) {
  std::vector<std::string> ids;
  for (const JsonObject& kept : row.items_kept) ids.push_back(id_of(kept, {"doc_id", "docid", "docno", "id", "_id"}));
  ids.resize(row.items.size());
  const auto without = static_cast<size_t>(std::ranges::count(ids, ""));
  if (without > 0 && without < ids.size())
    throw Error(ErrorCode::kInput, "documents",
                fmt::format("expected an id of each document or of none for a TREC run, got {} of {} with one",
                            ids.size() - without, ids.size()));
  Ids seen;
  for (size_t i = 0; i < ids.size(); ++i) {
    if (ids[i].empty()) ids[i] = std::to_string(i);
    check_new(ids[i], i, "documents", seen);
  }
  return ids;
}

// The lines of a TREC run. `queries`: those that it has so far.
std::vector<program::Cells> run_lines(const Row& row, const RankAnswer& result, Ids& queries) {
  const std::vector<std::string> ids = document_ids(row);
  std::string query = id_of(row.kept, {"query_id", "qid", "id", "_id"});
  if (query.empty()) query = std::to_string(row.number);
  check_new(query, row.number, "query", queries);
  std::vector<program::Cells> lines;
  for (const RankedDocument& document : result.documents)
    lines.push_back({query, "Q0", ids[document.index], program::cell(uint64_t{lines.size() + 1}),
                     program::cell(document.score), "deberta"});
  return lines;
}

program::RowAnswer to_answer(const Row& row, const RankAnswer& result, bool returns_text) {
  program::RowAnswer answer{{to_json(result, row.text, row.items, returns_text), {}}, result.tokens, result.cut_tokens};
  add_kept(row, result, answer.answer.object);
  for (size_t rank = 0; rank < result.documents.size(); ++rank) {
    const RankedDocument& document = result.documents[rank];
    if (!row.items_kept.empty()) answer.answer.kept.push_back(row.items_kept[document.index]);
    answer.answer.lines.push_back({program::cell(uint64_t{rank + 1}), program::cell(uint64_t{document.index}),
                                   program::cell(document.score), row.items[document.index]});
    answer.answer.marks.push_back({document.cut_tokens, is_white(row.text) || is_white(row.items[document.index])});
    answer.answer.is_of_empty_text = answer.answer.is_of_empty_text || answer.answer.marks.back().is_empty;
  }
  return answer;
}

}  // namespace

int run(const RerankVerb& options) {
  const RankOptions settings = rank_options(options);
  program::RowReading reading = program::reading_of(options);
  reading.query = options.query;
  reading.shape =
      options.query.empty() ? RowShape{{"query", "documents"}, true, true} : RowShape{{"text"}, false, true};
  const bool is_run = program::format_of(options.output) == Format::kTrec;
  Ids queries;
  reading.begin_file = [&] { queries.clear(); };
  if (is_run && options.rows.keep && options.rows.keep->is_given())
    throw Error(ErrorCode::kUsage, "--keep", "expected none with --format trec, whose lines have ids and nothing else");
  if (!options.query.empty() && options.on_bad_row == BadRows::kSkip)
    throw Error(ErrorCode::kUsage, "--on-bad-row", "expected report or fail with --query: all documents form one row");
  const Pipeline pipeline = program::open_model(options.model);
  size_t rows = 0, alone = 0;  // alone: with one document
  const int code = program::run_text_verb(
      options, reading, pipeline, {std::vector<std::string>{"rank", "index", "score", "text"}, true},
      [&](std::span<const TextInput> inputs) { return rerank(pipeline, inputs, settings); },
      [&](const Row& row, const RankAnswer& result) {
        ++rows;
        alone += row.items.size() == 1;
        program::RowAnswer answer = to_answer(row, result, options.return_text);
        if (is_run) answer.answer.words = run_lines(row, result, queries);
        return answer;
      },
      row_encoder(pipeline.tokenizer, settings.sequence_rules()));
  if (rows > 1 && alone == rows)
    program::note(
        "note: each query has one document, so every rank is 1; put all documents of a query into one row, as a list");
  return code;
}

}  // namespace deberta::cli
