"""finetune --lora-rank: what is trained, what is left, resume. The numbers, beside peft: tests/oracle/test_lora.py."""

import json
import shutil

import numpy
import pytest

from conftest import log_of, weights_of
from models import make_model, read_safetensors, write_safetensors

LORA = ["--lora-rank", "4", "--lora-alpha", "6", "--learning-rate", "0.02", "--warmup-steps", "0", "--batch-size", "8"]


def tensors_of(folder, name="model.safetensors"):
    return read_safetensors(folder / name)


def is_target(name):
    return name.endswith(("query_proj.weight", "value_proj.weight"))


def test_the_result_is_a_model_and_its_adapter(finetune, deberta, dropping_base, tmp_path):
    done = finetune(tmp_path / "out", "--max-steps", "6", *LORA)
    assert (
        done.returncode == 0
        and "parameters are trained: those that LoRA adds to 4 matrices, and the head" in done.stderr
    ), done.stderr
    before, after = tensors_of(dropping_base), tensors_of(tmp_path / "out")
    for name in set(before) & set(after):
        assert numpy.array_equal(before[name], after[name]) != is_target(name), name
    assert deberta("classify", "-m", tmp_path / "out", "a text").returncode == 0
    settings = json.loads((tmp_path / "out/adapter/adapter_config.json").read_text())
    assert settings["base_model_name_or_path"] == str(dropping_base)
    assert settings["target_modules"] == ["query_proj", "value_proj"]
    assert (settings["r"], settings["lora_alpha"], settings["task_type"], settings["modules_to_save"]) == (
        4,
        6,
        "SEQ_CLS",
        ["classifier", "pooler"],
    )
    refused = deberta("classify", "-m", tmp_path / "out/adapter", "a text")
    assert refused.returncode == 1
    assert "got a peft adapter (LORA)" in refused.stderr
    assert "merge it: convert -m" in refused.stderr
    merged = deberta("convert", "-m", dropping_base, "--adapter", tmp_path / "out/adapter", "-o", tmp_path / "merged")
    assert merged.returncode == 0 and "rank 4, scale 1.5" in merged.stdout, merged.stderr
    assert "the weights that the adapter was trained on" not in merged.stderr
    assert json.loads((tmp_path / "out/adapter/base_model.json").read_text())["name"] == str(dropping_base)
    other = shutil.copytree(dropping_base, tmp_path / "other")
    name = next(name for name in before if is_target(name))
    write_safetensors(other / "model.safetensors", before | {name: before[name] * numpy.float32(1.5)})
    warned = deberta("convert", "-m", other, "--adapter", tmp_path / "out/adapter", "-o", tmp_path / "wrong")
    assert (
        warned.returncode == 0
        and f"expected the weights that the adapter was trained on, those of {dropping_base} (SHA-256 " in warned.stderr
    ), warned.stderr
    for name, tensor in tensors_of(tmp_path / "merged").items():
        if name in after:  # all but the head of the language model
            numpy.testing.assert_allclose(tensor, after[name], rtol=0, atol=1e-6, err_msg=name)


def test_the_adapter_names_the_model_as_the_user_did(deberta, rows, tmp_path):
    done = deberta(
        "finetune",
        "--task",
        "classification",
        "-m",
        "builtin:fill",
        "--train-file",
        rows,
        "-o",
        tmp_path / "out",
        "--max-steps",
        "1",
        *LORA,
    )
    assert done.returncode == 0, done.stderr
    assert (
        json.loads((tmp_path / "out/adapter/adapter_config.json").read_text())["base_model_name_or_path"]
        == "builtin:fill"
    )
    merged = deberta("convert", "-m", "builtin:fill", "--adapter", tmp_path / "out/adapter", "-o", tmp_path / "merged")
    assert merged.returncode == 0 and "trained on" not in merged.stderr, merged.stderr


def test_every_target_has_its_matrices(finetune, dropping_base, tmp_path):
    targets = ("query_proj.weight", "key_proj.weight", "intermediate.dense.weight", "output.dense.weight")
    names = ",".join(target.removesuffix(".weight") for target in targets)
    done = finetune(tmp_path / "out", "--max-steps", "3", *LORA, "--lora-targets", names)
    assert done.returncode == 0, done.stderr
    before, after = tensors_of(dropping_base), tensors_of(tmp_path / "out")
    changed = {name for name in set(before) & set(after) if not numpy.array_equal(before[name], after[name])}
    assert changed == {name for name in before if name.startswith("deberta.encoder.layer.") and name.endswith(targets)}
    assert len(changed) == 2 * 5
    adapter = tensors_of(tmp_path / "out/adapter", "adapter_model.safetensors")
    assert {name.split(".lora_")[0] for name in adapter if ".lora_" in name} == {
        "base_model.model." + name.removesuffix(".weight") for name in changed
    }


@pytest.mark.parametrize(
    "more",
    [
        [],
        ["--ema-decay", "0.5"],
        ["--gradient-checkpointing"],
        ["--adversarial", "sift"],
        ["--dtype", "bf16"],
        ["--loss-scale", "1024"],
    ],
)
def test_a_run_that_goes_on_ends_in_the_same_bits(finetune, tmp_path, more):
    words = [
        *LORA,
        "--gradient-accumulation-steps",
        "2",
        "--lr-scheduler-type",
        "constant",
        "--resume-override",
        "max-steps",
        *more,
    ]
    whole, parts = tmp_path / "whole", tmp_path / "parts"
    for out, steps in (whole, "9"), (parts, "4"), (parts, "9"):
        done = finetune(out, "--max-steps", steps, *words)
        assert done.returncode == 0, done.stderr
    for name in (
        "model.safetensors",
        "adapter/adapter_model.safetensors",
        "checkpoint-000009/model.safetensors",
        "checkpoint-000009/trainer/optim.safetensors",
    ):
        assert (whole / name).read_bytes() == (parts / name).read_bytes(), name
    assert log_of(whole) == log_of(parts)


def test_threads_and_memory_change_nothing(finetune, tmp_path):
    for name, words in {"1": ["--threads", "1"], "3": ["--threads", "3"], "less": ["--gradient-checkpointing"]}.items():
        assert finetune(tmp_path / name, "--max-steps", "3", *LORA, *words).returncode == 0
    assert weights_of(tmp_path / "1") == weights_of(tmp_path / "3") == weights_of(tmp_path / "less")


def test_a_run_goes_on_with_the_weights_that_it_adds_to(finetune, dropping_base, tmp_path):
    base = shutil.copytree(dropping_base, tmp_path / "base")
    assert finetune(tmp_path / "out", "--max-steps", "2", *LORA, base=base).returncode == 0
    tensors = tensors_of(base)
    name = next(name for name in tensors if is_target(name))
    write_safetensors(base / "model.safetensors", tensors | {name: tensors[name] + numpy.float32(1)})
    done = finetune(tmp_path / "out", "--max-steps", "4", *LORA, "--resume-override", "max-steps", base=base)
    assert done.returncode == 2 and "weights that are added to: expected what the run began with" in done.stderr, (
        done.stderr
    )
    done = finetune(
        tmp_path / "out", "--max-steps", "4", *LORA, "--lora-rank", "8", "--resume-override", "max-steps", base=base
    )
    assert done.returncode == 2 and "lora-rank" in done.stderr


def test_the_best_step_is_the_result(finetune, dev_rows, tmp_path):
    done = finetune(
        tmp_path / "out",
        "--validation-file",
        dev_rows,
        "--num-train-epochs",
        "8",
        "--early-stopping-patience",
        "2",
        *LORA,
    )
    assert done.returncode == 0, done.stderr
    results = json.loads((tmp_path / "out/all_results.json").read_text())
    best = tmp_path / f"out/checkpoint-{results.get('best_step', results['steps']):06}"
    assert weights_of(tmp_path / "out") == weights_of(best)
    assert results["eval_accuracy"] == max(
        line["eval_accuracy"] for line in log_of(tmp_path / "out") if "eval_accuracy" in line
    )
    a, b = (
        tensors_of(tmp_path / "out/adapter", "adapter_model.safetensors"),
        tensors_of(best / "trainer", "optim.safetensors"),
    )
    module = "encoder.layer.0.attention.self.query_proj.lora_A.weight"
    assert numpy.array_equal(a["base_model.model.deberta." + module], b[module])


def test_version_1_has_no_adapter(deberta, rows, tmp_path):
    from conversion_models import make_v1_model

    base = make_v1_model(tmp_path / "base")
    done = deberta(
        "finetune",
        "--task",
        "classification",
        "-m",
        base,
        "--train-file",
        rows,
        "-o",
        tmp_path / "out",
        "--max-steps",
        "2",
        *LORA,
    )
    assert done.returncode == 0 and "without an adapter for peft" in done.stderr, done.stderr
    assert (tmp_path / "out/model.safetensors").exists() and not (tmp_path / "out/adapter").exists()


def test_the_default_rate_is_higher_than_that_of_all_weights(finetune, tmp_path):
    rates = {}
    for name, words in {"all": [], "lora": ["--lora-rank", "4"]}.items():
        assert finetune(tmp_path / name, "--max-steps", "2", "--warmup-steps", "0", *words).returncode == 0
        rates[name] = log_of(tmp_path / name)[0]["learning_rate"]
    assert rates == {"all": 2e-4, "lora": 1e-3}


@pytest.mark.parametrize(
    "words, message",
    [
        (["--lora-alpha", "4"], "--lora-alpha: expected --lora-rank as well"),
        (["--lora-targets", "query_proj"], "--lora-targets: expected --lora-rank as well"),
        (["--lora-rank", "4", "--frozen-layers", "1"], "--frozen-layers: expected this or --lora-rank, got both"),
        (["--lora-rank", "4", "--lora-targets", "dense"], "--lora-targets: expected names among query_proj, key_proj"),
        (
            ["--lora-rank", "4", "--lora-targets", "pos_key_proj"],
            "--lora-targets: expected layers of the model, which has no pos_key_proj",
        ),
        (["--lora-rank", "-1"], "--lora-rank"),
    ],
)
def test_wrong_options_are_refused(finetune, tmp_path, words, message):
    done = finetune(tmp_path / "out", *words)
    assert done.returncode == 2 and message in done.stderr, done.stderr
    assert not (tmp_path / "out/config.json").exists()


def test_the_parameters_are_counted_by_a_dry_run(finetune, tmp_path):
    done = finetune(tmp_path / "out", "--dry-run", "--lora-rank", "4")
    hidden, classes, matrices = 16, 2, 4
    assert (
        f"parameters\t{matrices * 2 * 4 * hidden + hidden * hidden + hidden + classes * hidden + classes}\n"
        in done.stdout
    ), done.stderr


def test_checkpoints_of_a_run_are_averaged(finetune, deberta, tmp_path):
    assert finetune(tmp_path / "out", "--max-steps", "6", "--save-steps", "3", *LORA).returncode == 0
    first, last = (tmp_path / f"out/checkpoint-{step:06}" for step in (3, 6))
    done = deberta("convert", "-m", first, "--average", last, "-o", tmp_path / "mean")
    assert done.returncode == 0, done.stderr
    a, b, mean = (tensors_of(folder) for folder in (first, last, tmp_path / "mean"))
    for name, tensor in mean.items():
        assert numpy.array_equal(tensor, ((a[name].astype(numpy.float64) + b[name]) / 2).astype(numpy.float32)), name


def test_new_layers_that_lora_would_leave_random_are_refused(deberta, tmp_path):
    model = make_model(tmp_path / "m", "lm")
    (tmp_path / "rows.jsonl").write_text('{"text": "a", "label": "x"}\n{"text": "b", "label": "y"}\n')
    done = deberta(
        "finetune",
        "--task",
        "classification",
        "-m",
        model,
        "--train-file",
        tmp_path / "rows.jsonl",
        "-o",
        tmp_path / "out",
        "--lora-rank",
        "2",
        "--reinit-layers",
        "1",
    )
    assert (
        done.returncode == 2
        and "--reinit-layers: expected layers that are trained, got --lora-rank as well" in done.stderr
    ), done.stderr
