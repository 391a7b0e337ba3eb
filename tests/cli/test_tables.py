"""Tables and rows as people have them: from spreadsheets, from pandas, from datasets; each beside Python's csv or
json."""

import csv
import io
import json

import numpy
import pytest

from models import make_model, read_safetensors, write_safetensors

ROWS = [("1", "a fine film"), ("2", 'she said "fine", twice; really'), ("3", "two\nlines"), ("4", '5" pipe')]
SHEETS = {
    "commas": {},
    "semicolons": {"delimiter": ";"},
    "tabs in csv": {"delimiter": "\t"},
    "all quoted": {"quoting": csv.QUOTE_ALL},
    "semicolons, all quoted": {"delimiter": ";", "quoting": csv.QUOTE_ALL},
    "line ends of Windows": {"lineterminator": "\r\n"},
    "semicolons of Windows": {"delimiter": ";", "lineterminator": "\r\n"},
}


@pytest.fixture(scope="module")
def nli_model(tmp_path_factory):
    return make_model(
        tmp_path_factory.mktemp("model") / "nli", "sequence", labels=("contradiction", "neutral", "entailment")
    )


@pytest.fixture
def read(deberta, nli_model, tmp_path):
    """read(name, bytes, words...) -> [(kept columns, text)] of its rows, and what was noted."""

    def run(name, data, *words):
        (tmp_path / name).write_bytes(data)
        done = deberta("zero-shot", "-m", nli_model, "--labels", "a", "-i", name, "-f", "jsonl", *words, cwd=tmp_path)
        answers = [json.loads(line) for line in done.stdout.splitlines()]
        return [
            (
                {k: v for k, v in answer.items() if k not in ("sequence", "labels", "scores", "error", "empty")},
                answer.get("sequence"),
            )
            for answer in answers
        ], done.stderr

    return run


@pytest.mark.parametrize("sheet", SHEETS)
@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
def test_what_pythons_csv_writes(read, sheet, mark):
    out = io.StringIO()
    writer = csv.writer(out, **({"lineterminator": "\n"} | SHEETS[sheet]))
    writer.writerows([("id", "text"), *ROWS])
    rows, _ = read("rows.csv", mark + out.getvalue().encode())
    assert rows == [({"id": number}, text) for number, text in ROWS]


WRITTEN = {
    "blank lines": "\n\nid,text\n\n1,a\n\n\n2,b\n\n",
    "columns without names": "id,text,,\n1,a,,\n2,b,,\n",
    "a quote in a cell": 'id,text\n1,5" pipe\n2,say "x" now\n',
    "an empty cell": "id,text\n1,\n2,b\n",
    "a header in quotes": '"id","text"\n1,a\n2,b\n',
    "spaces": "id,text\n1, a \n2,b\n",
    "no line end": "id,text\n1,a\n2,b",
    "one column": "text\na\nb\n",
    "old Mac": "id,text\r1,a\r2,b\r",
}


@pytest.mark.parametrize("kind", WRITTEN)
def test_what_people_write(read, kind):
    text = WRITTEN[kind]
    header, *expected = [row for row in csv.reader(io.StringIO(text.replace("\r", "\n"))) if row]
    rows, _ = read("rows.csv", text.encode())
    at = header.index("text")
    assert rows == [
        ({name: cell for name, cell in zip(header, row) if name not in ("text", "")}, row[at]) for row in expected
    ]


def test_separators(read):
    expected = [({"id": "1"}, "a, b"), ({"id": "2"}, "c;d")]
    assert read("rows.csv", b'sep=;\r\nid;text\r\n1;a, b\r\n2;"c;d"\r\n')[0] == expected
    assert read("rows.csv", b"id|text\n1|a, b\n2|c;d\n", "--separator", "|")[0] == expected
    assert read("rows.tsv", b"id|text\n1|a, b\n2|c;d\n", "--separator", "|")[0] == expected
    assert read("rows.csv", b'id\ttext\n1\t"a, b"\n2\tc;d\n', "--separator", "tab")[0] == expected
    rows, error = read("rows.csv", b"a\n", "--separator", "ab")
    assert not rows and "--separator: expected a character" in error


def test_tab_files_whose_cells_are_quoted(read):
    """Without quoting by the format: told; where the header is quoted too they are read."""
    rows, error = read("rows.tsv", b'id\ttext\n1\t"she said ""fine"""\n2\tb\n')
    assert rows == [({"id": "1"}, '"she said ""fine"""'), ({"id": "2"}, "b")]
    assert error.count("cells begin and end with quotes") == 1 and "--input-format csv --separator tab" in error
    rows, error = read("rows.tsv", b'"id"\t"text"\n"1"\t"she said ""fine"""\n"2"\t"b\tc"\n')
    assert rows == [({"id": "1"}, 'she said "fine"'), ({"id": "2"}, "b\tc")] and "quotes" not in error


@pytest.mark.parametrize(
    "name, text, texts",
    [
        ("rows.json", '{"text": "a"}\n{"text": "b"}\n', ["a", "b"]),
        ("rows.json", '\n{"text": "a"}', None),
        ("rows.json", '[{"text": "a"}, {"text": "b"}]', ["a", "b"]),
        ("rows.json", '{"text":\n "a"}\n', ["a"]),
        ("rows.jsonl", '[{"text": "a"}, {"text": "b"}]\n', ["a", "b"]),
        ("rows.jsonl", '[\n{"text": "a"},\n{"text": "b"}\n]\n', ["a", "b"]),
        ("rows.ndjson", '{"text": "a"}\n', ["a"]),
        ("rows.json", '["a", "b"]\n', ["a", "b"]),
    ],
)
def test_json_by_its_first_bytes(read, name, text, texts):
    rows, error = read(name, text.encode())
    assert texts is None or [text for _, text in rows] == texts, error


def test_words_and_tags_as_lists(deberta, tmp_path):
    model = make_model(tmp_path / "tagger", "token", labels=("O", "B-PER", "I-PER"))
    sentences = [(["Ada", "lived", "in", "London"], ["B-PER", "O", "O", "O"]), (["Bob", "!"], ["B-PER", "O"])]
    (tmp_path / "rows.conll").write_text(
        "".join("".join(f"{word} {tag}\n" for word, tag in zip(*one)) + "\n" for one in sentences)
    )
    (tmp_path / "rows.jsonl").write_text(
        "".join(
            json.dumps({"id": i, "tokens": words, "ner_tags": tags}) + "\n" for i, (words, tags) in enumerate(sentences)
        )
    )
    (tmp_path / "numbers.jsonl").write_text('{"tokens": ["a"], "ner_tags": [1]}\n')
    columns, lists, numbers = (
        deberta("eval", "--task", "ner", "-m", model, "--bootstrap", 0, name, cwd=tmp_path)
        for name in ("rows.conll", "rows.jsonl", "numbers.jsonl")
    )
    assert columns.returncode == lists.returncode == 0 and columns.stdout == lists.stdout
    assert numbers.returncode == 1 and "write the names of the labels" in numbers.stderr
    joined = deberta("ner", "-m", model, "-f", "jsonl", "--keep", "none", *(" ".join(words) for words, _ in sentences))
    assert (
        deberta(
            "ner",
            "-m",
            model,
            "-f",
            "jsonl",
            "--keep",
            "none",
            "-i",
            "rows.jsonl",
            "--input-field",
            "tokens",
            cwd=tmp_path,
        ).stdout
        == joined.stdout
    )


def test_numbers_in_place_of_the_labels_of_a_task(deberta, nli_model, tmp_path):
    """The remedy works: the labels as numbers, scored as the names are."""
    rows = [
        {"premise": "a", "hypothesis": "b", "label": label}
        for label in ("entailment", "neutral", "contradiction", "neutral")
    ]
    order = ["entailment", "neutral", "contradiction"]
    (tmp_path / "names.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (tmp_path / "numbers.jsonl").write_text(
        "".join(json.dumps(row | {"label": order.index(row["label"])}) + "\n" for row in rows)
    )
    refused = deberta("eval", "--task", "nli", "-m", nli_model, "numbers.jsonl", cwd=tmp_path)
    assert refused.returncode == 1 and "task classification" in refused.stderr and "--label-map" in refused.stderr
    named = deberta("eval", "--task", "nli", "-m", nli_model, "--bootstrap", 0, "names.jsonl", cwd=tmp_path)
    by_number = deberta(
        "eval",
        "--task",
        "classification",
        "--input-field",
        "premise,hypothesis",
        "--label-map",
        "2,1,0",
        "-m",
        nli_model,
        "--bootstrap",
        0,
        "numbers.jsonl",
        cwd=tmp_path,
    )
    accuracy = [
        next(line.split("\t")[1] for line in done.stdout.splitlines() if line.startswith("accuracy"))
        for done in (named, by_number)
    ]
    assert accuracy[0] == accuracy[1]


@pytest.mark.parametrize("wrapper", ["module.", "_orig_mod.", "model.", "module._orig_mod."])
def test_weights_saved_from_a_wrapper(deberta, tmp_path, wrapper):
    plain, wrapped = (make_model(tmp_path / name, "sequence") for name in ("plain", "wrapped"))
    tensors = {
        wrapper + name: numpy.array(array) for name, array in read_safetensors(plain / "model.safetensors").items()
    }
    write_safetensors(wrapped / "model.safetensors", tensors)
    done = [deberta("classify", "-m", model, "a fine film") for model in (plain, wrapped)]
    assert done[0].stdout == done[1].stdout and f'every name begins with "{wrapper}"' in done[1].stderr
    deberta("convert", "-m", wrapped, "--to", tmp_path / "converted")
    assert set(read_safetensors(tmp_path / "converted/model.safetensors")) == set(
        read_safetensors(plain / "model.safetensors")
    )


def test_norms_by_their_former_names(deberta, tmp_path):
    plain, old = (make_model(tmp_path / name, "sequence") for name in ("plain", "old"))
    tensors = {
        name.replace("LayerNorm.weight", "LayerNorm.gamma").replace("LayerNorm.bias", "LayerNorm.beta"): numpy.array(
            array
        )
        for name, array in read_safetensors(plain / "model.safetensors").items()
    }
    assert any(name.endswith("gamma") for name in tensors)
    write_safetensors(old / "model.safetensors", tensors)
    assert (
        deberta("classify", "-m", plain, "a fine film").stdout == deberta("classify", "-m", old, "a fine film").stdout
    )


def test_csv_output_has_the_numbers_of_rows_a_mark_and_on_request_all_columns(deberta, sequence_model):
    rows = 'id,text,topic\n7,good film,a\n9,"bad, film",b\n'
    words = ("classify", "-m", sequence_model, "--input-format", "csv", "-f", "csv")
    records = lambda *more, stdin=rows: list(csv.reader(io.StringIO(deberta(*words, *more, stdin=stdin).stdout)))
    assert [record[:2] for record in records()] == [
        ["row", "label"],
        ["1", records("--keep", "none")[1][0]],
        ["2", records("--keep", "none")[2][0]],
    ]
    assert records("--keep", "none")[0] == ["label", "score", "note"]
    assert [record[:3] for record in records("--keep", "all")] == [
        ["id", "text", "topic"],
        ["7", "good film", "a"],
        ["9", "bad, film", "b"],
    ]
    assert records("--bom")[0][0] == "\ufeffrow"
    refused = deberta(*words[:-1], "tsv", "--bom", stdin=rows)
    assert refused.returncode == 2 and "--bom: expected --format csv" in refused.stderr
    lines = deberta(
        *words[:3],
        "-f",
        "csv",
        "--keep",
        "all",
        "--input-format",
        "jsonl",
        stdin='{"text": "a", "n": 1}\n{"text": "b", "new": 2}\n',
    )
    assert lines.returncode == 1 and lines.stdout.splitlines()[0] == "text,n,label,score,note"
    assert 'expected the keys of the first row (text, n), which are the columns, got also ""new""' in lines.stdout


def test_conllu_and_rows_of_questions_are_read(deberta, tmp_path):
    model = make_model(tmp_path / "token", "token", labels=("O", "B-X"))
    (tmp_path / "a.conllu").write_text(
        "# text = a b\n1\ta\t_\tO\n2-3\tbc\t_\t_\n2\tb\t_\tO\n3\tc\t_\tO\n\n", encoding="utf-8"
    )
    done = deberta("ner", "-m", model, "-i", tmp_path / "a.conllu", "-f", "conll")
    assert [line.split("\t")[0] for line in done.stdout.splitlines() if line] == ["a", "b", "c"], done.stderr
    row = {"id": "q", "context": "a cat sat", "question": "Who?", "answers": {"text": ["cat"], "answer_start": [2]}}
    document = {
        "version": "1.1",
        "data": [
            {
                "paragraphs": [
                    {
                        "context": row["context"],
                        "qas": [{"id": "q", "question": "Who?", "answers": [{"text": "cat", "answer_start": 2}]}],
                    }
                ]
            }
        ],
    }
    (tmp_path / "rows.jsonl").write_text(json.dumps(row) + "\n")
    (tmp_path / "list.json").write_text(json.dumps([row]))
    (tmp_path / "document.json").write_text(json.dumps(document))
    (tmp_path / "answers.json").write_text('{"q": "cat"}')
    found = [
        deberta("eval", "--task", "squad", tmp_path / name, "--predictions", tmp_path / "answers.json", "-f", "json")
        for name in ("document.json", "rows.jsonl", "list.json")
    ]
    assert found[0].returncode == 0 and found[0].stdout == found[1].stdout == found[2].stdout, [
        done.stderr for done in found
    ]
