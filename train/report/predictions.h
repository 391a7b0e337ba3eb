// eval_predictions.jsonl: the rows of an evaluation, each with what is right and what the model answered; and the
// figures that show where it is wrong.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace deberta::train {

constexpr const char* kPredictionsName = "eval_predictions.jsonl";

// What a row is answered with: a class, a tag for each word, a score, several scores.
enum class PredictionKind { kClass, kTags, kScore, kScores };

struct PredictedRow {
  std::string where;                                             // file and line
  std::string text;                                              // of tags: its words with spaces
  std::string pair = {};                                         // the second text
  std::string gold = {}, predicted = {};                         // kClass
  std::vector<std::string> gold_tags = {}, predicted_tags = {};  // kTags: one per word
  double gold_score = 0, predicted_score = 0;                    // kScore
  std::vector<double> gold_scores = {}, predicted_scores = {};   // kScores: by PredictedRows::scores
  std::optional<double> p_gold = {};  // probability of what is right; of tags the lowest of the row
};

struct PredictedRows {
  PredictionKind kind = PredictionKind::kClass;
  std::vector<PredictedRow> rows = {};
  std::vector<std::string> scores = {};  // kScores: their names
};

// An object a line: where, text, pair if there is one, gold and predicted (a string, strings, a number, or numbers by
// name), p_gold. Replaces the file as a whole. Throws kFileWrite.
void write_predictions(const std::string& path, const PredictedRows& predictions);

// What write_predictions() makes; the kind is that of the first row. Throws kJson (the first line that is none of this
// file, or of another kind), kFileNotFound, kFileRead.
PredictedRows load_predictions(const std::string& path);

// A class, or a type of entities.
struct ClassFigures {
  std::string name;
  uint64_t support = 0;    // how often it is right
  uint64_t predicted = 0;  // how often it was the answer
  uint64_t both = 0;

  double precision() const;  // 0 where it was never the answer
  double recall() const;     // 0 where it is never right
  double f1() const;
};

// By name. Of tags: entities of each type (metrics/tag_evaluation.h). None for scores.
std::vector<ClassFigures> class_figures(const PredictedRows& predictions);

// Of classes: counts[gold][predicted], both in the order of `names`. Rows of other classes are not counted.
std::vector<std::vector<uint64_t>> confusion(const PredictedRows& predictions, const std::vector<std::string>& names);

// Of a row with scores: the answer less what is right; of several the root of the mean square.
double score_error(PredictionKind kind, const PredictedRow& row);

// Indices of the `most` worst rows, the worst first: of classes and tags those whose right answer had the lowest
// probability (without probabilities: the wrong ones, of tags by the number of wrong words), of scores the largest
// errors (score_error()). Equally bad rows as they are in the file.
std::vector<size_t> worst_rows(const PredictedRows& predictions, size_t most);

}  // namespace deberta::train
