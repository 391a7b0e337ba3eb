"""Folders as sentence-transformers 5 and 6 write them (tests/support/make_published_fixtures.py): the same vectors and
scores."""

import json
import pathlib
import shutil

import numpy
import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PUBLISHED = ROOT / "tests/golden/published"
SENTENCES = sorted(path.name for path in PUBLISHED.glob("sentence[56]_*"))
CROSSES = sorted(path.name for path in PUBLISHED.glob("cross[56]_*"))


def make_folder(folder, name):
    """The transformer that all of them share, with the files of one folder copied over it."""
    shutil.copytree(PUBLISHED / "v3", folder)
    shutil.copytree(PUBLISHED / name, folder, dirs_exist_ok=True)
    shutil.copy(ROOT / "tests/golden/tokenizer/bytes.model", folder / "spm.model")
    return folder, json.loads((folder / "expected.json").read_text())


def run(deberta, *words):
    done = deberta(*words)
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()], done.stderr


@pytest.mark.parametrize("name", SENTENCES)
def test_vectors_are_those_of_sentence_transformers(deberta, tmp_path, name):
    folder, expected = make_folder(tmp_path / "m", name)
    rows, said = run(deberta, "embed", "-m", folder, "-f", "jsonl", *expected["texts"])
    assert numpy.allclose([row["embedding"] for row in rows], expected["vectors"], atol=1e-5), said
    assert deberta("check", "-m", folder, "--strict").returncode == 0


def test_the_note_says_what_the_modules_do(deberta, tmp_path):
    for name, said in (
        ("sentence6_list", "mean + cls"),
        ("sentence6_residual_to_5", "mean, dense to 5 with residual, normalized"),
        ("sentence6_layers", "max, dense to 8, layer norm, normalized"),
        ("sentence6_truncated", "mean, cut to 6"),
        ("sentence6_prompt", 'prompt "what is: ", mean'),
    ):
        folder, expected = make_folder(tmp_path / name, name)
        assert (
            f"note: pooling as modules.json says: {said}\n"
            in run(deberta, "embed", "-m", folder, "-f", "jsonl", *expected["texts"])[1]
        )


@pytest.mark.parametrize("name", [name for name in CROSSES if not name.endswith("relu")])
def test_scores_are_those_of_the_cross_encoder(deberta, tmp_path, name):
    folder, expected = make_folder(tmp_path / "m", name)
    rows, _ = run(deberta, "classify", "-m", folder, "-f", "jsonl", "--top-k", "3", "--pair", *expected["pair"])
    scores = {entry["label"]: entry["score"] for entry in rows[0]["labels"]}
    assert numpy.allclose([scores[f"LABEL_{i}"] for i in range(3)], expected["scores"], atol=1e-5)


@pytest.mark.parametrize("name", [name for name in CROSSES if name.endswith("relu")])
def test_an_activation_that_is_not_computed_is_refused_until_one_is_chosen(deberta, tmp_path, name):
    folder, _ = make_folder(tmp_path / "m", name)
    done = deberta("classify", "-m", folder, "--pair", "a", "b")
    assert done.returncode == 1 and done.stdout == ""
    assert (
        "activation_fn: torch.nn.modules.activation.ReLU is not computed here; choose a function with --activation"
        in done.stderr
    )
    assert deberta("classify", "-m", folder, "--activation", "none", "--pair", "a", "b").returncode == 0
    assert deberta("check", "-m", folder).returncode == 0
