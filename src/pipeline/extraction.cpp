// Labels and words, windows of them, forward with the scores of the labels, candidates of each window, entities of the
// whole text.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "deberta/error.h"
#include "deberta/pipeline.h"
#include "decode/entity_candidates.h"
#include "decode/logits.h"
#include "heads/head_facts.h"
#include "kernels/entity_scores.h"
#include "pipeline/encodings.h"
#include "pipeline/labelled_text.h"
#include "pipeline/plan.h"
#include "pipeline/requirements.h"

namespace deberta {
namespace {

// Scores of one sequence, and about as many of one pack.
constexpr size_t kMostScores = size_t{1} << 26;
constexpr size_t kMostScoresOfPack = size_t{1} << 24;

// One text while its windows run.
struct ExtractedText {
  std::shared_ptr<const LabelPrompt> prompt;
  std::vector<WordSpan> words;
  size_t first_window = 0, windows = 0;  // among those of all texts
  size_t tokens = 0;
  size_t cut_tokens = 0;
};

struct ExtractedWindow {
  size_t text = 0;
  Window words;
  EntityRequest request;
  std::vector<EntityCandidate> candidates = {};  // words counted in the text
};

// `argument`: what the limit depends on.
[[noreturn]] void refuse_length(size_t most, size_t got, const char* what, std::string argument) {
  throw Error(ErrorCode::kTextTooLong,
              {{.where = "text",
                .message = fmt::format("expected at most {} {} behind the labels, got {}", most, what, got),
                .argument = std::move(argument),
                .limit = most,
                .remedies = {{"split it"}, {"read it in windows with {}", "truncate", "window"}}}});
}

void check_scores(size_t scores, size_t labels) {
  if (scores <= kMostScores) return;
  throw Error(ErrorCode::kTextTooLong,
              {{.where = "labels",
                .message = fmt::format("expected at most {} scores of a text, got {} for {} labels", kMostScores,
                                       scores, labels),
                .argument = "max_tokens",
                .limit = kMostScores,
                .remedies = {{"give fewer labels"}, {"lower {}", "max_tokens"}}}});
}

// Adds the entity, or makes the one before it longer; its score stays.
void join_entity(std::vector<Entity>& entities, Entity entity) {
  const bool is_neighbour =
      !entities.empty() && entities.back().label == entity.label &&
      (entity.chars.begin == entities.back().chars.end || entity.chars.begin == entities.back().chars.end + 1);
  if (!is_neighbour) {
    entities.push_back(std::move(entity));
    return;
  }
  Entity& before = entities.back();
  before.last_token = entity.last_token;
  before.chars.end = entity.chars.end;
  before.bytes.end = entity.bytes.end;
}

class Extraction {
 public:
  Extraction(const Pipeline& pipeline, const ExtractOptions& options)
      : pipeline_(pipeline),
        config_(*pipeline.config.extraction),
        options_(options),
        tokens_(options.rules),
        words_(options.rules) {}

  void add(const TextInput& input) {
    ExtractedText& text = texts_.emplace_back();
    text.first_window = windows_.size();
    text.prompt = prompt_of(input);
    if (text.prompt->rows_C.empty()) return;
    TextWords words = encode_words(pipeline_.tokenizer, input.text, options_.rules.encode);
    words_.add(words.words.size());
    add_windows(text, words);
    text.words = std::move(words.words);
    text.words.shrink_to_fit();
  }

  std::span<const Encoding> sequences() const { return sequences_; }
  const EntityRequest& request(size_t sequence) const { return windows_[sequence].request; }
  size_t most_scores() const { return most_scores_; }

  // Of a text that is read at once no more is kept than its entities.
  void take(size_t sequence, std::span<const float> logits) {
    check_finite(logits);
    ExtractedWindow& window = windows_[sequence];
    kept_ -= std::exchange(window.candidates, {}).size();
    std::vector<EntityCandidate> candidates =
        candidates_of(window, logits, std::min(kMostCandidates, options_.most_candidates - kept_));
    for (EntityCandidate& candidate : candidates) {
      candidate.first += static_cast<uint32_t>(window.words.first);
      candidate.last += static_cast<uint32_t>(window.words.first);
    }
    const bool is_whole = texts_[window.text].windows == 1;
    window.candidates = is_whole ? choose(std::move(candidates)) : std::move(candidates);
    window.candidates.shrink_to_fit();
    kept_ += window.candidates.size();
  }

  std::vector<TokenAnswer> finish() {
    std::vector<TokenAnswer> answers;
    for (const ExtractedText& text : texts_) answers.push_back({entities_of(text), text.tokens, text.cut_tokens});
    return answers;
  }

 private:
  // That of the options is made once.
  std::shared_ptr<const LabelPrompt> prompt_of(const TextInput& input) {
    if (input.labels) return std::make_shared<LabelPrompt>(make_label_prompt(pipeline_, *input.labels, options_));
    if (options_.labels.empty())
      throw Error(ErrorCode::kInput, {{.where = "labels",
                                       .message = "expected labels of entities, got none",
                                       .remedies = {{"give them with {}", "labels", "person,organization"}}}});
    if (shared_prompt_ == nullptr)
      shared_prompt_ = std::make_shared<LabelPrompt>(make_label_prompt(pipeline_, options_.labels, options_));
    return shared_prompt_;
  }

  void add_windows(ExtractedText& text, const TextWords& words) {
    const WindowRoom room = window_room(*text.prompt, config_, options_.rules);
    std::vector<Window> windows = word_windows(words, room);
    if (options_.rules.long_text == LongText::kRefuse) check_length(words, windows, room);
    if (options_.rules.long_text == LongText::kCut && windows.size() > 1) {
      windows.resize(1);
      text.cut_tokens += words.pieces.size() - words.starts[windows.front().last];
    }
    for (const Window& window : windows) add_window(text, words, window, room);
  }

  void check_length(const TextWords& words, const std::vector<Window>& windows, const WindowRoom& room) const {
    if (words.pieces.size() > room.pieces) refuse_length(room.pieces, words.pieces.size(), "tokens", "max_tokens");
    if (windows.size() > 1) refuse_length(room.words, words.words.size(), "words", "");
  }

  void add_window(ExtractedText& text, const TextWords& words, const Window& window, const WindowRoom& room) {
    LabelledWindow made = make_labelled_window(*text.prompt, words, window, room, pipeline_.tokenizer.special());
    const size_t labels = text.prompt->rows_C.size();
    const size_t cells =
        config_.has_spans() ? count_spans(window.size(), static_cast<size_t>(config_.max_width)) : window.size();
    made.request.rows = cells * labels;
    const size_t scores = made.request.rows * (config_.has_spans() ? 1 : kWordScores);
    check_scores(scores, labels);
    most_scores_ = std::max(most_scores_, scores);
    text.tokens += made.sequence.size();
    tokens_.add(made.sequence.size());
    text.cut_tokens += made.sequence.cut_tokens;
    ++text.windows;
    windows_.push_back({texts_.size() - 1, window, std::move(made.request), {}});
    sequences_.push_back(std::move(made.sequence));
  }

  std::vector<EntityCandidate> candidates_of(const ExtractedWindow& window, std::span<const float> logits,
                                             size_t most) const {
    const std::vector<double>& thresholds_C = texts_[window.text].prompt->thresholds_C;
    if (!config_.has_spans()) return word_candidates(logits, window.words.size(), thresholds_C, most);
    return span_candidates(logits, window.words.size(), static_cast<size_t>(config_.max_width), thresholds_C, most);
  }

  std::vector<EntityCandidate> choose(std::vector<EntityCandidate> candidates) const {
    return choose_entities(std::move(candidates), {options_.is_nested, options_.is_multi_label});
  }

  std::vector<EntityCandidate> chosen_of(const ExtractedText& text) const {
    std::vector<EntityCandidate> candidates;
    for (size_t n = text.first_window; n < text.first_window + text.windows; ++n) {
      check_candidates(candidates.size() + windows_[n].candidates.size());
      candidates.insert(candidates.end(), windows_[n].candidates.begin(), windows_[n].candidates.end());
    }
    if (text.windows < 2) return candidates;  // take() has chosen them
    return choose(merge_candidates(
        std::move(candidates), config_.has_spans() ? CandidateOrder::kLastThenLabel : CandidateOrder::kLabelThenLast));
  }

  std::vector<Entity> entities_of(const ExtractedText& text) const {
    std::vector<Entity> entities;
    for (const EntityCandidate& chosen : chosen_of(text)) {
      const WordSpan &first = text.words[chosen.first], &last = text.words[chosen.last];
      Entity entity{.label = text.prompt->names[chosen.label],
                    .score = chosen.score,
                    .first_token = chosen.first,
                    .last_token = chosen.last,
                    .chars = {first.chars.begin, last.chars.end},
                    .bytes = {first.bytes.begin, last.bytes.end}};
      if (options_.joins_neighbours) {
        join_entity(entities, std::move(entity));
      } else {
        entities.push_back(std::move(entity));
      }
    }
    return entities;
  }

  const Pipeline& pipeline_;
  ExtractionConfig config_;
  ExtractOptions options_;
  TokenCount tokens_;
  TokenCount words_;  // of which some may have no token
  std::shared_ptr<const LabelPrompt> shared_prompt_;
  std::vector<ExtractedText> texts_;
  std::vector<ExtractedWindow> windows_;
  std::vector<Encoding> sequences_;
  size_t most_scores_ = 1;
  size_t kept_ = 0;  // candidates
};

}  // namespace

Planned<TokenAnswer> plan_extract(const Pipeline& pipeline, std::span<const TextInput> inputs,
                                  const ExtractOptions& options) {
  if (!facts_of(pipeline.model.head()).takes_labelled_words()) refuse_head("extract", "GLiNER", pipeline.model);
  const auto extraction = std::make_shared<Extraction>(pipeline, options);
  for_each_input(inputs.size(), [&](size_t i) { extraction->add(inputs[i]); });
  SequencePlan plan;
  plan.sequences = SequenceSource(extraction->sequences());
  plan.entities = [extraction](size_t sequence) -> const EntityRequest& { return extraction->request(sequence); };
  plan.take = [extraction](size_t sequence, std::span<const float> logits) { extraction->take(sequence, logits); };
  plan.most_in_pack = std::max<size_t>(1, kMostScoresOfPack / extraction->most_scores());
  return {std::move(plan), [extraction] { return extraction->finish(); }};
}

std::vector<TokenAnswer> extract(const Pipeline& pipeline, std::span<const TextInput> inputs,
                                 const ExtractOptions& options) {
  return run_planned(pipeline, plan_extract(pipeline, inputs, options), options.rules);
}

}  // namespace deberta
