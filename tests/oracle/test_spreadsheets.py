"""Tables that pandas writes are read as pandas reads them, and what the program writes is read by pandas."""

import csv
import io
import json
import random
import re
import subprocess
import sys

import pandas
import pytest

from clean_environment import clean_environment
from oracle_runs import BINARY, ROOT

sys.path.insert(0, str(ROOT / "tests/cli"))
from models import make_model

BINARY = BINARY.resolve()  # runs change the folder

TEXTS = [
    "a fine film",
    'she said "fine", twice; really',
    "two\nlines",
    '5" pipe',
    "",
    "a\tb",
    "a; b",
    " blanks ",
    "Übersee Łukasz 東京 😀",
    "=1+2",
    "'quoted'",
    "back\\slash",
    '"',
    "sep=;",
    "#5",
]
WAYS = {
    "plain": {},
    "with its index": {"index": True},
    "semicolons": {"sep": ";"},
    "semicolons with its index": {"sep": ";", "index": True},
    "tabs": {"sep": "\t"},
    "all quoted": {"quoting": csv.QUOTE_ALL},
    "texts quoted": {"quoting": csv.QUOTE_NONNUMERIC},
    "for Excel": {"encoding": "utf-8-sig"},
    "for Excel in Germany": {"encoding": "utf-8-sig", "sep": ";", "lineterminator": "\r\n"},
    "line ends of Windows": {"lineterminator": "\r\n"},
    "bars": {"sep": "|"},
}
OPTIONS = {"bars": ["--separator", "|"]}


def frame():
    dice = random.Random(1)
    return pandas.DataFrame(
        {
            "id": range(len(TEXTS)),
            "text": TEXTS,
            "topic": [dice.choice("abc") for _ in TEXTS],
            "empty": ["" for _ in TEXTS],
        }
    )


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    return make_model(tmp_path_factory.mktemp("model"), "sequence", labels=("contradiction", "neutral", "entailment"))


def read(folder, model, name, *words):
    """[(id, text)] as the program reads them."""
    clean = clean_environment()
    done = subprocess.run(
        [BINARY, "zero-shot", "-m", model, "--labels", "a", "-i", name, "-f", "jsonl", *words],
        cwd=folder,
        env=clean,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    return [
        (str(answer["id"]), answer["sequence"], answer["topic"]) for answer in map(json.loads, done.stdout.splitlines())
    ]


def expected(table):
    return [(str(row.id), row.text, row.topic) for row in table.itertuples()]


@pytest.mark.parametrize("way", WAYS)
def test_a_table_that_pandas_writes(tmp_path, model, way):
    settings = {"index": False} | WAYS[way]
    frame().to_csv(tmp_path / "rows.csv", **settings)
    again = pandas.read_csv(
        tmp_path / "rows.csv",
        sep=settings.get("sep", ","),
        dtype=str,
        keep_default_na=False,
        encoding=settings.get("encoding", "utf-8"),
    )
    rows = read(tmp_path, model, "rows.csv", *OPTIONS.get(way, []))
    assert rows == expected(again) == expected(frame())


@pytest.mark.parametrize("compression", ["gzip", "bz2", "xz", "zstd"])
def test_a_compressed_one(tmp_path, model, compression):
    ending = {"gzip": "gz", "bz2": "bz2", "xz": "xz", "zstd": "zst"}[compression]
    if compression == "zstd":  # by the tool of the system: pandas wants one more package
        frame().to_csv(tmp_path / "rows.csv", index=False)
        subprocess.run(["zstd", "-q", "--rm", tmp_path / "rows.csv"], check=True)
    else:
        frame().to_csv(tmp_path / f"rows.csv.{ending}", index=False, compression=compression)
    assert read(tmp_path, model, f"rows.csv.{ending}") == expected(frame())


@pytest.mark.parametrize(
    "name, settings",
    [
        ("rows.jsonl", {"orient": "records", "lines": True}),
        ("rows.json", {"orient": "records", "lines": True}),
        ("rows.json", {"orient": "records"}),
        ("rows.jsonl", {"orient": "records"}),
        ("rows.json", {"orient": "records", "indent": 2}),
        ("rows.jsonl", {"orient": "records", "lines": True, "force_ascii": False}),
    ],
)
def test_json_that_pandas_writes(tmp_path, model, name, settings):
    frame().to_json(tmp_path / name, **settings)
    assert read(tmp_path, model, name) == expected(frame())


@pytest.mark.parametrize("form", ["csv", "tsv"])
def test_what_the_program_writes(tmp_path, model, form):
    frame().to_csv(tmp_path / "rows.csv", index=False)
    words = [
        BINARY,
        "zero-shot",
        "-m",
        model,
        "--labels",
        "a,b",
        "--multi-label",
        "-i",
        "rows.csv",
        "-f",
        form,
        "--keep",
        "all",
    ]
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, timeout=300)
    assert done.returncode == 0, done.stderr
    table = pandas.read_csv(
        io.BytesIO(done.stdout),
        sep="," if form == "csv" else "\t",
        dtype=str,
        keep_default_na=False,
        quoting=csv.QUOTE_MINIMAL if form == "csv" else csv.QUOTE_NONE,
    )
    assert list(table.columns)[:4] == ["id", "text", "topic", "empty"] and len(table) == len(TEXTS)
    texts = list(table.text)
    if form == "tsv":  # our escapes: docs/reference/output.md
        back = {"\\t": "\t", "\\n": "\n", "\\r": "\r", "\\0": "\0", "\\\\": "\\"}
        texts = [
            "".join(back.get(part, part) for part in re.split(r"(\\.)", text[2:])) if text.startswith("\\:") else text
            for text in texts
        ]
    assert texts == TEXTS and list(table.topic) == list(frame().topic)
