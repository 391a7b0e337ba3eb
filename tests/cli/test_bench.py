"""The verb bench: figures as JSON lines with the same keys as the peers' script, a table, operations, comparison."""

import json

import pytest


def figures(process):
    assert process.returncode == 0, process.stderr
    return [json.loads(line) for line in process.stdout.splitlines()]


def run(deberta, model, *words):
    return deberta("bench", "-m", model, "--min-time", "0.01", "--lengths", "8,20", *words)


def test_latencies_have_the_keys_of_the_peers_and_ascending_percentiles(deberta, sequence_model):
    machine, first, second = figures(run(deberta, sequence_model, "--threads", "1", "--format", "jsonl"))
    assert machine["what"] == "machine" and machine["threads"] == 1 and machine["cpu"] and machine["version"]
    assert set(machine["isa"]) == {"gemm", "attention", "layer_norm"} and machine["read_gb_per_s"] > 0
    peaks = {(row["precision"], row["level"]): row for row in machine["multipliers"]}
    assert all(row["gops"] > 0 and row["instruction"] for row in peaks.values())
    if machine["isa"]["gemm"] != "reference":
        assert peaks["fp32", machine["isa"]["gemm"]]["gops"] == machine["peak_gflops_fp32"]
        assert [row["precision"] for row in machine["multipliers"] if "why" in row] == ["fp32", "bf16", "int8"], (
            "one of each precision runs"
        )
    for figure, length in ((first, 8), (second, 20)):
        assert (figure["what"], figure["peer"], figure["dtype"], figure["seq"], figure["threads"]) == (
            "latency",
            "ours",
            "fp32",
            length,
            1,
        )
        assert 0 < figure["ms_min"] <= figure["ms_median"] <= figure["ms_p90"] <= figure["ms_p99"]
        assert figure["runs"] >= 3
        # milliseconds are printed with three decimals
        slowest, fastest = (1e3 * length / (figure["ms_min"] + side * 0.0005) for side in (1, -1))
        assert slowest - 1 <= figure["tokens_per_s"] <= fastest + 1 and figure["peak_mb"] > 0


def test_every_number_of_threads_and_every_batch_gives_a_figure(deberta, sequence_model):
    lines = figures(run(deberta, sequence_model, "--threads", "1,2", "--batch", "1,3", "--format", "jsonl"))
    assert [(f["threads"], f["batch"], f["seq"]) for f in lines if f["what"] == "latency"] == [
        (threads, batch, length) for threads in (1, 2) for batch in (1, 3) for length in (8, 20)
    ]


@pytest.mark.parametrize("dtype", ["bf16", "int8"])
def test_other_precisions_say_so(deberta, sequence_model, dtype):
    assert {
        f["dtype"]
        for f in figures(run(deberta, sequence_model, "--threads", "1", "--dtype", dtype, "--format", "jsonl"))
    } == {dtype}


def test_lengths_of_a_file_are_packed(deberta, sequence_model, tmp_path):
    (tmp_path / "lengths").write_text("3\n9\n4\n")
    mixed = figures(
        run(
            deberta, sequence_model, "--lengths-file", tmp_path / "lengths", "--batch-tokens", "10", "--format", "jsonl"
        )
    )[-1]
    assert (mixed["what"], mixed["sequences"], mixed["tokens"]) == ("mixed", 3, 16) and mixed["s"] > 0


def test_operations_share_the_time(deberta, sequence_model):
    lines = [
        f
        for f in figures(run(deberta, sequence_model, "--threads", "1", "--operations", "--format", "jsonl"))
        if f["what"] == "operation" and f["seq"] == 20
    ]
    names = [f["operation"] for f in lines]
    assert names[-1] == "other" and {"gemm up", "gemm down", "attention", "layer_norm", "embedding"} <= set(names)
    assert sum(f["share"] for f in lines) == pytest.approx(1, abs=0.02)
    up = lines[names.index("gemm up")]
    assert up["gflops"] > 0 and up["calls"] >= 1


@pytest.mark.parametrize("kernels", ["auto", "avx2", "avx512", "reference"])
def test_the_counters_show_the_level_that_info_names(deberta, sequence_model, kernels):
    facts = json.loads(deberta("info", "--format", "jsonl").stdout)
    if kernels not in ("auto", *facts["kernels_available"]):
        pytest.skip("this processor lacks the level")
    chosen = json.loads(deberta("info", "--format", "jsonl", "--kernels", kernels).stdout)["kernels_chosen"]
    wanted = {(row["operation"], row["precision"]): row["level"] for row in chosen}
    for dtype in ("fp32", "bf16", "int8"):
        lines = figures(
            run(
                deberta,
                sequence_model,
                "--threads",
                "1",
                "--operations",
                "--format",
                "jsonl",
                "--dtype",
                dtype,
                "--kernels",
                kernels,
            )
        )
        ran = {(f["operation"], f["precision"]): f["level"] for f in lines if f["what"] == "kernel"}
        assert ran["gemm", dtype] == wanted["gemm", dtype] == lines[0]["isa"]["gemm"]
        assert all(f["calls"] > 0 for f in lines if f["what"] == "kernel")
        assert {key for key in ran if key[0] == "gemm"} <= {("gemm", dtype), ("gemm", "fp32")}, "heads are fp32"


def test_peers_are_compared_by_time_and_by_rate(deberta, sequence_model, tmp_path):
    peers = tmp_path / "peers"
    peers.write_text(
        '{"what": "latency", "peer": "slow", "seq": 20, "ms_min": 1000000}\n\n'
        '{"what": "latency", "peer": "bad", "error": "x"}\n'
        '{"what": "mixed", "peer": "fast", "tokens_per_s": 1e12}\n'
    )
    (tmp_path / "lengths").write_text("3\n")
    lines = figures(
        run(deberta, sequence_model, "--baseline", peers, "--lengths-file", tmp_path / "lengths", "--format", "jsonl")
    )
    assert "times_as_fast_as" not in lines[1]
    assert list(lines[2]["times_as_fast_as"]) == ["slow"] and lines[2]["times_as_fast_as"]["slow"] > 100
    assert lines[3]["times_as_fast_as"]["fast"] < 0.01


def test_json_is_one_document_of_all_that_json_lines_say(deberta, sequence_model):
    words = ["bench", "-m", sequence_model, "--lengths", "8,16", "--min-time", "0.01", "--operations", "--threads", "1"]
    whole = json.loads(deberta(*words, "-f", "json").stdout)
    lines = [json.loads(line) for line in deberta(*words, "-f", "jsonl").stdout.splitlines()]
    kinds = lambda figures: sorted(str(figure.get("what")) for figure in figures)
    assert kinds(whole) == kinds(lines)
    assert [set(figure) for figure in whole if figure.get("what") == "machine"] == [
        set(figure) for figure in lines if figure.get("what") == "machine"
    ]


def test_a_person_gets_tables(deberta, sequence_model):
    process = run(deberta, sequence_model, "--threads", "1", "--format", "table", "--operations")
    assert process.returncode == 0 and process.stdout.startswith("cpu ")
    assert "latency" in process.stdout and "gemm up" in process.stdout and "{" not in process.stdout
    assert "  runs: " in process.stdout, "each peak, and why one of them runs"


@pytest.mark.parametrize(
    "words, message",
    [
        (("--lengths", "0"), '--lengths: expected numbers in 1..1048576, got "0"'),
        (("--threads", "1,x"), '--threads: expected numbers in 1..1024, got "x"'),
        (("--batch", "-1"), "--batch: expected numbers"),
        (("a text",), "bench: expected no texts"),
    ],
)
def test_bad_numbers_are_usage_errors(deberta, sequence_model, words, message):
    process = deberta("bench", "-m", sequence_model, *words)
    assert process.returncode == 2 and message in process.stderr


@pytest.mark.parametrize(
    "option, text, message",
    [
        ("--lengths-file", "3\nfour\n", ':2: expected a length in 1..1048576, got "four"'),
        ("--lengths-file", "", "expected one length per line, got an empty file"),
        (
            "--baseline",
            '{"what": "latency", "peer": "p", "seq": 8, "ms_min": 0}\n',
            ":1: ms_min: expected a number above 0",
        ),
    ],
)
def test_bad_files_name_the_line(deberta, sequence_model, tmp_path, option, text, message):
    (tmp_path / "file").write_text(text)
    process = deberta("bench", "-m", sequence_model, option, tmp_path / "file")
    assert process.returncode == 1 and message in process.stderr
