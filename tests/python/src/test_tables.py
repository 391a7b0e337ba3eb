"""Tables of Arrow to tables with answers, as Ray, Spark, DuckDB and Polars call it; with those: engines.py."""

import importlib
import itertools
import json
import pickle
import re
import shutil
import sys
import types

import deberta
import numpy
import pyarrow
import pytest
from deberta.tables import _GROUP_ROWS, Predictor
from test_equality import CASES, A, B

from conftest import ROOT, run_python, without_nulls
from models import make_model

LONG = "a fine film " * 30
GUIDE = (ROOT / "docs/guides/scale_engines.md").read_text()


def cases_of(case):
    """The task of a case, its short rows as a table and as the columns of the method, and its parameters."""
    verb, _, rows, _, columns, parameters = case
    short = [i for i, row in enumerate(rows) if len(str(row)) < 200][:20]
    names = ("context", "choices", "question") if verb == "choose" else tuple(rows[0])
    given = [[rows[i][name] for i in short] for name in names]
    table = pyarrow.table({"id": short, **dict(zip(names, given))})
    if verb in ("zero-shot", "extract"):
        parameters = {"labels": columns[1], **parameters}
    return verb.replace("-", "_"), table, names, given, parameters


def answers_of(table, predictor):
    return [without_nulls(row) for row in table.select(predictor.answers.names).to_pylist()]


@pytest.mark.parametrize("case", CASES, ids=[f"{case[0]}-{i}" for i, case in enumerate(CASES)])
def test_a_table_has_the_answers_of_the_method(pipelines, case):
    task, table, names, given, parameters = cases_of(case)
    predictor = Predictor(pipelines[case[1]], task, names, parameters)
    schema = predictor.schema_of(table.schema)
    made = predictor(table)
    assert made.schema == schema and made.select(table.column_names) == table
    expected = getattr(pipelines[case[1]], task)(*given, errors="keep", **parameters)
    for row, answer in zip(answers_of(made, predictor), expected, strict=True):
        if not isinstance(answer, deberta.Error):
            copies = {"zero_shot": "sequence", "rerank": "query"}
            assert row == {key: value for key, value in answer.to_dict().items() if key != copies.get(task)}
            continue
        assert list(row) == ["error"] and row["error"]["code"] == answer.code
        assert answer.message.endswith(row["error"]["message"].split(": ", 1)[1])
    batch = predictor(table.to_batches()[0])
    assert isinstance(batch, pyarrow.RecordBatch) and pyarrow.Table.from_batches([batch]) == made
    pieces = pyarrow.concat_tables([table.slice(0, 3), table.slice(3, 1), table.slice(4)])
    assert predictor(pieces) == made and predictor(table.slice(2, 5)) == made.slice(2, 5)
    for empty in (table.slice(0, 0), schema.empty_table().select(table.column_names)):
        assert predictor(empty).schema == schema and predictor(empty).num_rows == 0
    assert predictor(table.to_batches()[0].slice(0, 0)).schema == schema


def test_every_task_has_columns():
    tasks = {*deberta._pipeline._TASKS, "embed", "scores"}
    listed = re.findall(r"^\| ((?:`\w+`(?:, )?)+) \|", GUIDE, re.M)
    assert set(deberta.tables._COLUMNS) == tasks == set(re.findall(r"\w+", " ".join(listed)))
    assert {case[0].replace("-", "_") for case in CASES} == tasks - {"similarity", "embed", "scores"}


@pytest.mark.parametrize(
    "model,task,name,parameters",
    [
        ("lm", "embed", "embedding", {}),
        ("lm", "embed", "embedding", {"dimensions": 5, "normalize": True, "prompt": "query: "}),
        ("lm", "embed", "token_embeddings", {"pooling": "none"}),
        ("sequence", "scores", "scores", {"function": "none"}),
    ],
)
def test_a_table_has_the_arrays_of_the_method(pipelines, model, task, name, parameters):
    given = {**parameters, "truncate": "error", "max_tokens": 60}
    texts = [text for text in A if len(text) < 40]
    bad = {2: None, 3: LONG, 9: LONG, len(texts): None}
    rows = list(texts)
    for place, text in bad.items():
        rows.insert(place, text)
    predictor = Predictor(pipelines[model], task, parameters=given)
    made = predictor(pyarrow.table({"text": rows}))
    expected = iter(getattr(pipelines[model], task)(texts, **given))
    for place, row in enumerate(answers_of(made, predictor)):
        if place in bad:
            message = "text: expected a text, got null" if bad[place] is None else "text: expected at most 60 tokens"
            assert list(row) == ["error"] and row["error"]["message"].startswith(message)
        else:
            assert row.keys() - {"empty"} == {name} and (numpy.array(row[name], numpy.float32) == next(expected)).all()
    vector = made.schema.field(name).type
    width = (vector.value_type if parameters.get("pooling") else vector).list_size
    assert width == {"scores": 3, "embed": parameters.get("dimensions", 16)}[task]
    assert predictor(pyarrow.table({"text": pyarrow.nulls(3)})).column("error").null_count == 0


def test_pairs_have_a_similarity_and_scores(pipelines):
    table = pyarrow.table({"a": A, "b": B})
    made = Predictor(pipelines["lm"], "similarity", ["a", "b"])(table)
    assert made.column("similarity").to_pylist() == [one.similarity for one in pipelines["lm"].similarity(A, B)]
    scores = numpy.array(Predictor(pipelines["sequence"], "scores", ["a", "b"])(table).column("scores").to_pylist())
    assert (scores.astype(numpy.float32) == pipelines["sequence"].scores(A, B)).all()


def test_a_bad_row_names_its_column(pipelines):
    table = pyarrow.table({"q": ["a", None, "a", "a"], "d": [["b"], ["b"], ["b", None], None]})
    made = Predictor(pipelines["number"], "rerank", ("q", "d"))(table)
    said = [None if row is None else row["message"] for row in made.column("error").to_pylist()]
    assert said == [
        None,
        "q: expected a text, got null",
        "d[1]: expected a text, got None",
        "d: expected a list of texts, got None",
    ]
    assert made.column("results").null_count == 3


def test_rows_of_many_groups_keep_their_order(pipelines):
    texts = [None if i % 777 == 5 else f"film {i % 13}" for i in range(2 * _GROUP_ROWS + 3)]
    table = pyarrow.table({"text": texts})
    for task, model in ("classify", "sequence"), ("embed", "lm"):
        predictor = Predictor(pipelines[model], task)
        known = dict(zip(texts, answers_of(predictor(table.slice(0, 20)), predictor)))
        assert answers_of(predictor(table), predictor) == [known[text] for text in texts]


@pytest.mark.parametrize(
    "kind", [pyarrow.large_string(), pyarrow.string_view(), pyarrow.dictionary(pyarrow.int32(), pyarrow.string())]
)
def test_texts_may_be_of_any_type_of_string(pipelines, kind):
    predictor = Predictor(pipelines["sequence"], "classify")
    column = pyarrow.array(["a fine film", None, "a fine film"]).cast(kind)
    expected = answers_of(predictor(pyarrow.table({"text": ["a fine film", None, "a fine film"]})), predictor)
    assert answers_of(predictor(pyarrow.table({"text": column})), predictor) == expected


def test_what_cannot_be_is_refused(pipelines):
    pipeline = pipelines["sequence"]
    predictor = Predictor(pipeline, "classify")
    twice = pyarrow.Table.from_arrays([pyarrow.array(["a"])] * 2, ["text", "text"])
    for call, said in {
        lambda: Predictor(pipeline, "guess"): "task: expected one of classify, scores, nli",
        lambda: Predictor(pipeline, "classify", ["a", "b", "c"]): "columns: expected 1 to 2 names for classify",
        lambda: Predictor(pipelines["nli"], "nli", "text"): "columns: expected 2 names for nli, got 'text'",
        lambda: Predictor(pipeline, "classify", [1]): "columns: expected 1 to 2 names",
        lambda: Predictor(pipeline, "classify", parameters={"top": 1}): "top: expected a parameter of classify",
        lambda: Predictor(pipelines["lm"], "embed", parameters={"dimensions": 17}): "dimensions: expected at most 16",
        lambda: Predictor(pipelines["nli"], "zero_shot"): "labels",
        lambda: Predictor(pipelines["lm"], "classify"): "model",
        lambda: Predictor(pipeline, "classify", threads=1): "threads: expected no option of a model that is open",
        lambda: predictor({"text": ["a"]}): "table: expected a pyarrow Table or RecordBatch, got dict",
        lambda: predictor(pyarrow.table({"id": [1]})): r"columns: expected one column 'text', got 0 in \['id'\]",
        lambda: predictor(twice): "columns: expected one column 'text', got 2",
        lambda: predictor(pyarrow.table({"text": ["a"], "label": [1], "error": [1]})): "label, error: expected no such",
        lambda: predictor(pyarrow.table({"text": [1]})): "texts: expected a column of strings",
        lambda: Predictor(pipelines["number"], "rerank")(
            pyarrow.table({"query": ["a"], "documents": ["a"]})
        ): "documents: expected a column of lists of texts, got string",
    }.items():
        with pytest.raises(deberta.InputError, match=said):
            call()


def test_a_closed_model_is_no_bad_row(models):
    table = pyarrow.table({"text": ["a", "b"]})
    for task, model in ("classify", "sequence"), ("scores", "sequence"), ("embed", "lm"):
        predictor = Predictor(models[model], task, threads=1)
        predictor.pipeline.close()
        with pytest.raises(deberta.InputError, match="expected an open model"):
            predictor(table)


def test_the_schema_follows_the_model(models, pipelines, tmp_path):
    two = make_model(tmp_path / "two", "sequence", labels=("entailment", "not_entailment"))
    predictor = Predictor(two, "nli", threads=1)
    assert predictor.answers.names[:3] == ["label", "entailment", "not_entailment"]
    assert without_nulls(predictor(pyarrow.table({"text": ["a"], "text_pair": ["b"]})).to_pylist()[0])["label"]
    folder = shutil.copytree(models["token"], tmp_path / "token")
    config = json.loads((folder / "config.json").read_text())
    config["aggregation_strategy"] = "none"
    (folder / "config.json").write_text(json.dumps(config))
    predictor = Predictor(folder, "ner", threads=1)
    (row,) = predictor(pyarrow.table({"text": ["a fine film"]})).to_pylist()
    assert [list(one) for one in row["entities"]] == [["entity", "score", "word", "start", "end", "index"]] * len(
        row["entities"]
    )
    assert row["entities"] == deberta.open(folder, threads=1).ner("a fine film").to_dict()["entities"]
    limits = {"truncate": "error", "max_tokens": 3}
    for task, model in ("ner", "token"), ("nli", "nli"), ("embed", "lm"):
        assert Predictor(pipelines[model], task, parameters=limits).answers == Predictor(pipelines[model], task).answers


def test_a_pickle_of_a_predictor_answers_the_same(models):
    predictor = Predictor(models["sequence"], "classify", "words", {"top_k": 2}, threads=1)
    kept = pickle.dumps(predictor)
    table = pyarrow.table({"words": A})
    assert len(kept) < 2000 and pickle.loads(kept)(table) == predictor(table)


@pytest.fixture
def ray(monkeypatch):
    """deberta.ray beside a stand-in for Ray, whose actor has three processors."""
    context = types.SimpleNamespace(get_assigned_resources=lambda: {"CPU": 3.0})
    monkeypatch.setitem(sys.modules, "ray", types.SimpleNamespace(get_runtime_context=lambda: context))
    yield importlib.import_module("deberta.ray")
    del sys.modules["deberta.ray"]


def test_an_actor_of_ray_has_the_threads_of_its_processors(models, ray):
    assert ray.Predictor(models["sequence"], "classify").pipeline._options["threads"] == 3
    predictor = ray.Predictor(models["sequence"], "classify", "words", {"top_k": 1}, threads=1)
    assert predictor.pipeline._options["threads"] == 1
    table = pyarrow.table({"words": A})
    assert predictor(table) == Predictor(models["sequence"], "classify", "words", {"top_k": 1}, threads=1)(table)


def spark_types(kind):
    """Every type within a type."""
    children = [kind.field(i).type for i in range(kind.num_fields)]
    return [kind, *itertools.chain.from_iterable(map(spark_types, children))]


def test_a_worker_of_spark_opens_a_model_once(models, tmp_path):
    import deberta.spark as spark

    folder = shutil.copytree(models["lm"], tmp_path / "model")
    pipeline = deberta.open(folder, threads=1)
    opening = pipeline.__reduce__()[1]
    table = pyarrow.table({"text": ["a fine film", None]})
    for parameters in {}, {"pooling": "none"}:
        answer = spark._worker(opening, "embed", ("text",), parameters)
        made = pyarrow.Table.from_batches([batch for _ in range(2) for batch in answer(iter(table.to_batches()))])
        assert made.to_pylist() == Predictor(pipeline, "embed", parameters=parameters)(table).to_pylist() * 2
    assert spark._pipeline_of(*opening) is spark._pipeline_of(*opening)
    spark._opened.cache_clear()
    (folder / "config.json").write_text((folder / "config.json").read_text() + " ")
    with pytest.raises(deberta.InputError, match="expected the model that was pickled"):
        list(answer(iter(table.to_batches())))


@pytest.mark.parametrize("case", CASES, ids=[f"{case[0]}-{i}" for i, case in enumerate(CASES)])
def test_spark_has_every_type(pipelines, case):
    import deberta.spark as spark

    task, table, names, _, parameters = cases_of(case)
    predictor = Predictor(pipelines[case[1]], task, names, parameters)
    expected = predictor(table).to_pylist()
    predictor.answers = spark._spark_schema(predictor)
    assert predictor(table).to_pylist() == expected
    known = [pyarrow.string(), pyarrow.int64(), pyarrow.float64(), pyarrow.float32(), pyarrow.bool_()]
    for kind in itertools.chain.from_iterable(spark_types(field.type) for field in predictor.answers):
        assert kind in known or pyarrow.types.is_list(kind) or pyarrow.types.is_struct(kind)


def test_spark_has_the_schema_in_its_words(pipelines):
    import deberta.spark as spark

    predictor = Predictor(pipelines["token"], "ner")
    ddl = [spark._ddl(field.type) for field in spark._spark_schema(predictor)]
    assert ddl == [
        "array<struct<`entity_group`: string, `score`: double, `word`: string, `start`: bigint, `end`: bigint>>",
        "bigint",
        "boolean",
        "struct<`code`: string, `message`: string>",
    ]
    embedding = spark._spark_schema(Predictor(pipelines["lm"], "embed")).field("embedding")
    assert spark._ddl(embedding.type) == "array<float>"


def test_the_first_example_of_the_guide_runs():
    printed = run_python(re.search(r"^```python\n(.*?)^```", GUIDE, re.M | re.S)[1], cwd=ROOT).splitlines()
    names = ["id", "text", "label", "score", "labels", "cut_tokens", "empty", "error"]
    assert printed == [str(names), "['positive', None]", "text: expected a text, got null"]


def test_an_import_of_tables_brings_no_engine():
    code = "import sys, deberta.tables, deberta.spark; print({'ray', 'pyspark', 'duckdb', 'polars'} & set(sys.modules))"
    assert run_python(code) == "set()\n"
