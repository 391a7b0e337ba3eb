"""A signal in each phase of a run: nothing is lost, and the run that goes on is bit for bit the one without a break.

There is no dry step in a run of one process."""

import signal

import pytest

from chosen_call import Call
from conftest import SMALL, assert_same, log_of, weights_of

PARTS = 8  # of a step
LOG = "metrics.jsonl"
UNSAVED = [*SMALL[:-1], "1", "--max-steps", "24", "--eval-steps", "3", "--gradient-accumulation-steps", str(PARTS)]
SAVES = ["--save-steps", "2"]
MORE = {
    "rtd": ["--objective", "rtd", "--embedding-sharing", "gdes", "--generator-warmup", "1"],
    "recomputed": ["--gradient-checkpointing"],
}
TASK = [
    "--task",
    "classification",
    "--batch-size",
    "8",
    "--gradient-accumulation-steps",
    str(PARTS),
    "--num-train-epochs",
    "5",
    "--eval-steps",
    "3",
    "--learning-rate",
    "0.01",
    "--logging-steps",
    "1",
]
# Where each phase is, as seen by the calls that it makes.
BEFORE = {
    "load": Call("open", "/tokenizer"),
    "tokenise": Call("write", "/cache/deberta/tokens"),
    "the tokens are named": Call("rename", "/cache/deberta/tokens"),
}
BEFORE_TASK = {"load": Call("open", "/dropping"), "read": Call("open", "/rows.jsonl")}
STEPS = {"first step": Call("backward"), "accumulation": Call("backward", number=PARTS + 3)}
WRITES = {
    "log": Call("write", LOG, 2),
    "save": Call("write", "/checkpoint-", after=LOG),
    "a save is named": Call("rename", "/checkpoint-", after=LOG),
    "LATEST": Call("rename", "LATEST", after=LOG),
}
RESULTS = {
    "results": Call("rename", "all_results.json", after=LOG),
    "page": Call("rename", "run.html", after=LOG),
    "card": Call("rename", "README.md", after=LOG),
}


def end(folder):
    return {
        f"{folder} is written": Call("write", f"{folder}/model", after=LOG),
        f"{folder} is named": Call("rename", f"{folder}/model", after=LOG),
    }


PHASES = {
    "mlm": BEFORE | STEPS | WRITES | {"evaluation": Call("open", "/corpus.txt", after=LOG)} | end("/out") | RESULTS,
    "rtd": BEFORE
    | STEPS
    | {"discriminator": Call("backward", number=PARTS + 2)}
    | WRITES
    | {"evaluation": Call("open", "/corpus.txt", after=LOG)}
    | end("/generator")
    | end("/discriminator")
    | RESULTS,
    "finetune": BEFORE_TASK
    | STEPS
    | WRITES
    | {"evaluation": Call("open", "/dev.jsonl", after=LOG)}
    | end("/out")
    | {
        "rows are answered": Call("open", "/dev.jsonl", after="/out/model"),
        "answers are named": Call("rename", "eval_predictions", after=LOG),
    }
    | RESULTS,
    # Two layers in each micro-batch: the first one in the first step, the second one of the third micro-batch of a
    # later step.
    "recomputed": STEPS
    | {
        "a layer again": Call("grad"),
        "a layer again in a later step": Call("grad", number=2 * PARTS + 6),
        "LATEST": WRITES["LATEST"],
    },
}
LINES = {"first step": 0, "accumulation": 1}  # of the log of a run without a checkpoint that is killed there


@pytest.fixture
def run(deberta, deberta_at, tokenizer, corpus, dropping_base, rows, dev_rows, tmp_path):
    """run(kind, output, call, does, words) -> the finished process; without a call nothing happens to it."""

    def start(kind, output, call=None, does="", words=None):
        output.parent.mkdir(exist_ok=True)
        if kind == "finetune":
            words = [
                "finetune",
                "-m",
                dropping_base,
                "--train-file",
                rows,
                "--validation-file",
                dev_rows,
                "-o",
                output,
                *TASK,
                *SAVES,
            ]
        else:
            words = [
                "pretrain",
                "--tokenizer-name",
                tokenizer,
                "-o",
                output,
                *(words or [*UNSAVED, *SAVES]),
                *MORE.get(kind, []),
                corpus,
            ]
        return deberta_at(call, does, *words) if call else deberta(*words)

    return start


def forget_tokens(place):
    for path in place.glob("cache/deberta/tokens/*"):
        path.unlink()


@pytest.fixture
def whole(run, tmp_path):
    """whole(kind) -> the folder of the run without a break; its tokens are then forgotten."""

    def make(kind):
        done = run(kind, tmp_path / "whole/out")
        assert done.returncode == 0, done.stderr
        forget_tokens(tmp_path)
        return tmp_path / "whole/out"

    return make


@pytest.mark.parametrize(
    "kind, ending",
    [("mlm", signal.SIGKILL), ("recomputed", signal.SIGKILL), *((kind, signal.SIGTERM) for kind in PHASES)],
)
def test_a_signal_in_each_phase_loses_nothing(run, whole, tmp_path, kind, ending):
    wanted, out = whole(kind), tmp_path / "broken/out"
    for phase, call in PHASES[kind].items():
        if phase in ("tokenise", "the tokens are named"):
            forget_tokens(tmp_path)
        done = run(kind, out, call, ending)
        assert done.returncode == (-ending if ending == signal.SIGKILL else 128 + ending), (phase, done.stderr)
        assert "damaged" not in done.stderr, (phase, done.stderr)
        if ending == signal.SIGKILL and phase in LINES:
            assert len(log_of(out)) == LINES[phase], phase  # the step was not over
        if phase == "rows are answered":
            assert not (out / "all_results.json").exists()  # the run is not finished without its answers
        if ending == signal.SIGTERM:
            assert not [path for path in out.rglob("*") if ".tmp-" in path.name], phase
    done = run(kind, out)
    assert done.returncode == 0 and "damaged" not in done.stderr, done.stderr
    assert_same(out, wanted)


def test_a_save_is_made_on_request_and_the_run_goes_on(run, whole, tmp_path):
    wanted, words = whole("mlm"), [*UNSAVED, "--save-steps", "0", "--save-total-limit", "9"]
    # Seen before the step that follows the line of step 1, and in the evaluation that follows that of step 3.
    for count, step in ((1, "checkpoint-000002"), (3, "checkpoint-000003")):
        folder = tmp_path / f"after{count}/out"
        done = run("mlm", folder, Call("write", LOG, count), signal.SIGUSR1, words)
        assert done.returncode == 0, done.stderr
        assert sorted(path.name for path in folder.glob("checkpoint-*")) == [step, "checkpoint-000024"]
        assert weights_of(folder) == weights_of(wanted) and log_of(folder) == log_of(wanted)
    for phase in ("load", "tokenise"):
        folder = tmp_path / f"{phase}/out"
        forget_tokens(tmp_path)
        done = run("mlm", folder, BEFORE[phase], signal.SIGUSR1, words)
        assert done.returncode == 0, done.stderr
