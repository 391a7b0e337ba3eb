"""`deberta replay` on the original's cases of masked language modelling (a folder of NAME.json + NAME.safetensors: DEBERTA_GOLDENS or the shared
one), loss and gradients, from the files of a model to the file that it writes. All other cases, and each value inside the model, are compared
in C++ (tests/train/objectives/original_goldens_test.cpp)."""
import json
import os
import pathlib

import numpy
import pytest
from models import ROOT, read_safetensors, write_safetensors

TOLERANCE = 5e-5  # fp32, from the folder's README
GOLDENS = pathlib.Path(os.environ.get("DEBERTA_GOLDENS") or ROOT.parent / "shared/reference/original-goldens")
CASES = ["mlm_emd_v3", "mlm_emd_v1", "mlm_emd_left_padding", "mlm_emd_conv_two_layers", "mlm_padding_id_inside", "mlm_position_biased", "mlm_position_biased_same_width"]


def part_of(tensors, prefix):
    return {name.removeprefix(prefix): numpy.ascontiguousarray(array) for name, array in tensors.items() if name.startswith(prefix)}


@pytest.mark.parametrize("case", CASES)
@pytest.mark.skipif(not GOLDENS.is_dir(), reason="no folder of original outputs (DEBERTA_GOLDENS, or the shared folder)")
def test_losses_and_gradients_of_the_original(deberta, tmp_path, case):
    tensors = read_safetensors(GOLDENS / f"{case}.safetensors")
    write_safetensors(tmp_path / "model.safetensors", part_of(tensors, "w."))
    about = json.loads((GOLDENS / f"{case}.json").read_text())
    model_type = "deberta" if about["layout"] == "v1" else "deberta-v2"
    (tmp_path / "config.json").write_text(json.dumps(about["config"] | {"model_type": model_type}))
    labels = tensors["in.labels"]
    batch = {name: tensors["in." + name] for name in ("input_ids", "attention_mask") if "in." + name in tensors}
    batch["labels"] = numpy.where(labels > 0, labels, -1).astype(numpy.int32)  # the original predicts labels above 0
    write_safetensors(tmp_path / "batches.safetensors", {f"0.{name}": array for name, array in batch.items()})
    done = deberta("replay", "-m", tmp_path, "--batches", tmp_path / "batches.safetensors", "-o", tmp_path / "out.safetensors")
    assert done.returncode == 0, done.stderr
    got = part_of(read_safetensors(tmp_path / "out.safetensors"), "0.")
    assert abs(got["loss"] - tensors["out.loss"]).max() < TOLERANCE
    expected = {name.removeprefix("deberta."): array for name, array in part_of(tensors, "out.grad.").items()}
    assert not expected or len(expected) > 20
    for name, array in expected.items():
        assert numpy.abs(got["grad." + name] - array).max() < TOLERANCE, name
