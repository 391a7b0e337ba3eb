// Opens the parts of a model directory in the order in which their errors are easiest to understand.
#include <string>
#include <utility>

#include "checkpoint/folder_kind.h"
#include "config/extraction_config.h"
#include "deberta/error.h"
#include "deberta/pipeline.h"
#include "hub/model_folder.h"
#include "hub/module_list.h"
#include "pipeline/entity_model.h"
#include "pipeline/sentence_modules.h"

namespace deberta {

ModelOptions transformers_options() {
  ModelOptions options;
  options.distance = DistanceRule::kHf;
  options.mask_decoder = MaskDecoder::kOff;
  options.empty_rows = EmptyRows::kAverage;
  options.config_rules = ConfigRules::kHf;
  return options;
}

Pipeline open_pipeline(const std::string& path, const ModelOptions& options, const OpenOptions& open_options) {
  check_model_directory(path);
  const std::string folder = transformer_folder(path);
  if (is_extraction_folder(folder)) return open_entity_model(folder, options, open_options);
  check_folder_kind(folder, FolderUse::kModel);
  check_folder_kind(folder, FolderUse::kTokenizer);
  ModelConfig config = load_model_config(folder + "/config.json", options.config_rules);
  read_cross_encoder(path, config);
  Tokenizer tokenizer = Tokenizer::load(folder, options.tokenizer);
  Model model = Model::load(Checkpoint::open(folder, open_options), config, options);
  SentenceModules sentence;
  try {
    sentence = load_sentence_modules(path, config.hidden_size, open_options);
  } catch (const Error& error) {
    sentence.refusal = error.what();  // only vectors need them: all other verbs still work
  }
  return {std::move(config), std::move(tokenizer), std::move(model), std::move(sentence)};
}

}  // namespace deberta
