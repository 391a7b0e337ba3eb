"""The official metrics of a task, by the program that comes with the package."""

from __future__ import annotations

import json
import os
import subprocess

from deberta._errors import make_error
from deberta._inputs import list_of
from deberta._models import find_model
from deberta._program import check_words, option_words, program_words

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def evaluate(task: str, files: Any, model: str | os.PathLike[str] | None = None, **options: Any) -> dict[str, Any]:
    """`deberta eval` (docs/reference/tasks.md) as a dict: task, rows, metrics, intervals. `files`: one or more;
    `options` by the names of the verb's, with underscores. Raises InputError for what the program refuses."""
    for name in ("format", "output"):
        if name in options:
            raise make_error("usage", f"{name}: expected no such option, since the answer is a dict", name)
    named = [] if model is None else ["-m", find_model(model)]
    paths = [files] if isinstance(files, (str, os.PathLike)) else list_of("files", files, "paths")
    words = ["eval", "-t", task, *named, "--format", "json", *option_words("eval", options), "--", *paths]
    check_words(words)
    done = subprocess.run([*program_words(), *words], capture_output=True, text=True)
    if done.returncode != 0:
        raise make_error("usage" if done.returncode == 2 else "input", done.stderr.strip() or "eval failed")
    result: dict[str, Any] = json.loads(done.stdout)
    return result
