"""The program's tokens against the live reference programs: sentencepiece 0.2.3 and the slow tokenizer of transformers
4.57. DEBERTA_BINARY names the program. Without ../shared the models and texts of tests/golden alone are used.
"""

import hashlib
import json
import lzma
import os
import pathlib
import random
import shutil
import subprocess
import unicodedata

import pytest

from random_text import random_strings

sentencepiece = pytest.importorskip("sentencepiece")

ROOT = pathlib.Path(__file__).resolve().parents[2]
SHARED = ROOT.parent / "shared"
GOLDEN = ROOT / "tests" / "golden" / "tokenizer"
BINARY = pathlib.Path(os.environ.get("DEBERTA_BINARY", ROOT / "build" / "dev" / "deberta"))
REAL_LINES = 60000
RANDOM_LINES = 100000

pytestmark = pytest.mark.skipif(not BINARY.exists(), reason="DEBERTA_BINARY names no program")


def test_the_oracle_is_the_release_that_we_follow():
    """0.2.1 breaks ties differently (docs/tokenizers.md): with it the tests below would fail for its sake."""
    assert sentencepiece.__version__ == "0.2.3"


def distinct_models():
    """One path for each content: the models of one family share their file."""
    paths = sorted(GOLDEN.glob("*.model"))
    if SHARED.exists():
        paths += sorted(SHARED.glob("reference/**/*.model"))
    seen = {}
    for path in paths:
        seen.setdefault(hashlib.sha256(path.read_bytes()).hexdigest(), path)
    return list(seen.values())


MODELS = distinct_models()
NAMES = [f"{path.parent.name}/{path.name}" for path in MODELS]


def clean(line):
    return line.rstrip("\r\n").replace("\r", " ").replace("\n", " ")


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


@pytest.fixture(scope="session")
def lines():
    return real_lines() + random_strings(RANDOM_LINES if SHARED.exists() else 20000)


def model_folder(path, folder, files=None):
    """A folder that the program takes for a model's: the tokenizer's files alone."""
    shutil.copy(path, folder / "spm.model")
    for name, content in (files or {}).items():
        (folder / name).write_text(json.dumps(content), encoding="utf-8")
    return folder


def run_raw(folder, rows, *options):
    """The lines that the program answers, undecoded. Rows are JSON objects: a text may be empty, or begin with a mark."""
    source = folder / "rows.jsonl"
    source.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8", newline="\n")
    command = [BINARY, "tokenize", "-m", folder, "--format", "jsonl", "--keep", "none", "--input", source, *options]
    done = subprocess.run([str(part) for part in command], stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    assert done.returncode == 0, done.stderr.decode()[-2000:]
    answers = done.stdout.split(b"\n")[:-1]
    assert len(answers) == len(rows)
    return answers


def run(folder, rows, *options):
    return [json.loads(line) for line in run_raw(folder, rows, *options)]


def ids_text(line):
    """The ids of an answer without decoding the rest: decoding it all would take most of the test's time."""
    assert line.startswith(b'{"ids":'), line[:100]
    return line[line.index(b"[") + 1 : line.index(b"]")].replace(b" ", b"").decode()


def show(differences, total):
    lines = [f"{len(differences)} of {total} differ"]
    lines += [f"{text[:200]!r}\n  got      {got[:60]}\n  expected {expected[:60]}" for text, got, expected in differences[:5]]
    return "\n".join(lines)


def check_offsets(text, offsets):
    begin = end = 0
    for first, last in offsets:
        assert begin <= first <= last <= len(text) and end <= last, (text, offsets)
        begin, end = first, last


@pytest.mark.parametrize("path", MODELS, ids=NAMES)
def test_plain_text_gives_the_ids_of_sentencepiece(path, lines, tmp_path):
    spm = sentencepiece.SentencePieceProcessor(model_file=str(path))
    if path.parent == GOLDEN:  # their goldens are compared in C++ too
        lines = lines[::8]
    rows = [{"text": line} for line in lines]
    answers = run_raw(model_folder(path, tmp_path), rows, "--no-special", "--special-text", "literal")
    differences = []
    for line, answer, ids in zip(lines, answers, spm.encode(lines, num_threads=1)):
        expected = ",".join(map(str, ids))
        if ids_text(answer) != expected:
            differences.append((line, ids_text(answer), expected))
    assert not differences, show(differences, len(lines))


def normalised(spm, text):
    return spm.normalize(text).replace("\u2581", "")


@pytest.mark.parametrize("path", MODELS, ids=NAMES)
def test_offsets_name_the_part_of_the_text_that_the_piece_is_of(path, lines, tmp_path):
    """Normalising the slice gives the piece's text. The rule where one character became several pieces, or a piece joins
    characters across a border that the rules of normalisation cross: the normalised slice contains the piece's text."""
    spm = sentencepiece.SentencePieceProcessor(model_file=str(path))
    sample = lines[:: max(1, len(lines) // 8000)]
    answers = run(model_folder(path, tmp_path), [{"text": line} for line in sample], "--no-special",
                  "--special-text", "literal")
    equal = contained = 0
    for line, answer in zip(sample, answers):
        check_offsets(line, answer["offsets"])
        for piece, identity, (begin, end) in zip(answer["tokens"], answer["ids"], answer["offsets"]):
            wanted = piece.replace("\u2581", "")
            if spm.is_byte(identity) or spm.is_unknown(identity) or not wanted:
                continue
            got = normalised(spm, line[begin:end])
            if got == wanted:
                equal += 1
            else:
                assert wanted in got or wanted in normalised(spm, line[max(0, begin - 1) : end + 1]), (line, piece, begin, end)
                contained += 1
    assert contained <= equal / 20


# ---- special tokens and pairs, against the slow tokenizer


def special_texts(count, seed):
    rng = random.Random(seed)
    tokens = ["[MASK]", "[SEP]", "[CLS]", "[PAD]", "[UNK]"]
    words = ["the", "cat", "sat.", "\u00e9t\u00e9", "e\u0301", "\U0001f600", "\u8c1b", "(x)", "[", "]", "MASK", "[MASK", ")))", "\u2581"]
    spaces = ["", " ", "  ", "\t", "\u00a0", "\u3000", "\u200b"]
    return [
        "".join(rng.choice(tokens if rng.random() < 0.4 else words) + rng.choice(spaces) for _ in range(rng.randint(1, 10)))
        for _ in range(count)
    ]


@pytest.mark.parametrize("path", MODELS, ids=NAMES)
def test_special_tokens_and_pairs_act_as_in_the_slow_tokenizer(path, tmp_path):
    transformers = pytest.importorskip("transformers")
    folder = model_folder(path, tmp_path)
    slow = transformers.DebertaV2Tokenizer.from_pretrained(folder)
    texts = special_texts(400, seed=3)
    answers = run(folder, [{"text": text} for text in texts])
    differences = [(text, answer["ids"], slow(text)["input_ids"]) for text, answer in zip(texts, answers)]
    differences = [row for row in differences if row[1] != row[2]]
    assert not differences, show(differences, len(texts))

    pairs = list(zip(special_texts(200, seed=4), random_strings(200, seed=9)))
    rows = [{"text": a, "text_pair": b} for a, b in pairs]
    answers = run(folder, rows)  # truncation: tests/text/golden_test.cpp; this verb does none
    for (a, b), answer in zip(pairs, answers):
        expected = slow(a, b)
        assert answer["ids"] == expected["input_ids"], (a, b)
        assert answer["type_ids"] == expected["token_type_ids"], (a, b)


def test_the_published_ids_of_deberta_v3_base(tmp_path):
    model = SHARED / "reference/tokenizers/deberta-v3-reconstructed/spm.model"
    golden = SHARED / "reference/golden-tokenizations/microsoft--deberta-v3-base.json"
    if not model.exists():
        pytest.skip("needs the shared folder")
    rows = json.loads(golden.read_text())["datasets"]
    answers = run(model_folder(model, tmp_path), [{"text": row["input"]} for row in rows])
    for row, answer in zip(rows, answers):
        assert answer["ids"] == row["ids"], row["input"]


def test_character_classes_are_those_of_python(tmp_path):
    """split_by_punct and do_lower_case ask Python's tables; here all characters that they touch."""
    transformers = pytest.importorskip("transformers")
    folder = model_folder(GOLDEN / "bytes.model", tmp_path, {"tokenizer_config.json": {"do_lower_case": True, "split_by_punct": True}})
    slow = transformers.DebertaV2Tokenizer.from_pretrained(folder)
    points = [chr(p) for p in range(0x20, 0x20000) if unicodedata.category(chr(p)) in ("Lu", "Lt", "Po", "Pd", "Ps", "Pe", "Pi", "Pf", "Pc", "Sm", "Nl", "So")]
    texts = ["x".join(points[at : at + 20]) for at in range(0, len(points), 20)]
    answers = run(folder, [{"text": text} for text in texts])
    for text, answer in zip(texts, answers):
        assert answer["ids"] == slow(text)["input_ids"], text
