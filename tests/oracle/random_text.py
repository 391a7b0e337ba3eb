"""Random valid Unicode strings for the tokenizer's oracle tests: the same ones for the same seed, on every machine."""

import random

# (weight, ranges): a string takes most of its characters from one row and some from the others.
KINDS = [
    (20, [(0x61, 0x7A)]),
    (6, [(0x41, 0x5A), (0x61, 0x7A)]),
    (5, [(0x20, 0x7E)]),
    (4, [(0x30, 0x39)]),
    (5, [(0x21, 0x2F), (0x3A, 0x40), (0x5B, 0x60), (0x7B, 0x7E)]),
    (4, [(0xA0, 0xFF), (0x100, 0x24F)]),
    (4, [(0x300, 0x36F), (0x1AB0, 0x1AC0), (0x20D0, 0x20F0), (0x3099, 0x309A)]),
    (
        4,
        [
            (0x9, 0xD),
            (0x20, 0x20),
            (0x85, 0x85),
            (0xA0, 0xA0),
            (0x1680, 0x1680),
            (0x2000, 0x200F),
            (0x2028, 0x202F),
            (0x205F, 0x2060),
            (0x3000, 0x3000),
            (0xFEFF, 0xFEFF),
        ],
    ),
    (2, [(0x0, 0x1F), (0x7F, 0x9F), (0xFFF9, 0xFFFF), (0xAD, 0xAD)]),
    (3, [(0x370, 0x3FF), (0x1F00, 0x1FFF)]),
    (3, [(0x400, 0x52F), (0x1C80, 0x1C88)]),
    (3, [(0x590, 0x6FF), (0xFB50, 0xFDFF), (0xFE70, 0xFEFC)]),
    (3, [(0x900, 0xDFF)]),
    (2, [(0xE00, 0xFFF)]),
    (3, [(0x1100, 0x11FF), (0xA960, 0xA97C), (0xAC00, 0xD7A3), (0xD7B0, 0xD7FB)]),
    (4, [(0x3040, 0x30FF), (0xFF65, 0xFF9F), (0x4E00, 0x9FFF)]),
    (3, [(0xFF01, 0xFFEE), (0x2460, 0x24FF), (0x3200, 0x33FF)]),
    (3, [(0x2010, 0x2BFF)]),
    (
        4,
        [
            (0x1F300, 0x1FAFF),
            (0x1F1E6, 0x1F1FF),
            (0x200D, 0x200D),
            (0xFE0E, 0xFE0F),
            (0x1F3FB, 0x1F3FF),
            (0x2600, 0x27BF),
        ],
    ),
    (2, [(0x1D400, 0x1D7FF), (0x2F800, 0x2FA1D), (0xFB00, 0xFB4F)]),
    (2, [(0x10000, 0x1FFFF), (0x20000, 0x323AF), (0xE0000, 0xE01EF), (0xF0000, 0x10FFFF)]),
    (1, [(0x2581, 0x2581), (0x5B, 0x5D), (0x3C, 0x3E)]),
    (1, [(0x0, 0x10FFFF)]),
]
WEIGHTS = [weight for weight, _ in KINDS]


def random_character(rng, ranges):
    first, last = rng.choice(ranges)
    point = rng.randint(first, last)
    return " " if 0xD800 <= point <= 0xDFFF else chr(point)


def random_string(rng, longest=60):
    main = rng.choices(KINDS, WEIGHTS)[0][1]
    parts = []
    for _ in range(rng.randint(0, longest)):
        draw = rng.random()
        if draw < 0.14:
            parts.append(" ")
        elif draw < 0.80:
            parts.append(random_character(rng, main))
        elif draw < 0.83:
            parts.append(random_character(rng, main) * rng.randint(2, 12))
        else:
            parts.append(random_character(rng, rng.choices(KINDS, WEIGHTS)[0][1]))
    return "".join(parts)


def random_strings(count, seed=20):
    """`count` strings without line feeds (one string a line in the file given to the program)."""
    rng = random.Random(seed)
    return [random_string(rng).replace("\n", "\t").replace("\r", "\t") for _ in range(count)]
