// Views of a row's texts, and the function by which the reading thread encodes them.
#include "rows/row_input.h"

namespace deberta {

TextInput text_input(const Row& row) {
  TextInput input{.text = row.text, .pair = row.pair, .items = row.items, .encodings = row.encodings};
  if (row.labels) input.labels = *row.labels;
  return input;
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
