"""What a run tells of its rows and refuses of its options, instead of an answer that is not what it seems."""

import json
import subprocess

import pytest

from conftest import BINARY
from models import make_model


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    """{name: folder} of tiny models with random weights."""
    folder = tmp_path_factory.mktemp("models")
    return {
        "nli": make_model(folder / "nli", "sequence", labels=("contradiction", "neutral", "entailment")),
        "score": make_model(folder / "score", "sequence", labels=("LABEL_0",)),
        "token": make_model(folder / "token", "token", labels=("O", "B-PER", "I-PER")),
        "words": make_model(folder / "words", "lm", seed=2),
        "four": make_model(folder / "four", "sequence", labels=("a", "b", "c", "d")),
        "plain": make_model(folder / "plain", "sequence", labels=("LABEL_0", "LABEL_1", "LABEL_2")),
        "lower": make_model(folder / "lower", "token", labels=("o", "b-per", "i-per")),
    }


def rows_of(done):
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


@pytest.mark.parametrize("verb, texts", [("nli", 2), ("classify --pair", 2), ("qa", 2)])
def test_a_line_with_a_cell_too_many_is_a_bad_row(deberta, models, verb, texts):
    name, *more = verb.split()
    model = models["nli"] if name != "qa" else make_model(models["nli"].parent / "span", "span")
    done = deberta(name, "-m", model, *more, "-f", "jsonl", stdin="a\tb\na\tb\tentailment\n")
    first, second = (json.loads(line) for line in done.stdout.splitlines())
    assert done.returncode == 1
    assert "error" not in first
    assert f"expected {texts} texts" in second["error"]["message"]
    assert "got 3" in second["error"]["message"]


def test_documents_are_marked_one_by_one(deberta, models):
    long = "word " * 700
    done = deberta("rerank", "-m", models["score"], "-f", "tsv", "a query", "short", "", long)
    notes = {line.split("\t")[2]: line.split("\t")[-1] for line in done.stdout.splitlines()[1:]}
    assert done.returncode == 0 and notes["0"] == "" and notes["1"] == "empty text" and "tokens cut" in notes["2"]
    (found,) = rows_of(deberta("rerank", "-m", models["score"], "-f", "jsonl", "a query", "short", "", long))
    assert found["empty"] is True and found["cut_tokens"] > 0
    assert {one["index"]: "cut_tokens" in one for one in found["results"]} == {0: False, 1: False, 2: True}
    (found,) = rows_of(deberta("choose", "-m", models["score"], "-f", "jsonl", "a context", "a question", "one", ""))
    assert found["empty"] is True


def test_texts_that_come_to_nothing_are_marked(deberta, models):
    found = rows_of(deberta("classify", "-m", models["nli"], "-f", "jsonl", "\u200b", "   ", "a"))
    assert [row.get("empty", False) for row in found] == [True, True, False]
    found = rows_of(deberta("tokenize", "-m", models["nli"], "--no-special", "-f", "jsonl", "a"))
    assert "empty" not in found[0]


def test_a_text_without_entities_keeps_its_note(deberta, models):
    done = deberta(
        "ner",
        "-m",
        models["token"],
        "-f",
        "tsv",
        "--ignore-labels",
        "O,PER",
        "--max-tokens",
        "8",
        "--truncate",
        "right",
        "",
        "word " * 40,
        "a",
    )
    lines = [line.split("\t") for line in done.stdout.splitlines()[1:]]
    assert done.returncode == 0
    assert [line[0] for line in lines] == ["1", "2"]
    assert lines[0][-1] == "empty text"
    assert "tokens cut" in lines[1][-1]
    assert all(cell == "" for line in lines for cell in line[1:-1])


def test_names_to_ignore_are_names_that_answers_have(deberta, models):
    for names, told in (
        ("FOO", 'expected names among O, PER, got "FOO"'),
        ("B-PER", "expected names among O, PER"),
        ("O,PER,LOC", "LOC"),
    ):
        done = deberta("ner", "-m", models["token"], "--ignore-labels", names, "a")
        assert done.returncode == 2 and told in done.stderr, done.stderr
    assert deberta("ner", "-m", models["token"], "--ignore-labels", "B-PER", "--aggregate", "none", "a").returncode == 0
    for row in rows_of(deberta("ner", "-m", models["lower"], "-f", "jsonl", *["a word or two"] * 3, "x")):
        assert all(entity["entity_group"] == "per" for entity in row["entities"])


def test_masks_of_a_literal_text(deberta, models):
    wanted = rows_of(deberta("fill", "-m", models["words"], "-f", "jsonl", "a [MASK] b"))
    assert (
        rows_of(deberta("fill", "-m", models["words"], "-f", "jsonl", "--special-text", "literal", "a [MASK] b"))
        == wanted
    )
    done = deberta("fill", "-m", models["words"], "--special-text", "literal", "a [SEP] [MASK]", "-f", "jsonl")
    assert done.returncode == 0 and "SEP" in json.loads(done.stdout)["masks"][0]["tokens"][0]["sequence"]


def test_words_that_may_fill_a_mask(deberta, models):
    for targets, told in (
        ("", "expected words, got none"),
        ("cat,,dog", "expected words that differ"),
        ("the,a,the", '"the" twice'),
    ):
        done = deberta("fill", "-m", models["words"], "--targets", targets, "a [MASK] b")
        assert done.returncode in (1, 2) and told in done.stderr, (targets, done.stderr)


def test_tokens_are_cut_where_that_is_asked_for(deberta, models):
    whole = rows_of(deberta("tokenize", "-m", models["nli"], "-f", "jsonl", "word " * 700))[0]
    cut = rows_of(deberta("tokenize", "-m", models["nli"], "-f", "jsonl", "--max-tokens", "10", "word " * 700))[0]
    assert len(cut["ids"]) == 10
    assert cut["ids"][:-1] == whole["ids"][:9]
    assert cut["cut_tokens"] == len(whole["ids"]) - 10
    assert "cut_tokens" not in whole


def test_classes_of_an_entailment_task_have_names(deberta, models, tmp_path):
    rows = tmp_path / "dev.jsonl"
    rows.write_text(
        "".join(
            json.dumps(
                {"premise": f"a {i}", "hypothesis": "b", "label": ("entailment", "neutral", "contradiction")[i % 3]}
            )
            + "\n"
            for i in range(6)
        )
    )
    done = deberta("eval", "--task", "nli", "-m", models["plain"], rows)
    assert done.returncode == 1 and "LABEL_0, LABEL_1, LABEL_2" in done.stderr and "--label-map" in done.stderr
    assert (
        deberta(
            "eval", "--task", "nli", "-m", models["plain"], "--label-map", "entailment,neutral,contradiction", rows
        ).returncode
        == 0
    )
    done = deberta(
        "eval",
        "--task",
        "nli",
        "-m",
        models["four"],
        "--label-map",
        "entailment,none,neutral,contradiction",
        rows,
        "-f",
        "json",
    )
    assert done.returncode == 0 and 0 <= json.loads(done.stdout)["metrics"]["accuracy"] <= 1, done.stderr


def test_csv_without_a_place_for_a_character(deberta, models, tmp_path):
    rows = tmp_path / "rows.jsonl"
    rows.write_text(json.dumps({"text": "a", "k": "x\0y"}) + "\n" + json.dumps({"text": "b", "k": "z"}) + "\n")
    done = deberta("classify", "-m", models["nli"], "-i", rows, "--keep", "k", "-f", "csv")
    assert done.returncode == 1
    assert "!error" in done.stdout.splitlines()[1]
    assert "NUL" in done.stdout
    assert "\0" not in done.stdout
    assert done.stdout.splitlines()[2].startswith("z,")
    assert deberta("classify", "-m", models["nli"], "-i", rows, "--keep", "k", "-f", "tsv").returncode == 0


def test_labels_that_have_names_of_columns(deberta, models, tmp_path):
    out = tmp_path / "out.tsv"
    done = deberta("zero-shot", "-m", models["nli"], "--labels", "label,score,row,note", "-o", out, "a text")
    header = out.read_text().splitlines()[0].split("\t")
    assert done.returncode == 0 and len(set(header)) == len(header) == 7
    assert deberta("classify", "-m", models["nli"], "-i", out, "--input-field", "label").returncode == 0


def test_predictions_have_the_ending_of_their_form(deberta, models, tmp_path):
    (tmp_path / "dev.tsv").write_text("sentence\tlabel\na\t0\n")
    for name in ("p.xlsx", "p.npy", "p.html"):
        done = deberta(
            "eval", "--task", "sst-2", "-m", models["nli"], "--write-predictions", tmp_path / name, tmp_path / "dev.tsv"
        )
        assert done.returncode == 2 and "ends in .tsv" in done.stderr and not (tmp_path / name).exists()


def test_a_printed_configuration_is_not_appended_to_the_one_that_is_read(tmp_path):
    config = tmp_path / "config.json"
    config.write_text("{}")
    with open(config, "a") as out:
        done = subprocess.run(
            [BINARY, "classify", "--config", config, "--print-config"], stdout=out, stderr=subprocess.PIPE, check=False
        )
    assert done.returncode == 2 and config.read_text() == "{}"
