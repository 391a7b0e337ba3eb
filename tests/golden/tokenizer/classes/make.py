"""Makes golden.json of this folder: folders as people publish them, and what AutoTokenizer of transformers 4.57 makes
of some texts with each, slow and fast; "refuses" where it loads nothing. A file of a case is given by the name of a
fixture (a string) or by its content (JSON). vocab.txt and bert.json are made here too.

Run: python3 tests/golden/tokenizer/classes/make.py   (transformers 4.57.6, tokenizers 0.22.2, sentencepiece, protobuf)
"""

import json
import os
import pathlib
import shutil
import tempfile
import warnings

os.environ["TOKENIZERS_PARALLELISM"] = "false"
import transformers

HERE = pathlib.Path(__file__).resolve().parent
GOLDEN = HERE.parent
TEXTS = [
    "hello world",
    "The cat [MASK] the house!",
    "",
    " a  b\t c",
    "[MASK] the [SEP]the[CLS] x[UNK]",
    "a [MASK]  b",
    "\u8c1b \u7334 cat",
    "\U0001f600x\ufb01",
    "e\u0301cole \u00c5 \uff21",
    "it's 3.14 (x), don't",
    "line\nfeed\r\n end\u2028z",
    "a<n>the <n> b",
    "\u03a3\u03b1\u03c2 UPPER \u0130",
    "x" * 101 + " b",
    "\u1100\u1161\u11a8 \u0f71\u0f72 q\u0323\u0307",
    "\x00a\x1cb\x7f \ufffd",
]
PAIRS = [("hello", "the cat"), ("a [MASK]", "\U0001f600 b")]
WORDS = """[PAD] [UNK] [CLS] [SEP] [MASK] the cat house hello world a b c x ##x ##b ! , . ( ) '
it ##s s 3 14 don t ##cole e ecole line feed end upper U ##P
\u8c1b \u7334 q \u03c3 ##\u03b1\u03c2 ##\u03b1\u03c3 <n>""".split()

SPM, BYTES = {"spm.model": "unknown.model"}, {"vocab.json": "bpe/vocab.json", "merges.txt": "bpe/merges.txt"}
V1, V2 = {"config.json": {"model_type": "deberta"}}, {"config.json": {"model_type": "deberta-v2"}}
V5 = {"tokenizer.json": "classes/v5_unigram.json"}
BERT = {"vocab.txt": "classes/vocab.txt"} | V2


def settings(**values):
    return {"tokenizer_config.json": values}


def named(name, **values):
    return settings(tokenizer_class=name, **values)


def bert(**values):
    return BERT | named("BertTokenizer", **values)


MASK_TABLE = {
    "600": {"content": "[MASK]", "lstrip": True, "special": True},
    "601": {"content": "<n>", "special": False},
}
CASES = {
    "v2": SPM | V2,
    "v2 with byte pieces": {"spm.model": "bytes.model"} | V2,
    "v2, punctuation and lower case": SPM | V2 | settings(split_by_punct=True, do_lower_case=True),
    "v2, a table": SPM | V2 | settings(added_tokens_decoder=MASK_TABLE),
    "v2, older files": SPM
    | V2
    | {
        "added_tokens.json": {"[MASK]": 602, "<n>": 601},
        "special_tokens_map.json": {"cls_token": "[CLS]", "unk_token": {"content": "[UNK]", "normalized": True}},
    },
    "v2, other names": SPM | V2 | settings(cls_token="<n>", sep_token="</n>", mask_token=None),
    "v2, roles with flags": SPM
    | V2
    | settings(
        bos_token={"__type": "AddedToken", "content": "[CLS]", "rstrip": True},
        additional_special_tokens=["<n>", {"__type": "AddedToken", "content": "the", "single_word": True}],
    ),
    "v2, the fast class": SPM | V2 | named("DebertaV2TokenizerFast"),
    "v2, both files": SPM | V5 | V2,
    "v2, both files, the fast class": SPM | V5 | V2 | named("DebertaV2TokenizerFast"),
    "v2, an empty model beside tokenizer.json, the fast class": {"spm.model": ""}
    | V5
    | V2
    | named("DebertaV2TokenizerFast"),
    "v1": BYTES | V1,
    "v1, a space in front": BYTES | V1 | settings(add_prefix_space=True),
    "v1 beside a leftover spm.model": BYTES | SPM | V1,
    "v1 by name beside a leftover spm.model": BYTES | SPM | V2 | named("DebertaTokenizer"),
    "v1 by the configuration beside a leftover spm.model": BYTES
    | SPM
    | {"config.json": {"model_type": "deberta-v2", "tokenizer_class": "DebertaTokenizer"}},
    "v2 beside leftover BPE files": BYTES | SPM | V2,
    "v1 as version 5 writes it": {"tokenizer.json": "classes/v5_bytes.json"} | V1,
    "v1 as version 5 writes it, a space in front": {"tokenizer.json": "classes/v5_bytes.json"}
    | V1
    | settings(add_prefix_space=True),
    "v3 as version 5 writes it": V5 | V2,
    "BERT": bert(),
    "BERT, cased": bert(do_lower_case=False),
    "BERT, accents kept": bert(strip_accents=False),
    "BERT, cased without accents": bert(do_lower_case=False, strip_accents=True),
    "BERT, Chinese in words": bert(tokenize_chinese_chars=False),
    "BERT, words never split": bert(never_split=["a<n>the", "don't"]),
    "BERT, white space only": bert(do_basic_tokenize=False),
    "BERT as one file": {"tokenizer.json": "classes/bert.json"} | V2 | named("BertTokenizer"),
    "BERT as one file, cased": {"tokenizer.json": "classes/bert.json"}
    | V2
    | named("BertTokenizer", do_lower_case=False),
    "BERT as one file of no class": {"tokenizer.json": "classes/bert.json"}
    | V2
    | named("PreTrainedTokenizerFast", unk_token="[UNK]", cls_token="[CLS]", sep_token="[SEP]", pad_token="[PAD]"),
    "words parted by another program": SPM | V2 | named("DebertaV2JumanppTokenizer"),
    "Japanese BERT": SPM | V2 | named("BertJapaneseTokenizer"),
    "BPE files of a v2": BYTES | V2,
    "a SentencePiece model of a v1": SPM | V1,
}


def fill(folder, files):
    for name, source in files.items():
        if isinstance(source, str) and source:
            shutil.copyfile(GOLDEN / source, folder / name)
        else:
            (folder / name).write_text("" if source == "" else json.dumps(source), encoding="utf-8")


def answers(folder, is_fast):
    try:
        tokenizer = transformers.AutoTokenizer.from_pretrained(folder, use_fast=is_fast)
    except Exception:
        return "refuses"
    if tokenizer is False:
        return "refuses"
    encoded = [tokenizer(text) for text in TEXTS] + [tokenizer(*pair) for pair in PAIRS]
    none = [0] * 99
    return [{"ids": e["input_ids"], "types": e.get("token_type_ids", none)[: len(e["input_ids"])]} for e in encoded]


def make_bert():
    (HERE / "vocab.txt").write_text("\n".join(WORDS) + "\n", encoding="utf-8")
    with tempfile.TemporaryDirectory() as folder:
        transformers.BertTokenizerFast(vocab_file=str(HERE / "vocab.txt")).save_pretrained(folder)
        file = json.loads((pathlib.Path(folder) / "tokenizer.json").read_text(encoding="utf-8"))
        (HERE / "bert.json").write_text(json.dumps(file, ensure_ascii=False) + "\n", encoding="utf-8")


def main():
    warnings.filterwarnings("ignore")
    transformers.logging.set_verbosity_error()
    make_bert()
    cases = []
    for name, files in CASES.items():
        with tempfile.TemporaryDirectory() as temporary:
            folder = pathlib.Path(temporary)
            fill(folder, files)
            cases.append({"name": name, "files": files, "slow": answers(folder, False), "fast": answers(folder, True)})
    lines = ",\n".join(json.dumps(case) for case in cases)
    text = f'{{"texts": {json.dumps(TEXTS)},\n"pairs": {json.dumps(PAIRS)},\n"cases": [\n{lines}]}}\n'
    (HERE / "golden.json").write_text(text, encoding="utf-8")


main()
