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

bool are_mostly_unknown(std::span<const Encoding> encodings, const std::function<bool(int32_t id)>& is_unknown) {
  size_t unknown = 0, all = 0;
  for (const Encoding& encoding : encodings) {
    for (size_t t = 0; t < encoding.size(); ++t) {
      all += encoding.is_special[t] == 0;
      unknown += encoding.is_special[t] == 0 && is_unknown(encoding.ids[t]);
    }
  }
  return unknown > 0 && 2 * unknown >= all;
}

std::function<bool(int32_t id)> unknown_ids(const Tokenizer& tokenizer) {
  return [&tokenizer, unk = tokenizer.special().unk](int32_t id) {
    return id == unk || tokenizer.piece(id).starts_with("<0x");
  };
}

EncodeRow row_encoder(const Tokenizer& tokenizer, const SequenceRules& rules) {
  return [&tokenizer, rules](const Row& row) { return encode_input(tokenizer, text_input(row), rules); };
}

}  // namespace deberta
