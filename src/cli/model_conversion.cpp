// Plan, write, verify, publish. The target gets its name only when all of that is done.
#include "cli/model_conversion.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "checkpoint/adapter.h"
#include "checkpoint/average.h"
#include "checkpoint/model_writer.h"
#include "cli/calibration.h"
#include "config/extraction_config.h"
#include "deberta/error.h"
#include "deberta/model.h"
#include "deberta/tokenizer.h"
#include "heads/head_facts.h"
#include "hub/model_folder.h"
#include "pipeline/entity_model.h"
#include "pipeline/requirements.h"
#include "program/interrupt.h"
#include "program/note.h"
#include "program/progress_printer.h"

namespace deberta::cli {
namespace {

// A stored model, without its tokenizer.
struct Opened {
  ModelConfig config;
  Checkpoint checkpoint;
};

// None where the folder has no files of one.
std::optional<Tokenizer> tokenizer_in(const std::string& folder) {
  try {
    return Tokenizer::load(folder);
  } catch (const Error& error) {
    if (error.code() != ErrorCode::kFileNotFound) throw;
    return std::nullopt;
  }
}

// One id is one piece in all models, or their mean would read other words than each of them.
void check_same_pieces(const std::optional<Tokenizer>& first, const std::string& folder) {
  const std::optional<Tokenizer> other = tokenizer_in(folder);
  const auto refuse = [&](const std::string& what) { throw Error(ErrorCode::kTokenizerFile, folder, what); };
  if (first.has_value() != other.has_value())
    refuse(fmt::format("expected {} as in the first model, got {}", first ? "a tokenizer" : "no tokenizer",
                       other ? "one" : "none"));
  if (!first) return;
  if (first->size() != other->size())
    refuse(
        fmt::format("expected a tokenizer of {} pieces as in the first model, got {}", first->size(), other->size()));
  for (size_t n = 0; n < first->size(); ++n) {
    const auto id = static_cast<int32_t>(n);
    if (first->piece(id) != other->piece(id))
      refuse(fmt::format("piece {}: expected \"{}\" as in the first model, got \"{}\"", id, first->piece(id),
                         other->piece(id)));
  }
}

Opened open_mean(const ConversionJob& job, Opened source, std::vector<Change>& changes) {
  const std::optional<Tokenizer> tokenizer = tokenizer_in(job.source);
  for (const std::string& folder : job.averaged) {
    check_model_directory(folder);
    check_same_pieces(tokenizer, folder);
  }
  AveragedModel mean = average_models(source.checkpoint, source.config, job.averaged, job.open);
  changes = std::move(mean.changes);
  return {std::move(source.config), std::move(mean.checkpoint)};
}

// The source, with the adapter merged if there is one, or averaged. `changes`: what that changed.
Opened open_source(const ConversionJob& job, std::vector<Change>& changes) {
  ModelConfig config = job.config ? *job.config : load_folder_config(job.source);
  Checkpoint checkpoint = Checkpoint::open(job.source, job.open);
  if (!job.averaged.empty()) return open_mean(job, {std::move(config), std::move(checkpoint)}, changes);
  if (job.adapter.empty()) return {std::move(config), std::move(checkpoint)};
  MergedModel merged = merge_adapter(checkpoint, config, job.adapter, job.open);
  changes = std::move(merged.changes);
  return {std::move(merged.config), std::move(merged.checkpoint)};
}

// Two rows of ids from across the vocabulary, the second one shorter.
ForwardResult run_on_fixed_ids(const Checkpoint& checkpoint, const ModelConfig& config) {
  const Model model = Model::load(checkpoint, config);
  const auto length = static_cast<size_t>(std::min<int64_t>(24, config.max_position_embeddings));
  std::vector<int32_t> ids;
  std::vector<uint8_t> mask;
  for (size_t i = 0; i < 2 * length; ++i) {
    ids.push_back(static_cast<int32_t>((i * 7919 + 1) % static_cast<size_t>(config.vocab_size)));
    mask.push_back(i < length + length / 2 + 1 ? 1 : 0);
  }
  const PackedRows packed = pack(
      {.sequences = 2, .length = length, .ids_BL = ids, .mask_BL = mask, .type_ids_BL = {}, .position_ids_BL = {}});
  ForwardOptions wanted;
  wanted.layers = {0, static_cast<int32_t>(config.num_hidden_layers)};
  if (config.num_hidden_layers == 0) wanted.layers.pop_back();
  wanted.wants_logits = facts_of(model.head()).has_plain_logits();
  ForwardResult result;
  model.forward(packed.batch, wanted, result);
  return result;
}

double largest_difference(const std::vector<float>& a, const std::vector<float>& b) {
  if (a.size() != b.size()) return INFINITY;
  double largest = 0;
  for (size_t i = 0; i < a.size(); ++i) largest = std::max(largest, std::abs(double{a[i]} - b[i]));
  return largest;
}

// Whether the values stay the same: nothing is rounded.
bool is_exact(const Conversion& conversion) {
  return std::all_of(conversion.tensors.begin(), conversion.tensors.end(), [](const PlannedTensor& tensor) {
    return tensor.from == tensor.dtype || size_of(tensor.from) < size_of(tensor.dtype);
  });
}

void verify_answers(const Opened& source, const Opened& written, const Conversion& conversion,
                    const std::string& target) {
  const ForwardResult expected = run_on_fixed_ids(source.checkpoint, source.config);
  const ForwardResult got = run_on_fixed_ids(written.checkpoint, written.config);
  double hidden = largest_difference(expected.pooled_BD, got.pooled_BD);
  for (size_t i = 0; i < expected.hidden.size(); ++i)
    hidden = std::max(hidden, largest_difference(expected.hidden[i].rows_TD, got.hidden[i].rows_TD));
  const double logits = largest_difference(expected.logits, got.logits);
  if (is_exact(conversion) ? hidden > 0 || logits > 0 : std::isinf(hidden) || std::isinf(logits)) {
    throw Error(ErrorCode::kTensors, target,
                fmt::format("verify: the converted model differs, hidden states by {:.3g}, logits by {:.3g}; nothing "
                            "is written",
                            hidden, logits));
  }
  program::note(is_exact(conversion)
                    ? fmt::format("verified: {} tensors; the same hidden states and logits", conversion.tensors.size())
                    : fmt::format("verified: {} tensors; hidden states differ by at most {:.3g}, logits by {:.3g}",
                                  conversion.tensors.size(), hidden, logits));
}

void verify(const ConversionJob& job, const Opened& source, const Conversion& conversion, const StagedFolder& folder) {
  const Opened written{load_folder_config(folder.path()), Checkpoint::open(folder.path(), job.open)};
  verify_tensors(conversion, written.checkpoint, job.target);
  program::check_interrupted();
  verify_answers(source, written, conversion, job.target);
  program::check_interrupted();
}

void add_calibration(const AddFile& add, const FoundCalibration& calibration, const std::string& folder,
                     std::vector<Change>& changes) {
  changes.insert(changes.end(), calibration.changes.begin(), calibration.changes.end());
  if (!calibration.calibration) return;
  add(std::string(kCalibrationName), [&](FileWriter& file) {
    write_calibration(file, fmt::format("{}/{}", folder, kCalibrationName), *calibration.calibration);
  });
}

// Files of one of several models, which are not true of their mean.
std::vector<std::string> reports_of(const ConversionJob& job) {
  if (job.averaged.empty()) return {};
  return {"README.md", "all_results.json", "train_results.json", "eval_results.json", "trainer_state.json"};
}

WrittenModel write(const ConversionJob& job, const Opened& source, Conversion& conversion, StagedFolder& folder,
                   const std::vector<Encoding>& texts) {
  constexpr uint64_t kMegabyte = 1000000;
  program::ProgressPrinter progress(job.progress, true, {.items = "MB", .tokens = ""});
  const auto total = static_cast<double>(std::max<uint64_t>(1, conversion.size_bytes()));
  uint64_t done = 0;
  const auto on_bytes = [&](uint64_t bytes) {
    done += bytes;
    program::check_interrupted();
    progress.update(done / kMegabyte, 0, std::min(1.0, static_cast<double>(done) / total));
  };
  std::optional<Calibrator> calibrator;  // reads the weights just written
  const auto add_more = [&](const AddFile& add) {
    progress.clear();
    if (job.calibration) calibrator.emplace(folder.path(), texts, job.open, job.progress);
    add_calibration(add,
                    calibrator ? calibrator->calibrate(job.calibration->smoothing)
                               : carry_calibration(source.checkpoint, folder.path()),
                    folder.path(), conversion.changes);
  };
  WrittenModel written = write_model(
      folder, conversion, job.source,
      {.shard_bytes = job.shard_bytes, .leaves_out = reports_of(job), .on_bytes = on_bytes, .add_more = add_more});
  progress.clear();
  if (calibrator && job.wants_verify) {
    conversion.changes.push_back(calibrator->verify(job.target));
    program::note(fmt::format("verified: {}", conversion.changes.back().detail));
  }
  return written;
}

// What is made of plain DeBERTa models alone.
void check_extraction(const ConversionJob& job) {
  const auto refuse = [](const char* option) {
    throw Error(ErrorCode::kUsage, option, "expected a DeBERTa model alone, got a GLiNER model, with heads of its own");
  };
  if (!is_extraction_folder(job.source)) return;
  if (!job.averaged.empty()) refuse("--average");
  if (!job.adapter.empty()) refuse("--adapter");
  if (job.calibration) refuse("--dtype int8");
}

}  // namespace

void check_target(const std::string& target, const std::string& source) {
  if (is_inside(target, source))
    throw Error(ErrorCode::kUsage, target,
                fmt::format("expected a folder outside the model {}, which is never changed", source));
  check_new_folder(target);
}

std::vector<Change> convert_model(const ConversionJob& job) {
  check_model_directory(job.source);
  check_extraction(job);
  check_target(job.target, job.source);
  for (const std::string& folder : remove_leftovers(job.target))
    program::note(fmt::format("{}: removed, left by a killed run", folder));
  std::vector<Change> merged;
  const Opened source = open_source(job, merged);
  Conversion conversion = plan_conversion(source.checkpoint, source.config, job.form, job.source);
  conversion.changes.insert(conversion.changes.begin(), merged.begin(), merged.end());
  std::vector<Encoding> texts;
  if (job.calibration) texts = read_calibration_texts(*job.calibration, job.progress, job.source);
  StagedFolder folder(job.target);
  WrittenModel written = write(job, source, conversion, folder, texts);
  if (job.wants_verify) verify(job, source, conversion, folder);
  folder.publish();
  conversion.changes.insert(conversion.changes.end(), written.left_out.begin(), written.left_out.end());
  program::note(fmt::format("{}: {} tensors, {} files, {} bytes; {} changes", job.target, conversion.tensors.size(),
                            written.files.size() + 1, written.size_bytes, conversion.changes.size()));
  return std::move(conversion.changes);
}

}  // namespace deberta::cli
