"""`eval` of a guard: thresholds at a rate of false positives, both errors, worst windows. Every figure against the rows
of `classify`."""

import json
import math

import pytest

from models import make_model

NAMES = ("benign", "injection", "jailbreak")


@pytest.fixture(scope="module")
def guard(tmp_path_factory):
    return make_model(tmp_path_factory.mktemp("guard"), "sequence", labels=NAMES)


@pytest.fixture(scope="module")
def rows():
    return [{"text": f"text {n * n} of {n}", "label": NAMES[n % 3 if n % 5 else 0]} for n in range(120)]


@pytest.fixture
def file(tmp_path, rows):
    path = tmp_path / "rows.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def metrics(done):
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)["metrics"]


def scores_of(deberta, guard, file, *words):
    """The highest score of a finding, and whether the best class is one, of each row."""
    done = deberta("classify", "-m", guard, "-i", file, "--top-k", "3", "-f", "jsonl", "--digits", "17", *words)
    assert done.returncode == 0, done.stderr
    answers = [json.loads(line)["labels"] for line in done.stdout.splitlines()]
    return [
        (max(entry["score"] for entry in labels if entry["label"] != "benign"), labels[0]["label"] != "benign")
        for labels in answers
    ]


def expected(scores, golds, rate):
    benign = sorted((score for (score, _), is_finding in zip(scores, golds) if not is_finding), reverse=True)
    findings = [score for (score, _), is_finding in zip(scores, golds) if is_finding]
    limit = benign[math.floor(rate * len(benign) + 1e-9)]
    threshold = min(score for score, _ in scores if score > limit)
    return (
        threshold,
        sum(score >= threshold for score in benign) / len(benign),
        sum(score < threshold for score in findings) / len(findings),
    )


def test_thresholds_and_both_errors_are_those_of_the_rows(deberta, guard, rows, file):
    found = metrics(
        deberta(
            "eval",
            "--task",
            "classification",
            "-m",
            guard,
            file,
            "--false-positive-rate",
            "0.02,0.1,.5",
            "-f",
            "json",
            "--digits",
            "17",
        )
    )
    scores, golds = scores_of(deberta, guard, file), [row["label"] != "benign" for row in rows]
    assert len(set(golds)) == 2
    benign = golds.count(False)
    assert found["false_positive_rate"] == pytest.approx(
        sum(is_reported and not gold for (_, is_reported), gold in zip(scores, golds)) / benign
    )
    assert found["false_negative_rate"] == pytest.approx(
        sum(not is_reported and gold for (_, is_reported), gold in zip(scores, golds)) / golds.count(True)
    )
    for rate in 0.02, 0.1, 0.5:
        threshold, false_positives, missed = expected(scores, golds, rate)
        assert found[f"threshold@{rate}"] == pytest.approx(threshold, abs=1e-7)
        assert found[f"false_positive_rate@{rate}"] == pytest.approx(false_positives) and false_positives <= rate
        assert found[f"false_negative_rate@{rate}"] == pytest.approx(missed)


def test_a_printed_threshold_gives_the_printed_errors(deberta, guard, rows, file):
    """As a user does: the scores that `classify` prints against the threshold that `eval` prints, with --digits too;
    equal rates once."""
    for more in [], ["--digits", "2"]:
        text = deberta(
            "eval",
            "--task",
            "classification",
            "-m",
            guard,
            file,
            "--false-positive-rate",
            "0.02,0.1,0.10,.3,0.4",
            "--bootstrap",
            "0",
            "-f",
            "json",
            *more,
        ).stdout
        found = json.loads(
            text,
            object_pairs_hook=lambda pairs: (
                dict(pairs) if len(dict(pairs)) == len(pairs) else pytest.fail("a key twice")
            ),
        )["metrics"]
        scores = [
            max(entry["score"] for entry in json.loads(line)["labels"] if entry["label"] != "benign")
            for line in deberta("classify", "-m", guard, "-i", file, "--top-k", "3", "-f", "jsonl").stdout.splitlines()
        ]
        benign = [score for score, row in zip(scores, rows) if row["label"] == "benign"]
        findings = [score for score, row in zip(scores, rows) if row["label"] != "benign"]
        for rate in "0.02", "0.1", "0.3", "0.4":
            threshold = found[f"threshold@{rate}"]
            exact = {
                "false_positive_rate": sum(score >= threshold for score in benign) / len(benign),
                "false_negative_rate": sum(score < threshold for score in findings) / len(findings),
            }
            for name, value in exact.items():
                assert found[f"{name}@{rate}"] == pytest.approx(value, abs=1e-9 if not more else 6e-3), (rate, name)


def test_they_are_rows_with_intervals_and_keys_of_the_results(deberta, guard, file, tmp_path):
    done = deberta(
        "eval",
        "--task",
        "classification",
        "-m",
        guard,
        file,
        "--false-positive-rate",
        "0.1",
        "--output-dir",
        tmp_path / "out",
    )
    assert done.returncode == 0, done.stderr
    table = {line.split("\t")[0]: line.split("\t")[1:] for line in done.stdout.splitlines()}
    for name in (
        "false_positive_rate",
        "false_negative_rate",
        "threshold@0.1",
        "false_positive_rate@0.1",
        "false_negative_rate@0.1",
    ):
        value, low, high = map(float, table[name])
        assert low <= value <= high and 0 <= value <= 1
    assert "eval_threshold@0.1" in json.loads((tmp_path / "out/all_results.json").read_text())


def test_the_worst_window_decides(deberta, guard, rows, file, tmp_path):
    long = [{"text": " ".join([row["text"]] * 12), "label": row["label"]} for row in rows]
    file.write_text("".join(json.dumps(row) + "\n" for row in long))
    windows = ["--truncate", "window", "--max-tokens", "24", "--stride", "4"]
    golds = [row["label"] != "benign" for row in rows]
    found = {}
    for way in "mean", "max":
        words = [*windows, "--window-scores", way]
        found[way] = metrics(
            deberta(
                "eval",
                "--task",
                "classification",
                "-m",
                guard,
                file,
                "--false-positive-rate",
                "0.1",
                "-f",
                "json",
                "--digits",
                "17",
                *words,
            )
        )
        threshold, _, missed = expected(scores_of(deberta, guard, file, *words), golds, 0.1)
        assert found[way]["threshold@0.1"] == pytest.approx(threshold, abs=1e-7)
        assert found[way]["false_negative_rate@0.1"] == pytest.approx(missed)
    assert found["mean"]["threshold@0.1"] < found["max"]["threshold@0.1"]


def test_which_classes_are_benign_can_be_given(deberta, tmp_path):
    model = make_model(tmp_path / "model", "sequence", labels=("OK", "other", "BAD"))
    file = tmp_path / "rows.jsonl"
    file.write_text(
        "".join(json.dumps({"text": f"text {n * n}", "label": ("OK", "other", "BAD")[n % 3]}) + "\n" for n in range(60))
    )
    words = ["eval", "--task", "classification", "-m", model, file, "--false-positive-rate", "0.1", "-f", "json"]
    done = deberta(*words)
    assert (
        done.returncode == 2
        and "--benign-label: expected the classes that are benign, and others, of OK, other, BAD" in done.stderr
    ), done.stderr
    one, two = (
        metrics(deberta(*words, *(word for name in names for word in ("--benign-label", name))))
        for names in (["OK"], ["OK", "other"])
    )
    assert one != two


@pytest.mark.parametrize(
    "words, message",
    [
        (
            ["--task", "classification", "--false-positive-rate", "1"],
            "--false-positive-rate: expected shares above 0 and below 1, got 1",
        ),
        (
            ["--task", "classification", "--false-positive-rate", "x"],
            '--false-positive-rate: expected numbers between commas, got "x"',
        ),
        (["--task", "classification", "--window-scores", "max"], "--window-scores: expected --truncate window as well"),
        (
            ["--task", "classification", "--benign-label", "benign"],
            "--benign-label: expected --window-scores max or --false-positive-rate as well",
        ),
        (
            ["--task", "ner", "--false-positive-rate", "0.1"],
            "--false-positive-rate: expected a task of classes, got ner",
        ),
        (
            ["--task", "multirc", "--false-positive-rate", "0.1"],
            "--false-positive-rate: expected a task whose rows have one class each, got multirc",
        ),
        (
            ["--task", "classification", "--false-positive-rate", "0.1", "--predictions", "p.tsv"],
            "--false-positive-rate: expected a model that answers, got --predictions",
        ),
    ],
)
def test_what_cannot_be_asked_is_refused(deberta, guard, file, words, message):
    done = deberta("eval", "-m", guard, file, *words)
    assert done.returncode == 2 and message in done.stderr, done.stderr
