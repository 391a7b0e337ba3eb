"""Faults that other servers of such models have, or had: each is a test here, or elsewhere as said in
docs/reference/server.md."""

import json
import os
import re
import shutil
import socket
import subprocess

import numpy
import pytest

import contract
from conftest import BINARY, PATIENT, SANITIZED, SECONDS, clean_environment, resident
from models import make_model, read_safetensors, write_safetensors

TEXT = "a fine film"


def model_with_logits(source, folder, logits, **settings):
    """A copy of a model that answers every text with these logits."""
    shutil.copytree(source, folder)
    tensors = {name: array.copy() for name, array in read_safetensors(folder / "model.safetensors").items()}
    tensors["classifier.weight"] = numpy.zeros((len(logits), tensors["classifier.weight"].shape[1]), numpy.float32)
    tensors["classifier.bias"] = numpy.array(logits, numpy.float32)
    write_safetensors(folder / "model.safetensors", tensors)
    config = json.loads((folder / "config.json").read_text())
    config["id2label"] = {str(i): f"l{i}" for i in range(len(logits))}
    (folder / "config.json").write_text(json.dumps(config | settings))
    return folder


# text-embeddings-inference, infinity and vLLM give models of several labels a softmax; some ignore raw_scores; one
# subtracts the largest magnitude.
LOGITS = [(0.5, -1.25, 2.0), (-60.0, 40.0, -60.0), (88.0, -104.0, 0.0), (-3.0, -3.0, -3.0), (1000.0, 999.0, -1000.0)]


def test_scores_follow_the_problem_type_and_raw_scores(serve, models, tmp_path):
    kinds = {"": None, "single": "single_label_classification", "many": "multi_label_classification"}
    places = {
        f"{kind or 'none'}{i}": (
            model_with_logits(
                models["labels"], tmp_path / f"{kind}{i}", logits, **({"problem_type": name} if name else {})
            ),
            name,
            logits,
        )
        for kind, name in kinds.items()
        for i, logits in enumerate(LOGITS)
    }
    places["number"] = (
        model_with_logits(models["labels"], tmp_path / "number", (1.75,), problem_type="regression"),
        "regression",
        (1.75,),
    )
    server = serve(*(word for name, (folder, _, _) in places.items() for word in ("-m", f"{name}={folder}")))
    for name, (_, kind, logits) in places.items():
        x = numpy.array(logits, numpy.float64)
        expected = {"multi_label_classification": 1 / (1 + numpy.exp(-numpy.clip(x, -700, 700))), "regression": x}.get(
            kind, numpy.exp(x - x.max()) / numpy.exp(x - x.max()).sum()
        )
        for raw in (False, True):
            answer = {
                one["label"]: one["score"]
                for one in server.post("/predict", {"inputs": TEXT, "raw_scores": raw}, x_model=name)
            }
            wanted = x if raw else expected
            assert answer == pytest.approx({f"l{i}": value for i, value in enumerate(wanted)}, rel=1e-5, abs=1e-30), (
                name,
                raw,
            )


# A token classifier taken for a classifier of texts, and the like: each model answers what its head is for, and refuses
# the rest in words.
ROUTES = {
    "labels": ("/predict", {"inputs": TEXT}),
    "rerank": ("/rerank", {"query": TEXT, "texts": [TEXT]}),
    "vectors": ("/embed", {"inputs": TEXT}),
    "all vectors": ("/embed_all", {"inputs": TEXT}),
    "openai": ("/v1/embeddings", {"input": TEXT}),
    "classes": ("/classify", {"input": TEXT}),
    "pairs": ("/score", {"text_1": TEXT, "text_2": TEXT}),
    "similarity": ("/similarity", {"inputs": {"source_sentence": TEXT, "sentences": [TEXT]}}),
    "pieces": ("/tokenize", {"inputs": TEXT}),
    "gliner": ("/gliner", {"text": TEXT, "labels": ["film"]}),
    "restored": ("/gliner/restore", {"text": TEXT, "map": {}}),
    "nemo": ("/v1/extract", {"text": TEXT, "labels": ["film"]}),
    **{
        task: (f"/models/MODEL/pipeline/{task}", {"inputs": inputs} | more)
        for task, inputs, more in (
            ("text-classification", TEXT, {}),
            ("token-classification", TEXT, {}),
            ("entity-extraction", TEXT, {"parameters": {"candidate_labels": ["film"]}}),
            ("question-answering", {"question": "who?", "context": TEXT}, {}),
            ("fill-mask", "a [MASK] film", {}),
            ("text-scoring", TEXT, {}),
            ("replaced-token-detection", TEXT, {}),
            ("feature-extraction", TEXT, {}),
            ("zero-shot-classification", TEXT, {"parameters": {"candidate_labels": ["a", "b"]}}),
            ("sentence-similarity", {"source_sentence": TEXT, "sentences": [TEXT]}, {}),
            ("text-ranking", {"query": TEXT, "texts": [TEXT]}, {}),
        )
    },
}
# whatever the head
EVERY = {
    "vectors",
    "all vectors",
    "openai",
    "similarity",
    "pieces",
    "restored",
    "feature-extraction",
    "sentence-similarity",
}
LABELS = {"labels", "text-classification", "classes"}
ANSWERED = {
    "labels": LABELS,
    "nli": LABELS | {"zero-shot-classification"},
    "score": LABELS | {"rerank", "text-ranking", "pairs"},
    "many": LABELS,
    "token": {"token-classification"},
    "span": {"question-answering"},
    "words": {"fill-mask", "text-scoring"},
    "replaced": {"replaced-token-detection"},
    "extractor": {"gliner", "nemo", "entity-extraction"},
}


def test_every_head_answers_its_own_routes_and_no_others(server):
    for model, own in ANSWERED.items():
        for name, (path, body) in ROUTES.items():
            status, _, text = server.request("POST", path.replace("MODEL", model), body, {"x-model": model})
            assert status == (200 if name in own | EVERY else 422), (model, name, text)
            assert status == 200 or "head" in text or "entailment" in text or "label" in text, (model, name, text)


# Aliases of routes that skip the check of the key, and figures that everyone may read.
# the pages ask for the key
OPEN = {
    "/health",
    "/ping",
    "/v2/health/live",
    "/v2/health/ready",
    "/docs",
    "/docs/{file}",
    "/openapi.json",
    "/explorer",
    "/explorer/{file}",
}


def test_every_route_wants_a_key_but_those_of_health(serve, models):
    server = serve("--admin", "-m", models["labels"], "--explorer", "on", environment={"DEBERTA_API_KEY": "secret"})
    walked = 0
    for method, path in contract.operations():
        target = re.sub(
            r"\{model\}", "labels", re.sub(r"\{task\}", "fill-mask", re.sub(r"\{file\}", "explorer.js", path))
        )
        for spelled in (target, target + "?a=b"):
            status = server.request(method, spelled, {} if method == "POST" else None)[0]
            assert (status == 401) == (path not in OPEN), (method, spelled, status)
            walked += 1
    assert walked > 60
    for twisted in ("/Predict", "//predict", "/predict/", "/./predict", "/%70redict", "/v2/../metrics"):
        assert server.request("POST", twisted, {"inputs": TEXT})[0] == 401, twisted


def calls(server, count, body):
    """So many requests for an order, one behind the other, eight at a time; a connection is closed after 10,000."""
    for left in range(count, 8000, -8000):
        calls(server, min(left, 8000), body)
    count = (count - 1) % 8000 + 1
    data = json.dumps(body).encode()
    request = (
        b"POST /rerank HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n"
        % len(data)
        + data
    )
    with socket.create_connection(("127.0.0.1", server.port), timeout=SECONDS) as one:
        stream = one.makefile("rb")
        for _ in range(count // 8):
            one.sendall(request * 8)
            for _ in range(8):
                assert stream.readline().startswith(b"HTTP/1.1 200")
                length = 0
                while line := stream.readline().strip():
                    if line.lower().startswith(b"content-length:"):
                        length = int(line.split(b":")[1])
                stream.read(length)


def test_memory_does_not_grow_with_calls(serve, models):
    """RERANK_CALLS; `tools/long_checks serving` makes 400,000, and allows a kilobyte for a thousand."""
    count = int(os.environ.get("RERANK_CALLS", "400" if SANITIZED else "4000"))
    server = serve("-q", "-m", models["score"])
    body = {"query": TEXT, "texts": ["one", "another text", "a third , longer than the others"]}
    calls(server, count // 10 if count > 40000 else count, body)  # what is kept for later is there
    before = resident(server)
    calls(server, count, body)
    # A sanitizer keeps freed memory.
    assert SANITIZED or resident(server) - before < max(1024 * count / 1000, 1 << 20)


def test_a_batch_as_large_as_may_be_is_answered(serve, models):
    """Others end when such a batch comes, and again when it is sent again."""
    server = serve("-m", models["labels"], *PATIENT)
    text = "word " * (60 if SANITIZED else 600)  # longer than may be, where time is not that of a sanitizer
    for _ in range(1 if SANITIZED else 2):
        assert len(server.post("/predict", {"inputs": [[text]] * 256, "truncate": True})) == 256
    assert server.refused("/predict", {"inputs": [[text]] * 257})[0] == 413
    assert SANITIZED or resident(server) < 1 << 30
    assert server.post("/predict", {"inputs": TEXT})


def test_nothing_is_asked_of_other_machines_and_nothing_is_started(models, tmp_path):
    traced = subprocess.Popen(
        [
            "strace",
            "-f",
            "-qq",
            "-e",
            "trace=connect,execve,execveat,fork,vfork,openat,unlink,rename",
            "-o",
            tmp_path / "trace",
            BINARY,
            "serve",
            "-m",
            models["labels"],
            "--port",
            "0",
        ],
        # which would trace too
        stdout=subprocess.PIPE,
        text=True,
        env=clean_environment() | {"ASAN_OPTIONS": "detect_leaks=0"},
    )
    port = int(traced.stdout.readline().split()[0].rsplit(":", 1)[1])
    with socket.create_connection(("127.0.0.1", port), timeout=SECONDS) as one:
        body = b'{"inputs":"a"}'
        one.sendall(
            b"POST /predict HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: %d\r\n\r\n" % len(body)
            + body
        )
        assert one.makefile("rb").read().startswith(b"HTTP/1.1 200")
    subprocess.run(["pkill", "-TERM", "-P", str(traced.pid)], check=True)
    assert traced.wait(60) == 0
    asked = [line.split(" ", 1)[1].strip() for line in (tmp_path / "trace").read_text().splitlines()]
    assert [call for call in asked if re.match(r"(connect|execve|execveat|fork|vfork|unlink|rename)\(", call)][1:] == []
    assert not [call for call in asked if re.search(r"O_WRONLY|O_RDWR|O_CREAT", call) and "/dev/" not in call]


def test_a_model_that_is_not_there_ends_the_start_and_no_code_of_its_folder_runs(models, tmp_path):
    folder = make_model(tmp_path / "model", "sequence", auto_map={"AutoModel": "code.Model"})
    (folder / "code.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w')\n")
    done = subprocess.run([BINARY, "classify", "-m", folder, TEXT], capture_output=True, env=clean_environment())
    assert done.returncode == 0 and not (tmp_path / "ran").exists()
