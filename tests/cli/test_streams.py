"""Pipes, signals and terminals."""
import json
import os
import pty
import signal
import subprocess
import time

from conftest import BINARY


def test_a_pipe_is_answered_as_it_comes(sequence_model):
    process = subprocess.Popen([BINARY, "classify", "-m", sequence_model, "-f", "jsonl"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    for text in ("one", "two", "three"):
        process.stdin.write(text + "\n")
        process.stdin.flush()
        assert "label" in json.loads(process.stdout.readline())
    process.stdin.close()
    assert process.wait(timeout=30) == 0


def test_a_reader_that_goes_away_ends_the_program_with_code_1(sequence_model):
    process = subprocess.Popen([BINARY, "classify", "-m", sequence_model], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    process.stdout.close()
    try:
        process.stdin.write("text\n" * 20000)
        process.stdin.close()
    except BrokenPipeError:
        pass
    assert process.wait(timeout=60) == 1


def test_ctrl_c_leaves_whole_lines_and_code_130(sequence_model, tmp_path):
    out = tmp_path / "out"
    with open(out, "w") as stdout:
        process = subprocess.Popen([BINARY, "classify", "-m", sequence_model, "-f", "jsonl"], stdin=subprocess.PIPE, stdout=stdout, text=True)
        process.stdin.write("first\nsecond\n")
        process.stdin.flush()
        deadline = time.monotonic() + 30
        while out.read_text().count("\n") < 2 and time.monotonic() < deadline:
            time.sleep(0.02)
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=30) == 130
    text = out.read_text()
    assert text.endswith("\n") and len([json.loads(line) for line in text.splitlines()]) == 2


def test_a_terminal_gets_a_table_and_progress_and_a_pipe_neither(sequence_model, tmp_path):
    texts = tmp_path / "texts.txt"
    texts.write_text("some words\n" * 3000)
    main, worker = pty.openpty()
    process = subprocess.Popen([BINARY, "classify", "-m", sequence_model, "--input", texts], stdin=subprocess.DEVNULL, stdout=worker, stderr=worker)
    os.close(worker)
    seen = b""
    while True:
        try:
            part = os.read(main, 65536)
        except OSError:
            break
        if not part:
            break
        seen += part
    assert process.wait(timeout=60) == 0
    assert b"label" in seen and b"\t" not in seen.replace(b"\r", b"")
    done = subprocess.run([BINARY, "classify", "-m", sequence_model, "--input", texts, "--progress", "on"], capture_output=True)
    assert b"\x1b" not in done.stdout + done.stderr
