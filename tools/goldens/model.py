"""A whole model from its tensors: canonical names, the v1 layout split, the outputs of each kind of head by name."""

import numpy as np

from encoder import encode
from heads import answer_span, classify_sequence, classify_tokens, detect_replaced, pool, predict_tokens, score_entities
from mask_decoder import decode


def canonical(tensors, dtype):
    """Without the encoder's prefix, in the precision asked for."""
    return {name.removeprefix("deberta."): array.astype(dtype) for name, array in tensors.items()}


def split_v1(config, w):
    """The v1 layout as v2 with unshared projections and no biases on the keys (model-heads.md#layout-of-version-1)."""
    heads, size = config.num_attention_heads, config.head_size
    for n in range(config.num_hidden_layers):
        own = f"encoder.layer.{n}.attention.self."
        fused = w.pop(own + "in_proj.weight").reshape(heads, 3 * size, -1)
        for part, name in enumerate(("query", "key", "value")):
            rows = fused[:, part * size : (part + 1) * size]
            w[own + name + "_proj.weight"] = rows.reshape(heads * size, -1)
        w[own + "query_proj.bias"] = w.pop(own + "q_bias")
        w[own + "value_proj.bias"] = w.pop(own + "v_bias")
        for old, new in (("pos_proj.", "pos_key_proj."), ("pos_q_proj.", "pos_query_proj.")):
            for name in [name for name in w if name.startswith(own + old)]:
                w[name.replace(old, new)] = w.pop(name)
    return w


def load_weights(config, tensors, dtype):
    w = canonical(tensors, dtype)
    return split_v1(config, w) if config.is_v1 else w


def predicted_rows(inputs):
    """The positions to predict as indices b * L + l: given, or those with a label."""
    return inputs["rows"] if "rows" in inputs else np.flatnonzero(inputs["labels"] > 0)


def run_head(config, w, head, inputs, encoded):
    """Outputs by name: pooled, logits, decoder.1 and decoder.2."""
    h = encoded.hidden[-1]
    if head == "sequence":
        return {"pooled": pool(config, w, h), "logits": classify_sequence(config, w, h)}
    if head == "multiple_choice":
        return {"logits": classify_sequence(config, w, h).reshape(inputs["choices_shape"])}
    if head == "token":
        return {"logits": classify_tokens(w, h)}
    if head == "span":
        return {"logits": answer_span(w, h)}
    if head == "record":
        return {"logits": score_entities(w, h, inputs["entity_indices"])}
    if head == "rtd":
        return {"logits": detect_replaced(config, w, h)}
    if head == "mlm":
        rows = predicted_rows(inputs)
        passes = [x.reshape(-1, x.shape[-1])[rows] for x in decode(config, w, inputs, encoded)]
        outputs = {f"decoder.{n}": x for n, x in enumerate(passes, 1)}
        return {**outputs, "logits": predict_tokens(config, w, passes[-1])}
    if head == "none":
        return {}
    raise ValueError(f"unknown head {head}")


def run_model(config, tensors, head, inputs, dtype, distance="original"):
    """Everything the model computes, by name: hidden.n, NAME.1 (scores of the first layer), the head's outputs."""
    inputs = dict(inputs)
    ids = inputs["input_ids"]
    if ids.ndim == 3:  # [B, choices, L]
        inputs["choices_shape"] = ids.shape[:2]
        for name in ("input_ids", "attention_mask", "token_type_ids"):
            if name in inputs:
                inputs[name] = inputs[name].reshape(-1, ids.shape[2])
    w = load_weights(config, tensors, dtype)
    encoded = encode(config, w, inputs, distance)
    outputs = {f"hidden.{n}": x for n, x in enumerate(encoded.hidden)}
    outputs.update({f"{name}.1": x for name, x in encoded.scores[0].items()})
    outputs.update(run_head(config, w, head, inputs, encoded))
    return outputs
