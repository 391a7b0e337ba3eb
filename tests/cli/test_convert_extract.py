"""convert of GLiNER models: gliner_config.json in place of config.json, the names of the library, the same answers."""

import json

import pytest

from conversion_models import write_bin
from models import make_extractor, read_safetensors

ENCODER = "token_rep_layer.bert_layer.model."
WORDS = ("--labels", "person,city", "--threshold", "0", "-f", "jsonl", "Ada was born in London .")


def answers(deberta, folder):
    done = deberta("extract", "-m", folder, *WORDS)
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


@pytest.fixture
def model(tmp_path):
    return make_extractor(tmp_path / "model")


def test_a_pickle_becomes_safetensors_with_the_same_answers(deberta, model, tmp_path):
    wanted = answers(deberta, model)
    names = set(read_safetensors(model / "model.safetensors"))
    write_bin(model / "pytorch_model.bin", read_safetensors(model / "model.safetensors"))
    (model / "model.safetensors").unlink()
    done = deberta("convert", "-m", model, "-o", tmp_path / "new", "--verify")
    assert done.returncode == 0, done.stderr
    assert "verified" in done.stderr and "the same hidden states" in done.stderr
    assert sorted(path.name for path in (tmp_path / "new").iterdir()) == [
        "deberta.manifest.json",
        "gliner_config.json",
        "model.safetensors",
        "spm.model",
        "tokenizer_config.json",
    ]
    written = dict(read_safetensors(tmp_path / "new/model.safetensors"))
    assert set(written) == names and any(name.startswith(ENCODER) for name in written)
    assert answers(deberta, tmp_path / "new") == wanted


def test_the_configuration_is_written_out(deberta, model, tmp_path):
    """Whoever reads it needs no defaults, and keys that nothing here reads stay."""
    path = model / "gliner_config.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"max_types": 7, "dropout": 0.3}))
    assert deberta("convert", "-m", model, "-o", tmp_path / "new").returncode == 0
    config = json.loads((tmp_path / "new/gliner_config.json").read_text())
    assert (config["max_types"], config["dropout"], config["max_width"], config["max_len"]) == (7, 0.3, 3, 384)
    assert config["span_mode"] == "markerV0" and config["subtoken_pooling"] == "first"
    assert config["encoder_config"]["model_type"] == "deberta-v2" and "norm_rel_ebd" in config["encoder_config"]


def test_half_precision_moves_scores_a_little(deberta, model, tmp_path):
    """The library makes the encoder in the type that its configuration names: that stays fp32, as the other layers."""
    config = json.loads((model / "gliner_config.json").read_text())
    config["encoder_config"]["torch_dtype"] = "bfloat16"
    (model / "gliner_config.json").write_text(json.dumps(config))
    done = deberta("convert", "-m", model, "-o", tmp_path / "new", "--dtype", "bf16", "--verify")
    assert done.returncode == 0, done.stderr
    written = json.loads((tmp_path / "new/gliner_config.json").read_text())
    assert written["encoder_config"]["torch_dtype"] == "float32"
    size = (tmp_path / "new/model.safetensors").stat().st_size
    assert size < 0.6 * (model / "model.safetensors").stat().st_size
    assert answers(deberta, tmp_path / "new")
