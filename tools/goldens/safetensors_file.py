"""The safetensors format, read and written: 8 bytes of header length, a JSON header, the bytes of the tensors."""

import json
import struct

import numpy as np

DTYPES = {"F64": "<f8", "F32": "<f4", "I32": "<i4", "I64": "<i8"}


def read_tensors(path):
    """Arrays by name."""
    with open(path, "rb") as file:
        data = file.read()
    (size,) = struct.unpack("<Q", data[:8])
    header = json.loads(data[8 : 8 + size])
    header.pop("__metadata__", None)
    tensors = {}
    for name, entry in header.items():
        begin, end = (8 + size + offset for offset in entry["data_offsets"])
        tensors[name] = np.frombuffer(data[begin:end], DTYPES[entry["dtype"]]).reshape(entry["shape"])
    return tensors


def pack_tensors(tensors):
    """The bytes of a file: tensors in the order of their names, header padded to 8 bytes."""
    names = {np.dtype(dtype): name for name, dtype in DTYPES.items()}
    header, body = {}, b""
    for name in sorted(tensors):
        array = np.asarray(tensors[name])
        begin = len(body)
        body += array.tobytes()
        header[name] = {"dtype": names[array.dtype], "shape": list(array.shape), "data_offsets": [begin, len(body)]}
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    return struct.pack("<Q", len(text)) + text + body
