"""Models that come and go while requests do not notice: reload, load, unload, SIGHUP, and who may ask for it."""

import json
import os
import shutil
import signal
import statistics
import threading

import pytest

from conftest import wait_for
from models import make_model, read_safetensors, write_safetensors

TEXT = "a fine film"
COMMIT = "0123456789abcdef" * 2 + "01234567"


@pytest.fixture
def copy(models, tmp_path):
    """A folder that a test may change."""
    return shutil.copytree(models["labels"], tmp_path / "labels")


def put(folder, **change):
    """Another model in the place of the folder, at once, as a person who publishes would do it."""
    fresh = make_model(folder.with_name("fresh"), "sequence", **change)
    folder.rename(folder.with_name("old"))
    fresh.rename(folder)
    shutil.rmtree(folder.with_name("old"))


def test_a_model_is_replaced_unloaded_and_loaded(serve, copy):
    server = serve("-m", copy, "--admin")
    before = server.post("/predict", {"inputs": TEXT})
    put(copy, seed=5)
    assert server.post("/predict", {"inputs": TEXT}) == before
    assert server.post("/admin/models/labels/reload", {}) == {"name": "labels", "state": "open"}
    after = server.post("/predict", {"inputs": TEXT})
    assert after != before
    assert server.post("/admin/models/labels/unload", {}) == {"name": "labels", "state": "closed"}
    assert server.refused("/predict", {"inputs": TEXT})[0] == 404
    assert json.loads(server.request("GET", "/admin/models")[2])["models"] == [
        {"name": "labels", "path": str(copy), "state": "closed"}
    ]
    assert server.request("GET", "/health")[0] == 503  # it can answer nothing
    assert (
        server.post("/admin/models/labels/load", {})
        == {"name": "labels", "state": "open"}
        == server.post("/admin/models/labels/load", {})
    )
    assert server.post("/predict", {"inputs": TEXT}) == after
    metrics = server.request("GET", "/metrics")[2]
    assert 'deberta_reload_total{result="done"} 1' in metrics and 'deberta_model_loaded{model="labels"} 1' in metrics


def test_a_folder_that_does_not_serve_leaves_the_old_model(serve, copy):
    server = serve("-m", copy, "--admin")
    before = server.post("/predict", {"inputs": TEXT})
    put(copy, labels=("no", "yes", "maybe"))
    status, answer = server.refused("/admin/models/labels/reload", {})
    assert status == 422
    assert "expected the labels of the old model (negative, neutral, positive), got no, yes, maybe" in answer["error"]
    tensors = {name: array.copy() for name, array in read_safetensors(copy / "model.safetensors").items()}
    tensors["classifier.bias"][1] = float("nan")
    write_safetensors(copy / "fresh", tensors)
    os.replace(copy / "fresh", copy / "model.safetensors")
    status, answer = server.refused("/admin/models/labels/reload", {"force": True})
    assert status == 422 and "expected a finite number, got nan" in answer["error"]
    (copy / "config.json").write_text("{")
    status, answer = server.refused("/admin/models/labels/reload", {})
    assert status == 422 and "config.json" in answer["error"]
    assert server.post("/predict", {"inputs": TEXT}) == before
    put(copy, labels=("no", "yes", "maybe"))
    server.post("/admin/models/labels/reload", {"force": True})
    assert {one["label"] for one in server.post("/predict", {"inputs": TEXT})} == {"no", "yes", "maybe"}
    assert 'deberta_reload_total{result="failed"} 3' in server.request("GET", "/metrics")[2]


def test_sighup_loads_every_model_anew(serve, copy, models):
    server = serve("-m", copy, "-m", models["score"])
    before = server.post("/predict", {"inputs": TEXT}, x_model="labels")
    put(copy, seed=7)
    server.process.send_signal(signal.SIGHUP)
    wait_for(lambda: server.post("/predict", {"inputs": TEXT}, x_model="labels") != before)
    wait_for(lambda: "reloaded the model score" in open(server.log).read())
    (copy / "empty").write_bytes(b"")
    # weights are mapped: a file in use is replaced, never written to
    os.replace(copy / "empty", copy / "model.safetensors")
    server.process.send_signal(signal.SIGHUP)
    wait_for(lambda: "could not reload the model labels, so the old one stays in use: " in open(server.log).read())
    assert server.post("/predict", {"inputs": TEXT}, x_model="labels")


def test_reloads_under_load_lose_nothing(serve, copy):
    """DEBERTA_RELOADS=1000 for the long run: no request fails, and each answer is the old model's or the new one's."""
    count = int(os.environ.get("DEBERTA_RELOADS", "20"))
    other = make_model(copy.with_name("other"), "sequence", seed=9)
    server = serve("-m", copy, "--admin", "--log-format", "json")
    texts = {"inputs": [[f"text {i} " * 10] for i in range(8)]}
    answers, expected, done = [], [server.post("/predict", texts)], threading.Event()
    shutil.copytree(copy, copy.with_name("first"))

    def ask():
        while not done.is_set():
            answers.append(server.post("/predict", texts))

    threads = [threading.Thread(target=ask) for _ in range(3)]
    for thread in threads:
        thread.start()
    memory = []
    for i in range(count):
        shutil.copy((other, copy.with_name("first"))[i % 2] / "model.safetensors", copy / "model.fresh")
        os.replace(copy / "model.fresh", copy / "model.safetensors")
        server.post("/admin/models/labels/reload", {})
        memory.append(server.anonymous_kib())
        if i == 0:
            expected.append(server.post("/predict", texts))
    done.set()
    for thread in threads:
        thread.join()
    assert expected[0] != expected[1] and len(answers) > count and all(answer in expected for answer in answers)
    if count >= 200:
        part = count // 10
        early, late = statistics.median(memory[part : 5 * part]), statistics.median(memory[-4 * part :])
        assert late < 1.02 * early, memory[::part]


def test_priorities_and_rates(serve, models):
    server = serve("-m", models["labels"], "--rate-limit", "20", environment={"DEBERTA_API_KEY": "secret"})
    key = {"authorization": "bearer secret"}
    for priority in ("high", "normal", "low"):
        assert server.post("/predict", {"inputs": "a"}, x_priority=priority, **key)
    assert server.refused("/predict", {"inputs": "a"}, x_priority="highest", **key)[0] == 400
    while True:  # ten seconds' worth of tokens at once, then no more
        status, headers, text = server.request("POST", "/predict", {"inputs": "a fine film " * 5}, key)
        if status != 200:
            break
    assert status == 429 and int(headers["retry-after"]) >= 1 and "more than 20 tokens a second" in text


def test_what_never_has_room_uses_up_no_rate(serve, models):
    server = serve(
        "-m", models["labels"], "--rate-limit", "20", "--batch-tokens", "16"
    )  # 4,096 tokens in the queue, 200 at once for a client
    for _ in range(3):
        status, answer = server.refused("/predict", {"inputs": [["a fine film " * 40] for _ in range(50)]})
        assert status == 413 and "expected at most 4096 tokens in a request" in answer["error"], answer
    assert server.post("/predict", {"inputs": "a fine film"})


def test_a_proxy_that_is_trusted_says_who_asks(serve, models):
    def until_refused(server, address):
        for count in range(40):
            if (
                server.request("POST", "/predict", {"inputs": "a fine film " * 5}, {"x-forwarded-for": address})[0]
                == 429
            ):
                return count
        return None

    trusted = serve("-m", models["labels"], "--rate-limit", "20", "--trusted-proxy", "127.0.0.1")
    assert until_refused(trusted, "10.0.0.1") > 0
    assert until_refused(trusted, "10.0.0.2") > 0
    assert until_refused(trusted, "10.9.9.9, 10.0.0.2") == 0
    other = serve("-m", models["labels"], "--rate-limit", "20", "--trusted-proxy", "192.0.2.1")
    assert until_refused(other, "10.0.0.1") > 0 and until_refused(other, "10.0.0.2") == 0


def test_pages_of_other_origins(serve, models):
    server = serve(
        "-m", models["labels"], "--cors-allow-origin", "https://a.example", environment={"DEBERTA_API_KEY": "secret"}
    )
    ask = {
        "origin": "https://a.example",
        "access-control-request-method": "POST",
        "access-control-request-headers": "authorization",
    }
    status, headers, _ = server.request("OPTIONS", "/predict", headers=ask)
    assert status == 204
    assert headers["access-control-allow-origin"] == "https://a.example"
    assert headers["access-control-allow-methods"] == "POST"
    assert "authorization" in headers["access-control-allow-headers"]
    key = {"authorization": "Bearer secret"}
    status, headers, _ = server.request("POST", "/predict", {"inputs": "a"}, key | {"origin": "https://a.example"})
    assert status == 200
    assert headers["access-control-allow-origin"] == "https://a.example"
    assert headers["vary"] == "origin"
    own = {"x-request-id", "retry-after", "x-ignored-fields", "x-truncated-inputs", "x-truncated-tokens"}
    assert own | {"server-timing"} <= set(headers["access-control-expose-headers"].split(", "))
    status, headers, _ = server.request("POST", "/predict", {"inputs": "a"}, {"origin": "https://a.example"})
    assert status == 401 and headers["access-control-allow-origin"] == "https://a.example"
    for origin in ("https://b.example", "http://a.example", "https://a.example.org", "null"):
        for status, headers, _ in (
            server.request("POST", "/predict", {"inputs": "a"}, key | {"origin": origin}),
            server.request("OPTIONS", "/predict", headers=ask | {"origin": origin}),
        ):
            assert status == 403 and "access-control-allow-origin" not in headers
    everyone = serve("-m", models["labels"], "--cors-allow-origin", "*")
    assert (
        everyone.request("POST", "/predict", {"inputs": "a"}, {"origin": "https://b.example"})[1][
            "access-control-allow-origin"
        ]
        == "*"
    )


def test_a_model_of_the_hub_has_two_names(serve, models, tmp_path):
    """Its own last part and ORG/NAME, whose slash the clients that generators make write as %2F."""
    folder = tmp_path / "models--org--name"
    (folder / "refs").mkdir(parents=True)
    (folder / "refs/main").write_text(COMMIT)
    shutil.copytree(models["labels"], folder / "snapshots" / COMMIT)
    server = serve(
        "--admin", "-m", "org/name@main", "-m", f"other={models['many']}", environment={"HF_HUB_CACHE": str(tmp_path)}
    )
    asked = {"inputs": "a fine film"}
    expected = server.post("/models/name", asked)
    assert expected != server.post("/models/other", asked)
    for path in (
        "/models/org/name",
        "/models/org%2Fname",
        "/models/org%2fname",
        "/models/org%2Fname/pipeline/text-classification",
    ):
        assert server.post(path, asked) == expected
    assert server.post("/predict", asked, x_model="org/name") == server.post("/predict", asked, x_model="name")
    later = COMMIT[::-1]
    shutil.copytree(models["nli"], folder / "snapshots" / later)
    (folder / "refs/main").write_text(later)
    status, answer = server.refused("/admin/models/org/name/reload", {})
    assert status >= 400 and "labels" in answer["error"]  # another model's: it was looked for anew
    shutil.rmtree(folder / "snapshots" / later)
    shutil.copytree(models["labels"], folder / "snapshots" / later)
    server.post("/admin/models/org/name/reload", {})
    assert {one["path"] for one in json.loads(server.request("GET", "/admin/models")[2])["models"]} >= {
        str(folder / "snapshots" / later)
    }
    for path in ("/models/else/name", "/models/org%252Fname", "/models/org%2Fname%2F", "/models/%2E%2E%2Fname"):
        assert server.refused(path, asked)[0] == 404
