"""The heads (model-heads.md#heads): from h_N (or the mask decoder) to logits.

B sequences  L positions  D hidden  E embedding size  V vocabulary  C classes
"""

import numpy as np

from arithmetic import ACTIVATIONS, dot, gelu, layer_norm, linear, masked_softmax
from attention import project


def pool(config, w, hidden_BLD):
    return ACTIVATIONS[config.pooler_act](project(w, "pooler.dense", hidden_BLD[:, 0]))


def classify_sequence(config, w, hidden_BLD):
    """[B, C]; C = 1 for regression. Multiple choice: each choice is a sequence, C = 1."""
    return project(w, "classifier", pool(config, w, hidden_BLD))


def classify_tokens(w, hidden_BLD):
    """[B, L, C]. The original projects first, with gelu regardless of hidden_act; the tensors select the variant."""
    if "proj.weight" in w:
        hidden_BLD = gelu(project(w, "proj", hidden_BLD))
    return project(w, "classifier", hidden_BLD)


def answer_span(w, hidden_BLD):
    """[B, L, 2]: start and end."""
    return project(w, "qa_outputs", hidden_BLD)


def predict_tokens(config, w, states):
    """[..., V] from states [..., D]: tied to the word table, with its own bias."""
    head = "lm_predictions.lm_head."
    z = ACTIVATIONS[config.hidden_act](project(w, head + "dense", states))
    z = layer_norm(z, w[head + "LayerNorm.weight"], w[head + "LayerNorm.bias"], config.layer_norm_eps)
    return linear(z, w["embeddings.word_embeddings.weight"], w[head + "bias"])


def detect_replaced(config, w, hidden_BLD):
    """[B, L]: positive where a token was replaced."""
    head = "mask_predictions."
    t = layer_norm(
        hidden_BLD[:, :1] + hidden_BLD, w[head + "LayerNorm.weight"], w[head + "LayerNorm.bias"], config.layer_norm_eps
    )
    u = ACTIVATIONS[config.hidden_act](project(w, head + "dense", t))
    return project(w, head + "classifier", u)[..., 0]


NO_MENTION = -10000  # the original's logit of a mention without pieces


def score_entities(w, hidden_BLD, entity_indices):
    """ReCoRD, [B, mentions]. entity_indices [B, mentions, pieces]: token positions, 0 = unused slot."""
    size = hidden_BLD.shape[-1]
    result = np.full(entity_indices.shape[:2], NO_MENTION, hidden_BLD.dtype)
    for b, m in np.ndindex(*entity_indices.shape[:2]):
        pieces = entity_indices[b, m][entity_indices[b, m] > 0]
        if len(pieces) == 0:
            continue
        rows = hidden_BLD[b, pieces]
        attraction = dot(hidden_BLD[b, :1], rows) / np.sqrt(hidden_BLD.dtype.type(size))
        weights = masked_softmax(attraction, np.ones_like(attraction, bool))
        mention = gelu(project(w, "proj", dot(weights, rows.T)))
        result[b, m] = project(w, "classifier", mention)[0, 0]
    return result
