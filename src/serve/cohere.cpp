// Ranked documents, as the clients of Cohere and Jina request them.
#include <fmt/format.h>

#include "serve/answering.h"
#include "serve/api_error.h"
#include "serve/fields.h"

namespace deberta::serve::cohere {
namespace {

// Strings, or objects with a `text`.
std::vector<std::string> documents_of(const ServedModel& model, Body& body) {
  const Json* value = body.find("documents");
  if (value == nullptr) body.refuse_missing("documents");
  const std::string pointer = body.pointer_of("documents");
  if (!value->is_array()) body.refuse("documents", fmt::format("expected an array, got {}", value->describe()));
  check_count(model, value->as_array().size(), pointer);
  std::vector<std::string> documents;
  for (const Json& element : value->as_array()) {
    const Json* text = element.is_object() ? element.find("text") : &element;
    if (text == nullptr || !text->is_string()) {
      const std::string at =
          fmt::format("{}/{}{}", pointer, documents.size(), text == nullptr || text == &element ? "" : "/text");
      throw ApiError(ApiCode::kValidation,
                     fmt::format("{}: expected a string or an object with a text, got {}", at, element.describe()), at);
    }
    documents.push_back(text->as_string());
  }
  return documents;
}

}  // namespace

Answering rerank(const ServedModel& model, Body& body) {
  return rerank(model, body, body);
}

Answering rerank(const ServedModel& model, Body& body, Body& parameters) {
  const std::optional<std::string> query = body.text("query");
  if (!query) body.refuse_missing("query");
  std::vector<std::string> documents = documents_of(model, body);
  body.text(field::kModel);
  RankOptions options;
  options.rules = rules_of(model, parameters, LongText::kCut);
  options.top_n = static_cast<size_t>(body.whole_or_default(field::kTopN));
  if (const std::optional<int64_t> most = body.whole(field::kMaxTokensPerDoc))
    options.rules.encode.max_second_tokens = static_cast<size_t>(*most);
  const bool has_texts = body.flag(field::kReturnDocuments);
  if (body.flag(field::kRawScores)) options.function = ScoreFunction::kNone;
  const TextInput input{.text = *query, .items = documents};
  const PlacedText asked{*query, body.pointer_of("query")};
  Planned<RankAnswer> planned =
      places_of(model, options.rules, parameters, asked, documents, body.pointer_of("documents")).plan([&] {
        return plan_rerank(model.pipeline, {&input, 1}, options);
      });
  size_t characters = query->size();
  for (const std::string& document : documents) characters += document.size();
  const size_t items = documents.size();
  Answering reply = answering(
      std::move(planned),
      [has_texts, documents = std::move(documents), name = model.name](const std::vector<RankAnswer>& answers) -> Json {
        JsonArray results;
        for (const RankedDocument& document : answers.front().documents) {
          JsonObject result{{"index", uint64_t{document.index}}, {"relevance_score", document.score}};
          if (has_texts) result.emplace_back("document", JsonObject{{"text", documents[document.index]}});
          results.push_back(std::move(result));
        }
        return JsonObject{{"id", ""},
                          {"model", name},
                          {"results", std::move(results)},
                          {"usage", usage_json(answers.front().tokens)},
                          {"meta", JsonObject{{"api_version", JsonObject{{"version", "2"}}},
                                              {"billed_units", JsonObject{{"search_units", 1}}}}}};
      });
  reply.items = items;
  reply.characters = characters;
  return reply;
}

}  // namespace deberta::serve::cohere
