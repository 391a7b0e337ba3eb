"""A base URL for each model, /models/NAME, for clients that can name none; and models of several names."""

import json
import threading

import numpy
import pytest

import contract
from conftest import start_failure, wait_for

TEXT = "a fine film"
TEXTS = [TEXT, "one that I would never see again", "so so"]
ALIASES = ("labels", "film", "org/film", "text-embedding-3-small")


@pytest.fixture(scope="module")
def named(serve, models):
    """Two models, one of which has several names."""
    return serve("--admin", "-m", f"{','.join(ALIASES)}={models['labels']}", "-m", f"score={models['score']}")


def get(server, path, **headers):
    status, _, text = server.request("GET", path, headers={k.replace("_", "-"): v for k, v in headers.items()})
    assert status == 200, text
    return json.loads(text)


BODIES = {
    "/predict": {"inputs": TEXT},
    "/embed": {"inputs": TEXTS},
    "/embed_all": {"inputs": TEXT},
    "/embeddings": {"input": TEXTS},
    "/v1/embeddings": {"input": TEXTS},
    "/similarity": {"inputs": {"source_sentence": TEXT, "sentences": TEXTS}},
    "/tokenize": {"inputs": TEXT},
    "/decode": {"ids": [1, 20, 2]},
    "/invocations": {"inputs": TEXT},
    "/score": {"text_1": TEXT, "text_2": TEXTS},
    "/v1/score": {"text_1": TEXT, "text_2": TEXTS},
    "/classify": {"input": TEXTS},
    "/rerank": {"query": TEXT, "texts": TEXTS},
    "/v1/rerank": {"query": TEXT, "documents": TEXTS},
    "/v1/reranking": {"query": TEXT, "documents": TEXTS},
    "/v2/rerank": {"query": TEXT, "documents": TEXTS},
    "/gliner": {"text": TEXT, "labels": ["film"]},
    "/gliner/restore": {"text": "[FILM_1]", "map": {"[FILM_1]": TEXT}},
    "/v1/extract": {"text": TEXT, "labels": ["film"]},
}
OF = {"rerank": "score", "reranking": "score", "score": "score", "gliner": "extractor", "extract": "extractor"}


@pytest.mark.parametrize("path", BODIES)
def test_every_route_of_answers_is_below_a_models_base_url(server, path):
    model = OF.get(path.rsplit("/", 1)[1], "labels")

    def asked(path, **headers):
        answer = server.post(path, BODIES[route], **headers)
        if isinstance(answer, dict):
            for name in ("id", "created"):  # of each request
                answer.pop(name, None)
        return answer

    route = path
    assert asked(f"/models/{model}{path}") == asked(path, x_model=model)
    assert server.refused(f"/models/none{path}", BODIES[path])[0] == 404


def test_the_bodies_are_those_of_all_routes():
    below = "/models/{model}/"
    found = {path for method, path in contract.operations() if method == "POST" and path.startswith(below)}
    assert {path.replace("/models/{model}", "") for path in found} - {"/pipeline/{task}"} == set(BODIES)


def test_every_name_finds_the_same_model(named):
    expected = named.post("/predict", {"inputs": TEXT}, x_model="labels")
    for name in ALIASES:
        assert named.post("/predict", {"inputs": TEXT}, x_model=name) == expected
        assert named.post("/predict", {"inputs": TEXT, "model": name}) == expected
        assert named.post(f"/models/{name}/predict", {"inputs": TEXT}) == expected
        assert named.post(f"/models/{name.replace('/', '%2F')}/predict", {"inputs": TEXT}) == expected
        assert get(named, f"/v2/models/{name}")["name"] == "labels"
    status, answer = named.refused("/predict", {"inputs": TEXT}, x_model="none")
    assert status == 404 and "there are labels, film, org/film, text-embedding-3-small, score" in answer["error"]
    # one model under all of them: one queue, one label in the metrics
    metrics = named.request("GET", "/metrics")[2]
    assert 'model="labels"' in metrics and 'model="film"' not in metrics and "org/film" not in metrics


def test_a_path_and_a_body_that_name_two_models(named):
    """What a client must send (openai: `model`) is compared by what it stands for, never ignored."""
    for name in ALIASES:
        assert named.post("/models/labels/v1/embeddings", {"input": TEXT, "model": name})["model"] == "labels"
    assert named.post("/models/film/predict", {"inputs": TEXT, "model": None}, x_model="org/film")
    assert named.post("/models/film/predict", {"inputs": TEXT, "model": ""})
    for other in ("score", "none"):
        status, answer = named.refused("/models/film/v1/embeddings", {"input": TEXT, "model": other})
        assert status == 422 and answer["error"]["param"] == "/model"
        expected = f'/model: expected "film", the model that the path names, or none, got "{other}"'
        assert answer["error"]["message"] == expected
        status, answer = named.refused("/models/film/predict", {"inputs": TEXT}, x_model=other)
        assert status == 422 and answer["error"].startswith('X-Model: expected "film"') and "field" not in answer
        status, answer = named.refused("/v2/models/labels/infer", {}, x_model=other)
        assert status == 422 and "X-Model" in answer["error"]
    assert named.refused("/models/none/predict", {"inputs": TEXT, "model": "labels"})[0] == 404


def test_what_a_model_says_of_itself(named):
    about = get(named, "/models/org/film/info")
    assert about["model_id"] == "labels" and [one["name"] for one in about["models"]] == ["labels"]
    assert about["models"][0]["aliases"] == list(ALIASES[1:])
    assert [one["name"] for one in get(named, "/info")["models"]] == ["labels", "score"]
    assert get(named, "/models/score/info")["model_type"] != about["model_type"]
    assert get(named, "/models/film/health") == get(named, "/models/score/ping") == {"status": "ok"}
    for path in ("/models/none/info", "/models/none/health", "/models/none/v1/models"):
        assert named.refused(path, None, method="GET")[0] == 404
    assert named.refused("/models/film/embed", None, method="GET") == (
        405,
        {"error": "expected POST", "error_type": "Validation", "code": "method"},
    )


def test_names_in_the_list_of_openai(named):
    ids = [one["id"] for one in get(named, "/v1/models")["data"]]
    assert ids == [*ALIASES, "score"]
    assert [one["id"] for one in get(named, "/models/film/v1/models")["data"]] == list(ALIASES)
    for name in ids:  # what the list has can be asked for
        assert get(named, f"/v1/models/{name}") == {"id": name, "object": "model", "created": 0, "owned_by": "deberta"}
    status, answer = named.refused("/v1/models/gpt-4", None, method="GET")
    assert status == 404 and answer["error"]["code"] == "model_not_found"


def test_the_client_of_openai(named):
    import openai

    whole = openai.OpenAI(base_url=f"{named.url}/v1", api_key="none", max_retries=0)
    assert whole.models.retrieve("org/film").id == "org/film"
    with pytest.raises(openai.NotFoundError, match="no model"):
        whole.models.retrieve("gpt-4")
    client = openai.OpenAI(base_url=f"{named.url}/models/film/v1", api_key="none", max_retries=0)
    expected = named.post("/embed", {"inputs": TEXTS}, x_model="labels")
    answer = client.embeddings.create(model="text-embedding-3-small", input=TEXTS)
    for ours, theirs in zip(expected, answer.data, strict=True):
        assert theirs.embedding == pytest.approx(ours, rel=1e-6)
    assert [one.id for one in client.models.list()] == list(ALIASES)
    with pytest.raises(openai.UnprocessableEntityError, match="the model that the path names"):
        client.embeddings.create(model="score", input=TEXT)


def test_requests_that_name_no_model_get_the_default_one(serve, models):
    several = "-m", f"labels={models['labels']}", "-m", f"nli,entails={models['nli']}"
    body = {"inputs": TEXT}
    server = serve(*several)
    assert server.refused("/predict", body)[0] == 404
    server = serve(*several, "--default-model", "entails")
    expected = server.post("/models/nli/predict", body)
    assert server.post("/predict", body) == server.post("/predict", body | {"model": ""}) == expected
    assert server.post("/predict", body, x_model="labels") == server.post("/predict", body | {"model": "labels"})
    assert server.post("/predict", body, x_model="labels") != expected
    assert server.refused("/predict", body | {"model": "none"})[0] == 404


def test_the_client_of_the_hub(named):
    """As langchain and haystack ask for vectors: by a whole URL."""
    import huggingface_hub

    client = huggingface_hub.InferenceClient(model=f"{named.url}/models/film/embed")
    expected = named.post("/embed", {"inputs": TEXTS}, x_model="labels")
    assert numpy.allclose(client.feature_extraction(TEXTS), expected, rtol=1e-6, atol=0)


def test_a_model_below_its_url_comes_and_goes(named):
    assert named.post("/admin/models/film/unload", {}) == {"name": "labels", "state": "closed"}
    for name in ALIASES:
        status, answer = named.refused(f"/models/{name}/predict", {"inputs": TEXT})
        assert status == 404 and "labels is not loaded" in answer["error"]
    assert named.refused("/models/film/health", None, method="GET")[0] == 404
    assert named.refused("/v1/models/film", None, method="GET")[0] == 404
    assert get(named, "/models/score/health") and get(named, "/health")
    assert named.post("/admin/models/org/film/load", {}) == {"name": "labels", "state": "open"}
    assert get(named, "/models/film/health")


def test_keys(serve, models):
    server = serve("-m", f"labels,film={models['labels']}", environment={"DEBERTA_API_KEY": "secret"})
    for method, path in (
        ("POST", "/models/film/predict"),
        ("GET", "/models/film/health"),
        ("GET", "/models/film/info"),
        ("GET", "/models/none/health"),  # whether there is such a model is not said
        ("GET", "/v1/models/film"),
        ("GET", "/v2/models/stats"),
        ("POST", "/v2/repository/index"),
    ):
        assert server.request(method, path, {} if method == "POST" else None)[0] == 401, path
    assert server.post("/models/film/predict", {"inputs": TEXT}, authorization="Bearer secret")
    assert server.request("GET", "/health")[0] == 200


def test_the_metrics_port_has_no_models(serve, models):
    server = serve("-m", models["labels"], "--metrics-port", "0")
    wait_for(lambda: "metrics are at " in open(server.log).read())
    at = open(server.log).read().split("metrics are at ")[1].split("/metrics")[0]
    main, server.port = server.port, int(at.rsplit(":", 1)[1])
    assert server.request("GET", "/health")[0] == 200 and server.request("GET", "/models/labels/health")[0] == 404
    server.port = main
    assert server.request("GET", "/models/labels/health")[0] == 200


def test_limits_of_one_model(serve, models):
    server = serve("-m", f"labels={models['labels']}", "-m", f"nli,full={models['nli']}", "--model-limit", "full=3,64")
    about = {one["name"]: one for one in get(server, "/info")["models"]}
    assert about["nli"]["max_concurrent_requests"] == 3 and about["nli"]["max_queue_tokens"] == 64
    assert about["labels"]["max_concurrent_requests"] == get(server, "/info")["max_concurrent_requests"] == 512
    assert get(server, "/models/nli/info")["max_concurrent_requests"] == 3
    metrics = server.request("GET", "/metrics")[2]
    for line in (
        'deberta_queue_requests_limit{model="nli"} 3',
        'deberta_queue_tokens_limit{model="nli"} 64',
        'deberta_queue_requests_limit{model="labels"} 512',
    ):
        assert line in metrics
    long = {"inputs": [["a fine film"] for _ in range(30)]}
    status, answer = server.refused("/models/full/predict", long)
    assert status == 413 and "expected at most 64 tokens in a request" in answer["error"]
    assert len(server.post("/models/labels/predict", long)) == 30


def test_a_full_model_refuses_while_another_answers(serve, models):
    server = serve("-m", f"labels={models['labels']}", "-m", f"nli={models['nli']}", "--model-limit", "labels=1")
    slow = {"inputs": [["word " * 60] for _ in range(256)]}
    done = threading.Event()

    def keep_busy():
        while not done.is_set():
            server.request("POST", "/models/labels/predict", slow)

    thread = threading.Thread(target=keep_busy)
    thread.start()
    try:
        for _ in range(3):
            while True:  # it may come between two others
                status, headers, text = server.request("POST", "/models/labels/predict", {"inputs": TEXT})
                if status == 429:
                    break
                assert status == 200, text
            assert "the queue is full" in text and int(headers["retry-after"]) >= 1
            assert server.post("/models/nli/predict", {"inputs": TEXT})
    finally:
        done.set()
        thread.join()
    assert server.post("/models/labels/predict", {"inputs": TEXT})


def test_a_path_with_signs_of_names(serve, models, tmp_path):
    """Behind a slash an equals sign or a comma is the path's own."""
    folder = tmp_path / "a,b=c" / "labels"
    folder.parent.mkdir()
    folder.symlink_to(models["labels"])
    assert serve("-m", folder).said.endswith(" serves labels\n")
    assert serve("-m", f"x,y/z={folder}").said.endswith(" serves x\n")


def test_names_and_limits_that_no_server_can_have(models):
    labels, nli = models["labels"], models["nli"]
    for words, expected in (
        (["-m", f"a,b={labels}", "-m", f"b={nli}"], "--model: expected names that differ, got b twice"),
        (["-m", f"a,a={labels}"], "--model: expected names that differ, got a twice"),
        (["-m", f"a,,b={labels}"], '--model: expected a name of letters, digits, dots, dashes and underscores, got ""'),
        (["-m", f"a,o/p/q={labels}"], 'got "o/p/q"'),
        (["-m", f"a,org/embed={labels}"], 'expected a name that stands for its model in every path, got "org/embed"'),
        (["-m", f"stats={labels}"], "/v2/models/stats leads elsewhere"),
        (["-m", f"a={labels}", "--model-limit", "a"], "--model-limit: expected NAME=REQUESTS[,TOKENS], got "),
        (["-m", f"a={labels}", "--model-limit", "a=1,"], "--model-limit: expected NAME=REQUESTS[,TOKENS], got "),
        (["-m", f"a={labels}", "--model-limit", "a=-1"], "--model-limit: expected NAME=REQUESTS[,TOKENS], got "),
        (["-m", f"a={labels}", "--model-limit", "b=1"], "--model-limit: expected the name of a model that is served"),
        (
            ["-m", f"a,b={labels}", "--model-limit", "a=1", "--model-limit", "b=1"],
            "--model-limit: expected one limit for each model",
        ),
        (["-m", f"a={labels}", "--default-model", "b"], "--default-model: expected the name of a model that is served"),
        (["-m", f"a={labels}", "--model-limit", "a=0"], "--model-limit: a: expected 1 to 512, got 0"),
        (["-m", f"a={labels}", "--model-limit", "a=513"], "--model-limit: a: expected 1 to 512, got 513"),
        (["-m", f"a={labels}", "--model-limit", "a=1,0"], "--model-limit: a: expected 1 to 4294967296, got 0"),
    ):
        status, said = start_failure(*words)
        assert status == 2 and expected in said, (words, said)
