#!/usr/bin/env python3
"""Twenty minutes of everything at once against one server: requests whose answers are known, some of them in a hurry,
reloads, clients that leave, bodies that are none, and more connections than may be open. Every request has its one
right answer, the counts add up at the end, and the memory stays where it was.

usage: soak.py [SECONDS]        (DEBERTA_BINARY names the program)"""

import json
import os
import pathlib
import random
import socket
import statistics
import sys
import tempfile
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from conftest import Server
from models import make_model

HOSTILE = [
    b"{",
    b"\xff" * 50,
    b'{"inputs": ' + b"[" * 40 + b"]" * 40 + b"}",
    b'{"inputs": NaN}',
    b'{"inputs": [' + b'"a",' * 5000 + b'"a"]}',
    b"",
]


class Soak:
    def __init__(self, server, texts, answers):
        self.server, self.texts, self.answers = server, texts, answers
        self.done, self.lock, self.wrong, self.counts = threading.Event(), threading.Lock(), [], {}

    def count(self, what):
        with self.lock:
            self.counts[what] = self.counts.get(what, 0) + 1

    def run(self, seed, act):
        draw = random.Random(seed)
        while not self.done.is_set():
            try:
                act(draw)
            except Exception as error:  # told at the end
                with self.lock:
                    self.wrong.append(f"{act.__name__}: {error!r}")
                return

    def ask(self, draw):
        which = draw.sample(range(len(self.texts)), draw.randint(1, 6))
        got = self.server.post("/predict", {"inputs": [[self.texts[i]] for i in which]})
        assert got == [self.answers[i] for i in which], "an answer is another text's, or changed"
        self.count("answers")

    def hurry(self, draw):
        """Short texts may be in time where long ones are not; then none is answered."""
        which = [draw.randrange(len(self.texts)) for _ in range(60)]
        ask = {"inputs": [[self.texts[i]] for i in which]}
        status, _, text = self.server.request("POST", "/predict", ask, {"x-deadline-ms": str(draw.randint(1, 400))})
        assert status == 504 or json.loads(text) == [self.answers[i] for i in which], (status, text)
        self.count("answers in a hurry" if status == 200 else "requests that were late")

    def leave(self, draw):
        body = json.dumps({"inputs": [["word " * 200] for _ in range(20)]}).encode()
        whole = (
            "POST /predict HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
            f"Content-Length: {len(body)}\r\n\r\n"
        ).encode() + body
        with socket.create_connection(("127.0.0.1", self.server.port), timeout=60) as one:
            one.sendall(whole[: draw.randrange(len(whole))] if draw.random() < 0.5 else whole)
            time.sleep(draw.random() * 0.02)
        self.count("clients that left")

    def hostile(self, draw):
        status, _, _ = self.server.request("POST", "/predict", draw.choice(HOSTILE))
        assert status in (400, 413, 422), status
        self.count("bodies refused")
        time.sleep(0.01)

    def reload(self, draw):
        self.server.post("/admin/models/labels/reload", {})
        self.count("reloads")
        time.sleep(draw.random() * 0.5)


def main():
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 1200
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder)
        server = Server(["--port", "0", "-q", "--admin", "-m", make_model(path / "labels", "sequence")], path / "log")
        texts = [f"text number {i} " + "and more " * (i % 40) for i in range(400)]
        answers = [server.post("/predict", {"inputs": [[text]]})[0] for text in texts]
        soak = Soak(server, texts, answers)
        acts = [soak.ask] * 4 + [soak.hurry] * 2 + [soak.leave, soak.hostile, soak.reload]
        threads = [threading.Thread(target=soak.run, args=(seed, act)) for seed, act in enumerate(acts)]
        for thread in threads:
            thread.start()
        end, memory = time.monotonic() + seconds, []
        while time.monotonic() < end and not soak.wrong:
            time.sleep(min(5, seconds / 20))
            memory.append(server.anonymous_kib())
        soak.done.set()
        for thread in threads:
            thread.join()
        time.sleep(1)
        values = {}
        for line in server.request("GET", "/metrics")[2].splitlines():
            if not line.startswith("#"):
                name, value = line.rsplit(" ", 1)
                values.setdefault(name.split("{")[0], 0.0)
                values[name.split("{")[0]] += float(value)
        total, success, failure = (values[f"deberta_request_{name}total"] for name in ("", "success_", "failure_"))
        assert not soak.wrong, soak.wrong
        assert (
            total == success + failure and values["deberta_queue_requests"] == 0 and values["deberta_queue_tokens"] == 0
        ), values
        # Before that the allocator still finds its size. What a moment needs comes and goes.
        quarter = len(memory) // 4
        early, late = statistics.median(memory[quarter : 2 * quarter]), statistics.median(memory[-quarter:])
        assert seconds < 300 or late < 1.05 * early, memory
        server.stop()
        print(
            ", ".join(f"{count} {what}" for what, count in sorted(soak.counts.items()))
            + f"; median {early / 1024:.1f} MB in the second quarter, {late / 1024:.1f} MB in the last"
        )


if __name__ == "__main__":
    os.environ.pop("DEBERTA_API_KEY", None)
    main()
