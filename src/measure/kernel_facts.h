// Which kernels run and why, in words: for `info`, `bench` and the note about a precision that gains nothing.
#pragma once
#include <string>

#include "base/json.h"
#include "kernels/choice.h"
#include "options/choices.h"

namespace deberta::measure {

// "AMD EPYC (AuthenticAMD family 26 model 2, Zen 5)"; "unknown" when neither cpuid nor the operating system says.
std::string describe_processor();

// Whether `kernels`, a value of --kernels, leaves the choice to the program.
bool is_automatic(const std::string& kernels);

// The speeds of the levels that `operation` could run at, the chosen one first: "avx512 64, avx512_bf16 32 operations
// per cycle and core (Emerald Rapids)". For a processor of no known kind, billions of operations per second and core.
std::string figures_of(const Choice& choice, LevelSet usable, Operation operation, Precision precision);

// Each operation and precision with the level that runs and the reason: [{"operation", "precision", "level", "why"}].
JsonArray chosen_kernels(const std::string& kernels);

// Each multiplier of this processor: [{"precision", "level", "instruction", "gops"}]. Peaks in operations per second.
JsonArray multipliers(const Peaks& peaks);
// Adds "why" to those that matrix products use.
void add_reasons(const std::string& kernels, JsonArray& rows);

// What to say about a model in `precision` that runs at `levels`, with the peaks of `choice`: empty where it multiplies
// faster than in fp32.
std::string precision_note(const ChosenLevels& levels, const Choice& choice, Precision precision);

// Prints that note, once per run of the program, when --dtype asks for such a precision.
void note_of_precision(const std::string& kernels, DtypeChoice dtype);

}  // namespace deberta::measure
