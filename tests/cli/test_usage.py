"""What the program says of itself and of wrong usage."""
import json

import pytest

VERBS = ["classify", "eval", "nli", "ner", "embed", "detect", "fill", "tokenize", "forward", "inspect", "check", "info", "completion", "help"]


def test_no_words_and_help_show_every_verb(deberta):
    for words in ([], ["--help"], ["-h"], ["help"]):
        done = deberta(*words)
        assert done.returncode == 0 and done.stderr == ""
        for verb in VERBS:
            assert f"\n  {verb} " in done.stdout


@pytest.mark.parametrize("verb", VERBS)
def test_help_of_a_verb_lists_its_options_without_reading_anything(deberta, verb):
    done = deberta(verb, "--help")
    assert done.returncode == 0
    assert done.stdout.startswith(f"deberta {verb}: ")
    assert "--print-config" in done.stdout and "example:" in done.stdout
    assert deberta("help", verb).stdout == done.stdout


def test_version(deberta):
    assert deberta("--version").stdout.startswith("deberta 0.")


@pytest.mark.parametrize("words, message", [
    (["clasify", "x"], "unknown verb clasify; did you mean classify?"),
    (["--modle", "x"], "unknown option --modle"),
    (["classify", "--batch-sise", "3", "x"], "unknown option --batch-sise"),
    (["classify", "----", "x"], "unknown option ----; `deberta classify --help` lists the options"),
    (["classify", "--=3", "x"], "unknown option --=3"),
    (["classify", "--batch-token", "3", "x"], "unknown option --batch-token; did you mean --batch-tokens?"),
    (["tokenize", "--top-k", "3", "x"], "option --top-k does not apply to tokenize; it applies to: classify fill"),
    (["classify", "--top-k", "many", "x"], '--top-k: expected a whole number in 0..100000, got "many"'),
    (["classify", "--activation", "sofmax", "x"], "did you mean softmax?"),
    (["classify", "x"], "--model: expected a model directory, got none; give -m DIR or set DEBERTA_MODEL"),
    (["classify", "-m"], "1 required"),
    (["completion", "tcsh"], 'expected bash, zsh or fish, got "tcsh"'),
])
def test_wrong_usage_exits_2_with_one_message_and_no_output(deberta, words, message):
    done = deberta(*words)
    assert done.returncode == 2
    assert done.stdout == ""
    assert message in done.stderr


def test_a_missing_model_exits_1(deberta, tmp_path):
    done = deberta("classify", "-m", tmp_path / "none", "x")
    assert done.returncode == 1 and "no such model directory" in done.stderr


def test_precedence_flag_environment_file_default(deberta, tmp_path):
    config = tmp_path / "options.json"
    config.write_text(json.dumps({"top-k": 2, "threads": 1, "activation": "none"}))
    done = deberta("classify", "--config", config, "--top-k", "4", "--print-config", environment={"DEBERTA_THREADS": "3"})
    assert "top-k = 4  (flag)" in done.stdout
    assert "threads = 3  (environment DEBERTA_THREADS)" in done.stdout
    assert f"activation = none  (config {config})" in done.stdout
    assert "truncate = right  (default)" in done.stdout


def test_bad_values_in_the_environment_and_the_file_name_their_place(deberta, tmp_path):
    done = deberta("classify", "x", environment={"DEBERTA_TOP_K": "x"})
    assert done.returncode == 2 and "environment DEBERTA_TOP_K: top-k: expected a whole number" in done.stderr
    config = tmp_path / "options.json"
    config.write_text('{"topk": 2}')
    done = deberta("classify", "x", "--config", config)
    assert done.returncode == 2 and f"{config}: unknown option --topk; did you mean --top-k?" in done.stderr


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_knows_verbs_and_options(deberta, shell):
    script = deberta("completion", shell).stdout
    assert "classify" in script and "batch-tokens" in script


def test_info_names_kernels_and_refuses_unknown_ones(deberta):
    facts = json.loads(deberta("info", "--format", "jsonl").stdout)
    assert "reference" in facts["kernels_available"]
    assert {"gemm", "attention", "layer_norm", "quantize", "embedding", "convolution"} == set(facts["kernels_chosen"])
    forced = json.loads(deberta("info", "--format", "jsonl", "--kernels", "reference").stdout)
    assert set(forced["kernels_chosen"].values()) == {"reference"}
    assert deberta("info", "--kernels", "sse2").returncode == 2
