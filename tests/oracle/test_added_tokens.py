"""Tokens that a run adds: transformers reads the folder that it leaves, with the same ids, by its slow and its fast
tokenizer."""

import json
import os
import pathlib
import subprocess
import sys

import pytest
import transformers

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/cli"))
from models import make_model  # noqa: E402

BINARY = pathlib.Path(os.environ.get("DEBERTA_BINARY", ROOT / "build/dev/deberta"))
pytestmark = pytest.mark.skipif(
    not (BINARY.resolve().parent / "deberta-train").exists(),
    reason="the training half is not built: ./test all builds it",
)
TEXTS = [
    "the cat\nsat",
    "the cat \n sat",
    "\n",
    "a\n\n\nb\t\tc",
    "\n the <bird> sat<bird>",
    "a [MASK]\n[MASK] b",
    "the Bird House\nand the bird house.",
    "tab\there [SEP] \n",
]
FIRST = 926  # after the pieces of the model and [MASK]
TOKENS = ["\n", "\t", "<bird>", "Bird House"]


def run(*words):
    done = subprocess.run([BINARY, *map(str, words)], capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    return done.stdout


def ids_of(folder, kind):
    rows = run("tokenize", "-m", folder, "--tokenizer", kind, "--format", "jsonl", *TEXTS)
    return [json.loads(row)["ids"] for row in rows.splitlines()]


@pytest.fixture(
    scope="module", params=["spm.model", "spm.model with a table", "spm.model and tokenizer.json", "tokenizer.json"]
)
def folder(request, tmp_path_factory):
    """What a step of training with these tokens leaves of a model with such files."""
    at = tmp_path_factory.mktemp("added")
    base = make_model(at / "base", "lm")
    if "table" in request.param:
        transformers.DebertaV2Tokenizer.from_pretrained(base).save_pretrained(base)
    if "tokenizer.json" in request.param:
        transformers.DebertaV2TokenizerFast.from_pretrained(base).save_pretrained(base)
    if "spm.model" not in request.param:
        (base / "spm.model").unlink()
    (at / "corpus.txt").write_text("the cat sat on a mat and it rained all day in may\n" * 40)
    run(
        "pretrain",
        "-m",
        base,
        "--cache-dir",
        at / "cache",
        "-o",
        at / "out",
        "--batch-size",
        "4",
        "--max-tokens",
        "16",
        "--hold-out-every",
        "0",
        "--max-steps",
        "1",
        "--decoder-passes",
        "0",
        "--add-tokens",
        r"\n,\t,<bird>,Bird House",
        at / "corpus.txt",
    )
    return at / "out"


@pytest.mark.parametrize("kind", ["slow", "fast"])
def test_the_ids_are_those_of_transformers(folder, kind):
    if kind == "slow" and not (folder / "spm.model").exists():
        pytest.skip("transformers has no slow tokenizer without spm.model")
    theirs = transformers.AutoTokenizer.from_pretrained(folder, use_fast=kind == "fast")
    assert theirs.is_fast == (kind == "fast")
    ours = ids_of(folder, kind)
    assert ours == [theirs(text).input_ids for text in TEXTS]
    assert len(theirs) == FIRST + len(TOKENS)
    assert [theirs.convert_tokens_to_ids(token) for token in TOKENS] == list(range(FIRST, FIRST + len(TOKENS)))
    assert ours[0].count(FIRST) == 1 and ours[3].count(FIRST) == 3 and ours[3].count(FIRST + 1) == 2


def test_the_model_has_a_row_for_each(folder):
    model = transformers.AutoModel.from_pretrained(folder)
    assert (
        model.get_input_embeddings().weight.shape[0]
        == json.loads((folder / "config.json").read_text())["vocab_size"]
        >= FIRST + len(TOKENS)
    )


def test_the_same_pieces_in_a_tokenizer_json_are_the_same(tmp_path):
    base = make_model(tmp_path / "base", "lm")
    transformers.DebertaV2TokenizerFast.from_pretrained(base).save_pretrained(tmp_path / "json")
    (tmp_path / "json/spm.model").unlink()
    (tmp_path / "corpus.txt").write_text("the cat sat on a mat and it rained all day in may\n" * 40)
    words = [
        "pretrain",
        "-m",
        base,
        "--cache-dir",
        tmp_path / "cache",
        "--batch-size",
        "4",
        "--max-tokens",
        "16",
        "--hold-out-every",
        "0",
        "--max-steps",
        "1",
        "--decoder-passes",
        "0",
        tmp_path / "corpus.txt",
    ]
    run(*words, "--tokenizer-name", tmp_path / "json", "-o", tmp_path / "out")
    document = json.loads((tmp_path / "json/tokenizer.json").read_text())
    document["model"]["vocab"][300], document["model"]["vocab"][301] = (
        document["model"]["vocab"][301],
        document["model"]["vocab"][300],
    )
    (tmp_path / "json/tokenizer.json").write_text(json.dumps(document))
    done = subprocess.run(
        [BINARY, *map(str, words), "--tokenizer-name", tmp_path / "json", "-o", tmp_path / "other"],
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert done.returncode == 1 and "piece 300: expected " in done.stderr and "924 of them equal)" in done.stderr, (
        done.stderr
    )
