"""A run of every verb on tiny models, for allocation_failures.py and system_calls.py. Each answers at once, on the main
thread alone where it takes texts as arguments; one more reads its rows from a file, in a thread of its own."""

import dataclasses
import json
import pathlib
import subprocess

import numpy

from clean_environment import clean_environment
from conftest import BINARY, HANG_SECONDS
from models import make_extractor, make_model, write_safetensors

NLI = ("entailment", "neutral", "contradiction")
TEXT, OTHER = "a fine film with 2 good parts", "nobody saw it ."


@dataclasses.dataclass(frozen=True)
class Job:
    """`output`: the file or folder that the run writes; nothing else is written. `is_timed`: it measures time, so its
    answers differ each time."""

    name: str
    words: tuple
    output: pathlib.Path = None
    is_timed: bool = False

    def run(self, environment=None, before=(), timeout=HANG_SECONDS):
        clean = clean_environment()
        return subprocess.run(
            [*before, BINARY, *map(str, self.words)],
            env=clean | (environment or {}),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=timeout,
        )


def with_files(folder):
    """Models by head, and files of rows."""
    made = {head: make_model(folder / head, head) for head in ("sequence", "token", "span", "lm", "rtd")}
    made["nli"] = make_model(folder / "nli", "sequence", labels=NLI)
    made["extractor"] = make_extractor(folder / "extractor")
    made["number"] = make_model(folder / "number", "sequence", labels=("score",))
    write_safetensors(folder / "ids.safetensors", {"input_ids": numpy.array([[1, 20, 30, 40, 2]], numpy.int32)})
    (folder / "rows.tsv").write_text("id\ttext\n" + "".join(f"{i}\ttext number {i}\n" for i in range(5)))
    (folder / "rows.jsonl").write_text("".join(json.dumps({"text": f"text {i}"}) + "\n" for i in range(5)))
    (folder / "dev.csv").write_text(
        "premise,hypothesis,label\n" + "".join(f"text {i},other {i},neutral\n" for i in range(5))
    )
    series = [{"name": "b", "points": [[0, 1], [1, None], [2, 3]]}]
    (folder / "chart.json").write_text(json.dumps({"kind": "lines", "title": "a", "series": series}))
    (folder / "answers.tsv").write_text("index\tprediction\n" + "".join(f"{i}\tneutral\n" for i in range(5)))
    return made


def jobs(folder):
    """Runs that write nothing but answers, then runs with an output of their own."""
    folder = pathlib.Path(folder)
    made = with_files(folder)

    def verb(name, head, *words, **more):
        return Job(
            name,
            (
                name,
                *(("-m", made[head]) if head else ()),
                *(
                    ("--threads", "1")
                    if head and name not in ("inspect", "check", "convert", "info", "tokenize")
                    else ()
                ),
                *words,
            ),
            **more,
        )

    plain = [
        verb("classify", "sequence", TEXT, OTHER),
        verb("nli", "nli", TEXT, OTHER),
        verb("zero-shot", "nli", "--labels", "sports,art", TEXT),
        verb("ner", "token", TEXT),
        verb("extract", "extractor", "--labels", "person,place", "--threshold", "0.1", TEXT),
        verb("qa", "span", "who saw it ?", TEXT),
        verb("choose", "number", TEXT, "why ?", "one", "two"),
        verb("rerank", "number", "a question", TEXT, OTHER),
        verb("fill", "lm", "a [MASK] film"),
        verb("score", "lm", TEXT),
        verb("embed", "sequence", "-f", "jsonl", TEXT),
        verb("detect", "rtd", TEXT),
        verb("analyze", "sequence", TEXT),
        verb("analyze", "sequence", "--show", "terms", TEXT),
        verb("tokenize", "sequence", TEXT),
        verb("eval", None, "--task", "mnli", "-p", folder / "answers.tsv", folder / "dev.csv"),
        verb("inspect", "sequence"),
        verb("check", "sequence"),
        verb("info", "sequence", is_timed=True),
        verb("chart", None, folder / "chart.json"),
        verb("help", None, "classify"),
        verb("completion", None, "bash"),
        verb("bench", "sequence", "--lengths", "8", "--min-time", "0.001", is_timed=True),
    ]
    written = [
        ("forward", "sequence", "--ids", folder / "ids.safetensors", "-o"),
        ("embed", "sequence", TEXT, "-o"),
        ("classify", "sequence", "-i", folder / "rows.tsv", "-o"),
        ("classify", "sequence", "-i", folder / "rows.jsonl", "-f", "jsonl", "-o"),
        ("analyze", "sequence", TEXT, "--out"),
        ("extract", "extractor", "--labels", "x", "--redact", TEXT, "--redact-map"),
        ("eval", "nli", "--task", "mnli", folder / "dev.csv", "--write-predictions"),
        ("convert", "sequence", "--to"),
        ("convert", "sequence", "--dtype", "int8", "--calibration-data", folder / "rows.tsv", "--to"),
    ]
    named = []
    for n, (name, head, *words) in enumerate(written):
        output = folder / f"place{n}" / "out"
        output.parent.mkdir()
        if name == "embed":
            output = output.with_suffix(".npy")
        named.append(verb(name, head, *words, output, output=output))
    return plain, named
