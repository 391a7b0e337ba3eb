"""Pairs scored and texts classified, as the clients of vLLM and infinity ask; scores are those of the other routes, bit
for bit."""

import json
import time

import pytest

TEXT = "a gorgeous , witty , seductive movie ."
TEXTS = ["a fine film", "one that I would never see again , whatever my friends may say of it", "so so"]
LONG = "word " * 600


def scores(answer):
    assert [one["index"] for one in answer["data"]] == list(range(len(answer["data"])))
    assert {one["object"] for one in answer["data"]} == {"score"}
    return [one["score"] for one in answer["data"]]


def ranked(server, query, **more):
    """The scores of /rerank, in the order of TEXTS."""
    answer = server.post("/rerank", {"query": query, "texts": TEXTS} | more, x_model="score")
    return [one["score"] for one in sorted(answer, key=lambda one: one["index"])]


@pytest.mark.parametrize("path", ["/score", "/v1/score"])
def test_pairs_have_the_scores_of_rerank(server, path):
    answer = server.post(path, {"model": "score", "text_1": TEXT, "text_2": TEXTS})
    assert scores(answer) == ranked(server, TEXT)
    assert answer["object"] == "list" and answer["model"] == "score" and answer["id"].startswith("score-")
    assert abs(answer["created"] - time.time()) < 3600
    tokens = answer["usage"]["prompt_tokens"]
    assert answer["usage"] == {
        "prompt_tokens": tokens,
        "total_tokens": tokens,
        "completion_tokens": 0,
        "prompt_tokens_details": None,
    }
    raw = server.post(path, {"model": "score", "text_1": [TEXT], "text_2": TEXTS, "use_activation": False})
    assert scores(raw) == ranked(server, TEXT, raw_scores=True)


def test_each_text_with_its_own(server):
    queries = [TEXT, "which film", "an old one"]
    answer = server.post("/score", {"model": "score", "text_1": queries, "text_2": TEXTS})
    assert scores(answer) == [ranked(server, query)[i] for i, query in enumerate(queries)]
    for first, second in (("queries", "documents"), ("queries", "items"), ("data_1", "data_2")):
        assert scores(server.post("/score", {"model": "score", first: queries, second: TEXTS})) == scores(answer)


def test_refused_pairs_are_told_in_the_words_of_openai(server):
    for body, status, param, words in (
        ({}, 422, "/text_1", "expected a value"),
        ({"text_1": "a"}, 422, "/text_2", "expected a value"),
        ({"text_1": "a", "text_3": "b"}, 422, "/text_3", "did you mean text_2?"),
        ({"text_1": "a", "text_2": ["b"], "items": ["c"]}, 422, "/items", "expected one pair of fields"),
        ({"text_1": ["a", "b"], "text_2": ["c"] * 3}, 422, "/text_1", "as many as text_2 has, which is 3, got 2"),
        ({"text_1": ["a"] * 3, "text_2": "b"}, 422, "/text_1", "as many as text_2 has, which is 1, got 3"),
        ({"text_1": [], "text_2": "b"}, 400, "/text_1", "expected at least one"),
        ({"text_1": "a", "text_2": ["b"] * 300}, 413, "/text_2", "expected at most 256, got 300"),
        ({"text_1": "a", "text_2": ["b", LONG]}, 422, "/text_2/1", "tokens"),
        ({"text_1": [LONG, "a"], "text_2": ["b", "c"]}, 422, "/text_1/0", "tokens"),
        ({"text_1": "a", "text_2": "b", "truncate_prompt_tokens": 0}, 422, "/truncate_prompt_tokens", "at least 3"),
        ({"text_1": "a", "text_2": "b", "truncate_prompt_tokens": 9999}, 422, "/truncate_prompt_tokens", "in -1.."),
        ({"text_1": "a", "text_2": "b", "activation": False}, 422, "/activation", "expected use_activation"),
    ):
        found, answer = server.refused("/score", body, x_model="score")
        error = answer["error"]
        assert (found, error["param"]) == (status, param) and words in error["message"], (body, answer)
    found, answer = server.refused("/v1/score", {"model": "labels", "text_1": "a", "text_2": "b"})
    assert found == 422 and "expected a head with one class, got 3" in answer["error"]["message"]
    found, answer = server.refused("/v1/score", {"model": "none", "text_1": "a", "text_2": "b"})
    assert found == 404 and answer["error"]["param"] == "/model"


def test_few_tokens_of_a_pair_are_no_failure_of_the_server(server):
    """A pair needs room for its special tokens and one of each text."""
    for tokens in range(3, 8):
        status, _, text = server.request(
            "POST",
            "/score",
            {"text_1": "a b c d", "text_2": "e f g h", "truncate_prompt_tokens": tokens},
            {"x-model": "score"},
        )
        assert status in (200, 422), text


def test_cut_texts_are_reported(server):
    body = {"model": "score", "text_1": "a", "text_2": ["b", LONG], "truncate_prompt_tokens": -1}
    status, headers, _ = server.request("POST", "/score", body)
    assert status == 200 and headers["x-truncated-inputs"] == "1" and int(headers["x-truncated-tokens"]) > 0
    body = {"model": "labels", "input": LONG, "raw_scores": False}
    status, headers, _ = server.request("POST", "/classify", body)
    assert status == 200 and headers["x-truncated-inputs"] == "1"
    assert server.refused("/classify", {"model": "labels", "input": LONG})[0] == 422
    cut = server.request("POST", "/classify", {"model": "labels", "input": LONG, "truncate_prompt_tokens": 20})
    assert cut[0] == 200 and json.loads(cut[2])["usage"]["prompt_tokens"] == 20


@pytest.mark.parametrize("model", ["labels", "many", "score"])
def test_classes_have_the_scores_of_predict(server, model):
    for is_raw in (False, True):
        expected = server.post("/predict", {"inputs": [[text] for text in TEXTS], "raw_scores": is_raw}, x_model=model)
        answer = server.post("/classify", {"model": model, "input": TEXTS, "use_activation": not is_raw})
        assert answer["object"] == "list" and answer["id"].startswith("classify-") and answer["model"] == model
        assert answer["usage"]["completion_tokens"] == 0
        for i, (item, labels) in enumerate(zip(answer["data"], expected, strict=True)):
            assert item["index"] == i and item["label"] == labels[0]["label"]
            assert item["num_classes"] == len(labels) == len(item["probs"])
            assert sorted(item["probs"], reverse=True) == [one["score"] for one in labels]
        answer = server.post("/classify", {"model": model, "input": TEXTS, "raw_scores": is_raw})
        assert answer["object"] == "classify" and answer["data"] == expected
        assert set(answer["usage"]) == {"prompt_tokens", "total_tokens"}
    alone = server.post("/classify", {"model": model, "input": TEXTS[0]})
    assert len(alone["data"]) == 1


def test_probabilities_are_in_the_order_of_the_classes(server, models):
    labels = json.loads((models["labels"] / "config.json").read_text())["id2label"]
    of_name = {one["label"]: one["score"] for one in server.post("/predict", {"inputs": TEXT}, x_model="labels")}
    item = server.post("/classify", {"model": "labels", "input": TEXT})["data"][0]
    assert item["probs"] == [of_name[labels[str(i)]] for i in range(len(labels))]
