// Reads the plan, merges the options of its levels, checks everything before any run, and lists the cells.
#include "train/ablation/plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <span>

#include "base/sha256.h"
#include "deberta/error.h"
#include "train/ablation/forms.h"
#include "train/report/folds.h"

namespace deberta::train {
namespace {

constexpr const char* kOverrides = "config-overrides";
constexpr const char* kFolds = "folds";

// Collects what is wrong, so that all of it is reported at once.
class Problems {
 public:
  explicit Problems(std::string where) : where_(std::move(where)) {}
  void add(const std::string& at, const std::string& message) {
    problems_.push_back({.where = where_, .message = fmt::format("{}: {}", at, message)});
  }
  void check() const {
    if (!problems_.empty()) throw Error(ErrorCode::kUsage, problems_);
  }

 private:
  std::string where_;
  std::vector<Problem> problems_;
};

Json* find_member(JsonObject& object, const std::string& name) {
  const auto member = std::find_if(object.begin(), object.end(), [&](const JsonMember& m) { return m.first == name; });
  return member == object.end() ? nullptr : &member->second;
}

// `options`, overridden by `more`; overrides of the configuration are joined.
JsonObject merged(JsonObject options, const JsonObject& more) {
  for (const auto& [name, value] : more) {
    Json* old = find_member(options, name);
    if (old == nullptr)
      options.emplace_back(name, value);
    else if (name == kOverrides && old->is_string() && value.is_string())
      *old = old->as_string() + "," + value.as_string();
    else
      *old = value;
  }
  return options;
}

JsonObject object_of(const Json& document, const char* name, const std::string& at, Problems& problems) {
  const Json* value = document.find(name);
  if (value == nullptr) return {};
  if (value->is_object()) return value->as_object();
  problems.add(at + name, "expected an object, got " + value->describe());
  return {};
}

std::vector<int64_t> seeds_of(const Json& document, const std::string& at, Problems& problems) {
  std::vector<int64_t> seeds;
  const Json* value = document.find("seeds");
  if (value == nullptr) return seeds;
  if (value->is_array()) {
    for (const Json& seed : value->as_array()) {
      if (seed.is_integer() && seed.as_integer() >= 0 &&
          std::find(seeds.begin(), seeds.end(), seed.as_integer()) == seeds.end())
        seeds.push_back(seed.as_integer());
      else
        problems.add(at + "seeds", "expected whole numbers from 0, each once, got " + seed.describe());
    }
  }
  if (seeds.empty()) problems.add(at + "seeds", "expected at least one seed, got " + value->describe());
  return seeds;
}

void check_names(const Json& object, const std::set<std::string>& known, const std::string& at, Problems& problems) {
  for (const auto& [name, value] : object.as_object()) {
    if (!known.contains(name)) problems.add(at + name, fmt::format("expected one of {}", fmt::join(known, ", ")));
  }
}

size_t folds_of(const Json& task, const std::string& at, Problems& problems) {
  const Json* value = task.find(kFolds);
  if (value == nullptr) return 0;
  const bool is_right =
      value->is_integer() && value->as_integer() >= 2 && value->as_integer() <= static_cast<int64_t>(kMostFolds);
  if (is_right) return static_cast<size_t>(value->as_integer());
  problems.add(at + "." + kFolds, fmt::format("expected a number from 2 to {}, got {}", kMostFolds, value->describe()));
  return 0;
}

std::vector<PlanTask> tasks_of(const Json& document, const JsonObject& common, Problems& problems) {
  std::vector<PlanTask> tasks;
  for (const auto& [name, value] : object_of(document, "tasks", "", problems)) {
    const std::string at = "tasks." + name;
    if (!value.is_object()) {
      problems.add(at, "expected an object of options, got " + value.describe());
      continue;
    }
    PlanTask task{.name = name, .metric = {}, .options = {}, .folds = folds_of(value, at, problems)};
    JsonObject task_options = value.as_object();
    if (const Json* metric = find_member(task_options, "metric"); metric != nullptr && metric->is_string())
      task.metric = metric->as_string();
    else
      problems.add(at + ".metric", "expected the name of a metric, such as accuracy");
    std::erase_if(task_options,
                  [](const JsonMember& member) { return member.first == "metric" || member.first == kFolds; });
    task.options = merged(merged({{"task", name}}, common), task_options);
    tasks.push_back(std::move(task));
  }
  return tasks;
}

// "no c2p" -> "no-c2p": characters other than letters and digits become a dash.
std::string folder_name(const std::string& name) {
  std::string slug;
  for (const char c : name) {
    const bool is_plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    if (is_plain || (!slug.empty() && slug.back() != '-')) slug += is_plain ? c : '-';
  }
  while (slug.ends_with('-')) slug.pop_back();
  return slug;
}

PlanForm form_of(const std::string& name, const Json& value, const JsonObject& common, Problems& problems) {
  const std::string at = fmt::format("forms.{}.", name);
  PlanForm plan_form{
      .name = name, .about = {}, .options = common, .finetune = {}, .seeds = seeds_of(value, at, problems)};
  check_names(value, {"form", "pretrain", "finetune", "seeds", "about"}, at, problems);
  plan_form.finetune = object_of(value, "finetune", at, problems);
  if (const Json* about = value.find("about"); about != nullptr && about->is_string())
    plan_form.about = about->as_string();
  if (const Json* form_name = value.find("form"); form_name != nullptr) {
    const Form* form = form_name->is_string() ? find_form(form_name->as_string()) : nullptr;
    if (form == nullptr) {
      std::vector<std::string_view> names;
      for (const Form& known_form : all_forms()) {
        if (known_form.refusal.empty()) names.push_back(known_form.name);
      }
      problems.add(at + "form",
                   fmt::format("expected one of {}, got {}", fmt::join(names, ", "), form_name->describe()));
    } else if (!form->refusal.empty()) {
      problems.add(at + "form", fmt::format("{}: {}", form->name, form->refusal));
    } else {
      if (!form->overrides.empty())
        plan_form.options = merged(plan_form.options, {{kOverrides, std::string(form->overrides)}});
      if (!form->options.empty())
        plan_form.options = merged(plan_form.options, parse_json(form->options, form->name).as_object());
      if (plan_form.about.empty()) plan_form.about = form->about;
    }
  }
  plan_form.options = merged(plan_form.options, object_of(value, "pretrain", at, problems));
  return plan_form;
}

std::vector<PlanForm> forms_of(const Json& document, const JsonObject& common, Problems& problems) {
  const std::vector<int64_t> seeds = seeds_of(document, "", problems);
  std::vector<PlanForm> forms;
  std::set<std::string> folders;
  for (const auto& [name, value] : object_of(document, "forms", "", problems)) {
    const std::string folder = folder_name(name);
    if (folder.empty() || !folders.insert(folder).second)
      problems.add("forms." + name, "expected a name of letters and digits that no other form has");
    if (!value.is_object()) {
      problems.add("forms." + name, "expected an object, got " + value.describe());
      continue;
    }
    PlanForm form = form_of(name, value, common, problems);
    if (form.seeds.empty()) form.seeds = seeds;
    if (form.seeds.empty() && value.find("seeds") == nullptr && document.find("seeds") == nullptr)
      problems.add("seeds", "expected a list of seeds, got none");
    forms.push_back(std::move(form));
  }
  if (forms.empty()) problems.add("forms", "expected at least one form, got none");
  return forms;
}

// The model of a plan that only fine-tunes; empty: the plan has none.
std::string model_of(const Json& document, Problems& problems) {
  const Json* value = document.find("model");
  if (value == nullptr) return "";
  for (const char* name : {"corpora", "pretrain"}) {
    if (document.find(name) != nullptr) problems.add(name, "expected none beside model, which is fine-tuned as it is");
  }
  if (value->is_string() && !value->as_string().empty()) return value->as_string();
  problems.add("model", "expected a folder, got " + value->describe());
  return "";
}

// Forms of a plan with a model pre-train nothing.
void check_forms_of_model(const Plan& plan, Problems& problems) {
  for (const PlanForm& form : plan.forms) {
    if (!form.options.empty())
      problems.add("forms." + form.name,
                   "expected only options of finetune, since the plan has a model; got some of pretrain");
  }
  if (plan.tasks.empty()) problems.add("tasks", "expected at least one to fine-tune the model for, got none");
}

// Checks that a task with folds has no other held-out rows.
void check_folds(const Plan& plan, Problems& problems) {
  for (const PlanTask& task : plan.tasks) {
    const auto check = [&](const JsonObject& options, const std::string& at) {
      for (const auto& [name, value] : options) {
        if (task.folds > 0 && name.starts_with("validation-"))
          problems.add(at + "." + name, fmt::format("expected none, as the task {} has folds", task.name));
      }
    };
    check(task.options, "tasks." + task.name);
    for (const PlanForm& form : plan.forms) check(form.finetune, "forms." + form.name + ".finetune");
  }
}

std::vector<std::string> corpora_of(const Json& document, Problems& problems) {
  std::vector<std::string> corpora;
  if (document.find("model") != nullptr) return corpora;
  const Json* value = document.find("corpora");
  if (value != nullptr && value->is_array()) {
    for (const Json& path : value->as_array()) {
      if (path.is_string()) corpora.push_back(path.as_string());
    }
  }
  if (corpora.empty()) problems.add("corpora", "expected a list of text files, got none");
  return corpora;
}

Json sorted(const Json& value) {
  if (!value.is_object()) return value;
  JsonObject object = value.as_object();
  std::sort(object.begin(), object.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  for (auto& [name, member] : object) member = sorted(member);
  return object;
}

std::string hash_of(const Plan& plan, const Cell& cell) {
  JsonArray corpora(plan.corpora.begin(), plan.corpora.end());
  JsonObject tasks;
  for (size_t i = 0; i < plan.tasks.size(); ++i) {
    const auto& [task, options] = cell.finetune[i];
    const auto folds = static_cast<uint64_t>(plan.tasks[i].folds);
    tasks.emplace_back(task, folds == 0 ? options : merged(options, {{kFolds, folds}}));
  }
  JsonObject all{{"corpora", corpora}, {"pretrain", cell.pretrain}, {"finetune", tasks}};
  if (!plan.model.empty()) all.emplace_back("model", plan.model);
  const std::string text = sorted(all).dump();
  return sha256_of(std::as_bytes(std::span(text)));
}

}  // namespace

Plan parse_plan(const Json& document, const std::string& where) {
  if (!document.is_object()) throw Error(ErrorCode::kUsage, where, "expected an object, got " + document.describe());
  Problems problems(where);
  check_names(document, {"model", "corpora", "pretrain", "finetune", "tasks", "seeds", "reference", "forms"}, "",
              problems);
  Plan plan;
  plan.model = model_of(document, problems);
  plan.corpora = corpora_of(document, problems);
  plan.tasks = tasks_of(document, object_of(document, "finetune", "", problems), problems);
  plan.forms = forms_of(document, object_of(document, "pretrain", "", problems), problems);
  if (!plan.model.empty()) check_forms_of_model(plan, problems);
  check_folds(plan, problems);
  const Json* reference = document.find("reference");
  plan.reference = reference != nullptr && reference->is_string() ? reference->as_string()
                   : plan.forms.empty()                           ? ""
                                                                  : plan.forms.front().name;
  const bool is_there = std::any_of(plan.forms.begin(), plan.forms.end(),
                                    [&](const PlanForm& form) { return form.name == plan.reference; });
  if (!is_there && !plan.forms.empty())
    problems.add("reference", fmt::format("expected the name of a form, got {}", quote_json(plan.reference)));
  problems.check();
  return plan;
}

std::vector<Cell> cells_of(const Plan& plan) {
  std::vector<Cell> cells;
  for (const PlanForm& form : plan.forms) {
    for (const int64_t seed : form.seeds) {
      const bool pretrains = plan.model.empty();
      Cell cell{.name = fmt::format("{}-seed{}", folder_name(form.name), seed),
                .form = form.name,
                .seed = seed,
                .pretrain = pretrains ? merged(form.options, {{"seed", seed}}) : JsonObject{},
                .finetune = {},
                .hash = {}};
      for (const PlanTask& task : plan.tasks)
        cell.finetune.emplace_back(task.name, merged(merged(task.options, form.finetune), {{"seed", seed}}));
      cell.hash = hash_of(plan, cell);
      cells.push_back(std::move(cell));
    }
  }
  return cells;
}

std::string PlanFile::from_root(const std::string& name) const {
  return (std::filesystem::path(path).parent_path() / name).lexically_normal().string();
}

PlanFile load_plan(const std::string& path) {
  PlanFile file{.path = path, .document = load_json(path), .plan = {}, .cells = {}};
  file.plan = parse_plan(file.document, path);
  file.cells = cells_of(file.plan);
  return file;
}

}  // namespace deberta::train
