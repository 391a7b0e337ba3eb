"""haystack: a ranker and an extractor as components."""

from __future__ import annotations

from haystack import Document, component, default_to_dict

from deberta.sentence_transformers import CrossEncoder

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


@component
class DebertaRanker:
    """Orders documents by a cross-encoder; `options` as for CrossEncoder."""

    def __init__(self, model: str, top_k: int = 10, options: dict[str, Any] | None = None) -> None:
        self.model, self.top_k, self.options = model, top_k, options or {}
        self._encoder: CrossEncoder | None = None

    def to_dict(self) -> dict[str, Any]:
        state: dict[str, Any] = default_to_dict(self, model=self.model, top_k=self.top_k, options=self.options)
        return state

    def warm_up(self) -> None:
        if self._encoder is None:
            self._encoder = CrossEncoder(self.model, **self.options)

    @component.output_types(documents=list[Document])
    def run(self, query: str, documents: list[Document], top_k: int | None = None) -> dict[str, list[Document]]:
        self.warm_up()
        assert self._encoder is not None
        texts = [document.content or "" for document in documents]
        ranked = self._encoder.rank(query, texts, top_k=top_k or self.top_k)
        import dataclasses

        return {"documents": [dataclasses.replace(documents[one["corpus_id"]], score=one["score"]) for one in ranked]}
