"""A model opened for use: one method for each task. What each takes: `_pipeline.pyi`, from the table of parameters."""

from __future__ import annotations

import os
from _operator import index

from deberta import _answers as answers
from deberta import _deberta
from deberta._answers import Answer, Answers
from deberta._errors import Error, make_error
from deberta._model import Model
from deberta._models import find_model, hash_of, stamps_of
from deberta._tokenizer import Tokenizer

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterable, Iterator
    from typing import Any

# {task: (what an answer is, the names of its columns: texts, their pairs, their lists of texts)}
_TASKS: dict[str, tuple[type[Answer], tuple[str, str, str]]] = {
    "classify": (answers.Classification, ("texts", "pairs", "")),
    "nli": (answers.Entailment, ("premises", "hypotheses", "")),
    "zero_shot": (answers.ZeroShot, ("texts", "", "")),
    "ner": (answers.Entities, ("texts", "", "")),
    "extract": (answers.Entities, ("texts", "", "")),
    "qa": (answers.QuestionAnswer, ("questions", "contexts", "")),
    "choose": (answers.Choice, ("contexts", "questions", "choices")),
    "rerank": (answers.Ranking, ("queries", "", "documents")),
    "fill": (answers.Filling, ("texts", "", "")),
    "score": (answers.TextScore, ("texts", "", "")),
    "similarity": (answers.Similarity, ("texts", "pairs", "")),
    "detect": (answers.Detection, ("texts", "", "")),
}


class Pipeline:
    """A model directory opened for use: `model` is a path, builtin:NAME, or ORG/NAME in the hub cache.

    dtype: auto, fp32, bf16 or int8; threads: 0 is all processors; device: cpu; compat: original, the authors' code, or
    hf, transformers, where they differ; tokenizer: slow or fast; batch_tokens: most tokens of one pass;
    share_weights: processes that open the same model in the same way hold its weights once.

    Many threads may call one pipeline; passes take turns. The file of weights is mapped. A pickle holds the path
    and a hash, never weights; what is made of it shares them. A child of fork() must open its own."""

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
    ) -> None:
        self.path = find_model(model)
        self._options: dict[str, Any] = {
            "dtype": dtype,
            "threads": threads,
            "device": device,
            "compat": compat,
            "tokenizer": tokenizer,
            "allow_uncalibrated": allow_uncalibrated,
            "batch_tokens": batch_tokens,
            "share_weights": share_weights,
        }
        _check_types(self._options)
        self._stamps = stamps_of(self.path)  # before the files are read: a change meanwhile is noticed
        self._core = _deberta.Model(self.path, **self._options)
        self._hash: str | None = None

    @classmethod
    def _of(cls, core: _deberta.Model, path: str) -> Pipeline:
        """Of a model that the program has opened (deberta/_parquet.py)."""
        pipeline = cls.__new__(cls)
        pipeline.path, pipeline._options, pipeline._core, pipeline._hash = path, {}, core, None
        pipeline._stamps = stamps_of(path)
        return pipeline

    # ---- the object

    def __repr__(self) -> str:
        return f"Pipeline({self.path!r}{', closed' if self.is_closed else ''})"

    def __enter__(self) -> Pipeline:
        return self

    def __exit__(self, *reason: object) -> None:
        self.close()

    def close(self) -> None:
        """Gives the memory back, unless a tokenizer that was asked for is kept: it is the model's. Calls that run end
        as they would, later ones raise InputError."""
        self._core.close()

    @property
    def is_closed(self) -> bool:
        return self._core.is_closed

    @property
    def model(self) -> Model:
        return Model(self._core)

    @property
    def tokenizer(self) -> Tokenizer:
        return Tokenizer._of(self._core.tokenizer())

    @property
    def aio(self) -> AsyncTasks:
        """The same methods for asyncio: `await pipeline.aio.classify(texts)`; each runs on a thread."""
        return AsyncTasks(self)

    def __reduce__(self) -> tuple[object, ...]:
        if self._hash is None:
            if stamps_of(self.path) != self._stamps:
                raise make_error("manifest", f"{self.path}: expected the files that were opened, got changed ones")
            self._hash = hash_of(self.path)
        return _reopen, (self.path, self._hash, self._options)

    # ---- the tasks

    def _answer(self, task: str, texts: Any, pairs: Any, items: Any, errors: str, parameters: dict[str, Any]) -> Any:
        kind, names = _TASKS[task]
        if errors not in ("raise", "keep"):
            raise make_error("usage", f"errors: expected raise or keep, got {errors!r}", "errors")
        is_one = isinstance(texts, str)
        if is_one:
            texts, pairs, items = ([one] if one is not None else None for one in (texts, pairs, items))
        rows = self._core.run(task.replace("_", "-"), texts, pairs, items, list(names), parameters, errors == "keep")
        made: Answers[Any] = Answers(row if isinstance(row, Error) else kind(row) for row in rows)
        return made[0] if is_one else made

    def classify(self, texts: Any, pairs: Any = None, *, errors: str = "raise", **parameters: Any) -> Any:
        """Labels of texts, or of pairs of texts."""
        return self._answer("classify", texts, pairs, None, errors, parameters)

    def scores(self, texts: Any, pairs: Any = None, **parameters: Any) -> Any:
        """The scores of classify as an array, by class in the model's order: [C] of a text, [N, C] of a list. Warns of
        texts that were cut."""
        is_one = isinstance(texts, str)
        if is_one:
            texts, pairs = [texts], None if pairs is None else [pairs]
        scores, cut_tokens, _ = self._core.scores(texts, pairs, parameters)
        _warn_of_cuts(cut_tokens)
        return scores[0] if is_one else scores

    def _scores(self, texts: Any, pairs: Any = None, **parameters: Any) -> Any:
        """Of a list, without a warning."""
        return self._core.scores(texts, pairs, parameters)[0]

    def nli(self, premises: Any, hypotheses: Any, *, errors: str = "raise", **parameters: Any) -> Any:
        """Whether each premise entails its hypothesis."""
        return self._answer("nli", premises, _given("hypotheses", hypotheses), None, errors, parameters)

    def zero_shot(self, texts: Any, labels: Any, *, errors: str = "raise", **parameters: Any) -> Any:
        """Labels of your choice, with a model of entailment."""
        return self._answer("zero_shot", texts, None, None, errors, {"labels": labels, **parameters})

    def ner(self, texts: Any, *, errors: str = "raise", **parameters: Any) -> Any:
        """Entities, or the label of each piece."""
        return self._answer("ner", texts, None, None, errors, parameters)

    def extract(self, texts: Any, labels: Any, *, errors: str = "raise", **parameters: Any) -> Any:
        """Entities by labels of your own, with a GLiNER model. `labels`: a list, or {label: description}; `threshold`:
        a number, or {label: number}."""
        return self._answer("extract", texts, None, None, errors, {"labels": labels, **parameters})

    def qa(self, questions: Any, contexts: Any, *, errors: str = "raise", **parameters: Any) -> Any:
        """Where each context answers its question."""
        return self._answer("qa", questions, _given("contexts", contexts), None, errors, parameters)

    def choose(
        self, contexts: Any, choices: Any, questions: Any = None, *, errors: str = "raise", **parameters: Any
    ) -> Any:
        """Which of its choices fits each context."""
        return self._answer("choose", contexts, questions, _given("choices", choices), errors, parameters)

    def rerank(self, queries: Any, documents: Any, *, errors: str = "raise", **parameters: Any) -> Any:
        """The documents of each query, best first."""
        return self._answer("rerank", queries, None, _given("documents", documents), errors, parameters)

    def fill(self, texts: Any, *, errors: str = "raise", **parameters: Any) -> Any:
        """The likeliest tokens for each [MASK]."""
        return self._answer("fill", texts, None, None, errors, parameters)

    def score(self, texts: Any, *, errors: str = "raise", **parameters: Any) -> Any:
        """The pseudo-perplexity of texts."""
        return self._answer("score", texts, None, None, errors, parameters)

    def detect(self, texts: Any, *, errors: str = "raise", **parameters: Any) -> Any:
        """Which pieces look as if they had been replaced."""
        return self._answer("detect", texts, None, None, errors, parameters)

    def similarity(self, texts: Any, pairs: Any, *, errors: str = "raise", **parameters: Any) -> Any:
        """The cosine of the vectors of each text and its pair."""
        return self._answer("similarity", texts, _given("pairs", pairs), None, errors, parameters)

    def embed(self, texts: Any, *, prompt: str | None = None, **parameters: Any) -> Any:
        """Vectors: an array [D] of a text, [N, D] of a list; with pooling="none" [L, D], or a list of these.

        `prompt` stands before every text, in place of the one that the folder may have. Warns of texts that were
        cut."""
        is_one = isinstance(texts, str)
        vectors, cut_tokens, _ = self._core.embed([texts] if is_one else texts, parameters, prompt)
        _warn_of_cuts(cut_tokens)
        return vectors[0] if is_one else vectors

    def _vectors(self, texts: Any, *, prompt: str | None = None, **parameters: Any) -> Any:
        """Of a list, without a warning."""
        return self._core.embed(texts, parameters, prompt)[0]

    # ---- streams

    def stream(
        self, task: str, rows: Iterable[Any], *, group: int = 256, ahead: int = 2, **parameters: Any
    ) -> Iterator[Any]:
        """Answers the rows of any iterable, in their order, with an Error in the place of a bad one.

        A row is a text, or a tuple with the columns of the task: (question, context), (context, choices, question).
        It reads at most `ahead` groups of `group` rows ahead, on a thread of its own."""
        from deberta._stream import answer_stream

        return answer_stream(self, task, rows, group, ahead, parameters)


class AsyncTasks:
    """The methods of a pipeline as coroutines."""

    def __init__(self, pipeline: Pipeline) -> None:
        self._pipeline = pipeline

    def __getattr__(self, name: str) -> Any:
        if name not in (*_TASKS, "scores", "embed"):
            raise AttributeError(f"no task {name}")
        method = getattr(self._pipeline, name)

        async def answer(*columns: Any, **parameters: Any) -> Any:
            import asyncio

            return await asyncio.to_thread(method, *columns, **parameters)

        return answer

    async def stream(self, task: str, rows: Iterable[Any], **options: Any) -> AsyncIterator[Any]:
        import asyncio

        answers = self._pipeline.stream(task, rows, **options)
        end = object()
        while (answer := await asyncio.to_thread(next, answers, end)) is not end:
            yield answer


def _warn_of_cuts(cut_tokens: list[int]) -> None:
    """What marks of answers say, for the methods whose answers are arrays."""
    count = sum(cut > 0 for cut in cut_tokens)
    if count > 0:
        import warnings

        message = f'{count} of {len(cut_tokens)} rows were cut to max_tokens; truncate="error" refuses them'
        warnings.warn(message, stacklevel=3)


def _given(name: str, column: Any) -> Any:
    """A second column, which the task needs."""
    if column is None:
        raise make_error("input", f"{name}: expected as many as rows, got None", name)
    return column


def _check_types(options: dict[str, Any]) -> None:
    """Integers of other kinds, as NumPy has them, become plain ones."""
    for name, least, most in (("threads", 0, 1024), ("batch_tokens", 1, 1 << 24)):
        value = options[name]
        try:
            options[name] = -1 if isinstance(value, bool) else index(value)
        except TypeError:
            options[name] = -1
        if not least <= options[name] <= most:
            raise make_error("usage", f"{name}: expected an integer in {least}..{most}, got {value!r}", name)
    for name in ("dtype", "device", "compat", "tokenizer"):
        if not isinstance(options[name], str) or not options[name].isascii():
            raise make_error("usage", f"{name}: expected a word, got {options[name]!r}", name)
    for name in ("allow_uncalibrated", "share_weights"):
        if not isinstance(options[name], bool):
            raise make_error("usage", f"{name}: expected True or False, got {options[name]!r}", name)


def open(model: str | os.PathLike[str], **options: Any) -> Pipeline:
    """Opens a model: Pipeline(model, dtype=, threads=, device=, compat=, tokenizer=, ...)."""
    known: dict[str, Any] = Pipeline.__init__.__kwdefaults__ or {}
    for name in options:
        if name not in known:
            raise make_error("usage", f"{name}: expected an option of deberta.open: {', '.join(known)}", name)
    return Pipeline(model, **options)


def pipeline_of(model: Any, options: dict[str, Any]) -> Pipeline:
    """A pipeline as it is, else that of a model. Raises InputError for options of one that is open already."""
    if not isinstance(model, Pipeline):
        return open(model, **options)
    if options:
        raise make_error(
            "usage", f"{', '.join(options)}: expected no option of a model that is open", next(iter(options))
        )
    return model


def _reopen(path: str, expected: str, options: dict[str, Any]) -> Pipeline:
    found = hash_of(path) if os.path.isdir(path) else "no such folder"
    if found != expected:
        raise make_error("manifest", f"{path}: expected the model that was pickled ({expected[:12]}), got {found[:14]}")
    pipeline = Pipeline(path, **options | {"share_weights": True})
    pipeline._hash = found
    return pipeline
