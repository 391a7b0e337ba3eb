"""The explorer in a browser, and what tests read off it."""

import time
from urllib.parse import parse_qsl, urlencode

from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By

from conftest import SECONDS

VIEWS = (
    "task",
    "terms",
    "matrix",
    "distance",
    "positions",
    "heads",
    "words",
    "decoder",
    "replaced",
    "compare",
    "sizes",
)


# Each view, of a model that has it. Of any other model some views say no more than which one has it.
VIEWS_OF_MODELS = [*((view, "labels") for view in VIEWS), ("decoder", "decoder"), ("replaced", "replaced")]


def fake_fetch(answer):
    """JavaScript that puts `answer`, an async function of path, options and the real fetch, in the place of fetch."""
    return f"const real = window.fetch.bind(window); window.fetch = (path, options) => ({answer})(path, options, real);"


class Page:
    """The page, and what a test reads off it."""

    def __init__(self, driver, url):
        self.driver, self.url = driver, url

    def open(self, **chosen):
        self.driver.get("about:blank")
        self.driver.get(f"{self.url}/explorer#{urlencode(chosen)}")
        self.wait()

    def at(self, selector):
        return self.driver.find_element(By.CSS_SELECTOR, selector)

    def all(self, selector):
        return self.driver.find_elements(By.CSS_SELECTOR, selector)

    def wait(self, seconds=SECONDS):
        """Until the view is drawn; returns the status line."""
        end = time.monotonic() + seconds
        while (
            not self.all("#model option")  # first: from then on the status says whether anything is being drawn
            or self.at("#status").text == "…"
            or not self.at("[role=tabpanel]:not([hidden])").text + self.at("#status").text
        ):
            assert time.monotonic() < end, self.at("body").text
            time.sleep(0.02)
        return self.at("#status").text

    def run(self, text):
        field = self.at("#text")
        field.clear()
        field.send_keys(text)
        self.at("#ask button").click()
        return self.wait()

    def view(self, name):
        self.at(f"[data-view={name}]").click()
        return self.wait()

    def press(self, key):
        ActionChains(self.driver).send_keys(key).perform()
        return self.wait()

    def chosen(self):
        return dict(parse_qsl(self.driver.execute_script("return location.hash.slice(1)")))

    def pixels(self):
        """A sum over the canvas that another picture does not have."""
        return self.driver.execute_script(
            "const c = document.getElementById('matrix'), d = c.getContext('2d').getImageData(0, 0, c.width, "
            "c.height).data; let s = 0; for (let i = 0; i < d.length; ++i) s = (s * 31 + d[i]) % 1e9; return s;"
        )
