"""A share of the training examples held out and evaluated on: `finetune --validation-split`."""

import json
import re

import pytest

from conftest import WORDS, rows_of, weights_of
from task_files import jsonl


def test_a_share_is_held_out_and_evaluated_on(finetune_texts, deberta, plain_base, tmp_path):
    text = jsonl(*rows_of(200))
    done = finetune_texts(
        "--validation-split", "0.1", "--num-train-epochs", "2", "--early-stopping-patience", "3", text=text
    )
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
    (tmp_path / "dev.jsonl").write_text(jsonl(*(row for row in rows_of(200) if row["text"] in texts)))
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
    (tmp_path / "rest.jsonl").write_text(jsonl(*(row for row in rows_of(200) if row["text"] not in texts)))
    again = deberta(
        "finetune",
        "--task",
        "classification",
        "-m",
        plain_base,
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


def test_a_class_that_only_the_held_out_examples_have_is_a_class(finetune_texts, tmp_path):
    for seed in range(3):
        text = jsonl(*rows_of(40, "ab"), *({"text": f"rare {n}", "label": "c"} for n in range(1)))
        done = finetune_texts(
            "--validation-split", "0.5", "--max-steps", "1", "--seed", seed, text=text, out=f"out{seed}"
        )
        assert done.returncode == 0, done.stderr
        assert list(json.loads((tmp_path / f"out{seed}/config.json").read_text())["id2label"].values()) == [
            "a",
            "b",
            "c",
        ]


def test_sentences_and_contexts_are_held_out_whole(finetune_texts, deberta, plain_base, tmp_path):
    (tmp_path / "train.txt").write_text(
        "".join(f"a O\n{WORDS[n % 16]} {'B-PER' if n % 2 else 'O'}\n\n" for n in range(40))
    )
    done = deberta(
        "finetune",
        "--task",
        "ner",
        "-m",
        plain_base,
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
        plain_base,
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


def test_answers_to_the_questions_of_one_passage_stay_together(deberta, plain_base, tmp_path):
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
        plain_base,
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


def test_what_a_split_repeats_and_lacks_is_told(finetune_texts, tmp_path):
    text = jsonl(*rows_of(40))
    (tmp_path / "copy.jsonl").write_text(text)
    done = finetune_texts(
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
    without = [row | ({} if n % 4 else {"label": ""}) for n, row in enumerate(rows_of(40))]
    done = finetune_texts("--validation-split", "0.5", "--max-steps", "1", text=jsonl(*without), out="without")
    assert done.returncode == 0 and re.search(
        r"20 examples are held out for evaluation, \d+ of them without a label", done.stderr
    ), done.stderr
    done = finetune_texts(
        "--validation-split",
        "0.5",
        "--max-steps",
        "1",
        text=jsonl(*(row | {"label": ""} for row in rows_of(40))),
        out="none",
    )
    assert done.returncode in (1, 2) and not (tmp_path / "none/metrics.jsonl").exists()


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
def test_splits_that_cannot_be_are_refused(finetune_texts, tmp_path, words, message):
    done = finetune_texts(*words, "--seed", "2", text=jsonl(*rows_of(64)))
    assert done.returncode == 2 and message in done.stderr, done.stderr
    assert not (tmp_path / "out/config.json").exists()
