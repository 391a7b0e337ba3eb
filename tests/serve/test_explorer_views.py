"""What each view of the explorer shows, in Debian's chromium: its figures, pictures and numbers."""

import itertools
import json
import subprocess
import time

import numpy
import pytest
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import Select

from conftest import BINARY, SECONDS, clean_environment, wait_for
from explorer_page import fake_fetch
from models import read_safetensors, write_safetensors


def test_every_task_has_its_view(page):
    for model, text, second, shown in (
        ("labels", "a fine film", "", "positive"),
        ("nli", "a man plays", "a man sleeps", "entailment"),
        ("words", "a [MASK] film", "", "[MASK] 1"),
        ("token", "Ada was born in London .", "", "entity"),
        ("extractor", "Ada was born in London .", "", "entity"),
        ("replaced", "the capital of France is bread", "", "Orange: how likely"),
        ("span", "Who wrote it?", "Mary Shelley wrote it .", "answer"),
        ("score", "which film", "a fine film", "LABEL_0"),
    ):
        page.open(model=model, text=text, second=second, view="task")
        assert shown in page.at("#view-task").text, (model, page.at("body").text)


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
    picture = files["svg"].read_text()
    assert picture.count('class="cell"') == len(rows) ** 2 and "layer 2, head 2: sum" in picture
    assert "query ↓" in picture and "key →" in picture and "url(#colours)" in picture and ">score<" in picture
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


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_saved_picture_needs_no_page(page, screen, scheme):
    """Title, legend and colours of the page, light or dark, are in the file."""
    screen(1200, scheme)
    page.open(model="labels", text="a fine film , and a long one", view="distance", layer="2", head="1")
    saved = page.driver.downloads / "layer2-head1-distance.svg"
    saved.unlink(missing_ok=True)
    page.at("#save-distance").click()
    wait_for(lambda: saved.exists() and saved.stat().st_size)
    picture = saved.read_text()
    for text in ("Layer 2, head 1: terms of positions by distance", "content to position", "position to content",
                 "distance query - key", "score", "rows"):  # fmt: skip
        assert f">{text}<" in picture, text
    ink, paper = page.driver.execute_script(
        "const { color, backgroundColor } = getComputedStyle(document.body); return [color, backgroundColor];"
    )
    assert f'color="{ink}"' in picture and f'fill="{paper}"' in picture and ink != paper


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
    linear, points = (line.get_attribute("points").split() for line in page.all("#row-curve polyline"))
    heights = numpy.array([float(point.split(",")[1]) for point in points])
    assert len(points) == len(rows) and numpy.allclose(
        numpy.polyval(numpy.polyfit(rows, heights, 1), rows), heights, atol=0.01
    )
    assert page.at("#rows").get_attribute("data-digits") == "0"
    bottom = max(float(point.split(",")[1]) for point in linear)
    ends = next(i for i, point in enumerate(linear) if float(point.split(",")[1]) < bottom)
    assert middle - ends + 1 == found["table_rows"] // 2
    Select(page.at("#scale")).select_by_value("log")
    page.wait()
    assert all(float(tick.text) % 1 == 0 for tick in page.all(".colour-bar span"))
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


def test_probabilities_of_a_short_text_are_written(page, server):
    body = {"text": "a film", "generator": "decoder", "share": 0.5, "seed": 3}
    page.open(model="replaced", view="replaced", **body)
    tokens = server.post("/explain/replaced", body, x_model="replaced")["tokens"]
    drawn = [token["drawn_probability"] for token in tokens if token["is_masked"]]
    said = [one.text for one in page.all("#view-replaced .chips")[2].find_elements(By.TAG_NAME, "small")]
    assert len(tokens) <= 12 and said
    assert said == ["<0.01" if 0 < probability < 0.005 else f"{probability:.2f}" for probability in drawn]


def test_sizes_of_models(page, server, deberta, models):
    page.open(model="labels", view="sizes", length="512", sizes="published")
    expected = {one["model"]: one for one in deberta("info", "--sizes", "base,v3-large,mdeberta-v3-base")}
    rows = {
        row.find_element(By.TAG_NAME, "th").text: [cell.text for cell in row.find_elements(By.TAG_NAME, "td")]
        for row in page.all("#sizes-table tr")[1:]
    }
    assert len(rows) == 10
    table = page.at("#sizes-table")
    assert table.size["width"] <= table.find_element(By.XPATH, "..").size["width"]  # no column is cut
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
