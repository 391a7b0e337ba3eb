// The table against hand-written lists, and the comparison of a checkpoint with it.
#include "checkpoint/tensor_table.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "checkpoint/tensor.h"
#include "config/model_config.h"
#include "support/paths.h"

namespace deberta::tensor_table_test {
namespace {

using test::TemporaryFolder;

// Small, and every dimension a different number.
ModelConfig small_config() {
  ModelConfig config;
  config.hidden_size = 6;
  config.num_hidden_layers = 2;
  config.num_attention_heads = 3;
  config.attention_head_size = 2;
  config.intermediate_size = 10;
  config.vocab_size = 11;
  config.embedding_size = 6;
  config.max_position_embeddings = 8;
  config.max_relative_positions = 8;
  config.position_buckets = 4;
  config.relative_attention = true;
  config.position_biased_input = false;
  config.has_c2p = config.has_p2c = true;
  config.share_att_key = true;
  config.has_rel_layer_norm = true;
  config.pooler_hidden_size = 6;
  return config;
}

using Shapes = std::map<std::string, Shape>;

Shapes shapes_of(const ModelConfig& config, Head head, int64_t labels = 0) {
  Shapes shapes;
  for (const TensorSpec& spec : list_tensors(config, facts_of(head), labels))
    EXPECT_TRUE(shapes.emplace(spec.name, spec.shape).second) << spec.name;
  return shapes;
}

std::set<std::string> required_names(const ModelConfig& config, Head head = Head::kNone) {
  std::set<std::string> names;
  for (const TensorSpec& spec : list_tensors(config, facts_of(head), 3)) {
    if (spec.is_required) names.insert(spec.name);
  }
  return names;
}

TEST(TensorTable, ListsVersion3) {
  const Shapes shapes = shapes_of(small_config(), Head::kNone);
  const Shapes outside_layers = {
      {"embeddings.word_embeddings.weight", {11, 6}},
      {"embeddings.position_embeddings.weight", {8, 6}},
      {"embeddings.LayerNorm.weight", {6}},
      {"embeddings.LayerNorm.bias", {6}},
      {"encoder.rel_embeddings.weight", {8, 6}},
      {"encoder.LayerNorm.weight", {6}},
      {"encoder.LayerNorm.bias", {6}},
  };
  const Shapes layer = {
      {"attention.self.query_proj.weight", {6, 6}},
      {"attention.self.query_proj.bias", {6}},
      {"attention.self.key_proj.weight", {6, 6}},
      {"attention.self.key_proj.bias", {6}},
      {"attention.self.value_proj.weight", {6, 6}},
      {"attention.self.value_proj.bias", {6}},
      {"attention.output.dense.weight", {6, 6}},
      {"attention.output.dense.bias", {6}},
      {"attention.output.LayerNorm.weight", {6}},
      {"attention.output.LayerNorm.bias", {6}},
      {"intermediate.dense.weight", {10, 6}},
      {"intermediate.dense.bias", {10}},
      {"output.dense.weight", {6, 10}},
      {"output.dense.bias", {6}},
      {"output.LayerNorm.weight", {6}},
      {"output.LayerNorm.bias", {6}},
  };
  Shapes expected = outside_layers;
  for (const std::string n : {"0", "1"}) {
    for (const auto& [name, shape] : layer) expected.emplace("encoder.layer." + n + "." + name, shape);
  }
  EXPECT_EQ(shapes, expected);
  EXPECT_FALSE(required_names(small_config()).contains("embeddings.position_embeddings.weight"));
}

TEST(TensorTable, ListsVersion1WithFusedProjections) {
  ModelConfig config = small_config();
  config.layout = Layout::kV1;
  config.position_buckets = -1;
  config.has_rel_layer_norm = false;
  const Shapes shapes = shapes_of(config, Head::kNone);
  EXPECT_EQ(shapes.at("encoder.rel_embeddings.weight"), (Shape{16, 6}));
  EXPECT_EQ(shapes.at("encoder.layer.1.attention.self.in_proj.weight"), (Shape{18, 6}));
  EXPECT_EQ(shapes.at("encoder.layer.1.attention.self.q_bias"), (Shape{6}));
  EXPECT_EQ(shapes.at("encoder.layer.1.attention.self.v_bias"), (Shape{6}));
  EXPECT_EQ(shapes.at("encoder.layer.1.attention.self.pos_proj.weight"), (Shape{6, 6}));
  EXPECT_EQ(shapes.at("encoder.layer.1.attention.self.pos_q_proj.weight"), (Shape{6, 6}));
  EXPECT_EQ(shapes.at("encoder.layer.1.attention.self.pos_q_proj.bias"), (Shape{6}));
  EXPECT_FALSE(shapes.contains("encoder.layer.1.attention.self.query_proj.weight"));
  EXPECT_FALSE(shapes.contains("encoder.layer.1.attention.self.head_logits_proj.weight"));
  EXPECT_EQ(shapes.size(), 5u + 2 * 16);
  config.talking_head = true;
  EXPECT_EQ(shapes_of(config, Head::kNone).at("encoder.layer.0.attention.self.head_weights_proj.weight"),
            (Shape{3, 3}));
  config.has_p2c = false;
  EXPECT_FALSE(shapes_of(config, Head::kNone).contains("encoder.layer.1.attention.self.pos_q_proj.weight"));
  EXPECT_TRUE(shapes_of(config, Head::kNone).contains("encoder.layer.1.attention.self.pos_proj.weight"));
}

TEST(TensorTable, FollowsTheConditionsOfTheConfiguration) {
  ModelConfig config = small_config();
  config.type_vocab_size = 5;
  config.embedding_size = 4;
  config.position_biased_input = true;
  config.conv_kernel_size = 3;
  config.conv_groups = 2;
  config.share_att_key = false;
  Shapes shapes = shapes_of(config, Head::kNone);
  EXPECT_EQ(shapes.at("embeddings.word_embeddings.weight"), (Shape{11, 4}));
  EXPECT_EQ(shapes.at("embeddings.token_type_embeddings.weight"), (Shape{5, 4}));
  EXPECT_EQ(shapes.at("embeddings.embed_proj.weight"), (Shape{6, 4}));
  EXPECT_EQ(shapes.at("embeddings.position_embeddings.weight"), (Shape{8, 4}));
  EXPECT_EQ(shapes.at("embeddings.LayerNorm.weight"), (Shape{6}));
  EXPECT_EQ(shapes.at("encoder.conv.conv.weight"), (Shape{6, 3, 3}));
  EXPECT_EQ(shapes.at("encoder.conv.conv.bias"), (Shape{6}));
  EXPECT_EQ(shapes.at("encoder.conv.LayerNorm.weight"), (Shape{6}));
  EXPECT_EQ(shapes.at("encoder.layer.0.attention.self.pos_key_proj.weight"), (Shape{6, 6}));
  EXPECT_EQ(shapes.at("encoder.layer.0.attention.self.pos_query_proj.bias"), (Shape{6}));
  EXPECT_TRUE(required_names(config).contains("embeddings.position_embeddings.weight"));
  config.has_c2p = false;
  EXPECT_FALSE(shapes_of(config, Head::kNone).contains("encoder.layer.0.attention.self.pos_key_proj.weight"));
  config.relative_attention = false;
  shapes = shapes_of(config, Head::kNone);
  EXPECT_FALSE(shapes.contains("encoder.rel_embeddings.weight"));
  EXPECT_FALSE(shapes.contains("encoder.layer.0.attention.self.pos_query_proj.weight"));
  EXPECT_TRUE(shapes.contains("encoder.LayerNorm.weight"));
  EXPECT_FALSE(required_names(config).contains("encoder.LayerNorm.weight"));
}

TEST(TensorTable, ListsTheHeads) {
  ModelConfig config = small_config();
  config.num_hidden_layers = 0;
  config.embedding_size = 4;
  const size_t encoder = shapes_of(config, Head::kNone).size();
  const auto head = [&](Head which) {
    Shapes shapes = shapes_of(config, which, 3);
    for (const auto& [name, shape] : shapes_of(config, Head::kNone)) shapes.erase(name);
    EXPECT_GT(encoder, 0u);
    return shapes;
  };
  EXPECT_EQ(head(Head::kSequence), (Shapes{{"pooler.dense.weight", {6, 6}},
                                           {"pooler.dense.bias", {6}},
                                           {"classifier.weight", {3, 6}},
                                           {"classifier.bias", {3}}}));
  EXPECT_EQ(head(Head::kToken), (Shapes{{"classifier.weight", {3, 6}}, {"classifier.bias", {3}}}));
  EXPECT_EQ(
      head(Head::kTokenOriginal),
      (Shapes{{"proj.weight", {6, 6}}, {"proj.bias", {6}}, {"classifier.weight", {3, 6}}, {"classifier.bias", {3}}}));
  EXPECT_EQ(head(Head::kSpan), (Shapes{{"qa_outputs.weight", {2, 6}}, {"qa_outputs.bias", {2}}}));
  EXPECT_EQ(head(Head::kMaskedLm), (Shapes{{"lm_predictions.lm_head.dense.weight", {4, 6}},
                                           {"lm_predictions.lm_head.dense.bias", {4}},
                                           {"lm_predictions.lm_head.LayerNorm.weight", {4}},
                                           {"lm_predictions.lm_head.LayerNorm.bias", {4}},
                                           {"lm_predictions.lm_head.bias", {11}}}));
  EXPECT_EQ(head(Head::kReplacedToken), (Shapes{{"mask_predictions.dense.weight", {6, 6}},
                                                {"mask_predictions.dense.bias", {6}},
                                                {"mask_predictions.LayerNorm.weight", {6}},
                                                {"mask_predictions.LayerNorm.bias", {6}},
                                                {"mask_predictions.classifier.weight", {1, 6}},
                                                {"mask_predictions.classifier.bias", {1}}}));
}

// Those of a head of entities with shapes that tell each from the others: 4 columns of words and labels on 6.
TEST(TensorTable, ListsTheHeadsOfEntities) {
  ModelConfig config = small_config();
  config.extraction = ExtractionConfig{.hidden_size = 4, .num_rnn_layers = 2};
  const auto head = [&](Head which) {
    Shapes shapes = shapes_of(config, which);
    for (const auto& [name, shape] : shapes_of(config, Head::kNone)) shapes.erase(name);
    return shapes;
  };
  const std::string spans = "span_rep_layer.span_rep_layer.";
  Shapes shapes = head(Head::kEntitySpans);
  EXPECT_EQ(shapes.size(), 2u + 16 + 4 + 8 + 4);
  EXPECT_EQ(shapes.at("token_rep_layer.projection.weight"), (Shape{4, 6}));
  EXPECT_EQ(shapes.at("rnn.lstm.weight_ih_l1_reverse"), (Shape{8, 4}));
  EXPECT_EQ(shapes.at("rnn.lstm.weight_hh_l0"), (Shape{8, 2}));
  EXPECT_EQ(shapes.at("prompt_rep_layer.0.weight"), (Shape{16, 4}));
  EXPECT_EQ(shapes.at(spans + "project_start.0.weight"), (Shape{16, 4}));
  EXPECT_EQ(shapes.at(spans + "out_project.0.weight"), (Shape{16, 8}));
  config.extraction->span_mode = SpanMode::kMarker;
  shapes = head(Head::kEntitySpans);
  EXPECT_EQ(shapes.at(spans + "project_start.0.weight"), (Shape{8, 4}));
  EXPECT_EQ(shapes.at(spans + "out_project.weight"), (Shape{4, 8}));
  EXPECT_FALSE(shapes.contains(spans + "out_project.0.weight"));
  config.extraction->num_rnn_layers = 0;
  config.extraction->hidden_size = 6;
  shapes = head(Head::kEntityWords);
  EXPECT_EQ(shapes.size(), 8u) << "no LSTM, and no projection between equal sizes";
  EXPECT_EQ(shapes.at("scorer.out_mlp.0.weight"), (Shape{24, 18}));
}

// A checkpoint with the tensors listed; the test changes it before it is written.
class Comparison : public testing::Test {
 protected:
  void fill(const ModelConfig& config, Head head, int64_t labels = 3) {
    tensors.clear();
    for (const TensorSpec& spec : list_tensors(config, facts_of(head), labels)) add(spec.name, spec.shape);
  }
  void add(const std::string& name, const Shape& shape, DType dtype = DType::kF32) {
    const size_t size_bytes = size_bytes_of(dtype, shape).value();
    tensors.push_back({name, dtype, shape, to_bytes(std::string_view(zeros).substr(0, size_bytes))});
  }
  TensorView& at(const std::string& name) {
    return *std::find_if(tensors.begin(), tensors.end(), [&](const TensorView& tensor) { return tensor.name == name; });
  }
  void remove(const std::string& name) {
    std::erase_if(tensors, [&](const TensorView& tensor) { return tensor.name == name; });
  }
  void reshape(const std::string& name, const Shape& shape) {
    remove(name);
    add(name, shape);
  }
  Checkpoint checkpoint() {
    write_safetensors(folder.path("model.safetensors"), tensors);
    return Checkpoint::open(folder.path());
  }
  static std::vector<std::string> messages_of(const std::vector<Problem>& problems) {
    std::vector<std::string> messages;
    for (const Problem& problem : problems) {
      EXPECT_EQ(problem.where, "model.safetensors");
      messages.push_back(problem.message);
    }
    return messages;
  }
  std::vector<std::string> errors(const ModelConfig& config, Head head) {
    return messages_of(compare_tensors(checkpoint(), config, facts_of(head), "model.safetensors").errors);
  }
  std::vector<std::string> unread(const ModelConfig& config, Head head) {
    return messages_of(compare_tensors(checkpoint(), config, facts_of(head), "model.safetensors").unread);
  }
  const std::string zeros = std::string(4096, '\0');
  const TemporaryFolder folder;
  std::vector<TensorView> tensors;
};

using Messages = std::vector<std::string>;

TEST_F(Comparison, FindsNothingWhenAllIsThere) {
  for (const HeadFacts* head : all_heads()) {
    ModelConfig config = small_config();
    if (head->takes_labelled_words()) config.extraction = ExtractionConfig{.hidden_size = 4};
    fill(config, head->head);
    EXPECT_EQ(errors(config, head->head), Messages{}) << head->name;
    EXPECT_EQ(to_string(detect_head(checkpoint())), head->name);
  }
}

TEST_F(Comparison, OfAHeadOfEntitiesNamesTheFileThatAsksForATensor) {
  ModelConfig config = small_config();
  config.extraction = ExtractionConfig{.hidden_size = 4, .num_rnn_layers = 1};
  config.extraction->raw = R"({"num_rnn_layers": 2, "hidden_size": 4})";
  fill(config, Head::kEntitySpans);
  config.extraction->num_rnn_layers = 2;
  const Messages messages = errors(config, Head::kEntitySpans);
  ASSERT_EQ(messages.size(), 1u);
  EXPECT_EQ(messages[0].substr(0, 41), "8 tensors missing: rnn.lstm.weight_ih_l1,") << messages[0];
  EXPECT_TRUE(messages[0].ends_with("; gliner_config.json has num_rnn_layers 2")) << messages[0];
}

TEST_F(Comparison, ListsWhatIsMissingWithTheKeyThatAsksForIt) {
  ModelConfig config = small_config();
  fill(config, Head::kNone);
  config.conv_kernel_size = 3;
  config.raw = Json(JsonObject{{"conv_kernel_size", 3}}).dump();
  EXPECT_EQ(
      errors(config, Head::kNone),
      Messages{"4 tensors missing: encoder.conv.conv.weight, encoder.conv.conv.bias, encoder.conv.LayerNorm.weight, "
               "encoder.conv.LayerNorm.bias; config.json has conv_kernel_size 3"});
  config = small_config();
  remove("embeddings.LayerNorm.bias");
  EXPECT_EQ(errors(config, Head::kNone), Messages{"1 tensor missing: embeddings.LayerNorm.bias"});
}

TEST_F(Comparison, ListsWhatIsUnexpectedWithTheReason) {
  ModelConfig wide = small_config();
  wide.conv_kernel_size = 3;
  wide.num_hidden_layers = 3;
  fill(wide, Head::kNone);
  add("qa_outputs.weight", {2, 6});
  ModelConfig config = small_config();
  config.raw = Json(JsonObject{{"num_hidden_layers", 2}}).dump();
  EXPECT_EQ(errors(config, Head::kNone), Messages{"unexpected tensor qa_outputs.weight [2, 6]; the head is none"});
  remove("embeddings.LayerNorm.bias");  // an unexpected tensor may be this one under another name
  const Messages messages = errors(config, Head::kNone);
  EXPECT_EQ(messages.size(), 1 + 4u + 16 + 1);
  const auto has = [&](const std::string& message) {
    return std::find(messages.begin(), messages.end(), message) != messages.end();
  };
  EXPECT_TRUE(has("unexpected tensor encoder.conv.conv.weight [6, 6, 3]; config.json has no conv_kernel_size"));
  EXPECT_TRUE(has("unexpected tensor encoder.layer.2.output.dense.bias [6]; config.json has num_hidden_layers 2"));
}

// As in transformers: it reads what it needs and reports what it left unread.
TEST_F(Comparison, WarnsAboutUnreadTensorsIfNoneIsMissing) {
  ModelConfig wide = small_config();
  wide.num_hidden_layers = 3;
  fill(wide, Head::kSequence);
  add("projection.weight", {2, 6});
  ModelConfig config = small_config();
  config.raw = Json(JsonObject{{"num_hidden_layers", 2}}).dump();
  EXPECT_EQ(errors(config, Head::kSequence), Messages{});
  const Messages messages = unread(config, Head::kSequence);
  ASSERT_EQ(messages.size(), 2u);
  EXPECT_EQ(messages[0], "1 tensor that this configuration does not use is not read: projection.weight");
  EXPECT_EQ(messages[1],
            "16 tensors that this configuration does not use are not read: "
            "encoder.layer.2.attention.output.LayerNorm.bias, encoder.layer.2.attention.output.LayerNorm.weight, "
            "encoder.layer.2.attention.output.dense.bias, ...; config.json has num_hidden_layers 2");
}

TEST_F(Comparison, SuggestsANearName) {
  fill(small_config(), Head::kNone);
  at("encoder.layer.1.output.dense.bias").name = "encoder.layer.1.output.dens.bias";
  EXPECT_EQ(
      errors(small_config(), Head::kNone),
      (Messages{
          "1 tensor missing: encoder.layer.1.output.dense.bias",
          "unexpected tensor encoder.layer.1.output.dens.bias [6]; did you mean encoder.layer.1.output.dense.bias?"}));
  at("encoder.layer.1.output.dens.bias").name = "nothing.like.it";
  EXPECT_EQ(errors(small_config(), Head::kNone).back(), "unexpected tensor nothing.like.it [6]");
}

TEST_F(Comparison, ReportsEveryWrongShapeAndType) {
  ModelConfig config = small_config();
  config.raw = Json(JsonObject{{"vocab_size", 11}}).dump();
  fill(config, Head::kNone);
  reshape("embeddings.word_embeddings.weight", {12, 6});
  reshape("encoder.LayerNorm.bias", {1, 6});
  add("encoder.layer.0.output.LayerNorm.weight.int", {6}, DType::kI32);
  remove("encoder.layer.0.output.LayerNorm.weight");
  at("encoder.layer.0.output.LayerNorm.weight.int").name = "encoder.layer.0.output.LayerNorm.weight";
  EXPECT_EQ(errors(config, Head::kNone),
            (Messages{"tensor embeddings.word_embeddings.weight: expected shape [11, 6], got [12, 6]; config.json has "
                      "vocab_size 11",
                      "tensor encoder.LayerNorm.bias: expected shape [6], got [1, 6]; config.json has no norm_rel_ebd",
                      "tensor encoder.layer.0.output.LayerNorm.weight: expected F64, F32, F16 or BF16, got I32"}));
}

TEST_F(Comparison, AnOptionalTensorMayBeAbsentAndMustHaveItsShape) {
  fill(small_config(), Head::kMaskedLm);
  remove("embeddings.position_embeddings.weight");
  EXPECT_EQ(errors(small_config(), Head::kMaskedLm), Messages{});
  add("embeddings.position_embeddings.weight", {9, 6});
  EXPECT_EQ(errors(small_config(), Head::kMaskedLm).size(), 1u);
}

TEST_F(Comparison, IsSilentAboutWhatPublishedFilesCarry) {
  fill(small_config(), Head::kReplacedToken);
  for (const TensorSpec& spec : list_tensors(small_config(), facts_of(Head::kMaskedLm), 0)) {
    if (spec.name.starts_with("lm_predictions.")) add(spec.name, spec.shape);
  }
  add("embeddings.position_ids", {1, 8}, DType::kI64);
  add("embeddings.word_embeddings._weight", {11, 6});
  add("embeddings.position_embeddings._weight", {8, 6});
  add("pooler.dense.weight", {6, 6});
  EXPECT_EQ(errors(small_config(), Head::kReplacedToken), Messages{});
  EXPECT_EQ(detect_head(checkpoint()), Head::kReplacedToken);  // not a language model
  add("classifier.weight", {3, 6});
  add("classifier.bias", {3});
  EXPECT_EQ(detect_head(checkpoint()), Head::kSequence);
  EXPECT_EQ(errors(small_config(), Head::kSequence), Messages{"1 tensor missing: pooler.dense.bias"});
}

TEST_F(Comparison, APoolerByAttentionHasAQueryAndNoOtherDoes) {
  ModelConfig config = small_config();
  fill(config, Head::kSequence);
  config.classifier_pooling = ClassifierPooling::kAttention;
  config.raw = R"({"classifier_pooling": "attention"})";
  EXPECT_EQ(errors(config, Head::kSequence),
            Messages{"1 tensor missing: pooler.attention.weight; config.json has classifier_pooling \"attention\""});
  add("pooler.attention.weight", {6});
  EXPECT_EQ(errors(config, Head::kSequence), Messages{});
  EXPECT_EQ(errors(small_config(), Head::kSequence),
            Messages{"unexpected tensor pooler.attention.weight [6]; config.json has no classifier_pooling"});
  reshape("pooler.attention.weight", {1, 6});
  EXPECT_EQ(errors(config, Head::kSequence).size(), 1u);
  EXPECT_EQ(shapes_of(config, Head::kToken).count("pooler.attention.weight"), 0u);
}

TEST_F(Comparison, AcceptsACopyOfATiedTableAndNoOther) {
  fill(small_config(), Head::kMaskedLm);
  add("cls.predictions.decoder.weight", {11, 6});
  add("cls.predictions.decoder.bias", {11});
  EXPECT_EQ(errors(small_config(), Head::kMaskedLm), Messages{});
  const std::string other(11 * 6 * 4, '\x01');
  at("cls.predictions.decoder.weight").bytes = to_bytes(other);
  EXPECT_EQ(errors(small_config(), Head::kMaskedLm),
            Messages{"tensor cls.predictions.decoder.weight: expected the values of embeddings.word_embeddings.weight, "
                     "got different ones; if it is a separate table, set tie_word_embeddings to false in config.json"});
  EXPECT_EQ(errors(small_config(), Head::kNone), Messages{}) << "what the encoder was trained with";
}

TEST_F(Comparison, AnOutputTableOfItsOwnIsTakenWhereTheConfigurationSaysSo) {
  ModelConfig config = small_config();
  config.ties_output = false;
  fill(config, Head::kMaskedLm);
  remove("cls.predictions.decoder.weight");
  EXPECT_EQ(errors(config, Head::kMaskedLm), Messages{});
  EXPECT_EQ(own_output_table(checkpoint(), config), nullptr);
  const std::string other(11 * 6 * 4, '\x01');
  add("cls.predictions.decoder.weight", {11, 6});
  at("cls.predictions.decoder.weight").bytes = to_bytes(other);
  EXPECT_EQ(errors(config, Head::kMaskedLm), Messages{});
  EXPECT_NE(own_output_table(checkpoint(), config), nullptr);
  EXPECT_EQ(own_output_table(checkpoint(), small_config()), nullptr);
  reshape("cls.predictions.decoder.weight", {10, 6});
  EXPECT_EQ(errors(config, Head::kMaskedLm).size(), 1u);
}

TEST_F(Comparison, LabelsHaveOneRowEach) {
  ModelConfig config = small_config();
  fill(config, Head::kSequence, 3);
  config.labels = {"a", "b", "c"};
  EXPECT_EQ(errors(config, Head::kSequence), Messages{});
  EXPECT_EQ(count_labels(checkpoint()), 3);
  config.labels.pop_back();
  EXPECT_EQ(errors(config, Head::kSequence),
            Messages{"tensor classifier.weight: expected 2 rows, one for each label of id2label, got 3"});
  config.labels.clear();
  EXPECT_EQ(errors(config, Head::kSequence), Messages{});
  config.num_labels = 3;
  EXPECT_EQ(errors(config, Head::kSequence), Messages{});
  config.num_labels = 5;
  EXPECT_EQ(errors(config, Head::kSequence),
            Messages{"tensor classifier.weight: expected 5 rows, as num_labels says, got 3"});
  reshape("classifier.weight", {});
  EXPECT_EQ(count_labels(checkpoint()), 0);
  EXPECT_FALSE(errors(config, Head::kSequence).empty());
}

TEST_F(Comparison, WarnsWhenTheArchitectureNamesAnotherHead) {
  ModelConfig config = small_config();
  const auto warnings = [&](const std::string& architecture, Head head) {
    fill(config, head);
    config.architectures = {architecture};
    return compare_tensors(checkpoint(), config, facts_of(head), "m").warnings.size();
  };
  EXPECT_EQ(warnings("DebertaV2ForSequenceClassification", Head::kSequence), 0u);
  EXPECT_EQ(warnings("DebertaV2ForMultipleChoice", Head::kSequence), 0u);
  EXPECT_EQ(warnings("DebertaForTokenClassification", Head::kTokenOriginal), 0u);
  EXPECT_EQ(warnings("DebertaV2ForQuestionAnswering", Head::kSpan), 0u);
  EXPECT_EQ(warnings("DebertaV2ForMaskedLM", Head::kMaskedLm), 0u);
  EXPECT_EQ(warnings("DebertaV2Model", Head::kNone), 0u);
  EXPECT_EQ(warnings("SomethingElse", Head::kSpan), 0u);
  EXPECT_EQ(warnings("DebertaV2ForMaskedLM", Head::kNone), 1u);
  EXPECT_EQ(warnings("DebertaV2ForSequenceClassification", Head::kToken), 1u);
}

TEST_F(Comparison, TellsTheLayoutByTheFirstLayer) {
  ModelConfig config = small_config();
  fill(config, Head::kNone);
  EXPECT_EQ(detect_layout(checkpoint()), Layout::kV2);
  config.layout = Layout::kV1;
  fill(config, Head::kNone);
  EXPECT_EQ(detect_layout(checkpoint()), Layout::kV1);
}

}  // namespace
}  // namespace deberta::tensor_table_test
