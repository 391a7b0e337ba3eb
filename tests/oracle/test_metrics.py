"""The metrics of `eval` against scikit-learn, scipy and seqeval on 1,000 rows each, and against recorded results of the
official evaluation scripts of SQuAD and ReCoRD: equal to 1e-9. Everything goes through the program: files in, JSON
out."""

import json
import random
import subprocess
import sys

import numpy
import pytest
import scipy.stats
import seqeval.metrics
import seqeval.scheme
import sklearn.metrics

from metric_rows import (
    ROWS,
    SCHEMES,
    cola_rows,
    nli_rows,
    overlap,
    paraphrase_rows,
    predicted_tags,
    scheme_sentences,
    sts_rows,
    tagged_sentences,
)
from official_rows import MADE, REAL, digest
from oracle_runs import BINARY, ROOT, SHARED, needs_program

sys.path.append(str(ROOT / "tests" / "cli"))
from models import make_model

pytestmark = needs_program


@pytest.fixture
def evaluate(tmp_path):
    """evaluate(task, (name, text) of the labelled file, (name, text) of the answers, words...) -> metrics"""

    def run(task, gold, answers, *words):
        for name, text in (gold, answers):
            (tmp_path / name).write_text(text, encoding="utf-8", newline="\n")
        command = [
            BINARY,
            "eval",
            "--task",
            task,
            gold[0],
            "--predictions",
            answers[0],
            "-f",
            "json",
            "--bootstrap",
            "0",
            *words,
        ]
        done = subprocess.run(
            [str(word) for word in command], cwd=tmp_path, capture_output=True, encoding="utf-8", check=False
        )
        assert done.returncode == 0, done.stderr[-2000:]
        return json.loads(done.stdout)["metrics"]

    return run


def table(header, rows):
    return "\t".join(header) + "\n" + "".join("\t".join(map(str, row)) + "\n" for row in rows)


def glue_answers(answers):
    return "answers.tsv", table(("index", "prediction"), enumerate(answers))


def near(metrics, expected):
    assert set(expected) <= set(metrics)
    for name, value in expected.items():
        assert metrics[name] == pytest.approx(value, abs=1e-9, rel=1e-9), name


def test_cola(evaluate):
    rows = cola_rows()
    gold = [int(label) for _, label in rows]
    for answers in ([int(len(text) % 7 < 5) for text, _ in rows], [1] * ROWS, gold):
        metrics = evaluate(
            "cola", ("dev.tsv", "".join(f"x\t{label}\t\t{text}\n" for text, label in rows)), glue_answers(answers)
        )
        near(
            metrics,
            {
                "matthews_correlation": sklearn.metrics.matthews_corrcoef(gold, answers),
                "accuracy": sklearn.metrics.accuracy_score(gold, answers),
            },
        )


def test_mrpc(evaluate):
    rows = paraphrase_rows()
    gold = [int(label) for *_, label in rows]
    for answers in ([int(overlap(a, b) > 0.4) for a, b, _ in rows], [0] * ROWS):
        metrics = evaluate(
            "mrpc",
            ("dev.tsv", table(("Quality", "#1 String", "#2 String"), [(label, a, b) for a, b, label in rows])),
            glue_answers(answers),
        )
        accuracy, f1 = (
            sklearn.metrics.accuracy_score(gold, answers),
            sklearn.metrics.f1_score(gold, answers, zero_division=0),
        )
        near(metrics, {"accuracy": accuracy, "f1": f1, "combined_score": (accuracy + f1) / 2})


def test_nli_and_cb(evaluate):
    rows = nli_rows()
    names = ["contradiction", "neutral", "entailment"]
    gold = [names.index(label) for *_, label in rows]
    answers = [names[int(3 * overlap(a, b)) % 3] for a, b, _ in rows]
    lines = "".join(json.dumps({"premise": a, "hypothesis": b, "label": label}) + "\n" for a, b, label in rows)
    numbers = [names.index(answer) for answer in answers]
    expected = {
        "accuracy": sklearn.metrics.accuracy_score(gold, numbers),
        "f1_macro": sklearn.metrics.f1_score(gold, numbers, average="macro", zero_division=0),
    }
    for task in ("nli", "cb"):
        near(evaluate(task, ("dev.jsonl", lines), glue_answers(answers)), expected)


def test_metrics_that_are_asked_for(evaluate):
    """Of one class, with beta, and kappa: by numbers, and by an order that is given."""
    rng = random.Random(12)
    gold = [rng.randint(1, 5) for _ in range(ROWS)]
    answers = [min(5, max(1, label + rng.choice((-2, -1, 0, 0, 1)))) for label in gold]
    lines = "".join(json.dumps({"text": "x", "label": label}) + "\n" for label in gold)
    words = (
        "--metrics",
        "f1,f_beta,f_beta_macro,precision,recall,quadratic_weighted_kappa,matthews_correlation",
        "--positive-label",
        "2",
        "--beta",
        "0.5",
    )
    metrics = evaluate("classification", ("dev.jsonl", lines), glue_answers(answers), *words)
    of_two = {"labels": [2], "average": "macro"}
    near(
        metrics,
        {
            "f1": sklearn.metrics.f1_score(gold, answers, **of_two),
            "f0.5": sklearn.metrics.fbeta_score(gold, answers, beta=0.5, **of_two),
            "f0.5_macro": sklearn.metrics.fbeta_score(gold, answers, beta=0.5, average="macro"),
            "precision": sklearn.metrics.precision_score(gold, answers, **of_two),
            "recall": sklearn.metrics.recall_score(gold, answers, **of_two),
            "matthews_correlation": sklearn.metrics.matthews_corrcoef(gold, answers),
            "quadratic_weighted_kappa": sklearn.metrics.cohen_kappa_score(gold, answers, weights="quadratic"),
        },
    )
    names = dict(zip(range(1, 6), ("awful", "bad", "fair", "good", "superb")))
    lines = "".join(json.dumps({"text": "x", "label": names[label]}) + "\n" for label in gold)
    named = evaluate(
        "classification",
        ("dev.jsonl", lines),
        glue_answers([names[answer] for answer in answers]),
        "--metrics",
        "quadratic_weighted_kappa",
        "--label-order",
        ",".join(names.values()),
    )
    near(named, {"quadratic_weighted_kappa": metrics["quadratic_weighted_kappa"]})
    scores = [label + rng.uniform(-2, 2) for label in gold]
    lines = "".join(json.dumps({"text": "x", "label": label}) + "\n" for label in gold)
    rounded = evaluate(
        "regression", ("dev.jsonl", lines), glue_answers(scores), "--metrics", "quadratic_weighted_kappa"
    )
    near(
        rounded,
        {
            "quadratic_weighted_kappa": sklearn.metrics.cohen_kappa_score(
                gold, numpy.rint(scores).astype(int), weights="quadratic", labels=range(-1, 8)
            )
        },
    )


@pytest.mark.parametrize("kind", ["one", "many"])
def test_scores_of_a_model(tmp_path, kind):
    """log_loss on the logits, thresholds on the scores that `classify` prints."""
    rng = random.Random(13)
    make_model(
        tmp_path / "model",
        "sequence",
        labels=("a", "b", "c"),
        problem_type={"one": "single_label", "many": "multi_label"}[kind] + "_classification",
    )
    gold = [
        [int(rng.random() < 0.4) for _ in range(3)] if kind == "many" else [int(i == n % 3) for i in range(3)]
        for n in range(300)
    ]
    lines = "".join(
        json.dumps(
            {
                "text": f"text {n % 200}",
                "label": [name for name, has in zip("abc", row) if has] if kind == "many" else "abc"[row.index(1)],
            }
        )
        + "\n"
        for n, row in enumerate(gold)
    )
    (tmp_path / "dev.jsonl").write_text(lines)

    def run(*words):
        done = subprocess.run([str(BINARY), *words], cwd=tmp_path, capture_output=True, encoding="utf-8", check=True)
        return [json.loads(line) for line in done.stdout.splitlines()]

    def values(activation):
        rows = run(
            "classify", "-m", "model", "-i", "dev.jsonl", "--top-k", "3", "-f", "jsonl", "--activation", activation
        )
        return numpy.array(
            [[{entry["label"]: entry["score"] for entry in row["labels"]}[name] for name in "abc"] for row in rows]
        )

    task = {"one": "classification", "many": "multi-label"}[kind]
    metrics = run(
        "eval",
        "--task",
        task,
        "-m",
        "model",
        "dev.jsonl",
        "--metrics",
        "log_loss,roc_auc,average_precision" if kind == "one" else "log_loss",
        "--best-threshold",
        "--recall-at-precision",
        "0.3",
        "--precision-at-recall",
        "0.6",
        "--positive-label",
        "b",
        "--bootstrap",
        "0",
        "-f",
        "jsonl",
    )[0]["metrics"]
    logits = values("none").astype(numpy.float64)
    if kind == "one":
        loss = sklearn.metrics.log_loss(
            [row.index(1) for row in gold], numpy.exp(logits) / numpy.exp(logits).sum(axis=1, keepdims=True)
        )
    else:
        loss = numpy.mean(
            [sklearn.metrics.log_loss([row[i] for row in gold], 1 / (1 + numpy.exp(-logits[:, i]))) for i in range(3)]
        )
    near(metrics, {"log_loss": loss})
    has_b, scores = [row[1] for row in gold], values("auto")[:, 1]
    if kind == "one":
        near(
            metrics,
            {
                "roc_auc": sklearn.metrics.roc_auc_score(has_b, scores),
                "average_precision": sklearn.metrics.average_precision_score(has_b, scores),
            },
        )
    precision, recall, thresholds = sklearn.metrics.precision_recall_curve(has_b, scores)
    precision, recall = precision[:-1], recall[:-1]
    f1 = 2 * precision * recall / numpy.maximum(precision + recall, 1e-12)
    near(
        metrics,
        {
            "f1@best_f1/b": f1.max(),
            "recall@precision=0.3/b": recall[precision >= 0.3].max(),
            "precision@recall=0.6/b": precision[recall >= 0.6].max(),
        },
    )
    for point in ("best_f1", "precision=0.3", "recall=0.6"):
        at = list(thresholds).index(metrics[f"threshold@{point}/b"])
        near(metrics, {f"precision@{point}/b": precision[at], f"recall@{point}/b": recall[at]})


def test_sts(evaluate):
    rows = sts_rows()
    gold = numpy.array([float(score) for *_, score in rows])
    answers = [5 * overlap(a, b) for a, b, _ in rows]
    assert len(set(answers)) < 20, "ties are wanted"
    metrics = evaluate("sts-b", ("dev.tsv", table(("sentence1", "sentence2", "score"), rows)), glue_answers(answers))
    pearson, spearman = scipy.stats.pearsonr(gold, answers).statistic, scipy.stats.spearmanr(gold, answers).statistic
    near(metrics, {"pearson": pearson, "spearmanr": spearman, "combined_score": (pearson + spearman) / 2})
    lines = "".join(json.dumps({"text": a, "label": float(score)}) + "\n" for a, _, score in rows)
    near(
        evaluate("regression", ("dev.jsonl", lines), glue_answers(answers)),
        {"mse": sklearn.metrics.mean_squared_error(gold, answers), "pearson": pearson},
    )


def test_multi_label(evaluate):
    rng = random.Random(9)
    names = [f"label {i}" for i in range(7)]
    sets = [
        [[name for i, name in enumerate(names) if rng.random() < 0.5 / (i + 1)] for _ in range(ROWS)] for _ in range(2)
    ]
    gold, answers = ([[int(name in row) for name in names] for row in rows] for rows in sets)
    lines = "".join(json.dumps({"text": "x", "labels": row}) + "\n" for row in sets[0])
    metrics = evaluate("multi-label", ("dev.jsonl", lines), glue_answers([",".join(row) for row in sets[1]]))
    near(
        metrics,
        {
            "f1_micro": sklearn.metrics.f1_score(gold, answers, average="micro"),
            "f1_macro": sklearn.metrics.f1_score(gold, answers, average="macro"),
            "accuracy": sklearn.metrics.accuracy_score(gold, answers),
        },
    )


def test_multirc(evaluate):
    """SuperGLUE: F1 over all answers; exact match counts questions whose answers are all right."""
    rng = random.Random(10)
    lines, gold, answers, right = [], [], [], []
    while len(gold) < ROWS:
        labels = [rng.randint(0, 1) for _ in range(rng.randint(1, 6))]
        found = [label if rng.random() < 0.8 else 1 - label for label in labels]
        question = {"question": "?", "answers": [{"text": "a", "label": label} for label in labels]}
        lines.append(json.dumps({"passage": {"text": "P.", "questions": [question]}}) + "\n")
        gold += labels
        answers += found
        right.append(labels == found)
    metrics = evaluate("multirc", ("val.jsonl", "".join(lines)), glue_answers(answers))
    near(metrics, {"f1": sklearn.metrics.f1_score(gold, answers), "exact_match": sum(right) / len(right)})


def test_entities(evaluate):
    rng = random.Random(11)
    sentences = tagged_sentences()
    answers = [predicted_tags(sentence, rng) for sentence in sentences]
    gold = [[tag for _, tag in sentence] for sentence in sentences]

    def columns(tags):
        return "\n".join(
            "".join(f"{word} {tag}\n" for (word, _), tag in zip(sentence, row))
            for sentence, row in zip(sentences, tags)
        )

    metrics = evaluate("ner", ("gold.txt", columns(gold)), ("answers.txt", columns(answers)))
    near(
        metrics,
        {
            "precision": seqeval.metrics.precision_score(gold, answers),
            "recall": seqeval.metrics.recall_score(gold, answers),
            "f1": seqeval.metrics.f1_score(gold, answers),
            "accuracy": seqeval.metrics.accuracy_score(gold, answers),
        },
    )
    report = seqeval.metrics.classification_report(gold, answers, output_dict=True, zero_division=0)
    for kind, row in report.items():
        if not kind.endswith(" avg"):
            near(
                metrics,
                {
                    f"precision/{kind}": row["precision"],
                    f"recall/{kind}": row["recall"],
                    f"f1/{kind}": row["f1-score"],
                    f"support/{kind}": row["support"],
                },
            )


def columns_of(tags, write=str):
    return "\n".join("".join(f"w{i} {write(tag)}\n" for i, tag in enumerate(row)) for row in tags)


@pytest.mark.parametrize("scheme", SCHEMES)
def test_entities_of_every_scheme(evaluate, scheme):
    """Tags that keep the scheme are read as seqeval reads them strictly; others as by default, where it knows the
    letters: L and U are read as E and S."""
    gold, others, broken = scheme_sentences(scheme, random.Random(f"12 {scheme}"))
    known = [
        [[tag.replace("L-", "E-").replace("U-", "S-") if scheme == "BILOU" else tag for tag in row] for row in rows]
        for rows in (gold, broken)
    ]
    strictly = {"mode": "strict", "scheme": getattr(seqeval.scheme, scheme)}
    for answers, (first, second), how in ((others, (gold, others), strictly), (broken, known, {})):
        wanted = {
            "precision": seqeval.metrics.precision_score(first, second, **how),
            "recall": seqeval.metrics.recall_score(first, second, **how),
            "f1": seqeval.metrics.f1_score(first, second, **how),
        }
        assert 0.3 < wanted["f1"] < 0.95
        for write in (str, str.lower, lambda tag: tag.replace("-", "_")):
            near(
                evaluate("ner", ("gold.txt", columns_of(gold, write)), ("answers.txt", columns_of(answers, write))),
                wanted,
            )


# ---- answers in words: results of the official evaluation scripts, recorded by tests/golden/metrics/make.py

RECORDED = ROOT / "tests/golden/metrics"
OFFICIAL = json.loads((RECORDED / "official.json").read_text())
real_rows = pytest.param(
    "real", marks=pytest.mark.skipif(not SHARED.exists(), reason="no ../shared: no real rows of SQuAD and ReCoRD")
)


def scored_set(kind, task):
    """The documents and the recorded figures by threshold. The digest shows that the recorded figures are for these
    documents."""
    documents = (
        json.loads((RECORDED / f"made_{task}.json").read_text(encoding="utf-8")) if kind == "made" else REAL[task]()
    )
    recorded = OFFICIAL[kind][task]
    assert digest(documents) == recorded["digest"]
    return documents, recorded["figures"]


def check_figures(metrics, official):
    """Everything that the script reports, and nothing more."""
    assert set(official) == set(metrics)
    near(metrics, official)


@pytest.mark.parametrize("kind", ["made", real_rows])
def test_squad_1(evaluate, kind):
    documents, figures = scored_set(kind, "squad")
    assert sum(not answer for answer in documents["answers"].values()) > 5
    assert len(documents["answers"]) < len(documents["gold"]["data"][0]["paragraphs"])
    check_figures(
        evaluate(
            "squad", ("dev.json", json.dumps(documents["gold"])), ("answers.json", json.dumps(documents["answers"]))
        ),
        figures[""],
    )


@pytest.mark.parametrize("kind", ["made", real_rows])
def test_squad_2(evaluate, tmp_path, kind):
    documents, figures = scored_set(kind, "squad2")
    files = ("dev.json", json.dumps(documents["gold"])), ("answers.json", json.dumps(documents["answers"]))
    (tmp_path / "no_answer.json").write_text(json.dumps(documents["no_answer"]))
    for threshold, official in figures.items():
        words = ("--na-prob", "no_answer.json", "--no-answer-threshold", threshold) if threshold else ()
        check_figures(evaluate("squad2", *files, *words), official)


@pytest.mark.parametrize("kind", ["made", real_rows])
def test_record(evaluate, kind):
    documents, figures = scored_set(kind, "record")
    lines = "".join(json.dumps(row) + "\n" for row in documents["gold"])
    answers = documents["answers"]
    submission = "".join(json.dumps({"idx": int(i), "label": answer}) + "\n" for i, answer in answers.items())
    for file in (("answers.jsonl", submission), ("answers.json", json.dumps(answers))):
        check_figures(evaluate("record", ("val.jsonl", lines), file), figures[""])


def test_the_made_rows_are_those_of_the_maker():
    for task, make in MADE.items():
        assert digest(make()) == OFFICIAL["made"][task]["digest"], task


def test_ranking(evaluate):
    """The gain is linear, as in scikit-learn and trec_eval; scores differ, as equal ones are its mean over all orders
    and ours the worst."""
    dice = random.Random(7)
    queries = []
    for number in range(200):
        labels = [dice.choice([0, 0, 0, 1, 2]) for _ in range(2 + number % 30)]
        labels[0] = labels[0] or 1
        queries.append((labels, dice.sample(range(-500, 500), len(labels))))
    gold = "".join(
        json.dumps({"query": f"q{n}", "documents": ["d"] * len(labels), "labels": labels}) + "\n"
        for n, (labels, _) in enumerate(queries)
    )
    answers = glue_answers([",".join(map(str, scores)) for _, scores in queries])
    metrics = evaluate("ranking", ("dev.jsonl", gold), answers)
    first = [
        next(rank for rank, place in enumerate(numpy.argsort(-numpy.array(scores)), 1) if labels[place])
        for labels, scores in queries
    ]
    near(
        metrics,
        {
            "ndcg@10": numpy.mean([sklearn.metrics.ndcg_score([labels], [scores], k=10) for labels, scores in queries]),
            "mrr@10": numpy.mean([1 / rank if rank <= 10 else 0 for rank in first]),
            "map": numpy.mean(
                [
                    sklearn.metrics.average_precision_score([label > 0 for label in labels], scores)
                    for labels, scores in queries
                ]
            ),
        },
    )
