"""`pipeline(task, model)` with the answers of transformers 4.57, question answering among them.

Opens a model with compat="hf" and the fast tokenizer, as those pipelines do; docs/records/pipelines.md lists what
differs."""

from __future__ import annotations

import itertools
import os

from deberta._errors import make_error
from deberta._inputs import check_batch_size, dtype_of, list_of
from deberta._pipeline import Pipeline, pipeline_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, NoReturn

# What a pipeline there may be given and what has no meaning here.
_IDLE = ("batch_size", "num_workers", "padding", "trust_remote_code", "token")
# Of deberta.open; whatever else a pipeline is made with is for its calls.
_OPENING = ("dtype", "threads", "compat", "tokenizer", "allow_uncalibrated", "batch_tokens", "share_weights")
_ONLY_FIRST = "only_first"
# What would change an answer there, and cannot here.
_REFUSED = ("config", "feature_extractor", "image_processor", "processor", "revision", "model_kwargs", "pipeline_class")


def _refuse(argument: str, expected: str, got: object) -> NoReturn:
    raise make_error("usage", f"{argument}: expected {expected}, got {got!r}", argument)


def _without_idle(given: dict[str, Any]) -> dict[str, Any]:
    device = given.pop("device", None)
    if str(device) not in ("None", "-1", "cpu"):
        _refuse("device", "None, -1 or cpu", device)
    framework = given.pop("framework", None)
    if framework not in (None, "pt"):
        _refuse("framework", "None or pt", framework)
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
    """How long texts may be, as a tokenizer there is told; of truncation only what pairs do not have stays."""
    for name in ("tokenizer_kwargs", "tokenize_kwargs"):
        more = given.pop(name, None)
        if more is not None and not isinstance(more, dict):
            _refuse(name, "a dict", more)
        given = {**given, **_without_idle(dict(more or {}))}
    truncation = given.pop("truncation", None)
    if truncation is False or truncation == "do_not_truncate":
        given.setdefault("truncate", "error")
    elif truncation not in (None, True, "longest_first", _ONLY_FIRST):
        _refuse("truncation", "True, False, longest_first, only_first or do_not_truncate", truncation)
    return {**given, _ONLY_FIRST: True} if truncation == _ONLY_FIRST else given


def _renamed(given: dict[str, Any], names: dict[str, str]) -> dict[str, Any]:
    """Parameters by the names of this package; None is what is not given."""
    if given.get("batch_size") is not None:
        check_batch_size(given["batch_size"])
    names = {"max_length": "max_tokens", **names}
    told = _of_tokenizer(_without_idle(dict(given)))
    return {names.get(name, name): value for name, value in told.items() if value is not None}


def _renamed_of_texts(given: dict[str, Any], names: dict[str, str]) -> dict[str, Any]:
    """The same where no text has a pair."""
    parameters = _renamed(given, names)
    parameters.pop(_ONLY_FIRST, None)
    return parameters


def _check_fields(row: Any, i: int, needed: tuple[str, ...], more: tuple[str, ...] = ()) -> None:
    is_whole = isinstance(row, dict) and all(name in row for name in needed)
    if not is_whole or not set(row) <= {*needed, *more}:
        may = f" and perhaps {', '.join(more)}" if more else ""
        got = list(row) if isinstance(row, dict) else type(row).__name__
        raise make_error("input", f"inputs[{i}]: expected a dict with {', '.join(needed)}{may}, got {got}", "inputs")


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


_AHEAD = 256  # inputs of an iterator that are answered at once


def _each(inputs: Any, answer: Callable[[list[Any]], list[Any]]) -> Any:
    """Of a list a list; of one input its answer alone; of an iterator, which may never end, an iterator."""
    if isinstance(inputs, (str, dict)):
        return answer([inputs])[0]
    if hasattr(inputs, "__next__"):
        groups = iter(lambda: list(itertools.islice(inputs, _AHEAD)), [])
        return itertools.chain.from_iterable(map(answer, groups))
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

        is_first_cut = parameters.pop(_ONLY_FIRST, False)

        def answer(rows: list[Any]) -> list[Any]:
            fields = [row if isinstance(row, dict) else {"text": row} for row in rows]
            for i, row in enumerate(fields):
                _check_fields(row, i, ("text",), ("text_pair",))
            has_pair = [row.get("text_pair") is not None for row in fields]
            if is_first_cut and any(has_pair):
                _refuse("truncation", "longest_first or True with pairs, of which the longer text is cut", _ONLY_FIRST)
            made: list[Any] = [None] * len(rows)
            for is_pair in sorted({False, *has_pair}):
                places = [place for place, of_kind in enumerate(has_pair) if of_kind == is_pair]
                texts = [fields[place]["text"] for place in places]
                pairs = [fields[place]["text_pair"] for place in places] if is_pair else None
                answers = self.pipeline.classify(texts, pairs, top_k=min(count, classes), **parameters)
                for place, one in zip(places, answers):
                    labels = [label.to_dict() for label in one.labels]
                    made[place] = labels[0] if is_legacy else labels
            return made

        return _each(inputs, answer)


class ZeroShotClassification(_Task):
    def _answer(self, sequences: Any, candidate_labels: Any, **given: Any) -> Any:
        if isinstance(candidate_labels, str):
            labels = [label.strip() for label in candidate_labels.split(",") if label.strip()]
        else:
            labels = list_of("candidate_labels", candidate_labels)
        parameters = _renamed_of_texts(given, {})
        keys = ("sequence", "labels", "scores")

        def answer(rows: list[Any]) -> list[Any]:
            found = [one.to_dict() for one in self.pipeline.zero_shot(rows, labels, **parameters)]
            return [{key: one[key] for key in keys} for one in found]

        return _each(sequences, answer)


class TokenClassification(_Task):
    def _answer(self, inputs: Any, **given: Any) -> Any:
        names_here = {"aggregation_strategy": "aggregation"}
        parameters = {"aggregation": "none", **_renamed_of_texts(given, names_here)}
        if given.get("truncation") not in (None, False, "do_not_truncate"):  # else windows
            parameters.setdefault("truncate", "right")
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
        if self.pipeline._options.get("tokenizer") == "fast":  # there only the slow one cuts questions
            parameters["max_question_tokens"] = 1 << 20
        has_none = bool(parameters.get("allow_no_answer"))
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
            for i, row in enumerate(rows):
                _check_fields(row, i, ("question", "context"))
                for name in ("question", "context"):
                    if row[name] == "":
                        raise make_error("input", f"inputs[{i}]: {name}: expected a text, got an empty one", "inputs")
            columns = [[row[name] for row in rows] for name in ("question", "context")]
            found = [one.to_dict() for one in self.pipeline.qa(*columns, **parameters)]
            keys = ("score", "start", "end", "answer")
            lists = [[{key: span[key] for key in keys} for span in one.get("answers", [one])] for one in found]
            for span in (span for spans in lists for span in spans if not has_none and span["answer"] == ""):
                span["score"] = 0.0  # a context without a single piece
            return [spans[0] if len(spans) == 1 else spans for spans in lists]

        return _each(_alone(inputs), answer)


class FillMask(_Task):
    def _answer(self, inputs: Any, **given: Any) -> Any:
        parameters = _renamed_of_texts(given, {})
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
        tokenizing = given.get("tokenize_kwargs")
        if isinstance(tokenizing, dict) and tokenizing.get("padding") == "max_length":
            _refuse("padding", "none, for padding has no vectors here", "max_length")
        parameters = _renamed_of_texts(given, {})
        if "pooling" in parameters:
            _refuse("pooling", "no such option; deberta.open(model).embed() pools", parameters["pooling"])
        return _each(
            inputs, lambda rows: [[one.tolist()] for one in self.pipeline._vectors(rows, pooling="none", **parameters)]
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
