// Entities in texts become placeholders, such as [PERSON_1], and these the entities again. The same entity has the same
// placeholder in all texts of one Redactor; what looks like a placeholder in a text becomes one, so that nothing is
// taken for one on the way back.
#pragma once
#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "deberta/answer.h"

namespace deberta {

// The name of a label in a placeholder: capitals, digits and underscores for all other characters of ASCII.
std::string placeholder_name(std::string_view label);

struct Redaction {
  std::string text;
  std::vector<size_t> entries;  // of Redactor::entries(): the placeholders in the text, each once, in ascending order
};

class Redactor {
 public:
  // `text` without the entities. Of those that overlap, the one that begins first and is the longest stands for all.
  Redaction redact(std::string_view text, std::span<const Entity> entities);

  // Each placeholder with its entity, in the order in which they were given.
  const std::vector<std::pair<std::string, std::string>>& entries() const { return entries_; }

 private:
  void append_placeholder(Redaction& redacted, const std::string& name, std::string_view entity);
  void append_plain(Redaction& redacted, std::string_view text);

  std::map<std::pair<std::string, std::string>, size_t> numbers_;  // by name and entity: which entry
  std::map<std::string, size_t> counts_;                           // by name
  std::vector<std::pair<std::string, std::string>> entries_;
};

// The entity of each placeholder.
using PlaceholderMap = std::map<std::string, std::string, std::less<>>;

// The text with the entity in place of each placeholder that has one; and its bytes, which may be far more.
std::string restore_text(std::string_view text, const PlaceholderMap& entities);
size_t restored_bytes(std::string_view text, const PlaceholderMap& entities);

}  // namespace deberta
