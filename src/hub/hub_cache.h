// The hub client's cache on disk: models--ORG--NAME/{refs/REVISION, snapshots/COMMIT/}. Read, never written.
#pragma once
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace deberta {

constexpr size_t kMaxShown = 8;  // names that a message lists

struct HubName {
  std::string repository;         // "ORG/NAME"
  std::string revision = "main";  // a branch, a tag, or the 40 hexadecimal digits of a commit
};

// "ORG/NAME" or "ORG/NAME@REVISION"; nothing if `name` does not have that form or could leave the cache.
std::optional<HubName> parse_hub_name(std::string_view name);

// "ORG/NAME" of every repository in the cache, sorted.
std::vector<std::string> list_repositories(const std::string& cache);

// CACHE/models--ORG--NAME
std::string repository_folder(const std::string& cache, const std::string& repository);

// The folder of a revision. Throws kFileNotFound when the revision or its snapshot is not there, kFileType for a link
// in it that leaves the cache.
std::string find_snapshot(const std::string& cache, const HubName& name);

}  // namespace deberta
