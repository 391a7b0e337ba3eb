#!/usr/bin/env python3
"""What the options of fine-tuning are worth: SICK and CoLA from a small model, each form with three seeds beside the
run without it.

finetune_worth.py --data DATA --results FILE [-m MODEL] [--seeds S,...] [--tasks T,...] [--rows N] [--forms F,...]
finetune_worth.py --results FILE --table

A run is one command of `deberta finetune` on the first N rows of the task, scored on its dev file after the last step;
FILE gets a line of JSON for each, and runs that it has are not made again. Forms beside those of one option:

  teacher      --teacher is the same model after 5 epochs on all rows of the task
  checkpoints  `convert --average` of the last three of six checkpoints
  seeds        `convert --average` of the models of this seed and the two after it
  few          the first N/4 rows alone
  soft         N/4 rows with their labels, the others with the answers of the model of `few` as soft labels
  soft half   the same, the answers with a row weight of .5
  two scores   the label as a number (SICK: 0, .5, 1), with another score beside it, the share of words that both texts
               have (CoLA: the length in words), and alone: Pearson's correlation of the label
  folds        five folds of N/4 rows: how far their mean is from the dev file's score of `few`; and one
               --validation-split of .2

The table has means over the seeds, and differences from the run of the same seed and task with their standard error.
Needs the built programs; DEBERTA_BINARY names deberta."""

import argparse
import csv
import itertools
import json
import lzma
import pathlib
import statistics
import tempfile

from finetune_rates import read, run

TASKS = {
    "sick": ("nli", "nli/sick/train.csv.xz", "nli/sick/dev.csv.xz"),
    "cola": ("cola", "glue/CoLA/train.tsv.xz", "glue/CoLA/dev.tsv.xz"),
}
OPTIONS = {
    "default": "",
    "layer decay": "--layer-decay 0.9",
    "head rate": "--head-learning-rate 1e-3",
    "new layer": "--reinit-layers 1",
    "LoRA": "--lora-rank 8",
    "mean": "--pooling mean",
    "max": "--pooling max",
    "attention": "--pooling attention",
    "running average": "--ema-decay 0.97",
}
COMMON = ["--threads", 1, "--progress", "off"]
KEY = ("task", "rows", "form", "seed")


def deberta(*words) -> str:
    return run(list(words))


class Bench:
    """The runs of one task and seed; models that several forms need are made once and kept in `folder`."""

    def __init__(self, a: argparse.Namespace, folder: pathlib.Path, task: str, seed: int):
        self.a, self.folder, self.seed = a, folder, seed
        self.name, train, dev = TASKS[task]
        self.train, self.dev = a.data / train, a.data / dev

    def finetune(
        self, out: str, *options, files: list | None = None, task: str | None = None, seed: int | None = None
    ) -> pathlib.Path:
        path = self.folder / out
        if not (path / "config.json").exists() and not (path / "all_results.json").exists():
            train = files or ["--train-file", self.train]
            deberta(
                "finetune",
                "--task",
                task or self.name,
                "-m",
                self.a.model,
                *train,
                "--seed",
                seed or self.seed,
                *options,
                *COMMON,
                "-o",
                path,
            )
        return path

    def plain(self, seed: int) -> pathlib.Path:
        return self.finetune(f"{self.name}-plain-{seed}", "--max-train-samples", self.a.rows, seed=seed)

    def few(self) -> pathlib.Path:
        return self.finetune(f"{self.name}-few-{self.seed}", "--max-train-samples", self.a.rows // 4)

    def score(self, model: pathlib.Path) -> dict:
        return json.loads(
            deberta("eval", "--task", self.name, "-m", model, "--bootstrap", 0, "-f", "json", *COMMON, self.dev)
        )["metrics"]

    def measure(self, form: str) -> dict:
        named = {
            "teacher": self.teacher,
            "checkpoints": self.checkpoints,
            "seeds": self.seeds,
            "few": lambda: self.score(self.few()),
            "soft": lambda: self.soft(1),
            "soft half": lambda: self.soft(0.5),
            "folds": self.folds,
            "two scores": self.two_scores,
        }
        if form in named:
            return named[form]()
        if form == "default":
            return self.score(self.plain(self.seed))
        return self.score(
            self.finetune(f"{self.name}-{form}-{self.seed}", "--max-train-samples", self.a.rows, *OPTIONS[form].split())
        )

    def teacher(self) -> dict:
        teacher = self.finetune(f"{self.name}-teacher", "--num-train-epochs", 5, seed=1)
        return self.score(
            self.finetune(f"{self.name}-taught-{self.seed}", "--max-train-samples", self.a.rows, "--teacher", teacher)
        ) | {"teacher": self.score(teacher)}

    def average(self, out: str, models: list[pathlib.Path]) -> dict:
        deberta(
            "convert",
            "-m",
            models[0],
            *itertools.chain(*(("--average", model) for model in models[1:])),
            "-o",
            self.folder / out,
        )
        return self.score(self.folder / out)

    def checkpoints(self) -> dict:
        steps = -(-3 * self.a.rows // 32)
        path = self.finetune(
            f"{self.name}-kept-{self.seed}",
            "--max-train-samples",
            self.a.rows,
            "--save-steps",
            -(-steps // 6),
            "--save-total-limit",
            6,
        )
        return self.average(f"{self.name}-last-{self.seed}", sorted(path.glob("checkpoint-*"))[-3:])

    def seeds(self) -> dict:
        return self.average(f"{self.name}-soup-{self.seed}", [self.plain(self.seed + n) for n in range(3)])

    def rows(self, path: pathlib.Path) -> list[tuple[dict, str]]:
        with lzma.open(path, "rt", newline="") as file:
            if self.name == "cola":
                return [
                    ({"text": line[3]}, ("unacceptable", "acceptable")[int(line[1])])
                    for line in csv.reader(file, delimiter="\t", quoting=csv.QUOTE_NONE)
                ]
            return [
                ({"text": row["premise"], "text_pair": row["hypothesis"]}, row["label"]) for row in csv.DictReader(file)
            ]

    def soft(self, weight: float) -> dict:
        rows, few = self.rows(self.train)[: self.a.rows], self.folder / f"{self.name}-few-as-rows-{self.seed}"
        labelled = self.folder / f"{self.name}-few-{self.seed}.jsonl"
        lines = [json.dumps(texts | {"label": label}) for texts, label in rows[: self.a.rows // 4]]
        labelled.write_text("\n".join(lines) + "\n")
        self.finetune(few.name, files=["--train-file", labelled], task="classification")
        asked = self.folder / f"{self.name}-asked-{self.seed}.jsonl"
        asked.write_text("".join(json.dumps(texts) + "\n" for texts, _ in rows[self.a.rows // 4 :]))
        answers = deberta("classify", "-m", few, "-f", "jsonl", "--top-k", 100, *COMMON, "-i", asked)
        out = [json.loads(line) | {"weight": 1} for line in lines]
        for (texts, _), line in zip(rows[self.a.rows // 4 :], answers.splitlines(), strict=True):
            out.append(
                texts | {"label": {one["label"]: one["score"] for one in json.loads(line)["labels"]}, "weight": weight}
            )
        file = self.folder / f"{self.name}-soft-{weight}-{self.seed}.jsonl"
        file.write_text("".join(json.dumps(row) + "\n" for row in out))
        return self.score(
            self.finetune(
                f"{self.name}-soft-{weight}-{self.seed}",
                "--weight-field",
                "weight",
                files=["--train-file", file],
                task="classification",
            )
        )

    def scored_rows(self, file: pathlib.Path, most: int | None) -> pathlib.Path:
        """The rows of a file as JSON Lines, with the label as a number and another score."""
        out = self.folder / f"{self.name}-scored-{file.name}.jsonl"
        if not out.exists():
            numbers = {"contradiction": 0.0, "neutral": 0.5, "entailment": 1.0, "unacceptable": 0.0, "acceptable": 1.0}
            with out.open("w") as lines:
                for texts, label in self.rows(file)[:most]:
                    words = [set(text.lower().split()) for text in texts.values()]
                    other = (
                        len(words[0] & words[1]) / len(words[0] | words[1])
                        if len(words) > 1
                        else len(texts["text"].split()) / 40
                    )
                    lines.write(json.dumps(texts | {"label": numbers[label], "other": other}) + "\n")
        return out

    def two_scores(self) -> dict:
        train, dev = self.scored_rows(self.train, self.a.rows), self.scored_rows(self.dev, None)
        found = {}
        for fields, name in (("label,other", "pearson_label"), ("label", "pearson")):
            model = self.finetune(
                f"{self.name}-{name}-{self.seed}",
                "--label-field",
                fields,
                files=["--train-file", train],
                task="regression",
            )
            answer = deberta(
                "eval",
                "--task",
                "regression",
                "--label-field",
                fields,
                "-m",
                model,
                "--bootstrap",
                0,
                "-f",
                "json",
                *COMMON,
                dev,
            )
            found["pearson" if "," in fields else "alone"] = json.loads(answer)["metrics"][name]
        return found

    def folds(self) -> dict:
        given = ["--max-train-samples", self.a.rows // 4]
        for fold in range(1, 6):
            deberta(
                "finetune",
                "--task",
                self.name,
                "-m",
                self.a.model,
                "--train-file",
                self.train,
                "--seed",
                self.seed,
                *given,
                "--fold",
                f"{fold}/5",
                *COMMON,
                "-o",
                self.folder / f"{self.name}-folds-{self.seed}",
            )
        results = json.loads((self.folder / f"{self.name}-folds-{self.seed}" / "all_results.json").read_text())
        split = self.finetune(f"{self.name}-split-{self.seed}", *given, "--validation-split", 0.2)
        return {"folds": results, "split": json.loads((split / "all_results.json").read_text())}


def measure_all(a: argparse.Namespace) -> None:
    known = {tuple(line[name] for name in KEY) for line in read(a.results)}
    forms = (
        a.forms.split(",")
        if a.forms
        else [*OPTIONS, "teacher", "checkpoints", "seeds", "few", "soft", "soft half", "folds", "two scores"]
    )
    with tempfile.TemporaryDirectory() as folder, a.results.open("a") as file:
        for task, seed, form in itertools.product(a.tasks.split(","), map(int, a.seeds.split(",")), forms):
            if (task, a.rows, form, seed) in known:
                continue
            metrics = Bench(a, pathlib.Path(folder), task, seed).measure(form)
            file.write(
                json.dumps(dict(zip(KEY, (task, a.rows, form, seed))) | {"model": a.model, "metrics": metrics}) + "\n"
            )
            file.flush()
            print(f"{task}, seed {seed}, {form}: {metrics}", flush=True)


def score_of(metrics: dict) -> float:
    """In per cent, the task's first metric."""
    return 100 * next(iter(metrics.values()))


def fold_scores(metrics: dict, few: float) -> tuple[float, float]:
    """How far the mean of the folds, and the score of one split, are from the dev file's score of the same rows."""
    main = next(name for name in metrics["folds"] if name in ("eval_accuracy", "eval_matthews_correlation"))
    return 100 * metrics["folds"][main] - few, 100 * metrics["split"][main] - few


def print_table(lines: list[dict]) -> None:
    found = {tuple(line[name] for name in KEY): line["metrics"] for line in lines}
    tasks = sorted({key[:2] for key in found})
    print(
        "| | "
        + " | ".join(f"{task}, {rows} rows" for task, rows in tasks)
        + " | difference, with its standard error |\n|"
        + "---|" * (len(tasks) + 2)
    )
    for form in dict.fromkeys(key[2] for key in found if key[2] not in ("folds", "two scores")):
        base = "few" if form.startswith("soft") else "default"
        cells, differences = [], []
        for task, rows in tasks:
            scores = {key[3]: score_of(metrics) for key, metrics in found.items() if key[:3] == (task, rows, form)}
            cells.append(f"{statistics.mean(scores.values()):.1f}" if scores else "")
            differences += [
                score - score_of(found[task, rows, base, seed])
                for seed, score in scores.items()
                if (task, rows, base, seed) in found
            ]
        error = statistics.stdev(differences) / len(differences) ** 0.5 if len(differences) > 1 else 0
        print(
            f"| {form} | "
            + " | ".join(cells)
            + (" | |" if form == base or not differences else f" | {statistics.mean(differences):+.1f} ± {error:.1f} |")
        )
    for task, rows in tasks:
        pairs = [
            (100 * metrics["pearson"], 100 * metrics["alone"])
            for key, metrics in found.items()
            if key[:3] == (task, rows, "two scores")
        ]
        if pairs:
            print(
                f"two scores, {task}: {statistics.mean(pair for pair, _ in pairs):.1f}, alone "
                f"{statistics.mean(alone for _, alone in pairs):.1f}"
            )
    away = [
        fold_scores(metrics, score_of(found[*key[:2], "few", key[3]]))
        for key, metrics in found.items()
        if key[2] == "folds"
    ]
    for name, errors in zip(("folds", "one split"), zip(*away)):
        print(
            f"{name}: {statistics.mean(errors):+.1f} from the dev file's score in the mean, "
            f"{statistics.mean(map(abs, errors)):.1f} without the sign"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=pathlib.Path)
    parser.add_argument("--results", type=pathlib.Path, required=True)
    parser.add_argument("-m", "--model", default="builtin:fill")
    parser.add_argument("--seeds", default="1,2,3")
    parser.add_argument("--tasks", default=",".join(TASKS))
    parser.add_argument("--rows", type=int, default=3000)
    parser.add_argument("--forms", help="default: all")
    parser.add_argument("--table", action="store_true")
    a = parser.parse_args()
    if not a.table:
        measure_all(a)
    print_table(read(a.results))


if __name__ == "__main__":
    main()
