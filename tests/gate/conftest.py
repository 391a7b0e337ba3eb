"""The gate's own programs, in small stand-in repositories: they fail when they must."""

import pathlib
import shutil
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))


@pytest.fixture
def repository(tmp_path):
    """A repository with this one's tools and nothing else."""
    (tmp_path / "tools").mkdir()
    for name in (
        "run_tests.py",
        "rooms.py",
        "limits.py",
        "draw.py",
        "private_python.py",
        "fuzz.py",
        "gate.py",
        "check_layers.py",
        "check_clang.py",
        "check_comments.py",
        "check_pages.py",
        "check_web.py",
        "mutate",
        "reach.py",
        "checks.py",
        "changed.py",
    ):
        shutil.copy(ROOT / "tools" / name, tmp_path / "tools" / name)
    subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)
    (tmp_path / ".gitignore").write_text("build/\n")
    return tmp_path


@pytest.fixture
def write(repository):
    """write("a/b", text, is_program): a file of the stand-in."""

    def put(name, text, is_program=False):
        path = repository / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        path.chmod(0o755 if is_program else 0o644)
        return path

    return put


@pytest.fixture
def run(repository):
    """run(words...) -> (exit code, lines)"""

    def go(*words):
        done = subprocess.run(
            [sys.executable, *words],
            cwd=repository,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=600,
        )
        return done.returncode, done.stdout.splitlines()

    return go
