"""litellm's and llama-index's ways to a reranker, and litellm's to vectors: URL MODEL_HEADER QUERY TEXTS -> the answers
as JSON."""

import json
import os
import sys

os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"  # else it asks the network at import

import litellm
from llama_index.core.schema import NodeWithScore, TextNode
from llama_index.postprocessor.tei_rerank import TextEmbeddingInference

url, query, texts = sys.argv[1], sys.argv[2], json.loads(sys.argv[3])
ranked = litellm.rerank(model="huggingface/score", api_base=url, api_key="none", query=query, documents=texts, top_n=2)
vectors = litellm.embedding(
    model="huggingface/score", api_base=f"{url}/embed", api_key="none", input_type="feature-extraction", input=texts
)
nodes = TextEmbeddingInference(base_url=url, top_n=2, model_name="score").postprocess_nodes(
    [NodeWithScore(node=TextNode(text=text)) for text in texts], query_str=query
)
print(
    json.dumps(
        {
            "litellm": [[one["index"], one["relevance_score"], one["document"]["text"]] for one in ranked.results],
            "vectors": [one["embedding"] for one in vectors.data],
            "llama-index": [[one.node.text, one.score] for one in nodes],
        }
    )
)
