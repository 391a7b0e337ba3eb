"""analyze: figures of each head, and a page that needs no server. tests/serve/test_explorer.py opens such a page in a
browser."""

import base64
import json
import re

import numpy
import pytest

from models import make_model, read_safetensors, write_safetensors

TEXT = "a fine film with 2 good parts"


def data_of(page):
    return json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.DOTALL)[1])


@pytest.fixture(scope="session")
def page(sequence_model, tmp_path_factory):
    import subprocess

    from conftest import BINARY

    path = tmp_path_factory.mktemp("page") / "page.html"
    subprocess.run([BINARY, "analyze", "-m", sequence_model, "--out", path, TEXT], check=True, capture_output=True)
    return path.read_text()


@pytest.fixture
def scores(deberta, sequence_model, tmp_path):
    """Of TEXT, by `forward`: {"layer.1.c2c": [1, H, T, T], ...}."""
    ids = json.loads(deberta("tokenize", "-m", sequence_model, "-f", "jsonl", TEXT).stdout)["ids"]
    write_safetensors(tmp_path / "in", {"input_ids": numpy.array([ids], numpy.int32)})
    assert (
        deberta(
            "forward", "-m", sequence_model, "--ids", tmp_path / "in", "--scores", "-o", tmp_path / "out"
        ).returncode
        == 0
    )
    return read_safetensors(tmp_path / "out")


def test_figures_are_those_of_the_weights(deberta, sequence_model, scores):
    done = deberta("analyze", "-m", sequence_model, TEXT)
    head, *rows = [line.split("\t") for line in done.stdout.splitlines()]
    assert (
        head == ["row", "layer", "head", "entropy", "distance", "cls", "c2c", "c2p", "p2c", "note"] and len(rows) == 4
    ), done.stderr
    assert [(layer, head) for _, layer, head, *_ in rows] == [("1", "1"), ("1", "2"), ("2", "1"), ("2", "2")]
    for _, layer, head, entropy, distance, cls, *shares, _ in rows:
        index = int(head) - 1
        weights = scores[f"layer.{layer}.probabilities"][0, index].astype(float)
        away = numpy.abs(numpy.arange(len(weights))[:, None] - numpy.arange(len(weights)))
        assert float(entropy) == pytest.approx(-(weights * numpy.log(weights)).sum(1).mean(), rel=1e-5)
        assert float(distance) == pytest.approx((weights * away).sum(1).mean(), rel=1e-5)
        assert float(cls) == pytest.approx(weights[:, 0].mean(), rel=1e-5)
        varied = [
            scores[f"layer.{layer}.{name}"][0, index].astype(float).var(1).mean() for name in ("c2c", "c2p", "p2c")
        ]
        assert [float(share) for share in shares] == pytest.approx(numpy.array(varied) / sum(varied), rel=1e-4)


def test_rows_of_a_file_and_pairs(deberta, sequence_model, tmp_path):
    (tmp_path / "in.tsv").write_text(f"text\ttext_pair\n{TEXT}\tnobody saw it .\nother words\tand more\n")
    done = deberta("analyze", "-m", sequence_model, "--pair", "-i", tmp_path / "in.tsv", "-f", "jsonl")
    answers = [json.loads(line)["heads"] for line in done.stdout.splitlines()]
    assert [len(heads) for heads in answers] == [4, 4] and answers[0] != answers[1]
    alone = json.loads(
        deberta("analyze", "-m", sequence_model, "--pair", "-f", "jsonl", "other words", "and more").stdout
    )
    assert alone["heads"] == answers[1]


def test_a_page_holds_the_terms_of_every_head(page, scores):
    data = data_of(page)
    tokens = len(data["about"]["tokens"])
    assert data["about"]["terms"] == ["c2c", "c2p", "p2c"]
    assert (data["about"]["layers"], data["about"]["heads"]) == (2, 2)
    assert [(one["layer"], one["head"]) for one in data["heads"]] == [(1, 1), (1, 2), (2, 1), (2, 2)]
    for name in ("c2c", "c2p", "p2c"):
        for index, text in enumerate(data["values"][name]):
            got = numpy.frombuffer(base64.b64decode(text), numpy.float16).reshape(tokens, tokens)
            expected = scores[f"layer.{index // 2 + 1}.{name}"][0, index % 2]
            assert numpy.array_equal(got, expected.astype(numpy.float16))
    assert len(base64.b64decode(data["thumbnails"])) == 4 * tokens**2  # smaller than a thumbnail


def test_a_page_says_what_the_answer_loses_without_each_word(deberta, sequence_model, page):
    told = data_of(page)["occlusion"]
    assert [TEXT[word["start"] : word["end"]] for word in told["words"]] == TEXT.split()

    def score(text):
        answer = json.loads(deberta("classify", "-m", sequence_model, "--top-k", "3", "-f", "jsonl", text).stdout)
        return {one["label"]: one["score"] for one in answer["labels"]}

    whole = score(TEXT)
    assert told["label"] == max(whole, key=whole.get) and told["score"] == pytest.approx(whole[told["label"]], rel=1e-6)
    for word in told["words"]:
        without = score(TEXT[: word["start"]] + TEXT[word["end"] :])
        assert word["fall"] == pytest.approx(whole[told["label"]] - without[told["label"]], abs=1e-6)


def test_a_page_asks_for_nothing(page):
    assert "default-src 'none'" in page and not re.search(r'(?:src|href)="(?!data:)', page)


def test_the_scripts_of_a_page_are_one_module(page):
    assert page.count("<script") == 2 and page.count('<script type="module">') == 1
    module = page.partition('<script type="module">')[2]
    assert not re.search(r"^\s*(?:import|export)\b", module, re.MULTILINE)
    assert module.count("\nfunction element(") == module.count("\nasync function ask(") == 1  # each file once


def test_no_text_can_end_the_script(deberta, sequence_model, tmp_path):
    text = "</script><script>alert(1)</script> <!-- é \U0001f600"
    assert deberta("analyze", "-m", sequence_model, "--out", tmp_path / "p.html", text).returncode == 0
    page = (tmp_path / "p.html").read_text()
    assert "alert(1)</script>" not in page and data_of(page)["text"] == text
    words = data_of(page)["occlusion"]["words"]
    assert [text[word["start"] : word["end"]] for word in words] == text.split()


def test_a_model_without_labels_or_positions(deberta, language_model, tmp_path):
    assert deberta("analyze", "-m", language_model, "--out", tmp_path / "p.html", "a [MASK] film").returncode == 0
    assert data_of((tmp_path / "p.html").read_text())["occlusion"] is None
    plain = make_model(tmp_path / "plain", "rtd", relative_attention=False)
    assert deberta("analyze", "-m", plain, "--out", tmp_path / "q.html", "a film").returncode == 0
    data = data_of((tmp_path / "q.html").read_text())
    assert data["about"]["terms"] == ["c2c"] and data["about"]["rows"] == [] and list(data["values"]) == ["c2c"]


@pytest.mark.parametrize(
    "words, code, said",
    [
        (("one", "two"), 2, "--page: expected one text for a page, got 2"),
        (("word " * 300,), 1, "expected at most 256 tokens for a page, got 302"),
    ],
)
def test_what_no_page_can_hold(deberta, sequence_model, tmp_path, words, code, said):
    (tmp_path / "p.html").write_text("before")
    done = deberta("analyze", "-m", sequence_model, "--out", tmp_path / "p.html", *words)
    assert done.returncode == code and said in done.stderr and (tmp_path / "p.html").read_text() == "before"


def test_a_model_of_numbers_that_are_none(deberta, tmp_path):
    folder = make_model(tmp_path / "model", "sequence")
    tensors = {name: array.copy() for name, array in read_safetensors(folder / "model.safetensors").items()}
    next(array for name, array in tensors.items() if name.endswith("layer.0.attention.self.query_proj.weight"))[:] = (
        3e38
    )
    write_safetensors(folder / "model.safetensors", tensors)
    done = deberta("analyze", "-m", folder, "a film")
    assert done.returncode == 1 and "NaN or infinite" in done.stdout
    done = deberta("analyze", "-m", folder, "--out", tmp_path / "p.html", "a film")
    assert done.returncode == 1 and "NaN or infinite" in done.stderr and not (tmp_path / "p.html").exists()
