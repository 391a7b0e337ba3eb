// The verb `convert`: a model directory in another form, and a table of everything that changed.
#include <optional>
#include <string>
#include <vector>

#include "base/checked.h"
#include "cli/model_conversion.h"
#include "cli/verbs.h"
#include "deberta/error.h"
#include "program/answers.h"
#include "program/model_options.h"

namespace deberta::cli {
namespace {

std::optional<Layout> layout_of(LayoutChoice layout) {
  if (layout == LayoutChoice::kV1) return Layout::kV1;
  if (layout == LayoutChoice::kV2) return Layout::kV2;
  return std::nullopt;
}

// None: as the weights are stored.
std::optional<DType> dtype_of(WrittenDtype dtype) {
  if (dtype == WrittenDtype::kFp32) return DType::kF32;
  if (dtype == WrittenDtype::kBf16) return DType::kBf16;
  if (dtype == WrittenDtype::kFp16) return DType::kF16;
  return std::nullopt;
}

// int8 is a calibration next to weights that stay as they are stored: --dtype int8 and the texts need each other.
void check_int8(const ConvertVerb& options) {
  const bool is_int8 = options.dtype == WrittenDtype::kInt8;
  const bool has_texts = !options.calibration_data.empty();
  if (is_int8 && !has_texts)
    throw Error(ErrorCode::kUsage, "--dtype int8",
                "expected --calibration-data FILE with a few hundred texts of the kind that the model will read");
  if (!is_int8 && has_texts) throw Error(ErrorCode::kUsage, "--calibration-data", "expected --dtype int8 as well");
  if (!is_int8 && options.smoothing.is_given())
    throw Error(ErrorCode::kUsage, "--smoothing", "expected --dtype int8 as well");
}

CalibrationRules calibration_rules(const ConvertVerb& options) {
  return {.reading = {.verb = options.verb, .texts = {}, .files = options.calibration_data, .settings = options.rows},
          .encoding = program::encoding_rules(options.encoding),
          .tokenizer = options.tokenizer,
          .smoothing = parse_number<double>(options.smoothing.value)};
}

std::vector<std::string> averaged_folders(const ConvertVerb& options) {
  if (!options.average.empty() && !options.adapter.empty())
    throw Error(ErrorCode::kUsage, "--average", "expected this or --adapter, got both");
  std::vector<std::string> folders;
  for (const std::string& name : options.average) folders.push_back(program::model_path(name));
  return folders;
}

}  // namespace

int run(const ConvertVerb& options) {
  if (options.output_dir.empty())
    throw Error(ErrorCode::kUsage, "--output-dir", "expected a new folder for the model, got none");
  if (options.output_dir == "-")
    throw Error(ErrorCode::kUsage, "--output-dir", "expected a new folder for the model, got standard output");
  ConversionJob job{.source = program::weights_path(options.model.name),
                    .target = options.output_dir,
                    .config = {},
                    .adapter = options.adapter,
                    .averaged = averaged_folders(options),
                    .form = {.dtype = dtype_of(options.dtype),
                             .layout = layout_of(options.layout),
                             .has_hf_head_names = options.head_names == HeadNames::kHf,
                             .drops_delta = options.drop_delta},
                    .shard_bytes = options.shard_size,
                    .wants_verify = options.verify,
                    .open = program::open_options(options.model),
                    .progress = options.progress};
  check_int8(options);
  if (options.dtype == WrittenDtype::kInt8) job.calibration = calibration_rules(options);
  std::vector<program::Answer> answers;
  for (const Change& change : convert_model(job)) {
    answers.push_back({{{"place", change.subject}, {"change", change.change}, {"detail", change.detail}},
                       {{change.subject, change.change, change.detail}}});
  }
  program::print_table(options.output, {"place", "change", "detail"}, answers);
  return 0;
}

}  // namespace deberta::cli
