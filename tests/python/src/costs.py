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

    def whole():
        pipeline.classify("a fine film")

    def bare():
        core.run("classify", ["a fine film"], None, None, names, {}, False)

    pairs = [(seconds(whole) * 1e6, seconds(bare) * 1e6) for _ in range(2000)]  # in turns
    took, more = statistics.median(one for one, _ in pairs), statistics.median(one - other for one, other in pairs)
    print(f"one short text: {took:.0f} us, {more:.1f} us of them in the package's Python")


def many_rows(pipeline, model, program):
    rows = [f"a fine film number {i} with two good parts" for i in range(10000)]
    rounds = []
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as file:
        file.write("\n".join(rows))
        file.flush()
        words = [program, "classify", "-m", model, "--threads", "1", "-i", file.name, "-f", "jsonl", "-o", "/dev/null"]
        for _ in range(7):  # in turns
            theirs = seconds(lambda: subprocess.run(words, check=True, capture_output=True))
            rounds.append((10000 / seconds(lambda: pipeline.classify(rows)), 10000 / theirs))
    ours, program_rate, share = (
        statistics.median(values) for values in (*zip(*rounds, strict=True), [one / other for one, other in rounds])
    )
    print(f"10,000 rows: {ours:,.0f} rows/s; the program, its start included, {program_rate:,.0f}: {share:.1%}")


if __name__ == "__main__":
    opened = deberta.open(sys.argv[1], threads=1)
    border(opened)
    one_text(opened)
    many_rows(opened, *sys.argv[1:3])
