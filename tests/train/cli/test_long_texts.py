"""`finetune` on texts that are longer than a sequence: in windows, or without their ends."""

import json
import re

import pytest

from conftest import WORDS
from models import make_model
from task_files import jsonl

LEARN = (
    "--learning-rate",
    "0.003",
    "--warmup-steps",
    "0",
    "--lr-scheduler-type",
    "constant",
    "--cls-dropout",
    "0",
    "--batch-size",
    "8",
    "--max-steps",
    "200",
    "--save-steps",
    "0",
)


@pytest.fixture(scope="module")
def base(tmp_path_factory):
    return make_model(
        tmp_path_factory.mktemp("base"),
        "lm",
        hidden_dropout_prob=0.0,
        attention_probs_dropout_prob=0.0,
        initializer_range=0.2,
    )


def dry(deberta, base, task, file, *words):
    done = deberta(
        "finetune", "--task", task, "-m", base, "--train-file", file, "-o", file.parent / "none", "--dry-run", *words
    )
    assert done.returncode == 0, done.stderr
    return dict(line.split("\t", 1) for line in done.stdout.splitlines())


def test_words_of_a_long_document_are_all_learned(deberta, base, tmp_path):
    """The only tag stands behind the first window."""
    filler, windows = ["house"] * 100, ("--max-tokens", "64", "--stride", "16")
    file, other = tmp_path / "train.txt", tmp_path / "dev.txt"
    document = "".join(f"{word} O\n" for word in filler) + "dog B-PER\n\n"
    file.write_text(document * 4 + "house O\n\n")
    other.write_text(document)
    found = dry(deberta, base, "ner", file, *windows)
    assert (
        found["texts in windows"] == "4"
        and found["sequences that lost their ends"] == "0"
        and int(found["samples"]) >= 9
    ), found
    cut = dry(deberta, base, "ner", file, "--max-tokens", "64", "--truncate", "right")
    assert cut["texts in windows"] == "0" and cut["sequences that lost their ends"] == "4" and cut["samples"] == "5"
    done = deberta(
        "finetune",
        "--task",
        "ner",
        "-m",
        base,
        "--train-file",
        file,
        "--validation-file",
        other,
        "-o",
        tmp_path / "out",
        *windows,
        *LEARN[:-4],
        "--max-steps",
        "60",
    )
    assert done.returncode == 0 and "4 texts were too long and are learned in windows" in done.stderr, done.stderr
    assert json.loads((tmp_path / "out/all_results.json").read_text())["eval_f1"] == 1


def test_a_class_is_learned_from_every_window_by_request(deberta, base, tmp_path):
    file, other = tmp_path / "train.jsonl", tmp_path / "dev.jsonl"
    long = lambda word, n: " ".join(["house"] * (70 + n) + [word] * 30)
    file.write_text(jsonl(*({"text": long(WORDS[n % 2], n), "label": "xy"[n % 2]} for n in range(8))))
    other.write_text(jsonl(*({"text": long(WORDS[n % 2], n), "label": "xy"[n % 2]} for n in range(8, 12))))
    assert dry(deberta, base, "classification", file, "--max-tokens", "64")["sequences that lost their ends"] == "8"
    found = dry(deberta, base, "classification", file, "--max-tokens", "64", "--truncate", "window", "--stride", "8")
    assert found["texts in windows"] == "8"
    assert int(found["samples"]) >= 16
    assert found["sequences that lost their ends"] == "0"
    done = deberta(
        "finetune",
        "--task",
        "classification",
        "-m",
        base,
        "--train-file",
        file,
        "--validation-file",
        other,
        "-o",
        tmp_path / "out",
        "--max-tokens",
        "64",
        "--truncate",
        "window",
        *LEARN,
    )
    assert done.returncode == 0, done.stderr
    results = json.loads((tmp_path / "out/all_results.json").read_text())
    scored = deberta(
        "eval",
        "--task",
        "classification",
        "-m",
        tmp_path / "out",
        other,
        "--truncate",
        "window",
        "-f",
        "json",
        "--bootstrap",
        "0",
    )
    assert json.loads(scored.stdout)["metrics"]["accuracy"] == results["eval_accuracy"]


@pytest.mark.parametrize(
    "task, choice, expected",
    [
        ("squad", "right", "auto or window, as contexts are learned in windows, for the task squad"),
        ("record", "right", "auto or window, as contexts are learned in windows, for the task record"),
        ("race", "window", "auto or right, as choices have no windows, for the task race"),
        ("copa", "window", "auto or right, as choices have no windows, for the task copa"),
    ],
)
def test_windows_that_a_task_does_not_have_are_refused(deberta, base, tmp_path, task, choice, expected):
    (tmp_path / "f.jsonl").write_text("{}\n")
    done = deberta(
        "finetune",
        "--task",
        task,
        "-m",
        base,
        "--train-file",
        tmp_path / "f.jsonl",
        "-o",
        tmp_path / "out",
        "--truncate",
        choice,
    )
    assert done.returncode == 2 and re.search(f"--truncate: expected {expected}", done.stderr), done.stderr


def test_an_overlap_without_room_is_refused(deberta, base, tmp_path):
    file = tmp_path / "train.jsonl"
    file.write_text(jsonl(*({"text": "house " * 100 + word, "label": "xy"[n % 2]} for n, word in enumerate(WORDS))))
    done = deberta(
        "finetune",
        "--task",
        "classification",
        "-m",
        base,
        "--train-file",
        file,
        "-o",
        tmp_path / "out",
        "--max-tokens",
        "32",
        "--truncate",
        "window",
        "--stride",
        "30",
    )
    assert (
        done.returncode == 2
        and "--stride: expected less than the 30 tokens of text that a window has room for, got 30" in done.stderr
    ), done.stderr
