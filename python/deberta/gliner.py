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

# Arguments of from_pretrained() there that change no answer here.
_IDLE = (
    "load_onnx_model",
    "onnx_model_file",
    "load_tokenizer",
    "local_files_only",
    "cache_dir",
    "resize_token_embeddings",
)


class GLiNER:
    """Entities by any labels. Texts of any length are read in windows, where gliner cuts them at max_len words."""

    def __init__(self, pipeline: Pipeline) -> None:
        self.pipeline = pipeline
        self.data_processor = SimpleNamespace(transformer_tokenizer=pipeline.tokenizer)

    @classmethod
    def from_pretrained(cls, model: str | os.PathLike[str], *, map_location: object = None, **options: Any) -> GLiNER:
        """Opens a folder, or ORG/NAME in the hub cache; nothing is downloaded. `options`: those of deberta.open."""
        if map_location is not None and str(map_location) != "cpu":
            raise make_error("usage", f"map_location: expected None or cpu, got {map_location!r}", "map_location")
        return cls(Pipeline(model, **{name: value for name, value in options.items() if name not in _IDLE}))

    def predict_entities(
        self,
        text: str,
        labels: Sequence[str] | dict[str, str],
        flat_ner: bool = True,
        threshold: float = 0.5,
        multi_label: bool = False,
    ) -> list[dict[str, Any]]:
        """[{start, end, text, label, score}] in the order of the text; offsets are those of Python's strings."""
        return self.batch_predict_entities([text], labels, flat_ner, threshold, multi_label)[0]

    def batch_predict_entities(
        self,
        texts: Sequence[str],
        labels: Sequence[str] | dict[str, str],
        flat_ner: bool = True,
        threshold: float = 0.5,
        multi_label: bool = False,
    ) -> list[list[dict[str, Any]]]:
        """The same of several texts."""
        found = self.pipeline.extract(
            list(texts), labels, nested=not flat_ner, threshold=threshold, multi_label=multi_label
        )
        return [
            [
                {"start": one.start, "end": one.end, "text": one.word, "label": one.label, "score": one.score}
                for one in entities
            ]
            for entities in found
        ]

    run = batch_predict_entities
    inference = batch_predict_entities

    def eval(self) -> GLiNER:
        return self

    def to(self, device: object) -> GLiNER:
        if str(device) != "cpu":
            raise make_error("usage", f"device: expected cpu, got {device!r}", "device")
        return self
