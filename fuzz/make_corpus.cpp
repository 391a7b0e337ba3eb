// make_corpus FOLDER: the seeds of every target, FOLDER/TARGET/NAME, from the tables of hostile files, the makers of
// valid ones and the fixtures. tools/fuzz.py keeps those that reach new code.
#include <cctype>
#include <cstdio>
#include <filesystem>
#include <span>

#include "base/json.h"
#include "base/output_file.h"
#include "base/utf8.h"
#include "calibrated_model.h"
#include "checkpoint/calibration.h"
#include "fuzz.h"
#include "seeds.h"
#include "support/bad_bin.h"
#include "support/bad_safetensors.h"
#include "support/bad_spm.h"
#include "support/compressed.h"
#include "support/paths.h"
#include "text/bpe/byte_alphabet.h"
#include "train/data/token_file.h"

namespace deberta::fuzz {
namespace {

constexpr size_t kMaxSeedBytes = 8192;

class Corpus {
 public:
  explicit Corpus(std::string root) : root_(std::move(root)) {}
  void add(const std::string& target, const std::string& bytes) {
    if (bytes.size() > kMaxSeedBytes) return;
    std::filesystem::create_directories(root_ + "/" + target);
    test::write_text(root_ + "/" + target + "/" + std::to_string(++count_), bytes);
  }
  size_t count() const { return count_; }

 private:
  std::string root_;
  size_t count_ = 0;
};

void add_checkpoints(Corpus& corpus) {
  for (const auto& file : test::bad_safetensors()) corpus.add("safetensors", file.bytes);
  for (const auto& file : test::unusual_safetensors()) corpus.add("safetensors", file.bytes);
  for (const auto& file : test::bad_zips()) corpus.add("zip", file.bytes);
  for (const auto& file : test::bad_legacy_files()) corpus.add("zip", file.bytes);
  for (const auto& file : test::bad_state_dicts()) corpus.add("zip", file.bytes);
  for (const std::string name : {"bin/zip.bin", "bin/legacy.bin", "published/bin/zip2.bin", "published/bin/zip5.bin",
                                 "published/bin/legacy2.bin", "published/bin/legacy4.bin"})
    corpus.add("zip", read_file(test::fixture(name), 1 << 20));
  for (const auto& file : test::bad_pickles()) {
    for (const std::string& part : {file.bytes, test::pickle(test::push_state_dict({{"a", test::push_tensor({})}}))}) {
      // A file of the table is an archive: the pickle is its first entry.
      const size_t begin = part.find("\x80\x02");
      if (begin != std::string::npos) corpus.add("pickle", part.substr(begin));
    }
  }
  for (const std::string_view seed : kIndexSeeds) corpus.add("safetensors_index", std::string(seed));
  for (const std::string_view seed : kManifestSeeds) corpus.add("manifest", std::string(seed));
}

// As `calibration` reads it: every number is 1.
std::string right_calibration() {
  Calibration calibration{
      .smoothing = 0.5, .texts = 3, .tokens = 17, .weights = std::string(kPlaceholder), .layers = {}};
  LayerCalibration& layer = calibration.layers.emplace_back();
  for (size_t i = 0; i < kCalibratedInputs; ++i) {
    const size_t columns = columns_of(static_cast<CalibratedInput>(i), calibrated_config());
    layer[i] = InputCalibration(std::vector<float>(columns, 1.0F));
  }
  const test::TemporaryFolder folder;
  const std::string path = folder.path("calibration.safetensors");
  write_output_file(path, [&](FileWriter& file) { write_calibration(file, path, calibration); });
  return calibration_input(read_file(path, kMaxSeedBytes));
}

void add_calibrations(Corpus& corpus) {
  const std::string right = right_calibration();
  const size_t data = right.find('\n') + 1;
  for (const size_t end : {right.size(), right.size() - 1, data + 100, data})
    corpus.add("calibration", right.substr(0, end));
  for (const std::string_view value : kMultiplierSeeds) {
    for (const size_t count : {1u, 16u, 17u}) {  // the numbers of the widest input come last
      std::string changed = right;
      for (size_t n = 0; n < count; ++n) changed.replace(changed.size() - 4 * (n + 1), 4, value);
      corpus.add("calibration", changed);
    }
  }
  for (const auto& [from, to] : kCalibrationHeaderSeeds) {
    std::string changed = right;
    const size_t at = changed.find(from);
    FUZZ_REQUIRE(at < data);
    corpus.add("calibration", changed.replace(at, from.size(), to));
  }
}

// The smallest bpe_encoder.bin, in both containers and bare.
std::vector<std::string> bpe_encoders() {
  using namespace test;
  const std::string encoder =
      "}(" + push_text("a") + push_number(7) + push_text("b") + push_number(5) + push_text("ab") + push_number(9) + "u";
  const std::string vocab = "](" + push_tuple({push_text("a"), push_text("b")}) + "e";
  std::string counts = "](";
  for (const char* symbol : {"9", "5", "7", "madeupword0000"})
    counts += push_tuple({push_text(symbol), push_number(3)});
  const std::string object = pickle("}(" + push_text("encoder") + encoder + push_text("vocab") + vocab +
                                    push_text("dict_map") + counts + "eu");
  return {zip_bin(object, {}), legacy_bin(object, {}), object};
}

// The target looks up the last 64 bytes of its input: the replacements.
void add_charsmaps(Corpus& corpus) {
  using test::CharsmapRules, test::make_charsmap, test::join_charsmap;
  const std::vector<CharsmapRules> kinds = {
      {{"\xEF\xBC\xA1", "A"}, {"\t", " "}, {"e\xCC\x81", "\xC3\xA9"}, {"\x01", ""}},
      {{"a", "b"}, {"abc", "abc"}},                                               // one key is a prefix of another
      {{"\xEF\xAC\x80", "ff"}, {"\xEF\xAC\x81", "fi"}, {"\xEF\xAC\x83", "ffi"}},  // keys that share bytes
      {{"\xF0\x9F\x98\x80", ":-)"}, {"\xE3\x80\x80", " "}},
      {{"\x01", ""}, {"\x7F", ""}, {"\xE2\x80\x8B", ""}},  // removed
      {{"a", std::string(64, 'x')}},                       // as long as allowed
      {{std::string(20, 'a'), "b"}, {"a", "a"}},
      {{"\xCC\x81", ""}, {"\xC3\xA9", "e\xCC\x81"}}};
  for (const CharsmapRules& rules : kinds) corpus.add("charsmap", make_charsmap(rules));
  corpus.add("charsmap", make_charsmap({{"a", "b"}}) + "abcabc");
  corpus.add("charsmap", join_charsmap(4, {0}, std::string_view("\0", 1)));
  corpus.add("charsmap", join_charsmap(8, {0x80000000u, 1}, "x"));
  // Units one by one: 'a' leads to its own unit again, to children 256 further on, to a replacement outside, to none.
  const std::string two_words("a\0bb\0", 5);
  for (const uint32_t unit : {0x161U, 0x61U, 0x361U | 1U << 10, 0x161U | 0x1U << 10, 0x161U | 0x1FFFFFU << 10}) {
    std::vector<uint32_t> units(512, 0);
    units['a'] = unit;
    units['a' ^ 1] = units[256 + 'a'] = 0x80000002U;
    corpus.add("charsmap", join_charsmap(2048, units, two_words));
    units['a' ^ 1] = 0x80000000U | 99;
    corpus.add("charsmap", join_charsmap(2048, units, two_words));
  }
}

void add_parts(Corpus& corpus, std::string_view before, std::span<const std::string_view> parts,
               std::string_view after) {
  for (const std::string_view part : parts)
    corpus.add("tokenizer_json", std::string(before) + std::string(part) + std::string(after));
}

// A complete vocabulary of bytes: without one no byte-level BPE is read to its end.
std::string byte_level_json(std::string_view pre_tokenizer, std::string_view merges) {
  std::string vocab;
  for (int byte = 0; byte < 256; ++byte) {
    std::string letter;
    append_utf8(letter, to_alphabet(static_cast<uint8_t>(byte)));
    vocab += quote_json(letter) + ":" + std::to_string(byte) + ",";
  }
  vocab += R"("ab":256,"abc":257,"[CLS]":258,"[SEP]":259,"[PAD]":260,"[UNK]":261)";
  return R"({"added_tokens":[],"normalizer":null,"decoder":{"type":"ByteLevel"},)"
         R"("post_processor":{"type":"RobertaProcessing","cls":["[CLS]",258],"sep":["[SEP]",259]},"pre_tokenizer":)" +
         std::string(pre_tokenizer) + R"(,"model":{"type":"BPE","vocab":{)" + vocab + R"(},"merges":)" +
         std::string(merges) + "}}";
}

void add_tokenizer_json(Corpus& corpus) {
  for (const std::string_view seed : kTokenizerJsonSeeds) corpus.add("tokenizer_json", std::string(seed));
  add_parts(corpus, kUnigramBefore, kNormalizerSeeds, kUnigramAfterNormalizer);
  add_parts(corpus, kUnigramBeforeCuts, kPreTokenizerSeeds, kUnigramAfterCuts);
  add_parts(corpus, kUnigramBeforeModel, kUnigramModelSeeds, "}");
  for (const std::string_view pre_tokenizer : kByteLevelSeeds)
    corpus.add("tokenizer_json", byte_level_json(pre_tokenizer, R"(["a b", ["ab", "c"]])"));
  for (const std::string_view merges : kMergeListSeeds)
    corpus.add("tokenizer_json", byte_level_json(kByteLevelSeeds[0], merges));
}

void add_tokenizers(Corpus& corpus) {
  for (const auto& file : test::hostile_spm_files()) corpus.add("spm_model", file.bytes);
  auto spec = test::small_spm({{"a", -1},
                               {"\xE2\x96\x81"
                                "a",
                                -2},
                               {"ab", -3, test::kUserDefined}});
  corpus.add("spm_model", test::make_spm(spec));
  const test::CharsmapRules rules = {{"\xEF\xBC\xA1", "A"}, {"\t", " "}, {"e\xCC\x81", "\xC3\xA9"}, {"\x01", ""}};
  spec.charsmap = test::make_charsmap(rules);
  corpus.add("spm_model", test::make_spm(test::with_bytes(spec)));
  corpus.add("spm_model", read_file(test::fixture("tokenizer/unknown.model"), 1 << 20));
  add_charsmaps(corpus);
  for (const std::string_view seed : kMergesSeeds) corpus.add("merges", std::string(seed));
  add_tokenizer_json(corpus);
  for (const std::string_view seed : kVocabTxtSeeds) corpus.add("vocab_txt", std::string(seed));
  for (const std::string& container : bpe_encoders()) corpus.add("bpe_encoder", container);
  for (const std::string_view seed : kTextSeeds) {
    for (const char choice : {'\0', '\3', '\x27'}) corpus.add("encode_text", choice + std::string(seed));
  }
}

void add_documents(Corpus& corpus) {
  for (const std::string_view seed : kConfigSeeds) corpus.add("config", std::string(seed));
  for (const std::string name : {"plain", "patterns", "stabilised", "dora", "ia3"})
    corpus.add("adapter", read_file(test::fixture("published/adapter21_" + name + "/adapter_config.json"), 1 << 20));
  for (const auto& entry : std::filesystem::directory_iterator(test::fixture("model"))) {
    if (entry.path().extension() == ".json") corpus.add("config", load_json(entry.path()).find("config")->dump(1));
  }
  for (const std::string_view seed : kOptionSeeds) corpus.add("options", std::string(seed));
  for (const std::string_view seed : kLineSeeds) {
    for (const int kind : {0, 1, 2, 3, 4})
      corpus.add("lines", static_cast<char>(kind) + test::compressed(seed, static_cast<Compression>(kind)));
  }
  for (const std::string_view seed : kJsonLineSeeds) corpus.add("jsonl", std::string(seed));
  for (const std::string_view seed : kColumnSeeds) {
    for (const char kind : {'\0', '\1', '\2', '\3'}) corpus.add("csv_conll", kind + std::string(seed));
  }
  for (const std::string_view seed : kSquadSeeds) corpus.add("squad", std::string(seed));
  for (const std::string_view seed : kExampleSeeds) {
    for (char choice = 0; choice < 33; ++choice) corpus.add("examples", choice + std::string(seed));
  }
  for (const std::string_view seed : kEntitySeeds) corpus.add("entities", std::string(seed));
  for (const std::string_view seed : kPredictionSeeds) {
    for (const char form : {'\0', '\1', '\2'}) corpus.add("predictions", form + std::string(seed));
  }
  for (const std::string_view seed : kChartSeeds) corpus.add("chart", std::string(seed));
  for (int op = 0; op < 4; ++op) {
    for (int byte = 0; byte < 256; byte += 15)
      corpus.add("ops", static_cast<char>(op) + std::string(40, static_cast<char>(byte)));
  }
}

// Every route and model takes its own out of them.
void add_requests(Corpus& corpus) {
  constexpr char kRoutes = 32, kModels = 8, kTail = 5;
  for (const std::string_view seed : kRequestSeeds) {
    for (char route = 0; route < kRoutes; ++route) {
      for (char model = 0; model < kModels; ++model)
        corpus.add("request_body", std::string{route, model, kTail} + std::string(seed));
    }
  }
}

void add_token_files(Corpus& corpus) {
  const std::string path = folder() + "/seed.dbt";
  for (const size_t vocabulary : {100u, 70000u}) {
    for (const size_t tokens : {0u, 1u, 5u, 300u}) {
      write_output_file(path, [&](FileWriter& out) {
        train::TokenFileWriter writer(out, vocabulary, path);
        for (size_t i = 0; i < tokens; ++i) {
          if (i % 3 == 1) writer.begin_document();
          writer.add(std::vector<int32_t>{static_cast<int32_t>(i * 7 % vocabulary)});
        }
        writer.finish({});
      });
      corpus.add("cache_file", read_file(path, kMaxSeedBytes));
    }
  }
}

}  // namespace

void run(Bytes) {}

}  // namespace deberta::fuzz

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fputs("make_corpus FOLDER\n", stderr);
    return 2;
  }
  deberta::fuzz::Corpus corpus(argv[1]);
  deberta::fuzz::add_checkpoints(corpus);
  deberta::fuzz::add_calibrations(corpus);
  deberta::fuzz::add_tokenizers(corpus);
  deberta::fuzz::add_documents(corpus);
  deberta::fuzz::add_token_files(corpus);
  deberta::fuzz::add_requests(corpus);
  std::printf("make_corpus: %zu seeds\n", corpus.count());
}
