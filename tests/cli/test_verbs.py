"""classify, fill and tokenize on tiny random models: forms of input and output, order, bad rows."""

import json
import math

import pytest

from models import make_model


def rows(done):
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_classify_prints_a_header_and_a_line_for_each_text(deberta, sequence_model):
    done = deberta("classify", "-m", sequence_model, "a fine film", "a dull film")
    assert done.returncode == 0 and done.stderr == ""
    lines = done.stdout.splitlines()
    assert lines[0] == "label\tscore\tnote" and len(lines) == 3
    label, score, said = lines[1].split("\t")
    assert said == ""
    assert label in ("negative", "neutral", "positive") and 1 / 3 <= float(score) <= 1


def test_classify_scores_are_softmax_of_the_raw_logits(deberta, sequence_model):
    words = ("classify", "-m", sequence_model, "--format", "jsonl", "--top-k", "3", "a fine film")
    logits = {e["label"]: e["score"] for e in rows(deberta(*words, "--activation", "none"))[0]["labels"]}
    scores = {e["label"]: e["score"] for e in rows(deberta(*words))[0]["labels"]}
    total = sum(math.exp(v) for v in logits.values())
    for label, logit in logits.items():
        assert scores[label] == pytest.approx(math.exp(logit) / total, abs=1e-6)
    assert list(scores.values()) == sorted(scores.values(), reverse=True)


@pytest.mark.parametrize(
    "problem, labels, expected",
    [
        ("regression", ["score"], lambda x: x),
        ("multi_label_classification", ["a", "b", "c"], lambda x: 1 / (1 + math.exp(-x))),
    ],
)
def test_the_activation_follows_problem_type(deberta, tmp_path, problem, labels, expected):
    model = make_model(tmp_path / "m", "sequence", labels=labels, problem_type=problem)
    logits = {
        e["label"]: e["score"]
        for e in rows(deberta("classify", "-m", model, "-f", "jsonl", "--activation", "none", "--top-k", 3, "x y"))[0][
            "labels"
        ]
    }
    got = {e["label"]: e["score"] for e in rows(deberta("classify", "-m", model, "-f", "jsonl", "x y"))[0]["labels"]}
    assert set(got) == set(labels)
    for label in labels:
        assert got[label] == pytest.approx(expected(logits[label]), abs=1e-6)


def test_a_pair_is_not_two_texts(deberta, sequence_model):
    words = ("classify", "-m", sequence_model, "-f", "jsonl", "--activation", "none")
    pair = rows(deberta(*words, "--pair", "one text", "another text"))
    assert len(pair) == 1
    swapped = rows(deberta(*words, "--pair", "another text", "one text"))
    assert pair != swapped
    from_jsonl = rows(
        deberta(*words, "--input-format", "jsonl", stdin='{"text": "one text", "text_pair": "another text"}\n')
    )
    from_text = rows(deberta(*words, "--pair", stdin="one text\tanother text\n"))
    assert pair == from_jsonl == from_text
    assert deberta(*words, "--pair", "alone").returncode == 2


def test_every_form_of_input_gives_the_same_answers(deberta, sequence_model, tmp_path):
    texts = ["a fine film", "tab and, comma", 'quoted "word"', "caf\u00e9 \U0001f600"]
    forms = {
        "a.txt": "\n".join(texts),
        "a.tsv": "id\ttext\n" + "".join(f"{i}\t{t}\n" for i, t in enumerate(texts)),
        "a.csv": "text,id\r\n" + "".join('"' + t.replace('"', '""') + f'",{i}\r\n' for i, t in enumerate(texts)),
        "a.jsonl": "".join(json.dumps({"id": i, "text": t}) + "\n" for i, t in enumerate(texts)),
        "a.json": json.dumps([{"id": i, "text": t} for i, t in enumerate(texts)]),
    }
    expected = deberta("classify", "-m", sequence_model, *texts).stdout
    for name, text in forms.items():
        (tmp_path / name).write_bytes(text.encode())
        done = deberta("classify", "-m", sequence_model, "--input", tmp_path / name)
        assert done.stdout == expected, name


def test_columns_can_be_numbered_or_named(deberta, sequence_model):
    expected = deberta("classify", "-m", sequence_model, "a fine film").stdout
    numbered = deberta(
        "classify", "-m", sequence_model, "--input-format", "tsv", "--input-field", "2", stdin="7\ta fine film\n"
    )
    named = deberta(
        "classify",
        "-m",
        sequence_model,
        "--input-format",
        "tsv",
        "--input-field",
        "sentence",
        stdin="n\tsentence\n7\ta fine film\n",
    )
    assert numbered.stdout == named.stdout == expected


def test_other_keys_are_kept_and_never_hide_an_answer(deberta, sequence_model):
    line = '{"id": 7, "text": "x", "label": "gold", "deep": {"a": [1, 2.5]}}\n'
    words = ("classify", "-m", sequence_model, "--input-format", "jsonl", "-f", "jsonl")
    row = rows(deberta(*words, stdin=line))[0]
    assert row["id"] == 7 and row["input_label"] == "gold" and row["deep"] == {"a": [1, 2.5]} and "text" not in row
    assert row["label"] in ("negative", "neutral", "positive")
    assert set(rows(deberta(*words, "--keep", "id", stdin=line))[0]) == {"id", "label", "score", "labels"}
    assert set(rows(deberta(*words, "--keep", "none", stdin=line))[0]) == {"label", "score", "labels"}


def test_columns_kept_by_name_come_first_in_tsv(deberta, sequence_model):
    table = 'id,text,note\n1,a fine film,x y\n2,dull,"p\tq"\n'
    words = ("classify", "-m", sequence_model, "--input-format", "csv", "--keep", "note,id,text")
    plain = deberta(*words[:-2], stdin=table).stdout.splitlines()
    kept = deberta(*words, stdin=table).stdout.splitlines()
    assert kept == [
        "input_note\tid\ttext\t" + plain[0],
        "x y\t1\ta fine film\t" + plain[1],
        "\\:p\\tq\t2\tdull\t" + plain[2],
    ]
    bad = deberta(*words[:3], "--input-format", "jsonl", "--keep", "id", stdin='{"id": {"a": 1}}\n{"text": "x"}\n')
    assert bad.stdout.splitlines()[1].startswith('{"a":1}\t!error\t') or bad.stdout.splitlines()[1].startswith(
        '{"a": 1}\t!error\t'
    )


BAD = '{"id": 1, "text": "fine"}\n{"id": 2}\nnot json\n\n{"id": 3, "text": 5}\n{"id": 4, "text": "also fine"}\n'


def test_bad_rows_keep_their_place(deberta, sequence_model):
    done = deberta("classify", "-m", sequence_model, "--input-format", "jsonl", "-f", "jsonl", stdin=BAD)
    assert done.returncode == 1
    got = rows(done)
    assert ["error" in row for row in got] == [False, True, True, True, False]
    assert got[1]["error"]["code"] == "input" and "standard input:2" in got[1]["error"]["message"] and got[1]["id"] == 2
    assert got[2]["error"]["code"] == "json" and "standard input:3" in got[2]["error"]["message"]
    assert "expected a string, got 5 (integer)" in got[3]["error"]["message"]
    assert "rows: 2 ok, 3 failed" in done.stderr
    tsv = deberta("classify", "-m", sequence_model, "--input-format", "jsonl", stdin=BAD).stdout.splitlines()
    assert [line.startswith("!error") for line in tsv[1:]] == [False, True, True, True, False]


def test_bad_rows_can_be_left_out_or_stop_the_run(deberta, sequence_model):
    words = ("classify", "-m", sequence_model, "--input-format", "jsonl", "-f", "jsonl", "--on-bad-row")
    skipped = deberta(*words, "skip", stdin=BAD)
    assert skipped.returncode == 1 and [r["id"] for r in rows(skipped)] == [1, 4]
    stopped = deberta(*words, "fail", stdin=BAD)
    assert stopped.returncode == 1 and "standard input:2" in stopped.stderr


def test_long_texts_are_cut_with_a_note_or_refused(deberta, sequence_model):
    long = "word " * 100
    done = deberta("classify", "-m", sequence_model, "--max-tokens", "20", long, "short")
    assert done.returncode == 0 and "note: 1 of 2 rows cut to 20 tokens" in done.stderr
    assert deberta("classify", "-q", "-m", sequence_model, "--max-tokens", "20", long).stderr == ""
    refused = deberta("classify", "-m", sequence_model, "--max-tokens", "20", "--truncate", "error", long, "short")
    assert refused.returncode == 1
    assert "!error" in refused.stdout
    assert "expected at most 20 tokens, got" in refused.stdout
    assert len(refused.stdout.splitlines()) == 3


def test_invalid_utf8_from_a_file_is_replaced(deberta, sequence_model):
    bad = deberta("tokenize", "-m", sequence_model, "-f", "jsonl", stdin=b"a\xff b\xe2\x82\n", encoding=None)
    good = deberta("tokenize", "-m", sequence_model, "-f", "jsonl", stdin="a\ufffd b\ufffd\n".encode(), encoding=None)
    assert bad.returncode == 0 and bad.stdout == good.stdout


def test_output_goes_to_a_file_whole(deberta, sequence_model, tmp_path):
    path = tmp_path / "out.jsonl"
    done = deberta("classify", "-m", sequence_model, "-f", "jsonl", "-o", path, "one", "two")
    assert done.stdout == "" and len(path.read_text().splitlines()) == 2
    path.write_text("old")
    failed = deberta(
        "classify",
        "-m",
        sequence_model,
        "-f",
        "jsonl",
        "-o",
        path,
        "--on-bad-row",
        "fail",
        "--input-format",
        "jsonl",
        stdin="bad\n",
    )
    assert failed.returncode == 1 and path.read_text() == "old" and len(list(tmp_path.iterdir())) == 1


def test_json_is_one_document_and_pipes_get_no_escapes(deberta, sequence_model):
    done = deberta("classify", "-m", sequence_model, "--format", "json", "one", "two")
    document = json.loads(done.stdout)
    assert len(document) == 2 and set(document[0]) == {"label", "score", "labels"}
    assert json.loads(deberta("classify", "-m", sequence_model, "--format", "json", stdin="").stdout) == []
    assert "\x1b" not in deberta("classify", "-m", sequence_model, "--format", "table", "a\x1b[31m").stdout


def test_order_is_kept_over_many_batches_and_any_thread_count(deberta, sequence_model):
    texts = "".join(f"text {i} {'word ' * (i * 7 % 40)}\n" for i in range(600))
    runs = [
        deberta(
            "classify",
            "-m",
            sequence_model,
            "-f",
            "jsonl",
            "--activation",
            "none",
            "--threads",
            t,
            "--batch-tokens",
            b,
            stdin=texts,
        ).stdout
        for t, b in (("1", "16k"), ("2", "100"), ("3", "4000"))
    ]
    assert runs[0] == runs[1] == runs[2]
    alone = deberta(
        "classify", "-m", sequence_model, "-f", "jsonl", "--activation", "none", texts.splitlines()[399]
    ).stdout
    assert runs[0].splitlines()[399] + "\n" == alone


def test_a_model_without_the_head_is_refused_before_reading(deberta, sequence_model, language_model):
    done = deberta("fill", "-m", sequence_model, "[MASK]")
    assert done.returncode == 1 and "expected a masked language model head, got" in done.stderr and done.stdout == ""
    done = deberta("classify", "-m", language_model, "x")
    assert done.returncode == 1 and "expected a sequence classification head, got" in done.stderr


def test_fill_answers_every_mask(deberta, language_model):
    done = deberta("fill", "-m", language_model, "-f", "jsonl", "--top-k", "3", "a [MASK] and a [MASK] .")
    masks = rows(done)[0]["masks"]
    assert len(masks) == 2 and masks[0]["position"] < masks[1]["position"]
    for mask in masks:
        scores = [t["score"] for t in mask["tokens"]]
        assert len(scores) == 3 and scores == sorted(scores, reverse=True)
        assert "[MASK]" not in mask["tokens"][0]["sequence"] or len(masks) == 2
    tsv = deberta("fill", "-m", language_model, "a [MASK] .").stdout.splitlines()
    assert tsv[0] == "row\tmask\ttoken_str\tscore\ttoken\tsequence\tnote" and len(tsv) == 6


def test_fill_ranks_targets_alone(deberta, language_model):
    every = rows(deberta("fill", "-m", language_model, "-f", "jsonl", "--top-k", "100000", "the [MASK] ."))[0]["masks"][
        0
    ]["tokens"]
    word = next(t for t in every[50:] if t["piece"].startswith("\u2581") and len(t["piece"]) > 1)
    got = rows(deberta("fill", "-m", language_model, "-f", "jsonl", "--targets", word["piece"][1:], "the [MASK] ."))[0][
        "masks"
    ][0]["tokens"]
    assert len(got) == 1 and got[0]["token"] == word["token"] and got[0]["score"] == word["score"]
    done = deberta("fill", "-m", language_model, "--targets", "incomprehensibilities", "the [MASK] .")
    assert done.returncode == 1 and "expected words that are one token" in done.stderr


def test_fill_without_a_mask_is_a_bad_row(deberta, language_model):
    done = deberta("fill", "-m", language_model, "-f", "jsonl", "no mask", "one [MASK]")
    assert done.returncode == 1
    assert "expected at least one mask token" in rows(done)[0]["error"]["message"]
    assert "masks" in rows(done)[1]


def test_literal_special_text_is_plain(deberta, sequence_model):
    words = ("tokenize", "-m", sequence_model, "-f", "jsonl", "--no-special")
    assert rows(deberta(*words, "[SEP]"))[0]["tokens"] == ["[SEP]"]
    assert rows(deberta(*words, "--special-text", "literal", "[SEP]"))[0]["tokens"] != ["[SEP]"]


def test_tokenize_offsets_in_every_unit(deberta, sequence_model):
    text = "h\u00e9 \U0001f600 x"
    for unit, length in (("chars", 6), ("bytes", 10), ("utf16", 7)):
        row = rows(deberta("tokenize", "-m", sequence_model, "-f", "jsonl", "--no-special", "--offsets", unit, text))[0]
        assert max(end for _, end in row["offsets"]) == length
        assert len(row["ids"]) == len(row["tokens"]) == len(row["offsets"])


def test_tokenize_decodes(deberta, sequence_model):
    ids = rows(deberta("tokenize", "-m", sequence_model, "-f", "jsonl", "hello there"))[0]["ids"]
    done = deberta("tokenize", "-m", sequence_model, "--decode", "--no-special", "--no-header", " ".join(map(str, ids)))
    assert done.stdout == "hello there\n"
    assert "expected 0..925, got 99999" in deberta("tokenize", "-m", sequence_model, "--decode", "99999").stdout
    assert 'expected ids, got "x"' in deberta("tokenize", "-m", sequence_model, "--decode", "1 x").stdout


def test_kernels_check_reports_the_worst_difference_and_changes_no_answer(deberta, sequence_model):
    plain = deberta("classify", "-m", sequence_model, "--activation", "none", "a fine film")
    checked = deberta("classify", "-m", sequence_model, "--activation", "none", "--kernels", "check", "a fine film")
    assert checked.stdout == plain.stdout
    line = next(line for line in checked.stderr.splitlines() if line.startswith("check: gemm: "))
    assert float(line.split("worst difference ")[1].split()[0]) < 1e-4


def test_ner_groups_pieces_and_counts_in_every_unit(deberta, tmp_path):
    model = make_model(tmp_path / "m", "token", labels=("O", "B-X", "I-X"))
    text = "h\u00e9 \U0001f600 words here"
    raw = rows(deberta("ner", "-m", model, "-f", "jsonl", "--aggregate", "none", "--ignore-labels", "", text))[0][
        "entities"
    ]
    pieces = rows(deberta("tokenize", "-m", model, "-f", "jsonl", "--no-special", text))[0]
    assert [[e["start"], e["end"]] for e in raw] == pieces["offsets"]
    assert all(text[e["start"] : e["end"]] == e["word"] for e in raw)
    grouped = rows(deberta("ner", "-m", model, "-f", "jsonl", "--ignore-labels", "", text))[0]["entities"]
    assert {e["entity_group"] for e in grouped} <= {"O", "X"} and len(grouped) <= len(raw)
    by_bytes = rows(deberta("ner", "-m", model, "-f", "jsonl", "--ignore-labels", "", "--offsets", "bytes", text))[0][
        "entities"
    ]
    for entity, other in zip(grouped, by_bytes, strict=True):
        assert text.encode()[other["start"] : other["end"]].decode() == entity["word"]
    assert deberta("ner", "-m", model, "--ignore-labels", "", text).stdout.startswith(
        "row\tlabel\tscore\tstart\tend\tword\tnote\n"
    )


def test_nli_goes_by_label_names(deberta, tmp_path):
    text = ("a premise .", "a hypothesis .")
    scores = {}
    for name, labels in (("a", ["contradiction", "neutral", "entailment"]), ("b", ["LABEL_0", "LABEL_1", "LABEL_2"])):
        model = make_model(tmp_path / name, "sequence", labels=labels)
        mapped = ("--label-map", "contradiction,neutral,entailment") if name == "b" else ()
        scores[name] = rows(deberta("nli", "-m", model, "-f", "jsonl", *mapped, *text))[0]
        assert deberta("nli", "-m", model, *mapped, "alone").returncode == 2
    assert scores["a"] == scores["b"]
    assert sum(scores["a"][k] for k in ("entailment", "neutral", "contradiction")) == pytest.approx(1)
    assert (
        'expected classes named entailment, neutral, contradiction, got "LABEL_0" among LABEL_0, LABEL_1, LABEL_2'
        in deberta("nli", "-m", tmp_path / "b", *text).stderr
    )


def test_embed_pools_normalises_and_writes_npy(deberta, sequence_model, tmp_path):
    import numpy

    words = ("embed", "-m", sequence_model, "-f", "jsonl")
    tokens = numpy.array(rows(deberta(*words, "--pooling", "none", "some text"))[0]["token_embeddings"])
    assert numpy.allclose(rows(deberta(*words, "some text"))[0]["embedding"], tokens.mean(0), atol=1e-6)
    assert numpy.allclose(rows(deberta(*words, "--pooling", "max", "some text"))[0]["embedding"], tokens.max(0))
    assert numpy.allclose(rows(deberta(*words, "--pooling", "cls", "some text"))[0]["embedding"], tokens[0])
    path = tmp_path / "v.npy"
    assert deberta("embed", "-m", sequence_model, "--normalize", "-o", path, "some text", "other").returncode == 0
    array = numpy.load(path)
    assert array.shape == (2, 16)
    assert array.dtype == numpy.float32
    assert numpy.allclose(numpy.linalg.norm(array, axis=1), 1)
    assert numpy.allclose(array[0], tokens.mean(0) / numpy.linalg.norm(tokens.mean(0)), atol=1e-6)
    failed = deberta("embed", "-m", sequence_model, "--input-format", "jsonl", "-o", path, stdin='{"text": "x"}\n{}\n')
    assert failed.returncode == 1 and "standard input:2" in failed.stderr and numpy.load(path).shape == (2, 16)
    assert "expected a layer in -3..2, got 9" in deberta("embed", "-m", sequence_model, "--layer", "9", "x").stderr


def test_embed_writes_safetensors_and_half_precision(deberta, sequence_model, tmp_path):
    import numpy
    from safetensors.numpy import load_file

    texts = ("some text", "other words here")
    words = ("embed", "-m", sequence_model, "-q")
    plain = numpy.array([row["embedding"] for row in rows(deberta(*words, "-f", "jsonl", *texts))], numpy.float32)
    for dtype, tolerance in (("fp32", 0), ("fp16", 2**-11), ("bf16", 2**-8)):
        path = tmp_path / f"{dtype}.safetensors"
        assert deberta(*words, "--output-dtype", dtype, "-o", path, *texts).returncode == 0
        header = path.read_bytes()[8:]
        assert {"fp32": b'"F32"', "fp16": b'"F16"', "bf16": b'"BF16"'}[dtype] in header
        if dtype != "bf16":  # NumPy has no bf16
            assert numpy.allclose(load_file(path)["embeddings"], plain, rtol=tolerance, atol=1e-7)
    assert deberta(*words, "--output-dtype", "fp16", "-o", tmp_path / "v.npy", *texts).returncode == 0
    half = numpy.load(tmp_path / "v.npy")
    assert half.dtype == numpy.float16 and (half == plain.astype(numpy.float16)).all()
    assert deberta(*words, "--pooling", "none", "-o", tmp_path / "t.safetensors", *texts).returncode == 0
    tokens = load_file(tmp_path / "t.safetensors")
    each = [
        numpy.array(row["token_embeddings"])
        for row in rows(deberta(*words, "--pooling", "none", "-f", "jsonl", *texts))
    ]
    assert tokens["starts"].tolist() == [0, len(each[0]), len(each[0]) + len(each[1])]
    assert numpy.allclose(tokens["token_embeddings"], numpy.concatenate(each), atol=1e-6)
    for given, message in (
        (("--output-dtype", "bf16", "-o", tmp_path / "x.npy"), "NumPy has no such type"),
        (("--pooling", "none", "-o", tmp_path / "x.npy"), "different lengths"),
        (("--output-dtype", "fp16"), "expected -o FILE.npy"),
    ):
        failed = deberta(*words, *given, *texts)
        assert failed.returncode == 2 and message in failed.stderr and not (tmp_path / "x.npy").exists()


def test_embed_compares_two_texts(deberta, sequence_model):
    import numpy

    words = ("embed", "-m", sequence_model, "-q", "-f", "jsonl")
    a, b = (numpy.array(row["embedding"]) for row in rows(deberta(*words, "some text", "other words here")))
    (got,) = rows(deberta(*words, "--similarity", "some text", "other words here"))
    assert got["similarity"] == pytest.approx(a @ b / numpy.linalg.norm(a) / numpy.linalg.norm(b), abs=1e-6)
    same = rows(
        deberta(*words, "--similarity", "--input-format", "jsonl", stdin='{"text": "x y", "text_pair": "x y"}\n')
    )
    assert same[0]["similarity"] == pytest.approx(1, abs=1e-6)
    assert deberta(*words, "--similarity", "alone").returncode == 2
    assert "for --similarity, got none" in deberta(*words, "--similarity", "--pooling", "none", "a", "b").stderr


def test_detect_gives_a_probability_for_each_piece(deberta, tmp_path, sequence_model):
    model = make_model(tmp_path / "m", "rtd")
    got = rows(deberta("detect", "-m", model, "-f", "jsonl", "--threshold", "0.4", "a few words"))[0]["tokens"]
    pieces = rows(deberta("tokenize", "-m", model, "-f", "jsonl", "--no-special", "a few words"))[0]
    assert [t["piece"] for t in got] == pieces["tokens"] and [[t["start"], t["end"]] for t in got] == pieces["offsets"]
    for token in got:
        assert token["score"] == pytest.approx(1 / (1 + math.exp(-token["logit"])), abs=1e-6)
        assert token["replaced"] == (token["score"] >= 0.4)
    assert "expected a replaced-token head, got" in deberta("detect", "-m", sequence_model, "x").stderr
    assert "expected a masked language model head" in deberta("fill", "-m", model, "[MASK]").stderr


def test_fill_says_when_a_file_has_only_the_plain_head(deberta, language_model):
    assert "the plain head is used" in deberta("fill", "-m", language_model, "a [MASK]").stderr
    for words in (("--emd", "off"), ("--compat", "hf"), ("-q",)):
        assert deberta("fill", "-m", language_model, *words, "a [MASK]").stderr == ""
    assert "position" in deberta("fill", "-m", language_model, "--emd", "on", "a [MASK]").stderr
