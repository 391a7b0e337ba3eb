// What kernels run and why, in words: for `info`, `bench` and the note about a precision that gains nothing.
#pragma once
#include <string>

#include "base/json.h"
#include "kernels/choice.h"
#include "options/choices.h"

namespace deberta::cli {

// "AMD EPYC (AuthenticAMD family 26 model 2, Zen 5)"; "unknown" when neither it nor the operating system says.
std::string describe_processor();

// `kernels` is a value of --kernels. Whether it leaves the choice to the program.
bool is_automatic(const std::string& kernels);

// Of the levels that `operation` could run at, the chosen one first: "avx512 64, avx512_bf16 32 operations a cycle
// (Emerald Rapids)". Figures of a processor without a kind are billions a second of one core.
std::string figures_of(const Choice& choice, LevelSet usable, Operation operation, Precision precision);

// Each operation and precision with the level that runs and the reason: [{"operation", "precision", "level", "why"}].
JsonArray chosen_kernels(const std::string& kernels);

// Each multiplier of this processor: [{"precision", "level", "instruction", "gops"}]. Peaks in operations a second.
JsonArray multipliers(const Peaks& peaks);
// "why" to those that products of matrices are made of.
void add_reasons(const std::string& kernels, JsonArray& rows);

// What to say of a model in `precision` that runs at `levels`, with the peaks of `choice`: empty where it multiplies
// faster than fp32.
std::string precision_note(const ChosenLevels& levels, const Choice& choice, Precision precision);

// Says so, once for the program, when --dtype asks for it.
void note_of_precision(const std::string& kernels, DtypeChoice dtype);

}  // namespace deberta::cli
