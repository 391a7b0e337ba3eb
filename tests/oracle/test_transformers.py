"""Hidden states and logits against transformers 4.57 on random models that transformers itself saves; and where the two
differ by design (docs/reference/transformers.md), that --compat hf gives its values and the default does not."""

import json
import subprocess
import sys

import numpy
import pytest
import torch
import transformers

from clean_environment import clean_environment
from oracle_runs import BINARY, ROOT

sys.path.insert(0, str(ROOT / "tests/cli"))
from models import read_safetensors, write_safetensors

TOLERANCE = 1e-5  # for values around 1, fp32 on both sides
SMALL = {
    "vocab_size": 50,
    "hidden_size": 16,
    "num_hidden_layers": 3,
    "num_attention_heads": 2,
    "intermediate_size": 24,
    "max_position_embeddings": 64,
    "type_vocab_size": 0,
    "relative_attention": True,
    "pos_att_type": ["p2c", "c2p"],
    "position_biased_input": False,
    "attn_implementation": "eager",
}
V3 = SMALL | {"position_buckets": 16, "share_att_key": True, "norm_rel_ebd": "layer_norm"}
VARIANTS = {
    "v3": ("v2", V3),
    "v2 with convolution": ("v2", V3 | {"conv_kernel_size": 3, "conv_act": "gelu"}),
    "convolution of groups, tanh": ("v2", V3 | {"conv_kernel_size": 5, "conv_groups": 2, "conv_act": "tanh"}),
    "own projections for positions": ("v2", V3 | {"share_att_key": False}),
    "content to position alone": ("v2", V3 | {"pos_att_type": ["c2p"]}),
    "position to content alone": ("v2", V3 | {"pos_att_type": ["p2c"]}),
    "no terms": ("v2", V3 | {"pos_att_type": ["none"]}),
    "no buckets, no norm": ("v2", V3 | {"position_buckets": -1, "norm_rel_ebd": "none"}),
    "small embeddings, types, absolute positions": (
        "v2",
        V3 | {"embedding_size": 8, "type_vocab_size": 2, "position_biased_input": True},
    ),
    "relu": ("v2", V3 | {"hidden_act": "relu"}),
    "v1": ("v1", SMALL),
    "v1, content to position alone": ("v1", SMALL | {"pos_att_type": ["c2p"]}),
    "BERT's attention": (
        "v1",
        SMALL | {"relative_attention": False, "pos_att_type": [], "position_biased_input": True, "type_vocab_size": 2},
    ),
}
CLASSES = {"v1": "Deberta", "v2": "DebertaV2"}


def make_transformers_model(folder, layout, settings, head="Model", seed=0):
    """A random model with weights large enough that each shows, saved by transformers."""
    torch.manual_seed(seed)
    config = getattr(transformers, CLASSES[layout] + "Config")(**settings)
    model = getattr(transformers, CLASSES[layout] + head)(config).eval()
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            shift = 1.0 if name.endswith("LayerNorm.weight") else 0.0
            parameter.copy_(torch.randn_like(parameter) * (1.0 if "embeddings" in name else 0.3) + shift)
    model.save_pretrained(folder)
    return model


def make_inputs(folder, length, rows=3, types=False, seed=1):
    random = numpy.random.default_rng(seed)
    inputs = {
        "input_ids": random.integers(1, 50, (rows, length)).astype(numpy.int64),
        "attention_mask": numpy.ones((rows, length), numpy.int64),
    }
    inputs["attention_mask"][0, length * 2 // 3 :] = 0  # padding
    inputs["attention_mask"][1, length // 2] = 0  # a hole in the mask
    inputs["attention_mask"][1, 0] = 0  # position 0 masked
    if types:
        inputs["token_type_ids"] = (numpy.arange(length)[None] >= length // 2).astype(numpy.int64).repeat(rows, 0)
    write_safetensors(folder / "in.safetensors", inputs)
    return inputs


def theirs(model, inputs):
    with torch.no_grad():
        out = model(**{name: torch.from_numpy(array) for name, array in inputs.items()}, output_hidden_states=True)
    states = {f"hidden.{n}": state.numpy() for n, state in enumerate(out.hidden_states)}
    if "logits" in out:
        states["logits"] = out.logits.numpy()
    return states


def ours(folder, *words):
    done = subprocess.run(
        [
            BINARY,
            "forward",
            "-q",
            "-m",
            folder,
            "--ids",
            folder / "in.safetensors",
            "-o",
            folder / "out.safetensors",
            *words,
        ],
        capture_output=True,
        text=True,
        env=clean_environment(),
    )
    assert done.returncode == 0, done.stderr
    return read_safetensors(folder / "out.safetensors")


def worst(got, expected, rows):
    """The largest difference over the rows of a [B, L] mask, of every layer."""
    layers = [name for name in expected if name.startswith("hidden.")]
    assert len(layers) == SMALL["num_hidden_layers"] + 1
    return max(numpy.abs(got[name] - expected[name])[rows].max() for name in layers)


@pytest.mark.parametrize("variant", VARIANTS)
def test_every_layer_equals_transformers(tmp_path, variant):
    layout, settings = VARIANTS[variant]
    model = make_transformers_model(tmp_path, layout, settings)
    inputs = make_inputs(tmp_path, 21, types=settings["type_vocab_size"] > 0)
    expected, real = theirs(model, inputs), inputs["attention_mask"] == 1
    got = ours(tmp_path)
    assert worst(got, expected, real) < TOLERANCE
    assert not got["hidden.3"][~real].any()
    assert worst(ours(tmp_path, "--compat", "hf"), expected, numpy.ones_like(real)) < TOLERANCE  # rows of padding too


@pytest.mark.parametrize("layout", ["v1", "v2"])
def test_far_distances_follow_the_switch(tmp_path, layout):
    model = make_transformers_model(tmp_path, layout, V3 if layout == "v2" else SMALL)
    inputs = make_inputs(tmp_path, 100)
    expected, real = theirs(model, inputs), inputs["attention_mask"] == 1
    assert worst(ours(tmp_path, "--compat", "hf"), expected, numpy.ones_like(real)) < TOLERANCE
    if layout == "v2":  # v1 has no buckets: both clamp to the ends of the table
        assert worst(ours(tmp_path), expected, real) > 1e-3


@pytest.mark.parametrize(
    "layout, head",
    [
        ("v1", "ForSequenceClassification"),
        ("v2", "ForSequenceClassification"),
        ("v1", "ForTokenClassification"),
        ("v2", "ForTokenClassification"),
        ("v1", "ForQuestionAnswering"),
        ("v2", "ForQuestionAnswering"),
    ],
)
def test_logits_equal_transformers(tmp_path, layout, head):
    labels = 2 if head == "ForQuestionAnswering" else 5
    model = make_transformers_model(tmp_path, layout, (V3 if layout == "v2" else SMALL) | {"num_labels": labels}, head)
    inputs = make_inputs(tmp_path, 12)
    inputs["attention_mask"][:, 0] = 1
    if head == "ForQuestionAnswering":
        with torch.no_grad():
            out = model(**{name: torch.from_numpy(array) for name, array in inputs.items()})
        expected = numpy.stack([out.start_logits.numpy(), out.end_logits.numpy()], -1)
    else:
        expected = theirs(model, inputs)["logits"]
    write_safetensors(tmp_path / "in.safetensors", inputs)
    got = ours(tmp_path)["logits"]
    rows = slice(None) if head == "ForSequenceClassification" else inputs["attention_mask"] == 1
    assert got.shape == expected.shape and numpy.abs(got - expected)[rows].max() < TOLERANCE


@pytest.mark.parametrize("layout", ["v1", "v2"])
def test_transformers_leaves_the_mask_decoder_out(tmp_path, layout):
    settings = (V3 if layout == "v2" else SMALL) | {"legacy": False, "tie_word_embeddings": False}
    model = make_transformers_model(tmp_path, layout, settings, "ForMaskedLM")
    tensors = read_safetensors(tmp_path / "model.safetensors")
    random = numpy.random.default_rng(3)
    tensors["deberta.embeddings.position_embeddings.weight"] = random.standard_normal((64, 16)).astype(numpy.float32)
    write_safetensors(
        tmp_path / "model.safetensors", {name: numpy.ascontiguousarray(array) for name, array in tensors.items()}
    )
    inputs = make_inputs(tmp_path, 15)
    expected, real = theirs(model, inputs)["logits"], inputs["attention_mask"] == 1
    # sums over 16 products
    assert numpy.abs(ours(tmp_path, "--compat", "hf")["logits"] - expected)[real].max() < 5 * TOLERANCE
    assert numpy.abs(ours(tmp_path)["logits"] - expected)[real].max() > 1e-2


def test_a_missing_pos_att_type_means_c2p_as_in_the_original(tmp_path):
    model = make_transformers_model(tmp_path, "v2", V3 | {"pos_att_type": ["c2p"]})
    inputs = make_inputs(tmp_path, 15)
    expected, real = theirs(model, inputs), inputs["attention_mask"] == 1
    config = json.loads((tmp_path / "config.json").read_text())
    del config["pos_att_type"]
    (tmp_path / "config.json").write_text(json.dumps(config))
    assert worst(ours(tmp_path), expected, real) < TOLERANCE
    assert transformers.DebertaV2Config.from_pretrained(tmp_path).pos_att_type in (None, [])
