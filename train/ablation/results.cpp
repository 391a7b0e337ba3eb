// One JSON object per cell, used again only while the hash of the cell's options is the same.
#include "train/ablation/results.h"

#include "base/file.h"
#include "deberta/error.h"

namespace deberta::train {
namespace {

JsonObject numbers_json(const std::vector<std::pair<std::string, double>>& numbers) {
  JsonObject object;
  for (const auto& [name, value] : numbers) object.emplace_back(name, value);
  return object;
}

[[noreturn]] void refuse(const std::string& where, const std::string& name) {
  throw Error(ErrorCode::kInput, where, name + ": expected the result of a cell of `ablate`");
}

const Json& member(const Json& document, const char* name, const std::string& where) {
  const Json* value = document.find(name);
  if (value == nullptr) refuse(where, name);
  return *value;
}

double number(const Json& document, const char* name, const std::string& where) {
  const Json& value = member(document, name, where);
  if (!value.is_number()) refuse(where, name);
  return value.as_number();
}

std::string text(const Json& document, const char* name, const std::string& where) {
  const Json& value = member(document, name, where);
  if (!value.is_string()) refuse(where, name);
  return value.as_string();
}

std::vector<std::pair<std::string, double>> numbers(const Json& document, const char* name, const std::string& where) {
  const Json& value = member(document, name, where);
  if (!value.is_object()) refuse(where, name);
  std::vector<std::pair<std::string, double>> result;
  for (const auto& [key, entry] : value.as_object()) {
    if (!entry.is_number()) refuse(where, key);
    result.emplace_back(key, entry.as_number());
  }
  return result;
}

}  // namespace

Json to_json(const CellResult& result) {
  return JsonObject{{"form", result.form},
                    {"seed", result.seed},
                    {"options", result.hash},
                    {"tokens", result.tokens},
                    {"flops", result.flops},
                    {"seconds", result.seconds},
                    {"pretraining", numbers_json(result.pretraining)},
                    {"tasks", numbers_json(result.tasks)}};
}

CellResult parse_result(const Json& document, const std::string& where) {
  const Json& seed = member(document, "seed", where);
  if (!seed.is_integer()) refuse(where, "seed");
  return {.form = text(document, "form", where),
          .seed = seed.as_integer(),
          .hash = text(document, "options", where),
          .tokens = number(document, "tokens", where),
          .flops = number(document, "flops", where),
          .seconds = number(document, "seconds", where),
          .pretraining = numbers(document, "pretraining", where),
          .tasks = numbers(document, "tasks", where)};
}

std::optional<CellResult> find_result(const Cell& cell, const std::vector<std::string>& folders) {
  for (const std::string& folder : folders) {
    const std::string path = folder + "/" + cell.name + ".json";
    if (!is_regular_file(path)) continue;
    CellResult result = parse_result(load_json(path), path);
    if (result.hash == cell.hash) return result;
  }
  return std::nullopt;
}

}  // namespace deberta::train
