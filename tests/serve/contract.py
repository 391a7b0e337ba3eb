"""The OpenAPI document as a judge: every response of the whole run of tests is held against it."""

import functools
import json
import os
import pathlib
import re
import subprocess

import jsonschema
import referencing

BINARY = os.environ.get("DEBERTA_BINARY", str(pathlib.Path(__file__).resolve().parents[2] / "build/dev/deberta"))


def clean_environment():
    return {k: v for k, v in os.environ.items() if not k.startswith("DEBERTA_")}


PRINTED = subprocess.run([BINARY, "serve", "--openapi"], stdout=subprocess.PIPE, env=clean_environment(), check=True)
DOCUMENT = json.loads(PRINTED.stdout)
SEEN = set()  # (method, path of the document, status)
REGISTRY = referencing.Registry().with_resource(
    "urn:doc", referencing.Resource(DOCUMENT, referencing.jsonschema.DRAFT202012)
)


def operations():
    """(method, path) of each."""
    return [(method.upper(), path) for path, methods in DOCUMENT["paths"].items() for method in methods]


@functools.cache
def pattern(path):
    one = "[A-Za-z0-9._-]+"
    return re.compile(
        "".join(
            f"{one}(?:/{one})?" if part == "{model}" else one if part.startswith("{") else re.escape(part)
            for part in re.split(r"(\{\w+\})", path)
        )
    )


def operation_of(method, target):
    """The document's path for a request; None where it has none: an unknown path, or a method that the path has not."""
    path = re.sub("%2F", "/", target.split("?")[0], flags=re.IGNORECASE)
    found = [
        name
        for name, methods in DOCUMENT["paths"].items()
        if method.lower() in methods and pattern(name).fullmatch(path)
    ]
    return max(found, key=lambda name: (-name.count("{"), len(name)), default=None)


@functools.cache
def validators(method, path, status):
    """{media type: validator of the body}"""
    response = DOCUMENT["paths"][path][method.lower()]["responses"].get(str(status))
    assert response is not None, f"{method} {path} answers {status}, which the document does not know"
    response = (
        DOCUMENT["components"]["responses"][response["$ref"].rsplit("/", 1)[1]] if "$ref" in response else response
    )
    made = {}
    for media, content in response["content"].items():
        name = re.sub(r"[^A-Za-z0-9]+", "-", f"{method} {path} {status} {media}")
        schema = json.loads(json.dumps(content["schema"]).replace('"#/components', '"urn:doc#/components'))
        made[media] = jsonschema.Draft202012Validator(schema | {"$id": f"urn:{name}"}, registry=REGISTRY)
    return made


def check(method, target, status, headers, body):
    """Fails unless the document says so. `headers` in lower case, `body` bytes."""
    path = operation_of(method, target)
    if path is None:
        assert status >= 400, f"{method} {target} answers {status}, and is not in the document"
        return
    judges = validators(method, path, status)
    SEEN.add((method, path, status))
    media = headers["content-type"].split(";")[0]
    if media == "application/octet-stream" and "inference-header-content-length" in headers:
        body, media = body[: int(headers["inference-header-content-length"])], "application/json"
    assert media in judges, f"{method} {target} answers {status} as {media}, expected {', '.join(judges)}"
    judges[media].validate(json.loads(body) if media == "application/json" else body.decode("latin-1"))
