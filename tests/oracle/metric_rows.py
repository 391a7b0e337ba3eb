"""Labelled rows and answers for the comparison of metrics: real ones from the shared folder if it is there, else
made-up ones. The answers come from simple rules on the texts, so that they are right and wrong like a weak model's,
with many equal scores and some empty answers."""

import csv
import io
import json
import lzma
import random

from oracle_runs import SHARED

ROWS = 1000


def lines_of(name):
    path = SHARED / "data" / name
    if not path.exists():
        return None
    return [
        line.rstrip("\r")
        for line in lzma.open(path, "rt", encoding="utf-8", newline="\n").read().rstrip("\n").split("\n")
    ]


def overlap(first, second):
    """Between 0 and 1, in steps, so that many rows share a value."""
    a, b = set(first.lower().split()), set(second.lower().split())
    return round(len(a & b) / max(1, len(a | b)), 1)


def made_pairs(seed):
    rng = random.Random(seed)
    words = "the cat dog sat ran on a mat tree big small red".split()
    return [
        (" ".join(rng.choices(words, k=rng.randint(1, 9))), " ".join(rng.choices(words, k=rng.randint(1, 9))))
        for _ in range(ROWS)
    ]


def sts_rows():
    """(sentence 1, sentence 2, score)"""
    lines = lines_of("glue/STS-B/train.tsv.xz")
    if lines is None:
        return [(a, b, str(round(5 * overlap(a, b), 1))) for a, b in made_pairs(1)]
    cells = [line.split("\t") for line in lines[1:]]
    return [(row[7], row[8], row[9]) for row in cells[:ROWS]]


def cola_rows():
    """(sentence, label)"""
    lines = lines_of("glue/CoLA/train.tsv.xz")
    if lines is None:
        return [(a, str(len(b) % 2)) for a, b in made_pairs(2)]
    return [(cells[3], cells[1]) for cells in (line.split("\t") for line in lines[:ROWS])]


def paraphrase_rows():
    """(sentence 1, sentence 2, label)"""
    lines = lines_of("glue/MRPC/train.tsv.xz")
    if lines is None:
        return [(a, b, str(int(overlap(a, b) > 0.4))) for a, b in made_pairs(3)]
    return [(cells[3], cells[4], cells[0]) for cells in (line.split("\t") for line in lines[1 : ROWS + 1])]


def nli_rows():
    """(premise, hypothesis, label)"""
    lines = lines_of("nli/mpe/dev.csv.xz")
    names = ("contradiction", "neutral", "entailment")
    if lines is None:
        return [(a, b, names[len(a) % 3]) for a, b in made_pairs(4)]
    return [tuple(row) for row in list(csv.reader(io.StringIO("\n".join(lines))))[1 : ROWS + 1]]


def squad_questions(version):
    """(id, answers, context) from the shared folder; with no answers the question is unanswerable"""
    rows = []
    for article in json.loads("\n".join(lines_of(f"squad/dev-{version}.rebuilt.json.xz")))["data"]:
        for paragraph in article["paragraphs"]:
            rows += [
                (qa["id"], [answer["text"] for answer in qa["answers"]], paragraph["context"])
                for qa in paragraph["qas"]
            ]
    random.Random(6).shuffle(rows)
    return rows[:ROWS]


def answer_for(number, golds, context, rng):
    """Right, longer, shorter, with other case and punctuation, from another place, or empty."""
    words = context.split()
    start = rng.randrange(len(words))
    other = " ".join(words[start : start + rng.randint(1, 6)])
    if not golds:
        return ["", "", other][number % 3]
    gold = golds[number % len(golds)]
    return [
        gold,
        "the " + gold.upper() + ".",
        gold + " " + other,
        " ".join(gold.split()[:-1]),
        other,
        "",
        "a",
        gold.replace(" ", " \u00a0\t"),
    ][number % 8]


def squad_document(questions):
    """The questions as a SQuAD file: each with a context of its own that contains its answers."""
    paragraphs = []
    for name, answers, _ in questions:
        context, starts = "", []
        for answer in answers:
            starts.append(len(context))
            context += answer + "\n"
        qa = {
            "id": name,
            "question": "?",
            "answers": [{"text": a, "answer_start": s} for a, s in zip(answers, starts)],
            "is_impossible": not answers,
        }
        paragraphs.append({"context": context, "qas": [qa]})
    return {"version": "v2.0", "data": [{"title": "", "paragraphs": paragraphs}]}


def record_rows():
    """ReCoRD lines from the shared folder, repeated, each query with an id of its own."""
    lines = lines_of("superglue/ReCoRD/dev32.jsonl.xz")
    rows = []
    while len(rows) < ROWS:
        row = json.loads(lines[len(rows) % len(lines)])
        row["qas"] = [dict(row["qas"][0], idx=len(rows))]
        rows.append(row)
    return rows


def tagged_sentences():
    """[(word, tag)] of each sentence"""
    lines = lines_of("conll2003/valid.txt.xz")
    rng = random.Random(8)
    if lines is None:
        kinds = ("PER", "LOC", "ORG")
        return [
            [
                (f"w{i}", rng.choice(["O", "O"] + [f"{place}-{kind}" for place in "BI" for kind in kinds]))
                for i in range(rng.randint(1, 12))
            ]
            for _ in range(ROWS)
        ]
    sentences = [[]]
    for line in lines:
        if not line or line.startswith("-DOCSTART-"):
            sentences.append([])
        else:
            sentences[-1].append((line.split()[0], line.split()[-1]))
    return [sentence for sentence in sentences if sentence][:ROWS]


def predicted_tags(sentence, rng):
    """Mostly right; others break the scheme, or have another kind or place."""
    tags = [tag for _, tag in sentence]
    for i, tag in enumerate(tags):
        if rng.random() < 0.15:
            tags[i] = rng.choice(
                ["O", tag.replace("B-", "I-"), tag.replace("I-", "B-"), "I-PER", "B-ORG", "I-MISC", "E-LOC", "S-PER"]
            )
    return tags


SCHEMES = {"IOB1": "BI", "IOB2": "BI", "IOBES": "BIES", "BILOU": "BILU"}  # seqeval's names, and their letters
KINDS = ("PER", "LOC", "ORG")


def scheme_tags(entities, length, scheme):
    """The tags of a sentence of `length` words. entities: (begin, end, kind), in order."""
    tags, before = ["O"] * length, None
    last, single = ("L", "U") if scheme == "BILOU" else ("E", "S")
    for begin, end, kind in entities:
        places = ["I"] * (end - begin)
        if scheme == "IOB2" or before == (begin, kind):  # IOB1: only where two entities of a kind touch
            places[0] = "B"
        if scheme in ("IOBES", "BILOU"):
            places = [single] if end - begin == 1 else ["B", *places[2:], last]
        tags[begin:end] = [f"{place}-{kind}" for place in places]
        before = (end, kind)
    return tags


def scheme_sentences(scheme, rng):
    """(gold, right tags of other entities, tags that break the scheme) of ROWS sentences"""
    gold, others, broken = [], [], []
    for _ in range(ROWS):
        length, at, entities = rng.randint(1, 14), 0, []
        while at < length:
            if rng.random() < 0.4:
                entities.append((at, min(at + rng.choice((1, 1, 2, 3, 4)), length), rng.choice(KINDS)))
            at = entities[-1][1] if entities and entities[-1][1] > at else at + 1
        found = [
            (begin, end, kind if rng.random() < 0.8 else "LOC") for begin, end, kind in entities if rng.random() < 0.9
        ]
        gold.append(scheme_tags(entities, length, scheme))
        others.append(scheme_tags(found, length, scheme))
        broken.append(
            [
                rng.choice(["O"] + [f"{place}-{kind}" for place in SCHEMES[scheme] for kind in KINDS])
                if rng.random() < 0.15
                else tag
                for tag in others[-1]
            ]
        )
    return gold, others, broken
