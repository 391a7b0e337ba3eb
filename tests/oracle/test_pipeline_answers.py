"""Answers to real questions against the question-answering pipeline of transformers 4.57."""

import functools
import types

import pytest

from layouts import make_layout
from oracle_runs import needs_program
from pipeline_runs import (
    COLUMNS,
    TOLERANCE,
    answers_from,
    check_kinds,
    model_outputs,
    pipeline,
    program,
    questions,
    trimmed,
    unlike_pieces,
)

pytestmark = needs_program
SMALL = {"max_seq_len": 96, "doc_stride": 16}
# The window settings, the pipeline's other arguments, and the program's options for both.
SETTINGS = {
    "as they come": ({}, {}, ()),
    "pieces": ({}, {"align_to_words": False}, ("--align", "tokens")),
    "short answers": ({}, {"max_answer_len": 3}, ("--max-answer-len", 3)),
    "three answers": ({}, {"top_k": 3, "align_to_words": False}, ("--top-k", 3, "--align", "tokens")),
    "none is allowed": ({}, {"handle_impossible_answer": True}, ("--allow-no-answer",)),
    "small windows": (SMALL, {"top_k": 3}, ("--max-tokens", 96, "--stride", 16, "--top-k", 3)),
}


@pytest.fixture(scope="module")
def asked(tmp_path_factory):
    """The questions, the pipeline, and its model's outputs for each window size, computed once."""
    folder = tmp_path_factory.mktemp("questions")
    pipe, rows = pipeline("question-answering", make_layout(folder, "questions")), questions()
    outputs = functools.cache(
        lambda **windows: model_outputs(pipe, [pipe.create_sample(**row) for row in rows], **windows)
    )
    unlike = unlike_pieces(
        folder, pipe.tokenizer, [{"text": row["question"], "text_pair": row["context"]} for row in rows]
    )
    return types.SimpleNamespace(folder=folder, pipe=pipe, rows=rows, outputs=outputs, unlike=unlike)


def sides(mine, wanted):
    return mine.get("answers", [mine]), wanted if isinstance(wanted, list) else [wanted]


def is_same(context, mine, wanted):
    ours, others = sides(mine, wanted)
    return len(ours) == len(others) and all(
        abs(answer["score"] - theirs["score"]) < TOLERANCE
        and answer["answer"] == theirs["answer"].strip()
        and (answer["start"], answer["end"]) == trimmed(context, theirs["start"], theirs["end"])
        for answer, theirs in zip(ours, others)
    )


def found_twice(context, mine, wanted):
    """One of the answers occurs more than once in the context, ignoring case: its scores are added up differently."""
    ours, theirs = sides(mine, wanted)
    words = [answer["answer"].strip().lower() for answer in ours + theirs]
    return any(word and context.lower().count(word) > 1 for word in words)


@pytest.mark.parametrize("setting", SETTINGS)
def test_questions(asked, setting):
    """With `--compat hf` and the pipeline's tokenizer no answer differs; by default those from several windows, with
    other pieces, or with words that occur twice."""
    windows, more, words = SETTINGS[setting]
    outputs = asked.outputs(**windows)
    theirs = answers_from(asked.pipe, outputs, **windows, **more)
    several = {i for i, of_row in enumerate(outputs) if len(of_row) > 1}

    def differing(*words):
        ours = program(asked.folder, "qa", asked.rows, *words)
        assert all(
            answer["answer"] == row["context"][answer["start"] : answer["end"]]
            for row, mine in zip(asked.rows, ours)
            for answer in mine.get("answers", [mine])
        )
        found = {i for i, row in enumerate(asked.rows) if not is_same(row["context"], ours[i], theirs[i])}
        return found, {i for i in found if found_twice(asked.rows[i]["context"], ours[i], theirs[i])}

    check_kinds(f"qa --compat hf, {setting}", "fast", differing("--compat", "hf", "--tokenizer", "fast", *words)[0], {})
    for column in COLUMNS:
        found, twice = differing("--tokenizer", column, *words)
        check_kinds(
            f"qa, {setting}",
            column,
            found,
            {"bytes": asked.unlike if column == "slow" else set(), "windows": several, "equal": twice},
        )
