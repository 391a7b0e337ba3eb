// A placeholder has one [ and one ], so that two of them, or one and its surroundings, never form another.
#include "decode/redaction.h"

#include <fmt/format.h>

#include <algorithm>

namespace deberta {
namespace {

constexpr std::string_view kPlainName = "TEXT";  // of what only looks like a placeholder
constexpr std::string_view kUnnamed = "ENTITY";  // of a label without a name

bool is_digit_of_ascii(char c) {
  return c >= '0' && c <= '9';
}

// Bytes from 0x80 are of letters elsewhere in Unicode, as far as a name is concerned.
bool is_name_byte(char c) {
  return (c >= 'A' && c <= 'Z') || is_digit_of_ascii(c) || c == '_' || static_cast<unsigned char>(c) >= 0x80;
}

// Bytes of the placeholder with which the text begins, [NAME_NUMBER]; 0: it begins with none.
size_t placeholder_size(std::string_view text) {
  if (text.empty() || text[0] != '[') return 0;
  size_t end = 1;
  while (end < text.size() && is_name_byte(text[end])) ++end;
  if (end == text.size() || text[end] != ']') return 0;
  const std::string_view inside = text.substr(1, end - 1);
  const size_t line = inside.rfind('_');
  if (line == inside.npos || line == 0 || line + 1 == inside.size()) return 0;
  return std::ranges::all_of(inside.substr(line + 1), is_digit_of_ascii) ? end + 1 : 0;
}

// Calls plain(part) and placeholder(part) for the parts of the text, in order.
template <class Plain, class Placeholder>
void cut_at_placeholders(std::string_view text, const Plain& plain, const Placeholder& placeholder) {
  size_t begin = 0;
  for (size_t at = text.find('['); at != text.npos; at = text.find('[', at)) {
    const size_t size = placeholder_size(text.substr(at));
    if (size == 0) {
      ++at;
      continue;
    }
    plain(text.substr(begin, at - begin));
    placeholder(text.substr(at, size));
    begin = at += size;
  }
  plain(text.substr(begin));
}

}  // namespace

std::string placeholder_name(std::string_view label) {
  std::string name(label);
  for (char& c : name) {
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
    if (!is_name_byte(c)) c = '_';
  }
  return name.empty() ? std::string(kUnnamed) : name;
}

void Redactor::append_placeholder(Redaction& redacted, const std::string& name, std::string_view entity) {
  const auto [entry, is_new] = numbers_.emplace(std::pair(name, std::string(entity)), entries_.size());
  if (is_new) entries_.emplace_back(fmt::format("[{}_{}]", name, ++counts_[name]), std::string(entity));
  redacted.text += entries_[entry->second].first;
  redacted.entries.push_back(entry->second);
}

void Redactor::append_plain(Redaction& redacted, std::string_view text) {
  cut_at_placeholders(
      text, [&](std::string_view part) { redacted.text += part; },
      [&](std::string_view part) { append_placeholder(redacted, std::string(kPlainName), part); });
}

Redaction Redactor::redact(std::string_view text, std::span<const Entity> entities) {
  std::vector<const Entity*> by_place;
  for (const Entity& entity : entities) by_place.push_back(&entity);
  std::ranges::stable_sort(by_place, [](const Entity* a, const Entity* b) {
    return a->bytes.begin != b->bytes.begin ? a->bytes.begin < b->bytes.begin : a->bytes.end > b->bytes.end;
  });
  Redaction redacted;
  size_t at = 0;
  for (const Entity* entity : by_place) {
    const size_t begin = std::max<size_t>(at, entity->bytes.begin), end = entity->bytes.end;
    if (begin >= end) continue;  // within the one before
    append_plain(redacted, text.substr(at, begin - at));
    append_placeholder(redacted, placeholder_name(entity->label), text.substr(begin, end - begin));
    at = end;
  }
  append_plain(redacted, text.substr(at));
  std::ranges::sort(redacted.entries);
  redacted.entries.erase(std::unique(redacted.entries.begin(), redacted.entries.end()), redacted.entries.end());
  return redacted;
}

namespace {

// Calls add(part) for the parts of the restored text, in order.
template <class Add>
void restore(std::string_view text, const PlaceholderMap& entities, const Add& add) {
  cut_at_placeholders(text, add, [&](std::string_view part) {
    const auto entity = entities.find(part);
    add(entity == entities.end() ? part : std::string_view(entity->second));
  });
}

}  // namespace

std::string restore_text(std::string_view text, const PlaceholderMap& entities) {
  std::string restored;
  restore(text, entities, [&](std::string_view part) { restored += part; });
  return restored;
}

size_t restored_bytes(std::string_view text, const PlaceholderMap& entities) {
  size_t bytes = 0;
  restore(text, entities, [&](std::string_view part) { bytes += part.size(); });
  return bytes;
}

}  // namespace deberta
