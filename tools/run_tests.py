#!/usr/bin/env python3
"""Runs the rooms of rooms.txt: test programs of a preset, Python tests, fuzz targets. Prints failures, the ten slowest tests,
what was not run and why, and the counts.

run_tests.py [--preset NAME] [--until T] [all | train | ROOM...]; the last line is `N passed, N failed`. Without arguments it runs all rooms except
those that only `all` adds; train stands for all rooms of the training half; the room fuzz runs each target of fuzz/ for ten seconds (fuzz:TARGET runs one). A program that hangs is ended.
With --until the rooms run in an order that the commit draws, and those that would end after the Unix time T are listed as not run.
A skipped test counts as not run: it is listed with its reason, and a room where every test is skipped fails."""
import argparse
import concurrent.futures
import dataclasses
import math
import os
import pathlib
import re
import sys
import tempfile
import time
import xml.etree.ElementTree as ElementTree

import fuzz
from draw import place
from limits import run_limited
from private_python import private_python
from rooms import read_rooms

ROOT = pathlib.Path(__file__).resolve().parent.parent
FUZZ_SECONDS = 10
PROGRAM_SECONDS, PYTEST_SECONDS = 900, 2700  # limits for a whole room
# The first three test accuracy over thousands of rows; shorter tests of the same verbs show a sanitizer the same code.
NOT_SANITIZED = {
    "tests/cli/test_recorded_models.py": "too slow under a sanitizer",
    "tests/cli/test_eval_recorded.py": "too slow under a sanitizer",
    "tests/cli/test_builtin_models.py": "too slow under a sanitizer",
    "tests/cli/test_allocation_failures.py": "a sanitizer has a heap of its own, which nothing can stand in front of",
}
SANITIZERS = ("asan", "tsan")
TIMELY_SECONDS = {"pytest": 720, "program": 90, "fuzz": 30}  # what a room may take under a sanitizer; a room that has less left is not begun
EMULATORS = {"aarch64": ("qemu-aarch64", "-L", str(ROOT / "build/aarch64-sysroot"))}  # for presets of other processors


@dataclasses.dataclass
class Test:
    name: str
    seconds: float
    outcome: str  # passed, failed or skipped
    reason: str = ""


@dataclasses.dataclass
class Job:
    """The results of one room, or of half a room."""
    name: str
    tests: list[Test]
    output: str = ""

    def count(self, outcome: str) -> int:
        return sum(test.outcome == outcome for test in self.tests)


@dataclasses.dataclass
class Settings:
    build: pathlib.Path
    emulator: tuple[str, ...]
    slowness: int  # factor for time limits under a sanitizer or an emulator
    until: float = math.inf  # Unix time


def load_rooms() -> dict[str, tuple[str, str]]:
    """{room: (runs, when)}"""
    return {room.name: (room.tests, room.when) for room in read_rooms(ROOT / "rooms.txt")}


def unlisted(listed: dict) -> list[Test]:
    """Folders with tests that no row names."""
    found = {path.parent.relative_to(ROOT / "tests").as_posix() for pattern in ("*/*_test.cpp", "*/test_*.py", "train/*/*_test.cpp", "train/*/test_*.py")
             for path in (ROOT / "tests").glob(pattern)}
    return [Test(f"{name}: not in rooms.txt", 0, "failed") for name in sorted(found - set(listed))]


def read_report(room: str, report: pathlib.Path) -> list[Test]:
    """The cases of a JUnit file, as GoogleTest and pytest write it."""
    tests = []
    for case in ElementTree.parse(report).iter("testcase") if report.exists() else ():
        suite = case.get("classname", "") + "." if case.get("result") else ""  # pytest's is the file
        test = Test(f"{room}: {suite}{case.get('name') or case.get('classname')}", float(case.get("time") or 0), "passed")
        skipped = case.find("skipped")
        if case.find("failure") is not None or case.find("error") is not None:
            test.outcome = "failed"
        elif skipped is not None or case.get("status") == "notrun":
            test.outcome = "skipped"
            # GoogleTest's message begins with the location.
            test.reason = re.sub(r"^\S+:\d+\s+", "", skipped.get("message", "")).strip() if skipped is not None else "disabled"
        tests.append(test)
    return tests


def with_ending(room: str, tests: list[Test], code: int | None, seconds: float) -> list[Test]:
    """Adds a failure for what no test reports: a crash, a hang, nothing run."""
    if code is None:
        return [*tests, Test(f"{room}: ended after {seconds:.0f} s without an end", seconds, "failed")]
    if code != 0 and not any(test.outcome == "failed" for test in tests):
        return [*tests, Test(f"{room}: exit code {code}", 0, "failed")]
    if not any(test.outcome != "skipped" for test in tests):
        return [*tests, Test(f"{room}: no test has run", 0, "failed")]
    return tests


def run_program(room: str, settings: Settings) -> Job:
    """The GoogleTest program of one room."""
    program = settings.build / f"test_{room.replace('/', '_')}"
    if not program.is_file():
        return Job(program.name, [Test(f"{room}: no program {program.name}", 0, "failed")])
    limit = PROGRAM_SECONDS * settings.slowness
    with tempfile.TemporaryDirectory() as folder:
        report = pathlib.Path(folder) / "report.xml"
        code, output = run_limited([*settings.emulator, program, f"--gtest_output=xml:{report}", "--gtest_brief=1"], limit, cwd=ROOT)
        tests = with_ending(room, read_report(room, report), code, limit)
    notes = "\n".join(line for line in output.splitlines() if line.startswith("note:"))
    return Job(program.name, tests, output if code != 0 else notes)


def run_pytest(room: str, settings: Settings) -> Job:
    """The Python tests of one room."""
    limit = PYTEST_SECONDS * settings.slowness
    with tempfile.TemporaryDirectory() as folder:
        report = pathlib.Path(folder) / "report.xml"
        environment = dict(os.environ, DEBERTA_BINARY=str(settings.build / "deberta"), PYTHONDONTWRITEBYTECODE="1")
        left_out = [file for file in NOT_SANITIZED if file.startswith(f"tests/{room}/") and settings.build.name in SANITIZERS]
        command = [private_python(room), "-m", "pytest", "-q", "-p", "no:cacheprovider", f"--junitxml={report}", f"tests/{room}",
                   *(f"--ignore={file}" for file in left_out)]
        code, output = run_limited(command, limit, cwd=ROOT, env=environment)
        tests = with_ending(room, read_report(room, report), code, limit)
    tests += [Test(f"{room}: {file}", 0, "skipped", NOT_SANITIZED[file]) for file in left_out]
    return Job(room, tests, output if code != 0 else "")


def run_fuzz(target: str, settings: Settings) -> Job:
    """One fuzz target."""
    begin = time.monotonic()
    passed, told, figures = fuzz.run_target(target, FUZZ_SECONDS)
    name = f"fuzz: {target}, {figures.get('number_of_executed_units', 0)} executions"
    return Job(f"fuzz:{target}", [Test(name, time.monotonic() - begin, "passed" if passed else "failed")], told)


def choose(rooms: dict[str, tuple[str, str]], asked: list[str], settings: Settings) -> list[str]:
    """The rooms to run, with fuzz replaced by its targets."""
    known = {*rooms, "all", "train", *(f"fuzz:{target}" for target in fuzz.TARGETS)}
    if unknown := [room for room in asked if room not in known]:
        print(f"test: unknown room {unknown[0]}; expected all, train, fuzz:TARGET or some of {', '.join(rooms)}", file=sys.stderr)
        raise SystemExit(2)
    asked = [name for room in asked for name in ([n for n in rooms if n.startswith("train/")] if room == "train" else [room])]
    chosen = [room for room in asked if room != "all"]
    if not chosen:
        usual = ("always",) if settings.build.name in SANITIZERS else ("always", "plain")
        chosen = [room for room, (_, when) in rooms.items() if when in usual or "all" in asked]
    return [name for room in chosen for name in ([f"fuzz:{target}" for target in fuzz.TARGETS] if room == "fuzz" else [room])]


def jobs_of(rooms: dict[str, tuple[str, str]], chosen: list[str], settings: Settings) -> list[tuple]:
    """(function, room), the longest first. Under an emulator only test programs run: Python tests start the program hundreds of times."""
    runs = {room: rooms[room][0] for room in chosen if room in rooms}
    jobs = [(run_pytest, room) for room, what in runs.items() if what in ("pytest", "both") and not settings.emulator]
    jobs += [(run_program, room) for room, what in runs.items() if what in ("program", "both")]
    return jobs + [(run_fuzz, room.removeprefix("fuzz:")) for room in chosen if room.startswith("fuzz:")]


def drawn(jobs: list[tuple]) -> list[tuple]:
    """In an order that the commit draws; Python tests, which take minutes, stay first."""
    return sorted(jobs, key=lambda job: (job[0] is not run_pytest, place(job[1], ROOT)))


def run_in_time(function, room: str, settings: Settings) -> Job:
    kind = function.__name__.removeprefix("run_")
    if time.time() + TIMELY_SECONDS[kind] > settings.until:
        return Job(f"{room} ({kind})", [Test(f"{room} ({kind})", 0, "skipped", "the time is over")])
    return function(room, settings)


def prepare(jobs: list[tuple]) -> bool:
    """Installs and builds what the jobs need, at once: one waits for the network, the other for the compiler."""
    functions = {function for function, _ in jobs}
    rooms = [room for function, room in jobs if function is run_pytest]
    with concurrent.futures.ThreadPoolExecutor() as executor:
        python = executor.submit(private_python, *rooms) if rooms else None
        built = run_fuzz not in functions or fuzz.build()
        if python is not None:
            python.result()
    return built


def tell(tests: list[Test]) -> int:
    print("slowest tests:")
    for test in sorted(tests, key=lambda test: test.seconds, reverse=True)[:10]:
        print(f"  {test.seconds:7.2f} s  {test.name}")
    for test in tests:
        if test.outcome == "skipped":
            print(f"not run: {test.name}: {test.reason}")
    failed = sum(test.outcome == "failed" for test in tests)
    print(f"{sum(test.outcome == 'passed' for test in tests)} passed, {failed} failed")
    return 1 if failed else 0


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--preset", default="dev")
    parser.add_argument("--until", type=float, default=math.inf)
    parser.add_argument("rooms", nargs="*")
    arguments = parser.parse_args()
    emulator = EMULATORS.get(arguments.preset, ())
    settings = Settings(ROOT / "build" / arguments.preset, emulator, 10 if emulator else 3 if arguments.preset in SANITIZERS else 1, arguments.until)
    rooms = load_rooms()
    jobs = jobs_of(rooms, choose(rooms, arguments.rooms, settings), settings)
    jobs = drawn(jobs) if settings.until < math.inf else jobs
    if not prepare(jobs):
        return 1
    tests = unlisted(rooms)
    for test in tests:
        print(f"{test.name:<20} 0 passed, 1 failed")
    with concurrent.futures.ThreadPoolExecutor(max_workers=2) as executor:
        for future in concurrent.futures.as_completed([executor.submit(run_in_time, function, room, settings) for function, room in jobs]):
            job = future.result()
            skipped = f", {job.count('skipped')} not run" if job.count("skipped") else ""
            print(f"{job.name:<20} {job.count('passed')} passed, {job.count('failed')} failed{skipped}, {sum(t.seconds for t in job.tests):.1f} s", flush=True)
            print("".join(f"failed: {test.name}\n" for test in job.tests if test.outcome == "failed") + job.output, end="\n" if job.output else "")
            tests += job.tests
    return tell(tests)


if __name__ == "__main__":
    sys.exit(main())
