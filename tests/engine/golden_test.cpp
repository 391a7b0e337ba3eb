// The engine against tiny models with exact outputs (tools/goldens): every variant, every kernel set of this machine.
#include <fmt/format.h>
#include <gtest/gtest-spi.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/file.h"
#include "base/json.h"
#include "checkpoint/safetensors.h"
#include "support/golden_weights.h"
#include "support/goldens.h"
#include "support/implementations.h"
#include "support/paths.h"

namespace deberta::test::golden_test {
namespace {

// NAME.json and NAME.safetensors of tests/golden/model.
struct GoldenFile {
  Golden golden;
  size_t head_size = 0;
  std::map<std::string, double> scalar_errors;  // by output: error of the scalar evaluation in single precision
  std::unique_ptr<SafetensorsFile> file;
  std::unique_ptr<TemporaryFolder> model;
};

const std::set<std::string> kInputs = {"input_ids", "attention_mask", "token_type_ids", "position_ids",
                                       "rows",      "relative_pos",   "entity_indices"};
const std::set<std::string> kHeads = {"none", "sequence", "token",  "token_original", "span",
                                      "mlm",  "rtd",      "record", "multiple_choice"};

// Twice the error of the scalar single-precision evaluation, but not below rounding of the largest value.
double bound_of(const Json& tensor) {
  return std::max(2 * tensor.find("fp32_error")->as_number(), 2e-6 * tensor.find("max_abs")->as_number());
}

DistanceRule distance_rule(const Json& about) {
  const std::string& name = about.find("distance")->as_string();
  EXPECT_TRUE(name == "hf" || name == "original") << "no test knows distances of the kind " << name;
  return name == "hf" ? DistanceRule::kHf : DistanceRule::kOriginal;
}

GoldenFile load_golden(const std::string& path) {
  const Json about = load_json(path + ".json");
  EXPECT_TRUE(kHeads.contains(about.find("head")->as_string())) << path << ": no test knows this head";
  GoldenFile result;
  result.file = std::make_unique<SafetensorsFile>(path + ".safetensors");
  result.model = std::make_unique<TemporaryFolder>();
  write_golden_model(result.model->path(), about);
  const Json& config = *about.find("config");
  result.head_size =
      static_cast<size_t>(config.find("hidden_size")->as_integer() / config.find("num_attention_heads")->as_integer());
  Golden& golden = result.golden;
  golden.name = about.find("case")->as_string();
  golden.model_folder = result.model->path();
  golden.distance = distance_rule(about);
  for (const TensorView& tensor : result.file->tensors()) {
    if (kInputs.contains(tensor.name)) {
      golden.inputs.emplace(tensor.name, tensor);
      continue;
    }
    const Json* listed = about.find("outputs")->find(tensor.name);
    EXPECT_NE(listed, nullptr) << path << ": " << tensor.name << ": neither an input nor an output";
    if (listed == nullptr) continue;
    const Json& numbers = *listed;
    golden.outputs.emplace(tensor.name, tensor);
    golden.bounds.emplace(tensor.name, bound_of(numbers));
    result.scalar_errors.emplace(tensor.name, numbers.find("fp32_error")->as_number());
  }
  return result;
}

const std::vector<GoldenFile>& all_goldens() {
  static const std::vector<GoldenFile> goldens = [] {
    std::vector<GoldenFile> result;
    for (const auto& entry : std::filesystem::directory_iterator(fixture("model"))) {
      if (entry.path().extension() == ".json")
        result.push_back(load_golden(entry.path().parent_path() / entry.path().stem()));
    }
    std::sort(result.begin(), result.end(),
              [](const GoldenFile& a, const GoldenFile& b) { return a.golden.name < b.golden.name; });
    return result;
  }();
  return goldens;
}

// The largest errors of hidden states, by head size and by what computed them; scores near +-80 are listed apart.
class ErrorTable {
 public:
  void add(const std::string& column, const GoldenFile& file, const std::map<std::string, double>& errors) {
    if (!std::count(columns_.begin(), columns_.end(), column)) columns_.push_back(column);
    auto& worst_by_column = rows_[{file.golden.name.starts_with("large_logits"), file.head_size}];
    for (const auto& [name, error] : errors) {
      if (name.starts_with("hidden.")) worst_by_column[column] = std::max(worst_by_column[column], error);
    }
  }
  // The rows of the table in docs/records/kernels-errors.md.
  void print() const {
    fmt::print("| scores | head size | {} |\n", fmt::join(columns_, " | "));
    for (const auto& [row, worst_by_column] : rows_) {
      fmt::print("| {} | {} |", row.first ? "near 80" : "small", row.second);
      for (const std::string& column : columns_) fmt::print(" {:.1e} |", worst_by_column.at(column));
      fmt::print("\n");
    }
  }

 private:
  std::vector<std::string> columns_;
  std::map<std::pair<bool, size_t>, std::map<std::string, double>> rows_;
};

// Every level takes head sizes that are multiples of 16, those that multiply bf16 multiples of 32; the reference takes
// the others, and explicit bucket numbers.
std::string_view level_of_attention(const GoldenFile& file, const std::string& kernels, Precision precision) {
  if (file.head_size % 16 != 0 || file.golden.inputs.contains("relative_pos")) return "reference";
  const KernelLevel level = select_kernels(kernels).level_of(Operation::kAttention, precision);
  const bool multiplies_bf16 = level == KernelLevel::kAvx512Bf16 || level == KernelLevel::kAmx;
  return file.head_size % 32 != 0 && multiplies_bf16 ? "avx512" : to_string(level);
}

// How many cases each level took, by head size.
class Takers {
 public:
  void add(const GoldenFile& file, std::string_view level) { ++cases_[{file.head_size, level}]; }
  size_t operator()(size_t head_size, std::string_view level) const {
    const auto entry = cases_.find({head_size, level});
    return entry == cases_.end() ? 0 : entry->second;
  }
  void print(const std::string& kernels) const {
    for (const auto& [taker, cases] : cases_)
      fmt::print("kernels {}: head size {}: {} cases by {}\n", kernels, taker.first, cases, taker.second);
  }

 private:
  std::map<std::pair<size_t, std::string_view>, size_t> cases_;
};

class EngineGolden : public testing::TestWithParam<std::string> {
 protected:
  static void TearDownTestSuite() { error_table().print(); }
  static ErrorTable& error_table() {
    static ErrorTable table;
    return table;
  }
};

TEST_P(EngineGolden, GivesTheExactOutputsToSinglePrecisionByTheAttentionOfItsLevel) {
  Takers takers;
  for (const GoldenFile& file : all_goldens()) {
    const GoldenReport report = compare_with_engine(file.golden, GetParam());
    for (const std::string& failure : report.failures) ADD_FAILURE() << failure;
    EXPECT_EQ(report.unsupported, "") << file.golden.name;
    EXPECT_GT(report.compared, 0u) << file.golden.name;
    ASSERT_EQ(report.attention_calls.size(), 1u) << file.golden.name << ": more than one level, or none";
    const std::string_view taker = report.attention_calls.begin()->first;
    EXPECT_EQ(taker, level_of_attention(file, GetParam(), Precision::kFp32)) << file.golden.name;
    takers.add(file, taker);
    error_table().add("scalar fp32", file, file.scalar_errors);
    if (GetParam() != "auto") error_table().add(GetParam(), file, report.errors);
  }
  takers.print(GetParam());
  const std::string_view level = to_string(select_kernels(GetParam()).level_of(Operation::kAttention));
  for (const size_t head_size : {16u, 32u, 64u}) EXPECT_GE(takers(head_size, level), 32u) << "head size " << head_size;
  EXPECT_GE(takers(24, "reference"), 33u) << "the fallback";
}

// A copy of the golden `name` with one value of its logits changed by `change`: whether the comparison sees it.
bool sees_change(const std::string& name, size_t index, double change) {
  GoldenFile file = load_golden(fixture("model/" + name));
  TensorView& logits = file.golden.outputs.at("logits");
  std::vector<double> values(logits.count());
  std::memcpy(values.data(), logits.bytes.data(), logits.bytes.size());
  values.at(index) += change;
  logits.bytes = std::as_bytes(std::span(values));
  return !compare_with_engine(file.golden, "auto").failures.empty();
}

TEST(Golden, OfMentionsIsAsSharpAsTheOthers) {
  EXPECT_FALSE(sees_change("record", 1, 0));
  EXPECT_TRUE(sees_change("record", 1, 1e-3)) << "the mark of a mention without pieces, a bit off";
  EXPECT_TRUE(sees_change("record", 0, 1e-5));
  EXPECT_TRUE(sees_change("record", 0, -10000));
}

TEST(Golden, OfAKindThatNoTestKnowsFails) {
  const TemporaryFolder folder;
  std::filesystem::copy(fixture("model/record.safetensors"), folder.path());
  const std::string about = read_file(fixture("model/record.json"), 1 << 20);
  const auto load_with = [&](const std::string& old, const std::string& replacement) {
    std::string changed = about;
    changed.replace(changed.find(old), old.size(), replacement);
    write_text(folder.path() + "/record.json", changed);
    load_golden(folder.path() + "/record");
  };
  EXPECT_NONFATAL_FAILURE(load_with("\"head\": \"record\"", "\"head\": \"new\""), "no test knows this head");
  EXPECT_NONFATAL_FAILURE(load_with("\"original\"", "\"new\""), "no test knows distances of the kind new");
  EXPECT_NONFATAL_FAILURE(load_with("\"logits\"", "\"other\""), "logits: neither an input nor an output");
}

INSTANTIATE_TEST_SUITE_P(Kernels, EngineGolden, testing::ValuesIn(usable_kernels()),
                         [](const auto& instance) { return instance.param; });

// The bounds of bf16: twice the errors of the reference, which rounds weights and activations as the precision does.
// No scores: the reference computes them.
Golden with_bounds_of(const GoldenFile& file, const std::map<std::string, double>& reference_errors) {
  Golden golden = file.golden;
  std::erase_if(golden.outputs, [&](const auto& output) { return !reference_errors.contains(output.first); });
  for (auto& [name, bound] : golden.bounds) {
    if (reference_errors.contains(name)) bound = std::max(bound, 2 * reference_errors.at(name));
  }
  return golden;
}

TEST(EngineGoldenBf16, EveryLevelIsAtMostTwiceAsFarFromExactAsTheReference) {
  ErrorTable table;
  std::map<std::string, Takers> takers;  // by level
  for (const GoldenFile& file : all_goldens()) {
    const GoldenReport reference = compare_with_engine(file.golden, "reference", Precision::kBf16);
    EXPECT_FALSE(reference.errors.empty()) << file.golden.name;
    table.add("reference", file, reference.errors);
    const Golden golden = with_bounds_of(file, reference.errors);
    for (const Implementation& candidate : vector_implementations(Operation::kAttention, {Precision::kBf16})) {
      const std::string kernels(to_string(candidate.level));
      const GoldenReport report = compare_with_engine(golden, kernels, Precision::kBf16);
      for (const std::string& failure : report.failures) ADD_FAILURE() << failure;
      ASSERT_EQ(report.attention_calls.size(), 1u) << file.golden.name << ": more than one level, or none";
      const std::string_view taker = report.attention_calls.begin()->first;
      EXPECT_EQ(taker, level_of_attention(file, kernels, Precision::kBf16)) << file.golden.name;
      takers[kernels].add(file, taker);
      table.add(kernels, file, report.errors);
    }
  }
  for (const auto& [level, of_level] : takers) {
    of_level.print(level + " in bf16");
    for (const size_t head_size : {32u, 64u}) EXPECT_GE(of_level(head_size, level), 32u);
  }
  table.print();
}

}  // namespace
}  // namespace deberta::test::golden_test
