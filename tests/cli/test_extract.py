"""`extract`: entities by labels of one's own, from the command line and from rows; windows; redaction and back."""

import json
import re
import shutil

import numpy
import pytest

from letters import LETTERS
from models import make_extractor, read_safetensors

TEXT = "h\u00e9 \U0001f600 Ada Lovelace met state-of-the-art no_1 in London ."
WORD = re.compile(r"\w+(?:[-_]\w+)*|\S")


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    return make_extractor(tmp_path_factory.mktemp("extractor"))


@pytest.fixture
def extract(deberta, model):
    """extract(words..., stdin=...) -> the answers as objects"""

    def run(*words, **more):
        done = deberta("extract", "-m", model, "-f", "jsonl", *words, **more)
        assert done.returncode == 0, done.stderr
        return [json.loads(line) for line in done.stdout.splitlines()]

    return run


def keys(entities):
    return [(entity["entity_group"], entity["start"], entity["end"]) for entity in entities]


def test_entities_are_words_in_every_unit(extract):
    words = ("--labels", "person, place", "--threshold", "0")
    entities = extract(*words, TEXT)[0]["entities"]
    begins, ends = ({found.start() for found in WORD.finditer(TEXT)}, {found.end() for found in WORD.finditer(TEXT)})
    assert entities and {entity["entity_group"] for entity in entities} <= {"person", "place"}
    assert all(entity["start"] in begins and entity["end"] in ends for entity in entities)
    assert all(TEXT[entity["start"] : entity["end"]] == entity["word"] for entity in entities)
    assert all(0 <= entity["score"] <= 1 for entity in entities)
    for unit, encoding in (("bytes", "utf-8"), ("utf16", "utf-16-le")):
        width = 2 if unit == "utf16" else 1
        other = extract(*words, "--offsets", unit, TEXT)[0]["entities"]
        for entity, same in zip(other, entities, strict=True):
            part = TEXT.encode(encoding)[entity["start"] * width : entity["end"] * width]
            assert part.decode(encoding) == entity["word"] == same["word"] and entity["score"] == same["score"]


def test_the_class_of_the_encoder_that_it_was_is_no_mistake(deberta, model, tmp_path):
    folder = shutil.copytree(model, tmp_path / "model")
    config = json.loads((folder / "gliner_config.json").read_text())
    config["encoder_config"]["architectures"] = ["DebertaV2ForMaskedLM"]
    (folder / "gliner_config.json").write_text(json.dumps(config))
    words = ("--labels", "person", "--threshold", "0", TEXT)
    done, plain = (deberta("extract", "-m", m, *words) for m in (folder, model))
    assert (done.returncode, done.stdout, done.stderr) == (0, plain.stdout, plain.stderr)


def test_lines_have_the_columns_of_ner(deberta, model):
    done = deberta("extract", "-m", model, "--labels", "x", "--threshold", "0", "a b")
    head, *lines = [line.split("\t") for line in done.stdout.splitlines()]
    assert head == ["row", "label", "score", "start", "end", "word", "note"]
    assert {line[0] for line in lines} == {"1"} and all(line[1] == "x" for line in lines)


def test_labels_come_from_options_files_sets_and_rows(extract, deberta, model, tmp_path):
    by_option = extract("--labels", "person,place", "--threshold", "0", TEXT)[0]["entities"]
    lines, document = tmp_path / "labels.txt", tmp_path / "labels.json"
    lines.write_text("person\n\nplace\t\n")
    document.write_text('{"person": null, "place": "place"}')
    for words in (("--labels-file", lines), ("--labels-file", document), ("--labels", "person", "--labels", "place")):
        assert extract(*words, "--threshold", "0", TEXT)[0]["entities"] == by_option, words
    # A description is what the model reads, the name what it answers.
    document.write_text('{"NAME": "person", "WHERE": "place"}')
    named = extract("--labels-file", document, "--threshold", "0", TEXT)[0]["entities"]
    renamed = {"person": "NAME", "place": "WHERE"}
    assert named == [entity | {"entity_group": renamed[entity["entity_group"]]} for entity in by_option]
    rows = [
        {"text": TEXT, "labels": ["person", "place"]},
        {"text": TEXT, "labels": {"NAME": "person", "WHERE": "place"}},
        {"text": TEXT, "labels": [{"label": "person", "threshold": 1}, "place"]},
        {"text": TEXT, "labels": []},
        {"text": TEXT},
        {"text": TEXT, "labels": None},
    ]
    source = tmp_path / "rows.jsonl"
    source.write_text("".join(json.dumps(row) + "\n" for row in rows))
    words = ("--labels", "other", "--threshold", "0", "--keep", "none", "-i", source)
    found = [answer["entities"] for answer in extract(*words)]
    assert found[0] == by_option and found[1] == named and found[3] == []
    assert {entity["entity_group"] for entity in found[2]} == {"place"}
    assert found[4] == found[5] == extract("--labels", "other", "--threshold", "0", TEXT)[0]["entities"]
    table = tmp_path / "rows.csv"
    table.write_text(f'text,labels\n"{TEXT}","person,place"\n')
    assert extract("--threshold", "0", "--keep", "none", "-i", table)[0]["entities"] == by_option
    groups = {e["entity_group"] for e in extract("--preset", "pii", "--threshold", "0", TEXT)[0]["entities"]}
    assert groups and all(group == group.upper() for group in groups)
    done = deberta("extract", "-m", model, "-f", "jsonl", "a text")
    assert done.returncode == 1 and "labels: expected labels of entities, got none" in done.stdout
    assert "--labels" in done.stdout + done.stderr


def test_thresholds_are_one_or_by_label(extract):
    words = ("--labels", "person,place", "--multi-label", "--nested", TEXT)
    everything = extract("--threshold", "0", *words)[0]["entities"]
    middle = sorted(entity["score"] for entity in everything)[len(everything) // 2]
    above = extract("--threshold", str(middle), *words)[0]["entities"]
    assert 0 < len(above) < len(everything) and all(entity["score"] > middle for entity in above)
    one = extract("--threshold", "0", "--threshold", "place=1", *words)[0]["entities"]
    assert one and {entity["entity_group"] for entity in one} == {"person"}
    assert one == extract("--threshold", "0,place=1", *words)[0]["entities"]
    default = extract(*words)[0]["entities"]
    assert (
        all(entity["score"] > 0.5 for entity in default)
        and default == extract("--threshold", "0.5", *words)[0]["entities"]
    )


def test_overlaps_are_as_asked(extract):
    def pairs(*more):
        entities = extract("--labels", "a,b,c", "--threshold", "0", *more, TEXT)[0]["entities"]
        spans = [(entity["start"], entity["end"]) for entity in entities]
        return [(one, other) for i, one in enumerate(spans) for other in spans[i + 1 :]]

    def apart(one, other):
        return one[1] <= other[0] or other[1] <= one[0]

    def within(one, other):
        return (one[0] <= other[0] and other[1] <= one[1]) or (other[0] <= one[0] and one[1] <= other[1])

    assert all(apart(*pair) for pair in pairs())
    nested = pairs("--nested")
    assert all(apart(*pair) or within(*pair) for pair in nested) and not all(apart(*pair) for pair in nested)
    assert all(one != other for one, other in nested)
    several = pairs("--multi-label")
    assert all(apart(*pair) or pair[0] == pair[1] for pair in several) and any(one == other for one, other in several)


def test_neighbours_of_one_label_are_joined(extract):
    entities = extract("--labels", "x", "--threshold", "0", "--join", TEXT)[0]["entities"]
    assert keys(entities) == [("x", 0, len(TEXT))]


def test_a_long_text_is_read_to_its_end(extract, deberta, model):
    words = ("--labels", "x", "--threshold", "0", "--max-tokens", "24", "--stride", "6")
    text = " ".join(f"word{n}" for n in range(60))
    answer = extract(*words, text)[0]
    assert "cut_tokens" not in answer and answer["entities"][-1]["end"] == len(text)
    assert extract(*words, "--truncate", "window", text)[0] == answer
    cut = extract(*words, "--truncate", "right", text)[0]
    assert cut["cut_tokens"] > 0 and cut["entities"][-1]["end"] < len(text)
    # What is read is what fits: the same as that text alone.
    alone = extract(*words, text[: cut["entities"][-1]["end"]])[0]
    assert alone["entities"] == cut["entities"]
    done = deberta("extract", "-m", model, *words, "--truncate", "error", "-f", "jsonl", text)
    assert done.returncode == 1 and json.loads(done.stdout)["error"]["code"] == "text-too-long"


# ---- hostile input


def test_more_labels_than_fit_are_refused_with_the_limit(deberta, model, tmp_path):
    (tmp_path / "labels.txt").write_text("".join(f"label number {n}\n" for n in range(10000)))
    done = deberta("extract", "-m", model, "--labels-file", tmp_path / "labels.txt", "-f", "jsonl", "a text")
    assert done.returncode == 1
    assert "expected at most 510 tokens of labels before a text, got " in json.loads(done.stdout)["error"]["message"]


@pytest.mark.parametrize("label", ["[SEP]", "<<ENT>>", "<<SEP>> a", "[CLS][PAD][MASK]", "\x07", "[FLERT]"])
def test_labels_are_text_whatever_they_say(extract, tmp_path, label):
    source = tmp_path / "rows.jsonl"
    source.write_text(json.dumps({"text": TEXT, "labels": [label, "place"]}) + "\n")
    words = ("--threshold", "0", "--multi-label", "--keep", "none", "-i", source)
    entities = extract(*words)[0]["entities"]
    assert {entity["entity_group"] for entity in entities} == {label, "place"}


def test_empty_and_double_labels_are_labels(extract, tmp_path):
    source = tmp_path / "rows.jsonl"
    rows = [{"text": TEXT, "labels": labels} for labels in (["", "place"], ["", "place", "", "place"])]
    source.write_text("".join(json.dumps(row) + "\n" for row in rows))
    one, double = extract("--threshold", "0", "--multi-label", "--keep", "none", "-i", source)
    assert one == double and {entity["entity_group"] for entity in one["entities"]} == {"", "place"}


def test_a_word_of_100000_characters_is_one_word(extract):
    text = "a " + "x" * 100000 + " b"
    answer = extract("--labels", "x", "--threshold", "0", stdin=text + "\n")[0]
    assert answer["cut_tokens"] > 0 and answer["entities"][-1]["end"] == len(text)


def test_control_characters_are_words(extract, tmp_path):
    source = tmp_path / "rows.jsonl"
    source.write_text(json.dumps({"text": "a \x07 b \x00 c"}) + "\n")
    entities = extract("--labels", "x", "--threshold", "0", "--nested", "-i", source)[0]["entities"]
    assert keys(entities)[-1][2] == 9 and ("x", 4, 5) in keys(entities)


# ---- redaction


def test_redacted_texts_are_restored(extract, deberta, model, tmp_path):
    texts = [TEXT, "nobody here", "Ada Lovelace again , and [PERSON_1]", ""]
    place = tmp_path / "map.json"
    source = tmp_path / "rows.jsonl"
    source.write_text("".join(json.dumps({"id": n, "text": text}) + "\n" for n, text in enumerate(texts)))
    words = ("--labels", "person,place name", "--threshold", "0.3")
    found = [answer["entities"] for answer in extract(*words, "-i", source)]
    redacted = tmp_path / "redacted.jsonl"
    extract(*words, "--redact", "--redact-map", place, "-i", source, "-o", redacted)
    answers = [json.loads(line) for line in redacted.read_text().splitlines()]
    stands = json.loads(place.read_text())
    assert stands and all(re.fullmatch(r"\[(PERSON|PLACE_NAME|TEXT)_\d+\]", placeholder) for placeholder in stands)
    for text, entities, answer in zip(texts, found, answers, strict=True):
        covered = [entity["word"] for entity in entities]
        assert set(covered) <= set(stands.values())
        assert answer["id"] == texts.index(text) and (answer["text"] == text) == (not covered and "[" not in text)
    pairs = {(entity["entity_group"], entity["word"]) for row in found for entity in row}
    assert len(pairs) == sum(not placeholder.startswith("[TEXT_") for placeholder in stands)
    done = deberta("extract", "--restore", place, "-i", redacted, "-f", "jsonl")
    assert done.returncode == 0, done.stderr
    assert [json.loads(line)["text"] for line in done.stdout.splitlines()] == texts


@pytest.mark.parametrize(
    "form, words",
    [
        ("jsonl", ("--threshold", "0")),
        ("json", ("--threshold", "0.3")),
        ("csv", ("--threshold", "0.3", "--nested", "--multi-label")),
        ("tsv", ("--threshold", "0.3", "--join", "--max-tokens", "400", "--stride", "16")),
    ],
    ids=["every word", "some words", "overlapping", "windows"],
)
def test_letters_without_their_personal_data_and_back(deberta, model, tmp_path, form, words):
    """What comes back is what was there, byte for byte, whatever the form of the files."""
    source, place = tmp_path / "letters.jsonl", tmp_path / "map.json"
    source.write_text("".join(json.dumps({"text": letter}) + "\n" for letter, _ in LETTERS))
    redacted, restored = tmp_path / f"redacted.{form}", tmp_path / "restored.jsonl"
    words = ("-m", model, "--preset", "pii", *words, "--redact", "--redact-map", place)
    done = deberta("extract", *words, "-i", source, "-o", redacted)
    assert done.returncode == 0, done.stderr
    text = redacted.read_text(encoding="utf-8")
    if "0" in words:  # a threshold that every span exceeds
        assert not [one for _, personal in LETTERS for one in personal if one in text]
    done = deberta("extract", "--restore", place, "-i", redacted, "-o", restored)
    assert done.returncode == 0, done.stderr
    rows = [json.loads(line)["text"] for line in restored.read_text().splitlines()]
    assert rows == [letter for letter, _ in LETTERS] and redacted.read_text(encoding="utf-8") != source.read_text()


def test_redaction_that_could_not_hold_is_refused(deberta, model, tmp_path):
    words = ("extract", "-m", model, "--labels", "x")
    done = deberta(*words, "--redact", "--truncate", "right", "a")
    assert done.returncode == 2 and "--redact: expected --truncate window or error, got right" in done.stderr
    done = deberta(*words, "--redact-map", tmp_path / "map.json", "a")
    assert done.returncode == 2 and "--redact-map: expected --redact as well" in done.stderr
    (tmp_path / "rows.csv").write_text("id,body\n1,Ada\n")
    words = (*words, "--redact", "--input-field", "body", "-i", tmp_path / "rows.csv")
    for keep, got in ((("all", "-f", "csv"), "all in a table"), (("id,body", "-f", "jsonl"), '"body"')):
        done = deberta(*words, "--keep", *keep)
        assert done.returncode == 2 and f"--redact: expected --keep without the texts, got {got}" in done.stderr
        assert "Ada" not in done.stdout
    for keep in (("all", "-f", "jsonl"), ("id", "-f", "csv"), ("none", "-f", "csv")):
        assert deberta(*words, "--keep", *keep).returncode == 0
    (tmp_path / "map.json").write_text('{"[X_1]": 3}')
    done = deberta("extract", "--restore", tmp_path / "map.json", "[X_1]")
    assert done.returncode == 1 and '"[X_1]": expected a text, got 3' in done.stderr


# ---- models


def test_each_kind_of_model_has_its_verbs(deberta, model, sequence_model):
    done = deberta("extract", "-m", sequence_model, "--labels", "x", "a text")
    assert done.returncode == 1 and "expected a GLiNER head, got sequence" in done.stderr
    for verb in ("ner", "classify", "fill"):
        done = deberta(verb, "-m", model, "a text")
        assert done.returncode == 1 and "verbs for this model: extract, embed" in done.stderr, verb
    assert deberta("embed", "-m", model, "-f", "jsonl", "a text").returncode == 0


def test_verbs_about_a_folder_read_one_of_gliner(deberta, model, tmp_path):
    done = deberta("info", "-m", model, "-f", "jsonl")
    facts = json.loads(done.stdout)
    wanted = {"head": "entity-spans", "span_mode": "markerV0", "max_width": 3, "max_len": 384, "num_rnn_layers": 1}
    assert done.returncode == 0 and wanted.items() <= facts.items() and "labels" not in facts
    assert deberta("info", "--sizes", model).returncode == 0
    assert "span_rep_layer" in deberta("inspect", "-m", model).stdout
    done = deberta("forward", "-m", model, "a text", "-o", tmp_path / "states.safetensors")
    assert done.returncode == 0 and "logits" not in done.stderr, done.stderr
    states = read_safetensors(tmp_path / "states.safetensors")
    vectors = json.loads(deberta("embed", "-m", model, "--pooling", "none", "-f", "jsonl", "a text").stdout)
    assert numpy.allclose(states["hidden.2"][0], vectors["token_embeddings"], atol=1e-6)
    done = deberta("bench", "-m", model, "--lengths", "16", "--batch", "1", "--min-time", "0.01")
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    "settings, said",
    [
        ({"labels_encoder": "a/b"}, "labels_encoder: a bi-encoder"),
        ({"span_mode": "markerV1"}, "span_mode: expected one of markerV0, marker, token_level"),
        ({"max_width": 0}, "max_width: expected an integer from 1 to 4096, got 0"),
        ({"hidden_size": 13}, "hidden_size: expected an even number"),
        ({"num_rnn_layers": 2}, "rnn.lstm.weight_ih_l1"),
        ({"encoder_config": None, "model_name": "none/such"}, "base model none/such"),
        ({"class_token_index": 5, "vocab_size": 929}, "class_token_index"),
    ],
)
def test_configurations_that_cannot_be_run_are_named(deberta, tmp_path, settings, said):
    folder = make_extractor(tmp_path / "model", **settings)
    done = deberta("extract", "-m", folder, "--labels", "x", "a text")
    assert done.returncode == 1 and said in done.stderr, done.stderr
