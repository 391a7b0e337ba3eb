"""`extract` against the package gliner: random models over every part, texts in several languages with emoji, tables
and code, many sets of labels."""

import random

import pytest

from extraction_models import OLD_KEYS, PARTS, candidates_of, entities, is_decided, make
from oracle_runs import ALL, needs_program, sampled
from pipeline_runs import program
from random_text import random_string

pytestmark = needs_program
TOLERANCE = 1e-5
MARGIN = 2e-6  # of scores that may come in either order
THRESHOLDS = (0.3, 0.6)  # flat; nested, with several labels
TEXTS = [
    "Ada Lovelace was born in London in 1815, and wrote about the state-of-the-art engine no_1 (see p. 3).",
    "Die Bundeskanzlerin traf sich am 3. Mai in M\u00fcnchen mit Vertretern der Siemens AG \u00fcber 3,5 Mio. \u20ac.",
    "\u5317\u4eac\u5927\u5b66\u7684\u738b\u6559\u6388\u57282023\u5e74\u8bbf\u95ee\u4e86\u4e0a\u6d77\u7684\u516c\u53f8\u3002",
    "\U0001f600 \U0001f469\u200d\U0001f4bb wrote to a.b@example.org \U0001f1e9\U0001f1ea at +49 (30) 1234-5678 !!",
    "| name | born |\n|---|---|\n| Ada | 1815 |\n| Alan | 1912 |",
    "def f(x_1, y):\n\treturn {'a': x_1[0] ** 2, \"b\": y}  # see RFC-2616_draft-3",
    "e\u0301te\u0301 \u0928\u092e\u0938\u094d\u0924\u0947",
    "\u0645\u0631\u062d\u0628\u0627 \u0e2a\u0e27\u0e31\u0e2a\u0e14\u0e35",
    "\u00bd \u2167 x\u00b2 \u0661\u0662",
    "one",
    "-",
    "",
    " \t\n",
    "the same the same the same the same",
    "e\u0301\u0301x n\u0303andu \u0915\u094d\u0937 \u1100\u1161\u11a8",
    "\u202b\u05e9\u05dc\u05d5\u05dd\u202c met\u200bZo\u00eb\ufeff in\u00a0\u3000x",
    "tabs\tand\r\nlines\x0b\x0c\x1c\x1d\x1e\x1f\x85\u2028\u2029end",
    "a-b_c--d -e f- _ - __ a-_-b 1-2-3 x_y-z",
    "\ufb01 \uff21\uff44\uff41 \u2460 \u0130stanbul \u0149 [SEP] <<ENT>> x <<SEP>> \u2581Ada\u2581",
]
LABELS = [
    ["person", "city", "organization"],
    ["x"],
    ["a long label of seven words , here", "Person", "PERSON", "\u4eba", "\U0001f600"],
    [" spaces around ", "tab\tinside", ""],
    [f"label {n}" for n in range(12)],
    {"NAME": "the name of a person", "WHERE": "place"},
    ["twice", "once", "twice"],
    ["caf\u00e9", "cafe\u0301", "CAF\u00c9", "\uff23\uff21\uff26\uff25", "person ", " person", "person"],
    ["a,b", "a=0.3", "l\nm", '"q"', "\\", "date/time", "\u2116 5", "\ufb01", "\u00df", "\u0130"],
    ["\ufeffbom", "a\u0000b", "\u202eRTL", "\u0645\u0631\u062d\u0628\u0627", "\U0001f1e9\U0001f1ea", "\u200b"],
    ["\u2581", "_", "-", "<<", "ENT", "x" * 200],
]


def texts_of(seed, count):
    """The texts above, and random ones. A word without a piece is left out: the package reads the states of all words
    behind it one word too far (docs/concepts/model-heads.md#entities)."""
    rng = random.Random(seed)
    drawn = ["".join(c for c in random_string(rng, 60) if c.isprintable() or c in " \t\n") for _ in range(count)]
    return TEXTS + drawn


def has_word_without_piece(model, text):
    tokenizer = model.data_processor.transformer_tokenizer
    words = [word for word, _, _ in model.data_processor.words_splitter(text)]
    return any(not ids for ids in tokenizer(words, add_special_tokens=False)["input_ids"]) if words else False


def labels_of_row(labels):
    return labels if isinstance(labels, list) else dict(labels)


def their_names(labels):
    return list(dict.fromkeys(labels))


def compare(model, folder, cases, threshold, is_nested, is_multi_label, *words):
    """How many of the cases, (text, labels), were compared."""
    rows = [{"text": text, "labels": labels_of_row(labels)} for text, labels in cases]
    words = (*words, *(["--nested"] if is_nested else []), *(["--multi-label"] if is_multi_label else []))
    answers = program(folder, "extract", rows, "--threshold", str(threshold), *words)
    compared = 0
    for (text, labels), answer in zip(cases, answers, strict=True):
        above = candidates_of(model, text, labels, threshold)
        below = candidates_of(model, text, labels, threshold - 2 * MARGIN)
        if not is_decided(model, above, below, threshold, MARGIN):
            continue
        compared += 1
        wanted = entities(model, text, labels, threshold, is_nested, is_multi_label)
        mine = [(one["entity_group"], one["start"], one["end"], one["score"]) for one in answer["entities"]]
        assert [one[:3] for one in mine] == [one[:3] for one in wanted], (text, labels)
        assert all(abs(a[3] - b[3]) < TOLERANCE for a, b in zip(mine, wanted)), (text, labels)
    return compared


def fitting(model, cases):
    """Those that both sides read whole."""
    tokenizer = model.data_processor.transformer_tokenizer
    kept = []
    for text, labels in cases:
        words = [word for word, _, _ in model.data_processor.words_splitter(text)]
        names = their_names(labels if isinstance(labels, list) else labels.values())
        pieces = sum(
            len(ids)
            for part in (words, [name for name in names if name])
            if part
            for ids in tokenizer(part, add_special_tokens=False)["input_ids"]
        )
        if pieces + len(names) + 3 <= 512 and not has_word_without_piece(model, text):
            kept.append((text, labels))
    return kept


def cases_of(model, seed):
    count = 60 if ALL else 12
    texts = texts_of(seed, count)
    return fitting(
        model,
        [(text, LABELS[i % len(LABELS)]) for i, text in enumerate(texts)] + [(TEXTS[0], labels) for labels in LABELS],
    )


@pytest.mark.parametrize("name", sampled(list(PARTS), 3))
def test_entities_are_those_of_the_package(tmp_path, name):
    model = make(tmp_path, seed=len(name), **PARTS[name])
    cases = cases_of(model, name)
    compared = 0
    for number, threshold in enumerate(THRESHOLDS):
        is_nested, is_multi_label = number == 1, number != 0
        compared += compare(model, tmp_path, cases, threshold, is_nested, is_multi_label)
    assert compared > 0.5 * len(cases) * len(THRESHOLDS)


@pytest.mark.parametrize(
    "is_nested, is_multi_label", sampled([(False, False), (False, True), (True, False), (True, True)], 1)
)
def test_overlaps_are_those_of_the_package(tmp_path, is_nested, is_multi_label):
    model = make(tmp_path, seed=7, max_width=6)
    cases = cases_of(model, 7)
    assert compare(model, tmp_path, cases, 0.1, is_nested, is_multi_label) > len(cases) / 2


def test_safetensors_and_pickles_are_the_same_model(tmp_path):
    rows = [{"text": text, "labels": ["a", "b"]} for text in TEXTS]
    found = []
    for as_safetensors in (False, True):
        folder = tmp_path / str(as_safetensors)
        make(folder, seed=3, as_safetensors=as_safetensors)
        found.append(program(folder, "extract", rows, "--threshold", "0.1"))
    assert found[0] == found[1]


@pytest.mark.parametrize("mode", sampled(["markerV0", "marker", "token_level"], 1))
def test_old_folders_have_their_base_models_files(tmp_path, mode):
    model = make(tmp_path, seed=5, is_old=True, span_mode=mode)
    assert {file.name for file in (tmp_path / "model").iterdir()} == {"gliner_config.json", "pytorch_model.bin"}
    assert model.config.num_rnn_layers == 1 and "num_rnn_layers" not in OLD_KEYS
    cases = cases_of(model, 5)
    assert compare(model, tmp_path, cases, 0.4, False, False) > len(cases) / 2


def test_a_text_beyond_max_len_is_cut_as_by_the_package_where_that_is_asked_for(tmp_path):
    model = make(tmp_path, seed=9, max_len=9)
    cases = fitting(model, [(text, LABELS[0]) for text in texts_of(9, 12)])
    assert compare(model, tmp_path, cases, 0.3, False, False, "--truncate", "right") > len(cases) / 2
    rows = [{"text": TEXTS[0], "labels": LABELS[0]}]
    windows = program(tmp_path, "extract", rows, "--threshold", "0", "--multi-label")[0]["entities"]
    assert windows[-1]["end"] == len(TEXTS[0])


def test_a_label_without_a_piece_is_read_as_an_empty_one(tmp_path):
    """The package counts it as a word before the text, and reads the states of all words one too far."""
    model = make(tmp_path, seed=13)
    texts = [text for text, _ in fitting(model, [(text, ["person"]) for text in TEXTS])]
    differs = False
    for mark in (" ", "\x07"):
        rows = [{"text": text, "labels": ["person", mark, "x"]} for text in texts]
        answers = program(tmp_path, "extract", rows, "--threshold", "0.3")
        for text, answer in zip(texts, answers, strict=True):
            mine = [(one["entity_group"], one["start"], one["end"]) for one in answer["entities"]]
            empty, own = (
                [(name or mark, *place) for name, *place, _ in entities(model, text, ["person", label, "x"], 0.3)]
                for label in ("", mark)
            )
            assert mine == empty, (text, mark)
            differs |= own != empty
    assert differs


def test_an_empty_description_is_none(tmp_path):
    model = make(tmp_path, seed=13)
    rows = [{"text": text, "labels": {"person": "", "x": "a thing"}} for text in TEXTS]
    named = [{"text": text, "labels": {"person": "person", "x": "a thing"}} for text in TEXTS]
    words = ("extract", rows, "--threshold", "0.3"), ("extract", named, "--threshold", "0.3")
    found, wanted = (program(tmp_path, *more) for more in words)
    assert found == wanted
    theirs = [entities(model, text, {"person": "", "x": "a thing"}, 0.3) for text in TEXTS]
    assert [[one[:3] for one in row] for row in theirs] != [
        [(one["entity_group"], one["start"], one["end"]) for one in row["entities"]] for row in found
    ]


def test_many_labels_are_scored_with_the_text(tmp_path):
    model = make(tmp_path, seed=11, span_mode="marker")
    labels = [f"kind {n}" for n in range(60)]
    cases = fitting(model, [(text, labels) for text in TEXTS])
    assert cases and compare(model, tmp_path, cases, 0.5, False, True) > len(cases) / 2
