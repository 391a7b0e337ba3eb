// Labelled examples as training reads them: tokens, and the targets of a head. From the files of every task of
// the table (metrics/task_table.h), read as `deberta eval` reads them.
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "deberta/config.h"
#include "deberta/pipeline.h"
#include "deberta/tokenizer.h"
#include "eval/entity_files.h"
#include "eval/example_files.h"
#include "metrics/task_table.h"
#include "train/objectives/task_batch.h"

namespace deberta::train {

struct TaskSequence {
  std::vector<int32_t> ids;
  int32_t second = 0;  // the first token of the second text; without one as many as ids
};

struct TaskMention {
  std::vector<int32_t> tokens;  // tokens of the sequence
  bool is_right = false;
};

// An entity of a text, by its words, the last one included, and the number of its label.
struct TaskEntity {
  int32_t first = 0, last = 0;
  int32_t label = 0;
};

// What is trained on at once. TaskBatch has the same fields for several of them.
struct TaskSample {
  std::string where = {};
  std::vector<TaskSequence> sequences = {};            // one; of a question the choices, of a query the documents
  int32_t label = -1;                                  // kClass; kChoice: which of the sequences
  std::vector<float> values = {};                      // kScore, kLabels; kClass: shares; kRanking: relevances
  std::vector<float> teacher_scores = {};              // kRanking: of each sequence; empty: the file has none
  float weight = 1;                                    // above 0
  std::vector<std::pair<int32_t, int32_t>> tags = {};  // kTokens: token and class
  int32_t first = 0, last = 0;                         // kSpan: tokens; both 0, [CLS], without an answer here
  std::vector<TaskMention> mentions = {};              // kMention
  // kExtraction: where each word begins in the sequence, and its end. The sequence has the pieces of the words alone;
  // labels are put before them in each step (extraction_samples.h), which then has `words`, and entities by the place
  // of their label among them.
  std::vector<int32_t> word_starts = {};
  std::vector<TaskEntity> entities = {};
  std::optional<std::vector<int32_t>> searched = {};  // labels that the whole text was searched for; none: not known
  LabelledWords words = {};

  size_t tokens() const;
};

// kRanking.
struct RankingRules {
  RankingLoss loss = RankingLoss::kPairwise;
  size_t max_documents = 8;  // documents of a query in a step (ranking_samples.h); 0: all
};

// kExtraction.
struct ExtractionRules {
  ExtractionConfig config = {};
  LabelRenames label_names = {};  // what the model reads in place of labels of the files
  bool needs_names = true;        // EntityFiles
  size_t most_labels = 25;        // that stand before a text
  size_t most_drawn = 25;         // of these, at most so many that the text has no entity of
};

// kExtraction: what labels before texts are made of.
struct LabelPool {
  std::vector<std::vector<int32_t>> pieces = {};  // of each label
  std::vector<int32_t> by_sample = {};            // the labels of each sample's entities, of all samples
  SpecialIds special = {};
  EntityMarks marks = {};
  bool embed_ent_token = true;
  size_t most_labels = 0, most_drawn = 0;  // ExtractionRules
};

// Rows that are worth a look: how many there are, and where the first of them stand.
struct NotedRows {
  size_t count = 0;
  std::vector<std::string> first = {};

  void add(const std::string& where);
  std::string places() const;  // " (in.csv:4, in.csv:9)"
};

struct TaskSamples {
  TaskLoss loss = TaskLoss::kClass;
  RankingRules ranking = {};
  bool has_weights = false;  // rows have weights; else all are 1
  // Names of the classes, by number: in the task's order; where it has none, sorted. kClass, kLabels, kTokens,
  // kExtraction. kScore: of the scores, where there are several, in the order of their fields.
  std::vector<std::string> labels = {};
  std::vector<TaskSample> samples = {};
  LabelPool pool = {};
  size_t examples = 0;    // read
  size_t unlabelled = 0;  // examples left out because the file has no label
  size_t bad = 0;         // rows that cannot be read and are left out
  size_t weightless = 0;  // examples of weight 0, which are left out
  size_t held_out = 0;    // examples of the files that are not read: those of the other part
  size_t held_out_labelled = 0;
  NotedRows repeated = {};  // held-out examples whose texts are among the others too; counted for examples alone
  size_t cut = 0;           // sequences longer than max_tokens, which lost their ends
  size_t in_windows = 0;    // texts longer than max_tokens, of which each window is a sample
  size_t unanswered = 0;    // kSpan: samples without an answer, or with it in another window
  size_t unordered = 0;     // kRanking: queries that are left out, as their loss learns no order from them
  size_t too_wide = 0;      // kExtraction: entities of more words than a span has
  size_t unaligned = 0;     // kExtraction: entities that begin or end within a word
  size_t in_no_window = 0;  // kExtraction: entities that no window has as a whole, or that are cut off
  size_t unsearched = 0;    // kExtraction: texts that were searched for no label, which are left out
  // Counted for examples (not for sentences and questions):
  size_t repaired = 0;                    // texts with bytes that are not UTF-8
  size_t empty = 0;                       // texts with nothing to read
  NotedRows contradicted = {};            // kClass: with the text of an earlier one and another label
  std::unordered_set<size_t> texts = {};  // hashes of the texts that are trained on (data_notes.h)
};

struct TaskReading {
  ExampleInput input = {};        // the classes are those of all rows, whatever its part is
  size_t max_tokens = 512;        // in a sequence
  bool reads_windows = false;     // each window of a longer text is a sample; else such texts lose their ends
  size_t stride = 128;            // tokens that consecutive windows share; also of contexts
  size_t max_examples = 0;        // reads only the first examples of the files; 0: all
  bool merges_sentences = false;  // kTokens: as many sentences of a document as fit are one text
  RankingRules ranking = {};
  ExtractionRules extraction = {};
};

// What a task's head learns, and its loss.
TaskLoss loss_of(const TaskRow& task);

// Whether each sample is a row of a file, which may weigh more than others.
bool has_row_weights(TaskLoss loss);

struct ReadingHooks {
  BadRows bad_rows = BadRows::kFail;  // kReport: its error goes to on_bad_row
  std::function<void(const Error& error)> on_bad_row = {};
  std::function<void(size_t examples, std::optional<double> fraction)> on_progress = [](size_t, auto) {};
  std::function<bool()> is_stopped = [] { return false; };
};

// Where `names` has each class of the samples. Throws kTask unless these are the samples' labels, in any case or by
// another name of the task's.
std::vector<int32_t> places_of_labels(const TaskRow& task, const std::vector<std::string>& names,
                                      const TaskSamples& samples);

// Classes in another order: class number n becomes its index in `names`. The labels are `names`
// afterwards. Throws as places_of_labels() does.
void reorder_labels(const TaskRow& task, const std::vector<std::string>& names, TaskSamples& samples);

// The same error about this row instead of one of several inputs.
Error error_of_row(const Error& error, const std::string& where);

// Nothing once stopped. Throws kUsage for a task without labelled files (language models), kInput for a bad row (the
// first, where those fail), kTask for labels that are not the task's, and what readers and tokenizer throw.
std::optional<TaskSamples> read_task_samples(const TaskRow& task, const TaskReading& reading,
                                             const Tokenizer& tokenizer, const ReadingHooks& hooks = {});

}  // namespace deberta::train
