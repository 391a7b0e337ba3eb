// Windows of a passage, each followed by the query, mentions as packed rows.
#include "pipeline/entity.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "base/utf8.h"
#include "deberta/error.h"
#include "decode/windows.h"
#include "pipeline/batches.h"
#include "pipeline/requirements.h"

namespace deberta {
namespace {

constexpr std::string_view kPlaceholder = "@placeholder";
constexpr size_t kTemplateTokens = 3;  // [CLS] passage [SEP] query [SEP]

void check_head(const Model& model) {
  if (model.head() != Head::kTokenOriginal) refuse_head("record", "ReCoRD entity", model);
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

// One query while its windows run.
struct Question {
  std::vector<Window> entities;  // as tokens of the passage
  std::vector<double> sums;      // of log sigmoid
  std::vector<size_t> counts;
  size_t tokens = 0;
};

struct Piece {
  size_t question;
  Window window;
};

class Entities {
 public:
  Entities(const Pipeline& pipeline, const EncodingRules& rules) : pipeline_(pipeline), rules_(rules) {
    check_plain_pairs("record", pipeline.tokenizer);
    encode_ = rules.encode;
    encode_.add_special_tokens = false;
    encode_.truncate = Truncate::kNone;
  }

  void add(const EntityQuery& query) {
    if (!is_valid_utf8(query.passage) || !is_valid_utf8(query.query))
      throw Error(ErrorCode::kInput, "text", "expected valid UTF-8");
    const Encoding passage = pipeline_.tokenizer.encode(query.passage, encode_);
    const Encoding asked = encode_query(pipeline_.tokenizer, query.query, encode_);
    Question question;
    for (const Offset& entity : query.entities) {
      if (entity.begin >= entity.end || entity.end > query.passage.size())
        throw Error(ErrorCode::kInput, "entity",
                    fmt::format("expected bytes of the passage, got {}..{}", entity.begin, entity.end));
      question.entities.push_back(tokens_of(passage, entity));
    }
    question.sums.resize(query.entities.size());
    question.counts.resize(query.entities.size());
    const size_t taken = asked.ids.size() + kTemplateTokens;
    if (taken + rules_.stride >= rules_.encode.max_tokens) {
      const size_t limit = rules_.encode.max_tokens - rules_.stride;
      throw Error(ErrorCode::kTextTooLong,
                  {{.where = "query",
                    .message = fmt::format("expected less than {} tokens, got {}", limit, taken),
                    .argument = "max_tokens",
                    .limit = limit}});
    }
    for (const Window& window : original_windows(passage.size(), rules_.encode.max_tokens - taken, rules_.stride)) {
      pieces_.push_back({questions_.size(), window});
      sequences_.push_back(to_sequence(passage, window, asked));
      question.tokens += sequences_.back().size();
    }
    questions_.push_back(std::move(question));
  }

  std::vector<EntityScores> run() {
    for_each_batch(sequences_, rules_.batch_tokens, [&](size_t first, const Batch& batch) { take(first, batch); });
    std::vector<EntityScores> all;
    for (const Question& question : questions_) {
      EntityScores scores{{}, question.tokens};
      for (size_t e = 0; e < question.entities.size(); ++e) {
        const bool is_seen = question.counts[e] > 0;
        const double mean = is_seen ? question.sums[e] / static_cast<double>(question.counts[e]) : 0;
        scores.scores.push_back(is_seen ? static_cast<float>(std::exp(mean) - 0.5) : -0.5f);
      }
      all.push_back(std::move(scores));
    }
    return all;
  }

 private:
  Encoding to_sequence(const Encoding& passage, const Window& window, const Encoding& asked) const {
    Encoding sequence = window_encoding(passage, window, pipeline_.tokenizer.special());
    sequence.ids.insert(sequence.ids.end(), asked.ids.begin(), asked.ids.end());
    sequence.ids.push_back(pipeline_.tokenizer.special().sep);
    sequence.type_ids.resize(sequence.ids.size(), 1);
    return sequence;
  }

  // Mentions of the entities that each window of the pack holds.
  void take(size_t first, const Batch& batch) {
    ForwardOptions options;
    std::vector<std::pair<size_t, size_t>> asked;  // question, entity
    for (size_t b = 0; b < batch.sequences(); ++b) {
      const Piece& piece = pieces_[first + b];
      const std::vector<Window>& entities = questions_[piece.question].entities;
      for (size_t e = 0; e < entities.size(); ++e) {
        if (entities[e].first < piece.window.first || entities[e].last > piece.window.last || entities[e].size() == 0)
          continue;
        options.mentions.push_back(mention(batch, b, entities[e], piece.window));
        asked.emplace_back(piece.question, e);
      }
    }
    if (options.mentions.empty()) return;
    pipeline_.model.forward(batch, options, result_);
    for (size_t m = 0; m < asked.size(); ++m) {
      Question& question = questions_[asked[m].first];
      const double logit = result_.logits[m];
      question.sums[asked[m].second] += std::min(logit, 0.0) - std::log1p(std::exp(-std::abs(logit)));
      question.counts[asked[m].second] += 1;
    }
  }

  static Mention mention(const Batch& batch, size_t sequence, const Window& entity, const Window& window) {
    Mention mention{static_cast<int32_t>(sequence), {}};
    for (size_t t = entity.first; t < entity.last; ++t)
      mention.rows.push_back(batch.starts[sequence] + static_cast<int32_t>(t - window.first + 1));
    return mention;
  }

  const Pipeline& pipeline_;
  EncodingRules rules_;
  EncodeOptions encode_;
  std::vector<Question> questions_;
  std::vector<Piece> pieces_;
  std::vector<Encoding> sequences_;
  ForwardResult result_;
};

}  // namespace

std::vector<EntityScores> score_entities(const Pipeline& pipeline, std::span<const EntityQuery> queries,
                                         const EncodingRules& rules) {
  check_head(pipeline.model);
  Entities entities(pipeline, rules);
  for (const EntityQuery& query : queries) entities.add(query);
  return entities.run();
}

}  // namespace deberta
