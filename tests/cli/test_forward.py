"""forward, inspect and check on tiny models."""

import json

import numpy
import pytest

from models import make_extractor, make_model, read_safetensors, write_safetensors


@pytest.fixture
def ids_file(tmp_path):
    ids = numpy.array([[1, 20, 30, 40, 50, 2], [1, 60, 70, 2, 0, 0]], numpy.int32)
    mask = (ids != 0).astype(numpy.int32)
    mask[0, 2] = 0  # a hole
    write_safetensors(tmp_path / "in.safetensors", {"input_ids": ids, "attention_mask": mask})
    return tmp_path / "in.safetensors", ids, mask


def test_forward_writes_every_layer_and_the_terms_add_up(deberta, sequence_model, tmp_path, ids_file):
    path, _ids, mask = ids_file
    out = tmp_path / "out.safetensors"
    done = deberta("forward", "-m", sequence_model, "--ids", path, "--scores", "-o", out)
    assert done.returncode == 0, done.stderr
    got = read_safetensors(out)
    assert {"hidden.0", "hidden.1", "hidden.2", "pooled", "logits", "layer.1.c2c", "layer.2.probabilities"} <= set(got)
    assert got["hidden.2"].shape == (2, 6, 16) and got["logits"].shape == (2, 3)
    for layer in (0, 1, 2):
        assert not got[f"hidden.{layer}"][mask == 0].any() and got[f"hidden.{layer}"][mask == 1].all(-1).any()
    for layer in (1, 2):
        total = sum(got[f"layer.{layer}.{term}"] for term in ("c2c", "c2p", "p2c")).astype(numpy.float64)
        probabilities = got[f"layer.{layer}.probabilities"]
        allowed = (mask[:, None, :, None] * mask[:, None, None, :]).astype(bool) & numpy.ones_like(total, bool)
        exponent = numpy.where(allowed, numpy.exp(total - total.max(-1, keepdims=True)), 0)
        expected = exponent / numpy.maximum(exponent.sum(-1, keepdims=True), 1e-300)
        assert numpy.abs(numpy.where(allowed, expected, 0) - probabilities).max() < 1e-5


@pytest.mark.parametrize("pair", [[], ["--pair"]])
def test_texts_become_arrays_and_their_outputs(deberta, sequence_model, tmp_path, pair):
    """`tokenize -o` writes what `forward --ids` reads; texts alone give the same bits, with the arrays beside them."""
    texts, out = ["a fine film", "tea", "the cat sat on the mat", "no"], tmp_path / "out.safetensors"
    told = deberta("tokenize", "-m", sequence_model, *pair, *texts, "-o", tmp_path / "ids.safetensors")
    assert told.returncode == 0 and told.stdout == "" and "input_ids [" in told.stderr, told.stderr
    arrays = read_safetensors(tmp_path / "ids.safetensors")
    encoded = [
        json.loads(line)
        for line in deberta("tokenize", "-m", sequence_model, *pair, *texts, "-f", "jsonl").stdout.splitlines()
    ]
    assert arrays["input_ids"].dtype == numpy.int64
    assert arrays["input_ids"].shape == (len(encoded), max(len(one["ids"]) for one in encoded))
    for i, one in enumerate(encoded):
        assert arrays["input_ids"][i][arrays["attention_mask"][i] == 1].tolist() == one["ids"]
        assert arrays["attention_mask"][i].sum() == len(one["ids"])
        assert arrays["token_type_ids"][i][: len(one["ids"])].tolist() == one.get("type_ids", [0] * len(one["ids"]))
    done = deberta("forward", "-m", sequence_model, *pair, *texts, "-o", out)
    assert done.returncode == 0, done.stderr
    assert (
        deberta(
            "forward", "-m", sequence_model, "--ids", tmp_path / "ids.safetensors", "-o", tmp_path / "by-ids"
        ).returncode
        == 0
    )
    got, by_ids = read_safetensors(out), read_safetensors(tmp_path / "by-ids")
    assert set(got) - set(by_ids) == set(arrays) and all(numpy.array_equal(got[name], arrays[name]) for name in arrays)
    assert all(numpy.array_equal(got[name], by_ids[name]) for name in by_ids)


def test_forward_reads_texts_as_other_verbs(deberta, sequence_model, tmp_path):
    broken = b"a\xffb".decode(errors="surrogateescape")
    done = deberta("forward", "-m", sequence_model, broken, "-o", tmp_path / "out.safetensors")
    told = deberta("tokenize", "-m", sequence_model, broken, "-f", "jsonl")
    assert "1 row had invalid UTF-8" in done.stderr and "1 row had invalid UTF-8" in told.stderr
    assert read_safetensors(tmp_path / "out.safetensors")["input_ids"][0].tolist() == json.loads(told.stdout)["ids"]


def test_arrays_tell_what_was_cut_and_skip_nothing(deberta, sequence_model, tmp_path):
    for words in (["tokenize", "-o", tmp_path / "a.safetensors"], ["embed", "-o", tmp_path / "a.npy"]):
        done = deberta(*words, "-m", sequence_model, "--max-tokens", 8, "many words in this text indeed", "few")
        assert done.returncode == 0 and "1 of 2 rows cut to 8 tokens" in done.stderr, done.stderr
        done = deberta(*words, "-m", sequence_model, "--on-bad-row", "skip", "few")
        assert done.returncode == 2 and "--on-bad-row: expected report or fail with an array" in done.stderr


def test_rows_that_cannot_be_read_leave_no_arrays(deberta, sequence_model, tmp_path):
    done = deberta(
        "tokenize",
        "-m",
        sequence_model,
        "--input-format",
        "jsonl",
        "-o",
        tmp_path / "ids.safetensors",
        stdin='{"text": "a"}\n{}\n',
    )
    assert done.returncode == 1 and "standard input:2" in done.stderr and not (tmp_path / "ids.safetensors").exists()


def test_forward_takes_a_mask_from_another_file_and_chosen_layers(deberta, sequence_model, tmp_path, ids_file):
    path, ids, _mask = ids_file
    write_safetensors(tmp_path / "mask.safetensors", {"attention_mask": (ids != 0).astype(numpy.int32)})
    deberta(
        "forward",
        "-m",
        sequence_model,
        "--ids",
        path,
        "--mask",
        tmp_path / "mask.safetensors",
        "--layers",
        "1",
        "-o",
        tmp_path / "a",
    )
    got = read_safetensors(tmp_path / "a")
    assert set(got) == {"hidden.1", "pooled", "logits"} and got["hidden.1"][0, 2].any()


def test_forward_takes_a_mask_for_each_query_and_given_relative_positions(deberta, sequence_model, tmp_path, ids_file):
    path, ids, mask = ids_file
    deberta("forward", "-m", sequence_model, "--ids", path, "-o", tmp_path / "expected")
    # below half of the 32 buckets, each distance has a bucket of its own
    distances = numpy.arange(6)[:, None] - numpy.arange(6)[None]
    write_safetensors(
        tmp_path / "in",
        {
            "input_ids": ids,
            "attention_mask": mask[:, :, None] * mask[:, None, :],
            "relative_buckets": distances.astype(numpy.int64),
        },
    )
    done = deberta("forward", "-m", sequence_model, "--ids", tmp_path / "in", "-o", tmp_path / "out")
    assert done.returncode == 0, done.stderr
    expected, got = read_safetensors(tmp_path / "expected"), read_safetensors(tmp_path / "out")
    assert numpy.array_equal(got["hidden.2"][mask == 1], expected["hidden.2"][mask == 1])
    write_safetensors(
        tmp_path / "in",
        {"input_ids": ids, "attention_mask": mask, "relative_buckets": numpy.zeros((6, 6), numpy.int64)},
    )
    deberta("forward", "-m", sequence_model, "--ids", tmp_path / "in", "-o", tmp_path / "out")
    assert numpy.abs(read_safetensors(tmp_path / "out")["hidden.2"] - expected["hidden.2"]).max() > 1e-2


def test_forward_gives_the_rows_of_padding_only_as_transformers(deberta, sequence_model, tmp_path, ids_file):
    path, _ids, mask = ids_file
    for compat, has_rows in (("original", False), ("hf", True)):
        deberta("forward", "-m", sequence_model, "--ids", path, "--compat", compat, "-o", tmp_path / compat)
        assert read_safetensors(tmp_path / compat)["hidden.2"][mask == 0].any(-1).all() == has_rows
    both = [read_safetensors(tmp_path / compat)["hidden.2"][mask == 1] for compat in ("original", "hf")]
    assert numpy.array_equal(*both)


@pytest.mark.parametrize(
    "tensors, message",
    [
        (
            {"input_ids": numpy.ones((1, 3), numpy.int32), "attention_mask": numpy.ones((1, 3, 2), numpy.int32)},
            "attention_mask: expected shape [1, 3, 3], got",
        ),
        (
            {"input_ids": numpy.ones((1, 3), numpy.int32), "relative_buckets": numpy.ones((1, 3), numpy.int32)},
            "relative_buckets: expected shape [3, 3], got",
        ),
        ({"other": numpy.zeros((1, 2), numpy.int32)}, "no tensor input_ids"),
        ({"input_ids": numpy.zeros(3, numpy.int32)}, "input_ids: expected shape [B, L], got [3]"),
        ({"input_ids": numpy.zeros((1, 3), numpy.float32)}, "input_ids"),
        ({"input_ids": numpy.full((1, 3), 99999, numpy.int32)}, "99999"),
        (
            {"input_ids": numpy.ones((1, 3), numpy.int32), "attention_mask": numpy.ones((1, 2), numpy.int32)},
            "attention_mask: expected shape",
        ),
        (
            {"input_ids": numpy.ones((1, 3), numpy.int32), "attention_mask": numpy.full((1, 3), 2, numpy.int32)},
            "expected 0 or 1, got 2",
        ),
    ],
)
def test_forward_refuses_wrong_inputs(deberta, sequence_model, tmp_path, tensors, message):
    write_safetensors(tmp_path / "in", tensors)
    done = deberta("forward", "-m", sequence_model, "--ids", tmp_path / "in", "-o", tmp_path / "out")
    assert done.returncode == 1 and message in done.stderr and not (tmp_path / "out").exists()


def test_inspect_lists_tensors_with_statistics(deberta, sequence_model):
    rows = [
        json.loads(line)
        for line in deberta("inspect", "-m", sequence_model, "--stats", "-f", "jsonl").stdout.splitlines()
    ]
    row = next(r for r in rows if r["name"] == "classifier.weight")
    assert row["dtype"] == "F32" and row["shape"] == "[3, 16]" and row["bytes"] == 192 and row["not_finite"] == 0
    assert row["min"] <= row["mean"] <= row["max"]


def test_inspect_shows_the_differences_of_two_models(deberta, sequence_model, tmp_path):
    assert deberta("inspect", "-m", sequence_model, "--diff", sequence_model, "--no-header").stdout == ""
    other = make_model(tmp_path / "other", "sequence", labels=("a", "b"))
    text = deberta("inspect", "-m", sequence_model, "--diff", other).stdout
    assert "classifier.weight\tshape [3, 16] and [2, 16]" in text


def test_check_finds_nothing_in_a_good_model(deberta, sequence_model):
    done = deberta("check", "-m", sequence_model)
    assert done.returncode == 0 and ": 0 errors" in done.stderr


def test_check_lists_all_that_is_wrong(deberta, tmp_path):
    model = make_model(tmp_path / "m", "sequence", num_hidden_layers=3, hidden_act="nonsense")
    done = deberta("check", "-m", model, "-f", "jsonl")
    assert done.returncode == 1 and "hidden_act" in done.stdout
    model = make_model(tmp_path / "n", "sequence", num_hidden_layers=3)
    done = deberta("check", "-m", model, "-f", "jsonl")
    assert done.returncode == 1 and "encoder.layer.2.attention.self.query_proj.weight" in done.stdout
    tensors = {k: v.copy() for k, v in read_safetensors(tmp_path / "n/model.safetensors").items()}
    tensors["classifier.bias"][0] = numpy.nan
    write_safetensors(tmp_path / "n/model.safetensors", tensors)
    assert "classifier.bias" in deberta("check", "-m", model).stdout
    (tmp_path / "n/spm.model").write_bytes(b"\x00")
    assert "spm.model" in deberta("check", "-m", model).stdout


def test_a_model_with_nan_weights_gives_an_error_never_a_number(deberta, sequence_model, tmp_path):
    model = make_model(tmp_path / "m", "sequence")
    tensors = {k: v.copy() for k, v in read_safetensors(model / "model.safetensors").items()}
    tensors["classifier.bias"][0] = numpy.nan
    write_safetensors(model / "model.safetensors", tensors)
    done = deberta("classify", "-m", model, "x")
    assert done.returncode == 1 and "!error" in done.stdout


def test_a_gliner_model_counts_distances_as_transformers_does(deberta, tmp_path):
    """They differ beyond the relative table; `extract` and gliner read such texts so, too."""
    model = make_extractor(tmp_path / "model")
    hidden = {}
    for name, words in {"plain": [], "transformers": ["--compat", "hf"]}.items():
        out = tmp_path / f"{name}.safetensors"
        done = deberta("forward", "-m", model, "a fine film with good parts " * 60, "-o", out, *words)
        assert done.returncode == 0, done.stderr
        hidden[name] = read_safetensors(out)["hidden.2"]
    assert hidden["plain"].shape[1] > 512 and numpy.array_equal(hidden["plain"], hidden["transformers"])
