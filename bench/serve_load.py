#!/usr/bin/env python3
"""Load on a running server that a model of base size stands behind: how much it answers, how late, and what it refuses, at shares of its capacity.

usage: serve_load.py -m MODEL [--program PROGRAM] [--seconds N] [--threads N] [--dtype X] [--json FILE]

The capacity is what 32 clients get that ask again as soon as they are answered. Then requests come at times drawn beforehand (Poisson, fixed seed), whether
the last ones were answered or not, at 50, 80, 95 and 200 % of it; a request's latency counts from the time at which it should have been sent. Texts have
lengths as they occur (lognormal, median 60 pieces, at most 512); of four requests two are of labels, one of vectors, one of a batch of four labels."""
import argparse
import asyncio
import json
import pathlib
import random
import statistics
import subprocess
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
SHARES = (0.5, 0.8, 0.95, 2.0)
WORDS = "the river was high and they went home by another way than that which had brought them".split()


def texts(seed):
    """Endless texts of real lengths; a word is about a piece."""
    draw = random.Random(seed)
    while True:
        yield " ".join(draw.choices(WORDS, k=min(510, max(1, round(draw.lognormvariate(4.09, 0.6))))))


def requests(seed):
    """(bytes of a request, its texts)"""
    source, number = texts(seed), 0
    while True:
        path, inputs = [("/predict", 1), ("/embed", 1), ("/predict", 1), ("/predict", 4)][number % 4]
        number += 1
        some = [next(source) for _ in range(inputs)]
        body = json.dumps({"inputs": [[text] for text in some] if path == "/predict" else some}).encode()
        yield f"POST {path} HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body, inputs


class Connection:
    def __init__(self, port):
        self.port, self.reader, self.writer = port, None, None

    async def ask(self, request):
        """The status."""
        if self.writer is None:
            self.reader, self.writer = await asyncio.open_connection("127.0.0.1", self.port)
        self.writer.write(request)
        head = await self.reader.readuntil(b"\r\n\r\n")
        length = next(int(line.split(b":")[1]) for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:"))
        await self.reader.readexactly(length)
        return int(head.split(b" ", 2)[1])


async def closed_loop(port, clients, seconds):
    """Requests a second that are answered to clients who ask again at once."""
    source, answered, end = requests(1), 0, time.monotonic() + seconds

    async def client():
        nonlocal answered
        connection = Connection(port)
        while time.monotonic() < end:
            request, _ = next(source)
            answered += await connection.ask(request) == 200
    begun = time.monotonic()
    await asyncio.gather(*(client() for _ in range(clients)))
    return answered / (time.monotonic() - begun)


async def open_loop(port, rate, seconds):
    """Figures of requests that come at `rate` a second, whatever becomes of them."""
    draw, source, idle, late, statuses = random.Random(2), requests(2), [], [], []

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
    return {"rate": rate, "goodput": len(late) / elapsed, "p50_ms": 1000 * marks[49], "p99_ms": 1000 * marks[98], "refused": statuses.count(429) / len(statuses),
            "others": sum(status not in (200, 429) for status in statuses)}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-m", "--model", required=True)
    parser.add_argument("--program", default=str(ROOT / "build/release/deberta"))
    parser.add_argument("--seconds", type=float, default=30)
    parser.add_argument("--threads", default="0")
    parser.add_argument("--dtype", default="auto")
    parser.add_argument("--queue", default="64", help="--max-concurrent-requests of the server")
    parser.add_argument("--json")
    options = parser.parse_args()
    server = subprocess.Popen([options.program, "serve", "-q", "-m", options.model, "--port", "0", "--threads", options.threads, "--dtype", options.dtype,
                               "--max-concurrent-requests", options.queue, "--max-connections-per-address", "4096", "--max-connections", "4096"], stdout=subprocess.PIPE, text=True)
    try:
        port = int(server.stdout.readline().split()[0].rsplit(":", 1)[1])
        asyncio.run(closed_loop(port, 8, 3))  # warms up
        capacity = asyncio.run(closed_loop(port, 32, options.seconds))
        print(f"capacity {capacity:.1f} requests/s\n{'share':>6} {'asked/s':>8} {'answered/s':>10} {'p50 ms':>8} {'p99 ms':>8} {'refused':>8} {'others':>7}")
        rows = []
        for share in SHARES:
            row = asyncio.run(open_loop(port, share * capacity, options.seconds))
            rows.append({"share": share} | row)
            print(f"{share:6.2f} {row['rate']:8.1f} {row['goodput']:10.1f} {row['p50_ms']:8.1f} {row['p99_ms']:8.1f} {row['refused']:8.3f} {row['others']:7d}", flush=True)
        if options.json:
            pathlib.Path(options.json).write_text(json.dumps({"capacity": capacity, "rows": rows}, indent=1) + "\n")
    finally:
        server.terminate()
        server.wait()


if __name__ == "__main__":
    main()
