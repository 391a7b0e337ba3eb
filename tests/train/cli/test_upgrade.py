"""Runs of training that every version of the formats has left go on; those of a newer one are refused in a sentence,
and left as they are."""

import hashlib
import json
import re
import shutil
import sys

import pytest

from conftest import left_by, log_of
from models import ROOT

sys.path.append(str(ROOT / "tests/golden/formats"))
from make import BASE, RUN

FORMATS = ROOT / "tests/golden/formats"
MORE = ["--max-steps", "4", "--resume-override", "max-steps"]


@pytest.fixture(params=sorted(path.name for path in FORMATS.iterdir() if path.name.isdigit()))
def left(request, tmp_path):
    return shutil.copytree(FORMATS / request.param, tmp_path / "left")


@pytest.fixture
def go_on(deberta, left):
    return lambda: deberta(
        "finetune", *RUN, "-m", BASE, "--train-file", left / "rows.jsonl", "-o", left / "run", "--resume", "auto", *MORE
    )


def test_a_run_goes_on(go_on, left):
    done = go_on()
    assert done.returncode == 0 and "continuing from" in done.stderr, done.stderr
    assert (left / "run/checkpoint-000004").is_dir() and (left / "run/model.safetensors").is_file()
    assert [line["step"] for line in log_of(left / "run") if "loss" in line] == [1, 2, 3, 4]


def with_format(checkpoint, name, text):
    """Another text of a file, which the manifest knows."""
    (checkpoint / name).write_text(text)
    path = checkpoint / "deberta.manifest.json"
    manifest = json.loads(path.read_text())
    manifest["files"][name] = {"bytes": len(text), "sha256": hashlib.sha256(text.encode()).hexdigest()}
    path.write_text(json.dumps(manifest))


@pytest.mark.parametrize("name", ["deberta.manifest.json", "trainer/state.json"])
def test_a_newer_checkpoint_is_refused_in_a_sentence_and_stays(go_on, left, name):
    checkpoint = left / "run/checkpoint-000002"
    if name == "trainer/state.json":
        with_format(checkpoint, name, '{"format": 2}')
    else:
        (checkpoint / name).write_text('{"format": 2}')
    before = left_by(left / "run")
    done = go_on()
    sentence = "format: expected at most 1, got 2; a newer version of deberta wrote it: use that version"
    *_, last = done.stderr.splitlines()
    assert done.returncode == 1 and re.fullmatch(rf"\S*{name}: {sentence}", last), done.stderr
    assert "skipped a damaged checkpoint" not in done.stderr
    assert left_by(left / "run") == before
