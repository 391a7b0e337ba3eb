"""`finetune` by its defaults: the rate of the model's size, the best model, the length that is read, the files beside
the weights; a run that learned nothing, and options that would change nothing."""

import json
import re
import resource
import shutil

import numpy
import pytest

from conftest import WORDS, log_of, rows_of
from models import make_model, read_safetensors, write_safetensors
from task_files import jsonl


def test_the_rate_is_that_of_the_models_size_and_is_recorded(finetune_texts, deberta, plain_base, tmp_path):
    done = finetune_texts(
        "--max-steps",
        "2",
        "--warmup-steps",
        "0",
        "--lr-scheduler-type",
        "constant",
        "--logging-steps",
        "1",
        text=jsonl(*rows_of(64)),
    )
    assert done.returncode == 0, done.stderr
    assert {line["learning_rate"] for line in log_of(tmp_path / "out")} == {2e-4}
    options = json.loads((tmp_path / "out/checkpoint-000002/trainer/state.json").read_text())["options"]
    assert options["learning-rate"] == "2e-4"
    # The same rate by its number goes on, in any spelling; another one does not.
    for same in ("2e-4", "0.0002", "2.0e-04"):
        assert (
            finetune_texts(
                "--max-steps", "2", "--warmup-steps", "0", "--lr-scheduler-type", "constant", "--learning-rate", same
            ).returncode
            == 0
        ), same
    done = finetune_texts(
        "--max-steps", "2", "--warmup-steps", "0", "--lr-scheduler-type", "constant", "--learning-rate", "2e-5"
    )
    assert done.returncode == 2 and "learning-rate: expected 2e-4 as in the run so far, got 2e-5" in done.stderr


def test_a_run_that_learned_nothing_says_so_last(finetune_texts):
    done = finetune_texts("--learning-rate", "1e-7", "--num-train-epochs", "12", text=jsonl(*rows_of(64)))
    assert done.returncode == 0, done.stderr
    said = re.search(
        r"^note: the loss hardly moved: ([\d.]+) in the last ten steps, where guessing costs 1\.098; a higher "
        r"--learning-rate",
        done.stderr.splitlines()[-1],
    )
    assert said and float(said[1]) > 1.04, done.stderr
    done = finetune_texts(
        "--learning-rate",
        "0.003",
        "--max-steps",
        "300",
        "--batch-size",
        "16",
        "--cls-dropout",
        "0",
        "--warmup-steps",
        "0",
        out="learned",
        text=jsonl(*({"text": f"a {word} .", "label": "abc"[n % 3]} for n, word in enumerate(WORDS))),
    )
    assert done.returncode == 0 and "hardly moved" not in done.stderr, done.stderr


@pytest.mark.parametrize(
    "words, message",
    [
        (["--vat-lambda", "2"], "--vat-lambda: expected --adversarial sift or vat as well"),
        (["--vat-learning-rate", "1e-4"], "--vat-learning-rate: expected --adversarial sift or vat as well"),
        (["--vat-init-perturbation", "1e-2"], "--vat-init-perturbation: expected --adversarial sift or vat as well"),
        (["--vat-loss-fn", "kl"], "--vat-loss-fn: expected --adversarial sift or vat as well"),
        (["--sift-compat", "original"], "--sift-compat: expected --adversarial sift or vat as well"),
        (
            ["--find-lr", "--learning-rate", "0"],
            "--learning-rate: expected a number above 0, as the rates that are tried are multiples of it, got 0",
        ),
        (
            ["--resume-override", "max-stepz"],
            (
                '--resume-override: expected names of options that a run compares, without dashes, got "max-stepz"; '
                "did you mean max-steps?"
            ),
        ),
        (
            ["swag", "--label-field", "answer"],
            "--label-field: expected none for the task swag, whose files name their own fields",
        ),
        (
            ["ner", "--input-field", "tokens"],
            "--input-field: expected none for the task ner, whose files name no fields",
        ),
    ],
)
def test_options_that_would_change_nothing_are_refused(finetune_texts, tmp_path, words, message):
    task = "classification" if words[0].startswith("--") else words.pop(0)
    done = finetune_texts(*words, "--max-steps", "1", text=jsonl(*rows_of(8)), task=task)
    assert done.returncode == 2 and message in done.stderr, done.stderr
    assert not (tmp_path / "out/config.json").exists()


def test_names_that_may_always_differ_can_be_overridden(finetune_texts):
    for _ in range(2):
        done = finetune_texts(
            "--max-steps", "1", "--resume-override", "save-steps,training files and tokenizer", text=jsonl(*rows_of(8))
        )
        assert done.returncode == 0, done.stderr


def test_the_last_line_does_not_depend_on_the_log(finetune_texts):
    """One class of fifty: the first steps cost more than guessing ever does."""
    text = jsonl(*({"text": f"row {n}", "label": "b" if n % 50 == 0 else "a"} for n in range(200)))
    said = [
        finetune_texts(
            "--learning-rate",
            "0.003",
            "--num-train-epochs",
            "6",
            "--logging-steps",
            steps,
            text=text,
            out=f"log{steps}",
        )
        .stderr.splitlines()[-1]
        .replace(f"log{steps}", "")
        for steps in ("2", "1000")
    ]
    assert said[0] == said[1]


def test_an_evaluation_that_is_no_number_is_never_the_best(deberta, tmp_path):
    """From a head of zeros: all scores are the same until the first step that moves it, and their correlation is not
    defined."""
    model = make_model(
        tmp_path / "m",
        "sequence",
        labels=("score",),
        hidden_dropout_prob=0.0,
        attention_probs_dropout_prob=0.0,
        initializer_range=0.2,
    )
    tensors = {name: numpy.array(array) for name, array in read_safetensors(model / "model.safetensors").items()}
    write_safetensors(
        model / "model.safetensors",
        tensors | {name: numpy.zeros_like(array) for name, array in tensors.items() if name.startswith("classifier.")},
    )
    scored = [
        {"sentence1": f"a {WORDS[n % 16]} .", "sentence2": f"a {WORDS[n // 2 % 16]} .", "score": n % 6}
        for n in range(32)
    ]
    for name, part in (("train", scored), ("dev", scored[5:25])):
        (tmp_path / f"{name}.jsonl").write_text(jsonl(*part))
    done = deberta(
        "finetune",
        "--task",
        "sts-b",
        "-m",
        model,
        "--train-file",
        tmp_path / "train.jsonl",
        "--validation-file",
        tmp_path / "dev.jsonl",
        "-o",
        tmp_path / "out",
        "--max-steps",
        "6",
        "--eval-steps",
        "1",
        "--warmup-steps",
        "3",
        "--learning-rate",
        "0.01",
        "--cls-dropout",
        "0",
    )
    assert done.returncode == 0, done.stderr
    values = {
        line["step"]: line["eval_combined_score"] for line in log_of(tmp_path / "out") if "eval_combined_score" in line
    }
    assert values[1] == "NaN" and any(isinstance(value, float) for value in values.values()), values
    best = max((value, -step) for step, value in values.items() if isinstance(value, float))
    results = json.loads((tmp_path / "out/all_results.json").read_text())
    assert results["eval_combined_score"] == best[0] and results.get("best_step", results["steps"]) == -best[1]


def test_the_best_model_is_chosen_by_the_metric_that_is_named(finetune_texts, tmp_path):
    done = finetune_texts(
        "--validation-split",
        "0.25",
        "--metric-for-best-model",
        "eval_f1_macro",
        "--num-train-epochs",
        "2",
        text=jsonl(*rows_of(64)),
    )
    assert done.returncode == 0, done.stderr
    states = [json.loads(path.read_text()) for path in (tmp_path / "out").glob("checkpoint-*/trainer/state.json")]
    assert {state["best"]["name"] for state in states} == {"eval_f1_macro"}
    assert all(set(state["best"]["others"]) == {"eval_accuracy", "eval_log_loss"} for state in states)
    best = max(line["eval_f1_macro"] for line in log_of(tmp_path / "out") if "eval_f1_macro" in line)
    assert (
        max(state["best"]["value"] for state in states)
        == best
        == json.loads((tmp_path / "out/all_results.json").read_text())["eval_f1_macro"]
    )


def test_the_best_model_may_be_that_of_the_lowest_loss(finetune_texts, deberta, tmp_path):
    """The loss of evaluations is in every log, by the name that `eval` has for it."""
    done = finetune_texts(
        "--validation-split",
        "0.25",
        "--best-metric",
        "loss",
        "--num-train-epochs",
        "6",
        "--learning-rate",
        "0.02",
        "--warmup-steps",
        "0",
        text=jsonl(*rows_of(64)),
    )
    assert done.returncode == 0, done.stderr
    values = {line["step"]: line["eval_log_loss"] for line in log_of(tmp_path / "out") if "eval_log_loss" in line}
    results = json.loads((tmp_path / "out/all_results.json").read_text())
    assert len(values) == 6 and results["eval_log_loss"] == min(values.values()) < max(values.values())
    (tmp_path / "all.jsonl").write_text((tmp_path / "train.jsonl").read_text())
    scored = json.loads(
        deberta(
            "eval",
            "--task",
            "classification",
            "-m",
            tmp_path / "out",
            tmp_path / "all.jsonl",
            "--metrics",
            "log_loss",
            "-f",
            "json",
            "--bootstrap",
            "0",
        ).stdout
    )["metrics"]
    assert 0 < scored["log_loss"] < 5


def test_a_model_of_another_activation_is_judged_without_a_loss(deberta, tmp_path):
    """As cross-encoders have it: their scores are no probabilities."""
    model = make_model(
        tmp_path / "m",
        "sequence",
        labels=("x", "y"),
        sentence_transformers={"activation_fn": "torch.nn.modules.linear.Identity"},
    )
    for name, count in (("train", 16), ("dev", 6)):
        (tmp_path / f"{name}.jsonl").write_text(
            jsonl(*({"text": f"{name} {n}", "label": "xy"[n % 2]} for n in range(count)))
        )
    done = deberta(
        "finetune",
        "--task",
        "classification",
        "-m",
        model,
        "--train-file",
        tmp_path / "train.jsonl",
        "--validation-file",
        tmp_path / "dev.jsonl",
        "-o",
        tmp_path / "out",
        "--max-steps",
        "1",
    )
    assert done.returncode == 0, done.stderr
    assert "eval_accuracy" in json.loads((tmp_path / "out/all_results.json").read_text())


def test_a_model_is_judged_and_read_at_the_length_that_it_was_trained_on(finetune_texts, deberta, plain_base, tmp_path):
    """The label stands after token 540: at 512 the texts of both classes are one."""
    filler = "a house . " * 200
    file = tmp_path / "dev.jsonl"
    file.write_text(jsonl(*({"text": filler + word, "label": label} for word, label in (("house", "x"), ("dog", "y")))))
    training = jsonl(
        *(
            {"text": f"{filler} {n} {word}", "label": label}
            for n in range(8)
            for word, label in (("house", "x"), ("dog", "y"))
        )
    )
    words = ("--validation-file", file, "--batch-size", "4", "--max-steps", "4")
    done = finetune_texts("--max-tokens", "1024", *words, text=training)
    assert done.returncode == 0, done.stderr
    p_gold = [json.loads(line)["p_gold"] for line in (tmp_path / "out/eval_predictions.jsonl").read_text().splitlines()]
    assert abs(sum(p_gold) - 1) > 1e-7, "both texts were cut before they differ"
    assert json.loads((tmp_path / "out/tokenizer_config.json").read_text())["model_max_length"] == 1024
    assert (
        json.loads((tmp_path / "out/checkpoint-000004/tokenizer_config.json").read_text())["model_max_length"] == 1024
    )
    scores = [
        json.loads(line)["labels"]
        for line in deberta(
            "classify", "-m", tmp_path / "out", "--top-k", "2", "-f", "jsonl", "-i", file
        ).stdout.splitlines()
    ]
    for wanted, found, label in zip(p_gold, scores, "xy"):
        assert next(one["score"] for one in found if one["label"] == label) == pytest.approx(wanted, abs=1e-6)
    cut = deberta("classify", "-m", tmp_path / "out", "--max-tokens", "512", "-i", file)
    assert "note: 2 of 2 rows cut to 512 tokens" in cut.stderr
    assert "cut" not in deberta("eval", "--task", "classification", "-m", tmp_path / "out", file).stderr
    # Shorter training leaves the folder's own length.
    short = finetune_texts("--max-tokens", "64", *words, text=training, out="short")
    assert short.returncode == 0
    assert "evaluation: 2 of 2 rows cut to 512 tokens" in short.stderr
    assert "cut to" not in done.stderr
    assert not (tmp_path / "short/tokenizer_config.json").exists()


def test_files_beside_the_weights_are_left_where_they_are(deberta, plain_base, tmp_path):
    model = tmp_path / "model"
    shutil.copytree(plain_base, model)
    names = {
        "notes.json": "{}",
        "generation_config.json": "{}",
        "tokenizer_config.json": "{}",
        "special_tokens_map.json": "{}",
        "LICENSE": "terms",
        "other.txt": "x",
    }
    for name, text in names.items():
        (model / name).write_text(text)
    (tmp_path / "train.jsonl").write_text(jsonl(*rows_of(8)))
    done = deberta(
        "finetune",
        "--task",
        "classification",
        "-m",
        model,
        "--train-file",
        tmp_path / "train.jsonl",
        "-o",
        tmp_path / "out",
        "--max-steps",
        "1",
    )
    assert done.returncode == 0, done.stderr
    for folder in (tmp_path / "out", tmp_path / "out/checkpoint-000001"):
        assert {path.name for path in folder.iterdir()} & set(names) == {
            "tokenizer_config.json",
            "special_tokens_map.json",
            "LICENSE",
        }


def test_an_address_space_without_room_for_libtorch_is_told_in_a_sentence(deberta, plain_base, tmp_path):
    (tmp_path / "train.jsonl").write_text(jsonl(*rows_of(8)))
    words = (
        "finetune",
        "--task",
        "classification",
        "-m",
        plain_base,
        "--train-file",
        tmp_path / "train.jsonl",
        "-o",
        tmp_path / "out",
    )
    for limit in (300, 511):
        done = deberta(
            *words, preexec_fn=lambda limit=limit: resource.setrlimit(resource.RLIMIT_AS, (limit << 20, limit << 20))
        )
        assert (done.returncode, done.stdout) == (1, "")
        assert "finetune: expected an address space of at least 512 MiB" in done.stderr
        assert f"got {limit}; raise the limit" in done.stderr
