#!/usr/bin/env python3
"""Fails when an error code has no test: every row of include/deberta/error_codes.inc needs an EXPECT_ERROR(..., kCode,
...)."""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent


def error_rows() -> list[dict]:
    """The rows of the table: enumerator, name, exit code, meaning, remedy."""
    text = (ROOT / "include/deberta/error_codes.inc").read_text()
    row = re.compile(r'^DEBERTA_ERROR\((\w+), "([^"]+)", (\d), "((?:[^"\\]|\\.)*)", "((?:[^"\\]|\\.)*)"\)$', re.M)
    keys = ("code", "name", "exit", "meaning", "remedy")
    rows = [dict(zip(keys, match.groups())) for match in row.finditer(text)]
    assert len(rows) == text.count("\nDEBERTA_ERROR("), "a row of error_codes.inc is not in the form that is read here"
    return rows


def main() -> int:
    tests = "\n".join(p.read_text() for p in (ROOT / "tests").rglob("*.cpp"))
    tested = set(re.findall(r"EXPECT_ERROR\((?:[^;]*?),\s*(k\w+),", tests, re.S))
    missing = [row["code"] for row in error_rows() if row["code"] not in tested]
    for code in missing:
        print(f'error code {code}: no test; write EXPECT_ERROR(statement, {code}, "part of the message")')
    if not missing:
        print(f"errors: {len(error_rows())} codes, each with a test")
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
