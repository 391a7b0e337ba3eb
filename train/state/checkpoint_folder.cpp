// The order of the writes: files, each synced; the manifest; the folders synced; the rename; the parent synced; LATEST;
// only then older checkpoints are removed, each renamed first.
#include "train/state/checkpoint_folder.h"

#include <fmt/format.h>
#include <sys/statvfs.h>

#include <algorithm>
#include <functional>
#include <set>
#include <string_view>
#include <utility>

#include "base/checked.h"
#include "base/folder.h"
#include "base/log.h"
#include "base/output_file.h"
#include "base/temporary.h"
#include "checkpoint/safetensors.h"

namespace deberta::train {
namespace {

constexpr std::string_view kPrefix = "checkpoint-";
constexpr std::string_view kLatest = "LATEST";
constexpr const char* kOptimizer = "trainer/optim.safetensors";
constexpr double kSpareSpace = 1.2;

std::string path_in(const std::string& folder, std::string_view name) {
  return fmt::format("{}/{}", folder, name);
}

std::optional<int64_t> step_of(std::string_view name) {
  if (!name.starts_with(kPrefix)) return std::nullopt;
  const auto step = parse_number<int64_t>(name.substr(kPrefix.size()));
  return step && *step >= 0 && checkpoint_name(*step) == name ? step : std::nullopt;
}

// What is wrong with a checkpoint; nothing: `state` is its own. Throws kUnsupported for one that a newer version wrote.
std::optional<Error> find_damage(const std::string& folder, int64_t step, TrainerState& state) {
  try {
    ManifestReport report = verify_manifest(folder, [](uint64_t) {});
    if (!report.errors.empty()) return Error(ErrorCode::kManifest, std::move(report.errors));
    const std::string path = path_in(folder, kStateName);
    state = load_trainer_state(path);
    if (state.step != step)
      return Error(ErrorCode::kManifest, path, fmt::format("step: expected {}, got {}", step, state.step));
    if (!is_regular_file(path_in(folder, kOptimizer)))
      return Error(ErrorCode::kFileNotFound, path_in(folder, kOptimizer), "expected a file");
  } catch (const Error& error) {
    if (error.code() == ErrorCode::kUnsupported) throw;
    return error;
  }
  return std::nullopt;
}

void check_space(const std::string& output, const CheckpointContents& contents) {
  if (const std::optional<Error> error = missing_space(output, contents)) throw Error(*error);
}

void write_checkpoint(const std::string& folder, const CheckpointContents& contents, uint64_t& written_bytes) {
  StagedFolder staged(folder);
  ManifestWriter files(staged, [&](uint64_t bytes) { written_bytes += bytes; });
  contents.add_models(files);
  files.add_text(kStateName, to_json(contents.state).dump(2) + "\n");
  files.add(kOptimizer, [&](FileWriter& file) {
    write_safetensors(file, path_in(files.path(), kOptimizer), to_write(contents.optimizer), {});
  });
  files.finish();
  staged.publish();
}

// Those of later steps are of another run and stay.
void rotate(const std::string& output, int64_t saved, const Rotation& rotation) {
  size_t kept = 0;
  for (const int64_t step : checkpoint_steps(output)) {
    if (step > saved || ++kept <= rotation.keep_last || step == rotation.best_step) continue;
    try {
      remove_folder(path_in(output, checkpoint_name(step)));
    } catch (const Error& error) {
      warn(fmt::format("cannot remove an old checkpoint: {}", error.what()));
    }
  }
}

[[noreturn]] void rethrow_with_bytes(const Error& error, uint64_t written_bytes) {
  std::vector<Problem> problems = error.problems();
  problems.front().message += fmt::format("; {} bytes of the checkpoint had been written", written_bytes);
  throw Error(error.code(), std::move(problems));
}

}  // namespace

std::string checkpoint_name(int64_t step) {
  return fmt::format("{}{:06}", kPrefix, step);
}

std::vector<int64_t> checkpoint_steps(const std::string& output) {
  std::vector<int64_t> steps;
  for (const std::string& name : names_in(output)) {
    if (const auto step = step_of(name)) steps.push_back(*step);
  }
  std::sort(steps.begin(), steps.end(), std::greater<>());
  return steps;
}

std::optional<Error> missing_space(const std::string& output, const CheckpointContents& contents) {
  struct statvfs status {};
  if (::statvfs(output.c_str(), &status) != 0) return std::nullopt;  // creating the folder will report what is wrong
  uint64_t size_bytes = contents.models_bytes;
  for (const TensorView& tensor : contents.optimizer) size_bytes += tensor.bytes.size();
  const double needed = kSpareSpace * static_cast<double>(size_bytes);
  const double available = static_cast<double>(status.f_bavail) * static_cast<double>(status.f_frsize);
  if (available >= needed) return std::nullopt;
  return Error(ErrorCode::kFileWrite, path_in(output, checkpoint_name(contents.state.step)),
               fmt::format("expected {:.0f} bytes of free space, got {:.0f}", needed, available));
}

std::string save_checkpoint(const std::string& output, const CheckpointContents& contents, const Rotation& rotation) {
  const int64_t step = contents.state.step;
  const std::string name = checkpoint_name(step), folder = path_in(output, name);
  uint64_t written_bytes = 0;
  try {
    TrainerState there;
    const bool is_there = is_directory(folder), is_valid = is_there && !find_damage(folder, step, there);
    if (!is_valid) {
      check_space(output, contents);
      if (is_there) remove_folder(folder);
      write_checkpoint(folder, contents, written_bytes);
    }
    write_output_file(path_in(output, kLatest), [&](FileWriter& file) { file.write(name + "\n"); });
  } catch (const Error& error) {
    rethrow_with_bytes(error, written_bytes);
  }
  if (rotation.keep_last > 0) rotate(output, step, rotation);
  return folder;
}

std::optional<FoundCheckpoint> find_checkpoint(const std::string& output) {
  FoundCheckpoint checkpoint;
  const std::string latest = path_in(output, kLatest);
  std::optional<int64_t> newest;  // the newest that existed
  if (is_regular_file(latest)) {
    const std::string text = read_file(latest, 1000);
    newest = step_of(std::string_view(text).substr(0, text.find('\n')));
  }
  for (const int64_t step : checkpoint_steps(output)) {
    checkpoint.folder = path_in(output, checkpoint_name(step));
    const auto damage = find_damage(checkpoint.folder, step, checkpoint.state);
    if (!damage) {
      if (newest && *newest > step && !checkpoint.is_degraded)
        warn(fmt::format("{}: the checkpoint that it names is missing; {} is used instead", latest, checkpoint.folder));
      checkpoint.is_degraded = checkpoint.is_degraded || (newest && *newest > step);
      return checkpoint;
    }
    warn(fmt::format("skipped a damaged checkpoint: {}", damage->what()));
    checkpoint.is_degraded = true;
  }
  return std::nullopt;
}

std::string recorded_option(const std::string& output, const std::string& name) {
  if (!is_directory(output)) return {};
  const std::optional<FoundCheckpoint> checkpoint = find_checkpoint(output);
  if (!checkpoint) return {};
  const auto option = checkpoint->state.options.find(name);
  return option == checkpoint->state.options.end() ? std::string() : option->second;
}

std::vector<std::string> remove_checkpoint_leftovers(const std::string& output) {
  std::set<std::string> targets;
  for (const std::string& name : names_in(output)) {
    const std::string target = name.substr(0, name.find(kTemporaryMark));
    if (target.size() < name.size() && (target == kLatest || step_of(target))) targets.insert(target);
  }
  std::vector<std::string> removed;
  for (const std::string& target : targets) {
    for (std::string& path : remove_leftovers(path_in(output, target))) removed.push_back(std::move(path));
  }
  return removed;
}

}  // namespace deberta::train
