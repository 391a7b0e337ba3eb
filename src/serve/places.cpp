// Encodes the texts again one by one until the tokenizer refuses one: that text's field is at fault.
#include "serve/places.h"

#include <fmt/format.h>

#include "pipeline/encodings.h"
#include "serve/api_error.h"
#include "serve/fields.h"

namespace deberta::serve {
namespace {

bool is_refused(const Tokenizer& tokenizer, const TextInput& input, const EncodingRules& rules) {
  try {
    encode_one(tokenizer, input, rules);
    return false;
  } catch (const Error&) {
    return true;
  }
}

}  // namespace

// Texts are read once more to find it: the library reports only which input it was.
std::string Places::place_of(const Error& error) const {
  const Problem& problem = error.problems().front();
  if (parameters_ != nullptr && !problem.argument.empty()) {
    const bool is_missing = error.code() == ErrorCode::kUsage && parameters_->was_asked(problem.argument);
    if (is_missing || parameters_->find(problem.argument) != nullptr) return parameters_->pointer_of(problem.argument);
  }
  if (error.code() != ErrorCode::kTextTooLong && error.code() != ErrorCode::kInput) return {};
  const std::vector<PlacedText> texts = texts_();
  for (const PlacedText& text : texts) {
    TextInput input{.text = text.text};
    if (text.pair) input.pair = *text.pair;
    if (!is_refused(tokenizer_, input, rules_)) continue;
    return !text.pair || is_refused(tokenizer_, TextInput{.text = text.text}, rules_) ? text.pointer
                                                                                      : text.pair_pointer;
  }
  return problem.input && *problem.input < texts.size() ? texts[*problem.input].pointer : std::string();
}

// Those that this route has fields for.
std::string Places::remedies_for(const Error& error) const {
  if (parameters_ == nullptr || error.code() != ErrorCode::kTextTooLong ||
      error.problems().front().argument != "max_tokens")
    return {};
  std::vector<std::string> remedies;
  if (parameters_->was_asked(field::kTruncate.name)) remedies.emplace_back(R"(cut it with "truncate": true)");
  if (parameters_->was_asked(field::kWindowScores.name))
    remedies.emplace_back(R"(read all of it in windows with "window_scores": "max")");
  return remedies.empty() ? std::string() : fmt::format("; {}", fmt::join(remedies, ", or "));
}

void Places::refuse(const Error& error) const {
  ApiError refusal = api_error_of(std::current_exception());
  if (parameters_ != nullptr) static_cast<void>(parameters_->unknown());  // a misspelt name says more
  refusal.field = place_of(error);
  if (!refusal.field.empty())
    refusal.message = fmt::format("{}: {}{}", refusal.field, error.message(), remedies_for(error));
  throw refusal;
}

}  // namespace deberta::serve
