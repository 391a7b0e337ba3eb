// gliner_config.json: what is read, what is passed over, and what is refused by name.
#include "config/extraction_config.h"

#include <gtest/gtest.h>

#include <string>

#include "support/expect_error.h"
#include "support/paths.h"

namespace deberta::extraction_config_test {
namespace {

ExtractionFile parse(const std::string& text) {
  return parse_extraction_config(parse_json(text, "test"), "gliner_config.json");
}

TEST(ExtractionConfig, HasTheDefaultsOfTheLibrary) {
  const ExtractionFile file = parse("{}");
  EXPECT_EQ(file.extraction.span_mode, SpanMode::kMarkerV0);
  EXPECT_EQ(file.extraction.subtoken_pooling, SubtokenPooling::kFirst);
  EXPECT_EQ(file.extraction.hidden_size, 512);
  EXPECT_EQ(file.extraction.max_width, 12);
  EXPECT_EQ(file.extraction.max_len, 384);
  EXPECT_EQ(file.extraction.num_rnn_layers, 1);
  EXPECT_TRUE(file.extraction.embed_ent_token);
  EXPECT_EQ(file.extraction.class_token_index, -1);
  EXPECT_EQ(file.extraction.vocab_size, -1);
  EXPECT_EQ(file.extraction.ent_token, "<<ENT>>");
  EXPECT_EQ(file.extraction.sep_token, "<<SEP>>");
  EXPECT_FALSE(file.encoder.has_value());
}

// Keys of training are as they come, "1e-5" among them; has_rnn means nothing.
TEST(ExtractionConfig, OfTheFirstModelsIsRead) {
  for (const char* name : {"ner-ml-models--gliner_base", "ner-ml-models--nuner_zero"}) {
    const ExtractionFile file = load_extraction_config(test::fixture(std::string("published/") + name));
    EXPECT_EQ(file.extraction.span_mode, SpanMode::kMarker) << name;
    EXPECT_EQ(file.extraction.hidden_size, 768) << name;
    EXPECT_EQ(file.extraction.num_rnn_layers, 1) << name;
    EXPECT_TRUE(file.extraction.model_name.starts_with("microsoft/deberta-v3-")) << name;
    EXPECT_FALSE(file.encoder.has_value()) << name;
    EXPECT_FALSE(raw_document(file.extraction).is_null());
  }
  EXPECT_EQ(parse(R"({"has_rnn": false})").extraction.num_rnn_layers, 1);
}

// What is written means the same to whoever has other defaults, and keeps what nothing here reads.
TEST(ExtractionConfig, IsWrittenWithEveryKeyThatMatters) {
  const ExtractionConfig read =
      parse(R"({"span_mode": "marker", "max_types": 7, "max_width": 5, "dropout": 0.3})").extraction;
  const Json document(extraction_document(read));
  EXPECT_EQ(document.find("max_types")->as_integer(), 7);
  EXPECT_EQ(document.find("num_rnn_layers")->as_integer(), 1);
  EXPECT_EQ(document.find("embed_ent_token")->as_bool(), true);
  EXPECT_EQ(document.find("span_mode")->as_string(), "marker");
  const ExtractionConfig again = parse_extraction_config(document, "again").extraction;
  EXPECT_EQ(again.max_width, 5);
  EXPECT_EQ(Json(extraction_document(again)).dump(), document.dump()) << "nothing twice";
  ModelConfig config;
  EXPECT_EQ(config_file_of(config), "config.json");
  config.extraction = read;
  EXPECT_EQ(config_file_of(config), "gliner_config.json");
}

TEST(ExtractionConfig, ReadsEveryKey) {
  const ExtractionFile file = parse(
      R"({"span_mode": "token_level", "subtoken_pooling": "max", "hidden_size": 16.0, "max_width": 100, "max_len": 768,
          "num_rnn_layers": 0, "embed_ent_token": false, "class_token_index": 7, "vocab_size": 9, "ent_token": "<e>",
          "sep_token": "<s>", "model_name": "a/b", "encoder_config": {"hidden_size": 8}, "labels_encoder": null,
          "precomputed_prompts_mode": null, "fuse_layers": false, "post_fusion_schema": "", "represent_spans": false,
          "id_to_classes": null, "model_type": "gliner_uni_encoder_token", "words_splitter_type": "whitespace"})");
  const ExtractionConfig& c = file.extraction;
  EXPECT_EQ(to_string(c.span_mode), "token_level");
  EXPECT_FALSE(c.has_spans());
  EXPECT_EQ(to_string(c.subtoken_pooling), "max");
  EXPECT_EQ(c.hidden_size, 16);
  EXPECT_EQ(c.max_width, 100);
  EXPECT_EQ(c.max_len, 768);
  EXPECT_EQ(c.num_rnn_layers, 0);
  EXPECT_FALSE(c.embed_ent_token);
  EXPECT_EQ(c.class_token_index, 7);
  EXPECT_EQ(c.vocab_size, 9);
  EXPECT_EQ(c.ent_token + c.sep_token + c.model_name, "<e><s>a/b");
  ASSERT_TRUE(file.encoder.has_value());
  EXPECT_EQ(file.encoder->find("hidden_size")->as_integer(), 8);
}

TEST(ExtractionConfig, ListsEveryWrongValue) {
  EXPECT_ERROR(parse(R"({"span_mode": "query"})"), kConfig,
               "span_mode: expected one of markerV0, marker, token_level, got \"query\"");
  EXPECT_ERROR(parse(R"({"max_width": 0, "subtoken_pooling": 3})"), kConfig,
               "max_width: expected an integer from 1 to 4096, got 0");
  EXPECT_ERROR(parse(R"({"max_width": 0, "subtoken_pooling": 3})"), kConfig,
               "subtoken_pooling: expected one of first, last, mean, max, got 3");
  EXPECT_ERROR(parse(R"({"embed_ent_token": "yes"})"), kConfig, "embed_ent_token: expected true or false");
  EXPECT_ERROR(parse(R"({"model_name": 1})"), kConfig, "model_name: expected a text");
  EXPECT_ERROR(parse(R"({"encoder_config": "a"})"), kConfig, "encoder_config: expected an object");
  EXPECT_ERROR(parse(R"({"hidden_size": 7})"), kConfig, "hidden_size: expected an even number with num_rnn_layers 1");
  EXPECT_NO_THROW(parse(R"({"hidden_size": 7, "num_rnn_layers": 0})"));
  EXPECT_ERROR(parse("[]"), kConfig, "expected an object");
}

TEST(ExtractionConfig, RefusesOtherFamiliesByName) {
  const auto refuses = [](const std::string& text, const std::string& what) {
    EXPECT_ERROR(parse(text), kUnsupported, what);
  };
  refuses(R"({"labels_encoder": "a/b"})", "labels_encoder: a bi-encoder");
  refuses(R"({"labels_decoder": "a/b"})", "labels_decoder: a model that writes labels");
  refuses(R"({"relations_layer": "dot"})", "relations_layer: a model that also extracts relations");
  refuses(R"({"fuse_layers": true})", "fuse_layers: ");
  refuses(R"({"post_fusion_schema": "l2l"})", "post_fusion_schema: ");
  refuses(R"({"span_encoder_config": {"model_type": "rnn"}})", "span_encoder_config: ");
  refuses(R"({"precomputed_prompts_mode": true})", "precomputed_prompts_mode: ");
  refuses(R"({"id_to_classes": {"1": "person"}})", "id_to_classes: ");
  refuses(R"({"represent_spans": true, "fuse_layers": true})", "represent_spans: ");
  refuses(R"({"model_type": "gliner_streaming_span"})", "model_type: \"gliner_streaming_span\"");
  refuses(R"({"words_splitter_type": "spacy"})", "words_splitter_type: words of \"spacy\"");
}

}  // namespace
}  // namespace deberta::extraction_config_test
