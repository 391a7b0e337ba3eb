// One command-line word per line; "env NAME=VALUE" sets one of our variables, "config TEXT" makes a --config file.
#include <cstdlib>
#include <vector>

#include "deberta/error.h"
#include "fuzz.h"
#include "program/command_line.h"
#include "support/paths.h"

namespace deberta::fuzz {
namespace {

struct Environment {
  std::vector<std::string> names;
  void set(const std::string& assignment) {
    const size_t equals = assignment.find('=');
    if (equals == std::string::npos || !assignment.starts_with("DEBERTA_") || assignment.starts_with("DEBERTA_CONFIG"))
      return;
    names.push_back(assignment.substr(0, equals));
    ::setenv(names.back().c_str(), assignment.c_str() + equals + 1, 1);
  }
  ~Environment() {
    for (const std::string& name : names) ::unsetenv(name.c_str());
  }
};

}  // namespace

void run(Bytes input) {
  Environment environment;
  std::vector<std::string> words;
  std::string text(to_text(input));
  std::erase(text, '\0');  // no word of a command line contains one
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    std::string word = text.substr(begin, end - begin);
    begin = end + 1;
    if (word.starts_with("env ")) {
      environment.set(word.substr(4));
    } else if (word.starts_with("config ")) {
      test::write_text(folder() + "/options.json", word.substr(7));
      words.insert(words.end(), {"--config", folder() + "/options.json"});
    } else if (!word.starts_with("--config")) {
      words.push_back(std::move(word));
    }
  }
  if (words.empty()) return;
  const program::CommandLine line = program::parse_command_line(words);
  FUZZ_REQUIRE(find_verb(line.options.verb()) != nullptr);
  FUZZ_REQUIRE(!line.options.describe().empty());
}

}  // namespace deberta::fuzz
