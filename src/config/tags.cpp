// A label such as "S-CORP" may be a tag or a kind. It is a tag where others of the set show its scheme.
#include "config/tags.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <optional>
#include <string_view>
#include <utility>

#include "deberta/error.h"

namespace deberta {
namespace {

bool is_outside(std::string_view label) {
  return label.empty() || label == "O" || label == "o" || label == ".";
}

constexpr std::string_view kLetters = "BIMELSUW";

TagPlace place_of(char letter) {
  switch (letter) {
    case 'B':
      return TagPlace::kBegin;
    case 'I':
    case 'M':
      return TagPlace::kInside;
    case 'E':
    case 'L':
      return TagPlace::kEnd;
    default:
      return TagPlace::kSingle;
  }
}

// How a set writes its tags.
struct Style {
  bool is_lower = false;
  char separator = 0;  // 0: the letter stands alone
  auto operator<=>(const Style&) const = default;
};

// A label as a tag, if it can be one.
struct Split {
  Style style;
  char letter = 0;  // in upper case
  std::string kind;
};

std::optional<Split> split_tag(std::string_view label) {
  if (label.empty() || label.size() == 2) return std::nullopt;
  const auto first = static_cast<unsigned char>(label.front());
  const char letter = static_cast<char>(std::toupper(first));
  if (kLetters.find(letter) == std::string_view::npos) return std::nullopt;
  const bool is_lower = std::islower(first) != 0;
  if (label.size() == 1) return Split{{is_lower, 0}, letter, "_"};
  if (label[1] != '-' && label[1] != '_') return std::nullopt;
  return Split{{is_lower, label[1]}, letter, std::string(label.substr(2))};
}

bool has_one_of(std::string_view letters, std::string_view some) {
  return letters.find_first_of(some) != std::string_view::npos;
}

// Which of the labels are tags, by the letters that each kind has in each style.
class Scheme {
 public:
  explicit Scheme(const std::vector<std::string>& labels) {
    for (const std::string& label : labels) add(label);
    for (const auto& [key, letters] : kinds_) {
      if (letters.size() > 1 && has_one_of(letters, "BI")) shown_[key.first] += letters;
    }
    has_plain_ = has_plain_ || std::ranges::any_of(kinds_, [&](const auto& entry) {
                   return !has_one_of(entry.second, "BI") && !is_shown(entry.first.first, entry.second);
                 });
  }

  bool is_tag(const Split& label) const {
    const std::string& letters = kinds_.at({label.style, label.kind});
    if (!has_one_of(letters, "BI")) return is_shown(label.style, letters);
    return letters.size() > 1 || shown_.contains(label.style) || !has_plain_;
  }

 private:
  void add(const std::string& label) {
    if (is_outside(label)) return;
    const std::optional<Split> tag = split_tag(label);
    if (!tag) {
      has_plain_ = true;
      return;
    }
    std::string& letters = kinds_[{tag->style, tag->kind}];
    if (letters.find(tag->letter) == std::string::npos) letters += tag->letter;
  }
  // Whether kinds that can only be tags have such letters. An end or a middle alone lacks the rest of its entity.
  bool is_shown(const Style& style, std::string_view letters) const {
    const auto shown = shown_.find(style);
    const bool has_single = has_one_of(letters, "SUW");
    return shown != shown_.end() && has_single && has_one_of(shown->second, "ELSUW");
  }

  std::map<std::pair<Style, std::string>, std::string> kinds_;  // letters of each kind
  std::map<Style, std::string> shown_;                          // letters of the kinds that can only be tags
  bool has_plain_ = false;                                      // some label is no tag
};

}  // namespace

bool continues(const Tag& before, const Tag& tag) {
  const bool is_open = before.place == TagPlace::kBegin || before.place == TagPlace::kInside;
  return is_open && (tag.place == TagPlace::kInside || tag.place == TagPlace::kEnd) && tag.kind == before.kind;
}

TagSet::TagSet(const std::vector<std::string>& labels) {
  const Scheme scheme(labels);
  for (const std::string& label : labels) {
    if (is_outside(label)) {
      tags_.try_emplace(label);
      continue;
    }
    const std::optional<Split> tag = split_tag(label);
    if (tag && scheme.is_tag(*tag))
      tags_.try_emplace(label, Tag{place_of(tag->letter), tag->kind});
    else
      tags_.try_emplace(label, Tag{TagPlace::kInside, label});
  }
}

const Tag& TagSet::of(const std::string& label) const {
  const auto entry = tags_.find(label);
  if (entry == tags_.end())
    throw Error(ErrorCode::kInternal, "tags", fmt::format("{} is not in the set of labels", label));
  return entry->second;
}

}  // namespace deberta
