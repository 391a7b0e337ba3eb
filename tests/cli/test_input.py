"""How a file of rows is recognised: endings, first bytes, encodings, line ends; and input that probably means something
else. Nothing is guessed silently."""

import bz2
import gzip
import io
import json
import lzma
import struct
import tarfile
import zipfile

import numpy
import pytest

from models import make_model
from test_rows import zstd

TEXTS = ("one text", "another")
FORMS = {
    "txt": "one text\nanother\n",
    "tsv": "id\ttext\n1\tone text\n2\tanother\n",
    "csv": 'text,id\n"one text",1\nanother,2\n',
    "jsonl": '{"text": "one text"}\n{"text": "another"}\n',
    "json": '["one text", "another"]',
}


@pytest.fixture
def classify(deberta, sequence_model):
    """classify(words..., stdin=...) on the tiny model; answers as jsonl without kept columns."""

    def run(*words, **more):
        return deberta("classify", "-m", sequence_model, "-f", "jsonl", "--activation", "none", *words, **more)

    return run


@pytest.fixture
def expected(classify):
    return classify(*TEXTS).stdout


def check(done, stdout, stderr=""):
    assert (done.returncode, done.stdout, done.stderr) == (0, stdout, stderr)


def refused(done, message, code=1):
    assert (done.returncode, done.stdout, done.stderr) == (code, "", message + "\n")


# ---- inputs given twice


def test_files_given_several_times_are_read_one_after_the_other(classify, tmp_path):
    (tmp_path / "a.csv").write_text("text\none text\n")
    (tmp_path / "b.jsonl").write_text('{"text": "another"}\n')
    both = classify("-i", "a.csv", "--input", "b.jsonl", cwd=tmp_path)
    check(both, classify(*TEXTS).stdout)
    check(
        classify("-i", "a.csv", "-i", "-", "-i", "b.jsonl", stdin="in between\n", cwd=tmp_path),
        classify("one text", "in between", "another").stdout,
    )
    refused(classify("-i", "-", "-i", "-", cwd=tmp_path), "--input: expected standard input once, got it twice", 2)
    # What is wrong with the second file is said before the first is answered.
    refused(classify("-i", "a.csv", "-i", "none.csv", cwd=tmp_path), "none.csv: cannot open: No such file or directory")
    (tmp_path / "c.csv").write_text("title\nx\n")
    refused(
        classify("-i", "a.csv", "-i", "c.csv", cwd=tmp_path),
        'c.csv: no column "text" among title; name it with --input-field',
    )


def test_files_of_a_configuration_add_up_too(classify, tmp_path):
    (tmp_path / "a,b.csv").write_text("text\none text\n")
    (tmp_path / "c.csv").write_text("text\nanother\n")
    (tmp_path / "options.json").write_text(json.dumps({"input": ["a,b.csv", "c.csv"]}))
    check(classify("--config", "options.json", cwd=tmp_path), classify(*TEXTS).stdout)


def test_lists_given_several_times_add_up(deberta, tmp_path):
    model = make_model(tmp_path / "m", "sequence", labels=("contradiction", "neutral", "entailment"))
    words = ("zero-shot", "-m", model, "-f", "jsonl", "a text")
    check(
        deberta(*words, "--labels", "sport,art", "--labels", "news"),
        deberta(*words, "--labels", "sport,art,news").stdout,
    )


@pytest.mark.parametrize(
    "words, message",
    [
        (("--top-k", "3", "-k", "5"), "--top-k: expected one value, got 2: 3, 5"),
        (("-f", "json", "--max-tokens", "8", "--max-tokens", "9"), "--format: expected one value, got 2: jsonl, json"),
        (
            ("--max-tokens", "8", "--max-tokens", "9", "--max-tokens", "10"),
            "--max-tokens: expected one value, got 3: 8, 9, 10",
        ),
        (("--config", "a", "--config", "b"), "--config: expected one value, got 2: a, b"),
    ],
)
def test_other_options_given_twice_are_refused(classify, words, message):
    refused(classify(*words, "a text"), message, 2)


# ---- endings and first bytes


@pytest.mark.parametrize(
    "name, form",
    [
        ("A.CSV", "csv"),
        ("a.Tsv", "tsv"),
        ("a.tab", "tsv"),
        ("a.NDJSON", "jsonl"),
        ("a.JsonL", "jsonl"),
        ("a.JSON", "json"),
        ("a.TXT", "txt"),
    ],
)
def test_endings_in_any_case(classify, expected, tmp_path, name, form):
    (tmp_path / name).write_text(FORMS[form])
    check(classify("-i", tmp_path / name, "--keep", "none"), expected)
    (tmp_path / (name + ".GZ")).write_bytes(gzip.compress(FORMS[form].encode()))
    check(classify("-i", tmp_path / (name + ".GZ"), "--keep", "none"), expected)


@pytest.mark.parametrize("compress", [gzip.compress, bz2.compress, lzma.compress, zstd])
def test_the_first_bytes_say_how_a_file_is_compressed(classify, expected, tmp_path, compress):
    stored = compress(FORMS["csv"].encode())
    for name in ("a.csv", "a.csv.gz"):  # downloads often have such names
        (tmp_path / name).write_bytes(stored)
        check(classify("-i", tmp_path / name, "--keep", "none"), expected)


@pytest.mark.parametrize("compress", [gzip.compress, bz2.compress, lzma.compress, zstd])
def test_standard_input_is_decompressed_too(deberta, sequence_model, expected, compress):
    done = deberta(
        "classify",
        "-m",
        sequence_model,
        "-f",
        "jsonl",
        "--activation",
        "none",
        stdin=compress(FORMS["txt"].encode()),
        encoding=None,
    )
    assert (done.returncode, done.stdout.decode(), done.stderr) == (0, expected, b"")


def archive(kind):
    out = io.BytesIO()
    if kind == "zip":
        with zipfile.ZipFile(out, "w") as file:
            file.writestr("a.csv", FORMS["csv"])
    elif kind == "tar":
        with tarfile.open(fileobj=out, mode="w") as file:
            info = tarfile.TarInfo("a.csv")
            info.size = len(FORMS["csv"])
            file.addfile(info, io.BytesIO(FORMS["csv"].encode()))
    elif kind == "npy":
        numpy.save(out, numpy.arange(3))
    elif kind == "npz":
        numpy.savez(out, a=numpy.arange(3))
    return out.getvalue()


@pytest.mark.parametrize(
    "data, what",
    [
        (archive("zip"), "a zip archive (such as .xlsx, .docx or .npz); unpack it first, or save the sheet as csv"),
        (archive("npz"), "a zip archive (such as .xlsx, .docx or .npz); unpack it first, or save the sheet as csv"),
        (archive("tar"), "a tar archive; unpack it first"),
        (archive("npy"), "a NumPy array (.npy); name the file that contains the texts"),
        (gzip.compress(archive("tar")), "a tar archive; unpack it first"),
        (gzip.compress(gzip.compress(b"text\n")), "gzip data within compressed data; decompress it once"),
        (b"PAR1\x15\x04\x15\x10PAR1", "a Parquet file; save its rows as csv or jsonl"),
        (b"SQLite format 3\0", "an SQLite database; save its rows as csv or jsonl"),
        (b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n", "a PDF; save its text as a .txt file"),
        ("a text\n".encode("utf-32"), "UTF-32; convert it to UTF-8"),
        (
            "a text\n".encode("utf-16-le"),
            "a NUL byte at byte 1: binary data, or UTF-16 without a byte order mark; convert it to UTF-8",
        ),
        (
            struct.pack("<Q", 2) + b"{}",
            "a NUL byte at byte 1: binary data, or UTF-16 without a byte order mark; convert it to UTF-8",
        ),
        (b"one\0two\0", "a NUL byte at byte 3: binary data, or UTF-16 without a byte order mark; convert it to UTF-8"),
    ],
)
def test_binary_files_are_refused_by_their_type(deberta, sequence_model, tmp_path, data, what):
    for name in ("a", "a.csv", "a.jsonl", "a.txt", "a.json"):
        (tmp_path / name).write_bytes(data)
        refused(
            deberta("tokenize", "-m", sequence_model, "-i", name, cwd=tmp_path), f"{name}: expected text, got {what}"
        )
    done = deberta("tokenize", "-m", sequence_model, stdin=data, encoding=None)
    assert (done.returncode, done.stdout, done.stderr.decode()) == (
        1,
        b"",
        f"standard input: expected text, got {what}\n",
    )


def test_texts_that_only_begin_like_something_else_are_texts(deberta, sequence_model):
    for text in ("PK", "BZh9 is a name", "PAR1 is a name", "P", "7z", "%PD", "BZh"):
        done = deberta("tokenize", "-m", sequence_model, "-f", "jsonl", stdin=text + "\n")
        check(done, deberta("tokenize", "-m", sequence_model, "-f", "jsonl", text).stdout)


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-be", "utf-8-sig"])
def test_byte_order_marks(classify, expected, tmp_path, encoding):
    mark = "\ufeff" if encoding == "utf-16-be" else ""
    for form, text in FORMS.items():
        path = tmp_path / f"a.{form}"
        path.write_bytes((mark + text.replace("\n", "\r\n")).encode(encoding))
        check(classify("-i", path, "--keep", "none"), expected)
    excel = tmp_path / "Sheet1.txt"  # "Unicode text" of Excel: UTF-16 with tabs
    excel.write_bytes("id\ttext\r\n1\tcaf\u00e9 \U0001f600\r\n".encode("utf-16"))
    check(classify("-i", excel, "--input-format", "tsv", "--keep", "none"), classify("caf\u00e9 \U0001f600").stdout)


def test_lines_that_end_in_carriage_returns_alone(classify, expected, tmp_path):
    for form in ("txt", "csv", "tsv", "jsonl"):
        (tmp_path / f"a.{form}").write_bytes(FORMS[form].replace("\n", "\r").encode())
        check(classify("-i", tmp_path / f"a.{form}", "--keep", "none"), expected)
    # Where there are line feeds, a carriage return is part of the text.
    done = classify("--input-format", "csv", "--keep", "none", stdin='text\n"one\rtext"\n')
    check(done, classify("one\rtext").stdout)


def test_json_is_known_by_its_first_line(classify, expected):
    note = "note: standard input looks like JSON and is read as {} (--input-format text reads its lines as texts)\n"
    check(classify("--keep", "none", stdin=FORMS["jsonl"]), expected, note.format("jsonl"))
    check(classify("--keep", "none", stdin=FORMS["json"]), expected, note.format("json"))
    check(classify(stdin='{\n  "text": "one text"\n}\n'), classify("one text").stdout, note.format("json"))
    check(classify("--input-format", "text", stdin=FORMS["json"] + "\n"), classify(FORMS["json"]).stdout)
    for text in ("[MASK] is a token", "{curly} words", "[1] a reference", "{", "[x", "{'a': 1}"):
        if text != "{":
            check(classify(stdin=text + "\n"), classify(text).stdout)


def test_text_lines_that_look_like_rows_cause_a_note(classify, tmp_path):
    (tmp_path / "a.txt").write_text(FORMS["jsonl"])
    check(
        classify("-i", "a.txt", cwd=tmp_path),
        classify(*FORMS["jsonl"].splitlines()).stdout,
        "note: the lines of a.txt are read as texts, although it looks like jsonl (--input-format jsonl)\n",
    )
    for form in ("csv", "tsv"):
        check(
            classify(stdin=FORMS[form]),
            classify(*FORMS[form].splitlines()).stdout,
            f"note: the lines of standard input are read as texts, although it looks like {form} (--input-format "
            f"{form})\n",
        )
    for header in ("\ufeffid;text;label", "Text;label", '"text";"label"', '"Text","label"', "sep=;", "id\tText"):
        form = "tsv" if "\t" in header else "csv"
        note = (
            f"note: the lines of standard input are read as texts, although it looks like {form} (--input-format "
            f"{form})\n"
        )
        assert classify(stdin=header + "\n1;good;a\n").stderr.count(note) == 1, header
    for line in ("some text; a label", "context matters, text too", "sep=;;", "-DOCSTART- O"):
        assert "looks like" not in classify(stdin=line + "\n").stderr, line
    check(
        classify("-i", "a.txt", "--input-format", "text", cwd=tmp_path), classify(*FORMS["jsonl"].splitlines()).stdout
    )


def test_a_header_that_is_read_as_a_row_causes_a_note(classify):
    note = (
        "note: standard input: the first row is read as data, although it looks like a header: when --input-field "
        "has numbers, a file has no header; name the columns instead\n"
    )
    for table, said in (("id,Text\n1,good\n", True), ("1,good\n2,text\n", False)):
        done = classify("--input-format", "csv", "--input-field", "2", "--keep", "none", stdin=table)
        assert done.stderr == (note if said else "") and len(done.stdout.splitlines()) == 2


def test_words_with_tags_that_are_read_as_texts_cause_a_note(deberta, tmp_path):
    model = make_model(tmp_path / "model", "token", labels=("O", "B-PER", "I-PER"))
    for first in ("-DOCSTART- -X- -X- O", "Ada NNP B-NP B-PER", "Ada B-PER", "the\tO", "Rome S-LOC\r"):
        done = deberta("ner", "-m", model, stdin=first + "\nwrote O\n\n")
        assert (
            "note: the lines of standard input are read as texts, although it looks like conll (--input-format conll)"
            in done.stderr
        ), first
    for text in ("O", "blood type O-", "vitamin B-12x", "Ada Lovelace of London", "type A-B", "plan B"):
        done = deberta("ner", "-m", model, stdin=text + "\n")
        assert ("looks like" in done.stderr) == (text == "vitamin B-12x"), text


def test_an_argument_that_names_a_file_causes_a_note(classify, tmp_path):
    (tmp_path / "reviews.csv").write_text(FORMS["csv"])
    check(
        classify("reviews.csv", cwd=tmp_path),
        classify("reviews.csv").stdout,
        'note: "reviews.csv" is read as a text, although a file has that name; -i reviews.csv reads the file\n',
    )
    check(classify("-q", "reviews.csv", cwd=tmp_path), classify("reviews.csv").stdout)


def test_bytes_that_are_not_utf8_are_counted(deberta, sequence_model, tmp_path):
    def run(data, *words):
        done = deberta("classify", "-m", sequence_model, "--keep", "none", *words, stdin=data, encoding=None)
        assert done.returncode == 0
        return done.stderr.decode()

    assert (
        run(b"caf\xe9\nfine\n\xff\xfe x\n".replace(b"\xff\xfe", b"x\xff"))
        == "note: 2 rows had invalid UTF-8, replaced by U+FFFD\n"
    )
    assert run("caf\u00e9\ufffd\n".encode()) == ""
    assert (
        run(b'text,id\n"two\xe9\nlines\xe9",1\n', "--input-format", "csv")
        == "note: 1 row had invalid UTF-8, replaced by U+FFFD\n"
    )
    assert (
        run(b'[{"text": "x\xe9"}, {"text": "y"}]', "--input-format", "json")
        == "note: 1 row had invalid UTF-8, replaced by U+FFFD\n"
    )
    assert (
        run("x\ud800\n".encode("utf-16-le", "surrogatepass").join((b"\xff\xfe", b"")))
        == "note: 1 row had invalid UTF-8, replaced by U+FFFD\n"
    )
    argument = deberta("classify", "-m", sequence_model, "caf\udce9")  # the byte E9
    assert argument.stderr == "note: 1 row had invalid UTF-8, replaced by U+FFFD\n"


def test_an_input_without_rows_causes_a_note(classify, tmp_path):
    for name, text in (("a.txt", ""), ("a.csv", ""), ("a.csv", "text,id\n"), ("a.jsonl", "\n\n"), ("a.json", "[]")):
        (tmp_path / name).write_text(text)
        check(classify("-i", tmp_path / name), "", "note: the input has no rows\n")


def test_a_folder_is_not_a_file(classify, tmp_path):
    refused(classify("-i", tmp_path), f"{tmp_path}: expected a file, got a folder")


# ---- columns and keys


@pytest.mark.parametrize(
    "text, words, message",
    [
        ("id,review\n1,x\n", (), 'no column "text" among id, review; name it with --input-field'),
        ("id,Text\n1,x\n", (), 'no column "text" among id, Text; did you mean Text? name it with --input-field'),
        (
            "id,text\n1,x\n",
            ("--input-field", "review"),
            'no column "review" among id, text; name it with --input-field',
        ),
        ("id,text\n1,x\n", ("--pair",), 'no column "text_pair" among id, text; name it with --input-field'),
        (
            "id,text\n1,x\n",
            ("--keep", "idd"),
            'no column "idd" among id, text; did you mean id? --keep names columns of the input',
        ),
        (
            "id|text\n1|x\n",
            (),
            'no column "text" among id|text; the columns seem to be separated by |: name it with --separator',
        ),
        (
            "id,text\n1,x\n",
            ("--separator", ";"),
            'no column "text" among id,text; the columns seem to be separated by ,: name it with --separator',
        ),
        ("x,y\n", ("--input-field", "3"), 'no column "3" among 1, 2; name it with --input-field'),
    ],
)
def test_a_column_that_is_not_there_stops_at_once(classify, text, words, message):
    refused(classify("--input-format", "csv", *words, stdin=text), "standard input: " + message)


def test_a_key_that_no_row_has_stops(classify):
    rows = "".join(json.dumps({"id": i, "review": "x"}) + "\n" for i in range(3))
    refused(
        classify("--input-format", "jsonl", "--input-field", "review.body", stdin=rows),
        'standard input: no row has the key "review.body", the first one has id, review; keys of objects '
        'within a row are not read; lift what you need to the row, as {"text": review.body}, and name it with '
        "--input-field",
    )
    refused(
        classify("--input-format", "jsonl", stdin=rows),
        'standard input: no row has the key "text", the first one has id, review; name it with --input-field',
    )
    refused(
        classify("--input-format", "jsonl", stdin=rows * 100),
        'standard input: no row has the key "text", the first one has id, review; name it with --input-field',
    )
    refused(
        classify("--input-format", "json", stdin="[" + rows.replace("\n", ",")[:-1] + "]"),
        'standard input: no row has the key "text", the first one has id, review; name it with --input-field',
    )
    # If one row has it, the others are bad rows.
    some = classify("--input-format", "jsonl", stdin=rows + '{"text": "one text"}\n')
    assert some.returncode == 1
    assert ["error" in json.loads(line) for line in some.stdout.splitlines()] == [True] * 3 + [False]
    assert some.stderr == "rows: 1 ok, 3 failed\n"


def test_a_key_kept_that_no_row_has_fails(classify):
    rows = '{"id": 1, "text": "x"}\n{"id": 2, "text": "y", "note": "n"}\n'
    assert classify("--input-format", "jsonl", "--keep", "note", stdin=rows).returncode == 0
    done = classify("--input-format", "jsonl", "--keep", "idd", stdin=rows)
    assert (done.returncode, done.stderr) == (
        1,
        'standard input: no row has the key "idd", the first one has id, text; --keep names keys of the input\n',
    )
    refused(
        classify("--input-format", "json", "--keep", "idd", stdin="[" + rows.replace("\n", ",")[:-1] + "]"),
        'standard input: no row has the key "idd", the first one has id, text; --keep names keys of the input',
    )


def test_names_of_what_rows_cannot_have_are_refused(classify):
    refused(
        classify("--keep", "id", "a text"),
        "--keep: expected rows with columns or keys of these names, got texts as arguments",
        2,
    )
    refused(
        classify("--keep", "id", stdin="a text\n"),
        "--keep: expected rows with columns or keys of these names, got lines of text from standard input",
        2,
    )
    refused(
        classify("--input-field", "review", stdin="a text\n"),
        "--input-field: expected rows with columns or keys, got lines of text from standard input; name their "
        "format with --input-format",
        2,
    )


def test_nli_knows_the_names_of_published_files(deberta, tmp_path):
    model = make_model(tmp_path / "m", "sequence", labels=("contradiction", "neutral", "entailment"))
    words = ("nli", "-m", model, "-f", "jsonl")
    answer = deberta(*words, "a man", "a person").stdout
    for first, second in (("premise", "hypothesis"), ("sentence1", "sentence2"), ("text", "text_pair")):
        check(
            deberta(
                *words, "--keep", "none", "--input-format", "csv", stdin=f"id,{second},{first}\n7,a person,a man\n"
            ),
            answer,
        )
        check(
            deberta(
                *words,
                "--keep",
                "none",
                "--input-format",
                "jsonl",
                stdin=json.dumps({first: "a man", second: "a person"}) + "\n",
            ),
            answer,
        )
        kept = json.loads(
            deberta(*words, "--input-format", "csv", stdin=f"id,{second},{first}\n7,a person,a man\n").stdout
        )
        assert kept["id"] == "7" and first not in kept and second not in kept
    refused(
        deberta(*words, "--input-format", "csv", stdin="premise,hypothesis,sentence1,sentence2\na,b,c,d\n"),
        "standard input: expected one pair of texts, got premise,hypothesis and sentence1,sentence2; name them "
        "with --input-field",
    )
    refused(
        deberta(*words, "--input-format", "csv", stdin="premise,conclusion\na,b\n"),
        'standard input: no column "text" among premise, conclusion; name it with --input-field',
    )
