// Whatever takes time runs without the GIL, on plain C++ values; Python objects are made before and after it.
#include "python/src/opened.h"

#include <fmt/format.h>
#include <nanobind/stl/string.h>
#include <unistd.h>

#include <array>
#include <mutex>
#include <span>
#include <utility>
#include <variant>

#include "base/refuse_argument.h"
#include "deberta/library.h"
#include "hub/module_list.h"
#include "pipeline/answer_json.h"
#include "python/src/arrays.h"
#include "python/src/values.h"
#include "rows/row_parts.h"

namespace deberta::python {
namespace nb = nanobind;
namespace {

// ---- opening

template <class T, size_t N>
T meaning_of(const char* argument, const std::string& word,
             const std::array<std::pair<std::string_view, T>, N>& words) {
  std::string known;
  for (const auto& [name, meaning] : words) {
    if (name == word) return meaning;
    known += (known.empty() ? "" : ", ") + std::string(name);
  }
  refuse_argument(argument, fmt::format("expected one of {}, got {}", known, quote_begin(word)));
}

constexpr std::array<std::pair<std::string_view, Precision>, 4> kPrecisions = {
    {{"auto", Precision::kFp32}, {"fp32", Precision::kFp32}, {"bf16", Precision::kBf16}, {"int8", Precision::kInt8}}};
constexpr std::array<std::pair<std::string_view, Device>, 2> kDevices = {
    {{"cpu", Device::kCpu}, {"cuda", Device::kCuda}}};
constexpr std::array<std::pair<std::string_view, bool>, 2> kCompats = {{{"original", false}, {"hf", true}}};
constexpr std::array<std::pair<std::string_view, TokenizerKind>, 2> kTokenizers = {
    {{"slow", TokenizerKind::kSlow}, {"fast", TokenizerKind::kFast}}};

std::shared_ptr<const OpenedModel> open_model(const std::string& path, const OpenWords& words) {
  const bool as_transformers = meaning_of("compat", words.compat, kCompats);
  ModelOptions options = as_transformers ? transformers_options() : ModelOptions();
  options.precision = meaning_of("dtype", words.dtype, kPrecisions);
  options.device = meaning_of("device", words.device, kDevices);
  options.tokenizer = meaning_of("tokenizer", words.tokenizer, kTokenizers);
  options.threads = words.threads;
  options.allows_uncalibrated = words.allow_uncalibrated;
  options.shares_weights = words.share_weights;
  if (words.batch_tokens == 0) refuse_argument("batch_tokens", "expected at least 1, got 0");
  return std::make_shared<const OpenedModel>(OpenedModel{.pipeline = open_pipeline(path, options),
                                                         .limits = read_text_limits(transformer_folder(path)),
                                                         .as_transformers = as_transformers,
                                                         .batch_tokens = words.batch_tokens});
}

// ---- rows

using Result = std::variant<JsonObject, Error>;

// The row's place stands before what is wrong with it.
Error with_row(const Error& error, std::string place) {
  std::vector<Problem> problems = error.problems();
  for (Problem& problem : problems) problem.source = place;
  return {error.code(), std::move(problems)};
}

std::vector<Result> answer_group(const AnswerTexts& answer, const Inputs& inputs, size_t first, size_t count) {
  std::vector<Result> results;
  std::vector<TextInput> readable;
  std::vector<size_t> rows;  // their indices in `results`
  for (size_t row = first; row < first + count; ++row) {
    std::optional<Error> fault = inputs.fault(row);
    if (fault) {
      results.emplace_back(std::move(*fault));
      continue;
    }
    rows.push_back(results.size());
    results.emplace_back(JsonObject());
    readable.push_back(inputs.view(row));
  }
  answer_parts(
      readable.size(),
      [&](size_t begin, size_t part) {
        std::vector<JsonObject> answers = answer(std::span(readable).subspan(begin, part));
        for (size_t i = 0; i < part; ++i) results[rows[begin + i]] = std::move(answers[i]);
      },
      [&](size_t row, const Error& error) { results[rows[row]] = with_row(error, inputs.place(first + rows[row])); });
  return results;
}

std::mutex warnings_mutex;
std::vector<std::string> kept_warnings;

}  // namespace

Opened::Opened(const std::string& path, const OpenWords& words) : process_(::getpid()) {
  {
    const nb::gil_scoped_release unlocked;
    model_ = open_model(path, words);
  }
  pass_warnings();
}

Opened::Opened(OpenedModel model)
    : model_(std::make_shared<const OpenedModel>(std::move(model))), process_(::getpid()) {}

Opened::~Opened() {
  if (::getpid() != process_) new std::shared_ptr<const OpenedModel>(std::move(model_));
}

std::shared_ptr<const OpenedModel> Opened::model() const {
  if (model_ == nullptr) throw Error(ErrorCode::kUsage, "model", "expected an open model, got one that was closed");
  if (::getpid() != process_)
    throw Error(ErrorCode::kUsage, "model",
                "expected a model that this process opened, got one from before fork(), whose threads stayed in the "
                "parent; open it in the child, or start workers by spawn");
  return model_;
}

void for_each_group(size_t rows, const std::function<size_t(size_t row)>& bytes,
                    const std::function<void(size_t first, size_t count)>& take) {
  constexpr size_t kGroupBytes = size_t{1} << 15, kGroupRows = 512;
  for (size_t first = 0; first < rows;) {
    size_t count = 0, sum = 0;
    while (first + count < rows && count < kGroupRows && (count == 0 || sum + bytes(first + count) <= kGroupBytes))
      sum += bytes(first + count++);
    take(first, count);
    if (PyErr_CheckSignals() != 0) throw nb::python_error();
    pass_warnings();
    first += count;
  }
}

nb::list Opened::run(const std::string& task, const Inputs& inputs, JsonObject parameters, bool keeps_errors) const {
  const std::shared_ptr<const OpenedModel> model = this->model();
  const AnswerTexts answer = answering(*model, task, std::move(parameters));
  nb::list answers;
  answer({});  // refuses a model without the head before any row is read
  for_each_group(
      inputs.size(), [&](size_t row) { return inputs.bytes(row); },
      [&](size_t first, size_t count) {
        std::vector<Result> results;
        {
          const nb::gil_scoped_release unlocked;
          results = answer_group(answer, inputs, first, count);
        }
        for (const Result& result : results) {
          const Error* error = std::get_if<Error>(&result);
          if (error != nullptr && !keeps_errors) throw Error(*error);
          answers.append(error != nullptr ? to_exception(*error) : to_python(std::get<JsonObject>(result)));
        }
      });
  return answers;
}

namespace {

// Rows in groups, without the GIL; the first that cannot be read or answered is thrown.
template <class Answer>
void answer_groups(const Inputs& inputs, const std::function<std::vector<Answer>(std::span<const TextInput>)>& answer,
                   const std::function<void(size_t row, Answer& answer)>& take) {
  for_each_group(
      inputs.size(), [&](size_t row) { return inputs.bytes(row); },
      [&](size_t first, size_t count) {
        std::vector<Answer> answers;
        {
          const nb::gil_scoped_release unlocked;
          std::vector<TextInput> views;
          for (size_t row = first; row < first + count; ++row) {
            if (const std::optional<Error> fault = inputs.fault(row)) throw Error(*fault);
            views.push_back(inputs.view(row));
          }
          answers = answer(views);
        }
        for (size_t i = 0; i < count; ++i) take(first + i, answers[i]);
      });
}

// What marks of objects say of rows whose answers are an array.
struct ArrayMarks {
  nb::list cut_tokens, is_empty;
  template <class Answer>
  void add(const TextInput& input, const Answer& answer) {
    cut_tokens.append(answer.cut_tokens);
    is_empty.append(is_of_empty_text(input, answer.tokens));
  }
  nb::tuple beside(nb::object array) const { return nb::make_tuple(std::move(array), cut_tokens, is_empty); }
};

}  // namespace

nb::tuple Opened::scores(const Inputs& inputs, JsonObject parameters) const {
  const std::shared_ptr<const OpenedModel> model = this->model();
  const SequenceOptions options = score_options(*model, std::move(parameters));
  classify(model->pipeline, {}, options);  // refuses a model without the head
  std::vector<float> scores;
  ArrayMarks marks;
  answer_groups<SequenceAnswer>(
      inputs, [&](auto views) { return classify(model->pipeline, views, options); },
      [&](size_t row, SequenceAnswer& answer) {
        marks.add(inputs.view(row), answer);
        scores.insert(scores.end(), answer.scores.begin(), answer.scores.end());
      });
  return marks.beside(
      to_array(std::move(scores), {inputs.size(), static_cast<size_t>(model->pipeline.model.labels())}));
}

nb::tuple Opened::embed(const Inputs& inputs, JsonObject parameters, const std::optional<std::string>& prompt) const {
  const std::shared_ptr<const OpenedModel> model = this->model();
  const VectorRules rules = vector_rules(*model, std::move(parameters), prompt);
  const size_t columns = embedding_columns(model->pipeline, rules.options);
  std::vector<float> pooled;
  nb::list by_token;
  ArrayMarks marks;
  answer_groups<EmbeddingAnswer>(
      inputs, [&](auto views) { return deberta::embed(model->pipeline, views, rules.options); },
      [&](size_t row, EmbeddingAnswer& answer) {
        marks.add(inputs.view(row), answer);
        rules.apply(answer, columns);
        const size_t rows = answer.vectors.size() / rules.columns;
        if (rules.options.pools)
          pooled.insert(pooled.end(), answer.vectors.begin(), answer.vectors.end());
        else
          by_token.append(to_array(std::move(answer.vectors), {rows, rules.columns}));
      });
  if (!rules.options.pools) return marks.beside(by_token);
  return marks.beside(to_array(std::move(pooled), {inputs.size(), rules.columns}));
}

nb::object to_exception(const Error& error) {
  const Problem& first = error.problems().front();
  const nb::object argument = first.argument.empty() ? nb::none() : nb::cast(first.argument);
  return nb::module_::import_("deberta._errors")
      .attr("make_error")(std::string(error_code_info(error.code()).name), error.what(), argument);
}

void keep_warnings() {
  set_warning_sink([](void*, std::string_view message) {
    const std::lock_guard lock(warnings_mutex);
    kept_warnings.emplace_back(message);
  });
}

void pass_warnings() {
  std::vector<std::string> messages;
  {
    const std::lock_guard lock(warnings_mutex);
    messages.swap(kept_warnings);
  }
  constexpr Py_ssize_t kCaller = 3;  // of the caller's, past the package's own frames
  for (const std::string& message : messages) {
    if (PyErr_WarnEx(PyExc_UserWarning, message.c_str(), kCaller) != 0) throw nb::python_error();
  }
}

}  // namespace deberta::python
