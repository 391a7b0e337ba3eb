// Parses key files, hashes the key of a request, and compares digests without an early exit.
#include "serve/keys.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>

#include "base/ascii.h"
#include "base/file.h"
#include "base/json.h"
#include "base/sha256.h"
#include "deberta/error.h"
#include "serve/http.h"

namespace deberta::serve {
namespace {

constexpr std::array<std::string_view, kScopes> kNames = {"infer", "priority", "metrics", "explain", "admin"};
constexpr size_t kMostKeyBytes = 1 << 20;
constexpr size_t kMostName = 64;
constexpr size_t kDigits = 64;

std::vector<std::string_view> parts_of(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find(separator, begin), text.size());
    parts.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

Key key_of_line(std::string_view line, const std::string& where) {
  const auto refuse = [&](const std::string& message) { throw Error(ErrorCode::kUsage, where, message); };
  const std::vector<std::string_view> parts = parts_of(line, ':');
  if (parts.size() != 3)
    refuse(fmt::format("expected name:scopes:sha256, got {} parts; `printf %s KEY | sha256sum` gives the last",
                       parts.size()));
  Key key;
  key.name = parts[0];
  if (!is_plain_name(key.name, kMostName))
    refuse(
        fmt::format("expected a name of letters, digits, dots, dashes and underscores, got {}", quote_json(parts[0])));
  for (const std::string_view scope : parts_of(parts[1], ',')) {
    const auto entry = std::find(kNames.begin(), kNames.end(), scope);
    if (entry == kNames.end())
      refuse(fmt::format("expected scopes among {}, got {}", fmt::join(kNames, ", "), quote_json(scope)));
    key.scopes |= 1u << (entry - kNames.begin());
  }
  key.digest = parts[2];
  const bool is_digest = key.digest.size() == kDigits && std::all_of(key.digest.begin(), key.digest.end(), [](char c) {
                           return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
                         });
  if (!is_digest) refuse("expected the 64 hexadecimal digits of the key's SHA-256, in lower case");
  return key;
}

}  // namespace

std::string_view to_string(Scope scope) {
  return kNames[static_cast<size_t>(scope)];
}

void Keys::add_all(const std::string& name, std::string_view key) {
  keys_.push_back({name, (1u << kScopes) - 1, sha256_of(std::as_bytes(std::span(key)))});
}

void Keys::add_file(const std::string& path) {
  const std::string text = read_file(path, kMostKeyBytes);
  size_t number = 0;
  for (std::string_view line : parts_of(text, '\n')) {
    ++number;
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.empty() || line.starts_with('#')) continue;
    keys_.push_back(key_of_line(line, fmt::format("{}:{}", path, number)));
    const bool is_twice = std::any_of(keys_.begin(), keys_.end() - 1, [&](const Key& key) {
      return key.name == keys_.back().name || key.digest == keys_.back().digest;
    });
    if (is_twice) throw Error(ErrorCode::kUsage, fmt::format("{}:{}", path, number), "expected a new name and key");
  }
  if (keys_.empty()) throw Error(ErrorCode::kUsage, path, "expected at least one line name:scopes:sha256, got none");
}

const Key* Keys::find(std::string_view authorization) const {
  constexpr std::string_view kScheme = "bearer ";
  if (authorization.size() <= kScheme.size() || lower_case(authorization.substr(0, kScheme.size())) != kScheme)
    return nullptr;
  authorization.remove_prefix(std::min(authorization.find_first_not_of(' ', kScheme.size()), authorization.size()));
  const std::string digest = sha256_of(std::as_bytes(std::span(authorization)));
  const Key* match = nullptr;
  for (const Key& key : keys_) {
    unsigned char difference = 0;
    for (size_t i = 0; i < digest.size(); ++i) difference |= static_cast<unsigned char>(digest[i] ^ key.digest[i]);
    if (difference == 0) match = &key;
  }
  return match;
}

}  // namespace deberta::serve
