"""The encoder: embeddings, layers, the convolution after the first one.

B sequences  L positions  D hidden
"""

from dataclasses import dataclass, field

import numpy as np

from attention import Relative
from convolution import add_convolution
from embeddings import embed
from layer import forward_layer
from relative_position import clamp_row, relative_table, rows_of_table


@dataclass
class Encoded:
    hidden: list  # h_0 .. h_N, each [B, L, D]
    mask_BL: np.ndarray
    allowed_BLS: np.ndarray
    relative: Relative  # None without relative attention
    scores: list = field(default_factory=list)  # of each layer, by name


def make_masks(inputs):
    """The input mask [B, L] and the allowed pairs [B, L, S] of a missing, 2-D or 3-D attention mask."""
    given = inputs.get("attention_mask", np.ones_like(inputs["input_ids"])) != 0
    if given.ndim == 3:
        return given.any(axis=1), given
    return given, given[:, :, None] & given[:, None, :]


def make_relative(config, w, inputs, length, distance):
    if not config.relative_attention:
        return None
    given = inputs.get("relative_pos")
    rows_LS = rows_of_table(config, length, length, distance) if given is None else clamp_row(given, config.span)
    return Relative(relative_table(config, w), rows_LS)


def encode(config, w, inputs, distance="original"):
    """`inputs` by name: input_ids and, where given, attention_mask, token_type_ids, position_ids, relative_pos."""
    mask_BL, allowed_BLS = make_masks(inputs)
    relative = make_relative(config, w, inputs, mask_BL.shape[1], distance)
    result = Encoded([embed(config, w, inputs, mask_BL)], mask_BL, allowed_BLS, relative)
    for n in range(config.num_hidden_layers):
        x = result.hidden[-1]
        x, scores = forward_layer(config, w, n, x, x, allowed_BLS, relative)
        if n == 0 and config.conv_kernel_size > 0:
            x = add_convolution(config, w, result.hidden[0], x, mask_BL)
        result.hidden.append(x)
        result.scores.append(scores)
    return result
