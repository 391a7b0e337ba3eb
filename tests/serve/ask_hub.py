"""Every task of huggingface_hub's InferenceClient that the server answers: URL TEXT QUESTION TEXTS -> the answers as
JSON."""

import dataclasses
import json
import sys

import huggingface_hub

url, text, question, texts = sys.argv[1], sys.argv[2], json.loads(sys.argv[3]), json.loads(sys.argv[4])


def client(model, task=""):
    return huggingface_hub.InferenceClient(model=f"{url}/models/{model}" + (f"/pipeline/{task}" if task else ""))


def plain(answer):
    """Without the fields that are absent."""
    if isinstance(answer, list):
        return [plain(one) for one in answer]
    return {k: v for k, v in dataclasses.asdict(answer).items() if v is not None}


answers = {
    "version": huggingface_hub.__version__,
    "text_classification": plain(client("labels").text_classification(text)),
    "token_classification": plain(client("token").token_classification(text)),
    "question_answering": plain(client("span").question_answering(**question)),
    "three_answers": plain(client("span").question_answering(**question, top_k=3)),
    "fill_mask": plain(client("words").fill_mask("a [MASK] film")),
    "zero_shot_classification": plain(
        client("nli", "zero-shot-classification").zero_shot_classification(text, ["sports", "films"])
    ),
    "feature_extraction": client("labels", "feature-extraction").feature_extraction(text, normalize=True)[0].tolist(),
    "sentence_similarity": client("labels", "sentence-similarity").sentence_similarity(text, other_sentences=texts),
}
print(json.dumps(answers))
