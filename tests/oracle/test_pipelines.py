"""Answers on real rows against the pipelines of transformers 4.57, for checkpoints in published layouts: labels and spans equal, scores within 1e-4.
What differs on purpose is in docs/pipelines.md, and tested in test_pipeline_differences.py."""
import numpy
import pytest
import torch
from layouts import make_layout
from oracle_runs import needs_program
from pipeline_runs import ROWS, TOLERANCE, newspaper_lines, only, pairs, pipeline, program, quiet, same_pieces, sentences

pytestmark = needs_program


def check_scores(ours, theirs):
    """Both: [(label, score)] of each row, best first. Equal scores may change places."""
    assert len(ours) == len(theirs)
    for mine, wanted in zip(ours, theirs, strict=True):
        assert dict(mine).keys() == dict(wanted).keys()
        assert max(abs(dict(mine)[label] - score) for label, score in wanted) < TOLERANCE
        assert mine[0][0] == wanted[0][0] or abs(wanted[0][1] - dict(wanted)[mine[0][0]]) < 1e-6


def scores_of(answers):
    return [[(entry["label"], entry["score"]) for entry in answer["labels"]] for answer in answers]


def their_scores(pipe, rows, **settings):
    answers = quiet(lambda: pipe(rows, top_k=None, truncation=True, batch_size=32, **settings))
    return [[(entry["label"], entry["score"]) for entry in answer] for answer in answers]


def rows_of(texts):
    return [{"text": text} if isinstance(text, str) else {"text": text[0], "text_pair": text[1]} for text in texts]


@pytest.mark.parametrize("layout, texts", [
    ("prompt guard", sentences), ("prompt guard of two classes", sentences), ("reward model", pairs), ("several labels at once", newspaper_lines),
    ("scores", pairs), ("zero-shot of MNLI", pairs), ("zero-shot of two classes", pairs), ("MNLI in capitals", pairs), ("version 1", pairs)])
def test_classes(tmp_path, layout, texts):
    pipe = pipeline("text-classification", make_layout(tmp_path, layout))
    rows = rows_of(texts())
    rows = only(rows, same_pieces(tmp_path, pipe.tokenizer, rows))
    check_scores(scores_of(program(tmp_path, "classify", rows, "--top-k", "100")), their_scores(pipe, rows))


@pytest.mark.parametrize("layout, activation", [("cross-encoder for NLI", "none"), ("reranker", "sigmoid")])
def test_cross_encoders(tmp_path, layout, activation):
    """What sentence-transformers' CrossEncoder gives: the logits under the activation that the configuration names, sigmoid of one logit without."""
    pipe = pipeline("text-classification", make_layout(tmp_path, layout))
    rows = rows_of(pairs())
    rows = only(rows, same_pieces(tmp_path, pipe.tokenizer, rows))
    check_scores(scores_of(program(tmp_path, "classify", rows, "--top-k", "100")), their_scores(pipe, rows, function_to_apply=activation))


@pytest.mark.parametrize("layout", ["zero-shot of MNLI", "MNLI in capitals", "cross-encoder for NLI", "version 1"])
def test_nli(tmp_path, layout):
    """The relation by name, whatever the order and the case of the labels."""
    pipe = pipeline("text-classification", make_layout(tmp_path, layout))
    rows = rows_of(pairs())
    rows = only(rows, same_pieces(tmp_path, pipe.tokenizer, rows))
    theirs = their_scores(pipe, rows, function_to_apply="softmax")
    ours = [sorted(((label, score) for label, score in answer.items() if label != "label"), key=lambda entry: -entry[1])
            for answer in program(tmp_path, "nli", rows)]
    check_scores(ours, [[(label.lower(), score) for label, score in row] for row in theirs])


@pytest.mark.parametrize("multi", [False, True])
@pytest.mark.parametrize("layout", ["zero-shot of MNLI", "zero-shot of two classes"])
def test_zero_shot(tmp_path, layout, multi):
    pipe = pipeline("zero-shot-classification", make_layout(tmp_path, layout))
    labels = ["praise", "complaint"]
    rows = rows_of(sentences())
    rows = only(rows, same_pieces(tmp_path, pipe.tokenizer, rows))
    settings = {"multi_label": multi, "hypothesis_template": "This review is {}."}
    theirs = quiet(lambda: pipe([row["text"] for row in rows], labels, batch_size=32, **settings))
    ours = program(tmp_path, "zero-shot", rows, "--labels", ",".join(labels), "--template", settings["hypothesis_template"], *(["--multi-label"] if multi else []))
    check_scores([list(zip(row["labels"], row["scores"])) for row in ours], [list(zip(row["labels"], row["scores"])) for row in theirs])


def test_reranking(tmp_path):
    """Ten documents a query: the order of the pipeline's scores."""
    pipe = pipeline("text-classification", make_layout(tmp_path, "reranker"))
    found = pairs()
    rows = rows_of([(found[i // 10 * 10][0], found[i][1]) for i in range(ROWS)])
    same = same_pieces(tmp_path, pipe.tokenizer, rows)
    theirs = [row[0][1] for row in their_scores(pipe, rows)]
    queries = [{"query": found[i][0], "documents": [found[i + j][1] for j in range(10)]} for i in range(0, ROWS, 10)]
    for number, answer in enumerate(program(tmp_path, "rerank", queries)):
        scores = {result["index"]: result["score"] for result in answer["results"]}
        assert len(scores) == 10 and [result["score"] for result in answer["results"]] == sorted(scores.values(), reverse=True)
        assert all(abs(score - theirs[10 * number + i]) < TOLERANCE for i, score in scores.items() if same[10 * number + i])


def test_masked_words(tmp_path):
    pipe = pipeline("fill-mask", make_layout(tmp_path, "masked words"))
    texts = []
    for text in sentences():
        words = text.split()
        words[len(words) // 2] = "[MASK]"
        texts.append(" ".join(words))
    rows = rows_of(texts)
    rows = only(rows, same_pieces(tmp_path, pipe.tokenizer, rows))
    theirs = quiet(lambda: pipe([row["text"] for row in rows], top_k=5, batch_size=32))
    for answer, wanted in zip(program(tmp_path, "fill", rows, "--top-k", "6"), theirs, strict=True):
        tokens = {token["token"]: token["score"] for token in answer["masks"][0]["tokens"]}
        wanted = [entry for entry in wanted if entry["token"] < len(pipe.tokenizer)]  # rows of the table without a piece are no answers here
        assert all(abs(tokens[entry["token"]] - entry["score"]) < TOLERANCE for entry in wanted)
        assert not wanted or next(iter(tokens)) == wanted[0]["token"] or abs(tokens[wanted[0]["token"]] - max(tokens.values())) < 1e-6


def test_vectors_of_tokens(tmp_path):
    pipe = pipeline("feature-extraction", make_layout(tmp_path, "encoder"))
    rows = rows_of(sentences())
    rows = only(rows, same_pieces(tmp_path, pipe.tokenizer, rows))
    theirs = quiet(lambda: pipe([row["text"] for row in rows], return_tensors=True))
    for answer, wanted in zip(program(tmp_path, "embed", rows, "--pooling", "none"), theirs, strict=True):
        assert numpy.abs(numpy.array(answer["token_embeddings"]) - wanted[0].numpy()).max() < TOLERANCE * max(1, wanted.abs().max())


def test_choices(tmp_path):
    """No pipeline does these: transformers' model for multiple choice, in the same layout."""
    import transformers
    folder = make_layout(tmp_path, "reranker")
    model = transformers.DebertaV2ForMultipleChoice.from_pretrained(folder, dtype=torch.float32).eval()
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    found = pairs()
    examples = [(found[i][0], [found[(i + 50 * j) % ROWS][1] for j in range(4)]) for i in range(ROWS)]
    flat = rows_of([(context, choice) for context, choices in examples for choice in choices])
    same = same_pieces(tmp_path, tokenizer, flat)
    answers = program(tmp_path, "choose", [{"context": context, "question": "", "choices": choices} for context, choices in examples], "--form", "plain")
    for number, answer in enumerate(answers):
        rows = flat[4 * number:4 * number + 4]
        if all(same[4 * number:4 * number + 4]):
            inputs = tokenizer([row["text"] for row in rows], [row["text_pair"] for row in rows], return_tensors="pt", padding=True)
            with torch.no_grad():
                wanted = model(**{key: value[None] for key, value in inputs.items()}).logits[0].softmax(-1).numpy()
            assert numpy.abs(numpy.array(answer["scores"]) - wanted).max() < TOLERANCE
            assert answer["index"] == int(wanted.argmax())
