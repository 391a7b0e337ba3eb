// bpe_encoder.bin: two containers or a bare pickle; and a text through the tokenizer that it makes.
#include "encodings.h"
#include "fuzz.h"
#include "support/paths.h"

namespace deberta::fuzz {

void run(Bytes input) {
  test::write_text(folder() + "/bpe_encoder.bin", std::string(to_text(input)));
  const Tokenizer tokenizer = Tokenizer::load(folder());
  for (const std::string_view text : {"", "ab ba 25", "[CLS]\xC3\xA9\n"}) check_text(tokenizer, text, {});
}

}  // namespace deberta::fuzz
