#!/usr/bin/env python3
"""Runs the rooms of rooms.txt: test programs of a preset, Python tests, fuzz targets. Prints failures, the slowest
tests, what was not run and why, and the counts.

run_tests.py [--preset NAME] [--sample P F] [--until T] [all | train | ROOM...]; the last line is `N passed, N failed`.
Without arguments it runs all rooms except those that only `all` adds; train stands for all rooms of the training half;
the room fuzz runs each target of fuzz/ for four seconds (fuzz:TARGET runs one). A program that hangs is ended. With
--sample P F only P of the rooms' programs and F files of Python tests are built and run: the nearest to the change,
then as the commit draws them. With --until those that would end after the Unix time T are listed as not run.
A skipped test counts as not run: it is listed with its reason, and a room where every test is skipped fails."""

import argparse
import concurrent.futures
import dataclasses
import json
import math
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree as ElementTree

import fuzz
import reach
from draw import place
from limits import run_limited
from private_python import private_python
from rooms import read_rooms

ROOT = pathlib.Path(__file__).resolve().parent.parent
FUZZ_SECONDS = 4  # of each target; tools/long_checks fuzz: 300
SLOWEST = 20  # tests that are named with their times
SECONDS = ROOT / "build/test_seconds.json"
PROGRAM_SECONDS, PYTEST_SECONDS = 900, 2700  # limits for a whole room
# The first three test accuracy over thousands of rows; shorter tests of the same verbs show a sanitizer the same code.
NOT_SANITIZED = {
    "tests/cli/test_recorded_models.py": "too slow under a sanitizer",
    "tests/cli/test_eval_recorded.py": "too slow under a sanitizer",
    "tests/cli/test_builtin_models.py": "too slow under a sanitizer",
    "tests/cli/test_allocation_failures.py": "a sanitizer has a heap of its own, which nothing can stand in front of",
}
SANITIZERS = ("asan", "tsan")
# what each may take under a sanitizer; what has less left is not begun
TIMELY_SECONDS = {"pytest": 720, "file": 180, "program": 90, "fuzz": 30}
# torch's own: with tensors this small one of two threads only waits, and keeps its core busy with it
ONE_THREAD = {"OMP_NUM_THREADS": "1"}
NEAR_STEPS = 2  # from a changed file (reach.py)
EMULATORS = {"aarch64": ("qemu-aarch64", "-L", str(ROOT / "build/aarch64-sysroot"))}  # for presets of other processors


@dataclasses.dataclass
class Test:
    name: str
    seconds: float
    outcome: str  # passed, failed or skipped
    reason: str = ""
    file: str = ""  # of the test, relative to the root


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
    found = {
        path.parent.relative_to(ROOT / "tests").as_posix()
        for pattern in ("*/*_test.cpp", "*/test_*.py", "train/*/*_test.cpp", "train/*/test_*.py", "python/*/test_*.py")
        for path in (ROOT / "tests").glob(pattern)
    }
    return [Test(f"{name}: not in rooms.txt", 0, "failed") for name in sorted(found - set(listed))]


def file_of(case: ElementTree.Element) -> str:
    """The file of a test: GoogleTest writes its path, pytest the module as the class."""
    if case.get("file"):
        return os.path.relpath(os.path.normpath(ROOT / "build/any" / case.get("file")), ROOT)
    parts = case.get("classname", "").split(".")
    return next(
        (name for end in range(len(parts), 0, -1) if (ROOT / (name := "/".join(parts[:end]) + ".py")).is_file()), ""
    )


def read_report(room: str, report: pathlib.Path) -> list[Test]:
    """The cases of a JUnit file, as GoogleTest and pytest write it."""
    tests = []
    for case in ElementTree.parse(report).iter("testcase") if report.exists() else ():
        suite = case.get("classname", "") + "." if case.get("result") else ""  # pytest's is the file
        test = Test(
            f"{room}: {suite}{case.get('name') or case.get('classname')}",
            float(case.get("time") or 0),
            "passed",
            file=file_of(case),
        )
        skipped = case.find("skipped")
        if case.find("failure") is not None or case.find("error") is not None:
            test.outcome = "failed"
        elif skipped is not None or case.get("status") == "notrun":
            test.outcome = "skipped"
            # GoogleTest's message begins with the location.
            test.reason = (
                re.sub(r"^\S+:\d+\s+", "", skipped.get("message", "")).strip() if skipped is not None else "disabled"
            )
        tests.append(test)
    return tests


def with_ending(
    room: str, tests: list[Test], code: int | None, seconds: float, may_skip_all: bool = False
) -> list[Test]:
    """Adds a failure for what no test reports: a crash, a hang, nothing run. `may_skip_all`: where tests are a part of
    the room's, all of them may be skipped."""
    if code is None:
        return [*tests, Test(f"{room}: ended after {seconds:.0f} s without an end", seconds, "failed")]
    if code != 0 and not any(test.outcome == "failed" for test in tests):
        return [*tests, Test(f"{room}: exit code {code}", 0, "failed")]
    if not any(may_skip_all or test.outcome != "skipped" for test in tests):
        return [*tests, Test(f"{room}: no test has run", 0, "failed")]
    return tests


def suites_in(file: str) -> str:
    """The filter that chooses the tests of a file."""
    suites = reach.SUITE.findall((ROOT / file).read_text())
    return ":".join(
        pattern for suite in dict.fromkeys(suites) for pattern in (f"{suite}.*", f"*/{suite}.*", f"{suite}/*.*")
    )


def run_program(room: str, settings: Settings, file: str = "") -> Job:
    """The GoogleTest program of one room, or its tests of one file."""
    program = settings.build / f"test_{room.replace('/', '_')}"
    if not program.is_file():
        return Job(program.name, [Test(f"{room}: no program {program.name}", 0, "failed")])
    limit = PROGRAM_SECONDS * settings.slowness
    with tempfile.TemporaryDirectory() as folder:
        report = pathlib.Path(folder) / "report.xml"
        chosen = [f"--gtest_filter={suites_in(file)}"] if file else []
        code, output = run_limited(
            [*settings.emulator, program, f"--gtest_output=xml:{report}", "--gtest_brief=1", *chosen],
            limit,
            cwd=ROOT,
            env=os.environ | ONE_THREAD,
        )
        tests = with_ending(room, read_report(room, report), code, limit, file != "")
    notes = "\n".join(line for line in output.splitlines() if line.startswith("note:"))
    return Job(file or program.name, tests, output if code != 0 else notes)


def run_pytest(room: str, settings: Settings, files: tuple[str, ...] = ()) -> Job:
    """The Python tests of one room, or those of the files."""
    limit = PYTEST_SECONDS * settings.slowness
    with tempfile.TemporaryDirectory() as folder:
        report = pathlib.Path(folder) / "report.xml"
        environment = (
            dict(os.environ, DEBERTA_BINARY=str(settings.build / "deberta"), PYTHONDONTWRITEBYTECODE="1") | ONE_THREAD
        )
        left_out = [
            file for file in NOT_SANITIZED if file.startswith(f"tests/{room}/") and settings.build.name in SANITIZERS
        ]
        command = [
            private_python(room),
            "-m",
            "pytest",
            "-q",
            "-p",
            "no:cacheprovider",
            f"--junitxml={report}",
            *(files or [f"tests/{room}"]),
            *(f"--ignore={file}" for file in left_out),
        ]
        code, output = run_limited(command, limit, cwd=ROOT, env=environment)
        tests = with_ending(room, read_report(room, report), code, limit, bool(files))
    tests += [Test(f"{room}: {file}", 0, "skipped", NOT_SANITIZED[file]) for file in left_out]
    return Job(" ".join(files) or room, tests, output if code != 0 else "")


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
        print(
            f"test: unknown room {unknown[0]}; expected all, train, fuzz:TARGET or some of {', '.join(rooms)}",
            file=sys.stderr,
        )
        raise SystemExit(2)
    asked = [
        name for room in asked for name in ([n for n in rooms if n.startswith("train/")] if room == "train" else [room])
    ]
    chosen = [room for room in asked if room != "all"]
    if not chosen:
        usual = ("always",) if settings.build.name in SANITIZERS else ("always", "plain")
        chosen = [room for room, (_, when) in rooms.items() if when in usual or ("all" in asked and when != "asked")]
    return [
        name
        for room in chosen
        for name in ([f"fuzz:{target}" for target in fuzz.TARGETS] if room == "fuzz" else [room])
    ]


@dataclasses.dataclass(frozen=True)
class Work:
    kind: str  # "pytest", "program" or "fuzz"
    room: str  # or the fuzz target
    files: tuple[str, ...] = ()  # of Python tests; all of the room where there are none


def work_of(rooms: dict[str, tuple[str, str]], chosen: list[str], settings: Settings) -> list[Work]:
    """The longest first. Under an emulator only test programs run: Python tests start the program hundreds of times."""
    runs = {room: rooms[room][0] for room in chosen if room in rooms}
    work = [Work("pytest", room) for room, what in runs.items() if what in ("pytest", "both") and not settings.emulator]
    work += [Work("program", room) for room, what in runs.items() if what in ("program", "both")]
    return work + [Work("fuzz", room.removeprefix("fuzz:")) for room in chosen if room.startswith("fuzz:")]


def sample(work: list[Work], programs: int, files: int, settings: Settings) -> list[Work]:
    """So many rooms' programs and so many files of Python tests: the nearest to the change first, the others as the
    commit draws them."""
    distances = reach.of_change(ROOT)

    def rank(name: str, steps: int) -> tuple:
        return (min(steps, NEAR_STEPS + 1), place(name, ROOT))  # what is farther than that, every change touches

    ranked_programs = sorted(
        (one for one in work if one.kind == "program"),
        key=lambda one: rank(
            one.room,
            min(
                (
                    steps
                    for file, steps in distances.items()
                    if file.startswith(f"tests/{one.room}/") and file.endswith("_test.cpp")
                ),
                default=NEAR_STEPS + 1,
            ),
        ),
    )
    python = [
        path.relative_to(ROOT).as_posix()
        for one in work
        if one.kind == "pytest"
        for path in (ROOT / "tests" / one.room).glob("test_*.py")
    ]
    left_out = NOT_SANITIZED if settings.build.name in SANITIZERS else {}
    ranked_files = sorted(
        (name for name in python if name not in left_out),
        key=lambda name: rank(name, distances.get(name, NEAR_STEPS + 1)),
    )
    return [
        *(Work("pytest", name.removeprefix("tests/").rpartition("/")[0], (name,)) for name in ranked_files[:files]),
        *ranked_programs[:programs],
    ]


def run_in_time(work: Work, settings: Settings) -> Job:
    name = " ".join(work.files) or f"{work.room} ({work.kind})"
    if time.time() + TIMELY_SECONDS["file" if work.files else work.kind] > settings.until:
        return Job(name, [Test(name, 0, "skipped", "the time is over")])
    if work.kind == "pytest":
        return run_pytest(work.room, settings, work.files)
    return run_program(work.room, settings) if work.kind == "program" else run_fuzz(work.room, settings)


def shell(command: str) -> bool:
    """With the functions of packages.sh."""
    return (
        subprocess.run(
            ["bash", "-c", f". tools/packages.sh && {command}"], cwd=ROOT, stdin=subprocess.DEVNULL
        ).returncode
        == 0
    )


def build(preset: str, work: list[Work]) -> bool:
    """The programs of the sample alone."""
    targets = {f"test_{one.room.replace('/', '_')}" if one.kind == "program" else "deberta" for one in work}
    return shell(f"build_preset test {preset} {' '.join(sorted(targets))}")


def prepare(work: list[Work], preset: str, is_sample: bool) -> bool:
    """Installs and builds what the work needs, at once: one waits for the network, the other for the compiler."""
    rooms = [one.room for one in work if one.kind == "pytest"]
    with concurrent.futures.ThreadPoolExecutor() as executor:
        python = executor.submit(private_python, *rooms) if rooms else None
        built = fuzz.build() if any(one.kind == "fuzz" for one in work) else not is_sample or build(preset, work)
        if python is not None:
            python.result()
    return built


def show(job: Job) -> list[Test]:
    """Prints the counts of a job, and what failed; its tests."""
    skipped = f", {job.count('skipped')} not run" if job.count("skipped") else ""
    print(
        f"{job.name:<20} {job.count('passed')} passed, {job.count('failed')} failed{skipped}, "
        f"{sum(t.seconds for t in job.tests):.1f} s",
        flush=True,
    )
    print(
        "".join(f"failed: {test.name}\n" for test in job.tests if test.outcome == "failed") + job.output,
        end="\n" if job.output else "",
    )
    return job.tests


def recorded_seconds() -> dict[str, float]:
    """{test file: seconds it took when it last ran here}"""
    return json.loads(SECONDS.read_text()) if SECONDS.exists() else {}


def record_seconds(tests: list[Test]) -> None:
    took: dict[str, float] = {}
    for test in tests:
        if test.file and test.outcome == "passed":
            took[test.file] = round(took.get(test.file, 0) + test.seconds, 3)
    SECONDS.parent.mkdir(parents=True, exist_ok=True)
    SECONDS.write_text(json.dumps(recorded_seconds() | took, indent=0, sort_keys=True))


def tell(tests: list[Test]) -> int:
    print("slowest tests:")
    for test in sorted(tests, key=lambda test: test.seconds, reverse=True)[:SLOWEST]:
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
    parser.add_argument("--sample", type=int, nargs=2, metavar=("PROGRAMS", "FILES"))
    parser.add_argument("rooms", nargs="*")
    arguments = parser.parse_args()
    emulator = EMULATORS.get(arguments.preset, ())
    settings = Settings(
        ROOT / "build" / arguments.preset,
        emulator,
        10 if emulator else 3 if arguments.preset in SANITIZERS else 1,
        arguments.until,
    )
    rooms = load_rooms()
    all_work = work_of(rooms, choose(rooms, arguments.rooms, settings), settings)
    work = sample(all_work, *arguments.sample, settings) if arguments.sample else all_work
    if not prepare(work, arguments.preset, arguments.sample is not None):
        return 1
    tests = unlisted(rooms)
    for test in tests:
        print(f"{test.name:<20} 0 passed, 1 failed")
    with concurrent.futures.ThreadPoolExecutor(max_workers=2) as executor:
        for future in concurrent.futures.as_completed([executor.submit(run_in_time, one, settings) for one in work]):
            tests += show(future.result())
    if arguments.sample:
        tests.append(
            Test(
                f"a sample of {len(work)}, drawn by the commit",
                0,
                "skipped",
                f"tools/long_checks {arguments.preset} runs everything",
            )
        )
    else:
        record_seconds(tests)
    return tell(tests)


if __name__ == "__main__":
    sys.exit(main())
