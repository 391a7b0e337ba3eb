"""Training with products in bf16: near fp32 and not the same, the same bits after any break and on any number of
threads, and no other run than one in fp32."""

import json
import shutil
import subprocess

import pytest

from conftest import BINARY, SMALL, log_of, weights_of
from models import make_model

# those that vdpbf16ps takes
HEADS_OF_32 = ["--config-overrides", "num_hidden_layers=2,hidden_size=64,num_attention_heads=2,position_buckets=8"]
KINDS = {
    "mlm": [],
    "causal": ["--objective", "causal"],
    "decoupled": ["--objective", "rtd"],
    "joint": ["--objective", "rtd", "--rtd-mode", "joint"],
}


@pytest.fixture
def pretrain(deberta, tokenizer, corpus, tmp_path):
    """pretrain(folder, words...) -> the folder of a finished run of 6 steps, or as many as given"""

    def run(folder, *words, steps=6):
        done = deberta(
            "pretrain",
            "--tokenizer-name",
            tokenizer,
            "-o",
            tmp_path / folder,
            *SMALL,
            "--max-steps",
            steps,
            *words,
            corpus,
        )
        assert done.returncode == 0, done.stderr
        return tmp_path / folder

    return run


def losses(folder):
    return [
        value
        for line in log_of(folder)
        for name, value in line.items()
        if name.endswith("loss") and isinstance(value, float)
    ]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("heads", [[], HEADS_OF_32], ids=["heads of 16", "heads of 32"])
def test_losses_are_near_those_of_fp32(pretrain, kind, heads):
    fp32, bf16 = (losses(pretrain(dtype, *KINDS[kind], *heads, "--dtype", dtype)) for dtype in ("fp32", "bf16"))
    assert fp32 != bf16 and bf16 == pytest.approx(fp32, rel=1e-2)


@pytest.mark.parametrize("kind", KINDS)
def test_a_run_goes_on_with_the_same_bits_on_any_number_of_threads(pretrain, tmp_path, kind):
    words = [*KINDS[kind], *HEADS_OF_32, "--bf16", "--save-steps", "2", "--save-total-limit", "9"]
    whole = pretrain("whole", *words, "--threads", "1")
    shutil.copytree(whole, tmp_path / "out")
    for step in "000004", "000006":
        shutil.rmtree(tmp_path / f"out/checkpoint-{step}")
    out = pretrain("out", *words, "--threads", "3")
    assert log_of(out) == log_of(whole)
    for file in whole.rglob("model.safetensors"):
        assert file.read_bytes() == (out / file.relative_to(whole)).read_bytes(), file


def test_layers_computed_again_and_parts_of_a_step(pretrain):
    plain, again, parts = (
        pretrain(name, *HEADS_OF_32, "--bf16", *words)
        for name, words in {
            "plain": [],
            "again": ["--gradient-checkpointing"],
            "parts": ["--gradient-accumulation-steps", "4"],
        }.items()
    )
    assert weights_of(plain) == weights_of(again)
    first, of_parts = log_of(plain)[0], log_of(parts)[0]
    assert (of_parts["loss"], of_parts["grad_norm"]) == pytest.approx((first["loss"], first["grad_norm"]), rel=1e-7)
    assert losses(parts) == pytest.approx(losses(plain), rel=1e-4), (
        "weights that differ in their last bit round to other operands"
    )


def test_a_run_does_not_change_its_precision(pretrain, deberta, tokenizer, corpus, tmp_path):
    out = pretrain("out", "--save-steps", "2", "--save-total-limit", "9")
    shutil.rmtree(out / "checkpoint-000006")
    done = deberta("pretrain", "--tokenizer-name", tokenizer, "-o", out, *SMALL, "--max-steps", "6", "--bf16", corpus)
    assert done.returncode == 2 and "dtype" in done.stderr and "fp32" in done.stderr, done.stderr


def test_the_default_is_bf16_where_it_is_faster_and_a_run_keeps_what_it_began_with(
    deberta, environment, tokenizer, corpus, tmp_path
):
    is_faster = json.loads(deberta("info", "--format", "jsonl").stdout.splitlines()[0])["faster_than_fp32"]["bf16"]

    def run(out, *words):
        automatic = {name: value for name, value in environment.items() if name != "DEBERTA_DTYPE"}
        done = subprocess.run(
            [BINARY, "pretrain", "--tokenizer-name", tokenizer, "-o", tmp_path / out, *SMALL, *words, corpus],
            capture_output=True,
            text=True,
            env=automatic,
        )
        assert done.returncode == 0, done.stderr
        state = json.loads(max((tmp_path / out).glob("checkpoint-*/trainer/state.json")).read_text())
        return state["options"]["dtype"], "products are in bf16" in done.stderr

    assert run("new", "--max-steps", "2") == (("bf16", True) if is_faster else ("fp32", False))
    assert run("without", "--max-steps", "2", "--kernels", "avx2") == ("fp32", False), "avx2 widens bf16"
    for dtype in ("fp32", "bf16"):
        run(dtype, "--max-steps", "2", "--dtype", dtype)
        assert run(dtype, "--max-steps", "4", "--resume-override", "max-steps")[0] == dtype


@pytest.mark.parametrize("dtype", ["fp32", "bf16"])
def test_twenty_steps_have_the_same_bits_on_1_2_and_3_threads(pretrain, dtype):
    one, *others = (
        pretrain(f"threads {n}", *HEADS_OF_32, "--dtype", dtype, "--threads", n, steps=20) for n in (1, 2, 3)
    )
    for other in others:
        assert log_of(other) == log_of(one)
        assert (other / "model.safetensors").read_bytes() == (one / "model.safetensors").read_bytes()


def test_a_shape_without_a_fast_kernel_is_said_once(deberta, tokenizer, corpus, tmp_path):
    if "avx2" not in json.loads(deberta("info", "--format", "jsonl").stdout.splitlines()[0])["kernels_available"]:
        pytest.skip("no fast kernels here")
    for name, heads, count in ("heads of 8", "4", 1), ("heads of 16", "2", 0):
        shape = f"num_hidden_layers=2,hidden_size=32,num_attention_heads={heads},position_buckets=8"
        done = deberta(
            "pretrain",
            "--tokenizer-name",
            tokenizer,
            "-o",
            tmp_path / name,
            *SMALL,
            "--config-overrides",
            shape,
            "--max-steps",
            "4",
            corpus,
        )
        assert done.returncode == 0 and done.stderr.count("no fast kernel supports a model of this shape") == count, (
            done.stderr
        )


def test_precisions_are_listed(deberta, tmp_path):
    done = deberta("pretrain", "-o", tmp_path / "out", "--dtype", "int8", "text")
    assert done.returncode == 2 and "fp32" in done.stderr and "bf16" in done.stderr, done.stderr


def test_a_classifier_learns_and_says_how(deberta, rows, tmp_path):
    base = make_model(tmp_path / "base", "lm")
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
        "40",
        "--batch-size",
        "8",
        "--learning-rate",
        "0.003",
        "--logging-steps",
        "5",
        "--bf16",
    )
    assert done.returncode == 0, done.stderr
    found = losses(tmp_path / "out")
    assert found[-1] < found[0]
    assert "bf16" in (tmp_path / "out/run.html").read_text()
    assert json.loads((tmp_path / "out/checkpoint-000040/trainer/state.json").read_text())["options"]["dtype"] == "bf16"
