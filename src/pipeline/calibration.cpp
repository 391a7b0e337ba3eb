// Texts go in packs: an answer is bit for bit the same in any batch.
#include "pipeline/calibration.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "deberta/error.h"
#include "engine/calibration.h"
#include "engine/model_access.h"
#include "heads/head_facts.h"
#include "pipeline/packer.h"
#include "pipeline/plan.h"

namespace deberta {
namespace {

constexpr int64_t kMultilingualWords = 250000;
// A language model's logits are wide: only some rows, of small packs.
constexpr int32_t kRowStep = 16;

// Runs the packs of the texts, and tells on_texts how many texts they have had.
void run_packs(std::span<const Encoding> texts, const OnTexts& on_texts,
               const std::function<void(const Batch& batch)>& run) {
  const SequenceSource sequences(texts);
  Packer packer(sequences.tokens(), {.tokens = kMaskedPackTokens});
  for (std::span<const size_t> pack = packer.next(); !pack.empty(); pack = packer.next()) {
    Batch batch;
    for (const size_t text : pack) sequences.add(text, batch);
    run(batch);
    on_texts(pack.back() + 1);
  }
}

void ask_for_some_rows(const Batch& batch, ForwardOptions& options) {
  for (size_t b = 0; b < batch.sequences(); ++b) {
    for (int32_t row = batch.starts[b]; row < batch.starts[b + 1]; row += kRowStep) options.rows.push_back(row);
  }
}

ForwardOptions options_for(const Model& model, const Batch& batch) {
  const HeadFacts& head = facts_of(model.head());
  ForwardOptions options;
  options.wants_logits = head.has_logits();
  if (head.predicts_words()) ask_for_some_rows(batch, options);
  return options;
}

void ask_for_last_layer(const Model& model, ForwardOptions& options) {
  if (model.config().num_hidden_layers > 0) options.layers = {static_cast<int32_t>(model.config().num_hidden_layers)};
}

struct Products {
  double ab = 0, aa = 0, bb = 0;
  void add(const Products& other) {
    ab += other.ab;
    aa += other.aa;
    bb += other.bb;
  }
  double cosine() const { return aa == bb && aa == ab ? 1 : ab / std::sqrt(aa * bb); }  // equal vectors, zeros too
};

using Numbers = std::span<const float>;

Products products_of(Numbers a, Numbers b) {
  Products products;
  for (size_t i = 0; i < a.size(); ++i)
    products.add({double{a[i]} * double{b[i]}, double{a[i]} * double{a[i]}, double{b[i]} * double{b[i]}});
  return products;
}

size_t largest_of(const ForwardResult& result, size_t row) {
  const auto first = result.logits.begin() + static_cast<std::ptrdiff_t>(row * result.logits_columns);
  return static_cast<size_t>(std::max_element(first, first + static_cast<std::ptrdiff_t>(result.logits_columns)) -
                             first);
}

bool has_answers(const HeadFacts& head, const ForwardResult& result) {
  return head.chooses_by_row() && result.logits_columns > 1;
}

Numbers output_of(const Model& model, const ForwardResult& result) {
  if (facts_of(model.head()).has_logits() || result.hidden.empty()) return result.logits;
  return result.hidden.front().rows_TD;
}

// Rows of the output that sequence b has.
size_t rows_of(const Model& model, const Batch& batch, size_t b) {
  const auto tokens = static_cast<size_t>(batch.starts[b + 1] - batch.starts[b]);
  const HeadFacts& head = facts_of(model.head());
  if (head.is_per_sequence()) return 1;
  return head.predicts_words() ? (tokens + kRowStep - 1) / kRowStep : tokens;
}

size_t rows_of(const Model& model, const Batch& batch) {
  size_t rows = 0;
  for (size_t b = 0; b < batch.sequences(); ++b) rows += rows_of(model, batch, b);
  return rows;
}

// Adds the texts of one pack.
class Comparer {
 public:
  Comparer(const Model& expected, const Model& model) : expected_(expected), model_(model) {}

  void add(const Batch& batch) {
    ForwardOptions options = options_for(model_, batch);
    if (!options.wants_logits) ask_for_last_layer(model_, options);
    expected_.forward(batch, options, exact_);
    model_.forward(batch, options, result_);
    const Numbers a = output_of(expected_, exact_), b = output_of(model_, result_);
    const size_t columns = a.size() / rows_of(model_, batch);
    size_t first = 0;
    for (size_t text = 0; text < batch.sequences(); ++text) {
      const size_t count = rows_of(model_, batch, text) * columns;
      add_text(products_of(a.subspan(first, count), b.subspan(first, count)));
      first += count;
    }
    if (!has_answers(facts_of(model_.head()), exact_)) return;
    comparison_.answers += exact_.logits_rows;
    for (size_t row = 0; row < exact_.logits_rows; ++row)
      comparison_.equal_answers += largest_of(exact_, row) == largest_of(result_, row);
  }
  OutputComparison finish() {
    comparison_.cosine = all_.cosine();
    if (texts_ > 0) comparison_.mean_cosine = cosines_ / static_cast<double>(texts_);
    return comparison_;
  }

 private:
  void add_text(const Products& products) {
    all_.add(products);
    cosines_ += products.cosine();
    comparison_.least_cosine = std::min(comparison_.least_cosine, products.cosine());
    ++texts_;
  }

  const Model& expected_;
  const Model& model_;
  ForwardResult exact_, result_;
  OutputComparison comparison_;
  Products all_;
  double cosines_ = 0;
  size_t texts_ = 0;
};

}  // namespace

double usual_smoothing(const ModelConfig& config) {
  return config.vocab_size >= kMultilingualWords ? 0.7 : 0.5;
}

Calibration calibrate(const Model& model, const Checkpoint& checkpoint, std::span<const Encoding> texts,
                      double smoothing, const OnTexts& on_texts) {
  if (texts.empty()) throw Error(ErrorCode::kInput, "calibration", "expected texts, got none");
  ActivationRanges ranges;
  uint64_t tokens = 0;
  ForwardResult result;
  run_packs(texts, on_texts, [&](const Batch& batch) {
    ForwardOptions options = options_for(model, batch);
    ask_for_last_layer(model, options);  // else it runs on the head's rows alone
    forward_with_ranges(model, batch, options, ranges, result);
    tokens += batch.tokens();
  });
  Calibration calibration = make_calibration(checkpoint, model.config(), ranges, smoothing);
  calibration.texts = texts.size();
  calibration.tokens = tokens;
  return calibration;
}

OutputComparison compare_outputs(const Model& expected, const Model& model, std::span<const Encoding> texts,
                                 const OnTexts& on_texts) {
  Comparer comparer(expected, model);
  run_packs(texts, on_texts, [&](const Batch& batch) { comparer.add(batch); });
  return comparer.finish();
}

}  // namespace deberta
