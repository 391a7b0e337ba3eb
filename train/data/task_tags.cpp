// Words in columns, each with a label: the first piece of a word learns it.
#include <algorithm>
#include <iterator>
#include <optional>
#include <set>
#include <unordered_map>

#include "data/conll.h"
#include "deberta/error.h"
#include "deberta/pipeline.h"
#include "decode/word_tags.h"
#include "eval/tags.h"
#include "train/data/task_sources.h"

namespace deberta::train {
namespace {

// One or several sentences that the model reads as one text.
struct Text {
  std::string where;
  std::vector<std::string> words, labels;

  std::string joined() const {
    std::string text;
    for (const std::string& word : words) text += (text.empty() ? "" : " ") + word;
    return text;
  }
};

class Tags {
 public:
  Tags(const SampleSource& source, TaskSamples& samples) : source_(source), samples_(samples) {}

  void add(const ConllSentence& sentence) {
    if (sentence.error) return source_.leave_out(*sentence.error, samples_);
    ++samples_.examples;
    Text text{sentence.where, {}, {}};
    for (size_t token = 0; token < sentence.tokens(); ++token) {
      text.words.push_back(sentence.word(token));
      text.labels.push_back(sentence.label(token));
    }
    if (source_.reading.merges_sentences) {
      merge(std::move(text), sentence.begins_document);
    } else {
      take(text);
    }
  }

  // Adds the labels of a sentence that is held out.
  void add_labels(const ConllSentence& sentence) {
    for (size_t token = 0; token < sentence.tokens(); ++token) number_of(sentence.label(token));
  }

  void finish() {
    take(waiting_);
    order_labels();
  }

 private:
  void merge(Text text, bool begins_document) {
    const size_t pieces = source_.tokenizer.encode(text.joined(), {.add_special_tokens = false}).size();
    const size_t room = source_.reading.max_tokens - source_.tokenizer.encode("").size();
    if (begins_document || pieces_ + pieces > room) {
      take(waiting_);
      waiting_ = {};
      pieces_ = 0;
    }
    if (waiting_.where.empty()) waiting_.where = text.where;
    waiting_.words.insert(waiting_.words.end(), text.words.begin(), text.words.end());
    waiting_.labels.insert(waiting_.labels.end(), text.labels.begin(), text.labels.end());
    pieces_ += pieces;
  }

  void take(const Text& text) {
    if (text.words.empty()) return;
    const std::string joined = text.joined();
    const WindowedInputs read = sequences_of(source_, TextInput{.text = joined}, samples_);
    std::vector<TaskSample> samples;
    for (const Encoding& sequence : read.sequences.all)
      samples.push_back({.where = text.where, .sequences = {to_sequence(sequence)}});
    add_tags(text, read.texts.front(), read.windows.front(), samples);
    if (samples.size() > 1)  // a window without words of its own teaches nothing
      std::erase_if(samples, [](const TaskSample& sample) { return sample.tags.empty(); });
    std::ranges::move(samples, std::back_inserter(samples_.samples));
  }

  // Each word is learned in one window, the one that answers for it when the model is used.
  void add_tags(const Text& text, const Encoding& whole, std::vector<Window> windows,
                std::vector<TaskSample>& samples) {
    // [CLS] and [SEP] have empty offsets, which would be those of the first word.
    const std::vector<Offset> pieces(whole.bytes.begin() + 1, whole.bytes.end() - 1);
    if (windows.empty()) windows.push_back({0, pieces.size()});
    const std::vector<size_t> first = first_pieces(places_of(text.words), pieces);
    const std::vector<size_t> chosen = choose_windows(windows, pieces.size());
    for (size_t word = 0; word < first.size(); ++word) {
      const int32_t label = number_of(text.labels[word]);
      if (first[word] == kNoPiece) continue;
      const size_t window = chosen[first[word]];
      samples[window].tags.emplace_back(static_cast<int32_t>(first[word] - windows[window].first + 1), label);
    }
  }

  int32_t number_of(const std::string& label) {
    const auto [entry, is_new] = numbers_.emplace(label, static_cast<int32_t>(names_.size()));
    if (is_new) names_.push_back(label);
    return entry->second;
  }

  // The task's classes if the files have no others, else those of the files.
  void order_labels() {
    samples_.labels = split_words(source_.task.labels);
    const auto is_known = [&](const std::string& name) {
      return std::ranges::find(samples_.labels, name) != samples_.labels.end();
    };
    if (!std::ranges::all_of(names_, is_known)) {
      samples_.labels = names_;
      sort_labels(samples_.labels);
    }
    for (TaskSample& sample : samples_.samples) {
      for (auto& [token, label] : sample.tags) {
        const auto position = std::ranges::find(samples_.labels, names_[static_cast<size_t>(label)]);
        label = static_cast<int32_t>(position - samples_.labels.begin());
      }
    }
  }

  const SampleSource& source_;
  TaskSamples& samples_;
  Text waiting_;
  size_t pieces_ = 0;
  std::vector<std::string> names_;
  std::unordered_map<std::string, int32_t> numbers_;
};

}  // namespace

void read_tags(const SampleSource& source, TaskSamples& samples) {
  Tags tags(source, samples);
  SentencePicker picker(source.reading.input.part, source.reading.merges_sentences);
  for (const std::string& path : source.reading.input.files) {
    ConllReader reader(LineReader{ByteSource(path, source.hooks.is_stopped)});
    for (ConllSentence sentence; !picker.is_done() && !source.is_full(samples) && reader.next(sentence);) {
      if (picker.takes(sentence))
        tags.add(sentence);
      else
        tags.add_labels(sentence);
      source.hooks.on_progress(samples.examples, std::nullopt);
    }
  }
  samples.held_out = samples.held_out_labelled = picker.left_out();
  if (!source.hooks.is_stopped()) tags.finish();
}

}  // namespace deberta::train
