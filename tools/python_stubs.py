#!/usr/bin/env python3
"""python/deberta/_pipeline.pyi: the methods of a pipeline with the parameters of the one table, as the extension tells
them. python_stubs.py [--check]; PYTHONPATH names the package (build/dev/python). A test fails while it is stale."""

import json
import pathlib
import sys
import textwrap

STUB = pathlib.Path(__file__).resolve().parent.parent / "python/deberta/_pipeline.pyi"
HEAD = '''"""The methods of a pipeline. Made by tools/python_stubs.py; None for a parameter: as the table says."""

import os
from collections.abc import AsyncIterator, Iterable, Iterator
from typing import Any, Literal, overload

import numpy as np
from numpy.typing import NDArray

from deberta import _deberta
from deberta._answers import (
    Answer,
    Answers,
    Choice,
    Classification,
    Detection,
    Entailment,
    Entities,
    Filling,
    QuestionAnswer,
    Ranking,
    Similarity,
    TextScore,
    ZeroShot,
)
from deberta._model import Model
from deberta._tokenizer import Tokenizer

_TASKS: dict[str, tuple[type[Answer], tuple[str, str, str]]]

class Pipeline:
    path: str
    _core: _deberta.Model
    _options: dict[str, Any]
    def __init__(
        self,
        model: str | os.PathLike[str],
        *,
        dtype: str = "auto",
        threads: int = 0,
        device: str = "cpu",
        compat: str = "original",
        tokenizer: str = "slow",
        allow_uncalibrated: bool = False,
        batch_tokens: int = 16000,
        share_weights: bool = False,
    ) -> None: ...
    @classmethod
    def _of(cls, core: _deberta.Model, path: str) -> Pipeline: ...
    def __enter__(self) -> Pipeline: ...
    def __exit__(self, *reason: object) -> None: ...
    def __reduce__(self) -> tuple[object, ...]: ...
    def close(self) -> None: ...
    @property
    def is_closed(self) -> bool: ...
    @property
    def model(self) -> Model: ...
    @property
    def tokenizer(self) -> Tokenizer: ...
    @property
    def aio(self) -> AsyncTasks: ...
    def scores(self, texts: Any, pairs: Any | None = None, **parameters: Any) -> NDArray[np.float32]: ...
    def _scores(self, texts: Any, pairs: Any = None, **parameters: Any) -> NDArray[np.float32]: ...
    def _vectors(self, texts: Any, *, prompt: str | None = None, **parameters: Any) -> Any: ...
    def _answer(
        self, task: str, texts: Any, pairs: Any, items: Any, errors: str, parameters: dict[str, Any]
    ) -> Any: ...
    def stream(
        self, task: str, rows: Iterable[Any], *, group: int = 256, ahead: int = 2, **parameters: Any
    ) -> Iterator[Any]: ...
'''
TAIL = """
class AsyncTasks:
    def __init__(self, pipeline: Pipeline) -> None: ...
    def __getattr__(self, name: str) -> Any: ...
    def stream(self, task: str, rows: Iterable[Any], **options: Any) -> AsyncIterator[Any]: ...

def open(
    model: str | os.PathLike[str],
    *,
    dtype: str = "auto",
    threads: int = 0,
    device: str = "cpu",
    compat: str = "original",
    tokenizer: str = "slow",
    allow_uncalibrated: bool = False,
    batch_tokens: int = 16000,
    share_weights: bool = False,
) -> Pipeline: ...
def pipeline_of(model: Any, options: dict[str, Any]) -> Pipeline: ...
def _reopen(path: str, expected: str, options: dict[str, Any]) -> Pipeline: ...
"""
# method: (its task in the table, the answer, {column: (type of one, type of many)}); a column of None is optional
METHODS = {
    "classify": ("classify", "Classification", {"texts": "text", "pairs": "optional"}),
    "nli": ("nli", "Entailment", {"premises": "text", "hypotheses": "text"}),
    "zero_shot": ("zero-shot", "ZeroShot", {"texts": "text", "labels": "labels"}),
    "ner": ("ner", "Entities", {"texts": "text"}),
    "extract": ("extract", "Entities", {"texts": "text", "labels": "described"}),
    "qa": ("qa", "QuestionAnswer", {"questions": "text", "contexts": "text"}),
    "choose": ("choose", "Choice", {"contexts": "text", "choices": "list", "questions": "optional"}),
    "rerank": ("rerank", "Ranking", {"queries": "text", "documents": "list"}),
    "fill": ("fill", "Filling", {"texts": "text"}),
    "score": ("score", "TextScore", {"texts": "text"}),
    "detect": ("detect", "Detection", {"texts": "text"}),
    "similarity": ("embed", "Similarity", {"texts": "text", "pairs": "text"}),
    "embed": ("embed", "", {"texts": "text"}),
}
ONE = {
    "text": "str",
    "optional": "str | None = None",
    "labels": "Iterable[str]",
    "described": "Iterable[str] | dict[str, str | None]",
    "list": "Iterable[str]",
}
MANY = dict(ONE, text="Any", optional="Any | None = None", list="Iterable[Iterable[str]]")
TYPES = {"flag": "bool", "integer": "int", "number": "float", "text": "str", "texts": "Iterable[str]"}


def type_of(method: str, row: tuple) -> str:
    name, _, kind, _, words, _ = row
    if (method, name) == ("extract", "threshold"):
        return "float | dict[str, float]"
    return f"Literal[{', '.join(json.dumps(word) for word in words.split('|'))}]" if kind == "word" else TYPES[kind]


def keywords(method: str, rows: list[tuple]) -> list[str]:
    columns = METHODS[method][2]
    errors = ["prompt: str | None = None"] if method == "embed" else ['errors: Literal["raise", "keep"] = "raise"']
    taken = [f"{row[0]}: {type_of(method, row)} | None = None" for row in rows if row[0] not in columns]
    return [*errors, *taken]


def docstring(method: str, rows: list[tuple]) -> str:
    lines = []
    for name, _, _, default, words, text in rows:
        text = text.replace("{", "").replace("}", "") if "hypothesis" not in name else text
        shown = f" ({words})" if words and words.upper() != words else ""
        line = f"{name}{shown}: {text}{f'; default {default}' if default and '|' not in default else ''}"
        lines += textwrap.wrap(line, 108, subsequent_indent="    ")
    return "\n".join(lines)


def method_text(method: str, rows: list[tuple]) -> str:
    _, answer, columns = METHODS[method]
    vectors = "NDArray[np.float32]"
    results = {"one": answer or vectors, "many": f"Answers[{answer}]" if answer else f"{vectors} | list[{vectors}]"}
    text = ""
    for form, kinds in (("one", ONE), ("many", MANY)):
        given = [f"{name}: {kinds[kind]}" for name, kind in columns.items()]
        arguments = ["self", *given, "*", *keywords(method, rows)]
        listed = "".join(f"        {argument},\n" for argument in arguments)
        body = "\n" + textwrap.indent(f'"""{docstring(method, rows)}"""', "        ") if form == "one" else " ..."
        text += f"    @overload\n    def {method}(\n{listed}    ) -> {results[form]}:{body}\n"
    return text


def stub(table: list[tuple]) -> str:
    text = HEAD
    for method, (task, _, _) in METHODS.items():
        without = ("dimensions",) if method == "similarity" else ()
        text += method_text(method, [row for row in table if task in row[1].split() and row[0] not in without])
    return text + TAIL


def main() -> int:
    from deberta import _deberta

    made = stub(_deberta.parameters())
    if "--check" not in sys.argv:
        STUB.write_text(made)
        return 0
    if STUB.read_text() == made:
        return 0
    print(f"{STUB.name}: stale; run tools/python_stubs.py", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
