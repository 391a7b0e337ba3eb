"""`finetune`: what a step computes, what it leaves alone, and runs that go on."""

import numpy
import pytest

from conftest import FAST, log_of, weights_of
from models import read_safetensors


def test_parts_of_a_step_are_the_whole_step(finetune, tmp_path):
    for name, parts in ("whole", "1"), ("parts", "4"):
        assert (
            finetune(
                tmp_path / name, "--batch-size", "32", "--gradient-accumulation-steps", parts, "--max-steps", "4", *FAST
            ).returncode
            == 0
        )
    whole, parts = log_of(tmp_path / "whole"), log_of(tmp_path / "parts")
    for a, b in zip(whole, parts, strict=True):
        assert a["loss"] == pytest.approx(b["loss"], rel=1e-6)
        assert a["grad_norm"] == pytest.approx(b["grad_norm"], rel=1e-5)


def test_threads_change_nothing(finetune, tmp_path):
    for threads in "1", "2", "3":
        assert finetune(tmp_path / threads, "--max-steps", "3", "--threads", threads).returncode == 0
    assert weights_of(tmp_path / "1") == weights_of(tmp_path / "2") == weights_of(tmp_path / "3")


def test_frozen_layers_stay_as_they_were(finetune, dropping_base, tmp_path):
    assert finetune(tmp_path / "out", "--max-steps", "3", "--frozen-layers", "1", *FAST).returncode == 0
    before, after = (read_safetensors(path / "model.safetensors") for path in (dropping_base, tmp_path / "out"))
    for name in after:
        is_head = name.startswith(("pooler", "classifier"))
        is_frozen = name.startswith(("deberta.embeddings", "deberta.encoder.layer.0."))
        if not is_head:
            assert numpy.array_equal(before[name], after[name]) == is_frozen, name


def test_new_layers_are_said_and_follow_the_seed(finetune, dropping_base, tmp_path):
    still = ["--max-steps", "1", "--learning-rate", "0", "--frozen-layers", "1", "--reinit-layers", "1"]
    dry = finetune(tmp_path / "dry", *still, "--dry-run")
    assert dry.returncode == 0 and "new layer\tencoder.layer.1\nnew tensor\tpooler.dense.weight\n" in dry.stdout
    weights = {}
    for name, seed in ("out", 1), ("again", 1), ("other", 2):
        done = finetune(tmp_path / name, *still, "--seed", seed)
        assert (
            done.returncode == 0 and "new, with random weights: encoder.layer.1 pooler.dense.weight" in done.stderr
        ), done.stderr
        weights[name] = read_safetensors(tmp_path / name / "model.safetensors")
    before = read_safetensors(dropping_base / "model.safetensors")
    for name, array in weights["out"].items():
        if name in before:
            assert numpy.array_equal(before[name], array) == (not name.startswith("deberta.encoder.layer.1.")), name
        assert numpy.array_equal(array, weights["again"][name])
    query = "deberta.encoder.layer.1.attention.self.query_proj.weight"
    assert abs(weights["out"][query].std() / 0.02 - 1) < 0.2
    assert not numpy.array_equal(weights["out"][query], weights["other"][query])


def test_rates_and_new_layers_are_those_of_the_run_so_far(finetune, tmp_path):
    words = ["--layer-decay", "0.9", "--head-learning-rate", "0.01", "--reinit-layers", "1"]
    more = ["--max-steps", "4", "--resume-override", "max-steps"]
    assert finetune(tmp_path / "out", "--max-steps", "2", *words).returncode == 0
    for name, value in zip(words[::2], ("0.8", "0.02", "0")):
        changed = [value if before == name else word for before, word in zip(["", *words], words)]
        done = finetune(tmp_path / "out", *more, *changed)
        assert done.returncode == 2 and f"{name[2:]}: expected " in done.stderr and f"got {value}" in done.stderr, (
            done.stderr
        )
    assert finetune(tmp_path / "out", *more, *words).returncode == 0
    done = finetune(
        tmp_path / "out",
        "--max-steps",
        "6",
        "--resume-override",
        "max-steps,layer-decay",
        "--layer-decay",
        "0.8",
        *words[2:],
    )
    assert done.returncode == 0 and "continuing from" in done.stderr, done.stderr


def test_the_search_for_a_rate_moves_layers_and_head_in_proportion(finetune, tmp_path):
    found = {}
    for name, words in {
        "plain": [],
        "decay": ["--layer-decay", "0.5"],
        "head": ["--learning-rate", "0.001", "--head-learning-rate", "0.01"],
        "twice": ["--learning-rate", "0.002", "--head-learning-rate", "0.02"],
    }.items():
        done = finetune(tmp_path / name, "--find-lr", "--max-steps", "40", *words)
        assert done.returncode == 0, done.stderr
        found[name] = done.stdout
    assert found["head"] == found["twice"] and len({found[name] for name in ("plain", "decay", "head")}) == 3


def test_a_run_that_goes_on_ends_in_the_same_bits(finetune, deberta, tmp_path, dev_rows):
    words = [
        "--validation-file",
        dev_rows,
        "--batch-size",
        "8",
        "--gradient-accumulation-steps",
        "2",
        "--learning-rate",
        "0.01",
        "--lr-scheduler-type",
        "constant",
        "--warmup-steps",
        "0",
    ]
    goes_on = ["--resume-override", "max-steps"]
    for steps in "4", "9", "15":  # within an epoch, after the next one's begin, at the end
        done = finetune(tmp_path / "parts", "--max-steps", steps, *goes_on, *words)
        assert done.returncode == 0, done.stderr
    assert finetune(tmp_path / "constant", "--max-steps", "15", *words).returncode == 0
    last = "checkpoint-000015"
    assert weights_of(tmp_path / "parts" / last) == weights_of(tmp_path / "constant" / last)
    losses = [[line for line in log_of(tmp_path / name) if "loss" in line] for name in ("parts", "constant")]
    assert losses[0] == losses[1]
    shorter = finetune(tmp_path / "parts", "--max-steps", "3", *goes_on, *words)
    assert shorter.returncode == 0 and "15 of 3 steps" in shorter.stderr  # nothing is left to do


ADVERSARIAL = {
    "sift": ["--adversarial", "sift", "--vat-lambda", "3"],
    "vat": ["--adversarial", "vat", "--vat-loss-fn", "kl"],
    "original": ["--adversarial", "sift", "--sift-compat", "original"],
}


@pytest.mark.parametrize("kind", ADVERSARIAL)
def test_adversarial_runs_go_on_with_the_same_bits(finetune, tmp_path, kind):
    words = [*ADVERSARIAL[kind], "--batch-size", "8", "--gradient-accumulation-steps", "2", *FAST]
    assert finetune(tmp_path / "whole", "--max-steps", "4", *words).returncode == 0
    assert finetune(tmp_path / "parts", "--max-steps", "2", *words).returncode == 0
    done = finetune(tmp_path / "parts", "--max-steps", "4", "--resume-override", "max-steps", *words)
    assert done.returncode == 0, done.stderr
    assert weights_of(tmp_path / "whole") == weights_of(tmp_path / "parts")
    lines = log_of(tmp_path / "parts")
    assert lines == log_of(tmp_path / "whole")
    weight = 3 if kind == "sift" else 5
    for line in lines:
        assert line["loss"] == pytest.approx(line["task_loss"] + weight * line["adversarial_loss"], rel=1e-5)
        assert line["adversarial_loss"] > 0


def test_without_weight_the_adversarial_loss_changes_nothing(finetune, tmp_path):
    assert finetune(tmp_path / "plain", "--max-steps", "3", *FAST).returncode == 0
    assert (
        finetune(tmp_path / "none", "--max-steps", "3", "--adversarial", "sift", "--vat-lambda", "0", *FAST).returncode
        == 0
    )
    assert weights_of(tmp_path / "plain") == weights_of(tmp_path / "none")


def test_class_weights_and_smoothing_change_the_loss(finetune, tmp_path):
    losses = {}
    for name, words in {
        "plain": [],
        "weights": ["--class-weights", "1,3"],
        "balanced": ["--class-weights", "balanced"],
        "smooth": ["--label-smoothing-factor", "0.2"],
    }.items():
        done = finetune(tmp_path / name, "--max-steps", "1", *words)
        assert done.returncode == 0, done.stderr
        losses[name] = log_of(tmp_path / name)[0]["loss"]
    assert losses["plain"] == losses["balanced"]  # there are as many of each class
    assert len({losses["plain"], losses["weights"], losses["smooth"]}) == 3


@pytest.mark.parametrize(
    "words, message",
    [
        (["--batch-size", "8", "--gradient-accumulation-steps", "3"], "--gradient-accumulation-steps"),
        (["--class-weights", "1,2,3"], "expected 2 weights, one for each class, got 3"),
        (["--class-weights", "1,x"], 'expected numbers above 0 or balanced, got "x"'),
        (["--early-stopping-patience", "2"], "--validation-file"),
        (["--frozen-layers", "3"], "frozen layers: expected 0 to 2, got 3"),
        (["--num-train-epochs", "0"], "expected a run of 1 to 16777215 steps"),
        (["--layer-decay", "0"], "--layer-decay: expected a number above 0 and at most 1, got 0"),
        (["--layer-decay", "1.1"], "--layer-decay: expected a value in 0..1, got"),
        (["--head-learning-rate", "0"], "--head-learning-rate: expected a number above 0, got 0"),
        (
            ["--head-learning-rate", ".01", "--learning-rate", "0"],
            "--learning-rate: expected a number above 0 beside a rate of the head's own, got 0",
        ),
        (["--reinit-layers", "3"], "--reinit-layers: expected at most 2, the layers that there are, got 3"),
        (
            ["--reinit-layers", "2", "--frozen-layers", "1"],
            "--reinit-layers: expected at most 1, the layers that are not frozen, got 2",
        ),
    ],
)
def test_wrong_options_are_refused(finetune, tmp_path, words, message):
    done = finetune(tmp_path / "out", *words)
    assert done.returncode in (1, 2) and message in done.stderr, done.stderr
    assert not (tmp_path / "out/config.json").exists()
