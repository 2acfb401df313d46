// PyTorch's files as archives of ebb: trees of named tensors.
#pragma once

#include <ebb/io/pytorch.h>

#include <map>
#include <string>

namespace ebb::pytorch {

/// Everything in a value that a tensor can hold, its names joined by dots: tensors; numbers as tensors
/// without dimensions (Long, Bool, Double); tuples and lists of numbers as Double vectors; texts as Byte
/// vectors. The states of optimizers, Python's (a dict of "state" and "param_groups") and libtorch's, have
/// the names and values that optim::Optimizer::save gives them. A single tensor is "tensor". Tensors of
/// dtypes that ebb does not have are listed in `unsupported`.
NamedTensors archived(const Value& value, std::map<std::string, std::string>& unsupported);

}  // namespace ebb::pytorch
