"""The program's tokens on byte-level BPE models against the slow DebertaTokenizer of transformers 4.57, which is slow
indeed: DEBERTA_ORACLE_ALL=1 compares every line (about five minutes), otherwise a sample.
"""

import json
import pickle
import shutil

import pytest

from oracle_runs import (
    ALL,
    GOLDEN,
    SHARED,
    check_offsets,
    check_recorded_rows,
    ids_text,
    needs_program,
    real_lines,
    run,
    run_raw,
    sampled,
    show,
    special_texts,
)
from random_text import random_strings

transformers = pytest.importorskip("transformers")

pytestmark = needs_program
SOURCE = SHARED / "reference/tokenizers/deberta-v1"
RENAMED = {"<s>": "[PAD]", "<pad>": "[CLS]", "</s>": "[SEP]", "<unk>": "[UNK]", "<mask>": "[MASK]"}
REAL_SAMPLE = 3000
RANDOM_SAMPLE = 3000


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The vocabulary of deberta-base: the shared one, its special tokens under the published names."""
    folder = tmp_path_factory.mktemp("v1")
    source = SOURCE if SOURCE.exists() else GOLDEN / "bpe"
    vocab = json.loads((source / "vocab.json").read_text(encoding="utf-8"))
    vocab = {RENAMED.get(piece, piece): identity for piece, identity in vocab.items()}
    (folder / "vocab.json").write_text(json.dumps(vocab), encoding="utf-8")
    shutil.copyfile(source / "merges.txt", folder / "merges.txt")
    return folder


@pytest.fixture(scope="module")
def slow(folder):
    return transformers.DebertaTokenizer.from_pretrained(folder)


def compare(folder, slow, lines):
    answers = run_raw(folder, [{"text": line} for line in lines])
    differences = []
    for line, answer in zip(lines, answers):
        expected = ",".join(
            map(str, slow.build_inputs_with_special_tokens(slow.convert_tokens_to_ids(slow.tokenize(line))))
        )
        if ids_text(answer) != expected:
            differences.append((line, ids_text(answer), expected))
    assert not differences, show(differences, len(lines))


def test_real_text_gives_the_ids_of_the_slow_tokenizer(folder, slow):
    compare(folder, slow, sampled(real_lines(), REAL_SAMPLE))


def test_random_text_gives_the_ids_of_the_slow_tokenizer(folder, slow):
    compare(folder, slow, random_strings(100000 if ALL else RANDOM_SAMPLE))


def test_special_tokens_and_pairs_act_as_in_the_slow_tokenizer(folder, slow):
    compare(folder, slow, special_texts(1000, seed=5))
    pairs = list(zip(special_texts(200, seed=6), random_strings(200, seed=7)))
    answers = run(folder, [{"text": a, "text_pair": b} for a, b in pairs])
    for (a, b), answer in zip(pairs, answers):
        expected = slow(a, b)
        assert answer["ids"] == expected["input_ids"], (a, b)
        assert answer["type_ids"] == expected["token_type_ids"], (a, b)


def test_offsets_name_the_characters_whose_bytes_the_piece_has(folder, slow):
    """The bytes of the pieces, in order, are the text's, so a piece's characters are those that its bytes belong to."""
    lines = random_strings(2000, seed=8)
    answers = run(folder, [{"text": line} for line in lines], "--no-special", "--special-text", "literal")
    for line, answer in zip(lines, answers):
        check_offsets(line, answer["offsets"])
        owners = [at for at, character in enumerate(line) for _ in character.encode()]
        begin = 0
        for piece, (first, last) in zip(answer["tokens"], answer["offsets"]):
            parts = owners[begin : begin + len(piece)]
            begin += len(piece)
            while parts and line[parts[0]] == " ":
                parts = parts[1:]
            assert (first, last) == ((parts[0], parts[-1] + 1) if parts else (last, last)), (line, piece)
        assert begin == len(owners)


def test_decoding_gives_the_text_back(folder, slow):
    lines = random_strings(300, seed=9)
    for line, answer in zip(lines, run(folder, [{"text": line} for line in lines], "--special-text", "literal")):
        assert slow.decode(answer["ids"], skip_special_tokens=True) == line


CONFIGS = [
    {},
    {"tokenizer_config.json": {"do_lower_case": True, "split_by_punct": True, "vocab_type": "gpt2"}},
    {"tokenizer_config.json": {"mask_token": "[MASK]"}, "added_tokens.json": {"[MASK]": 50264}},
    {
        "tokenizer_config.json": {
            "mask_token": "[MASK]",
            "added_tokens_decoder": {"50264": {"content": "[MASK]", "special": True}},
        }
    },
    {
        "special_tokens_map.json": {
            "mask_token": {"content": "[MASK]", "lstrip": False, "rstrip": True},
            "cls_token": "<c>",
        }
    },
]


@pytest.mark.parametrize("files", CONFIGS, ids=range(len(CONFIGS)))
def test_files_beside_the_model_act_as_in_the_slow_tokenizer(folder, files, tmp_path):
    for name in ("vocab.json", "merges.txt"):
        shutil.copyfile(folder / name, tmp_path / name)
    for name, content in files.items():
        (tmp_path / name).write_text(json.dumps(content), encoding="utf-8")
    compare(tmp_path, transformers.DebertaTokenizer.from_pretrained(tmp_path), special_texts(200, seed=10))


def test_the_published_ids_of_deberta_base(folder):
    golden = SHARED / "reference/golden-tokenizations/microsoft--deberta-base.json"
    if not golden.exists():
        pytest.skip("needs the shared folder")
    golden = json.loads(golden.read_text())
    rows = golden["datasets"]
    for row, answer in zip(rows, run(folder, [{"text": row["input"]} for row in rows])):
        assert answer["ids"] == row["ids"], row["input"]
    assert check_recorded_rows(folder, golden) == 5


def test_the_originals_file_gives_the_ids_of_the_same_vocabulary(folder, tmp_path):
    """bpe_encoder.bin: GPT-2's own ids, and the order of the model's ids (here a bare pickle; torch.save's containers
    are tested in tests/text)."""
    vocab = json.loads((folder / "vocab.json").read_text(encoding="utf-8"))
    merges = (folder / "merges.txt").read_text(encoding="utf-8").split("\n")[1:-1]
    symbols = [
        piece for piece in sorted(vocab, key=vocab.get) if piece not in ("[PAD]", "[CLS]", "[SEP]", "[UNK]", "[MASK]")
    ]
    encoder = {piece: len(symbols) - at for at, piece in enumerate(symbols)}
    state = {
        "encoder": encoder,
        "vocab": [tuple(line.split()) for line in merges],
        "dict_map": [(str(encoder[piece]), 1) for piece in symbols],
    }
    (tmp_path / "bpe_encoder.bin").write_bytes(pickle.dumps(state, protocol=2))
    lines = [{"text": line} for line in real_lines()[::20] + random_strings(3000) + special_texts(500, seed=12)]
    assert [ids_text(line) for line in run_raw(tmp_path, lines)] == [ids_text(line) for line in run_raw(folder, lines)]
