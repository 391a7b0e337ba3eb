#!/usr/bin/env python3
"""Which loss a reranker learns most with: pointwise, pairwise and listwise, on the same queries, models and seeds.

rerank_losses.py --data DATA --results FILE [-m MODEL...] [--losses L,...] [--seeds S,...] [--queries N]
    [--dev-queries N] [--documents N] [--threads N]
rerank_losses.py --results FILE --table

A query is a question of SQuAD, its documents are sentences of one article: the one that has the answer, the others of
its paragraph, and, up to N documents, sentences of other paragraphs drawn by the question's number. Training has
questions of the training file, of different paragraphs, from as many articles as there are; evaluation those of the dev
file. Each run is one command of `deberta finetune --task ranking`, for an epoch, everything else by default but batches
of 8 queries, then `deberta eval` on the last step. FILE gets a line of JSON for each; runs that it has are not made
again. The table has means over the seeds and their standard errors, and how far each loss is above pointwise with the
same seed. Needs the built programs; DEBERTA_BINARY names deberta."""

import argparse
import itertools
import json
import lzma
import math
import pathlib
import random
import re
import statistics
import tempfile

from finetune_rates import run

MODELS = ["builtin:fill", "builtin:entailment"]
LOSSES = ["pointwise", "pairwise", "listwise"]
METRICS = ["ndcg@10", "mrr@10", "map"]
KEY = ("model", "loss", "seed", "queries", "documents")


def sentences_of(text: str) -> list[tuple[int, str]]:
    """Each with its place."""
    found = [
        (match.start(), match.group().strip())
        for match in re.finditer(r"[^.!?]+(?:[.!?]+(?=\s|$)|[.!?](?!\s|$)[^.!?]*)*[.!?]*", text)
    ]
    return [(place, sentence) for place, sentence in found if len(sentence.split()) > 2]


def queries_of(path: pathlib.Path, wanted: int, documents: int) -> list[dict]:
    """One of each paragraph, article by article in turn."""
    articles = json.load(lzma.open(path, "rt", encoding="utf-8"))["data"]
    made = []
    for number in itertools.count():
        before = len(made)
        for article in articles:
            if number >= len(article["paragraphs"]) or len(made) == wanted:
                continue
            paragraph = article["paragraphs"][number]
            question = paragraph["qas"][0]
            start = question["answers"][0]["answer_start"]
            own = sentences_of(paragraph["context"])
            right = [sentence for place, sentence in own if place <= start]
            others = [
                sentence
                for other in article["paragraphs"]
                if other is not paragraph
                for _, sentence in sentences_of(other["context"])
            ]
            if not right or len(others) < documents:
                continue
            dice = random.Random(f"{question['id']}")
            wrong = [sentence for _, sentence in own if sentence != right[-1]][: documents - 1]
            wrong += dice.sample(others, documents - 1 - len(wrong))
            texts = [(right[-1], 1), *((sentence, 0) for sentence in wrong)]
            dice.shuffle(texts)
            made.append(
                {
                    "query": question["question"],
                    "documents": [text for text, _ in texts],
                    "labels": [label for _, label in texts],
                }
            )
        if len(made) == before:
            return made


def write(path: pathlib.Path, rows: list[dict]) -> pathlib.Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def evaluate(model: str, dev: pathlib.Path, threads: int) -> dict:
    return json.loads(
        run(
            [
                "eval",
                "--task",
                "ranking",
                "-m",
                model,
                "--bootstrap",
                0,
                "-f",
                "json",
                "--threads",
                threads,
                "--progress",
                "off",
                dev,
            ]
        )
    )["metrics"]


def measure(model: str, loss: str, seed: int, train: pathlib.Path, dev: pathlib.Path, a: argparse.Namespace) -> dict:
    with tempfile.TemporaryDirectory() as folder:
        run(
            [
                "finetune",
                "--task",
                "ranking",
                "-m",
                model,
                "--train-file",
                train,
                "--ranking-loss",
                loss,
                "--seed",
                seed,
                "--batch-size",
                8,
                "--num-train-epochs",
                1,
                "--threads",
                a.threads,
                "--progress",
                "off",
                "-o",
                folder,
            ]
        )
        metrics = evaluate(folder, dev, a.threads)
    return dict(zip(KEY, (model, loss, seed, a.queries, a.documents))) | {"metrics": metrics}


def read(path: pathlib.Path) -> list[dict]:
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def measure_all(a: argparse.Namespace) -> None:
    known = {tuple(line[name] for name in KEY) for line in read(a.results)}
    wanted = [
        (model, loss, int(seed))
        for model, loss, seed in itertools.product(a.model or MODELS, a.losses.split(","), a.seeds.split(","))
    ]
    with tempfile.TemporaryDirectory() as folder, a.results.open("a") as file:
        train = write(
            pathlib.Path(folder) / "train.jsonl",
            queries_of(a.data / "squad/train-v1.1.rebuilt.json.xz", a.queries, a.documents),
        )
        dev = write(
            pathlib.Path(folder) / "dev.jsonl",
            queries_of(a.data / "squad/dev-v1.1.rebuilt.json.xz", a.dev_queries, a.documents),
        )
        for one in wanted:
            if (*one, a.queries, a.documents) in known:
                continue
            line = measure(*one, train, dev, a)
            file.write(json.dumps(line) + "\n")
            file.flush()
            print(line, flush=True)


def mean_of(values: list[float]) -> str:
    """With its standard error."""
    return f"{statistics.mean(values):.1f}" + (
        f" +- {statistics.stdev(values) / math.sqrt(len(values)):.1f}" if len(values) > 1 else ""
    )


def print_table(lines: list[dict]) -> None:
    values = {
        (line["model"], line["loss"], line["seed"]): {metric: 100 * line["metrics"][metric] for metric in METRICS}
        for line in lines
    }
    print(
        "| model | loss | seeds | "
        + " | ".join(METRICS)
        + f" | {METRICS[0]} - pointwise |\n|"
        + "---|" * (4 + len(METRICS))
    )
    for model, loss in sorted({key[:2] for key in values}, key=lambda row: (row[0] != MODELS[0], LOSSES.index(row[1]))):
        seeds = sorted(seed for *row, seed in values if tuple(row) == (model, loss))
        means = [mean_of([values[model, loss, seed][metric] for seed in seeds]) for metric in METRICS]
        above = [
            values[model, loss, seed][METRICS[0]] - values[model, LOSSES[0], seed][METRICS[0]]
            for seed in seeds
            if (model, LOSSES[0], seed) in values
        ]
        print(
            f"| {model.removeprefix('builtin:')} | {loss} | {len(seeds)} | "
            + " | ".join(means)
            + f" | {mean_of(above) if above and loss != LOSSES[0] else ''} |"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=pathlib.Path)
    parser.add_argument("--results", type=pathlib.Path, required=True)
    parser.add_argument("-m", "--model", action="append")
    parser.add_argument("--losses", default=",".join(LOSSES))
    parser.add_argument("--seeds", default="1,2,3")
    parser.add_argument("--queries", type=int, default=400)
    parser.add_argument("--dev-queries", type=int, default=300)
    parser.add_argument("--documents", type=int, default=6)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--table", action="store_true")
    a = parser.parse_args()
    if not a.table:
        measure_all(a)
    print_table(read(a.results))


if __name__ == "__main__":
    main()
