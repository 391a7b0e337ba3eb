// Folders of the tests.
#include "support/paths.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>

namespace deberta::test {

std::string fixture(const std::string& name) {
  return std::string(DEBERTA_SOURCE_DIR "/tests/golden/") + name;
}

std::string shared(const std::string& name) {
  const std::string path = std::string(DEBERTA_SOURCE_DIR) + "/../shared/" + name;
  return std::filesystem::exists(path) ? path : "";
}

std::string original_goldens() {
  const char* named = std::getenv("DEBERTA_GOLDENS");
  return named != nullptr ? named : shared("reference/original-goldens");
}

TemporaryFolder::TemporaryFolder() {
  std::string pattern = std::filesystem::temp_directory_path().string() + "/deberta-test-XXXXXX";
  if (::mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("cannot create " + pattern);
  path_ = pattern;
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

size_t files_in(const std::string& folder) {
  return static_cast<size_t>(std::distance(std::filesystem::directory_iterator(folder), {}));
}

void write_text(const std::string& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary);
  file << text;
  if (!file.flush()) throw std::runtime_error("cannot write " + path);
}

}  // namespace deberta::test
