"""`finetune`: every task by one command, from small files and a tiny model."""

import json
import re
import shlex

import numpy
import pytest

from conftest import FAST, WORDS, log_of, weights_of
from models import ROOT, make_model, read_safetensors
from task_files import FILES, jsonl

COMMANDS = {
    shlex.split(line)[3]: shlex.split(line)[6:]
    for line in (ROOT / "docs/reference/tasks.md").read_text().splitlines()
    if line.startswith("deberta eval ")
}
LANGUAGE_MODELS = {"mlm", "causal"}


def write_files(folder, files):
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def in_other_bytes(name, text):
    """Nearly the same rows: a run may not be evaluated on its training file."""
    return text + (text.splitlines(keepends=True)[-1] if name.endswith((".tsv", ".csv")) else "\n")


def evaluation_of(out):
    return {
        name: value
        for name, value in json.loads((out / "all_results.json").read_text()).items()
        if name.startswith("eval_")
    }


@pytest.mark.parametrize("task", [task for task in FILES if task not in LANGUAGE_MODELS])
def test_every_task_is_one_command_and_its_figure_is_that_of_eval(deberta, plain_base, tmp_path, task):
    write_files(tmp_path, FILES[task])
    write_files(tmp_path / "trained", {name: in_other_bytes(name, text) for name, text in FILES[task].items()})
    name, *more = COMMANDS[task]
    out = tmp_path / "out"
    words = [
        "--task",
        task,
        "-m",
        plain_base,
        "--train-file",
        f"trained/{name}",
        "--validation-file",
        name,
        "-o",
        out,
        "--batch-size",
        "2",
        *more,
    ]
    if task == "alphanli":
        words += ["--validation-labels-file", "dev-labels.lst"]
    done = deberta("finetune", *words, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    scored = deberta("eval", "--task", task, "-m", out, name, *more, "-f", "json", "--bootstrap", "0", cwd=tmp_path)
    assert scored.returncode == 0, scored.stderr
    metrics = {
        "eval_" + name: value["value"] if isinstance(value, dict) else value
        for name, value in json.loads(scored.stdout)["metrics"].items()
    }
    found = evaluation_of(out)
    assert len({"eval_log_loss", "eval_mse", "eval_loss"} & set(found)) == (task != "ranking")
    assert set(found) - set(metrics) <= {"eval_log_loss", "eval_mse", "eval_loss"}
    found = {key: found[key] for key in found if key in metrics}
    for key, value in found.items():
        assert metrics[key] == value or (metrics[key] is None and value == "NaN"), key
    if task != "extract":  # a GLiNER model, which `check` leaves to others
        assert deberta("check", "-m", out).returncode == 0


def squad(rows):
    paragraphs = [
        {
            "context": context,
            "qas": [
                {
                    "id": str(n),
                    "question": "Who sat ?",
                    "answers": [{"text": answer, "answer_start": context.index(answer)}],
                }
            ],
        }
        for n, (context, answer) in enumerate(rows)
    ]
    return json.dumps({"version": "1.1", "data": [{"title": "T", "paragraphs": paragraphs}]})


def race(number):
    """The right choice is one of the first words."""
    options = [WORDS[8 + (number + i) % 8] for i in range(4)]
    options[number % 4] = WORDS[number % 8]
    return {
        "article": f"It was number {number} .",
        "id": str(number),
        "questions": ["What was it ?"],
        "options": [options],
        "answers": ["ABCD"[number % 4]],
    }


def copa(number):
    pair = [WORDS[number % 8], WORDS[8 + (number * 3) % 8]]
    return {
        "premise": f"It was number {number} .",
        "choice1": pair[number % 2],
        "choice2": pair[1 - number % 2],
        "question": "effect",
        "label": number % 2,
        "idx": number,
    }


def gap(number, word, is_first):
    text = f"Ann saw {word} and Bo ."
    begin = text.index("Bo")
    answer = {"start": 0, "end": 2, "text": "Ann"} if is_first else {"start": begin, "end": begin + 1, "text": "Bo"}
    return {
        "idx": number,
        "passage": {"text": text, "entities": [{"start": 0, "end": 2}, {"start": begin, "end": begin + 1}]},
        "qas": [{"idx": number, "query": "@placeholder looked", "answers": [answer]}],
    }


def query(number):
    """Each word has a document of its own, among three others."""
    return {
        "query": f"a {WORDS[number]} ?",
        "documents": [f"{WORDS[8 * ((number + place) % 2) + (number * 3 + place) % 8]} ." for place in range(4)],
        "labels": [int(place == number % 4) for place in range(4)],
    }


# One task for each loss: its 16 examples.
SIXTEEN = {
    "classification": jsonl(*({"text": f"a {word} .", "label": "abc"[n % 3]} for n, word in enumerate(WORDS))),
    "regression": jsonl(*({"text": f"a {word} .", "label": n / 8} for n, word in enumerate(WORDS))),
    "multi-label": jsonl(
        *(
            {"text": f"a {word} .", "labels": [name for bit, name in enumerate("abc") if n >> bit & 1]}
            for n, word in enumerate(WORDS)
        )
    ),
    "copa": jsonl(*map(copa, range(16))),
    "ner": "".join(f"a DT O O\n{word} NN O {'O' if n % 2 else 'B-PER'}\n\n" for n, word in enumerate(WORDS)),
    "squad": squad([(f"The {word} sat by the {WORDS[n - 1]} .", word) for n, word in enumerate(WORDS)]),
    "race": jsonl(*map(race, range(16))),
    "ranking": jsonl(*map(query, range(16))),
    "record": jsonl(*(gap(n, word, n % 3 == 0) for n, word in enumerate(WORDS))),
}


NAMES = {"ner": "train.txt", "squad": "train.json"}


@pytest.mark.parametrize("task", SIXTEEN)
def test_a_head_learns_16_examples_by_heart(deberta, plain_base, tmp_path, task):
    file = tmp_path / NAMES.get(task, "train.jsonl")
    file.write_text(SIXTEEN[task])
    done = deberta(
        "finetune",
        "--task",
        task,
        "-m",
        plain_base,
        "--train-file",
        file,
        "-o",
        tmp_path / "out",
        "--batch-size",
        "16",
        "--max-steps",
        "200",
        "--logging-steps",
        "20",
        "--save-steps",
        "0",
        "--cls-dropout",
        "0",
        *FAST,
    )
    assert done.returncode == 0, done.stderr
    assert min(line["loss"] for line in log_of(tmp_path / "out")) < 0.05


def predictions_of(out):
    return [json.loads(line) for line in (out / "eval_predictions.jsonl").read_text().splitlines()]


def test_answers_to_the_validation_file_are_in_the_report(deberta, plain_base, tmp_path):
    for task in ("classification", "regression", "ner"):
        out = tmp_path / task
        file, trained = (tmp_path / (name + NAMES.get(task, "train.jsonl")) for name in ("dev-", ""))
        file.write_text(SIXTEEN[task])
        trained.write_text(in_other_bytes(trained.name, SIXTEEN[task]))
        done = deberta(
            "finetune",
            "--task",
            task,
            "-m",
            plain_base,
            "--train-file",
            trained,
            "--validation-file",
            file,
            "-o",
            out,
            "--batch-size",
            "16",
            "--max-steps",
            "20",
            *FAST,
        )
        assert done.returncode == 0, done.stderr
        rows, figures = predictions_of(out), evaluation_of(out)
        assert len(rows) == 16 and rows[1]["where"].startswith(file.name + ":") and WORDS[1] in rows[1]["text"]
        if task == "classification":
            assert figures["eval_accuracy"] == numpy.mean([row["gold"] == row["predicted"] for row in rows])
        elif task == "regression":
            assert [row["gold"] for row in rows] == [n / 8 for n in range(16)]
            assert figures["eval_pearson"] == pytest.approx(
                numpy.corrcoef([row["gold"] for row in rows], [row["predicted"] for row in rows])[0, 1], abs=1e-6
            )
        else:
            assert rows[0]["gold"] == ["O", "B-PER"] and rows[1]["gold"] == ["O", "O"]
            assert figures["eval_accuracy"] == numpy.mean(
                [gold == found for row in rows for gold, found in zip(row["gold"], row["predicted"], strict=True)]
            )
            assert "PER" in (out / "run.html").read_text()


def test_the_best_step_is_the_result(finetune, deberta, tmp_path, dev_rows):
    out = tmp_path / "out"
    done = finetune(
        out,
        "--validation-file",
        dev_rows,
        "--num-train-epochs",
        "8",
        "--early-stopping-patience",
        "2",
        "--batch-size",
        "8",
        "--learning-rate",
        "0.03",
        "--warmup-steps",
        "0",
    )
    assert done.returncode == 0, done.stderr
    lines = [line for line in log_of(out) if "eval_accuracy" in line]
    # the first of the best
    best = max(lines, key=lambda line: (line["eval_accuracy"], line["eval_f1_macro"], -line["eval_log_loss"]))
    results = json.loads((out / "all_results.json").read_text())
    assert results["eval_accuracy"] == best["eval_accuracy"]
    assert results.get("best_step", results["steps"]) == best["step"]
    since = [line for line in lines if line["step"] > best["step"]]
    assert len(since) == 2 or lines[-1]["step"] == 40
    kept = sorted(path.name for path in out.glob("checkpoint-*"))
    assert f"checkpoint-{best['step']:06}" in kept and f"checkpoint-{lines[-1]['step']:06}" in kept
    assert weights_of(out) == weights_of(out / f"checkpoint-{best['step']:06}")


@pytest.mark.parametrize("task", ["ner", "squad2", "race", "record"])
def test_the_loss_of_an_evaluation_is_that_of_its_labels_in_training(deberta, plain_base, tmp_path, task):
    write_files(tmp_path, FILES[task])
    write_files(tmp_path / "trained", {name: in_other_bytes(name, text) for name, text in FILES[task].items()})
    name = COMMANDS[task][0]
    out = tmp_path / "out"
    words = [
        "--task",
        task,
        "-m",
        plain_base,
        "--train-file",
        f"trained/{name}",
        "--validation-file",
        name,
        "--batch-size",
        "64",
        "--max-steps",
        "1",
        "--logging-steps",
        "1",
        "--learning-rate",
        "0",
    ]
    words += ["--max-tokens", "40", "--stride", "8"] if task == "squad2" else []  # contexts in several windows
    done = deberta("finetune", *words, "--best-metric", "loss", "-o", out, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert evaluation_of(out)["eval_loss"] == pytest.approx(log_of(out)[0]["loss"], rel=1e-6)
    state = json.loads((out / "trainer_state.json").read_text())
    assert state["best_metric"] == evaluation_of(out)["eval_loss"]
    done = deberta("finetune", *words, "--best-metric", "rouge", "-o", tmp_path / "other", cwd=tmp_path)
    assert done.returncode == 2 and ', loss, got "rouge"' in done.stderr, done.stderr


def test_words_with_tags_that_the_model_lacks_are_left_out_of_the_loss(deberta, plain_base, tmp_path):
    known = "Ada B-PER\nwrote O\n\nin O\nLondon B-LOC\n\n"
    (tmp_path / "train.txt").write_text(known)
    losses = []
    for name, more in (("some", ""), ("more", "at O\nBell B-ORG\nhome O\n")):
        (tmp_path / f"{name}.txt").write_text(known + "\n" + "at O\nhome O\n" + more)
        done = deberta(
            "finetune",
            "--task",
            "ner",
            "-m",
            plain_base,
            "--train-file",
            "train.txt",
            "--validation-file",
            f"{name}.txt",
            "--max-steps",
            "1",
            "--learning-rate",
            "0",
            "-o",
            tmp_path / name,
            cwd=tmp_path,
        )
        assert done.returncode == 0, done.stderr
        losses.append(evaluation_of(tmp_path / name)["eval_loss"])
    assert all(0 < loss < 10 for loss in losses) and losses[0] != losses[1]


def test_a_classifier_for_the_same_classes_is_kept_in_its_order(deberta, tmp_path):
    """From a model of three classes to another task with these, in another order, and to one with two."""
    nli = make_model(tmp_path / "nli", "sequence", labels=("ENTAILMENT", "neutral", "Contradiction"))
    write_files(tmp_path, FILES["cb"] | FILES["rte"])
    done = deberta(
        "finetune",
        "--task",
        "cb",
        "-m",
        nli,
        "--train-file",
        tmp_path / "val.jsonl",
        "-o",
        tmp_path / "cb",
        "--max-steps",
        "1",
        "--learning-rate",
        "0",
    )
    assert done.returncode == 0 and "random weights" not in done.stderr, done.stderr
    assert list(json.loads((tmp_path / "cb/config.json").read_text())["id2label"].values()) == [
        "ENTAILMENT",
        "neutral",
        "Contradiction",
    ]
    assert numpy.array_equal(
        read_safetensors(tmp_path / "cb" / "model.safetensors")["classifier.weight"],
        read_safetensors(nli / "model.safetensors")["classifier.weight"],
    )
    done = deberta(
        "finetune",
        "--task",
        "rte",
        "-m",
        nli,
        "--train-file",
        tmp_path / "dev.tsv",
        "-o",
        tmp_path / "rte",
        "--max-steps",
        "1",
    )
    assert done.returncode == 0 and "random weights: classifier.weight classifier.bias\n" in done.stderr, done.stderr
    assert read_safetensors(tmp_path / "rte" / "model.safetensors")["classifier.weight"].shape[0] == 2


def test_a_run_is_not_evaluated_on_what_it_trains_on(finetune, rows, dev_rows, tmp_path):
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "copy.jsonl").write_bytes(rows.read_bytes())
    (tmp_path / "link.jsonl").symlink_to(rows)
    for file, got in (
        (rows, f"got {rows};"),
        (tmp_path / "link.jsonl", f"which has the same bytes as {rows};"),
        (folder, f"{folder}/copy.jsonl, which has the same bytes as {rows};"),
    ):
        for more in [], ["--dry-run"]:
            done = finetune(tmp_path / "out", "--validation-file", dev_rows, "--validation-file", file, *more)
            assert (
                done.returncode == 2
                and "--validation-file: expected a file that is not a training file" in done.stderr
                and got in done.stderr
            ), done.stderr
    assert not (tmp_path / "out/model.safetensors").exists()


def test_the_recipe_is_the_published_one(deberta, plain_base, tmp_path):
    write_files(tmp_path, FILES["rte"])
    words = [
        "finetune",
        "--task",
        "rte",
        "-m",
        plain_base,
        "--train-file",
        tmp_path / "dev.tsv",
        "-o",
        tmp_path / "out",
        "--recipe",
        "v3-large",
    ]
    for more in ["--dry-run"], []:  # 6 epochs, warm-up of 50 steps, 1e-5, 32, .3
        done = deberta(*words, *more)
        assert done.returncode == 2 and "--warmup-steps: expected steps below the run's 6" in done.stderr
    assert "steps\t60\n" in deberta(*words, "--num-train-epochs", "60", "--dry-run").stdout
    done = deberta(*words, "--num-train-epochs", "60", "--logging-steps", "1")
    assert done.returncode == 0, done.stderr
    assert log_of(tmp_path / "out")[25]["learning_rate"] == pytest.approx(1e-5 * 25 / 50)
    assert json.loads((tmp_path / "out/config.json").read_text())["cls_dropout"] == 0.3
    done = deberta("finetune", "--task", "nli", *words[3:])
    assert done.returncode == 2 and "--recipe: expected a size with a published recipe for nli (none)" in done.stderr


def test_the_recipe_of_scale_invariant_fine_tuning_is_the_published_one(deberta, plain_base, tmp_path):
    write_files(tmp_path, FILES["mnli"])
    train = next(tmp_path / name for name in FILES["mnli"])
    words = [
        "finetune",
        "--task",
        "mnli",
        "-m",
        plain_base,
        "--train-file",
        train,
        "--recipe",
        "v3-xsmall",
        "--warmup-steps",
        "0",
        "--save-steps",
        "0",
    ]
    steps = {
        kind: int(
            re.search(
                r"^steps\t(\d+)",
                deberta(*words, "-o", tmp_path / kind, "--adversarial", kind, "--dry-run").stdout,
                re.M,
            )[1]
        )
        for kind in ("none", "vat", "sift")
    }
    assert steps["sift"] * 3 == steps["none"] * 10 == steps["vat"] * 10  # 10 epochs instead of 3
    losses = {}
    for name, more in {"recipe": [], "five": ["--vat-lambda", "5"], "three": ["--vat-lambda", "3"]}.items():
        done = deberta(
            *words, "-o", tmp_path / name, "--adversarial", "sift", "--max-steps", "2", "--logging-steps", "1", *more
        )
        assert done.returncode == 0, done.stderr
        losses[name] = [(line["loss"], line["learning_rate"]) for line in log_of(tmp_path / name)]
    assert losses["recipe"] == losses["three"] != losses["five"] and losses["recipe"][0][1] == pytest.approx(5e-5)


def test_language_models_are_no_task(finetune, tmp_path):
    done = finetune(tmp_path / "out", task="mlm")
    assert done.returncode == 2 and "--task: expected a task with labels, got mlm" in done.stderr


def test_bad_rows_are_named(deberta, plain_base, tmp_path):
    file = tmp_path / "train.tsv"
    for text, message in (
        ("sentence\tlabel\ngood\tgreat\n", "great"),
        ("sentence\tlabel\n", "expected labelled examples, got none"),
        (
            "text\tstars\nx\t3\n",
            "got 1 without a label; the first row has text, stars; "
            "name the column or key of the label with --label-field",
        ),
    ):
        file.write_text(text)
        done = deberta("finetune", "--task", "sst-2", "-m", plain_base, "--train-file", file, "-o", tmp_path / "out")
        assert done.returncode == 1 and "train.tsv" in done.stderr and message in done.stderr, done.stderr
