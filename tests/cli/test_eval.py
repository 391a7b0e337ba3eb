"""The verb eval: labelled files and predictions to metrics."""

import json
import lzma

import pytest

SST2 = "sentence\tlabel\n" + "".join(f"text {i}\t{i % 2}\n" for i in range(8))


def predictions(answers):
    return "index\tprediction\n" + "".join(f"{i}\t{answer}\n" for i, answer in enumerate(answers))


@pytest.fixture
def evaluate(deberta, tmp_path):
    """evaluate(task, gold, predictions, words...) -> the finished process; the files get the names given as pairs."""

    def run(task, gold, answers, *words, gold_name="gold.tsv", answers_name="answers.tsv"):
        (tmp_path / gold_name).write_text(gold)
        (tmp_path / answers_name).write_text(answers)
        return deberta("eval", "--task", task, gold_name, "--predictions", answers_name, *words, cwd=tmp_path)

    return run


def result(done, code=0):
    assert done.returncode == code, done.stderr
    return json.loads(done.stdout)


def test_metrics_as_json_with_intervals(evaluate):
    done = evaluate(
        "sst-2", SST2, predictions([0, 1, 0, 0, 0, "positive", "Negative", 1]), "-f", "json", "--bootstrap", "200"
    )
    found = result(done)
    assert done.stderr == ""
    assert (found["task"], found["rows"], found["failed"], found["unlabelled"], found["bootstrap_samples"]) == (
        "sst-2",
        8,
        0,
        0,
        200,
    )
    assert found["metrics"] == {"accuracy": 7 / 8}
    low, high = found["intervals"]["accuracy"]
    assert 0.4 < low < 7 / 8 <= high <= 1


def test_a_seed_gives_the_same_intervals_again(evaluate):
    gold = "text\tlabel\n" + "".join(f"x\t{i * i}\n" for i in range(20))
    words = ("regression", gold, predictions([i % 7 for i in range(20)]), "-f", "json")
    first, again, other = (evaluate(*words, *seed).stdout for seed in ((), ("--seed", "0"), ("--seed", "12345678901")))
    assert first == again != other


def test_a_pipe_gets_tsv(evaluate):
    done = evaluate("sst-2", SST2, predictions([0, 1] * 4), "--bootstrap", "0")
    assert done.stdout == "metric\tvalue\tlow\thigh\naccuracy\t1\t\t\n"
    assert (
        evaluate("sst-2", SST2, predictions([0, 1] * 4), "--bootstrap", "3", "--no-header").stdout
        == "accuracy\t1\t1\t1\n"
    )
    assert "accuracy  1" in evaluate("sst-2", SST2, predictions([0, 1] * 4), "-f", "table").stdout


def test_bad_rows_keep_their_numbers_and_are_reported(evaluate):
    gold = "sentence\tlabel\ngood\t1\nbroken\nfine\t1\t3\nbad\t0\n"
    done = evaluate("sst-2", gold, predictions([1, 1, 1, 0]), "-f", "json", "--on-bad-row", "report")
    found = result(done, code=1)
    assert (found["rows"], found["failed"], found["metrics"]["accuracy"]) == (4, 2, 1)
    assert done.stderr.splitlines() == [
        "gold.tsv:3: expected 2 columns, got 1",
        "gold.tsv:4: expected 2 columns, got 3",
        "rows: 2 ok, 2 failed",
    ]
    skipped = evaluate("sst-2", gold, predictions([1, 1, 1, 0]), "--on-bad-row", "skip")
    assert skipped.returncode == 1 and skipped.stderr == "rows: 2 ok, 2 failed\n"


def test_a_bad_row_gives_no_figure_unless_it_is_left_out_on_purpose(evaluate):
    gold = "sentence\tlabel\ngood\t1\nbroken\nbad\t0\n"
    stopped = evaluate("sst-2", gold, predictions([1, 1, 0]))
    assert (stopped.returncode, stopped.stdout) == (1, "")
    assert stopped.stderr == "gold.tsv:3: expected 2 columns, got 1; --on-bad-row report counts the other rows\n"
    tags = evaluate(
        "ner",
        "Ada B-PER\nsleeps O\n\nBob\n\n",
        "Ada B-PER\nsleeps O\n\nBob\n\n",
        gold_name="dev.conll",
        answers_name="answers.conll",
    )
    assert (tags.returncode, tags.stdout) == (1, "") and "--on-bad-row report counts the other rows" in tags.stderr
    questions = evaluate(
        "squad", json.dumps(SQUAD), json.dumps({"a": "cat sat"}), gold_name="dev.json", answers_name="answers.json"
    )
    assert (questions.returncode, questions.stdout) == (1, "")
    assert questions.stderr.startswith("dev.json: data/0/paragraphs/0/qas/2/answers/0: text: ")
    assert "--on-bad-row report counts the other rows" in questions.stderr


def test_predictions_of_other_labels_than_the_rows_are_refused(evaluate):
    gold = "text\tlabel\na\tgood\nb\tbad\n"
    done = evaluate("classification", gold, predictions(["x", "y"]))
    assert (done.returncode, done.stdout) == (1, "")
    assert "expected predictions with the labels of the rows (good, bad), got only others (x, y)" in done.stderr
    assert evaluate("classification", gold, predictions(["x", "bad"])).returncode == 0


def test_rows_without_label_are_not_counted(evaluate):
    gold = "premise\thypothesis\tgold_label\na\tb\t-\na\tb\tneutral\n"
    done = evaluate("mnli", gold, predictions(["neutral", "entailment"]), "-f", "json")
    found = result(done)
    assert (found["unlabelled"], found["metrics"]["accuracy"]) == (1, 0)
    assert "note: 1 of 2 rows have no label and are not counted" in done.stderr
    none = evaluate("mnli", "premise\thypothesis\na\tb\n", predictions(["neutral"]))
    assert none.returncode == 1
    assert (
        "expected rows with a label and an answer, got none of 1 (0 failed, 1 without a label); a label is read "
        "from gold_label or label; name another column or key with --label-field"
    ) in none.stderr


def test_every_row_needs_a_prediction(evaluate):
    done = evaluate("sst-2", SST2, "index\tprediction\n0\t1\n1\t1\n9\t1\n")
    assert done.returncode == 1 and done.stdout == ""
    assert (
        "answers.tsv: expected a prediction for each of 8 rows, got none for 6; the first is row 2 (gold.tsv:4)"
        in done.stderr
    )
    assert evaluate("sst-2", SST2, predictions([1] * 10)).stderr == "note: 2 of 10 predictions match no row\n"


@pytest.mark.parametrize(
    "text, message",
    [
        ("index\tprediction\n0\t1\n0\t1\n", 'answers.tsv:3: "0" appears twice'),
        ("index\tprediction\nx\t1\n", 'answers.tsv:2: index: expected a row\'s number, got "x"'),
        (
            "index\tprediction\n" + "".join(f"{i}\tgreat\n" for i in range(8)),
            'answers.tsv:2: label: expected one of 0, 1, got "great"',
        ),
        ("a\tb\tc\n", "columns named index, prediction"),
    ],
)
def test_wrong_predictions_are_refused_with_their_place(evaluate, text, message):
    done = evaluate("sst-2", SST2, text)
    assert done.returncode == 1 and done.stdout == "" and message in done.stderr


def test_predictions_without_a_header(evaluate):
    assert (
        evaluate("sst-2", SST2, "".join(f"{i}\t{i % 2}\n" for i in range(8)), "--bootstrap", "0", "--no-header").stdout
        == "accuracy\t1\t\t\n"
    )


def test_superglue_predictions_go_by_idx(evaluate):
    gold = "".join(
        json.dumps({"premise": "p", "hypothesis": "h", "label": label, "idx": i}) + "\n"
        for i, label in ((7, "entailment"), (8, "neutral"), (9, "contradiction"))
    )
    answers = "".join(
        json.dumps({"idx": i, "label": label}) + "\n"
        for i, label in ((9, "contradiction"), (7, "entailment"), (8, "entailment"))
    )
    found = result(evaluate("cb", gold, answers, "-f", "json", gold_name="val.jsonl", answers_name="answers.jsonl"))
    assert found["metrics"] == {"f1_macro": pytest.approx((1 + 0 + 2 / 3) / 3), "accuracy": pytest.approx(2 / 3)}


def test_multirc_answers_count_together(evaluate):
    def passage(labels):
        answers = [{"text": "a", "idx": i, "label": label} for i, label in labels]
        return {
            "text": "P.",
            "questions": [
                {"question": "Q?", "idx": 0, "answers": answers[:2]},
                {"question": "R?", "idx": 1, "answers": answers[2:]},
            ],
        }

    gold = json.dumps({"idx": 0, "passage": passage([(0, 1), (1, 0), (2, 1), (3, 1)])}) + "\n"
    answers = json.dumps({"idx": 0, "passage": passage([(0, 1), (1, 0), (2, 1), (3, 0)])}) + "\n"
    found = result(
        evaluate("multirc", gold, answers, "-f", "json", gold_name="val.jsonl", answers_name="answers.jsonl")
    )
    assert found["metrics"] == {"f1": pytest.approx(0.8), "exact_match": 0.5, "accuracy": 0.75}


def test_choices_and_their_labels_file(evaluate, tmp_path):
    story = json.dumps({"obs1": "a", "obs2": "b", "hyp1": "c", "hyp2": "d"}) + "\n"
    (tmp_path / "labels.lst").write_text("1\n2\n")
    words = ("alphanli", story * 2, predictions([1, 1]), "--labels-file", "labels.lst")
    assert result(evaluate(*words, "-f", "json", gold_name="dev.jsonl"))["metrics"] == {"accuracy": 0.5}
    wrong = evaluate("sst-2", SST2, predictions([1] * 8), "--labels-file", "labels.lst")
    assert wrong.returncode == 2 and "--labels-file: expected the task alphanli and one file" in wrong.stderr


def test_race_files_one_a_passage(deberta, tmp_path):
    for name, answer in (("1.txt", "A"), ("2.txt", "B")):
        (tmp_path / name).write_text(
            json.dumps({"article": "P.", "id": name, "questions": ["Q?"], "options": [["a", "b"]], "answers": [answer]})
        )
    (tmp_path / "answers.tsv").write_text(predictions(["A", "A"]))
    done = deberta(
        "eval", "--task", "race", "1.txt", "2.txt", "--predictions", "answers.tsv", "-f", "json", cwd=tmp_path
    )
    assert result(done)["metrics"] == {"accuracy": 0.5}


def test_a_folder_stands_for_the_files_below_it(deberta, tmp_path):
    answers = {
        "test/high/2.txt": "A",
        "test/high/10.txt": "B",
        "test/middle/1.txt": "C",
        "test/high/.hidden/1.txt": "D",
        "test/middle/.1.txt.swp": "D",
    }
    for name, answer in answers.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(
            json.dumps(
                {
                    "article": "P.",
                    "id": name,
                    "questions": ["Q?"],
                    "options": [["a", "b", "c", "d"]],
                    "answers": [answer],
                }
            )
        )
    (tmp_path / "answers.tsv").write_text(predictions(["A", "B", "C"]))
    assert result(
        deberta("eval", "--task", "race", "test", "--predictions", "answers.tsv", "-f", "json", cwd=tmp_path)
    )["metrics"] == {"accuracy": 1.0}
    (tmp_path / "empty").mkdir()
    done = deberta("eval", "--task", "race", "empty", "--predictions", "answers.tsv", cwd=tmp_path)
    assert done.returncode == 1 and "expected labelled files in the folder, got none" in done.stderr


def test_scores_that_are_all_the_same_have_no_correlation(evaluate):
    gold = "sentence1\tsentence2\tscore\na\tb\t1.5\na\tb\t2\na\tb\t5\n"
    done = evaluate("sts-b", gold, predictions([3, 3, 3]), "-f", "json")
    found = result(done)
    assert found["metrics"] == {"combined_score": None, "pearson": None, "spearmanr": None}
    assert found["intervals"] == {} and found["notes"]["pearson"] == "not defined: all values are the same"
    assert "note: pearson: not defined" in done.stderr
    assert evaluate("sts-b", gold, predictions([3, 3, 3]), "-q").stdout.splitlines()[1] == "combined_score\t\t\t"


def test_generic_tasks_take_the_fields_that_are_named(evaluate):
    gold = 'id,review,stars\n1,"good, very",4\n2,bad,1.5\n3,so so,2.5\n'
    words = ("--input-field", "review", "--label-field", "stars", "-f", "json")
    found = result(evaluate("regression", gold, predictions([4, 1.5, 2.5]), *words, gold_name="gold.csv"))
    assert found["metrics"] == {"pearson": pytest.approx(1), "spearmanr": pytest.approx(1), "mse": 0}
    pairs = "".join(json.dumps({"a": "x", "b": "y", "kind": kind}) + "\n" for kind in ("spam", "ham", "eggs"))
    found = result(
        evaluate(
            "classification",
            pairs,
            predictions(["spam", "ham", "ham"]),
            "--input-field",
            "a,b",
            "--label-field",
            "kind",
            "-f",
            "json",
            gold_name="gold.jsonl",
        )
    )
    assert found["metrics"]["accuracy"] == pytest.approx(2 / 3)
    many = json.dumps({"text": "x", "labels": ["a", "b"]}) + "\n" + json.dumps({"text": "y", "labels": []}) + "\n"
    found = result(evaluate("multi-label", many, predictions(["b", ""]), "-f", "json", gold_name="gold.jsonl"))
    assert found["metrics"] == {"f1_micro": pytest.approx(2 / 3), "f1_macro": 0.5, "accuracy": 0.5}


SQUAD = {
    "version": "v2.0",
    "data": [
        {
            "title": "T",
            "paragraphs": [
                {
                    "context": "The cat sat .",
                    "qas": [
                        {"id": "a", "question": "Who?", "answers": [{"text": "The cat", "answer_start": 0}]},
                        {"id": "b", "question": "What?", "answers": [{"text": "sat", "answer_start": 8}]},
                        {"id": "c", "question": "Why?", "answers": [{"text": "sat", "answer_start": 0}]},
                    ],
                }
            ],
        }
    ],
}


def test_squad_answers_go_by_id(evaluate):
    done = evaluate(
        "squad",
        json.dumps(SQUAD),
        json.dumps({"a": "cat sat", "z": "x"}),
        "-f",
        "json",
        "--on-bad-row",
        "report",
        gold_name="dev.json",
        answers_name="answers.json",
    )
    found = result(done, code=1)
    assert (found["rows"], found["failed"], found["unanswered"]) == (3, 1, 1)
    assert found["metrics"] == {"f1": pytest.approx(100 / 3), "exact_match": 0}
    assert "dev.json: data/0/paragraphs/0/qas/2/answers/0: text: expected the text at answer_start 0" in done.stderr


def test_squad2_with_and_without_no_answer_probabilities(evaluate, tmp_path):
    squad = json.loads(json.dumps(SQUAD))
    squad["data"][0]["paragraphs"][0]["qas"][2] = {"id": "c", "question": "Why?", "is_impossible": True, "answers": []}
    answers = json.dumps({"a": "the cat", "b": "", "c": "cat"})
    words = ("squad2", json.dumps(squad), answers, "-f", "json")
    names = {"gold_name": "dev.json", "answers_name": "answers.json"}
    plain = result(evaluate(*words, **names))["metrics"]
    assert plain["exact"] == pytest.approx(100 / 3)
    assert plain["HasAns_total"] == 2
    assert plain["NoAns_f1"] == 0
    assert "best_f1" not in plain
    (tmp_path / "na.json").write_text(json.dumps({"a": 0.25, "b": 0.5, "c": 0.75}))
    sure = result(evaluate(*words, "--na-prob", "na.json", "--no-answer-threshold", "0.6", **names))["metrics"]
    assert sure["exact"] == pytest.approx(200 / 3)
    assert sure["best_exact"] == pytest.approx(200 / 3)
    assert sure["best_exact_thresh"] == 0.25
    (tmp_path / "na.json").write_text(json.dumps({"a": 0.25}))
    short = evaluate(*words, "--na-prob", "na.json", **names)
    assert short.returncode == 1 and "na.json: expected a number for each of 3 questions, got 1" in short.stderr
    wrong = evaluate("squad", json.dumps(squad), answers, **names)
    assert wrong.returncode == 1 and 'question "c" has no answer; use --task squad2' in wrong.stderr


def test_conll_columns(evaluate):
    gold = "-DOCSTART- -X- O\n\nAda NNP B-PER\nLee NNP I-PER\nran V O\n\nRome NNP B-LOC\n"
    answers = "Ada B-PER\nLee I-PER\nran O\n\nRome B-ORG\n"
    found = result(evaluate("ner", gold, answers, "-f", "json", gold_name="gold.txt", answers_name="answers.txt"))
    assert found["metrics"]["f1"] == 0.5 and found["metrics"]["accuracy"] == 0.75 and found["metrics"]["f1/PER"] == 1
    other = evaluate("ner", gold, answers.replace("Lee", "Lea"), gold_name="gold.txt", answers_name="answers.txt")
    assert other.returncode == 1 and "answers.txt:1: expected the words of gold.txt:3" in other.stderr
    short = evaluate("ner", gold, "Ada B-PER\nLee I-PER\nran O\n", gold_name="gold.txt", answers_name="answers.txt")
    assert short.returncode == 1 and "expected the sentence of gold.txt:7, got the end of the file" in short.stderr


def test_output_dir_keeps_other_keys(evaluate, tmp_path):
    folder = tmp_path / "out" / "mnli"
    gold = "premise\thypothesis\tlabel\na\tb\tneutral\n"
    assert evaluate("mnli", gold, predictions(["neutral"]), "--output-dir", folder, "--bootstrap", "10").returncode == 0
    assert (
        evaluate("mnli-mm", gold, predictions(["entailment"]), "--output-dir", folder, "--bootstrap", "0").returncode
        == 0
    )
    written = json.loads((folder / "all_results.json").read_text())
    assert written == {
        "task": "mnli",
        "eval_accuracy": 1,
        "eval_accuracy_interval": [1, 1],
        "eval_samples": 1,
        "eval_accuracy_mm": 0,
        "eval_samples_mm": 1,
    }


GLUE = {
    "cola": {"matthews_correlation": 60.5},
    "sst2": {"accuracy": 94.9},
    "mrpc": {"f1": 89.3, "accuracy": 85.4},
    "stsb": {"pearson": 87.6, "spearmanr": 86.5},
    "qqp": {"f1": 72.1, "accuracy": 89.3},
    "mnli": {"accuracy": 86.7, "accuracy_mm": 85.9},
    "qnli": {"accuracy": 92.7},
    "rte": {"accuracy": 70.1},
    "wnli": {"accuracy": 65.1},
}


def test_averages_of_a_folder_of_results(deberta, tmp_path):
    for task, metrics in GLUE.items():
        (tmp_path / task).mkdir()
        (tmp_path / task / "all_results.json").write_text(
            json.dumps({f"eval_{name}": value / 100 for name, value in metrics.items()} | {"epoch": 3.0})
        )
    rows = [line.split("\t") for line in deberta("eval", "--average", tmp_path).stdout.splitlines()]
    assert rows[0] == ["task", "metric", "value", "missing"]
    averages = {row[0]: row[2:] for row in rows if row[1] == "average"}
    assert averages["GLUE"] == ["80.52", ""] and averages["GLUE-8"][1] == ""
    assert averages["SuperGLUE"] == ["", "boolq, cb, copa, multirc, record, wic, wsc"]
    assert ["sst-2", "accuracy", "94.90", ""] in rows
    (tmp_path / "qnli" / "all_results.json").unlink()
    items = json.loads(deberta("eval", "--average", tmp_path, "-f", "json").stdout)
    assert items[-3] == {"task": "GLUE", "metric": "average", "value": None, "missing": ["qnli"]}
    empty = tmp_path / "empty"
    empty.mkdir()
    none = deberta("eval", "--average", empty)
    assert none.returncode == 1 and "expected all_results.json or folders with all_results.json" in none.stderr
    assert deberta("eval", "--average", tmp_path / "nowhere").returncode == 1


@pytest.mark.parametrize(
    "words, message",
    [
        (["eval"], "--task: expected the name of a task, got none"),
        (["eval", "--task", "glue"], "--task: expected one of cola, sst-2"),
        (
            ["eval", "--task", "sst2"],
            "eval: expected a labelled file or a folder of such files (- is standard input), got none",
        ),
    ],
)
def test_wrong_usage(deberta, words, message):
    done = deberta(*words)
    assert done.returncode == 2 and done.stdout == "" and message in done.stderr


def test_standard_input_and_compressed_files(deberta, tmp_path):
    (tmp_path / "answers.tsv").write_text(predictions([0, 1] * 4))
    (tmp_path / "gold.tsv.xz").write_bytes(lzma.compress(SST2.encode()))
    words = ("eval", "--task", "sst-2", "--predictions", tmp_path / "answers.tsv", "--bootstrap", "0", "--no-header")
    assert deberta(*words, "-", stdin=SST2).stdout == "accuracy\t1\t\t\n"
    assert deberta(*words, tmp_path / "gold.tsv.xz").stdout == "accuracy\t1\t\t\n"


# ---- labels of another task


def test_a_label_that_the_task_does_not_have_stops_the_run(evaluate):
    gold = "sentence\tlabel\na\t1\nb\t3\nc\t0\nd\t3\n"
    for words in ((), ("--on-bad-row", "skip")):
        done = evaluate("sst-2", gold, predictions([1, 1, 0, 0]), *words)
        assert (done.returncode, done.stdout) == (1, "")
        assert done.stderr == (
            'gold.tsv:3: label: expected one of 0, 1, got "3"; the same holds for 2 of 4 rows, whose labels are '
            "0 (1), 1 (1), 3 (2); "
            "is this a file of the task sst-2?\n"
        )


@pytest.mark.parametrize(
    "task, gold, name, message",
    [
        (
            "copa",
            "".join(
                json.dumps({"premise": "p", "choice1": "a", "choice2": "b", "question": "cause", "label": i}) + "\n"
                for i in (1, 2, 1)
            ),
            "dev.jsonl",
            (
                'dev.jsonl:2: label: expected the number of one of 2 choices, got "2"; the same holds for 1 of 3 '
                "rows; is this a file of the task copa?\n"
            ),
        ),
        (
            "regression",
            "text\tlabel\na\t1.5\nb\tn/a\n",
            "dev.tsv",
            (
                'dev.tsv:3: expected a number, got "n/a"; the same holds for 1 of 2 rows; is this a file of the task '
                "regression?\n"
            ),
        ),
    ],
)
def test_choices_and_scores_of_another_kind_stop_too(evaluate, task, gold, name, message):
    done = evaluate(task, gold, predictions([0, 0, 0][: gold.count("\n") - (name == "dev.tsv")]), gold_name=name)
    assert (done.returncode, done.stdout, done.stderr) == (1, "", message)


def test_minus_one_is_a_label_where_it_is_one(evaluate):
    scores = "".join(json.dumps({"text": "x", "label": i}) + "\n" for i in (-1, 0, 2))
    found = result(evaluate("regression", scores, predictions([-1, 0, 2]), "-f", "json", gold_name="dev.jsonl"))
    assert found["unlabelled"] == 0 and found["metrics"]["pearson"] == pytest.approx(1)
    nli = "".join(
        json.dumps({"premise": "p", "hypothesis": "h", "label": i}) + "\n" for i in (-1, "neutral", "entailment")
    )
    assert (
        result(evaluate("mnli", nli, predictions(["neutral"] * 3), "-f", "json", gold_name="dev.jsonl"))["unlabelled"]
        == 1
    )


def test_files_are_named_as_arguments_or_as_input(deberta, tmp_path):
    (tmp_path / "a.tsv").write_text("sentence\tlabel\na\t1\n")
    (tmp_path / "b.TSV").write_text("sentence\tlabel\nb\t0\n")
    (tmp_path / "answers.tsv").write_text(predictions([1, 1]))
    words = ("eval", "--task", "sst-2", "-p", "answers.tsv", "--bootstrap", "0")
    runs = [
        deberta(*words, *files, cwd=tmp_path)
        for files in (("a.tsv", "b.TSV"), ("-i", "a.tsv", "-i", "b.TSV"), ("a.tsv", "-i", "b.TSV"))
    ]
    assert [(run.returncode, run.stdout) for run in runs] == [(0, "metric\tvalue\tlow\thigh\naccuracy\t0.5\t\t\n")] * 3


def test_bytes_that_are_not_utf8_are_counted(deberta, tmp_path):
    (tmp_path / "a.tsv").write_bytes(b"sentence\tlabel\ncaf\xe9\t1\nb\t0\n")
    (tmp_path / "answers.tsv").write_text(predictions([1, 0]))
    done = deberta("eval", "--task", "sst-2", "-p", "answers.tsv", "a.tsv", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "note: 1 row had invalid UTF-8, replaced by U+FFFD\n")
    (tmp_path / "gold.txt").write_bytes(b"caf\xe9 O\n\xe9 B-LOC\n\nParis B-LOC\n")
    done = deberta("eval", "--task", "ner", "-p", "gold.txt", "gold.txt", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "note: 1 row had invalid UTF-8, replaced by U+FFFD\n")
    qas = [{"id": "1", "question": "Who ?", "answers": [{"text": "cat", "answer_start": 4}]}]
    (tmp_path / "dev.json").write_bytes(
        json.dumps({"data": [{"title": "", "paragraphs": [{"context": "The cat @ .", "qas": qas}]}]})
        .encode()
        .replace(b"@", b"\xe9")
    )
    (tmp_path / "answers.json").write_text('{"1": "cat"}')
    done = deberta("eval", "--task", "squad", "-p", "answers.json", "dev.json", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "note: dev.json had invalid UTF-8, replaced by U+FFFD\n")
