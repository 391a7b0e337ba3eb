"""The examples of docs/guides/scale_engines.md in the engines themselves: `engines.py [ray|spark|duckdb|polars...]`.

DEBERTA_ROWS (1,000,000) rows of SST-2, SICK and MPE are answered and compared with the program's answers, row by row;
then a tenth of them with a worker killed, the driver killed and started again, and a file that is no Parquet. Packages
go to DEBERTA_ENVIRONMENTS (build/engines/environments), hundreds of MB each; the package is the wheel in dist, or
DEBERTA_PACKAGE. Run by tools/long_checks engines."""

import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import time

import pyarrow
import pyarrow.dataset
import pyarrow.parquet

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "cli"))
from long_runs import FAULT_ROWS, ROOT, ROWS, Run, by_program, check_share, processes, row_texts, with_signal

GUIDE = (ROOT / "docs/guides/scale_engines.md").read_text()
WORK = ROOT / "build/engines"
ENVIRONMENTS = pathlib.Path(os.environ.get("DEBERTA_ENVIRONMENTS", WORK / "environments"))
FILES = 20
LEAST_SHARE = {"ray": 0.8, "spark": 0.8}  # of the program's rows a second

ARROW = ["numpy==2.4.6", "pyarrow==26.0.1", "nanobind-backend==1.0.0"]
# {part: (its packages, what runs a script, threads of the example, the command line of a worker)}
PARTS = {
    "ray": (["ray[data]==2.60.0", "pandas==3.1.1"], ["python"], 1, rb"^ray::.*MapBatches"),
    "spark": (
        ["pyspark==4.3.0", "pandas==2.3.3"],
        ["spark-submit", "--master", "local[2,4]"],
        2,
        rb"pyspark[./]daemon",
    ),
    "duckdb": (["duckdb==2.0.1"], ["python"], 0, None),
    "polars": (["polars==2.1.0"], ["python"], 0, None),
}

# ---- rows


def make_rows(folder, count):
    """rows/*.parquet, and the same rows as rows.jsonl for the program."""
    shutil.rmtree(folder, ignore_errors=True)
    (folder / "rows").mkdir(parents=True)
    every_text = row_texts(count)
    with open(folder / "rows.jsonl", "w") as lines:
        for part, first in enumerate(range(0, count, -(-count // FILES))):
            ids = range(first, min(first + -(-count // FILES), count))
            texts = every_text[ids.start : ids.stop]
            lines.writelines(json.dumps({"id": i, "text": text}) + "\n" for i, text in zip(ids, texts))
            table = pyarrow.table({"id": pyarrow.array(ids, pyarrow.int64()), "text": texts})
            pyarrow.parquet.write_table(table, folder / f"rows/part-{part:03}.parquet")


# ---- an engine


def interpreter(part):
    """The folder of the programs of a part's environment."""
    programs = ENVIRONMENTS / part / "bin"
    pip = [programs / "pip", "install", "-q", "--disable-pip-version-check"]
    if not programs.exists():
        subprocess.run([sys.executable, "-m", "venv", ENVIRONMENTS / part], check=True)
        subprocess.run([*pip, *ARROW, *PARTS[part][0]], check=True)
    if "DEBERTA_PACKAGE" not in os.environ:
        (wheel,) = (ROOT / "dist").glob("deberta_cpp-*.whl")
        subprocess.run([*pip, "--force-reinstall", "--no-deps", wheel], check=True)
    return programs


def start(part, folder, has_small_blocks=True):
    """The example of the guide in a folder with rows; in blocks that are small enough for a fault between them."""
    section = re.search(rf"^## {part}$(.*?)(^## |\Z)", GUIDE, re.M | re.S | re.I)[1]
    code = re.search(r"^```python\n(.*?)^```", section, re.M | re.S)[1]
    if has_small_blocks:
        code = code.replace("1 << 24", "1 << 18").replace('"1m"', '"64k"')
    (folder / "answers.py").write_text(code)
    programs = interpreter(part)
    program, *options = PARTS[part][1]
    more = {"PATH": f"{programs}:{os.environ['PATH']}", "PYSPARK_PYTHON": str(programs / "python")}
    # Ray needs cores for what reads, filters and writes; those of a small machine are lent twice.
    more |= {"RAY_USAGE_STATS_ENABLED": "0", "RAY_OVERRIDE_RESOURCES": json.dumps({"CPU": max(4, os.cpu_count())})}
    if "DEBERTA_PACKAGE" in os.environ:
        more["PYTHONPATH"] = os.environ["DEBERTA_PACKAGE"]
    return Run([programs / program, *options, "answers.py"], folder, **more)


def check_answers(folder, expected):
    """Every id once, with the program's answer."""
    columns = ["id", "label", "score", "error"]
    table = pyarrow.dataset.dataset(folder / "answers", format="parquet", exclude_invalid_files=False)
    found = {}
    for batch in table.to_batches(columns=columns):
        for i, label, score, error in zip(*(batch.column(name).to_pylist() for name in columns)):
            assert i not in found, f"id {i}: twice"
            found[i] = (label, score) if error is None else error["code"]
    assert len(found) == len(expected), f"{len(expected) - len(found)} ids lost"
    wrong = [i for i, answer in expected.items() if found[i] != answer]
    assert not wrong, f"{len(wrong)} answers differ, the first of id {wrong[0]}: {found[wrong[0]]}"


def finish(run, folder, expected):
    assert run.wait() == 0, run.log.read_text()[-6000:]
    check_answers(folder, expected)


# ---- faults


def wait_for_answers(run, folder):
    """Until some of the answers are on the disk, and more are to come."""
    while run.process.poll() is None:
        if len([*(folder / "answers").glob("**/*.parquet")]) >= 3:
            return
        time.sleep(0.1)
    raise AssertionError("the run ended before its fault\n" + run.log.read_text()[-6000:])


def clean(folder):
    for name in ("answers", "done"):
        shutil.rmtree(folder / name, ignore_errors=True)


def worker_killed(part, folder, expected):
    clean(folder)
    run = start(part, folder)
    wait_for_answers(run, folder)
    killed = sum(
        with_signal(process, signal.SIGKILL)
        for process, words in processes(run.mark).items()
        if re.search(PARTS[part][3], words)
    )
    assert killed > 0, [*processes(run.mark).values()]
    finish(run, folder, expected)
    print(f"{part}: {killed} worker processes killed: whole after {run.seconds:.0f} s", flush=True)


def driver_killed(part, folder, expected):
    clean(folder)
    run = start(part, folder)
    wait_for_answers(run, folder)
    run.process.send_signal(signal.SIGKILL)
    run.wait()
    left = len([*(folder / "answers").glob("**/*.parquet")])
    run = start(part, folder)
    finish(run, folder, expected)
    print(f"{part}: driver killed with {left} files written: whole, second run {run.seconds:.0f} s", flush=True)


def bad_file(part, folder, expected):
    clean(folder)
    path = folder / f"rows/part-{FILES // 2:03}.parquet"
    kept = path.read_bytes()
    path.write_bytes(b"no Parquet" * 100)
    run = start(part, folder)
    assert run.wait() != 0, run.log.read_text()[-6000:]
    named = "named" if path.name in run.log.read_text() else "not named"  # not by Ray 2.60, nor by Polars 2.1
    path.write_bytes(kept)
    finish(start(part, folder), folder, expected)
    print(f"{part}: a file that is no Parquet ends the run, {named}; put right, a rerun is whole", flush=True)


def check(part):
    folder = WORK / part
    make_rows(folder, ROWS)
    expected, alone = by_program(folder, PARTS[part][2])
    run = start(part, folder, has_small_blocks=ROWS <= FAULT_ROWS)
    finish(run, folder, expected)
    print(f"{part}: {ROWS:,} rows equal, {PARTS[part][2] or os.cpu_count()} threads, its start included", flush=True)
    check_share(part, run, alone, LEAST_SHARE.get(part, 0))
    make_rows(folder, FAULT_ROWS)
    expected, _ = by_program(folder, 0)
    faults = (worker_killed, driver_killed, bad_file) if PARTS[part][3] else (bad_file,)
    for fault in faults:
        fault(part, folder, expected)


if __name__ == "__main__":
    named = sys.argv[1:] or [*PARTS]
    failed = []
    for name in named:
        try:
            check(name)
        except AssertionError as error:
            print(f"{name}: {error}", flush=True)
            failed.append(name)
    print(f"engines: {len(named) - len(failed)} work, failed: {failed}")
    sys.exit(1 if failed else 0)
