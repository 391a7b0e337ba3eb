#include "text/json_normalizer.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/base64.h"
#include "base/utf8.h"
#include "deberta/error.h"
#include "text/grapheme.h"
#include "text/json_fields.h"
#include "text/lower_case.h"
#include "text/unicode.h"

namespace deberta {
namespace {

constexpr size_t kMaxBytes = size_t{1} << 29;  // of a text and of all that is made from it: positions are 32 bits
// The rules of a charsmap see clusters shorter than this as a whole, longer ones character by character.
constexpr size_t kWholeClusterBytes = 6;
constexpr std::string_view kSpacesPattern = " {2,}";

void check_size(size_t size_bytes) {
  if (size_bytes <= kMaxBytes) return;
  throw Error(ErrorCode::kTextTooLong, "text",
              fmt::format("expected at most {} bytes, got {}; split the text", kMaxBytes, size_bytes));
}

Offset source_of(const MappedText& text, size_t begin, size_t end) {
  return {text.sources[begin].begin, text.sources[end - 1].end};
}

void copy(const MappedText& from, size_t begin, size_t end, MappedText& to) {
  to.text.append(from.text, begin, end - begin);
  to.sources.insert(to.sources.end(), from.sources.begin() + static_cast<std::ptrdiff_t>(begin),
                    from.sources.begin() + static_cast<std::ptrdiff_t>(end));
}

MappedText to_mapped(std::string_view text) {
  MappedText mapped;
  mapped.text = text;
  mapped.sources.reserve(text.size());
  for (size_t at = 0; at < text.size();) {
    const size_t end = at + decode_utf8(text, at).size_bytes;
    mapped.sources.resize(end, {static_cast<uint32_t>(at), static_cast<uint32_t>(end)});
    at = end;
  }
  return mapped;
}

MappedText strip(const MappedText& from, bool left, bool right) {
  const std::string_view text = from.text;
  size_t begin = 0;
  size_t end = text.size();
  while (left && begin < end) {
    const CodePoint point = decode_utf8(text, begin);
    if (!is_unicode_white_space(point.value)) break;
    begin += point.size_bytes;
  }
  while (right && begin < end) {
    size_t last = end - 1;
    while (last > begin && (static_cast<uint8_t>(text[last]) & 0xC0) == 0x80) --last;
    if (!is_unicode_white_space(decode_utf8(text, last).value)) break;
    end = last;
  }
  MappedText result;
  copy(from, begin, end, result);
  return result;
}

MappedText lower(const MappedText& from) {
  MappedText result = to_lower_text(from.text, nullptr);
  for (Offset& source : result.sources) source = source_of(from, source.begin, source.end);
  return result;
}

// What a part of a text becomes when a rule holds for its beginning: the whole of it is replaced, by the shortest rule.
bool replace_part(const Charsmap& charsmap, const MappedText& from, size_t begin, size_t end, MappedText& to) {
  const auto replacement = charsmap.shortest_prefix(std::string_view(from.text).substr(begin, end - begin));
  if (!replacement) return false;
  to.add(*replacement, source_of(from, begin, end));
  return true;
}

MappedText apply_charsmap(const Charsmap& charsmap, const MappedText& from) {
  const std::string_view text = from.text;
  MappedText result;
  result.text.reserve(text.size());
  result.sources.reserve(text.size());
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = end_of_grapheme(text, begin);
    if (end - begin < kWholeClusterBytes && replace_part(charsmap, from, begin, end, result)) {
      begin = end;
    }
    while (begin < end) {
      const size_t next = begin + decode_utf8(text, begin).size_bytes;
      if (!replace_part(charsmap, from, begin, next, result)) copy(from, begin, next, result);
      begin = next;
    }
    check_size(result.text.size());
  }
  return result;
}

// An empty pattern stands for two or more spaces.
MappedText replace(const MappedText& from, const std::string& pattern, const std::string& content) {
  const std::string_view text = from.text;
  MappedText result;
  for (size_t at = 0; at < text.size();) {
    const size_t begin = std::min(pattern.empty() ? text.find("  ", at) : text.find(pattern, at), text.size());
    copy(from, at, begin, result);
    if (begin == text.size()) break;
    at = pattern.empty() ? std::min(text.find_first_not_of(' ', begin), text.size()) : begin + pattern.size();
    result.add(content, source_of(from, begin, at));
    check_size(result.text.size());
  }
  return result;
}

}  // namespace

JsonNormalizer::JsonNormalizer(const Json& value, const std::string& where) {
  for (const Json* component : components_of(value, "normalizers", where)) add(*component, where);
}

void JsonNormalizer::add(const Json& component, const std::string& where) {
  const std::string& type = component_type(component, where);
  Step step;
  if (type == "Strip") {
    step.strips_left = bool_field(component, "strip_left", where);
    step.strips_right = bool_field(component, "strip_right", where);
  } else if (type == "Lowercase") {
    step.kind = Kind::kLowerCase;
  } else if (type == "Precompiled") {
    step.kind = Kind::kCharsmap;
    const auto blob = parse_base64(string_field(component, "precompiled_charsmap", where));
    if (!blob) refuse_tokenizer_file(where, "precompiled_charsmap: expected base64");
    step.charsmap = Charsmap(*blob, where);
  } else if (type == "Replace") {
    step.content = string_field(component, "content", where);
    const Pattern pattern = pattern_field(component, where);
    step.kind = pattern.is_regex ? Kind::kReplaceSpaces : Kind::kReplace;
    if (pattern.is_regex && pattern.text != kSpacesPattern) refuse_pattern(pattern.text, where);
    if (!pattern.is_regex) step.pattern = pattern.text;
    if (!pattern.is_regex && pattern.text.empty()) refuse_tokenizer_file(where, "Replace: expected a text, got none");
  } else {
    refuse_component(type, where);
  }
  steps_.push_back(std::move(step));
}

MappedText JsonNormalizer::apply(const Step& step, const MappedText& text) {
  switch (step.kind) {
    case Kind::kStrip:
      return strip(text, step.strips_left, step.strips_right);
    case Kind::kLowerCase:
      return lower(text);
    case Kind::kCharsmap:
      return apply_charsmap(step.charsmap, text);
    case Kind::kReplace:
    case Kind::kReplaceSpaces:
      break;
  }
  return replace(text, step.pattern, step.content);
}

MappedText JsonNormalizer::normalize(std::string_view text) const {
  check_size(text.size());
  MappedText mapped = to_mapped(text);
  for (const Step& step : steps_) mapped = apply(step, mapped);
  return mapped;
}

}  // namespace deberta
