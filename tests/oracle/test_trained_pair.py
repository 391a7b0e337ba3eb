"""transformers reads both models of `pretrain --objective rtd`, every tensor in its place, with equal states; and a
generator in the form in which it is published, beside its discriminator as torch.save writes it, is the one in a folder
of its own."""

import json
import os
import pathlib
import shutil
import subprocess
import sys

import numpy
import pytest
import torch
import transformers

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/cli"))
from models import make_model, read_safetensors, write_safetensors  # noqa: E402

BINARY = pathlib.Path(os.environ.get("DEBERTA_BINARY", ROOT / "build/dev/deberta"))
pytestmark = pytest.mark.skipif(
    not (BINARY.resolve().parent / "deberta-train").exists(),
    reason="the training half is not built: ./test all builds it",
)
IDS = numpy.array([[1, 20, 30, 40, 50, 60, 70, 2], [1, 80, 90, 2, 0, 0, 0, 0]], numpy.int32)
MASK = (IDS != 0).astype(numpy.int32)
SMALL = [
    "--batch-size",
    "4",
    "--max-tokens",
    "16",
    "--hold-out-every",
    "0",
    "--max-steps",
    "2",
    "--learning-rate",
    "0.01",
]


def run(*words, **more):
    done = subprocess.run([BINARY, *map(str, words)], capture_output=True, text=True, timeout=600, **more)
    assert done.returncode == 0, done.stderr


@pytest.fixture(scope="module")
def pair(tmp_path_factory):
    """train(output, words...), and the pair that it has made."""
    folder = tmp_path_factory.mktemp("pair")
    (folder / "corpus.txt").write_text("the cat sat on a mat and it rained all day in may\n" * 40)

    def train(name, *words):
        run(
            "pretrain",
            "--objective",
            "rtd",
            "--cache-dir",
            folder / "cache",
            "-o",
            folder / name,
            *SMALL,
            *words,
            folder / "corpus.txt",
        )
        return folder / name

    shape = "num_hidden_layers=4,hidden_size=32,num_attention_heads=2,position_buckets=8"
    return train, train(
        "first", "--tokenizer-name", make_model(folder / "tokenizer", "lm"), "--config-overrides", shape
    )


@pytest.mark.parametrize("model", ["generator", "discriminator"])
def test_transformers_reads_both_models(pair, tmp_path, model):
    folder = pair[1] / model
    write_safetensors(tmp_path / "ids.safetensors", {"input_ids": IDS, "attention_mask": MASK})
    run(
        "forward",
        "-m",
        folder,
        "--ids",
        tmp_path / "ids.safetensors",
        "--compat",
        "hf",
        "-o",
        tmp_path / "out.safetensors",
    )
    ours = read_safetensors(tmp_path / "out.safetensors")
    ours = ours[max(name for name in ours if name.startswith("hidden"))]
    loaded, info = transformers.AutoModel.from_pretrained(folder, output_loading_info=True, dtype=torch.float32)
    assert not info["missing_keys"] and not info["mismatched_keys"], info
    ids, mask = (torch.tensor(array.astype(numpy.int64)) for array in (IDS, MASK))
    with torch.no_grad():
        theirs = loaded.eval()(input_ids=ids, attention_mask=mask).last_hidden_state.numpy()
    numpy.testing.assert_allclose(
        ours.reshape(theirs.shape)[MASK != 0], theirs[MASK != 0], rtol=0, atol=1e-5 * max(1, numpy.abs(theirs).max())
    )


def test_a_generator_beside_its_discriminator_is_that_of_a_folder(pair, tmp_path):
    train, first = pair
    published = tmp_path / "published"
    shutil.copytree(first / "discriminator", published)
    shutil.copy(first / "generator/config.json", published / "generator_config.json")
    tensors = {
        name: torch.tensor(array) for name, array in read_safetensors(first / "generator/model.safetensors").items()
    }
    torch.save(tensors, published / "pytorch_model.generator.bin")
    models = [
        train(name, "-m", first / "discriminator", "--generator-model", folder)
        for name, folder in (("a", first / "generator"), ("b", published))
    ]
    for model in ("generator", "discriminator"):
        assert json.loads((models[0] / model / "config.json").read_text()) == json.loads(
            (models[1] / model / "config.json").read_text()
        )
        assert len({(folder / model / "model.safetensors").read_bytes() for folder in models}) == 1
