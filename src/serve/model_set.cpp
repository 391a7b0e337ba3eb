// Opens a replacement beside the old model, probes it, and only then swaps the pointer that new requests get.
#include "serve/model_set.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "deberta/error.h"
#include "heads/head_facts.h"
#include "serve/api_error.h"

namespace deberta::serve {
namespace {

// What a new model is tried on: short and long, of words, signs and numbers.
constexpr std::array<std::string_view, 8> kProbes = {
    "a",
    "The capital of France is Paris .",
    "\"Well,\" she said, \"that is that!\"",
    "3.14159 + 2 = 5.14159; 50 % of 1,000 is 500",
    "https://example.org/?q=1&r=2#top",
    "Ada Lovelace, born in London on 10 December 1815, wrote the first program for a machine that was never built.",
    "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen",
    "\xc3\x89t\xc3\xa9 \xe2\x80\x94 \xe6\x97\xa5\xe6\x9c\xac \xf0\x9f\x98\x80",
};

void refuse(const std::string& message) {
  throw ApiError(ApiCode::kValidation, message);
}

void check_finite(const Served& fresh) {
  const Pipeline& pipeline = fresh.model.pipeline;
  std::vector<Encoding> encodings;
  for (const std::string_view text : kProbes)
    encodings.push_back(encode_one(pipeline.tokenizer, TextInput{.text = text}, EncodingRules()));
  SequencePlan plan;
  plan.sequences = SequenceSource(encodings);
  const HeadFacts& head = facts_of(pipeline.model.head());
  if (!head.has_plain_logits()) plan.layer = pipeline.config.num_hidden_layers;
  constexpr size_t kFirst[] = {0};
  if (head.predicts_words()) plan.rows = [&](size_t) { return std::span(kFirst); };
  plan.take = [&](size_t, std::span<const float> values) {
    if (!std::all_of(values.begin(), values.end(), [](float value) { return std::isfinite(value); }))
      throw Error(ErrorCode::kNotFinite, "results", "expected finite numbers");
  };
  try {
    run_plan(pipeline.model, plan, EncodingRules().batch_tokens);
  } catch (const Error& error) {
    throw Error(error.code(), fresh.model.path, fmt::format("the model failed on a test text: {}", error.what()));
  }
}

// Clients that know the old model will read the answers of the new one.
void check_alike(const Served& fresh, const Served& old) {
  const Pipeline &a = fresh.model.pipeline, &b = old.model.pipeline;
  if (a.model.head() != b.model.head())
    refuse(fmt::format("{}: expected a model with the head of the old one, got another head", fresh.model.path));
  if (a.config.labels != b.config.labels)
    refuse(fmt::format("{}: expected the labels of the old model ({}), got {}", fresh.model.path,
                       fmt::join(b.config.labels, ", "), fmt::join(a.config.labels, ", ")));
}

}  // namespace

ModelSet::ModelSet(const std::vector<ModelSource>& sources, Open open) : open_(std::move(open)) {
  for (const ModelSource& source : sources) slots_.push_back({source, nullptr, false});
}

ModelSet::~ModelSet() {
  stop();
}

void ModelSet::open_all() {
  for (Slot& slot : slots_) {
    std::shared_ptr<Served> fresh = open_(slot.source);
    check_finite(*fresh);
    put(slot.source.name, std::move(fresh));
  }
}

std::string ModelSet::names() const {
  std::string all;
  for (const Slot& slot : slots_) {
    all += fmt::format("{}{}", all.empty() ? "" : ", ", slot.source.name);
    for (const std::string& alias : slot.source.aliases) all += ", " + alias;
  }
  return all;
}

std::optional<size_t> ModelSet::find_index(const std::string& name) const {
  for (size_t i = 0; i < slots_.size(); ++i) {
    const ModelSource& source = slots_[i].source;
    if (source.name == name || (!name.empty() && source.repository == name) ||
        std::ranges::find(source.aliases, name) != source.aliases.end())
      return i;
  }
  return std::nullopt;
}

std::string ModelSet::served_name(const std::string& name) const {
  const std::lock_guard lock(mutex_);
  const std::optional<size_t> index = find_index(name);
  return index ? slots_[*index].source.name : std::string();
}

size_t ModelSet::index_of(const std::string& name) const {
  if (const std::optional<size_t> index = find_index(name)) return *index;
  throw ApiError(ApiCode::kModelNotFound, fmt::format("no model {}; there are {}", quote_json(name), names()));
}

std::shared_ptr<Served> ModelSet::find(const std::string& name) const {
  const std::lock_guard lock(mutex_);
  if (name.empty() && slots_.size() != 1)
    throw ApiError(
        ApiCode::kModelNotFound,
        fmt::format("expected the name of a model (X-Model, \"model\" in the body, or /models/NAME); there are {}",
                    names()));
  const Slot& slot = name.empty() ? slots_.front() : slots_[index_of(name)];
  if (slot.served) return slot.served;
  if (slot.is_unloaded) throw ApiError(ApiCode::kModelNotFound, fmt::format("{} is not loaded", slot.source.name));
  throw ApiError(ApiCode::kLoading, fmt::format("{} is being loaded", slot.source.name));
}

std::vector<std::shared_ptr<Served>> ModelSet::open_ones() const {
  const std::lock_guard lock(mutex_);
  std::vector<std::shared_ptr<Served>> all;
  for (const Slot& slot : slots_) {
    if (slot.served) all.push_back(slot.served);
  }
  return all;
}

std::vector<std::shared_ptr<Served>> ModelSet::open_ones_of(const std::string& name) const {
  return name.empty() ? open_ones() : std::vector{find(name)};
}

void ModelSet::check_ready() const {
  const std::lock_guard lock(mutex_);
  if (!std::ranges::all_of(slots_, [](const Slot& slot) { return slot.served || slot.is_unloaded; }))
    throw ApiError(ApiCode::kLoading, "models are being loaded");
  if (std::ranges::none_of(slots_, [](const Slot& slot) { return slot.served != nullptr; }))
    throw ApiError(ApiCode::kLoading, "no model is loaded; POST /admin/models/NAME/load loads one");
}

std::vector<ModelSet::Status> ModelSet::statuses() const {
  const std::lock_guard lock(mutex_);
  std::vector<Status> all;
  for (const Slot& slot : slots_) {
    const std::string& path = slot.served ? slot.served->model.path : slot.source.path;
    all.push_back({slot.source.name, path, slot.served ? "open" : slot.is_unloaded ? "closed" : "opening"});
  }
  return all;
}

void ModelSet::put(const std::string& name, std::shared_ptr<Served> fresh) {
  const std::lock_guard lock(mutex_);
  Slot& slot = slots_[index_of(name)];
  if (slot.served) retired_.push_back(std::move(slot.served));
  slot.served = std::move(fresh);
  slot.is_unloaded = slot.served == nullptr;
}

void ModelSet::reload(const std::string& name, bool forces) {
  ModelSource source;
  std::shared_ptr<Served> old;
  {
    const std::lock_guard lock(mutex_);
    const Slot& slot = slots_[index_of(name)];
    source = slot.source;
    old = slot.served;
  }
  std::shared_ptr<Served> fresh = open_(source);
  check_finite(*fresh);
  if (old && !forces) check_alike(*fresh, *old);
  old = nullptr;  // only the set and requests hold it
  put(name, std::move(fresh));
}

void ModelSet::load(const std::string& name) {
  bool is_open = false;
  {
    const std::lock_guard lock(mutex_);
    is_open = slots_[index_of(name)].served != nullptr;
  }
  if (!is_open) reload(name, false);
}

void ModelSet::unload(const std::string& name) {
  put(name, nullptr);
}

void ModelSet::close_unused() {
  std::vector<std::shared_ptr<Served>> unused;
  const std::lock_guard lock(mutex_);
  const auto end = std::partition(retired_.begin(), retired_.end(),
                                  [](const std::shared_ptr<Served>& served) { return served.use_count() > 1; });
  unused.assign(std::make_move_iterator(end), std::make_move_iterator(retired_.end()));
  retired_.erase(end, retired_.end());
}

void ModelSet::stop() {
  std::vector<std::shared_ptr<Served>> all = open_ones();
  {
    const std::lock_guard lock(mutex_);
    all.insert(all.end(), retired_.begin(), retired_.end());
  }
  for (const std::shared_ptr<Served>& served : all) served->worker->stop();
}

}  // namespace deberta::serve
