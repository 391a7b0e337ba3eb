"""`eval` with metrics that are asked for, thresholds and slices: every figure against the rows that `classify`
answers."""

import json
import math

import numpy
import pytest

from models import make_model

LABELS = ("1", "2", "3")


@pytest.fixture(scope="module")
def stars(tmp_path_factory):
    return make_model(tmp_path_factory.mktemp("stars"), "sequence", labels=LABELS)


@pytest.fixture(scope="module")
def sentiment(tmp_path_factory):
    return make_model(tmp_path_factory.mktemp("sentiment"), "sequence", labels=("negative", "positive"), seed=4)


@pytest.fixture
def rows():
    """Some texts come twice, with other labels: their scores are equal."""
    return [
        {
            "text": f"text {n % 90}",
            "label": LABELS[n * n % 7 % 3],
            "topic": ["news", "mail", None][n * 7 % 11 % 3],
            "long": n % 4 == 0,
            "id": n,
        }
        for n in range(150)
    ]


@pytest.fixture
def file(tmp_path, rows):
    path = tmp_path / "rows.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def result(done):
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout, parse_constant=lambda name: pytest.fail(f"{name} is no JSON"))


def classified(deberta, model, file, *words):
    """Of each row: the score of every class."""
    done = deberta("classify", "-m", model, "-i", file, "--top-k", "3", "-f", "jsonl", *words)
    assert done.returncode == 0, done.stderr
    return [
        {entry["label"]: entry["score"] for entry in json.loads(line)["labels"]} for line in done.stdout.splitlines()
    ]


def cuts(scores, golds):
    """(threshold, rows answered, of them right) for each distinct score."""
    return [
        (
            threshold,
            sum(score >= threshold for score in scores),
            sum(score >= threshold and gold for score, gold in zip(scores, golds)),
        )
        for threshold in sorted(set(scores))
    ]


def kappa(gold, answers):
    observed = numpy.mean((gold - answers) ** 2)
    return 1 - observed / numpy.mean((gold[:, None] - answers[None, :]) ** 2)


def test_metrics_in_place_of_the_tasks_own(deberta, stars, file, rows):
    names = "matthews_correlation,quadratic_weighted_kappa,log_loss,precision,recall,f_beta,f_beta_macro"
    found = result(
        deberta(
            "eval",
            "--task",
            "classification",
            "-m",
            stars,
            file,
            "--metrics",
            names,
            "--beta",
            "2",
            "--positive-label",
            "3",
            "-f",
            "json",
            "--bootstrap",
            "9",
        )
    )
    assert list(found["metrics"]) == [
        "matthews_correlation",
        "quadratic_weighted_kappa",
        "log_loss",
        "precision",
        "recall",
        "f2",
        "f2_macro",
    ]
    assert found["settings"] == {"beta": 2, "positive-label": "3"} and set(found["intervals"]) == set(found["metrics"])
    logits = classified(deberta, stars, file, "--activation", "none")
    gold, answers = (
        numpy.array([int(row["label"]) for row in rows]),
        numpy.array([int(max(row, key=row.get)) for row in logits]),
    )
    right, answered, positives = sum((gold == 3) & (answers == 3)), sum(answers == 3), sum(gold == 3)
    assert 0 < right < answered
    values = numpy.array([[row[label] for label in LABELS] for row in logits])
    losses = numpy.log(numpy.exp(values).sum(axis=1)) - values[numpy.arange(len(gold)), gold - 1]
    expected = {
        "quadratic_weighted_kappa": kappa(gold, answers),
        "log_loss": losses.mean(),
        "precision": right / answered,
        "recall": right / positives,
        "f2": 5 * right / (4 * positives + answered),
    }
    for name, value in expected.items():
        assert found["metrics"][name] == pytest.approx(value, abs=1e-6 if name == "log_loss" else 1e-12), name


def test_thresholds_are_those_of_the_scores_that_people_see(deberta, sentiment, tmp_path, rows):
    file = tmp_path / "dev.tsv"
    labels = [int(row["label"]) % 2 for row in rows]
    file.write_text("sentence\tlabel\n" + "".join(f"{row['text']}\t{label}\n" for row, label in zip(rows, labels)))
    done = deberta(
        "eval",
        "--task",
        "sst-2",
        "-m",
        sentiment,
        file,
        "--best-threshold",
        "--metrics",
        "roc_auc",
        "--recall-at-precision",
        ".35,0.9",
        "--precision-at-recall",
        "0.5",
        "-f",
        "json",
        "--bootstrap",
        "0",
        "--digits",
        "3",
    )
    found = result(done)["metrics"]
    assert "note: settings: positive-label 1" in done.stderr
    scores = [row["positive"] for row in classified(deberta, sentiment, file, "--input-field", "sentence")]
    assert len(set(scores)) < len(scores), "ties are wanted"
    of, positives = cuts(scores, labels), sum(labels)
    pairs = [
        (high > low) + (high == low) / 2
        for high, gold in zip(scores, labels)
        for low, other in zip(scores, labels)
        if gold and not other
    ]
    assert found["roc_auc"] == pytest.approx(sum(pairs) / len(pairs), abs=6e-4)
    precision = {threshold: right / answered for threshold, answered, right in of}
    recall = {threshold: right / positives for threshold, _, right in of}
    f1 = {threshold: 2 * right / (positives + answered) for threshold, answered, right in of}
    best = max(f1, key=lambda threshold: (f1[threshold], threshold))
    assert found["threshold@best_f1/1"] == best and found["f1@best_f1/1"] == pytest.approx(f1[best], abs=6e-4)
    allowed = [threshold for threshold in precision if precision[threshold] >= 0.35]
    at = max(allowed, key=lambda threshold: (recall[threshold], precision[threshold]))
    assert found["threshold@precision=0.35/1"] == at
    assert found["recall@precision=0.35/1"] == pytest.approx(recall[at], abs=6e-4)
    at = max(
        (threshold for threshold in recall if recall[threshold] >= 0.5),
        key=lambda threshold: (precision[threshold], recall[threshold]),
    )
    assert found["threshold@recall=0.5/1"] == at
    assert found["precision@recall=0.5/1"] == pytest.approx(precision[at], abs=6e-4)
    if max(precision.values()) < 0.9:
        assert found["threshold@precision=0.9/1"] is None
        assert "threshold@precision=0.9/1: not defined: no threshold has this precision" in done.stderr


def test_each_class_of_many_has_its_thresholds(deberta, tmp_path, rows):
    model = make_model(tmp_path / "model", "sequence", labels=LABELS, problem_type="multi_label_classification")
    file = tmp_path / "rows.jsonl"
    sets = [[label for i, label in enumerate(LABELS) if (n >> i) % 2] for n in range(len(rows))]
    file.write_text(
        "".join(json.dumps({"text": row["text"], "labels": labels}) + "\n" for row, labels in zip(rows, sets))
    )
    words = [
        "eval",
        "--task",
        "multi-label",
        "-m",
        model,
        file,
        "--metrics",
        "log_loss,f_beta_micro",
        "--beta",
        "0.5",
        "-f",
        "json",
        "--bootstrap",
        "0",
    ]
    found = result(deberta(*words, "--best-threshold"))["metrics"]
    logits = classified(deberta, model, file, "--activation", "none")
    losses = [
        math.log1p(math.exp(-row[label] if label in labels else row[label]))
        for row, labels in zip(logits, sets)
        for label in LABELS
    ]
    assert found["log_loss"] == pytest.approx(sum(losses) / len(losses), abs=1e-6)
    answers = [{label for label in LABELS if row[label] >= 0} for row in logits]
    right = sum(len(answer & set(labels)) for answer, labels in zip(answers, sets))
    assert found["f0.5_micro"] == pytest.approx(1.25 * right / (0.25 * sum(map(len, sets)) + sum(map(len, answers))))
    scores = classified(deberta, model, file)
    for label in LABELS:
        golds = [label in labels for labels in sets]
        f = {
            threshold: 1.25 * right / (0.25 * sum(golds) + answered)
            for threshold, answered, right in cuts([row[label] for row in scores], golds)
        }
        best = max(f, key=lambda threshold: (f[threshold], threshold))
        assert found[f"threshold@best_f0.5/{label}"] == best
        assert found[f"f0.5@best_f0.5/{label}"] == pytest.approx(f[best])
    one = result(deberta(*words, "--best-threshold", "--positive-label", "2"))
    assert one["settings"]["positive-label"] == "2"
    assert {name.rpartition("/")[2] for name in one["metrics"] if "@" in name} == {"2"}


def test_slices_have_the_metrics_of_their_rows(deberta, stars, file, rows, tmp_path):
    words = ["eval", "--task", "classification", "-m", stars, "--bootstrap", "20"]
    done = deberta(*words, file, "--by", "topic", "-f", "json")
    found = result(done)
    by = found["by"]
    topics = [row["topic"] for row in rows]
    assert by["column"] == "topic" and by["rows_without"] == topics.count(None) > 0
    assert [(one["value"], one["rows"]) for one in by["slices"]] == sorted(
        ((topic, topics.count(topic)) for topic in ("mail", "news")), key=lambda pair: (-pair[1], pair[0])
    )
    assert f"note: {topics.count(None)} of 150 rows that count have no topic and are in no slice" in done.stderr
    for one in by["slices"]:
        alone = tmp_path / f"{one['value']}.jsonl"
        alone.write_text("".join(json.dumps(row) + "\n" for row in rows if row["topic"] == one["value"]))
        expected = result(deberta(*words, alone, "-f", "json"))
        assert (one["metrics"], one["intervals"]) == (expected["metrics"], expected["intervals"])
    plain = deberta(*words, file, "--by", "topic").stdout.splitlines()
    assert plain[0] == "slice\trows\tmetric\tvalue\tlow\thigh" and plain[1].startswith("\t150\taccuracy\t")
    first = by["slices"][0]
    assert plain[3].split("\t")[:4] == [first["value"], str(first["rows"]), "accuracy", plain[3].split("\t")[3]]
    assert float(plain[3].split("\t")[3]) == pytest.approx(first["metrics"]["accuracy"])
    truths = result(deberta(*words, file, "--by", "long", "-f", "json"))["by"]
    assert [one["value"] for one in truths["slices"]] == ["false", "true"] and truths["rows_without"] == 0


def test_slices_of_predictions_and_of_choices(deberta, tmp_path):
    (tmp_path / "gold.tsv").write_text("sentence\tlabel\tsource\na\t1\tx\nb\t0\ty\nc\t1\tx\n")
    (tmp_path / "answers.tsv").write_text("index\tprediction\n0\t1\n1\t1\n2\t0\n")
    done = deberta(
        "eval",
        "--task",
        "sst-2",
        tmp_path / "gold.tsv",
        "-p",
        tmp_path / "answers.tsv",
        "--by",
        "source",
        "--metrics",
        "accuracy,f1,precision",
        "-f",
        "json",
        "--bootstrap",
        "0",
    )
    slices = result(done)["by"]["slices"]
    assert [one["metrics"] for one in slices] == [
        {"accuracy": 0.5, "f1": pytest.approx(2 / 3), "precision": 1},
        {"accuracy": 0, "f1": 0, "precision": 0},
    ]
    (tmp_path / "race.jsonl").write_text(
        "".join(
            json.dumps(
                {"article": "P.", "level": level, "questions": ["Q?"], "options": [["a", "b"]], "answers": ["A"]}
            )
            + "\n"
            for level in ("high", "middle")
        )
    )
    (tmp_path / "answers.tsv").write_text("index\tprediction\n0\tA\n1\tB\n")
    done = deberta(
        "eval", "--task", "race", tmp_path / "race.jsonl", "-p", tmp_path / "answers.tsv", "--by", "level", "-f", "json"
    )
    assert {one["value"]: one["metrics"]["accuracy"] for one in result(done)["by"]["slices"]} == {
        "high": 1,
        "middle": 0,
    }


def test_a_column_that_is_not_there_or_has_too_many_values_is_refused(deberta, stars, file, tmp_path):
    done = deberta("eval", "--task", "classification", "-m", stars, file, "--by", "topik")
    assert done.returncode == 1
    assert done.stdout == ""
    assert (
        "rows.jsonl:1: expected a field named topik in this row or another, got text, label, topic, long, id; "
        "name one that the file has with --by"
    ) in done.stderr
    for more, option in (["--input-field", "texd"], "--input-field"), (["--label-field", "topik"], "--label-field"):
        done = deberta("eval", "--task", "classification", "-m", stars, file, *more)
        assert done.returncode == 1 and f"; name one that the file has with {option}" in done.stderr, done.stderr
    done = deberta("eval", "--task", "classification", "-m", stars, file, "--by", "id")
    assert (
        done.returncode == 1
        and done.stdout == ""
        and 'expected at most 100 different values to group the metrics by, got one more: "100"' in done.stderr
    ), done.stderr


def test_what_is_not_defined_is_null(deberta, tmp_path):
    (tmp_path / "gold.tsv").write_text("sentence\tlabel\na\t0\nb\t0\n")
    (tmp_path / "answers.tsv").write_text("index\tprediction\n0\t0\n1\t0\n")
    done = deberta(
        "eval",
        "--task",
        "sst-2",
        tmp_path / "gold.tsv",
        "-p",
        tmp_path / "answers.tsv",
        "--metrics",
        "precision,recall,quadratic_weighted_kappa",
        "-f",
        "json",
    )
    assert result(done)["metrics"] == {"precision": None, "recall": None, "quadratic_weighted_kappa": None}
    assert "note: quadratic_weighted_kappa: not defined: all rows and all answers are of one class" in done.stderr


@pytest.mark.parametrize(
    "words, message",
    [
        (
            ["--metrics", "bleu"],
            "--metrics: expected some of accuracy, f1_macro, f1, precision, recall, f_beta, roc_auc, "
            "average_precision, f_beta_macro, matthews_correlation, quadratic_weighted_kappa, log_loss for the "
            "task "
            'classification, got "bleu"',
        ),
        (
            ["--metrics", "f1"],
            "--positive-label: expected the class that the figures are about, one of 1, 2, 3, got none",
        ),
        (["--metrics", "f1", "--positive-label", "4"], '--positive-label: expected one of the labels 1, 2, 3, got "4"'),
        (["--best-threshold"], "--positive-label: expected the class"),
        (["--metrics", "f_beta_macro"], "--beta: expected a number for f_beta, got none"),
        (
            ["--beta", "2"],
            (
                "--beta: expected a metric or a threshold that uses beta, got neither; name f_beta with --metrics or "
                "ask for --best-threshold"
            ),
        ),
        (["--best-threshold", "--positive-label", "1", "--beta", "0"], "--beta: expected a number above 0, got 0"),
        (
            ["--recall-at-precision", "x", "--positive-label", "1"],
            '--recall-at-precision: expected numbers between commas, got "x"',
        ),
        (
            ["--recall-at-precision", "95", "--positive-label", "1"],
            "--recall-at-precision: expected shares above 0 and at most 1, got 95",
        ),
        (
            ["--precision-at-recall", "0", "--positive-label", "1"],
            "--precision-at-recall: expected shares above 0 and at most 1, got 0",
        ),
        (
            ["--best-threshold", "--positive-label", "1", "-p", "answers.tsv"],
            "--best-threshold: expected a model that answers: a file of predictions has no scores",
        ),
        (["--metrics", "log_loss", "-p", "answers.tsv"], "--metrics: expected a model that answers"),
        (
            ["--metrics", "accuracy", "--label-order", "1,2,3"],
            "--label-order: expected a metric that uses the order of the labels, got none",
        ),
        (["--task", "squad", "--by", "title"], "--by: expected a task whose rows have columns, got squad"),
        (
            ["--task", "ner", "--metrics", "f1"],
            "--metrics: expected a task whose rows have classes or a score, got ner",
        ),
        (
            ["--task", "regression", "--best-threshold"],
            "--best-threshold: expected a task whose rows have classes of their own, got regression",
        ),
    ],
)
def test_what_cannot_be_asked_is_refused(deberta, stars, file, words, message):
    task = [] if "--task" in words else ["--task", "classification"]
    done = deberta("eval", "-m", stars, file, *task, *words)
    assert done.returncode == 2 and done.stdout == "" and message in done.stderr, done.stderr
