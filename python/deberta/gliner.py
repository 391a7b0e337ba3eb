"""`GLiNER` as the package gliner has it: entities by labels of your own."""

from __future__ import annotations

import os
from types import SimpleNamespace

from deberta._errors import make_error
from deberta._pipeline import Pipeline

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

_MOST_TOKENS = 1 << 20
# Arguments of from_pretrained() there that change no answer here.
_IDLE = (
    "load_onnx_model",
    "onnx_model_file",
    "load_tokenizer",
    "local_files_only",
    "cache_dir",
    "resize_token_embeddings",
)


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
    def from_pretrained(cls, model: str | os.PathLike[str], *, map_location: object = None, **options: Any) -> GLiNER:
        """Opens a folder, or ORG/NAME in the hub cache; nothing is downloaded. `options`: those of deberta.open."""
        if map_location is not None and str(map_location) != "cpu":
            raise make_error("usage", f"map_location: expected None or cpu, got {map_location!r}", "map_location")
        return cls(Pipeline(model, **{name: value for name, value in options.items() if name not in _IDLE}))

    def predict_entities(
        self,
        text: str,
        labels: str | Sequence[str] | dict[str, str],
        flat_ner: bool = True,
        threshold: float = 0.5,
        multi_label: bool = False,
    ) -> list[dict[str, Any]]:
        """[{start, end, text, label, score}] in the order of the text; offsets are those of Python's strings."""
        return self.inference([text], labels, flat_ner, threshold, multi_label)[0]

    def inference(
        self,
        texts: str | Sequence[str],
        labels: str | Sequence[str] | dict[str, str],
        flat_ner: bool = True,
        threshold: float = 0.5,
        multi_label: bool = False,
        batch_size: int = 8,
    ) -> list[list[dict[str, Any]]]:
        """The same of several texts; of one text a list of one. batch_size is accepted and changes nothing."""
        found = self.pipeline.extract(
            [texts] if isinstance(texts, str) else list(texts),
            [labels] if isinstance(labels, str) else labels,
            nested=not flat_ner,
            threshold=threshold,
            multi_label=multi_label,
        )
        return [
            [
                {"start": one.start, "end": one.end, "text": one.word, "label": one.label, "score": one.score}
                for one in entities
            ]
            for entities in found
        ]

    run = inference
    batch_predict_entities = inference

    def eval(self) -> GLiNER:
        return self

    def to(self, device: object) -> GLiNER:
        if str(device) != "cpu":
            raise make_error("usage", f"device: expected cpu, got {device!r}", "device")
        return self
