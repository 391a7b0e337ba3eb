"""`finetune --teacher`: what is learned from another model's answers, which models can teach, and runs that go on."""

import json
import shutil
import signal

import numpy
import pytest

from chosen_call import Call
from conftest import WORDS, assert_same, log_of
from models import make_model, read_safetensors, write_safetensors
from task_files import jsonl

LEARN = (
    "--learning-rate",
    "0.003",
    "--warmup-steps",
    "0",
    "--lr-scheduler-type",
    "constant",
    "--cls-dropout",
    "0",
    "--batch-size",
    "16",
    "--max-steps",
    "400",
    "--save-steps",
    "0",
)
STILL = {"hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0, "initializer_range": 0.2}


@pytest.fixture
def base(tmp_path):
    return make_model(tmp_path / "base", "lm", **STILL)


@pytest.fixture
def rows(tmp_path):
    """The labels say nothing: half of each text's copies have the other one."""
    file = tmp_path / "train.jsonl"
    file.write_text(jsonl(*({"text": f"a {word} .", "label": "xy"[n % 2]} for word in WORDS for n in range(2))))
    return file


def finetune(deberta, base, rows, out, *words, task="classification"):
    return deberta("finetune", "--task", task, "-m", base, "--train-file", rows, "-o", out, *words)


def scores_of(deberta, model):
    done = deberta(
        "classify", "-m", model, "--top-k", "2", "-f", "jsonl", *(word for text in WORDS for word in [f"a {text} ."])
    )
    assert done.returncode == 0, done.stderr
    return [{one["label"]: one["score"] for one in json.loads(line)["labels"]} for line in done.stdout.splitlines()]


def test_a_student_learns_its_teachers_scores(deberta, base, rows, tmp_path):
    """The teacher names its classes in another order; its scores, not the labels, are what is learned."""
    taught = tmp_path / "taught.jsonl"
    taught.write_text(jsonl(*({"text": f"a {word} .", "label": "yx"[n % 3 == 0]} for n, word in enumerate(WORDS))))
    teacher = make_model(tmp_path / "teacher-base", "sequence", labels=("y", "x"), seed=3, **STILL)
    assert finetune(deberta, teacher, taught, tmp_path / "teacher", *LEARN).returncode == 0
    config = json.loads((tmp_path / "teacher/config.json").read_text())
    assert config["id2label"] == {"0": "y", "1": "x"}
    done = finetune(
        deberta,
        base,
        rows,
        tmp_path / "student",
        "--teacher",
        tmp_path / "teacher",
        "--teacher-weight",
        "1",
        "--teacher-temperature",
        "1",
        *LEARN,
    )
    assert done.returncode == 0, done.stderr
    assert json.loads((tmp_path / "student/config.json").read_text())["id2label"] == {"0": "x", "1": "y"}
    wanted, found = scores_of(deberta, tmp_path / "teacher"), scores_of(deberta, tmp_path / "student")
    assert max(abs(one["x"] - other["x"]) for one, other in zip(wanted, found)) < 0.1
    assert max(one["x"] for one in wanted) - min(one["x"] for one in wanted) > 0.3
    log = log_of(tmp_path / "student")
    assert all({"task_loss", "distillation_loss"} <= set(line) for line in log if "loss" in line)
    assert "hardly moved" not in done.stderr
    last = log[-1] if "loss" in log[-1] else log[-2]
    assert last["loss"] == pytest.approx(last["distillation_loss"], rel=1e-6)
    assert last["distillation_loss"] < 0.02 < 0.6 < last["task_loss"]


@pytest.mark.parametrize(
    "make, words, message",
    [
        (
            lambda folder: make_model(folder, "sequence", labels=("x", "z")),
            (),
            "id2label: expected the classes of the files, x, y, got x, z",
        ),
        (
            lambda folder: make_model(folder, "token", labels=("x", "y")),
            (),
            "head: expected a head of sequences with 2 classes or more, got the head token",
        ),
        (lambda folder: make_model(folder, "lm"), (), "head: expected a head of sequences"),
        (
            lambda folder: make_model(folder, "sequence", labels=("x", "y")),
            ("--adversarial", "sift"),
            "--teacher: expected this or adversarial training, got both",
        ),
    ],
)
def test_a_model_that_cannot_teach_is_refused_before_anything_is_written(
    deberta, base, rows, tmp_path, make, words, message
):
    teacher = make(tmp_path / "teacher")
    for more in ((), ("--dry-run",)):
        done = finetune(deberta, base, rows, tmp_path / "out", "--teacher", teacher, "--max-steps", "1", *words, *more)
        assert done.returncode != 0 and message in done.stderr, done.stderr
        assert not (tmp_path / "out/metrics.jsonl").exists()


def test_a_teacher_of_other_pieces_is_refused(deberta, base, rows, tmp_path):
    teacher = make_model(tmp_path / "teacher", "sequence", labels=("x", "y"))
    (teacher / "added_tokens.json").write_text(
        json.dumps(
            {
                "[MASK]": json.loads((teacher / "config.json").read_text())["vocab_size"] - 1,
                "[NEW]": json.loads((teacher / "config.json").read_text())["vocab_size"],
            }
        )
    )
    done = finetune(deberta, base, rows, tmp_path / "out", "--teacher", teacher, "--max-steps", "1")
    assert (
        done.returncode == 1
        and "as in the tokenizer beside the weights in" in done.stderr
        and "let such a teacher label texts" in done.stderr
    ), done.stderr


def test_options_of_a_teacher_need_one(deberta, base, rows, tmp_path):
    for option, value in (("--teacher-weight", "0.3"), ("--teacher-temperature", "4")):
        done = finetune(deberta, base, rows, tmp_path / "out", option, value)
        assert done.returncode == 2 and f"{option}: expected --teacher as well" in done.stderr, done.stderr


def test_a_run_with_a_teacher_goes_on_with_the_same_bits_and_the_same_teacher(
    deberta, deberta_at, base, rows, tmp_path
):
    teacher = make_model(tmp_path / "teacher", "sequence", labels=("x", "y"))
    words = (
        "--teacher",
        teacher,
        "--batch-size",
        "8",
        "--learning-rate",
        "0.01",
        "--save-steps",
        "1",
        "--logging-steps",
        "1",
    )
    whole, cut = (tmp_path / name / "out" for name in ("whole", "cut"))  # a model card has the folder's name
    for folder in (whole, cut):
        folder.parent.mkdir()
    assert finetune(deberta, base, rows, whole, *words, "--max-steps", "6").returncode == 0
    broken = deberta_at(
        Call("rename", "/checkpoint-000004", 1),
        signal.SIGKILL,
        "finetune",
        "--task",
        "classification",
        "-m",
        base,
        "--train-file",
        rows,
        "-o",
        cut,
        *words,
        "--max-steps",
        "6",
    )
    assert broken.returncode == -signal.SIGKILL and not (cut / "model.safetensors").exists()
    done = finetune(deberta, base, rows, cut, *words, "--max-steps", "6")
    assert done.returncode == 0, done.stderr
    assert_same(cut, whole)
    shutil.copy(
        make_model(tmp_path / "other", "sequence", labels=("x", "y"), seed=9) / "model.safetensors",
        teacher / "model.safetensors",
    )
    done = finetune(deberta, base, rows, cut, *words, "--max-steps", "6")
    assert done.returncode == 2 and "teacher" in done.stderr, done.stderr


def first_line(out):
    return next(line for line in log_of(out) if "distillation_loss" in line)


def test_classes_are_matched_by_name_whatever_the_students_order(deberta, tmp_path):
    """The student's classifier has the task's classes in another order; it is the same function, and answers as its
    teacher does."""
    teacher = make_model(tmp_path / "teacher", "sequence", labels=("entailment", "neutral", "contradiction"), **STILL)
    student = make_model(tmp_path / "student", "sequence", labels=("neutral", "contradiction", "entailment"), **STILL)
    tensors = {name: numpy.array(array) for name, array in read_safetensors(teacher / "model.safetensors").items()}
    for name in ("classifier.weight", "classifier.bias"):
        tensors[name] = tensors[name][[1, 2, 0]].copy()
    write_safetensors(student / "model.safetensors", tensors)
    rows = tmp_path / "train.jsonl"
    rows.write_text(
        jsonl(
            *(
                {
                    "premise": f"a {word} .",
                    "hypothesis": f"a {WORDS[n - 1]} .",
                    "label": ("entailment", "neutral", "contradiction")[n % 3],
                }
                for n, word in enumerate(WORDS)
            )
        )
    )
    done = finetune(
        deberta,
        student,
        rows,
        tmp_path / "out",
        "--teacher",
        teacher,
        "--max-steps",
        "1",
        "--logging-steps",
        "1",
        "--cls-dropout",
        "0",
        task="mnli",
    )
    assert done.returncode == 0, done.stderr
    assert json.loads((tmp_path / "out/config.json").read_text())["id2label"]["0"] == "neutral"
    assert first_line(tmp_path / "out")["distillation_loss"] < 1e-6


def test_a_teacher_is_neither_dropped_nor_added_on_the_way(deberta, deberta_at, base, rows, tmp_path):
    teacher = make_model(tmp_path / "teacher", "sequence", labels=("x", "y"))
    words = ("--batch-size", "8", "--save-steps", "1", "--max-steps", "4")
    for name, first, then, message in (
        ("dropped", ("--teacher", teacher), (), "teacher: expected what the run began with"),
        ("added", (), ("--teacher", teacher), "teacher: expected none, since the run began without one"),
    ):
        out = tmp_path / name
        assert (
            deberta_at(
                Call("rename", "/checkpoint-000003", 1),
                signal.SIGKILL,
                "finetune",
                "--task",
                "classification",
                "-m",
                base,
                "--train-file",
                rows,
                "-o",
                out,
                *words,
                *first,
            ).returncode
            == -signal.SIGKILL
        )
        done = finetune(deberta, base, rows, out, *words, *then)
        assert done.returncode == 2 and message in done.stderr, done.stderr
