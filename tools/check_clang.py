#!/usr/bin/env python3
"""check_clang.py BUILD: checks every source that the build compiles with clang 14, with the same warnings as errors;
generates no code. The tests of a clang build run in tools/long_checks, its sanitized parsers in ./test fuzz."""

import concurrent.futures
import json
import pathlib
import shlex
import subprocess
import sys

KEPT = ("-D", "-I", "-isystem", "-std=", "-W", "-m", "-f")
GCC_ONLY = (
    "-fno-semantic-interposition",
    "-Wno-maybe-uninitialized",
    "-Wno-subobject-linkage",
    "-fira-algorithm=priority",
)


def check(entry: dict) -> str:
    """What clang says about one source; empty if nothing."""
    words = shlex.split(entry["command"])
    flags = [word for word in words[1:] if word.startswith(KEPT) and word not in GCC_ONLY]
    done = subprocess.run(
        ["clang++-14", "-fsyntax-only", *flags, entry["file"]],
        cwd=entry["directory"],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
    )
    return done.stdout if done.returncode or done.stdout else ""


entries = {
    entry["file"]: entry for entry in json.loads((pathlib.Path(sys.argv[1]) / "compile_commands.json").read_text())
}.values()
with concurrent.futures.ThreadPoolExecutor() as executor:
    findings = [text for text in executor.map(check, entries) if text]
print("\n".join(findings))
print(f"clang: {len(entries)} sources, {len(findings)} with findings")
sys.exit(1 if findings or not entries else 0)
