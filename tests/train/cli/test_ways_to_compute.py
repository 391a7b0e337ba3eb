"""What changes how a step is computed and not what it is: layers computed again, scaled losses, parts that memory has
room for; averages of the weights; and the search for a learning rate."""

import json
import os
import pathlib
import resource
import shutil
import signal
import subprocess
import time

import numpy
import pytest

from conftest import BINARY, HANG_SECONDS, SMALL, log_of, weights_of
from models import make_model, read_safetensors
from task_files import jsonl

RTD = ["--objective", "rtd", "--embedding-sharing", "gdes"]
KINDS = {
    "mlm": [],
    "causal": ["--objective", "causal"],
    "decoupled": RTD,
    "joint": [*RTD, "--rtd-mode", "joint"],
    "finetune": [],
    "sift": ["--adversarial", "sift"],
}
FILES = {"decoupled": ["generator/model.safetensors", "discriminator/model.safetensors"]}
FILES["joint"] = FILES["decoupled"]


@pytest.fixture(scope="session")
def base(tmp_path_factory):
    return make_model(tmp_path_factory.mktemp("base"), "lm")


@pytest.fixture(scope="session")
def rows(tmp_path_factory):
    file = tmp_path_factory.mktemp("rows") / "rows.jsonl"
    words = "cat dog tree house rain wind sun moon".split()
    file.write_text(
        jsonl(
            *(
                {"text": " ".join(words[(n * k) % 8] for k in range(3 + n % 5)), "label": "good" if n % 2 else "bad"}
                for n in range(40)
            )
        )
    )
    return file


@pytest.fixture
def train(deberta, tokenizer, corpus, base, rows):
    """train(kind, output, words...) -> the finished process"""

    def run(kind, out, *words):
        steps = [] if "--max-steps" in words else ["--max-steps", "6"]
        if kind in ("finetune", "sift"):
            return deberta(
                "finetune",
                "--task",
                "classification",
                "-m",
                base,
                "--train-file",
                rows,
                "-o",
                out,
                "--batch-size",
                "8",
                "--learning-rate",
                "0.003",
                "--logging-steps",
                "2",
                *KINDS[kind],
                *steps,
                *words,
            )
        return deberta(
            "pretrain", "--tokenizer-name", tokenizer, "-o", out, *SMALL, *KINDS[kind], *steps, *words, corpus
        )

    return run


def models_of(folder, kind):
    return [(folder / name).read_bytes() for name in FILES.get(kind, ["model.safetensors"])]


def checked(done):
    assert done.returncode == 0, done.stderr
    return done


# ---- layers computed again, scaled losses


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("words", [["--gradient-checkpointing"], ["--loss-scale", "16384"]], ids=["recompute", "scale"])
def test_the_model_is_bit_for_bit_the_same(train, tmp_path, kind, words):
    checked(train(kind, tmp_path / "plain"))
    checked(train(kind, tmp_path / "other", *words))
    # two passes meet in the sums of a layer's gradients, in another order
    if kind == "sift" and "--gradient-checkpointing" in words:
        plain, other = (read_safetensors(tmp_path / name / "model.safetensors") for name in ("plain", "other"))
        assert all(numpy.abs(plain[name] - other[name]).max() < 1e-5 for name in plain)
        return
    assert models_of(tmp_path / "plain", kind) == models_of(tmp_path / "other", kind)
    assert log_of(tmp_path / "plain") == [
        {k: v for k, v in line.items() if "loss_scale" not in k} for line in log_of(tmp_path / "other")
    ]


def test_a_run_may_go_on_with_layers_computed_again(train, tmp_path):
    checked(train("mlm", tmp_path / "whole"))
    checked(train("mlm", tmp_path / "out", "--save-steps", "2", "--save-total-limit", "9"))
    for step in "000004", "000006":
        shutil.rmtree(tmp_path / f"out/checkpoint-{step}")
    checked(train("mlm", tmp_path / "out", "--gradient-checkpointing", "--resume-override", "gradient-checkpointing"))
    assert weights_of(tmp_path / "out") == weights_of(tmp_path / "whole")


@pytest.mark.parametrize("kind", ["mlm", "decoupled", "joint", "finetune"])
def test_scales_and_averages_go_on_with_the_same_bits(train, tmp_path, kind):
    words = ["--loss-scale", "64", "--ema-decay", "0.9", "--save-steps", "2", "--save-total-limit", "9"]
    checked(train(kind, tmp_path / "whole", *words))
    shutil.copytree(tmp_path / "whole", tmp_path / "out")
    for step in "000004", "000006":
        shutil.rmtree(tmp_path / f"out/checkpoint-{step}")
    checked(train(kind, tmp_path / "out", *words))
    assert models_of(tmp_path / "out", kind) == models_of(tmp_path / "whole", kind)
    assert log_of(tmp_path / "out") == log_of(tmp_path / "whole")
    saved = [
        read_safetensors(tmp_path / name / "checkpoint-000006/trainer/optim.safetensors") for name in ("out", "whole")
    ]
    assert all(numpy.array_equal(saved[0][name], saved[1][name]) for name in saved[1])
    scales = [value for name, value in saved[1].items() if name.endswith("loss_scale")]
    assert scales and all(list(value) == [64, 6] for value in scales), "the scale, and the clean steps since it changed"


def test_the_log_shows_the_scale(train, tmp_path):
    checked(train("mlm", tmp_path / "mlm", "--loss-scale", "64"))
    assert {line["loss_scale"] for line in log_of(tmp_path / "mlm") if "loss" in line} == {64}
    checked(train("decoupled", tmp_path / "pair", "--loss-scale", "64"))
    line = next(line for line in log_of(tmp_path / "pair") if "loss" in line)
    assert line["generator_loss_scale"] == line["discriminator_loss_scale"] == 64


# ---- averages


def test_the_result_and_its_evaluations_are_of_the_averages(train, deberta, corpus, tmp_path):
    """Each step's average from the weights of the checkpoints."""
    checked(train("mlm", tmp_path / "out", "--ema-decay", "0.5", "--save-steps", "1", "--save-total-limit", "9"))
    checked(train("mlm", tmp_path / "plain", "--save-steps", "1", "--save-total-limit", "9"))
    weights = [read_safetensors(tmp_path / f"out/checkpoint-{step:06}/model.safetensors") for step in range(1, 7)]
    plain = read_safetensors(tmp_path / "plain/model.safetensors")
    for name, first in plain.items():
        assert numpy.array_equal(weights[-1][name], first), "training itself is the same"
    average = read_safetensors(tmp_path / "out/checkpoint-000001/trainer/optim.safetensors")
    result = read_safetensors(tmp_path / "out/model.safetensors")
    for name, mean in [
        (name, average[f"average.{name}"].astype(numpy.float64)) for name in plain if f"average.{name}" in average
    ]:
        for step in range(2, 7):
            decay = min(0.5, (1 + step) / (10 + step))
            mean = decay * mean + (1 - decay) * weights[step - 1][name]
        assert numpy.abs(result[name] - mean).max() < 1e-6, name
        assert not numpy.array_equal(result[name], weights[-1][name]), name
    told = json.loads((tmp_path / "out/all_results.json").read_text())
    scored = checked(
        deberta(
            "eval",
            "--task",
            "mlm",
            "--hold-out-every",
            "10",
            "-m",
            tmp_path / "out",
            "-f",
            "json",
            "--bootstrap",
            "0",
            corpus,
        )
    )
    assert told["eval_accuracy"] == json.loads(scored.stdout)["metrics"]["accuracy"]


# ---- the search for a learning rate


@pytest.mark.parametrize("kind", ["mlm", "decoupled", "finetune"])
def test_a_search_for_a_rate_shows_losses_and_leaves_nothing(train, tmp_path, kind):
    done = checked(train(kind, tmp_path / "out", "--find-lr", "--max-steps", "40"))
    lines = [line.split("\t") for line in done.stdout.splitlines()]
    assert [line[0] for line in lines[:3]] == ["steepest fall", "lowest loss", "rate"]
    rates = [float(line[0]) for line in lines[3:]]
    assert rates[0] == 1e-8 and len(rates) > 10 and rates == sorted(rates)
    assert 1e-8 <= float(lines[0][1]) <= float(lines[1][1]) <= 1
    assert not (tmp_path / "out").exists()


# ---- the largest batch that memory has room for


@pytest.mark.parametrize("kind", ["mlm", "joint", "finetune"])
def test_a_step_is_computed_whole_where_memory_has_room(train, tmp_path, kind):
    done = checked(train(kind, tmp_path / "out", "--auto-find-batch-size"))
    assert "a step is computed in 1 part" in done.stderr
    checked(train(kind, tmp_path / "plain"))
    assert models_of(tmp_path / "out", kind) == models_of(tmp_path / "plain", kind)


def limited(words, environment, megabytes):
    limit = megabytes * 1000000
    return subprocess.run(
        [BINARY, *map(str, words)],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        env=environment,
        timeout=HANG_SECONDS,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_DATA, (limit, limit)),
    )


def words_of_a_large_step(tokenizer):
    """A step of 32 times 512 tokens."""
    return [
        "pretrain",
        "--tokenizer-name",
        tokenizer,
        "--config-overrides",
        "num_hidden_layers=2,hidden_size=32,num_attention_heads=2,intermediate_size=1024",
        "--batch-size",
        "32",
        "--max-tokens",
        "512",
        "--hold-out-every",
        "0",
        "--threads",
        "1",
        "--logging-steps",
        "1",
        "--max-steps",
    ]


@pytest.mark.parametrize("megabytes", [180, 220, 250, 290])
def test_a_step_is_computed_in_parts_where_it_has_not_and_the_run_keeps_them(
    environment, tokenizer, corpus, tmp_path, megabytes
):
    """The search leaves nothing behind: the run has all of the memory."""
    words = words_of_a_large_step(tokenizer)
    whole = limited([*words, "1", "-o", tmp_path / "whole", corpus], environment, megabytes)
    assert whole.returncode == 1, whole.stderr
    assert "out of memory: a step needs more memory than there is" in whole.stderr, whole.stderr
    done = limited([*words, "1", "-o", tmp_path / "out", "--auto-find-batch-size", corpus], environment, megabytes)
    assert done.returncode == 0, done.stderr
    parts = int(done.stderr.split("a step is computed in ")[1].split()[0])
    assert 1 < parts <= 32 and 32 % parts == 0
    state = json.loads((tmp_path / "out/checkpoint-000001/trainer/state.json").read_text())
    assert state["options"]["gradient-accumulation-steps"] == str(parts)


def children_of(process):
    return pathlib.Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()


@pytest.mark.parametrize("whom", ["the search", "the run"])
def test_a_search_that_is_ended_leaves_no_run_and_no_process(environment, tokenizer, corpus, tmp_path, whom):
    words = [*words_of_a_large_step(tokenizer), "1", "-o", tmp_path / "out", "--auto-find-batch-size", corpus]
    process = subprocess.Popen(
        [BINARY, *map(str, words)], stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, env=environment
    )
    while not (children := children_of(process)):
        assert process.poll() is None
        time.sleep(0.01)
    os.kill(
        int(children[0]) if whom == "the search" else process.pid,
        signal.SIGKILL if whom == "the search" else signal.SIGTERM,
    )
    errors = process.communicate(timeout=HANG_SECONDS)[1]
    if whom == "the search":
        assert process.returncode == 1 and "its process was killed" in errors, errors
    else:
        assert process.returncode == 128 + signal.SIGTERM, errors
    assert not pathlib.Path(f"/proc/{children[0]}").exists() and not (tmp_path / "out").exists()
