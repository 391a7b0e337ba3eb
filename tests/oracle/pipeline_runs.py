"""Running both sides on the same rows: a pipeline of transformers, and the program; and why their answers differ where
they do (docs/records/pipelines.md)."""

import functools
import json
import logging
import random
import subprocess
import warnings

import torch
import transformers

from clean_environment import clean_environment
from metric_rows import lines_of, made_pairs, nli_rows, paraphrase_rows, tagged_sentences
from oracle_runs import ALL, BINARY, ROOT, SHARED, sampled

DRAWN = 200  # rows of each kind, those that docs/records/pipelines.md counts
ROWS = DRAWN if ALL else 60  # of these
TOLERANCE = 1e-4
COLUMNS = {"slow": 1, "fast": 2}  # in the page's table of counts


def drawn(rows, seed, count=ROWS):
    """Drawn from all rows: none is left out because of how it is tokenized. As many as the page counts, of these those
    that the commit draws."""
    return sampled(random.Random(seed).sample(rows, count * DRAWN // ROWS), count)


def sentences():
    lines = lines_of("glue/SST-2/dev.tsv.xz")
    return drawn([line.split("\t")[0].strip() for line in lines[1:]] if lines else [a for a, _ in made_pairs(11)], 31)


def pairs():
    """Captions, and longer sentences from newspapers."""
    return [row[:2] for rows in (nli_rows(), paraphrase_rows()) for row in drawn(rows, 32, ROWS // 2)]


def newspaper_lines():
    """Words joined by spaces."""
    return drawn([" ".join(word for word, _ in sentence) for sentence in tagged_sentences()], 33)


def made_questions():
    """Contexts in which no word occurs twice."""
    rng = random.Random(12)
    words = [a + b + c for a in "bcdfghlmnprstw" for b in ("a", "e", "o") for c in ("n", "r", "sto", "li")]
    samples = [rng.sample(words, 40) for _ in range(ROWS)]
    return [
        {
            "question": " ".join(some[5:9]) + "?",
            "context": ", ".join(" ".join(some[i : i + 5]) for i in range(0, 40, 5)) + ".",
        }
        for some in samples
    ]


def questions_of(version, is_wanted):
    lines = lines_of(f"squad/dev-{version}.rebuilt.json.xz")
    paragraphs = [paragraph for article in json.loads("\n".join(lines))["data"] for paragraph in article["paragraphs"]]
    return [
        {"question": qa["question"], "context": paragraph["context"]}
        for paragraph in paragraphs
        for qa in paragraph["qas"]
        if is_wanted(qa)
    ]


def questions():
    """Half of them without an answer in the context."""
    if lines_of("squad/dev-v1.1.rebuilt.json.xz") is None:
        return made_questions()
    return drawn(questions_of("v1.1", lambda qa: True), 34, ROWS // 2) + drawn(
        questions_of("v2.0", lambda qa: not qa["answers"]), 35, ROWS // 2
    )


def pipeline(task, folder, **settings):
    logging.getLogger("transformers").setLevel(logging.ERROR)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return transformers.pipeline(task, model=str(folder), dtype=torch.float32, device="cpu", **settings)


def quiet(call):
    with warnings.catch_warnings(), torch.no_grad():
        warnings.simplefilter("ignore")
        return call()


def model_outputs(pipe, samples, **settings):
    """The outputs of the pipeline's model for each sample, as a list of windows: the same for every postprocessing."""
    before, forward, _ = pipe._sanitize_parameters(**settings)
    return quiet(
        lambda: [
            [pipe.forward(window, **forward) for window in pipe.preprocess(sample, **before)] for sample in samples
        ]
    )


def answers_from(pipe, outputs, **settings):
    _, _, after = pipe._sanitize_parameters(**settings)
    return quiet(lambda: [pipe.postprocess(windows, **after) for windows in outputs])


def program(folder, verb, rows, *words, model=None):
    """The rows' answers: JSON objects in, JSON objects out."""
    source = folder / "rows.jsonl"
    source.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    command = [BINARY, verb, "-m", model or folder / "model", "-i", source, "-f", "jsonl", "--keep", "none", *words]
    clean = clean_environment()
    done = subprocess.run(
        [str(word) for word in command], capture_output=True, encoding="utf-8", env=clean, check=False
    )
    assert done.returncode == 0, done.stderr[-2000:]
    answers = [json.loads(line) for line in done.stdout.split("\n") if line]  # texts may hold other line ends
    assert len(answers) == len(rows)
    return answers


def rows_of(texts):
    """JSON objects for the program, which the pipelines accept too."""
    return [{"text": text} if isinstance(text, str) else {"text": text[0], "text_pair": text[1]} for text in texts]


def unlike_pieces(folder, tokenizer, rows):
    """The numbers of the rows that the default tokenizer reads differently: those with a character that has no piece,
    which becomes bytes here. With `--tokenizer fast` there are none."""
    words = ("--max-tokens", "1000000", *(["--pair"] if "text_pair" in rows[0] else []))
    slow, fast = (program(folder, "tokenize", rows, "--tokenizer", name, *words) for name in COLUMNS)
    unlike = set()
    for number, row in enumerate(rows):
        theirs = tokenizer(row["text"], row.get("text_pair"))["input_ids"]
        assert fast[number]["ids"] == theirs, row
        if slow[number]["ids"] != theirs:
            assert any(piece.startswith("<0x") for piece in slow[number]["tokens"]), row
            unlike.add(number)
    return unlike


@functools.cache
def counts_of_the_page():
    """{(row, column): {kind: count}} of docs/records/pipelines.md; a cell is `none`, `not run`, or `11 bytes, 2
    mark`."""
    counts = {}
    page = (ROOT / "docs/records/pipelines.md").read_text(encoding="utf-8")
    for line in page.split("## How many differ", 1)[1].splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if not line.startswith("| `"):
            continue
        for column, place in COLUMNS.items():
            if cells[place] == "not run":
                continue
            entries = [] if cells[place] == "none" else cells[place].split(", ")
            counts[cells[0].replace("`", ""), column] = {
                kind: int(count) for count, kind in (entry.split(" ", 1) for entry in entries)
            }
    return counts


def check_kinds(name, column, differing, causes):
    """`differing`: the numbers of the rows whose answers differ; `causes`: {kind: the rows that have it}. Each row must
    have a cause, and no kind may have more rows than the page says for the shared folder's rows (made-up ones are
    different rows)."""
    left, counts = set(differing), {}
    for kind, those in causes.items():
        counts[kind] = len(left & those)
        left -= those
    assert not left, f"{name}, {column}: rows without a cause: {sorted(left)}"
    allowed = counts_of_the_page()[name, column]
    assert not SHARED.exists() or all(count <= allowed.get(kind, 0) for kind, count in counts.items()), (
        f"{name}, {column}: {counts}, docs/records/pipelines.md says {allowed}"
    )


def compare(name, run, theirs, is_same, unlike, causes=None):
    """`run(words...)`: the program's answers, by default and with the tokenizers that the pipelines use. `is_same(mine,
    wanted)` of each row."""
    for column in COLUMNS:
        ours = run("--tokenizer", column)
        differing = {i for i, (mine, wanted) in enumerate(zip(ours, theirs, strict=True)) if not is_same(mine, wanted)}
        check_kinds(name, column, differing, {"bytes": unlike if column == "slow" else set(), **(causes or {})})


def trimmed(text, start, end):
    """Without the white space that the pipeline's offsets begin with."""
    while start < end and text[start].isspace():
        start += 1
    return start, end
