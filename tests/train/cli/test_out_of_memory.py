"""Requests for memory that fail, drawn from ALLOCATIONS_SEED: one sentence, and checkpoints and results that are whole
or not there."""

import os
import random
import re
import signal
import subprocess

import numpy
import pytest

from allocation_failures import build_shim, environment, is_said
from clean_environment import clean_environment
from conftest import BINARY, HANG_SECONDS, SMALL
from models import make_model, write_safetensors

SEED = os.environ.get("ALLOCATIONS_SEED", "15")
SAVES = ["--threads", "1", "--max-steps", "3", "--save-steps", "1"]
# which ends the program, in the middle of LibTorch: a dozen requests of a run
OF_GLIBC = "Fatal glibc error: failed to register TLS destructor: out of memory"
TRIED = {"finetune": 12, "pretrain": 12, "replay": 6, "report": 6}  # requests of a run


@pytest.fixture
def words_of(tokenizer, corpus, dropping_base, rows, dev_rows, tmp_path):
    """words_of(verb) -> the command, without its output"""
    ids = numpy.arange(12, dtype=numpy.int64).reshape(2, 6) + 5
    write_safetensors(tmp_path / "in.safetensors", {"0.input_ids": ids, "0.labels": ids})
    return {
        "finetune": [
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
            *SAVES,
            "-o",
        ],
        "pretrain": ["pretrain", "--tokenizer-name", tokenizer, *SMALL, *SAVES, corpus, "-o"],
        "replay": [
            "replay",
            "--decoder-passes",
            "0",
            "-m",
            make_model(tmp_path / "lm", "lm"),
            "--batches",
            tmp_path / "in.safetensors",
            "-o",
        ],
        "report": ["report"],
    }.get


@pytest.mark.parametrize("verb", TRIED)
def test_a_request_that_fails_is_a_clean_error_and_leaves_nothing_half_written(words_of, deberta, once, tmp_path, verb):
    print(f"ALLOCATIONS_SEED={SEED}")
    shim, report, dice = build_shim(tmp_path), tmp_path / "report", random.Random(f"{SEED} {verb}")

    def run(name, more):
        clean = clean_environment() | {"XDG_CACHE_HOME": str(tmp_path / "cache")}
        return subprocess.run(
            list(map(str, [BINARY, *words_of(verb), tmp_path / name])),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=HANG_SECONDS,
            env=clean | more,
        )

    def failing(number):
        return environment(shim, report, FAIL_CALL=number)

    if verb == "report":
        done = deberta(*words_of("finetune"), tmp_path / "0")
        assert done.returncode == 0, done.stderr
    done = run("0", failing(0))
    assert done.returncode == 0, done.stderr
    for number in dice.sample(range(1, int(report.read_text().split()[-1]) + 1), TRIED[verb]):
        name = "0" if verb == "report" else str(number)
        done = run(name, failing(number))
        last = done.stderr.splitlines()[-1] if done.stderr else ""
        is_killed = done.returncode == -signal.SIGABRT and last == OF_GLIBC
        assert done.returncode == 0 or is_killed or (done.returncode == 1 and is_said(last)), (
            number,
            done.returncode,
            done.stderr,
        )
        assert not re.search(r"frame #|Exception raised", done.stderr), (number, done.stderr)
        assert is_killed or not [path for path in tmp_path.rglob("*") if ".tmp-" in path.name], number
        if verb in ("pretrain", "finetune"):  # and the same command goes on
            done = run(name, once)
            assert done.returncode == 0 and "damaged" not in done.stderr, (number, done.stderr)
            assert (tmp_path / name / "model.safetensors").read_bytes() == (
                tmp_path / "0/model.safetensors"
            ).read_bytes()
