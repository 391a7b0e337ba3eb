// Views of a row's texts, and the function by which the reading thread encodes them.
#include "rows/row_input.h"

namespace deberta {

TextInput text_input(const Row& row) {
  return {row.text, row.pair, row.items, row.encodings};
}

std::vector<TextInput> text_inputs(std::span<const Row> rows) {
  std::vector<TextInput> inputs;
  for (const Row& row : rows) inputs.push_back(text_input(row));
  return inputs;
}

EncodeRow row_encoder(const Tokenizer& tokenizer, const SequenceRules& rules) {
  return [&tokenizer, rules](const Row& row) { return encode_input(tokenizer, text_input(row), rules); };
}

}  // namespace deberta
