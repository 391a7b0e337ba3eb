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


_SWITCH = ("on", "off")


def _value_word(name: str, value: Any, is_switch: bool) -> str:
    if isinstance(value, bool):
        if not is_switch:
            raise make_error("usage", f"{name}: expected a value, got {value}", name)
        return _SWITCH[0] if value else _SWITCH[1]
    if isinstance(value, (list, tuple)):
        items = [str(item) for item in value]
        for item in items:
            if "," in item:
                raise make_error("usage", f"{name}: expected items without a comma, got {item!r}", name)
        return ",".join(items)
    return os.fspath(value) if isinstance(value, os.PathLike) else str(value)


def option_words(verb: str, options: dict[str, Any]) -> list[str]:
    """{"max_tokens": 9, "labels": ["a", "b"], "quiet": True} as words of a command. None is what is not given, False a
    flag that is not; names that the verb does not have are for the program to refuse."""
    kinds, words = _deberta.options_of(verb), []
    for name, value in options.items():
        word = name.replace("_", "-")
        if word == "help":
            raise make_error("usage", f"{name}: expected an option of {verb}, got one that answers nothing", name)
        kind = kinds.get(word)
        if kind == "flag" and not isinstance(value, bool) and value is not None:
            raise make_error("usage", f"{name}: expected True or False, got {value!r}", name)
        is_off = value is None or value is False
        if kind is None or (kind in ("flag", "of others") and not is_off):
            words.append(f"--{word}")
        elif value is not None and kind not in ("flag", "of others"):
            is_switch = all(choice in kind.split("|") for choice in _SWITCH)
            words += [f"--{word}", _value_word(name, value, is_switch)]
    return words


def main() -> NoReturn:
    """The command `deberta`."""
    os.environ.update(environment())
    sys.exit(_deberta.run_command([os.fsencode(word) for word in ["deberta", *sys.argv[1:]]]))
