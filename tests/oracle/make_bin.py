#!/usr/bin/env python3
"""Writes the fixtures of tests/golden/bin with PyTorch's own torch.save: one state dict as a zip archive, as a legacy
file and as safetensors. Needs torch and safetensors, which no test needs.

make_bin.py FOLDER"""

import pathlib
import sys

import torch
from safetensors.torch import save_file


def state_dict() -> dict[str, torch.Tensor]:
    torch.manual_seed(7)
    norm = torch.nn.LayerNorm(3)
    words = torch.nn.Embedding(4, 3)
    model = torch.nn.Module()
    model.deberta = torch.nn.ModuleDict(
        {"embeddings": torch.nn.ModuleDict({"word_embeddings": words, "LayerNorm": norm})}
    )
    weights = model.state_dict()  # an OrderedDict with the attribute _metadata
    weights["deberta.tied"] = words.weight.data
    weights["deberta.parameter"] = torch.nn.Parameter(torch.randn(2, 2))
    base = torch.arange(24, dtype=torch.float32)
    weights["deberta.part"] = base[6:12].view(2, 3)
    weights["deberta.transposed"] = base.view(2, 3, 4).permute(2, 0, 1)
    weights["deberta.every_second"] = base[1::2]
    weights["deberta.scalar"] = torch.tensor(2.5)
    weights["deberta.empty"] = torch.zeros(0, 5)
    for dtype in (
        torch.float64,
        torch.float16,
        torch.bfloat16,
        torch.int64,
        torch.int32,
        torch.int16,
        torch.int8,
        torch.uint8,
        torch.bool,
    ):
        weights[f"deberta.{str(dtype)[6:]}"] = torch.tensor([1, 0, 3], dtype=dtype)
    return weights


def main() -> None:
    folder = pathlib.Path(sys.argv[1])
    weights = state_dict()
    torch.save(weights, folder / "zip.bin")
    torch.save(weights, folder / "legacy.bin", _use_new_zipfile_serialization=False)
    save_file({name: tensor.data.clone().contiguous() for name, tensor in weights.items()}, folder / "same.safetensors")


if __name__ == "__main__":
    main()
