#!/usr/bin/env python3
"""The parts of the gate, each with its budget (.ci/budget.txt); run by .ci/run. The last line is `N passed, N failed` over all parts.

A red gate shows everything that is red where that is cheap: the parts up to isa run whatever the result of the others; sanitizers
and mutations, which take half of the time and say little about a tree whose tests fail, run only when all before them passed. A part
counts as the tests in its own last line, or else as one. It also fails when it ran nothing, used more CPU time than its
budget, or took five minutes of wall time more than its CPU budget (a hang). The whole gate ends after 80 minutes.
Whatever was not run (a skipped test, a mutation for another processor) is listed before the last line, with its reason.

A compiler cache of its own (build/ccache) keeps the presets and the mutations from compiling the same source twice."""
import dataclasses
import os
import pathlib
import re
import resource
import sys
import time

from limits import run_limited

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUDGET_MINUTES = 130  # of CPU time that the parts may get: 65 minutes of 2 cores
LIMIT_MINUTES = 80    # of wall time, for all parts
SLACK_MINUTES = 5     # of wall time that a part may spend waiting
SOURCES = "git ls-files -- 'src/*.cpp' 'src/*.h' 'train/*.cpp' 'train/*.h' 'include/*.h' 'examples/*.cpp' 'tests/*.cpp' 'tests/*.h' 'fuzz/*.cpp' 'fuzz/*.h'"


@dataclasses.dataclass
class Part:
    name: str
    command: str
    needs_green: bool = False  # not run when a part before it failed


PARTS = [
    Part("format", f"{SOURCES} | xargs clang-format-14 --dry-run --Werror"),
    Part("layers", "python3 tools/check_layers.py && python3 tools/check_errors.py && tools/mutate --check"),
    Part("build-product", "rm -rf build/release && ./run --help >/dev/null && python3 tools/check_product.py build/release/deberta"),
    Part("tests", "./test all"),
    Part("docs", "python3 tools/make_docs.py build/dev/deberta --check && .venv/bin/python tools/goldens/make.py tests/golden/model --check"),
    Part("isa", "python3 tools/check_isa_objects.py build/release"),
    Part("asan", "PRESET=asan ./test", needs_green=True),
    Part("mutations", "tools/mutate --half", needs_green=True),
]


@dataclasses.dataclass
class Tally:
    passed: int = 0
    failed: int = 0
    not_run: list[str] = dataclasses.field(default_factory=list)


def load_budgets(text: str) -> dict[str, float]:
    return {name: float(minutes) for name, minutes in (line.split() for line in text.splitlines() if line and not line.startswith("#"))}


def budget_error(budgets: dict[str, float], parts: list[Part]) -> str:
    if set(budgets) != {part.name for part in parts}:
        return "must name every part and nothing else"
    return f"must stay within {BUDGET_MINUTES} minutes" if sum(budgets.values()) > BUDGET_MINUTES else ""


def processor_minutes() -> float:
    """CPU time of all finished child processes."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (used.ru_utime + used.ru_stime) / 60


def counts_of(lines: list[str], code: int | None) -> tuple[int, int]:
    """(passed, failed) from the last line; without it the command counts as one."""
    said = re.fullmatch(r"(\d+) passed, (\d+) failed", lines[-1]) if lines else None
    if said is None:
        return (1, 0) if code == 0 else (0, 1)
    passed, failed = int(said.group(1)), int(said.group(2))
    return passed, failed if code == 0 else max(failed, 1)


def run_part(part: Part, budget: float, limit: float, root: pathlib.Path) -> Tally:
    """budget: minutes of CPU time; limit: minutes of wall time."""
    print(f"== {part.name}: {part.command}", flush=True)
    begin, used = time.monotonic(), processor_minutes()
    code, output = run_limited(["bash", "-o", "pipefail", "-c", part.command], limit * 60, cwd=root)
    minutes, used = (time.monotonic() - begin) / 60, processor_minutes() - used
    lines = output.splitlines()
    print("\n".join(lines[-400:] if code != 0 else lines[-40:]))
    tally = Tally(*counts_of(lines, code), [line for line in lines if line.startswith("not run: ")])
    wrong = []
    if code is None:
        wrong.append(f"ended after {minutes:.1f} minutes")
    if tally.passed + tally.failed == 0:
        wrong.append("ran nothing")
    if used > budget:
        wrong.append("OVER BUDGET")
    tally.failed = max(tally.failed, 1) if code is None else tally.failed + len(wrong)
    said = "".join(f", {words}" for words in wrong)
    print(f"== {part.name}: {used:.1f} of {budget:g} minutes of the processor, {minutes:.1f} by the clock, "
          f"{tally.passed} passed, {tally.failed} failed{said}", flush=True)
    return tally


def run_parts(parts: list[Part], budgets: dict[str, float], root: pathlib.Path, limit: float = LIMIT_MINUTES, slack: float = SLACK_MINUTES) -> Tally:
    started, whole, red = time.monotonic(), Tally(), []
    for part in parts:
        left = limit - (time.monotonic() - started) / 60
        if left <= 0:
            whole.failed += 1
            whole.not_run.append(f"not run: {part.name}: {limit:g} minutes are over")
            continue
        if part.needs_green and whole.failed:
            whole.not_run.append(f"not run: {part.name}: after failures of {', '.join(red)}")
            continue
        tally = run_part(part, budgets[part.name], min(left, budgets[part.name] + slack), root)
        whole.passed += tally.passed
        whole.failed += tally.failed
        whole.not_run += tally.not_run
        if tally.failed:
            red.append(part.name)
    print(f"gate: {(time.monotonic() - started) / 60:.1f} minutes" + (f", failed: {', '.join(red)}" if red else ""))
    for line in dict.fromkeys(whole.not_run):
        print(line)
    print(f"{whole.passed} passed, {whole.failed} failed")
    return whole


def main() -> int:
    budgets = load_budgets((ROOT / ".ci/budget.txt").read_text())
    if error := budget_error(budgets, PARTS):
        print(f"gate: .ci/budget.txt {error}\n0 passed, 1 failed")
        return 1
    os.environ["CONFIGURE_FLAGS"] = "-DDEBERTA_WERROR=ON"  # for the product too: one cache serves both, and a warning there is an error
    os.environ |= {"CMAKE_CXX_COMPILER_LAUNCHER": "ccache", "CCACHE_DIR": str(ROOT / "build/ccache"), "CCACHE_BASEDIR": str(ROOT),
                   "CCACHE_SLOPPINESS": "pch_defines,time_macros,include_file_mtime,include_file_ctime"}  # required for precompiled headers
    return 1 if run_parts(PARTS, budgets, ROOT).failed else 0


if __name__ == "__main__":
    sys.exit(main())
