#!/usr/bin/env python3
"""Makes the golden models: make.py FOLDER [--check]

Each case becomes FOLDER/NAME.json and FOLDER/NAME.safetensors (README.md). --check writes nothing and fails when a file
in FOLDER is not the same to the last byte, is missing, or belongs to no case.
"""

import argparse
import json
import pathlib
import sys

import numpy as np

from cases import BASE, CASES, CAUSAL, LAST, LAST_COLUMNS, PROBABILITIES, TERMS
from config import parse_config
from heads import NO_MENTION
from model import run_model
from safetensors_file import pack_tensors
from weights import random_integers, random_weights, recipe_of

CLS_ID, FIRST_WORD = 1, 3
TOKEN_HEADS = ("token", "token_original", "span", "rtd")


def make_config(case):
    document = {**BASE, **case.config}
    return {key: value for key, value in document.items() if value is not None}


def make_weights(case, recipe):
    tensors = random_weights(recipe, case.name)
    if case.quiet_rows:
        tensors["deberta.embeddings.word_embeddings.weight"][::3] *= np.float32(1e-3)
    return tensors


def make_mask(case):
    """[B, L] of 0 and 1, [B, L, L] for a causal mask, None without one."""
    sequences, length = case.lengths
    if case.mask == (CAUSAL,):
        return np.broadcast_to(np.tril(np.ones((length, length), np.int32)), (sequences, length, length)).copy()
    if case.mask:
        return np.array([[int(digit) for digit in row] for row in case.mask], np.int32)
    return None


def make_ids(case, config, mask):
    """[CLS] first, then words; padding at the ends is 0, a masked token between real ones keeps its word."""
    shape = (case.lengths[0], case.choices, case.lengths[1]) if case.choices else case.lengths
    ids = random_integers(case.name + "/ids", FIRST_WORD, config.vocab_size, shape)
    ids[..., 0] = CLS_ID
    if mask is not None and mask.ndim == 2:
        after_first = np.maximum.accumulate(mask, axis=1)
        before_last = np.maximum.accumulate(mask[:, ::-1], axis=1)[:, ::-1]
        ids *= after_first * before_last
    return ids


def make_inputs(case, config):
    sequences, length = case.lengths
    mask = make_mask(case)
    inputs = {"input_ids": make_ids(case, config, mask)}
    if mask is not None:
        inputs["attention_mask"] = mask
    if case.has_types:
        inputs["token_type_ids"] = random_integers(case.name + "/types", 0, config.type_vocab_size, case.lengths)
    if case.has_positions:
        last = config.max_position_embeddings
        inputs["position_ids"] = random_integers(case.name + "/positions", 0, last, case.lengths)
    if case.has_relative:
        limit = config.span + 3  # some fall outside the table
        inputs["relative_pos"] = random_integers(case.name + "/relative", -limit, limit, (length, length))
    if case.head == "mlm":
        real = np.ones(case.lengths) if mask is None else mask
        inputs["rows"] = np.flatnonzero(real)[1::4].astype(np.int32)
    if case.head == "record":
        entities = random_integers(case.name + "/entities", 0, length, (sequences, 3, 4))
        entities[0, 1] = 0
        inputs["entity_indices"] = entities
    return inputs


def kept_outputs(case, config, outputs):
    """The names of the model's outputs that the fixture holds."""
    hidden = [f"hidden.{n}" for n in range(config.num_hidden_layers + 1)]
    scores = {PROBABILITIES: ["probabilities.1"], TERMS: ["probabilities.1", "c2c.1", "c2p.1", "p2c.1"]}
    names = (hidden[-1:] if case.keeps == LAST else hidden) + scores.get(case.keeps, []) + ["pooled", "logits"]
    return [name for name in names if name in outputs]


def blank_masked_rows(name, array, inputs, case):
    """Rows of masked tokens have no meaning: they are written as 0."""
    mask = inputs.get("attention_mask")
    is_per_token = name.startswith("hidden.") or (name == "logits" and case.head in TOKEN_HEADS)
    if mask is None or mask.ndim == 3 or not is_per_token:
        return array
    return np.where(mask.reshape(mask.shape + (1,) * (array.ndim - 2)) != 0, array, 0)


def kept_part(case, name, array, inputs):
    """Masked rows as 0, and every column; for long sequences only LAST_COLUMNS evenly spaced columns of the hidden
    states."""
    step = array.shape[-1] // LAST_COLUMNS if case.keeps == LAST and name.startswith("hidden.") else 1
    return blank_masked_rows(name, array, inputs, case)[..., ::step]


def make_document(case, document, recipe, errors):
    """JSON with one line for each tensor."""
    about = {"case": case.name, "shows": case.shows, "head": case.head, "distance": case.distance, "config": document}
    if case.quiet_rows:
        about["quiet_rows"] = True  # every third word row times 0.001
    lines = [f"{json.dumps(key)}: {json.dumps(value)}" for key, value in about.items()]
    for key, by_name in (("weights", recipe), ("outputs", errors)):
        rows = ",\n  ".join(f"{json.dumps(name)}: {json.dumps(of)}" for name, of in by_name.items())
        lines.append(f"{json.dumps(key)}: {{\n  {rows}\n }}")
    return ("{\n " + ",\n ".join(lines) + "\n}\n").encode()


def largest(case, array):
    """The largest computed value: the sentinel of a mention without pieces is not a result, and would loosen the bound
    of the others."""
    return np.abs(array[array != NO_MENTION] if case.head == "record" else array).max()


def make_case(case):
    """The bytes of the case's files, by file name."""
    document = make_config(case)
    config = parse_config(document)
    head = "token" if case.head == "token_original" else case.head
    recipe = recipe_of(config, case.head, case.labels, case.scales)
    weights, inputs = make_weights(case, recipe), make_inputs(case, config)
    exact, scalar = (
        run_model(config, weights, head, inputs, dtype, case.distance) for dtype in (np.float64, np.float32)
    )
    golden, errors = dict(inputs), {}
    for name in kept_outputs(case, config, exact):
        golden[name], naive = (kept_part(case, name, outputs[name], inputs) for outputs in (exact, scalar))
        error = np.abs(golden[name] - naive).max()
        errors[name] = {"fp32_error": float(error), "max_abs": float(largest(case, golden[name]))}
    return {
        f"{case.name}.json": make_document(case, document, recipe, errors),
        f"{case.name}.safetensors": pack_tensors(golden),
    }


def make_all():
    return {name: data for case in CASES for name, data in make_case(case).items()}


def check(folder, files):
    """The paths that differ, are missing or should not exist."""
    present = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}
    wrong = present ^ set(files)
    return sorted(wrong | {name for name in present & set(files) if (folder / name).read_bytes() != files[name]})


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--check", action="store_true")
    arguments = parser.parse_args()
    files = make_all()
    if arguments.check:
        wrong = check(arguments.folder, files)
        print("\n".join(f"{name}: not as generated" for name in wrong) or f"{len(files)} files as generated")
        sys.exit(1 if wrong else 0)
    for name, data in files.items():
        (arguments.folder / name).write_bytes(data)
    print(f"{len(CASES)} cases, {sum(map(len, files.values())) / 1e6:.2f} MB")


if __name__ == "__main__":
    main()
