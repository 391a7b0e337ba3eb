"""`finetune` by its defaults: the rate of the model's size, a share of the examples held out, labels that are none, a
run that learned nothing."""

import json
import re
import resource
import shutil

import numpy
import pytest

from conftest import WORDS, log_of, weights_of
from models import make_model, read_safetensors, write_safetensors
from task_files import jsonl


@pytest.fixture(scope="module")
def base(tmp_path_factory):
    return make_model(
        tmp_path_factory.mktemp("base"),
        "lm",
        hidden_dropout_prob=0.0,
        attention_probs_dropout_prob=0.0,
        initializer_range=0.2,
    )


def rows(count, labels="abc"):
    return [{"text": f"a {WORDS[n % 16]} {n} .", "label": labels[n % len(labels)]} for n in range(count)]


@pytest.fixture
def finetune(deberta, base, tmp_path):
    def run(*words, text=None, task="classification", out="out"):
        file = tmp_path / "train.jsonl"
        if text is not None:
            file.write_text(text)
        return deberta("finetune", "--task", task, "-m", base, "--train-file", file, "-o", tmp_path / out, *words)

    return run


def test_the_rate_is_that_of_the_models_size_and_is_recorded(finetune, deberta, base, tmp_path):
    done = finetune(
        "--max-steps",
        "2",
        "--warmup-steps",
        "0",
        "--lr-scheduler-type",
        "constant",
        "--logging-steps",
        "1",
        text=jsonl(*rows(64)),
    )
    assert done.returncode == 0, done.stderr
    assert {line["learning_rate"] for line in log_of(tmp_path / "out")} == {2e-4}
    options = json.loads((tmp_path / "out/checkpoint-000002/trainer/state.json").read_text())["options"]
    assert options["learning-rate"] == "2e-4"
    # The same rate by its number goes on, in any spelling; another one does not.
    for same in ("2e-4", "0.0002", "2.0e-04"):
        assert (
            finetune(
                "--max-steps", "2", "--warmup-steps", "0", "--lr-scheduler-type", "constant", "--learning-rate", same
            ).returncode
            == 0
        ), same
    done = finetune(
        "--max-steps", "2", "--warmup-steps", "0", "--lr-scheduler-type", "constant", "--learning-rate", "2e-5"
    )
    assert done.returncode == 2 and "learning-rate: expected 2e-4 as in the run so far, got 2e-5" in done.stderr


def test_a_run_that_learned_nothing_says_so_last(finetune):
    done = finetune("--learning-rate", "1e-7", "--num-train-epochs", "12", text=jsonl(*rows(64)))
    assert done.returncode == 0, done.stderr
    said = re.search(
        r"^note: the loss hardly moved: ([\d.]+) in the last ten steps, where guessing costs 1\.098; a higher "
        r"--learning-rate",
        done.stderr.splitlines()[-1],
    )
    assert said and float(said[1]) > 1.04, done.stderr
    done = finetune(
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


def test_a_share_is_held_out_and_evaluated_on(finetune, deberta, base, tmp_path):
    text = jsonl(*rows(200))
    done = finetune("--validation-split", "0.1", "--num-train-epochs", "2", "--early-stopping-patience", "3", text=text)
    assert done.returncode == 0, done.stderr
    assert "180 samples from 180 examples; 20 examples are held out for evaluation" in done.stderr
    results = json.loads((tmp_path / "out/all_results.json").read_text())
    assert 0 <= results["eval_accuracy"] <= 1
    # The rows of the report are those held out; what they are scored is what the result answers.
    held_out = [json.loads(line) for line in (tmp_path / "out/eval_predictions.jsonl").read_text().splitlines()]
    assert len(held_out) == 20 and len({row["text"] for row in held_out}) == 20
    places = [int(row["where"].rpartition(":")[2]) for row in held_out]
    assert all(10 * n < place <= 10 * n + 10 for n, place in enumerate(places)), "one of each ten"
    texts = {row["text"] for row in held_out}
    (tmp_path / "dev.jsonl").write_text(jsonl(*(row for row in rows(200) if row["text"] in texts)))
    scored = deberta(
        "eval",
        "--task",
        "classification",
        "-m",
        tmp_path / "out",
        tmp_path / "dev.jsonl",
        "-f",
        "json",
        "--bootstrap",
        "0",
    )
    assert json.loads(scored.stdout)["metrics"]["accuracy"] == results["eval_accuracy"]
    # The same as with two files.
    (tmp_path / "rest.jsonl").write_text(jsonl(*(row for row in rows(200) if row["text"] not in texts)))
    again = deberta(
        "finetune",
        "--task",
        "classification",
        "-m",
        base,
        "--train-file",
        tmp_path / "rest.jsonl",
        "--validation-file",
        tmp_path / "dev.jsonl",
        "-o",
        tmp_path / "two",
        "--num-train-epochs",
        "2",
        "--early-stopping-patience",
        "3",
    )
    assert again.returncode == 0 and weights_of(tmp_path / "two") == weights_of(tmp_path / "out")


def test_a_class_that_only_the_held_out_examples_have_is_a_class(finetune, tmp_path):
    for seed in range(3):
        text = jsonl(*rows(40, "ab"), *({"text": f"rare {n}", "label": "c"} for n in range(1)))
        done = finetune("--validation-split", "0.5", "--max-steps", "1", "--seed", seed, text=text, out=f"out{seed}")
        assert done.returncode == 0, done.stderr
        assert list(json.loads((tmp_path / f"out{seed}/config.json").read_text())["id2label"].values()) == [
            "a",
            "b",
            "c",
        ]


def test_sentences_and_contexts_are_held_out_whole(finetune, deberta, base, tmp_path):
    (tmp_path / "train.txt").write_text(
        "".join(f"a O\n{WORDS[n % 16]} {'B-PER' if n % 2 else 'O'}\n\n" for n in range(40))
    )
    done = deberta(
        "finetune",
        "--task",
        "ner",
        "-m",
        base,
        "--train-file",
        tmp_path / "train.txt",
        "-o",
        tmp_path / "ner",
        "--validation-split",
        "0.25",
        "--max-steps",
        "1",
    )
    assert done.returncode == 0 and "30 samples from 30 examples; 10 examples are held out" in done.stderr, done.stderr
    paragraphs = [
        {
            "context": f"The {word} sat .",
            "qas": [
                {"id": f"{word}{n}", "question": "Who ?", "answers": [{"text": word, "answer_start": 4}]}
                for n in range(3)
            ],
        }
        for word in WORDS
    ]
    (tmp_path / "train.json").write_text(
        json.dumps({"version": "1.1", "data": [{"title": "T", "paragraphs": paragraphs}]})
    )
    done = deberta(
        "finetune",
        "--task",
        "squad",
        "-m",
        base,
        "--train-file",
        tmp_path / "train.json",
        "-o",
        tmp_path / "squad",
        "--validation-split",
        "0.25",
        "--max-steps",
        "1",
    )
    assert done.returncode == 0 and "36 samples from 36 examples; 12 examples are held out" in done.stderr, done.stderr


@pytest.mark.parametrize(
    "words, message",
    [
        (
            ["--validation-split", "0.1", "--validation-file", "x.jsonl"],
            "--validation-split: expected this or --validation-file, got both",
        ),
        (["--validation-split", "0.6"], "--validation-split: expected at most 0.5, got 0.6"),
        (
            ["--validation-split", "0.001"],
            "expected a share that holds out at least one example with a label, got none of 64; name a larger share",
        ),
        (["--validation-split", "0.1", "--train-file", "-"], "expected training files that can be read again, got -"),
        (
            ["--validation-split", "0.1", "--best-metric", "f1"],
            '--best-metric: expected one of accuracy, f1_macro, log_loss, got "f1"',
        ),
        (["--validation-file", "-"], "--validation-file: expected files that can be read again, got -"),
        (["--best-metric", "accuracy"], "--best-metric: expected evaluations to compare"),
    ],
)
def test_splits_that_cannot_be_are_refused(finetune, tmp_path, words, message):
    done = finetune(*words, "--seed", "2", text=jsonl(*rows(64)))
    assert done.returncode == 2 and message in done.stderr, done.stderr
    assert not (tmp_path / "out/config.json").exists()


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
def test_options_that_would_change_nothing_are_refused(finetune, tmp_path, words, message):
    task = "classification" if words[0].startswith("--") else words.pop(0)
    done = finetune(*words, "--max-steps", "1", text=jsonl(*rows(8)), task=task)
    assert done.returncode == 2 and message in done.stderr, done.stderr
    assert not (tmp_path / "out/config.json").exists()


def test_names_that_may_always_differ_can_be_overridden(finetune):
    for _ in range(2):
        done = finetune(
            "--max-steps", "1", "--resume-override", "save-steps,training files and tokenizer", text=jsonl(*rows(8))
        )
        assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    "labels, message",
    [
        (
            [f"id {n}" for n in range(60)],
            "expected labels that several examples share, got 60 classes in 60 examples: id 0, id 1, id 2, ...; "
            "name the column or key of the label with --label-field",
        ),
        (
            [n / 8 for n in range(30)] * 4,
            "got 30 classes in 120 examples: 0.0, 0.125, 0.25, ...; learn numbers as the task regression",
        ),
        (list(range(30)) * 2, None),
        ([f"intent {n}" for n in range(40)] * 2, None),
        ([f"intent {n % 25}" for n in range(40)], None),
        (["other"] * 30 + [f"rare {n}" for n in range(30)], None),
        (["one"] * 30, 'expected two classes or more, got "one" alone'),
        (["good", " good", "Good ", "bad"] * 4, None),
        ([f"{n}" for n in range(20)], None),
    ],
)
def test_labels_that_tell_rows_apart_are_refused(finetune, labels, message):
    done = finetune("--dry-run", text=jsonl(*({"text": f"row {n}", "label": label} for n, label in enumerate(labels))))
    assert done.returncode == (1 if message else 0), done.stderr
    assert message is None or message in done.stderr, done.stderr


def test_labels_with_blanks_are_those_without(finetune, tmp_path):
    done = finetune(
        "--max-steps",
        "1",
        text=jsonl(*({"text": f"row {n}", "label": ["good", " good", "Good ", "bad"][n % 4]} for n in range(16))),
    )
    assert done.returncode == 0, done.stderr
    assert list(json.loads((tmp_path / "out/config.json").read_text())["id2label"].values()) == ["bad", "good"]


def test_the_last_line_does_not_depend_on_the_log(finetune):
    """One class of fifty: the first steps cost more than guessing ever does."""
    text = jsonl(*({"text": f"row {n}", "label": "b" if n % 50 == 0 else "a"} for n in range(200)))
    said = [
        finetune(
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


def test_what_a_split_repeats_and_lacks_is_told(finetune, tmp_path):
    text = jsonl(*rows(40))
    (tmp_path / "copy.jsonl").write_text(text)
    done = finetune(
        "--validation-split",
        "0.5",
        "--train-file",
        tmp_path / "copy.jsonl",
        "--max-steps",
        "1",
        "--seed",
        "3",
        text=text,
    )
    assert done.returncode == 0 and re.search(
        r"40 examples are held out for evaluation; \d+ of them have texts that are trained on as well", done.stderr
    ), done.stderr
    without = [row | ({} if n % 4 else {"label": ""}) for n, row in enumerate(rows(40))]
    done = finetune("--validation-split", "0.5", "--max-steps", "1", text=jsonl(*without), out="without")
    assert done.returncode == 0 and re.search(
        r"20 examples are held out for evaluation, \d+ of them without a label", done.stderr
    ), done.stderr
    done = finetune(
        "--validation-split",
        "0.5",
        "--max-steps",
        "1",
        text=jsonl(*(row | {"label": ""} for row in rows(40))),
        out="none",
    )
    assert done.returncode in (1, 2) and not (tmp_path / "none/metrics.jsonl").exists()


def test_answers_to_the_questions_of_one_passage_stay_together(deberta, base, tmp_path):
    passages = [
        {
            "idx": p,
            "passage": {
                "text": f"Passage {p} .",
                "questions": [
                    {
                        "idx": 10 * p + q,
                        "question": f"What {q} ?",
                        "answers": [{"idx": 100 * p + 10 * q + n, "text": f"{n}", "label": n % 2} for n in range(3)],
                    }
                    for q in range(4)
                ],
            },
        }
        for p in range(8)
    ]
    (tmp_path / "train.jsonl").write_text(jsonl(*passages))
    done = deberta(
        "finetune",
        "--task",
        "multirc",
        "-m",
        base,
        "--train-file",
        tmp_path / "train.jsonl",
        "-o",
        tmp_path / "out",
        "--validation-split",
        "0.25",
        "--max-steps",
        "1",
    )
    assert done.returncode == 0 and "72 samples from 72 examples; 24 examples are held out" in done.stderr, done.stderr
    texts = [json.loads(line)["text"] for line in (tmp_path / "out/eval_predictions.jsonl").read_text().splitlines()]
    assert len(texts) == 24 and len({text.split(" .")[0] for text in texts}) == 2


def test_pairs_of_ones_own_file_are_pairs_everywhere(finetune, deberta, tmp_path):
    """As `classify` reads them by default."""
    text = jsonl(*({"text": f"a {WORDS[n % 16]}", "text_pair": f"b {n}", "label": "ab"[n % 2]} for n in range(16)))
    done = finetune("--max-steps", "1", "--dry-run", text=text)
    assert done.returncode == 0 and all(
        line.count("[SEP]") == 2 for line in done.stdout.splitlines() if line.startswith("sequence\t")
    ), done.stdout
    model = make_model(tmp_path / "s", "sequence", labels=("a", "b"))
    scored = [
        json.loads(
            deberta(
                "eval",
                "--task",
                "classification",
                "-m",
                model,
                tmp_path / "train.jsonl",
                "-f",
                "json",
                "--bootstrap",
                "0",
                *more,
            ).stdout
        )["metrics"]
        for more in ([], ["--input-field", "text,text_pair"])
    ]
    labels = [
        json.loads(line)["label"]
        for line in deberta(
            "classify", "-m", model, "-i", tmp_path / "train.jsonl", "-f", "jsonl", "--keep", "none"
        ).stdout.splitlines()
    ]
    assert scored[0] == scored[1]
    assert scored[0]["accuracy"] == sum(label == "ab"[n % 2] for n, label in enumerate(labels)) / 16


def test_a_label_field_that_no_row_has_lists_what_there_is(finetune, deberta, base, tmp_path):
    done = finetune("--label-field", "topic", text=jsonl(*rows(4)))
    assert (
        done.returncode == 1
        and (
            "train.jsonl:1: expected a field named topic in this row or another, got text, label; name one that "
            "the file has with --label-field"
        )
        in done.stderr
    ), done.stderr
    (tmp_path / "train.csv").write_text("text,kind\na,b\nc,d\n")
    for verb in ["finetune", "--train-file"], ["eval", "-i"]:
        done = deberta(
            verb[0],
            "--task",
            "classification",
            "-m",
            base if verb[0] == "finetune" else make_model(tmp_path / "s", "sequence"),
            verb[1],
            tmp_path / "train.csv",
            "--label-field",
            "topic",
            *(["-o", tmp_path / "out"] if verb[0] == "finetune" else []),
        )
        assert (
            done.returncode == 1
            and "train.csv:1: expected a header line with columns named text or sentence" in done.stderr
            and 'topic, got "text, kind"' in done.stderr
        ), done.stderr


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


def test_a_model_is_judged_and_read_at_the_length_that_it_was_trained_on(finetune, deberta, base, tmp_path):
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
    done = finetune("--max-tokens", "1024", *words, text=training)
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
    short = finetune("--max-tokens", "64", *words, text=training, out="short")
    assert short.returncode == 0
    assert "evaluation: 2 of 2 rows cut to 512 tokens" in short.stderr
    assert "cut to" not in done.stderr
    assert not (tmp_path / "short/tokenizer_config.json").exists()


def test_the_best_model_is_chosen_by_the_metric_that_is_named(finetune, tmp_path):
    done = finetune(
        "--validation-split",
        "0.25",
        "--metric-for-best-model",
        "eval_f1_macro",
        "--num-train-epochs",
        "2",
        text=jsonl(*rows(64)),
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


def test_the_best_model_may_be_that_of_the_lowest_loss(finetune, deberta, tmp_path):
    """The loss of evaluations is in every log, by the name that `eval` has for it."""
    done = finetune(
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
        text=jsonl(*rows(64)),
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


@pytest.mark.parametrize(
    "line, message",
    [
        (
            '{"text": "a b", "label": "z"}',
            (
                'label: expected one of a, b, c, got "z"; the same holds for 1 of 2 rows, whose labels are a (1), z '
                "(1); leave such rows out, or train on some of them"
            ),
        ),
        ('{"text": 7, "label": "a"}', "dev.jsonl:2"),
        ("no JSON", "dev.jsonl:2"),
    ],
)
def test_the_validation_file_is_read_before_the_first_step(finetune, tmp_path, line, message):
    (tmp_path / "dev.jsonl").write_text(jsonl(rows(1)[0]) + line + "\n")
    for words in ((), ("--dry-run",)):
        done = finetune("--validation-file", tmp_path / "dev.jsonl", *words, text=jsonl(*rows(64)))
        assert done.returncode != 0 and "dev.jsonl:2" in done.stderr and message in done.stderr, done.stderr
        assert not list(tmp_path.glob("out/checkpoint-*")) and not (tmp_path / "out/metrics.jsonl").exists()


def test_validation_files_of_sentences_and_questions_are_read_before_the_first_step(deberta, base, tmp_path):
    (tmp_path / "train.txt").write_text("".join(f"a O\n{word} B-PER\n\n" for word in WORDS))
    (tmp_path / "dev.txt").write_text("a O\n\nb\n\n")
    words = ("finetune", "-m", base, "-o", tmp_path / "out", "--max-steps", "1")
    done = deberta(
        *words, "--task", "ner", "--train-file", tmp_path / "train.txt", "--validation-file", tmp_path / "dev.txt"
    )
    assert done.returncode == 1
    assert "dev.txt:3: expected a word and its tag" in done.stderr
    assert not (tmp_path / "out/metrics.jsonl").exists()
    (tmp_path / "dev.txt").write_text("a O\nb B-THING\n\n")
    done = deberta(
        *words, "--task", "ner", "--train-file", tmp_path / "train.txt", "--validation-file", tmp_path / "dev.txt"
    )
    assert done.returncode == 1
    assert "is in the files, which have B-THING" in done.stderr
    assert not (tmp_path / "out/metrics.jsonl").exists()
    paragraph = {
        "context": "The cat sat .",
        "qas": [{"id": "q", "question": "Who ?", "answers": [{"text": "cat", "answer_start": 4}]}],
    }
    (tmp_path / "train.json").write_text(
        json.dumps({"version": "1.1", "data": [{"title": "T", "paragraphs": [paragraph]}]})
    )
    (tmp_path / "dev.json").write_text('{"version": "1.1", "data": [')
    done = deberta(
        *words, "--task", "squad", "--train-file", tmp_path / "train.json", "--validation-file", tmp_path / "dev.json"
    )
    assert done.returncode == 1 and "dev.json" in done.stderr and not (tmp_path / "out/metrics.jsonl").exists()


def test_what_the_data_is_in_a_line_each(finetune, tmp_path):
    texts = [("good film", "x"), ("good film", "y"), ("", "x"), ("fine", "x"), ("bad", "y"), ("dull", "x")]
    (tmp_path / "dev.jsonl").write_text(jsonl({"text": "fine", "label": "x"}, {"text": "new", "label": "y"}))
    training = jsonl(*({"text": text, "label": label} for text, label in texts))
    notes = [
        "examples with an empty text: 1",
        "examples with the text of an earlier one and another label: 1",
        "samples of the largest class, x: 67 %",
    ]
    done = finetune("--validation-file", tmp_path / "dev.jsonl", "--max-steps", "1", text=training)
    assert done.returncode == 0, done.stderr
    assert all(
        note in done.stderr
        for note in [*notes, "examples of the validation file whose texts are trained on as well: 1 of 2"]
    ), done.stderr
    dry = finetune("--dry-run", text=training)
    assert all(f"note\t{note}\n" in dry.stdout for note in notes), dry.stdout
    (tmp_path / "broken.tsv").write_bytes(b"text\tlabel\ngood \xff film\tx\nbad\ty\n")
    done = finetune("--dry-run", "--train-file", tmp_path / "broken.tsv")
    assert "note\texamples with bytes that are not UTF-8, replaced by U+FFFD: 1\n" in done.stdout


@pytest.mark.parametrize("label", [[0.3, 0.7], ["a", "b"], ["a"], []])
def test_lists_are_no_labels_of_a_task_of_one_class(finetune, deberta, tmp_path, label):
    text = jsonl(*rows(8), {"text": "a b", "label": label})
    done = finetune("--dry-run", text=text)
    assert (
        done.returncode == 1
        and "train.jsonl:9: label: expected one label, got a list; the task multi-label takes lists of names"
        in done.stderr
    ), done.stderr
    if label == ["a", "b"]:
        assert finetune("--dry-run", task="multi-label", text=text).returncode == 0


def test_an_address_space_without_room_for_libtorch_is_told_in_a_sentence(deberta, base, tmp_path):
    (tmp_path / "train.jsonl").write_text(jsonl(*rows(8)))
    words = (
        "finetune",
        "--task",
        "classification",
        "-m",
        base,
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


def test_files_beside_the_weights_are_left_where_they_are(deberta, base, tmp_path):
    model = tmp_path / "model"
    shutil.copytree(base, model)
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
    (tmp_path / "train.jsonl").write_text(jsonl(*rows(8)))
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


def test_examples_that_differ_by_what_is_marked_or_chosen_are_not_one(deberta, base, tmp_path):
    wsc = [
        {
            "text": "Ann told Eve that she won .",
            "target": {"span1_index": index, "span1_text": name, "span2_index": 4, "span2_text": "she"},
            "label": label,
        }
        for index, name, label in ((0, "Ann", True), (2, "Eve", False))
    ]
    copa = [
        {"premise": "It rained .", "choice1": first, "choice2": second, "question": "effect", "label": label}
        for first, second, label in (("wet", "dry", 0), ("hot", "cold", 1))
    ]
    for task, given in (("wsc", wsc), ("copa", copa)):
        (tmp_path / "train.jsonl").write_text(jsonl(*given))
        done = deberta(
            "finetune",
            "--task",
            task,
            "-m",
            base,
            "--train-file",
            tmp_path / "train.jsonl",
            "-o",
            tmp_path / task,
            "--dry-run",
        )
        assert done.returncode == 0 and "another label" not in done.stdout, done.stdout + done.stderr
        (tmp_path / "train.jsonl").write_text(
            jsonl(*given, given[0] | {"label": 1 - given[0]["label"] if task == "copa" else not given[0]["label"]})
        )
        done = deberta(
            "finetune",
            "--task",
            task,
            "-m",
            base,
            "--train-file",
            tmp_path / "train.jsonl",
            "-o",
            tmp_path / task,
            "--dry-run",
        )
        assert "note\texamples with the text of an earlier one and another label: 1\n" in done.stdout, done.stdout


@pytest.mark.parametrize(
    "task, good, bad, name",
    [
        (
            "classification",
            [json.dumps({"text": f"a {word} {n}", "label": "xy"[n % 2]}) + "\n" for n, word in enumerate(WORDS)],
            "no JSON\n",
            "rows.jsonl",
        ),
        (
            "ner",
            [f"a O\n{word} {'B-PER' if n % 2 else 'O'}\n\n" for n, word in enumerate(WORDS)],
            "alone\n\n",
            "rows.txt",
        ),
    ],
)
def test_bad_rows_are_left_out_by_request(deberta, base, tmp_path, task, good, bad, name):
    train, dev = tmp_path / name, tmp_path / f"dev-{name}"
    train.write_text("".join(good[:3]) + bad + "".join(good[3:]))
    dev.write_text(good[0] + bad + "".join(good[1:6]))
    words = (
        "finetune",
        "--task",
        task,
        "-m",
        base,
        "--train-file",
        train,
        "--validation-file",
        dev,
        "-o",
        tmp_path / "out",
        "--max-steps",
        "1",
    )
    done = deberta(*words)
    assert (
        done.returncode == 1
        and f"{name}:" in done.stderr
        and "--on-bad-row report trains on the other rows" in done.stderr
    ), done.stderr
    done = deberta(*words, "--on-bad-row", "report")
    assert done.returncode == 0 and "16 samples from 16 examples; 1 bad rows are left out" in done.stderr, done.stderr
    lines = [line for line in done.stderr.splitlines() if "left out: " in line]
    assert len(lines) == 2 and f"{name}:" in lines[0] and f"dev-{name}:" in lines[1], lines
    assert len((tmp_path / "out/eval_predictions.jsonl").read_text().splitlines()) == 6
    for rows in (train, dev):
        rows.write_text(rows.read_text().replace(bad, ""))
    assert deberta(*words[:-4], "-o", tmp_path / "clean", "--max-steps", "1").returncode == 0
    assert weights_of(tmp_path / "out") == weights_of(tmp_path / "clean")
    (tmp_path / "silent").mkdir()
    done = deberta(*words[:-4], "-o", tmp_path / "silent/out", "--max-steps", "1", "--on-bad-row", "skip")
    assert done.returncode == 0 and "left out: " not in done.stderr


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


def test_a_pair_without_windows_is_found_before_the_first_step(deberta, base, tmp_path):
    for name in ("train", "dev"):
        (tmp_path / f"{name}.jsonl").write_text(
            jsonl(
                *(
                    {
                        "text": f"{name} {n}",
                        "text_pair": "cat " * (600 if name == "dev" and n == 2 else 1),
                        "label": "xy"[n % 2],
                    }
                    for n in range(8)
                )
            )
        )
    (tmp_path / "dev.jsonl").write_text((tmp_path / "dev.jsonl").read_text().replace("dev 2", "dog " * 600))
    words = (
        "finetune",
        "--task",
        "classification",
        "-m",
        base,
        "--train-file",
        tmp_path / "train.jsonl",
        "--validation-file",
        tmp_path / "dev.jsonl",
        "-o",
        tmp_path / "out",
        "--max-steps",
        "1",
        "--truncate",
        "window",
    )
    done = deberta(*words)
    assert (
        done.returncode == 1
        and "dev.jsonl:3: text: expected at most" in done.stderr
        and not (tmp_path / "out/metrics.jsonl").exists()
    ), done.stderr
    done = deberta(*words, "--on-bad-row", "report")
    assert done.returncode == 0 and "left out: " in done.stderr, done.stderr
