// Tensors in the order of the table, then the equations; dropout counts labels, words and spans within their sequence.
#include "train/model/entity_head.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/zeros.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <numeric>
#include <string>

#include "kernels/entity_scores.h"
#include "train/ops/activation.h"
#include "train/ops/dropout.h"
#include "train/ops/linear.h"

namespace deberta::train {
namespace {

const ExtractionConfig& config_of(const Pass& pass) {
  return *pass.form.config.extraction;
}

// ---- tensors

// As torch begins a linear layer, but for its bias: products of several layers vanish from smaller weights.
void visit_linear(Linear& linear, const std::string& name, int64_t inputs, int64_t outputs, const Visit& each) {
  each({.name = name + ".weight", .shape = {outputs, inputs}, .init = Init::kUniform}, linear.weight_OI);
  each({.name = name + ".bias", .shape = {outputs}, .init = Init::kZeros}, linear.bias_O);
}

struct TwoLayersSpec {
  std::string name;
  int64_t inputs = 0, inner = 0, outputs = 0;
};
void visit_layers(TwoLayers& layers, const TwoLayersSpec& spec, const Visit& each) {
  visit_linear(layers.first, spec.name + ".0", spec.inputs, spec.inner, each);
  visit_linear(layers.second, spec.name + ".3", spec.inner, spec.outputs, each);
}

// Each kind of tensor of all layers, as the table lists them.
void visit_rnn(std::vector<std::array<LstmLayer, 2>>& rnn, int64_t columns, const Visit& each) {
  struct Kind {
    const char* name;
    at::Tensor LstmLayer::*tensor;
    Shape shape;
  };
  const std::array<Kind, 4> kinds = {Kind{"weight_ih", &LstmLayer::input_4HU, {2 * columns, columns}},
                                     Kind{"weight_hh", &LstmLayer::hidden_4HH, {2 * columns, columns / 2}},
                                     Kind{"bias_ih", &LstmLayer::input_bias_4H, {2 * columns}},
                                     Kind{"bias_hh", &LstmLayer::hidden_bias_4H, {2 * columns}}};
  for (size_t direction = 0; direction < 2; ++direction) {
    for (const Kind& kind : kinds) {
      for (size_t layer = 0; layer < rnn.size(); ++layer) {
        const std::string name =
            std::string("rnn.lstm.") + kind.name + "_l" + std::to_string(layer) + (direction == 0 ? "" : "_reverse");
        const Init init = kind.shape.size() == 1 ? Init::kZeros : Init::kUniform;
        each({.name = name, .shape = kind.shape, .init = init}, rnn[layer][direction].*kind.tensor);
      }
    }
  }
}

void visit_spans(EntityHead& head, const ExtractionConfig& c, const Visit& each) {
  const std::string spans = "span_rep_layer.span_rep_layer.";
  const bool is_v0 = c.span_mode == SpanMode::kMarkerV0;
  const int64_t u = c.hidden_size, inner = (is_v0 ? 4 : 2) * u;
  visit_layers(head.label, {"prompt_rep_layer", u, 4 * u, u}, each);
  visit_layers(head.start, {spans + "project_start", u, inner, u}, each);
  visit_layers(head.end, {spans + "project_end", u, inner, u}, each);
  if (is_v0)
    visit_layers(head.out, {spans + "out_project", 2 * u, 4 * u, u}, each);
  else
    visit_linear(head.out_linear, spans + "out_project", 2 * u, u, each);
}

void visit_words(EntityHead& head, const ExtractionConfig& c, const Visit& each) {
  const int64_t u = c.hidden_size;
  visit_linear(head.token_parts, "scorer.proj_token", u, 2 * u, each);
  visit_linear(head.label_parts, "scorer.proj_label", u, 2 * u, each);
  visit_layers(head.out, {"scorer.out_mlp", 3 * u, 4 * u, 3}, each);
}

// ---- dropout

// Which layer of the head draws: its number in the counter of dropout.
enum class Dropped : size_t { kLabel, kStart, kEnd, kOut };

at::Tensor drop(const Pass& pass, Dropped where, const at::Tensor& x_NF, const Rows& rows) {
  const double p = pass.form.config.cls_dropout;
  return dropout(pass.compute, x_NF, pass.dropout(RandomDomain::kEntityDropout, p, static_cast<size_t>(where)), rows);
}

at::Tensor relu(const Pass& pass, const at::Tensor& x) {
  return activate(pass.compute, x, KernelActivation::kRelu);
}

at::Tensor apply(const Pass& pass, const TwoLayers& layers, Dropped where, const at::Tensor& x_NU, const Rows& rows) {
  const at::Tensor inner_NF = relu(pass, train::apply(pass, layers.first, x_NU));
  return train::apply(pass, layers.second, drop(pass, where, inner_NF, rows));
}

// ---- what is asked for

// Sequence by sequence, in a table of its own.
template <class Count>
Rows count_rows(std::span<const LabelledWords> sequences, const Count& count) {
  Rows rows{.starts = {0}};
  for (const LabelledWords& sequence : sequences)
    rows.starts.push_back(rows.starts.back() + static_cast<int32_t>(count(sequence)));
  return rows;
}

Rows count_words(std::span<const LabelledWords> sequences) {
  return count_rows(sequences, [](const LabelledWords& s) { return s.words(); });
}

struct Asked {
  std::span<const LabelledWords> sequences;
  Rows labels, words;
};

// ---- states

// The pieces that a word's state is made of: first to last - 1 of all pieces.
struct PieceRange {
  size_t first = 0, last = 0;
};

std::vector<PieceRange> pieces_of_words(const Asked& asked, SubtokenPooling pooling) {
  std::vector<PieceRange> ranges;
  size_t before = 0;  // pieces of the sequences before
  for (const LabelledWords& sequence : asked.sequences) {
    for (size_t w = 0; w < sequence.words(); ++w) {
      PieceRange range{before + static_cast<size_t>(sequence.word_starts[w]),
                       before + static_cast<size_t>(sequence.word_starts[w + 1])};
      if (range.first < range.last && pooling == SubtokenPooling::kFirst) range.last = range.first + 1;
      if (range.first < range.last && pooling == SubtokenPooling::kLast) range.first = range.last - 1;
      ranges.push_back(range);
    }
    before += sequence.pieces.size();
  }
  return ranges;
}

// Sums in the order of the pieces, whatever else is in the pack.
at::Tensor mean_of_pieces(const at::Tensor& pieces_PU, const std::vector<PieceRange>& ranges) {
  std::vector<int32_t> rows_N, words_N;
  std::vector<float> shares_N;
  for (size_t w = 0; w < ranges.size(); ++w) {
    for (size_t n = ranges[w].first; n < ranges[w].last; ++n) {
      rows_N.push_back(static_cast<int32_t>(n));
      words_N.push_back(static_cast<int32_t>(w));
      shares_N.push_back(1 / static_cast<float>(ranges[w].last - ranges[w].first));
    }
  }
  const at::TensorOptions like = pieces_PU.options().requires_grad(false);
  at::Tensor shares_N1 = at::empty({static_cast<int64_t>(shares_N.size()), 1}, at::kFloat);
  std::ranges::copy(shares_N, shares_N1.data_ptr<float>());
  return at::zeros({static_cast<int64_t>(ranges.size()), pieces_PU.size(1)}, like)
      .index_add(0, to_index(words_N, pieces_PU), take_rows(pieces_PU, rows_N) * shares_N1.to(like));
}

at::Tensor largest_of_pieces(const at::Tensor& pieces_PU, const std::vector<PieceRange>& ranges) {
  size_t most = 1;
  for (const PieceRange& range : ranges) most = std::max(most, range.last - range.first);
  const auto words = static_cast<int64_t>(ranges.size()), width = static_cast<int64_t>(most);
  std::vector<int32_t> rows_WM(ranges.size() * most, 0);
  at::Tensor is_none_WM1 = at::ones({words, width, 1}, at::kBool);
  for (size_t w = 0; w < ranges.size(); ++w) {
    for (size_t n = 0; n < ranges[w].last - ranges[w].first; ++n) {
      rows_WM[w * most + n] = static_cast<int32_t>(ranges[w].first + n);
      is_none_WM1.data_ptr<bool>()[w * most + n] = false;
    }
  }
  is_none_WM1 = is_none_WM1.to(pieces_PU.device());
  return take_rows(pieces_PU, rows_WM)
      .view({words, width, pieces_PU.size(1)})
      .masked_fill(is_none_WM1, -std::numeric_limits<double>::infinity())
      .amax(1)
      .masked_fill(is_none_WM1.all(1), 0);
}

// [W, U] from the states of all pieces; zeros of a word without a piece.
at::Tensor pool_pieces(const at::Tensor& pieces_PU, const std::vector<PieceRange>& ranges, SubtokenPooling pooling) {
  const bool is_max = pooling == SubtokenPooling::kMax && pieces_PU.size(0) > 0;
  return is_max ? largest_of_pieces(pieces_PU, ranges) : mean_of_pieces(pieces_PU, ranges);
}

// ---- the LSTM

// The order in which it reads the words of all sequences: step by step, in each step the sequences that have as many
// words, the longest first.
struct Steps {
  std::vector<int64_t> rows;     // of each step
  std::vector<int32_t> order_W;  // the word that each row of a step reads
  std::vector<int32_t> back_W;   // the row of each word
};

Steps steps_of(const Rows& words, bool is_backward) {
  std::vector<size_t> sequences(words.sequences());
  std::iota(sequences.begin(), sequences.end(), size_t{0});
  const auto count = [&](size_t b) { return words.end(b) - words.begin(b); };
  std::ranges::stable_sort(sequences, std::ranges::greater(), count);
  Steps steps;
  steps.back_W.resize(words.count());
  for (size_t step = 0; steps.order_W.size() < words.count(); ++step) {
    const size_t before = steps.order_W.size();
    for (const size_t b : sequences) {
      if (count(b) <= step) break;
      const size_t word = is_backward ? words.end(b) - 1 - step : words.begin(b) + step;
      steps.back_W[word] = static_cast<int32_t>(steps.order_W.size());
      steps.order_W.push_back(static_cast<int32_t>(word));
    }
    steps.rows.push_back(static_cast<int64_t>(steps.order_W.size() - before));
  }
  return steps;
}

at::Tensor run_direction(const Pass& pass, const LstmLayer& layer, const Steps& steps, const at::Tensor& words_WU) {
  const at::Tensor bias_4H = layer.input_bias_4H + layer.hidden_bias_4H;
  const at::Tensor gates_W4H = linear(pass.compute, take_rows(words_WU, steps.order_W), layer.input_4HU, bias_4H);
  const std::vector<at::Tensor> inputs = gates_W4H.split_with_sizes(steps.rows, 0);
  std::vector<at::Tensor> hidden;
  at::Tensor cell_NH;
  for (size_t step = 0; step < steps.rows.size(); ++step) {
    const int64_t rows = steps.rows[step];
    at::Tensor gates_N4H = inputs[step];
    if (step > 0)
      gates_N4H = gates_N4H + linear(pass.compute, hidden.back().narrow(0, 0, rows), layer.hidden_4HH, at::Tensor());
    const std::vector<at::Tensor> gates = gates_N4H.chunk(4, 1);
    const at::Tensor added_NH = gates[0].sigmoid() * gates[2].tanh();
    cell_NH = step == 0 ? added_NH : gates[1].sigmoid() * cell_NH.narrow(0, 0, rows) + added_NH;
    hidden.push_back(gates[3].sigmoid() * cell_NH.tanh());
  }
  return take_rows(at::cat(hidden), steps.back_W);
}

at::Tensor run_rnn(const Pass& pass, const EntityHead& head, const Rows& words, at::Tensor words_WU) {
  if (head.rnn.empty() || words.count() == 0) return words_WU;
  const Steps forward = steps_of(words, false), backward = steps_of(words, true);
  for (const std::array<LstmLayer, 2>& layer : head.rnn) {
    words_WU = at::cat(
        {run_direction(pass, layer[0], forward, words_WU), run_direction(pass, layer[1], backward, words_WU)}, 1);
  }
  return words_WU;
}

struct EntityStates {
  at::Tensor labels_CU, words_WU;
};

EntityStates states_of(const Pass& pass, const EntityHead& head, const Asked& asked, const at::Tensor& hidden_TD) {
  std::vector<int32_t> rows_N;  // of labels, then of pieces
  for (const LabelledWords& sequence : asked.sequences)
    rows_N.insert(rows_N.end(), sequence.labels.begin(), sequence.labels.end());
  for (const LabelledWords& sequence : asked.sequences)
    rows_N.insert(rows_N.end(), sequence.pieces.begin(), sequence.pieces.end());
  at::Tensor states_NU = take_rows(hidden_TD, rows_N);
  if (head.projection.weight_OI.defined()) states_NU = train::apply(pass, head.projection, states_NU);
  const auto labels = static_cast<int64_t>(asked.labels.count());
  const SubtokenPooling pooling = config_of(pass).subtoken_pooling;
  const at::Tensor pieces_PU = states_NU.narrow(0, labels, states_NU.size(0) - labels);
  const at::Tensor words_WU = pool_pieces(pieces_PU, pieces_of_words(asked, pooling), pooling);
  return {states_NU.narrow(0, 0, labels), run_rnn(pass, head, asked.words, words_WU)};
}

// ---- scores

// The rows of each sequence. One split has one gradient, the parts joined; that of a part on its own would be as large
// as x.
std::vector<at::Tensor> parts_of(const at::Tensor& x, const Rows& rows) {
  std::vector<int64_t> sizes;
  for (size_t b = 0; b < rows.sequences(); ++b) sizes.push_back(static_cast<int64_t>(rows.end(b) - rows.begin(b)));
  return x.split_with_sizes(sizes, 0);
}

// Columns `part` of `parts` equal ones, of a weight [O, I].
at::Tensor inputs_of(const at::Tensor& weight_OI, int64_t part, int64_t parts) {
  const int64_t columns = weight_OI.size(1) / parts;
  return weight_OI.narrow(1, part * columns, columns).contiguous();
}

// First and last word of every span of the sequences, and where those of each begin.
struct Spans {
  std::vector<int32_t> first_S = {}, last_S = {};
  Rows rows;
};

Spans list_spans(std::span<const LabelledWords> sequences, size_t width) {
  Spans spans{.rows = count_rows(sequences, [&](const LabelledWords& s) { return count_spans(s.words(), width); })};
  const Rows words = count_words(sequences);
  for (size_t b = 0; b < sequences.size(); ++b) {
    for (size_t first = words.begin(b); first < words.end(b); ++first) {
      for (size_t last = first; last < std::min(words.end(b), first + width); ++last) {
        spans.first_S.push_back(static_cast<int32_t>(first));
        spans.last_S.push_back(static_cast<int32_t>(last));
      }
    }
  }
  return spans;
}

// [S, C] of each sequence as [S * C, 1], one behind the other.
template <class Score>
at::Tensor join_scores(const Asked& asked, const at::Tensor& like, const Score& score) {
  std::vector<at::Tensor> scores;
  for (size_t b = 0; b < asked.sequences.size(); ++b) {
    if (asked.sequences[b].words() > 0 && !asked.sequences[b].labels.empty())
      scores.push_back(score(b).reshape({-1, 1}));
  }
  return scores.empty() ? at::zeros({0, 1}, like.options().requires_grad(false)) : at::cat(scores);
}

at::Tensor span_logits(const Pass& pass, const EntityHead& head, const Asked& asked, const EntityStates& states) {
  const at::Tensor label_CU = apply(pass, head.label, Dropped::kLabel, states.labels_CU, asked.labels);
  const at::Tensor first_WU = relu(pass, apply(pass, head.start, Dropped::kStart, states.words_WU, asked.words));
  const at::Tensor last_WU = relu(pass, apply(pass, head.end, Dropped::kEnd, states.words_WU, asked.words));
  const bool is_v0 = config_of(pass).span_mode == SpanMode::kMarkerV0;
  const Linear& last_layer = is_v0 ? head.out.second : head.out_linear;
  const at::Tensor folded_CF = linear(pass.compute, label_CU, last_layer.weight_OI.t().contiguous(), at::Tensor());
  const at::Tensor constant_C = linear(pass.compute, label_CU, last_layer.bias_O.unsqueeze(0), at::Tensor()).squeeze(1);
  const std::vector<at::Tensor> folded = parts_of(folded_CF, asked.labels),
                                constant = parts_of(constant_C, asked.labels);
  const auto width = static_cast<size_t>(config_of(pass).max_width);
  if (is_v0) {
    const Spans spans = list_spans(asked.sequences, width);
    const Linear& out = head.out.first;
    const at::Tensor first_WF = linear(pass.compute, first_WU, inputs_of(out.weight_OI, 0, 2), out.bias_O);
    const at::Tensor last_WF = linear(pass.compute, last_WU, inputs_of(out.weight_OI, 1, 2), at::Tensor());
    const at::Tensor inner_SF =
        drop(pass, Dropped::kOut, relu(pass, take_rows(first_WF, spans.first_S) + take_rows(last_WF, spans.last_S)),
             spans.rows);
    const std::vector<at::Tensor> inner = parts_of(inner_SF, spans.rows);
    return join_scores(asked, inner_SF,
                       [&](size_t b) { return linear(pass.compute, inner[b], folded[b], constant[b].contiguous()); });
  }
  const std::vector<at::Tensor> first = parts_of(first_WU, asked.words), last = parts_of(last_WU, asked.words);
  return join_scores(asked, first_WU, [&](size_t b) {
    const at::Tensor first_WC = linear(pass.compute, first[b], inputs_of(folded[b], 0, 2), constant[b].contiguous());
    const at::Tensor last_WC = linear(pass.compute, last[b], inputs_of(folded[b], 1, 2), at::Tensor());
    const Spans own = list_spans(asked.sequences.subspan(b, 1), width);
    return take_rows(first_WC, own.first_S) + take_rows(last_WC, own.last_S);
  });
}

// Every word of a sequence with every label of it, label by label within a word.
struct Pairs {
  std::vector<int32_t> word_N = {}, label_N = {};
  Rows rows;
};

Pairs list_pairs(const Asked& asked) {
  Pairs pairs{.rows = count_rows(asked.sequences, [](const LabelledWords& s) { return s.words() * s.labels.size(); })};
  for (size_t b = 0; b < asked.sequences.size(); ++b) {
    for (size_t word = asked.words.begin(b); word < asked.words.end(b); ++word) {
      for (size_t label = asked.labels.begin(b); label < asked.labels.end(b); ++label) {
        pairs.word_N.push_back(static_cast<int32_t>(word));
        pairs.label_N.push_back(static_cast<int32_t>(label));
      }
    }
  }
  return pairs;
}

// The inner layer reads each word and each label once; only their product is one of each pair.
at::Tensor word_logits(const Pass& pass, const EntityHead& head, const Asked& asked, const EntityStates& states) {
  const Pairs pairs = list_pairs(asked);
  if (pairs.word_N.empty()) return at::zeros({0, kWordScores}, states.words_WU.options().requires_grad(false));
  const std::vector<at::Tensor> token = train::apply(pass, head.token_parts, states.words_WU).chunk(2, 1);
  const std::vector<at::Tensor> label = train::apply(pass, head.label_parts, states.labels_CU).chunk(2, 1);
  const at::Tensor& weight_FI = head.out.first.weight_OI;
  const at::Tensor token_WF = linear(pass.compute, token[0], inputs_of(weight_FI, 0, 3), head.out.first.bias_O);
  const at::Tensor label_CF = linear(pass.compute, label[0], inputs_of(weight_FI, 1, 3), at::Tensor());
  const at::Tensor product_NU = take_rows(token[1], pairs.word_N) * take_rows(label[1], pairs.label_N);
  const at::Tensor inner_NF = linear(pass.compute, product_NU, inputs_of(weight_FI, 2, 3), at::Tensor()) +
                              take_rows(token_WF, pairs.word_N) + take_rows(label_CF, pairs.label_N);
  return train::apply(pass, head.out.second, relu(pass, drop(pass, Dropped::kOut, inner_NF, pairs.rows)));
}

}  // namespace

void visit(EntityHead& head, const ModelForm& form, const Visit& each) {
  const ExtractionConfig& c = *form.config.extraction;
  if (c.hidden_size != form.config.hidden_size)
    visit_linear(head.projection, "token_rep_layer.projection", form.config.hidden_size, c.hidden_size, each);
  head.rnn.resize(static_cast<size_t>(c.num_rnn_layers));
  visit_rnn(head.rnn, c.hidden_size, each);
  if (c.has_spans())
    visit_spans(head, c, each);
  else
    visit_words(head, c, each);
}

at::Tensor entity_logits(const Pass& pass, const EntityHead& head, const at::Tensor& hidden_TD,
                         std::span<const LabelledWords> sequences) {
  const Asked asked{sequences, count_rows(sequences, [](const LabelledWords& s) { return s.labels.size(); }),
                    count_words(sequences)};
  const EntityStates states = states_of(pass, head, asked, hidden_TD);
  return config_of(pass).has_spans() ? span_logits(pass, head, asked, states) : word_logits(pass, head, asked, states);
}

}  // namespace deberta::train
