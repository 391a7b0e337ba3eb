"""One folder on both sides: what transformers 4.57 makes of it, and what the program does. A failure of either side is
not raised: it is an answer."""

import contextlib
import dataclasses
import json
import os
import pathlib
import re
import resource
import signal
import subprocess
import warnings

import numpy
import torch
import transformers
from safetensors.numpy import load_file, save_file

from oracle_runs import BINARY
from published_cases import ENCODER, SEQUENCE, SPAN, model_class

BINARY = BINARY.resolve()  # runs change the folder
LONGEST = 512  # the program's limit where the folder sets no lower one
LIBRARY_SECONDS = 4  # with a layer count beyond 64 bits it would build layers until memory runs out
# on top of what it has: a vocabulary of 2^24 would be drawn at random until the machine runs out of memory
LIBRARY_BYTES = 4 << 30
PROGRAM_SECONDS = 300

transformers.logging.set_verbosity_error()
transformers.logging.disable_progress_bar()


@dataclasses.dataclass
class Answer:
    """`refused`: why there is no answer. `rows`: logits of each text; `ids`: (ids, types) of each text; `labels`: by
    class; `scores`: after the activation; `invented`: weights that the library drew at random, so that its logits mean
    nothing."""

    refused: str = ""
    broken: str = ""
    ids: list = None
    rows: list = None
    labels: list = None
    scores: list = None
    invented: list = dataclasses.field(default_factory=list)


class TooLong(Exception):
    pass


@contextlib.contextmanager
def time_limit(seconds):
    """Limits CPU time, so that a busy machine causes no failure."""

    def stop(*_):
        raise TooLong(f"nothing after {seconds} s")

    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


@contextlib.contextmanager
def memory_limit(more_bytes):
    """Limits the address space that this process may add to what it has."""
    used = int(pathlib.Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    before = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (used + more_bytes, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, before)


def first_line(error):
    return f"{type(error).__name__}: {str(error).strip().splitlines()[0] if str(error).strip() else ''}"[:200]


def is_fast(folder):
    """The program reads tokenizer.json where there is no readable vocabulary file."""
    folder = pathlib.Path(folder)
    slow = ((folder / "spm.model").exists() and (folder / "spm.model").stat().st_size > 1) or (
        folder / "vocab.json"
    ).exists()
    return not slow


def their_tokenizer(folder):
    """transformers 4.57 fails on the list that transformers 5 writes for extra_special_tokens; then the reference is
    what it does without the list."""
    try:
        extra = json.loads((pathlib.Path(folder) / "tokenizer_config.json").read_text()).get("extra_special_tokens")
    except (OSError, ValueError, AttributeError):
        extra = None
    without = (
        {"extra_special_tokens": {}}
        if isinstance(extra, list) and all(isinstance(token, str) for token in extra)
        else {}
    )
    return transformers.AutoTokenizer.from_pretrained(
        str(folder), use_fast=is_fast(folder), trust_remote_code=False, **without
    )


def their_ids(tokenizer, texts, longest=None):
    """(ids, types) of each text or pair; cut to `longest` where that is given."""
    rows = []
    for text in texts:
        a, b = text if isinstance(text, tuple) else (text, None)
        cut = {} if longest is None else {"truncation": True, "max_length": min(longest, tokenizer.model_max_length)}
        out = tokenizer(a, b, verbose=False, return_token_type_ids=True, **cut)
        rows.append((list(out["input_ids"]), list(out["token_type_ids"])))
    return rows


def their_model(folder, head):
    """(model, names of the weights that it drew at random)"""
    model, told = model_class(head).from_pretrained(
        str(folder), attn_implementation="eager", dtype=torch.float32, output_loading_info=True, trust_remote_code=False
    )
    return model.eval(), sorted(told["missing_keys"])


def their_logits(model, head, rows):
    """One row after another, no padding."""
    answers = []
    with torch.no_grad():
        for ids, types in rows:
            out = model(
                input_ids=torch.tensor([ids]),
                token_type_ids=torch.tensor([types]),
                attention_mask=torch.ones(1, len(ids), dtype=torch.long),
            )
            if head == SPAN:
                answers.append(torch.stack([out.start_logits[0], out.end_logits[0]], -1).numpy())
            else:
                answers.append((out.last_hidden_state if head == ENCODER else out.logits)[0].numpy())
    return answers


def their_scores(model, logits):
    """What the pipeline makes of the logits, by class, following the configuration's problem_type."""
    type_of = model.config.problem_type
    if type_of == "regression":
        return logits
    if type_of == "multi_label_classification" or model.config.num_labels == 1:
        return [1 / (1 + numpy.exp(-row)) for row in logits]
    return [numpy.exp(row - row.max()) / numpy.exp(row - row.max()).sum() for row in logits]


def library(call):
    """An answer, or the reason why there is none."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            with time_limit(LIBRARY_SECONDS), memory_limit(LIBRARY_BYTES):
                return call()
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            # Whatever a wrong value makes it raise; a panic of the tokenizers library is not an Exception.
            return Answer(refused=first_line(error))


def environment():
    return {name: value for name, value in os.environ.items() if not name.startswith("DEBERTA_")}


def run_program(*words):
    """(answer or None, standard output): None when it exited with 0."""
    try:
        done = subprocess.run(
            [str(word) for word in (BINARY, *words)],
            capture_output=True,
            stdin=subprocess.DEVNULL,
            env=environment(),
            timeout=PROGRAM_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return Answer(broken=f"nothing after {PROGRAM_SECONDS} s"), ""
    told = done.stderr.decode("utf-8", "replace").strip()
    if done.returncode == 0:
        return None, done.stdout.decode("utf-8")
    if done.returncode not in (1, 2):
        return Answer(broken=f"exit code {done.returncode}: {told[-300:]}"), ""
    return sentence(told), done.stdout.decode("utf-8", "replace")


def sentence(told):
    """A refusal is one line, `where: what: ...`; files with several problems get one line for each."""
    lines = told.splitlines()
    if not lines or not all(re.match(r"\S.*?: \S", line) for line in lines):
        return Answer(broken=f"no sentence: {told[:400]!r}")
    return Answer(refused=lines[0] + (f" ... and {len(lines) - 1} more" if len(lines) > 1 else ""))


def as_rows(texts):
    return [{"text": text} if isinstance(text, str) else {"text": text[0], "text_pair": text[1]} for text in texts]


def write_rows(path, texts):
    path.write_text("".join(json.dumps(row) + "\n" for row in as_rows(texts)), encoding="utf-8")
    return path


def json_lines(text):
    return [json.loads(line) for line in text.splitlines()]


def row_errors(lines):
    return [line["error"]["message"] for line in lines if "error" in line]


def our_ids(folder, rows, *words):
    failed, out = run_program(
        "tokenize", "-q", "-m", folder, "-i", rows, "-f", "jsonl", "--keep", "none", "--max-tokens", "1000000", *words
    )
    lines = json_lines(out)
    if failed and not row_errors(lines):
        return failed
    if row_errors(lines):
        return Answer(refused=row_errors(lines)[0])
    return Answer(ids=[(line["ids"], line.get("type_ids", [0] * len(line["ids"]))) for line in lines])


def our_classes(folder, rows, *words):
    """From texts to answers: rows of [(logit, label)], best first; probabilities where `words` are not --raw."""
    failed, out = run_program(
        "classify",
        "-q",
        "-m",
        folder,
        "-i",
        rows,
        "-f",
        "jsonl",
        "--keep",
        "none",
        "-k",
        "100000",
        "--compat",
        "hf",
        *(words or ["--activation", "none"]),
    )
    lines = json_lines(out)
    if failed and not row_errors(lines):
        return failed
    if row_errors(lines):
        return Answer(refused=row_errors(lines)[0])
    return Answer(rows=[[(entry["score"], entry["label"]) for entry in line["labels"]] for line in lines])


def our_logits(folder, head, rows, scratch, *words):
    """From ids to logits (hidden states of an encoder)."""
    longest = max(len(ids) for ids, _ in rows)
    arrays = {
        name: numpy.zeros((len(rows), longest), numpy.int64)
        for name in ("input_ids", "token_type_ids", "attention_mask")
    }
    for n, (ids, types) in enumerate(rows):
        for name, values in zip(arrays, (ids, types, [1] * len(ids))):
            arrays[name][n, : len(ids)] = values
    save_file(arrays, scratch / "in.safetensors")
    layers = "all" if head == ENCODER else "none"
    failed, _ = run_program(
        "forward",
        "-q",
        "-m",
        folder,
        "--ids",
        scratch / "in.safetensors",
        "-o",
        scratch / "out.safetensors",
        "--layers",
        layers,
        "--compat",
        "hf",
        *words,
    )
    if failed:
        return failed
    tensors = load_file(scratch / "out.safetensors")
    if head == ENCODER:
        tensors["logits"] = tensors[
            max((name for name in tensors if name.startswith("hidden.")), key=lambda name: int(name[7:]))
        ]
    if head == SEQUENCE:
        return Answer(rows=list(tensors["logits"]))
    return Answer(rows=[tensors["logits"][n, : len(ids)] for n, (ids, _) in enumerate(rows)])


def our_tags(folder, rows):
    """The labels of the pieces of each text."""
    failed, out = run_program(
        "ner",
        "-q",
        "-m",
        folder,
        "-i",
        rows,
        "-f",
        "jsonl",
        "--keep",
        "none",
        "--aggregate",
        "none",
        "--ignore-labels",
        "",
        "--compat",
        "hf",
    )
    return failed or [[entity["entity"] for entity in line["entities"]] for line in json_lines(out)]


def our_vectors(folder, rows):
    failed, out = run_program(
        "embed", "-q", "-m", folder, "-i", rows, "-f", "jsonl", "--keep", "none", "--compat", "hf"
    )
    lines = json_lines(out)
    if failed and not row_errors(lines):
        return failed
    return (
        Answer(refused=row_errors(lines)[0])
        if row_errors(lines)
        else Answer(rows=[line["embedding"] for line in lines])
    )
