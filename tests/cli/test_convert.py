"""convert: what it writes, reports, refuses, and what is there after it was stopped at any moment."""
import json
import os
import random
import shutil
import signal
import subprocess
import time

import numpy
import pytest
from conftest import BINARY
from conversion_models import contents, make_v1_model, write_bin, write_hostile_bin
from models import ROOT, make_model, read_safetensors, write_safetensors

SHIM = ROOT / "tests/support/failing_calls.c"


@pytest.fixture
def ids(tmp_path):
    values = numpy.array([[1, 20, 30, 40, 50, 2], [1, 60, 70, 2, 0, 0]], numpy.int32)
    write_safetensors(tmp_path / "ids.safetensors", {"input_ids": values, "attention_mask": (values != 0).astype(numpy.int32)})
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
    assert sorted(p.name for p in target.iterdir()) == ["config.json", "deberta.manifest.json", "model.safetensors", "spm.model"]
    assert (target / "spm.model").read_bytes() == (sequence_model / "spm.model").read_bytes()
    assert outputs(deberta, sequence_model, ids, tmp_path / "x") == outputs(deberta, target, ids, tmp_path / "y")
    checked = deberta("check", "--strict", "-m", target)
    assert checked.returncode == 0 and ": 0 errors, 0 warnings" in checked.stderr


def test_convert_reports_what_changed_in_every_format(deberta, sequence_model, tmp_path):
    done = deberta("convert", "-m", sequence_model, "--to", tmp_path / "a", "--dtype", "bf16", "-f", "jsonl")
    cast = [row for row in rows(done) if row["change"] == "cast"]
    assert len(cast) == len(read_safetensors(sequence_model / "model.safetensors")) and cast[0]["detail"] == "F32 to BF16"
    tsv = deberta("convert", "-m", sequence_model, "--to", tmp_path / "b").stdout.splitlines()
    assert tsv[0] == "place\tchange\tdetail" and 'config.json\twritten\tpooler_hidden_act: "gelu" (was missing)' in tsv
    document = json.loads(deberta("convert", "-m", sequence_model, "--to", tmp_path / "c", "-f", "json").stdout)
    assert {"place": "config.json", "change": "written", "detail": 'max_relative_positions: 512 (was missing)'} in document


@pytest.mark.parametrize("dtype", ["bf16", "fp16"])
def test_a_narrower_type_is_verified_to_its_rounding(deberta, sequence_model, tmp_path, dtype):
    done = deberta("convert", "-m", sequence_model, "--to", tmp_path / "a", "--dtype", dtype, "--verify")
    assert done.returncode == 0 and "differ by at most" in done.stderr, done.stderr
    wide = deberta("convert", "-m", tmp_path / "a", "--to", tmp_path / "b", "--dtype", "fp32", "--verify")
    assert wide.returncode == 0 and "the same hidden states and logits" in wide.stderr


def test_shards_give_the_same_answers(deberta, sequence_model, tmp_path, ids):
    done = deberta("convert", "-m", sequence_model, "--to", tmp_path / "a", "--shard-size", "20k", "--verify")
    assert done.returncode == 0 and (tmp_path / "a/model.safetensors.index.json").exists(), done.stderr
    assert outputs(deberta, sequence_model, ids, tmp_path / "x") == outputs(deberta, tmp_path / "a", ids, tmp_path / "y")


def test_version_1_to_2_and_back_is_bitwise_with_the_same_answers(deberta, tmp_path, ids):
    model = make_v1_model(tmp_path / "m")
    for source, target, layout in (("m", "v1", "v1"), ("v1", "v2", "v2"), ("v2", "back", "v1"), ("back", "v2again", "v2")):
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
    assert outputs(deberta, language_model, ids, tmp_path / "x") == outputs(deberta, tmp_path / "hf", ids, tmp_path / "y")


def test_convert_refuses_what_would_lose_something(deberta, sequence_model, tmp_path):
    model = shutil.copytree(sequence_model, tmp_path / "m")
    before = contents(model)
    for words, code, message in (
            ([], 2, "--to: expected a new folder"),
            (["--to", model], 2, "expected a folder outside the model"),
            (["--to", model / "sub"], 2, "expected a folder outside the model"),
            (["--to", tmp_path / "x/../m"], 2, "expected a folder outside the model"),
            (["--to", tmp_path], 1, "expected a new or an empty folder"),
            (["--to", tmp_path / "absent/a"], 1, "cannot create"),
            (["--to", tmp_path / "a", "--dtype", "fp8"], 2, "keep, fp32, bf16, fp16, int8"),
            (["--to", tmp_path / "a", "--layout", "v3"], 2, "keep, v1, v2"),
            (["--to", tmp_path / "a", "text"], 2, "")):
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
    (model / "pytorch_model.bin").write_bytes(data.replace(bias.tobytes(), (bias + 1).tobytes()))  # its CRC-32 is now another
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
    words = {"classify": ["text"], "convert": ["--to", tmp_path / "a"], "forward": ["--ids", ids, "-o", tmp_path / "o"]}.get(verb, [])
    done = deberta(verb, "-m", model, *words)
    assert done.returncode == 1 and "pytorch_model.bin" in done.stdout + done.stderr
    assert not victim.exists() and not (tmp_path / "a").exists()


# ---- stopped at any moment


@pytest.fixture(scope="module")
def shim(tmp_path_factory):
    """A library that counts calls on files and makes one of them the last, or fail."""
    library = tmp_path_factory.mktemp("shim") / "failing_calls.so"
    subprocess.run(["cc", "-shared", "-fPIC", "-O1", "-Wall", "-Werror", "-o", library, SHIM, "-ldl"], check=True)
    return library


def run_with(shim, mode, call, source, target, count_file=None):
    options = os.environ.get("ASAN_OPTIONS", "")
    environment = {k: v for k, v in os.environ.items() if not k.startswith("DEBERTA_")} | {
        "LD_PRELOAD": str(shim), "FAIL_MODE": mode, "FAIL_CALL": str(call), "FAIL_COUNT_FILE": str(count_file or ""),
        "ASAN_OPTIONS": f"{options}:verify_asan_link_order=0:detect_leaks=0"}
    return subprocess.run([BINARY, "convert", "-m", source, "--to", target, "--shard-size", "30k"], env=environment, capture_output=True, text=True,
                          timeout=120)


def count_calls(shim, source, folder):
    done = run_with(shim, "count", 0, source, folder / "counted", folder / "count")
    assert done.returncode == 0, done.stderr
    calls = int((folder / "count").read_text())
    assert calls > 20
    (folder / "count").unlink()
    return calls


def check_state(folder, source, before, complete):
    """The source untouched, the target absent or whole; gives whether it is there."""
    assert contents(source) == before
    found = contents(folder / "a")
    assert found in (None, {}, complete)
    return found == complete


def test_a_kill_at_any_call_leaves_the_old_state_or_the_new_one(shim, deberta, tmp_path):
    source, place = make_v1_model(tmp_path / "m"), tmp_path / "place"
    place.mkdir()
    before, calls = contents(source), count_calls(shim, source, place)
    complete = contents(place / "counted")
    finished = set()
    for call in range(1, calls + 1):
        done = run_with(shim, "kill", call, source, place / "a")
        assert done.returncode == 77, (call, done.stderr)
        finished.add(check_state(place, source, before, complete))
        for left in place.iterdir():
            if left.name != "counted":
                shutil.rmtree(left)
    assert finished == {True, False}


def test_what_a_killed_run_left_is_removed_by_the_next(shim, deberta, tmp_path):
    source, place = make_v1_model(tmp_path / "m"), tmp_path / "place"
    place.mkdir()
    before, calls = contents(source), count_calls(shim, source, place)
    complete = contents(place / "counted")
    for call in (calls // 2, *range(1, 25)):  # the later ones stop in the middle of removing
        assert run_with(shim, "kill", call, source, place / "a").returncode == 77
        assert check_state(place, source, before, complete) is False
    run_with(shim, "kill", calls // 2, source, place / "a")
    assert [p for p in place.iterdir() if p.name.startswith("a.tmp-")]
    again = deberta("convert", "-m", source, "--to", place / "a", "--shard-size", "30k")
    assert again.returncode == 0 and "removed; a run that was killed left it" in again.stderr
    assert sorted(p.name for p in place.iterdir()) == ["a", "counted"] and contents(place / "a") == complete
    assert deberta("check", "-m", place / "a", "--strict").returncode == 0


@pytest.mark.parametrize("mode", ["ENOSPC", "EIO"])
def test_an_error_at_any_call_is_named_and_leaves_nothing(shim, tmp_path, mode):
    source, place = make_v1_model(tmp_path / "m"), tmp_path / "place"
    place.mkdir()
    before, calls = contents(source), count_calls(shim, source, place)
    complete = contents(place / "counted")
    failed = 0
    for call in range(1, calls + 1):
        done = run_with(shim, mode, call, source, place / "a")
        is_there = check_state(place, source, before, complete)
        # Only syncing the parent can still fail once the folder has its name.
        assert done.returncode == 1 or (done.returncode == 0 and is_there), (call, done.stderr)
        if done.returncode == 1:
            failed += 1
            assert str(tmp_path) in done.stderr or ": " in done.stderr, (call, done.stderr)
        assert not [p for p in place.iterdir() if ".tmp-" in p.name], (call, done.stderr)
        if (place / "a").exists():
            shutil.rmtree(place / "a")
    assert failed > calls // 2


@pytest.mark.parametrize("mode", ["EINTR", "SHORT"])
def test_interrupted_calls_and_short_writes_change_nothing(shim, tmp_path, mode):
    source, place = make_v1_model(tmp_path / "m"), tmp_path / "place"
    place.mkdir()
    calls = count_calls(shim, source, place)
    complete = contents(place / "counted")
    for call in range(1, calls + 1):
        done = run_with(shim, mode, call, source, place / "a")
        assert done.returncode == 0, (call, done.stderr)
        assert contents(place / "a") == complete
        shutil.rmtree(place / "a")


@pytest.mark.parametrize("number, code", [(signal.SIGKILL, -9), (signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_at_a_random_moment_leaves_the_old_state_or_the_new_one(deberta, tmp_path, number, code):
    source = make_model(tmp_path / "m", "sequence")
    tensors = dict(read_safetensors(source / "model.safetensors"))
    tensors["deberta.embeddings.word_embeddings.weight"] = numpy.zeros((200000, 16), numpy.float32)
    write_safetensors(source / "model.safetensors", tensors)
    config = json.loads((source / "config.json").read_text())
    (source / "config.json").write_text(json.dumps(config | {"vocab_size": 200000}))
    begin = time.monotonic()
    assert deberta("convert", "-m", source, "--to", tmp_path / "whole").returncode == 0
    took = time.monotonic() - begin
    before, complete = contents(source), contents(tmp_path / "whole")
    dice = random.Random(int(number))
    codes = set()
    for _ in range(12):
        process = subprocess.Popen([BINARY, "convert", "-m", source, "--to", tmp_path / "a"], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        time.sleep(dice.uniform(0.2, 1.0) * took)
        process.send_signal(number)
        process.communicate()
        codes.add(process.returncode)
        is_there = check_state(tmp_path, source, before, complete)
        assert process.returncode in (code, -number, 0) and (is_there or process.returncode != 0)
        if number != signal.SIGKILL and process.returncode == code:
            assert not [p for p in tmp_path.iterdir() if ".tmp-" in p.name]
        shutil.rmtree(tmp_path / "a", ignore_errors=True)
    assert codes - {0}
