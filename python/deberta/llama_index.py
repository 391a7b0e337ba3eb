"""LlamaIndex: a postprocessor that reranks nodes. SentenceTransformerRerank there builds a cross-encoder of its own."""

from __future__ import annotations

from llama_index.core.bridge.pydantic import Field, PrivateAttr
from llama_index.core.postprocessor.types import BaseNodePostprocessor
from llama_index.core.schema import MetadataMode, NodeWithScore, QueryBundle

from deberta._errors import make_error
from deberta.sentence_transformers import CrossEncoder

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class DebertaRerank(BaseNodePostprocessor):
    """The `top_n` nodes that fit the query best, with the scores of a cross-encoder."""

    model: str = Field(description="a folder, or ORG/NAME in the hub cache")
    top_n: int = Field(default=2, description="number of nodes to return")
    _encoder: Any = PrivateAttr()

    def __init__(self, model: str, top_n: int = 2, **options: Any) -> None:
        super().__init__(model=model, top_n=top_n)
        self._encoder = CrossEncoder(model, **options)

    @classmethod
    def class_name(cls) -> str:
        return "DebertaRerank"

    def _postprocess_nodes(
        self, nodes: list[NodeWithScore], query_bundle: QueryBundle | None = None
    ) -> list[NodeWithScore]:
        if query_bundle is None:
            raise make_error("input", "query_bundle: expected a query, got none", "query_bundle")
        texts = [node.node.get_content(metadata_mode=MetadataMode.EMBED) for node in nodes]
        ranked = self._encoder.rank(query_bundle.query_str, texts, top_k=self.top_n)
        return [NodeWithScore(node=nodes[one["corpus_id"]].node, score=one["score"]) for one in ranked]
