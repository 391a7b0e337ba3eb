// A byte of choices, vocab.txt up to a line with a NUL, then tokenizer_config.json; and some texts through the slow and
// the fast tokenizer that they make.
#include "encodings.h"
#include "fuzz.h"
#include "support/paths.h"

namespace deberta::fuzz {

void run(Bytes input) {
  const std::string_view text = to_text(input);
  const size_t border = std::min(text.find('\0'), text.size());
  test::write_text(folder() + "/vocab.txt", std::string(text.substr(0, border)));
  const std::string_view settings = border < text.size() ? text.substr(border + 1) : "";
  test::write_text(folder() + "/tokenizer_config.json",
                   settings.empty() ? R"({"tokenizer_class": "BertTokenizer"})" : std::string(settings));
  for (const TokenizerKind kind : {TokenizerKind::kSlow, TokenizerKind::kFast}) {
    const Tokenizer tokenizer = Tokenizer::load(folder(), kind);
    for (const std::string_view line : {"", " a  b\tab\n", "[CLS] x [MASK]", "don't \xE8\xB0\x9B e\xCC\x81\xC3\x85",
                                        "\xE1\x84\x80\xE1\x85\xA1\xE1\x86\xA8 \xF0\x9F\x98\x80\x01\x7F"}) {
      check_text(tokenizer, line, {});
      check_text(tokenizer, line, {.add_special_tokens = false, .parse_special = false});
    }
  }
}

}  // namespace deberta::fuzz
