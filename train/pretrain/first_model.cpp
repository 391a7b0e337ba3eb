// Opens the weights or initialises new ones, and settles what the run writes into config.json.
#include "train/pretrain/first_model.h"

#include <algorithm>
#include <string>

#include "checkpoint/tensor_table.h"
#include "config/config_writer.h"
#include "config/model_config.h"
#include "deberta/checkpoint.h"
#include "deberta/error.h"
#include "train/step/generator_files.h"
#include "train/step/vocabulary.h"

namespace deberta::train {
namespace {

struct FirstConfig {
  ModelConfig config;
  int64_t decoder_passes = 0;  // where the run has no option for it
};

// As the engine decides it: a language model without a table of positions is read through the plain head.
int64_t passes_of_weights(const OpenedFiles& files, Objective objective) {
  const bool has_positions = files.weights.find("embeddings.position_embeddings.weight") != nullptr;
  return has_positions || objective != Objective::kMasked ? files.config.mask_decoder_passes : 0;
}

FirstConfig config_of(const ModelStart& start, size_t longest, const Tokenizer& tokenizer) {
  if (!start.model_folder.empty()) {
    const OpenedFiles files = open_model_or_generator(start.model_folder);
    const ModelConfig& config = files.config;
    if (config.max_position_embeddings < static_cast<int64_t>(longest)) {
      throw Error(ErrorCode::kUsage,
                  {{.message = "expected at most max_position_embeddings = " +
                               std::to_string(config.max_position_embeddings) + ", got " + std::to_string(longest),
                    .argument = "max_tokens"}});
    }
    return {config, passes_of_weights(files, start.objective)};
  }
  NewModel request = start.new_model;
  request.vocab_size = static_cast<int64_t>(tokenizer.size());
  request.max_tokens = static_cast<int64_t>(longest);
  ModelConfig config = new_config(request);
  const int64_t passes = config.mask_decoder_passes;
  return {std::move(config), passes};
}

// What the run decides, also for a model that is trained further. The files have it, since another reading of the same
// weights answers wrongly.
ModelConfig with_objective(const FirstConfig& first, const ModelStart& start) {
  const ModelConfig& config = first.config;
  const bool is_causal = start.objective == Objective::kCausal;
  const int64_t passes = start.decoder_passes.value_or(first.decoder_passes);
  ConfigDocument document(config);
  if (config.is_causal != is_causal) document.set("is_decoder", is_causal);
  if (config.mask_decoder_passes != passes) document.set("mask_decoder_passes", passes);
  if (document.changes().empty()) return config;
  ModelConfig changed = parse_model_config(document.json(), "config of the model");
  changed.layout = config.layout;
  return changed;
}

}  // namespace

ModelForm form_of_run(const ModelStart& start, size_t longest, const Tokenizer& tokenizer) {
  ModelForm form{.config = with_objective(config_of(start, longest, tokenizer), start), .head = Head::kMaskedLm};
  if (start.changes_vocabulary()) form.config = with_vocabulary(form.config, tokenizer, start.has_new_embeddings);
  if (form.config.vocab_size < static_cast<int64_t>(tokenizer.size())) {
    throw Error(ErrorCode::kTokenId, start.tokenizer_folder,
                "expected a tokenizer of at most " + std::to_string(form.config.vocab_size) +
                    " ids, the vocabulary of the model, got " + std::to_string(tokenizer.size()));
  }
  return form;
}

WordRows rows_of_run(const ModelStart& start, const Tokenizer& tokenizer, const Note& note) {
  const RunTokenizer of_run = start.tokenizer();
  WordRows rows;
  if (!start.model_folder.empty()) {
    rows = word_rows(
        {.tokenizer = of_run, .weights_folder = start.model_folder, .has_new_embeddings = start.has_new_embeddings},
        tokenizer, note);
  }
  for (const std::string& line : describe_added(of_run, tokenizer, rows)) note(line);
  return rows;
}

std::vector<std::string> notes_of_base(const ModelStart& start) {
  const std::string& folder = start.model_folder;
  if (folder.empty() || start.objective == Objective::kReplaced) return {};
  std::vector<std::string> notes;
  const OpenedFiles files = open_model_or_generator(folder);
  if (has_generator_alone(folder)) notes.push_back(folder + " has only a generator, which is the model to begin with");
  if (const auto dropped = describe_dropped(folder, files.weights)) notes.push_back(*dropped);
  if (files.weights.find("lm_predictions.lm_head.dense.weight") == nullptr)
    notes.push_back(folder + " has no language-model head: a new one with random weights is trained");
  const bool has_decoder = !files.config.position_biased_input &&
                           start.decoder_passes.value_or(passes_of_weights(files, start.objective)) > 0;
  if (start.objective == Objective::kMasked && !has_decoder && start.decoder_passes.value_or(1) > 0)
    notes.push_back("words are predicted by the plain head on the last layer, without the mask decoder: " +
                    (files.config.position_biased_input      ? "position_biased_input is true"
                     : files.config.mask_decoder_passes == 0 ? "mask_decoder_passes is 0"
                                                             : folder + " has no position table"));
  return notes;
}

Model first_model(const ModelStart& start, const Tokenizer& tokenizer, const Beginning& beginning) {
  const WordRows rows = rows_of_run(start, tokenizer, beginning.note);
  for (const std::string& line : notes_of_base(start)) beginning.note(line);
  Model model = make_model(form_of_run(start, beginning.longest, tokenizer));
  initialise(model, beginning.seed);
  if (!start.model_folder.empty())
    load_parameters(model, open_model_or_generator(start.model_folder).weights,
                    {.allows_new_head = true, .rows = rows});
  return model;
}

}  // namespace deberta::train
