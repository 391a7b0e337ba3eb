// Turns texts into the sequences that run.
#pragma once
#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "deberta/pipeline.h"
#include "decode/windows.h"

namespace deberta {

// Runs `run` for 0 .. count - 1; an error that it throws names its input.
void for_each_input(size_t count, const std::function<void(size_t i)>& run);

// ---- one sequence per input

// The encoding that came with the input, or a new one.
Encoding encode_one(const Tokenizer& tokenizer, const TextInput& input, const EncodingRules& rules);
// Throws kUsage where `rules` ask for windows.
std::vector<Encoding> encode_inputs(const Tokenizer& tokenizer, std::span<const TextInput> inputs,
                                    const EncodingRules& rules);

// The tokens of all sequences of a task, within their limit.
class TokenCount {
 public:
  explicit TokenCount(const EncodingRules& rules) : most_(rules.encode.most_tokens) {}
  void add(size_t tokens);  // throws kTextTooLong

 private:
  size_t most_;
  size_t tokens_ = 0;
};

// ---- several sequences per input

struct Sequences {
  std::vector<Encoding> all;
  std::vector<size_t> starts;  // input i has all[starts[i]] .. all[starts[i + 1] - 1]
  size_t tokens_of(size_t input) const;
  size_t cut_tokens_of(size_t input) const;
  size_t inputs() const { return starts.size() - 1; }
};

// Takes the encodings that came with an input, or those of encode_input().
Sequences gather_sequences(const Tokenizer& tokenizer, std::span<const TextInput> inputs, const SequenceRules& rules);

// ---- windows

// Inputs longer than rules.encode.max_tokens as windows if `rules` say so, all others as they are. The longer text of a
// pair is read in windows, each beside the whole of the other. Throws kTextTooLong for a pair where that leaves windows
// less room than a quarter of max_tokens, or than two of their overlaps.
struct WindowedInputs {
  std::vector<Encoding> texts;  // whole
  Sequences sequences;
  std::vector<std::vector<Window>> windows;  // by text, special tokens not counted; none: the text is unchanged
};
WindowedInputs window_inputs(const Tokenizer& tokenizer, std::span<const TextInput> inputs, const EncodingRules& rules);

// ---- language models

// Throws kTask unless the checkpoint is a masked language model whose tokenizer has a mask token.
void check_masked_lm(const std::string& verb, const Pipeline& pipeline);
// Throws kTask unless the checkpoint is a language model that reads from left to right.
void check_causal_lm(const std::string& verb, const Pipeline& pipeline);

}  // namespace deberta
