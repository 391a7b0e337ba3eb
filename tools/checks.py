#!/usr/bin/env python3
"""The checks that need no test: format, layers, comments, pages and tables that follow from something else. One table
for the gate and for `./test --changed`.

checks.py NAME... [--fix]: runs those named; with --fix it first puts right what a tool can. The last line is
`N passed, N failed`."""

import dataclasses
import pathlib
import re
import shlex
import subprocess
import sys

from private_python import private_python

ROOT = pathlib.Path(__file__).resolve().parent.parent
PROGRAM = "build/dev/deberta"
LINT = "{python} -m ruff check --no-cache --output-format concise"
FORMAT = "{python} -m ruff format --no-cache"


@dataclasses.dataclass(frozen=True)
class Check:
    name: str
    files: str  # regular expression: it is run when one of these has changed
    command: str  # {files}: all of these that are there, or those that have changed
    needs: str = ""  # "program", "training", "python" (.venv) or a Debian package
    fix: str = ""  # puts right what a tool can
    is_by_includes: bool = False  # it is also run when a file has changed that one of these includes, directly or not


CHECKS = [
    Check(
        "format",
        r"(src|train|python|include|examples|tests|fuzz)/.*\.(cpp|h)",
        "clang-format-14 --dry-run --Werror {files}",
        "clang-format-14",
        "clang-format-14 -i {files}",
    ),
    Check(
        "layers",
        r"(src|train|python|include)/.*|rooms\.txt|tools/(check_layers|rooms)\.py",
        "python3 tools/check_layers.py",
    ),
    Check(
        "comments",
        r".*\.(cpp|h|inc|cu|cuh|js|py|md|cmake|txt|toml|sh)|[^.]+|\.ci/run",
        "python3 tools/check_comments.py",
    ),
    Check(
        "errors",
        r"include/deberta/error_codes\.inc|tests/.*\.cpp|tools/check_errors\.py",
        "python3 tools/check_errors.py",
    ),
    Check(
        "mutations",
        r"(src|train)/.*|tests/.*_test\.cpp|tools/mutat.*|docs/records/mistakes\.md",
        "tools/mutate --check",
    ),
    Check(
        "python",
        r".*\.py|tools/mutate|tools/release|models/make|ruff\.toml|tests/requirements\.txt",
        f"{LINT}; lint=$?; {FORMAT} --check && exit $lint",
        "python",
        f"{LINT} --fix; {FORMAT}",
    ),
    Check(
        "syntax",
        r"(fuzz|examples|tests/library/project)/.*\.cpp",  # what no build of the preset dev compiles
        "python3 tools/check_clang.py --late {files}",
        "clang-14",
        is_by_includes=True,
    ),
    Check("web", r"src/web/.*\.(js|css|html)|tools/check_web\.py", "python3 tools/check_web.py"),
    Check(
        "shell", r"run|test|\.ci/run|tools/long_checks|.*\.sh", "for file in {files}; do bash -n $file || exit; done"
    ),
    Check(
        "pages",
        r"docs/.*|README\.md|rooms\.txt|include/deberta/error_codes\.inc|src/(options|metrics|chart)/.*"
        r"|src/serve/openapi/.*|python/deberta/.*|bench/.*"
        r"|tools/(check_pages|make_docs|reference_pages|rooms|rooms_picture|check_errors)\.py",
        f"python3 tools/check_pages.py; words=$?; python3 tools/make_docs.py {PROGRAM} --check && exit $words",
        "program",
    ),
    Check(
        "tables of plans",
        r"plans/.*|docs/records/ablations\.(md|svg)|bench/(ablation_tables|charts)\.py"
        r"|train/ablation/.*|src/chart/.*",
        f"python3 bench/ablation_tables.py {PROGRAM} --check",
        "training program",
    ),
    Check(
        "goldens",
        r"tests/golden/model/.*|tools/goldens/.*",
        "{python} tools/goldens/make.py tests/golden/model --check",
        "python",
    ),
]


def listed_files() -> list[str]:
    """The tracked and untracked files of the repository."""
    words = ["git", "ls-files", "-co", "--exclude-standard"]
    return subprocess.run(words, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True).stdout.splitlines()


def chosen(check: Check, files: list[str]) -> list[str]:
    return [name for name in files if re.fullmatch(check.files, name)]


def run(check: Check, files: list[str], is_fix: bool = False) -> tuple[int, str]:
    """files: the names that stand for {files}."""
    command = check.fix if is_fix else check.command
    command = command.replace("{files}", " ".join(map(shlex.quote, files))).replace("{python}", ".venv/bin/python")
    done = subprocess.run(
        ["bash", "-o", "pipefail", "-c", command],
        cwd=ROOT,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
    )
    return done.returncode, done.stdout


def main() -> int:
    named = {check.name: check for check in CHECKS}
    names = [word for word in sys.argv[1:] if word != "--fix"]
    if wrong := [name for name in names if name not in named]:
        print(f"checks: unknown check {wrong[0]}; expected some of {', '.join(named)}", file=sys.stderr)
        return 2
    listed = listed_files()
    if any("python" in named[name].needs for name in names):
        private_python()
    failed = 0
    for name in names:
        files = [file for file in chosen(named[name], listed) if (ROOT / file).is_file()]
        if "--fix" in sys.argv and named[name].fix:
            run(named[name], files, is_fix=True)
        code, told = run(named[name], files)
        print("\n".join(told.splitlines()[-100:]) or f"{name}: no problem", flush=True)
        failed += code != 0
    print(f"{len(names) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
