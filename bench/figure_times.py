#!/usr/bin/env python3
"""Times the figures of `analyze` and the views of the explorer on a text of 256 tokens, with models that ship: seconds
of a command from its start to its end, and milliseconds that a view is drawn, without the waits for the server. The
packages are those of tests/serve.

usage: .venv/bin/python bench/figure_times.py PROGRAM [--rounds N] [--url URL]      URL: a server that runs already"""

import argparse
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tools"))
from page_pictures import browser, urlencode  # noqa: E402

TEXT = " ".join(["the cat sat on the mat , and"] * 28 + ["the cat"])  # 256 tokens with [CLS] and [SEP]
MASKED = TEXT.replace("cat", "[MASK]", 2)
FIGURES = {
    "heads": [TEXT],
    "terms": ["--figure", "matrices", TEXT],
    "terms pair": ["--query", "cat", "--key", "mat", TEXT],
    "terms quantiles": ["--figure", "quantiles", TEXT],
    "positions index": ["--length", "256"],
    "positions buckets": ["--figure", "buckets"],
    "positions cosines": ["--figure", "cosines"],
    "positions query": ["--query", "cat", TEXT],
    "tables": [],
    "decoder predictions": ["--figure", "predictions", MASKED],
    "decoder passes": ["--figure", "passes", MASKED],
    "decoder words": ["--words", "dog,man", MASKED],
    "replaced": ["-m", "builtin:detect", TEXT],
    "compare weights": ["--figure", "weights", "--with", "builtin:detect", TEXT],
    "compare pair": ["--with", "builtin:detect", "--query", "cat", "--key", "mat", TEXT],
}
VIEWS = {
    "task": {},
    "terms": {},
    "matrix": {},
    "distance": {},
    "positions": {},
    "heads": {},
    "words": {"model": "sentiment"},
    "decoder": {"text": MASKED, "words": "dog, man"},
    "replaced": {"model": "detect"},
    "compare": {"otherModel": "detect"},
    "sizes": {},
}
# Milliseconds from the click to the picture on the screen, and those of them in which something was asked.
DRAW = """
const [view, done] = arguments, asked = [], real = window.fetch.bind(window);
window.fetch = async (...words) => {
  const one = { from: performance.now(), to: Infinity };
  asked.push(one);
  const answer = await real(...words);
  for (const read of ["json", "arrayBuffer"]) {
    const whole = answer[read].bind(answer);
    answer[read] = async () => { const body = await whole(); one.to = performance.now(); return body; };
  }
  return answer;
};
const start = performance.now(), status = document.getElementById("status");
document.getElementById(`tab-${view}`).click();
const wait = () => {
  if (status.textContent === "…") return requestAnimationFrame(wait);
  requestAnimationFrame(() => requestAnimationFrame(() => {
    const end = performance.now();
    let waited = 0, at = start;
    for (const { from, to } of asked.sort((a, b) => a.from - b.from)) {
      waited += Math.max(0, Math.min(to, end) - Math.max(from, at));
      at = Math.max(at, Math.min(to, end));
    }
    window.fetch = real;
    done([end - start, waited]);
  }));
};
wait();
"""


def commands(program, rounds):
    with tempfile.TemporaryDirectory() as folder:
        for name, words in FIGURES.items():
            model = [] if "-m" in words else ["-m", "builtin:fill"]
            show = [program, "analyze", *model, "--show", name.split()[0], *words]
            seconds = []
            for ending in ("tsv", "safetensors", "svg", "html"):
                taken = []
                for _ in range(rounds):
                    begun = time.monotonic()
                    subprocess.run([*show, "-o", f"{folder}/x.{ending}"], check=True, capture_output=True)
                    taken.append(time.monotonic() - begun)
                seconds.append(statistics.median(taken))
            print(f"{name:20}", *(f"{one:6.2f}" for one in seconds), flush=True)


def views(url, rounds):
    driver = browser()
    try:
        for view, chosen in VIEWS.items():
            other = "sizes" if view != "sizes" else "positions"
            found = []
            for _ in range(rounds):
                fields = {"model": "fill", "text": TEXT, **chosen, "view": other}
                driver.get("about:blank")
                driver.get(f"{url}/explorer#{urlencode(fields)}")
                status = "return document.getElementById('status').textContent"
                while driver.execute_script(status) in ("", "…"):
                    time.sleep(0.05)
                found.append(driver.execute_async_script(DRAW, view))
            whole, waited = (statistics.median(one[i] for one in found) for i in (0, 1))
            print(f"{view:20} {whole - waited:6.0f} {waited:6.0f}", flush=True)
    finally:
        driver.quit()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", type=pathlib.Path)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--url")
    arguments = parser.parse_args()
    program = arguments.program.resolve()
    print("seconds of a command: lines, arrays, picture, page")
    commands(program, arguments.rounds)
    print("milliseconds of a view: drawn, waited for the server")
    if arguments.url:
        return views(arguments.url, arguments.rounds)
    server = subprocess.Popen([program, "serve", "-q", "--port", "0"], stdout=subprocess.PIPE, text=True)
    try:
        views(server.stdout.readline().split()[0], arguments.rounds)
    finally:
        server.terminate()
        server.wait()


if __name__ == "__main__":
    main()
