// The same reading of model and input options for every verb.
#include "program/model_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

#include "base/log.h"
#include "checkpoint/folder_kind.h"
#include "deberta/error.h"
#include "deberta/find_model.h"
#include "hub/module_list.h"
#include "options/options.h"
#include "text/tokenizer_settings.h"

namespace deberta::cli {
namespace {

std::string checked_folder(const std::string& root, FolderUse use) {
  std::string folder = transformer_folder(root);
  check_folder_kind(folder, use);
  return folder;
}

}  // namespace

std::string model_path(const Options& options) {
  return checked_folder(model_root(options), FolderUse::kModel);
}

std::string tokenizer_path(const Options& options) {
  return checked_folder(model_root(options), FolderUse::kTokenizer);
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

TokenizerKind tokenizer_kind(const Options& options) {
  const bool is_fast = has_option(options.verb(), "tokenizer") && options.text("tokenizer") == "fast";
  return is_fast ? TokenizerKind::kFast : TokenizerKind::kSlow;
}

ConfigRules config_rules(const Options& options) {
  const bool is_hf = has_option(options.verb(), "compat") && options.text("compat") == "hf";
  return is_hf ? ConfigRules::kHf : ConfigRules::kOriginal;
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
          .empty_rows = is_hf ? EmptyRows::kAverage : EmptyRows::kZero,
          .tokenizer = tokenizer_kind(options),
          .config_rules = config_rules(options)};
}

std::optional<ScoreFunction> chosen_function(const Options& options) {
  const std::string& name = options.text("activation");
  if (name == "none") return ScoreFunction::kNone;
  if (name == "softmax") return ScoreFunction::kSoftmax;
  if (name == "sigmoid") return ScoreFunction::kSigmoid;
  return std::nullopt;
}

Pipeline open_model(const Options& options) {
  return open_pipeline(model_root(options), model_options(options), open_options(options));
}

// Such a model guesses badly without the decoder it was trained with, and its file does not say how it was trained.
void warn_of_plain_head(const Options& options, const Pipeline& pipeline) {
  if (pipeline.model.head() != Head::kMaskedLm || options.text("emd") != "auto" || options.text("compat") == "hf" ||
      pipeline.model.has_mask_decoder() || pipeline.config.position_biased_input)
    return;
  warn(
      "the checkpoint has no position table: the plain head is used instead of the enhanced mask decoder (--emd off "
      "silences this)");
}

void print_check_report(const Model& model) {
  std::fputs(model.check_report().c_str(), stderr);
}

namespace {

LongText long_text_of(const std::string& truncate) {
  if (truncate == "error") return LongText::kRefuse;
  return truncate == "window" ? LongText::kWindow : LongText::kCut;
}

}  // namespace

EncodingRules encoding_rules(const Options& options) {
  EncodingRules rules;
  if (!options.is_auto("max-tokens")) rules.encode.max_tokens = static_cast<size_t>(options.integer("max-tokens"));
  rules.encode.max_text_bytes = static_cast<size_t>(options.integer("max-text-bytes"));
  rules.encode.parse_special = options.text("special-text") == "parse";
  rules.encode.spm_ties = options.text("spm-ties") == "double" ? SpmTies::kDouble : SpmTies::kFloat;
  if (has_option(options.verb(), "truncate")) {
    rules.long_text = long_text_of(options.text("truncate"));
    rules.encode.truncate = options.text("truncate") == "left" ? Truncate::kLeft : Truncate::kRight;
  }
  if (has_option(options.verb(), "stride")) rules.stride = static_cast<size_t>(options.integer("stride"));
  if (has_option(options.verb(), "batch-tokens"))
    rules.batch_tokens = static_cast<size_t>(options.integer("batch-tokens"));
  return rules;
}

namespace {

// Nobody said anything else than the table.
bool is_free(const Options& options, const char* name) {
  return has_option(options.verb(), name) && (!options.is_given(name) || options.is_auto(name));
}

// An option of whole numbers that nobody gave, made smaller. Lengths that are auto are those of the library.
void lower_option(Options& options, const char* name, size_t limit, const std::string& origin) {
  if (!is_free(options, name)) return;
  const size_t now = options.is_auto(name) ? EncodeOptions{}.max_tokens : static_cast<size_t>(options.integer(name));
  if (limit < now) options.set(name, std::to_string(limit), origin);
}

// A limit that is used and leaves no room for a text: what the library does then differs from tokenizer to tokenizer.
void check_length(const Options& given, const TextLimits& limits, const std::string& folder) {
  if (limits.too_small.empty() || !is_free(given, "max-tokens")) return;
  throw Error(
      ErrorCode::kTokenizerFile, folder + "/tokenizer_config.json",
      fmt::format(
          "model_max_length: expected a length that leaves room for a text, got {}; correct it or set --max-tokens",
          limits.too_small));
}

}  // namespace

Options with_folder_limits(const Options& given) {
  return given.verb() == "embed" ? given : with_text_limits(given);
}

Options with_text_limits(const Options& given) {
  Options options = given;
  if (!has_option(given.verb(), "max-tokens") || !has_option(given.verb(), "model")) return options;
  std::string folder;
  TextLimits limits;
  try {
    folder = transformer_folder(model_root(given));
    limits = read_text_limits(folder);
  } catch (const Error&) {
    return given;
  }
  check_length(given, limits, folder);
  try {
    if (limits.max_tokens) {
      constexpr size_t kSmallestWindow = 8;
      const size_t window = std::max(*limits.max_tokens, kSmallestWindow);
      lower_option(options, "max-tokens", given.verb() == "qa" ? window : *limits.max_tokens, limits.where);
      lower_option(options, "stride", window / 4, limits.where);
    }
    if (limits.cuts_left && is_free(given, "truncate") &&
        (given.is_auto("truncate") || given.text("truncate") == "right"))
      options.set("truncate", "left", limits.where);
  } catch (const Error&) {
    return given;
  }
  return options;
}

}  // namespace deberta::cli
