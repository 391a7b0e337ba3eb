// What a run reads, by its options: no output may take the place of any of it.
#pragma once
#include <string>
#include <vector>

#include "options/options.h"

namespace deberta::program {

// A file that a run writes, by the option that names it.
struct NamedOutput {
  std::string option;       // "--output"; "standard output"
  std::string path;         // "-": standard output
  std::string folder = {};  // folder of the run that writes it; what is read may lie around it
};

// Throws kUsage when an output is a file that the run reads, however either is written (links and hard links are the
// file itself): an input, standard input, a file of a folder that is read, a file of the model. Nor may a new file
// in a model's folder have a name that models are read from (tokenizer.json). Pipes and devices are no files.
void check_keeps_inputs(const Options& options, std::vector<NamedOutput> outputs);

// Whether both name the same file, there or not, or both are standard output. Pipes and devices are no files.
bool is_same_file(const std::string& a, const std::string& b);

}  // namespace deberta::program
