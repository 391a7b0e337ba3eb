// Where tests find things: fixtures of this repository, the shared folder when it is there, a fresh temporary folder.
#pragma once
#include <cstddef>
#include <string>

namespace deberta::test {

std::string fixture(const std::string& name);  // tests/golden/NAME

// ../shared/NAME, or "" when it is missing: the test is skipped and reports it.
std::string shared(const std::string& name);

// The folder of the original code's outputs: named by DEBERTA_GOLDENS or found in the shared folder; "" without one.
std::string original_goldens();

// A new empty folder, removed with the object.
class TemporaryFolder {
 public:
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  std::string path(const std::string& name) const { return path_ + "/" + name; }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

size_t files_in(const std::string& folder);  // folders count too

void write_text(const std::string& path, const std::string& text);

}  // namespace deberta::test
