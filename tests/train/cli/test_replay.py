"""`deberta replay`: losses and gradients of the original code, through the program; what it refuses. transformers is in
tests/oracle/test_trainer.py."""

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


def cases_of(*kinds):
    cases = [path for path in sorted(GOLDENS.glob("*.json")) if json.loads(path.read_text()).get("kind") in kinds]
    skip = pytest.mark.skip(reason="no folder of original outputs (DEBERTA_GOLDENS, or the shared folder)")
    return [pytest.param(path, id=path.stem) for path in cases] or [pytest.param(None, marks=skip)]


def below(tensors, prefix):
    return {name.removeprefix(prefix): array for name, array in tensors.items() if name.startswith(prefix)}


@pytest.mark.parametrize("case", cases_of("mlm"))
def test_losses_and_gradients_are_those_of_the_original(deberta, case, tmp_path):
    tensors = read_safetensors(case.with_suffix(".safetensors"))
    (tmp_path / "config.json").write_text(json.dumps(json.loads(case.read_text())["config"]))
    write_safetensors(tmp_path / "model.safetensors", below(tensors, "w."))
    inputs = below(tensors, "in.")
    inputs["labels"] = numpy.where(inputs["labels"] > 0, inputs["labels"], -100)  # the original predicts labels above 0
    write_safetensors(tmp_path / "batches.safetensors", {"0." + name: array for name, array in inputs.items()})
    done = deberta(
        "replay", "-m", tmp_path, "--batches", tmp_path / "batches.safetensors", "-o", tmp_path / "out.safetensors"
    )
    assert done.returncode == 0, done.stderr
    got = below(read_safetensors(tmp_path / "out.safetensors"), "0.")
    assert abs(got["loss"].item() - tensors["out.loss"].item()) <= TOLERANCE
    gradients = {name.removeprefix("deberta."): array for name, array in below(tensors, "out.grad.").items()}
    errors = {name: numpy.abs(got.get("grad." + name, 0) - array).max() for name, array in gradients.items()}
    assert {name: error for name, error in errors.items() if error > TOLERANCE} == {}
    assert set(below(got, "grad.")) <= set(gradients) if case.stem in WITH_GRADIENTS else not gradients


# ---- heads of tasks, and their adversarial losses


def run_task(deberta, tmp_path, case, loss, inputs, *words):
    """A case's model on its batch, and what the step leaves."""
    tensors, about = read_safetensors(case.with_suffix(".safetensors")), json.loads(case.read_text())
    (tmp_path / "config.json").write_text(json.dumps(about["config"]))
    write_safetensors(tmp_path / "model.safetensors", below(tensors, "w."))
    write_safetensors(tmp_path / "batches.safetensors", {"0." + name: array for name, array in inputs.items()})
    done = deberta(
        "replay",
        "--task-loss",
        loss,
        "-m",
        tmp_path,
        "--batches",
        tmp_path / "batches.safetensors",
        "-o",
        tmp_path / "out.safetensors",
        *words,
    )
    assert done.returncode == 0, done.stderr
    return below(read_safetensors(tmp_path / "out.safetensors"), "0.")


def assert_gradients(got, tensors):
    expected = {name.removeprefix("deberta."): array for name, array in below(tensors, "out.grad.").items()}
    errors = {
        name: numpy.abs(got["grad." + name] - array).max()
        for name, array in expected.items()
        if "grad." + name in got or numpy.abs(array).max() > 0
    }
    assert {name: error for name, error in errors.items() if error > TOLERANCE} == {}
    return len(errors)


@pytest.mark.parametrize(
    "case", cases_of("sequence_classification", "token_classification", "multiple_choice", "record")
)
def test_a_heads_loss_is_that_of_the_original(deberta, case, tmp_path):
    tensors, kind = read_safetensors(case.with_suffix(".safetensors")), json.loads(case.read_text())["kind"]
    inputs = below(tensors, "in.")
    loss = {
        "sequence_classification": "class",
        "token_classification": "tokens",
        "multiple_choice": "choice",
        "record": "mention",
    }[kind]
    if kind == "sequence_classification" and tensors["w.classifier.weight"].shape[0] == 1:
        loss = "score"
    if kind == "multiple_choice":
        inputs |= {name: array.reshape(-1, array.shape[-1]) for name, array in inputs.items() if name != "labels"}
    if kind == "record":
        inputs["mentions"] = inputs.pop("entity_indices")
        inputs["labels"] = inputs["labels"].astype(numpy.float32)
    got = run_task(deberta, tmp_path, case, loss, inputs)
    assert abs(got["loss"].item() - tensors["out.loss"].item()) <= TOLERANCE
    assert_gradients(got, tensors)


@pytest.mark.parametrize("case", cases_of("sift"))
def test_an_adversarial_step_is_that_of_the_original(deberta, case, tmp_path):
    tensors, about = read_safetensors(case.with_suffix(".safetensors")), json.loads(case.read_text())
    inputs = below(tensors, "in.") | {"delta": tensors["out.delta.0"]}
    loss = "score" if tensors["w.classifier.weight"].shape[0] == 1 else "class"
    got = run_task(
        deberta,
        tmp_path,
        case,
        loss,
        inputs,
        "--adversarial",
        "sift",
        "--sift-compat",
        "original",
        "--vat-lambda",
        about["vat_lambda"],
        "--vat-learning-rate",
        about["vat_learning_rate"],
        "--vat-init-perturbation",
        about["vat_init_perturbation"],
        "--vat-loss-fn",
        about["vat_loss_fn"],
    )
    for name in ("task_loss", "adversarial_loss"):
        assert abs(got[name].item() - tensors["out." + name].item()) <= TOLERANCE
    assert abs(got["loss"].item() - tensors["out.total_loss"].item()) <= TOLERANCE
    assert assert_gradients(got, tensors) == 5


def test_labels_of_another_form_are_refused(deberta, tmp_path):
    model = make_model(tmp_path / "model", "sequence")
    ids = numpy.array([[1, 20, 30, 2], [1, 40, 2, 0]], numpy.int32)
    mask = (ids != 0).astype(numpy.int32)

    def refused(loss, tensors, message, *words):
        write_safetensors(
            tmp_path / "in.safetensors",
            {"0." + name: array for name, array in ({"input_ids": ids, "attention_mask": mask} | tensors).items()},
        )
        done = deberta(
            "replay",
            "--task-loss",
            loss,
            "-m",
            model,
            "--batches",
            tmp_path / "in.safetensors",
            "-o",
            tmp_path / "out.safetensors",
            *words,
        )
        assert done.returncode in (1, 2) and message in done.stderr, done.stderr
        assert not (tmp_path / "out.safetensors").exists()

    refused("class", {}, "expected a tensor 0.labels, got none")
    refused("class", {"labels": numpy.array([0, 7], numpy.int32)}, "7")
    refused("choice", {"labels": numpy.array([0, 1, 0], numpy.int32)}, "divides the sequences")
    refused(
        "class",
        {"labels": numpy.array([0, 1], numpy.int32), "delta": numpy.zeros((2, 3, 16), numpy.float32)},
        "expected the shape [B, L, D]",
        "--adversarial",
        "sift",
    )
    refused(
        "span",
        {"first": numpy.array([0, 3], numpy.int32), "last": numpy.array([0, 3], numpy.int32)},
        "0.first: expected positions of tokens in their sequence, got 3",
    )
    refused("span", {"first": numpy.array([0, 1], numpy.int32), "last": numpy.array([0, 2], numpy.int32)}, "head")
    refused(
        "none",
        {"labels": numpy.array([0, 1], numpy.int32)},
        "--adversarial: expected --task-loss",
        "--adversarial",
        "vat",
    )


# ---- replaced tokens


class Pair:
    """Files of a case's generator and discriminator, and steps on them: replay(tensors, words...) -> what it leaves."""

    def __init__(self, deberta, folder, generator, discriminator):
        self.deberta, self.folder = deberta, folder
        for name, (config, weights) in {"generator": generator, "discriminator": discriminator}.items():
            (folder / name).mkdir()
            (folder / name / "config.json").write_text(json.dumps(config))
            write_safetensors(folder / name / "model.safetensors", weights)

    def replay(self, tensors, *words):
        write_safetensors(self.folder / "in.safetensors", tensors)
        done = self.deberta(
            "replay",
            "--objective",
            "rtd",
            "-m",
            self.folder / "discriminator",
            "--generator-model",
            self.folder / "generator",
            "--batches",
            self.folder / "in.safetensors",
            "-o",
            self.folder / "out.safetensors",
            *words,
        )
        assert done.returncode == 0, done.stderr
        return read_safetensors(self.folder / "out.safetensors")


def whole_tables(discriminator, generator):
    """A discriminator's tensors with the tables that it reads, as published files have them."""
    whole = dict(discriminator)
    for table in ("word_embeddings", "position_embeddings"):
        name = f"deberta.embeddings.{table}."
        if name + "_weight" in whole:
            whole[name + "weight"] = generator[name + "weight"] + whole[name + "_weight"]
        whole.setdefault(name + "weight", generator[name + "weight"])
    return whole


def batch_of(tensors, prefix, new_ids):
    inputs = below(tensors, prefix)
    inputs["labels"] = numpy.where(inputs["labels"] > 0, inputs["labels"], -100)
    return inputs | {"new_ids": new_ids}


def worst_errors(got, prefix, expected):
    """By name, of the tensors that we have; a difference is called as its table."""
    ours = {}
    for name, array in expected.items():
        other = prefix + name.replace(".deberta.", ".").replace("._weight", ".weight")
        if other in got:
            ours[name] = numpy.abs(got[other] - array).max()
        else:  # a table that nothing reads
            assert (name.startswith("discriminator") and "position_embeddings" in name) or numpy.abs(
                array
            ).max() == 0, name
    return ours


def pair_of(deberta, case, tensors, tmp_path):
    config = json.loads(case.read_text())["config"]
    generator = below(tensors, "w.generator.")
    return Pair(
        deberta,
        tmp_path,
        (config["generator"], generator),
        (config["discriminator"], whole_tables(below(tensors, "w.discriminator."), generator)),
    )


@pytest.mark.parametrize("case", cases_of("rtd_joint"))
def test_a_joint_step_is_that_of_the_original(deberta, case, tmp_path):
    tensors = read_safetensors(case.with_suffix(".safetensors"))
    sharing = json.loads(case.read_text())["config"]["embedding_sharing"].replace("none", "nes")
    inputs = {"0." + name: array for name, array in batch_of(tensors, "in.", tensors["out.new_ids"]).items()}
    got = below(
        pair_of(deberta, case, tensors, tmp_path).replay(inputs, "--rtd-mode", "joint", "--embedding-sharing", sharing),
        "0.",
    )
    for part in ("generator", "discriminator"):
        assert abs(got[part + ".loss"].item() - tensors[f"out.{part}_loss"].item()) <= TOLERANCE
    errors = worst_errors(got, "grad.", below(tensors, "out.grad."))
    assert len(errors) == (2 if sharing == "es" else 3) and max(errors.values()) <= TOLERANCE, errors


@pytest.mark.parametrize("case", cases_of("rtd_decoupled"))
def test_decoupled_steps_are_those_of_the_original(deberta, case, tmp_path):
    tensors = read_safetensors(case.with_suffix(".safetensors"))
    about = json.loads(case.read_text())
    optimizer, inputs = about["config"]["optimizer"], {}
    for step in range(about["steps"]):
        batch = batch_of(tensors, f"in.{step}.", tensors[f"out.{step}.new_ids"])
        batch["learning_rate"] = numpy.array(
            [optimizer["learning_rate"] * (1 - step / optimizer["total_steps"])], numpy.float32
        )
        inputs |= {f"{step}.{name}": array for name, array in batch.items()}
    words = [
        "--rtd-lambda",
        optimizer["rtd_lambda"],
        "--weight-decay",
        optimizer["weight_decay"],
        "--adam-epsilon",
        optimizer["epsilon"],
    ]
    got = pair_of(deberta, case, tensors, tmp_path).replay(inputs, *words)
    for step in range(about["steps"]):
        for part in ("generator", "discriminator"):
            assert abs(got[f"{step}.{part}.loss"].item() - tensors[f"out.{step}.{part}_loss"].item()) <= TOLERANCE
            for kind, expected in (("grad", f"out.{step}.grad.{part}."), ("weight", f"out.{step}.{part}.")):
                errors = worst_errors(
                    got,
                    f"{step}.{kind}.",
                    {f"{part}.{name}": array for name, array in below(tensors, expected).items()},
                )
                assert len(errors) > 35 and max(errors.values()) <= TOLERANCE, (
                    step,
                    kind,
                    max(errors, key=errors.get),
                    max(errors.values()),
                )


@pytest.mark.parametrize("case", cases_of("rtd"))
def test_a_discriminators_loss_and_gradients_are_those_of_the_original(deberta, case, tmp_path):
    tensors = read_safetensors(case.with_suffix(".safetensors"))
    config, weights = json.loads(case.read_text())["config"], below(tensors, "w.")
    encoder = {name: array for name, array in weights.items() if name.startswith("deberta.")}
    size = config["hidden_size"]
    head = {
        "dense.weight": (size, size),
        "dense.bias": size,
        "LayerNorm.weight": size,
        "LayerNorm.bias": size,
        "bias": config["vocab_size"],
    }
    encoder.setdefault(
        "deberta.embeddings.position_embeddings.weight",
        numpy.zeros((config["max_position_embeddings"], size), numpy.float32),
    )
    # any will do
    generator = encoder | {
        "lm_predictions.lm_head." + name: numpy.ones(shape, numpy.float32) for name, shape in head.items()
    }
    pair = Pair(deberta, tmp_path, (config, generator), (config, weights))
    inputs = {"0." + name: array for name, array in batch_of(tensors, "in.", tensors["in.input_ids"]).items()}
    got = below(pair.replay(inputs, "--rtd-mode", "joint", "--embedding-sharing", "nes", "--rtd-lambda", "1"), "0.")
    assert abs(got["discriminator.loss"].item() - tensors["out.loss"].item()) <= TOLERANCE
    errors = worst_errors(
        got, "grad.", {"discriminator." + name: array for name, array in below(tensors, "out.grad.").items()}
    )
    assert max(errors.values(), default=0) <= TOLERANCE and len(errors) == len(below(tensors, "out.grad.")), errors


def test_wrong_batches_are_refused(deberta, tmp_path):
    model = make_model(tmp_path / "model", "lm")

    def refused(tensors, *words):
        write_safetensors(tmp_path / "in.safetensors", tensors)
        done = deberta(
            "replay",
            "-m",
            model,
            "--decoder-passes",
            "0",
            "--batches",
            tmp_path / "in.safetensors",
            "-o",
            tmp_path / "out.safetensors",
        )
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
