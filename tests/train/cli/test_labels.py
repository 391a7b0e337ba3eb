"""`finetune` on labels of several numbers: scores, shares of classes; and on rows that weigh more than others."""

import json
import math

import numpy
import pytest

from conftest import WORDS, log_of, weights_of
from models import make_model
from task_files import jsonl

FAST = ("--learning-rate", "0.003", "--warmup-steps", "0", "--lr-scheduler-type", "constant", "--cls-dropout", "0")
TEXTS = [f"a {word} ." for word in WORDS]
SCORES = [{"text": text, "grammar": n / 8, "style": n % 3 - 1.0} for n, text in enumerate(TEXTS)]
SHARES = [
    {"text": text, "label": {"pos": share, "neg": 1 - share}} for text, share in zip(TEXTS, [0.75, 0.25, 1.0, 0.5] * 4)
]


@pytest.fixture(scope="module")
def base(tmp_path_factory):
    return make_model(
        tmp_path_factory.mktemp("base"),
        "lm",
        hidden_dropout_prob=0.0,
        attention_probs_dropout_prob=0.0,
        initializer_range=0.2,
    )


def written(path, rows):
    path.write_text(jsonl(*rows))
    return path


def as_csv(path, rows):
    names = list(rows[0])
    path.write_text(
        "\n".join(
            [
                ",".join(names),
                *(",".join("" if row[name] is None else str(row[name]) for name in names) for row in rows),
            ]
        )
        + "\n"
    )
    return path


def finetune(deberta, base, file, out, *words, task="regression"):
    return deberta("finetune", "--task", task, "-m", base, "--train-file", file, "-o", out, *words)


def eval_of(deberta, model, file, *words, task="regression"):
    done = deberta("eval", "--task", task, "-m", model, file, "-f", "json", "--bootstrap", "0", *words)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)["metrics"]


def figures_of(out):
    return {
        name[5:]: value
        for name, value in json.loads((out / "all_results.json").read_text()).items()
        if name.startswith("eval_")
    }


def answers_of(deberta, model, *texts):
    is_regression = json.loads((model / "config.json").read_text())["problem_type"] == "regression"
    done = deberta(
        "classify", "-m", model, "-f", "jsonl", *(() if is_regression else ("--top-k", "9")), *(texts or TEXTS)
    )
    assert done.returncode == 0, done.stderr
    return [{one["label"]: one["score"] for one in json.loads(line)["labels"]} for line in done.stdout.splitlines()]


def log_loss_of(golds, scores):
    return numpy.mean(
        [-sum(share * math.log(score[name]) for name, share in gold.items()) for gold, score in zip(golds, scores)]
    )


TWO = ("--label-field", "style,grammar")


def test_several_scores_are_learned_evaluated_and_answered_by_their_names(deberta, base, tmp_path):
    out, file, dev = tmp_path / "out", as_csv(tmp_path / "rows.csv", SCORES), as_csv(tmp_path / "dev.csv", SCORES[::-1])
    done = finetune(
        deberta,
        base,
        file,
        out,
        *TWO,
        "--validation-file",
        dev,
        "--batch-size",
        "16",
        "--max-steps",
        "80",
        "--logging-steps",
        "1",
        "--best-metric",
        "pearson_grammar",
        *FAST,
    )
    assert done.returncode == 0, done.stderr
    config = json.loads((out / "config.json").read_text())
    assert config["id2label"] == {"0": "style", "1": "grammar"} and config["problem_type"] == "regression"
    losses = [line["loss"] for line in log_of(out) if "loss" in line]
    assert losses[-1] < losses[0] / 2 and all(line["labels_per_step"] == 32 for line in log_of(out) if "loss" in line)
    answers = answers_of(deberta, out)
    assert all(list(answer) == ["style", "grammar"] for answer in answers)
    expected = {}
    for name in ("style", "grammar"):
        gold, found = numpy.array([row[name] for row in SCORES]), numpy.array([answer[name] for answer in answers])
        expected |= {f"pearson_{name}": numpy.corrcoef(gold, found)[0, 1], f"mse_{name}": ((gold - found) ** 2).mean()}
    figures = figures_of(out)
    for name, value in expected.items():
        assert figures[name] == pytest.approx(value, abs=1e-5), name
    for name in ("pearson", "spearmanr", "mse"):
        assert figures[name] == pytest.approx((figures[name + "_style"] + figures[name + "_grammar"]) / 2, abs=1e-9)
    assert figures == eval_of(deberta, out, dev, *TWO)
    turned = eval_of(deberta, out, dev, "--label-field", "grammar,style")
    assert all(turned[name] == pytest.approx(value, abs=1e-12) for name, value in figures.items())
    best = max(
        (line for line in log_of(out) if "eval_pearson_grammar" in line), key=lambda line: line["eval_pearson_grammar"]
    )
    assert figures["pearson_grammar"] == best["eval_pearson_grammar"]
    table = deberta("classify", "-m", out, "-f", "tsv", "--no-header", TEXTS[0]).stdout.rstrip("\n").split("\t")
    assert table[:4:2] == ["style", "grammar"], table
    predictions = [json.loads(line) for line in (out / "eval_predictions.jsonl").read_text().splitlines()]
    assert [row["gold"] for row in predictions] == [
        {"style": row["style"], "grammar": row["grammar"]} for row in SCORES[::-1]
    ]
    assert [row["predicted"]["grammar"] for row in predictions] == pytest.approx(
        [answer["grammar"] for answer in answers[::-1]], abs=1e-5
    )
    assert "The largest errors" in (out / "run.html").read_text()
    one = deberta("eval", "--task", "regression", "-m", out, dev, "--label-field", "style")
    assert one.returncode == 1
    assert (
        "expected a model with one score for regression, got 2 classes; name a column or key for each score of "
        "the model with --label-field"
    ) in one.stderr


def test_several_scores_of_every_row_are_answered_out_of_their_fold(deberta, base, tmp_path):
    out, file = tmp_path / "out", written(tmp_path / "rows.jsonl", SCORES)
    for fold in ("1/2", "2/2"):
        done = finetune(deberta, base, file, out, *TWO, "--fold", fold, "--max-steps", "2")
        assert done.returncode == 0, done.stderr
    joined = [json.loads(line) for line in (out / "out_of_fold.jsonl").read_text().splitlines()]
    assert [row["gold"] for row in joined] == [{"style": row["style"], "grammar": row["grammar"]} for row in SCORES]
    assert all(set(row["predicted"]) == {"style", "grammar"} for row in joined)
    assert {"eval_mse_style", "eval_mse_style_std", "eval_pearson_by_fold"} <= set(
        json.loads((out / "all_results.json").read_text())
    )


@pytest.mark.parametrize(
    "task, words, message",
    [
        ("regression", ("--label-field", "style,gramar"), "columns named text or sentence, style, gramar, got"),
        (
            "regression",
            ("--label-field", "style,Style"),
            "--label-field: expected names that differ in more than capitals, got style and Style",
        ),
        (
            "multi-label",
            TWO,
            (
                "--label-field: expected one name for the task multi-label, got 2; only regression (one for each "
                "score) and classification (one for the share of each class) take several"
            ),
        ),
        ("classification", TWO, "rows.csv:2: style: expected a share of 0 or more, got -1"),
        (
            "regression",
            ("--label-field", "style,std", "--fold", "1/2"),
            "--label-field: expected names that differ from those of the figures over the folds, got std",
        ),
        ("regression", ("--label-field", "style,style_std", "--fold", "1/2"), "got style_std"),
        (
            "ner",
            ("--weight-field", "w"),
            (
                "--weight-field: expected a task whose rows have a class, classes or scores, got ner, whose rows "
                "are not single samples"
            ),
        ),
        ("race", ("--weight-field", "w"), "--weight-field: expected a task whose rows"),
        ("regression", (*TWO, "--weight-field", "w"), "columns named text or sentence, style, grammar, w, got"),
        (
            "regression",
            (*TWO, "--weight-field", "grammar", "--adversarial", "sift", "--sift-compat", "original"),
            "--weight-field: expected --sift-compat corrected",
        ),
    ],
)
def test_fields_that_cannot_be_are_refused(deberta, base, tmp_path, task, words, message):
    done = finetune(
        deberta, base, as_csv(tmp_path / "rows.csv", SCORES), tmp_path / "out", *words, "--dry-run", task=task
    )
    assert done.returncode != 0 and message in done.stderr, done.stderr


def test_a_row_without_one_of_its_scores_is_named_or_left_out(deberta, base, tmp_path):
    file = as_csv(
        tmp_path / "rows.csv",
        [*SCORES, {"text": "x", "grammar": 1, "style": None}, {"text": "y", "grammar": None, "style": None}],
    )
    done = finetune(deberta, base, file, tmp_path / "out", *TWO, "--dry-run")
    assert (
        done.returncode == 1
        and (
            "rows.csv:18: style: expected a number, since grammar has one, got none; --on-bad-row report trains on "
            "the other rows"
        )
        in done.stderr
    ), done.stderr
    done = finetune(deberta, base, file, tmp_path / "out", *TWO, "--dry-run", "--on-bad-row", "report")
    assert done.returncode == 0 and "rows.csv:18: style" in done.stderr, done.stderr
    assert "samples\t16\n" in done.stdout
    assert "without a label\t1\n" in done.stdout
    assert "scores\tstyle, grammar\n" in done.stdout


def test_a_teacher_of_several_scores_is_found_by_their_names(deberta, base, tmp_path):
    file = written(tmp_path / "rows.jsonl", SCORES)
    other = make_model(tmp_path / "other", "sequence", labels=("style", "rest"), problem_type="regression")
    done = finetune(deberta, base, file, tmp_path / "out", *TWO, "--teacher", other, "--dry-run")
    assert (
        done.returncode == 1
        and "id2label: expected the scores of the files, style, grammar, got style, rest" in done.stderr
    ), done.stderr
    done = finetune(deberta, base, file, tmp_path / "out", "--label-field", "style", "--teacher", other, "--dry-run")
    assert done.returncode == 1 and "head: expected one score, got 2" in done.stderr, done.stderr
    teacher = make_model(
        tmp_path / "teacher", "sequence", labels=("grammar", "style"), problem_type="regression", seed=3
    )
    done = finetune(
        deberta,
        base,
        file,
        tmp_path / "out",
        *TWO,
        "--teacher",
        teacher,
        "--teacher-weight",
        "1",
        "--batch-size",
        "16",
        "--max-steps",
        "300",
        "--save-steps",
        "0",
        *FAST,
    )
    assert done.returncode == 0, done.stderr
    wanted, found = answers_of(deberta, teacher), answers_of(deberta, tmp_path / "out")
    assert list(wanted[0]) == ["grammar", "style"] and list(found[0]) == ["style", "grammar"]
    off = [abs(one[name] - other[name]) for one, other in zip(wanted, found) for name in one]
    apart = [abs(one["grammar"] - one["style"]) for one in wanted]
    assert max(off) < max(apart) / 2, (off, apart)


def test_shares_are_the_same_in_columns_and_in_objects(deberta, base, tmp_path):
    objects = written(tmp_path / "rows.jsonl", SHARES)
    columns = as_csv(tmp_path / "rows.csv", [{"text": row["text"], **row["label"]} for row in SHARES])
    dev = written(tmp_path / "dev.jsonl", [*SHARES[::-1], {"text": "a hard label", "label": "pos"}])
    words = ("--batch-size", "16", "--max-steps", "20", "--logging-steps", "1", *FAST)
    done = finetune(
        deberta, base, objects, tmp_path / "objects", "--validation-file", dev, *words, task="classification"
    )
    assert done.returncode == 0, done.stderr
    done = finetune(
        deberta, base, columns, tmp_path / "columns", "--label-field", "pos,neg", *words, task="classification"
    )
    assert done.returncode == 0, done.stderr
    assert [line["loss"] for line in log_of(tmp_path / "objects") if "loss" in line] == [
        line["loss"] for line in log_of(tmp_path / "columns")
    ]
    assert weights_of(tmp_path / "objects" / "checkpoint-000020") == weights_of(
        tmp_path / "columns" / "checkpoint-000020"
    )
    assert json.loads((tmp_path / "objects/config.json").read_text())["id2label"] == {"0": "neg", "1": "pos"}
    figures = figures_of(tmp_path / "objects")
    assert figures == eval_of(deberta, tmp_path / "objects", dev, "--metrics", ",".join(figures), task="classification")
    golds = [row["label"] for row in SHARES] + [{"pos": 1, "neg": 0}]
    scores = answers_of(deberta, tmp_path / "objects", *TEXTS, "a hard label")
    assert figures["log_loss"] == pytest.approx(log_loss_of(golds, scores), abs=1e-5)
    # In the order of the classes, neg is the first of equal shares.
    right = ["neg" if gold["neg"] >= gold["pos"] else "pos" for gold in golds]
    assert figures["accuracy"] == numpy.mean([max(score, key=score.get) == name for score, name in zip(scores, right)])
    alike = eval_of(
        deberta,
        tmp_path / "columns",
        columns,
        "--label-field",
        "pos,neg",
        "--metrics",
        "log_loss",
        task="classification",
    )
    assert alike["log_loss"] == pytest.approx(
        log_loss_of(golds[:-1], answers_of(deberta, tmp_path / "columns")), abs=1e-5
    )


def test_shares_that_are_none_are_named(deberta, base, tmp_path):
    file = written(tmp_path / "rows.jsonl", [*SHARES, {"text": "x", "label": {"pos": 0.5, "neg": 0.4}}])
    done = finetune(deberta, base, file, tmp_path / "out", "--dry-run", task="classification")
    assert (
        done.returncode == 1
        and "rows.jsonl:17: expected shares of classes that sum to 1 within .001, got 0.9" in done.stderr
    ), done.stderr
    file = written(tmp_path / "rows.jsonl", [{"text": "x", "label": [0.5, 0.5]}])
    done = finetune(deberta, base, file, tmp_path / "out", "--dry-run", task="classification")
    assert done.returncode == 1 and "label: expected one label, got a list" in done.stderr, done.stderr


def weighted(rows, weights):
    return [row | {"w": weight} for row, weight in zip(rows, weights)]


WEIGHTED = {
    "classification": (
        [{"text": text, "label": "abc"[n % 3]} for n, text in enumerate(TEXTS)],
        ("--class-weights", "1,2,0.5", "--label-smoothing-factor", "0.1"),
    ),
    "shares": (SHARES, ("--class-weights", "1,3")),
    "regression": (SCORES, TWO),
    "multi-label": ([{"text": text, "labels": list("abc"[: n % 4])} for n, text in enumerate(TEXTS)], ()),
}


@pytest.mark.parametrize("kind", WEIGHTED)
def test_a_row_of_weight_two_is_that_row_twice(deberta, base, tmp_path, kind):
    """In a step of all rows, and in its parts; a row of weight 0 is none, to the bit."""
    rows, words = WEIGHTED[kind]
    task = "classification" if kind == "shares" else kind
    weights = [n // 2 % 3 for n in range(16)]
    losses = {}
    for name, its, more in (
        ("weighted", weighted(rows, weights), ("--weight-field", "w")),
        ("parts", weighted(rows, weights), ("--weight-field", "w", "--gradient-accumulation-steps", "8")),
        ("without", [row for row in weighted(rows, weights) if row["w"] > 0], ("--weight-field", "w")),
        ("twice", [row for row, weight in zip(rows, weights) for _ in range(weight)], ()),
    ):
        done = finetune(
            deberta,
            base,
            written(tmp_path / f"{name}.jsonl", its),
            tmp_path / name,
            "--batch-size",
            "16",
            "--max-steps",
            "4",
            "--logging-steps",
            "1",
            *words,
            *more,
            *FAST,
            task=task,
        )
        assert done.returncode == 0, done.stderr
        assert ("; 6 of weight 0 are left out" in done.stderr) == (name in ("weighted", "parts")), done.stderr
        losses[name] = [line["loss"] for line in log_of(tmp_path / name)]
    assert losses["weighted"] == losses["without"]
    assert weights_of(tmp_path / "weighted") == weights_of(tmp_path / "without")
    assert losses["parts"] == pytest.approx(losses["weighted"], rel=2e-6)
    # Class weights of shares are of a mean over rows, as torch has it; two rows have the mean of one of them twice.
    assert losses["twice"] == pytest.approx(losses["weighted"], rel=2e-6)


def test_evaluations_and_held_out_rows_have_no_weights(deberta, base, tmp_path):
    rows = WEIGHTED["classification"][0]
    file, dev = (
        written(tmp_path / "rows.jsonl", weighted(rows, [n % 3 for n in range(16)])),
        written(tmp_path / "dev.jsonl", rows[::-1]),
    )
    done = finetune(
        deberta,
        base,
        file,
        tmp_path / "out",
        "--validation-file",
        dev,
        "--weight-field",
        "w",
        "--max-steps",
        "2",
        *FAST,
        task="classification",
    )
    assert done.returncode == 0, done.stderr
    answered = [json.loads(line) for line in (tmp_path / "out/eval_predictions.jsonl").read_text().splitlines()]
    assert len(answered) == 16
    assert figures_of(tmp_path / "out")["accuracy"] == numpy.mean([row["gold"] == row["predicted"] for row in answered])
    done = finetune(
        deberta,
        base,
        file,
        tmp_path / "split",
        "--validation-split",
        "0.5",
        "--weight-field",
        "w",
        "--max-steps",
        "1",
        *FAST,
        task="classification",
    )
    assert done.returncode == 0, done.stderr
    assert len((tmp_path / "split/eval_predictions.jsonl").read_text().splitlines()) == 8


def test_a_run_goes_on_with_the_same_bits_and_the_same_weights(deberta, base, tmp_path):
    kinds = {"scores": (SCORES, TWO, "regression"), "shares": (SHARES, (), "classification")}
    for kind, (rows, words, task) in kinds.items():
        (tmp_path / kind).mkdir()
        file = written(tmp_path / "rows.jsonl", weighted(rows, [0.5 + n % 3 for n in range(16)]))
        words = (
            *words,
            "--weight-field",
            "w",
            "--batch-size",
            "8",
            "--gradient-accumulation-steps",
            "2",
            "--logging-steps",
            "1",
            "--resume-override",
            "max-steps",
            *FAST,
        )
        for name, steps in (("whole", "5"), ("parts", "2"), ("parts", "5")):
            done = finetune(deberta, base, file, tmp_path / kind / name, "--max-steps", steps, *words, task=task)
            assert done.returncode == 0, done.stderr
        assert weights_of(tmp_path / kind / "whole") == weights_of(tmp_path / kind / "parts")
        assert log_of(tmp_path / kind / "whole") == log_of(tmp_path / kind / "parts")
        written(file, weighted(rows, [0.5 + n % 2 for n in range(16)]))
        done = finetune(deberta, base, file, tmp_path / kind / "parts", "--max-steps", "9", *words, task=task)
        assert (
            done.returncode == 2 and "training files and tokenizer: expected what the run began with" in done.stderr
        ), done.stderr
