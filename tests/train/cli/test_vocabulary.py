"""Where trained weights and a tokenizer meet: other pieces are refused or get new tables, and tokens are added to what
a run leaves."""

import json
import shutil

import numpy
import pytest

from conftest import SMALL, WORDS, assert_same
from models import ROOT, make_model, read_safetensors
from task_files import jsonl

TABLE = "deberta.embeddings.word_embeddings.weight"
BIAS = "lm_predictions.lm_head.bias"
TEXT = "the cat\nsat on a mat"


@pytest.fixture
def model(pretrain, tmp_path):
    assert pretrain(tmp_path / "model", "--max-steps", "2").returncode == 0
    return tmp_path / "model"


@pytest.fixture
def other(tmp_path):
    """A tokenizer of other pieces."""
    folder = tmp_path / "other"
    folder.mkdir()
    shutil.copy(ROOT / "tests/golden/tokenizer/unknown.model", folder / "spm.model")
    return folder


@pytest.fixture
def go_on(deberta, model, corpus, tmp_path):
    """go_on(name, words...) -> the finished process, which trains the model further"""

    def run(name, *words):
        return deberta("pretrain", "-m", model, "-o", tmp_path / name, *SMALL[2:], "--max-steps", "4", *words, corpus)

    return run


def pieces_of(deberta, folder, text, kind="slow"):
    done = deberta("tokenize", "-m", folder, "--format", "jsonl", "--tokenizer", kind, text)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def break_off(folder):
    """A run of four steps as it was at its second. Returns what it left, beside it."""
    whole = folder.with_name("whole")
    shutil.copytree(folder, whole)
    shutil.rmtree(folder / "checkpoint-000004")
    (folder / "LATEST").write_text("checkpoint-000002\n")
    return whole


def config_of(folder):
    return json.loads((folder / "config.json").read_text())


def test_other_pieces_are_refused_with_the_remedy(go_on, other, model, tmp_path):
    done = go_on("out", "--tokenizer-name", other)
    assert done.returncode == 1 and not (tmp_path / "out").exists()
    message = done.stderr.strip().splitlines()[-1]
    assert (
        message.startswith(f"{other}: piece 4: expected ")
        and f" as in the tokenizer beside the weights in {model}, got " in message
    ), message
    assert message.endswith(
        "; use the tokenizer beside the weights or begin with new word embeddings: --new-embeddings"
    ), message


def test_the_same_pieces_in_another_folder_go_on(go_on, tokenizer, tmp_path):
    assert go_on("own").returncode == 0
    done = go_on("named", "--tokenizer-name", tokenizer)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "own/model.safetensors").read_bytes() == (tmp_path / "named/model.safetensors").read_bytes()


def test_new_embeddings_keep_the_layers_and_the_rows_that_both_have(go_on, deberta, other, model, tmp_path):
    words = ["--tokenizer-name", other, "--new-embeddings", "--save-steps", "2"]
    done = go_on("out", *words)
    assert done.returncode == 0, done.stderr
    assert "new word embeddings for the " in done.stderr and f"rows are copied from {model}" in done.stderr, done.stderr
    config, tensors = config_of(tmp_path / "out"), read_safetensors(tmp_path / "out/model.safetensors")
    assert config["vocab_size"] == len(tensors[TABLE]) == len(tensors[BIAS]) < config_of(model)["vocab_size"]
    before = read_safetensors(model / "model.safetensors")
    moved = {name: float(numpy.abs(tensors[name] - before[name]).max()) for name in before if name not in (TABLE, BIAS)}
    assert max(moved.values()) < 0.05, moved  # four steps away
    assert deberta("fill", "-m", tmp_path / "out", "the cat [MASK]").returncode == 0
    whole = break_off(tmp_path / "out")
    done = go_on("out", *words)
    assert done.returncode == 0 and "continuing from" in done.stderr, done.stderr
    assert_same(tmp_path / "out", whole)


def test_new_embeddings_need_a_model(pretrain, tmp_path):
    done = pretrain(tmp_path / "out", "--max-steps", "1", "--new-embeddings")
    assert done.returncode == 2 and "--new-embeddings: expected a model to begin with (-m), got none" in done.stderr


def test_a_pair_gets_new_tables_too(pretrain, deberta, corpus, other, tmp_path):
    assert pretrain(tmp_path / "pair", "--objective", "rtd", "--max-steps", "2").returncode == 0
    pair = tmp_path / "pair"
    words = [
        "pretrain",
        "--objective",
        "rtd",
        "-m",
        pair / "discriminator",
        "--generator-model",
        pair / "generator",
        "--tokenizer-name",
        other,
        *SMALL[2:],
        "--max-steps",
        "2",
        "-o",
        tmp_path / "out",
        corpus,
    ]
    done = deberta(*words)
    assert done.returncode == 1 and "beside the weights" in done.stderr and "--new-embeddings" in done.stderr, (
        done.stderr
    )
    done = deberta(*words, "--new-embeddings")
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("new word embeddings for the ") == 2, done.stderr
    for name in ("generator", "discriminator"):
        folder = tmp_path / "out" / name
        assert config_of(folder)["vocab_size"] == len(read_safetensors(folder / "model.safetensors")[TABLE])
    assert "._weight" not in done.stderr  # no word of another difference
    assert deberta("detect", "-m", tmp_path / "out/discriminator", "the cat sat").returncode == 0


@pytest.mark.parametrize("sharing", ["es", "gdes"])
def test_both_models_of_a_pair_get_rows_for_tokens_that_are_added(pretrain, deberta, corpus, other, tmp_path, sharing):
    words = ["--objective", "rtd", "--embedding-sharing", sharing, "--rtd-mode", "joint", "--max-steps", "2"]
    assert pretrain(tmp_path / "pair", *words).returncode == 0
    pair = tmp_path / "pair"
    for name, more in (("own", []), ("new", ["--tokenizer-name", other, "--new-embeddings"])):
        done = deberta(
            "pretrain",
            *words,
            "-m",
            pair / "discriminator",
            "--generator-model",
            pair / "generator",
            *SMALL[2:],
            *more,
            "--add-tokens",
            r"\n,<bird>",
            "-o",
            tmp_path / name,
            corpus,
        )
        assert done.returncode == 0 and "expected the discriminator's table less" not in done.stderr, done.stderr
        for model in ("generator", "discriminator"):
            folder = tmp_path / name / model
            size = config_of(folder)["vocab_size"]
            assert size == len(read_safetensors(folder / "model.safetensors")[TABLE])
            encoded = pieces_of(deberta, folder, TEXT + "<bird>")
            assert [encoded["ids"][encoded["tokens"].index(token)] for token in ("\n", "<bird>")] == [
                size - 2,
                size - 1,
            ]


def test_a_run_that_goes_on_with_other_data_keeps_its_pieces(pretrain, deberta, other, corpus, tmp_path):
    assert pretrain(tmp_path / "out", "--max-steps", "2").returncode == 0
    done = deberta(
        "pretrain",
        "--tokenizer-name",
        other,
        "-o",
        tmp_path / "out",
        *SMALL,
        "--max-steps",
        "4",
        "--resume-override",
        "max-steps,corpora and tokenizer,configuration",
        corpus,
    )
    assert (
        done.returncode == 1
        and "beside the weights" in done.stderr
        and "give the tokenizer that the run began with" in done.stderr
    ), done.stderr


def test_a_dry_run_shows_what_becomes_of_the_vocabulary(go_on, other, tmp_path):
    done = go_on("out", "--tokenizer-name", other, "--new-embeddings", "--add-tokens", r"\n,<bird>", "--dry-run")
    assert done.returncode == 0, done.stderr
    notes = [line.split("\t", 1)[1] for line in done.stdout.splitlines() if line.startswith("note\t")]
    assert len(notes) == 3 and notes[0].startswith("new word embeddings for the "), notes
    assert r'token "\n": 601, added with ' in notes[1] and 'token "<bird>": 602, added with ' in notes[2], notes
    assert not (tmp_path / "out").exists()


def test_a_line_break_is_learned_and_left_in_the_folder(go_on, deberta, corpus, model, tmp_path):
    assert "\n" not in pieces_of(deberta, model, TEXT)["tokens"]
    words = ["--add-tokens", r"\n,<bird>,he", "--save-steps", "2"]
    done = go_on("out", *words)
    assert done.returncode == 0, done.stderr
    size = config_of(model)["vocab_size"]  # that of a new model has no rows to spare
    assert rf'token "\n": {size}, added with a new row' in done.stderr, done.stderr
    assert (
        f'token "<bird>": {size + 1}, added with the mean of the rows of ' in done.stderr
        and ", which the tokenizer already has" in done.stderr
    ), done.stderr
    assert (
        config_of(tmp_path / "out")["vocab_size"]
        == size + 2
        == len(read_safetensors(tmp_path / "out/model.safetensors")[TABLE])
    )
    for kind in ("slow", "fast"):
        encoded = pieces_of(deberta, tmp_path / "out", TEXT, kind)
        at = encoded["tokens"].index("\n")
        assert (encoded["ids"][at], encoded["offsets"][at], encoded["ids"].count(size)) == (size, [7, 8], 1)
    said = json.loads((tmp_path / "out/all_results.json").read_text())
    scored = deberta(
        "eval", "--task", "mlm", "-m", tmp_path / "out", "--hold-out-every", "10", "--format", "json", corpus
    )
    assert json.loads(scored.stdout)["metrics"]["perplexity"] == said["eval_perplexity"]
    tokens = [
        int(go_on("shown", *more, "--dry-run").stdout.split("corpus tokens\t")[1].split()[0]) for more in (words, [])
    ]
    assert tokens[0] == tokens[1] + 54 * 6  # lines of the documents that are not held out
    whole = break_off(tmp_path / "out")
    assert go_on("out", *words).returncode == 0
    assert_same(tmp_path / "out", whole)
    done = go_on("out", "--add-tokens", r"\n")
    assert done.returncode == 2 and "add-tokens: expected" in done.stderr, done.stderr


def test_fine_tuning_adds_tokens(deberta, model, tmp_path):
    rows = tmp_path / "rows.jsonl"
    rows.write_text(
        jsonl(
            *(
                {"text": f"{WORDS[n % 16]}\n<bird> {WORDS[n % 7]}", "label": "good" if n % 2 else "bad"}
                for n in range(40)
            )
        )
    )
    words = [
        "finetune",
        "--task",
        "classification",
        "-m",
        model,
        "--train-file",
        rows,
        "--validation-split",
        "0.2",
        "--max-steps",
        "4",
        "--batch-size",
        "8",
        "--save-steps",
        "2",
        "--add-tokens",
        r"\n,<bird>",
    ]
    done = deberta(*words, "-o", tmp_path / "out")
    assert done.returncode == 0, done.stderr
    size = config_of(model)["vocab_size"]
    assert config_of(tmp_path / "out")["vocab_size"] == size + 2
    pieces = pieces_of(deberta, tmp_path / "out", "cat\n<bird> dog")["tokens"]
    assert "\n" in pieces and "<bird>" in pieces
    shown = deberta(*words, "--dry-run")
    assert shown.returncode == 0 and "<bird>" in shown.stdout.split("sequence\t", 1)[1], shown.stdout + shown.stderr
    assert rf'token "\n": {size}, added' in shown.stdout
    whole = break_off(tmp_path / "out")
    assert deberta(*words, "-o", tmp_path / "out").returncode == 0
    assert_same(tmp_path / "out", whole)


@pytest.mark.parametrize(
    "tokens, message", [("a\\x", "expected \\n, \\t or"), ("a,,b", "expected tokens of 1..1024 bytes, got one of 0")]
)
def test_tokens_that_cannot_be_are_refused(go_on, tmp_path, tokens, message):
    done = go_on("out", "--add-tokens", tokens)
    assert done.returncode == 2 and "--add-tokens: " + message in done.stderr and not (tmp_path / "out").exists(), (
        done.stderr
    )


@pytest.mark.parametrize("words", [("--lora-rank", "2"), ("--frozen-layers", "0")])
def test_tokens_whose_rows_would_not_be_trained_are_refused(deberta, tmp_path, words):
    model = make_model(tmp_path / "m", "lm")
    (tmp_path / "rows.jsonl").write_text('{"text": "a", "label": "x"}\n{"text": "b", "label": "y"}\n')
    done = deberta(
        "finetune",
        "--task",
        "classification",
        "-m",
        model,
        "--train-file",
        tmp_path / "rows.jsonl",
        "-o",
        tmp_path / "out",
        "--add-tokens",
        "<tag>",
        *words,
    )
    assert (
        done.returncode == 2 and f"--add-tokens: expected embeddings that are trained, got {words[0]}" in done.stderr
    ), done.stderr
