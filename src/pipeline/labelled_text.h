// What a GLiNER model reads of a text: [CLS] <<ENT>> label <<ENT>> label ... <<SEP>> words [SEP], in windows where the
// text is longer.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "deberta/pipeline.h"
#include "decode/windows.h"
#include "pipeline/plan.h"
#include "text/words.h"

namespace deberta {

// Labels before a text, and what becomes of their scores. A label that another one reads the same as is left out.
struct LabelPrompt {
  std::vector<int32_t> ids;     // from [CLS] to <<SEP>>
  std::vector<int32_t> rows_C;  // where the state of each label is
  std::vector<std::string> names;
  std::vector<double> thresholds_C;
};

// What stands in a prompt besides the pieces of its labels.
struct PromptMarks {
  int32_t cls = 0;
  EntityMarks marks;
  bool embed_ent_token = true;  // ExtractionConfig
};
// A prompt grows label by label. Only `ids` and `rows_C` are filled.
LabelPrompt begin_prompt(const PromptMarks& marks);
void add_label(const PromptMarks& marks, std::span<const int32_t> pieces, LabelPrompt& prompt);
void end_prompt(const PromptMarks& marks, LabelPrompt& prompt);

// The pieces of a label or a word, in which nothing is a special token. Throws kInput for text that is not valid UTF-8,
// kTextTooLong.
std::vector<int32_t> encode_plain(const Tokenizer& tokenizer, std::string_view text, const EncodeOptions& options);

// Throws kTextTooLong where no room is left for a text.
LabelPrompt make_label_prompt(const Tokenizer& tokenizer, const PromptMarks& marks, std::span<const EntityLabel> labels,
                              const ExtractOptions& options);
LabelPrompt make_label_prompt(const Pipeline& pipeline, std::span<const EntityLabel> labels,
                              const ExtractOptions& options);

// The words of a text, each tokenized by itself, as the library does.
struct TextWords {
  std::vector<WordSpan> words;
  std::vector<int32_t> pieces;
  std::vector<size_t> starts;  // [W + 1], where each word begins in `pieces`
  size_t pieces_of(size_t word) const { return starts[word + 1] - starts[word]; }
};

// Throws kInput for text that is not valid UTF-8, kTextTooLong, also for more words or pieces than options.most_tokens.
TextWords encode_words(const Tokenizer& tokenizer, std::string_view text, const EncodeOptions& options);

// How many words and pieces a sequence has room for, and what consecutive windows share.
struct WindowRoom {
  size_t words = 0;
  size_t pieces = 0;
  size_t shared_pieces = 0;
  size_t shared_words = 0;
};
WindowRoom window_room(const LabelPrompt& prompt, const ExtractionConfig& config, const EncodingRules& rules);

// Windows of words: each as long as there is room, at least one word, of which then as many pieces are read as there is
// room for. The next one shares what `room` says, but at most three quarters of the words. None for no words.
std::vector<Window> word_windows(const TextWords& text, const WindowRoom& room);

// One window behind the labels.
struct LabelledWindow {
  Encoding sequence;  // cut_tokens: pieces of its last word that are not read
  EntityRequest request;
};
LabelledWindow make_labelled_window(const LabelPrompt& prompt, const TextWords& text, const Window& window,
                                    const WindowRoom& room, const SpecialIds& special);

}  // namespace deberta
