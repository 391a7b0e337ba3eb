// The tokenizer as users see it: cuts at added tokens, normalises and splits the rest, keeps offsets, adds the template,
// truncates, and goes back from ids to text.
#include "text/tokenizer.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "base/file.h"
#include "base/utf8.h"
#include "text/lower_case.h"
#include "text/normalizer.h"
#include "text/special_tokens.h"
#include "text/spm_model.h"
#include "text/tokenizer_config.h"
#include "text/unicode.h"
#include "text/unigram.h"

namespace deberta {
namespace {

// The tokens of one text before the template.
struct Tokens {
  std::vector<int32_t> ids;
  std::vector<Offset> bytes;
};

std::string find_model(const std::string& folder) {
  for (const char* name : {"/spm.model", "/spiece.model"}) {
    if (is_regular_file(folder + name)) return folder + name;
  }
  throw Error(ErrorCode::kFileNotFound, folder,
              "expected a tokenizer file, found none of spm.model, spiece.model; is this the folder of a model");
}

bool is_ascii_space(char c) { return c == ' ' || (c >= 0x09 && c <= 0x0D) || (c >= 0x1C && c <= 0x1F); }

// Counts code points and words on the way through a text; positions must not decrease.
class Counter {
 public:
  explicit Counter(std::string_view text) : text_(text) {}

  void go_to(size_t byte) {
    while (at_ < byte && at_ < text_.size()) {
      uint32_t size_bytes = 1;
      const bool is_space = is_space_at(at_, size_bytes);
      if (is_after_space_ && !is_space) ++words_;
      is_after_space_ = is_space;
      at_ += size_bytes;
      ++code_points_;
    }
  }
  uint32_t code_points() const { return code_points_; }
  // The word at this position; white space belongs to the word before it.
  int32_t word() const {
    uint32_t ignored = 0;
    const bool starts_one = is_after_space_ && at_ < text_.size() && !is_space_at(at_, ignored);
    return std::max(0, words_ + (starts_one ? 1 : 0) - 1);
  }

 private:
  bool is_space_at(size_t at, uint32_t& size_bytes) const {
    const char c = text_[at];
    if (static_cast<uint8_t>(c) < 0x80) return is_ascii_space(c);
    const CodePoint point = decode_utf8(text_, at);
    size_bytes = point.size_bytes;
    return is_white_space(point.value);
  }

  std::string_view text_;
  size_t at_ = 0;
  uint32_t code_points_ = 0;
  int32_t words_ = 0;
  bool is_after_space_ = true;
};

// Code points of text[begin, end): all bytes but the continuing ones.
uint32_t count_points(std::string_view text, size_t begin, size_t end) {
  uint32_t count = 0;
  for (size_t i = begin; i < end; ++i) count += (static_cast<uint8_t>(text[i]) & 0xC0) != 0x80;
  return count;
}

// How many tokens of each text stay: the longer one loses first, the second when both are equal.
void keep_longest_first(size_t limit, size_t& first, size_t& second) {
  if (first + second <= limit) return;
  const size_t half = limit / 2;
  if (first <= half) {
    second = limit - first;
  } else if (second <= half) {
    first = limit - second;
  } else {
    first = limit - half;
    second = half;
  }
}

}  // namespace

struct Tokenizer::State {
  State(SpmModel read, const std::string& folder, const std::string& path)
      : model(std::move(read)), normalizer(model, path), unigram(model), config(load_tokenizer_config(folder, model)), added(config.added) {
    model.charsmap = {};
    size = model.pieces.size();
    if (!added.tokens().empty()) size = std::max(size, static_cast<size_t>(added.tokens().back().id) + 1);
  }

  Tokens tokenize(std::string_view text, const EncodeOptions& options) const;
  void add_parts(std::string_view text, bool parse_special, Tokens& out) const;
  void add_plain(std::string_view text, TextPart part, Tokens& out) const;
  void add_model_pieces(std::string_view text, TextPart part, Tokens& out) const;
  void append(std::string_view text, const Tokens& tokens, size_t keep, Truncate side, int32_t type_id, Encoding& out) const;
  void append_special(int32_t id, int32_t type_id, Encoding& out) const;
  void check_id(int32_t id) const;
  bool is_special(int32_t id) const;
  const SpmPiece* piece(int32_t id) const {
    return static_cast<size_t>(id) < model.pieces.size() ? &model.pieces[static_cast<size_t>(id)] : nullptr;
  }

  SpmModel model;
  Normalizer normalizer;
  Unigram unigram;
  TokenizerConfig config;
  SpecialTokens added;
  size_t size = 0;  // ids
};

// ---- text to tokens

void Tokenizer::State::add_model_pieces(std::string_view text, TextPart part, Tokens& out) const {
  const NormalizedText normalized = normalizer.normalize(text.substr(part.begin, part.end - part.begin));
  NormalizedText::Cursor cursor(normalized);
  const auto shift = static_cast<uint32_t>(part.begin);
  const std::vector<UnigramToken> tokens = unigram.split(normalized.text());
  if (out.ids.empty()) {
    out.ids.reserve(tokens.size());
    out.bytes.reserve(tokens.size());
  }
  for (const UnigramToken& token : tokens) {
    const Offset source = cursor.source_of(token.begin, token.end);
    out.ids.push_back(token.id);
    out.bytes.push_back({source.begin + shift, source.end + shift});
  }
}

// With split_by_punct each punctuation mark, and each stretch between them, meets the model alone.
void Tokenizer::State::add_plain(std::string_view text, TextPart part, Tokens& out) const {
  if (!config.split_by_punct) return add_model_pieces(text, part, out);
  size_t begin = part.begin;
  for (size_t at = part.begin; at < part.end;) {
    const CodePoint point = decode_utf8(text, at);
    const size_t end = at + point.size_bytes;
    if (is_punctuation(point.value)) {
      if (begin < at) add_model_pieces(text, {begin, at}, out);
      add_model_pieces(text, {at, end}, out);
      begin = end;
    }
    at = end;
  }
  if (begin < part.end) add_model_pieces(text, {begin, part.end}, out);
}

void Tokenizer::State::add_parts(std::string_view text, bool parse_special, Tokens& out) const {
  if (!parse_special) return add_plain(text, {0, text.size()}, out);
  for (const TextPart& part : added.split(text)) {
    if (part.id < 0) {
      add_plain(text, part, out);
      continue;
    }
    out.ids.push_back(part.id);
    out.bytes.push_back({static_cast<uint32_t>(part.begin), static_cast<uint32_t>(part.end)});
  }
}

Tokens Tokenizer::State::tokenize(std::string_view text, const EncodeOptions& options) const {
  if (text.size() > options.max_text_bytes) {
    throw Error(ErrorCode::kTextTooLong, "text",
                fmt::format("expected at most {} bytes, got {}; split the text or raise --max-text-bytes", options.max_text_bytes, text.size()));
  }
  Tokens tokens;
  if (!config.do_lower_case) {
    add_parts(text, options.parse_special, tokens);
    return tokens;
  }
  const LowerText lower = to_lower_text(text, options.parse_special ? &added : nullptr);
  add_parts(lower.text, options.parse_special, tokens);
  for (Offset& offset : tokens.bytes) offset = lower.source_of(offset, text.size());
  return tokens;
}

// ---- tokens to an encoding

void Tokenizer::State::append(std::string_view text, const Tokens& tokens, size_t keep, Truncate side, int32_t type_id,
                              Encoding& out) const {
  const size_t cut = tokens.ids.size() - keep;
  const size_t first = side == Truncate::kLeft ? cut : 0;
  Counter counter(text);
  for (size_t i = first; i < first + keep; ++i) {
    const Offset bytes = tokens.bytes[i];
    counter.go_to(bytes.begin);
    const uint32_t chars = counter.code_points();
    out.ids.push_back(tokens.ids[i]);
    out.type_ids.push_back(type_id);
    out.bytes.push_back(bytes);
    out.chars.push_back({chars, chars + count_points(text, bytes.begin, bytes.end)});
    out.words.push_back(counter.word());
    out.is_special.push_back(0);
  }
  out.cut_tokens += cut;
}

void Tokenizer::State::append_special(int32_t id, int32_t type_id, Encoding& out) const {
  out.ids.push_back(id);
  out.type_ids.push_back(type_id);
  out.bytes.push_back({});
  out.chars.push_back({});
  out.words.push_back(-1);
  out.is_special.push_back(1);
}

namespace {

// Tokens that may stay, of all texts together.
size_t room_for_text(const EncodeOptions& options, size_t template_tokens) {
  if (options.truncate == Truncate::kNone) return SIZE_MAX / 2;
  const size_t taken = options.add_special_tokens ? template_tokens : 0;
  if (options.max_tokens < taken) {
    throw Error(ErrorCode::kTextTooLong, "--max-tokens",
                fmt::format("expected at least {} for the special tokens, got {}", taken, options.max_tokens));
  }
  return options.max_tokens - taken;
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
  Encoding out;
  reserve(out, keep + 2);
  if (options.add_special_tokens) state_->append_special(special().cls, 0, out);
  state_->append(text, tokens, keep, options.truncate, 0, out);
  if (options.add_special_tokens) state_->append_special(special().sep, 0, out);
  return out;
}

Encoding Tokenizer::encode_pair(std::string_view first, std::string_view second, const EncodeOptions& options) const {
  const Tokens first_tokens = state_->tokenize(first, options);
  const Tokens second_tokens = state_->tokenize(second, options);
  size_t keep_first = first_tokens.ids.size();
  size_t keep_second = second_tokens.ids.size();
  keep_longest_first(room_for_text(options, 3), keep_first, keep_second);
  Encoding out;
  reserve(out, keep_first + keep_second + 3);
  if (options.add_special_tokens) state_->append_special(special().cls, 0, out);
  state_->append(first, first_tokens, keep_first, options.truncate, 0, out);
  if (options.add_special_tokens) state_->append_special(special().sep, 0, out);
  state_->append(second, second_tokens, keep_second, options.truncate, 1, out);
  if (options.add_special_tokens) state_->append_special(special().sep, 1, out);
  return out;
}

// ---- ids to text

namespace {

// Collects pieces; a space in front of the text is not part of it.
class Writer {
 public:
  explicit Writer(const SpmModel& model) : model_(model) {}

  void add_byte(uint8_t byte) { bytes_ += static_cast<char>(byte); }
  void add_piece(std::string_view piece) {
    end_bytes();
    std::string text = to_inner_text(piece, model_.escape_whitespaces);
    if (text_.empty() && (model_.remove_extra_whitespaces || (model_.add_dummy_prefix && !is_dummy_gone_))) {
      const size_t first = model_.remove_extra_whitespaces ? text.find_first_not_of(' ') : text.starts_with(' ') ? 1 : 0;
      is_dummy_gone_ = is_dummy_gone_ || first > 0;
      text.erase(0, first);
    }
    text_ += text;
  }
  // A token that is no part of running text: set off by a space.
  void add_token(std::string_view content) {
    end_bytes();
    if (!text_.empty() && !text_.ends_with(' ')) text_ += ' ';
    text_ += content;
  }
  std::string take() {
    end_bytes();
    return std::move(text_);
  }

 private:
  void end_bytes() {
    text_ += replace_invalid_utf8(bytes_);
    bytes_.clear();
  }

  const SpmModel& model_;
  std::string text_;
  std::string bytes_;
  bool is_dummy_gone_ = false;
};

}  // namespace

void Tokenizer::State::check_id(int32_t id) const {
  if (id < 0 || static_cast<size_t>(id) >= size) {
    throw Error(ErrorCode::kTokenId, "token id", fmt::format("expected 0..{}, got {}", size - 1, id));
  }
}

bool Tokenizer::State::is_special(int32_t id) const {
  if (const AddedToken* token = added.find(id)) return token->is_special;
  const SpmPiece* found = id < 0 ? nullptr : piece(id);
  return found != nullptr && (found->type == PieceType::kControl || found->type == PieceType::kUnknown);
}

std::string Tokenizer::decode(std::span<const int32_t> ids, bool skip_special) const {
  Writer writer(state_->model);
  for (const int32_t id : ids) {
    state_->check_id(id);
    const bool is_special = state_->is_special(id);
    if (is_special && skip_special) continue;
    const SpmPiece* piece = state_->piece(id);
    if (is_special || state_->added.find(id) != nullptr || piece == nullptr) {
      writer.add_token(this->piece(id));
    } else if (piece->type == PieceType::kByte) {
      writer.add_byte(static_cast<uint8_t>(*parse_byte_piece(piece->text)));
    } else {
      writer.add_piece(piece->text);
    }
  }
  return writer.take();
}

// ---- the vocabulary

Tokenizer Tokenizer::load(const std::string& folder) {
  const std::string path = find_model(folder);
  return Tokenizer(std::make_unique<const State>(load_spm_model(path), folder, path));
}

Tokenizer::Tokenizer(std::unique_ptr<const State> state) : state_(std::move(state)) {}
Tokenizer::~Tokenizer() = default;
Tokenizer::Tokenizer(Tokenizer&&) noexcept = default;
Tokenizer& Tokenizer::operator=(Tokenizer&&) noexcept = default;

size_t Tokenizer::size() const { return state_->size; }
const SpecialIds& Tokenizer::special() const { return state_->config.special; }
bool Tokenizer::is_special(int32_t id) const { return state_->is_special(id); }

std::string_view Tokenizer::piece(int32_t id) const {
  state_->check_id(id);
  if (const AddedToken* token = state_->added.find(id)) return token->content;
  const SpmPiece* piece = state_->piece(id);
  return piece == nullptr ? std::string_view() : std::string_view(piece->text);
}

std::optional<int32_t> Tokenizer::id_of(std::string_view piece) const {
  if (const AddedToken* token = state_->added.find(piece)) return token->id;
  return state_->model.id_of(piece);
}

}  // namespace deberta
