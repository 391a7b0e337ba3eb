"""The models that ship (models/): a verb answers from them with nothing else typed, their cards tell what `eval` tells,
and 16 and 8 bits cost little."""

import json
import os
import re
import shlex

import pytest

from models import ROOT

MODELS = sorted(path.parent.name for path in (ROOT / "models").glob("*/*config.json") if "token" not in path.name)
ASKED = {  # the verb's words, and a word of its answer
    "fill": (["fill", "She looked at [MASK] and smiled ."], "her"),
    "detect": (["detect", "He drank a slowly of water and went to bed ."], "slowly"),
    "sentiment": (["classify", "a gorgeous , witty , seductive movie ."], "positive"),
    "extract": (["extract", "Ada Lovelace was born in London .", "--labels", "person,city"], "London"),
    "entities": (["ner", "Mr Smith flew from London to Germany ."], "London"),
    "entailment": (["nli", "A man is playing a guitar", "A man is playing an instrument"], "entailment"),
}
CARD_ROWS = [
    (name, command, metric, float(value))
    for name in MODELS
    for command, metric, value in re.findall(
        r"^\| `\./run (eval [^`]*)` \| (\w+) \| ([\d.]+) \|$", (ROOT / "models" / name / "README.md").read_text(), re.M
    )
]


def test_their_files_are_small_and_complete():
    assert set(MODELS) == set(ASKED)
    for name in MODELS:
        assert {path.name for path in (ROOT / "models" / name).iterdir()} == {
            "README.md",
            "gliner_config.json" if name == "extract" else "config.json",
            "model.safetensors",
            "spm.model",
            "tokenizer_config.json",
            "special_tokens_map.json",
            "added_tokens.json",
        }
    assert sum(path.stat().st_size for name in MODELS for path in (ROOT / "models" / name).iterdir()) < 72e6


@pytest.mark.parametrize("name", MODELS)
def test_a_verb_answers_with_nothing_else_typed(deberta, name):
    words, expected = ASKED[name]
    done = deberta(*words, cwd="/")
    assert done.returncode == 0 and expected in done.stdout, done
    assert f"using the built-in model builtin:{name}" in done.stderr


def test_the_example_of_replaced_tokens_is_a_fair_one(deberta):
    """The replaced word alone is marked; docs and page have the same sentence, and the card says what is not found."""
    text = ASKED["detect"][0][1]
    for page in ("models/detect.md", "models/detect/README.md", "docs/start/server.md", "src/web/explorer-tasks.js"):
        assert text in (ROOT / page).read_text(), page

    def pieces(text):
        done = deberta("detect", "-m", "builtin:detect", "--format", "jsonl", text)
        return {one["piece"]: one for one in json.loads(done.stdout)["tokens"]}

    found = pieces(text)
    assert [piece for piece, one in found.items() if one["replaced"]] == ["\u2581slowly"]
    assert found["\u2581slowly"]["score"] == pytest.approx(0.96, abs=0.01)
    assert max(one["score"] for piece, one in found.items() if piece != "\u2581slowly") < 0.2
    missed = pieces(text.replace("slowly", "kitchen"))
    assert not any(one["replaced"] for one in missed.values())
    assert missed["\u2581kitchen"]["score"] == pytest.approx(0.22, abs=0.01)
    wrong = pieces("The capital of France is bread .")
    assert wrong["\u2581"]["replaced"] and not wrong["\u2581bread"]["replaced"]
    card = (ROOT / "models/detect/README.md").read_text()
    assert "(.96)" in card and "(.22)" in card and "(.56)" in card and "(.32)" in card


def test_a_text_becomes_a_vector_with_nothing_else_typed(deberta):
    done = deberta("embed", "one text", "--no-header", "--format", "tsv")
    assert done.returncode == 0 and len(done.stdout.split()) == 256 and "builtin:detect" in done.stderr


@pytest.mark.parametrize("name", MODELS)
def test_long_texts_work(deberta, name):
    """A text of some 500 tokens has an answer from every model, as finite as a short one's."""
    words = list(ASKED[name][0])
    words[1] = words[1] + " It was a fine day , and they went to the river ." * 40
    done = deberta(*words, "--format", "json")
    assert done.returncode == 0 and "nan" not in done.stdout.lower() and json.loads(done.stdout)


LONG = pytest.mark.skipif(
    os.environ.get("DEBERTA_LONG") != "1", reason="takes minutes with the others: tools/long_checks models runs it"
)


def marked(rows, is_long):
    """In the gate without those that are long."""
    return [pytest.param(*row, id=f"{row[0]}-{i}", marks=[LONG] if is_long(row) else []) for i, row in enumerate(rows)]


@pytest.mark.parametrize(
    "name, command, metric, value", marked(CARD_ROWS, lambda row: "novels" in row[1] or "wiki" in row[1])
)
def test_cards_tell_what_eval_tells(deberta, shared, name, command, metric, value):
    words = shlex.split(command)
    for word in words:
        if word.startswith("../shared/"):
            shared(word.removeprefix("../shared/"))
    done = deberta(*words, "--bootstrap", 0, "--format", "jsonl", cwd=ROOT)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)["metrics"]
    assert abs(found[metric] - value) < 6e-5, found  # the card has four digits


SHORT = [row for row in CARD_ROWS if row[0] not in ("fill",)]
FIRST = {row[0]: row for row in reversed(SHORT)}  # of each model


@pytest.mark.parametrize("dtype", ["bf16", "int8"])
@pytest.mark.parametrize("name, command, metric, value", marked(SHORT, lambda row: row not in FIRST.values()))
def test_fewer_bits_cost_little(deberta, shared, name, command, metric, value, dtype):
    words = shlex.split(command)
    shared(words[words.index("-m") - 1].removeprefix("../shared/"))
    done = deberta(*words, "--bootstrap", 0, "--format", "jsonl", "--dtype", dtype, "--allow-uncalibrated", cwd=ROOT)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)["metrics"]
    assert found[metric] > value - 0.005, (found, value)
