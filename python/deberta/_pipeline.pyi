"""The methods of a pipeline. Made by tools/python_stubs.py; None for a parameter: as the table says."""

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
    @overload
    def classify(
        self,
        texts: str,
        pairs: str | None = None,
        *,
        errors: Literal["raise", "keep"] = "raise",
        max_tokens: int | None = None,
        truncate: Literal["right", "left", "window", "error"] | None = None,
        stride: int | None = None,
        top_k: int | None = None,
        function: Literal["auto", "softmax", "sigmoid", "none"] | None = None,
        window_scores: Literal["mean", "max", "each"] | None = None,
        benign_labels: Iterable[str] | None = None,
    ) -> Classification:
        """max_tokens: maximum input length in tokens, special tokens included; unless it is given, the length in the
            model's folder (model_max_length, up to 32768) replaces the default; default 512
        truncate (right|left|window|error): what to do with a longer input: cut its end (right), cut its beginning
            (left), read it in overlapping windows and average their logits (of a pair, windows of the longer text,
            each with the whole shorter one), or report the row as bad; default right
        stride: tokens that consecutive windows share; default 128
        top_k: number of labels per text; 0: the best one, or all of a multi-label or regression model; default 0
        function (auto|softmax|sigmoid|none): how logits become scores; auto: by the model's problem_type; none: the
            scores are the logits; default auto
        window_scores (mean|max|each): how a text that is read in windows is scored; mean: by the mean of the
            windows' logits; max: by the window in which a class that is not benign scores highest; each: each
            window by itself, with its offsets; default mean
        benign_labels: the benign classes, for window_scores max; default: those named benign, safe, clean, ham or
            legit"""
    @overload
    def classify(
        self,
        texts: Any,
        pairs: Any | None = None,
        *,
        errors: Literal["raise", "keep"] = "raise",
        max_tokens: int | None = None,
        truncate: Literal["right", "left", "window", "error"] | None = None,
        stride: int | None = None,
        top_k: int | None = None,
        function: Literal["auto", "softmax", "sigmoid", "none"] | None = None,
        window_scores: Literal["mean", "max", "each"] | None = None,
        benign_labels: Iterable[str] | None = None,
    ) -> Answers[Classification]: ...
    @overload
    def nli(
        self,
        premises: str,
        hypotheses: str,
        *,
        errors: Literal["raise", "keep"] = "raise",
        max_tokens: int | None = None,
        truncate: Literal["right", "left", "error"] | None = None,
        function: Literal["auto", "softmax", "none"] | None = None,
        label_map: Iterable[str] | None = None,
    ) -> Entailment:
        """max_tokens: maximum input length in tokens, special tokens included; unless it is given, the length in the
            model's folder (model_max_length, up to 32768) replaces the default; default 512
        truncate (right|left|error): what to do with a longer input: cut its end (right) or its beginning (left), or
            report the row as bad; default right
        function (auto|softmax|none): how logits become scores; auto: softmax; none: the scores are the logits;
            default auto
        label_map: the meanings of the model's classes, in order, if their names do not show them:
            contradiction,neutral,entailment; none: a class that is none of these; it keeps its share of the scores
            and its name"""
    @overload
    def nli(
        self,
        premises: Any,
        hypotheses: Any,
        *,
        errors: Literal["raise", "keep"] = "raise",
        max_tokens: int | None = None,
        truncate: Literal["right", "left", "error"] | None = None,
        function: Literal["auto", "softmax", "none"] | None = None,
        label_map: Iterable[str] | None = None,
    ) -> Answers[Entailment]: ...
    @overload
    def zero_shot(
        self,
        texts: str,
        labels: Iterable[str],
        *,
        errors: Literal["raise", "keep"] = "raise",
        max_tokens: int | None = None,
        truncate: Literal["right", "left", "error"] | None = None,
        label_map: Iterable[str] | None = None,
        hypothesis_template: str | None = None,
        multi_label: bool | None = None,
    ) -> ZeroShot:
        """max_tokens: maximum input length in tokens, special tokens included; unless it is given, the length in the
            model's folder (model_max_length, up to 32768) replaces the default; default 512
        truncate (right|left|error): what to do with a longer input: cut its end (right) or its beginning (left), or
            report the row as bad; default right
        label_map: the meanings of the model's classes, in order, if their names do not show them:
            contradiction,neutral,entailment; none: a class that is none of these; it keeps its share of the scores
            and its name
        labels: candidate labels
        hypothesis_template: hypothesis for a label; {} is replaced by the label; default This example is {}.
        multi_label: score each label independently (entailment against contradiction) instead of against the others"""
    @overload
    def zero_shot(
        self,
        texts: Any,
        labels: Iterable[str],
        *,
        errors: Literal["raise", "keep"] = "raise",
        max_tokens: int | None = None,
        truncate: Literal["right", "left", "error"] | None = None,
        label_map: Iterable[str] | None = None,
        hypothesis_template: str | None = None,
        multi_label: bool | None = None,
    ) -> Answers[ZeroShot]: ...
    @overload
    def ner(
        self,
        texts: str,
        *,
        errors: Literal["raise", "keep"] = "raise",
        max_tokens: int | None = None,
        truncate: Literal["window", "right", "left", "error"] | None = None,
        stride: int | None = None,
        aggregation: Literal["auto", "none", "simple", "first", "average", "max"] | None = None,
        ignore_labels: Iterable[str] | None = None,
        offsets: Literal["chars", "bytes", "utf16"] | None = None,
    ) -> Entities:
        """max_tokens: maximum input length in tokens, special tokens included; unless it is given, the length in the
            model's folder (model_max_length, up to 32768) replaces the default; default 512
        truncate (window|right|left|error): what to do with a longer input: read it in overlapping windows, cut its
            end (right), cut its beginning (left), or report the row as bad; default window
        stride: tokens that consecutive windows share; default 128
        aggregation (auto|none|simple|first|average|max): how to group pieces into entities; none: no grouping;
            simple: runs of pieces, which may begin or end inside a word; first, average, max: whole words, labelled
            by their first piece, the mean of their pieces or the highest score; auto: as set in the model's
            config.json, else first; default auto
        ignore_labels: labels to leave out; default O
        offsets (chars|bytes|utf16): unit of offsets: Unicode code points, bytes, or UTF-16 units; default chars"""
    @overload
    def ner(
        self,
        texts: Any,
        *,
        errors: Literal["raise", "keep"] = "raise",
        max_tokens: int | None = None,
        truncate: Literal["window", "right", "left", "error"] | None = None,
        stride: int | None = None,
        aggregation: Literal["auto", "none", "simple", "first", "average", "max"] | None = None,
        ignore_labels: Iterable[str] | None = None,
        offsets: Literal["chars", "bytes", "utf16"] | None = None,
    ) -> Answers[Entities]: ...
    @overload
    def extract(
        self,
        texts: str,
        labels: Iterable[str] | dict[str, str | None],
        *,
        errors: Literal["raise", "keep"] = "raise",
        max_tokens: int | None = None,
        truncate: Literal["window", "right", "error"] | None = None,
        stride: int | None = None,
        threshold: float | dict[str, float] | None = None,
        nested: bool | None = None,
        multi_label: bool | None = None,
        join: bool | None = None,
        offsets: Literal["chars", "bytes", "utf16"] | None = None,
    ) -> Entities:
        """max_tokens: maximum input length in tokens, special tokens included; unless it is given, the length in the
            model's folder (model_max_length, up to 32768) replaces the default; default 512
        truncate (window|right|error): what to do with a longer input: read it in overlapping windows of words, cut
            its end (right), or report the row as bad; default window
        stride: tokens that consecutive windows share; default 128
        labels: labels of the entities to find
        threshold: probability that a span must exceed to be an entity; LABEL=NUMBER is that of one label; default
            0.5
        nested: also find entities within others
        multi_label: a span may have several labels
        join: make one entity of neighbours with the same label, as NuNER Zero wants it
        offsets (chars|bytes|utf16): unit of offsets: Unicode code points, bytes, or UTF-16 units; default chars"""
    @overload
    def extract(
        self,
        texts: Any,
        labels: Iterable[str] | dict[str, str | None],
        *,
        errors: Literal["raise", "keep"] = "raise",
        max_tokens: int | None = None,
        truncate: Literal["window", "right", "error"] | None = None,
        stride: int | None = None,
        threshold: float | dict[str, float] | None = None,
        nested: bool | None = None,
        multi_label: bool | None = None,
        join: bool | None = None,
        offsets: Literal["chars", "bytes", "utf16"] | None = None,
    ) -> Answers[Entities]: ...
    @overload
    def qa(
        self,
        questions: str,
        contexts: str,
        *,
        errors: Literal["raise", "keep"] = "raise",
        max_tokens: int | None = None,
        stride: int | None = None,
        top_k: int | None = None,
        max_answer_tokens: int | None = None,
        max_question_tokens: int | None = None,
        align: Literal["words", "tokens"] | None = None,
        allow_no_answer: bool | None = None,
        no_answer_threshold: float | None = None,
        offsets: Literal["chars", "bytes", "utf16"] | None = None,
    ) -> QuestionAnswer:
        """max_tokens: maximum window length in tokens: question, part of the context, special tokens; default 384
        stride: tokens of the context that consecutive windows share (at most half a window); default 128
        top_k: number of answers per question; default 1
        max_answer_tokens: maximum answer length in tokens; default 15
        max_question_tokens: maximum question length in tokens; the rest is cut; default 64
        align (words|tokens): where answers may begin and end: at word boundaries, or at any token; default words
        allow_no_answer: treat the empty answer as a candidate (SQuAD 2.0 models)
        no_answer_threshold: the empty answer wins where its logit exceeds that of the best span by more than this;
            implies allow_no_answer; default 0
        offsets (chars|bytes|utf16): unit of offsets: Unicode code points, bytes, or UTF-16 units; default chars"""
    @overload
    def qa(
        self,
        questions: Any,
        contexts: Any,
        *,
        errors: Literal["raise", "keep"] = "raise",
        max_tokens: int | None = None,
        stride: int | None = None,
        top_k: int | None = None,
        max_answer_tokens: int | None = None,
        max_question_tokens: int | None = None,
        align: Literal["words", "tokens"] | None = None,
        allow_no_answer: bool | None = None,
        no_answer_threshold: float | None = None,
        offsets: Literal["chars", "bytes", "utf16"] | None = None,
    ) -> Answers[QuestionAnswer]: ...
    @overload
    def choose(
        self,
        contexts: str,
        choices: Iterable[str],
        questions: str | None = None,
        *,
        errors: Literal["raise", "keep"] = "raise",
        max_tokens: int | None = None,
        truncate: Literal["right", "left", "error"] | None = None,
        form: Literal["race", "plain", "copa"] | None = None,
    ) -> Choice:
        """max_tokens: maximum input length in tokens, special tokens included; unless it is given, the length in the
            model's folder (model_max_length, up to 32768) replaces the default; default 512
        truncate (right|left|error): what to do with a longer input: cut its end (right) or its beginning (left), or
            report the row as bad; default right
        form (race|plain|copa): race: [CLS] context [SEP] question choice [SEP], white space normalised, question
            and choice at most 160 tokens; plain: the same with the texts unchanged (SWAG, AlphaNLI); copa: the
            question is cause or effect; default race"""
    @overload
    def choose(
        self,
        contexts: Any,
        choices: Iterable[Iterable[str]],
        questions: Any | None = None,
        *,
        errors: Literal["raise", "keep"] = "raise",
        max_tokens: int | None = None,
        truncate: Literal["right", "left", "error"] | None = None,
        form: Literal["race", "plain", "copa"] | None = None,
    ) -> Answers[Choice]: ...
    @overload
    def rerank(
        self,
        queries: str,
        documents: Iterable[str],
        *,
        errors: Literal["raise", "keep"] = "raise",
        max_tokens: int | None = None,
        max_second_tokens: int | None = None,
        truncate: Literal["right", "left", "error"] | None = None,
        function: Literal["auto", "sigmoid", "none"] | None = None,
        top_n: int | None = None,
        return_text: bool | None = None,
    ) -> Ranking:
        """max_tokens: maximum input length in tokens, special tokens included; unless it is given, the length in the
            model's folder (model_max_length, up to 32768) replaces the default; default 512
        max_second_tokens: maximum number of tokens read from a document; the rest is cut
        truncate (right|left|error): what to do with a longer input: cut its end (right) or its beginning (left), or
            report the row as bad; default right
        function (auto|sigmoid|none): how a logit becomes a score; auto: sigmoid, unless the model's configuration
            sets another; none: the scores are the logits; default auto
        top_n: number of documents to return; default 0
        return_text: include the documents' texts"""
    @overload
    def rerank(
        self,
        queries: Any,
        documents: Iterable[Iterable[str]],
        *,
        errors: Literal["raise", "keep"] = "raise",
        max_tokens: int | None = None,
        max_second_tokens: int | None = None,
        truncate: Literal["right", "left", "error"] | None = None,
        function: Literal["auto", "sigmoid", "none"] | None = None,
        top_n: int | None = None,
        return_text: bool | None = None,
    ) -> Answers[Ranking]: ...
    @overload
    def fill(
        self,
        texts: str,
        *,
        errors: Literal["raise", "keep"] = "raise",
        max_tokens: int | None = None,
        truncate: Literal["right", "left", "error"] | None = None,
        top_k: int | None = None,
        targets: Iterable[str] | None = None,
    ) -> Filling:
        """max_tokens: maximum input length in tokens, special tokens included; unless it is given, the length in the
            model's folder (model_max_length, up to 32768) replaces the default; default 512
        truncate (right|left|error): what to do with a longer input: cut its end (right) or its beginning (left), or
            report the row as bad; default right
        top_k: number of tokens per mask; default 0
        targets: score only these words"""
    @overload
    def fill(
        self,
        texts: Any,
        *,
        errors: Literal["raise", "keep"] = "raise",
        max_tokens: int | None = None,
        truncate: Literal["right", "left", "error"] | None = None,
        top_k: int | None = None,
        targets: Iterable[str] | None = None,
    ) -> Answers[Filling]: ...
    @overload
    def score(
        self,
        texts: str,
        *,
        errors: Literal["raise", "keep"] = "raise",
        max_tokens: int | None = None,
        truncate: Literal["right", "left", "error"] | None = None,
        tokens: bool | None = None,
        offsets: Literal["chars", "bytes", "utf16"] | None = None,
    ) -> TextScore:
        """max_tokens: maximum input length in tokens, special tokens included; unless it is given, the length in the
            model's folder (model_max_length, up to 32768) replaces the default; default 512
        truncate (right|left|error): what to do with a longer input: cut its end (right) or its beginning (left), or
            report the row as bad; default right
        tokens: include the log-probability of each token
        offsets (chars|bytes|utf16): unit of offsets: Unicode code points, bytes, or UTF-16 units; default chars"""
    @overload
    def score(
        self,
        texts: Any,
        *,
        errors: Literal["raise", "keep"] = "raise",
        max_tokens: int | None = None,
        truncate: Literal["right", "left", "error"] | None = None,
        tokens: bool | None = None,
        offsets: Literal["chars", "bytes", "utf16"] | None = None,
    ) -> Answers[TextScore]: ...
    @overload
    def detect(
        self,
        texts: str,
        *,
        errors: Literal["raise", "keep"] = "raise",
        max_tokens: int | None = None,
        truncate: Literal["right", "left", "error"] | None = None,
        threshold: float | None = None,
        offsets: Literal["chars", "bytes", "utf16"] | None = None,
    ) -> Detection:
        """max_tokens: maximum input length in tokens, special tokens included; unless it is given, the length in the
            model's folder (model_max_length, up to 32768) replaces the default; default 512
        truncate (right|left|error): what to do with a longer input: cut its end (right) or its beginning (left), or
            report the row as bad; default right
        threshold: minimum probability at which a piece counts as replaced; default 0.5
        offsets (chars|bytes|utf16): unit of offsets: Unicode code points, bytes, or UTF-16 units; default chars"""
    @overload
    def detect(
        self,
        texts: Any,
        *,
        errors: Literal["raise", "keep"] = "raise",
        max_tokens: int | None = None,
        truncate: Literal["right", "left", "error"] | None = None,
        threshold: float | None = None,
        offsets: Literal["chars", "bytes", "utf16"] | None = None,
    ) -> Answers[Detection]: ...
    @overload
    def similarity(
        self,
        texts: str,
        pairs: str,
        *,
        errors: Literal["raise", "keep"] = "raise",
        max_tokens: int | None = None,
        truncate: Literal["right", "left", "error"] | None = None,
        pooling: Literal["auto", "cls", "mean", "max", "none"] | None = None,
        normalize: bool | None = None,
        layer: int | None = None,
    ) -> Similarity:
        """max_tokens: maximum input length in tokens, special tokens included; unless it is given, the length in the
            model's folder (model_max_length, up to 32768) replaces the default; default 512
        truncate (right|left|error): what to do with a longer input: cut its end (right) or its beginning (left), or
            report the row as bad; default right
        pooling (auto|cls|mean|max|none): how to pool token vectors; auto: by the model's modules.json of sentence-
            transformers (Dense and Normalize included), else the mean; none: one vector per token, [CLS] and [SEP]
            included; default auto
        normalize: scale each vector to length 1
        layer: layer whose hidden states are used: 0 is the embeddings, -1 the last layer; default -1"""
    @overload
    def similarity(
        self,
        texts: Any,
        pairs: Any,
        *,
        errors: Literal["raise", "keep"] = "raise",
        max_tokens: int | None = None,
        truncate: Literal["right", "left", "error"] | None = None,
        pooling: Literal["auto", "cls", "mean", "max", "none"] | None = None,
        normalize: bool | None = None,
        layer: int | None = None,
    ) -> Answers[Similarity]: ...
    @overload
    def embed(
        self,
        texts: str,
        *,
        prompt: str | None = None,
        max_tokens: int | None = None,
        truncate: Literal["right", "left", "error"] | None = None,
        pooling: Literal["auto", "cls", "mean", "max", "none"] | None = None,
        normalize: bool | None = None,
        layer: int | None = None,
        dimensions: int | None = None,
    ) -> NDArray[np.float32]:
        """max_tokens: maximum input length in tokens, special tokens included; unless it is given, the length in the
            model's folder (model_max_length, up to 32768) replaces the default; default 512
        truncate (right|left|error): what to do with a longer input: cut its end (right) or its beginning (left), or
            report the row as bad; default right
        pooling (auto|cls|mean|max|none): how to pool token vectors; auto: by the model's modules.json of sentence-
            transformers (Dense and Normalize included), else the mean; none: one vector per token, [CLS] and [SEP]
            included; default auto
        normalize: scale each vector to length 1
        layer: layer whose hidden states are used: 0 is the embeddings, -1 the last layer; default -1
        dimensions: number of leading values of each vector to keep; the vector is normalized after that"""
    @overload
    def embed(
        self,
        texts: Any,
        *,
        prompt: str | None = None,
        max_tokens: int | None = None,
        truncate: Literal["right", "left", "error"] | None = None,
        pooling: Literal["auto", "cls", "mean", "max", "none"] | None = None,
        normalize: bool | None = None,
        layer: int | None = None,
        dimensions: int | None = None,
    ) -> NDArray[np.float32] | list[NDArray[np.float32]]: ...

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
