"""The rows that `finetune` reads: labels that are none, bad rows, validation files read before the first step."""

import json
import re

import pytest

from conftest import WORDS, rows_of, weights_of
from models import make_model
from task_files import jsonl


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
def test_labels_that_tell_rows_apart_are_refused(finetune_texts, labels, message):
    done = finetune_texts(
        "--dry-run", text=jsonl(*({"text": f"row {n}", "label": label} for n, label in enumerate(labels)))
    )
    assert done.returncode == (1 if message else 0), done.stderr
    assert message is None or message in done.stderr, done.stderr


def test_labels_with_blanks_are_those_without(finetune_texts, tmp_path):
    done = finetune_texts(
        "--max-steps",
        "1",
        text=jsonl(*({"text": f"row {n}", "label": ["good", " good", "Good ", "bad"][n % 4]} for n in range(16))),
    )
    assert done.returncode == 0, done.stderr
    assert list(json.loads((tmp_path / "out/config.json").read_text())["id2label"].values()) == ["bad", "good"]


@pytest.mark.parametrize("label", [[0.3, 0.7], ["a", "b"], ["a"], []])
def test_lists_are_no_labels_of_a_task_of_one_class(finetune_texts, deberta, tmp_path, label):
    text = jsonl(*rows_of(8), {"text": "a b", "label": label})
    done = finetune_texts("--dry-run", text=text)
    assert (
        done.returncode == 1
        and "train.jsonl:9: label: expected one label, got a list; the task multi-label takes lists of names"
        in done.stderr
    ), done.stderr
    if label == ["a", "b"]:
        assert finetune_texts("--dry-run", task="multi-label", text=text).returncode == 0


def test_a_label_field_that_no_row_has_lists_what_there_is(finetune_texts, deberta, plain_base, tmp_path):
    done = finetune_texts("--label-field", "topic", text=jsonl(*rows_of(4)))
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
            plain_base if verb[0] == "finetune" else make_model(tmp_path / "s", "sequence"),
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


def test_pairs_of_ones_own_file_are_pairs_everywhere(finetune_texts, deberta, tmp_path):
    """As `classify` reads them by default."""
    text = jsonl(*({"text": f"a {WORDS[n % 16]}", "text_pair": f"b {n}", "label": "ab"[n % 2]} for n in range(16)))
    done = finetune_texts("--max-steps", "1", "--dry-run", text=text)
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


def test_what_the_data_is_in_a_line_each(finetune_texts, tmp_path):
    texts = [("good film", "x"), ("good film", "y"), ("", "x"), ("fine", "x"), ("bad", "y"), ("dull", "x")]
    (tmp_path / "dev.jsonl").write_text(jsonl({"text": "fine", "label": "x"}, {"text": "new", "label": "y"}))
    training = jsonl(*({"text": text, "label": label} for text, label in texts))
    notes = [
        "examples with an empty text: 1",
        "examples with the text of an earlier one and another label: 1 (",
        "samples of the largest class, x: 67 %",
    ]
    done = finetune_texts("--validation-file", tmp_path / "dev.jsonl", "--max-steps", "1", text=training)
    assert done.returncode == 0, done.stderr
    assert all(
        note in done.stderr
        for note in [*notes, "examples of the validation file whose texts are trained on as well: 1 of 2 ("]
    ), done.stderr
    dry = finetune_texts("--dry-run", text=training)
    assert all(f"note\t{note}" in dry.stdout for note in notes), dry.stdout
    assert "another label: 1 (" in dry.stdout and "train.jsonl:2)\n" in dry.stdout, "the line of the second label"
    twice = [(f"text {i % 15}", "xy"[i % 2 if i < 15 else (i - 15) % 2]) for i in range(30)]
    once = jsonl(*({"text": text, "label": label} for text, label in [*twice, ("late again", "delivry")]))
    dry = finetune_texts("--dry-run", "--validation-split", "0.3", text=once, out="once")
    assert "note\tclasses with a single sample, which may be misspelt: delivry\n" in dry.stdout, dry.stdout
    assert re.search(r"held out\t.* of them have texts that are trained on as well \(.*train.jsonl:\d+", dry.stdout)
    (tmp_path / "broken.tsv").write_bytes(b"text\tlabel\ngood \xff film\tx\nbad\ty\n")
    done = finetune_texts("--dry-run", "--train-file", tmp_path / "broken.tsv")
    assert "note\texamples with bytes that are not UTF-8, replaced by U+FFFD: 1\n" in done.stdout


def test_examples_that_differ_by_what_is_marked_or_chosen_are_not_one(finetune_texts):
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
        done = finetune_texts("--dry-run", text=jsonl(*given), task=task, out=task)
        assert done.returncode == 0 and "another label" not in done.stdout, done.stdout + done.stderr
        other = given[0] | {"label": 1 - given[0]["label"] if task == "copa" else not given[0]["label"]}
        done = finetune_texts("--dry-run", text=jsonl(*given, other), task=task, out=task)
        assert "note\texamples with the text of an earlier one and another label: 1 (" in done.stdout, done.stdout


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
def test_bad_rows_are_left_out_by_request(deberta, plain_base, tmp_path, task, good, bad, name):
    train, dev = tmp_path / name, tmp_path / f"dev-{name}"
    train.write_text("".join(good[:3]) + bad + "".join(good[3:]))
    dev.write_text(good[0] + bad + "".join(good[1:6]))
    words = (
        "finetune",
        "--task",
        task,
        "-m",
        plain_base,
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
def test_the_validation_file_is_read_before_the_first_step(finetune_texts, tmp_path, line, message):
    (tmp_path / "dev.jsonl").write_text(jsonl(rows_of(1)[0]) + line + "\n")
    for words in ((), ("--dry-run",)):
        done = finetune_texts("--validation-file", tmp_path / "dev.jsonl", *words, text=jsonl(*rows_of(64)))
        assert done.returncode != 0 and "dev.jsonl:2" in done.stderr and message in done.stderr, done.stderr
        assert not list(tmp_path.glob("out/checkpoint-*")) and not (tmp_path / "out/metrics.jsonl").exists()


def test_validation_files_of_sentences_and_questions_are_read_before_the_first_step(deberta, plain_base, tmp_path):
    (tmp_path / "train.txt").write_text("".join(f"a O\n{word} B-PER\n\n" for word in WORDS))
    (tmp_path / "dev.txt").write_text("a O\n\nb\n\n")
    words = ("finetune", "-m", plain_base, "-o", tmp_path / "out", "--max-steps", "1")
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


def test_a_pair_without_windows_is_found_before_the_first_step(deberta, plain_base, tmp_path):
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
        plain_base,
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
