// tokenizer.json; and some texts through the tokenizer that it makes.
#include "encodings.h"
#include "fuzz.h"
#include "support/paths.h"

namespace deberta::fuzz {

void run(Bytes input) {
  test::write_text(folder() + "/tokenizer.json", std::string(to_text(input)));
  const Tokenizer tokenizer = Tokenizer::load(folder());
  for (const std::string_view text : {"", " a  b\tab\n", "[CLS] x [MASK]",
                                      "\xEF\xBC\xA1 \xE2\x91\xA0\xCC\x81\xF0\x9F\x98\x80\xE2\x96\x81"
                                      "a"}) {
    check_text(tokenizer, text, {});
    check_text(tokenizer, text, {.add_special_tokens = false, .parse_special = false});
  }
}

}  // namespace deberta::fuzz
