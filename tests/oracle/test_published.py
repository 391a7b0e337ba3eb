"""Every row of the table of published folders in docs/records/published-models.md: completed with a tiny random
checkpoint and missing files, a folder gives the ids, logits and labels of transformers 4.57, or the program's refusal
names the kind of folder."""

import re

import pytest

from both_sides import (
    LONGEST,
    Answer,
    json_lines,
    library,
    our_classes,
    our_ids,
    our_logits,
    our_tags,
    run_program,
    their_ids,
    their_logits,
    their_model,
    their_scores,
    their_tokenizer,
    write_rows,
)
from neighbour_rules import close, same
from oracle_runs import ROOT, needs_program
from published_cases import CASES, ENCODER, MASKED, PUBLISHED, SEQUENCE, TOKEN, is_real, make_folder

pytestmark = needs_program
TEXTS = [
    "a fine film",
    "A gorgeous, witty, seductive movie!",
    "don't (x) [y] <z> 3.14 $5",
    "Hello [MASK] World",
    "a[SEP]b [CLS] [PAD]  [UNK] c",
    "\U0001f600\U0001f468\u200d\U0001f469 ok",
    "cafe\u0301 \u00c5ngstro\u0308m \ufb01n",
    "\u8c1b \u3042\u3044 \ud55c\uae00 \u0e44\u0e17\u0e22",
    "\uff21\uff22 \u00bd \u2460 \u00a0x\u3000y",
    "line\nbreak\ttab  two",
    "UPPER lower MiXeD",
    "word " * 700,
    ("A man plays .", "Nobody plays ."),
    ("caf\u00e9 [MASK]", "e\u0301t\u00e9 \U0001f600"),
    ("x " * 400, "the quick brown fox " * 90),
    ("the quick brown fox " * 90, "y " * 600),
    (" leading", "trailing "),
]
SENTENCES = [text for text in TEXTS if isinstance(text, str)]


def title(case):
    return f"{case.folder}, {case.tried}"


def whole(tmp_path, case):
    return make_folder(case, tmp_path / "f", small=not is_real(case))


@pytest.mark.parametrize("case", [case for case in CASES if not case.refused], ids=title)
def test_a_published_folder_loads_as_in_transformers(tmp_path, case):
    folder = whole(tmp_path, case)
    tokenizer = library(lambda: their_tokenizer(folder))
    model = library(lambda: their_model(folder, case.head))
    assert not isinstance(tokenizer, Answer) and not isinstance(model, Answer) and not model[1], (tokenizer, model)
    told = our_ids(folder, write_rows(tmp_path / "rows.jsonl", TEXTS))
    assert told.ids is not None, told
    assert told.ids == their_ids(tokenizer, TEXTS)
    # a row of logits for each piece of the vocabulary
    texts = [text for text in TEXTS if case.head != MASKED or len(str(text)) < 200]
    check_logits(tmp_path, folder, case, model[0], tokenizer, texts)


def check_logits(tmp_path, folder, case, model, tokenizer, texts):
    cut = their_ids(tokenizer, texts, LONGEST)
    config = model.config
    wanted = Answer(
        rows=their_logits(model, case.head, cut), labels=[config.id2label[i] for i in range(config.num_labels)]
    )
    rows = write_rows(tmp_path / "rows.jsonl", texts)
    told = our_classes(folder, rows) if case.head == SEQUENCE else our_logits(folder, case.head, cut, tmp_path)
    assert told.rows is not None, told
    if case.head == SEQUENCE:
        told.scores, wanted.scores = (
            our_classes(folder, rows, "--activation", "auto").rows,
            their_scores(model, wanted.rows),
        )
    if case.head == TOKEN:
        told.labels = our_tags(folder, write_rows(tmp_path / "sentences.jsonl", SENTENCES))
    assert same(told, wanted, case.head, texts) == ""
    if case.head == ENCODER:
        check_vectors(folder, write_rows(tmp_path / "sentences.jsonl", SENTENCES), wanted.rows)


def check_vectors(folder, rows, states):
    """Both folders of sentence-transformers take the mean of all tokens."""
    failed, out = run_program(
        "embed", "-q", "-m", folder, "-i", rows, "-f", "jsonl", "--keep", "none", "--compat", "hf"
    )
    assert failed is None, failed
    for answer, state in zip(json_lines(out), states):
        assert close(answer["embedding"], state.mean(0))


@pytest.mark.parametrize("case", [case for case in CASES if case.refused], ids=title)
def test_a_refusal_names_the_kind_of_folder(tmp_path, case):
    """By every verb that reads the foreign part: a tokenizer beside weights that cannot run is still a tokenizer."""
    folder = whole(tmp_path, case)
    rows = write_rows(tmp_path / "rows.jsonl", TEXTS[:1])
    verbs = (
        ("tokenize", "fill", "embed") if case.weights == "model.safetensors" else ("classify", "ner", "embed", "fill")
    )
    for verb in verbs:
        failed, _ = run_program(verb, "-q", "-m", folder, "-i", rows, "-f", "jsonl")
        assert failed is not None and re.search(case.refused, failed.refused, re.IGNORECASE), (verb, failed)


def rows_of_the_page():
    """(folder, what was tried, the result) from docs/records/published-models.md."""
    page = (ROOT / "docs/records/published-models.md").read_text(encoding="utf-8")
    section = page.split("## Published folders", 1)[1].split("\n## ", 1)[0]
    cells = [
        [cell.strip(" `") for cell in line.strip("|").split("|")]
        for line in section.splitlines()
        if line.startswith("| `")
    ]
    return {(row[0], row[1]): row[2] for row in cells}


def test_the_page_has_a_row_for_each_folder_and_no_other():
    rows = rows_of_the_page()
    assert set(rows) == {(case.folder.replace("--", "/"), case.tried) for case in CASES}
    for case in CASES:
        result = rows[case.folder.replace("--", "/"), case.tried]
        assert result.startswith("refused: ") == bool(case.refused), (case, result)
        assert case.refused or result.startswith("loads"), (case, result)


def test_every_published_folder_is_tried():
    assert {path.parent.name for path in PUBLISHED.glob("*/SOURCE")} == {case.folder for case in CASES}
