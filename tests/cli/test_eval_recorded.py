"""eval of the small trained checkpoints of the shared folder. Without it there is nothing to compare, and these tests pass empty."""
import json
import lzma


def evaluation(deberta, *words):
    done = deberta("eval", *words, "-f", "json", "--bootstrap", "100")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_eval_of_sst2_gives_the_recorded_accuracy(deberta, shared, tmp_path):
    model = shared("reference/models/nano-sst2")
    if model is None:
        return
    expected = json.loads((model / "expected.json").read_text())
    found = evaluation(deberta, "--task", "sst-2", "-m", model, shared("data/glue/SST-2/dev.tsv.xz"), "--write-predictions", tmp_path / "answers.tsv")
    assert (found["rows"], found["failed"]) == (expected["rows"], 0)
    assert found["metrics"] == {"accuracy": expected["correct"] / expected["rows"]}
    low, high = found["intervals"]["accuracy"]
    assert low < found["metrics"]["accuracy"] < high
    again = evaluation(deberta, "--task", "sst-2", shared("data/glue/SST-2/dev.tsv.xz"), "--predictions", tmp_path / "answers.tsv")
    assert again["metrics"] == found["metrics"] and again["intervals"] == found["intervals"]


def test_eval_of_sick_gives_the_recorded_accuracy(deberta, shared):
    model = shared("reference/models/nano-sick")
    if model is None:
        return
    expected = json.loads((model / "expected.json").read_text())
    found = evaluation(deberta, "--task", "sick", "-m", model, shared("data/nli/sick/dev.csv.xz"))
    assert (found["rows"], round(found["metrics"]["accuracy"], 4)) == (expected["rows"], expected["dev_accuracy"])


def test_eval_of_conll_finds_entities(deberta, shared, tmp_path):
    model = shared("reference/models/nano-conll")
    if model is None:
        return
    sentences = lzma.open(shared("data/conll2003/valid.txt.xz"), "rt", encoding="utf-8").read().split("\n\n")
    (tmp_path / "valid.txt").write_text("\n\n".join(sentences[:500]) + "\n")
    found = evaluation(deberta, "--task", "ner", "-m", model, tmp_path / "valid.txt")
    assert found["rows"] > 400 and found["failed"] == 0 and found["metrics"]["f1"] > 0.8


def test_eval_of_squad_finds_answers(deberta, shared, tmp_path):
    """Of some questions: all take minutes."""
    model = shared("reference/models/nano-squad")
    if model is None:
        return
    document = json.load(lzma.open(shared("data/squad/dev-v1.1.rebuilt.json.xz"), "rt", encoding="utf-8"))
    document["data"] = document["data"][:1]
    document["data"][0]["paragraphs"] = document["data"][0]["paragraphs"][:30]
    (tmp_path / "dev.json").write_text(json.dumps(document))
    questions = sum(len(p["qas"]) for p in document["data"][0]["paragraphs"])
    found = evaluation(deberta, "--task", "squad", "-m", model, tmp_path / "dev.json")
    assert questions > 100 and found["rows"] == questions and found["failed"] == 0 and found["metrics"]["f1"] > 5
