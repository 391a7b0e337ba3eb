"""What `analyze --show` shows, by plain sums in NumPy over a model's own weights and hidden states."""

import csv
import io
import json

import numpy

from models import ROOT, read_safetensors

TEXT = "a fine film with 2 good parts"
MASKED = "a [MASK] film with [MASK] parts"
FILL, DETECT = ROOT / "models/fill", ROOT / "models/detect"
HEADS, SIZE, ROWS = 2, 8, 64  # of the models that tests make: heads, their size, rows of the relative table


def table(done):
    """The lines of a tsv answer as dicts."""
    assert done.returncode == 0, done.stderr
    return list(csv.DictReader(io.StringIO(done.stdout), delimiter="\t", quoting=csv.QUOTE_NONE))


def an_object(done):
    assert done.returncode == 0, done.stderr
    (answer,) = json.loads(done.stdout)
    return answer


def weights_of(folder):
    return {
        name.removeprefix("deberta."): array.astype(float)
        for name, array in read_safetensors(folder / "model.safetensors").items()
    }


def norm(x, weights, name, eps=1e-7):
    x = (x - x.mean(-1, keepdims=True)) / numpy.sqrt(x.var(-1, keepdims=True) + eps)
    return x * weights[f"{name}.weight"] + weights[f"{name}.bias"]


def by_heads(x):
    """[rows, D] -> [H, rows, K]"""
    return x.reshape(len(x), HEADS, SIZE).transpose(1, 0, 2)


def row_of(distance, most=512):
    """The row of the relative table (docs/concepts/model.md#relative-positions)."""
    middle, size = ROWS // 4, abs(distance)
    if size > middle:
        share = numpy.log(size / middle) / numpy.log((most - 1) / middle)
        size = int(numpy.ceil(share * (middle - 1))) + middle
    return size * (1 if distance > 0 else -1) + ROWS // 2


def linear(x, weights, name):
    return x @ weights[f"{name}.weight"].T + weights[f"{name}.bias"]
