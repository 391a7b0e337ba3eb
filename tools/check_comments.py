#!/usr/bin/env python3
"""Fails on a comment or a page that points nowhere, on a legend that is not on a line of its own, and on a source that
does not say what it is about.

A citation is a page, or a section of one: `kernels.md#guarantees`, the section by the name that GitHub gives its
heading. It stands in a comment of C++, CMake, a shell or a table, or in a comment or docstring of Python; in a page it
is a link, or has a path or a section. A page is looked for from the root, from the file's own folder, in docs/, in
docs/concepts/ NAME.md stands for any. Sections have no numbers: they would change. In a page a path of the sources,
`src/engine/layer`, leads to a file or a folder, or to files of that name with .h, .cpp or .py.

A legend says what letters of shapes mean, two or more pairs with two spaces between:
T packed tokens  D hidden

No line with a comment of C++ is longer than 120 columns.

The map of rooms in docs/concepts/architecture.md has every room of rooms.txt."""

import ast
import functools
import io
import pathlib
import re
import subprocess
import sys
import tokenize

from check_layers import TOKEN
from rooms import read_rooms

ROOT = pathlib.Path(__file__).resolve().parent.parent
C_LIKE = {".cpp", ".h", ".inc", ".cu", ".cuh", ".js"}
HASHED = {".cmake", ".txt", ".toml", ".sh", ""}  # a comment begins with #
PLACES = ("", "docs", "docs/concepts")
MAP = "docs/concepts/architecture.md"
COLUMNS = 120  # of a comment of C++: the formatter folds code and leaves comments as they are
CITATION = re.compile(r"(?<![\w/.-])((?:[\w.-]+/)*[\w-]+\.md)(?:#([\w-]+)|(?: section)? (\d+(?:\.\d+)*))?")
LINK = re.compile(r'\]\(([^)\s]+)\)|(?:src|href)="([^"]+)"')
SOURCE = re.compile(r"`((?:src|train|include|tools|tests|bench|fuzz|cmake|plans|examples|deploy)/[\w./-]+)`")
ENDINGS = ("", ".h", ".cpp", ".py")
HEADING = re.compile(r"^#{1,6} +(.+?) *#*$", re.M)
ANCHOR = re.compile(r'<a (?:id|name)="([^"]+)"')
CODE = re.compile(r"^```.*?^```|^(?: {4}|\t).*$|`[^`\n]*`", re.M | re.S)
PAIR = re.compile(r"[A-Z] [a-z]")
PAIRS_ALONE = re.compile(r"[A-Z](?: [a-z]| = )(?:(?!\. ).)*[^.]")


def python_texts(text: str):
    """(line, text) of comments and of the lines of docstrings."""
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            yield token.start[0], token.string[1:]
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef)) and ast.get_docstring(node) is not None:
            first = node.body[0]
            yield from enumerate(first.value.value.splitlines(), first.lineno)


def is_python(path: pathlib.Path, text: str) -> bool:
    return path.suffix == ".py" or (path.suffix == "" and "python" in text.partition("\n")[0])


def comments_of(path: pathlib.Path, text: str):
    """(line, text) of each line of a comment."""
    if path.suffix in C_LIKE:
        for token in TOKEN.finditer(text):
            if token[0].startswith(("//", "/*")):
                line = text.count("\n", 0, token.start()) + 1
                yield from ((line + n, part.strip("/*")) for n, part in enumerate(token[0].split("\n")))
    elif is_python(path, text):
        yield from python_texts(text)
    elif path.suffix in HASHED:
        for number, line in enumerate(text.splitlines(), 1):
            if match := re.search(r"(?:^|\s)#(.*)", line):
                yield number, match[1]


def without_code(text: str) -> str:
    """A page with blanks in place of its code; lines keep their numbers."""
    return CODE.sub(lambda match: re.sub(r"[^\n]", " ", match[0]), text)


def section_name(heading: str) -> str:
    """As GitHub makes it."""
    plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).lower()
    return re.sub(r"[^\w\- ]", "", plain).replace(" ", "-")


@functools.cache
def sections_of(page: pathlib.Path) -> set[str]:
    text = re.sub(r"^```.*?^```", "", page.read_text(), flags=re.M | re.S)
    names, found = [section_name(heading) for heading in HEADING.findall(text)], set(ANCHOR.findall(text))
    for number, name in enumerate(names):
        earlier = names[:number].count(name)
        found.add(f"{name}-{earlier}" if earlier else name)
    return found


def find_page(name: str, folder: pathlib.Path) -> pathlib.Path | None:
    return next(
        (path for place in (folder, *(ROOT / place for place in PLACES)) if (path := place / name).is_file()), None
    )


def wrong_citation(name: str, section: str | None, number: str | None, folder: pathlib.Path) -> str:
    """ "" where it is right."""
    page = find_page(name, folder)
    if page is None and "NAME" in name:
        return ""
    if page is None:
        return f"no page {name} in this repository"
    if number:
        return f"{name} {number}: cite a section by its name, as {name}#section"
    return f"{name} has no section #{section}" if section and section not in sections_of(page) else ""


def wrong_link(target: str, page: pathlib.Path) -> str:
    # models/NAME.md becomes models/NAME/README.md.
    folder = page.with_suffix("") if page.parent == ROOT / "models" else page.parent
    name, _, section = target.partition("#")
    path = folder / name if name else page
    if not path.exists():
        return f"a link to {target}, which is not there"
    return (
        f"a link to {target}, where no section has that name"
        if section and path.suffix == ".md" and section not in sections_of(path)
        else ""
    )


def pointers_of_page(page: pathlib.Path, text: str):
    """(line, what is wrong or "") of each link, of citations that have a path or a section, and of paths of sources."""
    plain = without_code(text)
    for match in LINK.finditer(plain):
        target = match[1] or match[2]
        if "://" not in target and not target.startswith("mailto:"):
            yield plain.count("\n", 0, match.start()) + 1, wrong_link(target, page)
    for match in CITATION.finditer(LINK.sub("", text)):
        if match[3] or match[2] or match[1].startswith("docs/"):
            yield text.count("\n", 0, text.find(match[0])) + 1, wrong_citation(*match.groups(), page.parent)
    for match in SOURCE.finditer(text):
        is_there = re.search(r"[A-Z]{2}", match[1]) or any((ROOT / (match[1] + ending)).exists() for ending in ENDINGS)
        yield text.count("\n", 0, match.start()) + 1, "" if is_there else f"no {match[1]} in this repository"


def is_legend(comment: str) -> bool:
    return any(PAIR.match(item) for item in re.split(r" {2,}", comment.strip())[1:])


def stands_alone(legend: str) -> bool:
    return all(PAIRS_ALONE.fullmatch(item) for item in re.split(r" {2,}", legend.strip()))


def missing_in_map() -> list[str]:
    if not (ROOT / MAP).exists():
        return []
    text = (ROOT / MAP).read_text()
    readmes = [
        f"{room.name if '/' in room.name else f'src/{room.name}'}/README.md"
        for room in read_rooms(ROOT / "rooms.txt")
        if room.floor is not None
    ]
    return [f"{MAP}: the map of rooms has no link to {readme}" for readme in readmes if f"{readme})" not in text]


def check(path: pathlib.Path, found: list[str], counts: dict[str, int]) -> None:
    name, text = path.relative_to(ROOT).as_posix(), path.read_text(errors="replace")
    if path.suffix == ".md":
        for line, wrong in pointers_of_page(path, text):
            counts["pointers"] += 1
            found += [f"{name}:{line}: {wrong}"] if wrong else []
        return
    if path.suffix in (".cpp", ".h", ".cu", ".cuh"):
        for line, words in enumerate(text.split("\n"), 1):
            if len(words) > COLUMNS and "//" in words and not re.search(r'"[^"]*//', words):
                found.append(f"{name}:{line}: expected a comment of at most {COLUMNS} columns, got {len(words)}")
    for line, comment in comments_of(path, text):
        for match in CITATION.finditer(comment):
            counts["pointers"] += 1
            if wrong := wrong_citation(*match.groups(), path.parent):
                found.append(f"{name}:{line}: {wrong}")
        if is_legend(comment):
            counts["legends"] += 1
            if not stands_alone(comment):
                found.append(
                    f"{name}:{line}: a legend stands on a line of its own, two spaces between its pairs: "
                    f"{comment.strip()}"
                )
    if re.match(r"(src|train)/.*\.cpp$", name) and not text.startswith("//"):
        found.append(f"{name}:1: expected a comment that says what the file is about")


def main() -> int:
    listed = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True
    ).stdout.splitlines()
    files = [
        ROOT / name
        for name in listed
        if pathlib.PurePath(name).suffix in C_LIKE | HASHED | {".md", ".py"} and not name.startswith("tests/golden/")
    ]
    found, counts = missing_in_map(), {"pointers": 0, "legends": 0}
    for path in files:
        if path.is_file():
            check(path, found, counts)
    print(
        "\n".join(found)
        or f"comments: {counts['pointers']} citations and links, {counts['legends']} legends, no problem"
    )
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
