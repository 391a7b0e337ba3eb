// The activations and poolings that a configuration names, as the kernels name them. The engine and the trainer both
// ask.
#pragma once
#include "deberta/config.h"
#include "kernels/activation.h"
#include "kernels/pooling.h"

namespace deberta {

KernelActivation to_kernel(Activation activation);  // linear for one of a pooler that no head reads
RowPooling to_kernel(ClassifierPooling pooling);

}  // namespace deberta
