"""`deberta replay`: losses and gradients of the original code, through the program; what it refuses. transformers is in tests/oracle/test_trainer.py."""
import json
import os
import pathlib

import numpy
import pytest
from conftest import ROOT
from models import make_model, read_safetensors, write_safetensors

TOLERANCE = 5e-5  # of single precision (the README of the outputs)
WITH_GRADIENTS = {"mlm_emd_v3", "mlm_padding_id_inside"}
GOLDENS = pathlib.Path(os.environ.get("DEBERTA_GOLDENS", ROOT.parent / "shared/reference/original-goldens"))


def language_models():
    cases = [path for path in sorted(GOLDENS.glob("*.json")) if json.loads(path.read_text()).get("kind") == "mlm"]
    skip = pytest.mark.skip(reason="no folder of original outputs (DEBERTA_GOLDENS, or the shared folder)")
    return [pytest.param(path, id=path.stem) for path in cases] or [pytest.param(None, marks=skip)]


def below(tensors, prefix):
    return {name.removeprefix(prefix): array for name, array in tensors.items() if name.startswith(prefix)}


@pytest.mark.parametrize("case", language_models())
def test_losses_and_gradients_are_those_of_the_original(deberta, case, tmp_path):
    tensors = read_safetensors(case.with_suffix(".safetensors"))
    (tmp_path / "config.json").write_text(json.dumps(json.loads(case.read_text())["config"]))
    write_safetensors(tmp_path / "model.safetensors", below(tensors, "w."))
    inputs = below(tensors, "in.")
    inputs["labels"] = numpy.where(inputs["labels"] > 0, inputs["labels"], -100)  # the original predicts labels above 0
    write_safetensors(tmp_path / "batches.safetensors", {"0." + name: array for name, array in inputs.items()})
    done = deberta("replay", "-m", tmp_path, "--batches", tmp_path / "batches.safetensors", "-o", tmp_path / "out.safetensors")
    assert done.returncode == 0, done.stderr
    got = below(read_safetensors(tmp_path / "out.safetensors"), "0.")
    assert abs(got["loss"].item() - tensors["out.loss"].item()) <= TOLERANCE
    gradients = {name.removeprefix("deberta."): array for name, array in below(tensors, "out.grad.").items()}
    errors = {name: numpy.abs(got.get("grad." + name, 0) - array).max() for name, array in gradients.items()}
    assert {name: error for name, error in errors.items() if error > TOLERANCE} == {}
    assert set(below(got, "grad.")) <= set(gradients) if case.stem in WITH_GRADIENTS else not gradients


def test_wrong_batches_are_refused(deberta, tmp_path):
    model = make_model(tmp_path / "model", "lm")

    def refused(tensors, *words):
        write_safetensors(tmp_path / "in.safetensors", tensors)
        done = deberta("replay", "-m", model, "--decoder-passes", "0", "--batches", tmp_path / "in.safetensors", "-o", tmp_path / "out.safetensors")
        assert done.returncode == 1 and not (tmp_path / "out.safetensors").exists()
        for word in words:
            assert word in done.stderr, done.stderr

    ids = numpy.ones((2, 4), numpy.int64)
    refused({"1.input_ids": ids}, "in.safetensors: expected tensors 0.input_ids and 0.labels, got none")
    refused({"0.input_ids": ids}, "in.safetensors: expected a tensor 0.labels, got none")
    refused({"0.input_ids": ids, "0.labels": ids[:1]}, "0.labels: expected the shape of input_ids")
    refused({"0.input_ids": ids[0], "0.labels": ids[0]}, "0.input_ids: expected the shape [B, L]")
    refused({"0.input_ids": ids, "0.labels": ids * 5000}, "id: expected 0 to 1063, got 5000")
    refused({"0.input_ids": ids, "0.labels": ids << 40}, "0.labels: 1099511627776 is out of range")
