"""Folders of sentence-transformers from outside: what embed does with them and says about it, that other verbs work,
what check finds."""

import json
import shutil

import numpy
import pytest

from models import make_model, write_safetensors

TEXT = "some text of a few words"


def make_folder(folder, modules=("Pooling",), transformer="", **pooling):
    """A folder with these modules after the transformer; `pooling` holds the pooling keys that are true."""
    make_model(folder / transformer, "sequence")
    kinds = [("Transformer", transformer)] + [(kind, f"{i}_{kind}") for i, kind in enumerate(modules, 1)]
    (folder / "modules.json").write_text(
        json.dumps(
            [
                {"idx": i, "name": str(i), "path": path, "type": f"sentence_transformers.models.{kind}"}
                for i, (kind, path) in enumerate(kinds)
            ]
        )
    )
    if "Pooling" in modules:
        (folder / "1_Pooling").mkdir()
        (folder / "1_Pooling/config.json").write_text(json.dumps({"word_embedding_dimension": 16} | pooling))
    return folder


def embed(deberta, model, *words):
    done = deberta("embed", "-m", model, "-f", "jsonl", *words, TEXT)
    assert done.returncode == 0, done.stderr
    return numpy.array(json.loads(done.stdout)["embedding"]), done.stderr


def test_the_folder_decides_and_a_note_reports_it(deberta, tmp_path):
    model = make_folder(tmp_path / "m", ("Pooling", "Normalize"), pooling_mode_cls_token=True)
    vector, said = embed(deberta, model)
    plain, nothing = embed(deberta, model, "--pooling", "cls")
    assert numpy.allclose(vector, plain / numpy.linalg.norm(plain), atol=1e-6)
    assert said == "note: pooling as modules.json says: cls, normalized\n" and nothing == ""
    assert embed(deberta, model, "-q")[1] == ""


def test_without_modules_the_mean_is_used_and_reported(deberta, sequence_model):
    vector, said = embed(deberta, sequence_model)
    assert "the model does not say how to pool its tokens; using their mean (--pooling mean)" in said
    mean, nothing = embed(deberta, sequence_model, "--pooling", "mean")
    assert (vector == mean).all() and nothing == ""


def test_a_dense_layer_changes_the_width_of_every_output(deberta, tmp_path):
    model = make_folder(tmp_path / "m", ("Pooling", "Dense"), pooling_mode_mean_tokens=True)
    weight = numpy.random.default_rng(1).standard_normal((5, 16)).astype(numpy.float32)
    (model / "2_Dense").mkdir()
    (model / "2_Dense/config.json").write_text(
        json.dumps(
            {
                "in_features": 16,
                "out_features": 5,
                "bias": False,
                "activation_function": "torch.nn.modules.linear.Identity",
            }
        )
    )
    write_safetensors(model / "2_Dense/model.safetensors", {"linear.weight": weight})
    vector, said = embed(deberta, model)
    assert numpy.allclose(vector, weight @ embed(deberta, model, "--pooling", "mean")[0], atol=1e-5)
    assert "mean, dense to 5" in said
    assert deberta("embed", "-m", model, "-o", tmp_path / "v.npy", TEXT, "other").returncode == 0
    assert numpy.load(tmp_path / "v.npy").shape == (2, 5)


def test_the_length_is_the_models_unless_it_is_given(deberta, tmp_path):
    model = make_folder(tmp_path / "m", pooling_mode_mean_tokens=True)
    (model / "sentence_bert_config.json").write_text(json.dumps({"max_seq_length": 6, "do_lower_case": False}))
    assert "1 of 1 rows cut to 6 tokens" in embed(deberta, model)[1]
    assert "cut" not in embed(deberta, model, "--max-tokens", "100")[1]


def test_every_verb_finds_a_transformer_in_its_own_folder(deberta, tmp_path):
    model = make_folder(tmp_path / "m", transformer="0_Transformer", pooling_mode_mean_tokens=True)
    # old versions wrote their own version there
    (model / "config.json").write_text(json.dumps({"__version__": "0.2.5"}))
    for words in (["classify", TEXT], ["tokenize", TEXT], ["inspect"], ["check"]):
        done = deberta(words[0], "-m", model, *words[1:])
        assert (
            done.returncode == 0 and done.stdout == deberta(words[0], "-m", model / "0_Transformer", *words[1:]).stdout
        ), done.stderr
    assert deberta("info", "-m", model).returncode == 0


@pytest.mark.parametrize(
    "change, message, code",
    [
        (lambda m: shutil.rmtree(m / "1_Pooling"), "1_Pooling/config.json", 1),
        (
            lambda m: (m / "1_Pooling/config.json").write_text('{"pooling_mode": ["best"]}'),
            "pooling_mode: expected cls, max, mean",
            1,
        ),
        (
            lambda m: (m / "sentence_bert_config.json").write_text(
                '{"processing_kwargs": {"text": {"max_length": 4}}}'
            ),
            "processing_kwargs changes how texts are read",
            0,
        ),
    ],
)
def test_check_finds_modules_that_lead_nowhere_and_embed_refuses_them(deberta, tmp_path, change, message, code):
    model = make_folder(tmp_path / "m", pooling_mode_mean_tokens=True)
    assert deberta("check", "-m", model, "--strict").returncode == 0
    change(model)
    found = deberta("check", "-m", model)
    assert found.returncode == code and message in found.stdout
    refused = deberta("embed", "-m", model, TEXT)
    assert refused.returncode == 1 and message in refused.stderr and refused.stdout == ""
    assert deberta("embed", "-m", model, "--pooling", "mean", TEXT).returncode == 0
    assert deberta("classify", "-m", model, TEXT).returncode == 0
