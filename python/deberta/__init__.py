"""DeBERTa models on the CPU, exactly as their authors' code computes them: `deberta.open(model)` and its tasks.

    >>> import deberta
    >>> pipeline = deberta.open("builtin:sentiment")
    >>> pipeline.classify("a gorgeous , witty , seductive movie .").label
    'positive'

NumPy is imported when an array is asked for, and no other package is needed. docs/guides/python.md has the tour."""

from __future__ import annotations

from deberta import _deberta
from deberta._answers import Answer, Answers
from deberta._errors import Error, FileError, InputError, make_error
from deberta._model import Model, Pass
from deberta._models import find_model
from deberta._pipeline import Pipeline, open
from deberta._tokenizer import Tokenizer

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from deberta._evaluate import evaluate
    from deberta.gliner import GLiNER
    from deberta.sentence_transformers import CrossEncoder, SentenceTransformer
    from deberta.transformers import pipeline

__version__ = _deberta.version()
__all__ = [
    "Answer",
    "Answers",
    "CrossEncoder",
    "Error",
    "FileError",
    "GLiNER",
    "InputError",
    "Model",
    "Pass",
    "Pipeline",
    "SentenceTransformer",
    "Tokenizer",
    "evaluate",
    "find_model",
    "open",
    "parameters",
    "pipeline",
]
# What is imported when it is first asked for.
_LATE = {
    "CrossEncoder": "deberta.sentence_transformers",
    "SentenceTransformer": "deberta.sentence_transformers",
    "GLiNER": "deberta.gliner",
    "evaluate": "deberta._evaluate",
    "pipeline": "deberta.transformers",
}


def parameters(task: str) -> list[dict[str, str]]:
    """What a task can be told beside its texts: name, type, default, range and text of each. Raises InputError for a
    name that is none."""
    if not isinstance(task, str):
        raise make_error("usage", f"task: expected a task, got {task!r}", "task")
    name = {"similarity": "embed", "scores": "classify"}.get(task, task.replace("_", "-"))
    keys = ("name", "tasks", "type", "default", "range", "text")
    rows = [dict(zip(keys, row)) for row in _deberta.parameters() if name in row[1].split()]
    if not rows:
        raise make_error("usage", f"task: expected a task, got {task!r}", "task")
    without = {"similarity": ("dimensions",), "scores": ("top_k",)}.get(task, ())
    return [{key: row[key] for key in keys if key != "tasks"} for row in rows if row["name"] not in without]


def __getattr__(name: str) -> Any:
    module = _LATE.get(name) or (f"deberta.{name}" if name in ("analysis", "train") else None)
    if module is None:
        raise AttributeError(f"module deberta has no {name}")
    import importlib

    found = importlib.import_module(module)
    return found if name not in _LATE else getattr(found, name)


def __dir__() -> list[str]:
    return sorted([*globals(), *_LATE, "analysis", "train"])
