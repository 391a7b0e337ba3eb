"""The convolution after the first layer (model.md#convolution). Its input is the embedding output.

    y = Conv1d(h_0), zero padding;  y[masked] = 0;  y = act(y);  h_1 = LN(layer1(h_0) + y) * mask

B sequences  L positions  D hidden
"""

import numpy as np

from arithmetic import ACTIVATIONS, dot, layer_norm


def convolve(x_BLD, weight, bias, groups):
    """Conv1d over L with as many outputs as inputs; weight [D, D / groups, kernel]."""
    size, kernel = x_BLD.shape[-1], weight.shape[2]
    side = (kernel - 1) // 2
    padded = np.pad(x_BLD, ((0, 0), (side, side), (0, 0)))
    windows = np.stack([padded[:, k : k + x_BLD.shape[1]] for k in range(kernel)], axis=-1)  # [B, L, D, kernel]
    part = size // groups
    outputs = []
    for g in range(groups):
        own = slice(g * part, (g + 1) * part)
        flat_input = windows[:, :, own].reshape(*x_BLD.shape[:2], -1)
        outputs.append(dot(flat_input, weight[own].reshape(part, -1)))
    return np.concatenate(outputs, axis=-1) + bias


def add_convolution(config, w, embedding_BLD, layer_BLD, mask_BL):
    mask = mask_BL[..., None].astype(layer_BLD.dtype)
    y = convolve(embedding_BLD, w["encoder.conv.conv.weight"], w["encoder.conv.conv.bias"], config.conv_groups)
    y = ACTIVATIONS[config.conv_act](y * mask)
    gamma, beta = w["encoder.conv.LayerNorm.weight"], w["encoder.conv.LayerNorm.bias"]
    return layer_norm(layer_BLD + y, gamma, beta, config.layer_norm_eps) * mask
