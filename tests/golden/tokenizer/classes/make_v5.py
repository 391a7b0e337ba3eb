"""Makes v5_unigram.json and v5_bytes.json of this folder: what transformers 5 writes as tokenizer.json for
../unknown.model (v2, v3) and for ../bpe (v1), and v5_config.json, its tokenizer_config.json.

Run: python3 tests/golden/tokenizer/classes/make_v5.py   (transformers 5.23.0, tokenizers, sentencepiece, protobuf)
"""

import json
import pathlib
import shutil
import tempfile

import transformers

HERE = pathlib.Path(__file__).resolve().parent
GOLDEN = HERE.parent


def write(model_type, files, name):
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        for target, source in files.items():
            shutil.copyfile(source, folder / target)
        (folder / "config.json").write_text(json.dumps({"model_type": model_type}), encoding="utf-8")
        transformers.AutoTokenizer.from_pretrained(folder).save_pretrained(folder / "out")
        file = json.loads((folder / "out/tokenizer.json").read_text(encoding="utf-8"))
        (HERE / name).write_text(json.dumps(file, ensure_ascii=False) + "\n", encoding="utf-8")
        return (folder / "out/tokenizer_config.json").read_text(encoding="utf-8")


def main():
    config = write("deberta-v2", {"spm.model": GOLDEN / "unknown.model"}, "v5_unigram.json")
    (HERE / "v5_config.json").write_text(config, encoding="utf-8")
    write(
        "deberta", {"vocab.json": GOLDEN / "bpe/vocab.json", "merges.txt": GOLDEN / "bpe/merges.txt"}, "v5_bytes.json"
    )


main()
