"""Answers that are long: made in pieces while they are read, bounded before anything is computed."""

import base64
import json
import socket
import struct

import pytest

from conftest import PATIENT, SECONDS, read_all

TEXTS = [f"{'word ' * (i % 60)}number {i}" for i in range(120)]


@pytest.fixture(scope="module")
def patient(serve, models):
    return serve(
        "-m", f"labels={models['labels']}", "-m", f"words={models['words']}", "-m", f"token={models['token']}", *PATIENT
    )


def test_an_answer_in_pieces_is_that_of_its_parts(patient):
    """Each route of vectors and tokens, in one request and text by text."""

    def parts(path, key, body, take):
        return [take(patient.post(path, body | {key: [text]}, x_model="labels")) for text in TEXTS]

    whole = patient.post("/embed_all", {"inputs": TEXTS}, x_model="labels")
    assert len(json.dumps(whole)) > 1 << 18 and whole == parts("/embed_all", "inputs", {}, lambda found: found[0])
    assert patient.post("/tokenize", {"inputs": TEXTS}, x_model="labels") == parts(
        "/tokenize", "inputs", {}, lambda found: found[0]
    )
    assert (
        patient.post("/embed", {"inputs": TEXTS * 2}, x_model="labels")
        == parts("/embed", "inputs", {}, lambda found: found[0]) * 2
    )
    first = None
    for form in ("float", "base64"):
        found = patient.post("/v1/embeddings", {"input": TEXTS, "model": "labels", "encoding_format": form})
        assert [one["index"] for one in found["data"]] == list(range(len(TEXTS)))
        assert found["model"] == "labels"
        assert found["usage"]["prompt_tokens"] > 0
        vectors = [one["embedding"] for one in found["data"]]
        if form == "base64":
            vectors = [list(struct.unpack(f"<{len(data) // 4}f", data)) for data in map(base64.b64decode, vectors)]
            assert vectors[0] == pytest.approx(first, rel=1e-6)
        first = first or vectors[0]
    found = patient.post(
        "/models/labels/pipeline/feature-extraction", {"inputs": TEXTS, "parameters": {"shape": "pipeline"}}
    )
    assert found == [[rows] for rows in whole]
    assert patient.post(
        "/models/labels/pipeline/feature-extraction", {"inputs": TEXTS[0], "parameters": {"shape": "pipeline"}}
    ) == [whole[0]]
    tensor = {"name": "text", "datatype": "BYTES", "shape": [len(TEXTS)], "data": TEXTS}
    output = patient.post("/v2/models/token/infer", {"inputs": [tensor], "id": "a"})["outputs"][0]
    assert output["shape"][0] == len(TEXTS)
    assert len(output["data"]) == output["shape"][0] * output["shape"][1] * output["shape"][2]
    one = patient.post("/v2/models/token/infer", {"inputs": [tensor | {"shape": [1], "data": TEXTS[:1]}]})["outputs"][0]
    assert output["data"][: len(one["data"])] == one["data"]


def test_a_client_of_http_1_0_gets_it_whole(patient):
    body = json.dumps({"inputs": TEXTS}).encode()
    headers = f"Host: localhost\r\nX-Model: labels\r\nContent-Length: {len(body)}\r\n\r\n"
    head = f"POST /embed_all HTTP/1.0\r\n{headers}".encode()
    top, _, answer = patient.raw(head + body).partition(b"\r\n\r\n")
    assert b"chunked" not in top.lower() and b"content-length" not in top.lower()
    assert json.loads(answer) == patient.post("/embed_all", {"inputs": TEXTS}, x_model="labels")


def test_the_next_request_of_a_connection_follows_a_long_answer(patient):
    body = json.dumps({"inputs": TEXTS}).encode()
    headers = f"Host: localhost\r\nX-Model: labels\r\nContent-Length: {len(body)}\r\n\r\n"
    one = f"POST /embed_all HTTP/1.1\r\n{headers}".encode() + body
    last = b"GET /health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
    with socket.create_connection(("127.0.0.1", patient.port), timeout=SECONDS) as connection:
        connection.sendall(one + one + last)
        text = read_all(connection)
    assert text.count(b"HTTP/1.1 200") == 3
    assert text.count(b"\r\n0\r\n\r\nHTTP/1.1") == 2
    assert text.endswith(b'{"status": "ok"}')


def test_answers_that_would_be_too_long_are_refused_before_they_are_computed(serve, models):
    server = serve(
        "-m",
        f"labels={models['labels']}",
        "-m",
        f"words={models['words']}",
        "-m",
        f"token={models['token']}",
        "-m",
        f"span={models['span']}",
        "--max-answer",
        "64KiB",
        *PATIENT,
    )
    many = ["word " * 100] * 200
    text = {"name": "text", "datatype": "BYTES", "shape": [200], "data": many}
    asked = [
        ("/embed_all", "labels", {"inputs": many}),
        ("/tokenize", "labels", {"inputs": many}),
        ("/models/labels/pipeline/feature-extraction", "labels", {"inputs": many, "parameters": {"shape": "pipeline"}}),
        ("/models/token", "token", {"inputs": many}),
        ("/models/words", "words", {"inputs": "[MASK] " * 100, "parameters": {"top_k": 1000}}),
        (
            "/models/span",
            "span",
            {"inputs": {"question": "who?", "context": many[0] * 5}, "parameters": {"top_k": 1000}},
        ),
        (
            "/models/words/pipeline/text-scoring",
            "words",
            {"inputs": ["word " * 100] * 20, "parameters": {"tokens": True}},
        ),
        ("/v2/models/token/infer", "token", {"inputs": [text]}),
    ]
    for path, model, body in asked:
        status, headers, answer = server.request("POST", path, body, {"x-model": model})
        assert status == 413 and "answer has at most 65536 bytes" in answer and "retry-after" not in headers, (
            path,
            answer,
        )
    assert server.post("/embed_all", {"inputs": "word"}, x_model="labels")
    assert server.post("/models/words", {"inputs": "a [MASK]"})
    assert "deberta_batches_total" not in "".join(
        line for line in server.request("GET", "/metrics")[2].splitlines() if 'model="span"' in line
    )
