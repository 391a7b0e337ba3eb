"""What callers of other libraries give, as this package has it."""

from __future__ import annotations

from collections.abc import Mapping, Set

from deberta._errors import make_error

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

# Of Arrow, of NumPy and pandas, of polars.
_AS_LIST = ("to_pylist", "tolist", "to_list")


def list_of(argument: str, values: Any, of: str = "texts") -> list[Any]:
    """Lists, tuples, arrays, columns and other iterables as a list. Raises InputError for what would be read as another
    list than was meant, without a word: the letters of a text, the keys of a dict, the names of a table's columns, the
    members of a set in an order of its own."""
    if isinstance(values, (list, tuple)):
        return list(values)
    if not isinstance(values, (str, bytes, bytearray, Mapping, Set, type)) and not hasattr(values, "columns"):
        convert = next((getattr(values, name) for name in _AS_LIST if hasattr(values, name)), None)
        made = convert() if convert else list(values) if hasattr(values, "__iter__") else None
        if isinstance(made, list):
            return made
    got = "None" if values is None else type(values).__name__
    raise make_error("input", f"{argument}: expected a list of {of}, got {got}", argument)


def check_batch_size(size: object) -> None:
    """It changes nothing here; in the other libraries a number that is none is an error."""
    if not isinstance(size, int) or isinstance(size, bool) or size <= 0:
        raise make_error("usage", f"batch_size: expected a positive integer, got {size!r}", "batch_size")


_DTYPES = {"float32": "fp32", "bfloat16": "bf16"}


def dtype_of(given: Any) -> Any:
    """A dtype of torch, or its name, as the word of deberta.open; other words as they are."""
    return _DTYPES.get(str(given).rpartition(".")[2], given)
