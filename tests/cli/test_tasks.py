"""zero-shot, qa, choose, rerank, score and windows on tiny random models: forms of input and output."""

import csv
import json
import math
import os
import pty
import subprocess

import pytest

from conftest import BINARY, HANG_SECONDS
from models import make_model


def rows(done):
    assert done.stdout, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


@pytest.fixture(scope="module")
def entailment_model(tmp_path_factory):
    return make_model(tmp_path_factory.mktemp("nli"), "sequence", labels=("contradiction", "neutral", "entailment"))


@pytest.fixture(scope="module")
def score_model(tmp_path_factory):
    return make_model(tmp_path_factory.mktemp("score"), "sequence", labels=("score",))


@pytest.fixture(scope="module")
def span_model(tmp_path_factory):
    return make_model(tmp_path_factory.mktemp("span"), "span")


def test_zero_shot_gives_the_best_label_and_every_candidates_score(deberta, entailment_model):
    words = ("zero-shot", "-m", entailment_model, "--labels", "sports, politics,art", "the match ended in a draw")
    lines = deberta(*words).stdout.splitlines()
    assert lines[0].split("\t") == ["label", "score", "sports", "politics", "art", "note"]
    label, best, *scores, _ = lines[1].split("\t")
    assert float(best) == max(map(float, scores)) and sum(map(float, scores)) == pytest.approx(1, abs=1e-6)
    row = rows(deberta(*words, "-f", "jsonl"))[0]
    assert row["sequence"] == "the match ended in a draw"
    assert row["labels"][0] == label
    assert row["scores"] == sorted(row["scores"], reverse=True)
    many = rows(deberta(*words, "-f", "jsonl", "--multi-label"))[0]
    pair = ("nli", "-m", entailment_model, "-f", "jsonl", "the match ended in a draw", "This example is art.")
    relation = rows(deberta(*pair))[0]
    expected = relation["entailment"] / (relation["entailment"] + relation["contradiction"])
    assert many["scores"][many["labels"].index("art")] == pytest.approx(expected, abs=1e-5)


def test_zero_shot_labels_may_come_from_a_file_and_the_texts_from_a_csv(deberta, entailment_model, tmp_path):
    (tmp_path / "labels.txt").write_text("sports\n\n art \n")
    (tmp_path / "rows.csv").write_text('id,review\n1,"a, b"\n2,c\n')
    done = deberta(
        "zero-shot",
        "-m",
        entailment_model,
        "--labels-file",
        tmp_path / "labels.txt",
        "-i",
        tmp_path / "rows.csv",
        "--input-field",
        "review",
        "-f",
        "jsonl",
    )
    assert [(r["id"], r["sequence"], set(r["labels"])) for r in rows(done)] == [
        ("1", "a, b", {"sports", "art"}),
        ("2", "c", {"sports", "art"}),
    ]
    missing = deberta("zero-shot", "-m", entailment_model, "--labels", "x", "-i", tmp_path / "rows.csv")
    assert missing.returncode == 1
    assert 'rows.csv: no column "text" among id, review; name it with --input-field' in missing.stderr
    assert missing.stdout == ""


@pytest.mark.parametrize(
    "words, message",
    [
        ((), "expected candidate labels, got none"),
        (("--labels", "a", "--labels-file", "f"), "expected --labels or --labels-file, got both"),
        (("--labels", "a,b,a"), 'expected different labels, got "a" twice'),
        (("--labels", "a", "--template", "no place"), "expected {} where the label goes"),
    ],
)
def test_zero_shot_says_what_is_wrong_with_its_labels(deberta, entailment_model, words, message):
    done = deberta("zero-shot", "-m", entailment_model, *words, "a text")
    assert done.returncode == 2 and message in done.stderr and done.stdout == ""


def test_qa_answers_from_arguments_lines_and_objects(deberta, span_model):
    question, context = "who wrote it ?", "mary shelley wrote frankenstein in the wet summer of a cold year ."
    words = ("qa", "-m", span_model, "-f", "jsonl")
    answer = rows(deberta(*words, question, context))[0]
    assert context[answer["start"] : answer["end"]] == answer["answer"]
    assert 0 < answer["score"] <= 1
    assert set(answer) == {"answer", "score", "start", "end"}
    assert rows(deberta(*words, stdin=f"{question}\t{context}\n"))[0] == answer
    line = json.dumps({"id": 3, "question": question, "context": context})
    assert rows(deberta(*words, "--input-format", "jsonl", stdin=line + "\n"))[0] == {"id": 3} | answer
    several = rows(deberta(*words, "--top-k", 3, question, context))[0]
    assert len(several["answers"]) == 3 and several["answers"][0] == answer
    lines = deberta("qa", "-m", span_model, "--top-k", 3, question, context).stdout.splitlines()
    assert lines[0] == "row\tanswer\tscore\tstart\tend\tnote" and len(lines) == 4


def test_qa_reads_all_of_a_long_context(deberta, span_model):
    context = " ".join(f"word{i}" for i in range(300)) + " caf\u00e9"
    row = rows(
        deberta(
            "qa",
            "-m",
            span_model,
            "-f",
            "jsonl",
            "--max-tokens",
            64,
            "--stride",
            16,
            "--top-k",
            500,
            "--max-answer-len",
            2,
            "who ?",
            context,
        )
    )[0]
    starts = [a["start"] for a in row["answers"]]
    assert min(starts) < 100 and max(starts) > 1800
    for answer in row["answers"]:
        assert context[answer["start"] : answer["end"]] == answer["answer"]


def test_qa_can_say_that_there_is_no_answer(deberta, span_model):
    words = ("qa", "-m", span_model, "-f", "jsonl", "who ?", "nobody knows .")
    assert rows(deberta(*words, "--no-answer-threshold", "-1000"))[0] | {"score": 0} == {
        "answer": "",
        "score": 0,
        "start": 0,
        "end": 0,
    }
    assert rows(deberta(*words, "--no-answer-threshold", "1000"))[0]["answer"] != ""
    every = rows(deberta(*words, "--allow-no-answer", "--top-k", 100))[0]["answers"]
    assert sum(a["answer"] == "" for a in every) == 1
    assert [a["score"] for a in every] == sorted((a["score"] for a in every), reverse=True)
    assert rows(deberta("qa", "-m", span_model, "-f", "jsonl", "who ?", ""))[0]["answer"] == ""


def test_qa_counts_questions_that_are_cut(deberta, span_model):
    done = deberta("qa", "-m", span_model, "--max-question-len", 4, "a question of many words indeed ?", "a context")
    assert done.returncode == 0 and "note: 1 of 1 questions cut to 4 tokens (--max-question-len)" in done.stderr
    assert deberta("qa", "-m", span_model, "alone").returncode == 2


def test_rerank_orders_the_documents_of_each_query(deberta, score_model):
    words = ("rerank", "-m", score_model)
    lines = deberta(*words, "capital of france", "paris is a city", "cats purr", "tea\tand milk").stdout.splitlines()
    assert lines[0] == "row\trank\tindex\tscore\ttext\tnote"
    assert [line.split("\t")[1] for line in lines[1:]] == ["1", "2", "3"]
    scores = [float(line.split("\t")[3]) for line in lines[1:]]
    assert scores == sorted(scores, reverse=True)
    assert all(0 < s < 1 for s in scores)
    assert "tea\\tand milk" in "".join(lines)
    stdin = json.dumps({"id": 1, "query": "q", "documents": ["a", {"text": "b c"}]}) + "\n"
    row = rows(deberta(*words, "--input-format", "jsonl", "-f", "jsonl", "--return-text", stdin=stdin))[0]
    assert row["id"] == 1 and {(r["index"], r["text"]) for r in row["results"]} == {(0, "a"), (1, "b c")}
    raw = rows(
        deberta(*words, "--input-format", "jsonl", "-f", "jsonl", "--activation", "none", "--top-n", 1, stdin=stdin)
    )[0]["results"]
    assert len(raw) == 1 and 1 / (1 + math.exp(-raw[0]["score"])) == pytest.approx(row["results"][0]["score"], abs=1e-6)


def test_rerank_notes_queries_of_one_document_each(deberta, score_model):
    words, note = (
        ("rerank", "-m", score_model, "--input-format", "jsonl"),
        "note: each query has one document, so every rank is 1",
    )
    rows_of_lists = [{"query": "q", "documents": documents} for documents in (["a"], ["b"], ["a", "b"])]
    for chosen, said in ((rows_of_lists[:2], True), (rows_of_lists[:1], False), (rows_of_lists, False)):
        assert (note in deberta(*words, stdin="".join(json.dumps(row) + "\n" for row in chosen)).stderr) == said


def test_rerank_takes_a_file_of_documents_for_one_query(deberta, score_model):
    words = ("rerank", "-m", score_model, "-f", "jsonl", "--return-text")
    by_file = rows(deberta(*words, "--query", "q", stdin="a\nb c\nd\n"))[0]["results"]
    assert by_file == rows(deberta(*words, "q", "a", "b c", "d"))[0]["results"]
    bad = deberta(*words, "--query", "q", "--input-format", "jsonl", stdin='{"text": "a"}\n{}\n')
    assert bad.returncode == 1 and "standard input:2" in bad.stderr + bad.stdout
    assert deberta("rerank", "-m", score_model, "only a query").returncode == 2


DOCUMENTS = [
    {"id": "d1", "text": "a"},
    {"id": "d2", "text": "b c", "score": "mine", "year": 1999},
    {"id": "d3", "text": "tea"},
]
QUERIES = [
    {"id": "q1", "query": "q", "documents": DOCUMENTS},
    {"query_id": 7, "query": "another", "documents": ["b c", "a"]},
]


def test_rerank_keeps_what_documents_carry(deberta, score_model):
    words, stdin = (
        ("rerank", "-m", score_model, "--input-format", "jsonl"),
        "".join(json.dumps(row) + "\n" for row in QUERIES),
    )
    first, second = rows(deberta(*words, "-f", "jsonl", stdin=stdin))
    found = {one["index"]: one for one in first["results"]}
    assert [found[i]["id"] for i in range(3)] == ["d1", "d2", "d3"]
    assert (found[1]["input_score"], found[1]["year"]) == ("mine", 1999)
    assert all(isinstance(one["score"], float) for one in first["results"])
    assert all(set(one) == {"index", "score"} for one in second["results"])
    assert all(
        set(one) == {"index", "score"}
        for one in rows(deberta(*words, "-f", "jsonl", "--keep", "none", stdin=stdin))[0]["results"]
    )
    assert all(
        "year" not in one and "id" in one
        for one in rows(deberta(*words, "-f", "jsonl", "--keep", "id", stdin=stdin))[0]["results"]
    )
    lines = [
        line.split("\t") for line in deberta(*words, "-f", "tsv", "--keep", "id,year", stdin=stdin).stdout.splitlines()
    ]
    assert lines[0][:5] == ["id", "year", "rank", "index", "score"]
    assert {(line[0], line[1], line[3]) for line in lines[1:4]} == {
        ("d1", "", "0"),
        ("d2", "1999", "1"),
        ("d3", "", "2"),
    }
    assert [line[:2] for line in lines[4:]] == [["", ""]] * 2
    whole = [
        line.split("\t")
        for line in deberta(
            *words, "-f", "tsv", "--keep", "all", stdin=json.dumps(QUERIES[0] | {"documents": DOCUMENTS[:1] * 2})
        ).stdout.splitlines()
    ]
    assert whole[0][0] == "id" and {line[0] for line in whole[1:]} == {"d1"}
    assert deberta(*words, "--keep", "page", stdin=stdin).returncode == 1  # which none has


def test_rerank_keeps_the_columns_of_a_file_of_documents(deberta, score_model, tmp_path):
    (tmp_path / "documents.csv").write_text("id,text,year\nd1,a,1\nd2,b c,2\nd3,tea,3\n")
    words = ("rerank", "-m", score_model, "--query", "q", "-i", tmp_path / "documents.csv")
    results = rows(deberta(*words, "-f", "jsonl"))[0]["results"]
    assert {(one["index"], one["id"], one["year"]) for one in results} == {
        (0, "d1", "1"),
        (1, "d2", "2"),
        (2, "d3", "3"),
    }
    lines = [line.split("\t") for line in deberta(*words, "-f", "tsv", "--keep", "id").stdout.splitlines()]
    assert lines[0] == ["id", "rank", "index", "score", "text", "note"]
    assert [line[0] for line in lines[1:]] == [one["id"] for one in results]
    lines = [line.split("\t") for line in deberta(*words, "-f", "tsv", "--keep", "all").stdout.splitlines()]
    assert lines[0] == ["id", "input_text", "year", "rank", "index", "score", "text", "note"]
    assert all(line[1] == line[6] for line in lines[1:])


def test_rerank_keeps_the_keys_of_all_documents(deberta, score_model):
    words = ("rerank", "-m", score_model, "--input-format", "jsonl", "-f", "csv")
    for texts in (("aa", "bb"), ("bb", "aa")):
        stdin = "".join(json.dumps(one) + "\n" for one in ({"text": texts[0]}, {"text": texts[1], "lang": "en"}))
        done = deberta(*words, "--query", "q", "--keep", "all", stdin=stdin)
        assert done.returncode == 0 and done.stdout.count("en,") == 1, done.stdout
    row = {"id": "ROW", "query": "q", "documents": [{"text": "a", "id": "D1"}, "b"]}
    lines = list(
        csv.DictReader(deberta(*words, "--keep", "id,lang", stdin=json.dumps(row | {"lang": "fr"})).stdout.splitlines())
    )
    # never the query's id as a document's
    assert {(line["id"], line["index"], line["lang"]) for line in lines} == {("D1", "0", "fr"), ("", "1", "fr")}
    empty = json.loads(deberta("rerank", "-m", score_model, "-f", "json", "q", "a", "").stdout)[0]["results"]
    assert [one.get("empty") for one in sorted(empty, key=lambda one: one["index"])] == [None, True]


def test_rerank_writes_a_trec_run(deberta, score_model, tmp_path):
    words, stdin = (
        ("rerank", "-m", score_model, "--input-format", "jsonl"),
        "".join(json.dumps(row) + "\n" for row in QUERIES),
    )
    results = [row["results"] for row in rows(deberta(*words, "-f", "jsonl", stdin=stdin))]
    expected = [
        f"q1 Q0 {one['id']} {rank} {json.dumps(one['score'])} deberta" for rank, one in enumerate(results[0], 1)
    ]
    expected += [
        f"7 Q0 {one['index']} {rank} {json.dumps(one['score'])} deberta" for rank, one in enumerate(results[1], 1)
    ]
    assert deberta(*words, "-f", "trec", stdin=stdin).stdout.splitlines() == expected
    assert deberta(*words, "-o", tmp_path / "run.trec", stdin=stdin).returncode == 0
    assert (tmp_path / "run.trec").read_text().splitlines() == expected
    by_file = deberta("rerank", "-m", score_model, "--query", "q", "-f", "trec", stdin="a\nb c\n").stdout.splitlines()
    assert sorted(line.split()[:3] for line in by_file) == [["1", "Q0", "0"], ["1", "Q0", "1"]]
    for documents, said in (
        ([{"id": "1", "text": "a"}, "b"], "expected an id of each document or of none"),
        ([{"id": "s", "text": "a"}, {"id": "s", "text": "b"}], "got s twice"),
        ([{"id": "a\u3000b", "text": "a"}], "white space"),
        ([{"id": "a\u0085", "text": "a"}], "white space"),
        ([{"id": "", "text": "a"}], "white space"),
    ):
        done = deberta(*words, "-f", "trec", stdin=json.dumps({"query": "q", "documents": documents}) + "\n" + stdin)
        assert done.returncode == 1 and said in done.stderr and len(done.stdout.splitlines()) == len(expected), (
            documents,
            done.stderr,
        )
    nulls = deberta(
        *words, "-f", "trec", stdin=json.dumps({"query": "q", "documents": [{"id": None, "text": "a"}, "b"]})
    )
    assert {line.split()[2] for line in nulls.stdout.splitlines()} == {"0", "1"}
    twice = deberta(*words, "-f", "trec", stdin=stdin + json.dumps({"id": "q1", "query": "q", "documents": ["a"]}))
    assert twice.returncode == 1 and twice.stdout.splitlines() == expected and "got q1 twice" in twice.stderr
    assert (
        "--keep: expected none with --format trec"
        in deberta(*words, "-f", "trec", "--keep", "none", stdin=stdin).stderr
    )
    bad = deberta(
        *words, "-f", "trec", stdin=json.dumps({"id": "two words", "query": "q", "documents": ["a"]}) + "\n" + stdin
    )
    assert bad.returncode == 1
    assert bad.stdout.splitlines() == expected
    assert 'expected an id without white space for a TREC run, got "two words"' in bad.stderr


def test_choose_takes_the_choice_with_the_largest_score(deberta, score_model):
    words = ("choose", "-m", score_model)
    line = deberta(*words, "it rained all day .", "the street was", "wet", "dry").stdout.splitlines()[1].split("\t")
    row = rows(deberta(*words, "-f", "jsonl", "it rained all day .", "the street was", "wet", "dry"))[0]
    assert row["scores"][row["index"]] == max(row["scores"]) and sum(row["scores"]) == pytest.approx(1, abs=1e-6)
    assert line == [str(row["index"]), line[1], row["choice"], ""] and row["choice"] == ("wet", "dry")[row["index"]]
    csv = "sent,question,a,b\nit rained all day .,the street was,wet,dry\n"
    by_columns = deberta(
        *words, "-f", "jsonl", "--input-format", "csv", "--input-field", "sent,question,a,b", stdin=csv
    )
    assert rows(by_columns)[0] == row
    three = deberta(*words, "context", "question", "one choice")
    assert three.returncode == 1 and "choices: expected at least two, got 1" in three.stdout


def test_choose_reads_the_columns_of_swag(deberta, score_model, tmp_path):
    (tmp_path / "val.csv").write_text(
        ",video-id,sent1,sent2,ending0,ending1,ending2,ending3,label\n"
        "0,v,It rained all day .,The street,was wet .,was dry .,sang .,fell asleep .,0\n"
        "1,v,A cat sat .,It,purred .,flew .,sank .,rang .,2\n"
    )
    chosen = rows(deberta("choose", "-m", score_model, "-f", "jsonl", "-i", tmp_path / "val.csv"))
    assert chosen[0]["choice"] in ("was wet .", "was dry .", "sang .", "fell asleep .")
    assert (
        chosen[0]["scores"]
        == rows(
            deberta(
                "choose",
                "-m",
                score_model,
                "-f",
                "jsonl",
                "It rained all day .",
                "The street",
                "was wet .",
                "was dry .",
                "sang .",
                "fell asleep .",
            )
        )[0]["scores"]
    )
    scored = deberta("eval", "--task", "swag", "-m", score_model, tmp_path / "val.csv", "-f", "json")
    assert (
        json.loads(scored.stdout)["metrics"]["accuracy"]
        == sum(row["index"] == right for row, right in zip(chosen, (0, 2), strict=True)) / 2
    ), scored.stderr


def test_choose_takes_two_classes_that_mean_no_and_yes_in_either_order(deberta, tmp_path):
    texts = ("-f", "jsonl", "it rained all day .", "the street was", "wet", "dry")
    scores = {}
    for labels in (
        ("LABEL_0", "LABEL_1"),
        ("no", "yes"),
        ("False", "True"),
        ("0", "1"),
        ("not_correct", "correct"),
        ("yes", "no"),
        ("correct", "incorrect"),
    ):
        model = make_model(tmp_path / labels[0], "sequence", labels=labels)
        scores[labels] = rows(deberta("choose", "-m", model, *texts))[0]["scores"]
    forward, backward = scores["no", "yes"], scores["no", "yes"][::-1]
    assert forward[0] != forward[1]
    assert all(
        found == pytest.approx(backward if labels[0] in ("yes", "correct") else forward, rel=1e-6)
        for labels, found in scores.items()
    ), scores
    for labels in (
        ("negative", "positive"),
        ("a", "b"),
        ("yes", "yes"),
        ("no", "maybe"),
        ("note", "e"),
        ("entailment", "neutral"),
    ):
        done = deberta("choose", "-m", make_model(tmp_path / "other", "sequence", labels=labels), *texts)
        assert done.returncode == 1 and done.stdout == "", labels
        assert (
            "expected one class, or two that mean no and yes (no and yes, false and true, 0 and 1, X and not_X, "
            f'or without names), got "{labels[0]}" and "{labels[1]}"'
        ) in done.stderr
    assert (
        "verbs for this model: classify, embed"
        in deberta("qa", "-m", make_model(tmp_path / "other", "sequence", labels=("a", "b")), "q", "c").stderr
    )


def test_score_gives_the_perplexity_of_each_text(deberta, language_model):
    row = rows(deberta("score", "-m", language_model, "-q", "-f", "jsonl", "--tokens", "a house of cards"))[0]
    total = sum(t["log_probability"] for t in row["tokens"])
    assert row["pieces"] == len(row["tokens"]) and row["log_probability"] == pytest.approx(total, rel=1e-5)
    assert row["perplexity"] == pytest.approx(math.exp(-total / row["pieces"]), rel=1e-4)
    assert row["word_perplexity"] == pytest.approx(math.exp(-total / 4), rel=1e-4)
    tsv = deberta("score", "-m", language_model, "-q", "a house of cards").stdout.splitlines()
    assert tsv[0] == "perplexity\tword_perplexity\tlog_probability\tpieces\tnote" and len(tsv) == 2


def test_ner_reads_long_texts_in_windows_and_cuts_only_when_told(deberta, tmp_path):
    model = make_model(tmp_path / "m", "token", labels=("O", "B-X", "I-X"))
    text = " ".join(f"word{i}" for i in range(200))
    words = ("ner", "-m", model, "-f", "jsonl", "--aggregate", "none", "--ignore-labels", "", "--max-tokens", 32)
    done = deberta(*words, "--stride", 8, text)
    entities = rows(done)[0]["entities"]
    assert done.stderr == "" and entities[-1]["end"] == len(text)
    cut = deberta(*words, "--truncate", "right", text)
    assert "note: 1 of 1 rows cut to 32 tokens" in cut.stderr and rows(cut)[0]["entities"][-1]["end"] < 200
    refused = deberta(*words, "--truncate", "error", text)
    assert refused.returncode == 1 and "expected at most 32 tokens" in refused.stdout
    beyond = deberta(*words, "--stride", 30, text)
    assert beyond.returncode in (1, 2) and "--stride: expected less than the 30 tokens" in beyond.stdout + beyond.stderr


def on_a_terminal(words, environment):
    leader, follower = pty.openpty()
    done = subprocess.run(
        [BINARY, *map(str, words)],
        stdout=follower,
        stderr=subprocess.PIPE,
        stdin=subprocess.DEVNULL,
        timeout=HANG_SECONDS,
        env={k: v for k, v in os.environ.items() if not k.startswith("DEBERTA_") and k != "NO_COLOR"} | environment,
    )
    os.close(follower)
    text = os.read(leader, 65536).decode()
    os.close(leader)
    return done, text


def test_detect_colours_the_text_on_a_terminal_only(deberta, tmp_path):
    model = make_model(tmp_path / "m", "rtd")
    words = ("detect", "-m", model, "--threshold", "0", "a few words \x1b[31m")
    _, shown = on_a_terminal(words, {"TERM": "xterm"})
    assert "\x1b[1;31m" in shown
    assert shown.replace("\x1b[1;31m", "").replace("\x1b[0m", "") == "a few words \\x1b[31m\r\n"
    for environment in ({"TERM": "xterm", "NO_COLOR": "1"}, {"TERM": "dumb"}):
        assert "\x1b" not in on_a_terminal(words, environment)[1]
    assert "\x1b" not in deberta(*words).stdout
    painted = deberta(*words[:-1], "plain text", "--format", "table", "--color", "always").stdout
    assert painted.startswith("\x1b[1;31m")
    assert "\x1b[1;31m" not in deberta(*words[:-1], "plain text", "--format", "table", "--color", "never").stdout


def test_a_model_without_the_head_says_which_verbs_it_has(deberta, entailment_model, span_model):
    done = deberta("qa", "-m", entailment_model, "q", "c")
    assert done.returncode == 1 and "expected a span head, got" in done.stderr and "zero-shot" in done.stderr
    done = deberta("choose", "-m", span_model, "c", "q", "a", "b")
    assert done.returncode == 1 and "expected a multiple choice head" in done.stderr and "qa, embed" in done.stderr
    done = deberta("rerank", "-m", entailment_model, "q", "d")
    assert done.returncode == 1 and "expected a head with one class, got 3" in done.stderr


def test_ner_reads_and_writes_conll(deberta, tmp_path):
    model = make_model(tmp_path / "m", "token", labels=("O", "B-X", "I-X"))
    sentences = [[("Ada", "B-X"), ("Lovelace", "I-X"), (".", "O")], [("caf\u00e9", "O")]]
    text = "".join("".join(f"{word} NN {label}\n" for word, label in sentence) + "\n" for sentence in sentences)
    words = ("ner", "-m", model, "--input-format", "conll")
    lines = deberta(*words, "--format", "conll", stdin=text).stdout.split("\n")
    assert [line.split("\t")[:2] if line else line for line in lines] == [
        ["Ada", "B-X"],
        ["Lovelace", "I-X"],
        [".", "O"],
        "",
        ["caf\u00e9", "O"],
        "",
        "",
    ]
    pieces = rows(
        deberta("ner", "-m", model, "-f", "jsonl", "--aggregate", "none", "--ignore-labels", "", "Ada Lovelace .")
    )[0]["entities"]
    for word, begin in (("Ada", 0), ("Lovelace", 4), (".", 13)):
        first = next(p for p in pieces if p["start"] >= begin)  # perhaps only the word's leading mark
        assert next(line for line in lines if line.startswith(word + "\t")).split("\t")[2] == first["entity"]
    row = rows(deberta(*words, "-f", "jsonl", stdin=text))[0]
    assert row["labels"] == ["B-X", "I-X", "O"] and "entities" in row
    plain = deberta("ner", "-m", model, "--format", "conll", "Ada  Lovelace .").stdout.split("\n")
    assert [line.split("\t")[0] for line in plain[:3]] == ["Ada", "Lovelace", "."]
    assert all(line.count("\t") == 1 for line in plain[:3])
    bad = deberta(*words, "--format", "conll", stdin="a NN O\nb O\n\nc NN O\n")
    assert bad.returncode == 1 and bad.stdout.startswith("!error\t") and "\n\nc\tO\t" in bad.stdout


def test_each_window_of_a_text_has_scores_of_its_own(deberta, sequence_model):
    text = " ".join(["a few words", "the film", "one two"] * 6)
    words = (
        "classify",
        "-m",
        sequence_model,
        "--truncate",
        "window",
        "--max-tokens",
        "16",
        "--stride",
        "4",
        "--activation",
        "none",
        "--top-k",
        "3",
    )
    done = deberta(*words, "--window-scores", "each", "-f", "json", text)
    answer = json.loads(done.stdout)[0]
    windows = answer["windows"]
    assert len(windows) > 2 and windows[0]["start"] == 0 and windows[-1]["end"] == len(text), done.stderr
    for label in answer["labels"]:  # logits: those of the text are the mean
        of_windows = [
            score["score"] for window in windows for score in window["labels"] if score["label"] == label["label"]
        ]
        assert len(of_windows) == len(windows) and abs(sum(of_windows) / len(windows) - label["score"]) < 1e-5
    cut = ["right" if word == "window" else word for word in words]
    assert json.loads(deberta(*cut, "-f", "json", text).stdout)[0]["labels"] == windows[0]["labels"]
    lines = [
        line.split("\t") for line in deberta(*words, "--window-scores", "each", text, "the film").stdout.splitlines()
    ]
    assert lines[0][:4] == ["row", "start", "end", "label"]
    assert [line[0] for line in lines[1:]] == ["1"] * len(windows) + ["2"]
    assert [line[1:3] for line in lines[1:-1]] == [[str(window["start"]), str(window["end"])] for window in windows]
    assert lines[-1][1:3] == ["0", "8"]
    refused = deberta("classify", "-m", sequence_model, "--window-scores", "each", "x")
    assert refused.returncode == 2 and "--window-scores: expected --truncate window as well" in refused.stderr
