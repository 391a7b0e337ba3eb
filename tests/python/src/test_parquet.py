"""Parquet on the command line: what `deberta --files` makes of it, beside deberta.tables.Predictor."""

import datetime
import json
import random
import resource
import signal
import subprocess
import sys
import time

import pytest

import running
from conftest import BINARY, PACKAGE, texts
from running import end, wait_for_handler, wait_until

pyarrow = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")

from deberta._parquet import _Groups  # noqa: E402
from deberta.tables import Predictor  # noqa: E402

DEBERTA = [sys.executable, "-m", "deberta"]


@pytest.fixture
def work(tmp_path):
    (tmp_path / "in").mkdir()
    return tmp_path


def start(work, *words, command=DEBERTA, path=PACKAGE, **more):
    return running.start(work, command, words, {"PYTHONPATH": str(path)}, **more)


def run(work, *words, **more):
    return end(start(work, *words, **more))


def job(model, *words, verb="classify"):
    return (verb, "-m", model, "--threads", 1, "--files", "in/*", "--to", "out", *words)


def rows(count, first=0):
    kept = texts(count, first)
    kept[count // 2] = None
    ids = pyarrow.array(range(first, first + count), pyarrow.int64())
    return pyarrow.table({"id": ids, "text": pyarrow.array(kept, pyarrow.string())})


def write_rows(work, files, count=40):
    for i in range(files):
        parquet.write_table(rows(count, i * count), work / f"in/{i:02}.parquet")


def answers_in(folder):
    return {path.name: path.read_bytes() for path in folder.glob("*.parquet")}


def assert_clean(folder):
    left = [path.name for path in folder.rglob("*") if ".tmp-" in path.name or path.suffix in (".claim", ".failed")]
    assert left == []


TEXT = {"text": [*texts(30, 3), None]}
# {verb: (model, its options, the rows, what Predictor is given)}
CASES = {
    "classify": ("sequence", ["--top-k", 2, "--activation", "none"], TEXT, {"top_k": 2, "function": "none"}),
    "nli": ("nli", ["--max-tokens", 20], {"premise": ["a", "b"], "hypothesis": ["c", None]}, {"max_tokens": 20}),
    "zero-shot": (
        "nli",
        ["--labels", "one,two", "--multi-label"],
        TEXT,
        {"labels": ["one", "two"], "multi_label": True},
    ),
    "ner": ("token", ["--aggregate", "none"], TEXT, {"aggregation": "none"}),
    "extract": (
        "extractor",
        ["--labels", "person,city", "--threshold", "person=0.1,city=0.2"],
        {"text": ["Ada was born in London .", "Ada", None]},
        {"labels": ["person", "city"], "threshold": {"person": 0.1, "city": 0.2}},
    ),
    "qa": ("span", ["-k", 2], {"question": ["who", "why"], "context": ["it was me", "so"]}, {"top_k": 2}),
    "rerank": ("number", ["-k", 1], {"query": ["x", "y"], "documents": [["a", "b"], None]}, {"top_n": 1}),
    "fill": ("lm", ["-k", 2], {"text": ["one [MASK] two", "none"]}, {"top_k": 2}),
    "score": ("lm", [], {"text": ["a fine film"]}, {}),
    "detect": ("rtd", ["--threshold", 0.2], {"text": ["a fine film"]}, {"threshold": 0.2}),
    "embed": ("sequence", ["--pooling", "cls"], TEXT, {"pooling": "cls"}),
}


@pytest.mark.parametrize("verb", CASES)
def test_answers_are_those_of_tables(verb, work, models):
    model, options, columns, parameters = CASES[verb]
    table = pyarrow.table(columns)
    parquet.write_table(table, work / "in/a.parquet")
    named = ["--input-field", "premise,hypothesis"] if verb == "nli" else []
    code, err = run(work, *job(models[model], *options, *named, verb=verb))
    predictor = Predictor(models[model], verb.replace("-", "_"), [*columns], parameters, threads=1)
    expected = predictor(table)
    assert parquet.read_table(work / "out/a.parquet").equals(expected), err
    bad = table.num_rows - expected.column("error").null_count
    assert code == (1 if bad else 0), err
    assert f"rows: {table.num_rows - bad} ok, {bad} failed" in err
    record = json.loads((work / "out/.deberta/a.parquet.done").read_text())
    assert (record["rows"], record["bad_rows"]) == (table.num_rows, bad)
    assert_clean(work / "out")


def test_similarity_is_an_option_of_embed(work, models):
    table = pyarrow.table({"text": ["a", "b"], "text_pair": ["c", None]})
    parquet.write_table(table, work / "in/a.parquet")
    run(work, *job(models["sequence"], "--similarity", verb="embed"))
    expected = Predictor(models["sequence"], "similarity", threads=1)(table)
    assert parquet.read_table(work / "out/a.parquet").equals(expected)


def test_options_of_the_model_are_the_programs(work, models):
    parquet.write_table(rows(20), work / "in/a.parquet")
    code, err = run(work, *job(models["sequence"], "--dtype", "bf16", "--load", "read", "--kernels", "reference"))
    assert code == 1, err
    by_program = subprocess.run(
        [BINARY, "classify", "-m", models["sequence"], "--dtype", "bf16", "--kernels", "reference", "-f", "jsonl"],
        input="".join(f"{json.dumps({'text': text})}\n" for text in rows(20).column("text").to_pylist()),
        capture_output=True,
        text=True,
    )
    expected = [json.loads(line).get("score") for line in by_program.stdout.splitlines()]
    assert parquet.read_table(work / "out/a.parquet").column("score").to_pylist() == expected


def test_columns_of_any_type_and_row_groups_are_kept(work, models):
    moment = datetime.datetime(2020, 1, 2, tzinfo=datetime.UTC)
    table = pyarrow.table(
        {
            "at": [moment] * 3000,
            "kinds": pyarrow.array(["x", None, "y"] * 1000).dictionary_encode(),
            "parts": [[1, 2], [], None] * 1000,
            "text": ["a", "b c", ""] * 1000,
        }
    )
    parquet.write_table(table, work / "in/a.parquet", row_group_size=700)
    parquet.write_table(table.slice(0, 0), work / "in/empty.parquet")
    code, err = run(work, *job(models["sequence"]))
    assert code == 0, err
    predictor = Predictor(models["sequence"], "classify", threads=1)
    assert parquet.read_table(work / "out/a.parquet").equals(predictor(table))
    assert parquet.ParquetFile(work / "out/a.parquet").num_row_groups == 1
    empty = parquet.read_table(work / "out/empty.parquet")
    assert (empty.num_rows, empty.schema) == (0, predictor.schema_of(table.schema))


def test_what_is_done_is_skipped_and_what_has_changed_is_done_again(work, models):
    write_rows(work, 3)
    assert run(work, *job(models["sequence"]))[0] == 1
    before = answers_in(work / "out")
    parquet.write_table(rows(4), work / "in/01.parquet")
    code, err = run(work, *job(models["sequence"]))
    assert "files: 1 done, 0 done by other processes, 2 done before, 0 failed" in err
    after = answers_in(work / "out")
    assert [name for name in after if after[name] != before[name]] == ["01.parquet"]
    code, err = run(work, *job(models["sequence"], "--top-k", 2))
    assert code == 2 and "top-k is none there and 2 here" in err


def test_killed_processes_lose_and_double_nothing(work, models):
    write_rows(work, 12, 120)
    run(work, *job(models["sequence"]))
    (work / "out").rename(work / "expected")
    draw = random.Random(5)
    for _ in range(3):
        done = len([*(work / "out/.deberta").glob("*.done")])
        processes = [start(work, *job(models["sequence"])) for _ in range(2)]
        enough = done + draw.randrange(1, 3)
        while len([*(work / "out/.deberta").glob("*.done")]) < enough and processes[0].poll() is None:
            time.sleep(draw.uniform(0, 0.01))
        for process in processes:
            process.kill()
            process.communicate()
    codes = [end(process) for process in [start(work, *job(models["sequence"])) for _ in range(2)]]
    assert [code for code, _ in codes] == [1, 1], codes
    assert answers_in(work / "out") == answers_in(work / "expected")
    assert_clean(work / "out")


def test_files_that_cannot_be_answered_do_not_stop_the_others(work, models):
    write_rows(work, 2)
    (work / "in/damaged.parquet").write_bytes((work / "in/00.parquet").read_bytes()[:-100] + b"PAR1")
    (work / "in/no.parquet").write_text("no Parquet\n" * 100)
    parquet.write_table(pyarrow.table({"other": ["x"]}), work / "in/other.parquet")
    parquet.write_table(pyarrow.table({"text": ["x"], "label": ["y"]}), work / "in/taken.parquet")
    whole = (work / "in/01.parquet").read_bytes()
    torn = bytearray(whole)
    torn[4:600] = b"\xff" * 596  # the pages: the end says all is well
    (work / "in/torn.parquet").write_bytes(torn)
    code, err = run(work, *job(models["sequence"]))
    assert code == 1 and "files: 2 done, 0 done by other processes, 0 done before, 5 failed" in err
    for message in (
        "in/damaged.parquet: expected a Parquet file, got none: ",
        "in/no.parquet: expected a Parquet file, got none: ",
        "in/other.parquet: columns: expected one column 'text', got 0 in ['other']",
        "in/taken.parquet: label: expected no such column in the table, because the answer has it; rename it",
        "in/torn.parquet: expected a whole Parquet file, got one that cannot be read: ",
    ):
        assert message in err
    assert sorted(answers_in(work / "out")) == ["00.parquet", "01.parquet"]
    (work / "in/torn.parquet").write_bytes(whole)
    code, err = run(work, *job(models["sequence"]))
    assert "files: 1 done, 0 done by other processes, 2 done before, 4 failed" in err


def test_a_full_disk_fails_a_file_and_a_new_start_does_it(work, models):
    write_rows(work, 1)
    parquet.write_table(pyarrow.table({"text": [f"text {i}" for i in range(4000)]}), work / "in/big.parquet")

    def limit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 14, resource.RLIM_INFINITY))

    code, err = run(work, *job(models["sequence"]), preexec_fn=limit)
    assert code == 1
    assert (
        "out/big.parquet: write failed: File too large; " in err and "are free; the same command does the file" in err
    )
    assert "files: 1 done, 0 done by other processes, 0 done before, 1 failed" in err
    assert [*answers_in(work / "out")] == ["00.parquet"]
    code, err = run(work, *job(models["sequence"]))
    assert "files: 1 done, 0 done by other processes, 1 done before, 0 failed" in err
    assert_clean(work / "out")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_leaves_nothing_half_written(number, work, models):
    table = pyarrow.table({"text": ["some text of a file that takes a while"] * 100000})
    parquet.write_table(table, work / "in/long.parquet")
    process = start(work, *job(models["sequence"]))
    wait_until(lambda: any((work / "out").glob("long.parquet.tmp-*")), process)
    wait_for_handler(process, number)
    process.send_signal(number)
    code, err = end(process)
    assert code == 128 + number
    assert "out/long.parquet: interrupted; the file was not written" in err
    assert answers_in(work / "out") == {}
    assert_clean(work / "out")


REFUSED = {
    "a format": (["-f", "jsonl"], "--format: expected none with Parquet"),
    "kept columns": (["--keep", "id"], "--keep: expected none with Parquet"),
    "bad rows elsewhere": (["--on-bad-row", "skip"], "--on-bad-row: expected none with Parquet"),
    "columns": (["--input-field", "a,b,c"], "--input-field: expected 1 to 2 names for classify"),
    "a parameter": (["--window-scores", "max"], 'window_scores: expected truncate="window" as well'),
    "an input": (["-i", "in/00.parquet"], "--files: expected no --input beside it"),
    "two kinds": (["--files", "in/other.csv"], "--files: expected Parquet alone or none"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_usage(case, work, models):
    write_rows(work, 1)
    (work / "other.csv").write_text("text\nx\n")
    options, message = REFUSED[case]
    files = [word.replace("in/other.csv", "other.csv") for word in options]
    words = ["classify", "-m", models["sequence"], "--files", "in/00.parquet", "--to", "out", *files]
    code, err = run(work, *words)
    assert code == 2 and message in err.replace("--window-scores", "window_scores"), err
    assert not (work / "out").exists()


def test_verbs_and_tasks_that_have_none(work, models):
    write_rows(work, 1)
    code, err = run(work, *job(models["sequence"], verb="tokenize")[:3], "--files", "in/*", "--to", "out")
    assert code == 2 and "tokenize: expected a verb that runs a model, to answer Parquet" in err
    code, err = run(work, *job(models["nli"], verb="zero-shot"))
    assert code == 2 and "--labels: expected" in err, err
    code, err = run(work, *job(models["token"]))
    assert code == 1 and "token" in err, err
    assert not answers_in(work / "out")


PLAIN = (
    "expected rows as text, TSV, CSV, JSON or JSONL, got Parquet; the command deberta of the Python package answers it"
)


def test_the_plain_program_names_the_way(work, models):
    write_rows(work, 1)
    code, err = run(work, *job(models["sequence"]), command=[BINARY])
    assert code == 2 and err.startswith(f"in/00.parquet: {PLAIN}") and not (work / "out").exists()
    for command in (DEBERTA, [BINARY]):
        code, err = run(work, "classify", "-m", models["sequence"], "-i", "in/00.parquet", command=command)
        assert code == 2 and err.startswith(f"in/00.parquet: {PLAIN}")
    (work / "in/00.parquet").write_text("a fine film\n")
    words = ["--files", "in/*", "--to", "out", "--input-format", "text", "-f", "jsonl"]
    code, err = run(work, "classify", "-m", models["sequence"], *words, command=[BINARY])
    assert code == 0 and (work / "out/00.jsonl").exists(), err


def test_without_pyarrow_the_command_says_what_is_missing(work, models, tmp_path):
    write_rows(work, 1)
    hidden = tmp_path / "hidden"
    hidden.mkdir()
    (hidden / "pyarrow.py").write_text("raise ImportError('No module named pyarrow')\n")
    code, err = run(work, *job(models["sequence"]), path=f"{hidden}:{PACKAGE}")
    assert code == 2 and "expected the package, which reads Parquet, got none" in err and "pip install pyarrow" in err


def test_no_more_rows_are_held_than_a_row_group_has():
    written = []

    class Writer:
        def write_table(self, table):
            written.append(table.num_rows)

    groups = _Groups(Writer())
    few = pyarrow.record_batch({"text": ["a"] * 1000})
    for _ in range(100):
        groups.add(few)
    groups.write()
    assert written == [66000, 34000]
    long = pyarrow.record_batch({"text": ["a" * (10 << 20)] * 3})
    for _ in range(7):
        groups.add(long)
    groups.write()
    assert written[2:] == [9, 9, 3]
