// events.jsonl: what happened to a run, kept over its breaks.
#include "train/state/event_log.h"

#include <gtest/gtest.h>

#include "base/file.h"
#include "support/expect_error.h"
#include "support/paths.h"

namespace deberta::train::event_log_test {
namespace {

using deberta::test::TemporaryFolder;
using deberta::test::write_text;

class EventLogs : public testing::Test {
 protected:
  const TemporaryFolder folder_;
  const std::string path_ = folder_.path("events.jsonl");
  std::string text() const { return read_file(path_, 1 << 20); }
};

TEST_F(EventLogs, HaveAnObjectALineAtOnce) {
  EventLog log(path_, true);
  log.write({.step = 0, .kind = event::kBegan, .time = 1.5, .details = {{"corpus a.txt", "12 tokens"}}});
  log.write({.step = 7, .kind = event::kFailedSave, .text = "disk \"x\" full\n", .time = 2});
  EXPECT_EQ(text(),
            "{\"step\": 0, \"kind\": \"began\", \"time\": 1.5, \"details\": {\"corpus a.txt\": \"12 tokens\"}}\n"
            "{\"step\": 7, \"kind\": \"failed save\", \"time\": 2.0, \"text\": \"disk \\\"x\\\" full\\n\"}\n");
}

TEST_F(EventLogs, AreReadAsTheyWereWritten) {
  const RunEvent event{
      .step = 9, .kind = event::kResumed, .text = "from \xC3\xA4", .time = 1.25, .details = {{"b", "1"}, {"a", ""}}};
  EventLog(path_, true).write(event);
  const std::string line = text().substr(0, text().size() - 1);
  EXPECT_EQ(parse_event(line), event);
  for (const char* bad : {"", "{", "[]", "{\"step\": 1}", "{\"step\": \"1\", \"kind\": \"x\"}", "{\"kind\": \"x\"}"})
    EXPECT_EQ(parse_event(bad), std::nullopt) << bad;
  EXPECT_EQ(parse_event("{\"step\": 1, \"kind\": \"of later\", \"more\": [1]}")->kind, "of later");
}

TEST_F(EventLogs, GoOnBehindTheLastWholeLineAndNeverForgetABreak) {
  const std::string good = "{\"step\": 50, \"kind\": \"began\", \"time\": 1.0}\n";
  write_text(path_, good + "{\"step\": 60, \"ki");
  EventLog(path_, false).write({.step = 40, .kind = event::kResumed, .time = 2});
  EXPECT_EQ(text(), good + "{\"step\": 40, \"kind\": \"resumed\", \"time\": 2.0}\n");
  const EventLog anew(path_, true);
  EXPECT_EQ(text(), "");
}

TEST_F(EventLogs, SayWhenTheyCannotBeWritten) {
  EXPECT_ERROR(EventLog(folder_.path("absent/a"), false), kFileWrite, "absent/a: cannot open");
}

}  // namespace
}  // namespace deberta::train::event_log_test
