#!/usr/bin/env python3
"""Compares two builds of the program: every verb's answers on real inputs, byte for byte, and the time that they take.

compare_builds.py OLD NEW [--rounds N] [--only WORD]     OLD, NEW: paths of two programs

It compares the exit code, standard output, every file written, and the messages on standard error. A change of code
that should change no answer must show `0 differ`; messages are counted separately, because new wording is not a new
answer. Then the timed runs take turns for N rounds (0: none); it reports the median over the rounds of NEW / OLD in CPU
time.

The inputs are the examples and small trained checkpoints of ../shared, and small random models for tasks without a
checkpoint."""

import argparse
import dataclasses
import json
import lzma
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

import numpy

ROOT = pathlib.Path(__file__).resolve().parent.parent
SHARED = ROOT.parent / "shared"
sys.path.insert(0, str(ROOT / "tests/cli"))
from models import make_model, write_safetensors  # noqa: E402

ROWS = 200
TIMES = 4
TIMED = ("classify", "classify bf16", "ner", "qa", "tokenize")


@dataclasses.dataclass(frozen=True)
class Run:
    """`rows`: a file for standard input. OUT in `words` stands for a folder that the run may write to."""

    name: str
    words: tuple
    rows: pathlib.Path = None

    def of(self, program: pathlib.Path, out: pathlib.Path) -> subprocess.CompletedProcess:
        words = [str(word).replace("OUT", str(out)) for word in self.words]
        clean = {name: value for name, value in os.environ.items() if not name.startswith("DEBERTA_")}
        with open(self.rows or os.devnull, "rb") as rows:
            return subprocess.run([program, *words], stdin=rows, capture_output=True, env=clean, check=False)


@dataclasses.dataclass(frozen=True)
class Outcome:
    code: int
    answers: bytes
    files: dict
    messages: bytes


def outcome(run: Run, program: pathlib.Path) -> Outcome:
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder) / "out"
        done = run.of(program, out)
        files = {
            path.relative_to(folder).as_posix(): path.read_bytes()
            for path in sorted(pathlib.Path(folder).rglob("*"))
            if path.is_file()
        }
        here = folder.encode()
        return Outcome(done.returncode, done.stdout.replace(here, b""), files, done.stderr.replace(here, b""))


def lines_of(name: str, count: int = ROWS) -> list[str]:
    """The first lines of a compressed file of ../shared/data."""
    with lzma.open(SHARED / "data" / name, "rt", encoding="utf-8") as file:
        return [line.rstrip("\n") for line, _ in zip(file, range(count))]


def write_lines(path: pathlib.Path, lines: list) -> pathlib.Path:
    path.write_text("".join((line if isinstance(line, str) else json.dumps(line)) + "\n" for line in lines))
    return path


def squad_part(path: pathlib.Path) -> pathlib.Path:
    """Whole paragraphs of the development set, about ROWS questions of them."""
    document = json.loads(lzma.open(SHARED / "data/squad/dev-v1.1.rebuilt.json.xz").read())
    kept, questions = [], 0
    for article in document["data"]:
        for paragraph in article["paragraphs"]:
            if questions < ROWS:
                kept.append({"title": article.get("title", ""), "paragraphs": [paragraph]})
                questions += len(paragraph["qas"])
    path.write_text(json.dumps({"version": "1.1", "data": kept}))
    return path


@dataclasses.dataclass(frozen=True)
class Inputs:
    """Files of rows, and models by name."""

    folder: pathlib.Path
    sst2: pathlib.Path
    texts: pathlib.Path
    pairs: pathlib.Path
    questions: pathlib.Path
    squad: pathlib.Path
    conll: pathlib.Path
    masked: pathlib.Path
    wiki: pathlib.Path
    choices: pathlib.Path
    documents: pathlib.Path
    ids: pathlib.Path
    models: dict


def make_inputs(folder: pathlib.Path) -> Inputs:
    models = {path.name: path for path in sorted((SHARED / "reference/models").iterdir())}
    for head, more in (("span", {}), ("lm", {}), ("rtd", {}), ("sequence", {"labels": ("score",)})):
        models[head] = make_model(folder / head, head, **more)
    sst2 = write_lines(folder / "sst2.tsv", lines_of("glue/SST-2/dev.tsv.xz", ROWS + 1))
    texts = [line.split("\t")[0] for line in sst2.read_text().splitlines()[1:]]
    squad = squad_part(folder / "squad.json")
    asked = [
        {"question": qa["question"], "context": p["context"]}
        for a in json.loads(squad.read_text())["data"]
        for p in a["paragraphs"]
        for qa in p["qas"]
    ]
    wiki = [line for line in lines_of("wikitext/valid.txt.xz") if line.strip()]
    write_safetensors(folder / "ids.safetensors", {"input_ids": numpy.arange(5, 69, dtype=numpy.int32).reshape(2, 32)})
    return Inputs(
        folder,
        sst2,
        write_lines(folder / "texts.txt", texts),
        write_lines(folder / "sick.csv", lines_of("nli/sick/dev.csv.xz")),
        write_lines(folder / "questions.jsonl", asked),
        squad,
        write_lines(folder / "conll.txt", lines_of("conll2003/valid.txt.xz", 20 * ROWS)),
        write_lines(folder / "masked.txt", [" ".join(["[MASK]", *text.split()[1:]]) for text in texts]),
        write_lines(folder / "wiki.txt", wiki),
        write_lines(
            folder / "choices.jsonl", [{"context": t, "question": "so ?", "choices": [t, "no", "yes"]} for t in texts]
        ),
        write_lines(folder / "documents.jsonl", [{"query": t, "documents": texts[:5]} for t in texts[:40]]),
        folder / "ids.safetensors",
        models,
    )


def answering_runs(inputs: Inputs) -> list[Run]:
    def run(name, model, *words, rows=None):
        return Run(name, (name.split()[0], "-m", inputs.models[model], *words), rows)

    forms = ("tsv", "jsonl", "json", "csv", "table")
    sst2 = ("--input-format", "tsv", "--input-field", "sentence")
    jsonl = ("--input-format", "jsonl")
    pairs = ("--input-format", "csv", "--input-field", "premise,hypothesis")
    return [
        *(run(f"classify {form}", "nano-sst2", *sst2, "-f", form, rows=inputs.sst2) for form in forms),
        run("classify", "nano-sst2", *sst2, rows=inputs.sst2),
        run("classify bf16", "nano-sst2", "--dtype", "bf16", *sst2, rows=inputs.sst2),
        run("classify int8", "nano-sst2", "--dtype", "int8", "--allow-uncalibrated", *sst2, rows=inputs.sst2),
        run("classify reference", "nano-sst2", "--kernels", "reference", "good film", "bad film"),
        run(
            "classify raw",
            "nano-sst2",
            "--raw",
            "--top-k",
            "2",
            "-f",
            "jsonl",
            "--keep",
            "label",
            *sst2,
            rows=inputs.sst2,
        ),
        run(
            "classify windows",
            "nano-sst2",
            "--max-tokens",
            "16",
            "--truncate",
            "window",
            "--stride",
            "4",
            rows=inputs.texts,
        ),
        run("classify small packs", "nano-sst2", "--batch-tokens", "64", "--threads", "2", rows=inputs.texts),
        run("classify bad rows", "nano-sst2", "-f", "jsonl", *jsonl, rows=inputs.choices),
        run("nli", "nano-sick", *pairs, rows=inputs.pairs),
        run("nli jsonl", "nano-sick", "-f", "jsonl", *pairs, rows=inputs.pairs),
        run("zero-shot", "nano-sick", "--labels", "sports,art,politics", "-f", "jsonl", rows=inputs.texts),
        run("zero-shot multi", "nano-sick", "--labels", "sports,art", "--multi-label", rows=inputs.texts),
        *(
            run(
                f"ner {way}",
                "nano-conll",
                "-f",
                "jsonl",
                "--aggregate",
                way,
                "--input-format",
                "conll",
                rows=inputs.conll,
            )
            for way in ("none", "simple", "first", "average", "max")
        ),
        run("ner", "nano-conll", rows=inputs.wiki),
        run("qa", "nano-squad", *jsonl, rows=inputs.questions),
        run("qa top", "nano-squad", "-k", "3", "-f", "jsonl", *jsonl, rows=inputs.questions),
        run("qa hf", "nano-squad", "--compat", "hf", "-f", "jsonl", *jsonl, rows=inputs.questions),
        run("choose", "sequence", "-f", "jsonl", *jsonl, rows=inputs.choices),
        run("rerank", "sequence", *jsonl, rows=inputs.documents),
        run("fill", "nano-emd", rows=inputs.masked),
        run("fill off", "nano-emd", "--emd", "off", "-f", "jsonl", rows=inputs.masked),
        run("fill plain", "nano-mlm", "-f", "jsonl", rows=inputs.masked),
        run("score", "nano-emd", "--tokens", "-f", "jsonl", "good film", "a cat sat on the mat ."),
        run("embed", "nano-sst2", "-f", "jsonl", "--normalize", rows=inputs.texts),
        *(
            run(f"embed {pooling}", "nano-sst2", "--pooling", pooling, "-o", "OUT.npy", rows=inputs.texts)
            for pooling in ("cls", "mean", "max")
        ),
        run("detect", "rtd", "-f", "jsonl", rows=inputs.texts),
        run("tokenize", "nano-sst2", "-f", "jsonl", rows=inputs.wiki),
        run("tokenize table", "nano-conll", "--special-text", "parse", rows=inputs.masked),
        run("forward", "nano-sst2", "--ids", inputs.ids, "-o", "OUT.safetensors"),
        run("forward scores", "nano-emd", "--ids", inputs.ids, "--scores", "-o", "OUT.safetensors"),
    ]


def other_runs(inputs: Inputs) -> list[Run]:
    models = inputs.models
    tasks = [
        ("sst-2", "nano-sst2", inputs.sst2),
        ("squad", "nano-squad", inputs.squad),
        ("ner", "nano-conll", inputs.conll),
        ("mlm", "nano-emd", inputs.wiki),
    ]
    runs = [
        Run(f"eval {task}", ("eval", "--task", task, "-m", models[model], file, "--output-dir", "OUT", "-f", "json"))
        for task, model, file in tasks
    ]
    runs += [
        Run(f"{verb} {name}", (verb, "-m", path)) for name, path in models.items() for verb in ("inspect", "check")
    ]
    runs += [
        Run(f"convert {dtype}", ("convert", "-m", models["nano-sst2"], "--dtype", dtype, "--to", "OUT"))
        for dtype in ("fp32", "fp16", "bf16")
    ]
    runs.append(
        Run(
            "convert int8",
            ("convert", "-m", models["nano-sst2"], "--dtype", "int8", "--calibrate", inputs.texts, "--to", "OUT"),
        )
    )
    verbs = (
        "classify nli zero-shot ner qa choose rerank embed fill score detect tokenize forward eval inspect check "
        "convert bench info completion"
    ).split()
    runs += [Run(f"help {verb}", ("help", verb)) for verb in verbs] + [Run("help", ("--help",))]
    runs += [Run(f"completion {shell}", ("completion", shell)) for shell in ("bash", "zsh", "fish")]
    runs += [Run(f"{verb} nothing", (verb, "-m", inputs.folder / "none", "x")) for verb in verbs[:12]]
    return runs


def compare(runs: list[Run], old: pathlib.Path, new: pathlib.Path) -> list[str]:
    """The names of the runs whose answers differ."""
    differ, worded, failed = [], [], []
    for run in runs:
        before, after = outcome(run, old), outcome(run, new)
        is_same = (before.code, before.answers, before.files) == (after.code, after.answers, after.files)
        if not is_same:
            differ.append(run.name)
            print(
                f"differs: {run.name}: exit code {before.code} and {after.code}, {len(before.answers)} and "
                f"{len(after.answers)} bytes, "
                f"{len(before.files)} and {len(after.files)} files"
            )
        if before.messages != after.messages:
            worded.append(run.name)
        if before.code == 2 and not run.name.endswith("nothing"):
            failed.append(f"{run.name}: {before.messages.decode(errors='replace').strip()}")
    for told in failed:
        print(f"tells nothing: {told}")
    print(
        f"{len(runs)} runs: {len(differ)} differ; messages of {len(worded)} "
        f"differ{': ' + ', '.join(worded) if worded else ''}"
    )
    return differ + failed


def processor_seconds(run: Run, program: pathlib.Path) -> float:
    """Of TIMES runs: the system counts in steps of 10 ms."""
    with tempfile.TemporaryDirectory() as folder:
        before = os.times()
        for number in range(TIMES):
            run.of(program, pathlib.Path(folder) / f"out{number}")
        after = os.times()
    return after.children_user - before.children_user + after.children_system - before.children_system


def time_runs(runs: list[Run], old: pathlib.Path, new: pathlib.Path, rounds: int) -> None:
    ratios = {run.name: [] for run in runs}
    for number in range(rounds):
        for run in runs:
            pair = [old, new] if number % 2 == 0 else [new, old]
            seconds = {program: processor_seconds(run, program) for program in pair}
            ratios[run.name].append(seconds[new] / seconds[old])
    for name, values in ratios.items():
        quartiles = statistics.quantiles(values, n=4) if len(values) > 1 else values * 3
        print(
            f"time of {name}: new / old {statistics.median(values):.3f} (quartiles {quartiles[0]:.3f} and "
            f"{quartiles[2]:.3f}), {rounds} rounds"
        )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("old", type=pathlib.Path)
    parser.add_argument("new", type=pathlib.Path)
    parser.add_argument("--rounds", type=int, default=0)
    parser.add_argument("--only", default="", help="runs whose name holds this word")
    given = parser.parse_args()
    if not (SHARED / "reference/models").is_dir():
        print(f"compare_builds: {SHARED}: expected the shared examples and checkpoints there", file=sys.stderr)
        return 1
    begin = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        inputs = make_inputs(pathlib.Path(folder))
        runs = [run for run in answering_runs(inputs) + other_runs(inputs) if given.only in run.name]
        if not runs:
            print(f"compare_builds: no run is named like {given.only}", file=sys.stderr)
            return 2
        wrong = compare(runs, given.old.resolve(), given.new.resolve())
        time_runs(
            [run for run in runs if run.name in TIMED and given.rounds],
            given.old.resolve(),
            given.new.resolve(),
            given.rounds,
        )
    print(f"{time.monotonic() - begin:.0f} s")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
