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
  constexpr size_t kFewest = 3;  // a sign or two are no language
  size_t unknown = 0, all = 0;
  for (const Encoding& encoding : encodings) {
    Offset last;  // the bytes of a character have its place
    for (size_t t = 0; t < encoding.size(); ++t) {
      const Offset place = encoding.chars[t];
      if (encoding.is_special[t] != 0) continue;
      const size_t characters = place == last ? 0 : place.end - place.begin;
      all += characters;
      if (is_unknown(encoding.ids[t])) unknown += characters;
      last = place;
    }
  }
  return unknown >= kFewest && 2 * unknown >= all;
}

std::function<bool(int32_t id)> unknown_ids(const Tokenizer& tokenizer) {
  return [&tokenizer, unk = tokenizer.special().unk](int32_t id) {
    const std::string_view piece = tokenizer.piece(id);
    return id == unk || (piece.starts_with("<0x") && piece.size() == 6 && piece[3] >= '8');  // no sign of ASCII
  };
}

EncodeRow row_encoder(const Tokenizer& tokenizer, const SequenceRules& rules) {
  return [&tokenizer, rules](const Row& row) { return encode_input(tokenizer, text_input(row), rules); };
}

}  // namespace deberta
