// Opens the parts of a model directory in the order in which their mistakes are easiest to understand.
#include "heads/model_directory.h"

#include <fmt/format.h>

#include "base/file.h"
#include "deberta/error.h"
#include "deberta/pipeline.h"

namespace deberta {
namespace {

std::string_view verbs_for(Head head) {
  switch (head) {
    case Head::kSequence:
      return "classify, nli, zero-shot, rerank, choose, embed";
    case Head::kToken:
    case Head::kTokenOriginal:
      return "ner, embed";
    case Head::kMaskedLm:
      return "fill, score, embed";
    case Head::kReplacedToken:
      return "detect, embed";
    case Head::kSpan:
      return "qa, embed";
    case Head::kNone:
      return "embed, forward";
  }
  return "forward";
}

}  // namespace

void refuse_head(const std::string& verb, const std::string& expected, Head got) {
  throw Error(
      ErrorCode::kTask, verb,
      fmt::format("expected a {} head, got {}; verbs for this model: {}", expected, to_string(got), verbs_for(got)));
}

void check_model_directory(const std::string& path) {
  if (is_directory(path)) return;
  throw Error(ErrorCode::kFileNotFound, path,
              "no such model directory; expected a folder with config.json, weights and a tokenizer");
}

ModelDirectory open_model_directory(const std::string& path, const ModelOptions& options,
                                    const OpenOptions& open_options) {
  check_model_directory(path);
  ModelConfig config = load_model_config(path + "/config.json");
  Tokenizer tokenizer = Tokenizer::load(path);
  Model model = Model::load(Checkpoint::open(path, open_options), config, options);
  return {std::move(config), std::move(tokenizer), std::move(model)};
}

}  // namespace deberta
