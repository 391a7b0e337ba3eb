// Tables of class names and model types, and the search for a file that the chosen class can read.
#include "text/tokenizer_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>

#include "base/file.h"
#include "base/json.h"
#include "deberta/error.h"
#include "text/hf_json/json_fields.h"

namespace deberta {
namespace {

struct ClassRow {
  std::string_view name;
  TokenizerClass of_class;
  bool is_fast;
};
// A class named Fast has no slow one beside it: a request for the slow tokenizer gets the fast one too.
// TokenizersBackend is what version 5 calls PreTrainedTokenizerFast.
constexpr std::array<ClassRow, 9> kClasses{{{"DebertaTokenizer", TokenizerClass::kDeberta, false},
                                            {"DebertaTokenizerFast", TokenizerClass::kDeberta, true},
                                            {"DebertaV2Tokenizer", TokenizerClass::kDebertaV2, false},
                                            {"DebertaV2TokenizerFast", TokenizerClass::kDebertaV2, true},
                                            {"BertTokenizer", TokenizerClass::kBert, false},
                                            {"BertTokenizerFast", TokenizerClass::kBert, true},
                                            {"RobertaTokenizerFast", TokenizerClass::kRoberta, true},
                                            {"PreTrainedTokenizerFast", TokenizerClass::kGeneric, true},
                                            {"TokenizersBackend", TokenizerClass::kGeneric, true}}};

struct TypeRow {
  std::string_view model_type;
  TokenizerClass of_class;
};
constexpr std::array<TypeRow, 4> kTypes{{{"deberta", TokenizerClass::kDeberta},
                                         {"deberta-v2", TokenizerClass::kDebertaV2},
                                         {"deberta-pooled", TokenizerClass::kDeberta},
                                         {"deberta-v2-pooled", TokenizerClass::kDebertaV2}}};

// The folder's own code makes its tokenizer: nothing is known here about its ids.
void check_auto_map(const Json& config, const std::string& path) {
  const Json* map = config.find("auto_map");
  if (map == nullptr) return;
  const Json* code = map->is_object() ? map->find("AutoTokenizer") : map;
  if (code == nullptr || (code->is_null() && map->is_object())) return;
  throw Error(ErrorCode::kUnsupported, path,
              fmt::format("auto_map: the tokenizer is the model's own code ({}), which is never run; its ids cannot be "
                          "reproduced",
                          code->dump()));
}

// The class that a file names: nothing, or a row of kClasses. Before some other classes, programs such as Juman++ or
// MeCab split the words.
std::optional<ClassRow> class_of(const Json& config, const std::string& path) {
  const Json* name = config.find("tokenizer_class");
  if (name == nullptr || name->is_null()) return std::nullopt;
  if (!name->is_string()) {
    refuse_tokenizer_file(path, fmt::format("tokenizer_class: expected the name of a class, got {}", name->describe()));
  }
  const auto* row = std::find_if(kClasses.begin(), kClasses.end(),
                                 [&](const ClassRow& known) { return known.name == name->as_string(); });
  if (row == kClasses.end()) {
    std::string names;
    for (const ClassRow& known : kClasses) {
      if (!known.is_fast) names += (names.empty() ? "" : ", ") + std::string(known.name);
    }
    throw Error(ErrorCode::kUnsupported, path,
                fmt::format("tokenizer_class: {} is not supported, and other tokenizers would give different ids; "
                            "supported: {}, RobertaTokenizerFast, PreTrainedTokenizerFast",
                            quote_json(name->as_string()), names));
  }
  return *row;
}

// Both files are read again where their other values are used, which is where they warn.
ClassRow find_class(const std::string& folder) {
  const std::string own_path = folder + "/tokenizer_config.json";
  const Json own = load_settings_object(own_path, JsonWarnings::kSilent);
  check_auto_map(own, own_path);
  if (const auto row = class_of(own, own_path)) return *row;
  const std::string path = folder + "/config.json";
  const Json config = load_settings_object(path, JsonWarnings::kSilent);
  check_auto_map(config, path);
  if (const auto row = class_of(config, path)) return *row;
  const Json* type = config.find("model_type");
  for (const TypeRow& row : kTypes) {
    if (type != nullptr && type->is_string() && type->as_string() == row.model_type) return {"", row.of_class, false};
  }
  return {"", TokenizerClass::kUnknown, false};
}

class Chooser {
 public:
  Chooser(const std::string& folder, const ClassRow& row, TokenizerKind kind)
      : folder_(folder), row_(row), is_fast_(row.is_fast || kind == TokenizerKind::kFast) {}

  TokenizerFiles choose() const {
    if (is_fast_ && has("tokenizer.json")) return json();
    if (const auto files = first_of(own_sources())) return *files;
    if (has("tokenizer.json")) return json();
    refuse();
  }

 private:
  using Source = TokenizerSource;

  std::vector<Source> own_sources() const {
    switch (row_.of_class) {
      case TokenizerClass::kDeberta:
        return {Source::kBpe, Source::kBpeEncoder};
      case TokenizerClass::kDebertaV2:
        return {Source::kSpm};
      case TokenizerClass::kBert:
        return {Source::kVocabTxt};
      case TokenizerClass::kRoberta:
      case TokenizerClass::kGeneric:
        return {};
      case TokenizerClass::kUnknown:
        break;
    }
    return {Source::kSpm, Source::kBpe, Source::kBpeEncoder};
  }

  std::optional<TokenizerFiles> first_of(const std::vector<Source>& sources) const {
    for (const Source source : sources) {
      const std::string path = path_of(source);
      if (!path.empty()) return TokenizerFiles{row_.of_class, source, path, is_fast_};
    }
    return std::nullopt;
  }

  // Empty: not in the folder.
  std::string path_of(Source source) const {
    const auto first = [&](std::initializer_list<const char*> names) -> std::string {
      for (const char* name : names) {
        if (has(name)) return folder_ + "/" + name;
      }
      return "";
    };
    switch (source) {
      case Source::kSpm:
        return first({"spm.model", "spiece.model"});
      case Source::kBpe:
        // A vocabulary alone is enough to report what is missing, unless there is something else to read.
        return has("vocab.json") && (has("merges.txt") || !(has("bpe_encoder.bin") || has("tokenizer.json"))) ? folder_
                                                                                                              : "";
      case Source::kBpeEncoder:
        return first({"bpe_encoder.bin"});
      case Source::kVocabTxt:
        return first({"vocab.txt"});
      case Source::kJson:
        break;
    }
    return first({"tokenizer.json"});
  }

  bool has(const char* name) const { return is_regular_file(folder_ + "/" + name); }
  TokenizerFiles json() const { return {row_.of_class, Source::kJson, folder_ + "/tokenizer.json", true}; }

  [[noreturn]] void refuse() const {
    constexpr std::string_view kAny =
        "spm.model, spiece.model, vocab.json with merges.txt, bpe_encoder.bin, tokenizer.json";
    std::string expected(kAny);
    if (row_.of_class == TokenizerClass::kDeberta)
      expected = "vocab.json with merges.txt, bpe_encoder.bin, tokenizer.json";
    if (row_.of_class == TokenizerClass::kDebertaV2) expected = "spm.model, tokenizer.json";
    if (row_.of_class == TokenizerClass::kBert) expected = "vocab.txt, tokenizer.json";
    if (own_sources().empty()) expected = "tokenizer.json";
    std::string other_files;
    for (const char* name : {"spm.model", "spiece.model", "vocab.json", "bpe_encoder.bin", "vocab.txt"}) {
      if (has(name)) other_files += (other_files.empty() ? "" : ", ") + std::string(name);
    }
    throw Error(ErrorCode::kFileNotFound, folder_,
                fmt::format("expected a tokenizer file, found none of {}; {}", expected,
                            other_files.empty() ? "is this a model folder"
                                                : fmt::format("it has {}, of another class; name the class in "
                                                              "tokenizer_config.json (tokenizer_class)",
                                                              other_files)));
  }

  const std::string& folder_;
  ClassRow row_;
  bool is_fast_;
};

}  // namespace

TokenizerFiles choose_tokenizer_files(const std::string& folder, TokenizerKind kind) {
  return Chooser(folder, find_class(folder), kind).choose();
}

}  // namespace deberta
