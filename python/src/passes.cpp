// The arrays are the engine's own vectors, handed over.
#include "python/src/passes.h"

#include <fmt/format.h>
#include <nanobind/stl/string.h>

#include <algorithm>
#include <utility>

#include "base/refuse_argument.h"
#include "deberta/analysis.h"
#include "python/src/arrays.h"
#include "python/src/values.h"

namespace deberta::python {
namespace nb = nanobind;
namespace {

[[noreturn]] void refuse(const std::string& argument, const std::string& message) {
  throw Error(ErrorCode::kInput, {{.message = message, .argument = argument}});
}

using Rows = std::vector<std::vector<int32_t>>;

Rows rows_of(nb::handle lists, const std::string& argument, Truths truths = Truths::kRefused) {
  Rows rows;
  if (!is_list(lists)) refuse(argument, "expected a list of lists of integers");
  if (nb::len(lists) == 0) refuse(argument, "expected at least one sequence, got none");
  for (const nb::handle list : lists) {
    if (!is_list(list)) refuse(argument, "expected a list of lists of integers");
    rows.push_back(to_int32s(list, argument, truths));
  }
  return rows;
}

void check_shape(const Rows& rows, const Rows& like, const std::string& argument) {
  if (rows.empty()) return;
  const bool is_same = std::ranges::equal(rows, like, {}, &std::vector<int32_t>::size, &std::vector<int32_t>::size);
  if (!is_same) refuse(argument, "expected as many rows as ids, each as long as its ids");
}

template <class T>
std::vector<T> flat(const Rows& rows) {
  std::vector<T> values;
  for (const std::vector<int32_t>& row : rows) values.insert(values.end(), row.begin(), row.end());
  return values;
}

PackedRows padded_batch(const Rows& ids, const Rows& types, const Rows& mask) {
  const size_t length = ids.empty() ? 0 : ids.front().size();
  for (const std::vector<int32_t>& row : ids) {
    if (row.size() != length) refuse("ids", "expected rows of one length where there is a mask");
  }
  for (const std::vector<int32_t>& row : mask) {
    if (std::ranges::any_of(row, [](int32_t value) { return value != 0 && value != 1; }))
      refuse("mask", "expected 0 or 1");
  }
  const std::vector<int32_t> ids_BL = flat<int32_t>(ids), types_BL = flat<int32_t>(types);
  const std::vector<uint8_t> mask_BL = flat<uint8_t>(mask);
  return pack(
      {.sequences = ids.size(), .length = length, .ids_BL = ids_BL, .mask_BL = mask_BL, .type_ids_BL = types_BL});
}

PackedRows batch_of(const Rows& ids, const Rows& types, const Rows& mask) {
  check_shape(types, ids, "type_ids");
  check_shape(mask, ids, "mask");
  if (!mask.empty()) return padded_batch(ids, types, mask);
  PackedRows packed;
  for (size_t i = 0; i < ids.size(); ++i)
    packed.batch.add(ids[i], types.empty() ? std::span<const int32_t>() : std::span<const int32_t>(types[i]));
  return packed;
}

std::vector<int32_t> numbers_of(const std::vector<int32_t>& asked, int64_t layers) {
  std::vector<int32_t> numbers;
  for (const int32_t layer : asked) {
    const int64_t number = layer < 0 ? layer + layers + 1 : layer;
    if (number < 0 || number > layers)
      refuse_argument("layers", fmt::format("expected {}..{}, or from the end, got {}", 0, layers, layer));
    numbers.push_back(static_cast<int32_t>(number));
  }
  std::ranges::sort(numbers);
  numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
  return numbers;
}

nb::object term(std::vector<float>&& values, size_t heads, size_t length) {
  if (values.empty()) return nb::none();
  return to_array(std::move(values), {heads, length, length});
}

nb::list scores_of(std::vector<AttentionScores>&& scores, size_t heads, const std::vector<int32_t>& starts) {
  nb::list list;
  for (AttentionScores& one : scores) {
    const auto b = static_cast<size_t>(one.sequence);
    const auto length = static_cast<size_t>(starts[b + 1] - starts[b]);
    nb::dict dict;
    dict["layer"] = one.layer;
    dict["sequence"] = one.sequence;
    dict["c2c"] = term(std::move(one.c2c_HLL), heads, length);
    dict["c2p"] = term(std::move(one.c2p_HLL), heads, length);
    dict["p2c"] = term(std::move(one.p2c_HLL), heads, length);
    dict["softmax"] = term(std::move(one.probabilities_HLL), heads, length);
    list.append(dict);
  }
  return list;
}

}  // namespace

nb::dict forward(const Opened& opened, nb::handle ids, nb::handle type_ids, nb::handle mask, const PassWishes& wishes) {
  const std::shared_ptr<const OpenedModel> held = opened.model();
  const Model& model = held->pipeline.model;
  const ModelConfig& config = model.config();
  const Rows types = type_ids.is_none() ? Rows() : rows_of(type_ids, "type_ids");
  const Rows seen = mask.is_none() ? Rows() : rows_of(mask, "mask", Truths::kAsNumbers);
  PackedRows packed = batch_of(rows_of(ids, "ids"), types, seen);
  ForwardOptions options;
  options.layers = numbers_of(wishes.layers, config.num_hidden_layers);
  options.wants_logits = wishes.logits;
  options.wants_scores = wishes.scores;
  ForwardResult result;
  {
    const nb::gil_scoped_release unlocked;
    model.forward(packed.batch, options, result);
  }
  pass_warnings();
  const size_t tokens = packed.batch.tokens(), sequences = packed.batch.sequences();
  const auto heads = static_cast<size_t>(config.num_attention_heads);
  nb::dict dict, hidden;
  for (Hidden& layer : result.hidden) {
    const size_t columns = tokens == 0 ? 0 : layer.rows_TD.size() / tokens;
    hidden[nb::int_(layer.layer)] = to_array(std::move(layer.rows_TD), {tokens, columns});
  }
  dict["hidden"] = hidden;
  dict["scores"] = scores_of(std::move(result.scores), heads, packed.batch.starts);
  const size_t columns = result.pooled_BD.size() / sequences;
  dict["pooled"] = columns == 0 ? nb::none() : to_array(std::move(result.pooled_BD), {sequences, columns});
  const size_t rows = result.logits_rows, classes = result.logits_columns;
  dict["logits"] = result.logits.empty() ? nb::none() : to_array(std::move(result.logits), {rows, classes});
  dict["rows"] = packed.rows_T.empty() ? nb::none() : to_array(std::move(packed.rows_T), {tokens});
  dict["starts"] = to_array(std::move(packed.batch.starts), {sequences + 1});
  return dict;
}

nb::tuple attention_terms(const Opened& opened, nb::handle texts, nb::handle pairs, nb::handle layers,
                          bool of_decoder) {
  const Inputs inputs(texts, pairs, nb::none(), {"text", "pair"});
  if (inputs.size() != 1) refuse("text", fmt::format("expected one text, got {}", inputs.size()));
  if (const std::optional<Error> fault = inputs.fault(0)) throw Error(*fault);
  const TextInput input = inputs.view(0);
  const std::shared_ptr<const OpenedModel> held = opened.model();
  const Pipeline& pipeline = held->pipeline;
  const EncodeOptions encode{.parse_mask = true};
  const std::vector<int32_t> wanted = to_int32s(layers, "layers");
  AttentionTerms terms;
  Encoding encoding;
  {
    const nb::gil_scoped_release unlocked;
    encoding = input.pair ? pipeline.tokenizer.encode_pair(input.text, *input.pair, encode)
                          : pipeline.tokenizer.encode(input.text, encode);
    terms = of_decoder ? decoder_terms(pipeline.model, encoding)
                       : deberta::attention_terms(pipeline.model, encoding, wanted);
  }
  pass_warnings();
  nb::list pieces, shown;
  for (const int32_t id : encoding.ids) pieces.append(nb::cast(std::string(pipeline.tokenizer.piece(id))));
  for (LayerTerms& layer : terms.layers) {
    nb::dict dict;
    dict["layer"] = layer.layer;
    dict["c2c"] = term(std::move(layer.c2c_HLL), terms.heads, terms.tokens);
    dict["c2p"] = term(std::move(layer.c2p_HLL), terms.heads, terms.tokens);
    dict["p2c"] = term(std::move(layer.p2c_HLL), terms.heads, terms.tokens);
    dict["sum"] = term(std::move(layer.sum_HLL), terms.heads, terms.tokens);
    dict["softmax"] = term(std::move(layer.softmax_HLL), terms.heads, terms.tokens);
    shown.append(dict);
  }
  return nb::make_tuple(pieces, shown);
}

}  // namespace deberta::python
