"""Entities by labels of the request's own over HTTP: the program's answers, in the forms of gliner's client, of NeMo
Guardrails and of the hub; long texts; personal data taken out of letters and put back; what is too much."""

import json
from concurrent.futures import ThreadPoolExecutor

import pytest

from conftest import PATIENT, SANITIZED, wait_for
from letters import LETTERS
from models import make_extractor
from test_bounds import held

TEXT = "h\u00e9 \U0001f600 Ada Lovelace met state-of-the-art no_1 in London ."
LABELS = ["person", "place"]


@pytest.fixture(scope="module")
def extract(deberta, models):
    """extract(words..., text...) -> the program's entities of each text"""

    def run(*words):
        return [row["entities"] for row in deberta("extract", "-m", models["extractor"], *words)]

    return run


def of_program(entities):
    """The program's entities as gliner's client has them."""
    return [
        {
            "start": one["start"],
            "end": one["end"],
            "text": one["word"],
            "label": one["entity_group"],
            "score": one["score"],
        }
        for one in entities
    ]


def ask(server, **body):
    return server.post("/gliner", {"text": TEXT, "labels": LABELS} | body, x_model="extractor")


# ---- POST /gliner


def test_entities_are_those_of_the_program(server, extract):
    for body, words in (
        ({}, ()),
        ({"threshold": 0.2}, ("--threshold", "0.2")),
        ({"threshold": 0, "flat_ner": False}, ("--threshold", "0", "--nested")),
        ({"threshold": 0, "multi_label": True}, ("--threshold", "0", "--multi-label")),
        ({"threshold": 0, "join": True}, ("--threshold", "0", "--join")),
        ({"threshold": 0, "offsets": "utf16"}, ("--threshold", "0", "--offsets", "utf16")),
    ):
        expected = of_program(extract("--labels", ",".join(LABELS), *words, TEXT)[0])
        assert ask(server, **body) == {"entities": expected}, body
        assert expected or body == {}
    assert ask(server, threshold=0) != ask(server, threshold=0, flat_ner=False)
    for entity in ask(server, threshold=0)["entities"]:
        assert TEXT[entity["start"] : entity["end"]] == entity["text"]


def test_a_list_of_texts_has_a_list_of_answers(server, extract):
    texts = [TEXT, "", "nobody here", TEXT]
    first, second = (of_program(one) for one in extract("--labels", "a,b", "--threshold", "0", TEXT, texts[2]))
    expected = [{"entities": one} for one in (first, [], second, first)]
    body = {"texts": texts, "labels": ["a", "b"], "threshold": 0}
    assert server.post("/gliner", body, x_model="extractor") == expected
    assert server.post("/gliner", body | {"texts": [TEXT]}, x_model="extractor") == expected[:1]
    by_text = body | {"labels": [["a", "b"], ["a"], {"b": None}, []]}
    found = [answer["entities"] for answer in server.post("/gliner", by_text, x_model="extractor")]
    assert found[0] == expected[0]["entities"] and found[1] == found[3] == []
    assert {entity["label"] for entity in found[2]} == {"b"}


def test_labels_have_descriptions(server):
    plain = ask(server, labels=["who walks", "place"], threshold=0)["entities"]
    named = ask(server, labels={"NAME": "who walks", "place": None}, threshold=0)["entities"]
    names = {"who walks": "NAME", "place": "place"}
    assert named == [entity | {"label": names[entity["label"]]} for entity in plain]


def test_texts_of_many_requests_run_together(server):
    texts = [f"{TEXT} {n} " + "word " * (n * 7 % 50) for n in range(40)]
    alone = {text: ask(server, text=text, threshold=0) for text in texts}
    with ThreadPoolExecutor(16) as executor:
        for text, answer in zip(texts, executor.map(lambda text: ask(server, text=text, threshold=0), texts)):
            assert answer == alone[text]
    body = {"texts": texts, "labels": LABELS, "threshold": 0}
    assert server.post("/gliner", body, x_model="extractor") == [alone[text] for text in texts]


def test_a_long_text_is_read_to_its_end(server, extract):
    text = " ".join(f"word{n}" for n in range(900))
    expected = of_program(extract("--labels", "x", "--threshold", "0", text)[0])
    found = ask(server, text=text, labels=["x"], threshold=0)["entities"]
    assert found == expected and found[-1]["end"] == len(text)


def test_what_the_client_of_the_package_sends_beside(server):
    """It has fields for models that are not here: relations are ignored and named, an adapter is not ignored."""
    body = {"text": TEXT, "labels": LABELS, "relations": ["met"], "relation_threshold": 0.3}
    status, headers, _ = server.request("POST", "/gliner", body, {"x-model": "extractor"})
    assert status == 200 and headers["x-ignored-fields"] == "relations, relation_threshold"
    status, answer = server.refused("/gliner", body | {"adapter_id": "mine"}, x_model="extractor")
    assert (status, answer["field"]) == (422, "/adapter_id")


def test_places_in_the_body_are_named(server):
    long = "w " * 512
    for path, body, status, field in (
        ("/gliner", {"text": "a"}, 422, "/labels"),
        ("/gliner", {"labels": ["a"]}, 422, "/text"),
        ("/gliner", {"text": 5, "labels": ["a"]}, 422, "/text"),
        ("/gliner", {"text": "a", "texts": ["a"], "labels": ["a"]}, 422, "/texts"),
        ("/gliner", {"texts": [], "labels": ["a"]}, 400, "/texts"),
        ("/gliner", {"texts": ["a", 5], "labels": ["a"]}, 422, "/texts/1"),
        ("/gliner", {"texts": ["a"] * 257, "labels": ["a"]}, 413, "/texts"),
        ("/gliner", {"text": "a", "labels": "a"}, 422, "/labels"),
        ("/gliner", {"text": "a", "labels": ["a", 5]}, 422, "/labels/1"),
        ("/gliner", {"text": "a", "labels": {"a": "b", "c": 5}}, 422, "/labels/c"),
        ("/gliner", {"text": "a", "labels": ["a"] * 257}, 413, "/labels"),
        ("/gliner", {"text": "a", "labels": ["a" * 1025]}, 422, "/labels/0"),
        ("/gliner", {"text": "a", "labels": {"a": "b" * 1025}}, 422, "/labels/a"),
        ("/gliner", {"text": "a", "labels": ["a", long]}, 422, "/labels"),
        ("/gliner", {"texts": ["a", "b"], "labels": [["a"], [long]]}, 422, "/labels/1"),
        ("/gliner", {"texts": ["a", "b"], "labels": [["a"]]}, 422, "/labels"),
        ("/gliner", {"text": "a", "labels": ["a"], "threshold": 1.5}, 422, "/threshold"),
        ("/gliner", {"text": "a", "labels": ["a"], "threshold": "1"}, 422, "/threshold"),
        ("/gliner", {"text": "a", "labels": ["a"], "flat_ner": 1}, 422, "/flat_ner"),
        ("/gliner", {"text": "a", "labels": ["a"], "multi_labels": True}, 422, "/multi_labels"),
        ("/gliner", {"text": "a", "preset": "all"}, 422, "/preset"),
        ("/gliner", {"text": "a" * 1_100_000, "labels": ["a"]}, 422, "/text"),
        ("/gliner", {"texts": ["a", "! " * 400_000], "labels": ["a"]}, 422, "/texts/1"),
        ("/gliner/restore", {"text": "a"}, 422, "/map"),
        ("/gliner/restore", {"text": "a", "map": ["b"]}, 422, "/map"),
        ("/gliner/restore", {"text": "a", "map": {"[A_1]": 5}}, 422, "/map/[A_1]"),
        ("/gliner/restore", {"map": {}}, 422, "/text"),
        ("/v1/extract", {"labels": ["a"]}, 422, "/text"),
        ("/v1/extract", {"text": "a", "labels": [5]}, 422, "/labels/0"),
        ("/v1/extract", {"text": "a", "chunk_length": 0}, 422, "/chunk_length"),
        ("/v1/extract", {"text": "a", "chunk_length": 9, "overlap": 9}, 422, "/overlap"),
        ("/v1/extract", {"text": "a" * 2000, "chunk_length": 3}, 413, "/text"),
        ("/v1/extract", {"texts": ["a"]}, 422, "/texts"),
    ):
        got, answer = server.refused(path, body, x_model="extractor")
        assert (got, answer.get("field")) == (status, field), (path, str(body)[:100], answer)
    assert ask(server)["entities"] is not None


# ---- POST /v1/extract


def nemo(server, **body):
    """As the client of NeMo Guardrails asks, which sends these fields with its own defaults."""
    usual = {"text": TEXT, "threshold": 0.5, "chunk_length": 384, "overlap": 128, "flat_ner": False}
    return server.post("/v1/extract", usual | body, x_model="extractor")


def outermost(entities):
    return [
        one
        for one in entities
        if not any(
            other is not one and other["start"] <= one["start"] and other["end"] >= one["end"] for other in entities
        )
    ]


def test_a_chunk_that_holds_the_text_has_its_entities(server, extract):
    words = ("--labels", ",".join(LABELS), "--threshold", "0", TEXT)
    for flat, more in ((True, ()), (False, ("--nested",))):
        expected = outermost(of_program(extract(*more, *words)[0]))
        found = nemo(server, labels=LABELS, threshold=0, flat_ner=flat)
        assert found["entities"] == [
            {
                "value": one["text"],
                "suggested_label": one["label"],
                "start_position": one["start"],
                "end_position": one["end"],
                "score": one["score"],
            }
            for one in expected
        ]
        assert found["total_entities"] == len(expected) > 0
        tagged, at = "", 0
        for one in expected:
            if one["start"] >= at:
                tagged += f"{TEXT[at : one['start']]}[{one['text']}]({one['label']})"
                at = one["end"]
        assert found["tagged_text"] == tagged + TEXT[at:]


def test_chunks_are_read_as_texts(server):
    text, length, overlap = f"{TEXT} " * 6, 50, 17
    begins = [0]
    while begins[-1] + length < len(text):
        begins.append(begins[-1] + length - overlap)
    chunks = {"texts": [text[begin : begin + length] for begin in begins], "labels": ["x"], "threshold": 0}
    rows = [answer["entities"] for answer in server.post("/gliner", chunks, x_model="extractor")]
    all_found = [
        (one["start"] + begin, one["end"] + begin, one["score"])
        for begin, row in zip(begins, rows, strict=True)
        for one in row
    ]
    found = nemo(server, text=text, labels=["x"], threshold=0, chunk_length=length, overlap=overlap, flat_ner=True)
    places = [(one["start_position"], one["end_position"]) for one in found["entities"]]
    assert places == sorted(set(places)) and len(places) > 3
    for begin, end, _ in all_found:
        assert any(first <= begin and end <= last for first, last in places)
    best = {}
    for begin, end, score in all_found:
        best[begin, end] = max(score, best.get((begin, end), 0))
    assert [one["score"] for one in found["entities"]] == [best[place] for place in places]
    assert all(text[first:last] == one["value"] for (first, last), one in zip(places, found["entities"], strict=True))
    # without an overlap of its own a third of the chunk, at most 128
    assert nemo(server, text=text, labels=["x"], chunk_length=30, overlap=None, threshold=0) == nemo(
        server, text=text, labels=["x"], chunk_length=30, overlap=10, threshold=0
    )


def test_without_labels_it_asks_for_personal_data(server):
    by_preset = {entity["label"] for entity in ask(server, labels=None, preset="pii", threshold=0)["entities"]}
    for labels in (None, []):
        found = {one["suggested_label"] for one in nemo(server, labels=labels, threshold=0, flat_ner=True)["entities"]}
        assert found and found <= by_preset
    assert {one["suggested_label"] for one in nemo(server, labels=["x"], threshold=0)["entities"]} == {"x"}
    assert nemo(server, text="") == {"entities": [], "total_entities": 0, "tagged_text": ""}


# ---- the hub's form


def test_the_task_of_the_model_itself(server, extract):
    expected = extract("--labels", ",".join(LABELS), "--threshold", "0", TEXT)[0]
    body = {"inputs": TEXT, "parameters": {"candidate_labels": LABELS, "threshold": 0}}
    for path in ("/models/extractor", "/models/extractor/pipeline/entity-extraction", "/", "/invocations"):
        assert server.post(path, body, x_model="extractor") == expected
    assert server.post("/models/extractor", body | {"inputs": [TEXT, ""]}) == [expected, []]
    info = json.loads(server.request("GET", "/info")[2])
    own = next(one for one in info["models"] if one["name"] == "extractor")
    assert own["task"] == "entity-extraction" and own["model_type"] == {"entity_extractor": {}}
    assert server.refused("/predict", {"inputs": TEXT}, x_model="extractor") == (
        422,
        {
            "error": "classify: expected a sequence classification head, got entity-spans; "
            "verbs for this model: extract, embed",
            "error_type": "Validation",
            "code": "validation",
        },
    )
    status, answer = server.refused("/gliner", {"text": TEXT, "labels": LABELS}, x_model="labels")
    assert status == 422 and "extract: expected a GLiNER head, got sequence" in answer["error"]


# ---- personal data


@pytest.mark.parametrize("threshold", [0, 0.3])
def test_letters_without_their_personal_data_and_back(server, deberta, models, tmp_path, threshold):
    """Ten letters, by the server and by the program: what comes back is what was there."""
    letters = [letter for letter, _ in LETTERS]
    body = {"texts": letters, "preset": "pii", "threshold": threshold, "redact": True}
    answers = server.post("/gliner", body, x_model="extractor")
    stands = {}
    for (letter, personal), answer in zip(LETTERS, answers, strict=True):
        assert threshold > 0 or not [one for one in personal if one in answer["redacted_text"]]
        assert all(stands.setdefault(placeholder, text) == text for placeholder, text in answer["map"].items())
        assert all(placeholder in answer["redacted_text"] for placeholder in answer["map"])
        for entity in answer["entities"]:
            assert letter[entity["start"] : entity["end"]] == entity["text"]
        restored = {"text": answer["redacted_text"], "map": answer["map"]}
        assert server.post("/gliner/restore", restored, x_model="extractor") == {"text": letter}
    assert stands
    whole = {"texts": [answer["redacted_text"] for answer in answers], "map": stands}
    assert server.post("/gliner/restore", whole, x_model="labels") == [{"text": letter} for letter in letters]
    place = tmp_path / "map.json"
    words = ("--preset", "pii", "--threshold", str(threshold), "--redact", "--redact-map", place)
    rows = deberta("extract", "-m", models["extractor"], *words, *letters)
    assert [row["text"] for row in rows] == whole["texts"]
    assert json.loads(place.read_text()) == stands


def test_what_is_not_redacted_has_no_map(server):
    assert set(ask(server)) == {"entities"}
    nothing = ask(server, text="a b", labels=[], redact=True)
    assert nothing == {"entities": [], "redacted_text": "a b", "map": {}}
    looks = ask(server, text="a [PERSON_1]", labels=[], redact=True)
    assert looks == {"entities": [], "redacted_text": "a [TEXT_1]", "map": {"[TEXT_1]": "[PERSON_1]"}}


# ---- hostile requests


def test_a_threshold_of_nothing_is_bounded(serve, models, tmp_path):
    """As many spans as a long text has are more than a request may hold."""
    folder = make_extractor(tmp_path / "wide", max_width=40)
    server = serve("-m", folder, *PATIENT)
    body = {"text": "word " * 6000, "labels": ["a", "b", "c"]}
    assert len(server.post("/gliner", body | {"threshold": 1})["entities"]) == 0
    status, answer = server.refused("/gliner", body | {"threshold": 0})
    assert status == 422 and "spans above the threshold, got more" in answer["error"]
    wait_for(lambda: held(server) == 0)


@pytest.mark.parametrize("form", ["plain", "redacted"])
def test_answers_that_would_be_too_large_are_refused_at_once(serve, models, form):
    server = serve("-m", models["extractor"], "--max-answer", "1MiB", *PATIENT)
    name = "x " * 200
    body = {"texts": ["word " * 100] * 100, "labels": [name], "threshold": 0, "redact": form == "redacted"}
    status, answer = server.refused("/gliner", body)
    assert status == 413 and "expected a request whose answer has at most 1048576 bytes" in answer["error"]
    small = body | {"texts": ["word " * 10] * 10}
    assert len(server.post("/gliner", small)) == 10


def test_restored_texts_that_would_be_too_large_are_refused_at_once(server):
    body = {"text": "[A_1]" * 200_000, "map": {"[A_1]": "x" * 1000}}
    status, answer = server.refused("/gliner/restore", body, x_model="extractor")
    assert status == 413 and "at most" in answer["error"]
    wait_for(lambda: held(server) == 0)
    more = body | {"text": "[A_1]" * 1000}
    assert server.post("/gliner/restore", more, x_model="extractor") == {"text": "x" * 1_000_000}


@pytest.mark.parametrize(
    "text",
    ["\x07 " * 200_000, "! " * 200_000, "\ufdfa " * 150_000, "a-" * 400_000],
    ids=["no tokens", "marks", "wide", "a word"],
)
def test_texts_that_become_many_words_or_tokens(serve, models, text):
    server = serve("-m", models["extractor"], *PATIENT)
    status, _, answer = server.request("POST", "/gliner", {"text": text, "labels": ["x"]})
    assert status in (200, 413, 422), answer
    with open(f"/proc/{server.process.pid}/status") as lines:
        peak = next(int(line.split()[1]) for line in lines if line.startswith("VmHWM"))
    assert SANITIZED or peak < 200 * 1024
    wait_for(lambda: held(server) == 0)
