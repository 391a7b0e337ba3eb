"""`finetune`: every task by one command, from small files and a tiny model."""

import json
import re
import shlex

import numpy
import pytest

from conftest import WORDS, log_of, weights_of
from models import ROOT, make_model
from task_files import FILES, jsonl

COMMANDS = {
    shlex.split(line)[3]: shlex.split(line)[6:]
    for line in (ROOT / "docs/reference/tasks.md").read_text().splitlines()
    if line.startswith("deberta eval ")
}
LANGUAGE_MODELS = {"mlm", "causal"}
# At a rate of .01 some heads do not learn by every seed.
FAST = ["--learning-rate", "0.003", "--warmup-steps", "0", "--lr-scheduler-type", "constant"]


@pytest.fixture(scope="session")
def base(tmp_path_factory):
    """A model to begin with: its dropout would keep it from learning a few rows by heart."""
    return make_model(
        tmp_path_factory.mktemp("base"),
        "lm",
        hidden_dropout_prob=0.0,
        attention_probs_dropout_prob=0.0,
        initializer_range=0.2,
    )


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
def test_every_task_is_one_command_and_its_figure_is_that_of_eval(deberta, base, tmp_path, task):
    write_files(tmp_path, FILES[task])
    write_files(tmp_path / "trained", {name: in_other_bytes(name, text) for name, text in FILES[task].items()})
    name, *more = COMMANDS[task]
    out = tmp_path / "out"
    words = [
        "--task",
        task,
        "-m",
        base,
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
def test_a_head_learns_16_examples_by_heart(deberta, base, tmp_path, task):
    file = tmp_path / NAMES.get(task, "train.jsonl")
    file.write_text(SIXTEEN[task])
    done = deberta(
        "finetune",
        "--task",
        task,
        "-m",
        base,
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


def test_answers_to_the_validation_file_are_in_the_report(deberta, base, tmp_path):
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
            base,
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


@pytest.fixture
def finetune(deberta, dropping_base, rows):
    def run(out, *words, task="classification"):
        done = deberta(
            "finetune",
            "--task",
            task,
            "-m",
            dropping_base,
            "--train-file",
            rows,
            "-o",
            out,
            "--logging-steps",
            "1",
            *words,
        )
        return done

    return run


def test_parts_of_a_step_are_the_whole_step(finetune, tmp_path):
    for name, parts in ("whole", "1"), ("parts", "4"):
        assert (
            finetune(
                tmp_path / name, "--batch-size", "32", "--gradient-accumulation-steps", parts, "--max-steps", "4", *FAST
            ).returncode
            == 0
        )
    whole, parts = log_of(tmp_path / "whole"), log_of(tmp_path / "parts")
    for a, b in zip(whole, parts, strict=True):
        assert a["loss"] == pytest.approx(b["loss"], rel=1e-6)
        assert a["grad_norm"] == pytest.approx(b["grad_norm"], rel=1e-5)


def test_threads_change_nothing(finetune, tmp_path):
    for threads in "1", "2", "3":
        assert finetune(tmp_path / threads, "--max-steps", "3", "--threads", threads).returncode == 0
    assert weights_of(tmp_path / "1") == weights_of(tmp_path / "2") == weights_of(tmp_path / "3")


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
def test_the_loss_of_an_evaluation_is_that_of_its_labels_in_training(deberta, base, tmp_path, task):
    write_files(tmp_path, FILES[task])
    write_files(tmp_path / "trained", {name: in_other_bytes(name, text) for name, text in FILES[task].items()})
    name = COMMANDS[task][0]
    out = tmp_path / "out"
    words = [
        "--task",
        task,
        "-m",
        base,
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


def test_words_with_tags_that_the_model_lacks_are_left_out_of_the_loss(deberta, base, tmp_path):
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
            base,
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


def test_frozen_layers_stay_as_they_were(finetune, dropping_base, tmp_path):
    assert finetune(tmp_path / "out", "--max-steps", "3", "--frozen-layers", "1", *FAST).returncode == 0
    before, after = (numpy_weights(path) for path in (dropping_base, tmp_path / "out"))
    for name in after:
        is_head = name.startswith(("pooler", "classifier"))
        is_frozen = name.startswith(("deberta.embeddings", "deberta.encoder.layer.0."))
        if not is_head:
            assert numpy.array_equal(before[name], after[name]) == is_frozen, name


def test_new_layers_are_said_and_follow_the_seed(finetune, dropping_base, tmp_path):
    still = ["--max-steps", "1", "--learning-rate", "0", "--frozen-layers", "1", "--reinit-layers", "1"]
    dry = finetune(tmp_path / "dry", *still, "--dry-run")
    assert dry.returncode == 0 and "new layer\tencoder.layer.1\nnew tensor\tpooler.dense.weight\n" in dry.stdout
    weights = {}
    for name, seed in ("out", 1), ("again", 1), ("other", 2):
        done = finetune(tmp_path / name, *still, "--seed", seed)
        assert (
            done.returncode == 0 and "new, with random weights: encoder.layer.1 pooler.dense.weight" in done.stderr
        ), done.stderr
        weights[name] = numpy_weights(tmp_path / name)
    before = numpy_weights(dropping_base)
    for name, array in weights["out"].items():
        if name in before:
            assert numpy.array_equal(before[name], array) == (not name.startswith("deberta.encoder.layer.1.")), name
        assert numpy.array_equal(array, weights["again"][name])
    query = "deberta.encoder.layer.1.attention.self.query_proj.weight"
    assert abs(weights["out"][query].std() / 0.02 - 1) < 0.2
    assert not numpy.array_equal(weights["out"][query], weights["other"][query])


def test_rates_and_new_layers_are_those_of_the_run_so_far(finetune, tmp_path):
    words = ["--layer-decay", "0.9", "--head-learning-rate", "0.01", "--reinit-layers", "1"]
    more = ["--max-steps", "4", "--resume-override", "max-steps"]
    assert finetune(tmp_path / "out", "--max-steps", "2", *words).returncode == 0
    for name, value in zip(words[::2], ("0.8", "0.02", "0")):
        changed = [value if before == name else word for before, word in zip(["", *words], words)]
        done = finetune(tmp_path / "out", *more, *changed)
        assert done.returncode == 2 and f"{name[2:]}: expected " in done.stderr and f"got {value}" in done.stderr, (
            done.stderr
        )
    assert finetune(tmp_path / "out", *more, *words).returncode == 0
    done = finetune(
        tmp_path / "out",
        "--max-steps",
        "6",
        "--resume-override",
        "max-steps,layer-decay",
        "--layer-decay",
        "0.8",
        *words[2:],
    )
    assert done.returncode == 0 and "continuing from" in done.stderr, done.stderr


def test_the_search_for_a_rate_moves_layers_and_head_in_proportion(finetune, tmp_path):
    found = {}
    for name, words in {
        "plain": [],
        "decay": ["--layer-decay", "0.5"],
        "head": ["--learning-rate", "0.001", "--head-learning-rate", "0.01"],
        "twice": ["--learning-rate", "0.002", "--head-learning-rate", "0.02"],
    }.items():
        done = finetune(tmp_path / name, "--find-lr", "--max-steps", "40", *words)
        assert done.returncode == 0, done.stderr
        found[name] = done.stdout
    assert found["head"] == found["twice"] and len({found[name] for name in ("plain", "decay", "head")}) == 3


def numpy_weights(folder):
    from models import read_safetensors

    return read_safetensors(folder / "model.safetensors")


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
        numpy_weights(tmp_path / "cb")["classifier.weight"], numpy_weights(nli)["classifier.weight"]
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
    assert numpy_weights(tmp_path / "rte")["classifier.weight"].shape[0] == 2


def test_a_run_that_goes_on_ends_in_the_same_bits(finetune, deberta, tmp_path, dev_rows):
    words = [
        "--validation-file",
        dev_rows,
        "--batch-size",
        "8",
        "--gradient-accumulation-steps",
        "2",
        "--learning-rate",
        "0.01",
    ]
    for steps in "4", "9", "15":  # within an epoch, after the next one's begin, at the end
        done = finetune(
            tmp_path / "parts",
            "--max-steps",
            steps,
            "--lr-scheduler-type",
            "constant",
            "--warmup-steps",
            "0",
            "--resume-override",
            "max-steps",
            *words,
        )
        assert done.returncode == 0, done.stderr
    assert (
        finetune(
            tmp_path / "constant", "--max-steps", "15", "--lr-scheduler-type", "constant", "--warmup-steps", "0", *words
        ).returncode
        == 0
    )
    last = "checkpoint-000015"
    assert weights_of(tmp_path / "parts" / last) == weights_of(tmp_path / "constant" / last)
    losses = [[line for line in log_of(tmp_path / name) if "loss" in line] for name in ("parts", "constant")]
    assert losses[0] == losses[1]
    shorter = finetune(
        tmp_path / "parts",
        "--max-steps",
        "3",
        "--lr-scheduler-type",
        "constant",
        "--warmup-steps",
        "0",
        "--resume-override",
        "max-steps",
        *words,
    )
    assert shorter.returncode == 0 and "15 of 3 steps" in shorter.stderr  # nothing is left to do


ADVERSARIAL = {
    "sift": ["--adversarial", "sift", "--vat-lambda", "3"],
    "vat": ["--adversarial", "vat", "--vat-loss-fn", "kl"],
    "original": ["--adversarial", "sift", "--sift-compat", "original"],
}


@pytest.mark.parametrize("kind", ADVERSARIAL)
def test_adversarial_runs_go_on_with_the_same_bits(finetune, tmp_path, kind):
    words = [*ADVERSARIAL[kind], "--batch-size", "8", "--gradient-accumulation-steps", "2", *FAST]
    assert finetune(tmp_path / "whole", "--max-steps", "4", *words).returncode == 0
    assert finetune(tmp_path / "parts", "--max-steps", "2", *words).returncode == 0
    done = finetune(tmp_path / "parts", "--max-steps", "4", "--resume-override", "max-steps", *words)
    assert done.returncode == 0, done.stderr
    assert weights_of(tmp_path / "whole") == weights_of(tmp_path / "parts")
    lines = log_of(tmp_path / "parts")
    assert lines == log_of(tmp_path / "whole")
    weight = 3 if kind == "sift" else 5
    for line in lines:
        assert line["loss"] == pytest.approx(line["task_loss"] + weight * line["adversarial_loss"], rel=1e-5)
        assert line["adversarial_loss"] > 0


def test_without_weight_the_adversarial_loss_changes_nothing(finetune, tmp_path):
    assert finetune(tmp_path / "plain", "--max-steps", "3", *FAST).returncode == 0
    assert (
        finetune(tmp_path / "none", "--max-steps", "3", "--adversarial", "sift", "--vat-lambda", "0", *FAST).returncode
        == 0
    )
    assert weights_of(tmp_path / "plain") == weights_of(tmp_path / "none")


def test_class_weights_and_smoothing_change_the_loss(finetune, tmp_path):
    losses = {}
    for name, words in {
        "plain": [],
        "weights": ["--class-weights", "1,3"],
        "balanced": ["--class-weights", "balanced"],
        "smooth": ["--label-smoothing-factor", "0.2"],
    }.items():
        done = finetune(tmp_path / name, "--max-steps", "1", *words)
        assert done.returncode == 0, done.stderr
        losses[name] = log_of(tmp_path / name)[0]["loss"]
    assert losses["plain"] == losses["balanced"]  # there are as many of each class
    assert len({losses["plain"], losses["weights"], losses["smooth"]}) == 3


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


def test_the_recipe_is_the_published_one(deberta, base, tmp_path):
    write_files(tmp_path, FILES["rte"])
    words = [
        "finetune",
        "--task",
        "rte",
        "-m",
        base,
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


def test_the_recipe_of_scale_invariant_fine_tuning_is_the_published_one(deberta, base, tmp_path):
    write_files(tmp_path, FILES["mnli"])
    train = next(tmp_path / name for name in FILES["mnli"])
    words = [
        "finetune",
        "--task",
        "mnli",
        "-m",
        base,
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


@pytest.mark.parametrize(
    "words, message",
    [
        (["--batch-size", "8", "--gradient-accumulation-steps", "3"], "--gradient-accumulation-steps"),
        (["--class-weights", "1,2,3"], "expected 2 weights, one for each class, got 3"),
        (["--class-weights", "1,x"], 'expected numbers above 0 or balanced, got "x"'),
        (["--early-stopping-patience", "2"], "--validation-file"),
        (["--frozen-layers", "3"], "frozen layers: expected 0 to 2, got 3"),
        (["--num-train-epochs", "0"], "expected a run of 1 to 16777215 steps"),
        (["--layer-decay", "0"], "--layer-decay: expected a number above 0 and at most 1, got 0"),
        (["--layer-decay", "1.1"], "--layer-decay: expected a value in 0..1, got"),
        (["--head-learning-rate", "0"], "--head-learning-rate: expected a number above 0, got 0"),
        (
            ["--head-learning-rate", ".01", "--learning-rate", "0"],
            "--learning-rate: expected a number above 0 beside a rate of the head's own, got 0",
        ),
        (["--reinit-layers", "3"], "--reinit-layers: expected at most 2, the layers that there are, got 3"),
        (
            ["--reinit-layers", "2", "--frozen-layers", "1"],
            "--reinit-layers: expected at most 1, the layers that are not frozen, got 2",
        ),
    ],
)
def test_wrong_options_are_refused(finetune, tmp_path, words, message):
    done = finetune(tmp_path / "out", *words)
    assert done.returncode in (1, 2) and message in done.stderr, done.stderr
    assert not (tmp_path / "out/config.json").exists()


def test_language_models_are_no_task(finetune, tmp_path):
    done = finetune(tmp_path / "out", task="mlm")
    assert done.returncode == 2 and "--task: expected a task with labels, got mlm" in done.stderr


def test_bad_rows_are_named(deberta, base, tmp_path):
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
        done = deberta("finetune", "--task", "sst-2", "-m", base, "--train-file", file, "-o", tmp_path / "out")
        assert done.returncode == 1 and "train.tsv" in done.stderr and message in done.stderr, done.stderr
