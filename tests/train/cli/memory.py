"""Peak memory of `deberta pretrain`, tokenising included, on a corpus once and ten times. `memory.py FILE...`: of these
files; prints the figures and fails when ten times takes more than GROWTH_MB more."""

import os
import pathlib
import subprocess
import sys
import tempfile
import time

from conftest import BINARY, SMALL

COPIES, GROWTH_MB, SAMPLE_SECONDS = 10, 30, 0.01
MODEL = SMALL[: SMALL.index("--hold-out-every")]


def anonymous_mb(process):
    try:
        lines = pathlib.Path(f"/proc/{process.pid}/status").read_text().splitlines()
    except (FileNotFoundError, ProcessLookupError):
        return 0.0
    return sum(int(line.split()[1]) for line in lines if line.startswith("RssAnon:")) * 1024 / 1e6


def peak_mb(words, environment):
    """Of anonymous memory, by samples."""
    process = subprocess.Popen(
        [BINARY, *map(str, words)], stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, env=environment
    )
    peak = 0.0
    while process.poll() is None:
        peak = max(peak, anonymous_mb(process))
        time.sleep(SAMPLE_SECONDS)
    said = process.stderr.read()
    assert process.returncode == 0, said
    return peak


def peaks_of(files, tokenizer, folder, hold_out_every):
    """Some steps and an evaluation. (peak with the files once, with each of them COPIES times)"""
    peaks = []
    for copies in (1, COPIES):
        texts = folder / f"texts{copies}"
        texts.mkdir()
        for number in range(copies):
            for file in files:
                os.symlink(file, texts / f"{number}-{file.name}")
        environment = dict(os.environ, XDG_CACHE_HOME=str(folder / f"cache{copies}"))
        words = [
            "pretrain",
            "--tokenizer-name",
            tokenizer,
            "-o",
            folder / f"out{copies}",
            *MODEL,
            "--hold-out-every",
            hold_out_every,
            "--max-steps",
            "4",
            texts,
        ]
        peaks.append(peak_mb(words, environment))
    return tuple(peaks)


def main():
    from models import make_model

    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        tokenizer = make_model(folder / "tokenizer", "lm")
        once, often = peaks_of(
            [pathlib.Path(path).resolve() for path in sys.argv[1:]], tokenizer, folder, hold_out_every=1000
        )
    print(
        f"peak of anonymous memory: {once:.1f} MB, with {COPIES} times the corpus {often:.1f} MB; allowed "
        f"{GROWTH_MB} MB more"
    )
    return 0 if often <= once + GROWTH_MB else 1


if __name__ == "__main__":
    sys.exit(main())
