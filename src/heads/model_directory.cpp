// Opens the parts of a model directory in the order in which their mistakes are easiest to understand.
#include "heads/model_directory.h"

#include <fmt/format.h>

#include <filesystem>
#include <string_view>
#include <vector>

#include "base/file.h"
#include "base/folder.h"
#include "base/nearest.h"
#include "checkpoint/folder_kind.h"
#include "deberta/error.h"
#include "deberta/pipeline.h"
#include "heads/sentence_modules.h"
#include "tasks/entailment.h"

namespace deberta {
namespace {

// A head on sequences says by its classes what it was trained for.
std::string verbs_for_sequences(const Model& model) {
  std::string verbs = "classify";
  if (has_entailment(model.config().labels)) verbs += ", nli, zero-shot";
  if (model.labels() == 1) verbs += ", rerank";
  if (model.labels() == 1 || model.labels() == 2) verbs += ", choose";
  return verbs + ", embed";
}

std::string verbs_for(const Model& model) {
  switch (model.head()) {
    case Head::kSequence:
      return verbs_for_sequences(model);
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

// The folder beside `path` whose name is nearest, as a path; empty when none is near.
std::string nearest_sibling(const std::string& path) {
  namespace fs = std::filesystem;
  constexpr size_t kMaxNames = 1000;
  const fs::path wanted = fs::path(path).has_filename() ? fs::path(path) : fs::path(path).parent_path();
  std::vector<std::string> names;
  const std::string parent = wanted.has_parent_path() ? wanted.parent_path().string() : ".";
  for (const std::string& name : names_in(parent, kMaxNames)) {
    if (is_directory(fmt::format("{}/{}", parent, name))) names.push_back(name);
  }
  const std::vector<std::string_view> candidates(names.begin(), names.end());
  const std::string_view near = nearest_match(wanted.filename().string(), candidates);
  return near.empty() ? std::string() : (wanted.parent_path() / near).string();
}

}  // namespace

void refuse_head(const std::string& verb, const std::string& expected, const Model& model) {
  throw Error(ErrorCode::kTask, verb,
              fmt::format("expected a {} head, got {}; verbs for this model: {}", expected, to_string(model.head()),
                          verbs_for(model)));
}

void check_plain_pairs(const std::string& verb, const Tokenizer& tokenizer) {
  if (tokenizer.has_plain_pairs()) return;
  throw Error(ErrorCode::kUnsupported, verb,
              "expected a tokenizer that puts one [SEP] between two texts and gives them types 0 and 1, as for "
              "training; tokenizer.json has another template: take vocab.json and merges.txt instead");
}

void check_model_directory(const std::string& path) {
  if (is_directory(path)) return;
  if (is_regular_file(path))
    throw Error(ErrorCode::kFileNotFound, path,
                fmt::format("expected the folder of a model, got a file; of a model's own file give the folder: -m {}",
                            parent_folder(path)));
  const std::string near = nearest_sibling(path);
  throw Error(ErrorCode::kFileNotFound, path,
              fmt::format("no such model directory; expected a folder with config.json, weights and a tokenizer{}",
                          near.empty() ? "" : fmt::format("; did you mean {}?", near)));
}

ModelDirectory open_model_directory(const std::string& path, const ModelOptions& options,
                                    const OpenOptions& open_options) {
  check_model_directory(path);
  const std::string folder = transformer_folder(path);
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
    sentence.refusal = error.what();  // only vectors need them: the other verbs answer all the same
  }
  return {std::move(config), std::move(tokenizer), std::move(model), std::move(sentence)};
}

}  // namespace deberta
