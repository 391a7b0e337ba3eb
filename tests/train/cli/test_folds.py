"""`finetune --fold`: runs that together answer every row by a model that was not trained on it."""

import json
import re

import pytest

from conftest import WORDS
from models import make_model
from task_files import jsonl

ROWS = 40


@pytest.fixture(scope="module")
def base(tmp_path_factory):
    return make_model(tmp_path_factory.mktemp("base"), "lm")


@pytest.fixture
def rows(tmp_path):
    file = tmp_path / "train.jsonl"
    file.write_text(
        jsonl(
            *(
                {"text": f"a {WORDS[n % 16]} {n} .", "label": "y" if n % 4 == 0 else "x", "who": f"p{n * 7 % 10}"}
                for n in range(ROWS)
            )
        )
    )
    return file


def finetune(deberta, base, rows, out, *words):
    return deberta(
        "finetune", "--task", "classification", "-m", base, "--train-file", rows, "-o", out, "--max-steps", "2", *words
    )


def held_out(folder):
    return [json.loads(line) for line in (folder / "eval_predictions.jsonl").read_text().splitlines()]


def test_every_row_is_held_out_once_and_the_last_fold_joins_them(deberta, base, rows, tmp_path):
    out, seen = tmp_path / "out", []
    for number in (3, 1, 4, 2):
        done = finetune(deberta, base, rows, out, "--fold", f"{number}/4")
        assert done.returncode == 0, done.stderr
        part = held_out(out / f"fold-{number}-of-4")
        assert len(part) == 10 and sum(row["gold"] == "y" for row in part) in (2, 3), "stratified"
        seen += part
        left = {3: 3, 1: 2, 4: 1, 2: 0}[number]
        assert (f"out: {4 - left} of 4" if left else "all folds are finished") in done.stderr, done.stderr
        assert (out / "out_of_fold.jsonl").exists() == (left == 0)
    joined = [json.loads(line) for line in (out / "out_of_fold.jsonl").read_text().splitlines()]
    assert [int(row["where"].rpartition(":")[2]) for row in joined] == list(range(1, ROWS + 1))
    assert sorted(map(json.dumps, joined)) == sorted(map(json.dumps, seen))
    results = json.loads((out / "all_results.json").read_text())
    by_fold = [
        json.loads((out / f"fold-{number}-of-4/all_results.json").read_text())["eval_accuracy"]
        for number in (1, 2, 3, 4)
    ]
    assert results["folds"] == 4
    assert results["eval_accuracy_by_fold"] == by_fold
    assert results["eval_accuracy"] == pytest.approx(sum(by_fold) / 4)
    mean = sum(by_fold) / 4
    assert results["eval_accuracy_std"] == pytest.approx((sum((one - mean) ** 2 for one in by_fold) / 3) ** 0.5)


@pytest.mark.parametrize("words", [("--fold", "1/4"), ("--validation-split", "0.25")])
def test_rows_of_a_group_stay_on_one_side(deberta, base, rows, tmp_path, words):
    done = finetune(deberta, base, rows, tmp_path / "out", *words, "--group-field", "who")
    assert done.returncode == 0, done.stderr
    folder = tmp_path / "out" / ("fold-1-of-4" if words[0] == "--fold" else "")
    groups = {int(row["where"].rpartition(":")[2]) for row in held_out(folder)}
    who = {n * 7 % 10 for n in range(ROWS) if n + 1 in groups}
    assert groups and len(who) < 10 and groups == {n + 1 for n in range(ROWS) if n * 7 % 10 in who}


@pytest.mark.parametrize(
    "words, message",
    [
        (("--fold", "5/4"), "--fold: expected K/N, fold K of 2 to 100, as 1/5, got 5/4"),
        (("--fold", "0/4"), "--fold: expected K/N"),
        (("--fold", "1"), "--fold: expected K/N"),
        (("--fold", "1/1"), "--fold: expected K/N"),
        (("--fold", "1/4", "--validation-split", "0.1"), "--fold: expected this or --validation-split, got both"),
        (("--fold", "1/4", "--validation-file", "x"), "--fold: expected this or --validation-file, got both"),
        (("--group-field", "who"), "--group-field: expected --validation-split or --fold as well"),
        (
            ("--fold", "1/4", "--group-field", "whom"),
            (
                "expected a field named whom in this row or another, got text, label, who; name one that the file "
                "has with --group-field"
            ),
        ),
    ],
)
def test_folds_that_cannot_be_are_refused(deberta, base, rows, tmp_path, words, message):
    done = finetune(deberta, base, rows, tmp_path / "out", *words)
    assert done.returncode != 0 and re.search(re.escape(message), done.stderr), done.stderr
    assert not list(tmp_path.glob("out/**/metrics.jsonl"))


def test_folds_of_another_run_are_not_joined(deberta, base, rows, tmp_path):
    out = tmp_path / "out"
    assert finetune(deberta, base, rows, out, "--fold", "1/2").returncode == 0
    for words, message in (
        (("--seed", "5"), "seed: expected 1234 as in"),
        (("--learning-rate", "1e-3"), "learning-rate: expected 2e-4 as in"),
        (("--group-field", "who"), "group-field: expected none as in"),
    ):
        done = finetune(deberta, base, rows, out, "--fold", "2/2", *words)
        assert (
            done.returncode == 2
            and f"--fold: {message} {out}/fold-1-of-2, got" in done.stderr
            and "name another folder with --output-dir" in done.stderr
        ), done.stderr
        assert not (out / "fold-2-of-2").exists()
    lines = rows.read_text().splitlines(keepends=True)
    rows.write_text("".join(lines[20:] + lines[:13] + lines[13:20][::-1]))
    for seed in ("2/2",):
        done = finetune(deberta, base, rows, out, "--fold", seed)
    both = [
        json.loads(line)["where"]
        for number in (1, 2)
        for line in (out / f"fold-{number}-of-2/eval_predictions.jsonl").read_text().splitlines()
    ]
    assert (
        done.returncode == 1 and "expected folds of the same files, got two with answers to train.jsonl:" in done.stderr
    ) == (len(set(both)) < len(both)), done.stderr


def test_a_fold_does_not_lie_in_the_folder_of_a_run(deberta, base, rows, tmp_path):
    assert finetune(deberta, base, rows, tmp_path / "out").returncode == 0
    done = finetune(deberta, base, rows, tmp_path / "out", "--fold", "1/2")
    assert done.returncode == 2 and "--fold: expected a folder without a run of its own, got" in done.stderr, (
        done.stderr
    )


def test_a_fold_without_a_row_is_refused(deberta, base, rows, tmp_path):
    for number in range(1, 100):
        done = finetune(deberta, base, rows, tmp_path / "out", "--fold", f"{number}/100", "--dry-run")
        if done.returncode:
            break
    assert (
        done.returncode == 2
        and "--fold: expected a fold with at least one labelled example, got none of 40; make fewer folds"
        in done.stderr
    ), done.stderr


def test_rows_of_many_groups(deberta, base, tmp_path):
    file = tmp_path / "train.jsonl"
    file.write_text(jsonl(*({"text": f"a {n} .", "label": "xy"[n % 2], "who": f"p{n // 2}"} for n in range(400))))
    done = finetune(deberta, base, file, tmp_path / "out", "--fold", "1/2", "--group-field", "who")
    assert done.returncode == 0, done.stderr
    held = {(int(row["where"].rpartition(":")[2]) - 1) // 2 for row in held_out(tmp_path / "out/fold-1-of-2")}
    assert len(held) == 100 and len(held_out(tmp_path / "out/fold-1-of-2")) == 200
