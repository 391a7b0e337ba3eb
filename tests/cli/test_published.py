"""`eval --published`: results of the papers, with their sources."""

import html.parser
import json

import pytest


def published(deberta, *words):
    done = deberta("eval", "--published", *words, "--format", "jsonl")
    assert done.returncode == 0 and done.stderr == "", done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_every_figure_has_its_source(deberta):
    rows = published(deberta)
    assert len(rows) > 150 and all(row["source"] for row in rows)
    values = {(row["model"], row["task"], row["metric"]): row for row in rows}
    assert values["DeBERTa large (paper)", "mnli", "accuracy"]["value"] == 91.1
    assert values["DeBERTa large (paper)", "mnli", "accuracy"]["source"] == "He et al. 2021 (DeBERTa), Table 1"
    assert values["full", "race", "accuracy"] == {
        "model": "full",
        "task": "race",
        "metric": "accuracy",
        "value": 71.7,
        "source": "He et al. 2021 (DeBERTa), Table 4",
        "note": "base size, Wikipedia and books, a million steps",
        "ablation": True,
        "size": "base",
        "parameters": values["DeBERTa base", "mnli", "accuracy"]["parameters"],
    }
    assert "note" not in values["BERT large", "cola", "matthews_correlation"]


def test_parameters_are_those_with_words(deberta):
    rows = {row["size"]: row["parameters"] for row in published(deberta, "--task", "mnli") if "size" in row}
    sizes = deberta("info", "--sizes", ",".join(rows), "--format", "jsonl").stdout.splitlines()
    for size in map(json.loads, sizes):
        assert rows[size["model"]] == size["parameters"]["words"] + size["parameters"]["backbone"]
    assert round(rows["v3-large"] / 1e6) == 434 and len(rows) == 9


def test_one_task_alone(deberta):
    rows = published(deberta, "--task", "sst2")
    assert {row["task"] for row in rows} == {"sst-2"} and {"BERT large", "DeBERTa v3-large"} < {
        row["model"] for row in rows
    }
    done = deberta("eval", "--published", "--task", "wnli")
    assert done.returncode == 2 and "--task: nothing is published for wnli" in done.stderr
    lines = deberta("eval", "--published", "--task", "mnli-mm", "--format", "tsv").stdout.splitlines()
    assert lines[0] == "model\ttask\tmetric\tvalue\tsource"
    assert "DeBERTa base\tmnli-mm\taccuracy\t88.5\tREADME of microsoft/DeBERTa" in lines


class Texts(html.parser.HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.texts = []
        self.feed(text)

    def handle_data(self, data):
        if data.strip():
            self.texts.append(data.strip())


def test_a_chart_has_bars_of_each_task_and_mnli_against_parameters(deberta, tmp_path):
    file = tmp_path / "results.svg"
    done = deberta("eval", "--published", "--chart", file)
    assert done.returncode == 0, done.stderr
    text = file.read_text()
    assert text.startswith("<svg") and text.count("<title>") > 150
    texts = Texts(text).texts
    for part in (
        "squad2",
        "mnli",
        "MNLI, matched, against the parameters of DeBERTa",
        "version 3",
        "BERT large",
        "-EMD",
    ):
        assert part in texts, part
    assert any("DeBERTa v3-large, matched: 91.8" in part for part in texts)


@pytest.mark.parametrize("words", [["--chart", "x.svg"], ["--task", "mnli", "--chart", "x.svg"]])
def test_a_chart_is_of_published_results(deberta, tmp_path, words):
    done = deberta("eval", *words, cwd=tmp_path)
    assert done.returncode == 2 and "--chart: expected --published as well" in done.stderr
