#!/usr/bin/env python3
"""make.py PROGRAM N: the folder N beside this file: a model folder and a run of training, as a program writes
them whose formats have the version N.

It is made once, by the last commit that writes N, and never again: tests/cli/test_upgrade.py and
tests/train/cli/test_upgrade.py show that every later version reads it."""

import json
import os
import pathlib
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
BASE = HERE.parent / "tiny"
WORDS = "cat dog tree house rain wind sun moon".split()
# of the run, as the test goes on with it
RUN = ["--task", "classification", "--batch-size", "4", "--save-steps", "2", "--logging-steps", "1", "--dtype", "fp32"]
KEPT = ("LATEST", "checkpoint-000002", "events.jsonl", "metrics.jsonl")


def main() -> int:
    program, folder = pathlib.Path(sys.argv[1]).resolve(), HERE / sys.argv[2]
    folder.mkdir()
    rows = folder / "rows.jsonl"
    rows.write_text(
        "".join(json.dumps({"text": f"a {word}", "label": "ab"[n % 2]}) + "\n" for n, word in enumerate(WORDS))
    )
    run, model = folder / "run", folder / "model"
    environment = {name: value for name, value in os.environ.items() if not name.startswith("DEBERTA_")}

    def call(*words):
        # relative paths: a run notes those of its files
        names = [os.path.relpath(word, folder) if isinstance(word, pathlib.Path) else word for word in words]
        subprocess.run([program, *names], cwd=folder, check=True, env=environment)

    call("finetune", *RUN, "-m", BASE, "--train-file", rows, "--max-steps", "2", "-o", run)
    call("convert", "-m", run, "--to", model, "--dtype", "int8", "--calibration-data", rows)
    for path in run.iterdir():
        if path.name not in KEPT:
            shutil.rmtree(path) if path.is_dir() else path.unlink()
    for copy in folder.rglob("spm.model"):  # a byte for byte copy of the one that is here already
        copy.unlink()
        copy.symlink_to(os.path.relpath((BASE / "spm.model").resolve(), copy.parent))
    return 0


if __name__ == "__main__":
    sys.exit(main())
