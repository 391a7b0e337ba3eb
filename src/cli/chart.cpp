// The verb `chart`: figures in a file of JSON to a picture.
#include <array>
#include <string>

#include "base/json.h"
#include "chart/chart_json.h"
#include "cli/verbs.h"
#include "data/byte_source.h"
#include "deberta/error.h"
#include "program/interrupt.h"
#include "program/output.h"

namespace deberta::cli {
namespace {

constexpr JsonLimits kLimits{.max_bytes = size_t{64} << 20, .max_nodes = 8'000'000};

// All of it, or one byte more than may be parsed.
std::string read_whole(ByteSource& source) {
  std::string text;
  std::array<char, 1 << 16> part;
  while (text.size() <= kLimits.max_bytes) {
    const size_t count = source.read(part);
    if (count == 0) break;
    text.append(part.data(), count);
  }
  program::check_interrupted();
  return text;
}

}  // namespace

int run(const ChartVerb& options) {
  if (options.arguments.empty())
    throw Error(ErrorCode::kUsage, options.verb, "expected a file of figures, or - for standard input, got none");
  ByteSource source(options.arguments.front(), [] { return program::interrupted() != 0; });
  const Json document = parse_json(read_whole(source), source.name(), kLimits);
  const std::string svg = chart::svg_file(chart::draw_json(document, source.name()));
  program::with_output(options.output, [&](FileWriter& out) { out.write(svg); });
  return 0;
}

}  // namespace deberta::cli
