"""Programs that run beside a test: how they are started and end, and how far one has got, so that tests need not
guess how long it takes."""

import array
import fcntl
import pathlib
import subprocess
import termios
import time

from clean_environment import clean_environment
from conftest import HANG_SECONDS


def start(folder, command, words, environment=None, **more):
    return subprocess.Popen(
        [*map(str, command), *map(str, words)],
        cwd=folder,
        env=clean_environment() | (environment or {}),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        **more,
    )


def end(process):
    """Its exit code and what it wrote to standard error; it must have printed nothing."""
    out, err = process.communicate(timeout=HANG_SECONDS)
    assert out == ""
    return process.returncode, err


def wait_until(is_so, process):
    begin = time.monotonic()
    while not is_so():
        assert process.poll() is None, "ended too early"
        assert time.monotonic() - begin < HANG_SECONDS
        time.sleep(0.02)


def wait_for_handler(process, number):
    """Waits until the program catches the signal; before that the signal would kill it."""

    def catches():
        status = pathlib.Path(f"/proc/{process.pid}/status").read_text()
        caught = int(status.split("SigCgt:")[1].split()[0], 16)
        return caught >> (number - 1) & 1

    wait_until(catches, process)


def wait_until_read(process):
    """Waits until the program has read everything written to its standard input, a pipe."""

    def is_empty():
        waiting = array.array("i", [0])
        fcntl.ioctl(process.stdin, termios.FIONREAD, waiting)
        return waiting[0] == 0

    wait_until(is_empty, process)
