"""docs/records/performance.md, its pages and README.md agree with the figures of each kind of processor: a page for
each, none lost; the command measures every row."""

import argparse
import collections
import json
import pathlib
import sys

import numpy
import pytest

from conftest import BINARY
from models import read_safetensors, write_safetensors

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "bench"))
import compare_peers  # noqa: E402
import compare_training  # noqa: E402
import performance_page  # noqa: E402

NEW = {
    "kind": "New, AMX hidden",
    "machine": "X",
    "about": "y",
    "command": "do it",
    "rounds": 9,
    "peaks": {"fp32": 1.0, "bf16": 2.0, "int8": 3.0, "memory": 4.0},
    "chosen": {"fp32": "a", "bf16": "b", "int8": "c", "attention": "d"},
    "choices": [],
    "calibrated": [],
    "figures": [],
    "start": {},
    "rows": [
        {"row": "T1 one sequence, n = 32", "precision": "fp32", "rounds": 9, "median": 1.3, "lower_quartile": 1.24},
        {"row": "T1 one sequence, n = 32", "precision": "bf16", "rounds": 3, "median": 1.3, "lower_quartile": 1.2},
    ],
}


def page_of(kind, root=ROOT):
    """The page of a kind, by its name."""
    return (root / "docs/records/performance" / f"{performance_page.file_name({'kind': kind})}.md").read_text()


def test_the_files_are_those_of_the_figures():
    assert performance_page.stale_files(BINARY) == []


def test_every_kind_has_a_page_and_a_row_that_does_not_hold_says_so(tmp_path):
    performance_page.keep(NEW, tmp_path)
    assert json.loads((tmp_path / "new-amx-hidden.json").read_text()) == NEW
    page = performance_page.page(performance_page.load_kinds() + performance_page.load_kinds(tmp_path))
    for kind in ("Zen 5", "Sapphire Rapids", "Emerald Rapids, AMX hidden", "Zen 4"):
        assert f"# {kind}\n" in page_of(kind) and f"| [{kind}](performance/" in page
    section = performance_page.page_of(NEW)
    assert "| T1 one sequence, n = 32 | fp32 | 9 | 1.30 | 1.24 | 1.25 | yes |" in section
    assert "```\ndo it\n```" in section
    assert "| T1 one sequence, n = 32 | bf16 | 3 | 1.30 | 1.20 | 1.40 | **no** |" in section
    assert next(line for line in page.splitlines() if line.startswith("| [New, AMX hidden]")).endswith(
        "| 1 of 2 | none measured |"
    )


def test_the_processor_with_amx_keeps_its_rows_that_do_not_hold():
    section = page_of("Sapphire Rapids")
    assert section.count("| yes |") == 37 and section.count("| **no** |") == 12


def test_readme_has_milliseconds_beside_peers_of_known_versions_and_how_many_rows_hold():
    kind = next(kind for kind in performance_page.load_kinds() if kind.get("peers"))
    text = (ROOT / "README.md").read_text()
    block = text[text.index(performance_page.MARKS[0]) : text.index(performance_page.MARKS[1])]
    figures = {line["who"]: line for line in kind["figures"]}
    assert kind["kind"] in block
    assert all(f"{name} {version}" in block for name, version in kind["peers"].items())
    assert "37 of 49 on Sapphire Rapids" in block
    fastest = min(figures[who]["n = 128, ms"] for who in ("hf-bf16", "ov-bf16"))
    assert f"{figures['ours bf16']['n = 128, ms']} (OpenVINO {fastest})" in block


def test_the_page_says_how_long_a_text_takes_and_what_a_million_cost():
    kinds = performance_page.load_kinds()
    page = performance_page.page(kinds)
    zen_4 = next(kind for kind in kinds if kind["kind"] == "Zen 4")
    assert "| AMD EPYC 9004 (Zen 4) | fp32 | 26.5 (OpenVINO" in page
    ms = next(line["n = 128, ms"] for line in zen_4["figures"] if line["who"] == "ours bf16")
    hours = ms * 2 / 3.6  # milliseconds on two cores, a million times
    assert f"| {hours:.1f} | {hours * 0.05:.2f} |" in page
    assert performance_page.core_hours(NEW, "fp32") is None and "New, AMX hidden | fp32" not in page


def machine_of(gemm):
    return {
        dtype: {
            "cpu": "Xeon (GenuineIntel family 6 model 207, Emerald Rapids)",
            "version": "1",
            "isa": {"gemm": gemm[dtype], "attention": "avx512"},
            "peak_gflops_fp32": 1.0,
            "peak_gflops_bf16": 2.0,
            "peak_gops_int8": 3.0,
            "read_gb_per_s": 4.0,
        }
        for dtype in gemm
    }


@pytest.fixture
def run(tmp_path):
    """What compare_peers leaves after a run: a folder with the figures of two kinds, and the pages beside it."""
    (tmp_path / "config.json").write_text(
        '{"hidden_size": 8, "num_hidden_layers": 2, "intermediate_size": 32, "max_position_embeddings": 16}'
    )
    (tmp_path / "README.md").write_text("before\n" + "".join(performance_page.MARKS) + "after\n")
    (tmp_path / "figures").mkdir()
    for name in ("zen-5", "emerald-rapids-amx-hidden"):
        (tmp_path / f"figures/{name}.json").write_bytes((ROOT / f"bench/figures/{name}.json").read_bytes())
    (tmp_path / "lengths.txt").write_text("\n".join(map(str, range(1, 20))))
    return argparse.Namespace(
        rounds=3,
        threads=2,
        budget=0.4,
        figures=tmp_path / "figures",
        output=tmp_path,
        model=tmp_path,
        trained=tmp_path,
        only=None,
        lengths=tmp_path / "lengths.txt",
        program=str(BINARY),
        python=sys.executable,
        peers_script="peers.py",
        tokenizer_bench="bench",
        text="text",
    )


def kinds_of(run):
    return {kind["kind"]: kind for kind in performance_page.load_kinds(run.figures)}


def test_a_run_takes_the_place_of_the_figures_of_its_kind_alone(run):
    machine = machine_of({"fp32": "avx512", "bf16": "avx512", "int8": "avx512"})
    ratios = {("T2 one sequence, n = 128", "bf16"): [2.0, 4.0, 3.0]}
    start = dict.fromkeys(machine, (0.2, 100))
    compare_peers.write_page(run, 3, ratios, {("ours bf16", "n = 128, ms"): [5.0, 7.0, 6.0]}, start, machine, {}, [])
    kinds = kinds_of(run)
    assert set(kinds) == {"Zen 5", "Emerald Rapids, AMX hidden"}
    ours = kinds["Emerald Rapids, AMX hidden"]
    assert ours["machine"] == "Xeon, GenuineIntel family 6 model 207" and ours["choices"], (
        "what this run did not measure stays"
    )
    assert ours["rows"] == [
        {"row": "T2 one sequence, n = 128", "precision": "bf16", "rounds": 3, "median": 3.0, "lower_quartile": 2.5}
    ]
    assert ours["figures"] == [{"who": "ours bf16", "n = 128, ms": 6.0}]
    assert "--rounds 3 --threads 2 --budget 0.4" in ours["command"]
    assert "| bf16 | avx512_bf16 |" in page_of("Zen 5", run.output)
    assert ours["peers"].keys() <= {"transformers", "torch", "ONNX Runtime", "OpenVINO"}
    assert (run.output / "README.md").read_text().startswith("before\n<!--")
    assert "50.0 (OpenVINO 74.9)" in (run.output / "README.md").read_text()
    machine["bf16"]["isa"]["gemm"] = "amx"
    assert compare_peers.kind_of(machine)[0] == "Emerald Rapids"


def test_a_processor_that_is_not_in_the_table_is_named_by_its_numbers():
    machine = machine_of({"fp32": "avx512", "bf16": "amx", "int8": "amx"})
    machine["fp32"]["cpu"] = "Xeon (GenuineIntel family 6 model 167, of an unknown kind)"
    assert compare_peers.kind_of(machine) == (
        "GenuineIntel family 6 model 167, amx",
        "Xeon, GenuineIntel family 6 model 167",
    )


def test_calibrations_alone_leave_the_rest_as_it_is(run):
    before = kinds_of(run)
    made = [
        {
            "model": "trained",
            "outliers": 3,
            "over_uncalibrated": {"32": 0.9, "128": 0.95, "512": 0.97},
            "over_fp32": {"32": 2.0, "128": 2.5, "512": 3.0},
        }
    ]
    compare_peers.write_calibrated(run, machine_of({"fp32": "avx512", "bf16": "avx512", "int8": "avx512"}), made)
    assert kinds_of(run) == before | {
        "Emerald Rapids, AMX hidden": before["Emerald Rapids, AMX hidden"] | {"calibrated": made}
    }
    section = page_of("Emerald Rapids, AMX hidden", run.output)
    assert "| trained | 3 | 0.90 | 0.95 | 0.97 | 2.00 | 2.50 | 3.00 |" in section


def test_the_command_measures_every_row_and_every_table(run, monkeypatch):
    """For a processor with AMX, which has the most rows; stand-in programs answer at once."""
    machine = machine_of({"fp32": "avx512", "bf16": "amx", "int8": "amx"})
    forced = {
        "bf16": {"avx512": "avx512", "avx512_bf16": "avx512_bf16"},
        "int8": {"avx512": "avx512", "avx512_vnni": "avx512_vnni"},
    }

    def answers(command):
        words = [str(word) for word in command]
        if "info" in words:
            return [
                {
                    "kernels_available": ["reference", "avx512", "avx512_vnni", "avx512_bf16", "amx"],
                    "calibration": "9 texts, 90 tokens, smoothing 0.5, 7 outlier channels",
                }
            ]
        if "tokenize" in words:
            return [{"peer": peer, "mb_per_s": 2.0} for peer in ("sentencepiece", "hf-fast")]
        shapes = [(n, batch) for n in (32, 128, 512, 2048) for batch in (1, 2, 4, 8, 16)]
        figures = [
            {"what": "latency", "seq": n, "batch": batch, "ms_min": n, "ms_median": n, "of_limit": 0.5}
            for n, batch in shapes
        ]
        if words[0] != str(BINARY):
            peers = words[words.index("--peers") + 1].split(",")
            return [
                line | {"peer": peer} for peer in peers for line in (*figures, {"what": "mixed", "tokens_per_s": 10.0})
            ]
        dtype = words[words.index("--dtype") + 1]
        level = words[words.index("--kernels") + 1] if "--kernels" in words else machine[dtype]["isa"]["gemm"]
        if "1,2,4,8,16" in words:
            figures = [figure for figure in figures if figure["seq"] == 32]
        first = machine[dtype] | {
            "what": "machine",
            "isa": {"gemm": forced.get(dtype, {}).get(level, machine[dtype]["isa"]["gemm"]), "attention": "amx"},
        }
        return [first, *figures, {"what": "mixed", "tokens_per_s": 20.0, "of_limit": 0.5}]

    monkeypatch.setattr(compare_peers, "json_lines", answers)
    monkeypatch.setattr(compare_peers, "rate_from_outside", lambda *_: 15.0)
    monkeypatch.setattr(compare_peers, "contended", lambda *_: 256.0)
    monkeypatch.setattr(
        compare_peers,
        "tokenizer_ratios",
        lambda a, folder, ratios: [ratios[row, "text"].append(2.0) for row in performance_page.TOKENIZER_FLOORS],
    )
    monkeypatch.setattr(compare_peers.subprocess, "run", lambda *_, **__: None)
    ratios, absolute, choices = (collections.defaultdict(list) for _ in range(3))
    compare_peers.one_round(run, 0, run.output, [], machine, ratios, absolute, choices)
    assert set(ratios) >= {
        (row, dtype) for row, dtype, _ in performance_page.row_keys() if "without AMX" not in row or dtype != "fp32"
    }
    assert {(c["what"], c["level"], c["other"]) for c in compare_peers.choices_of(choices)} == {
        ("bf16", "amx", "avx512"),
        ("bf16", "amx", "avx512_bf16"),
        ("bf16", "amx", "fp32 by avx512"),
        ("int8", "amx", "avx512"),
        ("int8", "amx", "avx512_vnni"),
        ("int8", "amx", "fp32 by avx512"),
    }
    (run.trained / "model.safetensors").write_bytes(b"")
    made = compare_peers.calibrated(run, "trained", run.figures, "texts", False, run.output / "scratch")
    assert made["outliers"] == 7 and set(made["over_fp32"]) == {"32", "128", "512"}


def test_gains_of_chosen_channels_are_raised_and_nothing_else(tmp_path):
    ones = numpy.ones(256, numpy.float32)
    write_safetensors(
        tmp_path / "m",
        {
            "deberta.encoder.layer.0.output.LayerNorm.weight": ones,
            "deberta.encoder.layer.0.output.LayerNorm.bias": ones,
            "deberta.encoder.LayerNorm.weight": ones,
        },
    )
    compare_peers.raise_gains(tmp_path / "m")
    changed = {name: numpy.flatnonzero(array != 1).tolist() for name, array in read_safetensors(tmp_path / "m").items()}
    assert changed == {
        "deberta.encoder.layer.0.output.LayerNorm.weight": list(compare_peers.OUTLIERS),
        "deberta.encoder.layer.0.output.LayerNorm.bias": [],
        "deberta.encoder.LayerNorm.weight": [],
    }


class StandInPeer:
    """Takes twice the time and the memory of ours."""

    def __init__(self, a, model, name):
        pass

    def step(self, lengths):
        return {"s_median": 2.0, "tokens": sum(lengths), "peak_mb": 200}

    def end(self):
        pass


def test_a_comparison_of_training_measures_every_row_and_keeps_the_rest(run, monkeypatch, tmp_path):
    machine = machine_of({"fp32": "avx512", "bf16": "avx512"})
    step = {"s_median": 1.0, "forward_s": 0.3, "backward_s": 0.6, "update_s": 0.1, "of_limit": 0.8, "peak_mb": 100}
    monkeypatch.setattr(
        compare_training,
        "ours",
        lambda a, model, dtype, lengths, folder: {"machine": machine[dtype], "train": step | {"tokens": sum(lengths)}},
    )
    monkeypatch.setattr(compare_training, "Peer", StandInPeer)
    monkeypatch.setattr(compare_training, "shape_that_ships", lambda a, folder: folder)
    operation = {
        "what": "operation",
        "operation": "gemm",
        "shape": "[768, 768]",
        "ms": 1.5,
        "share": 0.4,
        "of_peak": 0.7,
    }
    monkeypatch.setattr(compare_training, "json_lines", lambda command: [operation, operation | {"share": 0.001}])
    run.tokenized, run.rounds, run.dtypes, run.only = tmp_path / "texts.jsonl", 2, "fp32,bf16", []
    run.tokenized.write_text("".join(f'{{"ids": {list(range(n))}}}\n' for n in range(1, 99)))
    before = kinds_of(run)
    compare_training.run(run)
    kinds = kinds_of(run)
    ours = kinds["Emerald Rapids, AMX hidden"]
    assert {(line["row"], line["precision"]) for line in ours["training_rows"]} == {
        (row, dtype) for row in performance_page.TRAINING_FLOORS for dtype in ("fp32", "bf16")
    }
    assert {key: value for key, value in ours.items() if not key.startswith("training_")} == before[
        "Emerald Rapids, AMX hidden"
    ]
    assert kinds["Zen 5"] == before["Zen 5"]
    page = (run.output / "docs/records/performance.md").read_text()
    section = page_of("Emerald Rapids, AMX hidden", run.output)
    assert "| 8 x 512, over transformers | bf16 | 2 | 2.00 | 2.00 | 3.50 | **no** |" in section
    assert "| 8 x 512, of the machine's limit | fp32 | 2 | 0.80 | 0.80 | 0.75 | yes |" in section
    assert "| 8 x 512 | ours fp32 | 4096 | 0.3 | 0.6 | 0.1 | 100 |" in section
    assert "| 8 x 512 | compile-bf16 | 2048 |" in section
    assert section.count("| gemm | [768, 768] | 1.5 | 0.4 | 0.7 |") == 4
    assert "34 of 38" in next(line for line in page.splitlines() if line.startswith("| [Emerald Rapids, AMX hidden]"))
    compare_peers.write_page(
        run,
        1,
        {("T4 real lengths", "int8"): [2.0]},
        {},
        dict.fromkeys(("fp32", "bf16", "int8"), (0.2, 100)),
        machine_of({"fp32": "avx512", "bf16": "avx512", "int8": "avx512"}),
        {},
        [],
    )
    assert kinds_of(run)["Emerald Rapids, AMX hidden"]["training_rows"] == ours["training_rows"], (
        "the other command leaves them"
    )
    step["of_limit"], run.dtypes, run.only = 0.5, "bf16", ["128"]
    compare_training.run(run)
    rows = {
        (line["row"], line["precision"]): line["median"]
        for line in kinds_of(run)["Emerald Rapids, AMX hidden"]["training_rows"]
    }
    assert len(rows) == len(ours["training_rows"]), "what a run does not measure stays"
    assert [
        rows[f"8 x {length}, of the machine's limit", dtype]
        for length, dtype in ((128, "bf16"), (128, "fp32"), (512, "bf16"))
    ] == [0.5, 0.8, 0.8]
