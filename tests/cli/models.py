"""Tiny random model directories for the black-box tests, in the published layout. Seeded; shares no code with the
product."""

import json
import pathlib
import shutil
import struct

import numpy

ROOT = pathlib.Path(__file__).resolve().parents[2]
SPM = ROOT / "tests/golden/tokenizer/bytes.model"
TOKENS = 1000 + 64  # rows of the embedding: more than the tokenizer has pieces, as in published files


def write_safetensors(path, tensors):
    """{name: array of float32 or int32} in the safetensors format."""
    kinds = {"float32": "F32", "int32": "I32", "int64": "I64"}
    header, offset = {}, 0
    for name, array in tensors.items():
        header[name] = {
            "dtype": kinds[str(array.dtype)],
            "shape": list(array.shape),
            "data_offsets": [offset, offset + array.nbytes],
        }
        offset += array.nbytes
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    path.write_bytes(struct.pack("<Q", len(text)) + text + b"".join(a.tobytes() for a in tensors.values()))


def read_safetensors(path):
    data = pathlib.Path(path).read_bytes()
    size = struct.unpack("<Q", data[:8])[0]
    kinds = {"F32": numpy.float32, "F64": numpy.float64, "I32": numpy.int32, "I64": numpy.int64}
    return {
        name: numpy.frombuffer(
            data[8 + size + e["data_offsets"][0] : 8 + size + e["data_offsets"][1]], kinds[e["dtype"]]
        ).reshape(e["shape"])
        for name, e in json.loads(data[8 : 8 + size]).items()
        if name != "__metadata__"
    }


def encoder_tensors(random, hidden, layers, inner, buckets, rows=TOKENS):
    def normal(*shape, scale=0.3, shift=0.0):
        return (random.standard_normal(shape) * scale + shift).astype(numpy.float32)

    tensors = {"embeddings.word_embeddings.weight": normal(rows, hidden, scale=1.0)}

    def norm(name):
        tensors[name + ".weight"] = normal(hidden, shift=1.0)
        tensors[name + ".bias"] = normal(hidden)

    def linear(name, outputs, inputs):
        tensors[name + ".weight"] = normal(outputs, inputs)
        tensors[name + ".bias"] = normal(outputs)

    norm("embeddings.LayerNorm")
    tensors["encoder.rel_embeddings.weight"] = normal(2 * buckets, hidden, scale=1.0)
    norm("encoder.LayerNorm")
    for n in range(layers):
        layer = f"encoder.layer.{n}."
        for part in ("query_proj", "key_proj", "value_proj"):
            linear(layer + "attention.self." + part, hidden, hidden)
        linear(layer + "attention.output.dense", hidden, hidden)
        norm(layer + "attention.output.LayerNorm")
        linear(layer + "intermediate.dense", inner, hidden)
        linear(layer + "output.dense", hidden, inner)
        norm(layer + "output.LayerNorm")
    return tensors, linear, norm


def encoder_config(hidden, layers, inner, buckets, rows):
    return {
        "model_type": "deberta-v2",
        "hidden_size": hidden,
        "num_hidden_layers": layers,
        "num_attention_heads": 2,
        "intermediate_size": inner,
        "vocab_size": rows,
        "max_position_embeddings": 512,
        "relative_attention": True,
        "position_buckets": buckets,
        "pos_att_type": "p2c|c2p",
        "share_att_key": True,
        "norm_rel_ebd": "layer_norm",
        "position_biased_input": False,
        "type_vocab_size": 0,
        "pad_token_id": 0,
    }


def make_model(folder, head, seed=1, labels=("negative", "neutral", "positive"), **settings):
    """head: "sequence", "token", "entity" (ReCoRD), "span", "lm" or "rtd". Returns the folder."""
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    hidden, layers, inner, buckets = 16, 2, 24, 32
    random = numpy.random.default_rng(seed)
    tensors, linear, norm = encoder_tensors(random, hidden, layers, inner, buckets)
    whole = {"deberta." + name: array for name, array in tensors.items()}
    tensors.clear()
    if head in ("sequence", "token", "entity"):
        if head == "sequence":
            linear("pooler.dense", hidden, hidden)
        if head == "entity":
            linear("proj", hidden, hidden)
        linear("classifier", len(labels), hidden)
    elif head == "span":
        linear("qa_outputs", 2, hidden)
    elif head == "rtd":
        linear("mask_predictions.dense", hidden, hidden)
        norm("mask_predictions.LayerNorm")
        linear("mask_predictions.classifier", 1, hidden)
    else:
        linear("lm_predictions.lm_head.dense", hidden, hidden)
        norm("lm_predictions.lm_head.LayerNorm")
        tensors["lm_predictions.lm_head.bias"] = random.standard_normal(TOKENS).astype(numpy.float32)
    write_safetensors(folder / "model.safetensors", whole | tensors)
    config = encoder_config(hidden, layers, inner, buckets, TOKENS) | {
        "architectures": [
            "DebertaV2For"
            + {
                "sequence": "SequenceClassification",
                "token": "TokenClassification",
                "entity": "TokenClassification",
                "span": "QuestionAnswering",
                "lm": "MaskedLM",
                "rtd": "PreTraining",
            }[head]
        ]
    }
    if head in ("sequence", "token"):
        config["id2label"] = {str(i): label for i, label in enumerate(labels)}
    (folder / "config.json").write_text(json.dumps(config | settings))
    shutil.copy(SPM, folder / "spm.model")
    return folder


def with_positions(folder, seed=7):
    """The model with a table of absolute positions, which the mask decoder reads. Returns the folder."""
    config = json.loads((folder / "config.json").read_text())
    random, tensors = numpy.random.default_rng(seed), dict(read_safetensors(folder / "model.safetensors"))
    tensors["deberta.embeddings.position_embeddings.weight"] = random.standard_normal(
        (config["max_position_embeddings"], config["hidden_size"])
    ).astype(numpy.float32)
    write_safetensors(folder / "model.safetensors", tensors)
    return folder


def make_extractor(folder, seed=1, **settings):
    """A GLiNER model of the mode markerV0 with an LSTM and a projection. Returns the folder."""
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    hidden, layers, inner, buckets, columns = 16, 2, 24, 32, 12
    rows = 925 + 1 + 3  # pieces, [MASK], the marks
    random = numpy.random.default_rng(seed)
    tensors, linear, _ = encoder_tensors(random, hidden, layers, inner, buckets, rows)
    whole = {"token_rep_layer.bert_layer.model." + name: array for name, array in tensors.items()}
    tensors.clear()
    linear("token_rep_layer.projection", columns, hidden)
    for direction in ("", "_reverse"):
        for part, inputs in (("ih", columns), ("hh", columns // 2)):
            linear("lstm", 2 * columns, inputs)
            for kind in ("weight", "bias"):
                tensors[f"rnn.lstm.{kind}_{part}_l0{direction}"] = tensors.pop("lstm." + kind)
    for name, inputs in (
        ("prompt_rep_layer", columns),
        ("span_rep_layer.span_rep_layer.project_start", columns),
        ("span_rep_layer.span_rep_layer.project_end", columns),
        ("span_rep_layer.span_rep_layer.out_project", 2 * columns),
    ):
        linear(name + ".0", 4 * columns, inputs)
        linear(name + ".3", columns, 4 * columns)
    write_safetensors(folder / "model.safetensors", whole | tensors)
    config = {
        "span_mode": "markerV0",
        "hidden_size": columns,
        "max_width": 3,
        "encoder_config": encoder_config(hidden, layers, inner, buckets, rows),
    }
    (folder / "gliner_config.json").write_text(json.dumps(config | settings))
    (folder / "tokenizer_config.json").write_text('{"tokenizer_class": "DebertaV2Tokenizer"}')
    shutil.copy(SPM, folder / "spm.model")
    return folder
