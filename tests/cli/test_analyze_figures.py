"""analyze --show: every figure as lines, objects, arrays, a picture and a page, its numbers against plain sums in NumPy
over the model's own weights and hidden states."""

import csv
import io
import json
import re

import numpy
import pytest

from models import ROOT, make_model, read_safetensors, with_positions, write_safetensors

TEXT = "a fine film with 2 good parts"
MASKED = "a [MASK] film with [MASK] parts"
FILL, DETECT = ROOT / "models/fill", ROOT / "models/detect"
HEADS, SIZE, ROWS = 2, 8, 64  # of the models that tests make: heads, their size, rows of the relative table


def table(done):
    """The lines of a tsv answer as dicts."""
    assert done.returncode == 0, done.stderr
    return list(csv.DictReader(io.StringIO(done.stdout), delimiter="\t", quoting=csv.QUOTE_NONE))


def an_object(done):
    assert done.returncode == 0, done.stderr
    (answer,) = json.loads(done.stdout)
    return answer


def weights_of(folder):
    return {
        name.removeprefix("deberta."): array.astype(float)
        for name, array in read_safetensors(folder / "model.safetensors").items()
    }


def norm(x, weights, name, eps=1e-7):
    x = (x - x.mean(-1, keepdims=True)) / numpy.sqrt(x.var(-1, keepdims=True) + eps)
    return x * weights[f"{name}.weight"] + weights[f"{name}.bias"]


def by_heads(x):
    """[rows, D] -> [H, rows, K]"""
    return x.reshape(len(x), HEADS, SIZE).transpose(1, 0, 2)


def row_of(distance, most=512):
    """The row of the relative table (docs/concepts/model.md#relative-positions)."""
    middle, size = ROWS // 4, abs(distance)
    if size > middle:
        share = numpy.log(size / middle) / numpy.log((most - 1) / middle)
        size = int(numpy.ceil(share * (middle - 1))) + middle
    return size * (1 if distance > 0 else -1) + ROWS // 2


def linear(x, weights, name):
    return x @ weights[f"{name}.weight"].T + weights[f"{name}.bias"]


@pytest.fixture
def hidden(deberta, tmp_path):
    """hidden(model, text) -> the tensors of `forward`, scores too."""

    def run(model, text):
        done = deberta("forward", "-m", model, text, "--scores", "-o", tmp_path / "forward.safetensors")
        assert done.returncode == 0, done.stderr
        return read_safetensors(tmp_path / "forward.safetensors")

    return run


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


# ---- the mask decoder


@pytest.fixture(scope="session")
def decoder_model(tmp_path_factory):
    """A masked language model that predicts through the mask decoder."""
    return with_positions(make_model(tmp_path_factory.mktemp("decoder"), "lm", seed=3))


@pytest.fixture(scope="session")
def plain_model(tmp_path_factory):
    """The same without the table."""
    return make_model(tmp_path_factory.mktemp("plain"), "lm", seed=3)


@pytest.fixture
def logits(deberta, tmp_path):
    """logits(model, ids [B, L], positions or None) -> [B, L, V], hidden states of the last layer but one"""

    def run(model, ids, positions=None):
        tensors = {"input_ids": numpy.array(ids, numpy.int32)}
        if positions is not None:
            tensors["position_ids"] = numpy.array(positions, numpy.int32)
        write_safetensors(tmp_path / "ids.safetensors", tensors)
        done = deberta(
            "forward", "-m", model, "--ids", tmp_path / "ids.safetensors", "-o", tmp_path / "logits.safetensors"
        )
        assert done.returncode == 0, done.stderr
        return read_safetensors(tmp_path / "logits.safetensors")["logits"]

    return run


def log_softmax(x):
    x = x.astype(float) - x.max(-1, keepdims=True)
    return x - numpy.log(numpy.exp(x).sum(-1, keepdims=True))


def ids_of(deberta, model, text):
    return json.loads(deberta("tokenize", "-m", model, "-f", "jsonl", text).stdout)


def test_predictions_with_and_without_the_decoder(deberta, decoder_model, plain_model, logits, tmp_path):
    words = ("analyze", "-m", decoder_model, "--show", "decoder", "--shift", "3", MASKED)
    lines = table(deberta(*words, "-f", "tsv"))
    ids = ids_of(deberta, decoder_model, MASKED)
    masks = [i for i, piece in enumerate(ids["tokens"]) if piece == "[MASK]"]
    length = len(ids["ids"])
    swapped = list(range(length))
    swapped[masks[0]], swapped[masks[1]] = swapped[masks[1]], swapped[masks[0]]
    expected = {
        "with": logits(decoder_model, [ids["ids"]])[0],
        "without": logits(plain_model, [ids["ids"]])[0],
        "shifted": logits(decoder_model, [ids["ids"]], [[i + 3 for i in range(length)]])[0],
        "swapped": logits(decoder_model, [ids["ids"]], [swapped])[0],
    }
    assert deberta(*words, "-o", tmp_path / "a.safetensors").returncode == 0
    arrays = read_safetensors(tmp_path / "a.safetensors")
    assert list(arrays) == list(expected)
    for form, all_rows in expected.items():
        assert numpy.allclose(arrays[form], all_rows[masks], atol=1e-4)
    assert len(lines) == 2 * 4 * 5
    for line in lines:
        mask, form = int(line["mask"]) - 1, line["form"]
        row = log_softmax(expected[form][masks[mask]])
        assert int(line["position"]) == masks[mask]
        assert float(line["score"]) == pytest.approx(numpy.exp(row[int(line["token"])]), rel=1e-3)
        change = numpy.abs(expected[form] - expected["with"])[masks[mask]].max()
        assert float(line["logit_change"]) == pytest.approx(change, abs=1e-3)
    assert all(line["hidden_change"] == "0" for line in lines)  # bit for bit
    assert all(float(line["logit_change"]) > 0.01 for line in lines if line["form"] != "with")


def test_the_passes_of_the_decoder_ask_with_positions(deberta, decoder_model, hidden, tmp_path):
    words = ("analyze", "-m", decoder_model, "--show", "decoder", "--figure", "passes", "--head", "2", MASKED)
    assert deberta(*words, "-o", tmp_path / "a.safetensors").returncode == 0
    arrays, weights = read_safetensors(tmp_path / "a.safetensors"), weights_of(decoder_model)
    h = hidden(decoder_model, MASKED)["hidden.1"][0].astype(float)
    z = h + weights["embeddings.position_embeddings.weight"][: len(h)]
    self = "encoder.layer.1.attention.self"
    relative = norm(weights["encoder.rel_embeddings.weight"], weights, "encoder.LayerNorm")
    q, k = by_heads(linear(z, weights, f"{self}.query_proj"))[1], by_heads(linear(h, weights, f"{self}.key_proj"))[1]
    kr = by_heads(linear(relative, weights, f"{self}.key_proj"))[1]
    qr = by_heads(linear(relative, weights, f"{self}.query_proj"))[1]
    row = numpy.array([[row_of(i - j) for j in range(len(h))] for i in range(len(h))])
    scale = 1 / (3 * SIZE) ** 0.5
    assert arrays["c2c"].shape == (2, len(h), len(h))
    assert numpy.allclose(arrays["c2c"][0], scale * q @ k.T, atol=2e-5)
    assert numpy.allclose(arrays["c2p"][0], scale * numpy.take_along_axis(q @ kr.T, row, 1), atol=2e-5)
    assert numpy.allclose(arrays["p2c"][0], scale * numpy.take_along_axis(k @ qr.T, row.T, 1).T, atol=2e-5)
    assert numpy.array_equal(arrays["p2c"][0], arrays["p2c"][1])  # keys and positions are those of both passes
    assert not numpy.allclose(arrays["c2c"][0], arrays["c2c"][1])
    assert numpy.allclose(arrays["weight"].sum(-1), 1, atol=1e-5)
    lines = table(deberta(*words, "--layer", "2", "-f", "tsv"))
    assert len(lines) == len(h) ** 2 and {(line["pass"], line["head"]) for line in lines} == {("2", "2")}


def test_whole_words_at_the_masks(deberta, decoder_model, plain_model, logits):
    words = ("analyze", "-m", decoder_model, "--show", "decoder", "--words", "goodness,fine", MASKED)
    lines = table(deberta(*words, "-f", "tsv"))
    assert [line["words"] for line in lines] == ["goodness ... fine", "fine ... goodness"]
    mask = next(
        number
        for piece, number in zip(*(ids_of(deberta, decoder_model, MASKED)[name] for name in ("tokens", "ids")))
        if piece == "[MASK]"
    )
    for line in lines:
        first, second = line["words"].split(" ... ")
        text = MASKED.replace("[MASK]", first, 1).replace("[MASK]", second, 1)
        ids = ids_of(deberta, decoder_model, text)
        copies, wanted, pieces = [], [], 0
        for word in (first, second):
            begin = text.index(word)
            tokens = [
                i
                for i, (a, b) in enumerate(ids["offsets"])
                if (a < begin + len(word) and b > begin) or a == b == begin  # the bare start of a word
            ]
            pieces = max(pieces, len(tokens))
            for at, token in enumerate(tokens):
                copies.append([mask if i in tokens[at:] else number for i, number in enumerate(ids["ids"])])
                wanted.append((len(copies) - 1, token, ids["ids"][token]))
        assert pieces > 1  # or nothing is shown of several pieces
        for model, column in ((decoder_model, "with"), (plain_model, "without")):
            scores = log_softmax(logits(model, copies))
            expected = sum(scores[copy, token, piece] for copy, token, piece in wanted)
            assert float(line[column]) == pytest.approx(expected, abs=1e-3)


def test_positions_tell_store_from_mall(deberta):
    text = "a new [MASK] opened beside the new [MASK] ."
    lines = table(deberta("analyze", "-m", FILL, "--show", "decoder", "--words", "store,mall", "-f", "tsv", text))
    margin = [float(lines[0][column]) - float(lines[1][column]) for column in ("with", "without")]
    assert len(lines) == 2 and all(numpy.isfinite(margin)) and margin[0] != margin[1]


@pytest.mark.parametrize(
    "words, said",
    [
        (("a film",), "expected at least one mask token, got none; write [MASK] where a word is missing"),
        (("--words", "one", MASKED), "--words: expected a word for each of 2 masks, got 1"),
        (("--words", "a,b,c,d,e,f", "[MASK] " * 4), "--words: expected at most 120 ways to fill the masks"),
        (("--shift", "510", MASKED), "--shift: expected 0.."),
    ],
)
def test_what_the_decoder_cannot_show(deberta, decoder_model, words, said):
    done = deberta("analyze", "-m", decoder_model, "--show", "decoder", *words)
    assert done.returncode == 1 and said in done.stdout, done.stdout + done.stderr


def test_a_model_without_a_decoder(deberta, plain_model, sequence_model, tmp_path):
    for model, said in ((plain_model, "no table of absolute positions"), (sequence_model, "whose head is sequence")):
        for more in ((), ("--figure", "passes"), ("--words", "a,b")):
            done = deberta("analyze", "-m", model, "--show", "decoder", *more, MASKED)
            assert done.returncode == 1 and "mask decoder: expected a masked language model" in done.stderr
            assert said in done.stderr, done.stderr
    biased = make_model(tmp_path / "biased", "lm", position_biased_input=False, mask_decoder_passes=0)
    done = deberta("analyze", "-m", biased, "--show", "decoder", MASKED)
    assert done.returncode == 1 and "mask_decoder_passes is 0" in done.stderr


# ---- replaced tokens


@pytest.fixture(scope="session")
def discriminator(tmp_path_factory):
    return make_model(tmp_path_factory.mktemp("rtd"), "rtd", seed=4)


def test_a_walk_from_mask_to_losses(deberta, decoder_model, discriminator, logits, tmp_path):
    words = ("analyze", "--show", "replaced", "-m", discriminator, "--generator-model", decoder_model, "--seed", "5",
             "--mlm-probability", "0.4", TEXT)  # fmt: skip
    answer = an_object(deberta(*words, "-f", "json"))
    assert deberta(*words, "-o", tmp_path / "a.safetensors").returncode == 0
    arrays = read_safetensors(tmp_path / "a.safetensors")
    ids = numpy.array(ids_of(deberta, discriminator, TEXT)["ids"])
    masked, drawn = arrays["masked"].astype(bool), arrays["drawn"].astype(int)
    assert numpy.array_equal(arrays["token"], ids) and 0 < masked.sum() < len(ids)
    assert numpy.array_equal(drawn[~masked], ids[~masked])
    assert numpy.array_equal(arrays["label"], (drawn != ids).astype(float))
    mask = next(
        n
        for n, piece in zip(*(ids_of(deberta, decoder_model, MASKED)[x] for x in ("ids", "tokens")))
        if piece == "[MASK]"
    )
    guesses = log_softmax(logits(decoder_model, [numpy.where(masked, mask, ids)])[0])
    at = numpy.flatnonzero(masked)
    assert numpy.allclose(arrays["generator_loss"][at], -guesses[at, ids[at]], atol=1e-3)
    assert numpy.allclose(arrays["drawn_probability"][at], numpy.exp(guesses[at, drawn[at]]), rtol=1e-3)
    x = logits(discriminator, [drawn])[0, :, 0].astype(float)
    label = arrays["label"]
    assert numpy.allclose(arrays["replaced"], 1 / (1 + numpy.exp(-x)), atol=1e-5)
    loss = -(label * numpy.log(1 / (1 + numpy.exp(-x))) + (1 - label) * numpy.log(1 - 1 / (1 + numpy.exp(-x))))
    assert numpy.allclose(arrays["discriminator_loss"], loss, atol=1e-4)
    assert answer["generator"]["tokens"] == masked.sum() and answer["discriminator"]["tokens"] == len(ids)
    assert answer["generator"]["loss"] == pytest.approx(-guesses[at, ids[at]].mean(), abs=1e-3)
    assert answer["discriminator"]["loss"] == pytest.approx(loss.mean(), abs=1e-4)
    assert an_object(deberta(*words, "-f", "json")) == answer
    other = an_object(deberta(*[word if word != "5" else "6" for word in words], "-f", "json"))
    assert other != answer


def test_the_pair_that_ships_walks_by_itself(deberta):
    lines = table(deberta("analyze", "--show", "replaced", "-f", "tsv", "The cat sat on the mat ."))
    assert sum(int(line["masked"]) for line in lines) >= 1
    for line in lines:
        assert (line["drawn"] == "") == (line["generator_loss"] == "") == (line["masked"] == "0")
        assert 0 < float(line["replaced"]) < 1


def test_a_pair_that_is_none(deberta, decoder_model, discriminator, sequence_model):
    words = ("analyze", "--show", "replaced", "a film")
    done = deberta(*words, "-m", discriminator, "--generator-model", sequence_model)
    assert done.returncode == 1 and "generator: expected a masked language model, got" in done.stderr
    done = deberta(*words, "-m", decoder_model, "--generator-model", decoder_model)
    assert done.returncode == 1 and "discriminator: expected a head for replaced tokens, got masked-lm" in done.stderr
    done = deberta(*words, "-m", discriminator, "--generator-model", FILL)
    assert done.returncode == 1 and "need the same tokenizer" in done.stderr and "piece " in done.stderr


# ---- comparisons


def test_a_text_in_two_models(deberta, sequence_model, discriminator, tmp_path):
    words = ("analyze", "--show", "compare", "-m", sequence_model, "--with", discriminator)
    lines = table(deberta(*words, "-f", "tsv", TEXT))
    assert {line["side"] for line in lines} == {str(sequence_model), str(discriminator)}
    for model in (sequence_model, discriminator):
        alone = table(deberta("analyze", "-m", model, "--show", "terms", "-f", "tsv", TEXT))
        assert [line["weight"] for line in alone] == [line["weight"] for line in lines if line["side"] == str(model)]
    assert deberta(*words, TEXT, "-o", tmp_path / "a.svg").returncode == 0
    picture = (tmp_path / "a.svg").read_text()
    assert picture.count('<g class="cells">') == 2 and "content to content" not in picture
    assert deberta(*words, TEXT, "-o", tmp_path / "a.npy").returncode == 0
    assert numpy.load(tmp_path / "a.npy").shape[0] == 10  # five terms of each


def test_forms_of_an_ablation_beside_the_full_model(deberta, discriminator, tmp_path):
    forms = [
        make_model(tmp_path / "roberta", "rtd", seed=4, relative_attention=False, pos_att_type="none"),
        make_model(tmp_path / "no-c2p", "rtd", seed=4, pos_att_type="p2c"),
        make_model(tmp_path / "no-p2c", "rtd", seed=4, pos_att_type="c2p"),
    ]
    more = [word for form in forms for word in ("--with", form)]
    answer = an_object(deberta("analyze", "--show", "compare", "-m", discriminator, *more, "-f", "json", TEXT))
    has = [[place["c2p"] is not None, place["p2c"] is not None] for place in answer["places"]]
    assert has == [[True, True], [False, False], [False, True], [True, False]]
    assert [place["side"] for place in answer["places"]] == [str(discriminator), *map(str, forms)]


def test_the_same_words_in_two_texts(deberta):
    texts = ("deep learning is a method .", "learning is slow in the deep sea .")
    words = ("analyze", "--show", "compare", "-m", FILL, "--query", "deep", "--key", "learning", "-f", "tsv", *texts)
    lines = [line for line in table(deberta(*words)) if line["layer"] == "1"]
    assert [line["side"] for line in lines] == ["text 1"] * 4 + ["text 2"] * 4
    for first, second in zip(lines[:4], lines[4:]):
        assert float(first["c2c"]) == pytest.approx(float(second["c2c"]), abs=1e-5)  # content knows no place
    assert any(abs(float(first["c2p"]) - float(second["c2p"])) > 0.1 for first, second in zip(lines[:4], lines[4:]))


def test_what_cannot_be_compared(deberta, sequence_model, language_model, tmp_path):
    words = ("analyze", "--show", "compare", "-m", sequence_model)
    done = deberta(*words, "--with", FILL, "a film")
    assert done.returncode == 1 and "piece " in done.stderr and "need the same tokenizer" in done.stderr
    done = deberta("analyze", "--show", "replaced", "-m", DETECT, "--generator-model", language_model, "a film")
    assert done.returncode == 1 and "piece " in done.stderr and "need the same tokenizer" in done.stderr
    done = deberta(*words, "one text")
    assert done.returncode == 2 and "expected texts in groups of 2" in done.stderr
    done = deberta(*words, "--pair", "one", "two")
    assert done.returncode == 2 and "--pair: expected --with as well" in done.stderr
    done = deberta(*words, "--query", "one", "--key", "two", "one text", "two texts")
    assert done.returncode == 1 and 'expected a word or a piece of the text, got "two"' in done.stdout
    done = deberta(*words, "one text", "another text here", "-o", tmp_path / "a.npy")
    assert done.returncode == 2 and "expected arrays of one shape and type for a .npy file" in done.stderr
