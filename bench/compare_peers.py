#!/usr/bin/env python3
"""Ours and other libraries in one interleaved run: a round is every figure of ours and then every peer's, so that a machine
that slows down slows both. For each row of the targets the ratio of a round is taken against the best peer of the same
precision in that round; the page shows medians and lower quartiles. Writes performance.md and performance.svg.

usage: compare_peers.py -m DIR --python PYTHON_OF_THE_PEERS [--rounds 9] [--output docs]
DIR is a checkpoint that both can read, such as `peers.py make DIR` writes, SPM a tokenizer whose ids it has; needs only the
standard library here. With --tokenizer-bench the tokenizer is timed too.
"""
import argparse
import collections
import json
import lzma
import os
import pathlib
import platform
import statistics
import struct
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
PEERS = {"fp32": ["hf", "ort", "ov"], "bf16": ["hf-bf16", "ov-bf16"], "int8": ["ort-int8"]}
DTYPES = tuple(PEERS)
SLOW_PEERS = ("hf", "hf-bf16")  # far behind the others: latency in every third round, no real lengths
PARTS = 9  # a round takes every ninth of the real lengths, the next round the next ones
# What a row must reach, by precision; rows are those of the targets.
FLOORS = {"T1 one sequence, n = 32": (1.25, 1.4, 1.8), "T2 one sequence, n = 128": (1.12, 1.2, 1.7), "T3 one sequence, n = 512": (1.3, 1.4, 2.4),
          "T4 real lengths": (1.4, 1.7, 2.5), "T4 real lengths, filter mode timed from outside": (1.4, 1.7, 2.5),
          "T5 of the machine's limit, n = 128": (0.8, 0.75, 0.6), "T5 of its limit without AMX, n = 128": (0.8, 0.75, 0.6),
          "T5 of the machine's limit, n = 512": (0.8, 0.75, 0.6), "T5 of its limit without AMX, n = 512": (0.8, 0.75, 0.6),
          "T8 tokens/s at n = 2048 over n = 512": (0.6, 0.6, 0.6), "T9 idle over contended latency, n = 128": (1 / 3, 1 / 3, 1 / 3),
          "real lengths, two threads over one": (1.8, 1.8, 1.8),
          "real lengths, two threads over one, by shares of the limit": (1.8, 1.8, 1.8),
          **{f"tokens/s at n = 32, batch {batch} over {batch // 2}": (0.95, 0.95, 0.95) for batch in (2, 4, 8, 16)}}
TOKENIZER_FLOORS = {"T7 tokenizer over sentencepiece, one thread": 2, "T7 tokenizer over the fast HF one, one thread": 15, "T7 tokenizer, two threads over one": 1.9}
WITHOUT_AMX = {"bf16": "avx512_bf16", "int8": "avx512_vnni"}
LATENCY = {32: "T1 one sequence, n = 32", 128: "T2 one sequence, n = 128", 512: "T3 one sequence, n = 512"}


def json_lines(command):
    process = subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    return [json.loads(line) for line in process.stdout.splitlines() if line.startswith("{")]


def bench(a, dtype, lengths, *more, threads=None):
    command = [a.program, "bench", "-m", a.model, "--dtype", dtype, "--threads", threads or a.threads, "--budget", a.budget, "--lengths", lengths, "--json", *more]
    lines = json_lines(command)
    if not any(line["what"] == "latency" for line in lines):
        sys.exit(f"no figures from: {' '.join(map(str, command))}")
    return lines


def peer_lines(a, verb, peers, *more):
    command = [a.python, a.peers_script, verb, a.model, "--peers", ",".join(peers), "--threads", a.threads, "--budget", a.budget, *more]
    return [line for line in json_lines(command) if "error" not in line]


def texts_of(a, lengths, times, words, folder):
    """A file of rows that have these lengths in tokens, `times` times over: words of one token, and two special tokens."""
    rows = [" ".join(words[(31 * i + j) % len(words)] for j in range(max(1, length - 2))) for i, length in enumerate(lengths * times)]
    path = folder / f"{times}.txt"
    path.write_text("\n".join(rows) + "\n")
    return path


def words_of_one_token(a):
    """Frequent words of the text that are one piece each."""
    with lzma.open(a.text, "rt", encoding="utf-8") as text:
        counts = collections.Counter(word for word in text.read(4_000_000).split() if word.isalpha() and word.isascii())
    words = [word for word, _ in counts.most_common(4000)]
    done = subprocess.run([a.program, "tokenize", "-m", a.model, "--format", "jsonl"], input="\n".join(words), stdout=subprocess.PIPE, text=True, check=True)
    return [word for word, line in zip(words, done.stdout.splitlines()) if len(json.loads(line)["ids"]) == 3]


def filter_seconds(a, dtype, rows, folder):
    command = [a.program, "classify", "-m", a.model, "-i", rows, "--dtype", dtype, "--threads", a.threads, "--allow-uncalibrated", "-q", "-o", folder / "answers.jsonl"]
    begin = time.perf_counter()
    subprocess.run([str(word) for word in command], stderr=subprocess.DEVNULL, check=True)
    return time.perf_counter() - begin


def rate_from_outside(a, dtype, lengths, words, folder):
    """Tokens a second of 4 N rows less N rows, whatever starting and loading take."""
    seconds = [filter_seconds(a, dtype, texts_of(a, lengths, times, words, folder), folder) for times in (4, 1)]
    return 3 * sum(max(3, length) for length in lengths) / (seconds[0] - seconds[1])


def tokenizer_ratios(a, folder, ratios):
    text = folder / "text.txt"
    if not text.exists():
        text.write_bytes(lzma.open(a.text).read())
    command = [a.tokenizer_bench, a.model, text, "--benchmark_filter=encode", "--benchmark_format=json", f"--benchmark_min_time={a.budget}"]
    ours = json.loads(subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=True).stdout)
    one, two = (next(line["bytes_per_second"] for line in ours["benchmarks"] if f"threads:{n}/" in line["name"]) / 1e6 for n in (1, 2))
    peers = {line["peer"]: line["mb_per_s"] for line in json_lines([a.python, a.peers_script, "tokenize", a.model, "--text", a.text])}
    for row, ratio in zip(TOKENIZER_FLOORS, (one / peers["sentencepiece"], one / peers["hf-fast"], two / one)):
        ratios[row, "text"].append(ratio)


def batch_growth(a, dtype, ratios):
    """Tokens/s of each batch over those of half of it: medians of runs that took turns."""
    lines = [line for line in bench(a, dtype, "32", "--batch", "1,2,4,8,16") if line["what"] == "latency"]
    for before, after in zip(lines, lines[1:]):
        row = f"tokens/s at n = 32, batch {after['batch']} over {before['batch']}"
        ratios[row, dtype].append(after["batch"] / before["batch"] * before["ms_median"] / after["ms_median"])


def best_ms(lines, length):
    return min((line["ms_min"] for line in lines if line["what"] == "latency" and line["seq"] == length), default=None)


def rate_of(lines):
    return max((line["tokens_per_s"] for line in lines if line["what"] == "mixed"), default=None)


def limit_share_of(lines):
    return next(line["of_limit"] for line in lines if line["what"] == "mixed")


def contended(a, dtype):
    """Latency at 128 while a process for each processor spins."""
    spinners = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(os.cpu_count() or 1)]
    try:
        return median_ms(bench(a, dtype, "128"), 128)
    finally:
        for spinner in spinners:
            spinner.kill()
            spinner.wait()


def median_ms(lines, length):
    return next(line["ms_median"] for line in lines if line["what"] == "latency" and line["seq"] == length)


def peers_of_round(a, dtype, number, lengths):
    fast = [peer for peer in PEERS[dtype] if peer not in SLOW_PEERS]
    in_turn = PEERS[dtype] if number % 3 == 0 else fast
    return peer_lines(a, "latency", in_turn, "--seq", "32,128,512") + peer_lines(a, "mixed", fast, "--lengths", lengths)


def limits_without_amx(a, dtype, ratios):
    for line in bench(a, dtype, "128,512", "--kernels", WITHOUT_AMX[dtype]):
        if line["what"] == "latency" and "of_limit" in line:
            ratios[f"T5 of its limit without AMX, n = {line['seq']}", dtype].append(line["of_limit"])


def one_round(a, number, folder, words, machine, ratios, absolute):
    """Adds this round's ratios by (row, dtype) and figures by (who, what)."""
    numbers = [int(word) for word in pathlib.Path(a.lengths).read_text().split()[number % PARTS::PARTS]]
    lengths = folder / "lengths.txt"
    lengths.write_text("\n".join(map(str, numbers)) + "\n")
    if a.tokenizer_bench:
        tokenizer_ratios(a, folder, ratios)
    for dtype in DTYPES:
        ours = bench(a, dtype, "32,128,512,2048", "--lengths-file", lengths)
        peers = peers_of_round(a, dtype, number, lengths)
        for length, row in LATENCY.items():
            mine, theirs = best_ms(ours, length), best_ms(peers, length)
            absolute[f"ours {dtype}", f"n = {length}, ms"].append(mine)
            if theirs is not None:
                ratios[row, dtype].append(theirs / mine)
        mine, theirs = rate_of(ours), rate_of(peers)
        absolute[f"ours {dtype}", "real lengths, tokens/s"].append(mine)
        outside = rate_from_outside(a, dtype, numbers, words, folder)
        absolute[f"ours {dtype}", "from outside, tokens/s"].append(outside)
        if theirs is not None:
            ratios["T4 real lengths", dtype].append(mine / theirs)
            ratios["T4 real lengths, filter mode timed from outside", dtype].append(outside / theirs)
        one_thread = bench(a, dtype, "32", "--lengths-file", lengths, threads=1)
        ratios["real lengths, two threads over one", dtype].append(mine / rate_of(one_thread))
        ratios["real lengths, two threads over one, by shares of the limit", dtype].append(a.threads * limit_share_of(ours) / limit_share_of(one_thread))
        batch_growth(a, dtype, ratios)
        if number % 3 == 0 and machine[dtype]["isa"]["gemm"] == "amx":
            limits_without_amx(a, dtype, ratios)
        for line in peers:
            what = f"n = {line['seq']}, ms" if line["what"] == "latency" else "real lengths, tokens/s"
            absolute[line["peer"], what].append(line["ms_min"] if line["what"] == "latency" else line["tokens_per_s"])
        for line in ours:
            if line["what"] == "latency" and line["seq"] in (128, 512) and "of_limit" in line:
                ratios[f"T5 of the machine's limit, n = {line['seq']}", dtype].append(line["of_limit"])
        ratios["T8 tokens/s at n = 2048 over n = 512", dtype].append(4 * median_ms(ours, 512) / median_ms(ours, 2048))  # they took turns
        ratios["T9 idle over contended latency, n = 128", dtype].append(median_ms(ours, 128) / contended(a, dtype))


def ids_file(path):
    """input_ids [1, 32] in the safetensors format."""
    header = json.dumps({"input_ids": {"dtype": "I32", "shape": [1, 32], "data_offsets": [0, 128]}}).encode()
    header += b" " * (-len(header) % 8)
    path.write_bytes(struct.pack("<Q", len(header)) + header + struct.pack("<32i", *range(4, 36)))


def start_seconds(a, dtype, folder):
    """Process start to first answer, files in the disk cache; and the process's peak memory, MiB."""
    ids = folder / "ids.safetensors"
    ids_file(ids)
    command = [a.program, "forward", "-m", a.model, "--ids", ids, "--layers", "none", "--dtype", dtype, "--threads", a.threads, "--allow-uncalibrated", "-q", "-o", folder / "out.safetensors"]
    best, peak = 1e9, 0
    for _ in range(3):
        begin = time.perf_counter()
        process = subprocess.Popen([str(word) for word in command], stderr=subprocess.DEVNULL)
        _, status, usage = os.wait4(process.pid, 0)
        if status != 0:
            sys.exit(f"forward failed: {' '.join(map(str, command))}")
        best, peak = min(best, time.perf_counter() - begin), max(peak, usage.ru_maxrss // 1024)
    return best, peak


def memory_limit(a, dtype):
    """MiB."""
    config = json.loads((a.model / "config.json").read_text())
    hidden, layers, rows = config["hidden_size"], config["num_hidden_layers"], 2 * config.get("position_buckets", config["max_position_embeddings"])
    linear = layers * (4 * hidden * hidden + 2 * hidden * config["intermediate_size"]) * {"fp32": 4, "bf16": 2, "int8": 1}[dtype]
    return (1.2 * (linear + layers * 2 * rows * hidden * (4 if dtype == "fp32" else 2)) + 64e6) / 2**20


def lower_quartile(values):
    return statistics.quantiles(values, n=4, method="inclusive")[0] if len(values) > 1 else values[0]


def verdict(values, floor):
    return statistics.median(values) >= floor and lower_quartile(values) >= 0.95 * floor


def ratio_line(row, dtype, ratios, floor):
    values = ratios.get((row, dtype))
    if not values:
        return []
    holds = "yes" if verdict(values, floor) else "no"
    return [f"| {row} | {dtype} | {len(values)} | {statistics.median(values):.2f} | {lower_quartile(values):.2f} | {floor:.2f} | {holds} |"]


def ratio_table(ratios):
    lines = ["| row | precision | rounds | median | lower quartile | floor | holds |", "|---|---|---|---|---|---|---|"]
    for row, floors in FLOORS.items():
        for dtype, floor in zip(DTYPES, floors):
            lines += ratio_line(row, dtype, ratios, floor)
    for row, floor in TOKENIZER_FLOORS.items():
        lines += ratio_line(row, "text", ratios, floor)
    return lines


def figure_table(absolute):
    columns = [f"n = {length}, ms" for length in LATENCY] + ["real lengths, tokens/s", "from outside, tokens/s"]
    lines = ["| | " + " | ".join(columns) + " |", "|---" * (len(columns) + 1) + "|"]
    for who in dict.fromkeys(who for who, _ in absolute):
        cells = [f"{statistics.median(absolute[who, column]):.1f}" if absolute.get((who, column)) else "" for column in columns]
        lines.append(f"| {who} | " + " | ".join(cells) + " |")
    return lines


def chart(ratios):
    """Bars of the median ratios to the best peer; a line across a bar is its floor."""
    bars = [(row, dtype, statistics.median(ratios[row, dtype]), floor) for row, floors in FLOORS.items() if row[:2] in ("T1", "T2", "T3", "T4")
            for dtype, floor in zip(DTYPES, floors) if ratios.get((row, dtype))]
    scale, height = 90, 22
    top = max([bar[2] for bar in bars] + [bar[3] for bar in bars] + [1])
    width = 260 + int(scale * top) + 60
    lines = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height * len(bars) + 30}" font-family="sans-serif" font-size="12">',
             '<title>Times as fast as the best peer of the same precision</title>']
    for i, (row, dtype, value, floor) in enumerate(bars):
        y = 10 + i * height
        lines.append(f'<text x="250" y="{y + 13}" text-anchor="end">{row[3:]}, {dtype}</text>')
        lines.append(f'<rect x="260" y="{y}" width="{scale * value:.0f}" height="{height - 6}" fill="{"#4477aa" if value >= floor else "#cc6677"}"/>')
        lines.append(f'<line x1="{260 + scale * floor:.0f}" x2="{260 + scale * floor:.0f}" y1="{y - 2}" y2="{y + height - 4}" stroke="black"/>')
        lines.append(f'<text x="{265 + scale * value:.0f}" y="{y + 13}">{value:.2f}</text>')
    return "\n".join(lines + ["</svg>", ""])


def page(a, rounds, ratios, absolute, starts, machine):
    shown = f"bench/compare_peers.py -m DIR --python PYTHON --rounds {a.rounds} --threads {a.threads} --budget {a.budget}"
    isa = ", ".join(f"{dtype}: {machine[dtype]['isa']['gemm']}" for dtype in DTYPES)
    return "\n".join([
        "# Performance", "", f"Written by `{shown}`: {rounds} rounds, ours and the peers in turn, so only ratios within the run mean anything.",
        f"Machine: {machine['fp32']['cpu']}, {a.threads} threads, {platform.system()} {platform.machine()}; GEMM {isa};",
        f"peaks {machine['fp32']['peak_gflops_fp32']} GFLOP/s fp32, {machine['fp32']['peak_gflops_bf16']} bf16, {machine['fp32']['peak_gops_int8']} GOP/s int8, "
        f"memory {machine['fp32']['read_gb_per_s']} GB/s. Version {machine['fp32']['version']}.", "",
        "![times as fast as the best peer](performance.svg)", "", "## Rows", "",
        "T1 to T4: times as fast as the best peer of the same precision in each round. A row holds when its median is at the floor and its lower",
        "quartile at most 5 % below. T5: the lower bound in time (arithmetic at the measured peak of the instruction used, or one reading of the",
        "weights) over the time taken, each run beside the peaks just before and after it; docs/kernels.md says what keeps AMX from its limit. Two",
        "threads over one: tokens/s as measured, and by the shares of those limits, which leave out what the host took from either. Batches:",
        "medians of runs that took turns.", "", *ratio_table(ratios), "", "## Figures", "", "Medians over the rounds of each round's best.", "", *figure_table(absolute), "",
        "## T6: start to first answer", "", "Memory may be 1.2 times the weights in use (linear layers and the projected relative tables) plus 64 MB.", "",
        "| precision | s | at most | peak memory, MiB | at most |", "|---|---|---|---|---|",
        *(f"| {dtype} | {seconds:.2f} | 0.60 | {peak} | {memory_limit(a, dtype):.0f} |" for dtype, (seconds, peak) in starts.items()), ""])


def write_page(a, rounds, ratios, absolute, starts, machine):
    a.output.mkdir(parents=True, exist_ok=True)
    (a.output / "performance.md").write_text(page(a, rounds, ratios, absolute, starts, machine))
    (a.output / "performance.svg").write_text(chart(ratios))


def with_tokenizer(a, folder):
    folder.mkdir()
    files = {file.name: file for file in [a.spm.resolve(), *a.model.resolve().iterdir()]}  # the model's own tokenizer first
    for name, file in files.items():
        (folder / name).symlink_to(file)
    return folder


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    shared = ROOT.parent / "shared/bench"
    parser.add_argument("-m", "--model", required=True, type=pathlib.Path)
    parser.add_argument("--python", default=sys.executable, help="the interpreter that has the peers")
    parser.add_argument("--program", default=ROOT / "build/release/deberta")
    parser.add_argument("--peers-script", default=shared / "peers.py")
    parser.add_argument("--lengths", default=shared / "lengths.txt")
    parser.add_argument("--spm", default=shared.parent / "reference/tokenizers/deberta-v3-reconstructed/spm.model", type=pathlib.Path)
    parser.add_argument("--text", default=shared.parent / "data/corpus/wiki6640.txt.xz", help="English text, .xz")
    parser.add_argument("--tokenizer-bench", default=None, help="build/dev/tokenizer_bench")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--budget", type=float, default=1.0, help="seconds for each figure of a round")
    parser.add_argument("--output", type=pathlib.Path, default=ROOT / "docs")
    a = parser.parse_args()
    ratios, absolute = collections.defaultdict(list), collections.defaultdict(list)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        a.model = with_tokenizer(a, folder / "model")
        machine = {dtype: bench(a, dtype, "32")[0] for dtype in DTYPES}
        words = words_of_one_token(a)
        starts = {dtype: start_seconds(a, dtype, folder) for dtype in DTYPES}
        for number in range(a.rounds):
            one_round(a, number, folder, words, machine, ratios, absolute)
            write_page(a, number + 1, ratios, absolute, starts, machine)
            print(f"round {number + 1} of {a.rounds}, {time.strftime('%H:%M:%S')}", file=sys.stderr, flush=True)


main()
