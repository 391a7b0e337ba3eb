"""`pretrain --recipe` and the names of published sizes."""

import json

import pytest

from conftest import SMALL, log_of


@pytest.fixture
def train(deberta, tokenizer, corpus, tmp_path):
    """train(words...): a run of two small layers, without any other option."""

    def run(*words, overrides=SMALL[1]):
        return deberta(
            "pretrain",
            "--tokenizer-name",
            tokenizer,
            "--config-overrides",
            overrides,
            "--logging-steps",
            "1",
            "-o",
            tmp_path / "out",
            *words,
            corpus,
        )

    return run


def options_of(folder):
    states = sorted(folder.glob("checkpoint-*/trainer/state.json"))
    return json.loads(states[-1].read_text())["options"]


def test_a_recipe_sets_what_is_not_given_and_the_run_records_it(train, tmp_path):
    words = ("--recipe", "code-base", "--batch-size", "2", "--max-tokens", "32", "--max-steps", "12")
    done = train(*words)
    assert done.returncode == 2 and "--warmup-steps: expected steps below the run's 12" in done.stderr
    done = train(*words, "--warmup-steps", "10")
    assert done.returncode == 0, done.stderr
    options = options_of(tmp_path / "out")
    assert options["recipe"] == "code-base" and options["objective"] == "mlm"
    assert float(options["learning-rate"]) == 1e-4 and options["batch-size"] == "2" and options["max-tokens"] == "32"
    assert log_of(tmp_path / "out")[5]["learning_rate"] == pytest.approx(1e-4 * 5 / 10)


def test_a_recipe_without_other_options_is_the_published_run(train):
    done = train("--recipe", "code-v2-xlarge", "--dry-run")
    assert done.returncode == 0, done.stderr
    lines = dict(line.split("\t", 1) for line in done.stdout.splitlines() if not line.startswith("sequence\t"))
    assert lines["steps"] == "1000000" and lines["sequences of the first step"] == "32"
    assert int(lines["tokens of the first step"]) == 32 * 512


def test_another_length_of_the_run_takes_the_place_of_the_recipes(train):
    done = train("--recipe", "base", "--batch-size", "8", "--max-train-tokens", "100M", "--dry-run")
    assert done.returncode == 0, done.stderr
    assert f"steps\t{-(-100_000_000 // (8 * 128))}\n" in done.stdout


def test_the_recipes_of_version_3_are_of_replaced_tokens(train, tmp_path):
    refused = train("--recipe", "v3-base", "--objective", "mlm", "--dry-run")
    assert refused.returncode == 2
    assert "--recipe: expected --objective rtd, for which v3-base was published, got mlm" in refused.stderr
    short = ("--batch-size", "2", "--max-tokens", "32", "--max-steps", "2", "--warmup-steps", "0")
    done = train("--recipe", "v3-base", *short)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "out/discriminator/model.safetensors").exists()
    options = options_of(tmp_path / "out")
    assert (float(options["rtd-lambda"]), float(options["adam-beta2"])) == (50, 0.98)


@pytest.mark.parametrize("name, layout", [("v1-large", "deberta"), ("v2-xxlarge", "deberta-v2")])
def test_a_published_size_is_the_shape_of_a_new_model(train, deberta, tmp_path, name, layout):
    small = "num_hidden_layers=2,hidden_size=32,num_attention_heads=2"
    done = train("--config-name", name, "--batch-size", "8", "--max-tokens", "32", "--max-steps", "2", overrides=small)
    assert done.returncode == 0, done.stderr
    config = json.loads((tmp_path / "out/config.json").read_text())
    assert config["model_type"] == layout and config["intermediate_size"] == 128
    assert config.get("conv_kernel_size", 0) == (3 if name == "v2-xxlarge" else 0)
    # `train-tokenizer` names the class; the tokenizer of these tests does not, and version 1 usually has another.
    (tmp_path / "out/tokenizer_config.json").write_text('{"tokenizer_class": "DebertaV2Tokenizer"}')
    filled = deberta("fill", "-m", tmp_path / "out", "the cat sat on a [MASK]", "--format", "json")
    assert filled.returncode == 0, filled.stderr
