"""deploy/alerts.yml asks only for what the server has: every metric and every label of its expressions."""

import pathlib
import re

import pytest
import yaml

from conftest import ROOT

ALERTS = pathlib.Path(ROOT) / "deploy/alerts.yml"
RULES = [rule for group in yaml.safe_load(ALERTS.read_text())["groups"] for rule in group["rules"]]
TEXT = "a fine film"


@pytest.fixture(scope="module")
def metrics(serve, models):
    """{name: names of its labels} of a server that has answered and refused, with the values of two labels."""
    server = serve("-m", models["labels"])
    server.post("/predict", {"inputs": TEXT})
    server.refused("/predict", {"inputs": 5})
    found = {"up": {"job", "instance"}}  # Prometheus' own
    for line in server.request("GET", "/metrics")[2].splitlines():
        if line.startswith("#"):
            continue
        name, labels = re.fullmatch(r"(\w+)(?:\{(.*)\})? \S+", line).groups()
        found.setdefault(name, {"job", "instance"}).update(re.findall(r'(\w+)="', labels or ""))
    return found


def names_of(expression):
    """What an expression asks for: names that are neither functions nor words of PromQL, nor in braces or a list of
    labels."""
    bare = re.sub(r"\{[^}]*\}|\[[^\]]*\]|\b(?:by|without|on|ignoring)\s*\([^)]*\)", "", expression)
    return set(re.findall(r"[a-zA-Z_]\w*(?!\w*\s*\()", bare)) - {"or", "and", "unless", "by", "sum", "bool"}


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule["alert"])
def test_an_alert_asks_for_metrics_that_there_are(rule, metrics):
    asked = names_of(rule["expr"])
    assert asked and asked <= set(metrics), asked - set(metrics)
    labels = set(re.findall(r"(\w+)\s*=~?", " ".join(re.findall(r"\{([^}]*)\}", rule["expr"]))))
    labels |= {word for words in re.findall(r"by \(([^)]*)\)", rule["expr"]) for word in words.split(", ")}
    labels |= set(re.findall(r"\$labels\.(\w+)", rule["annotations"]["summary"]))
    for label in labels:
        assert any(label in metrics[name] for name in asked), (label, asked)
    assert rule["labels"]["severity"] in ("page", "ticket")


def test_the_reasons_are_those_that_the_server_gives(metrics):
    """interfaces: auth, validation, too_large, overloaded, deadline, cancelled, backend, internal."""
    source = (pathlib.Path(ROOT) / "src/serve/api_error.cpp").read_text()
    reasons = {
        word for rule in RULES for words in re.findall(r'reason=~"([^"]*)"', rule["expr"]) for word in words.split("|")
    }
    assert reasons and all(f'"{reason}"' in source for reason in reasons)


def test_every_alert_has_a_name_of_its_own():
    names = [rule["alert"] for rule in RULES]
    assert len(names) >= 10 and len(names) == len(set(names)) and all(name.startswith("Deberta") for name in names)
