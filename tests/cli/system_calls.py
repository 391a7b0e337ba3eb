#!/usr/bin/env python3
"""The system calls of every verb, by strace: no network calls, no other program or process, no file opened for writing,
created, renamed or removed except its output and the temporary files beside it."""

import pathlib
import re
import sys
import tempfile

from every_verb import jobs

TRACED = "%network,%process,%file"
CHANGES = re.compile(
    r"^(?:mkdir|mkdirat|rename|renameat|renameat2|unlink|unlinkat|rmdir|link|linkat|symlink|symlinkat"
    r"|truncate|chmod|fchmodat|mknod|mknodat)\("
)
OPENS = re.compile(r"^(?:open|openat|openat2|creat)\(")
NETWORK = re.compile(
    r"^(?:socket|socketpair|connect|bind|listen|accept4?|send\w*|recv\w*|getsockname|getpeername"
    r"|[gs]etsockopt|shutdown)\("
)
STARTS = re.compile(r"^(?:execve|execveat|fork|vfork)\(")
CLONES = re.compile(r"^clone3?\(")


def calls_of(trace):
    """The calls, each once, without the thread's id; the second half of an interrupted call is left out."""
    lines = (re.sub(r"^\d+ +", "", line) for line in trace.read_text(errors="replace").splitlines())
    return [line for line in lines if re.match(r"\w+\(", line)]


def is_outside(call, place):
    """Whether a path of the call lies outside `place`."""
    paths = re.findall(r'"((?:[^"\\]|\\.)*)"', call)
    return (
        not paths
        or place is None
        or any(path.startswith("/") and not pathlib.Path(path).is_relative_to(place) for path in paths)
    )


def forbidden(call, place):
    """What is wrong with a call, or an empty string."""
    if NETWORK.match(call):
        return "the network"
    if STARTS.match(call) or (CLONES.match(call) and "CLONE_THREAD" not in call):
        return "another process"
    writes = (OPENS.match(call) and re.search(r"O_WRONLY|O_RDWR|O_CREAT|O_TRUNC", call)) or CHANGES.match(call)
    return "a change outside the output" if writes and is_outside(call, place) else ""


def problems_of(job, trace):
    done = job.run(before=("strace", "-f", "-qq", "-s", "4096", "-e", f"trace={TRACED}", "-o", trace))
    if done.returncode != 0:
        return [f"{job.name}: exit code {done.returncode}: {done.stderr[-300:]}"], 0
    calls = calls_of(trace)
    assert calls and calls[0].startswith("execve("), calls[:1]  # the program's own start
    place = job.output.parent if job.output else None
    found = [(forbidden(call, place), call) for call in calls[1:]]
    return [f"{job.name}: {why}: {call}" for why, call in found if why], len(calls)


def main():
    problems, verbs, seen = [], set(), 0
    with tempfile.TemporaryDirectory() as folder:
        for job in [job for some in jobs(folder) for job in some]:
            found, calls = problems_of(job, pathlib.Path(folder) / "trace")
            problems, seen = problems + found, seen + calls
            verbs.add(job.name)
    print("\n".join(problems))
    print(
        f"system calls: {len(verbs)} verbs, {seen} calls on files, processes and the network, {len(problems)} problems"
    )
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
