// Disentangled attention with its output block, DeBERTa (He et al. 2021) section 3.1, equation 4, for hidden states x
// and query states y:
//   Q = y Wq + bq    K = x Wk + bk    V = x Wv + bv    Kr = P~ Wk' + bk'    Qr = P~ Wq' + bq'         by heads
//   A_ij = ( Q_i . K_j  +  Q_i . Kr_row(i-j)  +  K_j . Qr_row(i-j) ) / sqrt(d * terms)
//   a = LN( dropout( dropout(softmax(A)) V Wo + bo ) + y )
// Wk', Wq' are Wk, Wq with share_att_key, else the layer's own. y is x itself, except in the mask decoder. With p2p
// Qr_row(i) . Kr_row(i-j) is added to the three. block.h has the other order of the norm.
// T packed tokens, all of them keys  N query rows  D hidden  R relative rows
#pragma once
#include "train/model/pass.h"

namespace deberta::train {

struct Attention {
  Linear query_proj, key_proj, value_proj;
  Linear pos_key_proj, pos_query_proj;  // without share_att_key
  Linear dense;
  Norm norm;
};
void visit(Attention& attention, const ModelForm& form, const std::string& layer_name, const Visit& each);

struct KeysValues {
  at::Tensor k_TD, v_TD;
};
KeysValues project_keys_values(const Pass& pass, const Attention& attention, const at::Tensor& hidden_TD);

// The rows that a layer computes.
struct QueryStates {
  at::Tensor y_ND;
  SharedRows rows;
};
// relative_RD: P', undefined without relative attention. layer: for dropout.
at::Tensor attend(const Pass& pass, const Attention& attention, const QueryStates& queries, const KeysValues& keys,
                  const at::Tensor& relative_RD, size_t layer);

// y is x.
at::Tensor attend_to_itself(const Pass& pass, const Attention& attention, const at::Tensor& hidden_TD,
                            const at::Tensor& relative_RD, size_t layer);

}  // namespace deberta::train
