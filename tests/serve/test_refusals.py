"""What a client is told when its request has no answer: status, words, place; and that the next request is fine."""

import contextlib
import json
import os
import re
import resource
import socket
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from conftest import SANITIZED, SECONDS, read_all, resident

TEXT = "a fine film"
LONG = "word " * 600


def test_places_in_the_body_are_named(server):
    for path, body, status, field in (
        ("/predict", {"inputs": 1}, 422, "/inputs"),
        ("/predict", {"inputs": [1]}, 422, "/inputs/0"),
        ("/predict", {"inputs": ["a", "b", "c"]}, 422, "/inputs"),
        ("/predict", {"inputs": [["a"], ["a", 2]]}, 422, "/inputs/1/1"),
        ("/predict", {"inputs": []}, 400, "/inputs"),
        ("/predict", {}, 422, "/inputs"),
        ("/predict", {"input": "a"}, 422, "/input"),
        ("/predict", {"inputs": "a", "truncate": "yes"}, 422, "/truncate"),
        ("/predict", {"inputs": "a", "truncation_direction": "up"}, 422, "/truncation_direction"),
        ("/predict", {"inputs": LONG, "truncate": False}, 422, "/inputs"),
        ("/predict", {"inputs": ["a", LONG]}, 422, "/inputs/1"),
        ("/predict", {"inputs": [["a"], [LONG]]}, 422, "/inputs/1/0"),
        ("/predict", {"inputs": [["a"], ["b", LONG]]}, 422, "/inputs/1/1"),
        ("/predict", {"inputs": [["a"], [LONG, "b"]]}, 422, "/inputs/1/0"),
        ("/embed", {"inputs": ["a", LONG]}, 422, "/inputs/1"),
        ("/embed_all", {"inputs": LONG}, 422, "/inputs"),
        ("/embed", {"inputs": "a", "prompt_name": "query"}, 422, "/prompt_name"),
        ("/similarity", {"inputs": {"source_sentence": LONG, "sentences": ["b"]}}, 422, "/inputs/source_sentence"),
        ("/similarity", {"inputs": {"source_sentence": "a", "sentences": ["a", LONG]}}, 422, "/inputs/sentences/1"),
        (
            "/models/labels/pipeline/sentence-similarity",
            {"inputs": {"source_sentence": "a", "sentences": ["a", LONG]}, "parameters": {"truncate": False}},
            422,
            "/inputs/sentences/1",
        ),
        (
            "/models/labels/pipeline/text-classification",
            {"inputs": LONG, "parameters": {"truncate": False}},
            422,
            "/inputs",
        ),
        (
            "/models/labels/pipeline/text-classification",
            {"inputs": {"text": LONG}, "parameters": {"truncate": False}},
            422,
            "/inputs/text",
        ),
        (
            "/models/labels/pipeline/text-classification",
            {"inputs": ["a", {"text": "a", "text_pair": LONG}], "parameters": {"truncate": False}},
            422,
            "/inputs/1/text_pair",
        ),
        ("/models/labels/pipeline/text-classification", {"inputs": ["a", 5]}, 422, "/inputs/1"),
        ("/models/labels/pipeline/feature-extraction", {"inputs": LONG, "truncate": False}, 422, "/inputs"),
        (
            "/models/labels/pipeline/feature-extraction",
            {"inputs": ["a", LONG], "parameters": {"shape": "pipeline", "truncate": False}},
            422,
            "/inputs/1",
        ),
        (
            "/models/nli/pipeline/zero-shot-classification",
            {"inputs": LONG, "parameters": {"candidate_labels": ["a", "b"], "truncate": False}},
            422,
            "/inputs",
        ),
        (
            "/models/nli/pipeline/zero-shot-classification",
            {"inputs": "a", "parameters": {"candidate_labels": ["a", LONG]}},
            422,
            "/parameters/candidate_labels/1",
        ),
        (
            "/models/nli/pipeline/zero-shot-classification",
            {"inputs": "a", "parameters": {"candidate_labels": ["a"], "hypothesis_template": "{} {}"}},
            422,
            "/parameters/hypothesis_template",
        ),
        (
            "/models/nli/pipeline/zero-shot-classification",
            {"inputs": "a", "parameters": {"candidate_labels": ["a"], "hypothesis_template": LONG + "{}"}},
            422,
            "/parameters/hypothesis_template",
        ),
        ("/models/nli/pipeline/zero-shot-classification", {"inputs": "a"}, 422, "/parameters/candidate_labels"),
        (
            "/models/nli/pipeline/zero-shot-classification",
            {"inputs": "a", "parameters": {"candidate_labels": "a," * 300}},
            413,
            "/parameters/candidate_labels",
        ),
        *(
            (
                "/models/nli/pipeline/zero-shot-classification",
                {"inputs": "a", "parameters": {"candidate_labels": labels}},
                422,
                "/parameters/candidate_labels",
            )
            for labels in ("", " ", "a,,b", "a, ", ",a", 5, {"a": 1}, f"a, {LONG}")
        ),
        (
            "/models/replaced/pipeline/replaced-token-detection",
            {"inputs": LONG, "parameters": {"truncate": False}},
            422,
            "/inputs",
        ),
        (
            "/models/span/pipeline/question-answering",
            {"inputs": {"question": "a b c d e f g h i j k l m n", "context": "b"}, "parameters": {"max_seq_len": 8}},
            422,
            "/inputs/question",
        ),
        (
            "/models/score/pipeline/multiple-choice",
            {"inputs": {"context": "a", "choices": ["b"]}},
            422,
            "/inputs/choices",
        ),
        (
            "/models/score/pipeline/text-ranking",
            {"inputs": {"query": "a", "texts": ["b", LONG], "truncate": False}},
            422,
            "/inputs/texts/1",
        ),
        (
            "/models/score/pipeline/text-ranking",
            {"inputs": {"query": "a", "texts": ["b", LONG]}, "parameters": {"truncate": False}},
            422,
            "/inputs/texts/1",
        ),
        (
            "/models/score/pipeline/text-ranking",
            {"inputs": {"query": "a", "documents": ["b", LONG]}, "parameters": {"truncate": False}},
            422,
            "/inputs/documents/1",
        ),
        (
            "/models/score/pipeline/multiple-choice",
            {
                "inputs": {"context": "a", "question": "b", "choices": ["c", "d " * 200]},
                "parameters": {"truncate": False},
            },
            422,
            "/inputs/choices/1",
        ),
        (
            "/models/score/pipeline/multiple-choice",
            {
                "inputs": {"context": "a", "question": "b " * 200, "choices": ["c", "d"]},
                "parameters": {"truncate": False},
            },
            422,
            "/inputs/question",
        ),
        (
            "/models/score/pipeline/multiple-choice",
            {"inputs": {"context": LONG, "question": "b", "choices": ["c", "d"]}, "parameters": {"truncate": False}},
            422,
            "/inputs/context",
        ),
        ("/models/words/pipeline/fill-mask", {"inputs": ["a [MASK]", "none"]}, 422, "/inputs/1"),
        (
            "/models/words/pipeline/fill-mask",
            {"inputs": "a [MASK]", "parameters": {"targets": [""]}},
            422,
            "/parameters/targets",
        ),
        (
            "/models/words/pipeline/text-scoring",
            {"inputs": ["a", LONG], "parameters": {"truncate": False}},
            422,
            "/inputs/1",
        ),
        ("/models/words/pipeline/text-scoring", {"inputs": ["a", 5]}, 422, "/inputs/1"),
        ("/models/words/pipeline/text-scoring", {"inputs": []}, 400, "/inputs"),
        (
            "/models/words/pipeline/text-scoring",
            {"inputs": "a", "parameters": {"tokens": "yes"}},
            422,
            "/parameters/tokens",
        ),
        (
            "/models/words/pipeline/text-scoring",
            {"inputs": "a", "parameters": {"offsets": "words"}},
            422,
            "/parameters/offsets",
        ),
        ("/models/labels/pipeline/text-scoring", {"inputs": "a"}, 422, None),
        (
            "/models/token",
            {"inputs": "a", "parameters": {"ignore_labels": ["PER", "NONE"]}},
            422,
            "/parameters/ignore_labels",
        ),
        ("/explain/tokens", {"text": "a", "text_pair": LONG}, 422, "/text_pair"),
        ("/explain/tokens", {"text": LONG}, 422, "/text"),
        ("/predict", [], 422, None),
        ("/embed", {"inputs": ["a"] * 257}, 413, "/inputs"),
        ("/embed", {"inputs": "a", "dimensions": 0}, 422, "/dimensions"),
        ("/embed", {"inputs": "a", "dimensions": 17}, 422, "/dimensions"),
        ("/similarity", {"inputs": {"source_sentence": "a"}}, 422, "/inputs/sentences"),
        ("/decode", {"ids": [1, -1]}, 422, "/ids/1"),
        ("/decode", {"ids": [100000]}, 422, "/ids/0"),
        ("/decode", {"ids": [[1], [2, 100000]]}, 422, "/ids/1/1"),
        (
            "/models/labels/pipeline/text-classification",
            {"inputs": "a", "parameters": {"top_k": 0}},
            422,
            "/parameters/top_k",
        ),
        (
            "/models/nli/pipeline/zero-shot-classification",
            {"inputs": "a", "parameters": {}},
            422,
            "/parameters/candidate_labels",
        ),
        ("/models/words/pipeline/fill-mask", {"inputs": "no mask"}, 422, "/inputs"),
        ("/models/labels/pipeline/fill-mask", {"inputs": "a [MASK]"}, 422, None),
        ("/models/extractor", {"inputs": "a"}, 422, "/parameters/candidate_labels"),
        (
            "/models/extractor",
            {"inputs": "a", "parameters": {"candidate_labels": ["a", 1]}},
            422,
            "/parameters/candidate_labels/1",
        ),
        (
            "/models/extractor",
            {"inputs": ["a", "b"], "parameters": {"candidate_labels": [["a"], ["w " * 512]]}},
            422,
            "/parameters/candidate_labels/1",
        ),
    ):
        got, answer = server.refused(path, body, **({} if path.startswith("/models/") else {"x_model": "labels"}))
        assert got == status, (path, body, answer)
        assert field is None or answer.get("field") == field, (path, body, answer)
        assert answer["error_type"] in ("Validation", "Tokenizer", "Empty") and answer["code"]
    assert server.post("/predict", {"inputs": TEXT}, x_model="labels")


def test_places_in_requests_for_documents(server):
    for path in ("/rerank", "/"):
        for body, field in (
            ({"query": LONG, "texts": ["a"]}, "/query"),
            ({"query": "a", "texts": ["b", "c", "d", LONG]}, "/texts/3"),
        ):
            assert server.refused(path, body, x_model="score")[1]["field"] == field
    for path in ("/v1/rerank", "/v2/rerank", "/v1/reranking"):
        for body, field in (
            ({"query": LONG, "documents": ["a"]}, "/query"),
            ({"query": "a", "documents": ["b", LONG]}, "/documents/1"),
            ({"query": "a", "documents": ["b", {"text": 5}]}, "/documents/1/text"),
        ):
            status, answer = server.refused(path, body | {"truncate": False}, x_model="score")
            assert status == 422 and answer["message"].startswith(field + ":"), answer
    status, answer = server.refused("/", {"texts": ["a"]}, x_model="score")
    assert (status, answer["field"]) == (422, "/query")
    status, answer = server.refused("/predict", {"inputs": "a", "model": "nothing"})
    assert (status, answer["field"]) == (404, "/model")
    assert "field" not in server.refused("/predict", {"inputs": "a"}, x_model="nothing")[1]
    # nothing in the body is wrong
    assert "field" not in server.refused("/predict", {"inputs": "a"}, x_model="token")[1]
    status, answer = server.refused("/v1/embeddings", {"input": ["a", LONG], "model": "labels"})
    assert (status, answer["error"]["param"]) == (422, "/input/1")


def test_refusals_are_utf_8(server):
    """A message that quotes a part of a character: found by schemathesis."""
    for body in (
        "\u063c".encode(),
        "ä".encode() * 3,
        json.dumps({"inputs": "a", "dimensions": "a" + "ä" * 40}).encode(),
        json.dumps({"ä" * 300: 1, "inputs": "a", "trunkate": True}).encode(),
    ):
        status, _, answer = server.request("POST", "/embed", body, {"x-model": "labels"})
        assert status in (200, 400, 422) and json.loads(answer)


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b'{"inputs": "a"} x',
        b'{"inputs": "\xff"}',
        b'{"inputs": NaN}',
        b'{"inputs": 1e999}',
        b"{'inputs': 1}",
        b"[" * 5000,
        b'{"a":' * 40 + b"1" + b"}" * 40,
        b'{"inputs": "a", "inputs": "b"}',
        b"\x00",
        b'{"inputs": "a",}',
    ],
)
def test_a_body_that_is_not_strict_json(server, body):
    status, answer = server.refused("/predict", body, x_model="labels")
    assert status == 400 and answer["code"] == "bad_json"


def test_every_number_has_its_range(server):
    """min - 1, max + 1 and what is no number at all, for each numeric field."""
    odd = [-1, 2**31, 2**32, 2**53 + 1, 2**63 - 1, 1.5, "5", True, [], {}]
    for model, task, field in (
        ("labels", "text-classification", "top_k"),
        ("words", "fill-mask", "top_k"),
        ("span", "question-answering", "max_answer_len"),
        ("span", "question-answering", "max_seq_len"),
        ("token", "token-classification", "stride"),
    ):
        inputs = {"question": "a", "context": "b"} if model == "span" else "a [MASK]"
        for value in odd:
            if task == "text-classification" and value == 2**31 - 1:
                continue
            status, answer = server.refused(
                f"/models/{model}/pipeline/{task}", {"inputs": inputs, "parameters": {field: value}}
            )
            assert (status, answer["field"]) == (422, f"/parameters/{field}"), (task, field, value, answer)
    for body in (
        b'{"inputs":"a","dimensions":9223372036854775808}',
        b'{"inputs":"a","dimensions":-9223372036854775809}',
        b'{"inputs":"a","dimensions":1e309}',
    ):
        assert server.refused("/embed", body, x_model="labels")[0] in (400, 422)


def test_names_of_fields_do_not_break_the_header_that_names_them(server):
    """A client's text in a header: found by schemathesis, whose field with a line break ended the header."""
    names = ["plain_name.1", "a\nb", "a\r\nset-cookie: c=1\r\n\r\nHTTP/1.1 200 OK", "\u0000", "ä, b", "x" * 300]
    status, headers, text = server.request(
        "POST", "/predict", {"inputs": TEXT} | dict.fromkeys(names, 1), {"x-model": "labels"}
    )
    assert status == 200 and json.loads(text) and "set-cookie" not in headers
    assert headers["x-ignored-fields"].split(", ") == [
        "plain_name.1",
        "a%0Ab",
        "a%0D%0Aset-cookie%3A%20c%3D1%0D%0A%0D%0AHTTP%2F1.1%20200%20OK",
        "%00",
        "%C3%A4%2C%20b",
        "x" * 64 + "...",
    ]
    status, headers, text = server.request(
        "POST", "/predict", {"inputs": TEXT} | {f"field{i}": 1 for i in range(4000)}, {"x-model": "labels"}
    )
    assert status == 200 and headers["x-ignored-fields"].endswith("field15, ...")


def test_models_and_routes_that_are_not_there(server):
    status, answer = server.refused("/predict", {"inputs": TEXT})
    assert (status, answer["code"]) == (404, "model_not_found") and "there are labels, nli" in answer["error"]
    assert server.refused("/models/none", {"inputs": TEXT})[0] == 404
    status, answer = server.refused("/models/labels/pipeline/translation", {"inputs": TEXT})
    assert status == 404 and "text-classification" in answer["error"]
    for path in ("/nothing", "/predict/", "//predict", "/Predict", "/%70redict", "/models/../info", "/models/a/b/c"):
        assert server.refused(path, {"inputs": TEXT})[0] == 404, path
    status, headers, _ = server.request("GET", "/predict")
    assert (status, headers["allow"]) == (405, "POST")
    assert server.request("POST", "/info", {})[0] == 405 and server.request("DELETE", "/predict")[0] == 405


def test_each_family_has_its_own_words(server):
    status, answer = server.refused("/v1/embeddings", {"model": "labels", "input": 5})
    assert status == 422 and answer["error"]["type"] == "invalid_request_error" and answer["error"]["param"] == "/input"
    status, answer = server.refused("/v2/rerank", {"model": "score", "query": "a"})
    assert status == 422 and "documents" in answer["message"]
    status, answer = server.refused("/v2/rerank", {"model": "labels", "query": "a", "documents": ["b"]})
    assert status == 422 and "expected a head with one class, got 3" in answer["message"]


def test_a_long_text_is_refused_with_what_its_route_can_do(server):
    """And a misspelt field, without which the text would have been taken, is reported first."""
    long = "word " * 3000

    def refusal(path, body, model="labels"):
        status, answer = server.refused(path, body, x_model=model)
        assert status in (413, 422), answer
        return answer["error"]["message"] if isinstance(answer["error"], dict) else answer["error"]

    cut, windows = '; cut it with "truncate": true', ', or read all of it in windows with "window_scores": "max"'
    assert refusal("/predict", {"inputs": long}).endswith(cut + windows)
    assert refusal("/classify", {"input": long}).endswith(cut)
    for path in ("/embed", "/embed_all"):
        assert refusal(path, {"inputs": long}).endswith(cut)
    assert refusal("/rerank", {"query": "a", "texts": [long]}, "score").endswith(cut)
    assert refusal("/predict", {"inputs": long, "window_score": "max"}) == (
        "/window_score: unknown field; did you mean window_scores?"
    )


def test_keys(serve, models):
    server = serve("-m", models["labels"], environment={"DEBERTA_API_KEY": "secret"})
    assert all(
        server.request("GET", path)[0] == 200 for path in ("/health", "/ping", "/v2/health/live", "/v2/health/ready")
    )
    for path, method in (
        ("/info", "GET"),
        ("/v2", "GET"),
        ("/v2/models/labels", "GET"),
        ("/v2/models/labels/infer", "POST"),
        ("/metrics", "GET"),
        ("/predict", "POST"),
        ("/v1/models", "GET"),
        ("/nothing", "GET"),
    ):
        for key in (
            {},
            {"authorization": "Bearer secre"},
            {"authorization": "Bearer secret2"},
            {"authorization": "secret"},
        ):
            status, headers, _ = server.request(method, path, {"inputs": TEXT} if method == "POST" else None, key)
            assert status == 401 and headers["www-authenticate"] == "Bearer", path
    assert server.post("/predict", {"inputs": TEXT}, authorization="Bearer secret")
    assert "secret" not in open(server.log).read()


# as many as may come at once, in the time that a sanitizer has
LARGE = {"inputs": [["word " * 60] for _ in range(256)]}


def test_a_full_queue_and_a_short_deadline(serve, models):
    server = serve("-m", models["labels"], "--max-concurrent-requests", "1")
    with ThreadPoolExecutor(6) as executor:
        answers = list(executor.map(lambda _: server.request("POST", "/predict", LARGE), range(6)))
    assert {status for status, _, _ in answers} == {200, 429}
    assert all(int(headers["retry-after"]) >= 1 for status, headers, _ in answers if status == 429)
    status, _, text = server.request("POST", "/predict", LARGE, {"x-deadline-ms": "1"})
    assert status == 504 and json.loads(text)["code"] == "deadline"
    assert 'reason="deadline"' in server.request("GET", "/metrics")[2]
    assert server.post("/predict", {"inputs": TEXT})


def test_a_client_that_leaves_is_counted_and_its_place_is_free(serve, models):
    server = serve("-m", models["labels"], "--max-concurrent-requests", "1")
    body = json.dumps({"inputs": [["word " * 400] for _ in range(256)]}).encode()
    end = time.monotonic() + SECONDS
    while 'reason="cancelled"' not in server.request("GET", "/metrics")[2]:
        with socket.create_connection(("127.0.0.1", server.port), timeout=SECONDS) as one:
            one.sendall(head_of("Host: localhost", f"Content-Length: {len(body)}") + body)
            time.sleep(0.1)
        assert time.monotonic() < end
    while server.request("POST", "/predict", {"inputs": TEXT})[0] != 200:
        assert time.monotonic() < end


# ---- raw bytes


def head_of(*lines, start="POST /predict HTTP/1.1"):
    return "\r\n".join([start, *lines, "", ""]).encode()


def test_framing(server):
    good = b'{"inputs":"a"}'
    host, close, model, length = (
        "Host: localhost",
        "Connection: close",
        "X-Model: labels",
        f"Content-Length: {len(good)}",
    )
    kind = "Content-Type: application/json"
    cases = [
        (head_of(host, close, model, kind, length) + good, 200),
        (head_of(host, close, model, kind, "Transfer-Encoding: chunked") + b"e\r\n" + good + b"\r\n0\r\n\r\n", 200),
        (head_of(host, close, model, kind, "Transfer-Encoding: chunked") + b"xyz\r\n" + good + b"\r\n0\r\n\r\n", 400),
        (head_of(host, close, model, kind, length, "Transfer-Encoding: chunked") + good, 400),
        (
            head_of(host, model, kind, "Transfer-Encoding: chunked", start="POST /predict HTTP/1.0")
            + b"e\r\n%s\r\n0\r\n\r\n" % good,
            400,
        ),
        (head_of(host, close, model, kind, "Transfer-Encoding: gzip, chunked") + good, 400),
        (head_of(host, close, model, kind, length, "Content-Length: 15") + good, 400),
        (head_of(host, close, model, kind, "Content-Length: -2") + good, 400),
        (head_of(host, close, model, kind, "Content-Length: +14") + good, 400),
        (head_of(host, close, model, kind, "Content-Length: 0x0e") + good, 400),
        (head_of(host, close, model, kind, "Content-Length: 18446744073709551616") + good, 400),
        (head_of(host, close, model, kind, "Content-Length: 99999999999") + good, 413),
        (head_of(host, close, model, kind, length, "Content-Encoding: gzip") + good, 400),
        (head_of(host, close, model, kind, length, "Content-Encoding: br") + good, 415),
        (head_of(host, close, model, kind, length, "Content-Encoding: gzip, gzip") + good, 415),
        (head_of(host, close, model, kind, length, *["Content-Encoding: identity"] * 2) + good, 415),
        (head_of(host, close, model, "Content-Type: text/plain", length) + good, 415),
        (head_of(close, model, kind, length) + good, 400),
        (head_of(host, "Host: b", close, model, kind, length) + good, 400),
        (head_of(host, close, model, kind, length, "Bad Name: x") + good, 400),
        (head_of(host, close, model, kind, length, "X: a\x01b") + good, 400),
        (head_of(host, close, model, kind, length, "X: a\x00b") + good, 400),
        (head_of(host, close, *(f"X-{i}: x" for i in range(80))), 431),
        (head_of(host, close, "X: " + "x" * 20000), 431),
        (head_of(host, close, start="GET /" + "x" * 9000 + " HTTP/1.1"), 414),
        (head_of(host, close, start="GET http://a/info HTTP/1.1"), 400),
        (head_of(host, close, start="OPTIONS * HTTP/1.1"), 400),
        (head_of(host, close, start="GET /info HTTP/3.0"), 400),
        (head_of(host, close, start="TRACE /info HTTP/1.1"), 405),
        (head_of(host, close, start="BREW /info HTTP/1.1"), 405),
        (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", None),
        (b"\r\n\r\n\r\n", None),
        (b"GET /info HTTP/1.1\nHost: localhost\n\n", None),
    ]
    for data, status in cases:
        answer = server.raw(data, wait=SECONDS)
        if status is None:
            assert answer == b"" or answer.startswith(b"HTTP/1.1 400"), (data[:200], answer[:200])
        else:
            assert answer.startswith(f"HTTP/1.1 {status} ".encode()), (data[:300], answer[:300])
    assert server.post("/predict", {"inputs": TEXT}, x_model="labels")


def test_requests_one_behind_another_are_answered_in_order(server):
    one = head_of("Host: localhost", start="GET /v1/models HTTP/1.1")
    last = head_of("Host: localhost", "Connection: close", start="GET /health HTTP/1.1")
    answer = server.raw(one * 20 + last)
    assert answer.count(b"HTTP/1.1 200") == 21 and answer.rindex(b'"status": "ok"') > answer.rindex(b'"object": "list"')


def test_byte_by_byte(server):
    body = b'{"inputs":"a"}'
    data = head_of("Host: localhost", "Connection: close", "X-Model: labels", f"Content-Length: {len(body)}") + body
    with socket.create_connection(("127.0.0.1", server.port), timeout=SECONDS) as one:
        one.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for i in range(len(data)):
            one.send(data[i : i + 1])
        assert read_all(one).startswith(b"HTTP/1.1 200")


def test_a_continue_is_given_only_where_a_body_is_wanted(serve, models):
    server = serve("-m", models["labels"], environment={"DEBERTA_API_KEY": "secret"})
    body = b'{"inputs":"a"}'
    expect = ["Host: localhost", "Connection: close", "Expect: 100-continue"]
    with socket.create_connection(("127.0.0.1", server.port), timeout=SECONDS) as one:
        one.sendall(head_of(*expect, "Authorization: Bearer secret", f"Content-Length: {len(body)}"))
        assert one.recv(100).startswith(b"HTTP/1.1 100 Continue")
        one.sendall(body)
        assert read_all(one).startswith(b"HTTP/1.1 200")
    assert server.raw(head_of(*expect, f"Content-Length: {len(body)}"), wait=SECONDS).startswith(b"HTTP/1.1 401")
    assert server.raw(
        head_of(*expect, "Authorization: Bearer secret", "Content-Length: 999999999"), wait=SECONDS
    ).startswith(b"HTTP/1.1 413")


def test_connections_over_the_caps_are_told(serve, models):
    server = serve("-m", models["labels"], "--max-connections-per-address", "5")
    open_ones = [socket.create_connection(("127.0.0.1", server.port), timeout=SECONDS) for _ in range(5)]
    for one in open_ones:  # one that has answered is counted
        one.sendall(head_of("Host: localhost", start="GET /health HTTP/1.1"))
        assert one.recv(4096).startswith(b"HTTP/1.1 200")
    answer = server.raw(head_of("Host: localhost", start="GET /health HTTP/1.1"), wait=SECONDS)
    assert answer.startswith(b"HTTP/1.1 503") and b"Retry-After" in answer.title()
    for one in open_ones:
        one.close()
    end = time.monotonic() + SECONDS
    while not server.raw(head_of("Host: localhost", "Connection: close", start="GET /health HTTP/1.1")).startswith(
        b"HTTP/1.1 200"
    ):
        assert time.monotonic() < end


def test_thousands_at_once_over_the_cap_are_each_told(serve, models):
    """5,000 connections from twenty addresses, of which 300 may be open; and CONNECTIONS one after another, 100,000 in
    tools/long_checks serving."""
    resource.setrlimit(resource.RLIMIT_NOFILE, (resource.getrlimit(resource.RLIMIT_NOFILE)[1],) * 2)
    server = serve("-q", "-m", models["labels"], "--max-connections", "300", "--max-connections-per-address", "1000")
    asked = head_of("Host: localhost", start="GET /health HTTP/1.1")
    open_ones = []
    for i in range(5000):
        one = socket.socket()
        one.bind((f"127.0.0.{1 + i % 20}", 0))
        one.settimeout(SECONDS)
        one.connect(("127.0.0.1", server.port))
        open_ones.append(one)
    told = {b"200": 0, b"503": 0}
    for one in open_ones:
        with contextlib.suppress(ConnectionError):  # told and closed before it asks
            one.sendall(asked)
    for one in open_ones:
        answer = b""
        with contextlib.suppress(ConnectionResetError):
            while b"\r\n\r\n" not in answer and (part := one.recv(4096)):
                answer += part
        assert answer.startswith((b"HTTP/1.1 200", b"HTTP/1.1 503")), answer
        assert answer.startswith(b"HTTP/1.1 200") or b"retry-after" in answer.lower()
        told[answer[9:12]] += 1
    assert told[b"200"] == 300 and told[b"503"] == 4700
    for one in open_ones:
        one.close()
    end = time.monotonic() + SECONDS
    while "deberta_connections 1\n" not in (metrics := server.request("GET", "/metrics")[2]):
        assert time.monotonic() < end, metrics
    assert "deberta_connections_refused_total 4700" in metrics
    before = resident(server)
    for _ in range(int(os.environ.get("CONNECTIONS", "200" if SANITIZED else "2000"))):
        assert server.raw(head_of("Host: localhost", "Connection: close", start="GET /health HTTP/1.1")).startswith(
            b"HTTP/1.1 200"
        )
    assert SANITIZED or resident(server) - before < 4 << 20


def test_clients_that_leave_in_each_phase_leave_nothing(server):
    body = json.dumps({"inputs": [["word " * 300] for _ in range(20)]}).encode()
    whole = head_of("Host: localhost", "X-Model: labels", f"Content-Length: {len(body)}") + body
    for length in (0, 3, 40, len(whole) - len(body), len(whole) - 10, len(whole)):
        for pause in (0, 0.02):
            with socket.create_connection(("127.0.0.1", server.port), timeout=SECONDS) as one:
                one.sendall(whole[:length])
                time.sleep(pause)
    end = time.monotonic() + SECONDS
    while True:
        metrics = server.request("GET", "/metrics")[2]
        values = dict(line.rsplit(" ", 1) for line in metrics.splitlines() if not line.startswith("#"))
        if (
            values['deberta_queue_requests{model="labels"}'] == "0"
            and values['deberta_queue_tokens{model="labels"}'] == "0"
            and values["deberta_connections"] == "1"
        ):
            break
        assert time.monotonic() < end, metrics
    assert server.post("/predict", {"inputs": TEXT}, x_model="labels")


def test_strict_fields(serve, models):
    server = serve("-m", models["labels"], "--strict-fields")
    assert server.post("/predict", {"inputs": "a", "truncate": True})
    status, body = server.refused("/predict", {"inputs": "a", "priority": 1})
    assert status == 422 and "priority: unknown field" in body["error"]
    assert "X-Ignored-Fields" not in server.request("POST", "/predict", {"inputs": "a"})[1]


def test_who_may_see_the_explorer(serve, models):
    hidden = serve("-m", models["labels"], "--explorer", "off")
    assert hidden.request("GET", "/explorer")[0] == hidden.request("POST", "/explain/tokens", {"text": "a"})[0] == 404
    assert serve("-m", models["labels"]).request("GET", "/explorer")[0] == 200
    for words, page, answer in (((), 404, 404), (("--explorer", "on"), 200, 401)):  # the page asks for the key
        server = serve("-m", models["labels"], "--host", "0.0.0.0", *words, environment={"DEBERTA_API_KEY": "secret"})
        assert server.request("GET", "/explorer")[0] == page
        assert server.request("POST", "/explain/tokens", {"text": "a"})[0] == 401
        assert server.request("POST", "/explain/tokens", {"text": "a"}, {"authorization": "Bearer secret"})[0] == (
            200 if page == 200 else answer
        )


def test_fields_that_follow_a_body_are_no_headers(server):
    body = b"e\r\n" + b'{"inputs":"a"}' + b"\r\n0\r\nX-Model: labels\r\nX-Priority: high\r\n\r\n"
    answer = server.raw(head_of("Host: localhost", "Connection: close", "Transfer-Encoding: chunked") + body)
    assert answer.startswith(b"HTTP/1.1 404 ") and b"model_not_found" in answer


def test_a_connection_of_the_first_version_stays_open_where_both_say_so(server):
    one = head_of("Connection: keep-alive", start="GET /health HTTP/1.0")
    answer = server.raw(one + head_of(start="GET /health HTTP/1.0"))
    assert answer.count(b"HTTP/1.1 200") == 2
    first, second = answer.split(b"HTTP/1.1 200")[1:]
    assert b"connection: keep-alive" in first.lower() and b"connection: close" in second.lower()


def test_a_deadline_is_a_number(server):
    for value in ("soon", "1.5", "-1", "1e3"):
        status, answer = server.refused("/predict", {"inputs": "a"}, x_model="labels", x_deadline_ms=value)
        assert status == 400 and "X-Deadline-Ms" in answer["error"], value
    assert server.post("/predict", {"inputs": "a"}, x_model="labels", x_deadline_ms="9" * 40), "it can only lower it"


def test_fields_of_commands_have_the_rule_of_the_others(serve, models):
    server = serve("--admin", "-m", models["labels"])
    for path, body in (
        ("/v2/repository/index", {"redy": True}),
        ("/admin/models/labels/reload", {"forse": True}),
        ("/admin/loglevel", {"level": "error", "levels": 1, "leve": 1}),
    ):
        known = dict(list(body.items())[:1])
        status, headers, _ = server.request("POST", path, known | {"nonsense": 1})
        if "level" in body:
            assert (status, headers["x-ignored-fields"]) == (200, "nonsense")
        else:
            assert server.refused(path, body)[0] == 422
            assert server.request("POST", path, {"nonsense": 1})[1]["x-ignored-fields"] == "nonsense"
    reloads = lambda text: re.findall(r'deberta_reload_total\{result="done"\} (\d+)', text)
    assert reloads(server.request("GET", "/metrics")[2]) == ["1"], "what is refused is not done"
    strict = serve("--admin", "--strict-fields", "-m", models["labels"])
    for path in ("/v2/repository/index", "/admin/models/labels/unload", "/explain/tokens"):
        assert strict.refused(path, {"text": "a", "nonsense": 1})[0] == 422
    assert strict.post("/predict", {"inputs": "a"}), "it was not unloaded"


def test_values_of_a_query_may_be_escaped(serve, models):
    server = serve("-m", f"labels,org/name={models['labels']}")
    for name in ("org/name", "org%2Fname", "l%61bels"):
        assert json.loads(server.request("GET", f"/explain/size?model={name}&length=%33")[2])["length"] == 3
    assert server.request("GET", "/explain/size?model=%ff%00%&length=3")[0] == 404
