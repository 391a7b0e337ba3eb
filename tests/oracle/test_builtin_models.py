"""The models that ship, in transformers 4.57: it loads their folders without a missing or an unexpected tensor but
those of heads that it does not know, and computes the same: logits of the fine-tuned ones, hidden states of the
pre-trained pair (it has neither the head for replaced tokens nor the mask decoder)."""

import json
import subprocess
import sys

import numpy
import pytest
import torch
import transformers

from oracle_runs import BINARY, ROOT

sys.path.insert(0, str(ROOT / "tests/cli"))
from models import read_safetensors, write_safetensors

MODELS = sorted(path.parent for path in (ROOT / "models").glob("*/config.json"))
TEXTS = [
    "The capital of France is Paris .",
    "a gorgeous , witty , seductive movie .",
    "Mr Smith flew from London to Germany , and back again on the next day .",
]
UNKNOWN = ("mask_predictions.", "lm_predictions.", "deberta.embeddings.position_embeddings.")  # to transformers


def ids_of(folder):
    tokenizer = transformers.DebertaV2Tokenizer.from_pretrained(folder)
    return tokenizer(TEXTS, padding=True, return_tensors="np")


@pytest.mark.parametrize("folder", MODELS, ids=[folder.name for folder in MODELS])
def test_transformers_computes_the_same(folder, tmp_path):
    given = ids_of(folder)
    ids, mask = given["input_ids"].astype(numpy.int32), given["attention_mask"].astype(numpy.int32)
    rows = [
        json.loads(line)["ids"]
        for line in subprocess.run(
            [BINARY, "tokenize", "-m", folder, "--format", "jsonl", *TEXTS], capture_output=True, text=True, check=True
        ).stdout.splitlines()
    ]
    assert rows == [list(row[kept == 1]) for row, kept in zip(ids, mask)]
    write_safetensors(tmp_path / "in", {"input_ids": ids, "attention_mask": mask})
    subprocess.run(
        [BINARY, "forward", "-m", folder, "--ids", tmp_path / "in", "--compat", "hf", "-o", tmp_path / "out"],
        check=True,
    )
    ours = read_safetensors(tmp_path / "out")
    architecture = json.loads((folder / "config.json").read_text())["architectures"][0]
    is_head = architecture in ("DebertaV2ForSequenceClassification", "DebertaV2ForTokenClassification")
    loaded, info = getattr(transformers, architecture if is_head else "DebertaV2Model").from_pretrained(
        folder, output_loading_info=True, dtype=torch.float32, output_hidden_states=True
    )
    assert info["missing_keys"] == [] or not info["missing_keys"], info
    assert all(name.startswith(UNKNOWN) for name in info["unexpected_keys"]), info
    with torch.no_grad():
        theirs = loaded.eval()(
            input_ids=torch.tensor(ids.astype(numpy.int64)), attention_mask=torch.tensor(mask.astype(numpy.int64))
        )
    if is_head:
        logits, expected = ours["logits"], theirs.logits.numpy()
        if logits.ndim == 3:
            logits, expected = logits[mask == 1], expected[mask == 1]
        assert numpy.abs(logits - expected).max() < 5e-5
    for layer, expected in enumerate(theirs.hidden_states):
        assert numpy.abs(ours[f"hidden.{layer}"] - expected.numpy())[mask == 1].max() < 5e-5, layer
