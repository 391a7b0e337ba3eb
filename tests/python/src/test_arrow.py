"""Columns of Arrow, in without a copy and out."""

import deberta
import nanoarrow
import numpy
import pytest

TEXTS = ["a fine film", "", "naïve 中文", "x" * 40]


class Column:
    """An array that offers one of the two protocols."""

    def __init__(self, array, protocol):
        self.array, self.protocol = array, protocol

    def __getattr__(self, name):
        if name == self.protocol:
            return getattr(self.array, name)
        raise AttributeError(name)


@pytest.mark.parametrize("type_name", ["string", "large_string", "string_view"])
@pytest.mark.parametrize("protocol", ["__arrow_c_array__", "__arrow_c_stream__"])
def test_columns_of_strings_are_texts(pipelines, type_name, protocol):
    array = nanoarrow.Array(TEXTS, getattr(nanoarrow, type_name)())
    column = nanoarrow.c_array(array) if protocol == "__arrow_c_array__" else array
    assert pipelines["sequence"].classify(Column(column, protocol)) == pipelines["sequence"].classify(TEXTS)
    part = nanoarrow.c_array(array)[1:3] if protocol == "__arrow_c_array__" else array[1:3]
    assert pipelines["sequence"].classify(Column(part, protocol)) == pipelines["sequence"].classify(TEXTS[1:3])


def test_a_null_is_a_bad_row(pipelines):
    column = nanoarrow.Array(["a", None, "b"], nanoarrow.string())
    answers = pipelines["sequence"].classify(column, errors="keep")
    assert [isinstance(answer, deberta.Error) for answer in answers] == [False, True, False]
    assert str(answers[1]) == "texts[1]: expected a text, got null"
    with pytest.raises(deberta.InputError, match="expected a column of strings, got Arrow's format l"):
        pipelines["sequence"].classify(nanoarrow.Array([1, 2], nanoarrow.int64()))


def test_arrays_of_strings_are_texts(pipelines):
    expected = pipelines["sequence"].classify(TEXTS)
    assert pipelines["sequence"].classify(numpy.array(TEXTS)) == expected
    assert pipelines["sequence"].classify(numpy.array(TEXTS, object)) == expected


def test_answers_are_a_column_of_structs(pipelines):
    answers = pipelines["sequence"].classify(["a fine film", None, "a dull one"], errors="keep", top_k=2)
    rows = [answers[0].to_dict(), None, answers[2].to_dict()]
    assert nanoarrow.Array(answers).to_pylist() == rows
    array = nanoarrow.c_array(Column(answers, "__arrow_c_array__"))
    assert nanoarrow.Array(array).to_pylist() == rows
    entities = pipelines["token"].ner(["a fine film", " "])
    assert nanoarrow.Array(entities).to_pylist()[0] == entities[0].to_dict()
    assert nanoarrow.Array(pipelines["sequence"].classify([])).to_pylist() == []
