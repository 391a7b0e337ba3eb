#!/usr/bin/env python3
"""Trains the tokenizer of a v3 model: a SentencePiece Unigram model with byte fallback and the special pieces of the
published models ([PAD] 0, [CLS] 1, [SEP] 2, [UNK] 3; [MASK] after the last piece), and the JSON files that make it a
tokenizer folder.

    .venv/bin/python train/tokenizer/train_tokenizer.py --vocab-size 8192 -o DIR FILE...
    (.venv: tools/private_python.py --only train/tokenizer)

FILE is a text file, a folder of them or a pattern, as for `deberta-train`: .txt, .txt.xz, .txt.gz, .txt.bz2, .txt.zst.
The same options and files give the same bytes: the lines are sampled with a fixed seed and stay in their order, and one
thread trains, since sums over several threads round differently. The folder appears complete or not at all."""

import argparse
import bz2
import contextlib
import glob
import gzip
import io
import json
import lzma
import os
import pathlib
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time
import zlib
from collections.abc import Iterator

ENDINGS = (".txt", ".txt.xz", ".txt.gz", ".txt.bz2", ".txt.zst")
SPECIAL = {"pad": "[PAD]", "bos": "[CLS]", "eos": "[SEP]", "unk": "[UNK]"}  # ids 0 .. 3, in this order
MASK = "[MASK]"
FEWEST_PIECES = len(SPECIAL) + 256 + 1  # the bytes, and one piece
MOST_LINE_BYTES = 16 << 20
SEED = 1234


class Problem(Exception):
    """What the user has to know: one line."""


def files_of(path: str) -> list[str]:
    """The files that one argument names; those of a folder and of a pattern are sorted."""
    if os.path.isfile(path):
        return [path]
    if os.path.isdir(path):
        found = [os.path.join(path, name) for name in sorted(os.listdir(path)) if name.endswith(ENDINGS)]
        found = [name for name in found if os.path.isfile(name)]
        if not found:
            raise Problem(f"{path}: no text file in this folder: expected names that end in {', '.join(ENDINGS)}")
        return found
    found = sorted(name for name in glob.glob(path) if os.path.isfile(name))
    if not found:
        raise Problem(f"{path}: no such file")
    return found


@contextlib.contextmanager
def opened(path: str) -> Iterator[io.BufferedIOBase]:
    """The bytes of a file, decompressed by the ending of its name."""
    if path.endswith(".zst"):
        if shutil.which("zstd") is None:
            raise Problem(f"{path}: the program zstd is not here; install it, or compress the file with xz")
        with subprocess.Popen(["zstd", "-dcq", "--", path], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as unpacker:
            yield unpacker.stdout
            message = unpacker.stderr.read().decode(errors="replace").strip()
            if unpacker.wait() != 0:
                raise Problem(f"{path}: damaged zstd stream: {message}")
        return
    opener = {".xz": lzma.open, ".gz": gzip.open, ".bz2": bz2.open}.get(pathlib.Path(path).suffix, open)
    try:
        with opener(path, "rb") as file:
            yield file
    except (lzma.LZMAError, EOFError, zlib.error, OSError) as error:
        if isinstance(error, OSError) and error.errno:  # of the system, not of the stream
            raise
        raise Problem(f"{path}: damaged {pathlib.Path(path).suffix[1:]} stream: {error}") from error


def documents(files: list[str], progress) -> Iterator[tuple[bool, str]]:
    """(begins a document, line) for each line of text, as data/corpus.h has it: a document begins with each file and
    with each line `<|doc NAME|>`, which is dropped, as is `Section::::` before a line."""
    for number, path in enumerate(files):
        progress.show(f"reading {path} ({number + 1} of {len(files)})")
        begins = True
        with opened(path) as file:
            for raw in file:
                if len(raw) > MOST_LINE_BYTES:
                    raise Problem(f"{path}: expected lines of at most {MOST_LINE_BYTES} bytes, got {len(raw)}")
                line = raw.decode("utf-8", errors="replace").rstrip("\r\n").replace("\0", " ")
                if line.startswith("<|doc ") and line.endswith("|>"):
                    begins = True
                    continue
                line = line.removeprefix("Section::::")
                if line.strip(" \t\r\v\f"):
                    yield begins, line
                    begins = False


class Sample:
    """At most `size` of the lines that it is given (0: all), each with the same chance, in their order."""

    def __init__(self, size: int):
        self.size = size
        self.seen = 0
        self.kept: list[tuple[int, str]] = []
        self.random = random.Random(SEED)

    def add(self, line: str) -> None:
        if self.size == 0 or len(self.kept) < self.size:
            self.kept.append((self.seen, line))
        else:
            place = self.random.randrange(self.seen + 1)
            if place < self.size:
                self.kept[place] = (self.seen, line)
        self.seen += 1

    def lines(self) -> list[str]:
        return [line for _, line in sorted(self.kept)]


class Progress:
    """One line on standard error for each thing begun; none under --quiet."""

    def __init__(self, is_quiet: bool):
        self.is_quiet = is_quiet
        self.start = time.monotonic()

    def show(self, text: str) -> None:
        if not self.is_quiet:
            print(f"[{time.monotonic() - self.start:6.1f} s] {text}", file=sys.stderr, flush=True)


def sample_of(files: list[str], options: argparse.Namespace, progress: Progress) -> list[str]:
    sample, document = Sample(options.input_sentence_size), -1
    held = options.hold_out_every
    for begins, line in documents(files, progress):
        document += begins
        if held == 0 or document % held != held - 1:
            sample.add(line)
    if not sample.kept:
        raise Problem(f"{', '.join(files)}: the corpus is empty: expected a line of text that is not held out")
    progress.show(f"{len(sample.kept)} of {sample.seen} lines of {document + 1} documents")
    return sample.lines()


def explain(message: str, size: int) -> str:
    """What SentencePiece says about a size that cannot be, in our words."""
    if most := re.search(r"Vocabulary size too high.*?<= (\d+)", message):
        return f"vocabulary size: expected at most {most[1]} for this corpus, got {size}"
    if fewest := re.search(r"smaller than required_chars\. (\d+) vs (\d+)", message):
        return (
            f"vocabulary size: expected at least {fewest[2]} for the characters of this corpus, got {size}; or lower "
            "the character coverage"
        )
    return f"sentencepiece: {message.strip()}"


def train(lines: list[str], options: argparse.Namespace) -> bytes:
    """The bytes of spm.model."""
    try:
        import sentencepiece
    except ImportError as error:
        raise Problem(
            "sentencepiece is not installed; run this with .venv/bin/python, which tools/private_python.py oracle makes"
        ) from error
    model = io.BytesIO()
    names = {f"{name}_piece": piece for name, piece in SPECIAL.items()}
    ids = {f"{name}_id": number for number, name in enumerate(SPECIAL)}
    try:
        sentencepiece.SentencePieceTrainer.train(
            sentence_iterator=iter(lines),
            model_writer=model,
            model_type="unigram",
            vocab_size=options.vocab_size,
            byte_fallback=True,
            normalization_rule_name="nmt_nfkc",
            character_coverage=options.character_coverage,
            num_threads=1,
            input_sentence_size=0,
            shuffle_input_sentence=False,
            max_sentence_length=MOST_LINE_BYTES,
            minloglevel=2,
            **names,
            **ids,
        )
    except (RuntimeError, OSError) as error:
        raise Problem(explain(str(error), options.vocab_size)) from error
    return model.getvalue()


def json_files(options: argparse.Namespace) -> dict[str, dict]:
    def token(content: str) -> dict:
        return {
            "content": content,
            "lstrip": False,
            "normalized": content == SPECIAL["unk"],
            "rstrip": False,
            "single_word": False,
        }

    ids = {str(number): piece for number, piece in enumerate(SPECIAL.values())} | {str(options.vocab_size): MASK}
    names = {
        "bos_token": SPECIAL["bos"],
        "cls_token": SPECIAL["bos"],
        "eos_token": SPECIAL["eos"],
        "mask_token": MASK,
        "pad_token": SPECIAL["pad"],
        "sep_token": SPECIAL["eos"],
    }
    config = {
        "added_tokens_decoder": {number: token(piece) | {"special": True} for number, piece in ids.items()},
        **names,
        "clean_up_tokenization_spaces": False,
        "do_lower_case": False,
        "extra_special_tokens": {},
        "model_max_length": options.model_max_length,
        "sp_model_kwargs": {},
        "split_by_punct": False,
        "tokenizer_class": "DebertaV2Tokenizer",
        "unk_token": SPECIAL["unk"],
    }
    return {
        "added_tokens.json": {MASK: options.vocab_size},
        "special_tokens_map.json": names | {"unk_token": token(SPECIAL["unk"])},
        "tokenizer_config.json": config,
    }


def check_output(folder: pathlib.Path) -> None:
    if folder.is_dir() and not any(folder.iterdir()):
        return
    if folder.exists() or folder.is_symlink():
        raise Problem(f"{folder}: expected a new or an empty folder")
    if not folder.absolute().parent.is_dir():
        raise Problem(f"{folder}: cannot create: no folder {folder.absolute().parent}")


def sync(path: pathlib.Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def publish(files: dict[str, bytes], folder: pathlib.Path) -> None:
    """Written beside the folder, synced, then given its name."""
    check_output(folder)
    target = folder.absolute()
    staged = pathlib.Path(tempfile.mkdtemp(prefix=f"{target.name}.tmp-{os.getpid()}-", dir=target.parent))
    try:
        for name, content in files.items():
            (staged / name).write_bytes(content)
            sync(staged / name)
        umask = os.umask(0)
        os.umask(umask)
        staged.chmod(0o777 & ~umask)
        sync(staged)
        os.rename(staged, target)  # also onto an empty folder
    except BaseException:
        shutil.rmtree(staged, ignore_errors=True)
        raise
    sync(target.parent)


def fraction(text: str) -> float:
    value = float(text)
    if not 0.98 <= value <= 1:
        raise argparse.ArgumentTypeError(f"expected 0.98 to 1, got {text}")
    return value


def whole_number(least: int):
    def parse(text: str) -> int:
        value = int(text)
        if value < least:
            raise argparse.ArgumentTypeError(f"expected at least {least}, got {text}")
        return value

    parse.__name__ = "whole number"
    return parse


def parse(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="train-tokenizer",
        description="Trains a SentencePiece tokenizer in the layout of DeBERTa-v3.",
        allow_abbrev=False,
    )
    parser.add_argument("files", nargs="+", metavar="FILE", help="text files, folders of them, patterns")
    parser.add_argument(
        "-o", "--output", required=True, type=pathlib.Path, metavar="DIR", help="a new or an empty folder"
    )
    parser.add_argument(
        "--vocab-size",
        required=True,
        type=whole_number(FEWEST_PIECES),
        metavar="N",
        help="pieces of the model; [MASK] comes after them",
    )
    parser.add_argument(
        "--character-coverage",
        type=fraction,
        default=0.9995,
        metavar="X",
        help="share of the characters that get a piece; bytes spell the others (default 0.9995)",
    )
    parser.add_argument(
        "--input-sentence-size",
        type=whole_number(0),
        default=1000000,
        metavar="N",
        help="lines to train on, drawn evenly; 0: all (default 1000000)",
    )
    parser.add_argument(
        "--hold-out-every",
        type=whole_number(0),
        default=50,
        metavar="N",
        help="every N-th document is left out, as the trainer does; 0: none (default 50)",
    )
    parser.add_argument(
        "--model-max-length",
        type=whole_number(3),
        default=512,
        metavar="N",
        help="written to tokenizer_config.json (default 512)",
    )
    parser.add_argument("--quiet", action="store_true", help="no progress on standard error")
    return parser.parse_args(arguments)


def main(arguments: list[str]) -> int:
    options = parse(arguments)
    progress = Progress(options.quiet)
    try:
        check_output(options.output)  # before the minutes of training
        files = [name for path in options.files for name in files_of(path)]
        lines = sample_of(files, options, progress)
        progress.show(f"training {options.vocab_size} pieces")
        content = {"spm.model": train(lines, options)}
        content |= {name: (json.dumps(value, indent=2) + "\n").encode() for name, value in json_files(options).items()}
        publish(content, options.output)
        progress.show(f"wrote {options.output}")
    except (Problem, OSError) as problem:
        print(f"train-tokenizer: {problem}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
