// Names only, for headers that pass tensors by reference.
#pragma once

#include <ebb/core/api.h>

namespace ebb {
class Variable;
using Tensor = Variable;
class NdArray;
class Scalar;
class Storage;
class TensorOptions;
namespace cuda {
class Stream;
}  // namespace cuda
namespace autograd {
class Node;
class SavedVariable;
}  // namespace autograd
}  // namespace ebb
