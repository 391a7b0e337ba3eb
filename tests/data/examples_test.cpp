// Examples of tasks: the published forms of their files, and the ways in which rows of them are wrong.
#include "data/examples.h"

#include <gtest/gtest.h>

#include "base/utf8.h"
#include "support/compressed.h"
#include "support/expect_error.h"
#include "support/paths.h"

namespace deberta::examples_test {
namespace {

ExampleRules text_rules() {
  return {ExampleForm::kText, {{{"sentence", "text"}}, {}, {{"label"}}, {"genre"}, {"idx", "index"}}, {}};
}
ExampleRules list_rules() {
  ExampleRules rules = text_rules();
  rules.has_label_lists = true;
  return rules;
}
ExampleRules pair_rules() {
  return {ExampleForm::kText, {{{"premise"}}, {{"hypothesis"}}, {{"gold_label", "label"}}, {"genre"}, {"idx"}}, {}};
}
ExampleRules form_rules(ExampleForm form) {
  return {form, {}, {}};
}

std::vector<Example> read(const std::string& text, ExampleRules rules, const std::string& name = "in") {
  ExampleReader reader(ByteSource(to_bytes(text), name), std::move(rules));
  std::vector<Example> examples;
  for (Example example; reader.next(example);) examples.push_back(example);
  return examples;
}
// The only example of a text with one valid row.
Example read_one(const std::string& text, ExampleForm form) {
  const auto examples = read(text, form_rules(form));
  EXPECT_EQ(examples.size(), 1u);
  EXPECT_FALSE(examples.at(0).error) << examples.at(0).error->what();
  return examples.at(0);
}
std::string error_of(const Example& row) {
  return row.error ? row.error->what() : "no error";
}
// What is wrong with the one row; the row after it must still be read.
std::string refusal(const std::string& row, ExampleForm form, const std::string& right_row) {
  const auto examples = read(row + "\n" + right_row + "\n", form_rules(form));
  EXPECT_FALSE(examples.empty() || examples.back().error) << row;
  return error_of(examples.front());
}
std::string part(const std::string& text, const TextSpan& span) {
  EXPECT_EQ(count_code_points(std::string_view(text).substr(0, span.begin_byte)), span.begin_char);
  EXPECT_EQ(count_code_points(std::string_view(text).substr(0, span.end_byte)), span.end_char);
  return text.substr(span.begin_byte, span.end_byte - span.begin_byte);
}

TEST(Examples, AFieldOfTheRowIsTheSliceOfItsExamples) {
  ExampleRules rules = text_rules();
  rules.slice_by = {{"topic"}, "by"};
  const auto rows = read(
      "{\"text\": \"a\", \"topic\": \"x y\"}\n{\"text\": \"b\", \"topic\": 2}\n{\"text\": \"c\", \"topic\": true}\n"
      "{\"text\": \"d\", \"topic\": null}\n{\"text\": \"e\"}\n{\"text\": \"f\", \"topic\": [1]}\n",
      rules, "in.jsonl");
  ASSERT_EQ(rows.size(), 6u);
  EXPECT_EQ(rows[0].slice, "x y");
  EXPECT_EQ(rows[1].slice, "2");
  EXPECT_EQ(rows[2].slice, "true");
  EXPECT_FALSE(rows[3].slice || rows[4].slice);
  EXPECT_STREQ(rows[5].error->what(), "in.jsonl:6: topic: expected a string, a number, true or false, got an array");
  const auto cells = read("topic\ttext\nx\ta\n\tb\n", rules, "in.tsv");
  EXPECT_EQ(cells.at(0).slice, "x");
  EXPECT_FALSE(cells.at(1).slice) << "an empty cell is no value";

  ExampleRules nested = form_rules(ExampleForm::kMultirc);
  nested.slice_by = {{"source"}, "by"};
  const auto answers = read(
      "{\"source\": \"news\", \"passage\": {\"text\": \"P.\", \"questions\": [{\"question\": \"Q?\", \"answers\": "
      "[{\"text\": \"a\", \"label\": 1}, {\"text\": \"b\", \"label\": 0}]}]}}\n",
      nested);
  ASSERT_EQ(answers.size(), 2u);
  EXPECT_EQ(answers[1].slice, "news");
}

TEST(Examples, AFieldOfSlicesThatNoRowHasIsRefused) {
  ExampleRules rules = text_rules();
  rules.slice_by = {{"topik"}, "by"};
  EXPECT_ERROR(
      read("{\"text\": \"a\", \"topic\": \"x\"}\n", rules, "in.jsonl"), kInput,
      "in.jsonl:1: expected a field named topik in this row or another, got text, topic; name one that the file "
      "has with by");
  EXPECT_ERROR(read("topic\ttext\nx\ta\n", rules, "in.tsv"), kInput,
               "expected a header line with columns named sentence or text, topik");
}

TEST(Examples, ALabelMayBeSeveralNumbers) {
  ExampleRules rules = text_rules();
  rules.value_fields = {"b", "a"};
  const auto rows = read("a\tb\ttext\n1\t -2.5\tx\n\t\ty\n1\t\tz\nx\t1\tz\n", rules, "in.tsv");
  ASSERT_EQ(rows.size(), 4u);
  ASSERT_EQ(rows[0].values.size(), 2u);
  EXPECT_EQ(rows[0].values[0].name, "b");
  EXPECT_EQ(rows[0].values[0].value, -2.5);
  EXPECT_TRUE(rows[1].values.empty() && !rows[1].error) << "a row without any of them has no label";
  EXPECT_EQ(error_of(rows[2]), "in.tsv:4: b: expected a number, since a has one, got none");
  EXPECT_EQ(error_of(rows[3]), "in.tsv:5: a: expected a number, got \"x\" (string)");
  EXPECT_ERROR(read("a\ttext\n1\tx\n", rules, "in.tsv"), kInput, "columns named sentence or text, b, a, got");
  EXPECT_ERROR(read("{\"text\": \"x\", \"a\": 1}\n", rules, "in.jsonl"), kInput,
               "expected a field named b in this row or another, got text, a");
}

TEST(Examples, ALabelMayBeSharesOfClasses) {
  ExampleRules rules = text_rules();
  rules.has_shares = true;
  const auto rows = read(
      "{\"text\": \"a\", \"label\": {\"x\": 0.7, \" y\": 0.3005}}\n{\"text\": \"b\", \"label\": {\"x\": 1.2, \"y\": "
      "-0.2}}\n"
      "{\"text\": \"c\", \"label\": {\"x\": 0.5, \"y\": 0.4}}\n{\"text\": \"d\", \"label\": {\"x\": \"1\"}}\n"
      "{\"text\": \"e\", \"label\": {}}\n{\"text\": \"f\", \"label\": \"x\"}\n{\"text\": \"g\", \"label\": [0.5, "
      "0.5]}\n",
      rules, "in.jsonl");
  ASSERT_EQ(rows.size(), 7u);
  EXPECT_EQ(rows[0].values[1].name, "y");
  EXPECT_DOUBLE_EQ(rows[0].values[0].value, 0.7 / 1.0005);
  EXPECT_EQ(error_of(rows[1]), "in.jsonl:2: y: expected a share of 0 or more, got -0.2");
  EXPECT_EQ(error_of(rows[2]), "in.jsonl:3: expected shares of classes that sum to 1 within .001, got 0.9");
  EXPECT_EQ(error_of(rows[3]), "in.jsonl:4: label: x: expected the share of a class, got \"1\" (string)");
  EXPECT_EQ(error_of(rows[4]), "in.jsonl:5: label: expected shares of classes, got an empty object");
  EXPECT_TRUE(rows[5].values.empty() && rows[5].label == "x");
  EXPECT_TRUE(rows[6].error) << "a list names no class";
  const auto other_rows = read("{\"text\": \"a\", \"label\": {\"x\": 1}}\n", text_rules(), "in.jsonl");
  EXPECT_EQ(error_of(other_rows[0]), "in.jsonl:1: label: expected a label, got an object");
}

TEST(Examples, AFieldSaysWhatARowWeighs) {
  ExampleRules rules = text_rules();
  rules.weight_field = {{"w"}, "weight_field"};
  const auto rows = read(
      "{\"text\": \"a\", \"w\": 2}\n{\"text\": \"b\", \"w\": 0}\n{\"text\": \"c\"}\n{\"text\": \"d\", \"w\": 1e7}\n"
      "{\"text\": \"e\", \"w\": \"much\"}\n",
      rules, "in.jsonl");
  ASSERT_EQ(rows.size(), 5u);
  EXPECT_EQ(rows[0].weight, 2);
  EXPECT_EQ(rows[1].weight, 0);
  EXPECT_EQ(error_of(rows[2]), "in.jsonl:3: w: expected a weight of the row, 0 or from 1e-6 to 1e6, got none");
  EXPECT_EQ(error_of(rows[3]), "in.jsonl:4: w: expected a weight of the row, 0 or from 1e-6 to 1e6, got 10000000");
  EXPECT_EQ(error_of(rows[4]), "in.jsonl:5: w: expected a number, got \"much\" (string)");
}

TEST(Examples, ColumnsGoByTheNamesInTheHeader) {
  const auto examples =
      read("\xEF\xBB\xBFindex\tlabel\tgenre\tsentence\r\n7\t1\tfiction\ta \"quoted\" one\r\n", text_rules(), "in.tsv");
  ASSERT_EQ(examples.size(), 1u);
  EXPECT_EQ(examples[0].where, "in.tsv:2");
  EXPECT_EQ(examples[0].text, "a \"quoted\" one");
  EXPECT_EQ(examples[0].label, "1");
  EXPECT_EQ(examples[0].genre, "fiction");
  EXPECT_EQ(examples[0].id, "7");
  EXPECT_FALSE(examples[0].pair);
}

TEST(Examples, AFileWithoutHeaderHasTheColumnsOfItsTask) {
  ExampleRules rules = text_rules();
  rules.without_header = {"source", "label", "mark", "sentence"};
  const auto bare = read("gj04\t1\t\tThe sailors rode .\ngj04\t0\t*\tThe the .\n", rules);
  ASSERT_EQ(bare.size(), 2u);
  EXPECT_EQ(bare[0].where, "in:1");
  EXPECT_EQ(bare[0].text, "The sailors rode .");
  EXPECT_EQ(bare[1].label, "0");
  const auto named = read("index\tsentence\n0\tThe sailors .\n", rules);
  ASSERT_EQ(named.size(), 1u);
  EXPECT_EQ(named[0].text, "The sailors .");
  EXPECT_FALSE(named[0].label);
}

TEST(Examples, ATableWithoutTheNeededColumnsIsRefused) {
  EXPECT_ERROR(read("a\tb\nx\ty\n", text_rules()), kInput,
               "in:1: expected a header line with columns named sentence or text, got \"a, b\"");
  EXPECT_ERROR(read("premise\tlabel\nx\ty\n", pair_rules()), kInput, "columns named premise, hypothesis, got");
  EXPECT_ERROR(read("text\ttext\nx\ty\n", text_rules()), kInput, "in:1: two columns are named \"text\"");
  EXPECT_TRUE(read("", text_rules()).empty());
  EXPECT_TRUE(read("text\tlabel\n", text_rules()).empty());
}

TEST(Examples, CsvCellsMayBeQuoted) {
  const auto examples =
      read("premise,hypothesis,label\r\n\"a, b\",\"c \"\"d\"\"\",neutral\r\n", pair_rules(), "in.csv.gz.csv");
  ASSERT_EQ(examples.size(), 1u);
  EXPECT_EQ(examples[0].text, "a, b");
  EXPECT_EQ(examples[0].pair, "c \"d\"");
  EXPECT_EQ(examples[0].label, "neutral");
}

TEST(Examples, TheFirstNameThatIsThereCounts) {
  EXPECT_EQ(read("gold_label\tlabel\tpremise\thypothesis\nneutral\tx\ta\tb\n", pair_rules()).at(0).label, "neutral");
  EXPECT_EQ(read("{\"premise\": \"a\", \"hypothesis\": \"b\", \"gold_label\": null, \"label\": \"x\"}", pair_rules(),
                 "in.jsonl")
                .at(0)
                .label,
            "x");
}

TEST(Examples, JsonLabelsBecomeText) {
  const auto label = [](const std::string& value) {
    return read("{\"sentence\": \"a\", \"label\": " + value + "}", list_rules(), "in.jsonl").at(0).label;
  };
  EXPECT_EQ(label("true"), "true");
  EXPECT_EQ(label("2"), "2");
  EXPECT_EQ(label("2.5"), "2.5");
  EXPECT_EQ(label("\"good\""), "good");
  EXPECT_EQ(label("[\"a\", \"b\"]"), "a,b");
  EXPECT_EQ(label("[]"), "");
  EXPECT_EQ(label("null"), std::nullopt);
  EXPECT_EQ(label("-1"), "-1");  // what it means depends on the task
}

TEST(Examples, AListIsNoLabelOfATaskOfOneClass) {
  for (const char* list : {"[\"a\", \"b\"]", "[0.3, 0.7]", "[]"}) {
    const Example example =
        read("{\"sentence\": \"a\", \"label\": " + std::string(list) + "}", text_rules(), "in.jsonl").at(0);
    ASSERT_TRUE(example.error) << list;
    EXPECT_EQ(example.error->code(), ErrorCode::kTask) << list;
  }
}

TEST(Examples, AWrongRowIsReportedWithItsPlaceAndTheNextIsRead) {
  const std::string text = "sentence\tlabel\ngood\t1\nshort\nlong\t1\t2\nlast\t0\n";
  const auto examples = read(text, text_rules());
  ASSERT_EQ(examples.size(), 4u);
  EXPECT_STREQ(examples[1].error->what(), "in:3: expected 2 columns, got 1");
  EXPECT_STREQ(examples[2].error->what(), "in:4: expected 2 columns, got 3");
  EXPECT_EQ(examples[3].text, "last");
  const auto lines = read(
      "{\"sentence\": 5}\n{\"sentence\": \"a\"\n[1]\n{\"x\": 1}\n{\"sentence\": \"b\", \"label\": "
      "{}}\n\n{\"sentence\": \"c\"}\n",
      text_rules(), "in.jsonl");
  ASSERT_EQ(lines.size(), 6u);
  EXPECT_STREQ(lines[0].error->what(), "in.jsonl:1: sentence: expected a string, got 5 (integer)");
  EXPECT_EQ(lines[1].error->code(), ErrorCode::kJson);
  EXPECT_STREQ(lines[2].error->what(), "in.jsonl:3: expected an object, got an array");
  EXPECT_STREQ(lines[3].error->what(), "in.jsonl:4: expected a field named sentence or text, got x");
  EXPECT_STREQ(lines[4].error->what(), "in.jsonl:5: label: expected a label, got an object");
  EXPECT_EQ(lines[5].where, "in.jsonl:7");
  EXPECT_EQ(lines[5].text, "c");
}

TEST(Examples, ADocumentThatIsAnArrayHasARowAnItem) {
  for (const std::string name : {"in.json", "in.jsonl"}) {
    const auto examples = read(" [{\"sentence\": \"a\"},\n 7,\n {\"sentence\": \"b\"}]\n", text_rules(), name);
    ASSERT_EQ(examples.size(), 3u);
    EXPECT_EQ(examples[0].where, name + ": item 1");
    EXPECT_STREQ(examples[1].error->what(), (name + ": item 2: expected an object, got 7 (integer)").c_str());
    EXPECT_EQ(examples[2].text, "b");
  }
  EXPECT_TRUE(read("[]", text_rules(), "in.json").empty());
  EXPECT_ERROR(read("[{\"sentence\": \"a\"},\n", text_rules(), "in.json"), kJson, "in.json");
}

// ---- choices

constexpr const char* kCopa =
    R"({"premise": "It rained.", "choice1": "Wet.", "choice2": "Dry.", "question": "effect", "label": 0, "idx": 4})";

TEST(Examples, Copa) {
  const Example example = read_one(kCopa, ExampleForm::kCopa);
  EXPECT_EQ(example.text, "It rained.");
  EXPECT_EQ(example.pair, "effect");
  EXPECT_EQ(example.choices, (std::vector<std::string>{"Wet.", "Dry."}));
  EXPECT_EQ(example.label, "0");
  EXPECT_EQ(example.id, "4");
  const auto copa = [](const std::string& question, const std::string& label) {
    return R"({"premise": "p", "choice1": "a", "choice2": "b", "question": )" + question + ", \"label\": " + label +
           "}";
  };
  EXPECT_EQ(refusal(copa("\"why\"", "0"), ExampleForm::kCopa, kCopa),
            "in:1: question: expected cause or effect, got \"why\"");
  EXPECT_EQ(refusal(copa("\"cause\"", "2"), ExampleForm::kCopa, kCopa),
            "in:1: label: expected the number of one of 2 choices, got \"2\"");
  EXPECT_FALSE(read_one(copa("\"cause\"", "null"), ExampleForm::kCopa).label);
}

TEST(Examples, SwagInBothForms) {
  const std::string csv =
      ",video-id,fold-ind,startphrase,sent1,sent2,gold-source,ending0,ending1,ending2,ending3,label\n"
      "0,v,1,He sits. He,He sits.,He,gold,a.,b.,c.,d.,3\n";
  const Example row = read(csv, form_rules(ExampleForm::kSwag), "val.csv").at(0);
  const Example line = read_one(
      R"({"ending0": "a.", "ending1": "b.", "ending2": "c.", "ending3": "d.", "label": 3, "sent1": "He sits.", "sent2": "He"})",
      ExampleForm::kSwag);
  for (const Example& example : {row, line}) {
    EXPECT_EQ(example.text, "He sits.");
    EXPECT_EQ(example.pair, "He");
    EXPECT_EQ(example.choices, (std::vector<std::string>{"a.", "b.", "c.", "d."}));
    EXPECT_EQ(example.label, "3");
  }
  EXPECT_ERROR(read("sent1,sent2,ending0\na,b,c\n", form_rules(ExampleForm::kSwag), "val.csv"), kInput, "ending1");
}

TEST(Examples, SwagOfAnyNumberOfEndings) {
  const ExampleRules rules = form_rules(ExampleForm::kSwag);
  const auto all = read("sent1,sent2,ending0,ending1,ending2,ending3,ending4,label\na,b,c,d,e,f,g,4\na,b,c,d,,,,1\n",
                        rules, "val.csv");
  EXPECT_EQ(all.at(0).choices, (std::vector<std::string>{"c", "d", "e", "f", "g"}));
  EXPECT_EQ(all.at(0).label, "4");
  EXPECT_EQ(all.at(1).choices, (std::vector<std::string>{"c", "d"}));
  const Example two = read(R"({"sent1": "a", "sent2": "b", "ending0": "c", "ending1": "d", "label": 1})", rules).at(0);
  EXPECT_EQ(two.choices.size(), 2u);
  const auto refused = [&](const char* text) { return read(text, rules, "val.csv").at(0).error.value().message(); };
  EXPECT_EQ(refused("sent1,sent2,ending0,ending1,ending3,label\na,b,c,d,e,0\n"), "expected ending2 before ending3");
  EXPECT_EQ(refused("sent1,sent2,ending0,ending1,label\na,b,c,,0\n"),
            "expected two choices or more, ending0 and ending1, got 1");
  EXPECT_EQ(refused("sent1,sent2,ending0,ending1,label\na,b,c,d,2\n"),
            "label: expected the number of one of 2 choices, got \"2\"");
}

TEST(Examples, APromptWithLetteredAnswersIsReadAsSwag) {
  const ExampleRules rules = form_rules(ExampleForm::kSwag);
  const Example row = read("id,prompt,A,B,C,D,E,answer\n7,Why ?,a,b,c,d,e,D\n", rules, "train.csv").at(0);
  EXPECT_EQ(row.id, "7");
  EXPECT_EQ(row.text, "Why ?");
  EXPECT_FALSE(row.pair);
  EXPECT_EQ(row.choices, (std::vector<std::string>{"a", "b", "c", "d", "e"}));
  EXPECT_EQ(row.label, "3");
  const Example about = read("prompt,context,A,B,answer\nWhy ?,It rained .,a,b,A\n", rules, "train.csv").at(0);
  EXPECT_EQ(about.text, "It rained .");
  EXPECT_EQ(about.pair, "Why ?");
  EXPECT_FALSE(read("prompt,A,B\nWhy ?,a,b\n", rules, "test.csv").at(0).label);
  EXPECT_EQ(read("prompt,A,B,answer\nWhy ?,a,b, b\n", rules, "test.csv").at(0).label, "1");
  for (const std::string answer : {"C", "1", "AB"})  // a number may count from 0 or from 1
    EXPECT_EQ(read("prompt,A,B,answer\nWhy ?,a,b," + answer + "\n", rules, "test.csv").at(0).error.value().message(),
              "answer: expected a letter from A to B, got \"" + answer + "\"");
}

constexpr const char* kStory =
    R"({"story_id": "s-1", "obs1": "He left.", "obs2": "He came back.", "hyp1": "Rain.", "hyp2": "Sun."})";

TEST(Examples, AlphaNliTakesItsLabelsFromAnotherFile) {
  const std::string rows = std::string(kStory) + "\n{\n" + kStory + "\n" + kStory + "\n";
  const auto read_with = [&](const std::string& labels) {
    ExampleReader reader(ByteSource(to_bytes(rows), "in"), form_rules(ExampleForm::kAlphaNli), std::nullopt,
                         LineReader(ByteSource(to_bytes(labels), "labels")));
    std::vector<Example> examples;
    for (Example example; reader.next(example);) examples.push_back(example);
    return examples;
  };
  const auto examples = read_with("1\n2\n2 \nx\n");
  ASSERT_EQ(examples.size(), 4u);
  EXPECT_EQ(examples[0].label, "0");
  EXPECT_EQ(examples[0].id, "s-1");
  EXPECT_TRUE(examples[1].error) << "a bad row has its line too";
  EXPECT_EQ(examples[2].label, "1");
  EXPECT_STREQ(examples[3].error->what(), "labels:4: expected 1 or 2, got \"x\"");
  EXPECT_ERROR(read_with("1\n2\n2\n"), kInput, "in:4: expected as many labels as rows, got fewer");
  EXPECT_ERROR(read_with("1\n2\n2\n1\n1\n"), kInput, "labels:5: expected as many labels as rows, got more");
}

TEST(Examples, AlphaNliTakesItsLabelsFromTheRows) {
  std::string row = kStory;
  row.insert(row.size() - 1, ", \"label\": \"2\"");
  EXPECT_EQ(read_one(row, ExampleForm::kAlphaNli).label, "1");
  row.replace(row.find("\"2\""), 3, "0");
  EXPECT_EQ(refusal(row, ExampleForm::kAlphaNli, kStory), "in:1: label: expected 1 or 2, got \"0\"");
}

TEST(Examples, ARacePassageGivesAnExampleAQuestion) {
  const auto race = [](const std::string& questions, const std::string& options, const std::string& answers) {
    return "{\"article\": \"Long ago.\", \"id\": \"high1.txt\", \"questions\": " + questions +
           ", \"options\": " + options + (answers.empty() ? "" : ", \"answers\": " + answers) + "}";
  };
  const std::string right =
      race(R"(["One _ .", "Two?"])", R"([["a", "b", "c", "d"], ["e", "f", "g", "h"]])", R"(["B", "D"])");
  const auto examples = read(right, form_rules(ExampleForm::kRace), "1.txt");
  ASSERT_EQ(examples.size(), 2u);
  EXPECT_EQ(examples[1].where, "1.txt:1: questions/1");
  EXPECT_EQ(examples[1].id, "high1.txt/1");
  EXPECT_EQ(examples[1].group, "high1.txt");
  EXPECT_EQ(examples[1].text, "Long ago.");
  EXPECT_EQ(examples[1].pair, "Two?");
  EXPECT_EQ(examples[1].choices, (std::vector<std::string>{"e", "f", "g", "h"}));
  EXPECT_EQ(examples[1].label, "3");
  EXPECT_EQ(examples[0].label, "1");
  EXPECT_FALSE(read_one(race("[\"q\"]", R"([["a", "b"]])", ""), ExampleForm::kRace).label);
  EXPECT_EQ(refusal(race("[\"q\"]", "[]", "[\"A\"]"), ExampleForm::kRace, right),
            "in:1: expected as many options and answers as questions, got 1 questions, 0 options, 1 answers");
  // A wrong question does not affect the others.
  const auto mixed = read(race(R"([1, "q", "q", "q", "q"])", R"([["a", "b"], ["a"], ["a", 2], ["a", "b"], ["a", "b"]])",
                               R"(["A", "A", "A", "C", "A"])"),
                          form_rules(ExampleForm::kRace));
  ASSERT_EQ(mixed.size(), 5u);
  EXPECT_STREQ(mixed[0].error->what(), "in:1: questions/0: expected a string, got 1 (integer)");
  EXPECT_STREQ(mixed[1].error->what(), "in:1: questions/1: options: expected two or more, got 1");
  EXPECT_STREQ(mixed[2].error->what(), "in:1: questions/2: options: expected strings, got 2 (integer)");
  EXPECT_STREQ(mixed[3].error->what(),
               "in:1: questions/3: answers: expected the number of one of 2 choices, got \"C\"");
  EXPECT_FALSE(mixed[4].error);
}

// ---- words in sentences

std::string wic(const std::string& places) {
  return R"({"word": "caf\u00e9", "sentence1": "A caf\u00e9 \ud83d\ude00.", "sentence2": "Caf\u00e9s.", "idx": 3, "label": true, )" +
         places + "}";
}

TEST(Examples, WicCountsCodePoints) {
  const std::string right = wic(R"("start1": 2, "end1": 6, "start2": 0, "end2": 5)");
  const Example example = read_one(right, ExampleForm::kWic);
  EXPECT_EQ(part(example.text, example.text_spans.at(0)), "caf\xC3\xA9");
  EXPECT_EQ(part(*example.pair, example.pair_spans.at(0)), "Caf\xC3\xA9s");
  EXPECT_EQ(example.label, "true");
  EXPECT_EQ(example.id, "3");
  for (const std::string places : {"\"start1\": 2, \"end1\": 10, \"start2\": 0, \"end2\": 5",
                                   "\"start1\": -1, \"end1\": 2, \"start2\": 0, \"end2\": 5",
                                   "\"start1\": 2, \"end1\": 2, \"start2\": 0, \"end2\": 5",
                                   "\"start1\": 3, \"end1\": 9223372036854775807, \"start2\": 0, \"end2\": 5"}) {
    EXPECT_NE(refusal(wic(places), ExampleForm::kWic, right)
                  .find("in:1: start1, end1: expected a range in a text of 9 characters"),
              std::string::npos)
        << places;
  }
  EXPECT_NE(
      refusal(wic(R"("start1": 2, "end1": 6, "start2": 0, "end2": 8)"), ExampleForm::kWic, right).find("start2, end2"),
      std::string::npos);
  EXPECT_EQ(refusal(wic(R"("start1": 2, "end1": 6, "start2": 0)"), ExampleForm::kWic, right), "in:1: no end2");
}

std::string wsc(const std::string& text, const std::string& first, int first_index, const std::string& second,
                int second_index) {
  return "{\"text\": " + quote_json(text) +
         ", \"idx\": 1, \"label\": false, \"target\": {\"span1_text\": " + quote_json(first) +
         ", \"span1_index\": " + std::to_string(first_index) + ", \"span2_text\": " + quote_json(second) +
         ", \"span2_index\": " + std::to_string(second_index) + "}}";
}

TEST(Examples, WscCountsWordsBetweenSpaces) {
  const Example example =
      read_one(wsc("Caf\xC3\xA9  owner Mr. Singer 's heels hurt him.", "mr. singer", 2, "him", 7), ExampleForm::kWsc);
  ASSERT_EQ(example.text_spans.size(), 2u);
  EXPECT_EQ(part(example.text, example.text_spans[0]), "Mr. Singer");
  EXPECT_EQ(part(example.text, example.text_spans[1]), "him") << "the word goes on with a full stop";
  EXPECT_EQ(example.label, "false");
}

TEST(Examples, AWscSpanThatIsAWordOffIsFoundNearby) {
  const Example example =
      read_one(wsc("it was it that they could use it , but", "they", 3, "it", 6), ExampleForm::kWsc);
  EXPECT_EQ(example.text_spans[1].begin_char, 30u) << "the nearest one, not the first";
  EXPECT_EQ(example.text_spans[0].begin_char, 15u);
}

TEST(Examples, WrongWscSpansAreBadRows) {
  const std::string right = wsc("a b", "a", 0, "b", 1);
  EXPECT_EQ(refusal(wsc("a b", "a", 0, "b", 2), ExampleForm::kWsc, right),
            "in:1: span2_index: expected the number of one of 2 words, got 2");
  EXPECT_NE(refusal(wsc("a b", "a", -1, "b", 1), ExampleForm::kWsc, right).find("got -1"), std::string::npos);
  EXPECT_EQ(refusal(wsc("a b", "c", 0, "b", 1), ExampleForm::kWsc, right),
            "in:1: span1_text: expected words from the text, got \"c\"");
  EXPECT_NE(refusal(wsc("a b", "", 0, "b", 1), ExampleForm::kWsc, right).find("span1_text"), std::string::npos);
  std::string many;
  for (int i = 0; i < 101; ++i) many += "a ";
  EXPECT_NE(refusal(wsc(many, many, 0, "a", 1), ExampleForm::kWsc, right).find("at most 100 words, got 101"),
            std::string::npos);
}

// ---- answers and entities

TEST(Examples, AMultircPassageGivesAnExampleAnAnswer) {
  const std::string row =
      R"({"idx": 0, "passage": {"text": "P.", "questions": [{"idx": 5, "question": "Q?", "answers": [{"text": "A", "idx": 9, "label": 1}, {"text": 4, "idx": 10}, {"text": "B", "idx": 11}]}, {"question": 3, "answers": []}, {"question": "R?", "answers": [{"text": "C", "label": 0}]}]}})";
  const auto examples = read(row, form_rules(ExampleForm::kMultirc));
  ASSERT_EQ(examples.size(), 5u);
  EXPECT_EQ(examples[0].where, "in:1: passage/questions/0/answers/0");
  EXPECT_EQ(examples[0].text, "P.");
  EXPECT_EQ(examples[0].pair, "Q? A");
  EXPECT_EQ(examples[0].label, "1");
  EXPECT_EQ(examples[0].id, "9");
  EXPECT_STREQ(examples[1].error->what(),
               "in:1: passage/questions/0/answers/1: text: expected a string, got 4 (integer)");
  EXPECT_FALSE(examples[2].label);
  EXPECT_EQ(examples[2].group, examples[0].group);
  EXPECT_STREQ(examples[3].error->what(), "in:1: passage/questions/1: question: expected a string, got 3 (integer)");
  EXPECT_NE(examples[4].group, examples[0].group);
}

std::string record_row(const std::string& entities, const std::string& queries) {
  return R"({"source": "CNN", "passage": {"text": "Caf\u00e9 Ada met Bo.", "entities": [)" + entities +
         "]}, \"qas\": [" + queries + "], \"idx\": 2}";
}

TEST(Examples, ARecordPassageGivesAnExampleAQuery) {
  const std::string right = record_row(
      R"({"start": 5, "end": 7}, {"start": 13, "end": 14})",
      R"({"query": "@placeholder was met", "idx": 8, "answers": [{"start": 13, "end": 14, "text": "Bo"}]}, {"query": "x @placeholder", "idx": 9})");
  const auto examples = read(right, form_rules(ExampleForm::kRecord));
  ASSERT_EQ(examples.size(), 2u);
  EXPECT_EQ(part(examples[0].text, examples[0].text_spans.at(0)), "Ada");
  EXPECT_EQ(part(examples[0].text, examples[0].text_spans.at(1)), "Bo");
  EXPECT_EQ(examples[0].pair, "@placeholder was met");
  EXPECT_EQ(examples[0].answers, std::vector<std::string>{"Bo"});
  EXPECT_EQ(examples[0].id, "8");
  EXPECT_TRUE(examples[1].answers.empty());
  const std::string query = R"({"query": "@placeholder", "idx": 8})";
  EXPECT_NE(refusal(record_row(R"({"start": 13, "end": 16})", query), ExampleForm::kRecord, right)
                .find("in:1: entities: expected a range in a text of 16 characters, got 13 to 17"),
            std::string::npos);
  EXPECT_NE(refusal(record_row(R"({"start": 3, "end": 9223372036854775807})", query), ExampleForm::kRecord, right)
                .find("entities"),
            std::string::npos);
  const auto bad_query = [&](const std::string& rest) {
    return refusal(record_row("", "{" + rest + "}"), ExampleForm::kRecord, right);
  };
  EXPECT_EQ(bad_query("\"query\": \"no gap\""), "in:1: qas/0: query: expected @placeholder, got none");
  EXPECT_EQ(bad_query(R"("query": "@placeholder", "answers": [{"start": 5, "end": 7, "text": "Bo"}])"),
            "in:1: qas/0: answers: expected the text at that position, \"Ada\", got \"Bo\"");
}

TEST(Examples, ARowWhosePassageWouldBeCopiedTooOftenIsRefused) {
  std::string questions;
  for (int i = 0; i < 3000; ++i) questions += "\"q\",";
  std::string options;
  for (int i = 0; i < 3000; ++i) options += "[\"a\",\"b\"],";
  questions.pop_back();
  options.pop_back();
  const std::string row = "{\"article\": \"" + std::string(100000, 'a') + "\", \"questions\": [" + questions +
                          "], \"options\": [" + options + "]}";
  const auto examples = read(row, form_rules(ExampleForm::kRace));
  ASSERT_EQ(examples.size(), 1u);
  ASSERT_TRUE(examples[0].error);
  EXPECT_EQ(examples[0].error->code(), ErrorCode::kTooLarge);
}

// ---- the real files

struct Published {
  std::string path;
  ExampleRules rules;
  size_t examples;
};

TEST(Examples, PublishedFilesAreReadWhole) {
  ExampleRules cola = text_rules();
  cola.without_header = {"source", "label", "mark", "sentence"};
  const auto pair = [](const std::string& first, const std::string& second, const std::string& label) {
    return ExampleRules{ExampleForm::kText, {{{first}}, {{second}}, {{label}}, {}, {}}, {}};
  };
  const std::vector<Published> files = {
      {"glue/CoLA/dev.tsv.xz", cola, 1043},
      {"glue/SST-2/dev.tsv.xz", text_rules(), 872},
      {"glue/MRPC/dev.tsv.xz", pair("#1 String", "#2 String", "Quality"), 408},
      {"glue/STS-B/dev.tsv.xz", pair("sentence1", "sentence2", "score"), 1500},
      {"glue/QQP/train_subset.tsv.xz", pair("question1", "question2", "is_duplicate"), 23497},
      {"glue/RTE/dev.csv.xz", pair_rules(), 277},
      {"glue/WNLI/dev.csv.xz", pair_rules(), 71},
      {"glue/MNLI/dev_matched.noisy_label.csv.xz", pair_rules(), 9815},
      {"nli/sick/dev.csv.xz", pair_rules(), 500},
      {"nli/mpe/dev.csv.xz", pair_rules(), 1000},
      {"nli/joci/dev.csv.xz", pair_rules(), 939},
      {"superglue/BoolQ/val.jsonl.xz", pair("passage", "question", "label"), 3270},
      {"superglue/BoolQ/train_subset_1886.json.xz", pair("passage", "question", "answer"), 1886},
      {"superglue/CB/val.jsonl.xz", pair_rules(), 56},
      {"superglue/COPA/val.jsonl.xz", form_rules(ExampleForm::kCopa), 100},
      {"superglue/WiC/val.jsonl.xz", form_rules(ExampleForm::kWic), 638},
      {"superglue/WSC/train.jsonl.xz", form_rules(ExampleForm::kWsc), 554},
      {"superglue/WSC/val.jsonl.xz", form_rules(ExampleForm::kWsc), 104},
      {"superglue/MultiRC/val.jsonl.xz", form_rules(ExampleForm::kMultirc), 4848},
      {"superglue/ReCoRD/dev32.jsonl.xz", form_rules(ExampleForm::kRecord), 0},
      {"race/dev_middle.jsonl.xz", form_rules(ExampleForm::kRace), 1436},
      {"race/dev_high.jsonl.xz", form_rules(ExampleForm::kRace), 3451},
      {"swag/swag_sample.json", form_rules(ExampleForm::kSwag), 10},
  };
  if (test::shared("data").empty()) GTEST_SKIP() << "needs the shared folder";
  for (const Published& file : files) {
    const std::string path = test::shared("data/" + file.path);
    ASSERT_NE(path, "") << file.path;
    ExampleReader reader(ByteSource(path), file.rules);
    size_t count = 0, labels = 0;
    for (Example example; reader.next(example); ++count) {
      EXPECT_FALSE(example.error) << example.error->what();
      labels += example.label.has_value() || !example.answers.empty();
    }
    EXPECT_EQ(labels, count) << file.path;
    if (file.examples > 0) {
      EXPECT_EQ(count, file.examples) << file.path;
    } else {
      EXPECT_GE(count, 32u) << file.path;
    }
  }
}

}  // namespace
}  // namespace deberta::examples_test
