"""The component of gliner-spacy, on this engine: nlp.add_pipe("deberta_gliner_spacy", config=...) with its settings.

gliner-spacy itself imports the package gliner; where that is not wanted, take "deberta_extract" of deberta.spacy."""

from __future__ import annotations

from gliner_spacy.pipeline import DEFAULT_SPACY_CONFIG, GlinerSpacy
from spacy.language import Language

from deberta.gliner import GLiNER

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


@Language.factory("deberta_gliner_spacy", assigns=["doc.ents"], default_config=DEFAULT_SPACY_CONFIG)
class DebertaGlinerSpacy(GlinerSpacy):
    # Every setting by its name: spaCy checks a component's configuration against these.
    def __init__(
        self,
        nlp: Any,
        name: str,
        gliner_model: str,
        chunk_size: int,
        labels: list[str],
        style: str,
        threshold: float,
        map_location: str,
        load_onnx_model: bool,
        onnx_model_file: str,
    ) -> None:
        self.nlp = nlp
        self.model = GLiNER.from_pretrained(gliner_model, map_location=map_location)
        self.labels, self.chunk_size = labels, chunk_size
        self.style, self.threshold = style, threshold
