// The table of heads: that it is whole, that its rows fit one another, and what each answers, in a sentence.
#include "heads/head_facts.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "checkpoint/tensor_table.h"
#include "heads/forms.h"
#include "support/tiny_model.h"

namespace deberta::head_facts_test {
namespace {

using test::tiny_config;

constexpr size_t kHeads = static_cast<size_t>(Head::kEntityWords) + 1;  // the last enumerator

ModelConfig with_architecture(const std::string& name, bool is_causal = false) {
  ModelConfig config = tiny_config();
  config.architectures = {name};
  config.is_causal = is_causal;
  return config;
}

TEST(HeadFacts, EveryHeadHasOneRow) {
  std::set<std::string_view> names;
  for (size_t n = 0; n < kHeads; ++n) {
    const auto head = static_cast<Head>(n);
    const HeadFacts& facts = facts_of(head);
    EXPECT_EQ(facts.head, head);
    EXPECT_EQ(to_string(head), facts.name);
    EXPECT_EQ(std::ranges::count(all_heads(), &facts), 1) << facts.name;
    EXPECT_FALSE(facts.uses.empty() || facts.served_as.empty()) << facts.name;
    names.insert(facts.name);
  }
  EXPECT_EQ(all_heads().size(), kHeads);
  EXPECT_EQ(names.size(), kHeads);
}

TEST(HeadFacts, EveryArchitectureNamesOneHeadAndItsUse) {
  std::map<std::string_view, const HeadFacts*> named;
  for (const HeadFacts* head : all_heads()) {
    for (const HeadUse& use : head->uses) {
      const std::string architecture = fmt::format("DebertaV2{}", use.ending);
      if (use.names_head) {
        EXPECT_TRUE(named.emplace(use.ending, head).second) << use.ending;
        EXPECT_EQ(find_head(architecture), head) << use.ending;
      } else {
        EXPECT_NE(find_head(architecture), nullptr) << use.ending;
      }
      const ModelConfig config = with_architecture(architecture, use.is_causal.value_or(false));
      EXPECT_EQ(&use_of(*head, config), &use) << use.ending;
    }
    for (const bool is_causal : {false, true})
      EXPECT_TRUE(use_of(*head, with_architecture("Unknown", is_causal)).fits(with_architecture("", is_causal)));
  }
  EXPECT_EQ(named.size(), 10u);
  EXPECT_EQ(find_head("DebertaForTokenClassification"), &facts_of(Head::kToken)) << "of two, that of transformers";
  EXPECT_EQ(find_head("BertForNextSentencePrediction"), nullptr);
}

TEST(HeadFacts, ALanguageModelIsUsedAsItsConfigurationReads) {
  const HeadFacts& head = facts_of(Head::kMaskedLm);
  EXPECT_EQ(use_of(head, with_architecture("DebertaV2ForMaskedLM")).ending, "ForMaskedLM");
  EXPECT_EQ(use_of(head, with_architecture("DebertaV2ForMaskedLM", true)).name, "causal-lm");
  EXPECT_EQ(use_of(head, with_architecture("DebertaV2ForCausalLM")).verbs, "fill, score, embed");
  EXPECT_EQ(use_of(facts_of(Head::kSequence), with_architecture("DebertaForMultipleChoice")).task, "multiple-choice");
}

TEST(HeadFacts, OwnTheTensorsThatTheTableOfTensorsLists) {
  ModelConfig config = tiny_config();
  config.classifier_pooling = ClassifierPooling::kAttention;
  config.ties_output = false;
  config.extraction = ExtractionConfig{.num_rnn_layers = 1};
  const size_t encoder = list_tensors(config, facts_of(Head::kNone), 0).size();
  for (const HeadFacts* head : all_heads()) {
    const std::vector<TensorSpec> specs = list_tensors(config, *head, 3);
    size_t n = encoder;
    for (const TensorRow& row : head->tensors) {
      const TensorRow* tensor = find_head_tensor(row.name);
      ASSERT_NE(tensor, nullptr) << row.name;
      EXPECT_EQ(tensor->shape, row.shape) << row.name << " has one shape in all heads";
      if (!row.exists(config)) continue;
      ASSERT_LT(n, specs.size()) << row.name;
      EXPECT_TRUE(row.names(specs[n].name) || row.name == specs[n].name) << row.name;
      EXPECT_EQ(specs[n++].is_required, row.is_required(config)) << row.name;
    }
    EXPECT_EQ(n, specs.size()) << head->name;
  }
  EXPECT_EQ(find_head_tensor("embeddings.word_embeddings.weight"), nullptr);
}

TEST(HeadFacts, AreKnownByTensorsThatTheyAlwaysHaveAndNoEarlierHeadHas) {
  const auto has = [](const HeadFacts& head, std::string_view mark) {
    return std::ranges::any_of(head.tensors, [&](const TensorRow& row) {
      return row.name == mark && row.exists == TensorRow::always && row.is_required == TensorRow::always;
    });
  };
  for (size_t n = 0; n < all_heads().size(); ++n) {
    const HeadFacts& head = *all_heads()[n];
    for (const std::string_view mark : head.marks) EXPECT_TRUE(has(head, mark)) << head.name << ": " << mark;
    for (size_t earlier = 0; earlier < n; ++earlier) {
      const HeadFacts& other = *all_heads()[earlier];
      EXPECT_FALSE(std::ranges::all_of(other.marks, [&](std::string_view mark) { return has(head, mark); }))
          << head.name << " has the marks of " << other.name;
    }
  }
}

std::string read_by(const HeadFacts& head) {
  switch (head.reads) {
    case HeadReads::kNothing:
      return "nothing";
    case HeadReads::kSequences:
      return "sequences";
    case HeadReads::kTokens:
      return "tokens";
    case HeadReads::kTokensAndFirst:
      return "tokens with the first";
    case HeadReads::kGroups:
      return "groups";
    case HeadReads::kLabelledWords:
      return "labels and words";
  }
  return "?";
}

std::string said_by(const HeadFacts& head) {
  switch (head.answers) {
    case HeadAnswers::kNothing:
      return "nothing";
    case HeadAnswers::kClasses:
      return "classes";
    case HeadAnswers::kEnds:
      return "ends";
    case HeadAnswers::kWords:
      return "words";
    case HeadAnswers::kReplaced:
      return "replacement";
    case HeadAnswers::kEntities:
      return "entities";
  }
  return "?";
}

// What the rooms ask about a head, for a configuration whose three activations differ.
std::string sentence_of(Head which) {
  ModelConfig config = tiny_config();
  config.hidden_act = Activation::kRelu;
  config.pooler_hidden_act = Activation::kTanh;
  const HeadFacts& head = facts_of(which);
  std::string text = fmt::format("reads {}, says {}", read_by(head), said_by(head));
  if (head.inner != HeadInner::kNone) {
    text +=
        fmt::format(" through {} {}", head.inner == HeadInner::kHidden ? "D" : "E", to_string(head.activation(config)));
  }
  if (head.has_logits()) text += fmt::format(", {} columns", head.outputs(config, 3));
  if (head.is_per_sequence()) text += ", a row for each sequence";
  if (head.takes_rows()) text += ", takes rows";
  if (head.takes_groups()) text += ", takes groups";
  if (head.chooses_by_row()) text += ", chooses by row";
  return text;
}

TEST(HeadFacts, SayWhatEachHeadIs) {
  EXPECT_EQ(sentence_of(Head::kNone), "reads nothing, says nothing");
  EXPECT_EQ(sentence_of(Head::kSequence),
            "reads sequences, says classes through D tanh, 3 columns, a row for each sequence, chooses by row");
  EXPECT_EQ(sentence_of(Head::kToken), "reads tokens, says classes, 3 columns, takes rows, chooses by row");
  EXPECT_EQ(sentence_of(Head::kTokenOriginal),
            "reads tokens, says classes through D gelu, 3 columns, takes rows, takes groups, chooses by row");
  EXPECT_EQ(sentence_of(Head::kSpan), "reads tokens, says ends, 2 columns, takes rows");
  EXPECT_EQ(sentence_of(Head::kMaskedLm),
            "reads tokens, says words through E relu, 50 columns, takes rows, chooses by row");
  EXPECT_EQ(sentence_of(Head::kReplacedToken),
            "reads tokens with the first, says replacement through D relu, 1 columns, takes rows");
  EXPECT_EQ(sentence_of(Head::kEntitySpans), "reads labels and words, says entities, 1 columns");
  EXPECT_EQ(sentence_of(Head::kEntityWords), "reads labels and words, says entities, 3 columns");
}

TEST(HeadFacts, HaveLogitsOfAPlainBatchUnlessTheyReadWhatItLacks) {
  for (const HeadFacts* head : all_heads())
    EXPECT_EQ(head->has_plain_logits(), head->has_logits() && !head->takes_labelled_words()) << head->name;
}

TEST(TensorRows, OfLayersNameEachOfThem) {
  const TensorRow layers{.name = "lstm.weight_l{n}_reverse", .shape = "U"}, one{.name = "lstm.weight", .shape = "U"};
  EXPECT_TRUE(layers.is_of_layers() && layers.names("lstm.weight_l0_reverse") &&
              layers.names("lstm.weight_l12_reverse"));
  EXPECT_FALSE(layers.names("lstm.weight_l_reverse") || layers.names("lstm.weight_l0") ||
               layers.names("lstm.weight_l0x_reverse") || layers.names("lstm.weight_l{n}_reverse"));
  EXPECT_TRUE(!one.is_of_layers() && one.names("lstm.weight") && !one.names("lstm.weight_l0"));
}

TEST(HeadFacts, HaveAnActivationWithEveryInnerLayerAndNoOther) {
  for (const HeadFacts* head : all_heads()) {
    EXPECT_EQ(head->inner != HeadInner::kNone, head->activation != nullptr) << head->name;
    EXPECT_EQ(head->has_logits(), head->reads != HeadReads::kNothing) << head->name;
    EXPECT_EQ(head->has_logits(), !head->marks.empty()) << head->name;
  }
}

TEST(Forms, WordsAreReadThroughTheMaskDecoderWhereTheConfigurationHasIt) {
  ModelConfig config = tiny_config();
  for (const HeadFacts* head : all_heads())
    EXPECT_EQ(predicts_by_decoder(config, *head), head->head == Head::kMaskedLm) << head->name;
  const HeadFacts& words = facts_of(Head::kMaskedLm);
  config.position_biased_input = true;
  EXPECT_FALSE(predicts_by_decoder(config, words));
  config = tiny_config();
  config.is_causal = true;
  EXPECT_FALSE(predicts_by_decoder(config, words));
  config = tiny_config();
  config.mask_decoder_passes = 0;
  EXPECT_FALSE(predicts_by_decoder(config, words));
  EXPECT_EQ(config.reason_against_mask_decoder(), "mask_decoder_passes is 0: the head reads the last layer");
}

TEST(Forms, OfAblationsAreForeignToTheEngine) {
  const HeadFacts &words = facts_of(Head::kMaskedLm), &classes = facts_of(Head::kSequence);
  const auto is_foreign = [](const HeadFacts& head, void (*change)(ModelConfig&)) {
    ModelConfig config = tiny_config();
    change(config);
    return !find_foreign_form(config, head).empty();
  };
  EXPECT_FALSE(is_foreign(words, [](ModelConfig&) {}));
  EXPECT_TRUE(is_foreign(classes, [](ModelConfig& c) { c.has_p2p = true; }));
  EXPECT_FALSE(is_foreign(classes, [](ModelConfig& c) {
    c.has_p2p = true;
    c.relative_attention = false;
  }));
  EXPECT_TRUE(is_foreign(classes, [](ModelConfig& c) { c.norm_first = true; }));
  EXPECT_TRUE(is_foreign(words, [](ModelConfig& c) { c.has_own_decoder = true; }));
  EXPECT_FALSE(is_foreign(words, [](ModelConfig& c) { c.convolves_input = true; })) << "there is no convolution";
  EXPECT_TRUE(is_foreign(classes, [](ModelConfig& c) {
    c.convolves_input = true;
    c.conv_kernel_size = 3;
  }));
  EXPECT_FALSE(is_foreign(words, [](ModelConfig& c) { c.feed_forward_dropout = 0.1; })) << "of training alone";
  EXPECT_FALSE(is_foreign(classes, [](ModelConfig& c) { c.has_own_decoder = true; })) << "nothing decodes";
}

}  // namespace
}  // namespace deberta::head_facts_test
