// Pieces of a SentencePiece vocabulary back to text: spaces, byte pieces, tokens that are not part of running text.
#pragma once
#include <span>
#include <string>

#include "text/spm/spm_model.h"
#include "text/text_model.h"

namespace deberta {

std::string pieces_to_text(const SpmModel& model, std::span<const DecodeStep> steps);

}  // namespace deberta
