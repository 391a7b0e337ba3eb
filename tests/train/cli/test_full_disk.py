"""Runs on a disk that is full or cannot be written: the old checkpoints stay, nothing half-written is left, and the run
says so."""

import json
import subprocess

import pytest

from conftest import SMALL, assert_same, log_of, size_of

SAVES = ["--max-steps", "10", "--save-steps", "2", "--save-total-limit", "9"]
KINDS = {
    "mlm": [],
    "rtd": ["--objective", "rtd"],
    "finetune": ["--task", "classification", "--batch-size", "8", "--logging-steps", "2"],
}


@pytest.fixture
def run(deberta, tokenizer, corpus, dropping_base, rows):
    """run(kind, output) -> the finished process"""

    def start(kind, output):
        if kind == "finetune":
            return deberta("finetune", "-m", dropping_base, "--train-file", rows, "-o", output, *KINDS[kind], *SAVES)
        return deberta("pretrain", "--tokenizer-name", tokenizer, "-o", output, *SMALL, *KINDS[kind], *SAVES, corpus)

    return start


@pytest.mark.parametrize("kind", KINDS)
def test_three_full_disks_in_a_row_end_the_run_and_the_old_checkpoint_goes_on(run, disk, tmp_path, kind):
    whole = tmp_path / "whole/out"
    whole.parent.mkdir()
    assert run(kind, whole).returncode == 0
    one = size_of(whole / "checkpoint-000002")
    place = disk(one * 3 // 2)
    done = run(kind, place / "out")
    assert done.returncode == 1, done.stderr
    assert done.stderr.count("cannot write a checkpoint; training continues") == 2, done.stderr
    last = done.stderr.splitlines()[-1]
    assert last.startswith(f"{place}/out") and "bytes" in last, last
    assert sorted(path.name for path in (place / "out").iterdir()) == [
        "LATEST",
        "checkpoint-000002",
        "events.jsonl",
        "metrics.jsonl",
        "tb",
    ]
    events = [json.loads(line) for line in (place / "out/events.jsonl").read_text().splitlines()]
    assert [event["step"] for event in events if event["kind"] == "failed save"] == [4, 6]
    assert [line["step"] for line in log_of(place / "out")] == [2, 4, 6, 8]
    subprocess.run(["mount", "-o", f"remount,size={one * 20}", place], check=True)
    done = run(kind, place / "out")
    assert done.returncode == 0 and "checkpoint-000002" in done.stderr, done.stderr
    assert_same(place / "out", whole)


def test_where_a_checkpoint_does_not_fit_the_model_alone_is_written(deberta, rows, disk):
    place = disk(48 << 20)  # of a model of 22 MB, whose checkpoint has 66
    done = deberta(
        "finetune",
        "-m",
        "builtin:fill",
        "--train-file",
        rows,
        *KINDS["finetune"],
        "--dtype",
        "fp32",
        "--max-steps",
        "2",
        "--save-steps",
        "0",
        "-o",
        place / "out",
    )
    assert done.returncode == 0, done.stderr
    assert "a checkpoint does not fit on the disk: " in done.stderr
    assert "cannot write a checkpoint; only the model will be written: " in done.stderr
    assert not list((place / "out").glob("checkpoint-*")) and (place / "out/all_results.json").exists()
    assert deberta("classify", "-m", place / "out", "a text").returncode == 0


def test_a_folder_that_cannot_be_written_is_named(run, disk):
    place = disk(1 << 20)
    subprocess.run(["mount", "-o", "remount,ro", place], check=True)
    done = run("mlm", place / "out")
    assert done.returncode == 1, done.stderr
    assert done.stderr.splitlines()[-1].startswith(f"{place}/out: cannot make the folder: Read-only file system"), (
        done.stderr
    )
