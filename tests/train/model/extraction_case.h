// Tiny models with every part of the heads of entities, and sequences of labels and words.
#pragma once
#include <string>
#include <vector>

#include "train/model/model_case.h"

namespace deberta::test {

struct ExtractionCase {
  std::string name;
  ExtractionConfig config;
};

// A head of the encoder's size has no projection.
inline std::vector<ExtractionCase> extraction_cases() {
  return {{"markerV0", {.hidden_size = 12, .max_width = 3}},
          {"markerV0, plain",
           {.subtoken_pooling = SubtokenPooling::kLast, .hidden_size = 16, .max_width = 2, .num_rnn_layers = 0}},
          {"marker",
           {.span_mode = SpanMode::kMarker,
            .subtoken_pooling = SubtokenPooling::kMean,
            .hidden_size = 16,
            .max_width = 12,
            .num_rnn_layers = 0}},
          {"token_level",
           {.span_mode = SpanMode::kTokenLevel,
            .subtoken_pooling = SubtokenPooling::kMax,
            .hidden_size = 8,
            .num_rnn_layers = 2}}};
}

inline ModelForm form_of(const ExtractionConfig& extraction) {
  ModelForm form;
  form.config = tiny_config();
  form.config.extraction = extraction;
  form.head = extraction.has_spans() ? Head::kEntitySpans : Head::kEntityWords;
  return form;
}

// Words of one piece, of two and of none behind two labels; one word behind one label; five pieces behind three.
struct LabelledText {
  std::vector<int32_t> ids;
  LabelledWords words;  // rows of this text alone
};
inline std::vector<LabelledText> labelled_texts() {
  return {{make_ids(1, 9), {{1, 2}, {4, 5, 6, 7}, {0, 1, 1, 3, 4}}},
          {make_ids(2, 5), {{1}, {3}, {0, 1}}},
          {make_ids(3, 12), {{4, 1, 3}, {6, 7, 8, 9, 10}, {0, 2, 3, 4, 5}}}};
}

// The rows of a text that begins at `start`.
inline LabelledWords at_row(LabelledWords words, int32_t start) {
  for (int32_t& row : words.labels) row += start;
  for (int32_t& row : words.pieces) row += start;
  return words;
}

}  // namespace deberta::test
