"""A running server: the built program, DEBERTA_BINARY names it."""

import contextlib
import hashlib
import http.client
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

import numpy
import pytest

import contract
from contract import BINARY, clean_environment

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "cli"))
from models import ROOT, make_extractor, make_model, with_positions

SANITIZED = pathlib.Path(BINARY).parent.name in ("asan", "tsan")
PATIENT = ("--deadline-ms", "3600000")  # for work that a sanitizer makes long
SECONDS = 600  # anything longer is a hang: what a server does in a moment takes long on a machine that is busy


class Server:
    """A server process and requests to it."""

    def __init__(self, words, log, environment=None):
        self.log = log
        with open(log, "w") as errors:
            self.process = subprocess.Popen(
                [BINARY, "serve", *map(str, words)],
                stdout=subprocess.PIPE,
                stderr=errors,
                text=True,
                env=clean_environment() | (environment or {}),
            )
        self.said = self.process.stdout.readline()
        assert " serves " in self.said, pathlib.Path(log).read_text()
        self.url = self.said.split()[0]
        self.port = int(self.url.rsplit(":", 1)[1]) if self.url.startswith("http") else None

    def anonymous_kib(self):
        """Memory of its own, without what it maps."""
        with open(f"/proc/{self.process.pid}/status") as status:
            return int(next(line.split()[1] for line in status if line.startswith("RssAnon")))

    def request(self, method, path, body=None, headers=None):
        """(status, headers in lower case, body as text)"""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=SECONDS)
        with contextlib.closing(connection):
            data = body if body is None or isinstance(body, bytes) else json.dumps(body).encode()
            connection.request(method, path, data, {"content-type": "application/json"} | (headers or {}))
            response = connection.getresponse()
            found, answer = {k.lower(): v for k, v in response.getheaders()}, response.read()
            if method not in ("HEAD", "OPTIONS"):
                contract.check(method, path, response.status, found, answer)
            return response.status, found, answer.decode(errors="replace")

    def post(self, path, body, **headers):
        """The body of a response that must be 200."""
        status, _, text = self.request("POST", path, body, {k.replace("_", "-"): v for k, v in headers.items()})
        assert status == 200, text
        return json.loads(text)

    def refused(self, path, body, method="POST", **headers):
        """(status, body) of one that must not be."""
        status, _, text = self.request(method, path, body, {k.replace("_", "-"): v for k, v in headers.items()})
        assert status >= 400, text
        return status, json.loads(text)

    def matrix(self, about, layer, head, term):
        """[tokens, tokens] of a text that was explained; layers and heads count from 1."""
        query = f"id={about['explain_id']}&layer={layer}&head={head}&term={term}&dtype=f16"
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=SECONDS)
        with contextlib.closing(connection):
            connection.request("GET", f"/explain/terms?{query}")
            values = numpy.frombuffer(connection.getresponse().read(), numpy.float16).astype(float)
        return values.reshape(len(about["tokens"]), -1)

    def raw(self, data, wait=SECONDS):
        """What comes back to these bytes until the connection ends."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=wait) as one:
            one.sendall(data)
            return read_all(one)

    def stop(self, number=signal.SIGTERM):
        self.process.send_signal(number)
        return self.process.wait(SECONDS)


def installed(packages):
    """A folder with these packages, which do not go with those of .venv or are too large for it."""
    folder = ROOT / ".venv" / ("clients-" + hashlib.sha256(" ".join(packages).encode()).hexdigest()[:12])
    if not folder.exists():
        with tempfile.TemporaryDirectory(dir=ROOT / ".venv") as made:
            subprocess.run(
                [sys.executable, "-m", "pip", "install", "-q", "--target", f"{made}/all", *packages], check=True
            )
            os.rename(f"{made}/all", folder)
    return str(folder)


def wait_for(condition, seconds=SECONDS):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.05)


def read_all(one):
    received = b""
    with contextlib.suppress(ConnectionResetError, TimeoutError):
        while part := one.recv(65536):
            received += part
    return received


def resident(server):
    """Bytes of memory."""
    return float(
        re.search(r"^deberta_process_resident_memory_bytes (\S+)", server.request("GET", "/metrics")[2], re.MULTILINE)[
            1
        ]
    )


@pytest.fixture(scope="session")
def models(tmp_path_factory):
    """{task: folder} of tiny models with random weights."""
    folder = tmp_path_factory.mktemp("models")
    made = {
        "labels": make_model(folder / "labels", "sequence"),
        "nli": make_model(folder / "nli", "sequence", labels=("contradiction", "neutral", "entailment")),
        "score": make_model(folder / "score", "sequence", labels=("LABEL_0",)),
        "many": make_model(folder / "many", "sequence", problem_type="multi_label_classification"),
        "token": make_model(folder / "token", "token", labels=("O", "B-PER", "I-PER")),
        "span": make_model(folder / "span", "span"),
        "words": make_model(folder / "words", "lm", seed=2),
        "replaced": make_model(folder / "replaced", "rtd"),
        "decoder": with_positions(make_model(folder / "decoder", "lm", seed=3)),
        "extractor": make_extractor(folder / "extractor"),
    }
    return made


@pytest.fixture(scope="session")
def serve(tmp_path_factory):
    """serve(words...) -> a server that ends with the session."""
    started = []

    def start(*words, environment=None):
        log = tmp_path_factory.mktemp("serve") / "log"
        started.append(Server(["--port", "0", *words], log, environment))
        return started[-1]

    yield start
    for server in started:
        if server.process.poll() is None:
            server.process.kill()
            server.process.wait()


def start_failure(*words):
    """The exit code and the message of a server that does not start."""
    done = subprocess.run(
        [BINARY, "serve", "--port", "0", *map(str, words)], capture_output=True, text=True, env=clean_environment()
    )
    return done.returncode, done.stderr


@pytest.fixture(scope="session")
def server(serve, models):
    """One server with all models, each under its name."""
    return serve("--admin", *(word for name, folder in models.items() for word in ("-m", f"{name}={folder}")))


@pytest.fixture(scope="session")
def deberta():
    """deberta(words...) -> the JSON that the program prints."""

    def run(*words):
        done = subprocess.run(
            [BINARY, *map(str, words), "--format", "json"],
            capture_output=True,
            text=True,
            env=clean_environment(),
            timeout=600,
            check=True,
        )
        return json.loads(done.stdout)

    return run


@pytest.fixture(scope="session")
def driver(tmp_path_factory):
    """Debian's chromium, which finds no machine but this one."""
    if shutil.which("chromium") is None or shutil.which("chromedriver") is None:
        pytest.fail("chromium and chromium-driver are not installed: ./test installs them")
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service

    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium")
    downloads = tmp_path_factory.mktemp("downloads")
    for word in (
        "--headless=new",
        "--no-sandbox",
        "--disable-gpu",
        "--window-size=1200,900",
        "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
    ):
        options.add_argument(word)
    options.add_experimental_option(
        "prefs",
        {"download.default_directory": str(downloads), "profile.default_content_setting_values.automatic_downloads": 1},
    )
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    made = webdriver.Chrome(options=options, service=Service(shutil.which("chromedriver")))
    made.downloads = downloads
    yield made
    made.quit()


@pytest.fixture
def page(driver, server):
    from explorer_page import Page

    made = Page(driver, server.url)
    yield made
    assert [entry for entry in driver.get_log("browser") if entry["level"] == "SEVERE"] == [], (
        "the console has an error: what the page's policy forbids is one"
    )
    asked = driver.execute_script("return performance.getEntriesByType('resource').map((e) => e.name)")
    assert asked == [] or all(name.startswith((server.url, "data:", "blob:")) for name in asked)


@pytest.fixture
def screen(driver):
    """screen(width, scheme): the page as on a screen of that width, light or dark."""

    def show(width, scheme):
        size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False}
        driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
        feature = {"name": "prefers-color-scheme", "value": scheme}
        driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [feature]})

    yield show
    driver.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})
