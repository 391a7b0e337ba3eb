"""Bad input of every kind: the class of the exception, its code, its argument and its message."""

import pickle

import deberta
import numpy
import pytest

ENDLESS = []
ENDLESS.append(ENDLESS)
# (name of the pipeline, call, code, argument, message)
TABLE = {
    "a number": (
        "sequence",
        lambda p: p.classify(7),
        "input",
        "texts",
        "texts: expected a text or a list of texts, got int",
    ),
    "None": (
        "sequence",
        lambda p: p.classify(None),
        "input",
        "texts",
        "texts: expected a text or a list of texts, got None",
    ),
    "bytes": (
        "sequence",
        lambda p: p.classify(b"a"),
        "input",
        "texts",
        "texts: expected a text or a list of texts, got bytes",
    ),
    "a generator": (
        "sequence",
        lambda p: p.classify(t for t in "ab"),
        "input",
        "texts",
        "texts: expected a text or a list of texts, got generator",
    ),
    "None in a list": (
        "sequence",
        lambda p: p.classify(["a", None]),
        "input",
        "texts",
        "texts[1]: expected a text, got None",
    ),
    "a number in a tuple": (
        "sequence",
        lambda p: p.classify(("a", "b", 1.5)),
        "input",
        "texts",
        "texts[2]: expected a text, got float",
    ),
    "a list in a list": (
        "sequence",
        lambda p: p.classify(["a", ["b"]]),
        "input",
        "texts",
        "texts[1]: expected a text, got list",
    ),
    "a lone surrogate": (
        "sequence",
        lambda p: p.classify(["a", "x\ud800"]),
        "input",
        "texts",
        "texts[1]: expected text, got a lone surrogate, which no encoding has",
    ),
    "an array of numbers": (
        "sequence",
        lambda p: p.classify(numpy.ones(2)),
        "input",
        "texts",
        "texts[0]: expected a text, got float",
    ),
    "fewer pairs": (
        "sequence",
        lambda p: p.classify(["a", "b"], ["c"]),
        "input",
        "pairs",
        "pairs: expected 2, as many as texts, got 1",
    ),
    "a pair of another kind": (
        "sequence",
        lambda p: p.classify("a", ["b"]),
        "input",
        "pairs",
        "pairs[0]: expected a text, got list",
    ),
    "one pair for a list": (
        "sequence",
        lambda p: p.classify(["a", "b"], "c"),
        "input",
        "pairs",
        "pairs: expected a list of texts, got one text",
    ),
    "one document that is no list": (
        "number",
        lambda p: p.rerank("a", "b"),
        "input",
        "documents[0]",
        "documents[0]: expected a list of texts, got one text",
    ),
    "no contexts": (
        "span",
        lambda p: p.qa(["a"], [None]),
        "input",
        "contexts",
        "contexts[0]: expected a text, got None",
    ),
    "documents without a list": (
        "number",
        lambda p: p.rerank(["a"], "b"),
        "input",
        "documents",
        "documents: expected a list with a list of texts for each row",
    ),
    "None among documents": (
        "number",
        lambda p: p.rerank("a", ["b", None]),
        "input",
        "documents[0]",
        "documents[0][1]: expected a text, got None",
    ),
    "an unknown parameter": (
        "sequence",
        lambda p: p.classify("a", max_token=3),
        "usage",
        "max_token",
        "max_token: no parameter of classify; did you mean max_tokens?",
    ),
    "a parameter of another type": (
        "sequence",
        lambda p: p.classify("a", max_tokens="3"),
        "usage",
        "max_tokens",
        'max_tokens: expected an integer in 3..1048576, got "3" (string)',
    ),
    "a parameter out of range": (
        "sequence",
        lambda p: p.classify("a", max_tokens=2),
        "usage",
        "max_tokens",
        "max_tokens: expected an integer in 3..1048576, got 2 (integer)",
    ),
    "True for a number": (
        "sequence",
        lambda p: p.classify("a", top_k=True),
        "usage",
        "top_k",
        "top_k: expected an integer in 0..100000, got true (boolean)",
    ),
    "a word that is none": (
        "sequence",
        lambda p: p.classify("a", truncate="middle"),
        "usage",
        "truncate",
        'truncate: expected one of right|left|window|error, got "middle" (string)',
    ),
    "a text for a list": (
        "nli",
        lambda p: p.zero_shot("a", "sport"),
        "usage",
        "labels",
        'labels: expected a list of texts, got "sport" (string)',
    ),
    "a number too large": (
        "sequence",
        lambda p: p.classify("a", top_k=1 << 70),
        "input",
        "top_k",
        "top_k: expected an integer of 64 bits, got a larger one",
    ),
    "an object for a parameter": (
        "sequence",
        lambda p: p.classify("a", top_k=object()),
        "input",
        "top_k",
        "top_k: expected None, a bool, a number, a text, a list or a dict, got object",
    ),
    "a list without end": (
        "sequence",
        lambda p: p.classify("a", benign_labels=ENDLESS),
        "input",
        "benign_labels",
        "benign_labels: expected at most 64 levels of lists and dicts, got more",
    ),
    "errors of another word": (
        "sequence",
        lambda p: p.classify("a", errors="skip"),
        "usage",
        "errors",
        "errors: expected raise or keep, got 'skip'",
    ),
    "a model without the head": ("sequence", lambda p: p.fill("a [MASK]"), "task", None, None),
    "a text without a mask": ("lm", lambda p: p.fill("a"), "input", None, None),
    "no labels": ("extractor", lambda p: p.extract("a", None), "usage", "labels", "labels: expected labels, got none"),
    "a threshold of no label": (
        "extractor",
        lambda p: p.extract("a", ["x"], threshold={"y": 0.5}),
        "usage",
        "threshold",
        'threshold: expected one of the labels, got "y"',
    ),
    "too long": (
        "sequence",
        lambda p: p.classify("a " * 99, max_tokens=9, truncate="error"),
        "text-too-long",
        None,
        None,
    ),
    "an id outside": ("sequence", lambda p: p.model.forward([[1, 99999, 2]]), "token-id", None, None),
    "ids that are texts": (
        "sequence",
        lambda p: p.model.forward([["a"]]),
        "input",
        "ids",
        "ids: expected integers of 32 bits, got 'a'",
    ),
    "ids of fractions": (
        "sequence",
        lambda p: p.model.forward(numpy.ones((1, 3))),
        "input",
        "ids",
        "ids: expected integers of 32 bits, got 1.0",
    ),
    "no ids": (
        "sequence",
        lambda p: p.model.forward([]),
        "input",
        "ids",
        "ids: expected at least one sequence, got none",
    ),
    "None for ids": (
        "sequence",
        lambda p: p.model.forward(None),
        "input",
        "ids",
        "ids: expected a list of lists of integers",
    ),
    "a mask of no rows": (
        "sequence",
        lambda p: p.model.forward([[1, 2]], mask=[]),
        "input",
        "mask",
        "mask: expected at least one sequence, got none",
    ),
    "ragged ids with a mask": (
        "sequence",
        lambda p: p.model.forward([[1, 2], [1, 5, 2]], mask=[[1, 1], [1, 1, 1]]),
        "input",
        "ids",
        "ids: expected rows of one length where there is a mask",
    ),
    "a mask of another shape": (
        "sequence",
        lambda p: p.model.forward([[1, 2]], mask=[[1]]),
        "input",
        "mask",
        "mask: expected as many rows as ids, each as long as its ids",
    ),
    "a layer that is none": (
        "sequence",
        lambda p: p.model.forward([[1, 2]], layers=[9]),
        "usage",
        "layers",
        "layers: expected 0..2, or from the end, got 9",
    ),
    "a text for the rows of a stream": (
        "sequence",
        lambda p: p.stream("classify", "a fine film"),
        "input",
        "rows",
        "rows: expected an iterable of rows, got str",
    ),
    "attention to no text": (
        "sequence",
        lambda p: deberta.analysis.attention_terms(p, None),
        "input",
        "text",
        "text[0]: expected a text, got None",
    ),
    "attention to a pair that is none": (
        "sequence",
        lambda p: deberta.analysis.attention_terms(p, "a", 5),
        "input",
        "pair",
        "pair[0]: expected a text, got int",
    ),
    "an unknown task": ("sequence", lambda p: next(p.stream("guess", ["a"])), "usage", "task", None),
    "a dtype that is none": (
        "sequence",
        lambda p: deberta.open(p.path, dtype="fp16"),
        "usage",
        "dtype",
        'dtype: expected one of auto, fp32, bf16, int8, got "fp16"',
    ),
    "threads below": (
        "sequence",
        lambda p: deberta.open(p.path, threads=-1),
        "usage",
        "threads",
        "threads: expected an integer in 0..1024, got -1",
    ),
    "no name": ("sequence", lambda p: deberta.open(""), "usage", "model", "model: expected a name or a path, got ''"),
    "a name of another type": (
        "sequence",
        lambda p: deberta.open(7),
        "usage",
        "model",
        "model: expected a name or a path, got 7",
    ),
    "a name of other bytes": (
        "sequence",
        lambda p: deberta.open("model\udcff"),
        "usage",
        "model",
        "model: expected a path of UTF-8, got 'model\\udcff'",
    ),
    "parameters of no task": (
        "sequence",
        lambda p: deberta.parameters("guess"),
        "usage",
        "task",
        "task: expected a task, got 'guess'",
    ),
    "more dimensions": (
        "lm",
        lambda p: p.embed("a", dimensions=99),
        "usage",
        "dimensions",
        "dimensions: expected at most 16, the model's, got 99",
    ),
    "None to embed": ("lm", lambda p: p.embed(["a", None]), "input", "texts", "texts[1]: expected a text, got None"),
    "a prompt that is no text": (
        "lm",
        lambda p: p.embed("a", prompt=5),
        "usage",
        "prompt",
        "prompt: expected a text, got 5 (integer)",
    ),
    "a prompt with a lone surrogate": (
        "lm",
        lambda p: p.embed("a", prompt="\ud800"),
        "input",
        "prompt",
        "prompt: expected text, got a lone surrogate, which no encoding has",
    ),
    "a parameter's name with a lone surrogate": (
        "sequence",
        lambda p: p.classify("a", **{"\ud800": 1}),
        "input",
        "parameters",
        "parameters: expected text, got a lone surrogate, which no encoding has",
    ),
    "None to tokenize": (
        "lm",
        lambda p: p.tokenizer.encode(["a", None]),
        "input",
        "texts",
        "texts[1]: expected a text, got None",
    ),
    "a piece that is none": ("lm", lambda p: p.tokenizer.piece(99999), "token-id", None, None),
    "an id of 41 bits": (
        "lm",
        lambda p: p.tokenizer.piece(1 << 40),
        "input",
        "id",
        "id: expected integers of 32 bits, got 1099511627776",
    ),
    "an id of 200 bits": ("lm", lambda p: p.tokenizer.decode([1, 1 << 200]), "input", "ids", None),
    "ids that are text": (
        "lm",
        lambda p: p.tokenizer.decode("12"),
        "input",
        "ids",
        "ids: expected a list of integers, got str",
    ),
    "an id that is text": (
        "lm",
        lambda p: p.tokenizer.decode(["1"]),
        "input",
        "ids",
        "ids: expected integers of 32 bits, got '1'",
    ),
    "an id that is a fraction": ("lm", lambda p: p.tokenizer.decode(numpy.array([1.5])), "input", "ids", None),
    "a piece that is a number": (
        "lm",
        lambda p: p.tokenizer.id_of(5),
        "usage",
        "piece",
        "piece: expected a text, got 5 (integer)",
    ),
    "a piece that is None": ("lm", lambda p: p.tokenizer.id_of(None), "usage", "piece", None),
    "a layer of 41 bits": ("lm", lambda p: p.model.forward([[1, 2]], layers=[1 << 40]), "input", "layers", None),
    "layers that are a number": (
        "lm",
        lambda p: p.model.forward([[1, 2]], layers=1),
        "input",
        "layers",
        "layers: expected a list of integers, got int",
    ),
    "an array of no dimension for ids": (
        "lm",
        lambda p: p.tokenizer.decode(numpy.array(1)),
        "input",
        "ids",
        "ids: expected a list of integers, got ndarray",
    ),
    "a number for labels": (
        "extractor",
        lambda p: p.extract("a", 5),
        "input",
        "labels",
        "labels: expected a list, or an object of descriptions, got 5 (integer)",
    ),
    "a list for a label": (
        "extractor",
        lambda p: p.extract("a", [["person"]]),
        "input",
        "labels",
        "labels: expected texts or objects, got an array",
    ),
    "truths for ids": (
        "sequence",
        lambda p: p.model.forward(numpy.array([[True, False]])),
        "input",
        "ids",
        "ids: expected integers of 32 bits, got True",
    ),
    "a truth for an id": ("lm", lambda p: p.tokenizer.piece(True), "input", "id", None),
    "bytes for ids": (
        "lm",
        lambda p: p.tokenizer.decode(bytearray(b"12")),
        "input",
        "ids",
        "ids: expected a list of integers, got bytearray",
    ),
    "no ids to decode": (
        "lm",
        lambda p: p.tokenizer.decode(None),
        "input",
        "ids",
        "ids: expected a list of integers, got NoneType",
    ),
    "no id": ("lm", lambda p: p.tokenizer.piece(None), "input", "id", "id: expected integers of 32 bits, got None"),
    "a number for a truth": (
        "lm",
        lambda p: p.tokenizer.decode([1], skip_special_tokens=1),
        "usage",
        "skip_special_tokens",
        "skip_special_tokens: expected True or False, got 1 (integer)",
    ),
    "a text for a truth": (
        "lm",
        lambda p: p.model.forward([[1, 2]], logits="no"),
        "usage",
        "logits",
        'logits: expected True or False, got "no" (string)',
    ),
    "no layers": (
        "lm",
        lambda p: p.model.forward([[1, 2]], layers=None),
        "input",
        "layers",
        "layers: expected a list of integers, got NoneType",
    ),
    "no layers of attention": (
        "lm",
        lambda p: deberta.analysis.attention_terms(p, "a", layers=None),
        "input",
        "layers",
        "layers: expected a list of integers, got NoneType",
    ),
    "a kind of tokenizer that is none": (
        "lm",
        lambda p: deberta.Tokenizer(p.path, kind=None),
        "usage",
        "kind",
        "kind: expected slow or fast, got None",
    ),
    "an option that is none": (
        "lm",
        lambda p: deberta.open(p.path, batch_size=8),
        "usage",
        "batch_size",
        "batch_size: expected an option of deberta.open: dtype, threads, device, compat, tokenizer, "
        "allow_uncalibrated, batch_tokens, share_weights",
    ),
    "a text for a truth of opening": (
        "lm",
        lambda p: deberta.open(p.path, allow_uncalibrated="yes"),
        "usage",
        "allow_uncalibrated",
        "allow_uncalibrated: expected True or False, got 'yes'",
    ),
    "a number for a truth of opening": (
        "lm",
        lambda p: deberta.open(p.path, share_weights=1),
        "usage",
        "share_weights",
        "share_weights: expected True or False, got 1",
    ),
    "a word with a lone surrogate": (
        "lm",
        lambda p: deberta.open(p.path, dtype="\ud800"),
        "usage",
        "dtype",
        "dtype: expected a word, got '\\ud800'",
    ),
    "threads of a truth": (
        "lm",
        lambda p: deberta.open(p.path, threads=True),
        "usage",
        "threads",
        "threads: expected an integer in 0..1024, got True",
    ),
    "a name with a zero byte": ("lm", lambda p: deberta.open(p.path + "\0x"), "usage", "model", None),
    "parameters of None": (
        "lm",
        lambda p: deberta.parameters(None),
        "usage",
        "task",
        "task: expected a task, got None",
    ),
    "None for the rows of a stream": (
        "sequence",
        lambda p: p.stream("classify", None),
        "input",
        "rows",
        "rows: expected an iterable of rows, got NoneType",
    ),
    "a layer of text": (
        "sequence",
        lambda p: deberta.analysis.attention_terms(p, "a", layers=["1"]),
        "input",
        "layers",
        "layers: expected integers of 32 bits, got '1'",
    ),
}


@pytest.mark.parametrize("case", TABLE)
def test_bad_input_is_an_error_of_the_package(pipelines, case):
    name, call, code, argument, message = TABLE[case]
    with pytest.raises(deberta.InputError) as caught:
        call(pipelines[name])
    error = caught.value
    assert isinstance(error, ValueError) and error.code == code
    assert error.argument == argument or argument is None
    assert message is None or str(error) == message
    assert pickle.loads(pickle.dumps(error)) == error


def test_files_that_are_not_there_are_os_errors(tmp_path):
    for name in ("nowhere/at/all", "nobody/nothing", tmp_path / "missing"):
        with pytest.raises(deberta.FileError) as caught:
            deberta.open(name)
        assert isinstance(caught.value, OSError) and caught.value.code == "file-not-found"


def test_a_closed_pipeline_refuses(models):
    with deberta.open(models["sequence"]) as pipeline:
        assert pipeline.classify("a").label and not pipeline.is_closed
    for call in (lambda: pipeline.classify("a"), lambda: pipeline.model.forward([[1, 2]]), lambda: pipeline.tokenizer):
        with pytest.raises(deberta.InputError, match="got one that was closed"):
            call()
    assert pipeline.is_closed and "closed" in repr(pipeline)
    pipeline.close()


def test_nothing_of_nothing_is_nothing(pipelines):
    assert pipelines["sequence"].classify([]) == [] and pipelines["sequence"].classify(()) == []
    assert pipelines["lm"].embed([]).shape == (0, 16)
    assert list(pipelines["sequence"].stream("classify", [])) == []


def test_answers_say_what_they_have(pipelines):
    answer = pipelines["sequence"].classify("a fine film")
    with pytest.raises(AttributeError, match="Classification has no colour; it has label, score, labels"):
        print(answer.colour)
    assert pickle.loads(pickle.dumps(answer)) == answer and repr(answer).startswith("Classification(label=")
    assert answer.cut_tokens == 0 and answer.empty is False and pipelines["sequence"].classify(" ").empty
    changed = answer.to_dict()
    changed["labels"][0]["label"] = "other"
    assert answer.labels[0].label != "other"


def test_numbers_of_numpy_are_numbers(models, pipelines):
    opened = deberta.open(models["sequence"], threads=numpy.int64(1), batch_tokens=numpy.uint16(512))
    assert opened.classify("a", top_k=numpy.int32(2)) == pipelines["sequence"].classify("a", top_k=2)
    tokenizer, model = opened.tokenizer, opened.model
    ids = tokenizer.encode("a fine film").ids
    expected = model.forward([ids]).logits
    for kind in (numpy.uint16, numpy.int64, numpy.int8 if max(ids) < 128 else numpy.int16):
        assert (model.forward(numpy.array([ids], kind)).logits == expected).all()
        assert (model.forward([kind(one) for one in ids]).logits == expected).all()
        assert tokenizer.decode(numpy.array(ids, kind)) == tokenizer.decode(ids)
    mask = numpy.ones((1, len(ids)), bool)
    assert (model.forward([ids], mask=mask, logits=numpy.bool_(True)).logits == expected).all()


def test_entities_are_a_sequence(pipelines):
    found = pipelines["extractor"].extract("a fine film with two good parts", ["person", "place"], threshold=0)
    assert len(found) > 1 and [*found] == found.entities
    assert found[:2] == found.entities[:2] and found[-1] == found.entities[-1]
