"""Names to folders, and what a pickle says of a folder."""

from __future__ import annotations

import os

from deberta import _deberta
from deberta._errors import make_error

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

_WHOLE_BYTES, _BLOCK_BYTES, _BLOCKS = 1 << 24, 1 << 16, 64


def _clone_around() -> str | None:
    """The clone in which the working directory lies: an installed package does not know where it was built."""
    try:
        folder = os.getcwd()
    except OSError:  # a directory that was removed
        return None
    while not os.path.isfile(os.path.join(folder, "python", "deberta", "_models.py")):
        folder, below = os.path.dirname(folder), folder
        if folder == below:
            return None
    return folder


def builtin_folders() -> list[str]:
    """Where the built-in models may be: the package deberta_models, the clone that this package was built in, and the
    one around the working directory."""
    here = os.path.dirname(os.path.realpath(__file__))
    beside = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "deberta_models", "models")
    clones = (os.path.dirname(os.path.dirname(here)), _clone_around())
    folders = [beside, *(os.path.join(clone, "models") for clone in clones if clone)]
    return [folder for folder in dict.fromkeys(folders) if os.path.isdir(folder)]


def find_model(name: str | os.PathLike[str]) -> str:
    """The absolute path of a model: a directory, builtin:NAME, or ORG/NAME in the hub cache. Downloads nothing.

    Raises FileError for a name that leads nowhere."""
    try:
        path = os.fspath(name)
    except TypeError:
        path = None
    if not isinstance(path, str) or not path:
        raise make_error("usage", f"model: expected a name or a path, got {name!r}", "model")
    try:
        path.encode()
    except UnicodeEncodeError:
        raise make_error("usage", f"model: expected a path of UTF-8, got {path!r}", "model") from None
    if "\0" in path:
        raise make_error("usage", f"model: expected a path without a zero byte, got {path!r}", "model")
    folders = builtin_folders()
    if not folders and (path == "builtin" or path.startswith("builtin:")):
        hint = "in a clone ./run wheel models makes the wheel that has them, and below a clone they are found"
        raise make_error("file-not-found", f"{path}: no built-in models here; {hint}", "model")
    return os.path.abspath(_deberta.find_model(path, folders))


def _files(folder: str) -> Iterator[str]:
    """Those that can be read: no links that lead nowhere."""
    for root, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        paths = (os.path.join(root, name) for name in sorted(names) if not name.startswith("."))
        yield from filter(os.path.isfile, paths)


def stamps_of(folder: str) -> list[tuple[object, ...]]:
    """What changes with the files of a model: their names, sizes, times and places on the disk."""
    stats = ((path, os.stat(path)) for path in _files(folder))
    return [(path, one.st_size, one.st_mtime_ns, one.st_dev, one.st_ino) for path, one in stats]


def hash_of(folder: str) -> str:
    """SHA-256 over the names and sizes of a model's files and their contents: of a file above 16 MiB 64 blocks of 64
    KiB, spread evenly from its begin to its end."""
    import hashlib

    digest = hashlib.sha256()
    for path in _files(folder):
        size = os.path.getsize(path)
        digest.update(f"{os.path.relpath(path, folder)}\0{size}\0".encode("utf-8", "surrogateescape"))
        with open(path, "rb") as file:
            if size <= _WHOLE_BYTES:
                digest.update(file.read())
                continue
            for block in range(_BLOCKS):
                file.seek((size - _BLOCK_BYTES) * block // (_BLOCKS - 1))
                digest.update(file.read(_BLOCK_BYTES))
    return digest.hexdigest()
