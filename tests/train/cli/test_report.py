"""The reports of a run: what `pretrain` leaves for people and other programs, and `deberta report`, which makes it
anew."""

import html.parser
import json
import shutil
import signal
import subprocess

import pytest

from chosen_call import Call, environment_at
from conftest import BINARY, HANG_SECONDS, SMALL, environment_in

FILES = {"run.html", "README.md", "train_results.json", "eval_results.json", "trainer_state.json"}


class Page(html.parser.HTMLParser):
    """Its tags are closed; `figures` are the titles of the charts, `text` is what a reader sees."""

    VOID = frozenset({"meta", "path", "circle", "br"})

    def __init__(self, path):
        super().__init__()
        self.open, self.figures, self.text = [], [], ""
        self.feed(path.read_text())
        assert not self.open, self.open

    def handle_starttag(self, tag, attributes):
        if tag not in self.VOID:
            self.open.append(tag)
        if tag == "svg":
            self.figures.append(dict(attributes)["aria-label"])

    def handle_endtag(self, tag):
        if tag not in self.VOID:
            assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open and self.open[-1] != "style":
            self.text += data


@pytest.fixture(scope="module")
def made(tmp_path_factory, shim, tokenizer, corpus):
    """A run that was stopped once, at the line of step 20, and went on to its end."""
    place = tmp_path_factory.mktemp("made")
    words = [
        BINARY,
        "pretrain",
        "--tokenizer-name",
        tokenizer,
        "-o",
        place / "out",
        *SMALL,
        "--max-steps",
        "40",
        "--eval-steps",
        "10",
        "--save-steps",
        "20",
        corpus,
    ]
    for more, code in (environment_at(shim, Call("write", "metrics.jsonl", 11), signal.SIGTERM), 143), ({}, 0):
        done = subprocess.run(
            list(map(str, words)),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            env=environment_in(place) | more,
            timeout=HANG_SECONDS,
        )
        assert done.returncode == code, done.stderr
    return place / "out"


@pytest.fixture
def out(made, tmp_path):
    return shutil.copytree(made, tmp_path / "out")


def test_a_run_leaves_its_reports(made):
    page = Page(made / "run.html")
    assert {
        "Loss",
        "Learning rate",
        "Norm of the gradient before the clip",
        "Speed",
        "Evaluation: accuracy",
        "Evaluation: perplexity",
    } <= set(page.figures)
    for part in (
        "masked language model; finished, 40 of 40 steps",
        "resumed",
        "from checkpoint-0000",
        "best",
        "hold-out-every",
        "corpus corpus.txt",
    ):
        assert part in page.text, part
    assert {path.name for path in made.iterdir()} >= FILES
    assert len(list((made / "tb").iterdir())) == 1


def test_the_log_of_events_has_the_break(made):
    events = [json.loads(line) for line in (made / "events.jsonl").read_text().splitlines()]
    assert [event["kind"] for event in events] == ["began", "stopped", "resumed", "finished"]
    assert [event["step"] for event in events] == [0, 20, 20, 40]
    assert events[0]["details"]["corpus corpus.txt"].endswith("of 54 documents")
    times = [event["time"] for event in events]
    assert times == sorted(times) and times[0] > 1.6e9


def test_results_are_those_of_the_hugging_face_scripts(made):
    said = {
        name: json.loads((made / f"{name}.json").read_text())
        for name in ("all_results", "train_results", "eval_results", "trainer_state")
    }
    assert said["all_results"].items() <= (said["train_results"] | said["eval_results"]).items()
    assert said["eval_results"].keys() == {"eval_accuracy", "eval_perplexity", "eval_masked_pieces"}
    history = said["trainer_state"]["log_history"]
    assert said["trainer_state"]["global_step"] == 40 and len(history) == 20 + 4
    assert said["train_results"]["train_loss"] == [line["loss"] for line in history if "loss" in line][-1]


def test_report_makes_them_anew(deberta, out):
    kept = {path.name for path in out.iterdir()}
    for name in FILES:
        (out / name).unlink()
    shutil.rmtree(out / "tb")
    done = deberta("report", out)
    assert (done.returncode, done.stdout) == (0, ""), done.stderr
    assert done.stderr == f"{out}: run.html, tb, train_results.json, eval_results.json, trainer_state.json, README.md\n"
    assert {path.name for path in out.iterdir()} == kept
    assert Page(out / "run.html").figures


def test_a_card_that_a_person_changed_stays(deberta, pretrain, tokenizer, corpus, out):
    (out / "README.md").write_text("mine")
    done = deberta("report", out)
    assert done.returncode == 0 and "README.md: this file was edited, and is kept as it is" in done.stderr
    again = deberta(
        "pretrain",
        "--tokenizer-name",
        tokenizer,
        "-o",
        out,
        *SMALL,
        "--max-steps",
        "40",
        "--eval-steps",
        "10",
        "--save-steps",
        "20",
        corpus,
    )
    assert again.returncode == 0, again.stderr
    assert (out / "README.md").read_text() == "mine"


def test_a_model_that_is_trained_further_has_reports_of_its_own(deberta, corpus, out, tmp_path):
    done = deberta(
        "pretrain", "-m", out, "-o", tmp_path / "second", *SMALL[2:], "--max-steps", "2", "--save-steps", "1", corpus
    )
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "second/README.md").read_text().count("beginning with the weights of out") == 1
    assert not [
        path for path in (tmp_path / "second").glob("checkpoint-*/*") if path.name in FILES | {"all_results.json"}
    ]


def test_damaged_lines_are_left_out_and_said(deberta, out):
    lines = (out / "metrics.jsonl").read_text().splitlines()
    lines[3] = lines[3][:10]
    (out / "metrics.jsonl").write_text("\n".join([*lines, '{"step": 50, "lo']))
    (out / "events.jsonl").write_bytes(b"\xff\xfe\n" + (out / "events.jsonl").read_bytes())
    (out / "checkpoint-000040/trainer/state.json").write_text("{")
    done = deberta("report", out)
    assert done.returncode == 0, done.stderr
    for part in (
        f"{out}/metrics.jsonl: 1 lines are damaged, the first is line 4",
        f"{out}/events.jsonl: 1 lines are damaged, the first is line 1",
        "checkpoint-000040/trainer/state.json",
    ):
        assert part in done.stderr and part in Page(out / "run.html").text


def refused(done, code, *words):
    assert (done.returncode, done.stdout) == (code, "")
    for word in words:
        assert word in done.stderr, done.stderr


def test_folders_that_hold_no_run_are_refused(deberta, tokenizer, out, tmp_path):
    refused(deberta("report"), 2, "report: expected the folder of a run, got none")
    refused(deberta("report", out, out), 2, "report: expected DIR, got")
    refused(
        deberta("report", tmp_path / "none"),
        1,
        f"{tmp_path}/none: expected the folder of a run, with metrics.jsonl or checkpoints, got none",
    )
    refused(deberta("report", tokenizer), 1, "expected the folder of a run", "got one without")
    assert not (tokenizer / "run.html").exists()
    shutil.rmtree(out / "tb")
    (out / "tb").write_text("in the way")
    refused(deberta("report", out), 1, f"{out}/tb")


def write_log(folder, **labels):
    """The log of 1,000 steps of 512,000 tokens, whose models have so many labels in each step."""
    folder.mkdir()
    lines = [
        {"step": step, "generator_perplexity": 9.0, "tokens": step * 512_000.0}
        | {f"{name}_per_step": count for name, count in labels.items()}
        for step in range(100, 1001, 100)
    ]
    (folder / "metrics.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    return folder


def test_the_positions_of_two_runs_are_set_beside_each_other(deberta, made, tmp_path):
    assert "Positions with a loss" in Page(made / "run.html").figures
    masked = write_log(tmp_path / "masked", labels=0.15 * 512_000)
    replaced = write_log(tmp_path / "replaced", generator_labels=0.15 * 512_000, discriminator_labels=512_000.0)
    done = deberta("report", masked, "--beside", replaced)
    assert done.returncode == 0, done.stderr
    assert not (replaced / "run.html").exists()
    page = Page(masked / "run.html")
    assert page.figures.count("Positions with a loss") == 1
    assert "masked: pieces predicted: 76.8M" in page.text
    assert "replaced: tokens judged by the discriminator: 512M" in page.text
    refused(
        deberta("report", masked, "--beside", tmp_path / "none"), 1, f"{tmp_path}/none: expected the folder of a run"
    )
    other = tmp_path / "tuned"
    other.mkdir()
    (other / "metrics.jsonl").write_text('{"step": 1, "loss": 1.0, "labels_per_step": 8, "tokens": 9}\n')
    assert f"{other}: has no log of pre-training" in deberta("report", masked, "--beside", other).stderr
