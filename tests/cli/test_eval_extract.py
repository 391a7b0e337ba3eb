"""eval --task extract: files of entities in columns and in rows, with names for their labels."""

import json

import pytest

from models import make_extractor

COLUMNS = "Ada B-PER\nKing I-PER\nwas O\nin O\nRome B-LOC\n\nIt O\nrained O\n"
ROWS = [
    {"tokenized_text": ["Ada", "King", "was", "in", "Rome"], "ner": [[0, 1, "PER"], [4, 4, "LOC"]]},
    {"text": "It rained", "entities": []},
]


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    return make_extractor(tmp_path_factory.mktemp("extractor"))


@pytest.fixture
def evaluate(deberta, model, tmp_path):
    """evaluate(words...) -> the result of files in the folder, with a threshold that random scores pass"""
    (tmp_path / "valid.txt").write_text(COLUMNS)
    (tmp_path / "valid.jsonl").write_text("".join(json.dumps(row) + "\n" for row in ROWS))

    def run(*words):
        done = deberta(
            *("eval", "--task", "extract", "-m", model, "-f", "json", "--bootstrap", "0"), *words, cwd=tmp_path
        )
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    return run


def test_columns_and_rows_have_the_same_metrics(evaluate):
    found = evaluate("valid.txt", "--threshold", "0.01")
    assert found["metrics"] == evaluate("valid.jsonl", "--threshold", "0.01")["metrics"]
    assert {"f1", "precision", "recall", "f1/PER", "support/LOC"} <= set(found["metrics"])
    assert found["metrics"]["support/PER"] == found["metrics"]["support/LOC"] == 1
    assert (found["rows"], found["failed"]) == (2, 0)


def test_the_model_reads_other_names(evaluate, deberta, model):
    """The entities that count are those that `extract` finds with these names."""
    names = ("--label-names", "PER=person,LOC=where")
    found = evaluate("valid.txt", *names, "--threshold", "0.01")["metrics"]
    assert {"f1/person", "f1/where"} <= set(found) and "f1/PER" not in found
    done = deberta(
        *("extract", "-m", model, "--labels", "person,where", "--threshold", "0.01", "-f", "jsonl"),
        *("Ada King was in Rome", "It rained"),
    )
    entities = [
        (row, entity["start"], entity["end"], entity["entity_group"])
        for row, line in enumerate(done.stdout.splitlines())
        for entity in json.loads(line)["entities"]
    ]
    right = {(0, 0, 8, "person"), (0, 16, 20, "where")} & set(entities)
    assert right and found["precision"] == pytest.approx(len(right) / len(entities))


def test_a_threshold_of_one_finds_nothing(evaluate):
    found = evaluate("valid.txt", "--threshold", "1")["metrics"]
    assert found["f1"] == found["recall"] == 0


def test_bad_rows_are_counted_where_that_is_asked(deberta, model, tmp_path):
    (tmp_path / "bad.jsonl").write_text('{"text": "a"}\n' + json.dumps(ROWS[0]) + "\n")
    words = ("eval", "--task", "extract", "-m", model, "bad.jsonl", "-f", "json", "--bootstrap", "0")
    done = deberta(*words, "--on-bad-row", "fail", cwd=tmp_path)
    assert done.returncode == 1 and "bad.jsonl:1: no entities" in done.stderr
    done = deberta(*words, "--on-bad-row", "report", cwd=tmp_path)
    assert done.returncode == 1 and json.loads(done.stdout)["failed"] == 1
