"""A plugin of pytest for tools/long_checks python_asan: at the end of a session whose interpreter runs with the runtime
of AddressSanitizer it asks LeakSanitizer what nothing points to any more. The interpreter lives yet, so that its own
objects are no leaks; what was allocated in the extension is one, and fails the session. An object of the extension
that Python never gives back stays in nanobind's table, so it is none here: workers.py leaks sees its memory."""

import ctypes
import gc
import pathlib
import re
import tempfile

EXTENSION = re.compile(r"\bdeberta::|_deberta[.\w]*\.so")  # with symbols, and without


def leaks_of(report):
    """The blocks of a report whose allocation has a frame in the extension."""
    blocks = re.split(r"\n(?=(?:Direct|Indirect) leak of )", report)[1:]
    return [block.split("\n\n")[0] for block in blocks if EXTENSION.search(block.split("\n\n")[0])]


def find_leaks():
    gc.collect()
    sanitizer = ctypes.CDLL(None)  # that of this process: preloaded
    with tempfile.TemporaryDirectory() as folder:
        sanitizer.__sanitizer_set_report_path(f"{folder}/report".encode())
        sanitizer.__lsan_do_recoverable_leak_check()
        sanitizer.__sanitizer_set_report_path(b"stderr")
        return leaks_of("".join(path.read_text() for path in pathlib.Path(folder).iterdir()))


def pytest_sessionfinish(session, exitstatus):
    found = find_leaks()
    print("", f"leaks: {len(found)} in the extension", *found, sep="\n")
    if found:
        session.exitstatus = 1
