"""convert stopped at any moment: it leaves either the old state or the new one, and the next run is not confused. A
third of the moments, drawn from CONVERT_SEED; all of them with DEBERTA_LONG=1 (tools/long_checks kills)."""

import dataclasses
import os
import pathlib
import random
import shutil
import signal
import subprocess

import pytest

from chosen_call import Call, build_shim, environment_at, give_live_numbers
from clean_environment import clean_environment
from conftest import BINARY, HANG_SECONDS
from conversion_models import contents, make_v1_model

TEXTS = "a text to calibrate with\nand another , longer one\n"
CALIBRATION = "calibration.safetensors"
SEED = os.environ.get("CONVERT_SEED", "4")


@pytest.fixture(scope="module")
def shim(tmp_path_factory):
    return build_shim(tmp_path_factory.mktemp("shim"))


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

    def run(self, does="", call=0, target="a", report=""):
        environment = clean_environment() | environment_at(self.shim, Call(number=call), does, report)
        return subprocess.run(
            [BINARY, "convert", "-m", self.source, "--to", self.place / target, *self.words],
            env=environment,
            capture_output=True,
            text=True,
            timeout=HANG_SECONDS,
        )

    def learn(self):
        self.place.mkdir()
        self.before = contents(self.source)
        report = self.place.parent / "calls"
        done = self.run(target="counted", report=report)
        assert done.returncode == 0, done.stderr
        self.calls, self.complete = len(report.read_text().splitlines()), contents(self.place / "counted")
        assert self.calls > 20
        shutil.rmtree(self.place / "counted")
        return self

    def moments(self, about):
        """The numbers of the calls at which it is stopped: the first and the last, and some between."""
        if os.environ.get("DEBERTA_LONG") == "1":
            return range(1, self.calls + 1)
        print(f"CONVERT_SEED={SEED}")
        dice = random.Random(f"{SEED} {about} {len(self.words)}")
        return sorted({1, *dice.sample(range(2, self.calls), self.calls // 3), self.calls})

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
    for call in job.moments("kill"):
        done = job.run(signal.SIGKILL, call)
        assert done.returncode == -signal.SIGKILL, (call, done.stderr)
        finished.add(job.is_done())
        if not job.is_done():
            left = give_live_numbers(job.place)
            again = job.run()
            assert again.returncode == 0 and job.is_done(), (call, again.stderr)
            assert ("removed, left by a killed run" in again.stderr) == bool(left), call
        assert job.left() == [], call
        shutil.rmtree(job.place / "a")
    assert finished == {True, False}


def test_a_run_killed_while_it_removes_leftovers_does_no_harm(job, deberta):
    for call in (job.calls // 2, *range(1, 25)):
        assert job.run(signal.SIGKILL, call).returncode == -signal.SIGKILL
        assert not job.is_done()
    job.run(signal.SIGKILL, job.calls // 2)
    assert [name for name in job.left() if name.startswith("a.tmp-")]
    assert job.run().returncode == 0 and job.is_done() and job.left() == []
    assert deberta("check", "-m", job.place / "a", "--strict").returncode == 0


@pytest.mark.parametrize("mode", ["ENOSPC", "EIO"])
def test_an_error_at_any_call_is_named_and_leaves_nothing(job, mode):
    failed, moments = 0, job.moments(mode)
    for call in moments:
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
    assert failed > len(moments) // 2


@pytest.mark.parametrize("mode", ["EINTR", "SHORT"])
def test_interrupted_calls_and_short_writes_change_nothing(job, mode):
    for call in job.moments(mode):
        done = job.run(mode, call)
        assert done.returncode == 0 and job.is_done(), (call, done.stderr)
        shutil.rmtree(job.place / "a")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_at_a_random_call_leaves_the_old_state_or_the_new_one(job, number):
    dice, codes = random.Random(int(number)), set()
    for call in (1, *dice.sample(range(2, job.calls + 1), 11)):
        done = job.run(number, call)
        codes.add(done.returncode)
        # the last may come after the end
        assert done.returncode == 128 + number or (done.returncode == 0 and job.is_done()), (call, done.stderr)
        assert job.left() == [], call
        shutil.rmtree(job.place / "a", ignore_errors=True)
    assert 128 + number in codes
