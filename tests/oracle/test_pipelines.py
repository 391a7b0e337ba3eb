"""Each verb against the pipeline of transformers 4.57 for its task, on 200 real examples of the shared data (a few of its own without them):
labels and spans equal, scores within 1e-4. What differs on purpose is in docs/pipelines.md; here is shown that each of those examples
does differ so, and that nothing else does."""
import csv
import functools
import itertools
import json
import lzma
import os
import pathlib
import random
import re
import subprocess
import warnings

import layouts
import numpy
import pytest
import torch
import transformers
from layouts import LAYOUTS, ROOT, SHARED

DATA = ROOT.parent / "shared/data"
NANO = SHARED / "models"
BINARY = pathlib.Path(os.environ.get("DEBERTA_BINARY", ROOT / "build/dev/deberta"))
ENVIRONMENT = {key: value for key, value in os.environ.items() if not key.startswith("DEBERTA_")}
COUNT = 200
TOLERANCE = 1e-4

pytestmark = pytest.mark.filterwarnings("ignore")
transformers.logging.set_verbosity_error()
torch.set_num_threads(1)  # models this small wait for their threads longer than they compute

OWN_TEXTS = ["A fine film .", "Ada Lovelace was born in London on 10 December 1815 .", "unflinchingly bleak and desperate", "U.N. official Ekeus heads for Baghdad .",
             "It's a charming and often affecting journey.", "He paid $12.50 (or so) to J. K. Smith-Jones, Esq.", "x", "Caf\u00e9 M\u00fcller , Z\u00fcrich"]


# ---- examples

def lines(name):
    with lzma.open(DATA / name, "rt", encoding="utf-8", newline="") as file:
        yield from file


@functools.cache
def vocabulary():
    return transformers.DebertaV2TokenizerFast(vocab_file=str(layouts.spm_model()))


def has_unknown(*texts):
    """Their fast tokenizer knows no byte pieces: a character outside the vocabulary is [UNK] (docs/pipelines.md, "characters outside the vocabulary")."""
    return any(vocabulary().unk_token_id in vocabulary()(text)["input_ids"] for text in texts)


def sample(rows, texts_of=lambda row: (row,), seed=7):
    """COUNT rows, or all where there are fewer, of those that both sides can spell."""
    rows = list(rows)
    random.Random(seed).shuffle(rows)
    return list(itertools.islice((row for row in rows if not has_unknown(*texts_of(row))), COUNT))


def own_texts():
    return [text for text in OWN_TEXTS if not has_unknown(text)]


@functools.cache
def single_texts():
    if not DATA.exists():
        return own_texts()
    return sample(line.split("\t")[0].strip() for line in list(lines("glue/SST-2/dev.tsv.xz"))[1:])


@functools.cache
def pairs(name="nli/sick/dev.csv.xz"):
    if not DATA.exists():
        return list(zip(own_texts(), own_texts()[1:]))
    return sample(((row["premise"].strip(), row["hypothesis"].strip()) for row in csv.DictReader(lines(name))), texts_of=lambda pair: pair)


@functools.cache
def sentences():
    """Sentences of CoNLL-2003: words with spaces between."""
    if not DATA.exists():
        return own_texts()
    found, words = [], []
    for line in lines("conll2003/test.txt.xz"):
        cells = line.split()
        if cells and cells[0] != "-DOCSTART-":
            words.append(cells[0])
        elif words:
            found.append(" ".join(words))
            words = []
    return sample(found)


@functools.cache
def running_text():
    """Sentences as people write them: punctuation joined to words."""
    if not DATA.exists():
        return own_texts()
    rows = (json.loads(line) for line in lines("superglue/BoolQ/val.jsonl.xz"))
    return sample(re.split(r"(?<=[.?!]) ", row["passage"])[-1].strip()[:300].strip() for row in rows)


@functools.cache
def masked_texts():
    chosen = random.Random(3)
    texts = []
    for text in running_text():
        words = text.split(" ")
        for _ in range(chosen.choice((1, 1, 1, 2))):
            words[chosen.randrange(len(words))] = "[MASK]"
        texts.append(" ".join(words))
    return texts


# ---- the two sides

def run(verb, folder, rows, *options):
    """The program's answers to rows of JSON, one for each."""
    text = "".join(json.dumps(row) + "\n" for row in rows)
    done = subprocess.run([str(word) for word in (BINARY, verb, "-m", folder, "--input-format", "jsonl", "-f", "jsonl", "--keep", "none", "-q", *(["--threads", "1"] if verb != "tokenize" else []), *options)],
                          input=text, capture_output=True, text=True, encoding="utf-8", env=ENVIRONMENT, timeout=300)
    assert done.returncode == 0, done.stderr + done.stdout[-2000:]
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(answers) == len(rows)
    return answers


def as_rows(inputs):
    return [{"text": item} if isinstance(item, str) else {"text": item[0], "text_pair": item[1]} for item in inputs]


@functools.cache
def pipe(task, folder):
    return transformers.pipeline(task, model=str(folder), tokenizer=str(folder), device="cpu", dtype=torch.float32)


def call(pipeline, inputs, **more):
    with warnings.catch_warnings(), torch.inference_mode():
        warnings.simplefilter("ignore")
        return [pipeline(item, **more) for item in inputs]


@pytest.fixture(scope="session")
def made(tmp_path_factory):
    """made(name) -> the folder of a layout, made once."""
    folders = {}

    def get(name):
        if name not in folders:
            folders[name] = LAYOUTS[name](tmp_path_factory.mktemp(name))
        return folders[name]
    return get


def trained(name, otherwise, made):
    """A small trained checkpoint of the shared folder, else a random one."""
    return NANO / name if NANO.exists() else made(otherwise)


# ---- text classification

def compare_labels(folder, inputs, *options, **arguments):
    ours = run("classify", folder, as_rows(inputs), "--top-k", 1000, *options)
    requests = [row if "text_pair" in row else row["text"] for row in as_rows(inputs)]
    theirs = call(pipe("text-classification", folder), requests, top_k=None, truncation=True, max_length=512, **arguments)
    spread = set()
    for item, got, expected in zip(inputs, ours, theirs, strict=True):
        wanted = {entry["label"]: entry["score"] for entry in expected}
        assert {entry["label"] for entry in got["labels"]} == set(wanted)
        worst = max(abs(entry["score"] - wanted[entry["label"]]) for entry in got["labels"])
        assert worst < TOLERANCE * max(1, max(map(abs, wanted.values()))), (item, got, expected)
        ranked = sorted(wanted.values(), reverse=True)
        if len(ranked) == 1 or ranked[0] - ranked[1] > 2 * TOLERANCE:
            assert got["label"] == expected[0]["label"], item
        spread.add(round(expected[0]["score"], 3))
    assert len(spread) > len(inputs) // 3  # answers of a model that tells texts apart


@pytest.mark.parametrize("name", ["prompt-guard", "prompt-guard-multi", "regression", "reward", "reranker", "v1"])
def test_labels_of_single_texts(made, name):
    compare_labels(made(name), single_texts())


@pytest.mark.parametrize("name", ["nli", "nli-two", "reranker", "reranker-sigmoid", "v1"])
def test_labels_of_pairs(made, name):
    compare_labels(made(name), pairs("glue/RTE/dev.csv.xz"))


def test_labels_of_trained_models(made):
    compare_labels(trained("nano-sst2", "prompt-guard", made), single_texts())
    compare_labels(trained("nano-sick", "nli", made), pairs())


@pytest.mark.parametrize("activation", ["softmax", "sigmoid", "none"])
def test_the_activation_that_is_asked_for(made, activation):
    compare_labels(made("nli-cross-encoder"), pairs()[:50], "--activation", activation, function_to_apply=activation)


def test_long_pairs_are_cut_as_transformers_cuts_them(made):
    text = " ".join(single_texts() * (1 if DATA.exists() else 20)).split(" ")
    compare_labels(made("nli"), [(" ".join(text[:a]), " ".join(text[20:20 + b])) for a, b in ((900, 20), (20, 900), (700, 500), (500, 400))])


@pytest.mark.parametrize("name", ["nli", "nli-two", "nli-cross-encoder"])
def test_relations_by_name(made, name):
    inputs = pairs()
    theirs = call(pipe("text-classification", made(name)), as_rows(inputs), top_k=None, function_to_apply="softmax")
    for got, expected in zip(run("nli", made(name), as_rows(inputs)), theirs, strict=True):
        wanted = {entry["label"]: entry["score"] for entry in expected}
        assert got["label"] == expected[0]["label"] and max(abs(got[label] - score) for label, score in wanted.items()) < TOLERANCE


# ---- cross-encoders, as sentence-transformers scores them

@pytest.mark.parametrize("name, activation", [("reranker", torch.sigmoid), ("reranker-sigmoid", torch.sigmoid), ("reranker-identity", torch.nn.Identity()),
                                              ("reranker-old-key", torch.nn.Identity()), ("nli-cross-encoder", torch.nn.Identity())])
def test_a_cross_encoder_scores_with_its_own_activation(made, name, activation):
    inputs = pairs()[:50]
    tokenizer = transformers.AutoTokenizer.from_pretrained(made(name))
    model = transformers.AutoModelForSequenceClassification.from_pretrained(made(name)).eval()
    for (first, second), got in zip(inputs, run("classify", made(name), as_rows(inputs), "--top-k", 1000), strict=True):
        with torch.inference_mode():
            scores = activation(model(**tokenizer(first, second, return_tensors="pt")).logits[0]).tolist()
        labels = [model.config.id2label[i] for i in range(len(scores))]
        for entry in got["labels"]:
            assert abs(entry["score"] - scores[labels.index(entry["label"])]) < TOLERANCE * max(1, abs(entry["score"]))


# ---- token classification

def trim(text, begin, end):
    """Without the white space that their offsets begin with."""
    while begin < end and text[begin].isspace():
        begin += 1
    return begin, end


@functools.cache
def token_logits(folder, text):
    """What their pipeline makes of a text before any strategy: computed once for all of them."""
    pipeline = pipe("token-classification", folder)
    with warnings.catch_warnings(), torch.inference_mode():
        warnings.simplefilter("ignore")
        return [pipeline.forward(inputs) for inputs in pipeline.preprocess(text, is_split_into_words=False)]


def without_lone_spaces(pieces):
    """A piece that is only the space before a word belongs to that word (docs/pipelines.md, "a space that is a piece")."""
    for before, piece in zip(pieces, pieces[1:]):
        if before["word"] == "\u2581" and before["end"] == piece["start"]:
            piece["is_subword"] = True
    return pieces


def group(folder, text, strategy, ignored, joins_spaces=True):
    """Their entities of a text; with `joins_spaces` as if they joined a lone space to its word."""
    pipeline = pipe("token-classification", folder)
    rule = transformers.pipelines.token_classification.AggregationStrategy(strategy)
    plain = type(pipeline).gather_pre_entities
    pipeline.gather_pre_entities = lambda *words, **more: (without_lone_spaces if joins_spaces else list)(plain(pipeline, *words, **more))
    found = pipeline.postprocess(token_logits(folder, text), rule, list(ignored))
    del pipeline.gather_pre_entities
    key = "entity" if strategy == "none" else "entity_group"
    return [(e[key], *trim(text, e["start"], e["end"]), float(e["score"])) for e in found]


def entities(folder, texts, strategy, ignored=()):
    """(text, ours, theirs): lists of (label, begin, end, score)."""
    ours = run("ner", folder, as_rows(texts), "--aggregate", strategy, "--ignore-labels", ",".join(ignored))
    theirs = call(lambda text: group(folder, text, strategy, ignored), texts)
    key = "entity" if strategy == "none" else "entity_group"
    for text, got, expected in zip(texts, ours, theirs, strict=True):
        yield text, [(e[key], e["start"], e["end"], e["score"]) for e in got["entities"]], expected


def same_entities(ours, theirs):
    return [e[:3] for e in ours] == [e[:3] for e in theirs] and all(abs(a[3] - b[3]) < TOLERANCE for a, b in zip(ours, theirs))


STRATEGIES = ["none", "simple", "first", "average", "max"]


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("name", ["pii", "trained"])
def test_entities_of_words_with_spaces_between(made, name, strategy):
    folder = trained("nano-conll", "pii", made) if name == "trained" else made(name)
    for text, ours, theirs in entities(folder, sentences() if name == "trained" else sentences()[:50], strategy):
        assert same_entities(ours, theirs), f"{text!r}\n{ours}\n{theirs}"


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_entities_of_running_text(made, strategy):
    texts = running_text() if strategy == "simple" else running_text()[:50]
    for text, ours, theirs in entities(trained("nano-conll", "pii", made), texts, strategy, ["O"]):
        assert same_entities(ours, theirs), f"{text!r}\n{ours}\n{theirs}"


@pytest.mark.parametrize("name", ["pii-unnamed", "v1-ner"])
def test_entities_of_other_layouts(made, name):
    for strategy in ("none", "simple", "first"):
        for text, ours, theirs in entities(made(name), running_text()[:50], strategy):
            assert same_entities(ours, theirs), f"{strategy} {text!r}\n{ours}\n{theirs}"


# ---- masked words

def test_masked_words(made):
    folder, texts = trained("nano-mlm", "masked", made), masked_texts()
    ours = run("fill", folder, as_rows(texts), "--emd", "off", "--compat", "hf")
    theirs = call(pipe("fill-mask", folder), texts)
    for text, got, expected in zip(texts, ours, theirs, strict=True):
        masks = expected if isinstance(expected[0], list) else [expected]
        assert len(got["masks"]) == len(masks) == text.count("[MASK]")
        for mask, wanted in zip(got["masks"], masks, strict=True):
            assert [t["token"] for t in mask["tokens"]] == [t["token"] for t in wanted], text
            assert all(abs(a["score"] - b["score"]) < TOLERANCE for a, b in zip(mask["tokens"], wanted))
            for token, other in zip(mask["tokens"], wanted):  # a byte is no text by itself: docs/pipelines.md, "pieces of one byte"
                assert token["piece"].startswith("<0x") or token["token_str"].strip() == other["token_str"].strip()


# ---- vectors

def test_vectors_of_tokens(made):
    texts = running_text()
    theirs = call(pipe("feature-extraction", made("encoder")), texts)
    for got, expected in zip(run("embed", made("encoder"), as_rows(texts), "--pooling", "none"), theirs, strict=True):
        assert numpy.abs(numpy.array(got["token_embeddings"]) - numpy.array(expected[0])).max() < TOLERANCE


def vectors_by_hand(folder, texts, transformer="", length=512):
    """What sentence-transformers computes, from its files and with transformers alone."""
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder / transformer)
    model = transformers.AutoModel.from_pretrained(folder / transformer).eval()
    pooling = json.loads((folder / "1_Pooling/config.json").read_text())
    settings = json.loads((folder / transformer / "sentence_bert_config.json").read_text())
    vectors = []
    for text in texts:
        text = text.lower() if settings["do_lower_case"] else text
        with torch.inference_mode():
            rows = model(**tokenizer(text, return_tensors="pt", truncation=True, max_length=settings["max_seq_length"])).last_hidden_state[0]
            parts = {"cls_token": rows[0], "max_tokens": rows.max(0).values, "mean_tokens": rows.mean(0), "mean_sqrt_len_tokens": rows.sum(0) / len(rows) ** 0.5}
            vector = torch.cat([part for key, part in parts.items() if pooling["pooling_mode_" + key]])
            if (folder / "2_Dense").exists():
                dense = layouts.load_dense(folder / "2_Dense")
                vector = torch.tanh(dense["linear.weight"] @ vector + dense["linear.bias"])
            if "Normalize" in (folder / "modules.json").read_text():
                vector = torch.nn.functional.normalize(vector, dim=0)
        vectors.append(vector.numpy())
    return vectors


@pytest.mark.parametrize("settings", [
    {}, {"poolings": ("cls",), "normalizes": False, "transformer": "0_Transformer"}, {"poolings": ("cls", "mean", "max", "mean-sqrt"), "normalizes": False},
    {"dense": (24, "Tanh")}, {"poolings": ("max",), "lower": True, "length": 16},
], ids=["mean", "cls in a folder", "all poolings", "dense", "lower case, 16 tokens"])
def test_vectors_of_sentence_transformers(tmp_path, settings):
    folder = layouts.make_sentence_transformer(tmp_path / "m", **settings)
    texts = running_text()[:50]
    expected = vectors_by_hand(folder, texts, settings.get("transformer", ""))
    for got, wanted in zip(run("embed", folder, as_rows(texts)), expected, strict=True):
        assert numpy.abs(numpy.array(got["embedding"]) - wanted).max() < TOLERANCE * max(1, numpy.abs(wanted).max())


# ---- labels of the user's own

def has_verb(name):
    return subprocess.run([BINARY, "help", name], capture_output=True, env=ENVIRONMENT).returncode == 0


TOPICS = ["sports", "politics", "a work of art", "food"]


@pytest.mark.parametrize("is_multi", [False, True])
@pytest.mark.parametrize("name", ["nli", "nli-two", "nli-cross-encoder", "trained"])
def test_labels_of_ones_own(made, name, is_multi):
    if not has_verb("zero-shot"):
        return
    folder = trained("nano-sick", "nli", made) if name == "trained" else made(name)
    template = "The topic is {} ." if is_multi else "This example is {}."
    texts = single_texts()[:100]
    theirs = call(pipe("zero-shot-classification", folder), texts, candidate_labels=TOPICS, hypothesis_template=template, multi_label=is_multi)
    ours = run("zero-shot", folder, as_rows(texts), "--labels", ",".join(TOPICS), "--template", template, *(["--multi-label"] if is_multi else []))
    for text, got, expected in zip(texts, ours, theirs, strict=True):
        assert got["sequence"] == expected["sequence"] == text
        wanted = dict(zip(expected["labels"], expected["scores"]))
        assert max(abs(score - wanted[label]) for label, score in zip(got["labels"], got["scores"], strict=True)) < TOLERANCE
        ranked = sorted(wanted.values(), reverse=True)
        if all(a - b > 2 * TOLERANCE for a, b in zip(ranked, ranked[1:])):
            assert got["labels"] == expected["labels"]


# ---- questions

@functools.cache
def questions():
    if not DATA.exists():
        return [{"question": "Who was born in London ?", "context": text} for text in own_texts()]
    document = json.loads("".join(lines("squad/dev-v1.1.rebuilt.json.xz")))
    return sample(({"question": qa["question"].strip(), "context": paragraph["context"]}
                   for article in document["data"] for paragraph in article["paragraphs"] for qa in paragraph["qas"]), texts_of=dict.values)


@pytest.mark.parametrize("ours, theirs", [
    ((), {}),
    (("--top-k", "3", "--max-answer-len", "30"), {"top_k": 3, "max_answer_len": 30}),
    (("--allow-no-answer",), {"handle_impossible_answer": True}),
    (("--max-seq-len", "96", "--doc-stride", "32"), {"max_seq_len": 96, "doc_stride": 32}),
    (("--align", "tokens"), {"align_to_words": False}),
], ids=["default", "three answers", "no answer", "windows", "tokens"])
def test_questions(made, ours, theirs):
    if not has_verb("qa"):
        return
    folder, rows = trained("nano-squad", "squad", made), questions()
    expected = call(pipe("question-answering", folder), rows, **theirs)
    for row, got, wanted in zip(rows, run("qa", folder, rows, "--compat", "hf", *ours), expected, strict=True):
        wanted = wanted if isinstance(wanted, list) else [wanted]
        answers = got.get("answers", [got])[:len(wanted)]
        for answer, one in zip(answers, wanted, strict=True):
            assert (answer["start"], answer["end"]) == trim(row["context"], one["start"], one["end"]), (row, got, wanted)
            assert abs(answer["score"] - one["score"]) < TOLERANCE and answer["answer"].strip() == one["answer"].strip()


# ---- what differs on purpose: every row of docs/pipelines.md

def rows_of_document():
    table = [line for line in (ROOT / "docs/pipelines.md").read_text().splitlines() if line.startswith("| ")]
    return [line.split(" | ")[0].removeprefix("| ") for line in table[1:]]


def differing_activation(made):
    text = {"text": OWN_TEXTS[0]}
    (got,) = run("classify", made("reranker-identity"), [text])
    (theirs,) = call(pipe("text-classification", made("reranker-identity")), [text])
    assert abs(got["score"] - theirs["score"]) > 0.01 and abs(1 / (1 + numpy.exp(-got["score"])) - theirs["score"]) < TOLERANCE


def differing_offsets(made):
    """The last token of `x in`: theirs with the space before it."""
    text = "x in"
    theirs = token_logits(made("pii"), text)[0]["offset_mapping"][0][-2].tolist()
    ours = run("ner", made("pii"), [{"text": text}], "--aggregate", "none", "--ignore-labels", "")[0]["entities"][-1]
    assert text[theirs[0]].isspace() and trim(text, *theirs) == (ours["start"], ours["end"]) == (2, 4)


def differing_word(made):
    text = "a  \uff21\uff22"
    ours = "".join(e["word"] for e in run("ner", made("pii"), [{"text": text}], "--ignore-labels", "")[0]["entities"])
    with torch.inference_mode():
        theirs = "".join(e["word"] for e in pipe("token-classification", made("pii"))(text, aggregation_strategy="simple", ignore_labels=[]))
    assert "\uff21" in ours and "\uff21" not in theirs and "AB" in theirs


def differing_words(made):
    """Words show where the label of a word is that of its first piece: theirs of all pieces up to the next U+0020."""
    folder = made("pii")
    for space in ("\t", "\u00a0"):
        text = f"Ada{space}Lovelace{space}was{space}born{space}in{space}London"
        assert [e[1:3] for e in group(folder, text, "first", [])] == [(0, len(text))]
        ours = run("ner", folder, [{"text": text}], "--aggregate", "first", "--ignore-labels", "")[0]["entities"]
        same = group(folder, text.replace(space, " "), "first", [])
        assert len(ours) > 1 and [(e["start"], e["end"]) for e in ours] == [e[1:3] for e in same]


def differing_spaces(made):
    text = "in London , England ."
    assert "\u2581" in pipe("token-classification", made("pii")).tokenizer.tokenize(text) or not NANO.exists()
    plain, joined = (group(made("pii"), text, "first", [], joins_spaces) for joins_spaces in (False, True))
    ours = [(e["entity_group"], e["start"], e["end"], e["score"]) for e in run("ner", made("pii"), [{"text": text}], "--aggregate", "first", "--ignore-labels", "")[0]["entities"]]
    assert same_entities(ours, joined) and (not same_entities(ours, plain) or not NANO.exists())


def differing_names(made):
    for text in single_texts()[:20]:
        ours = run("ner", made("bioes"), [{"text": text}])[0]["entities"]
        theirs = group(made("bioes"), text, "simple", ["O"])
        assert [(e["entity_group"].split("-", 1)[-1], e["start"], e["end"]) for e in ours] == [e[:3] for e in theirs]
        if any("-" in e["entity_group"] for e in ours):
            return
    raise AssertionError("no example")


def differing_unknown(made):
    texts = [text for text in ("x + y", "a\u4e2db", "\u0ca0_\u0ca0", *OWN_TEXTS)]
    theirs = [vocabulary()(text)["input_ids"] for text in texts]
    ours = [answer["ids"] for answer in run("tokenize", made("encoder"), as_rows(texts))]
    slow = transformers.DebertaV2Tokenizer(vocab_file=str(layouts.spm_model()))
    assert any(a != b for a, b in zip(ours, theirs))
    for text, got, expected in zip(texts, ours, theirs):
        assert got == slow(text)["input_ids"] and (got == expected or vocabulary().unk_token_id in expected), text


def differing_bytes(made):
    tokenizer = pipe("fill-mask", made("masked")).tokenizer
    byte = tokenizer.convert_tokens_to_ids("<0xC3>")
    assert tokenizer.decode([byte]) == "<0xC3>"
    (text,) = run("tokenize", made("masked"), [{"text": str(byte)}], "--decode")
    assert text["text"] == "\ufffd"


def differing_empty(made):
    row = {"text": OWN_TEXTS[0], "text_pair": ""}
    tokenizer = pipe("text-classification", made("nli")).tokenizer
    assert tokenizer(**row)["input_ids"] == tokenizer(row["text"])["input_ids"]
    assert run("tokenize", made("nli"), [row])[0]["ids"] == tokenizer(row["text"])["input_ids"] + [tokenizer.sep_token_id]


def differing_cut(made):
    """Of 509 places two texts that are both too long get 254 and 255: the first the larger part of ours, the longer one of theirs."""
    row = {"text": "a " * 400, "text_pair": "a " * 500}
    tokenizer = pipe("text-classification", made("nli")).tokenizer
    (ours,) = run("tokenize", made("nli"), [row])
    assert len(ours["ids"]) > 512
    theirs = tokenizer(**row, truncation=True, max_length=512)["input_ids"]
    slow = transformers.AutoTokenizer.from_pretrained(made("nli"), use_fast=False)(**row, truncation=True, max_length=512)["input_ids"]
    places = [ids.index(tokenizer.sep_token_id) - 1 for ids in (theirs, slow)]
    assert len(theirs) == len(slow) == 512 and places == [254, 255]
    fast, same = (call(pipe("text-classification", made("nli")), [{"text": "a " * first, "text_pair": "a " * second}], top_k=None, truncation=True, max_length=512)
                  for first, second in ((400, 500), (500, 400)))
    (got,) = run("classify", made("nli"), [row], "--top-k", 3)
    scores = {entry["label"]: entry["score"] for entry in got["labels"]}
    assert max(abs(scores[entry["label"]] - entry["score"]) for entry in same[0]) < TOLERANCE
    assert max(abs(scores[entry["label"]] - entry["score"]) for entry in fast[0]) > 0


DIFFERENCES = {"activation of a cross-encoder": differing_activation, "white space in offsets": differing_offsets, "`word` of an entity": differing_word,
               "words": differing_words, "a space that is a piece": differing_spaces, "names of labels with a dash": differing_names,
               "characters outside the vocabulary": differing_unknown, "pieces of one byte": differing_bytes, "an empty second text": differing_empty, "the odd token of a pair that is cut": differing_cut}


@pytest.mark.parametrize("name", DIFFERENCES)
def test_each_difference_is_as_the_document_says(made, name):
    DIFFERENCES[name](made)


def test_the_document_has_exactly_these_differences():
    assert rows_of_document() == list(DIFFERENCES)
