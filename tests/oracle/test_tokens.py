"""The program's tokens against the live reference programs: sentencepiece 0.2.3 and the slow tokenizer of transformers
4.57: a sample that the commit draws of 60,000 real lines and 100,000 strings, or with DEBERTA_ORACLE_ALL=1 all of them.
DEBERTA_BINARY names the program. Without ../shared only the models and texts of tests/golden are used.
"""

import hashlib
import json
import shutil
import unicodedata

import pytest

from oracle_runs import (
    GOLDEN,
    SHARED,
    check_offsets,
    check_recorded_rows,
    ids_text,
    needs_program,
    of_shared,
    real_lines,
    run,
    run_raw,
    sampled,
    show,
    special_texts,
)
from random_text import random_strings

sentencepiece = pytest.importorskip("sentencepiece")

RANDOM_LINES = 100000
SAMPLE = 20000

pytestmark = needs_program


def test_the_oracle_is_the_release_that_we_follow():
    """0.2.1 breaks ties differently (docs/reference/tokenizers.md), so the tests below would fail with it."""
    assert sentencepiece.__version__ == "0.2.3"


def distinct_models():
    """One path per content: models of one family share their file."""
    paths = sorted(GOLDEN.glob("*.model"))
    if SHARED.exists():
        # one published "model" is just a line feed
        paths += [path for path in sorted(SHARED.glob("reference/**/*.model")) if path.stat().st_size > 1]
    seen = {}
    for path in paths:
        seen.setdefault(hashlib.sha256(path.read_bytes()).hexdigest(), path)
    return list(seen.values())


MODELS = distinct_models()
NAMES = [f"{path.parent.name}/{path.name}" for path in MODELS]
if not SHARED.exists():
    MODELS, NAMES = [*MODELS, of_shared(None)], [*NAMES, "models of the shared folder"]


@pytest.fixture(scope="session")
def lines():
    return sampled(real_lines() + random_strings(RANDOM_LINES if SHARED.exists() else 20000), SAMPLE)


def model_folder(path, folder, files=None):
    """A folder that the program accepts as a model's, with only the tokenizer's files."""
    shutil.copy(path, folder / "spm.model")
    for name, content in (files or {}).items():
        (folder / name).write_text(json.dumps(content), encoding="utf-8")
    return folder


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
    """Normalising the slice gives the piece's text. Where one character became several pieces, or a piece joins
    characters across a border that normalisation rules cross, the normalised slice contains the piece's text."""
    spm = sentencepiece.SentencePieceProcessor(model_file=str(path))
    sample = lines[:: max(1, len(lines) // 3000)]
    answers = run(
        model_folder(path, tmp_path), [{"text": line} for line in sample], "--no-special", "--special-text", "literal"
    )
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
                assert wanted in got or wanted in normalised(spm, line[max(0, begin - 1) : end + 1]), (
                    line,
                    piece,
                    begin,
                    end,
                )
                contained += 1
    if SHARED.exists():  # only for real text; the fixture's texts are made to cross borders
        assert contained <= equal / 20


# ---- special tokens and pairs, against the slow tokenizer


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
    answers = run(folder, rows)  # truncation: tests/text/golden_test.cpp; this verb does not truncate
    for (a, b), answer in zip(pairs, answers):
        expected = slow(a, b)
        assert answer["ids"] == expected["input_ids"], (a, b)
        assert answer["type_ids"] == expected["token_type_ids"], (a, b)


def test_the_published_ids_of_deberta_v3_base(tmp_path):
    model = SHARED / "reference/tokenizers/deberta-v3-reconstructed/spm.model"
    golden = SHARED / "reference/golden-tokenizations/microsoft--deberta-v3-base.json"
    if not model.exists():
        pytest.skip("needs the shared folder")
    golden = json.loads(golden.read_text())
    rows = golden["datasets"]
    folder = model_folder(model, tmp_path)
    for row, answer in zip(rows, run(folder, [{"text": row["input"]} for row in rows])):
        assert answer["ids"] == row["ids"], row["input"]
    assert check_recorded_rows(folder, golden) == 5


def test_the_published_form_of_mdeberta_acts_as_in_the_slow_tokenizer(tmp_path):
    """A small model with the same files beside it as mdeberta-v3-base: the id of the mask is far beyond the last
    piece."""
    transformers = pytest.importorskip("transformers")
    files = {
        "added_tokens.json": {"[MASK]": 250101},
        "tokenizer_config.json": {"do_lower_case": False, "vocab_type": "spm"},
    }
    folder = model_folder(GOLDEN / "unknown.model", tmp_path, files)
    slow = transformers.DebertaV2Tokenizer.from_pretrained(folder)
    assert [slow.pad_token_id, slow.cls_token_id, slow.sep_token_id, slow.unk_token_id, slow.mask_token_id] == [
        0,
        1,
        2,
        3,
        250101,
    ]
    texts = special_texts(300, seed=17)
    for text, answer in zip(texts, run(folder, [{"text": text} for text in texts])):
        assert answer["ids"] == slow(text)["input_ids"], text


def test_character_classes_are_those_of_python(tmp_path):
    """split_by_punct and do_lower_case use Python's Unicode tables; this tests every character that they affect."""
    transformers = pytest.importorskip("transformers")
    folder = model_folder(
        GOLDEN / "bytes.model", tmp_path, {"tokenizer_config.json": {"do_lower_case": True, "split_by_punct": True}}
    )
    slow = transformers.DebertaV2Tokenizer.from_pretrained(folder)
    points = [
        chr(p)
        for p in range(0x20, 0x20000)
        if unicodedata.category(chr(p)) in ("Lu", "Lt", "Po", "Pd", "Ps", "Pe", "Pi", "Pf", "Pc", "Sm", "Nl", "So")
    ]
    texts = ["x".join(points[at : at + 20]) for at in range(0, len(points), 20)]
    answers = run(folder, [{"text": text} for text in texts])
    for text, answer in zip(texts, answers):
        assert answer["ids"] == slow(text)["input_ids"], text
