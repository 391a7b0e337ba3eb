#!/usr/bin/env python3
"""Compares steps of training with transformers and with transformers under torch.compile in one interleaved run: a
round measures a step of ours, then one of each peer. Peers are processes that wait between rounds, two at a time, so
that compiling and their memory do not count against anybody. Writes the part `training` of this kind of processor in
bench/figures, and the pages made of these files.

usage: compare_training.py -m DIR --python PYTHON_OF_THE_PEERS [--rounds 9] [--tokenized TEXTS.jsonl]
           [--dtypes fp32,bf16] [--only PART]...
PART: 128, 512, long, sst-2, ships, profile; what a run does not measure stays as it is.
DIR is a checkpoint of base shape that both can read, such as `peers.py make DIR` writes; the interpreter of the peers
has torch and transformers 4.57. This script needs only the standard library.
"""

import argparse
import collections
import json
import os
import pathlib
import random
import statistics
import subprocess
import sys
import tempfile
import time

from compare_peers import json_lines, kind_of, lower_quartile
from performance_page import TRAINING_FLOORS, keep, load_kinds, write_files

ROOT = pathlib.Path(__file__).resolve().parents[1]
SUFFIX = {"fp32": "", "bf16": "-bf16"}  # of a peer's name
PEERS = {"transformers": "hf", "torch.compile": "compile"}
SHIPS = {
    "hidden_size": 256,
    "num_hidden_layers": 6,
    "num_attention_heads": 4,
    "intermediate_size": 1024,
    "vocab_size": 8193,
    "pooler_hidden_size": 256,
}
SST2_BATCH = 32


class Peer:
    """A process that takes steps on request."""

    def __init__(self, a, model, name):
        command = [
            a.python,
            str(ROOT / "bench/training_peers.py"),
            "step",
            str(model),
            "--peer",
            name,
            "--threads",
            str(a.threads),
            "--budget",
            str(a.budget),
        ]
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )

    def step(self, lengths):
        self.process.stdin.write(" ".join(map(str, lengths)) + "\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        if not line:
            sys.exit(f"a peer ended: {' '.join(self.process.args)}")
        return json.loads(line)

    def end(self):
        self.process.stdin.close()
        self.process.wait()


def ours(a, model, dtype, lengths, folder):
    """{"machine": ..., "train": ...}"""
    path = folder / "lengths.txt"
    path.write_text("\n".join(map(str, lengths)) + "\n")
    command = [
        a.program,
        "bench",
        "--training",
        "-m",
        model,
        "--dtype",
        dtype,
        "--threads",
        a.threads,
        "--min-time",
        a.budget,
        "--lengths",
        1,
        "--lengths-file",
        path,
        "--format",
        "jsonl",
    ]
    lines = {line["what"]: line for line in json_lines(command)}  # the last step is that of the file
    if "train" not in lines:
        sys.exit(f"no figures from: {' '.join(map(str, command))}")
    return lines


class Comparison:
    """Ratios by (row, dtype), and figures by (what is trained, who)."""

    def __init__(self, a, folder):
        self.a, self.folder = a, folder
        self.ratios, self.figures = collections.defaultdict(list), collections.defaultdict(list)
        self.machine = {dtype: ours(a, a.model, dtype, [8], folder)["machine"] for dtype in SUFFIX}

    def of_us(self, what, model, dtype, lengths):
        lines = ours(self.a, model, dtype, lengths, self.folder)
        self.figures[what, f"ours {dtype}"].append(lines["train"])
        return lines["train"]

    def compare(self, what, model, dtype, batches, names=tuple(PEERS)):
        """A round for each batch: a list of lengths."""
        peers = {name: Peer(self.a, model, PEERS[name] + SUFFIX[dtype]) for name in names}
        for number, lengths in enumerate(batches):
            mine = self.of_us(what, model, dtype, lengths)
            if "of_limit" in mine:
                self.ratios[f"{what}, of the machine's limit", dtype].append(mine["of_limit"])
            for name, peer in peers.items():
                theirs = peer.step(lengths)
                self.figures[what, PEERS[name] + SUFFIX[dtype]].append(theirs)
                self.ratios[f"{what}, over {name}", dtype].append(theirs["s_median"] / mine["s_median"])
                self.ratios[f"{what}, peak memory of {name} over ours", dtype].append(
                    theirs["peak_mb"] / mine["peak_mb"]
                )
            write_pages(self.a, self, [])
            print(
                f"{what}, {dtype}: round {number + 1} of {len(batches)}, {time.strftime('%H:%M:%S')}",
                file=sys.stderr,
                flush=True,
            )
        for peer in peers.values():
            peer.end()

    def long_sequences(self, model, dtype):
        for _ in range(self.a.rounds):
            write_pages(self.a, self, [])
            short, long = (
                self.of_us("8 x 512", model, dtype, 8 * [512]),
                self.of_us("2 x 2048", model, dtype, 2 * [2048]),
            )
            self.ratios["2 x 2048 over 8 x 512", dtype].append(short["s_median"] / long["s_median"])
            self.ratios["2 x 2048 over 8 x 512, peak memory", dtype].append(short["peak_mb"] / long["peak_mb"])


def batches_of_sst2(a):
    """A batch of examples for each round, drawn as an epoch is: their lengths in tokens."""
    rows = [len(json.loads(line)["ids"]) for line in pathlib.Path(a.tokenized).read_text().splitlines()]
    random.Random(1).shuffle(rows)
    return [rows[SST2_BATCH * n : SST2_BATCH * (n + 1)] for n in range(a.rounds)]


def shape_that_ships(a, folder):
    """A folder with a model of that shape and random weights, as transformers writes it."""
    make = f"""import torch
from transformers import DebertaV2Config, DebertaV2ForSequenceClassification as Model
config = DebertaV2Config.from_pretrained({str(a.model)!r}, **{SHIPS!r})
torch.manual_seed(0)
Model(config).save_pretrained({str(folder / "ships")!r})"""
    subprocess.run([a.python, "-c", make], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return folder / "ships"


def figures_of(c):
    """A line for each thing trained and each program: medians over the rounds."""
    lines = []
    for (what, who), found in c.figures.items():
        line = {
            "step": what,
            "who": who,
            "tokens_per_s": round(statistics.median(f["tokens"] / f["s_median"] for f in found)),
            "peak_mb": max(f["peak_mb"] for f in found),
        }
        for part in ("forward_s", "backward_s", "update_s"):
            if part in found[0]:
                line[part] = round(statistics.median(f[part] for f in found), 3)
        lines.append(line)
    return lines


def profile(a):
    """Where the time of a step goes: [{step, precision, operation, shape, ms, share, of_peak}]."""
    lines = []
    for dtype in SUFFIX:
        for length in (128, 512):
            command = [
                a.program,
                "bench",
                "--training",
                "-m",
                a.model,
                "--dtype",
                dtype,
                "--threads",
                a.threads,
                "--min-time",
                a.budget,
                "--batch",
                8,
                "--lengths",
                length,
                "--operations",
                "--format",
                "jsonl",
            ]
            for line in json_lines(command):
                if line["what"] == "operation" and line["share"] >= 0.01:
                    keys = ("operation", "shape", "ms", "share", "of_peak")
                    lines.append(
                        {"step": f"8 x {length}", "precision": dtype} | {key: line[key] for key in keys if key in line}
                    )
    return lines


def write_pages(a, c, operations):
    """Rows, figures and operations that this run did not measure stay."""
    kind = kind_of(c.machine)[0]
    old = next((other for other in load_kinds(a.figures) if other["kind"] == kind), None)
    if old is None:
        sys.exit(f"{kind} has no file in {a.figures}: measure it with compare_peers.py first")
    rows = [
        {
            "row": row,
            "precision": dtype,
            "rounds": len(c.ratios[row, dtype]),
            "median": round(statistics.median(c.ratios[row, dtype]), 2),
            "lower_quartile": round(lower_quartile(c.ratios[row, dtype]), 2),
        }
        for row in TRAINING_FLOORS
        for dtype in SUFFIX
        if c.ratios.get((row, dtype))
    ]
    command = (
        f"bench/compare_training.py -m DIR --python PYTHON --tokenized TEXTS --rounds {a.rounds} --threads "
        f"{a.threads}{'' if a.budget == 1 else f' --budget {a.budget}'}"
    )
    new = {
        "training_command": command,
        "training_rows": rows,
        "training_figures": figures_of(c),
        "training_operations": operations,
    }
    for what, key in (
        ("training_rows", ("row", "precision")),
        ("training_figures", ("step", "who")),
        ("training_operations", ("step", "precision")),
    ):
        measured = {tuple(line[name] for name in key) for line in new[what]}
        new[what] += [line for line in old.get(what, []) if tuple(line[name] for name in key) not in measured]
    new["training_rows"].sort(
        key=lambda line: (list(TRAINING_FLOORS).index(line["row"]), list(SUFFIX).index(line["precision"]))
    )
    keep(old | new, a.figures)
    write_files(a.output, load_kinds(a.figures), a.program)


def wants(a, part):
    return not a.only or part in a.only


def run(a):
    with tempfile.TemporaryDirectory() as name:
        c = Comparison(a, pathlib.Path(name))
        ships = shape_that_ships(a, c.folder) if wants(a, "ships") else None
        for dtype in a.dtypes.split(","):
            for length in (128, 512):
                if wants(a, str(length)):
                    c.compare(f"8 x {length}", a.model, dtype, a.rounds * [8 * [length]])
            if wants(a, "sst-2") and a.tokenized:
                c.compare("32 of SST-2", a.model, dtype, batches_of_sst2(a), names=("transformers",))
            if ships:
                c.compare("the shape that ships, 64 x 128", ships, dtype, a.rounds * [64 * [128]])
            if wants(a, "long"):
                c.long_sequences(a.model, dtype)
        write_pages(a, c, profile(a) if wants(a, "profile") else [])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-m", "--model", required=True, type=pathlib.Path)
    parser.add_argument("--python", default=sys.executable, help="the interpreter that has the peers")
    parser.add_argument("--program", default=ROOT / "build/release/deberta")
    parser.add_argument(
        "--tokenized",
        help="SST-2's training texts as `deberta tokenize --format jsonl` writes them: the lengths of real batches",
    )
    parser.add_argument("--dtypes", default=",".join(SUFFIX))
    parser.add_argument(
        "--only", action="append", default=[], choices=["128", "512", "long", "sst-2", "ships", "profile"]
    )
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--budget", type=float, default=1.0, help="seconds for each figure of a round")
    parser.add_argument("--figures", type=pathlib.Path, default=ROOT / "bench/figures")
    parser.add_argument("--output", type=pathlib.Path, default=ROOT, help="where docs/ and README.md lie")
    run(parser.parse_args())


if __name__ == "__main__":
    main()
