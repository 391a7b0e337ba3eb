// Replays the order in which the slow and the fast tokenizer add tokens, since that order decides their ids.
#include "text/tokenizer_config.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "deberta/error.h"
#include "text/hf_json/json_fields.h"

namespace deberta {
namespace {

// ---- the slow tokenizer

class SlowTokens {
 public:
  SlowTokens(const TokenizerSettings& settings, const TextModel& model, const std::string& folder)
      : settings_(settings), model_(model), folder_(folder) {}

  void make(TokenizerConfig& config) {
    outside_model_ = settings_.has_empty_token ? 1 : 0;
    for (const AddedToken& token : settings_.decoder) insert(token);
    for (size_t i = 0; i < kRoleCount; ++i) add_role(i);
    for (const NamedToken& named : settings_.extra) {
      if (seen_.insert(named.token.content).second) add(named.token, named.is_object && !settings_.has_table);
    }
    std::unordered_map<std::string, int32_t> ids = gone_;
    for (const AddedToken& token : added_) ids.insert_or_assign(token.content, token.id);
    for (const auto& [content, id] : ids) {
      if (const auto piece = model_.id_of(content); piece && *piece != id) config.renamed.emplace(*piece, id);
    }
    config.added = std::move(added_);
  }

 private:
  void insert(AddedToken token) {
    if (!ids_.insert(token.id).second)
      refuse_tokenizer_file(folder_, fmt::format("{}: id {} appears twice", quote_json(token.content), token.id));
    if (!model_.id_of(token.content)) ++outside_model_;
    by_content_.emplace(token.content, added_.size());
    added_.push_back(std::move(token));
  }

  // The byte-level tokenizer of transformers makes an object of a plain string, except where its table replaces it. Its
  // mask strips the space before it, since that space is part of a word there.
  void add_role(size_t i) {
    const RoleSetting& role = settings_.roles[i];
    if (!role.named || !seen_.insert(role.named->token.content).second) return;
    AddedToken token = role.named->token;
    const bool is_bytes = model_.kind() == ModelKind::kByteBpe;
    if (is_bytes && i == kMask && !role.named->is_object) token.strips_left = true;
    if (i == kUnk && !role.named->is_object) token.is_normalized = true;
    const bool is_replaced = settings_.has_table && (role.is_said || !is_bytes);
    add(std::move(token), (role.named->is_object || is_bytes) && !is_replaced);
  }

  // Special tokens that no file gave an id: they get that of the piece with this text, else one after all others.
  void add(AddedToken token, bool wins) {
    if (const auto known = by_content_.find(token.content); known != by_content_.end()) {
      AddedToken& old = added_[known->second];
      if (wins) {
        token.id = old.id;
        old = token;
      }
      old.is_special = true;
      return;
    }
    if (gone_.contains(token.content) && !wins) return;
    const auto piece_id = model_.id_of(token.content);
    token.id = piece_id ? *piece_id : static_cast<int32_t>(model_.size() + outside_model_);
    if (ids_.contains(token.id)) return replace(std::move(token));
    insert(std::move(token));
  }

  // A table gave this id to another text, which is then not a token.
  void replace(AddedToken token) {
    if (!model_.id_of(token.content)) ++outside_model_;
    AddedToken& old =
        *std::find_if(added_.begin(), added_.end(), [&](const AddedToken& t) { return t.id == token.id; });
    gone_.emplace(old.content, old.id);
    by_content_.erase(old.content);
    by_content_.emplace(token.content, static_cast<size_t>(&old - added_.data()));
    old = std::move(token);
  }

  const TokenizerSettings& settings_;
  const TextModel& model_;
  const std::string& folder_;
  std::vector<AddedToken> added_;
  std::unordered_map<std::string, size_t> by_content_;  // positions in added_
  std::unordered_set<int32_t> ids_;
  std::unordered_map<std::string, int32_t> gone_;  // tokens whose id another one took
  std::unordered_set<std::string> seen_;           // texts of roles: the first role with a text counts
  size_t outside_model_ = 0;                       // added tokens that are not pieces
};

// ---- the fast tokenizer

bool is_same(const AddedToken& a, const AddedToken& b) {
  return a.content == b.content && a.strips_left == b.strips_left && a.strips_right == b.strips_right &&
         a.is_single_word == b.is_single_word && a.is_normalized == b.is_normalized && a.is_special == b.is_special;
}

bool has_content(const std::vector<AddedToken>& tokens, const std::string& content) {
  return std::any_of(tokens.begin(), tokens.end(), [&](const AddedToken& token) { return token.content == content; });
}

bool has_same(const std::vector<AddedToken>& tokens, const AddedToken& wanted) {
  return std::any_of(tokens.begin(), tokens.end(), [&](const AddedToken& token) { return is_same(token, wanted); });
}

// What PreTrainedTokenizerFast adds to the tokens of its file or conversion, and what the library makes of it.
class FastTokens {
 public:
  FastTokens(const TokenizerSettings& settings, const TextModel& model, std::vector<AddedToken> own)
      : model_(model), decoder_(settings.decoder), tokens_(std::move(own)) {
    for (const RoleSetting& role : settings.roles) {
      if (role.named) named_.push_back(*role.named);
    }
    named_.insert(named_.end(), settings.extra.begin(), settings.extra.end());
  }

  // A tokenizer made from the slow one's files keeps the roles as the slow one made them.
  void convert_roles(const TokenizerSettings& settings) {
    size_t at = 0;
    for (size_t i = 0; i < kRoleCount; ++i) {
      if (!settings.roles[i].named) continue;
      NamedToken& named = named_[at++];
      if (named.is_object) continue;
      const bool is_bytes = model_.kind() == ModelKind::kByteBpe;
      if (!is_bytes && (i != kUnk || model_.kind() != ModelKind::kUnigram)) continue;
      named.is_object = true;
      named.token.is_normalized = !is_bytes || i == kMask;
      named.token.strips_left = is_bytes && i == kMask;
    }
  }

  std::vector<AddedToken> make() {
    std::sort(decoder_.begin(), decoder_.end(), [](const AddedToken& a, const AddedToken& b) { return a.id < b.id; });
    std::vector<AddedToken> wanted;
    for (const AddedToken& token : decoder_) {
      if (!has_same(tokens_, token)) wanted.push_back(token);
    }
    const std::vector<AddedToken> of_table = wanted;
    std::unordered_set<std::string> seen;
    for (const NamedToken& named : named_) {
      if (!seen.insert(named.token.content).second) continue;
      const bool is_there =
          named.is_object ? has_same(of_table, named.token)
                          : has_content(tokens_, named.token.content) || has_content(of_table, named.token.content);
      if (!is_there) wanted.push_back(named.token);
    }
    for (AddedToken& token : wanted) {
      token.is_special = token.is_special || seen.contains(token.content);
      add(std::move(token));
    }
    return std::move(tokens_);
  }

 private:
  // A known token gets new flags, a piece keeps its own id; the others follow, whatever id a file gives them.
  void add(AddedToken token) {
    if (has_same(tokens_, token)) return;
    const auto known = std::find_if(tokens_.begin(), tokens_.end(),
                                    [&](const AddedToken& old) { return old.content == token.content; });
    const auto piece = model_.id_of(token.content);
    if (known != tokens_.end()) {
      token.id = known->id;
      // A special token is looked for where it was before; others are found in either text.
      token.is_of_model = known->is_of_model && (known->is_special || token.is_normalized);
      *known = std::move(token);
      return;
    }
    token.is_of_model = token.is_normalized;
    token.id = piece.value_or(next_id());
    tokens_.push_back(std::move(token));
  }

  int32_t next_id() const {
    auto id = static_cast<int32_t>(model_.size());
    for (const AddedToken& token : tokens_) id = std::max(id, token.id + 1);
    return id;
  }

  const TextModel& model_;
  std::vector<AddedToken> decoder_;
  std::vector<AddedToken> tokens_;
  std::vector<NamedToken> named_;
};

// ---- both

class SpecialFinder {
 public:
  SpecialFinder(const TokenizerSettings& settings, const TextModel& model, const std::vector<AddedToken>& added,
                const std::string& folder)
      : settings_(settings), model_(model), added_(added), folder_(folder) {}

  std::optional<int32_t> id_of(const std::string& content) const {
    for (const AddedToken& token : added_) {
      if (token.content == content) return token.id;
    }
    return model_.id_of(content);
  }

  int32_t id_of_role(RoleIndex role, bool is_needed) const {
    const auto& named = settings_.roles[role].named;
    if (const auto id = named ? id_of(named->token.content) : std::nullopt) return *id;
    if (is_needed && settings_.roles[role].is_empty) return find().unk;  // as any text that is not a token
    if (is_needed) refuse_tokenizer_file(folder_, fmt::format("{}: expected a token, got null", kRoleKeys[role]));
    return -1;
  }

  // Without an unknown token a text that needs one is refused (tokenizer.cpp).
  SpecialIds find() const {
    SpecialIds ids;
    ids.mask = id_of_role(kMask, false);
    ids.pad = std::max(0, id_of_role(kPad, false));
    ids.unk = model_.unk_id() != kUnknownToken ? model_.unk_id() : id_of_role(kUnk, false);
    return ids;
  }

 private:
  const TokenizerSettings& settings_;
  const TextModel& model_;
  const std::vector<AddedToken>& added_;
  const std::string& folder_;
};

// The fast tokenizer accepts the settings' switch only as true or false; otherwise its file decides.
bool fast_prefix_space(const TokenizerSettings& settings, const TokenizerFiles& files, const FastParts& parts) {
  const bool of_file = parts.adds_prefix_space;
  const Json* value = settings.find("add_prefix_space");
  if (!parts.may_change_prefix || (files.of_class == TokenizerClass::kUnknown && value == nullptr)) return of_file;
  if (value == nullptr) return false;
  if (value->is_bool()) return value->as_bool();
  if (files.source == TokenizerSource::kJson) return of_file;
  refuse_tokenizer_file(settings.where,
                        fmt::format("add_prefix_space: expected true or false, got {}", value->describe()));
}

}  // namespace

TokenizerConfig make_slow_config(const TokenizerSettings& settings, const TextModel& model, const std::string& folder) {
  TokenizerConfig config;
  SlowTokens(settings, model, folder).make(config);
  const SpecialFinder finder(settings, model, config.added, folder);
  config.special = finder.find();
  config.special.cls = finder.id_of_role(kCls, true);
  config.special.sep = finder.id_of_role(kSep, true);
  // The byte-level tokenizer of transformers knows neither of the first two; the others do not know the third.
  const bool is_bytes = model.kind() == ModelKind::kByteBpe;
  const bool is_bert = model.kind() == ModelKind::kWordPiece;
  config.do_lower_case = !is_bytes && settings.is_truthy("do_lower_case", is_bert) &&
                         (!is_bert || settings.is_truthy("do_basic_tokenize", true));
  config.split_by_punct = model.kind() == ModelKind::kUnigram && settings.is_truthy("split_by_punct", false);
  config.add_prefix_space = is_bytes && settings.is_truthy("add_prefix_space", false);
  config.max_length = max_length_of(settings);
  return config;
}

TokenizerConfig make_fast_config(const TokenizerSettings& settings, const TokenizerFiles& files, const TextModel& model,
                                 const FastParts& parts, const std::string& folder) {
  TokenizerConfig config;
  FastTokens tokens(settings, model, parts.tokens);
  if (files.source != TokenizerSource::kJson) tokens.convert_roles(settings);
  config.added = tokens.make();
  const SpecialFinder finder(settings, model, config.added, folder);
  config.special = finder.find();
  if (files.source == TokenizerSource::kJson) {
    config.special.cls = parts.around.cls;
    config.special.sep = parts.around.sep;
  } else if (model.kind() == ModelKind::kWordPiece) {
    config.special.cls = finder.id_of_role(kCls, true);
    config.special.sep = finder.id_of_role(kSep, true);
  } else {  // whatever the roles are called
    config.special.cls = finder.id_of("[CLS]").value_or(config.special.unk);
    config.special.sep = finder.id_of("[SEP]").value_or(config.special.unk);
  }
  if (model.kind() == ModelKind::kByteBpe) config.add_prefix_space = fast_prefix_space(settings, files, parts);
  config.max_length = max_length_of(settings);
  return config;
}

}  // namespace deberta
