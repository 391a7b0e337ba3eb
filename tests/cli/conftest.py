"""Running the built program: DEBERTA_BINARY names it."""

import json
import os
import pathlib
import signal
import subprocess
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from clean_environment import clean_environment
from models import ROOT, make_model, read_safetensors, with_positions

BINARY = os.environ.get("DEBERTA_BINARY", str(ROOT / "build/dev/deberta"))
SHARED = ROOT.parent / "shared"
SANITIZED = pathlib.Path(BINARY).parent.name in ("asan", "tsan")
HANG_SECONDS = 600  # anything longer is a hang; no test measures speed

# children of nohup and of background jobs inherit ignored signals
for number in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM):
    if signal.getsignal(number) == signal.SIG_IGN:
        signal.signal(number, signal.SIG_DFL)


@pytest.fixture
def deberta():
    """deberta(words..., stdin=...) -> the finished process, output as text."""

    def run(*words, stdin="", environment=None, cwd=None, **more):
        clean = clean_environment()
        return subprocess.run(
            [BINARY, *map(str, words)],
            input=stdin,
            capture_output=True,
            encoding=more.pop("encoding", "utf-8"),
            cwd=cwd,
            env=clean | (environment or {}),
            timeout=HANG_SECONDS,
            **more,
        )

    return run


@pytest.fixture(scope="session")
def sequence_model(tmp_path_factory):
    return make_model(tmp_path_factory.mktemp("sequence"), "sequence")


@pytest.fixture(scope="session")
def language_model(tmp_path_factory):
    return make_model(tmp_path_factory.mktemp("lm"), "lm", seed=2)


@pytest.fixture
def shared():
    """shared("reference/...") -> the path in the shared folder; skips the test when it is not there."""

    def find(name):
        if not (SHARED / name).exists():
            pytest.skip(f"needs {name} of the shared folder")
        return SHARED / name

    return find


@pytest.fixture
def trained(shared):
    """trained("nano-sst2") -> (the small trained checkpoint, its part of expected.json); skips without the shared
    folder."""

    def find(name):
        folder = shared(f"reference/models/{name}")
        return folder, json.loads((folder / "expected.json").read_text())

    return find


@pytest.fixture
def hidden(deberta, tmp_path):
    """hidden(model, text) -> the tensors of `forward`, scores too."""

    def run(model, text):
        done = deberta("forward", "-m", model, text, "--scores", "-o", tmp_path / "forward.safetensors")
        assert done.returncode == 0, done.stderr
        return read_safetensors(tmp_path / "forward.safetensors")

    return run


@pytest.fixture(scope="session")
def decoder_model(tmp_path_factory):
    """A masked language model that predicts through the mask decoder."""
    return with_positions(make_model(tmp_path_factory.mktemp("decoder"), "lm", seed=3))


@pytest.fixture(scope="session")
def discriminator(tmp_path_factory):
    return make_model(tmp_path_factory.mktemp("rtd"), "rtd", seed=4)
