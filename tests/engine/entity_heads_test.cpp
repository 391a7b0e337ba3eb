// The heads of entities against plain sums in double, straight from the equations of the library's modules: every span
// mode, pooling, number of LSTM layers, with a projection and without.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "engine/engine_case.h"
#include "engine/memory_check.h"
#include "support/expect_error.h"

namespace deberta::entity_heads_test {
namespace {

using namespace test;

using Vector = std::vector<double>;
using Rows = std::vector<Vector>;

// ---- the library's modules

double sigmoid(double x) {
  return 1 / (1 + std::exp(-x));
}
void relu(Vector& x) {
  for (double& value : x) value = std::max(value, 0.0);
}

struct Reference {
  const Tensors& tensors;
  const ExtractionConfig& config;

  Vector linear(const std::string& weight, const std::string& bias, const Vector& x) const {
    const std::vector<float>&w = tensors.at(weight).values, &b = tensors.at(bias).values;
    Vector y(b.begin(), b.end());
    for (size_t n = 0; n < y.size(); ++n) {
      for (size_t k = 0; k < x.size(); ++k) y[n] += double{w[n * x.size() + k]} * x[k];
    }
    return y;
  }
  Vector layer(const std::string& prefix, const Vector& x) const {
    return linear(prefix + ".weight", prefix + ".bias", x);
  }
  Vector layers(const std::string& prefix, const Vector& x) const {
    Vector inner = layer(prefix + ".0", x);
    relu(inner);
    return layer(prefix + ".3", inner);
  }
  Vector projected(const Vector& state) const {
    return tensors.contains("token_rep_layer.projection.weight") ? layer("token_rep_layer.projection", state) : state;
  }

  Vector pooled(const Rows& pieces) const {
    Vector word(static_cast<size_t>(config.hidden_size), 0.0);
    if (pieces.empty()) return word;
    if (config.subtoken_pooling == SubtokenPooling::kFirst) return pieces.front();
    if (config.subtoken_pooling == SubtokenPooling::kLast) return pieces.back();
    for (size_t u = 0; u < word.size(); ++u) {
      double sum = 0, largest = pieces[0][u];
      for (const Vector& piece : pieces) {
        sum += piece[u];
        largest = std::max(largest, piece[u]);
      }
      word[u] = config.subtoken_pooling == SubtokenPooling::kMax ? largest : sum / static_cast<double>(pieces.size());
    }
    return word;
  }

  Rows direction(const std::string& ending, Rows words) const {
    const size_t columns = static_cast<size_t>(config.hidden_size) / 2;
    Vector h(columns, 0.0), c(columns, 0.0);
    Rows states;
    for (const Vector& word : words) {
      const Vector x = linear("rnn.lstm.weight_ih" + ending, "rnn.lstm.bias_ih" + ending, word);
      const Vector r = linear("rnn.lstm.weight_hh" + ending, "rnn.lstm.bias_hh" + ending, h);
      for (size_t k = 0; k < columns; ++k) {
        const auto gate = [&](size_t which) { return x[which * columns + k] + r[which * columns + k]; };
        c[k] = sigmoid(gate(1)) * c[k] + sigmoid(gate(0)) * std::tanh(gate(2));
        h[k] = sigmoid(gate(3)) * std::tanh(c[k]);
      }
      states.push_back(h);
    }
    return states;
  }
  Rows lstm(Rows words) const {
    for (int64_t n = 0; n < config.num_rnn_layers; ++n) {
      const std::string ending = "_l" + std::to_string(n);
      const Rows forward = direction(ending, words);
      std::ranges::reverse(words);
      Rows backward = direction(ending + "_reverse", words);
      std::ranges::reverse(backward);
      words = forward;
      for (size_t w = 0; w < words.size(); ++w) words[w].insert(words[w].end(), backward[w].begin(), backward[w].end());
    }
    return words;
  }

  Vector span(const Vector& first, const Vector& last) const {
    const std::string spans = "span_rep_layer.span_rep_layer.";
    Vector both = layers(spans + "project_start", first);
    const Vector end = layers(spans + "project_end", last);
    both.insert(both.end(), end.begin(), end.end());
    relu(both);
    return config.span_mode == SpanMode::kMarker ? layer(spans + "out_project", both)
                                                 : layers(spans + "out_project", both);
  }
  void add_spans(const Rows& labels, const Rows& words, Vector& scores) const {
    for (size_t first = 0; first < words.size(); ++first) {
      for (size_t last = first; last < words.size() && last < first + static_cast<size_t>(config.max_width); ++last) {
        const Vector of_span = span(words[first], words[last]);
        for (const Vector& label : labels) {
          const Vector of_label = layers("prompt_rep_layer", label);
          double score = 0;
          for (size_t u = 0; u < of_span.size(); ++u) score += of_span[u] * of_label[u];
          scores.push_back(score);
        }
      }
    }
  }
  void add_words(const Rows& labels, const Rows& words, Vector& scores) const {
    const auto units = static_cast<size_t>(config.hidden_size);
    for (const Vector& word : words) {
      const Vector t = layer("scorer.proj_token", word);
      for (const Vector& label : labels) {
        const Vector l = layer("scorer.proj_label", label);
        Vector all(t.begin(), t.begin() + static_cast<std::ptrdiff_t>(units));
        all.insert(all.end(), l.begin(), l.begin() + static_cast<std::ptrdiff_t>(units));
        for (size_t u = 0; u < units; ++u) all.push_back(t[units + u] * l[units + u]);
        const Vector of_word = layers("scorer.out_mlp", all);
        scores.insert(scores.end(), of_word.begin(), of_word.end());
      }
    }
  }

  Vector scores(const std::vector<float>& hidden_TD, const std::vector<LabelledWords>& sequences, size_t hidden) const {
    const auto state = [&](int32_t row) {
      const auto begin = hidden_TD.begin() + static_cast<std::ptrdiff_t>(static_cast<size_t>(row) * hidden);
      return projected(Vector(begin, begin + static_cast<std::ptrdiff_t>(hidden)));
    };
    Vector all;
    for (const LabelledWords& sequence : sequences) {
      Rows labels, words;
      for (const int32_t row : sequence.labels) labels.push_back(state(row));
      for (size_t w = 0; w < sequence.words(); ++w) {
        Rows pieces;
        for (int32_t i = sequence.word_starts[w]; i < sequence.word_starts[w + 1]; ++i)
          pieces.push_back(state(sequence.pieces[static_cast<size_t>(i)]));
        words.push_back(pooled(pieces));
      }
      words = lstm(std::move(words));
      config.has_spans() ? add_spans(labels, words, all) : add_words(labels, words, all);
    }
    return all;
  }
};

// ---- models

Head head_of(const ExtractionConfig& extraction) {
  return extraction.has_spans() ? Head::kEntitySpans : Head::kEntityWords;
}

ModelConfig config_with(const ExtractionConfig& extraction) {
  ModelConfig config = tiny_config();
  config.extraction = extraction;
  return config;
}

struct Loaded {
  Tensors tensors;
  Model model;
};
Loaded load(const ModelConfig& config, const ModelOptions& options = {.threads = 1}) {
  const TemporaryFolder folder;
  write_tiny_model(folder.path(), config, head_of(*config.extraction));
  ModelConfig read = load_model_config(folder.path("config.json"));
  read.extraction = config.extraction;
  return {read_tensors(folder.path("model.safetensors")), load_model(Checkpoint::open(folder.path()), read, options)};
}

// Sequences of 12, 5, 20 and 3 tokens, of which the last has no words: labels first, then words of one to three pieces,
// one of them of none.
Batch sequences() {
  return make_batch({make_ids(1, 12), make_ids(2, 5), make_ids(3, 20), make_ids(4, 3)});
}
std::vector<LabelledWords> labels_and_words() {
  return {{{1, 3}, {5, 6, 7, 8, 9, 10}, {0, 2, 2, 3, 6}},
          {{13}, {15}, {0, 1}},
          {{18, 19, 20}, {22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35}, {0, 1, 2, 4, 5, 8, 9, 10, 12, 14}},
          {{38, 38}, {}, {0}}};
}

ForwardOptions asked_for(std::vector<LabelledWords> entities) {
  ForwardOptions options;
  options.entities = std::move(entities);
  return options;
}

void expect_scores(const ExtractionConfig& extraction, const std::string& what) {
  SCOPED_TRACE(what);
  const ModelConfig config = config_with(extraction);
  const Loaded loaded = load(config);
  const Batch batch = sequences();
  const ForwardResult result = run(loaded.model, batch, asked_for(labels_and_words()));
  const Vector expected =
      Reference{loaded.tensors, extraction}.scores(last_hidden(loaded.model, batch), labels_and_words(), 16);
  ASSERT_EQ(result.logits.size(), expected.size());
  EXPECT_EQ(result.logits_columns, extraction.has_spans() ? 1u : 3u);
  EXPECT_EQ(result.logits_rows * result.logits_columns, expected.size());
  for (size_t i = 0; i < expected.size(); ++i)
    ASSERT_NEAR(result.logits[i], expected[i], 2e-5 * (1 + std::abs(expected[i]))) << i;
}

constexpr SpanMode kModes[] = {SpanMode::kMarkerV0, SpanMode::kMarker, SpanMode::kTokenLevel};

TEST(EntityHeads, HaveTheScoresOfTheLibrarysModules) {
  for (const SpanMode mode : kModes) {
    for (const int64_t layers : {0, 1, 2}) {
      for (const int64_t size : {16, 12})
        expect_scores(
            {.span_mode = mode, .hidden_size = size, .max_width = 3, .num_rnn_layers = layers},
            std::string(to_string(mode)) + ", " + std::to_string(layers) + " layers, " + std::to_string(size));
    }
  }
}

TEST(EntityHeads, PoolThePiecesOfAWord) {
  for (const SubtokenPooling pooling :
       {SubtokenPooling::kFirst, SubtokenPooling::kLast, SubtokenPooling::kMean, SubtokenPooling::kMax}) {
    for (const SpanMode mode : kModes)
      expect_scores({.span_mode = mode, .subtoken_pooling = pooling, .hidden_size = 8, .max_width = 12},
                    std::string(to_string(pooling)));
  }
}

TEST(EntityHeads, AreThoseAloneInAnyPack) {
  for (const SpanMode mode : kModes) {
    ModelConfig config = with_fast_heads();
    config.extraction = ExtractionConfig{.span_mode = mode, .hidden_size = 32, .max_width = 4};
    const Loaded loaded = load(config, {.threads = 2});
    const std::vector<LabelledWords> words = labels_and_words();
    const ForwardResult pack = run(loaded.model, sequences(), asked_for(words));
    const LabelledWords alone{{1, 3}, {5, 6, 7, 8, 9, 10}, {0, 2, 2, 3, 6}};
    const ForwardResult first = run(loaded.model, make_batch({make_ids(1, 12)}), asked_for({alone}));
    ASSERT_LT(first.logits.size(), pack.logits.size());
    EXPECT_EQ(first.logits, slice(pack.logits, 0, first.logits.size())) << to_string(mode);
    const Loaded serial = load(config, {.threads = 1});
    EXPECT_EQ(run(serial.model, sequences(), asked_for(words)).logits, pack.logits) << to_string(mode);
  }
}

TEST(EntityHeads, HaveNoScoresWithoutARequest) {
  const Loaded loaded = load(config_with({.hidden_size = 16}));
  EXPECT_TRUE(run(loaded.model, sequences()).logits.empty());
  EXPECT_TRUE(run(loaded.model, make_batch({make_ids(1, 4)}), asked_for({{{}, {1}, {0, 1}}})).logits.empty());
  EXPECT_TRUE(run(loaded.model, make_batch({make_ids(1, 4)}), asked_for({{{1}, {}, {}}})).logits.empty());
}

TEST(EntityHeads, RefuseLabelsAndWordsThatDoNotFit) {
  const Loaded loaded = load(config_with({.hidden_size = 16}));
  const Batch batch = make_batch({make_ids(1, 6), make_ids(2, 4)});
  const auto refuses = [&](std::vector<LabelledWords> words, const std::string& what) {
    EXPECT_ERROR(run(loaded.model, batch, asked_for(std::move(words))), kInput, what);
  };
  const LabelledWords none{{}, {}, {0}};
  refuses({none}, "entities: expected labels and words of each of 2 sequences, got 1");
  refuses({{{6}, {}, {0}}, none}, "entities of row 0: expected rows 0 to 5, got 6");
  refuses({none, {{}, {5}, {0, 1}}}, "entities of row 1: expected rows 6 to 9, got 5");
  refuses({{{}, {1}, {0, 2}}, none}, "entities of row 0: expected ascending starts of words in 1 pieces");
  refuses({{{}, {1, 2}, {0, 2, 1, 2}}, none}, "expected ascending starts");
  refuses({{{}, {1}, {1, 1}}, none}, "expected ascending starts");
  refuses({{{}, {1}, {}}, none}, "expected ascending starts");
  EXPECT_ERROR(run(load_tiny(tiny_config(), Head::kToken), batch, asked_for({none, none})), kInput,
               "entities: expected a head that reads labels and words, got the head token");
}

TEST(EntityHeads, GoWithTheirConfiguration) {
  const TemporaryFolder folder;
  const ModelConfig config = config_with({.hidden_size = 16});
  write_tiny_model(folder.path(), config, Head::kEntitySpans);
  const Checkpoint checkpoint = Checkpoint::open(folder.path());
  const auto load_as = [&](const ModelConfig& read) { return Model::load(checkpoint, read, {.threads = 1}); };
  EXPECT_ERROR(load_as(tiny_config()), kConfig, "expected its gliner_config.json beside them");
  ModelConfig other = config;
  other.extraction->span_mode = SpanMode::kTokenLevel;
  EXPECT_ERROR(load_as(other), kTensors,
               "span_mode token_level: expected the tensors of the head entity-words, got those of entity-spans");
  other = config;
  other.extraction->num_rnn_layers = 2;
  EXPECT_ERROR(load_as(other), kTensors, "8 tensors missing");
  EXPECT_EQ(load_as(config).head(), Head::kEntitySpans);
  const Variant spans = find_variant(checkpoint, config, MaskDecoder::kAuto);
  EXPECT_GT(estimate_weight_bytes(checkpoint, spans), 0u);
}

}  // namespace
}  // namespace deberta::entity_heads_test
