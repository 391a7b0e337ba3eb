"""check: every lint says what is wrong and whether --fix repairs it; nothing is left to repair in what --fix writes."""

import json
import shutil

import numpy
import pytest

from conversion_models import contents, make_v1_model, write_bin
from models import TOKENS, make_extractor, make_model, read_safetensors, write_safetensors


def findings(deberta, model, *words):
    done = deberta("check", "-m", model, "-f", "jsonl", *words)
    return done, [json.loads(line) for line in done.stdout.splitlines()]


def set_keys(model, remove=(), **keys):
    config = json.loads((model / "config.json").read_text())
    (model / "config.json").write_text(json.dumps({k: v for k, v in config.items() if k not in remove} | keys))


def find(rows, part):
    found = [row for row in rows if part in row["message"]]
    assert len(found) == 1, (part, rows)
    return found[0]


def tensors_of(model):
    return {name: array.copy() for name, array in read_safetensors(model / "model.safetensors").items()}


@pytest.mark.parametrize(
    "remove, keys, message",
    [
        (["model_type"], {}, "model_type: missing"),
        (["pos_att_type"], {}, "pos_att_type: missing: the original uses c2p, transformers uses no terms"),
        (["architectures"], {}, "architectures: missing"),
        (
            [],
            {"hidden_act": "relu"},
            "pooler_hidden_act: missing: the original uses hidden_act, transformers uses gelu",
        ),
        ([], {"label2id": {"negative": 2}}, "label2id disagrees with id2label"),
        (
            [],
            {"architectures": ["DebertaV2ForTokenClassification"]},
            "architectures names DebertaV2ForTokenClassification",
        ),
    ],
)
def test_keys_that_others_read_otherwise_are_found_and_written(deberta, tmp_path, remove, keys, message):
    model = make_model(tmp_path / "m", "sequence")
    set_keys(model, remove, **keys)
    done, rows = findings(deberta, model)
    row = find(rows, message)
    assert done.returncode == 0 and row["severity"] == "warning" and row["fix"] is True and len(rows) == 1
    assert deberta("check", "-m", model, "--strict").returncode == 1
    done, rows = findings(deberta, model, "--strict", "--fix", tmp_path / "a")
    assert done.returncode == 0 and (tmp_path / "a").is_dir(), done.stderr
    done, rows = findings(deberta, tmp_path / "a", "--strict")
    assert done.returncode == 0 and not rows


def test_two_labels_of_one_name_are_found(deberta, tmp_path):
    model = make_model(tmp_path / "m", "sequence", labels=("good", "bad", "good"))
    done, rows = findings(deberta, model)
    row = find(rows, "id2label: two labels are called good")
    assert done.returncode == 0 and row["severity"] == "warning" and row["fix"] is False


def test_the_fixed_copy_means_what_the_original_means(deberta, tmp_path):
    model = make_model(tmp_path / "m", "sequence")
    set_keys(model, ["pos_att_type", "model_type", "architectures"], hidden_act="relu")
    assert deberta("check", "-m", model, "--fix", tmp_path / "a").returncode == 0
    config = json.loads((tmp_path / "a/config.json").read_text())
    assert (config["pos_att_type"], config["pooler_hidden_act"], config["model_type"]) == ("c2p", "relu", "deberta-v2")
    words = ("--activation", "none", "-f", "jsonl", "one text", "another")
    assert (
        deberta("classify", "-m", model, *words).stdout
        == deberta("classify", "-m", tmp_path / "a", *words).stdout
        != ""
    )


def test_buffers_are_found_and_left_out(deberta, tmp_path):
    model = make_model(tmp_path / "m", "sequence")
    write_safetensors(
        model / "model.safetensors",
        tensors_of(model) | {"deberta.embeddings.position_ids": numpy.arange(8, dtype=numpy.int64)[None]},
    )
    _done, rows = findings(deberta, model)
    assert find(rows, "deberta.embeddings.position_ids: an unused buffer")["fix"] is True
    assert deberta("check", "-m", model, "--fix", tmp_path / "a").returncode == 0
    assert "deberta.embeddings.position_ids" not in read_safetensors(tmp_path / "a/model.safetensors")


def test_the_reach_of_relative_positions_follows_from_the_table(deberta, tmp_path):
    model = make_v1_model(tmp_path / "m", max_relative_positions=512)
    done, rows = findings(deberta, model)
    row = find(rows, "max_relative_positions: expected 32, half the rows of encoder.rel_embeddings.weight, got 512")
    assert done.returncode == 1 and row["severity"] == "error" and row["fix"] is True
    assert deberta("check", "-m", model, "--fix", tmp_path / "a").returncode == 0
    assert json.loads((tmp_path / "a/config.json").read_text())["max_relative_positions"] == 32
    assert findings(deberta, tmp_path / "a", "--strict")[0].returncode == 0


def test_what_needs_a_decision_is_not_fixed(deberta, tmp_path):
    model = make_model(tmp_path / "m", "sequence")
    tensors = tensors_of(model)
    tensors["classifier.bias"][1] = numpy.inf
    tensors["deberta.encoder.layer.0.output.dense.weight"][0, :2] = numpy.nan
    write_safetensors(model / "model.safetensors", tensors)
    set_keys(model, pad_token_id=3, vocab_size=TOKENS)
    done, rows = findings(deberta, model, "--fix", tmp_path / "a")
    assert done.returncode == 1
    assert not (tmp_path / "a").exists()
    assert "not written; 2 errors need a decision" in done.stderr
    assert find(rows, "1 values are NaN or infinite")["where"].endswith("classifier.bias")
    assert find(rows, "2 values are NaN or infinite")["fix"] is False
    assert find(rows, "pad_token_id: expected 0")["severity"] == "warning"


@pytest.mark.parametrize(
    "change, message",
    [
        (lambda t: t.pop("classifier.bias"), "1 tensor missing: classifier.bias"),
        (
            lambda t: t.update({"qa_outputs.weight": numpy.zeros((2, 16), numpy.float32)}),
            "unexpected tensor qa_outputs.weight [2, 16]; the head is sequence",
        ),
        (
            lambda t: t.update({"classifier.bias": numpy.zeros(4, numpy.float32)}),
            "tensor classifier.bias: expected shape [3], got [4]",
        ),
    ],
)
def test_tensors_that_do_not_fit_are_errors(deberta, tmp_path, change, message):
    model = make_model(tmp_path / "m", "sequence")
    tensors = tensors_of(model)
    change(tensors)
    write_safetensors(model / "model.safetensors", tensors)
    done, rows = findings(deberta, model, "--fix", tmp_path / "a")
    assert done.returncode == 1 and find(rows, message)["fix"] is False and not (tmp_path / "a").exists()


def test_a_tensor_that_nothing_reads_is_a_warning_and_changes_no_answer(deberta, tmp_path):
    model = make_model(tmp_path / "m", "sequence")
    expected = deberta("classify", "-m", model, "some text").stdout
    tensors = tensors_of(model)
    tensors["extra"] = numpy.zeros(3, numpy.float32)
    write_safetensors(model / "model.safetensors", tensors)
    done, rows = findings(deberta, model)
    message = "1 tensor that this configuration does not use is not read: extra"
    assert done.returncode == 0 and find(rows, message)["severity"] == "warning"
    answered = deberta("classify", "-m", model, "some text")
    assert answered.stdout == expected and message in answered.stderr


def test_a_warning_of_loading_is_found_where_it_is(deberta, tmp_path):
    model = make_model(tmp_path / "m", "sequence")
    config = (model / "config.json").read_text().rstrip().removesuffix("}")
    (model / "config.json").write_text(
        f'{config}, "vocab_size": 7, "vocab_size": {json.loads(config + "}")["vocab_size"]}}}'
    )
    done, rows = findings(deberta, model)
    found = next(row for row in rows if "vocab_size" in row["message"])
    assert done.returncode == 0 and found["severity"] == "warning" and found["where"] == str(model / "config.json")


def test_a_tokenizer_with_more_tokens_than_the_vocabulary_is_an_error(deberta, tmp_path):
    model = make_model(tmp_path / "m", "sequence")
    tensors = tensors_of(model)
    name = "deberta.embeddings.word_embeddings.weight"
    tensors[name] = tensors[name][:100].copy()
    write_safetensors(model / "model.safetensors", tensors)
    set_keys(model, vocab_size=100)
    done, rows = findings(deberta, model)
    assert done.returncode == 1 and "more than vocab_size 100" in find(rows, "the tokenizer has")["message"]


def test_the_manifest_notices_one_flipped_bit_and_a_lost_or_added_file(deberta, sequence_model, tmp_path):
    model = tmp_path / "m"
    assert deberta("convert", "-m", sequence_model, "--to", model).returncode == 0
    path = model / "model.safetensors"
    data = bytearray(path.read_bytes())
    data[-3] ^= 1
    path.write_bytes(data)
    done, rows = findings(deberta, model, "--fix", tmp_path / "a")
    row = find(rows, "expected the content that deberta.manifest.json names")
    assert done.returncode == 1 and row["where"] == str(path) and row["fix"] is False and not (tmp_path / "a").exists()
    data[-3] ^= 1
    path.write_bytes(data)
    (model / "more.txt").write_text("x")
    assert find(findings(deberta, model)[1], "not in deberta.manifest.json: ")["severity"] == "warning"
    (model / "spm.model").rename(model / "gone")
    done, rows = findings(deberta, model)
    assert done.returncode == 1 and any(row["where"].endswith("spm.model") for row in rows)


@pytest.mark.parametrize(
    "text, message",
    [
        ("{", "not valid JSON"),
        ('{"format": 2, "files": {}}', "format: expected at most 1, got 2"),
        ('{"format": 1, "files": {"../x": {"bytes": 1, "sha256": "0"}}}', "expected the name of a file in the folder"),
        ('{"format": 1, "format": 1, "files": {}}', "appears twice"),
        (" " * (1 << 20) + " ", "at most 1048576 bytes"),
    ],
    ids=["json", "format", "path", "twice", "large"],
)
def test_a_hostile_manifest_is_an_error(deberta, sequence_model, tmp_path, text, message):
    model = shutil.copytree(sequence_model, tmp_path / "m")
    (model / "deberta.manifest.json").write_text(text)
    done, rows = findings(deberta, model)
    assert done.returncode == 1 and find(rows, message)["where"].endswith("deberta.manifest.json")


def test_fix_writes_only_to_a_new_folder(deberta, sequence_model, tmp_path):
    model = shutil.copytree(sequence_model, tmp_path / "m")
    before = contents(model)
    done = deberta("check", "-m", model, "--fix", model)
    assert done.returncode == 2 and "expected a folder outside the model" in done.stderr and contents(model) == before


def test_the_differences_of_two_heads_on_one_encoder_are_told(deberta, sequence_model, tmp_path):
    other = shutil.copytree(sequence_model, tmp_path / "m")
    tensors = tensors_of(other)
    for name in ("classifier.weight", "classifier.bias", "pooler.dense.weight", "pooler.dense.bias"):
        del tensors[name]
    tensors |= {
        "qa_outputs.weight": numpy.zeros((2, 16), numpy.float32),
        "qa_outputs.bias": numpy.zeros(2, numpy.float32),
    }
    write_safetensors(other / "model.safetensors", tensors)
    done = deberta("inspect", "-m", sequence_model, "--diff", other)
    assert "the same encoder; the heads: sequence with 3 labels, span" in done.stderr
    tensors["deberta.embeddings.LayerNorm.bias"][0] += 1
    write_safetensors(other / "model.safetensors", tensors)
    assert (
        "encoders that differ in 1 tensor; the heads"
        in deberta("inspect", "-m", sequence_model, "--diff", other).stderr
    )
    assert "the same encoder and the same head" in deberta("inspect", "-m", other, "--diff", other).stderr


# ---- GLiNER folders


def test_a_gliner_folder_is_checked_and_repaired(deberta, tmp_path):
    model = make_extractor(tmp_path / "m")
    done, rows = findings(deberta, model, "--strict")
    assert done.returncode == 0 and not rows, done.stderr
    write_bin(model / "pytorch_model.bin", read_safetensors(model / "model.safetensors"))
    (model / "model.safetensors").unlink()
    done, rows = findings(deberta, model, "--strict", "-o", tmp_path / "new")
    assert done.returncode == 0 and [row["fix"] for row in rows] == [True] and "a pickle" in rows[0]["message"]
    done, rows = findings(deberta, tmp_path / "new", "--strict")
    assert done.returncode == 0 and not rows
    words = ("--labels", "x", "--threshold", "0", "-f", "jsonl", "Ada was here")
    old, new = (deberta("extract", "-m", folder, *words) for folder in (model, tmp_path / "new"))
    assert old.returncode == 0 and old.stdout == new.stdout


@pytest.mark.parametrize(
    "settings, where, message",
    [
        ({"span_mode": "token_level"}, "", "8 tensors missing: scorer.proj_token.weight"),
        ({"num_rnn_layers": 2}, "", "8 tensors missing: rnn.lstm.weight_ih_l1"),
        ({"max_width": 0}, "gliner_config.json", "max_width: expected an integer from 1 to 4096, got 0"),
        ({"labels_encoder": "a/b"}, "gliner_config.json", "labels_encoder: a bi-encoder"),
        ({"class_token_index": 5, "vocab_size": 929}, "gliner_config.json", "class_token_index"),
    ],
)
def test_mistakes_of_a_gliner_folder_are_found(deberta, tmp_path, settings, where, message):
    model = make_extractor(tmp_path / "m", **settings)
    done, rows = findings(deberta, model, "-o", tmp_path / "new")
    row = find(rows, message)
    assert done.returncode == 1 and row["severity"] == "error" and row["where"].endswith(where)
    assert row["fix"] is False and not (tmp_path / "new").exists()


def test_values_and_files_of_a_gliner_folder_are_checked(deberta, tmp_path):
    model = make_extractor(tmp_path / "m")
    tensors = tensors_of(model)
    tensors["prompt_rep_layer.0.weight"][1, 1] = numpy.nan
    write_safetensors(model / "model.safetensors", tensors)
    done, rows = findings(deberta, model)
    assert done.returncode == 1 and len(rows) == 1 and "1 values are NaN or infinite" in rows[0]["message"]
    (model / "spm.model").unlink()  # its tokenizer is told once, and the values all the same
    done, rows = findings(deberta, model)
    assert len(rows) == 2 and find(rows, "expected a tokenizer file") and find(rows, "NaN or infinite")


def test_a_model_without_a_head_says_what_can_be_done_with_it(deberta, sequence_model, tmp_path):
    model = shutil.copytree(sequence_model, tmp_path / "m")
    write_safetensors(
        model / "model.safetensors", {k: v for k, v in tensors_of(model).items() if k.startswith("deberta.")}
    )
    for verb in ("classify", "ner", "fill", "detect"):
        done = deberta(verb, "-m", model, "[MASK] text")
        assert done.returncode == 1 and "none" in done.stderr and "embed" in done.stderr, (verb, done.stderr)
