"""Compressed bodies: answered as plain ones, in memory and work that the limits bound, whatever the bytes are."""

import gzip
import json
import random
import zlib
from concurrent.futures import ThreadPoolExecutor

import pytest

from conftest import SANITIZED, wait_for
from test_bounds import held

TEXT = "a fine film"
BLOCK = 1 << 17  # the most that a block of zstd has
BODIES = (
    ("/predict", {"inputs": TEXT}, "labels"),
    ("/rerank", {"query": TEXT, "documents": [TEXT, "so so"]}, "score"),
    ("/v2/models/labels/infer", {"inputs": [{"name": "text", "datatype": "BYTES", "shape": [1], "data": [TEXT]}]}, ""),
    ("/models/words", {"inputs": "a [MASK] film"}, ""),
    ("/v1/embeddings", {"input": TEXT}, "labels"),
)


def zstd(data, bombs=0):
    """A frame of zstd, its blocks as they are; `bombs`: blocks more of one repeated letter."""
    blocks = [(0, data[at : at + BLOCK], len(data[at : at + BLOCK])) for at in range(0, len(data), BLOCK)]
    blocks += [(1, b" ", BLOCK)] * bombs
    frame = b"\x28\xb5\x2f\xfd\x00\x50"  # a window of a megabyte
    for i, (kind, content, size) in enumerate(blocks):
        frame += (size << 3 | kind << 1 | (i + 1 == len(blocks))).to_bytes(3, "little") + content
    return frame


def ask(server, path, body, coding, model="", **headers):
    """(status, body) of a request whose body is the bytes as they are."""
    more = {"content-encoding": coding} | ({"x-model": model} if model else {})
    status, _, text = server.request("POST", path, body, more | {k.replace("_", "-"): v for k, v in headers.items()})
    return status, json.loads(text)


@pytest.mark.parametrize("path, body, model", BODIES)
def test_answers_are_those_of_plain_bodies(server, path, body, model):
    data = json.dumps(body).encode()
    expected = ask(server, path, data, "identity", model)
    assert expected[0] == 200
    for coding, coded in (
        ("gzip", gzip.compress(data)),
        ("GZIP", gzip.compress(data)),
        ("x-gzip", gzip.compress(data[:9]) + gzip.compress(data[9:])),
        ("zstd", zstd(data)),
        ("zstd", zstd(data[:9]) + zstd(data[9:])),
    ):
        assert ask(server, path, coded, coding, model) == expected


def test_every_kind_of_route_takes_them(server, serve, models):
    text = gzip.compress(json.dumps({"text": TEXT}).encode())
    assert ask(server, "/explain/tokens", text, "gzip", "labels")[0] == 200
    level = gzip.compress(b'{"level": "info"}')
    admin = serve("-m", models["labels"], "--admin")
    assert ask(admin, "/admin/loglevel", level, "gzip") == (200, {"level": "info"})
    assert ask(admin, "/admin/models/labels/reload", b"", "gzip")[0] == 200
    assert server.request("GET", "/v1/models", headers={"content-encoding": "br"})[0] == 200  # it has no body


def test_a_large_body_in_few_bytes(server):
    many = json.dumps({"inputs": [["word " * 120] for _ in range(200)]}).encode()
    coded = gzip.compress(many)
    assert len(coded) < 5000 < len(many)
    status, answer = ask(server, "/predict", coded, "gzip", "labels")
    assert status == 200 and len(answer) == 200


def test_the_limit_holds_for_what_is_decompressed(serve, models):
    server = serve("-m", models["labels"], "--max-body", "100000")
    for spaces, status in ((100000, 200), (100001, 413)):
        data = b'{"inputs": "a"}'.ljust(spaces)
        for coding, coded in (("gzip", gzip.compress(data)), ("zstd", zstd(data[:15], 0) + zstd(data[15:]))):
            if len(coded) > 100000:
                continue
            found, answer = ask(server, "/predict", coded, coding)
            assert found == status, answer
            if status == 413:
                assert "expected at most 100000 bytes once it is decompressed" in answer["error"]
                assert answer["code"] == "too_large"
    status, answer = ask(server, "/predict", b'{"inputs": "a"}'.ljust(100001), "identity")
    assert status == 413 and "expected a body of at most 100000 bytes" in answer["error"]


def test_bombs_take_no_more_memory_than_the_limit(serve, models):
    server = serve("-m", models["labels"], "--max-body", "1MiB")
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    gzipped = b"".join(packer.compress(bytes(1 << 20)) for _ in range(256)) + packer.flush()
    bombs = [("gzip", gzipped), ("zstd", zstd(b"{", bombs=200000))]  # 256 MiB, 24 GiB
    assert all(len(bomb) < 1 << 20 for _, bomb in bombs)
    for coding, bomb in bombs:
        assert ask(server, "/predict", bomb, coding)[0] == 413
    before = server.anonymous_kib()
    with ThreadPoolExecutor(8) as executor:
        answers = list(executor.map(lambda one: ask(server, "/predict", one[1], one[0])[0], bombs * 16))
    assert set(answers) <= {413, 429}
    wait_for(lambda: held(server) == 0)
    assert SANITIZED or server.anonymous_kib() - before < 64 << 10
    assert server.post("/predict", {"inputs": TEXT})


def test_the_memory_of_a_body_counts_as_its_clients(serve, models):
    server = serve("-m", models["labels"], "--max-client-bytes", "1MiB", "--max-body", "1MiB")
    data = b'{"inputs": "a"}'.ljust(900000)
    status, answer = ask(server, "/predict", gzip.compress(data), "gzip")
    assert status == 413 and "takes at most 1048576 bytes of memory" in answer["error"]
    assert ask(server, "/predict", gzip.compress(data[:200000]), "gzip")[0] == 200
    wait_for(lambda: held(server) == 0)


def test_streams_that_are_not_whole_are_refused(server):
    data = json.dumps({"inputs": TEXT}).encode()
    for coding, coded in (("gzip", gzip.compress(data)), ("zstd", zstd(data))):
        for size in (1, 5, 15, len(coded) - 1):
            status, answer = ask(server, "/predict", coded[:size], coding, "labels")
            assert (status, answer["code"]) == (400, "bad_request")
            assert answer["error"] == f"body: expected a whole {coding} stream, got only its beginning"
        for wrong in (data, coded + b"behind it"):
            status, answer = ask(server, "/predict", wrong, coding, "labels")
            assert status == 400 and answer["error"].startswith(f"body: damaged {coding} stream: ")
        assert ask(server, "/predict", coded + coded, coding, "labels")[0] == 400  # two bodies are no JSON
    wrong = bytearray(gzip.compress(data))
    wrong[-8] ^= 1  # the checksum
    assert ask(server, "/v1/embeddings", bytes(wrong), "gzip", "labels")[0] == 400


def test_codings_that_are_not_known_are_refused_in_the_words_of_the_client(server):
    for path, body, model in BODIES:
        for coding in ("br", "deflate", "compress", "gzip, gzip", "identity, gzip", "gzip;q=1", "*", "\xff"):
            status, answer = ask(server, path, json.dumps(body).encode(), coding, model)
            assert status == 415 and "expected one of gzip, zstd and identity, got " in json.dumps(answer)


def test_hostile_bytes_behind_a_header(server):
    draw = random.Random(1)
    begins = {"gzip": b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff", "zstd": b"\x28\xb5\x2f\xfd"}
    for i in range(400):
        coding = draw.choice(list(begins))
        if i % 2:
            body = begins[coding] + draw.randbytes(draw.randrange(200))
        else:  # a right one with a few bytes changed
            data = json.dumps({"inputs": TEXT * draw.randrange(1, 50)}).encode()
            changed = bytearray(gzip.compress(data) if coding == "gzip" else zstd(data))
            for _ in range(draw.randrange(1, 4)):
                changed[draw.randrange(len(changed))] = draw.randrange(256)
            body = bytes(changed)
        status, answer = ask(server, "/predict", body, coding, "labels")
        assert status in (200, 400, 413, 422), (body, answer)
    assert server.post("/predict", {"inputs": TEXT}, x_model="labels")


def test_bytes_behind_the_json_are_counted_once_they_are_decompressed(server):
    head = json.dumps(
        {"inputs": [{"name": "text", "datatype": "BYTES", "shape": [1], "parameters": {"binary_data_size": 15}}]}
    ).encode()
    tail = len(TEXT).to_bytes(4, "little") + TEXT.encode()
    length = {"inference_header_content_length": str(len(head)), "content_type": "application/octet-stream"}
    for coding, coded in (("gzip", gzip.compress(head + tail)), ("zstd", zstd(head + tail))):
        assert ask(server, "/v2/models/labels/infer", coded, coding, **length)[0] == 200
        wrong = length | {"inference_header_content_length": str(len(head + tail) + 1)}
        status, answer = ask(server, "/v2/models/labels/infer", coded, coding, **wrong)
        assert status == 400 and f"expected at most {len(head + tail)}, the body's length" in answer["error"]
