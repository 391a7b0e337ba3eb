"""The small trained checkpoints of the shared folder: answers equal to those recorded from the reference library.

Without the shared folder there is nothing to compare, and these tests pass empty."""
import json
import lzma


def jsonl(done):
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_sst2_logits_and_dev_accuracy(deberta, shared):
    model = shared("reference/models/nano-sst2")
    if model is None:
        return
    expected = json.loads((model / "expected.json").read_text())
    texts = "".join(e["text"] + "\n" for e in expected["examples"])
    for row, example in zip(jsonl(deberta("classify", "-m", model, "-f", "jsonl", "--raw", "--top-k", "2", stdin=texts)), expected["examples"], strict=True):
        logits = {e["label"]: e["score"] for e in row["labels"]}
        for label, logit in zip(("negative", "positive"), example["logits"], strict=True):
            assert abs(logits[label] - logit) < 1e-4, example["text"]
    dev = lzma.open(shared("data/glue/SST-2/dev.tsv.xz"), "rt", encoding="utf-8").read()
    rows = jsonl(deberta("classify", "-m", model, "-f", "jsonl", "--input-format", "tsv", "--input-field", "sentence", stdin=dev))
    correct = sum(row["label"] == ("negative", "positive")[int(row["input_label"])] for row in rows)
    assert (len(rows), correct) == (expected["rows"], expected["correct"])


def test_mlm_top_five(deberta, shared):
    model = shared("reference/models/nano-mlm")
    if model is None:
        return
    expected = json.loads((model / "expected.json").read_text())
    texts = "".join(e["text"] + "\n" for e in expected)
    for row, example in zip(jsonl(deberta("fill", "-m", model, "-f", "jsonl", stdin=texts)), expected, strict=True):
        for mask, wanted in zip(row["masks"], example["masks"], strict=True):
            assert mask["position"] == wanted["position"]
            assert [t["token"] for t in mask["tokens"]] == wanted["ids"], example["text"]
            for token, logit, score in zip(mask["tokens"], wanted["logits"], wanted["scores"], strict=True):
                assert abs(token["logit"] - logit) < 1e-4 and abs(token["score"] - score) < 1e-4
