"""Targets of -o and similar options: files, links, pipes, devices, descriptors, full disks, signals, terminals."""

import contextlib
import fcntl
import json
import os
import pathlib
import pty
import re
import resource
import shutil
import signal
import stat
import struct
import subprocess
import tempfile
import termios
import time

import numpy
import pytest

from clean_environment import clean_environment
from conftest import BINARY, HANG_SECONDS, SANITIZED
from models import make_model, read_safetensors, write_safetensors
from running import wait_for_handler, wait_until_read
from terminal import parts_of

CLEAN = clean_environment()


def names_in(folder):
    return sorted(path.name for path in pathlib.Path(folder).iterdir())


def can_open(path):
    try:
        path.open("w").close()
        return True
    except OSError:
        return False


def make_device(path, minor):
    """A device like /dev/null (3) or /dev/full (7), for one test; the machine's own are never used."""
    try:
        os.mknod(path, stat.S_IFCHR | 0o666, os.makedev(1, minor))
    except OSError:
        pytest.skip("devices cannot be made here")
    if not can_open(path):
        pytest.skip("devices cannot be opened here")
    return path


@contextlib.contextmanager
def small_disk():
    """A folder with room for 16 KB."""
    folder = tempfile.mkdtemp()
    if (
        os.geteuid() != 0
        or subprocess.run(["mount", "-t", "tmpfs", "-o", "size=16k", "tmpfs", folder], capture_output=True).returncode
        != 0
    ):
        os.rmdir(folder)
        pytest.skip("no disk can be mounted here")
    try:
        yield pathlib.Path(folder)
    finally:
        subprocess.run(["umount", folder], check=True)
        os.rmdir(folder)


@pytest.fixture
def texts(tmp_path):
    folder = tmp_path / "in"
    folder.mkdir()
    (folder / "texts.txt").write_text("some words\n" * 2000)
    return folder / "texts.txt"


# ---- an existing target keeps its kind


def test_a_link_is_followed_and_the_mode_kept(deberta, sequence_model, tmp_path):
    (tmp_path / "other").mkdir()
    target = tmp_path / "other/file.tsv"
    target.write_text("old")
    target.chmod(0o640)
    (tmp_path / "link.tsv").symlink_to("other/file.tsv")
    assert deberta("classify", "-m", sequence_model, "-o", tmp_path / "link.tsv", "a text").returncode == 0
    assert (tmp_path / "link.tsv").is_symlink() and target.read_text().startswith("label\tscore\tnote\n")
    assert stat.S_IMODE(target.stat().st_mode) == 0o640 and names_in(tmp_path / "other") == ["file.tsv"]


def test_a_link_to_nothing_makes_its_target(deberta, sequence_model, tmp_path):
    (tmp_path / "link").symlink_to("new.tsv")
    assert deberta("classify", "-m", sequence_model, "-o", tmp_path / "link", "a text").returncode == 0
    assert (tmp_path / "link").is_symlink() and (tmp_path / "new.tsv").read_text().startswith("label")


def test_a_pipe_is_written_as_the_answers_come(sequence_model, tmp_path):
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    process = subprocess.Popen(
        [BINARY, "classify", "-m", sequence_model, "-f", "jsonl", "-o", fifo],
        stdin=subprocess.PIPE,
        text=True,
        env=CLEAN,
    )
    with open(fifo) as reader:
        for text in ("one", "two", "three"):
            process.stdin.write(text + "\n")
            process.stdin.flush()
            assert "label" in json.loads(reader.readline())
        process.stdin.close()
        assert reader.read() == "" and process.wait(timeout=HANG_SECONDS) == 0
    assert stat.S_ISFIFO(fifo.stat().st_mode) and names_in(tmp_path) == ["fifo"]


def test_ctrl_c_ends_the_wait_for_a_reader_of_a_pipe(sequence_model, tmp_path):
    os.mkfifo(tmp_path / "fifo")
    process = subprocess.Popen(
        [BINARY, "classify", "-m", sequence_model, "-o", tmp_path / "fifo", "x"], stderr=subprocess.DEVNULL, env=CLEAN
    )
    wait_for_handler(process, signal.SIGINT)
    time.sleep(0.5)  # it is usually waiting by then; an earlier signal ends it as well
    assert process.poll() is None
    process.send_signal(signal.SIGINT)
    assert process.wait(timeout=HANG_SECONDS) == 130


def test_a_reader_of_a_pipe_that_goes_away_is_an_error(sequence_model, texts, tmp_path):
    os.mkfifo(tmp_path / "fifo")
    process = subprocess.Popen(
        [BINARY, "classify", "-m", sequence_model, "-i", texts, "-o", tmp_path / "fifo"],
        stderr=subprocess.PIPE,
        text=True,
        env=CLEAN,
    )
    with open(tmp_path / "fifo") as reader:
        reader.readline()
    assert process.wait(timeout=HANG_SECONDS) == 1
    assert f"{tmp_path}/fifo: write failed: Broken pipe" in process.stderr.read()


@pytest.mark.parametrize(
    "words",
    [
        ["classify", "-o"],
        ["embed", "-o"],
        ["eval", "--task", "sst-2", "-o"],
        ["eval", "--task", "sst-2", "--write-predictions"],
    ],
)
def test_a_device_stays_a_device(deberta, tmp_path, sequence_model, words):
    null = make_device(tmp_path / "null", 3)
    (tmp_path / "dev.tsv").write_text("sentence\tlabel\ngood\t1\n")
    model = (
        ["-p", tmp_path / "answers.tsv", tmp_path / "dev.tsv"]
        if words[0] == "eval"
        else ["-m", sequence_model, "a text"]
    )
    (tmp_path / "answers.tsv").write_text("index\tprediction\n0\t1\n")
    before = names_in(tmp_path)
    done = deberta(*words, null, *model)
    assert done.returncode == 0, done.stderr
    assert stat.S_ISCHR(null.lstat().st_mode) and names_in(tmp_path) == before


def test_a_full_device_is_an_error_and_stays_one(deberta, tmp_path, sequence_model):
    full = make_device(tmp_path / "full", 7)
    done = deberta("classify", "-m", sequence_model, "-o", full, "a text")
    assert done.returncode == 1 and f"{full}: write failed: No space left on device" in done.stderr
    assert stat.S_ISCHR(full.lstat().st_mode) and names_in(tmp_path) == ["full"]


def test_arrays_go_to_pipes_and_devices_too(deberta, sequence_model, tmp_path):
    os.mkfifo(tmp_path / "v.npy")
    process = subprocess.Popen(
        [BINARY, "embed", "-q", "-m", sequence_model, "-o", tmp_path / "v.npy", "one", "two"], env=CLEAN
    )
    with open(tmp_path / "v.npy", "rb") as reader:
        (tmp_path / "copy.npy").write_bytes(reader.read())
    assert process.wait(timeout=HANG_SECONDS) == 0 and numpy.load(tmp_path / "copy.npy").shape == (2, 16)
    null = make_device(tmp_path / "null.safetensors", 3)
    write_safetensors(tmp_path / "ids.safetensors", {"input_ids": numpy.array([[1, 5, 2]], dtype=numpy.int32)})
    assert (
        deberta("forward", "-q", "-m", sequence_model, "--ids", tmp_path / "ids.safetensors", "-o", null).returncode
        == 0
    )
    assert stat.S_ISCHR(null.lstat().st_mode)


# ---- standard output and other descriptors


def test_a_dash_is_standard_output(deberta, sequence_model, tmp_path):
    plain = deberta("classify", "-m", sequence_model, "a text")
    dash = deberta("classify", "-m", sequence_model, "-o", "-", "a text", cwd=tmp_path)
    assert dash.stdout == plain.stdout and names_in(tmp_path) == []
    write_safetensors(tmp_path / "ids.safetensors", {"input_ids": numpy.array([[1, 5, 2]], dtype=numpy.int32)})
    done = subprocess.run(
        [BINARY, "forward", "-m", sequence_model, "--ids", tmp_path / "ids.safetensors", "-o", "-"],
        capture_output=True,
        env=CLEAN,
        check=True,
    )
    (tmp_path / "out.safetensors").write_bytes(done.stdout)
    assert read_safetensors(tmp_path / "out.safetensors")["logits"].shape == (1, 3)


def shell(line, **more):
    return subprocess.run(
        ["bash", "-c", line], capture_output=True, text=True, env=CLEAN | {"D": BINARY}, timeout=HANG_SECONDS, **more
    )


def test_the_shell_s_own_places_work(sequence_model, tmp_path):
    run = f"$D classify --no-header -m {sequence_model}"
    plain = shell(f"{run} x", cwd=tmp_path).stdout
    assert (
        shell(
            f"{run} -o >(cat > copy) x; for i in $(seq 100); do [ -s copy ] && break; sleep 0.05; done; cat copy",
            cwd=tmp_path,
        ).stdout
        == plain
    )
    assert shell(f"{run} -o /dev/stdout x | cat", cwd=tmp_path).stdout == plain
    # The rest of the file stays: the program writes to the descriptor and does not replace the file.
    (tmp_path / "log").write_text("before\n")
    shell(f"({run} -o /dev/stdout x; echo after) >> log", cwd=tmp_path)
    assert (tmp_path / "log").read_text() == f"before\n{plain}after\n"
    shell(f"exec 3> three; echo before >&3; {run} -o /dev/fd/3 x; echo after >&3", cwd=tmp_path)
    assert (tmp_path / "three").read_text() == f"before\n{plain}after\n"
    assert not any(".tmp-" in name for name in names_in(tmp_path))


def test_a_descriptor_that_is_not_there_is_refused(deberta, sequence_model):
    done = deberta("classify", "-m", sequence_model, "-o", "/dev/fd/99", "x")
    assert done.returncode == 1 and "/dev/fd/99: descriptor 99 is not open for writing" in done.stderr


def test_head_ends_a_run_without_a_word(sequence_model, texts):
    done = shell(f"$D classify -m {sequence_model} -f jsonl -i {texts} | head -1; echo ${{PIPESTATUS[0]}}")
    assert done.stderr == ""
    assert done.stdout.splitlines()[1] == "1"
    assert "label" in json.loads(done.stdout.splitlines()[0])
    for verb in (
        "help",
        "help --man",
        "completion bash",
        "info",
        f"inspect -m {sequence_model}",
        f"tokenize -m {sequence_model} -i {texts}",
    ):
        done = shell(f"$D {verb} | head -c 1; echo; echo ${{PIPESTATUS[0]}}")
        assert done.stderr == "" and done.stdout.splitlines()[1] in "01", verb


@pytest.mark.parametrize(
    "words",
    [
        "help",
        "help classify",
        "classify --help",
        "--help",
        "--version",
        "help --man",
        "completion bash",
        "completion zsh",
        "completion fish",
        "info",
        "info --format jsonl",
        "info --sizes v3-base",
        "eval --list",
        "eval --published",
        "classify --print-config",
        "inspect -m MODEL",
        "check --strict -m MODEL",
        "tokenize -m MODEL x",
        "classify -m MODEL x",
        "embed -m MODEL x",
        "convert -m MODEL --to new",
        "classify -o - -m MODEL x",
        "bench -m MODEL --min-time 0 --lengths 8",
        "bench -m MODEL --min-time 0 --lengths 8 --format jsonl",
    ],
)
def test_every_verb_that_prints_says_when_it_cannot(sequence_model, tmp_path, words):
    line = [BINARY, *words.replace("MODEL", str(sequence_model)).split()]
    for place in (make_device(tmp_path / "full", 7), None):
        with open(place, "w") if place else contextlib.nullcontext() as stdout:
            done = subprocess.run(
                line,
                stdout=stdout,
                stderr=subprocess.PIPE,
                text=True,
                env=CLEAN,
                cwd=tmp_path,
                stdin=subprocess.DEVNULL,
                preexec_fn=None if place else lambda: os.close(1),
            )
        assert done.returncode == 1, words
        assert (
            "standard output: write failed: " + ("No space left on device" if place else "Bad file descriptor")
            in done.stderr
        )
        shutil.rmtree(tmp_path / "new", ignore_errors=True)


def test_a_closed_standard_output_never_lends_its_number_to_a_file(sequence_model, tmp_path):
    done = subprocess.run(
        [BINARY, "classify", "-m", sequence_model, "-o", tmp_path / "out.tsv", "x"],
        preexec_fn=lambda: os.close(1),
        stderr=subprocess.PIPE,
        env=CLEAN,
    )
    assert done.returncode == 0 and (tmp_path / "out.tsv").read_text().startswith("label\tscore\tnote\n")


# ---- disks, limits and signals


def test_a_full_disk_leaves_the_old_file_and_no_other(deberta, sequence_model, texts):
    with small_disk() as disk:
        (disk / "out.tsv").write_text("old")
        done = deberta("classify", "-m", sequence_model, "-i", texts, "-o", disk / "out.tsv")
        assert done.returncode == 1 and f"{disk}/out.tsv: write failed: No space left on device" in done.stderr
        assert names_in(disk) == ["out.tsv"] and (disk / "out.tsv").read_text() == "old"
        done = deberta("convert", "-m", sequence_model, "--to", disk / "model")
        assert done.returncode == 1 and "No space left on device" in done.stderr and names_in(disk) == ["out.tsv"]
        with open(disk / "stdout", "w") as stdout:
            done = subprocess.run(
                [BINARY, "classify", "-m", sequence_model, "-i", texts],
                stdout=stdout,
                stderr=subprocess.PIPE,
                text=True,
                env=CLEAN,
            )
        assert done.returncode == 1 and "standard output: write failed: No space left on device" in done.stderr


def test_a_limit_on_files_is_an_error_and_no_signal(sequence_model, texts, tmp_path):
    def limit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))

    for words in (["-o", tmp_path / "out.tsv"], []):
        with open(tmp_path / "stdout", "w") as stdout:
            done = subprocess.run(
                [BINARY, "classify", "-m", sequence_model, "-i", texts, *words],
                stdout=stdout,
                stderr=subprocess.PIPE,
                text=True,
                env=CLEAN,
                preexec_fn=limit,
            )
        assert done.returncode == 1 and "write failed: File too large" in done.stderr
        assert names_in(tmp_path) == ["in", "stdout"]


@pytest.mark.parametrize("number, code", [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)])
@pytest.mark.parametrize(
    "words",
    [
        ["classify", "-o", "OUT"],
        ["classify", "-f", "json", "-o", "OUT"],
        ["embed", "-q", "-o", "OUT.npy"],
        ["tokenize", "-o", "OUT"],
    ],
)
def test_a_signal_leaves_the_file_as_it_is(sequence_model, tmp_path, number, code, words):
    name = words[-1].replace("OUT", "out")
    (tmp_path / name).write_text("old")
    process = subprocess.Popen(
        [BINARY, *words[:-1], tmp_path / name, "-m", sequence_model],
        stdin=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=CLEAN,
    )
    process.stdin.write("one\ntwo\n")
    process.stdin.flush()
    wait_until_read(process)
    process.send_signal(number)
    assert process.wait(timeout=HANG_SECONDS) == code
    assert process.stderr.read() == f"{tmp_path}/{name}: interrupted; the file was not written\n"
    assert names_in(tmp_path) == [name] and (tmp_path / name).read_text() == "old"


def test_nohup_outlives_the_terminal(sequence_model, tmp_path):
    process = subprocess.Popen(
        [BINARY, "classify", "-m", sequence_model, "-o", tmp_path / "out"],
        stdin=subprocess.PIPE,
        text=True,
        env=CLEAN,
        preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN),
    )
    process.stdin.write("one\n")
    process.stdin.flush()
    wait_until_read(process)
    process.send_signal(signal.SIGHUP)
    process.communicate("two\n", timeout=HANG_SECONDS)
    assert process.returncode == 0 and (tmp_path / "out").read_text().count("\n") == 3


@pytest.mark.parametrize("number, code", [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_ends_a_benchmark(sequence_model, number, code):
    process = subprocess.Popen(
        [BINARY, "bench", "-m", sequence_model, "--min-time", "600", "--lengths", "8"],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env=CLEAN,
    )
    wait_for_handler(process, number)
    time.sleep(1)
    process.send_signal(number)
    assert process.wait(timeout=HANG_SECONDS) == code


# ---- refused before the run


@pytest.mark.parametrize(
    "words",
    [
        ["classify", "-o"],
        ["embed", "-o"],
        ["forward", "--ids", "none", "-o"],
        ["eval", "--task", "sst-2", "none.tsv", "--write-predictions"],
    ],
)
def test_places_are_refused_before_a_model_is_looked_for(deberta, tmp_path, words):
    (tmp_path / "folder").mkdir()
    for place, message in (("folder", "expected a file, got a folder"), ("none/file", "cannot create: no folder")):
        done = deberta(*words, tmp_path / place, "-m", tmp_path / "no-model")
        assert done.returncode == 1 and message in done.stderr and "no-model" not in done.stderr


@pytest.mark.parametrize("words", [["convert", "--to"], ["check", "--fix"]])
def test_folders_are_refused_before_the_work(deberta, sequence_model, tmp_path, words):
    (tmp_path / "full").mkdir()
    (tmp_path / "full/file").write_text("")
    for place, message in (
        ("full", "expected a new or empty folder"),
        ("full/file", "expected a new or empty folder"),
        ("none/new", "cannot create: no folder"),
    ):
        done = deberta(*words, tmp_path / place, "-m", sequence_model)
        assert done.returncode == 1 and message in done.stderr and done.stdout == ""


def test_a_link_to_an_empty_folder_is_followed_and_its_mode_kept(deberta, sequence_model, tmp_path):
    (tmp_path / "other").mkdir(mode=0o700)
    (tmp_path / "link").symlink_to("other")
    assert deberta("convert", "-m", sequence_model, "--to", tmp_path / "link").returncode == 0
    assert (tmp_path / "link").is_symlink() and (tmp_path / "other/config.json").exists()
    assert stat.S_IMODE((tmp_path / "other").stat().st_mode) == 0o700 and names_in(tmp_path) == ["link", "other"]


@pytest.mark.parametrize(
    "name, text, message",
    [
        ("file", None, "expected a folder, got a file"),
        ("results", "[1", "not valid JSON"),
        ("results", "[1]", "expected an object"),
    ],
)
def test_a_folder_of_results_is_looked_at_before_the_run(deberta, tmp_path, name, text, message):
    (tmp_path / "dev.tsv").write_text("sentence\tlabel\ngood\t1\n")
    (tmp_path / "file").write_text("")
    (tmp_path / "results").mkdir()
    if text:
        (tmp_path / "results/all_results.json").write_text(text)
    done = deberta(
        "eval", "--task", "sst-2", "-m", tmp_path / "no-model", tmp_path / "dev.tsv", "--output-dir", tmp_path / name
    )
    assert done.returncode == 1 and message in done.stderr and "no-model" not in done.stderr


# ---- the file name sets the format


def test_the_ending_chooses_the_form(deberta, sequence_model, tmp_path):
    def written(name, *words):
        done = deberta("classify", "-m", sequence_model, "-o", tmp_path / name, *words, "a text")
        assert done.returncode == 0, done.stderr
        return (tmp_path / name).read_text(), done.stderr

    assert isinstance(json.loads(written("a.json")[0]), list)
    assert "label" in json.loads(written("a.jsonl")[0]) and "label" in json.loads(written("a.NDJSON")[0])
    assert written("a.tsv")[0].startswith("label\tscore\tnote\n")
    assert written("a.txt")[0] == written("a")[0] == written("a.tsv")[0]
    assert written("a.csv")[0].startswith("row,label,score,note\n") and written("a.CSV")[0] == written("a.csv")[0]
    text, said = written("b.json", "-f", "tsv")
    assert text.startswith("label\tscore\tnote\n")
    assert said == f"note: {tmp_path}/b.json is written as tsv because of --format, despite its extension\n"
    assert written("b.json", "-f", "json")[1] == "" and written("b.txt", "-f", "json")[1] == ""


def test_an_ending_chooses_in_eval_and_ner_too(deberta, tmp_path):
    (tmp_path / "dev.tsv").write_text("sentence\tlabel\ngood\t1\n")
    (tmp_path / "answers.tsv").write_text("index\tprediction\n0\t1\n")
    assert (
        deberta(
            "eval", "--task", "sst-2", "-p", tmp_path / "answers.tsv", tmp_path / "dev.tsv", "-o", tmp_path / "out.json"
        ).returncode
        == 0
    )
    assert json.loads((tmp_path / "out.json").read_text())["metrics"]["accuracy"] == 1
    assert (
        deberta(
            "ner", "-m", make_model(tmp_path / "model", "token"), "-o", tmp_path / "out.conll", "one two"
        ).returncode
        == 0
    )
    assert (tmp_path / "out.conll").read_text().splitlines()[2] == ""
    assert deberta("classify", "-o", "x.conll", "x").returncode == 2


# ---- terminals


def run_in_terminal(words, columns, resize=None):
    """What a terminal with that many columns shows of standard error, and the exit code."""
    main, worker = pty.openpty()
    fcntl.ioctl(worker, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    process = subprocess.Popen(
        [BINARY, *map(str, words)], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=worker, env=CLEAN
    )
    os.close(worker)
    seen = b""
    for part in parts_of(main):
        seen += part
        if resize and b"rows" in seen:
            fcntl.ioctl(main, termios.TIOCSWINSZ, struct.pack("HHHH", 24, resize, 0, 0))
    code = process.wait(timeout=HANG_SECONDS)
    os.close(main)
    return seen.decode(), code


MANY = 2000 if SANITIZED else 4000  # enough for the bar, drawn ten times a second, to appear several times


@pytest.fixture(scope="session")
def many_texts(tmp_path_factory):
    path = tmp_path_factory.mktemp("many") / "texts.txt"
    path.write_text("some words of a text that is long enough to take its time\n" * MANY)
    return path


def bars_of(seen):
    return [bar for part in seen.split("\r\n")[:-1] for bar in part.split("\r\x1b[K")]


@pytest.mark.parametrize("columns", [1, 10, 20, 40, 80, 200])
def test_a_bar_fits_its_terminal_and_ends_with_what_was_done(sequence_model, many_texts, columns):
    seen, code = run_in_terminal(["classify", "-m", sequence_model, "-i", many_texts], columns)
    assert code == 0 and "\r\x1b[K" in seen
    assert all(len(bar) < max(2, columns) for bar in bars_of(seen)), seen
    if columns >= 20:
        assert re.match(rf"{MANY} rows in \d\d:\d\d", bars_of(seen)[-1])
    if columns >= 40:
        assert any(bar.startswith("[") and " % " in bar for bar in bars_of(seen))


def test_a_bar_follows_the_terminal_s_width(sequence_model, many_texts):
    seen, code = run_in_terminal(["classify", "-m", sequence_model, "-i", many_texts], 100, resize=30)
    widths = [len(bar) for bar in bars_of(seen) if bar]
    first = next(i for i, width in enumerate(widths) if width < 30)
    assert code == 0 and first > 0 and max(widths[first:]) < 30


def test_progress_that_is_asked_for_ends_with_a_line_everywhere(deberta, sequence_model, texts):
    done = deberta("classify", "-m", sequence_model, "-i", texts, "--progress", "on")
    assert json.loads(done.stderr.splitlines()[-1])["progress"]["items"] == 2000
    seen, _ = run_in_terminal(["classify", "-m", sequence_model, "-i", texts, "--progress", "on"], 80)
    assert re.match(r"2000 rows in \d\d:\d\d", seen.split("\r\x1b[K")[-1])
    assert run_in_terminal(["classify", "-m", sequence_model, "-i", texts, "--progress", "off"], 80)[0] == ""
    assert run_in_terminal(["classify", "-m", sequence_model, "one"], 80)[0] == ""
