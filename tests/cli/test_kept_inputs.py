"""No output takes the place of what the run reads: every verb, every option that names an output, every one that names
an input; and what a table says is read back from it."""

import json
import os
import pathlib
import random
import re
import shutil
import subprocess

import pytest

from clean_environment import clean_environment
from conftest import BINARY, HANG_SECONDS
from models import make_model, write_safetensors

CLEAN = clean_environment()
FILE = re.compile(r"(?:-\w, )?--([\w-]+) (FILE|DIR)$", re.M)


def run(*words, **more):
    return subprocess.run(
        [BINARY, *map(str, words)],
        capture_output=True,
        encoding="utf-8",
        env=CLEAN,
        timeout=HANG_SECONDS,
        **{"stdin": subprocess.DEVNULL, **more},
    )


def file_options():
    """Of the manual: (section, option, FILE or DIR, its verbs)"""
    manual = re.sub(r"\\f[BIR]|\\(?=-)", "", run("help", "--man").stdout).split(".SH OPTIONS\n")[1]
    for section in manual.split("\n.SS ")[0:]:
        name = section.removeprefix(".SS ").split("\n")[0]
        for entry in section.split(".TP\n")[1:]:
            if found := FILE.match(entry):
                yield name, found[1], found[2], (re.findall(r"^Verbs: (.*)\.$", entry, re.M) or ["*"])[0].split()


def table():
    """(verb, its options that name an output file, its options that name an input file, whether its arguments are
    files)"""
    verbs = [
        verb
        for verb in re.findall(r"^  ([\w-]+) ", run("--help").stdout.split("verbs:\n")[1].split("\n\n")[0], re.M)
        if verb != "train-tokenizer"
    ]
    options = list(file_options())
    rows = []
    for verb in verbs:
        outputs, inputs = (
            [
                name
                for section, name, kind, of in options
                if kind == "FILE" and (section == "Output") == is_output and (verb in of or of == ["*"])
            ]
            for is_output in (True, False)
        )
        if outputs:
            rows.append((verb, outputs, inputs, "FILE" in run("help", verb).stdout.split("usage:")[1].split("\n")[0]))
    return rows


TABLE = table()
OF_MODELS = [row for row in TABLE if row[0] != "chart"]
ENDING = {"page": ".html", "forward": ".safetensors", "replay": ".safetensors", "chart": ".svg"}


def ending_of(verb, output):
    return ENDING.get(output, ENDING.get(verb, ".json"))


def ways(folder, file, ending):
    """The names under which one file can be written."""
    (folder / "sub").mkdir(exist_ok=True)
    link, hard = folder / f"link{ending}", folder / f"hard{ending}"
    link.symlink_to(file.name)
    os.link(file, hard)
    return [file, link, hard, folder / "sub/.." / file.name]


def test_every_verb_with_a_file_of_its_own_is_in_the_table():
    verbs = {row[0]: row for row in TABLE}
    assert set(verbs) >= {
        "classify",
        "nli",
        "zero-shot",
        "ner",
        "extract",
        "qa",
        "choose",
        "rerank",
        "fill",
        "score",
        "embed",
        "detect",
        "analyze",
        "tokenize",
        "eval",
        "forward",
    }
    assert "page" in verbs["analyze"][1]
    assert "write-predictions" in verbs["eval"][1]
    assert "redact-map" in verbs["extract"][1] and "restore" in verbs["extract"][2]
    assert "labels-file" in verbs["zero-shot"][2]
    assert verbs["eval"][3]
    assert sum(len(outputs) * len(inputs) for _, outputs, inputs, _ in TABLE) > 30


@pytest.mark.parametrize("verb, outputs, inputs, takes_files", TABLE, ids=[row[0] for row in TABLE])
def test_an_output_that_is_an_input_is_refused(tmp_path, verb, outputs, inputs, takes_files):
    for output in outputs:
        ending = ending_of(verb, output)
        folder = tmp_path / output
        folder.mkdir()
        file = folder / f"rows{ending}"
        file.write_text("{}")
        for path in ways(folder, file, ending):
            for name in inputs:
                done = run(verb, f"--{name}", file, f"--{output}", path)
                assert (
                    done.returncode == 2
                    and f"--{output}: expected a file that is not also an input, got {path}" in done.stderr
                ), (name, done.stderr)
            if takes_files:
                assert "would overwrite" in run(verb, file, f"--{output}", path).stderr
            with file.open() as rows:
                done = run(verb, f"--{output}", path, stdin=rows)
                assert done.returncode == 2 and "the file on standard input" in done.stderr, done.stderr
        assert file.read_text() == "{}" and not [path for path in folder.iterdir() if ".tmp-" in path.name]


@pytest.mark.parametrize("verb, outputs", [row[:2] for row in OF_MODELS], ids=[row[0] for row in OF_MODELS])
def test_an_output_that_is_a_file_of_the_model_is_refused(tmp_path, verb, outputs):
    model = tmp_path / "model"
    model.mkdir()
    (model / "part").mkdir()
    for name in ("config.json", "model.safetensors", "part/pytorch_model.bin"):
        (model / name).write_text("{}")
    for output in outputs:
        ending = ending_of(verb, output)
        hard, link, new = (
            tmp_path / f"hard{ending}",
            tmp_path / f"link{ending}",
            model / ("tokenizer.json" if ending == ".json" else "model-00002-of-00002.safetensors"),
        )
        for path in (hard, link):
            path.unlink(missing_ok=True)
        os.link(model / "part/pytorch_model.bin", hard)
        link.symlink_to("model/model.safetensors")
        for path in (hard, link, *([] if output == "page" else [new])):
            done = run(verb, "-m", model, f"--{output}", path)
            assert done.returncode == 2 and f"a file of the model {model}" in done.stderr, (path, done.stderr)
        if ending == ".json":
            assert "a file of the model" not in run(verb, "-m", model, "--output", model / "answers.tsv").stderr
    assert all(
        (model / name).read_text() == "{}" for name in ("config.json", "model.safetensors", "part/pytorch_model.bin")
    )


def test_a_model_in_the_hub_cache_is_kept_wherever_its_links_lead(tmp_path, sequence_model):
    blobs, snapshot = (
        tmp_path / "hub/models--a--b/blobs",
        tmp_path / "hub/models--a--b/snapshots/0123456789012345678901234567890123456789",
    )
    for folder in (blobs, snapshot, tmp_path / "hub/models--a--b/refs"):
        folder.mkdir(parents=True)
    (tmp_path / "hub/models--a--b/refs/main").write_text(snapshot.name)
    for n, path in enumerate(sorted(pathlib.Path(sequence_model).iterdir())):
        shutil.copy(path, blobs / f"{n}.tsv")
        (snapshot / path.name).symlink_to(f"../../blobs/{n}.tsv")
    environment = CLEAN | {"HF_HUB_CACHE": str(tmp_path / "hub")}
    before = {path: path.read_bytes() for path in blobs.iterdir()}
    for path in before:
        done = subprocess.run(
            [BINARY, "classify", "-m", "a/b", "x", "-o", path],
            env=environment,
            capture_output=True,
            encoding="utf-8",
            timeout=HANG_SECONDS,
        )
        assert done.returncode == 2 and "a file of the model" in done.stderr, done.stderr
    assert {path: path.read_bytes() for path in blobs.iterdir()} == before


def test_standard_output_that_is_the_input_is_refused(tmp_path, sequence_model):
    rows = tmp_path / "rows.txt"
    rows.write_text("one\ntwo\n")
    with rows.open("a") as end:
        done = subprocess.run(
            [BINARY, "classify", "-m", sequence_model, "-i", rows],
            stdout=end,
            stderr=subprocess.PIPE,
            encoding="utf-8",
            env=CLEAN,
            timeout=HANG_SECONDS,
        )
    assert done.returncode == 2
    assert "standard output: expected a file that is not also an input" in done.stderr
    assert rows.read_text() == "one\ntwo\n"


def test_pipes_and_devices_are_no_files(tmp_path, sequence_model):
    assert run("classify", "-m", sequence_model, "-i", "/dev/null", "-o", "/dev/null").returncode == 0
    assert run("embed", "-q", "-m", sequence_model, "one", "-o", "/dev/null").returncode == 0


def test_a_folder_of_labelled_files_is_kept_as_a_whole(tmp_path):
    (tmp_path / "data").mkdir()
    (tmp_path / "data/dev.tsv").write_text("sentence\tlabel\ngood\t1\n")
    (tmp_path / "answers.tsv").write_text("index\tprediction\n0\t1\n")
    words = ("eval", "--task", "sst-2", "-p", tmp_path / "answers.tsv", tmp_path / "data")
    for name in ("dev.tsv", "new.tsv"):
        assert "would overwrite" in run(*words, "-o", tmp_path / "data" / name).stderr
    assert run(*words, "-o", tmp_path / "out.tsv").returncode == 0


def test_results_of_eval_do_not_replace_what_it_reads(tmp_path):
    (tmp_path / "dev.tsv").write_text("sentence\tlabel\ngood\t1\n")
    (tmp_path / "all_results.json").write_text('{"0": "1"}')
    done = run(
        "eval", "--task", "sst-2", "-p", tmp_path / "all_results.json", tmp_path / "dev.tsv", "--output-dir", tmp_path
    )
    assert done.returncode == 2 and "--output-dir: expected a file that is not also an input" in done.stderr


def test_two_outputs_are_two_files(tmp_path, sequence_model):
    (tmp_path / "sub").mkdir()
    done = run(
        "analyze", "-m", sequence_model, "--out", tmp_path / "a.html", "-o", tmp_path / "sub/../a.html", "a text"
    )
    assert done.returncode == 2 and "expected two different files, got" in done.stderr, done.stderr
    done = run("analyze", "-m", sequence_model, "--out", tmp_path / "p.html", "-o", tmp_path / "f.tsv", "a text")
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "p.html").read_text().startswith("<!")
    assert (tmp_path / "f.tsv").read_text().startswith("row\tlayer\thead\t")
    assert run("analyze", "-m", sequence_model, "a text").stdout.replace("\r", "") == (tmp_path / "f.tsv").read_text()


@pytest.mark.parametrize("ending", ["xlsx", "parquet", "html", "svg", "doc", "tsvx", "JSONX"])
def test_an_unknown_ending_is_refused(tmp_path, sequence_model, ending):
    path = tmp_path / f"answers.{ending}"
    done = run("classify", "-m", sequence_model, "a text", "-o", path)
    assert done.returncode == 2
    assert "--output: expected a name with the extension of a format of classify" in done.stderr
    assert not path.exists()
    assert run("classify", "-m", sequence_model, "a text", "-o", path, "-f", "tsv").returncode == 0
    assert path.read_text().startswith("label\t")


def test_unknown_endings_of_other_outputs_are_refused(tmp_path, sequence_model):
    write_safetensors(tmp_path / "ids.safetensors", {})
    done = run("forward", "-m", sequence_model, "--ids", tmp_path / "ids.safetensors", "-o", tmp_path / "x.pt")
    assert done.returncode == 2 and "--output: expected a name that ends in .safetensors, got" in done.stderr
    done = run("analyze", "-m", sequence_model, "a text", "--out", tmp_path / "page.png")
    assert done.returncode == 2 and "--page: expected a name that ends in .html or .svg, got" in done.stderr


# ---- a table is read back as it was written

PARTS = [
    "\t",
    "\n",
    "\r",
    "\r\n",
    "\\",
    "\\t",
    "\\n",
    "\\:",
    "\\\\",
    '"',
    '""',
    ",",
    ";",
    "'",
    " ",
    "  ",
    "\u00a0",
    "\u2028",
    "\u0085",
    "\x0b",
    "\x0c",
    "\x1b",
    "\ufeff",
    "😀",
    "é",
    "word",
    "C:\\new",
    "and\\/or",
    "\\theta",
    "#",
    "=1+1",
    "!error",
    "{",
    "}",
    "[MASK]",
    "0",
    "null",
    "-",
]


def random_texts(count, has_zeros):
    drawn = random.Random(7)
    parts = PARTS + (["\0"] if has_zeros else [])
    return ["".join(drawn.choices(parts, k=drawn.randint(1, 9))) for _ in range(count)]


@pytest.mark.parametrize("ending", ["tsv", "csv", "jsonl", "json"])
@pytest.mark.parametrize("name", ["text", "a\tname"])
def test_a_table_that_was_written_is_read_back(tmp_path, ending, name):
    model = make_model(tmp_path / "m", "sequence")
    texts = random_texts(1000, ending != "csv")
    (tmp_path / "in.jsonl").write_text("".join(json.dumps({name: text}) + "\n" for text in texts))
    words = ("classify", "-q", "-m", model, "--input-field", name, "--keep", name)
    first = run(*words, "-i", tmp_path / "in.jsonl", "-o", tmp_path / f"out.{ending}")
    assert first.returncode == 0, first.stderr
    again = run(*words, "-i", tmp_path / f"out.{ending}", "-f", "jsonl")
    assert again.returncode == 0, again.stderr
    assert [json.loads(line)[name] for line in again.stdout.split("\n")[:-1]] == texts
    direct = run(*words, "-i", tmp_path / "in.jsonl", "-f", "jsonl")
    assert again.stdout == direct.stdout
