#!/usr/bin/env python3
"""The parts of the gate, each with its budget (.ci/budget.txt); run by .ci/run. Prints the test counts last.

A compiler cache of its own (build/ccache) keeps the presets and the mutations from compiling the same source twice."""
import os
import pathlib
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUDGET_MINUTES = 50  # what the parts may be given
LIMIT_MINUTES = 58   # what they may take in all, on a slow day
SOURCES = "git ls-files -- 'src/*.cpp' 'src/*.h' 'include/*.h' 'examples/*.cpp' 'tests/*.cpp' 'tests/*.h' 'fuzz/*.cpp' 'fuzz/*.h'"

# name, command. The gate stops at the first part that fails.
PARTS = [
    ("format", f"{SOURCES} | xargs clang-format-14 --dry-run --Werror"),
    ("layers", "python3 tools/check_layers.py && python3 tools/check_errors.py"),
    ("build-product", "rm -rf build/release && ./run --help >/dev/null && python3 tools/check_product.py build/release/deberta"),
    ("tests", "./test"),
    ("docs", "python3 tools/make_docs.py build/dev/deberta --check && .venv/bin/python tools/goldens/make.py tests/golden/model --check"),
    ("isa", "python3 tools/check_isa_objects.py build/release"),
    ("asan", "PRESET=asan ./test base text config kernels checkpoint data tasks engine heads analysis cli"),
    ("mutations", "python3 tools/mutate"),
]


def budgets() -> dict[str, float]:
    lines = (ROOT / ".ci/budget.txt").read_text().splitlines()
    return {name: float(minutes) for name, minutes in (line.split() for line in lines if line and not line.startswith("#"))}


def main() -> int:
    budget = budgets()
    if sum(budget.values()) > BUDGET_MINUTES or set(budget) != {name for name, _ in PARTS}:
        print(f"gate: .ci/budget.txt must name every part and stay within {BUDGET_MINUTES} minutes")
        return 1
    os.environ |= {"CMAKE_CXX_COMPILER_LAUNCHER": "ccache", "CCACHE_DIR": str(ROOT / "build/ccache"), "CCACHE_BASEDIR": str(ROOT),
                   "CCACHE_SLOPPINESS": "pch_defines,time_macros,include_file_mtime,include_file_ctime"}  # as precompiled headers need
    counts, started = None, time.monotonic()
    for name, command in PARTS:
        print(f"== {name}: {command}", flush=True)
        begin = time.monotonic()
        done = subprocess.run(["bash", "-o", "pipefail", "-c", command], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              errors="replace")
        minutes = (time.monotonic() - begin) / 60
        lines = done.stdout.splitlines()
        print("\n".join(lines[-400:] if done.returncode else lines[-40:]))
        print(f"== {name}: {minutes:.1f} of {budget[name]:g} minutes{' OVER BUDGET' if minutes > budget[name] else ''}", flush=True)
        if name == "tests" and lines:
            counts = lines[-1]
        if done.returncode != 0:
            print(f"gate: {name} failed\n{counts or '0 passed, 1 failed'}")
            return 1
    total = (time.monotonic() - started) / 60
    print(f"gate: {total:.1f} minutes")
    if total > LIMIT_MINUTES:
        print(f"gate: over {LIMIT_MINUTES} minutes; make a part faster")
        return 1
    print(counts)
    return 0


if __name__ == "__main__":
    sys.exit(main())
