"""README.md: its commands run as written, in a bare clone where they need no model of your own, and print what it
shows."""

import re
import shlex
import subprocess

import pytest

from clean_environment import clean_environment
from conftest import BINARY, HANG_SECONDS
from models import ROOT, make_model, read_safetensors

README = (ROOT / "README.md").read_text()
SHOWN = re.findall(r"^    \$ (.*)\n((?:    [^$\n].*\n)+)", README, re.M)  # (command, lines of output)
NUMBER = re.compile(r"\d+\.\d+")


def run(command):
    """Runs a command of the page in a shell; returns what a person would see on a terminal."""
    program, is_piped = shlex.quote(BINARY), "--format" in command
    line = command.replace("./run ", f"{program} ") + ("" if is_piped else " --format table")
    clean = clean_environment()
    return subprocess.run(
        ["bash", "-c", line],
        cwd=ROOT,
        env=clean,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=HANG_SECONDS,
    )


@pytest.mark.parametrize("command, shown", SHOWN)
def test_a_command_prints_what_the_page_shows(command, shown, shared):
    if "../shared/" in command:
        shared("reference/models")
    wanted, got = (
        [line.strip().split() for line in shown.splitlines()],
        [line.split() for line in run(command).stdout.splitlines()],
    )
    assert [[NUMBER.sub("0.0", word) for word in line] for line in got] == [
        [NUMBER.sub("0.0", word) for word in line] for line in wanted
    ]
    for ours, theirs in zip(NUMBER.findall(str(got)), NUMBER.findall(str(wanted)), strict=True):
        assert abs(float(ours) - float(theirs)) < 1e-4  # the last digits depend on the processor


def test_the_page_begins_with_a_command_that_a_bare_clone_can_run():
    command = next(line.strip() for line in README.splitlines() if line.startswith("    ./run"))
    done = run(command)
    assert len(SHOWN) >= 3 and "-m" not in shlex.split(command)
    assert done.returncode == 0 and "using the built-in model" in done.stderr and done.stdout.count("\n") > 1


def test_the_tiny_model_is_the_one_that_models_py_makes(tmp_path):
    made, kept = make_model(tmp_path / "tiny", "sequence"), ROOT / "tests/golden/tiny"
    assert {path.name for path in kept.iterdir()} == {path.name for path in made.iterdir()}
    for name in ("config.json", "spm.model"):
        assert (kept / name).read_bytes() == (made / name).read_bytes()
    for (name, ours), (_, theirs) in zip(
        sorted(read_safetensors(kept / "model.safetensors").items()),
        sorted(read_safetensors(made / "model.safetensors").items()),
        strict=True,
    ):
        assert abs(ours - theirs).max() < 1e-6, name  # NumPy's normal numbers


def test_no_command_needs_what_a_clone_has_not():
    assert not [line for line in README.splitlines() if line.startswith("    ") and "../" in line]
    for command, shown in SHOWN:
        assert run(command).returncode == ('"error"' in shown), command
