// The tokenizer as users see it: cuts at added tokens, hands the rest to the model, keeps offsets, adds the template,
// truncates, and goes back from ids to text. The kinds of model are behind text_model.h.
#include "deberta/tokenizer.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <utility>

#include "base/json.h"
#include "base/utf8.h"
#include "deberta/error.h"
#include "text/added_tokens.h"
#include "text/encoding.h"
#include "text/load_tokenizer.h"
#include "text/special_tokens.h"
#include "text/text_model.h"
#include "text/text_position.h"
#include "text/unicode/lower_case.h"
#include "text/unicode/unicode.h"

namespace deberta {
namespace {

// How many tokens of each text stay: the longer one loses first, the second when both are equal. If both texts exceed
// half of an odd limit, the slow tokenizers leave the odd token to the first, the tokenizers library to the longer.
void keep_longest_first(size_t limit, bool is_fast, size_t& first, size_t& second) {
  if (first + second <= limit) return;
  const size_t half = limit / 2;
  if (first <= half) {
    second = limit - first;
  } else if (second <= half) {
    first = limit - second;
  } else {
    const bool is_first_larger = !is_fast || first > second;
    first = is_first_larger ? limit - half : half;
    second = limit - first;
  }
}

void keep_tokens(PairCut cut, size_t limit, bool is_fast, size_t& first, size_t& second) {
  if (cut == PairCut::kLongestFirst) return keep_longest_first(limit, is_fast, first, second);
  if (second > limit) {
    throw Error(ErrorCode::kTextTooLong, {{.where = "second text",
                                           .message = fmt::format("expected at most {} tokens, got {}", limit, second),
                                           .argument = "max_tokens",
                                           .limit = limit,
                                           .remedies = {{"it is not cut, raise {}", "max_tokens"}}}});
  }
  first = std::min(first, limit - second);
}

}  // namespace

struct __attribute__((visibility("hidden"))) Tokenizer::State {
  explicit State(LoadedTokenizer loaded) : State(loaded, loaded.size()) {}
  State(LoadedTokenizer& loaded, size_t size_of_all)
      : model(std::move(loaded.model)),
        config(std::move(loaded.config)),
        around(loaded.around),
        is_fast(loaded.is_fast),
        added(config.added, is_fast ? StripRule::kUnicode : StripRule::kPython),
        has_ordinary(std::ranges::any_of(added.tokens(), std::logical_not(), &AddedToken::is_special)),
        size(size_of_all) {}

  Tokens tokenize(std::string_view text, const EncodeOptions& options) const;
  MappedText change_text(std::string_view text, bool adds_space, bool keeps_tokens) const;
  void add_parts(std::string_view text, const SplitOptions& options, Tokens& out) const;
  void add_plain(std::string_view text, TextPart part, const SplitOptions& options, Tokens& out) const;
  void add_pieces(std::string_view text, TextPart part, const SplitOptions& options, Tokens& out) const;
  void append(std::string_view text, const Tokens& tokens, size_t keep, Truncate side, int32_t type_id,
              Encoding& out) const;
  void check_id(int32_t id) const;
  bool is_special(int32_t id) const;
  bool is_piece(int32_t id) const { return id >= 0 && static_cast<size_t>(id) < model->size(); }

  std::unique_ptr<const TextModel> model;
  TokenizerConfig config;
  TokenTemplate around;
  bool is_fast = false;  // the tokenizers library's ids
  SpecialTokens added;
  bool has_ordinary = false;  // added tokens that are not special
  size_t size = 0;            // ids
};

// ---- text to tokens

void check_normalized(size_t bytes, const Tokens& before, const SplitOptions& options) {
  if (bytes <= options.max_bytes - std::min(options.max_bytes, before.ids.size())) return;
  throw Error(
      ErrorCode::kTextTooLong,
      {{.where = "text",
        .message = fmt::format("expected at most {} bytes once it is normalized, got {}", options.max_bytes, bytes),
        .remedies = {{"split the text"}}}});
}

std::vector<TextPart> cut_at_tokens(const SpecialTokens& tokens, std::string_view text, const SplitOptions& options) {
  const bool finds_any = options.parse_special || options.parsed_id >= 0 || options.finds_added;
  if (!finds_any || tokens.tokens().empty()) return {{0, text.size()}};
  const std::vector<TextPart> parts = tokens.split(text);
  if (options.parse_special) return parts;
  return keep_tokens(parts, [&](int32_t id) {
    return id == options.parsed_id || (options.finds_added && !tokens.find(id)->is_special);
  });
}

// With split_by_punct each punctuation mark, and each stretch between them, goes to the model alone.
void Tokenizer::State::add_plain(std::string_view text, TextPart part, const SplitOptions& options, Tokens& out) const {
  if (!config.split_by_punct) return model->split(text, part, options, out);
  size_t begin = part.begin;
  for (size_t at = part.begin; at < part.end;) {
    const CodePoint point = decode_utf8(text, at);
    const size_t end = at + point.size_bytes;
    if (is_punctuation(point.value)) {
      if (begin < at) model->split(text, {begin, at}, options, out);
      model->split(text, {at, end}, options, out);
      begin = end;
    }
    at = end;
  }
  if (begin < part.end) model->split(text, {begin, part.end}, options, out);
}

void Tokenizer::State::add_pieces(std::string_view text, TextPart part, const SplitOptions& options,
                                  Tokens& out) const {
  const size_t before = out.ids.size();
  add_plain(text, part, options, out);
  if (config.renamed.empty()) return;
  for (size_t i = before; i < out.ids.size(); ++i) {
    if (const auto entry = config.renamed.find(out.ids[i]); entry != config.renamed.end()) out.ids[i] = entry->second;
  }
}

void Tokenizer::State::add_parts(std::string_view text, const SplitOptions& options, Tokens& out) const {
  for (const TextPart& part : cut_at_tokens(added, text, options)) {
    if (part.id < 0) {
      add_pieces(text, part, options, out);
      continue;
    }
    out.ids.push_back(part.id);
    out.bytes.push_back({static_cast<uint32_t>(part.begin), static_cast<uint32_t>(part.end)});
  }
}

MappedText Tokenizer::State::change_text(std::string_view text, bool adds_space, bool keeps_tokens) const {
  MappedText changed = config.do_lower_case ? to_lower_text(text, keeps_tokens ? &added : nullptr) : to_mapped(text);
  if (!adds_space) return changed;
  changed.text.insert(0, 1, ' ');
  changed.sources.insert(changed.sources.begin(), Offset{0, 0});
  return changed;
}

Tokens Tokenizer::State::tokenize(std::string_view text, const EncodeOptions& options) const {
  if (text.size() > options.max_text_bytes) {
    throw Error(ErrorCode::kTextTooLong,
                {{.where = "text",
                  .message = fmt::format("expected at most {} bytes, got {}", options.max_text_bytes, text.size()),
                  .argument = "max_text_bytes",
                  .limit = options.max_text_bytes,
                  .remedies = {{"split the text"}, {"raise {}", "max_text_bytes"}}}});
  }
  // The slow byte-level tokenizer puts its space before the text, the fast one before each part of it.
  const int32_t parsed_id = options.parse_mask && !options.parse_special ? config.special.mask : -1;
  const bool finds_added = options.parse_added && has_ordinary;
  const SplitOptions split{options.parse_special,
                           parsed_id,
                           finds_added,
                           options.spm_ties,
                           config.add_prefix_space && is_fast,
                           options.max_text_bytes + options.max_text_bytes / 2};
  const bool adds_space =
      config.add_prefix_space && !is_fast && !text.empty() && !is_white_space(decode_utf8(text, 0).value);
  Tokens tokens;
  if (config.do_lower_case || adds_space) {
    const MappedText changed = change_text(text, adds_space, options.parse_special || parsed_id >= 0 || finds_added);
    add_parts(changed.text, split, tokens);
    for (Offset& offset : tokens.bytes) offset = changed.source_of(offset, text.size());
  } else {
    add_parts(text, split, tokens);
  }
  const auto unknown = std::find(tokens.ids.begin(), tokens.ids.end(), kUnknownToken);
  if (unknown != tokens.ids.end() && config.special.unk < 0)
    throw Error(ErrorCode::kTokenizerFile, "text", "expected an unk_token for text without a piece, got null");
  std::replace(unknown, tokens.ids.end(), kUnknownToken, config.special.unk);
  return tokens;
}

// ---- tokens to an encoding

void Tokenizer::State::append(std::string_view text, const Tokens& tokens, size_t keep, Truncate side, int32_t type_id,
                              Encoding& out) const {
  const size_t cut = tokens.ids.size() - keep;
  const auto first = static_cast<ptrdiff_t>(side == Truncate::kLeft ? cut : 0);
  const ptrdiff_t last = first + static_cast<ptrdiff_t>(keep);
  const size_t before = out.size();
  const auto copy = [&](const auto& from, auto& to) { to.insert(to.end(), from.begin() + first, from.begin() + last); };
  copy(tokens.ids, out.ids);
  copy(tokens.bytes, out.bytes);
  out.type_ids.resize(before + keep, type_id);
  out.is_special.resize(before + keep, 0);
  out.chars.resize(before + keep);
  out.words.resize(before + keep);
  TextPosition position(text);
  for (size_t i = 0; i < keep; ++i) {
    const Offset bytes = tokens.bytes[static_cast<size_t>(first) + i];
    position.go_to(bytes.begin);
    const uint32_t chars = position.code_points();
    out.chars[before + i] = {chars, chars + count_points(text, bytes.begin, bytes.end)};
    out.words[before + i] = position.word();
  }
  out.cut_tokens += cut;
}

namespace {

// How many tokens of all texts together may stay.
size_t room_for_text(const EncodeOptions& options, size_t template_tokens) {
  if (options.truncate == Truncate::kNone) return SIZE_MAX / 2;
  const size_t taken = options.add_special_tokens ? template_tokens : 0;
  if (options.max_tokens < taken) {
    throw Error(
        ErrorCode::kTextTooLong,
        {{.message = fmt::format("expected at least {} for the special tokens, got {}", taken, options.max_tokens),
          .argument = "max_tokens",
          .limit = taken}});
  }
  return options.max_tokens - taken;
}

void check_count(size_t tokens, const EncodeOptions& options) {
  if (tokens <= options.most_tokens) return;
  throw Error(ErrorCode::kTextTooLong,
              {{.where = "text",
                .message = fmt::format("expected at most {} tokens, got {}", options.most_tokens, tokens),
                .argument = "most_tokens",
                .limit = options.most_tokens,
                .remedies = {{"split the text"}}}});
}

void reserve(Encoding& encoding, size_t tokens) {
  encoding.ids.reserve(tokens);
  encoding.type_ids.reserve(tokens);
  encoding.chars.reserve(tokens);
  encoding.bytes.reserve(tokens);
  encoding.words.reserve(tokens);
  encoding.is_special.reserve(tokens);
}

}  // namespace

Encoding Tokenizer::encode(std::string_view text, const EncodeOptions& options) const {
  const Tokens tokens = state_->tokenize(text, options);
  const size_t keep = std::min(tokens.ids.size(), room_for_text(options, 2));
  check_count(keep, options);
  Encoding out;
  reserve(out, keep + 2);
  if (options.add_special_tokens) append_special(state_->around.cls, 0, out);
  state_->append(text, tokens, keep, options.truncate, 0, out);
  if (options.add_special_tokens) append_special(state_->around.sep, 0, out);
  return out;
}

Encoding Tokenizer::encode_pair(std::string_view first, std::string_view second, const EncodeOptions& options) const {
  const Tokens first_tokens = state_->tokenize(first, options);
  Tokens second_tokens = state_->tokenize(second, options);
  const size_t second_cut = second_tokens.ids.size() - std::min(second_tokens.ids.size(), options.max_second_tokens);
  second_tokens.ids.resize(second_tokens.ids.size() - second_cut);
  second_tokens.bytes.resize(second_tokens.ids.size());
  size_t keep_first = first_tokens.ids.size();
  size_t keep_second = second_tokens.ids.size();
  const TokenTemplate& around = state_->around;
  const size_t separators = around.doubles_separator ? 2 : 1;
  keep_tokens(options.pair_cut, room_for_text(options, separators + 2), state_->is_fast, keep_first, keep_second);
  check_count(keep_first + keep_second, options);
  Encoding out;
  reserve(out, keep_first + keep_second + separators + 2);
  if (options.add_special_tokens) append_special(around.cls, 0, out);
  state_->append(first, first_tokens, keep_first, options.truncate, 0, out);
  for (size_t i = 0; options.add_special_tokens && i < separators; ++i) append_special(around.sep, 0, out);
  out.second_begin = out.size();
  state_->append(second, second_tokens, keep_second, options.truncate, around.second_type, out);
  out.cut_tokens += second_cut;
  if (options.add_special_tokens) append_special(around.sep, around.second_type, out);
  return out;
}

// ---- ids to text

void Tokenizer::State::check_id(int32_t id) const {
  if (id < 0 || static_cast<size_t>(id) >= size) {
    throw Error(ErrorCode::kTokenId, "token id", fmt::format("expected 0..{}, got {}", size - 1, id));
  }
}

bool Tokenizer::State::is_special(int32_t id) const {
  if (const AddedToken* token = added.find(id)) return token->is_special;
  return is_piece(id) && model->is_special(id);
}

std::string Tokenizer::decode(std::span<const int32_t> ids, bool skip_special) const {
  std::vector<DecodeStep> steps;
  for (const int32_t id : ids) {
    state_->check_id(id);
    const bool is_special = state_->is_special(id);
    if (is_special && skip_special) continue;
    const bool is_running_text = !is_special && state_->added.find(id) == nullptr && state_->is_piece(id);
    steps.push_back({id, is_running_text, is_running_text ? std::string_view() : piece(id)});
  }
  return state_->model->to_text(steps);
}

// ---- the vocabulary

Tokenizer Tokenizer::load(const std::string& folder, TokenizerKind kind) {
  return Tokenizer(new State(load_tokenizer(folder, kind)));
}

Tokenizer Tokenizer::load(const std::string& folder, TokenizerKind kind, std::span<const std::string> added_tokens) {
  LoadedTokenizer loaded = load_tokenizer(folder, kind);
  const std::vector<AddedToken> added = add_tokens(added_tokens, folder, loaded);
  Tokenizer tokenizer(new State(std::move(loaded)));
  for (const AddedToken& token : added) {
    const std::vector<int32_t> ids = tokenizer.encode(token.content, {.add_special_tokens = false}).ids;
    if (ids != std::vector<int32_t>{token.id})
      refuse_added_token(
          fmt::format("expected tokens that the tokenizer of {} finds in a text, got {}, which it splits into {} "
                      "tokens; with do_lower_case, a token must not have capitals",
                      folder, quote_json(token.content), ids.size()));
  }
  return tokenizer;
}

std::optional<size_t> Tokenizer::max_length() const {
  return state_->config.max_length;
}
bool Tokenizer::has_plain_pairs() const {
  return !state_->around.doubles_separator && state_->around.second_type == 1;
}

Tokenizer::Tokenizer(const State* state) : state_(state) {}
Tokenizer::~Tokenizer() {
  delete state_;
}
Tokenizer::Tokenizer(Tokenizer&& other) noexcept : state_(std::exchange(other.state_, nullptr)) {}
Tokenizer& Tokenizer::operator=(Tokenizer&& other) noexcept {
  std::swap(state_, other.state_);
  return *this;
}

size_t Tokenizer::size() const {
  return state_->size;
}
const SpecialIds& Tokenizer::special() const {
  return state_->config.special;
}
bool Tokenizer::is_special(int32_t id) const {
  return state_->is_special(id);
}
bool Tokenizer::is_added(int32_t id) const {
  return state_->added.find(id) != nullptr;
}

std::string_view Tokenizer::piece(int32_t id) const {
  state_->check_id(id);
  if (const AddedToken* token = state_->added.find(id)) return token->content;
  return state_->is_piece(id) ? state_->model->piece(id) : std::string_view();
}

std::optional<int32_t> Tokenizer::id_of(std::string_view piece) const {
  if (const AddedToken* token = state_->added.find(piece)) return token->id;
  return state_->model->id_of(piece);
}

}  // namespace deberta
