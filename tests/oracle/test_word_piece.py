"""The program's tokens of vocab.txt against BertTokenizer and BertTokenizerFast of transformers 4.57.6: random strings,
real lines, every character between two letters: a sample that the commit draws, or with DEBERTA_ORACLE_ALL=1 all of them.
"""

import collections
import json

import pytest

from oracle_runs import ALL, check_offsets, ids_text, needs_program, real_lines, run, run_raw, sampled, show
from random_text import random_strings

transformers = pytest.importorskip("transformers")

pytestmark = needs_program
SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
SETTINGS = [{}, {"do_lower_case": False}, {"do_lower_case": False, "strip_accents": True}, {"strip_accents": False, "tokenize_chinese_chars": False}]


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
    (folder / "tokenizer_config.json").write_text(json.dumps({"tokenizer_class": "BertTokenizer"} | settings), encoding="utf-8")
    return folder


@pytest.mark.parametrize("kind", ["slow", "fast"])
@pytest.mark.parametrize("settings", SETTINGS, ids=str)
def test_ids_are_those_of_the_library(kind, settings, lines, vocabulary, tmp_path):
    folder = folder_of(tmp_path, vocabulary, settings)
    library = transformers.AutoTokenizer.from_pretrained(folder, use_fast=kind == "fast")
    differences = []
    for line, answer, ids in zip(lines, run_raw(folder, [{"text": line} for line in lines], "--tokenizer", kind), library(lines)["input_ids"]):
        if ids_text(answer) != ",".join(map(str, ids)):
            differences.append((line, ids_text(answer), str(ids)))
    assert not differences, show(differences, len(lines))


def test_offsets_lie_in_the_text(vocabulary, tmp_path):
    folder = folder_of(tmp_path, vocabulary, {})
    rows = random_strings(500, seed=32)
    for row, answer in zip(rows, run(folder, [{"text": row} for row in rows], "--no-special")):
        check_offsets(row, answer["offsets"])
