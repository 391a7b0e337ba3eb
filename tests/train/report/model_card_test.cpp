// README.md of a model: what the hub reads, what a person reads, and whose it is.
#include "train/report/model_card.h"

#include <gtest/gtest.h>

#include "train/report/report_case.h"

namespace deberta::train::model_card_test {
namespace {

using test::RunCase;

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

class ModelCards : public testing::Test {
 protected:
  ModelCards() { run_.make_whole(); }
  // `config` is a JSON object, without the keys that every configuration must have.
  std::string card_of(const std::string& config) const {
    run_.write("config.json",
               R"({"vocab_size": 50, "num_hidden_layers": 2, "num_attention_heads": 2, )" + config.substr(1));
    return make_model_card(run_.record());
  }
  const RunCase run_;
};

TEST_F(ModelCards, BeginWithWhatTheHubReads) {
  const std::string card = make_model_card(run_.record());
  EXPECT_TRUE(
      card.starts_with("---\nlibrary_name: deberta\npipeline_tag: fill-mask\nbase_model: \"org/base\"\ntags:\n- "
                       "deberta\n- fill-mask\nmetrics:\n- \"accuracy\"\nmodel-index:\n"))
      << card;
  EXPECT_TRUE(has(card, "    - type: \"accuracy\"\n      name: \"accuracy\"\n      value: 0.5\n---\n\n"));
}

TEST_F(ModelCards, HaveTheLicenceLanguagesAndDataSetsThatWereNamed) {
  RunRecord record = run_.record();
  for (RunEvent& event : record.events) {
    if (event.details.empty()) continue;
    event.details.insert(event.details.end(), {{"card-base-model", "org/first"},
                                               {"card-license", "cc-by-4.0"},
                                               {"card-language", "en, de"},
                                               {"card-datasets", "glue,org/more"}});
  }
  const std::string card = make_model_card(record);
  EXPECT_TRUE(has(card,
                  "base_model: \"org/first\"\nlicense: \"cc-by-4.0\"\nlanguage:\n- \"en\"\n- \"de\"\ndatasets:\n- "
                  "\"glue\"\n- \"org/more\"\ntags:\n"))
      << card;
  EXPECT_FALSE(has(card, "card-"));
}

TEST_F(ModelCards, SayWhatTheModelIsAndWhatMadeIt) {
  const std::string card = make_model_card(run_.record());
  EXPECT_TRUE(has(card, "a masked language model of the DeBERTa family"));
  EXPECT_TRUE(has(card, "    deberta fill -m MODEL"));
  EXPECT_TRUE(has(card, "* corpus a.txt: 12 tokens\n"));
  EXPECT_TRUE(has(card, "* tokens seen: 1,280\n"));
  EXPECT_TRUE(has(card, "| accuracy | 0.5 |\n"));
  EXPECT_TRUE(has(card, "| batch-size | 8 |\n"));
  EXPECT_TRUE(has(card, "[run.html](run.html)"));
}

TEST_F(ModelCards, SayThatTheEvaluationIsOfRowsHeldOut) {
  RunRecord record = run_.record();
  ASSERT_TRUE(record.state);
  EXPECT_FALSE(has(make_model_card(record), "not trained on"));
  record.state->options["validation-split"] = "0";
  EXPECT_FALSE(has(make_model_card(record), "not trained on"));
  record.state->options["validation-split"] = "0.1";
  EXPECT_TRUE(
      has(make_model_card(record), "Measured on 0.1 of the training rows, drawn by the seed and not trained on."));
}

TEST_F(ModelCards, SayWhereTransformersAnswersOtherwise) {
  EXPECT_TRUE(has(make_model_card(run_.record()), "no enhanced mask decoder"));
  const std::string causal =
      card_of("{\"model_type\": \"deberta-v2\", \"architectures\": [\"DebertaV2ForMaskedLM\"], \"is_decoder\": true}");
  EXPECT_TRUE(has(causal, "transformers cannot compute it") && has(causal, "eval --task causal"));
  EXPECT_FALSE(has(causal, "from_pretrained") || has(causal, "pipeline_tag"));
  const std::string plain = card_of("{\"model_type\": \"deberta-v2\", \"architectures\": [\"DebertaV2ForMaskedLM\"]}");
  EXPECT_TRUE(has(plain, "library_name: transformers") && has(plain, "AutoModelForMaskedLM.from_pretrained"));
  const std::string passes = card_of(
      "{\"model_type\": \"deberta-v2\", \"architectures\": [\"DebertaV2ForMaskedLM\"], \"position_biased_input\": "
      "false, "
      "\"mask_decoder_passes\": 0}");
  EXPECT_TRUE(has(passes, "library_name: transformers"));
  for (const char* key : {"\"norm_first\": true", "\"relative_attention\": true, \"pos_att_type\": \"c2p|p2c|p2p\"",
                          "\"own_decoder_layers\": true", "\"conv_at_input\": true, \"conv_kernel_size\": 3"}) {
    const std::string card = card_of(
        std::string("{\"model_type\": \"deberta-v2\", \"architectures\": [\"DebertaV2ForMaskedLM\"], ") + key + "}");
    EXPECT_TRUE(has(card, "nothing else computes it") && has(card, "library_name: deberta")) << key;
    EXPECT_FALSE(has(card, "deberta fill") || has(card, "from_pretrained")) << key;
  }
  const std::string unread = card_of(
      "{\"model_type\": \"deberta-v2\", \"architectures\": [\"DebertaV2ForMaskedLM\"], \"own_decoder_layers\": true, "
      "\"mask_decoder_passes\": 0}");
  EXPECT_TRUE(has(unread, "deberta fill -m MODEL")) << "the layers of a decoder that never runs";
  const std::string classifier = card_of(
      "{\"model_type\": \"deberta-v2\", \"architectures\": [\"DebertaV2ForSequenceClassification\"], "
      "\"own_decoder_layers\": true}");
  EXPECT_TRUE(has(classifier, "deberta classify -m MODEL") && has(classifier, "library_name: transformers"));
  const std::string scale = card_of(
      "{\"model_type\": \"deberta-v2\", \"architectures\": [\"DebertaV2ForSequenceClassification\"], "
      "\"scale_by_terms\": false}");
  EXPECT_TRUE(has(scale, "deberta classify -m MODEL") && has(scale, "answer wrongly"));
  EXPECT_FALSE(has(scale, "from_pretrained"));
  const std::string original = card_of("{\"architectures\": [\"DebertaForSequenceClassification\"]}");
  EXPECT_TRUE(has(original, "has no model_type") && has(original, "deberta classify -m MODEL"));
}

TEST_F(ModelCards, OfARerankerSayHowItRanks) {
  TrainerState state{.step = 30, .total_steps = 30, .options = {{"task", "ranking"}}};
  run_.add_checkpoint(state);
  const std::string card = card_of(
      "{\"model_type\": \"deberta-v2\", \"architectures\": [\"DebertaV2ForSequenceClassification\"], "
      "\"num_labels\": 1}");
  EXPECT_TRUE(has(card, "pipeline_tag: text-ranking") && has(card, "a reranker") &&
              has(card, "deberta rerank -m MODEL"))
      << card;
  EXPECT_FALSE(has(card, "deberta classify"));
}

TEST_F(ModelCards, OfADiscriminatorOfferTheEncoder) {
  TrainerState state{.step = 30, .total_steps = 30, .options = {{"objective", "rtd"}}};
  run_.add_checkpoint(state);
  const std::string card = make_model_card(run_.record());
  EXPECT_TRUE(has(card, "deberta detect -m MODEL/discriminator") && has(card, "no head for replaced tokens"));
  EXPECT_TRUE(has(card, "AutoModel.from_pretrained(\"MODEL/discriminator\")") && has(card, "library_name: deberta"));
}

TEST_F(ModelCards, NameNoFolderAsTheModelTheyBeganWith) {
  for (const char* model : {"base", "./base", "a/b/c", "/models/base", "", "org/"}) {
    run_.write(kEventsName,
               std::string("{\"step\": 0, \"kind\": \"began\", \"details\": {\"model\": \"") + model + "\"}}\n");
    EXPECT_FALSE(has(make_model_card(run_.record()), "base_model")) << model;
  }
}

TEST_F(ModelCards, OfARunWhoseTimeWasOverSayHowFarItCame) {
  TrainerState state{.step = 20, .total_steps = 30, .options = {{"objective", "mlm"}}};
  run_.add_checkpoint(state);
  run_.write(kResultsName, "{\"steps\": 20, \"out_of_time\": true}");
  EXPECT_TRUE(has(make_model_card(run_.record()), "| steps | 20 of 30 |"));
  run_.write(kResultsName, "{\"steps\": 20}");
  EXPECT_TRUE(has(make_model_card(run_.record()), "| steps | 20 |"));
}

TEST_F(ModelCards, AreTheirMakersUntilAPersonChangesThem) {
  const std::string card = make_model_card(run_.record());
  EXPECT_TRUE(is_own_card(card));
  EXPECT_FALSE(is_own_card("Mine.\n" + card)) << "changed";
  EXPECT_FALSE(is_own_card(card + "Mine.\n"));
  EXPECT_FALSE(is_own_card(card.substr(0, card.rfind("<!--")))) << "without the mark";
  EXPECT_FALSE(is_own_card(""));
}

}  // namespace
}  // namespace deberta::train::model_card_test
