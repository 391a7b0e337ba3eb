"""docs/concepts/deberta.md: its commands run, and its pictures are what they draw."""

import pathlib
import re
import sys
import xml.etree.ElementTree

import pytest

from models import ROOT

sys.path.insert(0, str(ROOT / "tools"))
from concept_pictures import PAGE, PICTURES, commands, picture_of

RUNS = [words for words in commands() if words[0] != "report"]  # which needs two runs


def texts(path):
    """The words of a picture without its numbers, which differ in their last digits by processor."""
    tree = xml.etree.ElementTree.parse(path)
    found = [element.text for element in tree.iter() if element.tag.endswith(("}text", "}title")) and element.text]
    return [text for text in found if re.search("[A-Za-z]{3}", text)]


@pytest.mark.parametrize("words", RUNS, ids=lambda words: " ".join(words[:6]).replace("/", "."))
def test_every_command_of_the_page_runs(words, deberta, tmp_path):
    picture = picture_of(words)
    made = tmp_path / pathlib.Path(picture or "none").name
    done = deberta(*(made if word == picture else word for word in words), cwd=ROOT)
    assert done.returncode == 0, done.stderr
    if picture is None:
        assert done.stdout.strip()
    else:
        assert texts(made) == texts(ROOT / picture)


def test_every_picture_is_made_by_a_command_and_shown():
    shown = set(re.findall(r"\]\((pictures/[\w-]+\.svg)\)", PAGE.read_text()))
    made = {picture_of(words).removeprefix("docs/concepts/") for words in RUNS if picture_of(words)}
    kept = {f"pictures/{path.name}" for path in (ROOT / PICTURES).glob("*.svg")}
    assert shown == made == kept
