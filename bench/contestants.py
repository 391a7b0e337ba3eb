"""Contestants of a comparison: each is a process of its own, under an interpreter of its own, that prints what it found
as one line of JSON."""

import json
import os
import pathlib
import subprocess
import sys


def work_folder(name):
    """Where a comparison keeps what is large: in the user's cache folder."""
    cache = pathlib.Path(os.environ.get("XDG_CACHE_HOME", pathlib.Path.home() / ".cache"))
    folder = cache / "deberta" / name
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def found_by(name, python, code, asked):
    """What `code` prints last, which reads its task from the file `asked`. Ends the comparison where it fails."""
    done = subprocess.run([python, "-c", code, asked], stdout=subprocess.PIPE, text=True)
    if done.returncode != 0:
        sys.exit(f"{name}: failed")
    return json.loads(done.stdout.splitlines()[-1])
