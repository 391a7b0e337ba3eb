"""What one client may have of the server's memory, and that others have theirs."""

import contextlib
import json
import os
import pathlib
import re
import shutil
import socket
import time

import pytest

from conftest import BINARY, PATIENT, SANITIZED, SECONDS, clean_environment, read_all, wait_for
from models import read_safetensors, write_safetensors
from one_client import OTHER, message
from test_log import lines_of

BODY = json.dumps({"inputs": "word " * 60000}).encode()  # 300 kB
WIDE = "\ufdfa"  # one character of three bytes, 33 once it is normalized


def part_of_a_body(server, address="127.0.0.1", head=""):
    """A connection that says how long its body is, and does not send it."""
    one = socket.create_connection(("127.0.0.1", server.port), timeout=SECONDS, source_address=(address, 0))
    one.sendall(
        (
            "POST /predict HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
            f"Content-Length: {len(BODY)}\r\n{head}\r\n"
        ).encode()
        + b"{"
    )
    return one


def held(server):
    return float(
        next(
            line.split()[1]
            for line in server.request("GET", "/metrics")[2].splitlines()
            if line.startswith("deberta_requests_memory_bytes ")
        )
    )


def is_refused(one):
    one.settimeout(0.3)
    try:
        return one.recv(4096)
    except TimeoutError:
        return b""


def test_bodies_that_one_client_sends(serve, models):
    """Four of 300 kB have no room in a megabyte; those of another address have; and it has again what it gave back."""
    server = serve("-m", models["labels"], "--max-client-bytes", "1MiB", "--max-body", "1MiB")
    with contextlib.ExitStack() as stack:
        three = [stack.enter_context(part_of_a_body(server)) for _ in range(3)]
        wait_for(lambda: held(server) >= 3 * len(BODY))
        refused = stack.enter_context(part_of_a_body(server))
        answer = read_all(refused)
        assert answer.startswith(b"HTTP/1.1 429 ")
        assert b"retry-after" in answer.lower()
        assert b"its limit is 1048576" in answer
        assert b"Overloaded" in answer and b"x-request-id" in answer.lower()
        other = stack.enter_context(part_of_a_body(server, address=OTHER))
        assert is_refused(other) == b"" and all(is_refused(one) == b"" for one in three)
        assert server.request("GET", "/health")[0] == 200
        assert server.post("/predict", {"inputs": "a"})  # small ones go on
        three[0].close()
        wait_for(lambda: held(server) < 4 * len(BODY))
        again = stack.enter_context(part_of_a_body(server))
        assert is_refused(again) == b""
    wait_for(lambda: held(server) == 0)


def test_a_body_without_a_length_takes_room_as_it_comes(serve, models):
    server = serve("-m", models["labels"], "--max-client-bytes", "1MiB", "--max-body", "1MiB")
    with contextlib.ExitStack() as stack:
        for _ in range(3):
            stack.enter_context(part_of_a_body(server))
        wait_for(lambda: held(server) >= 3 * len(BODY))
        one = stack.enter_context(socket.create_connection(("127.0.0.1", server.port), timeout=SECONDS))
        one.sendall(
            b"POST /predict HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
            b"Transfer-Encoding: chunked\r\n\r\n"
        )
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            for _ in range(10):
                one.sendall(b"7800\r\n" + b"x" * 0x7800 + b"\r\n")
        assert read_all(one).startswith(b"HTTP/1.1 429 ")


def test_all_clients_together(serve, models):
    server = serve("-m", models["labels"], "--max-client-bytes", "1MiB", "--max-body", "1MiB", "--memory-limit", "2MiB")
    with contextlib.ExitStack() as stack:
        for i in range(3, 9):
            stack.enter_context(part_of_a_body(server, address=f"127.0.0.{i}"))
        wait_for(lambda: held(server) >= 6 * len(BODY))
        answer = read_all(stack.enter_context(part_of_a_body(server, address="127.0.0.9")))
        assert answer.startswith(b"HTTP/1.1 429 ") and b"all the memory" in answer
        assert server.post("/predict", {"inputs": "a"})


def test_answers_that_nobody_reads(serve, models):
    server = serve("-m", models["labels"], "--max-client-bytes", "4MiB", *PATIENT)
    many = message("/embed_all", {"inputs": ["word " * 400] * 40}, "labels")  # a megabyte of vectors
    with contextlib.ExitStack() as stack:
        for _ in range(12):
            one = stack.enter_context(socket.socket())
            one.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            one.connect(("127.0.0.1", server.port))
            one.sendall(many)
        wait_for(lambda: held(server) > 2 << 20)
        wait_for(lambda: 'reason="overloaded"' in server.request("GET", "/metrics")[2])
        assert held(server) <= 4 << 20
        assert server.post("/predict", {"inputs": "a"})
    wait_for(lambda: held(server) == 0)
    assert len(server.post("/embed_all", {"inputs": ["word " * 400] * 40})) == 40


def test_large_bodies_of_one_client_wait_for_their_turn(serve, models):
    """Three of them, once read, would have all that the client may have: the others are read later, and none is
    refused."""
    server = serve("-m", models["labels"], "--max-client-bytes", "5MiB", *PATIENT)
    many = message("/predict", {"inputs": [["word " * 160] for _ in range(120)]}, "labels")  # 2 MB once it is read
    with contextlib.ExitStack() as stack:
        asking = [
            stack.enter_context(socket.create_connection(("127.0.0.1", server.port), timeout=SECONDS)) for _ in range(8)
        ]
        for one in asking:
            one.sendall(many.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n", 1))
        assert {read_all(one)[:12] for one in asking} == {b"HTTP/1.1 200"}
    wait_for(lambda: held(server) == 0)


MANY = {"inputs": [["word " * 120] for _ in range(120)]}  # a large body, and a large piece of work for a tiny model


def answered_in_order(server, asked):
    """Sends each (path, model, headers) of `asked` with a large body, in their order.

    Returns (number, answer) of each, in the order of their lines in the log."""
    with contextlib.ExitStack() as stack:
        connections = []
        for i, (path, model, headers) in enumerate(asked):
            one = stack.enter_context(socket.create_connection(("127.0.0.1", server.port), timeout=SECONDS))
            one.sendall(
                message(path, MANY, model).replace(
                    b"\r\n\r\n", f"\r\nConnection: close\r\nX-Request-Id: {i}\r\n{headers}\r\n".encode(), 1
                )
            )
            connections.append(one)
        answers = [read_all(one) for one in connections]
    assert {answer[:12] for answer in answers} == {b"HTTP/1.1 200"}
    wait_for(lambda: len(lines_of(server.log)) >= len(asked))
    return [
        (int(line["id"]), answers[int(line["id"])].decode()) for line in lines_of(server.log) if line["id"].isdigit()
    ]


def test_large_bodies_for_another_model_do_not_wait(serve, models):
    server = serve("-m", f"labels={models['labels']}", "-m", f"many={models['many']}", "--log-format", "json", *PATIENT)
    order = answered_in_order(server, [("/predict", "labels", "")] * 8 + [("/predict", "many", "")])
    assert order[-1][0] != 8, [i for i, _ in order]


def test_large_bodies_of_a_higher_priority_do_not_wait(serve, models):
    server = serve("-m", models["labels"], "--log-format", "json", *PATIENT, environment={"DEBERTA_API_KEY": "secret"})
    key = "Authorization: Bearer secret\r\n"
    order = answered_in_order(server, [("/predict", "", key)] * 8 + [("/predict", "", key + "X-Priority: high\r\n")])
    assert order[-1][0] != 8, [i for i, _ in order]


def test_the_wait_of_a_large_body_is_time_in_the_queue(serve, models):
    server = serve("-m", models["labels"], "--log-format", "json", *PATIENT)
    _, last = answered_in_order(server, [("/predict", "", "")] * 8)[-1]
    queue, tokenization, total = (
        int(re.search(rf"x-{name}-time: (\d+)", last)[1]) for name in ("queue", "tokenization", "total")
    )
    assert queue > total / 2 and tokenization < total / 2, last[:1000]


def test_a_refused_request_has_given_everything_back_before_its_answer(serve, models):
    """Each has most of what the client may have, and the next one comes with its answer."""
    server = serve("-m", models["labels"], "--max-client-bytes", "1MiB", "--max-body", "1MiB", *PATIENT)
    for _ in range(20):
        status, _, answer = server.request("POST", "/tokenize", {"inputs": ["word " * 2000] * 90})
        assert status in (413, 422), answer


def test_what_never_has_room_is_too_large(serve, models):
    server = serve(
        "-m",
        f"labels={models['labels']}",
        "-m",
        f"token={models['token']}",
        "--max-client-bytes",
        "1MiB",
        "--max-body",
        "1MiB",
        *PATIENT,
    )
    status, headers, answer = server.request(
        "POST", "/tokenize", {"inputs": ["word " * 2000] * 90}, {"x-model": "labels"}
    )
    assert status in (413, 422) and "retry-after" not in headers, answer
    status, _, answer = server.request("POST", "/embed_all", {"inputs": ["word " * 400] * 100}, {"x-model": "labels"})
    assert status in (413, 422) and "at most" in answer, answer
    status, _, answer = server.request("POST", "/models/token", {"inputs": "word " * 100000})
    assert status in (413, 422) and "at most" in answer, answer
    assert server.post("/predict", {"inputs": "a"}, x_model="labels")


def test_what_a_text_shows_in_the_explorer_is_bounded(serve, models):
    server = serve("-m", models["labels"], "--max-client-bytes", "1MiB", "--max-body", "1MiB")
    most = 114  # 20 bytes for each pair of tokens in 2 layers of 2 heads are less than 1 MiB
    words = ["film"] * most
    while len(server.post("/tokenize", {"inputs": " ".join(words)})[0]) > most:
        words.pop()
    explained = server.post("/explain/tokens", {"text": " ".join(words)})
    assert len(explained["tokens"]) in (most - 1, most)
    status, body = server.refused("/explain/tokens", {"text": " ".join(words + ["film"] * 2)})
    assert status == 422 and f"expected at most {most} tokens" in body["error"], body


def test_a_model_without_layers_has_nothing_to_explain(serve, models, tmp_path):
    folder = shutil.copytree(models["labels"], tmp_path / "flat")
    tensors = {
        name: array for name, array in read_safetensors(folder / "model.safetensors").items() if ".layer." not in name
    }
    write_safetensors(folder / "model.safetensors", tensors)
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(config | {"num_hidden_layers": 0}))
    server = serve("-m", folder)
    assert server.post("/predict", {"inputs": "a film"})
    status, answer = server.refused("/explain/tokens", {"text": "a film"})
    assert 400 <= status < 500 and "expected a model with layers" in answer["error"]
    assert server.request("GET", "/health")[0] == 200


@pytest.mark.parametrize(
    "words, named",
    [(("--max-body", "40MiB"), "--max-client-bytes"), (("--max-client-bytes", "2GiB"), "--memory-limit")],
)
def test_a_limit_that_another_makes_useless_is_refused(models, words, named):
    import subprocess

    done = subprocess.run(
        [BINARY, "serve", "-m", str(models["labels"]), "--port", "0", *words],
        capture_output=True,
        text=True,
        env=clean_environment(),
        timeout=SECONDS,
    )
    assert done.returncode == 2 and words[0] in done.stderr and f"raise {named}" in done.stderr


@pytest.mark.parametrize(
    "path, make",
    [
        ("/predict", lambda text: {"inputs": text, "truncate": True}),
        ("/tokenize", lambda text: {"inputs": text}),
        ("/models/token", lambda text: {"inputs": text}),
    ],
)
def test_few_characters_that_become_many(serve, models, path, make):
    """Half a megabyte of a character that is 33 bytes once it is normalized: refused before it takes hundreds of
    megabytes."""
    server = serve("-m", f"labels={models['labels']}", "-m", f"token={models['token']}", *PATIENT)
    named = {} if path.startswith("/models/") else {"x-model": "labels"}
    status, answer = server.refused(path, make(WIDE * 170000), **named)
    assert status == 422 and answer["field"] == "/inputs" and "normalized" in answer["error"]
    with open(f"/proc/{server.process.pid}/status") as status:
        peak = next(int(line.split()[1]) for line in status if line.startswith("VmHWM"))
    assert peak < 200 * 1024
    assert server.request("POST", path, make(WIDE * 50), named)[0] == 200


def test_clients_behind_a_proxy_are_counted_by_the_address_that_it_forwards(serve, models, tmp_path):
    for words in (("--trusted-proxy", "127.0.0.1"), ()):
        server = serve("-m", models["labels"], "--max-connections-per-address", "2", *words)
        with contextlib.ExitStack() as stack:
            head = "X-Forwarded-For: 10.0.0.1\r\n"
            waiting = [stack.enter_context(part_of_a_body(server, head=head)) for _ in range(2)]
            assert all(is_refused(one) == b"" for one in waiting)
            answer = read_all(stack.enter_context(part_of_a_body(server, head=head)))
            assert answer.startswith(b"HTTP/1.1 503 ") and b"too_many_connections" in answer
            if words:
                assert (
                    is_refused(stack.enter_context(part_of_a_body(server, head="X-Forwarded-For: 10.0.0.2\r\n"))) == b""
                )
    path = str(tmp_path / "socket")
    serve("-m", models["labels"], "--max-connections-per-address", "1", "--uds", path)
    with contextlib.ExitStack() as stack:
        ends = []
        for address in ("10.0.0.1", "10.0.0.1", "10.0.0.2"):
            one = stack.enter_context(socket.socket(socket.AF_UNIX))
            one.connect(path)
            one.sendall(
                (
                    f"POST /predict HTTP/1.1\r\nHost: localhost\r\nX-Forwarded-For: {address}\r\n"
                    "Content-Type: application/json\r\nContent-Length: 9\r\n\r\n"
                ).encode()
            )
            time.sleep(0.05)
            ends.append(one)
        assert is_refused(ends[0]) == b"" and b" 503 " in is_refused(ends[1]) and is_refused(ends[2]) == b""


CHUNKED = b"POST /predict HTTP/1.1\r\nHost: localhost\r\nX-Model: labels\r\nTransfer-Encoding: chunked\r\n\r\n"


@pytest.mark.parametrize(
    ("begin", "more"),
    [(b"5;a=", b"x"), (b"", b"0"), (b"0\r\nA: ", b"x"), (b"0\r\n", b"A: b\r\n")],
    ids=["extension", "size", "trailer", "trailers"],
)
def test_what_frames_a_body_without_a_length_is_bounded(server, begin, more):
    """None of it is a part of the body that has a limit."""
    with socket.create_connection(("127.0.0.1", server.port), timeout=SECONDS) as one:
        one.sendall(CHUNKED + begin)
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            for sent in range(201):  # noqa: B007 it stops where the server does
                one.sendall(more * (65536 // len(more)))
        answer = read_all(one)
    assert answer.startswith((b"HTTP/1.1 431 ", b"HTTP/1.1 400 ")) or (answer == b"" and sent < 200), answer[:100]


def test_connections_over_the_caps_leave_descriptors_to_others(serve, models):
    """Each that is refused has one until it ends."""
    server = serve("-q", "-m", models["labels"], "--max-connections-per-address", "5")
    with contextlib.ExitStack() as stack:
        for _ in range(700):
            stack.enter_context(socket.create_connection(("127.0.0.1", server.port), timeout=SECONDS))
        assert len(os.listdir(f"/proc/{server.process.pid}/fd")) < 400


def highest_more_mib(server, act):
    """The memory that the server takes beyond what it has, at its highest while `act` runs."""
    pathlib.Path(f"/proc/{server.process.pid}/clear_refs").write_text("5")
    status = pathlib.Path(f"/proc/{server.process.pid}/status")
    value = lambda name: int(re.search(rf"{name}:\s+(\d+)", status.read_text())[1]) / 1024
    before = value("VmRSS")
    act()
    return value("VmHWM") - before


@pytest.mark.parametrize(
    ("path", "begin", "one", "end"),
    [
        ("/models/labels/pipeline/text-classification", b'{"inputs":[', b'""', b"]}"),
        ("/models/labels/pipeline/text-classification", b'{"inputs":[', b'{"text":"a"}', b"]}"),
        ("/models/labels/embed", b'{"inputs":[', b'""', b"]}"),
        ("/models/labels/classify", b'{"input":[', b'""', b"]}"),
        ("/models/score/score", b'{"text_1":"a","text_2":[', b'""', b"]}"),
        ("/models/score/rerank", b'{"query":"a","texts":[', b'""', b"]}"),
        ("/models/score/v1/rerank", b'{"query":"a","documents":[', b'""', b"]}"),
        ("/models/extractor/gliner", b'{"labels":["a"],"texts":[', b'""', b"]}"),
    ],
)
def test_lists_are_counted_before_they_are_copied(server, path, begin, one, end):
    body = begin + b",".join([one] * (1_300_000 // (len(one) + 1))) + end
    more = highest_more_mib(server, lambda: server.refused(path, body))
    assert SANITIZED or more < 56, more
    status, answer = server.refused(path, body)
    assert status == 413 and "expected at most 256" in json.dumps(answer)


def test_the_values_of_a_body_count_as_memory_before_they_are_read(serve, models):
    server = serve("-m", models["labels"], "--max-client-bytes", "2MiB", "--max-body", "2MiB")
    for path in ("/predict", "/v2/repository/index", "/explain/tokens"):
        status, answer = server.refused(path, {"inputs": "a", "text": "a", "x": [0] * 100_000})
        assert status == 413 and "bytes of memory" in json.dumps(answer)
    assert server.post("/predict", {"inputs": ",[{:" * 60_000 + '\\"' * 1000, "truncate": True}), "signs within a text"


def clients_of(server):
    return [line["client"] for line in lines_of(server.log)]


def test_a_client_does_not_choose_the_address_that_a_proxy_forwards(serve, models):
    """HAProxy adds a header of its own behind what the client sent, and some add the port of the connection."""
    server = serve("-m", models["labels"], "--trusted-proxy", "127.0.0.1", "--log-format", "json")
    cases = [
        ("X-Forwarded-For: 10.0.0.1\r\nX-Forwarded-For: 10.0.0.2\r\n", "10.0.0.2"),
        ("X-Forwarded-For: 10.0.0.1\r\nX-Forwarded-For: 10.0.0.3, 10.0.0.4\r\n", "10.0.0.4"),
        ("X-Forwarded-For: 10.0.0.5:4711\r\n", "10.0.0.5"),
        ("X-Forwarded-For: [2001:db8::1]:4711\r\n", "2001:db8::1"),
        ("X-Forwarded-For: 2001:db8::2\r\n", "2001:db8::2"),
        ("X-Forwarded-For: 10.0.0.6 key=admin\r\n", "127.0.0.1"),
    ]
    for head, _ in cases:
        assert server.raw(f"GET /info HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n{head}\r\n".encode())
    wait_for(lambda: len(clients_of(server)) == len(cases))
    assert clients_of(server) == [client for _, client in cases]
