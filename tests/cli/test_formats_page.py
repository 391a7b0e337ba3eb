"""docs/reference/output.md names the columns of every verb that prints a table, as they are."""

import re

import pytest

from models import ROOT, make_extractor, make_model

PAGE = (ROOT / "docs/reference/output.md").read_text()
ROWS = {found[1]: found[2] for found in re.finditer(r"^\| `([a-z-]+)` \| (.*?) \|", PAGE, re.M)}
WORDS = {
    "classify": ("sequence", ["a text"]),
    "nli": ("nli", ["a", "b"]),
    "zero-shot": ("nli", ["--labels", "x,y", "--multi-label", "a text"]),
    "ner": ("token", ["a text"]),
    "extract": ("extractor", ["--labels", "x", "--threshold", "0", "a text"]),
    "qa": ("span", ["who ?", "a text here"]),
    "choose": ("score", ["a", "b", "c", "d"]),
    "rerank": ("score", ["a", "b", "c"]),
    "fill": ("lm", ["a [MASK]"]),
    "score": ("lm", ["a text"]),
    "detect": ("rtd", ["a text"]),
    "embed": ("sequence", ["a text"]),
    "analyze": ("sequence", ["a text"]),
    "tokenize": ("sequence", ["a text"]),
    "inspect": ("sequence", []),
    "check": ("sequence", []),
    "info": ("sequence", []),
}
ADDED = {"row", "note"}


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    folder = tmp_path_factory.mktemp("models")
    made = {head: make_model(folder / head, head) for head in ("sequence", "token", "span", "lm", "rtd")}
    return made | {
        "nli": make_model(folder / "nli", "sequence", labels=("contradiction", "neutral", "entailment")),
        "score": make_model(folder / "score", "sequence", labels=("score",)),
        "extractor": make_extractor(folder / "extractor"),
    }


def test_every_verb_that_prints_a_table_has_a_row(deberta):
    overview = deberta("help").stdout
    verbs = re.findall(r"^  ([a-z-]+) +\S", overview.split("verbs:")[1].split("examples:")[0], re.M)
    printing = {
        verb
        for verb in verbs
        if verb != "train-tokenizer" and re.search(r"^  -f, --format", deberta("help", verb).stdout, re.M)
    }
    assert printing == set(ROWS) and printing - {"eval", "convert", "bench"} == set(WORDS)


@pytest.mark.parametrize("verb", WORDS)
def test_the_columns_are_those_of_the_page(deberta, models, verb):
    head, words = WORDS[verb]
    done = deberta(verb, "-m", models[head], *words, "-f", "tsv")
    assert done.returncode == 0, done.stderr
    columns = [column for column in done.stdout.splitlines()[0].split("\t") if column not in ADDED]
    named = re.findall(r"`([a-z_0-9 ]+)`", ROWS[verb])[0].split()
    assert columns[: len(named)] == named, (columns, named)
