#!/usr/bin/env python3
"""A guard on long texts whose last tenth is what it must see, read in each way that `eval` has.

guard_windows.py --data DATA --work FOLDER [-m MODEL] [--texts N] [--words N]

The guard is MODEL (builtin:fill), fine-tuned by the defaults of `finetune` to tell sentences of an encyclopedia
(benign) from those of novels (finding), on 4,000 passages of 40 words. Then texts of N words that are all from the
encyclopedia, or but for their last tenth, which is from a novel that the guard has not seen. For each way to read a
text that is too long: the findings that it misses at the thresholds that report at most 1 % and 5 % of the benign
texts. FOLDER keeps the guard. Needs the built programs; DEBERTA_BINARY names deberta."""

import argparse
import json
import lzma
import os
import pathlib
import random
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
BINARY = os.environ.get("DEBERTA_BINARY", str(ROOT / "build/release/deberta"))
RATES = ("0.01", "0.05")
SOURCES = {"benign": "corpus/wiki6640.txt.xz", "finding": "corpus/novels97.txt.xz"}
WAYS = {
    "the beginning (`--truncate right`)": ["--truncate", "right"],
    "the end (`--truncate left`)": ["--truncate", "left"],
    **{
        f"windows of {tokens} tokens, {way}": [
            "--truncate",
            "window",
            "--max-tokens",
            tokens,
            "--stride",
            str(int(tokens) // 4),
            "--window-scores",
            way,
        ]
        for tokens in ("512", "128", "64")
        for way in ("mean", "max")
    },
}


def run(words: list) -> str:
    done = subprocess.run([BINARY, *map(str, words)], capture_output=True, text=True)
    if done.returncode:
        sys.exit(done.stderr)
    return done.stdout


def paragraphs(path: pathlib.Path) -> list[str]:
    """Every hundredth one of some length."""
    with lzma.open(path, "rt", encoding="utf-8") as file:
        return [
            line.strip() for number, line in enumerate(line for line in file if len(line) > 300) if number % 100 == 0
        ]


def passage(source: list[str], words: int, dice: random.Random) -> str:
    """Whole sentences are not asked for; each source begins anywhere."""
    text = []
    while len(text) < words:
        text += dice.choice(source).split()
    return " ".join(text[:words])


def write(path: pathlib.Path, rows: list[dict]) -> pathlib.Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=pathlib.Path, required=True)
    parser.add_argument("--work", type=pathlib.Path, required=True)
    parser.add_argument("-m", "--model", default="builtin:fill")
    parser.add_argument("--texts", type=int, default=400)
    parser.add_argument("--words", type=int, default=1200)
    a = parser.parse_args()
    a.work.mkdir(parents=True, exist_ok=True)
    parts = {label: paragraphs(a.data / name) for label, name in SOURCES.items()}
    seen, unseen = (
        {label: half(source) for label, source in parts.items()}
        for half in (lambda all: all[: len(all) // 2], lambda all: all[len(all) // 2 :])
    )
    dice = random.Random(1)
    labels = ("benign", "finding")
    train = write(
        a.work / "train.jsonl",
        [{"text": passage(seen[label], 40, dice), "label": label} for _ in range(2000) for label in labels],
    )
    short = write(
        a.work / "short.jsonl",
        [{"text": passage(unseen[label], 40, dice), "label": label} for _ in range(a.texts // 2) for label in labels],
    )
    tenth = a.words // 10
    long = write(
        a.work / "long.jsonl",
        [
            {
                "text": passage(unseen["benign"], a.words - tenth, dice) + " " + passage(unseen[label], tenth, dice),
                "label": label,
            }
            for _ in range(a.texts // 2)
            for label in labels
        ],
    )
    if not (a.work / "guard/config.json").exists():
        run(["finetune", "--task", "classification", "-m", a.model, "--train-file", train, "-o", a.work / "guard"])

    def figures(file: pathlib.Path, *words: str) -> str:
        found = json.loads(
            run(
                [
                    "eval",
                    "--task",
                    "classification",
                    "-m",
                    a.work / "guard",
                    "--benign-label",
                    "benign",
                    "--false-positive-rate",
                    ",".join(RATES),
                    "--bootstrap",
                    "0",
                    "-f",
                    "json",
                    "-q",
                    *words,
                    file,
                ]
            )
        )["metrics"]
        missed = " | ".join(
            "all" if found[f"false_negative_rate@{rate}"] is None else f"{found[f'false_negative_rate@{rate}']:.1%}"
            for rate in RATES
        )
        return f"{missed} | {found['false_negative_rate']:.1%} | {found['false_positive_rate']:.1%} |"

    print(
        "| what the guard reads | "
        + " | ".join(f"missed, {float(rate):.0%} of the benign reported" for rate in RATES)
        + " | missed by the best class | benign reported by it |\n|---|---|---|---|---|"
    )
    print(f"| passages of 40 words | {figures(short)}")
    for name, words in WAYS.items():
        print(f"| {name} | {figures(long, *words)}", flush=True)


if __name__ == "__main__":
    main()
