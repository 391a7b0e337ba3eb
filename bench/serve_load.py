#!/usr/bin/env python3
"""Load on a running server that a model of base size stands behind: what HTTP costs, how much it answers, how late, and
what it refuses, at shares of its capacity; and the same requests to servers that people write for themselves
(peer_server.py). With --peers it writes the part `serving` of this kind of processor in bench/figures, and the pages
made of these files.

usage: serve_load.py -m MODEL [--program PROGRAM] [--seconds N] [--rounds N] [--threads N] [--dtype X]
           [--peers PYTHON] [--against PROGRAM] [--json FILE]

Overhead is that of single requests, one after the other: the server's own histogram. The throughput is that of `wrk`
with 32 connections and texts of 128 tokens, in turns with `deberta bench` on batches of that length; wrk does not count
the requests that are under way at its end, a batch of 32. The capacity is what 32 clients get that ask again as soon as
they are answered. Then requests come at times drawn beforehand (Poisson, fixed seed), whether the last ones were
answered or not, at 50, 80, 95 and 200 % of it; a request's latency counts from the time at which it should have been
sent. Texts have lengths as they occur (lognormal, median 60 pieces, at most 512); of four requests two are of labels,
one of vectors, one of a batch of four labels. PYTHON has what peer_server.py needs; each peer answers requests of
labels in turns with ours, for half of the seconds.

--against compares two builds instead. Each round starts both anew, one on each half of the processors, which they
exchange from round to round: the pages that a process gets for the weights alone differ by some percent of its speed,
which a queue multiplies. Both are asked at the same time, the same requests, each round others. It writes the medians
of both and of the rounds' ratios, the ratios' quartiles, and the ratio of the sums over all rounds. Overhead is then a
mean: the histogram's bounds are too far apart to compare."""

import argparse
import asyncio
import json
import os
import pathlib
import random
import re
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request

from compare_peers import json_lines, kind_of
from performance_page import keep, load_kinds, write_files

ROOT = pathlib.Path(__file__).resolve().parents[1]
SHARES = (0.5, 0.8, 0.95, 2.0)
WORDS = "the river was high and they went home by another way than that which had brought them".split()


def texts(seed):
    """Endless texts of real lengths; a word is about a piece."""
    draw = random.Random(seed)
    while True:
        yield " ".join(draw.choices(WORDS, k=min(510, max(1, round(draw.lognormvariate(4.09, 0.6))))))


MIXED = [("/predict", 1), ("/embed", 1), ("/predict", 1), ("/predict", 4)]
LABELS = [("/predict", 1), ("/predict", 4)]


def requests(seed, kinds=MIXED):
    """(bytes of a request, its texts)"""
    source, number = texts(seed), 0
    while True:
        path, inputs = kinds[number % len(kinds)]
        number += 1
        some = [next(source) for _ in range(inputs)]
        body = json.dumps({"inputs": [[text] for text in some] if path == "/predict" else some}).encode()
        yield (
            (
                f"POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
                f"Content-Length: {len(body)}\r\n\r\n"
            ).encode()
            + body,
            inputs,
        )


class Connection:
    def __init__(self, port):
        self.port, self.reader, self.writer = port, None, None

    async def ask(self, request):
        """The status."""
        if self.writer is None:
            self.reader, self.writer = await asyncio.open_connection("127.0.0.1", self.port)
        self.writer.write(request)
        head = await self.reader.readuntil(b"\r\n\r\n")
        length = next(
            int(line.split(b":")[1]) for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:")
        )
        await self.reader.readexactly(length)
        return int(head.split(b" ", 2)[1])


async def closed_loop(port, clients, seconds, kinds=MIXED):
    """(requests a second that are answered to clients who ask again at once, median and mean seconds until one is)"""
    source, late, end = requests(1, kinds), [], time.monotonic() + seconds

    async def client():
        connection = Connection(port)
        while time.monotonic() < end:
            request, _ = next(source)
            asked = time.monotonic()
            if await connection.ask(request) == 200:
                late.append(time.monotonic() - asked)

    begun = time.monotonic()
    await asyncio.gather(*(client() for _ in range(clients)))
    return len(late) / (time.monotonic() - begun), statistics.median(late), statistics.mean(late)


async def open_loop(port, rate, seconds, seed=2):
    """Figures of requests that come at `rate` a second, whatever becomes of them."""
    draw, source, idle, late, statuses = random.Random(seed), requests(seed), [], [], []

    async def one(request, due):
        connection = idle.pop() if idle else Connection(port)
        status = await connection.ask(request)
        idle.append(connection)
        statuses.append(status)
        if status == 200:
            late.append(time.monotonic() - due)

    begun, due, tasks = time.monotonic(), 0.0, []
    while due < seconds:
        request, _ = next(source)
        await asyncio.sleep(max(0, begun + due - time.monotonic()))
        tasks.append(asyncio.create_task(one(request, begun + due)))
        due += draw.expovariate(rate)
    await asyncio.gather(*tasks)
    elapsed = time.monotonic() - begun
    marks = statistics.quantiles(late, n=100) if len(late) > 1 else [float("nan")] * 99
    return {
        "rate": rate,
        "goodput": len(late) / elapsed,
        "p50_ms": 1000 * marks[49],
        "p99_ms": 1000 * marks[98],
        "refused": statuses.count(429) / len(statuses),
        "others": sum(status not in (200, 429) for status in statuses),
    }


def ask(port, path, body=None):
    data = None if body is None else json.dumps(body).encode()
    with urllib.request.urlopen(
        urllib.request.Request(f"http://127.0.0.1:{port}{path}", data, {"content-type": "application/json"})
    ) as response:
        return response.read().decode()


def around_requests(port, read):
    """What `read` finds in the server's metrics before and after 400 requests that come one after the other."""
    ask(port, "/predict", {"inputs": "a"})
    before, source = read(ask(port, "/metrics")), texts(3)
    for _ in range(400):
        ask(port, "/predict", {"inputs": next(source)})
    return before, read(ask(port, "/metrics"))


OVERHEAD = "deberta_overhead_duration_seconds"
OF_PREDICT = r'.*route="/predict".*method="single"'


def overhead_ms(port):
    """The bound of the histogram below which half of the requests lie."""

    def buckets(metrics):
        found = re.findall(rf'^{OVERHEAD}_bucket\{{{OF_PREDICT},le="([^"]+)"\}} (\d+)$', metrics, re.MULTILINE)
        return {float(bound): int(count) for bound, count in found}

    before, after = around_requests(port, buckets)
    return 1000 * next(bound for bound, count in sorted(after.items()) if count - before.get(bound, 0) >= 200)


def mean_overhead_us(port):
    def totals(metrics):
        find = lambda end: re.search(rf"^{OVERHEAD}_{end}\{{{OF_PREDICT}\}} (\S+)$", metrics, re.MULTILINE)
        return [float(find(end)[1]) for end in ("sum", "count")]

    before, after = around_requests(port, totals)
    return 1e6 * (after[0] - before[0]) / (after[1] - before[1])


def text_of_128_tokens(port):
    words = 1
    while True:
        text = " ".join(WORDS[i % len(WORDS)] for i in range(words))
        count = len(json.loads(ask(port, "/tokenize", {"inputs": text}))[0])
        if count >= 128:
            return text, count
        words += 1


def throughput_of_wrk(port, text, seconds):
    """Answers a second."""
    with tempfile.TemporaryDirectory() as folder:
        script = pathlib.Path(folder) / "post.lua"
        script.write_text(
            'wrk.method = "POST"\nwrk.headers["Content-Type"] = "application/json"\nwrk.body = '
            + json.dumps(json.dumps({"inputs": text}))
            + "\n"
        )
        told = subprocess.run(
            [
                "wrk",
                "-t",
                "1",
                "-c",
                "32",
                "-d",
                f"{seconds:.0f}s",
                "-s",
                str(script),
                f"http://127.0.0.1:{port}/predict",
            ],
            capture_output=True,
            text=True,
            check=True,
        ).stdout
    if "Non-2xx" in told:
        sys.exit(told)
    return float(re.search(r"Requests/sec:\s+([\d.]+)", told)[1])


def bench_lines(options, *more):
    """What `deberta bench` says of the model."""
    lines = json_lines([options.program, "bench", "-q", "-m", options.model, *more, "--format", "jsonl"])
    return lines or sys.exit(f"no figures from: {options.program} bench -m {options.model}")


def throughput_of_bench(options, tokens):
    """Sequences a second."""
    lines = bench_lines(
        options,
        "--threads",
        options.threads,
        "--dtype",
        options.dtype,
        "--lengths",
        str(tokens),
        "--batch",
        "32",
        "--min-time",
        str(options.seconds),
    )
    return 32 / (next(line for line in lines if line["what"] == "latency")["ms_median"] / 1000)


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def peers_of(options):
    """{name: (process, port)}"""
    started = {}
    for name in ("transformers", "onnxruntime"):
        port = free_port()
        started[name] = (
            subprocess.Popen(
                [
                    options.peers,
                    str(ROOT / "bench/peer_server.py"),
                    name,
                    options.model,
                    str(port),
                    options.threads if options.threads != "0" else "2",
                ],
                stdout=subprocess.PIPE,
                text=True,
            ),
            port,
        )
    for name, (process, port) in started.items():
        process.stdout.readline()
        end = time.monotonic() + 60
        while True:
            try:
                ask(port, "/predict", {"inputs": "a"})
                break
            except OSError:
                if process.poll() is not None or time.monotonic() > end:
                    sys.exit(f"the server on {name} did not start")
                time.sleep(0.2)
    return started


def beside_peers(options, port):
    """{name: {clients: (median requests a second, median of the median latencies)}} in turns."""
    started = peers_of(options)
    try:
        ports = {"deberta": port} | {name: peer for name, (_, peer) in started.items()}
        found = {(name, clients): [] for name in ports for clients in (1, 32)}
        for _ in range(options.rounds):
            for name, clients in found:
                rate, median, _ = asyncio.run(closed_loop(ports[name], clients, options.seconds / 2, LABELS))
                found[name, clients].append((rate, median))
    finally:
        for process, _ in started.values():
            process.terminate()
            process.wait()
    return {key: tuple(statistics.median(part) for part in zip(*rounds)) for key, rounds in found.items()}


def start_server(options, program, processors=None):
    """(process, port); `processors` are those that the server may use, all by default"""
    threads = str(len(processors)) if processors else options.threads
    words = ["-m", options.model, "--port", "0", "--threads", threads, "--dtype", options.dtype]
    limits = ["--max-concurrent-requests", options.queue]
    limits += ["--max-connections-per-address", "4096", "--max-connections", "4096"]
    before = ["taskset", "-c", ",".join(map(str, processors))] if processors else []
    process = subprocess.Popen([*before, program, "serve", "-q", *words, *limits], stdout=subprocess.PIPE, text=True)
    line = process.stdout.readline()
    if not line:
        sys.exit(f"serve_load: {program} serve did not start")
    return process, int(line.split()[0].rsplit(":", 1)[1])


def of_both(ports, figures_of):
    """{name: `await figures_of(port)`}, at the same time"""

    async def both():
        return await asyncio.gather(*map(figures_of, ports.values()))

    return dict(zip(ports, asyncio.run(both())))


def round_of_both(options, ports, number, capacities):
    """{(what, figure): {name: value}}; the median of `capacities`, to which it adds its own, is what shares are of."""
    found = {}

    def measure(what, figures_of):
        both = of_both(ports, figures_of)
        for figure in both["program"]:
            found[what, figure] = {name: figures[figure] for name, figures in both.items()}

    async def overhead(port):
        return {"us": await asyncio.to_thread(mean_overhead_us, port)}

    async def wrk(port):
        return {"answers/s": await asyncio.to_thread(throughput_of_wrk, port, text, options.seconds)}

    async def closed(port):
        rate, median, mean = await closed_loop(port, 32, options.seconds)
        return {"answers/s": rate, "p50_ms": 1000 * median, "mean_ms": 1000 * mean}

    def at(rate):
        async def figures(port):
            told = await open_loop(port, rate, options.seconds, 100 + number)
            return {name: told[name] for name in ("goodput", "p50_ms", "p99_ms", "refused")}

        return figures

    of_both(ports, lambda port: closed_loop(port, 8, 3))  # warms up
    measure("overhead", overhead)
    text, tokens = text_of_128_tokens(ports["program"])
    measure(f"wrk, {tokens} tokens", wrk)
    measure("32 clients", closed)
    capacities.append(statistics.mean(found["32 clients", "answers/s"].values()))
    for share in SHARES:
        measure(f"{100 * share:.0f} %", at(share * statistics.median(capacities)))
    found["capacity", "answers/s"] = dict.fromkeys(ports, statistics.median(capacities))
    return found


def row_of(what, figure, rounds):
    """What all rounds say of a figure."""
    old, new = ([both[name] for both in rounds] for name in ("against", "program"))
    row = {"what": f"{what} {figure}", "old": statistics.median(old), "new": statistics.median(new)}
    ratios = [b / a for a, b in zip(old, new) if a > 0]
    if len(ratios) > 1:
        low, median, high = statistics.quantiles(ratios, n=4)
        row |= {"ratio": median, "quartiles": [low, high], "of_sums": sum(new) / sum(old)}
    return row


def compare(options):
    """Writes how the server of options.program does beside that of options.against."""
    processors = sorted(os.sched_getaffinity(0))
    half = len(processors) // 2
    if half == 0:
        sys.exit("serve_load: --against needs two processors, one for each build")
    rounds, capacities = [], []
    for number in range(options.rounds):
        halves = [processors[:half], processors[half : 2 * half]][:: -1 if number % 2 else 1]
        servers = {}
        try:
            for name, share in zip(("against", "program"), halves):
                servers[name] = start_server(options, getattr(options, name), share)
            ports = {name: port for name, (_, port) in servers.items()}
            rounds.append(round_of_both(options, ports, number, capacities))
        finally:
            for process, _ in servers.values():
                process.terminate()
                process.wait()
        print(f"round {number + 1} of {options.rounds}", file=sys.stderr, flush=True)
    rows = [row_of(what, figure, [found[what, figure] for found in rounds]) for what, figure in rounds[0]]
    print(f"{'':24} {'old':>10} {'new':>10}  {'ratio':>5} {'quartiles':>14}  of sums")
    for row in rows:
        line = f"{row['what']:24} {row['old']:10.4g} {row['new']:10.4g}"
        if "ratio" in row:
            low, high = row["quartiles"]
            line += f"  {row['ratio']:.3f} {low:.3f} to {high:.3f}  {row['of_sums']:.3f}"
        print(line)
    if options.json:
        pathlib.Path(options.json).write_text(json.dumps(rows, indent=1) + "\n")


def keep_figures(options, told, rows):
    machine = {
        dtype: bench_lines(options, "--dtype", dtype, "--lengths", "8", "--min-time", "0.1")[0]
        for dtype in ("fp32", "bf16")
    }
    kind = kind_of(machine)[0]
    old = next((other for other in load_kinds() if other["kind"] == kind), None)
    if old is None:
        sys.exit(f"{kind} has no file in bench/figures: measure it with compare_peers.py first")
    peers = told.pop("peers")
    command = f"bench/serve_load.py -m DIR --peers PYTHON --seconds {options.seconds:.0f} --rounds {options.rounds}"
    keep(old | {"serving": {"command": command} | told, "serving_load": rows, "serving_peers": peers})
    write_files(ROOT, load_kinds(), options.program)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-m", "--model", required=True)
    parser.add_argument("--program", default=str(ROOT / "build/release/deberta"))
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--peers", metavar="PYTHON")
    parser.add_argument("--against", metavar="PROGRAM", help="an older build")
    parser.add_argument("--threads", default="0")
    parser.add_argument("--dtype", default="auto")
    parser.add_argument("--queue", default="64", help="--max-concurrent-requests of the server")
    parser.add_argument("--json")
    options = parser.parse_args()
    if shutil.which("wrk") is None:
        sys.exit("serve_load: wrk is not installed: apt-get install wrk")
    if options.against:
        return compare(options)
    server, port = start_server(options, options.program)
    try:
        asyncio.run(closed_loop(port, 8, 3))  # warms up
        told = {"overhead_ms": overhead_ms(port)}
        print(f"overhead of a request, median: at most {told['overhead_ms']:.3f} ms", flush=True)
        text, tokens = text_of_128_tokens(port)
        pairs = [
            (throughput_of_wrk(port, text, options.seconds), throughput_of_bench(options, tokens))
            for _ in range(options.rounds)
        ]
        told["http"], told["bench"] = (statistics.median(part) for part in zip(*pairs))
        told["http_share"] = statistics.median(ours / alone for ours, alone in pairs)
        print(
            f"texts of {tokens} tokens: {told['http']:.1f} a second over HTTP, {told['bench']:.1f} by bench: "
            f"{told['http_share']:.3f}",
            flush=True,
        )
        capacity, *_ = asyncio.run(closed_loop(port, 32, options.seconds))
        print(
            f"capacity {capacity:.1f} requests/s\n"
            f"{'share':>6} {'asked/s':>8} {'answered/s':>10} {'p50 ms':>8} {'p99 ms':>8} {'refused':>8} "
            f"{'others':>7}"
        )
        rows = []
        for share in SHARES:
            row = asyncio.run(open_loop(port, share * capacity, options.seconds))
            rows.append({"share": share} | row)
            print(
                f"{share:6.2f} {row['rate']:8.1f} {row['goodput']:10.1f} {row['p50_ms']:8.1f} "
                f"{row['p99_ms']:8.1f} {row['refused']:8.3f} {row['others']:7d}",
                flush=True,
            )
        if options.peers:
            found = beside_peers(options, port)
            told["peers"] = [
                {"who": name, "clients": clients, "rate": rate, "p50_ms": 1000 * seconds}
                for (name, clients), (rate, seconds) in found.items()
            ]
            for (name, clients), (rate, seconds) in found.items():
                print(
                    f"{name:>14}, {clients:2d} clients: {rate:7.1f} requests/s, {1000 * seconds:7.1f} ms; ours "
                    f"{found['deberta', clients][0] / rate:.2f} times as many",
                    flush=True,
                )
        if options.json:
            pathlib.Path(options.json).write_text(
                json.dumps(told | {"capacity": capacity, "rows": rows}, indent=1) + "\n"
            )
        if options.peers:
            keep_figures(options, told | {"capacity": capacity}, rows)
    finally:
        server.terminate()
        server.wait()


if __name__ == "__main__":
    main()
