"""Running both sides on the same rows: a pipeline of transformers, and the program; and which rows both read as the same pieces."""
import json
import logging
import os
import random
import subprocess
import warnings

import torch
import transformers
from metric_rows import lines_of, made_pairs, nli_rows, paraphrase_rows, tagged_sentences
from oracle_runs import BINARY, SHARED

ROWS = 200
TOLERANCE = 1e-4


def sentences():
    lines = lines_of("glue/SST-2/dev.tsv.xz")
    return [line.split("\t")[0].strip() for line in lines[1:ROWS + 1]] if lines else [a for a, _ in made_pairs(11)[:ROWS]]


def pairs():
    """Captions, and longer sentences of newspapers."""
    return [row[:2] for rows in (nli_rows(), paraphrase_rows()) for row in rows[:ROWS // 2]]


def newspaper_lines():
    """Words with spaces between."""
    return [" ".join(word for word, _ in sentence) for sentence in tagged_sentences()[:ROWS]]


def made_questions(rows):
    """Contexts without a word twice."""
    rng = random.Random(12)
    words = [a + b + c for a in "bcdfghlmnprstw" for b in ("a", "e", "o") for c in ("n", "r", "sto", "li")]
    drawn = [rng.sample(words, 40) for _ in range(rows)]
    return [(" ".join(some[5:9]) + "?", ", ".join(" ".join(some[i:i + 5]) for i in range(0, 40, 5)) + ".") for some in drawn]


def questions(version="v1.1", rows=ROWS):
    """(question, context), no context twice before all had one."""
    path = SHARED / f"data/squad/dev-{version}.rebuilt.json.xz"
    if not path.exists():
        return made_questions(rows)
    paragraphs = [paragraph for article in json.loads("\n".join(lines_of(path.relative_to(SHARED / "data"))))["data"] for paragraph in article["paragraphs"]]
    step = len(paragraphs) // rows
    return [(paragraph["qas"][0]["question"], paragraph["context"]) for paragraph in paragraphs[::step][:rows]]


def pipeline(task, folder, **settings):
    logging.getLogger("transformers").setLevel(logging.ERROR)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return transformers.pipeline(task, model=str(folder), dtype=torch.float32, device="cpu", **settings)


def quiet(call):
    with warnings.catch_warnings(), torch.no_grad():
        warnings.simplefilter("ignore")
        return call()


def program(folder, verb, rows, *words, model=None):
    """The rows' answers: JSON objects in, JSON objects out."""
    source = folder / "rows.jsonl"
    source.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    command = [BINARY, verb, "-m", model or folder / "model", "-i", source, "-f", "jsonl", "--keep", "none", *words]
    clean = {k: v for k, v in os.environ.items() if not k.startswith("DEBERTA_")}
    done = subprocess.run([str(word) for word in command], capture_output=True, encoding="utf-8", env=clean, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(answers) == len(rows)
    return answers


def same_pieces(folder, tokenizer, rows, at_least=0.9):
    """True for each row that both tokenizers read alike. The fast tokenizer of transformers has no byte pieces (docs/pipelines.md): no other difference is."""
    pair = ["--pair"] if "text_pair" in rows[0] else []
    same = []
    for row, answer in zip(rows, program(folder, "tokenize", rows, "--max-tokens", "1000000", *pair)):
        theirs = tokenizer(row["text"], row.get("text_pair"))["input_ids"]
        same.append(theirs == answer["ids"])
        assert same[-1] or any(piece.startswith("<0x") for piece in answer["tokens"]), row
    assert sum(same) >= at_least * len(rows)
    return same


def only(rows, keep):
    return [row for row, kept in zip(rows, keep, strict=True) if kept]
