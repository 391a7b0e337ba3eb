#!/usr/bin/env python3
"""The interpreter of .venv, for tests and tools: with the packages of tests/requirements.txt and those of
tests/ROOM/requirements.txt for each requested room. Creates it, and adds what is missing. `private_python.py [ROOM...]`
prints its path.

`private_python.py --only FOLDER` adds what FOLDER/requirements.txt lists and nothing else: train (LibTorch, which the
training half links) or train/tokenizer. The list of train has all that is needed, so it is installed without
dependencies: pip would add 2.7 GB for GPUs."""

import hashlib
import pathlib
import platform
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent


def digest_of(wanted: pathlib.Path) -> str:
    return hashlib.sha256(wanted.read_bytes()).hexdigest()


WITHOUT_DEPENDENCIES = "train"


def private_python(*rooms: str) -> str:
    return with_packages("tests", *(f"tests/{room}" for room in rooms))


def with_packages(*folders: str) -> str:
    venv, installed = ROOT / ".venv", ROOT / ".venv/installed.sha256"
    known = installed.read_text().split() if installed.exists() else []
    current = {digest_of(path) for half in ("tests", "train") for path in (ROOT / half).glob("**/requirements.txt")}
    if not known or not current.issuperset(known):  # exactly these packages: leftovers of other versions are removed
        interpreter = "/usr/bin/python3" if pathlib.Path("/usr/bin/python3").exists() else sys.executable
        subprocess.run([interpreter, "-m", "venv", "--clear", venv], check=True)
        known = []
    for folder in folders:
        wanted = ROOT / folder / "requirements.txt"
        if not wanted.exists() or digest_of(wanted) in known:
            continue
        print(f"installing the packages of {folder}/requirements.txt into .venv", file=sys.stderr)
        subprocess.run(
            [
                venv / "bin/pip",
                "install",
                "-q",
                "--disable-pip-version-check",
                *(["--no-deps"] if folder == WITHOUT_DEPENDENCIES else []),
                "-r",
                wanted,
            ],
            check=True,
        )
        known.append(digest_of(wanted))
        installed.write_text("\n".join(known))
    return str(venv / "bin/python")


if __name__ == "__main__":
    try:
        print(with_packages(*sys.argv[2:]) if sys.argv[1:2] == ["--only"] else private_python(*sys.argv[1:]))
    except subprocess.CalledProcessError as error:
        print(
            f"private_python: {error.cmd[-1]}: expected packages for Python "
            f"{sys.version_info.major}.{sys.version_info.minor} on {platform.system()} "
            f"{platform.machine()}, got code {error.returncode} from {error.cmd[0]}; check that the registry can "
            "be reached; LibTorch is published for Linux "
            "on x86-64 and 64-bit ARM only: elsewhere build without the training half (-DDEBERTA_TRAIN=OFF)",
            file=sys.stderr,
        )
        sys.exit(1)
