#!/usr/bin/env python3
"""Fails when the program is larger than 15 MB or links Python or torch, or lacks what a release is hardened with.

check_product.py PROGRAM: all of this. tools/release asks weaknesses() about every program and library of the packages.
"""

import os
import pathlib
import re
import subprocess
import sys

MAX_BYTES = 15_000_000
ENDBR64 = b"\xf3\x0f\x1e\xfa"
# Every function that may be called through a pointer begins with one. A linker marks a file as protected only where the
# C library's own start files are, which those of Debian 12 are not.
BYTES_FOR_EACH_ENDBR64 = 4096


def readelf(path: pathlib.Path, *options: str) -> str:
    words = ["readelf", "--wide", *options, path]
    return subprocess.run(words, capture_output=True, text=True, check=True, env=os.environ | {"LC_ALL": "C"}).stdout


def code_of(path: pathlib.Path, sections: str) -> bytes:
    found = re.search(r" \.text +PROGBITS +\w+ (\w+) (\w+) ", sections)
    begin, size = (int(word, 16) for word in found.groups()) if found else (0, 0)
    return path.read_bytes()[begin : begin + size]


def weaknesses(path: pathlib.Path, places: tuple[pathlib.Path, ...] = ()) -> list[str]:
    """What a program or library lacks, and which of the places of its build it names."""
    header, segments = readelf(path, "--file-header"), readelf(path, "--program-headers")
    dynamic, symbols = readelf(path, "--dynamic"), readelf(path, "--dyn-syms")
    flags = " ".join(re.findall(r"\(FLAGS(?:_1)?\) +(.*)", dynamic))
    stack = re.search(r"GNU_STACK .* (R?W?E?) +0x", segments)
    code = code_of(path, readelf(path, "--section-headers"))
    lacks = {
        "position independence (-pie)": not re.search(r"Type: +DYN", header),
        "-z relro": "GNU_RELRO" not in segments,
        "-z now": "NOW" not in flags.split(),
        "-z noexecstack": stack is None or "E" in stack[1],
        "memory that is never both written and run": bool(re.search(r" LOAD .* RWE ", segments)),
        "-fstack-protector-strong": "__stack_chk_fail" not in symbols,
        "_FORTIFY_SOURCE": not re.search(r" __(?!stack_chk)\w+_chk\b", symbols),
        "-fcf-protection": "X86-64" in header and code.count(ENDBR64) * BYTES_FOR_EACH_ENDBR64 < len(code),
    }
    found = [f"{path}: expected {name}, got none" for name, is_lacking in lacks.items() if is_lacking]
    for place in re.findall(r"\((?:RPATH|RUNPATH)\) .*\[(.*)\]", dynamic):
        if any(not part.startswith("$ORIGIN") for part in place.split(":")):
            found.append(f"{path}: expected libraries of the system or beside it, got a path to {place}")
    everything = path.read_bytes()
    found += [f"{path}: names a folder of its build: {place}" for place in places if str(place).encode() in everything]
    return found


def main() -> int:
    binary = pathlib.Path(sys.argv[1])
    size = binary.stat().st_size
    needs = subprocess.run(["ldd", binary], capture_output=True, text=True, check=True).stdout
    # without the addresses, whose digits may look like a name
    libraries = [line.split()[0] for line in needs.splitlines()]
    wrong = [name for name in libraries if "python" in name or "torch" in name or "c10" in name]
    if size > MAX_BYTES:
        wrong.append(f"{binary}: expected at most {MAX_BYTES} bytes, got {size}")
    wrong += weaknesses(binary)
    print("\n".join(wrong) or f"product: {size / 1e6:.1f} MB, links no Python and no torch, hardened")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
