#!/usr/bin/env python3
"""`extract` beside what people have, in one run, in turns: gliner on torch with its packing, gliner as it is, and
fast_gliner on the ONNX file that gliner exports of the same weights. Texts a second, the largest difference of a score,
and the shares of entities that others find too.

usage: extract_peers.py --python OURS --peers PEERS --tokenizer SPM --texts FILE [--rounds 5] [--count 200] [--chunks]
OURS is an interpreter that imports deberta (with PYTHONPATH=build/dev/python, or with the wheel), PEERS one with gliner
0.2.29, onnx and fast_gliner 0.3.2; SPM the spm.model of a tokenizer, FILE a text a line (xz too), of which lines spread
evenly are taken. The model has the shape of v3-base and random weights, and is kept in the user's cache
folder. Each contestant is a process of its own with two threads. With --chunks the texts are cut as presidio cuts them
(2.2.366, in PEERS too: 250 characters, 50 of them twice), and each chunk is a call: of gliner, and of a server of ours
(DEBERTA_BINARY, or build/release/deberta).
"""

import argparse
import json
import lzma
import os
import pathlib
import statistics
import subprocess
import sys

from contestants import found_by, work_folder

LABELS = ["person", "city", "country", "company", "date", "book", "river", "currency"]
THRESHOLD = 0.5
MAKE = """
import json, pathlib, sys
import torch, transformers
from gliner import GLiNER
from gliner.config import GLiNERConfig
base, place = pathlib.Path(sys.argv[2]) / "base", sys.argv[2]
tokenizer = transformers.DebertaV2TokenizerFast(vocab_file=sys.argv[1])
tokenizer.save_pretrained(base)
encoder = {"model_type": "deberta-v2", "hidden_size": 768, "num_hidden_layers": 12, "num_attention_heads": 12,
           "intermediate_size": 3072, "relative_attention": True, "pos_att_type": ["c2p", "p2c"],
           "position_buckets": 256, "max_relative_positions": -1, "max_position_embeddings": 512,
           "share_att_key": True, "norm_rel_ebd": "layer_norm", "position_biased_input": False, "type_vocab_size": 0,
           "vocab_size": max(128100, len(tokenizer))}
(base / "config.json").write_text(json.dumps(encoder))
torch.manual_seed(1)
config = GLiNERConfig(model_name=str(base), encoder_config=encoder, span_mode="markerV0", hidden_size=512,
                      max_width=12, max_len=384)
model = GLiNER.from_config(config, backbone_from_pretrained=False)
model.save_pretrained(place, safe_serialization=True)
GLiNER.from_pretrained(place, local_files_only=True).export_to_onnx(place)
"""
# Each defines answer(texts) -> for each text a list of (start, end, label, score), after its imports.
OURS = """
import deberta
opened = deberta.open(model, dtype={dtype!r}, threads=2, allow_uncalibrated=True)
def answer(texts):
    return [[(e.start, e.end, e.entity_group, e.score) for e in row.entities]
            for row in opened.extract(texts, labels=labels, threshold=threshold)]
"""
GLINER = """
import torch
torch.set_num_threads(2)
from gliner import GLiNER, InferencePackingConfig
opened = GLiNER.from_pretrained(model, local_files_only=True)
packing = InferencePackingConfig(max_length=512, sep_token_id=opened.data_processor.transformer_tokenizer.sep_token_id)
def answer(texts):
    found = opened.inference(texts, labels, threshold=threshold, packing_config={packing})
    return [[(e["start"], e["end"], e["label"], e["score"]) for e in row] for row in found]
"""
FAST = """
from fast_gliner import FastGLiNER
opened = FastGLiNER.from_pretrained(model, onnx_path="model.onnx")
def answer(texts):
    rows = [opened.predict_entities(text, labels) for text in texts]
    return [[(e["start"], e["end"], e["label"], e["score"]) for e in row] for row in rows]
"""
CONTESTANTS = {
    "deberta, fp32": ("ours", OURS.format(dtype="fp32")),
    "gliner, its packing": ("peers", GLINER.format(packing="packing")),
    "gliner": ("peers", GLINER.format(packing="None")),
    "fast_gliner": ("peers", FAST),
    "deberta, bf16": ("ours", OURS.format(dtype="bf16")),
    "deberta, int8": ("ours", OURS.format(dtype="int8")),
}
SERVER = """
import http.client, subprocess
words = [{program!r}, "serve", "--port", "0", "-q", "--threads", "2", "-m", model]
server = subprocess.Popen(words, stdout=subprocess.PIPE, text=True)
port = int(server.stdout.readline().split()[0].rsplit(":", 1)[1])
connection = http.client.HTTPConnection("127.0.0.1", port)
def answer(texts):
    rows = []
    for text in texts:
        body = json.dumps(dict(text=text, labels=labels, threshold=threshold))
        connection.request("POST", "/gliner", body, {{"content-type": "application/json"}})
        rows.append(json.loads(connection.getresponse().read())["entities"])
    return [[(e["start"], e["end"], e["label"], e["score"]) for e in row] for row in rows]
"""
ONE_BY_ONE = """
import torch
torch.set_num_threads(2)
from gliner import GLiNER
opened = GLiNER.from_pretrained(model, local_files_only=True)
def answer(texts):
    rows = [opened.predict_entities(text, labels, threshold=threshold) for text in texts]
    return [[(e["start"], e["end"], e["label"], e["score"]) for e in row] for row in rows]
"""
PROGRAM = os.environ.get(
    "DEBERTA_BINARY", str(pathlib.Path(__file__).resolve().parent.parent / "build/release/deberta")
)
OF_CHUNKS = {"deberta serve": ("ours", SERVER.format(program=PROGRAM)), "gliner, a call each": ("peers", ONE_BY_ONE)}
CUT = """
import json, sys
from presidio_analyzer.chunkers import CharacterBasedTextChunker
chunker = CharacterBasedTextChunker(chunk_size=250, chunk_overlap=50)
asked = json.load(open(sys.argv[1]))
print(json.dumps([chunk.text for text in asked["texts"] for chunk in chunker.chunk(text)]))
"""
RUN = """
import json, sys, time, warnings
warnings.simplefilter("ignore")
asked = json.load(open(sys.argv[1]))
model, labels, threshold, texts = asked["model"], asked["labels"], asked["threshold"], asked["texts"]
%s
answer(texts[:4])
begin = time.perf_counter()
found = answer(texts)
print(json.dumps({"texts_s": len(texts) / (time.perf_counter() - begin), "found": found}))
if "server" in globals():
    server.terminate()
"""


def take_texts(path, count):
    opener = lzma.open if path.suffix == ".xz" else open
    with opener(path, "rt", encoding="utf-8") as file:
        lines = [line.strip() for line in file if len(line.split()) >= 5]
    return [" ".join(line.split()[:250]) for line in lines[:: max(1, len(lines) // count)]][:count]


def measure(name, arguments, asked):
    place, code = (CONTESTANTS | OF_CHUNKS)[name]
    python = arguments.python if place == "ours" else arguments.peers
    return found_by(name, python, RUN % code, asked)


def agreement(ours, theirs):
    """The share of spans and labels of one that the other has too, and the largest difference of their scores."""
    both = of_either = 0
    largest = 0.0
    for row, other in zip(ours, theirs):
        scores = {tuple(one[:3]): one[3] for one in row}
        others = {tuple(one[:3]): one[3] for one in other}
        both += len(scores.keys() & others.keys())
        of_either += len(scores.keys() | others.keys())
        largest = max([largest, *(abs(scores[key] - others[key]) for key in scores.keys() & others.keys())])
    return both / max(1, of_either), largest


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--peers", required=True)
    parser.add_argument("--tokenizer", required=True)
    parser.add_argument("--texts", type=pathlib.Path, required=True)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--only", nargs="*")
    parser.add_argument("--chunks", action="store_true")
    arguments = parser.parse_args()
    only = arguments.only or list(OF_CHUNKS if arguments.chunks else CONTESTANTS)
    work = work_folder("extract-peers")
    model = work / "model"
    if not (model / "model.onnx").exists():
        model.mkdir(parents=True, exist_ok=True)
        subprocess.run([arguments.peers, "-c", MAKE, arguments.tokenizer, model], check=True)
    texts = take_texts(arguments.texts, arguments.count)
    asked = work / "asked.json"
    task = {"model": str(model), "labels": LABELS, "threshold": THRESHOLD, "texts": texts}
    asked.write_text(json.dumps(task))
    if arguments.chunks:
        texts = found_by("presidio", arguments.peers, CUT, str(asked))
        asked.write_text(json.dumps(task | {"texts": texts}))
    words = [len(text.split()) for text in texts]
    print(f"{len(texts)} texts, {min(words)} to {max(words)} words, median {statistics.median(words):.0f}; 8 labels")
    rounds = {name: [] for name in only}
    for number in range(arguments.rounds):
        for name in only:
            rounds[name].append(measure(name, arguments, str(asked)))
            print(f"round {number + 1}: {name}: {rounds[name][-1]['texts_s']:.2f} texts/s", flush=True)
    first = only[0]
    print(f"| | texts/s | times {first} (median of rounds) | entities of both | largest difference |")
    print("|---|---|---|---|---|")
    for name, made in rounds.items():
        ratio = statistics.median(one["texts_s"] / base["texts_s"] for one, base in zip(made, rounds[first]))
        share, largest = agreement(rounds[first][0]["found"], made[0]["found"])
        rate = statistics.median(one["texts_s"] for one in made)
        print(f"| {name} | {rate:.2f} | {ratio:.2f} | {share:.1%} | {largest:.1e} |")


if __name__ == "__main__":
    main()
