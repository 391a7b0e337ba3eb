#!/usr/bin/env python3
"""Records what the official evaluation scripts say about made-up and real answers.

usage: make.py SQUAD_1_SCRIPT SQUAD_2_SCRIPT RECORD_SCRIPT

Writes made_TASK.json (the documents) and official.json (each script's SHA-256 and its figures). The scripts are not
part of this project: evaluate-v1.1.py of SQuAD, evaluate-v2.0.py of rajpurkar/SQuAD-explorer (commit eee5fdbf),
dataset/evaluation.py of sheng-z/ReCoRD-explorer (commit a029c2ef), whose functions SuperGLUE took over. The real
answers need the shared folder: only their figures and their digest are kept."""

import hashlib
import json
import pathlib
import re
import subprocess
import sys
import tempfile

FOLDER = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(FOLDER.parents[1] / "oracle"))
from official_rows import MADE, REAL, THRESHOLDS, digest, text_of  # noqa: E402


def script_output(folder, script, documents, *words):
    for name, document in documents.items():
        (folder / f"{name}.json").write_text(json.dumps(document), encoding="utf-8")
    return subprocess.run(
        [sys.executable, script, "gold.json", "answers.json", *words],
        cwd=folder,
        capture_output=True,
        text=True,
        check=True,
    ).stdout


def squad_1(folder, script, documents):
    return {"": json.loads(script_output(folder, script, documents))}


def squad_2(folder, script, documents):
    figures = {"": json.loads(script_output(folder, script, documents))}
    for threshold in THRESHOLDS:
        words = ("--na-prob-file", "no_answer.json", "--na-prob-thresh", str(threshold))
        figures[str(threshold)] = json.loads(script_output(folder, script, documents, *words))
    return figures


def record(folder, script, documents):
    """The script expects ids that are strings, and one passage per entry."""
    data = [{"qas": [dict(qa, id=str(qa["idx"])) for qa in row["qas"]]} for row in documents["gold"]]
    said = script_output(folder, script, documents | {"gold": {"version": "1.0", "data": data}})
    values = re.findall(r"^\* (\w+): (.*)$", said, re.MULTILINE)
    return {"": {name.lower(): float(value) for name, value in values}}


def main():
    runs = {"squad": squad_1, "squad2": squad_2, "record": record}
    scripts = dict(zip(runs, (pathlib.Path(path).resolve() for path in sys.argv[1:]), strict=True))
    official = {
        "scripts": {task: hashlib.sha256(path.read_bytes()).hexdigest() for task, path in scripts.items()},
        "made": {},
        "real": {},
    }
    for kind, sets in (("made", MADE), ("real", REAL)):
        for task, make in sets.items():
            documents = make()
            with tempfile.TemporaryDirectory() as folder:
                official[kind][task] = {
                    "digest": digest(documents),
                    "figures": runs[task](pathlib.Path(folder), scripts[task], documents),
                }
            if kind == "made":
                (FOLDER / f"made_{task}.json").write_text(text_of(documents), encoding="utf-8")
    (FOLDER / "official.json").write_text(json.dumps(official, indent=1) + "\n")


if __name__ == "__main__":
    main()
