"""How a server begins and ends."""

import contextlib
import http.client
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import threading
import time

import numpy
import pytest

from conftest import BINARY, PATIENT, SECONDS, clean_environment, read_all, wait_for
from models import read_safetensors, write_safetensors

TEXT = "a fine film"


def start(*words, **more):
    return subprocess.run(
        [BINARY, "serve", *map(str, words)],
        capture_output=True,
        text=True,
        timeout=SECONDS,
        env=clean_environment() | more,
    )


def test_what_keeps_it_from_starting(models, tmp_path):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        done = start("-m", models["labels"], "--port", port)
        assert done.returncode == 1 and done.stderr.startswith(
            f"127.0.0.1:{port}: cannot listen: Address already in use"
        ), done.stderr
    (tmp_path / "keys").write_text("team:infer:secret\n")
    everywhere = ["-m", models["labels"], "--host", "0.0.0.0", "--port", "0"]
    for words, code, said in (
        ([*everywhere, "--admin"], 2, "--admin: expected a key as well"),
        ([*everywhere, "--explorer", "on"], 2, "--explorer: expected a key as well"),
        ([*everywhere, "--api-key-file", tmp_path / "keys"], 2, "keys:1: expected the 64 hexadecimal digits"),
        ([*everywhere, "--api-key-file", tmp_path / "no keys"], 1, "no keys"),
        (["-m", tmp_path / "none"], 1, "no such model directory"),
        (["-m", models["labels"], "--host", "nowhere"], 1, "nowhere:8080: cannot listen"),
        (["-m", models["labels"], "--uds", tmp_path / "no/socket"], 1, "cannot listen: No such file or directory"),
        (["-m", models["labels"], "-m", models["labels"]], 2, "got labels twice; give others: -m NAME=DIR"),
        (["-m", f"a b={models['labels']}"], 2, "expected a name of letters"),
        (["--port", "65536", "-m", models["labels"]], 2, "--port"),
    ):
        done = start(*words)
        assert done.returncode == code and said in done.stderr and done.stdout == "", (words, done.stderr)
    done = start(DEBERTA_DATA_DIR=str(tmp_path))
    assert done.returncode == 2 and "no model is built in; give -m DIR" in done.stderr


def test_a_unix_socket(serve, models, tmp_path):
    path = str(tmp_path / "socket")
    server = serve("-m", models["labels"], "--uds", path)
    with socket.socket(socket.AF_UNIX) as one:
        one.connect(path)
        body = b'{"inputs":"a"}'
        one.sendall(
            b"POST /predict HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: %d\r\n\r\n" % len(body)
            + body
        )
        assert read_all(one).startswith(b"HTTP/1.1 200")
    assert server.stop() == 0 and not os.path.exists(path)


def test_the_socket_of_a_killed_server_is_taken_over_and_that_of_a_living_one_is_not(serve, models, tmp_path):
    path = str(tmp_path / "socket")
    words = ["-m", models["labels"], "--uds", path, "--uds-mode", "0600"]
    for _ in range(2):
        server = serve(*words)
        assert os.stat(path).st_mode & 0o777 == 0o600
        done = start(*words)
        assert done.returncode == 1 and "cannot listen: Address already in use" in done.stderr
        server.process.kill()
        server.process.wait()
        assert os.path.exists(path)
    (tmp_path / "file").write_text("mine")
    done = start("-m", models["labels"], "--port", "8080", "--uds", tmp_path / "file")
    assert "--host and --port are ignored, since the server listens only at " in done.stderr
    done = start("-m", models["labels"], "--uds", tmp_path / "file")
    assert "are ignored" not in done.stderr
    assert done.returncode == 1 and (tmp_path / "file").read_text() == "mine"
    done = start(*words[:-1], "0888")
    assert done.returncode == 2 and "--uds-mode: expected octal digits" in done.stderr


def test_localhost_is_an_address(serve, models):
    assert serve("-m", models["labels"], "--host", "localhost").request("GET", "/health")[0] == 200


def test_metrics_at_a_port_of_their_own(serve, models):
    server = serve("-m", models["labels"], "--metrics-port", "0", environment={"DEBERTA_API_KEY": "secret"})
    wait_for(lambda: "metrics are at " in open(server.log).read())
    port = int(re.search(r"metrics are at http://127.0.0.1:(\d+)/metrics", open(server.log).read())[1])

    def ask(method, path):
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=SECONDS)
        with contextlib.closing(connection):
            connection.request(method, path)
            response = connection.getresponse()
            return response.status, response.read().decode()

    status, text = ask("GET", "/metrics")
    assert status == 200 and "deberta_request_total" in text + ask("GET", "/metrics")[1]
    assert ask("GET", "/health")[0] == 200 and ask("GET", "/info")[0] == 401 and ask("POST", "/predict")[0] == 401
    assert server.request("GET", "/metrics", headers={"authorization": "Bearer secret"})[0] == 404


def test_a_model_whose_results_are_no_numbers_is_found_at_the_start(models, tmp_path):
    folder = shutil.copytree(models["labels"], tmp_path / "broken")
    weights = read_safetensors(folder / "model.safetensors")
    name = next(name for name in weights if name.endswith("classifier.bias"))
    weights[name] = numpy.full_like(weights[name], numpy.nan)
    write_safetensors(folder / "model.safetensors", weights)
    done = start("-m", folder, "--port", "0")
    assert done.returncode == 1 and str(folder) in done.stderr and done.stdout == "", done.stderr


def test_without_a_model_it_is_not_ready(serve, models):
    server = serve("-m", models["labels"], "--admin")
    server.post("/admin/models/labels/unload", {})
    for path in ("/health", "/info", "/v2/health/ready"):
        status, _, text = server.request("GET", path)
        assert status == 503 and "no model is loaded" in text, path
    server.post("/admin/models/labels/load", {})
    assert server.request("GET", "/health")[0] == 200


def test_a_request_that_can_never_fit_is_not_told_to_come_again(serve, models):
    server = serve("-m", models["token"], "--batch-tokens", "4", *PATIENT)  # 1,024 tokens in the queue
    status, headers, text = server.request("POST", "/", {"inputs": "word " * 3000})
    assert status == 413 and "retry-after" not in headers and "at most 1024 tokens in a request" in text
    assert server.post("/", {"inputs": "word " * 300})


def test_a_signal_lets_what_has_begun_end(serve, models):
    server = serve("-m", models["labels"], *PATIENT)
    idle = socket.create_connection(("127.0.0.1", server.port))
    answers = []
    body = {"inputs": [["word " * 100] for _ in range(60)]}
    threads = [
        threading.Thread(target=lambda: answers.append(server.request("POST", "/predict", body))) for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    end = time.monotonic() + SECONDS
    while 'deberta_queue_requests{model="labels"} 4' not in server.request("GET", "/metrics")[2] and not answers:
        assert time.monotonic() < end
    server.process.send_signal(signal.SIGTERM)
    for thread in threads:
        thread.join()
    assert server.process.wait(SECONDS) == 0
    assert [status for status, _, _ in answers] == [200] * 4
    assert all(headers["connection"] == "close" for _, headers, _ in answers[-1:])
    idle.close()
    with pytest.raises(OSError):
        socket.create_connection(("127.0.0.1", server.port), timeout=5)


@pytest.mark.parametrize("delay", [0, 0.02, 0.05, 0.1, 0.2])
def test_a_signal_while_models_are_loaded(models, delay):
    words = [word for i in range(8) for word in ("-m", f"m{i}={models['labels']}")]
    process = subprocess.Popen(
        [BINARY, "serve", *words, "--port", "0"],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env=clean_environment(),
    )
    time.sleep(delay)
    process.terminate()
    assert process.wait(SECONDS) in (0, -signal.SIGTERM)  # the second: it had not begun


def whole_of(body):
    return (
        b"POST /embed_all HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n"
        % len(body)
        + body
    )


def test_a_signal_in_the_middle_of_a_body(serve, models):
    server = serve("-m", models["labels"])
    whole = whole_of(json.dumps({"inputs": TEXT}).encode())
    with socket.create_connection(("127.0.0.1", server.port), timeout=SECONDS) as one:
        one.sendall(whole[:-5])
        time.sleep(0.2)
        server.process.terminate()
        time.sleep(0.2)
        one.sendall(whole[-5:])
        answer = read_all(one)
    assert answer.startswith((b"HTTP/1.1 200", b"HTTP/1.1 503")) and json.loads(answer.partition(b"\r\n\r\n")[2])
    assert server.process.wait(SECONDS) == 0


def test_a_signal_while_an_answer_is_written(serve, models):
    server = serve("-m", models["labels"], *PATIENT)
    whole = whole_of(json.dumps({"inputs": ["word " * 200] * 100}).encode())
    with socket.socket() as one:
        one.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)  # it is not all on its way at once
        one.settimeout(SECONDS)
        one.connect(("127.0.0.1", server.port))
        one.sendall(whole)
        first = one.recv(1)
        server.process.terminate()
        time.sleep(0.3)
        assert server.process.poll() is None
        head, _, rest = (first + read_all(one)).partition(b"\r\n\r\n")
    body = b""
    while rest:  # in chunks
        size, _, rest = rest.partition(b"\r\n")
        body, rest = body + rest[: int(size, 16)], rest[int(size, 16) + 2 :]
    assert head.startswith(b"HTTP/1.1 200") and len(json.loads(body)) == 100
    assert server.process.wait(SECONDS) == 0


def test_a_signal_during_a_reload(serve, models):
    server = serve("--admin", *(word for i in range(6) for word in ("-m", f"m{i}={models['labels']}")))
    server.process.send_signal(signal.SIGHUP)
    threads = [
        threading.Thread(target=server.request, args=("POST", f"/admin/models/m{i}/reload", {})) for i in range(3)
    ]
    for thread in threads:
        thread.start()
    time.sleep(0.05)
    server.process.terminate()
    for thread in threads:
        thread.join()
    assert server.process.wait(SECONDS) == 0


def test_a_server_can_say_that_it_leaves_before_it_does(serve, models):
    server = serve("-m", models["labels"], "--drain-grace-s", "2")
    server.process.send_signal(signal.SIGTERM)
    end = time.monotonic() + SECONDS
    while server.request("GET", "/health")[0] == 200:
        assert time.monotonic() < end
    assert server.request("GET", "/health")[0] == 503 and server.post("/predict", {"inputs": TEXT})
    assert server.process.wait(SECONDS) == 0
    again = serve("-m", models["labels"], "--drain-grace-s", "600")
    again.process.send_signal(signal.SIGTERM)
    while again.request("GET", "/health")[0] == 200:
        assert time.monotonic() < end
    assert again.stop() != 0  # a second signal does not wait


def test_a_second_signal_ends_it_at_once(serve, models):
    server = serve("-m", models["labels"])
    connection = socket.create_connection(("127.0.0.1", server.port))
    body = json.dumps({"inputs": [["word " * 400] for _ in range(256)]}).encode()
    connection.sendall(b"POST /predict HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n" % len(body) + body)
    time.sleep(0.1)
    server.process.send_signal(signal.SIGINT)
    time.sleep(0.2)
    if server.process.poll() is None:
        assert server.stop(signal.SIGINT) in (0, 130)
    connection.close()
