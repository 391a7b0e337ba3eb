"""The trainer as it is installed: two components in one folder, with no path of the build."""

import os
import pathlib
import subprocess

import pytest

from conftest import BINARY, HANG_SECONDS
from models import make_model
from task_files import jsonl

BUILD = pathlib.Path(BINARY).resolve().parent


@pytest.fixture(scope="module")
def prefix(tmp_path_factory):
    folder = tmp_path_factory.mktemp("prefix")
    for component in "program", "trainer":
        subprocess.run(
            ["cmake", "--install", BUILD, "--component", component, "--prefix", folder], check=True, capture_output=True
        )
    return folder


def test_it_trains_with_the_libraries_beside_it(prefix, tmp_path):
    file = tmp_path / "rows.jsonl"
    file.write_text(jsonl(*({"text": f"text {n}", "label": "ab"[n % 2]} for n in range(20))))
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("DEBERTA_", "LD_"))}
    done = subprocess.run(
        [
            prefix / "bin/deberta",
            "finetune",
            "--task",
            "classification",
            "-m",
            make_model(tmp_path / "m", "lm"),
            "--train-file",
            file,
            "--max-steps",
            "1",
            "-o",
            tmp_path / "out",
        ],
        capture_output=True,
        text=True,
        env=clean | {"LD_DEBUG": "libs"},
        timeout=HANG_SECONDS,
    )
    assert done.returncode == 0 and (tmp_path / "out/model.safetensors").is_file(), done.stderr[-2000:]
    loaded = {line.split("calling init: ")[1] for line in done.stderr.splitlines() if "calling init: " in line}
    torch = {path for path in loaded if any(name in path for name in ("torch", "c10", "gomp", "cupti", "cudart"))}
    assert len(torch) == 5 and all(pathlib.Path(path).resolve().parent == prefix / "lib/deberta" for path in torch), (
        torch
    )


def test_it_looks_into_no_other_folder_and_has_the_terms_of_what_it_brings(prefix):
    paths = [
        line
        for line in subprocess.run(
            ["readelf", "-d", prefix / "bin/deberta-train"], capture_output=True, text=True, check=True
        ).stdout.splitlines()
        if "PATH" in line
    ]
    assert len(paths) == 1 and paths[0].endswith("[$ORIGIN/../lib/deberta]")
    terms = prefix / "share/doc/deberta-train"
    assert (terms / "torch/LICENSE").is_file()
    assert (terms / "torch/NOTICE").is_file()
    assert (terms / "nvidia_cuda_runtime/License.txt").is_file()
    assert (terms / "nvidia_cuda_cupti/License.txt").is_file()
    assert "share/doc/deberta/copyright" in (terms / "copyright").read_text()
