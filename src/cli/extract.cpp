// The verb `extract`: entities by labels of the user's own; with --redact the texts without them, with --restore the
// texts as they were.
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "base/ascii.h"
#include "base/checked.h"
#include "cli/entity_answer.h"
#include "cli/verbs.h"
#include "deberta/error.h"
#include "deberta/pipeline.h"
#include "decode/redaction.h"
#include "pipeline/entity_labels.h"
#include "program/output.h"
#include "program/row_options.h"
#include "program/text_verb.h"
#include "rows/label_file.h"

namespace deberta::cli {
namespace {

constexpr JsonLimits kMapLimits{
    .max_bytes = size_t{1} << 30, .max_depth = 2, .max_nodes = size_t{1} << 26, .max_members = size_t{1} << 26};

// ---- labels

// --labels, the file and the set, of which one is enough.
std::vector<EntityLabel> asked_labels(const ExtractVerb& options) {
  std::vector<EntityLabel> labels;
  for (const std::string& name : options.labels) {
    if (!strip(name).empty()) labels.push_back(entity_label(std::string(strip(name))));
  }
  if (!options.labels_file.empty()) {
    for (EntityLabel& label : load_entity_labels(options.labels_file)) labels.push_back(std::move(label));
  }
  for (EntityLabel& label : preset_labels(options.preset)) labels.push_back(std::move(label));
  return labels;
}

double parse_threshold(const std::string& item, std::string_view number) {
  const std::optional<double> threshold = parse_number<double>(number);
  if (threshold && *threshold >= 0 && *threshold <= 1) return *threshold;
  throw Error(ErrorCode::kUsage, "--threshold",
              fmt::format("expected a number in 0..1, or LABEL=NUMBER, got {}", quote_json(item)));
}

// One number is for all labels; a label may have an equals sign, its number has none.
void read_thresholds(const ExtractVerb& options, ExtractOptions& settings) {
  for (const std::string& item : options.threshold) {
    const size_t sign = item.rfind('=');
    if (sign == item.npos) {
      settings.threshold = parse_threshold(item, strip(item));
      continue;
    }
    const std::string label(strip(std::string_view(item).substr(0, sign)));
    settings.thresholds.push_back({label, parse_threshold(item, strip(std::string_view(item).substr(sign + 1)))});
    const bool is_known = std::ranges::find(settings.labels, label, &EntityLabel::name) != settings.labels.end();
    if (!settings.labels.empty() && !is_known)
      throw Error(ErrorCode::kUsage, "--threshold",
                  fmt::format("expected one of the labels before the number, got {}", quote_json(label)));
  }
}

ExtractOptions extract_options(const ExtractVerb& options) {
  ExtractOptions settings;
  settings.rules = program::encoding_rules(options.encoding);
  settings.labels = asked_labels(options);
  settings.is_nested = options.nested;
  settings.is_multi_label = options.multi_label;
  settings.joins_neighbours = options.join;
  read_thresholds(options, settings);
  return settings;
}

// ---- texts as answers

program::AnswerColumns text_column() {
  return {"text"};
}

program::RowAnswer text_answer(const std::string& text, size_t tokens, size_t cut_tokens) {
  program::Cells cells{program::Cell(text)};
  return {{JsonObject{{"text", text}}, {std::move(cells)}}, tokens, cut_tokens};
}

void write_map(const std::string& path, const Redactor& redactor) {
  if (path.empty()) return;
  JsonObject placeholders;
  for (const auto& [placeholder, entity] : redactor.entries()) placeholders.emplace_back(placeholder, entity);
  const std::string text = Json(std::move(placeholders)).dump(1) + "\n";
  program::write_output(path, [&](FileWriter& out) { out.write(text); });
}

// Beside the redacted text the texts themselves would give away what it hides.
void check_kept(const ExtractVerb& options) {
  const auto refuse = [](const std::string& got, const std::string& remedy) {
    throw Error(ErrorCode::kUsage, "--redact",
                fmt::format("expected --keep without the texts, got {}: they would stand beside the redacted ones; {}",
                            got, remedy));
  };
  if (program::keeps_all_in_table(options)) refuse("all in a table", "name the other columns with --keep");
  const std::vector<std::string>& given = options.rows.input_field;
  const Names texts = given.empty() ? Names{"text"} : given;
  for (const std::string& name : program::kept_by_name(options.rows))
    if (std::ranges::find(texts, name) != texts.end()) refuse(quote_json(name), "leave it out");
}

// What stays unread would stay in the text.
void check_redaction(const ExtractVerb& options) {
  if (!options.redact_map.empty() && !options.redact)
    throw Error(ErrorCode::kUsage, "--redact-map", "expected --redact as well: nothing is replaced else");
  if (options.redact && options.encoding.truncate && options.encoding.truncate->value == TruncateChoice::kRight)
    throw Error(ErrorCode::kUsage, "--redact",
                "expected --truncate window or error, got right: entities in what is cut would stay in the text");
  if (options.redact) check_kept(options);
}

PlaceholderMap load_map(const std::string& path) {
  const Json document = load_json(path, kMapLimits);
  if (!document.is_object())
    throw Error(ErrorCode::kInput, path, fmt::format("expected an object, got {}", document.describe()));
  PlaceholderMap entities;
  for (const auto& [placeholder, entity] : document.as_object()) {
    if (!entity.is_string())
      throw Error(ErrorCode::kInput, path,
                  fmt::format("{}: expected a text, got {}", quote_json(placeholder), entity.describe()));
    entities.emplace(placeholder, entity.as_string());
  }
  return entities;
}

int restore_rows(const ExtractVerb& options, const program::RowReading& reading) {
  const PlaceholderMap entities = load_map(options.restore);
  return program::run_rows(options, reading, text_column(), [&](std::span<const Row> rows) {
    std::vector<program::RowAnswer> answers;
    for (const Row& row : rows) answers.push_back(text_answer(restore_text(row.text, entities), row.text.size(), 0));
    return answers;
  });
}

}  // namespace

int run(const ExtractVerb& options) {
  program::RowReading reading = program::reading_of(options);
  reading.shape = {.names = {"text"}, .needs_all = true, .labels = "labels"};
  if (!options.restore.empty()) return restore_rows(options, reading);
  check_redaction(options);
  const ExtractOptions settings = extract_options(options);
  const Pipeline pipeline = program::open_model(options.model);
  const auto answer = [&](std::span<const TextInput> inputs) { return extract(pipeline, inputs, settings); };
  if (!options.redact)
    return program::run_text_verb(
        options, reading, pipeline, entity_columns(), answer,
        [&](const Row& row, const TokenAnswer& result) { return entity_answer(row, result, options.offsets, true); },
        EncodeRow());
  Redactor redactor;
  reading.begin_file = [&] { redactor = {}; };
  const int code = program::run_text_verb(
      options, reading, pipeline, text_column(), answer,
      [&](const Row& row, const TokenAnswer& result) {
        return text_answer(redactor.redact(row.text, result.entities).text, result.tokens, result.cut_tokens);
      },
      EncodeRow());
  write_map(options.redact_map, redactor);
  return code;
}

}  // namespace deberta::cli
