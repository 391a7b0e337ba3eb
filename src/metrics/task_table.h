// The tasks, one row each: their files, the model's input, the metrics. `eval`, the trainer and
// docs/reference/tasks.md follow from this table; nothing else names a task.
#pragma once
#include <array>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "data/examples.h"

namespace deberta {

// How an example becomes inputs and answers.
enum class TaskKind {
  kSentence,    // a class or a score for one text
  kPair,        // the same for two texts
  kSpans,       // for texts with marked words (WiC, WSC)
  kAnswers,     // yes or no for each answer to a question (MultiRC)
  kYesNo,       // the choice that a head for pairs scores highest (COPA, AlphaNLI)
  kChoice,      // a head with one score per choice (RACE, SWAG)
  kRanking,     // a head with one score per document of a query
  kEntity,      // the mention that fills a gap (ReCoRD)
  kQuestion,    // a span of a context (SQuAD)
  kTokens,      // a label for each word (CoNLL)
  kExtraction,  // entities by labels that are read with the text (GLiNER)
  kMasked,      // the pieces behind masks
  kNextPiece,   // each piece from those before it
};

// What is predicted.
enum class TaskTarget { kClass, kClasses, kScore, kText, kTags, kEntities, kOrder };

// Fields of the published files, "a|b": the first one present. Only the text forms and kRanking have them.
struct TaskFields {
  std::string_view text = {};
  std::string_view pair = {};
  std::string_view label = {};
  std::string_view genre = {};
  std::string_view without_header = {};  // the columns of a file without a header line
};

// Published hyper-parameters: epochs/warm-up/rate/batch/dropout before the classifier, and of scale-invariant
// fine-tuning /lambda, as text; "" if there are none.
struct TaskRecipe {
  std::string_view length = {};  // tokens of an input
  std::string_view base = {};
  std::string_view large = {};
  std::string_view xlarge = {};
  std::string_view v2_xlarge = {};
  std::string_view v2_xxlarge = {};
  std::string_view v3_large = {};
  std::string_view v3_xsmall = {};
  std::string_view v3_small = {};
  std::string_view v3_base = {};
};

// The recipe's texts by size, as columns of docs/reference/tasks.md: "v3-large".
struct SizedRecipe {
  std::string_view size, text;
};
std::array<SizedRecipe, 9> sized_recipes(const TaskRecipe& recipe);

struct TaskRow {
  std::string_view name;
  std::string_view aliases = {};  // separated by spaces
  std::string_view what = {};     // for people
  TaskKind kind = TaskKind::kSentence;
  TaskTarget target = TaskTarget::kClass;
  // In the original code's order, other names of a label after "="; empty: those of the model or of the file.
  std::string_view labels = {};
  std::string_view metrics = {};  // the first selects a checkpoint
  ExampleForm form = ExampleForm::kText;
  TaskFields fields = {};
  std::string_view file = {};         // a published file's name
  std::string_view labels_file = {};  // the name of the file with its labels, if they are in a separate one
  std::string_view label_field = {};  // an example: the files have their own names
  std::string_view pair_fields = {};  // an example: a text, or a pair by the names of two fields
  std::string_view input = {};        // what the model reads, for people
  std::string_view tensors = {};      // the head's tensors
  TaskRecipe recipe = {};
  TaskRecipe sift = {};  // for scale-invariant fine-tuning
};

std::span<const TaskRow> task_table();

// By name or alias, in any case, "_" as "-". Throws kUsage with the nearest name.
const TaskRow& find_task(std::string_view name);
const TaskRow* look_up_task(std::string_view name);  // nullptr when there is none

// The task is one of language models: texts without labels.
bool predicts_pieces(const TaskRow& task);

// A file can hold answers to the task's rows.
bool has_prediction_files(const TaskRow& task);

// The task's files have rows of named fields, whose metrics can be told apart by one of them.
bool has_rows_of_fields(const TaskRow& task);

// The verb that answers rows of the task.
std::string_view verb_of(const TaskRow& task);

std::vector<std::string> split_words(std::string_view text, char separator = ' ');

// How the task's files are read. Given names replace the table's: those of the text and its pair; that of the label.
// Several of the label: its numbers (check_label_fields()).
ExampleRules example_rules(const TaskRow& task, const std::vector<std::string>& text_fields = {},
                           const std::vector<std::string>& label_fields = {});

// Throws kUsage for several fields where the task has neither scores nor classes of the user's own, and for equal ones.
void check_label_fields(const TaskRow& task, const std::vector<std::string>& label_fields);

// Throws kUsage for such names where the files of the task have none to replace.
void check_field_names(const TaskRow& task, const std::vector<std::string>& text_fields,
                       const std::vector<std::string>& label_fields);

}  // namespace deberta
