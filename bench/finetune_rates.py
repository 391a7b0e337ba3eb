#!/usr/bin/env python3
"""Which learning rate fine-tuning should begin with: models of several sizes, three tasks, seeds and rates, and
everything else by default.

finetune_rates.py --data DATA --results FILE [-m MODEL...] [--optimizers O,...] [--rates R,...] [--seeds S,...]
    [--tasks T,...] [--rows N,...] [--jobs N] [--more OPTIONS...]
finetune_rates.py --results FILE --table

Each run is one command of `deberta finetune` on the first N rows of a task, scored on the task's dev file after its
last step. FILE gets a line of JSON for each; runs that it has are not made again. `auto` is a rate as well: the
default. The table has means over the seeds, and how far the default is from the best rate. With --more "--layer-decay
0.9" the runs have these options besides, and a column of their own. Needs the built programs; DEBERTA_BINARY names
deberta."""

import argparse
import concurrent.futures
import itertools
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[1]
BINARY = os.environ.get("DEBERTA_BINARY", str(ROOT / "build/release/deberta"))
MODELS = [f"builtin:{name}" for name in ("fill", "detect", "sentiment", "entailment", "entities")]
RATES = ["2e-5", "5e-5", "1e-4", "2e-4", "5e-4", "1e-3", "2e-3"]
TASKS = {
    "sick": ("nli", "nli/sick/train.csv.xz", "nli/sick/dev.csv.xz"),
    "sst-2": ("sst-2", "glue/SST-2/train.tsv.xz", "glue/SST-2/dev.tsv.xz"),
    "cola": ("cola", "glue/CoLA/train.tsv.xz", "glue/CoLA/dev.tsv.xz"),
}
KEY = ("model", "task", "rows", "optimizer", "rate", "seed", "more")


def run(words: list) -> str:
    done = subprocess.run([BINARY, *map(str, words)], capture_output=True, text=True, stdin=subprocess.DEVNULL)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, words))}\n{done.stderr}")
    return done.stdout


def measure(
    data: pathlib.Path, model: str, name: str, rows: int, optimizer: str, rate: str, seed: int, more: str
) -> dict:
    task, train, dev = TASKS[name]
    given = ["--optimizer", optimizer, *([] if rate == "auto" else ["--learning-rate", rate]), *more.split()]
    with tempfile.TemporaryDirectory() as folder:
        common = ["--threads", 1, "--progress", "off"]
        run(
            [
                "finetune",
                "--task",
                task,
                "-m",
                model,
                "--train-file",
                data / train,
                "--max-train-samples",
                rows,
                "--seed",
                seed,
                *given,
                *common,
                "-o",
                folder,
            ]
        )
        lines = [json.loads(line) for line in (pathlib.Path(folder) / "metrics.jsonl").read_text().splitlines()]
        found = json.loads(
            run(["eval", "--task", task, "-m", folder, "--bootstrap", 0, "-f", "json", *common, data / dev])
        )["metrics"]
    losses = [line["loss"] for line in lines if "loss" in line]
    return dict(zip(KEY, (model, name, rows, optimizer, rate, seed, more))) | {"metrics": found, "losses": losses}


def key_of(line: dict) -> tuple:
    return tuple(line.get(name, "") for name in KEY)  # the first runs had no more options


def read(path: pathlib.Path) -> list[dict]:
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def measure_all(a: argparse.Namespace) -> None:
    known = {key_of(line) for line in read(a.results)}
    wanted = [
        (model, task, int(rows), optimizer, rate, int(seed), more)
        for rows, seed, task, model, optimizer, rate, more in itertools.product(
            a.rows.split(","),
            a.seeds.split(","),
            a.tasks.split(","),
            a.model or MODELS,
            a.optimizers.split(","),
            a.rates.split(","),
            a.more or [""],
        )
    ]
    missing = [one for one in wanted if one not in known]
    with concurrent.futures.ThreadPoolExecutor(a.jobs) as pool, a.results.open("a") as file:
        waiting = [pool.submit(measure, a.data, *one) for one in missing]
        for number, done in enumerate(concurrent.futures.as_completed(waiting), 1):
            line = done.result()
            file.write(json.dumps(line) + "\n")
            file.flush()
            print(f"{number} of {len(missing)}: {' '.join(map(str, key_of(line)))}: {line['metrics']}", flush=True)


def score_of(line: dict) -> float:
    """In percent, the task's first metric."""
    return 100 * next(iter(line["metrics"].values()))


def print_table(lines: list[dict]) -> None:
    rates = sorted(
        {(line["rate"], line.get("more", "")) for line in lines},
        key=lambda column: (float("inf") if column[0] == "auto" else float(column[0]), column[1]),
    )
    print(
        "| model | task | rows | optimiser | "
        + " | ".join(" ".join(column).strip() for column in rates)
        + " | default - best |\n|"
        + "---|" * (len(rates) + 5)
    )
    for model, rows, task, optimizer in sorted(
        {(line["model"], line["rows"], line["task"], line["optimizer"]) for line in lines}
    ):
        means = {}
        for rate in rates:
            scores = [
                score_of(line)
                for line in lines
                if (*key_of(line)[:5], key_of(line)[6]) == (model, task, rows, optimizer, *rate)
            ]
            if scores:
                means[rate] = statistics.mean(scores)
        default = ("auto", "")
        best = max((mean for rate, mean in means.items() if rate != default), default=None)
        behind = f"{means[default] - best:+.1f}" if default in means and best is not None else ""
        print(
            f"| {model} | {task} | {rows} | {optimizer} | "
            + " | ".join(f"{means[rate]:.1f}" if rate in means else "" for rate in rates)
            + f" | {behind} |"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=pathlib.Path)
    parser.add_argument("--results", type=pathlib.Path, required=True)
    parser.add_argument("-m", "--model", action="append")
    parser.add_argument("--optimizers", default="xadam")
    parser.add_argument("--rates", default=",".join(RATES))
    parser.add_argument("--seeds", default="1,2,3")
    parser.add_argument("--tasks", default=",".join(TASKS))
    parser.add_argument("--rows", default="800")
    parser.add_argument("--more", action="append")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--table", action="store_true")
    a = parser.parse_args()
    if not a.table:
        measure_all(a)
    print_table(read(a.results))


if __name__ == "__main__":
    main()
