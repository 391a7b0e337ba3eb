// Replaced-token detection against the original code: losses, labels, logits, the discriminator's table and the
// gradients of the tables, for each kind of sharing, from its samples. The cases rtd_joint_* of the folder of its
// outputs.
#include <ATen/ops/tensor.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <iostream>

#include "support/torch_numbers.h"
#include "train/objectives/original_case.h"
#include "train/objectives/replaced_tokens.h"
#include "train/ops/linear.h"

namespace deberta::train::replaced_tokens_goldens_test {
namespace {

using namespace test;

constexpr double kSingle = 5e-5, kDouble = 2e-5;  // from the folder's README
constexpr double kLambda = 10;
const Compute kCompute{.kernels = select_kernels("auto")};

struct SharingCase {
  std::string name;
  TableSharing sharing;
};
const SharingCase kCases[] = {{"rtd_joint_none", TableSharing::kNone},
                              {"rtd_joint_es", TableSharing::kSame},
                              {"rtd_joint_gdes", TableSharing::kDisentangled}};

class Pair {
 public:
  Pair(const std::string& folder, const SharingCase& which, at::ScalarType type)
      : which_(which),
        tolerance_(type == at::kDouble ? kDouble : kSingle),
        file_(folder + "/" + which.name + ".safetensors"),
        about_(load_json(folder + "/" + which.name + ".json")),
        generator_(load_of_pair(about_, file_, "generator", type)),
        discriminator_(load_of_pair(about_, file_, "discriminator", type)) {}

  double run() {
    EXPECT_EQ(about_.find("rtd_lambda")->as_integer(), 10);
    PackedCase packed = pack_case(file_, "in.");
    set_labels(packed, integers<int32_t>(file_, "in.labels"));
    const at::Tensor z_PE =
        word_states(make_pass(generator_, kCompute, input_of(packed.batch), {}), generator_, packed.batch.rows_P);
    compare("generator_logits", linear(kCompute, z_PE, generator_.embeddings.word_VE, generator_.head.bias_V));
    const Loss words = generator_loss(generator_, kCompute, packed.batch, {}).loss;
    const TrainBatch replaced =
        replace_tokens(packed.batch, at_predicted_rows(packed, integers<int32_t>(file_, "out.new_ids")));
    check_replaced(packed, replaced);
    const Model joined = join_tables(discriminator_, generator_, which_.sharing);
    compare("word_table", joined.embeddings.word_VE);
    compare_discriminator_logits(packed, joined, replaced);
    const Loss tokens = discriminator_loss(joined, kCompute, replaced, {}).loss;
    const at::Tensor mean_G = words.sum / static_cast<double>(words.count);
    const at::Tensor mean_D = tokens.sum / static_cast<double>(tokens.count);
    compare("generator_loss", mean_G);
    compare("discriminator_loss", mean_D);
    compare("loss", mean_G + kLambda * mean_D);
    (mean_G + kLambda * mean_D).backward();
    compare_gradients();
    return worst_;
  }

 private:
  void compare(const std::string& output, const at::Tensor& got) { compare(output, read(file_, "out." + output), got); }
  void compare(const std::string& output, const at::Tensor& expected, const at::Tensor& got) {
    const double error = worst_difference(expected.flatten(), got.detach().flatten());
    worst_ = std::max(worst_, error);
    EXPECT_LE(error, tolerance_) << which_.name << ": " << output;
  }
  void check_replaced(const PackedCase& packed, const TrainBatch& replaced) {
    const auto ids_BL = integers<int32_t>(file_, "out.new_ids");
    for (size_t n = 0; n < packed.real_T.size(); ++n) {
      EXPECT_EQ(replaced.ids_T[static_cast<size_t>(packed.real_T[n])], ids_BL[static_cast<size_t>(packed.real_BL[n])]);
    }
    const std::vector<float> labels = to_fp32(*file_.find("out.discriminator_labels"));
    EXPECT_EQ(std::vector<float>(replaced.labels_P.begin(), replaced.labels_P.end()), labels);
  }
  void compare_discriminator_logits(const PackedCase& packed, const Model& joined, const TrainBatch& replaced) {
    const Pass pass = make_pass(joined, kCompute, input_of(replaced), {});
    const at::Tensor logits_T1 = replaced_logits(pass, joined.head, encode(pass, joined).hidden_TD.back());
    const at::Tensor expected_BL = read(file_, "out.discriminator_logits").flatten();
    const auto index = [](const std::vector<int64_t>& rows) { return at::tensor(rows, at::kLong); };
    compare("discriminator_logits", expected_BL.index_select(0, index(packed.real_BL)),
            logits_T1.index_select(0, index(packed.real_T)));
  }
  // A table that no model of ours reads got no gradient from the original either.
  void compare_gradients() {
    size_t seen = 0;
    for (const TensorView& view : file_.tensors()) {
      if (!view.name.starts_with("out.grad.")) continue;
      const bool is_generator = view.name.find(".generator.") != std::string::npos;
      const Embeddings& embeddings = (is_generator ? generator_ : discriminator_).embeddings;
      const bool is_word = view.name.find("word_embeddings") != std::string::npos;
      const at::Tensor& table = is_word ? embeddings.word_VE : embeddings.position_PE;
      const at::Tensor expected = read(file_, view.name);
      if (!table.defined()) {
        EXPECT_EQ(expected.abs().max().item<double>(), 0) << view.name;
        continue;
      }
      ASSERT_TRUE(table.grad().defined()) << view.name;
      compare(view.name.substr(4), expected, test::gradient_of(table));
      ++seen;
    }
    EXPECT_EQ(seen, which_.sharing == TableSharing::kSame ? 2u : 3u) << which_.name;
  }

  const SharingCase& which_;
  double tolerance_, worst_ = 0;
  SafetensorsFile file_;
  Json about_;
  Model generator_, discriminator_;
};

void run_all(at::ScalarType type) {
  const std::string folder = original_goldens();
  if (folder.empty()) GTEST_SKIP() << kNoGoldens;
  for (const SharingCase& which : kCases) {
    std::cout << which.name << ": worst error " << Pair(folder, which, type).run() << "\n";
  }
}

TEST(ReplacedTokensGoldens, AgreeInDouble) {
  run_all(at::kDouble);
}
TEST(ReplacedTokensGoldens, AgreeInSinglePrecision) {
  run_all(at::kFloat);
}

}  // namespace
}  // namespace deberta::train::replaced_tokens_goldens_test
