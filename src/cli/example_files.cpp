// One reader after the other.
#include "cli/example_files.h"

#include <utility>

#include "cli/eval_run.h"
#include "deberta/error.h"
#include "options/options.h"

namespace deberta::cli {
namespace {

std::optional<RecordFormat> format_given(const Options& options) {
  const std::string& format = options.text("input-format");
  if (format == "tsv") return RecordFormat::kTsv;
  if (format == "csv") return RecordFormat::kCsv;
  if (format == "jsonl") return RecordFormat::kJsonl;
  if (format == "text") return RecordFormat::kText;
  return std::nullopt;
}

}  // namespace

ExampleFiles::ExampleFiles(const Options& options, const TaskRow& task, std::function<bool()> is_stopped)
    : options_(options), task_(task), is_stopped_(std::move(is_stopped)) {
  const bool has_labels = !options.text("labels-file").empty();
  if (has_labels && (task.form != ExampleForm::kAlphaNli || options_.arguments.size() != 1))
    throw Error(ErrorCode::kUsage, "--labels-file", "expected the task alphanli and one file");
}

void ExampleFiles::open_next() {
  std::optional<LineReader> labels;
  if (!options_.text("labels-file").empty()) labels.emplace(ByteSource(options_.text("labels-file")));
  reader_.emplace(ByteSource(options_.arguments[opened_++], is_stopped_),
                  example_rules(task_, options_.list("input-field"), options_.text("label-field")),
                  format_given(options_), std::move(labels));
}

bool ExampleFiles::next(Example& example) {
  while (!reader_ || !reader_->next(example)) {
    if (opened_ == options_.arguments.size() || is_stopped_()) return false;
    open_next();
    repaired_ = 0;
  }
  const size_t before = std::exchange(repaired_, reader_->lines().repaired());
  example.is_repaired = repaired_ > before;
  return true;
}

std::optional<double> ExampleFiles::fraction_done() const {
  if (!reader_) return std::nullopt;
  const ByteSource& source = reader_->lines().source();
  if (source.total_bytes().value_or(0) == 0) return std::nullopt;
  const double part = static_cast<double>(source.read_bytes()) / static_cast<double>(*source.total_bytes());
  return (static_cast<double>(opened_ - 1) + part) / static_cast<double>(options_.arguments.size());
}

namespace {

class ExampleRows final : public RowSource {
 public:
  ExampleRows(ExampleFiles files, FillRow fill) : files_(std::move(files)), fill_(std::move(fill)) {}

  bool next(Row& row) override {
    Example example;
    if (!files_.next(example)) return false;
    row = {};
    row.where = example.where;
    row.is_repaired = example.is_repaired;
    row.error = example.error;
    fill_(files_, std::move(example), row);
    return true;
  }
  std::optional<double> fraction_done() const override { return files_.fraction_done(); }

 private:
  ExampleFiles files_;
  FillRow fill_;
};

}  // namespace

std::unique_ptr<RowSource> example_rows(const Options& options, const TaskRow& task,
                                        const std::function<bool()>& is_stopped, FillRow fill) {
  return std::make_unique<ExampleRows>(ExampleFiles(options, task, is_stopped), std::move(fill));
}

}  // namespace deberta::cli
