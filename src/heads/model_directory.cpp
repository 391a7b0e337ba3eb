// Opens the parts of a model directory in the order in which their mistakes are easiest to understand.
#include "heads/model_directory.h"

#include "base/file.h"
#include "deberta/error.h"
#include "deberta/pipeline.h"

namespace deberta {

void check_model_directory(const std::string& path) {
  if (is_directory(path)) return;
  throw Error(ErrorCode::kFileNotFound, path,
              "no such model directory; expected a folder with config.json, weights and a tokenizer");
}

ModelDirectory open_model_directory(const std::string& path, const ModelOptions& options) {
  check_model_directory(path);
  ModelConfig config = load_model_config(path + "/config.json");
  Tokenizer tokenizer = Tokenizer::load(path);
  Model model = Model::load(Checkpoint::open(path), config, options);
  return {std::move(config), std::move(tokenizer), std::move(model)};
}

}  // namespace deberta
