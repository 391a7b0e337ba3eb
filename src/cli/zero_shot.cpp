// The verb `zero-shot`: texts to labels of the user's own choice, with an entailment model.
#include <algorithm>

#include "base/ascii.h"
#include "cli/verbs.h"
#include "data/lines.h"
#include "deberta/error.h"
#include "deberta/pipeline.h"
#include "pipeline/answer_json.h"
#include "program/text_verb.h"

namespace deberta::cli {
namespace {

// --labels, or the lines of --labels-file.
std::vector<std::string> candidate_labels(const ZeroShotVerb& options) {
  std::vector<std::string> names = options.labels;
  const std::string& path = options.labels_file;
  if (!path.empty() && !names.empty())
    throw Error(ErrorCode::kUsage, "--labels-file", "expected --labels or --labels-file, got both");
  if (!path.empty()) {
    LineReader lines{ByteSource(path)};
    for (TextLine line; read_text_line(lines, line);) {
      if (line.error) throw *line.error;
      names.push_back(line.text);
    }
  }
  std::vector<std::string> labels;
  for (const std::string& label : names) {
    std::string name(strip(label));
    if (name.empty()) continue;
    if (std::find(labels.begin(), labels.end(), name) != labels.end())
      throw Error(ErrorCode::kUsage, "--labels", "expected different labels, got \"" + name + "\" twice");
    labels.push_back(std::move(name));
  }
  return labels;
}

ZeroShotOptions zero_shot_options(const ZeroShotVerb& options) {
  ZeroShotOptions settings;
  settings.rules = program::encoding_rules(options.encoding);
  settings.labels = candidate_labels(options);
  settings.hypothesis_template = options.hypothesis_template;
  settings.is_multi_label = options.multi_label;
  settings.label_map = options.label_map;
  return settings;
}

// The best label, and the score of every candidate in the order given.
program::RowAnswer to_answer(const Row& row, const ZeroShotAnswer& result) {
  const LabelScore& best = result.labels.front();
  program::Cells cells{best.label, program::cell(best.score)};
  for (const float score : result.scores) cells.push_back(program::cell(score));
  return {{to_json(result, row.text), {std::move(cells)}}, result.tokens, result.cut_tokens};
}

}  // namespace

int run(const ZeroShotVerb& options) {
  const ZeroShotOptions settings = zero_shot_options(options);
  program::RowReading reading = program::reading_of(options);
  reading.shape = {{"text"}, false, true};
  const Pipeline pipeline = program::open_model(options.model);
  std::vector<std::string> columns{"label", "score"};
  columns.insert(columns.end(), settings.labels.begin(), settings.labels.end());
  return program::run_text_verb(
      options, reading, pipeline, columns,
      [&](std::span<const TextInput> inputs) { return zero_shot(pipeline, inputs, settings); }, to_answer,
      row_encoder(pipeline.tokenizer, settings.sequence_rules()));
}

}  // namespace deberta::cli
