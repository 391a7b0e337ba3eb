#!/usr/bin/env python3
"""Fails when the pages of docs/ grow beyond what a person reads, or when one of them cannot be found.

* A page has at most 2,500 words by hand: all but code and what a tool made.
* Outside docs/records the pages have at most 35,000 of them together; there the tables of docs/reference do not count,
  since they are the reference itself.
* docs/README.md has a link to every page, but for those that hang on one of its own name: records/performance.md leads
  to records/performance/*.md."""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"
PAGE_WORDS, ALL_WORDS = 2500, 35000
FIRST_LINES = 8  # one of them says that a page is generated
GENERATED = re.compile(r"[Gg]enerated\b.*\btools/make_docs\.py", re.S)
BLOCK = re.compile(r"<!-- [^>]*by (?:tools|bench)/\w+\.py -->.*?<!-- end of [^>]*-->", re.S)
CODE = re.compile(r"^```.*?^```$|^(?: {4}|\t)[^\n]*$|<!--.*?-->", re.M | re.S)
LINK = re.compile(r"\]\(([^)#\s]+\.md)[^)]*\)")


def is_generated(text: str) -> bool:
    return bool(GENERATED.search("\n".join(text.splitlines()[:FIRST_LINES])))


def words_of(text: str, has_tables: bool = True) -> int:
    """Those written by hand."""
    if is_generated(text):
        return 0
    lines = CODE.sub("", BLOCK.sub("", text)).splitlines()
    kept = lines if has_tables else [line for line in lines if not line.startswith("|")]
    return sum(bool(re.search(r"\w", word)) for line in kept for word in line.split())


def linked(index: pathlib.Path) -> set[pathlib.Path]:
    return {(index.parent / target).resolve() for target in LINK.findall(index.read_text())}


def problems() -> tuple[list[str], int]:
    """What is wrong, and the words that count together."""
    found, total = [], 0
    index = linked(DOCS / "README.md")
    for path in sorted(DOCS.rglob("*.md")):
        name, text = path.relative_to(ROOT).as_posix(), path.read_text()
        part = path.relative_to(DOCS).parts[0]
        if (words := words_of(text)) > PAGE_WORDS:
            found.append(f"{name}: expected at most {PAGE_WORDS} words by hand, got {words}; split it")
        total += words_of(text, has_tables=part != "reference") if part != "records" else 0
        is_found = path in index or path.parent.with_suffix(".md") in index or path == DOCS / "README.md"
        if not is_found:
            found.append(f"{name}: expected a link to it in docs/README.md, got none")
    if total > ALL_WORDS:
        found.append(f"docs: expected at most {ALL_WORDS} words by hand outside records, got {total}")
    return found, total


def main() -> int:
    found, total = problems()
    count = len(list(DOCS.rglob("*.md")))
    print("\n".join(found) or f"pages: {count} pages, {total} words by hand outside records, no problem")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
