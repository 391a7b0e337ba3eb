"""analyze --show: the passes of the mask decoder, walks from a mask to the losses of a pair, and two models or texts
side by side; numbers against plain sums in NumPy."""

import json

import numpy
import pytest

from figures_by_hand import (
    DETECT,
    FILL,
    MASKED,
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
from models import make_model, read_safetensors, write_safetensors

# ---- the mask decoder


@pytest.fixture(scope="session")
def plain_model(tmp_path_factory):
    """That of `decoder_model` without the table of positions: it predicts through the plain head."""
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
