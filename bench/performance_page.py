"""docs/performance.md, its chart and the figures in README.md, from bench/figures: one file and one section for each
kind of processor measured. `compare_peers.py` writes the file of the kind that it runs on; the others stay, so no
measurement is lost. `tools/make_docs.py` regenerates the pages; the program draws the chart."""

import json
import pathlib

import charts

ROOT = pathlib.Path(__file__).resolve().parents[1]
FIGURES = ROOT / "bench/figures"
DTYPES = ("fp32", "bf16", "int8")
LENGTHS = (32, 128, 512)
# What each row of the targets must reach, by precision.
FLOORS = {
    "T1 one sequence, n = 32": (1.25, 1.4, 1.8),
    "T2 one sequence, n = 128": (1.12, 1.2, 1.7),
    "T3 one sequence, n = 512": (1.3, 1.4, 2.4),
    "T4 real lengths": (1.4, 1.7, 2.5),
    "T4 real lengths, filter mode timed from outside": (1.4, 1.7, 2.5),
    "T5 of the machine's limit, n = 128": (0.8, 0.75, 0.6),
    "T5 of its limit without AMX, n = 128": (0.8, 0.75, 0.6),
    "T5 of the machine's limit, n = 512": (0.8, 0.75, 0.6),
    "T5 of its limit without AMX, n = 512": (0.8, 0.75, 0.6),
    "T8 tokens/s at n = 2048 over n = 512": (0.6, 0.6, 0.6),
    "T9 idle over contended latency, n = 128": (1 / 3, 1 / 3, 1 / 3),
    "real lengths, two threads over one": (1.8, 1.8, 1.8),
    "real lengths, two threads over one, by shares of the limit": (1.8, 1.8, 1.8),
    **{f"tokens/s at n = 32, batch {batch} over {batch // 2}": (0.95, 0.95, 0.95) for batch in (2, 4, 8, 16)},
}
TOKENIZER_FLOORS = {
    "T7 tokenizer over sentencepiece, one thread": 2,
    "T7 tokenizer over the fast HF one, one thread": 15,
    "T7 tokenizer, two threads over one": 1.9,
}
TRAINING_FLOORS = {
    f"{what}, {row}": floors
    for what, rows in {
        "8 x 128": {
            "over transformers": (1.5, 1.5),
            "over torch.compile": (1.3, 1.3),
            "of the machine's limit": (0.75, 0.75),
            "peak memory of transformers over ours": (1, 1),
            "peak memory of torch.compile over ours": (1, 1),
        },
        "8 x 512": {
            "over transformers": (3, 3.5),
            "over torch.compile": (2.5, 2.5),
            "of the machine's limit": (0.75, 0.75),
            "peak memory of transformers over ours": (1 / 0.5, 1 / 0.55),
            "peak memory of torch.compile over ours": (1, 1),
        },
        "32 of SST-2": {
            "over transformers": (2, 2),
            "of the machine's limit": (0, 0),
            "peak memory of transformers over ours": (1, 1),
        },
        "the shape that ships, 64 x 128": {
            "over transformers": (1, 1),
            "over torch.compile": (1, 1),
            "of the machine's limit": (0.7, 0.7),
            "peak memory of transformers over ours": (1, 1),
            "peak memory of torch.compile over ours": (1, 1),
        },
    }.items()
    for row, floors in rows.items()
} | {"2 x 2048 over 8 x 512": (0.5, 0.5), "2 x 2048 over 8 x 512, peak memory": (1 / 1.1, 1 / 1.1)}
COLUMNS = [f"n = {length}, ms" for length in LENGTHS] + [
    "real lengths, tokens/s",
    "from outside, tokens/s",
    "start, s",
    "tokenizer, MB/s",
]
MARKS = ("<!-- from docs/performance.md, by tools/make_docs.py -->\n", "<!-- end of the figures -->\n")  # in README.md
README_ROWS = {
    "one text of 128 tokens, ms": "n = 128, ms",
    "one text of 512 tokens, ms": "n = 512, ms",
    "texts of real lengths, tokens/s": "real lengths, tokens/s",
}
PEERS = {"hf": "transformers", "ort": "ONNX Runtime", "ov": "OpenVINO"}  # the first part of their names in the figures


def row_keys():
    """(row, precision, floor) in page order."""
    keys = [(row, dtype, floor) for row, floors in FLOORS.items() for dtype, floor in zip(DTYPES, floors)]
    return keys + [(row, "text", floor) for row, floor in TOKENIZER_FLOORS.items()]


def holds(median, quartile, floor):
    return median >= round(floor, 2) and quartile >= 0.95 * floor


def found(kind, row, dtype):
    return next((line for line in kind["rows"] if (line["row"], line["precision"]) == (row, dtype)), None)


def table(head, lines):
    return ["| " + " | ".join(head) + " |", "|---" * len(head) + "|"] + [
        "| " + " | ".join(line) + " |" for line in lines
    ]


def is_held(line):
    floor = next(floor for row, dtype, floor in row_keys() if (row, dtype) == (line["row"], line["precision"]))
    return holds(line["median"], line["lower_quartile"], floor)


def processors(kinds):
    lines = []
    for kind in kinds:
        peaks, chosen = kind["peaks"], kind["chosen"]
        failed = sum(not is_held(line) for line in kind["rows"])
        rows = f"{len(kind['rows']) - failed} of {len(kind['rows'])}" if kind["rows"] else "none measured"
        lines.append(
            [
                kind["kind"],
                kind["machine"],
                *(f"{peaks[what]:.1f}" for what in (*DTYPES, "memory")),
                *(chosen[what] for what in (*DTYPES, "attention")),
                rows,
                training_held(kind),
            ]
        )
    head = [
        "kind",
        "reported name",
        "GFLOP/s fp32",
        "bf16",
        "GOP/s int8",
        "memory GB/s",
        "products fp32",
        "bf16",
        "int8",
        "attention of bf16 and int8",
        "rows that hold",
        "of training",
    ]
    return table(head, lines)


def rows(kind):
    lines = []
    for row, dtype, floor in row_keys():
        line = found(kind, row, dtype)
        if line is not None:
            held = "yes" if holds(line["median"], line["lower_quartile"], floor) else "**no**"
            lines.append(
                [
                    row,
                    dtype,
                    str(line["rounds"]),
                    f"{line['median']:.2f}",
                    f"{line['lower_quartile']:.2f}",
                    f"{floor:.2f}",
                    held,
                ]
            )
    return table(["row", "precision", "rounds", "median", "lower quartile", "floor", "holds"], lines)


def training_floor(line):
    return TRAINING_FLOORS[line["row"]][DTYPES.index(line["precision"])]


def training_held(kind):
    """`5 of 8`"""
    lines = [line for line in kind.get("training_rows", []) if training_floor(line)]
    held = sum(holds(line["median"], line["lower_quartile"], training_floor(line)) for line in lines)
    return f"{held} of {len(lines)}" if lines else "none measured"


def training_rows(kind):
    lines = []
    for line in kind["training_rows"]:
        floor = training_floor(line)
        held = "yes" if holds(line["median"], line["lower_quartile"], floor) else "**no**"
        lines.append(
            [
                line["row"],
                line["precision"],
                str(line["rounds"]),
                f"{line['median']:.2f}",
                f"{line['lower_quartile']:.2f}",
                *((f"{floor:.2f}", held) if floor else ("", "")),
            ]
        )
    return table(["row", "precision", "rounds", "median", "lower quartile", "floor", "holds"], lines)


def training_figures(kind):
    keys = ("tokens_per_s", "forward_s", "backward_s", "update_s", "peak_mb")
    lines = [
        [line["step"], line["who"], *(str(line.get(key, "")) for key in keys)] for line in kind["training_figures"]
    ]
    return table(["step", "", "tokens/s", "forward, s", "backward, s", "update, s", "peak memory, MiB"], lines)


def training_operations(kind):
    keys = ("operation", "shape", "ms", "share", "of_peak")
    lines = [
        [line["step"], line["precision"], *(str(line.get(key, "")) for key in keys)]
        for line in kind["training_operations"]
    ]
    return table(["step", "precision", "operation", "shape", "ms", "share", "of the peak"], lines)


def training(kind):
    """Steps of training on one kind of processor."""
    if "training_rows" not in kind:
        return []
    parts = [
        "### Training",
        "",
        "```",
        kind["training_command"],
        "```",
        "",
        *training_rows(kind),
        "",
        *training_figures(kind),
        "",
    ]
    if not kind["training_operations"]:
        return parts
    return [*parts, "Where the time of a step goes (operations of at least 1 %):", "", *training_operations(kind), ""]


def serving(kind):
    """A server on one kind of processor."""
    if "serving" not in kind:
        return []
    told, loads = kind["serving"], kind["serving_load"]
    best = max(line["goodput"] for line in loads)
    rows = [
        ("overhead of a request, median, at most, ms", told["overhead_ms"], 0.3, told["overhead_ms"] < 0.3, 3),
        (
            "throughput over HTTP (wrk, 32 connections, 128 tokens) over `deberta bench`",
            told["http_share"],
            0.9,
            told["http_share"] >= 0.9,
            2,
        ),
        (
            "goodput at twice the capacity over the best",
            loads[-1]["goodput"] / best,
            0.9,
            loads[-1]["goodput"] >= 0.9 * best,
            2,
        ),
    ]
    held = [
        [what, f"{value:.{digits}f}", f"{floor:.2f}", "yes" if is_held else "**no**"]
        for what, value, floor, is_held, digits in rows
    ]
    load = [
        [
            f"{100 * line['share']:.0f} %",
            f"{line['rate']:.1f}",
            f"{line['goodput']:.1f}",
            f"{line['p50_ms']:.0f}",
            f"{line['p99_ms']:.0f}",
            f"{100 * line['refused']:.1f} %",
            str(line["others"]),
        ]
        for line in loads
    ]
    ours = {line["clients"]: line for line in kind["serving_peers"] if line["who"] == "deberta"}
    peers = [
        [
            line["who"],
            str(line["clients"]),
            f"{line['rate']:.1f}",
            f"{line['p50_ms']:.0f}",
            f"{ours[line['clients']]['rate'] / line['rate']:.2f}",
        ]
        for line in kind["serving_peers"]
    ]
    return [
        "### Serving",
        "",
        "```",
        told["command"],
        "```",
        "",
        *table(["", "measured", "floor", "holds"], held),
        "",
        (
            "Requests that come whatever becomes of them, at shares of what 32 clients get who ask as soon as they "
            f"are answered ({told['capacity']:.1f} requests/s):"
        ),
        "",
        *table(["share", "asked/s", "answered/s", "p50, ms", "p99, ms", "refused (429)", "other answers"], load),
        "",
        "Beside servers of FastAPI, one request at a time, in turns:",
        "",
        *table(["server", "clients", "requests/s", "median, ms", "ours, times as many"], peers),
        "",
    ]


def choices(kind):
    lines = [
        [c["what"], c["level"], c["other"], *(str(c["times_as_fast"][str(length)]) for length in LENGTHS)]
        for c in kind["choices"]
    ]
    return table(["precision", "level", "over", *(f"n = {length}" for length in LENGTHS)], lines)


def calibrated(kind):
    lines = [
        [
            c["model"],
            str(c["outliers"]),
            *(f"{c[what][str(length)]:.2f}" for what in ("over_uncalibrated", "over_fp32") for length in LENGTHS),
        ]
        for c in kind["calibrated"]
    ]
    head = [
        "model",
        "outlier channels",
        *(f"over int8 without, n = {length}" if length == LENGTHS[0] else f"n = {length}" for length in LENGTHS),
        *(f"over fp32, n = {length}" if length == LENGTHS[0] else f"n = {length}" for length in LENGTHS),
    ]
    return table(head, lines)


def figures(kind):
    columns = [column for column in COLUMNS if any(column in line for line in kind["figures"])]
    return table(
        ["", *columns],
        [
            [line["who"], *(f"{line[column]:.1f}" if column in line else "" for column in columns)]
            for line in kind["figures"]
        ],
    )


def start(kind):
    lines = [
        [
            dtype,
            f"{kind['start'][dtype]['s']:.2f}",
            "0.60",
            str(kind["start"][dtype]["peak_mib"]),
            f"{kind['start'][dtype]['at_most_mib']:.0f}",
        ]
        for dtype in DTYPES
    ]
    return table(["precision", "s", "at most", "peak memory, MiB", "at most"], lines)


def section(kind):
    """Everything measured on one kind of processor, and the command that measures it again."""
    parts = [f"## {kind['kind']}", "", kind["about"], ""]
    if kind["command"]:
        parts += ["```", kind["command"], "```", ""]
    for title, name, make in (
        ("Rows", "rows", rows),
        ("The choice of kernels", "choices", choices),
        ("int8 with a calibration", "calibrated", calibrated),
        ("Figures", "figures", figures),
        ("T6: start to first answer", "start", start),
    ):
        if kind[name]:
            parts += [f"### {title}", "", *make(kind), ""]
    return parts + training(kind) + serving(kind)


def page(kinds):
    return "\n".join(
        [
            "# Performance",
            "",
            "Each processor that was measured has a section, made from `bench/figures`. `bench/compare_peers.py`",
            "measures the processor that it runs on, then writes this page and the figures in README.md. Our program",
            "and the peers run in turn, so only ratios within one run are meaningful; do not compare sections.",
            "",
            "![speed-up over the best peer](performance.svg)",
            "",
            f"The chart shows {chart_kind(kinds)['kind']}.",
            "",
            "All machines are virtual machines with two cores. Peaks are those of the instructions that run there;",
            "docs/kernels.md says how they are chosen.",
            "",
            *processors(kinds),
            "",
            "Each section contains:",
            "",
            "* **The command** that measured the whole section, except where the section's first line says otherwise.",
            "  DIR is a checkpoint that our program and the peers can read, PYTHON an interpreter that has the peers",
            "  installed, TRAINED a small trained model.",
            "* **Rows**: medians and lower quartiles over the rounds. T1 to T4: speed-up over the best peer of the",
            "  same precision in each round. A row holds if its median reaches the floor and its lower quartile is at",
            "  most 5 % below it. T5: the lower bound on the time (arithmetic at the measured peak of the instruction",
            "  used, or one read of the weights) divided by the time taken, with the peaks measured just before and",
            "  after each run; docs/kernels.md says what keeps AMX from its limit. Two threads over one: the ratio of",
            "  tokens/s, and the ratio of the shares of the limit, which is independent of what the host took from",
            "  either run. Batches: medians of interleaved runs.",
            "* **Counts of work** changed after all of these measurements, and shares of the limit measured since are",
            "  lower by as much: rows of the relative table count for each query, no longer for blocks of 64 (a base",
            "  model has 1.3 % less work at 128 tokens, .6 % at 512), of a classifier's last layer only what it reads",
            "  counts (7 %), and the backward pass of attention counts twice its forward pass, no longer 2.8 times",
            "  (with the rows, 3 % less work in a step at 128 tokens, 4.6 % at 512).",
            "* **The choice of kernels**: the speed-up of a pass over one sequence with the chosen level over the",
            "  other levels of the processor and over fp32, interleaved.",
            "* **int8 with a calibration**: the speed-up over the same model in int8 without a calibration, and over",
            "  fp32, interleaved. Outlier channels are not quantised and cost a little time. A model without any gets",
            "  some from norm gains that are made 40 times as large.",
            "* **Figures**: medians over the rounds of each round's best.",
            "* **Training** (T10): a step of a base model with a classifier: forward pass, backward pass, clip and",
            "  AdamW. Medians and lower quartiles of the ratios of rounds, in which `deberta bench --training`,",
            "  transformers and transformers under torch.compile take turns. The limit is the work at the measured",
            "  peak (three times that of the forward pass; of the last layer what the classifier reads) and one pass",
            "  of AdamW through memory. SST-2: 32 examples of real lengths, which the peer pads to the longest. The",
            "  shape that ships: 6 layers of 256, 4 heads.",
            "* **Serving**: `deberta serve` with a base model in fp32, texts of real lengths (lognormal, median 60",
            "  tokens), of four requests two of labels, one of vectors, one of a batch of four. The overhead is from",
            "  the server's own histogram: from the request read to the first byte of the answer, less tokenization",
            "  and inference. wrk does not count the 32 requests that are under way at its end. A latency counts from",
            "  the time at which the request should have been sent.",
            "* **T6**: memory may be 1.2 times the weights in use (linear layers and the projected relative tables)",
            "  plus 64 MB.",
            "",
            *(line for kind in kinds for line in section(kind)),
        ]
    )


def best_peer(kind, column, dtype):
    """(name, figure) of the fastest at that precision."""
    peers = [
        (PEERS[line["who"].partition("-")[0]], line[column])
        for line in kind["figures"]
        if not line["who"].startswith("ours") and column in line and (line["who"].partition("-")[2] or "fp32") == dtype
    ]
    return (max if column.endswith("/s") else min)(peers, key=lambda peer: peer[1])


def readme_cell(kind, column, dtype):
    ours = next(line[column] for line in kind["figures"] if line["who"] == f"ours {dtype}")
    name, theirs = best_peer(kind, column, dtype)
    digits = 0 if column.endswith("/s") else 1
    return f"{ours:,.{digits}f} ({name} {theirs:,.{digits}f})"


def has_readme_figures(kind):
    who = {line["who"]: line for line in kind["figures"]}
    return all(
        f"ours {dtype}" in who
        and column in who[f"ours {dtype}"]
        and any(column in line and not name.startswith("ours") for name, line in who.items())
        for column in README_ROWS.values()
        for dtype in DTYPES
    )


def readme_block(kinds):
    """What README.md says about speed: a kind whose peers are known by their versions, and how many rows hold on
    each."""
    whole = [kind for kind in kinds if kind["rows"] and has_readme_figures(kind)]
    kind = next((kind for kind in whole if kind.get("peers")), whole[0])
    cells = [[name, *(readme_cell(kind, column, dtype) for dtype in DTYPES)] for name, column in README_ROWS.items()]
    versions = ", ".join(f"{name} {version}" for name, version in kind.get("peers", {}).items()) or "the peers"
    seconds = [kind["start"][dtype]["s"] for dtype in DTYPES]
    others = [
        f"{sum(map(is_held, other['rows']))} of {len(other['rows'])} on {other['kind']}"
        for other in kinds
        if other["rows"] and other is not kind
    ]
    return "\n".join(
        [
            (
                f"Two cores of a {kind['kind']}, a base model, medians of {kind['rounds']} rounds in turns; in "
                f"brackets the fastest at that precision of {versions}:"
            ),
            "",
            *table(["", *DTYPES], cells),
            "",
            f"The first answer takes {min(seconds):.2f} to {max(seconds):.2f} s from the start of the program. "
            f"Targets met: {sum(map(is_held, kind['rows']))} of {len(kind['rows'])}"
            f" on {kind['kind']}{''.join('; ' + other for other in others)}.",
            "",
        ]
    )


def with_block(readme, kinds):
    before, rest = readme.split(MARKS[0])
    return before + MARKS[0] + readme_block(kinds) + MARKS[1] + rest.split(MARKS[1])[1]


def chart_kind(kinds):
    return next(kind for kind in kinds if kind["rows"])


def chart(kind):
    """The median ratios to the best peer as bars, each with its floor."""
    rows = [(row, dtype, floor) for row, dtype, floor in row_keys() if row[:2] in ("T1", "T2", "T3", "T4")]
    rows = [(row, dtype, floor) for row, dtype, floor in rows if found(kind, row, dtype)]
    values = [found(kind, row, dtype)["median"] for row, dtype, _ in rows]
    return {
        "kind": "bars",
        "title": "Speed-up over the best peer of the same precision",
        "x_title": "times as fast as the best peer",
        "labels": [f"{row[3:]}, {dtype}" for row, dtype, _ in rows],
        "width": 800,
        "series": [{"values": values, "targets": [floor for _, _, floor in rows]}],
        "target": "what it has to reach",
    }


def load_kinds(folder=FIGURES):
    """Kinds with rows first, then those without, each by name from Z to A."""
    kinds = [json.loads(path.read_text()) for path in folder.glob("*.json")]
    return sorted(kinds, key=lambda kind: (bool(kind["rows"]), kind["kind"]), reverse=True)


def keep(kind, folder=FIGURES):
    """Writes the file of a kind, one row per line, so that a diff can be read."""
    members = []
    for key, value in kind.items():
        lines = [f"  {json.dumps(entry)}" for entry in value] if isinstance(value, list) else []
        members.append(f" {json.dumps(key)}: " + ("[\n" + ",\n".join(lines) + "\n ]" if lines else json.dumps(value)))
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{file_name(kind)}.json").write_text("{\n" + ",\n".join(members) + "\n}\n")


def file_name(kind):
    return "-".join(kind["kind"].lower().replace(",", "").split())


def files(kinds, program, root=ROOT):
    """{path below the root: text} of every file written; the program draws the chart."""
    return {
        "docs/performance.md": page(kinds),
        "docs/performance.svg": charts.svg(program, chart(chart_kind(kinds))),
        "README.md": with_block((root / "README.md").read_text(), kinds),
    }


def write_files(root, kinds, program):
    for name, text in files(kinds, program, root).items():
        (root / name).write_text(text)


def stale_files(program, root=ROOT):
    return [name for name, text in files(load_kinds(), program, root).items() if (root / name).read_text() != text]
