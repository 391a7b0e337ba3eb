"""Others can read what `convert` writes: transformers loads it with equal hidden states and logits; and files of
torch.save, in every form, give the same bits as the safetensors that they came from."""

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
from conversion_models import make_v1_model  # noqa: E402
from models import make_model, read_safetensors, write_safetensors  # noqa: E402

BINARY = pathlib.Path(os.environ.get("DEBERTA_BINARY", ROOT / "build/dev/deberta"))
NANO = ROOT.parent / "shared/reference/models"
IDS = numpy.array([[1, 20, 30, 40, 50, 60, 70, 2], [1, 80, 90, 2, 0, 0, 0, 0]], numpy.int32)
CLASSES = {
    "sequence": "ForSequenceClassification",
    "token": "ForTokenClassification",
    "lm": "ForMaskedLM",
    "none": "Model",
}


def run(*words):
    done = subprocess.run([BINARY, *map(str, words)], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return done


def our_outputs(model, folder):
    """hidden.n and logits, with the mask decoder left out as transformers leaves it out."""
    write_safetensors(folder / "ids.safetensors", {"input_ids": IDS, "attention_mask": (IDS != 0).astype(numpy.int32)})
    run("forward", "-m", model, "--ids", folder / "ids.safetensors", "--compat", "hf", "-o", folder / "out.safetensors")
    return read_safetensors(folder / "out.safetensors")


def their_outputs(model, head, is_v1):
    """The same from transformers, using only the written directory; every tensor must have found its place."""
    cls = getattr(transformers, ("Deberta" if is_v1 else "DebertaV2") + CLASSES[head])
    loaded, info = cls.from_pretrained(model, output_loading_info=True, dtype=torch.float32)
    assert not info["missing_keys"] and not info["mismatched_keys"], info
    with torch.no_grad():
        out = loaded.eval()(
            input_ids=torch.tensor(IDS.astype(numpy.int64)),
            attention_mask=torch.tensor((IDS != 0).astype(numpy.int64)),
            output_hidden_states=True,
        )
    return [hidden.numpy() for hidden in out.hidden_states], getattr(out, "logits", torch.zeros(0)).numpy(), info


def assert_equal(model, folder, head, is_v1):
    ours = our_outputs(model, folder)
    hidden, logits, info = their_outputs(model, head, is_v1)
    real = IDS != 0
    for n, theirs in enumerate(hidden):
        numpy.testing.assert_allclose(
            ours[f"hidden.{n}"][real], theirs[real], rtol=0, atol=1e-5 * max(1, numpy.abs(theirs[real]).max())
        )
    if head != "none":
        rows = ... if head == "sequence" else real
        numpy.testing.assert_allclose(
            ours["logits"][rows], logits[rows], rtol=0, atol=1e-5 * max(1, numpy.abs(logits[rows]).max())
        )
    return info


@pytest.mark.parametrize("head", ["sequence", "token", "lm", "none"])
def test_transformers_computes_the_same_from_version_2(tmp_path, head):
    model = make_model(tmp_path / "m", "sequence" if head == "none" else head)
    if head == "none":
        write_safetensors(
            model / "model.safetensors",
            {k: v for k, v in read_safetensors(model / "model.safetensors").items() if k.startswith("deberta.")},
        )
    run("convert", "-m", model, "--to", tmp_path / "a")
    assert not assert_equal(tmp_path / "a", tmp_path, head, False)["unexpected_keys"]


@pytest.mark.parametrize("names", ["original", "hf"])
def test_transformers_reads_the_language_model_head_under_either_name(tmp_path, names):
    model = make_model(tmp_path / "m", "lm")
    run("convert", "-m", model, "--to", tmp_path / "a", "--head-names", names)
    assert_equal(tmp_path / "a", tmp_path, "lm", False)


@pytest.mark.parametrize("layout", ["v1", "v2"])
def test_transformers_computes_the_same_from_both_layouts_of_version_1(tmp_path, layout):
    model = make_v1_model(tmp_path / "m", pos_att_type="c2p|p2c")
    run("convert", "-m", model, "--to", tmp_path / "a", "--layout", layout, "--verify")
    assert_equal(tmp_path / "a", tmp_path, "sequence", layout == "v1")


def test_transformers_computes_the_same_once_the_missing_keys_are_written(tmp_path):
    """Without pos_att_type and pooler_hidden_act transformers computes a different model from the original; the copy
    sets both."""
    model = make_model(tmp_path / "m", "sequence", hidden_act="relu")
    config = json.loads((model / "config.json").read_text())
    del config["pos_att_type"], config["model_type"], config["architectures"]
    (model / "config.json").write_text(json.dumps(config))
    run("check", "-m", model, "--fix", tmp_path / "a")
    assert_equal(tmp_path / "a", tmp_path, "sequence", False)


def test_transformers_reads_shards_and_half_precision(tmp_path):
    model = make_model(tmp_path / "m", "sequence")
    run("convert", "-m", model, "--to", tmp_path / "a", "--shard-size", "20k", "--dtype", "bf16")
    assert_equal(tmp_path / "a", tmp_path, "sequence", False)
    assert transformers.AutoConfig.from_pretrained(tmp_path / "a").dtype == torch.bfloat16


@pytest.mark.parametrize("dtype, torch_dtype", [("bf16", torch.bfloat16), ("fp16", torch.float16)])
def test_rounding_is_that_of_torch(tmp_path, dtype, torch_dtype):
    model = make_model(tmp_path / "m", "sequence")
    random = numpy.random.default_rng(3)
    name = "deberta.embeddings.word_embeddings.weight"
    tensors = dict(read_safetensors(model / "model.safetensors"))
    exponents = random.integers(-30, 15, tensors[name].shape)
    tensors[name] = (
        (random.standard_normal(tensors[name].shape) * 2.0**exponents).clip(-60000, 60000).astype(numpy.float32)
    )
    tensors[name][:, ::2] = tensors[name][:, ::2].astype(numpy.float16).astype(numpy.float32) * (1 + 2.0**-11)
    write_safetensors(model / "model.safetensors", tensors)
    run("convert", "-m", model, "--to", tmp_path / "a", "--dtype", dtype)
    from safetensors.torch import load_file

    for key, value in load_file(tmp_path / "a/model.safetensors").items():
        assert torch.equal(value.view(torch.int16), torch.tensor(tensors[key]).to(torch_dtype).view(torch.int16)), key


def write_bin(model, folder, is_zip, is_sharded):
    """The weights of `model` as torch.save writes them, with one tensor transposed in memory."""
    shutil.copytree(model, folder)
    (folder / "model.safetensors").unlink()
    weights = {name: torch.tensor(array) for name, array in read_safetensors(model / "model.safetensors").items()}
    turned = next(name for name in weights if name.endswith("intermediate.dense.weight"))
    weights[turned] = weights[turned].t().contiguous().t()
    if not is_sharded:
        torch.save(weights, folder / "pytorch_model.bin", _use_new_zipfile_serialization=is_zip)
        return folder
    names = list(weights)
    files = {f"pytorch_model-0000{i + 1}-of-00003.bin": names[i::3] for i in range(3)}
    for file, own in files.items():
        torch.save({name: weights[name] for name in own}, folder / file, _use_new_zipfile_serialization=is_zip)
    index = {"metadata": {"total_size": 0}, "weight_map": {name: file for file, own in files.items() for name in own}}
    (folder / "pytorch_model.bin.index.json").write_text(json.dumps(index))
    return folder


@pytest.mark.parametrize("is_zip", [True, False])
@pytest.mark.parametrize("is_sharded", [False, True])
def test_every_form_of_the_weights_gives_the_same_bits(tmp_path, is_zip, is_sharded):
    model = make_model(tmp_path / "m", "sequence")
    pickled = write_bin(model, tmp_path / "bin", is_zip, is_sharded)
    our_outputs(model, tmp_path)
    expected = (tmp_path / "out.safetensors").read_bytes()
    our_outputs(pickled, tmp_path)
    assert (tmp_path / "out.safetensors").read_bytes() == expected
    words = ("--activation", "none", "-f", "jsonl", "one text", "another text")
    assert run("classify", "-m", model, *words).stdout == run("classify", "-m", pickled, *words).stdout
    for source, target in ((model, "a"), (pickled, "b")):
        run("convert", "-m", source, "--to", tmp_path / target, "--verify")
    assert (tmp_path / "a/model.safetensors").read_bytes() == (tmp_path / "b/model.safetensors").read_bytes()
    assert "a pickle" in run("check", "-m", pickled).stdout


@pytest.mark.parametrize(
    "name, head", [("nano-sst2", "sequence"), ("nano-sick", "sequence"), ("nano-conll", "token"), ("nano-mlm", "lm")]
)
def test_transformers_computes_the_same_from_trained_models(tmp_path, name, head):
    if not (NANO / name).exists():
        pytest.skip("needs the shared folder")
    run("convert", "-m", NANO / name, "--to", tmp_path / "a", "--verify")
    assert_equal(tmp_path / "a", tmp_path, head, False)
