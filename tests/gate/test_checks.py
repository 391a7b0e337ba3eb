"""tools/checks.py in a stand-in repository: what is checked, and what fails."""

import hashlib
import shutil
import sys

import pytest

import checks
import gate
from conftest import ROOT


@pytest.fixture
def style_of_python(repository, write):
    """The stand-in has this repository's rules, an interpreter that has ruff, and no other Python."""
    write(".gitignore", "build/\ntools/\n")
    shutil.copy(ROOT / "ruff.toml", repository)
    wanted = write("tests/requirements.txt", "# none\n")
    write(".venv/installed.sha256", hashlib.sha256(wanted.read_bytes()).hexdigest())
    write(".venv/bin/python", f'#!/bin/sh\nexec {sys.executable} "$@"\n', is_program=True)


def test_each_named_check_counts_and_a_failing_one_is_red(run, write):
    write("run.sh", "echo fine\n")
    assert run("tools/checks.py", "shell") == (0, ["shell: no problem", "1 passed, 0 failed"])
    write("broken.sh", "if true\n")
    code, lines = run("tools/checks.py", "shell", "shell")
    assert code == 1 and lines[-1] == "0 passed, 2 failed" and any("broken.sh" in line for line in lines)


def test_an_unknown_check_is_refused(run):
    code, lines = run("tools/checks.py", "spelling")
    assert code == 2 and lines[-1].startswith("checks: unknown check spelling; expected some of format, layers")


def test_every_check_is_part_of_the_gate():
    commands = " ".join(part.command for part in gate.PARTS if "tools/checks.py" in part.command)
    assert [check.name for check in checks.CHECKS if check.name not in commands] == []


@pytest.mark.parametrize(
    "text, wrong",
    [
        ("import os\n", "F401"),
        (f"A = {'1 + ' * 40}1\n", "would be reformatted"),
        (f"# {'long ' * 25}line\n", "E501"),
        ("A = 'single quotes'\n", "would be reformatted"),
        ("import sys\nimport os\n\nprint(os, sys)\n", "I001"),
    ],
)
def test_python_out_of_style_is_red_and_fix_puts_right_what_it_can(run, write, style_of_python, text, wrong):
    assert run("tools/checks.py", "python")[0] == 0
    path = write("bench/page.py", text)
    code, lines = run("tools/checks.py", "python")
    assert code == 1 and lines[-1] == "0 passed, 1 failed" and wrong in "\n".join(lines) and path.read_text() == text
    code, lines = run("tools/checks.py", "python", "--fix")
    assert code == (1 if wrong == "E501" else 0), lines


GOOD = {
    "a.html": '<script type="module" src="a/a.js"></script>\n',
    "a.css": "body { margin: 0 auto; }\n",
    "a.js": """import { one, two } from "./b.js";

class Page {
  async open(text) {
    if (!/[;"]==/.test(text)) return `${one}: ${two({ text })}; var`;
    for (const part of [text]) {
      await this.open(part);
    }
    return text
      .trim();
  }
}

const say = (text) => {
  document.title = text;
};
new Page().open("a == b").then(say).catch((error) => { say(error.message); });
""",
    "b.js": """export const one = 1;
export function two(given) {
  let { text } = given;
  do {
    text += one;
  } while (text.length < 3);
  return text;
}
""",
    "api.js": "export const ask = (path) => fetch(path);\n",
    "c.js": 'import { ask } from "./api.js";\nconst one = ask("a");\none.then(() => {});\n',
}


@pytest.fixture
def pages(write):
    for name, text in GOOD.items():
        write(f"src/web/{name}", text)


def test_pages_in_style_are_green(run, pages):
    assert run("tools/checks.py", "web") == (0, ["web: 6 files, no problem", "1 passed, 0 failed"])


@pytest.mark.parametrize(
    "name, old, new, wrong",
    [
        ("a.js", "trim();", f"trim(); // {'long ' * 25}", "a.js:10: expected at most 120 columns"),
        ("a.css", "0 auto", "0  \tauto", "a.css:1: expected no tab"),
        ("a.html", "</script>", "</script> ", "a.html:1: expected no blank at the end of the line"),
        ("a.css", "}\n", "}", "a.css:1: expected one line feed at the end of the file"),
        ("b.js", "let { text }", "var { text }", "b.js:3: expected const or let, got var"),
        ("b.js", "length < 3", "length == 3", "b.js:6: expected ===, got =="),
        ("b.js", "text += one;", 'text += fetch("b");', "b.js:5: expected requests in api.js alone, got fetch"),
        ("b.js", "return text;", "return text", "b.js:7: expected a semicolon"),
        ("a.js", "open(part);", "open(part)", "a.js:7: expected a semicolon"),
        ("a.js", ".trim();", ".trim()", "a.js:10: expected a semicolon"),
        ("a.js", "};\nnew", "}\nnew", "a.js:16: expected a semicolon"),
        ("a.js", "(error.message);", "(error.message)", "a.js:17: expected a semicolon"),
        ("a.js", "import { one, two }", "import * as b", "a.js:1: expected an import on one line"),
        ("a.js", "import { one, two }", "import { one, three }", "a.js:1: b.js exports no three"),
        ("a.js", "${one}: ", "", "a.js:1: one is imported and not used"),
        ("b.js", "export function", "export default function", "b.js:2: expected export before a declaration"),
        (
            "b.js",
            "export function",
            "export const rest = 1;\nexport function",
            "b.js:2: rest is exported and not imported",
        ),
        ("a.js", "const say", "const ask = 1, two = 2;\nconst say", "two is a top-level name of a.js too"),
    ],
)
def test_a_page_out_of_style_is_red(run, write, pages, name, old, new, wrong):
    assert GOOD[name].count(old) == 1
    write(f"src/web/{name}", GOOD[name].replace(old, new))
    code, lines = run("tools/checks.py", "web")
    assert code == 1 and wrong in "\n".join(lines), lines
