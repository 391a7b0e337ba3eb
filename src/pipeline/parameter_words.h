// The meanings of the words of parameters, in the library's types. The words of a type are those of its rows in
// parameters.h, but for auto, which leaves a value to the model.
#pragma once
#include <array>
#include <cstddef>
#include <string_view>
#include <type_traits>

#include "deberta/answer.h"
#include "deberta/pipeline.h"
#include "decode/offset_units.h"

namespace deberta {

template <class T>
struct ChoiceWord {
  std::string_view word;
  T meaning;
};

// The words of a choice type; nullptr for any other type.
template <class T>
inline constexpr auto kChoiceWords = nullptr;

template <class T>
concept ChoiceType = !std::is_same_v<decltype(kChoiceWords<T>), const std::nullptr_t>;

template <>
inline constexpr auto kChoiceWords<ChoiceForm> = std::to_array<ChoiceWord<ChoiceForm>>({{"race", ChoiceForm::kRace},
                                                                                        {"plain", ChoiceForm::kPlain},
                                                                                        {"copa", ChoiceForm::kCopa}});
template <>
inline constexpr auto kChoiceWords<OffsetUnit> = std::to_array<ChoiceWord<OffsetUnit>>({{"chars", OffsetUnit::kChars},
                                                                                        {"bytes", OffsetUnit::kBytes},
                                                                                        {"utf16", OffsetUnit::kUtf16}});
template <>
inline constexpr auto kChoiceWords<ScoreFunction> = std::to_array<ChoiceWord<ScoreFunction>>(
    {{"softmax", ScoreFunction::kSoftmax}, {"sigmoid", ScoreFunction::kSigmoid}, {"none", ScoreFunction::kNone}});
template <>
inline constexpr auto kChoiceWords<WindowScores> = std::to_array<ChoiceWord<WindowScores>>(
    {{"mean", WindowScores::kMean}, {"max", WindowScores::kMax}, {"each", WindowScores::kEach}});

}  // namespace deberta
