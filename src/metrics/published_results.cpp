// The rows as they were published: a model, a source, and its figures by task.
#include "metrics/published_results.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

#include "base/checked.h"
#include "deberta/error.h"
#include "metrics/task_table.h"

namespace deberta {
namespace {

constexpr std::string_view kPaper = "He et al. 2021 (DeBERTa)";
constexpr std::string_view kTable1 = "He et al. 2021 (DeBERTa), Table 1";
constexpr std::string_view kTable4 = "He et al. 2021 (DeBERTa), Table 4";
constexpr std::string_view kReadme = "README of microsoft/DeBERTa";
constexpr std::string_view kFromMnli = "RTE, MRPC and STS-B begin from the model of MNLI";

// What the first and the second number of a cell are.
struct Column {
  std::string_view name;
  std::string_view task, metric;
  std::string_view second_task = {}, second_metric = {};
};
constexpr std::array kColumns = {
    Column{"squad", "squad", "f1", "squad", "exact_match"},
    Column{"squad2", "squad2", "f1", "squad2", "exact"},
    Column{"mnli", "mnli", "accuracy", "mnli-mm", "accuracy"},
    Column{"sst-2", "sst-2", "accuracy"},
    Column{"qnli", "qnli", "accuracy"},
    Column{"cola", "cola", "matthews_correlation"},
    Column{"rte", "rte", "accuracy"},
    Column{"mrpc", "mrpc", "accuracy", "mrpc", "f1"},
    Column{"qqp", "qqp", "accuracy", "qqp", "f1"},
    Column{"sts-b", "sts-b", "pearson", "sts-b", "spearmanr"},
    Column{"race", "race", "accuracy"},
    Column{"ner", "ner", "f1"},
};

struct ResultRow {
  std::string_view model, size, source;
  std::string_view cells;  // "squad2 90.7/88.0,mnli 91.3/91.1"
  std::string_view note = {};
};

constexpr std::array kModels = {
    ResultRow{"BERT large", "", kTable1,
              "mnli 86.6,sst-2 93.2,qnli 92.3,cola 60.6,rte 70.4,mrpc 88.0,qqp 91.3,sts-b 90.0"},
    ResultRow{"BERT large", "", kPaper, "squad 90.9/84.1,squad2 81.8/79.0"},
    ResultRow{"RoBERTa large", "", kTable1,
              "mnli 90.2,sst-2 96.4,qnli 93.9,cola 68.0,rte 86.6,mrpc 90.9,qqp 92.2,sts-b 92.4"},
    ResultRow{"RoBERTa large", "", kPaper, "squad 94.6/88.9,squad2 89.4/86.5,ner 93.4"},
    ResultRow{"XLNet large", "", kTable1,
              "mnli 90.8,sst-2 97.0,qnli 94.9,cola 69.0,rte 85.9,mrpc 90.8,qqp 92.3,sts-b 92.5"},
    ResultRow{"XLNet large", "", kPaper, "squad 95.1/89.7,squad2 90.6/87.9"},
    ResultRow{"DeBERTa large (paper)", "large", kTable1, "mnli 91.1,sst-2 96.8,cola 70.5,rte 88.3"},
    ResultRow{"DeBERTa large (paper)", "large", kPaper, "squad2 90.7/88.0,race 86.8,ner 93.8"},
    ResultRow{"DeBERTa base", "base", kReadme, "squad2 86.2/83.1,mnli 88.8/88.5"},
    ResultRow{"DeBERTa large", "large", kReadme,
              "squad 95.5/90.1,squad2 90.7/88.0,mnli 91.3/91.1,sst-2 96.5,qnli 95.3,cola 69.5,rte 91.0,mrpc 92.6/94.6,"
              "qqp 92.3,sts-b 92.8/92.5",
              kFromMnli},
    ResultRow{"DeBERTa xlarge", "xlarge", kReadme, "mnli 91.5/91.2,sst-2 97.0,rte 93.1,mrpc 92.1/94.3,sts-b 92.9/92.7",
              kFromMnli},
    ResultRow{"DeBERTa v2-xlarge", "v2-xlarge", kReadme,
              "squad 95.8/90.8,squad2 91.4/88.9,mnli 91.7/91.6,sst-2 97.5,qnli 95.8,cola 71.1,rte 93.9,mrpc 92.0/94.2,"
              "qqp 92.3/89.8,sts-b 92.9/92.9",
              kFromMnli},
    ResultRow{"DeBERTa v2-xxlarge", "v2-xxlarge", kReadme,
              "squad 96.1/91.4,squad2 92.2/89.7,mnli 91.7/91.9,sst-2 97.2,qnli 96.0,cola 72.0,rte 93.5,mrpc 93.1/94.9,"
              "qqp 92.7/90.3,sts-b 93.2/93.1",
              kFromMnli},
    ResultRow{"DeBERTa v2-xxlarge, SiFT", "v2-xxlarge", kReadme,
              "mnli 92.0/92.1,sst-2 97.5,qnli 96.5,cola 73.5,rte 96.5,qqp 93.0/90.7", kFromMnli},
    ResultRow{"DeBERTa v3-xsmall", "v3-xsmall", kReadme, "squad2 84.8/82.0,mnli 88.1/88.3"},
    ResultRow{"DeBERTa v3-small", "v3-small", kReadme, "squad2 82.9/80.4,mnli 88.3/87.7"},
    ResultRow{"DeBERTa v3-small, SiFT", "v3-small", kReadme, "mnli 88.8/88.5"},
    ResultRow{"DeBERTa v3-base", "v3-base", kReadme, "squad2 88.4/85.4,mnli 90.6/90.7"},
    ResultRow{"DeBERTa v3-large", "v3-large", kReadme,
              "squad2 91.5/89.0,mnli 91.8/91.9,sst-2 96.9,qnli 96.0,cola 75.3,rte 92.7,mrpc 92.2,qqp 93.0,sts-b 93.0"},
};

constexpr std::string_view kOfAblations = "base size, Wikipedia and books, a million steps";
constexpr std::array kAblations = {
    ResultRow{"full", "base", kTable4, "mnli 86.3,squad 92.1,squad2 82.5,race 71.7", kOfAblations},
    ResultRow{"-EMD", "base", kTable4, "mnli 86.1,squad 91.8,squad2 81.3,race 70.3", kOfAblations},
    ResultRow{"-C2P", "base", kTable4, "mnli 85.9,squad 91.6,squad2 81.3,race 69.3", kOfAblations},
    ResultRow{"-P2C", "base", kTable4, "mnli 86.0,squad 91.7,squad2 80.8,race 69.6", kOfAblations},
    ResultRow{"-EMD-C2P", "base", kTable4, "mnli 85.8,squad 91.5,squad2 80.3,race 68.1", kOfAblations},
    ResultRow{"RoBERTa-ReImp", "base", kTable4, "mnli 84.9,squad 91.1,squad2 79.5,race 66.8", kOfAblations},
};

[[noreturn]] void refuse_cell(std::string_view cell) {
  throw Error(ErrorCode::kInternal, "published results", "a bad cell: " + std::string(cell));
}

void add_cell(const ResultRow& row, const std::string& cell, bool is_ablation, std::vector<PublishedResult>& results) {
  const std::vector<std::string> words = split_words(cell);
  const auto column = words.size() == 2 ? std::ranges::find(kColumns, words[0], &Column::name) : kColumns.end();
  if (column == kColumns.end()) refuse_cell(cell);
  const std::vector<std::string> numbers = split_words(words[1], '/');
  for (size_t i = 0; i < numbers.size(); ++i) {
    const std::string_view task = i == 0 ? column->task : column->second_task;
    const auto value = parse_number<double>(numbers[i]);
    if (i > 1 || task.empty() || !value) refuse_cell(cell);
    results.push_back({row.model, row.size, task, i == 0 ? column->metric : column->second_metric, *value, row.source,
                       row.note, is_ablation});
  }
}

std::vector<PublishedResult> read_rows() {
  std::vector<PublishedResult> results;
  const auto add = [&](std::span<const ResultRow> rows, bool is_ablation) {
    for (const ResultRow& row : rows) {
      for (const std::string& cell : split_words(row.cells, ',')) add_cell(row, cell, is_ablation, results);
    }
  };
  add(kModels, false);
  add(kAblations, true);
  return results;
}

}  // namespace

std::span<const PublishedResult> published_results() {
  static const std::vector<PublishedResult> results = read_rows();
  return results;
}

}  // namespace deberta
