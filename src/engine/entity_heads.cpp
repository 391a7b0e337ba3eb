// From the last hidden states to scores, in the order of the equations: states of labels and words, the LSTM over the
// words, the scores of spans or of words.
// N rows of hidden states  W words  C labels  U columns of words and labels  F inner columns
// I inner columns of a span's ends  H columns of a direction of the LSTM
#include "engine/entity_heads.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/output_heads.h"
#include "engine/weight_loader.h"
#include "kernels/entity_scores.h"
#include "kernels/lstm.h"
#include "kernels/pooling.h"
#include "kernels/row_moves.h"

namespace deberta {
namespace {

constexpr size_t kPairRows = 256;  // words times labels that the head on words multiplies at once, or those of one word

// ---- weights

Linear of_head(Linear linear) {
  linear.role = ProductRole::kHead;
  return linear;
}

Linear load_layer(WeightLoader& loader, const std::string& prefix) {
  return of_head(loader.linear(prefix));
}

TwoLayers load_layers(WeightLoader& loader, const std::string& prefix) {
  return {load_layer(loader, prefix + ".0"), load_layer(loader, prefix + ".3")};
}

// The whole of a weight, with this bias.
Linear load_whole(WeightLoader& loader, const std::string& name, std::span<const float> bias_N) {
  const TensorView& view = loader.tensor(name);
  const std::vector<float> w_NK = to_fp32(view);
  return of_head(
      loader.packed({.w_NK = w_NK.data(), .outputs = as_size(view.shape[0]), .depth = as_size(view.shape[1])}, bias_N));
}

// One of `parts` equal parts of a layer's outputs.
Linear load_outputs(WeightLoader& loader, const std::string& prefix, size_t part, size_t parts) {
  const TensorView& view = loader.tensor(prefix + ".weight");
  const std::vector<float> w_NK = to_fp32(view), bias_N = to_fp32(loader.tensor(prefix + ".bias"));
  const size_t outputs = bias_N.size() / parts, depth = as_size(view.shape[1]);
  return of_head(loader.packed({.w_NK = w_NK.data() + part * outputs * depth, .outputs = outputs, .depth = depth},
                               std::span(bias_N).subspan(part * outputs, outputs)));
}

// One of `parts` equal parts of a layer's inputs; the first one has the bias.
Linear load_inputs(WeightLoader& loader, const std::string& prefix, size_t part, size_t parts) {
  const TensorView& view = loader.tensor(prefix + ".weight");
  const std::vector<float> all_NK = to_fp32(view), bias_N = to_fp32(loader.tensor(prefix + ".bias"));
  const size_t outputs = bias_N.size(), depth = as_size(view.shape[1]) / parts;
  std::vector<float> w_NK;
  for (size_t n = 0; n < outputs; ++n) {
    const float* row = all_NK.data() + (n * parts + part) * depth;
    w_NK.insert(w_NK.end(), row, row + depth);
  }
  return of_head(loader.packed({.w_NK = w_NK.data(), .outputs = outputs, .depth = depth},
                               part == 0 ? std::span(bias_N) : std::span<const float>()));
}

// y = x W: a layer's weight the other way round, without its bias.
Linear load_turned(WeightLoader& loader, const std::string& name) {
  const TensorView& view = loader.tensor(name);
  const std::vector<float> w_KN = to_fp32(view);
  return of_head(
      loader.packed({.outputs = as_size(view.shape[1]), .depth = as_size(view.shape[0]), .w_KN = w_KN.data()}, {}));
}

// y = x . v: a vector as a layer with one output.
Linear load_row(WeightLoader& loader, const std::string& name) {
  const std::vector<float> w_K = to_fp32(loader.tensor(name));
  return of_head(loader.packed({.w_NK = w_K.data(), .outputs = 1, .depth = w_K.size()}, {}));
}

LstmWeights load_lstm(WeightLoader& loader, int64_t layer, std::string_view ending) {
  const auto name = [&](std::string_view what) { return fmt::format("rnn.lstm.{}_l{}{}", what, layer, ending); };
  std::vector<float> bias_N = to_fp32(loader.tensor(name("bias_ih")));
  const std::vector<float> more_N = to_fp32(loader.tensor(name("bias_hh")));
  for (size_t n = 0; n < bias_N.size(); ++n) bias_N[n] += more_N[n];
  return {load_whole(loader, name("weight_ih"), bias_N), load_whole(loader, name("weight_hh"), {})};
}

// What both heads have.
EntityWeights load_states(WeightLoader& loader) {
  const ExtractionConfig& config = *loader.config().extraction;
  EntityWeights w;
  if (config.hidden_size != loader.config().hidden_size)
    w.projection = load_layer(loader, "token_rep_layer.projection");
  for (int64_t layer = 0; layer < config.num_rnn_layers; ++layer)
    w.rnn.push_back({load_lstm(loader, layer, ""), load_lstm(loader, layer, "_reverse")});
  return w;
}

// ---- what is asked for

// How many pieces a word's state is made of.
size_t count_pieces(const LabelledWords& sequence, SubtokenPooling pooling) {
  if (pooling == SubtokenPooling::kMean || pooling == SubtokenPooling::kMax) return sequence.pieces.size();
  size_t words = 0;
  for (size_t w = 0; w < sequence.words(); ++w) words += sequence.word_starts[w] < sequence.word_starts[w + 1];
  return words;
}

// Words that the head on words multiplies at once, each with all labels.
size_t words_of_block(const LabelledWords& sequence) {
  return std::min(sequence.words(), std::max<size_t>(1, kPairRows / std::max<size_t>(1, sequence.labels.size())));
}

size_t count_scores(const LabelledWords& sequence, const ExtractionConfig& config) {
  const size_t labels = sequence.labels.size();
  if (!config.has_spans()) return sequence.words() * labels * kWordScores;
  return count_spans(sequence.words(), as_size(config.max_width)) * labels;
}

// ---- states

// The rows that the head reads: labels, then the pieces of words.
void stage_rows(const Pass& pass, const EntityBuffers& buffers) {
  const SubtokenPooling pooling = pass.config.extraction->subtoken_pooling;
  int32_t* row = buffers.rows_N.host;
  for (const LabelledWords& sequence : pass.options.entities) row = std::ranges::copy(sequence.labels, row).out;
  const int32_t* first = row;
  int32_t* start = buffers.piece_starts;
  *start = 0;
  for (const LabelledWords& sequence : pass.options.entities) {
    for (size_t w = 0; w < sequence.words(); ++w) {
      const int32_t* begin = sequence.pieces.data() + sequence.word_starts[w];
      const int32_t* end = sequence.pieces.data() + sequence.word_starts[w + 1];
      if (begin < end && pooling == SubtokenPooling::kFirst) end = begin + 1;
      if (begin < end && pooling == SubtokenPooling::kLast) begin = end - 1;
      row = std::copy(begin, end, row);
      *++start = static_cast<int32_t>(row - first);
    }
  }
  upload(pass, buffers.rows_N, static_cast<size_t>(row - buffers.rows_N.host));
}

RowPooling pooling_of(SubtokenPooling pooling) {
  switch (pooling) {
    case SubtokenPooling::kFirst:
    case SubtokenPooling::kLast:
      break;
    case SubtokenPooling::kMean:
      return RowPooling::kMean;
    case SubtokenPooling::kMax:
      return RowPooling::kMax;
  }
  return RowPooling::kFirst;  // of one piece, which stage_rows() has chosen
}

// y = activation(x W^T + b) of rows that may be none.
void apply(const Pass& pass, const Linear& linear, const float* x, size_t rows, float* y,
           KernelActivation activation = KernelActivation::kLinear) {
  if (rows > 0) apply_linear(pass, linear, {.x = x, .rows = rows, .activation = activation, .y = y});
}

void apply(const Pass& pass, const TwoLayers& layers, const float* x, size_t rows, float* inner, float* y,
           KernelActivation activation = KernelActivation::kLinear) {
  apply(pass, layers.first, x, rows, inner, KernelActivation::kRelu);
  apply(pass, layers.second, inner, rows, y, activation);
}

// [C, U] of the labels. Those of the words, as they are before the LSTM, are in words_WU.
const float* read_states(const Pass& pass, const Workspace& space, const EntityShape& shape) {
  const EntityBuffers& e = space.entities;
  const size_t rows = shape.labels + shape.pieces;
  stage_rows(pass, e);
  gather_rows(pass.kernels, {.x = space.hidden_TD,
                             .rows_N = e.rows_N.device,
                             .rows = rows,
                             .columns = as_size(pass.config.hidden_size),
                             .y = space.head_rows_ND,
                             .parallel = pass.parallel});
  const float* states_NU = space.head_rows_ND;
  if (e.states_NU != nullptr) {
    apply(pass, pass.weights.head.entities.projection, states_NU, rows, e.states_NU);
    states_NU = e.states_NU;
  }
  pool_rows(pass.kernels,
            {.pooling = pooling_of(pass.config.extraction->subtoken_pooling),
             .hidden_TD = states_NU + shape.labels * shape.columns,
             .columns = shape.columns,
             .starts = {e.piece_starts, shape.words + 1}},
            {.pooled_BD = e.words_WU}, pass.parallel);
  return states_NU;
}

// ---- the LSTM

// The order in which the LSTM reads the words of all sequences: step by step, in each step the sequences that have as
// many words, the longest first. So the rows of a step follow those of the same sequences in the step before.
struct Steps {
  std::vector<size_t> begins;  // where each step begins, and the end
  size_t count() const { return begins.size() - 1; }
  size_t rows(size_t step) const { return begins[step + 1] - begins[step]; }
};

struct SequenceWords {
  size_t begin = 0, count = 0;  // among the words of the pass
};

std::vector<SequenceWords> longest_first(const Pass& pass) {
  std::vector<SequenceWords> sequences;
  size_t begin = 0;
  for (const LabelledWords& sequence : pass.options.entities) {
    sequences.push_back({begin, sequence.words()});
    begin += sequence.words();
  }
  std::ranges::stable_sort(sequences, std::ranges::greater(), &SequenceWords::count);
  return sequences;
}

// Fills order_2W, the word that each row of a step reads, and back_2W, the row where each half of a word's result is.
Steps stage_steps(const Pass& pass, const EntityBuffers& e, const EntityShape& shape) {
  const std::vector<SequenceWords> sequences = longest_first(pass);
  Steps steps{{0}};
  for (size_t step = 0; step < sequences.front().count; ++step) {
    const auto has_word = [&](const SequenceWords& sequence) { return sequence.count > step; };
    steps.begins.push_back(steps.begins.back() + as_size(std::ranges::count_if(sequences, has_word)));
  }
  for (size_t b = 0; b < sequences.size(); ++b) {
    for (size_t step = 0; step < sequences[b].count; ++step) {
      const size_t row = steps.begins[step] + b;
      const size_t forward = sequences[b].begin + step;
      const size_t backward = sequences[b].begin + sequences[b].count - 1 - step;
      e.order_2W.host[row] = static_cast<int32_t>(forward);
      e.order_2W.host[shape.words + row] = static_cast<int32_t>(backward);
      e.back_2W.host[2 * forward] = static_cast<int32_t>(row);
      e.back_2W.host[2 * backward + 1] = static_cast<int32_t>(shape.words + row);
    }
  }
  upload(pass, e.order_2W, 2 * shape.words);
  upload(pass, e.back_2W, 2 * shape.words);
  return steps;
}

// One direction, from the gates that its input makes.
void run_direction(const Pass& pass, const LstmWeights& w, const Steps& steps, float* gates_W4H, float* hidden_WH,
                   float* cell_BH) {
  const size_t columns = w.hidden.weights.depth;  // H
  for (size_t step = 0; step < steps.count(); ++step) {
    float* gates_N4H = gates_W4H + steps.begins[step] * 4 * columns;
    const size_t rows = steps.rows(step);
    if (step > 0) {
      GemmParams p{};
      p.a_MK = hidden_WH + steps.begins[step - 1] * columns;
      p.rows = rows;
      p.weights = w.hidden.weights;
      p.residual_MN = p.c_MN = gates_N4H;
      p.role = w.hidden.role;
      gemm(pass.kernels, p);
    }
    lstm_step(pass.kernels, {.gates_N4H = gates_N4H,
                             .rows = rows,
                             .columns = columns,
                             .cell_NH = cell_BH,
                             .is_first = step == 0,
                             .hidden_NH = hidden_WH + steps.begins[step] * columns});
  }
}

// words_WU through one layer, in place: of each word the forward half, then the backward one.
void run_layer(const Pass& pass, const std::array<LstmWeights, 2>& layer, const Steps& steps, const EntityBuffers& e,
               const EntityShape& shape) {
  const size_t words = shape.words, half = shape.columns / 2;
  const size_t sequences = pass.batch.sequences();
  gather_rows(pass.kernels, {.x = e.words_WU,
                             .rows_N = e.order_2W.device,
                             .rows = 2 * words,
                             .columns = shape.columns,
                             .y = e.input_2WU,
                             .parallel = pass.parallel});
  const auto gates_of = [&](size_t direction) { return e.gates_2W4H + direction * words * 4 * half; };
  for (size_t direction = 0; direction < 2; ++direction)
    apply(pass, layer[direction].input, e.input_2WU + direction * words * shape.columns, words, gates_of(direction));
  parallel_for(pass.parallel, 2, [&](size_t direction, size_t) {
    run_direction(pass, layer[direction], steps, gates_of(direction), e.hidden_2WH + direction * words * half,
                  e.cell_2BH + direction * sequences * half);
  });
  gather_rows(pass.kernels, {.x = e.hidden_2WH,
                             .rows_N = e.back_2W.device,
                             .rows = 2 * words,
                             .columns = half,
                             .y = e.words_WU,
                             .parallel = pass.parallel});
}

void run_lstm(const Pass& pass, const EntityBuffers& e, const EntityShape& shape) {
  const EntityWeights& w = pass.weights.head.entities;
  if (w.rnn.empty() || shape.words == 0) return;
  const Steps steps = stage_steps(pass, e, shape);
  for (const std::array<LstmWeights, 2>& layer : w.rnn) run_layer(pass, layer, steps, e, shape);
}

// ---- scores

// score(sequence, where its words begin, where its labels begin, where its scores begin), for each.
template <class Score>
void for_each_sequence(const Pass& pass, const Score& score) {
  size_t word = 0, label = 0, at = 0;
  for (const LabelledWords& sequence : pass.options.entities) {
    score(sequence, word, label, at);
    word += sequence.words();
    label += sequence.labels.size();
    at += count_scores(sequence, *pass.config.extraction);
  }
}

// The ends of spans, and labels through the layers behind the ends: q = label layers, then W^T q and q . b.
void project_spans(const Pass& pass, const EntityBuffers& e, const EntityShape& shape, const float* labels_CU) {
  const EntityWeights& w = pass.weights.head.entities;
  apply(pass, w.label, labels_CU, shape.labels, e.inner_NF, e.labels_CU);
  apply(pass, w.folded, e.labels_CU, shape.labels, e.folded_CF);
  apply(pass, w.folded_bias, e.labels_CU, shape.labels, e.constant_C);
  apply(pass, w.start, e.words_WU, shape.words, e.inner_NF, e.first_WU, KernelActivation::kRelu);
  apply(pass, w.end, e.words_WU, shape.words, e.inner_NF, e.last_WU, KernelActivation::kRelu);
  if (pass.config.extraction->span_mode != SpanMode::kMarkerV0) return;
  apply(pass, w.first_half, e.first_WU, shape.words, e.first_WF);
  apply(pass, w.last_half, e.last_WU, shape.words, e.last_WF);
}

void score_spans(const Pass& pass, const EntityBuffers& e, const EntityShape& shape, float* scores) {
  const ExtractionConfig& config = *pass.config.extraction;
  const bool is_v0 = config.span_mode == SpanMode::kMarkerV0;
  const size_t columns = is_v0 ? 4 * shape.columns : shape.columns;
  const size_t label_columns = is_v0 ? columns : 2 * columns;
  for_each_sequence(pass, [&](const LabelledWords& sequence, size_t word, size_t label, size_t at) {
    const SpanScoreParams p{.first_WF = (is_v0 ? e.first_WF : e.first_WU) + word * columns,
                            .last_WF = (is_v0 ? e.last_WF : e.last_WU) + word * columns,
                            .label_CF = e.folded_CF + label * label_columns,
                            .constant_C = e.constant_C + label,
                            .words = sequence.words(),
                            .labels = sequence.labels.size(),
                            .columns = columns,
                            .width = as_size(config.max_width),
                            .inner_F = e.inner_NF,
                            .ends_WC = e.ends_WC,
                            .y_SC = scores + at,
                            .parallel = pass.parallel};
    if (is_v0) return span_scores(pass.kernels, p);
    marker_scores(pass.kernels, p);
  });
}

// Both parts of words and labels: what the inner layer reads of each alone, and the factors of their product.
void project_words(const Pass& pass, const EntityBuffers& e, const EntityShape& shape, const float* labels_CU) {
  const EntityWeights& w = pass.weights.head.entities;
  apply(pass, w.label_alone, labels_CU, shape.labels, e.labels_CU);
  apply(pass, w.inner_label, e.labels_CU, shape.labels, e.folded_CF);
  apply(pass, w.label_product, labels_CU, shape.labels, e.label_product_CU);
  apply(pass, w.token_alone, e.words_WU, shape.words, e.first_WU);
  apply(pass, w.inner_token, e.first_WU, shape.words, e.first_WF);
  apply(pass, w.token_product, e.words_WU, shape.words, e.last_WU);
}

void score_words(const Pass& pass, const EntityBuffers& e, const EntityShape& shape, float* scores) {
  const EntityWeights& w = pass.weights.head.entities;
  const size_t columns = shape.columns, inner = 4 * columns;
  for_each_sequence(pass, [&](const LabelledWords& sequence, size_t first, size_t label, size_t at) {
    const size_t labels = sequence.labels.size(), block = words_of_block(sequence);
    for (size_t word = 0; word < sequence.words(); word += block) {
      const size_t words = std::min(block, sequence.words() - word);
      multiply_rows(pass.kernels, {.word_WU = e.last_WU + (first + word) * columns,
                                   .label_CU = e.label_product_CU + label * columns,
                                   .words = words,
                                   .labels = labels,
                                   .columns = columns,
                                   .z_WCU = e.pairs_NU,
                                   .parallel = pass.parallel});
      apply(pass, w.inner_product, e.pairs_NU, words * labels, e.pairs_NF);
      word_scores(pass.kernels, {.pair_WCF = e.pairs_NF,
                                 .word_WF = e.first_WF + (first + word) * inner,
                                 .label_CF = e.folded_CF + label * inner,
                                 .out_3F = w.out_3F,
                                 .constant_3 = w.out_bias_3,
                                 .words = words,
                                 .labels = labels,
                                 .columns = inner,
                                 .y_WC3 = scores + at + word * labels * kWordScores,
                                 .parallel = pass.parallel});
    }
  });
}

using Project = void (*)(const Pass& pass, const EntityBuffers& e, const EntityShape& shape, const float* labels_CU);
using ScoreAll = void (*)(const Pass& pass, const EntityBuffers& e, const EntityShape& shape, float* scores);

void compute_entities(const Pass& pass, const Workspace& space, ForwardResult& result, Project project,
                      ScoreAll score) {
  const EntityShape shape = entity_shape(pass);
  result.logits_columns = as_size(pass.head.facts->fixed_outputs);
  result.logits_rows = shape.scores / result.logits_columns;
  float* scores = begin_result(space.logits_NC, shape.scores, result.logits);
  if (shape.scores == 0) return;
  const float* labels_CU = read_states(pass, space, shape);
  run_lstm(pass, space.entities, shape);
  project(pass, space.entities, shape, labels_CU);
  score(pass, space.entities, shape, scores);
  finish_result(pass, space.logits_NC, result.logits);
}

}  // namespace

HeadWeights load_entity_spans(WeightLoader& loader) {
  const std::string spans = "span_rep_layer.span_rep_layer.";
  const bool is_v0 = loader.config().extraction->span_mode == SpanMode::kMarkerV0;
  const std::string last = spans + (is_v0 ? "out_project.3" : "out_project");
  HeadWeights head;
  EntityWeights& w = head.entities = load_states(loader);
  w.label = load_layers(loader, "prompt_rep_layer");
  w.start = load_layers(loader, spans + "project_start");
  w.end = load_layers(loader, spans + "project_end");
  if (is_v0) {
    w.first_half = load_inputs(loader, spans + "out_project.0", 0, 2);
    w.last_half = load_inputs(loader, spans + "out_project.0", 1, 2);
  }
  w.folded = load_turned(loader, last + ".weight");
  w.folded_bias = load_row(loader, last + ".bias");
  return head;
}

HeadWeights load_entity_words(WeightLoader& loader) {
  HeadWeights head;
  EntityWeights& w = head.entities = load_states(loader);
  w.token_alone = load_outputs(loader, "scorer.proj_token", 0, 2);
  w.token_product = load_outputs(loader, "scorer.proj_token", 1, 2);
  w.label_alone = load_outputs(loader, "scorer.proj_label", 0, 2);
  w.label_product = load_outputs(loader, "scorer.proj_label", 1, 2);
  w.inner_token = load_inputs(loader, "scorer.out_mlp.0", 0, 3);
  w.inner_label = load_inputs(loader, "scorer.out_mlp.0", 1, 3);
  w.inner_product = load_inputs(loader, "scorer.out_mlp.0", 2, 3);
  w.out_3F = loader.vector("scorer.out_mlp.3.weight");
  w.out_bias_3 = loader.vector("scorer.out_mlp.3.bias");
  return head;
}

void compute_entity_spans(const Pass& pass, const Workspace& space, ForwardResult& result) {
  compute_entities(pass, space, result, project_spans, score_spans);
}

void compute_entity_words(const Pass& pass, const Workspace& space, ForwardResult& result) {
  compute_entities(pass, space, result, project_words, score_words);
}

EntityShape entity_shape(const Pass& pass) {
  EntityShape shape;
  if (!pass.options.wants_logits || pass.options.entities.empty()) return shape;
  const ExtractionConfig& config = *pass.config.extraction;
  shape.columns = as_size(config.hidden_size);
  for (const LabelledWords& sequence : pass.options.entities) {
    shape.labels += sequence.labels.size();
    shape.words += sequence.words();
    shape.pieces += count_pieces(sequence, config.subtoken_pooling);
    shape.scores += count_scores(sequence, config);
    shape.most_pairs = std::max(shape.most_pairs, words_of_block(sequence) * sequence.labels.size());
    shape.most_ends = std::max(shape.most_ends, sequence.words() * sequence.labels.size());
  }
  return shape;
}

}  // namespace deberta
