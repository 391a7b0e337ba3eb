#!/usr/bin/env python3
"""Compares us with other libraries in one interleaved run: a round measures every figure of ours, then every peer's, so
that a machine that slows down slows both. For each row of the targets, a round's ratio is taken against the best peer
of the same precision in that round; the page shows medians and lower quartiles. Writes the file of this kind of
processor in bench/figures, the page of all kinds and the figures in README.md.

usage: compare_peers.py -m DIR --python PYTHON_OF_THE_PEERS --trained TRAINED [--rounds 9] [--only calibrated]
DIR is a checkpoint that both can read, such as `peers.py make DIR` writes, SPM a tokenizer whose ids it has, TRAINED a
trained classifier with its tokenizer; this script needs only the standard library, and `ninja -C build/dev
tokenizer_bench`. --only calibrated: measures only calibrated int8, keeps the rest.
"""

import argparse
import collections
import itertools
import json
import lzma
import os
import pathlib
import re
import shutil
import statistics
import struct
import subprocess
import sys
import tempfile
import time

from performance_page import COLUMNS, DTYPES, TOKENIZER_FLOORS, keep, load_kinds, row_keys, write_files

ROOT = pathlib.Path(__file__).resolve().parents[1]
PEERS = {"fp32": ["hf", "ort", "ov"], "bf16": ["hf-bf16", "ov-bf16"], "int8": ["ort-int8"]}
SLOW_PEERS = ("hf", "hf-bf16")  # far slower than the others: only latency, and only in every third round
PARTS = 9  # a round takes every ninth of the real lengths, the next round the next ones
OUTLIERS, GAIN = (5, 67, 130, 201), 40  # channels made to stand out, and by how much
WITHOUT_AMX = {"bf16": "avx512", "int8": "avx512_vnni"}  # what runs where AMX is hidden
# Seconds and peak memory of a command. A process of its own: Linux counts the memory of whoever starts a program as
# that program's.
TIMED = """import os, subprocess, sys, time
begin = time.perf_counter()
process = subprocess.Popen(sys.argv[1:], stderr=subprocess.DEVNULL)
_, status, usage = os.wait4(process.pid, 0)
print(time.perf_counter() - begin, usage.ru_maxrss)
sys.exit(status != 0)"""
LATENCY = {32: "T1 one sequence, n = 32", 128: "T2 one sequence, n = 128", 512: "T3 one sequence, n = 512"}


def json_lines(command):
    process = subprocess.run(
        [str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )
    return [json.loads(line) for line in process.stdout.splitlines() if line.startswith("{")]


def bench(a, dtype, lengths, *more, threads=None, model=None):
    command = [
        a.program,
        "bench",
        "-m",
        model or a.model,
        "--dtype",
        dtype,
        "--threads",
        threads or a.threads,
        "--min-time",
        a.budget,
        "--lengths",
        lengths,
        "--format",
        "jsonl",
        *more,
    ]
    lines = json_lines(command)
    if not any(line["what"] == "latency" for line in lines):
        sys.exit(f"no figures from: {' '.join(map(str, command))}")
    return lines


def peer_lines(a, verb, peers, *more):
    command = [
        a.python,
        a.peers_script,
        verb,
        a.model,
        "--peers",
        ",".join(peers),
        "--threads",
        a.threads,
        "--budget",
        a.budget,
        *more,
    ]
    return [line for line in json_lines(command) if "error" not in line]


def texts_of(a, lengths, times, words, folder):
    """A file of rows of these lengths in tokens, repeated `times` times: one-token words, and two special tokens."""
    rows = [
        " ".join(words[(31 * i + j) % len(words)] for j in range(max(1, length - 2)))
        for i, length in enumerate(lengths * times)
    ]
    path = folder / f"{times}.txt"
    path.write_text("\n".join(rows) + "\n")
    return path


def words_of_one_token(a):
    """Frequent words of the text that are a single piece."""
    with lzma.open(a.text, "rt", encoding="utf-8") as text:
        counts = collections.Counter(word for word in text.read(4_000_000).split() if word.isalpha() and word.isascii())
    words = [word for word, _ in counts.most_common(4000)]
    done = subprocess.run(
        [a.program, "tokenize", "-m", a.model, "--format", "jsonl"],
        input="\n".join(words),
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    return [word for word, line in zip(words, done.stdout.splitlines()) if len(json.loads(line)["ids"]) == 3]


def filter_seconds(a, dtype, rows, folder):
    command = [
        a.program,
        "classify",
        "-m",
        a.model,
        "-i",
        rows,
        "--dtype",
        dtype,
        "--threads",
        a.threads,
        "--allow-uncalibrated",
        "-q",
        "-o",
        folder / "answers.jsonl",
    ]
    begin = time.perf_counter()
    subprocess.run([str(word) for word in command], stderr=subprocess.DEVNULL, check=True)
    return time.perf_counter() - begin


def rate_from_outside(a, dtype, lengths, words, folder):
    """Tokens per second from the time of 4 N rows less that of N rows, so that starting and loading do not count."""
    seconds = [filter_seconds(a, dtype, texts_of(a, lengths, times, words, folder), folder) for times in (4, 1)]
    return 3 * sum(max(3, length) for length in lengths) / (seconds[0] - seconds[1])


def tokenizer_ratios(a, folder, ratios):
    text = folder / "text.txt"
    if not text.exists():
        text.write_bytes(lzma.open(a.text).read())
    command = [
        a.tokenizer_bench,
        a.model,
        text,
        "--benchmark_filter=encode",
        "--benchmark_format=json",
        f"--benchmark_min_time={a.budget}",
    ]
    ours = json.loads(
        subprocess.run(
            [str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=True
        ).stdout
    )
    one, two = (
        next(line["bytes_per_second"] for line in ours["benchmarks"] if f"threads:{n}/" in line["name"]) / 1e6
        for n in (1, 2)
    )
    peers = {
        line["peer"]: line["mb_per_s"]
        for line in json_lines([a.python, a.peers_script, "tokenize", a.model, "--text", a.text])
    }
    for row, ratio in zip(TOKENIZER_FLOORS, (one / peers["sentencepiece"], one / peers["hf-fast"], two / one)):
        ratios[row, "text"].append(ratio)


def batch_growth(a, dtype, ratios):
    """Tokens/s of each batch size over those of half that size: medians of interleaved runs."""
    lines = [line for line in bench(a, dtype, "32", "--batch", "1,2,4,8,16") if line["what"] == "latency"]
    for before, after in itertools.pairwise(lines):
        row = f"tokens/s at n = 32, batch {after['batch']} over {before['batch']}"
        ratios[row, dtype].append(after["batch"] / before["batch"] * before["ms_median"] / after["ms_median"])


def best_ms(lines, length):
    return min((line["ms_min"] for line in lines if line["what"] == "latency" and line["seq"] == length), default=None)


def rate_of(lines):
    return max((line["tokens_per_s"] for line in lines if line["what"] == "mixed"), default=None)


def limit_share_of(lines):
    return next(line["of_limit"] for line in lines if line["what"] == "mixed")


def contended(a, dtype):
    """Latency at 128 while one process per processor spins."""
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


def one_round(a, number, folder, words, machine, ratios, absolute, choices):
    """Adds this round's ratios by (row, dtype), figures by (who, what) and, every third round, comparisons of
    levels."""
    numbers = [int(word) for word in pathlib.Path(a.lengths).read_text().split()[number % PARTS :: PARTS]]
    lengths = folder / "lengths.txt"
    lengths.write_text("\n".join(map(str, numbers)) + "\n")
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
        ratios["real lengths, two threads over one, by shares of the limit", dtype].append(
            a.threads * limit_share_of(ours) / limit_share_of(one_thread)
        )
        batch_growth(a, dtype, ratios)
        if number % 3 == 0 and dtype != "fp32":
            levels_in_turns(a, dtype, machine, ours, choices)
        if number % 3 == 0 and machine[dtype]["isa"]["gemm"] == "amx":
            limits_without_amx(a, dtype, ratios)
        for line in peers:
            what = f"n = {line['seq']}, ms" if line["what"] == "latency" else "real lengths, tokens/s"
            absolute[line["peer"], what].append(line["ms_min"] if line["what"] == "latency" else line["tokens_per_s"])
        for line in ours:
            if line["what"] == "latency" and line["seq"] in (128, 512) and "of_limit" in line:
                ratios[f"T5 of the machine's limit, n = {line['seq']}", dtype].append(line["of_limit"])
        # measured in turns
        ratios["T8 tokens/s at n = 2048 over n = 512", dtype].append(4 * median_ms(ours, 512) / median_ms(ours, 2048))
        ratios["T9 idle over contended latency, n = 128", dtype].append(median_ms(ours, 128) / contended(a, dtype))


def levels_in_turns(a, dtype, machine, ours, ratios):
    """The chosen level against every other level that has products of this precision, and against fp32."""
    chosen = machine[dtype]["isa"]["gemm"]
    for level in json_lines([a.program, "info", "--format", "jsonl"])[0]["kernels_available"]:
        lines = bench(a, dtype, "32,128,512", "--kernels", level) if level not in (chosen, "reference") else []
        if lines and lines[0]["isa"]["gemm"] == level:
            add_times(ratios, (dtype, chosen, level), ours, lines)
    fp32 = bench(a, "fp32", "32,128,512")
    add_times(ratios, (dtype, chosen, f"fp32 by {fp32[0]['isa']['gemm']}"), ours, fp32)


def add_times(ratios, key, ours, others):
    """How many times as fast ours is, by length."""
    for length in LATENCY:
        ratios[key, length].append(best_ms(others, length) / best_ms(ours, length))


def times_of(ratios, key):
    return {str(length): round(statistics.median(ratios[key, length]), 2) for length in LATENCY}


def raise_gains(path):
    """Multiplies by GAIN, in a model.safetensors, the gains of some channels of every norm inside a layer, so that they
    stand out in whatever reads the norms."""
    data = bytearray(path.read_bytes())
    size = struct.unpack("<Q", data[:8])[0]
    for name, tensor in json.loads(data[8 : 8 + size]).items():
        if name.endswith("LayerNorm.weight") and ".layer." in name:
            form = {"F32": "<f", "F16": "<e"}[tensor["dtype"]]
            for channel in OUTLIERS:
                at = 8 + size + tensor["data_offsets"][0] + channel * struct.calcsize(form)
                struct.pack_into(form, data, at, GAIN * struct.unpack_from(form, data, at)[0])
    path.write_bytes(data)


def calibrated(a, name, model, texts, has_outliers, folder):
    """int8 of a model with a calibration against int8 without one, and against fp32: interleaved runs."""
    source, made = folder / f"{name} {has_outliers}", folder / f"{name} {has_outliers} int8"
    shutil.copytree(model, source)  # follows links: gains are raised in the copy only
    if has_outliers:
        raise_gains(source / "model.safetensors")
    subprocess.run(
        [
            str(word)
            for word in (
                a.program,
                "convert",
                "-m",
                source,
                "--to",
                made,
                "--dtype",
                "int8",
                "--calibration-data",
                texts,
                "-q",
            )
        ],
        check=True,
        stdout=subprocess.DEVNULL,
    )
    facts = json_lines([a.program, "info", "-m", made, "--format", "jsonl"])[0]
    ratios = collections.defaultdict(list)
    for _ in range(a.rounds):
        lines = {
            what: bench(a, dtype, "32,128,512", model=folder_of)
            for what, dtype, folder_of in (
                ("int8", "int8", made),
                ("over_uncalibrated", "int8", source),
                ("over_fp32", "fp32", source),
            )
        }
        for what in ("over_uncalibrated", "over_fp32"):
            add_times(ratios, what, lines["int8"], lines[what])
    outliers = re.search(r"(\d+) outlier", facts["calibration"])
    return {
        "model": f"{name}, gains raised" if has_outliers else name,
        "outliers": int(outliers[1]) if outliers else 0,
        "over_uncalibrated": times_of(ratios, "over_uncalibrated"),
        "over_fp32": times_of(ratios, "over_fp32"),
    }


def all_calibrated(a, words, folder):
    """The trained model as it is and with outlier channels; the large one with them."""
    texts = texts_of(a, [20] * 64, 1, words, folder)
    return [
        calibrated(a, *what, folder)
        for what in (
            ("trained", a.trained, texts, False),
            ("trained", a.trained, texts, True),
            ("base", a.model, texts, True),
        )
    ]


def ids_file(path):
    """input_ids [1, 32] in the safetensors format."""
    header = json.dumps({"input_ids": {"dtype": "I32", "shape": [1, 32], "data_offsets": [0, 128]}}).encode()
    header += b" " * (-len(header) % 8)
    path.write_bytes(struct.pack("<Q", len(header)) + header + struct.pack("<32i", *range(4, 36)))


def start_seconds(a, dtype, folder):
    """Time from process start to first answer, with files in the disk cache; and the process's peak memory, MiB."""
    ids = folder / "ids.safetensors"
    ids_file(ids)
    command = [
        a.program,
        "forward",
        "-m",
        a.model,
        "--ids",
        ids,
        "--layers",
        "none",
        "--dtype",
        dtype,
        "--threads",
        a.threads,
        "--allow-uncalibrated",
        "-q",
        "-o",
        folder / "out.safetensors",
    ]
    best, peak = 1e9, 0
    for _ in range(3):
        done = subprocess.run(
            [sys.executable, "-c", TIMED, *(str(word) for word in command)], stdout=subprocess.PIPE, text=True
        )
        if done.returncode != 0:
            sys.exit(f"forward failed: {' '.join(map(str, command))}")
        seconds, kilobytes = done.stdout.split()
        best, peak = min(best, float(seconds)), max(peak, int(kilobytes) // 1024)
    return best, peak


def memory_limit(a, dtype):
    """MiB."""
    config = json.loads((a.model / "config.json").read_text())
    hidden, layers, rows = (
        config["hidden_size"],
        config["num_hidden_layers"],
        2 * config.get("position_buckets", config["max_position_embeddings"]),
    )
    linear = (
        layers
        * (4 * hidden * hidden + 2 * hidden * config["intermediate_size"])
        * {"fp32": 4, "bf16": 2, "int8": 1}[dtype]
    )
    return (1.2 * (linear + layers * 2 * rows * hidden * (4 if dtype == "fp32" else 2)) + 64e6) / 2**20


def lower_quartile(values):
    return statistics.quantiles(values, n=4, method="inclusive")[0] if len(values) > 1 else values[0]


def kind_of(machine):
    """The last part of `AMD EPYC (AuthenticAMD family 26 model 2, Zen 5)`; an Intel processor whose AMX is hidden is a
    kind of its own."""
    name, _, details = machine["fp32"]["cpu"].rstrip(")").rpartition(" (")
    kind = details.rpartition(", ")[2]
    if kind == "of an unknown kind":  # a virtual machine may hide the model: its numbers are the name
        kind = f"{details.rpartition(', ')[0]}, {machine['bf16']['isa']['gemm']}"
    hides_amx = kind.endswith("Rapids") and machine["bf16"]["isa"]["gemm"] != "amx"
    return f"{kind}, AMX hidden" if hides_amx else kind, f"{name}, {details.rpartition(', ')[0]}"


def kept(folder, kind, what):
    """What the file of a kind already holds, for what this run did not measure."""
    return next((other[what] for other in load_kinds(folder) if other["kind"] == kind), [])


def kept_parts(folder, kind):
    """What compare_training.py and serve_load.py measured."""
    return {
        key: value
        for other in load_kinds(folder)
        if other["kind"] == kind
        for key, value in other.items()
        if key.startswith(("training_", "serving"))
    }


def choices_of(choices):
    """[{what, level, other, times_as_fast}] of the ratios by ((what, level, other), length)."""
    return [
        {"what": key[0], "level": key[1], "other": key[2], "times_as_fast": times_of(choices, key)}
        for key in dict.fromkeys(key for key, _ in choices)
    ]


def command_of(a):
    """The command that measures the file again."""
    return (
        f"bench/compare_peers.py -m DIR --python PYTHON --trained TRAINED --rounds {a.rounds} --threads {a.threads}"
        f"{'' if a.budget == 1 else f' --budget {a.budget}'}"
    )


def peers_of(python):
    """Versions of the peers that an interpreter has, by their names in README.md."""
    wanted = {"transformers": "transformers", "torch": "torch", "onnxruntime": "ONNX Runtime", "openvino": "OpenVINO"}
    code = (
        f"import importlib.metadata as m, json\nfound = {{}}\nfor d in {list(wanted)}:\n"
        "    try: found[d] = m.version(d)\n    except m.PackageNotFoundError: pass\nprint(json.dumps(found))"
    )
    found = json.loads(subprocess.run([python, "-c", code], capture_output=True, text=True, check=True).stdout)
    return {wanted[name]: version.partition("+")[0] for name, version in found.items()}


def figures_of(a, rounds, ratios, absolute, starts, machine, choices, calibrations):
    """What bench/figures keeps for a kind."""
    kind, name = kind_of(machine)
    peaks = {
        "fp32": "peak_gflops_fp32",
        "bf16": "peak_gflops_bf16",
        "int8": "peak_gops_int8",
        "memory": "read_gb_per_s",
    }
    chosen = {dtype: machine[dtype]["isa"]["gemm"] for dtype in DTYPES}
    return {
        "kind": kind,
        "machine": name,
        "about": f"Measured by version {machine['fp32']['version']}.",
        "command": command_of(a),
        "rounds": rounds,
        "peers": peers_of(a.python),
        "peaks": {what: machine["fp32"][key] for what, key in peaks.items()},
        "chosen": chosen | {"attention": machine["bf16"]["isa"]["attention"]},
        "choices": choices_of(choices) or kept(a.figures, kind, "choices"),
        "calibrated": calibrations,
        "rows": [
            {
                "row": row,
                "precision": dtype,
                "rounds": len(ratios[row, dtype]),
                "median": round(statistics.median(ratios[row, dtype]), 2),
                "lower_quartile": round(lower_quartile(ratios[row, dtype]), 2),
            }
            for row, dtype, _ in row_keys()
            if ratios.get((row, dtype))
        ],
        "figures": [
            {"who": who}
            | {
                column: round(statistics.median(absolute[who, column]), 1)
                for column in COLUMNS
                if absolute.get((who, column))
            }
            for who in dict.fromkeys(who for who, _ in absolute)
        ],
        "start": {
            dtype: {"s": round(seconds, 2), "peak_mib": peak, "at_most_mib": round(memory_limit(a, dtype))}
            for dtype, (seconds, peak) in starts.items()
        },
    } | kept_parts(a.figures, kind)


def write_page(a, rounds, ratios, absolute, starts, machine, choices, calibrations):
    """Replaces the figures of this kind, and rewrites the page of all kinds."""
    keep(figures_of(a, rounds, ratios, absolute, starts, machine, choices, calibrations), a.figures)
    write_files(a.output, load_kinds(a.figures), a.program)


def write_calibrated(a, machine, calibrations):
    """Replaces only these; the rest of the file stays as it is."""
    kind = kind_of(machine)[0]
    old = next((other for other in load_kinds(a.figures) if other["kind"] == kind), None)
    if old is None:
        sys.exit(f"{kind} has no file in {a.figures}: measure it without --only first")
    keep(old | {"calibrated": calibrations}, a.figures)
    write_files(a.output, load_kinds(a.figures), a.program)


def with_tokenizer(a, folder):
    folder.mkdir()
    # the model's own tokenizer first
    files = {file.name: file for file in [a.spm.resolve(), *a.model.resolve().iterdir()]}
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
    parser.add_argument(
        "--spm", default=shared.parent / "reference/tokenizers/deberta-v3-reconstructed/spm.model", type=pathlib.Path
    )
    parser.add_argument("--text", default=shared.parent / "data/corpus/wiki6640.txt.xz", help="English text, .xz")
    parser.add_argument("--tokenizer-bench", default=ROOT / "build/dev/tokenizer_bench", type=pathlib.Path)
    parser.add_argument(
        "--trained",
        default=shared.parent / "reference/models/nano-sst2",
        type=pathlib.Path,
        help="a trained model with its tokenizer",
    )
    parser.add_argument("--only", choices=["calibrated"])
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--budget", type=float, default=1.0, help="seconds for each figure of a round")
    parser.add_argument("--figures", type=pathlib.Path, default=ROOT / "bench/figures")
    parser.add_argument("--output", type=pathlib.Path, default=ROOT, help="where docs/ and README.md lie")
    a = parser.parse_args()
    if not a.only and not a.tokenizer_bench.exists():
        sys.exit(f"{a.tokenizer_bench} is not there: ninja -C build/dev tokenizer_bench")
    run(a)


def run(a):
    ratios, absolute, choices = (collections.defaultdict(list) for _ in range(3))
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        a.model = with_tokenizer(a, folder / "model")
        machine = {dtype: bench(a, dtype, "32")[0] for dtype in DTYPES}
        words = words_of_one_token(a)
        calibrations = all_calibrated(a, words, folder)
        if a.only:
            return write_calibrated(a, machine, calibrations)
        starts = {dtype: start_seconds(a, dtype, folder) for dtype in DTYPES}
        for number in range(a.rounds):
            one_round(a, number, folder, words, machine, ratios, absolute, choices)
            write_page(a, number + 1, ratios, absolute, starts, machine, choices, calibrations)
            print(f"round {number + 1} of {a.rounds}, {time.strftime('%H:%M:%S')}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
