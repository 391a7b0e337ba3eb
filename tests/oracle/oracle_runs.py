"""What the tokenizer's oracle tests share: the places, the texts, the program and its answers."""

import functools
import json
import lzma
import os
import pathlib
import random
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "tools"))
import draw  # noqa: E402

SHARED = ROOT.parent / "shared"
GOLDEN = ROOT / "tests" / "golden" / "tokenizer"
BINARY = pathlib.Path(os.environ.get("DEBERTA_BINARY", ROOT / "build" / "dev" / "deberta"))
REAL_LINES = 60000
ALL = os.environ.get("DEBERTA_ORACLE_ALL") == "1"  # tools/long_checks oracle; else each commit draws other samples

needs_program = pytest.mark.skipif(not BINARY.exists(), reason="DEBERTA_BINARY names no program")


def of_shared(name):
    """A parameter that only the shared folder has; without it the test is skipped."""
    return pytest.param(name, marks=pytest.mark.skipif(not SHARED.exists(), reason="needs the shared folder"))


def sampled(items, count):
    """So many of the items, in their order, as the commit draws them; all of them with DEBERTA_ORACLE_ALL=1."""
    if ALL or count >= len(items):
        return items
    return [
        items[i] for i in sorted(random.Random(f"{draw.commit(ROOT)} {len(items)}").sample(range(len(items)), count))
    ]


def clean(line):
    return line.rstrip("\r\n").replace("\r", " ").replace("\n", " ")


@functools.cache
def real_lines():
    """REAL_LINES lines, the same number from every kind of file (short files give what they have)."""
    if not SHARED.exists():
        return [clean(text) for text in json.loads((GOLDEN / "golden.json").read_text())["texts"]]
    files = []
    for path in sorted(SHARED.glob("data/**/*.xz")):
        share = []
        with lzma.open(path, "rt", encoding="utf-8", errors="replace", newline="\n") as file:
            for number, line in enumerate(file):
                if number % 3 == 0 and line.strip():
                    share.append(clean(line)[:2000])
                if len(share) == 4000:
                    break
        files.append(share)
    lines = []
    for at in range(4000):
        lines += [share[at] for share in files if at < len(share)]
    assert len(lines) >= REAL_LINES
    return lines[:REAL_LINES]


def run_raw(folder, rows, *options):
    """The program's output lines, undecoded. Rows are JSON objects: a text may be empty, or begin with a mark."""
    source = folder / "rows.jsonl"
    source.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8", newline="\n")
    command = [BINARY, "tokenize", "-m", folder, "--format", "jsonl", "--keep", "none", "--input", source, *options]
    done = subprocess.run([str(part) for part in command], capture_output=True, check=False)
    assert done.returncode == 0, done.stderr.decode()[-2000:]
    answers = done.stdout.split(b"\n")[:-1]
    assert len(answers) == len(rows)
    return answers


def run(folder, rows, *options):
    return [json.loads(line) for line in run_raw(folder, rows, *options)]


def ids_text(line):
    """The ids of an answer without decoding the rest, which would take most of the test's time."""
    assert line.startswith(b'{"ids":'), line[:100]
    return line[line.index(b"[") + 1 : line.index(b"]")].replace(b" ", b"").decode()


def show(differences, total):
    lines = [f"{len(differences)} of {total} differ"]
    lines += [
        f"{text[:200]!r}\n  got      {got[:60]}\n  expected {expected[:60]}" for text, got, expected in differences[:5]
    ]
    return "\n".join(lines)


def check_offsets(text, offsets):
    begin = end = 0
    for first, last in offsets:
        assert begin <= first <= last <= len(text) and end <= last, (text, offsets)
        begin, end = first, last


def special_texts(count, seed):
    rng = random.Random(seed)
    tokens = ["[MASK]", "[SEP]", "[CLS]", "[PAD]", "[UNK]"]
    words = [
        "the",
        "cat",
        "sat.",
        "\u00e9t\u00e9",
        "e\u0301",
        "\U0001f600",
        "\u8c1b",
        "(x)",
        "[",
        "]",
        "MASK",
        "[MASK",
        ")))",
        "\u2581",
    ]
    spaces = ["", " ", "  ", "\t", "\u00a0", "\u3000", "\u200b"]
    return [
        "".join(
            rng.choice(tokens if rng.random() < 0.4 else words) + rng.choice(spaces) for _ in range(rng.randint(1, 10))
        )
        for _ in range(count)
    ]


def recorded_rows(golden):
    """The recorded encodings of pairs and batches as (ids, types) without padding."""
    for name in ("pair_encode", "batch_encode", "batch_pair_encode"):
        section = golden[name]
        columns = [section["input_ids"], section.get("token_type_ids"), section["attention_mask"]]
        for ids, types, mask in (
            [columns] if name == "pair_encode" else zip(columns[0], columns[1] or [None] * len(columns[0]), columns[2])
        ):
            size = sum(mask)
            assert ids[size:] == [0] * (len(ids) - size)
            yield ids[:size], types and types[:size]


def check_recorded_rows(folder, golden):
    """The file does not hold the texts: they are decoded from its ids, and must give the same ids and types."""
    rows = list(recorded_rows(golden))
    parts = []
    for ids, _ in rows:
        assert ids[0] == 1 and ids[-1] == 2
        parts.append(" ".join(map(str, ids[1:-1])).replace(" 2 ", "|").split("|"))
    texts = [answer["text"] for answer in run(folder, [{"text": part} for row in parts for part in row], "--decode")]
    requests = []
    for row in parts:
        request = {"text": texts.pop(0)}
        if len(row) == 2:
            request["text_pair"] = texts.pop(0)
        requests.append(request)
    for (ids, types), answer in zip(rows, run(folder, requests)):
        assert answer["ids"] == ids
        if types is not None:
            assert answer.get("type_ids", [0] * len(ids)) == types
    return len(rows)
