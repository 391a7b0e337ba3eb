"""tools/rooms_picture.py: a box for each room, higher floors above lower ones, no box over another."""

import xml.etree.ElementTree as ElementTree

from conftest import ROOT
from rooms import read_rooms
from rooms_picture import GROUPS, picture

ROOMS = [room for room in read_rooms(ROOT / "rooms.txt") if room.floor is not None]


def test_every_room_has_a_box_on_its_floor():
    boxes = [box for box in picture(ROOMS)["boxes"] if "group" in box]
    place = {box["text"]: (list(GROUPS)[box["group"]], box["x"], box["y"], box["width"]) for box in boxes}
    assert set(place) == {room.name for room in ROOMS} and len(boxes) == len(ROOMS)
    for room in ROOMS:
        kind, x, y, width = place[room.name]
        assert kind == ("train" if room.name.startswith("train/") else room.part)
        for other in ROOMS:
            if other.name == room.name or other.name.startswith("train/") != room.name.startswith("train/"):
                continue
            _, other_x, other_y, other_width = place[other.name]
            assert (room.floor < other.floor) == (y > other_y)
            assert y != other_y or x + width < other_x or other_x + other_width < x


def test_the_picture_that_is_committed_names_every_room():
    """Whether it is stale to the last byte is for tools/make_docs.py --check to say, which has the program."""
    root = ElementTree.parse(ROOT / "docs/concepts/rooms.svg").getroot()
    texts = {element.text for element in root.iter("{http://www.w3.org/2000/svg}text")}
    assert {room.name for room in ROOMS} <= texts
