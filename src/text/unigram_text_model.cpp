#include "text/unigram_text_model.h"

#include "base/utf8.h"
#include "text/normalizer.h"
#include "text/unigram.h"

namespace deberta {
namespace {

// Collects pieces; a space in front of the text is not part of it.
class Writer {
 public:
  explicit Writer(const SpmModel& model) : model_(model) {}

  void add_byte(uint8_t byte) { bytes_ += static_cast<char>(byte); }
  void add_piece(std::string_view piece) {
    end_bytes();
    std::string text = to_inner_text(piece, model_.escape_whitespaces);
    if (text_.empty() && (model_.remove_extra_whitespaces || (model_.add_dummy_prefix && !is_dummy_gone_))) {
      const size_t first = model_.remove_extra_whitespaces ? text.find_first_not_of(' ')
                           : text.starts_with(' ')         ? 1
                                                           : 0;
      is_dummy_gone_ = is_dummy_gone_ || first > 0;
      text.erase(0, first);
    }
    text_ += text;
  }
  void add_token(std::string_view content) {
    end_bytes();
    append_set_off(text_, content);
  }
  std::string take() {
    end_bytes();
    return std::move(text_);
  }

 private:
  void end_bytes() {
    text_ += replace_invalid_utf8(bytes_);
    bytes_.clear();
  }

  const SpmModel& model_;
  std::string text_;
  std::string bytes_;
  bool is_dummy_gone_ = false;
};

class UnigramTextModel final : public TextModel {
 public:
  UnigramTextModel(SpmModel model, const std::string& where)
      : model_(std::move(model)), normalizer_(model_, where), unigram_(model_) {
    model_.charsmap = {};
  }

  ModelKind kind() const override { return ModelKind::kUnigram; }
  void split(std::string_view text, TextPart part, Tokens& out) const override;
  std::string to_text(std::span<const DecodeStep> steps) const override;

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

void UnigramTextModel::split(std::string_view text, TextPart part, Tokens& out) const {
  const NormalizedText normalized = normalizer_.normalize(text.substr(part.begin, part.end - part.begin));
  NormalizedText::Cursor cursor(normalized);
  const auto shift = static_cast<uint32_t>(part.begin);
  const std::vector<UnigramToken> tokens = unigram_.split(normalized.text());
  if (out.ids.empty()) {
    out.ids.reserve(tokens.size());
    out.bytes.reserve(tokens.size());
  }
  for (const UnigramToken& token : tokens) {
    const Offset source = cursor.source_of(token.begin, token.end);
    out.ids.push_back(token.id);
    out.bytes.push_back({source.begin + shift, source.end + shift});
  }
}

std::string UnigramTextModel::to_text(std::span<const DecodeStep> steps) const {
  Writer writer(model_);
  for (const DecodeStep& step : steps) {
    if (!step.is_piece) {
      writer.add_token(step.content);
    } else if (at(step.id).type == PieceType::kByte) {
      writer.add_byte(static_cast<uint8_t>(*parse_byte_piece(at(step.id).text)));
    } else {
      writer.add_piece(at(step.id).text);
    }
  }
  return writer.take();
}

}  // namespace

std::unique_ptr<const TextModel> make_unigram_text_model(SpmModel model, const std::string& where) {
  return std::make_unique<const UnigramTextModel>(std::move(model), where);
}

}  // namespace deberta
