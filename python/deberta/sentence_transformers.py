"""`CrossEncoder` and `SentenceTransformer` with the signatures of sentence-transformers 6.2, answers in NumPy.

What has no meaning here (batch_size, show_progress_bar, pool, chunk_size) is accepted and changes nothing; what would
change an answer and cannot (another device, a precision of vectors, tensors without torch) is refused."""

from __future__ import annotations

import os
import sys

from deberta._errors import make_error
from deberta._inputs import check_batch_size, list_of
from deberta._pipeline import Pipeline, pipeline_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    import numpy as np
    from numpy.typing import NDArray

# Activations by the names of torch's classes, as the engine computes them; config.json names them too.
_FUNCTIONS = {"Sigmoid": "sigmoid", "Identity": "none", "Softmax": "softmax"}
_OF_TORCH = ("torch.nn.modules.activation", "torch.nn.modules.linear")


def _function_of(activation_fn: Any) -> str:
    """What the engine computes in place of a module of torch; empty: it is to be called."""
    kind = type(activation_fn)
    is_over_classes = kind.__name__ != "Softmax" or getattr(activation_fn, "dim", None) in (None, 1, -1)
    return _FUNCTIONS.get(kind.__name__, "") if kind.__module__ in _OF_TORCH and is_over_classes else ""


def _called(activation_fn: Callable[..., Any], scores: Any) -> Any:
    """The function's own answer as an array. Where torch is imported it gets a tensor, as there."""
    import numpy

    made = activation_fn(_to_tensor(scores) if "torch" in sys.modules else scores)
    return made.detach().numpy() if hasattr(made, "detach") else numpy.asarray(made)


# What the classes there are made with and what has no meaning here; the first three change no answer.
_THEIRS = (
    "token",
    "use_auth_token",
    "model_card_data",
    "modules",
    "cache_folder",
    "revision",
    "model_kwargs",
    "processor_kwargs",
    "config_kwargs",
    "keep_in_fp32_modules",
    "backend",
)


def _without_theirs(options: dict[str, Any]) -> dict[str, Any]:
    for name in _THEIRS[3:]:
        value = options.get(name)
        if value is not None and (name, value) != ("backend", "torch"):
            _refuse(name, "no such option; give those of deberta.open", value)
    return {name: value for name, value in options.items() if name not in _THEIRS}


def _refuse(argument: str, expected: str, got: object) -> None:
    raise make_error("usage", f"{argument}: expected {expected}, got {got!r}", argument)


def _check_device(device: object) -> None:
    if device is not None and str(device) != "cpu":
        _refuse("device", "None or cpu", device)


def _to_tensor(values: Any) -> Any:
    try:
        import torch
    except ImportError:
        raise make_error(
            "usage", "convert_to_tensor: expected torch to be installed for tensors, got none", "convert_to_tensor"
        ) from None
    return torch.as_tensor(values)


def _stated(folder: str) -> dict[str, Any]:
    """What the folder says of prompts and of the similarity."""
    import json

    path = os.path.join(folder, "config_sentence_transformers.json")
    if not os.path.exists(path):
        return {}
    try:
        with open(path, encoding="utf-8") as file:
            stated = json.load(file)
    except ValueError as error:  # no JSON, no UTF-8
        raise make_error("json", f"{path}: {error}") from None
    return _check_dict(path, stated)


def _check_dict(place: str, value: Any) -> dict[str, Any]:
    if not isinstance(value, dict) or not all(isinstance(key, str) for key in value):
        raise make_error("input", f"{place}: expected names and their values, got {value!r}", place)
    return value


class _Model:
    """What both classes have of a model."""

    def __init__(
        self,
        model_name_or_path: str | os.PathLike[str] | Pipeline,
        device: str | None,
        prompts: dict[str, str] | None,
        default_prompt_name: str | None,
        max_length: int | None,
        options: dict[str, Any],
    ) -> None:
        _check_device(device)
        self.pipeline = pipeline_of(model_name_or_path, _without_theirs(options))
        stated = _stated(self.pipeline.path)
        self.prompts = dict(_check_dict("prompts", prompts if prompts is not None else stated.get("prompts") or {}))
        self.default_prompt_name = default_prompt_name or stated.get("default_prompt_name")
        self.max_length = max_length
        self._prompt(None, self.default_prompt_name)

    def _prompt(self, prompt: str | None, name: str | None) -> str:
        if prompt is None:
            name = name if name is not None else self.default_prompt_name
            if name is not None and (not isinstance(name, str) or name not in self.prompts):
                _refuse("prompt_name", f"one of {list(self.prompts)}", name)
            prompt = self.prompts[name] if name is not None else ""
        if not isinstance(prompt, str):
            _refuse("prompt", "a text", prompt)
        return prompt

    @property
    def device(self) -> str:
        return "cpu"

    @property
    def tokenizer(self) -> Any:
        return self.pipeline.tokenizer

    @property
    def _length(self) -> dict[str, Any]:
        return {} if self.max_length is None else {"max_tokens": self.max_length}


class CrossEncoder(_Model):
    """Scores of pairs of texts, by a model of sequences with any number of classes.

    `options`: those of deberta.open, such as dtype and threads."""

    def __init__(
        self,
        model_name_or_path: str | os.PathLike[str] | Pipeline,
        *,
        device: str | None = None,
        prompts: dict[str, str] | None = None,
        default_prompt_name: str | None = None,
        num_labels: int | None = None,
        max_length: int | None = None,
        activation_fn: Callable[..., Any] | None = None,
        local_files_only: bool = True,
        trust_remote_code: bool = False,
        **options: Any,
    ) -> None:
        super().__init__(model_name_or_path, device, prompts, default_prompt_name, max_length, options)
        self.activation_fn = activation_fn
        self._info = self.pipeline.model.info
        if num_labels not in (None, self.num_labels):
            _refuse("num_labels", f"None or {self.num_labels}, as the model has it", num_labels)

    @property
    def num_labels(self) -> int:
        classes: int = self._info["classes"]
        return classes

    def _default_function(self) -> str:
        """As config.json says it, else sigmoid for one class and none for several."""
        name = self._info["activation"].rpartition(".")[2]
        if name == "Tanh" or (name and name not in _FUNCTIONS):
            return str(name)
        return _FUNCTIONS.get(name) or ("sigmoid" if self.num_labels == 1 else "none")

    def _activated(self, pairs: list[Any], prompt: str, activation_fn: Any) -> NDArray[np.float32]:
        if activation_fn is not None and not callable(activation_fn):
            _refuse("activation_fn", "a function, or a module of torch", activation_fn)
        function = self._default_function() if activation_fn is None else _function_of(activation_fn)
        firsts = [prompt + pair[0] if isinstance(pair[0], str) else pair[0] for pair in pairs]
        seconds = [pair[1] for pair in pairs]
        is_own = function in ("sigmoid", "softmax", "none")
        scores: NDArray[np.float32] = self.pipeline._scores(
            firsts, seconds, function=function if is_own else "none", **self._length
        )
        if is_own:
            return scores
        if function == "Tanh":
            import numpy

            activated: NDArray[np.float32] = numpy.tanh(scores)
            return activated
        if activation_fn is None:
            _refuse("activation_fn", "the model's own activation, which is not known here", function)
        array: NDArray[np.float32] = _called(activation_fn, scores)
        return array

    def predict(
        self,
        inputs: Sequence[Any],
        prompt_name: str | None = None,
        prompt: str | None = None,
        batch_size: int = 32,
        show_progress_bar: bool | None = None,
        activation_fn: Callable[..., Any] | None = None,
        apply_softmax: bool | None = False,
        convert_to_numpy: bool = True,
        convert_to_tensor: bool = False,
        device: str | None = None,
        pool: object = None,
        chunk_size: int | None = None,
    ) -> Any:
        """Scores [N] of pairs with a model of one class, else [N, C]; of a single pair without the first axis."""
        _check_device(device)
        check_batch_size(batch_size)
        pairs = list_of("inputs", inputs, "pairs of texts")
        is_one = bool(pairs) and isinstance(pairs[0], str)
        if is_one:
            pairs = [pairs]
        for i, pair in enumerate(pairs):
            if not isinstance(pair, (list, tuple)) or len(pair) != 2:
                raise make_error("input", f"inputs[{i}]: expected a pair of texts, got {pair!r}", "inputs")
        scores = self._activated(pairs, self._prompt(prompt, prompt_name), activation_fn or self.activation_fn)
        if self.num_labels == 1:
            scores = scores[:, 0]
        elif apply_softmax:
            import numpy

            exps = numpy.exp(scores - scores.max(axis=1, keepdims=True))
            scores = exps / exps.sum(axis=1, keepdims=True)
        result: Any = scores if convert_to_numpy and not convert_to_tensor else _to_tensor(scores)
        if not convert_to_numpy and not convert_to_tensor:
            result = list(result)
        return result[0] if is_one else result

    def rank(
        self,
        query: str,
        documents: Sequence[str],
        top_k: int | None = None,
        return_documents: bool = False,
        prompt_name: str | None = None,
        prompt: str | None = None,
        batch_size: int = 32,
        show_progress_bar: bool | None = None,
        activation_fn: Callable[..., Any] | None = None,
        device: str | None = None,
        pool: object = None,
        chunk_size: int | None = None,
    ) -> list[dict[str, Any]]:
        """[{corpus_id, score, text?}], best first."""
        if self.num_labels != 1:
            _refuse("model", "a model with one class, as rank() needs it", self.num_labels)
        if not isinstance(query, str):
            _refuse("query", "a text", query)
        if top_k is not None and (not isinstance(top_k, int) or isinstance(top_k, bool) or top_k < 0):
            _refuse("top_k", "None or an integer from 0", top_k)
        check_batch_size(batch_size)
        texts = list_of("documents", documents)
        pairs = [(query, text) for text in texts]
        scores = self.predict(pairs, prompt_name, prompt, activation_fn=activation_fn, device=device).tolist()
        order = sorted(range(len(texts)), key=lambda i: scores[i], reverse=True)[:top_k]
        text_of = {i: {"text": texts[i]} if return_documents else {} for i in order}
        return [{"corpus_id": i, "score": scores[i], **text_of[i]} for i in order]


# How two vectors are alike, of arrays [..., D], as far as products are not the faster way.
_DISTANCES: dict[str, Callable[[Any], Any]] = {
    "euclidean": lambda differences: -((differences * differences).sum(axis=-1) ** 0.5),
    "manhattan": lambda differences: -abs(differences).sum(axis=-1),
}
_SIMILARITIES = ("cosine", "dot", *_DISTANCES)


def _rows(vectors: Any, is_unit: bool) -> Any:
    """[N, D], each of length 1 if so asked."""
    import numpy

    try:
        rows = numpy.atleast_2d(numpy.asarray(vectors))
    except ValueError:  # of several lengths
        rows = numpy.empty(())
    if rows.ndim != 2 or rows.dtype.kind not in "fiu":
        raise make_error("input", f"similarity: expected vectors of one length, got {type(vectors).__name__}")
    if rows.dtype.kind != "f":  # integers wrap
        rows = rows.astype(numpy.float64 if rows.dtype.itemsize > 2 else numpy.float32)
    return rows / numpy.maximum(numpy.linalg.norm(rows, axis=1, keepdims=True), 1e-12) if is_unit else rows


class _NoCard:
    """Where evaluators leave their figures for a model card: nowhere."""

    def set_evaluation_metrics(self, *figures: object) -> None:
        pass


class SentenceTransformer(_Model):
    """Vectors of texts, as the folder's modules say. `options`: those of deberta.open."""

    model_card_data = _NoCard()

    def __init__(
        self,
        model_name_or_path: str | os.PathLike[str] | Pipeline,
        *,
        device: str | None = None,
        prompts: dict[str, str] | None = None,
        default_prompt_name: str | None = None,
        similarity_fn_name: str | None = None,
        truncate_dim: int | None = None,
        max_seq_length: int | None = None,
        local_files_only: bool = True,
        trust_remote_code: bool = False,
        **options: Any,
    ) -> None:
        super().__init__(model_name_or_path, device, prompts, default_prompt_name, max_seq_length, options)
        self.truncate_dim = truncate_dim
        stated = _stated(self.pipeline.path).get("similarity_fn_name")
        self.similarity_fn_name = similarity_fn_name or (stated if stated in _SIMILARITIES else "cosine")

    @property
    def similarity_fn_name(self) -> str:
        """cosine, dot, euclidean or manhattan: what similarity() computes; by default as the folder says it."""
        return self._similarity_fn_name

    @similarity_fn_name.setter
    def similarity_fn_name(self, name: Any) -> None:
        word = getattr(name, "value", name)
        if word not in _SIMILARITIES:
            _refuse("similarity_fn_name", f"one of {', '.join(_SIMILARITIES)}", word)
        self._similarity_fn_name = str(word)

    @property
    def max_seq_length(self) -> int | None:
        """Most tokens of a text; None: as the folder says it."""
        return self.max_length

    @max_seq_length.setter
    def max_seq_length(self, length: int | None) -> None:
        self.max_length = length

    def get_sentence_embedding_dimension(self) -> int:
        size: int = self.encode("a").shape[0]
        return size

    get_embedding_dimension = get_sentence_embedding_dimension

    def encode(
        self,
        inputs: str | Sequence[str],
        prompt_name: str | None = None,
        prompt: str | None = None,
        batch_size: int = 32,
        show_progress_bar: bool | None = None,
        output_value: str | None = "sentence_embedding",
        precision: str | None = "float32",
        convert_to_numpy: bool = True,
        convert_to_tensor: bool = False,
        device: str | None = None,
        normalize_embeddings: bool = False,
        truncate_dim: int | None = None,
        pool: object = None,
        chunk_size: int | None = None,
    ) -> Any:
        """Vectors [N, D], or [D] of a single text; with output_value="token_embeddings" a list of [L, D]."""
        _check_device(device)
        check_batch_size(batch_size)
        if precision not in (None, "float32"):
            _refuse("precision", "float32", precision)
        if output_value not in ("sentence_embedding", "token_embeddings"):
            _refuse("output_value", "sentence_embedding or token_embeddings", output_value)
        is_one = isinstance(inputs, str)
        texts = [inputs] if is_one else list_of("inputs", inputs)
        before = self._prompt(prompt, prompt_name)
        size = truncate_dim if truncate_dim is not None else self.truncate_dim
        if output_value == "token_embeddings":
            given: dict[str, Any] = {"pooling": "none"}
        else:
            given = {"normalize": normalize_embeddings, "dimensions": size}
        vectors: Any = self.pipeline._vectors(texts, prompt=before, **given, **self._length)
        if convert_to_tensor and output_value == "sentence_embedding":
            vectors = _to_tensor(vectors)
        elif convert_to_tensor or not convert_to_numpy:
            vectors = [_to_tensor(one) for one in vectors]
        return vectors[0] if is_one else vectors

    def encode_query(
        self, inputs: str | Sequence[str], prompt_name: str | None = None, prompt: str | None = None, **options: Any
    ) -> Any:
        """encode() with the prompt of queries, if there is one and none is given."""
        return self.encode(inputs, prompt_name or self._first_prompt("query"), prompt, **options)

    def encode_document(
        self, inputs: str | Sequence[str], prompt_name: str | None = None, prompt: str | None = None, **options: Any
    ) -> Any:
        """encode() with the prompt of documents, if there is one and none is given."""
        return self.encode(
            inputs, prompt_name or self._first_prompt("document", "passage", "corpus"), prompt, **options
        )

    def _first_prompt(self, *names: str) -> str | None:
        return next((name for name in names if name in self.prompts), None)

    def _both(self, first: Any, second: Any, is_pairwise: bool) -> Any:
        """Rows of one length; pairwise also as many."""
        a, b = (_rows(vectors, self.similarity_fn_name == "cosine") for vectors in (first, second))
        if a.shape[1] != b.shape[1] or (is_pairwise and len(a) != len(b)):
            raise make_error("input", f"similarity: expected vectors that fit, got arrays {a.shape} and {b.shape}")
        return a, b

    def similarity(self, embeddings1: Any, embeddings2: Any) -> Any:
        """How alike the rows of two arrays are, by similarity_fn_name: [N, M]; of tensors a tensor."""
        import numpy

        a, b = self._both(embeddings1, embeddings2, False)
        distance = _DISTANCES.get(self.similarity_fn_name)
        made = a @ b.T if distance is None else numpy.stack([distance(row - b) for row in a])
        return _to_tensor(made) if type(embeddings1).__module__.startswith("torch") else made

    def similarity_pairwise(self, embeddings1: Any, embeddings2: Any) -> Any:
        """The same of each row and its counterpart: [N]."""
        a, b = self._both(embeddings1, embeddings2, True)
        distance = _DISTANCES.get(self.similarity_fn_name)
        made = (a * b).sum(axis=1) if distance is None else distance(a - b)
        return _to_tensor(made) if type(embeddings1).__module__.startswith("torch") else made
