#!/usr/bin/env python3
"""Makes the pictures of docs/concepts/deberta.md: each command there that writes into docs/concepts/pictures is run.

concept_pictures.py PROGRAM"""

import pathlib
import shlex
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs/concepts/deberta.md"
PICTURES = "docs/concepts/pictures/"


def commands():
    """The words of every command of the page, without ./run."""
    prefix = "    ./run "
    return [shlex.split(line[len(prefix) :]) for line in PAGE.read_text().splitlines() if line.startswith(prefix)]


def picture_of(words):
    """The picture that a command writes; None if it writes none."""
    return next((word for word in words if word.startswith(PICTURES) and word.endswith(".svg")), None)


def main():
    if len(sys.argv) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    for words in commands():
        picture = picture_of(words)
        if picture is None:
            continue
        (ROOT / picture).unlink(missing_ok=True)
        subprocess.run([pathlib.Path(sys.argv[1]).resolve(), *words], cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
        print(picture)
    return 0


if __name__ == "__main__":
    sys.exit(main())
