"""tools/site/make.py: what it does with links, and what it finds that a site would fetch."""

import importlib.util

import pytest

from conftest import ROOT


@pytest.fixture(scope="module")
def make():
    spec = importlib.util.spec_from_file_location("make_site", ROOT / "tools/site/make.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_links_within_the_pages_stay_and_those_to_other_files_become_names(make):
    page = ROOT / "docs/guides/gpu.md"
    kept = "[record](../records/gpu-attention-h200.md) [a](#top) [b](https://example.org/x)"
    assert make.within(page, kept) == kept
    assert make.within(page, "[changes](../../CHANGELOG.md)") == "changes (`CHANGELOG.md`)"
    assert make.within(page, "[plans](../../plans)") == "plans (`plans`)"
    assert make.within(page, "```csv rows.csv\na\n```\n") == "```csv\na\n```\n"


def test_every_page_has_one_place_in_the_navigation(make):
    def names(entries):
        for entry in entries:
            for value in entry.values():
                yield from [value] if isinstance(value, str) else names(value)

    placed = list(names(make.navigation()))
    pages = [path.relative_to(ROOT / "docs").as_posix() for path in (ROOT / "docs").rglob("*.md")]
    assert sorted(placed) == sorted(pages)


@pytest.mark.parametrize(
    "name, text",
    [
        ("one.html", '<link rel="stylesheet" href="https://fonts.example/x.css">'),
        ("one.html", '<script src="//cdn.example/x.js"></script>'),
        ("sub/one.css", "@font-face { src: url(https://fonts.example/x.woff2) }"),
        ("one.css", '@import "https://fonts.example/x.css";'),
    ],
)
def test_what_a_site_would_fetch_is_found(make, tmp_path, name, text):
    (tmp_path / "sub").mkdir()
    (tmp_path / "fine.html").write_text(
        '<a href="https://example.org">x</a><img src="x.png"><script src="x.js"></script>'
    )
    (tmp_path / "fine.css").write_text("@font-face { src: url(../fonts/x.woff2) }")
    assert make.fetched(tmp_path) == []
    (tmp_path / name).write_text(text)
    assert len(make.fetched(tmp_path)) == 1 and make.fetched(tmp_path)[0].startswith(f"{name}: ")
