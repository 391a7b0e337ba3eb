"""The clients that people have, against the running server; their answers are the program's."""

import importlib.util
import json
import os
import pathlib
import subprocess
import sys

import huggingface_hub
import numpy
import pytest

from conftest import installed

TEXT = "a gorgeous , witty , seductive movie ."
TEXTS = ["a fine film", "one that I would never see again", "so so"]


def test_openai(server):
    import openai

    client = openai.OpenAI(base_url=f"{server.url}/v1", api_key="none", max_retries=0)
    expected = server.post("/embed", {"inputs": TEXTS}, x_model="labels")
    for more in ({}, {"encoding_format": "float"}, {"encoding_format": "base64"}):
        answer = client.embeddings.create(model="labels", input=TEXTS, **more)
        if more.get("encoding_format") != "base64":
            for ours, theirs in zip(expected, answer.data):
                assert theirs.embedding == pytest.approx(ours, rel=1e-6)
        assert answer.usage.total_tokens > 0 and answer.model == "labels"
    assert {model.id for model in client.models.list()} >= {"labels", "nli"}
    with pytest.raises(openai.UnprocessableEntityError, match="expected at most 16"):
        client.embeddings.create(model="labels", input="a", dimensions=100)
    with pytest.raises(openai.NotFoundError, match="no model"):
        client.embeddings.create(model="none", input="a")


def test_cohere(server):
    import cohere

    expected = [
        (r["index"], r["score"])
        for r in server.post("/rerank", {"query": "which film", "texts": TEXTS}, x_model="score")
    ]
    for client in (
        cohere.Client(api_key="none", base_url=server.url),
        cohere.ClientV2(api_key="none", base_url=server.url),
    ):
        answer = client.rerank(model="score", query="which film", documents=TEXTS)
        assert [(r.index, r.relevance_score) for r in answer.results] == expected
        assert len(client.rerank(model="score", query="which film", documents=TEXTS, top_n=1).results) == 1


# Its client alone: the package wants torch, and this file does not.
GLINER = ["--no-deps", "gliner==0.2.29"]


def test_gliner(serve, server, models):
    """It names no model, so that the server has one, or the client the base URL of one."""
    file = pathlib.Path(installed(GLINER)) / "gliner/serve/client.py"
    found = importlib.util.spec_from_file_location("gliner_client", file)
    module = importlib.util.module_from_spec(found)
    found.loader.exec_module(module)
    labels = ["film", "person"]
    below = module.GLiNERClient(base_url=f"{server.url}/models/extractor", timeout=600)
    server = serve("-m", models["extractor"])
    client = module.GLiNERClient(base_url=server.url, timeout=600)
    assert below.predict(TEXT, labels=labels, threshold=0) == client.predict(TEXT, labels=labels, threshold=0) != []
    for more in ({}, {"threshold": 0}, {"threshold": 0, "flat_ner": False}, {"threshold": 0, "multi_label": True}):
        expected = server.post("/gliner", {"text": TEXT, "labels": labels} | more)
        assert client.predict(TEXT, labels=labels, **more) == expected
    by_text = [["film"], {"a thing": "what one sees"}, ["person"]]
    expected = server.post("/gliner", {"texts": TEXTS, "labels": by_text, "threshold": 0})
    assert client.predict(TEXTS, labels=by_text, threshold=0) == expected
    with pytest.raises(module.GLiNERClientError, match="422"):
        client.predict(TEXT, labels=labels, threshold=2)


HUB, FRAMEWORKS = (pathlib.Path(__file__).with_name(f"ask_{name}.py") for name in ("hub", "frameworks"))
# What does not go with the other tests' packages, in a folder of its own: a huggingface_hub that reads one answer in
# another form (transformers 4.57 wants an older one), and the clients that want it.
NEWER = ["huggingface_hub==2.4.0"]
# langchain-huggingface takes no URL from 1.2.2 on.
OF_FRAMEWORKS = [
    "huggingface_hub==1.4.0",
    "litellm==1.110.2",
    "llama-index-postprocessor-tei-rerank==0.6.0",
    "llama-index-embeddings-text-embeddings-inference==0.6.0",
    "haystack-ai==3.4.1",
    "huggingface-api-haystack==3.1.0",
    "langchain-huggingface==1.2.1",
    "langchain-openai==1.7.4",
    "langchain-cohere==0.6.0",
]


@pytest.fixture(scope="session")
def newer_clients():
    return installed(NEWER)


def ask(script, path, *words):
    """What a script prints whose packages are first those of the folder `path`."""
    asked = subprocess.run(
        [sys.executable, script, *words], capture_output=True, text=True, env=os.environ | {"PYTHONPATH": path}
    )
    assert asked.returncode == 0, asked.stderr
    return json.loads(asked.stdout)


@pytest.mark.skipif(
    os.environ.get("DEBERTA_LONG") != "1", reason="installs 200 packages: tools/long_checks clients runs it"
)
def test_frameworks_reach_either_of_two_models(serve, models):
    server = serve("-m", models["labels"], "-m", models["score"], "--default-model", "score")
    words = server.url, "score", "labels", "which film", json.dumps(TEXTS)
    answers = ask(FRAMEWORKS, installed(OF_FRAMEWORKS), *words)
    ranked = server.post("/rerank", {"query": "which film", "texts": TEXTS}, x_model="score")
    expected = [[one["index"], one["score"]] for one in ranked[:2]]
    assert answers["ranked"] == dict.fromkeys(answers["ranked"], expected) and len(answers["ranked"]) == 8
    vectors = server.post("/embed", {"inputs": TEXTS}, x_model="labels")
    plain = server.post("/embed", {"inputs": TEXTS, "normalize": False}, x_model="labels")
    assert len(answers["vectors"]) == 8
    for name, theirs in answers["vectors"].items():
        ours = plain if name == "haystack" else vectors  # it asks for vectors of any length
        assert numpy.abs(numpy.subtract(theirs, ours)).max() < 1e-7, name  # some print floats with more digits


@pytest.mark.parametrize("is_newer", [False, True])
def test_huggingface_hub(server, newer_clients, is_newer):
    question = {"question": "Who wrote it?", "context": "Mary Shelley wrote it in 1818 ."}
    answers = ask(HUB, newer_clients if is_newer else "", server.url, TEXT, json.dumps(question), json.dumps(TEXTS))
    assert answers.pop("version") == ("2.4.0" if is_newer else huggingface_hub.__version__)
    candidates = {"inputs": TEXT, "parameters": {"candidate_labels": ["sports", "films"]}}
    assert answers == {
        "text_classification": server.post("/models/labels", {"inputs": TEXT})[0],
        "token_classification": server.post("/models/token", {"inputs": TEXT}),
        "question_answering": server.post("/models/span", {"inputs": question}),
        "three_answers": server.post("/models/span", {"inputs": question, "parameters": {"top_k": 3}}),
        "fill_mask": server.post("/models/words", {"inputs": "a [MASK] film"}),
        "zero_shot_classification": server.post("/models/nli/pipeline/zero-shot-classification", candidates),
        "feature_extraction": pytest.approx(server.post("/embed", {"inputs": TEXT}, x_model="labels")[0], rel=1e-6),
        "sentence_similarity": server.post(
            "/similarity", {"inputs": {"source_sentence": TEXT, "sentences": TEXTS}}, x_model="labels"
        ),
    }
