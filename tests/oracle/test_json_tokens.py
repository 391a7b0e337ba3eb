"""The program's tokens on tokenizer.json against the tokenizers library that transformers 4.57.6 uses. The files: a
published one, and what transformers writes for SentencePiece and byte-level models. DEBERTA_ORACLE_ALL=1 compares every
line (about six minutes), else a sample that the commit draws.
"""

import json
import random
import shutil

import pytest

from oracle_runs import (
    ALL,
    GOLDEN,
    SHARED,
    check_offsets,
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

tokenizers = pytest.importorskip("tokenizers")

pytestmark = [needs_program, pytest.mark.filterwarnings("ignore:The sentencepiece tokenizer")]
REFERENCE = SHARED / "reference/tokenizers"
SAMPLE = 1500
# Where character clusters begin and end decides which normalisation rules apply.
CLUSTERS = [
    0x300,
    0x301,
    0x200D,
    0x200C,
    0xFE0F,
    0x20E3,
    0x94D,
    0x915,
    0x93F,
    0x600,
    0x605,
    0x1100,
    0x1161,
    0x11A8,
    0xAC00,
    0xAC01,
    0xA9,
    0xAE,
    0x2122,
    0x1F468,
    0x1F1E6,
    0x20,
    0x0D,
    0x0A,
    0x41,
    0xE9,
    0xFF21,
    0x2581,
    0x3099,
    0xFF76,
    0xFF9E,
]
KANA_AND_KANJI = [
    (0x3041, 0x3096),
    (0x30A1, 0x30FA),
    (0x4E00, 0x9FFF),
    (0x3000, 0x303F),
    (0xFF01, 0xFF9F),
    (0x3099, 0x309A),
    (0x20, 0x20),
]


def cluster_texts(count, seed):
    rng = random.Random(seed)
    pick = lambda: rng.choice(CLUSTERS) if rng.random() < 0.6 else rng.randint(0, 0x2FFF)
    return ["".join(chr(pick()) for _ in range(rng.randint(1, 30))) for _ in range(count)]


def japanese_texts(count, seed):
    rng = random.Random(seed)
    return [
        "".join(chr(rng.randint(*rng.choice(KANA_AND_KANJI))) for _ in range(rng.randint(1, 60))) for _ in range(count)
    ]


def converted(kind, files, folder):
    """tokenizer.json as transformers makes it from the files of a slow tokenizer."""
    transformers = pytest.importorskip("transformers")
    for name, source in files.items():
        shutil.copyfile(source, folder / name)
    fast = getattr(transformers, kind).from_pretrained(folder)
    fast.save_pretrained(folder / "out")
    return json.loads((folder / "out/tokenizer.json").read_text(encoding="utf-8"))


def spm(path):
    return lambda folder: converted("DebertaV2TokenizerFast", {"spm.model": path}, folder)


def bpe(folder):
    """The shared vocabulary is RoBERTa's: its special tokens get the published names (test_bpe_tokens.py)."""
    renamed = {"<s>": "[PAD]", "<pad>": "[CLS]", "</s>": "[SEP]", "<unk>": "[UNK]", "<mask>": "[MASK]"}
    source = REFERENCE / "deberta-v1"
    source = source if source.exists() else GOLDEN / "bpe"
    vocab = json.loads((source / "vocab.json").read_text(encoding="utf-8"))
    vocab = {renamed.get(piece, piece): identity for piece, identity in vocab.items()}
    (folder / "renamed.json").write_text(json.dumps(vocab), encoding="utf-8")
    return converted(
        "DebertaTokenizerFast", {"vocab.json": folder / "renamed.json", "merges.txt": source / "merges.txt"}, folder
    )


def japanese(_):
    return json.loads((REFERENCE / "deberta-v2-japanese/tokenizer.json").read_text(encoding="utf-8"))


MAKERS = {"unknown": spm(GOLDEN / "unknown.model"), "bytes": spm(GOLDEN / "bytes.model"), "bpe": bpe}
SHARED_MAKERS = {"v3": spm(REFERENCE / "deberta-v3-reconstructed/spm.model"), "japanese": japanese}
NAMES = [*MAKERS, *map(of_shared, SHARED_MAKERS)]


def with_byte_fallback(file):
    file["model"]["byte_fallback"] = True


def with_other_order(file):
    """What transformers writes for other SentencePiece models."""
    parts = [part for part in file["normalizer"]["normalizers"] if part["type"] == "Precompiled"]
    file["normalizer"]["normalizers"] = [
        *parts,
        {"type": "Strip", "strip_left": False, "strip_right": True},
        {"type": "Replace", "pattern": {"Regex": " {2,}"}, "content": "\u2581"},
    ]


def with_lower_case(file):
    file["normalizer"]["normalizers"].insert(0, {"type": "Lowercase"})


def with_string_rules(file):
    file["normalizer"]["normalizers"] += [
        {"type": "Replace", "pattern": {"String": "the"}, "content": "cat  s"},
        {"type": "Replace", "pattern": {"String": "aa"}, "content": ""},
    ]


def without_prefix(file):
    file["pre_tokenizer"] = {
        "type": "Metaspace",
        "replacement": "\u2581",
        "prepend_scheme": "never",
        "add_prefix_space": False,
    }


def with_first_prefix(file):
    """As version 5 of transformers writes it; what stands in front of a token, and what is left behind stripped blanks,
    is not first."""
    with_tokens(file)
    file["pre_tokenizer"] = {"type": "Metaspace", "replacement": "\u2581", "prepend_scheme": "first", "split": True}
    file["normalizer"]["normalizers"].append({"type": "Strip", "strip_left": True, "strip_right": True})


def without_words(file):
    file["pre_tokenizer"] = {"type": "Metaspace", "replacement": "\u2581", "split": False}


def with_lines_as_spaces(file):
    """The normalizer that version 5 of transformers writes."""
    file["normalizer"] = {
        "type": "Sequence",
        "normalizers": [
            {"type": "Replace", "pattern": {"Regex": "\\s{2,}|[\\n\\r\\t]"}, "content": " "},
            {"type": "NFC"},
            {"type": "Strip", "strip_left": False, "strip_right": True},
        ],
    }


def without_accents(file):
    file["normalizer"] = {"type": "Sequence", "normalizers": [{"type": "NFD"}, {"type": "StripAccents"}]}


def with_clean_text(file):
    file["normalizer"] = {
        "type": "BertNormalizer",
        "clean_text": True,
        "handle_chinese_chars": True,
        "strip_accents": None,
        "lowercase": False,
    }


def cut_by(*components, prepend="always"):
    """Metaspace behind other components."""

    def change(file):
        last = {"type": "Metaspace", "replacement": "\u2581", "prepend_scheme": prepend, "split": True}
        file["pre_tokenizer"] = {"type": "Sequence", "pretokenizers": [*components, last]}

    return change


def split_at(text, behavior, invert=False):
    return {"type": "Split", "pattern": {"String": text}, "behavior": behavior, "invert": invert}


BEHAVIORS = ["Removed", "Isolated", "MergedWithPrevious", "MergedWithNext", "Contiguous"]
CUTS = {
    "digits": cut_by({"type": "Digits", "individual_digits": False}),
    "each digit": cut_by({"type": "Digits", "individual_digits": True}),
    "words": cut_by({"type": "Whitespace"}),
    "white space": cut_by({"type": "WhitespaceSplit"}),
    "BERT": cut_by({"type": "BertPreTokenizer"}),
    "a letter": cut_by({"type": "CharDelimiterSplit", "delimiter": "e"}),
    "several": cut_by(
        {"type": "WhitespaceSplit"},
        {"type": "Punctuation", "behavior": "Isolated"},
        {"type": "Digits", "individual_digits": True},
    ),
}
CUTS |= {
    f"{name}, first": cut_by(component, prepend="first")
    for name, component in {
        "words": {"type": "Whitespace"},
        "punctuation": {"type": "Punctuation", "behavior": "Isolated"},
        "a text": {"type": "CharDelimiterSplit", "delimiter": "a"},
    }.items()
}
CUTS |= {f"punctuation, {b}": cut_by({"type": "Punctuation", "behavior": b}) for b in BEHAVIORS}
CUTS |= {f"a text, {b}": cut_by(split_at("a", b)) for b in BEHAVIORS} | {
    f"all but a text, {b}": cut_by(split_at("th", b, True)) for b in BEHAVIORS
}


def with_tokens(file):
    size = len(file["model"]["vocab"])
    flags = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": True}
    tokens = [token for token in file["added_tokens"] if token["id"] < size]
    for content, more in {
        "[MASK]": {"lstrip": True},
        "<r>": {"rstrip": True},
        "Cat": {"normalized": True, "special": False},
        "\uff21\uff22": {"normalized": True, "special": False},
        "sat. ": {"normalized": False},
    }.items():
        if all(token["content"] != content for token in tokens):
            tokens.append({"id": max(size, tokens[-1]["id"] + 1), "content": content} | flags | more)
    file["added_tokens"] = tokens


CHANGES = [
    with_byte_fallback,
    with_other_order,
    with_lower_case,
    with_string_rules,
    without_prefix,
    with_first_prefix,
    without_words,
    with_tokens,
    with_lines_as_spaces,
    without_accents,
    with_clean_text,
]


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    makers = MAKERS | (SHARED_MAKERS if SHARED.exists() else {})
    return {name: make(tmp_path_factory.mktemp(name)) for name, make in makers.items()}


def compare(folder, file, lines, *options):
    (folder / "tokenizer.json").write_text(json.dumps(file), encoding="utf-8")
    library = tokenizers.Tokenizer.from_file(str(folder / "tokenizer.json"))
    answers = run_raw(folder, [{"text": line} for line in lines], *options)
    differences = []
    for line, answer, encoding in zip(lines, answers, library.encode_batch(lines)):
        expected = ",".join(map(str, encoding.ids))
        if ids_text(answer) != expected:
            differences.append((line, ids_text(answer), expected))
    assert not differences, show(differences, len(lines))


@pytest.mark.parametrize("name", NAMES)
def test_the_ids_are_those_of_the_library(name, files, tmp_path):
    lines = sampled(real_lines(), SAMPLE) + random_strings(100000 if ALL else SAMPLE) + special_texts(500, seed=11)
    lines += cluster_texts(30000 if ALL else 1500, seed=12) + japanese_texts(30000 if ALL else 1000, seed=13)
    compare(tmp_path, files[name], lines)


@pytest.mark.parametrize("change", CHANGES)
def test_other_components_act_as_in_the_library(change, files, tmp_path):
    name = "japanese" if change is with_tokens and "japanese" in files else "bytes"
    file = json.loads(json.dumps(files[name]))
    change(file)
    lines = (
        sampled(real_lines(), 1000) + random_strings(1500) + cluster_texts(1500, seed=14) + special_texts(300, seed=15)
    )
    lines += [
        line.replace("the", "Cat").replace("[SEP]", " <r> ").replace("(x)", "\uff21\uff22")
        for line in special_texts(300, seed=16)
    ]
    compare(tmp_path, file, lines)


@pytest.mark.parametrize("cut", CUTS)
def test_components_that_cut_act_as_in_the_library(cut, files, tmp_path):
    file = json.loads(json.dumps(files["bytes"]))
    CUTS[cut](file)
    lines = (
        sampled(real_lines(), 500)
        + random_strings(700, seed=17)
        + cluster_texts(300, seed=18)
        + special_texts(100, seed=19)
    )
    compare(tmp_path, file, [*lines, "aaa", "aa baa", "ththe th", "...a.b..", "1a23 4", ""])


def test_pairs_have_the_ids_and_types_of_the_library(files, tmp_path):
    name = "japanese" if "japanese" in files else "bytes"
    (tmp_path / "tokenizer.json").write_text(json.dumps(files[name]), encoding="utf-8")
    library = tokenizers.Tokenizer.from_file(str(tmp_path / "tokenizer.json"))
    pairs = list(zip(special_texts(200, seed=6), random_strings(200, seed=7)))
    for (a, b), answer in zip(pairs, run(tmp_path, [{"text": a, "text_pair": b} for a, b in pairs])):
        expected = library.encode(a, b)
        assert answer["ids"] == expected.ids, (a, b)
        assert answer["type_ids"] == expected.type_ids, (a, b)


@pytest.mark.parametrize("name", NAMES)
def test_pieces_and_offsets_are_those_of_the_library_where_nothing_is_normalised(name, files, tmp_path):
    """Here the library's offsets are right; they include the space before a piece, ours do not. Its text for an unknown
    piece is that of the input, ours is [UNK]."""
    (tmp_path / "tokenizer.json").write_text(json.dumps(files[name]), encoding="utf-8")
    library = tokenizers.Tokenizer.from_file(str(tmp_path / "tokenizer.json"))
    lines = [line.strip() for line in sampled(real_lines(), 1500)]
    if library.normalizer is not None:
        lines = [line for line in lines if library.normalizer.normalize_str(line) == line]
    compared = 0
    for line, answer in zip(lines, run(tmp_path, [{"text": line} for line in lines], "--no-special")):
        check_offsets(line, answer["offsets"])
        expected = library.encode(line, add_special_tokens=False)
        for piece, (begin, end), token, (first, last) in zip(
            answer["tokens"], answer["offsets"], expected.tokens, expected.offsets
        ):
            # a token that takes the space before it
            assert piece in (token, token.strip(), "[UNK]"), (line, piece, token)
            if begin == end:
                continue
            takes_space = piece == token.strip() != token
            while first < last and (
                line[first] == " " or (takes_space and line[first].isspace()) or token[:1] == line[first] == "\u2581"
            ):
                first += 1
            assert (begin, end) == (first, last), (line, piece)
            compared += 1
    assert compared > 2 * len(lines)
