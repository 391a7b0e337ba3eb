"""The verb eval with a model: heads, labels, bad rows, interruption."""

import json
import os
import pty
import signal
import subprocess
import time

import numpy
import pytest

from clean_environment import clean_environment
from conftest import BINARY, HANG_SECONDS
from models import make_model, read_safetensors, write_safetensors

NLI = ("entailment", "neutral", "contradiction")


@pytest.fixture(scope="module")
def pair_model(tmp_path_factory):
    return make_model(tmp_path_factory.mktemp("nli"), "sequence", labels=NLI)


def rows_of(labels):
    return "premise,hypothesis,label\n" + "".join(f"text {i},other {i * i},{label}\n" for i, label in enumerate(labels))


def result(done, code=0):
    assert done.returncode == code, done.stderr
    return json.loads(done.stdout)


def test_the_answers_are_those_of_the_verb(deberta, pair_model, tmp_path):
    (tmp_path / "dev.csv").write_text(rows_of(["neutral"] * 40))
    found = result(
        deberta(
            "eval",
            "--task",
            "mnli",
            "-m",
            pair_model,
            tmp_path / "dev.csv",
            "-f",
            "json",
            "--write-predictions",
            tmp_path / "answers.tsv",
        )
    )
    lines = deberta(
        "classify", "-m", pair_model, "-i", tmp_path / "dev.csv", "--input-field", "premise,hypothesis", "--no-header"
    ).stdout.splitlines()
    labels = [line.split("\t")[0] for line in lines]
    assert len(set(labels)) > 1
    assert (tmp_path / "answers.tsv").read_text() == "index\tprediction\n" + "".join(
        f"{i}\t{label}\n" for i, label in enumerate(labels)
    )
    assert found["metrics"]["accuracy"] == pytest.approx(labels.count("neutral") / 40)


def test_classes_are_matched_by_name_and_not_by_order(deberta, tmp_path):
    accuracies = []
    for names in (NLI, NLI[::-1], ("LABEL_0", "LABEL_1", "LABEL_2")):
        model = make_model(tmp_path / names[0], "sequence", labels=names)
        (tmp_path / "dev.csv").write_text(rows_of(["entailment"] * 30))
        answers = tmp_path / "answers.tsv"
        deberta(
            "eval",
            "--task",
            "mnli",
            "-m",
            model,
            tmp_path / "dev.csv",
            "--write-predictions",
            answers,
            "--bootstrap",
            "0",
        )
        accuracies.append([line.split("\t")[1] for line in answers.read_text().splitlines()[1:]])
    swap = {"entailment": "contradiction", "neutral": "neutral", "contradiction": "entailment"}
    assert accuracies[1] == accuracies[2] == [swap[name] for name in accuracies[0]], "the same weights, other names"


def test_a_mismatch_of_classes_shows_both_lists(deberta, pair_model, tmp_path):
    (tmp_path / "dev.tsv").write_text("sentence\tlabel\ngood\t1\n")
    done = deberta("eval", "--task", "sst-2", "-m", pair_model, tmp_path / "dev.tsv")
    assert done.returncode == 1 and done.stdout == ""
    assert (
        "expected a model with the classes 0, 1, got 3 classes: entailment, neutral, contradiction; give the "
        "task's labels"
    ) in done.stderr
    (tmp_path / "dev.csv").write_text(rows_of(["neutral"]))
    assert (
        deberta(
            "eval",
            "--task",
            "mnli",
            "-m",
            pair_model,
            tmp_path / "dev.csv",
            "--label-map",
            "neutral,entailment,contradiction",
        ).returncode
        == 0
    )
    scores = deberta("eval", "--task", "sts-b", "-m", pair_model, tmp_path / "dev.csv")
    assert scores.returncode == 1 and "expected a model with one score for sts-b, got 3 classes" in scores.stderr


@pytest.mark.parametrize("task", ["ner", "squad", "record"])
def test_a_model_without_the_head_is_refused(deberta, pair_model, tmp_path, task):
    files = {"ner": "Ada B-PER\n", "squad": '{"data": []}', "record": "{}"}
    (tmp_path / "dev.json").write_text(files[task])
    done = deberta("eval", "--task", task, "-m", pair_model, tmp_path / "dev.json")
    assert done.returncode == 1 and done.stdout == "" and "head" in done.stderr


def test_rows_that_cannot_be_answered_count_as_failed(deberta, pair_model, tmp_path):
    long = "a b c d e f g h " * 9
    (tmp_path / "dev.csv").write_text(rows_of(["neutral"] * 3) + f"{long},x y z,neutral\nshort\nx,y\n")
    words = (
        "eval",
        "--task",
        "mnli",
        "-m",
        pair_model,
        tmp_path / "dev.csv",
        "--max-tokens",
        "40",
        "--truncate",
        "error",
        "-f",
        "json",
    )
    done = deberta(*words, "--on-bad-row", "report")
    found = result(done, code=1)
    assert (found["rows"], found["failed"]) == (6, 3)
    assert "dev.csv:5: " in done.stderr
    assert "dev.csv:6: expected 3 columns, got 1" in done.stderr
    assert "dev.csv:7: expected 3 columns, got 2" in done.stderr
    stopped = deberta(*words)
    assert (stopped.returncode, stopped.stdout) == (1, "")
    assert "--on-bad-row report counts the other rows" in stopped.stderr


def test_cut_rows_are_noted(deberta, pair_model, tmp_path):
    (tmp_path / "dev.csv").write_text(rows_of(["neutral"]) + "a b c d e f g h " * 9 + ",x y z,neutral\n")
    done = deberta("eval", "--task", "mnli", "-m", pair_model, tmp_path / "dev.csv", "--max-tokens", "40")
    assert done.returncode == 0 and "note: 1 of 2 rows cut to 40 tokens (--max-tokens, --truncate)" in done.stderr


def test_a_file_without_labels_still_gives_predictions(deberta, pair_model, tmp_path):
    (tmp_path / "test.csv").write_text("premise,hypothesis\na,b\nc,d\n")
    answers = tmp_path / "answers.tsv"
    done = deberta(
        "eval", "--task", "mnli", "-m", pair_model, tmp_path / "test.csv", "--write-predictions", answers, "-f", "json"
    )
    found = result(done)
    assert len(answers.read_text().splitlines()) == 3
    assert found["metrics"] == {"accuracy": None}
    assert found["unlabelled"] == 2
    assert "note: no row has a label: no metrics, only predictions" in done.stderr
    assert deberta("eval", "--task", "mnli", "-m", pair_model, tmp_path / "test.csv").returncode == 1


def test_generic_tasks_have_the_models_labels(deberta, tmp_path):
    model = make_model(
        tmp_path / "model", "sequence", labels=("ham", "spam"), problem_type="multi_label_classification"
    )
    (tmp_path / "dev.csv").write_text("text,label\na,ham\nb,eggs\n")
    done = deberta("eval", "--task", "classification", "-m", model, tmp_path / "dev.csv")
    assert done.returncode == 1 and 'label: expected one of ham, spam, got "eggs"' in done.stderr
    (tmp_path / "dev.jsonl").write_text('{"text": "a", "labels": ["ham"]}\n{"text": "b", "labels": []}\n')
    assert set(
        result(deberta("eval", "--task", "multi-label", "-m", model, tmp_path / "dev.jsonl", "-f", "json"))["metrics"]
    ) == {"f1_micro", "f1_macro", "accuracy"}


def test_tags_of_another_set_are_refused(deberta, tmp_path):
    model = make_model(tmp_path / "model", "token", labels=("O", "B-DRUG", "I-DRUG"))
    (tmp_path / "valid.txt").write_text("Ada B-PER\nran O\n")
    done = deberta("eval", "--task", "ner", "-m", model, tmp_path / "valid.txt")
    assert done.returncode == 1
    assert "none of the model's tags O, B-DRUG, I-DRUG is in the files, which have B-PER" in done.stderr
    mapped = deberta(
        "eval", "--task", "ner", "-m", model, tmp_path / "valid.txt", "--label-map", "O,B-PER,I-PER", "-f", "json"
    )
    assert "f1/PER" in result(mapped)["metrics"]


def test_ner_answers_are_those_of_the_verb(deberta, tmp_path):
    model = make_model(tmp_path / "model", "token", labels=("O", "B-PER", "I-PER"))
    sentences = "".join("".join(f"word{i * k} O\n" for k in range(1, 6)) + "\n" for i in range(9))
    (tmp_path / "valid.conll").write_text(sentences)
    result(
        deberta(
            "eval",
            "--task",
            "ner",
            "-m",
            model,
            tmp_path / "valid.conll",
            "--write-predictions",
            tmp_path / "answers.txt",
            "-f",
            "json",
        )
    )
    verb = deberta("ner", "-m", model, "-i", tmp_path / "valid.conll", "-f", "conll", "--no-header").stdout
    written = (tmp_path / "answers.txt").read_text()
    assert "I-PER" in written and written.split() == verb.split()


def test_sentences_of_a_document_are_seen_together_as_many_as_fit(deberta, tmp_path):
    model = make_model(tmp_path / "model", "token", labels=("O", "B-PER", "I-PER"))
    sentences = ["Ada B-PER\nLovelace I-PER\n", "met O\nBob B-PER\n", "in O\nParis O\nand O\nRome O\n"]
    forms = {
        "apart": "".join(sentence + "\n" for sentence in sentences),
        "one document": "-DOCSTART- O\n\n" + "".join(sentence + "\n" for sentence in sentences),
        "two documents": sentences[0] + "\n" + sentences[1] + "\n-DOCSTART- O\n\n" + sentences[2] + "\n",
        "joined": "".join(sentences) + "\n",
        "first two joined": sentences[0] + sentences[1] + "\n" + sentences[2] + "\n",
    }

    def tags(form, *words):
        (tmp_path / "valid.conll").write_text(forms[form])
        result(
            deberta(
                "eval",
                "--task",
                "ner",
                "-m",
                model,
                tmp_path / "valid.conll",
                "--write-predictions",
                tmp_path / "answers.txt",
                "-f",
                "json",
                *words,
            )
        )
        return [line.split()[-1] for line in (tmp_path / "answers.txt").read_text().splitlines() if line]

    pieces = [
        len(
            deberta(
                "tokenize",
                "-m",
                model,
                "--no-special",
                "--no-header",
                " ".join(line.split()[0] for line in sentence.splitlines()),
            ).stdout.splitlines()
        )
        for sentence in sentences
    ]
    assert tags("one document", "--merge-sentences") == tags("joined") != tags("apart")
    assert tags("two documents", "--merge-sentences") == tags("first two joined")
    fit = ("--max-tokens", str(pieces[0] + pieces[1] + 2), "--truncate", "error")
    assert tags("one document", "--merge-sentences", *fit) == tags("first two joined", *fit)


def test_masked_pieces_have_the_probabilities_of_a_forward_run(deberta, language_model, tmp_path):
    texts = ["It rained .", "the cat sat"]
    (tmp_path / "valid.txt").write_text("\n".join([*texts[:1], "", texts[1]]) + "\n")
    words = ("eval", "--task", "mlm", "-m", language_model, tmp_path / "valid.txt", "-f", "json")
    got = result(deberta(*words, "--mlm-probability", "1", "--bootstrap", "0"))["metrics"]
    ids_of = lambda text: json.loads(deberta("tokenize", "-m", language_model, "-f", "jsonl", text).stdout)["ids"]
    logs, right, mask = [], [], ids_of("[MASK]")[1]
    for text in texts:
        ids = ids_of(text)
        hidden = numpy.array([ids[:1] + [mask] * (len(ids) - 2) + ids[-1:]], numpy.int32)
        write_safetensors(tmp_path / "in", {"input_ids": hidden})
        assert (
            deberta(
                "forward", "-m", language_model, "--ids", tmp_path / "in", "--layers", "none", "-o", tmp_path / "out"
            ).returncode
            == 0
        )
        logits = read_safetensors(tmp_path / "out")["logits"][0].astype(numpy.float64)
        probabilities = logits - numpy.log(numpy.exp(logits).sum(-1, keepdims=True))
        logs += [probabilities[i + 1, piece] for i, piece in enumerate(ids[1:-1])]
        right += [probabilities[i + 1].argmax() == piece for i, piece in enumerate(ids[1:-1])]
    assert got["masked_pieces"] == len(logs) > 6
    assert got["perplexity"] == pytest.approx(numpy.exp(-numpy.mean(logs)), rel=1e-5)
    assert got["accuracy"] == numpy.mean(right)
    some = [result(deberta(*words, "--mlm-probability", "0.2", "--seed", seed))["metrics"] for seed in (0, 0, 1)]
    assert some[0] == some[1] != some[2] and 2 <= some[0]["masked_pieces"] < len(logs)
    refused = deberta(*words, "--write-predictions", tmp_path / "answers.tsv")
    assert refused.returncode == 2, refused.stderr
    assert "--write-predictions: expected a task whose predictions a file can hold, got mlm" in refused.stderr


def test_squad2_finds_its_threshold_on_the_logits(deberta, tmp_path):
    model = make_model(tmp_path / "model", "span")
    questions = [
        {
            "id": str(i),
            "question": f"Who {i} ?",
            "answers": [{"text": "cat", "answer_start": 4}] if i % 2 else [],
            "is_impossible": i % 2 == 0,
        }
        for i in range(20)
    ]
    document = {
        "version": "v2.0",
        "data": [{"title": "", "paragraphs": [{"context": "The cat sat on the mat .", "qas": questions}]}],
    }
    (tmp_path / "dev.json").write_text(json.dumps(document))
    words = (
        "eval",
        "--task",
        "squad2",
        "-m",
        model,
        tmp_path / "dev.json",
        "-f",
        "json",
        "--bootstrap",
        "0",
        "--write-predictions",
        tmp_path / "answers.json",
    )
    metrics = result(deberta(*words))["metrics"]
    assert metrics["total"] == 20 and metrics["best_f1"] >= metrics["f1"]
    answers = json.loads((tmp_path / "answers.json").read_text())
    assert list(answers) == [str(i) for i in range(20)]
    assert all(answer in "The cat sat on the mat ." for answer in answers.values())
    nothing = result(deberta(*words, "--no-answer-threshold", "-1000"))["metrics"]
    assert nothing["exact"] == 50 and nothing["NoAns_f1"] == 100
    assert result(deberta(*words, "--no-answer-threshold", "1000"))["metrics"]["NoAns_f1"] == 0


def test_a_terminal_sees_progress_and_ctrl_c_ends_the_run(pair_model, tmp_path):
    (tmp_path / "dev.csv").write_text(rows_of(["neutral"] * 200000))
    leader, follower = pty.openpty()
    run = subprocess.Popen(
        [BINARY, "eval", "--task", "mnli", "-m", pair_model, tmp_path / "dev.csv", "--output-dir", tmp_path / "out"],
        stdout=subprocess.PIPE,
        stderr=follower,
        env=clean_environment(),
    )
    os.close(follower)
    shown = b""
    begin = time.monotonic()
    while b"rows/s" not in shown and time.monotonic() - begin < HANG_SECONDS:
        shown += os.read(leader, 4096)
    assert b"left" in shown
    run.send_signal(signal.SIGINT)
    out, _ = run.communicate(timeout=HANG_SECONDS)
    os.close(leader)
    assert run.returncode == 130 and out == b"" and not (tmp_path / "out").exists()


def test_a_pipe_sees_no_progress(deberta, pair_model, tmp_path):
    (tmp_path / "dev.csv").write_text(rows_of(["neutral"] * 5))
    done = deberta("eval", "--task", "mnli", "-m", pair_model, tmp_path / "dev.csv")
    assert done.returncode == 0 and done.stderr == "" and "\x1b" not in done.stdout


def test_labels_that_the_model_does_not_have_ask_for_a_map(deberta, tmp_path):
    model = make_model(tmp_path / "model", "sequence", labels=("NEGATIVE", "POSITIVE"))
    (tmp_path / "dev.csv").write_text(
        "text,label\n" + "".join(f"text {i},{i % 2}\n" for i in range(300)) + "text,negative\n"
    )
    words = ("eval", "--task", "classification", "-m", model, "dev.csv", "-f", "json", "--bootstrap", "0")
    done = deberta(*words, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == (
        'dev.csv:2: label: expected one of NEGATIVE, POSITIVE, got "0"; the same holds for 300 of 301 rows, '
        "whose labels are 0 (150), 1 (150), negative (1); "
        "give the file's names for the model's classes NEGATIVE, POSITIVE, in this order, with --label-map\n"
    )
    (tmp_path / "dev.csv").write_text("text,label\n" + "".join(f"text {i},{i % 2}\n" for i in range(30)))
    assert result(deberta(*words, "--label-map", "0,1", cwd=tmp_path))["rows"] == 30
    # A label -1 is no missing one where the map has it.
    (tmp_path / "dev.csv").write_text("text,label\n" + "".join(f"text {i},{i % 2 * 2 - 1}\n" for i in range(30)))
    assert result(deberta(*words, "--label-map", "-1,1", cwd=tmp_path))["unlabelled"] == 0


def test_the_settings_of_squad_and_ner_are_options_and_reported(deberta, tmp_path):
    model = make_model(tmp_path / "span", "span")
    qas = [{"id": str(i), "question": f"Who {i} ?", "answers": [{"text": "cat", "answer_start": 4}]} for i in range(12)]
    (tmp_path / "dev.json").write_text(
        json.dumps({"data": [{"title": "", "paragraphs": [{"context": "The cat sat on the mat " * 9, "qas": qas}]}]})
    )
    words = (
        "eval",
        "--task",
        "squad",
        "-m",
        model,
        "dev.json",
        "-f",
        "json",
        "--bootstrap",
        "0",
        "--write-predictions",
        "answers.json",
    )
    own = deberta(*words, cwd=tmp_path)
    settings = {
        "max-tokens": 384,
        "doc-stride": 128,
        "max-question-len": 64,
        "max-answer-len": 30,
        "align": "tokens",
        "n-best": "all spans",
    }
    assert result(own)["settings"] == settings
    assert own.stderr == (
        "note: settings: max-tokens 384, doc-stride 128, max-question-len 64, max-answer-len 30, align tokens, "
        "n-best all spans\n"
    )
    answers = (tmp_path / "answers.json").read_text()
    given = (
        "--max-tokens",
        "384",
        "--stride",
        "128",
        "--max-question-len",
        "64",
        "--max-answer-len",
        "30",
        "--align",
        "tokens",
    )
    assert deberta(*words, *given, cwd=tmp_path).stdout == own.stdout
    assert (tmp_path / "answers.json").read_text() == answers
    pieces = {}
    for longest in (1, 30):
        deberta(*words, "--max-answer-len", longest, cwd=tmp_path)
        texts = json.loads((tmp_path / "answers.json").read_text()).values()
        pieces[longest] = max(
            len(json.loads(deberta("tokenize", "-m", model, "--no-special", "-f", "jsonl", text).stdout)["ids"])
            for text in texts
        )
    assert pieces[1] == 1 < pieces[30] <= 30
    deberta(*words, "--align", "words", cwd=tmp_path)
    assert all(
        set(text.split()) <= {"The", "cat", "sat", "on", "the", "mat"}
        for text in json.loads((tmp_path / "answers.json").read_text()).values()
    )

    model = make_model(tmp_path / "ner", "token", labels=("O", "B-PER", "I-PER"))
    (tmp_path / "valid.txt").write_text(
        "".join("".join(f"wordly{i * k}s O\n" for k in range(1, 6)) + "\n" for i in range(9))
    )
    words = (
        "eval",
        "--task",
        "ner",
        "-m",
        model,
        "valid.txt",
        "-f",
        "json",
        "--bootstrap",
        "0",
        "--write-predictions",
        "answers.txt",
    )
    first = deberta(*words, cwd=tmp_path)
    assert result(first)["settings"] == {"word-label": "first", "max-tokens": 512, "sentences": "each by itself"}
    assert first.stderr.splitlines()[-1] == "note: settings: word-label first, max-tokens 512, sentences each by itself"
    by_first = (tmp_path / "answers.txt").read_text()
    assert (
        result(deberta(*words, "--word-label", "most_confident", cwd=tmp_path))["settings"]["word-label"]
        == "most_confident"
    )
    assert (tmp_path / "answers.txt").read_text() != by_first


def test_what_the_task_decides_is_called_auto(deberta, tmp_path):
    shown = deberta("eval", "--task", "squad", "-m", "x", "dev.json", "--print-config")
    for name in ("max-tokens", "truncate", "no-answer-threshold"):
        assert f"{name} = auto  (default)" in shown.stderr
    given = deberta("eval", "--task", "squad", "-m", "x", "dev.json", "--max-tokens", "auto", "--print-config")
    assert json.loads(given.stdout)["eval"]["max-tokens"] == "auto"

    model = make_model(tmp_path / "ner", "token", labels=("O", "B-PER", "I-PER"))
    (tmp_path / "valid.txt").write_text("".join(f"word{i} O\n" for i in range(300)))
    words = ("eval", "--task", "ner", "-m", model, "valid.txt", "-f", "json", "--bootstrap", "0")
    own = deberta(*words, cwd=tmp_path)
    assert "cut" not in own.stderr
    assert deberta(*words, "--max-tokens", "auto", "--truncate", "auto", cwd=tmp_path).stdout == own.stdout
    assert "note: 1 of 1 rows cut to 512 tokens" in deberta(*words, "--truncate", "right", cwd=tmp_path).stderr
    # A model's folder that says less is heard, also where auto was given.
    (model / "tokenizer_config.json").write_text(json.dumps({"model_max_length": 100, "truncation_side": "left"}))
    for auto in ((), ("--max-tokens", "auto", "--truncate", "auto")):
        lowered = deberta(*words, *auto, cwd=tmp_path)
        assert result(lowered)["settings"]["max-tokens"] == 100
        assert "rows cut to 100 tokens (the model's model_max_length; " in lowered.stderr
