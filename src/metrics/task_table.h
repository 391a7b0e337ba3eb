// The tasks, one row each: their files, the model's input, the metrics. `eval`, the trainer and
// docs/tasks.md follow from this table; nothing else names a task.
#pragma once
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "data/examples.h"

namespace deberta {

// How an example becomes inputs and answers.
enum class TaskKind {
  kSentence,  // a class or a score of one text
  kPair,      // the same of two texts
  kSpans,     // of texts with marked words (WiC, WSC)
  kAnswers,   // yes or no for each answer of a question (MultiRC)
  kYesNo,     // the choice to which a head for pairs says yes loudest (COPA, AlphaNLI)
  kChoice,    // a head with one score a choice (RACE, SWAG)
  kEntity,    // the mention that fills a gap (ReCoRD)
  kQuestion,  // a span of a context (SQuAD)
  kTokens,    // a label for each word (CoNLL)
  kMasked,    // the pieces behind masks
};

// What is predicted.
enum class TaskTarget { kClass, kClasses, kScore, kText, kTags };

// Fields of the published files, "a|b": the first that is there. Only the forms of texts have them.
struct TaskFields {
  std::string_view text = {};
  std::string_view pair = {};
  std::string_view label = {};
  std::string_view genre = {};
  std::string_view without_header = {};  // the columns of a file without a header line
};

// Published hyper-parameters: epochs/warm-up/rate/batch/dropout before the classifier, as text; "" where none are.
struct TaskRecipe {
  std::string_view length = {};  // of an input in tokens
  std::string_view base = {};
  std::string_view large = {};
  std::string_view xlarge = {};
  std::string_view v2_xlarge = {};
  std::string_view v2_xxlarge = {};
  std::string_view v3_large = {};
};

struct TaskRow {
  std::string_view name;
  std::string_view aliases = {};  // with spaces between
  std::string_view what = {};     // for people
  TaskKind kind = TaskKind::kSentence;
  TaskTarget target = TaskTarget::kClass;
  // In the original code's order, other names of a label after "="; none: those of the model or of the file.
  std::string_view labels = {};
  std::string_view metrics = {};  // the first selects a checkpoint
  ExampleForm form = ExampleForm::kText;
  TaskFields fields = {};
  std::string_view file = {};         // a published file's name
  std::string_view labels_file = {};  // the name of the file with its labels, where they stand apart
  std::string_view label_field = {};  // an example: the files have names of their own
  std::string_view pair_fields = {};  // an example: a text, or a pair by the names of two fields
  std::string_view input = {};        // what the model is shown, for people
  std::string_view tensors = {};      // of the head
  TaskRecipe recipe = {};
};

std::span<const TaskRow> task_table();

// By name or alias, any case, "_" as "-". Throws kUsage with the nearest name.
const TaskRow& find_task(std::string_view name);
const TaskRow* look_up_task(std::string_view name);  // nullptr when there is none

// The verb that answers rows of the task.
std::string_view verb_of(const TaskRow& task);

std::vector<std::string> split_words(std::string_view text, char separator = ' ');

// How the task's files are read. Names given replace the table's: the text, and its pair; the label.
ExampleRules example_rules(const TaskRow& task, const std::vector<std::string>& text_fields = {},
                           std::string_view label_field = {});

}  // namespace deberta
