#!/usr/bin/env python3
"""The pages of docs/ as a site that needs no network when it is viewed: mkdocs, strictly, in an environment of its own.

usage: tools/site/make.py [FOLDER]      FOLDER: build/site; the pages are in FOLDER/html

The navigation is that of docs/README.md, so that a page that it does not name fails. Links to files outside of docs/
become the names of these files. The last line says how many pages there are."""

import html.parser
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import venv

ROOT = pathlib.Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
HERE = pathlib.Path(__file__).resolve().parent
LINK = re.compile(r"\[([^\]\[]*)\]\(([^)\s]+)\)")
FENCE = re.compile(r"^```(\w+) \S+$", re.M)  # with the name of a file, or no-run, which is for the tests
STYLES = re.compile(r"url\(\s*['\"]?((?:https?:)?//[^)'\"]+)|@import\s+['\"](https?://[^'\"]+)")
PARTS = {"start": "Start", "guides": "Guides", "concepts": "Concepts", "reference": "Reference", "records": "Records"}
FETCHING = {"link": "href", "script": "src", "img": "src", "source": "srcset", "iframe": "src"}  # what a browser loads


def interpreter(folder: pathlib.Path) -> pathlib.Path:
    """Of an environment with mkdocs."""
    wanted, mark = HERE / "requirements.txt", folder / "installed"
    if not mark.exists() or mark.read_text() != wanted.read_text():
        venv.create(folder, clear=True, with_pip=True)
        pip = [folder / "bin/pip", "install", "-q", "--disable-pip-version-check", "--no-deps", "-r", wanted]
        subprocess.run(pip, check=True)
        mark.write_text(wanted.read_text())
    return folder / "bin/python"


def within(page: pathlib.Path, text: str) -> str:
    """The page with the names of files in place of links that lead out of docs/, and plain fences."""

    def put(match: re.Match[str]) -> str:
        label, target = match.groups()
        path = (page.parent / target.partition("#")[0]).resolve()
        if "://" in target or target.startswith(("#", "mailto:")) or (path.is_relative_to(DOCS) and path.is_file()):
            return match[0]
        return f"{label} (`{path.relative_to(ROOT)}`)"

    return FENCE.sub(r"```\1", LINK.sub(put, text))


def title(path: pathlib.Path) -> str:
    return next(line[2:] for line in path.read_text().splitlines() if line.startswith("# ")).replace("`", "")


def navigation() -> list[object]:
    """As docs/README.md has it, part by part, each page where it is first named."""
    named = dict.fromkeys(target.partition("#")[0] for _, target in LINK.findall((DOCS / "README.md").read_text()))
    pages = [name for name in named if name.endswith(".md")]
    for name in list(pages):  # records/performance.md leads to records/performance/*.md
        below = sorted((DOCS / name).with_suffix("").glob("*.md"))
        pages[pages.index(name) + 1 : pages.index(name) + 1] = [path.relative_to(DOCS).as_posix() for path in below]
    shown: list[object] = [{"Documentation": "README.md"}]
    for part, name in PARTS.items():
        shown.append({name: [{title(DOCS / page): page} for page in pages if page.startswith(f"{part}/")]})
        if part == "guides":
            shown += [{title(DOCS / page): page} for page in pages if "/" not in page]
    return shown


class Fetches(html.parser.HTMLParser):
    """What a page loads from elsewhere."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        told = dict(attributes)
        address = told.get(FETCHING.get(tag, "")) or ""
        if address.startswith(("http:", "https:", "//")) and told.get("rel") != "canonical":
            self.found.append(address)


def fetched(site: pathlib.Path) -> list[str]:
    """What pages and styles of the site would load from elsewhere, with their names."""
    found = []
    for path in sorted(site.rglob("*.html")):
        reader = Fetches()
        reader.feed(path.read_text())
        found += [f"{path.relative_to(site)}: {address}" for address in reader.found]
    for path in sorted(site.rglob("*.css")):
        found += [f"{path.relative_to(site)}: {one or other}" for one, other in STYLES.findall(path.read_text())]
    return found


def main() -> int:
    folder = (pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "build/site").resolve()
    folder.mkdir(parents=True, exist_ok=True)
    python = interpreter(folder / "environment")
    pages = folder / "pages"
    shutil.rmtree(pages, ignore_errors=True)
    shutil.copytree(DOCS, pages, ignore=shutil.ignore_patterns("*.jsonl", "*.1", "*.ipynb"))
    for path in DOCS.rglob("*.md"):
        (pages / path.relative_to(DOCS)).write_text(within(path, path.read_text()))
    settings = folder / "mkdocs.yml"
    # JSON is YAML; what is missing in the navigation, or leads nowhere, ends a strict build
    settings.write_text(
        json.dumps(
            {
                "site_name": "deberta",
                "docs_dir": str(pages),
                "site_dir": str(folder / "html"),
                "theme": {"name": "mkdocs", "color_mode": "auto", "user_color_mode_toggle": True, "highlightjs": False},
                "use_directory_urls": False,
                "markdown_extensions": ["tables", "fenced_code", "toc", "sane_lists"],
                "plugins": ["search"],
                "validation": {"nav": {"omitted_files": "warn", "not_found": "warn"}, "links": {"anchors": "warn"}},
                "nav": navigation(),
            }
        )
    )
    words = [python, "-m", "mkdocs", "build", "--strict", "--quiet", "-f", settings]
    done = subprocess.run(words, env=os.environ | {"NO_MKDOCS_2_WARNING": "1"})
    if done.returncode:
        return 1
    if found := fetched(folder / "html"):
        print("\n".join(found[:20]))
        print(f"site: {len(found)} addresses would be fetched when it is viewed; expected none")
        return 1
    print(f"site: {len(list((folder / 'html').rglob('*.html')))} pages in {folder / 'html'}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
