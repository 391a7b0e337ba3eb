// The verb `convert`: a model directory in another form, and a table of all that is not as it was.
#include <optional>
#include <string>
#include <vector>

#include "cli/model_conversion.h"
#include "cli/verbs.h"
#include "deberta/error.h"
#include "options/options.h"
#include "program/answers.h"
#include "program/model_options.h"

namespace deberta::cli {
namespace {

std::optional<Layout> layout_of(const std::string& name) {
  if (name == "v1") return Layout::kV1;
  if (name == "v2") return Layout::kV2;
  return std::nullopt;
}

// int8 is a calibration beside weights that stay as they are stored: neither makes sense without the other.
void check_int8(const Options& options) {
  const bool is_int8 = options.text("dtype") == "int8";
  const bool has_texts = !options.text("calibration-data").empty();
  if (is_int8 && !has_texts)
    throw Error(ErrorCode::kUsage, "--dtype int8",
                "expected --calibration-data FILE with a few hundred texts of the kind that the model will read");
  if (!is_int8 && has_texts) throw Error(ErrorCode::kUsage, "--calibration-data", "expected --dtype int8 as well");
  if (!is_int8 && options.is_given("smoothing"))
    throw Error(ErrorCode::kUsage, "--smoothing", "expected --dtype int8 as well");
}

}  // namespace

int run_convert(const Options& options) {
  if (options.text("to").empty())
    throw Error(ErrorCode::kUsage, "--to", "expected a new folder for the model, got none");
  const ConversionJob job{.source = model_path(options),
                          .target = options.text("to"),
                          .config = {},
                          .adapter = options.text("adapter"),
                          .form = {.dtype = dtype_of(options.text("dtype")),
                                   .layout = layout_of(options.text("layout")),
                                   .has_hf_head_names = options.text("head-names") == "hf"},
                          .shard_bytes = static_cast<uint64_t>(options.integer("shard-size")),
                          .wants_verify = options.flag("verify"),
                          .calibrates = options.text("dtype") == "int8"};
  check_int8(options);
  std::vector<Answer> answers;
  for (const Change& change : convert_model(job, options)) {
    answers.push_back({{{"place", change.place}, {"change", change.change}, {"detail", change.detail}},
                       {{change.place, change.change, change.detail}}});
  }
  print_table(options, {"place", "change", "detail"}, answers);
  return 0;
}

}  // namespace deberta::cli
