#!/usr/bin/env python3
"""The parts of the gate, each with its budget (.ci/budget.txt); run by .ci/run. The last line is `N passed, N failed`
over all parts.

A red gate shows everything that is red where that is cheap: the parts up to isa run whatever the result of the others.
Sanitizers and mutations, which say little about a tree whose tests fail, run only when all before them passed: a sample
that the commit draws, what the change touches first (draw.py), of which nothing is begun shortly before the 45 minutes
of the gate are over. A part counts as the tests in its own last line, or else as one. It also fails when it ran
nothing, used more CPU time than its budget, or took ten minutes of wall time more than its budget (a hang). A budget is
in minutes of the reference processor: where a compiler takes longer, it grows by as much. Whatever was not run (a
skipped test, a mutation for another processor, what is not in the sample) is listed before the last line, with its
reason. The commit of a green gate is remembered (refs/gate/passed): ./test --changed counts from it.

A compiler cache keeps the presets, the mutations and the next gate on this machine from compiling the same source
twice: in DEBERTA_GATE_CACHE, by default ~/.cache/deberta/ccache. An entry is found by the bytes of the source, of all
that it includes and of the compiler, and by the options; paths within the checkout do not count. A gate with an empty
cache keeps the time too."""

import dataclasses
import math
import os
import pathlib
import re
import resource
import subprocess
import sys
import time

from draw import PASSED, git
from limits import run_limited

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUDGET_MINUTES = 56  # of CPU time that the parts with a budget may get; 2 cores have 90 until the gate's time is over
GATE_MINUTES = 45  # of wall time: of the samples nothing is begun afterwards
LIMIT_MINUTES = 60  # of wall time, for all parts: the gate hangs
SLACK_MINUTES = 10  # of wall time that a part may spend waiting
# CPU time that compile_seconds() takes on a Zen 4 (AMD EPYC, family 25 model 17) with g++ 12.2.
REFERENCE_SECONDS = 7
SANITIZED = "8 10"  # rooms' programs and files of Python tests in the sample
MUTATED = 48  # rows in the sample


@dataclasses.dataclass
class Part:
    name: str
    command: str
    # It begins nothing more ({until}) when only so many minutes of the gate are left, and is not run when a part before
    # it failed.
    leaves: float | None = None
    # It is not begun with less than so many minutes of the reference processor: what its first result takes with an
    # empty compiler cache.
    needs: float = 0


PARTS = [
    Part("format", "python3 tools/checks.py format"),
    Part("layers", "python3 tools/checks.py layers comments errors mutations shell web syntax"),
    Part(
        "build-product",
        "rm -rf build/release && ./run --help >/dev/null && python3 tools/check_product.py build/release/deberta",
    ),
    Part("tests", "./test all"),
    Part("docs", "python3 tools/checks.py python pages goldens 'tables of plans'"),
    Part("isa", "python3 tools/check_isa_objects.py build/release"),
    Part("asan", f"PRESET=asan ./test --sample {SANITIZED} --until {{until}}", leaves=7, needs=8),
    Part("fuzz", "./test fuzz", leaves=3, needs=4),
    Part("mutations", f"tools/mutate --sample {MUTATED} --until {{until}}", leaves=2, needs=1),
]


@dataclasses.dataclass
class Tally:
    passed: int = 0
    failed: int = 0
    not_run: list[str] = dataclasses.field(default_factory=list)


def load_budgets(text: str) -> dict[str, float]:
    return {
        name: float(minutes)
        for name, minutes in (line.split() for line in text.splitlines() if line and not line.startswith("#"))
    }


def budget_error(budgets: dict[str, float], parts: list[Part]) -> str:
    if set(budgets) != {part.name for part in parts if part.leaves is None}:
        return "must name every part that has a budget and nothing else"
    return f"must stay within {BUDGET_MINUTES} minutes" if sum(budgets.values()) > BUDGET_MINUTES else ""


def processor_minutes() -> float:
    """CPU time of all finished child processes."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (used.ru_utime + used.ru_stime) / 60


def compile_seconds() -> float:
    """CPU time of two compilers at once on a short program with a long header: how fast this machine is now."""
    command = ["g++", "-std=c++20", "-O2", "-x", "c++", "-", "-o", "/dev/null"]
    source = (
        '#include <nlohmann/json.hpp>\nint main() { return nlohmann::json::parse("[1]").dump().size() == 3 ? 0 : 1; }\n'
    )
    before = processor_minutes()
    compilers = [subprocess.Popen(command, stdin=subprocess.PIPE, text=True) for _ in range(2)]
    for compiler in compilers:
        compiler.stdin.write(source)
        compiler.stdin.close()
    codes = [compiler.wait() for compiler in compilers]
    if any(codes):
        raise SystemExit("gate: g++ does not compile a program with nlohmann/json.hpp\n0 passed, 1 failed")
    return (processor_minutes() - before) * 60


def counts_of(lines: list[str], code: int | None) -> tuple[int, int]:
    """(passed, failed) from the last line; without it the command counts as one."""
    said = re.fullmatch(r"(\d+) passed, (\d+) failed", lines[-1]) if lines else None
    if said is None:
        return (1, 0) if code == 0 else (0, 1)
    passed, failed = int(said.group(1)), int(said.group(2))
    return passed, failed if code == 0 else max(failed, 1)


def slowness_now() -> float:
    """How many times as long as the reference processor this machine takes; at least 1."""
    return max(1, compile_seconds() / REFERENCE_SECONDS)


def over_budget(used: float, budget: float) -> str:
    """What is wrong, if anything. The machine's speed is measured only where a part used more than its minutes."""
    if used <= budget:
        return ""
    slowness = slowness_now()
    print(
        f"gate: a compiler takes {slowness:.2f} times as long as on the reference processor: "
        f"{budget * slowness:.1f} minutes instead of {budget:g}"
    )
    return "OVER BUDGET" if used > budget * slowness else ""


def run_part(part: Part, budget: float, limit: float, root: pathlib.Path, until: float) -> Tally:
    """budget: minutes of CPU time, infinite for what fills the gate's time; limit: minutes of wall time; until: Unix
    time."""
    command = part.command.replace("{until}", f"{until:.0f}")
    print(f"== {part.name}: {command}", flush=True)
    begin, used = time.monotonic(), processor_minutes()
    code, output = run_limited(["bash", "-o", "pipefail", "-c", command], limit * 60, cwd=root)
    minutes, used = (time.monotonic() - begin) / 60, processor_minutes() - used
    lines = output.splitlines()
    print("\n".join(lines[-400:] if code != 0 else lines[-40:]))
    tally = Tally(*counts_of(lines, code), [line for line in lines if line.startswith("not run: ")])
    wrong = [f"ended after {minutes:.1f} minutes"] if code is None else []
    if tally.passed + tally.failed == 0 and part.leaves is None:
        wrong.append("ran nothing")
    if error := over_budget(used, budget):
        wrong.append(error)
    tally.failed = max(tally.failed, 1) if code is None else tally.failed + len(wrong)
    said = "".join(f", {words}" for words in wrong)
    print(
        f"== {part.name}: {used:.1f} {f'of {budget:g} ' if budget < math.inf else ''}minutes of the processor, "
        f"{minutes:.1f} by the clock, "
        f"{tally.passed} passed, {tally.failed} failed{said}",
        flush=True,
    )
    return tally


def reason_against(part: Part, left: float, red: list[str]) -> str:
    """Why a part that fills the gate's time is not run; empty if it is. left: minutes of the gate."""
    if part.leaves is None:
        return ""
    if red:
        return f"after failures of {', '.join(red)}"
    needs = part.needs * slowness_now() if part.leaves < left else math.inf
    return f"the gate's time is over: {max(left, 0):.0f} minutes are left" if needs > left else ""


def run_parts(
    parts: list[Part],
    budgets: dict[str, float],
    root: pathlib.Path,
    whole_minutes: float = GATE_MINUTES,
    limit: float = LIMIT_MINUTES,
    slack: float = SLACK_MINUTES,
) -> Tally:
    started, begun, whole, red = time.monotonic(), time.time(), Tally(), []
    for part in parts:
        elapsed = (time.monotonic() - started) / 60
        left = whole_minutes - elapsed
        if limit <= elapsed:
            whole.failed += 1
            whole.not_run.append(f"not run: {part.name}: {limit:g} minutes are over")
            continue
        if reason := reason_against(part, left, red):
            whole.not_run.append(f"not run: {part.name}: {reason}")
            continue
        budget = budgets.get(part.name, math.inf)
        tally = run_part(
            part, budget, min(limit - elapsed, budget + slack), root, begun + (whole_minutes - (part.leaves or 0)) * 60
        )
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


def remember(root: pathlib.Path) -> None:
    """That the last commit passed, where it is what was tested."""
    if not git(root, "status", "--porcelain"):
        git(root, "update-ref", PASSED, "HEAD")


def compiler_cache() -> str:
    """The folder of the compiler cache; in the checkout where the home folder cannot be written."""
    folder = pathlib.Path(os.environ.pop("DEBERTA_GATE_CACHE", "") or pathlib.Path.home() / ".cache/deberta/ccache")
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:
        folder = ROOT / "build/ccache"
    return str(folder if os.access(folder, os.W_OK) else ROOT / "build/ccache")


def main() -> int:
    budgets = load_budgets((ROOT / ".ci/budget.txt").read_text())
    if error := budget_error(budgets, PARTS):
        print(f"gate: .ci/budget.txt {error}\n0 passed, 1 failed")
        return 1
    # For the product too: one cache serves both, and a warning there is an error.
    os.environ["CONFIGURE_FLAGS"] = "-DDEBERTA_WERROR=ON -DDEBERTA_UNITY=ON"
    os.environ |= {
        "CMAKE_CXX_COMPILER_LAUNCHER": "ccache",
        "CCACHE_DIR": compiler_cache(),
        "CCACHE_BASEDIR": str(ROOT),
        "CCACHE_NOHASHDIR": "1",
        "CCACHE_MAXSIZE": "3G",
        "CCACHE_COMPILERCHECK": "content",
        # required for precompiled headers
        "CCACHE_SLOPPINESS": "pch_defines,time_macros,include_file_mtime,include_file_ctime",
    }
    if run_parts(PARTS, budgets, ROOT).failed:
        return 1
    remember(ROOT)
    return 0


if __name__ == "__main__":
    sys.exit(main())
