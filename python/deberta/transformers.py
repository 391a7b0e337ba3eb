"""`pipeline(task, model)` with the answers of transformers 4.57, question answering among them.

Opens a model with compat="hf" and the fast tokenizer, as those pipelines do; docs/pipelines.md lists what differs."""

from __future__ import annotations

import os

from deberta._errors import make_error
from deberta._pipeline import Pipeline, pipeline_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

# What a pipeline there may be given and what has no meaning here.
_IDLE = ("batch_size", "num_workers", "framework", "torch_dtype", "padding", "truncation", "trust_remote_code")
# Of deberta.open; whatever else a pipeline is made with is for its calls.
_OPENING = ("dtype", "threads", "compat", "tokenizer", "allow_uncalibrated", "batch_tokens")


def _without_idle(given: dict[str, Any]) -> dict[str, Any]:
    device = given.pop("device", None)
    if device not in (None, -1, "cpu"):
        raise make_error("usage", f"device: expected None, -1 or cpu, got {device!r}", "device")
    return {name: value for name, value in given.items() if name not in _IDLE}


def _renamed(given: dict[str, Any], names: dict[str, str]) -> dict[str, Any]:
    """Parameters by the names of this package."""
    return {names.get(name, name): value for name, value in _without_idle(dict(given)).items()}


class _Task:
    """A task of a pipeline; `defaults`: parameters of its calls."""

    def __init__(self, opened: Pipeline, task: str, defaults: dict[str, Any]) -> None:
        self.pipeline, self.task, self.defaults = opened, task, defaults

    @property
    def tokenizer(self) -> Any:
        return self.pipeline.tokenizer

    @property
    def model(self) -> Any:
        return self.pipeline.model

    def __call__(self, *inputs: Any, **given: Any) -> Any:
        return self._answer(*inputs, **{**self.defaults, **given})

    def _answer(self, *inputs: Any, **given: Any) -> Any:
        raise NotImplementedError


def _each(inputs: Any, answer: Callable[[list[Any]], list[Any]]) -> Any:
    """Of a list a list; of one input its answer alone."""
    if isinstance(inputs, (str, dict)):
        return answer([inputs])[0]
    return answer(list(inputs))


def _alone(inputs: Any) -> Any:
    """A list of one is one input, as two of the tasks have it."""
    return inputs[0] if isinstance(inputs, list) and len(inputs) == 1 else inputs


class TextClassification(_Task):
    def __call__(self, inputs: Any, **given: Any) -> Any:
        made = super().__call__(inputs, **given)
        # A text alone has a list of one, by custom, unless the call itself has top_k.
        return [made] if isinstance(inputs, str) and "top_k" not in given else made

    def _answer(self, inputs: Any, top_k: int | str | None = "", **given: Any) -> Any:
        parameters = _renamed(given, {"function_to_apply": "function"})
        classes = self.model.info["classes"]
        count = 1 if top_k == "" else classes if top_k is None else int(top_k)
        is_legacy = top_k == ""

        def answer(rows: list[Any]) -> list[Any]:
            texts = [row["text"] if isinstance(row, dict) else row for row in rows]
            pairs = [row.get("text_pair") if isinstance(row, dict) else None for row in rows]
            columns = (texts, pairs) if any(pair is not None for pair in pairs) else (texts,)
            made = self.pipeline.classify(*columns, top_k=min(count, classes), **parameters)
            labels = [[label.to_dict() for label in one.labels] for one in made]
            return [label[0] for label in labels] if is_legacy else labels

        return _each(inputs, answer)


class ZeroShotClassification(_Task):
    def _answer(self, sequences: Any, candidate_labels: Any, **given: Any) -> Any:
        labels = candidate_labels.split(",") if isinstance(candidate_labels, str) else list(candidate_labels)
        labels = [label.strip() for label in labels]
        parameters = _renamed(given, {})
        keys = ("sequence", "labels", "scores")

        def answer(rows: list[Any]) -> list[Any]:
            found = [one.to_dict() for one in self.pipeline.zero_shot(rows, labels, **parameters)]
            return [{key: one[key] for key in keys} for one in found]

        return _each(sequences, answer)


class TokenClassification(_Task):
    def _answer(self, inputs: Any, **given: Any) -> Any:
        parameters = {"aggregation": "none", **_renamed(given, {"aggregation_strategy": "aggregation"})}
        names = ("entity", "entity_group", "score", "index", "word", "start", "end")

        def answer(rows: list[Any]) -> list[Any]:
            found = [one.to_dict()["entities"] for one in self.pipeline.ner(rows, **parameters)]
            return [[{name: one[name] for name in names if name in one} for one in entities] for entities in found]

        return _each(inputs, answer)


class QuestionAnswering(_Task):
    def _answer(self, inputs: Any = None, question: Any = None, context: Any = None, **given: Any) -> Any:
        names = {
            "doc_stride": "stride",
            "max_answer_len": "max_answer_tokens",
            "max_seq_len": "max_tokens",
            "max_question_len": "max_question_tokens",
            "handle_impossible_answer": "allow_no_answer",
        }
        parameters = _renamed(given, names)
        if "align_to_words" in parameters:
            parameters["align"] = "words" if parameters.pop("align_to_words") else "tokens"
        if isinstance(inputs, str):  # and a context, by their places
            inputs, question, context = None, inputs, question
        if inputs is None:
            questions = [question] if isinstance(question, str) else list(question)
            contexts = [context] * len(questions) if isinstance(context, str) else list(context)
            if len(contexts) != len(questions):
                message = f"context: expected {len(questions)}, as many as questions, got {len(contexts)}"
                raise make_error("input", message, "context")
            inputs = [{"question": q, "context": c} for q, c in zip(questions, contexts)]

        def answer(rows: list[Any]) -> list[Any]:
            columns = [row["question"] for row in rows], [row["context"] for row in rows]
            found = [one.to_dict() for one in self.pipeline.qa(*columns, **parameters)]
            keys = ("score", "start", "end", "answer")
            lists = [[{key: span[key] for key in keys} for span in one.get("answers", [one])] for one in found]
            return [spans[0] if len(spans) == 1 else spans for spans in lists]

        return _each(_alone(inputs), answer)


class FillMask(_Task):
    def _answer(self, inputs: Any, **given: Any) -> Any:
        parameters = _renamed(given, {})
        if isinstance(parameters.get("targets"), str):
            parameters["targets"] = [parameters["targets"]]
        keys = ("score", "token", "token_str", "sequence")

        def answer(rows: list[Any]) -> list[Any]:
            found = [one.to_dict()["masks"] for one in self.pipeline.fill(rows, **parameters)]
            lists = [[[{key: one[key] for key in keys} for one in mask["tokens"]] for mask in masks] for masks in found]
            return [masks[0] if len(masks) == 1 else masks for masks in lists]

        return _each(_alone(inputs), answer)


class FeatureExtraction(_Task):
    def _answer(self, inputs: Any, **given: Any) -> Any:
        parameters = _renamed(given, {})
        return _each(
            inputs, lambda rows: [[one.tolist()] for one in self.pipeline.embed(rows, pooling="none", **parameters)]
        )


_TASKS: dict[str, type[_Task]] = {
    "text-classification": TextClassification,
    "sentiment-analysis": TextClassification,
    "zero-shot-classification": ZeroShotClassification,
    "token-classification": TokenClassification,
    "ner": TokenClassification,
    "question-answering": QuestionAnswering,
    "fill-mask": FillMask,
    "feature-extraction": FeatureExtraction,
}


def pipeline(task: str, model: str | os.PathLike[str] | Pipeline, **options: Any) -> Any:
    """A callable that answers as transformers.pipeline(task, model) of 4.57. `options`: those of deberta.open, unless
    `model` is open already, and parameters of the calls, such as top_k. Raises InputError for another task."""
    kind = _TASKS.get(task)
    if kind is None:
        raise make_error("usage", f"task: expected one of {', '.join(_TASKS)}, got {task!r}", "task")
    options = _without_idle(options)
    opening = {name: options.pop(name) for name in _OPENING if name in options}
    defaults = {} if isinstance(model, Pipeline) else {"compat": "hf", "tokenizer": "fast"}
    return kind(pipeline_of(model, {**defaults, **opening}), task, options)
