"""The program, which is inside the extension, and the training program, which is one of its own."""

from __future__ import annotations

import os
import shutil
import sys

from deberta import _deberta
from deberta._errors import make_error
from deberta._models import builtin_folders

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, NoReturn


def find_trainer() -> str:
    """The path of `deberta-train`: in a build that the package stands in, or in PATH. Raises FileError."""
    name = "deberta-train"
    here = os.path.dirname(os.path.abspath(__file__))
    beside = os.path.normpath(os.path.join(here, os.pardir, os.pardir, name))
    if os.path.isfile(beside) and os.access(beside, os.X_OK):
        return beside
    if found := shutil.which(name):
        return found
    looked = f"{os.path.dirname(beside)}, PATH"
    raise make_error("file-not-found", f"{name}: no such program; looked in {looked}; in a clone ./run builds it")


def program_words() -> list[str]:
    """What a command begins with that runs the program of this package, whatever else is called deberta."""
    folder = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    code = f"import sys; sys.path[0] = {folder!r}; from deberta._program import main; main()"
    return [sys.executable, "-c", code]


def environment() -> dict[str, str]:
    """That of this process, with the built-in models of the package where none are named."""
    added = dict(os.environ)
    for folder in builtin_folders()[:1]:
        added.setdefault("DEBERTA_DATA_DIR", os.path.dirname(folder))
    return added


def check_words(words: list[Any]) -> None:
    """Raises InputError for what no command can be given: another object than a text or a path, a zero byte."""
    for word in words:
        try:
            is_word = b"\0" not in os.fsencode(word)
        except (TypeError, UnicodeEncodeError):
            is_word = False
        if not is_word:
            raise make_error("usage", f"options: expected texts and paths, got {word!r}", "options")


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
    """The command `deberta`."""
    os.environ.update(environment())
    sys.exit(_deberta.run_command([os.fsencode(word) for word in ["deberta", *sys.argv[1:]]]))
