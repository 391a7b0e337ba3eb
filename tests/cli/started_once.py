"""tests/support/started_once.c: deberta-train runs in copies of one process, which has LibTorch already. That takes a
twentieth of the time of a start."""

import contextlib
import pathlib
import subprocess

from chosen_call import Call, build_library, environment_at
from clean_environment import clean_environment


@contextlib.contextmanager
def started_once(binary, folder, shim=None):
    """The settings with which `binary` (deberta) asks for a copy of the deberta-train beside it. SIGKILL and limits do
    not reach the copies, chosen_call.c does where `shim` is that library."""
    library = build_library(folder, "started_once")
    settings = {"STARTED_ONCE": str(pathlib.Path(folder) / "socket")}
    libraries = f"{library}:{shim}" if shim else library
    clean = clean_environment()
    with subprocess.Popen(
        [pathlib.Path(binary).resolve().with_name("deberta-train")],
        stdout=subprocess.PIPE,
        env=clean
        | environment_at(libraries, Call(path="nothing before a copy counts", number=0))
        | settings
        | {"STARTED_ONCE_SERVES": "1"},
    ) as process:
        assert process.stdout.readline() == b"ready\n"
        yield settings | {"LD_PRELOAD": str(library)}
        process.terminate()
