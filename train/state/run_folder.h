// The folder of a run: one process writes to it, and what is in it belongs to the run.
#pragma once
#include <optional>
#include <string>

#include "train/state/checkpoint_folder.h"

namespace deberta::train {

constexpr const char* kMetricsName = "metrics.jsonl";
constexpr const char* kEventsName = "events.jsonl";
constexpr const char* kTensorBoardName = "tb";  // a folder
constexpr const char* kPageName = "run.html";
constexpr const char* kResultsName = "all_results.json";
constexpr const char* kOutOfTimeKey = "out_of_time";  // a key of kResultsName: the time was over before the last step

class RunFolder {
 public:
  // Makes the folder if there is none, locks it while this object lives, removes what killed runs left half-written,
  // and finds the newest checkpoint. Throws kFileWrite when another run has it locked, or when it holds files but no
  // run; kUsage for one with a checkpoint unless `may_resume`.
  RunFolder(const std::string& path, bool may_resume);
  ~RunFolder();
  RunFolder(const RunFolder&) = delete;
  RunFolder& operator=(const RunFolder&) = delete;

  const std::string& path() const { return path_; }
  std::string file(const std::string& name) const { return path_ + "/" + name; }
  const std::optional<FoundCheckpoint>& checkpoint() const { return checkpoint_; }

 private:
  std::string path_;
  int fd_ = -1;
  std::optional<FoundCheckpoint> checkpoint_;
};

// The lock that a RunFolder takes, for those who only read the folder, if no run has it. Nothing is made or removed.
class FolderLock {
 public:
  explicit FolderLock(const std::string& path);
  ~FolderLock();  // and unlocked
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(const FolderLock&) = delete;

  bool is_held() const { return fd_ >= 0; }  // false: a run writes to the folder, or it cannot be opened

 private:
  int fd_ = -1;
};

}  // namespace deberta::train
