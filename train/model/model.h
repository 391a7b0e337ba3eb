// DeBERTa for training (He et al. 2021), of any form: embeddings, encoder, and the mask decoder or a head. Plain
// structs of tensors; not here: files, threads, batches, losses. The engine (src/engine) computes the same.
// T packed tokens  P rows to predict  D hidden  E embedding size
#pragma once
#include <span>
#include <vector>

#include "train/model/embeddings.h"
#include "train/model/encoder.h"
#include "train/model/heads.h"
#include "train/model/mask_decoder.h"

namespace deberta::train {

// What is added to the weight of one linear layer (lora.h).
// R rank  I inputs  O outputs
struct LoraMatrices {
  std::string module;  // the name of the weight, without ".weight"
  Shape shape_OI;
  at::Tensor base_OI = {};          // the weight as it was read
  at::Tensor a_RI = {}, b_OR = {};  // trained
};

struct Model {
  ModelForm form;
  Embeddings embeddings;
  Encoder encoder;
  OutputHead head;
  std::vector<LoraMatrices> lora;  // in the order of the modules; empty without LoRA
};

// Every tensor, in the order of the checkpoint's table; then those of LoRA.
void visit(Model& model, const Visit& each);

// All tensors zero, on the CPU; those that are trained require gradients. Throws kUnsupported with all reasons why the
// form cannot be trained.
Model make_model(const ModelForm& form, at::ScalarType type = at::kFloat);

// Throws kTokenId and kInput: ids, types and positions outside their tables, starts that do not fit.
Pass make_pass(const Model& model, const Compute& compute, const ModelInput& input, const DropoutStream& dropout);

// h_0 .. h_N, of embeddings summed by sum_embeddings() or of others instead.
EncoderStates encode(const Pass& pass, const Model& model);
EncoderStates encode(const Pass& pass, const Model& model, const at::Tensor& sum_TD);

// h_N of some rows, ascending: what nothing else reads of the last layer is not computed.
at::Tensor encode_rows(const Pass& pass, const Model& model, const at::Tensor& sum_TD, std::span<const int32_t> rows_N);

// [B, D]: what the pooler of a sequence head reads.
at::Tensor pooled_states(const Pass& pass, const Model& model, const at::Tensor& sum_TD);

// z of the rows to predict, from the mask decoder where the form has one, else from h_N.
at::Tensor word_states(const Pass& pass, const Model& model, std::span<const int32_t> rows_P);

}  // namespace deberta::train
