"""Runs of seconds: their options and their texts, for tests of other folders too."""

import random

SMALL = [
    "--config-overrides",
    "num_hidden_layers=2,hidden_size=32,num_attention_heads=2,position_buckets=8",
    "--batch-size",
    "8",
    "--max-tokens",
    "32",
    "--learning-rate",
    "0.003",
    "--hold-out-every",
    "10",
    "--logging-steps",
    "2",
]


def write_corpus(path):
    """60 documents of a language that can be learned: each word decides the next but one time in ten."""
    words = "the cat sat on a mat and it rained all day in may while dogs ran home".split()
    dice = random.Random(1)
    lines = []
    for number in range(60):
        lines.append(f"<|doc {number}|>")
        for _ in range(6):
            at = dice.randrange(len(words))
            line = []
            for _ in range(24):
                line.append(words[at])
                at = (at + 1) % len(words) if dice.random() < 0.9 else dice.randrange(len(words))
            lines.append(" ".join(line) + " .")
    path.write_text("\n".join(lines) + "\n")
    return path
