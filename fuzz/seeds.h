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

// What stands in the header of a right calibration, and what instead.
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
    R"({"added_tokens": [{"id": 0, "content": "[PAD]", "special": true, "normalized": false}, {"id": 1, "content": "[CLS]", "special": true, "normalized": false}, {"id": 2, "content": "[SEP]", "special": true, "normalized": false}, {"id": 3, "content": "[UNK]", "special": true, "normalized": false}], "normalizer": null, "pre_tokenizer": {"type": "Metaspace", "replacement": "\u2581", "add_prefix_space": true}, "decoder": null, "model": {"type": "Unigram", "vocab": [["[PAD]", 0], ["[CLS]", 0], ["[SEP]", 0], ["[UNK]", 0], ["\u2581", -3.5], ["a", -4.0], ["\u2581ab", -5]], "unk_id": 3}})",
    R"({"added_tokens": [{"id": 0, "content": "[PAD]", "special": true, "normalized": false}, {"id": 1, "content": "[CLS]", "special": true, "normalized": false}, {"id": 2, "content": "[SEP]", "special": true, "normalized": false}, {"id": 3, "content": "[UNK]", "special": true, "normalized": false}], "normalizer": {"type": "Sequence", "normalizers": [{"type": "Replace", "pattern": {"String": "x"}, "content": "a"}, {"type": "Strip", "strip_left": true, "strip_right": true}, {"type": "Lowercase"}]}, "pre_tokenizer": {"type": "Metaspace", "replacement": "\u2581", "add_prefix_space": true}, "decoder": null, "model": {"type": "Unigram", "vocab": [["[PAD]", 0], ["[CLS]", 0], ["[SEP]", 0], ["[UNK]", 0], ["\u2581", -3.5], ["a", -4.0], ["\u2581ab", -5]], "unk_id": 3}})",
    R"({"added_tokens": [{"id": 0, "content": "[PAD]", "special": true, "normalized": false}, {"id": 1, "content": "[CLS]", "special": true, "normalized": false}, {"id": 2, "content": "[SEP]", "special": true, "normalized": false}, {"id": 3, "content": "[UNK]", "special": true, "normalized": false}], "normalizer": null, "pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": false, "trim_offsets": true, "use_regex": true}, "decoder": {"type": "ByteLevel"}, "model": {"type": "BPE", "vocab": {"[PAD]": 0, "[CLS]": 1, "[SEP]": 2, "[UNK]": 3, "a": 4, "b": 5, "ab": 6, "\u0120": 7}, "merges": ["a b"]}})", R"({"added_tokens": [{"id": 0, "content": "[PAD]", "special": true, "normalized": false}, {"id": 1, "content": "[CLS]", "special": true, "normalized": false}, {"id": 2, "content": "[SEP]", "special": true, "normalized": false}, {"id": 3, "content": "[UNK]", "special": true, "normalized": false}], "normalizer": null, "pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": false, "trim_offsets": true, "use_regex": true}, "decoder": {"type": "ByteLevel"}, "model": {"type": "BPE", "vocab": {"[PAD]": 0, "[CLS]": 1, "[SEP]": 2, "[UNK]": 3, "a": 4, "b": 5, "ab": 6, "\u0120": 7}, "merges": [["a", "b"]]}})"};

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
    R"({"hidden_act": "__import__", "vocab_size": 01})",
    R"({"a": "\ud800", "b": "\u0041", /* no */ "c": [1,]})",
    R"([[[[[[[[[[[[[[[[[]]]]]]]]]]]]]]]]])"};

inline constexpr std::string_view kOptionSeeds[] = {
    "classify\n-m\nmodel\n--top-k\n3\n--raw\na text",
    "fill\n--emd\noff\n--targets=a,b\nenv DEBERTA_MAX_TOKENS=12",
    "ner\n--aggregate\nfirst\nconfig {\"max-tokens\": 10, \"ignore-labels\": [\"O\", \"X\"]}",
    "embed\n-f\njsonl\n-i\n-\n--input-format\ncsv\n--batch-tokens\n16k",
    "info\n--batch-sise\n3",
    "check\n--\n-m\n-x",
    "tokenize\n-fjson\n--no-special\n--offsets=utf16\nenv DEBERTA_THREADS=999999999999999999999",
    "--help",
    "help\nclassify",
    "forward\n--threads\n-1\n--quiet=maybe"};

inline constexpr std::string_view kLineSeeds[] = {"", "a\nb\r\n\nc", "\xEF\xBB\xBFx\n",
                                                  "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\nbb\n"};

inline constexpr std::string_view kJsonLineSeeds[] = {
    "{\"text\": \"a\", \"text_pair\": \"b\", \"id\": 1}\n\n[1, 2.5, null]\r\n\"x\"",
    "\xEF\xBB\xBF{}\n{\"a\": 1, \"a\": 2}\n{\"a\": 1,}\n[1e309]\nNaN\n01\n// no\n",
    "\"\\ud800\"\n\"\\ud83d\\ude00\"\n9223372036854775808\n-9223372036854775808\n",
    "[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]\n{\"\\u0000\": \"\xFF\"}\n"};

inline constexpr std::string_view kColumnSeeds[] = {
    "a,b\n1,2\n\"x,\"\"y\nz\",\"\"\n1\n1,2,3\n", "a\tb\n1\t2\n\"x\ty\n\n", "a\"b,c\n\"x\"y,z\n\"open\n",
    "-DOCSTART- -X- O O\n\nEU NNP B-NP B-ORG\nrejects VBZ B-VP O\n\n. . O O\n",
    "a\tO\nb\t\tO\n\nc\n\n1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17\n\xFF O\r\n"};

// Each is read in every form of a task and as lines and tables.
inline constexpr std::string_view kExampleSeeds[] = {
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
    "{\"data\": []}"};

}  // namespace deberta::fuzz
