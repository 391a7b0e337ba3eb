// Labels and words are never looked through for special tokens: their marks are put there, and found, by their place.
#include "pipeline/labelled_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/utf8.h"
#include "deberta/error.h"
#include "pipeline/encodings.h"

namespace deberta {
namespace {

constexpr size_t kLeastRoom = 2;  // a piece of a word, and [SEP]

double threshold_of(const EntityLabel& label, const ExtractOptions& options) {
  if (label.threshold) return *label.threshold;
  const auto by_name = std::ranges::find(options.thresholds, label.name, &LabelThreshold::label);
  return by_name == options.thresholds.end() ? options.threshold : by_name->threshold;
}

void check_prompt(size_t tokens, const EncodeOptions& options) {
  if (tokens + kLeastRoom <= options.max_tokens) return;
  const size_t most = options.max_tokens - std::min(options.max_tokens, kLeastRoom);
  throw Error(ErrorCode::kTextTooLong,
              {{.where = "labels",
                .message = fmt::format("expected at most {} tokens of labels before a text, got {}", most, tokens),
                .argument = "max_tokens",
                .limit = most,
                .remedies = {{"give fewer labels"}, {"raise {}", "max_tokens"}}}});
}

}  // namespace

std::vector<int32_t> encode_plain(const Tokenizer& tokenizer, std::string_view text, const EncodeOptions& options) {
  if (!is_valid_utf8(text)) throw Error(ErrorCode::kInput, "text", "expected valid UTF-8");
  EncodeOptions plain = options;
  plain.add_special_tokens = plain.parse_special = false;
  plain.truncate = Truncate::kNone;
  return tokenizer.encode(text, plain).ids;
}

LabelPrompt begin_prompt(const PromptMarks& marks) {
  LabelPrompt prompt;
  prompt.ids.push_back(marks.cls);
  return prompt;
}

void add_label(const PromptMarks& marks, std::span<const int32_t> pieces, LabelPrompt& prompt) {
  prompt.rows_C.push_back(static_cast<int32_t>(prompt.ids.size()) + (marks.embed_ent_token ? 0 : 1));
  prompt.ids.push_back(marks.marks.label);
  prompt.ids.insert(prompt.ids.end(), pieces.begin(), pieces.end());
}

void end_prompt(const PromptMarks& marks, LabelPrompt& prompt) {
  prompt.ids.push_back(marks.marks.text);
}

// What is too long is counted to its end, and not kept.
LabelPrompt make_label_prompt(const Tokenizer& tokenizer, const PromptMarks& marks, std::span<const EntityLabel> labels,
                              const ExtractOptions& options) {
  LabelPrompt prompt = begin_prompt(marks);
  size_t tokens = 0;  // of the labels, with their marks
  std::vector<std::string_view> texts;
  for (const EntityLabel& label : labels) texts.push_back(label.text);
  std::ranges::sort(texts);
  std::vector<bool> is_there(texts.size());
  for (const EntityLabel& label : labels) {
    const auto place =
        static_cast<size_t>(std::ranges::lower_bound(texts, std::string_view(label.text)) - texts.begin());
    if (is_there[place]) continue;
    is_there[place] = true;
    prompt.names.push_back(label.name);
    prompt.thresholds_C.push_back(threshold_of(label, options));
    const std::vector<int32_t> pieces = encode_plain(tokenizer, label.text, options.rules.encode);
    tokens += 1 + pieces.size();
    const bool is_kept = tokens <= options.rules.encode.max_tokens;
    add_label(marks, is_kept ? std::span(pieces) : std::span<const int32_t>(), prompt);
  }
  end_prompt(marks, prompt);
  check_prompt(tokens + 2, options.rules.encode);
  return prompt;
}

LabelPrompt make_label_prompt(const Pipeline& pipeline, std::span<const EntityLabel> labels,
                              const ExtractOptions& options) {
  const PromptMarks marks{pipeline.tokenizer.special().cls, pipeline.marks,
                          pipeline.config.extraction->embed_ent_token};
  return make_label_prompt(pipeline.tokenizer, marks, labels, options);
}

TextWords encode_words(const Tokenizer& tokenizer, std::string_view text, const EncodeOptions& options) {
  if (!is_valid_utf8(text)) throw Error(ErrorCode::kInput, "text", "expected valid UTF-8");
  if (text.size() > options.max_text_bytes) encode_plain(tokenizer, text, options);  // says that it is too long
  const EncodingRules rules{.encode = options};
  const auto check_count = [&](size_t count) { TokenCount(rules).add(count); };
  TextWords encoded{word_spans(text, std::min(options.most_tokens, text.size()) + 1), {}, {0}};
  check_count(encoded.words.size());
  for (const WordSpan& word : encoded.words) {
    const std::string_view part = text.substr(word.bytes.begin, word.bytes.end - word.bytes.begin);
    const std::vector<int32_t> pieces = encode_plain(tokenizer, part, options);
    encoded.pieces.insert(encoded.pieces.end(), pieces.begin(), pieces.end());
    check_count(encoded.pieces.size());
    encoded.starts.push_back(encoded.pieces.size());
  }
  return encoded;
}

WindowRoom window_room(const LabelPrompt& prompt, const ExtractionConfig& config, const EncodingRules& rules) {
  return {.words = static_cast<size_t>(config.max_len),
          .pieces = rules.encode.max_tokens - prompt.ids.size() - 1,
          .shared_pieces = rules.stride,
          .shared_words = config.has_spans() ? static_cast<size_t>(config.max_width - 1) : 0};
}

std::vector<Window> word_windows(const TextWords& text, const WindowRoom& room) {
  std::vector<Window> windows;
  const size_t words = text.words.size();
  const auto fits = [&](size_t first, size_t last) {
    return text.starts[last + 1] - text.starts[first] <= room.pieces && last - first < room.words;
  };
  for (size_t first = 0, last = 0; last < words;) {
    last = first + 1;
    while (last < words && fits(first, last)) ++last;
    windows.push_back({first, last});
    const size_t least = first + (last - first + 3) / 4;
    first = last;
    const auto shares_enough = [&] {
      return text.starts[last] - text.starts[first] >= room.shared_pieces && last - first >= room.shared_words;
    };
    while (first > least && !shares_enough()) --first;
    while (first < last && last < words && !fits(first, last)) ++first;  // each window reads a word of its own
  }
  return windows;
}

LabelledWindow make_labelled_window(const LabelPrompt& prompt, const TextWords& text, const Window& window,
                                    const WindowRoom& room, const SpecialIds& special) {
  LabelledWindow made;
  const size_t begin = text.starts[window.first], all = text.starts[window.last] - begin;
  const size_t read = std::min(all, room.pieces);
  made.sequence.cut_tokens = all - read;
  std::vector<int32_t>& ids = made.sequence.ids;
  ids.reserve(prompt.ids.size() + read + 1);
  ids = prompt.ids;
  const auto pieces = std::span(text.pieces).subspan(begin, read);
  ids.insert(ids.end(), pieces.begin(), pieces.end());
  ids.push_back(special.sep);
  made.sequence.type_ids.assign(ids.size(), 0);
  LabelledWords& words = made.request.words;
  words.labels = prompt.rows_C;
  words.pieces.reserve(read);
  words.word_starts.reserve(window.size() + 1);
  for (size_t piece = 0; piece < read; ++piece) words.pieces.push_back(static_cast<int32_t>(prompt.ids.size() + piece));
  for (size_t word = window.first; word <= window.last; ++word)
    words.word_starts.push_back(static_cast<int32_t>(std::min(text.starts[word] - begin, read)));
  return made;
}

}  // namespace deberta
