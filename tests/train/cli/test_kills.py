"""Runs that save every step and are killed at 20 random calls: what they leave in the end is, bit for bit, what a run without a break leaves.

DEBERTA_KILL_SEED sets the seed of the calls."""
import json
import os
import random
import signal

import pytest
from chosen_call import Call
from conftest import SMALL, assert_same, left_by, log_of

SEED = int(os.environ.get("DEBERTA_KILL_SEED", "21"))
KILLS, AT_THE_END = 20, 6
SAVES = ["--save-steps", "1", "--logging-steps", "1"]
# Kind, path, and the highest number of such a call. Few steps go by from one kill to the next.
TRAINING = [("backward", "", 5), *((kind, "/checkpoint-", 14) for kind in ("open", "write", "fsync", "close")), ("mkdir", "/checkpoint-", 2),
            ("rename", "/checkpoint-", 3), ("unlink", "/checkpoint-", 8), ("rmdir", "/checkpoint-", 2), ("ftruncate", "metrics.jsonl", 1),
            *((kind, name, 2) for kind in ("open", "write", "fsync") for name in ("metrics.jsonl", "LATEST")), ("rename", "LATEST", 2),
            *((kind, name, 1) for kind in ("open", "write") for name in ("events.jsonl", "/tb/"))]
RESULTS = ["all_results.json", "train_results.json", "eval_results.json", "trainer_state.json", "README.md", "run.html"]
END = [*((kind, "/model.tmp-", 3) for kind in ("open", "write", "fsync", "rename")),
       *((kind, name + ".tmp-", 1) for kind in ("open", "write", "fsync", "rename") for name in RESULTS)]
PREDICTIONS = [(kind, "eval_predictions.jsonl.tmp-", 1) for kind in ("open", "write", "fsync", "rename")]
KINDS = ["mlm", "decoupled", "joint", "finetune", "sift"]


@pytest.fixture
def words_of(tokenizer, corpus, dropping_base, rows, dev_rows):
    """words_of(kind) -> the command, without its folder"""
    def words(kind):
        if kind in ("finetune", "sift"):
            more = ["--adversarial", "sift", "--gradient-accumulation-steps", "2", "--max-steps", "8"] if kind == "sift" else ["--early-stopping-patience", "3"]
            return ["finetune", "--task", "classification", "-m", dropping_base, "--train-file", rows, "--validation-file", dev_rows, "--batch-size", "8", "--num-train-epochs",
                    "9", "--eval-steps", "2", "--learning-rate", "0.02", "--warmup-steps", "0", *SAVES, *more]
        more = ["--gradient-accumulation-steps", "2"] if kind == "mlm" else ["--objective", "rtd", "--rtd-mode", kind, "--embedding-sharing", "gdes", "--generator-warmup", "3"]
        return ["pretrain", "--tokenizer-name", tokenizer, *SMALL[:-2], *SAVES, "--max-steps", "8", "--eval-steps", "3", *more, corpus]
    return words


def is_finished(folder):
    events = [json.loads(line) for line in (folder / "events.jsonl").read_text().splitlines()]
    return events[-1]["kind"] == "finished"


@pytest.mark.parametrize("kind", KINDS)
def test_twenty_kills_at_any_calls_change_no_bit(deberta, deberta_at, words_of, tmp_path, kind):
    print(f"DEBERTA_KILL_SEED={SEED}")
    dice, words = random.Random(f"{SEED} {kind}"), words_of(kind)
    whole, out = (tmp_path / name / "out" for name in ("whole", "killed"))  # a model card has the folder's name
    for folder in (whole, out):
        folder.parent.mkdir()
    assert deberta(*words, "-o", whole).returncode == 0
    end = END + PREDICTIONS if kind in ("finetune", "sift") else END
    killed, places = 0, TRAINING
    while killed < KILLS:
        if killed == KILLS - AT_THE_END:
            places = end
        name, path, most = dice.choice(places)
        call = Call(name, path, dice.randint(1, most))
        done = deberta_at(call, signal.SIGKILL, *words, "-o", out)
        assert "warning" not in done.stderr, (call, done.stderr)
        if done.returncode == 0:  # it came to its end before the call
            assert places is TRAINING and is_finished(out), call
            places = end
            continue
        assert done.returncode == -signal.SIGKILL, (call, done.stderr)
        killed += 1
    done = deberta(*words, "-o", out)
    assert done.returncode == 0, done.stderr
    assert_same(out, whole)


def test_the_run_that_stops_early_keeps_its_best_in_the_middle(deberta, words_of, tmp_path):
    """Of those that are killed; the best checkpoint is not one of the last two."""
    done = deberta(*words_of("finetune"), "-o", tmp_path / "out")
    assert done.returncode == 0 and "ended early" in done.stderr, done.stderr
    results = json.loads((tmp_path / "out/all_results.json").read_text())
    best, last = results["best_step"], results["steps"]
    assert 1 < best < last - 1 and last < 45
    assert sorted(path.name for path in (tmp_path / "out").glob("checkpoint-*")) == [f"checkpoint-{step:06}" for step in (best, last - 1, last)]
    models = left_by(tmp_path / "out")
    assert models["model.safetensors"] == models[f"checkpoint-{best:06}/model.safetensors"]


@pytest.mark.parametrize("kind", ["mlm", "finetune"])
def test_the_log_has_each_step_once_after_two_resumes(deberta, deberta_at, words_of, tmp_path, kind):
    words = words_of(kind)
    words[words.index("--save-steps") + 1] = "3"
    assert deberta(*words, "-o", tmp_path / "whole").returncode == 0
    out = tmp_path / "out"
    for call in (Call("write", "metrics.jsonl", 6), Call("fsync", "/checkpoint-", after="metrics.jsonl")):
        assert deberta_at(call, signal.SIGKILL, *words, "-o", out).returncode == -signal.SIGKILL
        assert log_of(out)[-1]["step"] > int((out / "LATEST").read_text()[-7:]), "these lines are to be written again"
    done = deberta(*words, "-o", out)
    assert done.returncode == 0 and "going on from" in done.stderr, done.stderr
    log = log_of(out)
    steps, evaluated = ([line["step"] for line in log if ("loss" in line) == is_step] for is_step in (True, False))
    assert steps == list(range(1, len(steps) + 1)) and len(steps) >= 8
    assert evaluated == sorted(set(evaluated)) != []
    assert log == log_of(tmp_path / "whole")
