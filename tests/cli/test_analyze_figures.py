"""analyze --show: every figure as lines, objects, arrays, a picture and a page, its numbers against plain sums in NumPy
over the model's own weights and hidden states."""

import csv
import io
import json
import re

import numpy
import pytest

from figures_by_hand import (
    FILL,
    HEADS,
    MASKED,
    ROWS,
    SIZE,
    TEXT,
    an_object,
    by_heads,
    linear,
    norm,
    row_of,
    table,
    weights_of,
)
from models import ROOT, make_model, read_safetensors

# ---- terms


@pytest.fixture
def looped(sequence_model, hidden):
    """c2c, c2p and p2c of TEXT in each layer, [H, L, L], by plain loops over the weights, and their softmax."""
    weights, tensors = weights_of(sequence_model), hidden(sequence_model, TEXT)
    relative = norm(weights["encoder.rel_embeddings.weight"], weights, "encoder.LayerNorm")
    scale, layers = 1 / (3 * SIZE) ** 0.5, []
    for n in (1, 2):
        x, self = tensors[f"hidden.{n - 1}"][0].astype(float), f"encoder.layer.{n - 1}.attention.self"
        q, k = by_heads(linear(x, weights, f"{self}.query_proj")), by_heads(linear(x, weights, f"{self}.key_proj"))
        qr = by_heads(linear(relative, weights, f"{self}.query_proj"))
        kr = by_heads(linear(relative, weights, f"{self}.key_proj"))
        tokens = len(x)
        terms = {name: numpy.zeros((HEADS, tokens, tokens)) for name in ("c2c", "c2p", "p2c")}
        for h in range(HEADS):
            for i in range(tokens):
                for j in range(tokens):
                    row = row_of(i - j)
                    terms["c2c"][h, i, j] = scale * q[h, i] @ k[h, j]
                    terms["c2p"][h, i, j] = scale * q[h, i] @ kr[h, row]
                    terms["p2c"][h, i, j] = scale * k[h, j] @ qr[h, row]
        terms["sum"] = terms["c2c"] + terms["c2p"] + terms["p2c"]
        weight = numpy.exp(terms["sum"] - terms["sum"].max(-1, keepdims=True))
        terms["weight"] = weight / weight.sum(-1, keepdims=True)
        layers.append(terms)
    return layers


TERMS = ["c2c", "c2p", "p2c", "sum", "weight"]


def test_matrices_are_those_of_a_loop(deberta, sequence_model, tmp_path, looped):
    for layer, terms in enumerate(looped, 1):
        for head in range(HEADS):
            words = ("analyze", "-m", sequence_model, "--show", "terms", "--layer", layer, "--head", head + 1, TEXT)
            assert deberta(*words, "-o", tmp_path / "a.safetensors").returncode == 0
            arrays = read_safetensors(tmp_path / "a.safetensors")
            assert list(arrays) == TERMS
            for name in TERMS:
                assert numpy.allclose(arrays[name], terms[name][head], atol=2e-5), (layer, head, name)
            assert deberta(*words, "-o", tmp_path / "a.npy").returncode == 0
            assert numpy.array_equal(numpy.load(tmp_path / "a.npy"), numpy.array([arrays[name] for name in TERMS]))


def test_without_a_head_the_matrices_are_means_of_the_last_layer(deberta, sequence_model, looped):
    lines = table(deberta("analyze", "-m", sequence_model, "--show", "terms", "-f", "tsv", TEXT))
    tokens = len(looped[1]["c2c"][0])
    assert len(lines) == tokens**2 and {(line["layer"], line["head"]) for line in lines} == {("2", "")}
    for line in lines:
        for name in TERMS:
            expected = looped[1][name].mean(0)[int(line["query"]), int(line["key"])]
            assert float(line[name]) == pytest.approx(expected, abs=2e-5)
    answer = an_object(deberta("analyze", "-m", sequence_model, "--show", "terms", "-f", "json", TEXT))
    (place,) = answer["places"]
    assert numpy.allclose(place["c2p"], looped[1]["c2p"].mean(0), atol=2e-5) and place["tokens"][0] == "[CLS]"


def test_a_pair_of_words_in_every_head(deberta, sequence_model, looped):
    words = ("analyze", "-m", sequence_model, "--show", "terms", "--query", "film", "--key", "[CLS]")
    lines = table(deberta(*words, "-f", "tsv", TEXT))
    assert [(line["layer"], line["head"]) for line in lines] == [("1", "1"), ("1", "2"), ("2", "1"), ("2", "2")]
    answer = an_object(deberta(*words, "-f", "json", TEXT))
    assert [(place["layer"], place["head"]) for place in answer["places"]] == [(1, 1), (1, 2), (2, 1), (2, 2)]
    offsets = json.loads(deberta("tokenize", "-m", sequence_model, "-f", "jsonl", TEXT).stdout)["offsets"]
    query = next(i for i, (begin, end) in enumerate(offsets) if begin == TEXT.index("film") and end > begin)
    for line in lines:
        assert (int(line["query"]), int(line["key"]), line["key_token"]) == (query, 0, "[CLS]")
        for name in TERMS:
            expected = looped[int(line["layer"]) - 1][name][int(line["head"]) - 1, query, 0]
            assert float(line[name]) == pytest.approx(expected, abs=2e-5)


def test_quantiles_are_those_of_all_pairs(deberta, sequence_model, looped):
    lines = table(
        deberta("analyze", "-m", sequence_model, "--show", "terms", "--figure", "quantiles", "-f", "tsv", TEXT)
    )
    assert len(lines) == 2 * HEADS * 4
    for line in lines:
        values = looped[int(line["layer"]) - 1][line["term"]][int(line["head"]) - 1]
        got = [float(line[name]) for name in ("low", "lower", "median", "upper", "high")]
        assert got == pytest.approx(numpy.quantile(values, [0, 0.25, 0.5, 0.75, 1]), abs=2e-5)


def test_a_term_that_the_model_lacks_is_no_number(deberta, tmp_path):
    model = make_model(tmp_path / "model", "rtd", pos_att_type="c2p")
    lines = table(deberta("analyze", "-m", model, "--show", "terms", "-f", "tsv", "a film"))
    assert all(line["p2c"] == "" and line["c2p"] != "" for line in lines)
    answer = an_object(deberta("analyze", "-m", model, "--show", "terms", "-f", "json", "a film"))
    assert answer["places"][0]["p2c"] is None
    assert (
        deberta("analyze", "-m", model, "--show", "terms", "a film", "-o", tmp_path / "a.safetensors").returncode == 0
    )
    assert list(read_safetensors(tmp_path / "a.safetensors")) == ["c2c", "c2p", "sum", "weight"]


def test_matrices_side_by_side_share_a_scale(deberta, sequence_model, tmp_path):
    assert deberta("analyze", "-m", sequence_model, "--show", "terms", TEXT, "-o", tmp_path / "a.svg").returncode == 0
    picture = (tmp_path / "a.svg").read_text()
    for title in ("content to content", "content to position", "position to content", "sum", "weights"):
        assert f">{title}" in picture
    assert "layer 2, mean of all heads" in picture and "what the distance asks" in picture
    answer = an_object(deberta("analyze", "-m", sequence_model, "--show", "terms", "-f", "json", TEXT))
    most = max(abs(x) for name in TERMS[:4] for row in answer["places"][0][name] for x in row)
    full = re.findall(r'class="d(?:0|64)"[^>]*><title>[^<]*: (-?[\d.e-]+)</title>', picture)
    assert [abs(float(x)) for x in full] == [pytest.approx(most, abs=most / 50)] * len(full) and full


# ---- positions


def test_the_index_matrix_is_query_less_key(deberta):
    lines = table(deberta("analyze", "-m", FILL, "--show", "positions", "--length", "6", "-f", "tsv"))
    assert len(lines) == 36 and list(lines[0]) == ["query", "key", "distance", "row"]
    for line in lines:
        assert int(line["distance"]) == int(line["query"]) - int(line["key"])
        assert int(line["row"]) == 256 + int(line["distance"])
    answer = an_object(deberta("analyze", "-m", FILL, "--show", "positions", "--length", "6", "-f", "json"))
    assert answer["distance"][0] == [0, -1, -2, -3, -4, -5] and answer["distance"][5] == [5, 4, 3, 2, 1, 0]
    assert answer["rows"] == 512


def test_the_index_matrix_of_a_table_without_buckets(deberta, tmp_path):
    model = make_model(tmp_path / "model", "rtd", position_buckets=-1, max_relative_positions=7)
    answer = an_object(deberta("analyze", "-m", model, "--show", "positions", "--length", "7", "-f", "json"))
    assert answer["row"] == [[7 + query - key for key in range(7)] for query in range(7)]
    assert answer["row"][0] == [7, 6, 5, 4, 3, 2, 1] and answer["row"][6][0] == 13


def test_buckets_are_linear_near_by_and_logarithmic_far_away(deberta):
    lines = table(deberta("analyze", "-m", FILL, "--show", "positions", "--figure", "buckets", "-f", "tsv"))
    assert [int(line["distance"]) for line in lines] == list(range(-2047, 2048))
    bucket = {int(line["distance"]): int(line["bucket"]) for line in lines}
    for distance, expected in ((127, 127), (128, 128), (131, 131), (132, 131), (140, 137), (200, 169), (256, 192)):
        assert bucket[distance] == expected and bucket[-distance] == -expected
    assert bucket[400] == 233 and bucket[511] == bucket[2047] == 255 and bucket[-2047] == -255
    for line in lines:
        assert int(line["row"]) == int(line["bucket"]) + 256
        assert int(line["linear"]) == min(max(int(line["distance"]), -256), 255)


def test_near_distances_of_the_model_that_ships_have_like_vectors(deberta):
    cosine = numpy.array(
        an_object(deberta("analyze", "-m", FILL, "--show", "positions", "--figure", "cosines", "-f", "json"))["cosine"]
    )
    assert cosine.shape == (512, 512)
    assert cosine[258, 259] == pytest.approx(0.79, abs=0.005) and cosine[258, 271] == pytest.approx(0.12, abs=0.005)
    assert numpy.allclose(numpy.diag(cosine), 1, atol=1e-5) and numpy.allclose(cosine, cosine.T, atol=1e-5)


@pytest.mark.parametrize(
    "vectors, head", [("raw", None), ("normed", None), ("keys", None), ("keys", 2), ("queries", 1)]
)
def test_cosines_are_those_of_the_weights(deberta, sequence_model, tmp_path, vectors, head):
    where = [] if vectors in ("raw", "normed") else ["--layer", "1", *([] if head is None else ["--head", str(head)])]
    words = ("analyze", "-m", sequence_model, "--show", "positions", "--vectors", vectors, *where)
    assert deberta(*words, "-o", tmp_path / "x.npy").returncode == 0
    weights = weights_of(sequence_model)
    rows = weights["encoder.rel_embeddings.weight"]
    if vectors != "raw":
        rows = norm(rows, weights, "encoder.LayerNorm")
    if vectors in ("keys", "queries"):
        part = "key_proj" if vectors == "keys" else "query_proj"
        rows = linear(rows, weights, f"encoder.layer.0.attention.self.{part}")
        rows = rows if head is None else by_heads(rows)[head - 1]
    rows = rows / numpy.linalg.norm(rows, axis=1, keepdims=True)
    assert numpy.allclose(numpy.load(tmp_path / "x.npy"), rows @ rows.T, atol=1e-5)


def test_a_query_meets_every_row(deberta, sequence_model, hidden):
    whole = hidden(sequence_model, TEXT)
    words = ("analyze", "-m", sequence_model, "--show", "positions", "--query", "film", "--layer", "2")
    pieces = json.loads(deberta("tokenize", "-m", sequence_model, "-f", "jsonl", TEXT).stdout)
    token = next(
        i for i, (begin, end) in enumerate(pieces["offsets"]) if TEXT[begin:end] and begin == TEXT.index("film")
    )
    answers = []
    for head in range(HEADS):
        lines = table(deberta(*words, "--head", head + 1, "-f", "tsv", TEXT))
        assert len(lines) == ROWS and list(lines[0]) == ["row", "table_row", "first", "last", "score", "note"]
        score = numpy.array([float(line["score"]) for line in lines])
        for line in lines:
            if line["first"] and -len(pieces["ids"]) < token - int(line["first"]) < len(pieces["ids"]):
                key = token - int(line["first"])
                if 0 <= key < len(pieces["ids"]):
                    expected = whole["layer.2.c2p"][0, head, token, key]
                    assert score[int(line["table_row"])] == pytest.approx(expected, abs=1e-5)
        answers.append(score)
    assert an_object(deberta(*words, "--head", "2", "-f", "json", TEXT))["head"] == 2
    mean = an_object(deberta(*words, "-f", "json", TEXT))
    assert mean["head"] is None and numpy.allclose(mean["score"], numpy.mean(answers, 0), atol=1e-5)


# ---- forms of output


def test_a_figure_is_a_picture_a_page_and_arrays(deberta, tmp_path):
    words = ("analyze", "-m", FILL, "--show", "positions", "--length", "4")
    for name in ("a.svg", "a.html", "a.npy", "a.safetensors"):
        done = deberta(*words, "-o", tmp_path / name)
        assert done.returncode == 0 and done.stdout == "", done.stderr
    picture = (tmp_path / "a.svg").read_text()
    assert picture.startswith("<svg") and "query - key" in picture and ">key<" in picture and ">query<" in picture
    page = (tmp_path / "a.html").read_text()
    assert page.startswith("<!DOCTYPE html>") and "<svg" in page and "<td>259</td>" in page
    assert not re.search(r'(?:src|href)="', page)
    stacked, named = numpy.load(tmp_path / "a.npy"), read_safetensors(tmp_path / "a.safetensors")
    assert stacked.dtype == numpy.int32 and stacked.shape == (2, 4, 4) and list(named) == ["distance", "row"]
    assert numpy.array_equal(stacked[0], named["distance"]) and numpy.array_equal(stacked[1], named["row"])
    assert numpy.array_equal(named["distance"], numpy.subtract.outer(range(4), range(4)))


def test_a_picture_and_lines_at_once(deberta, tmp_path):
    words = ("analyze", "-m", FILL, "--show", "positions", "--length", "2")
    done = deberta(*words, "--page", tmp_path / "a.svg", "-o", tmp_path / "a.tsv")
    assert done.returncode == 0 and (tmp_path / "a.svg").read_text().startswith("<svg")
    assert (tmp_path / "a.tsv").read_text().splitlines() == deberta(*words, "-f", "tsv").stdout.splitlines()


def test_heads_are_a_picture_and_arrays_too(deberta, sequence_model, tmp_path):
    lines = table(deberta("analyze", "-m", sequence_model, "-f", "tsv", TEXT))
    assert deberta("analyze", "-m", sequence_model, TEXT, "-o", tmp_path / "a.safetensors").returncode == 0
    arrays = read_safetensors(tmp_path / "a.safetensors")
    assert list(arrays) == ["entropy", "distance", "cls", "c2c", "c2p", "p2c"]
    for name, array in arrays.items():
        assert array.shape == (2, HEADS)
        for line in lines:
            assert array[int(line["layer"]) - 1, int(line["head"]) - 1] == pytest.approx(float(line[name]), rel=1e-6)
    assert deberta("analyze", "-m", sequence_model, TEXT, "-o", tmp_path / "a.svg").returncode == 0
    assert "share of content to position" in (tmp_path / "a.svg").read_text()


PAIR = ["--query", "film", "--key", "good"]
ALL = [
    ("SEQ", "heads", "auto", [TEXT]),
    ("SEQ", "terms", "matrices", [TEXT]),
    ("SEQ", "terms", "pair", [*PAIR, TEXT]),
    ("SEQ", "terms", "quantiles", [TEXT]),
    ("SEQ", "positions", "index", []),
    ("SEQ", "positions", "buckets", []),
    ("SEQ", "positions", "cosines", []),
    ("SEQ", "positions", "query", ["--query", "film", TEXT]),
    ("DECODER", "tables", "auto", []),
    ("DECODER", "decoder", "predictions", [MASKED]),
    ("DECODER", "decoder", "passes", [MASKED]),
    ("DECODER", "decoder", "words", ["--words", "a,b", MASKED]),
    ("RTD", "replaced", "auto", ["--generator-model", "DECODER", TEXT]),
    ("RTD", "compare", "weights", ["--with", "SEQ", TEXT]),
    ("RTD", "compare", "pair", ["--with", "SEQ", *PAIR, TEXT]),
]
PAGE = (ROOT / "docs/reference/analyze.md").read_text().split("## `analyze --show`")[1].split("\n## ")[0]


@pytest.fixture
def figure(deberta, sequence_model, decoder_model, discriminator):
    """figure(model, show, figure, words, more...) -> the finished run; models by their names in ALL."""
    models = {"SEQ": sequence_model, "DECODER": decoder_model, "RTD": discriminator}

    def run(model, show, figure, words, *more):
        named = [models.get(word, word) for word in words]
        return deberta("analyze", "-m", models[model], "--show", show, "--figure", figure, *more, *named)

    return run


@pytest.mark.parametrize("model, show, name, words", ALL)
def test_every_figure_in_every_form(figure, tmp_path, model, show, name, words):
    lines = table(figure(model, show, name, words, "-f", "tsv"))
    rows = list(csv.reader(io.StringIO(figure(model, show, name, words, "-f", "csv").stdout)))
    assert len(rows) == len(lines) + 1 and len(rows[0]) == len(rows[-1]) >= len(lines[0])
    assert figure(model, show, name, words, "-f", "table").stdout.count("\n") == len(lines) + 1
    assert json.loads(figure(model, show, name, words, "-f", "jsonl").stdout)
    for ending in ("svg", "html", "safetensors"):
        done = figure(model, show, name, words, "-o", tmp_path / f"a.{ending}")
        assert done.returncode == 0 and done.stdout == "", done.stderr
    picture = (tmp_path / "a.svg").read_text()
    assert picture.startswith("<svg") and picture.rstrip().endswith("</svg>") and picture.count("<text") > 3
    page = (tmp_path / "a.html").read_text()
    assert page.lower().startswith("<!doctype html>") and (show == "heads" or "<svg" in page)
    arrays = read_safetensors(tmp_path / "a.safetensors")
    assert arrays and all(array.size for array in arrays.values())
    auto = figure(model, show, "auto", words, "-f", "tsv").stdout.split("\n")[0]
    first = next(other for _, part, other, _ in ALL if part == show)
    assert name not in (first, "pair", "query", "words") or auto.split("\t") == list(lines[0])


def test_the_columns_are_those_of_the_page(figure):
    named, shown = {}, ""
    for show, name, columns in re.findall(r"^\| (`\w+`)? ?\| (`\w+`)? ?\| .*?\| (?:`([a-z_0-9 ]+)`)?", PAGE, re.M):
        shown = show.strip("`") or shown
        if columns and " " in columns:
            named[shown, name.strip("`") or "auto"] = columns.split()
    assert len(named) == 10
    for model, show, name, words in ALL:
        header = figure(model, show, name, words, "-f", "tsv").stdout.split("\n")[0].split("\t")
        expected = named.get((show, name))
        assert expected is None or [column for column in header if column not in ("row", "note")] == [
            column for column in expected if column != "row"
        ]


# ---- what is refused

REFUSED = [
    ("--show terms --layer 3 a-text", 2, "--layer: expected 1..2, got 3"),
    ("--show terms --head 3 a-text", 2, "--head: expected 1..2, got 3"),
    ("--show terms --head 0 a-text", 2, '--head: expected a value in 1..1000 or auto, got "0"; heads count from 1'),
    ("--show terms --layer 0 a-text", 2, '--layer: expected a value in 1..1000 or auto, got "0"'),
    ("--show terms --query a a-text", 2, "--key: expected a word of the text, got none"),
    ("--show terms --query a --key dog a-text", 1, 'key: expected a word or a piece of the text, got "dog"'),
    (
        "--show terms --figure quantiles --key a a-text",
        2,
        "--key: expected --show and --figure that take it (terms pair",
    ),
    ("--show positions --length 0", 2, "--length: expected a value in 1..2048"),
    ("--show positions --length 5000", 2, "--length: expected a value in 1..2048"),
    ("--show positions --length 600", 2, "--length: expected 1..512 for this figure, got 600"),
    ("--show positions --vectors keys --layer 3", 2, "--layer: expected 1..2, got 3"),
    ("--show positions --vectors keys --head 3", 2, "--head: expected 1..2, got 3"),
    ("--show positions --figure query x", 2, "--query: expected a word of the text, got none"),
    ("--show positions --query dog a-cat", 1, 'query: expected a word or a piece of the text, got "dog"'),
    ("--show positions a-text", 2, "analyze: expected no text for positions index, got one"),
    ("--show heads --figure index a-text", 2, "--figure: expected a figure of --show (heads), got another"),
    ("--show heads --length 4 a-text", 2, "--length: expected --show and --figure that take it (positions index, "),
    ("--show positions --figure index --head 1", 2, "--head: expected --show and --figure that take it (terms"),
    ("--show positions -f tsv -o a.npy", 2, "a.npy is an array; --format tsv contradicts that"),
    ("--show positions -f tsv -o a.svg", 2, "a.svg is a picture; --format tsv contradicts that"),
]


@pytest.mark.parametrize("words, code, said", REFUSED)
def test_what_no_figure_can_show(deberta, sequence_model, tmp_path, words, code, said):
    done = deberta("analyze", "-m", sequence_model, *words.split(), cwd=tmp_path)
    assert done.returncode == code and said in done.stdout + done.stderr, done.stdout + done.stderr
    assert "internal" not in done.stderr and list(tmp_path.iterdir()) == []


def test_a_model_without_positions(deberta, tmp_path):
    plain = make_model(tmp_path / "plain", "rtd", relative_attention=False)
    for more in ((), ("--figure", "buckets"), ("--vectors", "raw"), ("--query", "film", TEXT)):
        done = deberta("analyze", "-m", plain, "--show", "positions", *more)
        assert done.returncode == 1 and "relative_attention: expected true, got false" in done.stdout + done.stderr
    for more in ((), ("-o", tmp_path / "x.svg")):
        done = deberta("analyze", "-m", plain, "--show", "tables", *more)
        assert done.returncode == 1 and done.stdout == "" and not (tmp_path / "x.svg").exists()
        assert "tables: expected vectors of positions as wide as those of words" in done.stderr
    c2p = make_model(tmp_path / "c2p", "rtd", pos_att_type="c2p")
    done = deberta("analyze", "-m", c2p, "--show", "positions", "--vectors", "queries")
    assert done.returncode == 1 and "pos_att_type: expected a model with p2c, got one without" in done.stderr
    p2c = make_model(tmp_path / "p2c", "rtd", pos_att_type="p2c")
    for more in (("--vectors", "keys"), ("--query", "film", TEXT)):
        done = deberta("analyze", "-m", p2c, "--show", "positions", *more)
        assert done.returncode == 1 and "expected a model with c2p, got one without" in done.stdout + done.stderr


OF_TEXTS = [(model, show, name, words) for model, show, name, words in ALL if words]


@pytest.mark.parametrize("model, show, name, words", OF_TEXTS)
def test_a_text_of_no_token(figure, tmp_path, model, show, name, words):
    """Neither lines, nor a picture, nor a page; of all heads the lines alone, which are marked."""
    for text in ("", " "):
        words = [*words[:-1], text]
        if show == "heads":
            lines = table(figure(model, show, name, words, "-f", "tsv"))
            assert {line["note"] for line in lines} == {"empty text"}
            done = figure(model, show, name, words, "-o", tmp_path / "x.html")
            assert done.returncode == 1 and "text: expected at least one token, got none" in done.stderr
            continue
        done = figure(model, show, name, words)
        assert done.returncode == 1 and "text: expected at least one token, got none" in done.stdout
        for ending in ("svg", "html"):
            done = figure(model, show, name, words, "-o", tmp_path / f"x.{ending}")
            assert done.returncode == 1 and "text: expected at least one token, got none" in done.stderr
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("model, show, name, words", OF_TEXTS)
def test_a_text_of_5000_tokens(figure, tmp_path, model, show, name, words):
    words = [*words[:-1], f"{words[-1]} {'a ' * 5000}"]
    if show == "heads":  # which shows a text of any length, but on no page
        done = figure(model, show, name, words, "--max-tokens", "300", "-o", tmp_path / "x.html")
        assert done.returncode == 1 and "expected at most 256 tokens for a page, got 300" in done.stderr
        return
    for more in ((), ("--max-tokens", "6000")):
        done = figure(model, show, name, words, *more, "-o", tmp_path / "x.svg")
        assert done.returncode == 1 and "text: expected at most 256 tokens for a figure, got 50" in done.stderr
    assert list(tmp_path.iterdir()) == []


# ---- tables


def test_angles_between_tables_are_those_of_all_their_rows(deberta, decoder_model, tmp_path):
    lines = table(deberta("analyze", "-m", decoder_model, "--show", "tables", "-f", "tsv"))
    weights = weights_of(decoder_model)
    relative = weights["encoder.rel_embeddings.weight"]
    tables = {
        "word": weights["embeddings.word_embeddings.weight"],
        "absolute": weights["embeddings.position_embeddings.weight"],
        "relative": relative[1:],  # no distance has row 0
        "relative_normed": norm(relative, weights, "encoder.LayerNorm")[1:],
    }
    pairs = [(line["first"], line["second"]) for line in lines]
    assert pairs == [
        ("word", "absolute"),
        ("word", "relative"),
        ("word", "relative_normed"),
        ("absolute", "relative"),
        ("absolute", "relative_normed"),
    ]
    for line in lines:
        first, second = (tables[line[name]] for name in ("first", "second"))
        assert (int(line["first_rows"]), int(line["second_rows"])) == (len(first), len(second))
        assert float(line["first_norm"]) == pytest.approx(numpy.linalg.norm(first, axis=1).mean(), rel=1e-5)
        cosine = numpy.abs(first @ second.T)
        cosine /= numpy.linalg.norm(first, axis=1)[:, None] * numpy.linalg.norm(second, axis=1)
        assert float(line["mean_cosine"]) == pytest.approx(cosine.mean(), rel=1e-4)
        assert float(line["largest_cosine"]) == pytest.approx(cosine.max(), rel=1e-4)
        assert float(line["random"]) == pytest.approx((2 / (numpy.pi * HEADS * SIZE)) ** 0.5)


def test_the_tables_of_the_model_that_ships_are_near_right_angles(deberta):
    answer = an_object(deberta("analyze", "-m", FILL, "--show", "tables", "-f", "json"))
    mean = {(one["first"], one["second"]): one["mean_cosine"] for one in answer["tables"]}
    assert all(one["random"] == pytest.approx(0.0499, abs=1e-4) for one in answer["tables"])
    assert mean["word", "relative"] == pytest.approx(0.042, abs=0.002)  # nearer to a right angle than chance
    assert mean["word", "absolute"] == pytest.approx(0.042, abs=0.002)
