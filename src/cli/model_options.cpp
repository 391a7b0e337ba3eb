// The same reading of model and input options for every verb.
#include "cli/model_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

#include "base/log.h"
#include "deberta/error.h"
#include "deberta/find_model.h"
#include "heads/sentence_modules.h"

namespace deberta::cli {

std::string model_path(const Options& options) {
  return transformer_folder(model_root(options));
}

std::string model_root(const Options& options) {
  const std::string& name = options.text("model");
  if (!name.empty()) return named_model_path(name);
  try {
    return named_model_path("builtin");
  } catch (const Error& error) {
    throw Error(ErrorCode::kUsage, "--model",
                fmt::format("expected a model directory, got none; give -m DIR or set DEBERTA_MODEL ({}: {})",
                            error.where(), error.message()));
  }
}

std::string named_model_path(const std::string& name) {
  return find_model(name, find_places(current_environment()));
}

OpenOptions open_options(const Options& options) {
  return {.reads_whole = options.text("load") == "read", .checks_crc = !options.flag("no-crc")};
}

Precision precision_of(const Options& options) {
  for (const Precision precision : {Precision::kBf16, Precision::kInt8}) {
    if (options.text("dtype") == to_string(precision)) return precision;
  }
  return Precision::kFp32;
}

std::optional<DType> dtype_of(const std::string& name) {
  if (name == "fp32") return DType::kF32;
  if (name == "bf16") return DType::kBf16;
  if (name == "fp16") return DType::kF16;
  return std::nullopt;
}

ModelOptions model_options(const Options& options) {
  const bool is_hf = options.text("compat") == "hf";
  const std::string emd = has_option(options.verb(), "emd") ? options.text("emd") : "auto";
  return {.precision = precision_of(options),
          .allows_uncalibrated = options.flag("allow-uncalibrated"),
          .threads = static_cast<size_t>(options.integer("threads")),
          .kernels = options.text("kernels"),
          .distance = is_hf ? DistanceRule::kHf : DistanceRule::kOriginal,
          .mask_decoder = emd == "on"             ? MaskDecoder::kOn
                          : emd == "off" || is_hf ? MaskDecoder::kOff
                                                  : MaskDecoder::kAuto,
          .empty_rows = is_hf ? EmptyRows::kAverage : EmptyRows::kZero};
}

ModelDirectory open_model(const Options& options) {
  return open_model_directory(model_root(options), model_options(options), open_options(options));
}

// Such a model guesses badly without the decoder it was trained with, and its file does not say how it was trained.
void warn_of_plain_head(const Options& options, const ModelDirectory& directory) {
  if (directory.model.head() != Head::kMaskedLm || options.text("emd") != "auto" || options.text("compat") == "hf" ||
      directory.model.has_mask_decoder() || directory.config.position_biased_input)
    return;
  warn(
      "the checkpoint has no position table: the plain head is used, not the enhanced mask decoder (--emd off says "
      "so)");
}

void print_check_report(const Model& model) {
  std::fputs(model.check_report().c_str(), stderr);
}

namespace {

// Of verbs that read long texts in windows their length has its own name.
size_t max_tokens_of(const Options& options) {
  return static_cast<size_t>(options.integer(has_option(options.verb(), "max-seq-len") ? "max-seq-len" : "max-tokens"));
}

LongText long_text_of(const std::string& truncate) {
  if (truncate == "error") return LongText::kRefuse;
  return truncate == "window" ? LongText::kWindow : LongText::kCut;
}

}  // namespace

EncodingRules encoding_rules(const Options& options) {
  EncodingRules rules;
  rules.encode.max_tokens = max_tokens_of(options);
  rules.encode.max_text_bytes = static_cast<size_t>(options.integer("max-text-bytes"));
  rules.encode.parse_special = options.text("special-text") == "parse";
  rules.encode.spm_ties = options.text("spm-ties") == "double" ? SpmTies::kDouble : SpmTies::kFloat;
  if (has_option(options.verb(), "truncate")) {
    rules.long_text = long_text_of(options.text("truncate"));
    rules.encode.truncate = options.text("truncate") == "left" ? Truncate::kLeft : Truncate::kRight;
  }
  for (const char* name : {"stride", "doc-stride"}) {
    if (has_option(options.verb(), name)) rules.stride = static_cast<size_t>(options.integer(name));
  }
  if (has_option(options.verb(), "batch-tokens"))
    rules.batch_tokens = static_cast<size_t>(options.integer("batch-tokens"));
  return rules;
}

TextInput text_input(const Row& row) {
  return {row.text, row.pair, row.items, row.encodings};
}

EncodeRow row_encoder(const Tokenizer& tokenizer, const EncodingRules& rules) {
  return [&tokenizer, rules](const Row& row) {
    return std::vector<Encoding>{encode_input(tokenizer, text_input(row), rules)};
  };
}

std::vector<TextInput> text_inputs(std::span<const Row> rows) {
  std::vector<TextInput> inputs;
  for (const Row& row : rows) inputs.push_back(text_input(row));
  return inputs;
}

}  // namespace deberta::cli
