"""What threads and processes share: workers.py MODEL [threads|calls|pool|leaks...], with the package that is installed.

threads: two threads with a pipeline of one processor each, against one such thread, in turns; calls: 8 threads with
1,000 calls each on one pipeline, each answer compared; pool: the weights in 4 spawned workers and their parent, mapped
and packed, whose pages count once; leaks: objects and memory over 10,000 calls of every
kind."""

import concurrent.futures
import gc
import multiprocessing
import os
import pickle
import re
import statistics
import sys
import time
from pathlib import Path

import deberta

TEXTS = [f"a fine film number {i} with two good parts that nobody saw" for i in range(64)]
MIB = 1 << 20


def seconds(call):
    begin = time.perf_counter()
    call()
    return time.perf_counter() - begin


def report(name, is_good, text):
    print(f"{name}: {text}{'' if is_good else ': NOT as promised'}", flush=True)
    return is_good


def threads(model):
    """The rate of two threads over that of one; on processors that other work takes it says little."""
    pipelines = [deberta.open(model, threads=1) for _ in range(2)]
    rows = TEXTS * 8
    with concurrent.futures.ThreadPoolExecutor(2) as executor:

        def both():
            list(executor.map(lambda pipeline: pipeline.classify(rows), pipelines))

        both()
        rounds = [(seconds(lambda: pipelines[0].classify(rows)), seconds(both)) for _ in range(9)]
    share = statistics.median(2 * one / two for one, two in rounds)
    return report("threads", share >= 1.8, f"two are {share:.2f} times one (1.8 promised), {os.cpu_count()} processors")


def calls(model):
    pipeline = deberta.open(model, threads=1)
    expected = [pipeline.classify(text) for text in TEXTS]

    def wrong(seed):
        asked = ((seed * 7 + i) % len(TEXTS) for i in range(1000))
        return sum(pipeline.classify(TEXTS[i]) != expected[i] for i in asked)

    found = []
    with concurrent.futures.ThreadPoolExecutor(8) as executor:
        took = seconds(lambda: found.extend(executor.map(wrong, range(8))))
    return report("calls", not any(found), f"8 threads x 1,000 in {took:.1f} s, {sum(found)} answers differ")


# ---- a pool


PACKED = "deberta-weights-"  # in the name of the file that holds the packed matrices (src/base/shared_pages.h)


def memory_of(process, name=""):
    """Bytes {Pss, Rss, Private_Dirty} of a process, or of what it maps from files with `name` in theirs."""
    sums = dict.fromkeys(("Pss", "Rss", "Private_Dirty"), 0)
    is_asked = not name
    for line in Path(f"/proc/{process}/smaps").read_text().splitlines():
        if re.match(r"[0-9a-f]+-[0-9a-f]+ ", line):
            is_asked = name in line
        elif is_asked and (found := re.match(r"(\w+): +(\d+) kB", line)) and found[1] in sums:
            sums[found[1]] += int(found[2]) * 1024
    return sums


def answer(pickled):
    """In a worker: opened by its pickle, used, and kept until the others have theirs. The memory of its own it took."""
    global kept
    before = memory_of(os.getpid())["Private_Dirty"]
    kept = pickle.loads(pickled)
    kept.classify(TEXTS)
    grown = memory_of(os.getpid())["Private_Dirty"] - before
    time.sleep(1)  # so that each worker takes one of the four
    return os.getpid(), grown


def pool(model):
    """Four workers are asked in turn to open the pickle; then all of them and the parent hold the model at once."""
    pipeline = deberta.open(model, threads=1, share_weights=True)
    pipeline.classify(TEXTS)
    weights = f"{pipeline.path}/model.safetensors"
    with multiprocessing.get_context("spawn").Pool(4) as workers:
        grown = dict(workers.map(answer, [pickle.dumps(pipeline)] * 4, chunksize=1))
        held = sorted(grown)
        mapped = {
            name: [memory_of(process, name)["Pss"] for process in [*held, os.getpid()]] for name in (weights, PACKED)
        }
    size, packed = Path(weights).stat().st_size, pipeline.model.info["memory_bytes"]
    are_once = sum(mapped[weights]) <= 1.02 * size and 0.9 * packed <= sum(mapped[PACKED]) <= 1.02 * packed
    each = ", ".join(f"{grown[process] / MIB:.1f}" for process in held)
    text = (
        f"the parent and {len(held)} workers together hold {sum(mapped[weights]) / MIB:.1f} MiB (PSS) of "
        f"{size / MIB:.1f} MiB of mapped weights and {sum(mapped[PACKED]) / MIB:.1f} MiB of {packed / MIB:.1f} MiB of "
        f"packed ones; memory of its own that each worker took for them, the tokenizer and 64 texts: {each} MiB"
    )
    return report("pool", len(held) == 4 and are_once, text)


# ---- leaks


def kinds_of_calls(pipeline):
    def refused():
        try:
            pipeline.classify(["a", None])
        except deberta.Error:
            return

    ids = pipeline.tokenizer.encode(TEXTS[0]).ids
    return (
        lambda: pipeline.classify(TEXTS[0]),
        lambda: pipeline.classify(TEXTS[:3], errors="keep", top_k=2).to_dicts(),
        lambda: pipeline.scores(TEXTS[:2]),
        lambda: pipeline.embed(TEXTS[:2]),
        lambda: pipeline.tokenizer.encode(TEXTS[0], TEXTS[1]),
        lambda: pipeline.model.forward([ids], layers=[-1]).hidden,
        lambda: list(pipeline.stream("classify", TEXTS[:4], group=2)),
        lambda: pipeline.classify(TEXTS[:2]).__arrow_c_stream__(),
        lambda: pipeline.model.info,
        refused,
    )


def leaks(model):
    """After 1,000 calls of warming up: nothing that grows with the calls."""
    pipeline = deberta.open(model, threads=1)
    asked = kinds_of_calls(pipeline)

    def some(count):
        for i in range(count):
            asked[i % len(asked)]()
        gc.collect()
        return len(gc.get_objects()), memory_of(os.getpid())["Rss"]

    before, after = some(1000), some(10000)
    objects, grown = after[0] - before[0], after[1] - before[1]
    is_good = objects < 100 and grown < 2 * MIB
    return report("leaks", is_good, f"10,000 calls: {objects:+} objects, {grown / MIB:+.2f} MiB resident")


if __name__ == "__main__":
    parts = {"threads": threads, "calls": calls, "pool": pool, "leaks": leaks}
    done = [parts[name](sys.argv[1]) for name in sys.argv[2:] or parts]
    sys.exit(0 if all(done) else 1)
