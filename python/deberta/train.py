"""Training, by the program deberta-train: a process of its own, so with its own bits, LibTorch and memory."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import tempfile
import time

from deberta._errors import make_error
from deberta._program import check_words, environment, find_trainer, option_words

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

_POLL_SECONDS = 0.2


class _Log:
    """Whole lines that are added to a file of the run, each once. A run that goes on first cuts the file back to its
    last checkpoint."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._seen: list[bytes] = []
        self.lines()

    def lines(self) -> list[dict[str, Any]]:
        if not os.path.exists(self._path):
            return []
        with open(self._path, "rb") as file:
            whole = [line for line in file if line.endswith(b"\n")]
        pairs = enumerate(zip(self._seen, whole))
        kept = next((i for i, (old, new) in pairs if old != new), min(len(self._seen), len(whole)))
        self._seen = whole
        return [json.loads(line) for line in whole[kept:]]


def _wait(process: subprocess.Popen[bytes], log: _Log, callback: Callable[[dict[str, Any]], object] | None) -> None:
    """Until the end; whatever the callback raises, and Ctrl-C, stops the run with a checkpoint."""
    try:
        while True:
            has_ended = process.poll() is not None
            for line in log.lines() if callback is not None else []:
                callback(line)  # type: ignore[misc]
            if has_ended:
                return
            time.sleep(_POLL_SECONDS)
    except BaseException:
        process.send_signal(signal.SIGINT)
        process.wait()
        raise


def _run(
    verb: str, output_dir: Any, callback: Callable[[dict[str, Any]], object] | None, options: dict[str, Any]
) -> Any:
    words = [find_trainer(), verb, "-o", output_dir, *option_words(verb, options)]
    check_words(words)
    folder = os.fspath(output_dir)
    log = _Log(os.path.join(folder, "metrics.jsonl"))  # before the run adds to it
    with tempfile.TemporaryFile() as errors:
        # A group of its own: Ctrl-C in a terminal comes by this process, once.
        process = subprocess.Popen(
            words,
            env=environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=errors,
            start_new_session=True,
        )
        _wait(process, log, callback)
        errors.seek(0)
        said = errors.read().decode("utf-8", "replace").strip()
    if process.returncode != 0:
        last = said.splitlines()[-1] if said else f"{verb} ended with code {process.returncode}"
        raise make_error("usage" if process.returncode == 2 else "input", last)
    results = os.path.join(folder, "all_results.json")
    if not os.path.exists(results):
        return {}
    with open(results, encoding="utf-8") as file:
        return json.load(file)


def finetune(
    *, output_dir: str | os.PathLike[str], callback: Callable[[dict[str, Any]], object] | None = None, **options: Any
) -> dict[str, Any]:
    """Trains a model for a task: `deberta finetune` (docs/reference/fine-tuning.md), options by their names with
    underscores.

    `callback` is called with each line of metrics.jsonl: {"step": ..., "loss": ..., ...}. Returns all_results.json.
    Ctrl-C, and whatever the callback raises, stops the run with a checkpoint; the same call goes on from there."""
    results: dict[str, Any] = _run("finetune", output_dir, callback, options)
    return results


def pretrain(
    *, output_dir: str | os.PathLike[str], callback: Callable[[dict[str, Any]], object] | None = None, **options: Any
) -> dict[str, Any]:
    """Makes a language model from text files: `deberta pretrain`, likewise."""
    results: dict[str, Any] = _run("pretrain", output_dir, callback, options)
    return results
