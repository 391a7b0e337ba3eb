"""What `pretrain` says to input that cannot be: the whole message, the exit code, and nothing lost."""

import json
import re
import shutil

from conftest import SMALL, weights_of
from models import ROOT


def notes_of(done):
    return [line for line in done.stderr.splitlines() if not line.startswith(("step ", "{"))]


def test_ids_outside_the_vocabulary_of_the_model(pretrain, deberta, tokenizer, corpus, tmp_path):
    assert pretrain(tmp_path / "model", "--max-steps", "1").returncode == 0
    config = json.loads((tmp_path / "model/config.json").read_text())
    larger = shutil.copytree(tokenizer, tmp_path / "larger")
    (larger / "added_tokens.json").write_text(
        json.dumps({"[MASK]": config["vocab_size"] - 1, "[MORE]": config["vocab_size"]})
    )
    before = weights_of(tmp_path / "model")
    (tmp_path / "model/spm.model").unlink()  # nothing to compare the pieces with
    done = deberta(
        "pretrain",
        "-m",
        tmp_path / "model",
        "--tokenizer-name",
        larger,
        "-o",
        tmp_path / "out",
        *SMALL[2:],
        "--max-steps",
        "1",
        corpus,
    )
    size = config["vocab_size"]
    assert (done.returncode, done.stdout) == (1, "")
    assert len(notes_of(done)) == 2 and "since no tokenizer can be read there" in notes_of(done)[0], done.stderr
    assert notes_of(done)[1:] == [
        f"{larger}: expected a tokenizer of at most {size} ids, the vocabulary of the model, got {size + 1}"
    ]
    assert weights_of(tmp_path / "model") == before and not (tmp_path / "out").exists()


def test_a_damaged_token_cache_is_made_again_and_said(pretrain, environment, tmp_path):
    assert pretrain(tmp_path / "whole", "--max-steps", "3").returncode == 0
    caches = [path for path in (tmp_path / "cache/deberta/tokens").iterdir() if path.is_file()]
    assert len(caches) == 1
    content = bytearray(caches[0].read_bytes())
    whole = bytes(content)
    content[len(content) // 2] ^= 1
    caches[0].write_bytes(content)
    done = pretrain(tmp_path / "out", "--max-steps", "3")
    assert done.returncode == 0, done.stderr
    assert any(str(caches[0]) in line and "again" in line for line in notes_of(done)), done.stderr
    assert caches[0].read_bytes() == whole and weights_of(tmp_path / "out") == weights_of(tmp_path / "whole")


def test_an_empty_corpus(pretrain, tmp_path):
    (tmp_path / "empty.txt").write_text("\n\n")
    done = pretrain(tmp_path / "out", "--max-steps", "1", files=[tmp_path / "empty.txt"])
    assert done.returncode == 1 and not (tmp_path / "out").exists()
    assert notes_of(done) == [f"{tmp_path}/empty.txt: the corpus is empty: expected text in 1 files, got none"]


def test_options_of_other_trainers_are_answered_and_those_that_mean_the_same_are_taken(deberta, tmp_path):
    source = (ROOT / "src/options/other_trainers.cpp").read_text()
    page = (ROOT / "docs/reference/other-trainers.md").read_text()
    for names in re.findall(r'OtherTrainersOption\{"([^"]+)"', source):
        assert all(f"`--{name}`" in page for name in names.split()), names
    for words in (
        ["--do_train"],
        ["--do-train"],
        ["--evaluation_strategy", "epoch"],
        ["--fp16", "True"],
        ["--overwrite_output_dir"],
    ):
        done = deberta("finetune", "--task", "rte", *words)
        assert done.returncode == 2 and re.search(
            rf"finetune has no option {words[0].replace('_', '-')}: [a-z`-]", done.stderr
        ), done.stderr
    (tmp_path / "run.json").write_text('{"do_train": true}')
    done = deberta("finetune", "--config", tmp_path / "run.json", "--task", "rte")
    assert done.returncode == 2 and "finetune has no option do-train: leave it out: the verb trains" in done.stderr, (
        done.stderr
    )
    done = deberta(
        "finetune",
        "--task_name",
        "rte",
        "--init_model",
        tmp_path / "none",
        "--train_batch_size",
        "8",
        "--accumulative_update",
        "2",
        "--cls_drop_out",
        "0.1",
        "--lr_schedule",
        "warmup_linear",
        "--warmup",
        "0.1",
        "--dump",
        "100",
        "--train_file",
        "x",
        "--output_dir",
        tmp_path / "out",
    )
    assert done.returncode == 1 and "none: no such model directory" in done.stderr, done.stderr
