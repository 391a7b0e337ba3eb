// Predictions: the first byte chooses the form. What is accepted is found again by its key, exactly once.
#include "data/predictions.h"

#include "base/utf8.h"
#include "fuzz.h"

namespace deberta::fuzz {

void run(Bytes input) {
  Cutter cut(input);
  const auto form = static_cast<Predictions::Form>(cut.byte() % 3);
  const std::string_view text = cut.rest();
  Predictions predictions(ByteSource(to_bytes(text), "in"), form);
  FUZZ_REQUIRE(predictions.unused() == predictions.size());
  size_t found = 0;
  for (size_t row = 0; row < 100; ++row) {
    const FoundPrediction* prediction = predictions.find(row, "");
    if (prediction == nullptr) continue;
    ++found;
    FUZZ_REQUIRE(is_valid_utf8(prediction->text) && prediction->where.starts_with("in:"));
  }
  FUZZ_REQUIRE(predictions.unused() == predictions.size() - found);
}

}  // namespace deberta::fuzz
