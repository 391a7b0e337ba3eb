"""Model folders of every version of their formats are read; those of a newer one are refused in a sentence."""

import json
import re
import shutil

import pytest

from models import ROOT

FORMATS = ROOT / "tests/golden/formats"
VERSIONS = sorted(int(path.name) for path in FORMATS.iterdir() if path.is_dir())
WRITERS = ("src/checkpoint/manifest.cpp", "src/checkpoint/calibration.cpp", "train/state/trainer_state.cpp")
CALIBRATION = "calibration.safetensors"
SENTENCE = r"\S*{}: format: expected at most 1, got 2; a newer version of deberta wrote it: use that version\n"


def test_there_is_a_folder_for_every_version_that_is_written():
    newest = {int(re.search(r"kFormat = (\d+);", (ROOT / name).read_text())[1]) for name in WRITERS}
    assert list(range(1, max(newest) + 1)) == VERSIONS


@pytest.fixture(params=VERSIONS, ids=str)
def model(request, tmp_path):
    return shutil.copytree(FORMATS / str(request.param) / "model", tmp_path / "model")


def test_a_folder_is_whole_and_answers_in_each_precision(deberta, model):
    checked = deberta("check", "--strict", "-m", model)
    assert checked.returncode == 0 and ": 0 errors, 0 warnings" in checked.stderr, checked.stdout + checked.stderr
    for dtype in "fp32", "int8":
        done = deberta("classify", "-m", model, "--dtype", dtype, "-f", "jsonl", "a cat")
        assert done.returncode == 0 and done.stderr == "", done.stderr
        assert json.loads(done.stdout)["label"] in ("a", "b")


def test_a_newer_manifest_is_the_one_thing_that_check_finds(deberta, model):
    (model / "deberta.manifest.json").write_text('{"format": 2, "parts": []}')
    checked = deberta("check", "-m", model, "-f", "jsonl")
    (finding,) = map(json.loads, checked.stdout.splitlines())
    assert checked.returncode == 1 and finding["severity"] == "error"
    said = f"{finding['where']}: {finding['message']}\n"
    assert re.fullmatch(SENTENCE.format(r"deberta\.manifest\.json"), said), said


def test_a_newer_calibration_is_refused_in_a_sentence(deberta, model):
    path = model / CALIBRATION
    data = path.read_bytes()
    assert data.count(b'"format":"1"') == 1
    path.write_bytes(data.replace(b'"format":"1"', b'"format":"2"'))
    done = deberta("classify", "-m", model, "--dtype", "int8", "a cat")
    assert done.returncode == 1 and re.fullmatch(SENTENCE.format(re.escape(CALIBRATION)), done.stderr), done.stderr
