"""Every column of every task, and every class that users of other libraries know, given what is none: an error of the
package that names the column, whatever it is; a bad row stays in its place; nothing is read as something else."""

import types

import deberta
import numpy
import pyarrow
import pytest

GOOD = ["a fine film", "a dull one"]
LISTS = [["good", "bad"], ["film", "part"]]


class Frame:
    """A table as pandas and polars have it: it iterates over the names of its columns."""

    columns = ("text", "other")
    ndim = 2

    def __iter__(self):
        return iter(self.columns)

    def __getitem__(self, name):
        return GOOD


class Series:
    """A column of pandas; Arrow has no type for one of objects."""

    def __init__(self, values):
        self._values = values

    def __arrow_c_stream__(self, requested_schema=None):
        raise pyarrow.ArrowTypeError("Expected bytes, got a 'int' object")

    def tolist(self):
        return list(self._values)


# {name: what is no column of texts}
NO_COLUMN = {
    "a number": lambda: 7,
    "a fraction": lambda: 0.5,
    "a truth": lambda: True,
    "bytes": lambda: b"ab",
    "a bytearray": lambda: bytearray(b"ab"),
    "a dict": lambda: {"a": 1, "b": 2},
    "a set": lambda: {"a", "b"},
    "a class": lambda: numpy.ndarray,
    "a namespace": types.SimpleNamespace,
    "an array of no dimension": lambda: numpy.array("a"),
    "a table": Frame,
    "a table of Arrow": lambda: pyarrow.table({"a": GOOD, "b": GOOD}),
    "integers of Arrow": lambda: pyarrow.array([1, 2]),
    "categories of Arrow": lambda: pyarrow.array(GOOD).dictionary_encode(),
    "a capsule that is none": lambda: type("X", (), {"__arrow_c_array__": lambda self: 5})(),
}
# {name: what is no text}; in the second row of two
NO_TEXT = {
    "None": None,
    "a number": 5,
    "a truth": True,
    "a gap as pandas has it": float("nan"),
    "a number of NumPy": numpy.int64(3),
    "bytes": b"a",
    "a list": ["a"],
    "a dict": {"text": "a"},
    "a lone surrogate": "x\ud800",
    "an object": object(),
}
# {name: what is no list of texts, or has such a text}; the argument is the list, documents[1]
NO_LIST = {
    "None": None,
    "a text": "b",
    "a number": 5,
    "a gap as pandas has it": float("nan"),
    "a generator": (text for text in "ab"),
    "a dict": {"a": 1},
    "a set": {"a"},
    "bytes": b"a",
    "None in it": ["a", None],
    "a level too deep": [["a"]],
    "a lone surrogate in it": ["\ud800"],
    "numbers": numpy.ones(2),
}
# {task: (model, its columns, more)}
TASKS = {
    "classify": ("sequence", {"texts": GOOD, "pairs": GOOD}, {}),
    "scores": ("sequence", {"texts": GOOD, "pairs": GOOD}, {}),
    "nli": ("nli", {"premises": GOOD, "hypotheses": GOOD}, {}),
    "zero_shot": ("nli", {"texts": GOOD}, {"labels": ["art"]}),
    "ner": ("token", {"texts": GOOD}, {}),
    "extract": ("extractor", {"texts": GOOD}, {"labels": ["person"]}),
    "qa": ("span", {"questions": GOOD, "contexts": GOOD}, {}),
    "choose": ("number", {"contexts": GOOD, "choices": LISTS, "questions": GOOD}, {}),
    "rerank": ("number", {"queries": GOOD, "documents": LISTS}, {}),
    "fill": ("lm", {"texts": ["a [MASK]", "[MASK] b"]}, {}),
    "score": ("lm", {"texts": GOOD}, {}),
    "embed": ("lm", {"texts": GOOD}, {}),
    "similarity": ("lm", {"texts": GOOD, "pairs": GOOD}, {}),
    "detect": ("rtd", {"texts": GOOD}, {}),
}
COLUMNS = [(task, name) for task, (_, columns, _) in TASKS.items() for name in columns]
OF_LISTS = ("choices", "documents")
OPTIONAL = {("classify", "pairs"), ("scores", "pairs"), ("choose", "questions")}
KEEPS = [(task, name) for task, name in COLUMNS if task not in ("scores", "embed")]


def refusal(call):
    with pytest.raises(deberta.InputError) as caught:
        call()
    return caught.value


@pytest.mark.parametrize("task, column", COLUMNS)
def test_what_is_no_column_is_refused_by_its_name(pipelines, task, column):
    model, columns, more = TASKS[task]
    values = {**NO_COLUMN, **({} if (task, column) in OPTIONAL else {"None": lambda: None})}
    for name, make in values.items():
        if column in OF_LISTS and name in ("integers of Arrow", "categories of Arrow"):
            continue  # a row each
        error = refusal(lambda make=make: getattr(pipelines[model], task)(**{**columns, column: make()}, **more))
        assert error.argument == column and error.message.startswith(f"{column}: expected"), name


@pytest.mark.parametrize("task, column", [one for one in KEEPS if one[1] not in OF_LISTS])
def test_a_row_that_is_no_text_is_bad_in_its_place(pipelines, task, column):
    model, columns, more = TASKS[task]
    method = getattr(pipelines[model], task)
    good = method(**columns, **more)[0]
    for name, value in NO_TEXT.items():
        given = {**columns, column: [columns[column][0], value], **more}
        answers = method(**given, errors="keep")
        assert answers[0] == good and answers[1].argument == column, name
        assert answers[1].message.startswith(f"{column}[1]: expected "), name
        assert refusal(lambda given=given: method(**given)) == answers[1]
        assert [*method(**{**given, column: Series(given[column])}, errors="keep")] == [*answers]
        array = numpy.empty(2, object)
        array[:] = given[column]
        assert [*method(**{**given, column: array}, errors="keep")] == [*answers]


@pytest.mark.parametrize("task, column", [one for one in COLUMNS if one[1] in OF_LISTS])
def test_a_row_that_is_no_list_is_bad_in_its_place(pipelines, task, column):
    model, columns, _ = TASKS[task]
    method = getattr(pipelines[model], task)
    good = method(**columns)[0]
    for name, value in NO_LIST.items():
        given = {**columns, column: [columns[column][0], value]}
        answers = method(**given, errors="keep")
        assert answers[0] == good and answers[1].argument == f"{column}[1]", name
        assert answers[1].message.startswith(f"{column}[1]"), name
    for lists in (numpy.array([["a", "b"], ["c", "d"]]), pyarrow.array([["a", "b"], ["c", "d"]])):
        assert method(**{**columns, column: lists}) == method(**{**columns, column: lists.tolist()})


def test_a_stream_keeps_rows_that_are_no_lists(pipelines):
    rows = [("a", ["b"]), ("a", "b"), ("a", ["b", None]), ("a", ["b"])]
    answers = list(pipelines["number"].stream("rerank", rows, group=2))
    assert answers[0] == answers[3]
    assert [(answers[i].argument, answers[i].message) for i in (1, 2)] == [
        ("documents[1]", "documents[1]: expected a list of texts, got one text"),
        ("documents[2]", "documents[2][1]: expected a text, got None"),
    ]


# {name: (model, call with what is no column); what some of them take as one text or row is not given to these}
OF_OTHERS = {
    "CrossEncoder.predict": ("number", lambda p, x: deberta.CrossEncoder(p).predict(x)),
    "CrossEncoder.rank": ("number", lambda p, x: deberta.CrossEncoder(p).rank("a", x)),
    "SentenceTransformer.encode": ("lm", lambda p, x: deberta.SentenceTransformer(p).encode(x)),
    "SentenceTransformer.encode_query": ("lm", lambda p, x: deberta.SentenceTransformer(p).encode_query(x)),
    "GLiNER.inference": ("extractor", lambda p, x: deberta.GLiNER(p).inference(x, ["person"])),
    "text-classification": ("sequence", lambda p, x: deberta.pipeline("text-classification", p)(x)),
    "zero-shot-classification": (
        "nli",
        lambda p, x: deberta.pipeline("zero-shot-classification", p)(x, candidate_labels=["art"]),
    ),
    "ner": ("token", lambda p, x: deberta.pipeline("ner", p)(x)),
    "question-answering": ("span", lambda p, x: deberta.pipeline("question-answering", p)(x)),
    "questions": ("span", lambda p, x: deberta.pipeline("question-answering", p)(question=x, context="a")),
    "contexts": ("span", lambda p, x: deberta.pipeline("question-answering", p)(question=["a"], context=x)),
    "fill-mask": ("lm", lambda p, x: deberta.pipeline("fill-mask", p)(x)),
    "feature-extraction": ("lm", lambda p, x: deberta.pipeline("feature-extraction", p)(x)),
    "labels": ("nli", lambda p, x: deberta.pipeline("zero-shot-classification", p)("a", candidate_labels=x)),
    "stream": ("sequence", lambda p, x: list(p.stream("classify", x))),
    "encode": ("sequence", lambda p, x: p.tokenizer.encode(x)),
    "pairs of encode": ("sequence", lambda p, x: p.tokenizer.encode(GOOD, x or 0)),
    "evaluate": (None, lambda p, x: deberta.evaluate("sst-2", x)),
}


@pytest.mark.parametrize("name", OF_OTHERS)
def test_classes_of_others_refuse_what_is_no_column(pipelines, name):
    model, call = OF_OTHERS[name]
    values = [make for kind, make in NO_COLUMN.items() if "Arrow" not in kind or "capsule" in kind]
    rows = [lambda: [None], lambda: [b"a"], lambda: [["a", ["b"]]], lambda: [5, 6]]
    if name == "stream":  # where bad rows stay in their place
        rows = []
    for make in [*values, lambda: None, *rows]:
        refusal(lambda make=make: call(model and pipelines[model], make()))


@pytest.mark.parametrize(
    "name, bad",
    [("CrossEncoder.predict", "ab"), ("CrossEncoder.rank", "ab"), ("CrossEncoder.predict", ["a", "b", "c"])],
)
def test_the_letters_of_a_text_are_no_texts(pipelines, name, bad):
    model, call = OF_OTHERS[name]
    assert "expected a list of" in str(refusal(lambda: call(pipelines[model], bad))) or len(bad) == 3


def test_columns_of_every_kind_are_texts_for_the_classes_of_others(pipelines):
    encoder, model = deberta.CrossEncoder(pipelines["number"]), deberta.SentenceTransformer(pipelines["lm"])
    ranked, vectors = encoder.rank("a", GOOD), model.encode(GOOD)
    for column in (tuple(GOOD), numpy.array(GOOD), Series(GOOD), pyarrow.array(GOOD), pyarrow.chunked_array([GOOD])):
        assert encoder.rank("a", column) == ranked and (model.encode(column) == vectors).all()
    pairs = [[text, "a"] for text in GOOD]
    scores = encoder.predict(pairs)
    for given in (numpy.array(pairs), zip(GOOD, "aa"), [tuple(pair) for pair in pairs]):
        assert (encoder.predict(given) == scores).all()


# {name: (model, call)}: parameters of the classes of others
BAD_PARAMETERS = {
    "a prompt": ("number", lambda p: deberta.CrossEncoder(p).predict([("a", "b")], prompt=5)),
    "a prompt's name": ("number", lambda p: deberta.CrossEncoder(p).predict([("a", "b")], prompt_name=["q"])),
    "prompts": ("number", lambda p: deberta.CrossEncoder(p, prompts=5)),
    "a prompt of prompts": (
        "lm",
        lambda p: deberta.SentenceTransformer(p, prompts={"q": 5}).encode("a", prompt_name="q"),
    ),
    "a size": ("number", lambda p: deberta.CrossEncoder(p).predict([("a", "b")], batch_size="32")),
    "a size of none": ("lm", lambda p: deberta.SentenceTransformer(p).encode("a", batch_size=0)),
    "an activation": ("number", lambda p: deberta.CrossEncoder(p).predict([("a", "b")], activation_fn="sigmoid")),
    "a query": ("number", lambda p: deberta.CrossEncoder(p).rank(None, ["a"])),
    "a count": ("number", lambda p: deberta.CrossEncoder(p).rank("a", ["b"], top_k="3")),
    "a count below": ("number", lambda p: deberta.CrossEncoder(p).rank("a", ["b"], top_k=-1)),
    "an option": ("number", lambda p: deberta.CrossEncoder(p.path, model_kwargs={"a": 1})),
    "vectors of words": ("lm", lambda p: deberta.SentenceTransformer(p).similarity("a", "b")),
    "vectors of other sizes": (
        "lm",
        lambda p: deberta.SentenceTransformer(p).similarity(numpy.ones((2, 3)), numpy.ones((2, 4))),
    ),
    "ragged vectors": ("lm", lambda p: deberta.SentenceTransformer(p).similarity([[1], [1, 2]], [[1]])),
    "fewer vectors": (
        "lm",
        lambda p: deberta.SentenceTransformer(p).similarity_pairwise(numpy.ones((2, 3)), numpy.ones((3, 3))),
    ),
    "labels": ("extractor", lambda p: deberta.GLiNER(p).predict_entities("a", None)),
    "labels of fewer texts": ("extractor", lambda p: deberta.GLiNER(p).inference(["a", "b"], [["person"]])),
    "class probabilities": (
        "extractor",
        lambda p: deberta.GLiNER(p).predict_entities("a", ["x"], return_class_probs=True),
    ),
    "spans to classify": ("extractor", lambda p: deberta.GLiNER(p).inference("a", ["x"], input_spans=[[]])),
    "a quantised GLiNER": ("extractor", lambda p: deberta.GLiNER.from_pretrained(p.path, quantize="int8")),
    "a row without a text": ("sequence", lambda p: deberta.pipeline("text-classification", p)({"txt": "a"})),
    "a question without a context": ("span", lambda p: deberta.pipeline("question-answering", p)({"question": "a"})),
    "a row that is no question": ("span", lambda p: deberta.pipeline("question-answering", p)(["a", "b"])),
    "top_k of text": ("sequence", lambda p: deberta.pipeline("text-classification", p)("a", top_k="two")),
    "top_k of none": ("sequence", lambda p: deberta.pipeline("text-classification", p)("a", top_k=0)),
    "a truncation": ("sequence", lambda p: deberta.pipeline("text-classification", p)("a", truncation="only_second")),
    "a tokenizer's settings": ("lm", lambda p: deberta.pipeline("fill-mask", p)("[MASK]", tokenizer_kwargs=5)),
    "a revision": ("lm", lambda p: deberta.pipeline("fill-mask", p.path, revision="v2")),
    "a map of devices": ("lm", lambda p: deberta.pipeline("fill-mask", p.path, device_map={"": 0})),
    "a half dtype": ("lm", lambda p: deberta.pipeline("fill-mask", p.path, torch_dtype="float16")),
    "no model": (None, lambda p: deberta.pipeline("fill-mask")),
    "no task": ("lm", lambda p: deberta.pipeline(model=p)),
    "a task that is a list": ("lm", lambda p: deberta.pipeline(["ner"], p)),
    "a task of no text": (None, lambda p: deberta.evaluate(5, "dev.tsv")),
    "a path with a zero byte": (None, lambda p: deberta.evaluate("sst-2", "dev\0.tsv")),
    "a folder of no path": (None, lambda p: deberta.train.finetune(output_dir=5)),
}


@pytest.mark.parametrize("name", BAD_PARAMETERS)
def test_classes_of_others_refuse_parameters_that_are_none(pipelines, monkeypatch, name):
    monkeypatch.setattr(deberta.train, "find_trainer", lambda: "/bin/false")
    model, call = BAD_PARAMETERS[name]
    refusal(lambda: call(model and pipelines[model]))


def test_what_transformers_is_told_of_lengths_and_dtypes_holds(models, pipelines):
    text = "a fine film " * 30
    classify = deberta.pipeline("text-classification", models["sequence"], threads=1, tokenizer=models["sequence"])
    cut = classify.pipeline.classify(text, max_tokens=8)
    assert classify(text, truncation=True, max_length=8)[0]["score"] == cut.score
    with pytest.raises(deberta.InputError, match="expected at most 8 tokens"):
        classify(text, truncation=False, max_length=8)
    assert classify(text, function_to_apply="SIGMOID") == classify(text, function_to_apply="sigmoid")
    fill = deberta.pipeline("fill-mask", models["lm"], threads=1, torch_dtype="torch.float32", use_fast=False)
    short = fill("[MASK] " + text, tokenizer_kwargs={"truncation": True, "max_length": 8}, top_k=1)
    assert short[0]["sequence"] != fill("[MASK] " + text, top_k=1)[0]["sequence"]


def test_labels_of_gliner_may_be_each_texts_own(pipelines):
    model = deberta.GLiNER(pipelines["extractor"])
    texts, labels = ["a fine film", "a dull one", "a part"], [["person"], {"place": "a city"}, ["person"]]
    found = model.inference(texts, labels, threshold=0, packing_config=None)
    assert found == [model.predict_entities(text, own, threshold=0) for text, own in zip(texts, labels)]


# {name: a call of what was made of a pipeline}
CLOSED = {
    **{task: lambda p, task=task: getattr(p, task)(**TASKS[task][1], **TASKS[task][2]) for task in TASKS},
    "stream": lambda p: next(p.stream("classify", GOOD)),
    "tokenizer": lambda p: p.tokenizer,
    "forward": lambda p: p.model.forward([[1, 2]]),
    "info": lambda p: p.model.info,
    "config": lambda p: p.model.config,
    "attention_terms": lambda p: deberta.analysis.attention_terms(p, "a"),
    "CrossEncoder": lambda p: deberta.CrossEncoder(p),
    "SentenceTransformer": lambda p: deberta.SentenceTransformer(p).encode("a"),
    "GLiNER": lambda p: deberta.GLiNER(p).predict_entities("a", ["x"]),
    "text-classification": lambda p: deberta.pipeline("text-classification", p)("a"),
    "ner": lambda p: deberta.pipeline("ner", p)("a"),
}


@pytest.mark.parametrize("name", CLOSED)
def test_what_was_made_of_a_closed_pipeline_refuses(models, name):
    pipeline = deberta.open(models[TASKS[name][0] if name in TASKS else "sequence"], threads=1)
    pipeline.close()
    assert refusal(lambda: CLOSED[name](pipeline)).message == "model: expected an open model, got one that was closed"
