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
    file.write_text(jsonl(*({"text": f"a {WORDS[n % 16]} {n} .", "label": "y" if n % 4 == 0 else "x", "who": f"p{n * 7 % 10}"} for n in range(ROWS))))
    return file


def finetune(deberta, base, rows, out, *words):
    return deberta("finetune", "--task", "classification", "-m", base, "--train-file", rows, "-o", out, "--max-steps", "2", *words)


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
        assert (f"{left} of 4 folds are not finished" if left else "all folds are finished") in done.stderr, done.stderr
        assert (out / "out_of_fold.jsonl").exists() == (left == 0)
    joined = [json.loads(line) for line in (out / "out_of_fold.jsonl").read_text().splitlines()]
    assert [int(row["where"].rpartition(":")[2]) for row in joined] == list(range(1, ROWS + 1))
    assert sorted(map(json.dumps, joined)) == sorted(map(json.dumps, seen))
    results = json.loads((out / "all_results.json").read_text())
    by_fold = [json.loads((out / f"fold-{number}-of-4/all_results.json").read_text())["eval_accuracy"] for number in (1, 2, 3, 4)]
    assert results["folds"] == 4 and results["eval_accuracy_by_fold"] == by_fold and results["eval_accuracy"] == pytest.approx(sum(by_fold) / 4)
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


@pytest.mark.parametrize("words, message", [
    (("--fold", "5/4"), "--fold: expected K/N, fold K of 2 to 100, as 1/5, got 5/4"),
    (("--fold", "0/4"), "--fold: expected K/N"),
    (("--fold", "1"), "--fold: expected K/N"),
    (("--fold", "1/1"), "--fold: expected K/N"),
    (("--fold", "1/4", "--validation-split", "0.1"), "--fold: expected this or --validation-split, got both"),
    (("--fold", "1/4", "--validation-file", "x"), "--fold: expected this or --validation-file, got both"),
    (("--group-field", "who"), "--group-field: expected --validation-split or --fold as well"),
    (("--fold", "1/4", "--group-field", "whom"), "expected a field named whom in this row or another, got text, label, who"),
])
def test_folds_that_cannot_be_are_refused(deberta, base, rows, tmp_path, words, message):
    done = finetune(deberta, base, rows, tmp_path / "out", *words)
    assert done.returncode != 0 and re.search(re.escape(message), done.stderr), done.stderr
    assert not list(tmp_path.glob("out/**/metrics.jsonl"))
