"""Every task answers what the program prints for the same rows, to the last digit; a bad row in its place."""

import json
import os
import pathlib
import subprocess
import sys
import threading

import deberta
import numpy
import pytest

from conftest import PACKAGE, ROOT, texts

COUNT = int(os.environ.get("DEBERTA_ROWS", "60"))
A, B = texts(COUNT, 1), texts(COUNT, 2)
LISTS = [texts(2 + i % 4, i + 3) for i in range(COUNT)]
MASKED = [f"{text} [MASK] {other}" for text, other in zip(A, B)]
PLAIN = [{"text": text} for text in A]
SHORT = [text for text in A if len(text) < 80]  # for `score`, where each token of a text is a pass over it
PAIRS = [{"text": text, "text_pair": other} for text, other in zip(A, B)]
# (verb, model, rows of the program, options of the program, columns of the method, its parameters)
CASES = [
    ("classify", "sequence", PLAIN, [], (A,), {}),
    ("classify", "sequence", PAIRS, ["--pair"], (A, B), {}),
    ("classify", "sequence", PLAIN, ["--top-k", "3", "--activation", "none"], (A,), {"top_k": 3, "function": "none"}),
    (
        "classify",
        "sequence",
        PLAIN,
        ["--max-tokens", "12", "--truncate", "window", "--stride", "3", "--window-scores", "each"],
        (A,),
        {"max_tokens": 12, "truncate": "window", "stride": 3, "window_scores": "each"},
    ),
    ("classify", "sequence", PLAIN, ["--max-tokens", "9"], (A,), {"max_tokens": 9}),
    (
        "classify",
        "sequence",
        PLAIN,
        ["--max-tokens", "9", "--truncate", "left"],
        (A,),
        {"max_tokens": 9, "truncate": "left"},
    ),
    (
        "classify",
        "sequence",
        PLAIN,
        ["--max-tokens", "9", "--truncate", "error"],
        (A,),
        {"max_tokens": 9, "truncate": "error"},
    ),
    ("classify", "number", PLAIN, [], (A,), {}),
    ("nli", "nli", PAIRS, [], (A, B), {}),
    ("nli", "nli", PAIRS, ["--activation", "none"], (A, B), {"function": "none"}),
    ("zero-shot", "nli", PLAIN, ["--labels", "sport,art"], (A, ["sport", "art"]), {}),
    (
        "zero-shot",
        "nli",
        PLAIN,
        ["--labels", "sport,art", "--multi-label", "--template", "About {}."],
        (A, ("sport", "art")),
        {"multi_label": True, "hypothesis_template": "About {}."},
    ),
    ("ner", "token", PLAIN, [], (A,), {}),
    (
        "ner",
        "token",
        PLAIN,
        ["--aggregate", "none", "--offsets", "bytes"],
        (A,),
        {"aggregation": "none", "offsets": "bytes"},
    ),
    ("ner", "token", PLAIN, ["--max-tokens", "10", "--offsets", "utf16"], (A,), {"max_tokens": 10, "offsets": "utf16"}),
    (
        "extract",
        "extractor",
        PLAIN,
        ["--labels", "person,place", "--threshold", "0"],
        (A, ["person", "place"]),
        {"threshold": 0},
    ),
    (
        "extract",
        "extractor",
        PLAIN,
        ["--labels", "person,place", "--threshold", "person=0", "--nested", "--join"],
        (A, ["person", "place"]),
        {"threshold": {"person": 0.0}, "nested": True, "join": True},
    ),
    ("qa", "span", [{"question": q, "context": c} for q, c in zip(A, B)], [], (A, B), {}),
    (
        "qa",
        "span",
        [{"question": q, "context": c} for q, c in zip(A, B)],
        ["--top-k", "3", "--max-tokens", "24", "--stride", "4", "--allow-no-answer", "--align", "tokens"],
        (A, B),
        {"top_k": 3, "max_tokens": 24, "stride": 4, "allow_no_answer": True, "align": "tokens"},
    ),
    (
        "choose",
        "number",
        [{"context": a, "question": b, "choices": c} for a, b, c in zip(A, B, LISTS)],
        [],
        (A, LISTS, B),
        {},
    ),
    ("rerank", "number", [{"query": q, "documents": d} for q, d in zip(A, LISTS)], [], (A, LISTS), {}),
    (
        "rerank",
        "number",
        [{"query": q, "documents": d} for q, d in zip(A, LISTS)],
        ["--top-k", "2", "--return-text", "--max-tokens", "20"],
        (A, LISTS),
        {"top_n": 2, "return_text": True, "max_tokens": 20},
    ),
    ("fill", "lm", [{"text": text} for text in MASKED], [], (MASKED,), {}),
    ("fill", "lm", [{"text": text} for text in MASKED], ["--top-k", "2"], (MASKED,), {"top_k": 2}),
    ("score", "lm", [{"text": text} for text in SHORT], [], (SHORT,), {}),
    ("score", "lm", [{"text": text} for text in SHORT], ["--tokens"], (SHORT,), {"tokens": True}),
    ("detect", "rtd", PLAIN, ["--threshold", "0.4"], (A,), {"threshold": 0.4}),
]


def by_code(answers):
    """Errors by code and by what is said after the place, which a program names by file and line."""
    return [{"error": answer["error"]["code"]} if "error" in answer else answer for answer in answers]


@pytest.mark.parametrize("verb,model,rows,options,columns,parameters", CASES)
def test_a_task_answers_as_the_program_does(
    pipelines, models, program, verb, model, rows, options, columns, parameters
):
    method = getattr(pipelines[model], verb.replace("-", "_"))
    answers = method(*columns, errors="keep", **parameters)
    printed = program(verb, models[model], rows, *options)
    assert by_code(answers.to_dicts()) == by_code(printed)
    one = next(i for i, answer in enumerate(answers) if not isinstance(answer, deberta.Error))
    alone = [column[one] if len(column) == len(answers) else column for column in columns]
    assert method(*alone, **parameters) == answers[one]


def test_vectors_are_those_of_the_program(pipelines, models, program):
    pipeline = pipelines["lm"]
    filled = [text for text in A if text.strip()]
    rows = [{"text": text} for text in filled]
    for options, parameters in ([], {}), (["--pooling", "cls", "--normalize"], {"pooling": "cls", "normalize": True}):
        printed = [row["embedding"] for row in program("embed", models["lm"], rows, *options)]
        vectors = pipeline.embed(filled, **parameters)
        assert vectors.dtype == numpy.float32 and vectors.shape == (len(filled), 16)
        assert (vectors == numpy.array(printed, numpy.float32)).all()
        assert (pipeline.embed(filled[0], **parameters) == vectors[0]).all()
    printed = [row["token_embeddings"] for row in program("embed", models["lm"], rows, "--pooling", "none")]
    for row, tokens in zip(printed, pipeline.embed(filled, pooling="none")):
        assert (numpy.array(row, numpy.float32) == tokens).all()
    printed = program("embed", models["lm"], PAIRS, "--similarity")
    assert pipeline.similarity(A, B, errors="keep").to_dicts() == printed
    cut = pipeline.embed(filled, dimensions=5, normalize=True)
    assert cut.shape == (len(filled), 5) and numpy.allclose(numpy.linalg.norm(cut, axis=1), 1)


def test_tokens_are_those_of_the_program(models, pipelines, program):
    for tokenizer in (deberta.Tokenizer(models["lm"]), pipelines["lm"].tokenizer):
        assert tokenizer.encode(A).to_dicts() == program("tokenize", models["lm"], PLAIN)
        assert tokenizer.encode(A, B).to_dicts() == program("tokenize", models["lm"], PAIRS, "--pair")
        cut = tokenizer.encode(A, max_tokens=7, add_special_tokens=False, offsets="bytes")
        options = ("--max-tokens", "7", "--no-special", "--offsets", "bytes")
        assert cut.to_dicts() == program("tokenize", models["lm"], PLAIN, *options)
        encoding = tokenizer.encode("a fine film")
        assert tokenizer.decode(encoding.ids) == "a fine film" and encoding.special == [
            1,
            *[0] * (len(encoding) - 2),
            1,
        ]
        assert tokenizer.piece(encoding.ids[1]) == encoding.tokens[1]
        assert tokenizer.id_of(encoding.tokens[1]) == encoding.ids[1] and tokenizer.id_of("no such piece") is None
        assert tokenizer.special_ids["cls"] == encoding.ids[0] and len(tokenizer) > 100


def test_a_stream_keeps_order_and_bad_rows(pipelines):
    pipeline = pipelines["sequence"]
    rows = [*A[:10], None, *A[10:20], "x\ud800", 7, *A[20:30]]
    answers = list(pipeline.stream("classify", iter(rows), group=4))
    assert [isinstance(answer, deberta.Error) for answer in answers] == [
        not isinstance(r, str) or "\ud800" in r for r in rows
    ]
    assert answers[10].message == "texts[10]: expected a text, got None" and answers[22].argument == "texts"
    good = [row for row, answer in zip(rows, answers) if not isinstance(answer, deberta.Error)]
    assert pipeline.classify(good) == [answer for answer in answers if not isinstance(answer, deberta.Error)]
    questions = list(zip(A[:9], B[:9]))
    assert list(pipelines["span"].stream("qa", questions, group=2)) == pipelines["span"].qa(A[:9], B[:9], errors="keep")
    chosen = list(pipelines["number"].stream("choose", list(zip(A[:9], LISTS[:9], B[:9])), group=4))
    assert chosen == pipelines["number"].choose(A[:9], LISTS[:9], B[:9], errors="keep")
    assert list(pipeline.stream("classify", [("a", "b"), "a", ("a", None), "b"]))[0:2] == [
        pipeline.classify("a", "b"),
        pipeline.classify("a"),
    ]
    mixed = list(pipelines["span"].stream("qa", [questions[4], "alone", questions[5]]))
    assert [isinstance(answer, deberta.Error) for answer in mixed] == [False, True, False]
    assert "[1]" in mixed[1].message


def test_a_stream_that_nobody_reads_has_no_thread(pipelines):
    before = threading.active_count()
    pipelines["sequence"].stream("classify", iter(A))
    assert threading.active_count() == before


def test_a_stream_reads_ahead_within_bounds(pipelines):
    read = 0

    def endless():
        nonlocal read
        while True:
            read += 1
            yield "a fine film"

    stream = pipelines["sequence"].stream("classify", endless(), group=5, ahead=1)
    for _ in range(20):
        next(stream)
    assert read <= 20 + 4 * 5
    stream.close()

    def broken():
        yield "a fine film"
        raise KeyError("the source broke")

    stream = pipelines["sequence"].stream("classify", broken())
    assert next(stream).label
    with pytest.raises(KeyError, match="the source broke"):
        next(stream)


def test_the_stub_is_that_of_the_table():
    words = [sys.executable, ROOT / "tools/python_stubs.py", "--check"]
    done = subprocess.run(words, env={"PYTHONPATH": str(PACKAGE)}, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_every_parameter_of_the_table_is_taken(pipelines):
    """A parameter that a task does not read would be accepted and change nothing."""
    source = (ROOT / "python/src/tasks.cpp").read_text() + (ROOT / "python/src/opened_tokenizer.cpp").read_text()
    for name, tasks, *_ in deberta._deberta.parameters():
        if set(tasks.split()) <= {"analyze", "convert"} or name == "skip_special_tokens":  # of decode()
            continue
        assert f'"{name}"' in source, name


def test_the_default_of_a_parameter_may_be_said(pipelines):
    text = "a fine film"
    for method, pipeline in {"classify": "sequence", "ner": "token", "fill": "lm", "detect": "rtd"}.items():
        answer = getattr(pipelines[pipeline], method)
        sentence = text + " [MASK]"
        said = {}
        for row in deberta.parameters(method):
            default = row["default"]
            if row["type"] == "word":
                said[row["name"]] = default
            elif row["type"] == "integer" and default:
                said[row["name"]] = int(default)
            else:
                said[row["name"]] = None
        assert answer(sentence, **said) == answer(sentence)


def test_what_is_said_of_a_model(models, pipelines):
    model = pipelines["sequence"].model
    assert model.info["classes"] == 3 and model.info["layers"] == 2 and model.info["hidden_size"] == 16
    assert model.labels == ["negative", "neutral", "positive"]
    assert model.config == json.loads((pathlib.Path(models["sequence"]) / "config.json").read_text())
