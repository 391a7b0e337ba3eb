"""Makes this folder: unigram.json and bpe.json, what transformers writes as tokenizer.json for ../unknown.model (with
replacement rules, byte pieces and a token for the normalised text added) and for ../bpe, and golden.json, what the
tokenizers library makes of some texts with each.

Run: python3 tests/golden/tokenizer/json/make.py   (transformers 4.57.6, tokenizers 0.22.2, protobuf)
"""

import base64
import json
import pathlib
import shutil
import struct
import tempfile

import tokenizers
import transformers

HERE = pathlib.Path(__file__).resolve().parent
TEXTS = [
    "hello world",
    "The cat walks the house in the morning.",
    "",
    "   ",
    " a  b ",
    "a\u3000b\u00a0 c\t",
    "a \u2581b\u2581",
    "\u2581",
    "tail ",
    "[MASK] the [SEP]the[CLS]",
    "a [MASK]  b",
    "\u8c1b\u8c1b the \u8c1b",
    "\U0001f600x\ufdfa",
    "\uff21\u0301x \uff21x",
    "e\u0301 \u00e9 \ufb01",
    "\u0600\uff21 \uff21\u200d\uff21",
    "\u00a9\u200d\u00a9 \u00a9\u200da",
    "\u0915\u094d\u0937 \u1100\u1161\u11a8\u0301",
    "\U0001f1e6\U0001f1e7\U0001f1e8",
    "\r\n a\r\n",
    "<0x41><0xE8> [UNK]x",
    "x[UNK]\u8c1b[UNK]",
    "Word \uff37ord Words",
    ")))",
    "oooooooo",
    "it's can't  we've\n\nx  1st",
    "\x1c a\x1cb \x85 [MASK]\x1c[MASK]",
    "don't  [MASK] [UNK]x",
    "\u00e9t\u00e9 \U000323af",
]


def double_array(rules):
    """A charsmap of rules whose keys share no prefix beyond their first bytes, in the layout of Darts-clone:
    every node has its children at a base of its own."""
    units = {}
    texts = b""
    nodes = {(): 0}
    free = [1]
    for key in sorted(rules):
        for size in range(len(key) + 1):
            nodes.setdefault(tuple(key[:size]), None)
    children = {}
    for node in nodes:
        if node:
            children.setdefault(node[:-1], set()).add(node[-1])
    at = {(): 0}
    base = {}
    for node in sorted(nodes, key=len):
        labels = sorted(children.get(node, ())) + ([0] if bytes(node) in rules else [])
        if not labels:
            continue
        base[node] = 256 * free[0]
        free[0] += 1
        for label in children.get(node, ()):
            at[(*node, label)] = base[node] ^ label
    for node in nodes:
        label = node[-1] if node else 0
        distance = at[node] ^ base[node]
        assert distance < 1 << 21
        units[at[node]] = label | distance << 10 | (0x100 if bytes(node) in rules else 0)
        if bytes(node) in rules:
            units[base[node]] = len(texts) | 1 << 31
            texts += rules[bytes(node)] + b"\0"
    table = [units.get(i, 0) for i in range(256 * free[0])]
    return struct.pack("<I", 4 * len(table)) + struct.pack(f"<{len(table)}I", *table) + texts


RULES = {
    "\uff21": "A",
    "\uff37": "W",
    "\ufb01": "fi",
    "\ufdfa": "\u0635\u0644\u0649 a",
    "\u00a0": " ",
    "\t": " ",
    "\x85": "",
    "e\u0301": "\u00e9",
    "\u2122": "TM",
}


def converted(kind, names):
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for source, target in names.items():
            shutil.copyfile(HERE.parent / source, folder / target)
        getattr(transformers, kind).from_pretrained(folder).save_pretrained(folder / "out")
        return json.loads((folder / "out/tokenizer.json").read_text(encoding="utf-8"))


def unigram():
    file = converted("DebertaV2TokenizerFast", {"unknown.model": "spm.model"})
    rules = double_array({key.encode(): text.encode() for key, text in RULES.items()})
    file["normalizer"]["normalizers"].insert(
        1, {"type": "Precompiled", "precompiled_charsmap": base64.b64encode(rules).decode()}
    )
    file["model"]["byte_fallback"] = True
    used = {piece for piece, _ in file["model"]["vocab"]}
    file["model"]["vocab"] += [[f"<0x{byte:02X}>", 0.0] for byte in range(256) if f"<0x{byte:02X}>" not in used]
    size = len(file["model"]["vocab"])
    file["added_tokens"][-1]["id"] = size
    file["added_tokens"].append(
        {
            "id": size + 1,
            "content": "Word",
            "single_word": False,
            "lstrip": False,
            "rstrip": False,
            "normalized": True,
            "special": False,
        }
    )
    return file


def golden(path):
    library = tokenizers.Tokenizer.from_file(str(path))
    return [[text, library.encode(text).ids] for text in TEXTS]


def main():
    (HERE / "unigram.json").write_text(json.dumps(unigram(), separators=(",", ":")) + "\n", encoding="ascii")
    bpe = converted("DebertaTokenizerFast", {"bpe/vocab.json": "vocab.json", "bpe/merges.txt": "merges.txt"})
    (HERE / "bpe.json").write_text(json.dumps(bpe, separators=(",", ":")) + "\n", encoding="ascii")
    rows = {"made_with": {"tokenizers": tokenizers.__version__, "transformers": transformers.__version__}}
    rows |= {name: golden(HERE / f"{name}.json") for name in ("unigram", "bpe")}
    (HERE / "golden.json").write_text(
        json.dumps(rows, separators=(",", ":")).replace("],[", "],\n[") + "\n", encoding="ascii"
    )


if __name__ == "__main__":
    main()
