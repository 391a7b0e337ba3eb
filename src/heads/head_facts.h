// The heads of models, a row for each: what it reads, what it answers, its tensors, and the names that others give it.
// Rooms ask the row, not which head it is. The code of a head is elsewhere, one function in each of:
// engine/output_heads.cpp, train/model/heads.cpp, decode.
// N rows that a head multiplies  C classes  D hidden  E embedding size  V vocabulary
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "deberta/config.h"
#include "deberta/head.h"
#include "heads/tensor_row.h"

namespace deberta {

// What a head has a row of logits for, and from which of the last hidden states it computes that row.
enum class HeadReads {
  kNothing,         // the hidden states are the answer
  kSequences,       // each sequence: what ModelConfig::classifier_pooling makes of its tokens
  kTokens,          // each token, or each of ForwardOptions::rows: its own state
  kTokensAndFirst,  // the same: its own state and that of the first token of its sequence
  kGroups,          // each of ForwardOptions::groups alone
  kLabelledWords,   // each label with the words of its sequence: ForwardOptions::entities
};

// Which groups of rows it takes; heads on tokens in place of their rows.
enum class HeadGroups {
  kNone,
  kAnyRows,       // one state made of those of any number of rows: the pieces of a mention
  kFirstAndLast,  // two rows, whose states stand side by side: where a span begins and ends
};

enum class HeadAnswers {
  kNothing,
  kClasses,   // a number for each of C classes, which config.json may name
  kEnds,      // two numbers: how well a token begins an answer, how well it ends one
  kWords,     // a number for each word of the vocabulary
  kReplaced,  // one number: above 0 where a token was replaced
  kEntities,  // a number for each label of each span of words, or three for each label of each word
};

// The layer between what a head reads and its output layer.
enum class HeadInner {
  kNone,
  kHidden,     // [D, D]
  kEmbedding,  // [E, D]
};

// What a head is trained for, by its class in `architectures` of config.json.
struct HeadUse {
  std::string_view ending;             // of the class name, after "Deberta" or "DebertaV2"
  std::optional<bool> is_causal = {};  // what ModelConfig::is_causal must be; none: either
  std::string_view name = {};          // in messages, where it is not the head's own
  std::string_view what = {};          // for people: "a tagger of words"
  std::string_view task = {};          // in the words of servers and of the Hugging Face hub; may be empty
  bool is_task_of_hub = true;          // whether the hub lists that task
  std::string_view peft_task = {};     // task_type of an adapter; empty: peft has none
  std::string_view verbs = {};         // verbs that answer; empty: the classes decide (pipeline/requirements.cpp)
  bool is_in_transformers = true;      // transformers computes such a head
  bool names_head = true;              // false: another head has the class too, and only the tensors tell

  bool fits(const ModelConfig& config) const { return !is_causal || *is_causal == config.is_causal; }
};

struct HeadFacts {
  Head head;
  std::string_view name;  // to_string(Head)
  HeadReads reads = HeadReads::kNothing;
  HeadGroups groups = HeadGroups::kNone;
  HeadAnswers answers = HeadAnswers::kNothing;
  int64_t fixed_outputs = 0;  // columns of its logits that every such head has; 0: words, or as many as classes
  HeadInner inner = HeadInner::kNone;
  Activation (*activation)(const ModelConfig&) = nullptr;  // activation of the inner layer; null without one
  std::string_view served_as = {};                         // what servers call such a model: "token_classifier"
  std::span<const std::string_view> marks = {};            // tensors by which a file is known to have the head
  std::span<const TensorRow> tensors = {};
  std::span<const HeadUse> uses = {};  // at least one, and one for each configuration; the usual one first

  bool has_logits() const { return answers != HeadAnswers::kNothing; }
  // Whether a batch has logits although nothing says what they are wanted for.
  bool has_plain_logits() const {
    return has_logits() && reads != HeadReads::kGroups && reads != HeadReads::kLabelledWords;
  }
  bool is_per_sequence() const { return reads == HeadReads::kSequences; }
  bool takes_rows() const { return reads == HeadReads::kTokens || reads == HeadReads::kTokensAndFirst; }
  bool takes_groups() const { return groups != HeadGroups::kNone; }
  bool takes_labelled_words() const { return reads == HeadReads::kLabelledWords; }
  bool has_classes() const { return answers == HeadAnswers::kClasses; }
  bool predicts_words() const { return answers == HeadAnswers::kWords; }
  // Whether the largest number of a row is the answer for that row; for spans it is the largest along the other axis.
  bool chooses_by_row() const { return has_classes() || predicts_words(); }

  // Hidden states side by side in a row that the head multiplies.
  int64_t states_per_row() const { return groups == HeadGroups::kFirstAndLast ? 2 : 1; }
  // Columns of the logits of a head with `classes` classes.
  int64_t outputs(const ModelConfig& config, int64_t classes) const;
};

const HeadFacts& facts_of(Head head);

// Every head, in the order in which a file is searched for their marks: the first with all its marks is the file's.
std::span<const HeadFacts* const> all_heads();

// The head that a class of config.json names; nullptr when it names none.
const HeadFacts* find_head(std::string_view architecture);

// The use that the configuration names in `architectures`, else the first that fits it.
const HeadUse& use_of(const HeadFacts& head, const ModelConfig& config);

// The row of this tensor in any head, whatever the configuration; nullptr when no head has it.
const TensorRow* find_head_tensor(std::string_view canonical_name);

// A language model's output table when it is not the word table. transformers has no other name for it.
constexpr std::string_view kOutputTable = "cls.predictions.decoder.weight";

}  // namespace deberta
