#!/usr/bin/env python3
"""Writes the generated pages. In docs/reference: the errors from the table of codes; options, tasks and routes, and
docs/deberta.1, from what the program says about itself; the Python API from the package. In docs/records: performance,
a page for each processor, and the figures in README.md, from bench/figures. The rooms in docs/concepts/how-it-works.md
and their picture, docs/concepts/rooms.svg, from rooms.txt.

make_docs.py BINARY [--check]: --check only compares, and fails when a page is stale."""

import collections
import json
import pathlib
import re
import subprocess
import sys
import textwrap

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from check_errors import ROOT, error_rows

sys.path.insert(0, str(ROOT / "bench"))
import charts
import performance_page
from reference_pages import python_page, routes_page
from rooms import read_rooms
from rooms_picture import picture

ROOMS_BEGIN, ROOMS_END = "<!-- from rooms.txt, by tools/make_docs.py -->\n", "<!-- end of the rooms -->\n"


def errors_page() -> str:
    lines = [
        "# Error codes",
        "",
        "Generated from `include/deberta/error_codes.inc` by `tools/make_docs.py`. The name is stable: it stands",
        "in the key `error.code` of JSON output. Exit code 2 means that the command line was wrong, 1 that the",
        "work failed.",
        "",
        "Arguments have the names of the library here, as in its own messages; the program says its options:",
        "`max_tokens` is `--max-tokens`. Which argument an error speaks of, the limit, the input and what helps",
        "are fields of each `Problem` of an `Error` ([the C++ library](library.md)).",
        "",
        "| name | exit code | meaning | what to do |",
        "|---|---|---|---|",
    ]
    lines += [f"| `{r['name']}` | {r['exit']} | {r['meaning']} | {r['remedy']} |" for r in error_rows()]
    return "\n".join(lines) + "\n"


COMMON_VERBS = 10  # an option that at least this many verbs share, with the same description, is described once
HEADING = re.compile(r"^([A-Z][a-z]+(?: [a-z]+)*):$", re.MULTILINE)  # of a section of options
OPTION = re.compile(r"^ {2}(?:-\w,| {3}) (--[\w-]+).*\n(?: {8}.*\n)*", re.MULTILINE)


def options_in(page: str) -> dict[tuple[str, str], str]:
    """{(section, the option's description): its name} of the help page of a verb."""
    headings = list(HEADING.finditer(page))
    ends = [heading.start() for heading in headings[1:]] + [len(page)]
    return {
        (heading[1], option[0]): option[1]
        for heading, end in zip(headings, ends)
        for option in OPTION.finditer(page, heading.end(), end)
    }


def common_options(pages: dict[str, str]) -> tuple[dict[tuple[str, str], str], list[str]]:
    """The options that most verbs have, as options_in() has them, and the section that describes them."""
    found = [options_in(page) for page in pages.values()]
    users = collections.Counter(option for options in found for option in options)
    names = {option: name for options in found for option, name in options.items() if users[option] >= COMMON_VERBS}
    sections = [
        f"{section}:\n" + "".join(text for of, text in names if of == section)
        for section in dict.fromkeys(of for of, _ in names)
    ]
    return names, "\n".join(sections).splitlines()


def without_common(page: str, common: dict[tuple[str, str], str]) -> str:
    """The help page of a verb, with its common options only named."""
    named = []
    for option in options_in(page):
        if option in common:
            page = page.replace(option[1], "", 1)
            named.append(common[option])
    page = re.sub(rf"\n{HEADING.pattern[1:-1]}\n(?=\n)", "", page)
    listed = textwrap.fill("common options: " + " ".join(named), 100, subsequent_indent="  ", break_on_hyphens=False)
    usage, blank, rest = page.partition("\n\nEvery option can also be set")
    return usage.rstrip("\n") + "\n\n" + listed + blank + rest


def options_page(binary: str) -> str:
    def shown(*words: str) -> str:
        return subprocess.run([binary, *words], capture_output=True, text=True, check=True).stdout.rstrip()

    overview = shown("--help")
    verbs = [
        line.split()[0] for line in overview.split("verbs:\n")[1].split("\n\n")[0].splitlines() if "./run" not in line
    ]
    pages = {verb: shown("help", verb) for verb in verbs}
    common, described = common_options(pages)
    parts = [
        "# Verbs and options",
        "",
        "Generated from the option table (`src/options/table/`) by `tools/make_docs.py`.",
        "",
        "A value comes from the flag, else from the environment (`DEBERTA_` and the name in capitals, with `_`",
        "for `-`), else from the `--config` file, else it is the default. The file is a JSON object of option",
        "names; the name of a verb holds an object of options for that verb, which win:",
        '`{"threads": 2, "qa": {"top-k": 3}}`. Options at the top level that do not apply to the verb are ignored',
        "with a note.",
        "`--print-config` prints such a file with the options that are set (but not the texts given as",
        "arguments), and reports the origin of each value on standard error. An empty environment variable counts",
        "as not set.",
        "",
        "```",
        overview,
        "```",
        "",
        "## Common options",
        "",
        "Most verbs have these options; the section of each verb lists those that it takes. `deberta help VERB`",
        "shows all options of a verb.",
        "",
        "```",
        *described,
        "```",
    ]
    for verb in verbs:
        parts += ["", f"## {verb}", "", "```", without_common(pages[verb], common), "```"]
    return "\n".join(parts) + "\n"


def tasks_page(binary: str) -> str:
    rows = json.loads(
        subprocess.run([binary, "eval", "--list", "-f", "json"], capture_output=True, text=True, check=True).stdout
    )
    lines = [
        "# Tasks",
        "",
        "Generated from the task table (`src/metrics/task_table.cpp`) by `tools/make_docs.py`;",
        (
            "`deberta eval --list -f json` prints it too. [Task files](task-files.md) describes the files. The verb "
            "answers the rows"
        ),
        "of a task one by one; `eval` runs a labelled file, or scores existing answers (`--predictions FILE`). A",
        "test runs every command on this page.",
        "",
        "| task | question | verb | model input | labels | head | metrics, the main one first |",
        "|---|---|---|---|---|---|---|",
    ]
    for row in rows:
        names = f"`{row['task']}`" + (f" ({', '.join(row['aliases'])})" if row["aliases"] else "")
        lines.append(
            f"| {names} | {row['what']} | `{row['verb']}` | {row['input']} | {', '.join(row['labels'])} | "
            f"{row['head']} | {', '.join(row['metrics'])} |"
        )
    lines += [
        "",
        "A model's classes are matched with these labels by name, in any case and order (`0` and `negative` are",
        "the same label of `sst-2`). If the model's classes have no names, they are taken in the order above.",
        "Otherwise an error shows both lists; `--label-map` gives the task's labels in the model's order.",
        "",
        "Other metrics (`--metrics`), thresholds, and figures for each value of a column (`--by`):",
        "[metrics](metrics.md).",
        "",
        "## Commands",
        "",
        "```",
    ]
    lines += [row["command"] for row in rows]
    lines += [
        "```",
        "",
        "## Published hyper-parameters",
        "",
        "Epochs / warm-up steps (or fraction of all steps) / learning rate / batch size / dropout before the",
        "classifier, from the papers and the original scripts; length in tokens.",
        "",
        (
            "| task | length | base | large | xlarge | v2-xlarge | v2-xxlarge | v3-xsmall | v3-small | v3-base | "
            "v3-large |"
        ),
        "|---|---|---|---|---|---|---|---|---|---|---|",
    ]
    columns = (
        "length",
        "base",
        "large",
        "xlarge",
        "v2-xlarge",
        "v2-xxlarge",
        "v3-xsmall",
        "v3-small",
        "v3-base",
        "v3-large",
    )
    lines += [
        f"| `{row['task']}` | {' | '.join(row[name] for name in columns)} |"
        for row in rows
        if any(row[name] for name in columns)
    ]
    lines += [
        "",
        "For `--adversarial sift`, with the weight of its loss at the end; where nothing is published, the",
        "numbers above count.",
        "",
        f"| task | {' | '.join(columns[1:])} |",
        "|---" * len(columns) + "|",
    ]
    lines += [
        f"| `{row['task']}` | {' | '.join(row['sift'].get(name, '') for name in columns[1:])} |"
        for row in rows
        if "sift" in row
    ]
    return "\n".join(lines) + "\n"


def manual_page(binary: str) -> str:
    return subprocess.run([binary, "help", "--man"], capture_output=True, text=True, check=True).stdout


def size_of(room: str) -> tuple[int, int]:
    """(files, lines to the nearest hundred) of the sources, including tables."""
    files = [
        path
        for path in (ROOT / (room if "/" in room else f"src/{room}")).rglob("*")
        if path.suffix in (".h", ".cpp", ".inc")
    ]
    return len(files), round(sum(path.read_text().count("\n") for path in files), -2)


def rooms_page() -> str:
    """docs/concepts/how-it-works.md with the table of rooms."""
    lines = ["| floor | room | what it holds | files | lines |", "|---|---|---|---|---|"]
    for room in read_rooms(ROOT / "rooms.txt"):
        if room.floor is not None:
            files, count = size_of(room.name)
            lines.append(f"| {room.floor} | `{room.name}` | {room.holds} | {files} | {count} |")
    before, _, rest = (ROOT / "docs/concepts/how-it-works.md").read_text().partition(ROOMS_BEGIN)
    return before + ROOMS_BEGIN + "\n".join(lines) + "\n" + ROOMS_END + rest.partition(ROOMS_END)[2]


def main() -> int:
    binary, check = sys.argv[1], "--check" in sys.argv
    stale = 0
    pages = {
        "docs/reference/errors.md": errors_page(),
        "docs/reference/options.md": options_page(binary),
        "docs/reference/tasks.md": tasks_page(binary),
        "docs/reference/routes.md": routes_page(binary),
        "docs/reference/python-api.md": python_page(),
        "docs/deberta.1": manual_page(binary),
        "docs/concepts/how-it-works.md": rooms_page(),
        "docs/concepts/rooms.svg": charts.svg(binary, picture(read_rooms(ROOT / "rooms.txt"))),
        **performance_page.files(performance_page.load_kinds(), binary),
    }
    for name, text in pages.items():
        path = ROOT / name
        if check:
            if not path.exists() or path.read_text() != text:
                print(f"{name}: stale; run tools/make_docs.py {binary}")
                stale = 1
        else:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
    return stale


if __name__ == "__main__":
    sys.exit(main())
