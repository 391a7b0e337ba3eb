#!/usr/bin/env python3
"""Pre-trains the small model of plans/ with transformers' DebertaV2ForMaskedLM in a plain loop, with relative positions
and with absolute ones, to see whether a form without relative positions learns as slowly there as it does here
(docs/records/ablations.md). Prints a JSON line every 100 steps. Rows and masks are drawn more simply than the trainer
draws them, so that losses are near and not equal. Needs torch, transformers 4.57 and sentencepiece.

usage: position_peers.py CORPUS.txt.xz --positions relative|absolute [--steps N] [--threads N] [--seed N]"""

import argparse
import itertools
import json
import lzma
import pathlib
import random

import sentencepiece
import torch
from transformers import DebertaV2Config, DebertaV2ForMaskedLM

ROOT = pathlib.Path(__file__).resolve().parents[1]
ROWS, LENGTH, MASKED, LONGEST_RUN = 16, 128, 19, 3  # MASKED: of a row, 15 %
RATE, WARMUP_STEPS, LOG_STEPS = 1e-3, 500, 100
VOCABULARY, MASK, IGNORED = 8193, 8192, -100
SIZES = {
    "vocab_size": VOCABULARY,
    "hidden_size": 128,
    "num_hidden_layers": 4,
    "num_attention_heads": 2,
    "intermediate_size": 512,
    "hidden_dropout_prob": 0,
    "attention_probs_dropout_prob": 0,
    "type_vocab_size": 0,
}
POSITIONS = {
    "relative": {
        "relative_attention": True,
        "position_buckets": 256,
        "norm_rel_ebd": "layer_norm",
        "share_att_key": True,
        "pos_att_type": ["p2c", "c2p"],
        "position_biased_input": False,
    },
    "absolute": {"relative_attention": False, "position_biased_input": True},
}


def rows_of(corpus, count):
    """The first pieces of the corpus, as `count` shuffled rows."""
    tokenizer = sentencepiece.SentencePieceProcessor(str(ROOT / "models/fill/spm.model"))
    with lzma.open(corpus, "rt", encoding="utf-8") as lines:
        pieces = itertools.chain.from_iterable(tokenizer.encode(line.strip()) for line in lines)
        ids = list(itertools.islice(pieces, count * LENGTH))
    rows = torch.tensor(ids[: len(ids) // LENGTH * LENGTH]).view(-1, LENGTH)
    return rows[torch.randperm(len(rows))]


def masked(rows):
    """(ids with masks, labels): runs of one to three pieces; of the masked, 80 % are masks and 10 % random pieces."""
    ids, labels = rows.clone(), torch.full_like(rows, IGNORED)
    for row in range(len(rows)):
        while (labels[row] != IGNORED).sum() < MASKED:
            length = random.randint(1, LONGEST_RUN)
            begin = random.randrange(LENGTH - length + 1)
            labels[row, begin : begin + length] = rows[row, begin : begin + length]
        for at in (labels[row] != IGNORED).nonzero().flatten().tolist():
            draw = random.random()
            ids[row, at] = MASK if draw < 0.8 else random.randrange(VOCABULARY) if draw < 0.9 else ids[row, at]
    return ids, labels


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpus")
    parser.add_argument("--positions", required=True, choices=POSITIONS)
    parser.add_argument("--steps", type=int, default=1000)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--seed", type=int, default=1)
    a = parser.parse_args()
    torch.set_num_threads(a.threads)
    torch.manual_seed(a.seed)
    random.seed(a.seed)
    rows = rows_of(a.corpus, a.steps * ROWS)
    model = DebertaV2ForMaskedLM(DebertaV2Config(**SIZES, **POSITIONS[a.positions], legacy=True)).train()
    optimizer = torch.optim.AdamW(model.parameters(), lr=RATE, betas=(0.9, 0.98), weight_decay=0.01)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: min(1.0, (step + 1) / WARMUP_STEPS))
    losses = []
    for step in range(a.steps):
        ids, labels = masked(rows[step * ROWS : (step + 1) * ROWS])
        with torch.autocast("cpu", torch.bfloat16):
            loss = model(input_ids=ids, attention_mask=torch.ones_like(ids), labels=labels).loss
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        schedule.step()
        losses.append(loss.item())
        if (step + 1) % LOG_STEPS == 0:
            print(
                json.dumps(
                    {"positions": a.positions, "step": step + 1, "loss": round(sum(losses[-LOG_STEPS:]) / LOG_STEPS, 3)}
                ),
                flush=True,
            )


if __name__ == "__main__":
    main()
