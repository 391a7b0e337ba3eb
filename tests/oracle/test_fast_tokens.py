"""The program's tokens with --tokenizer fast against DebertaV2TokenizerFast and DebertaTokenizerFast of transformers
4.57.6, which its pipelines use: made from spm.model, or from vocab.json and merges.txt. DEBERTA_ORACLE_ALL=1 compares
every line, else a sample.
"""

import json
import shutil
import unicodedata

import pytest

from oracle_runs import (
    ALL,
    GOLDEN,
    SHARED,
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
from test_json_tokens import cluster_texts

transformers = pytest.importorskip("transformers")

pytestmark = [needs_program, pytest.mark.filterwarnings("ignore:The sentencepiece tokenizer")]
REFERENCE = SHARED / "reference"
SPM = {
    "unknown": GOLDEN / "unknown.model",
    "bytes": GOLDEN / "bytes.model",
    "nano": REFERENCE / "models/nano-sst2/spm.model",
    "v3": REFERENCE / "tokenizers/deberta-v3-reconstructed/spm.model",
}
TABLE = {
    "added_tokens_decoder": {
        "2": {"content": "[SEP]", "rstrip": True, "special": True},
        "9000000": {"content": "Cat", "special": False},
        "9000001": {"content": "[MASK]", "lstrip": True, "special": True},
        "9000002": {"content": "the", "single_word": True, "normalized": False, "special": False},
    }
}
SETTINGS = {"plain": {}, "punctuation": {"split_by_punct": True}, "lower case": {"do_lower_case": True}, "table": TABLE}


def spm_folder(folder, model, settings=None):
    shutil.copyfile(SPM[model], folder / "spm.model")
    (folder / "config.json").write_text(json.dumps({"model_type": "deberta-v2"}), encoding="utf-8")
    (folder / "tokenizer_config.json").write_text(json.dumps(settings or {}), encoding="utf-8")
    return folder


def bpe_folder(folder, settings=None):
    for name in ("vocab.json", "merges.txt"):
        shutil.copyfile(GOLDEN / "bpe" / name, folder / name)
    (folder / "config.json").write_text(json.dumps({"model_type": "deberta"}), encoding="utf-8")
    (folder / "tokenizer_config.json").write_text(json.dumps(settings or {}), encoding="utf-8")
    return folder


def has_unassigned(line):
    """Characters that Unicode 14.0.0 does not know: the library's tables do, and words end elsewhere
    (docs/reference/tokenizers.md)."""
    assert unicodedata.unidata_version == "14.0.0"
    return any(unicodedata.category(c) == "Cn" for c in line)


def compare(folder, lines, is_left_out=lambda _: False):
    """`is_left_out`: lines that may differ, of which few do."""
    library = transformers.AutoTokenizer.from_pretrained(folder)
    assert library.is_fast
    answers = run_raw(folder, [{"text": line} for line in lines], "--tokenizer", "fast")
    differences = []
    for line, answer, ids in zip(lines, answers, library(lines)["input_ids"]):
        expected = ",".join(map(str, ids))
        if ids_text(answer) != expected:
            differences.append((line, ids_text(answer), expected))
    few = [one for one in differences if is_left_out(one[0])]
    assert len(few) <= len(lines) / 10000 and len(few) == len(differences), show(differences, len(lines))
    return answers


@pytest.mark.parametrize("model", ["unknown", "bytes", of_shared("nano"), of_shared("v3")])
def test_ids_of_a_sentencepiece_model_are_those_of_the_fast_tokenizer(model, tmp_path):
    lines = (
        sampled(real_lines(), 1500)
        + random_strings(100000 if ALL else 2000)
        + special_texts(500, seed=21)
        + cluster_texts(2000, seed=22)
    )
    compare(spm_folder(tmp_path, model), lines)


@pytest.mark.parametrize("settings", SETTINGS)
def test_settings_act_as_in_the_fast_tokenizer(settings, tmp_path):
    lines = sampled(real_lines(), 1000) + random_strings(1500, seed=23) + special_texts(500, seed=24)
    lines += [line.replace("a", "the").replace("[SEP]", " Cat ") for line in special_texts(300, seed=25)]
    compare(spm_folder(tmp_path, "bytes", SETTINGS[settings]), lines)


@pytest.mark.parametrize("space", [False, True])
def test_ids_of_a_byte_level_model_are_those_of_the_fast_tokenizer(space, tmp_path):
    lines = sampled(real_lines(), 1500) + random_strings(100000 if ALL else 2000) + special_texts(500, seed=26)
    compare(bpe_folder(tmp_path, {"add_prefix_space": space}), lines, is_left_out=has_unassigned)


def test_pairs_and_their_types_are_those_of_the_fast_tokenizer(tmp_path):
    folder = spm_folder(tmp_path, "bytes")
    library = transformers.AutoTokenizer.from_pretrained(folder)
    pairs = list(zip(special_texts(200, seed=27), random_strings(200, seed=28)))
    for (a, b), answer in zip(
        pairs, run(folder, [{"text": a, "text_pair": b} for a, b in pairs], "--tokenizer", "fast")
    ):
        expected = library([a], [b])  # as a batch: a single pair with an empty second text would be read as one text
        assert answer["ids"] == expected["input_ids"][0], (a, b)
        assert answer["type_ids"] == expected["token_type_ids"][0], (a, b)


def test_byte_pieces_become_one_unknown_token(tmp_path):
    folder = spm_folder(tmp_path, "bytes")
    (slow,) = run(folder, [{"text": "\u8c1b"}])
    (fast,) = run(folder, [{"text": "\u8c1b"}], "--tokenizer", "fast")
    assert "<0xE8>" in slow["tokens"]
    assert "[UNK]" in fast["tokens"]
