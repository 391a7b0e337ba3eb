"""Small random checkpoints in the layouts in which people publish DeBERTa models, saved by transformers: names of tensors, keys of the
configuration and files are those of the published folders. The same bytes for the same seed. Not a test."""
import json
import pathlib
import shutil

import torch
import transformers
from safetensors.torch import load_file, save_file

ROOT = pathlib.Path(__file__).resolve().parents[2]
SHARED = ROOT.parent / "shared/reference"
TOKENIZERS = ROOT / "tests/golden/tokenizer"
V3_TOKENIZER = {"bos_token": "[CLS]", "cls_token": "[CLS]", "do_lower_case": False, "eos_token": "[SEP]", "mask_token": "[MASK]", "model_max_length": 512,
                "pad_token": "[PAD]", "sep_token": "[SEP]", "sp_model_kwargs": {}, "split_by_punct": False, "tokenizer_class": "DebertaV2Tokenizer",
                "unk_token": "[UNK]", "vocab_type": "spm"}
SIZES = {"hidden_size": 64, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 128, "max_position_embeddings": 512,
         "relative_attention": True, "layer_norm_eps": 1e-7, "max_relative_positions": -1, "position_biased_input": False, "type_vocab_size": 0}
V3 = SIZES | {"position_buckets": 256, "pos_att_type": ["p2c", "c2p"], "share_att_key": True, "norm_rel_ebd": "layer_norm"}
PII_LABELS = ["O"] + [f"{begin}-{kind}" for kind in ("FIRSTNAME", "LASTNAME", "EMAIL", "CITY", "ACCOUNTNUMBER", "IPV4") for begin in "BI"]
GUARD_LABELS = ["BENIGN", "INJECTION", "JAILBREAK"]


def spm_model():
    """The vocabulary of the small trained models where they are, else that of the tests."""
    shared = SHARED / "models/nano-mlm/spm.model"
    return shared if shared.exists() else TOKENIZERS / "bytes.model"


def v1_vocabulary():
    shared = SHARED / "tokenizers/deberta-v1"
    return shared if shared.exists() else TOKENIZERS / "bpe"


def randomize(model, seed):
    """Weights large enough that every one of them shows in the answers, and that answers to different texts differ."""
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for name, parameter in sorted(model.named_parameters()):
            scale = 1.0 if "embeddings" in name else 0.1 if name.startswith(("classifier", "qa_outputs")) else 0.15
            shift = 1.0 if name.endswith("LayerNorm.weight") else 0.0
            parameter.copy_(torch.randn(parameter.shape, generator=generator) * scale + shift)
    return model.eval()


def add_tokenizer(folder, layout):
    if layout == "v1":
        for name in ("vocab.json", "merges.txt"):
            shutil.copy(v1_vocabulary() / name, folder / name)
        settings = {"do_lower_case": False, "vocab_type": "gpt2", "model_max_length": 512, "tokenizer_class": "DebertaTokenizer"}
    else:
        shutil.copy(spm_model(), folder / "spm.model")
        settings = V3_TOKENIZER
    (folder / "tokenizer_config.json").write_text(json.dumps(settings))


def rows_of(layout):
    """Rows of the embeddings: more than the tokenizer has, as in published files."""
    if layout == "v1":
        return len(json.loads((v1_vocabulary() / "vocab.json").read_text())) + 7
    return 8256 if spm_model().parent.name == "nano-mlm" else 1100


def make(folder, head, layout="v2", labels=None, seed=1, config=None, is_bin=False, **settings):
    """head: what follows DebertaV2 or Deberta in the class's name. `config`: keys added to config.json as they are; None takes one away."""
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    begin = "Deberta" if layout == "v1" else "DebertaV2"
    if labels is not None:
        settings |= {"id2label": dict(enumerate(labels)), "label2id": {label: i for i, label in enumerate(labels)}}
    sizes = SIZES | {"pos_att_type": ["c2p", "p2c"]} if layout == "v1" else V3
    model = getattr(transformers, begin + head)(getattr(transformers, begin + "Config")(**(sizes | {"vocab_size": rows_of(layout)} | settings)))
    randomize(model, seed).save_pretrained(folder)
    if is_bin:  # as files were published before safetensors, in half precision
        torch.save({name: tensor.half() for name, tensor in model.state_dict().items()}, folder / "pytorch_model.bin")
        (folder / "model.safetensors").unlink()
    add_tokenizer(folder, layout)
    document = json.loads((folder / "config.json").read_text()) | (config or {})
    (folder / "config.json").write_text(json.dumps({key: value for key, value in document.items() if value is not None}))
    return folder


def make_sentence_transformer(folder, poolings=("mean",), dense=None, normalizes=True, transformer="", seed=11, lower=False, length=512):
    """modules.json, the pooling and what follows it. `dense`: (outputs, activation). `transformer`: the folder of the encoder."""
    folder = pathlib.Path(folder)
    make(folder / transformer, "Model", seed=seed)
    (folder / transformer / "sentence_bert_config.json").write_text(json.dumps({"max_seq_length": length, "do_lower_case": lower}))
    kinds = [("Transformer", transformer), ("Pooling", "1_Pooling")]
    keys = {"cls": "cls_token", "mean": "mean_tokens", "max": "max_tokens", "mean-sqrt": "mean_sqrt_len_tokens"}
    (folder / "1_Pooling").mkdir()
    pooling = {"word_embedding_dimension": 64} | {f"pooling_mode_{key}": name in poolings for name, key in keys.items()}
    pooling |= {"pooling_mode_weightedmean_tokens": False, "pooling_mode_lasttoken": False, "include_prompt": True}
    (folder / "1_Pooling/config.json").write_text(json.dumps(pooling))
    if dense:
        outputs, activation = dense
        inputs = 64 * len(poolings)
        (folder / "2_Dense").mkdir()
        settings = {"in_features": inputs, "out_features": outputs, "bias": True, "activation_function": f"torch.nn.modules.activation.{activation}"}
        (folder / "2_Dense/config.json").write_text(json.dumps(settings))
        generator = torch.Generator().manual_seed(seed + 1)
        save_file({"linear.weight": torch.randn((outputs, inputs), generator=generator) * 0.1, "linear.bias": torch.randn(outputs, generator=generator)},
                  folder / "2_Dense/model.safetensors")
        kinds.append(("Dense", "2_Dense"))
    if normalizes:
        kinds.append(("Normalize", f"{len(kinds)}_Normalize"))
    modules = [{"idx": i, "name": str(i), "path": path, "type": f"sentence_transformers.models.{kind}"} for i, (kind, path) in enumerate(kinds)]
    (folder / "modules.json").write_text(json.dumps(modules))
    (folder / "config_sentence_transformers.json").write_text(json.dumps({"__version__": {"sentence_transformers": "3.0.1"}, "prompts": {},
                                                                          "default_prompt_name": None, "similarity_fn_name": "cosine"}))
    return folder


def load_dense(folder):
    return load_file(folder / "model.safetensors")


def activation_key(name):
    return {"sentence_transformers": {"activation_fn": f"torch.nn.modules.{'linear' if name == 'Identity' else 'activation'}.{name}", "version": "4.1.0"}}


# name: how to make it. Each after a family of models that people publish.
LAYOUTS = {
    # NLI and zero-shot: labels in the two orders that are common, with two labels, and with the activation of a cross-encoder.
    "nli": lambda folder: make(folder, "ForSequenceClassification", labels=("entailment", "neutral", "contradiction"), seed=2),
    "nli-two": lambda folder: make(folder, "ForSequenceClassification", labels=("entailment", "not_entailment"), seed=3),
    "nli-cross-encoder": lambda folder: make(folder, "ForSequenceClassification", labels=("contradiction", "entailment", "neutral"), seed=4,
                                             config=activation_key("Identity")),
    # Rerankers: one logit.
    "reranker": lambda folder: make(folder, "ForSequenceClassification", labels=("LABEL_0",), seed=5),
    "reranker-identity": lambda folder: make(folder, "ForSequenceClassification", labels=("LABEL_0",), seed=5, config=activation_key("Identity")),
    "reranker-sigmoid": lambda folder: make(folder, "ForSequenceClassification", labels=("LABEL_0",), seed=5, config=activation_key("Sigmoid")),
    "reranker-old-key": lambda folder: make(folder, "ForSequenceClassification", labels=("LABEL_0",), seed=5,
                                            config={"sbert_ce_default_activation_function": "torch.nn.modules.linear.Identity"}),
    # A reward model is the same without any word of it; a regression says so.
    "reward": lambda folder: make(folder, "ForSequenceClassification", labels=("LABEL_0",), seed=6, is_bin=True),
    "regression": lambda folder: make(folder, "ForSequenceClassification", labels=("score",), seed=7, problem_type="regression"),
    # Prompt guards, of mDeBERTa: one of three labels, or any of them.
    "prompt-guard": lambda folder: make(folder, "ForSequenceClassification", labels=GUARD_LABELS, seed=8),
    "prompt-guard-multi": lambda folder: make(folder, "ForSequenceClassification", labels=GUARD_LABELS, seed=8, problem_type="multi_label_classification"),
    # Taggers of personal data: many labels, with names and without.
    "pii": lambda folder: make(folder, "ForTokenClassification", labels=PII_LABELS, seed=9),
    "pii-unnamed": lambda folder: make(folder, "ForTokenClassification", seed=9, num_labels=len(PII_LABELS)),
    "bioes": lambda folder: make(folder, "ForTokenClassification", labels=["O"] + [f"{x}-{kind}" for kind in ("PER", "LOC") for x in "BIES"], seed=10),
    "squad": lambda folder: make(folder, "ForQuestionAnswering", seed=12),
    "multiple-choice": lambda folder: make(folder, "ForMultipleChoice", seed=13),
    "masked": lambda folder: make(folder, "ForMaskedLM", seed=14),
    "mdeberta-masked": lambda folder: make(folder, "ForMaskedLM", seed=15, is_bin=True),
    "v1": lambda folder: make(folder, "ForSequenceClassification", layout="v1", labels=("CONTRADICTION", "NEUTRAL", "ENTAILMENT"), seed=16),
    "v1-ner": lambda folder: make(folder, "ForTokenClassification", layout="v1", labels=PII_LABELS, seed=17),
    "encoder": lambda folder: make(folder, "Model", seed=18),
}
