#!/usr/bin/env python3
"""Fails on an include that goes up or sideways between rooms, or brings a heavy header where it may not be, and on a
text that speaks of the program's options in the library.

The rooms, their floors and parts are those of rooms.txt: a room of the library includes none of the server or of the
program, one of the server none of the program. A public header stands on the floor of the room that implements it, and
includes only public headers and the standard library's. In the library no string literal has an option in it: an error
says which argument it speaks of (deberta/error.h), and the program names the option. R"css(...)css" is a style sheet,
where two dashes begin a variable.

Reports are texts for users of the program, and name options too; so do answers of the server.

The repository has up to three halves, each with floors of its own: src/, train/, which may include torch, and python/,
the bindings. A table here says which rooms of src each room of train includes; python/ includes the library, and the
program as a whole (PROGRAM), and nothing else of src. Nothing includes a half that is not its own, but for src/."""

import pathlib
import re
import sys

from rooms import read_rooms

ROOT = pathlib.Path(__file__).resolve().parent.parent
ROOMS = {room.name: room for room in read_rooms(ROOT / "rooms.txt") if room.floor is not None}
FLOORS = {name: room.floor for name, room in ROOMS.items()}
# The whole program, which the extension runs as the command `deberta`, and the part of it that only the extension has.
PROGRAM = ("cli/verbs.h", "program/parquet_files.h", "program/program.h")
HALVES = ("src", "train", "python")  # a room of src is called NAME, any other HALF/NAME
PARTS = ("library", "server", "program")  # of src: a room includes none of a later part
# include/deberta/NAME: the room that implements it. The umbrella is for users: no room includes it.
PUBLIC = {
    "error.h": "base",
    "error_codes.inc": "base",
    "library.h": "base",
    "tokenizer.h": "text",
    "config.h": "config",
    "head.h": "heads",
    "precision.h": "kernels",
    "checkpoint.h": "checkpoint",
    "answer.h": "decode",
    "model.h": "engine",
    "pipeline.h": "pipeline",
    "find_model.h": "hub",
    "analysis.h": "analysis",
    "server.h": "serve",
    "deberta.h": None,
}
# All that public headers take from the standard library: <memory>, <functional>, <algorithm>, streams and maps each
# cost their users a tenth of a second.
LIGHT = {"cstddef", "cstdint", "exception", "optional", "span", "string", "string_view", "utility", "vector"}
# Headers that only the named files may include: they cost seconds to compile or belong to one place.
HEAVY = {
    r"nlohmann/": ["src/base/json.cpp"],
    r"CLI/": ["src/program/command_line.cpp"],
    r"boost/": ["src/serve/http_server.cpp", "src/serve/listener.h"],
    r"(bzlib|lzma|zstd|zstd_errors)\.h$": ["src/data/decompressor.cpp"],
    r"zlib\.h$": ["src/base/zip_reader.cpp", "src/data/decompressor.cpp", "train/data/token_file.cpp"],
    r"immintrin\.h": ["src/kernels/x86/"],
    r"torch/|ATen/|c10/": ["train/"],
    r"cuda|cublas": ["src/kernels/cuda/", "src/engine/cuda/"],
    r"nanobind/|Python\.h": ["python/"],
    r"engine/": ["src/", "train/model/trained_computation.cpp"],
}
# The rooms of src that a room of train includes.
MODEL = {"base", "text", "config", "kernels", "heads", "checkpoint"}
READERS = MODEL | {"data", "decode", "metrics", "rows", "eval", "pipeline"}
OF_SRC = {
    "train/ops": MODEL,
    "train/model": MODEL | {"engine"},
    "train/optim": MODEL,
    "train/objectives": MODEL | {"engine"},
    "train/state": MODEL,
    "train/data": READERS,
    "train/report": {"base", "chart", "config", "heads", "metrics"},
    "train/run": {"base", "checkpoint", "eval"},
    "train/ablation": {"base", "chart", "config", "cost", "metrics"},
    "train/step": MODEL | {"pipeline"},
    "train/pretrain": READERS,
    "train/finetune": READERS | {"cost"},
    "train/replay": READERS,
    "train/cli": READERS | {"cost", "options", "program", "measure"},
}
# One after the other: a quote in a comment begins no literal, and no apostrophe of a number begins a character.
TOKEN = re.compile(
    r'''//[^\n]*|/\*.*?\*/|(?<![\w])'(?:\\.|[^'\\])+'|R"(?P<mark>\w*)\((?P<raw>.*?)\)(?P=mark)"'''
    r'''|"(?P<text>(?:\\.|[^"\\\n])*)"''',
    re.S,
)
OPTION = re.compile(r"--[A-Za-z]|(?<![\w.-])-[A-Za-z](?![\w-])")
# A product of two sizes of a model is a count of weights or operations, which src/cost has.
SIZE = r"\b(?:hidden_size|intermediate_size|vocab_size|embedding_size)\b"
SIZES = re.compile(rf"{SIZE}[^;,]*\*[^;,]*{SIZE}")
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^">]+)[">]')


def room_of(target: str) -> str | None:
    """The room of an included file; None when it belongs to none."""
    first, _, rest = target.partition("/")
    return PUBLIC.get(rest) if first == "deberta" else first


def public_problems(path: pathlib.Path) -> list[str]:
    name = path.relative_to(ROOT).as_posix()
    if path.name not in PUBLIC:
        return [f"{name}: not in the table of public headers"]
    floor = FLOORS.get(PUBLIC[path.name], max(FLOORS.values()))
    text = path.read_text()
    found = options_named(text, name)
    for number, line in enumerate(text.splitlines(), 1):
        match = INCLUDE.match(line)
        if not match:
            continue
        bracket, target = match.groups()
        if bracket == "<" and target not in LIGHT:
            found.append(
                f"{name}:{number}: a public header includes only {', '.join(sorted(LIGHT))} and deberta/, not {target}"
            )
        if bracket == '"' and (not target.startswith("deberta/") or FLOORS.get(room_of(target), 99) > floor):
            found.append(f"{name}:{number}: {target} is no public header of this floor ({floor}) or below")
    return found


def options_named(text: str, name: str) -> list[str]:
    """Literals that hold an option: --max-tokens, -m."""
    found = []
    for token in TOKEN.finditer(text):
        option = OPTION.search(token["raw"] or token["text"] or "")
        if option and token["mark"] != "css":
            line = text.count("\n", 0, token.start()) + 1
            found.append(
                f"{name}:{line}: a literal names an option ({token[0]}); here only arguments have names "
                "(deberta/error.h)"
            )
    return found


def costs_counted(text: str, name: str) -> list[str]:
    """Statements that multiply sizes of a model, outside of src/cost."""
    return [
        f"{name}:{text.count(chr(10), 0, match.start()) + 1}: a count of weights or operations; src/cost has those"
        for match in SIZES.finditer(text)
    ]


def half_of(room: str) -> str:
    """ "src", "train" or "python"."""
    return room.partition("/")[0] if "/" in room else "src"


def target_room(target: str) -> str | None:
    """The room of an included file in any half; None where it belongs to none of the project."""
    first = target.partition("/")[0]
    return "/".join(target.split("/")[:2]) if first in HALVES[1:] else room_of(target)


def wrong_include(room: str, target: str) -> str:
    """Why the room may not include the target; "" when it may."""
    other = target_room(target)
    if other is None or other == room:
        return ""
    half, other_half = half_of(room), half_of(other)
    if other_half != "src" and other_half != half:
        return f"nothing outside {other_half}/ may include {target}"
    if other not in FLOORS:
        return f"{target} is in no room of {half}" if other_half != "src" else ""
    if half == other_half and FLOORS[other] >= FLOORS[room]:
        return f"{room} (floor {FLOORS[room]}) may not include {target} (floor {FLOORS[other]})"
    if half == "train" and other_half == "src" and other not in OF_SRC.get(room, ()):
        return f"{room} may not include {target} (src/{other})"
    if half == "python" and ROOMS[other].part != "library" and other_half == "src" and target not in PROGRAM:
        return f"{room} may include the library, and {', '.join(PROGRAM[:-1])} and {PROGRAM[-1]}, not {target}"
    part, other_part = ROOMS[room].part, ROOMS[other].part
    if half == "src" and PARTS.index(part) < PARTS.index(other_part):
        return f"{room} is a room of the {part} and may not include {target}, which is the {other_part}'s"
    return ""


def knows_options(room: str) -> bool:
    return room in ("train/cli", "train/report") or (half_of(room) == "src" and ROOMS[room].part != "library")


def problems_of(path: pathlib.Path) -> list[str]:
    name = path.relative_to(ROOT).as_posix()
    half, folder = name.split("/")[:2]
    room = folder if half == "src" else f"{half}/{folder}"
    if room not in FLOORS:
        return [f"{name}: {folder} is no room of {'the house' if half == 'src' else half}"]
    text = path.read_text()
    found = [] if knows_options(room) else options_named(text, name)
    found += costs_counted(text, name) if room != "cost" else []
    for number, line in enumerate(text.splitlines(), 1):
        match = INCLUDE.match(line)
        if not match:
            continue
        target = match.group(2)
        if target == "deberta/deberta.h":
            found.append(
                f"{name}:{number}: the umbrella header is for users; include the one that declares what is used"
            )
        if wrong := wrong_include(room, target):
            found.append(f"{name}:{number}: {wrong}")
        for pattern, allowed in HEAVY.items():
            if re.match(pattern, target) and not any(name.startswith(a) for a in allowed):
                found.append(f"{name}:{number}: {target} may only be included in {', '.join(allowed)}")
        if path.suffix == ".h" and re.match(r"fmt/", target):
            found.append(f"{name}:{number}: headers stay light: {target} belongs into a .cpp")
    return found


def readme_problem(room: str) -> str:
    """`room`: src/NAME, train/NAME or python/NAME; "" where nothing is wrong."""
    readme, name = ROOT / room / "README.md", room.removeprefix("src/")
    if not readme.exists():
        return f"{room}: no README.md"
    return (
        "" if re.match(rf"# {name}[ :]", readme.read_text()) else f"{room}/README.md: expected it to begin `# {name}`"
    )


def main() -> int:
    files = sorted(p for half in HALVES for p in (ROOT / half).rglob("*") if p.suffix in (".h", ".cpp", ".cu"))
    found = [p for path in files for p in problems_of(path)]
    public = sorted((ROOT / "include/deberta").iterdir())
    found += [p for path in public for p in public_problems(path)]
    rooms = {"/".join(p.relative_to(ROOT).parts[:2]) for p in files}
    found += [wrong for room in sorted(rooms) if (wrong := readme_problem(room))]
    found += [
        f"tools/check_layers.py: no row in OF_SRC for {name}"
        for name in FLOORS
        if half_of(name) == "train" and name not in OF_SRC
    ]
    found += [f"tools/check_layers.py: OF_SRC has {name}, which is no room" for name in OF_SRC if name not in FLOORS]
    print(
        "\n".join(found)
        or f"layers: {len(files)} files in {len(rooms)} rooms, {len(public)} public headers, no problem"
    )
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
