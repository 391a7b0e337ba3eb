// The activation that a configuration names, as the kernels name it. Linear for one of a pooler that no head reads.
#pragma once
#include "deberta/config.h"
#include "kernels/activation.h"

namespace deberta {

KernelActivation to_kernel(Activation activation);

}  // namespace deberta
