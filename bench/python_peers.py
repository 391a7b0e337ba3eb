#!/usr/bin/env python3
"""The Python package beside what people have, in one run, in turns: rows a second, import to the first answer, peak
memory, and the largest difference of a score.

usage: python_peers.py -m MODEL --pairs FILE --python OURS --peers PYTHON [--rounds 3] [--rows 10000]
MODEL is a sequence classifier that both can read; FILE has two texts a line, separated by a tab; OURS is an interpreter
with the wheel, PYTHON one with transformers 4.57 and sentence-transformers 5. Each contestant is a process of its own.
"""

import argparse
import json
import statistics
import subprocess
import sys

# Each defines answer(pairs) -> the scores of the first class of each pair, after its imports.
CONTESTANTS = {
    "deberta": """
import deberta
opened = deberta.open(model)
def answer(pairs):
    return opened.scores([a for a, _ in pairs], [b for _, b in pairs], function="softmax")[:, 0].tolist()
""",
    "transformers": """
import transformers
opened = transformers.pipeline("text-classification", model=model, batch_size=32, top_k=None)
first = opened.model.config.id2label[0]
def answer(pairs):
    made = opened([{"text": a, "text_pair": b} for a, b in pairs], truncation=True, function_to_apply="softmax")
    return [next(one["score"] for one in row if one["label"] == first) for row in made]
""",
    "sentence-transformers": """
from sentence_transformers import CrossEncoder
opened = CrossEncoder(model)
def answer(pairs):
    return opened.predict(pairs, batch_size=32, apply_softmax=True)[:, 0].tolist()
""",
}
WORK = """
import json, resource, sys, time
begin = time.perf_counter()
model, count = sys.argv[1], int(sys.argv[2])
pairs = [tuple(line.rstrip("\\n").split("\\t")) for line in open(sys.argv[3])][:count]
%s
answer(pairs[:1])
ready = time.perf_counter() - begin
begin = time.perf_counter()
scores = answer(pairs)
took = time.perf_counter() - begin
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
print(json.dumps({"ready_s": ready, "rows_s": len(pairs) / took, "peak_mib": peak, "scores": scores}))
"""


def measure(name, python, arguments):
    words = [python, "-c", WORK % CONTESTANTS[name], arguments.model, str(arguments.rows), arguments.pairs]
    return json.loads(subprocess.run(words, stdout=subprocess.PIPE, check=True, text=True).stdout.splitlines()[-1])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-m", "--model", required=True)
    parser.add_argument("--pairs", required=True)
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--peers", required=True)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--rows", type=int, default=10000)
    arguments = parser.parse_args()
    made = {name: [] for name in CONTESTANTS}
    for _ in range(arguments.rounds):
        for name in CONTESTANTS:
            python = arguments.python if name == "deberta" else arguments.peers
            made[name].append(measure(name, python, arguments))
    ours = made["deberta"][0]["scores"]
    print("| | rows/s | import to first answer, s | peak memory, MiB | largest difference |\n|---|---|---|---|---|")
    for name, rounds in made.items():
        figures = [statistics.median(one[key] for one in rounds) for key in ("rows_s", "ready_s", "peak_mib")]
        difference = max(abs(a - b) for a, b in zip(ours, rounds[0]["scores"]))
        print(f"| {name} | {figures[0]:,.0f} | {figures[1]:.2f} | {figures[2]:,.0f} | {difference:.1e} |")


if __name__ == "__main__":
    main()
