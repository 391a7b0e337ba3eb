"""Rows by the million, and programs that run on them for long: what they take, and what is left of them when they are
killed. For tools/long_checks."""

import csv
import io
import itertools
import json
import lzma
import os
import pathlib
import re
import signal
import subprocess
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
DATA = ROOT.parent / "shared/data"
BINARY = os.environ.get("DEBERTA_BINARY", str(ROOT / "build/dev/deberta"))
ROWS = int(os.environ.get("DEBERTA_ROWS", "1000000"))
FAULT_ROWS = max(ROWS // 10, min(ROWS, 20000))
BAD_ROW_EVERY = 997
LEAST_ROWS_FOR_RATES = 200000  # of fewer, starting is too much of the time
HANG_SECONDS = 4 * 3600
MARK = "DEBERTA_LONG_RUN"  # in the environment of every process of a run, so that only those are counted and killed

# ---- rows


def table_file(path):
    return io.StringIO(lzma.open(path, "rt", encoding="utf-8").read())


def sentences():
    """Short ones, and premises of four sentences."""
    for name in ("train", "dev"):
        lines = csv.reader(table_file(DATA / f"glue/SST-2/{name}.tsv.xz"), delimiter="\t", quoting=csv.QUOTE_NONE)
        yield from (line[0] for line in itertools.islice(lines, 1, None))
        for corpus in ("sick", "mpe"):
            lines = csv.DictReader(table_file(DATA / f"nli/{corpus}/{name}.csv.xz"))
            yield from (line[key] for line in lines for key in ("premise", "hypothesis"))


def row_texts(count):
    """One for each id; None is a bad row."""
    known = list(sentences())
    step = len(known) * 7 // 16 | 1  # the corpora mixed
    return [None if i % BAD_ROW_EVERY == 5 else known[i * step % len(known)] for i in range(count)]


# ---- the processes of a run


def processes(mark):
    """{process: its command line}"""
    found = {}
    for entry in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            if f"{MARK}={mark}".encode() in (entry / "environ").read_bytes().split(b"\0"):
                found[int(entry.name)] = (entry / "cmdline").read_bytes().replace(b"\0", b" ")
        except OSError:  # ended, or of another user
            continue
    return found


def memory_mb(mark):
    """Of all processes together; pages that they share count once."""
    total = 0
    for process in processes(mark):
        try:
            text = pathlib.Path(f"/proc/{process}/smaps_rollup").read_text()
        except OSError:
            continue
        total += int(re.search(r"^Pss:\s+(\d+)", text, re.M)[1])
    return total / 1024


class Run:
    """A command in its folder; its memory over time, its seconds and its exit code when it has ended."""

    def __init__(self, words, folder, **environment):
        self.mark = f"{os.getpid()}-{time.monotonic_ns()}"
        self.log = folder / "log"
        kept = {k: v for k, v in os.environ.items() if not k.startswith(("PYTHON", "DEBERTA_"))}
        self.begin, self.memory = time.monotonic(), []  # [(seconds, MB)]
        with open(self.log, "wb") as log:
            self.process = subprocess.Popen(
                [*map(str, words)],
                cwd=folder,
                env=kept | environment | {MARK: self.mark},
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        self._watcher = threading.Thread(target=self._watch, daemon=True)
        self._watcher.start()

    def _watch(self):
        while self.process.poll() is None:
            self.memory.append((time.monotonic() - self.begin, memory_mb(self.mark)))
            time.sleep(0.5)

    def peak_mb(self, first=0.0, last=1.0):
        """Between two shares of its time."""
        return max((mb for at, mb in self.memory if first <= at / self.seconds <= last), default=0.0)

    def wait(self):
        code = self.process.wait(HANG_SECONDS)
        self.seconds = time.monotonic() - self.begin
        self._watcher.join()
        self.end()
        return code

    def end(self):
        """Ends what the command left behind."""
        deadline = time.monotonic() + 20
        while (left := processes(self.mark)) and time.monotonic() < deadline:
            time.sleep(0.5)
        for process in left:
            with_signal(process, signal.SIGKILL)


def with_signal(process, number):
    try:
        os.kill(process, number)
    except ProcessLookupError:
        return False
    return True


# ---- the program alone


def by_program(folder, threads):
    """{id: (label, score) or the code of an error}, with what the program took."""
    words = [BINARY, "classify", "-m", ROOT / "models/sentiment", "--threads", threads, "--input-format", "jsonl"]
    run = Run([*words, "-f", "jsonl", "--keep", "id", "-i", "rows.jsonl", "-o", "answers.jsonl"], folder)
    assert run.wait() in (0, 1), run.log.read_text()  # 1: bad rows
    rows = map(json.loads, open(folder / "answers.jsonl"))
    return {row["id"]: row["error"]["code"] if "error" in row else (row["label"], row["score"]) for row in rows}, run


def check_share(name, run, alone, least):
    """Of ROWS rows; says both rates, and how memory grew from the second quarter of the time on."""
    share, growth = alone.seconds / run.seconds, run.peak_mb(0.5) - run.peak_mb(0.25, 0.5)
    for title, one in ((name, run), ("the program alone", alone)):
        print(f"{title}: {ROWS / one.seconds:,.0f} rows/s, peak {one.peak_mb():,.0f} MB")
    print(f"{name}: {share:.1%} of the program's speed, {growth:+,.0f} MB in the second half", flush=True)
    if ROWS >= LEAST_ROWS_FOR_RATES:
        assert share >= least, f"{name}: expected at least {least:.0%} of the program's speed, got {share:.1%}"
    return growth
