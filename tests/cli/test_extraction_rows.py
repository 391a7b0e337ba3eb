"""models/extraction_rows.py: what rows of CoNLL-2003 and of SQuAD say about their texts."""

import importlib.util
import json
import lzma
import random

import pytest

from models import ROOT

SENTENCES = "Ada NNP I-NP I-PER\nwas VBD I-VP O\nin IN I-PP O\nRome NNP I-NP I-LOC\n\n" * 40
KINDS = ("river", "lake", "tower", "bridge", "street", "king")
PARAGRAPH = {
    "context": "Ada Lovelace saw the Tiber in 1830. Nobody else did.",
    "qas": [
        {"question": "Which person was it?", "answers": [{"text": "Ada Lovelace", "answer_start": 0}]},
        *({"question": f"What {kind} was it?", "answers": [{"text": "Tiber", "answer_start": 21}]} for kind in KINDS),
    ],
}


@pytest.fixture
def module(monkeypatch):
    spec = importlib.util.spec_from_file_location("extraction_rows", ROOT / "models/extraction_rows.py")
    loaded = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(loaded)
    monkeypatch.setattr(loaded, "COMMON", 0)
    monkeypatch.setattr(loaded, "LEAST", 1)
    return loaded


@pytest.fixture
def data(tmp_path):
    for name, text in (
        ("conll2003/train.txt.xz", SENTENCES),
        ("conll2003/valid.txt.xz", SENTENCES),
        ("squad/train-v1.1.rebuilt.json.xz", json.dumps({"data": [{"paragraphs": [PARAGRAPH] * 3}]})),
    ):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(lzma.compress(text.encode()))
    return tmp_path


def read(path):
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def test_a_row_has_no_entity_of_a_kind_that_it_is_not_asked_for(module, data):
    rows = module.conll_rows(data / "conll2003/train.txt.xz", random.Random(1), KINDS)
    assert all({kind for _, _, kind in row["ner"]} <= set(row["ner_negatives"]) for row in rows)
    assert any(len(row["ner"]) == 1 for row in rows) and any(len(row["ner"]) == 2 for row in rows)


def test_common_kinds_are_asked_for_where_they_cannot_be(module):
    """A kind that is there whenever it is asked for would be found in any text."""
    kinds = module.absent_kinds(["Ada", "was", "in", "Rome"], [[0, 0, "person"], [3, 3, "location"]])
    assert {"company", "year"} <= set(kinds) and not {"king", "city"} & set(kinds)
    for word in ("1830", "May", "Tuesday", "years", "percent"):
        assert "date" not in module.absent_kinds(["in", word], [])
    assert {"city", "king", "date"} <= set(module.absent_kinds(["It", "rained"], []))


def test_kinds_of_every_text_are_not_asked_of_any(module, data):
    """Else the persons of a sentence that nobody has searched for persons are none."""
    rows, rare = module.squad_rows(module.asked_spans(data / "squad/train-v1.1.rebuilt.json.xz"), random.Random(1))
    assert set(rare) == set(KINDS)
    assert {entity["label"] for row in rows for entity in row["entities"]} - {"year"} == {"person", *KINDS}


def test_kinds_that_are_held_out_stand_in_no_row(module, data, tmp_path):
    module.write_rows(data, tmp_path / "rows", frozenset({"location", "person"}))
    held_out = module.names_of({"location", "person"})
    for name in ("train.jsonl", "valid.jsonl"):
        rows = read(tmp_path / "rows" / name)
        assert rows
        for row in rows:
            labels = set(row.get("labels", row.get("ner_negatives")))
            assert labels and not labels & held_out
            assert not row.get("ner") and {entity["label"] for entity in row.get("entities", ())} <= {*KINDS, "year"}


def test_the_same_seed_gives_the_same_rows(module, data, tmp_path):
    for name in ("one", "two"):
        module.write_rows(data, tmp_path / name)
    assert (tmp_path / "one/train.jsonl").read_bytes() == (tmp_path / "two/train.jsonl").read_bytes()
    assert len(read(tmp_path / "one/valid.jsonl")) == 40


def test_places_are_what_the_answers_agree_on(module, data):
    def asked(*kinds):
        return ("The capital is Rome.", [(15, 19, kind) for kind in kinds])

    assert module.places_of([asked("city"), asked("capital city", "city", "state")]) == {"rome": "city"}
    assert module.places_of([asked("city", "country")]) == {} == module.places_of([("in rome", [(3, 7, "city")])])
    rows = module.conll_rows(data / "conll2003/train.txt.xz", random.Random(1), KINDS, {"rome": "city"})
    found = [row for row in rows if "city" in row["ner_negatives"]]
    assert found and not any("location" in row["ner_negatives"] for row in found)
    assert all([3, 3, "city"] in row["ner"] for row in found)
    words, entities = ["Rome", "and", "Oslo"], [[0, 0, "location"], [2, 2, "location"]]
    assert module.narrow_places(words, entities, {"rome": "city"}) is None  # of Oslo nobody knows


def test_years_and_dates_are_known_by_their_form(module):
    text = "In 1830, and again on May 3, 1831 since 1829, 1500 men came (2 June 1832, 1833-34)."
    found = {kind: [text[slice(*one.span())] for one in form.finditer(text)] for kind, form in module.FORMS.items()}
    assert found == {"date": ["May 3, 1831", "2 June 1832"], "year": ["1830", "1829"]}
    seen = [module.timed_entities(text, random.Random(seed)) for seed in range(20)]
    assert any(asked == {"year"} for _, asked in seen) and any(asked == set() for _, asked in seen)
