"""Rows of an iterable to answers: one thread reads groups, the caller's answers them."""

from __future__ import annotations

import itertools
import queue
import threading

from deberta._errors import Error, make_error
from deberta._pipeline import _TASKS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Any

    from deberta._pipeline import Pipeline


class _Reader:
    """Groups of rows, read ahead. An exception of the iterable comes after the rows before it."""

    def __init__(self, rows: Iterator[Any], group: int, ahead: int) -> None:
        self._groups: queue.Queue[list[Any] | BaseException] = queue.Queue(ahead)
        self._is_stopped = threading.Event()
        self._thread = threading.Thread(target=self._read, args=(rows, group), daemon=True)
        self._thread.start()

    def _put(self, group: list[Any] | BaseException) -> None:
        while not self._is_stopped.is_set():
            try:
                return self._groups.put(group, timeout=0.1)
            except queue.Full:
                continue

    def _read(self, rows: Iterator[Any], group: int) -> None:
        taken: list[Any] = []
        try:
            while not self._is_stopped.is_set():
                taken = []
                for row in itertools.islice(rows, group):
                    taken.append(row)
                if not taken:
                    break
                self._put(taken)
            self._put([])
        except BaseException as error:
            if taken:
                self._put(taken)
            self._put(error)

    def __iter__(self) -> Iterator[list[Any]]:
        while group := self._groups.get():
            if isinstance(group, BaseException):
                raise group
            yield group

    def stop(self) -> None:
        self._is_stopped.set()


def _fields(task: str, row: Any) -> tuple[Any, ...]:
    """The columns of a row; a row of another form stays in the place of its text, and is refused there."""
    _, (_, pair, items) = _TASKS[task]
    if hasattr(row, "as_py"):  # an element of a column of Arrow
        row = row.as_py()
    return row if isinstance(row, tuple) and 1 < len(row) <= 1 + bool(pair) + bool(items) else (row,)


def _columns(task: str, rows: list[tuple[Any, ...]]) -> tuple[list[Any], list[Any] | None, list[Any] | None]:
    """Texts, pairs and items of rows with as many fields each."""
    texts, seconds, thirds = [*map(list, zip(*rows)), None, None][:3]
    has_items = bool(_TASKS[task][1][2])
    if not has_items or seconds is None:
        return texts or [], seconds, None
    return texts or [], thirds, seconds


def answer_stream(
    pipeline: Pipeline, task: str, rows: Iterable[Any], group: int, ahead: int, parameters: dict[str, Any]
) -> Iterator[Any]:
    if not isinstance(task, str) or task not in _TASKS:
        raise make_error("usage", f"task: expected one of {', '.join(_TASKS)}, got {task!r}", "task")
    for name, value in (("group", group), ("ahead", ahead)):
        if not isinstance(value, int) or isinstance(value, bool) or value < 1:
            raise make_error("usage", f"{name}: expected an integer from 1, got {value!r}", name)
    try:  # a dict would give its keys, a table the names of its columns, a set an order of its own
        is_other = isinstance(rows, (str, bytes, bytearray, dict, set, frozenset)) or hasattr(rows, "columns")
        rows_left = None if is_other else iter(rows)
    except TypeError:
        rows_left = None
    if rows_left is None:
        raise make_error("input", f"rows: expected an iterable of rows, got {type(rows).__name__}", "rows")
    return _answers(pipeline, task, rows_left, group, ahead, parameters)


def _answers(
    pipeline: Pipeline, task: str, rows_left: Iterator[Any], group: int, ahead: int, parameters: dict[str, Any]
) -> Iterator[Any]:
    reader = _Reader(rows_left, group, ahead)  # at the first answer: a stream that nobody asks has no thread
    first = 0
    try:
        for rows in reader:
            # A text without a pair is another row than one with None as its pair.
            for _, run in itertools.groupby((_fields(task, row) for row in rows), len):
                like = list(run)
                for i, answer in enumerate(pipeline._answer(task, *_columns(task, like), "keep", parameters)):
                    yield _at(answer, first, i) if isinstance(answer, Error) else answer
                first += len(like)
    finally:
        reader.stop()


def _at(error: Error, first: int, row: int) -> Error:
    """The place of a row in the stream, in place of that in its group."""

    def placed(text: str) -> str:
        return text.replace(f"[{row}]", f"[{first + row}]", 1)

    return make_error(error.code, placed(error.message), error.argument and placed(error.argument))
