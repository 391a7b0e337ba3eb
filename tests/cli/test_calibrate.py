"""convert --dtype int8: the calibration that it writes, what it gains, and what int8 does with and without it."""

import gzip
import json
import shutil

import pytest

from conversion_models import contents, make_v1_model
from models import read_safetensors, write_safetensors

TEXTS = [
    f"text number {i} , a little {word} than the one before it"
    for i, word in enumerate(("longer", "worse", "better", "older", "stranger", "more expensive", "quieter", "greener"))
]
FILE = "calibration.safetensors"


@pytest.fixture
def texts(tmp_path):
    path = tmp_path / "texts.txt"
    path.write_text("".join(text + "\n" for text in TEXTS))
    return path


@pytest.fixture
def calibrated(deberta, sequence_model, tmp_path, texts):
    done = deberta(
        "convert", "-m", sequence_model, "--to", tmp_path / "int8", "--dtype", "int8", "--calibration-data", texts
    )
    assert done.returncode == 0, done.stderr
    return tmp_path / "int8"


def left(folder):
    return sorted(path.name for path in folder.iterdir())


def test_a_calibration_lies_beside_weights_that_stay_as_they_are(deberta, sequence_model, calibrated, tmp_path):
    deberta("convert", "-m", sequence_model, "--to", tmp_path / "plain")
    plain, int8 = contents(tmp_path / "plain"), contents(calibrated)
    assert set(int8) == set(plain) | {FILE} and int8["model.safetensors"] == plain["model.safetensors"]
    names = set(read_safetensors(calibrated / FILE))
    assert len(names) == 8 and "encoder.layer.1.attention.self.reciprocal" in names
    checked = deberta("check", "--strict", "-m", calibrated)
    assert checked.returncode == 0 and ": 0 errors, 0 warnings" in checked.stderr, checked.stdout


def test_int8_runs_with_it_and_info_shows_it(deberta, sequence_model, calibrated):
    done = deberta("classify", "-m", calibrated, "--dtype", "int8", "--activation", "none", TEXTS[0])
    exact = deberta("classify", "-m", calibrated, "--activation", "none", TEXTS[0])
    # as the machine is now
    told = [
        line for line in done.stderr.splitlines() if not line.startswith("note: --dtype int8 saves memory, not time")
    ]
    assert done.returncode == 0 and told == [] and done.stdout != exact.stdout
    assert done.stdout.splitlines()[1].split("\t")[0] == exact.stdout.splitlines()[1].split("\t")[0]
    assert "calibration\t8 texts, " in deberta("info", "-m", calibrated).stdout
    assert "calibration\tnone" in deberta("info", "-m", sequence_model).stdout


def test_int8_without_it_exits_1_or_warns_once(deberta, sequence_model):
    done = deberta("classify", "-m", sequence_model, "--dtype", "int8", "text", "another")
    assert done.returncode == 1
    assert done.stdout == ""
    assert "convert -m DIR -o DIR2 --dtype int8 --calibration-data FILE" in done.stderr
    done = deberta("classify", "-m", sequence_model, "--dtype", "int8", "--allow-uncalibrated", "text", "another")
    assert done.returncode == 0
    assert done.stderr.count("int8 without a calibration") == 1
    assert done.stderr.count("warning") == 1


def test_texts_come_in_the_forms_of_other_verbs(deberta, sequence_model, calibrated, tmp_path):
    rows = [json.dumps({"sentence": text, "other": 1}) + "\n" for text in TEXTS]
    (tmp_path / "rows.jsonl.gz").write_bytes(gzip.compress("".join(rows).encode()))
    (tmp_path / "rows.tsv").write_text("label\tsentence\n" + "".join(f"0\t{text}\n" for text in TEXTS))
    for name in ("rows.jsonl.gz", "rows.tsv"):
        done = deberta(
            "convert",
            "-m",
            sequence_model,
            "--to",
            tmp_path / "b",
            "--dtype",
            "int8",
            "--calibration-data",
            tmp_path / name,
            "--input-field",
            "sentence",
        )
        assert done.returncode == 0, done.stderr
        assert (tmp_path / "b" / FILE).read_bytes() == (calibrated / FILE).read_bytes()
        shutil.rmtree(tmp_path / "b")


def test_the_report_says_what_was_made_and_verified(deberta, sequence_model, tmp_path, texts):
    done = deberta(
        "convert",
        "-m",
        sequence_model,
        "--to",
        tmp_path / "a",
        "--dtype",
        "int8",
        "--calibration-data",
        texts,
        "--verify",
        "--smoothing",
        "0.7",
        "-f",
        "jsonl",
    )
    assert done.returncode == 0, done.stderr
    about = {row["change"]: row["detail"] for row in map(json.loads, done.stdout.splitlines()) if row["place"] == FILE}
    assert about["made"].startswith("8 texts, ") and "smoothing 0.7" in about["made"]
    assert "int8 against fp32 on 8 texts: cosine of all outputs 0.9" in about["verified"]
    assert " of 8 answers equal" in about["verified"]
    assert about["verified"] in done.stderr


def test_verify_refuses_int8_that_answers_otherwise(deberta, sequence_model, tmp_path):
    """The bias cancels the fp32 logits, so that only differences are left."""
    model = shutil.copytree(sequence_model, tmp_path / "m")
    scores = json.loads(
        deberta("classify", "-m", model, "--activation", "none", "-k", "3", "-f", "json", TEXTS[0]).stdout
    )
    scores = {entry["label"]: entry["score"] for entry in (scores[0] if isinstance(scores, list) else scores)["labels"]}
    tensors = {name: array.copy() for name, array in read_safetensors(model / "model.safetensors").items()}
    for i, label in enumerate(("negative", "neutral", "positive")):
        tensors["classifier.bias"][i] -= scores[label]
    write_safetensors(model / "model.safetensors", tensors)
    (tmp_path / "one.txt").write_text(TEXTS[0] + "\n")
    words = (
        "convert",
        "-m",
        model,
        "--to",
        tmp_path / "a",
        "--dtype",
        "int8",
        "--calibration-data",
        tmp_path / "one.txt",
    )
    done = deberta(*words, "--verify")
    assert done.returncode == 1
    assert "expected a cosine of at least 0.999; nothing is written" in done.stderr
    assert done.stdout == ""
    assert left(tmp_path) == ["m", "one.txt"]
    assert deberta(*words).returncode == 0


def test_what_cannot_be_calibrated_leaves_nothing(deberta, sequence_model, tmp_path, texts):
    (tmp_path / "empty.txt").write_text("")
    (tmp_path / "bad.jsonl").write_text('{"text": "one"}\n{"txt": "two"}\n')
    before = left(tmp_path)
    for words, code, message in (
        (["--dtype", "int8"], 2, "--dtype int8: expected --calibration-data FILE"),
        (["--calibration-data", texts], 2, "--calibration-data: expected --dtype int8"),
        (["--dtype", "bf16", "--calibration-data", texts], 2, "--calibration-data: expected --dtype int8"),
        (["--smoothing", "0.7"], 2, "--smoothing: expected --dtype int8"),
        (["--dtype", "int8", "--calibration-data", texts, "--smoothing", "2"], 2, "smoothing"),
        (["--dtype", "int8", "--calibration-data", tmp_path / "absent"], 1, "absent"),
        (
            ["--dtype", "int8", "--calibration-data", tmp_path / "empty.txt"],
            1,
            "empty.txt: expected texts to calibrate with, got none",
        ),
        (["--dtype", "int8", "--calibration-data", tmp_path / "bad.jsonl"], 1, 'bad.jsonl:2: no key "text" among txt'),
    ):
        done = deberta("convert", "-m", sequence_model, "--to", tmp_path / "a", *words)
        assert done.returncode == code and message in done.stderr and done.stdout == "", (words, done.stderr)
        assert left(tmp_path) == before


def test_another_conversion_carries_it_only_with_the_same_weights(deberta, calibrated, tmp_path):
    done = deberta("convert", "-m", calibrated, "--to", tmp_path / "same", "--shard-size", "20k")
    assert done.returncode == 0 and (tmp_path / "same" / FILE).read_bytes() == (calibrated / FILE).read_bytes()
    assert deberta("classify", "-m", tmp_path / "same", "--dtype", "int8", "text").returncode == 0
    done = deberta("convert", "-m", calibrated, "--to", tmp_path / "bf16", "--dtype", "bf16")
    assert done.returncode == 0 and f"{FILE}\tleft out\tit does not belong to the written weights" in done.stdout
    assert FILE not in left(tmp_path / "bf16")
    (calibrated / FILE).write_bytes((calibrated / FILE).read_bytes()[:-1])
    done = deberta("convert", "-m", calibrated, "--to", tmp_path / "damaged")
    assert done.returncode == 0
    assert f"{FILE}\tleft out\tit does not belong" in done.stdout
    assert FILE not in left(tmp_path / "damaged")


def test_a_calibration_of_other_weights_is_refused(deberta, calibrated):
    tensors = {name: array.copy() for name, array in read_safetensors(calibrated / "model.safetensors").items()}
    tensors["deberta.encoder.layer.0.output.LayerNorm.weight"][3] += 1
    write_safetensors(calibrated / "model.safetensors", tensors)
    (calibrated / "deberta.manifest.json").unlink()
    for words in ([], ["--allow-uncalibrated"]):
        done = deberta("classify", "-m", calibrated, "--dtype", "int8", *words, "text")
        assert done.returncode == 1 and f"{FILE}: does not belong to" in done.stderr
    assert deberta("classify", "-m", calibrated, "text").returncode == 0
    checked = deberta("check", "-m", calibrated)
    assert checked.returncode == 1 and "does not belong to" in checked.stdout
    assert "calibration\trefused: " in deberta("info", "-m", calibrated).stdout


def test_version_1_is_calibrated_in_either_layout(deberta, tmp_path, texts):
    model = make_v1_model(tmp_path / "m")
    for layout in ("v1", "v2"):
        done = deberta(
            "convert",
            "-m",
            model,
            "--to",
            tmp_path / layout,
            "--layout",
            layout,
            "--dtype",
            "int8",
            "--calibration-data",
            texts,
            "--verify",
        )
        assert done.returncode == 0, done.stderr
    first, second = (read_safetensors(tmp_path / layout / FILE) for layout in ("v1", "v2"))
    assert first.keys() == second.keys() and all((first[name] == second[name]).all() for name in first)
