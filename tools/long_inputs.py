#!/usr/bin/env python3
"""Long texts and many rows through the built program, against plain Python.   long_inputs.py text|rows [--program P]

text: a text of 100,000 characters. Its entities and answers are recomputed here from only the ids (`tokenize`) and
the logits of each window by itself (`forward`), and must be equal; the peak memory is printed.
rows: filter mode over 1,000,000 rows, some of them bad: order, bad rows in place, memory that does not grow, Ctrl-C
that leaves whole lines, progress with an ETA on a terminal and JSON lines in a pipe.
Needs the packages of tests/requirements.txt, and for trained models ../shared; without it random ones."""

import argparse
import json
import lzma
import os
import pathlib
import pty
import re
import select
import signal
import subprocess
import sys
import tempfile
import time

import numpy

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests/cli"))
from models import make_model, read_safetensors, write_safetensors  # noqa: E402

SHARED = ROOT.parent / "shared"
CHARACTERS, ROWS = 100_000, 1_000_000
CLS, SEP = 1, 2


def run(a, *words):
    done = subprocess.run([a.program, *map(str, words)], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{words[0]}: exit code {done.returncode}: {done.stderr[-500:]}")
    return done.stdout


def model_of(name, head, folder, labels):
    path = SHARED / "reference/models" / name
    return path if path.exists() else make_model(folder / name, head, labels=labels)


def long_text():
    path = SHARED / "data/corpus/wiki6640.txt.xz"
    if not path.exists():
        return " ".join(f"Ada{i} Lovelace met word{i * 37 % 1000} in London ." for i in range(CHARACTERS))[:CHARACTERS]
    with lzma.open(path, "rt", encoding="utf-8") as file:
        return re.sub(r"\s+", " ", file.read(2 * CHARACTERS))[:CHARACTERS].strip()


# ---- the same in Python


def windows_of(tokens, room, overlap):
    windows = [(0, min(tokens, room))]
    while windows[-1][1] < tokens:
        first = windows[-1][1] - overlap
        windows.append((first, min(tokens, first + room)))
    return windows


def logits_of(a, model, sequences, types, folder):
    """[tokens, C] of each sequence, each from a run of its own: nothing is packed together."""
    found = []
    for ids, kinds in zip(sequences, types):
        write_safetensors(
            folder / "in.safetensors",
            {"input_ids": numpy.array([ids], numpy.int32), "token_type_ids": numpy.array([kinds], numpy.int32)},
        )
        run(
            a,
            "forward",
            "-m",
            model,
            "--ids",
            folder / "in.safetensors",
            "--layers",
            "none",
            "-o",
            folder / "out.safetensors",
        )
        found.append(read_safetensors(folder / "out.safetensors")["logits"][0].copy())
    return found


def tokens_of(a, model, text, folder):
    (folder / "t.json").write_text(json.dumps([{"text": text}]))
    row = json.loads(
        run(
            a,
            "tokenize",
            "-m",
            model,
            "--no-special",
            "-f",
            "jsonl",
            "--max-text-bytes",
            "1GiB",
            "-i",
            folder / "t.json",
        )
    )
    return row["ids"], row["offsets"]


def softmax(rows):
    high = numpy.exp(rows.astype(numpy.float64) - rows.max(-1, keepdims=True))
    return high / high.sum(-1, keepdims=True)


def entities_of(a, model, text, folder, limit=512, overlap=128):
    """Runs of labels over the best-placed logits of each token: (label, start, end, score)."""
    labels = [
        label
        for _, label in sorted(
            ((int(i), x) for i, x in json.loads((model / "config.json").read_text())["id2label"].items())
        )
    ]
    ids, offsets = tokens_of(a, model, text, folder)
    windows = windows_of(len(ids), limit - 2, overlap)
    logits = logits_of(
        a,
        model,
        [[CLS, *ids[first:last], SEP] for first, last in windows],
        [[0] * (last - first + 2) for first, last in windows],
        folder,
    )
    # (start, end, rows of probabilities): pieces that split one character are one unit, decided by the mean of its
    # pieces
    units = []
    for t in range(len(ids)):
        # The window in which the token is farthest from an end that cuts the text; the first of equals.
        contexts = [
            (min(t - first if first else len(ids), last - 1 - t if last < len(ids) else len(ids)), -w)
            for w, (first, last) in enumerate(windows)
            if first <= t < last
        ]
        best = -max(contexts)[1]
        row, (start, end) = softmax(logits[best][t - windows[best][0] + 1]), offsets[t]
        if units and start < units[-1][1]:
            units[-1] = (units[-1][0], max(end, units[-1][1]), [*units[-1][2], row])
        else:
            units.append((start, end, [row]))
    means = [numpy.mean(rows, 0) for _, _, rows in units]
    tags, scores = [labels[int(row.argmax())] for row in means], [float(row.max()) for row in means]
    found, t = [], 0
    while t < len(units):
        kind, end = tags[t].split("-", 1)[-1], t + 1
        while end < len(units) and tags[end].split("-", 1)[-1] == kind and not tags[end].startswith("B-"):
            end += 1
        if kind != "O":
            found.append((kind, units[t][0], units[end - 1][1], float(numpy.mean(scores[t:end]))))
        t = end
    return found, len(windows)


def answer_of(a, model, question, text, folder, limit=384, overlap=128, longest=15):
    """The best span of each window, by the sum of its logits, with the probabilities of equal words added up: (start,
    end, probability) of the most likely one."""
    asked, _ = tokens_of(a, model, question, folder)
    ids, offsets = tokens_of(a, model, text, folder)
    windows = windows_of(len(ids), limit - len(asked) - 3, overlap)
    logits = logits_of(
        a,
        model,
        [[CLS, *asked, SEP, *ids[first:last], SEP] for first, last in windows],
        [[0] * (len(asked) + 2) + [1] * (last - first + 1) for first, last in windows],
        folder,
    )
    spans, every = [], [[], []]
    for (first, last), rows in zip(windows, logits):
        context = rows[len(asked) + 2 : -1].astype(numpy.float64)
        for side in (0, 1):
            every[side].extend([rows[0, side], *context[:, side]])
        spans.append(
            max(
                (context[s, 0] + context[e, 1], -s, -e)
                for s in range(last - first)
                for e in range(s, min(last - first, s + longest))
            )
        )
        spans[-1] = (spans[-1][0], offsets[first - spans[-1][1]][0], offsets[first - spans[-1][2]][1])
    total = sum(numpy.log(numpy.exp(numpy.array(x) - max(x)).sum()) + max(x) for x in every)
    answers = {}  # by words: their most likely place, and the sum
    for logit, start, end in sorted(spans, reverse=True):
        words = text[start:end].lower()
        place, score = answers.get(words, ((start, end), 0.0))
        answers[words] = place, score + float(numpy.exp(logit - total))
    (start, end), score = max(answers.values(), key=lambda answer: answer[1])
    return start, end, score, len(windows)


# ---- the checks


def peak_mib(a, *words):
    """The program's standard output and its peak memory."""
    process = subprocess.Popen([a.program, *map(str, words)], stdout=subprocess.PIPE, text=True)
    text = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    if status != 0:
        sys.exit(f"{words[0]}: failed")
    return text, usage.ru_maxrss / 1024


def check(is_right, what):
    if not is_right:
        sys.exit(f"long_inputs: {what}")


def check_text(a):
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        text = long_text()
        check(len(text) > 0.9 * CHARACTERS, "the text is too short")
        (folder / "doc.json").write_text(
            json.dumps([{"text": text, "question": "Where was he born ?", "context": text}])
        )
        model = model_of("nano-conll", "token", folder, ("O", "B-X", "I-X"))
        expected, windows = entities_of(a, model, text, folder)
        out, peak = peak_mib(a, "ner", "-m", model, "-f", "jsonl", "--keep", "none", "-i", folder / "doc.json")
        got = json.loads(out)["entities"]
        check([(e["entity_group"], e["start"], e["end"]) for e in got] == [e[:3] for e in expected], "entities differ")
        worst = max((abs(e["score"] - other[3]) for e, other in zip(got, expected)), default=0)
        check(worst < 1e-4 and all(text[e["start"] : e["end"]] == e["word"] for e in got), "scores or offsets differ")
        print(
            f"ner: {len(text)} characters, {windows} windows, {len(got)} entities equal, scores within "
            f"{worst:.1e}, {peak:.0f} MiB"
        )

        model = model_of("nano-squad", "span", folder, ("a", "b"))
        start, end, score, windows = answer_of(a, model, "Where was he born ?", text, folder)
        out, peak = peak_mib(
            a, "qa", "-m", model, "-f", "jsonl", "--keep", "none", "--align", "tokens", "-i", folder / "doc.json"
        )
        got = json.loads(out)
        check(
            (got["start"], got["end"]) == (start, end) and text[start:end] == got["answer"],
            f"answers differ: {got} {start} {end}",
        )
        check(abs(got["score"] - score) < 1e-4, f"scores differ: {got['score']} {score}")
        print(
            f"qa: {windows} windows, the answer {got['answer']!r} and its place equal, score within "
            f"{abs(got['score'] - score):.1e}, {peak:.0f} MiB"
        )


def is_bad(i):
    return i % 1000 == 7


def write_rows(path, count):
    with open(path, "w") as file:
        for i in range(count):
            file.write(f'{{"id": {i}}}\n' if is_bad(i) else f'{{"id": {i}, "text": "row {i} is short"}}\n')


def rss_mib(pid):
    for line in pathlib.Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS"):
            return int(line.split()[1]) / 1024
    return 0


def check_order_and_memory(a, model, path):
    begin = time.monotonic()
    process = subprocess.Popen(
        [a.program, "classify", "-m", model, "-i", path, "-f", "jsonl", "--progress", "on"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    memory = []
    for i, line in enumerate(process.stdout):
        row = json.loads(line)
        check(row["id"] == i and ("error" in row) == is_bad(i), f"row {i} is out of place: {line}")
        if i % (ROWS // 20) == ROWS // 40:
            memory.append(rss_mib(process.pid))
    notes = process.stderr.read().splitlines()
    check(process.wait() == 1 and i == ROWS - 1, f"{i + 1} rows")
    check(f"rows: {ROWS - ROWS // 1000} ok, {ROWS // 1000} failed" in notes, notes[-1])
    progress = [json.loads(line) for line in notes if line.startswith("{")]
    seconds = time.monotonic() - begin
    check(
        len(progress) >= int(seconds / 35) and all("\x1b" not in note for note in notes),
        f"{len(progress)} lines of progress in {seconds:.0f} s",
    )
    growth = max(memory[10:]) - max(memory[2:10])
    check(growth < 8, f"memory grew by {growth:.1f} MiB")
    print(
        f"rows: {ROWS} in order in {seconds:.0f} s, bad rows in place, {max(memory):.0f} MiB (second half "
        f"{growth:+.1f}), {len(progress)} lines of progress"
    )


def check_interrupt(a, model, path):
    process = subprocess.Popen(
        [a.program, "classify", "-m", model, "-i", path, "-f", "jsonl"], stdout=subprocess.PIPE, text=True
    )
    lines = [process.stdout.readline() for _ in range(5000)]
    process.send_signal(signal.SIGINT)
    rest = process.stdout.read()
    check(process.wait() == 130 and rest.endswith("\n"), "an interrupted run did not end with a whole line")
    for i, line in enumerate([*lines, *rest.splitlines()]):
        check(json.loads(line)["id"] == i, f"row {i} after an interrupt")
    print(f"rows: Ctrl-C after 5000 rows leaves {5000 + len(rest.splitlines())} whole lines, exit code 130")


def check_terminal(a, model, path):
    leader, follower = pty.openpty()
    process = subprocess.Popen(
        [a.program, "classify", "-m", model, "-i", path, "-o", str(path) + ".out"],
        stderr=follower,
        stdout=subprocess.DEVNULL,
        env=os.environ | {"TERM": "xterm"},
    )
    os.close(follower)
    shown, end = b"", time.monotonic() + 20
    while time.monotonic() < end and b" left" not in shown:
        if select.select([leader], [], [], 0.2)[0]:
            shown += os.read(leader, 4096)
    process.send_signal(signal.SIGINT)
    process.wait()
    os.close(leader)
    check(b" left" in shown and b"%" in shown, f"no bar with an ETA on a terminal: {shown[-200:]!r}")
    print("rows: a bar with an ETA on a terminal")


def check_rows(a):
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        model = make_model(folder / "m", "sequence")
        write_rows(folder / "rows.jsonl", ROWS)
        check_order_and_memory(a, model, folder / "rows.jsonl")
        check_interrupt(a, model, folder / "rows.jsonl")
        check_terminal(a, model, folder / "rows.jsonl")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("text", "rows"))
    parser.add_argument("--program", default=str(ROOT / "build/release/deberta"))
    a = parser.parse_args()
    {"text": check_text, "rows": check_rows}[a.what](a)


if __name__ == "__main__":
    main()
