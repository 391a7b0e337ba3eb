"""The program's tokens of vocab.txt against BertTokenizer and BertTokenizerFast of transformers 4.57.6: random strings,
real lines, every character between two letters: a sample that the commit draws, or with DEBERTA_ORACLE_ALL=1 all of
them.
"""

import collections
import json

import pytest

from oracle_runs import ALL, check_offsets, ids_text, needs_program, real_lines, run, run_raw, sampled, show
from random_text import random_strings

tokenizers = pytest.importorskip("tokenizers")
transformers = pytest.importorskip("transformers")

pytestmark = needs_program
SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
SETTINGS = [
    {},
    {"do_lower_case": False},
    {"do_lower_case": False, "strip_accents": True},
    {"strip_accents": False, "tokenize_chinese_chars": False},
]


def texts():
    lines = random_strings(20000 if ALL else 2000, seed=31) + sampled(real_lines(), 1000)
    points = sampled([p for p in range(0x20, 0x30000) if not 0xD800 <= p <= 0xDFFF], 8000)
    return lines + [f"{chr(p)}a{chr(p)} b" for p in points]


@pytest.fixture(scope="module")
def lines():
    return texts()


@pytest.fixture(scope="module")
def vocabulary(lines):
    """Common characters, each as the beginning of a word and within one."""
    seen = collections.Counter(c for line in lines[:22000] for c in line.lower() if not c.isspace())
    characters = [c for c, _ in seen.most_common(6000)]
    return list(dict.fromkeys(SPECIAL + characters + ["##" + c for c in characters]))


def folder_of(folder, vocabulary, settings):
    (folder / "vocab.txt").write_text("\n".join(vocabulary) + "\n", encoding="utf-8")
    (folder / "tokenizer_config.json").write_text(
        json.dumps({"tokenizer_class": "BertTokenizer"} | settings), encoding="utf-8"
    )
    return folder


@pytest.mark.parametrize("kind", ["slow", "fast"])
@pytest.mark.parametrize("settings", SETTINGS, ids=str)
def test_ids_are_those_of_the_library(kind, settings, lines, vocabulary, tmp_path):
    folder = folder_of(tmp_path, vocabulary, settings)
    library = transformers.AutoTokenizer.from_pretrained(folder, use_fast=kind == "fast")
    differences = []
    for line, answer, ids in zip(
        lines, run_raw(folder, [{"text": line} for line in lines], "--tokenizer", kind), library(lines)["input_ids"]
    ):
        if ids_text(answer) != ",".join(map(str, ids)):
            differences.append((line, ids_text(answer), str(ids)))
    assert not differences, show(differences, len(lines))


def test_offsets_lie_in_the_text(vocabulary, tmp_path):
    folder = folder_of(tmp_path, vocabulary, {})
    rows = random_strings(500, seed=32)
    for row, answer in zip(rows, run(folder, [{"text": row} for row in rows], "--no-special")):
        check_offsets(row, answer["offsets"])


def metaspace(scheme="always", split=True):
    return {"type": "Metaspace", "replacement": "\u2581", "prepend_scheme": scheme, "split": split}


DIGITS, PUNCTUATION = {"type": "Digits", "individual_digits": True}, {"type": "Punctuation", "behavior": "Isolated"}
SPACES = {
    "alone": [metaspace()],
    "first": [metaspace("first")],
    "never": [metaspace("never")],
    "whole": [metaspace(split=False)],
    "last": [DIGITS, metaspace()],
    "last of three, first": [DIGITS, PUNCTUATION, metaspace("first")],
    "first of two": [metaspace(), PUNCTUATION],
    "twice": [metaspace("first"), DIGITS, metaspace()],
}


@pytest.mark.parametrize("class_name", ["PreTrainedTokenizerFast", "RobertaTokenizerFast"])
@pytest.mark.parametrize("name", SPACES)
def test_words_that_begin_with_their_space(name, class_name, lines, vocabulary, tmp_path):
    """WordPiece behind Metaspace, as in the tokenizers of CamemBERTa 2: ids, and offsets that leave the space out."""
    pieces = list(
        dict.fromkeys(
            vocabulary + ["\u2581", "##\u2581"] + ["\u2581" + piece for piece in vocabulary[5:] if len(piece) == 1]
        )
    )
    processor = {
        "type": "RobertaProcessing",
        "sep": ["[SEP]", 3],
        "cls": ["[CLS]", 2],
        "trim_offsets": True,
        "add_prefix_space": True,
    }
    tokens = [
        {
            "id": i,
            "content": token,
            "single_word": False,
            "lstrip": token == "[MASK]",
            "rstrip": False,
            "normalized": False,
            "special": True,
        }
        for i, token in enumerate(SPECIAL)
    ]
    file = {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": tokens,
        "normalizer": {"type": "NFC"},
        "post_processor": processor,
        "pre_tokenizer": {"type": "Sequence", "pretokenizers": SPACES[name]},
        "decoder": {"type": "WordPiece", "prefix": "##", "cleanup": False},
        "model": {
            "type": "WordPiece",
            "unk_token": "[UNK]",
            "continuing_subword_prefix": "##",
            "max_input_chars_per_word": 100,
            "vocab": {piece: i for i, piece in enumerate(pieces)},
        },
    }
    (tmp_path / "tokenizer.json").write_text(json.dumps(file), encoding="utf-8")
    roles = dict(zip(("pad_token", "unk_token", "cls_token", "sep_token", "mask_token"), SPECIAL))
    (tmp_path / "tokenizer_config.json").write_text(
        json.dumps({"tokenizer_class": class_name} | roles), encoding="utf-8"
    )
    library = transformers.AutoTokenizer.from_pretrained(tmp_path)
    assert type(library).__name__ == class_name
    asked = (
        sampled(lines, 1500)
        + [f"{line[:20]}[MASK] {line[20:40]}" for line in sampled(lines, 200)]
        + ["", " ", "  a", "a  b", "\u2581a", "[MASK]a", " [SEP] 12"]
    )
    differences = []
    for line, answer, ids in zip(
        asked, run_raw(tmp_path, [{"text": line} for line in asked]), library(asked)["input_ids"]
    ):
        if ids_text(answer) != ",".join(map(str, ids)):
            differences.append((line, ids_text(answer), str(ids)))
    assert not differences, show(differences, len(asked))
    rows = sampled(real_lines(), 200)
    for row, answer in zip(rows, run(tmp_path, [{"text": row} for row in rows], "--no-special")):
        check_offsets(row, answer["offsets"])


def token(content, **flags):
    return {
        "content": content,
        "lstrip": False,
        "rstrip": False,
        "normalized": False,
        "single_word": False,
        "special": True,
    } | flags


ROLES = dict(zip(("pad_token", "unk_token", "cls_token", "sep_token", "mask_token"), SPECIAL))
TABLE = {"added_tokens_decoder": {str(i): token(name, lstrip=name == "[MASK]") for i, name in enumerate(SPECIAL)}}
NAMED = {
    "nothing": {},
    "five roles": ROLES,
    "all roles": ROLES | {"bos_token": "[CLS]", "eos_token": "[SEP]"},
    "a table": ROLES | TABLE,
    "a table alone": TABLE,
    "a mask as an object": ROLES | {"mask_token": {"__type": "AddedToken"} | token("[MASK]")},
    "no mask": ROLES | {"mask_token": None},
    "another mask": ROLES | {"mask_token": "<mask>"},
}


@pytest.mark.parametrize("class_name", ["PreTrainedTokenizerFast", "RobertaTokenizerFast"])
@pytest.mark.parametrize("added", ["strips", "plain", "none"])
@pytest.mark.parametrize("name", NAMED)
def test_roles_of_a_class_over_the_same_file(name, added, class_name, tmp_path):
    """What tokenizer_config.json names, and what it does not: RobertaTokenizerFast has `<s>` and others by default, and
    a mask that takes the space before it."""
    pieces = [*SPECIAL, "\u2581"] + [
        begin + character for begin in ("\u2581", "##") for character in "abcdefghijklmnopqrstuvwxyz<>/"
    ]
    tokens = [
        {"id": i} | token(content, lstrip=added == "strips" and content == "[MASK]")
        for i, content in enumerate(SPECIAL)
    ]
    file = {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [] if added == "none" else tokens,
        "normalizer": {"type": "NFC"},
        "pre_tokenizer": metaspace(),
        "post_processor": {
            "type": "RobertaProcessing",
            "sep": ["[SEP]", 3],
            "cls": ["[CLS]", 2],
            "trim_offsets": True,
            "add_prefix_space": True,
        },
        "decoder": None,
        "model": {
            "type": "WordPiece",
            "unk_token": "[UNK]",
            "continuing_subword_prefix": "##",
            "max_input_chars_per_word": 100,
            "vocab": {piece: i for i, piece in enumerate(pieces)},
        },
    }
    (tmp_path / "tokenizer.json").write_text(json.dumps(file), encoding="utf-8")
    (tmp_path / "tokenizer_config.json").write_text(
        json.dumps({"tokenizer_class": class_name} | NAMED[name]), encoding="utf-8"
    )
    asked = [
        "abc def",
        "ab [MASK] cd",
        "ab[MASK]cd",
        "a <mask> b",
        "a<mask>b",
        "<s> a </s>",
        "a  [MASK]",
        "[SEP] a [CLS]",
        "<pad> q",
        "ab [UNK] c",
        " a ",
        "<unk>",
    ]
    wanted = [
        ",".join(map(str, ids)) for ids in transformers.AutoTokenizer.from_pretrained(tmp_path)(asked)["input_ids"]
    ]
    assert [ids_text(answer) for answer in run_raw(tmp_path, [{"text": text} for text in asked])] == wanted
