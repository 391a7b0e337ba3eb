// Files for TensorBoard: tb/events.out.tfevents.TIME.HOST. A record is the length of its payload (8 bytes,
// little-endian), a masked CRC-32C of these, the payload and a masked CRC-32C of that; a payload is an Event of
// TensorFlow's event.proto, of which three forms are written: the version first, the start of a session, a line of
// scalars.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "train/report/run_record.h"
#include "train/state/appended_file.h"

namespace deberta::train {

uint32_t crc32c(std::string_view bytes);         // Castagnoli's polynomial
uint32_t masked_crc32c(std::string_view bytes);  // rotated by 15 and shifted, as TensorFlow stores it

std::string event_record(std::string_view payload);
std::string version_event(double time);                // "brain.Event:2"
std::string session_event(double time, int64_t step);  // readers drop what they have from `step` on
std::string scalars_event(const LoggedLine& line);     // tags are the names of the metrics

class EventFile {
 public:
  // Replaces the event files of the folder by one with all of `log`: a resumed run begins with what is left of its
  // log, so that no step appears twice. Makes the folder. Throws kFileWrite.
  EventFile(const std::string& folder, const std::vector<LoggedLine>& log);

  void write(const LoggedLine& line);  // throws kFileWrite; then no part of the line is in the file

 private:
  std::unique_ptr<AppendedFile> file_;
};

}  // namespace deberta::train
