"""Losses, gradients and steps of `deberta replay`, and logits of the engine, against transformers 4.57 on random models that transformers
itself saves. transformers has no mask decoder (docs/transformers.md), so its head reads the last layer: --decoder-passes 0 here, --compat hf
in the engine."""
import os
import subprocess

import numpy
import pytest
import torch
from oracle_runs import BINARY
from test_transformers import SMALL, V3, VARIANTS, make_transformers_model, ours

from models import read_safetensors, write_safetensors  # of tests/cli, which test_transformers adds to the path

pytestmark = pytest.mark.skipif(not BINARY.with_name("deberta-train").exists(), reason="built without the training half")

VALUES = 5e-5     # absolute, losses and logits, fp32 on both sides
GRADIENTS = 1e-4  # of the largest element of the tensor
ROUNDING = 1e-6   # of the largest gradient of the model, where the exact one is 0
WEIGHTS = 2e-6    # absolute, after a step of RATE
RATE = 1e-3
CASES = VARIANTS | {
    "buckets of 4 for 9": ("v2", V3 | {"position_buckets": 4, "max_relative_positions": 9}),
    "buckets of 8 for 16": ("v2", V3 | {"position_buckets": 8, "max_relative_positions": 16}),
    "buckets of 256 for 512": ("v2", V3 | {"position_buckets": 256, "max_position_embeddings": 512}),
    "own projections, content to position alone": ("v2", V3 | {"share_att_key": False, "pos_att_type": ["c2p"]}),
    "own projections, position to content alone": ("v2", V3 | {"share_att_key": False, "pos_att_type": ["p2c"]}),
    "not relative": ("v2", V3 | {"relative_attention": False, "pos_att_type": [], "norm_rel_ebd": "none", "position_biased_input": True}),
    "absolute positions too": ("v2", V3 | {"position_biased_input": True}),
    "four heads, wide inner layer": ("v2", V3 | {"num_attention_heads": 4, "intermediate_size": 72}),
    "convolution, holes": ("v2", V3 | {"conv_kernel_size": 3, "conv_act": "tanh"}),
    "v1, position to content alone": ("v1", SMALL | {"pos_att_type": ["p2c"]}),
}
HEADS = {"cls.predictions.transform.": "lm_predictions.lm_head.", "cls.predictions.": "lm_predictions.lm_head."}


def make_batch(length, rows=3, seed=1):
    """Padding, a hole and a masked first token; a quarter of the real tokens are predicted."""
    random = numpy.random.default_rng(seed)
    batch = {"input_ids": random.integers(1, 50, (rows, length)), "attention_mask": numpy.ones((rows, length), numpy.int64)}
    batch["attention_mask"][0, length * 2 // 3:] = 0
    batch["attention_mask"][1, [0, length // 2]] = 0
    is_predicted = (random.random((rows, length)) < 0.25) & (batch["attention_mask"] == 1)
    is_predicted[2, 3] = True
    batch["labels"] = numpy.where(is_predicted, random.integers(1, 50, (rows, length)), -100)
    return batch


def replay(folder, batch, *words):
    write_safetensors(folder / "batches.safetensors", {f"0.{name}": array for name, array in batch.items()})
    done = subprocess.run([BINARY, "replay", "-m", folder, "--batches", folder / "batches.safetensors", "-o", folder / "replay.safetensors", "--decoder-passes", "0",
                           *words], capture_output=True, text=True, env={k: v for k, v in os.environ.items() if not k.startswith("DEBERTA_")})
    assert done.returncode == 0, done.stderr
    return {name.removeprefix("0."): array for name, array in read_safetensors(folder / "replay.safetensors").items()}


def our_name(name):
    for theirs, canonical in HEADS.items():
        name = name.replace(theirs, canonical)
    return name.removeprefix("deberta.")


def split_names(name, array, heads):
    """{our name: values}: version 1 holds query, key and value of each head in turn in one matrix, and query and value biases apart."""
    part = name.rpartition("attention.self.")
    renamed = {"q_bias": "query_proj.bias", "v_bias": "value_proj.bias", "pos_proj.weight": "pos_key_proj.weight",
               "pos_q_proj.weight": "pos_query_proj.weight", "pos_q_proj.bias": "pos_query_proj.bias"}
    if part[1] and part[2] == "in_proj.weight":
        rows = array.reshape(heads, 3, -1, array.shape[1])
        return {our_name(part[0] + part[1]) + kind + ".weight": rows[:, n].reshape(-1, array.shape[1]) for n, kind in enumerate(("query_proj", "key_proj", "value_proj"))}
    if part[1] and part[2] in renamed:
        return {our_name(part[0] + part[1]) + renamed[part[2]]: array}
    return {our_name(name): array}


def by_our_names(model, values_of):
    """values_of(parameter) of every parameter that it has values for."""
    found = {}
    for name, parameter in model.named_parameters():
        values = values_of(parameter)
        if values is not None:
            found |= split_names(name, values.detach().numpy(), model.config.num_attention_heads)
    return found


def make_case(tmp_path, variant, length=None):
    layout, settings = CASES[variant]
    model = make_transformers_model(tmp_path, layout, settings, "ForMaskedLM")
    batch = make_batch(length or min(21, settings.get("max_relative_positions", 21)))
    out = model(**{name: torch.from_numpy(array) for name, array in batch.items()})
    out.loss.backward()
    return model, batch, out


def is_zero(name, config):
    """Of gradients: a bias that adds the same to the scores of every key of a query changes no probability. What is left there is rounding."""
    has_p2c = config.relative_attention and "p2c" in (config.pos_att_type or [])
    return name.endswith("pos_key_proj.bias") or (not has_p2c and name.endswith(("self.key_proj.bias", "encoder.LayerNorm.bias")))


@pytest.mark.parametrize("variant", CASES)
def test_loss_logits_and_every_gradient_equal_transformers(tmp_path, record_property, variant):
    model, batch, out = make_case(tmp_path, variant)
    got = replay(tmp_path, batch)
    assert abs(got["loss"][0] - out.loss.item()) < VALUES
    write_safetensors(tmp_path / "in.safetensors", {name: array for name, array in batch.items() if name != "labels"})
    real = batch["attention_mask"] == 1
    error = numpy.abs(ours(tmp_path, "--compat", "hf")["logits"] - out.logits.detach().numpy())[real].max()
    assert error < VALUES
    expected = by_our_names(model, lambda parameter: parameter.grad)
    gradients = {name.removeprefix("grad."): array for name, array in got.items() if name.startswith("grad.")}
    unknown = expected.keys() - gradients.keys()
    assert not [name for name in unknown if expected[name].any()], unknown
    for name in gradients.keys() - expected.keys():
        assert not gradients[name].any(), name
    largest = max(numpy.abs(array).max() for array in expected.values())
    errors = {}
    for name in gradients.keys() & expected.keys():
        mine, given = gradients[name], expected[name]
        if is_zero(name, model.config) or not given.any():
            assert max(numpy.abs(mine).max(), numpy.abs(given).max()) < ROUNDING * largest, name
        else:
            errors[name] = numpy.abs(mine - given).max() / numpy.abs(given).max()
    assert len(errors) > 20
    worst = max(errors, key=errors.get)
    for key, figure in (("logits", error), ("gradient", errors[worst]), ("of", worst)):
        record_property(key, str(figure))
    assert errors[worst] < GRADIENTS, (worst, errors[worst])


# Beyond the table transformers does not clamp (docs/transformers.md): the trainer follows the original, as the engine does without --compat hf.
def test_far_distances_are_those_of_the_original(tmp_path):
    _, batch, out = make_case(tmp_path, "buckets of 8 for 16", length=40)
    loss = replay(tmp_path, batch)["loss"][0]
    write_safetensors(tmp_path / "in.safetensors", {name: array for name, array in batch.items() if name != "labels"})
    logits, labels = (torch.from_numpy(numpy.array(array)) for array in (ours(tmp_path)["logits"], batch["labels"]))
    assert abs(loss - torch.nn.functional.cross_entropy(logits.view(-1, 50), labels.view(-1)).item()) < VALUES
    assert abs(loss - out.loss.item()) > 1e-3


@pytest.mark.parametrize("max_norm", [0, 0.05])
def test_a_step_of_adamw_equals_that_of_torch(tmp_path, max_norm):
    model, batch, _ = make_case(tmp_path, "v3")
    if max_norm:
        torch.nn.utils.clip_grad_norm_(model.parameters(), max_norm)
    decays = [parameter for parameter in model.parameters() if parameter.dim() > 1]
    others = [parameter for parameter in model.parameters() if parameter.dim() == 1]
    groups = [{"params": decays, "weight_decay": 0.1}, {"params": others, "weight_decay": 0.0}]
    torch.optim.AdamW(groups, lr=RATE, betas=(0.9, 0.98), eps=1e-4).step()
    got = replay(tmp_path, batch, "--optimizer", "adamw", "--learning-rate", str(RATE), "--weight-decay", "0.1", "--adam-beta2", "0.98", "--adam-epsilon", "1e-4",
                 "--max-grad-norm", str(max_norm))
    expected = by_our_names(model, lambda parameter: parameter)
    weights = {name.removeprefix("weight."): array for name, array in got.items() if name.startswith("weight.")}
    assert len(weights.keys() & expected.keys()) > 40
    for name in weights.keys() & expected.keys():
        assert numpy.abs(weights[name] - expected[name]).max() < WEIGHTS, name
