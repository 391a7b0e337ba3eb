// Typed look-ups that name the file, the key and the value that was found in their errors.
#include "pipeline/sentence_settings.h"

#include <fmt/format.h>

#include <utility>

#include "deberta/error.h"

namespace deberta {

SentenceSettings::SentenceSettings(std::string path) : path_(std::move(path)), document_(load_python_json(path_)) {
  if (!document_.is_object())
    throw Error(ErrorCode::kConfig, path_, "document: expected an object, got " + document_.describe());
}

const Json* SentenceSettings::find(std::string_view key) const {
  const Json* value = document_.find(key);
  return value != nullptr && value->is_null() ? nullptr : value;
}

bool SentenceSettings::is_true(std::string_view key, bool fallback) const {
  const Json* value = document_.find(key);
  if (value == nullptr) return fallback;
  return value->is_truthy();
}

std::optional<int64_t> SentenceSettings::number(std::string_view key, int64_t low, int64_t high) const {
  const Json* value = find(key);
  if (value == nullptr) return std::nullopt;
  const std::optional<int64_t> whole = value->whole_number();
  if (!whole || *whole < low || *whole > high) refuse(key, fmt::format("an integer from {} to {}", low, high));
  return whole;
}

std::optional<std::string> SentenceSettings::text(std::string_view key) const {
  const Json* value = find(key);
  if (value == nullptr) return std::nullopt;
  if (!value->is_string()) refuse(key, "a string");
  return value->as_string();
}

void SentenceSettings::refuse(std::string_view key, std::string_view expected) const {
  const Json* got = find(key);
  throw Error(ErrorCode::kConfig, path_,
              fmt::format("{}: expected {}, got {}", key, expected, got == nullptr ? "nothing" : got->describe()));
}

}  // namespace deberta
