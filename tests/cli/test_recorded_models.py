"""The small trained checkpoints of the shared folder: answers equal to those recorded from the reference library."""

import json
import lzma

import numpy

from models import read_safetensors, write_safetensors


def jsonl(done):
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_sst2_logits_and_dev_accuracy(deberta, trained, shared):
    model, expected = trained("nano-sst2")
    texts = "".join(e["text"] + "\n" for e in expected["examples"])
    for row, example in zip(
        jsonl(deberta("classify", "-m", model, "-f", "jsonl", "--activation", "none", "--top-k", "2", stdin=texts)),
        expected["examples"],
        strict=True,
    ):
        logits = {e["label"]: e["score"] for e in row["labels"]}
        for label, logit in zip(("negative", "positive"), example["logits"], strict=True):
            assert abs(logits[label] - logit) < 1e-4, example["text"]
    dev = lzma.open(shared("data/glue/SST-2/dev.tsv.xz"), "rt", encoding="utf-8").read()
    rows = jsonl(
        deberta("classify", "-m", model, "-f", "jsonl", "--input-format", "tsv", "--input-field", "sentence", stdin=dev)
    )
    correct = sum(row["label"] == ("negative", "positive")[int(row["input_label"])] for row in rows)
    assert (len(rows), correct) == (expected["rows"], expected["correct"])


def test_mlm_top_five(deberta, trained):
    model, expected = trained("nano-mlm")
    texts = "".join(e["text"] + "\n" for e in expected)
    for row, example in zip(jsonl(deberta("fill", "-m", model, "-f", "jsonl", stdin=texts)), expected, strict=True):
        for mask, wanted in zip(row["masks"], example["masks"], strict=True):
            assert mask["position"] == wanted["position"]
            assert [t["token"] for t in mask["tokens"]] == wanted["ids"], example["text"]
            for token, logit, score in zip(mask["tokens"], wanted["logits"], wanted["scores"], strict=True):
                assert abs(token["logit"] - logit) < 1e-4 and abs(token["score"] - score) < 1e-4


def test_conll_labels_and_logits(deberta, trained, tmp_path):
    model, expected = trained("nano-conll")
    texts = "".join(e["text"] + "\n" for e in expected)
    rows = jsonl(deberta("ner", "-m", model, "-f", "jsonl", "--aggregate", "none", "--ignore-labels", "", stdin=texts))
    labels = json.loads((model / "config.json").read_text())["id2label"]
    for row, example in zip(rows, expected, strict=True):
        assert [e["entity"] for e in row["entities"]] == example["labels"][1:-1], example["text"]
        write_safetensors(tmp_path / "in", {"input_ids": numpy.array([example["ids"]], numpy.int32)})
        assert (
            deberta(
                "forward", "-m", model, "--ids", tmp_path / "in", "--layers", "none", "-o", tmp_path / "out"
            ).returncode
            == 0
        )
        logits = read_safetensors(tmp_path / "out")["logits"][0]
        assert [labels[str(i)] for i in logits.argmax(-1)] == example["labels"]
        assert numpy.abs(logits[1] - example["first_logits"]).max() < 1e-4  # behind [CLS]


def test_sick_pairs(deberta, trained):
    model, expected = trained("nano-sick")
    examples = expected["examples"] if isinstance(expected, dict) else expected
    names = json.loads((model / "config.json").read_text())["id2label"]
    lines = "".join(json.dumps({"text": e["premise"], "text_pair": e["hypothesis"]}) + "\n" for e in examples)
    words = ("-m", model, "-f", "jsonl", "--input-format", "jsonl")
    raw = jsonl(deberta("classify", *words, "--activation", "none", "--top-k", "3", stdin=lines))
    named = jsonl(deberta("nli", *words, stdin=lines))
    unscored = jsonl(deberta("nli", *words, "--activation", "none", stdin=lines))
    for row, relation, plain, example in zip(raw, named, unscored, examples, strict=True):
        logits = {e["label"]: e["score"] for e in row["labels"]}
        assert max(abs(logits[names[str(i)]] - logit) for i, logit in enumerate(example["logits"])) < 1e-4
        assert relation["label"] == max(logits, key=logits.get) == plain["label"]
        assert {name: plain[name.lower()] for name in logits} == logits


def test_the_mask_decoder_answers_as_the_original_and_off_is_the_plain_head(deberta, trained):
    model, expected = trained("nano-emd")
    texts = "".join(e["text"] + "\n" for e in expected)
    done = deberta("fill", "-m", model, "-f", "jsonl", stdin=texts)
    assert "plain head" not in done.stderr
    decoded, plain = jsonl(done), jsonl(deberta("fill", "-m", model, "-f", "jsonl", "--emd", "off", stdin=texts))
    for row, off, example in zip(decoded, plain, expected, strict=True):
        for mask, plain_mask, wanted in zip(row["masks"], off["masks"], example["masks"], strict=True):
            assert [t["token"] for t in mask["tokens"]] == wanted["ids"], example["text"]
            assert max(abs(t["logit"] - logit) for t, logit in zip(mask["tokens"], wanted["logits"])) < 1e-4
            assert [t["token"] for t in plain_mask["tokens"]] == wanted["plain_head_ids"]


def test_squad_start_and_end_logits(deberta, trained, tmp_path):
    model, expected = trained("nano-squad")
    lines = "".join(json.dumps({"question": e["question"], "context": e["context"]}) + "\n" for e in expected)
    answers = jsonl(
        deberta(
            "qa",
            "-m",
            model,
            "-f",
            "jsonl",
            "--max-tokens",
            1000,
            "--input-format",
            "jsonl",
            "--align",
            "tokens",
            "--keep",
            "none",
            stdin=lines,
        )
    )
    pairs = "".join(json.dumps({"text": e["question"], "text_pair": e["context"]}) + "\n" for e in expected)
    encodings = jsonl(
        deberta(
            "tokenize", "-m", model, "-f", "jsonl", "--input-format", "jsonl", "--pair", "--keep", "none", stdin=pairs
        )
    )
    for answer, row, example in zip(answers, encodings, expected, strict=True):
        write_safetensors(tmp_path / "in", {"input_ids": numpy.array([example["ids"]], numpy.int32)})
        assert (
            deberta(
                "forward", "-m", model, "--ids", tmp_path / "in", "--layers", "none", "-o", tmp_path / "out"
            ).returncode
            == 0
        )
        logits = read_safetensors(tmp_path / "out")["logits"][0]
        assert numpy.abs(logits - numpy.stack([example["start_logits"], example["end_logits"]], 1)).max() < 1e-4
        if row["ids"] != example["ids"]:  # recorded for a truncated context
            continue
        context = [i for i, kind in enumerate(row["type_ids"][:-1]) if kind == 1]
        sums = {(s, e): logits[s, 0] + logits[e, 1] for s in context for e in context if s <= e < s + 15}
        start, end = max(sums, key=sums.get)
        assert answer["answer"] == example["context"][row["offsets"][start][0] : row["offsets"][end][1]], example[
            "question"
        ]
