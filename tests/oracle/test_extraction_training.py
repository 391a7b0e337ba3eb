"""`finetune --task extract` and `convert` beside the package gliner, which loads the folders with the same answers; and
the loss of a step beside that of its trainer."""

import json
import subprocess

import pytest
import torch
from gliner import GLiNER

from clean_environment import clean_environment
from extraction_models import make
from oracle_runs import BINARY, ROOT, needs_program
from test_extraction import LABELS, TEXTS, compare, fitting

pytestmark = needs_program
needs_training = pytest.mark.skipif(
    not (BINARY.resolve().parent / "deberta-train").exists(),
    reason="the training half is not built: ./test all builds it",
)
# Words, entities by words with the last one, and the labels that the text was searched for besides.
ROWS = [
    ("Ada Lovelace was born in London in 1815 .", [(0, 1, "person"), (5, 5, "city")], ["river"]),
    ("The Rhine passes Basel , Bonn and Cologne", [(1, 1, "river"), (3, 3, "city"), (5, 5, "city")], ["person"]),
    ("It rained .", [], ["person", "city", "river"]),
]
MODES = ["markerV0", "marker", "token_level"]


def run(*words):
    clean = clean_environment()
    done = subprocess.run(
        [str(word) for word in (BINARY, *words)], capture_output=True, text=True, timeout=600, env=clean
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture
def command(tmp_path):
    """finetune without its mode: one step of all rows that moves nothing, without dropout."""
    base = tmp_path / "base"
    base.mkdir()
    for file in (ROOT / "models/fill").iterdir():
        (base / file.name).write_bytes(file.read_bytes())
    config = json.loads((base / "config.json").read_text())
    config |= {"hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0}
    (base / "config.json").write_text(json.dumps(config))
    rows = tmp_path / "train.jsonl"
    rows.write_text(
        "".join(
            json.dumps({"tokenized_text": text.split(), "ner": entities, "ner_negatives": others}) + "\n"
            for text, entities, others in ROWS
        )
    )
    return [
        *(
            "finetune",
            "--task",
            "extract",
            "-m",
            base,
            "--train-file",
            rows,
            "--max-steps",
            "1",
            "--learning-rate",
            "0",
        ),
        *("--batch-size", "3", "--logging-steps", "1", "--cls-dropout", "0", "--dtype", "fp32", "--max-width", "4"),
    ]


def labels_before(line):
    """The labels in a line of a dry run, and the text behind them."""
    before, _, text = line.partition(" <<SEP>> ")
    spelled = ["".join(part.split()).replace("\u2581", " ").strip() for part in before.split("<<ENT>>")[1:]]
    return spelled, "".join(text.split()[:-1]).replace("\u2581", " ").strip()


@needs_training
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("focal", [{}, {"alpha": 0.25, "gamma": 2.0}])
def test_the_loss_of_a_step_is_that_of_the_package(tmp_path, command, mode, focal):
    words = [*command, "--span-mode", mode, "-o", tmp_path / "out"]
    for name, value in focal.items():
        words += [f"--focal-{name}", value]
    shown = [line.split("\t", 1)[1] for line in run(*words, "--dry-run").splitlines() if line.startswith("sequence\t")]
    run(*words)
    ours = [json.loads(line) for line in (tmp_path / "out/metrics.jsonl").read_text().splitlines()]
    model = GLiNER.from_pretrained(str(tmp_path / "out"), local_files_only=True)
    model.eval()
    order = [labels_before(line)[0] for line in shown]
    batch = []
    for text, entities, others in ROWS:
        wanted = {label for _, _, label in entities} | set(others)
        labels = next(labels for labels in order if set(labels) == wanted and labels_of_text(shown, labels, text))
        batch.append({"tokenized_text": text.split(), "ner": entities, "ner_labels": labels})
    inputs = model._create_data_collator()(batch)
    with torch.no_grad():
        theirs = model.model(**inputs, **focal, reduction="sum").loss.item()
    loss = next(line["loss"] for line in ours if "loss" in line)
    assert loss == pytest.approx(theirs / len(ROWS), rel=2e-4)


def labels_of_text(shown, labels, text):
    first = text.split()[0]
    return any(labels_before(line)[0] == labels and labels_before(line)[1].startswith(first) for line in shown)


@needs_training
@pytest.mark.parametrize("mode", MODES)
def test_a_trained_folder_answers_the_same_in_the_package(tmp_path, command, mode):
    run(*command, "--span-mode", mode, "-o", tmp_path / "model")
    model = GLiNER.from_pretrained(str(tmp_path / "model"), local_files_only=True)
    assert model.config.span_mode == mode
    tokenizer = model.data_processor.transformer_tokenizer
    assert tokenizer.convert_tokens_to_ids("<<ENT>>") == model.config.class_token_index
    cases = fitting(model, [(text, LABELS[0]) for text in TEXTS])
    threshold = 0.3 if mode == "token_level" else 0.49
    assert compare(model, tmp_path, cases, threshold, False, False) > len(cases) / 2


@pytest.mark.parametrize("mode", MODES)
def test_a_converted_folder_answers_the_same_in_the_package(tmp_path, mode):
    made = make(tmp_path / "made", seed=13, span_mode=mode)
    run("convert", "-m", tmp_path / "made/model", "-o", tmp_path / "model")
    assert (tmp_path / "model/model.safetensors").exists() and not (tmp_path / "model/pytorch_model.bin").exists()
    model = GLiNER.from_pretrained(str(tmp_path / "model"), local_files_only=True)
    wanted, found = (one.model.state_dict() for one in (made, model))
    assert sorted(wanted) == sorted(found) and all(torch.equal(wanted[name], found[name]) for name in wanted)
    cases = fitting(model, [(text, LABELS[0]) for text in TEXTS])
    assert compare(model, tmp_path, cases, 0.3, False, False) > len(cases) / 2


def test_half_precision_loads_in_the_package(tmp_path):
    make(tmp_path / "made", seed=13)
    run("convert", "-m", tmp_path / "made/model", "-o", tmp_path / "model", "--dtype", "bf16")
    model = GLiNER.from_pretrained(str(tmp_path / "model"), local_files_only=True)
    cases = fitting(model, [(text, LABELS[0]) for text in TEXTS])
    assert compare(model, tmp_path, cases, 0.3, False, False) > len(cases) / 2


def test_the_model_that_ships_answers_the_same_in_the_package(tmp_path):
    (tmp_path / "model").symlink_to(ROOT / "models/extract")
    model = GLiNER.from_pretrained(str(ROOT / "models/extract"), local_files_only=True)
    cases = fitting(model, [(text, labels) for text in TEXTS for labels in LABELS])
    assert compare(model, tmp_path, cases, 0.5, False, False) > len(cases) / 2
