"""finetune --lora-rank beside peft on transformers: twenty steps of torch's AdamW from the same matrices, in fp32,
without dropout; then peft reads the adapter, and answers as our merged model does."""

import json
import os
import pathlib
import subprocess
import sys

import numpy
import peft
import pytest
import torch
import transformers

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/cli"))
from clean_environment import clean_environment  # noqa: E402
from models import make_model, read_safetensors, write_safetensors  # noqa: E402
from task_files import FILES, jsonl  # noqa: E402

BINARY = pathlib.Path(os.environ.get("DEBERTA_BINARY", ROOT / "build/dev/deberta"))
pytestmark = pytest.mark.skipif(
    not (BINARY.resolve().parent / "deberta-train").exists(),
    reason="the training half is not built: ./test all builds it",
)
torch.set_num_threads(1)

LOSSES = 2e-6  # absolute, of losses around 1
LOGITS = 1e-5  # of the largest logit, or 1
STEPS, RATE, DECAY, EPSILON = 20, 2e-3, 0.01, 1e-6
WORDS = "cat dog tree house rain wind sun moon bread milk ship road king queen song wall".split()
TEXTS = [f"a {word} by the {WORDS[n - 3]} ." if n % 3 else f"{word} and {WORDS[n - 5]}" for n, word in enumerate(WORDS)]
TARGETS = {
    "peft's own": ["query_proj", "value_proj"],
    "all others": ["key_proj", "attention.output.dense", "intermediate.dense", "output.dense"],
    "both outputs": ["output.dense"],
}
CLASSES = ["no", "perhaps", "yes"]


def run(*words):
    clean = clean_environment() | {"DEBERTA_DTYPE": "fp32"}
    done = subprocess.run([BINARY, *map(str, words)], capture_output=True, text=True, timeout=600, env=clean)
    assert done.returncode == 0, done.stderr
    return done


@pytest.fixture(scope="module")
def base(tmp_path_factory):
    return make_model(
        tmp_path_factory.mktemp("lora") / "base",
        "lm",
        hidden_dropout_prob=0.0,
        attention_probs_dropout_prob=0.0,
        initializer_range=0.3,
    )


def finetune(base, out, targets, *words):
    """All rows in each step."""
    rows = out.parent / "rows.jsonl"
    rows.write_text(jsonl(*({"text": text, "label": CLASSES[n % 3]} for n, text in enumerate(TEXTS))))
    run(
        "finetune",
        "--task",
        "classification",
        "-m",
        base,
        "--train-file",
        rows,
        "-o",
        out,
        "--batch-size",
        len(TEXTS),
        "--lora-rank",
        "4",
        "--lora-alpha",
        "6",
        "--lora-targets",
        ",".join(targets),
        "--optimizer",
        "adamw",
        "--adam-epsilon",
        EPSILON,
        "--weight-decay",
        DECAY,
        "--lr-scheduler-type",
        "constant",
        "--warmup-steps",
        "0",
        "--logging-steps",
        "1",
        "--cls-dropout",
        "0",
        *words,
    )
    return [
        line["loss"] for line in map(json.loads, (out / "metrics.jsonl").read_text().splitlines()) if "loss" in line
    ]


def adapted(base, adapter, **more):
    model = transformers.AutoModelForSequenceClassification.from_pretrained(
        base, num_labels=len(CLASSES), attn_implementation="eager", dtype=torch.float32
    )
    return peft.PeftModel.from_pretrained(model, adapter, **more)


def batch_of(base, folder):
    run("tokenize", "-m", base, "-o", folder / "ids.safetensors", *TEXTS)
    arrays = read_safetensors(folder / "ids.safetensors")
    return {name: torch.from_numpy(arrays[name].astype(numpy.int64)) for name in ("input_ids", "attention_mask")}


def losses_of_peft(model, batch):
    """Biases do not decay, as in transformers."""
    trained = {name: parameter for name, parameter in model.named_parameters() if parameter.requires_grad}
    groups = [
        {
            "params": [p for name, p in trained.items() if ("bias" in name) == is_bias],
            "weight_decay": 0 if is_bias else DECAY,
        }
        for is_bias in (False, True)
    ]
    optimizer, losses = torch.optim.AdamW(groups, lr=RATE, eps=EPSILON), []
    labels = torch.tensor([n % 3 for n in range(len(TEXTS))])
    for _ in range(STEPS):
        loss = model(**batch, labels=labels).loss
        loss.backward()
        torch.nn.utils.clip_grad_norm_(trained.values(), 1.0)
        optimizer.step()
        optimizer.zero_grad()
        losses.append(loss.item())
    return losses


@pytest.mark.parametrize("name", TARGETS)
def test_twenty_steps_are_those_of_peft(base, tmp_path, name):
    begin, out = tmp_path / "begin", tmp_path / "out"
    finetune(base, begin, TARGETS[name], "--max-steps", "1", "--learning-rate", "0")
    ours = finetune(base, out, TARGETS[name], "--max-steps", STEPS, "--learning-rate", RATE)
    model, batch = adapted(base, begin / "adapter", is_trainable=True).train(), batch_of(base, tmp_path)
    trained = sum(parameter.numel() for parameter in model.parameters() if parameter.requires_grad)
    weights = read_safetensors(out / "adapter/adapter_model.safetensors")
    assert trained == sum(tensor.size for tensor in weights.values())
    theirs = losses_of_peft(model, batch)
    assert len(ours) == STEPS and theirs[-1] < theirs[0] - 0.05
    numpy.testing.assert_allclose(ours, theirs, rtol=0, atol=LOSSES)
    answers_are_those_of_the_merged_model(base, out, tmp_path, batch)


def answers_are_those_of_the_merged_model(base, out, folder, batch):
    write_safetensors(
        folder / "in.safetensors", {key: tensor.numpy().astype(numpy.int32) for key, tensor in batch.items()}
    )
    run("forward", "-m", out, "--ids", folder / "in.safetensors", "-o", folder / "out.safetensors")
    ours = read_safetensors(folder / "out.safetensors")["logits"]
    model = adapted(base, out / "adapter").eval()
    with torch.no_grad():
        theirs = model(**batch).logits.numpy()
        merged = model.merge_and_unload()(**batch).logits.numpy()
    for logits in (theirs, merged):
        numpy.testing.assert_allclose(ours, logits, rtol=0, atol=LOGITS * max(1, numpy.abs(logits).max()))


@pytest.mark.parametrize(
    "task, auto, kind",
    [
        ("ner", "AutoModelForTokenClassification", "TOKEN_CLS"),
        ("squad", "AutoModelForQuestionAnswering", "QUESTION_ANS"),
        ("swag", "AutoModelForMultipleChoice", None),
    ],
)
def test_peft_reads_the_adapter_of_every_head(base, tmp_path, task, auto, kind):
    file, text = next(iter(FILES[task].items()))
    (tmp_path / file).write_text(text)
    out = tmp_path / "out"
    run(
        "finetune",
        "--task",
        task,
        "-m",
        base,
        "--train-file",
        tmp_path / file,
        "-o",
        out,
        "--max-steps",
        "3",
        "--lora-rank",
        "2",
        "--learning-rate",
        "0.05",
    )
    assert json.loads((out / "adapter/adapter_config.json").read_text())["task_type"] == kind
    config = transformers.AutoConfig.from_pretrained(out)
    model = peft.PeftModel.from_pretrained(
        getattr(transformers, auto).from_pretrained(base, num_labels=config.num_labels, dtype=torch.float32),
        out / "adapter",
    )
    merged, ours = model.merge_and_unload().state_dict(), read_safetensors(out / "model.safetensors")
    assert set(ours) <= set(merged)
    for name, tensor in ours.items():
        numpy.testing.assert_allclose(merged[name].numpy(), tensor, rtol=0, atol=1e-6, err_msg=name)
