"""Answers to real questions against the question-answering pipeline of transformers 4.57."""
import pytest
from layouts import make_layout
from oracle_runs import needs_program
from pipeline_runs import ROWS, TOLERANCE, only, pipeline, program, questions, quiet, same_pieces

pytestmark = needs_program
SETTINGS = {
    "default": ({}, (), ROWS),
    "pieces": ({"align_to_words": False}, ("--align", "tokens"), 20),
    "small windows": ({"max_seq_len": 96, "doc_stride": 16}, ("--max-seq-len", 96, "--doc-stride", 16), 20),
    "short answers": ({"max_answer_len": 3}, ("--max-answer-len", 3), 20),
    "three answers": ({"top_k": 3, "align_to_words": False}, ("--top-k", 3, "--align", "tokens"), 20),
    "none is allowed": ({"handle_impossible_answer": True}, ("--allow-no-answer",), 20),
}


def trimmed(context, answer):
    start = answer["start"]
    while start < answer["end"] and context[start].isspace():
        start += 1
    return start, answer["end"]


def find_answer(answers, target):
    """Equal words whether a space comes before them or not: the pipeline's own function takes "Cat" at the beginning of a context and " cat" within it for
    two answers (docs/pipelines.md)."""
    return next((answer for answer in answers if answer["answer"].strip().lower() == target.strip().lower()), None)


def is_same(context, mine, theirs, place=True):
    """`place`: else of equal words any may be shown."""
    pairs = list(zip(mine.get("answers", [mine]), theirs if isinstance(theirs, list) else [theirs], strict=True))
    return all(abs(answer["score"] - wanted["score"]) < TOLERANCE and answer["answer"].lower() == wanted["answer"].strip().lower()
               and (not place or (answer["start"], answer["end"]) == trimmed(context, wanted)) for answer, wanted in pairs)


@pytest.mark.parametrize("setting", SETTINGS)
def test_questions(tmp_path, setting):
    settings, words, count = SETTINGS[setting]
    pipe = pipeline("question-answering", make_layout(tmp_path, "questions"))
    rows = [{"question": question, "context": context} for question, context in questions("v2.0" if setting == "none is allowed" else "v1.1", 3 * count)]
    rows = only(rows, same_pieces(tmp_path, pipe.tokenizer, [{"text": row["question"], "text_pair": row["context"]} for row in rows], at_least=0.3))[:count]
    assert len(rows) == min(count, ROWS)
    ours = program(tmp_path, "qa", rows, "--compat", "hf", *words)
    others = []
    for row, mine in zip(rows, ours, strict=True):
        assert all(answer["answer"] == row["context"][answer["start"]:answer["end"]] for answer in mine.get("answers", [mine]))
        if not is_same(row["context"], mine, quiet(lambda row=row: pipe(**row, **settings))):
            others.append((row, mine))
    pipe.get_answer = find_answer
    has_windows = setting == "small windows"  # where they overlap they find the same words, and their edges cut words
    assert len(others) <= (0.25 if has_windows else 0.05) * len(rows), others
    wrong = [(row, mine) for row, mine in others if not is_same(row["context"], mine, quiet(lambda row=row: pipe(**row, **settings)), place=False)]
    assert len(wrong) <= (0.05 if has_windows else 0) * len(rows), wrong
