// The rows. Labels, input forms and hyper-parameters are those of the original code and its papers.
#include "metrics/task_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/ascii.h"
#include "base/nearest.h"
#include "deberta/error.h"

namespace deberta {
namespace {

using enum TaskKind;
using enum TaskTarget;

constexpr std::string_view kNliLabels = "contradiction neutral entailment";
constexpr std::string_view kTwoWay = "not_entailment=not-entailment entailment";
constexpr std::string_view kYesNoLabels = "0=false=no 1=true=yes";
constexpr std::string_view kSame = "0=not_equivalent=not_duplicate=different 1=equivalent=duplicate=same";
constexpr std::string_view kSequenceHead = "pooler.dense, classifier";
constexpr std::string_view kPairs = "premise, hypothesis";

constexpr TaskFields kNliFields{
    .text = "premise|sentence1", .pair = "hypothesis|sentence2", .label = "gold_label|label", .genre = "genre"};
constexpr TaskFields kPlainFields{.text = "text|sentence", .label = "label"};

constexpr TaskRecipe kMnliRecipe{"256",
                                 "3/1000/3e-5/64/.1",
                                 "3/1000/1e-5/64/.2",
                                 "3/1000/5e-6/64/.3",
                                 "3/1000/4e-6/64/.25",
                                 "3/1000/3e-6/64/.3",
                                 "2/500/7e-6/64/.3",
                                 "3/1000/4.5e-5/64/.1",
                                 "3/1500/4.5e-5/64/.2",
                                 "3/1000/1.5e-5/64/.1"};

constexpr TaskRecipe kMnliSift{.base = "6/1000/1.5e-5/64/.1/5",
                               .v2_xxlarge = "6/1000/3e-6/64/.3/5",
                               .v3_xsmall = "10/1500/5e-5/64/.1/3",
                               .v3_small = "6/1000/3.5e-5/64/.1/5",
                               .v3_base = "6/1000/1.5e-5/64/.1/5"};

constexpr std::array kTasks = {
    TaskRow{.name = "cola",
            .what = "is a sentence acceptable English (GLUE)",
            .kind = kSentence,
            .labels = "0=unacceptable 1=acceptable",
            .metrics = "matthews_correlation accuracy",
            .fields = {.text = "sentence|text", .label = "label", .without_header = "source label mark sentence"},
            .file = "dev.tsv",
            .input = "sentence",
            .tensors = kSequenceHead,
            .recipe = {"64", "6/100/2e-5/32/.15", "6/100/7e-6/32/.15", "8/100/5e-6/32/.2", "8/100/3e-6/32/.2",
                       "10/100/2.5e-6/32/.2", "10/50/5.5e-6/32/.1"}},
    TaskRow{.name = "sst-2",
            .aliases = "sst2 sst",
            .what = "is a film review good (GLUE)",
            .kind = kSentence,
            .labels = "0=negative 1=positive",
            .metrics = "accuracy",
            .fields = {.text = "sentence|text", .label = "label"},
            .file = "dev.tsv",
            .input = "sentence",
            .tensors = kSequenceHead,
            .recipe = {"128", "6/500/2e-5/32/.15", "6/500/1e-5/32/.15", "6/500/3e-6/32/.2", "4/500/4e-6/32/.2",
                       "4/500/3e-6/32/.2", "8/500/6e-6/32/.1"}},
    TaskRow{.name = "mrpc",
            .what = "do two sentences mean the same (GLUE)",
            .kind = kPair,
            .labels = kSame,
            .metrics = "combined_score accuracy f1",
            .fields = {.text = "#1 String|sentence1", .pair = "#2 String|sentence2", .label = "Quality|label"},
            .file = "dev.tsv",
            .input = "sentence 1, sentence 2",
            .tensors = kSequenceHead,
            .recipe = {"128", "6/50/2e-5/32/.15", "6/50/1e-5/32/.15", "8/50/7e-6/32/.3", "6/50/3.5e-6/32/.2",
                       "6/50/2e-6/32/.2", "6/50/6e-6/32/.2"}},
    TaskRow{.name = "qqp",
            .what = "do two questions ask the same (GLUE)",
            .kind = kPair,
            .labels = kSame,
            .metrics = "combined_score accuracy f1",
            .fields = {.text = "question1", .pair = "question2", .label = "is_duplicate|label"},
            .file = "dev.tsv",
            .input = "question 1, question 2",
            .tensors = kSequenceHead,
            .recipe = {"320", "8/500/2e-5/64/.15", "8/500/1e-5/64/.15", "8/500/7e-6/64/.2", "10/1000/4e-6/64/.2",
                       "10/1000/3e-6/64/.2", "6/1000/1e-5/64/.2"}},
    TaskRow{.name = "sts-b",
            .aliases = "stsb",
            .what = "how similar two sentences are, 0 to 5 (GLUE)",
            .kind = kPair,
            .target = kScore,
            .metrics = "combined_score pearson spearmanr",
            .fields = {.text = "sentence1", .pair = "sentence2", .label = "score|label", .genre = "genre"},
            .file = "dev.tsv",
            .input = "sentence 1, sentence 2",
            .tensors = kSequenceHead,
            .recipe = {"128", "6/100/2e-5/32/.15", "4/100/7e-6/32/.15", "4/100/7e-6/32/.2", "4/100/4e-6/32/.2",
                       "4/100/3e-6/32/.2", "4/50/7e-6/32/.1"}},
    TaskRow{.name = "mnli",
            .aliases = "mnli-m mnli-matched",
            .what = "does a premise entail a hypothesis (GLUE, matched)",
            .kind = kPair,
            .labels = kNliLabels,
            .metrics = "accuracy",
            .fields = kNliFields,
            .file = "dev_matched.tsv",
            .input = kPairs,
            .tensors = kSequenceHead,
            .recipe = kMnliRecipe,
            .sift = kMnliSift},
    TaskRow{.name = "mnli-mm",
            .aliases = "mnli-mismatched",
            .what = "the same (GLUE, mismatched)",
            .kind = kPair,
            .labels = kNliLabels,
            .metrics = "accuracy",
            .fields = kNliFields,
            .file = "dev_mismatched.tsv",
            .input = kPairs,
            .tensors = kSequenceHead,
            .recipe = kMnliRecipe,
            .sift = kMnliSift},
    TaskRow{.name = "qnli",
            .what = "does a sentence answer a question (GLUE)",
            .kind = kPair,
            .labels = kTwoWay,
            .metrics = "accuracy",
            .fields = {.text = "sentence", .pair = "question", .label = "label"},
            .file = "dev.tsv",
            .input = "sentence, question",
            .tensors = kSequenceHead,
            .recipe = {"512", "4/500/2e-5/32/.15", "4/500/1e-5/32/.15", "4/500/7e-6/32/.2", "4/500/4e-6/64/.2",
                       "4/500/3e-6/64/.2", "6/200/7e-6/64/.2"}},
    TaskRow{.name = "rte",
            .what = "does a text entail a sentence (GLUE, SuperGLUE)",
            .kind = kPair,
            .labels = kTwoWay,
            .metrics = "accuracy",
            .fields = kNliFields,
            .file = "dev.tsv",
            .input = kPairs,
            .tensors = kSequenceHead,
            .recipe = {"320", "6/100/2e-5/32/.2", "6/50/1e-5/32/.2", "6/50/5e-6/48/.2", "6/50/4e-6/48/.2",
                       "6/50/3e-6/48/.2", "6/50/1e-5/32/.3"}},
    TaskRow{.name = "wnli",
            .what = "does a sentence follow with its pronoun resolved (GLUE)",
            .kind = kPair,
            .labels = "not_entailment=not-entailment=0 entailment=1",
            .metrics = "accuracy",
            .fields = kNliFields,
            .file = "dev.tsv",
            .input = kPairs,
            .tensors = kSequenceHead},
    TaskRow{.name = "boolq",
            .what = "yes/no questions about a passage (SuperGLUE)",
            .kind = kPair,
            .labels = kYesNoLabels,
            .metrics = "accuracy",
            .fields = {.text = "passage", .pair = "question", .label = "label|answer"},
            .file = "val.jsonl",
            .input = "passage, question",
            .tensors = kSequenceHead},
    TaskRow{.name = "cb",
            .what = "does a text commit to a clause (SuperGLUE)",
            .kind = kPair,
            .labels = kNliLabels,
            .metrics = "f1_macro accuracy",
            .fields = kNliFields,
            .file = "val.jsonl",
            .input = kPairs,
            .tensors = kSequenceHead},
    TaskRow{
        .name = "copa",
        .what = "which of two is the cause or effect of a premise (SuperGLUE)",
        .kind = kYesNo,
        .labels = kYesNoLabels,
        .metrics = "accuracy",
        .form = ExampleForm::kCopa,
        .file = "val.jsonl",
        .input = "cause: choice, premise; effect: premise, choice; the choice with the larger probability of 1 wins",
        .tensors = kSequenceHead,
        .recipe = {"136", "3/50/1e-5/32/.1", "4/30/5e-6/16", "4/30/3e-6/24", "4/30/2e-6/24", "8/30/1e-6/24", ""}},
    TaskRow{.name = "alphanli",
            .aliases = "anli-abductive art",
            .what = "which of two explains what happened between two observations",
            .kind = kYesNo,
            .labels = kYesNoLabels,
            .metrics = "accuracy",
            .form = ExampleForm::kAlphaNli,
            .file = "dev.jsonl",
            .labels_file = "dev-labels.lst",
            .input = "both observations, hypothesis; the hypothesis with the larger probability of 1 wins",
            .tensors = kSequenceHead,
            .recipe = {"70", "", "", "", "", "", "10/1000/7e-6/256/.1"}},
    TaskRow{.name = "wic",
            .what = "does a word mean the same in two sentences (SuperGLUE)",
            .kind = kSpans,
            .labels = kYesNoLabels,
            .metrics = "accuracy",
            .form = ExampleForm::kWic,
            .file = "val.jsonl",
            .input = "sentence 1, sentence 2, with the word between * in each",
            .tensors = kSequenceHead},
    TaskRow{.name = "wsc",
            .what = "does a pronoun refer to a noun (SuperGLUE)",
            .kind = kSpans,
            .labels = kYesNoLabels,
            .metrics = "accuracy",
            .form = ExampleForm::kWsc,
            .file = "val.jsonl",
            .input = "text, with the noun between * and the pronoun between #",
            .tensors = kSequenceHead},
    TaskRow{.name = "multirc",
            .what = "is an answer to a question correct (SuperGLUE)",
            .kind = kAnswers,
            .labels = kYesNoLabels,
            .metrics = "f1 exact_match accuracy",
            .form = ExampleForm::kMultirc,
            .file = "val.jsonl",
            .input = "passage, question and answer",
            .tensors = kSequenceHead},
    TaskRow{.name = "record",
            .what = "which entity of a passage fills a gap (SuperGLUE)",
            .kind = kEntity,
            .target = kText,
            .metrics = "f1 exact_match",
            .form = ExampleForm::kRecord,
            .file = "val.jsonl",
            .input = "passage, query with [MASK] for @placeholder; windows of 512, stride 256",
            .tensors = "proj, classifier",
            .recipe = {"512", "3/1000/2e-5/64/.3", "3/1000/1e-5/64/.3", "3/1000/7e-6/64/.3", "3/1000/5e-6/64/.15",
                       "3/1000/3e-6/64/.15, accumulate 2", "3/500/7e-6/64/.1"}},
    TaskRow{.name = "squad",
            .aliases = "squad1 squad1.1 squad-v1.1",
            .what = "which span of a passage answers a question (SQuAD 1.1)",
            .kind = kQuestion,
            .target = kText,
            .metrics = "f1 exact_match",
            .file = "dev-v1.1.json",
            .input = "question, context; windows of 384, stride 128",
            .tensors = "qa_outputs",
            .recipe = {.length = "384"}},
    TaskRow{.name = "squad2",
            .aliases = "squad2.0 squad-v2 squad-v2.0",
            .what = "the same, or no answer (SQuAD 2.0)",
            .kind = kQuestion,
            .target = kText,
            .metrics = "f1 exact",
            .file = "dev-v2.0.json",
            .input = "question, context; windows of 384, stride 128",
            .tensors = "qa_outputs",
            .recipe = {.length = "384"}},
    TaskRow{.name = "race",
            .what = "exam questions about a passage, with four answers",
            .kind = kChoice,
            .metrics = "accuracy",
            .form = ExampleForm::kRace,
            .file = "test/high",
            .input = "passage, question and choice",
            .tensors = "pooler.dense, classifier with one row",
            .recipe = {"320", "6/100/2e-5/32/.2", "6/100/8e-6/32/.2", "6/100/7e-6/48/.2", "6/100/4e-6/48/.2",
                       "6/100/3e-6/48/.2", ""}},
    TaskRow{.name = "swag",
            .what = "which of several endings comes next",
            .kind = kChoice,
            .metrics = "accuracy",
            .form = ExampleForm::kSwag,
            .file = "val.csv",
            .input = "sentence 1, sentence 2 and ending",
            .tensors = "pooler.dense, classifier with one row"},
    TaskRow{.name = "ner",
            .aliases = "conll conll2003 conll-2003",
            .what = "named entities in sentences (CoNLL columns)",
            .kind = kTokens,
            .target = kTags,
            .labels = "O B-MISC I-MISC B-PER I-PER B-ORG I-ORG B-LOC I-LOC",
            .metrics = "f1 precision recall accuracy",
            .file = "valid.txt",
            .input = "sentence; a word takes the label of its first piece",
            .tensors = "proj, classifier (original); classifier (plain)",
            .recipe = {"512", "15/.1/2e-5/16/0", "15/.1/1e-5/16/0", "15/.1/7e-6/16/0", "15/.1/4e-6/16/0",
                       "15/.1/2.5e-6/16/0", "10/10/9e-6/16/0"}},
    TaskRow{.name = "extract",
            .aliases = "gliner entity-extraction",
            .what = "entities by labels of your own, with GLiNER models",
            .kind = kExtraction,
            .target = kEntities,
            .metrics = "f1 precision recall",
            .file = "valid.jsonl",
            .input = "labels, words; in windows of 512",
            .tensors = "rnn, prompt_rep_layer, span_rep_layer (markerV0, marker); rnn, scorer (token_level)"},
    TaskRow{.name = "nli",
            .aliases = "sick joci mpe snli anli xnli",
            .what = "does a premise entail a hypothesis",
            .kind = kPair,
            .labels = kNliLabels,
            .metrics = "accuracy f1_macro",
            .fields = kNliFields,
            .file = "dev.csv",
            .input = kPairs,
            .tensors = kSequenceHead},
    TaskRow{.name = "classification",
            .aliases = "classify",
            .what = "any classes",
            .kind = kSentence,
            .metrics = "accuracy f1_macro",
            .fields = kPlainFields,
            .file = "dev.csv",
            .pair_fields = "a,b",
            .input = "text, or a pair",
            .tensors = kSequenceHead},
    TaskRow{.name = "regression",
            .what = "any scores",
            .kind = kSentence,
            .target = kScore,
            .metrics = "pearson spearmanr mse",
            .fields = kPlainFields,
            .file = "dev.jsonl",
            .label_field = "score",
            .pair_fields = "a,b",
            .input = "text, or a pair",
            .tensors = "pooler.dense, classifier with a row for each score"},
    TaskRow{.name = "multi-label",
            .aliases = "multilabel",
            .what = "any number of classes at once, separated by commas",
            .kind = kSentence,
            .target = kClasses,
            .metrics = "f1_micro f1_macro accuracy",
            .fields = {.text = "text|sentence", .label = "labels|label"},
            .file = "dev.jsonl",
            .input = "text, or a pair",
            .tensors = kSequenceHead},
    TaskRow{.name = "ranking",
            .aliases = "rerank reranking",
            .what = "which documents a query asks for",
            .kind = kRanking,
            .target = kOrder,
            .metrics = "ndcg@10 mrr@10 map",
            .form = ExampleForm::kRanking,
            .fields = {.text = "query|question",
                       .pair = "documents|document|passages|passage",
                       .label = "labels|label|relevance"},
            .file = "dev.jsonl",
            .input = "query, document; the documents are ordered by their scores",
            .tensors = "pooler.dense, classifier with one row"},
    TaskRow{.name = "mlm",
            .aliases = "masked-lm wikitext",
            .what = "the masked pieces of a fixed sample of masks; one text per line",
            .kind = kMasked,
            .target = kText,
            .metrics = "accuracy perplexity",
            .form = ExampleForm::kLines,
            .fields = {.text = "text"},
            .file = "valid.txt",
            .input = "text with 15 % of its pieces masked",
            .tensors = "lm_predictions, with the enhanced mask decoder if the checkpoint has it"},
    TaskRow{.name = "causal",
            .aliases = "causal-lm clm",
            .what = "every piece from those before it; one text per line",
            .kind = kNextPiece,
            .target = kText,
            .metrics = "accuracy perplexity word_perplexity",
            .form = ExampleForm::kLines,
            .fields = {.text = "text"},
            .file = "valid.txt",
            .input = "text; a token sees itself and those before it",
            .tensors = "lm_predictions, of a model with is_decoder"},
};

std::string canonical(std::string_view name) {
  std::string text;
  for (const char c : name) text += c == '_' ? '-' : lower_case(c);
  return text;
}

// The task's files have fields that options may name.
bool has_named_fields(const TaskRow& task) {
  return task.form == ExampleForm::kText || task.form == ExampleForm::kLines || task.form == ExampleForm::kRanking;
}

}  // namespace

std::array<SizedRecipe, 9> sized_recipes(const TaskRecipe& recipe) {
  return {{{"base", recipe.base},
           {"large", recipe.large},
           {"xlarge", recipe.xlarge},
           {"v2-xlarge", recipe.v2_xlarge},
           {"v2-xxlarge", recipe.v2_xxlarge},
           {"v3-xsmall", recipe.v3_xsmall},
           {"v3-small", recipe.v3_small},
           {"v3-base", recipe.v3_base},
           {"v3-large", recipe.v3_large}}};
}

std::span<const TaskRow> task_table() {
  return kTasks;
}

std::vector<std::string> split_words(std::string_view text, char separator) {
  std::vector<std::string> words;
  while (!text.empty()) {
    const size_t end = std::min(text.find(separator), text.size());
    if (end > 0) words.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return words;
}

const TaskRow* look_up_task(std::string_view name) {
  const std::string wanted = canonical(name);
  for (const TaskRow& row : kTasks) {
    const std::vector<std::string> aliases = split_words(row.aliases);
    if (row.name == wanted || std::find(aliases.begin(), aliases.end(), wanted) != aliases.end()) return &row;
  }
  return nullptr;
}

const TaskRow& find_task(std::string_view name) {
  if (const TaskRow* row = look_up_task(name)) return *row;
  std::vector<std::string_view> names;
  names.reserve(kTasks.size());
  for (const TaskRow& row : kTasks) names.push_back(row.name);
  const std::string_view near = nearest_match(canonical(name), names);
  throw Error(ErrorCode::kUsage,
              {{.message = fmt::format("expected one of {}, got \"{}\"{}", fmt::join(names, ", "), name,
                                       near.empty() ? "" : fmt::format("; did you mean {}?", near)),
                .argument = "task"}});
}

bool predicts_pieces(const TaskRow& task) {
  return task.kind == TaskKind::kMasked || task.kind == TaskKind::kNextPiece;
}

bool has_prediction_files(const TaskRow& task) {
  return !predicts_pieces(task) && task.kind != TaskKind::kExtraction;
}

bool has_rows_of_fields(const TaskRow& task) {
  const bool has_own_form =
      task.kind == TaskKind::kTokens || task.kind == TaskKind::kQuestion || task.kind == TaskKind::kExtraction;
  return !has_own_form;
}

std::string_view verb_of(const TaskRow& task) {
  switch (task.kind) {
    case TaskKind::kQuestion:
      return "qa";
    case TaskKind::kTokens:
      return "ner";
    case TaskKind::kExtraction:
      return "extract";
    case TaskKind::kMasked:
      return "fill";
    case TaskKind::kEntity:
    case TaskKind::kNextPiece:
      return "eval";
    case TaskKind::kChoice:
    case TaskKind::kYesNo:
      return "choose";
    case TaskKind::kRanking:
      return "rerank";
    default:
      return task.labels == kNliLabels ? "nli" : "classify";
  }
}

void check_field_names(const TaskRow& task, const std::vector<std::string>& text_fields,
                       const std::vector<std::string>& label_fields) {
  const bool has_rows = has_rows_of_fields(task);
  const bool has_names = has_rows && has_named_fields(task);
  const auto refuse = [&](const char* argument) {
    throw Error(ErrorCode::kUsage, {{.message = fmt::format("expected none for the task {}, whose files name {} fields",
                                                            task.name, has_rows ? "their own" : "no"),
                                     .argument = argument}});
  };
  if (!text_fields.empty() && !has_names) refuse("fields");
  if (!label_fields.empty() && (!has_names || predicts_pieces(task))) refuse("label_field");
  check_label_fields(task, label_fields);
}

ExampleRules example_rules(const TaskRow& task, const std::vector<std::string>& text_fields,
                           const std::vector<std::string>& label_fields) {
  ExampleRules rules{task.form, {}, {}};
  if (!has_named_fields(task)) return rules;
  const auto names = [](std::string_view fields) { return split_words(fields, '|'); };
  rules.fields = {.text = {names(task.fields.text)},
                  .pair = {names(task.fields.pair)},
                  .label = {names(task.fields.label)},
                  .genre = names(task.fields.genre),
                  .id = {"idx", "id", "index", "guid", "pairID"}};
  rules.without_header = split_words(task.fields.without_header);
  rules.has_label_lists = task.target == TaskTarget::kClasses;
  // A file of one's own, which may have pairs: as the verbs read it.
  if (!task.pair_fields.empty() && text_fields.empty()) rules.fields.maybe_pair = "text_pair";
  if (!text_fields.empty()) rules.fields.text = {{text_fields[0]}, "fields"};
  if (text_fields.size() > 1) rules.fields.pair = {{text_fields[1]}, "fields"};
  rules.has_shares = task.target == TaskTarget::kClass;
  if (!label_fields.empty()) rules.fields.label = {label_fields, "label_field"};
  rules.needs_label = label_fields.size() == 1;
  if (label_fields.size() > 1) rules.value_fields = label_fields;
  return rules;
}

void check_label_fields(const TaskRow& task, const std::vector<std::string>& label_fields) {
  const auto refuse = [](std::string message) {
    throw Error(ErrorCode::kUsage, {{.message = std::move(message), .argument = "label_field"}});
  };
  if (label_fields.size() < 2) return;
  const bool has_own = !task.pair_fields.empty() && task.target != TaskTarget::kClasses;
  if (!has_own)
    refuse(
        fmt::format("expected one name for the task {}, got {}; only regression (one for each score) and "
                    "classification (one for the share of each class) take several",
                    task.name, label_fields.size()));
  for (size_t i = 0; i < label_fields.size(); ++i) {
    for (size_t j = 0; j < i; ++j) {
      if (lower_case(label_fields[i]) == lower_case(label_fields[j]))
        refuse(fmt::format("expected names that differ in more than capitals, got {} and {}", label_fields[j],
                           label_fields[i]));
    }
  }
}

}  // namespace deberta
