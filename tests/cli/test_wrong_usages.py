"""Wrong usages and the answer that each gets: exit code 2 when the command line is wrong, 1 when something it names is,
and one message that a newcomer understands.

Words in capitals are models (made below); the files are in the folder where the program runs."""

import pathlib

import numpy
import pytest

from models import make_extractor, make_model, write_safetensors

USAGES = [
    # ---- the words themselves
    ("clasify x", 2, "unknown verb clasify; did you mean classify?"),
    ("--modle x", 2, "unknown option --modle; `deberta --help` lists the verbs"),
    ("--version classify", 2, "--version: expected nothing after it, got classify"),
    ("--help classify", 2, "--help: expected nothing after it, got classify; `deberta VERB --help`"),
    ("help clasify", 2, "unknown verb clasify"),
    ("help classify nli", 2, "help: expected [VERB], got classify nli"),
    ("completion", 2, 'completion: expected bash, zsh or fish, got ""'),
    ("completion bash zsh", 2, "completion: expected SHELL, got bash zsh"),
    ("info SEQ", 2, "info: expected no texts, got SEQ; give a model with -m"),
    ("check SEQ", 2, "check: expected no texts, got SEQ; give a model with -m"),
    ("inspect SEQ", 2, "inspect: expected no texts, got SEQ; give a model with -m"),
    ("convert SEQ --to new", 2, "convert: expected no texts, got SEQ; give a model with -m"),
    ("forward -m SEQ text", 2, "--output: expected a file for the tensors, got none"),
    ("bench -m SEQ text", 2, "bench: expected no texts, got text"),
    # ---- options
    ("classify -m", 2, "--model: expected DIR after it, got nothing"),
    ("classify -m --top-k 3 x", 2, "--model: expected DIR after it, got the option --top-k"),
    (
        "rerank -m ONE --query --return-text d",
        2,
        (
            "--query: expected TEXT after it, got the option --return-text; write --query=-x for a value that starts "
            "with a dash"
        ),
    ),
    ("zero-shot -m NLI --labels --multi-label x", 2, "--labels: expected NAMES after it, got the option --multi-label"),
    ("classify -m SEQ x -qk", 2, "--top-k: expected a whole number in 0..100000 after it, got nothing"),
    ("classify -m SEQ x --top-k", 2, "--top-k: expected a whole number in 0..100000 after it, got nothing"),
    ("classify -m SEQ x -f", 2, "--format: expected auto|table|tsv|"),
    ("classify -m SEQ --pair=no x y", 2, '--pair: takes no value, got "no"'),
    ("classify -m SEQ --quiet=5 x", 2, '--quiet: takes no value, got "5"'),
    ("classify -m SEQ -z x", 2, "unknown option -z; `deberta classify --help` lists the options"),
    ("classify -m SEQ --batch-token 3 x", 2, "unknown option --batch-token; did you mean --batch-tokens?"),
    ("classify -m SEQ --tokens 3 x", 2, "option --tokens does not apply to classify; it applies to: score"),
    ("classify -m SEQ --uncalibrated x", 2, "unknown option --uncalibrated; did you mean --allow-uncalibrated?"),
    ("tokenize -m SEQ --top-k 3 x", 2, "option --top-k does not apply to tokenize; it applies to: classify fill qa"),
    ("classify -m SEQ --top-k -3 x", 2, '--top-k: expected a value in 0..100000, got "-3"'),
    ("classify -m SEQ --top-k 1.5 x", 2, '--top-k: expected a whole number in 0..100000, got "1.5"'),
    ("classify -m SEQ -kx x", 2, '--top-k: expected a whole number in 0..100000, got "x"'),
    ("classify -m SEQ --batch-tokens 3Q x", 2, '--batch-tokens: expected a size such as 4096, 16k or 2MiB, got "3Q"'),
    ("classify -m SEQ --activation sofmax x", 2, "did you mean softmax?"),
    ("classify -m SEQ --raw --activation softmax x", 2, "--activation: expected one value, got 2: softmax, none"),
    ("classify -m SEQ --kernels fastest x", 2, "--kernels: expected auto, check, reference"),
    ("classify -m SEQ --config none x", 1, "none: cannot open: No such file or directory"),
    ("classify -m SEQ --config texts.txt x", 1, "texts.txt: not valid JSON at line 1"),
    # ---- models
    ("qa question context", 2, "--model: expected a model directory, got none; give -m DIR or set DEBERTA_MODEL"),
    (["classify", "-m", "", "x"], 2, '--model: expected DIR, got ""'),
    ("classify -m none x", 1, "none: no such model; looked for the directory none"),
    (
        "classify -m ./none x",
        1,
        "./none: no such model directory; expected a folder with config.json, weights and a tokenizer",
    ),
    (
        "classify -m SEQ/model.safetensors x",
        1,
        "SEQ/model.safetensors: expected a model folder, got a file; give the folder of the file: -m SEQ",
    ),
    ("classify -m texts.txt x", 1, "texts.txt: expected a model folder, got a file"),
    ("info -m folder", 1, "folder"),
    ("inspect -m SEQ --diff none", 1, "none: no such model"),
    ("classify -m SEQ --dtype int8 x", 1, "int8 needs a calibration of the activations, and there is none"),
    # ---- models for another verb: the message names a verb that takes the model
    (
        "classify -m TOKEN x",
        1,
        "classify: expected a sequence classification head, got token; verbs for this model: ner, embed",
    ),
    ("classify -m LM x", 1, "verbs for this model: fill, score, embed"),
    ("nli -m TOKEN a b", 1, "nli: expected a sequence classification head, got token"),
    (
        "nli -m SEQ a b",
        1,
        (
            'nli: expected classes named entailment, neutral, contradiction, got "negative" among negative, '
            "neutral, positive"
        ),
    ),
    ("nli -m ONE a b", 1, "nli: expected an entailment model with 2 or 3 classes, got one with 1"),
    (
        "zero-shot -m SEQ --labels a,b x",
        1,
        (
            'zero-shot: expected classes named entailment, neutral, contradiction, got "negative" among negative, '
            "neutral, positive"
        ),
    ),
    ("zero-shot -m TOKEN --labels a,b x", 1, "zero-shot: expected a sequence classification head, got token"),
    (
        "ner -m SEQ x",
        1,
        "ner: expected a token classification head, got sequence; verbs for this model: classify, embed",
    ),
    (
        "extract -m SEQ --labels a x",
        1,
        "extract: expected a GLiNER head, got sequence; verbs for this model: classify, embed",
    ),
    (
        "ner -m GLINER x",
        1,
        "expected a token classification head, got entity-spans; verbs for this model: extract, embed",
    ),
    ("extract -m GLINER x", 1, "labels: expected labels of entities, got none"),
    ("extract -m GLINER --labels a --labels-file none x", 1, "none: cannot open: No such file or directory"),
    ("extract -m GLINER --labels a --preset all x", 2, "--preset: expected none, pii"),
    (
        "extract -m GLINER --labels a --threshold 2 x",
        2,
        '--threshold: expected a number in 0..1, or LABEL=NUMBER, got "2"',
    ),
    (
        "extract -m GLINER --labels a --threshold b=0.1 x",
        2,
        '--threshold: expected one of the labels before the number, got "b"',
    ),
    ("extract -m GLINER --labels a --redact-map new.json x", 2, "--redact-map: expected --redact as well"),
    ("extract -m GLINER --labels a --redact --truncate right x", 2, "--redact: expected --truncate window or error"),
    ("extract --restore none.json x", 1, "none.json: cannot open: No such file or directory"),
    ("ner -m NLI x", 1, "verbs for this model: classify, nli, zero-shot, embed"),
    ("ner -m ONE x", 1, "verbs for this model: classify, rerank, choose, embed"),
    ("qa -m SEQ q c", 1, "qa: expected a span head, got sequence"),
    ("choose -m SEQ c q a b", 1, "choose: expected a head with one class per choice, or two (no, yes), got 3"),
    ("choose -m TOKEN c q a b", 1, "choose: expected a multiple choice head, got token"),
    ("rerank -m SEQ q d", 1, "rerank: expected a head with one class, got 3"),
    ("fill -m SEQ [MASK]", 1, "fill: expected a masked language model head, got sequence"),
    ("score -m SPAN x", 1, "score: expected a masked language model head, got span; verbs for this model: qa, embed"),
    ("detect -m LM x", 1, "detect: expected a replaced-token head, got masked-lm"),
    ("eval --task sst-2 -m TOKEN dev.tsv", 1, "eval: expected a sequence classification head, got token"),
    ("eval --task squad -m SEQ squad.json", 1, "eval: expected a span head, got sequence"),
    ("eval --task mlm -m SEQ texts.txt", 1, "eval: expected a masked language model head, got sequence"),
    ("eval --task sst-2 -m SEQ dev.tsv", 1, "eval: expected a model with the classes 0, 1, got 3 classes"),
    # ---- texts and rows
    ("nli -m NLI premise", 2, "nli: expected texts in groups of 2"),
    ("qa -m SPAN question", 2, "qa: expected texts in groups of 2 (question, context), got 1 texts"),
    ("choose -m ONE c q", 2, "choose: expected at least 3 (context, question, choices), got 2 texts"),
    ("rerank -m ONE q", 2, "rerank: expected at least 2 (query, documents), got 1 texts"),
    ("classify -m SEQ --pair x", 2, "classify: expected texts in groups of 2"),
    ("classify -m SEQ -i none", 1, "none: cannot open: No such file or directory"),
    ("classify -m SEQ -i texts.txt x", 2, "--input: expected texts or an input file, got both"),
    (
        "classify -m SEQ -i dev.tsv --input-field a,b,c",
        2,
        "--input-field: expected these names (text,text_pair), got 3",
    ),
    ("classify -m SEQ -m TOKEN x", 2, "--model: expected one value, got 2: SEQ, TOKEN"),
    ("classify -m SEQ --top-k 2 --top-k 3 x", 2, "--top-k: expected one value, got 2: 2, 3"),
    ("classify -m SEQ -i dev.tsv", 1, 'no column "text" among sentence, label; name it with --input-field'),
    ("classify -m SEQ -i dev.tsv --input-field nope", 1, 'no column "nope" among sentence, label'),
    ("classify -m SEQ -i dev.tsv --input-field sentence --keep nope", 1, 'no column "nope" among sentence, label'),
    ("classify -m SEQ -i folder", 1, "folder: expected a file, got a folder"),
    ("classify -m SEQ -i - -i -", 2, "--input: expected standard input once, got it twice"),
    ("classify -m SEQ --top-k 1 -k 2 x", 2, "--top-k: expected one value, got 2: 1, 2"),
    (
        "classify -m SEQ -i ids.safetensors",
        1,
        "ids.safetensors: expected text, got a NUL byte at byte 1: binary data, or UTF-16 without a byte order mark",
    ),
    (
        "classify -m SEQ -i dev.tsv --input-field sentence --keep idd",
        1,
        'dev.tsv: no column "idd" among sentence, label; --keep names columns of the input',
    ),
    (
        "classify -m SEQ -i texts.txt --keep id",
        2,
        "--keep: expected rows with columns or keys of these names, got lines of text from texts.txt",
    ),
    (
        "classify -m SEQ -i texts.txt --input-field review",
        2,
        (
            "--input-field: expected rows with columns or keys, got lines of text from texts.txt; name their format "
            "with --input-format"
        ),
    ),
    (
        "rerank -m ONE --query q -i dev.tsv --input-field sentence --keep labl",
        1,
        'dev.tsv: no column "labl" among sentence, label; did you mean label? --keep names columns of the input',
    ),
    (
        "rerank -m ONE --query q -i texts.txt --keep id",
        2,
        "--keep: expected rows with columns or keys of these names, got lines of text from texts.txt",
    ),
    ("tokenize -m SEQ --decode -o x.safetensors 1", 2, "--decode: expected answers as text, got -o x.safetensors"),
    (
        "tokenize -m SEQ -f json -o x.safetensors a",
        2,
        "--output: x.safetensors is an array; --format json contradicts that",
    ),
    (
        "forward -m SEQ -o x.safetensors",
        2,
        "forward: expected texts, or --ids and a safetensors file with input_ids, got none",
    ),
    ("forward -m SEQ --ids ids.safetensors -o x.safetensors a", 2, "--ids: expected texts or --ids, got both"),
    ("forward -m SEQ --ids ids.safetensors --pair -o x.safetensors", 2, "--pair: expected texts, got --ids"),
    ("forward -m SEQ --pair -o x.safetensors a", 2, "--pair: expected pairs of texts, got 1 texts"),
    ("embed -m SEQ --digits 3 -o x.npy x", 2, "--digits: expected answers as text, got -o x.npy"),
    ("eval --task rte -p answers.tsv -i dev.tsv", 1, "dev.tsv:1: expected a header line with columns named"),
    ("zero-shot -m NLI x", 2, "--labels: expected candidate labels, got none"),
    ("zero-shot -m NLI --labels a,a x", 2, '--labels: expected different labels, got "a" twice'),
    (
        "zero-shot -m NLI --labels a --labels-file texts.txt x",
        2,
        "--labels-file: expected --labels or --labels-file, got both",
    ),
    ("zero-shot -m NLI --labels a,b --template none x", 2, '--template: expected {} where the label goes, got "none"'),
    ("fill -m LM no", 1, "text: expected at least one mask token, got none; write [MASK]"),
    ("tokenize -m LM --decode abc", 1, 'expected ids, got "abc"'),
    ("tokenize -m LM --decode 99999999", 1, "token id: expected 0.."),
    ("embed -m SEQ --layer 99 x", 1, "--layer: expected a layer in -3..2, got 99"),
    ("embed -m SEQ --similarity x", 2, "embed: expected texts in groups of 2"),
    ("forward -m SEQ --ids none -o o.safetensors", 1, "none: cannot open: No such file or directory"),
    ("forward -m SEQ --ids ids.safetensors", 2, "--output: expected a file for the tensors, got none"),
    # ---- places for output
    ("classify -m SEQ -o folder x", 1, "folder: expected a file, got a folder"),
    ("classify -m SEQ -o none/x x", 1, "none/x: cannot create: no folder none"),
    ("classify -m SEQ -o texts.txt/x x", 1, "texts.txt/x: cannot open: Not a directory"),
    (["classify", "-m", "SEQ", "-o", "", "x"], 2, '--output: expected FILE, got ""'),
    ("classify -m SEQ -o x.npy x", 2, "--output: expected a name with the extension of a format of classify"),
    ("classify -m SEQ -o x.conll x", 2, "--output: expected a name with the extension of a format of classify"),
    (
        "classify -m SEQ -o x.tsv.gz x",
        2,
        "--output: expected a name that does not end in .gz, got x.tsv.gz: output is not compressed",
    ),
    ("embed -m SEQ -f json -o x.npy x", 2, "--output: x.npy is an array; --format json contradicts that"),
    ("embed -m SEQ --output-dtype fp16 x", 2, "--output-dtype: expected -o FILE.npy or -o FILE.safetensors as well"),
    ("embed -m SEQ --pooling none -o x.npy x", 2, "--pooling: expected auto, cls, mean or max for a .npy file"),
    (
        "forward -m SEQ --ids ids.safetensors -o x.json",
        2,
        "--output: expected a name that ends in .safetensors, got x.json",
    ),
    (
        "eval --task sst-2 -p answers.tsv dev.tsv --write-predictions -",
        2,
        "--write-predictions: expected a file, got standard output, which is already in use",
    ),
    (
        "eval --task sst-2 -p answers.tsv dev.tsv --write-predictions p.tsv -o p.tsv",
        2,
        "expected two different files, got p.tsv twice",
    ),
    (
        "eval --task squad -m SPAN squad.json --write-predictions p.tsv",
        2,
        "--write-predictions: expected a name that ends in .json, the format of predictions for squad, got p.tsv",
    ),
    (
        "eval --task sst-2 -p answers.tsv dev.tsv --write-predictions p.jsonl",
        2,
        "--write-predictions: expected a name that ends in .tsv, the format of predictions for sst-2, got p.jsonl",
    ),
    ("eval --task sst-2 -p answers.tsv dev.tsv --output-dir texts.txt", 1, "texts.txt: expected a folder, got a file"),
    # ---- eval
    ("eval", 2, "--task: expected the name of a task, got none"),
    ("eval --task sst2x dev.tsv", 2, "--task: expected one of cola, sst-2"),
    ("eval --task sst-2 -m SEQ", 2, "eval: expected a labelled file or a folder of such files"),
    ("eval --task sst-2 -m SEQ none.tsv", 1, "none.tsv: no such file"),
    ("eval --task sst-2 -m SEQ folder", 1, "folder: expected labelled files in the folder, got none"),
    ("eval --task sst-2 -p none dev.tsv", 1, "none: cannot open: No such file or directory"),
    ("eval --task squad -m SPAN dev.tsv", 1, "dev.tsv: not valid JSON at line 1"),
    ("eval --task extract -m GLINER dev.tsv -p answers.tsv", 2, "--predictions: expected a task whose predictions a"),
    ("eval --task extract -m GLINER dev.tsv --by x", 2, "--by: expected a task whose rows have columns, got extract"),
    ("eval --task extract -m GLINER dev.tsv --input-field x", 2, "--input-field: expected none for the task extract"),
    ("eval --task extract -m GLINER dev.tsv --label-names PER", 2, "--label-names: expected a label of the files, ="),
    ("eval --task extract -m GLINER dev.tsv --label-names A=b,A=c", 2, "--label-names: expected one name for each"),
    ("eval --task sst-2 -m SEQ dev.tsv --label-names A=b", 2, "--label-names: expected the task extract, got sst-2"),
    ("eval --task ner -m SEQ dev.tsv --threshold .4", 2, "--threshold: expected the task extract, got ner"),
    ("eval --task ner -m SEQ dev.tsv --nested", 2, "--nested: expected the task extract, got ner"),
    ("eval --average folder", 1, "folder: expected all_results.json or folders with all_results.json"),
    # ---- folders of models
    ("convert -m SEQ", 2, "--output-dir: expected a new folder for the model, got none"),
    ("convert -m SEQ --to .", 1, ".: expected a new or empty folder"),
    ("convert -m SEQ --to texts.txt", 1, "texts.txt: expected a new or empty folder"),
    ("convert -m SEQ --to none/new", 1, "none/new: cannot create: no folder none"),
    ("convert -m SEQ --to SEQ/new", 2, "expected a folder outside the model"),
    ("convert -m SEQ --to new --dtype int8", 2, "--dtype int8: expected --calibration-data FILE"),
    ("convert -m SEQ --to new --calibration-data texts.txt", 2, "--calibration-data: expected --dtype int8 as well"),
    ("convert -m SEQ --to new --smoothing 0.5", 2, "--smoothing: expected --dtype int8 as well"),
    ("convert -m SEQ --to new --average SEQ --adapter SEQ", 2, "--average: expected this or --adapter, got both"),
    ("convert -m SEQ --to new --layout v1", 1, "the layout of version 1 cannot hold this model"),
    ("convert -m GLINER --to new --average SEQ", 2, "--average: expected a DeBERTa model alone, got a GLiNER model"),
    ("convert -m GLINER --to new --layout v1", 1, "a GLiNER model has an encoder of version 2"),
    ("check -m SEQ --fix .", 1, ".: expected a new or empty folder"),
    # ---- chart
    ("chart", 2, "chart: expected a file of figures, or - for standard input, got none"),
    ("chart a.json b.json", 2, "chart: expected FILE, got a.json b.json"),
    ("chart none.json", 1, "none.json: cannot open: No such file or directory"),
    ("chart texts.txt", 1, "texts.txt: not valid JSON at line 1"),
    ("chart squad.json", 1, "squad.json: kind: expected lines, bars, dots, boxes, heat_map or diagram, got none"),
    ("chart squad.json -o x.png", 2, "--output: expected a name that ends in .svg, got x.png"),
    # ---- bench
    ("bench -m SEQ --threads abc", 2, '--threads: expected numbers in 1..1024, got "abc"'),
    ("bench -m SEQ --lengths 0", 2, "--lengths: expected numbers in 1.."),
    ("bench -m SEQ --baseline none", 1, "none: cannot open: No such file or directory"),
]


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    folder = tmp_path_factory.mktemp("models")
    heads = {"SEQ": "sequence", "TOKEN": "token", "SPAN": "span", "LM": "lm"}
    for name, head in heads.items():
        make_model(folder / name, head)
    make_model(folder / "NLI", "sequence", labels=("contradiction", "neutral", "entailment"))
    make_model(folder / "ONE", "sequence", labels=("score",))
    make_extractor(folder / "GLINER")
    return folder


@pytest.fixture
def place(models, tmp_path):
    """The folder where the program runs, with the models and some files; none of them may change."""
    for model in models.iterdir():
        (tmp_path / model.name).symlink_to(model)
    (tmp_path / "folder").mkdir()
    (tmp_path / "texts.txt").write_text("one\ntwo\n")
    (tmp_path / "dev.tsv").write_text("sentence\tlabel\ngood\t1\nbad\t0\n")
    (tmp_path / "answers.tsv").write_text("index\tprediction\n0\t1\n1\t0\n")
    (tmp_path / "squad.json").write_text(
        '{"data": [{"paragraphs": [{"context": "a b", "qas": [{"id": "1", "question": "what", "answers": '
        '[{"text": "a", "answer_start": 0}]}]}]}]}'
    )
    write_safetensors(tmp_path / "ids.safetensors", {"input_ids": numpy.array([[1, 5, 2]], dtype=numpy.int32)})
    return tmp_path


def contents(folder):
    return {path.name: path.read_bytes() for path in pathlib.Path(folder).iterdir() if path.is_file()}


@pytest.mark.parametrize(
    "usage, code, message", USAGES, ids=lambda value: value if isinstance(value, str) and " " in value else None
)
def test_a_wrong_usage_gets_its_answer(deberta, place, usage, code, message):
    before, names = contents(place), sorted(path.name for path in place.iterdir())
    done = deberta(*(usage.split() if isinstance(usage, str) else usage), cwd=place)
    assert (done.returncode, message in done.stdout + done.stderr) == (code, True), done.stdout + done.stderr
    assert "internal" not in done.stderr and "required" not in done.stderr
    assert "rows: 0 ok, 1 failed" in done.stderr or done.stdout == ""  # an answer, or none at all: never a part
    assert contents(place) == before and sorted(path.name for path in place.iterdir()) == names


def test_the_list_is_long_and_names_every_verb():
    words = [usage.split() if isinstance(usage, str) else usage for usage, _, _ in USAGES]
    assert len(USAGES) >= 60 and len({" ".join(line) for line in words}) == len(USAGES)
    assert {line[0] for line in words} >= {
        "classify",
        "nli",
        "zero-shot",
        "ner",
        "extract",
        "qa",
        "choose",
        "rerank",
        "fill",
        "score",
        "embed",
        "detect",
        "tokenize",
        "forward",
        "eval",
        "inspect",
        "check",
        "convert",
        "bench",
        "info",
        "chart",
        "completion",
        "help",
    }


@pytest.mark.parametrize(
    "head, labels",
    [
        ("sequence", ("a", "b", "c")),
        ("sequence", ("contradiction", "neutral", "entailment")),
        ("sequence", ("not_entailment", "entailment")),
        ("sequence", ("a", "b")),
        ("sequence", ("one",)),
        ("token", ("O", "B-X")),
        ("span", ()),
        ("lm", ()),
        ("rtd", ()),
    ],
)
def test_a_verb_that_is_named_takes_the_model(deberta, tmp_path, head, labels):
    model = make_model(tmp_path / "model", head, labels=labels)
    said = deberta("ner" if head != "token" else "qa", "-m", model, *(["x"] if head != "token" else ["q", "c"])).stderr
    verbs = said.split("verbs for this model: ")[1].strip().split(", ")
    texts = {
        "nli": ["a", "b"],
        "zero-shot": ["--labels", "a,b", "x"],
        "qa": ["q", "c"],
        "choose": ["c", "q", "a", "b"],
        "rerank": ["q", "d"],
        "fill": ["a [MASK]"],
    }
    assert verbs[-1] == "embed"
    for verb in verbs:
        done = deberta(verb, "-m", model, *texts.get(verb, ["some words"]))
        assert done.returncode == 0, (verb, done.stderr)
    for verb in {"nli", "zero-shot", "qa", "choose", "rerank", "fill", "classify", "ner", "score", "detect"} - set(
        verbs
    ):
        assert deberta(verb, "-m", model, *texts.get(verb, ["some words"])).returncode == 1, verb
