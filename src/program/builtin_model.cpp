// A table of verbs and tasks with the built-in model that fits each, and the notes that go with its use.
#include "program/builtin_model.h"

#include <fmt/format.h>

#include <array>

#include "deberta/error.h"
#include "hub/model_card.h"
#include "program/note.h"

namespace deberta::program {
namespace {

struct Fit {
  std::string_view verb, task, model;
};
// Where any encoder does, as for `embed`, it is the discriminator: the one that is trained on every token.
constexpr std::array kFits = {
    Fit{"classify", "", "sentiment"},    Fit{"nli", "", "entailment"},   Fit{"ner", "", "entities"},
    Fit{"extract", "", "extract"},       Fit{"fill", "", "fill"},        Fit{"score", "", "fill"},
    Fit{"detect", "", "detect"},         Fit{"embed", "", "detect"},     Fit{"tokenize", "", "detect"},
    Fit{"forward", "", "detect"},        Fit{"analyze", "", "detect"},   Fit{"bench", "", "detect"},
    Fit{"eval", "sst-2", "sentiment"},   Fit{"eval", "ner", "entities"}, Fit{"eval", "extract", "extract"},
    Fit{"eval", "nli", "entailment"},    Fit{"eval", "mlm", "fill"},     Fit{"analyze", "decoder", "fill"},
    Fit{"analyze", "generator", "fill"},
};

// The built-in models that are there, for a message.
std::string names_there() {
  std::vector<std::string> names;
  for (const FoundModel& model : builtin_models()) names.push_back(model.name);
  return names.empty() ? "there are none here" : fmt::format("there are {}", fmt::join(names, ", "));
}

[[noreturn]] void refuse_none(const std::string& why) {
  throw Error(ErrorCode::kUsage, "--model",
              fmt::format("expected a model directory, got none; give -m DIR or set DEBERTA_MODEL ({})", why));
}

constexpr std::string_view kZeroShotModels =
    "; MoritzLaurer/DeBERTa-v3-base-mnli-fever-anli and cross-encoder/nli-deberta-v3-base are published models for it";

}  // namespace

std::vector<FoundModel> builtin_models() {
  ModelPlaces places = find_places(current_environment());
  places.hub_cache.clear();  // may be large, and is not searched
  return list_models(places);
}

std::string builtin_model_of(std::string_view verb, std::string_view task) {
  for (const Fit& fit : kFits) {
    if (fit.verb == verb && fit.task == task) return fmt::format("builtin:{}", fit.model);
  }
  return "";
}

namespace {

// A shipped model's limits, which are reported wherever it answers, since it is small; "" where there are none.
std::string limits_of(const std::string& name) {
  try {
    return read_model_card(find_model(name, find_places(current_environment()))).limits;
  } catch (const Error&) {
    return "";  // the verb reports that it is missing
  }
}

// A verb that only reads pieces and ids judges nothing.
bool judges(std::string_view verb) {
  return verb != "tokenize" && verb != "bench" && verb != "forward" && verb != "inspect" && verb != "check" &&
         verb != "convert";
}

}  // namespace

void note_limits(const std::string& name, std::string_view verb) {
  if (!judges(verb)) return;
  if (const std::string limits = limits_of(name); !limits.empty()) note(fmt::format("note: {} {}", name, limits));
}

std::string name_or_builtin(const std::string& name, std::string_view verb, std::string_view task) {
  if (!name.empty() && name != "builtin") {
    if (name.starts_with("builtin:")) note_limits(name, verb);
    return name;
  }
  const std::string fitting = builtin_model_of(verb, task);
  if (fitting.empty())
    refuse_none(fmt::format("no built-in model fits {}{}{}; {}{}", verb, task.empty() ? "" : " --task ", task,
                            names_there(), verb == "zero-shot" ? kZeroShotModels : ""));
  try {
    find_model(fitting, find_places(current_environment()));
  } catch (const Error& error) {
    refuse_none(fmt::format("{}: {}", error.where(), error.message()));
  }
  note(fmt::format("{}: using the built-in model {}; -m takes another", verb, fitting));
  note_limits(fitting, verb);
  return fitting;
}

}  // namespace deberta::program
