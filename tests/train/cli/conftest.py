"""Running the built programs of both halves: DEBERTA_BINARY names deberta, deberta-train lies beside it."""
import json
import os
import pathlib
import random
import subprocess
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "cli"))
from models import ROOT, make_model  # noqa: E402

BINARY = os.environ.get("DEBERTA_BINARY", str(ROOT / "build/dev/deberta"))
HANG_SECONDS = 600  # anything longer is a hang; no test measures speed
TIMES = {"tokens_per_s", "seconds"}  # numbers of a log line that differ from run to run
SMALL = ["--config-overrides", "num_hidden_layers=2,hidden_size=32,num_attention_heads=2,position_buckets=8",
         "--batch-size", "8", "--max-tokens", "32", "--learning-rate", "0.003", "--hold-out-every", "10", "--logging-steps", "2"]


def environment_in(folder):
    """Without settings of the program, and with a cache of its own."""
    clean = {k: v for k, v in os.environ.items() if not k.startswith("DEBERTA_")}
    return clean | {"XDG_CACHE_HOME": str(folder / "cache")}


@pytest.fixture
def environment(tmp_path):
    return environment_in(tmp_path)


@pytest.fixture
def deberta(environment):
    def run(*words, **more):
        return subprocess.run([BINARY, *map(str, words)], stdin=subprocess.DEVNULL, capture_output=True, text=True, env=environment, timeout=HANG_SECONDS,
                              **more)
    return run


@pytest.fixture
def start(environment):
    """start(words...) -> a running process"""
    def run(*words):
        return subprocess.Popen([BINARY, *map(str, words)], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment)
    return run


@pytest.fixture(scope="session")
def tokenizer(tmp_path_factory):
    """A folder whose tokenizer is used."""
    return make_model(tmp_path_factory.mktemp("tokenizer"), "lm", seed=2)


def write_corpus(path):
    """60 documents of a language that can be learned: each word decides the next but one time in ten."""
    words = "the cat sat on a mat and it rained all day in may while dogs ran home".split()
    dice = random.Random(1)
    lines = []
    for number in range(60):
        lines.append(f"<|doc {number}|>")
        for _ in range(6):
            at = dice.randrange(len(words))
            line = []
            for _ in range(24):
                line.append(words[at])
                at = (at + 1) % len(words) if dice.random() < 0.9 else dice.randrange(len(words))
            lines.append(" ".join(line) + " .")
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.fixture(scope="session")
def corpus(tmp_path_factory):
    return write_corpus(tmp_path_factory.mktemp("corpus") / "corpus.txt")


@pytest.fixture
def pretrain(deberta, tokenizer, corpus):
    """pretrain(output, words...) -> the finished process"""
    def run(output, *words, files=None):
        return deberta("pretrain", "--tokenizer-name", tokenizer, "-o", output, *SMALL, *words, *(files or [corpus]))
    return run


def log_of(folder):
    """The lines of metrics.jsonl, without times."""
    lines = [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]
    return [{name: value for name, value in line.items() if name not in TIMES} for line in lines]


def weights_of(folder):
    return (folder / "model.safetensors").read_bytes()
