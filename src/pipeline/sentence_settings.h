// One JSON object with the keys of a module of sentence-transformers, read as Python reads them.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/json.h"

namespace deberta {

class SentenceSettings {
 public:
  // Throws kConfig for a document that is not an object, and what load_python_json throws.
  explicit SentenceSettings(std::string path);

  // The value of a key; nullptr when it is absent or null.
  const Json* find(std::string_view key) const;
  // Whether it passes Python's `if value:`.
  bool is_true(std::string_view key, bool fallback = false) const;
  // Throw kConfig for a value of the wrong kind.
  std::optional<int64_t> number(std::string_view key, int64_t low, int64_t high) const;
  std::optional<std::string> text(std::string_view key) const;
  [[noreturn]] void refuse(std::string_view key, std::string_view expected) const;

  const std::string& path() const { return path_; }

 private:
  std::string path_;
  Json document_;
};

}  // namespace deberta
