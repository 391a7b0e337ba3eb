// Windows of a passage, each followed by the query; a logit for each mention of an entity.
#include "pipeline/entity.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <utility>

#include "base/utf8.h"
#include "deberta/error.h"
#include "decode/windows.h"
#include "heads/head_facts.h"
#include "pipeline/requirements.h"

namespace deberta {
namespace {

constexpr std::string_view kPlaceholder = "@placeholder";
constexpr size_t kEntityTemplateTokens = 3;  // [CLS] passage [SEP] query [SEP]

void check_entity_head(const Model& model) {
  const HeadFacts& head = facts_of(model.head());
  if (head.groups != HeadGroups::kAnyRows || !head.has_classes()) refuse_head("record", "ReCoRD entity", model);
  if (model.labels() != 1)
    throw Error(ErrorCode::kTask, "record", fmt::format("expected a head with one class, got {}", model.labels()));
}

// The two parts of the query around one mask token.
Encoding encode_query(const Tokenizer& tokenizer, std::string_view query, const EncodeOptions& options) {
  const size_t at = query.find(kPlaceholder);
  if (at == std::string_view::npos)
    throw Error(ErrorCode::kInput, "query", "expected @placeholder where the entity is missing");
  if (tokenizer.special().mask < 0) throw Error(ErrorCode::kTask, "record", "the tokenizer has no mask token");
  Encoding encoding = tokenizer.encode(query.substr(0, at), options);
  const Encoding rest = tokenizer.encode(query.substr(at + kPlaceholder.size()), options);
  encoding.ids.push_back(tokenizer.special().mask);
  encoding.ids.insert(encoding.ids.end(), rest.ids.begin(), rest.ids.end());
  return encoding;
}

// Tokens of the passage that an entity touches.
Window tokens_of(const Encoding& passage, const Offset& entity) {
  Window tokens;
  const auto first = std::find_if(passage.bytes.begin(), passage.bytes.end(),
                                  [&](const Offset& token) { return token.end > entity.begin; });
  const auto last =
      std::find_if(first, passage.bytes.end(), [&](const Offset& token) { return token.begin >= entity.end; });
  tokens.first = static_cast<size_t>(first - passage.bytes.begin());
  tokens.last = static_cast<size_t>(last - passage.bytes.begin());
  return tokens;
}

// Not make_windows: the original continues as long as a window begins within the passage.
std::vector<Window> original_windows(size_t tokens, size_t room, size_t overlap) {
  if (tokens <= room) return {{0, tokens}};
  std::vector<Window> windows;
  for (size_t first = 0; first < tokens; first += room - overlap)
    windows.push_back({first, std::min(tokens, first + room)});
  return windows;
}

Encoding to_sequence(const Tokenizer& tokenizer, const Encoding& passage, const Window& window, const Encoding& asked) {
  Encoding sequence = window_encoding(passage, window, tokenizer.special());
  sequence.ids.insert(sequence.ids.end(), asked.ids.begin(), asked.ids.end());
  sequence.ids.push_back(tokenizer.special().sep);
  sequence.type_ids.resize(sequence.ids.size(), 1);
  return sequence;
}

// Throws kTextTooLong where no room is left for the passage.
void check_room(size_t taken, const EncodingRules& rules) {
  if (taken + rules.stride < rules.encode.max_tokens) return;
  const size_t limit = rules.encode.max_tokens - rules.stride;
  throw Error(ErrorCode::kTextTooLong, {{.where = "query",
                                         .message = fmt::format("expected less than {} tokens, got {}", limit, taken),
                                         .argument = "max_tokens",
                                         .limit = limit}});
}

std::vector<Window> entity_tokens(const EntityQuery& query, const Encoding& passage) {
  std::vector<Window> tokens;
  for (const Offset& entity : query.entities) {
    if (entity.begin >= entity.end || entity.end > query.passage.size())
      throw Error(ErrorCode::kInput, "entity",
                  fmt::format("expected bytes of the passage, got {}..{}", entity.begin, entity.end));
    tokens.push_back(tokens_of(passage, entity));
  }
  return tokens;
}

std::vector<EntityWindow::Held> held_in(const Window& window, const std::vector<Window>& entities) {
  std::vector<EntityWindow::Held> held;
  for (size_t e = 0; e < entities.size(); ++e) {
    const Window& entity = entities[e];
    if (entity.first < window.first || entity.last > window.last || entity.size() == 0) continue;
    held.push_back({e, {}});
    for (size_t t = entity.first; t < entity.last; ++t)
      held.back().tokens.push_back(static_cast<int32_t>(t - window.first + 1));
  }
  return held;
}

// One query while its windows run.
struct Question {
  std::vector<double> sums;  // sums of log sigmoid, by entity
  std::vector<size_t> counts;
  size_t tokens = 0;

  EntityScores mean_scores() const {
    EntityScores scores{{}, tokens};
    for (size_t e = 0; e < sums.size(); ++e) {
      const bool is_seen = counts[e] > 0;
      const double mean = is_seen ? sums[e] / static_cast<double>(counts[e]) : 0;
      scores.scores.push_back(is_seen ? static_cast<float>(std::exp(mean) - 0.5) : -0.5f);
    }
    return scores;
  }
};

// The windows of all queries, each with the entities that it holds and their logits.
class Entities {
 public:
  void add(const Tokenizer& tokenizer, const EntityQuery& query, const EncodingRules& rules) {
    Question& question = questions_.emplace_back();
    question.sums.resize(query.entities.size());
    question.counts.resize(query.entities.size());
    for (EntityWindow& window : entity_windows(tokenizer, query, rules)) {
      question.tokens += window.sequence.size();
      sequences_.push_back(std::move(window.sequence));
      Piece& piece = pieces_.emplace_back(Piece{questions_.size() - 1, {}, {}, {}});
      for (EntityWindow::Held& held : window.entities) {
        piece.entities.push_back(held.entity);
        piece.mentions.push_back(std::move(held.tokens));
      }
    }
  }

  std::span<const Encoding> sequences() const { return sequences_; }
  std::span<const std::vector<int32_t>> mentions_of(size_t sequence) const { return pieces_[sequence].mentions; }
  void take(size_t sequence, std::span<const float> logits) {
    pieces_[sequence].logits.assign(logits.begin(), logits.end());
  }

  std::vector<EntityScores> finish() {
    for (const Piece& piece : pieces_) {
      Question& question = questions_[piece.question];
      for (size_t m = 0; m < piece.entities.size(); ++m) {
        const double logit = piece.logits[m];
        question.sums[piece.entities[m]] += std::min(logit, 0.0) - std::log1p(std::exp(-std::abs(logit)));
        question.counts[piece.entities[m]] += 1;
      }
    }
    std::vector<EntityScores> all;
    for (const Question& question : questions_) all.push_back(question.mean_scores());
    return all;
  }

 private:
  struct Piece {
    size_t question = 0;
    std::vector<size_t> entities;
    std::vector<std::vector<int32_t>> mentions;  // tokens of each entity
    std::vector<float> logits;                   // one for each entity
  };

  std::vector<Question> questions_;
  std::vector<Encoding> sequences_;
  std::vector<Piece> pieces_;  // by sequence
};

}  // namespace

std::vector<EntityWindow> entity_windows(const Tokenizer& tokenizer, const EntityQuery& query,
                                         const EncodingRules& rules) {
  check_plain_pairs("record", tokenizer);
  if (!is_valid_utf8(query.passage) || !is_valid_utf8(query.query))
    throw Error(ErrorCode::kInput, "text", "expected valid UTF-8");
  EncodeOptions encode = rules.encode;
  encode.add_special_tokens = false;
  encode.truncate = Truncate::kNone;
  const Encoding passage = tokenizer.encode(query.passage, encode);
  const Encoding asked = encode_query(tokenizer, query.query, encode);
  const std::vector<Window> entities = entity_tokens(query, passage);
  const size_t taken = asked.ids.size() + kEntityTemplateTokens;
  check_room(taken, rules);
  std::vector<EntityWindow> windows;
  for (const Window& window : original_windows(passage.size(), rules.encode.max_tokens - taken, rules.stride))
    windows.push_back({to_sequence(tokenizer, passage, window, asked), held_in(window, entities)});
  return windows;
}

Planned<EntityScores> plan_entities(const Pipeline& pipeline, std::span<const EntityQuery> queries,
                                    const EncodingRules& rules) {
  check_entity_head(pipeline.model);
  const auto entities = std::make_shared<Entities>();
  for (const EntityQuery& query : queries) entities->add(pipeline.tokenizer, query, rules);
  SequencePlan plan;
  plan.sequences = SequenceSource(entities->sequences());
  plan.groups = [entities](size_t sequence) { return entities->mentions_of(sequence); };
  plan.take = [entities](size_t sequence, std::span<const float> logits) { entities->take(sequence, logits); };
  return {std::move(plan), [entities] { return entities->finish(); }};
}

std::vector<EntityScores> score_entities(const Pipeline& pipeline, std::span<const EntityQuery> queries,
                                         const EncodingRules& rules) {
  return run_planned(pipeline, plan_entities(pipeline, queries, rules), rules);
}

}  // namespace deberta
