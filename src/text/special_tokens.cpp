// A trie finds the longest token at each position; tokens then strip or absorb the white space beside them.
#include "text/special_tokens.h"

#include <algorithm>

#include "base/utf8.h"
#include "text/unicode/normal_form.h"
#include "text/unicode/unicode.h"

namespace deberta {
namespace {

bool is_stripped(char32_t point, StripRule rule) {
  return rule == StripRule::kPython ? is_white_space(point) : is_unicode_white_space(point);
}

size_t after_white_space(std::string_view text, size_t begin, size_t end, StripRule rule) {
  while (begin < end) {
    const CodePoint point = decode_utf8(text, begin);
    if (!is_stripped(point.value, rule)) break;
    begin += point.size_bytes;
  }
  return begin;
}

size_t before_white_space(std::string_view text, size_t begin, size_t end, StripRule rule) {
  while (end > begin) {
    size_t at = end - 1;
    while (at > begin && (static_cast<uint8_t>(text[at]) & 0xC0) == 0x80) --at;
    if (!is_stripped(decode_utf8(text, at).value, rule)) break;
    end = at;
  }
  return end;
}

// What a token does to its neighbours: strips them, or merges into one of them. A neighbour is judged as it was before
// stripping, and only U+0020 separates a single word from it: both as in the reference.
void apply(const AddedToken& token, std::string_view text, StripRule rule, TextPart& left, TextPart& self,
           TextPart& right) {
  const bool has_left = left.begin < left.end;
  const bool has_right = right.begin < right.end;
  const bool touches_left = has_left && text[left.end - 1] != ' ';
  const bool touches_right = has_right && text[right.begin] != ' ';
  if (token.strips_right && has_right) right.begin = after_white_space(text, right.begin, right.end, rule);
  if (token.strips_left && has_left) left.end = before_white_space(text, left.begin, left.end, rule);
  if (!token.is_single_word || rule == StripRule::kUnicode) return;
  if (touches_left) {
    left.end = self.end;
    self.end = self.begin;
  } else if (touches_right) {
    right.begin = self.begin;
    self.end = self.begin;
  }
}

}  // namespace

SpecialTokens::SpecialTokens(std::vector<AddedToken> tokens, StripRule strip_rule)
    : tokens_(std::move(tokens)), strip_rule_(strip_rule) {
  std::sort(tokens_.begin(), tokens_.end(), [](const AddedToken& a, const AddedToken& b) { return a.id < b.id; });
  std::vector<TrieEntry> entries;
  for (size_t i = 0; i < tokens_.size(); ++i) entries.push_back({tokens_[i].content, static_cast<uint32_t>(i)});
  all_trie_ = Trie(entries);
  std::erase_if(entries, [&](const TrieEntry& entry) { return tokens_[entry.value].is_of_model; });
  trie_ = Trie(entries);
  for (const TrieEntry& entry : entries) begins_[static_cast<uint8_t>(entry.key.front())] = true;
}

const AddedToken* SpecialTokens::find(int32_t id) const {
  const auto entry = std::lower_bound(tokens_.begin(), tokens_.end(), id,
                                      [](const AddedToken& token, int32_t wanted) { return token.id < wanted; });
  return entry != tokens_.end() && entry->id == id ? &*entry : nullptr;
}

const AddedToken* SpecialTokens::find(std::string_view content) const {
  return find_in(all_trie_, content);
}

const AddedToken* SpecialTokens::find_in(const Trie& trie, std::string_view content) const {
  const Trie::Match match = trie.longest_prefix(content);
  return !content.empty() && match.size_bytes == content.size() ? &tokens_[match.value] : nullptr;
}

// The rule of the tokenizers library; that of the slow tokenizers is part of apply().
bool SpecialTokens::is_part_of_word(std::string_view text, size_t begin, size_t end) const {
  if (strip_rule_ != StripRule::kUnicode) return false;
  const AddedToken* token = find_in(trie_, text.substr(begin, end - begin));
  if (token == nullptr || !token->is_single_word) return false;
  size_t before = begin;
  while (before > 0 && (static_cast<uint8_t>(text[--before]) & 0xC0) == 0x80) {
  }
  return (begin > 0 && is_word_character(decode_utf8(text, before).value)) ||
         (end < text.size() && is_word_character(decode_utf8(text, end).value));
}

// The longest token at each position, from the left.
std::vector<TextPart> SpecialTokens::cut(std::string_view text) const {
  std::vector<TextPart> parts;
  size_t plain_begin = 0;
  for (size_t at = 0; at < text.size();) {
    const size_t size = begins_[static_cast<uint8_t>(text[at])] ? prefix_size(text.substr(at)) : 0;
    if (size == 0) {
      ++at;
      continue;
    }
    if (is_part_of_word(text, at, at + size)) {
      at += size;
      continue;
    }
    if (plain_begin < at) parts.push_back({plain_begin, at});
    parts.push_back({at, at + size});
    at += size;
    plain_begin = at;
  }
  if (plain_begin < text.size()) parts.push_back({plain_begin, text.size()});
  return parts;
}

std::vector<TextPart> SpecialTokens::split(std::string_view text) const {
  std::vector<TextPart> parts = cut(text);
  const auto content = [&](const TextPart& part) { return text.substr(part.begin, part.end - part.begin); };
  TextPart none;
  // The library never takes white space from another token ("sat. " before [MASK]); the slow tokenizers do.
  const auto neighbour = [&](size_t i) -> TextPart& {
    const bool is_kept =
        i >= parts.size() || (strip_rule_ == StripRule::kUnicode && find_in(trie_, content(parts[i])) != nullptr);
    return is_kept ? none : parts[i];
  };
  for (size_t i = 0; i < parts.size(); ++i) {
    if (const AddedToken* token = find_in(trie_, content(parts[i])))
      apply(*token, text, strip_rule_, neighbour(i - 1), parts[i], neighbour(i + 1));  // 0 - 1 is beyond the end
  }
  std::erase_if(parts, [](const TextPart& part) { return part.begin >= part.end; });
  for (TextPart& part : parts) {
    if (const AddedToken* token = find_in(trie_, content(part))) part.id = token->id;
  }
  return parts;
}

std::vector<TextPart> keep_tokens(const std::vector<TextPart>& parts, const std::function<bool(int32_t id)>& is_kept) {
  std::vector<TextPart> kept;
  for (const TextPart& part : parts) {
    const bool is_text = part.id < 0 || !is_kept(part.id);
    if (is_text && !kept.empty() && kept.back().id < 0)
      kept.back().end = part.end;
    else
      kept.push_back({part.begin, part.end, is_text ? -1 : part.id});
  }
  return kept;
}

}  // namespace deberta
