// Each component is a function from one mapped text to the next; offsets follow the library's, quirks included.
#include "text/hf_json/json_normalizer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <initializer_list>

#include "base/base64.h"
#include "base/utf8.h"
#include "deberta/error.h"
#include "text/hf_json/json_fields.h"
#include "text/unicode/grapheme.h"
#include "text/unicode/normal_form.h"
#include "text/unicode/unicode.h"

namespace deberta {
namespace {

constexpr size_t kMaxBytes = size_t{1} << 29;  // of a text and of all its forms: positions have 32 bits
// The rules of a charsmap see clusters shorter than this as a whole, longer ones character by character.
constexpr size_t kWholeClusterBytes = 6;
constexpr std::string_view kSpacesPattern = " {2,}";
constexpr std::string_view kLinesPattern = R"(\s{2,}|[\n\r\t])";  // as in transformers 5

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

// Replaces a whole part of a text if a rule matches its beginning; the shortest such rule counts.
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

// What the library does instead: new characters take the places of old ones in order, those in excess have the place of
// the one before, and what is dropped goes with the character before it, if there is one.
class Alignment {
 public:
  explicit Alignment(const MappedText& from) : from_(from) {}

  void replace(size_t begin, size_t end, std::string_view with) {
    const auto before =
        static_cast<int64_t>(count_code_points(std::string_view(from_.text).substr(begin, end - begin)));
    const auto after = static_cast<int64_t>(count_code_points(with));
    for (size_t at = 0; at < with.size();) {
      const size_t size_bytes = decode_utf8(with, at).size_bytes;
      changes_.push_back({std::string(with.substr(at, size_bytes)), 0});
      at += size_bytes;
    }
    for (int64_t i = 0; i < after - before; ++i) changes_[changes_.size() - 1 - static_cast<size_t>(i)].count = 1;
    if (after < before && !changes_.empty()) changes_.back().count += after - before;
  }

  MappedText finish() const {
    MappedText result;
    size_t at = 0;
    for (const Change& change : changes_) {
      const bool is_more = change.count > 0;
      result.add(change.text, is_more && at == 0 ? Offset{0, 0} : from_.sources[is_more ? at - 1 : at]);
      for (int64_t i = change.count; i <= 0 && at < from_.text.size(); ++i)
        at += decode_utf8(from_.text, at).size_bytes;
    }
    return result;
  }

 private:
  struct Change {
    std::string text;   // a character
    int64_t count = 0;  // 1: it is one more; else so many old ones, besides its own, end with it
  };
  const MappedText& from_;
  std::vector<Change> changes_;
};

MappedText align_charsmap(const Charsmap& charsmap, const MappedText& from) {
  const std::string_view text = from.text;
  Alignment alignment(from);
  const auto replace = [&](size_t begin, size_t end, bool keeps) {
    const std::string_view part = text.substr(begin, end - begin);
    const auto replacement = charsmap.shortest_prefix(part);
    if (replacement || keeps) alignment.replace(begin, end, replacement.value_or(part));
    return replacement || keeps;
  };
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = end_of_grapheme(text, begin);
    if (end - begin < kWholeClusterBytes && replace(begin, end, false)) begin = end;
    while (begin < end) {
      const size_t next = begin + decode_utf8(text, begin).size_bytes;
      replace(begin, next, true);
      begin = next;
    }
  }
  return alignment.finish();
}

// What a pattern finds from a position on; nothing if both are the end of the text.
struct PatternMatch {
  size_t begin = 0;
  size_t end = 0;
};

PatternMatch find_text(std::string_view text, size_t at, std::string_view pattern) {
  const size_t begin = std::min(text.find(pattern, at), text.size());
  return {begin, std::min(begin + pattern.size(), text.size())};
}

PatternMatch find_spaces(std::string_view text, size_t at) {
  const size_t begin = std::min(text.find("  ", at), text.size());
  return {begin, std::min(text.find_first_not_of(' ', begin), text.size())};
}

// Two or more white-space characters, or one that is a line feed, a carriage return or a tab.
PatternMatch find_lines(std::string_view text, size_t at) {
  while (at < text.size()) {
    size_t end = at, count = 0;
    while (end < text.size()) {
      const CodePoint point = decode_utf8(text, end);
      if (!is_unicode_white_space(point.value)) break;
      end += point.size_bytes;
      ++count;
    }
    if (count > 1 || (count == 1 && (text[at] == '\n' || text[at] == '\r' || text[at] == '\t'))) return {at, end};
    at = count == 1 ? end : at + decode_utf8(text, at).size_bytes;
  }
  return {at, at};
}

template <class Find>
MappedText replace(const MappedText& from, const std::string& content, bool is_aligned, Find find) {
  const std::string_view text = from.text;
  MappedText result;
  for (size_t at = 0; at < text.size();) {
    const PatternMatch match = find(text, at);
    copy(from, at, match.begin, result);
    if (match.begin == text.size()) break;
    at = match.end;
    result.add(content, is_aligned ? from.sources[at - 1] : source_of(from, match.begin, at));
    check_size(result.text.size());
  }
  return result;
}

// ---- character by character

// Keeps, drops or changes each character: `visit(point, copy, add)`.
template <class Visit>
MappedText map_characters(const MappedText& from, Visit visit) {
  MappedText result;
  result.text.reserve(from.text.size());
  result.sources.reserve(from.text.size());
  for (size_t at = 0; at < from.text.size();) {
    const CodePoint point = decode_utf8(from.text, at);
    const size_t end = at + point.size_bytes;
    visit(
        point.value, [&] { copy(from, at, end, result); },
        [&](std::string_view text) { result.add(text, source_of(from, at, end)); });
    at = end;
  }
  return result;
}

MappedText lower(const MappedText& from) {
  return map_characters(from, [](char32_t point, auto keep, auto add) {
    const char32_t lowered = to_library_lower(point);
    if (lowered == point) return keep();
    std::string text;
    append_utf8(text, lowered);
    if (point == kCapitalIWithDot) append_utf8(text, kDotAbove);
    add(text);
  });
}

MappedText strip_library_accents(const MappedText& from) {
  return map_characters(from, [](char32_t point, auto keep, auto) {
    if (!is_stripped_mark(point)) keep();
  });
}

MappedText normalize_bert(const BertRules& rules, MappedText text) {
  if (rules.cleans) text = clean_text(text, Tables::kLibrary);
  if (rules.parts_chinese) text = part_chinese(text, Tables::kLibrary);
  if (rules.removes_accents()) text = strip_accents(to_nfd(text, Tables::kLibrary), Tables::kLibrary);
  return rules.lowers ? lower(text) : text;
}

BertRules bert_rules(const Json& component, const std::string& where) {
  BertRules rules;
  rules.cleans = bool_field(component, "clean_text", true, where);
  rules.parts_chinese = bool_field(component, "handle_chinese_chars", true, where);
  rules.lowers = bool_field(component, "lowercase", true, where);
  const Json* accents = component.find("strip_accents");
  if (accents != nullptr && !accents->is_null()) rules.strips_accents = bool_field(component, "strip_accents", where);
  return rules;
}

}  // namespace

MappedText clean_text(const MappedText& text, Tables tables) {
  return map_characters(text, [&](char32_t point, auto keep, auto add) {
    if (is_bert_space(point, tables)) {
      add(" ");
    } else if (!is_cleaned_away(point, tables)) {
      keep();
    }
  });
}

MappedText strip_accents(const MappedText& text, Tables tables) {
  return map_characters(text, [&](char32_t point, auto keep, auto) {
    if (!is_mark(point, tables)) keep();
  });
}

MappedText part_chinese(const MappedText& text, Tables tables) {
  return map_characters(text, [&](char32_t point, auto keep, auto add) {
    if (!is_chinese(point, tables)) return keep();
    add(" ");
    keep();
    add(" ");
  });
}

JsonNormalizer::JsonNormalizer(const Json& value, const std::string& where) {
  for (const Json* component : components_of(value, "normalizers", where)) add(*component, where);
}

JsonNormalizer JsonNormalizer::for_spm(const std::string& charsmap, bool lowers, const std::string& where) {
  JsonNormalizer normalizer;
  if (lowers) normalizer.steps_.push_back({.kind = Kind::kLowerCase});
  normalizer.steps_.push_back({.kind = Kind::kStrip, .strips_left = true, .strips_right = true});
  if (!charsmap.empty()) normalizer.steps_.push_back({.kind = Kind::kCharsmap, .charsmap = Charsmap(charsmap, where)});
  normalizer.steps_.push_back({.kind = Kind::kReplaceSpaces, .content = " "});
  return normalizer;
}

JsonNormalizer JsonNormalizer::for_bert(const BertRules& rules) {
  JsonNormalizer normalizer;
  normalizer.steps_.push_back({.kind = Kind::kBert, .bert = rules});
  return normalizer;
}

void JsonNormalizer::change_bert(const std::function<void(BertRules&)>& change) {
  if (steps_.size() == 1 && steps_.front().kind == Kind::kBert) change(steps_.front().bert);
}

JsonNormalizer::Step JsonNormalizer::replacing(const Json& component, const std::string& where) {
  Step step{.kind = Kind::kReplace, .content = string_field(component, "content", where)};
  const Pattern pattern = pattern_field(component, where);
  step.pattern = pattern.text;
  if (!pattern.is_regex && pattern.text.empty()) refuse_tokenizer_file(where, "Replace: expected a string, got none");
  if (!pattern.is_regex) return step;
  if (pattern.text != kSpacesPattern && pattern.text != kLinesPattern) refuse_pattern(pattern.text, where);
  step.kind = pattern.text == kSpacesPattern ? Kind::kReplaceSpaces : Kind::kReplaceLines;
  return step;
}

void JsonNormalizer::add(const Json& component, const std::string& where) {
  const std::string& type = component_type(component, where);
  Step step;
  if (type == "Replace") {
    step = replacing(component, where);
  } else if (type == "NFC") {
    step.kind = Kind::kNfc;
  } else if (type == "NFD") {
    step.kind = Kind::kNfd;
  } else if (type == "StripAccents") {
    step.kind = Kind::kStripAccents;
  } else if (type == "BertNormalizer") {
    step.kind = Kind::kBert;
    step.bert = bert_rules(component, where);
  } else if (type == "Strip") {
    step.strips_left = bool_field(component, "strip_left", where);
    step.strips_right = bool_field(component, "strip_right", where);
  } else if (type == "Lowercase") {
    step.kind = Kind::kLowerCase;
  } else if (type == "Precompiled") {
    step.kind = Kind::kCharsmap;
    const auto blob = parse_base64(string_field(component, "precompiled_charsmap", where));
    if (!blob) refuse_tokenizer_file(where, "precompiled_charsmap: expected base64");
    step.charsmap = Charsmap(*blob, where);
  } else {
    refuse_component(type, where);
  }
  steps_.push_back(std::move(step));
}

MappedText JsonNormalizer::apply(const Step& step, const MappedText& text, bool is_aligned) {
  switch (step.kind) {
    case Kind::kStrip:
      return strip(text, step.strips_left, step.strips_right);
    case Kind::kLowerCase:
      return lower(text);
    case Kind::kCharsmap:
      return is_aligned ? align_charsmap(step.charsmap, text) : apply_charsmap(step.charsmap, text);
    case Kind::kReplaceSpaces:
      return replace(text, step.content, is_aligned, find_spaces);
    case Kind::kReplaceLines:
      return replace(text, step.content, is_aligned, find_lines);
    case Kind::kNfc:
      return to_nfc(text, Tables::kLibrary);
    case Kind::kNfd:
      return to_nfd(text, Tables::kLibrary);
    case Kind::kStripAccents:
      return strip_library_accents(text);
    case Kind::kBert:
      return normalize_bert(step.bert, text);
    case Kind::kReplace:
      break;
  }
  return replace(text, step.content, is_aligned,
                 [&](std::string_view all, size_t at) { return find_text(all, at, step.pattern); });
}

MappedText JsonNormalizer::normalize(std::string_view text, bool is_aligned) const {
  check_size(text.size());
  MappedText mapped = to_mapped(text);
  for (const Step& step : steps_) mapped = apply(step, mapped, is_aligned);
  return mapped;
}

MappedText JsonNormalizer::normalize(std::string_view text) const {
  return normalize(text, false);
}

MappedText JsonNormalizer::normalize_as_aligned(std::string_view text) const {
  return normalize(text, true);
}

bool JsonNormalizer::may_move_begin(std::string_view text) const {
  const auto is_one_of = [&](std::initializer_list<Kind> kinds) {
    return std::ranges::any_of(steps_,
                               [&](const Step& step) { return std::ranges::find(kinds, step.kind) != kinds.end(); });
  };
  if (is_one_of({Kind::kReplace})) return true;
  const bool stays = !text.empty() && std::isalnum(static_cast<unsigned char>(text.front())) != 0;
  return !stays && is_one_of({Kind::kCharsmap, Kind::kReplaceSpaces, Kind::kReplaceLines});
}

}  // namespace deberta
