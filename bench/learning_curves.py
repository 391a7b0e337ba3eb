#!/usr/bin/env python3
"""docs/learning.svg from the logs of the models that ship (models/stage*.jsonl): losses of both models, what the
generator finds, what the discriminator finds, and how alike their tables of words are.

usage: learning_curves.py [LOG...]      (default: models/stage1.jsonl and those after it)"""
import json
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
WIDTH, HEIGHT, GAP = 420, 210, 30
PANELS = [  # (title, [(key, name, colour)])
    ("loss of the generator", [("generator_loss", "", "#0072b2")]),
    ("loss of the discriminator", [("discriminator_loss", "", "#d55e00")]),
    ("masked words that the generator finds, in training", [("generator_accuracy", "", "#0072b2")]),
    ("replaced tokens: precision and recall of the discriminator", [("discriminator_precision", "precision", "#009e73"), ("discriminator_recall", "recall", "#cc79a7")]),
    ("likeness of the two tables of words (mean cosine of a row)", [("table_cosine_words", "", "#56b4e9")]),
    ("masked words in a step", [("generator_labels_per_step", "", "#7f7f7f")]),
]


def load(paths):
    """Lines of all logs, their tokens one behind the other."""
    lines, before = [], 0.0
    for path in paths:
        stage = [line for line in map(json.loads, path.read_text().splitlines()) if "tokens" in line and "generator_loss" in line]
        lines += [line | {"tokens": line["tokens"] + before} for line in stage]
        before += stage[-1]["tokens"]
    return lines


def panel(title, series, lines, left, top):
    """SVG of one panel."""
    inner_left, inner_right, inner_top, inner_bottom = left + 46, left + WIDTH - 8, top + 24, top + HEIGHT - 26
    tokens = [line["tokens"] for line in lines]
    values = [line[key] for key, _, _ in series for line in lines]
    low, high = min(values), max(values)
    if high == low:
        low, high = low - 1, high + 1
    def x(value):
        return inner_left + value / tokens[-1] * (inner_right - inner_left)
    def y(value):
        return inner_bottom - (value - low) / (high - low) * (inner_bottom - inner_top)
    out = [f'<text x="{left + 4}" y="{top + 14}" font-weight="600">{title}</text>']
    for i in range(5):
        value = low + (high - low) * i / 4
        out += [f'<line x1="{inner_left}" x2="{inner_right}" y1="{y(value):.1f}" y2="{y(value):.1f}" stroke="#8884"/>',
                f'<text x="{inner_left - 4}" y="{y(value) + 4:.1f}" text-anchor="end">{value:.3g}</text>',
                (f'<text x="{x(tokens[-1] * i / 4):.1f}" y="{inner_bottom + 15}" '
                 f'text-anchor="middle">{tokens[-1] * i / 4e6:.3g} M</text>')]
    for number, (key, name, colour) in enumerate(series):
        points = " ".join(f"{x(line['tokens']):.1f},{y(line[key]):.1f}" for line in lines)
        out.append(f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="1.5"/>')
        if name:
            out.append(f'<text x="{inner_right - 4}" y="{inner_top + 14 + 15 * number}" text-anchor="end" '
                       f'fill="{colour}">{name}</text>')
    return out


def main():
    paths = [pathlib.Path(name) for name in sys.argv[1:]] or sorted((ROOT / "models").glob("stage?.jsonl"))
    lines = load(paths)
    columns, rows = 2, (len(PANELS) + 1) // 2
    width, height = columns * (WIDTH + GAP), rows * (HEIGHT + GAP)
    out = [(f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} '
            f'{height}" font-family="sans-serif" font-size="11" fill="#444">'),
           f'<rect width="{width}" height="{height}" fill="#fff"/>']
    for number, (title, series) in enumerate(PANELS):
        out += panel(title, series, lines, GAP // 2 + number % columns * (WIDTH + GAP), GAP // 2 + number // columns * (HEIGHT + GAP))
    (ROOT / "docs/learning.svg").write_text("\n".join([*out, "</svg>", ""]))


if __name__ == "__main__":
    main()
