"""The log of a server: what its lines hold, and that nobody waits for whoever reads it."""

import contextlib
import json
import os
import re
import signal
import socket
import subprocess

from conftest import BINARY, PATIENT, SECONDS, clean_environment, wait_for


def lines_of(path):
    """Of requests; those that are whole."""
    return [line for line in map(json.loads, open(path).read().splitlines()) if "id" in line]


def line_of(server, request_id):
    wait_for(lambda: any(line["id"] == request_id for line in lines_of(server.log)))
    return next(line for line in lines_of(server.log) if line["id"] == request_id)


def test_a_line_for_each_request_and_no_texts(serve, models):
    server = serve("-m", models["labels"], "--log-format", "json")
    server.post(
        "/predict",
        {"inputs": "something private"},
        x_request_id="abc",
        traceparent="00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
    )
    assert server.refused("/nothing%1b[31m", {"inputs": "x"}, x_request_id="none")[0] == 404
    assert server.refused("/predict", {"inputs": ["a", 3]}, x_request_id="bad")[0] == 422
    assert (
        server.refused("/predict", {"inputs": "x" * 3000, "truncate": True}, x_request_id="late", x_deadline_ms="0")[0]
        == 504
    )
    line = line_of(server, "abc")
    assert (line["status"], line["route"], line["items"], line["client"], line["method"]) == (
        200,
        "/predict",
        1,
        "127.0.0.1",
        "POST",
    )
    assert line["traceparent"].startswith("00-4bf92f3577b34da6a3ce929d0e0e4736")
    assert not {"code", "field", "path", "detail"} & set(line)
    line = line_of(server, "none")
    assert (line["status"], line["code"], line["path"]) == (404, "not_found", "%2Fnothing%251b%5B31m")
    line = line_of(server, "bad")
    assert (line["status"], line["code"], line["field"]) == (422, "validation", "/inputs/1") and "path" not in line
    line = line_of(server, "late")
    assert (line["status"], line["code"], line["detail"]) == (504, "deadline", "the deadline has passed")
    assert server.stop() == 0 and "private" not in open(server.log).read()


def test_what_is_refused_early_has_its_line_its_id_and_its_count(serve, models):
    server = serve("-m", models["labels"], "--log-format", "json", "--max-connections", "3")
    host = "Host: localhost\r\n"
    asked = [
        (f"GET /info HTTP/1.1\r\n{host}Content-Length: 1\r\nContent-Length: 2\r\n\r\n", 400, "bad_request"),
        (f"GET /{'x' * 9000} HTTP/1.1\r\n{host}\r\n", 414, "uri_too_long"),
        (f"GET /info HTTP/1.1\r\n{host}A: {'x' * 20000}\r\n\r\n", 431, "headers_too_large"),
        (f"POST /predict HTTP/1.1\r\n{host}Content-Length: 999999999\r\n\r\n", 413, "too_large"),
    ]
    for head, status, code in asked:
        answer = server.raw(head.encode()).decode()
        assert answer.startswith(f"HTTP/1.1 {status}"), answer
        assert "x-content-type-options: nosniff" in answer and "cache-control: no-store" in answer
        line = line_of(server, re.search(r"x-request-id: (\S+)", answer)[1])
        assert (line["status"], line["code"], line["client"]) == (status, code, "127.0.0.1")
    answered = []
    with contextlib.ExitStack() as held:
        while len(answered) < 3:  # a connection that has just ended may still be counted
            one = held.enter_context(socket.create_connection(("127.0.0.1", server.port), timeout=SECONDS))
            one.sendall(f"GET /health HTTP/1.1\r\n{host}\r\n".encode())
            if one.recv(4096).startswith(b"HTTP/1.1 200"):
                answered.append(one)
        refused = server.raw(f"GET /info HTTP/1.1\r\n{host}\r\n".encode()).decode()
        line = line_of(server, re.search(r"x-request-id: (\S+)", refused)[1])
        assert (line["status"], line["code"]) == (503, "too_many_connections")
    wait_for(lambda: server.request("GET", "/health")[0] == 200)
    counts = server.request("GET", "/metrics")[2]
    for _, status, _ in [*asked, (None, 503, None)]:
        assert re.search(
            rf'deberta_request_total\{{model="",route="none",method="single",status="{status}"\}} [1-9]', counts
        ), counts


def test_a_request_without_its_key_has_a_route(serve, models):
    server = serve("-m", models["labels"], "--log-format", "json", "--api-key", "secret")
    for name, path, route in (
        ("one", "/predict", "/predict"),
        ("two", "/models/labels/embed", "/models/{model}/embed"),
    ):
        assert server.refused(path, {"inputs": "a"}, x_request_id=name)[0] == 401
        line = line_of(server, name)
        assert (line["status"], line["route"]) == (401, route) and "path" not in line


def test_a_reader_that_stops_stops_nothing(models):
    """Standard error is a pipe that nobody reads."""
    reader, writer = os.pipe()
    process = subprocess.Popen(
        [BINARY, "serve", "-m", models["labels"], "--port", "0", "--log-format", "json"],
        stdout=subprocess.PIPE,
        stderr=writer,
        text=True,
        env=clean_environment(),
    )
    os.close(writer)
    port = int(process.stdout.readline().split()[0].rsplit(":", 1)[1])
    one = b"GET /info HTTP/1.1\r\nHost: localhost\r\nX-Request-Id: " + b"x" * 60 + b"\r\n\r\n"
    with socket.create_connection(("127.0.0.1", port), timeout=SECONDS) as connection:
        for _ in range(100):  # 8,000 lines, more than the pipe and what may wait
            connection.sendall(one * 80)
            found = 0
            while found < 80:
                part = connection.recv(1 << 20)
                assert part
                found += part.count(b"HTTP/1.1 200")
        connection.sendall(b"GET /metrics HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
        text = b""
        while part := connection.recv(1 << 20):
            text += part
    assert int(re.search(rb"deberta_log_lines_dropped_total (\d+)", text)[1]) > 100
    process.send_signal(signal.SIGTERM)
    assert process.wait(SECONDS) == 0
    os.close(reader)


def test_a_reader_that_comes_back_is_told_how_many_lines_are_missing(models):
    reader, writer = os.pipe()
    process = subprocess.Popen(
        [BINARY, "serve", "-m", models["labels"], "--port", "0", "--log-format", "json"],
        stdout=subprocess.PIPE,
        stderr=writer,
        text=True,
        env=clean_environment(),
    )
    os.close(writer)
    port = int(process.stdout.readline().split()[0].rsplit(":", 1)[1])
    count, one = 8000, b"GET /info HTTP/1.1\r\nHost: localhost\r\nX-Request-Id: " + b"x" * 60 + b"\r\n\r\n"
    with socket.create_connection(("127.0.0.1", port), timeout=SECONDS) as connection:
        for _ in range(count // 80):
            connection.sendall(one * 80)
            found = 0
            while found < 80:
                found += connection.recv(1 << 20).count(b"HTTP/1.1 200")
    process.send_signal(signal.SIGTERM)
    with open(reader) as log:
        lines = [json.loads(line) for line in log]
    assert process.wait(SECONDS) == 0
    missing = sum(int(line["note"].split()[0]) for line in lines if "were dropped" in line.get("note", ""))
    # the note of the end may be among the dropped lines
    count += not any("no longer accepting requests" in line.get("note", "") for line in lines)
    assert 0 < missing < count and sum("id" in line for line in lines) + missing == count


def test_a_log_file_is_opened_anew(serve, models, tmp_path):
    """As logrotate asks for it."""
    file, old = tmp_path / "log", tmp_path / "log.1"
    file.write_text('{"id": "before"}\n')
    server = serve("-m", models["labels"], "--log-format", "json", "--log-file", file)
    server.post("/predict", {"inputs": "a"}, x_request_id="first")
    wait_for(lambda: [line["id"] for line in lines_of(file)] == ["before", "first"])
    file.rename(old)
    server.post("/predict", {"inputs": "a"}, x_request_id="second")
    wait_for(lambda: [line["id"] for line in lines_of(old)] == ["before", "first", "second"])
    server.process.send_signal(signal.SIGUSR1)
    wait_for(file.exists)
    server.post("/predict", {"inputs": "a"}, x_request_id="third")
    wait_for(lambda: [line["id"] for line in lines_of(file)] == ["third"])
    assert server.stop() == 0 and open(server.log).read() == ""
    server = serve("-m", models["labels"])  # on standard error the signal means nothing
    server.process.send_signal(signal.SIGUSR1)
    assert server.post("/predict", {"inputs": "a"}) and server.stop() == 0


@contextlib.contextmanager
def half_an_answer(server):
    """Has read the first bytes of an answer that no buffer holds, and leaves at the end."""
    body = json.dumps({"inputs": ["word " * 200] * 100}).encode()
    with socket.socket() as one:
        one.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        one.settimeout(SECONDS)
        one.connect(("127.0.0.1", server.port))
        one.sendall(
            b"POST /embed_all HTTP/1.1\r\nHost: localhost\r\nX-Request-Id: cut\r\nContent-Length: %d\r\n\r\n"
            % len(body)
            + body
        )
        assert one.recv(100).startswith(b"HTTP/1.1 200")
        yield


def test_an_answer_that_is_cut_is_no_success_in_the_log(serve, models):
    server = serve("-m", models["labels"], "--log-format", "json", *PATIENT)
    with half_an_answer(server):
        pass
    line = line_of(server, "cut")
    assert (line["status"], line["code"]) == (499, "cut")
    assert "deberta_answers_cut_total 1" in server.request("GET", "/metrics")[2]
    server.post("/predict", {"inputs": "a"}, x_request_id="whole")
    assert line_of(server, "whole")["status"] == 200


def test_the_level_of_the_log(serve, models):
    server = serve("-m", models["labels"], "--admin")
    server.post("/admin/loglevel", {"level": "error"})
    server.post("/predict", {"inputs": "a"})
    server.refused("/predict", {})
    server.post("/admin/loglevel", {"level": "info"})
    assert server.stop() == 0
    lines = open(server.log).read().splitlines()
    assert [line for line in lines if "/predict" in line] == []
    assert [line for line in lines if "/admin/loglevel" in line] != []


def test_a_level_set_during_an_answer_is_for_the_next(serve, models):
    server = serve("-m", models["labels"], "--admin", *PATIENT)
    server.post("/admin/loglevel", {"level": "error"})
    with half_an_answer(server):
        server.post("/admin/loglevel", {"level": "info"})
    server.post("/predict", {"inputs": "a"}, x_request_id="after")
    assert server.stop() == 0
    log = open(server.log).read()
    assert " after " in log and " cut " not in log


def test_names_of_fields_do_not_begin_lines(serve, models):
    """A client's words may be the name of a field, which the line of a refusal has."""
    server = serve("-m", models["labels"], "--strict-fields")
    for name in ("input\n", "x\n2026-01-01T00:00:00Z 200 POST /predict", "a\x1b[2Jb\r"):
        assert server.refused("/predict", {"inputs": "a", name: 1})[0] == 422
    assert server.stop() == 0
    lines = [line for line in open(server.log, newline="").read().split("\n") if "code=validation" in line]
    assert len(lines) == 3 and "\x1b" not in "".join(lines)
    assert not any(line.startswith("2026-01-01T00:00:00Z 200 ") for line in open(server.log))
