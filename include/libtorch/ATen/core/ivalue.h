// IValue: what an AutogradContext keeps besides tensors.
#pragma once

#include <ebb/autograd/function.h>

#include <torch/csrc/namespaces.h>

namespace c10 {

/// Numbers, texts, tensors and lists of numbers: what AutogradContext::saved_data and archives take.
using IValue = ebb::autograd::SavedValue;

}  // namespace c10
