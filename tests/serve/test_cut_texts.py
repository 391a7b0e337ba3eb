"""Texts that are too long: told where they are cut, refused where the client's family refuses them, read in windows on
request."""

import json

import numpy
import pytest

from conftest import PATIENT, start_failure
from models import make_model, read_safetensors, write_safetensors

LONG = "word " * 3000
PLAIN = "a fine film"


@pytest.fixture(scope="module")
def lenient(serve, models):
    return serve(
        "--truncate",
        "right",
        *(word for name, folder in models.items() for word in ("-m", f"{name}={folder}")),
        *PATIENT,
    )


def metric(server, name, model):
    return float(
        next(
            (
                line.rsplit(" ", 1)[1]
                for line in server.request("GET", "/metrics")[2].splitlines()
                if line.startswith(f'deberta_{name}{{model="{model}"}}')
            ),
            0,
        )
    )


CUTS = [
    ("/models/labels/pipeline/text-classification", {"inputs": [PLAIN, LONG]}, "labels"),
    (
        "/models/nli/pipeline/zero-shot-classification",
        {"inputs": LONG, "parameters": {"candidate_labels": ["a"]}},
        "nli",
    ),
    ("/v1/rerank", {"query": "a", "documents": [PLAIN, LONG]}, "score"),
    ("/models/labels/pipeline/feature-extraction", {"inputs": LONG}, "labels"),
    ("/models/replaced", {"inputs": LONG}, "replaced"),
    (
        "/v2/models/labels/infer",
        {"inputs": [{"name": "text", "datatype": "BYTES", "shape": [2], "data": [PLAIN, LONG]}]},
        "labels",
    ),
]


@pytest.mark.parametrize("path, body, model", CUTS)
def test_a_text_that_is_cut_says_so(server, path, body, model):
    inputs, tokens = metric(server, "truncated_inputs_total", model), metric(server, "truncated_tokens_total", model)
    status, headers, _ = server.request("POST", path, body, {"x-model": model})
    assert status == 200 and headers["x-truncated-inputs"] == "1" and int(headers["x-truncated-tokens"]) > 2000
    assert metric(server, "truncated_inputs_total", model) == inputs + 1
    assert metric(server, "truncated_tokens_total", model) == tokens + int(headers["x-truncated-tokens"])


def test_the_log_says_so(serve, models):
    server = serve("-m", models["labels"], "--log-format", "json")
    server.post("/predict", {"inputs": LONG, "truncate": True})
    server.post("/predict", {"inputs": PLAIN})
    assert server.stop() == 0
    lines = [json.loads(line) for line in open(server.log)]
    cut, whole = (line for line in lines if line.get("route") == "/predict")
    assert cut["truncated_inputs"] == 1 and cut["truncated_tokens"] > 2000 and "truncated_inputs" not in whole


REFUSES = [
    ("/predict", {"inputs": LONG}, "labels", "/inputs"),
    ("/rerank", {"query": "a", "texts": [PLAIN, LONG]}, "score", "/texts/1"),
    ("/embed", {"inputs": [PLAIN, LONG]}, "labels", "/inputs/1"),
    ("/embed_all", {"inputs": LONG}, "labels", "/inputs"),
    ("/similarity", {"inputs": {"source_sentence": "a", "sentences": [LONG]}}, "labels", "/inputs/sentences/0"),
    ("/", {"inputs": LONG}, "labels", "/inputs"),
    ("/v1/embeddings", {"input": [PLAIN, LONG]}, "labels", "/input/1"),
]


@pytest.mark.parametrize("path, body, model, field", REFUSES)
def test_families_that_refuse_long_texts_do_so_here(server, lenient, path, body, model, field):
    status, answer = server.refused(path, body, x_model=model)
    assert status == 422 and "expected at most 512 tokens" in json.dumps(answer) and field in json.dumps(answer)
    told = server.request("POST", path, body | {"truncate": True}, {"x-model": model})
    old = lenient.request("POST", path, body, {"x-model": model})
    assert told[0] == old[0] == 200
    assert json.loads(told[2]) == json.loads(old[2])
    assert old[1]["x-truncated-inputs"] == "1"
    status, headers, _ = server.request(
        "POST", path, json.loads(json.dumps(body).replace(LONG, PLAIN)), {"x-model": model}
    )
    assert status == 200 and "x-truncated-inputs" not in headers


def test_a_text_may_be_as_long_as_in_other_verbs(serve, tmp_path):
    """A length that the folder states, unless its table of positions is shorter: then the usual one."""
    stated, table = (
        make_model(tmp_path / "stated", "sequence"),
        make_model(tmp_path / "table", "sequence", position_biased_input=True, max_position_embeddings=600),
    )
    tensors = read_safetensors(table / "model.safetensors")
    write_safetensors(
        table / "model.safetensors",
        tensors | {"deberta.embeddings.position_embeddings.weight": numpy.zeros((600, 16), numpy.float32)},
    )
    for folder in stated, table:
        (folder / "tokenizer_config.json").write_text('{"model_max_length": 1000}')
    server = serve("-m", f"stated={stated}", "-m", f"table={table}")
    for model, most in ("stated", 1000), ("table", 512):
        status, answer = server.refused("/predict", {"inputs": LONG}, x_model=model)
        assert status == 422 and f"expected at most {most} tokens" in json.dumps(answer)


def test_windows_on_request(server, deberta, models):
    text = "good " * 1000 + "bad " * 100
    ask = {"inputs": [[text], [PLAIN]]}
    mean = server.post("/predict", ask | {"window_scores": "mean"}, x_model="labels")
    assert [mean[0][0]["label"]] == [
        deberta("classify", "-m", models["labels"], "--truncate", "window", text)[0]["label"]
    ]
    assert mean[0][0]["score"] == pytest.approx(
        deberta("classify", "-m", models["labels"], "--truncate", "window", text)[0]["score"], abs=1e-6
    )
    label = mean[0][0]["label"]
    worst = server.post("/predict", ask | {"window_scores": "max", "benign_labels": [label]}, x_model="labels")
    each = server.post("/predict", ask | {"window_scores": "each"}, x_model="labels")
    assert len(each[0]) > 2 and each[0][0]["start"] == 0 and each[0][-1]["end"] == len(text) - 1 and len(each[1]) == 1
    assert all(a["end"] > b["start"] for a, b in zip(each[0], each[0][1:]))  # they overlap
    scores = [{one["label"]: one["score"] for one in window["labels"]} for window in each[0]]
    highest = max(scores, key=lambda found: max(score for name, score in found.items() if name != label))
    assert {one["label"]: one["score"] for one in worst[0]} == pytest.approx(highest, abs=1e-6)
    hub = server.post("/models/labels", {"inputs": text, "parameters": {"window_scores": "each"}})
    assert [[one["start"], one["end"]] for one in hub[0]] == [[one["start"], one["end"]] for one in each[0]]
    cli = deberta(
        "classify",
        "-m",
        models["labels"],
        "--truncate",
        "window",
        "--window-scores",
        "max",
        "--benign-label",
        label,
        text,
    )[0]
    assert cli["score"] == pytest.approx(worst[0][0]["score"], abs=1e-6) and cli["label"] == worst[0][0]["label"]


def test_windows_of_a_pair(server, deberta, models):
    """Of the longer text, beside the whole of the shorter; what must be seen may stand at the very end of either."""
    long, label = (
        "good " * 1500 + "bad " * 50,
        server.post("/predict", {"inputs": "good"}, x_model="labels")[0]["label"],
    )
    for pair in ([PLAIN, long], [long, PLAIN]):
        worst = server.post(
            "/predict", {"inputs": [pair], "window_scores": "max", "benign_labels": [label]}, x_model="labels"
        )[0][0]
        cli = deberta(
            "classify",
            "-m",
            models["labels"],
            "--pair",
            "--truncate",
            "window",
            "--window-scores",
            "max",
            "--benign-label",
            label,
            *pair,
        )[0]
        assert (cli["label"], cli["score"]) == (worst["label"], pytest.approx(worst["score"], abs=1e-6))
    for body, said in (
        ({"inputs": [[PLAIN, long]], "window_scores": "each"}, "expected one text"),
        ({"inputs": [[long, long]], "window_scores": "max", "benign_labels": [label]}, "in the shorter text"),
    ):
        status, answer = server.refused("/predict", body, x_model="labels")
        assert status in (413, 422) and said in answer["error"], answer


def test_what_windows_need(server):
    for body, field in (
        ({"window_scores": "max"}, "/benign_labels"),
        ({"window_scores": "max", "benign_labels": ["no such"]}, "/benign_labels"),
        ({"benign_labels": ["a"]}, "/benign_labels"),
        ({"stride": 3}, "/stride"),
        ({"window_scores": "sum"}, "/window_scores"),
    ):
        status, answer = server.refused("/predict", {"inputs": "a"} | body, x_model="labels")
        assert status == 422 and answer.get("field", "/inputs") == field, (body, answer)


def test_windows_by_the_server_for_clients_that_have_no_field_for_them(serve, deberta, models):
    """On every route of labels; what a request says of long texts comes first."""
    text = "good " * 1000 + "bad " * 100
    label = deberta("classify", "-m", models["labels"], PLAIN)[0]["label"]
    worst = ["--window-scores", "max", "--benign-label", label]
    labels = ["-m", f"labels={models['labels']}"]
    server = serve(*labels, *worst, *PATIENT)
    expected = deberta("classify", "-m", models["labels"], "--truncate", "window", *worst, text)[0]

    def best(answer):
        return max(answer, key=lambda one: one["score"])

    scored = server.post("/classify", {"input": text})["data"][0]
    for answer in (
        best(server.post("/predict", {"inputs": text})),
        best(server.post("/models/labels", {"inputs": text})[0]),
        best(server.post("/classify", {"input": text, "raw_scores": False})["data"][0]),
        {"label": scored["label"], "score": max(scored["probs"])},
    ):
        assert (answer["label"], answer["score"]) == (expected["label"], pytest.approx(expected["score"], abs=1e-6))
    cut = deberta("classify", "-m", models["labels"], text)[0]["score"]
    assert cut != pytest.approx(expected["score"], abs=1e-6)
    for path, body in (
        ("/predict", {"inputs": text, "truncate": True}),
        ("/models/labels", {"inputs": text, "parameters": {"truncate": True}}),
        ("/classify", {"input": text, "truncate_prompt_tokens": -1}),
    ):
        status, headers, _ = server.request("POST", path, body)
        assert (status, headers["x-truncated-inputs"]) == (200, "1"), (path, body)
    assert server.refused("/predict", {"inputs": text, "truncate": False})[0] in (413, 422)
    mean = best(server.post("/predict", {"inputs": text, "window_scores": "mean"}))["score"]
    assert mean == best(serve(*labels, "--window-scores", "mean").post("/predict", {"inputs": text}))["score"]
    assert mean != pytest.approx(expected["score"], abs=1e-6)


def test_windows_that_no_model_of_the_server_can_have(models):
    labels = ["-m", f"labels={models['labels']}"]
    for words, expected in (
        (["--benign-label", "a"], "--benign-label: expected the windows to be searched for other labels as well; set "),
        (["--window-scores", "mean", "--benign-label", "a"], "; set --window-scores max\n"),
        (["--window-scores", "max"], "--benign-label: labels: expected the classes that are benign, and others, of "),
        (["--window-scores", "max", "--benign-label", "no such"], "--benign-label: labels: expected a class of the "),
        (["--window-scores", "each"], '--window-scores: expected off, mean, max, got "each"'),
    ):
        status, said = start_failure(*labels, *words)
        assert status == 2 and expected in said, (words, said)


def test_offsets_in_units_of_utf_16(server):
    """As JavaScript counts: what stands at the offsets is the same text."""
    text = "🙂🙂 Ada lived in 𝔏ondon with Bob ."
    units = text.encode("utf-16-le")
    plain = server.post("/models/token", {"inputs": text})
    wide = server.post("/models/token", {"inputs": text, "parameters": {"offsets": "utf16"}})
    raw = server.post("/models/token", {"inputs": text, "parameters": {"offsets": "bytes"}})
    assert plain and len(plain) == len(wide) == len(raw) and any(a["start"] != b["start"] for a, b in zip(plain, wide))
    for a, b, c in zip(plain, wide, raw):
        assert (
            text[a["start"] : a["end"]]
            == units[2 * b["start"] : 2 * b["end"]].decode("utf-16-le")
            == text.encode()[c["start"] : c["end"]].decode()
        )
    tokens = server.post("/tokenize", {"inputs": text, "offsets": "utf16"}, x_model="labels")[0]
    assert all(
        units[2 * one["start"] : 2 * one["stop"]].decode("utf-16-le") == one["text"]
        for one in tokens
        if not one["special"]
    )
    asked = {"inputs": {"question": "who", "context": text}}
    a, b = (server.post("/models/span", asked | {"parameters": {"offsets": unit}}) for unit in ("chars", "utf16"))
    assert text[a["start"] : a["end"]] == units[2 * b["start"] : 2 * b["end"]].decode("utf-16-le")
    assert (
        server.refused("/models/token", {"inputs": text, "parameters": {"offsets": "utf8"}})[1]["field"]
        == "/parameters/offsets"
    )


def test_ids_of_another_tokenizer_are_refused(server):
    ids = [one["id"] for one in server.post("/tokenize", {"inputs": PLAIN}, x_model="labels")[0]]
    vector = server.post("/v1/embeddings", {"input": PLAIN, "model": "labels"})["data"][0]["embedding"]
    assert server.post("/v1/embeddings", {"input": ids, "model": "labels"})["data"][0]["embedding"] == pytest.approx(
        vector
    )
    assert server.post("/v1/embeddings", {"input": [ids, ids], "model": "labels"})["data"][1][
        "embedding"
    ] == pytest.approx(vector)
    status, answer = server.refused("/v1/embeddings", {"input": ids[1:], "model": "labels"})
    assert status == 422 and "another tokenizer" in answer["error"]["message"] and answer["error"]["param"] == "/input"
    status, answer = server.refused("/v1/embeddings", {"input": [ids, ids[1:]], "model": "labels"})
    assert status == 422 and answer["error"]["param"] == "/input/1"
    tensor = {"name": "input_ids", "datatype": "INT64", "shape": [1, len(ids)], "data": ids}
    assert server.post("/v2/models/labels/infer", {"inputs": [tensor]})
    assert (
        server.refused("/v2/models/labels/infer", {"inputs": [tensor | {"shape": [1, len(ids) - 1], "data": ids[1:]}]})[
            0
        ]
        == 422
    )
    # one text, however many ids
    assert len(server.post("/v1/embeddings", {"input": [ids[0], *[5] * 300, ids[-1]], "model": "labels"})["data"]) == 1
