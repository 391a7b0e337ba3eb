#!/usr/bin/env python3
"""Checks the objects compiled with wider instruction sets (src/kernels/x86): each defines one global symbol, its
getter, and no weak one. A weak symbol compiled with AVX-512 may be the copy that the linker keeps for the whole
program, which then crashes on older processors. Also, no inner product loop of GEMM or attention may store a register
to the stack: a compiler that runs out of registers there silently halves the speed.

usage: check_isa_objects.py BUILD_DIR
"""

import pathlib
import re
import subprocess
import sys


def problems_of(path):
    lines = subprocess.run(
        ["nm", "--defined-only", "-C", path], check=True, capture_output=True, text=True
    ).stdout.splitlines()
    symbols = [line.split(maxsplit=2)[1:] for line in lines]
    weak = [name for kind, name in symbols if kind in "WwVvu"]
    strong = [name for kind, name in symbols if kind.isupper() and kind not in "WVU"]
    if weak:
        yield f"{path}: expected no weak symbol, got {', '.join(weak)}"
    if len(strong) != 1:
        yield f"{path}: expected one global symbol, got {len(strong)}: {', '.join(strong)}"


PRODUCT = re.compile(r"vfmadd|vdpbf16ps|vpdpbusd|vpmaddwd|tdpbf16ps|tdpbusd")
SPILL = re.compile(r"vmov\w+\s+%[yz]mm\d+,.*\(%r[sb]p")
JUMP = re.compile(r"j\w+\s+([0-9a-f]+) ")
LEAST_PRODUCTS = 4  # of a loop that is worth checking
TILES = re.compile(r"gemm_(fp32|bf16|int8|amx)|attention_")  # objects whose product loops must not spill


def spills_of(path):
    """Stores of vector registers to the stack in innermost product loops."""
    if not TILES.match(path.name):
        return
    listing = subprocess.run(
        ["objdump", "-d", "--no-show-raw-insn", path], check=True, capture_output=True, text=True
    ).stdout
    code = [(int(at, 16), text) for at, text in re.findall(r"^\s*([0-9a-f]+):\t(.*)$", listing, re.M)]
    place = {at: i for i, (at, _) in enumerate(code)}
    loops = []
    for i, (at, text) in enumerate(code):
        jump = JUMP.match(text)
        if jump and int(jump[1], 16) <= at and int(jump[1], 16) in place:
            loops.append((place[int(jump[1], 16)], i))
    for begin, end in loops:
        if any(begin <= b and e <= end and (b, e) != (begin, end) for b, e in loops):
            continue
        body = [text for _, text in code[begin : end + 1]]
        if sum(bool(PRODUCT.match(text)) for text in body) < LEAST_PRODUCTS:
            continue
        for text in body:
            if SPILL.match(text):
                yield f"{path}: an inner loop at {code[begin][0]:x} stores a register to the stack: {text.strip()}"


def main(arguments):
    if len(arguments) != 1:
        print(__doc__, file=sys.stderr)
        return 2
    objects = sorted(pathlib.Path(arguments[0]).glob("CMakeFiles/deberta_isa_*.dir/**/*.o"))
    if not objects:
        print(f"{arguments[0]}: expected objects of deberta_isa_*, got none; build first", file=sys.stderr)
        return 1
    problems = [problem for path in objects for find in (problems_of, spills_of) for problem in find(path)]
    for problem in problems:
        print(problem, file=sys.stderr)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
