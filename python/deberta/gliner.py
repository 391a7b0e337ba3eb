"""`GLiNER` as the package gliner has it: entities by labels of your own."""

from __future__ import annotations

import os
from types import SimpleNamespace

from deberta._errors import make_error
from deberta._inputs import dtype_of, list_of
from deberta._pipeline import Pipeline, pipeline_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any, TypeAlias

    _Labels: TypeAlias = "str | Sequence[str] | dict[str, str]"

_MOST_TOKENS = 1 << 20
# Arguments of from_pretrained() there that change no answer here.
_IDLE = (
    "load_onnx_model",
    "onnx_model_file",
    "load_tokenizer",
    "local_files_only",
    "cache_dir",
    "resize_token_embeddings",
    "token",
    "proxies",
    "strict",
    "compile_torch_model",
    "low_cpu_mem_usage",
    "session_options",
)
# Those that do, unless they are None or False.
_REFUSED = (
    "revision",
    "force_download",
    "resume_download",
    "quantize",
    "variant",
    "max_length",
    "max_width",
    "runtime",
)


def _refuse_given(given: dict[str, Any]) -> None:
    for name, value in given.items():
        if value is not None and value is not False:
            raise make_error(
                "usage", f"{name}: expected no such option, which has no meaning here, got {value!r}", name
            )


def _has_sets(labels: Sequence[object]) -> bool:
    return any(isinstance(one, (list, tuple, dict)) for one in labels)


def _of_each_text(name: str, value: Any, texts: int, is_by_text: bool) -> list[Any]:
    if not is_by_text:
        return [[value] if name == "labels" and isinstance(value, str) else value] * texts
    if len(value) != texts:
        raise make_error("input", f"{name}: expected one of each of the {texts} texts, got {len(value)}", name)
    return list(value)


class _Offsets:
    """The tokenizer as a chunker of presidio calls it: where the pieces of a text are, however long it is."""

    is_fast = True

    def __init__(self, pipeline: Pipeline) -> None:
        self._pipeline = pipeline  # not its tokenizer, which would keep the model when it is closed

    def __call__(self, text: str, **options: Any) -> dict[str, list[tuple[int, int]]]:
        encoding = self._pipeline.tokenizer.encode(text, add_special_tokens=False, max_tokens=_MOST_TOKENS)
        return {"offset_mapping": [(begin, end) for begin, end in encoding.offsets]}


class GLiNER:
    """Entities by any labels. Texts of any length are read in windows, where gliner cuts them at max_len words."""

    def __init__(self, pipeline: Pipeline) -> None:
        self.pipeline = pipeline
        self.data_processor = SimpleNamespace(transformer_tokenizer=_Offsets(pipeline))

    @classmethod
    def from_pretrained(
        cls, model_id: str | os.PathLike[str], *, map_location: object = None, **options: Any
    ) -> GLiNER:
        """Opens a folder, or ORG/NAME in the hub cache; nothing is downloaded. `options`: those of deberta.open."""
        if map_location is not None and str(map_location) != "cpu":
            raise make_error("usage", f"map_location: expected None or cpu, got {map_location!r}", "map_location")
        _refuse_given({name: options.pop(name) for name in _REFUSED if name in options})
        if (dtype := options.pop("dtype", None)) is not None:
            options["dtype"] = dtype_of(dtype)
        return cls(pipeline_of(model_id, {name: value for name, value in options.items() if name not in _IDLE}))

    def predict_entities(
        self,
        text: str,
        labels: _Labels,
        flat_ner: bool = True,
        threshold: float = 0.5,
        multi_label: bool = False,
        **more: Any,
    ) -> list[dict[str, Any]]:
        """[{start, end, text, label, score}] in the order of the text; offsets are those of Python's strings."""
        return self.inference([text], labels, flat_ner, threshold, multi_label, **more)[0]

    def inference(
        self,
        texts: str | Sequence[str],
        labels: _Labels | Sequence[_Labels],
        flat_ner: bool = True,
        threshold: float | Sequence[float] = 0.5,
        multi_label: bool = False,
        batch_size: int = 8,
        packing_config: object = None,
        **more: Any,
    ) -> list[list[dict[str, Any]]]:
        """The same of several texts; of one text a list of one. `labels`: one, a list, {label: description}, or a list
        with a list or dict for each text; `threshold` may be a list with that of each. batch_size and packing_config
        are accepted and change nothing; vectors, probabilities of classes and spans to classify are refused."""
        _refuse_given(more)
        rows = [texts] if isinstance(texts, str) else list_of("texts", texts)
        if not isinstance(labels, (str, dict)):
            labels = [one.tolist() if hasattr(one, "tolist") else one for one in list_of("labels", labels, "labels")]
        label_sets = _of_each_text("labels", labels, len(rows), isinstance(labels, (list, tuple)) and _has_sets(labels))
        thresholds = _of_each_text("threshold", threshold, len(rows), isinstance(threshold, (list, tuple)))
        alike: dict[str, list[int]] = {}  # texts with the same labels and threshold
        for place, asked in enumerate(zip(label_sets, thresholds)):
            if asked[0] or not isinstance(asked[0], (list, tuple, dict)):
                alike.setdefault(repr(asked), []).append(place)
        found: list[list[dict[str, Any]]] = [[] for _ in rows]
        for places in alike.values():
            answers = self.pipeline.extract(
                [rows[place] for place in places],
                label_sets[places[0]],
                nested=not flat_ner,
                threshold=thresholds[places[0]],
                multi_label=multi_label,
            )
            for place, entities in zip(places, answers):
                found[place] = [
                    {"start": one.start, "end": one.end, "text": one.word, "label": one.label, "score": one.score}
                    for one in entities
                ]
        return found

    run = inference
    batch_predict_entities = inference

    def eval(self) -> GLiNER:
        return self

    def to(self, device: object) -> GLiNER:
        if str(device) != "cpu":
            raise make_error("usage", f"device: expected cpu, got {device!r}", "device")
        return self
