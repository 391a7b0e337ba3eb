"""docs/reference/tasks.md: every command on the page runs, with tiny models and the smallest files of each published
form."""

import json
import shlex

import pytest

from models import ROOT, make_extractor, make_model
from task_files import FILES

PAGE = ROOT / "docs/reference/tasks.md"
COMMANDS = [line for line in PAGE.read_text().splitlines() if line.startswith("deberta eval ")]
NLI = ("entailment", "neutral", "contradiction")


@pytest.fixture(scope="session")
def models(tmp_path_factory):
    """The kinds of heads, each made once: name -> folder."""
    made = {}

    def get(task):
        if task == "extract":
            return make_extractor(tmp_path_factory.mktemp(task))
        labels = {
            "mnli": NLI,
            "mnli-mm": NLI,
            "cb": NLI,
            "nli": NLI,
            "qnli": ("entailment", "not_entailment"),
            "rte": ("entailment", "not_entailment"),
            "wnli": ("entailment", "not_entailment"),
            "sts-b": ("LABEL_0",),
            "regression": ("LABEL_0",),
            "ranking": ("LABEL_0",),
            "race": ("LABEL_0",),
            "swag": ("LABEL_0",),
            "record": ("LABEL_0",),
            "ner": ("O", "B-PER", "I-PER", "B-LOC", "I-LOC"),
            "classification": ("negative", "positive"),
            "multi-label": ("negative", "positive"),
        }.get(task, ("LABEL_0", "LABEL_1"))
        head = {"record": "entity", "squad": "span", "squad2": "span", "ner": "token", "mlm": "lm", "causal": "lm"}.get(
            task, "sequence"
        )
        settings = {"is_decoder": True} if task == "causal" else {}
        kind = head, labels, *settings
        if kind not in made:
            made[kind] = make_model(tmp_path_factory.mktemp(head), head, labels=labels, **settings)
        return made[kind]

    return get


def test_the_page_has_a_command_for_every_task():
    assert [shlex.split(command)[3] for command in COMMANDS] == list(FILES)


@pytest.mark.parametrize("command", COMMANDS)
def test_the_command_runs(deberta, tmp_path, models, command):
    words = shlex.split(command)[1:]
    task = words[2]
    for name, text in FILES[task].items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    words[words.index("DIR")] = models(task)
    answers = {"squad": "answers.json", "squad2": "answers.json", "ner": "answers.conll"}.get(task, "answers.tsv")
    # those score pieces, or entities of the model's labels, and write no predictions
    written = [] if task in ("mlm", "causal", "extract") else ["--write-predictions", answers]
    done = deberta(*words, "-f", "json", "--bootstrap", "5", *written, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["task"] == task and found["rows"] > 0 and found["failed"] == 0
    if not written:
        return
    # The written predictions get the same scores.
    scored = deberta(
        "eval", "--task", task, *words[5:], "--predictions", answers, "-f", "json", "--bootstrap", "0", cwd=tmp_path
    )
    assert scored.returncode == 0, scored.stderr
    metrics = json.loads(scored.stdout)["metrics"]
    assert metrics == {name: value for name, value in found["metrics"].items() if name in metrics}
