"""nginx and Caddy in front of the server, with the files of deploy/ but for addresses and TLS."""

import http.client
import json
import pathlib
import shutil
import socket
import subprocess
import time

import pytest

from conftest import SECONDS

DEPLOY = pathlib.Path(__file__).resolve().parents[2] / "deploy"


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def nginx(folder, port, server_port):
    text = (
        (DEPLOY / "nginx.conf")
        .read_text()
        .replace("127.0.0.1:8080", f"127.0.0.1:{server_port}")
        .replace("listen 443 ssl", f"listen 127.0.0.1:{port}")
    )
    text = "".join(line + "\n" for line in text.splitlines() if "ssl_certificate" not in line)
    paths = "".join(
        f"{name} {folder}/{name};"
        for name in (
            "client_body_temp_path",
            "proxy_temp_path",
            "fastcgi_temp_path",
            "uwsgi_temp_path",
            "scgi_temp_path",
        )
    )
    (folder / "nginx.conf").write_text(
        f"daemon off; pid {folder}/pid; error_log stderr; events {{}} http {{ access_log off; {paths} {text} }}"
    )
    return ["nginx", "-c", folder / "nginx.conf", "-p", folder]


def caddy(folder, port, server_port):
    text = (
        (DEPLOY / "Caddyfile")
        .read_text()
        .replace("127.0.0.1:8080", f"127.0.0.1:{server_port}")
        .replace("deberta.example", f"http://127.0.0.1:{port}")
    )
    (folder / "Caddyfile").write_text("{\n\tadmin off\n}\n" + text)
    return ["caddy", "run", "--config", folder / "Caddyfile", "--adapter", "caddyfile"]


@pytest.fixture(params=[nginx, caddy], ids=["nginx", "caddy"])
def proxy(request, serve, models, tmp_path):
    """(port of the proxy, the server behind it)"""
    if shutil.which(request.param.__name__) is None:
        pytest.fail(f"{request.param.__name__} is not installed: ./test installs it")
    server = serve("-m", models["labels"], "--admin", "--trusted-proxy", "127.0.0.1", "--log-format", "json")
    port = free_port()
    process = subprocess.Popen(
        [str(word) for word in request.param(tmp_path, port, server.port)],
        stderr=subprocess.PIPE,
        env={"HOME": str(tmp_path), "PATH": "/usr/sbin:/usr/bin:/sbin:/bin"},
    )
    end = time.monotonic() + SECONDS
    while True:
        try:
            socket.create_connection(("127.0.0.1", port)).close()
            break
        except OSError:
            assert process.poll() is None and time.monotonic() < end, process.stderr.read()
            time.sleep(0.05)
    yield port, server
    process.terminate()
    process.wait()
    process.stderr.close()


def ask(port, method, path, body=None, headers=None):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=SECONDS)
    connection.request(
        method,
        path,
        body if body is None or isinstance(body, bytes) else json.dumps(body).encode(),
        {"content-type": "application/json"} | (headers or {}),
    )
    response = connection.getresponse()
    text = response.read()
    connection.close()
    return response.status, text


def test_a_proxy_changes_nothing(proxy):
    port, server = proxy
    texts = {"inputs": [["a fine film"], ["so so"]]}
    for _ in range(20):
        status, text = ask(port, "POST", "/predict", texts)
        assert status == 200 and json.loads(text) == server.post("/predict", texts)
    assert ask(port, "GET", "/docs/docs.js")[1] == server.request("GET", "/docs/docs.js")[2].encode()
    status, text = ask(port, "POST", "/predict", {"inputs": 1})
    assert status == 422 and json.loads(text)["field"] == "/inputs"
    assert ask(port, "GET", "/admin/models")[0] == 404 and server.request("GET", "/admin/models")[0] == 200
    # Caddy sends what it has read so far, and may find the connection closed behind the server's 413.
    assert ask(port, "POST", "/predict", b"x" * 3000000)[0] in (413, 502)
    assert ask(port, "POST", "/predict", texts)[0] == 200


def test_a_forged_address_is_not_believed(proxy):
    """What a client says of itself is dropped by the proxy; the server believes the proxy alone."""
    port, server = proxy
    assert ask(port, "POST", "/predict", {"inputs": "a"}, {"x-forwarded-for": "10.9.8.7"})[0] == 200
    metrics = server.request("GET", "/metrics")[2]
    assert "10.9.8.7" not in metrics
