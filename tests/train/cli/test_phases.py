"""A signal in each phase of `deberta pretrain`: nothing is lost, and the run that goes on is bit for bit the one without a break.

There is no dry step and no recompute in a run of one process. DEBERTA_KILL_SEED sets the seed of the kills between the phases."""
import json
import os
import random
import signal
import subprocess

import pytest
from conftest import BINARY, HANG_SECONDS, SMALL, log_of, weights_of
from models import ROOT

SEED = int(os.environ.get("DEBERTA_KILL_SEED", "11"))
UNSAVED = [*SMALL[:-1], "1", "--max-steps", "24", "--eval-steps", "3", "--gradient-accumulation-steps", "8"]
OPTIONS = [*UNSAVED, "--save-steps", "2"]
LOG = {"SIGNAL_AFTER": "metrics.jsonl"}
# Where each phase is, as seen by the calls that it makes: the call, a part of its path, which of them.
PHASES = {
    "load": ("open", "/tokenizer", 1, {}),
    "tokenise": ("write", "/cache/deberta/tokens", 1, {}),
    "the tokens are named": ("rename", "/cache/deberta/tokens", 1, {}),
    "first step": ("open", "metrics.jsonl", 1, {"SIGNAL_DELAY_MS": "2"}),
    "accumulation": ("write", "metrics.jsonl", 1, {"SIGNAL_DELAY_MS": "2"}),
    "log": ("write", "metrics.jsonl", 2, {}),
    "evaluation": ("open", "/corpus.txt", 1, LOG),
    "save": ("write", "/checkpoint-", 1, LOG),
    "a save is named": ("rename", "/checkpoint-", 1, LOG),
    "LATEST": ("rename", "LATEST", 1, LOG),
    "end": ("write", "/out/model", 1, LOG),
    "the model is named": ("rename", "/out/model", 1, LOG),
    "results": ("rename", "all_results.json", 1, LOG),
}
LINES = {"first step": 0, "accumulation": 1}  # of the log of a run without a checkpoint that is killed there


@pytest.fixture(scope="module")
def shim(tmp_path_factory):
    library = tmp_path_factory.mktemp("shim") / "signal_at_call.so"
    subprocess.run(["cc", "-shared", "-fPIC", "-O1", "-Wall", "-Werror", "-o", library, ROOT / "tests/support/signal_at_call.c", "-ldl"], check=True)
    return library


@pytest.fixture
def signalled(environment, shim, tokenizer, corpus):
    """signalled(output, number, phase) -> the finished process, which got the signal there."""
    def run(output, number=0, place=None, words=OPTIONS):
        more = {}
        if place:
            call, path, count, rest = place
            more = {"LD_PRELOAD": str(shim), "SIGNAL_NUMBER": str(int(number)), "SIGNAL_CALL": call, "SIGNAL_PATH": path, "SIGNAL_COUNT": str(count),
                    "ASAN_OPTIONS": f"{os.environ.get('ASAN_OPTIONS', '')}:verify_asan_link_order=0:detect_leaks=0"} | rest
        return subprocess.run([BINARY, "pretrain", "--tokenizer-name", str(tokenizer), "-o", str(output), *words, str(corpus)], stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, env=environment | more, timeout=HANG_SECONDS)
    return run


def forget_tokens(place):
    for path in (place / "cache/deberta/tokens").iterdir():
        path.unlink()


@pytest.fixture
def whole(signalled, tmp_path):
    """The run without a break; its tokens are then forgotten."""
    done = signalled(tmp_path / "whole")
    assert done.returncode == 0, done.stderr
    forget_tokens(tmp_path)
    return tmp_path / "whole"


def same(output, whole):
    assert weights_of(output) == weights_of(whole)
    assert log_of(output) == log_of(whole)
    told, wanted = (json.loads((folder / "all_results.json").read_text()) for folder in (output, whole))
    assert told | {"train_runtime": 0} == wanted | {"train_runtime": 0}
    assert not [path for path in output.rglob("*") if ".tmp-" in path.name]


def test_twenty_kills_one_in_each_phase_change_no_bit(signalled, whole, tmp_path):
    print(f"DEBERTA_KILL_SEED={SEED}")
    dice, out, places = random.Random(SEED), tmp_path / "out", list(PHASES.items())
    between = [(f"call {n}", (call, path, n, LOG)) for call, path in (("write", "metrics.jsonl"), ("write", "/checkpoint-"), ("rename", "/checkpoint-"))
               for n in (1, 2, 3)]
    before_the_end = [at for at, (phase, _) in enumerate(places) if phase == "end"][0]
    places[before_the_end:before_the_end] = dice.sample(between, 20 - len(places))
    for phase, place in places:
        done = signalled(out, signal.SIGKILL, place)
        assert done.returncode == -signal.SIGKILL, (phase, done.stderr)
        if phase in LINES:
            assert len(log_of(out)) == LINES[phase], phase  # the step was not over
    assert len(places) == 20
    done = signalled(out)
    assert done.returncode == 0, done.stderr
    same(out, whole)


def test_sigterm_in_each_phase_loses_nothing(signalled, whole, tmp_path):
    out = tmp_path / "out"
    for phase, place in PHASES.items():
        if phase in ("tokenise", "the tokens are named"):
            forget_tokens(tmp_path)
        done = signalled(out, signal.SIGTERM, place)
        assert done.returncode == 128 + signal.SIGTERM, (phase, done.stderr)
    done = signalled(out)
    assert done.returncode == 0 and "damaged" not in done.stderr, done.stderr
    same(out, whole)


def test_a_save_is_made_on_request_and_the_run_goes_on(signalled, whole, tmp_path):
    out, words = tmp_path / "out", [*UNSAVED, "--save-steps", "0", "--save-total-limit", "9"]
    # Seen before the step that follows the line of step 1, and in the evaluation that follows that of step 3.
    for count, step in ((1, "checkpoint-000002"), (3, "checkpoint-000003")):
        folder = out.with_name(f"out{count}")
        done = signalled(folder, signal.SIGUSR1, ("write", "metrics.jsonl", count, {}), words)
        assert done.returncode == 0, done.stderr
        assert sorted(path.name for path in folder.glob("checkpoint-*")) == [step, "checkpoint-000024"]
        same(folder, whole)
    for phase in ("load", "tokenise"):
        folder = out.with_name(f"out-{phase}")
        forget_tokens(tmp_path)
        done = signalled(folder, signal.SIGUSR1, PHASES[phase], words)
        assert done.returncode == 0, done.stderr
