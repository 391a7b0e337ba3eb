// The small trained checkpoints give the logits that another program computed from the same weights.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <string>
#include <vector>

#include "base/file.h"
#include "base/json.h"
#include "engine/engine_case.h"
#include "support/test_device.h"

namespace deberta::trained_test {
namespace {

using namespace test;

std::string model_folder(const std::string& name) {
  return shared("reference/models/" + name);
}

Model load_folder(const std::string& folder, MaskDecoder mask_decoder = MaskDecoder::kAuto) {
  return load_model(Checkpoint::open(folder), load_model_config(folder + "/config.json"),
                    {.mask_decoder = mask_decoder});
}

std::vector<int32_t> to_ids(const Json& array) {
  std::vector<int32_t> ids;
  for (const Json& id : array.as_array()) ids.push_back(static_cast<int32_t>(id.as_integer()));
  return ids;
}

TEST(Trained, SequenceLogitsOfSst2) {
  const std::string folder = model_folder("nano-sst2");
  if (folder.empty()) GTEST_SKIP() << "needs the shared folder";
  const Model model = load_folder(folder);
  const Json rows = load_json(fixture("engine/nano_sst2_ids.json"));
  const Json expected = load_json(folder + "/expected.json");
  Batch batch;
  for (const Json& row : rows.as_array()) batch.add(to_ids(row));
  const ForwardResult result = run(model, batch);
  const JsonArray& examples = expected.find("examples")->as_array();
  ASSERT_EQ(result.logits_rows, examples.size());
  for (size_t b = 0; b < examples.size(); ++b) {
    const JsonArray& logits = examples[b].find("logits")->as_array();
    for (size_t c = 0; c < 2; ++c)
      EXPECT_NEAR(result.logits[2 * b + c], logits[c].as_number(), 1e-4) << "sentence " << b;
  }
}

// Each mask lists five pieces in `ids`, and their logits in `logits`.
void expect_mask_logits(const std::string& name) {
  const std::string folder = model_folder(name);
  if (folder.empty()) GTEST_SKIP() << "needs the shared folder";
  const Model model = load_folder(folder);
  size_t compared = 0;
  const Json expected = load_json(folder + "/expected.json");
  for (const Json& example : expected.as_array()) {
    const Batch batch = make_batch({to_ids(*example.find("ids"))});
    for (const Json& mask : example.find("masks")->as_array()) {
      ForwardOptions options;
      options.rows = {static_cast<int32_t>(mask.find("position")->as_integer())};
      const ForwardResult result = run(model, batch, options);
      const std::vector<int32_t> pieces = to_ids(*mask.find("ids"));
      for (size_t k = 0; k < pieces.size(); ++k, ++compared) {
        EXPECT_NEAR(result.logits[static_cast<size_t>(pieces[k])], mask.find("logits")->as_array()[k].as_number(),
                    1e-4);
      }
    }
  }
  EXPECT_GT(compared, 20u);
}

TEST(Trained, MaskLogitsOfTheLanguageModel) {
  expect_mask_logits("nano-mlm");
}

TEST(Trained, MaskLogitsOfTheMaskDecoder) {
  expect_mask_logits("nano-emd");
}

// The five best ids of one mask.
std::vector<int32_t> best_five(const ForwardResult& result, size_t row) {
  const float* logits = &result.logits[row * result.logits_columns];
  std::vector<int32_t> ids(result.logits_columns);
  std::iota(ids.begin(), ids.end(), 0);
  std::partial_sort(ids.begin(), ids.begin() + 5, ids.end(),
                    [&](int32_t a, int32_t b) { return logits[a] > logits[b]; });
  ids.resize(5);
  return ids;
}

// `key` of each mask lists the five best ids; all masks of a text are run at once.
void expect_best_ids(MaskDecoder mask_decoder, const char* key) {
  const std::string folder = model_folder("nano-emd");
  if (folder.empty()) GTEST_SKIP() << "needs the shared folder";
  const Model model = load_folder(folder, mask_decoder);
  EXPECT_EQ(model.has_mask_decoder(), mask_decoder != MaskDecoder::kOff);
  const Json expected = load_json(folder + "/expected.json");
  for (const Json& example : expected.as_array()) {
    const JsonArray& masks = example.find("masks")->as_array();
    ForwardOptions options;
    for (const Json& mask : masks) options.rows.push_back(static_cast<int32_t>(mask.find("position")->as_integer()));
    const ForwardResult result = run(model, make_batch({to_ids(*example.find("ids"))}), options);
    for (size_t n = 0; n < masks.size(); ++n) {
      EXPECT_EQ(best_five(result, n), to_ids(*masks[n].find(key))) << example.find("text")->as_string();
    }
  }
}

TEST(Trained, TheMaskDecoderRanksAsTheOriginalCode) {
  expect_best_ids(MaskDecoder::kOn, "ids");
}

TEST(Trained, WithoutTheMaskDecoderThePlainHeadRanks) {
  expect_best_ids(MaskDecoder::kOff, "plain_head_ids");
}

}  // namespace
}  // namespace deberta::trained_test
