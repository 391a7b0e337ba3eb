// Folders as people publish them: which tokenizer they have, and its ids, slow and fast, as AutoTokenizer of
// transformers 4.57 gives them (tests/golden/tokenizer/classes).
#include <gtest/gtest.h>

#include "base/file.h"
#include "base/json.h"
#include "deberta/tokenizer.h"
#include "support/expect_error.h"
#include "support/paths.h"
#include "support/warnings.h"

namespace deberta::test::tokenizer_classes_test {
namespace {

using Ids = std::vector<int32_t>;

const Json& golden() {
  static const Json document = load_json(fixture("tokenizer/classes/golden.json"));
  return document;
}

Ids ids_of(const Json& array) {
  Ids ids;
  for (const Json& id : array.as_array()) ids.push_back(static_cast<int32_t>(id.as_integer()));
  return ids;
}

void copy_fixture(const TemporaryFolder& files, const std::string& name, const std::string& source) {
  write_text(files.path(name), read_file(fixture("tokenizer/" + source), size_t{1} << 20));
}

// The files of a case: names of fixtures, or contents.
void fill(const TemporaryFolder& files, const Json& sources) {
  for (const auto& [name, source] : sources.as_object()) {
    if (!source.is_string()) {
      write_text(files.path(name), source.dump());
    } else if (source.as_string().empty()) {
      write_text(files.path(name), "");
    } else {
      copy_fixture(files, name, source.as_string());
    }
  }
}

void expect_same(const Tokenizer& tokenizer, const Json& answers) {
  const JsonArray& texts = golden().find("texts")->as_array();
  const JsonArray& pairs = golden().find("pairs")->as_array();
  for (size_t i = 0; i < answers.as_array().size(); ++i) {
    const bool is_pair = i >= texts.size();
    const std::string& first = is_pair ? pairs[i - texts.size()].as_array()[0].as_string() : texts[i].as_string();
    const std::string second = is_pair ? pairs[i - texts.size()].as_array()[1].as_string() : "";
    const Encoding encoding = is_pair ? tokenizer.encode_pair(first, second) : tokenizer.encode(first);
    const Json& answer = answers.as_array()[i];
    EXPECT_EQ(encoding.ids, ids_of(*answer.find("ids"))) << first << " | " << second;
    EXPECT_EQ(encoding.type_ids, ids_of(*answer.find("types"))) << first << " | " << second;
  }
}

class TokenizerClasses : public testing::TestWithParam<size_t> {};

// What transformers 4.57 does not load but the tokenizers library does gets its fast ids here, requested or not.
TEST_P(TokenizerClasses, IdsAreThoseOfTheLibrary) {
  const Json& test_case = golden().find("cases")->as_array()[GetParam()];
  SCOPED_TRACE(test_case.find("name")->as_string());
  const Warnings quiet;
  const TemporaryFolder files;
  fill(files, *test_case.find("files"));
  for (const bool is_fast : {false, true}) {
    SCOPED_TRACE(is_fast ? "fast" : "slow");
    const Json& answers = *test_case.find(is_fast ? "fast" : "slow");
    const Json& fast = *test_case.find("fast");
    const TokenizerKind kind = is_fast ? TokenizerKind::kFast : TokenizerKind::kSlow;
    if (answers.is_array()) {
      expect_same(Tokenizer::load(files.path(), kind), answers);
    } else if (fast.is_array()) {
      expect_same(Tokenizer::load(files.path(), kind), fast);
    } else {
      EXPECT_THROW(Tokenizer::load(files.path(), kind), Error);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Cases, TokenizerClasses, testing::Range(size_t{0}, golden().find("cases")->as_array().size()));

class TokenizerFilesTest : public testing::Test {
 protected:
  TokenizerFilesTest() { copy_fixture(files_, "spm.model", "unknown.model"); }
  void set(const std::string& text) { write_text(files_.path("tokenizer_config.json"), text); }
  Tokenizer load() const { return Tokenizer::load(files_.path()); }
  TemporaryFolder files_;
};

TEST_F(TokenizerFilesTest, ForeignClassesAreRefusedByName) {
  set(R"({"tokenizer_class": "DebertaV2JumanppTokenizer"})");
  EXPECT_ERROR(load(), kUnsupported, "tokenizer_class: \"DebertaV2JumanppTokenizer\" is not supported");
  set(R"({"tokenizer_class": 7})");
  EXPECT_ERROR(load(), kTokenizerFile, "tokenizer_class: expected the name of a class, got 7");
}

TEST_F(TokenizerFilesTest, CodeOfTheFolderIsNotRunAndNotReplaced) {
  set(R"({"tokenizer_class": "DebertaV2Tokenizer", "auto_map": {"AutoTokenizer": ["own.Tokenizer", null]}})");
  EXPECT_ERROR(load(), kUnsupported, "auto_map: the tokenizer is the model's own code");
  set(R"({"auto_map": {"AutoModel": "own.Model", "AutoTokenizer": null}})");
  EXPECT_EQ(load().size(), 601U);
  set("{}");
  write_text(files_.path("config.json"), R"({"model_type": "deberta-v2", "auto_map": {"AutoTokenizer": "own.T"}})");
  EXPECT_ERROR(load(), kUnsupported, "config.json: auto_map");
}

TEST_F(TokenizerFilesTest, FilesOfAnotherClassAreNamed) {
  set(R"({"tokenizer_class": "DebertaTokenizer"})");
  EXPECT_ERROR(load(), kFileNotFound,
               "found none of vocab.json with merges.txt, bpe_encoder.bin, tokenizer.json; it has "
               "spm.model, of another class");
}

TEST_F(TokenizerFilesTest, BrokenModelsGiveWayToTokenizerJsonAndSaySo) {
  copy_fixture(files_, "tokenizer.json", "classes/v5_unigram.json");
  write_text(files_.path("spm.model"), "\n");
  const Warnings warnings;
  EXPECT_EQ(load().encode("hello").ids.size(),
            Tokenizer::load(files_.path(), TokenizerKind::kFast).encode("hello").size());
  EXPECT_NE(warnings.text.find("tokenizer.json is used instead"), std::string::npos) << warnings.text;
}

TEST_F(TokenizerFilesTest, DifferentPairsCauseAWarning) {
  const TemporaryFolder v5;
  copy_fixture(v5, "tokenizer.json", "classes/v5_bytes.json");
  const Warnings warnings;
  EXPECT_FALSE(Tokenizer::load(v5.path()).has_plain_pairs());
  EXPECT_NE(warnings.text.find("two [SEP] between, type 0 alone"), std::string::npos) << warnings.text;
  EXPECT_TRUE(load().has_plain_pairs());
}

TEST_F(TokenizerFilesTest, TheLongestInputIsKnown) {
  EXPECT_EQ(load().max_length(), std::nullopt);
  set(R"({"model_max_length": 64})");
  EXPECT_EQ(load().max_length(), 64U);
  for (const char* none : {"1000000000000000019884624838656", "null", "1e400", "NaN"}) {
    set(std::string(R"({"model_max_length": )") + none + "}");
    EXPECT_EQ(load().max_length(), std::nullopt) << none;
  }
  set(R"({"model_max_length": "many"})");
  EXPECT_ERROR(load(), kTokenizerFile, "model_max_length: expected a number, got \"many\"");
}

}  // namespace
}  // namespace deberta::test::tokenizer_classes_test
