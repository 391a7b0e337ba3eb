"""Random models of the package gliner over every part that one can have, made, saved and loaded by it, and what it
answers for a text."""

import itertools
import json
import warnings

import torch
import transformers
from gliner import GLiNER
from gliner.config import GLiNERConfig

from oracle_runs import ROOT

BASE = ROOT / "models/entities"  # a tokenizer, and the configuration of a small encoder
ENCODER = {
    "model_type": "deberta-v2",
    "hidden_size": 24,
    "num_hidden_layers": 2,
    "num_attention_heads": 3,
    "intermediate_size": 40,
    "relative_attention": True,
    "pos_att_type": ["c2p", "p2c"],
    "position_buckets": 32,
    "max_relative_positions": -1,
    "max_position_embeddings": 512,
    "share_att_key": True,
    "norm_rel_ebd": "layer_norm",
    "position_biased_input": False,
    "type_vocab_size": 0,
    "initializer_range": 0.4,
}
PLAIN = {"span_mode": "markerV0", "hidden_size": 16, "max_width": 4}

# name: what the configuration has beside PLAIN
PARTS = {
    f"{mode}, {pooling}, {layers} layers, {columns} columns": {
        "span_mode": mode,
        "subtoken_pooling": pooling,
        "num_rnn_layers": layers,
        "hidden_size": columns,
    }
    for mode, (pooling, layers, columns) in itertools.product(
        ("markerV0", "marker", "token_level"),
        (("first", 1, 16), ("first", 0, 24), ("last", 2, 24), ("mean", 0, 16), ("max", 1, 24), ("mean", 3, 32)),
    )
} | {
    "labels at their first piece": {"embed_ent_token": False},
    "spans of one word": {"max_width": 1},
    "long spans": {"max_width": 30, "span_mode": "marker"},
    "other marks": {"ent_token": "<entity>", "sep_token": "<text>"},
    "convolution": {"encoder": {"conv_kernel_size": 3, "conv_act": "gelu"}},
    "own projections of positions": {"encoder": {"share_att_key": False, "norm_rel_ebd": "none"}},
    "one term": {"encoder": {"pos_att_type": ["c2p"], "position_buckets": -1}},
}
# A configuration of early versions of the package: without the encoder's, without the marks.
OLD_KEYS = ("span_mode", "hidden_size", "max_width", "max_len", "model_name", "subtoken_pooling", "dropout")
OLD = {"has_rnn": True, "lr_encoder": "1e-5", "eval_every": 5000, "name": "old", "fine_tune": True}


def make(folder, seed=0, is_old=False, as_safetensors=False, **parts):
    """A model that the package saved into the folder, as it loads it."""
    parts = PLAIN | parts
    encoder = ENCODER | parts.pop("encoder", {})
    tokenizer = transformers.DebertaV2TokenizerFast.from_pretrained(BASE)
    base = folder / "base"
    if is_old:  # what the base model's own folder has
        tokenizer.save_pretrained(base)
        (base / "config.json").write_text(json.dumps(encoder | {"vocab_size": len(tokenizer) + 7}))
    torch.manual_seed(seed)
    config = GLiNERConfig(
        model_name=str(base if is_old else BASE), encoder_config=encoder | {"vocab_size": len(tokenizer)}, **parts
    )
    model = GLiNER.from_config(config, backbone_from_pretrained=False)
    spread_scores(model)
    place = folder / "model"
    model.save_pretrained(place, safe_serialization=as_safetensors)
    if is_old:
        for file in place.iterdir():
            if file.name not in ("gliner_config.json", "pytorch_model.bin", "model.safetensors"):
                file.unlink()
        document = json.loads((place / "gliner_config.json").read_text())
        (place / "gliner_config.json").write_text(json.dumps(OLD | {key: document[key] for key in OLD_KEYS}))
    return GLiNER.from_pretrained(str(place), local_files_only=True)


@torch.no_grad()
def spread_scores(model):
    """Weights by which probabilities lie anywhere between 0 and 1."""
    for name, weights in model.model.named_parameters():
        if "bert_layer" not in name:
            weights.normal_(0, 1.5 / weights.shape[1] ** 0.5 if weights.dim() == 2 else 0.2)
    texts = ["Ada wrote to a friend in London about the new engine , and he came", "x 1 2 ( - ) \u5317\u4eac"]
    prepared = model.prepare_batch(texts, ["person", "city", "x"])
    batch = model.collate_batch(prepared["input_x"], prepared["entity_types"], model.create_collator())
    logits = model.run_batch(batch).logits
    last = (
        model.model.scorer.out_mlp
        if hasattr(model.model, "scorer")
        else model.model.span_rep_layer.span_rep_layer.out_project
    )
    last = last[-1] if isinstance(last, torch.nn.Sequential) else last
    scale = 1.5 / logits.std()
    last.weight.mul_(scale)
    last.bias.mul_(scale)
    if hasattr(model.model, "scorer"):
        last.bias.sub_(scale * logits.mean((0, 1, 2)))


def candidates_of(model, text, labels, threshold):
    """All spans above the threshold: (first word, last word, label, score)."""
    found = []

    def keep(spans, *_, **__):
        found.extend((span.start, span.end, span.entity_type, span.score) for span in spans)
        return []

    search, model.decoder.greedy_search = model.decoder.greedy_search, keep
    try:
        entities(model, text, labels, threshold)
    finally:
        model.decoder.greedy_search = search
    return found


def entities(model, text, labels, threshold, is_nested=False, is_multi_label=False):
    """[(label, start, end, score)] in the package's order"""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = model.predict_entities(
            text, labels, flat_ner=not is_nested, threshold=threshold, multi_label=is_multi_label
        )
    return [(entity["label"], entity["start"], entity["end"], entity["score"]) for entity in found]


def is_decided(model, candidates, below, threshold, margin):
    """Whether no answer turns on a difference below the margin: between a score and the threshold, or between two
    scores of spans that share a word. `below`: those above a threshold that is lower by twice the margin. Of words two
    spans may have one score in common, the least of both."""
    is_of_words = model.config.span_mode == "token_level"
    if any(abs(score - threshold) < margin for *_, score in below):
        return False
    best_first = sorted(candidates, key=lambda span: -span[3])
    for i, one in enumerate(best_first):
        for other in best_first[i + 1 :]:
            if one[3] - other[3] >= margin:
                break
            if is_of_words and one[3] == other[3]:
                continue
            if one[0] <= other[1] and other[0] <= one[1]:
                return False
    return True
