// Reads tokens in every form that the files allow, and refuses settings that change what the library computes.
#include "text/tokenizer_settings.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "base/checked.h"
#include "base/file.h"
#include "base/log.h"
#include "base/utf8.h"
#include "deberta/error.h"
#include "deberta/tokenizer.h"
#include "text/hf_json/json_fields.h"
#include "text/spm/spm_model.h"

namespace deberta {
namespace {

constexpr int32_t kMaxId = (1 << 24) - 1;
constexpr double kNoLimit = 1e20;     // above it transformers takes it for no limit
constexpr double kSmallestLimit = 3;  // [CLS], a token, [SEP]

using RoleNames = std::array<const char*, kRoleCount>;
constexpr RoleNames kDefaults = {"[CLS]", "[SEP]", "[UNK]", "[SEP]", "[PAD]", "[CLS]", "[MASK]"};
constexpr RoleNames kRobertaDefaults = {"<s>", "</s>", "<unk>", "</s>", "<pad>", "<s>", "<mask>"};

// The token of a role by default; null for none: BERT has neither bos nor eos, a tokenizer.json alone has none.
const char* default_name(TokenizerClass of_class, size_t role) {
  if (of_class == TokenizerClass::kGeneric) return nullptr;
  if (of_class == TokenizerClass::kBert && (role == kBos || role == kEos)) return nullptr;
  return (of_class == TokenizerClass::kRoberta ? kRobertaDefaults : kDefaults)[role];
}

// For a token: the library takes nothing else for true or false, not even null.
bool read_bool(const Json& object, const char* key, bool fallback, const std::string& where) {
  return object.find(key) == nullptr ? fallback : bool_field(object, key, where);
}

void check_content(const std::string& content, const std::string& where) {
  if (content.empty() || content.size() > kMaxPieceBytes) {
    refuse_tokenizer_file(where,
                          fmt::format("expected a token of 1..{} bytes, got {}", kMaxPieceBytes, content.size()));
  }
  if (content.find('\0') != std::string::npos) refuse_tokenizer_file(where, "expected a token without NUL");
  if (!is_valid_utf8(content)) refuse_tokenizer_file(where, "expected a token without lone surrogates");
}

// The library makes an empty token of it, whereas null is no token.
bool has_empty_text(const Json& value) {
  if (!value.is_object()) return value.is_string() && value.as_string().empty();
  const Json* content = value.find("content");
  return content == nullptr || content->is_null() || (content->is_string() && content->as_string().empty());
}

// A token without a text, which is never found and never added.
bool is_empty_token(const Json& value) {
  return value.is_null() || has_empty_text(value);
}

int32_t check_id(std::optional<int64_t> id, const std::string& got, const std::string& where) {
  if (!id || *id < 0 || *id > kMaxId)
    refuse_tokenizer_file(where, fmt::format("expected an id in 0..{}, got {}", kMaxId, got));
  return static_cast<int32_t>(*id);
}

// In the newer file an object is a token if it says so, with or without a text; the library refuses a plain one there.
// An object with a text is what other programs write for a token, and has only one meaning.
void check_role(const Json& value, const std::string& where, bool is_older) {
  if (is_older || !value.is_object() || !is_empty_token(value) || value.find("__type") != nullptr) return;
  refuse_tokenizer_file(
      where, fmt::format("expected a token with content, got {}; remove the key or set it to null", value.describe()));
}

// A string, or an object {"content": ..., "lstrip": ...}. `is_special`: whatever the object says. Without "normalized",
// what the object says of "special" decides; the older file counts as saying it for every token.
NamedToken parse_token(const Json& value, bool is_special, const std::string& where, bool is_older_file = false) {
  NamedToken named{{}, value.is_object()};
  AddedToken& token = named.token;
  const Json* content = value.is_object() ? value.find("content") : &value;
  if (content == nullptr || !content->is_string()) {
    refuse_tokenizer_file(where, fmt::format("expected a string or an object with content, got {}", value.describe()));
  }
  token.content = content->as_string();
  check_content(token.content, where);
  const bool says_special = is_older_file || (named.is_object && read_bool(value, "special", false, where));
  token.is_special = is_special || says_special;
  token.is_normalized = named.is_object ? !says_special : !token.is_special;
  if (!named.is_object) return named;
  token.strips_left = read_bool(value, "lstrip", false, where);
  token.strips_right = read_bool(value, "rstrip", false, where);
  token.is_single_word = read_bool(value, "single_word", false, where);
  token.is_normalized = read_bool(value, "normalized", token.is_normalized, where);
  return named;
}

class SettingsReader {
 public:
  SettingsReader(const std::string& folder, TokenizerClass of_class) : folder_(folder), of_class_(of_class) {
    for (size_t i = 0; i < kRoleCount; ++i) {
      if (const char* name = default_name(of_class, i))
        result_.roles[i].named = parse_role(i, Json(name), folder, false);
    }
  }

  TokenizerSettings read(const std::function<std::vector<AddedToken>()>& json_tokens) {
    result_.where = folder_ + "/tokenizer_config.json";
    result_.config = load_settings_object(result_.where);
    read_roles(result_.config, result_.where, false);
    const Json* decoder = result_.config.find("added_tokens_decoder");
    result_.has_table = decoder != nullptr;
    if (decoder != nullptr) {
      read_decoder(*decoder, result_.where + ": added_tokens_decoder");
    } else {
      read_older_files(json_tokens());
    }
    use_flags_of_decoder();
    return std::move(result_);
  }

 private:
  // For folders written by older versions; newer ones repeat here what tokenizer_config.json says, perhaps stale.
  void read_older_files(const std::vector<AddedToken>& json_tokens) {
    const std::string map_path = folder_ + "/special_tokens_map.json";
    const Json map = load_settings_object(map_path);
    read_roles(map, map_path, true);
    for (const auto& [key, value] : map.as_object()) set_config(key, value);
    read_added(folder_ + "/added_tokens.json");
    result_.has_table = !json_tokens.empty();
    for (const AddedToken& token : json_tokens) add_to_decoder(token, folder_ + "/tokenizer.json: added_tokens", true);
  }

  void set_config(const std::string& key, const Json& value) {
    for (JsonMember& member : result_.config.as_object()) {
      if (member.first == key) {
        member.second = value;
        return;
      }
    }
    result_.config.as_object().emplace_back(key, value);
  }

  void read_roles(const Json& object, const std::string& path, bool is_older) {
    for (size_t i = 0; i < kRoleCount; ++i) {
      const Json* value = object.find(kRoleKeys[i]);
      if (value == nullptr) continue;
      RoleSetting& role = result_.roles[i];
      role.is_said = true;
      role.is_empty = has_empty_text(*value);
      role.named.reset();
      check_role(*value, path + ": " + kRoleKeys[i], is_older);
      if (!is_empty_token(*value)) role.named = parse_role(i, *value, path + ": " + kRoleKeys[i], is_older);
    }
    for (const char* key : {"additional_special_tokens", "extra_special_tokens"}) {
      if (const Json* extra = object.find(key)) read_extra(*extra, path + ": " + key, is_older);
    }
  }

  // RobertaTokenizerFast makes a plain mask a token that takes the white space before it.
  NamedToken parse_role(size_t role, const Json& value, const std::string& where, bool is_older) const {
    NamedToken named = parse_token(value, true, where, is_older);
    const bool is_plain_mask = of_class_ == TokenizerClass::kRoberta && role == kMask && !named.is_object;
    named.token.strips_left |= is_plain_mask;
    named.token.is_normalized |= is_plain_mask;
    return named;
  }

  // A list of tokens, or an object of named ones.
  void read_extra(const Json& value, const std::string& where, bool is_older) {
    const auto add = [&](const Json& token) {
      if (is_empty_token(token)) return;
      NamedToken named = parse_token(token, true, where, is_older);
      const bool is_known = std::any_of(result_.extra.begin(), result_.extra.end(), [&](const NamedToken& known) {
        return known.token.content == named.token.content;
      });
      if (!is_known) result_.extra.push_back(std::move(named));
    };
    if (value.is_array()) {
      for (const Json& token : value.as_array()) add(token);
    } else if (value.is_object()) {
      for (const JsonMember& member : value.as_object()) add(member.second);
    } else if (!value.is_null()) {
      refuse_tokenizer_file(where, fmt::format("expected a list, got {}", value.describe()));
    }
  }

  void read_decoder(const Json& decoder, const std::string& where) {
    if (!decoder.is_object())
      refuse_tokenizer_file(where, fmt::format("expected an object, got {}", decoder.describe()));
    for (const auto& [key, value] : decoder.as_object()) {
      if (!value.is_object())
        refuse_tokenizer_file(where, fmt::format("{}: expected an object, got {}", quote_json(key), value.describe()));
      const int32_t id = check_id(parse_number<int64_t>(key), quote_json(key), where);
      if (is_empty_token(value)) {
        result_.has_empty_token = true;
        continue;
      }
      AddedToken token = parse_token(value, false, where).token;
      token.id = id;
      add_to_decoder(std::move(token), where, false);
    }
  }

  void read_added(const std::string& path) {
    const Json added = load_settings_object(path);
    for (const auto& [content, id] : added.as_object()) {
      AddedToken token = parse_token(Json(content), is_named(content), path).token;
      token.id = check_id(id.whole_number(), id.describe(), path);
      add_to_decoder(std::move(token), path, false);
    }
  }

  bool is_named(const std::string& content) const {
    const auto is_it = [&](const NamedToken& named) { return named.token.content == content; };
    const bool is_role = std::any_of(result_.roles.begin(), result_.roles.end(), [&](const RoleSetting& role) {
      return role.is_said && role.named && is_it(*role.named);
    });
    return is_role || std::any_of(result_.extra.begin(), result_.extra.end(), is_it);
  }

  // A table in a later file replaces what an earlier one says about an id.
  void add_to_decoder(AddedToken token, const std::string& where, bool replaces) {
    if (token.content.empty()) return;
    const auto same = std::find_if(result_.decoder.begin(), result_.decoder.end(),
                                   [&](const AddedToken& known) { return known.id == token.id; });
    if (same != result_.decoder.end() && !replaces)
      refuse_tokenizer_file(where, fmt::format("id {} appears twice", token.id));
    if (same != result_.decoder.end()) result_.decoder.erase(same);
    const bool is_known = std::any_of(result_.decoder.begin(), result_.decoder.end(),
                                      [&](const AddedToken& known) { return known.content == token.content; });
    if (is_known) refuse_tokenizer_file(where, fmt::format("{} appears twice", quote_json(token.content)));
    result_.decoder.push_back(std::move(token));
  }

  // A role that a file names takes the flags of the table's token with the same text.
  void use_flags_of_decoder() {
    if (!result_.has_table) return;
    for (RoleSetting& role : result_.roles) {
      if (!role.named || !role.is_said) continue;
      for (const AddedToken& token : result_.decoder) {
        if (token.content != role.named->token.content) continue;
        role.named = NamedToken{token, true};
        role.named->token.id = -1;
      }
    }
  }

  const std::string& folder_;
  TokenizerClass of_class_;
  TokenizerSettings result_;
};

void refuse_setting(const TokenizerSettings& settings, std::string_view key, Remedy remedy) {
  throw Error(ErrorCode::kUnsupported, {{.where = settings.where,
                                         .message = fmt::format("{}: got {}", key, settings.find(key)->describe()),
                                         .remedies = {std::move(remedy)}}});
}

// Settings that make the library compute something else.
void check_settings(const TokenizerSettings& settings) {
  if (settings.is_truthy("split_special_tokens", false))
    refuse_setting(settings, "split_special_tokens", {"leave it out and use {}", "parse_special", "false"});
  if (settings.is_truthy("sp_model_kwargs", false))
    refuse_setting(settings, "sp_model_kwargs", {"SentencePiece options are not supported; expected {}"});
}

// A length that leaves no room for a text. To Python, true and false are numbers too.
bool is_too_small(const Json& length) {
  return length.is_bool() || (length.is_number() && length.as_number() < kSmallestLimit);
}

}  // namespace

bool TokenizerSettings::is_truthy(std::string_view key, bool fallback) const {
  const Json* value = find(key);
  return value == nullptr ? fallback : value->is_truthy();
}

TokenizerSettings read_tokenizer_settings(const std::string& folder, TokenizerClass of_class,
                                          const std::function<std::vector<AddedToken>()>& json_tokens) {
  TokenizerSettings settings = SettingsReader(folder, of_class).read(json_tokens);
  check_settings(settings);
  return settings;
}

bool is_stated_length(size_t tokens) {
  return tokens > EncodeOptions{}.max_tokens && tokens <= kMostStatedTokens;
}

std::optional<size_t> TextLimits::length_for(size_t usual) const {
  if (!max_tokens) return std::nullopt;
  return *max_tokens < usual || (is_stated && is_stated_length(*max_tokens)) ? max_tokens : std::nullopt;
}

TextLimits read_text_limits(const std::string& folder) {
  TextLimits limits;
  const auto take = [&](const Json* length, const char* key) {
    const double value = length != nullptr && length->is_number() ? length->as_number() : 0;
    if (!(value >= kSmallestLimit) || value > kNoLimit) return;
    const auto tokens = static_cast<size_t>(value);
    if (limits.max_tokens && *limits.max_tokens <= tokens) return;
    limits.max_tokens = tokens;
    limits.is_stated = false;
    limits.where = key;
  };
  const auto read = [&](const char* name) {
    const std::string path = folder + name;
    return is_regular_file(path) ? load_python_json(path, kSettingsLimits, JsonWarnings::kSilent) : Json(JsonObject{});
  };
  const Json settings = read("/tokenizer_config.json");
  const Json* length = settings.find("model_max_length");
  if (length == nullptr) length = settings.find("max_len");
  take(length, "model_max_length");
  limits.is_stated = limits.max_tokens.has_value();
  if (length != nullptr && is_too_small(*length)) limits.too_small = length->describe();
  const Json* side = settings.find("truncation_side");
  limits.cuts_left = side != nullptr && side->is_string() && side->as_string() == "left";
  const Json model = read("/config.json");
  const Json* has_table = model.find("position_biased_input");
  if (model.find("model_type") != nullptr && (has_table == nullptr || has_table->is_truthy()))
    take(model.find("max_position_embeddings"), "max_position_embeddings");
  return limits;
}

std::optional<size_t> max_length_of(const TokenizerSettings& settings) {
  const Json* value = settings.find("model_max_length");
  if (value == nullptr) value = settings.find("max_len");  // the name in old files
  if (value == nullptr || value->is_null()) return std::nullopt;
  if (!value->is_number() && !value->is_bool()) {
    refuse_tokenizer_file(settings.where,
                          fmt::format("model_max_length: expected a number, got {}", value->describe()));
  }
  const double length = value->is_number() ? value->as_number() : 0;
  if (length > kNoLimit || std::isnan(length)) return std::nullopt;
  if (length >= kSmallestLimit) return static_cast<size_t>(length);
  warn(fmt::format("{}: model_max_length: expected a length of at least {}, got {}; it is ignored here", settings.where,
                   kSmallestLimit, value->describe()));
  return std::nullopt;
}

}  // namespace deberta
