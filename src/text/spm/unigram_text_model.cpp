// Joins normaliser and splitter behind the interface of text models, and maps pieces back to the text.
#include "text/spm/unigram_text_model.h"

#include "text/spm/normalizer.h"
#include "text/spm/pieces_to_text.h"
#include "text/spm/unigram.h"

namespace deberta {
namespace {

class UnigramTextModel final : public TextModel {
 public:
  UnigramTextModel(SpmModel model, const std::string& where)
      : model_(std::move(model)), normalizer_(model_, where), unigram_(model_) {
    model_.charsmap = {};
  }

  ModelKind kind() const override { return ModelKind::kUnigram; }
  void split(std::string_view text, TextPart part, const SplitOptions& options, Tokens& out) const override;
  std::string to_text(std::span<const DecodeStep> steps) const override { return pieces_to_text(model_, steps); }

  size_t size() const override { return model_.pieces.size(); }
  std::string_view piece(int32_t id) const override { return at(id).text; }
  std::optional<int32_t> id_of(std::string_view piece) const override { return model_.id_of(piece); }
  bool is_special(int32_t id) const override {
    return at(id).type == PieceType::kControl || at(id).type == PieceType::kUnknown;
  }
  int32_t unk_id() const override { return model_.unk_id; }

 private:
  const SpmPiece& at(int32_t id) const { return model_.pieces[static_cast<size_t>(id)]; }

  SpmModel model_;
  Normalizer normalizer_;
  Unigram unigram_;
};

void UnigramTextModel::split(std::string_view text, TextPart part, const SplitOptions& options, Tokens& out) const {
  const NormalizedText normalized = normalizer_.normalize(text.substr(part.begin, part.end - part.begin));
  check_normalized(normalized.text().size(), out, options);
  NormalizedText::Cursor cursor(normalized);
  const auto shift = static_cast<uint32_t>(part.begin);
  const std::vector<UnigramToken> tokens = unigram_.split(normalized.text(), options.spm_ties);
  const size_t before = out.ids.size();
  out.ids.resize(before + tokens.size());
  out.bytes.resize(before + tokens.size());
  int32_t* ids = out.ids.data() + before;
  Offset* bytes = out.bytes.data() + before;
  for (const UnigramToken& token : tokens) {
    const Offset source = cursor.source_of(token.begin, token.end);
    *ids++ = token.id;
    *bytes++ = {source.begin + shift, source.end + shift};
  }
}

}  // namespace

std::unique_ptr<TextModel> make_unigram_text_model(SpmModel model, const std::string& where) {
  return std::make_unique<UnigramTextModel>(std::move(model), where);
}

}  // namespace deberta
