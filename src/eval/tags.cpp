// Joins sentences to texts for the model, splits its tags up again by sentence, and compares them with the gold tags.
#include "eval/tags.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <utility>

#include "config/aggregation.h"
#include "data/conll.h"
#include "deberta/error.h"
#include "eval/model_rows.h"
#include "metrics/tag_evaluation.h"
#include "rows/row_input.h"

namespace deberta {
namespace {

Remedy give_tags() {
  return {"give its tags in order with {}", "label_map"};
}

TaggedSentence sentence_of(const ConllSentence& read) {
  TaggedSentence sentence{read.where, read.begins_document, {}, {}, read.error};
  for (size_t token = 0; token < read.tokens(); ++token) {
    sentence.words.push_back(read.word(token));
    sentence.tags.gold.push_back(read.label(token));
  }
  return sentence;
}

std::vector<TaggedSentence> read_sentences(const TagSettings& settings, const EvalHooks& hooks, EvalResult& result) {
  std::vector<TaggedSentence> sentences;
  SentencePicker picker(settings.part, settings.merges_sentences);
  for (const std::string& path : settings.files) {
    ConllReader reader(LineReader{ByteSource(path, hooks.is_stopped)});
    size_t repaired = 0;  // lines of the current file so far
    for (ConllSentence sentence; !picker.is_done() && reader.next(sentence);) {
      if (picker.takes(sentence)) sentences.push_back(sentence_of(sentence));
      result.repaired += std::exchange(repaired, reader.lines().repaired()) < reader.lines().repaired();
    }
    check_stopped(hooks);
  }
  for (const TaggedSentence& sentence : sentences) {
    if (sentence.error) stop_at_bad_row(hooks, *sentence.error);
  }
  return sentences;
}

// TaggedSentence by sentence; both files must have the same words.
void read_answers(const std::string& path, std::vector<TaggedSentence>& sentences) {
  ConllReader predicted(LineReader{ByteSource(path)});
  ConllSentence read;
  for (TaggedSentence& sentence : sentences) {
    if (!predicted.next(read))
      throw Error(ErrorCode::kInput, path, "expected the sentence of " + sentence.where + ", got the end of the file");
    if (sentence.error || read.error) {
      if (!sentence.error) sentence.error = read.error;
      continue;
    }
    TaggedSentence answer = sentence_of(read);
    if (answer.words != sentence.words)
      throw Error(ErrorCode::kInput, read.where, "expected the words of " + sentence.where);
    sentence.tags.predicted = std::move(answer.tags.gold);
  }
  if (predicted.next(read)) throw Error(ErrorCode::kInput, read.where, "expected the end of the file");
}

// ---- answers from a model

// Sentences that the model sees as one text.
struct SentenceRange {
  size_t first = 0;
  size_t count = 0;
};

// Each sentence by itself; or, as the published models were trained, as many sentences of a document as fit.
std::vector<SentenceRange> texts_of(const std::vector<TaggedSentence>& sentences, const Tokenizer& tokenizer,
                                    std::optional<size_t> max_pieces) {
  std::vector<SentenceRange> texts;
  size_t pieces = 0;
  for (size_t i = 0; i < sentences.size(); ++i) {
    const TaggedSentence& sentence = sentences[i];
    const bool is_alone = !max_pieces || sentence.error || sentence.begins_document || i == 0 || sentences[i - 1].error;
    const size_t own = max_pieces ? tokenizer.encode(sentence.text(), {.add_special_tokens = false}).size() : 0;
    if (is_alone || pieces + own > *max_pieces) {
      texts.push_back({i, 0});
      pieces = 0;
    }
    ++texts.back().count;
    pieces += own;
  }
  return texts;
}

std::vector<std::string> words_of(std::span<const TaggedSentence> sentences) {
  std::vector<std::string> words;
  for (const TaggedSentence& sentence : sentences)
    words.insert(words.end(), sentence.words.begin(), sentence.words.end());
  return words;
}

// Gives each sentence the tags of its words.
void share_out(const std::vector<std::string>& tags, std::span<TaggedSentence> sentences) {
  auto tag = tags.begin();
  for (TaggedSentence& sentence : sentences) {
    const auto end = tag + static_cast<std::ptrdiff_t>(sentence.words.size());
    sentence.tags.predicted.assign(tag, end);
    tag = end;
  }
}

// Gives each sentence the entities that begin in it. `entities`: of its text, in order.
void share_out(std::span<const Entity> entities, std::span<TaggedSentence> sentences) {
  const std::vector<Offset> words = places_of(words_of(sentences));
  size_t begin = 0, next = 0;  // the first word of the sentence; the first entity that is not shared out
  for (TaggedSentence& sentence : sentences) {
    std::vector<TaggedEntity>& tagged = sentence.tags.entities.emplace();
    const size_t end = begin + sentence.words.size();
    for (size_t first = begin; next < entities.size(); ++next) {
      const Offset& bytes = entities[next].bytes;
      while (first < end && words[first].end <= bytes.begin) ++first;
      if (first == end) break;
      size_t last = first;
      while (last + 1 < end && words[last].end < bytes.end) ++last;
      const bool is_whole = words[first].begin == bytes.begin && words[last].end == bytes.end;
      tagged.push_back({entities[next].label, first - begin, is_whole ? last - begin : SIZE_MAX});
    }
    begin = end;
  }
}

class SentenceRows final : public RowSource {
 public:
  SentenceRows(const std::vector<TaggedSentence>& sentences, const std::vector<SentenceRange>& texts)
      : sentences_(sentences), texts_(texts) {}
  bool next(Row& row) override {
    if (next_ == texts_.size()) return false;
    const SentenceRange& text = texts_[next_++];
    const TaggedSentence& first = sentences_[text.first];
    row = {};
    row.where = first.where;
    row.error = first.error;
    row.text = fmt::format("{}", fmt::join(words_of(std::span(sentences_).subspan(text.first, text.count)), " "));
    return true;
  }
  std::optional<double> fraction_done() const override {
    return static_cast<double>(next_) / static_cast<double>(texts_.size());
  }

 private:
  const std::vector<TaggedSentence>& sentences_;
  const std::vector<SentenceRange>& texts_;
  size_t next_ = 0;
};

// The model's tags: its label names, or where these say nothing, the task's tags in the original's order.
std::vector<std::string> tags_of(const Pipeline& pipeline, const std::vector<std::string>& label_map,
                                 const TaskRow& task) {
  std::vector<std::string> names = class_names(pipeline, label_map), own = split_words(task.labels);
  const bool says_nothing =
      label_map.empty() && std::all_of(names.begin(), names.end(), [](const std::string& name) {
        return name.starts_with("LABEL_") || name.find_first_not_of("0123456789") == std::string::npos;
      });
  if (!says_nothing) return names;
  if (names.size() == own.size()) return own;
  throw Error(ErrorCode::kTask, {{.where = "eval",
                                  .message = fmt::format("expected a model with the tags {}, got {}",
                                                         fmt::join(own, ", "), fmt::join(names, ", ")),
                                  .remedies = {give_tags()}}});
}

// A file with other tags would only score 0.
void check_tags(const std::vector<TaggedSentence>& sentences, const std::vector<std::string>& tags) {
  std::set<std::string> golds;
  for (const TaggedSentence& sentence : sentences) golds.insert(sentence.tags.gold.begin(), sentence.tags.gold.end());
  golds.erase("O");
  const auto is_known = [&](const std::string& tag) { return golds.count(tag) > 0; };
  if (golds.empty() || std::any_of(tags.begin(), tags.end(), is_known)) return;
  throw Error(ErrorCode::kTask, {{.where = "eval",
                                  .message = fmt::format("none of the model's tags {} is in the files, which have {}",
                                                         fmt::join(tags, ", "), fmt::join(golds, ", ")),
                                  .remedies = {give_tags()}}});
}

JsonObject settings_of(const TagSettings& settings) {
  const std::string_view words = settings.word_label == WordLabel::kFirst ? "first" : "most_confident";
  return {settings.aggregation ? JsonMember{"aggregate", std::string(to_string(*settings.aggregation))}
                               : JsonMember{"word-label", std::string(words)},
          {"max-tokens", static_cast<uint64_t>(settings.rules.encode.max_tokens)},
          {"sentences", settings.merges_sentences ? "merged" : "each by itself"}};
}

void run_model(const TaskRow& task, const TagSettings& settings, const Pipeline& pipeline,
               std::vector<TaggedSentence>& sentences, const EvalHooks& hooks, EvalResult& result) {
  result.settings = settings_of(settings);
  TokenOptions token;
  token.rules = settings.rules;
  token.entities.aggregation = settings.aggregation;
  if (!settings.aggregation) token.entities = {.aggregation = Aggregation::kNone, .ignored = {}};
  ner(pipeline, {}, token);  // refuses a model without the head before any row is read
  token.label_map = tags_of(pipeline, settings.label_map, task);
  check_tags(sentences, token.label_map);
  std::optional<size_t> room;
  if (settings.merges_sentences) room = token.rules.encode.max_tokens - pipeline.tokenizer.encode("").size();
  const std::vector<SentenceRange> texts = texts_of(sentences, pipeline.tokenizer, room);
  const auto of = [&](size_t text) { return std::span(sentences).subspan(texts[text].first, texts[text].count); };
  const auto answer = [&](std::span<const size_t> numbers, std::span<const Row> rows) {
    const auto results = ner(pipeline, text_inputs(rows), token);
    for (size_t i = 0; i < rows.size(); ++i) {
      const std::span<TaggedSentence> shown = of(numbers[i]);
      if (settings.aggregation)
        share_out(results[i].entities, shown);
      else
        share_out(word_tags(places_of(words_of(shown)), results[i].entities, settings.word_label), shown);
      result.cut.rows += results[i].cut_tokens > 0;
    }
  };
  const auto refuse = [&](size_t number, const Error& error) {
    for (TaggedSentence& sentence : of(number)) sentence.error = error;
  };
  run_model_rows([&](const auto&) { return std::make_unique<SentenceRows>(sentences, texts); },
                 row_encoder(pipeline.tokenizer, {token.rules}), token.rules.batch_tokens,
                 {.answer = answer, .refuse = refuse}, hooks);
  result.cut.of = texts.size();
  result.cut.max_tokens = token.rules.encode.max_tokens;
}

void write_answers(const std::vector<TaggedSentence>& sentences, FileWriter& out) {
  for (const TaggedSentence& sentence : sentences) {
    std::string lines;
    for (size_t i = 0; i < sentence.tags.predicted.size(); ++i)
      lines += fmt::format("{} {} {}\n", sentence.words[i], sentence.tags.gold[i], sentence.tags.predicted[i]);
    if (!lines.empty()) out.write(lines + '\n');
  }
}

}  // namespace

bool SentencePicker::takes(const ConllSentence& next) {
  documents_ += next.begins_document;
  return picker_.takes({.neighbours = keeps_documents_ ? std::optional<uint64_t>(documents_) : std::nullopt});
}

std::string TaggedSentence::text() const {
  return fmt::format("{}", fmt::join(words, " "));
}

void check_tagged_files(const TagSettings& settings, const std::vector<std::string>& model_tags,
                        const EvalHooks& hooks) {
  EvalResult result;
  const std::vector<TaggedSentence> sentences = read_sentences(settings, hooks, result);
  if (!model_tags.empty()) check_tags(sentences, model_tags);
  for (const TaggedSentence& sentence : sentences) {
    if (sentence.error) report_bad_row(hooks, *sentence.error);
  }
}

std::vector<TaggedSentence> tag_sentences(const TaskRow& task, const TagSettings& settings, const OpenModel& open_model,
                                          const EvalHooks& hooks, EvalResult& result) {
  result.task = &task;
  std::vector<TaggedSentence> sentences = read_sentences(settings, hooks, result);
  if (settings.predictions.empty())
    run_model(task, settings, opened(open_model), sentences, hooks, result);
  else
    read_answers(settings.predictions, sentences);
  result.rows = sentences.size();
  for (const TaggedSentence& sentence : sentences) {
    if (!sentence.error) continue;
    ++result.failed;
    report_bad_row(hooks, *sentence.error);
  }
  return sentences;
}

AnsweredRows answer_tags(const TaskRow& task, const TagSettings& settings, const OpenModel& open_model,
                         const EvalHooks& hooks) {
  AnsweredRows answered;
  const auto sentences =
      std::make_shared<std::vector<TaggedSentence>>(tag_sentences(task, settings, open_model, hooks, answered.result));
  std::vector<TagOutcome> outcomes;
  for (const TaggedSentence& sentence : *sentences) {
    if (!sentence.error) outcomes.push_back(sentence.tags);
  }
  answered.evaluation = make_evaluation(outcomes, split_words(task.metrics));
  answered.write_predictions = [sentences](FileWriter& out) { write_answers(*sentences, out); };
  return answered;
}

}  // namespace deberta
