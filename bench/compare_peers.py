#!/usr/bin/env python3
"""Ours and other libraries in one interleaved run: a round is every figure of ours and then every peer's, so that a machine
that slows down slows both. For each row of the targets the ratio of a round is taken against the best peer of the same
precision in that round; the page shows medians and lower quartiles. Writes performance.md and performance.svg.

usage: compare_peers.py -m DIR --python PYTHON_OF_THE_PEERS [--rounds 9] [--output docs]
DIR is a checkpoint that both can read, such as `peers.py make DIR` writes; needs only the standard library here.
"""
import argparse
import collections
import json
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
          "T4 real lengths": (1.4, 1.7, 2.5), "T5 of the machine's limit, n = 128": (0.8, 0.75, 0.6), "T5 of the machine's limit, n = 512": (0.8, 0.75, 0.6),
          "T8 tokens/s at n = 2048 over n = 512": (0.6, 0.6, 0.6), "T9 idle over contended latency, n = 128": (1 / 3, 1 / 3, 1 / 3)}
LATENCY = {32: "T1 one sequence, n = 32", 128: "T2 one sequence, n = 128", 512: "T3 one sequence, n = 512"}


def json_lines(command):
    process = subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    return [json.loads(line) for line in process.stdout.splitlines() if line.startswith("{")]


def bench(a, dtype, lengths, *more):
    command = [a.program, "bench", "-m", a.model, "--dtype", dtype, "--threads", a.threads, "--budget", a.budget, "--lengths", lengths, "--json", *more]
    lines = json_lines(command)
    if not any(line["what"] == "latency" for line in lines):
        sys.exit(f"no figures from: {' '.join(map(str, command))}")
    return lines


def peer_lines(a, verb, peers, *more):
    command = [a.python, a.peers_script, verb, a.model, "--peers", ",".join(peers), "--threads", a.threads, "--budget", a.budget, *more]
    return [line for line in json_lines(command) if "error" not in line]


def best_ms(lines, length):
    return min((line["ms_min"] for line in lines if line["what"] == "latency" and line["seq"] == length), default=None)


def rate_of(lines):
    return max((line["tokens_per_s"] for line in lines if line["what"] == "mixed"), default=None)


def contended(a, dtype):
    """Latency at 128 while a process for each processor spins."""
    spinners = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(os.cpu_count() or 1)]
    try:
        return best_median(bench(a, dtype, "128"))
    finally:
        for spinner in spinners:
            spinner.kill()
            spinner.wait()


def best_median(lines):
    return next(line["ms_median"] for line in lines if line["what"] == "latency" and line["seq"] == 128)


def peers_of_round(a, dtype, number, lengths):
    fast = [peer for peer in PEERS[dtype] if peer not in SLOW_PEERS]
    in_turn = PEERS[dtype] if number % 3 == 0 else fast
    return peer_lines(a, "latency", in_turn, "--seq", "32,128,512") + peer_lines(a, "mixed", fast, "--lengths", lengths)


def one_round(a, number, lengths, ratios, absolute):
    """Adds this round's ratios by (row, dtype) and figures by (who, what)."""
    lengths.write_text("\n".join(pathlib.Path(a.lengths).read_text().split()[number % PARTS::PARTS]) + "\n")
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
        if theirs is not None:
            ratios["T4 real lengths", dtype].append(mine / theirs)
        for line in peers:
            what = f"n = {line['seq']}, ms" if line["what"] == "latency" else "real lengths, tokens/s"
            absolute[line["peer"], what].append(line["ms_min"] if line["what"] == "latency" else line["tokens_per_s"])
        for line in ours:
            if line["what"] == "latency" and line["seq"] in (128, 512) and "of_limit" in line:
                ratios[f"T5 of the machine's limit, n = {line['seq']}", dtype].append(line["of_limit"])
        ratios["T8 tokens/s at n = 2048 over n = 512", dtype].append(4 * best_ms(ours, 512) / best_ms(ours, 2048))
        ratios["T9 idle over contended latency, n = 128", dtype].append(best_median(ours) / contended(a, dtype))


def ids_file(path):
    """input_ids [1, 32] in the safetensors format."""
    header = json.dumps({"input_ids": {"dtype": "I32", "shape": [1, 32], "data_offsets": [0, 128]}}).encode()
    header += b" " * (-len(header) % 8)
    path.write_bytes(struct.pack("<Q", len(header)) + header + struct.pack("<32i", *range(4, 36)))


def start_seconds(a, dtype, folder):
    """Process start to first answer, files in the disk cache; and the process's peak memory, MiB."""
    ids = folder / "ids.safetensors"
    ids_file(ids)
    command = [a.program, "forward", "-m", a.model, "--ids", ids, "--layers", "none", "--dtype", dtype, "--threads", a.threads, "-q", "-o", folder / "out.safetensors"]
    best, peak = 1e9, 0
    for _ in range(3):
        begin = time.perf_counter()
        process = subprocess.Popen([str(word) for word in command])
        _, status, usage = os.wait4(process.pid, 0)
        if status != 0:
            sys.exit(f"forward failed: {' '.join(map(str, command))}")
        best, peak = min(best, time.perf_counter() - begin), max(peak, usage.ru_maxrss // 1024)
    return best, peak


def lower_quartile(values):
    return statistics.quantiles(values, n=4, method="inclusive")[0] if len(values) > 1 else values[0]


def verdict(values, floor):
    return statistics.median(values) >= floor and lower_quartile(values) >= 0.95 * floor


def ratio_table(ratios):
    lines = ["| row | precision | median | lower quartile | floor | holds |", "|---|---|---|---|---|---|"]
    for row, floors in FLOORS.items():
        for dtype, floor in zip(DTYPES, floors):
            values = ratios.get((row, dtype))
            if values:
                holds = "yes" if verdict(values, floor) else "no"
                lines.append(f"| {row} | {dtype} | {statistics.median(values):.2f} | {lower_quartile(values):.2f} | {floor:.2f} | {holds} |")
    return lines


def figure_table(absolute):
    columns = [f"n = {length}, ms" for length in LATENCY] + ["real lengths, tokens/s"]
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


def page(a, ratios, absolute, starts, machine):
    shown = f"bench/compare_peers.py -m DIR --python PYTHON --rounds {a.rounds} --threads {a.threads} --budget {a.budget}"
    isa = ", ".join(f"{dtype}: {machine[dtype]['isa']['gemm']}" for dtype in DTYPES)
    return "\n".join([
        "# Performance", "", f"Written by `{shown}`: {a.rounds} rounds, ours and the peers in turn, so only ratios within the run mean anything.",
        f"Machine: {machine['fp32']['cpu']}, {a.threads} threads, {platform.system()} {platform.machine()}; GEMM {isa};",
        f"peaks {machine['fp32']['peak_gflops_fp32']} GFLOP/s fp32, {machine['fp32']['peak_gflops_bf16']} bf16, {machine['fp32']['peak_gops_int8']} GOP/s int8, "
        f"memory {machine['fp32']['read_gb_per_s']} GB/s. Version {machine['fp32']['version']}.", "",
        "![times as fast as the best peer](performance.svg)", "", "## Rows", "",
        "T1 to T4: times as fast as the best peer of the same precision in each round. A row holds when its median is at the floor and its lower",
        "quartile at most 5 % below.", "", *ratio_table(ratios), "", "## Figures", "", "Medians over the rounds of each round's best.", "", *figure_table(absolute), "",
        "## T6: start to first answer", "", "| precision | s | peak memory, MiB |", "|---|---|---|",
        *(f"| {dtype} | {seconds:.2f} | {peak} |" for dtype, (seconds, peak) in starts.items()), ""])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    shared = ROOT.parent / "shared/bench"
    parser.add_argument("-m", "--model", required=True)
    parser.add_argument("--python", default=sys.executable, help="the interpreter that has the peers")
    parser.add_argument("--program", default=ROOT / "build/release/deberta")
    parser.add_argument("--peers-script", default=shared / "peers.py")
    parser.add_argument("--lengths", default=shared / "lengths.txt")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--budget", type=float, default=1.0, help="seconds for each figure of a round")
    parser.add_argument("--output", type=pathlib.Path, default=ROOT / "docs")
    a = parser.parse_args()
    ratios, absolute = collections.defaultdict(list), collections.defaultdict(list)
    machine = {dtype: bench(a, dtype, "32")[0] for dtype in DTYPES}
    with tempfile.TemporaryDirectory() as folder:
        starts = {dtype: start_seconds(a, dtype, pathlib.Path(folder)) for dtype in DTYPES}
        for number in range(a.rounds):
            one_round(a, number, pathlib.Path(folder) / "lengths.txt", ratios, absolute)
            print(f"round {number + 1} of {a.rounds}", file=sys.stderr, flush=True)
    a.output.mkdir(parents=True, exist_ok=True)
    (a.output / "performance.md").write_text(page(a, ratios, absolute, starts, machine))
    (a.output / "performance.svg").write_text(chart(ratios))


main()
