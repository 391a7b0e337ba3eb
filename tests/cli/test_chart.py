"""`chart`: figures in JSON to a picture that needs nothing else."""

import json
import xml.etree.ElementTree as ElementTree

import pytest

SVG = "{http://www.w3.org/2000/svg}"
CHARTS = {
    "lines": {
        "title": "Loss <of G>",
        "x": {"title": "step", "low": 0, "whole": True},
        "y": {"title": "nats"},
        "series": [{"name": "G", "points": [[0, 4], [1, None], [2, 3]]}],
    },
    "bars": {
        "labels": ["a", "b"],
        "series": [{"name": "one", "values": [1, -2], "targets": [2, None]}, {"name": "two", "values": [3, 4]}],
        "target": "floor",
    },
    "dots": {
        "labels": ["a", "b"],
        "series": [{"values": [[1, 0.5], [2, None]]}],
        "notes": ["1e9", ""],
        "notes_title": "FLOPs",
    },
    "boxes": {"labels": ["head 0"], "series": [{"name": "c2c", "values": [[0, 1, 2, 3, 4]]}]},
    "heat_map": {
        "rows": ["x", "y"],
        "columns": ["a", "b"],
        "values": [[0, 1], [-1, None]],
        "ramp": "diverging",
        "value_title": "score",
    },
    "diagram": {
        "groups": ["library", "program"],
        "boxes": [{"text": "base", "x": 0, "y": 44, "group": 0}, {"text": "cli", "x": 0, "y": 0, "group": 1}],
        "arrows": [{"points": [[50, 30], [50, 44]]}],
    },
}


def texts_of(svg):
    return ["".join(element.itertext()) for element in ElementTree.fromstring(svg).iter(f"{SVG}text")]


@pytest.mark.parametrize("kind", CHARTS)
def test_every_kind_is_drawn(deberta, tmp_path, kind):
    (tmp_path / "c.json").write_text(json.dumps({"kind": kind} | CHARTS[kind]))
    done = deberta("chart", tmp_path / "c.json")
    assert (done.returncode, done.stderr) == (0, "")
    root = ElementTree.fromstring(done.stdout)
    assert root.tag == f"{SVG}svg" and root.attrib["viewBox"] == f"0 0 {root.attrib['width']} {root.attrib['height']}"
    assert "prefers-color-scheme" in root.find(f"{SVG}style").text and "nan" not in done.stdout
    assert deberta("chart", tmp_path / "c.json", "-o", tmp_path / "c.svg").stdout == ""
    assert (tmp_path / "c.svg").read_text() == done.stdout
    assert deberta("chart", "-", stdin=json.dumps({"kind": kind} | CHARTS[kind])).stdout == done.stdout


def test_titles_and_names_are_in_the_picture(deberta):
    texts = texts_of(deberta("chart", "-", stdin=json.dumps({"kind": "lines"} | CHARTS["lines"])).stdout)
    assert {"Loss <of G>", "step", "nats", "G 1 of 3 not finite"} <= set(texts)


def test_several_charts_make_one_picture(deberta):
    charts = [{"kind": kind} | chart for kind, chart in CHARTS.items()]
    done = deberta("chart", "-", stdin=json.dumps({"columns": 2, "charts": charts}))
    assert done.returncode == 0 and "Loss <of G>" in texts_of(done.stdout)
    assert ElementTree.fromstring(done.stdout).attrib["width"] == "1292"


def test_what_is_wrong_has_its_place(deberta, tmp_path):
    bars = {"kind": "bars", "labels": ["a"], "series": [{"values": ["1"]}]}
    done = deberta("chart", "-", "-o", tmp_path / "x.svg", stdin=json.dumps({"charts": [bars]}))
    assert done.returncode == 1
    assert 'standard input: charts[0].series[0].values[0]: expected a number or null, got "1"' in done.stderr
    assert not (tmp_path / "x.svg").exists()
