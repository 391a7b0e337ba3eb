"""The list of rooms, rooms.txt: each reader says what the list means to it."""

import dataclasses
import pathlib


@dataclasses.dataclass(frozen=True)
class Room:
    name: str
    floor: int | None  # None: tests alone
    part: str  # "library", "server", "program", "train", "torch", "python" or "-"
    tests: str
    when: str
    holds: str  # in a few words, as docs/concepts/how-it-works.md says it


def read_rooms(path: pathlib.Path) -> list[Room]:
    rooms = []
    for line in path.read_text().splitlines():
        if line and not line.startswith("#"):
            name, floor, part, tests, when, holds = line.split(maxsplit=5)
            rooms.append(Room(name, None if floor == "-" else int(floor), part, tests, when, holds))
    return rooms
