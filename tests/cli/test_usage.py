"""What the program says about itself and about wrong usage."""

import json
import re
import shlex
import subprocess

import pytest

from conftest import BINARY
from models import ROOT

VERBS = [
    "classify",
    "eval",
    "nli",
    "ner",
    "extract",
    "embed",
    "detect",
    "fill",
    "tokenize",
    "forward",
    "inspect",
    "check",
    "info",
    "chart",
    "completion",
    "help",
]


def test_no_words_and_help_show_every_verb(deberta):
    for words in ([], ["--help"], ["-h"], ["help"]):
        done = deberta(*words)
        assert done.returncode == 0 and done.stderr == ""
        for verb in VERBS:
            assert f"\n  {verb} " in done.stdout


@pytest.mark.parametrize("verb", VERBS)
def test_help_of_a_verb_lists_its_options_without_reading_anything(deberta, verb):
    done = deberta(verb, "--help")
    assert done.returncode == 0
    assert done.stdout.startswith(f"deberta {verb}: ")
    assert "--print-config" in done.stdout and "example:" in done.stdout
    assert deberta("help", verb).stdout == done.stdout


def pages(deberta):
    """Of each verb: its page, and its options in the order of the page with their sections."""
    overview = deberta("help").stdout
    verbs = re.findall(r"^  ([a-z-]+) +\S", overview.split("examples:")[0].split("verbs:")[1], re.M)
    for verb in verbs:
        if verb == "train-tokenizer":
            continue
        page = deberta("help", verb).stdout
        section, options = "", []
        for line in page.splitlines():
            if re.fullmatch(r"[A-Z][a-z ]+:", line):
                section = line[:-1]
            elif found := re.match(r"  (?:-\w,|   ) --([a-z0-9-]+)", line):
                options.append((section, found[1]))
        yield verb, page, options


def test_every_option_is_on_its_page_once_and_the_most_used_come_first(deberta):
    for verb, page, options in pages(deberta):
        names = [name for _, name in options]
        assert len(names) == len(set(names)) >= 3, verb
        if "Most used:" in page:
            assert options[0][0] == "Most used" and sum(section == "Most used" for section, _ in options) <= 12, verb
        assert all(
            len(line) <= 100 for line in page.split("\n\n", 2)[-1].splitlines() if not line.startswith("  deberta")
        ), verb


def test_the_verbs_of_a_checkout_are_listed_and_a_program_says_where_they_are(deberta):
    run = (ROOT / "run").read_text()
    scripts = set(re.findall(r'"([a-z-]+) "\*\) install_packages', run)) | set(
        re.findall(r"= ([a-z-]+) \]; then\n  exec", run)
    )
    assert scripts == {"train-tokenizer"}
    assert "\n  train-tokenizer " in deberta("help").stdout and "\n  ./run train-tokenizer " in deberta("help").stdout
    for words in ["train-tokenizer", "corpus.txt"], ["help", "train-tokenizer"]:
        done = deberta(*words)
        assert done.returncode == 2
        assert done.stderr == (
            "train-tokenizer: expected a verb of this program, got one that only a checkout has; `./run "
            "train-tokenizer --help` shows it there\n"
        )


@pytest.mark.parametrize("columns, width", [(80, 80), (20, 60), (400, 120)])
def test_help_is_as_wide_as_the_terminal(columns, width):
    at_pty = [
        "python3",
        "-c",
        "import fcntl,os,pty,struct,sys,termios\n"
        "pid, fd = pty.fork()\n"
        f"if pid == 0:\n    fcntl.ioctl(1, termios.TIOCSWINSZ, struct.pack('4H', 50, {columns}, 0, 0)); "
        "os.execv(sys.argv[1], sys.argv[1:])\n"
        "out = b''\n"
        "while True:\n    try:\n        part = os.read(fd, 65536)\n    except OSError:\n        break\n"
        "    if not part:\n        break\n    out += part\n"
        "sys.stdout.buffer.write(out)",
    ]
    shown = subprocess.run(
        [*at_pty, BINARY, "help", "classify"], capture_output=True, text=True, check=True
    ).stdout.replace("\r", "")
    longest = max(len(line) for line in shown.splitlines() if line.startswith(" " * 30))
    assert width - 20 < longest <= width


def test_version(deberta):
    assert deberta("--version").stdout.startswith("deberta 0.")


@pytest.mark.parametrize(
    "words, message",
    [
        (["clasify", "x"], "unknown verb clasify; did you mean classify?"),
        (["--modle", "x"], "unknown option --modle"),
        (["classify", "--batch-sise", "3", "x"], "unknown option --batch-sise"),
        (["classify", "----", "x"], "unknown option ----; `deberta classify --help` lists the options"),
        (["classify", "--=3", "x"], "unknown option --=3"),
        (["classify", "--batch-token", "3", "x"], "unknown option --batch-token; did you mean --batch-tokens?"),
        (
            ["tokenize", "--top-k", "3", "x"],
            "option --top-k does not apply to tokenize; it applies to: classify fill qa",
        ),
        (["classify", "--top-k", "many", "x"], '--top-k: expected a whole number in 0..100000, got "many"'),
        (["classify", "--activation", "sofmax", "x"], "did you mean softmax?"),
        (["classify", "-m"], "--model: expected DIR after it, got nothing"),
        (["completion", "tcsh"], 'expected bash, zsh or fish, got "tcsh"'),
    ],
)
def test_wrong_usage_exits_2_with_one_message_and_no_output(deberta, words, message):
    done = deberta(*words)
    assert done.returncode == 2
    assert done.stdout == ""
    assert message in done.stderr


def test_a_card_is_refused_in_one_sentence(deberta, sequence_model):
    done = deberta("classify", "-m", sequence_model, "--device", "cuda", "a film")
    assert done.returncode == 1 and done.stdout == ""
    assert done.stderr == "--device: this build has no kernels for cuda; run on the processor with --device cpu\n"
    assert deberta("classify", "-m", sequence_model, "--device", "cpu", "a film").returncode == 0


def test_a_missing_model_exits_1(deberta, tmp_path):
    done = deberta("classify", "-m", tmp_path / "none", "x")
    assert done.returncode == 1 and "no such model directory" in done.stderr


@pytest.mark.parametrize(
    "verb, former, option, value",
    [
        ("qa", ["--max-seq-len", "200"], "max-tokens", 200),
        ("qa", ["--doc-stride=7"], "stride", 7),
        ("qa", ["--null-threshold", "-2"], "no-answer-threshold", -2),
        ("eval", ["--na-threshold", "3"], "no-answer-threshold", 3),
        ("eval", ["--mask-share", "0.2"], "mlm-probability", 0.2),
        ("classify", ["--raw"], "activation", "none"),
        ("rerank", ["--raw"], "activation", "none"),
        ("convert", ["--calibrate", "a", "--calibrate", "b"], "calibration-data", ["a", "b"]),
        ("bench", ["--budget", "3"], "min-time", 3),
        ("bench", ["--against", "a"], "baseline", "a"),
        ("info", ["--json"], "format", "jsonl"),
        ("rerank", ["--top-n", "3"], "top-k", 3),
        ("convert", ["--to", "new"], "output-dir", "new"),
        ("check", ["--fix", "new"], "output-dir", "new"),
        ("analyze", ["--out", "p.html"], "page", "p.html"),
    ],
)
def test_former_names_of_options_work_on_the_command_line_in_a_file_and_in_the_environment(
    deberta, tmp_path, verb, former, option, value
):
    given = {verb: {option: value}}
    assert json.loads(deberta(verb, "--print-config", *former).stdout) == given
    name = former[0].strip("-").partition("=")[0]
    is_flag = former == [f"--{name}"]
    config = tmp_path / "options.json"
    config.write_text(json.dumps({verb: {name: True if is_flag else value}}))
    assert json.loads(deberta(verb, "--print-config", "--config", config).stdout) == given
    if isinstance(value, list):
        return
    variable = {"DEBERTA_" + name.upper().replace("-", "_"): "1" if is_flag else str(value)}
    assert json.loads(deberta(verb, "--print-config", environment=variable).stdout) == given


def test_a_former_name_and_todays_together_are_refused(deberta):
    for words in (["qa", "--max-seq-len", "9", "--max-tokens", "10"], ["classify", "--raw", "--activation", "softmax"]):
        done = deberta(*words, "x")
        assert done.returncode == 2 and "expected one value, got 2" in done.stderr
    done = deberta("classify", "--raw=no", "x")
    assert done.returncode == 2 and '--raw: takes no value, got "no"' in done.stderr


def test_precedence_flag_environment_file_default(deberta, tmp_path):
    config = tmp_path / "options.json"
    config.write_text(json.dumps({"top-k": 2, "threads": 1, "activation": "none"}))
    done = deberta(
        "classify",
        "--config",
        config,
        "--top-k",
        "4",
        "--print-config",
        environment={"DEBERTA_THREADS": "3", "DEBERTA_STRIDE": ""},
    )
    assert "top-k = 4  (flag)" in done.stderr
    assert "threads = 3  (environment DEBERTA_THREADS)" in done.stderr
    assert f"activation = none  (config {config})" in done.stderr
    assert "truncate = right  (default)" in done.stderr and "stride = 128  (default)" in done.stderr
    assert json.loads(done.stdout) == {"classify": {"threads": 3, "top-k": 4, "activation": "none"}}


def test_print_config_writes_a_file_that_says_the_same(deberta, tmp_path):
    words = [
        "eval",
        "--task",
        "squad2",
        "-m",
        "DIR",
        "--no-answer-threshold",
        "-0.5",
        "--label-map",
        "a,b",
        "--batch-tokens",
        "3k",
        "--merge-sentences",
        "-q",
        "--seed",
        "7",
    ]
    first = deberta(*words, "--print-config")
    assert first.returncode == 0 and first.stderr == ""  # -q
    (tmp_path / "run.json").write_text(first.stdout)
    again = deberta("eval", "--config", tmp_path / "run.json", "--print-config")
    assert again.stdout == first.stdout
    assert json.loads(first.stdout)["eval"] == {
        "model": "DIR",
        "batch-tokens": 3000,
        "task": "squad2",
        "no-answer-threshold": -0.5,
        "label-map": ["a", "b"],
        "merge-sentences": True,
        "seed": 7,
        "quiet": True,
    }


def test_options_of_a_printed_file_count_as_given(deberta, sequence_model, tmp_path):
    run = ["classify", "-m", sequence_model, "--top-k", "2", "-f", "jsonl"]
    (tmp_path / "run.json").write_text(deberta(*run, "--print-config").stdout)
    assert deberta("classify", "--config", tmp_path / "run.json", "a text").stdout == deberta(*run, "a text").stdout


def test_a_config_file_has_options_of_many_verbs(deberta, tmp_path):
    config = tmp_path / "options.json"
    config.write_text(
        json.dumps(
            {"qa": {"top-k": 3}, "classify": {"top-k": 5}, "threads": 2, "top-k": 9, "aggregate": "max", "stride": 7}
        )
    )
    classify = deberta("classify", "--config", config, "--print-config")
    assert json.loads(classify.stdout)["classify"] == {"threads": 2, "top-k": 5, "stride": 7}  # the verb's section wins
    assert f"note: {config}: options that do not apply to classify are ignored: aggregate\n" in classify.stderr
    assert json.loads(deberta("qa", "--config", config, "--print-config").stdout)["qa"] == {
        "threads": 2,
        "top-k": 3,
        "stride": 7,
    }
    tokenize = deberta("tokenize", "--config", config, "--print-config")
    assert json.loads(tokenize.stdout) == {"tokenize": {}}
    assert "ignored: threads, top-k, aggregate, stride" in tokenize.stderr
    assert "ignored" not in deberta("tokenize", "--config", config, "--print-config", "-q").stderr


@pytest.mark.parametrize(
    "text, message",
    [
        ('{"topk": 2}', "unknown option or verb topk; did you mean top-k?"),
        ('{"qua": {"top-k": 2}}', "unknown option or verb qua; did you mean qa?"),
        ('{"qa": {"topk": 2}}', "unknown option --topk; did you mean --top-k?"),
        ('{"qa": {"top-k": "many"}}', 'top-k: expected a whole number in 1..1000, got "many"'),
        ('{"qa": 3}', "qa: expected an object of options, got 3"),
        ('{"top-k": 2.5}', 'top-k: expected a whole number in 0..100000, got "2.5"'),
        ('{"model": null}', "model: expected a text, a number, true, false or a list, got null"),
        ('{"model": {"a": 1}}', "model: expected a text"),
        ('{"model": ""}', 'model: expected DIR, got ""'),
        ('{"keep": ["a,b"]}', 'keep: expected texts without commas, or numbers, got "a,b"'),
        ('{"keep": [true]}', "keep: expected texts without commas, or numbers, got true"),
        ('{"config": "other.json"}', "config: allowed on the command line only"),
        ("[1]", "expected an object of options"),
    ],
)
def test_mistakes_in_a_config_file_name_their_place(deberta, tmp_path, text, message):
    config = tmp_path / "options.json"
    config.write_text(text)
    done = deberta("classify", "x", "--config", config)
    assert done.returncode == 2 and done.stdout == ""
    assert str(config) in done.stderr and message in done.stderr


def test_a_variable_without_an_option_is_noted_once(deberta):
    known = {"DEBERTA_DATA_DIR": "/nowhere", "DEBERTA_THREADS": "2", "DEBERTA_DEVICE_": ""}
    done = deberta("info", environment=known | {"DEBERTA_TREADS": "2", "DEBERTA_FOO": "1"})
    notes = sorted(
        line for line in done.stderr.splitlines() if "no option has that variable" in line and "DEVICE_" not in line
    )
    assert notes == [
        "note: DEBERTA_FOO is set, but no option has that variable",
        "note: DEBERTA_TREADS is set, but no option has that variable; did you mean DEBERTA_THREADS?",
    ]
    assert "no option" not in deberta("info", "-q", environment={"DEBERTA_FOO": "1"}).stderr


def test_bad_values_in_the_environment_name_their_place(deberta):
    done = deberta("classify", "x", environment={"DEBERTA_TOP_K": "x"})
    assert done.returncode == 2 and "environment DEBERTA_TOP_K: top-k: expected a whole number" in done.stderr


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_knows_verbs_and_options(deberta, shell):
    script = deberta("completion", shell).stdout
    assert "classify" in script and "batch-tokens" in script


def completed(deberta, *words, cwd="/"):
    """What bash offers for the last word; --name=value arrives as three words, as bash splits it."""
    script = deberta("completion", "bash").stdout
    ask = (
        f"COMP_WORDS=({' '.join(shlex.quote(word) for word in words)}); COMP_CWORD={len(words) - 1}; _deberta; printf "
        "'%s\n' \"${COMPREPLY[@]}\""
    )
    done = subprocess.run(["bash", "-c", script + ask], capture_output=True, text=True, cwd=cwd, check=True)
    assert done.stderr == ""
    return sorted(filter(None, done.stdout.split("\n")))


def test_bash_completes_verbs_options_values_and_arguments(deberta):
    assert completed(deberta, "deberta", "cl") == ["classify"]
    assert "--top-k" in completed(deberta, "deberta", "classify", "--")
    assert "--top-k" not in completed(deberta, "deberta", "tokenize", "--")
    assert completed(deberta, "deberta", "classify", "--activation", "s") == ["sigmoid", "softmax"]
    assert completed(deberta, "deberta", "classify", "--dtype", "") == ["auto", "bf16", "fp32", "int8"]
    assert completed(deberta, "deberta", "convert", "--dtype", "k") == ["keep"]
    assert completed(deberta, "deberta", "classify", "-f", "js") == ["json", "jsonl"]
    assert completed(deberta, "deberta", "completion", "") == ["bash", "fish", "zsh"]
    assert completed(deberta, "deberta", "help", "tok") == ["tokenize"]
    assert completed(deberta, "deberta", "classify", "--keep", "") == ["all", "none"]
    assert completed(deberta, "deberta", "classify", "--pair", "--top") == ["--top-k"]  # a flag takes no value


def test_bash_completes_tasks_files_and_folders(deberta, tmp_path):
    (tmp_path / "a folder").mkdir()
    (tmp_path / "a file").write_text("")
    assert (
        completed(deberta, "deberta", "eval", "--task", "sq")
        == completed(deberta, "deberta", "eval", "-t", "sq")
        == ["squad", "squad2"]
    )
    assert completed(deberta, "deberta", "eval", "--task", "=", "mn") == ["mnli", "mnli-mm"]
    assert "sst-2" in completed(deberta, "deberta", "eval", "--task", "=")
    for words in (
        ["eval", ""],
        ["eval", "--task", "sst-2", "-p", ""],
        ["classify", "-i", ""],
        ["embed", "--output", "a"],
    ):
        assert completed(deberta, "deberta", *words, cwd=tmp_path) == ["a file", "a folder"], words
    for words in (["convert", "-o", ""], ["classify", "-m", ""], ["eval", "--average", "a"], ["inspect", "--diff", ""]):
        assert completed(deberta, "deberta", *words, cwd=tmp_path) == ["a folder"], words
    for words in (
        ["classify", ""],
        ["classify", "--top-k", ""],
        ["rerank", "--query", ""],
        ["zero-shot", "--labels", ""],
        ["info", ""],
    ):
        assert completed(deberta, "deberta", *words, cwd=tmp_path) == [], words


def test_fish_quotes_what_it_says(deberta):
    lines = deberta("completion", "fish").stdout.splitlines()
    assert all(re.fullmatch(r"(?:[^']|'(?:[^'\\]|\\.)*')*", line) for line in lines)
    assert any('-l task -s t -r -f -a "cola sst-2' in line for line in lines)
    assert any("-l input -s i -r -F" in line for line in lines)
    assert any('-l activation -r -f -a "auto softmax sigmoid none"' in line for line in lines)


def test_every_option_of_the_table_is_on_every_page(deberta):
    """The completion of fish has a line for each row of the table, whatever its section."""
    rows = re.findall(
        r"^complete -c deberta -n '__fish_seen_subcommand_from ([\w-]+)' -l ([\w-]+)",
        deberta("completion", "fish").stdout,
        re.M,
    )
    assert len(rows) > 400 and {("serve", "port"), ("serve", "max-body"), ("pretrain", "generator-warmup")} <= set(rows)
    manual = {
        (verb, option)
        for entry in re.sub(r"\\f[BIR]|\\(?=-)", "", deberta("help", "--man").stdout).split(".TP\n")
        for option in re.findall(r"^(?:-\w, )?--([\w-]+)", entry)
        for verb in re.findall(r"[\w-]+", (re.findall(r"^Verbs: (.*)\.$", entry, re.M) or ["*"])[0]) or ["*"]
    }
    written = (ROOT / "docs/reference/options.md").read_text()
    for verb in dict.fromkeys(verb for verb, _ in rows):
        page, section = deberta("help", verb).stdout, re.search(rf"\n## {verb}\n(.*?)(?=\n## |\Z)", written, re.S)[1]
        for option in (option for of, option in rows if of == verb):
            assert re.search(rf"^ +(?:-\w, )?--{option}(?: |$)", page, re.M), (verb, option)
            assert re.search(rf" --{option}(?: |$)", section, re.M), (verb, option)
            assert (verb, option) in manual or ("*", option) in manual


def test_the_manual_page_has_every_verb_and_option(deberta):
    page = deberta("help", "--man").stdout
    assert page.splitlines()[1].startswith('.TH DEBERTA 1 "" "deberta ')
    for verb in VERBS:
        assert f".TP\n\\fB{verb}\\fR" in page
        for option in re.findall(r"^ +(?:-\w, )?--([\w-]+)", deberta("help", verb).stdout, re.M):
            assert "\\fB\\-\\-" + option.replace("-", "\\-") + "\\fR" in page, (verb, option)
    requests = {line.split()[0] for line in page.splitlines() if line.startswith((".", "'"))}
    assert requests <= {'.\\"', ".TH", ".SH", ".SS", ".TP", ".br"}


def test_info_names_the_processor_and_its_kernels_and_refuses_unknown_ones(deberta):
    facts = json.loads(deberta("info", "--format", "jsonl").stdout)
    assert re.fullmatch(r".+ \(\w+ family \d+ model \d+, .+\)", facts["processor"])
    assert "reference" in facts["kernels_available"]
    rows = {(row["operation"], row["precision"]): row for row in facts["kernels_chosen"]}
    assert {operation for operation, _ in rows} == {
        "gemm",
        "attention",
        "layer_norm",
        "quantize",
        "embedding",
        "convolution",
        "attention_backward",
        "layer_norm_gradient",
        "activation",
        "softmax",
    }
    for operation, precision in [
        ("gemm", "fp32"),
        ("gemm", "bf16"),
        ("gemm", "int8"),
        ("attention", "fp32"),
        ("attention", "bf16"),
    ]:
        row = rows[operation, precision]
        assert row["level"] == "reference" or re.match(
            rf"{row['level']} \d+(, \w+ \d+)* (operations per cycle|billion operations per second) and core \(.+\)$",
            row["why"],
        ), row
    assert {row["level"] for row in facts["multipliers"]} <= set(facts["kernels_available"])
    assert all(row["gops"] > 0 for row in facts["multipliers"])
    forced = json.loads(deberta("info", "--format", "jsonl", "--kernels", "reference").stdout)
    assert {(row["level"], row["why"]) for row in forced["kernels_chosen"]} == {("reference", "--kernels reference")}
    assert deberta("info", "--kernels", "sse2").returncode == 2
    people = deberta("info", "--format", "tsv").stdout.splitlines()
    assert sum(line.startswith("kernels_chosen\tgemm  bf16  ") for line in people) == 1
    assert sum(line.startswith("multipliers\t") for line in people) == len(facts["multipliers"])


def test_a_precision_that_gains_nothing_is_reported_once(deberta, sequence_model):
    def notes(*words):
        done = deberta("classify", "-m", sequence_model, "--allow-uncalibrated", *words, "one", "two")
        assert done.returncode == 0, done.stderr
        return [line for line in done.stderr.splitlines() if "saves memory, not time" in line]

    assert notes("--dtype", "bf16", "--kernels", "reference") == [
        "note: --dtype bf16 saves memory, not time: the reference computes every precision in the same way"
    ]
    assert (
        notes("--dtype", "bf16", "--kernels", "reference", "-q")
        == notes("--dtype", "fp32", "--kernels", "reference")
        == notes()
        == []
    )
    gains = json.loads(deberta("info", "--format", "jsonl").stdout)["faster_than_fp32"]
    for dtype in ("bf16", "int8"):
        assert len(notes("--dtype", dtype)) == (0 if gains[dtype] else 1)
    if "avx2" in json.loads(deberta("info", "--format", "jsonl").stdout)["kernels_available"]:
        assert len(notes("--dtype", "bf16", "--kernels", "avx2")) == 1, "widened to fp32"
