"""tools/rooms_picture.py: a box for each room, higher floors above lower ones, no box over another."""
import re
import xml.etree.ElementTree as ElementTree

from conftest import ROOT
from rooms import read_rooms
from rooms_picture import picture

ROOMS = [room for room in read_rooms(ROOT / "rooms.txt") if room.floor is not None]


def test_every_room_has_a_box_on_its_floor():
    drawn = picture(read_rooms(ROOT / "rooms.txt"))
    ElementTree.fromstring(drawn)
    assert (ROOT / "docs/concepts/rooms.svg").read_text() == drawn, "stale: tools/make_docs.py"
    boxes = re.findall(r'<rect class="(\w+)" x="(\d+)" y="(\d+)" width="(\d+)".*?/>\n<text [^>]*>([\w/]+)</text>', drawn)
    place = {name: (kind, int(x), int(y), int(width)) for kind, x, y, width, name in boxes}
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
