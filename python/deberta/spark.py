"""Spark: the rows of a DataFrame with their answers, by mapInArrow.

predict(dataframe, "/models/sentiment", "classify").write.mode("overwrite").parquet("answers")"""

from __future__ import annotations

import functools
import threading

import pyarrow as pa

from deberta._pipeline import Pipeline, _reopen
from deberta.tables import Predictor

TYPE_CHECKING = False
if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterable, Iterator
    from typing import Any

_MOST_MODELS = 4  # that a Python worker keeps open, the last ones used
_lock = threading.Lock()


@functools.lru_cache(maxsize=_MOST_MODELS)
def _opened(path: str, digest: str, options: tuple[tuple[str, Any], ...]) -> Pipeline:
    return _reopen(path, digest, dict(options))


def _pipeline_of(path: str, digest: str, options: dict[str, Any]) -> Pipeline:
    """That of this Python worker, which Spark keeps for the tasks to come; the model must be the driver's."""
    with _lock:
        return _opened(path, digest, tuple(sorted(options.items())))


def _spark_type(kind: Any) -> Any:
    """The type of Arrow that Spark reads for a column of an answer: offsets of 32 bits, no lists of a fixed size."""
    if pa.types.is_large_string(kind):
        return pa.string()
    if pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind):
        return pa.list_(_spark_type(kind.value_type))
    if pa.types.is_struct(kind):
        return pa.struct([pa.field(field.name, _spark_type(field.type)) for field in kind])
    return kind


def _ddl(kind: Any) -> str:
    """The same type in Spark's words."""
    if pa.types.is_list(kind):
        return f"array<{_ddl(kind.value_type)}>"
    if pa.types.is_struct(kind):
        return f"struct<{', '.join(f'{_quoted(field.name)}: {_ddl(field.type)}' for field in kind)}>"
    words = {pa.string(): "string", pa.int64(): "bigint", pa.float64(): "double", pa.float32(): "float"}
    return words.get(kind, "boolean")


def _quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"


def _spark_schema(predictor: Predictor) -> Any:
    return pa.schema([pa.field(field.name, _spark_type(field.type)) for field in predictor.answers])


def _worker(
    opening: tuple[Any, ...], task: str, columns: tuple[str, ...], parameters: dict[str, Any]
) -> Callable[[Iterator[Any]], Iterator[Any]]:
    """What a task of Spark runs; `opening`: path, hash and options of the model."""

    def answer(batches: Iterator[Any]) -> Iterator[Any]:
        predictor = Predictor(_pipeline_of(*opening), task, columns, parameters)
        predictor.answers = _spark_schema(predictor)
        return map(predictor, batches)

    return answer


def predict(
    dataframe: Any,
    model: str | os.PathLike[str],
    task: str,
    columns: str | Iterable[str] | None = None,
    parameters: dict[str, Any] | None = None,
    *,
    threads: int = 1,
    **options: Any,
) -> Any:
    """The DataFrame with the columns of deberta.tables.Predictor behind its own; lazy, as every DataFrame.

    The driver opens the model for the schema; each Python worker opens it once, at the same path, and refuses another
    one. `threads`: as many as spark.task.cpus. Nothing is written: a task that is run twice gives the same rows."""
    from pyspark.sql.types import StructType

    predictor = Predictor(model, task, columns, parameters, threads=threads, **options)
    predictor.check_names(dataframe.columns)
    ddl = ", ".join(f"{_quoted(field.name)} {_ddl(field.type)}" for field in _spark_schema(predictor))
    opening: Any = predictor.pipeline.__reduce__()[1]
    answer = _worker(opening, task, predictor.columns, predictor.parameters)
    predictor.pipeline.close()
    return dataframe.mapInArrow(answer, StructType([*dataframe.schema.fields, *StructType.fromDDL(ddl).fields]))
