#!/usr/bin/env python3
"""Compiles the kernels of src/kernels/cuda for each generation of cards and checks what a kernel may use: at most 255
registers and 64 bytes spilled. The CPUs need no card for it, but nvcc of CUDA 13: in PATH, in /usr/local/cuda/bin, or
of the PyPI packages nvidia-cuda-nvcc and nvidia-cuda-runtime (CUDA_HOME names the folder). Prints a line for each
generation, and last `N passed, N failed`."""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
GENERATIONS = (80, 86, 89, 90)
MOST_REGISTERS, MOST_SPILLED = 255, 64


def find_nvcc() -> str | None:
    places = [f"{os.environ['CUDA_HOME']}/bin"] if "CUDA_HOME" in os.environ else []
    return shutil.which("nvcc", path=os.pathsep.join([*places, os.environ.get("PATH", ""), "/usr/local/cuda/bin"]))


def compile_for(nvcc: str, source: pathlib.Path, generation: int, output: str) -> subprocess.CompletedProcess:
    return subprocess.run(
        [
            nvcc,
            "-O3",
            "-std=c++20",
            f"-I{ROOT}/src",
            "-Werror",
            "all-warnings",
            f"-gencode=arch=compute_{generation},code=sm_{generation}",
            "-Xptxas",
            "-v",
            "-c",
            source,
            "-o",
            output,
        ],
        capture_output=True,
        text=True,
        check=False,
    )


def check(nvcc: str, source: pathlib.Path, generation: int) -> bool:
    with tempfile.TemporaryDirectory() as folder:
        done = compile_for(nvcc, source, generation, f"{folder}/kernels.o")
    name = f"{source.relative_to(ROOT)}, sm_{generation}"
    if done.returncode != 0:
        print(f"{name}: expected it to compile, got:\n{done.stderr}")
        return False
    registers = [int(n) for n in re.findall(r"Used (\d+) registers", done.stderr)]
    spilled = [int(n) for n in re.findall(r"(\d+) bytes spill stores", done.stderr)]
    good = bool(registers) and max(registers) <= MOST_REGISTERS and max(spilled) <= MOST_SPILLED
    print(
        f"{name}: {len(registers)} kernels, at most {max(registers, default=0)} registers and "
        f"{max(spilled, default=0)} bytes spilled"
        + ("" if good else f"; expected at most {MOST_REGISTERS} and {MOST_SPILLED}")
    )
    return good


def main() -> int:
    nvcc = find_nvcc()
    if nvcc is None:
        print(
            "check_cuda: expected nvcc in PATH, in /usr/local/cuda/bin or in CUDA_HOME/bin, got none; install CUDA 13",
            file=sys.stderr,
        )
        return 1
    results = [
        check(nvcc, source, generation) for source in sorted(ROOT.glob("src/*/cuda/*.cu")) for generation in GENERATIONS
    ]
    print(f"{sum(results)} passed, {len(results) - sum(results)} failed")
    return 0 if results and all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
