// eval_predictions.jsonl: the rows of an evaluation, each with its gold label and the model's answer; and the figures
// that show where the model is wrong.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace deberta::train {

constexpr const char* kPredictionsName = "eval_predictions.jsonl";

// The kind of answer to a row: a class, a tag for each word, a score, several scores.
enum class PredictionKind { kClass, kTags, kScore, kScores };

struct PredictedRow {
  std::string where;                                             // file and line
  std::string text;                                              // kTags: its words with spaces between them
  std::string pair = {};                                         // the second text
  std::string gold = {}, predicted = {};                         // kClass
  std::vector<std::string> gold_tags = {}, predicted_tags = {};  // kTags: one per word
  double gold_score = 0, predicted_score = 0;                    // kScore
  std::vector<double> gold_scores = {}, predicted_scores = {};   // kScores: by PredictedRows::scores
  std::optional<double> p_gold = {};  // probability of the gold label; kTags: the lowest in the row
};

struct PredictedRows {
  PredictionKind kind = PredictionKind::kClass;
  std::vector<PredictedRow> rows = {};
  std::vector<std::string> scores = {};  // kScores: their names
};

// Writes an object per line: where, text, pair if there is one, gold and predicted (a string, strings, a number, or
// numbers by name), p_gold. Replaces the file as a whole. Throws kFileWrite.
void write_predictions(const std::string& path, const PredictedRows& predictions);

// Reads a file of write_predictions(); the kind is that of the first row. Throws kJson (for the first line that is not
// from such a file, or is of another kind), kFileNotFound, kFileRead.
PredictedRows load_predictions(const std::string& path);

// The counts of a class, or of a type of entity.
struct ClassFigures {
  std::string name;
  uint64_t support = 0;    // how often it is the gold label
  uint64_t predicted = 0;  // how often it is the answer
  uint64_t both = 0;       // how often it is both

  double precision() const;  // 0 where it is never the answer
  double recall() const;     // 0 where it is never the gold label
  double f1() const;
};

// The figures by name; for tags those of the entities of each type (metrics/tag_evaluation.h); none for scores.
std::vector<ClassFigures> class_figures(const PredictedRows& predictions);

// For classes: counts[gold][predicted], both in the order of `names`. Rows of other classes are not counted.
std::vector<std::vector<uint64_t>> confusion(const PredictedRows& predictions, const std::vector<std::string>& names);

// For a row with a score: the answer minus the gold score; for several the root of their mean square difference.
double score_error(PredictionKind kind, const PredictedRow& row);

// Indices of the `most` worst rows, the worst first: for classes and tags those whose gold label has the lowest
// probability (without probabilities: the wrong ones, for tags by the number of wrong words), for scores those with the
// largest errors (score_error()). Equally bad rows keep the order of the file.
std::vector<size_t> worst_rows(const PredictedRows& predictions, size_t most);

}  // namespace deberta::train
