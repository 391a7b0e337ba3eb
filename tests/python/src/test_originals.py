"""What programs written for other libraries give: the answer is theirs, or a refusal, never another answer in silence.
Numbers are those of transformers 4.57.6 on the same weights."""

import pickle
import shutil
import sys
import types
import warnings

import deberta
import numpy
import pyarrow
import pytest

from models import make_model

CONTEXT = "Ada 😀 Lovelace was born in London . It was Ada who came , and é́ Bob too ." * 20
LONG = "a " * 900


@pytest.fixture(scope="module")
def answerer(models):
    return deberta.pipeline("question-answering", models["span"], threads=1)


@pytest.mark.parametrize(
    ("length", "score", "answer"),
    [(64, 0.15506, "Lovelace"), (40, 0.70115, "too"), (100, 0.04586, "London . It was Ada"), (200, 0.01005, "too")],
)
def test_windows_overlap_as_those_of_transformers(answerer, length, score, answer):
    found = answerer(question="Who is it?", context=CONTEXT, max_seq_len=length)
    assert found["answer"] == answer and abs(found["score"] - score) < 1e-5
    opened = answerer.pipeline.qa("Who is it?", CONTEXT, max_tokens=length)
    assert opened.answer == answer


def test_a_stride_that_leaves_no_room_is_refused(answerer):
    call = {"question": "who", "context": CONTEXT, "max_seq_len": 64}
    assert abs(answerer(**call, doc_stride=57)["score"] - 3.4606778) < 1e-4  # there too: equal answers are added up
    for stride in (58, 64, 5000):
        with pytest.raises(deberta.InputError, match=f"stride: expected less than the 58 tokens .* got {stride}"):
            answerer(**call, doc_stride=stride)
    assert answerer(question="who", context="Ada came", max_seq_len=64, doc_stride=58)["answer"]


def test_questions_are_cut_by_the_slow_tokenizer_alone(answerer, models):
    call = {"question": "Who is it now ? " * 10, "context": CONTEXT[:74]}
    found = answerer(**call)
    assert found["answer"] == "and é́ Bob too" and abs(found["score"] - 0.0057605) < 1e-6
    assert answerer(**call, max_question_len=3) == found
    slow = deberta.pipeline("question-answering", models["span"], threads=1, tokenizer="slow")
    assert slow(**call) != slow(**call, max_question_len=3)


def test_a_context_of_nothing_has_no_answer(answerer):
    nothing = {"score": 0.0, "start": 0, "end": 0, "answer": ""}
    assert answerer(question="who", context="   ") == nothing
    assert answerer(question="who", context="   ", top_k=2) == nothing
    for name, row in ("context", {"question": "who", "context": ""}), ("question", {"question": "", "context": "a"}):
        with pytest.raises(deberta.InputError, match=f"inputs.0.: {name}: expected a text, got an empty one"):
            answerer(row)


def test_keys_that_no_row_has_are_refused(answerer, models):
    with pytest.raises(deberta.InputError, match=r"expected a dict with question, context, got .*title"):
        answerer({"question": "who", "context": "Ada", "title": "x"})
    classify = deberta.pipeline("text-classification", models["sequence"], threads=1)
    with pytest.raises(deberta.InputError, match=r"expected a dict with text and perhaps text_pair, got .*textpair"):
        classify({"text": "a", "textpair": "b"})


def test_texts_and_pairs_may_be_mixed(models):
    classify = deberta.pipeline("text-classification", models["sequence"], threads=1, top_k=1)
    rows = [{"text": "a", "text_pair": "b"}, {"text": "a"}, "a film", {"text": "x", "text_pair": ""}]
    assert classify(rows) == [classify([row])[0] for row in rows]
    with pytest.raises(deberta.InputError, match="truncation: expected longest_first or True with pairs"):
        classify(rows, truncation="only_first")
    assert classify(rows[1:3], truncation="only_first") == classify(rows[1:3])


def test_an_iterator_is_answered_as_it_comes(models):
    classify = deberta.pipeline("text-classification", models["sequence"], threads=1, top_k=1)
    read = []

    def endless():
        while True:
            read.append("a film")
            yield "a film"

    answers = classify(endless())
    assert [next(answers), next(answers)] == classify(["a film"] * 2) and len(read) <= 256
    assert [*classify(iter([]))] == [] and classify([]) == []


def test_candidate_labels_of_a_list_are_as_they_stand(models):
    zero_shot = deberta.pipeline("zero-shot-classification", models["nli"], threads=1)
    for labels in ([" art ", "sport"], ["", "sport"], ["art\n", "sport"]):
        assert {*zero_shot("a fine film", candidate_labels=labels)["labels"]} == {*labels}
    spaced = zero_shot("a fine film", candidate_labels=[" art ", "sport"])
    assert spaced["scores"] != zero_shot("a fine film", candidate_labels=["art", "sport"])["scores"]
    assert zero_shot("a film", candidate_labels="art, sport,,") == zero_shot(
        "a film", candidate_labels=["art", "sport"]
    )
    alone = deberta.open(models["nli"], threads=1).zero_shot("a fine film", ["", "sport"])
    assert {*alone.labels} == {"", "sport"}


def test_none_is_what_is_not_given(models):
    ner = deberta.pipeline("ner", models["token"], threads=1)
    assert ner("a fine film", aggregation_strategy=None) == ner("a fine film")
    assert "entity" in ner("a fine film", ignore_labels=[])[0]
    assert ner(LONG, truncation=True, ignore_labels=[]) != ner(LONG, ignore_labels=[])  # cut, else in windows


def test_targets_are_looked_up_as_they_are_written(models):
    fill = deberta.pipeline("fill-mask", "builtin:fill", threads=1)
    found = fill("She looked at [MASK] and smiled .", targets=["her", "him"])
    assert [(one["token_str"], round(one["score"], 5)) for one in found] == [("him", 0.19013), ("her", 0.00016)]
    original = deberta.open("builtin:fill", threads=1).fill("She looked at [MASK] and smiled .", targets=["her", "him"])
    assert original.masks[0].tokens[0].token_str == "her"
    with pytest.raises(deberta.InputError, match="pooling: expected no such option"):
        deberta.pipeline("feature-extraction", models["lm"], threads=1)("a", pooling="mean")
    for call in (lambda: fill("a [MASK]", batch_size=0), lambda: deberta.open(models["lm"], threads=2000)):
        with pytest.raises(deberta.InputError, match=r"expected a positive integer|in 0\.\.1024, got 2000"):
            call()


def test_an_activation_is_called_unless_it_is_torchs_own(models, monkeypatch):
    encoder = deberta.CrossEncoder(models["sequence"], threads=1)
    pairs = [("a film", "a dull one"), ("x", "y")]
    raw = encoder.predict(pairs)

    class Softmax:  # its name says nothing
        def __call__(self, scores):
            return scores * 0 + 7

    assert (encoder.predict(pairs, activation_fn=Softmax()) == 7).all()

    def module(name, **fields):
        return type(
            name, (), {"__module__": "torch.nn.modules.activation", "__call__": lambda self, x: x * 3, **fields}
        )()

    assert numpy.allclose(encoder.predict(pairs, activation_fn=module("Softmax", dim=-1)).sum(axis=1), 1, atol=1e-6)
    assert (encoder.predict(pairs, activation_fn=module("Softmax", dim=0)) == raw * 3).all()

    class Tensor:
        def __init__(self, values):
            self.values = values

        def detach(self):
            return self

        def numpy(self):
            return self.values

    torch = types.SimpleNamespace(as_tensor=Tensor)
    monkeypatch.setitem(sys.modules, "torch", torch)  # whoever has imported it gives functions of tensors
    doubled = encoder.predict(pairs, activation_fn=lambda tensor: Tensor(tensor.values * 2))
    assert (doubled == raw * 2).all()


def test_vectors_of_small_integers_do_not_wrap(models):
    model = deberta.SentenceTransformer(models["lm"], threads=1, similarity_fn_name="euclidean")
    unsigned = numpy.array([[200]], "u1"), numpy.array([[100]], "u1")
    assert model.similarity(*unsigned) == -100 and model.similarity_pairwise(*unsigned) == -100
    model.similarity_fn_name = "manhattan"
    assert model.similarity(numpy.array([[100]], "i1"), numpy.array([[-100]], "i1")) == -200
    model.similarity_fn_name = "dot"
    assert model.similarity(*unsigned) == 20000


def test_a_model_that_changed_since_it_was_opened_is_not_pickled(tmp_path):
    folder = make_model(tmp_path / "model", "sequence", seed=1)
    (folder / "nowhere").symlink_to("not-there")  # a link that leads nowhere is no file of a model
    opened = deberta.open(folder, threads=1)
    shutil.rmtree(folder)
    make_model(folder, "sequence", seed=2)
    with pytest.raises(deberta.Error, match="expected the files that were opened, got changed ones"):
        pickle.dumps(opened)
    assert pickle.loads(pickle.dumps(deberta.open(folder, threads=1))).classify("a").label


def test_options_of_programs_are_checked_by_their_kind(tmp_path):
    (tmp_path / "lm.txt").write_text("She looked at him and smiled .\n" * 3)

    def perplexity(**options):
        return deberta.evaluate("mlm", tmp_path / "lm.txt", "builtin:fill", threads=1, **options)["metrics"][
            "perplexity"
        ]

    plain, without = perplexity(), perplexity(emd="off")
    assert plain != without and perplexity(emd=False) == without and perplexity(emd=True) == plain
    assert perplexity(quiet=False, max_tokens=None) == plain
    for options, message in (
        ({"treads": False}, "unknown option --treads; did you mean --threads"),
        ({"max_tokens": "x"}, "--max-tokens"),
        ({"max_tokns": None}, "unknown option --max-tokns"),
        ({"stride": False}, "stride: expected a value, got False"),
        ({"quiet": 1}, "quiet: expected True or False, got 1"),
        ({"help": True}, "help: expected an option of eval"),
        ({"output": "x.json"}, "output: expected no such option"),
        ({"input_field": ["a,b", "c"]}, "input_field: expected items without a comma"),
    ):
        with pytest.raises(deberta.InputError, match=message):
            perplexity(**options)


def test_parameters_without_an_effect_are_refused(pipelines):
    for call, message in (
        (lambda: pipelines["lm"].similarity("a", "b", dimensions=1), "dimensions: expected none for a similarity"),
        (lambda: pipelines["sequence"].scores("a", top_k=1), "top_k: expected none for scores"),
        (
            lambda: pipelines["sequence"].scores("a", truncate="window", window_scores="each"),
            "window_scores: expected mean or max for scores",
        ),
        (lambda: pipelines["lm"].tokenizer.encode("a", skip_special_tokens=True), "skip_special_tokens: expected none"),
        (
            lambda: pipelines["span"].qa("a", "b", allow_no_answer=False, no_answer_threshold=1),
            "no_answer_threshold: expected none with allow_no_answer=False",
        ),
    ):
        with pytest.raises(deberta.InputError, match=message):
            call()
    assert "dimensions" not in {row["name"] for row in deberta.parameters("similarity")}
    assert "top_k" not in {row["name"] for row in deberta.parameters("scores")}


def test_arrays_of_texts_that_were_cut_come_with_a_warning(pipelines):
    for call in (lambda: pipelines["lm"].embed(["a", LONG]), lambda: pipelines["sequence"].scores(["a", LONG])):
        with pytest.warns(UserWarning, match="1 of 2 rows were cut to max_tokens") as caught:
            call()
        assert caught[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        pipelines["lm"].embed(["a", "b"])
        deberta.SentenceTransformer(pipelines["lm"]).encode([LONG])  # which cuts by custom
        deberta.CrossEncoder(pipelines["sequence"]).predict([("a", LONG)])


def test_tables_of_arrays_have_marks(pipelines):
    from deberta.tables import Predictor

    table = pyarrow.table({"text": ["a", LONG, " "]})
    for model, task in ("lm", "embed"), ("sequence", "scores"):
        answers = Predictor(pipelines[model], task, ["text"])(table)
        assert answers["empty"].to_pylist() == [None, None, True]
        cut = answers["cut_tokens"].to_pylist()
        assert cut[0] is None and cut[1] > 0 and cut[2] is None


def test_columns_of_lists_and_elements_of_arrow_are_rows(pipelines, models):
    table = pyarrow.table({"query": ["a", "b"], "documents": [["x", "y"], ["z"]]})
    expected = pipelines["number"].rerank(["a", "b"], [["x", "y"], ["z"]])
    assert pipelines["number"].rerank(table["query"], table["documents"]) == expected
    streamed = [*pipelines["sequence"].stream("classify", table["query"])]
    assert streamed == [*pipelines["sequence"].classify(["a", "b"])]
    model = deberta.GLiNER.from_pretrained(models["extractor"])
    found = model.predict_entities("a fine film", ["person", "place"], threshold=0)
    assert model.predict_entities("a fine film", numpy.array(["person", "place"]), threshold=0) == found
    assert model.inference(["a fine film"], [numpy.array(["person", "place"])], threshold=0) == [found]


def test_what_frameworks_and_padding_would_change_is_refused(models):
    with pytest.raises(deberta.InputError, match="framework: expected None or pt, got 'tf'"):
        deberta.pipeline("fill-mask", models["lm"], threads=1, framework="tf")
    pipe = deberta.pipeline("feature-extraction", models["lm"], threads=1, framework="pt")
    with pytest.raises(deberta.InputError, match="padding: expected none, for padding has no vectors here"):
        pipe("a", tokenize_kwargs={"padding": "max_length", "max_length": 16})
    assert pipe("a", tokenize_kwargs={"padding": True}) == pipe("a", padding="max_length") == pipe("a")
