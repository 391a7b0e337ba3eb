// What a first line looks like where nothing else determines the form: it is read as text, and reported.
#include "rows/find_form.h"

#include <gtest/gtest.h>

#include <string>

#include "base/checked.h"

namespace deberta::find_form_test {
namespace {

// The form that is reported for texts named `text`; empty: none is.
std::string reported(const std::string& line, bool has_conll = false) {
  std::string form;
  const FormRules rules{.has_conll = has_conll,
                        .on_guess = [&](const FormGuess& guess) { form = to_string(guess.form); }};
  const std::string lines = line + "\nnext\n";
  ByteSource source(to_bytes(lines), "standard input");
  EXPECT_EQ(find_row_form(rules, {"text"}, source), RowForm::kText);
  return form;
}

TEST(FindForm, HeadersOfTablesAreTold) {
  for (const char* header :
       {"id,text", "Text,id", "\"text\",\"id\"", "id;text", "\"id\";\"Text\"", "text;id\r", "sep=;"})
    EXPECT_EQ(reported(header), "csv") << header;
  EXPECT_EQ(reported("id\ttext"), "tsv");
  for (const char* text : {"text", "a text; or another", "context, really", "sep=;;", "sep=", ";", ""})
    EXPECT_EQ(reported(text), "") << text;
}

TEST(FindForm, WordsWithTheirTagsAreToldWhereTheyCanBeRead) {
  for (const char* line :
       {"-DOCSTART- -X- -X- O", "Ada B-PER", "Ada NNP I-NP I-PER", "the\tO", "Rome S-LOC\r", "a  L-X "}) {
    EXPECT_EQ(reported(line, true), "conll") << line;
    EXPECT_EQ(reported(line), "") << line;
  }
  for (const char* text : {"O", "B-PER", "  O", "plan B", "type A-B", "blood group O-", "Ada Lovelace", ""})
    EXPECT_EQ(reported(text, true), "") << text;
}

}  // namespace
}  // namespace deberta::find_form_test
