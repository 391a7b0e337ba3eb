"""`--files` at size and with the faults that the gate has in small: `scale.py [rates|kills|files|hosts|disk...]`.

rates: DEBERTA_ROWS (1,000,000) rows by as many processes as there are processors, beside the program alone: the same
answers, at least 90 % of its rows a second, flat memory. The rest on a tenth of the rows: four processes killed and
started again at 20 drawn moments; a file that cannot be read in the middle, and inputs that change; two hosts that
share a folder and nothing else, each killed as a whole; a disk that is full. Run by tools/long_checks scale."""

import atexit
import collections
import gzip
import json
import os
import pathlib
import random
import re
import shutil
import signal
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from long_runs import BINARY, FAULT_ROWS, ROOT, ROWS, Run, by_program, check_share, processes, row_texts, with_signal

WORK = ROOT / "build/scale"
FILES = 200
KILLS = 20
PROCESSES = 4
LEAST_SHARE = 0.9
MOST_GROWTH = (0.1, 32)  # of the memory, and MB, in the second half of a run
STALE_SECONDS = 60  # of a claim (src/jobs/claim.h)
JOB = [BINARY, "classify", "-m", ROOT / "models/sentiment", "--files", "rows/*", "-f", "jsonl", "--keep", "id"]


def make_rows(folder, count, files=FILES):
    """rows/part-*.jsonl, and the same rows as rows.jsonl."""
    shutil.rmtree(folder, ignore_errors=True)
    (folder / "rows").mkdir(parents=True)
    lines = [json.dumps({"id": i, "text": text}) + "\n" for i, text in enumerate(row_texts(count))]
    (folder / "rows.jsonl").write_text("".join(lines))
    size = -(-count // files)
    for part in range(0, -(-count // size)):
        (folder / f"rows/part-{part:03}.jsonl").write_text("".join(lines[part * size : (part + 1) * size]))


def job(folder, *words, to="out"):
    """A run of the job to its end: its exit code and what it said."""
    run = Run([*JOB, "--to", to, *words], folder)
    return run.wait(), run.log.read_text()


def start(folder, count=PROCESSES):
    words = [*map(str, JOB), "--to", "out", "--threads", "1"]
    running = [
        subprocess.Popen(words, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        for _ in range(count)
    ]
    for process in running:
        atexit.register(process.kill)  # if the check fails before its end
    return running


def done_in(folder):
    return len([*(folder / "out/.deberta").glob("*.done")])


def files_in(folder):
    return {path.name: path.read_bytes() for path in folder.glob("*.jsonl")}


def check_whole(folder):
    """Bit for bit the answers of one process, a record of each, and nothing else."""
    made, expected = files_in(folder / "out"), files_in(folder / "one")
    assert made.keys() == expected.keys(), expected.keys() ^ made.keys()
    differing = [name for name in expected if made[name] != expected[name]]
    assert not differing, f"{len(differing)} files differ, the first is {differing[0]}"
    left = [path.name for path in (folder / "out").rglob("*") if re.search(r"\.tmp-|\.claim$|\.failed$", path.name)]
    assert not left, left
    assert done_in(folder) == len(expected)


def make_one(name, count=FAULT_ROWS, files=FILES):
    """A folder with rows, and with the answers of one process in `one`."""
    folder = WORK / name
    make_rows(folder, count, files)
    code, said = job(folder, to="one")
    assert code == 1, said  # some rows are bad
    return folder


# ---- the parts


def answers_of(folder):
    found = {}
    for path in sorted((folder / "out").glob("*.jsonl")):
        for row in map(json.loads, open(path)):
            assert row["id"] not in found, f"id {row['id']}: twice"
            found[row["id"]] = row["error"]["code"] if "error" in row else (row["label"], row["score"])
    return found


def rates():
    folder, count = WORK / "rates", os.cpu_count()
    make_rows(folder, ROWS, files=100)
    expected, alone = by_program(folder, count)
    each = " ".join(f"'{word}'" for word in [*JOB, "--to", "out", "--threads", 1, "--progress", "off"])
    run = Run(["bash", "-c", f"for i in $(seq {count}); do {each} & done; wait"], folder)
    assert run.wait() == 0, run.log.read_text()
    assert answers_of(folder) == expected
    growth = check_share(f"--files, {count} processes of a thread", run, alone, LEAST_SHARE)
    share, megabytes = MOST_GROWTH
    assert growth <= share * run.peak_mb() + megabytes, f"memory grew by {growth:.0f} MB"
    print(f"rates: {ROWS:,} rows equal, none lost or doubled", flush=True)


def kills():
    folder, draw = make_one("kills"), random.Random(50)
    moments = sorted(draw.sample(range(1, FILES - 2 * PROCESSES), KILLS))
    for moment in moments:
        running = start(folder)
        while done_in(folder) < moment:
            assert all(process.poll() is None for process in running), "ended before its kill"
            time.sleep(draw.uniform(0, 0.01))
        time.sleep(draw.uniform(0, 0.2))
        for process in draw.sample(running, len(running)):
            process.kill()
            time.sleep(draw.uniform(0, 0.01))
        for process in running:
            process.communicate()
    ended = [(process.communicate()[1], process.returncode) for process in start(folder)]
    assert [code for _, code in ended] == [1] * PROCESSES, ended
    check_whole(folder)
    print(
        f"kills: {FAULT_ROWS:,} rows, {PROCESSES} processes killed at {KILLS} moments, with {moments} files done: whole"
    )


def files():
    """A compressed file that ends too early among the others, and inputs that change after they were answered."""
    folder = make_one("files")
    whole = (folder / f"rows/part-{FILES // 2:03}.jsonl").read_bytes()
    torn = folder / f"rows/part-{FILES // 2:03}.jsonl.gz"
    torn.write_bytes(gzip.compress(whole)[:-200])
    torn.with_suffix("").unlink()
    ended = [(process.communicate()[1], process.returncode) for process in start(folder)]
    assert all(code == 1 and ", 1 failed; rows" in said for said, code in ended), ended
    assert sum(torn.name in said for said, _ in ended) >= 1 and done_in(folder) == FILES - 1
    torn.write_bytes(gzip.compress(whole))
    code, said = job(folder)
    assert code == 1 and f"files: 1 done, 0 done by other processes, {FILES - 1} done before, 0 failed" in said, said
    check_whole(folder)
    changed = [folder / f"rows/part-{part:03}.jsonl" for part in (0, FILES - 1)]
    for path in changed:
        path.write_text(path.read_text().replace("film", "movie") + '{"id": -1, "text": "one more"}\n')
    code, said = job(folder)
    assert f"files: {len(changed)} done, 0 done by other processes, {FILES - len(changed)} done before" in said, said
    now, before = files_in(folder / "out"), files_in(folder / "one")
    assert [name for name in now if now[name] != before[name]] == [path.name for path in changed]
    print(
        "files: one that cannot be read stops no other and is done once it is whole; inputs that changed, and no others"
    )


def start_host(folder, name):
    """Two processes with a network, a host name and numbers of processes of their own."""
    each = " ".join(f"'{word}'" for word in [*JOB, "--to", "out", "--threads", 1, "--progress", "off"])
    words = ["unshare", "-rnupf", "--mount-proc", "bash", "-c", f"hostname {name}; {each} & {each} & wait"]
    return Run(words, folder)


def kill_host(run):
    for process in processes(run.mark):
        with_signal(process, signal.SIGKILL)
    run.wait()


def claims_of(folder, host):
    """{file: when its claim was touched last}"""
    found = {}
    for path in (folder / "out/.deberta").glob("*.claim"):
        try:
            text, touched = path.read_text(), path.stat().st_mtime
        except FileNotFoundError:
            continue
        if f'"host":"{host}"' in text.replace(" ", ""):
            found[path.name.removesuffix(".claim")] = touched
    return found


def hosts():
    folder, draw = make_one("hosts"), random.Random(51)
    running = {name: start_host(folder, name) for name in ("east", "west")}
    lost = {}
    for name, moment in zip(running, sorted(draw.sample(range(FILES // 10, FILES // 2), 2))):
        while done_in(folder) < moment or not claims_of(folder, name):
            assert running[name].process.poll() is None, running[name].log.read_text()
            time.sleep(0.01)
        kill_host(running[name])
        lost |= claims_of(folder, name)
        running[name] = start_host(folder, name)
    for run in running.values():
        run.wait()
    assert lost, "expected a claim of a host that was killed"
    check_whole(folder)
    waited = {name: (folder / f"out/.deberta/{name}.done").stat().st_mtime - touched for name, touched in lost.items()}
    assert min(waited.values()) >= STALE_SECONDS, waited
    by_host = collections.Counter(
        json.loads(path.read_text())["host"] for path in (folder / "out/.deberta").glob("*.done")
    )
    assert by_host.keys() == running.keys(), by_host
    print(
        f"hosts: both killed and started again: whole, {dict(by_host)} files; {len(lost)} claims were given back "
        f"after {min(waited.values()):.0f} to {max(waited.values()):.0f} s"
    )


ON_A_FULL_DISK = """
mount -t tmpfs -o size={size} none out
head -c {ballast} /dev/zero > out/ballast
{job} 2> full.log; echo $? > full.code
(cd out; find . -type f | grep -v ballast) > full.files
rm out/ballast
{job} 2> rest.log; echo $? > rest.code
cp -a out kept
"""


def disk():
    folder = make_one("disk", max(FAULT_ROWS // 10, 2000), files=20)  # fewer would not fill pages
    (folder / "out").mkdir()
    need = sum(map(len, files_in(folder / "one").values()))
    words = " ".join(f"'{word}'" for word in [*JOB, "--to", "out"])
    script = ON_A_FULL_DISK.format(size=3 * need, ballast=3 * need - need // 2, job=words)
    run = Run(["unshare", "-rm", "bash", "-c", script], folder)
    run.wait()
    said, left = (folder / "full.log").read_text(), (folder / "full.files").read_text().split()
    assert "No space left on device; its answers need about" in said, said
    assert not [name for name in left if ".tmp-" in name or name.endswith(".claim")], left
    failed = int(re.search(r"(\d+) failed; rows", said)[1])
    assert len([line for line in said.splitlines() if "No space left" in line]) == failed > 0, said
    again = (folder / "rest.log").read_text()
    assert f"files: {failed} done, 0 done by other processes, {20 - failed} done before, 0 failed" in again, again
    (folder / "out").rmdir()
    (folder / "kept").rename(folder / "out")
    check_whole(folder)
    print(f"disk: full: {20 - failed} files done, {failed} refused in a sentence each, then done")


PARTS = {part.__name__: part for part in (rates, kills, files, hosts, disk)}

if __name__ == "__main__":
    named, failed = sys.argv[1:] or [*PARTS], []
    for name in named:
        begin = time.monotonic()
        try:
            PARTS[name]()
        except AssertionError as error:
            print(f"{name}: {error}", flush=True)
            failed.append(name)
        print(f"{name}: {time.monotonic() - begin:.0f} s", flush=True)
    print(f"scale: {len(named) - len(failed)} parts work, failed: {failed}")
    sys.exit(1 if failed else 0)
