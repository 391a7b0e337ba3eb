"""-m NAME from outside: the built-in model, the hub cache, the message when there is none."""

import json
import os
import shutil

import pytest

COMMIT = "0123456789abcdef0123456789abcdef01234567"
TEXT = "a fine film"


@pytest.fixture
def no_models(tmp_path):
    """An environment in which no model is found."""
    (tmp_path / "empty").mkdir()
    return {"DEBERTA_DATA_DIR": str(tmp_path / "empty"), "HF_HUB_CACHE": str(tmp_path / "empty")}


def add_to_cache(cache, repository, model):
    """The model as the hub's client stores it: files under blobs, a snapshot of links to them."""
    folder = cache / ("models--" + repository.replace("/", "--"))
    snapshot = folder / "snapshots" / COMMIT
    snapshot.mkdir(parents=True)
    (folder / "refs").mkdir()
    (folder / "blobs").mkdir()
    (folder / "refs/main").write_text(COMMIT)
    for number, path in enumerate(sorted(model.iterdir())):
        shutil.copy(path, folder / f"blobs/{number}")
        os.symlink(f"../../blobs/{number}", snapshot / path.name)
    return snapshot


GIVE_ONE = "--model: expected a model directory, got none; give -m DIR or set DEBERTA_MODEL"


def test_without_a_model_the_places_are_named(deberta, no_models):
    done = deberta("classify", TEXT, environment=no_models)
    assert done.returncode == 2 and done.stdout == ""
    assert (
        f"{GIVE_ONE} (builtin:sentiment: no such built-in model; looked in "
        f"{no_models['DEBERTA_DATA_DIR']}/models; no models there)"
    ) in done.stderr


@pytest.fixture
def built_in(no_models, sequence_model, tmp_path):
    """An environment with the same model under two built-in names."""
    for name in ("sentiment", "detect"):
        shutil.copytree(sequence_model, tmp_path / f"data/models/{name}")
    return no_models | {"DEBERTA_DATA_DIR": str(tmp_path / "data")}


def test_the_built_in_model_that_fits_answers_without_dash_m(deberta, built_in, sequence_model):
    expected = deberta("classify", "-m", sequence_model, TEXT).stdout
    assert expected
    for words in ([], ["-m", "builtin"], ["-m", "builtin:sentiment"]):
        done = deberta("classify", *words, TEXT, environment=built_in)
        assert done.stdout == expected
        assert ("using the built-in model builtin:sentiment" in done.stderr) == (words != ["-m", "builtin:sentiment"])
    assert "builtin" not in deberta("classify", "--quiet", TEXT, environment=built_in).stderr
    assert deberta("classify", TEXT, environment=built_in | {"DEBERTA_MODEL": "builtin:sentiment"}).stdout == expected
    done = deberta("classify", "-m", "builtin:sentimen", TEXT, environment=built_in)
    assert done.returncode == 1 and "did you mean builtin:sentiment?" in done.stderr
    done = deberta("embed", TEXT, environment=built_in)
    assert done.stdout == deberta("embed", "-m", sequence_model, TEXT).stdout and "builtin:detect" in done.stderr
    assert (
        deberta("tokenize", TEXT, environment=built_in).stdout == deberta("tokenize", "-m", sequence_model, TEXT).stdout
    )


def test_eval_takes_the_built_in_model_of_the_task(deberta, built_in, sequence_model, tmp_path):
    (tmp_path / "dev.tsv").write_text("sentence\tlabel\na fine film\t1\n")
    done = deberta("eval", "--task", "sst-2", tmp_path / "dev.tsv", environment=built_in)
    assert done.stdout == deberta("eval", "--task", "sst-2", "-m", sequence_model, tmp_path / "dev.tsv").stdout
    assert "builtin:sentiment" in done.stderr
    done = deberta("eval", "--task", "cola", tmp_path / "dev.tsv", environment=built_in)
    assert done.returncode == 2
    assert "no built-in model fits eval --task cola; there are builtin:detect, builtin:sentiment" in done.stderr


@pytest.mark.parametrize(
    "words",
    [
        ["qa", "Who?", "She did."],
        ["choose", "It rained.", "What was wet?", "street", "sun"],
        ["rerank", "a", "b"],
        ["inspect"],
        ["check"],
        ["convert", "--to", "elsewhere"],
    ],
)
def test_a_verb_without_a_built_in_model_says_which_there_are(deberta, built_in, words):
    done = deberta(*words, environment=built_in)
    assert done.returncode == 2 and done.stdout == ""
    assert f"{GIVE_ONE} (no built-in model fits {words[0]}; there are builtin:detect, builtin:sentiment)" in done.stderr


def test_a_damaged_built_in_model_is_named(deberta, built_in, tmp_path):
    (tmp_path / "data/models/sentiment/model.safetensors").write_bytes(b"")
    done = deberta("classify", TEXT, environment=built_in)
    assert done.returncode == 1
    assert done.stdout == ""
    assert f"{tmp_path}/data/models/sentiment/model.safetensors" in done.stderr


def test_every_verb_takes_a_name_of_the_hub_cache(deberta, no_models, sequence_model, tmp_path):
    cache = tmp_path / "hf/hub"
    snapshot = add_to_cache(cache, "some-org/some-model", sequence_model)
    environment = {
        "DEBERTA_DATA_DIR": no_models["DEBERTA_DATA_DIR"],
        "HF_HOME": str(tmp_path / "hf"),
        "HF_HUB_CACHE": "",
    }
    name = "some-org/some-model"
    for words in (["classify", TEXT], ["tokenize", TEXT], ["inspect"], ["embed", TEXT]):
        done = deberta(words[0], "-m", name, *words[1:], environment=environment)
        assert done.returncode == 0 and done.stdout == deberta(words[0], "-m", sequence_model, *words[1:]).stdout != ""
    assert deberta("classify", "-m", f"{name}@{COMMIT}", TEXT, environment=environment).returncode == 0
    assert (
        "same encoder and the same head"
        in deberta("inspect", "-m", sequence_model, "--diff", name, environment=environment).stderr
    )
    assert deberta("check", "-m", name, environment=environment).returncode == 0
    assert deberta("convert", "-m", name, "--to", tmp_path / "copy", environment=environment).returncode == 0
    info = json.loads(deberta("info", "--format", "jsonl", environment=environment).stdout)
    assert info["models_found"] == [{"name": name, "path": str(snapshot)}]
    assert f"models_found\t{name}  {snapshot}\n" in deberta("info", environment=environment).stdout


def test_a_name_that_is_not_there_exits_1_with_places_and_nearest(deberta, no_models, sequence_model, tmp_path):
    add_to_cache(tmp_path / "hub", "org/deberta-v3-small", sequence_model)
    environment = no_models | {"HF_HUB_CACHE": str(tmp_path / "hub")}
    done = deberta("classify", "-m", "org/deberta-v3-smal", TEXT, environment=environment)
    assert done.returncode == 1 and done.stdout == ""
    assert f"{tmp_path / 'hub'}/models--org--deberta-v3-smal" in done.stderr
    assert "did you mean org/deberta-v3-small?" in done.stderr
    done = deberta("classify", "-m", "org/deberta-v3-small@v9", TEXT, environment=environment)
    assert done.returncode == 1 and "revisions there: main" in done.stderr


def test_a_link_out_of_the_cache_is_refused(deberta, no_models, sequence_model, tmp_path):
    snapshot = add_to_cache(tmp_path / "hub", "org/model", sequence_model)
    (snapshot / "config.json").unlink()
    os.symlink(sequence_model / "config.json", snapshot / "config.json")
    done = deberta("classify", "-m", "org/model", TEXT, environment=no_models | {"HF_HUB_CACHE": str(tmp_path / "hub")})
    assert done.returncode == 1 and "config.json: expected a link inside" in done.stderr
