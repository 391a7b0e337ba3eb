// What tokenizer_config.json, special_tokens_map.json and added_tokens.json say, read in the order in which
// transformers 4.57 reads them. How they are applied: tokenizer_config.h.
#pragma once
#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/json.h"
#include "text/special_tokens.h"
#include "text/tokenizer_files.h"

namespace deberta {

// The special tokens by their keys, in the order in which missing ones get ids.
enum RoleIndex : uint8_t { kBos, kEos, kUnk, kSep, kPad, kCls, kMask, kRoleCount };
constexpr std::array<const char*, kRoleCount> kRoleKeys = {"bos_token", "eos_token", "unk_token", "sep_token",
                                                           "pad_token", "cls_token", "mask_token"};

// A token as an object with flags of its own, or as a plain string.
struct NamedToken {
  AddedToken token;
  bool is_object = false;
};

struct RoleSetting {
  std::optional<NamedToken> named;  // nothing: null
  bool is_said = false;             // by a file; else the default of the class
  bool is_empty = false;            // a token of no characters: not null, and never found
};

struct TokenizerSettings {
  std::array<RoleSetting, kRoleCount> roles;
  std::vector<NamedToken> extra;    // additional_special_tokens and extra_special_tokens
  std::vector<AddedToken> decoder;  // with ids: added_tokens_decoder, or what older files have instead
  bool has_table = false;           // the decoder has flags of each token, which win over those of roles
  bool has_empty_token = false;     // in the table: a token of the library that counts and is never found
  Json config = JsonObject{};       // tokenizer_config.json, as the older special_tokens_map.json changes it
  std::string where;                // the file of `config`

  const Json* find(std::string_view key) const { return config.find(key); }
  // Python's truth value; null is false.
  bool is_truthy(std::string_view key, bool fallback) const;
};

// Every file may be missing. `json_tokens` gives those of a tokenizer.json beside them, where they are needed. Throws
// kTokenizerFile for wrong shapes, kUnsupported for settings that change what is computed, kJson, kTooLarge.
TokenizerSettings read_tokenizer_settings(const std::string& folder, TokenizerClass of_class,
                                          const std::function<std::vector<AddedToken>()>& json_tokens);

// model_max_length: the longest input in tokens; nothing where there is no limit. Warns about a value that is not a
// length.
std::optional<size_t> max_length_of(const TokenizerSettings& settings);

// A model_max_length above the usual 512 and up to this is how long the model reads; a larger one means no limit.
constexpr size_t kMostStatedTokens = 32768;
bool is_stated_length(size_t tokens);

// The folder's limits on the length of texts, before anything is loaded.
struct TextLimits {
  std::optional<size_t> max_tokens;  // model_max_length, or the length of a table of absolute positions
  bool is_stated = false;            // max_tokens is a model_max_length
  bool cuts_left = false;            // truncation_side
  std::string where;                 // where max_tokens comes from
  std::string too_small;             // a model_max_length that leaves no room for a text, for a message

  // What takes the place of a default of `usual` tokens: a lower limit, or a length that the folder states.
  std::optional<size_t> length_for(size_t usual) const;
};
// Throws kJson, kTooLarge. Values that make no sense are left to the loader of the folder.
TextLimits read_text_limits(const std::string& folder);

}  // namespace deberta
