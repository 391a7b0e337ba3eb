#include "text/tokenizer_config.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <unordered_map>
#include <unordered_set>

#include "base/file.h"
#include "base/json.h"
#include "base/utf8.h"
#include "deberta/error.h"
#include "text/spm_model.h"

namespace deberta {
namespace {

constexpr JsonLimits kLimits{.max_bytes = size_t{16} << 20, .max_depth = 16, .max_nodes = 1000000};
constexpr int32_t kMaxId = (1 << 24) - 1;

// The special tokens by their keys, in the order in which missing ones get ids.
struct Role {
  const char* key;
  const char* content;  // when no file names it
};
constexpr std::array<Role, 7> kRoles{{{"bos_token", "[CLS]"},
                                      {"eos_token", "[SEP]"},
                                      {"unk_token", "[UNK]"},
                                      {"sep_token", "[SEP]"},
                                      {"pad_token", "[PAD]"},
                                      {"cls_token", "[CLS]"},
                                      {"mask_token", "[MASK]"}}};

[[noreturn]] void refuse(const std::string& where, const std::string& message) {
  throw Error(ErrorCode::kTokenizerFile, where, message);
}

bool read_bool(const Json& object, const char* key, bool fallback, const std::string& where) {
  const Json* value = object.find(key);
  if (value == nullptr || value->is_null()) return fallback;
  if (!value->is_bool()) refuse(where, fmt::format("{}: expected true or false, got {}", key, value->describe()));
  return value->as_bool();
}

void check_content(const std::string& content, const std::string& where) {
  if (content.empty() || content.size() > kMaxPieceBytes) {
    refuse(where, fmt::format("expected a token of 1..{} bytes, got {}", kMaxPieceBytes, content.size()));
  }
  if (content.find('\0') != std::string::npos) refuse(where, "expected a token without NUL");
}

// A string, or an object {"content": ..., "lstrip": ...}.
AddedToken parse_token(const Json& value, bool is_special, const std::string& where) {
  AddedToken token;
  const Json* content = value.is_object() ? value.find("content") : &value;
  if (content == nullptr || !content->is_string()) {
    refuse(where, fmt::format("expected a string or an object with content, got {}", value.describe()));
  }
  token.content = content->as_string();
  check_content(token.content, where);
  token.is_special = value.is_object() ? is_special || read_bool(value, "special", false, where) : is_special;
  token.is_normalized = !token.is_special;
  if (!value.is_object()) return token;
  token.strips_left = read_bool(value, "lstrip", false, where);
  token.strips_right = read_bool(value, "rstrip", false, where);
  token.is_single_word = read_bool(value, "single_word", false, where);
  token.is_normalized = read_bool(value, "normalized", token.is_normalized, where);
  return token;
}

int32_t check_id(std::optional<int64_t> id, const std::string& got, const std::string& where) {
  if (!id || *id < 0 || *id > kMaxId) refuse(where, fmt::format("expected an id in 0..{}, got {}", kMaxId, got));
  return static_cast<int32_t>(*id);
}

Json load_object(const std::string& path) {
  if (!is_regular_file(path)) return JsonObject{};
  Json document = load_json(path, kLimits);
  if (!document.is_object()) refuse(path, fmt::format("expected an object, got {}", document.describe()));
  return document;
}

class Loader {
 public:
  Loader(const std::string& folder, const TextModel& model) : folder_(folder), model_(model) {
    for (size_t i = 0; i < kRoles.size(); ++i) {
      roles_[i] = parse_token(Json(kRoles[i].content), true, folder);
      has_object_[i] = false;
    }
    set_mask_default();
  }

  TokenizerConfig load_with(const std::vector<AddedToken>& added) {
    for (const char* name : {"/tokenizer_config.json", "/special_tokens_map.json"}) {
      const std::string path = folder_ + name;
      read_roles(load_object(path), path);
    }
    for (const AddedToken& token : added) insert(token, folder_ + "/tokenizer.json: added_tokens");
    keeps_added_ = true;
    add_roles(true);
    set_special_ids();
    return std::move(result_);
  }

  TokenizerConfig load() {
    const std::string config_path = folder_ + "/tokenizer_config.json";
    const Json config = load_object(config_path);
    read_roles(config, config_path);
    const Json* decoder = config.find("added_tokens_decoder");
    if (decoder != nullptr) {
      read_decoder(*decoder, config_path + ": added_tokens_decoder");
    } else {
      // Folders written by older versions; newer ones repeat here what tokenizer_config.json says, perhaps stale.
      const std::string map_path = folder_ + "/special_tokens_map.json";
      read_roles(load_object(map_path), map_path);
      const std::string added_path = folder_ + "/added_tokens.json";
      read_added(load_object(added_path), added_path);
    }
    add_roles(decoder != nullptr);
    read_options(config, config_path);
    set_special_ids();
    return std::move(result_);
  }

 private:
  // The byte-level tokenizer of transformers knows neither option of the first kind, and ignores them.
  void read_options(const Json& config, const std::string& path) {
    if (model_.kind() == ModelKind::kUnigram) {
      result_.do_lower_case = read_bool(config, "do_lower_case", false, path);
      result_.split_by_punct = read_bool(config, "split_by_punct", false, path);
    } else if (read_bool(config, "add_prefix_space", false, path)) {
      throw Error(ErrorCode::kUnsupported, path,
                  "add_prefix_space: expected false, got true; put the space into the texts");
    }
  }

  void read_roles(const Json& object, const std::string& path) {
    for (size_t i = 0; i < kRoles.size(); ++i) {
      const Json* value = object.find(kRoles[i].key);
      if (value == nullptr) continue;
      is_named_[i] = true;
      if (value->is_null()) {
        roles_[i].reset();
        continue;
      }
      roles_[i] = parse_token(*value, true, path + ": " + kRoles[i].key);
      has_object_[i] = value->is_object();
    }
    set_mask_default();
    if (const Json* extra = object.find("additional_special_tokens"))
      read_extra(*extra, path + ": additional_special_tokens");
    if (const Json* extra = object.find("extra_special_tokens")) read_extra(*extra, path + ": extra_special_tokens");
  }

  // A byte-level mask that a file gives as mere text takes the space before it away: there the space is part of a word.
  void set_mask_default() {
    static_assert(std::string_view(kRoles.back().key) == "mask_token");
    if (model_.kind() == ModelKind::kByteBpe && roles_.back() && !has_object_.back()) roles_.back()->strips_left = true;
  }

  // A list of tokens, or an object of named ones.
  void read_extra(const Json& value, const std::string& where) {
    const auto add = [&](const Json& token) {
      extra_.emplace_back(parse_token(token, true, where), token.is_object());
    };
    if (value.is_array()) {
      for (const Json& token : value.as_array()) add(token);
    } else if (value.is_object()) {
      for (const JsonMember& member : value.as_object()) add(member.second);
    } else if (!value.is_null()) {
      refuse(where, fmt::format("expected a list, got {}", value.describe()));
    }
  }

  void read_decoder(const Json& decoder, const std::string& where) {
    if (!decoder.is_object()) refuse(where, fmt::format("expected an object, got {}", decoder.describe()));
    for (const auto& [key, value] : decoder.as_object()) {
      if (!value.is_object())
        refuse(where, fmt::format("{}: expected an object, got {}", quote_json(key), value.describe()));
      AddedToken token = parse_token(value, false, where);
      token.id = check_id(parse_number<int64_t>(key), quote_json(key), where);
      insert(std::move(token), where);
    }
  }

  void read_added(const Json& added, const std::string& where) {
    for (const auto& [content, id] : added.as_object()) {
      AddedToken token = parse_token(Json(content), is_role(content), where);  // extra_ marks its own later
      token.id = check_id(id.is_integer() ? std::optional(id.as_integer()) : std::nullopt, id.describe(), where);
      insert(std::move(token), where);
    }
  }

  bool is_role(std::string_view content) const {
    return std::any_of(roles_.begin(), roles_.end(),
                       [&](const auto& role) { return role && role->content == content; });
  }

  AddedToken* find(const std::string& content) {
    const auto found = by_content_.find(content);
    return found == by_content_.end() ? nullptr : &result_.added[found->second];
  }

  void insert(AddedToken token, const std::string& where) {
    if (find(token.content) != nullptr) refuse(where, fmt::format("{} appears twice", quote_json(token.content)));
    if (!ids_.insert(token.id).second) refuse(where, fmt::format("id {} appears twice", token.id));
    if (!model_.id_of(token.content)) ++outside_model_;
    by_content_.emplace(token.content, result_.added.size());
    result_.added.push_back(std::move(token));
  }

  // Special tokens that no file gave an id: that of the piece of this text, else one after all others.
  void add_roles(bool decoder_wins) {
    for (size_t i = 0; i < kRoles.size(); ++i) {
      if (!roles_[i]) continue;
      if (kRoles[i].key == std::string_view("unk_token") && !has_object_[i]) roles_[i]->is_normalized = true;
      // The byte-level tokenizer of transformers makes an object of a mere text, but for a text that its table
      // replaces.
      const bool is_object = has_object_[i] || model_.kind() == ModelKind::kByteBpe;
      const bool is_replaced = decoder_wins && (is_named_[i] || model_.kind() == ModelKind::kUnigram);
      add_role(*roles_[i], is_object && !is_replaced && !keeps_added_);
    }
    for (const auto& [token, is_object] : extra_) add_role(token, is_object && !decoder_wins);
  }

  void add_role(AddedToken token, bool wins) {
    if (AddedToken* known = find(token.content)) {
      if (wins) {
        token.id = known->id;
        *known = token;
      }
      known->is_special = true;
      return;
    }
    const auto piece_id = model_.id_of(token.content);
    token.id = piece_id && !ids_.contains(*piece_id) ? *piece_id : next_id();
    insert(std::move(token), folder_);
  }

  int32_t next_id() const {
    auto id = static_cast<int32_t>(model_.size() + outside_model_);
    while (ids_.contains(id)) ++id;
    return id;
  }

  int32_t id_of_role(std::string_view key, bool is_needed) {
    for (size_t i = 0; i < kRoles.size(); ++i) {
      if (kRoles[i].key == key && roles_[i]) return find(roles_[i]->content)->id;
    }
    if (is_needed) refuse(folder_, fmt::format("{}: expected a token, got null", key));
    return -1;
  }

  void set_special_ids() {
    result_.special.cls = id_of_role("cls_token", true);
    result_.special.sep = id_of_role("sep_token", true);
    result_.special.mask = id_of_role("mask_token", false);
    result_.special.pad = std::max(0, id_of_role("pad_token", false));
    const bool is_unk_of_model = model_.unk_id() != kUnknownToken;
    result_.special.unk = is_unk_of_model ? model_.unk_id() : id_of_role("unk_token", true);
  }

  const std::string& folder_;
  const TextModel& model_;
  TokenizerConfig result_;
  std::unordered_map<std::string, size_t> by_content_;  // positions in result_.added
  std::unordered_set<int32_t> ids_;
  size_t outside_model_ = 0;  // added tokens that are no pieces
  bool keeps_added_ = false;  // those of a tokenizer.json are as it says
  std::array<std::optional<AddedToken>, kRoles.size()> roles_;
  std::array<bool, kRoles.size()> has_object_{};
  std::array<bool, kRoles.size()> is_named_{};  // by a file
  std::vector<std::pair<AddedToken, bool>> extra_;
};

}  // namespace

TokenizerConfig load_tokenizer_config(const std::string& folder, const TextModel& model,
                                      const std::vector<AddedToken>* added) {
  Loader loader(folder, model);
  TokenizerConfig config = added == nullptr ? loader.load() : loader.load_with(*added);
  // sentence-transformers lowers texts before any kind of tokenizer sees them.
  const std::string path = folder + "/sentence_bert_config.json";
  if (read_bool(load_object(path), "do_lower_case", false, path)) config.do_lower_case = true;
  return config;
}

}  // namespace deberta
