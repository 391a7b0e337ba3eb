"""--kernels check on real rows of every small trained checkpoint: the kernels of this processor against the reference,
call by call. DEBERTA_LONG=1 (tools/long_checks models) takes three times as many rows."""

import json
import os
import pathlib
import re

import pytest

from conftest import SANITIZED

LINE = re.compile(r"check: (\w+): (\d+) calls compared with the reference, worst difference (\S+) \((.*)\)")
# fp32: some column of each checkpoint reaches 110 between layers, and 3e-4 is 2.5e-6 of it. bf16: both sides round sums
# in fp32 or double to 8 bits, so they may differ by one unit in the last place: 2^-4 for values between 8 and 16
# (gemm), 2^-5 between 4 and 8 (attention).
BOUNDS = {
    "fp32": {"gemm": 3e-4, "attention": 5e-6, "layer_norm": 4e-6, "embedding": 0},
    "bf16": {"gemm": 2**-4, "attention": 2**-5, "layer_norm": 4e-6, "embedding": 0},
}
# Operations that add in another order than the reference, so that some number of one row differs. Attention in bf16 is
# not among them: both sides round their sums to 8 bits and may agree in every number of a short row.
DIFFER = {"fp32": ("gemm", "attention", "layer_norm"), "bf16": ("gemm", "layer_norm")}
ROWS = {"nano-squad": 1}  # fewer than 4, since its contexts are long
MORE = 3 if os.environ.get("DEBERTA_LONG") == "1" else 1


def real_rows(name, model):
    """The verb and rows of the recorded examples."""
    recorded = json.loads((model / "expected.json").read_text())
    examples = recorded["examples"] if isinstance(recorded, dict) else recorded
    examples = examples[: 1 if SANITIZED else MORE * ROWS.get(name, 4)]  # a sanitizer makes the reference slow
    if name == "nano-squad":
        return "qa", [{"question": e["question"], "context": e["context"]} for e in examples]
    if name == "nano-sick":
        return "classify", [{"text": e["premise"], "text_pair": e["hypothesis"]} for e in examples]
    return {"nano-sst2": "classify", "nano-conll": "ner"}.get(name, "fill"), [{"text": e["text"]} for e in examples]


@pytest.mark.parametrize("dtype", BOUNDS)
@pytest.mark.parametrize("name", ["nano-sst2", "nano-conll", "nano-sick", "nano-squad", "nano-mlm", "nano-emd"])
def test_every_call_agrees_with_the_reference(deberta, shared, name, dtype):
    model = shared("reference/models/" + name)
    if model is None:
        pytest.skip(f"needs ../shared/reference/models/{name}")
    verb, rows = real_rows(name, model)
    words = (verb, "-m", model, "--dtype", dtype, "-f", "jsonl", "--input-format", "jsonl")
    lines = "".join(json.dumps(row) + "\n" for row in rows)
    checked, plain = deberta(*words, "--kernels", "check", stdin=lines), deberta(*words, stdin=lines)
    assert checked.returncode == 0, checked.stderr
    assert checked.stdout == plain.stdout != "", "the answers are those of the kernels, not of the reference"
    found = {
        operation: (int(calls), float(worst), where) for operation, calls, worst, where in LINE.findall(checked.stderr)
    }
    assert found.keys() == BOUNDS[dtype].keys(), checked.stderr
    for operation, (calls, worst, where) in found.items():
        print(f"{name} {dtype} {operation}: {calls} calls, worst {worst:.2g} {where}")
        assert calls > 0 and worst <= BOUNDS[dtype][operation], (operation, worst, where)
    if "avx2" in pathlib.Path("/proc/cpuinfo").read_text():
        for operation in DIFFER[dtype]:
            assert found[operation][1] > 0, f"{operation}: the reference was compared with itself"
