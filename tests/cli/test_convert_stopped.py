"""convert stopped at any moment: it leaves either the old state or the new one, and the next run is not confused."""
import dataclasses
import json
import os
import pathlib
import random
import shutil
import signal
import subprocess
import time

import numpy
import pytest
from conftest import BINARY, HANG_SECONDS
from conversion_models import contents, make_v1_model
from models import ROOT, make_model, read_safetensors, write_safetensors

SHIM = ROOT / "tests/support/failing_calls.c"
TEXTS = "a text to calibrate with\nand another , longer one\n"
CALIBRATION = "calibration.safetensors"


@pytest.fixture(scope="module")
def shim(tmp_path_factory):
    """A library that counts file system calls and kills the process at one of them, or makes that one fail."""
    library = tmp_path_factory.mktemp("shim") / "failing_calls.so"
    subprocess.run(["cc", "-shared", "-fPIC", "-O1", "-Wall", "-Werror", "-o", library, SHIM, "-ldl"], check=True)
    return library


@dataclasses.dataclass
class Job:
    """One conversion, and what it leaves when nothing stops it."""
    source: pathlib.Path
    place: pathlib.Path
    words: list
    shim: pathlib.Path
    before: dict = None
    complete: dict = None
    calls: int = 0

    def run(self, mode="", call=0, target="a", count_file=""):
        options = os.environ.get("ASAN_OPTIONS", "")
        environment = {k: v for k, v in os.environ.items() if not k.startswith("DEBERTA_")} | {
            "LD_PRELOAD": str(self.shim), "FAIL_MODE": mode, "FAIL_CALL": str(call), "FAIL_COUNT_FILE": str(count_file),
            "ASAN_OPTIONS": f"{options}:verify_asan_link_order=0:detect_leaks=0"}
        return subprocess.run([BINARY, "convert", "-m", self.source, "--to", self.place / target, *self.words], env=environment, capture_output=True,
                              text=True, timeout=HANG_SECONDS)

    def learn(self):
        self.place.mkdir()
        self.before = contents(self.source)
        count_file = self.place.parent / "count"
        done = self.run("count", target="counted", count_file=count_file)
        assert done.returncode == 0, done.stderr
        self.calls, self.complete = int(count_file.read_text()), contents(self.place / "counted")
        assert self.calls > 20
        shutil.rmtree(self.place / "counted")
        return self

    def is_done(self):
        """Whether the target exists; checks that it is then complete, and that the source is unchanged."""
        assert contents(self.source) == self.before
        found = contents(self.place / "a")
        assert found in (None, self.complete)
        return found == self.complete

    def left(self):
        return [path.name for path in self.place.iterdir() if path.name != "a"]


@pytest.fixture(params=["shards", "calibrated", "carried"])
def job(request, deberta, shim, tmp_path):
    """Shards; a new calibration; the source's calibration."""
    source, texts = make_v1_model(tmp_path / "m"), tmp_path / "texts.txt"
    texts.write_text(TEXTS)
    calibrate = ["--dtype", "int8", "--calibration-data", texts]
    if request.param == "carried":
        done = deberta("convert", "-m", source, "--to", tmp_path / "c", *calibrate)
        assert done.returncode == 0, done.stderr
        source = tmp_path / "c"
    words = {"shards": ["--shard-size", "30k"], "calibrated": calibrate, "carried": []}[request.param]
    job = Job(source, tmp_path / "place", words, shim).learn()
    assert (CALIBRATION in job.complete) == (request.param != "shards")
    return job


def test_a_kill_at_any_call_leaves_the_old_state_or_the_new_one_and_the_next_run_succeeds(job):
    finished = set()
    for call in range(1, job.calls + 1):
        done = job.run("kill", call)
        assert done.returncode == 77, (call, done.stderr)
        finished.add(job.is_done())
        if not job.is_done():
            left = job.left()
            again = job.run()
            assert again.returncode == 0 and job.is_done(), (call, again.stderr)
            assert ("removed, left by a killed run" in again.stderr) == bool(left), call
        assert job.left() == [], call
        shutil.rmtree(job.place / "a")
    assert finished == {True, False}


def test_a_run_killed_while_it_removes_leftovers_does_no_harm(job, deberta):
    for call in (job.calls // 2, *range(1, 25)):
        assert job.run("kill", call).returncode == 77
        assert not job.is_done()
    job.run("kill", job.calls // 2)
    assert [name for name in job.left() if name.startswith("a.tmp-")]
    assert job.run().returncode == 0 and job.is_done() and job.left() == []
    assert deberta("check", "-m", job.place / "a", "--strict").returncode == 0


@pytest.mark.parametrize("mode", ["ENOSPC", "EIO"])
def test_an_error_at_any_call_is_named_and_leaves_nothing(job, mode):
    failed = 0
    for call in range(1, job.calls + 1):
        done = job.run(mode, call)
        is_done = job.is_done()
        # Once the folder has its name, only syncing the parent can still fail.
        assert done.returncode == 1 or (done.returncode == 0 and is_done), (call, done.stderr)
        if done.returncode == 1:
            failed += 1
            assert ": " in done.stderr, (call, done.stderr)
        assert job.left() == [], (call, done.stderr)
        if is_done:
            shutil.rmtree(job.place / "a")
    assert failed > job.calls // 2


@pytest.mark.parametrize("mode", ["EINTR", "SHORT"])
def test_interrupted_calls_and_short_writes_change_nothing(job, mode):
    for call in range(1, job.calls + 1):
        done = job.run(mode, call)
        assert done.returncode == 0 and job.is_done(), (call, done.stderr)
        shutil.rmtree(job.place / "a")


@pytest.fixture(params=["copied", "calibrated"])
def long_job(request, tmp_path):
    """The arguments of a slow conversion; one of the two spends most of its time calibrating."""
    source = make_model(tmp_path / "m", "sequence")
    tensors = dict(read_safetensors(source / "model.safetensors"))
    tensors["deberta.embeddings.word_embeddings.weight"] = numpy.zeros((200000, 16), numpy.float32)
    write_safetensors(source / "model.safetensors", tensors)
    config = json.loads((source / "config.json").read_text())
    (source / "config.json").write_text(json.dumps(config | {"vocab_size": 200000}))
    (tmp_path / "texts.txt").write_text(TEXTS * 200)
    words = [BINARY, "convert", "-m", source, "--to", tmp_path / "a"]
    return words + (["--dtype", "int8", "--calibration-data", tmp_path / "texts.txt"] if request.param == "calibrated" else [])


@pytest.mark.parametrize("number, code", [(signal.SIGKILL, -9), (signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_at_a_random_moment_leaves_the_old_state_or_the_new_one(long_job, tmp_path, number, code):
    begin = time.monotonic()
    assert subprocess.run(long_job, capture_output=True).returncode == 0
    took = time.monotonic() - begin
    before, complete = contents(tmp_path / "m"), contents(tmp_path / "a")
    dice = random.Random(int(number))
    codes = set()
    for _ in range(12):
        shutil.rmtree(tmp_path / "a", ignore_errors=True)
        process = subprocess.Popen(long_job, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        time.sleep(dice.uniform(0.2, 1.0) * took)
        process.send_signal(number)
        process.communicate()
        codes.add(process.returncode)
        found = contents(tmp_path / "a")
        assert contents(tmp_path / "m") == before and found in (None, complete)
        assert process.returncode in (code, -number, 0) and (found or process.returncode != 0)
        if number != signal.SIGKILL and process.returncode == code:
            assert not [p for p in tmp_path.iterdir() if ".tmp-" in p.name]
    assert codes - {0}
    shutil.rmtree(tmp_path / "a", ignore_errors=True)
    assert subprocess.run(long_job, capture_output=True).returncode == 0 and contents(tmp_path / "a") == complete
    assert not [p for p in tmp_path.iterdir() if ".tmp-" in p.name]
