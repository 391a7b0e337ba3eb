#!/usr/bin/env python3
"""Checks the objects compiled with wider instruction sets (src/kernels/x86): each defines one global symbol, its getter,
and no weak one. A weak symbol compiled with AVX-512 may be the copy that the linker keeps for the whole program, which
then crashes on older processors.

usage: check_isa_objects.py BUILD_DIR
"""
import pathlib
import subprocess
import sys


def problems_of(path):
    lines = subprocess.run(["nm", "--defined-only", "-C", path], check=True, capture_output=True, text=True).stdout.splitlines()
    symbols = [line.split(maxsplit=2)[1:] for line in lines]
    weak = [name for kind, name in symbols if kind in "WwVvu"]
    strong = [name for kind, name in symbols if kind.isupper() and kind not in "WVU"]
    if weak:
        yield f"{path}: expected no weak symbol, got {', '.join(weak)}"
    if len(strong) != 1:
        yield f"{path}: expected one global symbol, got {len(strong)}: {', '.join(strong)}"


def main(arguments):
    if len(arguments) != 1:
        print(__doc__, file=sys.stderr)
        return 2
    objects = sorted(pathlib.Path(arguments[0]).glob("CMakeFiles/deberta_isa_*.dir/**/*.o"))
    if not objects:
        print(f"{arguments[0]}: expected objects of deberta_isa_*, got none; build first", file=sys.stderr)
        return 1
    problems = [problem for path in objects for problem in problems_of(path)]
    for problem in problems:
        print(problem, file=sys.stderr)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
