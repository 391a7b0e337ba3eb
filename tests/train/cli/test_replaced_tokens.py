"""`deberta pretrain --objective rtd`: what it leaves, that a pair goes on after any end, what moves what, and how it
continues from published files."""

import json
import re
import shutil
import signal

import numpy
import pytest

from chosen_call import Call
from conftest import SMALL, log_of, weights_of
from models import make_model, read_safetensors, write_safetensors

PAIRS = [("decoupled", "gdes"), ("decoupled", "nes"), ("joint", "gdes"), ("joint", "nes"), ("joint", "es")]
WORDS = "deberta.embeddings.word_embeddings."
TEXT = "the cat sat on a mat and it rained"


def words_of(pair):
    return ["--objective", "rtd", "--rtd-mode", pair[0], "--embedding-sharing", pair[1]]


@pytest.fixture
def train(pretrain):
    """train(output, pair, words...): of a new pair"""

    def run(output, pair, *words):
        done = pretrain(output, *words_of(pair), *words)
        assert done.returncode == 0 and done.stdout == "", done.stderr
        return done

    return run


@pytest.fixture
def go_on(deberta, corpus, tmp_path):
    """go_on(name, discriminator, words...): a pair that begins with published files"""

    def run(name, discriminator, *words, code=0):
        done = deberta(
            "pretrain", "--objective", "rtd", "-m", discriminator, "-o", tmp_path / name, *SMALL[2:], *words, corpus
        )
        assert done.returncode == code, done.stderr
        return done

    return run


def tensors_of(folder):
    return read_safetensors(folder / "model.safetensors")


def both(folder):
    return weights_of(folder / "generator"), weights_of(folder / "discriminator")


def training_lines(folder):
    return [line for line in log_of(folder) if "loss" in line]


@pytest.fixture(scope="module")
def published(tmp_path_factory):
    """Folders with the tensors of published ones: a discriminator without `_weight`, and a generator of other
    tables."""
    folder = tmp_path_factory.mktemp("published")
    generator = make_model(folder / "generator", "lm", seed=4)
    positions = numpy.random.default_rng(5).standard_normal((512, 16)).astype(numpy.float32)
    write_safetensors(
        generator / "model.safetensors",
        tensors_of(generator) | {"deberta.embeddings.position_embeddings.weight": positions},
    )
    return make_model(folder / "discriminator", "rtd", seed=3), generator


# ---- what a run leaves


def test_a_pair_from_text_answers(train, deberta, corpus, tmp_path):
    done = train(tmp_path / "out", PAIRS[0], "--max-steps", "60")
    assert f"the generator (for fill) and the discriminator (for detect) are in {tmp_path / 'out'}" in done.stderr
    log = training_lines(tmp_path / "out")
    assert log[-1]["generator_loss"] < log[0]["generator_loss"] - 0.5
    assert log[-1]["discriminator_loss"] < log[0]["discriminator_loss"]
    filled = deberta(
        "fill", "-m", tmp_path / "out/generator", "the cat sat on a [MASK] and it rained", "--format", "json"
    )
    assert filled.returncode == 0 and filled.stderr == "", filled.stderr
    detected = deberta("detect", "-m", tmp_path / "out/discriminator", TEXT, "--format", "json")
    assert detected.returncode == 0 and detected.stderr == "", detected.stderr
    for folder in (tmp_path / "out", tmp_path / "out/checkpoint-000060"):
        refused = deberta("detect", "-m", folder, TEXT)
        assert refused.returncode == 1
        assert (
            f"a folder of models: discriminator, generator; give one of them, such as {folder}/discriminator"
            in refused.stderr
        )
    scored = deberta(
        "eval", "--task", "mlm", "-m", tmp_path / "out/generator", "--hold-out-every", "10", "--format", "json", corpus
    )
    said, metrics = json.loads((tmp_path / "out/all_results.json").read_text()), json.loads(scored.stdout)["metrics"]
    assert (said["eval_generator_accuracy"], said["eval_generator_perplexity"]) == (
        metrics["accuracy"],
        metrics["perplexity"],
    )


def test_the_log_tells_of_both_models(train, tmp_path):
    train(tmp_path / "out", PAIRS[0], "--max-steps", "4", "--discriminator-learning-rate", "0.001", "--save-steps", "2")
    line = training_lines(tmp_path / "out")[0]
    assert line["loss"] == pytest.approx(line["generator_loss"] + 10 * line["discriminator_loss"], rel=1e-12)
    assert line["generator_perplexity"] == pytest.approx(numpy.exp(line["generator_loss"]), rel=1e-12)
    assert line["discriminator_learning_rate"] == pytest.approx(line["generator_learning_rate"] / 3, rel=1e-12)
    # 15 % of 32, half to even; all
    assert line["generator_labels_per_step"] == 8 * 5 and line["discriminator_labels_per_step"] == 8 * 32
    assert 0 < line["replaced_share"] < 5 / 32 + 1e-9
    replaced, found = (line["replaced_share"] * 512, line["replaced_share"] * 512 * line["discriminator_recall"])
    wrong = replaced - found + (found / line["discriminator_precision"] - found if found else 0)
    if found:
        assert line["discriminator_accuracy"] == pytest.approx(1 - wrong / 512, rel=1e-9)
    for name in ("generator_grad_norm", "discriminator_grad_norm", "generator_accuracy"):
        assert line[name] >= 0
    tables = [
        tensors_of(tmp_path / "out/checkpoint-000002" / model)[WORDS + "weight"].astype(numpy.float64)
        for model in ("generator", "discriminator")
    ]
    products, norms = (
        (tables[0] * tables[1]).sum(1),
        numpy.linalg.norm(tables[0], axis=1) * numpy.linalg.norm(tables[1], axis=1),
    )
    assert line["table_cosine_words"] == pytest.approx((products[norms > 0] / norms[norms > 0]).mean(), rel=1e-9)


@pytest.mark.parametrize("pair", PAIRS, ids="-".join)
def test_files_hold_the_table_that_is_read_and_the_difference_that_is_trained(train, tmp_path, pair):
    train(tmp_path / "out", pair, "--max-steps", "3")
    assert both(tmp_path / "out") == both(tmp_path / "out/checkpoint-000003")
    generator, discriminator = (tensors_of(tmp_path / "out" / model) for model in ("generator", "discriminator"))
    base, whole = generator[WORDS + "weight"], discriminator[WORDS + "weight"]
    assert (WORDS + "_weight" in discriminator) == (pair[1] == "gdes") and WORDS + "_weight" not in generator
    if pair[1] == "gdes":
        assert numpy.array_equal(whole, base + discriminator[WORDS + "_weight"])
        assert numpy.abs(discriminator[WORDS + "_weight"]).max() > 1e-4
    assert numpy.array_equal(whole, base) == (pair[1] == "es")
    cosine = training_lines(tmp_path / "out")[-1]["table_cosine_words"]
    assert (
        cosine == pytest.approx(1, abs=1e-12)
        if pair[1] == "es"
        else cosine > 0.9
        if pair[1] == "gdes"
        else abs(cosine) < 0.1
    )


@pytest.mark.parametrize("layers, words, expected", [(6, [], 3), (2, [], 2), (2, ["--generator-layers", "4"], 4)])
def test_a_generator_has_half_the_layers_and_at_least_two(
    deberta, tokenizer, corpus, tmp_path, layers, words, expected
):
    shape = f"num_hidden_layers={layers},hidden_size=32,num_attention_heads=2,position_buckets=8"
    done = deberta(
        "pretrain",
        "--objective",
        "rtd",
        "--tokenizer-name",
        tokenizer,
        "-o",
        tmp_path / "out",
        "--config-overrides",
        shape,
        *SMALL[2:],
        *words,
        "--max-steps",
        "1",
        corpus,
    )
    assert done.returncode == 0, done.stderr
    found = [
        json.loads((tmp_path / "out" / model / "config.json").read_text()) for model in ("generator", "discriminator")
    ]
    assert [config["num_hidden_layers"] for config in found] == [expected, layers]
    assert [config["architectures"] for config in found] == [["DebertaV2ForMaskedLM"], ["DebertaV2ForPreTraining"]]


# ---- the same bits

# Without a checkpoint, in the warm-up of the generator, at its end, in a step of the pair, and at the end of the run.
ENDS = [
    (Call("backward", number=5), signal.SIGKILL),
    (Call("write", "/checkpoint-", 3), signal.SIGKILL),
    (Call("rename", "/checkpoint-"), signal.SIGTERM),
    (Call("write", "metrics.jsonl"), signal.SIGKILL),
    (Call("backward", number=9), signal.SIGTERM),
    (Call("backward", number=4), signal.SIGKILL),
    (Call("rename", "/checkpoint-", 2), signal.SIGKILL),
    (Call("write", "/generator/model"), signal.SIGTERM),
    (Call("rename", "/discriminator/model"), signal.SIGKILL),
]


@pytest.mark.parametrize("pair", PAIRS, ids="-".join)
def test_a_pair_that_is_killed_goes_on_with_the_same_bits(train, deberta_at, tokenizer, corpus, tmp_path, pair):
    more = ["--max-steps", "16", "--save-steps", "4", "--generator-warmup", "5"]
    train(tmp_path / "whole", pair, *more)
    words = ["pretrain", "--tokenizer-name", tokenizer, "-o", tmp_path / "out", *SMALL, *words_of(pair), *more, corpus]
    for call, ending in ENDS:
        done = deberta_at(call, ending, *words)
        assert done.returncode == (-ending if ending == signal.SIGKILL else 128 + ending), (call, done.stderr)
    train(tmp_path / "out", pair, *more)
    assert both(tmp_path / "out") == both(tmp_path / "whole") and log_of(tmp_path / "out") == log_of(tmp_path / "whole")
    assert not [path for path in (tmp_path / "out").rglob("*") if ".tmp-" in path.name]


@pytest.mark.parametrize("step", [1, 3, 4])
def test_a_run_goes_on_from_each_side_of_the_end_of_the_warm_up(train, tmp_path, step):
    more = [
        "--max-steps",
        "6",
        "--generator-warmup",
        "3",
        "--save-steps",
        "1",
        "--save-total-limit",
        "9",
        "--eval-steps",
        "0",
    ]
    train(tmp_path / "whole", PAIRS[0], *more)
    shutil.copytree(tmp_path / "whole", tmp_path / "out")
    for later in range(step + 1, 7):
        shutil.rmtree(tmp_path / f"out/checkpoint-{later:06}")
    train(tmp_path / "out", PAIRS[0], *more)
    assert both(tmp_path / "out") == both(tmp_path / "whole") and log_of(tmp_path / "out") == log_of(tmp_path / "whole")


def test_threads_change_no_bit(train, tmp_path):
    for threads in ("1", "3"):
        train(tmp_path / threads, PAIRS[0], "--max-steps", "4", "--threads", threads)
    assert both(tmp_path / "1") == both(tmp_path / "3") and log_of(tmp_path / "1") == log_of(tmp_path / "3")


@pytest.mark.parametrize("pair", PAIRS, ids="-".join)
def test_parts_of_a_step_add_up(train, tmp_path, pair):
    train(tmp_path / "whole", pair, "--max-steps", "2")
    train(tmp_path / "parts", pair, "--max-steps", "2", "--gradient-accumulation-steps", "4")
    whole, parts = training_lines(tmp_path / "whole")[0], training_lines(tmp_path / "parts")[0]
    for name in ("generator_loss", "discriminator_loss", "generator_grad_norm", "discriminator_grad_norm"):
        assert parts[name] == pytest.approx(whole[name], rel=1e-6), name
    assert parts["replaced_share"] == whole["replaced_share"]
    assert parts["discriminator_labels_per_step"] == whole["discriminator_labels_per_step"]


# ---- what moves what


@pytest.mark.parametrize("sharing", ["gdes", "nes", "es"])
def test_only_a_shared_table_lets_the_discriminator_move_the_generator(train, tmp_path, sharing):
    for weight in ("0", "50"):
        train(
            tmp_path / weight, ("joint", sharing), "--rtd-lambda", weight, "--max-steps", "20", "--max-grad-norm", "0"
        )
    (generator, discriminator), (other, other_discriminator) = both(tmp_path / "0"), both(tmp_path / "50")
    assert (generator == other) == (sharing != "es") and discriminator != other_discriminator


def test_the_generator_alone_is_a_language_model_on_the_same_batches(train, pretrain, tmp_path):
    """Until the pair begins nothing of the discriminator moves; then it reads the generator's table as it is by
    then."""
    train(tmp_path / "out", PAIRS[0], "--max-steps", "6", "--generator-warmup", "4", "--save-steps", "4")
    log = training_lines(tmp_path / "out")
    assert ["discriminator_loss" in line for line in log] == [False, False, True]
    assert log[0]["loss"] == log[0]["generator_loss"]
    early, late = (tensors_of(tmp_path / f"out/checkpoint-00000{step}/discriminator") for step in (4, 6))
    assert numpy.abs(early[WORDS + "_weight"]).max() == 0 and numpy.abs(late[WORDS + "_weight"]).max() > 0
    name = "deberta.encoder.layer.0.output.dense.weight"
    assert not numpy.array_equal(early[name], late[name])
    assert numpy.array_equal(early["mask_predictions.LayerNorm.weight"], numpy.ones(32, numpy.float32))


# ---- published files


def logits_of(deberta, folder, tmp_path):
    write_safetensors(
        tmp_path / "ids.safetensors", {"input_ids": numpy.array([[1, 300, 17, 45, 900, 12, 2]], numpy.int64)}
    )
    done = deberta(
        "forward", "-m", folder, "--ids", tmp_path / "ids.safetensors", "-o", tmp_path / "forward.safetensors"
    )
    assert done.returncode == 0, done.stderr
    return read_safetensors(tmp_path / "forward.safetensors")["logits"]


STILL = ["--learning-rate", "0", "--max-steps", "1"]


@pytest.mark.parametrize("sharing", ["gdes", "nes"])
def test_a_discriminator_without_a_difference_goes_on_as_what_it_is(deberta, published, tmp_path, sharing, corpus):
    discriminator, generator = published
    words = [word if word != "0.003" else "0" for word in SMALL[2:]]
    done = deberta(
        "pretrain",
        *words_of(("decoupled", sharing)),
        "-m",
        discriminator,
        "--generator-model",
        generator,
        "-o",
        tmp_path / "out",
        *words,
        "--max-steps",
        "1",
        corpus,
    )
    assert done.returncode == 0, done.stderr
    assert ("first batch" in done.stderr) == (sharing == "gdes")
    before, after = (
        logits_of(deberta, discriminator, tmp_path),
        logits_of(deberta, tmp_path / "out/discriminator", tmp_path),
    )
    assert numpy.abs(before).max() > 0.1 and numpy.abs(after - before).max() <= 1e-5
    tables = {name: tensors_of(folder)[WORDS + "weight"] for name, folder in (("d", discriminator), ("g", generator))}
    if sharing == "gdes":
        assert numpy.array_equal(
            tensors_of(tmp_path / "out/discriminator")[WORDS + "_weight"], tables["d"] - tables["g"]
        )
    assert numpy.array_equal(tensors_of(tmp_path / "out/generator")[WORDS + "weight"], tables["g"])


def test_the_discriminator_waits_with_its_tables_while_the_generator_is_trained(deberta, go_on, published, tmp_path):
    discriminator, generator = published
    go_on(
        "out",
        discriminator,
        "--generator-model",
        generator,
        "--max-steps",
        "5",
        "--generator-warmup",
        "4",
        "--save-steps",
        "4",
        "--warmup-steps",
        "0",
        "--discriminator-learning-rate",
        "1e-12",
    )
    before = logits_of(deberta, discriminator, tmp_path)
    assert not numpy.array_equal(
        tensors_of(tmp_path / "out/checkpoint-000004/generator")[WORDS + "weight"],
        tensors_of(generator)[WORDS + "weight"],
    )
    waiting = tensors_of(tmp_path / "out/checkpoint-000004/discriminator")
    assert WORDS + "_weight" not in waiting
    assert numpy.array_equal(waiting[WORDS + "weight"], tensors_of(discriminator)[WORDS + "weight"])
    assert (
        numpy.abs(logits_of(deberta, tmp_path / "out/checkpoint-000004/discriminator", tmp_path) - before).max() <= 1e-5
    )
    # to the generator of then; its own rate moves nothing
    difference = tensors_of(tmp_path / "out/discriminator")[WORDS + "_weight"]
    then = tensors_of(tmp_path / "out/checkpoint-000004/generator")[WORDS + "weight"]
    assert numpy.abs(difference - (waiting[WORDS + "weight"] - then)).max() < 1e-6


def losses_said(done):
    return [
        float(number)
        for number in re.search(
            r"first batch is (\S+) with its tables, (\S+) with the generator's", done.stderr
        ).groups()
    ]


def test_what_the_difference_is_worth_is_said_before_the_first_step(train, go_on, tmp_path):
    train(tmp_path / "first", ("decoupled", "nes"), "--max-steps", "60")  # whose tables have nothing in common
    done = go_on(
        "second",
        tmp_path / "first/discriminator",
        "--generator-model",
        tmp_path / "first/generator",
        "--max-steps",
        "1",
    )
    own, other = losses_said(done)
    assert own < other and "warning" not in done.stderr
    done = go_on("third", tmp_path / "first/discriminator", "--generator-init", "discriminator", "--max-steps", "1")
    assert "with the generator's tables" in done.stderr
    assert "the generator is new" in done.stderr
    assert "warning" not in done.stderr


def with_tensors(source, target, **changed):
    shutil.copytree(source, target)
    write_safetensors(
        target / "model.safetensors", tensors_of(source) | {WORDS + name: array for name, array in changed.items()}
    )
    return target


def test_a_difference_in_the_file_is_compared(go_on, published, tmp_path):
    discriminator, generator = published
    difference = tensors_of(discriminator)[WORDS + "weight"] - tensors_of(generator)[WORDS + "weight"]
    right = with_tensors(
        discriminator, tmp_path / "right", _weight=difference.astype(numpy.float16).astype(numpy.float32)
    )
    wrong = with_tensors(discriminator, tmp_path / "wrong", _weight=difference + 0.1)
    for model in (right, wrong):
        said = go_on(model.name + "-out", model, "--generator-model", generator, "--max-steps", "1").stderr
        assert ("word_embeddings._weight: expected the discriminator's table less the generator's" in said) == (
            model == wrong
        ), said
    # the tables count
    assert weights_of(tmp_path / "right-out/discriminator") == weights_of(tmp_path / "wrong-out/discriminator")


def test_a_generator_is_made_of_the_discriminator(go_on, published, tmp_path):
    four = make_model(tmp_path / "four", "rtd", seed=3)
    layers = tensors_of(four)
    for name, array in list(layers.items()):
        if ".layer." in name:
            layers[name.replace(".layer.0.", ".layer.2.").replace(".layer.1.", ".layer.3.")] = array + numpy.float32(1)
    write_safetensors(four / "model.safetensors", layers)
    config = json.loads((four / "config.json").read_text())
    (four / "config.json").write_text(json.dumps(config | {"num_hidden_layers": 4}))
    go_on("out", four, "--max-steps", "1")  # whose warm-up begins at a rate of 0
    generator, discriminator = (tensors_of(tmp_path / "out" / model) for model in ("generator", "discriminator"))
    for name, array in generator.items():
        if name.startswith("deberta.") and "position_embeddings" not in name:
            assert numpy.array_equal(array, layers[name.replace(".layer.1.", ".layer.2.")]), name
    assert numpy.abs(discriminator[WORDS + "_weight"]).max() == 0
    assert json.loads((tmp_path / "out/generator/config.json").read_text())["num_hidden_layers"] == 2


def test_one_table_for_both_has_to_be_one_in_the_files(go_on, published, tmp_path):
    discriminator, generator = published
    words = ["--max-steps", "1", "--rtd-mode", "joint", "--embedding-sharing", "es", "--generator-model"]
    done = go_on("out", discriminator, *words, generator, code=2)
    assert "--generator-model: word_embeddings: expected the same numbers in the files of both models" in done.stderr
    same = with_tensors(generator, tmp_path / "same", weight=tensors_of(discriminator)[WORDS + "weight"])
    go_on("out", discriminator, *words, same)


def test_models_that_do_not_fit_are_refused(go_on, published, tmp_path):
    discriminator, generator = published
    table = tensors_of(generator)[WORDS + "weight"]
    more = with_tensors(generator, tmp_path / "more", weight=numpy.concatenate([table, table[:6]]))
    write_safetensors(
        more / "model.safetensors", tensors_of(more) | {"lm_predictions.lm_head.bias": numpy.zeros(1070, numpy.float32)}
    )
    (more / "config.json").write_text(json.dumps(json.loads((more / "config.json").read_text()) | {"vocab_size": 1070}))
    done = go_on("out", discriminator, "--generator-model", more, "--max-steps", "1", code=2)
    assert "vocab_size: expected 1070, whose ids the generator draws, got 1064" in done.stderr
    narrow = make_model(tmp_path / "narrow", "lm", embedding_size=12)
    tensors = tensors_of(narrow)
    head = {
        name: array[..., :12] if array.ndim == 1 and len(array) == 16 else array[:12]
        for name, array in tensors.items()
        if name.startswith("lm_") and len(array) == 16
    }
    table = {
        WORDS + "weight": tensors[WORDS + "weight"][:, :12],
        "deberta.embeddings.embed_proj.weight": tensors["deberta.encoder.layer.0.attention.self.query_proj.weight"][
            :, :12
        ],
    }
    write_safetensors(
        narrow / "model.safetensors",
        {name: numpy.ascontiguousarray(array) for name, array in (tensors | head | table).items()},
    )
    words = ["--generator-model", narrow, "--decoder-passes", "0", "--max-steps", "1"]
    assert (
        "embedding_size: expected 12 as the generator has, got 16; or give each its own embeddings"
        in go_on("out", discriminator, *words, code=2).stderr
    )
    done = go_on("out", discriminator, "--generator-model", tmp_path / "none", "--max-steps", "1", code=1)
    assert "none" in done.stderr


def test_wrong_options_are_refused(pretrain, tmp_path):
    def refused(*words):
        *given, option, message = words
        done = pretrain(tmp_path / "out", "--max-steps", "4", *given)
        assert done.returncode == 2 and option in done.stderr and message in done.stderr, done.stderr

    rtd = ["--objective", "rtd"]
    refused(*rtd, "--embedding-sharing", "es", "--embedding-sharing", "two optimisers cannot move one table")
    refused(
        *rtd,
        "--rtd-mode",
        "joint",
        "--discriminator-learning-rate",
        "1e-3",
        "--discriminator-learning-rate",
        "expected --rtd-mode decoupled",
    )
    refused(*rtd, "--max-gram", "2", "--max-gram", "masks single pieces")
    refused(
        *rtd,
        "--generator-warmup",
        "4",
        "--generator-warmup",
        "expected fewer steps that train only the generator than the run has, 4, got 4",
    )
    refused(
        *rtd,
        "--generator-init",
        "discriminator",
        "--generator-init",
        "expected a discriminator to make the generator from",
    )
    refused(*rtd, "--generator-layers", "1", "--generator-layers", "expected at least 2 for the mask decoder, got 1")
    refused("--rtd-lambda", "50", "--rtd-lambda", "expected --objective rtd")
    refused("--generator-warmup", "2", "--generator-warmup", "expected --objective rtd")
