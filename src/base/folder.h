// A folder that appears whole or not at all: built beside its place under a name of its own, then renamed.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "base/file.h"

namespace deberta {

class StagedFolder {
 public:
  // `target` does not exist, or is an empty folder; its parent exists. Throws kFileWrite.
  explicit StagedFolder(const std::string& target);
  ~StagedFolder();  // removes what is there unless publish() has succeeded
  StagedFolder(const StagedFolder&) = delete;
  StagedFolder& operator=(const StagedFolder&) = delete;

  const std::string& path() const { return path_; }  // where it is built: TARGET.tmp-PID-RANDOM
  // A new file in it, synced before this returns.
  void write_file(const std::string& name, const std::function<void(FileWriter&)>& fill);
  // Syncs the folder, gives it its name and syncs the parent. Throws kFileWrite.
  void publish();

 private:
  std::string target_;
  std::string path_;
  std::vector<std::string> files_;
  bool is_published_ = false;
};

// Folders that a StagedFolder of `target` left behind when its process was killed: removed and listed. Those of a
// process that still runs stay.
std::vector<std::string> remove_leftovers(const std::string& target);

// The same folder, however it is written, or one inside the other. Neither has to exist.
bool is_inside(const std::string& path, const std::string& folder);

}  // namespace deberta
