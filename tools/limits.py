"""Runs commands, and ends those that take too long, with every process that they started."""

import contextlib
import os
import pathlib
import signal
import subprocess


def descendants(pid: int) -> list[int]:
    """`pid` and all its descendants, itself first."""
    found = [pid]
    for parent in found:  # grows during the loop
        for task in pathlib.Path(f"/proc/{parent}/task").glob("*/children"):
            with contextlib.suppress(OSError):  # it has just ended
                found += [int(child) for child in task.read_text().split()]
    return found


def end_tree(process: subprocess.Popen) -> None:
    for pid in descendants(process.pid):
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


def run_limited(command: list, seconds: float, **options) -> tuple[int | None, str]:
    """(exit code, stdout and stderr); the exit code is None when the command was ended after `seconds`."""
    process = subprocess.Popen(
        [str(word) for word in command],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        **options,
    )
    try:
        output, _ = process.communicate(timeout=seconds)
        return process.returncode, output
    except subprocess.TimeoutExpired:
        end_tree(process)
        return None, process.communicate()[0]
