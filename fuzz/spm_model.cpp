// A SentencePiece model file, its rules, and a text through them.
#include "text/spm/spm_model.h"

#include "base/utf8.h"
#include "fuzz.h"
#include "text/spm/normalizer.h"

namespace deberta::fuzz {

void run(Bytes input) {
  const SpmModel model = parse_spm_model(to_text(input), "in");
  FUZZ_REQUIRE(!model.pieces.empty() && model.pieces.size() <= kMaxPieces);
  FUZZ_REQUIRE(model.unk_id >= 0 && static_cast<size_t>(model.unk_id) < model.pieces.size());
  for (size_t id = 0; id < model.pieces.size(); ++id) {
    const SpmPiece& piece = model.pieces[id];
    FUZZ_REQUIRE(is_valid_utf8(piece.text) && piece.text.size() <= kMaxPieceBytes);
    FUZZ_REQUIRE(model.id_of(piece.text) == static_cast<int32_t>(id));
  }
  const Normalizer normalizer(model, "in");
  for (const std::string_view text :
       {"", " a  b\t", "\xEF\xBC\xA1 \xE2\x91\xA0\xCC\x81\xF0\x9F\x98\x80", "\xFF\xC0\x80z"}) {
    const NormalizedText normalized = normalizer.normalize(text);
    const auto size = static_cast<uint32_t>(normalized.text().size());
    NormalizedText::Cursor cursor(normalized);
    for (uint32_t at = 0; at < size; ++at) {
      const Offset source = cursor.source_of(at, at + 1);
      FUZZ_REQUIRE(source.begin <= source.end && source.end <= text.size());
    }
  }
}

}  // namespace deberta::fuzz
