"""The maps for newcomers name every room and folder, and nothing that is not there."""

import re

import pytest

from conftest import ROOT
from rooms import read_rooms

ROOMS = {room.name for room in read_rooms(ROOT / "rooms.txt")}
WORK_ROOMS = {"text_work", "serve_work", "engine_device"}  # a room once more: no source of their own


def named_in(page):
    """The paths in backquotes that begin with a folder of the repository, up to a * or a capital placeholder."""
    words = re.findall(r"`([^`\s]+)`", (ROOT / page).read_text())
    return {word for word in words if re.match(r"(src|train|tests|tools|include|python|examples|fuzz|docs)/", word)}


def test_every_room_has_a_first_change():
    rows = re.findall(r"^\| ([\w/, ]+?) \|", (ROOT / "docs/reference/first-changes.md").read_text(), re.M)
    assert {room for row in rows for room in row.split(", ")} - {"room"} == ROOMS - WORK_ROOMS


def test_every_folder_of_tests_is_on_their_map():
    text = (ROOT / "tests/README.md").read_text()
    folders = {path.name for path in (ROOT / "tests").iterdir() if path.is_dir() and path.name != "__pycache__"}
    assert {name for name in folders - ROOMS - {"train", "python"} if f"`{name}`" not in text} == set()


@pytest.mark.parametrize("page", ["docs/reference/first-changes.md", "tests/README.md"])
def test_every_path_is_there(page):
    assert {name for name in named_in(page) if not re.search(r"[A-Z]{3}", name) and not list(ROOT.glob(name))} == set()
