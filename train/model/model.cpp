// Checks the input, makes the pass, and computes only the rows of the last layer that something reads.
#include "train/model/model.h"

#include <ATen/ops/zeros.h>

#include <algorithm>

#include "deberta/error.h"
#include "train/model/lora.h"
#include "train/model/pooling.h"

namespace deberta::train {
namespace {

[[noreturn]] void refuse(const std::string& what, const std::string& message) {
  throw Error(ErrorCode::kInput, "batch", what + ": " + message);
}

void check_starts(const ModelInput& input) {
  const bool is_right = !input.starts.empty() && input.starts.front() == 0 &&
                        std::is_sorted(input.starts.begin(), input.starts.end()) &&
                        static_cast<size_t>(input.starts.back()) == input.ids_T.size();
  if (is_right) return;
  refuse("starts", "expected ascending numbers from 0 to " + std::to_string(input.ids_T.size()) + " tokens");
}

void check_size(const char* name, size_t size, size_t tokens) {
  if (size == 0 || size == tokens) return;
  refuse(name, "expected " + std::to_string(tokens) + " elements, got " + std::to_string(size));
}

// Numbers of rows of a table.
void check_rows(const char* name, ErrorCode code, std::span<const int32_t> rows_T, int64_t limit) {
  for (size_t t = 0; t < rows_T.size(); ++t) {
    if (rows_T[t] >= 0 && rows_T[t] < limit) continue;
    throw Error(
        code, "batch, token " + std::to_string(t),
        std::string(name) + ": expected 0 to " + std::to_string(limit - 1) + ", got " + std::to_string(rows_T[t]));
  }
}

void check_input(const ModelForm& form, const ModelInput& input) {
  check_starts(input);
  const size_t tokens = input.ids_T.size();
  check_size("type ids", input.type_ids_T.size(), tokens);
  check_size("position ids", input.position_ids_T.size(), tokens);
  check_size("mask", input.mask_T.size(), tokens);
  check_rows("token id", ErrorCode::kTokenId, input.ids_T, form.config.vocab_size);
  if (form.config.type_vocab_size > 0) {
    check_rows("type id", ErrorCode::kInput, input.type_ids_T, form.config.type_vocab_size);
  }
}

// Given, or 0 .. L-1 in each sequence.
std::vector<int32_t> positions_of(const Rows& tokens, const ModelInput& input) {
  if (!input.position_ids_T.empty()) return {input.position_ids_T.begin(), input.position_ids_T.end()};
  std::vector<int32_t> positions_T(tokens.count());
  for (size_t b = 0; b < tokens.sequences(); ++b) {
    for (size_t t = tokens.begin(b); t < tokens.end(b); ++t) positions_T[t] = tokens.position(b, t);
  }
  return positions_T;
}

int64_t longest_of(const Rows& tokens) {
  size_t longest = 0;
  for (size_t b = 0; b < tokens.sequences(); ++b) longest = std::max(longest, tokens.end(b) - tokens.begin(b));
  return static_cast<int64_t>(longest);
}

}  // namespace

void visit(Model& model, const Visit& each) {
  const Visit marked = [&](ParameterSpec spec, at::Tensor& tensor) {
    spec.is_frozen = is_frozen(model.form, spec.name);
    each(spec, tensor);
  };
  visit(model.embeddings, model.form, marked);
  visit(model.encoder, model.form, marked);
  visit(model.head, model.form, marked);
  for (LoraMatrices& m : model.lora) {
    const int64_t rank = model.form.lora->rank;
    each({.name = m.module + ".lora_A.weight", .shape = {rank, m.shape_OI[1]}, .init = Init::kUniform, .is_lora = true},
         m.a_RI);
    each({.name = m.module + ".lora_B.weight", .shape = {m.shape_OI[0], rank}, .init = Init::kZeros, .is_lora = true},
         m.b_OR);
  }
}

Model make_model(const ModelForm& form, at::ScalarType type) {
  std::vector<Problem> problems;
  for (const std::string& obstacle : find_obstacles(form)) problems.push_back({"model", obstacle});
  if (!problems.empty()) throw Error(ErrorCode::kUnsupported, std::move(problems));
  Model model;
  model.form = form;
  if (form.lora) model.lora = list_lora(model);
  visit(model, [&](const ParameterSpec& spec, at::Tensor& tensor) {
    tensor = at::zeros(spec.shape, type).requires_grad_(spec.changes());
  });
  make_lut(form.config, 1);  // settings without a formula are refused here
  return model;
}

Pass make_pass(const Model& model, const Compute& compute, const ModelInput& input, const DropoutStream& dropout) {
  check_input(model.form, input);
  auto tokens = std::make_shared<Rows>();
  tokens->starts.assign(input.starts.begin(), input.starts.end());
  tokens->mask_N.assign(input.mask_T.begin(), input.mask_T.end());
  Pass pass{.form = model.form,
            .compute = compute,
            .tokens = tokens,
            .lut = make_lut(model.form.config, longest_of(*tokens))};
  const at::Tensor& table = model.embeddings.word_VE;
  pass.ids_T = to_index(input.ids_T, table);
  if (model.form.config.type_vocab_size > 0) {
    const std::vector<int32_t> none_T(input.type_ids_T.empty() ? input.ids_T.size() : 0, 0);
    pass.type_ids_T = to_index(none_T.empty() ? input.type_ids_T : std::span<const int32_t>(none_T), table);
  }
  if (model.form.reads_positions()) {
    const std::vector<int32_t> positions_T = positions_of(*tokens, input);
    check_rows("position", ErrorCode::kInput, positions_T, model.form.config.max_position_embeddings);
    pass.position_ids_T = to_index(positions_T, table);
  }
  pass.dropout_stream = dropout;
  pass.first_sequence = input.first_sequence;
  return pass;
}

EncoderStates encode(const Pass& pass, const Model& model) {
  return encode(pass, model, sum_embeddings(pass, model.embeddings));
}

EncoderStates encode(const Pass& pass, const Model& model, const at::Tensor& sum_TD) {
  const at::Tensor h0_TD = norm_embeddings(pass, model.embeddings, sum_TD);
  return encode(pass, model.encoder, h0_TD, model.encoder.layers.size());
}

at::Tensor encode_rows(const Pass& pass, const Model& model, const at::Tensor& sum_TD,
                       std::span<const int32_t> rows_N) {
  const Encoder& encoder = model.encoder;
  const size_t layers = encoder.layers.size();
  const bool convolves_all = layers == 1 && encoder.convolution.weight_DCW.defined();
  const bool reads_most = 2 * rows_N.size() > pass.tokens->count();  // then all at once is faster
  if (layers == 0 || convolves_all || reads_most) {
    return take_rows(encode(pass, model, sum_TD).hidden_TD.back(), rows_N);
  }
  const at::Tensor h0_TD = norm_embeddings(pass, model.embeddings, sum_TD);
  const EncoderStates states = encode(pass, encoder, h0_TD, layers - 1);
  const at::Tensor h_TD = enter_layer(states.hidden_TD.back());
  const KeysValues keys = project_keys_values(pass, encoder.layers.back().attention, h_TD);
  const QueryStates queries{take_rows(h_TD, rows_N), choose_rows(*pass.tokens, rows_N)};
  return finish(pass, encoder, query_layer(pass, encoder.layers.back(), queries, keys, states.relative_RD, layers - 1));
}

at::Tensor pooled_states(const Pass& pass, const Model& model, const at::Tensor& sum_TD) {
  if (pass.form.config.classifier_pooling == ClassifierPooling::kFirst)
    return encode_rows(pass, model, sum_TD, first_rows(*pass.tokens));
  return pool(pass, model.head, encode(pass, model, sum_TD).hidden_TD.back());
}

at::Tensor word_states(const Pass& pass, const Model& model, std::span<const int32_t> rows_P) {
  if (!pass.form.has_mask_decoder()) {
    const at::Tensor sum_TD = sum_embeddings(pass, model.embeddings);
    return transform_for_words(pass, model.head, encode_rows(pass, model, sum_TD, rows_P));
  }
  const EncoderStates states =
      encode(pass, model.encoder, embed(pass, model.embeddings), layers_before_decoder(model.encoder));
  const std::vector<at::Tensor> decoded =
      decode_masked(pass, model.encoder, model.embeddings.position_PE, states, rows_P);
  return transform_for_words(pass, model.head, decoded.back());
}

}  // namespace deberta::train
