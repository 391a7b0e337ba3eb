"""--files: many files, many processes. What is there at the end is what single runs write, whatever was killed."""

import gzip
import json
import os
import pathlib
import random
import resource
import signal
import subprocess
import time

import pytest

import running
from clean_environment import clean_environment
from conftest import BINARY, HANG_SECONDS
from models import ROOT, make_extractor, make_model
from running import end, wait_for_handler, wait_until


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    folder = tmp_path_factory.mktemp("models")
    made = {head: make_model(folder / head, head) for head in ("sequence", "token", "span", "lm")}
    made["number"] = make_model(folder / "number", "sequence", labels=("score",))
    made["extractor"] = make_extractor(folder / "extractor")
    return made


@pytest.fixture
def work(tmp_path):
    (tmp_path / "in").mkdir()
    return tmp_path


def lines(*objects):
    return "".join(json.dumps(o) + "\n" for o in objects)


def write_rows(work, count, rows=4):
    """count files of rows, some of them bad; returns their paths below the working folder."""
    names = []
    for i in range(count):
        names.append(f"in/{i:02}.jsonl")
        texts = [{"text": f"text {i} number {row}", "id": row} for row in range(rows)]
        (work / names[-1]).write_text(lines(*texts) + ("{\n" if i % 7 == 3 else ""))
    return names


def start(work, *words, command=(BINARY,), **more):
    return running.start(work, command, words, **more)


def job(work, model, *words):
    return ("classify", "-m", model, "--threads", 1, "--files", "in/*", "--to", "out", *words)


def answers_in(folder):
    files = {p.relative_to(folder): p.read_bytes() for p in folder.rglob("*") if p.is_file()}
    return {path.as_posix(): text for path, text in files.items() if path.parts[0] != ".deberta"}


def records_in(folder, ending):
    return sorted(p.name for p in (folder / ".deberta").rglob("*" + ending))


def assert_clean(folder):
    left = [p.name for p in folder.rglob("*") if ".tmp-" in p.name or p.name.endswith((".claim", ".failed"))]
    assert left == []


CASES = {
    "classify": ("sequence", [], {"a.csv": "id,text\n1,one\n2,two words\n", "b.jsonl": '{"text": "x"}\n{"no": 1}\n'}),
    "classify csv": (
        "sequence",
        ["-f", "csv", "--keep", "all", "--bom"],
        {"a.csv": "id,text\n1,one\n", "b.tsv": "text\tn\nx\t2\n"},
    ),
    "classify table": ("sequence", ["-f", "table", "--digits", "3"], {"a.txt": "one\ntwo\n"}),
    "ner": (
        "token",
        ["-f", "conll", "--input-format", "conll"],
        {"a.conll": "one O\ntwo B-x\n\nthree O\n", "b.conll": "x O\n"},
    ),
    "qa": ("span", ["-f", "json"], {"a.jsonl": lines({"question": "who", "context": "it was me"})}),
    "fill": ("lm", ["-f", "jsonl", "-k", "2"], {"a.txt": "one [MASK] two\n", "b.txt": "no mask\n"}),
    "embed": ("sequence", ["-f", "jsonl"], {"a.txt": "one\n", "b.jsonl": ""}),
    "tokenize": ("sequence", ["-f", "jsonl"], {"a.txt": "one two\n"}),
    "rerank": (
        "number",
        ["-f", "trec"],
        {
            "a.jsonl": lines(
                {"qid": "q1", "query": "x", "documents": ["a", "b"]}, {"qid": "q2", "query": "y", "documents": ["c"]}
            ),
            "b.jsonl": lines(
                {"qid": "q2", "query": "x", "documents": ["a", "b"]}, {"qid": "q1", "query": "y", "documents": ["c"]}
            ),
        },
    ),
    "rerank query": ("number", ["--query", "x", "-f", "jsonl"], {"a.txt": "one\ntwo\n", "b.txt": "three\n"}),
    "extract": (
        "extractor",
        ["--labels", "person,city", "--threshold", "0.1", "--redact", "-f", "jsonl"],
        {"a.txt": "Ada was born in London .\nAda\n", "b.txt": "Grace went to Paris .\n"},
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_each_file_has_the_answers_of_a_run_of_its_own(name, work, models, deberta):
    head, options, files = CASES[name]
    verb = name.split()[0]
    for file, text in files.items():
        (work / "in" / file).write_text(text)
    options = [verb, "-m", models[head], *options]
    done = deberta(*options, "--files", "in/*", "--to", "out", cwd=work)
    answers = answers_in(work / "out")
    assert len(answers) == len(files), done.stderr
    codes = []
    for file in files:
        stem = file.split(".")[0]
        (answer,) = (n for n in answers if n.startswith(stem + "."))
        alone = deberta(*options, "-i", f"in/{file}", "-o", f"alone-{answer}", cwd=work)
        codes.append(alone.returncode)
        assert (work / f"alone-{answer}").read_bytes() == answers[answer], file
    assert done.returncode == max(codes)
    assert_clean(work / "out")


def test_words_lists_and_compressed_files_are_one_job(work, models, deberta):
    names = write_rows(work, 5)
    packed = gzip.compress((work / names[4]).read_bytes())
    (work / names[4]).unlink()
    (work / "in/04.jsonl.gz").write_bytes(packed)
    (work / "list").write_text("in/02.jsonl\nin/04.jsonl.gz\n")
    options = ["classify", "-m", models["sequence"], "-f", "jsonl", "--to", "out"]
    done = deberta(*options, "--files", "in/00.jsonl", "in/[1]?.jsonl", "in/01.jsonl", "--files-from", "list", cwd=work)
    assert done.returncode == 2 and "in/[1]?.jsonl: expected a pattern that names files" in done.stderr
    done = deberta(*options, "--files", "in/00.jsonl", "in/0[1-1].jsonl", "--files-from", "list", cwd=work)
    assert done.returncode == 0, done.stderr
    assert sorted(answers_in(work / "out")) == ["00.jsonl", "01.jsonl", "02.jsonl", "04.jsonl"]
    assert "files: 4 done, 0 done by other processes, 0 done before, 0 failed; rows: 16 ok, 0 failed" in done.stderr
    done = deberta(*options, "--files-from", "-", "--quiet", cwd=work, stdin="in/03.jsonl\nin/02.jsonl\n")
    assert done.returncode == 1 and done.stderr == ""
    record = json.loads((work / "out/.deberta/03.jsonl.done").read_text())
    assert (record["rows"], record["bad_rows"], record["input"]) == (5, 1, "in/03.jsonl")


def test_killed_processes_lose_and_double_nothing(work, models):
    write_rows(work, 40, rows=150)
    words = job(work, models["sequence"], "-f", "jsonl")
    code, _ = end(start(work, *words))
    assert code == 1  # some rows are bad
    (work / "out").rename(work / "expected")
    draw = random.Random(7)
    for _ in range(20):
        done = len(records_in(work / "out", ".done"))
        if done >= 30:
            break
        processes = [start(work, *words) for _ in range(4)]
        enough = done + draw.randrange(1, 5)
        while len(records_in(work / "out", ".done")) < enough and processes[0].poll() is None:
            time.sleep(draw.uniform(0, 0.004))
        for process in draw.sample(processes, 4):
            process.kill()
            time.sleep(draw.uniform(0, 0.004))
        for process in processes:
            process.communicate()
    processes = [start(work, *words) for _ in range(4)]
    totals = [end(process) for process in processes]
    assert [code for code, _ in totals] == [1] * 4, totals
    assert answers_in(work / "out") == answers_in(work / "expected")
    assert len(records_in(work / "out", ".done")) == 40
    assert_clean(work / "out")


def test_what_is_done_is_skipped_and_what_has_changed_is_done_again(work, models, deberta):
    names = write_rows(work, 3)
    words = job(work, models["sequence"])
    assert deberta(*words, cwd=work).returncode == 0
    (work / names[1]).write_text(lines({"text": "another"}))
    done = deberta(*words, cwd=work)
    assert "1 input has changed since the answers were written, and is answered again" in done.stderr
    assert "files: 1 done, 0 done by other processes, 2 done before, 0 failed" in done.stderr
    assert (work / "out/01.tsv").read_text().count("\n") == 2


def test_a_folder_of_other_options_or_another_model_is_refused(work, models, deberta):
    write_rows(work, 1)
    words = job(work, models["sequence"])
    assert deberta(*words, "--top-k", 2, cwd=work).returncode == 0
    before = answers_in(work / "out")
    for more, what in (
        (("--top-k", 3), "top-k is 2 there and 3 here"),
        ((), "top-k is 2 there and none here"),
        (("--top-k", 2, "--activation", "none"), 'activation is none there and \\"none\\" here'),
    ):
        done = deberta(*words, *more, cwd=work)
        assert done.returncode == 2, done.stderr
        assert "out: expected the options and the model of the answers that it holds, got others" in done.stderr
        assert what.replace("\\", "") in done.stderr
    other = deberta("classify", "-m", models["number"], "--top-k", 2, "--files", "in/*", "--to", "out", cwd=work)
    assert other.returncode == 2 and "(another model)" in other.stderr
    done = deberta(*words, "--top-k", 2, "--batch-tokens", 64, "--quiet", cwd=work)
    assert done.returncode == 0, done.stderr
    assert answers_in(work / "out") == before


def test_names_that_are_the_same_keep_their_folders_or_are_refused(work, models, deberta):
    for folder in ("2023", "2024"):
        (work / "in" / folder).mkdir()
        (work / "in" / folder / "a.txt").write_text(f"text of {folder}\n")
    options = ["tokenize", "-m", models["sequence"], "--to", "out"]
    done = deberta(*options, "--files", "in/*/a.txt", cwd=work)
    assert done.returncode == 0, done.stderr
    assert sorted(answers_in(work / "out")) == ["2023/a.tsv", "2024/a.tsv"]
    (work / "in/2023/a.csv").write_text("text\nx\n")
    done = deberta(*options, "--files", "in/*/a.*", cwd=work)
    assert done.returncode == 2
    assert "expected answers in a file of their own, got 2023/a.tsv, where those of in/2023/a.csv go" in done.stderr


def test_a_file_that_cannot_be_read_does_not_stop_the_others(work, models, deberta):
    write_rows(work, 2)
    (work / "in/01.csv").write_text("other\nx\n")  # no column text
    (work / "list").write_text("in/00.jsonl\nin/01.csv\nin/gone.jsonl\n")
    words = ["classify", "-m", models["sequence"], "--files-from", "list", "--to", "out"]
    done = deberta(*words, cwd=work)
    assert done.returncode == 1
    assert "in/gone.jsonl: cannot open: No such file or directory" in done.stderr
    assert (
        "in/01.csv: " in done.stderr
        and "files: 1 done, 0 done by other processes, 0 done before, 2 failed" in done.stderr
    )
    assert sorted(answers_in(work / "out")) == ["00.tsv"]
    (work / "in/gone.jsonl").write_text(lines({"text": "x"}))
    (work / "in/01.csv").write_text("text\nx\n")
    done = deberta(*words, cwd=work)
    assert done.returncode == 0 and "files: 2 done" in done.stderr
    assert_clean(work / "out")


def test_a_full_disk_fails_a_file_and_a_new_start_does_it(work, models, deberta):
    write_rows(work, 2)
    (work / "in/big.txt").write_text("some text\n" * 4000)
    words = job(work, models["sequence"], "-f", "jsonl")
    code, err = end(
        start(
            work,
            *words,
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 16, resource.RLIM_INFINITY)),
        )
    )
    assert code == 1
    assert "out/big.jsonl: write failed: File too large; its answers need about" in err
    assert "files: 2 done, 0 done by other processes, 0 done before, 1 failed" in err
    assert sorted(answers_in(work / "out")) == ["00.jsonl", "01.jsonl"]
    done = deberta(*words, cwd=work)
    assert done.returncode == 0 and "files: 1 done, 0 done by other processes, 2 done before" in done.stderr
    assert_clean(work / "out")


def unshare(*options):
    """The words that run a command in namespaces of its own; skips where this system makes none."""
    words = ["unshare", "-r", *options]
    if subprocess.run([*words, "true"], capture_output=True).returncode != 0:
        pytest.skip("this system makes no namespaces for users")
    return words


FULL = """
mount -t tmpfs -o size=256k none out
{job} 2> full; echo $? >> codes
(cd out; find . -type f) > left
mount -o remount,size=2m out
{job} 2> rest; echo $? >> codes
{job} 2> again; echo $? >> codes
cp -a out kept
"""


def test_a_disk_that_is_full(work, models, deberta):
    """A file system of its own: what did not fit is named once, nothing of it is left, and room is all it wants."""
    words = unshare("-m")
    write_rows(work, 2)
    (work / "in/big.txt").write_text("some text\n" * 6000)
    (work / "out").mkdir()
    quoted = " ".join(f"'{word}'" for word in [BINARY, *job(work, models["sequence"], "-f", "jsonl")])
    subprocess.run(
        [*words, "bash", "-c", FULL.format(job=quoted)], cwd=work, env=clean_environment(), timeout=HANG_SECONDS
    )
    said = (work / "full").read_text()
    assert "out/big.jsonl: write failed: No space left on device; its answers need about" in said
    assert "files: 2 done, 0 done by other processes, 0 done before, 1 failed" in said and len(said.splitlines()) == 2
    left = (work / "left").read_text()
    assert "big.jsonl" not in left.replace("big.jsonl.failed", "") and ".tmp-" not in left and ".claim" not in left
    assert "files: 1 done, 0 done by other processes, 2 done before, 0 failed" in (work / "rest").read_text()
    assert "files: 0 done, 0 done by other processes, 3 done before" in (work / "again").read_text()
    assert (work / "codes").read_text().split() == ["1", "0", "0"]
    deberta("classify", "-m", models["sequence"], "-f", "jsonl", "-i", "in/big.txt", "-o", "alone.jsonl", cwd=work)
    assert (work / "kept/big.jsonl").read_bytes() == (work / "alone.jsonl").read_bytes()
    assert_clean(work / "kept")


def claimed(work, name):
    return (work / f"out/.deberta/{name}.claim").is_file


@pytest.fixture
def long_file(work):
    (work / "in/long.txt").write_text("some text of a file that takes a while\n" * 6000)
    return work


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_leaves_nothing_half_written(number, long_file, models, deberta):
    work, words = long_file, job(long_file, models["sequence"])
    process = start(work, *words)
    wait_until(lambda: any((work / "out").glob("long.tsv.tmp-*")), process)
    wait_for_handler(process, number)
    process.send_signal(number)
    code, err = end(process)
    assert code == 128 + number
    assert "out/long.tsv: interrupted; the file was not written" in err and "0 failed, 1 left" in err
    assert answers_in(work / "out") == {} and records_in(work / "out", ".done") == []
    assert_clean(work / "out")


def test_a_process_that_waits_takes_over_from_one_that_dies(long_file, models):
    work, words = long_file, job(long_file, models["sequence"])
    first = start(work, *words)
    wait_until(claimed(work, "long.tsv"), first)
    first.send_signal(signal.SIGSTOP)
    second = start(work, *words)
    wait_until(lambda: os.path.exists(f"/proc/{second.pid}/fd") and any_clock(second), second)
    time.sleep(0.3)
    assert second.poll() is None and records_in(work / "out", ".done") == []
    first.kill()
    first.communicate()
    code, err = end(second)
    assert code == 0 and "files: 1 done" in err
    assert_clean(work / "out")


def any_clock(process):
    """Whether the process has opened the folder of the records: it is past its start."""
    links = pathlib.Path(f"/proc/{process.pid}/fd")
    return any("clock.tmp-" in os.readlink(link) for link in links.iterdir() if link.is_symlink())


def test_an_owner_that_slept_too_long_gives_way(long_file, models):
    work, words = long_file, job(long_file, models["sequence"])
    first = start(work, *words)
    wait_until(claimed(work, "long.tsv"), first)
    first.send_signal(signal.SIGSTOP)
    claim = work / "out/.deberta/long.tsv.claim"
    os.utime(claim, (time.time() - 100, time.time() - 100))
    code, err = end(start(work, *words))
    assert code == 0 and "files: 1 done" in err
    answers, inode = (work / "out/long.tsv").read_bytes(), (work / "out/long.tsv").stat().st_ino
    first.send_signal(signal.SIGCONT)
    code, err = end(first)
    assert code == 0 and "files: 0 done, 1 done by other processes" in err
    assert answers_in(work / "out") == {"long.tsv": answers} and (work / "out/long.tsv").stat().st_ino == inode
    assert_clean(work / "out")


def start_on_host(name, work, words):
    """As another host would: its processes have numbers of their own."""
    command = [*unshare("-nupf", "--mount-proc"), "bash", "-c", f'hostname {name}; exec "$@"', "bash", BINARY]
    return start(work, *words, command=command, start_new_session=True)


def test_a_claim_of_another_host_is_given_back_by_its_age_alone(long_file, models):
    work, words = long_file, job(long_file, models["sequence"])
    first = start_on_host("east", work, words)
    wait_until(claimed(work, "long.tsv"), first)
    claim = work / "out/.deberta/long.tsv.claim"
    wait_until(lambda: "east" in claim.read_text(), first)
    os.killpg(first.pid, signal.SIGKILL)
    first.communicate()
    second = start_on_host("west", work, words)
    time.sleep(1)
    assert second.poll() is None and records_in(work / "out", ".done") == []
    assert json.loads(claim.read_text())["host"] == "east"
    os.utime(claim, (time.time() - 100, time.time() - 100))
    code, err = end(second)
    assert code == 0 and "files: 1 done" in err
    assert json.loads((work / "out/.deberta/long.tsv.done").read_text())["host"] == "west"
    assert_clean(work / "out")


def test_progress_is_of_all_files(work, models, deberta):
    write_rows(work, 3)
    done = deberta(*job(work, models["sequence"], "--progress", "on"), cwd=work)
    (progress,) = (json.loads(line) for line in done.stderr.splitlines() if line.startswith("{"))
    assert progress["progress"]["items"] == 12 and progress["progress"]["fraction"] == 1


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("--to out text", "--to: expected --files or --files-from as well"),
        ("--files in/*", "--files: expected --to DIR as well, the folder of the answers"),
        ("--files in/* --to out -i in/00.jsonl", "--files: expected no --input beside it"),
        ("--files in/* --to out -o out.tsv", "--files: expected no --output beside it"),
        ("text --files in/* --to out", '--files: expected no texts beside it, got "text"'),
        ("--files in/*.csv --to out", "in/*.csv: expected a pattern that names files, got one that names none"),
        ("--files in --to out", 'in: expected a file or a pattern, got a folder; "in/*" names the files in it'),
        ("--files in/00.jsonl --to in -f jsonl", "in/00.jsonl: expected a file that is not also an input"),
        ("--files in/* --to in/00.jsonl", "--to: expected a folder, got in/00.jsonl"),
        ("--files --to out", "--files: expected PATTERN... after it, got the option --to"),
    ],
)
def test_usage(words, message, work, models, deberta):
    write_rows(work, 1)
    done = deberta("classify", "-m", models["sequence"], *words.split(), cwd=work)
    assert done.returncode == 2 and message in done.stderr
    assert not (work / "out").exists()


def test_the_page_says_what_happens(work, models):
    """The commands of the guide that need nothing but this program."""
    page = (ROOT / "docs/guides/scale.md").read_text()
    block = [line[4:] for line in next(part for part in page.split("\n\n") if part.startswith("    $")).splitlines()]
    commands = [line[2:] for line in block if line.startswith("$ ")]
    expected = [line for line in block if not line.startswith("$ ")]
    environment = clean_environment() | {
        "PATH": f"{pathlib.Path(BINARY).parent}:{os.environ['PATH']}",
        "DEBERTA_MODEL": str(models["sequence"]),
    }
    done = subprocess.run(
        ["bash", "-ec", "\n".join(commands)], cwd=work, env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr

    def without_rate(line):
        return line[: line.rindex(",")]

    assert [without_rate(line) for line in done.stderr.splitlines()] == [without_rate(line) for line in expected]


def test_the_model_is_kept(work, models, deberta):
    write_rows(work, 1)
    model = make_model(work / "model", "sequence")
    (work / "in/config.txt").write_text("x\n")
    done = deberta("tokenize", "-m", model, "--files", "in/config.txt", "--to", "model", "-f", "json", cwd=work)
    assert done.returncode == 2 and "which would overwrite a file of the model" in done.stderr


def test_extract_refuses_a_map_of_placeholders(work, models, deberta):
    write_rows(work, 1)
    done = deberta(
        "extract",
        "-m",
        models["extractor"],
        "--labels",
        "x",
        "--redact",
        "--redact-map",
        "map.json",
        "--files",
        "in/*",
        "--to",
        "out",
        cwd=work,
    )
    assert done.returncode == 2 and "--files: expected no --redact-map beside it" in done.stderr


def test_a_list_that_cannot_be_read_is_no_end(work, models, deberta):
    write_rows(work, 1)
    words = ["classify", "-m", models["sequence"], "--to", "out", "--files-from"]
    folder = os.open(work, os.O_RDONLY)  # each read of it fails
    try:
        done = subprocess.run(
            [BINARY, *map(str, words), "-"], stdin=folder, capture_output=True, cwd=work, timeout=HANG_SECONDS
        )
    finally:
        os.close(folder)
    assert done.returncode == 1 and b"standard input: expected a file, got a folder" in done.stderr
    for path, message in [("gone", "gone: cannot open: No such file or directory"), ("/dev", "/dev: ")]:
        done = deberta(*words, path, cwd=work)
        assert done.returncode == 1 and message in done.stderr
    (work / "list").write_text("in/00.jsonl\r\n", encoding="utf-16")
    done = deberta(*words, "list", cwd=work)
    assert done.returncode == 0 and sorted(answers_in(work / "out")) == ["00.tsv"]
