"""What the scripts that write tables of characters share."""

import sys

POINTS = [p for p in range(sys.maxunicode + 1) if not 0xD800 <= p <= 0xDFFF]


def print_table(name, kind, rows, per_line):
    print(f"constexpr {kind} {name}[] = {{")
    for at in range(0, len(rows), per_line):
        print("    " + " ".join("{" + ", ".join(row) + "}," for row in rows[at : at + per_line]))
    print("};")
