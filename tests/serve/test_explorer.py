"""The explorer in Debian's chromium: every view used by script, with the mouse and with keys; nothing is asked of any
other machine."""

import itertools
import json
import subprocess
import time
from urllib.parse import parse_qsl, urlencode

import numpy
import pytest
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import Select

import contract
from conftest import BINARY, SECONDS, clean_environment, wait_for
from models import read_safetensors, write_safetensors

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


@pytest.fixture
def page(driver, server):
    made = Page(driver, server.url)
    yield made
    assert [entry for entry in driver.get_log("browser") if entry["level"] == "SEVERE"] == [], (
        "the console has an error: what the page's policy forbids is one"
    )
    asked = driver.execute_script("return performance.getEntriesByType('resource').map((e) => e.name)")
    assert asked == [] or all(name.startswith((server.url, "data:", "blob:")) for name in asked)


def test_every_task_has_its_view(page):
    for model, text, second, shown in (
        ("labels", "a fine film", "", "positive"),
        ("nli", "a man plays", "a man sleeps", "entailment"),
        ("words", "a [MASK] film", "", "[MASK] 1"),
        ("token", "Ada was born in London .", "", "entity"),
        ("extractor", "Ada was born in London .", "", "entity"),
        ("replaced", "the capital of France is bread", "", "Orange"),
        ("span", "Who wrote it?", "Mary Shelley wrote it .", "answer"),
        ("score", "which film", "a fine film", "LABEL_0"),
    ):
        page.open(model=model, text=text, second=second, view="task")
        assert shown in page.at("#view-task").text, (model, page.at("body").text)


@pytest.mark.parametrize(
    "model, names, needs_both",
    [
        ("labels", ("Text", "Second text"), False),
        ("nli", ("Premise", "Hypothesis"), True),
        ("span", ("Question", "Context"), True),
        ("score", ("Query", "Document"), False),
    ],
)
def test_fields_have_the_names_of_the_task(page, model, names, needs_both):
    page.open(model=model, text="a fine film", view="task")
    fields = [page.at("#text"), page.at("#second")]
    assert tuple(field.accessible_name for field in fields) == names
    assert fields[0].get_property("required") and fields[1].get_property("required") == needs_both
    if needs_both:
        assert page.at("#status").text == f"Give a {names[1].lower()}." and not page.all("[role=tabpanel] *")
        fields[1].send_keys("it was a fine one", Keys.ENTER)
        page.wait()
    assert page.all("#view-task table")


def test_a_model_comes_with_texts_of_its_task(page):
    page.open(model="labels", view="task")
    Select(page.at("#model")).select_by_visible_text("span")
    page.wait()
    assert page.chosen()["text"].startswith("Who ") and page.chosen()["second"] and page.all("#view-task table")
    page.at("#text").send_keys(" And when ?")
    Select(page.at("#model")).select_by_visible_text("labels")  # a text of the reader's own stays
    page.wait()
    assert page.chosen()["text"].endswith(" And when ?")


def test_entities_by_labels_of_the_readers_own(page, server):
    text, labels = "Ada Lovelace was born in London .", ["person", "place"]
    page.open(model="extractor", text=text, view="task", labels=", ".join(labels), threshold="0")
    parameters = {"candidate_labels": labels, "threshold": 0}
    found = server.post("/models/extractor", {"inputs": text, "parameters": parameters})
    marks = page.all("#view-task .token")
    assert [mark.find_element(By.TAG_NAME, "small").text for mark in marks] == [one["entity_group"] for one in found]
    colours = {}
    for mark, one in zip(marks, found):
        colours.setdefault(one["entity_group"], set()).add(mark.value_of_css_property("background-color"))
    assert all(len(of_label) == 1 for of_label in colours.values())
    assert len(set.union(*colours.values())) == len(colours)
    field, threshold = page.at("#labels"), page.at("#threshold")
    assert (field.accessible_name, threshold.accessible_name) == ("Labels, with commas between them", "Threshold")
    field.clear()
    field.send_keys("\u05d0\u05d3\u05dd", Keys.ENTER)
    page.wait()
    assert page.chosen()["labels"] == "\u05d0\u05d3\u05dd" and page.chosen()["threshold"] == "0"
    assert {one.text for one in page.all("#view-task .token small")} == {"\u05d0\u05d3\u05dd"}
    assert field.value_of_css_property("direction") == "rtl"
    threshold.clear()
    threshold.send_keys("1", Keys.ENTER)
    page.wait()
    assert "No entity above the threshold." in page.at("#view-task").text and not page.all("#view-task .token")
    threshold.clear()
    threshold.send_keys("2", Keys.ENTER)
    assert "expected a number in 0..1, got 2" in page.wait() and field.is_displayed()
    field.clear()
    field.send_keys(Keys.ENTER)
    assert page.wait() == "Give a label."
    threshold.clear()
    page.driver.get_log("browser")  # the refusal
    Select(page.at("#model")).select_by_visible_text("labels")
    page.wait()
    assert not field.is_displayed() and not threshold.is_displayed() and "labels" not in page.chosen()
    Select(page.at("#model")).select_by_visible_text("extractor")
    page.wait()
    assert field.get_property("value") == "person, city" and page.at("#view-task").text


def test_a_text_is_typed_and_run(page):
    page.open(model="labels", view="task")
    before = page.at("#view-task").text
    field = page.at("#text")
    field.clear()
    field.send_keys("another text altogether", Keys.ENTER)
    page.wait()
    assert page.at("#view-task").text != before and page.chosen()["text"] == "another text altogether"
    Select(page.at("#model")).select_by_visible_text("many")
    page.wait()
    assert page.chosen()["model"] == "many"


def test_a_text_of_several_lines(page):
    page.open(model="labels", view="words")
    field = page.at("#text")
    field.clear()
    field.send_keys("one line", Keys.SHIFT, Keys.ENTER, Keys.NULL, "and another", Keys.ENTER)
    page.wait()
    assert page.chosen()["text"] == page.at("#occlusion").text == "one line\nand another"
    height = "return document.getElementById('text').getBoundingClientRect().height"
    before = page.driver.execute_script(height)
    page.run("one line")
    assert page.driver.execute_script(height) < before


def test_texts_have_the_direction_of_their_script(page):
    def direction(selector):
        return page.driver.execute_script(f"return getComputedStyle(document.querySelector('{selector}')).direction")

    for text, expected in (("a fine film", "ltr"), ("\u05e1\u05e8\u05d8 \u05d8\u05d5\u05d1", "rtl")):
        page.open(model="labels", text=text, second=text, view="words")
        for selector in ("#text", "#second", "#view-words .tokens"):
            assert direction(selector) == expected, selector


def test_one_head(page, server):
    page.open(model="labels", text="a fine film , and a long one", view="matrix", term="softmax")
    tokens = len(server.post("/explain/tokens", {"text": "a fine film , and a long one"}, x_model="labels")["tokens"])
    assert page.wait().startswith(f"{tokens} tokens, 2 layers of 2 heads")
    seen = {page.pixels()}
    for key in (Keys.ARROW_RIGHT, Keys.ARROW_UP, "1", "2", "3", "4", "5", Keys.ARROW_LEFT):
        page.press(key)
        seen.add(page.pixels())
    assert len(seen) == 8
    assert (page.chosen()["layer"], page.chosen()["head"], page.chosen()["term"]) == ("2", "1", "softmax")
    assert worst_weight(page) < 0.02
    page.at("#drop-c2p").click()
    page.wait()
    assert "counterfactual" in page.at("#view-matrix").text
    assert page.pixels() not in seen
    assert page.chosen()["without"] == "c2p"
    ActionChains(page.driver).move_to_element_with_offset(page.at("#matrix"), 30, 30).perform()
    assert "query" in page.at("#readout").text and "distance" in page.at("#readout").text
    where = page.driver.current_url
    page.driver.get("about:blank")
    page.driver.get(where)  # a permalink
    page.wait()
    assert "counterfactual" in page.at("#view-matrix").text


def worst_weight(page):
    """By how much the page finds the terms to miss the weights."""
    return float(page.at("#readout").text.split("- weights| ")[1].split(" ")[0])


def test_terms_are_held_against_the_weights_of_the_model(page):
    """Of a server's answers: the page finds weights that the terms do not make."""
    page.open(model="labels", text="a fine film", view="heads")
    page.driver.execute_script(
        fake_fetch(
            "async (path, options, real) => { const answer = await real(path, options);"
            " return String(path).includes('term=softmax')"
            " ? new Response(new Uint16Array((await answer.arrayBuffer()).byteLength / 2)) : answer; }"
        )
    )
    page.view("matrix")
    assert worst_weight(page) > 0.1


def test_values_are_those_of_the_model(page, server, models, tmp_path):
    page.open(model="labels", text="a fine film", view="matrix", term="sum", layer="2", head="2")
    for name in ("svg", "png", "csv"):
        page.at(f"#save-{name}").click()
    files = {name: page.driver.downloads / f"layer2-head2-sum.{name}" for name in ("svg", "png", "csv")}
    end = time.monotonic() + SECONDS
    while not all(path.exists() and path.stat().st_size for path in files.values()):
        assert time.monotonic() < end
        time.sleep(0.05)
    rows = [line.split(",")[1:] for line in files["csv"].read_text().splitlines()[1:]]
    about = server.post("/explain/tokens", {"text": "a fine film"}, x_model="labels")
    assert len(rows) == len(about["tokens"]) == len(rows[0])
    assert files["svg"].read_text().count("<rect") == len(rows) ** 2
    assert files["png"].read_bytes().startswith(b"\x89PNG")
    ids = numpy.array(
        [[token["id"] for token in server.post("/tokenize", {"inputs": "a fine film"}, x_model="labels")[0]]],
        numpy.int32,
    )
    write_safetensors(tmp_path / "in", {"input_ids": ids})
    subprocess.run(
        [BINARY, "forward", "-m", models["labels"], "--ids", tmp_path / "in", "--scores", "-o", tmp_path / "out"],
        check=True,
        env=clean_environment(),
    )
    terms = read_safetensors(tmp_path / "out")
    expected = sum(terms[f"layer.2.{name}"][0, 1] for name in ("c2c", "c2p", "p2c"))
    assert numpy.abs(numpy.array(rows, float) - expected).max() < 2**-10 * numpy.abs(expected).max()  # half precision


COLOURS = """
const done = arguments[0], canvases = [...document.querySelectorAll("#view-terms figure canvas")];
import("/explorer/explorer-colours.js").then(({ paletteOf }) => done({
  diverging: paletteOf("diverging"), sequential: paletteOf("sequential"),
  cells: canvases.map((canvas) => {
    const ratio = devicePixelRatio, margin = canvas.dataset.margin * ratio, cell = canvas.dataset.cell * ratio;
    const T = Math.round((canvas.width - margin) / cell), context = canvas.getContext("2d");
    return Array.from({ length: T * T }, (_, i) => [...context.getImageData(
      margin + (i % T) * cell + 1, margin + Math.floor(i / T) * cell + 1, 1, 1).data].slice(0, 3));
  }),
}));
"""


def test_terms_stand_side_by_side_on_one_scale(page, server):
    text = "a fine film"
    page.open(model="labels", text=text, view="terms", layer="2", head="2")
    names = [canvas.accessible_name for canvas in page.all("#view-terms figure canvas")]
    assert names == ["content to content", "content to position", "position to content", "sum", "weights"]
    assert all(canvas.get_attribute("data-digits") for canvas in page.all("#view-terms figure canvas"))
    about = server.post("/explain/tokens", {"text": text}, x_model="labels")
    terms = [server.matrix(about, 2, 2, term) for term in ("c2c", "c2p", "p2c", "sum", "softmax")]
    most = max(numpy.abs(term).max() for term in terms[:4])
    drawn = page.driver.execute_async_script(COLOURS)
    for values, cells in zip(terms[:4], drawn["cells"]):
        places = numpy.floor((0.5 + values / (2 * most)) * 255 + 0.5).astype(int).ravel()
        expected = numpy.array(drawn["diverging"])[places]
        assert numpy.abs(numpy.array(cells) - expected).max() <= 4  # a place beside it, where a half is rounded
    places = numpy.floor(terms[4] / terms[4].max() * 255 + 0.5).astype(int).ravel()
    assert numpy.abs(numpy.array(drawn["cells"][4]) - numpy.array(drawn["sequential"])[places]).max() <= 4
    assert len(page.all("#view-terms .colour-bar")) == 2
    ActionChains(page.driver).move_to_element(page.all("#view-terms figure canvas")[1]).perform()
    assert all(f"\n{name}" in page.at("#readout").text for name in ("c2c", "c2p", "p2c", "sum", "weight"))
    for box, values in zip(page.all("#boxes .box"), terms[:4]):
        title = page.driver.execute_script("return arguments[0].querySelector('title').textContent", box)
        told = [float(number) for number in title.split(": ")[1].split(", ")]
        assert numpy.allclose(told, numpy.quantile(values, (0, 0.25, 0.5, 0.75, 1)), atol=1e-4)


def test_by_distance_and_all_heads(page):
    page.open(model="labels", text="a fine film , and a long one", view="distance")
    assert len(page.all("#distance polyline")) == 2 and len(page.all("#distance rect")) > 10
    page.view("heads")
    assert len(page.all(".thumbnails button")) == 4
    Select(page.at("#order")).select_by_value("entropy")
    page.wait()
    entropies = [float(button.text.split("H ")[1].split()[0]) for button in page.all(".thumbnails button")]
    assert entropies == sorted(entropies)
    page.all(".thumbnails button")[0].click()
    page.wait()
    assert page.chosen()["view"] == "matrix"
    page.press("]")
    assert page.chosen()["view"] == "distance"
    assert page.at("[data-view=distance]").get_attribute("aria-selected") == "true"


@pytest.mark.parametrize("text", ["a fine film", "a fine film , and a long one", "a " * 60])
def test_ticks_stand_where_their_numbers_are(page, text):
    page.open(model="labels", text=text, view="distance")
    for axis in "xy":
        ticks = page.all(f"#distance .tick-{axis}")
        values = [float(tick.text) for tick in ticks]
        places = [float(tick.get_attribute(axis)) for tick in ticks]
        assert 3 <= len(values) <= 13, values
        assert numpy.allclose(numpy.diff(values), values[1] - values[0], rtol=1e-5), values
        assert numpy.allclose(numpy.diff(places), places[1] - places[0], atol=0.01), places
        assert axis == "y" or (0 in values and all(value == round(value) for value in values))


@pytest.mark.parametrize("words", [20, 60, 250])
def test_each_row_of_the_relative_table_is_seen(page, server, words):
    """Two rows side by side have two shades, so that as many blocks are seen as there are rows."""
    text = "a " * words
    rows = server.post("/explain/tokens", {"text": text}, x_model="labels")["rows"]
    page.open(model="labels", text=text, view="distance")
    blocks = page.driver.execute_script(
        "return [...document.querySelectorAll('#distance rect')]"
        ".map((one) => [one.getAttribute('fill-opacity'), one.textContent])"
    )
    shades = [shade for shade, _ in blocks]
    assert len(blocks) == len(set(rows)) and all(a != b for a, b in itertools.pairwise(shades))
    assert [int(title.split(":")[0].removeprefix("row ")) for _, title in blocks] == sorted(set(rows))


def test_distances_share_rows_only_where_they_do(page, server):
    page.open(model="labels", text="a fine film", view="distance")
    assert "each distance of this text has its own" in page.at("#view-distance").text
    rows = server.post("/explain/tokens", {"text": "a " * 150}, x_model="labels")["rows"]
    middle = len(rows) // 2  # distance 0
    first = next(i for i in range(middle, len(rows) - 1) if rows[i] == rows[i + 1]) - middle
    page.open(model="labels", text="a " * 150, view="distance")
    assert f"from distance {first} on several distances share one" in page.at("#view-distance").text


def test_tabs_are_reached_by_any_keyboard(page):
    page.open(model="labels", text="a fine film", view="matrix")
    tabs = [tab.get_attribute("data-view") for tab in page.all("[role=tab]")]
    focused = "return document.activeElement.id"
    page.press(Keys.TAB)
    assert page.driver.execute_script(focused) == "tab-matrix"  # one tab alone is in the order of focus
    for key, view in (
        (Keys.ARROW_RIGHT, tabs[tabs.index("matrix") + 1]),
        (Keys.ARROW_LEFT, "matrix"),
        (Keys.END, tabs[-1]),
        (Keys.ARROW_RIGHT, tabs[0]),
        (Keys.ARROW_LEFT, tabs[-1]),
        (Keys.HOME, tabs[0]),
    ):
        page.press(key)
        assert page.chosen()["view"] == view and page.driver.execute_script(focused) == f"tab-{view}"
        assert page.at(f"#view-{view}").is_displayed() and page.chosen()["head"] == "1"
    page.driver.execute_script(  # as a German keyboard writes "]": AltGr, which counts as Ctrl and Alt there
        "document.body.dispatchEvent(new KeyboardEvent('keydown', "
        "{ key: ']', ctrlKey: true, altKey: true, modifierAltGraph: true, bubbles: true }))"
    )
    page.wait()
    assert page.chosen()["view"] == tabs[1]


def test_a_field_keeps_the_focus_when_its_view_is_drawn_anew(page):
    page.open(model="labels", text="a fine film", view="matrix")
    page.driver.execute_script("document.getElementById('layer').focus()")
    page.press(Keys.ARROW_DOWN)
    assert page.chosen()["layer"] == "2"
    assert page.driver.execute_script("return document.activeElement.id") == "layer"


def test_positions(page, server):
    """Which row of the relative table stands for which distance, also without a text."""
    found = json.loads(server.request("GET", "/explain/positions?model=labels&length=2048")[2])
    rows, middle = found["rows"], 2047
    shared = next(d for d in range(middle) if rows[middle + d] == rows[middle + d + 1])
    last = next(d for d in range(middle + 1) if rows[middle + d] == rows[-1])
    page.open(model="labels", text="a fine film", view="positions")
    said = page.at("#view-positions").text
    assert f"The table has {found['table_rows']} rows." in said
    assert f"From distance {shared} on" in said and f"all from {last} on share the last" in said
    points = page.at("#row-curve polyline").get_attribute("points").split()
    heights = numpy.array([float(point.split(",")[1]) for point in points])
    assert len(points) == len(rows) and numpy.allclose(
        numpy.polyval(numpy.polyfit(rows, heights, 1), rows), heights, atol=0.01
    )
    assert page.at("#rows").get_attribute("data-digits") == "0"
    assert page.run("") == "Without a text." and page.at("#rows").is_displayed()
    assert page.at("#rows").get_attribute("data-digits") == "0"


def test_two_texts_are_compared_on_one_scale(page, server):
    texts = ("a fine film", "a good film")
    page.open(model="labels", text=texts[0], view="compare", term="sum")
    assert "Give another text" in page.at("#view-compare").text and not page.all("#view-compare figure")
    field = page.at("#other")
    field.send_keys(texts[1], Keys.ENTER)
    page.wait()
    assert page.chosen()["other"] == texts[1]
    about = [server.post("/explain/tokens", {"text": text}, x_model="labels") for text in texts]
    values = [server.matrix(one, 1, 1, "sum") for one in about]
    is_same_length = values[0].shape == values[1].shape
    assert len(page.all("#view-compare figure")) == (3 if is_same_length else 2)
    ticks = [float(tick.text) for tick in page.all("#view-compare .colour-bar:first-child span")]
    most = max(numpy.abs(one).max() for one in values)
    assert most / 2 < max(ticks) <= most
    ActionChains(page.driver).move_to_element(page.at("#view-compare figure canvas")).perform()
    assert "query" in page.at("#view-compare .readout").text
    Select(page.at("#other-model")).select_by_visible_text("nli")
    page.wait()
    assert [caption.text.split(",")[0] for caption in page.all("#view-compare figcaption")][:2] == ["labels", "nli"]
    page.at("#other").clear()
    page.wait()
    page.at("#other").send_keys("a " * 30, Keys.ENTER)  # of another length
    page.wait()
    assert len(page.all("#view-compare figure")) == 2 and len(page.all("#view-compare .readout")) == 2
    where = page.driver.current_url
    page.driver.get("about:blank")
    page.driver.get(where)  # a permalink
    page.wait()
    assert len(page.all("#view-compare figure")) == 2


def bars_of(page, part):
    """The lengths of the bars of a figure, and the numbers behind them."""
    bars = [float(bar.get_attribute("width")) for bar in page.all(f"{part} .amount")]
    return numpy.array(bars), [text.text for text in page.all(f"{part} .amount-text")]


FORMS = {"with": "with the mask decoder", "without": "without it", "shifted": "shifted", "swapped": "swapped"}


def test_what_the_mask_decoder_changes(page, server):
    text, words = "a [MASK] film with [MASK] parts", ["goodness", "fine"]
    page.open(model="decoder", text=text, view="decoder", words=", ".join(words))
    about = server.post("/explain/decoder", {"text": text, "words": words, "top_k": 6}, x_model="decoder")
    assert page.at("#status").text == f"{len(about['tokens'])} tokens, 2 masks, 2 passes of 2 heads"
    captions = [caption.text.split(":")[0] for caption in page.all("#view-decoder figcaption")]
    assert captions[:8] == [*FORMS.values()] * 2
    assert captions[8:] == ["content to content", "content to position", "position to content", "sum", "weights"]
    scores = numpy.array([one["score"] for mask in about["masks"] for form in FORMS for one in mask[form]])
    lengths, numbers = bars_of(page, "#view-decoder")
    assert len(lengths) == 48 and numpy.allclose(lengths / scores, lengths[0] / scores[0], rtol=1e-3)  # on one scale
    assert numpy.allclose([float(number) for number in numbers], scores, atol=6e-4)
    rows = [[cell.text for cell in row.find_elements(By.TAG_NAME, "td")] for row in page.all("#view-decoder tr")][1:]
    assert [row[0] for row in rows] == ["goodness … fine", "fine … goodness"]
    for row, filling in zip(rows, about["fillings"]):
        assert numpy.allclose([float(cell) for cell in row[1:3]], [filling["with"], filling["without"]], atol=1e-3)
    page.press(Keys.ARROW_UP)
    page.press(Keys.ARROW_RIGHT)
    assert (page.chosen()["pass"], page.chosen()["head"], page.chosen()["layer"]) == ("2", "2", "1")
    asked = page.driver.execute_script("return performance.getEntriesByType('resource').map((e) => e.name)")
    assert any("&layer=2&head=2&term=c2p" in name for name in asked)
    assert page.at("#pass").get_property("value") == "2"
    field = page.at("#words")
    field.clear()
    page.wait()
    assert "in every order" in page.at("#view-decoder").text


def test_a_mask_is_put_behind_a_text_without_one(page):
    page.open(model="decoder", text="a fine film", view="decoder")
    assert " 1 mask," in page.at("#status").text and page.all("#view-decoder figure canvas")
    assert [caption.text.split(":")[0] for caption in page.all("#view-decoder figcaption")][:3] == [*FORMS.values()][:3]


def test_models_without_what_a_view_shows(page):
    for view, said in (("decoder", "Choose words or decoder."), ("replaced", "Choose replaced.")):
        page.open(model="labels", text="a fine film", view=view)
        assert said in page.at(f"#view-{view}").text
    page.open(model="words", text="a [MASK] film", view="decoder")  # whose words are predicted without one
    assert "predicts through it" in page.at("#status").text and page.at("#status").get_attribute("class") == "bad"
    page.driver.get_log("browser")  # the refusal is in the console too


def test_a_text_through_generator_and_discriminator(page, server):
    text = "the capital of France is Paris"
    page.open(model="replaced", text=text, view="replaced", generator="decoder", share="0.5", seed="3")
    body = {"text": text, "generator": "decoder", "share": 0.5, "seed": 3}
    walk = server.post("/explain/replaced", body, x_model="replaced")
    tokens, masked = walk["tokens"], walk["signal"]["generator"]
    assert masked == sum(token["is_masked"] for token in tokens) > 0
    assert page.at("#status").text == f"{len(tokens)} tokens, {masked} masked"
    replaced = numpy.array([token["replaced_probability"] for token in tokens])
    lengths, numbers = bars_of(page, "#judgements")
    assert numpy.allclose(lengths / replaced, lengths[0] / replaced[0], rtol=1e-3)
    assert numpy.allclose([float(number) for number in numbers], replaced, atol=6e-4)
    losses = [walk["losses"][name] for name in ("generator", "discriminator")]
    assert bars_of(page, "#signal")[1] == [
        f"{count}, loss {loss:.3f}" for count, loss in zip((masked, len(tokens)), losses)
    ]
    lines = page.all("#view-replaced .chips")
    assert len(lines) == 4 and lines[1].text.count("[MASK]") == masked
    page.at("#again").click()
    page.wait()
    assert page.chosen()["seed"] == "4" and page.chosen()["generator"] == "decoder"
    assert page.driver.execute_script("return document.activeElement.id") == "again"


def test_sizes_of_models(page, server, deberta, models):
    page.open(model="labels", view="sizes", length="512", sizes="published")
    expected = {one["model"]: one for one in deberta("info", "--sizes", "base,v3-large,mdeberta-v3-base")}
    rows = {
        row.find_element(By.TAG_NAME, "th").text: [cell.text for cell in row.find_elements(By.TAG_NAME, "td")]
        for row in page.all("#sizes-table tr")[1:]
    }
    assert len(rows) == 10
    for name, size in expected.items():
        scale = size["operations"]["all"] / size["operations"]["all_without_relative_terms"]
        assert float(rows[name][-1]) == pytest.approx(scale, abs=6e-4)
        assert float(rows[name][7].split()[0]) == pytest.approx(size["parameters"]["all"] / 1e6, rel=6e-3)
    Select(page.at("#sizes")).select_by_value("served")
    page.wait()
    assert page.at("#status").text == f"{len(models)} models" and page.chosen()["sizes"] == "served"
    parts = ("words", "positions", "embeddings", "layers", "relative", "convolution", "head")
    counts = [json.loads(server.request("GET", f"/explain/size?model={name}&length=512")[2]) for name in models]
    lengths, _ = bars_of(page, "#view-sizes figure:first-child")
    amounts = numpy.array([size["parameters"][part] for size in counts for part in parts], float)
    assert numpy.allclose(lengths[amounts > 0] / amounts[amounts > 0], lengths.sum() / amounts.sum(), rtol=1e-2)
    assert page.run("") == f"{len(models)} models"  # without a text


def test_a_logarithmic_scale(page):
    page.open(model="labels", text="a fine film , and a long one", view="matrix", term="softmax")

    def ticks():
        return [float(tick.text) for tick in page.all(".colour-bar span")]

    linear, linear_ticks = page.pixels(), ticks()
    assert linear_ticks[0] == 0 and numpy.allclose(numpy.diff(linear_ticks), linear_ticks[1])
    Select(page.at("#scale")).select_by_value("log")
    page.wait()
    assert page.pixels() != linear and page.chosen()["scale"] == "log"
    assert ticks()[0] == 0 and numpy.allclose(sorted(ticks()[1:]), max(ticks()) * 10.0 ** numpy.arange(-2, 1))
    page.view("distance")
    values = [int(tick.text) for tick in page.all("#distance .tick-x")]
    places = [float(tick.get_attribute("x")) for tick in page.all("#distance .tick-x")]
    assert {-5, -2, -1, 0, 1, 2, 5} <= set(values) and len(page.all("#distance polyline")) == 2
    expected = numpy.sign(values) * numpy.log1p(numpy.abs(values))
    assert numpy.allclose(numpy.polyval(numpy.polyfit(expected, places, 1), expected), places, atol=0.01)
    page.view("heads")
    image = "return document.querySelector('.thumbnails canvas').toDataURL()"
    seen = page.driver.execute_script(image)
    Select(page.at("#scale")).select_by_value("linear")
    page.wait()
    assert page.driver.execute_script(image) != seen and page.chosen()["scale"] == "linear"


def test_a_sentence_says_what_each_view_shows(page):
    page.open(model="labels", text="a fine film", view="task")
    said = []
    for view in VIEWS:
        page.view(view)
        said.append(page.at("#says").text)
        assert page.at(f"#view-{view}").get_attribute("aria-describedby") == "says"
    assert len(set(said)) == len(VIEWS) and all(text.endswith(".") and len(text) > 20 for text in said)


def test_no_two_elements_have_one_name(page):
    page.open(model="labels", text="a fine film", view="matrix")
    for view in VIEWS:
        page.view(view)
        names = page.driver.execute_script("return [...document.querySelectorAll('[id]')].map((one) => one.id)")
        assert len(names) == len(set(names)), view


def test_layers_and_heads_are_numbered_as_by_the_routes(page, server):
    page.open(model="labels", text="a fine film", view="heads")
    about = server.post("/explain/tokens", {"text": "a fine film"}, x_model="labels")
    heads = json.loads(server.request("GET", f"/explain/heads?id={about['explain_id']}")[2])["heads"]
    numbers = [f"{one['layer']}.{one['head']}" for one in heads]
    assert numbers == ["1.1", "1.2", "2.1", "2.2"]  # layer 0 are the embeddings
    assert [button.text.split()[0] for button in page.all(".thumbnails button")] == numbers
    page.all(".thumbnails button")[3].click()
    page.wait()
    assert (page.chosen()["layer"], page.chosen()["head"]) == ("2", "2")
    assert page.at("#matrix").accessible_name.startswith("layer 2, head 2")
    for name in ("layer", "head"):
        assert [option.text for option in Select(page.at(f"#{name}")).options] == ["1", "2"]
    page.open(model="labels", text="a fine film", view="matrix", layer="0", head="0")
    assert (page.chosen()["layer"], page.chosen()["head"]) == ("1", "1")
    page.open(model="labels", text="a fine film", view="matrix", layer="9", head="9")
    assert (page.chosen()["layer"], page.chosen()["head"]) == ("2", "2")


def test_which_words_count(page):
    page.open(model="labels", text="a fine film , and a long one", view="words")
    assert [mark.text for mark in page.all("#occlusion .token")] == "a fine film , and a long one".split()
    assert "Attention is not an explanation" in page.at("#view-words").text
    page.open(model="token", text="a fine film", view="words")
    assert "needs a model of labels" in page.at("#view-words").text


def test_a_long_view_says_how_far_it_is_and_can_be_left(page):
    page.open(model="labels", text="a " * 40, view="matrix")
    page.driver.execute_script(  # the second part of the texts never comes
        "window.asked = 0;"
        + fake_fetch(
            "async (path, options, real) => String(path) !== 'predict' || !window.asked++ ? real(path, options)"
            " : new Promise((_, refuse) => "
            "options.signal.addEventListener('abort', () => refuse(options.signal.reason)))"
        )
    )
    page.at("[data-view=words]").click()
    wait_for(lambda: page.at("#cancel").is_displayed() and "16 of" in page.at("#progress-text").text)
    progress = page.at("#progress")
    assert [float(progress.get_attribute(name)) for name in ("value", "max")] == [16, 41]
    assert page.at("#progress-text").text == "16 of 41 texts" and page.at("#status").text == "…"
    page.at("#cancel").click()
    assert page.wait() == "Cancelled." and not page.all("[role=tabpanel] *")
    assert not page.at("#work").is_displayed() and page.driver.execute_script("return window.asked") == 2
    page.view("heads")
    assert page.all(".thumbnails button") and not page.at("#work").is_displayed()
    page.at("[data-view=words]").click()
    wait_for(lambda: page.at("#status").text == "…")
    page.press(Keys.ESCAPE)
    assert page.at("#status").text == "Cancelled."


def test_a_character_of_several_pieces_is_written_once(page, server):
    text = "a \U0001f600 film"
    tokens = server.post("/explain/tokens", {"text": text}, x_model="replaced")["tokens"]
    places = [(token["start"], token["end"]) for token in tokens if not token["special"]]
    assert len(set(places)) < len(places)
    for view in ("task", "words"):
        page.open(model="replaced", text=text, view=view)
        assert page.at(f"#view-{view} .tokens").text == text


def test_each_kind_of_entity_has_its_colour_and_its_name(page):
    text = "Ada met Alan in London ."
    found = [
        {"entity_group": kind, "word": text[start:end], "score": 0.9, "start": start, "end": end}
        for kind, start, end in (("PER", 0, 3), ("PER", 8, 12), ("LOC", 16, 22))
    ]
    page.open(model="token", text="a fine film", view="task")
    page.driver.execute_script(fake_fetch(f"async () => new Response(JSON.stringify({json.dumps(found)}))"))
    page.run(text)
    marks = page.all("#view-task .token")
    assert [mark.text for mark in marks] == ["Ada PER", "Alan PER", "London LOC"]
    ada, alan, london = (mark.value_of_css_property("background-color") for mark in marks)
    assert ada == alan != london


def test_a_link_to_a_model_that_is_not_here_says_so(page):
    page.open(model="labels", text="a fine film", view="heads")
    page.driver.get("about:blank")
    page.driver.get(f"{page.url}/explorer#{urlencode({'model': 'gone', 'text': 'a fine film', 'view': 'heads'})}")
    end = time.monotonic() + SECONDS
    while "no model gone here" not in page.at("#status").text:
        assert time.monotonic() < end
        time.sleep(0.02)
    page.at("#ask button").click()
    assert "tokens" in page.wait()


def test_what_cannot_be_shown_is_said(page):
    page.open(model="labels", text="word " * 300, view="matrix")
    assert "at most 256 tokens" in page.at("#status").text and page.at("#status").get_attribute("class") == "bad"
    page.driver.get_log("browser")  # the refusal is in the console too


def test_what_fails_leaves_no_old_picture(page):
    page.open(model="labels", text="a fine film", view="heads")
    page.view("matrix")
    page.driver.execute_script(
        fake_fetch(
            "async () => new Response(JSON.stringify({ error: 'out of order', error_type: 'x' }), { status: 503 })"
        )
    )
    assert page.run("another film") == "out of order" and page.at("#status").get_attribute("class") == "bad"
    assert not page.all("[role=tabpanel] *")
    assert page.run("") == "Give a text." and not page.all("[role=tabpanel] *")
    page.driver.refresh()
    page.wait()
    assert "tokens" in page.run("another film") and page.all("#matrix")


def test_a_text_that_the_server_forgot_is_explained_anew(page):
    page.open(model="labels", text="a fine film", view="task")
    page.view("matrix")
    page.driver.execute_script(
        "window.explained = 0;"
        + fake_fetch(
            "async (path, options, real) => { window.explained += String(path) === 'explain/tokens';"
            " return window.explained || !String(path).includes('?id=') ? real(path, options)"
            " : new Response(JSON.stringify({ error: 'no explanation' }), { status: 404 }); }"
        )
    )
    assert "tokens" in page.view("heads") and page.all(".thumbnails button")
    assert page.driver.execute_script("return window.explained") == 1


def test_256_tokens_are_drawn_in_time(page):
    page.open(model="labels", text="word " * 126, view="matrix")
    count = int(page.at("#status").text.split()[0])
    assert count > 120
    assert float(page.at("#matrix").get_attribute("data-milliseconds")) < 200
    page.open(model="labels", text="a " * 254, view="matrix")
    assert page.at("#status").text.startswith("256 tokens")
    assert float(page.at("#matrix").get_attribute("data-milliseconds")) < 200
    page.view("terms")
    assert len(page.all("#view-terms figure")) == 5
    assert float(page.at("#view-terms").get_attribute("data-milliseconds")) < 200


# The texts and fields that are seen, each with its contrast to what lies below it (WCAG 2).
CONTRASTS = """
const parts = (css) => { const found = css.match(/[0-9.]+/g).map(Number); return [...found, 1].slice(0, 4); };
const over = (top, below) => below.map((part, i) => top[3] * top[i] + (1 - top[3]) * part);
const linear = (part) => part <= 0.04045 * 255 ? part / 255 / 12.92 : ((part / 255 + 0.055) / 1.055) ** 2.4;
const luminance = ([r, g, b]) => 0.2126 * linear(r) + 0.7152 * linear(g) + 0.0722 * linear(b);
const above = (one) => one ? [...above(one.parentElement), getComputedStyle(one)] : [];
const contrast = (one) => {
  const styles = above(one), own = styles.at(-1), ink = parts(own[one.closest("svg") ? "fill" : "color"]);
  const ground = styles.reduce((below, style) => over(parts(style.backgroundColor), below), [255, 255, 255]);
  ink[3] *= styles.reduce((share, style) => share * style.opacity, 1);
  const [low, high] = [luminance(ground), luminance(over(ink, ground))].sort((a, b) => a - b);
  return (high + 0.05) / (low + 0.05);
};
const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT), seen = new Set();
while (texts.nextNode()) if (texts.currentNode.data.trim()) seen.add(texts.currentNode.parentElement);
for (const field of document.querySelectorAll("textarea, select")) seen.add(field);
return [...seen].filter((one) => one.checkVisibility({ visibilityProperty: true }) && !one.closest("option, script"))
  .map((one) => [one.textContent || one.value, contrast(one)]);
"""


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


@pytest.mark.parametrize("width", [390, 1280])
@pytest.mark.parametrize("text", ["a fine film", "a " * 252])
def test_every_view_fits_into_the_screen(page, screen, width, text):
    screen(width, "light")
    for view, model in [*((view, "replaced") for view in VIEWS), ("decoder", "decoder")]:
        page.open(model=model, text=text, view=view)
        assert page.driver.execute_script("return document.documentElement.scrollWidth") <= width, view
        for picture in page.all("[role=img]"):  # no wider than its view, and not drawn out in one direction
            box = picture.rect
            assert box["x"] >= 0 and box["x"] + box["width"] <= width, view
            if picture.tag_name == "canvas":
                assert abs(box["width"] - box["height"]) < 1, view


def test_pictures_follow_the_width_of_the_window(page, screen):
    screen(1280, "light")
    page.open(model="labels", text="a " * 60, view="matrix")
    wide = page.at("#matrix").size["width"]
    screen(390, "light")
    wait_for(
        lambda: (
            page.wait()
            and page.driver.execute_script(
                "const canvas = document.getElementById('matrix'); return canvas ? canvas.clientWidth : 9999"
            )
            < min(wide, 390)
        )
    )


FIELDS = "button, select, textarea, input, [role=img], [role=tab], progress"
# What can have the focus and is seen, in the order of the document.
FOCUSABLE = """
const all = [...document.querySelectorAll("button, select, textarea, input, a[href], summary, [tabindex]")];
return all.filter((one) => one.tabIndex >= 0 && !one.disabled && one.checkVisibility({ visibilityProperty: true }));
"""
ROLES = {"button", "tab", "combobox", "textbox", "checkbox", "img", "image", "progressbar"}


@pytest.mark.parametrize("view, model", VIEWS_OF_MODELS)
def test_names_roles_and_order_of_focus(page, view, model):
    page.open(model=model, text="a fine film", second="another", other="a good film", view=view)
    fields = [field for field in page.all(FIELDS) if field.is_displayed()]
    assert len(fields) > 10
    for field in fields:
        what = field.get_attribute("outerHTML")[:200]
        assert field.accessible_name.strip() and field.aria_role in ROLES, what
    assert page.at(f"#view-{view}").accessible_name == page.at(f"#tab-{view}").text
    expected = page.driver.execute_script(FOCUSABLE)
    for field in expected:
        page.press(Keys.TAB)
        assert page.driver.switch_to.active_element == field, field.get_attribute("outerHTML")[:200]
        seen = page.driver.execute_script("return getComputedStyle(document.activeElement).outlineStyle")
        assert seen != "none", field.get_attribute("outerHTML")[:200]
    assert len(expected) > 4


@pytest.mark.parametrize("width", [390, 1280])
def test_cells_have_numbers_up_to_12_tokens(page, server, screen, width):
    screen(width, "light")
    for words in range(5, 14):
        text = "a " * words
        count = len(server.post("/explain/tokens", {"text": text}, x_model="labels")["tokens"])
        page.open(model="labels", text=text, view="matrix", term="sum")
        digits = page.at("#matrix").get_attribute("data-digits")
        assert (digits is None) == (count > 12), count
    assert count > 12


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_text_can_be_read(page, screen, scheme):
    screen(1280, scheme)
    for view, model in VIEWS_OF_MODELS:
        page.open(model=model, text="a fine film", other="a good film", view=view)
        found = page.driver.execute_script(CONTRASTS)
        assert len(found) > 20 and [one for one in found if one[1] < 4.5] == [], view
    page.run("word " * 300)
    assert page.at("#status").get_attribute("class") == "bad"
    assert [one for one in page.driver.execute_script(CONTRASTS) if one[1] < 4.5] == []
    page.driver.get("about:blank")  # light or dark anew, it would be drawn again
    page.driver.get_log("browser")  # the refusal is in the console too


def test_ink_can_be_read_on_every_colour(page, screen):
    screen(1280, "light")
    page.open(model="labels", text="a fine film", view="task")
    worst = page.driver.execute_async_script(
        "const done = arguments[0]; import('/explorer/explorer-colours.js').then(({ inkOn }) => {"
        "const linear = (v) => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4; let worst = 21;"
        "for (let v = 0; v < 256 ** 3; v += 997) {"
        "  const colour = [v >> 16, v >> 8 & 255, v & 255], [r, g, b] = colour.map((part) => linear(part / 255));"
        "  const light = 0.2126 * r + 0.7152 * g + 0.0722 * b + 0.05;"
        "  worst = Math.min(worst, inkOn(colour) === '#000' ? light / 0.05 : 1.05 / light);"
        "} done(worst); })"
    )
    assert worst >= 4.5


def test_dark_mode_changes_the_picture(page):
    page.open(model="labels", text="a fine film", view="matrix", term="sum")
    light = page.pixels()
    page.driver.execute_cdp_cmd(
        "Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": "dark"}]}
    )
    end = time.monotonic() + SECONDS
    while page.pixels() == light:
        assert time.monotonic() < end
        time.sleep(0.05)
    background = page.driver.execute_script("return getComputedStyle(document.body).backgroundColor")
    page.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})
    assert background == "rgb(21, 24, 28)"


@pytest.fixture
def page_file(driver, models, tmp_path):
    """Opens `deberta analyze`'s page of a text; the machine is asked for nothing else."""

    def make(model, *words):
        subprocess.run(
            [BINARY, "analyze", "-m", models[model], "--out", tmp_path / "page.html", *words],
            check=True,
            env=clean_environment(),
        )
        made = Page(driver, "")
        driver.get(f"file://{tmp_path}/page.html#view=matrix")
        made.wait()
        return made

    yield make
    assert [entry for entry in driver.get_log("browser") if entry["level"] == "SEVERE"] == []
    assert (
        driver.execute_script(
            "return performance.getEntriesByType('resource').filter((e) => !/^(data|blob):/.test(e.name)).length"
        )
        == 0
    )


def test_the_page_as_a_file(page_file, page, driver):
    text = "a fine film , and a long one"
    page.open(model="labels", text=text, view="words")
    falls = [mark.get_attribute("title") for mark in page.all("#occlusion .token")]
    made = page_file("labels", text)
    assert made.at("#status").text.endswith("tokens, 2 layers of 2 heads")
    assert made.at("#text").get_attribute("value") == text
    assert not made.at("#tab-task").is_displayed()
    assert not made.at("#view-task").is_displayed()
    for view in ("decoder", "replaced", "compare", "sizes"):  # which need a model
        assert not made.at(f"#tab-{view}").is_displayed()
    assert not made.at("#text").is_enabled()
    for key in (Keys.ARROW_UP, Keys.ARROW_RIGHT, "5"):
        made.press(key)
    assert (made.chosen()["layer"], made.chosen()["head"], made.chosen()["term"]) == ("2", "2", "softmax")
    seen = {made.pixels()}
    for key in "1234":
        made.press(key)
        seen.add(made.pixels())
    assert len(seen) == 5
    assert "max |" not in made.at("#readout").text  # the weights of a file are made of its terms
    made.at("#drop-c2p").click()
    made.wait()
    assert "counterfactual" in made.at("#view-matrix").text
    made.view("distance")
    assert len(made.all("#distance polyline")) == 2
    made.view("heads")
    assert len(made.all(".thumbnails button")) == 4
    made.view("words")
    assert [mark.get_attribute("title") for mark in made.all("#occlusion .token")] == falls
    made.press("]")
    assert made.chosen()["view"] == "terms"
    assert len(made.all("#view-terms figure canvas")) == 5
    made.view("positions")
    assert "From distance 17 on several distances share one" in made.at("#view-positions").text


def test_a_file_of_a_model_without_labels(page_file):
    made = page_file("replaced", "the capital of France is bread")
    made.view("words")
    assert "needs a model of labels" in made.at("#view-words").text


def test_256_tokens_of_a_file_are_drawn_in_time(page_file):
    made = page_file("replaced", "a " * 254)  # of a model with labels each word would be left out in turn
    assert made.at("#status").text.startswith("256 tokens")
    assert float(made.at("#matrix").get_attribute("data-milliseconds")) < 200


def test_a_page_has_its_own_scripts_and_the_shared_ones(server):
    for page, other in (("docs", "explorer"), ("explorer", "docs")):
        found = {name: server.request("GET", f"/{page}/{name}.js")[0] for name in (page, "api", "dom", other)}
        assert found == {page: 200, "api": 200, "dom": 200, other: 404}
        assert server.request("GET", f"/{page}/palette.css")[0] == 200


def test_the_page_of_routes(page):
    page.driver.get(f"{page.url}/docs")
    end = time.monotonic() + SECONDS
    while not page.all("#predict"):
        assert time.monotonic() < end
        time.sleep(0.05)
    assert len(page.all("details[id]")) == len(contract.operations())
    page.at("#predict summary").click()
    Select(page.at("#model")).select_by_visible_text("labels")
    assert "x-model: labels" in page.at("#predict pre").text
    page.at("#predict button").click()
    end = time.monotonic() + SECONDS
    while "200 in" not in page.at("#predict").text:
        assert time.monotonic() < end, page.at("#predict").text
        time.sleep(0.05)
