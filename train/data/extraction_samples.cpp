// Words of rows by their bytes, windows as the model reads them, labels by Philox.
#include "train/data/extraction_samples.h"

#include <algorithm>
#include <array>
#include <functional>
#include <numeric>
#include <optional>
#include <string>
#include <utility>

#include "base/philox.h"
#include "deberta/error.h"
#include "eval/entities.h"
#include "eval/entity_files.h"

namespace deberta::train {
namespace {

constexpr size_t kLeastPieces = 8;  // of a text behind the longest labels

LabelPrompt prompt_of(const LabelPool& pool, std::span<const int32_t> labels) {
  const PromptMarks marks = marks_of(pool);
  LabelPrompt prompt = begin_prompt(marks);
  for (const int32_t label : labels) add_label(marks, pool.pieces[static_cast<size_t>(label)], prompt);
  end_prompt(marks, prompt);
  return prompt;
}

// As many of these labels as may stand before a text, the longest first.
std::vector<int32_t> longest_of(const LabelPool& pool, std::vector<int32_t> labels) {
  std::ranges::stable_sort(labels, std::ranges::greater(),
                           [&](int32_t label) { return pool.pieces[static_cast<size_t>(label)].size(); });
  labels.resize(std::min(labels.size(), pool.most_labels));
  return labels;
}

class Entities {
 public:
  Entities(const SampleSource& source, TaskSamples& samples)
      : source_(source), rules_(source.reading.extraction), samples_(samples) {}

  void add(EntityRows rows) {
    samples_.labels = rows.labels();
    fill_pool();
    const auto has_any = [](const EntityRow& row) { return !row.error && !row.labels; };
    if (std::ranges::any_of(rows.rows, has_any)) room_of_any_ = room_behind(numbers_of(samples_.labels));
    for (const EntityRow& row : rows.rows) add(row);
    if (samples_.labels.empty())
      throw Error(ErrorCode::kInput, source_.reading.input.files.front(),
                  "expected rows with entities, got none in " + std::to_string(rows.rows.size()));
    samples_.held_out = samples_.held_out_labelled = rows.left_out;
    samples_.repaired = rows.repaired;
  }

 private:
  void fill_pool() {
    LabelPool& pool = samples_.pool;
    const auto id_of = [&](const std::string& mark) {
      const std::optional<int32_t> id = source_.tokenizer.id_of(mark);
      if (id) return *id;
      throw Error(ErrorCode::kInternal, "marks", "expected " + mark + " in the tokenizer, got none");
    };
    pool.marks = {id_of(rules_.config.ent_token), id_of(rules_.config.sep_token)};
    pool.special = source_.tokenizer.special();
    pool.embed_ent_token = rules_.config.embed_ent_token;
    pool.most_labels = rules_.most_labels;
    pool.most_drawn = rules_.most_drawn;
    for (const std::string& label : samples_.labels)
      pool.pieces.push_back(encode_plain(source_.tokenizer, label, source_.rules().encode));
  }

  WindowRoom room_behind(std::vector<int32_t> labels) const {
    const LabelPrompt longest = prompt_of(samples_.pool, longest_of(samples_.pool, std::move(labels)));
    const size_t most = source_.reading.max_tokens, needed = longest.ids.size() + 1 + kLeastPieces;
    if (needed > most)
      throw Error(ErrorCode::kUsage,
                  {{.message = "expected at least " + std::to_string(needed) + " tokens, for a text behind the " +
                               std::to_string(longest.rows_C.size()) + " longest labels, got " + std::to_string(most),
                    .argument = "max_tokens",
                    .remedies = {{"put fewer labels before a text with {}", "max_labels"}}}});
    return window_room(longest, rules_.config, source_.rules());
  }

  void add(const EntityRow& row) {
    if (row.error) return source_.leave_out(*row.error, samples_);
    ++samples_.examples;
    try {
      add_text(row);
    } catch (const Error& error) {
      source_.leave_out(error_of_row(error, row.where), samples_);
    }
  }

  void add_text(const EntityRow& row) {
    if (row.labels && labels_of(row, {}).empty()) {
      ++samples_.unsearched;
      return;
    }
    const TextWords text = encode_words(source_.tokenizer, row.text, source_.rules().encode);
    if (text.words.empty()) {
      ++samples_.empty;
      return;
    }
    samples_.texts.insert(std::hash<std::string>()(row.text));
    const std::vector<TaskEntity> entities = entities_of(row, text);
    room_ = row.labels ? room_behind(numbers_of(labels_of(row, {}))) : room_of_any_;
    std::vector<Window> windows = word_windows(text, room_);
    if (windows.size() > 1 && !source_.reading.reads_windows) {
      windows.resize(1);
      ++samples_.cut;
    }
    samples_.in_windows += windows.size() > 1;
    samples_.in_no_window += static_cast<size_t>(std::ranges::count_if(entities, [&](const TaskEntity& entity) {
      return std::ranges::none_of(windows, [&](const Window& window) { return has_whole(window, entity); });
    }));
    for (const Window& window : windows) add_window(row, text, entities, window);
  }

  // One that begins or ends within a word is no span of words.
  std::vector<TaskEntity> entities_of(const EntityRow& row, const TextWords& text) {
    std::vector<TaskEntity> entities;
    for (const LabelledSpan& span : row.entities) {
      const auto first =
          std::ranges::lower_bound(text.words, span.begin, {}, [](const auto& w) { return w.bytes.begin; });
      const auto last = std::ranges::lower_bound(text.words, span.end, {}, [](const auto& w) { return w.bytes.end; });
      const bool is_aligned = first != text.words.end() && last != text.words.end() &&
                              first->bytes.begin == span.begin && last->bytes.end == span.end;
      if (!is_aligned) {
        ++samples_.unaligned;
        continue;
      }
      const TaskEntity entity{static_cast<int32_t>(first - text.words.begin()),
                              static_cast<int32_t>(last - text.words.begin()), number_of(span.label)};
      if (rules_.config.has_spans() && entity.last - entity.first >= rules_.config.max_width) {
        ++samples_.too_wide;
        continue;
      }
      entities.push_back(entity);
    }
    return entities;
  }

  int32_t number_of(const std::string& label) const {
    return static_cast<int32_t>(std::ranges::lower_bound(samples_.labels, label) - samples_.labels.begin());
  }

  static bool has_whole(const Window& window, const TaskEntity& entity) {
    return entity.first >= static_cast<int32_t>(window.first) && entity.last < static_cast<int32_t>(window.last);
  }

  std::vector<int32_t> numbers_of(const std::vector<std::string>& labels) const {
    std::vector<int32_t> numbers;
    for (const std::string& label : labels) numbers.push_back(number_of(label));
    return numbers;
  }

  // Entities that the window has as a whole.
  void add_window(const EntityRow& row, const TextWords& text, const std::vector<TaskEntity>& entities,
                  const Window& window) {
    TaskSample sample{.where = row.where};
    const size_t begin = text.starts[window.first];
    const size_t read = std::min(text.starts[window.last] - begin, room_.pieces);
    samples_.cut += read < text.starts[window.last] - begin;
    const auto pieces = std::span(text.pieces).subspan(begin, read);
    sample.sequences = {{.ids = {pieces.begin(), pieces.end()}, .second = static_cast<int32_t>(read)}};
    for (size_t word = window.first; word <= window.last; ++word)
      sample.word_starts.push_back(static_cast<int32_t>(std::min(text.starts[word] - begin, read)));
    const auto first = static_cast<int32_t>(window.first);
    std::vector<int32_t> own;
    for (const TaskEntity& entity : entities) {
      if (!has_whole(window, entity)) continue;
      sample.entities.push_back({entity.first - first, entity.last - first, entity.label});
      own.push_back(entity.label);
    }
    std::ranges::sort(own);
    own.erase(std::unique(own.begin(), own.end()), own.end());
    samples_.pool.by_sample.insert(samples_.pool.by_sample.end(), own.begin(), own.end());
    if (row.labels) sample.searched = numbers_of(labels_of(row, {}));
    samples_.samples.push_back(std::move(sample));
  }

  const SampleSource& source_;
  const ExtractionRules& rules_;
  TaskSamples& samples_;
  WindowRoom room_of_any_;  // behind any labels of the files
  WindowRoom room_;         // of the row that is added
};

// Random words in their order.
class LabelDraws {
 public:
  LabelDraws(uint64_t key, uint32_t epoch, uint32_t number)
      : key_{static_cast<uint32_t>(key), static_cast<uint32_t>(key >> 32)}, epoch_(epoch), number_(number) {}

  size_t below(size_t limit) {
    if (drawn_ % 4 == 0) words_ = philox({drawn_ / 4, number_, epoch_, 0}, key_);
    return words_[drawn_++ % 4] % limit;
  }

  void shuffle(std::vector<int32_t>& values) {
    for (size_t n = values.size(); n > 1; --n) std::swap(values[n - 1], values[below(n)]);
  }

 private:
  PhiloxKey key_;
  uint32_t epoch_, number_, drawn_ = 0;
  PhiloxCounter words_ = {};
};

bool has(const std::vector<int32_t>& labels, int32_t label) {
  return std::ranges::find(labels, label) != labels.end();
}

// Labels that the text has no entity of, behind those that it has.
void add_others(const TaskSamples& samples, size_t count, LabelDraws& draws, std::vector<int32_t>& labels) {
  const LabelPool& pool = samples.pool;
  const size_t wanted = std::min(labels.size() + count, samples.labels.size());
  if (wanted == samples.labels.size()) {
    for (size_t n = 0; n < wanted; ++n) {
      if (!has(labels, static_cast<int32_t>(n))) labels.push_back(static_cast<int32_t>(n));
    }
    return;
  }
  constexpr size_t kTries = 16;  // of each label
  for (size_t tries = 0; tries < kTries * count && labels.size() < wanted; ++tries) {
    const int32_t label = pool.by_sample.empty() ? static_cast<int32_t>(draws.below(samples.labels.size()))
                                                 : pool.by_sample[draws.below(pool.by_sample.size())];
    if (!has(labels, label)) labels.push_back(label);
  }
}

}  // namespace

PromptMarks marks_of(const LabelPool& pool) {
  return {pool.special.cls, pool.marks, pool.embed_ent_token};
}

void read_entities(const SampleSource& source, TaskSamples& samples) {
  const ExampleInput& input = source.reading.input;
  EntityRows rows =
      read_entity_files({.files = input.files,
                         .format = input.format,
                         .part = input.part,
                         .most_rows = source.reading.max_examples,
                         .label_names = source.reading.extraction.label_names,
                         .needs_names = source.reading.extraction.needs_names},
                        source.hooks.is_stopped, [&](size_t count) { source.hooks.on_progress(count, std::nullopt); });
  if (!source.hooks.is_stopped()) Entities(source, samples).add(std::move(rows));
}

std::vector<int32_t> draw_labels(const TaskSamples& samples, size_t number, uint64_t key, uint32_t epoch) {
  const TaskSample& sample = samples.samples[number];
  const LabelPool& pool = samples.pool;
  LabelDraws draws(key, epoch, static_cast<uint32_t>(number));
  std::vector<int32_t> labels;
  for (const TaskEntity& entity : sample.entities) {
    if (!has(labels, entity.label)) labels.push_back(entity.label);
  }
  draws.shuffle(labels);
  labels.resize(std::min(labels.size(), pool.most_labels));
  const size_t room = pool.most_labels - labels.size();
  if (sample.searched) {
    for (const int32_t label : *sample.searched) {
      if (labels.size() < pool.most_labels && !has(labels, label)) labels.push_back(label);
    }
  } else {
    add_others(samples, std::min(room, draws.below(pool.most_drawn + 1)), draws, labels);
  }
  if (labels.empty()) add_others(samples, 1, draws, labels);
  draws.shuffle(labels);
  return labels;
}

TaskSample with_longest_labels(const TaskSamples& samples, TaskSample sample) {
  std::vector<int32_t> labels(samples.labels.size());
  std::iota(labels.begin(), labels.end(), 0);
  if (sample.searched) labels = *sample.searched;
  sample.searched = longest_of(samples.pool, std::move(labels));
  return sample;
}

TaskSample with_labels(const TaskSamples& samples, size_t number, std::span<const int32_t> labels) {
  const TaskSample& sample = samples.samples[number];
  const LabelPrompt prompt = prompt_of(samples.pool, labels);
  const std::vector<int32_t>& pieces = sample.sequences.front().ids;
  const TextWords text{{}, pieces, {sample.word_starts.begin(), sample.word_starts.end()}};
  const size_t words = sample.word_starts.size() - 1;
  LabelledWindow made = make_labelled_window(prompt, text, {0, words}, {.pieces = pieces.size()}, samples.pool.special);
  TaskSample learned{.where = sample.where};
  learned.sequences = {to_sequence(made.sequence)};
  learned.words = std::move(made.request.words);
  for (const TaskEntity& entity : sample.entities) {
    const auto place = std::ranges::find(labels, entity.label);
    if (place == labels.end()) continue;
    learned.entities.push_back({entity.first, entity.last, static_cast<int32_t>(place - labels.begin())});
  }
  return learned;
}

}  // namespace deberta::train
