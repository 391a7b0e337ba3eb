#!/usr/bin/env python3
"""Fails on an include that goes up or sideways between rooms, or brings a heavy header where it may not be.

The floors are those of the room list in CMakeLists.txt's order and docs/how-it-works.md."""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
FLOORS = {"base": 0, "text": 1, "config": 1, "kernels": 1, "checkpoint": 2, "data": 2, "tasks": 3, "engine": 3,
          "heads": 4, "analysis": 4, "serve": 5, "cli": 6}
# Headers that only the named files may include: they cost seconds to compile or belong to one place.
HEAVY = {r"nlohmann/": ["src/base/json.cpp"], r"CLI/": ["src/cli/command_line.cpp"],
         r"immintrin\.h": ["src/kernels/x86/"], r"torch/|ATen/|c10/": ["train/"], r"cuda|cublas": ["src/kernels/cuda/", "src/engine/cuda/"]}
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^">]+)[">]')


def problems_of(path: pathlib.Path) -> list[str]:
    name = path.relative_to(ROOT).as_posix()
    room = name.split("/")[1]
    found = []
    if room not in FLOORS:
        return [f"{name}: {room} is no room of the house"]
    for number, line in enumerate(path.read_text().splitlines(), 1):
        match = INCLUDE.match(line)
        if not match:
            continue
        target = match.group(2)
        other = target.split("/")[0]
        if match.group(1) == '"' and other in FLOORS and other != room and FLOORS[other] >= FLOORS[room]:
            found.append(f"{name}:{number}: {room} (floor {FLOORS[room]}) may not include {target} (floor {FLOORS[other]})")
        for pattern, allowed in HEAVY.items():
            if re.match(pattern, target) and not any(name.startswith(a) for a in allowed):
                found.append(f"{name}:{number}: {target} may only be included in {', '.join(allowed)}")
        if path.suffix == ".h" and re.match(r"fmt/", target):
            found.append(f"{name}:{number}: headers stay light: {target} belongs into a .cpp")
    return found


def main() -> int:
    files = sorted(p for p in (ROOT / "src").rglob("*") if p.suffix in (".h", ".cpp", ".cu"))
    found = [p for path in files for p in problems_of(path)]
    rooms = {p.relative_to(ROOT / "src").parts[0] for p in files}
    found += [f"src/{room}: no README.md" for room in sorted(rooms) if not (ROOT / "src" / room / "README.md").exists()]
    print("\n".join(found) or f"layers: {len(files)} files in {len(rooms)} rooms, no problem")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
