// Examples of tasks as plain data, and the reader of their published formats. Model inputs, classes and metrics are in
// the room metrics. Questions with spans and sentences in columns have files of their own: squad.h,
// conll.h.
#pragma once
#include <cstddef>
#include <deque>
#include <optional>
#include <string>
#include <unordered_set>
#include <vector>

#include "data/code_points.h"
#include "data/records.h"

namespace deberta {

// A number under the name of its field, or of its class.
struct NamedNumber {
  std::string name;
  double value = 0;
};

// One thing to answer. Which parts are set depends on the format.
struct Example {
  std::string where;  // "dev.tsv:12", "val.jsonl:3: passage/questions/1/answers/0"
  uint64_t row = 0;   // number in the file, from 1; examples of one row share it
  std::string id;     // the file's own: idx, id, index, ...; of MultiRC and ReCoRD the inner one; may be empty
  std::string group;  // what is scored together: the question of a MultiRC answer, the passage of a RACE question
  std::string text;   // sentence; premise, passage, context, article, first observation; what a query is about
  // Second sentence; hypothesis, question, question and answer, second observation; "cause" or "effect" (COPA).
  std::optional<std::string> pair;
  std::vector<std::string> choices;  // COPA, SWAG, RACE, AlphaNLI; the documents of a query
  // WiC: a word in each text; WSC: both in the text; ReCoRD: the entities of the passage.
  std::vector<TextSpan> text_spans;
  std::vector<TextSpan> pair_spans;
  // As the file says it: a name, a number, the names of a multi-label row between commas; with choices the number of
  // the right one, from 0. None where the file does not tell.
  std::optional<std::string> label;
  // In place of `label`: the numbers of ExampleRules::value_fields, or the shares of an object of classes.
  std::vector<NamedNumber> values = {};
  double weight = 1;                 // what ExampleRules::weight_field names
  std::vector<std::string> answers;  // ReCoRD: the texts of the right entities
  // For each document of a query: its relevance, at least 0, and the score of a teacher. Empty: the file has none.
  std::vector<double> relevance, teacher_scores;
  std::string genre;
  std::optional<std::string> slice;  // what ExampleRules::slice_by names; none where the row has nothing there
  bool is_repaired = false;          // its lines contained bytes that are not UTF-8
  std::optional<Error> error;  // then only `where` is sure: kInput, kJson, kTooLarge; kTask for a label of another kind
};

// kLines: as kText, but a file whose name does not determine its format has one text per line.
enum class ExampleForm { kText, kLines, kWic, kWsc, kMultirc, kRecord, kCopa, kSwag, kRace, kAlphaNli, kRanking };

// Names of fields; the first one present counts. Only kText, kLines and kRanking use them; the other forms have their
// own.
struct ExampleFields {
  FieldNames text;
  FieldNames pair;  // none: the rows have no second text
  FieldNames label;
  std::vector<std::string> genre;
  std::vector<std::string> id;
  std::string maybe_pair = {};  // a second text, of rows that have it, without `pair`
};

struct ExampleRules {
  ExampleForm form = ExampleForm::kText;
  ExampleFields fields;
  std::vector<std::string> without_header;  // columns of a table that does not name them
  bool needs_label = false;                 // a file none of whose rows has the field of the label is refused
  bool has_label_lists = false;             // kText: a label may be a list of names; else that is refused
  FieldNames slice_by = {};                 // field of the slice, which some row of a file must have; none: no slices
  // kText: fields that hold a number each, which are the label together: a row has all of them or none.
  std::vector<std::string> value_fields = {};
  bool has_shares = false;       // kText: such numbers are shares of classes; a label may be an object of them
  FieldNames weight_field = {};  // a number of 0 or more in each row; none: there is none
};

// A field that some row of a file must have.
struct SoughtField {
  FieldNames field;
  bool is_found = false;                    // in the rows so far
  std::optional<Error> first_without = {};  // about the first of them that has none
};

class ExampleReader {
 public:
  // If neither `requested` nor the file's name says the form of rows, the form of examples does. `labels` (AlphaNLI): a
  // line for each row, "1" or "2".
  ExampleReader(ByteSource source, ExampleRules rules, std::optional<RowForm> requested = std::nullopt,
                std::optional<LineReader> labels = std::nullopt);

  // False at the end, and kInput there for a file without a field that it needs. The examples of a row are returned one
  // after the other, and a bad one does not spoil the others; rows of one document each (kRanking) that follow each
  // other with the same query are one example. Throws what RecordReader::next throws, and kInput when there are not as
  // many labels as rows.
  bool next(Example& example);

  const LineReader& lines() const { return records_.lines(); }

 private:
  bool find_next();
  void join_documents(Example& example);
  void read(JsonRow row);
  void take_label(Example& example);
  void look_for_fields(const JsonRow& row);
  void check_fields() const;

  ExampleRules rules_;
  RecordReader records_;
  std::optional<LineReader> labels_;
  std::deque<Example> ready_;
  uint64_t rows_ = 0;
  std::vector<SoughtField> sought_;
  std::unordered_set<size_t> queries_;  // hashes of those whose documents have rows of their own
};

}  // namespace deberta
