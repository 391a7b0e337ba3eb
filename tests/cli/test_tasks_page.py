"""docs/tasks.md: every command on the page runs, with tiny models and the smallest files of each published form."""
import json
import pathlib
import shlex

import pytest
from models import ROOT, make_model

PAGE = ROOT / "docs/tasks.md"
COMMANDS = [line for line in PAGE.read_text().splitlines() if line.startswith("deberta eval ")]


def jsonl(*rows):
    return "".join(json.dumps(row) + "\n" for row in rows)


PAIR = "index\tsentence1\tsentence2\tgold_label\n0\tIt rained .\tIt was wet .\tLABEL\n1\tIt rained .\tIt was dry .\tLABEL\n"
RACE = {"article": "It rained .", "id": "1.txt", "questions": ["How was it ?"], "options": [["wet", "dry", "hot", "cold"]], "answers": ["A"]}
PARAGRAPH = {"context": "The cat sat .", "qas": [{"id": "a", "question": "Who sat ?", "answers": [{"text": "cat", "answer_start": 4}]}]}
FILES = {
    "cola": {"dev.tsv": "gj04\t1\t\tIt rained .\ngj04\t0\t*\tIt it .\n"},
    "sst-2": {"dev.tsv": "sentence\tlabel\ngood\t1\nbad\t0\n"},
    "mrpc": {"dev.tsv": "\ufeffQuality\t#1 ID\t#2 ID\t#1 String\t#2 String\n1\t7\t8\tIt rained .\tIt did rain .\n"},
    "qqp": {"dev.tsv": "id\tqid1\tqid2\tquestion1\tquestion2\tis_duplicate\n5\t1\t2\tWho ?\tWhat ?\t0\n"},
    "sts-b": {"dev.tsv": "index\tgenre\tsentence1\tsentence2\tscore\n0\tnews\tIt rained .\tIt was wet .\t4.5\n1\tnews\ta\tb\t0.0\n"},
    "mnli": {"dev_matched.tsv": PAIR.replace("LABEL", "neutral")},
    "mnli-mm": {"dev_mismatched.tsv": PAIR.replace("LABEL", "neutral")},
    "qnli": {"dev.tsv": "index\tquestion\tsentence\tlabel\n0\tWho ?\tIt rained .\tnot_entailment\n"},
    "rte": {"dev.tsv": "index\tsentence1\tsentence2\tlabel\n0\tIt rained .\tIt was wet .\tentailment\n"},
    "wnli": {"dev.tsv": "index\tsentence1\tsentence2\tlabel\n0\tIt rained .\tIt was wet .\t1\n"},
    "boolq": {"val.jsonl": jsonl({"passage": "It rained .", "question": "was it wet", "idx": 0, "label": True})},
    "cb": {"val.jsonl": jsonl({"premise": "It rained .", "hypothesis": "it was wet", "label": "entailment", "idx": 0})},
    "copa": {"val.jsonl": jsonl({"premise": "It rained .", "choice1": "Wet .", "choice2": "Dry .", "question": "effect", "label": 0, "idx": 0})},
    "alphanli": {"dev.jsonl": jsonl({"story_id": "s", "obs1": "It rained .", "obs2": "It was wet .", "hyp1": "a", "hyp2": "b"}), "dev-labels.lst": "1\n"},
    "wic": {"val.jsonl": jsonl({"word": "cat", "sentence1": "A cat .", "sentence2": "Cats .", "start1": 2, "end1": 5, "start2": 0, "end2": 4, "label": True, "idx": 0})},
    "wsc": {"val.jsonl": jsonl({"text": "Ann saw Bo because she looked .", "label": True, "idx": 0,
                                "target": {"span1_text": "Ann", "span1_index": 0, "span2_text": "she", "span2_index": 4}})},
    "multirc": {"val.jsonl": jsonl({"idx": 0, "passage": {"text": "It rained .", "questions": [
        {"question": "How was it ?", "idx": 0, "answers": [{"text": "wet", "idx": 0, "label": 1}, {"text": "dry", "idx": 1, "label": 0}]}]}})},
    "record": {"val.jsonl": jsonl({"idx": 0, "passage": {"text": "Ann saw Bo .", "entities": [{"start": 0, "end": 2}, {"start": 8, "end": 9}]},
                                   "qas": [{"idx": 0, "query": "@placeholder looked", "answers": [{"start": 0, "end": 2, "text": "Ann"}]}]})},
    "squad": {"dev-v1.1.json": json.dumps({"version": "1.1", "data": [{"title": "T", "paragraphs": [PARAGRAPH]}]})},
    "squad2": {"dev-v2.0.json": json.dumps({"version": "v2.0", "data": [{"title": "T", "paragraphs": [PARAGRAPH, {"context": "It rained .", "qas": [
        {"id": "b", "question": "Who ?", "is_impossible": True, "answers": []}]}]}]})},
    "race": {"test/high/1.txt": json.dumps(RACE), "test/high/2.txt": json.dumps(RACE)},
    "swag": {"val.csv": ",video-id,fold-ind,startphrase,sent1,sent2,gold-source,ending0,ending1,ending2,ending3,label\n0,v,1,It rained. It,It rained.,It,gold,a.,b.,c.,d.,3\n"},
    "ner": {"valid.txt": "-DOCSTART- -X- O O\n\nAnn NNP I-NP B-PER\nsaw VBD I-VP O\n\nRome NNP I-NP B-LOC\n"},
    "nli": {"dev.csv": "premise,hypothesis,label\r\n\"It rained, a lot .\",It was wet .,entailment\r\n"},
    "classification": {"dev.csv": "text,label\r\n\"good, very\",positive\r\nbad,negative\r\n"},
    "regression": {"dev.jsonl": jsonl({"a": "It rained .", "b": "It was wet .", "score": 4.5}, {"a": "x", "b": "y", "score": 1})},
    "multi-label": {"dev.jsonl": jsonl({"text": "good", "labels": ["positive"]}, {"text": "so so", "labels": ["positive", "negative"]})},
    "mlm": {"valid.txt": " = A title = \n \n It rained .\n"},
    "causal": {"valid.txt": " = A title = \n \n It rained .\n"},
}
NLI = ("entailment", "neutral", "contradiction")


@pytest.fixture(scope="session")
def models(tmp_path_factory):
    """The kinds of heads, each made once: name -> folder."""
    made = {}

    def get(task):
        labels = {"mnli": NLI, "mnli-mm": NLI, "cb": NLI, "nli": NLI, "qnli": ("entailment", "not_entailment"), "rte": ("entailment", "not_entailment"),
                  "wnli": ("entailment", "not_entailment"), "sts-b": ("LABEL_0",), "regression": ("LABEL_0",), "race": ("LABEL_0",), "swag": ("LABEL_0",),
                  "record": ("LABEL_0",), "ner": ("O", "B-PER", "I-PER", "B-LOC", "I-LOC"), "classification": ("negative", "positive"),
                  "multi-label": ("negative", "positive")}.get(task, ("LABEL_0", "LABEL_1"))
        head = {"record": "entity", "squad": "span", "squad2": "span", "ner": "token", "mlm": "lm", "causal": "lm"}.get(task, "sequence")
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
    written = [] if task in ("mlm", "causal") else ["--write-predictions", "answers.out"]  # those two score pieces and write no predictions
    done = deberta(*words, "-f", "json", "--bootstrap", "5", *written, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["task"] == task and found["rows"] > 0 and found["failed"] == 0
    if not written:
        return
    # The written predictions get the same scores.
    again = {"squad": "answers.json", "squad2": "answers.json"}.get(task, "answers.tsv")
    pathlib.Path(tmp_path / "answers.out").rename(tmp_path / again)
    scored = deberta("eval", "--task", task, *words[5:], "--predictions", again, "-f", "json", "--bootstrap", "0", cwd=tmp_path)
    assert scored.returncode == 0, scored.stderr
    metrics = json.loads(scored.stdout)["metrics"]
    assert metrics == {name: value for name, value in found["metrics"].items() if name in metrics}
