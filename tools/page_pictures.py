#!/usr/bin/env python3
"""Takes the pictures of the explorer in docs/guides/pictures: each view of a built-in model, light and dark, in
chromium. The packages are those of tests/serve.

usage: .venv/bin/python tools/page_pictures.py PROGRAM [FOLDER]      FOLDER: docs/guides/pictures"""

import io
import pathlib
import shutil
import subprocess
import sys
import time
from urllib.parse import urlencode

from PIL import Image
from selenium import webdriver
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By

ROOT = pathlib.Path(__file__).resolve().parents[1]
WIDTH, COLOURS = 900, 256
TEXT = "The old king gave his daughter a white horse and a silver ring ."
VIEWS = {
    "heads": {"model": "fill", "text": TEXT, "view": "heads", "order": "entropy"},
    "terms": {"model": "fill", "text": "The cat sat on the mat .", "view": "terms", "layer": "2", "head": "2"},
    "matrix": {"model": "fill", "text": TEXT, "view": "matrix", "layer": "2", "head": "2", "term": "sum"},
    "words": {"model": "sentiment", "text": "It is a slow film , but the last hour is a wonder .", "view": "words"},
    "positions": {"model": "fill", "text": "The cat sat on the mat .", "view": "positions", "scale": "log"},
    "compare": {
        "model": "fill",
        "text": "The cat sat on the mat .",
        "other": "The mat sat on the cat .",
        "view": "compare",
        "layer": "2",
        "head": "2",
    },
    "decoder": {
        "model": "fill",
        "text": "a new [MASK] opened beside the new [MASK] .",
        "words": "store, mall",
        "view": "decoder",
    },
    "replaced": {
        "model": "detect",
        "text": "The cat sat on the mat .",
        "view": "replaced",
        "share": "0.3",
        "seed": "1",
    },
    "sizes": {"model": "fill", "view": "sizes", "sizes": "published"},
}
SHOWN = [("terms", "light"), ("heads", "light"), ("matrix", "dark"), ("words", "light"), ("words", "dark")]


def browser():
    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium")
    for word in ("--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--window-size=1100,1800"):
        options.add_argument(word)
    return webdriver.Chrome(options=options, service=Service(shutil.which("chromedriver")))


def picture(driver, url, chosen, scheme):
    """The page as far as it has anything on it."""
    driver.execute_cdp_cmd(
        "Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": scheme}]}
    )
    driver.get("about:blank")
    driver.get(f"{url}/explorer#{urlencode(chosen)}")
    end = time.monotonic() + 60
    while driver.find_element(By.ID, "status").text in ("", "…"):
        if time.monotonic() > end:
            sys.exit(driver.find_element(By.TAG_NAME, "body").text)
        time.sleep(0.1)
    time.sleep(0.5)
    height = driver.execute_script(
        "return Math.min(1700, document.querySelector('main').getBoundingClientRect().bottom + 16)"
    )
    image = Image.open(io.BytesIO(driver.get_screenshot_as_png())).convert("RGB")
    image = image.crop((0, 0, image.width, min(image.height, int(height))))
    return image.resize((WIDTH, image.height * WIDTH // image.width), Image.LANCZOS).quantize(
        COLOURS, method=Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE
    )


def main():
    program = pathlib.Path(sys.argv[1]).resolve()
    folder = pathlib.Path(sys.argv[2]) if len(sys.argv) > 2 else ROOT / "docs/guides/pictures"
    server = subprocess.Popen([program, "serve", "-q", "--port", "0"], stdout=subprocess.PIPE, text=True)
    driver = browser()
    try:
        url = server.stdout.readline().split()[0]
        for view, scheme in (
            SHOWN if len(sys.argv) < 3 else [(view, scheme) for view in VIEWS for scheme in ("light", "dark")]
        ):
            path = folder / f"explorer-{view}-{scheme}.png"
            picture(driver, url, VIEWS[view], scheme).save(path, optimize=True)
            print(f"{path}: {path.stat().st_size} bytes")
    finally:
        driver.quit()
        server.terminate()
        server.wait()


if __name__ == "__main__":
    main()
