"""Writes grapheme_tables.inc: what decides where grapheme clusters end (Unicode 16.0.0, UAX 29).

Run: python src/text/unicode/make_grapheme_tables.py > src/text/unicode/grapheme_tables.inc
Needs the package uniseg 0.10.0, which carries the tables of Unicode 16.0.0: the version in the tokenizers library.
Syllables of Hangul (LV, LVT) are arithmetic, and not in the table.
"""

import sys

from uniseg import unidata_version
from uniseg.derived import InCB, indic_conjunct_break
from uniseg.emoji import extended_pictographic
from uniseg.graphemecluster import grapheme_cluster_break

assert unidata_version == "16.0.0"
NAMES = {
    "CR": "kCr",
    "LF": "kLf",
    "Control": "kControl",
    "ZWJ": "kJoiner",
    "Regional_Indicator": "kRegional",
    "Prepend": "kPrepend",
    "SpacingMark": "kSpacingMark",
    "L": "kL",
    "V": "kV",
    "T": "kT",
}


def class_of(point):
    character = chr(point)
    kind = grapheme_cluster_break(character).name
    conjunct = indic_conjunct_break(character)
    if kind in ("LV", "LVT"):
        assert 0xAC00 <= point <= 0xD7A3 and (kind == "LV") == ((point - 0xAC00) % 28 == 0)
        return None
    if extended_pictographic(character):
        assert kind == "Other" and conjunct not in (InCB.Consonant, InCB.Linker)
        return "kPictograph"
    if conjunct == InCB.Consonant:
        assert kind == "Other"
        return "kConsonant"
    if kind == "Extend":
        return {InCB.Linker: "kLinker", InCB.Extend: "kExtend"}.get(conjunct, "kOtherExtend")
    assert conjunct not in (InCB.Consonant, InCB.Linker) and (kind == "ZWJ") == (conjunct == InCB.Extend), hex(point)
    return NAMES.get(kind)


def main():
    rows = []
    for point in range(sys.maxunicode + 1):
        name = None if 0xD800 <= point <= 0xDFFF else class_of(point)
        if name is None:
            continue
        if rows and rows[-1][1] == point - 1 and rows[-1][2] == name:
            rows[-1][1] = point
        else:
            rows.append([point, point, name])
    print(f"// Made by make_grapheme_tables.py from Unicode {unidata_version}.")
    print("constexpr GraphemeRange kRanges[] = {")
    for at in range(0, len(rows), 4):
        print("    " + " ".join(f"{{0x{a:X}, 0x{b:X}, Kind::{name}}}," for a, b, name in rows[at : at + 4]))
    print("};")


main()
