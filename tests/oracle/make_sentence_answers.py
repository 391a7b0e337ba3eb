#!/usr/bin/env python3
"""Records what sentence-transformers makes of each neighbour of the modules.json and 1_Pooling/config.json of the
published folders: which pooling gave its vectors, or that it fails. Writes
tests/golden/published/sentence_answers.json; needs sentence-transformers 5.7.0 in addition to
tests/oracle/requirements.txt."""

import collections
import json
import os
import pathlib
import shutil
import tempfile

import numpy
import torch
from sentence_transformers import SentenceTransformer
from transformers import AutoTokenizer

import both_sides as sides
from neighbour_rules import close
from neighbours import SENTENCE_FILES, Base, make_neighbour, neighbours, pooled
from published_cases import CASES, ENCODER, PUBLISHED

TEXTS = ["a fine film", "Hello, World x", "don't (x) UPPER"]


def name_of(vectors, expected):
    """The poolings whose vectors are concatenated in each of `vectors`."""
    size = len(expected[0]["mean"])
    parts = []
    for at in range(0, len(vectors[0]), size):
        parts.append(
            next(
                (
                    name
                    for name in expected[0]
                    if all(close(vector[at : at + size], modes[name]) for vector, modes in zip(vectors, expected))
                ),
                "other",
            )
        )
    return "+".join(parts)


def record(base, neighbour, work, expected):
    folder = make_neighbour(base, neighbour, work)

    def call():
        model = SentenceTransformer(str(folder), device="cpu", model_kwargs={"attn_implementation": "eager"})
        return sides.Answer(rows=list(model.encode(TEXTS)))

    told = sides.library(call)
    return "refused" if told.refused else name_of(numpy.asarray(told.rows), expected)


def main():
    recorded = {}
    with tempfile.TemporaryDirectory() as name:
        work = pathlib.Path(name)
        os.chdir(work)
        bases = {n: Base(n, work) for n, case in enumerate(CASES) if case.head == ENCODER}
        for neighbour in neighbours(bases, SENTENCE_FILES):
            base = bases[neighbour.case]
            if not hasattr(base, "expected"):
                # the fast one, as sentence-transformers uses
                model, tokenizer = (
                    sides.their_model(base.folder, ENCODER)[0],
                    AutoTokenizer.from_pretrained(base.folder),
                )
                base.expected = [
                    pooled(torch.tensor(state))
                    for state in sides.their_logits(model, ENCODER, sides.their_ids(tokenizer, TEXTS))
                ]
            told = record(base, neighbour, work, base.expected)
            key = f"{CASES[neighbour.case].folder}/{neighbour.file} {'.'.join(map(str, neighbour.path))}"
            recorded.setdefault(key, collections.defaultdict(list))[told].append(neighbour.name)
        shutil.rmtree(work / "n")
        os.chdir("/")
    lines = [f" {json.dumps(key)}: {json.dumps(value)}" for key, value in recorded.items()]
    (PUBLISHED / "sentence_answers.json").write_text("{\n" + ",\n".join(lines) + "\n}\n")


if __name__ == "__main__":
    main()
