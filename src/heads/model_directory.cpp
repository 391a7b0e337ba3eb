// Opens the parts of a model directory in the order in which their mistakes are easiest to understand.
#include "heads/model_directory.h"

#include <fmt/format.h>

#include <filesystem>
#include <string_view>
#include <vector>

#include "base/file.h"
#include "base/nearest.h"
#include "deberta/error.h"
#include "deberta/pipeline.h"
#include "heads/sentence_modules.h"

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

// The folder beside `path` whose name is nearest, as a path; empty when none is near.
std::string nearest_sibling(const std::string& path) {
  namespace fs = std::filesystem;
  constexpr size_t kMaxNames = 1000;
  const fs::path wanted = fs::path(path).has_filename() ? fs::path(path) : fs::path(path).parent_path();
  std::vector<std::string> names;
  std::error_code error;
  const fs::path parent = wanted.has_parent_path() ? wanted.parent_path() : fs::path(".");
  for (fs::directory_iterator at(parent, error), end; !error && at != end && names.size() < kMaxNames;
       at.increment(error)) {
    if (is_directory(at->path().string())) names.push_back(at->path().filename().string());
  }
  const std::vector<std::string_view> candidates(names.begin(), names.end());
  const std::string_view near = nearest_match(wanted.filename().string(), candidates);
  return near.empty() ? std::string() : (wanted.parent_path() / near).string();
}

}  // namespace

void refuse_head(const std::string& verb, const std::string& expected, Head got) {
  throw Error(
      ErrorCode::kTask, verb,
      fmt::format("expected a {} head, got {}; verbs for this model: {}", expected, to_string(got), verbs_for(got)));
}

void check_model_directory(const std::string& path) {
  if (is_directory(path)) return;
  const std::string near = nearest_sibling(path);
  throw Error(ErrorCode::kFileNotFound, path,
              fmt::format("no such model directory; expected a folder with config.json, weights and a tokenizer{}",
                          near.empty() ? "" : fmt::format("; did you mean {}?", near)));
}

ModelDirectory open_model_directory(const std::string& path, const ModelOptions& options,
                                    const OpenOptions& open_options) {
  check_model_directory(path);
  const std::string folder = transformer_folder(path);
  ModelConfig config = load_model_config(folder + "/config.json");
  Tokenizer tokenizer = Tokenizer::load(folder);
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
