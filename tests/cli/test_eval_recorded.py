"""eval of the small trained checkpoints of the shared folder gives the recorded figures."""

import json
import lzma

MASKED_PIECES, RIGHT_WITH_DECODER, RIGHT_WITHOUT = 2065, 548, 537  # of nano-emd on the lines below


def evaluation(deberta, *words):
    done = deberta("eval", *words, "-f", "json", "--bootstrap", "100")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_eval_of_sst2_gives_the_recorded_accuracy(deberta, trained, shared, tmp_path):
    model, expected = trained("nano-sst2")
    found = evaluation(
        deberta,
        "--task",
        "sst-2",
        "-m",
        model,
        shared("data/glue/SST-2/dev.tsv.xz"),
        "--write-predictions",
        tmp_path / "answers.tsv",
    )
    assert (found["rows"], found["failed"]) == (expected["rows"], 0)
    assert found["metrics"] == {"accuracy": expected["correct"] / expected["rows"]}
    low, high = found["intervals"]["accuracy"]
    assert low < found["metrics"]["accuracy"] < high
    again = evaluation(
        deberta, "--task", "sst-2", shared("data/glue/SST-2/dev.tsv.xz"), "--predictions", tmp_path / "answers.tsv"
    )
    assert again["metrics"] == found["metrics"] and again["intervals"] == found["intervals"]


def test_eval_of_sick_gives_the_recorded_accuracy(deberta, trained, shared):
    model, expected = trained("nano-sick")
    found = evaluation(deberta, "--task", "sick", "-m", model, shared("data/nli/sick/dev.csv.xz"))
    assert (found["rows"], round(found["metrics"]["accuracy"], 4)) == (expected["rows"], expected["dev_accuracy"])


def test_eval_of_conll_gives_the_recorded_f1(deberta, trained, shared, tmp_path):
    """seqeval gives this figure for the written predictions."""
    model, _ = trained("nano-conll")
    sentences = lzma.open(shared("data/conll2003/valid.txt.xz"), "rt", encoding="utf-8").read().split("\n\n")
    (tmp_path / "valid.txt").write_text("\n\n".join(sentences[:500]) + "\n")
    found = evaluation(deberta, "--task", "ner", "-m", model, tmp_path / "valid.txt")
    assert (found["rows"], found["failed"]) == (479, 0)
    assert abs(found["metrics"]["f1"] - 0.8999407933688574) < 1e-12


def test_eval_of_squad_gives_the_recorded_figures(deberta, trained, shared, tmp_path):
    """Of some questions: all take minutes. The official script (tests/golden/metrics/make.py) gives these figures for
    the written predictions."""
    model, _ = trained("nano-squad")
    document = json.load(lzma.open(shared("data/squad/dev-v1.1.rebuilt.json.xz"), "rt", encoding="utf-8"))
    document["data"] = document["data"][:1]
    document["data"][0]["paragraphs"] = document["data"][0]["paragraphs"][:30]
    (tmp_path / "dev.json").write_text(json.dumps(document))
    found = evaluation(deberta, "--task", "squad", "-m", model, tmp_path / "dev.json")
    assert (found["rows"], found["failed"]) == (106, 0)
    assert abs(found["metrics"]["f1"] - 9.187850481767201) < 1e-9
    assert abs(found["metrics"]["exact_match"] - 400 / 106) < 1e-9


def test_eval_of_masked_words_with_and_without_the_decoder_agrees_with_the_recorded_shares(
    deberta, trained, shared, tmp_path
):
    """accuracy.json was counted on other positions, which it does not name: the shares lie within three standard errors
    of it. Ours are exact."""
    model, _ = trained("nano-emd")
    recorded = json.loads((model / "accuracy.json").read_text())
    with lzma.open(shared("data/corpus/wiki6640.txt.xz"), "rt", encoding="utf-8") as file:
        lines = [line[:400] for line in file.read(3000000).splitlines() if len(line) > 200]
    (tmp_path / "lines.txt").write_text("\n".join(lines[:: len(lines) // 150][:150]) + "\n", encoding="utf-8")
    for decoder, key, right in (
        ("on", "masked_accuracy_with_decoder", RIGHT_WITH_DECODER),
        ("off", "masked_accuracy_plain_head", RIGHT_WITHOUT),
    ):
        metrics = evaluation(deberta, "--task", "mlm", "-m", model, tmp_path / "lines.txt", "--emd", decoder)["metrics"]
        assert (metrics["masked_pieces"], round(metrics["accuracy"] * metrics["masked_pieces"])) == (
            MASKED_PIECES,
            right,
        )
        variance = recorded[key] * (1 - recorded[key])
        assert (
            abs(metrics["accuracy"] - recorded[key])
            < 3 * (variance / recorded["positions"] + variance / MASKED_PIECES) ** 0.5
        )
    assert RIGHT_WITH_DECODER > RIGHT_WITHOUT
