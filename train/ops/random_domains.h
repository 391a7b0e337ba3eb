// Everything random in a training run is a pure function of (seed, domain, logical index), through Philox
// (base/philox.h): nothing depends on threads, ranks, prefetch or on what was drawn before. One domain for each use, so
// that no two uses share numbers.
#pragma once
#include <cstdint>

#include "base/philox.h"

namespace deberta::train {

enum class RandomDomain : uint32_t {
  kInit,              // weights of a new model: element of a tensor
  kOrder,             // order of the samples of an epoch
  kMask,              // positions of a sample to predict
  kReplace,           // what replaces them
  kSource,            // which corpus a sample is taken from
  kEmbeddingDropout,  // dropout, by position (model-training.md#dropout); the discriminator's after the generator's
  kRelativeDropout,
  kAttentionDropout,
  kAttentionOutputDropout,
  kConvolutionDropout,
  kFeedForwardDropout,
  kPoolerDropout,
  kClassifierDropout,
  kDiscriminatorDropout,  // mixed into the seed of a discriminator, which uses the domains above
  kGeneratorSample,       // replaced-token detection: the generator's samples
  kPerturbation,          // SiFT: the first perturbation
  kPerturbedDropout,      // mixed into the seed of its second pass,
  kAdversarialDropout,    // and of its third: both use the domains above
  kCut,                   // which samples are cut into short sequences, and how short
  kDocuments,             // which documents of a query a step learns from
  kInnerDropout,          // dropout within the feed-forward layer
  kEntityDropout,         // dropout within a head of entities
  kLabels,                // which labels stand before a text, and in which order
};

// The key of a domain. A seed for kernels/dropout.h, whose key is its seed.
constexpr uint64_t random_key(uint64_t seed, RandomDomain domain) {
  const PhiloxCounter words = philox({static_cast<uint32_t>(domain), 0, 0, 0},
                                     {static_cast<uint32_t>(seed), static_cast<uint32_t>(seed >> 32)});
  return words[0] | static_cast<uint64_t>(words[1]) << 32;
}

}  // namespace deberta::train
