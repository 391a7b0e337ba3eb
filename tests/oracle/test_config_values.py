"""config.json with values that its authors did not intend: what transformers 4.57 computes with them, --compat hf
computes too, and what only one of the two reads is refused in one sentence."""

import json
import random
import subprocess

import numpy
import pytest
import torch
import transformers

from clean_environment import clean_environment
from oracle_runs import BINARY
from test_transformers import SMALL, V3, make_inputs, make_transformers_model, read_safetensors

TOLERANCE = 2e-5  # of the largest logit
MODELS = {
    "v3": ("v2", V3 | {"num_labels": 3}),
    "v2 with convolution": (
        "v2",
        V3 | {"conv_kernel_size": 3, "conv_act": "gelu", "share_att_key": False, "type_vocab_size": 2, "num_labels": 3},
    ),
    "v1": ("v1", SMALL | {"num_labels": 3}),
    "v1 without terms": (
        "v1",
        SMALL | {"relative_attention": False, "pos_att_type": [], "position_biased_input": True, "num_labels": 3},
    ),
}
BIG = 10**30
# What inference does not read, or reads with another type than the key's.
VALUES = {
    "hidden_act": [
        "gelu_new",
        "gelu_fast",
        "gelu_python",
        "gelu_pytorch_tanh",
        "gelu_python_tanh",
        "gelu_accurate",
        "quick_gelu",
        "gelu_10",
        "mish",
        "relu",
        "relu2",
        "relu6",
        "leaky_relu",
        "laplace",
        "swish",
        "silu",
        "tanh",
        "sigmoid",
        "linear",
        "prelu",
        None,
        5,
    ],
    "pooler_hidden_act": ["gelu_new", "quick_gelu", "mish", "relu6", None, "nonsense", []],
    "conv_act": ["gelu_new", "laplace", None, 5],
    "pos_att_type": [
        "c2p|p2c",
        " P2C | c2p ",
        "c 2p",
        "none",
        "p2p",
        "c2p|foo",
        "",
        None,
        [],
        {},
        {"c2p": 0, "p2c": 1},
        ["p2c", "c2p"],
        ["c2p", "c2p", "p2c", 5],
        ["C2P", "P2C"],
        ["c2p|p2c"],
        5,
        True,
    ],
    "norm_rel_ebd": ["layer_norm|x", "LAYER_NORM", None, 5],
    "relative_attention": ["false", 1, -0.5, [0], float("nan")],
    "position_biased_input": [None, "", 0, [], {}, "no", 2.5],
    "share_att_key": [1, "false", None],
    "max_relative_positions": [-1, 0, 0.5, -0.5, False, float("-inf"), -BIG, 40, 64, "text", None, float("nan"), BIG],
    "position_buckets": [-1, 0, False, float("nan"), -BIG, 16, "text", None],
    "type_vocab_size": [0, -1, False, 0.0, float("nan"), -BIG, "text", None],
    "conv_kernel_size": [0, -3, False, float("nan"), "text", None],
    "conv_groups": ["x", None, 5],
    "layer_norm_eps": [0, 1, True, 0.5, BIG, float("inf"), "text", None],
    "max_position_embeddings": [40, 64.5, "text", None],
    "num_attention_heads": [1, 4, 2.0, True, "2", None],
    "pad_token_id": [-1, None, 3, 2.5, "x"],
    "initializer_range": [None, "x", BIG, []],
    "hidden_dropout_prob": [1, 0, "x", None, BIG],
    "pooler_dropout": [1, "x"],
    "cls_dropout": [None, "x"],
    "id2label": [
        {"0": 5, "1": None, "2": True},
        {"0": "a", "5": "b", "-1": "c"},
        {" 0": "a", "01": "b", "+2": "c"},
        {"x": "a"},
        [],
        5,
    ],
    "label2id": [{"a": "x"}, {}, None, 5],
    "num_labels": [7, None, "x"],
    "architectures": ["Nonsense", None, 5, [1]],
    "torch_dtype": [None, "float16"],
    "unknown": [BIG, float("nan"), float("inf"), "\ud800", {"a": [BIG]}],
    "talking_head": [None, 0, "", True],
    "attention_head_size": [8, None, "x"],
    "legacy": [None, 0],
    "pooling": [5, {"hidden_act": "relu"}],
    "problem_type": [None, "regression", "x"],
    "model_type": ["bert", 5, []],
}
LEFT_OUT = object()
OPTIONAL = [
    "pos_att_type",
    "relative_attention",
    "pooler_hidden_act",
    "layer_norm_eps",
    "max_relative_positions",
    "position_buckets",
    "id2label",
    "max_position_embeddings",
    "type_vocab_size",
    "position_biased_input",
    "norm_rel_ebd",
    "share_att_key",
    "hidden_act",
    "pad_token_id",
]
CASES = [(key, value) for key, values in VALUES.items() for value in values] + [(key, LEFT_OUT) for key in OPTIONAL]


def theirs(folder, inputs):
    """The logits, or nothing when transformers fails or makes up weights."""
    try:
        model, loading = transformers.AutoModelForSequenceClassification.from_pretrained(
            folder, output_loading_info=True
        )
        if loading["missing_keys"] or loading["mismatched_keys"]:
            return None
        with torch.no_grad():
            return model.eval()(**{name: torch.from_numpy(array) for name, array in inputs.items()}).logits.numpy()
    except Exception:  # whatever a wrong value causes
        return None


def ours(folder):
    """The logits, or the message."""
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
            "--compat",
            "hf",
        ],
        capture_output=True,
        text=True,
        env=clean_environment(),
    )
    assert done.returncode in (0, 1), (done.returncode, done.stderr)
    return read_safetensors(folder / "out.safetensors")["logits"] if done.returncode == 0 else done.stderr


@pytest.mark.parametrize("name", MODELS)
def test_each_value_means_what_transformers_takes_it_for(tmp_path, name):
    layout, settings = MODELS[name]
    make_transformers_model(tmp_path, layout, settings, "ForSequenceClassification")
    inputs = make_inputs(tmp_path, 21, types=settings["type_vocab_size"] > 0)
    published = json.loads((tmp_path / "config.json").read_text())
    equal = refused = 0
    # A random quarter of them for each model, together most of them.
    for key, value in random.Random(list(MODELS).index(name)).sample(CASES, len(CASES) // 4):
        config = {k: v for k, v in published.items() if k != key} | ({} if value is LEFT_OUT else {key: value})
        (tmp_path / "config.json").write_text(json.dumps(config))
        expected, got = theirs(tmp_path, inputs), ours(tmp_path)
        case = (key, "left out" if value is LEFT_OUT else value, got)
        if isinstance(got, str):
            # Tensors that the changed file does not need are refused by another rule; nonsense that transformers
            # computes, by name.
            assert (
                expected is None
                or "unexpected tensor" in got
                or not numpy.isfinite(expected).all()
                or key in ("talking_head", "hidden_act")
            ), case
            refused += 1
        elif expected is not None:
            assert numpy.abs(got - expected).max() < TOLERANCE * max(1, numpy.abs(expected).max()), case
            equal += 1
    assert equal > 10 and refused > 3, (equal, refused)


def test_a_missing_pos_att_type_follows_the_switch(tmp_path):
    """With shared projections no tensor shows which terms are meant: the original takes c2p, transformers none."""
    model = make_transformers_model(tmp_path, "v2", V3 | {"pos_att_type": None}, "ForSequenceClassification")
    inputs = make_inputs(tmp_path, 21)
    config = json.loads((tmp_path / "config.json").read_text())
    del config["pos_att_type"]
    (tmp_path / "config.json").write_text(json.dumps(config))
    with torch.no_grad():
        expected = model(**{name: torch.from_numpy(array) for name, array in inputs.items()}).logits.numpy()
    assert numpy.abs(ours(tmp_path) - expected).max() < TOLERANCE * max(1, numpy.abs(expected).max())
    done = subprocess.run(
        [BINARY, "forward", "-m", tmp_path, "--ids", tmp_path / "in.safetensors", "-o", tmp_path / "out.safetensors"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert "pos_att_type is missing: c2p" in done.stderr
    assert numpy.abs(read_safetensors(tmp_path / "out.safetensors")["logits"] - expected).max() > 1e-3
