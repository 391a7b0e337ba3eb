"""The picture of the rooms, docs/concepts/rooms.svg, from rooms.txt: a row for each floor, the library and the program
on the left, the training half on the right. Boxes have a colour of their own under dark text, so that the picture reads
on light pages and on dark ones."""
from rooms import Room

STYLE = (".library{fill:#d7e6f5;stroke:#6f97bd}.program{fill:#f5e6c4;stroke:#b8954a}.train{fill:#d9ecd6;stroke:#74a46d}"
         "text{fill:#1d2733}.floor{fill:#7d8894}.arrow{stroke:#7d8894;stroke-width:2;fill:none}")
WIDTH, TOP, PITCH, HEIGHT, GAP = 920, 8, 44, 30, 14
LEFT, RIGHT = (56, 560, 14), (676, 236, 13)  # first column, width, size of the letters
ABOUT = ("Blue: the library. Yellow: the program. Green: the training half, with floors of its own. A room includes only "
         "rooms below it.")


def boxes(floor: int, y: int, rooms: list[Room], place: tuple[int, int, int]) -> list[str]:
    """A row: the number of the floor, then its rooms."""
    begin, width, size = place
    lines = [f'<text class="floor" x="{begin - 14}" y="{y + 20}" text-anchor="end">{floor}</text>']
    each = (width - GAP * (len(rooms) - 1)) / len(rooms)
    for number, room in enumerate(rooms):
        kind = "train" if room.name.startswith("train/") else room.part
        x = begin + number * (each + GAP)
        lines += [f'<rect class="{kind}" x="{x:.0f}" y="{y}" width="{each:.0f}" height="{HEIGHT}" rx="5"/>',
                  f'<text x="{x + each / 2:.0f}" y="{y + 20}" text-anchor="middle" font-size="{size}">{room.name}</text>']
    return lines


def half(rooms: list[Room], place: tuple[int, int, int]) -> tuple[list[str], int]:
    """The rows of one half from its highest floor down, and where they end."""
    lines, y = [], TOP
    for floor in sorted({room.floor for room in rooms}, reverse=True):
        lines += boxes(floor, y, [room for room in rooms if room.floor == floor], place)
        y += PITCH
    return lines, y


def picture(rooms: list[Room]) -> str:
    rooms = [room for room in rooms if room.floor is not None]
    left, end = half([room for room in rooms if not room.name.startswith("train/")], LEFT)
    right, below = half([room for room in rooms if room.name.startswith("train/")], RIGHT)
    stem, tip = RIGHT[0] + RIGHT[1] // 2, LEFT[0] + LEFT[1] + 12
    first = end - 2 * PITCH + HEIGHT // 2  # the middle of floor 1: what all of training stands on
    return "\n".join([
        (f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{end}" viewBox="0 0 {WIDTH} '
         f'{end}" font-family="sans-serif" font-size="14" role="img">'),
        f"<title>The rooms, floor by floor</title><desc>{ABOUT}</desc><style>{STYLE}</style>", *left, *right,
        f'<path class="arrow" d="M{stem} {below - GAP + 8}V{first}H{tip}m10-6l-10 6 10 6"/>', "</svg>"]) + "\n"
