"""Runs that save every step and are killed at random calls: what they leave in the end is, bit for bit, what a run
without a break leaves. A quarter of the kills comes before the first save is whole. What each kill leaves under a
temporary name gets the number of a process that lives.

DEBERTA_KILL_SEED sets the seed of the calls, DEBERTA_KILLS their number."""

import json
import os
import random
import signal

import pytest

from chosen_call import Call, give_live_numbers
from conftest import SMALL, assert_same, left_by, log_of, without_times

SEED = int(os.environ.get("DEBERTA_KILL_SEED", "21"))
KILLS = int(os.environ.get("DEBERTA_KILLS", "8"))
SAVES = ["--save-steps", "1", "--logging-steps", "1"]
# Kind, path, and the highest number of such a call. Few steps go by from one kill to the next.
FIRST = [
    ("backward", "", 1),
    ("mkdir", "/tb", 1),
    ("open", "events.jsonl", 1),
    ("write", "metrics.jsonl", 1),
    ("mkdir", "/checkpoint-000001", 2),
    ("open", "/checkpoint-000001", 8),
    ("write", "/checkpoint-000001", 14),
    ("fsync", "/checkpoint-000001", 6),
    ("close", "/checkpoint-000001", 5),
    ("rename", "/checkpoint-000001", 1),
]
TRAINING = [
    ("backward", "", 5),
    *((kind, "/checkpoint-", 14) for kind in ("open", "write", "fsync", "close")),
    ("mkdir", "/checkpoint-", 2),
    ("rename", "/checkpoint-", 3),
    ("unlink", "/checkpoint-", 8),
    ("rmdir", "/checkpoint-", 2),
    ("ftruncate", "metrics.jsonl", 1),
    *((kind, name, 2) for kind in ("open", "write", "fsync") for name in ("metrics.jsonl", "LATEST")),
    ("rename", "LATEST", 2),
    *((kind, name, 1) for kind in ("open", "write") for name in ("events.jsonl", "/tb/")),
]
REPLACING = ("open", "write", "fsync", "rename")
RESULTS = ["all_results.json", "train_results.json", "eval_results.json", "trainer_state.json", "README.md", "run.html"]
END = [
    *((kind, "/model.tmp-", 3) for kind in REPLACING),
    *((kind, name + ".tmp-", 1) for kind in REPLACING for name in RESULTS),
]
PREDICTIONS = [(kind, "eval_predictions.jsonl.tmp-", 1) for kind in REPLACING]
ADAPTER = [(kind, "/adapter.tmp-", 2) for kind in REPLACING]
TABLES = [(kind, f"/table.{ending}.tmp-", 1) for kind in REPLACING for ending in ("json", "md", "html")]
KINDS = ["mlm", "decoupled", "joint", "finetune", "sift", "lora", "ablate"]


@pytest.fixture
def words_of(tokenizer, corpus, dropping_base, rows, dev_rows, tmp_path):
    """words_of(kind) -> the command, without its folder"""

    def plan():
        pretraining = dict(zip((name[2:] for name in SMALL[::2]), SMALL[1::2]))
        document = {
            "corpora": [str(corpus)],
            "pretrain": pretraining
            | {"tokenizer-name": str(tokenizer), "max-steps": 4, "save-steps": 1, "logging-steps": 1, "eval-lines": 20},
            "finetune": {"num-train-epochs": 1, "batch-size": 8, "save-steps": 1},
            "seeds": [1],
            "forms": {"full": {}, "no c2p": {"form": "-C2P"}},
            "tasks": {
                "classification": {"metric": "accuracy", "train-file": str(rows), "validation-file": str(dev_rows)}
            },
        }
        (tmp_path / "plan.json").write_text(json.dumps(document))
        return tmp_path / "plan.json"

    def words(kind):
        if kind == "ablate":
            return ["ablate", plan()]
        if kind in ("finetune", "sift", "lora"):
            more = (
                ["--lora-rank", "4", "--max-steps", "8"]
                if kind == "lora"
                else [
                    "--adversarial",
                    "sift",
                    "--gradient-accumulation-steps",
                    "2",
                    "--max-steps",
                    "8",
                    "--layer-decay",
                    "0.7",
                    "--head-learning-rate",
                    "0.03",
                    "--reinit-layers",
                    "1",
                ]
                if kind == "sift"
                else ["--early-stopping-patience", "3"]
            )
            return [
                "finetune",
                "--task",
                "classification",
                "-m",
                dropping_base,
                "--train-file",
                rows,
                "--validation-file",
                dev_rows,
                "--batch-size",
                "8",
                "--num-train-epochs",
                "9",
                "--eval-steps",
                "2",
                "--learning-rate",
                "0.02",
                "--warmup-steps",
                "0",
                *SAVES,
                *more,
            ]
        more = (
            ["--gradient-accumulation-steps", "2"]
            if kind == "mlm"
            else ["--objective", "rtd", "--rtd-mode", kind, "--embedding-sharing", "gdes", "--generator-warmup", "3"]
        )
        return [
            "pretrain",
            "--tokenizer-name",
            tokenizer,
            *SMALL[:-2],
            *SAVES,
            "--max-steps",
            "8",
            "--eval-steps",
            "3",
            *more,
            corpus,
        ]

    return words


def places_of(kind):
    """The calls to be killed at: before the first save, in training, at the end; and again where a run may have gone
    past the end of a part of it."""
    if kind == "ablate":
        return [FIRST, TRAINING, [(kind, "-seed1.json.tmp-", 1) for kind in REPLACING] + TABLES, TABLES]
    end = END + PREDICTIONS if kind in ("finetune", "sift", "lora") else END
    end = end + ADAPTER if kind == "lora" else end
    return [FIRST, TRAINING, end]


def is_finished(folder):
    if not (folder / "events.jsonl").exists():
        return (folder / "table.html").exists()
    events = [json.loads(line) for line in (folder / "events.jsonl").read_text().splitlines()]
    return events[-1]["kind"] == "finished"


def results_of_plan(folder):
    """Without times; what is measured by the clock is in the results only."""
    logs = {
        path.name: [without_times(json.loads(line)) for line in path.read_text().splitlines()]
        for path in folder.glob("*.jsonl")
    }
    cells = [path for path in folder.iterdir() if path.is_dir()]
    weights = {
        str(path.relative_to(folder)): path.read_bytes() for cell in cells for path in cell.rglob("*.safetensors")
    }
    assert len(cells) == len(logs) == 2 and weights
    return (
        logs
        | weights
        | {path.name: without_times(json.loads(path.read_text())) for path in folder.glob("*-seed1.json")}
    )


@pytest.mark.parametrize("kind", KINDS)
def test_kills_at_any_calls_change_no_bit(deberta, deberta_at, words_of, tmp_path, kind):
    print(f"DEBERTA_KILL_SEED={SEED} DEBERTA_KILLS={KILLS}")
    dice, words = random.Random(f"{SEED} {kind}"), words_of(kind)
    whole, out = (tmp_path / name / "out" for name in ("whole", "killed"))  # a model card has the folder's name
    for folder in (whole, out):
        folder.parent.mkdir()
    assert deberta(*words, "-o", whole).returncode == 0
    places, at, killed, left = places_of(kind), 0, 0, 0
    while killed < KILLS:
        at = max(at, 1 if killed >= KILLS // 4 else 0, 2 if killed >= KILLS * 7 // 10 else 0)
        name, path, most = dice.choice(places[at])
        call = Call(name, path, dice.randint(1, most))
        done = deberta_at(call, signal.SIGKILL, *words, "-o", out)
        assert "warning" not in done.stderr, (call, done.stderr)
        if done.returncode == 0:  # it came to its end before the call
            at += 1
            assert 1 < at < len(places) and is_finished(out), call
            continue
        assert done.returncode == -signal.SIGKILL, (call, done.stderr)
        assert at > 0 or not (out / "LATEST").exists(), call
        killed += 1
        left += give_live_numbers(out)
    done = deberta(*words, "-o", out)
    assert done.returncode == 0, done.stderr
    assert left > 0 and give_live_numbers(out) == 0
    if kind == "ablate":
        assert results_of_plan(out) == results_of_plan(whole)
    else:
        assert_same(out, whole)


def test_the_run_that_stops_early_keeps_its_best_in_the_middle(deberta, words_of, tmp_path):
    """Of those that are killed; the best checkpoint is not one of the last two."""
    done = deberta(*words_of("finetune"), "-o", tmp_path / "out")
    assert done.returncode == 0 and "stopped early" in done.stderr, done.stderr
    results = json.loads((tmp_path / "out/all_results.json").read_text())
    best, last = results["best_step"], results["steps"]
    assert 1 < best < last - 1 and last < 45
    assert sorted(path.name for path in (tmp_path / "out").glob("checkpoint-*")) == [
        f"checkpoint-{step:06}" for step in (best, last - 1, last)
    ]
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
    assert done.returncode == 0 and "continuing from" in done.stderr, done.stderr
    log = log_of(out)
    steps, evaluated = ([line["step"] for line in log if ("loss" in line) == is_step] for is_step in (True, False))
    assert steps == list(range(1, len(steps) + 1)) and len(steps) >= 8
    assert evaluated == sorted(set(evaluated)) != []
    assert log == log_of(tmp_path / "whole")
