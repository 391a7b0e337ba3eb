// The module deberta._deberta: what the package's Python is written on. No interface for users.
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/refuse_argument.h"
#include "cli/verbs.h"
#include "deberta/error.h"
#include "deberta/find_model.h"
#include "deberta/library.h"
#include "pipeline/parameters.h"
#include "program/program.h"
#include "python/src/arrow_out.h"
#include "python/src/opened.h"
#include "python/src/opened_tokenizer.h"
#include "python/src/parquet_files.h"
#include "python/src/passes.h"
#include "python/src/values.h"

namespace deberta::python {
namespace nb = nanobind;
namespace {

JsonObject parameters_of(const nb::dict& given) {
  JsonObject object;
  for (const auto& [name, value] : given) {
    std::string text = to_json_value(name, "parameters").as_string();
    Json json = to_json_value(value, text);
    object.emplace_back(std::move(text), std::move(json));
  }
  return object;
}

std::optional<std::string> text_or_none(nb::handle value, const std::string& argument) {
  const Json json = to_json_value(value, argument);
  if (json.is_null()) return std::nullopt;
  if (!json.is_string()) refuse_argument(argument, "expected a text, got " + json.describe());
  return json.as_string();
}

// deberta::Error as the package's exception, so that callers see one class whoever found the fault.
void translate(const std::exception_ptr& thrown, void*) {
  try {
    std::rethrow_exception(thrown);
  } catch (const Error& error) {
    const nb::object exception = to_exception(error);
    PyErr_SetObject(exception.type().ptr(), exception.ptr());
  }
}

nb::list parameter_rows() {
  constexpr const char* kTypes[] = {"flag", "integer", "number", "word", "text", "texts"};
  const auto text = [](std::string_view view) { return nb::str(view.data(), view.size()); };
  nb::list rows;
  for (const Parameter& row : kParameters) {
    rows.append(nb::make_tuple(text(row.name), text(row.tasks), kTypes[static_cast<size_t>(row.type)],
                               text(row.default_value), text(row.range), text(row.text)));
  }
  return rows;
}

nb::dict options_of_verb(const std::string& verb) {
  nb::dict kinds;
  for (const auto& [name, kind] : program::option_kinds(verb)) kinds[nb::cast(name)] = nb::cast(kind);
  return kinds;
}

// `builtin`: folders of built-in models, in place of those beside a program.
std::string find_folder(const std::string& name, const std::vector<std::string>& builtin) {
  ModelEnvironment environment = current_environment();
  environment.program.clear();  // that is the interpreter
  ModelPlaces places = find_places(environment);
  if (environment.data_dir.empty()) places.builtin = builtin;
  return find_model(name, places);
}

// The command `deberta`, from its words as bytes, the program's name first. Returns its exit code; its signal handlers
// stay.
int run_command(const std::vector<nb::bytes>& words) {
  std::vector<std::string> kept;
  for (const nb::bytes& word : words) kept.emplace_back(word.c_str(), word.size());
  std::vector<char*> arguments;
  for (std::string& word : kept) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  const nb::gil_scoped_release release;
  return program::run_program(static_cast<int>(kept.size()), arguments.data(),
                              [](const Options& options) { return cli::run_verb(options, open_parquet); });
}

nb::dict info(const Opened& opened) {
  const std::shared_ptr<const OpenedModel> held = opened.model();
  const Model& model = held->pipeline.model;
  const ModelConfig& config = held->pipeline.config;
  nb::dict dict;
  dict["head"] = nb::cast(std::string(to_string(model.head())));
  dict["labels"] = nb::cast(config.labels);
  dict["classes"] = model.labels();
  dict["layers"] = config.num_hidden_layers;
  dict["heads"] = config.num_attention_heads;
  dict["hidden_size"] = config.hidden_size;
  dict["activation"] = nb::cast(config.sentence_transformers_activation);
  dict["memory_bytes"] = model.memory_bytes();
  dict["has_mask_decoder"] = model.has_mask_decoder();
  dict["config"] = nb::str(config.raw.data(), config.raw.size());
  return dict;
}

OpenedTokenizer tokenizer_of(const Opened& opened) {
  std::shared_ptr<const OpenedModel> model = opened.model();
  const Tokenizer* tokenizer = &model->pipeline.tokenizer;
  TextLimits limits = model->limits;
  return {std::shared_ptr<const Tokenizer>(std::move(model), tokenizer), std::move(limits)};
}

nb::dict special_ids(const OpenedTokenizer& self) {
  const SpecialIds& ids = self.tokenizer().special();
  nb::dict dict;
  dict["pad"] = ids.pad;
  dict["cls"] = ids.cls;
  dict["sep"] = ids.sep;
  dict["unk"] = ids.unk;
  dict["mask"] = ids.mask;
  return dict;
}

void bind_model(nb::module_& module) {
  nb::class_<Opened>(module, "Model")
      .def(
          "__init__",
          [](Opened* self, const std::string& path, std::string dtype, size_t threads, std::string device,
             std::string compat, std::string tokenizer, bool allow_uncalibrated, size_t batch_tokens,
             bool share_weights) {
            new (self) Opened(path, {.dtype = std::move(dtype),
                                     .threads = threads,
                                     .device = std::move(device),
                                     .compat = std::move(compat),
                                     .tokenizer = std::move(tokenizer),
                                     .allow_uncalibrated = allow_uncalibrated,
                                     .batch_tokens = batch_tokens,
                                     .share_weights = share_weights});
          },
          nb::arg("path"), nb::kw_only(), nb::arg("dtype"), nb::arg("threads"), nb::arg("device"), nb::arg("compat"),
          nb::arg("tokenizer"), nb::arg("allow_uncalibrated"), nb::arg("batch_tokens"), nb::arg("share_weights"))
      .def(
          "run",
          [](const Opened& self, const std::string& task, nb::handle texts, nb::handle pairs, nb::handle items,
             std::vector<std::string> names, const nb::dict& parameters, bool keeps_errors) {
            return self.run(task, Inputs(texts, pairs, items, std::move(names)), parameters_of(parameters),
                            keeps_errors);
          },
          nb::arg("task"), nb::arg("texts").none(), nb::arg("pairs").none(), nb::arg("items").none(), nb::arg("names"),
          nb::arg("parameters"), nb::arg("keeps_errors"))
      .def(
          "scores",
          [](const Opened& self, nb::handle texts, nb::handle pairs, const nb::dict& parameters) {
            return self.scores(Inputs(texts, pairs, nb::none(), {"texts", "pairs"}), parameters_of(parameters));
          },
          nb::arg("texts").none(), nb::arg("pairs").none(), nb::arg("parameters"))
      .def(
          "embed",
          [](const Opened& self, nb::handle texts, const nb::dict& parameters, nb::handle prompt) {
            return self.embed(Inputs(texts, nb::none(), nb::none(), {"texts"}), parameters_of(parameters),
                              text_or_none(prompt, "prompt"));
          },
          nb::arg("texts").none(), nb::arg("parameters"), nb::arg("prompt").none())
      .def(
          "forward",
          [](const Opened& self, nb::handle ids, nb::handle type_ids, nb::handle mask, nb::handle layers,
             nb::handle logits, nb::handle scores) {
            return forward(self, ids, type_ids, mask,
                           {to_int32s(layers, "layers"), to_bool(logits, "logits"), to_bool(scores, "scores")});
          },
          nb::arg("ids").none(), nb::arg("type_ids").none(), nb::arg("mask").none(), nb::arg("layers").none(),
          nb::arg("logits").none(), nb::arg("scores").none())
      .def("attention_terms", &attention_terms, nb::arg("texts"), nb::arg("pairs").none(), nb::arg("layers").none(),
           nb::arg("of_decoder"))
      .def("tokenizer", &tokenizer_of)
      .def("info", &info)
      .def("close", &Opened::close)
      .def_prop_ro("is_closed", &Opened::is_closed);
}

void bind_tokenizer(nb::module_& module) {
  nb::class_<OpenedTokenizer>(module, "Tokenizer")
      .def(nb::init<const std::string&, const std::string&>(), nb::arg("path"), nb::arg("kind"))
      .def(
          "encode",
          [](const OpenedTokenizer& self, nb::handle texts, nb::handle pairs, const nb::dict& parameters) {
            return self.encode(Inputs(texts, pairs, nb::none(), {"texts", "pairs"}), parameters_of(parameters));
          },
          nb::arg("texts").none(), nb::arg("pairs").none(), nb::arg("parameters"))
      .def(
          "decode",
          [](const OpenedTokenizer& self, nb::handle ids, nb::handle skips) {
            return self.tokenizer().decode(to_int32s(ids, "ids"), to_bool(skips, "skip_special_tokens"));
          },
          nb::arg("ids").none(), nb::arg("skip_special_tokens").none())
      .def(
          "piece",
          [](const OpenedTokenizer& self, nb::handle id) {
            return std::string(self.tokenizer().piece(to_int32(id, "id")));
          },
          nb::arg("id").none())
      .def(
          "id_of",
          [](const OpenedTokenizer& self, nb::handle piece) {
            const std::optional<std::string> text = text_or_none(piece, "piece");
            if (!text) refuse_argument("piece", "expected a text, got None");
            return self.tokenizer().id_of(*text);
          },
          nb::arg("piece").none())
      .def("special_ids", &special_ids)
      .def("__len__", [](const OpenedTokenizer& self) { return self.tokenizer().size(); });
}

}  // namespace

void bind(nb::module_& module) {
  nb::set_leak_warnings(false);  // a model that a script never closes is no leak
  nb::register_exception_translator(translate);
  keep_warnings();
  module.def("version", [] { return std::string(version()); });
  module.def("parameters", &parameter_rows);
  module.def("options_of", &options_of_verb, nb::arg("verb"));
  module.def("run_command", &run_command, nb::arg("words"));
  module.def("find_model", &find_folder, nb::arg("name"), nb::arg("builtin"));
  module.def(
      "arrow_array", [](nb::handle rows) { return arrow_array(to_json_value(rows, "rows").as_array()); },
      nb::arg("rows"));
  module.def(
      "arrow_stream", [](nb::handle rows) { return arrow_stream(to_json_value(rows, "rows").as_array()); },
      nb::arg("rows"));
  bind_model(module);
  bind_tokenizer(module);
}

}  // namespace deberta::python

NB_MODULE(_deberta, module) {
  deberta::python::bind(module);
}
