"""Weight files as their real writers leave them: torch.save and safetensors of models in wrappers, torch.compile,
transformers with an output table of its own. Each is answered as transformers answers the model that was saved."""

import json
import shutil
import subprocess

import pytest
import torch
import transformers
from safetensors.torch import load_file, save_file

from both_sides import BINARY
from clean_environment import clean_environment
from models import make_model
from test_converted import IDS, our_outputs, run

CLASSES = {
    "sequence": transformers.DebertaV2ForSequenceClassification,
    "lm": transformers.DebertaV2ForMaskedLM,
    "v1": transformers.DebertaForMaskedLM,
}


def config_of(is_v1=False, **more):
    common = {
        "hidden_size": 32,
        "num_hidden_layers": 2,
        "num_attention_heads": 2,
        "intermediate_size": 48,
        "vocab_size": 1000,
        "max_position_embeddings": 64,
        "relative_attention": True,
        "pos_att_type": ["p2c", "c2p"],
        "position_biased_input": False,
        "type_vocab_size": 0,
        "hidden_dropout_prob": 0.0,
        "attention_probs_dropout_prob": 0.0,
    }
    if is_v1:
        return transformers.DebertaConfig(**common | more)
    return transformers.DebertaV2Config(
        **common | {"position_buckets": 16, "norm_rel_ebd": "layer_norm", "share_att_key": True} | more
    )


def saved(folder, head, **more):
    """A model of random weights, and the folder that transformers saved it to, with a tokenizer."""
    torch.manual_seed(len(str(folder)))
    model = CLASSES[head](config_of(head == "v1", **more)).eval()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.copy_(torch.randn_like(parameter) * 0.3)
    if "tie_word_embeddings" not in more and hasattr(model, "tie_weights"):
        model.tie_weights()
    model.save_pretrained(folder)
    tokenizer = make_model(folder.parent / "tokenizer", "lm")
    shutil.copy(tokenizer / "spm.model", folder)
    return model, folder


def run_anyway(*words):
    clean = clean_environment()
    return subprocess.run([BINARY, *map(str, words)], capture_output=True, text=True, env=clean, timeout=300)


def logits_of(model):
    with torch.no_grad():
        return model(
            input_ids=torch.tensor(IDS.astype("int64")), attention_mask=torch.tensor((IDS != 0).astype("int64"))
        ).logits.numpy()


def assert_answers(model, folder, tmp_path):
    ours, theirs = our_outputs(folder, tmp_path)["logits"], logits_of(model)
    rows = ... if theirs.ndim == 2 else IDS != 0
    worst = abs(ours[rows] - theirs[rows]).max()
    assert worst <= 1e-5 * max(1, abs(theirs[rows]).max()), worst


def put(tensors, folder, form):
    (folder / "model.safetensors").unlink()
    tensors = {name: tensor.detach().clone() for name, tensor in tensors.items()}
    if form == "safetensors":
        save_file(tensors, folder / "model.safetensors", metadata={"format": "pt"})
    else:
        torch.save(tensors, folder / "pytorch_model.bin", _use_new_zipfile_serialization=form == "zip")


class Wrapped(torch.nn.Module):
    """As a training framework holds a model."""

    def __init__(self, model):
        super().__init__()
        self.model = model


WRAPPERS = {
    "DataParallel": torch.nn.DataParallel,
    "torch.compile": torch.compile,
    "a module of one's own": Wrapped,
    "DataParallel of torch.compile": lambda model: torch.nn.DataParallel(torch.compile(model)),
}


@pytest.mark.parametrize(
    "wrapper, form",
    [
        *((wrapper, form) for wrapper in list(WRAPPERS)[:3] for form in ("safetensors", "zip", "pickle")),
        (list(WRAPPERS)[3], "zip"),
    ],
)
def test_weights_of_a_model_in_a_wrapper(tmp_path, wrapper, form):
    model, folder = saved(tmp_path / "m", "sequence", num_labels=3)
    tensors = WRAPPERS[wrapper](model).state_dict()
    assert not any(name.startswith("deberta.") for name in tensors)
    put(tensors, folder, form)
    assert_answers(model, folder, tmp_path)


def test_norms_as_they_were_named_in_tensorflow(tmp_path):
    """transformers 4.57 still reads these names."""
    model, folder = saved(tmp_path / "m", "sequence", num_labels=3)
    put(
        {
            name.replace("LayerNorm.weight", "LayerNorm.gamma").replace("LayerNorm.bias", "LayerNorm.beta"): tensor
            for name, tensor in model.state_dict().items()
        },
        folder,
        "zip",
    )
    theirs = CLASSES["sequence"].from_pretrained(folder).eval()
    assert_answers(theirs, folder, tmp_path)
    assert_answers(model, folder, tmp_path)


@pytest.mark.parametrize("head", ["lm", "v1"])
def test_an_output_table_of_its_own(tmp_path, head):
    model, folder = saved(tmp_path / "m", head, tie_word_embeddings=False)
    assert not torch.equal(
        load_file(folder / "model.safetensors")["cls.predictions.decoder.weight"],
        load_file(folder / "model.safetensors")["deberta.embeddings.word_embeddings.weight"],
    )
    assert_answers(CLASSES[head].from_pretrained(folder).eval(), folder, tmp_path)
    assert_answers(model, folder, tmp_path)
    # What convert makes of it has the same answers, here and there.
    run("convert", "-m", folder, "-o", tmp_path / "converted", "--verify")
    theirs, info = CLASSES[head].from_pretrained(tmp_path / "converted", output_loading_info=True)
    assert not any(info[kind] for kind in ("missing_keys", "unexpected_keys", "mismatched_keys")), info
    assert_answers(theirs.eval(), tmp_path / "converted", tmp_path)
    assert_answers(model, tmp_path / "converted", tmp_path)


def test_a_tied_head_of_the_same_model_is_another_model(tmp_path):
    """tie_word_embeddings is true by default, and then transformers takes the word table whatever the file has: a file
    whose two differ is refused."""
    _, folder = saved(tmp_path / "m", "lm", tie_word_embeddings=False)
    config = json.loads((folder / "config.json").read_text())
    del config["tie_word_embeddings"]
    (folder / "config.json").write_text(json.dumps(config))
    done = run_anyway("fill", "-m", folder, "a [MASK] film")
    assert done.returncode == 1
    assert (
        "tensor cls.predictions.decoder.weight: expected the values of embeddings.word_embeddings.weight, got "
        "different ones"
    ) in done.stderr
    tied, folder = saved(tmp_path / "tied", "lm")
    assert_answers(tied, folder, tmp_path)


def test_an_output_table_called_lm_head(tmp_path):
    model, folder = saved(tmp_path / "m", "lm", tie_word_embeddings=False)
    names = {"cls.predictions.decoder.weight": "lm_head.weight", "cls.predictions.bias": "lm_head.bias"}
    put(
        {
            names.get(name, name): tensor
            for name, tensor in model.state_dict().items()
            if name != "cls.predictions.decoder.bias"
        },
        folder,
        "safetensors",
    )
    assert_answers(model, folder, tmp_path)


def test_such_a_model_is_run_and_not_trained(tmp_path):
    _, folder = saved(tmp_path / "m", "lm", tie_word_embeddings=False)
    (tmp_path / "corpus.txt").write_text("a fine film .\n" * 400)
    done = run_anyway(
        "pretrain",
        "-m",
        folder,
        "-o",
        tmp_path / "out",
        "--max-steps",
        "1",
        "--max-tokens",
        "32",
        tmp_path / "corpus.txt",
    )
    assert (
        done.returncode == 1
        and "cls.predictions.decoder.weight: expected a language model whose output table is its word table"
        in done.stderr
    ), done.stderr


def test_a_count_of_labels_that_disagrees_with_the_head(tmp_path):
    _, folder = saved(tmp_path / "m", "sequence", num_labels=3)
    config = json.loads((folder / "config.json").read_text())
    for key in ("id2label", "label2id"):
        config.pop(key, None)
    (folder / "config.json").write_text(json.dumps(config | {"num_labels": 5}))
    for verb in ("check", "classify"):
        done = run_anyway(verb, "-m", folder, *(["a text"] if verb == "classify" else []))
        assert done.returncode == 1 and "expected 5 rows, as num_labels says, got 3" in done.stdout + done.stderr
