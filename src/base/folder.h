// Listing a folder; and a folder that appears complete or not at all: built next to its target under a temporary name,
// then renamed.
#pragma once
#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/file.h"

namespace deberta {

// The names in a folder, sorted; an arbitrary subset if there are more than `most`. Nothing if it cannot be read; see
// errno. (The iterators of the standard library terminate the process when out of memory.)
std::optional<std::vector<std::string>> read_names(const std::string& folder, size_t most = SIZE_MAX);
// None when it cannot be read.
std::vector<std::string> names_in(const std::string& folder, size_t most = SIZE_MAX);

// The regular files that a pattern with * ? [] names, sorted. Throws kOutOfMemory.
std::vector<std::string> files_of_pattern(const std::string& pattern);

bool is_link(const std::string& path);

// Throws kFileWrite unless a StagedFolder of `target` can be published: it does not exist or is an empty folder, and
// the folder around it can be written to.
void check_new_folder(const std::string& target);

class StagedFolder {
 public:
  // Like check_new_folder(). A link to an empty folder is followed; that folder's mode is kept. Throws kFileWrite.
  explicit StagedFolder(const std::string& target);
  ~StagedFolder();  // removes what is there unless publish() has succeeded
  StagedFolder(const StagedFolder&) = delete;
  StagedFolder& operator=(const StagedFolder&) = delete;

  const std::string& path() const { return path_; }  // where it is built: TARGET.tmp-PID-RANDOM
  // A new file in it, synced before this returns. Folders in the name ("trainer/state.json") are created.
  void write_file(const std::string& name, const std::function<void(FileWriter&)>& fill);
  // Syncs the folder and those in it, gives it its name and syncs the parent. Throws kFileWrite.
  void publish();

 private:
  std::string target_;
  std::string path_;
  mode_t mode_ = 0;  // mode of the folder being replaced; 0: none
  std::vector<std::string> files_;
  std::vector<std::string> folders_;  // in it, each after the one that holds it
  int fd_ = -1;                       // the folder, locked
  bool is_published_ = false;
};

// Removes and lists what a StagedFolder, remove_folder() or write_output_file() of `target` left behind when its
// process was killed. What running processes are filling is locked (base/temporary.h) and kept.
std::vector<std::string> remove_leftovers(const std::string& target);
// The same of everything in the folder, whatever its target is called. For a folder that belongs to the caller.
void remove_leftovers_in(const std::string& folder);

// Renames the folder, then removes it: under its name it exists whole or not at all. Throws kFileWrite.
void remove_folder(const std::string& path);

// Whether both are the same folder, however written, or one is inside the other. Neither has to exist.
bool is_inside(const std::string& path, const std::string& folder);

}  // namespace deberta
