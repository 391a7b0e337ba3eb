"""A weights file that is truncated while it is in use."""

import os
import subprocess

from clean_environment import clean_environment
from conftest import BINARY, HANG_SECONDS
from models import make_model


def answers_around(model, between, *words):
    """Has classify answer a line, calls between(), sends another line: (exit code, rest of the output, error
    output)."""
    with subprocess.Popen(
        [BINARY, "classify", "-m", model, "--progress", "off", "--no-header", *words],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=clean_environment(),
    ) as process:
        process.stdin.write("one text\n")
        process.stdin.flush()
        assert process.stdout.readline()
        between()
        rest, errors = process.communicate("another text\n", timeout=HANG_SECONDS)
        return process.returncode, rest, errors


def test_a_mapped_file_cut_short_in_use_ends_the_program_with_its_name(tmp_path):
    model = make_model(tmp_path / "m", "sequence")
    weights = model / "model.safetensors"
    code, rest, errors = answers_around(model, lambda: os.truncate(weights, 0))
    assert code == 1 and rest == ""
    assert errors == f"deberta: {weights}: the file was truncated while in use; download it again, or use --load read\n"


def test_a_file_that_was_read_may_be_cut_short(tmp_path):
    model = make_model(tmp_path / "m", "sequence")
    code, rest, errors = answers_around(model, lambda: os.truncate(model / "model.safetensors", 0), "--load", "read")
    assert code == 0 and rest.count("\n") == 1, errors
