// Model and input options, read the same way for every verb.
#include "program/model_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <string_view>
#include <utility>

#include "base/ascii.h"
#include "base/json.h"
#include "base/log.h"
#include "checkpoint/folder_kind.h"
#include "deberta/error.h"
#include "deberta/find_model.h"
#include "heads/forms.h"
#include "hub/module_list.h"
#include "text/tokenizer_settings.h"

namespace deberta::program {
namespace {

std::string checked_folder(const std::string& root, FolderUse use) {
  std::string folder = transformer_folder(root);
  check_folder_kind(folder, use);
  return folder;
}

}  // namespace

std::string model_path(const std::string& name) {
  return checked_folder(model_root(name), FolderUse::kModel);
}

std::string weights_path(const std::string& name) {
  return checked_folder(model_root(name), FolderUse::kWeights);
}

std::string tokenizer_path(const std::string& name) {
  return checked_folder(model_root(name), FolderUse::kTokenizer);
}

NamedFolder parse_named_folder(const std::string& value) {
  const size_t equals = value.find('='), first = value.find_first_of("/,=");
  if (equals == value.npos || value[first] == '/') return {{}, value};
  NamedFolder named{{}, value.substr(equals + 1)};
  for (size_t at = 0; at <= equals;) {
    const size_t end = std::min(value.find(',', at), equals);
    named.names.push_back(value.substr(at, end - at));
    at = end + 1;
  }
  return named;
}

std::string model_root(const std::string& name) {
  if (name.empty())
    throw Error(ErrorCode::kUsage, "--model", "expected a model directory, got none; give -m DIR or set DEBERTA_MODEL");
  return find_model(name, find_places(current_environment()));
}

OpenOptions open_options(const WeightSettings& model) {
  return {.reads_whole = model.load == LoadWeights::kRead, .checks_crc = !model.no_crc};
}

Precision precision_of(DtypeChoice dtype) {
  if (dtype == DtypeChoice::kBf16) return Precision::kBf16;
  if (dtype == DtypeChoice::kInt8) return Precision::kInt8;
  return Precision::kFp32;
}

ConfigRules config_rules(const ModelSettings& model) {
  return compat_options(model.compat).config_rules;
}

ModelOptions compat_options(Compat compat) {
  return compat == Compat::kHf ? transformers_options() : ModelOptions();
}

ModelOptions model_options(const ModelSettings& model) {
  ModelOptions options = compat_options(model.compat);
  options.precision = precision_of(model.dtype);
  options.allows_uncalibrated = model.allow_uncalibrated;
  options.threads = model.threads;
  options.device = model.device;
  options.kernels = model.kernels;
  const MaskDecoder emd = model.emd.value_or(MaskDecoder::kAuto);
  if (emd != MaskDecoder::kAuto) options.mask_decoder = emd;
  options.tokenizer = model.tokenizer.value_or(TokenizerKind::kSlow);
  return options;
}

Pipeline open_model(const ModelSettings& model) {
  return open_pipeline(model_root(model.name), model_options(model), open_options(model));
}

// Such a model predicts badly without the decoder it was trained with, and its file does not say how it was trained.
void warn_of_plain_head(const ModelSettings& model, const Pipeline& pipeline) {
  if (!predicts_by_decoder(pipeline.config, facts_of(pipeline.model.head())) || model.emd != MaskDecoder::kAuto ||
      model.compat == Compat::kHf || pipeline.model.has_mask_decoder())
    return;
  warn(
      "the checkpoint has no position table: the plain head is used instead of the enhanced mask decoder (--emd off "
      "silences this)");
}

void print_check_report(const Model& model) {
  std::fputs(model.check_report().c_str(), stderr);
}

namespace {

LongText long_text_of(TruncateChoice truncate) {
  if (truncate == TruncateChoice::kError) return LongText::kRefuse;
  return truncate == TruncateChoice::kWindow ? LongText::kWindow : LongText::kCut;
}

}  // namespace

size_t stride_of(const Setting<size_t>& stride, size_t max_tokens) {
  constexpr size_t kSpecial = 2;  // [CLS] and [SEP]
  const size_t room = max_tokens - std::min(max_tokens, kSpecial);
  return stride.is_free() && stride.value >= room ? room / 4 : stride.value;
}

EncodingRules encoding_rules(const EncodingSettings& encoding) {
  EncodingRules rules;
  if (encoding.max_tokens.value) rules.encode.max_tokens = *encoding.max_tokens.value;
  rules.encode.max_text_bytes = encoding.max_text_bytes;
  rules.encode.parse_special = encoding.special_text == SpecialText::kParse;
  rules.encode.spm_ties = encoding.spm_ties;
  if (encoding.truncate) {
    rules.long_text = long_text_of(encoding.truncate->value);
    rules.encode.truncate = encoding.truncate->value == TruncateChoice::kLeft ? Truncate::kLeft : Truncate::kRight;
  }
  if (encoding.stride) rules.stride = stride_of(*encoding.stride, rules.encode.max_tokens);
  if (encoding.batch_tokens) rules.batch_tokens = *encoding.batch_tokens;
  return rules;
}

WindowScores window_scores(const WindowSettings& windows, const EncodingRules& rules) {
  if (windows.scores != WindowScores::kMean && rules.long_text != LongText::kWindow)
    throw Error(ErrorCode::kUsage, "--window-scores",
                "expected --truncate window as well, since texts are not read in windows otherwise");
  return windows.scores;
}

LabelRenames label_renames(const std::vector<std::string>& items) {
  LabelRenames names;
  const auto refuse = [](const std::string& expected, const std::string& item) {
    throw Error(ErrorCode::kUsage, "--label-names", fmt::format("expected {}, got {}", expected, quote_json(item)));
  };
  for (const std::string& item : items) {
    const size_t sign = std::min(item.find('='), item.size());
    std::string label(strip(std::string_view(item).substr(0, sign)));
    std::string name(strip(std::string_view(item).substr(std::min(sign + 1, item.size()))));
    if (label.empty() || name.empty()) refuse("a label of the files, = and the name that the model reads", item);
    if (std::ranges::find(names, label, &LabelRenames::value_type::first) != names.end())
      refuse("one name for each label", item);
    names.emplace_back(std::move(label), std::move(name));
  }
  return names;
}

namespace {

// Sets a number that the user did not give to `value`, or to the least that its range allows.
template <class T>
void follow(Setting<T>& setting, size_t value, const std::string& origin) {
  if (setting.is_free()) setting.set(std::max(value, static_cast<size_t>(range_min(*setting.row))), origin);
}

// Refuses a limit that applies and leaves no room for a text: the library's handling differs between tokenizers.
void check_length(const EncodingSettings& encoding, const TextLimits& limits, const std::string& folder) {
  if (limits.too_small.empty() || !encoding.max_tokens.is_free()) return;
  throw Error(
      ErrorCode::kTokenizerFile, folder + "/tokenizer_config.json",
      fmt::format(
          "model_max_length: expected a length that leaves room for a text, got {}; correct it or set --max-tokens",
          limits.too_small));
}

}  // namespace

void follow_folder_limits(EncodingSettings& encoding, const std::string& model_name) {
  std::string folder;
  TextLimits limits;
  try {
    folder = transformer_folder(model_root(model_name));
    limits = read_text_limits(folder);
  } catch (const Error&) {
    return;
  }
  check_length(encoding, limits, folder);
  if (limits.max_tokens) {
    constexpr size_t kSmallestWindow = 8;
    const size_t now = encoding.max_tokens.value.value_or(EncodeOptions{}.max_tokens);  // auto: the library's default
    if (const auto length = limits.length_for(now)) follow(encoding.max_tokens, *length, limits.where);
    const size_t stride = std::max(*limits.max_tokens, kSmallestWindow) / 4;
    if (encoding.stride && stride < encoding.stride->value) follow(*encoding.stride, stride, limits.where);
  }
  if (!limits.cuts_left || !encoding.truncate || !encoding.truncate->is_free()) return;
  const TruncateChoice truncate = encoding.truncate->value;
  if (truncate == TruncateChoice::kRight || truncate == TruncateChoice::kAuto)
    encoding.truncate->set(TruncateChoice::kLeft, limits.where);
}

}  // namespace deberta::program
