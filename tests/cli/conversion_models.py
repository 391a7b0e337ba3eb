"""What the tests of `convert` and `check` share: a model of version 1, comparison of folders, hostile pickles."""

import hashlib
import json
import os
import pathlib
import pickle
import shutil
import struct
import zipfile

import numpy

from models import TOKENS, make_model, read_safetensors, write_safetensors


def make_v1_model(folder, seed=5, **settings):
    """A sequence model of version 1 with the same tokenizer as the others."""
    folder = make_model(folder, "sequence", seed=seed)
    random = numpy.random.default_rng(seed)
    old = read_safetensors(folder / "model.safetensors")
    tensors = {
        name: array for name, array in old.items() if ".attention.self." not in name and "encoder.LayerNorm" not in name
    }
    tensors["deberta.encoder.rel_embeddings.weight"] = random.standard_normal((64, 16)).astype(numpy.float32)
    for n in range(2):
        own = f"deberta.encoder.layer.{n}.attention.self."
        for name, shape in {
            "in_proj.weight": (48, 16),
            "q_bias": (16,),
            "v_bias": (16,),
            "pos_proj.weight": (16, 16),
            "pos_q_proj.weight": (16, 16),
            "pos_q_proj.bias": (16,),
        }.items():
            tensors[own + name] = (random.standard_normal(shape) * 0.3).astype(numpy.float32)
    write_safetensors(folder / "model.safetensors", tensors)
    config = json.loads((folder / "config.json").read_text())
    config |= {
        "model_type": "deberta",
        "position_buckets": -1,
        "max_relative_positions": 32,
        "max_position_embeddings": 32,
        "share_att_key": False,
        "norm_rel_ebd": "none",
        "architectures": ["DebertaForSequenceClassification"],
    }
    (folder / "config.json").write_text(json.dumps(config | settings))
    (folder / "tokenizer_config.json").write_text(json.dumps({"tokenizer_class": "DebertaV2Tokenizer"}))
    return folder


def contents(folder):
    """{name: hash} of every file in and below a folder; None when there is none."""
    folder = pathlib.Path(folder)
    if not folder.exists():
        return None
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


class _Touch:
    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return os.system, (f"touch '{self.path}'",)


def write_hostile_bin(path, victim, is_zip):
    """A pytorch_model.bin that creates the file `victim` when its pickle is run."""
    data = pickle.dumps({"deberta.embeddings.word_embeddings.weight": _Touch(victim)}, protocol=2)
    if not is_zip:
        magic = pickle.dumps(0x1950A86A20F9469CFC6C, protocol=2) + pickle.dumps(1001, protocol=2)
        system = pickle.dumps({"protocol_version": 1001, "little_endian": True, "type_sizes": {}}, protocol=2)
        path.write_bytes(magic + system + data)
        return
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("archive/data.pkl", data)


def write_bin(path, tensors):
    """A pytorch_model.bin with {name: array of float32}, as torch.save writes it: a zip of a pickle and its
    storages."""

    def text(value):
        return b"X" + struct.pack("<I", len(value)) + value.encode()

    def number(value):
        return b"J" + struct.pack("<i", value)

    def numbers(values):
        return b"(" + b"".join(map(number, values)) + b"t"

    body = b""
    for key, (name, array) in enumerate(tensors.items()):
        storage = (
            b"("
            + text("storage")
            + b"ctorch\nFloatStorage\n"
            + text(str(key))
            + text("cpu")
            + number(array.size)
            + b"tQ"
        )
        strides = [s // array.itemsize for s in array.strides]
        body += (
            text(name)
            + b"ctorch._utils\n_rebuild_tensor_v2\n("
            + storage
            + number(0)
            + numbers(array.shape)
            + numbers(strides)
            + b"\x89ccollections\nOrderedDict\n)RtR"
        )
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("archive/data.pkl", b"\x80\x02}(" + body + b"u.")
        for key, array in enumerate(tensors.values()):
            archive.writestr(f"archive/data/{key}", array.tobytes())


def copy_of(model, folder):
    shutil.copytree(model, folder)
    return folder


__all__ = ["TOKENS", "contents", "copy_of", "make_v1_model", "write_bin", "write_hostile_bin"]
