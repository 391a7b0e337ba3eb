"""convert --average: the mean of several models, against numpy."""

import json
import shutil

import numpy
import pytest

from models import make_model, read_safetensors, write_safetensors


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    """Three checkpoints of one form."""
    folder = tmp_path_factory.mktemp("averages")
    return [make_model(folder / f"checkpoint-{n}", "sequence", seed=n) for n in (1, 2, 3)]


def average(deberta, target, first, *others, words=()):
    return deberta(
        "convert", "-m", first, *(word for other in others for word in ("--average", other)), "-o", target, *words
    )


def test_every_tensor_is_the_mean_of_numpy(deberta, models, tmp_path):
    done = average(deberta, tmp_path / "mean", *models, words=("--verify", "-f", "tsv"))
    assert done.returncode == 0, done.stderr
    stored = [read_safetensors(model / "model.safetensors") for model in models]
    assert f"weights\taveraged\t{len(stored[0])} tensors of 3 models\n" in done.stdout
    assert done.stdout.count("averaged") == 1
    written = read_safetensors(tmp_path / "mean/model.safetensors")
    assert written.keys() == stored[0].keys()
    for name, array in written.items():
        expected = numpy.mean([tensors[name].astype(numpy.float64) for tensors in stored], axis=0).astype(numpy.float32)
        assert numpy.array_equal(array, expected), name
    assert deberta("classify", "-m", tmp_path / "mean", "a text").returncode == 0


def test_a_model_alone_is_its_own_mean(deberta, models, tmp_path):
    assert average(deberta, tmp_path / "mean", models[0], models[0]).returncode == 0
    assert deberta("convert", "-m", models[0], "-o", tmp_path / "plain").returncode == 0
    assert (tmp_path / "mean/model.safetensors").read_bytes() == (tmp_path / "plain/model.safetensors").read_bytes()


def test_what_is_said_of_one_model_is_not_said_of_the_mean(deberta, models, tmp_path):
    first = shutil.copytree(models[0], tmp_path / "first")
    for name in ("README.md", "all_results.json", "modules.json"):
        (first / name).write_text("[]")
    assert average(deberta, tmp_path / "mean", first, models[1]).returncode == 0
    assert sorted(path.name for path in (tmp_path / "mean").iterdir()) == [
        "config.json",
        "deberta.manifest.json",
        "model.safetensors",
        "modules.json",
        "spm.model",
    ]


def changed_model(tmp_path, model, change):
    other = shutil.copytree(model, tmp_path / "other")
    change(other)
    return other


def drop_tensor(folder):
    tensors = read_safetensors(folder / "model.safetensors")
    del tensors["pooler.dense.weight"]
    write_safetensors(folder / "model.safetensors", tensors)


def change_config(folder):
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(config | {"position_buckets": 16, "hidden_dropout_prob": 0.3}))


def change_pieces(folder):
    data = (folder / "spm.model").read_bytes()
    piece, other = b"\x0a\x04rain", b"\x0a\x04niar"  # a field of the file, with its length
    assert data.count(piece) == 1
    (folder / "spm.model").write_bytes(data.replace(piece, other))


@pytest.mark.parametrize(
    "change, message",
    [
        (drop_tensor, "tensor pooler.dense.weight: missing"),
        (change_config, "config.json: position_buckets: expected 32 as in the first model, got 16"),
        (change_pieces, 'piece 324: expected "rain" as in the first model, got "niar"'),
        (lambda folder: (folder / "spm.model").unlink(), "expected a tokenizer as in the first model, got none"),
        (
            lambda folder: (folder / "calibration.safetensors").write_bytes(b""),
            "expected models that are not calibrated for int8",
        ),
        (lambda folder: (folder / "model.safetensors").unlink(), "model.safetensors"),
    ],
)
def test_models_of_another_form_are_refused(deberta, models, tmp_path, change, message):
    other = changed_model(tmp_path, models[1], change)
    done = average(deberta, tmp_path / "mean", models[0], models[2], other)
    assert done.returncode == 1 and message in done.stderr and str(other) in done.stderr, done.stderr
    assert not (tmp_path / "mean").exists()


def test_what_does_not_go_together(deberta, models, tmp_path):
    done = average(deberta, tmp_path / "mean", models[0], models[1], words=("--adapter", models[2]))
    assert done.returncode == 2 and "--average: expected this or --adapter, got both" in done.stderr
    done = average(deberta, tmp_path / "mean", models[0], tmp_path / "nothing")
    assert done.returncode == 1 and "nothing" in done.stderr
