// One switch over all activations, so that a new one fails to compile until the kernels have it.
#include "heads/kernel_names.h"

namespace deberta {

KernelActivation to_kernel(Activation activation) {
  switch (activation) {
    case Activation::kGelu:
      return KernelActivation::kGelu;
    case Activation::kRelu:
      return KernelActivation::kRelu;
    case Activation::kSwish:
      return KernelActivation::kSwish;
    case Activation::kTanh:
      return KernelActivation::kTanh;
    case Activation::kLinear:
      return KernelActivation::kLinear;
    case Activation::kSigmoid:
      return KernelActivation::kSigmoid;
    case Activation::kGeluTanh:
      return KernelActivation::kGeluTanh;
    case Activation::kQuickGelu:
      return KernelActivation::kQuickGelu;
    case Activation::kGelu10:
      return KernelActivation::kGelu10;
    case Activation::kMish:
      return KernelActivation::kMish;
    case Activation::kRelu6:
      return KernelActivation::kRelu6;
    case Activation::kRelu2:
      return KernelActivation::kRelu2;
    case Activation::kLeakyRelu:
      return KernelActivation::kLeakyRelu;
    case Activation::kLaplace:
      return KernelActivation::kLaplace;
    case Activation::kOther:  // a pooler that no head reads may have it
      break;
  }
  return KernelActivation::kLinear;
}

RowPooling to_kernel(ClassifierPooling pooling) {
  switch (pooling) {
    case ClassifierPooling::kFirst:
      return RowPooling::kFirst;
    case ClassifierPooling::kMean:
      return RowPooling::kMean;
    case ClassifierPooling::kMax:
      return RowPooling::kMax;
    case ClassifierPooling::kAttention:
      break;
  }
  return RowPooling::kAttention;
}

}  // namespace deberta
