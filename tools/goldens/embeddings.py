"""Embeddings (model.md#embeddings): word (+ type) (+ absolute position), projected, normalised, masked.

B sequences  L positions  E embedding size  D hidden
"""

import numpy as np

from arithmetic import layer_norm, linear


def absolute_positions(w, position_ids_BL):
    return w["embeddings.position_embeddings.weight"][position_ids_BL]


def position_ids(inputs):
    """As given, else 0 .. L-1 in every sequence."""
    ids_BL = inputs["input_ids"]
    return inputs.get("position_ids", np.broadcast_to(np.arange(ids_BL.shape[1]), ids_BL.shape))


def embed(config, w, inputs, mask_BL):
    ids_BL = inputs["input_ids"]
    x_BLE = w["embeddings.word_embeddings.weight"][ids_BL]
    if config.type_vocab_size > 0:
        types_BL = inputs.get("token_type_ids", np.zeros_like(ids_BL))
        x_BLE = x_BLE + w["embeddings.token_type_embeddings.weight"][types_BL]
    if config.position_biased_input:
        x_BLE = x_BLE + absolute_positions(w, position_ids(inputs))
    x_BLD = x_BLE if config.embedding_size == config.hidden_size else linear(x_BLE, w["embeddings.embed_proj.weight"])
    x_BLD = layer_norm(x_BLD, w["embeddings.LayerNorm.weight"], w["embeddings.LayerNorm.bias"], config.layer_norm_eps)
    return x_BLD * mask_BL[..., None].astype(x_BLD.dtype)
