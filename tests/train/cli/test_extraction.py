"""`finetune --task extract`: what each head learns, the folder that it leaves, runs that go on, and what is refused."""

import json
import signal

import pytest

from chosen_call import Call
from conftest import WORDS, assert_same, log_of
from models import make_extractor, make_model, read_safetensors
from task_files import jsonl

ANIMALS, PLACES = WORDS[:6], WORDS[8:14]
LEARN = (
    *("--learning-rate", "0.003", "--warmup-steps", "0", "--lr-scheduler-type", "constant", "--cls-dropout", "0"),
    *("--batch-size", "12", "--max-steps", "250", "--save-steps", "0", "--logging-steps", "50"),
)


@pytest.fixture(scope="module")
def base(tmp_path_factory):
    return make_model(
        tmp_path_factory.mktemp("base"),
        "lm",
        hidden_dropout_prob=0.0,
        attention_probs_dropout_prob=0.0,
        initializer_range=0.2,
    )


def texts():
    """A word of one kind and two of another in each."""
    for number, (animal, place) in enumerate(zip(ANIMALS, PLACES, strict=True)):
        other = PLACES[(number + 1) % len(PLACES)]
        yield f"the {animal} was in {place} {other} .", animal, f"{place} {other}"


def rows():
    for text, animal, place in texts():
        begin, first = text.index(animal), text.index(place)
        yield {
            "text": text,
            "entities": [
                {"start": begin, "end": begin + len(animal), "label": "animal"},
                {"start": first, "end": first + len(place), "label": "place"},
            ],
        }


@pytest.fixture
def train(tmp_path):
    file = tmp_path / "train.jsonl"
    file.write_text(jsonl(*rows()))
    return file


def finetune(deberta, base, file, out, *words, **more):
    return deberta("finetune", "--task", "extract", "-m", base, "--train-file", file, "-o", out, *words, **more)


def found(deberta, model, text, *words):
    done = deberta("extract", "-m", model, "--labels", "animal,place", "-f", "jsonl", *words, text)
    assert done.returncode == 0, done.stderr
    return [(one["entity_group"], one["word"]) for one in json.loads(done.stdout)["entities"]]


@pytest.mark.parametrize("mode", ["markerV0", "marker", "token_level"])
def test_every_head_learns_entities_that_extract_finds(deberta, base, train, tmp_path, mode):
    out = tmp_path / "out"
    done = finetune(deberta, base, train, out, "--span-mode", mode, *LEARN)
    assert done.returncode == 0, done.stderr
    for text, animal, place in texts():
        assert found(deberta, out, text) == [("animal", animal), ("place", place)]
    scored = deberta("eval", "--task", "extract", "-m", out, train, "-f", "json", "--bootstrap", "0")
    assert json.loads(scored.stdout)["metrics"]["f1"] == 1, scored.stderr
    losses = [line["loss"] for line in log_of(out) if "loss" in line]
    assert losses[-1] < 0.25 * losses[0]


def test_the_folder_is_that_of_a_gliner_model(deberta, base, train, tmp_path):
    out = tmp_path / "out"
    words = (
        "--max-steps",
        "1",
        "--max-width",
        "5",
        "--rnn-layers",
        "2",
        "--cls-dropout",
        "0.25",
        "--max-tokens",
        "600",
    )
    done = finetune(deberta, base, train, out, *words)
    assert done.returncode == 0, done.stderr
    assert not (out / "config.json").exists()
    config = json.loads((out / "gliner_config.json").read_text())
    assert (config["span_mode"], config["max_width"], config["num_rnn_layers"]) == ("markerV0", 5, 2)
    assert (config["dropout"], config["hidden_size"], config["model_type"]) == (0.25, 16, "gliner_uni_encoder_span")
    tensors = dict(read_safetensors(out / "model.safetensors"))
    rows_of_words = len(tensors["token_rep_layer.bert_layer.model.embeddings.word_embeddings.weight"])
    assert config["vocab_size"] == config["encoder_config"]["vocab_size"] == rows_of_words
    assert "rnn.lstm.weight_hh_l1_reverse" in tensors and "prompt_rep_layer.3.bias" in tensors
    settings = json.loads((out / "tokenizer_config.json").read_text())
    assert settings["model_max_length"] == 600
    marks = json.loads((out / "added_tokens.json").read_text())
    assert marks["<<ENT>>"] == config["class_token_index"] == marks["<<SEP>>"] - 1
    card = (out / "README.md").read_text()
    assert "library_name: gliner" in card and "extract -m MODEL --labels" in card
    assert 'token "<<ENT>>"' in done.stderr and "new, with random weights: rnn.lstm.weight_ih_l0" in done.stderr


def test_a_gliner_model_is_trained_further(deberta, base, train, tmp_path):
    """It keeps its head, its settings and its tokenizer; what differs is refused."""
    first, out = tmp_path / "first", tmp_path / "out"
    assert finetune(deberta, base, train, first, "--span-mode", "token_level", *LEARN).returncode == 0
    done = finetune(deberta, first, train, out, "--max-steps", "1", "--learning-rate", "0", "--cls-dropout", "0")
    assert done.returncode == 0, done.stderr
    assert "random weights" not in done.stderr
    for name in ("model.safetensors", "tokenizer_config.json", "added_tokens.json", "gliner_config.json"):
        assert (out / name).read_bytes() == (first / name).read_bytes(), name
    for words, message in (
        (("--span-mode", "marker"), "--span-mode: expected token_level, as the GLiNER model to begin with has it"),
        (("--max-width", "3"), "--max-width: expected 12"),
        (("--rnn-layers", "2"), "--rnn-layers: expected 1"),
    ):
        refused = finetune(deberta, first, train, tmp_path / "no", "--max-steps", "1", *words)
        assert refused.returncode == 2 and message in refused.stderr, refused.stderr
    frozen = finetune(deberta, first, train, tmp_path / "frozen", "--max-steps", "2", "--frozen-layers", "2")
    assert frozen.returncode == 0, frozen.stderr
    merged = finetune(deberta, first, train, tmp_path / "lora", "--max-steps", "2", "--lora-rank", "2")
    assert merged.returncode == 0 and found(deberta, tmp_path / "lora", "the cat was in rain .") is not None


def test_a_gliner_model_without_its_marks_is_refused(deberta, train, tmp_path):
    model = make_extractor(tmp_path / "model")
    done = finetune(deberta, model, train, tmp_path / "out", "--max-steps", "1")
    assert done.returncode == 1 and "expected the token <<ENT>> of a GLiNER model that is trained" in done.stderr
    (model / "tokenizer_config.json").unlink()
    done = finetune(deberta, model, train, tmp_path / "out", "--max-steps", "1")
    assert done.returncode == 1 and "expected a tokenizer beside a GLiNER model that is trained" in done.stderr


def test_columns_and_rows_give_the_same_weights(deberta, base, tmp_path):
    """Words with tags, with names for their labels, and the same as GLiNER's rows."""
    sentences = [text.split() for text, _, _ in texts()]
    columns = "".join(
        "".join(
            f"{word} {'B-A' if n == 1 else 'B-P' if n == 4 else 'I-P' if n == 5 else 'O'}\n"
            for n, word in enumerate(words)
        )
        + "\n"
        for words in sentences
    )
    (tmp_path / "train.txt").write_text(columns)
    (tmp_path / "train.jsonl").write_text(
        jsonl(*({"tokenized_text": words, "ner": [[1, 1, "animal"], [4, 5, "place"]]} for words in sentences))
    )
    steps = ("--max-steps", "3", "--batch-size", "4")
    names = ("--label-names", "A=animal,P=place")
    for file, more in (("train.txt", names), ("train.jsonl", ())):
        done = finetune(deberta, base, tmp_path / file, tmp_path / file.split(".")[1], *steps, *more)
        assert done.returncode == 0, done.stderr
    weights = {(tmp_path / folder / "model.safetensors").read_bytes() for folder in ("txt", "jsonl")}
    assert len(weights) == 1


def test_a_run_that_is_broken_off_ends_in_the_same_bits(deberta, deberta_at, base, train, tmp_path):
    words = (
        "--batch-size",
        "4",
        "--save-steps",
        "1",
        "--logging-steps",
        "1",
        "--max-steps",
        "6",
        "--negative-labels",
        "1",
    )
    whole, cut = (tmp_path / name / "out" for name in ("whole", "cut"))  # a model card has the folder's name
    for folder in (whole, cut):
        folder.parent.mkdir()
    assert finetune(deberta, base, train, whole, *words).returncode == 0
    call = Call("rename", "/checkpoint-000004", 1)
    command = ("finetune", "--task", "extract", "-m", base, "--train-file", train, "-o", cut, *words)
    broken = deberta_at(call, signal.SIGKILL, *command)
    assert broken.returncode == -signal.SIGKILL and not (cut / "model.safetensors").exists()
    for changed in (("--negative-labels", "2"), ("--focal-gamma", "1")):
        other = finetune(deberta, base, train, cut, *words, *changed)
        assert other.returncode == 2 and f"{changed[0][2:]}: expected" in other.stderr, other.stderr
    assert finetune(deberta, base, train, cut, *words).returncode == 0
    assert_same(cut, whole)


def test_threads_and_parts_of_a_step_change_nothing(deberta, base, train, tmp_path):
    words = ("--batch-size", "6", "--max-steps", "2", "--cls-dropout", "0.25")
    for name, more in (("one", ("--threads", "1")), ("two", ("--threads", "2"))):
        assert finetune(deberta, base, train, tmp_path / name, *words, *more).returncode == 0
    weights = [(tmp_path / name / "model.safetensors").read_bytes() for name in ("one", "two")]
    assert weights[0] == weights[1]
    done = finetune(deberta, base, train, tmp_path / "parts", *words, "--gradient-accumulation-steps", "3")
    assert done.returncode == 0, done.stderr
    whole = dict(read_safetensors(tmp_path / "one/model.safetensors"))
    for name, array in dict(read_safetensors(tmp_path / "parts/model.safetensors")).items():
        assert abs(array - whole[name]).max() < 1e-4, name


def test_the_best_step_is_chosen_by_the_f1_of_its_entities(deberta, base, train, tmp_path):
    held = tmp_path / "held.jsonl"
    held.write_text(jsonl(*rows(), {"text": "it rained .", "entities": []}))
    out = tmp_path / "out"
    words = ("--validation-file", held, "--batch-size", "3", "--num-train-epochs", "3", "--learning-rate", "0.003")
    done = finetune(deberta, base, train, out, *words)
    assert done.returncode == 0, done.stderr
    assert "examples of the validation file whose texts are trained on as well: 6 of 7" in done.stderr
    assert "warning" not in done.stderr, done.stderr  # the base is a MaskedLM, and what is trained is none
    evaluations = [line for line in log_of(out) if "eval_f1" in line]
    assert len(evaluations) == 3 and {"eval_precision", "eval_recall", "eval_loss"} <= set(evaluations[0])
    figures = json.loads((out / "all_results.json").read_text())
    assert figures["eval_f1"] == max(line["eval_f1"] for line in evaluations)
    scored = deberta("eval", "--task", "extract", "-m", out, held, "-f", "json", "--bootstrap", "0")
    assert json.loads(scored.stdout)["metrics"]["f1"] == figures["eval_f1"]


def test_labels_that_leave_no_room_in_an_evaluation_are_refused_before_the_first_step(deberta, base, train, tmp_path):
    held = tmp_path / "held.jsonl"
    kinds = [f"kind number {n}" for n in range(200)]
    held.write_text(jsonl(*({"text": "cat", "entities": [{"start": 0, "end": 3, "label": kind}]} for kind in kinds)))
    words = ("--validation-file", held, "--max-steps", "1")
    done = finetune(deberta, base, train, tmp_path / "out", *words)
    assert done.returncode == 1 and "labels: expected at most" in done.stderr, done.stderr
    assert not (tmp_path / "out/metrics.jsonl").exists()
    held.write_text(jsonl({"text": "cat", "entities": [], "labels": kinds}))
    done = finetune(deberta, base, train, tmp_path / "out", *words, "--on-bad-row", "fail")
    assert done.returncode == 1 and "held.jsonl:1: labels: expected at most" in done.stderr, done.stderr


def test_labels_of_an_evaluation_may_be_longer_than_those_of_training(deberta, base, train, tmp_path):
    held = tmp_path / "held.jsonl"
    label = "one of a good many words " * 3
    held.write_text(jsonl({"text": "cat", "entities": [{"start": 0, "end": 3, "label": label}]}))
    words = ("--validation-file", held, "--max-steps", "1", "--max-tokens", "40")
    done = finetune(deberta, base, train, tmp_path / "out", *words)
    assert done.returncode == 0, done.stderr
    assert any("eval_loss" in line for line in log_of(tmp_path / "out"))


def test_held_out_rows_are_evaluated(deberta, base, tmp_path):
    file = tmp_path / "many.jsonl"
    file.write_text(jsonl(*rows(), *rows()))
    done = finetune(deberta, base, file, tmp_path / "out", "--validation-split", "0.25", "--max-steps", "1")
    assert done.returncode == 0 and "3 examples are held out" in done.stderr, done.stderr


def test_what_is_not_learned_is_told(deberta, base, tmp_path):
    file = tmp_path / "train.jsonl"
    file.write_text(
        jsonl(
            {"text": "one two three four", "entities": [{"start": 0, "end": 18, "label": "x"}]},
            {"text": "one-two three", "entities": [{"start": 0, "end": 3, "label": "x"}]},
            {"text": "", "entities": []},
            {"text": "one", "entities": [{"start": 0, "end": 3, "label": "x"}]},
        )
    )
    dry = finetune(deberta, base, file, tmp_path / "out", "--max-width", "3", "--max-steps", "1", "--dry-run")
    assert dry.returncode == 0, dry.stderr
    assert "as they have more words than a span: 1\n" in dry.stdout
    assert "as they begin or end within a word: 1\n" in dry.stdout
    assert "examples with an empty text: 1\n" in dry.stdout
    assert "sequence\t[CLS] <<ENT>>" in dry.stdout and "labels\tx\n" in dry.stdout


@pytest.mark.parametrize(
    "words, code, message",
    [
        (("--adversarial", "sift"), 2, "--adversarial: expected a task other than extract"),
        (("--teacher", "BASE"), 2, "--teacher: expected a task other than extract"),
        (("--label-smoothing-factor", "0.1"), 2, "expected 0, as this loss is no cross-entropy"),
        (("--class-weights", "1,2"), 2, "this loss has no classes"),
        (("--pooling", "mean"), 2, "--pooling: expected a task with a head of sequences"),
        (("--lora-rank", "2"), 2, "--lora-rank: expected embeddings that are trained, as the marks of labels are new"),
        (("--frozen-layers", "1"), 2, "--frozen-layers: expected embeddings that are trained"),
        (("--weight-field", "w"), 2, "--weight-field: expected a task whose rows have a class"),
        (("--label-field", "x"), 2, "--label-field: expected none for the task extract"),
        (("--label-names", "PER=person"), 2, "--label-names: expected labels of the files (animal, place), got PER"),
        (("--max-tokens", "16"), 2, "--max-tokens: expected at least"),
        (("--input-format", "csv"), 2, "expected rows in jsonl, or columns of words and tags, got csv"),
        (
            ("--validation-split", ".5", "--group-field", "x"),
            2,
            "--group-field: expected a task whose rows have columns",
        ),
        (("--task", "sst-2", "--span-mode", "marker"), 2, "--span-mode: expected the task extract, got sst-2"),
        (("--task", "sst-2", "--max-labels", "3"), 2, "--max-labels: expected the task extract, got sst-2"),
        (("--task", "sst-2", "--focal-alpha", ".3"), 2, "--focal-alpha: expected the task extract, got sst-2"),
    ],
)
def test_says_what_is_wrong(deberta, base, train, tmp_path, words, code, message):
    words = [str(base) if word == "BASE" else word for word in words]
    task = [] if "--task" in words else ["--task", "extract"]
    done = deberta(
        "finetune", *task, "-m", base, "--train-file", train, "-o", tmp_path / "out", "--max-steps", "1", *words
    )
    assert done.returncode == code and message in done.stderr, done.stderr
    assert not (tmp_path / "out/model.safetensors").exists()


def test_bad_rows_stop_a_run_unless_it_goes_on_without_them(deberta, base, train, tmp_path):
    file = tmp_path / "bad.jsonl"
    file.write_text('{"text": "a", "entities": [{"start": 0, "end": 9, "label": "x"}]}\n' + train.read_text())
    done = finetune(deberta, base, file, tmp_path / "out", "--max-steps", "1", "--on-bad-row", "fail")
    assert done.returncode == 1
    assert "bad.jsonl:1: entities/0: expected a range in a text of 1 characters, got 0 to 9" in done.stderr
    done = finetune(deberta, base, file, tmp_path / "out", "--max-steps", "1", "--on-bad-row", "report")
    assert done.returncode == 0 and "1 bad rows are left out" in done.stderr
