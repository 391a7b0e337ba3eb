// Picks the learner by objective and hands it to the run; the dry run stops before the first step.
#include "train/pretrain/pretrain.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "deberta/tokenizer.h"
#include "train/model/parameters.h"
#include "train/pretrain/batch_stream.h"
#include "train/pretrain/first_model.h"
#include "train/pretrain/first_pair.h"
#include "train/pretrain/language_learner.h"
#include "train/pretrain/pair_learner.h"
#include "train/run/batch_size_search.h"
#include "train/step/workplace.h"

namespace deberta::train {
namespace {

int64_t count_parameters(const ModelForm& form) {
  Model model = make_model(form);
  int64_t count = 0;
  for (const NamedParameter& parameter : trained_parameters(model)) count += parameter.tensor.numel();
  return count;
}

int64_t count_parameters(const PretrainSettings& settings, const Tokenizer& tokenizer) {
  const size_t longest = settings.batches.longest();
  if (settings.start.objective != Objective::kReplaced)
    return count_parameters(form_of_run(settings.start, longest, tokenizer));
  const PairForms forms = forms_of_pair(settings.start, settings.pair, longest, tokenizer);
  return count_parameters(forms.generator) + count_parameters(forms.discriminator);
}

std::vector<std::string> notes_of_first(const PretrainSettings& settings, const Tokenizer& tokenizer) {
  std::vector<std::string> notes;
  const auto add = [&](const std::string& note) { notes.push_back(note); };
  if (settings.start.objective == Objective::kReplaced)
    rows_of_pair(settings.start, settings.pair, tokenizer, add);
  else
    rows_of_run(settings.start, tokenizer, add);
  std::ranges::move(notes_of_base(settings.start), std::back_inserter(notes));
  return notes;
}

std::vector<CorpusPart> parts_of(const BatchStream& batches) {
  const std::vector<TokenFile>& files = batches.corpora().files;
  std::vector<CorpusPart> parts;
  for (size_t i = 0; i < files.size(); ++i)
    parts.push_back({.share = batches.share(i), .tokens = files[i].tokens(), .documents = files[i].documents()});
  return parts;
}

std::unique_ptr<Learner> make_learner(const PretrainSettings& settings, const Tokenizer& tokenizer,
                                      const Workplace& workplace, const RunHooks& hooks) {
  const auto make = settings.start.objective == Objective::kReplaced ? make_pair_learner : make_language_learner;
  return make(settings, tokenizer, workplace, hooks);
}

}  // namespace

RunResult pretrain(const PretrainSettings& settings, const RunHooks& hooks) {
  const Workplace workplace(settings.workplace);
  const Tokenizer tokenizer = settings.start.tokenizer().load();
  return run(
      settings.run, [&](const RunHooks& polled) { return make_learner(settings, tokenizer, workplace, polled); },
      hooks);
}

std::optional<RateSearch> search_rates(const PretrainSettings& settings, const RunHooks& hooks) {
  const Workplace workplace(settings.workplace);
  const Tokenizer tokenizer = settings.start.tokenizer().load();
  const std::unique_ptr<Learner> learner = make_learner(settings, tokenizer, workplace, hooks);
  if (learner == nullptr) return std::nullopt;
  return search_rates(*learner, {.learning_rate = settings.learning_rate, .max_norm = settings.run.max_norm}, hooks);
}

std::optional<size_t> find_accumulation(const PretrainSettings& settings, const RunHooks& hooks) {
  const Workplace workplace(settings.workplace);
  const Tokenizer tokenizer = settings.start.tokenizer().load();
  RunHooks quiet = hooks;  // the run itself reports what it begins with
  quiet.on_note = quiet.on_beginning = [](const std::string&) {};
  PretrainSettings tried = settings;
  tried.pair.steps_of_generator_alone = 0;
  const BatchSettings& batches = settings.batches;
  return find_accumulation(batches.sequences_per_step, batches.accumulation, [&](size_t accumulation) {
    tried.batches.accumulation = accumulation;
    return make_learner(tried, tokenizer, workplace, quiet);
  });
}

std::optional<DryRun> dry_run(const PretrainSettings& settings, const RunHooks& hooks) {
  const Workplace workplace(settings.workplace);
  const Tokenizer tokenizer = settings.start.tokenizer().load();
  std::vector<std::string> notes = notes_of_first(settings, tokenizer);
  const int64_t parameters = count_parameters(settings, tokenizer);
  const std::unique_ptr<BatchStream> batches =
      BatchStream::open(settings, tokenizer, workplace.compute.parallel, hooks);
  if (batches == nullptr) return std::nullopt;
  DryRun dry{.total_steps = batches->total_steps(),
             .corpora = parts_of(*batches),
             .masks = masks_of(settings.batches, settings.start.objective),
             .parameters = parameters,
             .notes = std::move(notes)};
  schedule_of(settings.run, dry.total_steps);
  batches->begin(0);
  dry.batches = batches->next();
  return dry;
}

}  // namespace deberta::train
