#!/usr/bin/env python3
"""Writes a model directory of a published shape with random weights: config.json, model.safetensors (half precision, as
published files are), tokenizer.

random_checkpoint.py SHAPE FOLDER [--tokenizer spm.model]; the answers mean nothing, but the time and memory that they
take do."""

import argparse
import json
import pathlib
import shutil
import struct

import numpy

ROOT = pathlib.Path(__file__).resolve().parent.parent
# name: layers, hidden size, heads, feed-forward, vocabulary, convolution width
SHAPES = {
    "v3-xsmall": (12, 384, 6, 1536, 128100, 0),
    "v3-small": (6, 768, 12, 3072, 128100, 0),
    "v3-base": (12, 768, 12, 3072, 128100, 0),
    "v3-large": (24, 1024, 16, 4096, 128100, 0),
    "mdeberta-v3-base": (12, 768, 12, 3072, 251000, 0),
    "v2-xlarge": (24, 1536, 24, 6144, 128100, 3),
    "v2-xxlarge": (48, 1536, 24, 6144, 128100, 3),
}
LABELS = ["contradiction", "neutral", "entailment"]


def shapes_of(layers, hidden, inner, vocabulary, width):
    """(name, shape) of every tensor of an MNLI checkpoint."""

    def linear(name, outputs, inputs):
        return [(name + ".weight", (outputs, inputs)), (name + ".bias", (outputs,))]

    def norm(name):
        return [(name + ".LayerNorm.weight", (hidden,)), (name + ".LayerNorm.bias", (hidden,))]

    tensors = [
        ("deberta.embeddings.word_embeddings.weight", (vocabulary, hidden)),
        *norm("deberta.embeddings"),
        ("deberta.encoder.rel_embeddings.weight", (512, hidden)),
        *norm("deberta.encoder"),
    ]
    for n in range(layers):
        layer = f"deberta.encoder.layer.{n}."
        for part in ("query_proj", "key_proj", "value_proj"):
            tensors += linear(layer + "attention.self." + part, hidden, hidden)
        tensors += linear(layer + "attention.output.dense", hidden, hidden) + norm(layer + "attention.output")
        tensors += linear(layer + "intermediate.dense", inner, hidden)
        tensors += linear(layer + "output.dense", hidden, inner) + norm(layer + "output")
    if width:
        tensors += [
            ("deberta.encoder.conv.conv.weight", (hidden, hidden, width)),
            ("deberta.encoder.conv.conv.bias", (hidden,)),
            *norm("deberta.encoder.conv"),
        ]
    return tensors + linear("pooler.dense", hidden, hidden) + linear("classifier", len(LABELS), hidden)


def write_weights(path, tensors):
    """Normal numbers of deviation 0.02 (norms around 1), taken from one block at a different offset for each tensor."""
    block = (numpy.random.default_rng(0).standard_normal(1 << 22) * 0.02).astype(numpy.float16)
    header, offset = {}, 0
    for name, shape in tensors:
        size = 2 * int(numpy.prod(shape))
        header[name] = {"dtype": "F16", "shape": list(shape), "data_offsets": [offset, offset + size]}
        offset += size
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        for n, (name, shape) in enumerate(tensors):
            values = numpy.resize(numpy.roll(block, 7919 * n), int(numpy.prod(shape)))
            file.write((values + numpy.float16(1) if name.endswith("LayerNorm.weight") else values).tobytes())


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("shape", choices=SHAPES)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--tokenizer", type=pathlib.Path, default=ROOT / "tests/golden/tokenizer/bytes.model")
    arguments = parser.parse_args()
    layers, hidden, heads, inner, vocabulary, width = SHAPES[arguments.shape]
    config = {
        "model_type": "deberta-v2",
        "architectures": ["DebertaV2ForSequenceClassification"],
        "hidden_size": hidden,
        "num_hidden_layers": layers,
        "num_attention_heads": heads,
        "intermediate_size": inner,
        "vocab_size": vocabulary,
        "hidden_act": "gelu",
        "max_position_embeddings": 512,
        "type_vocab_size": 0,
        "layer_norm_eps": 1e-7,
        "position_biased_input": False,
        "relative_attention": True,
        "max_relative_positions": -1,
        "position_buckets": 256,
        "pos_att_type": "p2c|c2p",
        "share_att_key": True,
        "norm_rel_ebd": "layer_norm",
        "id2label": {str(i): label for i, label in enumerate(LABELS)},
    }
    if width:
        config |= {"conv_kernel_size": width, "conv_act": "gelu"}
    arguments.folder.mkdir(parents=True, exist_ok=True)
    (arguments.folder / "config.json").write_text(json.dumps(config, indent=1) + "\n")
    shutil.copy(arguments.tokenizer, arguments.folder / "spm.model")
    write_weights(arguments.folder / "model.safetensors", shapes_of(layers, hidden, inner, vocabulary, width))


if __name__ == "__main__":
    main()
