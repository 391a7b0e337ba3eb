"""Questions, right answers and answers to score: made-up ones, which tests/golden/metrics holds, and real ones from the
shared folder, which are derived each time by the same rules. What the official evaluation scripts said about both is in
tests/golden/metrics/official.json (make.py there)."""

import hashlib
import json
import random

from metric_rows import answer_for, record_rows, squad_document, squad_questions

WORDS = (
    "the",
    "The",
    "a",
    "an",
    "AN",
    "cat",
    "Cat",
    "dog",
    "dogs",
    "dog's",
    "re-ran",
    "U.S.",
    "1,000",
    "3.14",
    "$5",
    "100%",
    "(x)",
    "snake_case",
    "theory",
    "anthem",
    "\u00e1",
    "na\u00efve",
    "Stra\u00dfe",
    "STRASSE",
    "\u0130zmir",
    "I",
    "\u0131",
    "\u039f\u0394\u039f\u03a3",
    "\u03a3",
    "\u03bf\u03b4\u03bf\u03c2",
    "\u8c1b\u4eba",
    "\ud55c\uae00",
    "\u2019s",
    "\u201ca\u201d",
    "caf\u00e9",
    "cafe\u0301",
    "\u00aba\u00bb",
    "a\u00b2",
    "the\u0301",
    "\U0001f600",
    "_",
    "--",
    "...",
    "\ufb01n",
    "\uff21",
    "\u01c5",
    "a_b",
    "a-the-b",
)
SPACES = (" ", " ", " ", "  ", "\t", "\u00a0", "\u3000", "\u2028", "\u200b")
COUNT = 150


def phrase(rng, most=5):
    words = [rng.choice(WORDS) for _ in range(rng.randint(1, most))]
    return "".join(word + rng.choice(SPACES) for word in words[:-1]) + words[-1]


def changed(rng, text):
    """As a weak model might answer: the same, with other case, punctuation or spaces, a word more or less, something
    else, nothing."""
    words = text.split()
    return rng.choice(
        [
            text,
            text.upper(),
            text.lower(),
            text.title(),
            "the " + text + ".",
            text + " " + phrase(rng, 2),
            " ".join(words[1:]),
            " ".join(words[::-1]),
            phrase(rng),
            "",
            "a",
            " \u00a0",
            text.replace(" ", "\u00a0"),
            '"' + text + '"!',
            text.swapcase(),
        ]
    )


def made_questions(seed, answerable):
    """(id, right answers, nothing)"""
    rng = random.Random(seed)
    rows = []
    for i in range(COUNT):
        golds = [phrase(rng) for _ in range(rng.randint(1, 4))]
        rows.append((f"made-{i}", golds if answerable or i % 3 else [], ""))
    return rows


def made_squad_1():
    rng = random.Random(21)
    rows = made_questions(20, True)
    # some have none
    answers = {name: changed(rng, rng.choice(golds)) for i, (name, golds, _) in enumerate(rows) if i % 40}
    return {"gold": squad_document(rows), "answers": answers}


def made_squad_2():
    rng = random.Random(23)
    rows = made_questions(22, False)
    answers = {
        name: changed(rng, rng.choice(golds)) if golds else rng.choice(["", "", phrase(rng)]) for name, golds, _ in rows
    }
    sure = {name: round(rng.random() * (0.5 if golds else 1), 1) for name, golds, _ in rows}  # many equal values
    return {"gold": squad_document(rows), "answers": answers, "no_answer": sure}


def record_row(number, names, golds):
    """A passage of names, the right answers among them."""
    text = " , ".join(names)
    starts = [len(" , ".join([*names[:i], ""])) for i in range(len(names))]
    spans = [{"start": start, "end": start + len(name) - 1} for start, name in zip(starts, names)]
    answers = [dict(spans[names.index(gold)], text=gold) for gold in golds]
    return {
        "passage": {"text": text, "entities": spans},
        "qas": [{"query": "@placeholder", "answers": answers, "idx": number}],
    }


def made_record():
    rng = random.Random(24)
    rows, answers = [], {}
    for i in range(COUNT):
        names = list({phrase(rng, 3): None for _ in range(rng.randint(2, 5))})
        golds = rng.sample(names, rng.randint(1, len(names)))
        rows.append(record_row(i, names, golds))
        answers[str(i)] = rng.choice([golds[0], rng.choice(names), changed(rng, rng.choice(golds))])
    return {"gold": rows, "answers": answers}


def real_squad_1():
    rng = random.Random(12)
    questions = squad_questions("v1.1")
    return {
        "gold": squad_document(questions),
        "answers": {
            name: answer_for(i, golds, context, rng) for i, (name, golds, context) in enumerate(questions) if i % 50
        },
    }


def real_squad_2():
    rng = random.Random(13)
    questions = squad_questions("v2.0")
    return {
        "gold": squad_document(questions),
        "answers": {name: answer_for(i, golds, context, rng) for i, (name, golds, context) in enumerate(questions)},
        "no_answer": {name: round(rng.random() * (0.5 if golds else 1), 2) for name, golds, _ in questions},
    }


def real_record():
    rng = random.Random(14)
    rows = record_rows()
    answers = {}
    for i, row in enumerate(rows):
        text, entity = row["passage"]["text"], rng.choice(row["passage"]["entities"])
        golds = [answer["text"] for answer in row["qas"][0]["answers"]]
        answers[str(i)] = [text[entity["start"] : entity["end"] + 1], golds[0], "the " + golds[-1].lower(), ""][
            rng.randrange(4)
        ]
    return {"gold": rows, "answers": answers}


# The scored sets by task; each gives documents by name.
MADE = {"squad": made_squad_1, "squad2": made_squad_2, "record": made_record}
REAL = {"squad": real_squad_1, "squad2": real_squad_2, "record": real_record}
THRESHOLDS = (1.0, 0.3)  # no-answer thresholds of squad2


def text_of(document):
    return json.dumps(document, ensure_ascii=False, sort_keys=True, separators=(",", ":")) + "\n"


def digest(documents):
    """Shows that the same rows are scored."""
    return hashlib.sha256("".join(text_of(documents[name]) for name in sorted(documents)).encode()).hexdigest()
