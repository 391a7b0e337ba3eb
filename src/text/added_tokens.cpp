// Gives each new token the next free id, and rewrites the JSON files of the folder so that all readers agree on it.
#include "text/added_tokens.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

#include "base/file.h"
#include "base/utf8.h"
#include "deberta/error.h"
#include "text/hf_json/json_fields.h"
#include "text/hf_json/tokenizer_json.h"
#include "text/spm/spm_model.h"
#include "text/tokenizer_settings.h"

namespace deberta {
namespace {

constexpr const char* kTable = "added_tokens_decoder";

void check_kind(const LoadedTokenizer& loaded, const std::string& folder) {
  const bool is_json = loaded.source == TokenizerSource::kJson;
  if (loaded.model->kind() == ModelKind::kUnigram && (loaded.is_fast || !is_json)) return;
  throw Error(ErrorCode::kUnsupported,
              {{.where = folder,
                .message = "expected a SentencePiece model (spm.model, or its tokenizer.json) to add tokens to, got a "
                           "tokenizer of another kind",
                .argument = "added_tokens"}});
}

void check_content(const std::string& content) {
  if (content.empty() || content.size() > kMaxPieceBytes)
    refuse_added_token(fmt::format("expected tokens of 1..{} bytes, got one of {}", kMaxPieceBytes, content.size()));
  if (!is_valid_utf8(content) || content.find('\0') != std::string::npos)
    refuse_added_token("expected tokens of valid UTF-8 without NUL, got one that is not");
}

bool has_token(const LoadedTokenizer& loaded, const std::string& content) {
  return loaded.model->id_of(content) ||
         std::ranges::find(loaded.config.added, content, &AddedToken::content) != loaded.config.added.end();
}

// ---- files

JsonObject flags_of(const AddedToken& token) {
  return {{"content", token.content},     {"single_word", token.is_single_word}, {"lstrip", token.strips_left},
          {"rstrip", token.strips_right}, {"normalized", token.is_normalized},   {"special", token.is_special}};
}

Json& member_of(JsonObject& object, std::string_view key, Json fallback) {
  const auto member = std::ranges::find(object, key, &JsonMember::first);
  return member != object.end() ? member->second : object.emplace_back(std::string(key), std::move(fallback)).second;
}

// transformers takes an object without a type for a token in special_tokens_map.json alone. Its flags are in the table.
Json plain_token(const Json& value) {
  const Json* content = value.find("content");
  return content != nullptr && value.find("__type") == nullptr ? *content : value;
}

void make_roles_plain(JsonObject& settings) {
  for (const char* key : kRoleKeys) {
    const auto role = std::ranges::find(settings, key, &JsonMember::first);
    if (role != settings.end()) role->second = plain_token(role->second);
  }
  const auto more = std::ranges::find(settings, "additional_special_tokens", &JsonMember::first);
  if (more == settings.end() || !more->second.is_array()) return;
  for (Json& token : more->second.as_array()) token = plain_token(token);
}

// The table has every token: without one, a role would get the next id, which is now another's.
std::string settings_with(const std::vector<AddedToken>& tokens, Json settings) {
  JsonObject& object = settings.as_object();
  make_roles_plain(object);
  JsonObject& table = member_of(object, kTable, JsonObject{}).as_object();
  std::map<int32_t, const AddedToken*> by_id;
  for (const AddedToken& token : tokens) by_id.emplace(token.id, &token);
  for (const auto& [id, token] : by_id) member_of(table, std::to_string(id), flags_of(*token));
  return settings.dump(2, JsonForm::kPython) + "\n";
}

// For programs older than the table: the tokens that are no pieces.
std::string ids_of(const LoadedTokenizer& loaded) {
  JsonObject ids;
  for (const AddedToken& token : loaded.config.added) {
    if (!loaded.model->id_of(token.content)) ids.emplace_back(token.content, token.id);
  }
  return Json(std::move(ids)).dump(2, JsonForm::kPython) + "\n";
}

// The id that the tokenizers library assigns to a token that is no piece, whatever the file says.
int32_t next_id(const TokenizerDocument& document) {
  const Json* model = document.root.find("model");
  const Json* pieces = model == nullptr ? nullptr : model->find("vocab");
  size_t next = pieces != nullptr && pieces->is_array() ? pieces->as_array().size() : 0;
  for (const AddedToken& token : document.added) next = std::max(next, static_cast<size_t>(token.id) + 1);
  return static_cast<int32_t>(next);
}

std::string document_with(const std::vector<AddedToken>& tokens, const std::string& path) {
  TokenizerDocument document = read_tokenizer_json(path);
  if (next_id(document) != tokens.front().id) {
    refuse_tokenizer_file(path, fmt::format("expected {} as the next id, as in the files beside it, got {}",
                                            tokens.front().id, next_id(document)));
  }
  JsonArray& list = member_of(document.root.as_object(), "added_tokens", JsonArray{}).as_array();
  for (const AddedToken& token : tokens) {
    JsonObject entry = flags_of(token);
    entry.insert(entry.begin(), {"id", token.id});
    list.emplace_back(std::move(entry));
  }
  return document.root.dump(2, JsonForm::kPython) + "\n";
}

}  // namespace

void refuse_added_token(const std::string& message) {
  throw Error(ErrorCode::kUsage, {{.message = message, .argument = "added_tokens"}});
}

std::vector<AddedToken> add_tokens(std::span<const std::string> contents, const std::string& folder,
                                   LoadedTokenizer& loaded) {
  if (!contents.empty()) check_kind(loaded, folder);
  std::vector<AddedToken> added;
  for (const std::string& content : contents) {
    check_content(content);
    if (has_token(loaded, content)) continue;
    // Not normalized: normalization turns a line break into a space.
    added.push_back({.content = content, .id = static_cast<int32_t>(loaded.size()), .is_normalized = false});
    loaded.config.added.push_back(added.back());
  }
  return added;
}

std::vector<NamedText> files_with_tokens(const std::string& folder, std::span<const std::string> contents) {
  if (contents.empty()) return {};
  LoadedTokenizer loaded = load_tokenizer(folder, TokenizerKind::kSlow);
  const std::vector<AddedToken> added = add_tokens(contents, folder, loaded);
  if (added.empty()) return {};
  std::vector<NamedText> files;
  const bool has_table = loaded.settings.find(kTable) != nullptr;
  if (!loaded.is_fast) {
    files.push_back({"tokenizer_config.json", settings_with(loaded.config.added, loaded.settings)});
    files.push_back({"added_tokens.json", ids_of(loaded)});
  } else if (has_table) {
    files.push_back({"tokenizer_config.json", settings_with(added, loaded.settings)});
  }
  const std::string document = folder + "/tokenizer.json";
  if (is_regular_file(document)) files.push_back({"tokenizer.json", document_with(added, document)});
  return files;
}

}  // namespace deberta
