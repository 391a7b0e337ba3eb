"""Trainer, engine and transformers 4.57 on the same random masked language models, without dropout, in fp32: values of
all three, gradients of the trainer and transformers. transformers has no enhanced mask decoder, so the head reads the
last layer on all sides; and it does not clamp distances beyond the table (docs/reference/transformers.md), so no
sequence is longer than the table."""

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

VALUES = 5e-5  # absolute: states around 1, logits and losses around 4
GRADIENTS = 2e-5  # of the largest element of the tensor
TRAINED = BINARY.resolve().parent / "deberta-train"
torch.set_num_threads(1)
pytestmark = pytest.mark.skipif(not TRAINED.exists(), reason="the training half is not built: ./test all builds it")

VOCABULARY, HIDDEN = 60, 64
SMALL = {
    "vocab_size": VOCABULARY,
    "hidden_size": HIDDEN,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "intermediate_size": 80,
    "type_vocab_size": 0,
    "max_position_embeddings": 64,
    "relative_attention": True,
    "pos_att_type": ["p2c", "c2p"],
    "position_biased_input": False,
    "hidden_dropout_prob": 0.0,
    "attention_probs_dropout_prob": 0.0,
    "attn_implementation": "eager",
}
V3 = SMALL | {"position_buckets": 16, "share_att_key": True, "norm_rel_ebd": "layer_norm"}
OWN = V3 | {"share_att_key": False}


def table(buckets, distances):
    return V3 | {"position_buckets": buckets, "max_relative_positions": distances, "max_position_embeddings": 512}


VARIANTS = {  # layout, settings, length of the sequences
    "v3": ("v2", V3, 33),
    "v3, c2p": ("v2", V3 | {"pos_att_type": ["c2p"]}, 21),
    "v3, p2c": ("v2", V3 | {"pos_att_type": ["p2c"]}, 21),
    "v3, no terms": ("v2", V3 | {"pos_att_type": ["none"]}, 21),
    "own projections": ("v2", OWN, 21),
    "own projections, c2p": ("v2", OWN | {"pos_att_type": ["c2p"]}, 21),
    "own projections, p2c": ("v2", OWN | {"pos_att_type": ["p2c"]}, 21),
    "own projections, no terms": ("v2", OWN | {"pos_att_type": ["none"]}, 21),
    "not relative": ("v2", V3 | {"relative_attention": False, "pos_att_type": [], "position_biased_input": True}, 21),
    "positions at the input": ("v2", V3 | {"position_biased_input": True}, 21),
    "convolution, gelu": ("v2", V3 | {"conv_kernel_size": 3, "conv_act": "gelu"}, 21),
    "convolution, tanh": ("v2", V3 | {"conv_kernel_size": 3, "conv_act": "tanh"}, 21),
    "convolution of groups": ("v2", V3 | {"conv_kernel_size": 5, "conv_groups": 2, "conv_act": "tanh"}, 21),
    "small embeddings": ("v2", V3 | {"embedding_size": 20, "legacy": True}, 21),  # the other head is wide as the states
    "types": ("v2", V3 | {"type_vocab_size": 2}, 21),
    "small embeddings, types, positions": (
        "v2",
        V3 | {"embedding_size": 20, "legacy": True, "type_vocab_size": 2, "position_biased_input": True},
        21,
    ),
    "the head of transformers": ("v2", V3 | {"legacy": True}, 21),
    "relu": ("v2", V3 | {"hidden_act": "relu"}, 21),
    "no norm of the table": ("v2", V3 | {"norm_rel_ebd": "none"}, 21),
    "no buckets": ("v2", V3 | {"position_buckets": -1}, 21),
    "no buckets, no norm, own projections": ("v2", OWN | {"position_buckets": -1, "norm_rel_ebd": "none"}, 21),
    "table of 4 / 9": ("v2", table(4, 9), 9),
    "table of 8 / 16": ("v2", table(8, 16), 16),
    "table of 256 / 512": ("v2", table(256, 512), 400),
    "v1": ("v1", SMALL, 21),
    "v1, c2p": ("v1", SMALL | {"pos_att_type": ["c2p"]}, 21),
    "v1, p2c": ("v1", SMALL | {"pos_att_type": ["p2c"]}, 21),
    "v1, no terms": ("v1", SMALL | {"pos_att_type": []}, 21),  # ["none"] counts as a term for transformers
    "v1, not relative": (
        "v1",
        SMALL | {"relative_attention": False, "pos_att_type": [], "position_biased_input": True, "type_vocab_size": 2},
        21,
    ),
    "v1, positions at the input": ("v1", SMALL | {"position_biased_input": True, "legacy": True}, 21),
}
CLASSES = {"v1": "Deberta", "v2": "DebertaV2"}
LIBRARY_HEAD = {
    "cls.predictions.transform.dense": "lm_predictions.lm_head.dense",
    "cls.predictions.transform.LayerNorm": "lm_predictions.lm_head.LayerNorm",
    "cls.predictions.": "lm_predictions.lm_head.",
}


def make_library_model(folder, layout, settings):
    """A random model that keeps its states around 1, with every bias and gamma showing, saved by transformers."""
    torch.manual_seed(0)
    # the original's head has no matrix of its own
    settings = {"legacy": False, "tie_word_embeddings": settings.get("legacy", False)} | settings
    model = getattr(transformers, CLASSES[layout] + "ForMaskedLM")(
        getattr(transformers, CLASSES[layout] + "Config")(**settings)
    ).eval()
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            scale = 0.2 if parameter.dim() == 1 else 0.3 if "embeddings" in name else parameter[0].numel() ** -0.5
            parameter.copy_(torch.randn_like(parameter) * scale + (1.0 if name.endswith("LayerNorm.weight") else 0.0))
    model.save_pretrained(folder)
    return model


def make_batch(length, types):
    """Three rows: padding; a hole and nothing at position 0; every token. A third of the real tokens is predicted."""
    random = numpy.random.default_rng(1)
    batch = {
        "input_ids": random.integers(1, VOCABULARY, (3, length)),
        "attention_mask": numpy.ones((3, length), numpy.int64),
    }
    batch["attention_mask"][0, length * 2 // 3 :] = 0
    batch["attention_mask"][1, [0, length // 2]] = 0
    if types:
        batch["token_type_ids"] = (numpy.arange(length)[None] >= length // 2).astype(numpy.int64).repeat(3, 0)
    is_predicted = (random.random((3, length)) < 0.33) & (batch["attention_mask"] == 1)
    batch["labels"] = numpy.where(is_predicted, random.integers(0, VOCABULARY, (3, length)), -100)
    return batch


def library_run(model, batch):
    """(states and logits, loss, gradients by the names of the checkpoint)"""
    out = model(**{name: torch.from_numpy(array) for name, array in batch.items()}, output_hidden_states=True)
    out.loss.backward()
    values = {f"hidden.{n}": state.detach().numpy() for n, state in enumerate(out.hidden_states)} | {
        "logits": out.logits.detach().numpy()
    }
    gradients = {}
    for name, parameter in model.named_parameters():
        name = name.removeprefix("deberta.")
        for theirs, ours in LIBRARY_HEAD.items():
            name = ours + name.removeprefix(theirs) if name.startswith(theirs) else name
        gradients[name] = (torch.zeros_like(parameter) if parameter.grad is None else parameter.grad).numpy()
    return values, out.loss.item(), split_fused(gradients, model.config.num_attention_heads)


def split_fused(gradients, heads):
    """Version 1 holds queries, keys and values of each head in one tensor, and has no bias of keys."""
    split = {}
    for name, array in gradients.items():
        layer, _, tensor = name.rpartition("self.")
        if tensor == "in_proj.weight":
            parts = array.reshape(heads, 3, -1, array.shape[1])
            split |= {
                f"{layer}self.{part}_proj.weight": parts[:, n].reshape(-1, array.shape[1])
                for n, part in enumerate(("query", "key", "value"))
            }
        else:
            renamed = {
                "q_bias": "query_proj.bias",
                "v_bias": "value_proj.bias",
                "pos_proj.weight": "pos_key_proj.weight",
                "pos_q_proj.weight": "pos_query_proj.weight",
                "pos_q_proj.bias": "pos_query_proj.bias",
            }
            split[f"{layer}self.{renamed[tensor]}" if tensor in renamed else name] = array
    return split


def run_program(*words):
    done = subprocess.run([BINARY, *words], capture_output=True, text=True, env=clean_environment())
    assert done.returncode == 0, done.stderr


def engine_values(folder, batch):
    write_safetensors(folder / "in.safetensors", {name: array for name, array in batch.items() if name != "labels"})
    run_program("forward", "-q", "-m", folder, "--ids", folder / "in.safetensors", "-o", folder / "engine.safetensors")
    return read_safetensors(folder / "engine.safetensors")


def trainer_step(folder, batch):
    """(loss, gradients)"""
    write_safetensors(folder / "batches.safetensors", {"0." + name: array for name, array in batch.items()})
    run_program(
        "replay",
        "-q",
        "-m",
        folder,
        "--decoder-passes",
        "0",
        "--batches",
        folder / "batches.safetensors",
        "-o",
        folder / "trainer.safetensors",
    )
    tensors = read_safetensors(folder / "trainer.safetensors")
    return tensors["0.loss"].item(), {
        name.removeprefix("0.grad."): array for name, array in tensors.items() if name.startswith("0.grad.")
    }


def loss_of(logits, labels):
    """Mean cross-entropy where a label is given, in double."""
    rows, wanted = logits[labels >= 0].astype(numpy.float64), labels[labels >= 0]
    top = rows.max(-1, keepdims=True)
    return (numpy.log(numpy.exp(rows - top).sum(-1)) + top[:, 0] - rows[numpy.arange(len(wanted)), wanted]).mean()


def has_no_gradient(name, terms):
    """What shifts all keys of a query alike changes no probability: its gradient is 0, and rounding on both sides."""
    if name.endswith("key_proj.bias"):
        return "p2c" not in terms or name.endswith("pos_key_proj.bias")
    return name == "encoder.LayerNorm.bias" and terms == ["c2p"]


def gradient_errors(got, expected, terms):
    """{tensor: the largest difference, relative to the largest element}; of a bias without a gradient, to that of its
    weight."""
    errors = {}
    for name, array in expected.items():
        largest = numpy.abs(expected[name.replace(".bias", ".weight") if has_no_gradient(name, terms) else name]).max()
        error = numpy.abs(got[name] - array).max() if name in got else numpy.abs(array).max()
        errors[name] = error / largest if largest > 0 else error
    return errors


@pytest.mark.parametrize("variant", VARIANTS)
def test_trainer_engine_and_transformers_agree(tmp_path, variant):
    layout, settings, length = VARIANTS[variant]
    model = make_library_model(tmp_path, layout, settings)
    batch = make_batch(length, settings["type_vocab_size"] > 0)
    expected, loss, gradients = library_run(model, batch)
    got, real = engine_values(tmp_path, batch), batch["attention_mask"] == 1
    errors = {name: numpy.abs(got[name] - array)[real].max() for name, array in expected.items()}
    trained_loss, trained = trainer_step(tmp_path, batch)
    errors |= {
        "loss of the engine": abs(loss_of(got["logits"], batch["labels"]) - loss),
        "loss of the trainer": abs(trained_loss - loss),
    }
    assert {name: error for name, error in errors.items() if error > VALUES} == {}
    differences = gradient_errors(trained, gradients, settings["pos_att_type"])
    assert {name: error for name, error in differences.items() if error > GRADIENTS} == {}
    assert not set(trained) - set(gradients)
