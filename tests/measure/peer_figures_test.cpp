// Figures of other libraries from JSON lines, and the ratio of ours to them.
#include "measure/peer_figures.h"

#include <gtest/gtest.h>

#include <string>

#include "support/expect_error.h"
#include "support/paths.h"

namespace deberta::measure::peer_figures_test {
namespace {

TEST(PeerFigures, AreComparedByKindAndLength) {
  const test::TemporaryFolder folder;
  const std::string path = folder.path("peers.jsonl");
  test::write_text(path,
                   "{\"what\": \"latency\", \"peer\": \"a\", \"seq\": 8, \"ms_min\": 6}\n"
                   "\n"
                   "{\"what\": \"train\", \"peer\": \"b\", \"seq\": 8, \"tokens_per_s\": 5}\n"
                   "{\"what\": \"train\", \"peer\": \"c\", \"seq\": 9, \"tokens_per_s\": 5}\n"
                   "{\"what\": \"mixed\", \"peer\": \"d\", \"tokens_per_s\": 2}\n"
                   "{\"what\": \"mixed\", \"peer\": \"e\", \"error\": \"no\"}\n"
                   "{\"what\": \"start\", \"peer\": \"f\", \"s\": 1}\n");
  const PeerFigures peers(path);
  EXPECT_EQ(Json(peers.ratios("latency", 8, 3)).dump(), R"({"a": 2.0})");
  EXPECT_EQ(Json(peers.ratios("train", 8, 15)).dump(), R"({"b": 3.0})");
  EXPECT_EQ(Json(peers.ratios("mixed", 0, 3)).dump(), R"({"d": 1.5})");
  EXPECT_TRUE(peers.ratios("train", 7, 15).empty());
}

TEST(PeerFigures, AFigureThatIsNoneIsAnError) {
  const test::TemporaryFolder folder;
  const std::string path = folder.path("peers.jsonl");
  test::write_text(path, "{\"what\": \"train\", \"peer\": \"b\", \"seq\": 8, \"tokens_per_s\": 0}\n");
  EXPECT_ERROR(PeerFigures{path}, kJson, "tokens_per_s");
}

}  // namespace
}  // namespace deberta::measure::peer_figures_test
