"""presidio's recognizer of GLiNER models, on this engine: its own opens the package gliner."""

from __future__ import annotations

from presidio_analyzer.chunkers import TokenizerBasedTextChunker
from presidio_analyzer.predefined_recognizers import GLiNERRecognizer as _GLiNERRecognizer

from deberta.gliner import GLiNER


class GLiNERRecognizer(_GLiNERRecognizer):
    """Takes what presidio's takes; `model_name` is a folder, or ORG/NAME in the hub cache."""

    def load(self) -> None:
        self.gliner = GLiNER.from_pretrained(self.model_name, **self.model_kwargs)
        chunker = self.text_chunker
        if isinstance(chunker, TokenizerBasedTextChunker) and chunker.is_deferred:
            chunker.resolve(self.gliner.data_processor.transformer_tokenizer)
