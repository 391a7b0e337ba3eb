// Who may ask for what. A key opens the routes of its scopes; of a key only its SHA-256 is kept.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace deberta::serve {

enum class Scope { kInfer, kPriority, kMetrics, kExplain, kAdmin };
constexpr size_t kScopes = 5;
std::string_view to_string(Scope scope);

struct Key {
  std::string name;     // for the log
  uint32_t scopes = 0;  // a bit for each
  std::string digest;   // SHA-256 in hexadecimal digits

  bool opens(Scope scope) const { return (scopes >> static_cast<uint32_t>(scope) & 1) != 0; }
};

class Keys {
 public:
  // A key with every scope.
  void add_all(const std::string& name, std::string_view key);
  // Lines `name:scope,scope:digest`; empty ones and those that begin with # mean nothing. Throws kUsage with the line,
  // and what read_file() throws.
  void add_file(const std::string& path);

  bool empty() const { return keys_.empty(); }
  // The key that `Authorization: Bearer KEY` has, the scheme in any case; null: none. All keys are compared, each in
  // full, so the time reveals nothing about them.
  const Key* find(std::string_view authorization) const;

 private:
  std::vector<Key> keys_;
};

}  // namespace deberta::serve
