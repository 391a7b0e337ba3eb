// From the name of a verb to the type of its options, and to its function.
#include "cli/verbs.h"

#include <concepts>
#include <optional>
#include <string_view>
#include <type_traits>

#include "deberta/error.h"
#include "deberta/pipeline.h"
#include "measure/kernel_facts.h"
#include "program/builtin_model.h"
#include "program/file_jobs.h"
#include "program/help.h"
#include "program/model_options.h"

namespace deberta::cli {

using program::run;  // for help and completion

namespace {

// For what a verb needs a model, where that decides which built-in one fits.
template <class Verb>
std::string_view use_of_model([[maybe_unused]] const Verb& options) {
  if constexpr (std::is_same_v<Verb, AnalyzeVerb>) {
    if (options.figures.show == ShownPart::kDecoder) return "decoder";
  }
  return "";
}

// Chooses the built-in model that fits if the user named none and one is needed; `eval` by its task. To restore texts
// none is.
template <class Verb>
void choose_model(Verb& options) {
  if constexpr (std::is_same_v<Verb, TokenizeVerb>) {
    options.model = program::name_or_builtin(options.model, options.verb);
  } else if constexpr (requires { options.model.name; } && !std::is_same_v<Verb, InfoVerb> &&
                       !std::is_same_v<Verb, EvalVerb>) {
    if constexpr (std::is_same_v<Verb, ExtractVerb>) {
      if (!options.restore.empty()) return;
    }
    options.model.name = program::name_or_builtin(options.model.name, options.verb, use_of_model(options));
  }
}

// `qa` as transformers: the stride of its pipeline, unless another is given.
void follow_transformers(QaVerb& options, bool has_stride) {
  if (has_stride || options.model.compat != Compat::kHf) return;
  const size_t length = options.encoding.max_tokens.value.value_or(EncodeOptions{}.max_tokens);
  options.encoding.stride->set(transformers_stride(length), "--compat hf");
}

// Applies the length limits of the model's folder; `embed` reads its sentence_bert_config.json first, `eval` its files.
template <class Verb>
void follow_folder(Verb& options) {
  if constexpr (std::is_same_v<Verb, TokenizeVerb>) {
    program::follow_folder_limits(options.encoding, options.model);
  } else if constexpr (requires { options.encoding; } && !std::is_same_v<Verb, EmbedVerb> &&
                       !std::is_same_v<Verb, EvalVerb>) {
    [[maybe_unused]] const bool has_stride = options.encoding.stride && options.encoding.stride->is_given();
    program::follow_folder_limits(options.encoding, options.model.name);
    if constexpr (std::is_same_v<Verb, QaVerb>) follow_transformers(options, has_stride);
  }
}

template <class Verb>
std::string model_of(const Verb& options) {
  if constexpr (requires { options.model.name; }) {
    return options.model.name;
  } else {
    return options.model;
  }
}

// With --files: which they are, and what decides their answers.
template <class Verb>
void plan_files(const Options& values, Verb& options) {
  if constexpr (requires { options.job; }) options.job = program::plan_job(values, model_of(options));
}

template <class Verb>
void note_precision(const Verb& options) {
  if constexpr (requires { options.model.kernels; }) {
    measure::note_of_precision(options.model.kernels, options.model.dtype);
  } else if constexpr (std::is_same_v<Verb, BenchVerb>) {
    measure::note_of_precision(options.kernels, options.dtype);
  }
}

// Parquet is no form of rows that verbs read.
template <class Verb>
bool is_of_parquet(const Verb& options) {
  if constexpr (requires { options.job; }) {
    return options.job && options.job->is_parquet;
  } else {
    return false;
  }
}
template <class Verb>
int run_with_parquet(const Options& values, const Verb& options, program::OpenParquet open_parquet) {
  if constexpr (std::derived_from<Verb, TextVerb>) {
    return program::run_parquet(values, options, open_parquet);
  } else {
    throw Error(ErrorCode::kUsage, options.verb, "expected a verb that runs a model, to answer Parquet");
  }
}

template <class Verb>
int run_as(const Options& values, program::OpenParquet open_parquet) {
  Verb options(values);
  note_precision(options);
  choose_model(options);
  follow_folder(options);
  plan_files(values, options);
  if (is_of_parquet(options)) return run_with_parquet(values, options, open_parquet);
  return run(options);
}

template <class... Verb>
std::optional<int> run_one(const Options& values, program::OpenParquet open_parquet, const std::tuple<Verb...>*) {
  std::optional<int> code;
  const auto run_if_named = [&]<class One>(std::type_identity<One>) {
    if (values.verb() == One::kName) code = run_as<One>(values, open_parquet);
  };
  (run_if_named(std::type_identity<Verb>()), ...);
  return code;
}

}  // namespace

int run_verb(const Options& options) {
  return run_verb(options, nullptr);
}

int run_verb(const Options& options, program::OpenParquet open_parquet) {
  const std::optional<int> code = run_one(options, open_parquet, static_cast<const Verbs*>(nullptr));
  if (!code) throw Error(ErrorCode::kInternal, options.verb(), "the verb has no code");
  return *code;
}

}  // namespace deberta::cli
