"""Every task over HTTP: the answers are the program's, number for number."""

import base64
import json
import os
import random
import re
import struct
from concurrent.futures import ThreadPoolExecutor

import pytest
from prometheus_client.parser import text_string_to_metric_families

from conftest import SANITIZED
from models import make_model

TEXT = "a gorgeous , witty , seductive movie ."
TEXTS = ["a fine film", "one that I would never see again , whatever my friends may say of it", "so so"]


def labels(answer):
    return {(label["label"], label["score"]) for label in answer}


def test_predict_has_the_scores_of_classify(server, deberta, models):
    whole = deberta("classify", "-m", models["labels"], "--top-k", "3", TEXT)[0]["labels"]
    for inputs in (TEXT, [TEXT]):
        answer = server.post("/predict", {"inputs": inputs}, x_model="labels")
        assert labels(answer) == labels(whole)
        assert [a["score"] for a in answer] == sorted((a["score"] for a in answer), reverse=True)
    batch = server.post("/predict", {"inputs": [[text] for text in TEXTS]}, x_model="labels")
    assert [labels(one) for one in batch] == [
        labels(one["labels"]) for one in deberta("classify", "-m", models["labels"], "--top-k", "3", *TEXTS)
    ]
    pair = server.post("/predict", {"inputs": TEXTS[:2]}, x_model="labels")
    assert labels(pair) == labels(
        deberta("classify", "-m", models["labels"], "--top-k", "3", "--pair", *TEXTS[:2])[0]["labels"]
    )
    raw = server.post("/predict", {"inputs": TEXT, "raw_scores": True}, x_model="labels")
    assert labels(raw) == labels(
        deberta("classify", "-m", models["labels"], "--top-k", "3", "--activation", "none", TEXT)[0]["labels"]
    )


def test_scores_follow_the_problem_type(server, deberta, models):
    many = server.post("/predict", {"inputs": TEXT}, x_model="many")
    assert labels(many) == labels(deberta("classify", "-m", models["many"], TEXT)[0]["labels"]) and len(many) == 3
    assert abs(sum(one["score"] for one in many) - 1) > 1e-3  # sigmoids, not a softmax
    one = server.post("/predict", {"inputs": TEXT}, x_model="score")
    assert labels(one) == labels(deberta("classify", "-m", models["score"], TEXT)[0]["labels"])


def test_rerank_in_the_words_of_each_client(server, deberta, models):
    expected = deberta("rerank", "-m", models["score"], "which film", *TEXTS)[0]["results"]
    tei = server.post("/rerank", {"query": "which film", "texts": TEXTS, "return_text": True}, x_model="score")
    assert [(r["index"], r["score"], r["text"]) for r in tei] == [
        (r["index"], r["score"], TEXTS[r["index"]]) for r in expected
    ]
    for path in ("/v1/rerank", "/v2/rerank", "/v1/reranking", "/rerank"):
        answer = server.post(
            path,
            {
                "model": "score",
                "query": "which film",
                "documents": [TEXTS[0], {"text": TEXTS[1]}, TEXTS[2]],
                "top_n": 2,
                "return_documents": True,
            },
        )
        assert [(r["index"], r["relevance_score"], r["document"]["text"]) for r in answer["results"]] == [
            (r["index"], r["score"], TEXTS[r["index"]]) for r in expected[:2]
        ]
        assert answer["model"] == "score" and answer["usage"]["total_tokens"] > 0
    raw = server.post("/rerank", {"query": "which film", "texts": TEXTS, "raw_scores": True}, x_model="score")
    assert [r["score"] for r in raw] == [
        r["score"]
        for r in deberta("rerank", "-m", models["score"], "--activation", "none", "which film", *TEXTS)[0]["results"]
    ]


def test_rerank_as_infinitys_clients_ask(server):
    """litellm's infinity/ models and infinity_client: documents as strings, and usage with both counts."""
    body = {"model": "score", "query": "which film", "documents": TEXTS, "top_n": 2, "return_documents": True}
    for path in ("/rerank", "/v1/rerank"):
        answer = server.post(path, body)
        assert [set(one) for one in answer["results"]] == [{"index", "relevance_score", "document"}] * 2
        assert answer["usage"]["prompt_tokens"] == answer["usage"]["total_tokens"] > 0
        plain = server.post(path, body | {"return_documents": False})
        assert [set(one) for one in plain["results"]] == [{"index", "relevance_score"}] * 2
    expected = server.post("/rerank", {"query": "which film", "texts": TEXTS}, x_model="score")[:2]
    assert [(one["index"], one["relevance_score"]) for one in plain["results"]] == [
        (one["index"], one["score"]) for one in expected
    ]


def test_vectors(server, deberta, models):
    plain = [one["embedding"] for one in deberta("embed", "-m", models["labels"], *TEXTS)]
    normal = [one["embedding"] for one in deberta("embed", "-m", models["labels"], "--normalize", *TEXTS)]
    assert server.post("/embed", {"inputs": TEXTS, "normalize": False}, x_model="labels") == plain
    assert server.post("/embed", {"inputs": TEXTS}, x_model="labels") == normal
    assert server.post("/embed", {"inputs": TEXTS[0]}, x_model="labels") == normal[:1]
    tokens = deberta("embed", "-m", models["labels"], "--pooling", "none", *TEXTS)
    assert server.post("/embed_all", {"inputs": TEXTS}, x_model="labels") == [one["token_embeddings"] for one in tokens]
    cosines = server.post("/similarity", {"inputs": {"source_sentence": TEXT, "sentences": TEXTS}}, x_model="labels")
    assert cosines == [
        deberta("embed", "-m", models["labels"], "--similarity", TEXT, other)[0]["similarity"] for other in TEXTS
    ]


def test_embeddings_as_openai_has_them(server, models):
    normal = server.post("/embed", {"inputs": TEXTS}, x_model="labels")
    for path in ("/v1/embeddings", "/embeddings"):
        answer = server.post(path, {"model": "labels", "input": TEXTS})
        assert [one["embedding"] for one in answer["data"]] == normal
        assert [one["index"] for one in answer["data"]] == [0, 1, 2]
        assert answer["object"] == "list" and answer["usage"]["prompt_tokens"] == answer["usage"]["total_tokens"] > 0
    packed = server.post("/v1/embeddings", {"model": "labels", "input": TEXTS[0], "encoding_format": "base64"})["data"][
        0
    ]["embedding"]
    assert list(struct.unpack("<16f", base64.b64decode(packed))) == [
        struct.unpack("<f", struct.pack("<f", x))[0] for x in normal[0]
    ]
    ids = [[one["id"] for one in text] for text in server.post("/tokenize", {"inputs": TEXTS}, x_model="labels")]
    assert [
        one["embedding"] for one in server.post("/v1/embeddings", {"model": "labels", "input": ids})["data"]
    ] == normal
    assert server.post("/v1/embeddings", {"model": "labels", "input": ids[0]})["data"][0]["embedding"] == normal[0]
    short = server.post("/v1/embeddings", {"model": "labels", "input": TEXTS, "dimensions": 5})["data"]
    for one in short:
        assert len(one["embedding"]) == 5 and abs(sum(x * x for x in one["embedding"]) - 1) < 1e-6


def test_pieces_and_back(server, deberta, models):
    pieces = server.post("/tokenize", {"inputs": TEXT}, x_model="labels")[0]
    ids = [one["id"] for one in pieces]
    assert ids == deberta("tokenize", "-m", models["labels"], TEXT)[0]["ids"]
    assert pieces[0]["special"] and pieces[0]["start"] is None and not pieces[1]["special"]
    assert TEXT[pieces[1]["start"] : pieces[1]["stop"]] == pieces[1]["text"]
    assert server.post("/decode", {"ids": ids}, x_model="labels") == [TEXT]
    assert server.post("/decode", {"ids": [ids, ids[:1]], "skip_special_tokens": False}, x_model="labels")[1] == "[CLS]"
    bare = server.post("/tokenize", {"inputs": TEXT, "add_special_tokens": False}, x_model="labels")[0]
    assert [one["id"] for one in bare] == ids[1:-1]


def test_tasks_of_the_hub(server, deberta, models):
    def task(name, model, body):
        return server.post(f"/models/{model}/pipeline/{name}", body)

    whole = deberta("classify", "-m", models["labels"], "--top-k", "3", TEXT)[0]["labels"]
    assert task("text-classification", "labels", {"inputs": TEXT}) == [whole]
    assert (
        task("text-classification", "labels", {"inputs": TEXT, "parameters": {"top_k": 1, "shape": "pipeline"}})
        == whole[:1]
    )
    entities = deberta("ner", "-m", models["token"], "--aggregate", "simple", TEXT)[0]["entities"]
    assert task("token-classification", "token", {"inputs": TEXT}) == entities
    pieces = deberta("ner", "-m", models["token"], "--aggregate", "none", "--ignore-labels", "", TEXT)[0]["entities"]
    assert (
        task(
            "token-classification",
            "token",
            {"inputs": TEXT, "parameters": {"aggregation_strategy": "none", "ignore_labels": [], "shape": "pipeline"}},
        )
        == pieces
    )
    question = {"question": "Who wrote it?", "context": "Mary Shelley wrote it in 1818 . It was her first novel ."}
    expected = deberta("qa", "-m", models["span"], question["question"], question["context"])[0]
    assert task("question-answering", "span", {"inputs": question}) == {
        k: expected[k] for k in ("answer", "score", "start", "end")
    }
    three = task("question-answering", "span", {"inputs": question, "parameters": {"top_k": 3}})
    assert (
        three
        == deberta("qa", "-m", models["span"], "--top-k", "3", question["question"], question["context"])[0]["answers"]
    )
    filled = task("fill-mask", "words", {"inputs": "a [MASK] film", "parameters": {"top_k": 2}})
    expected = deberta("fill", "-m", models["words"], "--top-k", "2", "a [MASK] film")[0]["masks"][0]["tokens"]
    assert filled == [{k: one[k] for k in ("score", "token", "token_str", "sequence")} for one in expected]
    two = task("fill-mask", "words", {"inputs": "a [MASK] or [MASK] film"})
    assert [len(one) for one in two] == [5, 5]
    assert task("text-scoring", "words", {"inputs": TEXT}) == deberta("score", "-m", models["words"], TEXT)[0]
    shown = {"inputs": TEXTS, "parameters": {"tokens": True, "offsets": "bytes"}}
    assert task("text-scoring", "words", shown) == deberta(
        "score", "-m", models["words"], "--tokens", "--offsets", "bytes", *TEXTS
    )
    candidates = deberta("zero-shot", "-m", models["nli"], "--labels", "sports,politics,films", TEXT)[0]
    parameters = {"candidate_labels": ["sports", "politics", "films"]}
    assert (
        task("zero-shot-classification", "nli", {"inputs": TEXT, "parameters": parameters | {"shape": "pipeline"}})
        == candidates
    )
    assert task("zero-shot-classification", "nli", {"inputs": TEXT, "parameters": parameters}) == [
        {"label": n, "score": s} for n, s in zip(candidates["labels"], candidates["scores"])
    ]
    for labels in ("sports,politics,films", " sports , politics,films"):  # as the transformers pipelines take them
        one_text = {"inputs": TEXT, "parameters": {"candidate_labels": labels, "shape": "pipeline"}}
        assert task("zero-shot-classification", "nli", one_text) == server.post("/models/nli", one_text) == candidates
    assert task("feature-extraction", "labels", {"inputs": TEXT, "normalize": False}) == [
        deberta("embed", "-m", models["labels"], TEXT)[0]["embedding"]
    ]
    tokens = deberta("embed", "-m", models["labels"], "--pooling", "none", TEXT)[0]["token_embeddings"]
    assert task("feature-extraction", "labels", {"inputs": TEXT, "parameters": {"shape": "pipeline"}}) == [tokens]
    assert task(
        "sentence-similarity", "labels", {"inputs": {"source_sentence": TEXT, "sentences": [TEXT]}}
    ) == pytest.approx([1])
    assert (
        task("replaced-token-detection", "replaced", {"inputs": TEXT})
        == deberta("detect", "-m", models["replaced"], TEXT)[0]["tokens"]
    )
    choices = {"context": "It rained all day .", "question": "What was the street?", "choices": ["wet", "dry"]}
    assert (
        task("multiple-choice", "score", {"inputs": choices})
        == deberta("choose", "-m", models["score"], choices["context"], choices["question"], "wet", "dry")[0]
    )
    ranked = task("text-ranking", "score", {"inputs": {"query": "which film", "texts": TEXTS}})
    assert ranked == server.post("/rerank", {"query": "which film", "texts": TEXTS}, x_model="score")


def test_a_scored_text_counts_as_its_masked_copies(serve, models):
    """One for each of its tokens, as long as the text: counted before any of them is made, and refused where the queue
    does not hold so many tokens."""
    server, path = serve("-m", models["words"], "--batch-tokens", "250"), "/models/words/pipeline/text-scoring"
    text = "word " * 20
    tokens = len(server.post("/tokenize", {"inputs": text})[0])
    status, headers, _ = server.request("POST", path, {"inputs": text})
    assert status == 200 and int(headers["x-compute-tokens"]) == tokens * (tokens - 2)
    total = totals(server)
    assert total("deberta_batch_tokens_sum") == tokens * (tokens - 2) and total("deberta_batch_items_sum") == tokens - 2
    status, headers, answer = server.request("POST", path, {"inputs": "word " * 600})
    assert (
        status == 413 and "expected at most 64000 tokens in a request, got" in answer and "retry-after" not in headers
    ), answer
    assert totals(server)("deberta_batch_items_sum") == tokens - 2  # nothing more was computed
    assert len(server.post(path, {"inputs": [text, "so"]})) == 2


def test_a_model_has_a_task_of_its_own(server, deberta, models):
    entities = deberta("ner", "-m", models["token"], TEXT)[0]["entities"]
    for path in ("/", "/invocations"):
        assert server.post(path, {"inputs": TEXT}, x_model="labels") == server.post(
            "/predict", {"inputs": TEXT}, x_model="labels"
        )
        assert server.post(path, {"inputs": TEXT}, x_model="token") == entities
        assert server.post(path, {"inputs": TEXT, "parameters": {}}, x_model="token") == entities
        simple = {"aggregation_strategy": "simple"}
        assert server.post(path, {"inputs": TEXT, "parameters": simple}, x_model="token") == server.post(
            "/models/token", {"inputs": TEXT}
        )
        assert server.post(path, {"query": "a", "texts": TEXTS}, x_model="score") == server.post(
            "/rerank", {"query": "a", "texts": TEXTS}, x_model="score"
        )
    assert server.post("/", {"inputs": TEXT, "parameters": {}}, x_model="labels") == server.post(
        "/models/labels/pipeline/text-classification", {"inputs": TEXT}
    )


def test_answers_of_many_clients_at_once_are_those_of_one(server, models):
    texts = [" ".join(["word"] * (1 + i * 7 % 90)) + f" {i}" for i in range(60)]
    alone = {text: server.post("/predict", {"inputs": text}, x_model="labels") for text in texts}
    with ThreadPoolExecutor(32) as executor:
        for _ in range(3):
            for text, answer in zip(
                texts, executor.map(lambda text: server.post("/predict", {"inputs": text}, x_model="labels"), texts)
            ):
                assert answer == alone[text]


def test_what_the_server_says_of_itself(server, models):
    info = json.loads(server.request("GET", "/info")[2])
    assert {one["name"] for one in info["models"]} == set(models) and info["max_client_batch_size"] == 256
    assert info["models"][0]["model_type"] == {
        "classifier": {
            "id2label": {"0": "negative", "1": "neutral", "2": "positive"},
            "label2id": {"negative": 0, "neutral": 1, "positive": 2},
        }
    }
    listed = json.loads(server.request("GET", "/v1/models")[2])
    assert {one["id"] for one in listed["data"]} == set(models)
    status, headers, _ = server.request(
        "POST", "/predict", {"inputs": TEXT, "priority": 3}, {"x-model": "labels", "x-request-id": "mine-1"}
    )
    assert status == 200 and headers["x-request-id"] == "mine-1" and headers["x-ignored-fields"] == "priority"
    assert headers["x-compute-type"] == info["device"] and int(headers["x-compute-tokens"]) > 3
    timing = dict(part.split(";dur=") for part in headers["server-timing"].split(", "))
    assert list(timing) == ["queue", "tokenize", "infer", "total"]
    names = {"queue": "queue", "tokenize": "tokenization", "infer": "inference", "total": "total"}
    for name, milliseconds in timing.items():
        assert re.fullmatch(r"\d+\.\d{3}", milliseconds)
        assert int(float(milliseconds)) == int(headers[f"x-{names[name]}-time"])
    assert float(timing["infer"]) > 0 and float(timing["total"]) >= float(timing["infer"])
    assert "server-timing" not in server.request("GET", "/info")[1]
    status, headers, body = server.request("HEAD", "/health")
    assert (status, body) == (200, "") and int(headers["content-length"]) > 0
    assert server.request("OPTIONS", "/predict")[:2][0] == 204


def totals(server):
    """total(name, **labels): the sum of a metric's samples, as prometheus_client reads them."""
    families = list(text_string_to_metric_families(server.request("GET", "/metrics")[2]))
    return lambda name, **labels: sum(
        s.value
        for family in families
        for s in family.samples
        if s.name == name and all(s.labels.get(k) == v for k, v in labels.items())
    )


def test_the_sums_of_the_metrics_hold(serve, models):
    server = serve("-m", models["labels"])
    with ThreadPoolExecutor(8) as executor:

        def ask(i):
            bodies = [{"inputs": TEXT}, {"inputs": [[t] for t in TEXTS]}, {"inputs": 7}, b"not json", {"inputs": []}]
            return server.request("POST", "/predict", bodies[i % 5])[0]

        statuses = list(executor.map(ask, range(500)))
    total = totals(server)
    assert total("deberta_request_total", route="/predict") == 500
    assert total("deberta_request_success_total", route="/predict") == statuses.count(200) == 200
    assert total("deberta_request_failure_total", reason="validation") == 300
    assert total("deberta_request_duration_seconds_count", route="/predict") == 500
    assert total("deberta_queue_tokens") == total("deberta_queue_items") == 0
    assert total("deberta_batch_items_sum") == 100 + 3 * 100


def test_rows_of_distances_are_those_of_a_text(server, serve, tmp_path):
    explained = server.post("/explain/tokens", {"text": TEXT}, x_model="labels")["rows"]
    length = (len(explained) + 1) // 2
    for target, headers in (
        (f"/explain/positions?model=labels&length={length}", {}),
        (f"/explain/positions?length={length}", {"x-model": "labels"}),
    ):
        status, _, text = server.request("GET", target, headers=headers)
        answer = json.loads(text)
        assert status == 200 and answer["rows"] == explained
        assert (answer["model"], answer["length"], answer["table_rows"]) == ("labels", length, 64)
    assert server.request("GET", f"/explain/positions?length={length}")[0] == 404  # several models are served
    plain = serve("-m", make_model(tmp_path / "plain", "rtd", relative_attention=False))
    answer = json.loads(plain.request("GET", "/explain/positions?length=8")[2])
    assert answer["rows"] == [] and answer["table_rows"] == 0


MIXED = [
    ("/predict", "labels", {"inputs": TEXT}),
    ("/predict", "many", {"inputs": [[t] for t in TEXTS]}),
    ("/rerank", "score", {"query": TEXT, "texts": TEXTS}),
    ("/embed", "words", {"inputs": TEXTS}),
    ("/models/words", "words", {"inputs": "a [MASK] film"}),
    ("/models/token", "token", {"inputs": TEXT}),
    ("/v1/embeddings", "labels", {"model": "labels", "input": TEXT}),
    (
        "/v2/models/labels/infer",
        "labels",
        {"inputs": [{"name": "text", "datatype": "BYTES", "shape": [1], "data": [TEXT]}]},
    ),
    ("/tokenize", "labels", {"inputs": TEXT}),
    ("/info", None, None),
    ("/health", None, None),
    ("/nothing", None, {}),
    ("/predict", "none", {"inputs": TEXT}),
    ("/predict", "labels", {"inputs": 7}),
    ("/predict", "labels", b"not json"),
    ("/predict", "labels", {"inputs": [["a"]] * 300}),
    ("/rerank", "labels", {"query": TEXT, "texts": TEXTS}),
    ("/predict", "labels", None),
]


def test_every_request_is_counted_once_as_a_success_or_a_failure(serve, models):
    """MIXED_REQUESTS of them, in no order; `tools/long_checks serving` asks 10,000."""
    count = int(os.environ.get("MIXED_REQUESTS", "200" if SANITIZED else "1000"))
    server = serve(
        *(word for name, folder in models.items() for word in ("-m", f"{name}={folder}")), "--metrics-names", "tei"
    )
    draw = random.Random(count)
    asked = [draw.choice(MIXED) for _ in range(count)]
    with ThreadPoolExecutor(8) as executor:

        def ask(one):
            path, model, body = one
            return path, server.request(
                "GET" if body is None else "POST", path, body, {"x-model": model} if model else {}
            )[0]

        told = list(executor.map(ask, asked))
    total = totals(server)
    for status in {status for _, status in told}:
        assert total("deberta_request_total", status=str(status)) == sum(s == status for _, s in told), status
    assert total("deberta_request_total") == total("deberta_request_duration_seconds_count") == count
    good, bad = total("deberta_request_success_total"), total("deberta_request_failure_total")
    assert good == sum(status == 200 for _, status in told) and good + bad == count
    assert {status for _, status in told} >= {200, 400, 404, 405, 413, 422}
    for path in {path for path, _ in told} - {"/nothing", "/models/words", "/models/token", "/v2/models/labels/infer"}:
        assert total("deberta_request_success_total", route=path) == sum(p == path and s == 200 for p, s in told), path
    assert total("deberta_queue_tokens") == total("deberta_queue_items") == total("te_queue_size") == 0
    assert total("deberta_batch_items_sum") == total("te_batch_next_size_sum")
    assert total("deberta_batch_tokens_sum") == total("te_batch_next_tokens_sum")
    assert total("deberta_batch_duration_seconds_count") == total("deberta_batches_total")
    assert total("deberta_batch_duration_seconds_sum") > 0
    # The parser puts _total behind the name of a counter that has none.
    assert total("te_request_count_total") == total("te_request_duration_count") == count
    assert total("te_request_success_total") == good and total("te_request_failure_total") == bad
