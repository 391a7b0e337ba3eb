"""finetune --pooling: what the files say, what is kept and what begins anew, resume. The numbers, beside torch:
tests/oracle/test_pooling.py."""

import json

import pytest

from conftest import log_of, weights_of
from models import make_model, read_safetensors
from task_files import jsonl

POOLINGS = ["mean", "max", "attention"]


@pytest.fixture
def finetune(deberta, dropping_base, rows):
    def run(out, *words, base=dropping_base, task="classification", file=rows, steps=3, rate=0.02):
        return deberta(
            "finetune",
            "--task",
            task,
            "-m",
            base,
            "--train-file",
            file,
            "-o",
            out,
            "--logging-steps",
            "1",
            "--max-steps",
            steps,
            "--learning-rate",
            rate,
            "--warmup-steps",
            "0",
            "--batch-size",
            "8",
            *words,
        )

    return run


def config_of(folder):
    return json.loads((folder / "config.json").read_text())


def logits_of(deberta, folder):
    done = deberta("classify", "-q", "-m", folder, "-f", "jsonl", "--activation", "none", "cat dog tree", "rain")
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("pooling", POOLINGS)
def test_the_files_say_what_the_head_reads(finetune, deberta, dev_rows, tmp_path, pooling):
    out = tmp_path / "out"
    done = finetune(out, "--pooling", pooling, "--validation-file", dev_rows)
    assert done.returncode == 0, done.stderr
    config = config_of(out)
    assert (config["classifier_pooling"], config["model_type"]) == (pooling, "deberta-v2-pooled")
    assert ("pooler.attention.weight" in read_safetensors(out / "model.safetensors")) == (pooling == "attention")
    scored = deberta("eval", "--task", "classification", "-m", out, dev_rows, "-f", "json", "--bootstrap", "0")
    assert scored.returncode == 0, scored.stderr
    assert (
        json.loads(scored.stdout)["metrics"]["accuracy"]
        == json.loads((out / "all_results.json").read_text())["eval_accuracy"]
    )
    assert f"classifier_pooling\t{pooling}\n" in deberta("info", "-m", out).stdout
    assert deberta("check", "-m", out).returncode == 0
    card = (out / "README.md").read_text()
    assert "library_name: deberta\n" in card
    assert f"(classifier_pooling {pooling} in config.json)" in card
    assert "from transformers import" not in card
    logits = logits_of(deberta, out)
    (out / "config.json").write_text(json.dumps(config | {"classifier_pooling": "first", "model_type": "deberta-v2"}))
    if pooling == "attention":
        refused = deberta("classify", "-m", out, "cat")
        assert refused.returncode == 1
        assert (
            'unexpected tensor pooler.attention.weight [16]; config.json has classifier_pooling "first"'
            in refused.stderr
        )
    else:
        assert logits_of(deberta, out) != logits


def test_without_the_option_the_files_are_those_of_before(finetune, tmp_path):
    assert finetune(tmp_path / "auto").returncode == 0
    assert finetune(tmp_path / "first", "--pooling", "first").returncode == 0
    assert weights_of(tmp_path / "auto") == weights_of(tmp_path / "first")
    for name in "auto", "first":
        assert config_of(tmp_path / name)["model_type"] == "deberta-v2"
        assert "classifier_pooling" not in config_of(tmp_path / name)


def test_a_model_keeps_its_pooling_and_its_head_unless_another_is_asked_for(finetune, tmp_path):
    still = {"steps": 1, "rate": 0}
    base = tmp_path / "base"
    assert finetune(base, "--pooling", "attention").returncode == 0
    before = read_safetensors(base / "model.safetensors")
    heads = {name for name in before if not name.startswith("deberta.")}
    for name, words in {"kept": [], "same": ["--pooling", "attention"]}.items():
        done = finetune(tmp_path / name, *words, **still, base=base)
        assert done.returncode == 0 and "random weights" not in done.stderr, done.stderr
        assert config_of(tmp_path / name)["classifier_pooling"] == "attention"
        assert weights_of(tmp_path / name) == weights_of(base)
    new = "new, with random weights: pooler.dense.weight pooler.dense.bias classifier.weight classifier.bias\n"
    for pooling, model_type in ("mean", "deberta-v2-pooled"), ("first", "deberta-v2"):
        done = finetune(tmp_path / pooling, "--pooling", pooling, **still, base=base)
        assert done.returncode == 0 and new in done.stderr, done.stderr
        assert config_of(tmp_path / pooling)["model_type"] == model_type
        after = read_safetensors(tmp_path / pooling / "model.safetensors")
        assert set(after) == set(before) - {"pooler.attention.weight"}
        assert all(
            (after[name] == before[name]).all() != (name in heads and name.endswith(".weight"))
            for name in after
            if not name.endswith(".bias")
        )
    done = finetune(tmp_path / "back", "--pooling", "attention", **still, base=tmp_path / "mean")
    assert done.returncode == 0 and new.replace(": ", ": pooler.attention.weight ") in done.stderr, done.stderr


def test_heads_that_read_each_token_have_no_pooling(finetune, deberta, tmp_path):
    file = tmp_path / "train.txt"
    file.write_text("a DT O O\ncat NN O B-PER\n\n" * 8)
    done = finetune(tmp_path / "out", "--pooling", "mean", task="ner", file=file)
    assert (
        done.returncode == 2
        and "--pooling: expected a task with a head of sequences" in done.stderr
        and "got ner" in done.stderr
    ), done.stderr
    base = tmp_path / "base"
    assert finetune(base, "--pooling", "attention").returncode == 0
    done = finetune(tmp_path / "ner", base=base, task="ner", file=file)
    assert done.returncode == 0, done.stderr
    assert (config_of(tmp_path / "ner")["classifier_pooling"], config_of(tmp_path / "ner")["model_type"]) == (
        "first",
        "deberta-v2",
    )
    assert deberta("ner", "-m", tmp_path / "ner", "a cat").returncode == 0


def test_choices_and_scores_pool_too(finetune, deberta, tmp_path):
    words = "cat dog tree house".split()
    files = {
        "race": jsonl(
            *(
                {
                    "article": f"It was {word} .",
                    "id": str(n),
                    "questions": ["What was it ?"],
                    "options": [words],
                    "answers": ["ABCD"[n]],
                }
                for n, word in enumerate(words)
            )
        ),
        "regression": jsonl(*({"text": f"a {word} .", "label": n / 4} for n, word in enumerate(words))),
    }
    for task, text in files.items():
        file = tmp_path / (task + ".jsonl")
        file.write_text(text)
        done = finetune(tmp_path / task, "--pooling", "max", task=task, file=file)
        assert done.returncode == 0 and config_of(tmp_path / task)["classifier_pooling"] == "max", done.stderr
    assert deberta("choose", "-m", tmp_path / "race", "It was cat .", "What was it ?", "cat", "dog").returncode == 0
    assert deberta("rerank", "-m", tmp_path / "regression", "--query", "a cat", "dog", "tree").returncode == 0


@pytest.mark.parametrize("more", [[], ["--adversarial", "sift"], ["--lora-rank", "4"], ["--dtype", "bf16"]])
def test_a_run_that_goes_on_ends_in_the_same_bits(finetune, tmp_path, more):
    words = [
        "--pooling",
        "attention",
        "--gradient-accumulation-steps",
        "2",
        "--lr-scheduler-type",
        "constant",
        "--resume-override",
        "max-steps",
        *more,
    ]
    for name, steps in ("whole", 6), ("parts", 3), ("parts", 6):
        done = finetune(tmp_path / name, *words, steps=steps)
        assert done.returncode == 0, done.stderr
    assert weights_of(tmp_path / "whole") == weights_of(tmp_path / "parts")
    assert log_of(tmp_path / "whole") == log_of(tmp_path / "parts")
    done = finetune(tmp_path / "parts", "--pooling", "mean", *words[2:], steps=8)
    assert done.returncode == 2 and "pooling: expected attention" in done.stderr, done.stderr


def test_threads_and_memory_change_nothing(finetune, tmp_path):
    for pooling in POOLINGS:
        for name, words in {
            "1": ["--threads", "1"],
            "3": ["--threads", "3"],
            "less": ["--gradient-checkpointing"],
        }.items():
            assert finetune(tmp_path / (pooling + name), "--pooling", pooling, *words).returncode == 0
        assert (
            weights_of(tmp_path / (pooling + "1"))
            == weights_of(tmp_path / (pooling + "3"))
            == weights_of(tmp_path / (pooling + "less"))
        )


def test_lora_leaves_no_adapter_that_peft_would_compute_wrongly(finetune, tmp_path):
    done = finetune(tmp_path / "out", "--pooling", "mean", "--lora-rank", "4")
    assert (
        done.returncode == 0 and "without an adapter for peft: transformers pools only the first token" in done.stderr
    ), done.stderr
    assert not (tmp_path / "out/adapter").exists()


def test_a_teacher_may_pool_in_another_way(finetune, tmp_path):
    assert finetune(tmp_path / "teacher", "--pooling", "mean").returncode == 0
    done = finetune(tmp_path / "out", "--pooling", "max", "--teacher", tmp_path / "teacher")
    assert done.returncode == 0, done.stderr


def test_a_model_in_bf16_answers_nearly_the_same(finetune, deberta, tmp_path):
    assert finetune(tmp_path / "out", "--pooling", "attention").returncode == 0
    done = deberta("convert", "-m", tmp_path / "out", "-o", tmp_path / "small", "--dtype", "bf16")
    assert done.returncode == 0, done.stderr
    assert config_of(tmp_path / "small")["model_type"] == "deberta-v2-pooled"
    scores = {}
    for name in "out", "small":
        scores[name] = {
            row["label"]: row["score"]
            for row in json.loads(logits_of(deberta, tmp_path / name).splitlines()[0])["labels"]
        }
    assert scores["out"] == pytest.approx(scores["small"], abs=0.1) and scores["out"] != scores["small"]


def test_a_wrong_value_and_a_missing_tensor_are_named(deberta, tmp_path):
    model = make_model(tmp_path / "model", "sequence", classifier_pooling="cls")
    done = deberta("classify", "-m", model, "a text")
    assert done.returncode == 1
    assert (
        'config.json: classifier_pooling: expected "first", "mean", "max" or "attention", got "cls" (string)'
        in done.stderr
    )
    model = make_model(tmp_path / "other", "sequence", classifier_pooling="attention")
    done = deberta("classify", "-m", model, "a text")
    assert done.returncode == 1
    assert '1 tensor missing: pooler.attention.weight; config.json has classifier_pooling "attention"' in done.stderr
