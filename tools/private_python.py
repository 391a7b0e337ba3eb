#!/usr/bin/env python3
"""The interpreter of .venv, for tests and tools, with exactly the packages of tests/requirements.txt; makes it when it is not there. Prints its path."""
import hashlib
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent


def private_python() -> str:
    wanted = ROOT / "tests/requirements.txt"
    venv = ROOT / ".venv"
    stamp = venv / "requirements.sha256"
    digest = hashlib.sha256(wanted.read_bytes()).hexdigest()
    if not stamp.exists() or stamp.read_text() != digest:
        print("installing the packages of tests/requirements.txt into .venv", file=sys.stderr)
        interpreter = "/usr/bin/python3" if pathlib.Path("/usr/bin/python3").exists() else sys.executable
        subprocess.run([interpreter, "-m", "venv", "--clear", venv], check=True)
        subprocess.run([venv / "bin/pip", "install", "-q", "--disable-pip-version-check", "-r", wanted], check=True)
        stamp.write_text(digest)
    return str(venv / "bin/python")


if __name__ == "__main__":
    print(private_python())
