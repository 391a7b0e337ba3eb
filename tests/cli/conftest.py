"""Running the built program: DEBERTA_BINARY names it."""

import json
import os
import pathlib
import signal
import subprocess
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from models import ROOT, make_model

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
        clean = {k: v for k, v in os.environ.items() if not k.startswith("DEBERTA_")}
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
