#!/usr/bin/env python3
"""Writes tests/golden/published with the programs that really write such files: transformers, sentence-transformers,
peft and torch.save. No test needs these programs. Each part is run with the versions named in its docstring; the same
versions give the same bytes again.

make_published_fixtures.py PART FOLDER      PART: encoders, sentence, cross, adapters, bin"""

import json
import pathlib
import shutil
import sys
import tempfile

import torch

ROOT = pathlib.Path(__file__).resolve().parents[2]
TEXTS = ["some text of a few words", "another one"]
WORDS = {
    "model.safetensors",
    "README.md",
    "tokenizer.json",
    "tokenizer_config.json",
    "special_tokens_map.json",
    "added_tokens.json",
    "spm.model",
    "config.json",
}


def write_json(path, value):
    path.write_text(json.dumps(value, indent=1) + "\n")


def spread(model):
    """Random weights large enough that each one shows in the result."""
    torch.manual_seed(3)
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            parameter.normal_(1.0 if "LayerNorm.weight" in name else 0.0, 0.3)
    return model


def encoders(folder):
    """transformers 4.57: a tiny model of version 3 and one of version 1, each with a head of three classes."""
    from transformers import (
        DebertaConfig,
        DebertaForSequenceClassification,
        DebertaV2Config,
        DebertaV2ForSequenceClassification,
    )

    shape = {
        "hidden_size": 16,
        "num_hidden_layers": 2,
        "num_attention_heads": 2,
        "intermediate_size": 24,
        "max_position_embeddings": 64,
        "relative_attention": True,
        "position_biased_input": False,
        "type_vocab_size": 0,
        "pad_token_id": 0,
        "num_labels": 3,
        "pos_att_type": ["p2c", "c2p"],
    }
    v3 = DebertaV2Config(vocab_size=1064, position_buckets=8, share_att_key=True, norm_rel_ebd="layer_norm", **shape)
    v1 = DebertaConfig(vocab_size=40, max_relative_positions=16, **shape)
    for name, model in (("v3", DebertaV2ForSequenceClassification(v3)), ("v1", DebertaForSequenceClassification(v1))):
        spread(model).save_pretrained(folder / name)


def encoder_with_tokenizer(folder):
    whole = pathlib.Path(tempfile.mkdtemp()) / "model"
    shutil.copytree(folder / "v3", whole)
    shutil.copy(ROOT / "tests/golden/tokenizer/bytes.model", whole / "spm.model")
    write_json(whole / "tokenizer_config.json", {"tokenizer_class": "DebertaV2Tokenizer"})
    return whole


def keep_modules(saved, target):
    """What the library wrote, without the transformer itself, which all cases share."""
    shutil.rmtree(target, ignore_errors=True)
    shutil.copytree(
        saved, target, ignore=lambda at, names: [n for n in names if pathlib.Path(at) == saved and n in WORDS]
    )


def sentence(folder):
    """sentence-transformers 5.7 and 6.2: pooling by list, layers after it, truncated vectors; with the results of
    encode()."""
    import sentence_transformers
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer import modules

    version = sentence_transformers.__version__.split(".")[0]
    torch.manual_seed(5)
    cases = {
        "list": ([modules.Pooling(16, pooling_mode=["mean", "cls"])], {}),
        "weights": ([modules.Pooling(16, pooling_mode=("weightedmean", "lasttoken", "mean_sqrt_len_tokens"))], {}),
        "layers": (
            [modules.Pooling(16, pooling_mode="max"), modules.Dense(16, 8), modules.LayerNorm(8), modules.Normalize()],
            {},
        ),
        "prompt": (
            [modules.Pooling(16, pooling_mode="mean")],
            {"prompts": {"query": "what is: ", "title": "a "}, "default_prompt_name": "query"},
        ),
        "truncated": ([modules.Pooling(16, pooling_mode="mean")], {"truncate_dim": 6}),
    }
    if version == "6":
        same = [
            modules.Pooling(16, pooling_mode="mean"),
            modules.Dense(16, 16, activation_function=torch.nn.GELU(), use_residual=True),
        ]
        other = [
            modules.Pooling(16, pooling_mode="mean"),
            modules.Dense(16, 5, bias=False, use_residual=True),
            modules.Normalize(),
        ]
        cases |= {"residual": (same, {}), "residual_to_5": (other, {})}
    for name, (behind, settings) in cases.items():
        transformer = modules.Transformer(str(encoder_with_tokenizer(folder)))
        for layer in behind:
            if isinstance(layer, modules.LayerNorm):
                spread(layer)
        model = SentenceTransformer(modules=[transformer, *behind], **settings)
        saved = pathlib.Path(tempfile.mkdtemp()) / "saved"
        model.save(str(saved))
        target = folder / f"sentence{version}_{name}"
        keep_modules(saved, target)
        vectors = SentenceTransformer(str(saved), device="cpu").encode(TEXTS)
        write_json(
            target / "expected.json", {"texts": TEXTS, "vectors": [[float(f"{x:.8g}") for x in row] for row in vectors]}
        )


def cross(folder):
    """sentence-transformers 5.7 and 6.2: the activation of a CrossEncoder, and another one left in config.json."""
    import sentence_transformers
    from sentence_transformers import CrossEncoder

    version = sentence_transformers.__version__.split(".")[0]
    nn = torch.nn
    for name, function, in_config in (
        ("identity", nn.Identity(), "torch.nn.modules.activation.Sigmoid"),
        ("tanh", nn.Tanh(), None),
        ("softmax", nn.Softmax(dim=-1), None),
        ("relu", nn.ReLU(), None),
    ):
        model = CrossEncoder(str(encoder_with_tokenizer(folder)), activation_fn=function)
        saved = pathlib.Path(tempfile.mkdtemp()) / "saved"
        model.save_pretrained(str(saved))
        if in_config:
            config = json.loads((saved / "config.json").read_text())
            write_json(
                saved / "config.json",
                config | {"sentence_transformers": {"activation_fn": in_config, "version": "4.1.0"}},
            )
        target = folder / f"cross{version}_{name}"
        keep_modules(saved, target)
        shutil.copy(saved / "config.json", target)
        scores = CrossEncoder(str(saved), device="cpu").predict([(TEXTS[0], TEXTS[1])])
        write_json(target / "expected.json", {"pair": TEXTS, "scores": [float(f"{x:.8g}") for x in scores[0]]})


def save_adapter(model, target, base, **settings):
    model.save_pretrained(target, **settings)
    (target / "README.md").unlink(missing_ok=True)
    config = json.loads((target / "adapter_config.json").read_text())
    # not the path where it was made
    write_json(target / "adapter_config.json", config | {"base_model_name_or_path": "someone/" + base})


def adapters(folder):
    """peft 0.18 and 0.21: adapters with random values, and the tensors that merge_and_unload() changes after the
    adapter is read back (expected.safetensors)."""
    import peft
    from safetensors.torch import save_file
    from transformers import AutoModelForSequenceClassification

    version = peft.__version__.split(".")[1]
    every = ["query_proj", "key_proj", "value_proj", "dense"]
    head = {"task_type": "SEQ_CLS", "modules_to_save": ["classifier", "pooler"]}
    cases = {
        "plain": ("v3", dict(r=4, lora_alpha=8, target_modules=["query_proj", "value_proj"], **head)),
        "patterns": (
            "v3",
            {
                "r": 4,
                "lora_alpha": 6,
                "target_modules": every,
                "bias": "lora_only",
                "task_type": "SEQ_CLS",
                "rank_pattern": {"layer.0.attention.self.query_proj": 2, "value_proj": 3},
                "alpha_pattern": {"key_proj": 3, "output.dense": 5},
            },
        ),
        "stabilised": (
            "v3",
            dict(r=9, lora_alpha=2, target_modules=["intermediate.dense"], use_rslora=True, bias="all", **head),
        ),
        "biases": ("v3", dict(r=2, lora_alpha=4, target_modules=["key_proj"], lora_bias=True, **head)),
        "classes": ("v3", dict(r=2, lora_alpha=4, target_modules=["key_proj"], **head)),
        "v1": (
            "v1",
            dict(
                r=3,
                lora_alpha=4,
                target_modules=["in_proj", "pos_q_proj", "word_embeddings"],
                fan_in_fan_out=True,
                **head,
            ),
        ),
        "dora": ("v3", dict(r=2, lora_alpha=4, target_modules=["key_proj"], use_dora=True, **head)),
        "headless": (
            "v3",
            {"r": 2, "lora_alpha": 4, "target_modules": ["key_proj"], "task_type": "FEATURE_EXTRACTION"},
        ),
    }
    for name, (base, settings) in cases.items():
        classes = {"num_labels": 2, "ignore_mismatched_sizes": True} if name == "classes" else {}
        model = AutoModelForSequenceClassification.from_pretrained(folder / base, **classes)
        before = {
            key: value.clone()
            for key, value in AutoModelForSequenceClassification.from_pretrained(folder / base).state_dict().items()
        }
        model = peft.get_peft_model(model, peft.LoraConfig(**settings))
        torch.manual_seed(9)
        with torch.no_grad():
            for parameter in model.parameters():
                if parameter.requires_grad:
                    parameter.normal_(0, 0.3)
        target = folder / f"adapter{version}_{name}"
        save_adapter(model, target, base, safe_serialization=name != "v1")
        if name != "dora":  # read back: peft 0.18 does not write the biases of lora_only
            read = peft.PeftModel.from_pretrained(
                AutoModelForSequenceClassification.from_pretrained(folder / base, **classes), target
            )
            merged = {key: value.contiguous() for key, value in read.merge_and_unload().state_dict().items()}
            save_file(
                {
                    key: value
                    for key, value in merged.items()
                    if key not in before or value.shape != before[key].shape or not torch.equal(value, before[key])
                },
                target / "expected.safetensors",
            )
    model = peft.get_peft_model(
        AutoModelForSequenceClassification.from_pretrained(folder / "v3"),
        peft.IA3Config(target_modules=["key_proj"], feedforward_modules=[], task_type="SEQ_CLS"),
    )
    save_adapter(model, folder / f"adapter{version}_ia3", "v3")


def bin_entries():
    """What people leave in a state dict beside its tensors, and the forms that tensors take."""
    import collections

    weights = collections.OrderedDict()
    weights["deberta.a"] = torch.arange(6, dtype=torch.float32).reshape(2, 3)
    marked = torch.nn.Parameter(torch.tensor([1.5, -2.0]))
    marked.tag = "with an attribute"
    weights["deberta.marked"] = marked
    weights["config"] = {
        "hidden_size": 16,
        "model_max_length": 10**30,
        "dtype": torch.float16,
        "device": torch.device("cpu"),
        "labels": ("a", "b"),
        "names": {"x", "y"},
        "bytes": b"raw",
        "no": None,
        "rate": 0.1,
        "deep": collections.defaultdict(list, {"k": [1, 2]}),
    }
    weights |= {"epoch": 3, "loss": 0.25, "name": "a text", "nothing": None, "done": True, "steps": [1, 2, 3]}
    weights["deberta.b"] = torch.tensor([3, 4], dtype=torch.int64)
    return weights


def bin(folder):
    """torch 2.11: one state dict in both containers and all protocols, and a training checkpoint."""
    folder = folder / "bin"
    folder.mkdir(exist_ok=True)
    for protocol in (2, 3, 4, 5):
        torch.save(bin_entries(), folder / f"zip{protocol}.bin", pickle_protocol=protocol)
        torch.save(
            bin_entries(),
            folder / f"legacy{protocol}.bin",
            pickle_protocol=protocol,
            _use_new_zipfile_serialization=False,
        )
    torch.save({"model_state_dict": {"deberta.a": torch.zeros(2)}, "epoch": 1}, folder / "training.bin")


if __name__ == "__main__":
    target = pathlib.Path(sys.argv[2])
    target.mkdir(parents=True, exist_ok=True)
    globals()[sys.argv[1]](target)
