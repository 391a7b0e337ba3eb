"""Writes unicode_tables.inc: the character classes of this room, from Python's own (unicodedata).

Run: python3 src/text/unicode/make_unicode_tables.py > src/text/unicode/unicode_tables.inc
The slow tokenizers of transformers use these same functions of Python, so its tables are the reference; the Unicode
version is printed into the file. Byte-level BPE asks a package (regex) with tables of a later Unicode: its letters and
numbers include characters that were not assigned yet here; tests/oracle shows that the ids are the same.
"""

import sys
import unicodedata

from character_tables import POINTS, print_table


def ranges(points):
    result = []
    for point in points:
        if result and result[-1][1] == point - 1:
            result[-1][1] = point
        else:
            result.append([point, point])
    return result


def lower_runs():
    """[first, last, step, difference]: each step-th point from first to last maps to itself + difference."""
    result = []
    for point in POINTS:
        lower = chr(point).lower()
        if lower == chr(point) or len(lower) > 1:
            continue
        difference = ord(lower) - point
        if result and result[-1][3] == difference:
            run = result[-1]
            gap = point - run[1]
            if gap in (1, 2) and run[2] in (0, gap):
                run[1], run[2] = point, gap
                continue
        result.append([point, point, 0, difference])
    return [[first, last, step or 1, difference] for first, last, step, difference in result]


def main():
    longer = [p for p in POINTS if len(chr(p).lower()) > 1]
    assert longer == [0x130], longer  # unicode.cpp knows this one
    print(
        f"// Made by make_unicode_tables.py from Unicode {unicodedata.unidata_version} (Python "
        f"{sys.version.split()[0]})."
    )
    for name, test in [
        ("kWhiteSpace", str.isspace),
        ("kPunctuation", lambda c: unicodedata.category(c).startswith("P")),
        ("kLetters", lambda c: unicodedata.category(c).startswith("L")),
        ("kNumbers", lambda c: unicodedata.category(c).startswith("N")),
    ]:
        rows = ranges(p for p in POINTS if test(chr(p)))
        print_table(name, "PointRange", [[f"0x{a:X}", f"0x{b:X}"] for a, b in rows], 6)
    rows = [[f"0x{a:X}", f"0x{b:X}", str(c), str(d)] for a, b, c, d in lower_runs()]
    print_table("kLower", "LowerRun", rows, 4)


main()
