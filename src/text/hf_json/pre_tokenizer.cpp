// A step finds ranges in a text; a behaviour (removed, isolated, merged) then says what becomes of the matches.
#include "text/hf_json/pre_tokenizer.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/utf8.h"
#include "deberta/error.h"
#include "text/hf_json/json_fields.h"
#include "text/spm/normalizer.h"
#include "text/unicode/normal_form.h"
#include "text/unicode/unicode.h"

namespace deberta {
namespace {

struct Range {
  size_t begin = 0;
  size_t end = 0;
  bool is_match = false;
};

struct BehaviorRow {
  std::string_view name;
  SplitBehavior behavior;
};
constexpr std::array<BehaviorRow, 5> kBehaviors{{{"Removed", SplitBehavior::kRemoved},
                                                 {"Isolated", SplitBehavior::kIsolated},
                                                 {"MergedWithPrevious", SplitBehavior::kMergedWithPrevious},
                                                 {"MergedWithNext", SplitBehavior::kMergedWithNext},
                                                 {"Contiguous", SplitBehavior::kContiguous}}};

SplitBehavior behavior_field(const Json& component, const std::string& where) {
  const std::string& name = string_field(component, "behavior", where);
  for (const BehaviorRow& row : kBehaviors) {
    if (row.name == name) return row.behavior;
  }
  refuse_tokenizer_file(where,
                        fmt::format("behavior: expected Removed, Isolated, MergedWithPrevious, MergedWithNext or "
                                    "Contiguous, got {}",
                                    quote_json(name)));
}

// Each character that `is_match` holds for, and the stretches between.
template <class IsMatch>
std::vector<Range> match_characters(std::string_view text, IsMatch is_match) {
  std::vector<Range> ranges;
  for (size_t at = 0; at < text.size();) {
    const CodePoint point = decode_utf8(text, at);
    const size_t end = at + point.size_bytes;
    const bool matches = is_match(point.value);
    if (!matches && !ranges.empty() && !ranges.back().is_match) {
      ranges.back().end = end;
    } else {
      ranges.push_back({at, end, matches});
    }
    at = end;
  }
  return ranges;
}

std::vector<Range> match_text(std::string_view text, std::string_view wanted) {
  std::vector<Range> ranges;
  for (size_t at = 0; at < text.size();) {
    const size_t position = wanted.empty() ? std::string_view::npos : text.find(wanted, at);
    const size_t begin = std::min(position, text.size());
    if (at < begin) ranges.push_back({at, begin, false});
    if (position == std::string_view::npos) break;
    ranges.push_back({position, position + wanted.size(), true});
    at = position + wanted.size();
  }
  return ranges;
}

// Runs of word characters and runs of what is neither that nor white space.
std::vector<Range> match_words(std::string_view text) {
  std::vector<Range> ranges;
  int last = -1;
  for (size_t at = 0; at < text.size();) {
    const CodePoint point = decode_utf8(text, at);
    const int kind = is_word_character(point.value) ? 1 : (is_unicode_white_space(point.value) ? 0 : 2);
    const size_t end = at + point.size_bytes;
    if (kind == last) {
      ranges.back().end = end;
    } else {
      ranges.push_back({at, end, kind != 0});
    }
    last = kind;
    at = end;
  }
  return ranges;
}

// As the library folds: a match joins its neighbour only if the range seen before was not a match.
std::vector<Range> merge_with_previous(const std::vector<Range>& ranges) {
  std::vector<Range> merged;
  bool was_match = false;
  for (const Range& range : ranges) {
    if (range.is_match && !was_match && !merged.empty()) {
      merged.back().end = range.end;
    } else {
      merged.push_back(range);
    }
    was_match = range.is_match;
  }
  return merged;
}

std::vector<Range> merge_with_next(const std::vector<Range>& ranges) {
  std::vector<Range> merged;
  bool was_match = false;
  for (size_t i = ranges.size(); i-- > 0;) {
    if (ranges[i].is_match && !was_match && !merged.empty()) {
      merged.back().begin = ranges[i].begin;
    } else {
      merged.push_back(ranges[i]);
    }
    was_match = ranges[i].is_match;
  }
  std::reverse(merged.begin(), merged.end());
  return merged;
}

std::vector<Range> merge_alike(const std::vector<Range>& ranges) {
  std::vector<Range> merged;
  bool was_match = false;
  for (const Range& range : ranges) {
    if (range.is_match == was_match && !merged.empty()) {
      merged.back().end = range.end;
    } else {
      merged.push_back(range);
    }
    was_match = range.is_match;
  }
  return merged;
}

std::vector<Range> apply(SplitBehavior behavior, std::vector<Range> ranges) {
  switch (behavior) {
    case SplitBehavior::kRemoved:
      std::erase_if(ranges, [](const Range& range) { return range.is_match; });
      return ranges;
    case SplitBehavior::kMergedWithPrevious:
      return merge_with_previous(ranges);
    case SplitBehavior::kMergedWithNext:
      return merge_with_next(ranges);
    case SplitBehavior::kContiguous:
      return merge_alike(ranges);
    case SplitBehavior::kIsolated:
      break;
  }
  return ranges;
}

// A space is of the text, its symbol of no part of it: a token does not begin with the space before it.
MappedText to_space_symbols(const MappedText& text, bool prepends) {
  MappedText out;
  if (prepends) out.add(kSpaceSymbol, {text.sources.front().begin, text.sources.front().begin});
  for (size_t at = 0; at < text.text.size(); ++at) {
    const Offset source = text.sources[at];
    const bool is_space = text.text[at] == ' ';
    out.add(is_space ? kSpaceSymbol : std::string_view(text.text).substr(at, 1),
            is_space ? Offset{source.end, source.end} : source);
  }
  return out;
}

}  // namespace

Metaspace read_metaspace(const Json& component, const std::string& where) {
  if (string_field(component, "replacement", where) != kSpaceSymbol)
    refuse_tokenizer_file(where, "replacement: expected \"\\u2581\"");
  const Json* scheme = component.find("prepend_scheme");
  const std::string text =
      scheme == nullptr || scheme->is_null() ? "always" : string_field(component, "prepend_scheme", where);
  if (text != "always" && text != "first" && text != "never") {
    throw Error(ErrorCode::kUnsupported, where,
                fmt::format("prepend_scheme: expected always, first or never, got {}", quote_json(text)));
  }
  if (!bool_field(component, "add_prefix_space", true, where) && text != "never")
    refuse_tokenizer_file(where, "add_prefix_space: false contradicts prepend_scheme");
  return {text == "always"  ? Metaspace::Prepend::kAlways
          : text == "first" ? Metaspace::Prepend::kFirst
                            : Metaspace::Prepend::kNever,
          bool_field(component, "split", true, where)};
}

void PreTokenizer::add_bert() {
  steps_.push_back({.kind = Kind::kWhiteSpace, .behavior = SplitBehavior::kRemoved});
  add_punctuation();
}

void PreTokenizer::add(const Json& component, const std::string& where) {
  const std::string& type = component_type(component, where);
  if (type == "BertPreTokenizer") return add_bert();
  Step step;
  if (type == "Punctuation") {
    step.kind = Kind::kPunctuation;
    if (component.find("behavior") != nullptr) step.behavior = behavior_field(component, where);
  } else if (type == "WhitespaceSplit") {
    step.behavior = SplitBehavior::kRemoved;
  } else if (type == "Whitespace") {
    step.kind = Kind::kWords;
    step.behavior = SplitBehavior::kRemoved;
    step.is_inverted = true;
  } else if (type == "Digits") {
    step.kind = Kind::kDigits;
    if (!bool_field(component, "individual_digits", false, where)) step.behavior = SplitBehavior::kContiguous;
  } else if (type == "CharDelimiterSplit") {
    step = {Kind::kText, SplitBehavior::kRemoved, false, string_field(component, "delimiter", where)};
  } else if (type == "Split") {
    const Pattern pattern = pattern_field(component, where);
    if (pattern.is_regex) refuse_pattern(pattern.text, where);
    step = {Kind::kText, behavior_field(component, where), bool_field(component, "invert", false, where),
            std::string(pattern.text)};
  } else if (type == "Metaspace") {
    step = {.kind = Kind::kMetaspace,
            .behavior = SplitBehavior::kMergedWithNext,
            .metaspace = read_metaspace(component, where)};
  } else {
    refuse_component(type, where);
  }
  steps_.push_back(std::move(step));
}

void PreTokenizer::cut(const Step& step, const MappedText& input, uint32_t shift, std::vector<MappedText>& out) {
  const bool is_metaspace = step.kind == Kind::kMetaspace;
  const bool prepends = is_metaspace && !input.text.starts_with(' ') && !input.text.starts_with(kSpaceSymbol) &&
                        step.metaspace.prepends_at(shift + input.sources.front().begin);
  const MappedText changed = is_metaspace ? to_space_symbols(input, prepends) : MappedText();
  const MappedText& text = is_metaspace ? changed : input;
  if (is_metaspace && !step.metaspace.splits_words) return out.push_back(text);
  std::vector<Range> ranges;
  switch (step.kind) {
    case Kind::kWhiteSpace:
      ranges = match_characters(text.text, [](char32_t point) { return is_unicode_white_space(point); });
      break;
    case Kind::kPunctuation:
      ranges = match_characters(text.text, [](char32_t p) { return is_bert_punctuation(p, Tables::kLibrary); });
      break;
    case Kind::kDigits:
      ranges = match_characters(text.text, [](char32_t p) { return is_digit_of_any_script(p, Tables::kLibrary); });
      break;
    case Kind::kWords:
      ranges = match_words(text.text);
      break;
    case Kind::kText:
      ranges = match_text(text.text, step.text);
      break;
    case Kind::kMetaspace:
      ranges = match_text(text.text, kSpaceSymbol);
      break;
  }
  if (step.is_inverted) {
    for (Range& range : ranges) range.is_match = !range.is_match;
  }
  for (const Range& range : apply(step.behavior, std::move(ranges))) out.push_back(slice(text, range.begin, range.end));
}

bool PreTokenizer::has_metaspace() const {
  return std::ranges::any_of(steps_, [](const Step& step) { return step.kind == Kind::kMetaspace; });
}

bool PreTokenizer::asks_for_begin() const {
  return std::ranges::any_of(steps_,
                             [](const Step& step) { return step.metaspace.prepend == Metaspace::Prepend::kFirst; });
}

std::vector<MappedText> PreTokenizer::split(MappedText text, uint32_t shift) const {
  std::vector<MappedText> parts;
  if (!text.text.empty()) parts.push_back(std::move(text));
  for (const Step& step : steps_) {
    std::vector<MappedText> next;
    for (const MappedText& part : parts) cut(step, part, shift, next);
    parts = std::move(next);
  }
  return parts;
}

}  // namespace deberta
