"""20 steps of `finetune` beside transformers 4.57 and torch.optim.AdamW with a parameter group for each rate: a decay
for each layer, a rate of the head's own, a schedule with warm-up, weight decay and the clip; without dropout, in fp32.
A step is the whole file, so the order of its rows is none."""

import json
import os
import pathlib
import random
import shutil
import subprocess
import sys

import pytest
import torch
import transformers

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/cli"))
from clean_environment import clean_environment  # noqa: E402
from models import SPM, TOKENS  # noqa: E402
from task_files import jsonl  # noqa: E402

BINARY = pathlib.Path(os.environ.get("DEBERTA_BINARY", ROOT / "build/dev/deberta"))
pytestmark = pytest.mark.skipif(
    not (BINARY.resolve().parent / "deberta-train").exists(),
    reason="the training half is not built: ./test all builds it",
)
TOLERANCE = 2e-6  # of losses around 1
STEPS, WARMUP, LAYERS = 20, 4, 4
RATE, HEAD_RATE, DECAY, WEIGHT_DECAY = 1e-3, 3e-3, 0.7, 0.1
WORDS = "cat dog tree house rain wind sun moon bread milk ship road king queen song wall".split()
torch.set_num_threads(1)


def run(*words):
    clean = clean_environment()
    done = subprocess.run([BINARY, *map(str, words)], capture_output=True, text=True, timeout=600, env=clean)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def base(tmp_path_factory):
    """A model of version 2 with its convolution, whose head is for the classes of the file."""
    folder = tmp_path_factory.mktemp("base")
    torch.manual_seed(0)
    config = transformers.DebertaV2Config(
        vocab_size=TOKENS,
        hidden_size=32,
        num_hidden_layers=LAYERS,
        num_attention_heads=2,
        intermediate_size=48,
        max_position_embeddings=64,
        type_vocab_size=0,
        relative_attention=True,
        position_buckets=16,
        pos_att_type=["p2c", "c2p"],
        share_att_key=True,
        norm_rel_ebd="layer_norm",
        position_biased_input=False,
        conv_kernel_size=3,
        conv_act="gelu",
        hidden_dropout_prob=0.0,
        attention_probs_dropout_prob=0.0,
        pooler_dropout=0.0,
        cls_dropout=0.0,
        num_labels=3,
        attn_implementation="eager",
    )
    model = transformers.DebertaV2ForSequenceClassification(config)
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            scale = 0.1 if parameter.dim() == 1 else 0.3 if "embeddings" in name else parameter[0].numel() ** -0.5
            parameter.copy_(torch.randn_like(parameter) * scale + (1.0 if name.endswith("LayerNorm.weight") else 0.0))
    model.save_pretrained(folder)
    shutil.copy(SPM, folder / "spm.model")
    return folder


@pytest.fixture(scope="module")
def rows(tmp_path_factory):
    dice = random.Random(1)
    file = tmp_path_factory.mktemp("rows") / "rows.jsonl"
    file.write_text(
        jsonl(*({"text": " ".join(dice.choices(WORDS, k=3 + n % 5)), "label": "abc"[n % 3]} for n in range(12)))
    )
    return file


def rate_of(name, head_rate, decay, first=1):
    """The head's, or of what is n layers below it RATE * decay^n; of the last layer n is `first`."""
    name = name.removeprefix("model.").removeprefix("deberta.")
    if name.startswith("encoder.layer."):
        return RATE * decay ** (first + LAYERS - 1 - int(name.split(".")[2]))
    if name.startswith("encoder.conv."):
        return RATE * decay ** (first + LAYERS - 1)
    return RATE * decay ** (first + LAYERS) if name.startswith(("embeddings.", "encoder.")) else head_rate


def load(base):
    return transformers.DebertaV2ForSequenceClassification.from_pretrained(
        base, dtype=torch.float32, attn_implementation="eager"
    ).train()


def losses_of_transformers(base, rows, *rates):
    return losses_of(load(base), base, rows, *rates)


def losses_of(model, base, rows, *rates):
    labels = torch.tensor(["abc".index(json.loads(line)["label"]) for line in rows.read_text().splitlines()])
    return losses_of_torch(
        model,
        ids_of(base, rows),
        lambda model, inputs: model(**inputs, labels=labels).loss,
        lambda name: rate_of(name, *rates),
    )


def ids_of(base, rows):
    read = [
        json.loads(line)["ids"]
        for line in run("tokenize", "-q", "-m", base, "-i", rows, "--format", "jsonl", "--keep", "none").splitlines()
    ]
    return torch.nn.utils.rnn.pad_sequence([torch.tensor(row) for row in read], batch_first=True)


def losses_of_torch(model, ids, loss_of, rate=lambda name: RATE):
    """loss_of(model, inputs); rate(name of a tensor)"""
    groups = [
        {
            "params": [parameter],
            "lr": rate(name),
            "weight_decay": 0.0 if "bias" in name or "LayerNorm.weight" in name else WEIGHT_DECAY,
        }
        for name, parameter in model.named_parameters()
    ]
    optimizer = torch.optim.AdamW(groups, betas=(0.9, 0.999), eps=1e-6)
    schedule = transformers.get_linear_schedule_with_warmup(optimizer, WARMUP, STEPS)
    losses = []
    for _ in range(STEPS):
        loss = loss_of(model, {"input_ids": ids, "attention_mask": (ids != 0).long()})
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        schedule.step()
        optimizer.zero_grad()
        losses.append(loss.item())
    return losses


def losses_of_program(base, rows, out, *words, task="classification"):
    run(
        "finetune",
        "--task",
        task,
        "-m",
        base,
        "--train-file",
        rows,
        "-o",
        out,
        "--batch-size",
        "12",
        "--max-steps",
        STEPS,
        "--logging-steps",
        "1",
        "--save-steps",
        "0",
        "--optimizer",
        "adamw",
        "--learning-rate",
        RATE,
        "--weight-decay",
        WEIGHT_DECAY,
        "--lr-scheduler-type",
        "linear",
        "--warmup-steps",
        WARMUP,
        "--dtype",
        "fp32",
        *words,
    )
    return [
        line["loss"] for line in map(json.loads, (out / "metrics.jsonl").read_text().splitlines()) if "loss" in line
    ]


# the losses of a query's scores, labels and a teacher's scores, as formulas of torch; each is a mean over what it gives
RANKING = {
    "pointwise": lambda s, y, t: torch.nn.functional.binary_cross_entropy_with_logits(s, y, reduction="none"),
    "pairwise": lambda s, y, t: -torch.nn.functional.logsigmoid(s[:, None] - s[None, :])[y[:, None] > y[None, :]],
    "listwise": lambda s, y, t: torch.nn.functional.cross_entropy(s[None], (y / y.sum())[None], reduction="none"),
    "margin-mse": lambda s, y, t: ((s[:, None] - s[None, :]) - (t[:, None] - t[None, :])).square()[
        y[:, None] > y[None, :]
    ],
}


@pytest.fixture(scope="module")
def reranker(tmp_path_factory, base):
    """The same model with one score."""
    folder = tmp_path_factory.mktemp("reranker")
    torch.manual_seed(1)
    model = transformers.DebertaV2ForSequenceClassification.from_pretrained(
        base, num_labels=1, ignore_mismatched_sizes=True, attn_implementation="eager"
    )
    model.save_pretrained(folder)
    shutil.copy(SPM, folder / "spm.model")
    return folder


@pytest.fixture(scope="module")
def queries(tmp_path_factory):
    """2 to 5 documents each, of three grades."""
    dice = random.Random(2)
    file = tmp_path_factory.mktemp("queries") / "queries.jsonl"
    text = lambda: " ".join(dice.choices(WORDS, k=dice.randrange(2, 6)))
    rows = [
        {
            "query": text(),
            "documents": [text() for _ in range(2 + n % 4)],
            "labels": [1.0] + [0.0 if place % 2 else 0.5 for place in range(1 + n % 4)],
            "scores": [dice.uniform(-1, 1) for _ in range(2 + n % 4)],
        }
        for n in range(6)
    ]
    file.write_text(jsonl(*rows))
    return file


def ranking_losses_of_torch(folder, queries, loss):
    rows = [json.loads(line) for line in queries.read_text().splitlines()]
    pairs = queries.parent / "pairs.jsonl"
    pairs.write_text(
        jsonl(*({"text": row["query"], "text_pair": document} for row in rows for document in row["documents"]))
    )
    labels, teacher = ([torch.tensor(row[name]) for row in rows] for name in ("labels", "scores"))

    def mean_of(model, inputs):
        scores = model(**inputs).logits[:, 0].split([len(y) for y in labels])
        return torch.cat([RANKING[loss](*of_query) for of_query in zip(scores, labels, teacher)]).mean()

    return losses_of_torch(load(folder), ids_of(folder, pairs), mean_of)


def difference(ours, theirs):
    assert len(ours) == len(theirs) == STEPS
    return max(abs(a - b) for a, b in zip(ours, theirs))


def test_the_losses_of_layer_decay_and_a_rate_of_the_head_are_those_of_parameter_groups(base, rows, tmp_path):
    ours = losses_of_program(base, rows, tmp_path / "out", "--layer-decay", DECAY, "--head-learning-rate", HEAD_RATE)
    assert difference(ours, losses_of_transformers(base, rows, HEAD_RATE, DECAY)) <= TOLERANCE
    for other in (HEAD_RATE, DECAY, 2), (HEAD_RATE, DECAY, 0), (RATE, DECAY), (HEAD_RATE, 1):
        assert difference(ours, losses_of_transformers(base, rows, *other)) > 100 * TOLERANCE, other


def test_the_losses_of_one_rate_are_those_of_one_group(base, rows, tmp_path):
    ours = losses_of_program(base, rows, tmp_path / "out")
    assert difference(ours, losses_of_transformers(base, rows, RATE, 1)) <= TOLERANCE


def test_the_losses_of_rerankers_are_those_of_torchs_formulas(reranker, queries, tmp_path):
    theirs = {loss: ranking_losses_of_torch(reranker, queries, loss) for loss in RANKING}
    for loss in RANKING:
        ours = losses_of_program(
            reranker, queries, tmp_path / loss, "--ranking-loss", loss, "--max-documents", "0", task="ranking"
        )
        assert difference(ours, theirs[loss]) <= TOLERANCE, loss
    assert difference(theirs["pairwise"], theirs["listwise"]) > 100 * TOLERANCE


def with_problem_type(base, folder, problem_type):
    shutil.copytree(base, folder)
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(config | {"problem_type": problem_type}))
    return folder


def test_the_losses_of_several_scores_are_those_of_transformers_which_reads_the_result(base, rows, tmp_path):
    """Its own loss: MSELoss over all scores."""
    dice, names = random.Random(2), ["grammar", "style", "order"]
    objects = [
        json.loads(line) | {name: dice.uniform(-1, 2) for name in names} for line in rows.read_text().splitlines()
    ]
    file, model = tmp_path / "scores.jsonl", with_problem_type(base, tmp_path / "base", "regression")
    file.write_text(jsonl(*objects))
    ours = losses_of_program(model, file, tmp_path / "out", "--label-field", ",".join(names), task="regression")
    ids, scores = ids_of(base, rows), torch.tensor([[one[name] for name in names] for one in objects])
    assert (
        difference(ours, losses_of_torch(load(model), ids, lambda model, inputs: model(**inputs, labels=scores).loss))
        <= TOLERANCE
    )
    read = transformers.DebertaV2ForSequenceClassification.from_pretrained(
        tmp_path / "out", attn_implementation="eager"
    ).eval()
    assert read.config.problem_type == "regression" and read.config.id2label == dict(enumerate(names))
    with torch.no_grad():
        logits = read(input_ids=ids, attention_mask=(ids != 0).long()).logits
    answers = [
        json.loads(line)["labels"]
        for line in run(
            "classify", "-q", "-m", tmp_path / "out", "-i", file, "--format", "jsonl", "--dtype", "fp32"
        ).splitlines()
    ]
    assert [[one["label"] for one in answer] for answer in answers] == [names] * len(objects)
    assert (torch.tensor([[one["score"] for one in answer] for answer in answers]) - logits).abs().max() < 1e-5


def test_the_losses_of_shares_and_weights_of_rows_are_those_of_torch(base, rows, tmp_path):
    """With weights of classes and smoothing, as torch combines them with probabilities."""
    dice, objects = random.Random(3), []
    for line in rows.read_text().splitlines():
        parts = [dice.random() for _ in "abc"]
        objects.append(
            json.loads(line)
            | {"label": {name: part / sum(parts) for name, part in zip("abc", parts)}, "w": dice.uniform(0.1, 3)}
        )
    file = tmp_path / "shares.jsonl"
    file.write_text(jsonl(*objects))
    ids, shares = ids_of(base, rows), torch.tensor([list(one["label"].values()) for one in objects])
    weights, of_classes = torch.tensor([one["w"] for one in objects]), torch.tensor([0.5, 1.0, 2.0])

    def loss_of(weights, **more):
        def loss(model, inputs):
            of_rows = torch.nn.functional.cross_entropy(model(**inputs).logits, shares, reduction="none", **more)
            return (weights * of_rows).sum() / weights.sum()

        return loss

    ours = losses_of_program(base, file, tmp_path / "out", "--weight-field", "w")
    assert difference(ours, losses_of_torch(load(base), ids, loss_of(weights))) <= TOLERANCE
    assert difference(ours, losses_of_torch(load(base), ids, loss_of(torch.ones(len(objects))))) > 100 * TOLERANCE
    ours = losses_of_program(
        base,
        file,
        tmp_path / "more",
        "--weight-field",
        "w",
        "--class-weights",
        "0.5,1,2",
        "--label-smoothing-factor",
        "0.1",
    )
    assert (
        difference(ours, losses_of_torch(load(base), ids, loss_of(weights, weight=of_classes, label_smoothing=0.1)))
        <= TOLERANCE
    )
