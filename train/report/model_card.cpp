// Assembles the card part by part, and marks it with a hash so that a person's edits are recognised.
#include "train/report/model_card.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>
#include <vector>

#include "base/ascii.h"
#include "base/checked.h"
#include "base/sha256.h"
#include "base/utf8.h"
#include "chart/text.h"
#include "config/model_config.h"
#include "deberta/library.h"
#include "heads/forms.h"
#include "train/report/charts.h"
#include "train/report/run_page.h"
#include "train/report/text.h"
#include "train/state/run_folder.h"

namespace deberta::train {
namespace {

using chart::exact_number;
using chart::grouped;

constexpr std::string_view kMark = "\n<!-- made by deberta from the run; change the text and it stays as it is: ";
constexpr std::string_view kMarkEnd = " -->\n";
constexpr std::string_view kAutoModel = "AutoModel";  // transformers' class for an encoder

// The command with which a model answers, by the ending of its class in config.json; MODEL is the model's folder.
struct Command {
  std::string_view architecture;
  const char* line;
};
constexpr std::array kCommands = {
    Command{"ForMaskedLM", "fill -m MODEL \"The capital of France is [MASK] .\""},
    Command{"ForCausalLM", "eval --task causal -m MODEL texts.txt"},
    Command{"ForSequenceClassification", "classify -m MODEL \"a text\""},
    Command{"ForMultipleChoice", "choose -m MODEL \"a context\" \"a question\" \"one choice\" \"another\""},
    Command{"ForTokenClassification", "ner -m MODEL \"a text\""},
    Command{"ForQuestionAnswering", "qa -m MODEL \"a question\" \"its context\""},
    Command{"ForEntitySpans", "extract -m MODEL --labels person,city \"a text\""},
    Command{"ForEntityWords", "extract -m MODEL --labels person,city \"a text\""},
    Command{"ForPreTraining", "detect -m MODEL/discriminator \"a text\""},
};
constexpr const char* kEmbed = "embed -m MODEL \"a text\"";  // for an encoder
constexpr const char* kRank = "rerank -m MODEL \"a query\" \"one document\" \"another\"";
// A classifier of one class, by its configuration: the run says what it is for.
constexpr HeadUse kReranker{.ending = "ForSequenceClassification",
                            .what = "a reranker, which gives each document of a query a score",
                            .task = "text-ranking"};

struct Kind {
  const HeadFacts* head;
  const HeadUse* use;

  bool is_discriminator() const { return head->answers == HeadAnswers::kReplaced; }
  std::string_view task_of_hub() const { return use->is_task_of_hub ? use->task : ""; }
  const char* command() const {
    if (use == &kReranker) return kRank;
    const auto row = std::ranges::find(kCommands, use->ending, &Command::architecture);
    return row == kCommands.end() ? kEmbed : row->line;
  }
  // transformers' class for the model.
  std::string auto_class() const {
    return head->has_logits() ? fmt::format("AutoModel{}", use->ending) : std::string(kAutoModel);
  }
};

Kind kind_of(const RunRecord& record) {
  const ModelConfig& config = *record.config;
  const HeadFacts* head_facts = config.architectures.empty() ? nullptr : find_head(config.architectures.front());
  if (config.extraction)
    head_facts = &facts_of(config.extraction->has_spans() ? Head::kEntitySpans : Head::kEntityWords);
  if (record.option("objective") == "rtd") head_facts = &facts_of(Head::kReplacedToken);
  const HeadFacts& head = head_facts == nullptr ? facts_of(Head::kNone) : *head_facts;
  return {&head, record.option("task") == "ranking" ? &kReranker : &use_of(head, config)};
}

std::string model_type(const ModelConfig& config) {
  const Json document = raw_document(config);
  const Json* value = document.find("model_type");
  return value != nullptr && value->is_string() ? value->as_string() : "";
}

// Whether it is a form for ablations, which transformers would compute as another form; the engine has one of them, and
// the encoder of any decoder.
bool is_own_form(const ModelConfig& config, const Kind& kind) {
  return !find_foreign_form(config, *kind.head).empty() || !config.scales_by_terms;
}

// Whether the head is one that transformers lacks; transformers refuses the model_type.
bool pools_all_tokens(const ModelConfig& config, const Kind& kind) {
  return kind.head->is_per_sequence() && config.classifier_pooling != ClassifierPooling::kFirst;
}

// Whether transformers computes the answers of the model, not only its encoder.
bool answers_with_transformers(const ModelConfig& config, const Kind& kind) {
  return kind.use->is_in_transformers && !predicts_by_decoder(config, *kind.head) && !model_type(config).empty() &&
         !is_own_form(config, kind) && !pools_all_tokens(config, kind);
}

std::string detail(const RunRecord& record, const std::string& name) {
  const RunEvent* start = record.last_start();
  if (start == nullptr) return "";
  for (const auto& [key, value] : start->details) {
    if (key == name) return value;
  }
  return "";
}

// --card-base-model; else "org/name" of the model that the run began with, and "" for a folder, which means nothing on
// other machines.
std::string base_model(const RunRecord& record) {
  if (const std::string option = detail(record, "card-base-model"); !option.empty()) return option;
  const std::string name = detail(record, "model");
  const bool is_id = std::count(name.begin(), name.end(), '/') == 1 && name.front() != '.' && name.front() != '/' &&
                     name.back() != '/' && name.find_first_of(" \t\\") == std::string::npos;
  return is_id ? name : "";
}

std::vector<std::pair<std::string, double>> results_of(const RunRecord& record) {
  std::vector<std::pair<std::string, double>> metrics;
  if (!record.results) return metrics;
  for (const auto& [name, value] : record.results->as_object()) {
    const std::optional<double> number = parse_json_number(value);
    if (name.starts_with(kEvaluation) && number) metrics.emplace_back(name.substr(kEvaluation.size()), *number);
  }
  return metrics;
}

bool counts_text(std::string_view metric) {
  return metric.ends_with("pieces") || metric.ends_with("words");
}

// ---- the parts

// A YAML list of the names between commas; "" without a name.
std::string yaml_list(const char* key, const std::string& names) {
  std::string items;
  for (size_t begin = 0; begin < names.size();) {
    const size_t end = std::min(names.find(',', begin), names.size());
    const std::string_view name = strip(std::string_view(names).substr(begin, end - begin));
    if (!name.empty()) items += fmt::format("- {}\n", quote_json(name));
    begin = end + 1;
  }
  return items.empty() ? "" : fmt::format("{}:\n{}", key, items);
}

std::string front_matter(const RunRecord& record, const Kind& kind) {
  std::string yaml = "---\n";
  const bool is_of_gliner = record.config->extraction.has_value();
  const bool is_of_transformers = answers_with_transformers(*record.config, kind);
  yaml += fmt::format("library_name: {}\n", is_of_gliner ? "gliner" : is_of_transformers ? "transformers" : "deberta");
  const std::string_view task = kind.task_of_hub();
  if (!task.empty()) yaml += fmt::format("pipeline_tag: {}\n", task);
  const std::string base = base_model(record);
  if (!base.empty()) yaml += fmt::format("base_model: {}\n", quote_json(base));
  if (const std::string license = detail(record, "card-license"); !license.empty())
    yaml += fmt::format("license: {}\n", quote_json(license));
  yaml += yaml_list("language", detail(record, "card-language"));
  yaml += yaml_list("datasets", detail(record, "card-datasets"));
  yaml += "tags:\n- deberta\n";
  if (!task.empty()) yaml += fmt::format("- {}\n", task);
  std::string names, values;
  for (const auto& [name, value] : results_of(record)) {
    if (counts_text(name) || !std::isfinite(value)) continue;
    names += fmt::format("- {}\n", quote_json(name));
    values += fmt::format("    - type: {0}\n      name: {0}\n      value: {1}\n", quote_json(name), value);
  }
  if (!names.empty()) yaml += "metrics:\n" + names;
  // The hub shows results with a task and a data set; without a task of its list they stay in the text below.
  if (!names.empty() && !task.empty()) {
    yaml += fmt::format(
        "model-index:\n- name: {}\n  results:\n  - task:\n      type: {}\n    dataset:\n      type: text\n      name: "
        "\"evaluation of the run\"\n    metrics:\n{}",
        quote_json(replace_invalid_utf8(record.name())), task, values);
  }
  return yaml + "---\n\n";
}

std::string use_part(const RunRecord& record, const Kind& kind) {
  const ModelConfig& config = *record.config;
  if (!find_foreign_form(config, *kind.head).empty())
    return "## How to use it\n\nIt is a form for ablations: `deberta finetune` and `deberta pretrain` read it, nothing "
           "else computes it. transformers would ignore keys of its config.json, and answer wrongly.\n\n";
  // A model that was trained on windows answers in windows; taggers do so anyway.
  const bool has_windows = record.option("truncate") == "window" && kind.use->ending == "ForSequenceClassification";
  std::string text =
      fmt::format("## How to use it\n\nWith deberta, where MODEL is this folder:\n\n    deberta {}{}\n\n",
                  kind.command(), has_windows ? " --truncate window" : "");
  if (config.extraction)
    return text +
           "With gliner:\n\n    from gliner import GLiNER\n    model = GLiNER.from_pretrained(\"MODEL\")\n"
           "    model.predict_entities(\"a text\", [\"person\", \"city\"])\n\n";
  if (config.is_causal)
    return text + "transformers cannot compute it: it has no DeBERTa that reads from left to right.\n\n";
  if (model_type(config).empty())
    return text + "transformers cannot read its config.json, which has no model_type.\n\n";
  if (is_own_form(config, kind))
    return text + "transformers cannot compute it: it would ignore keys of its config.json, and answer wrongly.\n\n";
  if (pools_all_tokens(config, kind))
    return text + fmt::format(
                      "transformers cannot compute it and refuses it: model_type {} is not one of its own. Its DeBERTa "
                      "would pool only the first token; the head of this model pools all (classifier_pooling {} in "
                      "config.json).\n\n",
                      model_type(config), to_string(config.classifier_pooling));
  const bool is_whole = answers_with_transformers(config, kind);
  if (!is_whole)
    text += fmt::format("transformers has no {}; it computes the encoder:\n\n",
                        kind.is_discriminator() ? "head for replaced tokens"
                                                : "enhanced mask decoder, so that it predicts masked words wrongly");
  return text + fmt::format("{0}    from transformers import {1}\n    model = {1}.from_pretrained(\"MODEL{2}\")\n\n",
                            is_whole ? "With transformers:\n\n" : "",
                            is_whole ? kind.auto_class() : std::string(kAutoModel),
                            kind.is_discriminator() ? "/discriminator" : "");
}

std::string list(const std::vector<std::pair<std::string, std::string>>& pairs) {
  std::string text;
  for (const auto& [name, value] : pairs) {
    if (!value.empty()) text += fmt::format("* {}: {}\n", escape_markdown(name), escape_markdown(value));
  }
  return text;
}

std::string data_part(const RunRecord& record) {
  std::vector<std::pair<std::string, std::string>> pairs;
  const RunEvent* start = record.last_start();
  for (const auto& [name, value] : start == nullptr ? decltype(pairs){} : start->details) {
    // The machine and the program say nothing about the model.
    const bool is_of_model = name != "verb" && name != "version" && name != "kernels" && name != "threads";
    if (is_of_model && !name.starts_with("card-")) pairs.emplace_back(name, value);
  }
  if (const auto tokens = record.last_value("tokens"))
    pairs.emplace_back("tokens seen", grouped(static_cast<int64_t>(*tokens)));
  if (record.state) {
    for (const auto& [name, hash] : record.state->hashes) pairs.emplace_back("SHA-256 of " + name, hash);
  }
  const std::string text = list(pairs);
  return text.empty() ? "" : "## Training data\n\n" + text + "\n";
}

std::string table_part(const char* title, const std::vector<std::pair<std::string, std::string>>& rows,
                       const char* header) {
  if (rows.empty()) return "";
  std::string text = fmt::format("## {}\n\n{}\n|---|---|\n", title, header);
  for (const auto& [name, value] : rows)
    text += fmt::format("| {} | {} |\n", escape_markdown(name), escape_markdown(value));
  return text + "\n";
}

std::string evaluation_part(const RunRecord& record) {
  std::vector<std::pair<std::string, std::string>> rows;
  for (const auto& [name, value] : results_of(record)) rows.emplace_back(readable(name), exact_number(value));
  std::string text = table_part("Evaluation", rows, "| metric | value |");
  const std::string share = record.option("validation-split");
  if (!text.empty() && parse_number<double>(share).value_or(0) > 0)
    text += fmt::format("Measured on {} of the training rows, drawn by the seed and not trained on.\n\n",
                        escape_markdown(share));
  return text;
}

std::string options_part(const RunRecord& record) {
  std::vector<std::pair<std::string, std::string>> rows;
  if (record.state) {
    for (const auto& [name, value] : record.state->options) {
      if (!value.empty()) rows.emplace_back(name, value);
    }
    const std::string total = record.is_out_of_time() ? " of " + std::to_string(record.state->total_steps) : "";
    rows.emplace_back("steps", std::to_string(record.last_step()) + total);
  }
  return table_part("Training options", rows, "| option | value |");
}

}  // namespace

std::string make_model_card(const RunRecord& record) {
  const Kind kind = kind_of(record);
  const std::string objective = objective_of(record), base = detail(record, "model");
  std::string card = front_matter(record, kind);
  card += fmt::format("# {}\n\nThis is {} of the DeBERTa family, trained with deberta {}{}{}.\n\n",
                      escape_markdown(record.name()), kind.use->what, version(),
                      objective.empty() ? "" : " (" + escape_markdown(objective) + ")",
                      base.empty() ? "" : ", beginning with the weights of " + escape_markdown(base));
  card += use_part(record, kind) + data_part(record) + evaluation_part(record) + options_part(record);
  card += fmt::format("[{0}]({0}) shows the whole run: losses, rates, norms, speed, evaluations.\n", kPageName);
  return card + std::string(kMark) + sha256_of(to_bytes(card)) + std::string(kMarkEnd);
}

bool is_own_card(std::string_view card) {
  const size_t mark = card.rfind(kMark);
  if (mark == std::string_view::npos || !card.ends_with(kMarkEnd)) return false;
  const size_t begin = mark + kMark.size();
  return card.substr(begin, card.size() - kMarkEnd.size() - begin) == sha256_of(to_bytes(card.substr(0, mark)));
}

}  // namespace deberta::train
