"""The memory of `deberta pretrain` does not grow with the corpus."""

import random
import string

from memory import GROWTH_MB, peaks_of


def test_ten_times_the_corpus_takes_no_more_memory(tokenizer, tmp_path):
    dice = random.Random(1)
    words = ["".join(dice.choices(string.ascii_lowercase, k=dice.randrange(2, 9))) for _ in range(2000)]
    lines = [" ".join(dice.choices(words, k=40)) for _ in range(13000)]  # 3 MB
    documents = [f"<|doc {i}|>\n" + "\n".join(lines[i : i + 20]) + "\n" for i in range(0, len(lines), 20)]
    (tmp_path / "texts.txt").write_text("".join(documents))
    once, often = peaks_of([tmp_path / "texts.txt"], tokenizer, tmp_path, hold_out_every=300)
    assert often <= once + GROWTH_MB, (once, often)
