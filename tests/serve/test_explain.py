"""The explorer's routes for the mask decoder, replaced tokens and sizes, against what the program prints."""

import json
import subprocess

import numpy
import pytest

from conftest import BINARY, clean_environment
from models import read_safetensors

MASKED = "a [MASK] film with [MASK] parts"
TEXT = "a fine film with 2 good parts"
FORMS = ("with", "without", "shifted", "swapped")


def get(server, path):
    status, _, text = server.request("GET", path)
    assert status == 200, text
    return json.loads(text)


def test_masks_are_predicted_as_by_the_program(server, deberta, models):
    about = server.post("/explain/decoder", {"text": MASKED, "top_k": 3}, x_model="decoder")
    (expected,) = deberta("analyze", "-m", models["decoder"], "--show", "decoder", "--top-k", "3", MASKED)
    assert [mask["token"] for mask in about["masks"]] == [mask["position"] for mask in expected["masks"]]
    for mask, other in zip(about["masks"], expected["masks"]):
        forms = {form["form"]: form["tokens"] for form in other["forms"]}
        assert tuple(forms) == FORMS == tuple(mask)[1:]
        for form, tokens in forms.items():
            assert mask[form] == [{"token_str": one["token_str"], "score": one["score"]} for one in tokens]
    one = server.post("/explain/decoder", {"text": "a [MASK] film"}, x_model="decoder")["masks"]
    assert [tuple(mask)[1:] for mask in one] == [FORMS[:3]] and len(one[0]["with"]) == 5


def test_words_are_scored_as_by_the_program(server, deberta, models):
    words = ["goodness", "fine"]
    about = server.post("/explain/decoder", {"text": MASKED, "words": words}, x_model="decoder")
    (expected,) = deberta("analyze", "-m", models["decoder"], "--show", "decoder", "--words", ",".join(words), MASKED)
    assert about["fillings"] == expected["fillings"] and len(about["fillings"]) == 2
    assert server.post("/explain/decoder", {"text": MASKED, "words": []}, x_model="decoder")["fillings"] == []


def test_the_passes_are_kept_as_layers(server, models, tmp_path):
    about = server.post("/explain/decoder", {"text": MASKED}, x_model="decoder")
    assert (about["passes"], about["heads"], about["terms"]) == (2, 2, ["c2c", "c2p", "p2c"])
    words = ["--show", "decoder", "--figure", "passes", "--head", "2", "-o", tmp_path / "passes.safetensors", MASKED]
    subprocess.run([BINARY, "analyze", "-m", models["decoder"], *words], check=True, env=clean_environment())
    expected = read_safetensors(tmp_path / "passes.safetensors")
    for number in (1, 2):
        for term, name in (("c2c", "c2c"), ("p2c", "p2c"), ("sum", "sum"), ("softmax", "weight")):
            found = server.matrix(about, number, 2, term)
            assert numpy.allclose(found, expected[name][number - 1], atol=2e-3, rtol=2e-3), (number, term)
    heads = get(server, f"/explain/heads?id={about['explain_id']}")["heads"]
    assert [(one["layer"], one["head"]) for one in heads] == [(1, 1), (1, 2), (2, 1), (2, 2)]
    assert server.request("GET", f"/explain/thumbnails?id={about['explain_id']}&size=4")[1]["x-shape"] == "2,2,4,4"


def test_a_text_is_walked_as_by_the_program(server, deberta, models):
    body = {"text": TEXT, "generator": "decoder", "share": 0.4, "seed": 5}
    walk = server.post("/explain/replaced", body, x_model="replaced")
    command = ("analyze", "--show", "replaced", "-m", models["replaced"], "--generator-model", models["decoder"])
    (expected,) = deberta(*command, "--seed", "5", "--mlm-probability", "0.4", TEXT)
    for token, other in zip(walk["tokens"], expected["tokens"], strict=True):
        assert token["text"] == other["token"] and token["is_masked"] == other["masked"]
        assert token["drawn"] == other.get("drawn") and token["drawn_probability"] == other.get("drawn_probability")
        assert token["is_replaced"] == bool(other["label"]) and token["replaced_probability"] == other["replaced"]
    for name in ("generator", "discriminator"):
        assert walk["losses"][name] == expected[name]["loss"] and walk["signal"][name] == expected[name]["tokens"]
    assert (walk["model"], walk["generator"], walk["seed"]) == ("replaced", "decoder", 5)
    first = server.post("/explain/replaced", {"text": TEXT}, x_model="replaced")
    assert first["generator"] == "words" and first["seed"] == 0  # the first that is served
    assert server.post("/explain/replaced", {"text": TEXT}, x_model="replaced") == first


@pytest.mark.parametrize("name", ["labels", "decoder", "replaced"])
def test_sizes_are_those_of_the_program(server, deberta, models, name):
    for asked, named in ((name, models[name]), ("v3-base", "v3-base"), ("v1-large", "v1-large")):
        found = get(server, f"/explain/size?model={asked}&length=128")
        (expected,) = deberta("info", "--sizes", named, "--length", "128")
        counts, work = expected["parameters"], expected["operations"]
        assert found["parameters"]["total"] == counts["all"] and found["flops"]["total"] == work["all"]
        assert found["parameters"]["relative"] == counts["relative_projections"] + counts["relative_table"]
        assert found["flops"]["relative"] == work["relative_terms"]
        for part in ("words", "positions", "embeddings", "layers", "convolution", "head"):
            assert found["parameters"][part] == counts[part]
        for parts in (found["parameters"], found["flops"]):
            assert sum(parts.values()) == 2 * parts["total"]
    assert "v3-base" in found["published"] and found["model"] == "large" and found["length"] == 128


@pytest.mark.parametrize(
    "path, model, body, status, field, said",
    [
        ("decoder", "labels", {"text": "a [MASK]"}, 422, None, "mask decoder: expected a masked language model"),
        ("decoder", "words", {"text": "a [MASK]"}, 422, None, "it has no table of absolute positions"),
        ("decoder", "decoder", {"text": "a film"}, 422, "/text", "expected at least one mask token, got none"),
        ("decoder", "decoder", {"text": "[MASK] " * 17}, 422, "/text", "expected at most 16 mask tokens, got 17"),
        ("decoder", "decoder", {"text": "[MASK] " + "a " * 300}, 422, "/text", "expected at most 256 tokens"),
        ("decoder", "decoder", {"text": "[MASK]", "top_k": 0}, 422, "/top_k", "in 1..100, got 0"),
        ("decoder", "decoder", {"text": "[MASK]", "words": "a"}, 422, "/words", "expected an array of strings"),
        ("decoder", "decoder", {"text": MASKED, "words": ["a"]}, 422, "/words", "a word for each of 2 masks, got 1"),
        ("decoder", "decoder", {"text": MASKED, "words": list("abcdefghijkl")}, 422, "/words", "at most 120 ways"),
        (
            "decoder",
            "decoder",
            {"text": MASKED + " a" * 200, "words": list("abcdefghij")},
            422,
            "/words",
            "predicted in at most 8192 tokens",
        ),
        ("decoder", "decoder", {"text": "[MASK]", "words": ["a" * 3000]}, 422, None, "expected at most"),
        ("decoder", "decoder", {"words": ["a"]}, 422, "/text", "expected a value, got none"),
        ("replaced", "labels", {"text": "a film"}, 422, None, "discriminator: expected a head for replaced tokens"),
        ("replaced", "replaced", {"text": "a", "generator": "labels"}, 422, None, "generator: expected a masked"),
        ("replaced", "replaced", {"text": "a", "generator": "none"}, 404, "/generator", "none"),
        ("replaced", "replaced", {"text": "a " * 300}, 422, "/text", "expected at most 256 tokens"),
        ("replaced", "replaced", {"text": "a", "share": 2}, 422, "/share", "expected a number in 0..1, got 2"),
        ("replaced", "replaced", {"text": "a", "seed": -1}, 422, "/seed", "expected a whole number in 0.."),
        ("replaced", "replaced", {"text": "a", "sed": 1}, 422, "/sed", "did you mean seed?"),
    ],
)
def test_what_is_refused(server, path, model, body, status, field, said):
    got, answer = server.refused(f"/explain/{path}", body, x_model=model)
    assert got == status and said in answer["error"], answer
    assert answer.get("field") == field, answer


def test_a_discriminator_by_itself_has_no_generator(serve, models):
    server = serve("-m", models["replaced"])
    status, answer = server.refused("/explain/replaced", {"text": "a film"})
    assert (status, answer["field"]) == (422, "/generator")
    assert "expected a masked language model that reads the pieces of replaced, got none" in answer["error"]


def test_what_it_shows_is_bounded_by_memory(serve, models):
    """20 bytes for each pair of tokens in 2 passes of 2 heads; 4,256 for the logits of a token."""
    words = ("-m", models["decoder"], "-m", models["replaced"], "--max-client-bytes", "1MiB", "--max-body", "1MiB")
    server = serve(*words)
    for model, text, most in (("decoder", "[MASK] " + "a " * 250, 114), ("replaced", "a " * 250, 246)):
        status, answer = server.refused(f"/explain/{model}", {"text": text}, x_model=model)
        assert status == 422 and f"expected at most {most} tokens" in answer["error"], answer
    assert server.post("/explain/decoder", {"text": "a [MASK]"}, x_model="decoder")["masks"]
