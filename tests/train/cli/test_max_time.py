"""--max-time: a run that ends by the clock leaves a whole model, and goes on as if it had not ended. A time that is
over after the first step makes each such run a step long, on any machine."""

import json

import pytest

from chosen_call import Call
from conftest import SMALL, assert_same, log_of

NO_TIME = ["--max-time", "0.000001s"]
EACH_STEP = ["--save-steps", "1", "--logging-steps", "1"]


@pytest.fixture
def words_of(tokenizer, corpus, dropping_base, rows, dev_rows):
    """words_of(kind) -> the command, without its folder, and its steps"""

    def words(kind):
        if kind == "finetune":
            return [
                "finetune",
                "--task",
                "classification",
                "-m",
                dropping_base,
                "--train-file",
                rows,
                "--validation-file",
                dev_rows,
                "--batch-size",
                "8",
                "--max-steps",
                "5",
                "--eval-steps",
                "2",
                "--learning-rate",
                "0.02",
                "--layer-decay",
                "0.8",
                "--head-learning-rate",
                "0.05",
                "--reinit-layers",
                "1",
                *EACH_STEP,
            ], 5
        more = ["--objective", "rtd", "--generator-warmup", "1"] if kind == "rtd" else ["--ema-decay", "0.9"]
        return [
            "pretrain",
            "--tokenizer-name",
            tokenizer,
            *SMALL[:-2],
            *EACH_STEP,
            "--max-steps",
            "3",
            "--eval-steps",
            "2",
            *more,
            corpus,
        ], 3

    return words


@pytest.mark.parametrize("kind", ["mlm", "rtd", "finetune"])
def test_a_run_in_pieces_of_a_step_leaves_the_bits_of_one_without_a_break(deberta, words_of, tmp_path, kind):
    whole, out = (tmp_path / name / "out" for name in ("whole", "pieces"))  # a model card has the folder's name
    for folder in (whole, out):
        folder.parent.mkdir()
    words, steps = words_of(kind)
    assert deberta(*words, "-o", whole).returncode == 0
    for step in range(1, steps + 1):
        is_last = step == steps
        done = deberta(*words, *([] if is_last else NO_TIME), "-o", out)
        assert done.returncode == 0, done.stderr
        assert (
            f"{step} of {steps} steps" in done.stderr
            and ("the time limit (--max-time) was reached" not in done.stderr) == is_last
        ), done.stderr
        goes_on = "run the same command again to continue from the last checkpoint in that folder" in done.stderr
        assert goes_on != is_last, done.stderr
        assert (out / "LATEST").read_text().strip() == f"checkpoint-{step:06}"
        results = json.loads((out / "all_results.json").read_text())
        assert results["steps"] == step and results.get("out_of_time", False) != is_last
        assert (f"out of time, {step} of {steps} steps" in (out / "run.html").read_text()) != is_last
        model = out / "generator" if kind == "rtd" else out
        assert deberta("check", "-m", model).returncode == 0
    assert_same(out, whole)
    assert "finished, " in (out / "run.html").read_text()
    kinds = [json.loads(line)["kind"] for line in (out / "events.jsonl").read_text().splitlines()]
    assert kinds == ["began", *["out of time", "resumed"] * (steps - 1), "finished"]


def test_the_model_of_a_run_that_time_ended_is_its_best_as_at_any_end(deberta, words_of, tmp_path):
    """Of the last step and those evaluated before: the step itself is evaluated besides, which no log has."""
    words, _ = words_of("finetune")
    out = tmp_path / "out"
    for step in range(1, 4):
        assert deberta(*words, *NO_TIME, "-o", out).returncode == 0
        results = json.loads((out / "all_results.json").read_text())
        best = results.get("best_step", step)
        assert "eval_accuracy" in results and best in ((step,) if step < 3 else (2, 3))
        log = log_of(out)
        assert [line["step"] for line in log if "eval_accuracy" in line] == ([2] if step > 1 else [])
        if best == step:  # by `deberta eval`, as every figure of a run
            scored = deberta(
                "eval", "--task", "classification", "-m", out, tmp_path / "dev.jsonl", "-f", "json", "--bootstrap", "0"
            )
            assert json.loads(scored.stdout)["metrics"]["accuracy"] == results["eval_accuracy"]
        else:
            assert next(line for line in log if "eval_accuracy" in line)["eval_accuracy"] == results["eval_accuracy"]


def test_without_its_checkpoint_it_has_failed(deberta_at, words_of, tmp_path):
    words, _ = words_of("finetune")
    words[words.index("--save-steps") + 1] = "0"
    done = deberta_at(Call("write", "/checkpoint-"), "ENOSPC", *words, *NO_TIME, "-o", tmp_path / "out")
    assert done.returncode == 1 and "No space left on device" in done.stderr, done.stderr
    assert not (tmp_path / "out/model.safetensors").exists()


def test_other_times_are_refused(deberta, words_of, tmp_path):
    words, _ = words_of("mlm")
    done = deberta(*words, "--max-time", "8h30m", "-o", tmp_path / "out")
    assert (
        done.returncode == 2 and '--max-time: expected a time such as 90, 90m, 1.5h or 2d, got "8h30m"' in done.stderr
    ), done.stderr
    assert not (tmp_path / "out").exists()
