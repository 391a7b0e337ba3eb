#!/usr/bin/env python3
"""docs/records/learning.svg from the logs of the models that ship (models/stage*.jsonl): losses of both models, what
the generator finds, what the discriminator finds, and how alike their tables of words are.

usage: learning_curves.py [PROGRAM [LOG...]]
(default: build/release/deberta, and models/stage1.jsonl and those after it)"""

import json
import pathlib
import sys

import charts

ROOT = pathlib.Path(__file__).resolve().parents[1]
WIDTH, COLUMNS = 460, 2
PANELS = [  # (title, {key: name})
    ("loss of the generator", {"generator_loss": ""}),
    ("loss of the discriminator", {"discriminator_loss": ""}),
    ("masked words that the generator finds, in training", {"generator_accuracy": ""}),
    (
        "replaced tokens: precision and recall of the discriminator",
        {"discriminator_precision": "precision", "discriminator_recall": "recall"},
    ),
    ("likeness of the two tables of words (mean cosine of a row)", {"table_cosine_words": ""}),
    ("masked words in a step", {"generator_labels_per_step": ""}),
]


def load(paths):
    """Lines of all logs, their tokens one behind the other."""
    lines, before = [], 0.0
    for path in paths:
        stage = [
            line
            for line in map(json.loads, path.read_text().splitlines())
            if "tokens" in line and "generator_loss" in line
        ]
        lines += [line | {"tokens": line["tokens"] + before} for line in stage]
        before += stage[-1]["tokens"]
    return lines


def panel(title, names, lines):
    series = [{"name": name, "points": [[line["tokens"], line[key]] for line in lines]} for key, name in names.items()]
    x_axis = {"title": "tokens", "low": 0}
    return {"kind": "lines", "title": title, "width": WIDTH, "x": x_axis, "series": series}


def main():
    program = ROOT / (sys.argv[1] if len(sys.argv) > 1 else "build/release/deberta")
    paths = [pathlib.Path(name) for name in sys.argv[2:]] or sorted((ROOT / "models").glob("stage?.jsonl"))
    lines = load(paths)
    panels = [panel(title, names, lines) for title, names in PANELS]
    (ROOT / "docs/records/learning.svg").write_text(charts.svg(program, {"columns": COLUMNS, "charts": panels}))


if __name__ == "__main__":
    main()
