"""bench --training: figures with the keys of the peers' script, its parts and operations, and their limit."""

import json

import pytest

from models import make_model


@pytest.fixture(scope="session")
def model(tmp_path_factory):
    return make_model(tmp_path_factory.mktemp("model"), "lm")


def figures(process):
    assert process.returncode == 0, process.stderr
    return [json.loads(line) for line in process.stdout.splitlines()]


def run(deberta, model, *words):
    return deberta("bench", "--training", "-m", model, "--min-time", "0.01", "--threads", "1", *words)


@pytest.mark.parametrize("dtype", ["fp32", "bf16"])
def test_a_step_and_its_parts(deberta, model, dtype):
    machine, *steps = figures(run(deberta, model, "--lengths", "8,20", "--batch", "1,4", "--dtype", dtype, "--json"))
    assert machine["what"] == "machine" and machine["threads"] == 1
    assert [(step["batch"], step["seq"], step["tokens"]) for step in steps] == [
        (1, 8, 8),
        (1, 20, 20),
        (4, 8, 32),
        (4, 20, 80),
    ]
    for step in steps:
        assert (step["what"], step["peer"], step["dtype"]) == ("train", "ours", dtype) and step["runs"] >= 3
        assert step["s"] == pytest.approx(step["forward_s"] + step["backward_s"] + step["update_s"], abs=2e-4)
        assert step["tokens_per_s"] > 0 and step["peak_mb"] > 0
        assert machine["isa"]["gemm"] == "reference" or 0 < step["of_limit"] < 1.5


def test_operations_of_both_directions_share_the_time(deberta, model):
    lines = [
        line
        for line in figures(run(deberta, model, "--lengths", "20", "--batch", "4", "--operations", "--json"))
        if line["what"] == "operation"
    ]
    names = [line["operation"] for line in lines]
    assert names[-1] == "other"
    assert {"gemm", "attention", "attention_backward", "layer_norm", "layer_norm_gradient"} <= set(names)
    assert sum(line["share"] for line in lines) == pytest.approx(1, abs=0.02)


def test_lengths_of_a_file_are_one_pack_and_peers_are_compared(deberta, model, tmp_path):
    (tmp_path / "lengths").write_text("9\n3\n4\n")
    (tmp_path / "peers").write_text(
        '{"what": "train", "peer": "slow", "seq": 9, "tokens_per_s": 1}\n'
        '{"what": "latency", "peer": "other", "seq": 9, "ms_min": 1}\n'
    )
    step = figures(
        run(
            deberta,
            model,
            "--lengths-file",
            tmp_path / "lengths",
            "--lengths",
            "2",
            "--baseline",
            tmp_path / "peers",
            "--json",
        )
    )[-1]
    assert (step["batch"], step["tokens"]) == (3, 16) and set(step["times_as_fast_as"]) == {"slow"}


def test_a_table_for_people(deberta, model):
    done = run(deberta, model, "--lengths", "8")
    assert done.returncode == 0 and "forward_s" in done.stdout and "tokens_per_s" in done.stdout


def test_what_cannot_be_measured_is_refused(deberta, model):
    done = run(deberta, model, "--lengths", "0")
    assert done.returncode == 2 and "--lengths: expected numbers in 1.." in done.stderr
    done = run(deberta, model, "--dtype", "int8")
    assert done.returncode == 2 and "expected fp32 or bf16, got int8" in done.stderr
