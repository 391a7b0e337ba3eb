#!/usr/bin/env python3
"""The Python package beside what people have, in one run, in turns: rows a second on pairs and on long texts, import to
the first answer, peak memory, and the largest difference of a score.

usage: python_peers.py -m MODEL --python OURS --peers PEERS --pairs FILE... --long FILE [--rounds 3] [--rows 10000]
MODEL is a sequence classifier that both can read; --pairs takes tables with the columns premise and hypothesis, the
same number of rows from each (.csv.xz of ../shared/data/nli), --long a file of paragraphs (.txt.xz), of which 300 words
in a row make a text. OURS is an interpreter with the wheel, PEERS one with transformers 4.57, sentence-transformers and
onnxruntime. Each contestant is a process of its own with all processors; texts are cut at 512 tokens. The ONNX file is
made once, in the user's cache folder.
"""

import argparse
import csv
import itertools
import json
import lzma
import pathlib
import statistics
import subprocess
import sys

from contestants import found_by, work_folder

# Each defines answer(rows) -> the scores of the first class of each row, a list of one text or two, after its imports.
CONTESTANTS = {
    "deberta": """
import deberta
opened = deberta.open(model, dtype="fp32")
def answer(rows):
    pairs = [row[1] for row in rows] if len(rows[0]) == 2 else None
    return opened.scores([row[0] for row in rows], pairs, function="softmax", max_tokens=512)[:, 0].tolist()
""",
    "deberta, its own dtype": """
import deberta
opened = deberta.open(model)
def answer(rows):
    pairs = [row[1] for row in rows] if len(rows[0]) == 2 else None
    return opened.scores([row[0] for row in rows], pairs, function="softmax", max_tokens=512)[:, 0].tolist()
""",
    "transformers": """
import transformers
opened = transformers.pipeline("text-classification", model=model, batch_size=32, top_k=None)
first = opened.model.config.id2label[0]
def answer(rows):
    given = [dict(zip(("text", "text_pair"), row)) for row in rows]
    made = opened(given, truncation=True, max_length=512, function_to_apply="softmax")
    return [next(one["score"] for one in row if one["label"] == first) for row in made]
""",
    "sentence-transformers": """
import torch
from sentence_transformers import CrossEncoder
opened = CrossEncoder(model, max_length=512, activation_fn=torch.nn.Softmax(dim=-1))
def answer(rows):
    given = rows if len(rows[0]) == 2 else [row[0] for row in rows]
    return opened.predict(given, batch_size=32)[:, 0].tolist()
""",
    "onnxruntime": """
import numpy, onnxruntime, transformers
session = onnxruntime.InferenceSession(onnx, providers=["CPUExecutionProvider"])
tokenizer = transformers.AutoTokenizer.from_pretrained(model)
def answer(rows):
    order, scores = sorted(range(len(rows)), key=lambda i: -sum(map(len, rows[i]))), [0.0] * len(rows)
    for begin in range(0, len(rows), 32):
        some = order[begin : begin + 32]
        columns = list(map(list, zip(*(rows[i] for i in some))))
        given = tokenizer(*columns, padding=True, truncation=True, max_length=512, return_tensors="np")
        logits = session.run(None, {"ids": given["input_ids"], "mask": given["attention_mask"]})[0].astype("float64")
        powers = numpy.exp(logits - logits.max(1, keepdims=True))
        for i, score in zip(some, powers[:, 0] / powers.sum(1)):
            scores[i] = float(score)
    return scores
""",
}
EXPORT = """
import sys, torch, transformers
model = transformers.AutoModelForSequenceClassification.from_pretrained(sys.argv[1]).eval()
class Logits(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.model = model
    def forward(self, ids, mask):
        return self.model(ids, attention_mask=mask).logits
inputs = (torch.randint(4, 1000, (2, 64)), torch.ones(2, 64, dtype=torch.long))
axes = {"ids": {0: "b", 1: "n"}, "mask": {0: "b", 1: "n"}, "logits": {0: "b"}}
torch.onnx.export(Logits(), inputs, sys.argv[2], input_names=["ids", "mask"], output_names=["logits"],
                  dynamic_axes=axes, opset_version=17, dynamo=False)
"""
WORK_CODE = """
import json, resource, sys, time, warnings
warnings.simplefilter("ignore")
asked = json.load(open(sys.argv[1]))
model, onnx = asked["model"], asked["onnx"]
begin = time.perf_counter()
%s
answer(asked["pairs"][:1])
found = {"ready_s": time.perf_counter() - begin}
for kind in ("pairs", "long"):
    begin = time.perf_counter()
    found[kind + "_scores"] = answer(asked[kind])
    found[kind + "_s"] = len(asked[kind]) / (time.perf_counter() - begin)
found["peak_mib"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
print(json.dumps(found))
"""


def pairs_of(path, count):
    with lzma.open(path, "rt", encoding="utf-8", newline="") as file:
        return [[row["premise"], row["hypothesis"]] for row in itertools.islice(csv.DictReader(file), count)]


def long_texts(path, count):
    """Texts of 300 words: neighbours, which say something together."""
    with lzma.open(path, "rt", encoding="utf-8") as file:
        words = list(itertools.islice(itertools.chain.from_iterable(line.split() for line in file), 300 * count))
    return [[" ".join(words[begin : begin + 300])] for begin in range(0, len(words), 300)]


def measure(name, arguments, asked):
    python = arguments.python if name.startswith("deberta") else arguments.peers
    return found_by(name, python, WORK_CODE % CONTESTANTS[name], asked)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-m", "--model", required=True)
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--peers", required=True)
    parser.add_argument("--pairs", nargs="+", type=pathlib.Path, required=True)
    parser.add_argument("--long", type=pathlib.Path, required=True)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--rows", type=int, default=10000)
    arguments = parser.parse_args()
    work = work_folder("python-peers")
    model = pathlib.Path(arguments.model).resolve()
    onnx = work / f"{model.name}.onnx"
    if not onnx.exists():
        subprocess.run([arguments.peers, "-c", EXPORT, model, onnx], check=True)
    each = arguments.rows // len(arguments.pairs)
    asked = work / "asked.json"
    rows = {
        "pairs": [row for path in arguments.pairs for row in pairs_of(path, each)],
        "long": long_texts(arguments.long, max(1, arguments.rows // 100)),
    }
    asked.write_text(json.dumps(rows | {"model": str(model), "onnx": str(onnx)}))
    print(f"{len(rows['pairs'])} pairs, {len(rows['long'])} texts of 300 words, {arguments.rounds} rounds")
    made = {name: [] for name in CONTESTANTS}
    for number in range(arguments.rounds):
        for name in CONTESTANTS:
            made[name].append(measure(name, arguments, str(asked)))
            last = made[name][-1]
            print(f"round {number + 1}: {name}: {last['pairs_s']:.1f} and {last['long_s']:.2f} rows/s", flush=True)
    print("| | pairs/s | long texts/s | import to first answer, s | peak memory, MiB | largest difference |")
    print("|---|---|---|---|---|---|")
    ours = made["deberta"][0]
    for name, rounds in made.items():
        keys = ("pairs_s", "long_s", "ready_s", "peak_mib")
        pairs, long, ready, peak = (statistics.median(one[key] for one in rounds) for key in keys)
        difference = max(
            abs(a - b)
            for key in ("pairs_scores", "long_scores")
            for a, b in zip(ours[key], rounds[0][key], strict=True)
        )
        print(f"| {name} | {pairs:,.1f} | {long:,.2f} | {ready:.2f} | {peak:,.0f} | {difference:.1e} |")


if __name__ == "__main__":
    main()
