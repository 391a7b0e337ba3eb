"""The classes that Python programs know: shapes, keys and numbers; and every example of the guide."""

import importlib
import inspect
import json
import pathlib
import pickle
import re
import shutil
import subprocess
import sys
import types

import deberta
import numpy
import pyarrow
import pytest

from conftest import ROOT, run_python, texts
from models import make_model

A = [text for text in texts(20, 8) if text.strip() and "[" not in text]
B = A[::-1]
GUIDE = (ROOT / "docs/guides/python.md").read_text()


def test_the_examples_of_the_guide_run():
    code = "\n".join(re.findall(r"^```python\n(.*?)^```", GUIDE, re.M | re.S))
    printed = run_python(code, cwd=ROOT)
    assert "positive 0.9999" in printed  # the last digits depend on the processor
    assert "[('PER', 'Ada Lovelace'), ('LOC', 'London')]" in printed
    assert "texts[1]: expected a text, got None" in printed


PAGES = sorted(
    path.relative_to(ROOT).as_posix()
    for path in [ROOT / "README.md", *(ROOT / "docs/start").glob("*.md"), *(ROOT / "docs/guides").glob("*.md")]
    if path.name != "scale_engines.md" and "```python\n" in path.read_text()
)


@pytest.mark.parametrize("page", PAGES)
def test_the_examples_of_the_pages_run(page):
    code = "\n".join(re.findall(r"^```python\n(.*?)^```", (ROOT / page).read_text(), re.M | re.S))
    printed = run_python(code, cwd=ROOT)
    for shown in re.findall(r"^print\(.*\) +# (.+)$", code, re.M):  # what a page says that a line prints
        assert page == "docs/guides/python.md" or shown in printed, (page, shown)


def test_the_guide_lists_every_task():
    listed = set(re.findall(r"^\| `(\w+)` \|", GUIDE.split("## The tasks")[1].split("##")[0], re.M))
    assert listed == {*deberta._pipeline._TASKS, "embed", "scores"}
    assert all(deberta.parameters(task) for task in listed)


def test_scores_are_by_class(pipelines):
    pipeline = pipelines["sequence"]
    scores = pipeline.scores(A)
    for row, answer in zip(scores, pipeline.classify(A, top_k=3)):
        assert {name: numpy.float32(score) for name, score in zip(pipeline.model.labels, row)} == {
            one.label: numpy.float32(one.score) for one in answer.labels
        }
    assert (pipeline.scores(A[0]) == scores[0]).all() and scores.shape == (len(A), 3)


def test_a_cross_encoder(pipelines, models):
    encoder = deberta.CrossEncoder(models["number"], threads=1)
    logits = pipelines["number"].scores(A, B, function="none")[:, 0]
    scores = encoder.predict(list(zip(A, B)))
    assert scores.shape == (len(A),) and numpy.allclose(scores, 1 / (1 + numpy.exp(-logits)), atol=1e-6)
    assert encoder.predict((A[0], B[0])) == scores[0] and encoder.num_labels == 1
    ranked = encoder.rank(A[0], B, top_k=3, return_documents=True)
    best = pipelines["number"].rerank(A[0], B, top_n=3).results
    assert [(one["corpus_id"], one["text"]) for one in ranked] == [(one.index, B[one.index]) for one in best]
    assert [numpy.float32(one["score"]) for one in ranked] == [numpy.float32(one.score) for one in best]
    several = deberta.CrossEncoder(pipelines["sequence"])
    raw = several.predict(list(zip(A, B)))
    assert (raw == pipelines["sequence"].scores(A, B, function="none")).all()
    assert numpy.allclose(several.predict(list(zip(A, B)), apply_softmax=True).sum(axis=1), 1, atol=1e-6)
    doubled = several.predict(list(zip(A, B)), activation_fn=lambda scores: scores * 2)
    assert (doubled == raw * 2).all()
    for call in (
        lambda: several.rank("a", ["b"]),
        lambda: several.predict(["a", "b", "c"]),
        lambda: several.predict([("a", "b")], device="cuda"),
        lambda: several.predict([("a", "b")], prompt_name="none"),
        lambda: several.predict([("a", None)]),
    ):
        with pytest.raises(deberta.InputError):
            call()


def test_a_sentence_transformer(pipelines):
    model = deberta.SentenceTransformer(pipelines["lm"], prompts={"query": "query: "})
    vectors = model.encode(A)
    assert (vectors == pipelines["lm"].embed(A)).all() and model.encode(A[0]).shape == (16,)
    assert (model.encode_query(A) == pipelines["lm"].embed(["query: " + text for text in A])).all()
    assert (model.encode_document(A) == vectors).all()
    assert numpy.allclose(numpy.linalg.norm(model.encode(A, normalize_embeddings=True), axis=1), 1, atol=1e-6)
    assert model.encode(A, truncate_dim=4).shape == (len(A), 4) and model.get_embedding_dimension() == 16
    assert [one.shape[1] for one in model.encode(A, output_value="token_embeddings")] == [16] * len(A)
    assert numpy.allclose(numpy.diag(model.similarity(vectors, vectors)), 1, atol=1e-6)
    with pytest.raises(deberta.InputError, match="precision: expected float32"):
        model.encode(A, precision="int8")
    assert (model.encode_query(A, prompt="query: ") == model.encode_document(A, prompt_name="query")).all()
    model.max_seq_length = 5
    assert (model.encode(A) == pipelines["lm"].embed(A, max_tokens=5)).all()


def test_the_similarity_is_the_folders(models, tmp_path):
    folder = shutil.copytree(models["lm"], tmp_path / "model")
    (folder / "config_sentence_transformers.json").write_text('{"similarity_fn_name": "dot"}')
    model = deberta.SentenceTransformer(folder, threads=1)
    a, b = model.encode(A[:3]), model.encode(B[:4])
    assert model.similarity_fn_name == "dot" and (model.similarity(a, b) == a @ b.T).all()
    apart = a[:, None] - b
    for name, expected in {
        "euclidean": -numpy.sqrt((apart**2).sum(axis=-1)),
        "manhattan": -numpy.abs(apart).sum(axis=-1),
        "cosine": a @ b.T / numpy.outer(numpy.linalg.norm(a, axis=1), numpy.linalg.norm(b, axis=1)),
    }.items():
        model.similarity_fn_name = name
        assert numpy.allclose(model.similarity(a, b), expected, atol=1e-6)
        assert numpy.allclose(model.similarity_pairwise(a, b[:3]), numpy.diag(expected), atol=1e-6)
    with pytest.raises(deberta.InputError, match="similarity_fn_name: expected one of cosine, dot"):
        model.similarity_fn_name = "maxsim"


# The parameters of sentence-transformers 6.2.0, in their order.
CALLS = ["batch_size", "show_progress_bar"]
ENDS = ["device", "pool", "chunk_size"]
SIGNATURES = {
    "CrossEncoder.predict": [
        *["inputs", "prompt_name", "prompt", *CALLS, "activation_fn", "apply_softmax"],
        *["convert_to_numpy", "convert_to_tensor", *ENDS],
    ],
    "CrossEncoder.rank": [
        *["query", "documents", "top_k", "return_documents", "prompt_name", "prompt", *CALLS, "activation_fn", *ENDS]
    ],
    "SentenceTransformer.encode": [
        *["inputs", "prompt_name", "prompt", *CALLS, "output_value", "precision", "convert_to_numpy"],
        *["convert_to_tensor", "device", "normalize_embeddings", "truncate_dim", "pool", "chunk_size"],
    ],
    "SentenceTransformer.similarity": ["embeddings1", "embeddings2"],
    "SentenceTransformer.similarity_pairwise": ["embeddings1", "embeddings2"],
}


@pytest.mark.parametrize("name", SIGNATURES)
def test_signatures_are_those_of_sentence_transformers(name):
    kind, method = name.split(".")
    assert [*inspect.signature(getattr(getattr(deberta, kind), method)).parameters] == ["self", *SIGNATURES[name]]


def test_what_sentence_transformers_is_made_with_is_taken_or_refused(models):
    given = {"backend": "torch", "revision": None, "token": "x", "model_kwargs": None, "num_labels": 1}
    assert deberta.CrossEncoder(models["number"], **given, trust_remote_code=True, threads=1).num_labels == 1
    for name, value in {"backend": "onnx", "num_labels": 3, "model_kwargs": {}, "cache_folder": "x"}.items():
        with pytest.raises(deberta.InputError, match=f"{name}: expected") as caught:
            deberta.CrossEncoder(models["number"], **{name: value})
        assert caught.value.argument == name


def test_evaluators_of_sentence_transformers_find_what_they_ask(pipelines):
    model = deberta.SentenceTransformer(pipelines["lm"])
    given = {"batch_size": 16, "show_progress_bar": False, "convert_to_numpy": True, "precision": None}
    vectors = model.encode(A, **given, normalize_embeddings=False, truncate_dim=None)
    assert (vectors == model.encode(A)).all() and model.similarity_fn_name == "cosine"
    assert model.model_card_data.set_evaluation_metrics(None, {"spearman_cosine": 1.0}, 0, 0) is None


def test_pipelines_of_transformers(models):
    classify = deberta.pipeline("text-classification", models["sequence"], threads=1)
    assert [*classify("a fine film")[0]] == ["label", "score"]
    assert len(classify(A)) == len(A) and len(classify("a fine film", top_k=None)) == 3
    assert len(classify([{"text": "a", "text_pair": "b"}], top_k=2)[0]) == 2
    zero_shot = deberta.pipeline("zero-shot-classification", models["nli"], threads=1)
    assert [*zero_shot("a fine film", candidate_labels="art, sport")] == ["sequence", "labels", "scores"]
    ner = deberta.pipeline("ner", models["token"], threads=1, aggregation_strategy="simple")
    assert all([*one] == ["entity_group", "score", "word", "start", "end"] for one in ner("a fine film with parts"))
    assert isinstance(ner(A), list) and len(ner(A)) == len(A)
    qa = deberta.pipeline("question-answering", models["span"], threads=1)
    found = qa(question="who", context="a fine film with two parts", top_k=2)
    assert len(found) == 2 and [*found[0]] == ["score", "start", "end", "answer"]
    assert qa(question=["who", "what"], context="a fine film")[1]["answer"] in "a fine film"
    fill = deberta.pipeline("fill-mask", models["lm"], threads=1)
    assert [*fill("a [MASK] film", top_k=2)[0]] == ["score", "token", "token_str", "sequence"]
    assert len(fill("a [MASK] [MASK]")) == 2 and len(fill("a [MASK] [MASK]")[0]) == 5
    features = deberta.pipeline("feature-extraction", models["lm"], threads=1)("a fine film")
    assert numpy.array(features).shape[0::2] == (1, 16)
    assert isinstance(qa(question=["who"], context=["a fine film"]), dict)  # there a list of one is one
    assert qa("who", "a fine film") == qa(question="who", context="a fine film")
    assert fill(["a [MASK] film"]) == fill("a [MASK] film")
    assert [*zero_shot(" ", candidate_labels=["art"])] == ["sequence", "labels", "scores"]
    all_labels = deberta.pipeline("text-classification", models["sequence"], threads=1, top_k=None)
    assert all_labels("a fine film") == [classify("a fine film", top_k=None)]
    assert all_labels("a fine film", top_k=1) == classify("a fine film", top_k=1)  # a call's own stand above them
    with pytest.raises(deberta.InputError, match="context: expected 1, as many as questions, got 2"):
        qa(question="who", context=["a fine film", "a dull one"])
    with pytest.raises(deberta.InputError, match="dtype: expected one of auto, fp32"):
        deberta.pipeline("fill-mask", models["lm"], dtype="fp16")
    with pytest.raises(deberta.InputError, match="threads: expected no option of a model that is open"):
        deberta.pipeline("fill-mask", qa.pipeline, threads=2)
    for framework in (deberta.CrossEncoder, deberta.SentenceTransformer):
        assert framework(qa.pipeline).pipeline is qa.pipeline
        with pytest.raises(deberta.InputError, match="dtype, threads: expected no option of a model that is open"):
            framework(qa.pipeline, dtype="bf16", threads=2)
    with pytest.raises(deberta.InputError, match="task: expected one of"):
        deberta.pipeline("summarization", models["lm"])
    with pytest.raises(deberta.InputError, match="device: expected None, -1 or cpu"):
        deberta.pipeline("fill-mask", models["lm"], device=0)


def test_gliner(models, pipelines):
    model = deberta.GLiNER.from_pretrained(models["extractor"], map_location="cpu", load_onnx_model=False)
    text = "a fine film with two good parts"
    found = model.predict_entities(text=text, labels=["person", "place"], flat_ner=True, threshold=0, multi_label=False)
    direct = pipelines["extractor"].extract(text, ["person", "place"], threshold=0)
    assert [one["score"] for one in found] == [one.score for one in direct] and found
    assert all(one["text"] == text[one["start"] : one["end"]] for one in found)
    assert model.batch_predict_entities([text, "a"], ["person", "place"], threshold=0)[0] == found
    assert model.inference(text, ["person", "place"], threshold=0, batch_size=4) == [found]
    assert model.predict_entities(text, "person", threshold=0) == model.predict_entities(text, ["person"], threshold=0)
    # labels and thresholds of each text, and no labels
    alone = [
        model.predict_entities(text, "person", threshold=0),
        model.predict_entities("a", {"x": "y"}, threshold=0.1),
    ]
    assert model.inference([text, "a"], [["person"], {"x": "y"}], threshold=[0, 0.1]) == alone
    assert model.inference([text, "a", "a"], [["person"], [], []], threshold=0) == [alone[0], [], []]
    assert model.predict_entities(text, []) == [] and model.inference([], ["person"]) == []
    for more in ({"labels": [["person"]]}, {"labels": ["person"], "threshold": [0.5]}):
        with pytest.raises(deberta.InputError, match="expected one of each of the 2 texts, got 1"):
            model.inference([text, "a"], **more)
    with pytest.raises(deberta.InputError, match="map_location"):
        deberta.GLiNER.from_pretrained(models["extractor"], map_location="cuda")


def test_closing_gives_the_weights_back(models):
    weights = str(models["extractor"] / "model.safetensors")
    model = deberta.GLiNER.from_pretrained(models["extractor"], threads=1)
    model.predict_entities("a fine film", ["person"])
    classify = deberta.pipeline("text-classification", models["sequence"], threads=1)
    classify("a fine film")
    held = pathlib.Path("/proc/self/maps").read_text()
    assert weights in held
    model.pipeline.close()
    classify.pipeline.close()
    after = pathlib.Path("/proc/self/maps").read_text()
    assert held.count(weights) > after.count(weights)
    name = str(models["sequence"] / "model.safetensors")
    assert held.count(name) > after.count(name)


def test_a_chunker_of_presidio_has_the_places_of_all_pieces(models, tmp_path):
    folder = shutil.copytree(models["extractor"], tmp_path / "model")
    settings = json.loads((folder / "tokenizer_config.json").read_text())
    (folder / "tokenizer_config.json").write_text(json.dumps(settings | {"model_max_length": 8}))
    tokenizer = deberta.GLiNER.from_pretrained(folder).data_processor.transformer_tokenizer
    text = "a fine film " * 40
    asked = {"return_offsets_mapping": True, "add_special_tokens": False, "truncation": False}
    places = tokenizer(text, **asked).get("offset_mapping")
    assert len(places) >= 120 and text[: places[-1][1]].endswith("film")
    assert all(isinstance(place, tuple) for place in places)


SETTINGS = {
    "gliner_model": "urchade/gliner_base",
    "chunk_size": 250,
    "labels": ["person", "organization", "school"],
    "style": "ent",
    "threshold": 0.50,
    "map_location": "cpu",
    "load_onnx_model": False,
    "onnx_model_file": "model.onnx",
}  # of gliner-spacy 0.0.11


@pytest.fixture
def stand_ins(monkeypatch):
    """stand_ins({module: {name: value}}): frameworks that are not installed here, as far as a module of ours needs."""

    def put(modules):
        for name, values in modules.items():
            for end in range(1, len(name.split(".")) + 1):
                whole = ".".join(name.split(".")[:end])
                if whole not in modules:
                    monkeypatch.setitem(sys.modules, whole, types.ModuleType(whole))
            module = types.ModuleType(name)
            vars(module).update(values)
            monkeypatch.setitem(sys.modules, name, module)

    return put


def test_a_component_of_gliner_spacy_takes_its_settings_by_name(stand_ins, models, monkeypatch):
    language = types.SimpleNamespace(factory=lambda name, **options: lambda made: made)
    stand_ins(
        {
            "gliner_spacy.pipeline": {"DEFAULT_SPACY_CONFIG": SETTINGS, "GlinerSpacy": object},
            "spacy.language": {"Language": language},
        }
    )
    monkeypatch.delitem(sys.modules, "deberta.gliner_spacy", raising=False)
    component = importlib.import_module("deberta.gliner_spacy").DebertaGlinerSpacy
    settings = SETTINGS | {"gliner_model": models["extractor"], "style": "span"}
    assert set(inspect.signature(component).parameters) == {"nlp", "name", *SETTINGS}  # as spaCy asks
    made = component(nlp=None, name="ner", **settings)
    assert made.style == "span" and made.labels == SETTINGS["labels"]


def test_a_component_of_spacy_opens_its_model_in_each_process(stand_ins, models, pipelines, monkeypatch):
    language = types.SimpleNamespace(factory=lambda name, **options: lambda made: made)
    span = type("Span", (), {"has_extension": staticmethod(lambda name: True)})
    stand_ins(
        {
            "spacy.language": {"Language": language},
            "spacy.tokens": {"Doc": object, "Span": span},
            "spacy.util": {"filter_spans": list},
        }
    )
    monkeypatch.delitem(sys.modules, "deberta.spacy", raising=False)
    module = importlib.import_module("deberta.spacy")
    options, parameters = {"threads": 1}, {"threshold": 0}
    component = module.make_extract(None, "extract", str(models["extractor"]), ["person"], options, parameters)
    expected = pipelines["extractor"].extract(A, ["person"], **parameters)
    assert pickle.loads(pickle.dumps(component))._answer(A) == expected == component._answer(A)
    opened = component._pipeline
    component._process = 0  # as in a child of fork()
    assert component._answer(A) == expected and component._pipeline is not opened
    tagger = module.make_ner(None, "ner", str(models["token"]), options, {})
    assert pickle.loads(pickle.dumps(tagger))._answer(A) == pipelines["token"].ner(A)


def test_a_cross_encoder_of_langchain_has_one_score_a_pair(stand_ins, models, monkeypatch):
    stand_ins(
        {
            "langchain_core.cross_encoders": {"BaseCrossEncoder": object},
            "langchain_core.embeddings": {"Embeddings": object},
        }
    )
    monkeypatch.delitem(sys.modules, "deberta.langchain", raising=False)
    kind = importlib.import_module("deberta.langchain").DebertaCrossEncoder
    scores = kind(models["number"], threads=1).score([(A[0], B[0]), (A[1], B[1])])
    assert [type(score) for score in scores] == [float, float]
    assert kind(models["number"]).score([]) == []
    with pytest.raises(deberta.InputError, match="model: expected a model with one class, as scores need it, got 3"):
        kind(models["sequence"])


def test_estimators_of_scikit_learn_take_a_column(stand_ins, pipelines, tmp_path, monkeypatch):
    names = ("BaseEstimator", "ClassifierMixin", "TransformerMixin")
    stand_ins({"sklearn.base": {name: type(name, (), {}) for name in names}})
    monkeypatch.delitem(sys.modules, "deberta.sklearn", raising=False)
    module = importlib.import_module("deberta.sklearn")
    vectorizer = module.DebertaVectorizer(pipelines["lm"])
    expected = pipelines["lm"].embed(A)
    for column in (A, tuple(A), iter(A), numpy.array(A, object), pyarrow.array(A)):
        assert (vectorizer.transform(column) == expected).all()
    folder = make_model(tmp_path / "model", "sequence", labels=("zinc", "gold", "lead"))
    classifier = module.DebertaClassifier(str(folder), {"threads": 1})
    scores = classifier.predict_proba(A)
    assert [*classifier.classes_] == ["gold", "lead", "zinc"]  # as scikit-learn's metrics take them to be
    assert (scores[:, [2, 0, 1]] == classifier._opened().scores(A, function="softmax")).all()
    assert [*classifier.predict(A)] == [one.label for one in classifier._opened().classify(A)]
    with pytest.raises(deberta.InputError, match="model: expected a model with two classes or more, got one"):
        module.DebertaClassifier(pipelines["number"]).predict(A)
    for table, got in (("a fine film", "one text"), (numpy.array([A]), "2 dimensions")):
        with pytest.raises(deberta.InputError, match=f"X: expected a column of texts, got {got}"):
            vectorizer.transform(table)


def test_an_evaluation_is_the_programs(tmp_path):
    (tmp_path / "dev.tsv").write_text("sentence\tlabel\na fine film\t1\na dull one\t0\n")
    result = deberta.evaluate("sst-2", tmp_path / "dev.tsv", "builtin:sentiment")
    assert result["rows"] == 2 and result["metrics"]["accuracy"] == 1.0
    with pytest.raises(deberta.InputError):
        deberta.evaluate("no-such-task", tmp_path / "dev.tsv")


FAKE = """#!{python}
import json, pathlib, signal, sys, time
signal.signal(signal.SIGINT, signal.SIG_DFL)  # the shell that began all this may have ignored it
signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])  # until the wait, however late that begins
folder = pathlib.Path(sys.argv[sys.argv.index("-o") + 1])
folder.mkdir(exist_ok=True)
if "--fail" in sys.argv:
    sys.exit("finetune: train_file: expected a file, got none")
with open(folder / "metrics.jsonl", "a") as log:
    for step in range(3):
        log.write(json.dumps({{"step": step, "loss": 1.0}}) + "\\n")
        log.flush()
    if "--wait" in sys.argv:
        signal.sigwait([signal.SIGINT])
        (folder / "stopped").touch()
        sys.exit(130)
(folder / "all_results.json").write_text(json.dumps({{"words": sys.argv[1:]}}))
"""


@pytest.fixture
def trainer(tmp_path, monkeypatch):
    """A stand-in for deberta-train: it writes a log and what it was called with."""
    program = tmp_path / "bin/deberta-train"
    program.parent.mkdir()
    program.write_text(FAKE.format(python=sys.executable))
    program.chmod(0o755)
    monkeypatch.setattr(deberta.train, "find_trainer", lambda: str(program))
    return tmp_path / "run"


def test_training_is_a_process_with_a_callback(trainer):
    lines = []
    options = {"task": "classification", "max_tokens": 9, "add_tokens": ["a", "b"], "fp16": False, "quiet": True}
    results = deberta.train.finetune(output_dir=trainer, callback=lines.append, **options)
    assert [line["step"] for line in lines] == [0, 1, 2]
    expected = [
        "finetune",
        "-o",
        str(trainer),
        "--task",
        "classification",
        "--max-tokens",
        "9",
        "--add-tokens",
        "a,b",
        "--quiet",
    ]
    assert results["words"] == expected
    with pytest.raises(deberta.InputError, match="train_file: expected a file, got none"):
        deberta.train.pretrain(output_dir=trainer, fail=True)


def test_lines_of_a_log_that_is_cut_back_come_once(tmp_path):
    path = tmp_path / "metrics.jsonl"
    lines = [json.dumps({"step": step}) + "\n" for step in range(6)]
    path.write_text("".join(lines[:4]))
    log = deberta.train._Log(str(path))
    assert log.lines() == []
    path.write_text("".join(lines[:2]))  # back to a checkpoint
    assert log.lines() == []
    path.write_text("".join([*lines[:2], '{"step": 2.5}\n', lines[3], lines[4]]) + '{"step"')
    assert [line["step"] for line in log.lines()] == [2.5, 3, 4]
    with path.open("a") as file:
        file.write(": 5}\n")
    assert [line["step"] for line in log.lines()] == [5]


def test_a_callback_that_raises_stops_the_training(trainer):
    def stop(line):
        raise StopIteration

    with pytest.raises(StopIteration):
        deberta.train.finetune(output_dir=trainer, callback=stop, wait=True)
    assert (trainer / "stopped").exists()


def test_a_training_program_that_is_not_there_is_reported(monkeypatch):
    monkeypatch.setenv("PATH", "")
    monkeypatch.setattr(deberta._program.os.path, "isfile", lambda path: False)
    with pytest.raises(deberta.FileError, match="deberta-train: no such program; looked in"):
        deberta._program.find_trainer()


def test_types_are_whole(tmp_path):
    words = [sys.executable, "-m", "mypy", "--strict", "--cache-dir", str(tmp_path), "deberta"]
    done = subprocess.run(words, cwd=ROOT / "python", capture_output=True, text=True)
    assert done.returncode == 0, done.stdout
