"""Columns of Arrow, in without a copy and out."""

import collections.abc

import deberta
import numpy
import pyarrow
import pytest

from conftest import without_nulls

TEXTS = ["a fine film", "", "naïve 中文", "x" * 40]


class Column:
    """An array that offers one of the two protocols."""

    def __init__(self, array, protocol):
        self._array, self._protocol = array, protocol

    def __getattr__(self, name):
        if name == self._protocol:
            return getattr(self._array, name)
        raise AttributeError(name)


@pytest.mark.parametrize("kind", [pyarrow.string(), pyarrow.large_string(), pyarrow.string_view()])
def test_columns_of_strings_are_texts(pipelines, kind):
    array = pyarrow.array(TEXTS, kind)
    expected = pipelines["sequence"].classify(TEXTS)
    assert pipelines["sequence"].classify(array) == expected
    assert pipelines["sequence"].classify(array.slice(1, 2)) == expected[1:3]
    chunks = pyarrow.chunked_array([array.slice(0, 1), array.slice(1)])
    assert pipelines["sequence"].classify(chunks) == expected
    assert pipelines["sequence"].classify(Column(array, "__arrow_c_array__")) == expected
    assert pipelines["sequence"].classify(Column(chunks, "__arrow_c_stream__")) == expected
    assert pipelines["span"].qa(array, array, errors="keep") == pipelines["span"].qa(TEXTS, TEXTS, errors="keep")


def test_a_null_is_a_bad_row(pipelines):
    answers = pipelines["sequence"].classify(pyarrow.array(["a", None, "b"]), errors="keep")
    assert [isinstance(answer, deberta.Error) for answer in answers] == [False, True, False]
    assert str(answers[1]) == "texts[1]: expected a text, got null"
    for column in (pyarrow.array([1, 2]), pyarrow.array(["a", "a"]).dictionary_encode()):
        with pytest.raises(deberta.InputError, match="expected a column of strings, got Arrow's format"):
            pipelines["sequence"].classify(column)


def test_a_column_of_nulls_has_only_bad_rows(pipelines):
    with pytest.raises(deberta.InputError, match=r"texts\[0\]: expected a text, got null"):
        pipelines["sequence"].classify(pyarrow.nulls(3))
    assert pipelines["sequence"].classify(pyarrow.nulls(0)) == []


def test_bytes_that_are_no_utf8_are_a_bad_row(pipelines):
    column = pyarrow.array([b"a", b"na\xefve"], pyarrow.binary()).view(pyarrow.string())
    expected = r"texts\[1\]: expected UTF-8, as Arrow's strings have it, got other bytes"
    for call in (pipelines["sequence"].classify, pipelines["lm"].tokenizer.encode):
        with pytest.raises(deberta.InputError, match=expected):
            call(column)


@pytest.mark.parametrize("protocol", ["__arrow_c_array__", "__arrow_c_stream__"])
def test_a_capsule_is_read_once(pipelines, protocol):
    column = pyarrow.array(TEXTS) if protocol == "__arrow_c_array__" else pyarrow.chunked_array([TEXTS])
    kept = getattr(column, protocol)()
    again = type("Kept", (), {protocol: lambda self, requested_schema=None: kept})()
    assert pipelines["sequence"].classify(again) == pipelines["sequence"].classify(TEXTS)
    with pytest.raises(deberta.InputError, match=r"texts: expected a new capsule arrow_array.*, got one that was read"):
        pipelines["sequence"].classify(again)


def test_a_table_of_one_column_is_that_column(pipelines):
    column = pyarrow.array(["before", *TEXTS, None])
    expected = pipelines["sequence"].classify([*TEXTS, None], errors="keep")
    expected = [answer.to_dict() if isinstance(answer, deberta.Answer) else None for answer in expected]
    mask = pyarrow.array([False] * 3 + [True] + [False] * 2)
    rows = pyarrow.StructArray.from_arrays([column], ["text"], mask=mask).slice(1)
    for table, empty in ((pyarrow.table({"text": column.slice(1)}), {4}), (rows, {2, 4})):
        answers = pipelines["sequence"].classify(table, errors="keep")
        found = [answer.to_dict() if isinstance(answer, deberta.Answer) else None for answer in answers]
        assert found == [None if i in empty else one for i, one in enumerate(expected)]
    with pytest.raises(deberta.InputError, match="texts: expected a column of strings, got a table of 2 columns"):
        pipelines["sequence"].classify(pyarrow.table({"a": column, "b": column}))


class Series:
    """A column of pandas 3 without pyarrow."""

    def __init__(self, texts):
        self._texts = texts

    def __arrow_c_stream__(self, requested_schema=None):
        raise ImportError("no pyarrow")

    def tolist(self):
        return list(self._texts)


def test_columns_of_pandas_need_no_pyarrow(pipelines):
    assert pipelines["sequence"].classify(Series(TEXTS)) == pipelines["sequence"].classify(TEXTS)


def test_arrays_of_strings_are_texts(pipelines):
    expected = pipelines["sequence"].classify(TEXTS)
    assert pipelines["sequence"].classify(numpy.array(TEXTS)) == expected
    assert pipelines["sequence"].classify(numpy.array(TEXTS, object)) == expected


def test_answers_are_a_sequence_that_libraries_do_not_take_for_a_list(pipelines):
    answers = pipelines["sequence"].classify(["a fine film", "a dull one", "a fine film"])
    first, second, third = answers
    assert not isinstance(answers, (list, collections.abc.Sequence))  # polars.DataFrame would make cells of each answer
    assert len(answers) == 3 and second in answers and answers.index(second) == 1 and answers.count(first) == 2
    assert list(reversed(answers)) == [third, second, first] and answers[1:] == [second, third]
    with pytest.raises(ValueError):
        answers.index("another")


def test_answers_are_rows(pipelines):
    answers = pipelines["sequence"].classify(["a fine film", None, "a dull one"], errors="keep", top_k=2)
    table = pyarrow.table(answers)
    assert [without_nulls(row) for row in table.to_pylist()] == answers.to_dicts()
    assert (
        table.schema.field("label").type == pyarrow.large_string()
        and table.schema.field("score").type == pyarrow.float64()
    )
    assert pyarrow.record_batch(answers).to_pylist() == table.to_pylist()
    assert pyarrow.table(Column(answers, "__arrow_c_stream__")).equals(table)
    for made in (
        pipelines["token"].ner(["a fine film", " "]),
        pipelines["lm"].fill(["a [MASK] film"]),
        pipelines["rtd"].detect(["a fine film"]),
        pipelines["sequence"].classify([]),
    ):
        assert [without_nulls(row) for row in pyarrow.table(made).to_pylist()] == made.to_dicts()
