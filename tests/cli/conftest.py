"""Running the built program: DEBERTA_BINARY names it."""
import os
import pathlib
import subprocess
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from models import ROOT, make_model  # noqa: E402

BINARY = os.environ.get("DEBERTA_BINARY", str(ROOT / "build/dev/deberta"))
SHARED = ROOT.parent / "shared"


@pytest.fixture
def deberta():
    """deberta(words..., stdin=...) -> the finished process, output as text."""
    def run(*words, stdin="", environment=None, cwd=None, **more):
        clean = {k: v for k, v in os.environ.items() if not k.startswith("DEBERTA_")}
        return subprocess.run([BINARY, *map(str, words)], input=stdin, capture_output=True, encoding=more.pop("encoding", "utf-8"), cwd=cwd,
                              env=clean | (environment or {}), timeout=120, **more)
    return run


@pytest.fixture(scope="session")
def sequence_model(tmp_path_factory):
    return make_model(tmp_path_factory.mktemp("sequence"), "sequence")


@pytest.fixture(scope="session")
def language_model(tmp_path_factory):
    return make_model(tmp_path_factory.mktemp("lm"), "lm", seed=2)


@pytest.fixture
def shared():
    """shared("reference/...") -> the path in the shared folder, or None when it is not there."""
    def find(name):
        path = SHARED / name
        return path if path.exists() else None
    return find
