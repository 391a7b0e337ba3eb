"""Rows from files: compressed input, its damage, and the forms of rows."""

import bz2
import gzip
import json
import lzma

import pytest


def zstd(data: bytes) -> bytes:
    """One raw block in one frame, written by hand: every Zstandard decoder reads it."""
    assert len(data) < 256
    return b"\x28\xb5\x2f\xfd\x20" + bytes([len(data)]) + (len(data) << 3 | 1).to_bytes(3, "little") + data


WRITERS = {".gz": gzip.compress, ".xz": lzma.compress, ".zst": zstd, ".bz2": bz2.compress}


@pytest.mark.parametrize("ending", WRITERS)
def test_compressed_input_is_read_by_its_ending_and_the_form_by_the_one_below(
    deberta, sequence_model, tmp_path, ending
):
    forms = {
        "a.txt": "one text\nanother\n",
        "a.tsv": "id\ttext\n1\tone text\n2\tanother\n",
        "a.csv": 'text,id\n"one text",1\nanother,2\n',
        "a.jsonl": '{"text": "one text"}\n{"text": "another"}\n',
        "a.json": '["one text", "another"]',
    }
    words = ("classify", "-m", sequence_model, "-f", "jsonl", "--activation", "none", "--keep", "none")
    expected = deberta(*words, "one text", "another").stdout
    for name, text in forms.items():
        path = tmp_path / (name + ending)
        path.write_bytes(WRITERS[ending](text.encode()))
        done = deberta(*words, "--input", path)
        assert (done.returncode, done.stdout) == (0, expected), done.stderr


@pytest.mark.parametrize("ending", WRITERS)
def test_a_stream_that_is_cut_off_fails_with_its_file_and_place(deberta, sequence_model, tmp_path, ending):
    path = tmp_path / ("a.txt" + ending)
    path.write_bytes(WRITERS[ending](b"one text\nanother\n")[:-3])
    done = deberta("classify", "-m", sequence_model, "--input", path)
    assert done.returncode == 1 and f"{path}: " in done.stderr and "the file is truncated" in done.stderr


def test_the_rows_before_the_damage_are_answered(deberta, sequence_model, tmp_path):
    path = tmp_path / "a.txt.gz"
    path.write_bytes(gzip.compress(b"one text\nanother\n") + gzip.compress(b"a third\n")[:-3])
    done = deberta("classify", "-m", sequence_model, "-f", "jsonl", "--input", path)
    assert done.returncode == 1 and len([json.loads(line) for line in done.stdout.splitlines()]) == 3
    assert "the file is truncated" in done.stderr


def test_rows_of_letters_that_the_model_does_not_know_are_noted(deberta, sequence_model):
    """They get an answer as confident as any other."""
    note = "is not in the model's vocabulary and was read as unknown tokens"
    done = deberta("classify", "-m", sequence_model, "a film", "жж щщ жщ", "ыыы")
    assert done.returncode == 0 and f"note: most of the text of 2 rows {note}" in done.stderr, done.stderr
    assert f"of 1 row {note}" in deberta("classify", "-m", sequence_model, "жж a щщ").stderr
    assert (
        "vocabulary"
        not in deberta("classify", "-m", sequence_model, "a film", "", "[x", "it was a fine film жжж").stderr
    )
