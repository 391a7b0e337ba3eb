"""An order that the commit draws: the next commit begins elsewhere, and a run of the same commit is the same."""
import functools
import hashlib
import pathlib
import subprocess


@functools.cache
def commit(root: pathlib.Path) -> str:
    """Empty where nothing was committed yet."""
    return subprocess.run(["git", "rev-parse", "-q", "--verify", "HEAD"], cwd=root, stdout=subprocess.PIPE, text=True).stdout.strip()


def place(name: str, root: pathlib.Path) -> bytes:
    """A key to sort names by."""
    return hashlib.sha256((commit(root) + name).encode()).digest()
