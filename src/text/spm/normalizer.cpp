// Applies the charsmap rule by rule and keeps runs of source positions; plain ASCII takes a short cut.
#include "text/spm/normalizer.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/utf8.h"
#include "deberta/error.h"

namespace deberta {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";
constexpr size_t kMaxBytes = size_t{1} << 29;  // of a text and of its normalised form: positions have 32 bits

Trie make_user_symbols(const SpmModel& model) {
  std::vector<TrieEntry> entries;
  for (const SpmPiece& piece : model.pieces) {
    if (piece.type == PieceType::kUserDefined) entries.push_back({piece.text, 0});
  }
  return Trie(entries);
}

[[noreturn]] void refuse_long(size_t size_bytes) {
  throw Error(ErrorCode::kTextTooLong, "text",
              fmt::format("expected at most {} bytes, got {}; split the text", kMaxBytes, size_bytes));
}

}  // namespace

void append_inner_text(std::string_view piece, bool escape_whitespaces, std::string& text) {
  if (!escape_whitespaces) {
    text += piece;
    return;
  }
  for (size_t at = 0;;) {
    const size_t symbol = piece.find(kSpaceSymbol, at);
    text += piece.substr(at, symbol - at);
    if (symbol == std::string_view::npos) return;
    text += ' ';
    at = symbol + kSpaceSymbol.size();
  }
}

std::string to_inner_text(std::string_view piece, bool escape_whitespaces) {
  std::string inner;
  append_inner_text(piece, escape_whitespaces, inner);
  return inner;
}

// ---- NormalizedText

void NormalizedText::add(std::string_view part, uint32_t source_begin, uint32_t source_size, Kind kind) {
  const auto begin = static_cast<uint32_t>(text_.size());
  const bool goes_on = kind == Kind::kCopy && !runs_.empty() && runs_.back().kind == Kind::kCopy &&
                       runs_.back().source_begin + (begin - runs_.back().begin) == source_begin;
  if (!goes_on) runs_.push_back({begin, source_begin, source_size, kind});
  text_ += part;
}

void NormalizedText::cut(size_t size_bytes) {
  text_.resize(size_bytes);
  while (!runs_.empty() && runs_.back().begin >= size_bytes) runs_.pop_back();
}

uint32_t NormalizedText::source_begin_of(size_t run, uint32_t position) const {
  const Run& r = runs_[run];
  return r.kind == Kind::kCopy ? r.source_begin + (position - r.begin) : r.source_begin;
}

uint32_t NormalizedText::source_end_of(size_t run, uint32_t position) const {
  const Run& r = runs_[run];
  return r.kind == Kind::kCopy ? r.source_begin + (position - r.begin) + 1 : r.source_begin + r.source_size;
}

// A space made together with other text (a spacing accent gives a space and a mark) is part of that text.
bool NormalizedText::is_space(size_t run, uint32_t position) const {
  return text_[position] == ' ' && runs_[run].kind != Kind::kReplaced;
}

Offset NormalizedText::Cursor::search(uint32_t begin, uint32_t end) {
  while (normalized_.end_of(run_) <= begin) ++run_;
  const Run& r = normalized_.runs_[run_];
  if (r.kind == Kind::kCopy) {
    copy_begin_ = r.begin;
    copy_end_ = normalized_.end_of(run_);
    copy_shift_ = r.source_begin - r.begin;
  }
  size_t run = run_;
  const auto advance = [&](uint32_t position) {
    while (position < normalized_.text_.size() && normalized_.end_of(run) <= position) ++run;
  };
  uint32_t first = begin;
  while (first < end && normalized_.is_space(run, first)) advance(++first);
  if (first == normalized_.text_.size()) {
    const uint32_t after = normalized_.source_end_of(run, first - 1);
    return {after, after};
  }
  const uint32_t source_begin = normalized_.source_begin_of(run, first);
  if (first == end) return {source_begin, source_begin};
  advance(end - 1);
  return {source_begin, normalized_.source_end_of(run, end - 1)};
}

// ---- Normalizer

Normalizer::Normalizer(const SpmModel& model, const std::string& where)
    : charsmap_(model.charsmap.empty() ? Charsmap() : Charsmap(model.charsmap, where)),
      user_symbols_(make_user_symbols(model)),
      add_dummy_prefix_(model.add_dummy_prefix),
      remove_extra_whitespaces_(model.remove_extra_whitespaces),
      escape_whitespaces_(model.escape_whitespaces) {
  for (size_t byte = 0; byte < 128; ++byte) is_plain_[byte] = charsmap_.is_plain(static_cast<uint8_t>(byte));
  for (const SpmPiece& piece : model.pieces) {
    if (piece.type == PieceType::kUserDefined) is_plain_[static_cast<uint8_t>(piece.text.front())] = false;
  }
}

// What the text starts with and what that becomes.
Normalizer::Step Normalizer::step(std::string_view text) const {
  if (!user_symbols_.is_empty()) {
    const size_t size_bytes = user_symbols_.longest_prefix(text).size_bytes;
    if (size_bytes > 0) return {text.substr(0, size_bytes), size_bytes, true};
  }
  const Charsmap::Match match = charsmap_.longest_prefix(text);
  if (match.size_bytes > 0) return {match.replacement, match.size_bytes, false};
  const CodePoint point = decode_utf8(text, 0);
  if (!point.is_valid) return {kReplacement, 1, false};
  return {text.substr(0, point.size_bytes), point.size_bytes, true};
}

size_t Normalizer::skip_spaces(std::string_view text) const {
  size_t position = 0;
  while (position < text.size()) {
    const Step next = step(text.substr(position));
    if (next.text != " ") break;
    position += next.size_bytes;
  }
  return position;
}

// Bytes that no rule can touch: plain ASCII before ASCII, with single spaces between (they are copied too).
size_t Normalizer::plain_prefix(std::string_view text, bool is_after_space) const {
  size_t size = 0;
  while (size < text.size() && is_plain_[static_cast<uint8_t>(text[size])]) {
    const bool is_space = text[size] == ' ';
    if (is_space && is_after_space) break;
    is_after_space = is_space && remove_extra_whitespaces_;
    ++size;
  }
  // A rule may join the last one with what follows.
  if (size > 0 && size < text.size() && static_cast<uint8_t>(text[size]) >= 0x80) --size;
  return size;
}

void Normalizer::add_step(const Step& next, size_t position, bool& is_after_space, NormalizedText& out) const {
  std::string_view part = next.text;
  const bool is_one_space = part == " ";
  while (is_after_space && part.starts_with(' ')) part.remove_prefix(1);
  if (!part.empty()) {
    using Kind = NormalizedText::Kind;
    const auto begin = static_cast<uint32_t>(position);
    const auto size = static_cast<uint32_t>(next.size_bytes);
    if (escape_whitespaces_ && part.find(kSpaceSymbol) != std::string_view::npos) {
      out.add(to_inner_text(part, true), begin, size, Kind::kReplaced);
    } else if (next.is_copy && part.size() == next.size_bytes) {
      out.add(part, begin, size, Kind::kCopy);
    } else {
      out.add(part, begin, size, is_one_space ? Kind::kSpace : Kind::kReplaced);
    }
    is_after_space = part.ends_with(' ');
  }
  if (!remove_extra_whitespaces_) is_after_space = false;
}

NormalizedText Normalizer::normalize(std::string_view text) const {
  if (text.size() > kMaxBytes) refuse_long(text.size());
  NormalizedText out;
  size_t position = remove_extra_whitespaces_ ? skip_spaces(text) : 0;
  if (position == text.size()) return out;
  out.text_.reserve(text.size() - position + 1);
  if (add_dummy_prefix_) out.add(" ", static_cast<uint32_t>(position), 0, NormalizedText::Kind::kSpace);
  bool is_after_space = remove_extra_whitespaces_;
  while (position < text.size()) {
    const std::string_view rest = text.substr(position);
    if (const size_t size = plain_prefix(rest, is_after_space); size > 0) {
      out.add(rest.substr(0, size), static_cast<uint32_t>(position), 0, NormalizedText::Kind::kCopy);
      is_after_space = remove_extra_whitespaces_ && rest[size - 1] == ' ';
      position += size;
      continue;
    }
    const Step next = step(rest);
    add_step(next, position, is_after_space, out);
    position += next.size_bytes;
    if (out.text_.size() > kMaxBytes) refuse_long(out.text_.size());
  }
  if (remove_extra_whitespaces_) {
    size_t size = out.text_.size();
    while (size > 0 && out.text_[size - 1] == ' ') --size;
    out.cut(size);
  }
  return out;
}

}  // namespace deberta
