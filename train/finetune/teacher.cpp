// Loads the teacher, and maps its classes to those of the samples by name.
#include "train/finetune/teacher.h"

#include <algorithm>
#include <vector>

#include "base/sha256.h"
#include "deberta/error.h"
#include "train/finetune/task_model.h"
#include "train/model/parameters.h"
#include "train/objectives/task_check.h"
#include "train/step/vocabulary.h"

namespace deberta::train {
namespace {

// The column of the teacher's logits for each class of the samples.
std::vector<int64_t> columns_of(const std::string& folder, const TaskRow& task, const ModelConfig& config,
                                const TaskSamples& samples) {
  if (samples.labels.empty()) return {};
  try {
    const std::vector<int32_t> indices = places_of_labels(task, config.labels, samples);
    return {indices.begin(), indices.end()};
  } catch (const Error&) {
    std::string expected, got;
    for (const std::string& name : samples.labels) expected += (expected.empty() ? "" : ", ") + name;
    for (const std::string& name : config.labels) got += (got.empty() ? "" : ", ") + name;
    throw Error(ErrorCode::kTask,
                {{.where = folder,
                  .message = std::string("id2label: expected the ") +
                             (samples.loss == TaskLoss::kScore ? "scores" : "classes") + " of the files, " + expected +
                             ", got " + (got.empty() ? "none" : got)}});
  }
}

void check_head(const std::string& folder, const ModelForm& form, const TaskSamples& samples) {
  try {
    check_task(form, {.loss = samples.loss});
  } catch (const Error& error) {
    throw Error(error.code(), folder, error.message());
  }
  if (samples.loss == TaskLoss::kScore && samples.labels.empty() && form.labels != 1)
    throw Error(ErrorCode::kTask, folder, "head: expected one score, got " + std::to_string(form.labels));
}

void check_length(const std::string& folder, const ModelConfig& config, size_t max_tokens) {
  const auto longest = static_cast<int64_t>(max_tokens);
  if (!config.position_biased_input || config.max_position_embeddings >= longest) return;
  throw Error(ErrorCode::kUsage,
              {{.where = folder,
                .message = "expected at most max_position_embeddings = " +
                           std::to_string(config.max_position_embeddings) + ", got " + std::to_string(longest),
                .argument = "max_tokens"}});
}

}  // namespace

std::optional<Teacher> load_teacher(const TaskObjective& objective, const TaskFiles& files,
                                    const RunTokenizer& tokenizer, const TaskSamples& samples) {
  const std::string& folder = objective.teacher_folder;
  if (folder.empty()) return std::nullopt;
  if (objective.adversarial)
    throw Error(ErrorCode::kUsage,
                {{.message = "expected this or adversarial training, got both", .argument = "teacher"}});
  const ModelForm form = find_task_form(folder);
  check_head(folder, form, samples);
  check_length(folder, form.config, files.training.max_tokens);
  check_pieces_of_teacher(folder, tokenizer);
  return Teacher{.model = load_task_model(folder), .columns_C = columns_of(folder, *files.task, form.config, samples)};
}

std::string hash_of(Teacher& teacher) {
  Sha256 hash;
  hash.update(to_bytes(teacher.model.form.config.raw));
  for (const TensorView& tensor : to_views(teacher.model)) {
    hash.update(to_bytes(tensor.name));
    hash.update(tensor.bytes);
  }
  return hash.finish();
}

}  // namespace deberta::train
