"""`ablate`: a plan of small runs, its table, and what becomes of it when it is broken off."""

import json
import os
import pathlib
import re
import signal
import subprocess
import time

import numpy
import pytest

from conftest import BINARY, HANG_SECONDS, SMALL, log_of, size_of, without_times
from models import ROOT, read_safetensors, write_safetensors

BASE = {
    "config-overrides": SMALL[1],
    "batch-size": 8,
    "max-tokens": 32,
    "learning-rate": 0.003,
    "hold-out-every": 10,
    "logging-steps": 2,
    "max-steps": 4,
    "eval-lines": 20,
}


@pytest.fixture
def plan(tmp_path, tokenizer, corpus, rows, dev_rows):
    """plan(forms, **more) -> the file of a plan; paths in it are relative to its folder."""

    def make(forms, name="plan.json", **more):
        def relative(path):
            return os.path.relpath(path, tmp_path)

        document = {
            "corpora": [relative(corpus)],
            "pretrain": BASE | {"tokenizer-name": relative(tokenizer)},
            "finetune": {"num-train-epochs": 1, "batch-size": 8},
            "tasks": {
                "classification": {
                    "metric": "accuracy",
                    "train-file": relative(rows),
                    "validation-file": relative(dev_rows),
                }
            },
            "seeds": [1, 2],
            "forms": forms,
        } | more
        (tmp_path / name).write_text(json.dumps(document))
        return tmp_path / name

    return make


# by the trainer, which evaluates them too; the engine lacks them
TRAINED_ALONE = ("P2P", "pre-LN", "own decoder layers", "convolution at the input")
TWO = {"full": {}, "no c2p": {"form": "-C2P", "seeds": [2]}}


def results_in(folder):
    return {
        path.stem: without_times(json.loads(path.read_text())) | {"seconds": 0}
        for path in sorted(folder.glob("*.json"))
        if path.name not in ("plan.json", "table.json")
    }


def test_a_plan_is_run_once_and_its_table_is_that_of_its_results(deberta, plan, tmp_path):
    done = deberta("ablate", plan(TWO), "-o", tmp_path / "out", "--results", tmp_path / "kept")
    assert done.returncode == 0, done.stderr
    results = results_in(tmp_path / "out")
    assert sorted(results) == ["full-seed1", "full-seed2", "no-c2p-seed2"] and results == results_in(tmp_path / "kept")
    assert all(
        result["tokens"] == 4 * 8 * 32
        and result["flops"] > 1e6
        and "perplexity" in result["pretraining"]
        and 0 <= result["tasks"]["classification"] <= 1
        for result in results.values()
    )
    assert json.loads((tmp_path / "out/no-c2p-seed2/pretrain/config.json").read_text())["pos_att_type"] in (
        "p2c",
        ["p2c"],
    )
    table = (tmp_path / "out/table.md").read_text()
    values = [results[f"full-seed{seed}"]["pretraining"]["perplexity"] for seed in (1, 2)]
    assert f"{sum(values) / 2:.0f}" in table.splitlines()[2]
    assert " ± " in table.splitlines()[2]
    assert " ± " not in table.splitlines()[3]
    page = (tmp_path / "out/table.html").read_text()
    assert "3 of 3 runs" in page and page.count("<figure>") >= 2
    numbers = json.loads((tmp_path / "out/table.json").read_text())
    at = numbers["columns"].index("perplexity")
    assert [row["form"] for row in numbers["rows"]] == list(TWO)
    assert numbers["rows"][0]["values"][at] == {
        "count": 2,
        "mean": sum(values) / 2,
        "error": pytest.approx(abs(values[0] - values[1]) / 2),
    }
    assert not list((tmp_path / "out").rglob("checkpoint-*"))
    begun = time.monotonic()
    again = deberta("ablate", plan(TWO), "-o", tmp_path / "out")
    assert again.returncode == 0 and "finished" not in again.stderr and (tmp_path / "out/table.md").read_text() == table
    # What is kept elsewhere need not run again: a new folder, and the table is there.
    other = deberta("ablate", plan(TWO), "-o", tmp_path / "other", "--results", tmp_path / "kept")
    assert other.returncode == 0
    assert (tmp_path / "other/table.md").read_text() == table
    assert not list((tmp_path / "other").glob("*/pretrain"))
    assert time.monotonic() - begun < HANG_SECONDS
    # Of a plan with a form more, the table can be had without running it.
    more = deberta(
        "ablate",
        plan(TWO | {"later": {"form": "-EMD", "seeds": [1]}}),
        "-o",
        tmp_path / "more",
        "--results",
        tmp_path / "kept",
        "--tables-only",
    )
    assert more.returncode == 0
    assert "3 of 4 runs" in (tmp_path / "more/table.html").read_text()
    assert not list((tmp_path / "more").glob("*/pretrain"))


def test_a_cell_is_what_its_command_gives(deberta, pretrain, plan, tmp_path):
    assert deberta("ablate", plan({"full": {}}, seeds=[7], tasks={}), "-o", tmp_path / "out").returncode == 0
    assert pretrain(tmp_path / "alone", "--max-steps", "4", "--eval-lines", "20", "--seed", "7").returncode == 0
    assert log_of(tmp_path / "out/full-seed7/pretrain") == log_of(tmp_path / "alone")
    assert (tmp_path / "out/full-seed7/pretrain/model.safetensors").read_bytes() == (
        tmp_path / "alone/model.safetensors"
    ).read_bytes()


def test_replaced_tokens_are_fine_tuned_from_the_discriminator(deberta, plan, tmp_path):
    done = deberta("ablate", plan({"gdes": {"form": "GDES"}}, seeds=[1]), "-o", tmp_path / "out")
    assert done.returncode == 0, done.stderr
    assert {"generator_accuracy", "generator_perplexity"} <= set(
        results_in(tmp_path / "out")["gdes-seed1"]["pretraining"]
    )


def has_come_to(folder, cell, step):
    """Whether a cell has a checkpoint of this step or a later one (only the newest two are kept), or is finished."""
    return (folder / f"{cell}.json").exists() or any(
        int(path.name[-6:]) >= step for path in (folder / cell / "pretrain").glob("checkpoint-??????")
    )


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_a_plan_that_is_broken_off_goes_on(environment, deberta, plan, tmp_path, number):
    slow = {name: dict(form) for name, form in TWO.items()}
    file = plan(slow, pretrain=json.loads(plan(slow).read_text())["pretrain"] | {"max-steps": 60, "save-steps": 5})
    whole = deberta("ablate", file, "-o", tmp_path / "whole")
    assert whole.returncode == 0, whole.stderr
    broken_off = 0
    for cell, step in (("full-seed1", 10), ("full-seed1", 1000), ("full-seed2", 25)):
        if has_come_to(tmp_path / "out", cell, step):  # the signal before came late
            continue
        process = subprocess.Popen(
            [BINARY, "ablate", file, "-o", tmp_path / "out"],
            env=environment,
            stdin=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )
        end = time.monotonic() + HANG_SECONDS
        while not has_come_to(tmp_path / "out", cell, step) and process.poll() is None:
            assert time.monotonic() < end
            time.sleep(0.01)
        process.send_signal(number)
        told = process.communicate()[1]
        assert process.returncode == (130 if number == signal.SIGINT else -number), told
        assert number == signal.SIGKILL or "to continue with what is in" in told
        broken_off += 1
    assert broken_off >= 2
    assert deberta("ablate", file, "-o", tmp_path / "out").returncode == 0
    assert results_in(tmp_path / "out") == results_in(tmp_path / "whole")
    for cell in ("full-seed1", "full-seed2", "no-c2p-seed2"):
        assert log_of(tmp_path / "out" / cell / "pretrain") == log_of(tmp_path / "whole" / cell / "pretrain")


def test_a_full_disk_in_the_middle_leaves_what_is_finished(deberta, plan, disk, tmp_path):
    file = plan({"full": {}, "no c2p": {"form": "-C2P"}}, seeds=[1])
    assert deberta("ablate", file, "-o", tmp_path / "out").returncode == 0
    whole = results_in(tmp_path / "out")
    place = disk(size_of(tmp_path / "out") * 8)
    assert deberta("ablate", plan({"full": {}}, name="one.json", seeds=[1]), "-o", place / "out").returncode == 0
    finished = {
        path: path.read_bytes()
        for path in (place / "out").iterdir()
        if path.is_file() and path.name.startswith("full-")
    }
    for left in (0, 4096, 100_000):  # the options, the log, and the model find no room
        ballast = place / "ballast"
        room = os.statvfs(place)
        ballast.write_bytes(bytes(max(0, room.f_bavail * room.f_frsize - left)))
        done = deberta("ablate", file, "-o", place / "out")
        assert done.returncode == 1 and str(place) in done.stderr, done.stderr
        assert {path: path.read_bytes() for path in finished} == finished
        assert list(results_in(place / "out")) == ["full-seed1"]
        ballast.unlink()
    done = deberta("ablate", file, "-o", place / "out")
    assert done.returncode == 0, done.stderr
    assert results_in(place / "out") == whole


def test_all_that_is_wrong_is_told_before_anything_runs(deberta, plan, tmp_path):
    wrong = plan(
        {
            "full": {"pretrain": {"max-stepz": 3, "learning-rate": "fast", "output-dir": "x"}},
            "b": {"form": "BERTA"},
            "c": {"form": "XLNet"},
        }
    )
    done = deberta("ablate", wrong, "-o", tmp_path / "out")
    assert done.returncode == 2
    assert "expected one of full" in done.stderr
    assert "permutation language modelling" in done.stderr
    assert not (tmp_path / "out").exists()
    wrong = plan({"full": {"pretrain": {"max-stepz": 3, "learning-rate": "fast", "output-dir": "x", "max-time": "8h"}}})
    done = deberta("ablate", wrong, "-o", tmp_path / "out")
    assert done.returncode == 2 and all(
        part in done.stderr
        for part in (
            "max-stepz: unknown option",
            "learning-rate: ",
            "sets this option itself",
            "max-time: expected no limit on time",
        )
    ), done.stderr
    assert not (tmp_path / "out").exists()
    missing = plan(TWO, corpora=["none.txt", "no/more.txt"])
    done = deberta("ablate", missing, "-o", tmp_path / "out")
    assert done.returncode == 1
    assert "none.txt" in done.stderr
    assert "no/more.txt" in done.stderr
    assert not (tmp_path / "out").exists()
    text = plan(TWO).read_text().replace('"no c2p"', '"full"')
    (tmp_path / "twice.json").write_text(text)
    done = deberta("ablate", tmp_path / "twice.json", "-o", tmp_path / "out")
    assert done.returncode != 0 and "full" in done.stderr and not (tmp_path / "out").exists()


def test_options_that_do_not_fit_together_are_told_before_anything_runs(deberta, plan, tmp_path):
    forms = {
        "full": {},
        "heads": {"pretrain": {"config-overrides": "num_attention_heads=3"}},
        "rates": {"form": "ES", "pretrain": {"discriminator-learning-rate": 1e-4}},
        "steps": {"pretrain": {"warmup-steps": 50}},
    }
    done = deberta("ablate", plan(forms, seeds=[1]), "-o", tmp_path / "out")
    assert (
        done.returncode == 2
        and "forms.heads: " in done.stderr
        and "forms.rates: --discriminator-learning-rate: expected --rtd-mode decoupled" in done.stderr
    ), done.stderr
    assert "forms.steps: --warmup-steps: expected steps below the run's 4" in done.stderr
    assert [path.name for path in (tmp_path / "out").iterdir()] == []
    task = json.loads(plan({"full": {}}).read_text())["tasks"]["classification"]
    done = deberta(
        "ablate", plan({"full": {}}, tasks={"classification": task | {"metric": "bleu"}}), "-o", tmp_path / "other"
    )
    assert done.returncode == 2 and "tasks.classification.metric: expected one of accuracy" in done.stderr, done.stderr


def test_a_folder_of_another_plan_is_refused_and_one_with_fewer_forms_goes_on(deberta, plan, tmp_path):
    assert deberta("ablate", plan({"full": {}}, seeds=[1], tasks={}), "-o", tmp_path / "out").returncode == 0
    done = deberta(
        "ablate", plan({"full": {"pretrain": {"max-steps": 6}}}, seeds=[1], tasks={}), "-o", tmp_path / "out"
    )
    assert done.returncode == 2 and "runs of another plan: full-seed1 has other options" in done.stderr
    done = deberta("ablate", plan({"other": {}}, seeds=[1], tasks={}), "-o", tmp_path / "out")
    assert done.returncode == 2 and "full-seed1 is not in this plan" in done.stderr
    done = deberta("ablate", plan({"full": {}, "-emd": {"form": "-EMD"}}, seeds=[1], tasks={}), "-o", tmp_path / "out")
    assert done.returncode == 0 and sorted(results_in(tmp_path / "out")) == ["emd-seed1", "full-seed1"], done.stderr


def test_a_run_that_fails_says_why_and_what_is_finished_stays(environment, plan, tmp_path):
    file = plan({"full": {}, "ended": {"pretrain": {"max-steps": 5000}}}, seeds=[1], tasks={})
    process = subprocess.Popen(
        [BINARY, "ablate", file, "-o", tmp_path / "out"],
        env=environment,
        stdin=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    end = time.monotonic() + HANG_SECONDS
    while not (tmp_path / "out/ended-seed1/pretrain/metrics.jsonl").exists():
        assert time.monotonic() < end and process.poll() is None
        time.sleep(0.01)
    child = int(pathlib.Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()[0])
    os.kill(child, signal.SIGKILL)
    told = process.communicate()[1]
    assert (
        process.returncode == 1 and "ended-seed1/pretrain: its run ended with code 137" in told and "log.txt" in told
    ), told
    assert sorted(results_in(tmp_path / "out")) == ["full-seed1"]
    assert "1 of 2 runs" in (tmp_path / "out/table.html").read_text()


def test_a_plan_of_a_model_fine_tunes_it(deberta, pretrain, plan, tmp_path):
    assert pretrain(tmp_path / "model", "--max-steps", "2").returncode == 0
    file = plan({"plain": {}, "SiFT": {"finetune": {"adversarial": "sift"}}})
    document = {
        key: value for key, value in json.loads(file.read_text()).items() if key not in ("corpora", "pretrain")
    } | {"model": "model", "seeds": [1]}
    file.write_text(json.dumps(document))
    done = deberta("ablate", file, "-o", tmp_path / "out")
    assert done.returncode == 0, done.stderr
    results = results_in(tmp_path / "out")
    assert sorted(results) == ["SiFT-seed1", "plain-seed1"]
    assert all(result["tokens"] == 0 and result["pretraining"] == {} for result in results.values())
    assert "adversarial_loss" in (tmp_path / "out/SiFT-seed1.jsonl").read_text()
    assert "adversarial_loss" not in (tmp_path / "out/plain-seed1.jsonl").read_text()
    document["forms"]["SiFT"]["finetune"] = {"adversariel": "sift"}
    file.write_text(json.dumps(document))
    done = deberta("ablate", file, "-o", tmp_path / "other")
    assert done.returncode == 2 and "forms.SiFT.finetune.adversariel: unknown option of finetune" in done.stderr


def test_a_task_with_folds_has_their_mean_for_each_seed(deberta, plan, rows, dropping_base, tmp_path):
    task = {"metric": "accuracy", "train-file": rows.name, "folds": 2}
    file = plan({"plain": {}}, tasks={"classification": task})
    file.write_text(
        json.dumps(
            {key: value for key, value in json.loads(file.read_text()).items() if key not in ("corpora", "pretrain")}
            | {"model": os.path.relpath(dropping_base, tmp_path)}
        )
    )
    done = deberta("ablate", file, "-o", tmp_path / "out", "--results", tmp_path / "kept")
    assert done.returncode == 0, done.stderr
    results = results_in(tmp_path / "out")
    assert sorted(results) == ["plain-seed1", "plain-seed2"] and results == results_in(tmp_path / "kept")
    for cell, result in results.items():
        folds = [
            json.loads((tmp_path / "out" / cell / f"classification/fold-{number}-of-2/all_results.json").read_text())[
                "eval_accuracy"
            ]
            for number in (1, 2)
        ]
        assert result["tasks"] == {"classification": pytest.approx(sum(folds) / 2)}
        assert len((tmp_path / "out" / cell / "classification/out_of_fold.jsonl").read_text().splitlines()) == 40
        assert log_of(tmp_path / "out" / cell / "classification/fold-1-of-2") == [
            without_times(json.loads(line)) for line in (tmp_path / "kept" / f"{cell}.jsonl").read_text().splitlines()
        ]
    assert not list((tmp_path / "out").rglob("checkpoint-*"))
    other = deberta("ablate", file, "-o", tmp_path / "other", "--results", tmp_path / "kept")
    assert other.returncode == 0
    assert (tmp_path / "other/table.md").read_text() == (tmp_path / "out/table.md").read_text()
    assert not list((tmp_path / "other").glob("*/classification"))
    wrong = plan({"plain": {}}, name="wrong.json", tasks={"classification": task | {"fold": "1/2"}})
    done = deberta("ablate", wrong, "-o", tmp_path / "wrong")
    assert (
        done.returncode == 2
        and 'tasks.classification.fold: expected "folds" of a task instead, which runs every fold' in done.stderr
    ), done.stderr


def expect_refused(done):
    assert (
        done.returncode == 1 and "a form of ablations, which is trained and evaluated but not served" in done.stderr
    ), done.stderr


@pytest.mark.parametrize("form", TRAINED_ALONE)
def test_forms_that_the_engine_lacks_are_evaluated_in_training_and_refused_there(deberta, plan, tmp_path, form):
    done = deberta("ablate", plan({"x": {"form": form}}, seeds=[1]), "-o", tmp_path / "out")
    assert done.returncode == 0, done.stderr
    result = results_in(tmp_path / "out")["x-seed1"]
    assert result["pretraining"]["perplexity"] > 1 and 0 <= result["tasks"]["classification"] <= 1
    expect_refused(deberta("fill", "-m", tmp_path / "out/x-seed1/pretrain", "a [MASK] b"))


def test_dropout_within_the_feed_forward_layer_is_of_training_alone(deberta, plan, tmp_path):
    done = deberta(
        "ablate", plan({"x": {"form": "feed-forward dropout"}, "full": {}}, seeds=[1]), "-o", tmp_path / "out"
    )
    assert done.returncode == 0, done.stderr
    results = results_in(tmp_path / "out")
    assert results["x-seed1"]["pretraining"] != results["full-seed1"]["pretraining"]
    model = tmp_path / "out/x-seed1/pretrain"
    assert json.loads((model / "config.json").read_text())["feed_forward_dropout"] == 0.1
    filled = deberta("fill", "-m", model, "a [MASK] b")
    assert filled.returncode == 0 and filled.stderr == "", filled.stderr


def expect_its_options(model, options):
    """What the options of a run say of the model is in its config.json."""
    config = json.loads((model / "config.json").read_text())
    given = json.loads(options.read_text())["pretrain"]
    for key, text in (pair.split("=") for pair in given["config-overrides"].split(",")):
        want = json.loads(text) if re.fullmatch("true|false|-?[0-9.]+", text) else text
        if key != "num_hidden_layers" or model.name != "generator":
            assert config[key] == want, (model, key)
    if "decoder-passes" in given:
        assert config["mask_decoder_passes"] == given["decoder-passes"], model


def expect_the_trainers_loss(deberta, model, is_trained_alone):
    """The engine's logits have the loss that the trainer computes with the same folder; a form that it lacks is
    refused."""
    random = numpy.random.default_rng(1)
    ids = random.integers(5, 8000, (2, 40))
    labels = numpy.where(random.random((2, 40)) < 0.2, random.integers(5, 8000, (2, 40)), -100)
    write_safetensors(model / "in", {"input_ids": ids})
    write_safetensors(model / "batches", {"0.input_ids": ids, "0.labels": labels})
    done = deberta(
        "forward", "-m", model, "--ids", model / "in", "--layers", "none", "-o", model / "forward.safetensors"
    )
    if is_trained_alone:
        expect_refused(done)
        return
    assert done.returncode == 0, done.stderr
    trained = deberta(
        "replay", "-m", model, "--dtype", "fp32", "--batches", model / "batches", "-o", model / "replay.safetensors"
    )
    assert trained.returncode == 0, trained.stderr
    logits = read_safetensors(model / "forward.safetensors")["logits"][labels >= 0].astype(numpy.float64)
    loss = (numpy.log(numpy.exp(logits).sum(-1)) - logits[numpy.arange(len(logits)), labels[labels >= 0]]).mean()
    assert loss == pytest.approx(read_safetensors(model / "replay.safetensors")["0.loss"].item(), abs=2e-6), model


PLANS = {path.stem: json.loads(path.read_text()) for path in sorted((ROOT / "plans").glob("*.json"))}


SIZES = {"max-train-tokens", "max-steps", "generator-layers"}
LONG = pytest.mark.skipif(
    os.environ.get("DEBERTA_LONG") != "1", reason="takes minutes with the other plans: tools/long_checks plans runs it"
)


def twin_of(name):
    return ROOT / "plans/small" / f"{name}.json"


def forms_of(plan):
    return {
        form: (
            given.get("form"),
            given.get("finetune"),
            {key: value for key, value in given.get("pretrain", {}).items() if key not in SIZES},
        )
        for form, given in plan["forms"].items()
    }


@pytest.mark.parametrize("name", PLANS)
def test_the_small_twin_of_a_plan_has_its_forms(name):
    small = json.loads(twin_of(name).read_text())
    assert forms_of(small) == forms_of(PLANS[name])
    assert small["reference"] == PLANS[name]["reference"]


@pytest.mark.parametrize("name", [name if name == "attention" else pytest.param(name, marks=LONG) for name in PLANS])
def test_the_small_twin_of_a_plan_runs(deberta, tmp_path, name):
    small = json.loads(twin_of(name).read_text())
    done = deberta("ablate", twin_of(name), "-o", tmp_path / "out")
    assert done.returncode == 0, done.stderr
    results = results_in(tmp_path / "out")
    assert len(results) == len(PLANS[name]["forms"])
    for cell, result in results.items():
        folder = tmp_path / "out" / cell
        for model in (folder / "pretrain", folder / "pretrain/generator"):
            if (model / "config.json").exists():
                expect_its_options(model, folder / "pretrain.options.json")
                expect_the_trainers_loss(deberta, model, small["forms"][result["form"]].get("form") in TRAINED_ALONE)


def test_plans_that_share_a_folder_of_results_have_no_two_runs_of_one_name():
    cells = {}
    for name, plan in PLANS.items():
        for form, given in plan["forms"].items():
            common = {key: plan.get(key) for key in ("model", "corpora", "pretrain", "finetune", "tasks")}
            whole = json.dumps(
                [common, {key: value for key, value in given.items() if key not in ("about", "seeds")}], sort_keys=True
            )
            assert cells.setdefault(form.lower(), whole) == whole, (name, form)
