"""`deberta pretrain`: what it leaves, that a run is a function of its options, that it goes on after any end, and what
it refuses."""

import json
import re
import shutil

import pytest

from conftest import SMALL, log_of, weights_of


def test_a_model_from_text_answers(pretrain, deberta, corpus, tmp_path):
    done = pretrain(tmp_path / "out", "--max-steps", "60")
    assert done.returncode == 0 and done.stdout == "", done.stderr
    assert f"the model is in {tmp_path / 'out'}" in done.stderr
    log = log_of(tmp_path / "out")
    losses = [line["loss"] for line in log if "loss" in line]
    assert losses[-1] < losses[0] - 0.5
    assert [line["step"] for line in log if "loss" in line] == list(range(2, 61, 2))
    filled = deberta("fill", "-m", tmp_path / "out", "the cat sat on a [MASK] and it rained", "--format", "json")
    assert filled.returncode == 0 and filled.stderr == "", filled.stderr  # no note that the mask decoder is missing
    assert len(json.loads(filled.stdout)[0]["masks"][0]["tokens"]) == 5


def test_the_figure_of_a_run_is_that_of_eval(pretrain, deberta, corpus, tmp_path):
    assert pretrain(tmp_path / "out", "--max-steps", "10").returncode == 0
    said = json.loads((tmp_path / "out/all_results.json").read_text())
    scored = deberta(
        "eval", "--task", "mlm", "-m", tmp_path / "out", "--hold-out-every", "10", "--format", "json", corpus
    )
    assert scored.returncode == 0, scored.stderr
    metrics = json.loads(scored.stdout)["metrics"]
    assert (said["eval_accuracy"], said["eval_perplexity"]) == (metrics["accuracy"], metrics["perplexity"])
    assert said["eval_masked_pieces"] == metrics["masked_pieces"]


def test_threads_and_prefetch_change_no_bit(pretrain, tmp_path):
    runs = [("1", "0"), ("2", "4"), ("3", "64")]
    for threads, depth in runs:
        done = pretrain(tmp_path / threads, "--max-steps", "6", "--threads", threads, "--prefetch", depth)
        assert done.returncode == 0, done.stderr
    first = tmp_path / "1"
    for threads, _ in runs[1:]:
        assert weights_of(tmp_path / threads) == weights_of(first)
        assert log_of(tmp_path / threads) == log_of(first)


def test_another_seed_is_another_run(pretrain, tmp_path):
    assert pretrain(tmp_path / "a", "--max-steps", "2").returncode == 0
    assert pretrain(tmp_path / "b", "--max-steps", "2", "--seed", "7").returncode == 0
    assert weights_of(tmp_path / "a") != weights_of(tmp_path / "b")


def test_parts_of_a_step_add_up(pretrain, tmp_path):
    assert pretrain(tmp_path / "whole", "--max-steps", "4").returncode == 0
    assert pretrain(tmp_path / "parts", "--max-steps", "4", "--gradient-accumulation-steps", "4").returncode == 0
    for whole, parts in zip(log_of(tmp_path / "whole"), log_of(tmp_path / "parts")):
        for name in ("loss", "grad_norm"):
            if name in whole:
                assert parts[name] == pytest.approx(whole[name], rel=1e-5)


def test_a_second_run_of_a_finished_one_changes_nothing(pretrain, tmp_path):
    assert pretrain(tmp_path / "out", "--max-steps", "4").returncode == 0
    before, log = weights_of(tmp_path / "out"), log_of(tmp_path / "out")
    assert pretrain(tmp_path / "out", "--max-steps", "4").returncode == 0
    assert weights_of(tmp_path / "out") == before and log_of(tmp_path / "out") == log


def test_a_damaged_checkpoint_is_passed_over_and_said(pretrain, tmp_path):
    assert pretrain(tmp_path / "whole", "--max-steps", "6", "--save-steps", "2").returncode == 0
    shutil.copytree(tmp_path / "whole", tmp_path / "out")
    damaged = tmp_path / "out/checkpoint-000006/model.safetensors"
    damaged.write_bytes(damaged.read_bytes()[:-1] + b"\1")
    done = pretrain(tmp_path / "out", "--max-steps", "6", "--save-steps", "2")
    assert done.returncode == 0
    assert "skipped a damaged checkpoint" in done.stderr
    assert "checkpoint-000004" in done.stderr
    assert weights_of(tmp_path / "out") == weights_of(tmp_path / "whole")


def test_a_dry_run_shows_what_would_be_read_and_writes_nothing(pretrain, tmp_path):
    done = pretrain(tmp_path / "out", "--max-steps", "5", "--dry-run")
    assert done.returncode == 0, done.stderr
    lines = dict(line.split("\t", 1) for line in done.stdout.splitlines() if not line.startswith("sequence\t"))
    assert lines["steps"] == "5" and lines["sequences of the first step"] == "8" and lines["documents"] == "54"
    assert "|" in done.stdout and not (tmp_path / "out").exists()


def test_a_dry_run_shows_what_is_drawn_from_each_corpus_and_the_split_of_masks(deberta, tokenizer, corpus, tmp_path):
    small = tmp_path / "small.txt"
    small.write_text("".join(corpus.read_text().splitlines(keepends=True)[:70]))

    def lines_of(*words):
        done = deberta(
            "pretrain",
            "--tokenizer-name",
            tokenizer,
            *SMALL[:2],
            "--max-tokens",
            "32",
            "--max-steps",
            "5",
            "--batch-size",
            "256",
            "--dry-run",
            *words,
            corpus,
            small,
        )
        assert done.returncode == 0, done.stderr
        return dict(line.split("\t", 1) for line in done.stdout.splitlines() if not line.startswith("sequence\t"))

    def drawn(lines):
        return [
            (float(share), int(tokens), int(documents))
            for share, tokens, documents in (
                re.fullmatch(
                    r"([\d.]+) % of the sequences, of (\d+) tokens in (\d+) documents", lines[f"from {path}"]
                ).groups()
                for path in (corpus, small)
            )
        ]

    lines = lines_of("--source-weights", "1,3", "--source-exponent", "0")
    parts = drawn(lines)
    assert [part[0] for part in parts] == [25, 75]
    assert sum(part[1] for part in parts) == int(lines["corpus tokens"])
    assert sum(part[2] for part in parts) == int(lines["documents"])
    by_size = drawn(lines_of())
    assert by_size[0][0] == pytest.approx(100 * by_size[0][1] / (by_size[0][1] + by_size[1][1]), abs=0.05)
    found, asked = lines["of them"].split("; asked ")
    found = [float(number) for number in re.findall(r"[\d.]+", found)]
    assert asked == "80 %, 10 %, 10 %"
    assert sum(found) == pytest.approx(100, abs=0.1)
    assert found == pytest.approx([80, 10, 10], abs=5)
    predicted, asked = re.fullmatch(
        r"([\d.]+) %; asked ([\d.]+) %", lines_of("--mlm-probability", "0.25")["predicted tokens"]
    ).groups()
    assert asked == "25" and float(predicted) == pytest.approx(25, abs=3)
    assert lines_of("--objective", "rtd")["of them"] == "[MASK] 100 %, kept 0 %, random 0 %; asked 100 %, 0 %, 0 %"
    assert "of them" not in lines_of("--objective", "causal")


def test_weights_of_a_model_are_trained_further(pretrain, deberta, corpus, tmp_path):
    assert pretrain(tmp_path / "first", "--max-steps", "20").returncode == 0
    done = deberta(
        "pretrain",
        "-m",
        tmp_path / "first",
        "-o",
        tmp_path / "second",
        *SMALL[2:],
        "--max-steps",
        "2",
        "--warmup-steps",
        "0",
        corpus,
    )
    assert done.returncode == 0, done.stderr
    assert log_of(tmp_path / "second")[0]["loss"] < log_of(tmp_path / "first")[0]["loss"] - 0.3


def test_a_folder_of_the_original_code_has_no_model_type_and_its_tensors_tell_the_version(
    deberta, tokenizer, corpus, tmp_path
):
    shape = {
        "model_type": "deberta",
        "hidden_size": 32,
        "num_hidden_layers": 2,
        "num_attention_heads": 2,
        "intermediate_size": 48,
        "vocab_size": 1064,
        "max_position_embeddings": 64,
        "relative_attention": True,
        "pos_att_type": "c2p|p2c",
        "position_biased_input": False,
        "type_vocab_size": 0,
    }
    (tmp_path / "v1.json").write_text(json.dumps(shape))

    def train(name, *words):
        done = deberta(
            "pretrain",
            "--tokenizer-name",
            tokenizer,
            "-o",
            tmp_path / name,
            *SMALL[2:],
            "--max-steps",
            "2",
            *words,
            corpus,
        )
        assert done.returncode == 0, done.stderr
        return log_of(tmp_path / name)

    train("first", "--config-name", tmp_path / "v1.json")
    known = train("known", "-m", tmp_path / "first")
    config = json.loads((tmp_path / "first/config.json").read_text())
    del config["model_type"]
    (tmp_path / "first/config.json").write_text(json.dumps(config))
    assert train("found", "-m", tmp_path / "first") == known
    assert weights_of(tmp_path / "found") == weights_of(tmp_path / "known")


def refused(done, code, *words):
    assert done.returncode == code, done.stderr
    for word in words:
        assert word in done.stderr, done.stderr


def test_wrong_options_are_refused(pretrain, deberta, corpus, tokenizer, tmp_path):
    out = tmp_path / "out"
    refused(pretrain(out), 2, "expected one of --max-steps, --max-train-tokens and --num-train-epochs")
    refused(pretrain(out, "--max-steps", "1", "--num-train-epochs", "1"), 2, "expected one of --max-steps")
    refused(pretrain(out, "--max-steps", "1", "--objective", "mml"), 2, "--objective: expected mlm, causal, rtd, got")
    refused(
        pretrain(out, "--max-steps", "1", "--gradient-accumulation-steps", "3"),
        2,
        "--gradient-accumulation-steps",
        "such as 2 or 4, got 3",
    )
    refused(pretrain(out, "--max-steps", "1", "--long-tokens", "48"), 2, "--long-tokens", "such as 32 or 64, got 48")
    refused(pretrain(out, "--max-steps", "1", "--config-name", "v3-bas"), 2, "--config-name", "v3-base")
    refused(pretrain(out, "--max-steps", "1", "--source-weights", "1,2"), 2, "--source-weights", "expected 1 weights")
    refused(deberta("pretrain", "--tokenizer-name", tokenizer, "--max-steps", "1", corpus), 2, "--output-dir")
    refused(deberta("pretrain", "-o", out, "--max-steps", "1", corpus), 2, "--tokenizer-name")
    refused(deberta("pretrain", "-o", out, "--tokenizer-name", tokenizer, "--max-steps", "1"), 2, "expected text files")
    assert not out.exists()


def test_wrong_files_are_refused_and_nothing_is_lost(pretrain, tokenizer, tmp_path):
    out = tmp_path / "out"
    (tmp_path / "empty.txt").write_text("\n\n")
    refused(pretrain(out, "--max-steps", "1", files=[tmp_path / "empty.txt"]), 1, "empty.txt")
    refused(pretrain(out, "--max-steps", "1", files=[tmp_path / "none.txt"]), 1, "none.txt: no such file")
    out.mkdir(exist_ok=True)
    (out / "thesis.txt").write_text("mine")
    refused(pretrain(out, "--max-steps", "1"), 1, "expected a new or empty folder")
    assert (out / "thesis.txt").read_text() == "mine" and len(list(out.iterdir())) == 1


def test_the_folder_of_the_tokens_lies_outside_that_of_the_model(pretrain, tmp_path):
    out, link = tmp_path / "out", tmp_path / "link"
    link.symlink_to(tmp_path)
    for cache in (out, f"{out}/", out / "tokens", link / "out", f"{tmp_path}/./out/../out"):
        refused(
            pretrain(out, "--max-steps", "1", "--cache-dir", cache),
            2,
            "--cache-dir: expected a folder outside that of the model",
        )
        assert not out.exists()
    assert pretrain(out, "--max-steps", "1", "--cache-dir", f"{out}-tokens").returncode == 0
    refused(
        pretrain(out, "--max-steps", "1", "--cache-dir", link / "out"),
        2,
        "--cache-dir: expected a folder outside that of the model",
    )


def test_notes_are_printed_once_by_the_two_programs(pretrain, environment, tmp_path):
    (tmp_path / "settings").write_text(json.dumps({"top-k": 3}))
    environment["DEBERTA_FOO"] = "1"
    notes = pretrain(tmp_path / "out", "--max-steps", "1", "--config", tmp_path / "settings").stderr
    assert notes.count("DEBERTA_FOO is set") == 1 and notes.count("are ignored: top-k") == 1, notes


def test_a_changed_option_is_refused_when_a_run_goes_on(pretrain, deberta, tokenizer, corpus, tmp_path):
    out = tmp_path / "out"
    assert pretrain(out, "--max-steps", "2").returncode == 0
    refused(
        pretrain(out, "--max-steps", "4"), 2, "max-steps: expected 2 as in the run so far, got 4", "--resume-override"
    )
    refused(pretrain(out, "--max-steps", "2", "--resume", "never"), 2, "checkpoint-000002")
    other = [word.replace("layers=2", "layers=3") for word in SMALL]
    shape = deberta("pretrain", "--tokenizer-name", tokenizer, "-o", out, *other, "--max-steps", "2", corpus)
    refused(shape, 2, "configuration: expected what the run began with (SHA-256 ", "...), got another (")
    assert pretrain(out, "--max-steps", "4", "--resume-override", "max-steps").returncode == 0
    assert log_of(out)[-2]["step"] == 4


def test_losses_that_are_not_finite_end_the_run(pretrain, deberta, corpus, tmp_path):
    assert pretrain(tmp_path / "out", "--max-steps", "1").returncode == 0
    weights = tmp_path / "out/model.safetensors"
    content = bytearray(weights.read_bytes())
    content[-4:] = b"\0\0\xc0\x7f"  # a NaN
    weights.write_bytes(content)
    done = deberta("pretrain", "-m", tmp_path / "out", "-o", tmp_path / "bad", *SMALL[2:], "--max-steps", "9", corpus)
    refused(done, 1, "not finite in 5 steps in a row", "the last good checkpoint is none")


def test_the_rate_stays_and_falls_as_it_is_told(pretrain, tmp_path):
    words = ["--max-steps", "10", "--warmup-steps", "2", "--lr-scheduler-type", "warmup_stable_decay"]
    done = pretrain(tmp_path / "out", *words, "--lr-decay-steps", "0.4", "--lr-decay-type", "linear")
    assert done.returncode == 0, done.stderr
    rates = [line["learning_rate"] for line in log_of(tmp_path / "out") if "learning_rate" in line]
    assert rates == pytest.approx([0.0015, 0.003, 0.003, 0.00225, 0.00075])  # of every second step
    for option, value in (("--lr-decay-steps", "3"), ("--lr-decay-type", "linear")):
        done = pretrain(tmp_path / "no", "--max-steps", "10", option, value)
        assert done.returncode == 2
        assert f"{option}: expected --lr-scheduler-type warmup_stable_decay with it, got linear" in done.stderr
