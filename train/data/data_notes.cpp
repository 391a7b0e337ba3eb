// Words the counts that reading left behind, and the share of the largest class.
#include "train/data/data_notes.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <numeric>

#include "metrics/task_inputs.h"
#include "train/data/guess_loss.h"

namespace deberta::train {

size_t hash_of_texts(const TaskRow& task, const Example& example) {
  TaskInput input{.text = example.text, .pair = example.pair, .choices = {}};
  if (task.form != ExampleForm::kRecord) input = input_of(task, example);
  std::string seen = input.text + '\n' + input.pair.value_or("");
  for (const std::string& choice : input.choices) seen += '\n' + choice;
  return std::hash<std::string>()(seen);
}

std::string describe_held_out(const TaskSamples& samples) {
  std::string text = std::to_string(samples.held_out) + " examples are held out for evaluation";
  if (const size_t without = samples.held_out - samples.held_out_labelled; without > 0)
    text += ", " + std::to_string(without) + " of them without a label";
  if (samples.repeated.count > 0)
    text += "; " + std::to_string(samples.repeated.count) + " of them have texts that are trained on as well" +
            samples.repeated.places();
  return text;
}

std::vector<std::string> notes_of(const TaskSamples& samples) {
  std::vector<std::string> notes;
  const auto add = [&](size_t count, const char* what) {
    if (count > 0) notes.push_back(what + (": " + std::to_string(count)));
  };
  add(samples.repaired, "examples with bytes that are not UTF-8, replaced by U+FFFD");
  add(samples.empty, "examples with an empty text");
  add(samples.unsearched, "texts that are left out, as they were searched for no label");
  add(samples.too_wide, "entities that are not learned, as they have more words than a span");
  add(samples.unaligned, "entities that are not learned, as they begin or end within a word");
  add(samples.in_no_window, "entities that are not learned, as no window has them as a whole, or as they are cut off");
  if (samples.contradicted.count > 0)
    notes.push_back("examples with the text of an earlier one and another label: " +
                    std::to_string(samples.contradicted.count) + samples.contradicted.places());
  if (samples.loss == TaskLoss::kClass && samples.labels.size() > 1) {
    const std::vector<double> counts = count_classes(samples);
    std::string single;
    for (size_t c = 0; c < counts.size(); ++c) {
      if (counts[c] == 1) single += (single.empty() ? "" : ", ") + samples.labels[c];
    }
    constexpr size_t kFewest = 20;
    if (!single.empty() && samples.samples.size() >= kFewest)
      notes.push_back("classes with a single sample, which may be misspelt: " + single);
    const auto largest = std::ranges::max_element(counts);
    const double share = *largest / std::accumulate(counts.begin(), counts.end(), 0.0);
    notes.push_back("samples of the largest class, " +
                    samples.labels[static_cast<size_t>(std::distance(counts.begin(), largest))] + ": " +
                    std::to_string(std::lround(100 * share)) + " %");
  }
  return notes;
}

}  // namespace deberta::train
