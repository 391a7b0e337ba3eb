// The table of tasks, for people and for docs/reference/tasks.md.
#include <fmt/format.h>

#include <utility>

#include "cli/eval_report.h"
#include "program/answers.h"

namespace deberta::cli {
namespace {

Json json_of(const std::vector<std::string>& words) {
  return JsonArray(words.begin(), words.end());
}

std::string what_of(const TaskRow& task) {
  std::string what(task.what);
  return task.pair_fields.empty() ? what : what + fmt::format("; a pair with --input-field {}", task.pair_fields);
}

// A label field means that the text fields have their own names, too.
std::string command_of(const TaskRow& task) {
  std::string command = fmt::format("deberta eval --task {} -m DIR {}", task.name, task.file);
  if (!task.labels_file.empty()) command += fmt::format(" --labels-file {}", task.labels_file);
  if (!task.label_field.empty())
    command += fmt::format(" --input-field {} --label-field {}", task.pair_fields, task.label_field);
  return command;
}

// Sizes that have one.
JsonObject object_of(const TaskRecipe& recipe) {
  JsonObject object;
  for (const auto& [size, text] : sized_recipes(recipe)) {
    if (!text.empty()) object.emplace_back(size, text);
  }
  return object;
}

JsonObject object_of(const TaskRow& task) {
  JsonArray labels;
  for (const std::string& label : split_words(task.labels)) labels.push_back(split_words(label, '=').front());
  JsonObject object{{"task", task.name},
                    {"aliases", json_of(split_words(task.aliases))},
                    {"what", what_of(task)},
                    {"verb", verb_of(task)},
                    {"input", task.input},
                    {"labels", std::move(labels)},
                    {"metrics", json_of(split_words(task.metrics))},
                    {"head", task.tensors},
                    {"command", command_of(task)},
                    {"length", task.recipe.length}};
  for (const auto& [size, text] : sized_recipes(task.recipe)) object.emplace_back(size, text);
  if (JsonObject sift = object_of(task.sift); !sift.empty()) object.emplace_back("sift", std::move(sift));
  return object;
}

}  // namespace

void print_tasks(const OutputSettings& output) {
  std::vector<program::Answer> answers;
  for (const TaskRow& task : task_table()) {
    const std::string metrics = fmt::format("{}", fmt::join(split_words(task.metrics), ","));
    answers.push_back(
        {object_of(task),
         {{std::string(task.name), std::string(task.aliases), std::string(verb_of(task)), metrics, what_of(task)}}});
  }
  program::print_table(output, {"task", "aliases", "verb", "metrics", "what"}, answers);
}

}  // namespace deberta::cli
