"""The examples of README.md, as a reader of a bare clone runs them: nothing outside the clone, the printed output, scores to five digits."""
import os
import pty
import re
import subprocess

import pytest
from conftest import BINARY, HANG_SECONDS
from models import ROOT

README = (ROOT / "README.md").read_text()
BLOCKS = [block for block in re.findall(r"(?:^    .*\n|^\n(?=    ))+", README, re.M) if "./run" in block]
SHOWN = [part.strip("\n").split("\n") for block in BLOCKS for part in re.split(r"^    \$ ", block, flags=re.M)[1:]]
PLAIN = [line.strip() for block in BLOCKS for line in block.splitlines() if line.startswith("    ./run ")]


def outputs(command):
    """What it prints on a terminal."""
    own, end = pty.openpty()
    clean = {k: v for k, v in os.environ.items() if not k.startswith("DEBERTA_")}
    process = subprocess.Popen(["bash", "-c", command.replace("./run", str(BINARY))], cwd=ROOT, stdin=subprocess.DEVNULL, stdout=end, stderr=subprocess.PIPE, env=clean)
    os.close(end)
    _, said = process.communicate(timeout=HANG_SECONDS)
    text = b""
    try:
        while chunk := os.read(own, 65536):
            text += chunk
    except OSError:  # the end of a terminal
        pass
    os.close(own)
    return text.decode().replace("\r\n", "\n").splitlines(), said.decode(), process.returncode


def rounded(line):
    return re.sub(r"\d\.\d{4,}", lambda number: f"{float(number[0]):.5f}", " ".join(line.split()))


def test_there_are_examples():
    assert len(SHOWN) >= 3 and len(PLAIN) >= 1


@pytest.mark.parametrize("shown", SHOWN, ids=lambda lines: lines[0][:60])
def test_an_example_prints_what_is_shown(shown):
    command, expected = shown[0], [line.removeprefix("    ") for line in shown[1:] if line.strip()]
    found, said, code = outputs(command)
    assert [rounded(line) for line in found] == [rounded(line) for line in expected], said
    assert code == any('"error"' in line for line in expected)


@pytest.mark.parametrize("command", PLAIN)
def test_an_example_runs(command):
    found, said, code = outputs(command)
    assert code == 0 and found, said


def test_no_example_needs_what_a_clone_has_not():
    assert not [line for block in BLOCKS for line in block.splitlines() if "../" in line]
