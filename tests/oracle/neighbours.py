#!/usr/bin/env python3
"""Synthetic neighbours of the published folders: each key of each metadata file is replaced in turn by null, a text, a
number beyond 64 bits and more, and left out. What transformers 4.57 loads must give the same ids, logits and labels
here; the rest is refused in one sentence.

neighbours.py [--count N --seed S] [--folder NAME] [--file NAME] [--key NAME] [--jobs N] [--out FILE]:
all of them, or N drawn at random."""

import argparse
import collections
import copy
import dataclasses
import functools
import json
import multiprocessing
import os
import pathlib
import random
import shutil
import sys
import tempfile

import numpy
import torch

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import both_sides as sides
from neighbour_rules import GOOD, describe, verdict_of
from published_cases import CASES, PUBLISHED, SEQUENCE, TOKEN, make_folder, published_files

MARK = "@@the value@@"
BEYOND = "1000000000000000019884624838656"  # what transformers writes for "no limit"
# Numbers that 32 bits do not hold: not an exact 32-bit float, near the largest float and beyond it, below the smallest,
# beyond signed and unsigned integers.
HOSTILE_NUMBERS = ("16777217", "3.4e38", "1e39", "1e-46", "-0.0", "2147483648", "4294967297")
# More of each kind, so that rules are tested and not single values.
OTHERS = {
    "empty text": '""',
    "name": '"gelu"',
    "digits": '"7"',
    "NUL": '"a\\u0000b"',
    "strange text": '"\\ud83d\\u0000 \\u00e9"',
    "false": "false",
    "2^63": "9223372036854775808",
    "2^64": "18446744073709551616",
    "below 64 bits": "-9223372036854775809",
    "-Infinity": "-Infinity",
    "-1": "-1",
    "0": "0",
    "1": "1",
    "-1.5": "-1.5",
    "1e-12": "1e-12",
    "numbers": "[1, 2]",
    "texts": '["a", "b"]',
    "nested": "[[], {}, null]",
    "entry": '{"a": 1}',
    "labels": '{"0": "x", "7": "y"}',
}
TEXTS = [
    "a fine film",
    "Hello, [MASK] World[SEP]  x ",
    ("A man plays .", "Nobody e\u0301 plays \U0001f600"),
    "don't (x) \u8c1b UPPER",
    ("The quick brown fox, " * 40, "jumps over it ? " * 70),
]
ENTRIES_OF_LABELS = ("id2label", "label2id")
KEYS_OF_SCORES = (("problem_type",), ("num_labels",), ("id2label",))
# read by sentence-transformers, not transformers: its answers are recorded
SENTENCE_FILES = ("modules.json", "1_Pooling/config.json")


@dataclasses.dataclass(frozen=True)
class Neighbour:
    case: int
    file: str
    path: tuple
    name: str  # of the replacement
    text: str  # the whole file

    def __str__(self):
        return f"{CASES[self.case].folder}/{self.file} {'.'.join(map(str, self.path)) or '(whole)'} = {self.name}"


def keys_of(value, path=()):
    """The path of every key and every item; for labels only the first and the last."""
    entries = (
        list(value.items()) if isinstance(value, dict) else list(enumerate(value)) if isinstance(value, list) else []
    )
    if path and path[-1] in ENTRIES_OF_LABELS and len(entries) > 2:
        entries = [entries[0], entries[-1]]
    for key, inner in entries:
        if (*path, key) == ("model",):
            continue  # the vocabulary of a tokenizer.json
        yield (*path, key)
        yield from keys_of(inner, (*path, key))


def replacements(value):
    """(name, JSON text) of the replacements for a value."""
    yield "null", "null"
    yield "text", '"abc"'
    yield "beyond", BEYOND
    yield "float", "0.5"
    yield "whole", f"{float(value)}" if isinstance(value, int) else "2.0"
    yield "list", "[]"
    yield "listed", json.dumps([value])
    yield "object", "{}"
    yield "true", "true"
    yield "nan", "NaN"
    yield "1e400", "1e400"
    if isinstance(value, (int, float)):
        yield "quoted", json.dumps(str(value))
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        for number in HOSTILE_NUMBERS:
            yield number, number
    yield from OTHERS.items()


def pooled(states):
    """{name of a pooling: vector} from the states of one text's tokens."""
    weights = torch.arange(1, len(states) + 1)[:, None].float()
    return {
        "cls": states[0],
        "mean": states.mean(0),
        "max": states.max(0).values,
        "mean_sqrt_len": states.sum(0) / len(states) ** 0.5,
        "weightedmean": (states * weights).sum(0) / weights.sum(),
        "lasttoken": states[-1],
    }


def at(document, path):
    for key in path:
        document = document[key]
    return document


def with_mark(document, path):
    changed = copy.deepcopy(document)
    at(changed, path[:-1])[path[-1]] = MARK
    return json.dumps(changed, indent=1)


def without(document, path):
    changed = copy.deepcopy(document)
    del at(changed, path[:-1])[path[-1]]
    return json.dumps(changed, indent=1)


def variants_of(text):
    """(path, name, text) of every neighbour of one file."""
    document = json.loads(text)
    for name, value in replacements(0):
        yield (), name, value
    yield (), "empty", ""
    for path in keys_of(document):
        value, marked = at(document, path), with_mark(document, path)
        for name, other in replacements(value):
            yield path, name, marked.replace(json.dumps(MARK), other)
        yield path, "left out", without(document, path)
        if isinstance(path[-1], str):
            key, right = json.dumps(path[-1]) + ": ", json.dumps(value)
            for name, first, last in (("twice", '"abc"', right), ("twice, the last wrong", right, '"abc"')):
                yield path, name, marked.replace(key + json.dumps(MARK), f"{key}{first}, {key}{last}")


def metadata_of(case):
    return [name for name in published_files(case) if name.endswith(".json") and name != "tokenizer.head.json"]


def neighbours(bases, only=()):
    """Every neighbour of every folder; a folder with two rows in the table counts once."""
    done = set()
    for n, case in ((n, CASES[n]) for n in bases):
        files = metadata_of(case) + (["tokenizer.json"] if "tokenizer.head.json" in published_files(case) else [])
        for file in files:
            if (case.folder, file) in done or (only and file not in only):
                continue
            done.add((case.folder, file))
            text = (bases[n].folder / file).read_text(encoding="utf-8")
            for path, name, changed in variants_of(text):
                yield Neighbour(n, file, path, name, changed)


class Base:
    """A complete, unchanged folder with the library's answer to it."""

    def __init__(self, n, work):
        self.case, self.folder = CASES[n], work / f"f{n}"
        make_folder(self.case, self.folder, small=True)
        self.rows = sides.write_rows(work / f"rows{n}.jsonl", TEXTS)
        self.logits = {}

    def answer(self):
        """Makes the library's answer to the unchanged folder, when it is first needed."""
        if not hasattr(self, "theirs"):
            self.model = sides.their_model(self.folder, self.case.head)[0]
            self.theirs = theirs(self, self.folder, True)


def logits_of(base, rows):
    """The logits of the base's model; each row of ids is computed once."""
    for row in rows:
        key = repr(row)
        if key not in base.logits:
            base.logits[key] = sides.their_logits(base.model, base.case.head, [row])[0]
    return [base.logits[repr(row)] for row in rows]


def labels_of(config):
    return [config.id2label.get(i) for i in range(max(len(config.id2label), config.num_labels))]


def theirs(base, folder, tokenizer_too, model_too=True):
    """The library's answer: ids and logits of the texts, labels."""
    if tokenizer_too:
        tokenizer = sides.their_tokenizer(folder)
        ids, cut = sides.their_ids(tokenizer, TEXTS), sides.their_ids(tokenizer, TEXTS, sides.LONGEST)
    else:
        ids, cut = base.theirs.ids, base.theirs.cut
    answer = sides.Answer(ids=ids)
    answer.cut = cut
    if not model_too:
        answer.rows, answer.labels = logits_of(base, cut), base.theirs.labels
        return answer
    model, answer.invented = sides.their_model(folder, base.case.head)
    answer.rows, answer.labels = sides.their_logits(model, base.case.head, cut), labels_of(model.config)
    answer.scores = sides.their_scores(model, answer.rows) if base.case.head == SEQUENCE else None
    return answer


def ours(base, folder, work, tokenizer_too, cut=None, scores_too=False):
    """The program's answer, from texts where the verb takes texts, else from the library's ids."""
    answer = sides.Answer()
    if tokenizer_too:
        answer = sides.our_ids(folder, base.rows)
        if answer.ids is None:
            return answer
    if base.case.head == SEQUENCE:
        told = sides.our_classes(folder, base.rows)
        told.scores = sides.our_classes(folder, base.rows, "--activation", "auto").rows if scores_too else None
    else:
        told = sides.our_logits(folder, base.case.head, cut or base.theirs.cut, work)
    told.ids = answer.ids
    if base.case.head == TOKEN and told.rows is not None:
        tags = sides.our_tags(
            folder, sides.write_rows(work / "texts.jsonl", [text for text in TEXTS if isinstance(text, str)])
        )
        if isinstance(tags, sides.Answer):
            return tags
        told.labels = tags
    return told


def make_neighbour(base, neighbour, work):
    """A folder with links to the base's files and the changed file."""
    target = work / "n"
    if target.exists():
        shutil.rmtree(target)
    shutil.copytree(base.folder, target, copy_function=os.link)
    os.unlink(target / neighbour.file)
    (target / neighbour.file).write_text(neighbour.text, encoding="utf-8")
    return pathlib.Path("n")  # contains no model name, which the library would take for the model type


@functools.cache
def recorded_poolings():
    """{(folder/file and key, replacement): "refused", or the poolings joined by "+"} of make_sentence_answers.py."""
    recorded = json.loads((PUBLISHED / "sentence_answers.json").read_text())
    return {(key, name): told for key, answers in recorded.items() for told, names in answers.items() for name in names}


def compare_vectors(base, neighbour, folder, work):
    """(the library's, ours): vectors of the texts."""
    told = recorded_poolings()[
        f"{base.case.folder}/{neighbour.file} {'.'.join(map(str, neighbour.path))}", neighbour.name
    ]
    states = [torch.tensor(rows) for rows in base.theirs.rows]
    wanted = (
        sides.Answer(refused="sentence-transformers fails")
        if told == "refused"
        else sides.Answer(
            rows=[numpy.concatenate([pooled(state)[name] for name in told.split("+")]) for state in states]
        )
    )
    return wanted, sides.our_vectors(folder, base.rows)


def compare(base, neighbour, work):
    """(verdict, detail)"""
    folder = make_neighbour(base, neighbour, work)
    if base.case.refused:
        return verdict_of(
            neighbour, base.case, sides.Answer(refused="not run"), sides.our_classes(folder, base.rows), None, TEXTS
        )
    base.answer()
    if neighbour.file in SENTENCE_FILES:
        before = sides.Answer(rows=[pooled(torch.tensor(state))["mean"] for state in base.theirs.rows])
        return verdict_of(neighbour, base.case, *compare_vectors(base, neighbour, folder, work), before, TEXTS)
    is_config = neighbour.file == "config.json"
    tokenizer_too = not is_config or neighbour.path[:1] in ((), ("model_type",), ("tokenizer_class",), ("auto_map",))
    wanted = sides.library(lambda: theirs(base, folder, tokenizer_too, is_config))
    got = ours(
        base, folder, work, tokenizer_too, getattr(wanted, "cut", None), scores_too=neighbour.path[:1] in KEYS_OF_SCORES
    )
    return verdict_of(neighbour, base.case, wanted, got, base.theirs, TEXTS)


STATE = {}


def start(work):
    """A worker has a folder of its own."""
    own = pathlib.Path(tempfile.mkdtemp(dir=work))
    os.chdir(own)
    STATE["work"], STATE["bases"] = own, {}


def judge(neighbour):
    n = neighbour.case
    if n not in STATE["bases"]:
        STATE["bases"][n] = Base(n, STATE["work"])
    return neighbour, *compare(STATE["bases"][n], neighbour, STATE["work"])


def all_neighbours(work):
    bases = {n: Base(n, work) for n in range(len(CASES))}
    return list(neighbours(bases))


def run(chosen, work, jobs):
    if jobs == 1:
        start(work)
        yield from map(judge, chosen)
        return
    with multiprocessing.get_context("fork").Pool(jobs, start, (work,)) as pool:
        yield from pool.imap(judge, chosen, chunksize=20)


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n\n")[0])
    parser.add_argument("--count", type=int, default=0)
    parser.add_argument("--seed", default="0")
    parser.add_argument("--folder", default="")
    parser.add_argument("--file", default="")
    parser.add_argument("--key", default="")
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--out", type=pathlib.Path)
    arguments = parser.parse_args()
    sides.torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as work:
        chosen = [
            one
            for one in all_neighbours(pathlib.Path(work))
            if arguments.folder in CASES[one.case].folder
            and arguments.file in ("", one.file)
            and arguments.key in ".".join(map(str, one.path))
        ]
        if arguments.count:
            chosen = sorted(
                random.Random(arguments.seed).sample(chosen, min(arguments.count, len(chosen))),
                key=lambda one: (one.case, one.file),
            )
        counts, told = collections.Counter(), []
        for neighbour, verdict, detail in run(chosen, pathlib.Path(work), arguments.jobs):
            counts[verdict] += 1
            told.append((verdict, str(neighbour), detail))
            if verdict not in GOOD:
                print(f"{verdict}: {neighbour}\n    {detail}", flush=True)
        os.chdir("/")
    if arguments.out:
        arguments.out.write_text("".join("\t".join(row) + "\n" for row in told), errors="backslashreplace")
    print(describe(counts))
    return 0 if all(verdict in GOOD for verdict in counts) else 1


if __name__ == "__main__":
    sys.exit(main())
