"""The OpenAPI document and the server: every route and status of the document has a request that produces it, and
nothing else comes back."""

import concurrent.futures
import contextlib
import hashlib
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import threading
import time

import numpy
import openapi_spec_validator
import pytest

import contract
from conftest import SECONDS, read_all, wait_for
from models import read_safetensors, write_safetensors

ROUTES = contract.operations()
RARE_WORD = "mountain"  # one piece, for any tokenizer
OF_LENGTHS = ("/explain/positions", "/explain/size")
SLOW = {"inputs": [["word " * 60] for _ in range(256)]}  # keeps a server busy while others ask


def operation(method, path):
    return contract.DOCUMENT["paths"][path][method.lower()]


def statuses(path, method):
    return [int(status) for status in operation(method, path)["responses"]]


def routes_with(status, is_admin=None):
    """is_admin: only those of --admin, or only the others."""
    return [
        (method, path)
        for method, path in ROUTES
        if status in statuses(path, method) and is_admin in (None, "/admin/" in path)
    ]


OF_ROUTES = {
    "/admin/": "many",
    "rerank": "score",
    "/score": "score",
    "{task}": "nli",
    "/decoder": "decoder",
    "/replaced": "replaced",
    "gliner": "extractor",
    "extract": "extractor",
}


def model_of(path):
    return next((model for part, model in OF_ROUTES.items() if part in path), "labels")


def target(path, model):
    return (
        path.replace("{model}", model)
        .replace("{task}", "zero-shot-classification")
        .replace("{file}", path.split("/")[1] + ".js")
    )


def query(server, path):
    """What the explorer's routes want behind their path, most of them for a text that was just explained."""
    if path in OF_LENGTHS:
        return "?model=labels&length=8"
    wanted = {
        "/explain/terms": "&layer=1&head=1&term=c2c&dtype=f16",
        "/explain/heads": "",
        "/explain/thumbnails": "&size=4",
    }
    return (
        f"?id={server.post('/explain/tokens', {'text': 'a fine film'}, x_model='labels')['explain_id']}{wanted[path]}"
        if path in wanted
        else ""
    )


def body_of(method, path):
    return (
        operation(method, path)["requestBody"]["content"]["application/json"]["example"] if method == "POST" else None
    )


def ask(server, method, path, status, model=None, body=None, headers=None, more=""):
    """Sends the route's example, or `body`, and holds the answer against the document."""
    model = model or model_of(path)
    body = body_of(method, path) if body is None else body
    got, _, text = server.request(method, target(path, model) + more, body, {"x-model": model} | (headers or {}))
    assert got == status, (method, path, got, text)


def test_the_document_is_valid():
    openapi_spec_validator.validate(contract.DOCUMENT)
    examples = [(method, path) for method, path in ROUTES if method == "POST"]
    assert len(examples) > 15 and all(body_of(*one) is not None for one in examples)
    names = [operation(*one)["operationId"] for one in ROUTES]
    assert len(names) == len(set(names))


def test_the_server_has_the_document(server):
    assert json.loads(server.request("GET", "/openapi.json")[2]) == contract.DOCUMENT


@pytest.mark.parametrize("method, path", ROUTES)
def test_answers(server, method, path):
    more = query(server, path)
    ask(server, method, path, 200, more=more)
    if method == "GET":
        status, headers, text = server.request("HEAD", target(path, "labels") + more)
        assert status == 200 and text == "" and int(headers["content-length"]) > 0


def test_bodies_that_are_not_as_they_should_be(server):
    for method, path in routes_with(422):
        if method == "GET":
            right = query(server, path)
            for wrong in (
                [
                    right.replace("layer=1", "layer=99"),
                    right.replace("head=1", "head=0"),
                    right.replace("head=1", "head=99"),
                    right.replace("c2c", "all"),
                    right.replace("f16", "f32"),
                    right.replace("&layer=1", ""),
                ]
                if "terms" in path
                else [right.replace("length=8", bad) for bad in ("", "length=0", "length=4097", "length=a")]
                if path in OF_LENGTHS
                else [right.replace("size=4", "size=0")]
            ):
                ask(server, method, path, 422, more=wrong)
            continue
        # Loading and unloading take nothing from the body.
        ask(
            server,
            method,
            path,
            422,
            body=[]
            if "/admin/" in path or "repository" in path
            else {}
            if "infer" in path
            else {"inputs": 5, "query": 5},
        )
        ask(server, method, path, 400, body=b"{")
        ask(server, method, path, 415, headers={"content-type": "text/plain"})
        ask(server, method, path, 415, headers={"content-encoding": "br"})
        ask(server, method, path, 413, headers={"content-length": "99999999"}, body=b"")
        assert {400, 413, 415} <= set(statuses(path, method))


def test_models_and_files_that_are_not_there(server, serve, models):
    plain = serve("-m", models["labels"], "--host", "0.0.0.0")
    for method, path in routes_with(404):
        # without --admin, and where others reach the server, there is nothing
        if "/admin/" in path or path.startswith("/expl"):
            ask(plain, method, path, 404)
        if path in ("/admin/models", "/admin/queue", "/admin/loglevel", "/explorer"):
            continue
        if path == "/metrics":  # which has a port of its own
            ask(serve("-m", models["labels"], "--metrics-port", "0"), method, path, 404)
            continue
        if method == "GET" and path.startswith("/explain"):
            ask(server, method, path, 404, more="?id=none&model=none")
        elif "{file}" in path:
            folder = path.split("/")[1]
            assert server.request("GET", f"/{folder}/{folder}.none")[0] == 404
            assert server.request("GET", f"/{folder}/openapi.json")[0] == 404
        else:
            ask(server, method, path, 404, model="none")


def test_a_key(serve, models):
    server = serve("-m", models["labels"], "--admin", environment={"DEBERTA_API_KEY": "secret"})
    for method, path in ROUTES:
        ask(server, method, path, 401 if 401 in statuses(path, method) else 200)


def test_keys_that_open_something_else(serve, models, tmp_path):
    keys = tmp_path / "keys"
    keys.write_text(
        "# a key for figures, and one for answers\n\n"
        + "".join(
            f"{name}:{scope}:{hashlib.sha256(name.encode()).hexdigest()}\n"
            for name, scope in (("figures", "metrics"), ("answers", "infer,priority"))
        )
    )
    server = serve("-m", models["labels"], "--admin", "--api-key-file", keys)
    for method, path in routes_with(401):
        ask(
            server,
            method,
            path,
            403,
            headers={"authorization": "Bearer answers" if path == "/metrics" else "Bearer figures"},
        )
    assert server.request("GET", "/metrics", headers={"authorization": "Bearer figures"})[0] == 200
    assert server.post("/predict", {"inputs": "a"}, authorization="Bearer answers", x_priority="high")
    assert server.request("POST", "/admin/models/labels/reload", {}, {"authorization": "Bearer answers"})[0] == 403
    wait_for(lambda: " key=answers\n" in open(server.log).read())
    assert set(re.findall(r" key=(\S+)", open(server.log).read())) == {"answers", "figures"}
    assert set(re.findall("figures|answers", re.sub(r" key=\S+", "", open(server.log).read()))) == set()


def test_a_name_that_is_not_the_servers(server):
    for method, path in ROUTES:
        ask(server, method, path, 403, headers={"host": "evil.example"})


def test_targets_and_headers_that_are_too_long(server):
    for method, path in ROUTES:
        for status, query, headers in ((414, "?" + "x" * 9000, {}), (431, "", {f"x-{i}": "x" for i in range(80)})):
            got, _, text = server.request(method, target(path, "labels") + query, body_of(method, path), headers)
            assert got == status, (path, got, text)


def raw(server, method, path, lines, wait=SECONDS):
    """The answer to a head with these lines and nothing behind it, held against the document."""
    head = "\r\n".join([f"{method} {target(path, 'labels')} HTTP/1.1", *lines]).encode() + b"\r\n"
    answer = server.raw(head, wait)
    top, _, body = answer.partition(b"\r\n\r\n")
    first, *rest = top.decode().split("\r\n")
    contract.check(
        method,
        target(path, "labels"),
        int(first.split()[1]),
        {k.lower(): v for k, v in (line.split(": ", 1) for line in rest)},
        body,
    )
    return int(first.split()[1])


def test_framing(server):
    for method, path in ROUTES:
        assert raw(server, method, path, ["Host: localhost", "Host: b", ""]) == 400, path


def test_slow_heads(server):
    with concurrent.futures.ThreadPoolExecutor(len(ROUTES)) as executor:
        assert set(executor.map(lambda one: raw(server, *one, ["Host: localhost"]), ROUTES)) == {408}


def test_a_busy_server(serve, models):
    asked = {"labels", *(model_of(path) for _, path in routes_with(429))}
    words = [word for name in sorted(asked) for word in ("-m", f"{name}={models[name]}")]
    server = serve(*words, "--max-concurrent-requests", "1")
    busy, done = threading.Event(), threading.Event()

    def keep_busy():
        while not done.is_set():
            server.request("POST", "/predict", SLOW, {"x-model": "labels"})
            busy.set()

    thread = threading.Thread(target=keep_busy)
    thread.start()
    try:
        for method, path in routes_with(429):
            end = time.monotonic() + SECONDS
            while True:  # it may come between two others
                got, headers, _ = server.request(
                    method, target(path, model_of(path)), body_of(method, path), {"x-model": model_of(path)}
                )
                if got == 429:
                    break
                assert got == 200 and time.monotonic() < end
            assert int(headers["retry-after"]) >= 1
    finally:
        done.set()
        thread.join()


def with_word(value, word):
    """Every text of a body with a word more."""
    if isinstance(value, dict):
        return {key: with_word(one, word) for key, one in value.items()}
    if isinstance(value, list):
        return [with_word(one, word) for one in value]
    return f"{value} {word}" if isinstance(value, str) and " " in value else value


def test_a_result_that_is_not_a_number(serve, models, deberta, tmp_path):
    words, rare = [], deberta("tokenize", "-m", models["labels"], RARE_WORD)[0]["ids"][1]
    for name in ("labels", "score", "nli", "replaced", "decoder", "extractor"):
        folder = tmp_path / name
        shutil.copytree(models[name], folder)
        tensors = {k: numpy.array(v) for k, v in read_safetensors(folder / "model.safetensors").items()}
        # Every logit of a model of words reads the table of words.
        part, row = ("position", 200) if name == "decoder" else ("word", rare)
        next(v for k, v in tensors.items() if k.endswith(f".{part}_embeddings.weight"))[row] = numpy.nan
        write_safetensors(folder / "model.safetensors", tensors)
        words += ["-m", f"{name}={folder}"]
    server = serve(*words)  # the texts that it tries at the start have all words but one, and fewer tokens
    bodies = {
        "/explain/decoder": {"text": "[MASK] " + "a " * 230},
        "/explain/replaced": {"text": f"a film {RARE_WORD} {RARE_WORD} {RARE_WORD}", "share": 0},  # one is masked
    }
    for method, path in routes_with(500):
        ask(server, method, path, 500, body=bodies.get(path) or with_word(body_of(method, path), RARE_WORD))


def test_a_deadline(server):
    for method, path in routes_with(504):
        ask(server, method, path, 504, headers={"x-deadline-ms": "0"})


def test_too_many_connections(serve, models):
    server = serve("-m", models["labels"], "--admin", "--max-connections", "1")
    with contextlib.closing(socket.create_connection(("127.0.0.1", server.port))) as one:
        one.sendall(b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n")  # one that has answered is counted
        assert one.recv(4096).startswith(b"HTTP/1.1 200")
        for method, path in ROUTES:
            assert raw(server, method, path, ["Host: localhost", ""]) == 503


def test_a_server_that_ends(serve, models):
    """Whoever has a connection is told, whatever he asks for but figures. Nothing shows that a server has read half a
    head, or that it has begun to end: a busy machine may need longer for either."""
    for pause in (0.2, 2, 20):
        if all(
            answer.startswith(b"HTTP/1.1 503")
            for answer in told_at_the_end(serve("-m", models["labels"], "--drain-s", "120"), pause)
        ):
            return
    pytest.fail("a connection was not told that the server ends")


def told_at_the_end(server, pause):
    """The answers to requests of which the server had half a head when it was asked to end."""
    keep = "Connection: keep-alive"
    asked = [("GET", "/health"), ("GET", "/v2/health/ready"), ("POST", "/predict")]
    with contextlib.ExitStack() as stack:
        ones = [
            stack.enter_context(
                contextlib.closing(socket.create_connection(("127.0.0.1", server.port), timeout=SECONDS))
            )
            for _ in asked
        ]
        for one in ones:  # halfway through a head
            one.sendall(f"GET /info HTTP/1.1\r\nHost: localhost\r\n{keep}\r\n\r\n".encode())
            assert one.recv(65536).startswith(b"HTTP/1.1 200")
        for one, (method, path) in zip(ones, asked):
            one.sendall(f"{method} {path} HTTP/1.1\r\nHost: localhost\r\n".encode())
        time.sleep(pause)
        server.process.terminate()
        time.sleep(pause)
        told = []
        for one, (method, _) in zip(ones, asked):
            body = b'{"inputs": "a"}' if method == "POST" else b""
            with contextlib.suppress(OSError):  # it took the connection for an idle one
                one.sendall(f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body)
            told.append(read_all(one))
    assert server.process.wait(SECONDS) == 0
    return told


def test_every_route_and_status_was_seen():
    """Runs last in this file; the others of the file have produced what the document promises."""
    promised = {(method, path, status) for method, path in ROUTES for status in statuses(path, method)}
    assert promised <= contract.SEEN, sorted(promised - contract.SEEN)


CONFIG = """[parameters]
"path.model" = "labels"
"""


def test_schemathesis_finds_nothing(server, tmp_path):
    """Requests made from the document, as it allows them and as it does not: no status that is not documented, no 500,
    no answer of another form."""
    examples = os.environ.get("DEBERTA_SCHEMATHESIS_EXAMPLES", "5")
    (tmp_path / "schemathesis.toml").write_text(CONFIG)
    command = [
        sys.executable,
        "-m",
        "schemathesis.cli",
        "run",
        f"{server.url}/openapi.json",
        "--request-timeout",
        "20",
        "--exclude-path-regex",
        "^/admin",
        "--header",
        "x-model: labels",
        "--max-examples",
        examples,
        "--seed",
        "1",
        "--checks",
        "not_a_server_error,status_code_conformance,content_type_conformance,response_schema_conformance",
        "--no-color",
        "--phases",
        "examples,coverage,fuzzing",
        "--generation-database",
        "none",
        "--suppress-health-check",
        "all",
    ]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 0, done.stdout[-8000:] + done.stderr[-2000:]
    assert server.post("/predict", {"inputs": "a"}, x_model="labels")
