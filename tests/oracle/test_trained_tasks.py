"""20 steps of fine-tuning by the trainer (`replay`) and by transformers 4.57 with torch's AdamW, in fp32, without
dropout: losses, one by one."""

import subprocess
import sys

import numpy
import pytest
import torch
import transformers

from clean_environment import clean_environment
from oracle_runs import BINARY, ROOT

sys.path.insert(0, str(ROOT / "tests/cli"))
from models import read_safetensors, write_safetensors

LOSSES = 2e-6
STEPS, ROWS, LENGTH, VOCABULARY, CLASSES = 20, 6, 24, 60, 3
RATE, DECAY = 1e-3, 0.01
pytestmark = pytest.mark.skipif(
    not (BINARY.resolve().parent / "deberta-train").exists(),
    reason="the training half is not built: ./test all builds it",
)
torch.set_num_threads(1)
SIZES = {
    "vocab_size": VOCABULARY,
    "hidden_size": 64,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "intermediate_size": 80,
    "type_vocab_size": 0,
    "max_position_embeddings": 64,
    "relative_attention": True,
    "pos_att_type": ["p2c", "c2p"],
    "position_biased_input": False,
    "position_buckets": 16,
    "share_att_key": True,
    "norm_rel_ebd": "layer_norm",
    "hidden_dropout_prob": 0.0,
    "attention_probs_dropout_prob": 0.0,
    "pooler_dropout": 0.0,
    "cls_dropout": 0.0,
    "attn_implementation": "eager",
}
HEADS = {
    "class": transformers.DebertaV2ForSequenceClassification,
    "score": transformers.DebertaV2ForSequenceClassification,
    "scores": transformers.DebertaV2ForSequenceClassification,
    "shares": transformers.DebertaV2ForSequenceClassification,
    "labels": transformers.DebertaV2ForSequenceClassification,
    "tokens": transformers.DebertaV2ForTokenClassification,
}
LOSSES_OF = {"scores": "score", "shares": "class"}  # --task-loss, of another name


def make(folder, task, seed, layers=2):
    torch.manual_seed(seed)
    config = transformers.DebertaV2Config(
        **(SIZES | {"num_hidden_layers": layers}), num_labels=1 if task == "score" else CLASSES
    )
    model = HEADS[task](config)
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            parameter.copy_(
                torch.randn_like(parameter) * (0.2 if parameter.dim() == 1 else parameter[0].numel() ** -0.5)
                + (1.0 if name.endswith("LayerNorm.weight") else 0.0)
            )
    model.save_pretrained(folder)
    return model.train()


def batches(task):
    """Of several scores and of shares the rows have weights."""
    random = numpy.random.default_rng(3)
    shapes = {
        "class": (ROWS,),
        "score": (ROWS,),
        "scores": (ROWS, CLASSES),
        "labels": (ROWS, CLASSES),
        "tokens": (ROWS, LENGTH),
    }
    for _ in range(STEPS):
        ids = random.integers(1, VOCABULARY, (ROWS, LENGTH))
        if task == "shares":
            labels = random.dirichlet([0.7] * CLASSES, ROWS).astype(numpy.float32)
        elif task in ("score", "scores"):
            labels = random.normal(size=shapes[task]).astype(numpy.float32)
        else:
            labels = random.integers(0, 2 if task == "labels" else CLASSES, shapes[task])
        if task == "tokens":
            labels[random.random(labels.shape) < 0.4] = -100
        weights = {"weights": random.uniform(0.1, 4, ROWS).astype(numpy.float32)} if task in LOSSES_OF else {}
        yield {"input_ids": ids, "labels": labels} | weights


def optimizer_of(model):
    is_plain = lambda name: name.endswith("bias") or "LayerNorm" in name
    groups = [
        {
            "params": [p for name, p in model.named_parameters() if is_plain(name) == plain],
            "weight_decay": 0.0 if plain else DECAY,
        }
        for plain in (False, True)
    ]
    return torch.optim.AdamW(groups, lr=RATE, eps=1e-6)


def ours(folder, given, task, *words):
    tensors = {
        f"{step}.{name}": array.astype(numpy.float32) if array.dtype == numpy.float64 else array
        for step, batch in enumerate(given)
        for name, array in batch.items()
    }
    write_safetensors(folder / "batches.safetensors", tensors)
    done = subprocess.run(
        [
            BINARY,
            "replay",
            "-q",
            "-m",
            folder / "student",
            "--task-loss",
            LOSSES_OF.get(task, task),
            "--batches",
            folder / "batches.safetensors",
            "-o",
            folder / "out.safetensors",
            "--optimizer",
            "adamw",
            "--learning-rate",
            str(RATE),
            "--weight-decay",
            str(DECAY),
            *words,
        ],
        capture_output=True,
        text=True,
        env=clean_environment(),
    )
    assert done.returncode == 0, done.stderr
    found = read_safetensors(folder / "out.safetensors")
    return [found[f"{step}.loss"].item() for step in range(STEPS)]


def theirs(model, given, loss_of):
    optimizer, losses = optimizer_of(model), []
    for batch in given:
        loss = loss_of(model, {name: torch.from_numpy(array) for name, array in batch.items()})
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        losses.append(loss.item())
    return losses


def mean_of(rows, weights):
    return (rows * weights).sum() / weights.sum()


def task_loss(task, logits, labels, weights):
    if task == "score":
        return torch.nn.functional.mse_loss(logits[:, 0], labels)
    if task == "scores":
        return mean_of(torch.nn.functional.mse_loss(logits, labels, reduction="none").mean(1), weights)
    if task == "shares":
        return mean_of(torch.nn.functional.cross_entropy(logits, labels, reduction="none"), weights)
    if task == "labels":
        return torch.nn.functional.binary_cross_entropy_with_logits(logits, labels.float())
    return torch.nn.functional.cross_entropy(logits.flatten(0, -2), labels.flatten(), ignore_index=-100)


def divergence(task, student, teacher, labels, weights, t):
    """As torch has it: kl_div of log-softmaxes, batchmean."""
    if task == "scores":
        return mean_of(torch.nn.functional.mse_loss(student, teacher, reduction="none").mean(1), weights)
    if task == "shares":
        log_p, log_q = (teacher / t).log_softmax(-1), (student / t).log_softmax(-1)
        return (
            t * t * mean_of(torch.nn.functional.kl_div(log_q, log_p, reduction="none", log_target=True).sum(1), weights)
        )
    if task == "score":
        return torch.nn.functional.mse_loss(student, teacher)
    if task == "labels":
        pairs = lambda logits: torch.stack([torch.zeros_like(logits), logits / t], -1).log_softmax(-1).flatten(0, 1)
        return (
            t * t * torch.nn.functional.kl_div(pairs(student), pairs(teacher), reduction="batchmean", log_target=True)
        )
    rows = labels.flatten() >= 0
    log_p = lambda logits: (logits.flatten(0, -2)[rows] / t).log_softmax(-1)
    return t * t * torch.nn.functional.kl_div(log_p(student), log_p(teacher), reduction="batchmean", log_target=True)


@pytest.mark.parametrize("task", HEADS)
@pytest.mark.parametrize(
    "teacher_weight, temperature", [(None, None), (0.5, 2.0), (0.9, 1.0)], ids=["labels", "half", "mostly"]
)
def test_twenty_steps_with_and_without_a_teacher(tmp_path, task, teacher_weight, temperature):
    given = list(batches(task))
    student, words = make(tmp_path / "student", task, 1), ()
    if teacher_weight is None:
        loss_of = lambda model, batch: task_loss(
            task, model(input_ids=batch["input_ids"]).logits, batch["labels"], batch.get("weights")
        )
    else:
        teacher = make(tmp_path / "teacher", task, 2, layers=3).eval()
        words = (
            "--teacher",
            tmp_path / "teacher",
            "--teacher-weight",
            str(teacher_weight),
            "--teacher-temperature",
            str(temperature),
        )

        def loss_of(model, batch):
            logits = model(input_ids=batch["input_ids"]).logits
            with torch.no_grad():
                its = teacher(input_ids=batch["input_ids"]).logits
            labels, weights = batch["labels"], batch.get("weights")
            return (1 - teacher_weight) * task_loss(task, logits, labels, weights) + teacher_weight * divergence(
                task, logits, its, labels, weights, temperature
            )

    expected, got = theirs(student, given, loss_of), ours(tmp_path, given, task, *words)
    errors = numpy.abs(numpy.array(got) - numpy.array(expected))
    assert errors.max() <= LOSSES * max(1, max(expected)), (errors.max(), expected)
    assert len(set(expected)) == STEPS
