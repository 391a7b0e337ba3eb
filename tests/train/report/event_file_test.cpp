// Files for TensorBoard, byte for byte. TensorBoard itself reads them in tests/oracle/test_reports.py.
#include "train/report/event_file.h"

#include <gtest/gtest.h>

#include "base/folder.h"
#include "support/expect_error.h"
#include "train/report/report_case.h"

namespace deberta::train::event_file_test {
namespace {

// "18 00" -> two bytes.
std::string from_hex(std::string_view text) {
  std::string bytes;
  for (size_t at = 0; at + 2 <= text.size(); at += 3)
    bytes += static_cast<char>(std::stoi(std::string(text.substr(at, 2)), nullptr, 16));
  return bytes;
}

TEST(Crc32c, IsThatOfTheStandard) {
  // RFC 3720, B.4.
  EXPECT_EQ(crc32c("123456789"), 0xe3069283u);
  EXPECT_EQ(crc32c(std::string(32, '\0')), 0x8a9136aau);
  EXPECT_EQ(crc32c(std::string(32, '\xff')), 0x62a8ab43u);
  EXPECT_EQ(crc32c(""), 0u);
}

TEST(EventRecords, HaveLengthPayloadAndTheirMaskedChecksums) {
  // The first record of a file that TensorFlow wrote: its length and the checksum of that.
  const std::string payload = version_event(1.5);
  EXPECT_EQ(payload, from_hex("09 00 00 00 00 00 00 f8 3f 1a 0d").append("brain.Event:2"));
  const std::string record = event_record(payload);
  ASSERT_EQ(record.size(), 24u + 16);
  EXPECT_EQ(record.substr(0, 12), from_hex("18 00 00 00 00 00 00 00 a3 7f 4b 22"));
  EXPECT_EQ(record.substr(12, 24), payload);
  const uint32_t crc = crc32c(payload), masked = (crc >> 15 | crc << 17) + 0xa282ead8u;
  std::string end;
  for (int byte = 0; byte < 4; ++byte) end += static_cast<char>(masked >> 8 * byte);
  EXPECT_EQ(record.substr(36), end);
}

TEST(ScalarEvents, HaveATagAndAValueForEachMetric) {
  const std::string event = scalars_event({.step = 300, .time = 1.5, .metrics = {{"loss", 2.5}, {"ab", -1}}});
  EXPECT_EQ(event, from_hex("09 00 00 00 00 00 00 f8 3f "              // wall_time 1.5
                            "10 ac 02 "                                // step 300
                            "2a 18 "                                   // a summary of 24 bytes
                            "0a 0b 0a 04 6c 6f 73 73 15 00 00 20 40 "  // loss, 2.5
                            "0a 09 0a 02 61 62 15 00 00 80 bf"));      // ab, -1
}

TEST(EventFiles, HoldTheLogAndThenEachLine) {
  const test::RunCase run;
  const std::vector<LoggedLine> log = {{.step = 1, .time = 2, .metrics = {{"a", 1}}},
                                       {.step = 2, .time = 3, .metrics = {{"a", 2}}}};
  EventFile file(run.path("tb"), log);
  file.write({.step = 3, .time = 4, .metrics = {{"a", 3}}});
  const std::vector<std::string> names = names_in(run.path("tb"));
  ASSERT_EQ(names.size(), 1u);
  EXPECT_TRUE(names[0].starts_with("events.out.tfevents.")) << names[0];
  const std::string text = run.text("tb/" + names[0]);
  const std::string lines = event_record(scalars_event(log[0])) + event_record(scalars_event(log[1])) +
                            event_record(scalars_event({.step = 3, .time = 4, .metrics = {{"a", 3}}}));
  EXPECT_TRUE(text.ends_with(lines));
  EXPECT_EQ(text.size(),
            lines.size() + event_record(version_event(0)).size() + event_record(session_event(0, 0)).size());
}

TEST(EventFiles, OfARunThatGoesOnReplaceThoseOfBeforeAndNoOther) {
  const test::RunCase run;
  const EventFile first(run.path("tb"), {{.step = 9, .time = 1, .metrics = {{"a", 1}}}});
  run.write("tb/events.out.tfevents.1.other-host", "old");
  run.write("tb/notes.txt", "mine");
  const EventFile second(run.path("tb"), {});
  const std::vector<std::string> names = names_in(run.path("tb"));
  ASSERT_EQ(names.size(), 2u);
  EXPECT_EQ(names[1], "notes.txt");
  EXPECT_EQ(run.text("tb/" + names[0])
                .find("\x0a\x01"
                      "a"),
            std::string::npos);
}

TEST(EventFiles, SayWhenTheyCannotBeWritten) {
  const test::RunCase run;
  run.write("tb", "a file");
  EXPECT_ERROR(EventFile(run.path("tb"), {}), kFileWrite, "tb");
  EXPECT_ERROR(EventFile(run.path("absent/tb"), {}), kFileWrite, "cannot make the folder");
}

}  // namespace
}  // namespace deberta::train::event_file_test
