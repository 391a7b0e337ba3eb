"""Writes bpe_encoder.bin and bpe_encoder_legacy.bin of this folder with PyTorch's own torch.save: the vocabulary of
vocab.json and merges.txt in the form of the original DeBERTa v1, whose GPT-2 ids differ from the model's. Needs torch,
which no test needs.

Run: python3 tests/golden/tokenizer/bpe/make_encoder.py
"""

import json
import pathlib
import random

import torch

HERE = pathlib.Path(__file__).resolve().parent
OWN = ["[PAD]", "[CLS]", "[SEP]", "[UNK]", "[MASK]"]


def encoder_state():
    vocab = json.loads((HERE / "vocab.json").read_text(encoding="utf-8"))
    lines = (HERE / "merges.txt").read_text(encoding="utf-8").split("\n")[1:-1]
    pieces = [piece for piece in sorted(vocab, key=vocab.get) if piece not in OWN]
    gpt2_ids = list(range(len(pieces)))
    random.Random(3).shuffle(gpt2_ids)
    encoder = dict(sorted(zip(pieces, gpt2_ids), key=lambda row: row[1]))
    dict_map = [(str(encoder[piece]), 1000 - at) for at, piece in enumerate(pieces)]
    return {"encoder": encoder, "vocab": [tuple(line.split()) for line in lines], "dict_map": dict_map}


def main():
    state = encoder_state()
    torch.save(state, HERE / "bpe_encoder.bin")
    torch.save(state, HERE / "bpe_encoder_legacy.bin", _use_new_zipfile_serialization=False)


if __name__ == "__main__":
    main()
