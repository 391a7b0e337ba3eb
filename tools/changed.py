#!/usr/bin/env python3
"""./test --changed [COMMIT]: builds and runs what the files that changed since COMMIT can break, the nearest first,
within three minutes.

Without COMMIT: since the last commit that passed the gate here, else since the branch left origin's main, else since
six hours before the last commit (draw.py). Files that are not committed count. First the checks of tools/checks.py that
such files can fail, the syntax of fuzz targets and examples that include them among these; then test files by the
number of steps between them and a changed file (reach.py), among equals those that took the least time when they last
ran here. Compiling counts; what there is no time for, and what only `./test all` runs, is listed. The last line is
`N passed, N failed`.

changed.py [COMMIT] [--minutes M] [--list]: --list only shows the files, checks and tests, in their order."""

import argparse
import concurrent.futures
import dataclasses
import pathlib
import sys
import time

import checks
import draw
import reach
import run_tests
from rooms import read_rooms

ROOT = pathlib.Path(__file__).resolve().parent.parent
UNKNOWN_SECONDS = {"program": 1.0, "pytest": 20.0}  # of a test file that was never run here
WORKERS = 2
WITHOUT_PROGRAM = {"gate"}  # rooms of Python tests that run no program of ours
LONGEST_SECONDS = 60  # tests of more than this come after all others: they belong to ./test


@dataclasses.dataclass(frozen=True)
class Unit:
    """A test file."""

    file: str
    room: str
    kind: str  # "program" or "pytest"
    steps: int
    seconds: float


def base_of(commit: str | None) -> str:
    """The commit to compare with, as a hash."""
    if commit is None:
        return draw.base(ROOT)
    if found := draw.git(ROOT, "rev-parse", "-q", "--verify", f"{commit}^{{commit}}"):
        return found
    print(f"test: --changed: expected a commit, got {commit}", file=sys.stderr)
    raise SystemExit(2)


def units_of(distances: dict[str, int]) -> list[Unit]:
    """The test files that can fail, in the order in which they are to run."""
    rooms = {room.name: room for room in read_rooms(ROOT / "rooms.txt")}
    known = run_tests.recorded_seconds()
    found = []
    for file, steps in distances.items():
        room = file.removeprefix("tests/").rpartition("/")[0]
        if reach.is_test(file) and room in rooms and (ROOT / file).is_file():
            kind = "program" if file.endswith(".cpp") else "pytest"
            found.append(Unit(file, room, kind, steps, known.get(file, UNKNOWN_SECONDS[kind])))
    return sorted(found, key=lambda unit: (unit.seconds > LONGEST_SECONDS, unit.steps, unit.seconds, unit.file))


def checks_of(changed: list[str], includers: list[str]) -> list[tuple[checks.Check, list[str]]]:
    """The checks that can fail, each with the files for which it is run."""
    found = [(check, checks.chosen(check, includers if check.is_by_includes else changed)) for check in checks.CHECKS]
    return [(check, files) for check, files in found if files]


def fitting(units: list[Unit], seconds: float) -> list[Unit]:
    """As many as there is time for, by what they took before: a unit that is too long for what is left lets shorter
    ones pass."""
    left, taken = seconds * WORKERS, []
    for unit in units:
        if unit.seconds <= min(left, seconds):
            taken.append(unit)
            left -= unit.seconds
    return taken


def build(units: list[Unit], wanted: list[checks.Check], changed: list[str]) -> bool:
    """What the units and checks need."""
    torch = {room.name for room in read_rooms(ROOT / "rooms.txt") if room.part == "torch"}
    needs = {need for check in wanted for need in check.needs.split()}
    has_training = "training" in needs or any(unit.room in torch for unit in units)
    is_source = any(
        name.startswith(("src/", "include/", "train/", "python/src/", "cmake/", "CMake")) for name in changed
    )
    targets = {f"test_{unit.room.replace('/', '_')}" for unit in units if unit.kind == "program"}
    if (
        is_source
        or "program" in needs
        or any(unit.kind == "pytest" and unit.room not in WITHOUT_PROGRAM for unit in units)
    ):
        targets |= {"deberta", "deberta-train"} if has_training else {"deberta"}
    packages = " ".join(sorted(need for need in needs if need.startswith("clang-")))
    if packages and not run_tests.shell(f"install_packages test {packages}"):
        return False
    serve = (
        "install_packages test $SERVE_TEST_PACKAGES && "
        if any(unit.room == "serve" and unit.kind == "pytest" for unit in units)
        else ""
    )
    if not targets:
        return True
    training = "mkdir -p build/dev && with_training test dev && " if has_training else ""
    if any(unit.room.startswith("python/") for unit in units):
        training += "with_python test dev && "
        targets.add("deberta_python")
    return run_tests.shell(f"{serve}{training}build_preset test dev {' '.join(sorted(targets))}")


def run_unit(unit: Unit, settings: run_tests.Settings) -> run_tests.Job:
    if time.time() > settings.until:
        return run_tests.Job(unit.file, [run_tests.Test(unit.file, 0, "skipped", "the time is over")])
    if unit.kind == "program":
        return run_tests.run_program(unit.room, settings, unit.file)
    return run_tests.run_pytest(unit.room, settings, (unit.file,))


def run_checks(wanted: list[tuple[checks.Check, list[str]]]) -> list[run_tests.Test]:
    tests = []
    for check, files in wanted:
        begin = time.monotonic()
        code, told = checks.run(check, files)
        tests.append(run_tests.Test(f"check: {check.name}", time.monotonic() - begin, "failed" if code else "passed"))
        print(f"{check.name:<20} {'failed' if code else 'passed'}" + (f"\n{told}" if code else ""), flush=True)
    return tests


def left_out(units: list[Unit]) -> list[run_tests.Test]:
    """A line for each room."""
    lines = []
    for room in dict.fromkeys(unit.room for unit in units):
        those = [unit for unit in units if unit.room == room]
        steps = sorted({unit.steps for unit in those})
        names = ", ".join(pathlib.PurePath(unit.file).name for unit in those[:4]) + (
            f" and {len(those) - 4} more" if len(those) > 4 else ""
        )
        lines.append(
            run_tests.Test(
                f"{room}: {len(those)} test files, {steps[0]} to {steps[-1]} steps away ({names})",
                0,
                "skipped",
                f"no time; ./test {room} runs them",
            )
        )
    return lines


def main() -> int:
    parser = argparse.ArgumentParser(prog="./test --changed")
    parser.add_argument("commit", nargs="?")
    parser.add_argument("--minutes", type=float, default=2.5)  # the last tests that it begins end later
    parser.add_argument("--list", action="store_true")
    arguments = parser.parse_args()
    begin = time.time()
    base = base_of(arguments.commit)
    changed = draw.changed_since(ROOT, base)
    tree = reach.tree_of(ROOT, changed)
    wanted = checks_of(changed, tree.includers(changed))
    units = units_of(tree.distances(changed))
    print(
        f"test: {len(changed)} files changed since {base[:12]}; {len(wanted)} checks and {len(units)} test files "
        "can fail",
        flush=True,
    )
    if arguments.list:
        print(
            "\n".join(
                [
                    *changed,
                    *(f"check: {check.name}" for check, _ in wanted),
                    *(f"{unit.steps} steps  {unit.seconds:6.1f} s  {unit.file}" for unit in units),
                ]
            )
        )
        return 0
    taken = fitting(units, arguments.minutes * 60 - (time.time() - begin))
    if any(unit.kind == "pytest" for unit in taken) or any("python" in check.needs for check, _ in wanted):
        run_tests.private_python(*{unit.room for unit in taken if unit.kind == "pytest"})
    if not build(taken, [check for check, _ in wanted], changed):
        print("0 passed, 1 failed")
        return 1
    existing = [(check, [name for name in files if (ROOT / name).is_file()]) for check, files in wanted]
    tests = run_checks([(check, files) for check, files in existing if files or "{files}" not in check.command])
    settings = run_tests.Settings(ROOT / "build/dev", (), 1, begin + arguments.minutes * 60)
    with concurrent.futures.ThreadPoolExecutor(max_workers=WORKERS) as executor:
        for job in executor.map(lambda unit: run_unit(unit, settings), taken):
            tests += run_tests.show(job)
    tests += left_out([unit for unit in units if unit not in taken])
    return run_tests.tell(tests)


if __name__ == "__main__":
    sys.exit(main())
