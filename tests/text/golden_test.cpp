// Ids of a few hundred awkward texts as sentencepiece 0.2.3 and the slow tokenizer of transformers 4.57.6 give them
// (tests/golden/tokenizer/make.py), and what must hold for the offsets of each.
#include <gtest/gtest.h>

#include <filesystem>

#include "base/file.h"
#include "base/json.h"
#include "base/utf8.h"
#include "deberta/tokenizer.h"
#include "support/paths.h"

namespace deberta::test::golden_test {
namespace {

using Ids = std::vector<int32_t>;

Ids ids_of(const Json& array) {
  Ids ids;
  for (const Json& id : array.as_array()) ids.push_back(static_cast<int32_t>(id.as_integer()));
  return ids;
}

const Json& golden() {
  static const Json document = load_json(fixture("tokenizer/golden.json"), {.max_bytes = size_t{16} << 20});
  return document;
}

// A folder with one of the fixture's models and JSON files.
struct Folder {
  explicit Folder(const std::string& model, const Json& json_files = JsonObject{}) {
    write_text(files.path("spm.model"), read_file(fixture("tokenizer/" + model + ".model"), size_t{1} << 20));
    for (const auto& [name, content] : json_files.as_object()) write_text(files.path(name), content.dump());
  }
  Tokenizer load() const { return Tokenizer::load(files.path()); }
  TemporaryFolder files;
};

void expect_valid_offsets(const Encoding& encoding, const std::string& text) {
  ASSERT_EQ(encoding.bytes.size(), encoding.size());
  ASSERT_EQ(encoding.chars.size(), encoding.size());
  ASSERT_EQ(encoding.words.size(), encoding.size());
  Offset last;
  int32_t last_word = 0;
  for (size_t i = 0; i < encoding.size(); ++i) {
    const Offset bytes = encoding.bytes[i];
    ASSERT_LE(bytes.begin, bytes.end) << text;
    ASSERT_LE(bytes.end, text.size()) << text;
    ASSERT_LE(last.begin, bytes.begin) << text;
    ASSERT_LE(last.end, bytes.end) << text;
    ASSERT_TRUE(is_valid_utf8(std::string_view(text).substr(bytes.begin, bytes.end - bytes.begin))) << text;
    ASSERT_EQ(encoding.chars[i].begin, count_code_points(std::string_view(text).substr(0, bytes.begin))) << text;
    ASSERT_EQ(encoding.chars[i].end, count_code_points(std::string_view(text).substr(0, bytes.end))) << text;
    ASSERT_LE(last_word, encoding.words[i]) << text;
    last = bytes;
    last_word = encoding.words[i];
  }
}

class Golden : public testing::TestWithParam<const char*> {
 protected:
  const Json& model() const { return *golden().find("models")->find(GetParam()); }
  const JsonArray& texts() const { return golden().find("texts")->as_array(); }
};

TEST_P(Golden, PlainTextGivesTheIdsOfSentencepiece) {
  const Tokenizer tokenizer = Folder(GetParam()).load();
  const JsonArray& expected = model().find("plain")->as_array();
  for (size_t i = 0; i < texts().size(); ++i) {
    const std::string& text = texts()[i].as_string();
    const Encoding encoding = tokenizer.encode(text, {.add_special_tokens = false, .parse_special = false});
    EXPECT_EQ(encoding.ids, ids_of(expected[i])) << quote_json(text);
    expect_valid_offsets(encoding, text);
  }
}

TEST_P(Golden, TextWithSpecialTokensGivesTheIdsOfTheSlowTokenizer) {
  const Tokenizer tokenizer = Folder(GetParam()).load();
  const JsonArray& expected = model().find("slow")->as_array();
  for (size_t i = 0; i < texts().size(); ++i) {
    const std::string& text = texts()[i].as_string();
    EXPECT_EQ(tokenizer.encode(text).ids, ids_of(expected[i])) << quote_json(text);
    expect_valid_offsets(tokenizer.encode(text, {.add_special_tokens = false}), text);
  }
}

TEST_P(Golden, TruncationCutsTheLongerTextFirst) {
  const Tokenizer tokenizer = Folder(GetParam()).load();
  for (const Json& row : model().find("pairs")->as_array()) {
    const JsonArray& pair = row.as_array();
    EncodeOptions options;
    options.max_tokens = static_cast<size_t>(pair[2].as_integer());
    options.truncate = pair[3].as_string() == "left" ? Truncate::kLeft : Truncate::kRight;
    const Encoding encoding = tokenizer.encode_pair(pair[0].as_string(), pair[1].as_string(), options);
    EXPECT_EQ(encoding.ids, ids_of(pair[4])) << row.dump();
    EXPECT_EQ(encoding.type_ids, ids_of(pair[5])) << row.dump();
    const Encoding whole = tokenizer.encode_pair(pair[0].as_string(), pair[1].as_string());
    EXPECT_EQ(encoding.cut_tokens + encoding.size(), whole.size());
  }
  for (const Json& row : model().find("single")->as_array()) {
    const JsonArray& single = row.as_array();
    EncodeOptions options;
    options.max_tokens = static_cast<size_t>(single[1].as_integer());
    options.truncate = single[2].as_string() == "left" ? Truncate::kLeft : Truncate::kRight;
    EXPECT_EQ(tokenizer.encode(single[0].as_string(), options).ids, ids_of(single[3])) << row.dump();
  }
}

INSTANTIATE_TEST_SUITE_P(Models, Golden, testing::Values("bytes", "unknown"),
                         [](const auto& parameter) { return parameter.param; });

TEST(GoldenBytes, DecodingGivesTheTextOfSentencepiece) {
  const Tokenizer tokenizer = Folder("bytes").load();
  const Json& model = *golden().find("models")->find("bytes");
  const JsonArray& plain = model.find("plain")->as_array();
  const JsonArray& decoded = model.find("decoded")->as_array();
  for (size_t i = 0; i < plain.size(); ++i) {
    EXPECT_EQ(tokenizer.decode(ids_of(plain[i])), decoded[i].as_string()) << i;
  }
}

TEST(GoldenConfigs, AddedTokensActAsInTheSlowTokenizer) {
  for (const Json& config : golden().find("configs")->as_array()) {
    SCOPED_TRACE(config.find("name")->as_string());
    const Tokenizer tokenizer = Folder("bytes", *config.find("files")).load();
    for (const Json& row : config.find("texts")->as_array()) {
      const std::string& text = row.as_array()[0].as_string();
      EXPECT_EQ(tokenizer.encode(text).ids, ids_of(row.as_array()[1])) << quote_json(text);
      expect_valid_offsets(tokenizer.encode(text, {.add_special_tokens = false}), text);
    }
  }
}

// Published ids; the model file is a reconstruction, so it is not part of this repository.
TEST(GoldenPublished, DebertaV3BaseGivesThePublishedIds) {
  const std::string folder = shared("reference/tokenizers/deberta-v3-reconstructed");
  if (folder.empty()) GTEST_SKIP() << "needs the shared folder";
  const Tokenizer tokenizer = Tokenizer::load(folder);
  const Json document = load_json(shared("reference/golden-tokenizations/microsoft--deberta-v3-base.json"));
  size_t equal = 0;
  for (const Json& row : document.find("datasets")->as_array()) {
    const std::string& text = row.find("input")->as_string();
    const Encoding encoding = tokenizer.encode(text);
    if (encoding.ids == ids_of(*row.find("ids"))) {
      ++equal;
    } else {
      ADD_FAILURE() << quote_json(text);
    }
  }
  EXPECT_EQ(equal, document.find("datasets")->as_array().size());
}

}  // namespace
}  // namespace deberta::test::golden_test
