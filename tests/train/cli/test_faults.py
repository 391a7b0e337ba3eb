"""Faults of the disk under a run: damaged checkpoints, calls that fail, the order of the calls, and a run told to write
where its model is."""

import json
import shutil
import subprocess

import pytest

from chosen_call import Call, environment_at
from conftest import BINARY, HANG_SECONDS, SMALL, assert_same, weights_of

PAIR = [*SMALL[:-2], "--objective", "rtd", "--max-steps", "5", "--save-steps", "1", "--logging-steps", "1"]
TASK = [
    "--task",
    "classification",
    "--batch-size",
    "8",
    "--max-steps",
    "5",
    "--save-steps",
    "1",
    "--logging-steps",
    "1",
    "--learning-rate",
    "0.01",
]


@pytest.fixture
def words_of(tokenizer, corpus, dropping_base, rows):
    """words_of(kind) -> the command, without its folder"""
    return {
        "rtd": ["pretrain", "--tokenizer-name", tokenizer, *PAIR, corpus],
        "finetune": ["finetune", "-m", dropping_base, "--train-file", rows, *TASK],
    }.get


@pytest.fixture
def whole(deberta, words_of, tmp_path):
    """whole(kind) -> the folder of a run without a fault"""

    def make(kind):
        (tmp_path / "whole").mkdir()
        done = deberta(*words_of(kind), "-o", tmp_path / "whole/out")
        assert done.returncode == 0, done.stderr
        return tmp_path / "whole/out"

    return make


def all_of(folder):
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def flip_a_byte(path):
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)


@pytest.mark.parametrize("kind", ["rtd", "finetune"])
def test_a_byte_in_any_file_of_the_newest_checkpoint_is_found_and_the_one_before_is_taken(
    deberta, words_of, whole, tmp_path, kind
):
    wanted = whole(kind)
    newest = wanted / "checkpoint-000005"
    files = [path.relative_to(newest) for path in sorted(newest.rglob("*")) if path.is_file()]
    assert len(files) >= 6
    for number, name in enumerate(files):
        out = tmp_path / f"flipped{number}/out"
        shutil.copytree(wanted, out)
        flip_a_byte(out / newest.name / name)
        done = deberta(*words_of(kind), "-o", out)
        assert done.returncode == 0 and "skipped a damaged checkpoint" in done.stderr, (name, done.stderr)
        assert f"continuing from {out}/checkpoint-000004" in done.stderr, (name, done.stderr)
        assert_same(out, wanted)


FAILS = [
    (kind, error, number)
    for kind, error, number in (
        ("write", "ENOSPC", 1),
        ("write", "EIO", 6),
        ("write", "ENOSPC", 9),
        ("fsync", "EIO", 3),
        ("close", "EIO", 2),
        ("rename", "EIO", 1),
        ("mkdir", "ENOSPC", 1),
        ("open", "ENOSPC", 2),
    )
]
MESSAGES = {"ENOSPC": "No space left on device", "EIO": "Input/output error"}


@pytest.mark.parametrize("kind", ["rtd", "finetune"])
def test_a_call_that_fails_costs_a_checkpoint_and_not_the_run(deberta_at, words_of, whole, tmp_path, kind):
    wanted = whole(kind)
    for call, error, number in FAILS:
        out = tmp_path / f"{call}{number}/out"
        out.parent.mkdir()
        done = deberta_at(Call(call, "/checkpoint-000003.tmp-", number), error, *words_of(kind), "-o", out)
        assert done.returncode == 0, done.stderr
        said = [line for line in done.stderr.splitlines() if "cannot write a checkpoint; training continues" in line]
        assert (
            len(said) == 1
            and f"{out}/checkpoint-000003" in said[0]
            and MESSAGES[error] in said[0]
            and "bytes of the checkpoint had been written" in said[0]
        ), done.stderr
        events = [json.loads(line) for line in (out / "events.jsonl").read_text().splitlines()]
        assert [event["step"] for event in events if event["kind"] == "failed save"] == [3]
        assert_same(out, wanted)


@pytest.mark.parametrize("kind", ["rtd", "finetune"])
def test_a_checkpoint_is_renamed_only_when_it_is_synced_and_the_run_goes_on_only_when_the_rename_is(
    environment, shim, words_of, tmp_path, kind
):
    report = tmp_path / "calls"
    words = list(map(str, [BINARY, *words_of(kind), "-o", tmp_path / "out"]))
    done = subprocess.run(
        words,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=HANG_SECONDS,
        env=environment | environment_at(shim, Call(path="/out", number=0), report=report),
    )
    assert done.returncode == 0, done.stderr
    unsynced, renamed, seen = set(), set(), 0
    for line in report.read_text().splitlines():
        call, *paths = line.split(" ")
        if "/checkpoint-" not in paths[0] and "/LATEST" not in paths[0] and call != "fsync":
            continue
        parent = paths[0].rsplit("/", 1)[0]
        if call in ("write", "mkdir"):
            unsynced |= {paths[0]} | ({parent} if call == "mkdir" else set())
        if call == "fsync":
            unsynced.discard(paths[0])
            renamed.discard(paths[0])
        if call == "rename":
            assert not renamed, (renamed, line)
            assert not [path for path in unsynced if path.startswith(paths[0])], (unsynced, line)
            renamed.add(parent)
            seen += 1
    assert seen == 5 * 2 + 3 and not renamed  # five checkpoints, each with LATEST; three old ones


def test_a_run_does_not_write_over_the_model_that_it_begins_from(deberta, words_of, dropping_base, rows, tmp_path):
    model = shutil.copytree(dropping_base, tmp_path / "model")
    words = ["finetune", "--train-file", rows, *TASK]
    before = all_of(model)
    done = deberta(*words, "-m", model, "-o", model)
    assert done.returncode == 1 and "expected a new or empty folder" in done.stderr, done.stderr
    assert all_of(model) == before
    out = tmp_path / "out"
    assert deberta(*words, "-m", model, "-o", out).returncode == 0
    before = all_of(out)
    for source in (out, out / "checkpoint-000005"):
        done = deberta(*words, "-m", source, "-o", out)
        assert done.returncode == 2 and "expected what the run began with" in done.stderr, done.stderr
        assert all_of(out) == before
    link = tmp_path / "link"  # to the file that the run renames its own over
    shutil.copytree(
        out, link, ignore=shutil.ignore_patterns("checkpoint-*", "tb", "model.safetensors", "*.jsonl", "LATEST")
    )
    (link / "model.safetensors").hardlink_to(out / "model.safetensors")
    begun = weights_of(link)
    longer = [word if word != "5" else "6" for word in words]
    assert deberta(*longer, "-m", model, "-o", out, "--resume-override", "max-steps").returncode == 0
    assert weights_of(link) == begun != weights_of(out)
