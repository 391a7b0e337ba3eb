// Seeds that are text: small, one for each form and each way to break it.
#pragma once
#include <string_view>

namespace deberta::fuzz {

inline constexpr std::string_view kIndexSeeds[] = {
    R"({"metadata": {"total_size": 8}, "weight_map": {"deberta.one": "one.safetensors", "deberta.two": "two.safetensors"}})",
    R"({"weight_map": {"deberta.one": "one.safetensors"}})",
    R"({"weight_map": {"deberta.one": "two.safetensors"}})",
    R"({"weight_map": {"deberta.one": "../one.safetensors"}})",
    R"({"weight_map": {"deberta.one": "/etc/passwd"}})",
    R"({"weight_map": {"deberta.one": "none.safetensors"}})",
    R"({"weight_map": {"a": 1}})",
    R"({"weight_map": {}})",
    R"({"weight_map": []})",
    "{}",
    "[]"};

inline constexpr std::string_view kManifestSeeds[] = {
    R"({"format": 1, "files": {"config.json": {"bytes": 12, "sha256": "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"}, "model.safetensors": {"bytes": 9007199254740993, "sha256": "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"}}})",
    R"({"format": 1, "files": {"trainer/state.json": {"bytes": 1, "sha256": "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"}, "trainer/../a": {"bytes": 1, "sha256": "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"}}})",
    R"({"format": 1, "files": {}})",
    R"({"format": 2, "files": []})",
    R"({"format": 1, "files": {"../a": {"bytes": 1, "sha256": "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"}}})",
    R"({"format": 1, "files": {"a": {"bytes": -1, "sha256": "A"}}})",
    R"({"format": 1, "files": {"a": {"bytes": 1, "sha256": "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", "x": 1}}})"};

// Numbers of a calibration: 2^-60, 2^60 and their outer neighbours, zeros, a denormal, infinity, NaN, a negative one.
using namespace std::string_view_literals;
inline constexpr std::string_view kMultiplierSeeds[] = {
    "\x00\x00\x80\x21"sv, "\x00\x00\x80\x5D"sv, "\xFF\xFF\x7F\x21"sv, "\x01\x00\x80\x5D"sv, "\x00\x00\x00\x00"sv,
    "\x00\x00\x00\x80"sv, "\x01\x00\x00\x00"sv, "\x00\x00\x80\x7F"sv, "\x01\x00\xC0\x7F"sv, "\x00\x00\x80\xBF"sv};

// A part of the header of a valid calibration, and what replaces it.
struct Replacement {
  std::string_view from, to;
};
inline constexpr Replacement kCalibrationHeaderSeeds[] = {{"layer.0.attention.self", "layer.1.attention.self"},
                                                          {"layer.0.attention.self", "layer.00.attention.self"},
                                                          {"output.dense.reciprocal", "output.dense.weight"},
                                                          {"[32]", "[31]"},
                                                          {"[32]", "[4,8]"},
                                                          {"[32]", "[]"},
                                                          {"F32", "I32"},
                                                          {"\"0.5\"", "\"nan\""},
                                                          {"\"0.5\"", "\"1e-400\""},
                                                          {"\"3\"", "\"0\""},
                                                          {"\"17\"", "\"18446744073709551616\""},
                                                          {"format", "form"},
                                                          {"\"1\"", "\"2\""},
                                                          {"00000000", "0000000a"}};

inline constexpr std::string_view kMergesSeeds[] = {
    "{\"a\": 0, \"b\": 1, \"ab\": 2, \"aba\": 3}\n#version: 0.2\na b\nab a\n",
    "{\"a\": 0, \"b\": 1, \"ab\": 5}\n#version: 0.2\r\na b\r\n",
    "{\"a\": 0, \"b\": 0}\n#version: 0.2\n",
    "{\"a\": -1}\n#version: 0.2\na b c\n",
    "{\"a\": 0, \"aa\": 1, \"aaa\": 2, \"aaaa\": 3}\n#version: 0.2\na a\naa a\naa aa\n",
    "{\"a\": 1.5}\n#version: 0.2\na a\na a\n",
    "{\"\xC4\xA0\": 0, \"t\": 1, \"\xC4\xA0t\": 2}\n#version: 0.2\n\xC4\xA0 t\n"};

inline constexpr std::string_view kTokenizerJsonSeeds[] = {
    R"({"added_tokens": [{"id": 0, "content": "[PAD]", "special": true, "normalized": false}, {"id": 1, "content": "[CLS]", "special": true, "normalized": false}, {"id": 2, "content": "[SEP]", "special": true, "normalized": false}, {"id": 3, "content": "[UNK]", "special": true, "normalized": false}], "normalizer": null, "pre_tokenizer": {"type": "Metaspace", "replacement": "\u2581", "add_prefix_space": true}, "decoder": null, "post_processor": {"type": "BertProcessing", "cls": ["[CLS]", 1], "sep": ["[SEP]", 2]}, "model": {"type": "Unigram", "vocab": [["[PAD]", 0], ["[CLS]", 0], ["[SEP]", 0], ["[UNK]", 0], ["\u2581", -3.5], ["a", -4.0], ["\u2581ab", -5]], "unk_id": 3}})",
    R"({"added_tokens": [{"id": 0, "content": "[PAD]", "special": true, "normalized": false}, {"id": 1, "content": "[CLS]", "special": true, "normalized": false}, {"id": 2, "content": "[SEP]", "special": true, "normalized": false}, {"id": 3, "content": "[UNK]", "special": true, "normalized": false}], "normalizer": {"type": "Sequence", "normalizers": [{"type": "Replace", "pattern": {"String": "x"}, "content": "a"}, {"type": "Strip", "strip_left": true, "strip_right": true}, {"type": "Lowercase"}]}, "pre_tokenizer": {"type": "Metaspace", "replacement": "\u2581", "add_prefix_space": true}, "decoder": null, "post_processor": {"type": "BertProcessing", "cls": ["[CLS]", 1], "sep": ["[SEP]", 2]}, "model": {"type": "Unigram", "vocab": [["[PAD]", 0], ["[CLS]", 0], ["[SEP]", 0], ["[UNK]", 0], ["\u2581", -3.5], ["a", -4.0], ["\u2581ab", -5]], "unk_id": 3}})",
    R"({"added_tokens": [{"id": 0, "content": "[PAD]", "special": true, "normalized": false}, {"id": 1, "content": "[CLS]", "special": true, "normalized": false}, {"id": 2, "content": "[SEP]", "special": true, "normalized": false}, {"id": 3, "content": "[UNK]", "special": true, "normalized": false}], "normalizer": null, "pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": false, "trim_offsets": true, "use_regex": true}, "decoder": {"type": "ByteLevel"}, "post_processor": {"type": "BertProcessing", "cls": ["[CLS]", 1], "sep": ["[SEP]", 2]}, "model": {"type": "BPE", "vocab": {"[PAD]": 0, "[CLS]": 1, "[SEP]": 2, "[UNK]": 3, "a": 4, "b": 5, "ab": 6, "\u0120": 7}, "merges": ["a b"]}})",
    R"({"added_tokens": [{"id": 0, "content": "[PAD]", "special": true, "normalized": false}, {"id": 1, "content": "[CLS]", "special": true, "normalized": false}, {"id": 2, "content": "[SEP]", "special": true, "normalized": false}, {"id": 3, "content": "[UNK]", "special": true, "normalized": false}], "normalizer": null, "pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": false, "trim_offsets": true, "use_regex": true}, "decoder": {"type": "ByteLevel"}, "post_processor": {"type": "BertProcessing", "cls": ["[CLS]", 1], "sep": ["[SEP]", 2]}, "model": {"type": "BPE", "vocab": {"[PAD]": 0, "[CLS]": 1, "[SEP]": 2, "[UNK]": 3, "a": 4, "b": 5, "ab": 6, "\u0120": 7}, "merges": [["a", "b"]]}})",
    // As version 5 of transformers writes v3; BERT's; cut at punctuation.
    R"({"added_tokens": [], "normalizer": {"type": "Sequence", "normalizers": [{"type": "Replace", "pattern": {"Regex": "\\s{2,}|[\\n\\r\\t]"}, "content": " "}, {"type": "NFC"}, {"type": "Strip", "strip_left": false, "strip_right": true}]}, "pre_tokenizer": {"type": "Sequence", "pretokenizers": [{"type": "Punctuation", "behavior": "Isolated"}, {"type": "Digits", "individual_digits": true}, {"type": "Metaspace", "replacement": "\u2581", "prepend_scheme": "always", "split": true}]}, "post_processor": {"type": "TemplateProcessing", "single": [{"SpecialToken": {"id": "c", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}}, {"SpecialToken": {"id": "s", "type_id": 0}}], "pair": [{"SpecialToken": {"id": "c", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}}, {"SpecialToken": {"id": "s", "type_id": 0}}, {"SpecialToken": {"id": "s", "type_id": 0}}, {"Sequence": {"id": "B", "type_id": 0}}, {"SpecialToken": {"id": "s", "type_id": 0}}], "special_tokens": {"c": {"id": "c", "ids": [1], "tokens": ["c"]}, "s": {"id": "s", "ids": [2], "tokens": ["s"]}}}, "decoder": null, "model": {"type": "Unigram", "vocab": [["p", 0], ["c", 0], ["s", 0], ["u", 0], ["\u2581", -3.5], ["a", -4.0]], "unk_id": 3}})", R"({"added_tokens": [{"id": 0, "content": "x", "single_word": true, "normalized": true}], "normalizer": {"type": "BertNormalizer", "clean_text": true, "handle_chinese_chars": true, "strip_accents": null, "lowercase": true}, "pre_tokenizer": {"type": "BertPreTokenizer"}, "post_processor": {"type": "RobertaProcessing", "cls": ["c", 1], "sep": ["s", 2]}, "decoder": {"type": "WordPiece", "prefix": "##", "cleanup": true}, "model": {"type": "WordPiece", "unk_token": "u", "continuing_subword_prefix": "##", "max_input_chars_per_word": 100, "vocab": {"x": 0, "c": 1, "s": 2, "u": 3, "a": 4, "##b": 5}}})"};

// A Unigram document in parts, each of which is replaced.
inline constexpr std::string_view kUnigramBefore = R"({"added_tokens":[],"normalizer":)";
inline constexpr std::string_view kUnigramAfterNormalizer =
    R"(,"decoder":null,"post_processor":{"type":"BertProcessing","cls":["c",1],"sep":["s",2]},"pre_tokenizer":{"type":"Metaspace","replacement":"\u2581","add_prefix_space":true},"model":{"type":"Unigram","vocab":[["p",0],["c",0],["s",0],["u",0],["\u2581",-3.5],["a",-4.0]],"unk_id":3}})";
inline constexpr std::string_view kNormalizerSeeds[] = {
    R"({"type":"NFC"})",
    R"({"type":"NFD"})",
    R"({"type":"Sequence","normalizers":[{"type":"NFD"},{"type":"StripAccents"}]})",
    R"({"type":"Lowercase"})",
    R"({"type":"Strip","strip_left":false,"strip_right":true})",
    R"({"type":"Precompiled","precompiled_charsmap":"AAAA"})",
    R"({"type":"Precompiled","precompiled_charsmap":"=A"})",
    R"({"type":"Replace","pattern":{"Regex":" {2,}"},"content":"\u2581"})",
    R"({"type":"Replace","pattern":{"Regex":"(a+)+b"},"content":""})",
    R"({"type":"Replace","pattern":{"String":""},"content":"x"})",
    R"({"type":"Replace","pattern":{"String":"a"},"content":"aa"})",
    R"({"type":"BertNormalizer","clean_text":false,"handle_chinese_chars":true,"strip_accents":true,"lowercase":false})",
    R"({"type":"Sequence","normalizers":[]})",
    R"({"type":"Sequence","normalizers":[{"type":"Sequence","normalizers":[{"type":"NFC"}]}]})",
    R"({"type":"NFKC"})"};

inline constexpr std::string_view kUnigramBeforeCuts =
    R"({"added_tokens":[{"id":6,"content":"[M]","special":true,"lstrip":true,"rstrip":true}],"normalizer":null,"pre_tokenizer":{"type":"Sequence","pretokenizers":[)";
inline constexpr std::string_view kUnigramAfterCuts =
    R"({"type":"Metaspace","replacement":"\u2581","prepend_scheme":"never","split":false}]},"post_processor":null,"decoder":{"type":"Sequence","decoders":[{"type":"ByteFallback"},{"type":"Fuse"}]},"model":{"type":"Unigram","vocab":[["p",0],["c",0],["s",0],["u",0],["\u2581",-3.5],["a",-4.0]],"unk_id":3}})";
inline constexpr std::string_view kPreTokenizerSeeds[] = {
    "",
    R"({"type":"WhitespaceSplit"},)",
    R"({"type":"Whitespace"},)",
    R"({"type":"Digits","individual_digits":false},)",
    R"({"type":"CharDelimiterSplit","delimiter":"\u00e9"},)",
    R"({"type":"Punctuation","behavior":"MergedWithPrevious"},)",
    R"({"type":"Punctuation","behavior":"MergedWithNext"},)",
    R"({"type":"Punctuation","behavior":"Contiguous"},)",
    R"({"type":"Punctuation","behavior":"Removed"},)",
    R"({"type":"Split","pattern":{"String":"a"},"behavior":"Isolated","invert":true},)",
    R"({"type":"Split","pattern":{"String":"aa"},"behavior":"MergedWithNext","invert":false},)",
    R"({"type":"BertPreTokenizer"},)"};

inline constexpr std::string_view kUnigramBeforeModel =
    R"({"added_tokens":null,"normalizer":null,"pre_tokenizer":{"type":"Metaspace","replacement":"\u2581"},"post_processor":null,"decoder":null,"model":)";
inline constexpr std::string_view kUnigramModelSeeds[] = {
    R"({"type":"Unigram","vocab":[["u",0],["<0x41>",-1],["<0xC3>",-1],["\u2581a",-1e30]],"unk_id":0,"byte_fallback":true})",
    R"({"type":"Unigram","vocab":[["u",1e39],["a",-0.0],["b",1e-46]],"unk_id":0})",
    R"({"type":"Unigram","vocab":[["u",0],["a",1e400]],"unk_id":0})",
    R"({"type":"Unigram","vocab":[["u",0],["u",0]],"unk_id":0})",
    R"({"type":"Unigram","vocab":[["u",0],["\ud800",0]],"unk_id":2})",
    R"({"type":"Unigram","vocab":[["aaaaaaaaaaaaaaaaaaaaaaaa",0],["a",0],["aa",-1]],"unk_id":4294967296})",
    R"({"type":"Unigram","vocab":[],"unk_id":0})",
    R"({"type":"WordPiece","unk_token":"u","continuing_subword_prefix":"","max_input_chars_per_word":0,"vocab":{"u":0,"a":1}})",
    R"({"type":"WordLevel","unk_token":"u","vocab":{"u":0}})"};

// For byte-level BPE: how words are split, and the list of merges.
inline constexpr std::string_view kByteLevelSeeds[] = {
    R"({"type":"ByteLevel","add_prefix_space":true,"use_regex":true})",
    R"({"type":"Sequence","pretokenizers":[{"type":"Split","pattern":{"Regex":"'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)|\\s+"},"behavior":"Isolated","invert":false},{"type":"ByteLevel","add_prefix_space":false,"use_regex":false}]})"};
inline constexpr std::string_view kMergeListSeeds[] = {"[]", R"(["a b","a b"])", R"(["a  b"])", R"([["ab","ab"]])",
                                                       R"(["\u0120 a"])"};

// vocab.txt, NUL, tokenizer_config.json.
inline constexpr std::string_view kVocabTxtSeeds[] = {
    "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\na\nb\n##b\n##\xCC\x81\ndon\n'\nt\n\xE8\xB0\x9B\r\n\ne\n",
    std::string_view(
        "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\na\0{\"tokenizer_class\": \"BertTokenizer\", \"do_lower_case\": false, "
        "\"strip_accents\": true, \"never_split\": [\"don't\"], \"tokenize_chinese_chars\": false}",
        175)};

inline constexpr std::string_view kTextSeeds[] = {
    "",
    " ",
    "hello world",
    "The cat walks the house, it's 42!  ",
    "[CLS] a [SEP] b [MASK]",
    "a\tb\r\nc\xE3\x80\x80"
    "d",
    "\xC3\xA9\xCC\x81 \xE4\xBB\x8A\xE6\x97\xA5 \xF0\x9F\x91\xA9\xE2\x80\x8D\xF0\x9F\x91\xA7",
    "\xE2\x96\x81\xE2\x96\x81 x",
    "\xEF\xBC\xA1\xE2\x91\xA0\xEF\xAC\x81",
    "\xFF\xC0\x80\xED\xA0\x80\xF4\x90\x80\x80",
    "\xEF\xBF\xBD\xEF\xBF\xBE\x01\x7F",
    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"};

inline constexpr std::string_view kConfigSeeds[] = {
    R"({"vocab_size": 100})",
    R"({"vocab_size": 100, "model_type": "deberta-v2", "pos_att_type": ["c2p", "p2c"], "relative_attention": true, "position_buckets": 256})",
    R"({"vocab_size": 100, "pos_att_type": "p2c|c2p", "norm_rel_ebd": "layer_norm", "share_att_key": true})",
    R"({"vocab_size": 100, "conv_kernel_size": 3, "conv_act": "gelu", "conv_groups": 2})",
    R"({"vocab_size": 100, "id2label": {"0": "a", "1": "b"}, "label2id": {"a": 0, "b": 2}})",
    R"({"vocab_size": 100, "pooling": {"dropout": 0, "hidden_act": "gelu"}, "padding_idx": 0})",
    R"({"vocab_size": 1e309, "hidden_size": -1, "layer_norm_eps": NaN})",
    R"({"vocab_size": 9223372036854775808})",
    R"({"vocab_size": 100, "vocab_size": 100})",
    R"({"vocab_size": 100.0, "a": [1000000000000000019884624838656, NaN, -Infinity, 1e400], "\ud800": "\udc00\ud83d\ude00"})",
    R"({"model_type": "deberta", "pos_att_type": {"c2p": 0}, "relative_attention": "false", "id2label": {" 0_1": null, "+2": 5}})",
    R"({"vocab_size": 100, "pooler_hidden_act": null, "hidden_act": "gelu_new", "position_buckets": false, "layer_norm_eps": true})",
    R"({"hidden_act": "__import__", "vocab_size": 01})",
    R"({"a": "\ud800", "b": "\u0041", /* no */ "c": [1,]})",
    R"([[[[[[[[[[[[[[[[[]]]]]]]]]]]]]]]]])"};

inline constexpr std::string_view kOptionSeeds[] = {
    "classify\n-m\nmodel\n--top-k\n3\n--raw\na text",
    "fill\n--emd\noff\n--targets=a,b\nenv DEBERTA_MAX_TOKENS=12",
    "ner\n--aggregate\nfirst\nconfig {\"max-tokens\": 10, \"ignore-labels\": [\"O\", \"X\"]}",
    "embed\n-f\njsonl\n-i\n-\n--input-format\ncsv\n--batch-tokens\n16k",
    "info\n--batch-sise\n3",
    "zero-shot\n--labels\na,b\n--labels\nc\n-i\nx,y\n-i\nz\nconfig {\"input\": [\"p\", \"q\"], \"labels\": []}",
    "ner\n-f\njson\n--format\ntsv",
    "check\n--\n-m\n-x",
    "tokenize\n-fjson\n--no-special\n--offsets=utf16\nenv DEBERTA_THREADS=999999999999999999999",
    "--help",
    "help\nclassify",
    "forward\n--threads\n-1\n--quiet=maybe"};

inline constexpr std::string_view kLineSeeds[] = {"",
                                                  "a\nb\r\n\nc",
                                                  "\xEF\xBB\xBFx\n",
                                                  "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\nbb\n",
                                                  "a\rb\r\rc",
                                                  "\xFF\xFE"
                                                  "a\0\n\0\x3D\xD8\0\xDE\0\xD8"sv,
                                                  "\xFE\xFF\0a\0\n\xDC\0"sv,
                                                  "PK\x03\x04",
                                                  "BZh9",
                                                  "a\0b"sv};

inline constexpr std::string_view kJsonLineSeeds[] = {
    "{\"text\": \"a\", \"text_pair\": \"b\", \"id\": 1}\n\n[1, 2.5, null]\r\n\"x\"",
    "\xEF\xBB\xBF{}\n{\"a\": 1, \"a\": 2}\n{\"a\": 1,}\n[1e309]\nNaN\n01\n// no\n",
    "\"\\ud800\"\n\"\\ud83d\\ude00\"\n9223372036854775808\n-9223372036854775808\n",
    "[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]\n{\"\\u0000\": \"\xFF\"}\n",
    "1\n-0\n0.5\n-1e-46\n1e39\n16777217\n4294967297\n9007199254740993\n1E+2\n.5\n1.\n-\n",
    "true\nfalse\nnull\nTrue\ntru\n\"open\n{\"a\"\n{\"a\" 1}\n{a: 1}\n{'a': 1}\n",
    "{\"a\": {\"b\": [{\"c\": [[], {}, \"\"]}]}}\n[]\n{}\n\"\"\n[[]\n",
    "\"\\b\\f\\n\\r\\t\\/\\\\\\\"\"\n\"\\x41\"\n\"\\u12\"\n\"\t\"\n\"\x7F\xC2\x80\xF4\x8F\xBF\xBF\"\n\"\xC0\x80\"\n",
    "{\"a\": 1} x\n{\"a\": 1}{\"b\": 2}\n \t{\"a\": 1}\t \n\n\r\n \n{\"a\": 1}",
    "{\"id\": \"1\", \"question\": \"q\", \"context\": \"c\", \"answers\": {\"text\": [\"c\"], \"answer_start\": "
    "[0]}}\r{\"\": 1}"};

inline constexpr std::string_view kColumnSeeds[] = {
    "a,b\n1,2\n\"x,\"\"y\nz\",\"\"\n1\n1,2,3\n", "a\tb\n1\t2\n\"x\ty\n\n", "a\"b,c\n\"x\"y,z\n\"open\n",
    "-DOCSTART- -X- O O\n\nEU NNP B-NP B-ORG\nrejects VBZ B-VP O\n\n. . O O\n",
    "a\tO\nb\t\tO\n\nc\n\n1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17\n\xFF O\r\n"};

// Each is read in every form of a task and as lines and tables.
inline constexpr std::string_view kExampleSeeds[] = {
    R"({"text": "a", "pair": ["b", {"text": "c"}], "labels": [1, 0], "scores": [2, -1]})",
    "text,pair,label\na,b,1\na,c,0\nd,e,0.5\na,f,1\n",
    R"({"text": "a", "pos": "b", "neg": ["c"], "margin": 1.5})",
    "text\tlabel\tgenre\nna\xC3\xAFve\t1\tfiction\nb\t-\t\nshort\n",
    "gj04\t1\t*\tA sentence .\n",
    "premise,hypothesis,label\r\n\"a, \"\"b\"\"\",c,neutral\r\n",
    ",sent1,sent2,ending0,ending1,ending2,ending3,label\n0,a,b,c,d,e,f,3\n",
    "[{\"text\": \"a\", \"label\": [\"x\", \"y\"]},\n {\"text\": 5}]\n",
    R"({"idx": 3, "text": "a", "pair": "b", "label": true})",
    R"({"sentence1": "A caf\u00e9 .", "sentence2": "Caf\u00e9s", "start1": 2, "end1": 6, "start2": 0, "end2": 5, "label": false})",
    R"({"text": "Mr. Singer 's heels hurt him.", "target": {"span1_text": "mr. singer", "span1_index": 0, "span2_text": "him", "span2_index": 4}})",
    R"({"passage": {"text": "P", "questions": [{"question": "Q", "answers": [{"text": "A", "idx": 9, "label": 1}, {"text": 4}]}]}})",
    R"({"passage": {"text": "Caf\u00e9 Ada", "entities": [{"start": 5, "end": 7}]}, "qas": [{"query": "@placeholder", "idx": 8, "answers": [{"start": 5, "end": 7, "text": "Ada"}]}]})",
    R"({"premise": "p", "choice1": "a", "choice2": "b", "question": "effect", "label": 0, "idx": 4})",
    R"({"obs1": "a", "obs2": "b", "hyp1": "c", "hyp2": "d", "label": "2", "story_id": "s"})",
    R"({"article": "P", "id": "1.txt", "questions": ["q", 1], "options": [["a", "b"], ["c"]], "answers": ["B", "A"]})"};

inline constexpr std::string_view kEntitySeeds[] = {
    R"({"text": "Ada was in Rome", "entities": [{"start": 0, "end": 3, "label": "person"}], "labels": ["city"]})",
    R"({"tokenized_text": ["Ada", "King", "\u00e9"], "ner": [[0, 1, "person"], [2, 2, "x"]], "ner_negatives": []})",
    R"({"tokens": ["Ada", "King"], "ner_tags": ["B-PER", "I-PER"]})",
    R"({"words": ["a"], "labels": ["O"]})",
    R"({"text": " \ud83d\ude00 a ", "entities": [{"start": 0, "end": 4, "entity_group": "x", "score": 1}]})",
    "{\"text\": \"a\", \"entities\": []}\n{\"text\": 1}\n[]\n{\"tokenized_text\": [], \"ner\": [[0, 0, \"x\"]]}\n",
};

inline constexpr std::string_view kPredictionSeeds[] = {
    "index\tprediction\n0\tentailment\n1\t0.5\n",
    "0\t1\n7\t1\n7\t1\n",
    "{\"idx\": 0, \"label\": \"a\"}\n\n{\"id\": \"1\", \"prediction\": true}\n",
    R"({"idx": 0, "passage": {"questions": [{"answers": [{"idx": 3, "label": 1}, {"idx": 4, "label": 0.5}]}]}})",
    R"({"1": "a", "2": 5, "x": ""})",
    R"([{"idx": 1, "label": "a"}, {"idx": 2, "label": null}])"};

inline constexpr std::string_view kSquadSeeds[] = {
    "{\"version\": \"1.1\", \"data\": [{\"title\": \"T\", \"paragraphs\": [{\"context\": \"na\xC3\xAFve cat\", "
    "\"qas\": [{\"id\": \"1\", "
    "\"question\": \"q\", \"answers\": [{\"text\": \"cat\", \"answer_start\": 6}]}]}]}]}",
    "{\"version\": \"v2.0\", \"data\": [{\"title\": \"T\", \"paragraphs\": [{\"context\": \"c\", \"qas\": [{\"id\": "
    "\"1\", \"question\": \"q\", "
    "\"is_impossible\": true, \"answers\": [], \"plausible_answers\": [{\"text\": \"c\", \"answer_start\": 0}]}, "
    "{\"id\": \"1\"}]}]}]}",
    "{\"data\": [{\"paragraphs\": [{\"context\": \"\", \"qas\": [{\"id\": \"1\", \"question\": \"\", \"answers\": "
    "[{\"text\": \"x\", "
    "\"answer_start\": -1}]}]}]}]}",
    "{\"data\": []}",
    // Offsets past characters of several bytes or UTF-16 units; spaces around an answer; two answers of one question.
    R"({"version": "v2.0", "data": [{"title": "T", "paragraphs": [{"context": "\ud83d\ude00 e\u0301 \u4eca x ", "qas": [{"id": "1", "question": "?", "answers": [{"text": "\u4eca", "answer_start": 5}, {"text": " x ", "answer_start": 6}], "is_impossible": false}, {"id": "2", "question": "?", "answers": [{"text": "\ud83d\ude00", "answer_start": 0}]}]}]}]})",
    // One id twice, an answer at another place, one beyond the end, an empty one, an impossible question with an
    // answer.
    R"({"data": [{"title": "T", "paragraphs": [{"context": "cat cat", "qas": [{"id": "1", "question": "q", "answers": [{"text": "cat", "answer_start": 4}]}, {"id": "1", "question": "q", "answers": []}, {"id": "2", "question": "q", "answers": [{"text": "at", "answer_start": 0}]}, {"id": "3", "question": "q", "answers": [{"text": "cat", "answer_start": 8}]}, {"id": "4", "question": "q", "answers": [{"text": "", "answer_start": 7}]}, {"id": "5", "question": "q", "is_impossible": true, "answers": [{"text": "cat", "answer_start": 0}]}]}]}]})",
    // Several articles and paragraphs; questions without labels, as a test set has them.
    R"({"version": 2, "data": [{"paragraphs": [{"context": "a", "qas": []}, {"context": "b", "qas": [{"id": "1", "question": "q"}]}]}, {"title": 5, "paragraphs": []}, {"title": "U", "paragraphs": [{"context": "c", "qas": [{"id": "2", "question": "q", "is_impossible": false, "answers": [{"text": "c", "answer_start": 0}]}]}]}]})",
    // Wrong kinds of values.
    R"({"data": [{"paragraphs": [{"context": 5, "qas": []}]}]})", R"({"data": [{"paragraphs": {"context": "c"}}]})",
    R"({"data": [{"paragraphs": [{"context": "c", "qas": [{"id": 7, "question": null, "answers": {"text": "c"}}, {"id": "1", "question": "q", "is_impossible": 1}, {"id": "2", "question": "q", "answers": [{"text": "c", "answer_start": 4294967297}, {"text": "c", "answer_start": 0.0}, {"text": "c", "answer_start": "0"}]}]}]}]})",
    R"({"data": {}})", R"([{"paragraphs": []}])", R"({"version": NaN, "data": [], "data": [1]})",
    "\xEF\xBB\xBF{\"data\": [{\"paragraphs\": [{\"context\": \"\xFF\\ud800\", \"qas\": [{\"id\": \"1\", \"question\": "
    "\"\\u0000\", "
    "\"answers\": [{\"text\": \"\\ud800\", \"answer_start\": 1}]}]}]}]}"};

// Charts of each kind, with numbers at the ends of what doubles hold, and members that are wrong.
inline constexpr std::string_view kChartSeeds[] = {
    R"({"kind": "lines", "title": "loss <a>", "x": {"title": "step", "whole": true, "low": 0}, "y": {"spacing": "logarithmic_if_wide"}, "series": [{"name": "a & b", "points": [[0, 1], [1, 2000], [2, null], [3, 1e308]], "note": "2.5"}, {"joined": false, "points": [[1, 1], [1, 1]]}], "divisions": {"name": "resumed", "at": [1.5, -1e300]}, "width": 200})",
    R"({"kind": "lines", "title": "", "x": {"spacing": "logarithmic", "high": 1e300}, "y": {"spacing": "logarithmic"}, "series": [{"points": [[5e-324, 1e-300], [-1, 0], [1e300, 1e300], [1e-9, 1.0000000000000002]]}]})",
    R"({"kind": "lines", "series": [{"name": "n", "points": []}, {"points": [[null, null]]}]})",
    R"({"kind": "bars", "title": "t", "x_title": "ms", "labels": ["one", "a long label that has no room at all in the picture"], "series": [{"name": "a", "values": [-3, 1e15], "targets": [1, null]}, {"values": [null, 0]}], "target": "wanted", "width": 4000})",
    R"({"kind": "dots", "title": "t", "x": {"low": -1, "high": 1}, "labels": ["a", ""], "series": [{"name": "s", "values": [[0.5, 0.25], [null, 1e300]]}], "notes": ["n", "caf\u00e9"], "notes_title": "notes"})",
    R"({"kind": "boxes", "labels": ["a", "b"], "series": [{"values": [[1, 2, 3, 4, 5], [5, 4, 3, 2, 1]]}, {"name": "z", "values": [[null, 0, 0, 0, 0], [-1e300, -1, 0, 1, 1e300]]}]})",
    R"({"kind": "heat_map", "x_title": "keys", "y_title": "queries", "value_title": "weight", "columns": ["a", "b"], "rows": ["c", "d"], "values": [[0, 1e-300], [null, -2]], "ramp": "diverging", "most": 3})",
    R"({"kind": "heat_map", "columns": [], "rows": [], "values": []})",
    R"({"kind": "heat_map", "columns": ["a"], "rows": ["b"], "values": [[7]], "ramp": "sequential"})",
    R"({"kind": "diagram", "groups": ["g", "h"], "boxes": [{"text": "a<b", "x": 4000, "y": 0, "width": 1, "height": 4000, "group": 1}, {"text": "alone"}], "arrows": [{"points": [[0, 0], [0, 0], [4000, 4000]]}, {"points": [[1, 1]]}]})",
    R"({"columns": 2, "charts": [{"kind": "lines", "title": "nan", "series": []}, {"kind": "diagram"}, {"kind": "bars", "labels": [], "series": []}]})",
    R"({"charts": [], "columns": 17})",
    R"({"kind": "pie"})",
    R"({"kind": "bars", "labels": ["a"], "series": [{"values": [1, 2]}]})",
    R"({"kind": "lines", "series": [{"points": [[0]]}]})",
    R"([])"};

// Bodies of requests; each is sent to every route with every model.
inline constexpr std::string_view kRequestSeeds[] = {
    R"({"inputs": "a fine film", "truncate": true, "raw_scores": false})",
    R"({"inputs": [["a", "b"], ["c"]], "truncation_direction": "Left"})",
    R"({"inputs": ["a [MASK] film", "b"], "parameters": {"top_k": 2, "targets": ["film"], "function_to_apply": "none", "shape": "pipeline"}})",
    R"({"query": "q", "texts": ["a", "b"], "return_text": true, "raw_scores": true})",
    R"({"model": "m", "query": "q", "documents": ["a", {"text": "b"}], "top_n": 1, "return_documents": true, "max_tokens_per_doc": 9})",
    R"({"input": ["a", "b"], "encoding_format": "base64", "dimensions": 4, "user": "u"})",
    R"({"input": [[1, 20, 30, 2]], "model": "m"})",
    R"({"inputs": {"source_sentence": "a", "sentences": ["b", "c"]}})",
    R"({"inputs": {"question": "who?", "context": "Ada wrote it ."}, "parameters": {"top_k": 3, "doc_stride": 4, "max_answer_len": 5, "handle_impossible_answer": true}})",
    R"({"inputs": ["a"], "parameters": {"candidate_labels": "sports, art", "hypothesis_template": "It is {}.", "multi_label": true}})",
    R"({"inputs": "Ada was born", "parameters": {"aggregation_strategy": "first", "ignore_labels": []}})",
    R"({"inputs": {"context": "c", "question": "q", "choices": ["a", "b"]}})",
    R"({"inputs": [{"text": "a", "text_pair": "b"}]})",
    R"({"inputs": "a", "normalize": false, "prompt_name": null, "dimensions": 3, "pooling": "mean"})",
    R"({"ids": [[1, 20, 2], [3]], "skip_special_tokens": false})",
    R"({"inputs": "a", "add_special_tokens": false})",
    R"({"inputs": [{"name": "text", "datatype": "BYTES", "shape": [2], "data": ["a", "b"]}], "outputs": [{"name": "scores", "parameters": {"binary_data": true}}]})",
    R"({"id": "1", "inputs": [{"name": "input_ids", "datatype": "INT64", "shape": [1, 3], "data": [1, 20, 2]}, {"name": "attention_mask", "datatype": "INT64", "shape": [1, 3], "data": [[1, 1, 1]]}]})",
    R"({"inputs": [{"name": "text", "datatype": "BYTES", "shape": [1], "parameters": {"binary_data_size": 5}}], "parameters": {"binary_data_output": true}})"
    "\x01\x00\x00\x00\x61"sv,
    R"({"text": "Ada met Bob .", "labels": ["person", "city"], "threshold": 0, "redact": true, "flat_ner": false, "multi_label": true})",
    R"({"texts": ["Ada", "[A_1] b"], "labels": [["x"], {"y": "z", "w": null}], "threshold": 0.1, "join": true, "offsets": "utf16"})",
    R"({"text": "[A_1] and [B_2]", "texts": null, "map": {"[A_1]": "Ada", "[B_2]": "\u0001"}})",
    R"({"text": "Ada met Bob in London .", "labels": [], "preset": "pii", "chunk_length": 9, "overlap": 3, "threshold": 0})",
    R"({"inputs": ["Ada met Bob ."], "parameters": {"candidate_labels": {"person": "a human"}, "threshold": 0}})",
    R"({"inputs": []})",
    R"({"inputs": 7, "truncate": "x", "top_k": -1, "input": null})",
    R"({"inputs": [[], [["a"]], {"a": 1}]})",
    R"([{"inputs": "a"}])"};

}  // namespace deberta::fuzz
