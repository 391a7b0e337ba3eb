#!/usr/bin/env python3
"""Runs the test programs of a preset and the Python tests; prints failures, the ten slowest tests and the counts.

run_tests.py [--preset NAME] [ROOM...]; the last line is `N passed, N failed`. The room fuzz runs each target of fuzz/ for
ten seconds (fuzz:TARGET one of them); it is part of the whole in the preset dev alone."""
import argparse
import concurrent.futures
import hashlib
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree as ElementTree

import fuzz

ROOT = pathlib.Path(__file__).resolve().parent.parent
FUZZ_SECONDS = 10
PYTHON_ROOMS = ("cli", "library", "oracle")  # tests/ROOM/test_*.py, against the built program
# Accuracy over thousands of rows: what a sanitizer looks for is in the shorter tests of the same verbs.
NOT_SANITIZED = ("tests/cli/test_recorded_models.py", "tests/cli/test_eval_recorded.py")
SANITIZERS = ("asan", "tsan")
EMULATORS = {"aarch64": ("qemu-aarch64", "-L", str(ROOT / "build/aarch64-sysroot"))}  # of presets for other processors


class Results:
    """Counts, times and failures of all tests."""

    def __init__(self):
        self.passed, self.failed = 0, 0
        self.times: list[tuple[float, str]] = []

    def add(self, name: str, seconds: float, failed: bool) -> None:
        self.times.append((seconds, name))
        if failed:
            self.failed += 1
        else:
            self.passed += 1


def private_python() -> str:
    """The interpreter of .venv, with exactly the packages of tests/requirements.txt."""
    wanted = ROOT / "tests/requirements.txt"
    venv = ROOT / ".venv"
    stamp = venv / "requirements.sha256"
    digest = hashlib.sha256(wanted.read_bytes()).hexdigest()
    if not stamp.exists() or stamp.read_text() != digest:
        print("test: installing the packages of tests/requirements.txt into .venv", file=sys.stderr)
        interpreter = "/usr/bin/python3" if pathlib.Path("/usr/bin/python3").exists() else sys.executable
        subprocess.run([interpreter, "-m", "venv", "--clear", venv], check=True)
        subprocess.run([venv / "bin/pip", "install", "-q", "--disable-pip-version-check", "-r", wanted], check=True)
        stamp.write_text(digest)
    return str(venv / "bin/python")


def run_program(program: pathlib.Path, emulator: tuple[str, ...]) -> tuple[str, list, str]:
    """One GoogleTest program: (name, [(test, seconds, failed)], output when something failed)."""
    with tempfile.TemporaryDirectory() as folder:
        report = pathlib.Path(folder) / "report.json"
        done = subprocess.run([*emulator, program, f"--gtest_output=json:{report}", "--gtest_brief=1"], cwd=ROOT, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, errors="replace")
        tests = []
        if report.exists():
            for suite in json.loads(report.read_text())["testsuites"]:
                for test in suite["testsuite"]:
                    name = f"{program.name[5:]}: {suite['name']}.{test['name']}"
                    tests.append((name, float(test["time"].rstrip("s")), bool(test.get("failures"))))
        crashed = done.returncode != 0 and not any(failed for _, _, failed in tests)
        if crashed or not tests:
            tests.append((f"{program.name[5:]}: exit code {done.returncode}", 0.0, True))
        notes = "\n".join(line for line in done.stdout.splitlines() if line.startswith("note:"))
        return program.name, tests, done.stdout if done.returncode != 0 else notes


def run_pytest(room: str, build: pathlib.Path) -> tuple[str, list, str]:
    """The Python tests of one room, in the same form."""
    with tempfile.TemporaryDirectory() as folder:
        report = pathlib.Path(folder) / "report.xml"
        environment = dict(os.environ, DEBERTA_BINARY=str(build / "deberta"), PYTHONDONTWRITEBYTECODE="1")
        done = subprocess.run([private_python(), "-m", "pytest", "-q", "-p", "no:cacheprovider", f"--junitxml={report}", f"tests/{room}",
                               *(f"--ignore={file}" for file in NOT_SANITIZED if build.name in SANITIZERS)],
                              cwd=ROOT, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        tests = []
        if report.exists():
            for case in ElementTree.parse(report).iter("testcase"):
                failed = case.find("failure") is not None or case.find("error") is not None or case.find("skipped") is not None
                tests.append((f"{room}: {case.get('name')}", float(case.get("time")), failed))
        if not tests:
            tests.append((f"{room}: pytest ran nothing", 0.0, True))
        return room, tests, done.stdout if done.returncode != 0 else ""


def run_fuzz(target: str) -> tuple[str, list, str]:
    """One fuzz target, in the same form."""
    begin = time.monotonic()
    passed, told, figures = fuzz.run_target(target, FUZZ_SECONDS)
    name = f"fuzz: {target}, {figures.get('number_of_executed_units', 0)} executions"
    return f"fuzz:{target}", [(name, time.monotonic() - begin, not passed)], told


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--preset", default="dev")
    parser.add_argument("rooms", nargs="*")
    arguments = parser.parse_args()
    build = ROOT / "build" / arguments.preset
    programs = {p.name[5:]: p for p in sorted(build.glob("test_*")) if p.is_file()}
    emulator = EMULATORS.get(arguments.preset, ())
    # Python tests start the program some hundred times.
    python_rooms = set() if emulator else {r for r in PYTHON_ROOMS if list((ROOT / "tests" / r).glob("test_*.py"))}
    fuzz_rooms = {f"fuzz:{target}" for target in fuzz.TARGETS}
    known = set(programs) | python_rooms
    for room in arguments.rooms:
        if room not in known | fuzz_rooms | {"fuzz"}:
            print(f"test: unknown room {room}; expected one of {', '.join(sorted(known))}, fuzz, fuzz:TARGET", file=sys.stderr)
            return 2
    chosen = set(arguments.rooms) or (known | {"fuzz"} if arguments.preset == "dev" else known)
    if "fuzz" in chosen:
        chosen = chosen - {"fuzz"} | fuzz_rooms
    with concurrent.futures.ThreadPoolExecutor() as executor:  # one waits for the network, the other for the compiler
        python = executor.submit(private_python) if chosen & python_rooms else None
        if chosen & fuzz_rooms and not fuzz.build():
            return 1
        if python is not None:
            python.result()

    results = Results()
    jobs = [(run_pytest, r, build) for r in sorted(chosen & python_rooms)]  # the longest first
    jobs += [(run_program, programs[r], emulator) for r in sorted(chosen & set(programs))]
    jobs += [(run_fuzz, r.removeprefix("fuzz:")) for r in sorted(chosen & fuzz_rooms)]
    with concurrent.futures.ThreadPoolExecutor(max_workers=2) as executor:
        for future in concurrent.futures.as_completed([executor.submit(*job) for job in jobs]):
            name, tests, output = future.result()
            failed = sum(1 for t in tests if t[2])
            print(f"{name:<20} {len(tests) - failed} passed, {failed} failed, {sum(t[1] for t in tests):.1f} s", flush=True)
            if output:
                print(output)
            for test in tests:
                results.add(*test)
    print("slowest tests:")
    for seconds, name in sorted(results.times, reverse=True)[:10]:
        print(f"  {seconds:7.2f} s  {name}")
    print(f"{results.passed} passed, {results.failed} failed")
    return 1 if results.failed else 0


if __name__ == "__main__":
    sys.exit(main())
