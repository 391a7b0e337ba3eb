"""Errors: one class for whatever the library refuses, with a stable code, and the two built-in classes above it."""

from __future__ import annotations

_OF_FILES = ("file-not-found", "file-type", "file-read", "file-write")


class Error(Exception):
    """What was refused. `code` is a stable name (docs/reference/errors.md), `argument` the parameter at fault, or
    None; where that is a list of texts for each row, the one of the row: documents[3].

    Every instance is an `InputError`, which is a ValueError, or a `FileError`, which is an OSError."""

    code: str
    message: str
    argument: str | None

    def __init__(self, code: str, message: str, argument: str | None = None) -> None:
        self.code, self.message, self.argument = code, message, argument
        super().__init__(message)

    def __str__(self) -> str:
        return self.message

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.code!r}, {self.message!r}, {self.argument!r})"

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and vars(self) == vars(other)

    def __hash__(self) -> int:
        return hash((self.code, self.message, self.argument))

    def __reduce__(self) -> tuple[object, ...]:
        return make_error, (self.code, self.message, self.argument)

    def to_dict(self) -> dict[str, dict[str, str]]:
        """As the program prints a row that it could not answer."""
        return {"error": {"code": self.code, "message": self.message}}


class InputError(Error, ValueError):
    """A text, a parameter or a model that cannot be."""


class FileError(Error, OSError):
    """A file or folder that is not there or cannot be read."""


def make_error(code: str, message: str, argument: str | None = None) -> Error:
    """The error of a code, of the class that fits it."""
    return (FileError if code in _OF_FILES else InputError)(code, message, argument)
