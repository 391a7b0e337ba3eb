"""LangChain: a cross-encoder for its reranker (CrossEncoderReranker), and vectors for its stores."""

from __future__ import annotations

from langchain_core.cross_encoders import BaseCrossEncoder
from langchain_core.embeddings import Embeddings

from deberta._errors import make_error
from deberta.sentence_transformers import CrossEncoder, SentenceTransformer

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class DebertaCrossEncoder(BaseCrossEncoder):
    """`model`, which has one class, and `options` as for CrossEncoder."""

    def __init__(self, model: Any, **options: Any) -> None:
        self.encoder = CrossEncoder(model, **options)
        classes = self.encoder.num_labels
        if classes != 1:
            raise make_error(
                "usage", f"model: expected a model with one class, as scores need it, got {classes}", "model"
            )

    def score(self, text_pairs: list[tuple[str, str]]) -> list[float]:
        scores: list[float] = self.encoder.predict(text_pairs).tolist()
        return scores


class DebertaEmbeddings(Embeddings):
    """`model` and `options` as for SentenceTransformer."""

    def __init__(self, model: Any, **options: Any) -> None:
        self.encoder = SentenceTransformer(model, **options)

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        vectors: list[list[float]] = self.encoder.encode_document(texts).tolist()
        return vectors

    def embed_query(self, text: str) -> list[float]:
        vector: list[float] = self.encoder.encode_query(text).tolist()
        return vector
