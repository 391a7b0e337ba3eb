"""Forms of answers: csv, row numbers, names of kept columns, digits."""

import csv
import io
import json
import re
import shutil

import pytest

from models import make_model


def table_of(done):
    return list(csv.reader(io.StringIO(done.stdout, newline=""), strict=True))


def test_csv_is_read_back_by_another_reader_whatever_the_cells_hold(deberta, sequence_model, tmp_path):
    names = ["a,b", 'say "x"', "two\nlines", "cr\rhere", "tab\there", "back\\slash", " space ", "caf\u00e9", ""]
    rows = tmp_path / "rows.csv"
    with open(rows, "w", newline="") as file:
        csv.writer(file).writerows([["text", "name"], *(["fine", name] for name in names)])
    words = ("classify", "-m", sequence_model, "-i", rows, "--keep", "name", "-f", "csv")
    done = deberta(*words, encoding=None)
    got = list(csv.reader(io.StringIO(done.stdout.decode(), newline=""), strict=True))
    assert got[0] == ["name", "label", "score", "note"] and [row[0] for row in got[1:]] == names
    tsv = deberta("classify", "-m", sequence_model, "fine").stdout.splitlines()[1].split("\t")
    assert all(row[1:] == tsv for row in got[1:])
    assert (
        list(csv.reader(io.StringIO(deberta(*words, "--no-header", encoding=None).stdout.decode(), newline="")))
        == got[1:]
    )


@pytest.mark.parametrize("form", ["tsv", "csv", "table"])
def test_a_label_with_a_lone_surrogate_is_written_as_utf8(deberta, sequence_model, tmp_path, form):
    shutil.copytree(sequence_model, tmp_path / "m")
    config = json.loads((tmp_path / "m/config.json").read_text())
    config["id2label"], config["label2id"] = {str(i): f"{i}\ud800x" for i in range(len(config["id2label"]))}, {}
    (tmp_path / "m/config.json").write_text(json.dumps(config))
    told = deberta("classify", "-m", tmp_path / "m", "fine", "-f", form, encoding=None).stdout.decode("utf-8")
    assert "\ufffdx" in told
    assert "\\ud800x" in deberta("classify", "-m", tmp_path / "m", "fine", "-f", "json").stdout


def test_a_lone_empty_cell_of_csv_is_still_a_record(deberta, sequence_model):
    done = deberta("tokenize", "-m", sequence_model, "--decode", "--no-special", "-f", "csv", "1", "17")
    assert done.stdout.splitlines()[1] == '""' and len(table_of(done)) == 3


def test_bad_rows_keep_their_place_in_csv(deberta, sequence_model):
    done = deberta(
        "classify", "-m", sequence_model, "--input-format", "jsonl", "-f", "csv", stdin='{"text": "x"}\n{"no": 1}\n'
    )
    head, good, bad = table_of(done)
    assert done.returncode == 1 and head == ["row", "label", "score", "note"] and good[1] != "!error"
    assert bad == ["2", "!error", 'standard input:2: no key "text" among no; name it with --input-field', ""]


def test_every_verb_that_has_tsv_has_csv(deberta):
    for verb in ("classify", "ner", "extract", "eval", "tokenize", "inspect", "check", "convert", "bench", "info"):
        assert "|csv|" in deberta(verb, "--help").stdout.split("-f, --format")[1].split("[")[1], verb


# ---- several lines per text

MANY = {
    "ner": (
        "token",
        {"labels": ("O", "B-X", "I-X")},
        ("--aggregate", "none", "--ignore-labels", ""),
        "label\tscore\tstart\tend\tword\tnote",
        "a few words",
    ),
    "fill": ("lm", {}, ("--emd", "off"), "mask\ttoken_str\tscore\ttoken\tsequence\tnote", "a [MASK] ."),
    "detect": ("rtd", {}, (), "piece\tscore\treplaced\tstart\tend\tnote", "a few words"),
    "tokenize": ("lm", {}, (), "id\tpiece\tstart\tend", "a few words"),
}


@pytest.mark.parametrize("verb", MANY)
def test_lines_of_one_text_begin_with_the_number_of_its_row(deberta, tmp_path, verb):
    head, settings, words, columns, text = MANY[verb]
    model = make_model(tmp_path / "m", head, **settings)
    rows = f'{{"id": "x", "text": "{text}"}}\n{{"id": "y"}}\n{{"id": "z", "text": "{text}"}}\n'
    words = (verb, "-m", model, "--input-format", "jsonl", *words)
    done = deberta(*words, stdin=rows)
    lines = [line.split("\t") for line in done.stdout.splitlines()]
    count = (len(lines) - 2) // 2
    assert "\t".join(lines[0]) == "row\t" + columns and count > 1
    assert [line[0] for line in lines[1:]] == ["1"] * count + ["2"] + ["3"] * count and lines[count + 1][1] == "!error"
    assert [line[0] for line in csv.reader(io.StringIO(deberta(*words, "-f", "csv", stdin=rows).stdout))] == [
        line[0] for line in lines
    ]
    # The bad row counts, whether it is shown or not.
    skipped = deberta(*words, "--on-bad-row", "skip", stdin=rows).stdout.splitlines()
    assert [line.split("\t")[0] for line in skipped[1:]] == ["1"] * count + ["3"] * count
    # Columns that tell rows apart take the place of the row number.
    kept = [line.split("\t") for line in deberta(*words, "--keep", "id", stdin=rows).stdout.splitlines()]
    assert "\t".join(kept[0]) == ("input_id\t" if verb == "tokenize" else "id\t") + columns
    assert [line[0] for line in kept[1:]] == ["x"] * count + ["y"] + ["z"] * count
    assert [line[1:] for line in kept] == [line[1:] for line in lines]
    shown = deberta(*words, "-f", "table", stdin=rows).stdout.splitlines()
    assert shown[0].split()[0] == "row" and [line.split()[0] for line in shown[1:]] == [line[0] for line in lines[1:]]


def test_verbs_with_one_line_a_text_have_no_numbers(deberta, tmp_path, sequence_model):
    assert deberta("classify", "-m", sequence_model, "x").stdout.startswith("label\t")
    model = make_model(tmp_path / "m", "span")
    qa = ("qa", "-m", model, "Who ?", "Ada met Bob in Rome .")
    assert deberta(*qa).stdout.startswith("answer\t")
    two = [line.split("\t") for line in deberta(*qa, "-k", "2").stdout.splitlines()]
    assert two[0][0] == "row" and [line[0] for line in two[1:]] == ["1", "1"]
    assert deberta("embed", "-q", "-m", sequence_model, "x y").stdout.startswith("embedding\tnote\n")
    assert deberta("embed", "-q", "-m", sequence_model, "--pooling", "none", "x y").stdout.startswith(
        "row\tembedding\tnote\n1\t"
    )


def test_documents_of_a_query_begin_with_its_row(deberta, tmp_path):
    model = make_model(tmp_path / "m", "sequence", labels=("score",))
    rows = '{"query": "q", "documents": ["a b", "c"]}\n{"query": "r", "documents": ["d"]}\n'
    lines = [
        line.split("\t")
        for line in deberta("rerank", "-m", model, "--input-format", "jsonl", stdin=rows).stdout.splitlines()
    ]
    assert lines[0] == ["row", "rank", "index", "score", "text", "note"]
    assert [line[:2] for line in lines[1:]] == [["1", "1"], ["1", "2"], ["2", "1"]]


# ---- names


def test_what_is_kept_takes_no_name_of_the_answer(deberta, sequence_model):
    table = "label,text,score,input_score,id\ngold,fine,9,8,1\n"
    words = ("classify", "-m", sequence_model, "--input-format", "csv", "--keep", "label,score,input_score,id")
    assert (
        deberta(*words, stdin=table).stdout.splitlines()[0]
        == "input_label\tinput_input_score\tinput_score\tid\tlabel\tscore\tnote"
    )
    assert (
        deberta(*words, "-f", "csv", stdin=table).stdout.splitlines()[0]
        == "input_label,input_input_score,input_score,id,label,score,note"
    )
    row = json.loads(deberta(*words, "-f", "jsonl", stdin=table).stdout)
    assert [row[key] for key in ("input_label", "input_input_score", "input_score", "id")] == ["gold", "9", "8", "1"]
    assert list(row)[-1] == "labels"


def test_a_kept_error_is_not_a_failed_row(deberta, sequence_model):
    words = ("classify", "-m", sequence_model, "--input-format", "jsonl", "-f", "jsonl")
    good, bad = (
        json.loads(line)
        for line in deberta(
            *words, stdin='{"error": "E", "label": "l", "text": "x"}\n{"error": "F", "label": "m"}\n'
        ).stdout.splitlines()
    )
    assert good["input_error"] == "E" and good["input_label"] == "l" and "error" not in good
    assert bad["input_error"] == "F" and bad["input_label"] == "m" and bad["error"]["code"] == "input"


# ---- digits


def significant(number):
    return len(number.lower().split("e")[0].replace(".", "").replace("-", "").strip("0"))


@pytest.mark.parametrize("form", ["tsv", "csv", "table", "json", "jsonl"])
def test_scores_with_fewer_digits(deberta, tmp_path, form):
    model = make_model(tmp_path / "m", "token", labels=("O", "B-X", "I-X"))
    words = ("ner", "-m", model, "--ignore-labels", "", "-f", form, "a few words")
    whole, short = deberta(*words).stdout, deberta(*words, "--digits", "3").stdout
    pattern = re.compile(r"(?<=[\t ,:])0\.\d+(?=[\t ,}])")
    exact, rounded = pattern.findall(whole), pattern.findall(short)
    assert len(exact) == len(rounded) > 0
    scores = [(a, b) for a, b in zip(exact, rounded, strict=True) if a != b]
    assert scores and all(significant(b) <= 3 and float(b) == float(f"{float(a):.3g}") for a, b in scores)
    assert deberta(*words, "--digits", "0").stdout == whole


def test_digits_of_vectors_and_metrics(deberta, sequence_model, tmp_path):
    words = ("embed", "-q", "-m", sequence_model, "--digits", "2")
    for form in ("tsv", "jsonl"):
        numbers = re.findall(r"-?\d+\.\d+(?:e-?\d+)?", deberta(*words, "-f", form, "x y").stdout)
        assert len(numbers) > 8 and all(significant(number) <= 2 for number in numbers)
    refused = deberta(*words, "-o", tmp_path / "v.npy", "x y")
    assert refused.returncode == 2
    assert refused.stderr == f"--digits: expected answers as text, got -o {tmp_path}/v.npy\n"
    (tmp_path / "gold.tsv").write_text("sentence\tlabel\na\t1\nb\t0\nc\t1\n")
    (tmp_path / "answers.tsv").write_text("index\tprediction\n0\t1\n1\t0\n2\t0\n")
    words = (
        "eval",
        "--task",
        "sst-2",
        tmp_path / "gold.tsv",
        "-p",
        tmp_path / "answers.tsv",
        "--bootstrap",
        "0",
        "--no-header",
        "--digits",
        "4",
    )
    assert deberta(*words).stdout == "accuracy\t0.6667\t\t\n"
    assert json.loads(deberta(*words, "-f", "json").stdout)["metrics"] == {"accuracy": 0.6667}
