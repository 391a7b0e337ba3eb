// SQuAD: every answer that is accepted stands at its offset, whichever unit the offset counts.
#include "data/squad.h"

#include <set>

#include "base/utf8.h"
#include "fuzz.h"

namespace deberta::fuzz {

void run(Bytes input) {
  ByteSource source(input, "in");
  const SquadFile file = read_squad(source);
  FUZZ_REQUIRE(file.titles.size() == file.contexts.size());
  std::set<std::string_view> ids;
  for (const SquadQuestion& question : file.questions) {
    FUZZ_REQUIRE(ids.insert(question.id).second);
    FUZZ_REQUIRE(question.context < file.contexts.size());
    FUZZ_REQUIRE(!question.is_impossible || question.answers.empty());
    FUZZ_REQUIRE(question.is_labelled == (question.is_impossible || !question.answers.empty()));
    const std::string_view context = file.contexts[question.context];
    for (const SquadAnswer& answer : question.answers) {
      FUZZ_REQUIRE(context.substr(answer.begin_byte, answer.text.size()) == answer.text);
      FUZZ_REQUIRE(count_code_points(context.substr(0, answer.begin_byte)) == answer.begin_char);
    }
  }
  for (const Problem& problem : file.skipped) FUZZ_REQUIRE(problem.where.starts_with("in:"));
}

}  // namespace deberta::fuzz
