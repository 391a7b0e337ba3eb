"""Texts with entities for models/extract, from the data there is: CoNLL-2003, whose four kinds of names are marked in
every sentence, and the answers of SQuAD, each of which is an entity of the kind that its question asks for ("What year
did ...": year). A sentence of SQuAD has not been searched for other kinds, so its row says for which labels it was:
those of its answers, some that are rare, and years and dates, which are known by their form. Places of CoNLL-2003 are
cities, countries and states where the answers of SQuAD agree on it."""

import itertools
import json
import lzma
import pathlib
import random
import re
from collections import Counter
from collections.abc import Iterable

NAMES = {"PER": "person", "LOC": "location", "ORG": "organization", "MISC": "miscellaneous"}
# What some rows call these kinds, so that the model reads labels and does not know them by heart.
OTHER_NAMES = {
    "person": ("name of a person", "human"),
    "location": ("place", "geographical name"),
    "organization": ("company or team", "institution"),
    "miscellaneous": ("nationality, event or work", "other name"),
}
# Common kinds of SQuAD that a sentence of CoNLL-2003 without a name of the first kind cannot have. Only there are they
# asked for in vain: each sentence of SQuAD that is asked for one has it.
NARROWER = {
    "person": ("king", "president", "artist"),
    "location": ("country", "city", "state", "region", "river", "island"),
    "organization": ("company", "university", "school", "team", "party"),
}
# The same of one without a digit, a month or a day.
TIMES = ("date", "year", "month", "century", "decade", "percentage")
TIME = re.compile(
    r"\d|\b(Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec|Mon|Tue|Wed|Thu|Fri|Sat|Sun)|year|centur|decade|per ?cent"
)
RENAMED, WHOLE, LEAST, COMMON = 0.15, 0.7, 3, 40
# Kinds of places that answers of SQuAD name, and how many of the questions about a place have to ask for the same one.
PLACES, AGREED = ("city", "country", "state"), 0.75
NARROWED, TIMED = 0.8, 0.5  # shares of the rows that could be asked for them
MONTH = "January|February|March|April|May|June|July|August|September|October|November|December"
FORMS = {
    "date": re.compile(rf"\b(?:(?:{MONTH}) \d{{1,2}}, \d{{4}}|\d{{1,2}} (?:{MONTH}) \d{{4}}|\d{{4}}-\d\d-\d\d)\b"),
    "year": re.compile(r"(?:(?<=[Ii]n )|(?<=[Ss]ince )|(?<=[Bb]y )|(?<=[Uu]ntil )|(?<=[Ff]rom ))[12]\d{3}(?![\w%–-])"),
}
MOST_WORDS = 6  # of an answer
STOP = set(
    "is was are were did do does has had have can could will would may might should must be been being in on at to of "
    "for from by with as and or the that who which during made make makes came come comes became become went use used "
    "uses gave give given call called known said took take got get says led held".split()
)
PLAIN = set("the a an other first second two three famous major main specific particular certain current new".split())


def names_of(kinds: Iterable[str]) -> set[str]:
    """With their other names."""
    return {name for kind in kinds for name in (kind, *OTHER_NAMES.get(kind, ()))}


def write(path: pathlib.Path, rows: list[dict]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")


def tagged_sentences(path: pathlib.Path) -> list[tuple[list[str], list[str]]]:
    sentences = []
    for block in lzma.open(path, "rt", encoding="utf-8").read().split("\n\n"):
        lines = [line.split() for line in block.splitlines() if line and not line.startswith("-DOCSTART-")]
        if lines:
            sentences.append(([line[0] for line in lines], [line[-1] for line in lines]))
    return sentences


def entities_of(tags: list[str]) -> list[list]:
    """[first word, last word, name of the kind]"""
    found = []
    for n, tag in enumerate(tags):
        kind = tag[2:]
        if tag.startswith("I-") and found and found[-1][1] == n - 1 and tags[n - 1][2:] == kind:
            found[-1][1] = n
        elif tag != "O":
            found.append([n, n, kind])
    return [[first, last, NAMES[kind]] for first, last, kind in found]


def absent_kinds(words: list[str], entities: list[list]) -> list[str]:
    """Kinds of SQuAD that the sentence cannot have."""
    found = {kind for _, _, kind in entities}
    absent = [narrow for kind, narrower in NARROWER.items() if kind not in found for narrow in narrower]
    return absent + list(() if TIME.search(" ".join(words)) else TIMES)


def narrow_places(words: list[str], entities: list[list], places: dict[str, str]) -> list[list] | None:
    """The entities, each place as what it is; none where one is not known, or there is none."""
    narrowed, count = [], 0
    for first, last, kind in entities:
        if kind == "location":
            kind, count = places.get(" ".join(words[first : last + 1]).lower()), count + 1
        if kind is None:
            return None
        narrowed.append([first, last, kind])
    return narrowed if count else None


def conll_rows(
    path: pathlib.Path, rng: random.Random | None = None, rare: list[str] = (), places: dict[str, str] | None = None
) -> list[dict]:
    """With `rng` for training: some rows are asked for some kinds alone, whose names alone are then entities, or by
    other names, or for narrower kinds of places, or for others too."""
    rows = []
    for words, tags in tagged_sentences(path):
        entities, asked = entities_of(tags), list(NAMES.values())
        if rng:
            absent = absent_kinds(words, entities)
            absent = rng.sample(absent, min(len(absent), rng.randint(0, 2)))
            narrowed = narrow_places(words, entities, places or {})
            if narrowed and rng.random() < NARROWED:
                entities, asked = narrowed, [kind for kind in asked if kind != "location"] + list(PLACES)
            if rng.random() > WHOLE:
                asked = rng.sample(asked, rng.randint(1, 3))
                entities = [entity for entity in entities if entity[2] in asked]
            names = {kind: rng.choice(others) for kind, others in OTHER_NAMES.items() if rng.random() < RENAMED}
            entities = [[first, last, names.get(kind, kind)] for first, last, kind in entities]
            asked = [names.get(kind, kind) for kind in asked] + absent + rng.sample(rare, rng.randint(0, 3))
        rows.append({"tokenized_text": words, "ner": entities, "ner_negatives": asked})
    return rows


def kind_asked_for(question: str) -> str | None:
    """ "In what year did it end?": year"""
    words = re.findall(r"[a-z][a-z'-]*", question.lower())
    place = next((n for n, word in enumerate(words) if word in ("what", "which", "when", "where")), None)
    if place is None or words[place] == "where":
        return None
    if words[place] == "when":
        return "date"
    rest = words[place + 1 :]
    if rest[:1] and rest[0] in ("is", "was", "are", "were"):
        named = re.match(r"the name of (?:the )?(.*)", " ".join(rest[1:]))
        if not named:
            return None
        rest = named[1].split()
    if rest[:2] in (["type", "of"], ["kind", "of"], ["sort", "of"]):
        rest = rest[2:]
    noun = []
    for word in rest:
        if word in STOP or word.endswith("ed"):
            break
        noun.append(word)
    while noun and noun[0] in PLAIN:
        noun = noun[1:]
    return " ".join(noun) if 0 < len(noun) <= 3 and len(noun[-1]) > 2 else None


def singular(kind: str, kinds: Counter) -> str:
    for ending, other in (("ies", "y"), ("s", "")):
        if kind.endswith(ending) and kind[: -len(ending)] + other in kinds:
            return kind[: -len(ending)] + other
    return kind


def sentences_of(context: str) -> list[tuple[int, int]]:
    edges = [0, *(found.end() for found in re.finditer(r"(?<=[.!?])\s+(?=[A-Z\"(])", context)), len(context)]
    return list(itertools.pairwise(edges))


def asked_spans(path: pathlib.Path) -> list[tuple[str, list[tuple[int, int, str]]]]:
    """Contexts with the answers that are short, each with the kind that its question asks for."""
    found = []
    for article in json.load(lzma.open(path, "rt", encoding="utf-8"))["data"]:
        for paragraph in article["paragraphs"]:
            spans = []
            for question in paragraph["qas"]:
                kind, answer = kind_asked_for(question["question"]), question["answers"][0]
                text = answer["text"].strip(" .,;:!?\"'()")
                begin = paragraph["context"].find(text, answer["answer_start"])
                if kind and text and begin >= 0 and len(text.split()) <= MOST_WORDS:
                    spans.append((begin, begin + len(text), kind))
            found.append((paragraph["context"], spans))
    return found


Contexts = list[tuple[str, list[tuple[int, int, str]]]]


def places_of(contexts: Contexts) -> dict[str, str]:
    """{name in lower case: city, country or state}, of answers that are asked for as the same kind of place."""
    asked: dict[str, Counter] = {}
    for context, spans in contexts:
        for first, last, kind in spans:
            if kind.split()[-1] in PLACES and context[first].isupper():
                asked.setdefault(context[first:last].lower(), Counter())[kind.split()[-1]] += 1
    best = {name: kinds.most_common(1)[0] for name, kinds in asked.items()}
    return {name: kind for name, (kind, count) in best.items() if count >= AGREED * asked[name].total()}


def timed_entities(text: str, rng: random.Random) -> tuple[set[tuple[int, int, str]], set[str]]:
    """Spans of a kind of time that is known by its form, and the kinds that the row is then asked for."""
    kind = rng.choice([*FORMS])
    spans = {(*found.span(), kind) for found in FORMS[kind].finditer(text)}
    return spans, {kind} if spans and rng.random() < TIMED else set()


def squad_rows(contexts: Contexts, rng: random.Random) -> tuple[list[dict], list[str]]:
    """The rows, and the kinds that are rare enough to be asked of any text: none of those of CoNLL-2003, which most
    texts have."""
    kinds = Counter(kind for _, spans in contexts for _, _, kind in spans)
    kinds = Counter(singular(kind, kinds) for _, spans in contexts for _, _, kind in spans)
    kept = {kind for kind, count in kinds.items() if count >= LEAST}
    everywhere = names_of(NAMES.values())
    rare = [kind for kind, _ in kinds.most_common()[COMMON:] if kind in kept - everywhere]
    rows = []
    for context, spans in contexts:
        for begin, end in sentences_of(context):
            text = context[begin:end].rstrip()
            entities = {
                (first - begin, last - begin, singular(kind, kinds))
                for first, last, kind in spans
                if begin <= first and last <= begin + len(text) and singular(kind, kinds) in kept
            }
            if not entities:
                continue
            timed, asked = timed_entities(text, rng)
            own = {kind for _, _, kind in entities}
            if asked and not own & {"date", "year"}:  # a row that has some of them says which it has
                entities, own = entities | timed, own | asked
            entities = sorted(entities)
            rows.append(
                {
                    "text": text,
                    "entities": [{"start": first, "end": last, "label": kind} for first, last, kind in entities],
                    "labels": sorted(own | set(rng.sample(rare, rng.randint(1, 6)))),
                }
            )
    return rows, rare


def without(rows: list[dict], kinds: set[str]) -> list[dict]:
    """The rows with nothing said of these kinds, under any of their names; those that say nothing else are left out."""
    names, kept = names_of(kinds), []
    for row in rows:
        row = dict(row)
        for key in ("ner_negatives", "labels"):
            if key in row:
                row[key] = [label for label in row[key] if label not in names]
        if "ner" in row:
            row["ner"] = [entity for entity in row["ner"] if entity[2] not in names]
        else:
            row["entities"] = [entity for entity in row["entities"] if entity["label"] not in names]
        if row.get("ner_negatives") or row.get("labels"):
            kept.append(row)
    return kept


def write_rows(
    data: pathlib.Path, folder: pathlib.Path, held_out: frozenset[str] = frozenset(), seed: int = 1234
) -> None:
    """FOLDER/train.jsonl and FOLDER/valid.jsonl; neither has the kinds that are held out, so that no step is chosen by
    them."""
    rng = random.Random(seed)
    contexts = asked_spans(data / "squad/train-v1.1.rebuilt.json.xz")
    squad, rare = squad_rows(contexts, rng)
    places = {} if "location" in held_out else places_of(contexts)
    rows = conll_rows(data / "conll2003/train.txt.xz", rng, rare, places) + squad
    write(folder / "train.jsonl", without(rows, set(held_out)))
    write(folder / "valid.jsonl", without(conll_rows(data / "conll2003/valid.txt.xz"), set(held_out)))
