"""Running the built programs of both halves: DEBERTA_BINARY names deberta, deberta-train lies beside it."""

import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "cli"))
from chosen_call import build_shim, environment_at
from clean_environment import clean_environment
from models import ROOT, make_model
from small_runs import SMALL, write_corpus
from started_once import started_once
from task_files import jsonl

BINARY = os.environ.get("DEBERTA_BINARY", str(ROOT / "build/dev/deberta"))
HANG_SECONDS = 600  # anything longer is a hang; no test measures speed
TIMES = {"tokens_per_s", "seconds", "time", "train_runtime"}  # numbers that differ from run to run

# At a rate of .01 some heads do not learn by every seed.
FAST = ["--learning-rate", "0.003", "--warmup-steps", "0", "--lr-scheduler-type", "constant"]

WORDS = "cat dog tree house rain wind sun moon bread milk ship road king queen song wall".split()


def environment_in(folder):
    """Without settings of the program but fp32 on every processor and one thread, which is faster for models this small
    and gives the bits of any number; and with a cache of its own."""
    clean = clean_environment()
    return clean | {"XDG_CACHE_HOME": str(folder / "cache"), "DEBERTA_DTYPE": "fp32", "DEBERTA_THREADS": "1"}


@pytest.fixture
def environment(tmp_path):
    return environment_in(tmp_path)


@pytest.fixture(scope="session")
def shim(tmp_path_factory):
    return build_shim(tmp_path_factory.mktemp("shim"))


@pytest.fixture(scope="session")
def once(tmp_path_factory, shim):
    """Settings with which the verbs of the training half run in copies of one process (started_once.py)."""
    with started_once(BINARY, tmp_path_factory.mktemp("once"), shim) as settings:
        yield settings


@pytest.fixture
def deberta(environment, once):
    def run(*words, **more):
        return subprocess.run(
            [BINARY, *map(str, words)],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            env=environment | once,
            timeout=HANG_SECONDS,
            **more,
        )

    return run


@pytest.fixture
def deberta_at(environment, once, shim):
    """deberta_at(call, does, words...) -> the finished process, in which that happened to that call; a signal reaches
    the processes that it started, too"""

    def run(call, does, *words, **more):
        # the runs of a plan would be copies in groups of their own
        settings = {} if words[0] == "ablate" else once
        return subprocess.run(
            [BINARY, *map(str, words)],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            start_new_session=True,
            timeout=HANG_SECONDS,
            env=environment | environment_at(shim, call, does) | {"CALL_WHOM": "group"} | settings,
            **more,
        )

    return run


@pytest.fixture(scope="session")
def tokenizer(tmp_path_factory):
    """A folder whose tokenizer is used."""
    return make_model(tmp_path_factory.mktemp("tokenizer"), "lm", seed=2)


@pytest.fixture(scope="session")
def corpus(tmp_path_factory):
    return write_corpus(tmp_path_factory.mktemp("corpus") / "corpus.txt")


@pytest.fixture(scope="session")
def dropping_base(tmp_path_factory):
    """A model to fine-tune, with dropout."""
    return make_model(tmp_path_factory.mktemp("dropping"), "lm")


@pytest.fixture(scope="session")
def plain_base(tmp_path_factory):
    """A model to fine-tune, without dropout."""
    return make_model(
        tmp_path_factory.mktemp("plain"),
        "lm",
        hidden_dropout_prob=0.0,
        attention_probs_dropout_prob=0.0,
        initializer_range=0.2,
    )


def rows_of(count, labels="abc"):
    """Rows of different texts, with the labels in turn."""
    return [{"text": f"a {WORDS[n % 16]} {n} .", "label": labels[n % len(labels)]} for n in range(count)]


@pytest.fixture
def finetune_texts(deberta, plain_base, tmp_path):
    """finetune_texts(words..., text=the rows) -> the finished process; without a text, on those of the call before"""

    def run(*words, text=None, task="classification", out="out"):
        file = tmp_path / "train.jsonl"
        if text is not None:
            file.write_text(text)
        return deberta("finetune", "--task", task, "-m", plain_base, "--train-file", file, "-o", tmp_path / out, *words)

    return run


@pytest.fixture
def rows(tmp_path):
    """A file of 40 texts of two classes."""
    dice = random.Random(3)
    file = tmp_path / "rows.jsonl"
    file.write_text(
        jsonl(
            *(
                {"text": " ".join(dice.choices(WORDS, k=5 + n % 4)), "label": "good" if n % 2 else "bad"}
                for n in range(40)
            )
        )
    )
    return file


@pytest.fixture
def dev_rows(rows, tmp_path):
    """The same texts in another order: a run may not be evaluated on its training file."""
    file = tmp_path / "dev.jsonl"
    file.write_text("".join(reversed(rows.read_text().splitlines(keepends=True))))
    return file


@pytest.fixture
def finetune(deberta, dropping_base, rows):
    """finetune(output, words...) -> the finished process"""

    def run(out, *words, task="classification", base=dropping_base):
        return deberta(
            "finetune", "--task", task, "-m", base, "--train-file", rows, "-o", out, "--logging-steps", "1", *words
        )

    return run


@pytest.fixture
def pretrain(deberta, tokenizer, corpus):
    """pretrain(output, words...) -> the finished process"""

    def run(output, *words, files=None):
        return deberta("pretrain", "--tokenizer-name", tokenizer, "-o", output, *SMALL, *words, *(files or [corpus]))

    return run


@pytest.fixture
def disk():
    """disk(bytes) -> a folder with so much room, until the test is over."""
    folders = []

    def make(size_bytes):
        folder = tempfile.mkdtemp()
        if (
            os.geteuid() != 0
            or subprocess.run(
                ["mount", "-t", "tmpfs", "-o", f"size={size_bytes}", "tmpfs", folder], capture_output=True
            ).returncode
            != 0
        ):
            os.rmdir(folder)
            pytest.skip("no disk can be mounted here")
        folders.append(folder)
        return pathlib.Path(folder)

    yield make
    for folder in folders:
        subprocess.run(["umount", "-l", folder], check=True)
        os.rmdir(folder)


def size_of(folder):
    return sum((path.stat().st_size + 4095) // 4096 * 4096 for path in folder.rglob("*") if path.is_file())


def without_times(value):
    if isinstance(value, list):
        return [without_times(item) for item in value]
    return (
        {name: without_times(item) for name, item in value.items() if name not in TIMES}
        if isinstance(value, dict)
        else value
    )


def log_of(folder):
    """The lines of metrics.jsonl, without times."""
    return without_times([json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()])


def weights_of(folder):
    return (folder / "model.safetensors").read_bytes()


def left_by(folder):
    """{name: contents} of all that a run leaves and that does not tell of its breaks; JSON without times."""

    def contents(path):
        if path.name == "metrics.jsonl":
            return log_of(folder)
        return (
            without_times(json.loads(path.read_text()))
            if path.suffix == ".json" and path.parent == folder
            else path.read_bytes()
        )

    names = [
        path
        for path in folder.rglob("*")
        if path.is_file() and path.parent.name != "tb" and path.name not in ("events.jsonl", "run.html")
    ]
    return {str(path.relative_to(folder)): contents(path) for path in names}


def assert_same(folder, whole):
    """That a run that was broken off and went on left what the whole run did."""
    found, wanted = left_by(folder), left_by(whole)
    assert sorted(found) == sorted(wanted)
    assert [name for name in wanted if found[name] != wanted[name]] == []
