"""The explorer in Debian's chromium: fields, tabs and keys, what fails, how it looks, and the page as a file; nothing
is asked of any other machine."""

import subprocess
import time
from urllib.parse import urlencode

import pytest
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import Select

import contract
from conftest import BINARY, SECONDS, clean_environment, wait_for
from explorer_page import VIEWS, VIEWS_OF_MODELS, Page, fake_fetch


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


def test_tabs_stand_in_one_line(page, screen):
    screen(1280, "light")
    page.open(model="labels", text="a fine film", view="task")
    assert len({tab.rect["y"] for tab in page.all("[role=tab]")}) == 1


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
