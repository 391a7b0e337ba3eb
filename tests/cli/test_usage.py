"""What the program says of itself and of wrong usage."""
import json
import re
import shlex
import subprocess

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


def completed(deberta, *words):
    """What bash offers for the last word."""
    script = deberta("completion", "bash").stdout
    ask = f"COMP_WORDS=({' '.join(shlex.quote(word) for word in words)}); COMP_CWORD={len(words) - 1}; _deberta; printf '%s\n' \"${{COMPREPLY[@]}}\""
    done = subprocess.run(["bash", "-c", script + ask], capture_output=True, text=True, cwd="/", check=True)
    assert done.stderr == ""
    return done.stdout.split()


def test_bash_completes_verbs_options_values_and_arguments(deberta):
    assert completed(deberta, "deberta", "cl") == ["classify"]
    assert "--top-k" in completed(deberta, "deberta", "classify", "--")
    assert "--top-k" not in completed(deberta, "deberta", "tokenize", "--")
    assert completed(deberta, "deberta", "classify", "--activation", "s") == ["softmax", "sigmoid"]
    assert completed(deberta, "deberta", "classify", "--dtype", "") == ["auto", "fp32", "bf16", "int8"]
    assert completed(deberta, "deberta", "convert", "--dtype", "k") == ["keep"]
    assert completed(deberta, "deberta", "classify", "-f", "js") == ["json", "jsonl"]
    assert completed(deberta, "deberta", "completion", "") == ["bash", "zsh", "fish"]
    assert completed(deberta, "deberta", "help", "tok") == ["tokenize"]


def test_fish_quotes_what_it_says(deberta):
    lines = deberta("completion", "fish").stdout.splitlines()
    assert all(re.fullmatch(r"(?:[^']|'(?:[^'\\]|\\.)*')*", line) for line in lines)
    assert any("-l activation -r -a \"auto softmax sigmoid none\"" in line for line in lines)


def test_the_manual_page_has_every_verb_and_option(deberta):
    page = deberta("help", "--man").stdout
    assert page.splitlines()[1].startswith('.TH DEBERTA 1 "" "deberta ')
    for verb in VERBS:
        assert f".TP\n\\fB{verb}\\fR" in page
        for option in re.findall(r"^ +(?:-\w, )?--([\w-]+)", deberta("help", verb).stdout, re.M):
            assert "\\fB\\-\\-" + option.replace("-", "\\-") + "\\fR" in page, (verb, option)
    requests = {line.split()[0] for line in page.splitlines() if line.startswith((".", "'"))}
    assert requests <= {'.\\"', ".TH", ".SH", ".SS", ".TP", ".br"}


def test_info_names_kernels_and_refuses_unknown_ones(deberta):
    facts = json.loads(deberta("info", "--format", "jsonl").stdout)
    assert "reference" in facts["kernels_available"]
    assert {"gemm", "attention", "layer_norm", "quantize", "embedding", "convolution"} == set(facts["kernels_chosen"])
    forced = json.loads(deberta("info", "--format", "jsonl", "--kernels", "reference").stdout)
    assert set(forced["kernels_chosen"].values()) == {"reference"}
    assert deberta("info", "--kernels", "sse2").returncode == 2
