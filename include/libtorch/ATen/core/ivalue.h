// IValue: a value in AutogradContext::saved_data.
#pragma once

#include <ebb/autograd/function.h>

#include <torch/csrc/namespaces.h>

namespace c10 {

/// Numbers, strings, tensors and lists of numbers, for AutogradContext::saved_data and archives.
using IValue = ebb::autograd::SavedValue;

}  // namespace c10
