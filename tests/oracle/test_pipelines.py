"""Answers on real rows against the pipelines of transformers 4.57, for checkpoints in published layouts: labels and
spans equal, scores within 1e-4, on every row with the pipelines' tokenizers, and by default on every row except those
that docs/records/pipelines.md counts."""

import numpy
import pytest
import torch

from layouts import make_layout
from oracle_runs import SHARED, needs_program
from pipeline_runs import (
    ROWS,
    TOLERANCE,
    compare,
    newspaper_lines,
    pairs,
    pipeline,
    program,
    quiet,
    rows_of,
    sentences,
    unlike_pieces,
)

pytestmark = needs_program


def same_scores(mine, wanted):
    """Both sides: [(label, score)] of a row, best first. Equal scores may swap places."""
    ours, theirs = dict(mine), dict(wanted)
    is_near = ours.keys() == theirs.keys() and max(abs(ours[label] - score) for label, score in wanted) < TOLERANCE
    return is_near and (mine[0][0] == wanted[0][0] or abs(wanted[0][1] - theirs[mine[0][0]]) < 1e-6)


def scores_of(answers):
    return [[(entry["label"], entry["score"]) for entry in answer["labels"]] for answer in answers]


def their_scores(pipe, rows, **settings):
    answers = quiet(lambda: pipe(rows, top_k=None, truncation=True, batch_size=32, **settings))
    return [[(entry["label"], entry["score"]) for entry in answer] for answer in answers]


def check_classes(folder, layout, texts, **settings):
    pipe = pipeline("text-classification", make_layout(folder, layout))
    rows = rows_of(texts())
    compare(
        f"classify, {layout}",
        lambda *words: scores_of(program(folder, "classify", rows, "--top-k", "100", *words)),
        their_scores(pipe, rows, **settings),
        same_scores,
        unlike_pieces(folder, pipe.tokenizer, rows),
    )


@pytest.mark.parametrize(
    "layout, texts",
    [
        ("prompt guard", sentences),
        ("prompt guard of two classes", sentences),
        ("reward model", pairs),
        ("several labels at once", newspaper_lines),
        ("scores", pairs),
        ("zero-shot of MNLI", pairs),
        ("zero-shot of two classes", pairs),
        ("MNLI in capitals", pairs),
        ("version 1", pairs),
    ],
)
def test_classes(tmp_path, layout, texts):
    check_classes(tmp_path, layout, texts)


@pytest.mark.parametrize("layout, activation", [("cross-encoder for NLI", "none"), ("reranker", "sigmoid")])
def test_cross_encoders(tmp_path, layout, activation):
    """What sentence-transformers' CrossEncoder gives: the logits after the activation that the configuration names; if
    it names none, the sigmoid of one logit."""
    check_classes(tmp_path, layout, pairs, function_to_apply=activation)


@pytest.mark.parametrize("layout", ["zero-shot of MNLI", "MNLI in capitals", "cross-encoder for NLI", "version 1"])
def test_nli(tmp_path, layout):
    """The relation by name, whatever the order and case of the labels."""
    pipe = pipeline("text-classification", make_layout(tmp_path, layout))
    rows = rows_of(pairs())
    theirs = [
        [(label.lower(), score) for label, score in row]
        for row in their_scores(pipe, rows, function_to_apply="softmax")
    ]

    def run(*words):
        answers = program(tmp_path, "nli", rows, *words)
        return [
            sorted(((label, score) for label, score in answer.items() if label != "label"), key=lambda entry: -entry[1])
            for answer in answers
        ]

    compare(f"nli, {layout}", run, theirs, same_scores, unlike_pieces(tmp_path, pipe.tokenizer, rows))


@pytest.mark.parametrize("multi", [False, True], ids=["one label", "several labels"])
@pytest.mark.parametrize("layout", ["zero-shot of MNLI", "zero-shot of two classes"])
def test_zero_shot(tmp_path, layout, multi):
    pipe = pipeline("zero-shot-classification", make_layout(tmp_path, layout))
    labels = ["praise", "complaint"]
    rows = rows_of(sentences())
    settings = {"multi_label": multi, "hypothesis_template": "This review is {}."}
    theirs = quiet(lambda: pipe([row["text"] for row in rows], labels, batch_size=32, **settings))
    more = (
        "--labels",
        ",".join(labels),
        "--template",
        settings["hypothesis_template"],
        *(["--multi-label"] if multi else []),
    )

    def run(*words):
        return [list(zip(row["labels"], row["scores"])) for row in program(tmp_path, "zero-shot", rows, *more, *words)]

    compare(
        f"zero-shot, {layout}",
        run,
        [list(zip(row["labels"], row["scores"])) for row in theirs],
        same_scores,
        unlike_pieces(tmp_path, pipe.tokenizer, rows),
    )


def test_reranking(tmp_path):
    """Ten documents per query, in the order of the pipeline's scores."""
    pipe = pipeline("text-classification", make_layout(tmp_path, "reranker"))
    found = pairs()
    rows = rows_of([(found[i // 10 * 10][0], found[i][1]) for i in range(ROWS)])
    queries = [{"query": found[i][0], "documents": [found[i + j][1] for j in range(10)]} for i in range(0, ROWS, 10)]

    def run(*words):
        scores = []
        for answer in program(tmp_path, "rerank", queries, *words):
            by_index = {result["index"]: result["score"] for result in answer["results"]}
            assert len(by_index) == 10
            assert [result["score"] for result in answer["results"]] == sorted(by_index.values(), reverse=True)
            scores += [by_index[i] for i in range(10)]
        return scores

    compare(
        "rerank, reranker",
        run,
        [row[0][1] for row in their_scores(pipe, rows)],
        lambda mine, wanted: abs(mine - wanted) < TOLERANCE,
        unlike_pieces(tmp_path, pipe.tokenizer, rows),
    )


def masked_sentences():
    texts = []
    for text in sentences():
        words = text.split()
        words[len(words) // 2] = "[MASK]"
        texts.append(" ".join(words))
    return rows_of(texts)


def same_tokens(mine, wanted):
    """[(piece, score)], best first."""
    return [token for token, _ in mine] == [token for token, _ in wanted] and all(
        abs(a - b) < TOLERANCE for (_, a), (_, b) in zip(mine, wanted)
    )


def filled(folder, rows, *words):
    answers = program(folder, "fill", rows, "--top-k", "5", *words)
    return [[(token["token"], token["score"]) for token in answer["masks"][0]["tokens"]] for answer in answers]


def test_masked_words(tmp_path):
    pipe = pipeline("fill-mask", make_layout(tmp_path, "masked words"))
    rows = masked_sentences()
    theirs = [
        [(entry["token"], entry["score"]) for entry in row]
        for row in quiet(lambda: pipe([row["text"] for row in rows], top_k=5, batch_size=32))
    ]
    without_piece = {i for i, row in enumerate(theirs) if any(token >= len(pipe.tokenizer) for token, _ in row)}
    compare(
        "fill, masked words",
        lambda *words: filled(tmp_path, rows, *words),
        theirs,
        same_tokens,
        unlike_pieces(tmp_path, pipe.tokenizer, rows),
        {"table": without_piece},
    )


@pytest.mark.skipif(not SHARED.exists(), reason="no ../shared: no trained mask decoder")
def test_masked_words_with_a_mask_decoder(tmp_path):
    pipe = pipeline("fill-mask", make_layout(tmp_path, "masked words with a decoder"))
    rows = masked_sentences()
    theirs = [
        [(entry["token"], entry["score"]) for entry in row]
        for row in quiet(lambda: pipe([row["text"] for row in rows], top_k=5, batch_size=32))
    ]
    unlike = unlike_pieces(tmp_path, pipe.tokenizer, rows)
    compare(
        "fill, masked words with a decoder",
        lambda *words: filled(tmp_path, rows, *words),
        theirs,
        same_tokens,
        unlike,
        {"decoder": set(range(ROWS))},
    )
    compare(
        "fill --compat hf, masked words with a decoder",
        lambda *words: filled(tmp_path, rows, "--compat", "hf", *words),
        theirs,
        same_tokens,
        unlike,
    )


def test_vectors_of_tokens(tmp_path):
    pipe = pipeline("feature-extraction", make_layout(tmp_path, "encoder"))
    rows = rows_of(sentences())
    theirs = [vectors[0].numpy() for vectors in quiet(lambda: pipe([row["text"] for row in rows], return_tensors=True))]

    def run(*words):
        return [
            numpy.array(answer["token_embeddings"])
            for answer in program(tmp_path, "embed", rows, "--pooling", "none", *words)
        ]

    def is_same(mine, wanted):
        return mine.shape == wanted.shape and numpy.abs(mine - wanted).max() < TOLERANCE * max(
            1, numpy.abs(wanted).max()
        )

    compare("embed, encoder", run, theirs, is_same, unlike_pieces(tmp_path, pipe.tokenizer, rows))


def test_choices(tmp_path):
    """No pipeline does multiple choice: compares with transformers' model for it, in the same layout."""
    import transformers

    folder = make_layout(tmp_path, "reranker")
    model = transformers.DebertaV2ForMultipleChoice.from_pretrained(folder, dtype=torch.float32).eval()
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    found = pairs()
    examples = [(found[i][0], [found[(i + 50 * j) % ROWS][1] for j in range(4)]) for i in range(ROWS)]
    flat = rows_of([(context, choice) for context, choices in examples for choice in choices])
    theirs = []
    for first in range(0, len(flat), 4 * 20):
        some = flat[first : first + 4 * 20]
        inputs = tokenizer(
            [row["text"] for row in some], [row["text_pair"] for row in some], return_tensors="pt", padding=True
        )
        with torch.no_grad():
            theirs += (
                model(**{key: value.reshape(-1, 4, value.shape[1]) for key, value in inputs.items()})
                .logits.softmax(-1)
                .numpy()
                .tolist()
            )
    rows = [{"context": context, "question": "", "choices": choices} for context, choices in examples]

    def is_same(mine, wanted):
        return numpy.abs(numpy.array(mine["scores"]) - wanted).max() < TOLERANCE and mine["index"] == int(
            numpy.argmax(wanted)
        )

    compare(
        "choose, reranker",
        lambda *words: program(tmp_path, "choose", rows, "--form", "plain", *words),
        theirs,
        is_same,
        {i // 4 for i in unlike_pieces(tmp_path, tokenizer, flat)},
    )
