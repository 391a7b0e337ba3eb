// --recipe of `pretrain`.
#pragma once
#include "options/options.h"

namespace deberta::train {

// The options of `pretrain` with the recipe's values where none are given; its length too, unless another option says
// how long the run is. Throws kUsage for an objective that the recipe is not for.
Options with_recipe(Options options);

}  // namespace deberta::train
