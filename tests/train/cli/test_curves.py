"""The first 20 steps of a small run for each objective, with dropout, as curves.json has them: what changes the numbers
of training changes these.

Remake after a change that is meant: .venv/bin/python tests/train/cli/test_curves.py   (the difference of the file shows
what it did)"""

import json
import pathlib
import subprocess
import tempfile

import pytest

from conftest import BINARY, HANG_SECONDS, SMALL, environment_in, log_of, make_model, write_corpus

CURVES = pathlib.Path(__file__).with_name("curves.json")
RUNS = {
    "mlm": ["--objective", "mlm"],
    "mlm without the mask decoder": ["--objective", "mlm", "--decoder-passes", "0"],
    "causal": ["--objective", "causal"],
}
TOLERANCE = 1e-5  # relative; processors and kernels add in other orders


def run(folder, *words):
    done = subprocess.run(
        [BINARY, *map(str, words)],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        env=environment_in(folder),
        timeout=HANG_SECONDS,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def curve_of(folder, name, kernels, tokenizer, corpus):
    """A row for each step: loss, norm of the gradient, accuracy, labels."""
    run(
        folder,
        "pretrain",
        "--tokenizer-name",
        tokenizer,
        "-o",
        folder / "out",
        *SMALL[:-2],
        "--max-steps",
        "20",
        "--logging-steps",
        "1",
        "--kernels",
        kernels,
        *RUNS[name],
        corpus,
    )
    steps = [line for line in log_of(folder / "out") if "loss" in line]
    assert [line["step"] for line in steps] == list(range(1, 21))
    return [[line["loss"], line["grad_norm"], line["accuracy"], line["labels_per_step"]] for line in steps]


def kernels_here(folder):
    """The best of this processor, and those that most processors have."""
    return ["auto", *({"avx2"} & set(json.loads(run(folder, "info", "--format", "jsonl"))["kernels_available"]))]


@pytest.mark.parametrize("name", RUNS)
def test_a_run_goes_as_it_went(name, tokenizer, corpus, tmp_path):
    expected = json.loads(CURVES.read_text())[name]
    for kernels in kernels_here(tmp_path):
        folder = tmp_path / kernels
        folder.mkdir()
        for step, (got, wanted) in enumerate(
            zip(curve_of(folder, name, kernels, tokenizer, corpus), expected, strict=True), 1
        ):
            assert got[:2] == pytest.approx(wanted[:2], rel=TOLERANCE), f"{kernels}, step {step}: loss and norm"
            assert got[2:] == wanted[2:], f"{kernels}, step {step}: accuracy and labels"


def remake():
    curves = {}
    for name in RUNS:
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            curves[name] = curve_of(
                folder,
                name,
                "auto",
                make_model(folder / "tokenizer", "lm", seed=2),
                write_corpus(folder / "corpus.txt"),
            )
    rows = {name: ",\n".join("    " + json.dumps(row) for row in curve) for name, curve in curves.items()}
    CURVES.write_text("{\n" + ",\n".join(f'  "{name}": [\n{text}\n  ]' for name, text in rows.items()) + "\n}\n")


if __name__ == "__main__":
    remake()
