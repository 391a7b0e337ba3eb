"""Parquet on the command line: `deberta classify --files 'in/*.parquet' --to DIR`. The program has the options, the
model and the files with their claims (src/program/parquet_files.h); the rows are read and answered here."""

from __future__ import annotations

import io
import os

from deberta._errors import make_error
from deberta._pipeline import Pipeline

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

_BATCH_ROWS = 1024
# Of a row group of the answers: what comes first.
_GROUP_ROWS, _GROUP_BYTES = 1 << 16, 1 << 26


class _Output(io.RawIOBase):
    """What pyarrow writes to; `write` says False where the program cannot, and remembers why."""

    def __init__(self, write: Callable[[bytes], bool]) -> None:
        self._write = write

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        if not self._write(bytes(data)):
            raise OSError("the program could not write")
        return len(data)


def _thresholds(items: list[str]) -> float | dict[str, float]:
    """Of extract, as its option has them: NUMBER, or LABEL=NUMBER of each label."""
    pairs = [item.rpartition("=") for item in items]
    try:
        if len(pairs) == 1 and not pairs[0][1]:
            return float(items[0])
        if all(sign for _, sign, _ in pairs):
            return {label.strip(): float(number) for label, _, number in pairs}
    except ValueError:
        pass
    raise make_error(
        "usage", f"threshold: expected a number, or LABEL=NUMBER of each label, got {','.join(items)}", "threshold"
    )


def _batches(file: Any) -> Iterator[Any]:
    import pyarrow

    try:
        yield from file.iter_batches(_BATCH_ROWS, use_threads=False)
    except (pyarrow.ArrowException, OSError) as error:
        raise make_error("input", f"expected a whole Parquet file, got one that cannot be read: {error}") from error


def _opened(path: str) -> Any:
    import pyarrow.parquet

    try:
        return pyarrow.parquet.ParquetFile(path)
    except FileNotFoundError:
        raise make_error("file-not-found", "cannot open: No such file or directory") from None
    except (pyarrow.ArrowException, OSError) as error:
        raise make_error("input", f"expected a Parquet file, got none: {error}") from error


class _Groups:
    """Writes batches in row groups of one size, whatever the batches are."""

    def __init__(self, writer: Any) -> None:
        self._writer = writer
        self._batches: list[Any] = []

    def add(self, batch: Any) -> None:
        self._batches.append(batch)
        rows, size = sum(one.num_rows for one in self._batches), sum(one.nbytes for one in self._batches)
        if rows >= _GROUP_ROWS or size >= _GROUP_BYTES:
            self.write()

    def write(self) -> None:
        import pyarrow

        if self._batches:
            self._writer.write_table(pyarrow.Table.from_batches(self._batches))
        self._batches = []


def _answer(
    predictor: Any, path: str, write: Callable[[bytes], bool], advance: Callable[[int, int, int, float], bool]
) -> None:
    import pyarrow.parquet

    file = _opened(path)
    rows = bad = cut = 0
    with pyarrow.parquet.ParquetWriter(_Output(write), predictor.schema_of(file.schema_arrow)) as writer:
        groups = _Groups(writer)
        for batch in _batches(file):
            answers = predictor(batch)
            groups.add(answers)
            rows += answers.num_rows
            bad += answers.num_rows - answers.column("error").null_count
            if "cut_tokens" in predictor.answers.names:
                cut += answers.num_rows - answers.column("cut_tokens").null_count
            if not advance(rows, bad, cut, rows / max(1, file.metadata.num_rows)):
                return
        groups.write()


def open_task(
    core: Any, folder: bytes, verb: str, columns: list[str], parameters: dict[str, Any]
) -> Callable[[bytes, Callable[[bytes], bool], Callable[[int, int, int, float], bool]], None]:
    """answer(path, write, advance) of a file: the same table with the columns of deberta.tables.Predictor."""
    try:
        from deberta.tables import Predictor
    except ImportError as error:
        raise make_error(
            "usage", f"pyarrow: expected the package, which reads Parquet, got none ({error}); pip install pyarrow"
        ) from error
    if verb == "extract" and "threshold" in parameters:
        parameters["threshold"] = _thresholds(parameters["threshold"])
    pipeline = Pipeline._of(core, os.fsdecode(folder))
    predictor = Predictor(pipeline, verb.replace("-", "_"), columns or None, parameters)
    return lambda path, write, advance: _answer(predictor, os.fsdecode(path), write, advance)
