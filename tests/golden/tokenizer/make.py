"""Makes this folder: two small SentencePiece models and golden.json, what the reference programs make of texts.

Run: python3 tests/golden/tokenizer/make.py   (sentencepiece 0.2.3, transformers 4.57.6)
The models are trained on text that this script writes, so they contain nobody else's work. Training is not
bit-stable across versions of sentencepiece; `--keep-models` makes golden.json anew for the existing models.
"""

import argparse
import io
import json
import pathlib
import random
import shutil
import tempfile

import sentencepiece
import transformers

HERE = pathlib.Path(__file__).parent

SUBJECTS = (
    "the cat|a small dog|our neighbour|the old captain|every student|my sister|the night train|a red kite|nobody|the "
    "river"
).split("|")
VERBS = "walks|sings|remembers|carries|finds|opens|is watching|has forgotten|would like|cannot see".split("|")
OBJECTS = (
    "the house|an open window|a letter from Paris|the last page|two apples|a quiet song|the mountain|his hat|nothing|it"
).split("|")
TAILS = (
    "in the morning|again|without a word|for 25 years|at 10:30|before winter|, of course|and laughs|because of the "
    "rain|with care"
).split("|")
FOREIGN = [
    "Übergröße und Straße, schön wie früher.",
    "Il était une fois à l'école, déjà vu.",
    "¿Dónde está el niño mañana?",
    "Привет, как дела сегодня вечером?",
    "Καλημέρα σας, τι κάνετε;",
    "今日はとても良い天気ですね。",
    "人工智能改变世界。",
    "안녕하세요 여러분 반갑습니다",
    "السلام عليكم ورحمة الله",
    "สวัสดีครับทุกคน",
    "नमस्ते दुनिया",
]
SYMBOLS = ["<tag>", "@@user", "x y", "ﬁ"]  # one with a space, one that the normaliser would change


def training_text():
    rng = random.Random(17)
    lines = []
    for _ in range(6000):
        words = [rng.choice(SUBJECTS), rng.choice(VERBS), rng.choice(OBJECTS), rng.choice(TAILS)]
        line = " ".join(words).replace(" ,", ",")
        lines.append(
            line[0].upper() + line[1:] + rng.choice(".!?") + rng.choice(["", "", " (really)", " [1]", " -- yes"])
        )
        if rng.random() < 0.05:
            lines.append(rng.choice(FOREIGN))
        if rng.random() < 0.05:
            lines.append("code_" + str(rng.randint(1, 9999)) + " = f(x) + " + str(rng.random())[:6] + ";")
    return lines


def train(path, vocab_size, symbols, byte_fallback, rules):
    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(training_text()),
        model_writer=model,
        vocab_size=vocab_size,
        model_type="unigram",
        byte_fallback=byte_fallback,
        user_defined_symbols=symbols,
        normalization_rule_name=rules,
        pad_id=0,
        bos_id=1,
        eos_id=2,
        unk_id=3,
        pad_piece="[PAD]",
        bos_piece="[CLS]",
        eos_piece="[SEP]",
        unk_piece="[UNK]",
        hard_vocab_limit=False,
        character_coverage=0.9995,
        minloglevel=2,
        num_threads=1,
    )
    path.write_bytes(model.getvalue())


TEXTS = """
hello world
The cat walks the house in the morning.
  leading and trailing  \x20
a  b   c
tab\tand\u00a0no-break\u3000wide
)))
)))))) ))) ()((
---- ==== ____ ....
3.14159 25 years 10:30
naïve café déjà vu
nai\u0308ve cafe\u0301 de\u0301ja\u0300
e\u0301\u0302\u0303 o\u0308\u0304
ﬁnd the ﬂight, oﬃce, ﬆop ĳ ŉ
Ｆｕｌｌ　ｗｉｄｔｈ １２３！
①②③ ㍿ ㌔ ½ ™ ℃ № …
ﷺ ﷽ ﷲ
¨ ´ ¸ ˘ ˙
😀 😃👍🏽 👨‍👩‍👧‍👦 🇩🇪🇫🇷 ❤️ 🏳️‍🌈 1️⃣
👨‍👩‍👧‍👦👨‍👩‍👧‍👦👨‍👩‍👧‍👦
مرحبا بالعالم ﻻ ﻼ
שָׁלוֹם עוֹלָם
สวัสดีครับทุกคน กำ น้ำ
今日はとても良い天気ですね。ｶﾀｶﾅ ﾊﾟ がか゛
안녕하세요 \u1112\u1161\u11ab\u1100\u1173\u11af ㄱㄴㄷ
नमस्ते दुनिया क्ष
Привет Ёлка й и\u0306
Καλημέρα Σίσυφος ς
谛𠮷𝒳 𝐛𝐨𝐥𝐝 𝔻 \U0002f800
a\u200bb\u200cc\u200dd\ufeffe\u2060f
a\u00adb soft
\u0001\u0002 control \u007f \u0085 x
nul\u0000inside \u0000 \u0000\u0000
line\u2028separator\u2029paragraph
▁literal ▁ symbol ▁▁ x▁y
<tag> <tag>x a<tag>b <tag><tag>
@@user @@@user x@@user
x y x  y xx yy
ﬁ ﬁﬁ xﬁx
<unk> <s> </s> <0x41> <0xE2>
[CLS]
[SEP] [PAD] [UNK] [MASK]
a [MASK] b
a[MASK]b
a  [MASK]  b
[MASK]
[MASK][MASK] [MASK]
 [MASK]\x20
[MASK].
the [MASK], the dog
[MASK
MASK]
[[MASK]]
[mask] [Mask]
The [SEP] cat[SEP]walks [CLS]
I [UNK] it
[PAD]x[PAD]
x [MASK]\ty
[MASK]\u3000[MASK]
.[MASK]! ?[SEP],
can't won't it's I'd
http://example.org/a?b=c&d=%20e#f
a@b.example, #tag $5 €6 £7
C++ c# .NET f(x)=x**2;
snake_case camelCase kebab-case
ALLCAPS lowercase MiXeD
\ufffd \ufffe \uffff \U0010ffff
\u0300 \u0300x x\u0300\u0300\u0300
\u093e\u0939 \u0e33
\u115f\u1160 \uffa0 \u3164
\u202eabc\u202c \u2066x\u2069
\ue000 \U000f0000
""".strip("\n").split("\n")
TEXTS = [
    text.encode("latin-1", "backslashreplace").decode("unicode_escape") if "\\" in text else text for text in TEXTS
]


def all_texts():
    rng = random.Random(5)
    texts = ["", " ", "\t \u3000", "\n", "a", "\u0301", "😀", *TEXTS]
    texts += [
        "a" * 300,
        "ab" * 200,
        " " * 50 + "x" + " " * 50,
        "\u0301" * 60,
        "é" * 80,
        "😀\u200d" * 30,
        "谛" * 40,
        ")" * 77,
        "-" * 99,
    ]
    words = [word for text in TEXTS for word in text.split(" ") if word]
    specials = ["[MASK]", "[SEP]", "[CLS]", "[UNK]", "[PAD]"]
    spaces = ["", " ", "  ", "\t", "\n", "\u00a0", "\u3000", "\u200b"]
    for _ in range(150):
        texts.append("".join(rng.choice(words) + rng.choice(spaces) for _ in range(rng.randint(1, 8))))
    for _ in range(80):
        texts.append(
            "".join(
                rng.choice(specials if rng.random() < 0.4 else words) + rng.choice(spaces)
                for _ in range(rng.randint(1, 8))
            )
        )
    return texts


PAIRS = [
    ("the cat", "a dog sings"),
    ("", ""),
    ("", "x"),
    ("a", ""),
    ("[MASK] a", "b [SEP] c"),
    ("the old captain " * 5, "yes"),
    ("no", "every student remembers " * 5),
    ("a b c d e f", "g h i j k l"),
    ("😀😀😀", "谛 谛"),
]
LIMITS = [3, 4, 5, 7, 8, 12, 20, 64]

# Folders with JSON files: the slow tokenizer says what each must do.
CONFIGS = {
    "flags": {
        "added_tokens_decoder": {
            "1": {"content": "[CLS]", "special": True},
            "2": {"content": "[SEP]", "special": True},
            "900": {"content": "[MASK]", "lstrip": True, "special": True},
            "901": {"content": "<right>", "rstrip": True},
            "902": {"content": "<both>", "lstrip": True, "rstrip": True},
            "903": {"content": "word", "single_word": True},
            "904": {"content": "wordy"},
            "905": {"content": " in "},
        }
    },
    "lower": {
        "do_lower_case": True,
        "added_tokens_decoder": {
            "900": {"content": "[MASK]", "special": True},
            "901": {"content": "NORM", "normalized": True},
            "902": {"content": "RAW", "normalized": False},
        },
    },
    "punct": {"split_by_punct": True},
    "legacy": {
        "mask_token": "<mask>",
        "additional_special_tokens": ["<extra>", {"__type": "AddedToken", "content": "<e2>", "lstrip": True}],
    },
}
CONFIG_TEXTS = [
    "a [MASK] b",
    "a  [MASK]  b[MASK]c",
    "x <right>  y <right>",
    " <both> a \t<both>\u3000b",
    "word",
    "a word b",
    "aword b",
    "word, words",
    "wordy word wordword",
    "the cat in the house",
    "in in  in",
    "[MASK] word",
    "word[MASK]",
    "[SEP]word",
    "word word",
    "The CAT [MASK] NORM RAW raw norm",
    "ΑΣ ΌΔΟΣ İSTANBUL ǅ Ⅷ Ⓐ ẞ",
    "[mask] [Mask] [UNK]",
    "well,yes! (no) 'it' “q” a-b c_d $5 ¿x?",
    "<mask> <extra> <e2> a <e2>",
    "a<extra>b <mask>.",
]


def save(folder, files):
    for name, content in files.items():
        (folder / name).write_text(json.dumps(content), encoding="utf-8")


def slow_tokenizer(model, files):
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        shutil.copy(model, folder / "spm.model")
        save(folder, files)
        return transformers.DebertaV2Tokenizer.from_pretrained(folder)


def config_files():
    legacy = {
        "special_tokens_map.json": {"mask_token": {"content": "<mask>", "lstrip": True}, "unk_token": "[UNK]"},
        "added_tokens.json": {"<mask>": 900, "<extra>": 901},
    }
    return {
        name: {"tokenizer_config.json": config, **(legacy if name == "legacy" else {})}
        for name, config in CONFIGS.items()
    }


def golden_of(model, texts):
    transformers.logging.set_verbosity_error()
    spm = sentencepiece.SentencePieceProcessor(model_file=str(model))
    slow = slow_tokenizer(model, {})
    result = {
        "plain": [spm.encode(text) for text in texts],
        "decoded": [spm.decode(spm.encode(text)) for text in texts],
        "slow": [slow(text)["input_ids"] for text in texts],
        "pairs": [],
        "single": [],
    }
    for first, second in PAIRS:
        for limit in LIMITS:
            for side in ("right", "left"):
                slow.truncation_side = side
                cut = slow(first, second, truncation=True, max_length=limit)
                result["pairs"].append([first, second, limit, side, cut["input_ids"], cut["token_type_ids"]])
                cut = slow(first, truncation=True, max_length=limit)
                result["single"].append([first, limit, side, cut["input_ids"]])
    return result


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--keep-models", action="store_true")
    if not parser.parse_args().keep_models:
        train(HERE / "bytes.model", 1000, SYMBOLS, True, "nmt_nfkc")
        train(HERE / "unknown.model", 600, [], False, "identity")  # no rules: they would take up most of the file
    texts = all_texts()
    golden = {
        "made_with": {"sentencepiece": sentencepiece.__version__, "transformers": transformers.__version__},
        "texts": texts,
        "models": {name: golden_of(HERE / f"{name}.model", texts) for name in ("bytes", "unknown")},
        "configs": [],
    }
    for name, files in config_files().items():
        slow = slow_tokenizer(HERE / "bytes.model", files)
        golden["configs"].append(
            {"name": name, "files": files, "texts": [[text, slow(text)["input_ids"]] for text in CONFIG_TEXTS]}
        )
    text = json.dumps(golden, ensure_ascii=True, separators=(",", ":"))
    (HERE / "golden.json").write_text(
        text.replace('"models":', '\n"models":\n').replace("],[", "],\n[") + "\n", encoding="ascii"
    )


if __name__ == "__main__":
    main()
