#!/usr/bin/env python3
"""The checks that need no test: format, layers, comments, pages and tables that follow from something else. One table for the gate and for `./test --changed`.

checks.py NAME...: runs those named. The last line is `N passed, N failed`."""
import dataclasses
import pathlib
import re
import shlex
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
PROGRAM = "build/dev/deberta"


@dataclasses.dataclass(frozen=True)
class Check:
    name: str
    files: str         # regular expression: it is run when one of these has changed
    command: str       # {files}: all of these that are there, or those that have changed
    needs: str = ""    # "program", "python" (.venv) or "clang-format-14"


CHECKS = [
    Check("format", r"(src|train|include|examples|tests|fuzz)/.*\.(cpp|h)", "clang-format-14 --dry-run --Werror {files}", "clang-format-14"),
    Check("layers", r"(src|train|include)/.*|rooms\.txt|tools/(check_layers|rooms)\.py", "python3 tools/check_layers.py"),
    Check("comments", r".*\.(cpp|h|inc|cu|cuh|js|py|md|cmake|txt|toml|sh)|[^.]+|\.ci/run", "python3 tools/check_comments.py"),
    Check("errors", r"include/deberta/error_codes\.inc|tests/.*\.cpp|tools/check_errors\.py", "python3 tools/check_errors.py"),
    Check("mutations", r"(src|train)/.*|tests/.*_test\.cpp|tools/mutat.*|docs/mistakes\.md", "tools/mutate --check"),
    Check("python", r".*\.py|tools/mutate", "{python} -m pyflakes {files}", "python"),
    Check("shell", r"run|test|\.ci/run|tools/long_checks|.*\.sh", "for file in {files}; do bash -n $file || exit; done"),
    Check("pages", r"docs/.*|README\.md|rooms\.txt|include/deberta/error_codes\.inc|src/(options|metrics)/.*|bench/.*|tools/(make_docs|rooms|rooms_picture|check_errors)\.py",
          f"python3 tools/make_docs.py {PROGRAM} --check", "program"),
    Check("tables of plans", r"plans/.*|docs/learning\.md|docs/ablations\.svg|bench/ablation_tables\.py|train/ablation/.*",
          f"python3 bench/ablation_tables.py {PROGRAM} --check", "training program"),
    Check("goldens", r"tests/golden/model/.*|tools/goldens/.*", "{python} tools/goldens/make.py tests/golden/model --check", "python"),
]


def chosen(check: Check, files: list[str]) -> list[str]:
    return [name for name in files if re.fullmatch(check.files, name)]


def command_of(check: Check, files: list[str]) -> str:
    """files: the names that stand for {files}."""
    return check.command.replace("{files}", " ".join(map(shlex.quote, files))).replace("{python}", ".venv/bin/python")


def run(check: Check, files: list[str]) -> tuple[int, str]:
    done = subprocess.run(["bash", "-o", "pipefail", "-c", command_of(check, files)], cwd=ROOT, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, errors="replace")
    return done.returncode, done.stdout


def main() -> int:
    named = {check.name: check for check in CHECKS}
    if wrong := [name for name in sys.argv[1:] if name not in named]:
        print(f"checks: unknown check {wrong[0]}; expected some of {', '.join(named)}", file=sys.stderr)
        return 2
    tracked = subprocess.run(["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True).stdout.splitlines()
    failed = 0
    for name in sys.argv[1:]:
        code, told = run(named[name], [file for file in chosen(named[name], tracked) if (ROOT / file).is_file()])
        print("\n".join(told.splitlines()[-100:]) or f"{name}: no problem", flush=True)
        failed += code != 0
    print(f"{len(sys.argv) - 1 - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
