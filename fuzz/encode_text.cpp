// Text through every tokenizer of the fixtures: offsets in order, inside the text, on code point boundaries; and back.
// The first byte chooses the options, the rest is the text.
#include <filesystem>
#include <vector>

#include "base/utf8.h"
#include "deberta/tokenizer.h"
#include "encodings.h"
#include "fuzz.h"
#include "support/paths.h"
#include "text/spm/normalizer.h"

namespace deberta::fuzz {
namespace {

Tokenizer load_as(const std::string& fixture, const std::string& target, const std::string& name) {
  const std::string path = folder() + "/" + target;
  std::filesystem::create_directories(path);
  std::filesystem::copy_file(test::fixture("tokenizer/" + fixture), path + "/" + name);
  return Tokenizer::load(path);
}
Tokenizer load_spm(const std::string& name) {
  return load_as(name + ".model", name, "spm.model");
}
Tokenizer load_json_form(const std::string& name) {
  return load_as("json/" + name + ".json", name + "-json", "tokenizer.json");
}

const std::vector<Tokenizer>& tokenizers() {
  static const std::vector<Tokenizer> all = [] {
    std::vector<Tokenizer> made;
    made.push_back(load_spm("bytes"));
    made.push_back(load_spm("unknown"));
    made.push_back(Tokenizer::load(test::fixture("tokenizer/bpe")));
    made.push_back(load_json_form("unigram"));
    made.push_back(load_json_form("bpe"));
    return made;
  }();
  return all;
}

// With byte pieces for everything and special tokens read literally, nothing of the text is lost.
void check_way_back(std::string_view text) {
  static const Normalizer normalizer(load_spm_model(test::fixture("tokenizer/bytes.model")), "bytes");
  const EncodeOptions plain{.add_special_tokens = false, .parse_special = false};
  const Tokenizer& spm = tokenizers()[0];
  const NormalizedText whole = normalizer.normalize(text);
  std::string_view normalized = whole.text();
  if (normalized.starts_with(' ')) normalized.remove_prefix(1);
  FUZZ_REQUIRE(spm.decode(spm.encode(text, plain).ids, false) == normalized);
  const Tokenizer& bpe = tokenizers()[2];
  FUZZ_REQUIRE(bpe.decode(bpe.encode(text, plain).ids, false) == text);
}

}  // namespace

void run(Bytes input) {
  Cutter cut(input);
  const uint8_t choice = cut.byte();
  const std::string text = replace_invalid_utf8(cut.rest());
  EncodeOptions options{.add_special_tokens = (choice & 1) != 0, .parse_special = (choice & 2) != 0};
  options.truncate = (choice & 4) == 0 ? Truncate::kNone : (choice & 8) == 0 ? Truncate::kRight : Truncate::kLeft;
  options.max_tokens = 3 + (choice >> 4);
  for (const Tokenizer& tokenizer : tokenizers()) {
    const Encoding encoding = check_text(tokenizer, text, options);
    const Encoding pair = tokenizer.encode_pair(text, text, options);
    if (options.truncate == Truncate::kNone && options.add_special_tokens)
      FUZZ_REQUIRE(pair.size() == 2 * encoding.size() - 1);
  }
  check_way_back(text);
}

}  // namespace deberta::fuzz
