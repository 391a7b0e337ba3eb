// Precision, recall and share of replaced tokens from counts, and the cosine between the two tables.
#include "train/pretrain/pair_metrics.h"

#include <cmath>
#include <string>
#include <utility>

#include "train/step/step_sums.h"

namespace deberta::train {
namespace {

constexpr const char* kSteps = "discriminator_steps";

// One plain loop in double: no bit of a log depends on threads.
double mean_cosine(const at::Tensor& a_RE, const at::Tensor& b_RE) {
  const at::Tensor a = a_RE.detach().contiguous(), b = b_RE.detach().contiguous();
  const float *x = a.const_data_ptr<float>(), *y = b.const_data_ptr<float>();
  const int64_t rows = a.size(0), size = a.size(1);
  double sum = 0;
  int64_t count = 0;
  for (int64_t r = 0; r < rows; ++r, x += size, y += size) {
    double xy = 0, xx = 0, yy = 0;
    for (int64_t e = 0; e < size; ++e) {
      xy += double{x[e]} * double{y[e]};
      xx += double{x[e]} * double{x[e]};
      yy += double{y[e]} * double{y[e]};
    }
    if (xx == 0 || yy == 0) continue;
    sum += xy / std::sqrt(xx * yy);
    ++count;
  }
  return count == 0 ? 0 : sum / static_cast<double>(count);
}

}  // namespace

void add_to_sums(const PairStep& result, double rate, double discriminator_rate, Sums& sums) {
  add_to_sums(result.generator, rate, sums, kOfGenerator);
  if (result.discriminator.count == 0) return;
  add_to_sums(result.discriminator, discriminator_rate, sums, kOfDiscriminator);
  sums[kSteps] += 1;
  sums["replaced"] += static_cast<double>(result.replaced);
  sums["flagged"] += static_cast<double>(result.flagged);
  sums["found"] += static_cast<double>(result.detected);
}

Metrics pair_metrics(const Sums& sums, double lambda) {
  const std::string d = kOfDiscriminator, labels = d + "labels", norm = d + "grad_norm", rate = d + "learning_rate";
  const double loss = ratio_of(sums, d + "loss", labels);
  Metrics metrics = language_metrics(sums, kOfGenerator);
  metrics.insert(metrics.begin(), {"loss", metrics.front().second + lambda * loss});
  if (sum_of(sums, kSteps) == 0) return metrics;
  metrics.insert(metrics.end(), {{d + "loss", loss},
                                 {d + "accuracy", ratio_of(sums, d + "correct", labels)},
                                 {d + "precision", ratio_of(sums, "found", "flagged")},
                                 {d + "recall", ratio_of(sums, "found", "replaced")},
                                 {norm, ratio_of(sums, norm, kSteps)},
                                 {rate, sum_of(sums, rate)},
                                 {labels + "_per_step", ratio_of(sums, labels, kSteps)},
                                 {"replaced_share", ratio_of(sums, "replaced", labels)}});
  add_loss_scale(sums, d, metrics);
  return metrics;
}

Metrics table_cosines(const Model& discriminator, const Model& generator) {
  const Embeddings &d = discriminator.embeddings, &g = generator.embeddings;
  Metrics metrics;
  const auto add = [&](const char* name, const at::Tensor& of_discriminator, const at::Tensor& of_generator) {
    if (of_discriminator.sizes() == of_generator.sizes())
      metrics.emplace_back(name, mean_cosine(of_discriminator, of_generator));
  };
  add("table_cosine_words", d.word_VE, g.word_VE);
  if (discriminator.form.reads_positions() && generator.form.reads_positions())
    add("table_cosine_positions", d.position_PE, g.position_PE);
  return metrics;
}

}  // namespace deberta::train
