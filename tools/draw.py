"""What a run that has no time for everything takes: first what the change touches, then an order that the commit draws.
The next commit begins elsewhere, and a run of the same commit is the same."""

import functools
import hashlib
import pathlib
import subprocess

PASSED = "refs/gate/passed"  # the last commit that passed the gate in this checkout, written by gate.py
CHANGE_HOURS = 6  # on a checkout of main alone: what was committed in so many hours before its last commit


def git(root: pathlib.Path, *words: str) -> str:
    """Empty where it fails."""
    return subprocess.run(
        ["git", *words], cwd=root, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ).stdout.strip()


@functools.cache
def commit(root: pathlib.Path) -> str:
    """Empty where nothing was committed yet."""
    return git(root, "rev-parse", "-q", "--verify", "HEAD")


def place(name: str, root: pathlib.Path) -> bytes:
    """A key to sort names by."""
    return hashlib.sha256((commit(root) + name).encode()).digest()


def base(root: pathlib.Path) -> str:
    """The commit that the change is counted from: the last that passed the gate here, else where the branch left
    origin's main. Where that is the last commit and nothing else has changed, the last one before CHANGE_HOURS of
    work."""
    head = commit(root)
    for start in (PASSED, "origin/main"):
        shared = git(root, "merge-base", start, "HEAD")
        if shared and (shared != head or changed_since(root, head)):
            return shared
    last = git(root, "log", "-1", "--format=%ct")
    return (last and git(root, "rev-list", "-1", f"--before={int(last) - CHANGE_HOURS * 3600}", "HEAD")) or head


def changed_since(root: pathlib.Path, start: str) -> list[str]:
    """The names of the files that differ from the commit, those included that are not committed or are gone."""
    names = git(root, "diff", "--name-only", "-z", "--no-renames", start).split("\0") + git(
        root, "ls-files", "-o", "--exclude-standard", "-z"
    ).split("\0")
    return sorted({name for name in names if name})
