// Options of other trainers (run_glue, run_ner and run_mlm of Hugging Face, run.py of the original DeBERTa) that have
// no namesake here, and what to do instead. Those with the same meaning are aliases (option_aliases()).
#pragma once
#include <span>
#include <string_view>

namespace deberta {

struct OtherTrainersOption {
  std::string_view names;   // between spaces
  std::string_view verbs;   // verbs of this program
  std::string_view answer;  // a sentence
};
std::span<const OtherTrainersOption> other_trainers_options();

// Empty: no other trainer has it. `name`: without dashes before it, in any spelling.
std::string_view answer_to(std::string_view name, std::string_view verb);

}  // namespace deberta
