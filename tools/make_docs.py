#!/usr/bin/env python3
"""Writes the generated pages: docs/errors.md from the table of codes, docs/options.md, docs/tasks.md and docs/deberta.1 from what the
program says of itself, docs/performance.md and the figures in README.md from bench/figures, the rooms in docs/how-it-works.md
from rooms.txt.

make_docs.py BINARY [--check]: --check only compares, and fails when a page is stale."""
import json
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from check_errors import ROOT, error_rows  # noqa: E402

sys.path.insert(0, str(ROOT / "bench"))
import performance_page  # noqa: E402
from rooms import read_rooms  # noqa: E402

ROOMS_BEGIN, ROOMS_END = "<!-- from rooms.txt, by tools/make_docs.py -->\n", "<!-- end of the rooms -->\n"


def errors_page() -> str:
    lines = ["# Error codes", "", "Generated from `include/deberta/error_codes.inc` by `tools/make_docs.py`. The name is stable: it stands in the key",
             "`error.code` of JSON output. Exit code 2 means that the command line was wrong, 1 that the work failed.", "",
             "Arguments have the names of the library here, as in its own messages; the program says its options: `max_tokens` is `--max-tokens`. Which argument an error",
             "speaks of, the limit, the input and what helps are fields of each `Problem` of an `Error` ([library.md](library.md)).", "",
             "| name | exit code | meaning | what to do |", "|---|---|---|---|"]
    lines += [f"| `{r['name']}` | {r['exit']} | {r['meaning']} | {r['remedy']} |" for r in error_rows()]
    return "\n".join(lines) + "\n"


def options_page(binary: str) -> str:
    def shown(*words: str) -> str:
        return subprocess.run([binary, *words], capture_output=True, text=True, check=True).stdout.rstrip()

    overview = shown("--help")
    verbs = [line.split()[0] for line in overview.split("verbs:\n")[1].split("\n\n")[0].splitlines()]
    parts = ["# Verbs and options", "", "Generated from the option table (`src/options/options_table.cpp`) by `tools/make_docs.py`.", "",
             "A value comes from the flag, else the environment (`DEBERTA_` and the name in capitals, `-` as `_`), else the `--config`",
             "file, else the default. Such a file is a JSON object of option names, and of verbs with objects of theirs, which win:",
             '`{"threads": 2, "qa": {"top-k": 3}}`; options at the top level that do not apply to the verb are ignored with a note. `--print-config`',
             "writes it for the options that are set (not for texts that are given as arguments), and says on standard error where",
             "each value came from. A variable that is set to nothing is not set.", "",
             "```", overview, "```"]
    for verb in verbs:
        parts += ["", f"## {verb}", "", "```", shown("help", verb), "```"]
    return "\n".join(parts) + "\n"


def tasks_page(binary: str) -> str:
    rows = json.loads(subprocess.run([binary, "eval", "--list", "-f", "json"], capture_output=True, text=True, check=True).stdout)
    lines = ["# Tasks", "", "Generated from the task table (`src/metrics/task_table.cpp`) by `tools/make_docs.py`; `deberta eval --list` shows it too. What the files hold:",
             "[formats.md](formats.md). The verb answers rows of the task one by one; `eval` runs a labelled file, or scores answers that are there already",
             "(`--predictions FILE`). A test runs every command of this page.", "",
             "| task | what | verb | the model is shown | labels | head | metrics, the selecting one first |", "|---|---|---|---|---|---|---|"]
    for row in rows:
        names = f"`{row['task']}`" + (f" ({', '.join(row['aliases'])})" if row["aliases"] else "")
        lines.append(f"| {names} | {row['what']} | `{row['verb']}` | {row['input']} | {', '.join(row['labels'])} | {row['head']} | {', '.join(row['metrics'])} |")
    lines += ["", "A model's classes are matched with these labels by name, whatever their case and order (`0` and `negative` are one label of `sst-2`); where the model has no names they",
              "follow the order above. Anything else is an error that shows both lists; `--label-map` gives the task's labels in the model's order.", "", "## Commands", "", "```"]
    lines += [row["command"] for row in rows]
    lines += ["```", "", "## Published hyper-parameters", "",
              "Epochs / warm-up steps (or part of all steps) / learning rate / batch / dropout before the classifier, from the papers and the original scripts; length in tokens.", "",
              "| task | length | base | large | xlarge | v2-xlarge | v2-xxlarge | v3-large |", "|---|---|---|---|---|---|---|---|"]
    columns = ("length", "base", "large", "xlarge", "v2-xlarge", "v2-xxlarge", "v3-large")
    lines += [f"| `{row['task']}` | {' | '.join(row[name] for name in columns)} |" for row in rows if any(row[name] for name in columns)]
    return "\n".join(lines) + "\n"


def manual_page(binary: str) -> str:
    return subprocess.run([binary, "help", "--man"], capture_output=True, text=True, check=True).stdout


def size_of(room: str) -> tuple[int, int]:
    """(files, lines to the nearest hundred) of its sources, tables included."""
    files = [path for path in (ROOT / "src" / room).rglob("*") if path.suffix in (".h", ".cpp", ".inc")]
    return len(files), round(sum(path.read_text().count("\n") for path in files), -2)


def rooms_page() -> str:
    """docs/how-it-works.md with the table of rooms."""
    lines = ["| floor | room | what it holds | files | lines |", "|---|---|---|---|---|"]
    for room in read_rooms(ROOT / "rooms.txt"):
        if room.floor is not None:
            files, count = size_of(room.name)
            lines.append(f"| {room.floor} | `{room.name}` | {room.holds} | {files} | {count} |")
    before, _, rest = (ROOT / "docs/how-it-works.md").read_text().partition(ROOMS_BEGIN)
    return before + ROOMS_BEGIN + "\n".join(lines) + "\n" + ROOMS_END + rest.partition(ROOMS_END)[2]


def main() -> int:
    binary, check = sys.argv[1], "--check" in sys.argv
    stale = 0
    pages = {"docs/errors.md": errors_page(), "docs/options.md": options_page(binary), "docs/tasks.md": tasks_page(binary), "docs/deberta.1": manual_page(binary),
             "docs/how-it-works.md": rooms_page(),
             **performance_page.files(performance_page.load_kinds())}
    for name, text in pages.items():
        path = ROOT / name
        if check:
            if not path.exists() or path.read_text() != text:
                print(f"{name}: stale; run tools/make_docs.py {binary}")
                stale = 1
        else:
            path.write_text(text)
    return stale


if __name__ == "__main__":
    sys.exit(main())
