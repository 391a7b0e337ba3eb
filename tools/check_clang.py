#!/usr/bin/env python3
"""check_clang.py BUILD: checks every source that the build compiles with clang 14, with the same warnings as errors;
generates no code. The tests of a clang build run in tools/long_checks, its sanitized parsers in ./test fuzz.

check_clang.py --by COMPILER BUILD: by another clang. Clang 19 calls deprecated what the stable_sort of g++ 12's headers
uses, which is not ours to change: that warning is off.

check_clang.py --late FILE...: the same for sources that no build of the preset dev compiles (fuzz targets, examples),
as the tests are compiled and without a build: what breaks them is found before the late part of the gate that builds
them. In all sources it looks for views, which clang 14 refuses in the headers of g++ 12, for the same reason."""

import concurrent.futures
import json
import pathlib
import re
import shlex
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
KEPT = ("-D", "-I", "-isystem", "-std=", "-W", "-m", "-f")
GCC_ONLY = (
    "-fno-semantic-interposition",
    "-Wno-maybe-uninitialized",
    "-Wno-subobject-linkage",
    "-fira-algorithm=priority",
)
LEFT_OUT = {"clang++-19": ("-Wno-deprecated-declarations",)}
VIEW = re.compile(
    r"std::(views::\w+|ranges::(subrange|views::\w+|unique|remove|remove_if|partition|stable_partition|rotate|search|"
    r"search_n|find_end|equal_range))\b"
)
FOLDERS = ("tests", "src", "include", ".", "fuzz")  # that late sources include from


def check(compiler: str, flags: list[str], file: str, folder: str | pathlib.Path) -> str:
    """What clang says about one source; empty if nothing."""
    done = subprocess.run(
        [compiler, "-fsyntax-only", *flags, *LEFT_OUT.get(compiler, ()), file],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
    )
    return done.stdout if done.returncode or done.stdout else ""


def compiled(build: str) -> list[tuple[list[str], str, str]]:
    """The arguments of check() for each source of a build."""
    sources = {}
    for entry in json.loads((pathlib.Path(build) / "compile_commands.json").read_text()):
        words = shlex.split(entry["command"])[1:]
        flags = [word for word in words if word.startswith(KEPT) and word not in GCC_ONLY]
        sources[entry["file"]] = (flags, entry["file"], entry["directory"])
    return list(sources.values())


def late(files: list[str]) -> list[tuple[list[str], str, pathlib.Path]]:
    """Likewise for sources of no build, with the warnings of cmake/warnings.cmake."""
    warnings = re.findall(r"-W[\w-]+", (ROOT / "cmake/warnings.cmake").read_text().split("$<", 1)[0])
    flags = ["-std=c++20", "-Werror", *warnings, *(f"-I{folder}" for folder in FOLDERS)]
    return [(flags, file, ROOT) for file in files]


def views() -> list[str]:
    """Each line of ours with an algorithm that returns a view, or with a view itself."""
    return [
        f"{file.relative_to(ROOT)}:{number}: {view[0]}: expected iterators; clang 14 refuses views of g++ 12"
        for folder in ("src", "include", "train", "tests", "fuzz")
        for file in sorted((ROOT / folder).rglob("*"))
        if file.suffix in (".cpp", ".h", ".inc")
        for number, line in enumerate(file.read_text().splitlines(), 1)
        if (view := VIEW.search(line))
    ]


compiler = "clang++-14"
if sys.argv[1] == "--by":
    compiler = sys.argv[2]
    del sys.argv[1:3]
sources = late(sys.argv[2:]) if sys.argv[1] == "--late" else compiled(sys.argv[1])
with concurrent.futures.ThreadPoolExecutor() as executor:
    findings = views() + [text for text in executor.map(lambda source: check(compiler, *source), sources) if text]
print("\n".join(findings))
print(f"clang: {len(sources)} sources, {len(findings)} with findings")
sys.exit(1 if findings or not sources else 0)
