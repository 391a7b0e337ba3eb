"""Steps whose loss is not finite in the middle of a run: the row of embeddings of one piece is NaN, and only some
training rows have that piece.

A step is one row. Each row has a length of its own, so that the log of tokens tells which step reads which row."""

import itertools
import json
import shutil

import numpy
import pytest

from conftest import log_of, weights_of
from models import make_model, read_safetensors, write_safetensors
from task_files import jsonl

GOOD, BAD, BAD_PIECE = "q", "9", 505  # two pieces each, the first of them common
ROWS = 12
TABLE = "deberta.embeddings.word_embeddings.weight"
WORDS = [
    "finetune",
    "--task",
    "classification",
    "--batch-size",
    "1",
    "--num-train-epochs",
    "1",
    "--save-steps",
    "1",
    "--save-total-limit",
    "99",
    "--logging-steps",
    "1",
    "--learning-rate",
    "0.001",
    "--warmup-steps",
    "0",
]


@pytest.fixture
def base(tmp_path):
    folder = make_model(tmp_path / "base", "lm")
    tensors = {name: array.copy() for name, array in read_safetensors(folder / "model.safetensors").items()}
    tensors[TABLE][BAD_PIECE] = numpy.nan
    write_safetensors(folder / "model.safetensors", tensors)
    return folder


@pytest.fixture
def train(deberta, base, tmp_path):
    """train(output, bad) -> the finished process; `bad`: rows that have the piece."""

    def run(output, bad=()):
        rows = tmp_path / "rows.jsonl"
        rows.write_text(
            jsonl(
                *(
                    {"text": " ".join([BAD if n in bad else GOOD] + [GOOD] * n), "label": "good" if n % 3 else "bad"}
                    for n in range(ROWS)
                )
            )
        )
        return deberta(*WORDS, "-m", base, "--train-file", rows, "-o", output)

    return run


@pytest.fixture
def rows_of_steps(train, tmp_path):
    """The row that each step reads."""
    done = train(tmp_path / "good")
    assert done.returncode == 0 and log_of(tmp_path / "good")[-1]["skipped_steps"] == 0, done.stderr
    tokens = [0, *(line["tokens"] for line in log_of(tmp_path / "good"))]
    order = [(after - before - 4) // 2 for before, after in itertools.pairwise(tokens)]
    assert sorted(order) == list(range(ROWS))
    return order


def events_of(folder, kind):
    return [
        event["step"]
        for event in map(json.loads, (folder / "events.jsonl").read_text().splitlines())
        if event["kind"] == kind
    ]


def saved(folder, step, name="model.safetensors"):
    return (folder / f"checkpoint-{step:06}" / name).read_bytes()


def test_a_step_among_good_ones_is_left_out_and_the_run_goes_on(train, rows_of_steps, tmp_path):
    out, bad = tmp_path / "out", 5
    done = train(out, [rows_of_steps[bad - 1]])
    assert done.returncode == 0, done.stderr
    assert events_of(out, "skipped step") == [bad - 1]
    log = log_of(out)
    assert [line["skipped_steps"] for line in log] == [0] * (bad - 1) + [1] * (ROWS - bad + 1)
    assert [line["step"] for line in log if line["loss"] == "NaN"] == [bad]
    for step in range(1, bad):
        assert saved(out, step) == saved(tmp_path / "good", step)
    for name in ("model.safetensors", "trainer/optim.safetensors"):
        assert saved(out, bad, name) == saved(out, bad - 1, name) != saved(out, bad + 1, name)
    result = read_safetensors(out / "model.safetensors")
    finite = {name: numpy.isfinite(array) for name, array in result.items()}
    finite[TABLE] = numpy.delete(finite[TABLE], BAD_PIECE, axis=0)
    assert all(array.all() for array in finite.values())
    again = tmp_path / "again"
    shutil.copytree(out, again)
    for step in range(bad + 1, ROWS + 1):
        shutil.rmtree(again / f"checkpoint-{step:06}")
    assert train(again, [rows_of_steps[bad - 1]]).returncode == 0
    assert weights_of(again) == weights_of(out) and log_of(again) == log


def test_five_in_a_row_end_the_run_with_the_weights_of_before(train, rows_of_steps, tmp_path):
    out = tmp_path / "out"
    bad = [rows_of_steps[step] for step in (1, 3, 4, 5, 6, 7)]  # the first of them alone
    done = train(out, bad)
    assert done.returncode == 1, done.stderr
    assert "step 7: the loss or its gradient was not finite in 5 steps in a row" in done.stderr, done.stderr
    assert f"the last good checkpoint is {out}/checkpoint-000007" in done.stderr, done.stderr
    assert events_of(out, "skipped step") == [1, 3, 4, 5, 6, 7] and events_of(out, "diverged") == [8]
    assert saved(out, 7) == saved(out, 3) != saved(out, 2)
    assert not (out / "model.safetensors").exists()
    done = train(out, bad)  # the count goes on where it was
    assert done.returncode == 1 and "step 7: " in done.stderr, done.stderr
