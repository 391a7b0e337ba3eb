"""The picture of the rooms, docs/concepts/rooms.svg, from rooms.txt: a row for each floor, the library and the program
on the left, the training half on the right, the Python package below it. As a chart that the program draws
(docs/reference/charts.md)."""

from rooms import Room

PITCH, HEIGHT, GAP, LABEL = 44, 30, 14, 24  # from floor to floor; of a box, between boxes; of the number of a floor
LEFT, RIGHT = (24, 560), (644, 252)  # first column, width
GROUPS = {
    "library": "the library",
    "program": "the program",
    "train": "the training half, with floors of its own",
    "server": "the server",
    "python": "the Python package, on the library; the command is the program",
}


def boxes(floor: int, y: int, rooms: list[Room], place: tuple[int, int]) -> list[dict]:
    """A row: the number of the floor, then its rooms."""
    begin, width = place
    row = [{"text": str(floor), "x": begin - LABEL, "y": y, "width": LABEL, "height": HEIGHT}]
    each = (width - GAP * (len(rooms) - 1)) / len(rooms)
    for number, room in enumerate(rooms):
        kind = "train" if room.name.startswith("train/") else room.part
        place_of = {"x": round(begin + number * (each + GAP)), "y": y, "width": round(each), "height": HEIGHT}
        row.append({"text": room.name, "group": list(GROUPS).index(kind), **place_of})
    return row


def half(rooms: list[Room], place: tuple[int, int]) -> tuple[list[dict], int]:
    """The rows of one half from its highest floor down, and where they end."""
    row, y = [], 0
    for floor in sorted({room.floor for room in rooms}, reverse=True):
        row += boxes(floor, y, [room for room in rooms if room.floor == floor], place)
        y += PITCH
    return row, y


def picture(rooms: list[Room]) -> dict:
    rooms = [room for room in rooms if room.floor is not None]
    left, end = half([room for room in rooms if "/" not in room.name], LEFT)
    right, below = half([room for room in rooms if room.name.startswith("train/")], RIGHT)
    stem, tip = RIGHT[0] + RIGHT[1] // 2, LEFT[0] + LEFT[1] + 12
    first = end - 2 * PITCH + HEIGHT // 2  # the middle of floor 1: what all of training stands on
    return {
        "kind": "diagram",
        "title": "The rooms, floor by floor: a room includes only rooms below it",
        "groups": list(GROUPS.values()),
        "boxes": [*left, *right, *boxes(0, end - PITCH, [room for room in rooms if room.part == "python"], RIGHT)],
        "arrows": [{"points": [[stem, below - GAP + 8], [stem, first], [tip, first]]}],
    }
