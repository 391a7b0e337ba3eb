"""Each framework's own way to a server of two models: URL RERANKER EMBEDDER QUERY TEXTS -> the answers as JSON. Those
that name no model get the base URL of one; haystack's ranker, which drops the path of its URL, gets the default one."""

import json
import os
import sys

os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"  # else it asks the network at import
os.environ["HAYSTACK_TELEMETRY_ENABLED"] = "False"

import litellm
from haystack import Document
from haystack.utils import Secret
from haystack_integrations.components.embedders.huggingface_api import (
    HuggingFaceAPIDocumentEmbedder,
    HuggingFaceAPITextEmbedder,
)
from haystack_integrations.components.rankers.huggingface_api import HuggingFaceTEIRanker
from langchain_cohere import CohereRerank
from langchain_core.documents import Document as Page
from langchain_huggingface import HuggingFaceEndpointEmbeddings
from langchain_openai import OpenAIEmbeddings
from llama_index.core.schema import NodeWithScore, TextNode
from llama_index.embeddings.text_embeddings_inference import TextEmbeddingsInference
from llama_index.postprocessor.tei_rerank import TextEmbeddingInference

url, reranker, embedder, query, texts = *sys.argv[1:5], json.loads(sys.argv[5])
ranks, embeds = f"{url}/models/{reranker}", f"{url}/models/{embedder}"


def litellm_rerank(provider, base, **more):
    asked = {"api_base": base, "api_key": "none", "query": query, "documents": texts, "top_n": 2}
    ranked = litellm.rerank(model=f"{provider}/{reranker}", **(asked | more))
    return [[one["index"], one["relevance_score"]] for one in ranked.results]


def litellm_embedding(model, base, **more):
    answer = litellm.embedding(model=model, api_base=base, api_key="none", input=texts, **more)
    return [one["embedding"] for one in answer.data]


def by_llama_index():
    nodes = [NodeWithScore(node=TextNode(text=text)) for text in texts]
    ranker = TextEmbeddingInference(base_url=ranks, top_n=2, model_name=reranker)
    return [[texts.index(one.node.text), one.score] for one in ranker.postprocess_nodes(nodes, query_str=query)]


def by_haystack():
    ranker = HuggingFaceTEIRanker(url=url, top_k=2, token=None)
    ranked = ranker.run(query=query, documents=[Document(content=text) for text in texts])["documents"]
    return [[texts.index(one.content), one.score] for one in ranked]


def by_langchain():
    ranker = CohereRerank(base_url=url, cohere_api_key="none", model=reranker, top_n=2)
    pages = [Page(page_content=text) for text in texts]
    return [[one["index"], one["relevance_score"]] for one in ranker.rerank(pages, query)]


def haystack_embeddings():
    api = {"api_type": "text_embeddings_inference", "api_params": {"url": f"{embeds}/embed"}}
    of_documents = HuggingFaceAPIDocumentEmbedder(**api, token=Secret.from_token("none"), progress_bar=False)
    documents = of_documents.run([Document(content=text) for text in texts])["documents"]
    of_text = HuggingFaceAPITextEmbedder(**api, token=Secret.from_token("none"))
    assert list(of_text.run(texts[0])["embedding"]) == list(documents[0].embedding)
    return [list(one.embedding) for one in documents]


answers = {
    "ranked": {
        "litellm huggingface": litellm_rerank("huggingface", ranks)[:2],
        "litellm cohere": litellm_rerank("cohere", url),
        "litellm jina_ai": litellm_rerank("jina_ai", f"{url}/v1/rerank"),
        "litellm hosted_vllm": litellm_rerank("hosted_vllm", url),
        "litellm infinity": litellm_rerank("infinity", url, return_documents=False),
        "llama-index": by_llama_index(),
        "haystack": by_haystack(),
        "langchain": by_langchain(),
    },
    "vectors": {
        "litellm huggingface": litellm_embedding(
            f"huggingface/{embedder}", f"{embeds}/embed", input_type="feature-extraction"
        ),
        "litellm openai": litellm_embedding(f"openai/{embedder}", f"{url}/v1"),
        "litellm hosted_vllm": litellm_embedding(f"hosted_vllm/{embedder}", f"{url}/v1"),
        "litellm infinity": litellm_embedding(f"infinity/{embedder}", url),
        "llama-index": TextEmbeddingsInference(base_url=embeds, model_name=embedder).get_text_embedding_batch(texts),
        "haystack": haystack_embeddings(),
        "langchain huggingface": HuggingFaceEndpointEmbeddings(
            model=f"{embeds}/embed", huggingfacehub_api_token="none"
        ).embed_documents(texts),
        "langchain openai": OpenAIEmbeddings(
            base_url=f"{url}/v1", api_key="none", model=embedder, check_embedding_ctx_length=False
        ).embed_documents(texts),
    },
}
print(json.dumps(answers))
