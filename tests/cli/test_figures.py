"""docs/records/figures.md: each command of its tables runs, and shows the numbers that the table gives."""

import json
import re
import shlex

import numpy
import pytest

from conftest import SANITIZED
from models import ROOT

PAGE = ROOT / "docs/records/figures.md"
ELSEWHERE = {  # commands of the page that other files run
    "report RUN --beside OTHER": "tests/train/cli/test_report.py",
    "pretrain --recipe base": "tests/train/cli/test_recipe.py",
    "info --sizes config.json": "tests/cli/test_sizes.py",
}
TERMS = ("c2c", "c2p", "p2c")


def rows_of_the_page():
    """{command: the cells of its row}"""
    rows = [line.split(" | ") for line in PAGE.read_text().split("## In words")[0].splitlines() if " | `" in line]
    return {re.match("`([^`]+)`", cells[1])[1]: cells for cells in rows}


ROWS = rows_of_the_page()


@pytest.fixture
def answer(deberta):
    """answer(command) -> its object; of several lines a list of them."""

    def run(command):
        done = deberta(*shlex.split(command), "--format", "json", cwd=ROOT)
        assert done.returncode == 0, done.stderr
        found = json.loads(done.stdout)
        return found[0] if len(found) == 1 else found

    return run


# ---- what each must show


def words(*expected):
    """Of a drawing: the texts that stand in it."""

    def check(picture):
        for word in expected:
            assert word in picture, word

    return check


def index(found):
    expected = numpy.arange(6)[:, None] - numpy.arange(6)
    assert numpy.array_equal(found["distance"], expected)
    assert numpy.array_equal(found["row"], 256 + expected) and numpy.min(found["row"]) == 251


def buckets(found):
    bucket = dict(zip(found["distance"], found["bucket"]))
    assert all(bucket[distance] == distance for distance in range(-128, 129))
    row = dict(zip(found["distance"], found["row"]))
    assert row[505] == 510 and {row[distance] for distance in range(506, 2048)} == {511}


def cosines(found):
    cosine = numpy.array(found["cosine"])
    assert cosine[258, 259] == pytest.approx(0.79, abs=0.005) and cosine[258, 271] == pytest.approx(0.12, abs=0.005)


def keys_cosines(found):
    cosine = numpy.array(found["cosine"])
    assert cosine.shape == (512, 512) and numpy.allclose(numpy.diag(cosine), 1, atol=1e-5)
    assert numpy.allclose(cosine, cosine.T, atol=1e-5) and cosine[258, 259] != pytest.approx(0.79, abs=0.005)


def query(found, answer):
    (place,) = answer(next(command for command in ROWS if "--show terms --layer 3" in command))["places"]
    at, tokens = place["tokens"].index("\u2581sat"), len(place["tokens"])
    for key in range(tokens):
        assert found["score"][256 + at - key] == pytest.approx(place["c2p"][at][key], abs=1e-4)


def tables(found):
    mean = {(one["first"], one["second"]): one["mean_cosine"] for one in found["tables"]}
    assert mean["word", "relative"] == pytest.approx(0.042, abs=0.0005)
    assert mean["word", "absolute"] == pytest.approx(0.042, abs=0.0005)
    assert all(one["random"] == pytest.approx(0.050, abs=0.0005) for one in found["tables"])


def matrices(found):
    (place,) = found["places"]
    terms = {name: numpy.array(place[name]) for name in (*TERMS, "sum", "weight")}
    assert numpy.allclose(terms["c2c"] + terms["c2p"] + terms["p2c"], terms["sum"], atol=1e-4)
    power = numpy.exp(terms["sum"] - terms["sum"].max(-1, keepdims=True))
    assert numpy.allclose(power / power.sum(-1, keepdims=True), terms["weight"], atol=1e-5)
    assert numpy.allclose(terms["weight"].sum(-1), 1, atol=1e-5)


def pair(found, answer):
    assert len(found["places"]) == 12
    (whole,) = answer(next(command for command in ROWS if "--show terms --layer 3" in command))["places"]
    (place,) = [place for place in found["places"] if (place["layer"], place["head"]) == (3, 1)]
    at, key = whole["tokens"].index("\u2581sat"), whole["tokens"].index("\u2581cat")
    for name in TERMS:
        assert numpy.ravel(place[name]) == pytest.approx([whole[name][at][key]], abs=1e-4)


def quantiles(found, answer):
    (whole,) = answer(next(command for command in ROWS if "--show terms --layer 3" in command))["places"]
    assert len(found["heads"]) == 12
    (head,) = [head for head in found["heads"] if (head["layer"], head["head"]) == (3, 1)]
    for name in (*TERMS, "sum"):
        got = head[name]
        assert got == sorted(got)
        assert got == pytest.approx(numpy.quantile(whole[name], [0, 0.25, 0.5, 0.75, 1]), abs=1e-4)


def shares(found):
    assert len(found["heads"]) == 12
    assert all(sum(head["shares"].values()) == pytest.approx(1, abs=1e-6) for head in found["heads"])


def two_texts(found):
    first, second = (
        [place for place in found["places"] if place["layer"] == 1 and place["side"] == f"text {i}"] for i in (1, 2)
    )
    assert len(first) == len(second) == 4

    def of(places, name):
        return numpy.ravel([place[name] for place in places])

    assert of(first, "c2c") == pytest.approx(of(second, "c2c"), abs=1e-5)
    for name in ("c2p", "p2c"):
        assert numpy.abs(of(first, name) - of(second, name)).max() > 0.5, name


def two_models(found):
    fill, other = found["places"]
    assert (fill["side"], other["side"]) == ("builtin:fill", "builtin:entailment")
    for place in (fill, other):
        assert numpy.allclose(numpy.sum(place["weight"], -1), 1, atol=1e-5)
    assert fill["tokens"] == other["tokens"] and not numpy.allclose(fill["weight"], other["weight"], atol=1e-2)


def passes(found):
    first, second = found["places"]
    assert first["p2c"] == second["p2c"] and not numpy.allclose(first["c2c"], second["c2c"], atol=0.1)


def predictions(found):
    forms = [form for mask in found["masks"] for form in mask["forms"]]
    assert {form["form"] for form in forms} == {"with", "without", "shifted", "swapped"}
    assert all(form["hidden_change"] == 0 for form in forms)  # bit for bit
    assert all((form["logit_change"] > 0) == (form["form"] != "with") for form in forms)


def orders(found):
    first, second = found["fillings"]
    assert first["words"] == ["store", "mall"] and second["words"] == ["mall", "store"]
    assert first["with"] - second["with"] == pytest.approx(1.38, abs=0.02)
    assert first["without"] - second["without"] == pytest.approx(3.41, abs=0.02)


def walk(found):
    drawn = [token for token in found["tokens"] if token["masked"]]
    assert [(token["drawn"], token["label"]) for token in drawn] == [("\u2581talking", 1), ("\u2581to", 0), ("mate", 1)]
    assert [token["drawn"] for token in drawn if token["replaced"] >= 0.5] == ["\u2581talking"]
    assert all(token["replaced"] < 0.5 for token in found["tokens"] if not token["label"])
    assert found["generator"]["tokens"] == 3 and found["discriminator"]["tokens"] == len(found["tokens"])
    losses = [-numpy.log(token["drawn_probability"]) for token in drawn if token["label"] == 0]
    assert losses == pytest.approx([token["generator_loss"] for token in drawn if token["label"] == 0], rel=1e-4)
    said = [-numpy.log(token["replaced"] if token["label"] else 1 - token["replaced"]) for token in found["tokens"]]
    assert found["discriminator"]["loss"] == pytest.approx(numpy.mean(said), rel=1e-4)


def parameters(found):
    base, large, third = (size["parameters"] for size in found)
    assert base["relative_projections"] - 12 * 768 == 2 * 12 * 768**2
    assert large["relative_projections"] - 24 * 1024 == 2 * 24 * 1024**2
    assert third["relative_projections"] == 0
    millions = [round((size["words"] + size["backbone"]) / 1e6) for size in (base, large, third)]
    assert millions == [139, 405, 434]


def operations(found):
    first, third = (size["operations"] for size in found)
    assert first["ratio_of_scores"] == 3 and 2 < third["ratio_of_scores"] < 3
    assert first["ratio"] == pytest.approx(1.10, abs=0.005) and 1 < third["ratio"] < first["ratio"]


def published(found):
    values = {row["model"]: row for row in found}
    assert values["DeBERTa large (paper)"]["value"] == 91.1 and values["DeBERTa v3-large"]["value"] == 91.8
    assert values["-C2P"]["value"] == 85.9 and "Table 4" in values["-C2P"]["source"]
    assert all(row["source"] for row in found)


# ---- each row of the page and its check

CHECKS = {
    "chart docs/concepts/pictures/where.json -o X.svg": words("BERT", "DeBERTa"),
    "--length 6": index,
    "--figure buckets": buckets,
    "--figure cosines": cosines,
    "--vectors keys": keys_cosines,
    "--show positions --query sat": query,
    "--show tables": tables,
    "chart docs/concepts/pictures/terms.json -o X.svg": words("c2c", "c2p", "p2c"),
    "--show terms --layer 3": matrices,
    "--show terms --query sat": pair,
    "--figure quantiles": quantiles,
    'analyze -m builtin:fill "The cat sat on the mat ."': shares,
    "--show compare --query deep": two_texts,
    "--show compare --with": two_models,
    "chart docs/concepts/pictures/passes.json -o X.svg": words("position"),
    "--figure passes": passes,
    "--figure predictions": predictions,
    "--words store,mall": orders,
    "chart docs/concepts/pictures/replaced.json -o X.svg": words("generator", "discriminator"),
    "--show replaced": walk,
    "info --sizes v1-base,v1-large,v3-large": parameters,
    "info --sizes v1-base,v3-base --length 512": operations,
    "eval --published --task mnli": published,
}
RUN = [command for command in ROWS if command not in ELSEWHERE]


def check_of(command):
    (check,) = [check for part, check in CHECKS.items() if part in command]
    return check


def test_every_row_is_checked_somewhere():
    assert len(RUN) == len(CHECKS) and len({check_of(command) for command in RUN}) == len(RUN)
    assert ELSEWHERE.keys() <= ROWS.keys()
    for command, place in ELSEWHERE.items():
        option = next(word for word in command.split() if word.startswith("--"))
        assert option in (ROOT / place).read_text(), command


@pytest.mark.parametrize("command", RUN, ids=lambda command: re.sub("[^a-z0-9]+", "-", command)[:60])
def test_a_figure_shows_what_the_page_says(deberta, answer, tmp_path, command):
    check = check_of(command)
    if " -o X.svg" in command:
        done = deberta(*shlex.split(command.replace("X.svg", str(tmp_path / "x.svg"))), cwd=ROOT)
        assert done.returncode == 0, done.stderr
        check((tmp_path / "x.svg").read_text())
    elif check in (query, pair, quantiles):  # against the matrices
        check(answer(command), answer)
    else:
        check(answer(command))


@pytest.mark.skipif(SANITIZED, reason="too slow under a sanitizer")
def test_shares_of_the_variance_over_real_lines(deberta, shared):
    """Content to content leads in neither of the models that are a pair."""
    import lzma

    with lzma.open(shared("data/wikitext/valid.txt.xz"), "rt", encoding="utf-8") as lines:
        texts = [line for line in lines if line.strip() and not line.startswith(" =")][:30]
    for model, expected in (("fill", (0.26, 0.31, 0.43)), ("detect", (0.30, 0.42, 0.28))):
        done = deberta("analyze", "-m", f"builtin:{model}", "--format", "jsonl", stdin="".join(texts))
        assert done.returncode == 0, done.stderr
        heads = [head["shares"] for line in done.stdout.splitlines() for head in json.loads(line)["heads"]]
        means = [numpy.mean([head[name] for head in heads]) for name in TERMS]
        assert means == pytest.approx(expected, abs=0.01) and max(means) != means[0]
