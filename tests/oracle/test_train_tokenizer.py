"""train/tokenizer/train_tokenizer.py: what it writes is read by the program and by both tokenizers of transformers 4.57
with equal ids, has the special pieces of the published v3 models, and depends on its files and options alone."""

import bz2
import functools
import gzip
import json
import lzma
import pathlib
import random
import shutil
import subprocess
import sys

import pytest

from oracle_runs import ROOT, SHARED, ids_text, needs_program, real_lines, run_raw, show, special_texts
from random_text import random_strings

sentencepiece = pytest.importorskip("sentencepiece")

VOCABULARY = 1500
NORMAL, UNKNOWN, CONTROL, BYTE = 1, 2, 3, 6
NAMES = ["added_tokens.json", "special_tokens_map.json", "spm.model", "tokenizer_config.json"]


def run_trainer(*arguments):
    command = [sys.executable, ROOT / "train/tokenizer/train_tokenizer.py", *arguments]
    return subprocess.run([str(part) for part in command], capture_output=True, check=False, text=True)


def train(output, *arguments, size=VOCABULARY):
    done = run_trainer("--vocab-size", size, "-o", output, *arguments)
    assert done.returncode == 0, done.stderr
    assert done.stdout == ""
    assert sorted(path.name for path in output.iterdir()) == NAMES
    return output


@functools.cache
def corpus_lines():
    """Sentences of made-up words, and real lines where there are any."""
    rng = random.Random(5)
    syllables = [first + vowel + last for first in "bdfgklmnprst" for vowel in "aeiou" for last in ("", "n", "r", "st")]
    words = ["".join(rng.choices(syllables, k=rng.randint(1, 3))) for _ in range(2000)]
    return [" ".join(rng.choices(words, k=12)) + "." for _ in range(2000)] + real_lines()[:2000]


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    path = tmp_path_factory.mktemp("corpus") / "corpus.txt"
    path.write_text("\n".join(corpus_lines()) + "\n", encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def trained(corpus, tmp_path_factory):
    return train(tmp_path_factory.mktemp("trained") / "tokenizer", "--character-coverage", "0.99", corpus)


def kinds_of(path):
    """(piece, kind) of each piece. The message is read by its wire format: no generated code is needed."""
    model = pytest.importorskip("sentencepiece.sentencepiece_model_pb2").ModelProto()
    model.ParseFromString(path.read_bytes())
    return model, [(piece.piece, piece.type) for piece in model.pieces]


def test_the_special_pieces_are_those_of_the_published_models(trained):
    model, pieces = kinds_of(trained / "spm.model")
    assert len(pieces) == VOCABULARY
    special = [("[PAD]", CONTROL), ("[CLS]", CONTROL), ("[SEP]", CONTROL), ("[UNK]", UNKNOWN)]
    assert pieces[:260] == special + [(f"<0x{byte:02X}>", BYTE) for byte in range(256)]
    assert {kind for _, kind in pieces[260:]} == {NORMAL}
    published = SHARED / "reference/tokenizers/deberta-v3-reconstructed/spm.model"
    if published.exists():
        theirs, their_pieces = kinds_of(published)
        assert pieces[:260] == their_pieces[:260]
        for field in (
            "model_type",
            "byte_fallback",
            "unk_id",
            "bos_id",
            "eos_id",
            "pad_id",
            "unk_piece",
            "bos_piece",
            "eos_piece",
            "pad_piece",
        ):
            assert getattr(model.trainer_spec, field) == getattr(theirs.trainer_spec, field), field
        for field in ("name", "add_dummy_prefix", "remove_extra_whitespaces", "escape_whitespaces"):
            assert getattr(model.normalizer_spec, field) == getattr(theirs.normalizer_spec, field), field


def test_the_files_beside_the_model_have_the_published_form(trained):
    small = SHARED / "reference/models/nano-mlm"
    if not small.exists():
        pytest.skip("needs the shared folder")
    for name in ("tokenizer_config.json", "special_tokens_map.json", "added_tokens.json"):
        assert json.loads((trained / name).read_text()) == json.loads(
            (small / name).read_text().replace("8192", str(VOCABULARY))
        ), name


def texts():
    return real_lines()[::10][:4000] + random_strings(3000, seed=31) + special_texts(500, seed=32)


@needs_program
@pytest.mark.parametrize("kind", ["slow", "fast"])
def test_program_and_transformers_give_equal_ids(trained, kind, tmp_path):
    transformers = pytest.importorskip("transformers")
    library = transformers.AutoTokenizer.from_pretrained(trained, use_fast=kind == "fast")
    assert type(library).__name__ == ("DebertaV2TokenizerFast" if kind == "fast" else "DebertaV2Tokenizer")
    assert [
        library.pad_token_id,
        library.cls_token_id,
        library.sep_token_id,
        library.unk_token_id,
        library.mask_token_id,
    ] == [0, 1, 2, 3, VOCABULARY]
    assert len(library) == VOCABULARY + 1
    folder = shutil.copytree(trained, tmp_path / "model")
    lines = texts()
    answers = run_raw(folder, [{"text": line} for line in lines], "--tokenizer", kind)
    expected = [",".join(map(str, library(line)["input_ids"])) for line in lines]
    differences = [
        (line, ids_text(answer), ids) for line, answer, ids in zip(lines, answers, expected) if ids_text(answer) != ids
    ]
    assert not differences, show(differences, len(lines))


def test_bytes_spell_what_has_no_piece(trained):
    spm = sentencepiece.SentencePieceProcessor(model_file=str(trained / "spm.model"))
    assert spm.unk_id() not in spm.encode("\u2603 \U0001f9a4 \u1e9e")
    assert spm.decode(spm.encode("snow \u2603 dodo \U0001f9a4")) == "snow \u2603 dodo \U0001f9a4"


def test_the_same_files_give_the_same_bytes(trained, corpus, tmp_path):
    again = train(tmp_path / "again", "--character-coverage", "0.99", corpus)
    for name in NAMES:
        assert (again / name).read_bytes() == (trained / name).read_bytes(), name


def test_compression_folders_and_patterns_change_nothing(tmp_path):
    content = ("\n".join(corpus_lines()[:1500]) + "\n").encode()
    kinds = {".txt": bytes, ".txt.xz": lzma.compress, ".txt.gz": gzip.compress, ".txt.bz2": bz2.compress}
    if shutil.which("zstd"):
        kinds[".txt.zst"] = lambda raw: (
            subprocess.run(["zstd", "-qc"], input=raw, stdout=subprocess.PIPE, check=True).stdout
        )
    models = set()
    for ending, compress in kinds.items():
        folder = tmp_path / ending[1:]
        folder.mkdir()
        (folder / ("corpus" + ending)).write_bytes(compress(content))
        (folder / "notes.md").write_text("not a text of the corpus")
        models.add((train(tmp_path / f"out{ending}", folder, size=500) / "spm.model").read_bytes())
    models.add((train(tmp_path / "pattern", str(tmp_path / "txt" / "c*.txt"), size=500) / "spm.model").read_bytes())
    assert len(models) == 1


def test_held_out_documents_and_markers_are_not_trained_on(tmp_path):
    """Document 2 of each 3 is held out. An empty document does not count, a marker line and `Section::::` are no
    text."""
    lines = corpus_lines()
    corpus = tmp_path / "corpus.txt"
    parts = ["<|doc EMPTY|>"]
    for number, letter in enumerate("\u0436\u0444\u0449\u044d\u044e\u044f"):
        parts += [
            f"<|doc \u0416\u0416{number}|>",
            "Section::::Section.",
            *lines[number * 200 : number * 200 + 200],
            (letter + " ") * 200,
        ]
    corpus.write_text("\n".join(parts) + "\n", encoding="utf-8")
    output = train(tmp_path / "out", "--hold-out-every", 3, "--character-coverage", 1, corpus, size=700)
    letters = {piece for piece, _ in kinds_of(output / "spm.model")[1]}
    has = [any(letter in piece for piece in letters) for letter in "\u0436\u0444\u0449\u044d\u044e\u044f\u0416"]
    assert has == [True, True, False, True, True, False, False]
    assert not any("::" in piece for piece in letters)


def test_the_sample_is_drawn_from_all_lines(tmp_path):
    corpus = tmp_path / "corpus.txt"
    corpus.write_text(
        "\n".join([*corpus_lines()[:300], *("\u0436\u0444 \u0449" for _ in range(3000))]) + "\n", encoding="utf-8"
    )
    pieces = kinds_of(
        train(tmp_path / "out", "--input-sentence-size", 400, "--character-coverage", 1, corpus, size=300) / "spm.model"
    )[1]
    assert any("\u0436" in piece for piece, _ in pieces)


def expect_problem(message, *arguments, code=1):
    done = run_trainer(*arguments)
    assert done.returncode == code, done.stderr
    assert message in done.stderr, done.stderr
    assert "Traceback" not in done.stderr


def test_what_cannot_be_trained_is_said_and_nothing_is_left(corpus, tmp_path):
    out = tmp_path / "out"
    (tmp_path / "empty.txt").write_text("\n \n<|doc A|>\n")
    (tmp_path / "small.txt").write_text("a few words only\n")
    content = pathlib.Path(corpus).read_bytes()
    for ending, compress in {"xz": lzma.compress, "gz": gzip.compress, "bz2": bz2.compress}.items():
        raw = bytearray(compress(content))
        raw[len(raw) // 2] ^= 0x55
        (tmp_path / f"damaged.txt.{ending}").write_bytes(raw)
    (tmp_path / "cut.txt.xz").write_bytes(lzma.compress(content)[:-40])
    (tmp_path / "folder").mkdir()
    expect_problem("the corpus is empty", "--vocab-size", 300, "-o", out, tmp_path / "empty.txt")
    expect_problem("vocabulary size: expected at most", "--vocab-size", 5000, "-o", out, tmp_path / "small.txt")
    expect_problem("vocabulary size: expected at least", "--vocab-size", 262, "-o", out, tmp_path / "small.txt")
    for ending in ("xz", "gz", "bz2"):
        expect_problem(f"damaged {ending} stream", "--vocab-size", 300, "-o", out, tmp_path / f"damaged.txt.{ending}")
    expect_problem("damaged xz stream", "--vocab-size", 300, "-o", out, tmp_path / "cut.txt.xz")
    expect_problem("no such file", "--vocab-size", 300, "-o", out, tmp_path / "nothing.txt")
    expect_problem("no text file in this folder", "--vocab-size", 300, "-o", out, tmp_path / "folder")
    expect_problem("expected a new or an empty folder", "--vocab-size", 300, "-o", tmp_path, corpus)
    expect_problem("cannot create: no folder", "--vocab-size", 300, "-o", tmp_path / "a/b", corpus)
    expect_problem("expected at least 261", "--vocab-size", 100, "-o", out, corpus, code=2)
    expect_problem("expected 0.98 to 1", "--vocab-size", 300, "--character-coverage", 2, "-o", out, corpus, code=2)
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "cut.txt.xz",
        "damaged.txt.bz2",
        "damaged.txt.gz",
        "damaged.txt.xz",
        "empty.txt",
        "folder",
        "small.txt",
    ]
