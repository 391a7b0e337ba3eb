"""Random weights of tiny models under the published tensor names (model-heads.md#tensors).

The numbers come from a counter hashed with integers only, so that they never depend on a library version, and are
keyed by case and tensor: a new case or tensor changes no other. A fixture holds the recipe, not the numbers: its
readers make them again (tests/support/golden_weights.cpp).
"""

import hashlib

import numpy as np


def random_bits(key, count):
    """`count` integers of 64 bits from the text `key` (splitmix64)."""
    seed = np.frombuffer(hashlib.sha256(key.encode()).digest()[:8], "<u8")[0]
    z = seed + np.arange(1, count + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


def random_integers(key, low, high, shape):
    """From low to high - 1, int32."""
    bits = random_bits(key, int(np.prod(shape))) >> np.uint64(33)
    return ((bits % np.uint64(high - low)).astype(np.int64) + low).astype(np.int32).reshape(shape)


def random_numbers(key, shape):
    """Nearly normal, mean 0, variance 1: four uniform numbers of 16 bits each."""
    bits = random_bits(key, int(np.prod(shape)))
    parts = [((bits >> np.uint64(shift)) & np.uint64(0xFFFF)).astype(np.float64) for shift in (0, 16, 32, 48)]
    sums = parts[0] + parts[1] + parts[2] + parts[3] - 2 * 65535
    return (sums / 65536 * np.sqrt(3.0)).reshape(shape)


def embedding_shapes(config):
    size, width = config.embedding_size, config.hidden_size
    shapes = {"word_embeddings.weight": (config.vocab_size, size)}
    if config.position_biased_input:
        shapes["position_embeddings.weight"] = (config.max_position_embeddings, size)
    if config.type_vocab_size > 0:
        shapes["token_type_embeddings.weight"] = (config.type_vocab_size, size)
    if size != width:
        shapes["embed_proj.weight"] = (width, size)
    shapes.update({"LayerNorm.weight": (width,), "LayerNorm.bias": (width,)})
    return {"deberta.embeddings." + name: shape for name, shape in shapes.items()}


def attention_shapes(config):
    width = config.hidden_size
    linear = {"weight": (width, width), "bias": (width,)}
    has_c2p, has_p2c = (config.relative_attention and term in config.pos_att_type for term in ("c2p", "p2c"))
    if config.is_v1:
        shapes = {"in_proj.weight": (3 * width, width), "q_bias": (width,), "v_bias": (width,)}
        if has_c2p:
            shapes["pos_proj.weight"] = (width, width)
        names = ["pos_q_proj"] if has_p2c else []
    else:
        shapes = {}
        names = ["query_proj", "key_proj", "value_proj"]
        if not config.share_att_key:
            names += ["pos_key_proj"] * has_c2p + ["pos_query_proj"] * has_p2c
    shapes.update({f"{name}.{part}": shape for name in names for part, shape in linear.items()})
    return {"self." + name: shape for name, shape in shapes.items()}


def layer_shapes(config):
    width, inner = config.hidden_size, config.intermediate_size
    shapes = {"attention." + name: shape for name, shape in attention_shapes(config).items()}
    dense = {"attention.output": (width, width), "intermediate": (inner, width), "output": (width, inner)}
    for name, shape in dense.items():
        shapes[name + ".dense.weight"] = shape
        shapes[name + ".dense.bias"] = shape[:1]
        if name != "intermediate":
            shapes.update({name + ".LayerNorm.weight": (width,), name + ".LayerNorm.bias": (width,)})
    return shapes


def encoder_shapes(config):
    width, shapes = config.hidden_size, {}
    norm = {"LayerNorm.weight": (width,), "LayerNorm.bias": (width,)}
    if config.relative_attention:
        shapes["rel_embeddings.weight"] = (2 * config.span, width)
        if config.norm_rel_ebd:
            shapes.update(norm)
    if config.conv_kernel_size > 0:
        shapes["conv.conv.weight"] = (width, width // config.conv_groups, config.conv_kernel_size)
        shapes["conv.conv.bias"] = (width,)
        shapes.update({"conv." + name: shape for name, shape in norm.items()})
    for n in range(config.num_hidden_layers):
        shapes.update({f"layer.{n}.{name}": shape for name, shape in layer_shapes(config).items()})
    return {"deberta.encoder." + name: shape for name, shape in shapes.items()}


def linear_shapes(name, outputs, inputs):
    return {name + ".weight": (outputs, inputs), name + ".bias": (outputs,)}


def head_shapes(config, head, labels):
    width, size = config.hidden_size, config.embedding_size
    if head in ("sequence", "multiple_choice"):
        return {**linear_shapes("pooler.dense", width, width), **linear_shapes("classifier", labels, width)}
    if head == "token":
        return linear_shapes("classifier", labels, width)
    if head in ("token_original", "record"):
        return {**linear_shapes("proj", width, width), **linear_shapes("classifier", labels, width)}
    if head == "span":
        return linear_shapes("qa_outputs", 2, width)
    if head == "rtd":
        names = {**linear_shapes("dense", width, width), **linear_shapes("classifier", 1, width)}
        names.update({"LayerNorm.weight": (width,), "LayerNorm.bias": (width,)})
        return {"mask_predictions." + name: shape for name, shape in names.items()}
    if head == "mlm":
        names = {**linear_shapes("dense", size, width), "bias": (config.vocab_size,)}
        names.update({"LayerNorm.weight": (size,), "LayerNorm.bias": (size,)})
        shapes = {"lm_predictions.lm_head." + name: shape for name, shape in names.items()}
        if not config.position_biased_input:  # read by the mask decoder
            shapes["deberta.embeddings.position_embeddings.weight"] = (config.max_position_embeddings, size)
        return shapes
    return {}


def spread_of(name, shape):
    """Mean and spread: gammas around 1, biases far enough from 0 that a forgotten one shows, unit-size projections."""
    if name.endswith("LayerNorm.weight"):
        return 1.0, 0.3
    if len(shape) == 1:
        return 0.0, 0.2
    if "embeddings" in name:
        return 0.0, 1.0
    return 0.0, 1 / np.sqrt(np.prod(shape[1:]))


def recipe_of(config, head, labels, scales):
    """The recipe of the weights: shape, mean and spread by tensor name. `scales` maps part of a name to a factor of its
    spread."""
    shapes = {**embedding_shapes(config), **encoder_shapes(config), **head_shapes(config, head, labels)}
    recipe = {}
    for name, shape in shapes.items():
        mean, spread = spread_of(name, shape)
        for part, factor in scales.items():
            spread *= factor if part in name else 1
        recipe[name] = {"shape": list(shape), "mean": mean, "spread": float(spread)}
    return recipe


def random_weights(recipe, case_name):
    """float32 tensors by name."""
    return {
        name: (of["mean"] + of["spread"] * random_numbers(f"{case_name}/{name}", of["shape"])).astype(np.float32)
        for name, of in recipe.items()
    }
