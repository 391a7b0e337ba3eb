// adapter_config.json of peft: whatever is accepted gives every module a scale that is a number.
#include <cmath>

#include "checkpoint/adapter_settings.h"
#include "fuzz.h"

namespace deberta::fuzz {

void run(Bytes input) {
  const AdapterSettings settings = parse_adapter_settings(to_text(input), "in");
  FUZZ_REQUIRE(std::isfinite(settings.alpha));
  for (const size_t rank : {1u, 8u}) {
    FUZZ_REQUIRE(std::isfinite(settings.scale("encoder.layer.0.attention.self.query_proj", rank)));
    for (const auto& [module, alpha] : settings.alpha_pattern)
      FUZZ_REQUIRE(std::isfinite(settings.scale(module, rank)));
  }
}

}  // namespace deberta::fuzz
