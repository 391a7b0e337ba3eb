"""`finetune --task ranking`: what each loss learns, the forms of files, runs that go on, and what is refused."""

import json
import signal

import pytest

from chosen_call import Call
from conftest import WORDS, assert_same, log_of
from models import make_model
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
    "8",
    "--max-steps",
    "120",
    "--save-steps",
    "0",
    "--logging-steps",
    "20",
)


@pytest.fixture(scope="module")
def base(tmp_path_factory):
    return make_model(
        tmp_path_factory.mktemp("base"),
        "lm",
        hidden_dropout_prob=0.0,
        attention_probs_dropout_prob=0.0,
        initializer_range=0.2,
    )


def finetune(deberta, base, rows, out, *words):
    return deberta("finetune", "--task", "ranking", "-m", base, "--train-file", rows, "-o", out, *words)


def queries(scores=False):
    """Of two kinds of words, a query asks for one of the first kind."""
    for number in range(8):
        right, wrong = WORDS[number], WORDS[8 + number]
        row = {"query": "which ?", "positive": f"a {right} .", "negative": f"a {wrong} ."}
        yield row | ({"margin": 3.0} if scores else {})


@pytest.fixture
def rows(tmp_path):
    file = tmp_path / "train.jsonl"
    file.write_text(jsonl(*queries(scores=True)))
    return file


def scores_of(deberta, model):
    """The logits of the documents, by word."""
    done = deberta(
        "rerank", "-m", model, "--activation", "none", "-f", "jsonl", "which ?", *(f"a {word} ." for word in WORDS[:16])
    )
    assert done.returncode == 0, done.stderr
    return {one["index"]: one["score"] for one in json.loads(done.stdout)["results"]}


@pytest.mark.parametrize("loss", ["pointwise", "pairwise", "listwise", "margin-mse"])
def test_every_loss_learns_an_order_that_rerank_gives(deberta, base, rows, tmp_path, loss):
    done = finetune(deberta, base, rows, tmp_path / "out", "--ranking-loss", loss, *LEARN)
    assert done.returncode == 0, done.stderr
    scores = scores_of(deberta, tmp_path / "out")
    assert min(scores[n] for n in range(8)) > max(scores[8 + n] for n in range(8))
    config = json.loads((tmp_path / "out/config.json").read_text())
    assert config["architectures"] == ["DebertaV2ForSequenceClassification"] and list(config["id2label"]) == ["0"]
    apart = [scores[n] - scores[8 + n] for n in range(8)]
    if loss == "margin-mse":
        assert apart == pytest.approx([3.0] * 8, abs=0.5)
    if loss == "pointwise":
        assert min(scores[n] for n in range(8)) > 0 > max(scores[8 + n] for n in range(8))
    assert log_of(tmp_path / "out")[-1 if "loss" in log_of(tmp_path / "out")[-1] else -2]["accuracy"] == 1


def test_the_forms_of_a_file_are_one(deberta, base, tmp_path):
    """The same queries as lists, as positive and negative documents and as a table give the same weights."""
    files = {
        "lists.jsonl": jsonl(
            *({"query": f"{word} ?", "documents": ["a b", "c"], "labels": [1, 0]} for word in WORDS[:4])
        ),
        "sides.jsonl": jsonl(*({"query": f"{word} ?", "pos": ["a b"], "neg": ["c"]} for word in WORDS[:4])),
        "triples.csv": "query,positive,negative\n" + "".join(f"{word} ?,a b,c\n" for word in WORDS[:4]),
        "flat.tsv": "query\tdocument\tlabel\n" + "".join(f"{word} ?\ta b\t1\n{word} ?\tc\t0\n" for word in WORDS[:4]),
        "named.tsv": "asked\tfound\tgrade\n" + "".join(f"{word} ?\ta b\t1\n{word} ?\tc\t0\n" for word in WORDS[:4]),
    }
    made = set()
    for name, text in files.items():
        (tmp_path / name).write_text(text)
        more = ("--input-field", "asked,found", "--label-field", "grade") if name == "named.tsv" else ()
        done = finetune(
            deberta,
            base,
            tmp_path / name,
            tmp_path / name.split(".")[0],
            "--max-steps",
            "2",
            "--batch-size",
            "4",
            *more,
        )
        assert done.returncode == 0, done.stderr
        made.add((tmp_path / name.split(".")[0] / "model.safetensors").read_bytes())
    assert len(made) == 1


@pytest.fixture
def long_rows(tmp_path):
    file = tmp_path / "long.jsonl"
    file.write_text(
        jsonl(
            *(
                {"query": word, "pos": [f"a {word} ."], "neg": [other for other in WORDS if other != word]}
                for word in WORDS
            )
        )
    )
    return file


def test_a_step_has_so_many_documents_and_a_run_that_is_broken_off_draws_the_same(
    deberta, deberta_at, base, long_rows, tmp_path
):
    words = (
        "--max-documents",
        "4",
        "--batch-size",
        "8",
        "--save-steps",
        "1",
        "--logging-steps",
        "1",
        "--max-steps",
        "6",
    )
    whole, cut = (tmp_path / name / "out" for name in ("whole", "cut"))  # a model card has the folder's name
    for folder in (whole, cut):
        folder.parent.mkdir()
    assert finetune(deberta, base, long_rows, whole, *words).returncode == 0
    assert all(line["labels_per_step"] == 8 * 3 for line in log_of(whole) if "loss" in line)  # pairs
    broken = deberta_at(
        Call("rename", "/checkpoint-000004", 1),
        signal.SIGKILL,
        "finetune",
        "--task",
        "ranking",
        "-m",
        base,
        "--train-file",
        long_rows,
        "-o",
        cut,
        *words,
    )
    assert broken.returncode == -signal.SIGKILL and not (cut / "model.safetensors").exists()
    for changed in (("--ranking-loss", "listwise"), ("--max-documents", "5")):
        other = finetune(deberta, base, long_rows, cut, *words, *changed)
        assert other.returncode == 2 and f"{changed[0][2:]}: expected" in other.stderr, other.stderr
    assert finetune(deberta, base, long_rows, cut, *words).returncode == 0
    assert_same(cut, whole)


def test_what_is_left_out_is_told(deberta, base, tmp_path):
    file = tmp_path / "train.jsonl"
    file.write_text(
        jsonl(
            {"query": "a", "documents": ["x", "y"], "labels": [0, 0]},
            {"query": "b", "documents": ["x", "y"], "labels": [0, 2]},
            {"query": "c", "documents": ["x", "y"]},
        )
    )
    done = finetune(deberta, base, file, tmp_path / "out", "--max-steps", "1")
    assert (
        done.returncode == 0
        and "; 1 without a label are left out; 1 queries with equally relevant documents are left out" in done.stderr
    ), done.stderr
    dry = finetune(deberta, base, file, tmp_path / "dry", "--max-steps", "1", "--dry-run")
    assert "queries that teach no order\t1\n" in dry.stdout


def test_the_held_out_queries_choose_the_model_by_their_ndcg(deberta, base, long_rows, tmp_path):
    out = tmp_path / "out"
    done = finetune(
        deberta,
        base,
        long_rows,
        out,
        "--validation-split",
        "0.25",
        "--batch-size",
        "4",
        "--num-train-epochs",
        "2",
        "--logging-steps",
        "1",
    )
    assert done.returncode == 0, done.stderr
    figures = json.loads((out / "all_results.json").read_text())
    evaluations = [line for line in log_of(out) if "eval_ndcg@10" in line]
    assert len(evaluations) == 2
    assert figures["eval_ndcg@10"] == max(line["eval_ndcg@10"] for line in evaluations)
    assert {"eval_mrr@10", "eval_map"} <= set(figures)
    assert "4 examples are held out" in done.stderr


@pytest.mark.parametrize(
    "words, code, message",
    [
        (
            ("--ranking-loss", "pointwise"),
            1,
            (
                "train.jsonl:1: label: expected at most 1 for the pointwise loss, got 2; --ranking-loss pairwise "
                "learns any labels"
            ),
        ),
        (
            ("--ranking-loss", "margin-mse"),
            1,
            "train.jsonl:1: expected a margin, or a score of each document, got neither",
        ),
        (("--max-documents", "1"), 2, "--max-documents: expected 2 or more, or 0 for all, got 1"),
        (("--truncate", "window"), 2, "--truncate: expected auto or right, as documents have no windows,"),
        (("--label-smoothing-factor", "0.1"), 2, "expected 0, as this loss is no cross-entropy"),
        (("--adversarial", "sift"), 2, "--adversarial: expected a task other than ranking"),
        (
            ("--teacher", "BASE"),
            2,
            (
                "--teacher: expected a task other than ranking; write a teacher's scores into the file and learn "
                "them with --ranking-loss margin-mse"
            ),
        ),
        (("--task", "sst-2", "--ranking-loss", "listwise"), 2, "--ranking-loss: expected the task ranking, got sst-2"),
        (("--task", "sst-2", "--max-documents", "3"), 2, "--max-documents: expected the task ranking, got sst-2"),
    ],
)
def test_says_what_is_wrong(deberta, base, tmp_path, words, code, message):
    file = tmp_path / "train.jsonl"
    file.write_text(jsonl({"query": "b", "documents": ["x", "y"], "labels": [0, 2]}))
    words = [str(base) if word == "BASE" else word for word in words]
    task = [] if "--task" in words else ["--task", "ranking"]
    done = deberta(
        "finetune", *task, "-m", base, "--train-file", file, "-o", tmp_path / "out", "--max-steps", "1", *words
    )
    assert done.returncode == code and message in done.stderr, done.stderr
    assert not (tmp_path / "out/model.safetensors").exists()
