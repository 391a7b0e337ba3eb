"""What the border between Python and C++ costs: costs.py MODEL PROGRAM, with the package that is installed."""

import contextlib
import statistics
import subprocess
import sys
import tempfile
import time

import deberta


def median_us(call, times):
    took = []
    for _ in range(times):
        begin = time.perf_counter()
        call()
        took.append(time.perf_counter() - begin)
    return statistics.median(took) * 1e6


def seconds(call):
    begin = time.perf_counter()
    call()
    return time.perf_counter() - begin


def border(pipeline):
    """1,000 strings cross, and all are refused: by a parameter that is read after them."""
    texts = [f"a fine film number {i}" for i in range(1000)]

    def refused(rows):
        with contextlib.suppress(deberta.Error):
            pipeline.classify(rows, max_tokens=0)

    whole, nothing = (median_us(lambda rows=rows: refused(rows), 2000) for rows in (texts, texts[:1]))
    print(f"1,000 strings across the border: {whole - nothing:.0f} us")


def one_text(pipeline):
    core = pipeline._core
    names = ["texts", "pairs", ""]
    whole = median_us(lambda: pipeline.classify("a fine film"), 2000)
    bare = median_us(lambda: core.run("classify", ["a fine film"], None, None, names, {}, False), 2000)
    print(f"one short text: {whole:.0f} us, {whole - bare:.1f} us of them in the package's Python")


def many_rows(pipeline, model, program):
    rows = [f"a fine film number {i} with two good parts" for i in range(10000)]
    ours = seconds(lambda: pipeline.classify(rows))
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as file:
        file.write("\n".join(rows))
        file.flush()
        words = [program, "classify", "-m", model, "--threads", "1", "-i", file.name, "-f", "jsonl", "-o", "/dev/null"]
        theirs = seconds(lambda: subprocess.run(words, check=True, capture_output=True))
    print(f"10,000 rows: {10000 / ours:,.0f} rows/s; the program, its start included, {10000 / theirs:,.0f}")


if __name__ == "__main__":
    opened = deberta.open(sys.argv[1], threads=1)
    border(opened)
    one_text(opened)
    many_rows(opened, *sys.argv[1:3])
