"""`info --sizes`: parameters and operations by part."""

import json

import pytest

from models import ROOT


def sizes(deberta, *names, length=None):
    words = ("--length", length) if length else ()
    done = deberta("info", "--sizes", ",".join(map(str, names)), *words, "--format", "jsonl")
    assert done.returncode == 0 and done.stderr == "", done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_the_relative_terms_of_version_1_cost_two_projections_in_each_layer(deberta):
    base, large = (size["parameters"] for size in sizes(deberta, "v1-base", "large"))
    assert base["relative_projections"] - 12 * 768 == 2 * 12 * 768**2 == 14_155_776
    assert large["relative_projections"] - 24 * 1024 == 2 * 24 * 1024**2 == 50_331_648
    assert (base["relative_table"], large["relative_table"]) == (1024 * 768, 1024 * 1024)
    for counts in (base, large):
        terms = counts["relative_projections"] + counts["relative_table"]
        assert counts["all"] - counts["all_without_relative_terms"] == terms
        assert counts["ratio"] == pytest.approx(counts["all"] / counts["all_without_relative_terms"])


def test_shared_projections_cost_the_table_alone(deberta):
    (size,) = sizes(deberta, "v3-large")
    counts = size["parameters"]
    assert counts["relative_projections"] == 0 and counts["relative_table"] == 512 * 1024 + 2 * 1024
    # With its words and without: what different sources give as the size of this model.
    assert round((counts["words"] + counts["backbone"]) / 1e6) == 434 and round(counts["backbone"] / 1e6) == 303


def test_scores_are_up_to_three_times_the_work_and_the_encoder_is_not(deberta):
    short, long = (sizes(deberta, "base", length=length)[0]["operations"] for length in (128, 512))
    for work in (short, long):
        assert work["ratio_of_scores"] == 3  # each distance has a row of its own
        assert work["all"] == work["layers"] + work["attention"] + work["relative_terms"]
        assert work["all"] - work["relative_terms"] == work["all_without_relative_terms"]
    assert 1.02 < short["ratio"] < 1.05 and 1.09 < long["ratio"] < 1.20
    assert short["attention"] == 12 * 4 * 768 * 128**2 == short["relative_terms"]
    buckets = sizes(deberta, "v3-base", length=512)[0]["operations"]
    assert 2 < buckets["ratio_of_scores"] < 3 and buckets["ratio"] < long["ratio"]


SMALL = {
    "model_type": "deberta-v2",
    "vocab_size": 1000,
    "hidden_size": 64,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "intermediate_size": 128,
    "max_position_embeddings": 32,
    "max_relative_positions": 32,
    "relative_attention": True,
    "pos_att_type": "c2p|p2c",
    "position_biased_input": False,
}


def test_a_configuration_needs_no_weights(deberta, tmp_path):
    (tmp_path / "config.json").write_text(json.dumps(SMALL))
    by_file, by_folder = (size["parameters"] for size in sizes(deberta, tmp_path / "config.json", tmp_path))
    assert by_file == by_folder
    assert by_file["words"] == 64_000 and by_file["positions"] == 2_048
    assert by_file["layers"] == 2 * 33_472 and by_file["relative_projections"] == 2 * 2 * 4_160
    assert by_file["relative_table"] == 2 * 32 * 64
    # A tutorial's class of this shape has 225,024: two more layers without relative terms in place of a decoder that
    # runs the last one again, no bias for each word, and 2k - 1 rows.
    assert by_file["all"] + by_file["layers"] - 1000 - 64 == 225_024


@pytest.mark.parametrize("name", ["fill", "detect", "sentiment", "entities", "entailment"])
def test_the_models_that_ship_have_as_many_in_their_files(deberta, name):
    if not (ROOT / "models" / name).exists():
        pytest.skip(f"needs models/{name}")
    (size,) = sizes(deberta, f"builtin:{name}")
    facts = json.loads(deberta("info", "-m", f"builtin:{name}", "--format", "jsonl").stdout)
    assert size["parameters"]["all"] == facts["parameters"]


def test_a_table_has_a_row_for_each_part(deberta):
    done = deberta("info", "--sizes", "v3-xsmall,v2-xlarge", "--format", "tsv")
    lines = [line.split("\t") for line in done.stdout.splitlines()]
    assert lines[0] == ["model", "part", "parameters", "operations"]
    parts = {(model, part): (count, work) for model, part, count, work in lines[1:]}
    assert parts["v3-xsmall", "words"] == (str(128100 * 384), "")
    assert parts["v3-xsmall", "relative terms"][0] == "" and int(parts["v3-xsmall", "relative terms"][1]) > 0
    assert int(parts["v2-xlarge", "convolution"][0]) == 3 * 1536**2 + 3 * 1536
    assert len(lines) == 1 + 2 * 16


def test_what_is_no_model_is_refused(deberta, tmp_path):
    done = deberta("info", "--sizes", "v3-base,v3-huge")
    assert done.returncode == 2 and "or one of base, large, xlarge, " in done.stderr and '"v3-huge"' in done.stderr
    assert deberta("info", "--length", "8").returncode == 2
    (tmp_path / "config.json").write_text("{}")
    assert "vocab_size" in deberta("info", "--sizes", tmp_path / "config.json").stderr


def test_the_page_has_the_sizes_as_they_are(deberta):
    page = (ROOT / "docs/reference/sizes.md").read_text().split("| x, scores alone |")[1]
    rows = [
        [cell.strip(" `") for cell in line.split("|")[1:-1]] for line in page.splitlines() if line.startswith("| `")
    ]
    assert len(rows) == 10
    names = [name for name, *_ in rows]
    at_128, at_512 = sizes(deberta, *names, length=128), sizes(deberta, *names, length=512)
    for (name, *cells), short, long in zip(rows, at_128, at_512):
        counts = short["parameters"]
        parts = [counts[part] for part in ("all", "words", "backbone", "relative_projections", "relative_table")]
        assert cells[:5] == [f"{count / 1e6:.1f}" for count in parts], name
        short, long = short["operations"], long["operations"]
        assert cells[5:7] == [f"{short['all'] / 1e9:.1f}", f"{short['ratio']:.3f}"], name
        scores = f"{long['ratio_of_scores']:.2f}"
        assert cells[7:] == [f"{long['all'] / 1e9:.1f}", f"{long['ratio']:.3f}", scores], name
