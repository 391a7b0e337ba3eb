"""The package as the build has it, tiny models of every head, and the program's answers to the same rows."""

import json
import os
import pathlib
import signal
import subprocess
import sys

import pytest

if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:  # by the shell that began all this; children inherit it
    signal.signal(signal.SIGINT, signal.default_int_handler)

ROOT = pathlib.Path(__file__).resolve().parents[3]
BINARY = pathlib.Path(os.environ.get("DEBERTA_BINARY", str(ROOT / "build/dev/deberta")))
PACKAGE = pathlib.Path(os.environ.get("DEBERTA_PACKAGE", str(BINARY.parent / "python")))  # or a site-packages
sys.path[:0] = [str(ROOT / "tests/cli"), str(PACKAGE)]
if not list((PACKAGE / "deberta").glob("_deberta*.so")):
    raise pytest.UsageError(f"{PACKAGE}: expected the Python extension, got none; ./test python/src builds it")

from models import make_extractor, make_model  # noqa: E402

HANG_SECONDS = 600
NLI = ("entailment", "neutral", "contradiction")
WORDS = "a fine film with two good parts that nobody saw in Paris , dull 中文 naïve 😀 ... 12 X".split()


@pytest.fixture(scope="session")
def models(tmp_path_factory):
    """{name: folder}"""
    folder = tmp_path_factory.mktemp("models")
    made = {head: make_model(folder / head, head) for head in ("sequence", "token", "span", "lm", "rtd")}
    made["nli"] = make_model(folder / "nli", "sequence", labels=NLI)
    made["number"] = make_model(folder / "number", "sequence", labels=("score",))
    made["extractor"] = make_extractor(folder / "extractor")
    return made


@pytest.fixture(scope="session")
def pipelines(models):
    """{name: pipeline}, each on one thread."""
    import deberta

    return {name: deberta.open(folder, threads=1) for name, folder in models.items()}


def texts(count, seed=0):
    """Texts of all lengths up to 60 words; the first are hard."""
    import random

    draw = random.Random(seed)
    hard = ["", " \t", "a", "[MASK]", "[SEP] x [CLS]", "\u200b", "x" * 300, "\u00e9" * 5, " lead and trail "]
    return (hard + [" ".join(draw.choices(WORDS, k=draw.randint(1, 60))) for _ in range(count)])[:count]


def without_nulls(value):
    """Rows of Arrow as to_dict() has them."""
    if isinstance(value, dict):
        return {key: without_nulls(item) for key, item in value.items() if item is not None}
    return [without_nulls(item) for item in value] if isinstance(value, list) else value


@pytest.fixture(scope="session")
def program():
    """program(verb, model, rows, *options) -> what json.loads makes of each line"""

    def run(verb, model, rows, *options):
        words = [BINARY, verb, "-m", model, "--threads", "1", "--input-format", "jsonl", "--format", "jsonl"]
        keep = [] if verb == "tokenize" else ["--keep", "none"]
        words = [word for word in words if verb != "tokenize" or word not in ("--threads", "1")]
        done = subprocess.run(
            [*map(str, words), *keep, *options],
            input="".join(json.dumps(row) + "\n" for row in rows),
            capture_output=True,
            text=True,
            timeout=HANG_SECONDS,
        )
        assert done.returncode in (0, 1), done.stderr
        return [json.loads(line) for line in done.stdout.splitlines()]

    return run


def run_python(code, *arguments, **more):
    """A Python of its own with the package; its standard output."""
    environment = dict(os.environ, PYTHONPATH=f"{PACKAGE}:{ROOT / 'tests/cli'}")
    words = [sys.executable, "-c", code, *map(str, arguments)]
    done = subprocess.run(words, env=environment, capture_output=True, text=True, timeout=HANG_SECONDS, **more)
    assert done.returncode == 0, done.stderr
    return done.stdout
