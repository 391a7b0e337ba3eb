// One reader after the other.
#include "eval/example_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

#include "base/descriptor.h"
#include "base/file.h"
#include "base/folder.h"
#include "deberta/error.h"

namespace deberta {
namespace {

namespace fs = std::filesystem;

// Numbers in names are compared by value: 2.txt comes before 10.txt.
bool is_before(const std::string& a, const std::string& b) {
  const fs::path x(a), y(b);
  if (x.parent_path() != y.parent_path()) return x.parent_path() < y.parent_path();
  const std::string left = x.filename().string(), right = y.filename().string();
  const auto is_number = [](const std::string& name) { return !name.empty() && name[0] >= '0' && name[0] <= '9'; };
  if (is_number(left) && is_number(right) && left.size() != right.size()) return left.size() < right.size();
  return left < right;
}

// The files in a folder and its subfolders, hidden ones left out.
std::vector<std::string> files_below(const std::string& folder) {
  std::vector<std::string> files, folders{folder};
  while (!folders.empty()) {
    const std::string here = std::move(folders.back());
    folders.pop_back();
    const auto names = read_names(here);
    if (!names) throw Error(ErrorCode::kFileNotFound, here, system_message());
    for (const std::string& name : *names) {
      const std::string path = fmt::format("{}{}{}", here, here.ends_with('/') ? "" : "/", name);
      if (name.starts_with('.')) continue;
      if (is_regular_file(path)) files.push_back(path);
      if (is_directory(path) && !is_link(path)) folders.push_back(path);
    }
  }
  if (files.empty()) throw Error(ErrorCode::kFileNotFound, folder, "expected labelled files in the folder, got none");
  std::sort(files.begin(), files.end(), is_before);
  return files;
}

}  // namespace

std::vector<std::string> find_labelled_files(const std::vector<std::string>& paths) {
  if (paths.empty())
    throw Error(ErrorCode::kUsage, "eval",
                "expected a labelled file or a folder of such files (- is standard input), got none");
  std::vector<std::string> files;
  for (const std::string& path : paths) {
    std::error_code unknown;
    if (!fs::is_directory(path, unknown)) {
      if (path != "-" && !fs::exists(path, unknown)) throw Error(ErrorCode::kFileNotFound, path, "no such file");
      files.push_back(path);
      continue;
    }
    for (std::string& file : files_below(path)) files.push_back(std::move(file));
  }
  return files;
}

RowKey key_of(const TaskRow& task, const ExampleInput& input, const Example& example) {
  RowKey key{.neighbours = example.row};
  if (!input.group_field.empty()) key.group = example.slice;
  if (task.kind == TaskKind::kRanking && !key.group) key.group = example.text;  // a query may have several rows
  if (task.target != TaskTarget::kClass) return key;
  key.stratum = example.label.value_or("");
  if (!example.values.empty()) key.stratum = std::ranges::max_element(example.values, {}, &NamedNumber::value)->name;
  return key;
}

ExampleFiles::ExampleFiles(const ExampleInput& input, const TaskRow& task, std::function<bool()> is_stopped)
    : input_(input), task_(task), is_stopped_(std::move(is_stopped)), picker_(input.part) {
  if (!input.labels_file.empty() && (task.form != ExampleForm::kAlphaNli || input.files.size() != 1))
    throw Error(ErrorCode::kUsage, {{.message = "expected the task alphanli and one file", .argument = "labels_file"}});
}

void ExampleFiles::open_next() {
  std::optional<LineReader> labels;
  if (!input_.labels_file.empty()) labels.emplace(ByteSource(input_.labels_file));
  ExampleRules rules = example_rules(task_, input_.input_fields, input_.label_fields);
  if (!input_.by.empty())
    rules.slice_by = {{input_.by}, "by"};
  else if (!input_.group_field.empty())
    rules.slice_by = {{input_.group_field}, "group_field"};
  if (!input_.weight_field.empty()) rules.weight_field = {{input_.weight_field}, "weight_field"};
  if (!input_.by.empty()) rules.fields.genre.clear();  // slices take their place
  reader_.emplace(ByteSource(input_.files[opened_++], is_stopped_), std::move(rules), input_.format, std::move(labels));
}

bool ExampleFiles::next(Example& example) {
  while (!picker_.is_done() && next_of_all(example)) {
    const bool is_taken = picker_.takes(key_of(task_, input_, example));
    if (input_.by.empty() && input_.part) example.slice.reset();  // it was the group
    if (is_taken) return true;
  }
  return false;
}

bool ExampleFiles::next_of_all(Example& example) {
  while (!reader_ || !reader_->next(example)) {
    if (opened_ == input_.files.size() || is_stopped_()) return false;
    open_next();
    repaired_ = 0;
    rows_before_ = rows_;
  }
  rows_ = example.row += rows_before_;
  const size_t before = std::exchange(repaired_, reader_->lines().repaired());
  example.is_repaired = repaired_ > before;
  return true;
}

std::optional<double> ExampleFiles::fraction_done() const {
  if (!reader_) return std::nullopt;
  const std::optional<double> part = reader_->lines().source().fraction_read();
  if (!part) return std::nullopt;
  return (static_cast<double>(opened_ - 1) + *part) / static_cast<double>(input_.files.size());
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

std::unique_ptr<RowSource> example_rows(const ExampleInput& input, const TaskRow& task,
                                        const std::function<bool()>& is_stopped, FillRow fill) {
  return std::make_unique<ExampleRows>(ExampleFiles(input, task, is_stopped), std::move(fill));
}

}  // namespace deberta
