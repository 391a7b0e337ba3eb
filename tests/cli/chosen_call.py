"""tests/support/chosen_call.c, a library that stands between a program and the system and lets something happen to one
call, however fast the machine is."""

import dataclasses
import os
import pathlib
import re
import subprocess

from models import ROOT


@dataclasses.dataclass(frozen=True)
class Call:
    """The `number`-th of a kind, with `path` as a part of its path, once a path with the part `after` was opened; "":
    of any kind, with any path, at any time."""

    kind: str = ""
    path: str = ""
    number: int = 1
    after: str = ""


def build_library(folder, name):
    """A library for LD_PRELOAD, from tests/support/NAME.c"""
    library, source = pathlib.Path(folder) / f"{name}.so", ROOT / "tests/support" / f"{name}.c"
    subprocess.run(["cc", "-shared", "-fPIC", "-O1", "-Wall", "-Werror", "-o", library, source, "-ldl"], check=True)
    return library


def build_shim(folder):
    return build_library(folder, "chosen_call")


def environment_at(shim, call, does="", report=""):
    """For a program in which `does` happens to the call: the number of a signal, ENOSPC, EIO, EINTR, SHORT. `report`: a
    file for a line for each call that counts."""
    does = int(does) if isinstance(does, int) else does
    return {
        "LD_PRELOAD": str(shim),
        "CALL_DOES": str(does),
        "CALL_KIND": call.kind,
        "CALL_PATH": call.path,
        "CALL_NUMBER": str(call.number),
        "CALL_AFTER": call.after,
        "CALL_REPORT": str(report),
        "ASAN_OPTIONS": f"{os.environ.get('ASAN_OPTIONS', '')}:verify_asan_link_order=0:detect_leaks=0",
    }


def give_live_numbers(folder):
    """Renames what killed programs left under temporary names, so that each has the number of a process that lives: of
    this one. How many there are."""
    left = [
        path for path in sorted(pathlib.Path(folder).rglob("*"), reverse=True) if re.search(r"\.tmp-\d+-", path.name)
    ]
    for path in left:
        path.rename(path.with_name(re.sub(r"\.tmp-\d+-", f".tmp-{os.getpid()}-", path.name)))
    return len(left)
