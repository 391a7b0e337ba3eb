"""The rows of docs/records/pipelines.md: what the pipelines of transformers 4.57 do, and what is done here instead."""

import subprocess

import numpy
import pytest

from clean_environment import clean_environment
from layouts import make_layout
from oracle_runs import BINARY, needs_program
from pipeline_runs import pipeline, program, quiet

pytestmark = needs_program


@pytest.fixture
def tagger(tmp_path):
    return pipeline("token-classification", make_layout(tmp_path, "tagger of plain classes"))


def pieces_of(tagger, text):
    """The pieces from which the pipeline makes words: (start, end, belongs to the previous word)."""
    encoding = tagger.tokenizer(text, return_offsets_mapping=True, return_special_tokens_mask=True)
    ids = numpy.array(encoding["input_ids"])
    found = quiet(
        lambda: tagger.gather_pre_entities(
            text,
            ids,
            numpy.zeros((len(ids), 3)),
            encoding["offset_mapping"],
            numpy.array(encoding["special_tokens_mask"]),
            "first",
        )
    )
    return [(piece["start"], piece["end"], piece["is_subword"]) for piece in found]


def test_offsets_begin_with_the_space_before(tmp_path, tagger):
    text = "the cat"
    theirs = quiet(lambda: tagger(text, aggregation_strategy="none", ignore_labels=[]))
    ours = program(tmp_path, "ner", [{"text": text}], "--aggregate", "none", "--ignore-labels", "")[0]["entities"]
    second = next(i for i, piece in enumerate(theirs) if piece["start"] > 0 and text[piece["start"]] == " ")
    assert theirs[second]["start"] == 3 and ours[second]["start"] == 4


def test_a_mark_alone_is_a_word_of_its_own_there_and_covers_a_character_at_the_beginning(tmp_path, tagger):
    text = "47 47 the 47"
    answer = program(tmp_path, "tokenize", [{"text": text}])[0]
    marks = [i for i, token in enumerate(answer["tokens"]) if token == "\u2581"]
    assert answer["tokens"][1] == "\u2581" and len(marks) > 1  # before each 47
    theirs = pieces_of(tagger, text)
    assert theirs[0][:2] == (0, 1) and theirs[1][0] == 0 and answer["offsets"][1] == [0, 0]
    inner = marks[-1]
    assert not theirs[inner - 1][2] and not theirs[inner][2]  # the mark and the piece after it both begin a word


def test_words_are_those_of_the_text(tmp_path, tagger):
    text = "\uff28\uff45 ran"  # full-width letters, which the tokenizer reads as plain ones
    ours = program(tmp_path, "ner", [{"text": text}], "--aggregate", "none", "--ignore-labels", "")[0]["entities"]
    assert all(entity["word"] == text[entity["start"] : entity["end"]] for entity in ours)
    theirs = quiet(lambda: tagger(text, aggregation_strategy="none", ignore_labels=[]))
    assert any(entity["word"] not in text for entity in theirs)


def test_characters_without_a_piece_are_bytes(tmp_path, tagger):
    text = "\u8c1b"
    answer = program(tmp_path, "tokenize", [{"text": text}])[0]
    assert answer["tokens"][-4:-1] == ["<0xE8>", "<0xB0>", "<0x9B>"]
    assert tagger.tokenizer.unk_token_id in tagger.tokenizer(text)["input_ids"]


def test_equal_answers_are_one_wherever_they_stand(tmp_path):
    pipe = pipeline("question-answering", make_layout(tmp_path, "questions"))
    assert pipe.get_answer([{"answer": "Cat"}], " cat") is None
    assert pipe.get_answer([{"answer": " Cat"}], " cat") is not None
    for more, count in (((), 1), (("--compat", "hf"), 2)):
        answers = program(
            tmp_path,
            "qa",
            [{"question": "who?", "context": "Cat sat cat"}],
            "--top-k",
            "30",
            "--max-answer-len",
            "2",
            *more,
        )[0]["answers"]
        assert [answer["answer"].lower() for answer in answers].count("cat") == count


def test_windows_compare_unless_hf_is_asked_for(tmp_path):
    make_layout(tmp_path, "questions")
    rows = [{"question": "who?", "context": "the cat sat on the mat " * 20}]
    words = ("--max-tokens", "40", "--stride", "8", "--top-k", "50", "--max-answer-len", "40")
    ours, theirs = (
        sum(answer["score"] for answer in program(tmp_path, "qa", rows, *words, *more)[0]["answers"])
        for more in ((), ("--compat", "hf"))
    )
    assert ours <= 1.0001 and theirs > 1.5 * ours


@pytest.mark.parametrize("stride", [16, 60, None])
def test_words_are_cut_and_windows_overlap_as_asked_where_hf_is_asked_for(tmp_path, stride):
    """Every answer from windows whose edges lie within words, with an overlap below and above half a window, and
    with theirs."""
    pipe = pipeline("question-answering", make_layout(tmp_path, "questions"))
    row = {"question": "who?", "context": "the incomprehensibilities of counterrevolutionaries misunderstood " * 8}
    theirs = quiet(lambda: pipe(**row, max_seq_len=80, doc_stride=stride, top_k=20))
    overlap = () if stride is None else ("--stride", stride)
    words = ("--max-tokens", 80, *overlap, "--top-k", 20, "--tokenizer", "fast")
    for more, is_equal in (((), False), (("--compat", "hf"), True)):
        ours = program(tmp_path, "qa", [row], *words, *more)[0]["answers"]
        assert (
            [(answer["answer"], round(answer["score"], 4)) for answer in ours]
            == [(answer["answer"].strip(), round(answer["score"], 4)) for answer in theirs]
        ) == is_equal


def test_targets_are_looked_up_as_written_where_hf_is_asked_for(tmp_path):
    folder = make_layout(tmp_path, "masked words")
    pipe = pipeline("fill-mask", folder)
    vocabulary = pipe.tokenizer.get_vocab()
    word = next(one for one in sorted(vocabulary) if one.isalpha() and f"\u2581{one}" in vocabulary)
    theirs = quiet(lambda: pipe("the [MASK] sat", targets=[word]))[0]["token"]
    rows, words = [{"text": "the [MASK] sat"}], ("--targets", word, "--tokenizer", "fast")
    for more, id in (((), vocabulary[f"\u2581{word}"]), (("--compat", "hf"), theirs)):
        assert program(tmp_path, "fill", rows, *words, *more)[0]["masks"][0]["tokens"][0]["token"] == id
    assert theirs == vocabulary[word]


def test_a_model_without_entailment_is_refused(tmp_path):
    folder = make_layout(tmp_path, "prompt guard")
    assert pipeline("zero-shot-classification", folder).entailment_id == -1  # the last class, whatever it is
    done = subprocess.run(
        [BINARY, "zero-shot", "-m", folder, "--labels", "a,b", "text"],
        capture_output=True,
        encoding="utf-8",
        check=False,
        env=clean_environment(),
    )
    assert done.returncode == 1 and "entailment" in done.stderr


def test_rows_of_the_table_without_a_piece_fill_no_mask(tmp_path):
    pipe = pipeline("fill-mask", make_layout(tmp_path, "masked words"))
    rows = pipe.model.config.vocab_size
    answer = program(tmp_path, "fill", [{"text": "the [MASK] sat"}], "--top-k", str(rows))[0]
    assert len(answer["masks"][0]["tokens"]) == len(pipe.tokenizer) < rows
    assert len(quiet(lambda: pipe("the [MASK] sat", top_k=rows))) == rows
