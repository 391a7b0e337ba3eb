// Collects byte pieces into characters, turns U+2581 into a space, and drops the space that was put in front.
#include "text/spm/pieces_to_text.h"

#include "base/utf8.h"
#include "text/spm/normalizer.h"

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

}  // namespace

std::string pieces_to_text(const SpmModel& model, std::span<const DecodeStep> steps) {
  Writer writer(model);
  for (const DecodeStep& step : steps) {
    if (!step.is_piece) {
      writer.add_token(step.content);
      continue;
    }
    const SpmPiece& piece = model.pieces[static_cast<size_t>(step.id)];
    if (piece.type == PieceType::kByte) {
      writer.add_byte(static_cast<uint8_t>(*parse_byte_piece(piece.text)));
    } else {
      writer.add_piece(piece.text);
    }
  }
  return writer.take();
}

}  // namespace deberta
