"""Pipes, signals and terminals."""

import json
import os
import pty
import signal
import subprocess

from conftest import BINARY, HANG_SECONDS
from running import wait_until
from terminal import parts_of


def test_a_pipe_is_answered_as_it_comes(sequence_model):
    process = subprocess.Popen(
        [BINARY, "classify", "-m", sequence_model, "-f", "jsonl"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    for text in ("one", "two", "three"):
        process.stdin.write(text + "\n")
        process.stdin.flush()
        assert "label" in json.loads(process.stdout.readline())
    process.stdin.close()
    assert process.wait(timeout=HANG_SECONDS) == 0


def test_a_reader_that_goes_away_ends_the_program_with_code_1(sequence_model):
    process = subprocess.Popen(
        [BINARY, "classify", "-m", sequence_model],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    process.stdout.close()
    try:
        process.stdin.write("text\n" * 20000)
        process.stdin.close()
    except BrokenPipeError:
        pass
    assert process.wait(timeout=HANG_SECONDS) == 1


def test_ctrl_c_leaves_whole_lines_and_code_130(sequence_model, tmp_path):
    out = tmp_path / "out"
    with open(out, "w") as stdout:
        process = subprocess.Popen(
            [BINARY, "classify", "-m", sequence_model, "-f", "jsonl"], stdin=subprocess.PIPE, stdout=stdout, text=True
        )
        process.stdin.write("first\nsecond\n")
        process.stdin.flush()
        wait_until(lambda: out.read_text().count("\n") >= 2, process)
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=HANG_SECONDS) == 130
    text = out.read_text()
    assert text.endswith("\n") and len([json.loads(line) for line in text.splitlines()]) == 2


def test_a_terminal_gets_a_table_and_progress_and_a_pipe_neither(sequence_model, tmp_path):
    texts = tmp_path / "texts.txt"
    texts.write_text("some words\n" * 3000)
    main, worker = pty.openpty()
    process = subprocess.Popen(
        [BINARY, "classify", "-m", sequence_model, "--input", texts],
        stdin=subprocess.DEVNULL,
        stdout=worker,
        stderr=worker,
    )
    os.close(worker)
    seen = b"".join(parts_of(main))
    assert process.wait(timeout=HANG_SECONDS) == 0
    assert b"label" in seen and b"\t" not in seen.replace(b"\r", b"")
    done = subprocess.run(
        [BINARY, "classify", "-m", sequence_model, "--input", texts, "--progress", "on"], capture_output=True
    )
    assert b"\x1b" not in done.stdout + done.stderr


# ---- rows are read and encoded ahead of the answers


def test_rows_keep_their_order_and_bad_ones_their_place_in_packs_of_any_size(deberta, sequence_model):
    rows = [json.dumps({"text": "word " * (i * 37 % 60), "n": i}) if i % 7 else f'{{"n": {i}}}' for i in range(1, 700)]
    whole = deberta(
        "classify", "-m", sequence_model, "--input-format", "jsonl", "--keep", "n", "-f", "jsonl", stdin="\n".join(rows)
    )
    answers = [json.loads(line) for line in whole.stdout.splitlines()]
    assert whole.returncode == 1 and len(answers) == len(rows)
    for i, answer in enumerate(answers, 1):
        assert ("error" in answer) == (i % 7 == 0)
        assert f":{i}:" in answer["error"]["message"] if "error" in answer else answer["n"] == i
    for tokens in ("100", "3k"):
        assert (
            deberta(
                "classify",
                "-m",
                sequence_model,
                "--input-format",
                "jsonl",
                "--keep",
                "n",
                "-f",
                "jsonl",
                "--batch-tokens",
                tokens,
                stdin="\n".join(rows),
            ).stdout
            == whole.stdout
        )


def test_rows_that_only_the_model_can_refuse_keep_their_place_too(deberta, language_model):
    rows = ["a [MASK] b" if i % 5 else "no mask" for i in range(200)]
    done = deberta("fill", "-m", language_model, "-f", "jsonl", "--top-k", 1, stdin="\n".join(rows))
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert done.returncode == 1 and ["error" in answer for answer in answers] == [i % 5 == 0 for i in range(200)]


def test_all_rows_before_a_pause_are_answered(sequence_model):
    process = subprocess.Popen(
        [BINARY, "classify", "-m", sequence_model, "-f", "jsonl"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    for burst in (1, 40, 700, 1):
        process.stdin.write("some words\n" * burst + "half a ")
        process.stdin.flush()
        for _ in range(burst):
            assert "label" in json.loads(process.stdout.readline())
        process.stdin.write("line\n")
        process.stdin.flush()
        assert "label" in json.loads(process.stdout.readline())
    process.stdin.close()
    assert process.wait(timeout=HANG_SECONDS) == 0


def test_a_failure_ends_the_program_while_it_waits_for_input(sequence_model):
    process = subprocess.Popen(
        [BINARY, "classify", "-m", sequence_model, "--input-format", "jsonl", "--on-bad-row", "fail"],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    process.stdin.write('{"text": "good"}\n{"no": "text"}\n{"text": "half')
    process.stdin.flush()
    assert process.wait(timeout=HANG_SECONDS) == 1 and "no key" in process.stderr.read()


def test_ctrl_c_in_the_middle_of_endless_rows_leaves_whole_lines(sequence_model, tmp_path):
    out = tmp_path / "out"
    with open(out, "w") as stdout:
        source = subprocess.Popen(["yes", "some words"], stdout=subprocess.PIPE)
        process = subprocess.Popen(
            [BINARY, "classify", "-m", sequence_model, "-f", "jsonl", "--batch-tokens", "64"],
            stdin=source.stdout,
            stdout=stdout,
        )
        source.stdout.close()
        wait_until(lambda: out.read_text().count("\n") >= 100, process)
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=HANG_SECONDS) == 130
        source.wait(timeout=HANG_SECONDS)
    text = out.read_text()
    assert text.endswith("\n") and all("label" in json.loads(line) for line in text.splitlines())


def test_memory_does_not_grow_with_the_rows(sequence_model, tmp_path):
    def peak(rows):
        (tmp_path / "rows.txt").write_text(("some words of a row " * 25 + "\n") * rows)
        process = subprocess.Popen(
            [
                BINARY,
                "classify",
                "-m",
                sequence_model,
                "--input",
                tmp_path / "rows.txt",
                "--max-tokens",
                "8",
                "--batch-tokens",
                "128",
            ],
            stdout=subprocess.DEVNULL,
            # a sanitizer build holds back freed memory
            env=os.environ | {"ASAN_OPTIONS": "quarantine_size_mb=1"},
        )
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        assert process.returncode == 0
        return usage.ru_maxrss

    assert peak(10000) < peak(1000) + 2000  # KB; the texts alone would be twice that
