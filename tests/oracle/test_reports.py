"""What a run leaves for other programs, read by them: the files for TensorBoard, trainer_state.json by transformers,
the model card by huggingface_hub."""

import json
import os
import signal
import subprocess
import sys

import huggingface_hub
import numpy
import pytest
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
from transformers.trainer_callback import TrainerState

from oracle_runs import BINARY, ROOT

sys.path.insert(0, str(ROOT / "tests/train/cli"))
from chosen_call import Call, build_shim, environment_at
from models import make_model
from small_runs import SMALL, write_corpus

TRAINED = BINARY.resolve().parent / "deberta-train"
pytestmark = pytest.mark.skipif(not TRAINED.exists(), reason="the training half is not built: ./test all builds it")


@pytest.fixture(scope="module")
def train(tmp_path_factory):
    """train(output, call) -> the folder of a run, which is killed at that call."""
    place = tmp_path_factory.mktemp("reports")
    tokenizer, corpus, shim = (
        make_model(place / "tokenizer", "lm", seed=2),
        write_corpus(place / "corpus.txt"),
        build_shim(place),
    )

    def run(name, call=None):
        words = [
            BINARY,
            "pretrain",
            "--tokenizer-name",
            tokenizer,
            "-o",
            place / name,
            *SMALL,
            "--max-steps",
            "60",
            "--eval-steps",
            "20",
            "--save-steps",
            "20",
            corpus,
        ]
        more = environment_at(shim, call, signal.SIGKILL) if call else {}
        done = subprocess.run(
            list(map(str, words)),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            env=os.environ | {"XDG_CACHE_HOME": str(place / "cache")} | more,
            timeout=600,
        )
        assert done.returncode == (-signal.SIGKILL if call else 0), done.stderr
        return place / name

    return run


def log_of(folder):
    """{metric: [(step, value)]} of metrics.jsonl, its whole lines."""
    series = {}
    for line in (folder / "metrics.jsonl").read_text().splitlines(keepends=True):
        if line.endswith("\n"):
            line = json.loads(line)
            for name in line.keys() - {"step", "time"}:
                series.setdefault(name, []).append((line["step"], numpy.float32(line[name])))
    return series


def shown_by_tensorboard(folder):
    accumulator = EventAccumulator(str(folder / "tb"), size_guidance={"scalars": 0})
    accumulator.Reload()
    return {
        tag: [(event.step, numpy.float32(event.value)) for event in accumulator.Scalars(tag)]
        for tag in accumulator.Tags()["scalars"]
    }


def test_tensorboard_shows_the_log_during_a_run_and_after_a_break(train):
    killed = train("out", Call("write", "/tb/", 28))  # behind the head and 26 lines: between the two files
    during = log_of(killed)
    assert [step for step, _ in during["loss"]] == list(range(2, 51, 2))
    for tag, points in shown_by_tensorboard(killed).items():
        assert points == [point for point in during[tag] if point[0] < 50], tag
    done = train("out")
    assert [step for step, _ in log_of(done)["loss"]] == list(range(2, 61, 2))
    assert shown_by_tensorboard(done) == log_of(done)
    subprocess.run([BINARY, "report", done], check=True)
    assert shown_by_tensorboard(done) == log_of(done)


def test_values_that_are_not_finite_arrive(tmp_path):
    (tmp_path / "metrics.jsonl").write_text(
        '{"step": 1, "loss": "NaN", "norm": "-Infinity", "time": 1700000000.5}\n{"step": 2, "loss": 3}\n'
    )
    subprocess.run([BINARY, "report", tmp_path], check=True)
    shown = shown_by_tensorboard(tmp_path)
    assert numpy.isnan(shown["loss"][0][1]) and shown["loss"][1] == (2, 3) and shown["norm"] == [(1, -numpy.inf)]


def test_other_programs_read_state_and_card(train):
    folder = train("out")
    state = TrainerState.load_from_json(str(folder / "trainer_state.json"))
    assert state.global_step == state.max_steps == 60
    assert state.log_history[0]["step"] == 2
    assert state.train_batch_size == 8
    card = huggingface_hub.ModelCard((folder / "README.md").read_text())
    assert card.data.pipeline_tag == "fill-mask" and "deberta" in card.data.tags
    results = {result.metric_type: result.metric_value for result in card.data.eval_results}
    said = json.loads((folder / "all_results.json").read_text())
    assert results == {"accuracy": said["eval_accuracy"], "perplexity": said["eval_perplexity"]}
