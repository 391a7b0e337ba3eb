#!/usr/bin/env python3
"""The tables of plans/ in docs/records/ablations.md and their chart, docs/records/ablations.svg, from the results and
logs that are committed in plans/results.

usage: ablation_tables.py [PROGRAM] [--check]
PROGRAM: build/release/deberta; --check only compares, and fails when the page or the chart is stale."""

import json
import math
import pathlib
import statistics
import subprocess
import sys
import tempfile

import charts

ROOT = pathlib.Path(__file__).resolve().parents[1]
PAGE, CHART = ROOT / "docs/records/ablations.md", ROOT / "docs/records/ablations.svg"
RESULTS = ROOT / "plans/results"
PLANS = ("objectives", "attention", "decoder", "predecessors", "diagnosis", "finetuning")
MEAN = "mean of tasks"
LAST_LINES = 5  # of a log with a line every 100 steps
DETECTION = (
    "replaced_share",
    "discriminator_loss",
    "discriminator_recall",
    "discriminator_precision",
    "table_cosine_words",
)
PANELS = {MEAN: "mean of the dev figures of the tasks", "accuracy": "held-out masked pieces that are found"}
WIDTH = 800


def marks(plan):
    return (
        f"<!-- table of plans/{plan}.json, by bench/ablation_tables.py -->\n",
        f"<!-- end of the table of plans/{plan}.json -->\n",
    )


def summaries(program):
    """{plan: (its table in Markdown, its numbers)} of the plans that have a result."""
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        for plan in PLANS:
            out = pathlib.Path(folder) / plan
            subprocess.run(
                [
                    program,
                    "ablate",
                    ROOT / "plans" / f"{plan}.json",
                    "-o",
                    out,
                    "--results",
                    RESULTS,
                    "--tables-only",
                    "-q",
                ],
                check=True,
            )
            numbers = json.loads((out / "table.json").read_text())
            if numbers["finished"]:
                found[plan] = (out / "table.md").read_text(), numbers
    return found


def with_tables(page, found):
    detected = detections()
    for plan, (table, numbers) in found.items():
        begin, end = marks(plan)
        at, until = page.index(begin) + len(begin), page.index(end)
        missing = (
            ""
            if numbers["finished"] == numbers["cells"]
            else f"\n{numbers['finished']} of {numbers['cells']} runs are finished.\n"
        )
        # the page has one rule for all of them
        table = table.replace(" * |", " |").replace("; * beyond two standard errors:", ":")
        page = page[:at] + table + detection_table(numbers, detected) + missing + page[until:]
    begin, end = "<!-- comparisons, by bench/ablation_tables.py -->\n", "<!-- end of the comparisons -->\n"
    at, until = page.index(begin) + len(begin), page.index(end)
    return page[:at] + verdicts(found) + page[until:]


def detections():
    """{form: [what the discriminator of each run did in the last lines of its log, as {key: mean}]}; forms without a
    discriminator are left out."""
    found = {}
    for path in sorted(RESULTS.glob("*.json")):
        lines = [json.loads(line) for line in path.with_suffix(".jsonl").read_text().splitlines()]
        if last := [line for line in lines if "discriminator_recall" in line][-LAST_LINES:]:
            found.setdefault(json.loads(path.read_text())["form"], []).append(
                {key: statistics.mean(line[key] for line in last) for key in DETECTION}
            )
    return found


def detection_table(numbers, detected):
    """Markdown: what the discriminators of a plan's pairs found, of `detected`, that of detections(); "" where it has
    none."""
    lines = []
    for form in (row["form"] for row in numbers["rows"]):
        if found := detected.get(form):
            mean = {key: statistics.mean(run[key] for run in found) for key in DETECTION}
            share = mean["replaced_share"]
            guess = -share * math.log(share) - (1 - share) * math.log(1 - share)
            lines.append(
                f"| {form} | {share:.3f} | {guess:.3f} | {mean['discriminator_loss']:.3f} | "
                f"{mean['discriminator_recall']:.3f} | {mean['discriminator_precision']:.2f} | "
                f"{mean['table_cosine_words']:.2f} | {len(found)} |"
            )
    if not lines:
        return ""
    head = [
        "",
        "What the discriminators found, in the last 500 steps of their training:",
        "",
        "| form | tokens replaced | loss of the share alone | loss | recall | precision | cosine of words | seeds |",
        "|---|---|---|---|---|---|---|---|",
    ]
    return "\n".join(head + lines) + "\n"


def p_value(differences):
    """Of a mean of 0, two-sided: Student's t of two or three paired differences."""
    count, mean = len(differences), statistics.mean(differences)
    t = abs(mean) / (statistics.stdev(differences) / math.sqrt(count))
    return 1 - t / math.sqrt(t * t + 2) if count == 3 else 1 - 2 / math.pi * math.atan(t)


def comparisons(found):
    """[(what is compared, form, reference, its differences by seed)] of every form that has two seeds or more, each
    pair once."""
    runs = {}
    for path in sorted(RESULTS.glob("*.json")):
        result = json.loads(path.read_text())
        runs.setdefault(result["form"], {})[result["seed"]] = result
    measures = {
        MEAN: lambda run: statistics.mean(run["tasks"].values()),
        "held-out masked pieces found": lambda run: run["pretraining"].get("accuracy"),
    }
    compared = {}
    for _, numbers in found.values():
        for form in (row["form"] for row in numbers["rows"] if row["form"] != numbers["reference"]):
            for measure, of in measures.items():
                pairs = [
                    (of(run), of(runs[numbers["reference"]][seed]))
                    for seed, run in sorted(runs.get(form, {}).items())
                    if seed in runs[numbers["reference"]]
                ]
                differences = [a - b for a, b in pairs if a is not None and b is not None]
                if len(differences) > 1:
                    compared[measure, form, numbers["reference"]] = differences
    return [(*key, differences) for key, differences in compared.items()]


def verdicts(found):
    """Markdown: every comparison, with Holm's correction over all of them."""
    rows = sorted(
        ((p_value(differences), *key, differences) for *key, differences in comparisons(found)), key=lambda row: row[0]
    )
    lines, least = [], 0
    for rank, (p, measure, form, reference, differences) in enumerate(rows):
        least = max(least, min(1, p * (len(rows) - rank)))
        mean, says = statistics.mean(differences), "no claim"
        if least < 0.05:
            says = "**win**" if mean > 0 else "**loss**"
        lines.append(
            f"| {form} | {reference} | {measure} | {mean:+.4f} | {statistics.median(differences):+.4f} | "
            f"{len(differences)} | {p:.3g} | {least:.2g} | {says} |"
        )
    head = [
        f"{len(rows)} comparisons:",
        "",
        "| form | against | of | mean difference | median | seeds | p | p of the whole (Holm) | |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    return "\n".join(head + lines) + "\n"


def panel(plan, column, numbers):
    """The means of a column of one plan, two standard errors to either side, and how many FLOPs each form took."""
    at = numbers["columns"].index(column)
    rows = [row for row in numbers["rows"] if row["values"][at]["count"]]
    means = [row["values"][at] for row in rows]
    values = [[value["mean"], 2 * value["error"] if "error" in value else None] for value in means]
    flops = [row["flops"].get("mean", 0) for row in rows]
    chart = {
        "kind": "dots",
        "title": f"{plan}: {PANELS[column]}",
        "width": WIDTH,
        "labels": [row["form"] for row in rows],
        "series": [{"values": values}],
    }
    if any(flops):
        chart["notes"] = [f"{one:.2e}" if one else "" for one in flops]
        chart["notes_title"] = "FLOPs of pre-training"
    return chart


def chart(program, found):
    panels = [
        panel(plan, column, numbers)
        for column in PANELS
        for plan, (_, numbers) in found.items()
        if column in numbers["columns"]
    ]
    return charts.svg(program, {"charts": panels})


def contradictions():
    """What the committed results and their logs say against each other, a sentence each."""
    found = []
    for path in sorted(RESULTS.glob("*.json")):
        result, lines = (
            json.loads(path.read_text()),
            [json.loads(line) for line in path.with_suffix(".jsonl").read_text().splitlines()],
        )
        steps = [line["step"] for line in lines]
        told = {name.removeprefix("eval_"): value for name, value in lines[-1].items() if name.startswith("eval_")}
        if steps != sorted(steps) or steps[-1] != steps[-2]:
            found.append(f"{path.stem}.jsonl: expected the steps in order and an evaluation of the last")
        if wrong := [name for name, value in result["pretraining"].items() if told.get(name) != value]:
            found.append(
                f"{path.name}: {wrong[0]}: expected what the end of its log says, {told.get(wrong[0])}, got "
                f"{result['pretraining'][wrong[0]]}"
            )
        for line in lines:
            for prefix in ("", "generator_", "eval_", "eval_generator_"):
                loss, perplexity = line.get(prefix + "loss"), line.get(prefix + "perplexity")
                if (
                    loss is not None
                    and perplexity is not None
                    and not math.isclose(math.log(perplexity), loss, rel_tol=1e-6)
                ):
                    found.append(
                        f"{path.stem}.jsonl: step {line['step']}: {prefix}perplexity: expected exp of the loss, "
                        f"{math.exp(loss)}, got {perplexity}"
                    )
    return found


def main():
    words = [word for word in sys.argv[1:] if word != "--check"]
    program = ROOT / (words[0] if words else "build/release/deberta")
    found = summaries(program)
    stale = []
    for path, text in ((PAGE, with_tables(PAGE.read_text(), found)), (CHART, chart(program, found))):
        if "--check" not in sys.argv:
            path.write_text(text)
        elif path.read_text() != text:
            stale.append(path)
            print(f"{path.relative_to(ROOT)}: stale; run bench/ablation_tables.py")
    wrong = contradictions()
    print("\n".join(wrong[:20]) or f"tables of plans: {len(list(RESULTS.glob('*.json')))} results")
    return 1 if stale or wrong else 0


if __name__ == "__main__":
    sys.exit(main())
