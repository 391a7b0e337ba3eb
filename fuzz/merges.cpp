// vocab.json, then merges.txt from its line "#version" on.
#include <algorithm>

#include "fuzz.h"
#include "text/bpe/bpe_model.h"

namespace deberta::fuzz {

void run(Bytes input) {
  const std::string_view text = to_text(input);
  const size_t border = std::min(text.find("#version"), text.size());
  const BpeMergeTexts merges = parse_merges(text.substr(border), "merges.txt");
  for (const auto& [left, right] : merges) FUZZ_REQUIRE(!left.empty() && !right.empty());
  const BpeModel model = make_bpe_model(read_bpe_vocab(parse_json(text.substr(0, border), "vocab.json"), "vocab.json"),
                                        "vocab.json", merges, "merges.txt");
  for (size_t id = 0; id < model.pieces.size(); ++id)
    if (!model.pieces[id].empty()) FUZZ_REQUIRE(model.id_of(model.pieces[id]) == static_cast<int32_t>(id));

  const std::string_view word = text.substr(0, 1000);
  BpeWord melting(model.merges);
  for (const char c : word) melting.add_byte(model.byte_ids[static_cast<uint8_t>(c)]);
  melting.melt();
  uint32_t at = 0;
  melting.for_each([&](const BpeWord::Symbol& symbol) {
    FUZZ_REQUIRE(symbol.begin == at && symbol.end > at);
    at = symbol.end;
  });
  FUZZ_REQUIRE(at == word.size());
}

}  // namespace deberta::fuzz
