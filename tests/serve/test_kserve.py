"""The inference protocol of KServe: Triton's client as it is, and requests by hand. Logits are those of `deberta
forward`, bit for bit."""

import json
import re
import struct
import subprocess
import time

import numpy
import pytest

from conftest import BINARY, clean_environment
from models import read_safetensors, write_safetensors

TEXTS = ["a fine film", "one that I would never see again", "so so"]
IDS = numpy.array([[1, 20, 30, 40, 50, 2], [1, 60, 70, 2, 0, 0]], numpy.int64)
MASK = (IDS != 0).astype(numpy.int64)


@pytest.fixture
def logits(models, tmp_path):
    """logits(model, ids) -> what the program computes, zeros behind the shorter text"""

    def run(model, ids=IDS):
        write_safetensors(
            tmp_path / "in", {"input_ids": ids.astype(numpy.int32), "attention_mask": (ids != 0).astype(numpy.int32)}
        )
        subprocess.run(
            [BINARY, "forward", "-m", models[model], "--ids", tmp_path / "in", "-o", tmp_path / "out"],
            check=True,
            env=clean_environment(),
        )
        found = read_safetensors(tmp_path / "out")["logits"].copy()
        if found.ndim == 3:
            found[ids == 0] = 0
        return found

    return run


@pytest.fixture
def padded_ids(server):
    """padded_ids(texts, model) -> the model's ids, zeros behind shorter texts"""

    def run(texts, model):
        rows = [[token["id"] for token in row] for row in server.post("/tokenize", {"inputs": texts}, x_model=model)]
        return numpy.array([row + [0] * (max(map(len, rows)) - len(row)) for row in rows])

    return run


@pytest.fixture(scope="module")
def triton(server):
    import tritonclient.http

    client = tritonclient.http.InferenceServerClient(server.url.removeprefix("http://"))
    yield client
    client.close()


def tensor(name, values, is_binary):
    import tritonclient.http

    values = numpy.array(values, object) if isinstance(values[0], str) else values
    made = tritonclient.http.InferInput(
        name, values.shape, "BYTES" if values.dtype == object else f"INT{values.itemsize * 8}"
    )
    made.set_data_from_numpy(values, binary_data=is_binary)
    return made


def test_triton_asks_how_the_server_is(triton, server):
    assert triton.is_server_live()
    assert triton.is_server_ready()
    assert triton.is_model_ready("labels")
    assert triton.is_model_ready("labels", "1")
    assert not triton.is_model_ready("none")
    assert triton.get_server_metadata()["extensions"] == ["binary_tensor_data", "statistics"]
    for version in ("", "1"):
        described = triton.get_model_metadata("labels", version)
        assert described["name"] == "labels"
        assert [one["name"] for one in described["outputs"]] == ["logits", "embedding"]
    assert [one["name"] for one in triton.get_model_metadata("token")["inputs"]] == [
        "text",
        "text_pair",
        "input_ids",
        "attention_mask",
        "token_type_ids",
    ]


def test_tritons_client_compresses(triton, logits):
    """Its header counts the bytes of the JSON before they are compressed."""
    import tritonclient.utils

    inputs = [tensor("input_ids", IDS, True), tensor("attention_mask", MASK, True)]
    answer = triton.infer("labels", inputs, request_compression_algorithm="gzip")
    assert numpy.array_equal(answer.as_numpy("logits"), logits("labels"))
    with pytest.raises(tritonclient.utils.InferenceServerException, match="expected one of gzip, zstd and identity"):
        triton.infer("labels", inputs, request_compression_algorithm="deflate")


@pytest.mark.parametrize("is_binary", [True, False])
@pytest.mark.parametrize("model", ["labels", "token", "span", "words", "replaced"])
def test_tritons_client(triton, logits, padded_ids, model, is_binary):
    import tritonclient.http

    # binary is its default
    outputs = None if is_binary else [tritonclient.http.InferRequestedOutput("logits", binary_data=False)]
    answer = triton.infer(
        model,
        [tensor("input_ids", IDS, is_binary), tensor("attention_mask", MASK, is_binary)],
        outputs=outputs,
        request_id="7",
    )
    expected = logits(model)
    found = answer.as_numpy("logits")
    assert found.dtype == numpy.float32 and found.shape == expected.shape and numpy.array_equal(found, expected)
    assert answer.get_response()["id"] == "7" and answer.get_response()["model_version"] == "1"
    answer = triton.infer(model, [tensor("text", TEXTS, is_binary)], model_version="1", outputs=outputs)
    assert numpy.array_equal(answer.as_numpy("logits"), logits(model, padded_ids(TEXTS, model)))


def test_pairs_and_vectors(triton, server):
    import tritonclient.http

    asked = [tritonclient.http.InferRequestedOutput("embedding")]
    found = triton.infer("labels", [tensor("text", TEXTS, True)], outputs=asked).as_numpy("embedding")
    assert numpy.array_equal(
        found, numpy.array(server.post("/embed", {"inputs": TEXTS}, x_model="labels"), numpy.float32)
    )
    pairs = triton.infer("nli", [tensor("text", TEXTS, True), tensor("text_pair", TEXTS[::-1], False)]).as_numpy(
        "logits"
    )
    names = ("contradiction", "neutral", "entailment")
    for row, answer in zip(
        pairs,
        server.post(
            "/predict", {"inputs": list(map(list, zip(TEXTS, TEXTS[::-1]))), "raw_scores": True}, x_model="nli"
        ),
    ):
        assert {name: numpy.float32(value) for name, value in zip(names, row)} == {
            one["label"]: numpy.float32(one["score"]) for one in answer
        }


def test_types_of_tokens_and_ids_of_32_bits(server, triton, models, tmp_path):
    types = numpy.where(numpy.arange(6) > 2, 1, 0) * MASK
    write_safetensors(
        tmp_path / "in", {"input_ids": IDS.astype(numpy.int32), "attention_mask": MASK.astype(numpy.int32)}
    )
    plain = triton.infer(
        "labels", [tensor("input_ids", IDS.astype(numpy.int32), True), tensor("attention_mask", MASK, True)]
    ).as_numpy("logits")
    # nested is as good as flat
    typed = {
        "inputs": [
            {"name": "input_ids", "datatype": "INT64", "shape": [2, 6], "data": IDS.tolist()},
            {"name": "attention_mask", "datatype": "INT64", "shape": [2, 6], "data": MASK.ravel().tolist()},
            {"name": "token_type_ids", "datatype": "INT64", "shape": [2, 6], "data": types.ravel().tolist()},
        ]
    }
    status, _, text = server.request("POST", "/v2/models/labels/infer", typed)
    body = json.loads(text)
    if status == 200:
        assert body["outputs"][0]["shape"] == [2, 3]
    else:  # a model without types
        assert status == 422 and "token_type_ids" in body["error"]
    assert plain.shape == (2, 3)


def test_tritons_statistics(serve, models):
    """Each figure is one that the server counts elsewhere too, or nothing."""
    import tritonclient.http

    server = serve("-m", f"labels,alias={models['labels']}", "-m", models["score"])
    client = tritonclient.http.InferenceServerClient(server.url.removeprefix("http://"))
    (before,) = client.get_inference_statistics("labels")["model_stats"]
    none = {"count": 0, "ns": 0}
    parts = ("success", "fail", "queue", "compute_input", "compute_infer", "compute_output")
    assert before == {
        "name": "labels",
        "version": "1",
        "last_inference": 0,
        "inference_count": 0,
        "execution_count": 0,
        "inference_stats": dict.fromkeys(parts, none),
        "batch_stats": [],
    }
    begun = time.time()
    client.infer("labels", [tensor("text", TEXTS, True)])
    server.post("/predict", {"inputs": "a fine film"}, x_model="alias")  # by any route and any name
    server.post("/tokenize", {"inputs": "a fine film"}, x_model="labels")  # nothing runs
    assert server.refused("/predict", {"inputs": 5}, x_model="labels")[0] == 422
    for name, version in (("labels", ""), ("labels", "1"), ("alias", "")):
        (found,) = client.get_inference_statistics(name, version)["model_stats"]
        assert found["name"] == "labels" and found["inference_count"] == 4
        assert begun - 1 < found["last_inference"] / 1000 < time.time() + 1
        stats = found["inference_stats"]
        assert {part: stats[part]["count"] for part in parts} == dict.fromkeys(parts, 2) | {"fail": 1}
        assert stats["compute_infer"]["ns"] > 0
        assert stats["success"]["ns"] >= stats["queue"]["ns"] + stats["compute_infer"]["ns"]
        sizes = found["batch_stats"]
        assert sum(one["batch_size"] * one["compute_infer"]["count"] for one in sizes) == 4
        assert sum(one["compute_infer"]["count"] for one in sizes) == found["execution_count"]
        assert all(one["compute_input"] == one["compute_output"] == none for one in sizes)
        metrics = server.request("GET", "/metrics")[2]
        assert f'deberta_batches_total{{model="labels"}} {found["execution_count"]}' in metrics
    assert [one["name"] for one in client.get_inference_statistics()["model_stats"]] == ["labels", "score"]
    with pytest.raises(tritonclient.utils.InferenceServerException, match="no model"):
        client.get_inference_statistics("none")
    client.close()


def test_tritons_index(serve, models):
    import tritonclient.http

    server = serve("--admin", "-m", f"labels,alias={models['labels']}", "-m", models["score"])
    client = tritonclient.http.InferenceServerClient(server.url.removeprefix("http://"))
    ready = [{"name": name, "version": "1", "state": "READY", "reason": ""} for name in ("labels", "score")]
    assert client.get_model_repository_index() == ready
    server.post("/admin/models/score/unload", {})
    closed = {"name": "score", "version": "1", "state": "UNAVAILABLE", "reason": "unloaded"}
    assert client.get_model_repository_index() == [ready[0], closed]
    assert server.post("/v2/repository/index", {"ready": False}) == [ready[0], closed]
    assert server.post("/v2/repository/index", {"ready": True}) == [ready[0]]
    assert server.post("/v2/repository/index", b"") == [ready[0], closed]
    for body, status in (([], 422), ({"ready": 1}, 422), ({"redy": True}, 422), (b"{", 400)):
        found, answer = server.refused("/v2/repository/index", body)
        assert found == status and set(answer) == {"error"}
    client.close()


def one(name="text", datatype="BYTES", shape=(1,), data=("a",), **more):
    return {"name": name, "datatype": datatype, "shape": list(shape), "data": list(data), **more}


@pytest.mark.parametrize(
    "body, status, words",
    [
        ({}, 422, "expected a value, got none"),
        ({"inputs": []}, 400, "expected an array of 1 to 8 tensors"),
        ({"inputs": [one(), one()]}, 400, "once at most"),
        ({"inputs": [one(name="texts")]}, 400, "text, text_pair, input_ids"),
        ({"inputs": [one(datatype="FP32")]}, 400, "expected BYTES, INT64 or INT32"),
        ({"inputs": [one(datatype="INT64", data=[1])]}, 400, "text: expected BYTES"),
        ({"inputs": [one(shape=[2])]}, 400, "expected 2 elements, as its shape says, got 1"),
        ({"inputs": [one(shape=[0], data=[])]}, 400, "expected dimensions of 1 to"),
        ({"inputs": [one(shape=[1 << 19, 1 << 19])]}, 400, "expected at most 1048576 elements"),
        ({"inputs": [one(shape=[1, 1, 1])]}, 400, "expected 1 or 2 dimensions"),
        ({"inputs": [one(data=[1])]}, 400, "/inputs/0/data/0: expected a string"),
        ({"inputs": [one("input_ids", "INT64", [1, 2], [1, 2.5])]}, 400, "/inputs/0/data/1: expected an integer"),
        ({"inputs": [one("input_ids", "INT64", [2], [1, 2])]}, 400, r"\[texts, tokens\]"),
        ({"inputs": [one("input_ids", "INT64", [1, 2], [1, -1])]}, 422, "expected 0 to"),
        ({"inputs": [one("input_ids", "INT64", [1, 2], [1, 1 << 40])]}, 422, "expected 0 to"),
        (
            {"inputs": [one("input_ids", "INT64", [1, 2], [1, 2]), one("attention_mask", "INT64", [1, 2], [0, 1])]},
            400,
            "ones and then zeros",
        ),
        (
            {"inputs": [one("input_ids", "INT64", [1, 2], [1, 2]), one("attention_mask", "INT64", [1, 2], [1, 2])]},
            400,
            "ones and then zeros",
        ),
        (
            {"inputs": [one("input_ids", "INT64", [1, 2], [1, 2]), one("attention_mask", "INT64", [2, 1], [1, 1])]},
            400,
            "the shape of input_ids",
        ),
        ({"inputs": [one("attention_mask", "INT64", [1, 2], [1, 1])]}, 400, "either text or input_ids"),
        ({"inputs": [one(), one("input_ids", "INT64", [1, 2], [1, 2])]}, 400, "either text or input_ids"),
        ({"inputs": [one(), one("text_pair", shape=[2], data=["a", "b"])]}, 400, "as many as of text"),
        ({"inputs": [one()], "outputs": [{"name": "classes"}]}, 400, "expected logits or embedding"),
        ({"inputs": [one()], "outputs": [{"name": "logits"}, {"name": "embedding"}]}, 400, "an array of one"),
        ({"inputs": [one(shape=[300], data=["a"] * 300)]}, 413, "expected at most 256"),
        ({"inputs": [one("input_ids", "INT64", [1, 1000], [5] * 1000)]}, 400, "at most 512 tokens"),
        (
            {"inputs": [one(parameters={"binary_data_size": 5})]},
            400,
            "binary_data_size: expected at most the 0 bytes behind the JSON, got 5",
        ),
    ],
)
def test_refusals(server, body, status, words):
    found, answer = server.refused("/v2/models/labels/infer", body)
    assert found == status and set(answer) == {"error"}
    assert re.search(words, answer["error"]), answer


@pytest.mark.parametrize(
    "tail, size, words",
    [
        (struct.pack("<I", 5) + b"four", 8, "expected each text to follow its length in 4 bytes"),
        (b"\1\0", 2, "expected each text to follow its length in 4 bytes"),
        (struct.pack("<I", 4) + b"text", 8, None),
        (struct.pack("<I", 4) + b"textmore", 8, "belong to no tensor"),
    ],
)
def test_bytes_behind_the_json(server, tail, size, words):
    head = json.dumps(
        {"inputs": [{"name": "text", "datatype": "BYTES", "shape": [1], "parameters": {"binary_data_size": size}}]}
    ).encode()
    headers = {"inference-header-content-length": str(len(head)), "content-type": "application/octet-stream"}
    status, _, text = server.request("POST", "/v2/models/labels/infer", head + tail, headers)
    if words is None:
        assert status == 200, text
    else:
        assert status == 400 and words in json.loads(text)["error"]
    for wrong in ("-1", "x", "1e3", str(len(head) + len(tail) + 1)):
        assert (
            server.request(
                "POST", "/v2/models/labels/infer", head + tail, headers | {"inference-header-content-length": wrong}
            )[0]
            == 400
        )
    # Elsewhere the header means nothing.
    assert server.request("POST", "/predict", head + tail, headers)[0] == 415


def test_unknown_models_and_versions(server):
    assert server.refused("/v2/models/none/infer", {"inputs": [one()]})[0] == 404
    assert server.refused("/v2/models/labels/versions/2/infer", {"inputs": [one()]})[0] == 404
    status, answer = server.refused("/v2/models/none", None, method="GET")
    assert status == 404 and set(answer) == {"error"} and "no model" in answer["error"]
