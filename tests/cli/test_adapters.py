"""convert --adapter: LoRA adapters that peft wrote (tests/support/make_published_fixtures.py) give the weights of
peft's merge_and_unload()."""

import json
import pathlib
import shutil

import numpy
import pytest

from models import read_safetensors

PUBLISHED = pathlib.Path(__file__).resolve().parents[2] / "tests/golden/published"
MERGED = sorted(path.parent.name for path in PUBLISHED.glob("adapter*/expected.safetensors"))


def base_of(name):
    return PUBLISHED / ("v1" if name.endswith("_v1") else "v3")


def merge(deberta, tmp_path, adapter, *words, base=None):
    return deberta(
        "convert",
        "-m",
        base or base_of(pathlib.Path(adapter).name),
        "--adapter",
        adapter,
        "--to",
        tmp_path / "merged",
        *words,
    )


@pytest.mark.parametrize("name", MERGED)
def test_every_tensor_is_that_of_peft(deberta, tmp_path, name):
    done = merge(deberta, tmp_path, PUBLISHED / name, "--verify")
    assert done.returncode == 0, done.stderr
    tensors = read_safetensors(tmp_path / "merged/model.safetensors")
    expected = read_safetensors(base_of(name) / "model.safetensors") | read_safetensors(
        PUBLISHED / name / "expected.safetensors"
    )
    assert tensors.keys() == expected.keys()
    changed = read_safetensors(PUBLISHED / name / "expected.safetensors")
    for key, tensor in tensors.items():
        assert tensor.shape == expected[key].shape and numpy.allclose(
            tensor, expected[key], rtol=1e-6, atol=1e-6 if key in changed else 0
        ), key
    assert not (tmp_path / "merged/adapter_config.json").exists()


def test_the_changes_are_listed_with_their_scale(deberta, tmp_path):
    done = merge(deberta, tmp_path, PUBLISHED / "adapter21_patterns", "-f", "tsv")
    assert "deberta.encoder.layer.0.attention.self.query_proj.weight\tmerged\trank 2, scale 3\n" in done.stdout
    assert "deberta.encoder.layer.1.attention.self.key_proj.weight\tmerged\trank 4, scale 0.75\n" in done.stdout
    assert "deberta.encoder.layer.1.attention.self.query_proj.bias\treplaced\tfrom the adapter\n" in done.stdout


def test_labels_of_another_number_of_classes_are_not_the_models(deberta, tmp_path):
    base = shutil.copytree(PUBLISHED / "v3", tmp_path / "base")
    config = json.loads((base / "config.json").read_text())
    (base / "config.json").write_text(
        json.dumps(
            config | {"id2label": {"0": "no", "1": "maybe", "2": "yes"}, "label2id": {"no": 0, "maybe": 1, "yes": 2}}
        )
    )
    done = merge(deberta, tmp_path, PUBLISHED / "adapter21_classes", base=base)
    assert done.returncode == 0 and "id2label: 3 labels of the model, 2 classes of the adapter" in done.stdout
    written = json.loads((tmp_path / "merged/config.json").read_text())
    assert "maybe" not in json.dumps(written)


@pytest.mark.parametrize(
    "name, message",
    [
        ("adapter21_dora", "use_dora: DoRA"),
        ("adapter18_dora", "use_dora: DoRA"),
        ("adapter21_ia3", "expected a peft LORA adapter, got IA3"),
        ("v3", "expected a peft adapter, got a folder without adapter_config.json"),
    ],
)
def test_what_is_not_lora_is_refused_by_name(deberta, tmp_path, name, message):
    done = merge(deberta, tmp_path, PUBLISHED / name)
    assert done.returncode == 1 and message in done.stderr and not (tmp_path / "merged").exists()


@pytest.mark.parametrize(
    "key, value, message",
    [
        (
            "init_lora_weights",
            "pissa_niter_4",
            'init_lora_weights: "pissa_niter_4" (string) changes the weights of the model itself',
        ),
        ("layer_replication", [[0, 1]], "layer_replication: layers used more than once"),
        ("alpha_pattern", {"^key_.*": 3}, 'alpha_pattern: "^key_.*" is a regular expression'),
        ("lora_alpha", None, "lora_alpha: expected a number, got null"),
        ("task_type", "TOKEN_CLS", "task_type TOKEN_CLS: expected a token head, got sequence"),
    ],
)
def test_settings_that_make_other_weights_are_refused(deberta, tmp_path, key, value, message):
    adapter = shutil.copytree(PUBLISHED / "adapter21_plain", tmp_path / "adapter")
    config = json.loads((adapter / "adapter_config.json").read_text())
    (adapter / "adapter_config.json").write_text(json.dumps(config | {key: value}))
    done = merge(deberta, tmp_path, adapter)
    assert done.returncode == 1 and message in done.stderr and not (tmp_path / "merged").exists()


def test_an_adapter_of_another_model_is_refused(deberta, tmp_path):
    done = merge(deberta, tmp_path, PUBLISHED / "adapter21_plain", base=PUBLISHED / "v1")
    assert done.returncode == 1
    assert "query_proj: the model has no such module; does the adapter belong to this model?" in done.stderr


def test_an_adapter_for_itself_is_called_one(deberta):
    done = deberta("classify", "-m", PUBLISHED / "adapter21_plain", "a text")
    assert done.returncode == 1 and "got a peft adapter (LORA) for someone/v3; merge it: convert -m" in done.stderr
    checked = deberta("check", "-m", PUBLISHED / "adapter21_plain")
    assert checked.returncode == 1
    assert "a peft adapter (LORA) for someone/v3" in checked.stdout
    assert checked.stdout.count("\n") == 2
