"""`pretrain -m` and `finetune -m`: what is read of the model to begin with, and what a run says of it."""

import json
import shutil

import numpy
import pytest

from conftest import left_by
from conversion_models import write_bin
from models import TOKENS, make_model, read_safetensors, write_safetensors

NEVER = [
    "--learning-rate",
    "0",
    "--max-steps",
    "1",
    "--batch-size",
    "4",
    "--max-tokens",
    "32",
    "--eval-lines",
    "10",
    "--objective",
    "mlm",
]
PLAIN = "words are predicted by the plain head on the last layer, without the mask decoder: "


@pytest.fixture(scope="module")
def plain(tmp_path_factory):
    """A language model without a table of positions."""
    return make_model(tmp_path_factory.mktemp("plain"), "lm")


def add_positions(folder):
    tensors = read_safetensors(folder / "model.safetensors")
    table = numpy.random.default_rng(5).standard_normal((512, 16)).astype(numpy.float32)
    write_safetensors(folder / "model.safetensors", tensors | {"deberta.embeddings.position_embeddings.weight": table})


def tensors_of(folder):
    return {
        name.removeprefix("deberta."): array for name, array in read_safetensors(folder / "model.safetensors").items()
    }


def assert_same_tensors(made, base, without=()):
    wanted = {name: array for name, array in base.items() if not name.startswith(tuple(without))}
    assert sorted(made) == sorted(wanted) and all((made[name] == wanted[name]).all() for name in wanted)


def test_a_model_without_positions_is_trained_through_the_plain_head(deberta, plain, corpus, tmp_path):
    words = ["pretrain", "-m", plain, *NEVER, "-o", tmp_path / "out", corpus]
    done = deberta(*words)
    assert done.returncode == 0 and f"{PLAIN}{plain} has no position table" in done.stderr, done.stderr
    assert json.loads((tmp_path / "out/config.json").read_text())["mask_decoder_passes"] == 0
    assert_same_tensors(tensors_of(tmp_path / "out"), tensors_of(plain))
    result = json.loads((tmp_path / "out/all_results.json").read_text())
    scored = deberta("eval", "--task", "mlm", "--hold-out-every", "50", "-m", plain, "--format", "json", corpus)
    assert scored.returncode == 0 and json.loads(scored.stdout)["metrics"]["perplexity"] == pytest.approx(
        result["eval_perplexity"], rel=1e-5
    ), scored.stdout + scored.stderr
    again = deberta(*words)
    assert "continuing from" in again.stderr and PLAIN not in again.stderr, (
        "what a run begins with is told at its beginning"
    )
    dry = deberta(*words[:-3], "--dry-run", corpus)
    assert dry.returncode == 0 and f"note\t{PLAIN}" in dry.stdout, dry.stderr
    asked = deberta(*words[:-3], "--dry-run", "--decoder-passes", "0", corpus)
    assert asked.returncode == 0 and PLAIN not in asked.stdout, asked.stderr


@pytest.mark.parametrize(
    "settings, note",
    [
        ({}, None),
        ({"position_biased_input": True}, "position_biased_input is true"),
        ({"mask_decoder_passes": 0}, "mask_decoder_passes is 0"),
    ],
)
def test_which_head_predicts_is_that_of_the_model(deberta, corpus, tmp_path, settings, note):
    add_positions(make_model(tmp_path / "base", "lm", **settings))
    done = deberta("pretrain", "-m", tmp_path / "base", *NEVER, "--dry-run", corpus)
    assert done.returncode == 0 and (f"note\t{PLAIN}{note}\n" in done.stdout if note else PLAIN not in done.stdout), (
        done.stdout + done.stderr
    )


def test_a_generator_alone_is_a_language_model(deberta, plain, corpus, tmp_path):
    folder = tmp_path / "published"
    folder.mkdir()
    shutil.copy(plain / "config.json", folder / "generator_config.json")
    shutil.copy(plain / "spm.model", folder)
    (folder / "tokenizer_config.json").write_text("{}")
    write_bin(folder / "pytorch_model.generator.bin", read_safetensors(plain / "model.safetensors"))
    done = deberta("pretrain", "-m", folder, *NEVER, "-o", tmp_path / "out", corpus)
    assert done.returncode == 0 and f"{folder} has only a generator, which is the model to begin with" in done.stderr, (
        done.stderr
    )
    assert_same_tensors(tensors_of(tmp_path / "out"), tensors_of(plain))
    assert "pytorch_model.generator.bin" not in left_by(tmp_path / "out")
    done = deberta("pretrain", "-m", folder, "--objective", "rtd", "--max-steps", "1", "-o", tmp_path / "pair", corpus)
    assert done.returncode == 1 and "expected a DeBERTa model" in done.stderr, done.stderr


@pytest.mark.parametrize("is_published", [False, True])
def test_what_is_dropped_of_a_pair_is_told(deberta, plain, corpus, rows, tmp_path, is_published):
    folder = make_model(tmp_path / "pair/discriminator", "rtd")
    generator = folder / "pytorch_model.generator.bin" if is_published else folder / "../generator"
    if is_published:
        write_bin(generator, read_safetensors(plain / "model.safetensors"))
    else:
        shutil.copytree(plain, tmp_path / "pair/generator")
    dropped = (
        f"{folder} is a discriminator: its head (mask_predictions) is dropped, and its generator, {generator}, is not "
        "used"
    )
    done = deberta("pretrain", "-m", folder, *NEVER, "-o", tmp_path / "out", corpus)
    assert (
        done.returncode == 0
        and dropped in done.stderr
        and f"{folder} has no language-model head: a new one with random weights is trained" in done.stderr
    ), done.stderr
    made = {
        name: array for name, array in tensors_of(tmp_path / "out").items() if not name.startswith("lm_predictions")
    }
    assert_same_tensors(made, tensors_of(folder), without=["mask_predictions"])
    words = [
        "finetune",
        "--task",
        "classification",
        "-m",
        folder,
        "--train-file",
        rows,
        "--max-steps",
        "1",
        "-o",
        tmp_path / "tuned",
    ]
    done = deberta(*words)
    assert done.returncode == 0 and done.stderr.count(dropped) == 1 and "new, with random weights: " in done.stderr, (
        done.stderr
    )
    again = deberta(*words)
    assert (
        again.returncode == 0
        and "continuing from" in again.stderr
        and dropped not in again.stderr
        and "new, with random weights" not in again.stderr
    ), again.stderr
    assert f"note\t{dropped}\n" in deberta(*words, "--dry-run").stdout


def test_a_model_of_classes_gets_a_new_head(deberta, corpus, tmp_path):
    base = make_model(tmp_path / "base", "sequence")
    done = deberta("pretrain", "-m", base, *NEVER, "-o", tmp_path / "out", corpus)
    assert (
        done.returncode == 0
        and "discriminator" not in done.stderr
        and f"{base} has no language-model head: a new one with random weights is trained" in done.stderr
    ), done.stderr
    assert len(tensors_of(tmp_path / "out")["lm_predictions.lm_head.bias"]) == TOKENS
