// Numbers from a counter hashed with integers, keyed by case and tensor.
#include "support/golden_weights.h"

#include <cmath>
#include <span>
#include <vector>

#include "base/sha256.h"
#include "checkpoint/safetensors.h"
#include "support/paths.h"

namespace deberta::test {
namespace {

// The first 8 bytes of the digest, little-endian.
uint64_t seed_of(const std::string& key) {
  const std::string digits = sha256_of(std::as_bytes(std::span(key)));
  uint64_t seed = 0;
  for (size_t byte = 8; byte-- > 0;) seed = seed << 8 | std::stoul(digits.substr(2 * byte, 2), nullptr, 16);
  return seed;
}

// splitmix64
uint64_t bits_at(uint64_t seed, size_t index) {
  uint64_t z = seed + (index + 1) * 0x9E3779B97F4A7C15u;
  z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
  z = (z ^ z >> 27) * 0x94D049BB133111EBu;
  return z ^ z >> 31;
}

// Nearly normal, mean 0, variance 1: four uniform numbers of 16 bits each.
double number_of(uint64_t bits) {
  double sum = -2.0 * 65535;
  for (int shift = 0; shift < 64; shift += 16) sum += static_cast<double>(bits >> shift & 0xFFFF);
  return sum / 65536 * std::sqrt(3.0);
}

std::vector<float> make_numbers(const std::string& key, size_t count, double mean, double spread) {
  const uint64_t seed = seed_of(key);
  std::vector<float> numbers(count);
  for (size_t i = 0; i < count; ++i) numbers[i] = static_cast<float>(mean + spread * number_of(bits_at(seed, i)));
  return numbers;
}

// Every third row of the words.
void quieten(std::vector<float>& words_VD, size_t columns) {
  for (size_t i = 0; i < words_VD.size(); ++i) {
    if (i / columns % 3 == 0) words_VD[i] *= 1e-3f;
  }
}

}  // namespace

void write_golden_model(const std::string& folder, const Json& about) {
  std::vector<std::vector<float>> values;
  std::vector<TensorView> tensors;
  const std::string& case_name = about.find("case")->as_string();
  for (const auto& [name, recipe] : about.find("weights")->as_object()) {
    Shape shape;
    size_t count = 1;
    for (const Json& dimension : recipe.find("shape")->as_array()) {
      shape.push_back(dimension.as_integer());
      count *= static_cast<size_t>(dimension.as_integer());
    }
    values.push_back(make_numbers(case_name + "/" + name, count, recipe.find("mean")->as_number(),
                                  recipe.find("spread")->as_number()));
    const bool is_words = name.ends_with("word_embeddings.weight");
    if (is_words && about.find("quiet_rows") != nullptr) quieten(values.back(), static_cast<size_t>(shape[1]));
    tensors.push_back({name, DType::kF32, shape, std::as_bytes(std::span(values.back()))});
  }
  write_safetensors(folder + "/model.safetensors", tensors);
  write_text(folder + "/config.json", about.find("config")->dump(1));
}

}  // namespace deberta::test
