#!/usr/bin/env python3
"""Fine-tunes a model on every task that has files to train on, one command each, and checks that `deberta eval` gives
the result the figures that the run printed. Prints a table in Markdown; a task whose figures differ ends the script
with code 1.

usage: finetune_tasks.py --data DATA -m MODEL [--nli-model MODEL] -o FOLDER [--threads N] [--only TASK,...]
DATA has the folders glue, superglue, nli, squad, race, swag and conll2003. --nli-model: the tasks that are published as
begun from an NLI model are trained from it as well. Needs the built programs; DEBERTA_BINARY names deberta.
"""

import argparse
import dataclasses
import json
import lzma
import os
import pathlib
import shutil
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
BINARY = os.environ.get("DEBERTA_BINARY", str(ROOT / "build/release/deberta"))
COMMON = ["--learning-rate", "3e-4", "--progress", "off"]


@dataclasses.dataclass
class Job:
    """Of a task; `samples` of its examples make a few minutes."""

    task: str
    train: str
    dev: str
    samples: int = 0
    epochs: int = 3
    begins_from_nli: bool = False

    @property
    def name(self):
        return self.task if self.task != "nli" else self.train.split("/")[1]


JOBS = [
    Job("cola", "glue/CoLA/train.tsv.xz", "glue/CoLA/dev.tsv.xz"),
    Job("sst-2", "glue/SST-2/train.tsv.xz", "glue/SST-2/dev.tsv.xz", 20000, 1),
    Job("mrpc", "glue/MRPC/train.tsv.xz", "glue/MRPC/dev.tsv.xz", begins_from_nli=True),
    Job("sts-b", "glue/STS-B/train.tsv.xz", "glue/STS-B/dev.tsv.xz", begins_from_nli=True),
    Job("rte", "glue/RTE/train.csv.xz", "glue/RTE/dev.csv.xz", begins_from_nli=True),
    Job("wnli", "glue/WNLI/train.csv.xz", "glue/WNLI/dev.csv.xz"),
    Job("qqp", "glue/QQP/train_subset.tsv.xz", "", 8000, 1),
    Job("boolq", "superglue/BoolQ/train_subset_1886.json.xz", "superglue/BoolQ/val.jsonl.xz", 0, 1),
    Job("cb", "superglue/CB/train.jsonl.xz", "superglue/CB/val.jsonl.xz", 0, 5),
    Job("copa", "superglue/COPA/train.jsonl.xz", "superglue/COPA/val.jsonl.xz", 0, 5),
    Job("wic", "superglue/WiC/train.jsonl.xz", "superglue/WiC/val.jsonl.xz"),
    Job("wsc", "superglue/WSC/train.jsonl.xz", "superglue/WSC/val.jsonl.xz", 0, 5),
    Job("multirc", "superglue/MultiRC/train.jsonl.xz", "superglue/MultiRC/val.jsonl.xz", 2000, 1),
    Job("record", "superglue/ReCoRD/train32.jsonl.xz", "superglue/ReCoRD/dev32.jsonl.xz"),
    Job("squad", "squad/train-v1.1.rebuilt.json.xz", "squad/dev-v1.1.rebuilt.json.xz", 4000, 1),
    Job("race", "race/train_middle.jsonl.xz", "race/dev_middle.jsonl.xz", 500, 1),
    Job("swag", "swag/swag_sample.json", "", 0, 5),
    Job("ner", "conll2003/train.txt.xz", "conll2003/valid.txt.xz", 0, 2),
    Job("nli", "nli/sick/train.csv.xz", "nli/sick/dev.csv.xz"),
    Job("nli", "nli/joci/train.csv.xz", "nli/joci/dev.csv.xz"),
    Job("nli", "nli/mpe/train.csv.xz", "nli/mpe/dev.csv.xz", 0, 1),
]


def parts_of(path, folder):
    """The last tenth of a file of lines that has no file beside it to be evaluated on, and the rest."""
    text = (lzma.open(path, "rt", encoding="utf-8") if path.suffix == ".xz" else path.open(encoding="utf-8")).read()
    lines = text.splitlines(keepends=True)
    if text.startswith("["):
        lines = [json.dumps(row) + "\n" for row in json.loads(text)]
    cut, suffix = len(lines) - max(1, len(lines) // 10), pathlib.Path(path.name.removesuffix(".xz")).suffix
    head = lines[:1] if suffix in (".tsv", ".csv") else []
    train, dev = folder / f"train{suffix}", folder / f"dev{suffix}"
    train.write_text("".join(lines[:cut]), encoding="utf-8")
    dev.write_text("".join(head + lines[cut:]), encoding="utf-8")
    return train, dev


def run(words):
    done = subprocess.run([BINARY, *map(str, words)], capture_output=True, text=True, stdin=subprocess.DEVNULL)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, words))}\n{done.stderr}")
    return done.stdout


def figures_of_run(folder):
    found = json.loads((folder / "eval_results.json").read_text())
    return {name.removeprefix("eval_"): value for name, value in found.items() if name.startswith("eval_")}


def figures_of_eval(task, model, dev, threads):
    return json.loads(
        run(
            [
                "eval",
                "--task",
                task,
                "-m",
                model,
                "--bootstrap",
                0,
                "--format",
                "json",
                "--progress",
                "off",
                "--threads",
                threads,
                dev,
            ]
        )
    )["metrics"]


def measure(job, model, name, a):
    folder = a.output / name
    shutil.rmtree(folder, ignore_errors=True)
    folder.parent.mkdir(parents=True, exist_ok=True)
    train, dev = a.data / job.train, a.data / job.dev
    if not job.dev:
        place = a.output / f"{name}-files"
        place.mkdir(parents=True, exist_ok=True)
        train, dev = parts_of(train, place)
    samples = ["--max-train-samples", job.samples] if job.samples else []
    begin = time.monotonic()
    run(
        [
            "finetune",
            "--task",
            job.task,
            "-m",
            model,
            "--train-file",
            train,
            "--validation-file",
            dev,
            *samples,
            "--num-train-epochs",
            job.epochs,
            *COMMON,
            "--threads",
            a.threads,
            "-o",
            folder,
        ]
    )
    seconds = time.monotonic() - begin
    printed, again = figures_of_run(folder), figures_of_eval(job.task, folder, dev, a.threads)
    same = bool(printed) and all(again.get(metric) == value for metric, value in printed.items())
    first = next(iter(again))
    print(
        f"| {name} | {job.samples or 'all'} | {job.epochs} | {first} {again[first]:.4g} | "
        f"{'the same' if same else f'{printed} {again}'} | {seconds:.0f} s |",
        flush=True,
    )
    return same


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=pathlib.Path, required=True)
    parser.add_argument("-m", "--model", required=True)
    parser.add_argument("--nli-model")
    parser.add_argument("-o", "--output", type=pathlib.Path, required=True)
    parser.add_argument("--threads", type=int, default=0)
    parser.add_argument("--only", default="")
    a = parser.parse_args()
    only = a.only.split(",") if a.only else []
    print(
        "| task | training examples | epochs | on the dev file | eval on the result | time |\n"
        "|---|---|---|---|---|---|",
        flush=True,
    )
    jobs = [job for job in JOBS if not only or job.name in only]
    same = [measure(job, a.model, job.name, a) for job in jobs]
    if a.nli_model:
        same += [measure(job, a.nli_model, f"{job.name} from an NLI model", a) for job in jobs if job.begins_from_nli]
    sys.exit(0 if all(same) else 1)


if __name__ == "__main__":
    main()
