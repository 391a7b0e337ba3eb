#!/usr/bin/env python3
"""Compares this implementation, in double, with the outputs of the original code: verify_original.py FOLDER

FOLDER holds NAME.json + NAME.safetensors with tensors w.*, in.*, out.* and rows.json. Every output of every inference
case is compared, rows of masked tokens too; losses, gradients and training cases are not.
"""

import argparse
import json
import os
import sys

import numpy as np

from attention import Relative
from config import parse_config
from layer import forward_layer
from model import load_weights, run_model
from relative_position import bucket, clamp_row, relative_table, rows_of_table
from safetensors_file import read_tensors

TOLERANCE = 2e-5
HEADS = {
    "encoder": "none",
    "sequence_classification": "sequence",
    "token_classification": "token",
    "multiple_choice": "multiple_choice",
    "record": "record",
    "mlm": "mlm",
    "rtd": "rtd",
}
TRAINING_KINDS = ("rtd_decoupled", "rtd_joint", "sift", "optimizer")
TRAINING_OUTPUTS = ("loss", "loss_per_position", "label_ids", "grad")


def part(tensors, prefix):
    return {name[len(prefix) :]: array for name, array in tensors.items() if name.startswith(prefix)}


def run_layer(config, tensors, inputs):
    """The first layer alone, with given query states."""
    w = load_weights(config, tensors, np.float64)
    queries, keys = (inputs[name].astype(np.float64) for name in ("queries", "keys"))
    relative = Relative(relative_table(config, w), rows_of_table(config, queries.shape[1], keys.shape[1]))
    output, scores = forward_layer(config, w, 0, keys, queries, inputs["attention_mask"] != 0, relative)
    return {"output": output, "probabilities.1": scores["probabilities"]}


def worst_difference(case, tensors):
    """The largest difference over all outputs of an inference case."""
    config = parse_config(case["config"], is_v1=case["layout"] == "v1")
    weights, inputs = part(tensors, "w."), part(tensors, "in.")
    if case["kind"] == "layer":
        ours = run_layer(config, weights, inputs)
    else:
        ours = run_model(config, weights, HEADS[case["kind"]], inputs, np.float64)
    worst = 0.0
    for name, expected in part(tensors, "out.").items():
        if name.split(".")[0] not in TRAINING_OUTPUTS:
            got = ours[name].reshape(expected.shape)
            worst = max(worst, float(np.abs(got - expected).max()))
    return worst


def count_wrong_rows(path):
    """Rows of the relative table that differ from rows.json."""
    wrong = 0
    with open(path) as file:
        tables = json.load(file)["table"]
    for table in tables:
        buckets, furthest = table["position_buckets"], table["max_relative_positions"]
        span = buckets if buckets > 0 else furthest
        for r, row in enumerate(table["rows"], table["first_distance"]):
            wrong += int(clamp_row(bucket(r, buckets, furthest), span)) != row
    return wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("folder")
    folder = parser.parse_args().folder
    ran, failed, skipped = 0, 0, 0
    for file_name in sorted(os.listdir(folder)):
        name = file_name.removesuffix(".safetensors")
        if name == file_name:
            continue
        with open(os.path.join(folder, name + ".json")) as file:
            case = json.load(file)
        if case["kind"] in TRAINING_KINDS:
            skipped += 1
            continue
        worst = worst_difference(case, read_tensors(os.path.join(folder, file_name)))
        is_good = worst <= TOLERANCE
        print(f"{name:32} {case['kind']:24} {worst:.2e}{'' if is_good else '  FAILED'}")
        ran, failed = ran + 1, failed + (not is_good)
    wrong_rows = count_wrong_rows(os.path.join(folder, "rows.json"))
    print(f"{ran} inference cases, {failed} beyond {TOLERANCE}; {skipped} training cases skipped")
    print(f"rows of the relative table: {wrong_rows} wrong")
    sys.exit(1 if failed or wrong_rows or not ran else 0)


if __name__ == "__main__":
    main()
