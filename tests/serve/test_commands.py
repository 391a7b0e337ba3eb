"""Who may ask and command the server: pages of others, names led to this machine, keys and their scopes."""

import functools
import http.server
import json
import subprocess
import threading

import pytest
from selenium.webdriver.common.by import By
from selenium.webdriver.support.ui import WebDriverWait

from conftest import BINARY, SECONDS, clean_environment

KEY = {"authorization": "Bearer secret"}


@pytest.fixture(scope="module")
def locked(serve, models, tmp_path_factory):
    """A server with two keys, `secret` for everything and `other` for requests and the explorer."""
    import hashlib

    keys = tmp_path_factory.mktemp("keys") / "keys"
    keys.write_text(
        "".join(
            f"{name}:{scopes}:{hashlib.sha256(key.encode()).hexdigest()}\n"
            for name, scopes, key in (
                ("all", "infer,priority,metrics,explain,admin", "secret"),
                ("some", "infer,explain", "other"),
            )
        )
    )
    server = serve("-m", models["labels"], "--admin", "--explorer", "on", "--api-key-file", keys)
    server.keys = keys
    return server


@pytest.fixture
def page_of_others(tmp_path):
    """page_of_others(html) -> the address of a page that another server has."""
    handler = functools.partial(http.server.SimpleHTTPRequestHandler, directory=str(tmp_path))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as other:
        thread = threading.Thread(target=other.serve_forever)
        thread.start()

        def make(html):
            (tmp_path / "page.html").write_text(f"<!doctype html><title>a page</title>{html}")
            return f"http://127.0.0.1:{other.server_port}/page.html"

        yield make
        other.shutdown()
        thread.join()


def states(server):
    return {model["name"]: model["state"] for model in json.loads(server.request("GET", "/admin/models")[2])["models"]}


# ---- names and origins


def test_without_keys_the_server_has_the_names_of_this_machine_alone(server, serve, models):
    routes = [
        ("GET", "/health", None),
        ("GET", "/info", None),
        ("GET", "/metrics", None),
        ("POST", "/models/labels", {"inputs": "a"}),
        ("POST", "/admin/models/labels/unload", {}),
        ("OPTIONS", "/predict", None),
        ("GET", "/explorer", None),
        ("GET", "/none", None),
    ]
    for method, path, body in routes:
        for host in ("evil.example", f"evil.example:{server.port}", "192.0.2.1", "localhost.evil.example"):
            status, headers, text = server.request(method, path, body, {"host": host})
            assert status == 403 and (method == "OPTIONS" or "--allowed-host" in text), (method, path, host, text)
            assert "access-control-allow-origin" not in headers
    for host in ("localhost", f"localhost:{server.port}", f"127.0.0.1:{server.port}", "[::1]", "a.localhost"):
        assert server.request("GET", "/health", headers={"host": host})[0] == 200, host
    named = serve("-m", models["labels"], "--allowed-host", "models.example")
    assert [
        named.request("GET", "/info", headers={"host": host})[0]
        for host in ("models.example:80", "MODELS.example", "other.example")
    ] == [200, 200, 403]


def test_with_keys_the_name_does_not_matter(locked):
    assert locked.request("GET", "/info", headers=KEY | {"host": "models.example"})[0] == 200
    assert locked.request("GET", "/info", headers={"host": "models.example"})[0] == 401


def test_a_body_is_json_and_says_so(server):
    body = json.dumps({"inputs": "a"}).encode()
    own = {"origin": f"http://127.0.0.1:{server.port}"}
    for kind, wanted in (
        ("application/json", 200),
        ("Application/JSON; charset=utf-8", 200),
        ("application/json ;x=y", 200),
        ("text/plain", 415),
        ("text/plain;application/json", 415),
        ("application/jsonp", 415),
        ("multipart/form-data; boundary=json", 415),
        ("application/x-www-form-urlencoded", 415),
    ):
        for more in ({}, own):
            assert server.request("POST", "/models/labels", body, {"content-type": kind} | more)[0] == wanted, kind
    for more, wanted in (("", 200), (f"Origin: {own['origin']}\r\n", 415)):  # without a type
        head = (
            f"POST /models/labels HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\n{more}Connection: close\r\n"
            f"Content-Length: {len(body)}\r\n\r\n"
        )
        assert server.raw(head.encode() + body).startswith(f"HTTP/1.1 {wanted}".encode())


def test_a_page_of_another_origin_commands_nothing(server, driver, page_of_others):
    """In chromium: forms of every encoding, and requests that ask for no answer."""
    target = f"{server.url}/admin/models/labels/unload"
    forms = "".join(
        f'<form method=post enctype={kind} action={target} target=f{i}><input name=\'{{"a":"\' '
        f"value='\"}}'></form><iframe name=f{i}></iframe>"
        for i, kind in enumerate(("text/plain", "application/x-www-form-urlencoded", "multipart/form-data"))
    )
    driver.get(page_of_others(forms))
    driver.execute_script("for (const form of document.forms) form.submit()")
    told = driver.execute_async_script(
        """
      const [target, done] = arguments;
      const ask = (options) => fetch(target, { method: "POST", ...options }).then((r) => r.type, (e) => String(e));
      Promise.all([ask({ mode: "no-cors" }), ask({ mode: "no-cors", body: "{}" }),
                   ask({ mode: "no-cors", body: new Blob(["{}"]) }),
                   ask({ headers: { "content-type": "application/json" }, body: "{}" })]).then(done);""",
        target,
    )
    assert told[:3] == ["opaque"] * 3 and "Failed to fetch" in told[3]
    WebDriverWait(driver, SECONDS).until(
        lambda _: driver.execute_script(
            "return performance.getEntriesByType('resource').filter((e) => e.name.includes('/unload')).length >= 4"
        )
    )
    assert set(states(server).values()) == {"open"}
    assert server.request("POST", "/admin/models/labels/unload", {}, {"origin": "null"})[0] == 403
    driver.get_log("browser")


# ---- keys


def test_a_priority_needs_a_key_that_has_it(server, locked):
    ask = {"inputs": "a"}
    assert server.request("POST", "/models/labels", ask, {"x-priority": "high"})[0] == 403
    assert locked.request("POST", "/predict", ask, {"authorization": "Bearer other", "x-priority": "high"})[0] == 403
    assert locked.request("POST", "/predict", ask, KEY | {"x-priority": "high"})[0] == 200


def test_the_scheme_of_a_key_has_any_case(locked):
    for scheme in ("Bearer", "bearer", "BEARER"):
        assert locked.request("GET", "/info", headers={"authorization": f"{scheme} secret"})[0] == 200


def test_what_one_key_explained_no_other_finds(locked):
    other = {"authorization": "Bearer other"}
    ids = [
        json.loads(locked.request("POST", "/explain/tokens", {"text": "a fine film"}, key)[2])["explain_id"]
        for key in (KEY, KEY, other)
    ]
    assert len(set(ids)) == 3 and all(len(one) == 32 for one in ids) and len({one[:8] for one in ids}) == 3, (
        "drawn, not counted"
    )
    for which in ("heads", "terms", "thumbnails"):
        found = {
            one: [
                locked.request(
                    "GET", f"/explain/{which}?id={one}&layer=1&head=1&term=c2c&dtype=f16&size=4", headers=key
                )[0]
                for key in (KEY, other)
            ]
            for one in ids
        }
        assert list(found.values()) == [[200, 404], [200, 404], [404, 200]], which


def test_keys_are_read_anew(locked):
    import hashlib
    import signal

    whole = locked.keys.read_text()

    def read(text):
        told = open(locked.log).read().count("the keys")
        locked.keys.write_text(text)
        locked.process.send_signal(signal.SIGHUP)
        while open(locked.log).read().count("the keys") == told:
            pass
        return locked.request("GET", "/info", headers=KEY)[0], locked.request(
            "GET", "/info", headers={"authorization": "Bearer third"}
        )[0]

    assert read(f"third:infer:{hashlib.sha256(b'third').hexdigest()}\n") == (401, 200)
    assert read("no key\n") == (401, 200), "what cannot be read changes nothing"
    assert read(whole) == (200, 401)


def test_a_key_is_never_printed():
    for words, environment in ((["--api-key", "hunter2"], {}), ([], {"DEBERTA_API_KEY": "hunter2"})):
        done = subprocess.run(
            [BINARY, "serve", *words, "--port", "9000", "--print-config"],
            capture_output=True,
            text=True,
            env=clean_environment() | environment,
            check=True,
        )
        assert "hunter2" not in done.stdout + done.stderr and json.loads(done.stdout)["serve"] == {"port": 9000}


def shows(selector, words=""):
    """A condition: the first such element has these words, and more than ten characters."""

    def is_there(driver):
        text = next((found.text for found in driver.find_elements(By.CSS_SELECTOR, selector)), "")
        return words in text and len(text) > 10

    return is_there


def test_pages_ask_for_the_key(locked, driver):
    for page, shown in (("explorer", "#view-task"), ("docs", "#routes details")):
        driver.get("about:blank")
        driver.get(f"{locked.url}/{page}#view=task&model=labels&text=a+fine+film")
        driver.execute_script("sessionStorage.clear()")
        driver.refresh()
        wait = WebDriverWait(driver, SECONDS)
        for given, told in (("wrong", "wants a key"), ("secret", "does not know this key")):
            wait.until(shows("dialog p", told))
            driver.find_element(By.ID, "key").send_keys(given + "\n")
        wait.until(shows(shown))
        assert not driver.find_elements(By.CSS_SELECTOR, "dialog") and "secret" not in driver.current_url
    driver.refresh()  # the tab keeps the key
    wait.until(lambda _: driver.find_elements(By.CSS_SELECTOR, "#routes details"))
    driver.get_log("browser")


# ---- what a body may hold


def test_many_keys_are_refused_at_once(server):
    body = {"inputs": "a"} | {f"field{i}": i for i in range(80_000)}
    status, _, text = server.request("POST", "/models/labels", body)
    assert status == 400 and "at most 4096 keys" in text
    status, headers, _ = server.request(
        "POST", "/models/labels", {"inputs": "a"} | {f"field{i}": i for i in range(4000)}
    )
    assert status == 200 and headers["x-ignored-fields"].endswith(", ...")


def test_fields_in_parameters_have_the_rule_of_the_others(server, serve, models):
    def ask(to, path, parameters):
        return to.request("POST", path, {"inputs": "a fine film", "parameters": parameters})

    zero_shot = "/models/nli/pipeline/zero-shot-classification"
    assert ask(server, zero_shot, {"candidate_labels": ["a", "b"], "multi_labels": True})[0] == 422
    assert ask(server, "/models/token", {"aggregation_stratgy": "first"})[0] == 422
    status, headers, _ = ask(server, "/models/token", {"aggregation_strategy": "first", "batch": 3})
    assert status == 200 and headers["x-ignored-fields"] == "parameters.batch"
    status, headers, _ = server.request(
        "POST", "/models/span", {"inputs": {"question": "who?", "context": "Ada", "title": "x"}}
    )
    assert status == 200 and headers["x-ignored-fields"] == "inputs.title"
    strict = serve("-m", models["token"], "--strict-fields")
    status, _, text = ask(strict, "/", {"batch": 3})
    assert status == 422 and "/parameters/batch" in text


def test_labels_to_choose_from_are_never_dropped(server):
    """At a model's own URL they are a question of zero-shot classification; where a model cannot answer it, they are
    refused."""
    labels = {"candidate_labels": ["sports", "art", "politics"]}
    for path in ("/models/nli", "/"):
        found = server.post(path, {"inputs": "a fine film", "parameters": labels}, x_model="nli")
        assert sorted(one["label"] for one in found) == sorted(labels["candidate_labels"]), path
    assert found == server.post(
        "/models/nli/pipeline/zero-shot-classification", {"inputs": "a fine film", "parameters": labels}
    )
    for path, model in (
        ("/models/labels", "labels"),
        ("/models/token", "token"),
        ("/models/words", "words"),
        ("/", "token"),
        ("/models/nli/pipeline/text-classification", "nli"),
    ):
        status, _, text = server.request(
            "POST", path, {"inputs": "a [MASK] film", "parameters": labels}, {"x-model": model}
        )
        assert status == 422, (path, model, text)
    status, _, text = server.request("POST", "/models/nli", {"inputs": "a fine film"} | labels)
    assert status == 422 and "in parameters" in text
