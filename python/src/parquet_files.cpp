// Each call takes the GIL. An error of the program that Python passes on unseen, such as that of a full disk, is kept
// meanwhile.
#include "python/src/parquet_files.h"

#include <nanobind/stl/string.h>

#include <exception>
#include <memory>
#include <string>
#include <utility>

#include "deberta/error.h"
#include "hub/module_list.h"
#include "python/src/opened.h"
#include "python/src/values.h"

namespace deberta::python {
namespace nb = nanobind;
namespace {

ErrorCode code_named(const std::string& name) {
  for (const ErrorCodeInfo& info : error_code_table()) {
    if (info.name == name) return info.code;
  }
  return ErrorCode::kInternal;
}

// The package's exception as what it was made from; any other is a fault of ours. `where`: the file, if it is one's.
Error to_error(const nb::python_error& raised, const std::string& where) {
  const nb::handle error = raised.value();
  if (!nb::isinstance(error, nb::module_::import_("deberta._errors").attr("Error")))
    return {ErrorCode::kInternal, where, raised.what()};
  const auto code = nb::cast<std::string>(error.attr("code"));
  auto message = nb::cast<std::string>(error.attr("message"));
  if (!where.empty()) return {code_named(code), where, std::move(message)};
  Problem problem{.message = std::move(message)};
  if (!error.attr("argument").is_none()) problem.argument = nb::cast<std::string>(error.attr("argument"));
  if (!problem.argument.empty() && problem.message.starts_with(problem.argument + ": "))
    problem.message.erase(0, problem.argument.size() + 2);
  return {code_named(code), {std::move(problem)}};
}

// A function of Python that may end on any thread.
struct Held {
  nb::object function;
  ~Held() {
    const nb::gil_scoped_acquire locked;
    function.reset();
  }
};

// What Python writes to and tells. Errors stay here: Python sees False.
class Passage {
 public:
  Passage(FileWriter& out, const std::function<bool(const program::ParquetRows&)>& advance)
      : out_(out), advance_(advance) {}

  bool write(const nb::bytes& data) {
    return keep([&] {
      out_.write(std::string_view(data.c_str(), data.size()));
      return true;
    });
  }
  bool advance(size_t rows, size_t bad_rows, size_t cut_rows, double fraction) {
    done_ = {rows, bad_rows, cut_rows, fraction};
    return keep([&] { return advance_(done_); });
  }
  void throw_failure() const {
    if (failure_) std::rethrow_exception(failure_);
  }
  const program::ParquetRows& done() const { return done_; }

 private:
  template <class Run>
  bool keep(const Run& run) {
    try {
      return !failure_ && run();
    } catch (...) {
      failure_ = std::current_exception();
      return false;
    }
  }

  FileWriter& out_;
  const std::function<bool(const program::ParquetRows&)>& advance_;
  program::ParquetRows done_;
  std::exception_ptr failure_;
};

program::ParquetRows answer_file(const nb::object& function, const std::string& path, Passage& passage) {
  const nb::gil_scoped_acquire locked;
  try {
    function(nb::bytes(path.data(), path.size()),
             nb::cpp_function([&](const nb::bytes& data) { return passage.write(data); }),
             nb::cpp_function([&](size_t rows, size_t bad_rows, size_t cut_rows, double fraction) {
               return passage.advance(rows, bad_rows, cut_rows, fraction);
             }));
  } catch (const nb::python_error& raised) {
    passage.throw_failure();
    throw to_error(raised, path);
  }
  passage.throw_failure();
  return passage.done();
}

}  // namespace

program::AnswerParquet open_parquet(program::ParquetTask task) {
  const nb::gil_scoped_acquire locked;
  nb::list columns;
  for (const std::string& name : task.columns) columns.append(nb::str(name.data(), name.size()));
  const nb::dict parameters = to_python(task.parameters);
  auto held = std::make_shared<Held>();
  try {
    auto opened = std::make_unique<Opened>(OpenedModel{.pipeline = std::move(task.pipeline),
                                                       .limits = read_text_limits(transformer_folder(task.folder)),
                                                       .as_transformers = task.as_transformers,
                                                       .batch_tokens = task.batch_tokens});
    const nb::object core = nb::cast(opened.release(), nb::rv_policy::take_ownership);
    held->function =
        nb::module_::import_("deberta._parquet")
            .attr("open_task")(core, nb::bytes(task.folder.data(), task.folder.size()), task.verb, columns, parameters);
  } catch (const nb::python_error& raised) {
    throw to_error(raised, "");
  }
  return [held](const std::string& path, FileWriter& out,
                const std::function<bool(const program::ParquetRows&)>& advance) {
    Passage passage(out, advance);
    return answer_file(held->function, path, passage);
  };
}

}  // namespace deberta::python
