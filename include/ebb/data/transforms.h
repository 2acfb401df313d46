// Transforms of samples and batches: Normalize, Stack, Lambda and their bases.
#pragma once

#include <ebb/data/example.h>
#include <ebb/ops/creation.h>
#include <ebb/ops/elementwise.h>
#include <ebb/ops/shape.h>

#include <functional>
#include <utility>
#include <vector>

namespace ebb::data::transforms {

/// Converts a batch.
template <class Input, class Output>
class BatchTransform {
 public:
  using InputBatchType = Input;
  using OutputBatchType = Output;
  virtual ~BatchTransform() = default;
  virtual Output apply_batch(Input batch) = 0;
};

/// Converts each sample.
template <class Input, class Output>
class Transform : public BatchTransform<std::vector<Input>, std::vector<Output>> {
 public:
  using InputType = Input;
  using OutputType = Output;
  virtual Output apply(Input input) = 0;
  std::vector<Output> apply_batch(std::vector<Input> batch) override {
    std::vector<Output> out;
    out.reserve(batch.size());
    for (Input& input : batch) out.push_back(apply(std::move(input)));
    return out;
  }
};

/// A transform that applies a callable to batches.
template <class Input, class Output = Input>
class BatchLambda : public BatchTransform<Input, Output> {
 public:
  explicit BatchLambda(std::function<Output(Input)> f) : f_(std::move(f)) {}
  Output apply_batch(Input batch) override { return f_(std::move(batch)); }

 private:
  std::function<Output(Input)> f_;
};

/// A transform that applies a callable to samples.
template <class Input, class Output = Input>
class Lambda : public Transform<Input, Output> {
 public:
  explicit Lambda(std::function<Output(Input)> f) : f_(std::move(f)) {}
  Output apply(Input input) override { return f_(std::move(input)); }

 private:
  std::function<Output(Input)> f_;
};

/// Changes the data of each sample and keeps the target.
template <class Target = Variable>
class TensorTransform : public Transform<Example<Variable, Target>, Example<Variable, Target>> {
 public:
  using E = Example<Variable, Target>;
  virtual Variable operator()(Variable input) = 0;
  E apply(E input) override {
    input.data = (*this)(std::move(input.data));
    return input;
  }
};

template <class Target = Variable>
class TensorLambda : public TensorTransform<Target> {
 public:
  explicit TensorLambda(std::function<Variable(Variable)> f) : f_(std::move(f)) {}
  Variable operator()(Variable input) override { return f_(std::move(input)); }

 private:
  std::function<Variable(Variable)> f_;
};

/// Computes (x - mean) / stddev, with one value for each channel (the first dimension), or one for all.
template <class Target = Variable>
class Normalize : public TensorTransform<Target> {
 public:
  Normalize(ArrayRef<double> mean, ArrayRef<double> stddev)
      : mean_(per_channel(mean)), stddev_(per_channel(stddev)) {}
  Variable operator()(Variable input) override {
    return input.sub(mean_.to(input.dtype())).div(stddev_.to(input.dtype()));
  }

 private:
  static Variable per_channel(ArrayRef<double> values) {
    return tensor(values, kFloat64).unsqueeze(1).unsqueeze(2);
  }
  Variable mean_, stddev_;
};

/// Combines a list of samples into one batch.
template <class T, class BatchType = std::vector<T>>
class Collation : public BatchTransform<BatchType, T> {};

template <class T = Example<>>
struct Stack;

/// Stacks the data, and the targets, along a new first dimension.
template <>
struct EBB_API Stack<Example<>> : Collation<Example<>> {
  Example<> apply_batch(std::vector<Example<>> examples) override;
};

template <>
struct EBB_API Stack<TensorExample> : Collation<TensorExample> {
  TensorExample apply_batch(std::vector<TensorExample> examples) override;
};

}  // namespace ebb::data::transforms
