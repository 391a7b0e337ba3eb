"""One encoder layer (model.md#encoder-layer): attention, then feed-forward, each with residual and norm after it.

Rows of masked tokens are computed like any other; no key sees them.
"""

from arithmetic import ACTIVATIONS, layer_norm
from attention import attention, project


def forward_layer(config, w, layer, hidden_BSD, query_BLD, allowed_BLS, relative):
    """Output [B, L, D] and the attention scores of the layer."""
    a, scores = attention(config, w, layer, hidden_BSD, query_BLD, allowed_BLS, relative)
    prefix = f"encoder.layer.{layer}."
    inner = ACTIVATIONS[config.hidden_act](project(w, prefix + "intermediate.dense", a))
    x = project(w, prefix + "output.dense", inner) + a
    gamma, beta = w[prefix + "output.LayerNorm.weight"], w[prefix + "output.LayerNorm.bias"]
    return layer_norm(x, gamma, beta, config.layer_norm_eps), scores
