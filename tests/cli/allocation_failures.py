#!/usr/bin/env python3
"""For every verb, every allocation of a run fails in turn: the program ends with exit code 1 and one sentence, frees
what it allocated, and leaves its output either untouched or complete. A run that succeeds nevertheless (the library
asked for more than it needs) gives the same answers.

allocation_failures.py [--every N]: all of them (about a quarter of an hour), or one in N."""

import argparse
import pathlib
import shutil
import subprocess
import sys
import tempfile

from conversion_models import contents
from every_verb import jobs
from models import ROOT

SHIM = ROOT / "tests/support/failing_allocations.c"
# our own words; the system's, within a sentence of ours
SENTENCE = ("out of memory", "cannot allocate", "Cannot allocate memory", "cannot start a thread")
BLOCKS = 8  # that the system keeps after an error: the text of errno and the like


def build_shim(folder):
    library = pathlib.Path(folder) / "failing_allocations.so"
    subprocess.run(["cc", "-shared", "-fPIC", "-O1", "-Wall", "-Werror", "-o", library, SHIM, "-ldl"], check=True)
    return library


def environment(shim, report, **settings):
    return {"LD_PRELOAD": str(shim), "FAIL_REPORT": str(report)} | {
        name: str(value) for name, value in settings.items()
    }


def counted(job, shim, report, **settings):
    """(the finished run, [(number, code, live, message)] of its copies, number of requests in the run, blocks it
    kept)."""
    report.unlink(missing_ok=True)
    done = job.run(environment(shim, report, **settings), timeout=3600)
    lines = [line.split(" ", 3) for line in report.read_text().splitlines()]
    last = lines.pop()
    assert last[0] == "0", last
    return (
        done,
        [(int(number), int(code), int(live), message) for number, code, live, message in lines],
        int(last[3]),
        int(last[2]),
    )


def is_said(message):
    return any(words in message for words in SENTENCE) and not message.startswith("internal")


def clear(job):
    if job.output:
        shutil.rmtree(job.output.parent)
        job.output.parent.mkdir()


def judge_run(job, shim, report, number, right, whole):
    """What is wrong with a run in which one request fails, or "". `right` is the run in which none does, `whole` what
    that writes."""
    clear(job)
    done = job.run(environment(shim, report, FAIL_CALL=number))
    message, found = done.stderr.decode(errors="replace"), contents(job.output.parent) if job.output else {}
    if done.returncode == 0:
        is_right = found == whole and (job.is_timed or done.stdout == right.stdout)
        return "" if is_right else f"{job.name}: request {number} failed: it answers, otherwise than it should"
    if done.returncode != 1 or not is_said(message):
        return f"{job.name}: request {number} failed: exit code {done.returncode}, {message!r}"
    return "" if found in ({}, whole) else f"{job.name}: request {number} failed: it left {sorted(found)}"


def judge_copies(job, shim, work, every, phase):
    """Problems, and how many requests failed: each in a copy of the process. A copy has only the main thread: what is
    not clean there is tried again in a run of its own, whose result counts."""
    done, copies, _, kept = counted(job, shim, work / "report", FAIL_EVERY=every, FAIL_PHASE=phase)
    if done.returncode != 0:
        return [f"{job.name}: exit code {done.returncode} although nothing failed: {done.stderr[-300:]}"], 0
    problems = [
        f"{job.name}: request {number} failed: {live} blocks not given back, {kept} when nothing fails"
        for number, code, live, _ in copies
        if code == 1 and live > kept + BLOCKS
    ]
    suspects = [number for number, code, _, message in copies if code != 1 or not is_said(message)]
    return problems + [
        told for number in suspects if (told := judge_run(job, shim, work / "report", number, done, {}))
    ], len(copies)


def judge_runs(job, shim, work, every, phase):
    """The same for a run with an output, or with threads: each request fails in a run of its own."""
    right, _, requests, _ = counted(job, shim, work / "report")
    whole = contents(job.output.parent)
    if right.returncode != 0 or not whole:
        return [f"{job.name}: exit code {right.returncode} although nothing failed: {right.stderr[-300:]}"], 0
    numbers = range(phase or every, requests + 1, every)
    problems = [told for number in numbers if (told := judge_run(job, shim, work / "report", number, right, whole))]
    clear(job)
    return problems, len(numbers)


def try_all(folder, every=1, phase=0, say=lambda line: None):
    """(problems, requests that failed)"""
    work = pathlib.Path(folder)
    shim = build_shim(work)
    plain, written = jobs(work)
    problems, tried = [], 0
    for judge, some in ((judge_copies, plain), (judge_runs, written)):
        for job in some:
            found, count = judge(job, shim, work, every, phase % every)
            say(
                f"{' '.join(map(str, job.words[:1]))}{' to a file' if job.output else ''}: {count} requests "
                f"failed, {len(found)} problems"
            )
            problems, tried = problems + found, tried + count
    return problems, tried


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n\n")[0])
    parser.add_argument("--every", type=int, default=1)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        problems, tried = try_all(folder, arguments.every, say=lambda line: print(line, flush=True))
    print("\n".join(problems))
    print(f"allocation failures: {tried} tried, {len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
