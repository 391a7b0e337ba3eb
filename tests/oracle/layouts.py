"""Small checkpoints in the layouts that people publish: configuration keys, labels, tensors and files are named as in
the listed families; the weights are those of the shared folder's trained models if it is there (classes in the family's
order), else random."""

import dataclasses
import json
import shutil
import sys

import torch
import transformers
from safetensors.torch import load_file, save_file

from oracle_runs import GOLDEN, ROOT, SHARED

sys.path.insert(0, str(ROOT / "tests/cli"))
from models import make_model

NLI = ("contradiction", "neutral", "entailment")
TAGS = ("O", "B-LOC", "B-MISC", "B-ORG", "B-PER", "I-LOC", "I-MISC", "I-ORG", "I-PER")
BASES = {
    "sick": ("sequence", NLI),
    "sst2": ("sequence", ("negative", "positive")),
    "conll": ("token", TAGS),
    "squad": ("span", ()),
    "mlm": ("lm", ()),
}


@dataclasses.dataclass
class Layout:
    """`labels`: (published name, class of the base model or None for a random one), in the published order; none: the
    base's head as it is."""

    base: str
    labels: tuple = ()
    settings: dict = dataclasses.field(default_factory=dict)
    half: bool = False
    binary: bool = False  # pytorch_model.bin
    names: bool = True  # id2label is written


def random_labels(*names):
    return tuple((name, None) for name in names)


ONE_LOGIT = random_labels("LABEL_0")
LAYOUTS = {
    # MoritzLaurer/DeBERTa-v3-*-mnli-*: entailment first, half precision
    "zero-shot of MNLI": Layout("sick", (("entailment", 2), ("neutral", 1), ("contradiction", 0)), half=True),
    # MoritzLaurer/deberta-v3-*-zeroshot-*
    "zero-shot of two classes": Layout("sick", (("entailment", 2), ("not_entailment", 0)), half=True),
    # microsoft/deberta-*-mnli, capital letters, pytorch_model.bin
    "MNLI in capitals": Layout("sick", (("CONTRADICTION", 0), ("NEUTRAL", 1), ("ENTAILMENT", 2)), binary=True),
    # cross-encoder/nli-deberta-v3-*: an order of their own, logits as they are
    "cross-encoder for NLI": Layout(
        "sick",
        (("contradiction", 0), ("entailment", 2), ("neutral", 1)),
        {"sentence_transformers": {"activation_fn": "torch.nn.modules.linear.Identity"}},
        binary=True,
    ),
    # mixedbread-ai/mxbai-rerank-*-v1
    "reranker": Layout("sick", ONE_LOGIT, half=True),
    # OpenAssistant/reward-model-deberta-v3-*
    "reward model": Layout("sick", ONE_LOGIT, {"problem_type": "regression"}, binary=True, names=False),
    # meta-llama/Prompt-Guard-86M
    "prompt guard": Layout("sick", (("BENIGN", 1), ("INJECTION", 0), ("JAILBREAK", 2))),
    # protectai/deberta-v3-*-prompt-injection-v2
    "prompt guard of two classes": Layout(
        "sst2", (("SAFE", 1), ("INJECTION", 0)), {"problem_type": "single_label_classification"}
    ),
    # emotions, toxicity
    "several labels at once": Layout(
        "sick", random_labels("anger", "joy", "fear", "love", "neutral"), {"problem_type": "multi_label_classification"}
    ),
    "scores": Layout("sick", ONE_LOGIT, {"problem_type": "regression"}),
    # Isotonic/deberta-v3-*_finetuned_ai4privacy: many classes
    "tagger of personal data": Layout(
        "conll",
        (
            ("O", 0),
            ("B-FIRSTNAME", 4),
            ("I-FIRSTNAME", 8),
            ("B-CITY", 1),
            ("I-CITY", 5),
            ("B-COMPANYNAME", 3),
            ("I-COMPANYNAME", 7),
            ("B-JOBAREA", 2),
            ("I-JOBAREA", 6),
            *random_labels("B-EMAIL", "I-EMAIL"),
        ),
    ),
    # iiiorg/piiranha-v1: only I-
    "tagger without B": Layout(
        "conll", (("I-ACCOUNTNUM", 4), ("I-CITY", 1), ("I-EMAIL", 3), ("I-GIVENNAME", 8), ("O", 0)), half=True
    ),
    # labels without a scheme
    "tagger of plain classes": Layout("conll", (("0", 0), ("name", 4), ("place", 1)), half=True),
    "NER": Layout("conll"),
    # deepset/deberta-v3-*-squad2
    "questions": Layout("squad"),
    "masked words": Layout("mlm"),
    "masked words with a decoder": Layout("emd"),
    "encoder": Layout("mlm", half=True),
}


def base_folder(folder, base):
    trained = SHARED / "reference/models" / f"nano-{base}"
    if trained.exists():
        return trained
    head, labels = BASES[base]
    return make_model(folder / "base", head, labels=labels or ("a",), legacy=False, tie_word_embeddings=False)


def with_labels(tensors, labels):
    """The classifier's rows in the order of the labels; a random row where there is none."""
    torch.manual_seed(len(labels))
    weight, bias = tensors["classifier.weight"].float(), tensors["classifier.bias"].float()
    rows = [weight[old] if old is not None else torch.randn(weight.shape[1]) * 0.3 for _, old in labels]
    shifts = [bias[old] if old is not None else torch.tensor(0.0) for _, old in labels]
    return tensors | {"classifier.weight": torch.stack(rows), "classifier.bias": torch.stack(shifts)}


def make_v1_layout(folder, labels):
    """microsoft/deberta-base-mnli: fused projections, byte-level BPE, a random head and encoder. Returns the folder."""
    torch.manual_seed(1)
    tokenizer = SHARED / "reference/tokenizers/deberta-v1"
    tokenizer = tokenizer if tokenizer.exists() else GOLDEN / "bpe"
    config = transformers.DebertaConfig(
        vocab_size=50265,
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=64,
        max_position_embeddings=512,
        type_vocab_size=0,
        relative_attention=True,
        max_relative_positions=-1,
        pos_att_type=["c2p", "p2c"],
        position_biased_input=False,
        pooler_hidden_size=32,
        id2label=dict(enumerate(labels)),
        label2id={label: i for i, label in enumerate(labels)},
    )
    model = transformers.DebertaForSequenceClassification(config)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.mul_(8.0 if parameter.dim() > 1 else 1.0)  # with initial values every text gets the same answer
    model.save_pretrained(folder / "model")
    pieces = {i: piece for piece, i in json.loads((tokenizer / "vocab.json").read_text()).items()}
    pieces |= {0: "[PAD]", 1: "[CLS]", 2: "[SEP]", 3: "[UNK]"}
    (folder / "model/vocab.json").write_text(
        json.dumps({piece if i < 50264 else "[MASK]": i for i, piece in pieces.items()})
    )
    shutil.copy(tokenizer / "merges.txt", folder / "model/merges.txt")
    return folder / "model"


def make_layout(folder, name):
    """Returns the folder."""
    if name == "version 1":
        return make_v1_layout(folder, ("CONTRADICTION", "NEUTRAL", "ENTAILMENT"))
    layout = LAYOUTS[name]
    source = base_folder(folder, layout.base)
    config = json.loads((source / "config.json").read_text()) | layout.settings
    tensors = load_file(source / "model.safetensors")
    if layout.labels:
        tensors = with_labels(tensors, layout.labels)
        labels = [label for label, _ in layout.labels]
        config |= {
            "id2label": {str(i): label for i, label in enumerate(labels)},
            "label2id": {label: i for i, label in enumerate(labels)},
        }
    if not layout.names:
        del config["id2label"], config["label2id"]
        config["num_labels"] = len(layout.labels)
    kind = torch.float16 if layout.half else torch.float32
    config.pop("dtype", None)
    config["torch_dtype"] = "float16" if layout.half else "float32"
    tensors = {key: tensor.to(kind).contiguous() for key, tensor in tensors.items()}
    target = folder / "model"
    target.mkdir()
    if layout.binary:
        torch.save(tensors, target / "pytorch_model.bin")
    else:
        save_file(tensors, target / "model.safetensors", {"format": "pt"})
    (target / "config.json").write_text(json.dumps(config))
    for file in source.iterdir():
        if file.name in ("spm.model", "tokenizer_config.json", "added_tokens.json", "special_tokens_map.json"):
            shutil.copy(file, target / file.name)
    return target
