"""Disentangled attention (model.md#disentangled-attention, model.md#masks).

    A[i,j] = s (Q_i . K_j + Q_i . Kr[row(i-j)] + K_j . Qr[row(i-j)])

Position terms are computed literally: first all products with the whole table, then a gather by row;
position-to-content is gathered on the key axis and transposed. The alternative would be a double loop over pairs.

B sequences  L queries  S keys  H heads  K head size  D hidden  R rows of the relative table
"""

from dataclasses import dataclass

import numpy as np

from arithmetic import dot, layer_norm, linear, masked_softmax


@dataclass
class Relative:
    """The position inputs of attention; the same for all layers."""

    table_RD: np.ndarray
    rows_LS: np.ndarray


def split_heads(x, heads):
    """[..., L, D] to [..., H, L, K]."""
    return np.moveaxis(x.reshape(*x.shape[:-1], heads, -1), -2, -3)


def merge_heads(x):
    x = np.moveaxis(x, -3, -2)
    return x.reshape(*x.shape[:-2], -1)


def project(w, name, x):
    return linear(x, w[name + ".weight"], w.get(name + ".bias"))


def position_projections(config, w, prefix, table_RD):
    """Kr and Qr, [H, R, K]; None for a term that the model does not have. Shared projections keep their biases."""
    key, query = ("key_proj", "query_proj") if config.share_att_key else ("pos_key_proj", "pos_query_proj")
    heads = config.num_attention_heads
    kr = split_heads(project(w, prefix + key, table_RD), heads) if "c2p" in config.pos_att_type else None
    qr = split_heads(project(w, prefix + query, table_RD), heads) if "p2c" in config.pos_att_type else None
    return kr, qr


def score_terms(config, w, prefix, q_BHLK, k_BHSK, relative):
    """The scaled terms by name, each [B, H, L, S]."""
    scale = q_BHLK.dtype.type(1 / np.sqrt(config.head_size * config.attention_terms))
    terms = {"c2c": dot(q_BHLK, k_BHSK * scale)}
    if relative is None:
        return terms
    kr_HRK, qr_HRK = position_projections(config, w, prefix, relative.table_RD)
    if kr_HRK is not None:
        c2p_BHLR = dot(q_BHLK, kr_HRK * scale)
        rows = np.broadcast_to(relative.rows_LS, (*c2p_BHLR.shape[:2], *relative.rows_LS.shape))
        terms["c2p"] = np.take_along_axis(c2p_BHLR, rows, axis=-1)
    if qr_HRK is not None:
        p2c_BHSR = dot(k_BHSK, qr_HRK * scale)
        rows_SL = relative.rows_LS.T
        rows = np.broadcast_to(rows_SL, (*p2c_BHSR.shape[:2], *rows_SL.shape))
        terms["p2c"] = np.swapaxes(np.take_along_axis(p2c_BHSR, rows, axis=-1), -1, -2)
    return terms


def attention(config, w, layer, hidden_BSD, query_BLD, allowed_BLS, relative):
    """Output [B, L, D] after projection, residual and norm, and the scores of the layer by name.

    Keys and values come from the hidden states; the residual is the query state.
    """
    heads = config.num_attention_heads
    own = f"encoder.layer.{layer}.attention.self."
    q_BHLK = split_heads(project(w, own + "query_proj", query_BLD), heads)
    k_BHSK = split_heads(project(w, own + "key_proj", hidden_BSD), heads)
    v_BHSK = split_heads(project(w, own + "value_proj", hidden_BSD), heads)
    scores = score_terms(config, w, own, q_BHLK, k_BHSK, relative)
    scores["probabilities"] = masked_softmax(sum(scores.values()), allowed_BLS[:, None])
    context_BLD = merge_heads(dot(scores["probabilities"], np.swapaxes(v_BHSK, -1, -2)))
    out = f"encoder.layer.{layer}.attention.output."
    x = project(w, out + "dense", context_BLD) + query_BLD
    x = layer_norm(x, w[out + "LayerNorm.weight"], w[out + "LayerNorm.bias"], config.layer_norm_eps)
    return x, scores
