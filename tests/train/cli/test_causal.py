"""Left to right: what `pretrain --objective causal` leaves says so, `eval` scores it as the trainer does, and verbs for
masks refuse it."""

import json

import pytest

from conftest import log_of


@pytest.fixture(scope="module")
def texts(corpus):
    return [line for line in corpus.read_text().splitlines() if not line.startswith("<|doc")][:20]


@pytest.fixture
def model(pretrain, tmp_path):
    done = pretrain(tmp_path / "model", "--max-steps", "40", "--objective", "causal")
    assert done.returncode == 0, done.stderr
    return tmp_path / "model"


def metrics_of(done):
    assert done.returncode == 0 and done.stderr == "", done.stderr
    return json.loads(done.stdout)["metrics"]


def test_the_figure_of_a_run_is_that_of_eval(deberta, corpus, model):
    log = log_of(model)
    assert log[0]["labels_per_step"] == 8 * 31 and [line for line in log if "loss" in line][-1]["loss"] < log[0]["loss"]
    said = json.loads((model / "all_results.json").read_text())
    metrics = metrics_of(
        deberta("eval", "--task", "causal", "-m", model, "--hold-out-every", "10", "--format", "json", "-q", corpus)
    )
    for name in ("accuracy", "perplexity", "word_perplexity", "pieces", "words"):
        assert said["eval_" + name] == metrics[name], name
    assert metrics["perplexity"] < 0.5 * metrics["word_perplexity"] and metrics["words"] == 6 * 6 * 25


def test_the_trainer_gives_the_same_loss_to_the_same_texts(deberta, model, texts, tmp_path):
    safetensors = pytest.importorskip("safetensors.numpy")
    numpy = pytest.importorskip("numpy")
    rows = [
        json.loads(line) for line in deberta("tokenize", "-m", model, "--format", "jsonl", *texts).stdout.splitlines()
    ]
    ids = [row["ids"] for row in rows]
    length = max(map(len, ids))
    batch = {name: numpy.zeros((len(ids), length), numpy.int64) for name in ("input_ids", "attention_mask")}
    batch["labels"] = numpy.full((len(ids), length), -100, numpy.int64)
    for row, text in enumerate(ids):
        batch["input_ids"][row, : len(text)] = text
        batch["attention_mask"][row, : len(text)] = 1
        batch["labels"][row, : len(text) - 2] = text[1:-1]  # what follows each token, but for the last [SEP]
    safetensors.save_file({"0." + name: value for name, value in batch.items()}, tmp_path / "batches.safetensors")
    done = deberta(
        "replay",
        "-m",
        model,
        "--objective",
        "causal",
        "--batches",
        tmp_path / "batches.safetensors",
        "-o",
        tmp_path / "out.safetensors",
    )
    assert done.returncode == 0, done.stderr
    loss = safetensors.load_file(tmp_path / "out.safetensors")["0.loss"].item()
    (tmp_path / "texts.txt").write_text("\n".join(texts) + "\n")
    metrics = metrics_of(
        deberta("eval", "--task", "causal", "-m", model, "--format", "json", "-q", tmp_path / "texts.txt")
    )
    assert metrics["perplexity"] == pytest.approx(numpy.exp(loss), rel=1e-5)


def test_the_files_say_that_the_model_reads_one_way(deberta, model):
    config = json.loads((model / "config.json").read_text())
    assert config["is_decoder"] is True and config["architectures"] == ["DebertaV2ForCausalLM"]
    for verb in (["fill", "a [MASK] cat"], ["score", "a cat"], ["eval", "--task", "mlm", model / "config.json"]):
        done = deberta(verb[0], "-m", model, *verb[1:])
        assert done.returncode == 1 and "expected a masked language model head, got causal-lm" in done.stderr, verb


def test_a_model_is_trained_further_either_way_and_the_files_follow(pretrain, deberta, model, tmp_path):
    def config_of(name):
        config = json.loads((tmp_path / name / "config.json").read_text())
        return config["is_decoder"], config["architectures"]

    refused = pretrain(tmp_path / "masked", "-m", model, "--max-steps", "2", "--decoder-passes", "2")
    # of the mask decoder
    assert refused.returncode == 1 and "tensor missing: embeddings.position_embeddings.weight" in refused.stderr
    done = pretrain(tmp_path / "masked", "-m", model, "--max-steps", "2")
    assert done.returncode == 0 and f"without the mask decoder: {model} has no position table" in done.stderr, (
        done.stderr
    )
    assert config_of("masked") == (False, ["DebertaV2ForMaskedLM"])
    assert deberta("fill", "-m", tmp_path / "masked", "a [MASK] cat").returncode == 0
    done = pretrain(tmp_path / "causal", "-m", tmp_path / "masked", "--objective", "causal", "--max-steps", "2")
    assert done.returncode == 0, done.stderr
    assert config_of("causal") == (True, ["DebertaV2ForCausalLM"])


def test_a_convolution_would_see_what_is_to_be_predicted(pretrain, tmp_path):
    done = pretrain(
        tmp_path / "out",
        "--max-steps",
        "2",
        "--objective",
        "causal",
        "--config-overrides",
        "num_hidden_layers=2,hidden_size=32,num_attention_heads=2,position_buckets=8,conv_kernel_size=3",
    )
    assert done.returncode != 0 and "conv_kernel_size: expected 0, as a convolution sees the token" in done.stderr
    assert not (tmp_path / "out").exists()
