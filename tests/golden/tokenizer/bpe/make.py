"""Makes this folder: a small byte-level BPE model in the files of DeBERTa v1, and golden.json, which holds what the
slow tokenizer of transformers makes of the texts of ../golden.json and of some more.

Run: python3 tests/golden/tokenizer/bpe/make.py   (transformers 4.57.6)
The model is trained on the text that ../make.py writes. The same files come out every time.
"""

import collections
import itertools
import json
import pathlib
import shutil
import sys
import tempfile

import regex
import transformers

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

from make import PAIRS, training_text  # noqa: E402

MERGES = 420
WORDS = regex.compile(r" ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+")


def alphabet():
    """One printable character for each byte."""
    printable = [*range(33, 127), *range(161, 173), *range(174, 256)]
    others = [byte for byte in range(256) if byte not in printable]
    return {**{byte: chr(byte) for byte in printable}, **{byte: chr(256 + at) for at, byte in enumerate(others)}}


def melt(word, pair):
    out = []
    for part in word:
        if out and (out[-1], part) == pair:
            out[-1] += part
        else:
            out.append(part)
    return tuple(out)


def train(lines):
    letters = alphabet()
    counts = collections.Counter(word for line in lines for word in WORDS.findall(line))
    words = {tuple(letters[byte] for byte in word.encode()): count for word, count in counts.items()}
    merges = []
    while len(merges) < MERGES:
        pairs = collections.Counter()
        for word, count in words.items():
            for pair in itertools.pairwise(word):
                pairs[pair] += count
        best = min(pairs, key=lambda pair: (-pairs[pair], pair))
        merges.append(best)
        words = {melt(word, best): count for word, count in words.items()}
    return merges


EXTRA = [
    "it's can't we've I'm you'll he'd they're 'tis IT'S ''s 's'll",
    "' s 't're x'y don''t",
    "a\n\nb \n c\t\td  ",
    "  a   b",
    " \t ",
    "x \u00a0 y\u2003z",
    "\u001c\u001d a\u001fb",
    "1st 2nd x1y2 \u00bd\u00b2 \u0663\u0664 \u2167",
    "_a __ a_b",
    "\u0301a e\u0301 \u00e9",
    "hello  [MASK]\t\n[MASK] [SEP]x",
    " [MASK] the\u3000[MASK]the",
    "[CLS] the [SEP] [SEP][PAD] [UNK]",
    "\U000323af \u0558",
]

CONFIGS = {
    "flags": {
        "tokenizer_config.json": {
            "added_tokens_decoder": {
                "0": {"content": "[PAD]", "special": True},
                "1": {"content": "[CLS]", "special": True},
                "2": {"content": "[SEP]", "special": True},
                "3": {"content": "[UNK]", "special": True},
                "MASK": {"content": "[MASK]", "special": True},
                "900": {"content": "<right>", "rstrip": True},
                "901": {"content": "word", "single_word": True},
            }
        }
    },
    "legacy": {
        "special_tokens_map.json": {"mask_token": "[MASK]", "sep_token": {"content": "</s>"}},
        "added_tokens.json": {"</s>": 900},
        "tokenizer_config.json": {"do_lower_case": True, "split_by_punct": True},
    },
    "table": {
        "tokenizer_config.json": {
            "mask_token": "[MASK]",
            "added_tokens_decoder": {"MASK": {"content": "[MASK]", "special": True}},
        }
    },
    "listed": {"tokenizer_config.json": {"mask_token": "[MASK]"}, "added_tokens.json": {"[MASK]": 680}},
    "mask": {"special_tokens_map.json": {"mask_token": {"content": "<mask>", "lstrip": False}}},
}
CONFIG_TEXTS = [
    "The cat [MASK] the",
    "a  [MASK]  b[MASK]c",
    "x <right>  y",
    "word sword word",
    "a </s> b",
    "a <mask> b",
    "(no) Yes!",
]


def slow_tokenizer(files):
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for source in ("vocab.json", "merges.txt"):
            shutil.copy(HERE / source, folder / source)
        for file, content in files.items():
            (folder / file).write_text(json.dumps(content), encoding="utf-8")
        return transformers.DebertaTokenizer.from_pretrained(folder)


def main():
    merges = train(training_text())
    pieces = ["[PAD]", "[CLS]", "[SEP]", "[UNK]", *alphabet().values(), *("".join(pair) for pair in merges), "[MASK]"]
    vocab = {piece: at for at, piece in enumerate(pieces)}
    assert len(vocab) == len(pieces)
    (HERE / "vocab.json").write_text(
        json.dumps(vocab, ensure_ascii=False, separators=(",", ":")) + "\n", encoding="utf-8"
    )
    (HERE / "merges.txt").write_text("#version: 0.2\n" + "".join(f"{a} {b}\n" for a, b in merges), encoding="utf-8")

    shared_texts = json.loads((HERE.parent / "golden.json").read_text())["texts"]
    slow = slow_tokenizer({})
    golden = {
        "made_with": {"transformers": transformers.__version__, "regex": regex.__version__},
        "texts_of_other_golden": [slow(text)["input_ids"] for text in shared_texts[:100]],
        "texts": [
            [text, slow(text)["input_ids"], slow.decode(slow(text)["input_ids"], skip_special_tokens=True)]
            for text in EXTRA
        ],
        "pairs": [],
        "configs": [],
    }
    for first, second in PAIRS:
        both = slow(first, second)
        golden["pairs"].append([first, second, both["input_ids"], both["token_type_ids"]])
    for name, files in CONFIGS.items():
        files = json.loads(json.dumps(files).replace('"MASK"', f'"{vocab["[MASK]"]}"'))
        slow = slow_tokenizer(files)
        rows = [[text, slow(text)["input_ids"]] for text in CONFIG_TEXTS]
        golden["configs"].append({"name": name, "files": files, "texts": rows})
    text = json.dumps(golden, separators=(",", ":")).replace("],[", "],\n[")
    (HERE / "golden.json").write_text(text + "\n", encoding="ascii")


if __name__ == "__main__":
    main()
