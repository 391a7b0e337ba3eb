"""`pipeline(task, model)` with the answers of transformers 4.57, question answering among them.

Opens a model with compat="hf" and the fast tokenizer, as those pipelines do; docs/records/pipelines.md lists what
differs."""

from __future__ import annotations

import os

from deberta._errors import make_error
from deberta._inputs import dtype_of, list_of
from deberta._pipeline import Pipeline, pipeline_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, NoReturn

# What a pipeline there may be given and what has no meaning here.
_IDLE = ("batch_size", "num_workers", "framework", "padding", "trust_remote_code", "token")
# Of deberta.open; whatever else a pipeline is made with is for its calls.
_OPENING = ("dtype", "threads", "compat", "tokenizer", "allow_uncalibrated", "batch_tokens", "share_weights")
# What would change an answer there, and cannot here.
_REFUSED = ("config", "feature_extractor", "image_processor", "processor", "revision", "model_kwargs", "pipeline_class")


def _refuse(argument: str, expected: str, got: object) -> NoReturn:
    raise make_error("usage", f"{argument}: expected {expected}, got {got!r}", argument)


def _without_idle(given: dict[str, Any]) -> dict[str, Any]:
    device = given.pop("device", None)
    if str(device) not in ("None", "-1", "cpu"):
        _refuse("device", "None, -1 or cpu", device)
    return {name: value for name, value in given.items() if name not in _IDLE}


def _opening(model: Any, given: dict[str, Any]) -> dict[str, Any]:
    """Takes what is for deberta.open out of what a pipeline is made with."""
    for name in _REFUSED:
        if given.get(name) is not None:
            _refuse(name, "no such option, which has no meaning here", given[name])
        given.pop(name, None)
    device_map = given.pop("device_map", None)
    if device_map not in (None, "auto", "cpu"):
        _refuse("device_map", "None, auto or cpu", device_map)
    if "torch_dtype" in given:
        given["dtype"] = given.pop("torch_dtype")
    if "dtype" in given:
        given["dtype"] = dtype_of(given["dtype"])
    if given.get("tokenizer") in (None, model):  # its own
        given.pop("tokenizer", None)
    if "use_fast" in given:
        given.setdefault("tokenizer", "fast" if given.pop("use_fast") else "slow")
    return {name: given.pop(name) for name in _OPENING if name in given}


def _of_tokenizer(given: dict[str, Any]) -> dict[str, Any]:
    """How long texts may be, as a tokenizer there is told."""
    for name in ("tokenizer_kwargs", "tokenize_kwargs"):
        more = given.pop(name, None)
        if more is not None and not isinstance(more, dict):
            _refuse(name, "a dict", more)
        given = {**given, **_without_idle(dict(more or {}))}
    truncation = given.pop("truncation", None)
    if truncation is False or truncation == "do_not_truncate":
        given.setdefault("truncate", "error")
    elif truncation not in (None, True, "longest_first", "only_first"):
        _refuse("truncation", "True, False, longest_first, only_first or do_not_truncate", truncation)
    return given


def _renamed(given: dict[str, Any], names: dict[str, str]) -> dict[str, Any]:
    """Parameters by the names of this package."""
    names = {"max_length": "max_tokens", **names}
    return {names.get(name, name): value for name, value in _of_tokenizer(_without_idle(dict(given))).items()}


def _field(row: Any, i: int, name: str) -> Any:
    if not isinstance(row, dict) or name not in row:
        got = list(row) if isinstance(row, dict) else type(row).__name__
        raise make_error("input", f"inputs[{i}]: expected a dict with {name}, got {got}", "inputs")
    return row[name]


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
    return answer(list_of("inputs", inputs))


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
        if isinstance(parameters.get("function"), str):
            parameters["function"] = parameters["function"].lower()
        classes = self.model.info["classes"]
        is_legacy = isinstance(top_k, str) and top_k == ""
        count = 1 if is_legacy else classes if top_k is None else top_k
        if not isinstance(count, int) or isinstance(count, bool) or count < 1:
            _refuse("top_k", "None or a positive integer", top_k)

        def answer(rows: list[Any]) -> list[Any]:
            texts = [_field(row, i, "text") if isinstance(row, dict) else row for i, row in enumerate(rows)]
            pairs = [row.get("text_pair") if isinstance(row, dict) else None for row in rows]
            columns = (texts, pairs) if any(pair is not None for pair in pairs) else (texts,)
            made = self.pipeline.classify(*columns, top_k=min(count, classes), **parameters)
            labels = [[label.to_dict() for label in one.labels] for one in made]
            return [label[0] for label in labels] if is_legacy else labels

        return _each(inputs, answer)


class ZeroShotClassification(_Task):
    def _answer(self, sequences: Any, candidate_labels: Any, **given: Any) -> Any:
        is_text = isinstance(candidate_labels, str)
        labels = candidate_labels.split(",") if is_text else list_of("candidate_labels", candidate_labels)
        labels = [label.strip() if isinstance(label, str) else label for label in labels]
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
        parameters = _renamed({name: value for name, value in given.items() if name != "truncation"}, names)
        if "align_to_words" in parameters:
            parameters["align"] = "words" if parameters.pop("align_to_words") else "tokens"
        if isinstance(inputs, str):  # and a context, by their places
            inputs, question, context = None, inputs, question
        if inputs is None:
            questions = [question] if isinstance(question, str) else list_of("question", question)
            contexts = [context] * len(questions) if isinstance(context, str) else list_of("context", context)
            if len(contexts) != len(questions):
                message = f"context: expected {len(questions)}, as many as questions, got {len(contexts)}"
                raise make_error("input", message, "context")
            inputs = [{"question": q, "context": c} for q, c in zip(questions, contexts)]

        def answer(rows: list[Any]) -> list[Any]:
            columns = [[_field(row, i, name) for i, row in enumerate(rows)] for name in ("question", "context")]
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


def pipeline(task: str | None = None, model: str | os.PathLike[str] | Pipeline | None = None, **options: Any) -> Any:
    """A callable that answers as transformers.pipeline(task, model) of 4.57; both are to be given. `options`: those of
    deberta.open, unless `model` is open already, and parameters of the calls, such as top_k. Raises InputError for
    another task."""
    if not isinstance(task, str) or task not in _TASKS:
        _refuse("task", f"one of {', '.join(_TASKS)}", task)
    kind = _TASKS[task]
    options = _without_idle(options)
    opening = _opening(model, options)
    defaults = {} if isinstance(model, Pipeline) else {"compat": "hf", "tokenizer": "fast"}
    return kind(pipeline_of(model, {**defaults, **opening}), task, options)
