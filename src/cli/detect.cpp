// The verb `detect`: which pieces of a text look as if they had been replaced.
#include <unistd.h>

#include <cstdlib>

#include "cli/verbs.h"
#include "deberta/pipeline.h"
#include "decode/offset_units.h"
#include "pipeline/answer_json.h"
#include "program/text_verb.h"

namespace deberta::cli {
namespace {

constexpr const char* kReplaced = "\x1b[1;31m";  // bold red
constexpr const char* kPlain = "\x1b[0m";

bool wants_color(const DetectVerb& options) {
  if (program::format_of(options.output) != Format::kTable || options.color == Color::kNever) return false;
  if (options.color == Color::kAlways) return true;
  const auto is_set = [](const char* name) {
    const char* value = std::getenv(name);
    return value != nullptr && *value != 0;
  };
  const char* terminal = std::getenv("TERM");
  const bool is_dumb = terminal == nullptr || std::string_view(terminal) == "dumb";
  return ::isatty(STDOUT_FILENO) != 0 && !is_set("NO_COLOR") && !is_dumb;
}

// The text, with the pieces that count as replaced in colour.
std::string paint(const std::string& text, const ReplacedAnswer& result, double threshold) {
  std::string painted;
  size_t at = 0;
  for (const ReplacedToken& piece : result.pieces) {
    if (piece.score < threshold || piece.bytes.begin < at) continue;
    painted += program::escape_table(text.substr(at, piece.bytes.begin - at)) + kReplaced;
    painted += program::escape_table(text.substr(piece.bytes.begin, piece.bytes.end - piece.bytes.begin)) + kPlain;
    at = piece.bytes.end;
  }
  return painted + program::escape_table(text.substr(at));
}

program::RowAnswer to_answer(const Row& row, const ReplacedAnswer& result, const DetectVerb& options, bool is_painted) {
  const double threshold = options.threshold;
  program::RowAnswer answer{
      {to_json(result, row.text, options.offsets, threshold), {}}, result.tokens, result.cut_tokens};
  const OffsetUnits units(options.offsets, row.text);
  for (const ReplacedToken& piece : result.pieces) {
    const Offset span = units.convert(piece.chars, piece.bytes);
    answer.answer.lines.push_back({piece.piece, program::cell(piece.score), piece.score >= threshold ? "yes" : "no",
                                   program::cell(uint64_t{span.begin}), program::cell(uint64_t{span.end})});
  }
  if (is_painted) answer.answer.painted = paint(row.text, result, threshold);
  return answer;
}

}  // namespace

int run(const DetectVerb& options) {
  const EncodingRules rules = program::encoding_rules(options.encoding);
  const bool is_painted = wants_color(options);
  const Pipeline pipeline = program::open_model(options.model);
  return program::run_text_verb(
      options, program::reading_of(options), pipeline,
      {std::vector<std::string>{"piece", "score", "replaced", "start", "end"}, true},
      [&](std::span<const TextInput> inputs) { return detect(pipeline, inputs, rules); },
      [&](const Row& row, const ReplacedAnswer& result) { return to_answer(row, result, options, is_painted); });
}

}  // namespace deberta::cli
