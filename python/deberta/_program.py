"""The program that comes with the package."""

from __future__ import annotations

import os
import shutil
import sys

from deberta._errors import make_error
from deberta._models import builtin_folders

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, NoReturn


def find_program(name: str = "deberta") -> str:
    """The path of the program: beside the package, in a build that it stands in, or in PATH. Raises FileError."""
    here = os.path.dirname(os.path.abspath(__file__))
    places = [os.path.join(here, "bin", name), os.path.join(here, os.pardir, os.pardir, name)]
    for place in places:
        if os.path.isfile(place) and os.access(place, os.X_OK):
            return os.path.normpath(place)
    if found := shutil.which(name):
        return found
    looked = ", ".join([os.path.dirname(os.path.normpath(place)) for place in places] + ["PATH"])
    raise make_error("file-not-found", f"{name}: no such program; looked in {looked}; in a clone ./run builds it")


def environment() -> dict[str, str]:
    """That of this process, with the built-in models of the package where none are named."""
    added = dict(os.environ)
    for folder in builtin_folders()[:1]:
        added.setdefault("DEBERTA_DATA_DIR", os.path.dirname(folder))
    return added


def option_words(options: dict[str, Any]) -> list[str]:
    """{"max_tokens": 9, "labels": ["a", "b"], "quiet": True} as words of a command; None and False give none."""
    words = []
    for name, value in options.items():
        if value is None or value is False:
            continue
        words.append(f"--{name.replace('_', '-')}")
        if isinstance(value, (list, tuple)):
            words.append(",".join(map(str, value)))
        elif value is not True:
            words.append(os.fspath(value) if isinstance(value, os.PathLike) else str(value))
    return words


def main() -> NoReturn:
    """The command `deberta`: this process becomes the program."""
    program = find_program()
    os.execve(program, [program, *sys.argv[1:]], environment())
