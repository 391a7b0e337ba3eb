"""Every command of the guides that train runs: runs of seconds, with the page's own words but for sizes and lengths."""

import importlib.util
import json
import re
import subprocess
import sys

import pytest

import guides
from conftest import BINARY
from models import ROOT
from small_runs import write_corpus

PAGES = ("fine-tune-a-spreadsheet", "train-a-reranker", "train-an-extractor", "pretrain", "compare-runs")
SHAPE = "num_hidden_layers=2,hidden_size=32,num_attention_heads=2,position_buckets=8"
# What makes a command of a page one of seconds: (pattern, what stands in its place).
SMALLER = [
    (r"--config-overrides \S+", f"--config-overrides {SHAPE}"),
    (r"--config-name v3-small", f"--config-name v3-small --config-overrides {SHAPE},intermediate_size=64"),
    (r"^\./run finetune", "./run finetune --num-train-epochs 1"),
    (r"--max-train-tokens \S+", "--max-train-tokens 2k --batch-size 4 --max-tokens 32"),
    (r"^\./run train-tokenizer --vocab-size \S+", "./run train-tokenizer --vocab-size 280"),
]


def small_plan(tokenizer, corpus):
    """The first two forms of the plan that the page runs, with one seed."""
    plan = json.loads((ROOT / "plans/small/attention.json").read_text())
    forms = dict(list(plan["forms"].items())[:2])
    there = ROOT / "plans/small"
    tasks = {
        name: {key: str(there / value) if key.endswith("file") else value for key, value in task.items()}
        for name, task in plan["tasks"].items()
    }
    pretrain = plan["pretrain"] | {"tokenizer-name": str(tokenizer)}
    return plan | {"corpora": [str(corpus)], "pretrain": pretrain, "forms": forms, "tasks": tasks, "seeds": [1]}


@pytest.fixture(scope="module", autouse=True)
def sentencepiece():
    """What train-tokenizer needs, which ./run installs."""
    if importlib.util.find_spec("sentencepiece") is None:
        subprocess.run([sys.executable, ROOT / "tools/private_python.py", "--only", "train/tokenizer"], check=True)


@pytest.mark.parametrize("page", PAGES)
def test_every_command_of_the_page_runs(page, tmp_path, tokenizer, corpus, environment, once):
    text = guides.text_of(f"guides/{page}.md")
    clone = guides.work_folder(tmp_path / "clone", BINARY, text)
    (clone / "texts").mkdir()
    write_corpus(clone / "texts/corpus.txt")
    (clone / "plans/small").mkdir(parents=True)
    (clone / "plans/small/attention.json").write_text(json.dumps(small_plan(tokenizer, corpus)))
    session = guides.Session(clone, environment | once)
    commands = guides.commands_of(text)
    assert commands
    for command in commands:
        line = command.line
        for pattern, smaller in SMALLER:
            line = re.sub(pattern, smaller.format(tokenizer=tokenizer), line)
        code, printed, errors = session.run(line)
        assert code == 0, (line, printed, errors)
