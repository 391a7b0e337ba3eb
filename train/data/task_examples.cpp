// Rows with a class, classes, a score, a right choice or right entities.
#include <algorithm>
#include <numeric>
#include <optional>
#include <unordered_map>
#include <utility>

#include "base/checked.h"
#include "data/json_rows.h"
#include "deberta/error.h"
#include "deberta/pipeline.h"
#include "metrics/task_inputs.h"
#include "metrics/task_rows.h"
#include "train/data/data_notes.h"
#include "train/data/ranking_samples.h"
#include "train/data/task_sources.h"

namespace deberta::train {

TaskSequence to_sequence(const Encoding& encoding) {
  const auto second = std::ranges::find(encoding.type_ids, 1);
  return {.ids = encoding.ids, .second = static_cast<int32_t>(second - encoding.type_ids.begin())};
}

WindowedInputs sequences_of(const SampleSource& source, const TextInput& text, TaskSamples& samples) {
  WindowedInputs read = window_inputs(source.tokenizer, {&text, 1}, source.rules());
  samples.cut += read.texts.front().cut_tokens > 0;
  samples.in_windows += !read.windows.front().empty();
  return read;
}

std::vector<int32_t> sort_labels(std::vector<std::string>& names) {
  std::vector<size_t> order(names.size());
  std::iota(order.begin(), order.end(), size_t{0});
  const bool are_numbers =
      std::ranges::all_of(names, [](const auto& name) { return parse_number<double>(name).has_value(); });
  std::ranges::stable_sort(order, [&](size_t a, size_t b) {
    if (are_numbers) return *parse_number<double>(names[a]) < *parse_number<double>(names[b]);
    if ((names[a] == "O") != (names[b] == "O")) return names[a] == "O";
    return names[a] < names[b];
  });
  std::vector<int32_t> numbers(names.size());
  std::vector<std::string> sorted;
  for (const size_t old : order) {
    numbers[old] = static_cast<int32_t>(sorted.size());
    sorted.push_back(names[old]);
  }
  names = std::move(sorted);
  return numbers;
}

namespace {

ChoiceOptions choice_options(const SampleSource& source) {
  ChoiceForm form = ChoiceForm::kPlain;
  if (source.task.form == ExampleForm::kCopa) form = ChoiceForm::kCopa;
  if (source.task.form == ExampleForm::kRace) form = ChoiceForm::kRace;
  return {source.rules(), form};
}

// One example becomes samples.
class Examples {
 public:
  Examples(const SampleSource& source, TaskSamples& samples)
      : source_(source), samples_(samples), rows_(source.task, TaskLabels(source.task)) {}

  // One that is held out only adds its label to the classes.
  void add(const Example& example, bool is_held_out) {
    rows_.add(example);
    const TaskGold& gold = rows_.golds().back();
    // Wrong labels are reported at the end, all of them.
    const bool is_bad = gold.error && gold.error->code() != ErrorCode::kTask;
    if (is_bad && !rows_.has_unknown_labels()) return source_.leave_out(*gold.error, samples_);
    samples_.examples += !is_held_out;
    samples_.held_out += is_held_out;
    samples_.held_out_labelled += is_held_out && gold.is_labelled;
    note_text(example, gold, is_held_out);
    if (gold.error || is_held_out) return;
    if (!gold.is_labelled) {
      ++samples_.unlabelled;
      return;
    }
    if (example.weight == 0) {
      ++samples_.weightless;
      return;
    }
    try {
      encode(example, gold);
    } catch (const Error& error) {
      source_.leave_out(error_of_row(error, example.where), samples_);
    }
  }

  void finish() {
    for (const auto& [hash, where] : held_out_) {
      if (samples_.texts.contains(hash)) samples_.repeated.add(where);
    }
    samples_.repaired = rows_.repaired();
    rows_.check_labels();
    if (samples_.loss == TaskLoss::kScore) samples_.labels = rows_.labels().names();
    if (samples_.loss != TaskLoss::kClass && samples_.loss != TaskLoss::kLabels) return;
    if (rows_.labels().is_open()) check_classes();
    samples_.labels = rows_.labels().names();
    std::vector<int32_t> numbers(samples_.labels.size());
    std::iota(numbers.begin(), numbers.end(), 0);
    if (rows_.labels().is_open()) numbers = sort_labels(samples_.labels);
    const bool has_shares =
        std::ranges::any_of(samples_.samples, [](const auto& sample) { return !sample.values.empty(); });
    for (TaskSample& sample : samples_.samples) {
      if (samples_.loss == TaskLoss::kLabels) spread(sample, numbers);
      if (samples_.loss != TaskLoss::kClass) continue;
      if (has_shares) order_shares(sample, numbers);
      sample.label = numbers[static_cast<size_t>(sample.label)];
    }
  }

 private:
  // Counts texts that repeat others, and empty ones.
  void note_text(const Example& example, const TaskGold& gold, bool is_held_out) {
    if (example.error) return;
    const size_t hash = hash_of_texts(source_.task, example);
    if (is_held_out) {
      held_out_.emplace_back(hash, example.where);
      return;
    }
    samples_.texts.insert(hash);
    samples_.empty += is_blank(example.text) && (!example.pair || is_blank(*example.pair));
    if (samples_.loss != TaskLoss::kClass || gold.error || !gold.is_labelled || !gold.answer.values.empty()) return;
    const auto [first, is_new] = labels_.emplace(hash, gold.answer.label);
    if (!is_new && first->second != gold.answer.label) samples_.contradicted.add(example.where);
  }

  // A column that identifies rows, or measures something, is no label. Few classes are left to the user.
  void check_classes() const {
    constexpr size_t kFew = 20;
    const std::vector<std::string>& names = rows_.labels().names();
    const auto rows = static_cast<size_t>(std::ranges::count_if(rows_.golds(), &TaskGold::is_labelled));
    if (names.size() == 1 && samples_.loss == TaskLoss::kClass)
      throw Error(ErrorCode::kInput, rows_.golds().front().where,
                  "expected two classes or more, got \"" + names.front() + "\" alone");
    if (names.size() <= kFew) return;
    const bool are_fractions =
        std::ranges::any_of(names, [](const std::string& name) { return !parse_number<int64_t>(name); }) &&
        std::ranges::all_of(names, [](const std::string& name) { return parse_number<double>(name).has_value(); });
    if (4 * rows >= 5 * names.size() && !are_fractions) return;
    std::string shown;
    for (size_t i = 0; i < 3; ++i) shown += names[i] + ", ";
    std::vector<Remedy> remedies = {{"name the column or key of the label with {}", "label_field"}};
    if (are_fractions) remedies = {{"learn numbers as the task regression"}};
    throw Error(ErrorCode::kInput,
                {{.where = rows_.golds().front().where,
                  .message = "expected labels that several examples share, got " + std::to_string(names.size()) +
                             " classes in " + std::to_string(rows) + " examples: " + shown + "...",
                  .remedies = std::move(remedies)}});
  }

  // Numbers of classes, as values until now, become 1 in a row of zeros.
  void spread(TaskSample& sample, const std::vector<int32_t>& numbers) const {
    std::vector<float> values(samples_.labels.size(), 0);
    for (const float old : sample.values) values[static_cast<size_t>(numbers[static_cast<size_t>(old)])] = 1;
    sample.values = std::move(values);
  }

  // Where some rows have shares of classes, one class is a share of 1.
  void order_shares(TaskSample& sample, const std::vector<int32_t>& numbers) const {
    std::vector<float> shares(samples_.labels.size(), 0);
    if (sample.values.empty()) shares[static_cast<size_t>(numbers[static_cast<size_t>(sample.label)])] = 1;
    for (size_t old = 0; old < sample.values.size(); ++old)
      shares[static_cast<size_t>(numbers[old])] = sample.values[old];
    sample.values = std::move(shares);
  }

  void encode(const Example& example, const TaskGold& gold) {
    if (samples_.loss == TaskLoss::kMention) return encode_entities(example);
    if (samples_.loss == TaskLoss::kRanking) return add_query(source_, example, samples_);
    const TaskInput input = input_of(source_.task, example);
    if (!input.choices.empty()) return encode_choices(example, input, gold);
    TextInput text{.text = input.text};
    if (input.pair) text.pair = *input.pair;
    TaskSample sample{.where = example.where, .weight = static_cast<float>(example.weight)};
    for (const double value : gold.answer.values) sample.values.push_back(static_cast<float>(value));
    if (samples_.loss == TaskLoss::kLabels) sample.values.assign(gold.answer.labels.begin(), gold.answer.labels.end());
    if (samples_.loss == TaskLoss::kClass) sample.label = static_cast<int32_t>(gold.answer.label);
    for (const Encoding& sequence : sequences_of(source_, text, samples_).sequences.all) {
      sample.sequences = {to_sequence(sequence)};
      samples_.samples.push_back(sample);
    }
  }

  // With a head for pairs each choice is a sample of its own: 1 for the right one.
  void encode_choices(const Example& example, const TaskInput& input, const TaskGold& gold) {
    TextInput text{.text = input.text, .items = input.choices};
    if (input.pair) text.pair = *input.pair;
    const std::vector<Encoding> encodings =
        encode_input(source_.tokenizer, text, choice_options(source_).sequence_rules());
    if (samples_.loss == TaskLoss::kChoice) {
      TaskSample sample{.where = example.where, .label = static_cast<int32_t>(gold.answer.label)};
      for (const Encoding& encoding : encodings) push(sample, encoding);
      samples_.samples.push_back(std::move(sample));
      return;
    }
    for (size_t choice = 0; choice < encodings.size(); ++choice) {
      TaskSample sample{
          .where = example.where, .label = choice == gold.answer.label, .weight = static_cast<float>(example.weight)};
      push(sample, encodings[choice]);
      samples_.samples.push_back(std::move(sample));
    }
  }

  // Windows without an entity teach nothing.
  void encode_entities(const Example& example) {
    std::vector<Offset> entities;
    for (const TextSpan& span : example.text_spans)
      entities.push_back({static_cast<uint32_t>(span.begin_byte), static_cast<uint32_t>(span.end_byte)});
    EncodingRules rules = source_.rules();
    rules.stride = rules.encode.max_tokens / 2;
    const EntityQuery query{example.text, *example.pair, entities};
    for (const EntityWindow& window : entity_windows(source_.tokenizer, query, rules)) {
      if (window.entities.empty()) continue;
      TaskSample sample{.where = example.where, .sequences = {train::to_sequence(window.sequence)}};
      for (const EntityWindow::Held& held : window.entities)
        sample.mentions.push_back({held.tokens, is_answer(example, entities[held.entity])});
      samples_.samples.push_back(std::move(sample));
    }
  }

  static bool is_answer(const Example& example, const Offset& entity) {
    const std::string text = example.text.substr(entity.begin, entity.end - entity.begin);
    return std::ranges::find(example.answers, text) != example.answers.end();
  }

  void push(TaskSample& sample, const Encoding& encoding) {
    samples_.cut += encoding.cut_tokens > 0;
    sample.sequences.push_back(train::to_sequence(encoding));
  }

  const SampleSource& source_;
  TaskSamples& samples_;
  TaskRows rows_;
  std::vector<std::pair<size_t, std::string>> held_out_;  // hashes of texts, and where they stand
  std::unordered_map<size_t, size_t> labels_;             // the first of each text
};

}  // namespace

void read_examples(const SampleSource& source, TaskSamples& samples) {
  ExampleInput all = source.reading.input;
  PartPicker picker(std::exchange(all.part, std::nullopt));
  ExampleFiles files(all, source.task, source.hooks.is_stopped);
  Examples examples(source, samples);
  for (Example example; !picker.is_done() && !source.is_full(samples) && files.next(example);) {
    const bool is_held_out = !picker.takes(key_of(source.task, all, example));
    example.slice.reset();  // it was the group
    examples.add(example, is_held_out);
    source.hooks.on_progress(samples.examples, files.fraction_done());
  }
  if (!source.hooks.is_stopped()) examples.finish();
}

}  // namespace deberta::train
