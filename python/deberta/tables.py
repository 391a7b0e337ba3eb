"""Tables of Arrow in, the same tables with an answer to each row out: what Ray, Spark, DuckDB and Polars call.

    >>> predictor = Predictor("builtin:sentiment", "classify", threads=1)
    >>> predictor(pyarrow.table({"id": [7], "text": ["a fine film"]})).column_names
    ['id', 'text', 'label', 'score', 'labels', 'cut_tokens', 'empty', 'error']

The schema is known before any row is: it follows from the task, the parameters and the model."""

from __future__ import annotations

import re

import pyarrow as pa

from deberta import _answers
from deberta._answers import Answer, Entailment
from deberta._errors import Error, make_error
from deberta._pipeline import _TASKS, pipeline_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterable
    from typing import Any

    from deberta._pipeline import Pipeline

# {task: its columns}, by the program's names, in the order of the method's arguments.
_COLUMNS: dict[str, tuple[str, ...]] = {
    "classify": ("text",),
    "scores": ("text",),
    "nli": ("text", "text_pair"),
    "zero_shot": ("text",),
    "ner": ("text",),
    "extract": ("text",),
    "qa": ("question", "context"),
    "choose": ("context", "choices"),
    "rerank": ("query", "documents"),
    "fill": ("text",),
    "score": ("text",),
    "detect": ("text",),
    "similarity": ("text", "text_pair"),
    "embed": ("text",),
}
_ARRAYS = {"scores": ("texts", "pairs"), "embed": ("texts",)}  # the tasks that answer with arrays
_GROUP_ROWS = 1024  # that are Python objects at a time

# ---- what an answer's columns are

_SCALARS = {"str": pa.large_string(), "int": pa.int64(), "float": pa.float64(), "bool": pa.bool_()}
_ERROR = pa.struct({"code": pa.large_string(), "message": pa.large_string()})
# What an answer has only where there is something to say of its row.
_MARKS = pa.schema([(name, _SCALARS[words]) for name, words in Answer.__annotations__.items() if words in _SCALARS])
_COPIES = {"ZeroShot.sequence", "Ranking.query"}  # of the row's own text, which is beside the answer
# Fields that an answer has only with a parameter.
_ONLY_WITH: dict[str, Callable[[dict[str, Any]], bool]] = {
    "Classification.windows": lambda given: given.get("window_scores") == "each",
    "QuestionAnswer.answers": lambda given: (given.get("top_k") or 1) > 1,
    "Document.text": lambda given: bool(given.get("return_text")),
    "TextScore.tokens": lambda given: bool(given.get("tokens")),
}


def _type_of(words: str, absent: set[str]) -> Any:
    """The type of Arrow of an annotation in _answers.py."""
    if words.startswith("list["):
        return pa.large_list(_type_of(words[len("list[") : -1], absent))
    return _SCALARS[words] if words in _SCALARS else pa.struct(_fields_of(getattr(_answers, words), absent))


def _fields_of(kind: type[Answer], absent: set[str]) -> list[Any]:
    classes = [one for one in reversed(kind.__mro__) if issubclass(one, Answer) and one is not Answer]
    listed = [(name, words) for one in classes for name, words in one.__annotations__.items() if name[0] != "_"]
    kept = [(name, words) for name, words in listed if f"{kind.__name__}.{name}" not in absent]
    marks = _MARKS if kind is _answers.Document else []
    return [*(pa.field(name, _type_of(words, absent)) for name, words in kept), *marks]


def _sample(pipeline: Pipeline, task: str, parameters: dict[str, Any]) -> dict[str, Any]:
    """An answer to a text that fits any limits."""
    given = {name: value for name, value in parameters.items() if name not in ("max_tokens", "stride")}
    pairs = ["a"] if task == "nli" else None
    fields: dict[str, Any] = pipeline._answer(task, ["a"], pairs, None, "raise", given)[0].to_dict()
    return fields


def _answer_fields(pipeline: Pipeline, task: str, parameters: dict[str, Any]) -> list[Any]:
    kind, (_, _, items) = _TASKS[task]
    pairs: list[str] | None = [] if _COLUMNS[task][1:] and not items else None
    pipeline._answer(task, [], pairs, [] if items else None, "keep", parameters)  # refuses parameters and models
    if kind is Entailment:  # the names of a model's classes may be among the keys
        keys = [key for key in _sample(pipeline, task, parameters) if key not in ("label", *_MARKS.names)]
        return [pa.field("label", pa.large_string()), *(pa.field(key, pa.float64()) for key in keys)]
    absent = _COPIES | {name for name, is_given in _ONLY_WITH.items() if not is_given(parameters)}
    if kind is _answers.Entities:  # of pieces, where the parameters or the model's configuration say so
        is_of_pieces = task == "ner" and (
            "entity" in _sample(pipeline, task, {**parameters, "ignore_labels": []})["entities"][0]
        )
        absent |= {"Entity.entity_group"} if is_of_pieces else {"Entity.entity", "Entity.index"}
    return _fields_of(kind, absent)


def _array_fields(pipeline: Pipeline, task: str, parameters: dict[str, Any]) -> list[Any]:
    if task == "scores":
        return [pa.field("scores", pa.list_(pa.float32(), pipeline._scores([], **parameters).shape[1]))]
    pipeline._vectors([], **parameters)
    given = {name: value for name, value in parameters.items() if name != "max_tokens"}
    vector = pa.list_(pa.float32(), pipeline._vectors(["a"], **given)[0].shape[-1])
    if parameters.get("pooling") == "none":
        return [pa.field("token_embeddings", pa.large_list(vector))]
    return [pa.field("embedding", vector)]


def _answer_schema(pipeline: Pipeline, task: str, parameters: dict[str, Any]) -> Any:
    fields_of = _array_fields if task in _ARRAYS else _answer_fields
    return pa.schema([*fields_of(pipeline, task, parameters), *_MARKS, pa.field("error", _ERROR)])


# ---- the columns that are read


def _arguments(task: str) -> tuple[str, ...]:
    """The names of a task's columns as its method has them, lists of texts second."""
    if task in _ARRAYS:
        return _ARRAYS[task]
    texts, pairs, items = _TASKS[task][1]
    return tuple(name for name in (texts, items, pairs) if name)


def _names_of(task: str, columns: str | Iterable[str] | None) -> tuple[str, ...]:
    if not isinstance(task, str) or task not in _COLUMNS:
        raise make_error("usage", f"task: expected one of {', '.join(_COLUMNS)}, got {task!r}", "task")
    names = _COLUMNS[task] if columns is None else (columns,) if isinstance(columns, str) else tuple(columns)
    least, most = len(_COLUMNS[task]), len(_arguments(task))
    if not least <= len(names) <= most or not all(isinstance(name, str) for name in names):
        count = f"{least}" if least == most else f"{least} to {most}"
        raise make_error("usage", f"columns: expected {count} names for {task}, got {columns!r}", "columns")
    return names


def _texts(column: Any) -> Any:
    return column.cast(column.type.value_type) if pa.types.is_dictionary(column.type) else column


def _lists(name: str, column: Any) -> list[Any]:
    kind = column.type
    if not (pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_null(kind)):
        raise make_error("input", f"{name}: expected a column of lists of texts, got {kind}", "columns")
    texts: list[Any] = column.to_pylist()
    return texts


class Predictor:
    """Answers the rows of a table: `predictor(table)` is the pyarrow Table or RecordBatch that was given, with the
    columns of `predictor.answers` behind its own.

    task: a method of Pipeline; columns: the names of the columns that it reads, by default those of the program's
    rows; parameters: those of the method, `labels` and `prompt` too; options: those of deberta.open.

    A row that cannot be answered stays in its place, with nothing but `error`. Values are those of the method's
    answers, without copies of the text itself; what an answer lacks is null. A pickle holds no weights."""

    def __init__(
        self,
        model: str | os.PathLike[str] | Pipeline,
        task: str,
        columns: str | Iterable[str] | None = None,
        parameters: dict[str, Any] | None = None,
        **options: Any,
    ) -> None:
        self.task, self.columns = task, _names_of(task, columns)
        self.parameters = dict(parameters or {})
        self.pipeline = pipeline_of(model, options)
        self.answers = _answer_schema(self.pipeline, task, self.parameters)

    def check_names(self, names: list[str]) -> None:
        """Raises InputError unless a table with these columns can be answered."""
        for name in self.columns:
            if names.count(name) != 1:
                raise make_error(
                    "input", f"columns: expected one column {name!r}, got {names.count(name)} in {names}", "columns"
                )
        taken = [name for name in self.answers.names if name in names]
        if taken:
            raise make_error(
                "input",
                f"{', '.join(taken)}: expected no such column in the table, because the answer has it; rename it",
                "columns",
            )

    def schema_of(self, schema: Any) -> Any:
        """The pyarrow schema of what a table of that schema becomes."""
        self.check_names(schema.names)
        for field in self.answers:
            schema = schema.append(field)
        return schema

    def __call__(self, table: Any) -> Any:
        if not isinstance(table, (pa.Table, pa.RecordBatch)):
            raise make_error("input", f"table: expected a pyarrow Table or RecordBatch, got {type(table).__name__}")
        schema = self.schema_of(table.schema)
        groups = [self._answer(table.slice(first, _GROUP_ROWS)) for first in range(0, table.num_rows, _GROUP_ROWS)]
        answers = pa.Table.from_batches(groups, self.answers).columns
        if isinstance(table, pa.RecordBatch):
            answers = [column.combine_chunks() for column in answers]
        return type(table).from_arrays([*table.columns, *answers], schema=schema)

    def _answer(self, table: Any) -> Any:
        columns = [table.column(name) for name in self.columns]
        has_items = self.task in _TASKS and _TASKS[self.task][1][2]
        items = _lists(self.columns[1], columns.pop(1)) if has_items else None
        texts, pairs = [*map(_texts, columns), None][:2]
        if self.task in _ARRAYS:
            rows = self._arrays(texts, pairs)
        else:
            rows = self.pipeline._answer(self.task, texts, pairs, items, "keep", self.parameters)
        fields = [self._refusal(row) if isinstance(row, Error) else getattr(row, "_fields", row) for row in rows]
        return pa.RecordBatch.from_struct_array(pa.array(fields, pa.struct(self.answers)))

    def _arrays(self, texts: Any, pairs: Any) -> list[Any]:
        """A bad row is looked for by halves: the methods that answer with arrays raise its error."""
        try:
            if self.task == "scores":
                arrays, cut_tokens, empty = self.pipeline._core.scores(texts, pairs, self.parameters)
            else:
                given = {name: value for name, value in self.parameters.items() if name != "prompt"}
                arrays, cut_tokens, empty = self.pipeline._core.embed(texts, given, self.parameters.get("prompt"))
            name = self.answers.names[0]
            values = map(list, arrays) if name == "token_embeddings" else arrays
            marks = [
                dict(zip(_MARKS.names, (cut or None, is_empty or None))) for cut, is_empty in zip(cut_tokens, empty)
            ]
            return [{name: value, **mark} for value, mark in zip(values, marks)]
        except Error as error:
            if error.code == "usage":  # of no row
                raise
            if len(texts) == 1:
                return [error]
            half = len(texts) // 2
            parts = [
                (column.slice(0, half), column.slice(half)) if column is not None else (None, None)
                for column in (texts, pairs)
            ]
            return [row for part in zip(*parts) for row in self._arrays(*part)]

    def _refusal(self, error: Error) -> dict[str, Any]:
        """The place in the message is that of the column: the row's own is where the error stands."""
        names = dict(zip(_arguments(self.task), self.columns))

        def place(found: re.Match[str]) -> str:
            return names.get(found[1], self.columns[0])

        message = re.sub(r"^(\w+)\[\d+\](: text(?=:))?", place, error.message, count=1)
        return {"error": {"code": error.code, "message": message}}
