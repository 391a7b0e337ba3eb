"""convert: what it writes, reports and refuses. What is left when it is interrupted: test_convert_stopped.py."""

import json
import shutil

import numpy
import pytest

from conversion_models import contents, make_v1_model, write_bin, write_hostile_bin
from models import make_model, read_safetensors, write_safetensors


@pytest.fixture
def ids(tmp_path):
    values = numpy.array([[1, 20, 30, 40, 50, 2], [1, 60, 70, 2, 0, 0]], numpy.int32)
    write_safetensors(
        tmp_path / "ids.safetensors", {"input_ids": values, "attention_mask": (values != 0).astype(numpy.int32)}
    )
    return tmp_path / "ids.safetensors"


def outputs(deberta, model, ids, out):
    done = deberta("forward", "-m", model, "--ids", ids, "-o", out)
    assert done.returncode == 0, done.stderr
    return out.read_bytes()


def rows(done):
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_convert_writes_a_whole_model_directory(deberta, sequence_model, tmp_path, ids):
    target = tmp_path / "a"
    done = deberta("convert", "-m", sequence_model, "--to", target, "--verify")
    assert done.returncode == 0 and "verified" in done.stderr and "the same hidden states and logits" in done.stderr
    assert sorted(p.name for p in target.iterdir()) == [
        "config.json",
        "deberta.manifest.json",
        "model.safetensors",
        "spm.model",
    ]
    assert (target / "spm.model").read_bytes() == (sequence_model / "spm.model").read_bytes()
    assert outputs(deberta, sequence_model, ids, tmp_path / "x") == outputs(deberta, target, ids, tmp_path / "y")
    checked = deberta("check", "--strict", "-m", target)
    assert checked.returncode == 0 and ": 0 errors, 0 warnings" in checked.stderr


def test_convert_keeps_what_only_python_reads(deberta, sequence_model, tmp_path):
    """As Python's json writes and reads it: integers beyond 64 bits, non-finite numbers, a lone surrogate, a duplicate
    key."""
    model = tmp_path / "m"
    shutil.copytree(sequence_model, model)
    config = json.loads((model / "config.json").read_text())
    odd = {
        "big": 10**30,
        "far": [float("inf"), -float("inf"), 1e-5],
        "half": "\ud800",
        "hidden_dropout_prob": "x",
        "pad_token_id": -1,
    }
    text = json.dumps(config | odd | {"nan": float("nan")})
    (model / "config.json").write_text(text[:-1] + f', "big": {10**31}}}')
    done = deberta("convert", "-m", model, "--to", tmp_path / "a")
    assert done.returncode == 0 and done.stderr.count('key "big" appears more than once; its last value counts') == 1
    written = json.loads((tmp_path / "a/config.json").read_text())
    assert {key: written[key] for key in odd} == odd | {"big": 10**31} and written["nan"] != written["nan"]


def test_convert_reports_what_changed_in_every_format(deberta, sequence_model, tmp_path):
    done = deberta("convert", "-m", sequence_model, "--to", tmp_path / "a", "--dtype", "bf16", "-f", "jsonl")
    cast = [row for row in rows(done) if row["change"] == "cast"]
    assert len(cast) == len(read_safetensors(sequence_model / "model.safetensors"))
    assert cast[0]["detail"] == "F32 to BF16"
    tsv = deberta("convert", "-m", sequence_model, "--to", tmp_path / "b").stdout.splitlines()
    assert tsv[0] == "place\tchange\tdetail" and 'config.json\twritten\tpooler_hidden_act: "gelu" (was missing)' in tsv
    document = json.loads(deberta("convert", "-m", sequence_model, "--to", tmp_path / "c", "-f", "json").stdout)
    assert {
        "place": "config.json",
        "change": "written",
        "detail": "max_relative_positions: 512 (was missing)",
    } in document


@pytest.mark.parametrize("dtype", ["bf16", "fp16"])
def test_a_narrower_type_is_verified_to_its_rounding(deberta, sequence_model, tmp_path, dtype):
    done = deberta("convert", "-m", sequence_model, "--to", tmp_path / "a", "--dtype", dtype, "--verify")
    assert done.returncode == 0 and "differ by at most" in done.stderr, done.stderr
    wide = deberta("convert", "-m", tmp_path / "a", "--to", tmp_path / "b", "--dtype", "fp32", "--verify")
    assert wide.returncode == 0 and "the same hidden states and logits" in wide.stderr


def test_shards_give_the_same_answers(deberta, sequence_model, tmp_path, ids):
    done = deberta("convert", "-m", sequence_model, "--to", tmp_path / "a", "--shard-size", "20k", "--verify")
    assert done.returncode == 0 and (tmp_path / "a/model.safetensors.index.json").exists(), done.stderr
    assert outputs(deberta, sequence_model, ids, tmp_path / "x") == outputs(
        deberta, tmp_path / "a", ids, tmp_path / "y"
    )


def test_version_1_to_2_and_back_is_bitwise_with_the_same_answers(deberta, tmp_path, ids):
    model = make_v1_model(tmp_path / "m")
    for source, target, layout in (
        ("m", "v1", "v1"),
        ("v1", "v2", "v2"),
        ("v2", "back", "v1"),
        ("back", "v2again", "v2"),
    ):
        done = deberta("convert", "-m", tmp_path / source, "--to", tmp_path / target, "--layout", layout, "--verify")
        assert done.returncode == 0, done.stderr
    assert contents(tmp_path / "v1") == contents(tmp_path / "back")
    assert contents(tmp_path / "v2") == contents(tmp_path / "v2again") != contents(tmp_path / "v1")
    answers = [outputs(deberta, folder, ids, tmp_path / "x") for folder in (model, tmp_path / "v1", tmp_path / "v2")]
    assert answers[0] == answers[1] == answers[2]


def test_version_1_cannot_hold_every_model_of_version_2(deberta, sequence_model, tmp_path):
    done = deberta("convert", "-m", sequence_model, "--to", tmp_path / "a", "--layout", "v1")
    assert done.returncode == 1 and done.stdout == "" and not (tmp_path / "a").exists()
    for reason in ("share_att_key is true", "norm_rel_ebd", "position_buckets is 32", "key_proj.bias"):
        assert reason in done.stderr


def test_head_names_go_both_ways(deberta, language_model, tmp_path, ids):
    deberta("convert", "-m", language_model, "--to", tmp_path / "hf", "--head-names", "hf", "--verify")
    assert "cls.predictions.transform.dense.weight" in read_safetensors(tmp_path / "hf/model.safetensors")
    deberta("convert", "-m", tmp_path / "hf", "--to", tmp_path / "back", "--verify")
    deberta("convert", "-m", language_model, "--to", tmp_path / "a")
    assert (tmp_path / "back/model.safetensors").read_bytes() == (tmp_path / "a/model.safetensors").read_bytes()
    assert outputs(deberta, language_model, ids, tmp_path / "x") == outputs(
        deberta, tmp_path / "hf", ids, tmp_path / "y"
    )


def test_convert_refuses_what_would_lose_something(deberta, sequence_model, tmp_path):
    model = shutil.copytree(sequence_model, tmp_path / "m")
    before = contents(model)
    for words, code, message in (
        ([], 2, "--output-dir: expected a new folder"),
        (["--to", model], 2, "expected a folder outside the model"),
        (["--to", model / "sub"], 2, "expected a folder outside the model"),
        (["--to", tmp_path / "x/../m"], 2, "expected a folder outside the model"),
        (["--to", tmp_path], 1, "expected a new or empty folder"),
        (["--to", tmp_path / "absent/a"], 1, "cannot create"),
        (["--to", tmp_path / "a", "--dtype", "fp8"], 2, "keep, fp32, bf16, fp16, int8"),
        (["--to", tmp_path / "a", "--layout", "v3"], 2, "keep, v1, v2"),
        (["--to", tmp_path / "a", "text"], 2, ""),
    ):
        (tmp_path / "x").mkdir(exist_ok=True)
        done = deberta("convert", "-m", model, *words)
        assert done.returncode == code and message in done.stderr and done.stdout == "", (words, done.stderr)
    assert contents(model) == before and sorted(p.name for p in tmp_path.iterdir()) == ["m", "x"]


def test_an_fp16_overflow_names_the_tensor_and_writes_nothing(deberta, sequence_model, tmp_path):
    model = shutil.copytree(sequence_model, tmp_path / "m")
    tensors = {name: array.copy() for name, array in read_safetensors(model / "model.safetensors").items()}
    tensors["classifier.bias"][1] = -1e5
    write_safetensors(model / "model.safetensors", tensors)
    done = deberta("convert", "-m", model, "--to", tmp_path / "a", "--dtype", "fp16")
    assert done.returncode == 1 and "classifier.bias: the value -100000 is too large for F16" in done.stderr
    assert [p.name for p in tmp_path.iterdir()] == ["m"]


def test_verify_opens_the_source_with_the_options_given(deberta, sequence_model, tmp_path):
    model = shutil.copytree(sequence_model, tmp_path / "m")
    tensors = read_safetensors(model / "model.safetensors")
    (model / "model.safetensors").unlink()
    write_bin(model / "pytorch_model.bin", tensors)
    bias = tensors["classifier.bias"]
    data = (model / "pytorch_model.bin").read_bytes()
    # its CRC-32 no longer matches
    (model / "pytorch_model.bin").write_bytes(data.replace(bias.tobytes(), (bias + 1).tobytes()))
    refused = deberta("convert", "-m", model, "--to", tmp_path / "a", "--verify")
    assert refused.returncode == 1 and "CRC" in refused.stderr
    done = deberta("convert", "-m", model, "--to", tmp_path / "a", "--verify", "--no-crc")
    assert done.returncode == 0 and "the same hidden states and logits" in done.stderr, done.stderr


@pytest.mark.parametrize("verb", ["classify", "convert", "check", "inspect", "forward"])
@pytest.mark.parametrize("is_zip", [True, False])
def test_a_pickle_is_never_run(deberta, sequence_model, tmp_path, ids, verb, is_zip):
    model = shutil.copytree(sequence_model, tmp_path / "m")
    (model / "model.safetensors").unlink()
    victim = tmp_path / "created"
    write_hostile_bin(model / "pytorch_model.bin", victim, is_zip)
    words = {
        "classify": ["text"],
        "convert": ["--to", tmp_path / "a"],
        "forward": ["--ids", ids, "-o", tmp_path / "o"],
    }.get(verb, [])
    done = deberta(verb, "-m", model, *words)
    assert done.returncode == 1 and "pytorch_model.bin" in done.stdout + done.stderr
    assert not victim.exists() and not (tmp_path / "a").exists()


def test_the_count_of_a_head_without_names_is_written(deberta, tmp_path):
    """transformers makes two classes where config.json says nothing."""
    model = make_model(tmp_path / "model", "sequence", labels=("a", "b", "c"))
    config = json.loads((model / "config.json").read_text())
    for key in ("id2label", "label2id", "num_labels"):
        config.pop(key, None)
    (model / "config.json").write_text(json.dumps(config))
    assert deberta("convert", "-m", model, "--to", tmp_path / "whole", "--verify").returncode == 0
    assert json.loads((tmp_path / "whole/config.json").read_text())["num_labels"] == 3
    (model / "config.json").write_text(json.dumps(config | {"num_labels": 2}))
    assert "expected 2 rows, as num_labels says, got 3" in deberta("check", "-m", model).stdout
    names = {"id2label": {"0": "a", "1": "b", "2": "c"}, "num_labels": 7}
    (model / "config.json").write_text(json.dumps(config | names))
    assert deberta("convert", "-m", model, "--to", tmp_path / "named").returncode == 0
    assert json.loads((tmp_path / "named/config.json").read_text())["num_labels"] == 3
