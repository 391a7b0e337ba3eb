// Which field of a body is at fault where a task refuses its texts or its options.
#pragma once
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "deberta/error.h"
#include "deberta/pipeline.h"
#include "serve/body.h"

namespace deberta::serve {

// A text or a pair that is read as one sequence, and where both are in the body.
struct PlacedText {
  std::string text, pointer;
  std::optional<std::string> pair = {};
  std::string pair_pointer = {};
};

class Places {
 public:
  // `parameters`: some of its names are arguments of the task; null: none. `texts` is called where a text is at fault.
  Places(const Tokenizer& tokenizer, const EncodingRules& rules, Body* parameters,
         std::function<std::vector<PlacedText>()> texts)
      : tokenizer_(tokenizer), rules_(rules), parameters_(parameters), texts_(std::move(texts)) {}

  // What `plan` returns. What it throws as Error is thrown as ApiError: at a parameter that it names, or at the first
  // text that is refused by itself.
  template <class Plan>
  auto plan(Plan plan) const {
    try {
      return plan();
    } catch (const Error& error) {
      refuse(error);
    }
  }

 private:
  [[noreturn]] void refuse(const Error& error) const;
  std::string place_of(const Error& error) const;
  std::string remedies_for(const Error& error) const;

  const Tokenizer& tokenizer_;
  const EncodingRules& rules_;
  Body* parameters_;
  std::function<std::vector<PlacedText>()> texts_;
};

}  // namespace deberta::serve
