"""tools/check_comments.py in a small repository: citations and links that point nowhere, legends within a sentence,
sources that open without a word."""

import pathlib

import pytest

PAGE = """# A page

## Far distances

## `Code` and [a link](page.md), twice

<a id="pooling"></a>

## Far distances
"""


@pytest.fixture
def check(run, write):
    """check(file, text, {file: text}) -> (exit code, lines), with these files in the repository"""

    def go(name="src/base/one.cpp", text="// One.\n", more=()):
        write(".gitignore", "tools/\n")  # which cite pages of this repository
        write("rooms.txt", "base 0 library program always things\ntrain/ops 0 torch program train things\n")
        write("docs/concepts/page.md", PAGE)
        write("docs/kernels.md", "# Kernels\n\n    # no heading\n")
        for path, content in {name: text, **dict(more)}.items():
            write(path, content)
        return run("tools/check_comments.py")

    return go


RIGHT = [
    "page.md",
    "page.md#far-distances",
    "page.md#far-distances-1",
    "page.md#code-and-a-link-twice",
    "page.md#pooling",
    "docs/kernels.md",
    "docs/concepts/page.md#pooling",
    "NAME.md",
    "https://example.org/other.md",
    "concepts/page.md",
]
WRONG = [
    ("other.md", "no page other.md in this repository"),
    ("page.md#near", "page.md has no section #near"),
    ("docs/kernels.md#no-heading", "docs/kernels.md has no section #no-heading"),
    ("page.md 5.1", "page.md 5.1: cite a section by its name, as page.md#section"),
    ("page.md section 2", "page.md 2: cite a section by its name, as page.md#section"),
]
COMMENTS = [
    ("src/base/one.cpp", "// One.\nint a;  // as {} says\n"),
    ("src/base/one.h", "int a;\n/* as {}\n   says */\n"),
    ("bench/one.py", '"""One.\nas {} says"""\n'),
    ("bench/two.py", "A = 1\nB = 2  # as {} says\n"),
    ("cmake/one.cmake", "set(a)\nset(b)  # as {} says\n"),
    ("bench/three", "#!/usr/bin/env bash\n# as {} says\n"),
]


@pytest.mark.parametrize("name, text", COMMENTS)
def test_a_citation_leads_to_a_page_or_a_section_of_one(check, name, text):
    path = pathlib.PurePath(name)
    right, wrong = (
        {str(path.with_stem(f"{path.stem}{n}")): text.format(cited) for n, cited in enumerate(citations)}
        for citations in (RIGHT, [cited for cited, _ in WRONG])
    )
    code, lines = check(more=right)
    assert code == 0, lines
    lines = [f"{file}:2: {why}" for file, (_, why) in zip(wrong, WRONG)]
    assert check(more=wrong) == (1, lines)


@pytest.mark.parametrize(
    "name, text",
    [
        ("src/base/one.cpp", '// One.\nconst char* name = "other.md";  // "a" // b\n'),
        ("bench/one.py", 'NAME = "other.md"\n'),
    ],
)
def test_a_name_in_a_literal_is_no_citation(check, name, text):
    assert check(name, text)[0] == 0


@pytest.mark.parametrize(
    "target",
    [
        "concepts/page.md",
        "concepts/page.md#pooling",
        "concepts",
        "#more",
        "https://example.org/other.md",
        "mailto:a@b.c",
    ],
)
def test_a_link_of_a_page_leads_to_what_is_there(check, target):
    assert check("docs/one.md", f"# More\n\n[text]({target})\n")[0] == 0


@pytest.mark.parametrize(
    "target, why",
    [
        ("page.md", "which is not there"),
        ("concepts/page.md#near", "where no section has that name"),
        ("#less", "where no section has that name"),
    ],
)
def test_a_link_of_a_page_that_leads_nowhere_is_red(check, target, why):
    assert check("docs/one.md", f"# More\n\n[text]({target})\n") == (1, [f"docs/one.md:3: a link to {target}, {why}"])
    assert check("docs/one.md", f"# More\n\n`[text]({target})`\n\n    [text]({target})\n")[0] == 0, "code"


def test_a_page_cites_by_path_and_never_by_number(check):
    assert check("docs/one.md", "A run leaves table.md.\n")[0] == 0
    assert check("docs/one.md", "See `docs/other.md`.\n") == (
        1,
        ["docs/one.md:1: no page docs/other.md in this repository"],
    )
    assert check("docs/one.md", "See kernels.md 4.1.\n") == (
        1,
        ["docs/one.md:1: kernels.md 4.1: cite a section by its name, as kernels.md#section"],
    )


def test_a_path_of_sources_in_a_page_leads_to_files(check, write):
    write("src/base/file.h", "#pragma once\n")
    for path in ("src/base/file.h", "src/base/file", "src/base", "src/base/", "src/ROOM/file.h", "other/file.h"):
        assert check("docs/one.md", f"See `{path}`.\n")[0] == 0, path
    assert check("docs/one.md", "\nSee `src/base/files`.\n") == (
        1,
        ["docs/one.md:2: no src/base/files in this repository"],
    )


@pytest.mark.parametrize(
    "text",
    [
        "// T tokens  D hidden",
        "// T packed tokens, all of them keys  N rows  D = H K  R rows of the table",
        "int a;  // V words  E columns",
        "// Q = y W    K = x W",
        "// fp32      those\n// A block:  S becomes P",
    ],
)
def test_a_legend_on_a_line_of_its_own_is_green(check, text):
    assert check("src/base/one.h", text + "\n")[0] == 0


@pytest.mark.parametrize(
    "text",
    [
        "// The norm of a row. T tokens  D hidden",
        "// tokens  D hidden",
        "// T tokens  D hidden. Rows are apart.",
        "// T tokens  D hidden  and more",
    ],
)
def test_a_legend_within_a_sentence_is_red(check, text):
    assert check("src/base/one.h", f"#pragma once\n{text}\n") == (
        1,
        [f"src/base/one.h:2: a legend stands on a line of its own, two spaces between its pairs: {text[3:]}"],
    )


def test_a_comment_has_at_most_120_columns(check):
    assert check("src/base/one.h", "// " + "a" * 117 + "\n")[0] == 0
    assert check("src/base/one.h", "int a;  // " + "a" * 117 + "\n") == (
        1,
        ["src/base/one.h:1: expected a comment of at most 120 columns, got 128"],
    )
    assert check("src/base/one.h", 'const char* a = "http://' + "a" * 117 + '";\n')[0] == 0, "a literal"


def test_a_source_says_what_it_is_about(check):
    for name in ("src/base/one.cpp", "train/ops/one.cpp"):
        assert check(name, '#include "one.h"\n') == (
            1,
            [f"{name}:1: expected a comment that says what the file is about"],
        )
        assert check(name)[0] == 0
    assert check("tests/base/one_test.cpp", '#include "one.h"\n')[0] == 0


def test_the_map_of_rooms_has_every_room(check, write):
    write("src/base/README.md", "# base\n")
    write("train/ops/README.md", "# train/ops\n")
    assert (
        check("docs/concepts/architecture.md", "[base](../../src/base/README.md) [ops](../../train/ops/README.md)\n")[0]
        == 0
    )
    missing = "docs/concepts/architecture.md: the map of rooms has no link to train/ops/README.md"
    assert check("docs/concepts/architecture.md", "[base](../../src/base/README.md)\n") == (1, [missing])
