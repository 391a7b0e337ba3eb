// CoNLL columns: words with tags, predicted by a model or read from another such file.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "data/conll.h"
#include "deberta/error.h"
#include "deberta/pipeline.h"
#include "decode/word_tags.h"
#include "eval/answered_rows.h"
#include "eval/eval_hooks.h"
#include "eval/row_part.h"
#include "metrics/tag_evaluation.h"
#include "metrics/task_table.h"

namespace deberta {

struct TagSettings {
  std::vector<std::string> files;
  std::optional<RowPart> part = std::nullopt;  // counts sentences, with merges_sentences documents; none: all
  std::string predictions = {};                // a file; empty: a model answers
  EncodingRules rules = {.encode = {}, .long_text = LongText::kWindow};
  WordLabel word_label = WordLabel::kFirst;
  std::optional<Aggregation> aggregation = {};  // score what ner() finds by it, instead of the labels of words
  bool merges_sentences = false;                // as many sentences of a document as fit are one text, as in training
  std::vector<std::string> label_map = {};      // the tags in the model's order, instead of its labels
};

// Counts the sentences of files. With `merges_sentences` documents stay together.
class SentencePicker {
 public:
  SentencePicker(const std::optional<RowPart>& part, bool merges_sentences)
      : picker_(part), keeps_documents_(merges_sentences) {}

  bool takes(const ConllSentence& next);
  bool is_done() const { return picker_.is_done(); }
  size_t left_out() const { return picker_.left_out(); }

 private:
  PartPicker picker_;
  bool keeps_documents_;
  size_t documents_ = 0;
};

// A sentence of a file.
struct TaggedSentence {
  std::string where;
  bool begins_document = false;
  std::vector<std::string> words;
  TagOutcome tags;             // predicted: none where there is an error
  std::optional<Error> error;  // it cannot be read or answered

  std::string text() const;  // the words, joined by spaces
};

// What answer_tags() scores: all sentences of the files, and in `result` what is known before their metrics are. Throws
// as answer_tags() does.
std::vector<TaggedSentence> tag_sentences(const TaskRow& task, const TagSettings& settings, const OpenModel& open_model,
                                          const EvalHooks& hooks, EvalResult& result);

// The model is opened when the files have been read. Throws kTask for a model without the head or with other tags than
// the files.
AnsweredRows answer_tags(const TaskRow& task, const TagSettings& settings, const OpenModel& open_model,
                         const EvalHooks& hooks = {});

// The first half of answer_tags(): reads the files, for a model with these tags; none: any. Throws what it throws of
// them, and the error of a bad sentence unless those are reported.
void check_tagged_files(const TagSettings& settings, const std::vector<std::string>& model_tags,
                        const EvalHooks& hooks = {});

}  // namespace deberta
