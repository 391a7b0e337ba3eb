// Every activation, for tests that go through them all.
#pragma once
#include <array>

#include "kernels/activation.h"

namespace deberta::test {

inline constexpr std::array kActivations = {
    KernelActivation::kLinear,  KernelActivation::kGelu,      KernelActivation::kGeluTanh, KernelActivation::kGelu10,
    KernelActivation::kRelu,    KernelActivation::kQuickGelu, KernelActivation::kRelu2,    KernelActivation::kRelu6,
    KernelActivation::kSwish,   KernelActivation::kLeakyRelu, KernelActivation::kMish,     KernelActivation::kTanh,
    KernelActivation::kLaplace, KernelActivation::kSigmoid};

}  // namespace deberta::test
