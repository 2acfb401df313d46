// Example: one sample of a dataset.
#pragma once

#include <ebb/autograd/variable.h>

#include <utility>

namespace ebb::data {

namespace example {
/// The target type of unlabelled data.
using NoTarget = void;
}  // namespace example

/// A sample and its target.
template <class Data = Variable, class Target = Variable>
struct EBB_API Example {
  using DataType = Data;
  using TargetType = Target;
  Example() = default;
  Example(Data d, Target t) : data(std::move(d)), target(std::move(t)) {}
  Data data;
  Target target;
};

template <class Data>
struct EBB_API Example<Data, example::NoTarget> {
  using DataType = Data;
  using TargetType = example::NoTarget;
  Example() = default;
  Example(Data d) : data(std::move(d)) {}
  operator Data&() { return data; }
  operator const Data&() const { return data; }
  Data data;
};

using TensorExample = Example<Variable, example::NoTarget>;

}  // namespace ebb::data
