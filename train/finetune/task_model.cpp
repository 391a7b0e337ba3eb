// Decides which parts of the head are kept, and writes labels and architecture into the configuration.
#include "train/finetune/task_model.h"

#include <algorithm>
#include <utility>

#include "base/json.h"
#include "checkpoint/tensor_table.h"
#include "config/config_writer.h"
#include "config/model_config.h"
#include "deberta/checkpoint.h"
#include "deberta/error.h"
#include "heads/head_facts.h"
#include "pipeline/entity_model.h"
#include "train/finetune/extraction_start.h"
#include "train/model/lora.h"
#include "train/model/parameters.h"
#include "train/step/generator_files.h"
#include "train/step/vocabulary.h"

namespace deberta::train {
namespace {

// The head of a new model.
Head head_of(TaskLoss loss) {
  switch (loss) {
    case TaskLoss::kTokens:
      return Head::kToken;
    case TaskLoss::kSpan:
      return Head::kSpan;
    case TaskLoss::kMention:
      return Head::kTokenOriginal;
    case TaskLoss::kExtraction:
      return Head::kEntitySpans;
    case TaskLoss::kClass:
    case TaskLoss::kScore:
    case TaskLoss::kLabels:
    case TaskLoss::kChoice:
    case TaskLoss::kRanking:
      break;
  }
  return Head::kSequence;
}

// The original's head on tokens stays where the model has it.
Head head_of(TaskLoss loss, const TaskStart& start, const Checkpoint& weights) {
  if (loss == TaskLoss::kExtraction && !start.extraction->config.has_spans()) return Head::kEntityWords;
  const bool has_original = detect_head(weights) == Head::kTokenOriginal;
  return loss == TaskLoss::kTokens && has_original ? Head::kTokenOriginal : head_of(loss);
}

bool says_nothing(const std::vector<std::string>& names) {
  return std::ranges::all_of(names, [](const std::string& name) { return name.starts_with("LABEL_"); });
}

// True where the classifier is for the same classes or scores; the samples then have them in its order.
bool keeps_classifier(const TaskRow& task, const ModelConfig& config, Head head, const Checkpoint& weights,
                      TaskSamples& samples) {
  if (samples.loss == TaskLoss::kExtraction || detect_head(weights) != head) return false;
  if (samples.labels.empty()) return facts_of(head).fixed_outputs > 0 || count_labels(weights) == 1;
  if (static_cast<size_t>(count_labels(weights)) != samples.labels.size()) return false;
  if (samples.loss == TaskLoss::kScore && config.problem_type != ProblemType::kRegression) return false;
  if (config.labels.empty() || says_nothing(config.labels)) return true;
  try {
    reorder_labels(task, config.labels, samples);
  } catch (const Error&) {
    return false;
  }
  return true;
}

// What the head is to pool: as asked, else as the model does.
ClassifierPooling pooling_of(const TaskStart& start, const TaskRow& task, const ModelConfig& base, Head head) {
  if (facts_of(head).is_per_sequence()) return start.pooling.value_or(base.classifier_pooling);
  if (start.pooling)
    throw Error(ErrorCode::kUsage, {{.message = "expected a task with a head of sequences, for classes, numbers or "
                                                "choices, got " +
                                                std::string(task.name) + ", whose head reads each token",
                                     .argument = "pooling"}});
  return ClassifierPooling::kFirst;
}

Json problem_type_of(TaskLoss loss) {
  if (loss == TaskLoss::kClass) return "single_label_classification";
  if (loss == TaskLoss::kLabels) return "multi_label_classification";
  return loss == TaskLoss::kScore ? Json("regression") : Json(nullptr);
}

// By the names that transformers has; the writer of the files adds the version's beginning.
std::string architecture_of(TaskLoss loss) {
  const std::string_view usual = facts_of(head_of(loss)).uses.front().ending;
  return "DebertaV2" + std::string(loss == TaskLoss::kChoice ? "ForMultipleChoice" : usual);
}

void set_labels(const std::vector<std::string>& labels, ConfigDocument& document) {
  JsonObject names, numbers;
  for (size_t i = 0; i < labels.size(); ++i) {
    names.emplace_back(std::to_string(i), labels[i]);
    numbers.emplace_back(labels[i], static_cast<int64_t>(i));
  }
  document.set("id2label", std::move(names));
  document.set("label2id", std::move(numbers));
  if (document.has("num_labels")) document.set("num_labels", static_cast<int64_t>(labels.size()));
}

// As many as the head has outputs, which transformers takes from them.
std::vector<std::string> labels_of(const TaskSamples& samples) {
  if (!samples.labels.empty()) return samples.labels;
  if (samples.loss == TaskLoss::kSpan) return {"LABEL_0", "LABEL_1"};
  return {"LABEL_0"};
}

// `pooling`: of the head.
ModelConfig config_of(const TaskStart& start, const TaskRow& task, const ModelConfig& base, const TaskSamples& samples,
                      ClassifierPooling pooling) {
  if (samples.loss == TaskLoss::kExtraction) return base;  // set_extraction() adds what stands on it
  ConfigDocument document(base);
  if (pooling != base.classifier_pooling) {
    document.set("classifier_pooling", to_string(pooling));
    if (document.has("model_type")) document.set("model_type", to_string(base.layout));  // until it is written
  }
  document.set("architectures", JsonArray{architecture_of(samples.loss)});
  document.set("finetuning_task", std::string(task.name));
  const Json problem_type = problem_type_of(samples.loss);
  if (!problem_type.is_null() || document.has("problem_type")) document.set("problem_type", problem_type);
  set_labels(labels_of(samples), document);
  if (start.classifier_dropout) document.set("cls_dropout", *start.classifier_dropout);
  ModelConfig config = parse_model_config(document.json(), "config of the model");
  config.layout = base.layout;
  return config;
}

// The rows that the model begins with, where the run adds tokens.
WordRows make_room_for_tokens(const TaskStart& start, ModelConfig& config, std::vector<std::string>& notes) {
  const RunTokenizer of_run = start.tokenizer();
  if (of_run.added.empty()) return {};
  const Tokenizer tokenizer = of_run.load();
  config = with_vocabulary(config, tokenizer, false);
  const WordRows rows =
      word_rows({.tokenizer = of_run, .weights_folder = start.model_folder}, tokenizer, [](const std::string&) {});
  notes = describe_added(of_run, tokenizer, rows);
  return rows;
}

void check_base(const ModelConfig& config, const std::string& folder, size_t max_tokens) {
  if (config.is_causal) {
    throw Error(ErrorCode::kUsage, folder,
                "is_decoder: expected a model that reads both ways, got one whose tokens see only those before them");
  }
  const auto longest = static_cast<int64_t>(max_tokens);
  if (config.position_biased_input && config.max_position_embeddings < longest) {
    throw Error(ErrorCode::kUsage,
                {{.message = "expected at most max_position_embeddings = " +
                             std::to_string(config.max_position_embeddings) + ", got " + std::to_string(longest),
                  .argument = "max_tokens"}});
  }
}

void check_new_layers(const ModelForm& form, int64_t layers) {
  const int64_t frozen = form.frozen_layers.value_or(0);
  const int64_t most = form.config.shares_layers ? 0 : form.config.num_hidden_layers - frozen;
  if (layers >= 0 && layers <= most) return;
  const char* why = form.config.shares_layers ? ", since all layers share their weights (share_layers)"
                    : frozen > 0              ? ", the layers that are not frozen"
                                              : ", the layers that there are";
  throw Error(ErrorCode::kUsage,
              {{.message = "expected at most " + std::to_string(most) + why + ", got " + std::to_string(layers),
                .argument = "reinit_layers"}});
}

// The last layers as those of a new model. Their names.
std::vector<std::string> begin_anew(Model& model, int64_t count, uint64_t seed) {
  std::vector<std::string> layers, tensors;
  const int64_t end = model.form.config.num_hidden_layers;
  for (int64_t n = end - count; n < end; ++n) layers.push_back("encoder.layer." + std::to_string(n));
  visit(model, [&](const ParameterSpec& spec, at::Tensor&) {
    const auto has = [&](const std::string& layer) { return spec.name.starts_with(layer + "."); };
    if (std::ranges::any_of(layers, has)) tensors.push_back(spec.name);
  });
  if (!tensors.empty()) initialise(model, seed, tensors);
  return layers;
}

}  // namespace

TaskModel first_task_model(const TaskStart& start, const TaskFiles& files, uint64_t seed, TaskSamples& samples) {
  ModelConfig base = load_folder_config(start.model_folder);
  const Checkpoint weights = Checkpoint::open(start.model_folder);
  base.layout = find_layout(base, weights);
  check_base(base, start.model_folder, files.training.max_tokens);
  ModelForm form{.config = {}, .head = head_of(samples.loss, start, weights)};
  const ClassifierPooling pooling = pooling_of(start, *files.task, base, form.head);
  const bool has_new_pooling = facts_of(form.head).is_per_sequence() && pooling != base.classifier_pooling;
  const bool keeps = !has_new_pooling && keeps_classifier(*files.task, base, form.head, weights, samples);
  form.config = config_of(start, *files.task, base, samples, pooling);
  std::vector<std::string> notes;
  const WordRows rows = make_room_for_tokens(start, form.config, notes);
  if (start.extraction)
    set_extraction(*start.extraction, start.tokenizer().load(), start.classifier_dropout, form.config);
  if (const auto dropped = describe_dropped(start.model_folder, weights)) notes.push_back(*dropped);
  form.labels = samples.labels.empty() ? 1 : static_cast<int64_t>(samples.labels.size());
  form.frozen_layers = start.frozen_layers;
  form.lora = start.lora;
  TaskModel result{.model = make_model(form), .notes = std::move(notes)};
  check_new_layers(form, start.reinit_layers);
  initialise(result.model, seed);
  result.new_tensors = load_parameters(
      result.model, weights,
      {.allows_new_head = true, .has_new_classifier = !keeps, .has_new_pooler = has_new_pooling, .rows = rows});
  result.new_layers = begin_anew(result.model, start.reinit_layers, seed);
  begin_lora(result.model);
  return result;
}

ModelForm find_task_form(const std::string& folder) {
  const Checkpoint weights = Checkpoint::open(folder);
  ModelConfig config = load_model_config(folder + "/config.json");
  config.layout = find_layout(config, weights);
  return {.config = config, .head = detect_head(weights), .labels = count_labels(weights)};
}

Model load_task_model(const std::string& folder) {
  Model model = make_model(find_task_form(folder));
  load_parameters(model, Checkpoint::open(folder));
  return model;
}

}  // namespace deberta::train
