// What is left of a file: NAME.done once its answers are there, NAME.failed when it could not be answered.
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "base/json.h"
#include "jobs/file_state.h"

namespace deberta::jobs {

struct DoneRecord {
  std::string input;  // its path, as it was given
  std::string input_sha256;
  uint64_t input_bytes = 0;
  std::optional<FileStamp> input_stamp;  // none when it changed shortly before: the next change may have the same times
  std::string job;                       // SHA-256 of what decides the answers
  uint64_t rows = 0, bad_rows = 0;
  double seconds = 0;
  uint64_t output_bytes = 0;
  std::string output_sha256;
  std::string host;
};

Json to_json(const DoneRecord& record);
// None for what is no record, or is damaged.
std::optional<DoneRecord> load_done(const std::string& path);

// Whether the input still has the content that was answered. Its hash is computed only where its stamp has changed;
// `check` is asked meanwhile, and may throw. False for one that cannot be read.
bool has_input_of(const DoneRecord& record, const std::string& input, const std::function<void()>& check);

// Replaces the file as a whole. Throws kFileWrite.
void write_record(const std::string& path, const Json& record);

}  // namespace deberta::jobs
