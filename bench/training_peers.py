#!/usr/bin/env python3
"""Steps of training by transformers, as its users train: padded batches, AdamW, the norm of the gradient clipped.
compare_training.py runs it with an interpreter that has torch and transformers 4.57; alone it serves to try one peer.

usage: training_peers.py step DIR --peer PEER --threads N [--budget S]
       training_peers.py finetune DIR --peer PEER --threads N --train TSV --dev TSV [--samples N] [--epochs N]
           [--seed N] [--learning-rate X]
PEER: hf, hf-bf16 (autocast), compile, compile-bf16 (torch.compile).
step: for each line of stdin, the lengths of one batch (`128 128 128`), a line with the least and the median of the
seconds of its steps within the budget, of which there is at least one.
finetune: SST-2 with dynamic padding, in batches of 32; a line with the time of its steps and the accuracy on the dev
file.
"""

import argparse
import csv
import json
import lzma
import random
import statistics
import sys
import time
import warnings

import torch
from transformers import AutoTokenizer, DebertaV2ForSequenceClassification

warnings.filterwarnings("ignore")
BATCH = 32


def peak_mb():
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) // 1024 for line in status if line.startswith("VmHWM"))


class Trainer:
    def __init__(self, a, labels=3):
        torch.set_num_threads(a.threads)
        torch.manual_seed(a.seed)
        self.model = DebertaV2ForSequenceClassification.from_pretrained(
            a.model, num_labels=labels, ignore_mismatched_sizes=True
        ).train()
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=a.learning_rate, fused=True)
        self.is_bf16 = a.peer.endswith("bf16")
        self.forward = torch.compile(self.model) if a.peer.startswith("compile") else self.model

    def loss(self, ids, mask, labels):
        with torch.autocast("cpu", torch.bfloat16, enabled=self.is_bf16):
            return self.forward(ids, attention_mask=mask, labels=labels).loss

    def step(self, ids, mask, labels):
        self.loss(ids, mask, labels).backward()
        torch.nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
        self.optimizer.step()
        self.optimizer.zero_grad(set_to_none=True)


def padded(rows):
    longest = max(map(len, rows))
    ids = torch.zeros(len(rows), longest, dtype=torch.long)
    mask = torch.zeros_like(ids)
    for i, row in enumerate(rows):
        ids[i, : len(row)] = torch.as_tensor(row)
        mask[i, : len(row)] = 1
    return ids, mask


def measure_steps(a):
    trainer, warm = Trainer(a), None
    for line in sys.stdin:
        lengths = [int(word) for word in line.split()]
        ids, mask = padded([torch.randint(4, 1000, (length,)).tolist() for length in lengths])
        labels = torch.zeros(len(lengths), dtype=torch.long)
        seconds = []
        if lengths != warm:  # compiles, where these lengths are new
            trainer.step(ids, mask, labels)
            warm = lengths
        while not seconds or sum(seconds) < a.budget:
            begin = time.perf_counter()
            trainer.step(ids, mask, labels)
            seconds.append(time.perf_counter() - begin)
        print(
            json.dumps(
                {
                    "what": "train",
                    "peer": a.peer,
                    "batch": len(lengths),
                    "seq": lengths[0],
                    "tokens": sum(lengths),
                    "s": round(min(seconds), 4),
                    "s_median": round(statistics.median(seconds), 4),
                    "tokens_per_s": round(sum(lengths) / min(seconds)),
                    "peak_mb": peak_mb(),
                }
            ),
            flush=True,
        )


def sst2(path):
    """[(text, label)]"""
    with lzma.open(path, "rt", encoding="utf-8") if path.endswith(".xz") else open(path, encoding="utf-8") as text:
        return [
            (row["sentence"], int(row["label"])) for row in csv.DictReader(text, delimiter="\t", quoting=csv.QUOTE_NONE)
        ]


def accuracy(model, rows):
    model.eval()
    right = 0
    with torch.no_grad():
        for at in range(0, len(rows), BATCH):
            ids, mask = padded([row for row, _ in rows[at : at + BATCH]])
            found = model(ids, attention_mask=mask).logits.argmax(-1).tolist()
            right += sum(label == other for label, (_, other) in zip(found, rows[at : at + BATCH]))
    return right / len(rows)


def finetune(a):
    tokenizer = AutoTokenizer.from_pretrained(a.model)
    encode = lambda rows: [
        (tokenizer(text, truncation=True, max_length=256)["input_ids"], label) for text, label in rows
    ]
    train, dev = encode(sst2(a.train)[: a.samples or None]), encode(sst2(a.dev))
    trainer = Trainer(a, labels=2)
    steps = a.epochs * -(-len(train) // BATCH)
    warmup = steps // 10
    schedule = torch.optim.lr_scheduler.LambdaLR(
        trainer.optimizer, lambda n: min((n + 1) / max(1, warmup), (steps - n) / max(1, steps - warmup))
    )
    tokens, begin = 0, time.perf_counter()
    for epoch in range(a.epochs):
        random.Random(f"{a.seed} {epoch}").shuffle(train)
        for at in range(0, len(train), BATCH):
            batch = train[at : at + BATCH]
            ids, mask = padded([row for row, _ in batch])
            tokens += int(mask.sum())
            trainer.step(ids, mask, torch.tensor([label for _, label in batch]))
            schedule.step()
    seconds = time.perf_counter() - begin
    print(
        json.dumps(
            {
                "what": "finetune",
                "peer": a.peer,
                "seed": a.seed,
                "steps": steps,
                "tokens": tokens,
                "s": round(seconds, 1),
                "tokens_per_s": round(tokens / seconds),
                "accuracy": round(accuracy(trainer.model, dev), 4),
                "peak_mb": peak_mb(),
            }
        ),
        flush=True,
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("verb", choices=["step", "finetune"])
    parser.add_argument("model")
    parser.add_argument("--peer", required=True, choices=["hf", "hf-bf16", "compile", "compile-bf16"])
    parser.add_argument("--threads", required=True, type=int)
    parser.add_argument("--budget", type=float, default=1.0, help="seconds for the steps of a line")
    parser.add_argument("--train")
    parser.add_argument("--dev")
    parser.add_argument("--samples", type=int, default=0)
    parser.add_argument("--epochs", type=int, default=1)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--learning-rate", type=float, default=1e-5)
    a = parser.parse_args()
    measure_steps(a) if a.verb == "step" else finetune(a)


if __name__ == "__main__":
    main()
