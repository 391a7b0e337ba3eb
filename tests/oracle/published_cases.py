"""The folders that people published (tests/golden/published: their metadata; SOURCE says whose), each made whole: a
tiny random checkpoint saved by transformers, and the files that are missing. The rows are those of the table in
docs/records/published-models.md."""

import dataclasses
import json
import os
import shutil

import torch
import transformers

from oracle_runs import GOLDEN, ROOT, SHARED

PUBLISHED = ROOT / "tests/golden/published"
V3 = {
    "model_type": "deberta-v2",
    "attention_probs_dropout_prob": 0.1,
    "hidden_act": "gelu",
    "hidden_dropout_prob": 0.1,
    "initializer_range": 0.02,
    "max_position_embeddings": 512,
    "relative_attention": True,
    "position_buckets": 256,
    "norm_rel_ebd": "layer_norm",
    "share_att_key": True,
    "pos_att_type": "p2c|c2p",
    "layer_norm_eps": 1e-7,
    "max_relative_positions": -1,
    "position_biased_input": False,
    "type_vocab_size": 0,
    "vocab_size": 128100,
}
V1 = {
    "model_type": "deberta",
    "attention_probs_dropout_prob": 0.1,
    "hidden_act": "gelu",
    "hidden_dropout_prob": 0.1,
    "initializer_range": 0.02,
    "max_position_embeddings": 512,
    "relative_attention": True,
    "pos_att_type": "c2p|p2c",
    "layer_norm_eps": 1e-7,
    "max_relative_positions": -1,
    "position_biased_input": False,
    "type_vocab_size": 0,
    "vocab_size": 50265,
}
SIZES = {"num_hidden_layers": 2, "hidden_size": 64, "num_attention_heads": 4, "intermediate_size": 96}
SIZES_WHERE_PUBLISHED = {"pooler_hidden_size": 64, "attention_head_size": 16}
POOLED = '"word_embedding_dimension": '  # of 1_Pooling/config.json
SEQUENCE, TOKEN, SPAN, MASKED, ENCODER = (
    "SequenceClassification",
    "TokenClassification",
    "QuestionAnswering",
    "MaskedLM",
    "Encoder",
)
REAL_TOKENIZERS = {"spm": "deberta-v3-reconstructed", "bpe": "deberta-v1", "json": "deberta-v2-japanese"}
# [MASK]: published, in the small vocabulary
MASKS = {"spm": (128000, 925), "bpe": (50264, 680), "json": (None, None), "json5": (128000, 925)}


@dataclasses.dataclass(frozen=True)
class Case:
    """A folder that loads as in transformers, unless `refused` says what the program's message must contain."""

    folder: str
    # spm, bpe, json (with another program's vocabulary), json5 (as transformers 5 writes it); "": none
    tokenizer: str = "spm"
    head: str = SEQUENCE
    refused: str = ""
    weights: str = "model.safetensors"
    tried: str = "checkpoint, tokenizer"


CASES = [
    Case("Amna100--fold_0", "bpe", tried="config.json, checkpoint, vocab.json with merges.txt"),
    Case(
        "KoichiYasuoka--deberta-base-japanese-wikipedia",
        "json",
        MASKED,
        tried="config.json, checkpoint, tokenizer.json beside the spm.model of one byte",
    ),
    Case("MoritzLaurer--DeBERTa-v3-base-mnli-fever-anli", tried="checkpoint, spm.model"),
    Case("NDugar--ZSD-microsoft-v2xxlmnli", tried="checkpoint, spm.model"),
    Case("RolMax--mdeberta-v3-emo-multilabel", tried="checkpoint, spm.model"),
    Case(
        "RyanStudio--Mezzo-Prompt-Guard-Tiny",
        "json5",
        tried="config.json, checkpoint, tokenizer.json of transformers 5",
    ),
    Case("Xenova--nli-deberta-base", "bpe", tried="checkpoint, vocab.json with merges.txt"),
    Case(
        "Xenova--nli-deberta-base",
        "bpe",
        weights="onnx/model.onnx",
        refused="onnx",
        tried="onnx/model.onnx, vocab.json with merges.txt",
    ),
    Case("Yale-LILY--a2cu-classifier", "bpe", tried="checkpoint, vocab.json with merges.txt"),
    Case("anlp--SciRex_trained_SciDeBERTa", "bpe", TOKEN, tried="checkpoint, vocab.json with merges.txt"),
    Case(
        "bobox--DeBERTaV3-small-GeneralSentenceTransformer-v2", head=ENCODER, tried="config.json, checkpoint, spm.model"
    ),
    Case("cross-encoder--nli-deberta-base", "bpe", tried="checkpoint, vocab.json with merges.txt"),
    Case("deepset--deberta-v3-large-squad2", head=SPAN, tried="config.json, checkpoint, spm.model"),
    Case("durinn--data-eval", tried="config.json, checkpoint, spm.model"),
    Case(
        "edu-linguistic--deberta-v3-large-edu-rm",
        weights="adapter_model.safetensors",
        refused="adapter.*microsoft/deberta-v3-large",
        tried="adapter_model.safetensors, spm.model",
    ),
    Case(
        "hf-tiny-model-private--tiny-random-DebertaForMaskedLM",
        "bpe",
        MASKED,
        tried="config.json, checkpoint, vocab.json with merges.txt",
    ),
    Case("jamescalam--deberta-v3-base-qa", head=ENCODER, tried="config.json, checkpoint, spm.model"),
    Case("keras--deberta_v3_extra_small_en", "", weights="model.weights.h5", refused="keras", tried="model.weights.h5"),
    Case("knowledgator--comprehend_it-base", tried="checkpoint, spm.model"),
    Case(
        "ku-nlp--deberta-v2-base-japanese", head=MASKED, refused="jumanpp", tried="config.json, checkpoint, spm.model"
    ),
    Case("microsoft--deberta-large-mnli", "bpe", tried="checkpoint, vocab.json with merges.txt"),
    Case(
        "ner-ml-models--gliner_base",
        weights="pytorch_model.bin",
        refused="gliner",
        tried="pytorch_model.bin, spm.model",
    ),
    Case(
        "ner-ml-models--nuner_zero", weights="pytorch_model.bin", refused="gliner", tried="pytorch_model.bin, spm.model"
    ),
    Case("prompt-security--Prompt-Guard-86M_onnx", tried="checkpoint, spm.model"),
    Case("prompt-security--Prompt-Guard-86M_onnx", weights="model.onnx", refused="onnx", tried="model.onnx, spm.model"),
    Case(
        "rambodazimi--deberta-v3-base-finetuned-LoRA-RTE",
        weights="adapter_model.safetensors",
        refused="adapter.*deberta-v3-base",
        tried="adapter_model.safetensors, spm.model",
    ),
    Case("sjrhuschlee--deberta-v3-base-squad2", head=SPAN, tried="config.json, checkpoint, spm.model"),
    Case("team-lucid--deberta-v3-base-korean", head=MASKED, tried="config.json, checkpoint, spm.model"),
    Case("timur-losev--coop-deberta-v3-base", "json5", tried="checkpoint, tokenizer.json's vocabulary"),
    Case("uelkerd--goemotions-deberta", tried="checkpoint, spm.model"),
]


def published_files(case):
    """{name in the folder: path} of the metadata, as published."""
    source = PUBLISHED / case.folder
    return {
        str(path.relative_to(source)): path
        for path in sorted(source.rglob("*"))
        if path.is_file() and path.name != "SOURCE"
    }


def is_real(case):
    """Whether the shared folder's tokenizer is used."""
    return case.tokenizer == "" or (SHARED / "reference/tokenizers").exists()


def config_of(case, small):
    """The configuration as published, else that of the version's base model, with the sizes of a tiny checkpoint."""
    path = PUBLISHED / case.folder / "config.json"
    config = json.loads(path.read_text()) if path.exists() else dict(V1 if case.tokenizer == "bpe" else V3)
    config |= SIZES | {key: value for key, value in SIZES_WHERE_PUBLISHED.items() if key in config}
    if case.tokenizer == "json" and not small:
        config["vocab_size"] = 32000 + 64
    elif small:
        config["vocab_size"] = 700 if case.tokenizer == "bpe" else 1064
    return config


def model_class(head):
    return transformers.AutoModel if head == ENCODER else getattr(transformers, "AutoModelFor" + head)


def save_weights(case, config, target):
    """model.safetensors as transformers saves it: random, large enough that each weight shows in the answer."""
    torch.manual_seed(len(case.folder))
    settings = transformers.AutoConfig.for_model(**json.loads(json.dumps(config)))
    settings._attn_implementation = "eager"
    model = model_class(case.head).from_config(settings).float()
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            shift = 1.0 if name.endswith("LayerNorm.weight") else 0.0
            parameter.copy_(torch.randn_like(parameter) * (1.0 if "embeddings" in name else 0.15) + shift)
    scratch = target / "saved"
    model.save_pretrained(scratch)
    os.replace(scratch / "model.safetensors", target / "model.safetensors")
    shutil.rmtree(scratch)


def sentencepiece_vocabulary(path):
    import sentencepiece

    model = sentencepiece.SentencePieceProcessor(model_file=str(path))
    return [[model.id_to_piece(i), 0.0 if i < 4 else model.get_score(i)] for i in range(len(model))]


def write_tokenizer(case, target, small):
    real = (
        None
        if small
        else SHARED / "reference/tokenizers" / REAL_TOKENIZERS.get(case.tokenizer, "deberta-v3-reconstructed")
    )
    if case.tokenizer == "spm":
        shutil.copy(real / "spm.model" if real else GOLDEN / "bytes.model", target / "spm.model")
    elif case.tokenizer == "bpe":
        source = real or GOLDEN / "bpe"
        pieces = {i: piece for piece, i in json.loads((source / "vocab.json").read_text()).items()}
        # the shared vocabulary is RoBERTa's
        pieces |= {0: "[PAD]", 1: "[CLS]", 2: "[SEP]", 3: "[UNK]", (50264 if real else 680): "[MASK]"}
        (target / "vocab.json").write_text(json.dumps({piece: i for i, piece in sorted(pieces.items())}))
        shutil.copy(source / "merges.txt", target / "merges.txt")
    elif case.tokenizer == "json":
        shutil.copy(real / "tokenizer.json" if real else GOLDEN / "json/unigram.json", target / "tokenizer.json")
    elif case.tokenizer == "json5":
        head = json.loads((PUBLISHED / "timur-losev--coop-deberta-v3-base/tokenizer.head.json").read_text())
        pieces = sentencepiece_vocabulary(real / "spm.model" if real else GOLDEN / "bytes.model")
        head["added_tokens"][-1]["id"] = len(pieces)
        head["model"] = {"type": "Unigram", "unk_id": 3, "vocab": pieces, "byte_fallback": False}
        (target / "tokenizer.json").write_text(json.dumps(head))


def in_small_vocabulary(case, text):
    """[MASK] comes right after the last piece in the published vocabulary, and so in the small one."""
    published, small = MASKS[case.tokenizer or "json"]
    return (
        text
        if published is None
        else text.replace(f'"{published}"', f'"{small}"').replace(f" {published}\n", f" {small}\n")
    )


def make_folder(case, target, small):
    """`target` as the case says. `small`: the vocabularies of the project; else those of the shared folder, with the
    published sizes."""
    target.mkdir(parents=True)
    for name, path in published_files(case).items():
        if name == "tokenizer.head.json":
            continue
        (target / name).parent.mkdir(exist_ok=True)
        text = path.read_text().replace(POOLED + "768", POOLED + str(SIZES["hidden_size"]))
        (target / name).write_text(in_small_vocabulary(case, text) if small else text)
    write_tokenizer(case, target, small)
    if case.weights != "model.safetensors":
        write_foreign_weights(case, target)
        return target
    config = config_of(case, small)
    (target / "config.json").write_text(json.dumps(config, indent=2))
    save_weights(case, config, target)
    return target


def write_foreign_weights(case, target):
    """What the folder has in place of a checkpoint; the content of the file is never reached."""
    from safetensors.torch import save_file

    path = target / case.weights
    path.parent.mkdir(exist_ok=True)
    if path.name == "adapter_model.safetensors":
        prefix = "base_model.model.deberta.encoder.layer.0.attention.self.query_proj.lora_"
        save_file({prefix + "A.weight": torch.randn(16, 64), prefix + "B.weight": torch.randn(64, 16)}, path)
    elif path.name == "pytorch_model.bin":
        torch.save({"token_rep_layer.bert_layer.model.embeddings.word_embeddings.weight": torch.randn(8, 64)}, path)
    else:
        path.write_bytes(b"\x08\x07" + bytes(64))
