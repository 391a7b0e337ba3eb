"""Writes normal_form_tables.inc: canonical decompositions, combining classes and what BERT's tokenizers ask of a
character.

Run: python3 src/text/unicode/make_normal_form_tables.py > src/text/unicode/normal_form_tables.inc
Needs the package tokenizers: it has tables of its own, older ones of some characters. Python's are those of
unicodedata; each row of a class says which of the two has it, found by asking both about every character.
"""

import sys
import unicodedata

import tokenizers
from character_tables import POINTS, print_table
from tokenizers import normalizers, pre_tokenizers

HANGUL = range(0xAC00, 0xD7A4)  # computed, not in the table
PYTHON, LIBRARY, BOTH = "kPython", "kLibrary", "kBoth"

NFD = normalizers.NFD()
CLEAN = normalizers.BertNormalizer(clean_text=True, handle_chinese_chars=False, strip_accents=False, lowercase=False)
CHINESE = normalizers.BertNormalizer(clean_text=False, handle_chinese_chars=True, strip_accents=False, lowercase=False)
ACCENTS = normalizers.BertNormalizer(clean_text=False, handle_chinese_chars=False, strip_accents=True, lowercase=False)
STRIPPED = normalizers.StripAccents()
LOWER = normalizers.Lowercase()
PUNCTUATION = pre_tokenizers.Punctuation("isolated")
DIGITS = pre_tokenizers.Digits(individual_digits=True)
WORDS = pre_tokenizers.Whitespace()


def whose(in_python, in_library):
    return {(True, True): BOTH, (True, False): PYTHON, (False, True): LIBRARY, (False, False): None}[
        in_python, in_library
    ]


def decompositions():
    rows = []
    for point in POINTS:
        parts = unicodedata.decomposition(chr(point)).split()
        if not parts or parts[0].startswith("<") or point in HANGUL:
            continue
        library = NFD.normalize_str(chr(point)) != chr(point)
        composes = len(parts) == 2 and unicodedata.normalize("NFC", chr(point)) == chr(point)
        first, second = [*parts, "0"][:2]
        rows.append(
            [
                f"0x{point:X}",
                f"0x{first}",
                f"0x{second}" if second != "0" else "0",
                "true" if composes else "false",
                whose(True, library),
            ]
        )
    return rows


def has_class(point):
    """Whether the library gives a combining class above 1: then a mark of class 1 moves before it."""
    return NFD.normalize_str(chr(point) + "\u0334").startswith("\u0334")


def runs(values):
    """[first, last, value] of neighbours with one value; None belongs to no run."""
    result = []
    for point, value in values:
        if value is None:
            continue
        if result and result[-1][1] == point - 1 and result[-1][2] == value:
            result[-1][1] = point
        else:
            result.append([point, point, value])
    return result


def combining():
    values = []
    for point in POINTS:
        value = unicodedata.combining(chr(point))
        values.append((point, (value, whose(True, value == 1 or has_class(point))) if value else None))
    return [[f"0x{a:X}", f"0x{b:X}", str(value), which] for a, b, (value, which) in runs(values)]


def category(point):
    return unicodedata.category(chr(point))


def classes(in_python, in_library):
    values = [(point, whose(in_python(point), in_library(point))) for point in POINTS]
    return [[f"0x{a:X}", f"0x{b:X}", which] for a, b, which in runs(values)]


def splits(pre_tokenizer, point):
    return len(pre_tokenizer.pre_tokenize_str("x" + chr(point) + "y")) == 3


def is_white_space(point):
    return point in (0x20, 0x9, 0xA, 0xD) or category(point) == "Zs"


def is_removed(point):
    return point in (0, 0xFFFD) or (category(point).startswith("C") and point not in (0x9, 0xA, 0xD))


def is_ascii_punctuation(point):
    return 33 <= point <= 47 or 58 <= point <= 64 or 91 <= point <= 96 or 123 <= point <= 126


def main():
    clean = lambda p: CLEAN.normalize_str("x" + chr(p) + "y")
    print("// Made by make_normal_form_tables.py from")
    print(
        f"// Unicode {unicodedata.unidata_version} (Python {sys.version.split()[0]}) and tokenizers "
        f"{tokenizers.__version__}."
    )
    print_table("kDecompositions", "Decomposition", decompositions(), 3)
    print_table("kCombining", "CombiningRange", combining(), 5)
    print_table("kLibraryLower", "LowerPair", lower_case(), 8)
    tables = {
        "kMarks": (lambda p: category(p) == "Mn", lambda p: ACCENTS.normalize_str("a" + chr(p)) == "a"),
        "kStripped": (lambda p: False, lambda p: STRIPPED.normalize_str("a" + chr(p)) == "a"),
        "kRemoved": (lambda p: is_removed(p), lambda p: clean(p) == "xy"),
        "kBertSpaces": (is_white_space, lambda p: clean(p) == "x y"),
        "kPunctuationOf": (
            lambda p: is_ascii_punctuation(p) or category(p).startswith("P"),
            lambda p: splits(PUNCTUATION, p),
        ),
        "kDigits": (lambda p: category(p).startswith("N"), lambda p: splits(DIGITS, p)),
        "kChinese": (lambda p: chinese(p), lambda p: CHINESE.normalize_str("x" + chr(p) + "y") != "x" + chr(p) + "y"),
    }
    tables["kWordCharacters"] = (
        lambda p: False,
        lambda p: len(WORDS.pre_tokenize_str("x" + chr(p))) == 1 and not chr(p).isspace() and p != 0x85,
    )
    for name, (in_python, in_library) in tables.items():
        print_table(name, "OwnedRange", classes(in_python, in_library), 5)


def lower_case():
    """Characters that the library lowers otherwise."""
    rows = [(p, LOWER.normalize_str(chr(p))) for p in POINTS]
    rows = [(p, lower) for p, lower in rows if lower != chr(p).lower()]
    assert all(len(lower) == 1 for _, lower in rows)
    return [[f"0x{p:X}", f"0x{ord(lower):X}"] for p, lower in rows]


def chinese(point):
    """As BasicTokenizer of transformers says."""
    ranges = [
        (0x4E00, 0x9FFF),
        (0x3400, 0x4DBF),
        (0x20000, 0x2A6DF),
        (0x2A700, 0x2B73F),
        (0x2B740, 0x2B81F),
        (0x2B820, 0x2CEAF),
        (0xF900, 0xFAFF),
        (0x2F800, 0x2FA1F),
    ]
    return any(first <= point <= last for first, last in ranges)


main()
